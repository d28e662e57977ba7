"""The phrases of mistakes, and what each stands for: formulas in the language of pages, or what works a value out.

A phrase may have gaps for formulas, `{}`. In a meaning, `right` is the value that was due at the step, `wrong` the one
that it has, `first` and `second` what the due formula works on, `left` and `turned` the factors of the product in it.
A meaning with `==` is an equation; one with several senses is a list of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncalc.language.primitive import formula

Array = NDArray[Any]

BOOKS = {
    "P": "weights softmax",
    "dP": "grad_weights grad_softmax",
    "dS": "grad_scores grad_scaled grad_masked grad_biased grad_capped grad_shifted",
    "dO": "grad_heads upstream grad_output",
    "dy": "upstream grad_output",
    "dV": "grad_v grad_v_heads",
    "dQ": "grad_q grad_q_heads",
    "dK": "grad_k grad_k_heads",
    "dγ": "grad_gamma",
    "dβ": "grad_beta",
    "T": "temperature",
    "τ": "temperature",
    "z": "scaled logits",
    "b": "onto",
    "target": "y",
    "logits": "z2",
    "C": "h2",
    "B": "onto bias",
    "N": "n",
    "L": "mean_negative_log loss",
    "σ": "standard_deviation std root_mean_square",
    "d": "d_k",
    "H": "heads",
    "m": "slopes",
    "c": "previous",
    "distance": "distances",
    "new": "maximum",
    "before": "hidden z1 x",
    "f": "f",
    "g": "g",
    "δ₂": "delta2",
    "μ": "mean",
    "λ": "rate",
    "x": "X",
    "x̂": "normalized",
    "W": "turned",
    "‖b‖": "length_b",
    "rms": "rms",
}
"""What the words of mistakes call a step or an operand, as books do: the first of these that is there."""

SHORT = [
    (r"^\+", ""),
    (r"\)\(", ")·("),
    (r"\b([a-c])·([a-c])ᵀ", r"\1 ⊗ \2"),
    (r"‖([a-z])‖", r"√(Σ \1²)"),
    (r"max\|([a-z])\|", r"max(|\1|)"),
    (r"√Σ ?([a-z]²?|\([^()]*\)²)", r"√(Σ \1)"),
    (r"Σ(?=[a-zA-Z√(|])", "Σ "),
    (r"½$", "(1/2)"),
    (r"\b(\d)([a-zπλ(])", r"\1·\2"),
    (r"\^−([a-zλ])", r"^(−\1)"),
    (r"₁", "_1"),
    (r"₂", "_2"),
]
"""Regular expressions for what formulas leave out, and what is meant."""


def softmaxed(x: Array, *axes: int) -> Array:
    e = np.exp(x)
    return np.asarray(e / e.sum(axes, keepdims=True))


def when(holds: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """True of a step as it is, where something holds."""
    return lambda p: p.wrong if holds(p) else None


def entry(part: int, value: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Another value in one place of the last axis."""

    def changed(p: Any) -> Any:
        found = np.array(p.right, dtype=float)
        found[..., part] = value(p)
        return found

    return changed


def sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def without_end(p: Any) -> Any:
    """In the second step: how many of the two tokens are not the end."""
    if p.group != "step 2":
        return None
    before, now = (np.where(p.at(turn, "token") == p.option("end"), 0, 1) for turn in ("step 1", "step 2"))
    return now + before[p.at("step 2", "origin").astype(int)]


def leftmost_first(p: Any) -> Any:
    """Words in which the leftmost pair that is one of the merges is joined, as long as there is one."""
    chosen = (p.at(f"merge {i + 1}", "chosen") for i in range(p.option("merges")))
    merges = [tuple(pair.astype(int).tolist()) for pair in chosen]
    first, rows = p.at("encode", "letters").max() - len(merges), []
    for row in p.at("encode", "letters").astype(int).tolist():
        while found := [i for i, pair in enumerate(pairwise(row)) if pair in merges]:
            row[found[0] : found[0] + 2] = [int(first) + merges.index((row[found[0]], row[found[0] + 1]))]
            row.append(row[-1])
        rows.append(row)
    return np.array(rows, dtype=float)


def words_once(p: Any) -> Any:
    """How often each pair stands in the words, each of them taken once."""
    found = np.zeros_like(p.right)
    for row in p["first"].astype(int).tolist():
        for a, b in pairwise(row):
            if b < len(found):
                found[a, b] += 1
    return found


def by_key(p: Any) -> bool:
    """Whether what is added is the slope times the key's place."""
    if p.name not in ("bias", "biased"):
        return False
    added = np.where(np.isfinite(p.right), p.wrong - (p["scaled"] if "scaled" in p.known else 0), np.nan)[..., -1, :]
    return bool(np.allclose(added, added[..., 1:2] * np.arange(added.shape[-1])))


def apart_by_rows(p: Any) -> bool:
    """Whether a row differs from what is due by one number, as far as a query sees."""
    if p.name not in ("bias", "biased"):
        return False
    off = np.where(triangle(p, 0) & np.isfinite(p.right), p.wrong - p.right, np.nan)
    return bool(np.allclose(np.nanmax(off, -1), np.nanmin(off, -1)))


def causal(ends: int) -> Callable[[Any], Any]:
    """The weights with a triangle that begins with the first key, or ends with the last one."""

    def weights(p: Any) -> Any:
        n, m = p.right.shape[-2:]
        return (
            softmaxed(np.where(triangle(p, ends * (m - n)), p["first"], -np.inf), -1) if p.name == "weights" else None
        )

    return weights


def padded_queries(p: Any) -> Any:
    """Whole rows hidden, of the tokens whose columns should be."""
    if p.name != "masked":
        return None
    return np.where(np.isfinite(p.right[..., :1, :]).swapaxes(-1, -2), p["second"], -np.inf)


def triangle(p: Any, ahead: int) -> Array:
    n, m = p.right.shape[-2:]
    return np.asarray(np.arange(m) <= np.arange(n)[:, None] + ahead)


def wider(p: Any) -> bool:
    """Whether frequencies are those of a vector that is some times as long."""
    if p.name != "frequencies":
        return False
    pairs = np.arange(len(p.right))
    return any(np.allclose(p.wrong, 10000 ** (-2 * pairs / (2 * len(pairs) * heads))) for heads in range(2, 17))


def turned_values(p: Any) -> Array:
    angles = np.outer(np.arange(p["V"].shape[-2]), p["frequencies"])
    turned = (p["V"][..., ::2] + 1j * p["V"][..., 1::2]) * np.exp(1j * angles)
    return np.asarray(p["weights"] @ np.stack([turned.real, turned.imag], -1).reshape(p["V"].shape))


def columns(*own: int) -> Callable[[Any, str], Array]:
    """Sines and cosines with the exponent of their column, or of their pair."""

    def encoded(p: Any, exponent: str) -> Array:
        n, d = p.right.shape
        found = np.empty((n, d))
        for column in range(d):
            pair, odd = divmod(column, 2)
            power = p.of(exponent, i=pair, j=column) if own[odd] else 2 * pair / d
            found[:, column] = (np.cos if odd else np.sin)(np.arange(n) / 10000**power)
        return found

    return encoded


def mixed_layout(p: Any) -> Array:
    x, c, s = p["first"], np.repeat(p["second"], 2, -1), np.repeat(p["third"], 2, -1)
    a, b = np.split(x, 2, -1)
    return np.asarray(x * c + np.concatenate([-b, a], -1) * s)


def mixed_otherwise(p: Any) -> Array:
    x, c, s = p["first"], np.concatenate([p["second"]] * 2, -1), np.concatenate([p["third"]] * 2, -1)
    partners = np.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)
    return np.asarray(x * c + partners * s)


def turned_by(sign: int) -> Callable[[Any], Array]:
    """Each pair times [c s; −s c]."""

    def turned(p: Any) -> Array:
        x, c, s = p["first"], p["second"], sign * p["third"]
        a, b = x[..., ::2], x[..., 1::2]
        return np.stack([c * a + s * b, -s * a + c * b], -1).reshape(x.shape)

    return turned


def another_epsilon(p: Any) -> bool:
    if p.name not in ("standard_deviation", "root_mean_square"):
        return False
    off = p.wrong**2 - p.right**2
    return bool(np.allclose(off, off.flat[0]))


def through_a_norm(back: Callable[[Callable[[str], Array]], Array]) -> Callable[[Any], Any]:
    """What goes past a norm of a layer, with what comes `back` through it of its own steps' values."""

    def gradient(p: Any) -> Any:
        steps = [term.key for term in p.due.sources[0].sources if term.op == "step"]
        norm = next((group for group, name in steps if name == "grad_centered"), None)
        if norm is None:
            return None

        def value(*step: str) -> Array:
            return np.asarray(p.case.values[p.case.wrong.steps[step].sources[0]])

        past = [value(*step) for step in steps if step[0] != norm]
        return sum(past, back(lambda name: value(norm, name)))

    return gradient


def by_erf(p: Any) -> Array:
    return gelu(p["before"])


def by_tanh(p: Any) -> Array:
    return gelu(p["before"], by_tanh=True)


def slid(p: Any, **changed: int) -> Array:
    """A convolution of a row, with other options."""
    options = {name: p.option(name)[0] for name in ("padding", "stride", "dilation")} | changed
    x, kernel = np.pad(p["x"], options["padding"]), p["kernel"]
    reach = options["dilation"] * (len(kernel) - 1) + 1
    starts = range(0, len(x) - reach + 1, options["stride"])
    return np.array([x[at : at + reach : options["dilation"]] @ kernel for at in starts])


def recurrence(state: Callable[[Array, Array, Array], Array]) -> Callable[[Any], Any]:
    """A state made of what comes from the input, from the state before, and of the bias."""
    return lambda p: state(p.entered(p["wx"]), p["previous"] @ p["wh"], p["b"]) if p.name == "hidden" else None


