"""Kernels as others write them, in NumPy alone: every intermediate rounded to a type, with or without a mistake."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from homework.problems import problem
from numpy.typing import NDArray

from attncalc.evaluate.precisions import held
from attncalc.solve.problem import Problem

Array = NDArray[np.float64]
Rounded = Callable[[Array], Array]
Kernel = Callable[..., Array]


def softmax(r: Rounded, x: Array) -> Array:
    top = x.max(-1, keepdims=True)
    e = r(np.exp(r(x - np.where(np.isfinite(top), top, 0))))
    return r(e / r(e.sum(-1, keepdims=True)))


def attention(r: Rounded, q: Array, k: Array, v: Array, *, causal: bool = False, mistake: str = "", **_: Any) -> Array:
    q, k, v = map(r, (q, k, v))
    scores, root = r(q @ np.swapaxes(k, -1, -2)), np.sqrt(q.shape[-1])
    factors = {"att-no-scale": 1.0, "att-scale-after": 1.0, "att-scale-dk": root**-2, "att-scale-multiplied": root}
    scores = r(scores * r(np.asarray(factors.get(mistake, 1 / root))))
    i, j = np.arange(scores.shape[-2])[:, None], np.arange(scores.shape[-1])
    if causal:
        keeps = {"mask-offset": j <= i + 1, "mask-transposed": i <= j}
        keeps |= dict.fromkeys(("mask-missing", "mask-after-softmax"), j >= 0)
        scores = np.where(keeps.get(mistake, j <= i), scores, 0 if mistake == "mask-fill-zero" else -np.inf)
    if mistake == "att-softmax-cols":
        weights = np.swapaxes(softmax(r, np.swapaxes(scores, -1, -2)), -1, -2)
    elif mistake in ("att-no-softmax", "att-exp-unnormalised"):
        weights = scores if mistake == "att-no-softmax" else r(np.exp(scores))
    else:
        weights = softmax(r, scores)
    if mistake == "att-softmax-twice":
        weights = softmax(r, weights)
    if mistake == "att-scale-after":
        weights = r(weights / root)
    if mistake == "mask-after-softmax":
        weights = np.where(j <= i, weights, 0)
    return r(weights @ (k if mistake == "att-k-for-v" else v))


def rope(r: Rounded, x: Array, *, mistake: str = "", **_: Any) -> Array:
    x, (n, d) = r(x), x.shape[-2:]
    exponents = np.arange(d // 2) * (1 if mistake == "rope-exp-i" else 2) / d
    theta = (500000.0 if mistake == "rope-wrong-base" else 10000.0) ** -exponents
    angles = (np.arange(n) + (mistake == "rope-pos-from-1"))[:, None] * theta
    c, s = r(np.cos(angles)), r(np.sin(-angles if mistake == "rope-inverse" else angles))
    half = mistake == "rope-half-split"
    first, second = (slice(0, d // 2), slice(d // 2, d)) if half else (slice(0, d, 2), slice(1, d, 2))
    a, b, turned = x[..., first], x[..., second], np.empty_like(x)
    turned[..., first], turned[..., second] = r(r(a * c) - r(b * s)), r(r(a * s) + r(b * c))
    return turned


def layernorm(r: Rounded, x: Array, gamma: Array, beta: Array, *, mistake: str = "", **_: Any) -> Array:
    x, gamma, beta = map(r, (x, gamma, beta))
    centred = r(x - r(x.mean(-1, keepdims=True)))
    variance = r(r(r(centred**2).mean(-1, keepdims=True)) + 1e-5)
    by = variance if mistake == "ln-div-variance" else r(np.sqrt(variance))
    y = r((x if mistake == "ln-no-center" else centred) / by)
    if mistake in ("ln-no-affine", "ln-no-beta"):
        return y if mistake == "ln-no-affine" else r(y * gamma)
    scale, shift = (beta, gamma) if mistake == "ln-gamma-beta-swapped" else (gamma, beta)
    return r(r(y * scale) + shift)


def multihead(
    r: Rounded, x: Array, wq: Array, wk: Array, wv: Array, wo: Array, *, heads: int, mistake: str = "", **more: Any
) -> Array:
    n, width = x.shape
    x, wo = r(x), r(wo)

    def split(y: Array) -> Array:
        if mistake == "mh-split-reshape":
            return y.reshape(heads, n, -1)
        if mistake == "mh-split-strided":
            return y.reshape(n, -1, heads).transpose(2, 0, 1)
        return y.reshape(n, heads, -1).transpose(1, 0, 2)

    mixed = attention(r, *(split(r(x @ r(w))) for w in (wq, wk, wv)), mistake=mistake, **more)
    if mistake == "mh-concat-reversed":
        mixed = mixed[::-1]
    joined = (mixed if mistake == "mh-merge-reshape" else mixed.transpose(1, 0, 2)).reshape(n, width)
    if mistake == "mh-no-wo":
        return joined
    return r(joined @ (wo.T if mistake == "mh-wo-transposed" else wo))


class Drawn(NamedTuple):
    """A kernel, the mistakes that it can make, and how its operands are drawn."""

    kernel: Kernel
    mistakes: tuple[str, ...]


MIXING = (
    "att-no-scale", "att-scale-dk", "att-scale-multiplied", "att-scale-after", "att-softmax-cols",
    "att-exp-unnormalised", "att-no-softmax", "att-softmax-twice",
)  # fmt: skip
MASKING = ("mask-missing", "mask-offset", "mask-transposed", "mask-fill-zero", "mask-after-softmax")
HEADS = (
    "mh-split-reshape", "mh-split-strided", "mh-merge-reshape", "mh-concat-reversed", "mh-no-wo", "mh-wo-transposed",
)  # fmt: skip
NORMS = ("ln-no-center", "ln-div-variance", "ln-no-affine", "ln-no-beta", "ln-gamma-beta-swapped")
TURNS = ("rope-half-split", "rope-exp-i", "rope-wrong-base", "rope-pos-from-1", "rope-inverse")

KERNELS = {
    "attention": Drawn(attention, (*MIXING, "att-k-for-v", *MASKING)),
    "multihead": Drawn(multihead, (*MIXING, *HEADS, *MASKING)),
    "rope": Drawn(rope, TURNS),
    "layernorm": Drawn(layernorm, NORMS),
}


def drawn(name: str, dtype: str, seed: int, *, wrong: bool = False) -> tuple[Problem, Array, str]:
    """A problem, what a kernel makes of it in a type (widened to float32), and the mistake in it."""
    rng = np.random.default_rng(seed)
    mistake = str(rng.choice(KERNELS[name].mistakes)) if wrong else ""
    causal = mistake.startswith("mask") or (mistake != "att-no-softmax" and bool(rng.integers(2)))  # else −∞ is mixed
    n, d, lead = int(rng.choice([8, 12, 17, 32, 64])), int(rng.choice([8, 16, 32])), ((), (2,), (3, 4))[rng.integers(3)]
    size = rng.choice([0.5, 1, 2])
    r = partial(held, name=dtype)

    def normal(*shape: int, scale: float = 1.0, around: float = 0.0) -> Array:
        return r(around + scale * rng.normal(size=shape))

    options: dict[str, Any] = {}
    if name == "attention":
        operands = {word: normal(*lead, n, d, scale=size) for word in "qkv"}
        options = {"causal": causal}
    elif name == "multihead":
        d = 2 * d
        operands = {"x": normal(n, d)} | {f"w{word}": normal(d, d, scale=1.3 / np.sqrt(d)) for word in "qkvo"}
        options = {"heads": int(rng.choice([2, 4])), "causal": causal}
    elif name == "rope":
        operands = {"x": normal(*lead, n, d, scale=size)}
    else:
        gamma, beta = normal(d, scale=0.3, around=1), normal(d, scale=0.3)
        operands = {"x": normal(*lead, n, d, scale=size), "gamma": gamma, "beta": beta}
    result = KERNELS[name].kernel(r, *operands.values(), mistake=mistake, **options)
    return problem(name, options, **operands), result.astype(np.float32), mistake