def weights_turned(p: Any) -> Any:
    """A state with one matrix of weights transposed, or with both."""
    if p.name != "hidden":
        return None
    pairs = [(p["wx"].T, p["wh"].T), (p["wx"], p["wh"].T), (p["wx"].T, p["wh"])]
    made = [np.tanh(p.entered(wx) + p["previous"] @ wh + p["b"]) for wx, wh in pairs]
    return next((value for value in made if np.allclose(value, p.wrong)), None)


def same_gates(p: Any, content: Callable[[Array], Array], order: Iterable[int]) -> bool:
    """Whether the gates of an LSTM are made of its sums in this order: i, f, what is new, o."""
    sums = p["sums"].reshape(4, -1)[list(order)]
    return bool(np.allclose(p.wrong, [sigmoid(sums[0]), sigmoid(sums[1]), content(sums[2]), sigmoid(sums[3])]))


def gates_reordered(p: Any) -> bool:
    if p.name != "gates":
        return False
    if "sums" in p:
        return any(same_gates(p, np.tanh, order) for order in permutations(range(4)))
    a, u = p["from_input"].reshape(3, -1), p["from_state"].reshape(3, -1)
    r = sigmoid(a[1] + u[1])
    return bool(np.allclose(p.wrong, [r, sigmoid(a[0] + u[0]), np.tanh(a[2] + r * u[2])]))


def reset_before(p: Any) -> Any:
    """The gates of a GRU that holds the state back before its product."""
    if p.name != "gates":
        return None
    a, size = p["from_input"].reshape(3, -1), p.right.shape[-1]
    state = p.earlier("hidden") if p.turn > 1 else p["h_0"]
    return [*p.right[:2], np.tanh(a[2] + (p.right[0] * state) @ p["wh"][:, 2 * size :])]


def blocks(p: Any) -> Any:
    """The outputs of every block by itself."""
    if (p.group, p.name) != ("", "output"):
        return np.nan
    found = [p.at(group, "scores") for group in sorted({g for g, _ in p.case.right.steps if g.startswith("block")})]
    starts = np.cumsum([0, *(scores.shape[-1] for scores in found)])
    return [
        softmaxed(scores, -1) @ p["v"][start : start + scores.shape[-1]]
        for scores, start in zip(found, starts, strict=False)
    ]


def by_model_width(p: Any) -> bool:
    """Whether what is divided is divided by the root of some other width."""
    if p.name != "scaled":
        return False
    divisors = (p["first"] / p.wrong)[p.wrong != 0]
    return bool(np.allclose(divisors, divisors[0]) and divisors[0] > np.sqrt(p["d_k"]) and "d_model" in formula(p.node))


BENT: dict[str, Callable[[Array], Array]] = {
    "sigmoid": sigmoid,
    "tanh": np.tanh,
    "silu": lambda z: z * sigmoid(z),
    "gelu": lambda z: gelu(z, by_tanh=False),
    "gelu-tanh": lambda z: gelu(z, by_tanh=True),
}


def gelu(x: Array, *, by_tanh: bool = False) -> Array:
    """In one of its two forms."""
    bent = np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)) if by_tanh else np.vectorize(math.erf)(x / np.sqrt(2))
    return np.asarray(x / 2 * (1 + bent))


def slope(p: Any) -> Callable[[Array], Array]:
    """The slope of the activation, by central differences; ReLU's is that of its side, 0 at 0."""
    kind, d = p.option("activation"), 1e-5
    if kind == "relu":
        return lambda z: np.asarray(z > 0, dtype=float)
    return lambda z: (BENT[kind](z + d) - BENT[kind](z - d)) / (2 * d)


def by_result(p: Any, *, exchanged: bool = False) -> Callable[[Array], Array]:
    """The slope of the activation from its result."""
    tanh = (p.option("activation") == "tanh") != exchanged
    return (lambda a: 1 - a**2) if tanh else (lambda a: a * (1 - a))


def penalised(exponent: Callable[[Array, int], Array]) -> Callable[..., Any]:
    """Scores less another slope times the distance."""

    def biased(p: Any, *_: str) -> Any:
        if p.name != "biased":
            return None
        heads, n, m = p.right.shape[-3:]
        slopes = 2.0 ** -exponent(np.arange(1.0, heads + 1), heads)
        return p["scaled"] - slopes[:, None, None] * np.abs(np.arange(n)[:, None] - np.arange(m))

    return biased


def unnormed(p: Any) -> Any:
    """The queries and keys that a norm of their own is taken of."""
    outer, _, part = p.group.rpartition("/")
    letter, _, norm = part.partition("-")
    before = letter if p.option("qk_norm_over") == "all" else f"{letter}_heads"
    return p.at(outer, before) if norm == "norm" else None


def normed_by_head(p: Any) -> Any:
    """Queries and keys of each head by their own root mean square."""
    outer, _, part = p.group.rpartition("/")
    x, heads = p.at(outer, part[0]), (p.option("kv_heads") if part[0] == "k" else None) or p.option("heads")
    rows = x.reshape(*x.shape[:-1], heads, -1)
    return (rows / np.sqrt(np.square(rows).mean(-1, keepdims=True) + p.option("eps"))).reshape(x.shape)


def windowed(by: int | None, *, alone: bool = False) -> Callable[[Any], Any]:
    """Scores where another window is open, or one alone, without a triangle."""

    def masked(p: Any) -> Any:
        if p.name not in ("masked", "scores"):
            return None
        n, m = p.right.shape[-2:]
        i, j = np.arange(n)[:, None], np.arange(m) + max(p.turn - 1, 0) * p.case.options.get("block", 0)
        width = np.inf if by is None else p.option("window") + by
        causal = p.option("causal") if "causal" in p.case.options else not p.case.options.get("no_causal", True)
        seen = (i - j < width) & ((j <= i) if causal and not alone else (j - i < width))
        return np.where(seen, p["second"], -np.inf)

    return masked


def in_turn(p: Any) -> Any:
    """Scores of query heads that take the key heads one after the other, again and again."""
    if p.name != "scores":
        return None
    q, k = (p[f"{name}_heads"] if f"{name}_heads" in p else p[name] for name in "qk")
    scores = q @ np.swapaxes(np.tile(k, (q.shape[-3] // k.shape[-3], 1, 1)), -1, -2)
    if "block" in p.case.options:
        start, size = (p.turn - 1) * p.option("block"), p.right.shape[-1]
        return scores[..., start : start + size] / np.sqrt(q.shape[-1])
    return scores[..., p.turn - 1 : p.turn, : p.turn] if p.turn else scores


def values_in_turn(p: Any) -> Any:
    """What query heads mix that take the heads of values one after the other, again and again."""
    v = p["v_heads" if "v_heads" in p else "v"]
    if p.name == "accumulator" and p.turn == 1:
        weights = np.exp(p["scores"] - p["maximum"][..., None])
    elif p.name == ("heads" if "v_heads" in p else "output") and "weights" in p:
        weights = p["weights"]
    else:
        return None
    return weights @ np.tile(v, (weights.shape[-3] // v.shape[-3], 1, 1))[..., : weights.shape[-1], :]


def every_key(p: Any) -> Any:
    """Scores of a token with all keys, each shared by several query heads."""
    if p.name != "scores":
        return None
    query, k = p["left"], p["k"]
    if k.ndim > 2:
        k = np.repeat(k, query.shape[-3] // k.shape[-3], -3)
    return query @ np.swapaxes(k, -1, -2)


def blockwise(order: str) -> Callable[[Any], Any]:
    """Queries, keys and values cut from whole blocks of columns that are taken to lie in another order."""

    def cut(p: Any) -> Any:
        sizes = [p[name].shape[-1] for name in order]
        blocks = np.split(np.concatenate([p[name] for name in "qkv"], -1), np.cumsum(sizes)[:-1], -1)
        return dict(zip(order, blocks, strict=True)).get(p.name)

    return cut


def headwise(p: Any, *, stored: bool) -> Any:
    """The same, where each head or group of heads is stored, or taken to be stored, with its key and its value."""
    groups, (n, width) = p.option("kv_heads") or p.option("heads"), p["k"].shape
    if stored:
        heads = np.concatenate([p[name].reshape(n, groups, -1) for name in "qkv"], -1)
        cut = np.split(heads.reshape(n, -1), np.cumsum([p[name].shape[-1] for name in "qk"]), -1)
    else:
        blocks = np.concatenate([p[name] for name in "qkv"], -1)
        cut = np.split(blocks.reshape(n, groups, -1), [-2 * width // groups, -width // groups], -1)
    return dict(zip("qkv", cut, strict=True))[p.name].reshape(n, -1) if p.name in "qkv" else None


def reordered(p: Any) -> bool:
    """Whether the heads are all there, at other places."""
    heads = [p.right, p.wrong]
    if p.name == "concatenated":
        heads = [np.moveaxis(x.reshape(*x.shape[:-1], p.option("heads"), -1), -2, 0) for x in heads]
    elif p.name != "output" or p.right.ndim < 3:
        return False
    due, found = (sorted(head.round(9).tolist() for head in x) for x in heads)
    return due == found


def not_rescaled(p: Any, size: str) -> Any:
    """Weights from exponentials that are each relative to the largest score so far."""
    if p.name != "weights":
        return None
    x = p["first"]
    tops = np.maximum.accumulate(x, -1)
    last = [min((j // int(size) + 1) * int(size), x.shape[-1]) - 1 for j in range(x.shape[-1])]
    shares = np.exp(x - tops[..., last])
    return shares / shares.sum(-1, keepdims=True)


def turned_at(places: Callable[[Array, int, int, bool], Array | None]) -> Callable[[Any], Any]:
    """Queries, or keys, turned by other positions."""

    def turned(p: Any) -> Any:
        letter = p.name[0]
        if p.name == "angles":
            return np.outer(np.arange(p.right.shape[0]), p["frequencies"])
        if p.name not in ("q_rotated", "k_rotated"):
            return None
        x = p[f"{letter}_heads"] if f"{letter}_heads" in p else p[letter]
        m, n = (p.case.right.steps[p.group, "scores"].shape[at] for at in (-1, -2))
        shift = m - n if p.option("causal_align") == "end" and letter == "q" else 0
        at = places(np.arange(x.shape[-2]) + shift, n, m, letter == "q")
        if at is None:
            return None
        angles = np.outer(at, p["frequencies"])
        pairs = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)
        return np.stack([pairs.real, pairs.imag], -1).reshape(x.shape)

    return turned


def new_from_0(at: Array, n: int, m: int, of_queries: bool) -> Array:
    if m <= n:
        return 0 * at
    return np.arange(n) if of_queries else np.where(at < m - n, at, at - (m - n))


def of_queries(change: Callable[[Array, int, int], Array]) -> Callable[[Any], Any]:
    return turned_at(lambda at, n, m, queries: change(at, n, m) if queries else None)


UNDIVIDED = ["scaled = Q·Kᵀ", "weights = softmax(scores)", "scores = right·√d_k"]
"""What becomes of it where the scale is a part of another step."""
SLOPES = {
    "diff-chain-no-inner": ["value = 2·x·sin(3·x) + x²·cos(3·x)", "∂f/∂x = 3·x²·y + cos(x·y)"],
    "diff-product-each": ["value = 2·x·3·cos(3·x)", "∂f/∂x = 2·x·cos(x)"],
    "diff-power-not-lowered": ["value = 2·x²·sin(3·x) + x²·3·cos(3·x)", "∂f/∂x = 3·x^3·y + y·cos(x·y)"],
    "diff-power-no-factor": ["value = x·sin(3·x) + x²·3·cos(3·x)", "∂f/∂x = x²·y + y·cos(x·y)"],
    "diff-quotient-order": [
        "value = (exp(2·x)·2·x − 2·exp(2·x)·(x² + 1)) / (x² + 1)²",
        "∂f/∂x = (exp(x·y)·2·x − y·exp(x·y)·(y + x²)) / (y + x²)²",
    ],
    "diff-quotient-each": ["value = 2·exp(2·x) / (2·x)", "∂f/∂x = y·exp(x·y) / (2·x)"],
    "diff-exp-as-power": [
        "value = 2·2·x·exp(2·x − 1) / (x² + 1) − exp(2·x)·2·x / (x² + 1)²",
        "∂f/∂x = y·x·y·exp(x·y − 1) / (y + x²) − exp(x·y)·2·x / (y + x²)²",
    ],
    "diff-sine-sign": ["value = 2·x·sin(3·x) − x²·3·cos(3·x)", "∂f/∂x = 3·x²·y − y·cos(x·y)"],
    "diff-constant-kept": ["value = right + 2", "∂f/∂x = right − y"],
    "diff-f-for-fprime": ["value = x²·sin(3·x) + 2", "∂f/∂x = x^3·y + sin(x·y) − y"],
    "diff-quotient-no-square": [
        "value = (2·exp(2·x)·(x² + 1) − exp(2·x)·2·x) / (x² + 1)",
        "∂f/∂x = (y·exp(x·y)·(y + x²) − exp(x·y)·2·x) / (y + x²)",
    ],
    "diff-chain-nested": ["value = 2·x·sin(3·x) + x²·cos(3)", "∂f/∂x = 3·x²·y + cos(y)"],
}
"""What a wrong rule makes of the expressions in homework/problems.py."""


def written(p: Any, lasts: Array) -> Array:
    """What every token writes to the state for each of its entries, where tokens do not fade while they last."""
    return np.asarray((lasts * p["x"])[..., None] * p["B"][:, None])


def faded(p: Any, lasts: Array, rates: Array) -> Any:
    """The shares of the state that are left, or what tokens add that fade while they last."""
    decay = np.exp(lasts[..., None] * rates)
    due = {"decay": decay, "added": (decay - 1) / rates * written(p, np.ones_like(lasts))}
    return due.get(p.name)


def scales(p: Any) -> Array:
    """The scale of every code: one for all, one for each row, or for each column of W."""
    scale = p["scale"]
    return np.asarray(scale[:, None] if scale.ndim and not p.group.endswith("w") else scale)


def beyond(p: Any) -> Array:
    """What the target's shares of the drafted tokens' places have beyond the draft's."""
    return np.asarray(p["target_probabilities"][:-1] - p["draft_probabilities"])


def by_shares(p: Any) -> Array:
    """The slopes of a softmax from its shares."""
    share, slope = p["softmax"], p["grad_softmax"]
    return np.asarray(share * (slope - (share * slope).sum(axis=-1, keepdims=True)) / p.option("temperature"))


def by_logarithms(p: Any) -> Array:
    """The slopes of the logarithms of a softmax from these logarithms."""
    slope = p["grad_log_softmax"]
    return np.asarray(slope - np.exp(p["log_softmax"]) * slope.sum(axis=-1, keepdims=True))


def by_jacobian(p: Any) -> Array:
    """The slopes of a softmax by the Jacobian of each of its rows."""
    shares = p["P"]
    jacobians = shares[..., None] * np.eye(shares.shape[-1]) - shares[..., None] * shares[..., None, :]
    return np.asarray((jacobians @ p["dP"][..., None])[..., 0])


def normed(p: Any) -> int:
    """The axis along which a norm is taken; the tokens are the first axis of a batch norm's."""
    return -2 if p.case.key.problem.calculation.name == "batchnorm" else -1


def by_normalized(p: Any, *, centred: bool) -> Array:
    """The slopes of a norm from what it has normalised."""
    axis = normed(p)
    entries, slope = p["normalized"], p["grad_normalized"]
    found = slope - entries * (slope * entries).mean(axis=axis, keepdims=True)
    divisor = np.expand_dims(p["standard_deviation" if centred else "root_mean_square"], axis)
    return np.asarray((found - centred * slope.mean(axis=axis, keepdims=True)) / divisor)


PHRASES: dict[str, Any] = {
    "dx = P ⊙ (dP − Σ P ⊙ dP), over T": by_shares,
    "dx = dy − e^y ⊙ Σ dy": by_logarithms,
    "dx = (dx̂ − mean(dx̂) − x̂ ⊙ mean(dx̂ ⊙ x̂)) / σ": partial(by_normalized, centred=True),
    "dx = (dx̂ − x̂ ⊙ mean(dx̂ ⊙ x̂)) / rms": partial(by_normalized, centred=False),
    "dx = dx̂ / rms − x ⊙ mean(dx̂ ⊙ x) / rms³": partial(by_normalized, centred=False),
    "dσ² = Σ(dx̂ ⊙ (x − μ))·(−½)·σ⁻³": lambda p: (
        (p["grad_normalized"] * p["centered"]).sum(axis=normed(p)) / (-2 * p["standard_deviation"] ** 3)
    ),
    "dS = (diag(P) − P·Pᵀ)·dP": by_jacobian,
    # groups of channels, patches
    "the channels summed": lambda p: p["products"].sum((0, -2, -1)) if p.name == "output" else None,
    "one group of all channels": lambda p: p["x"].reshape(1, -1) if p.name == "grouped" else None,
    "column by column": lambda p: np.swapaxes(p["patches"], -4, -3).reshape(p["read"].shape),
    "each kernel column by column, where a patch is read row by row": (
        lambda p: np.swapaxes(p["w"], -1, -2).reshape(p["kernels"].shape)
    ),
    "without the bias of a feature": "right − b",
    "the class token behind the patches": lambda p: np.vstack([p["embedded"], p["cls"]]),
    "no position is added": "with_class",
    # sampling
    "not divided by T": lambda p: p.right * p.option("temperature"),
    "what is left is not made to sum to 1 again": "right == wrong / Σ wrong",
    "the token that reaches p is cut off too": lambda p: p.wrong,
    "min_p of 1, and not of the likeliest one's share": "right == wrong·max(sorted)",
    "scores below 0 divided as well": lambda p: p.wrong,
    # codes
    "the codes themselves, not multiplied by the scale": lambda p: p.right / scales(p),
    "multiplied by the scale in place of divided": lambda p: p.right * scales(p) ** 2,
    "the fraction of a code is cut off": "codes = sign(scaled) ⊙ floor(|scaled|)",
    "halves are rounded away from 0, not to the even code": "codes = sign(scaled) ⊙ floor(|scaled| + 1 / 2)",
    "one code more than there are above 0": "scale = largest / 8",
    "the largest entry in place of the largest size": lambda p: p.wrong,
    "divided by 6 before the exponent is taken": "exponent = floor(log₂(largest / 6))",
    "divided by 6 before the exponent is taken, which is rounded up": "exponent = −floor(−log₂(largest / 6))",
    "the exponent is rounded up": "exponent = −floor(−log₂(largest)) − 2",
    "the exponent is rounded up, and nothing taken out of it": "exponent = −floor(−log₂(largest))",
    "largest / 6, which is no power of 2": "scale = largest / 6",
    "nothing is taken out for the largest code": "exponent = floor(log₂(largest))",
    "a range that does not reach 0": lambda p: p["x"].max() if p.name == "highest" else None,
    "the zero point is not taken away again": "dequantised = codes·scale",
    "without the minus sign": "−right",
    "one scale for all": lambda p: np.abs(p["x"]).max() if p.name == "largest" else None,
    "without the scale of W": lambda p: p["summed"] * p["scale"][:, None],
    # drafts
    "drawn from the target itself": lambda p: p["target_probabilities"],
    "Q − P in place of P − Q": lambda p: np.vstack([np.maximum(0, -beyond(p)), p["target_probabilities"][-1:]]),
    "|P − Q|": lambda p: np.vstack([np.abs(beyond(p)), p["target_probabilities"][-1:]]),
    "what the draft writes too often counts too": lambda p: p.wrong,
    "Q/P in place of P/Q": "ratio = draft_share / target_share",
    "kept as often as the target draws it": "acceptance = target_share",
    "P/Q where that is more than 1": "acceptance = ratio",
    "the draft's scores are not divided by T": lambda p: (
        np.exp(p["draft"]) / np.exp(p["draft"]).sum(-1, keepdims=True) if p.name == "draft_probabilities" else None
    ),
    "tokens behind one that is not kept are counted": "accepted = Σ kept",
    "each token's chance by itself": "reached = acceptance",
    "the row behind the first that is not kept": lambda p: p["shares"][int(p["accepted"]) + 1],
    # adapters, and losses that compare
    "α/r left out": "change",
    "α in place of α/r": "r·right",
    "α/√r in place of α/r": "√r·right",
    "the change alone": "scaled",
    "the change counted twice": "base + 2·scaled",
    "as beside weights that are merged": "right + scaled",
    "from a to b alone": "loss = loss_a",
    "dot products in place of cosines": "similarities = A·Bᵀ",
    "τ left out": "similarities",
    "the sum over the pairs in place of their mean": ["loss_a = Σ losses_a", "loss = Σ losses"],
    "−ln σ(margin)": lambda p: np.log1p(np.exp(-p["margins"])),
    "the reference left out": "beta·(chosen − rejected)",
    "β left out": "log_ratios_chosen − log_ratios_rejected",
    "the rejected in place of the chosen": "−right",
    "the ratio is not clipped": "gained",
    "the clipped ratio alone": "bounded",
    "the larger of the two": "max(gained, bounded)",
    "ln r in place of r": "new − old",
    "not divided by the deviation": "centred",
    "the deviation of a whole population, not of a sample": "√mean(centred²)",
    "the mean is not taken off": "rewards",
    "ln π/π_ref in place of its estimate": "−gaps",
    "the sign of the loss": "−right",
    # how a formula is introduced
    "the outer product {}": "{0}",
    "the dot product {}": "{0}",
    "{} over {}": "({0}) / ({1})",
    "{} over {} alone": "({0}) / ({1})",
    "divided by √d_model": when(by_model_width),
    "divided by {}": [
        "scaled = first / ({0})",
        "loss = right·T / ({0})",
        "mean_negative_log = right·T / ({0})",
        "logits = right / ({0})",
    ],
    "divided by {} in place of {}": ["right·({1}) / ({0})", "softmax(scores / ({0}))", "right·({1}) / ({0})"],
    "multiplied by {}": ["first·({0})", "softmax(scores·({0}))", "right·({0})·({0})"],
    "times {}": ["left·({0})"],
    "the difference of {} and {}": "|{0} − {1}|",
    "without the {}": "right == ({0})·wrong",
    "without {}!": "right == wrong / ({0}!)",
    "without {}": ["right == ({0})·wrong", "right == wrong·({0})", "right == wrong + ({0})"],
    "without the factor {}": "right == wrong ⊙ {0}",
    "the eigenvalues of {}": lambda p, formula: np.sort(np.linalg.eigvals(p.of(formula)))[::-1][: p.right.shape[-1]],
    # vectors
    "the products, not added up": "products",
    "entry by entry": ["a ⊙ b", "A ⊙ B"],
    "no root is taken": ["right²", "right^p"],
    "the entries were not squared": ["powers = a", "powers = |a|"],
    "added up before squaring": ["(Σ a)²", "(Σ difference)²"],
    "the largest entry": "max(|a|)",
    "the mean of the powers": "mean(powers)",
    "the mean of the squares": "mean(squares)",
    "the mean of the absolute differences": "mean(absolute)",
    "the mean of the logarithms": "mean(log_probabilities)",
    "their sum": ["Σ powers", "Σ squares", "Σ absolute", "Σ log_probabilities"],
    "whatever the power is": when(lambda p: p["p"] != 2 or p.case.solution.mistakes[0].id == "mink-manhattan"),
    "the square root of the sum": "√sum",
    "the entries with their signs": "a^p",
    "the cosine": ["cosine", "Σ(a ⊙ b) / (√(Σ a²)·√(Σ b²))", "(x / √(Σ x²))·(y / √(Σ y²))ᵀ"],
    "1 − cosine": ["1 − cosine", "1 − (x / √(Σ x²))·(y / √(Σ y²))ᵀ"],
    "the dot product": ["dot", "a·b", "x·yᵀ"],
    "the distance": "1 − cosine",
    "no roots": "right²",
    "a root too many": ["√right", "√(√mean_square + ε)"],
    "lengths as sums of absolute values": [("norm_a = Σ |a|", "norm_b = Σ |b|")],
    "the cosine without its sign": "|cosine|",
    "the angle, in radians": "arccos(cosine)",
    "the angle, in degrees": "arccos(cosine)·180 / π",
    "the absolute differences, added up": ["Σ |a − b|", "Σ |(x copied along m) − (y copied along n)|"],
    "the difference of the lengths": "|√(Σ a²) − √(Σ b²)|",
    "the largest difference": ["max(|a − b|)", "max(|(x copied along m) − (y copied along n)|)"],
    "the differences with their signs": "absolute = difference",
    "added up before the signs are dropped": "|Σ difference|",
    "the squares of the differences": "absolute = difference²",
    "the straight line": "√(Σ difference²)",
    "the differences were added up": "Σ absolute",
    "the powers of the differences with their signs": "difference^p",
    "divided by the length once, not twice": ["squared_norm = √right", "coefficient = a·b / √(b·b)"],
    "nothing is divided": "first",
    "divided by the square of the vector, not of the target": "squared_norm = Σ a²",
    "the target projected on the vector": "((a·b) / (a·a))·a",
    "the length of the shadow": "(a·b) / √(b·b)",
    "the coefficient alone": "coefficient",
    "what is left over": "residual",
    "the projection": "projection",
    "the shadows on the single columns, added up": lambda p: p["b"] @ ((p["a"] @ p["b"]) / (p["b"] ** 2).sum(0)),
    "the order of the cosines": "places of the largest 3 of ((q / √(Σ q²))·(keys / √(Σ keys²))ᵀ)",
    "divided by the keys' lengths": "q·(keys / √(Σ keys²))ᵀ",
    "the cosines": [
        "(q / √(Σ q²))·(keys / √(Σ keys²))ᵀ",
        "(target / √(Σ target²))·(vocabulary / √(Σ vocabulary²))ᵀ",
        "(H / √(Σ H²))·(E / √(Σ E²))ᵀ",
    ],
    "the inner products": "q·keysᵀ",
    "the dot products": ["target·vocabularyᵀ", "H·Eᵀ"],
    "the distances": "√(Σ(vocabulary − target)²)",
    "the keys at the smallest distance": "places of the largest 3 of (−√(Σ(keys − q)²))",
    "the smallest value first": [
        "places of the largest 3 of (−scores)",
        (
            "places of the largest 3 of (−similarities) except where max(|vocabulary − a|) = 0"
            " or max(|vocabulary − b|) = 0 or max(|vocabulary − c|) = 0"
        ),
    ],
    "positions counted from 1": "right + 1",
    "the three inputs are ranked as well": "places of the largest 3 of similarities",
    # matrices
    "of which no root was taken": "right²",
    "V": "vtᵀ",
    "Vᵀ": "vt",
    "U and V are exchanged": "|wrong| == |vtᵀ|",
    "those of Aᵀ": "left singular vectors of (Aᵀ)",
    "the sum of the squares": ["Σ squares", "right²"],
    "without the root": "right²",
    "the largest singular value left out": lambda p: p["s"][int(p["rank"])],
    "the error in the spectral norm": lambda p: np.linalg.norm(p["A"] - p["approximation"], 2),
    "λ² + tr A·λ + det A": lambda p: [1, np.trace(p["A"]), np.linalg.det(p["A"])],
    "the sign of the trace": lambda p: p.right * [1, -1, 1],
    "a·d + b·c in place of the determinant": entry(
        2, lambda p: p["A"][0, 0] * p["A"][1, 1] + p["A"][0, 1] * p["A"][1, 0]
    ),
    "the entries of the diagonal": when(lambda p: np.allclose(sorted(p.wrong), sorted(np.diag(p["A"])))),
    "b·c is missing from the determinant": entry(2, lambda p: p["A"][0, 0] * p["A"][1, 1]),
    "−p ± √(p² − 4·q)": "2·right",
    "not divided by 2": "2·right",
    "another order": when(lambda p: p.name == "eigenvalues" and np.allclose(sorted(p.wrong), sorted(p.right))),
    # softmax and what is lost
    "without taking the maximum away": "shifted = right + max(first)",
    "e^(z·T)": "scaled = x·T",
    "multiplied by the temperature": "scaled = x·T",
    "without the temperature": "scaled = x",
    "the shares divided by the temperature": "softmax = softmax(x) / T",
    "no exponentials": ["exponentials = scaled", "probabilities = logits / (Σ logits)", "logsumexp = ln(Σ x)"],
    "powers of {} in place of e": "exponentials = {0}^shifted",
    "e^−z": "softmax = softmax(−z)",
    "each score by itself": ["softmax = σ(z)", "probabilities = σ(z)"],
    "the largest score gets everything": "softmax = largest(z)",
    "the maximum is subtracted above the line, but not below": "sum = Σ exp(scaled)",
    "e⁰ taken as 0": [
        "exponentials = 0 where scaled = 0, else exp(shifted)",
        "exponentials = 0 where shifted = 0, else exp(shifted)",
        "weights = (0 where first = 0, else exp(first)) / Σ(0 where first = 0, else exp(first))",
    ],
    "the diagonal of the Jacobian alone": "P ⊙ dP − P ⊙ P ⊙ dP",
    "the softmax": "softmax(x)",
    "without its logarithm": "exp(right)",
    "ln Σ e^(z − max)": "ln(Σ exp(x − max(x)))",
    "without adding the maximum again": "right − max(x)",
    "Σ ln e^z": "Σ ln(exp(x))",
    "ln Σ e^z": "ln(Σ exp(x))",
    "ln Σ z": "ln(Σ x)",
    "softmax of probabilities": "softmax(probabilities)",
    "+ln p": [
        "losses = log_probabilities[target]",
        "losses = Σ(target ⊙ log_probabilities)",
        "loss = mean(log_likelihood)",
    ],
    "the sum over the rows": "Σ losses",
    "the sum over the samples": "Σ losses",
    "the slope of the sum over the samples": "delta2 = right·N",
    "1/(N·C) in place of 1/N": "delta2 = right / C",
    "their mean": "mean(losses)",
    "the logarithm to the base {}": ["right / ln({0})", "right·ln(base) / ln({0})"],
    "−Σ p·ln y": "losses = −Σ(probabilities ⊙ ln(target))",
    "the two are swapped": ["losses = −Σ(probabilities ⊙ ln(target))", "output = β ⊙ normalized + γ"],
    "−z of the right class": ["losses = −logits[target]", "losses = −Σ(target ⊙ logits)"],
    "−z of the right token": "loss = −mean(logits[targets])",
    "z of the right token in place of its logarithm": "log_likelihood = logits[targets]",
    "a yes-or-no loss for every class, added up": (
        "losses = −(ln(probabilities[target]) + Σ ln(1 − probabilities) − ln(1 − probabilities[target]))"
    ),
    "−ln of the mean probability": ["loss = −ln(mean(probabilities[target]))", "loss = −ln(mean(exp(log_likelihood)))"],
    "the softmax down the columns": lambda p: softmaxed(p["logits"], -2),
    "divided by C in place of N": "loss = right·N / C",
    "the classes counted from 1": "losses = −log_probabilities[target − 1]",
    "−Σ ln p over all classes": "losses = −Σ ln(probabilities)",
    "1 − p in place of −ln p": ["losses = 1 − probabilities[target]", "losses = 1 − Σ(target ⊙ probabilities)"],
    "p in place of p − y": "grad_logits = right − grad_log_probabilities",
    "−y/p": "grad_logits = grad_log_probabilities / probabilities",
    "the gradient of the probabilities": "grad_logits = grad_log_probabilities / probabilities",
    "y − p": ["grad_logits = −right", "delta2 = −right"],
    "(p − y)·p(1 − p)": "right ⊙ probabilities ⊙ (1 − probabilities)",
    "the slope of the softmax is counted twice": "right ⊙ probabilities ⊙ (1 − probabilities)",
    "J(p − y)": "probabilities ⊙ (right − Σ(right ⊙ probabilities))",
    "the Jacobian of the softmax once more": "probabilities ⊙ right − probabilities ⊙ Σ(right ⊙ probabilities)",
    "the sum over the tokens": "loss = −Σ log_likelihood",
    "where L is in nats": when(lambda p: "base" not in p.known),
    "e^Σ": ["perplexity = exp(−Σ log_probabilities)", "perplexity = exp(−Σ log_likelihood)"],
    "∏ 1/p": [lambda p: np.prod(1 / p["p"]), lambda p: np.prod(np.exp(-p["log_likelihood"]))],
    "not per token": ["wrong == right^T", "wrong == right·T"],
    "the sum": ["−Σ log_probabilities", "−Σ log_likelihood"],
    "the mean": ["−mean(log_probabilities)", "−mean(log_likelihood)"],
    "the mean of 1/p": ["mean(1 / p)", "mean(exp(−log_likelihood))"],
    "L itself": "perplexity = L",
    "the geometric mean of p": ["exp(mean(ln(p)))", "exp(mean(log_likelihood))"],
    "logarithms and power by another base, the same one for both": "log_probabilities = ln(p) / ln(2)",
    "e^L": ["perplexity = exp(L)", "perplexity = exp(−mean(ln(p) / ln(2)))"],
    "where L has another base": ["perplexity = exp(−mean(ln(p) / ln(2)))"],
    "divided by the mean of |x − μ|": "standard_deviation = mean(|centered|)",
    # statistics
    "n − 1 in place of n": "right·n / (n − 1)",
    "the standard deviation": "√variance",
    "the variance": "variance",
    "the variance in place of the standard deviation": entry(1, lambda p: p.right[1] ** 2),
    "the mean absolute deviation": "mean(|deviations|)",
    "E[x²]": "mean(x²)",
    "the mean is not subtracted": ["deviations = x", "normalized = X / standard_deviation", "centered = X"],
    "E[x]² − E[x²]": "mean(x)² − mean(x²)",
    "Σ p·log p": "entropy = Σ(p ⊙ ln(p))",
    "the minus before each term of the sum": "terms = −p ⊙ ln(p)",
    "Σ q·log(q/p)": "divergence = Σ(q ⊙ ln(q / p))",
    "P(B|A)": "likelihood",
    "P(A|B)": "posterior",
    "prior · likelihood": "posterior = prior ⊙ likelihood",
    "not divided by the evidence": "posterior = right·evidence",
    "without the prior": "joint = likelihood",
    "the specificity in place of the false-positive rate": entry(1, lambda p: p["prior"][1] * (1 - p["likelihood"][1])),
    "P(B|¬A) taken as 1 − P(B|A)": entry(1, lambda p: p["prior"][1] * (1 - p["likelihood"][0])),
    "the evidence without the factor 1 − prior": lambda p: p["prior"][0] * p["likelihood"][0] + p["likelihood"][1],
    "∏ p": lambda p: np.prod(p["probabilities"]),
    "the likelihood, not its logarithm": "log_likelihood = exp(right)",
    "Σ p": "log_likelihood = Σ probabilities",
    "the probabilities added up": "log_likelihood = Σ probabilities",
    "log Σ p": "log_likelihood = ln(Σ probabilities)",
    "the logarithm of the sum": "log_likelihood = ln(Σ probabilities)",
    "−Σ log p": "log_likelihood = −Σ ln(probabilities)",
    "the loss": "−right",
    "p for every 1, and nothing for a 0": "probabilities = p^x",
    "the standard deviation taken for the variance": "probabilities = exp(−(x − mean)² / (2·std)) / √(2·π·std)",
    "e^−(x − μ)²/σ²": "probabilities = exp(−(x − mean)² / std²) / (std·√(2·π))",
    "without the 2": "probabilities = right² · std·√(2·π)",
    "λˣ·e^−λ": "probabilities = rate^x·exp(−rate)",
    "the standard deviation over n − 1": entry(1, lambda p: p.right[1] * np.sqrt(p["n"] / (p["n"] - 1))),
    # projections
    "x·W": recurrence(lambda a, u, b: np.tanh(a + u)),
    "without the bias": ["right == wrong + bias", recurrence(lambda a, u, b: np.tanh(a + u))],
    "K and V are exchanged": ("scores = Q·Vᵀ", "output = softmax(Q·Vᵀ / √d_k)·K"),
    "W_Q and W_K are exchanged": ("q = right − left·turned + left·W_K", "k = right − left·turned + left·W_Q"),
    "W_K and W_V are exchanged": ("k = right − left·turned + left·W_V", "v = right − left·turned + left·W_K"),
    "W_Q and W_V are exchanged": ("q = right − left·turned + left·W_V", "v = right − left·turned + left·W_Q"),
    "keys and values of the tokens, not of the context": ("k = x·W_K", "v = x·W_V"),
    "queries of the context, not of the tokens": "q = context·W_Q",
    # gradients of attention
    "the sums taken down the columns": lambda p: p["P"] * (p["dP"] - (p["P"] * p["dP"]).sum(-2, keepdims=True)),
    "without the 1/√d_k of the forward pass": "right·√d_k",
    "dQ and dK are swapped": ("dQ = dSᵀ·Q", "dK = dS·K"),
    # attention
    "the window is one key wider": windowed(1),
    "the window is one key narrower": windowed(-1),
    "no window": windowed(None),
    "the window without the triangle: later keys within it are seen": windowed(0, alone=True),
    "the scores are not capped": lambda p: (
        np.where(np.isfinite(p.right), p["scaled"], -np.inf) if p.name == "masked" else None
    ),
    "−C in place of −∞: capped after the mask": lambda p: (
        np.where(np.isfinite(p.right), p.right, -p.option("softcap")) if p.name == "masked" else None
    ),
    "query heads take the key heads in turn": in_turn,
    "query heads take the heads of values in turn": values_in_turn,
    "the heads in another order": when(reordered),
    "a square matrix the other way round": "right − left·turned + left·turnedᵀ",
    "cut head by head from a fused matrix that holds q, k and v in whole blocks": partial(headwise, stored=False),
    "cut in whole blocks from a fused matrix that holds q, k and v head by head": partial(headwise, stored=True),
    **{
        f"cut from a fused matrix in the order {', '.join(order)}": blockwise("".join(order))
        for order in permutations("qkv")
        if order != (*"qkv",)
    },
    "laid out as [n, h, d] in place of [h, n, d]": lambda p: (
        np.swapaxes(p.right, -2, -3) if p.name == "output" and p.right.ndim > 2 else None
    ),
    "laid out as [n, h, d] in place of [h, n, d], and read as if it were not": lambda p: (
        np.swapaxes(p.right, -2, -3).reshape(p.right.shape) if p.name == "output" and p.right.ndim > 2 else None
    ),
    "what was carried from one block of {} keys to the next is not rescaled by e^(old − new)": not_rescaled,
    "queries turned from position 0 on, where they stand beside the last keys": of_queries(
        lambda at, n, m: np.arange(n)
    ),
    "queries turned as if they stood beside the last keys": of_queries(lambda at, n, m: at + m - n),
    "queries turned one position too far": of_queries(lambda at, n, m: at + 1),
    "queries turned one position too little": of_queries(lambda at, n, m: at - 1),
    "positions from 0 again for new tokens": turned_at(new_from_0),
    "queries or keys divided by √d_k before the product": "scores = (Q / √d_k)·Kᵀ",
    "−∞ before the scaling, or after it": "scaled = masked",
    "+m·j in place of −m·(i − j)": when(by_key),
    "a row's constant makes no difference": when(apart_by_rows),
    "softmax(Q·Kᵀ)·V": ["output = softmax(Q·Kᵀ)·V", "heads = softmax(Q·Kᵀ)·V", *UNDIVIDED],
    "with nothing divided": ["scaled = first", *UNDIVIDED],
    "the scores are not divided": "scaled = scores",
    "scaled twice": ["right / √d_k", "softmax(scores / d_k)"],
    "(softmax(Q·Kᵀ)/√d_k)·V": "weights = softmax(first·√d_k) / √d_k",
    "divided after the softmax": "weights = softmax(first·√d_k) / √d_k",
    "the softmax runs down the columns": lambda p: softmaxed(p["first"], -2),
    "one softmax over all scores at once": lambda p: softmaxed(p["first"], -2, -1),
    "each score over its row's sum": "weights = first / (Σ first)",
    "without exponentials": "weights = first / (Σ first)",
    "exponentials that are not divided by their sum": "weights = exp(first)",
    "the scores themselves as weights": "weights = first",
    "softmax of the softmax": "weights = softmax(right)",
    "with K as it is stored": "scores = Q·K",
    "nothing is masked": ["masked = second", "masked = first", "scores = second"],
    "masked after the softmax": lambda p: softmaxed(p["scaled"], -1) * np.isfinite(p["masked"]),
    "what is left is not shared out again": when(lambda p: p.name == "weights" and p.wrong.sum(-1).min() < 0.99),
    "scores times the mask": "second where first, else 0·second",
    "the 0s and 1s of the mask are added to the scores": [
        "second where first, else second − 1",
        "second + 1 where first, else second",
    ],
    "a token may not look at itself": [
        "second where j < i, else −∞",
        "second where j < i, else −1000000000",
        "second where j < i, else second − 10000",
        "second where j < i, else second − 1000000000",
        lambda p: np.where(
            np.arange(p["second"].shape[-2])[:, None] < 1, np.nan, np.where(triangle(p, -1), p["second"], -np.inf)
        ),
    ],
    "a token sees itself and what comes after it": "second where i ≤ j, else −∞",
    "the mask hides what it should keep": "−∞ where first, else second",
    "a token sees one place ahead": "second where j ≤ i + 1, else −∞",
    "padding hides rows of queries in place of columns of keys": padded_queries,
    "the triangle is aligned at the other end": lambda p: np.where(
        triangle(p, p["right"].shape[-1] - p["right"].shape[-2] if p.option("causal_align") == "start" else 0),
        p["second"],
        -np.inf,
    ),
    "a causal mask": [causal(0), causal(1)],
    "(Q·Kᵀ − m·distance)/√d_k": "biased = (scores − (scaled − right)) / √d_k",
    "the bias is added after the softmax": "weights = softmax(scaled) − (scaled − biased)",
    "Q·Kᵀ/√d_k + bias": "biased = Q·Kᵀ / √d_k + (right − scores)",
    "where nothing is scaled": when(lambda p: "scaled" not in p),
    # positions
    "pairs (i, i + d/2)": ["rotate(first; second, third, halves)"],
    "neighbours": ["rotate(first; second, third)"],
    "base^({})": "frequencies = 10000^({0})",
    "base^(−2i/d_model)": when(wider),
    "the width of the model in place of the head's": when(wider),
    "pairs counted from 1": "frequencies = 10000^(−2·(i + 1) / d)",
    "the same angle for every pair": "frequencies = right / right",
    "another base": when(lambda p: p.name == "frequencies"),
    "the keys are not turned": "k_rotated = first",
    "the queries are not turned": "q_rotated = first",
    "queries and keys are compared as they are": unnormed,
    "without a norm": unnormed,
    "each head's entries normalised by themselves": normed_by_head,
    "the keys share the whole weight": lambda p: p["right"] / p["right"].sum(-1, keepdims=True),
    "no sink": lambda p: p["right"] / p["right"].sum(-1, keepdims=True),
    "γ as it is stored, without what is added to it": lambda p: p["right"] - p.option("norm_offset") * p["x̂"],
    "W_1 and W_3 are exchanged": ("hidden = linear", "linear = hidden"),
    "the probabilities of those chosen, as they are": "gates = taken",
    "the gates of those chosen share a whole": "gates = routed_scale·(taken / (Σ taken))",
    "every expert is asked": ["gates = probabilities", "taken = probabilities"],
    "the chosen experts count alike": "gates = routed",
    "the chosen experts share a whole alike": lambda p: p["routed"] / p["routed"].sum(-1, keepdims=True),
    "without gates": "gates = routed",
    "without the shared expert": "output = mixed",
    "the gates are not scaled in the end": "gates = right / routed_scale",
    "no expert turns a token away": lambda p: np.einsum("ne,end->nd", p["gates"], p["expert_outputs"]),
    "divided by √d_k alone": lambda p: p["scores"] / np.sqrt(p["q_heads"].shape[-1]),
    "without the part that is turned": "scores = first",
    "the latent as it is": lambda p: p.at("", "latent") if p.group == "kv-norm" else None,
    "not normalised": lambda p: p.at("", "latent") if p.group == "kv-norm" else None,
    "the bytes of all heads' keys and values": "cached_bytes = full_bytes",
    "the bytes of the latent, without those of the part that is turned": "cached_bytes = bytes·n·c",
    "not divided by the sum of the weights": lambda p: p.right * (p.at("", "q_features")[p.turn - 1] @ p["sum"]),
    "the key of the token alone": lambda p: p.at("", "k_features")[p.turn - 1],
    "the sum of all keys that will ever come": lambda p: p.at("", "k_features").sum(0),
    "each row of the state divided by its own entry of the sum": lambda p: (
        p.at("", "q_features")[p.turn - 1 : p.turn] @ (p["state"] / p["sum"][:, None])
    ),
    "the state of the token alone": lambda p: np.outer(p.at("", "k_features")[p.turn - 1], p["V"][p.turn - 1]),
    "without φ": ["q_features = Q", "k_features = K"],
    "elu(x) without the 1 that is added": "right − 1",
    "the token fades while it lasts": lambda p: (
        p.wrong if p.name == "added" and (np.abs(p.wrong) <= np.abs(p.right)).all() else None
    ),
    "the token does not fade while it lasts": lambda p: written(p, p["durations"]),
    "A above 0": "rates = −right",
    "A = −1 throughout": lambda p: -np.ones_like(p.right),
    "A = −1, −2, … along the state, as before any training": lambda p: -np.cumsum(np.ones_like(p.right), -1),
    "A = −e^a of what is A already": lambda p: np.exp(-p["delta"][..., None] * np.exp(p["A"])),
    "the logarithm taken for A itself": lambda p: faded(p, p["durations"], p["A"]),
    "δ as the layer left it, without softplus": lambda p: faded(p, p["delta"], p["rates"]),
    "what the token before it adds, and not its own": lambda p: (
        p.right - p["added"][p.turn - 1] + (p["added"][p.turn - 2] if p.turn > 1 else 0)
    ),
    "read from the state before the token is added": lambda p: (
        (p["state"] - p["added"][p.turn - 1]) @ p["C"][p.turn - 1]
    ),
    "what the token adds, and nothing of earlier ones": lambda p: p["added"][p.turn - 1],
    "nothing of the state fades": lambda p: p.at(f"token {p.turn - 1}", "state") + p["added"][p.turn - 1],
    "1 + the exponent in place of its exponential": "decay = 1 + ln(right)",
    "as if every token lasted for 1": lambda p: p["x"][..., None] * p["B"][:, None],
    "without what goes past the state": lambda p: p.right - p["D"] * p["x"],
    "without its bias": "right == wrong + bias",
    "the gate alone": "gated = activated",
    "nothing is multiplied by it": "gated = activated",
    "the gate times the other part, without 1 more": "gated = activated ⊙ linear_clamped",
    "both parts as large as they are": ("clamped = hidden", "linear_clamped = linear"),
    "neither queries nor keys are turned": ["q_rotated = first", "k_rotated = first"],
    "the values are turned too": turned_values,
    "sinusoids added in place of a turn": "first + (sin(i ⊗ frequencies) and cos(i ⊗ frequencies) in turn)",
    "the exponent {}, where j is the column": columns(1, 1),
    "the cosine with an exponent of its own, {}": columns(0, 1),
    "the exponent {}": "frequencies = 10000^(−({0}))",
    "base {}": ["frequencies = ({0})^(−2·i / d)"],
    "all sines before all cosines": "encoding = [sin(angles); cos(angles)]",
    "2i/d//2": "frequencies = 10000^(−floor(i / d))",
    "divided, and then halved to a whole number": "frequencies = 10000^(−floor((2·i / d) / 2))",
    "p times {}": "frequencies = {0}",
    "a whole-number division": "frequencies = 10000^(−floor(2·i / d))",
    "the exponent is {}": "frequencies = 10000^(−({0} + 0·i))",
    "positions from 1": ["angles = (i + 1) ⊗ frequencies", "angles = (positions + 1) ⊗ frequencies"],
    "cosines in the even columns, sines in the odd ones": "cos(angles) and sin(angles) in turn",
    "sines in both columns of a pair": "sin(angles) and sin(angles) in turn",
    "sines of degrees": "sin(angles·π / 180) and cos(angles·π / 180) in turn",
    "angles for pairs of neighbours, partners half the width apart": mixed_layout,
    "angles for pairs half the width apart, partners that are neighbours": mixed_otherwise,
    "turned the other way": "rotate(first; second, −third)",
    "[c s; −s c]": turned_by(1),
    "angles in degrees": "angles = right·π / 180",
    "the heads counted from 0": ["slopes = 2^(−8·i / heads)", penalised(lambda h, heads: 8 * (h - 1) / heads)],
    "{} for a number of heads that is no power of two": ["slopes = {0}", penalised(lambda h, heads: 8 * h / heads)],
    "the first slopes of the next power of two": [
        "slopes = 2^(−8·h / 16)",
        penalised(lambda h, heads: 8 * h / 2 ** np.ceil(np.log2(heads))),
    ],
    "2^−h": ["slopes = 2^(−h)", penalised(lambda h, heads: h)],
    "whatever the number of heads is": when(lambda p: p.name in ("slopes", "biased")),
    "+m·|i − j|": ["bias = slopes ⊗ |i − j|", "biased = scaled + scaled − right"],
    "without a bias for the position": "biased = first",
    "the slope 1 for every head": ["slopes = right / right", penalised(lambda h, heads: 0 * h)],
    "−m·(i − j)": "bias = −slopes ⊗ (i − j)",
    "with its sign": "distances = i − j",
    "where nothing is masked": when(lambda p: np.isfinite(p.right).all()),
    "query − key": "relative_positions = i − j",
    "the encoder's buckets in a decoder": lambda p: p.of("bucket(relative_positions)", buckets=(8, 16, False)),
    "the decoder's buckets in an encoder": lambda p: p.of("bucket(relative_positions)", buckets=(8, 16, True)),
    "without the logarithmic buckets for far distances": lambda p: (
        np.minimum(np.maximum(-p["relative_positions"], 0), 7)
        if (p.right == 0)[0, 1:].all()  # a decoder sees nothing of what comes
        else np.minimum(np.abs(p["relative_positions"]), 3) + 4 * (p["relative_positions"] > 0)
    ),
    # several heads
    "reshaped to (h, n, d_k) without a transpose": lambda p: (
        p["first"].reshape(p.right.shape) if p.name.endswith("_heads") else None
    ),
    "each head takes every h-th column": lambda p: np.stack(
        [p["first"][..., h :: p.right.shape[-3]] for h in range(p.right.shape[-3])], -3
    ),
    "reshaped from (h, n, d_v) to (n, h·d_v) without a transpose": lambda p: p["heads"].reshape(p.right.shape),
    "the heads from the last to the first": lambda p: np.concatenate([*p["heads"][::-1]], -1),
    "the entries of the heads alternate": lambda p: np.stack([*p["heads"]], -1).reshape(p.right.shape),
    "the heads averaged": lambda p: p["heads"].mean(-3),
    "the heads added up": lambda p: p["heads"].sum(-3),
    "√d_model inside the heads": "scaled = first / √d_model",
    "without W_O": "output = concatenated",
    "the first head's columns for every head": lambda p: np.stack([p.right[0]] * len(p.right)),
    "the softmax runs over the heads": lambda p: np.nan_to_num(softmaxed(p["first"], -3)),
    "the weights are laid side by side": lambda p: np.concatenate([*p["weights"]], -1),
    "without the values": lambda p: np.concatenate([*p["weights"]], -1),
    # attention in pieces
    "the cache before the token's own key and value are in it": lambda p: (
        p.right[..., :-1] if p.name == "scores" else None
    ),
    "all keys, those of later tokens too": every_key,
    "the token's own key and value alone": lambda p: p.right[..., -1:] if p.name == "scores" else None,
    "a causal mask that takes the single query for the first one": lambda p: 0 * p.right + np.eye(1, p.right.shape[-1]),
    "it sees the first key alone": lambda p: 0 * p.right + np.eye(1, p.right.shape[-1]),
    "new keys in front of the others, new values behind them": lambda p: (
        p.right[..., ::-1] if p.name == "scores" else None
    ),
    "the bytes of the keys": "cached_bytes = right·d_k / (d_k + d_v)",
    "without those of the values": "cached_bytes = right − right·d_v / (d_k + d_v)",
    "how many numbers are kept": "cached_bytes = m·(d_k + d_v)",
    "not how many bytes": "cached_bytes = right / 2",
    "the bytes of one token alone": "cached_bytes = 2·(d_k + d_v)",
    "what was carried is not rescaled by {}": "right − ({0}) ⊙ previous + previous",
    "rescaled by {} in place of {}": "right − ({1}) ⊙ previous + ({0}) ⊙ previous",
    "the earlier blocks are forgotten": "right − exp(old − new) ⊙ previous",
    "a softmax for every block, and the mean of the blocks' outputs": lambda p: np.mean(blocks(p), 0),
    "a softmax for every block, and the sum of the blocks' outputs": lambda p: np.sum(blocks(p), 0),
    "the largest score of the block, not of all so far": "maximum = max(scores)",
    "the causal mask starts anew in every block": "scores = second where j ≤ i, else −∞",
    "the mixture": "output = first",
    "not divided by the sum": "output = right ⊙ sum",
    "{} for the projections": lambda p, formula: entry(0, lambda p: p["layers"] * p.of(formula))(p),
    "W_O forgotten": entry(0, lambda p: p.right[0] - p["layers"] * p["d_model"] ** 2),
    # costs
    "the keys and values of every query head": "kv_cache_bytes = right·heads / kv_heads",
    "two matrices in a gated network": entry(4, lambda p: p.right[4] * 2 / 3),
    "a table that serves input and output counted twice": entry(-1, lambda p: 2 * p.right[-1]),
    "the product with the values forgotten": entry(3, lambda p: 0),
    # searches
    "no logarithm": "log_probabilities = first",
    "hypotheses that have ended are made longer": "candidates = extended",
    "the scores as they are": "normalised = first",
    "the scores times the penalty": "normalised = first ⊙ second",
    "the length without the end": without_end,
    # subwords
    "the leftmost pair that is a token is joined first": leftmost_first,
    "the pairs of the first count": lambda p: np.where(p.wrong, p.at("merge 1", "pairs"), 0),
    "without those that are tokens by now": lambda p: np.where(p.wrong == 0, 0, p.at("merge 1", "pairs")),
    "each word counts once, however common it is": words_once,
    # norms
    "mean and variance over the tokens, feature by feature": "mean = mean_n(x)",
    "one mean and one variance for everything": "mean = mean(mean(x))",
    "the variance divides by k − 1": lambda p: p.right / (1 - 1 / p["grouped"].shape[-1]),
    "the variance divides by {}": "variance = right·({0} + 1) / ({0})",
    "σ + ε": "standard_deviation = √variance + ε",
    "ε beside the root": "wrong == √(right² − ε) + ε",
    "√(σ + ε)": "standard_deviation = √(√variance + ε)",
    "the deviation under the root": "standard_deviation = √(√variance + ε)",
    "divided by σ² + ε": "standard_deviation = variance + ε",
    "no root": ["standard_deviation = right²", "update = −lr·(m̂ / (v̂ + ε)) − lr·weight_decay·θ"],
    "divided by (σ² + ε)²": "standard_deviation = (variance + ε)²",
    "without γ and β": "right == γ ⊙ wrong + β",
    "without γ": [f"right == {gain} ⊙ wrong" for gain in ("γ", "(γ + 1)", "γ_Q", "γ_KV")],
    "{} is normalised": ["mean = mean({0})", "mean = mean_n({0})"],
    "x/σ": "normalized = X / σ",
    "x/√(E[x²] + ε)": ["normalized = x / √(mean(x²) + ε)", "normalized = x / √(mean_n(x²) + ε)"],
    "the standard deviation is held fixed": "grad_centered = grad_normalized / σ",
    "what the norm takes from x is held fixed": "grad_x = dy ⊙ γ / σ",
    "the mean is held fixed": ["grad_x = grad_centered", through_a_norm(lambda of: of("grad_centered"))],
    "γ ⊙ dy / σ: what the norm takes from x is held fixed": through_a_norm(
        lambda of: of("grad_normalized") / of("standard_deviation")[..., None]
    ),
    "dγ = Σ(dy ⊙ x)": "grad_gamma = Σ_n(dy ⊙ x)",
    "of what is not normalised yet": "grad_gamma = Σ_n(dy ⊙ x)",
    "dγ and dβ are means over the rows": [
        ("grad_gamma = right / n", "grad_beta = right / n"),
        "grad_gamma = right / n",
    ],
    "another ε": when(another_epsilon),
    "divided by √(variance + ε)": "root_mean_square = √(mean((x − mean(x))²) + ε)",
    "divided by the length ‖x‖": ["mean_square = Σ x²", "root_mean_square = √(Σ x²)"],
    "rms + ε": "root_mean_square = √mean_square + ε",
    "√(rms + ε)": "root_mean_square = √(√mean_square + ε)",
    "times the root mean square": "normalized = x ⊙ root_mean_square",
    # activations
    "the other form of GELU": [by_erf, by_tanh],
    "with tanh": by_tanh,
    "erf": by_erf,
    "GELU": [by_erf, by_tanh],
    "GELU with tanh": by_tanh,
    "ReLU": "max(0, before)",
    "SiLU": "before ⊙ σ(before)",
    "the sigmoid": "σ(before)",
    "tanh": "tanh(before)",
    "x·σ(x)": "x ⊙ σ(x)",
    "x·σ(1.702x)": "before ⊙ σ(1.702·before)",
    "Φ(x)": "(1 + erf(x / √2)) / 2",
    "without the x in front": "right == wrong ⊙ x",
    "erf(x)": "(x / 2) ⊙ (1 + erf(x))",
    "erf(x/√2)": "(x / 2) ⊙ (1 + erf(x / √2))",
    "x·φ(x)": "x ⊙ exp(−x² / 2) / √(2·π)",
    "the density": "x ⊙ exp(−x² / 2) / √(2·π)",
    "½x(1 + tanh(√(2/π)·x))": "(x / 2) ⊙ (1 + tanh(√(2 / π)·x))",
    "without the cube": "(x / 2) ⊙ (1 + tanh(√(2 / π)·x))",
    "the slope of the activation is left out": "grad_x = grad_output",
    "without the activation": ["activated = hidden", "a1 = z1"],
    # layers and blocks
    "F(x) alone": "sum = right − x",
    "√d·E + positions in one": "embeddings = right / √d",
    "E + positions": "output = E[tokens] + positions",
    "without √d": "embeddings = right / √d",
    "without the positions": "output = right − positions",
    "without the types": "output = right − types",
    "every token is taken for one of the first text": lambda p: p["type_table"][:1].repeat(len(p["tokens"]), axis=0),
    "E/√d + positions": "output = E[tokens] / √d + positions",
    "the positions are set beside the embedding, not added": [
        "output = [embeddings; positions]",
        "output = [embeddings + types; positions]",
    ],
    "the norm before each part in place of after each sum": when(lambda p: p.name.startswith("residual")),
    "the norm before each part in place of behind it": when(lambda p: p.name.startswith("residual")),
    "the parts one after the other, not side by side": when(lambda p: p.group in ("feed-forward", "norm2")),
    "what the parts find is added as it is, not scaled": lambda p: (
        p["first"] + p["second"] / p.option("residual_scale")
    ),
    "a layer norm in place of an RMS norm": when(lambda p: p.group.startswith("norm")),
    "LN(x) + F(LN(x))": lambda p: p.at(f"norm{p.name[-1]}", "output") + p["second"],
    "F(LN(x)) alone": "second",
    "the kernel turned round, as in a mathematical convolution": lambda p: p["windows"] * p["kernel"][::-1],
    "without the padding": lambda p: slid(p, padding=0),
    "a zero on each side, where none was asked for": lambda p: slid(p, padding=1),
    "the window moves by one place": lambda p: slid(p, stride=1),
    "the entries of the window are neighbours": lambda p: slid(p, dilation=1),
    "rows and columns of the kernel are exchanged": lambda p: p["windows"] * p["kernel"].T,
    "one result for every channel, not added up": lambda p: p["products"].sum((-2, -1)),
    # recurrence
    "x·W_x alone, without the previous state": recurrence(lambda a, u, b: np.tanh(a + b)),
    "without tanh": recurrence(lambda a, u, b: a + u + b),
    "a sigmoid in place of tanh": recurrence(lambda a, u, b: sigmoid(a + u + b)),
    "tanh(x·W_x) + h·W_h": recurrence(lambda a, u, b: np.tanh(a + b) + u),
    "the state is added after tanh": recurrence(lambda a, u, b: np.tanh(a + b) + u),
    "without tanh for the new content": when(lambda p: p.name == "gates" and same_gates(p, lambda x: x, range(4))),
    "a sigmoid in place of tanh for the new content": when(
        lambda p: p.name == "gates" and same_gates(p, sigmoid, range(4))
    ),
    "the gates' columns in another order, as other libraries have them": when(gates_reordered),
    "i ⊙ c + f ⊙ g": "cell = i ⊙ c + f ⊙ g",
    "the gates are exchanged": "cell = i ⊙ c + f ⊙ g",
    "z ⊙ n + (1 − z) ⊙ h": "hidden = z ⊙ n + (1 − z) ⊙ previous",
    "(r ⊙ h)·W_h in place of r ⊙ (h·W_h)": reset_before,
    "x·Wᵀ in place of x·W": weights_turned,
    "the logits": "logits",
    "the probabilities": "probabilities",
    "as attention's scores are": "logits = right / √d",
    # slopes
    "u′(v) for u(v)": SLOPES["diff-chain-no-inner"],
    "the inner slope is left out": SLOPES["diff-chain-no-inner"],
    "u′·v′ for u·v": SLOPES["diff-product-each"],
    "p·x^p for x^p": SLOPES["diff-power-not-lowered"],
    "x^(p−1) for x^p": SLOPES["diff-power-no-factor"],
    "(u·v′ − u′·v)/v² for u/v": SLOPES["diff-quotient-order"],
    "u′/v′ for u/v": SLOPES["diff-quotient-each"],
    "x·e^(x−1) for e^x": SLOPES["diff-exp-as-power"],
    "−cos for sin, or sin for cos": SLOPES["diff-sine-sign"],
    "a term without the letter is kept": SLOPES["diff-constant-kept"],
    "f in place of its slope": SLOPES["diff-f-for-fprime"],
    "(u′·v − u·v′)/v for u/v": SLOPES["diff-quotient-no-square"],
    "u′(v′) for u(v)": SLOPES["diff-chain-nested"],
    "the outer slope at the inner one": SLOPES["diff-chain-nested"],
    "the slope of a chord in place of the limit": lambda p: p["difference_quotients"][0],
    "f(x + h) − f(x)": "difference_quotients = right ⊙ h",
    "not divided by h": "difference_quotients = right ⊙ h",
    "f(x) + h in place of f(x + h)": "difference_quotients = h / h",
    "−∇f": "gradient = −right",
    "∇f": "gradient",
    # descent
    "x + α·f′(x)": "update = lr·gradient",
    "α·f(x)": "gradient = value",
    "half the slope": "gradient = right / 2",
    "x for 2x": "gradient = point",
    "one update more": "point = right − lr·2·right",
    "one update fewer": "right == wrong − lr·2·wrong",
    "iteration 1 is the start": when(
        lambda p: p.group == "iteration 1" and p.name == "point" and p.wrong == p["start"]
    ),
    "and every point one update late": when(
        lambda p: p.group == "iteration 2" and p.name == "point" and p.wrong == p.earlier("point")
    ),
    "one update more at every point": "point = right − lr·2·right",
    "as if iteration 0 were the first": when(lambda p: p.group == "iteration 0" and p.name == "point"),
    "the slope at the start, for every step": "gradient = 2·start",
    "x − f′(x)": "update = −gradient",
    "lr times the direction": "update = −right",
    "and the point minus it": when(lambda p: p.name == "update"),
    "m and v without the correction": ("m̂ = m", "v̂ = v"),
    "divided by 1 − β in every step": ("m̂ = m / (1 − beta1)", "v̂ = v / (1 − beta2)"),
    "steps counted from 0": [
        ("m̂ = m / (1 − beta1^(turn − 1))", "v̂ = v / (1 − beta2^(turn − 1))"),
        "lr = d_model^(−1/2)·min((step − 1)^(−1/2), (step − 1)·warmup^(−3/2))",
    ],
    "t is one too large": ("m̂ = m / (1 − beta1^(turn + 1))", "v̂ = v / (1 − beta2^(turn + 1))"),
    "√(v̂ + ε)": "update = −lr·(m̂ / √(v̂ + ε)) − lr·weight_decay·θ",
    "ε under the root": "update = −lr·(m̂ / √(v̂ + ε)) − lr·weight_decay·θ",
    "ε beside the uncorrected √v": "update = −lr·(m̂ / (√v̂ + ε / √(1 − beta2^turn))) − lr·weight_decay·θ",
    "m̂/(v̂ + ε)": "update = −lr·(m̂ / (v̂ + ε)) − lr·weight_decay·θ",
    "v averages |g|": "v = beta2·previous + (1 − beta2)·|g|",
    "g²": "v = beta2·previous + (1 − beta2)·g²",
    "β₁ and β₂ are swapped": [
        ("m = (1 − beta2)·g", "v = (1 − beta1)·g²"),
        ("blend = (1 − beta2)·g", "m = (1 − beta1)·g"),
    ],
    "m = β₁m + g": "m = beta1·previous + g",
    "the decay λθ is added to the gradient": [
        "m = (1 − beta1)·(g + weight_decay·start)",
        ("blend = (1 − beta1)·(g + weight_decay·start)", "m = (1 − beta2)·(g + weight_decay·start)"),
    ],
    "the blend itself, not its sign": "update = −lr·blend − lr·weight_decay·θ",
    "the sign of m, which has already taken the gradient in": "update = −lr·sign(m) − lr·weight_decay·θ",
    "m itself is made orthogonal": "blend = m",
    "not divided by its size before the iterations": "X_0 = size·right",
    "1.5·X − 0.5·XXᵀX in place of the quintic": lambda p: p.wrong,
    "√(rows/columns) left out": "update = −lr·tall",
    "−λθ without the learning rate": "update = right + lr·weight_decay·θ − weight_decay·θ",
    "the way down is measured from step 0": [
        "lr = step / warmup where step ≤ warmup, else (steps − step) / steps",
        "lr = 2·(step / warmup where step ≤ warmup, else (1 + cos(π·step / steps)) / 2)",
    ],
    "it never comes down": "lr = step / warmup where step ≤ warmup, else 1",
    "the larger of the two branches": "lr = d_model^(−1/2)·max(step^(−1/2), step·warmup^(−3/2))",
    "step·warmup^(−1/2)": "lr = d_model^(−1/2)·min(step^(−1/2), step·warmup^(−1/2))",
    "d_model^(+1/2)": "lr = d_model^(1/2)·min(step^(−1/2), step·warmup^(−3/2))",
    # networks
    "y − ŷ": ["errors = −right", "right == −wrong"],
    "and a minus in front of the gradients": when(lambda p: p.name == "errors"),
    "1/N": "right / 2",
    "2/N": "right",
    "without the 1/N": "right·N",
    "without the 2/N": "right·N / 2",
    "1/(N·out) in place of 1/N": "right / o",
    "1/(2N) in place of 1/N": "loss = right / 2",
    "X·errors in place of Xᵀ·errors": "grad_w = 2·X·errors / N",
    "the mean over the samples": ["grad_b = right / N", "grad_b2 = right / N"],
    "divided by N once more": "grad_b = right / N",
    "where the 1/N is in δ already": "grad_b2 = right / N",
    "W + lr·gradient": ["new_w = W + lr·grad_w", "new_w1 = w1 + lr·grad_w1"],
    "W − gradient": ["new_w = W − grad_w", "new_w1 = w1 − grad_w1"],
    "the gradient goes back through w2 after its update": "δ_1 = (right / (δ_2·w2ᵀ)) ⊙ (δ_2·new_w2ᵀ)",
    "σ′(a)": lambda p: p["delta2"] @ p["w2"].T * slope(p)(p["a1"]),
    "σ′(z)": lambda p: p["delta2"] @ p["w2"].T * slope(p)(p["z1"]),
    "z(1 − z), or 1 − z² of tanh": lambda p: p["delta2"] @ p["w2"].T * by_result(p)(p["z1"]),
    "the slope by the result, with z in its place": lambda p: p["delta2"] @ p["w2"].T * by_result(p)(p["z1"]),
    "the slope of the sigmoid for that of tanh": lambda p: (
        p["delta2"] @ p["w2"].T * by_result(p, exchanged=True)(p["a1"])
    ),
    "without the slope of the activation": "δ_1 = δ_2·w2ᵀ",
    "the slope of the activation alone": "right == wrong ⊙ (δ_2·w2ᵀ)",
    "the slope of an activation at the output": lambda p: p.right * slope(p)(p["z2"]),
    "where there is none": when(lambda p: p.name == "delta2"),
    "δ₂·w2 in place of δ₂·w2ᵀ": "δ_1 = (right / (δ_2·w2ᵀ)) ⊙ (δ_2·w2)",
    "z₁ᵀ·δ₂ in place of a₁ᵀ·δ₂": "grad_w2 = z1ᵀ·δ_2",
    "the biases stay as they are": ("new_b1 = b1", "new_b2 = b2"),
}
