"""What goes wrong where a kernel is ported, told from a dump: orders of heads, windows, caches, one head alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from homework.kernels import attention
from homework.problems import problem
from numpy.typing import NDArray

import attncalc as ac
from attncalc.evaluate.precisions import held
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.marking.marker import Marker
from attncalc.homework.reading.sheets import from_python
from attncalc.record.verdicts import MarkedStep
from attncalc.solve.problem import Problem

Array = NDArray[np.float64]

HEADS, TOKENS, WIDTH = 12, 18, 8
TYPES = ("float64", "float32", "bfloat16")


def random(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape)


Q, K, V = (random(2, HEADS, TOKENS, WIDTH, seed=seed) for seed in range(3))


def judged(given: Problem, answer: Array) -> MarkedStep:
    key = Key(given)
    return Marker(key).mark(from_python(answer.astype(np.float32), key.room)).steps[0]


def posed(k: Array = K, v: Array = V, **options: Any) -> Problem:
    return problem("attention", options, q=Q, k=k, v=v)


def seen(r: Callable[[Array], Array], window: int | None, cap: float | None = None, *, last: bool = False) -> Array:
    """A causal kernel with a window and a cap, which may come last."""
    scores = r(r(Q) @ np.swapaxes(r(K), -1, -2) / np.sqrt(WIDTH))
    i, j = np.arange(TOKENS)[:, None], np.arange(TOKENS)
    hidden = np.where((j <= i) & (i - j < (window or TOKENS)), 0, -np.inf)
    scores = scores + hidden if last else scores
    scores = r(cap * np.tanh(scores / cap)) if cap else scores
    e = np.exp(scores + (0 if last else hidden))
    return r(r(e / e.sum(-1, keepdims=True)) @ r(V))


def biased(r: Callable[[Array], Array], slopes: Array) -> Array:
    """A causal kernel with a slope for every head."""
    i, j = np.arange(TOKENS)[:, None], np.arange(TOKENS)
    scores = r(r(Q) @ np.swapaxes(r(K), -1, -2) / np.sqrt(WIDTH)) - slopes[:, None, None] * np.abs(i - j)
    e = np.exp(np.where(j <= i, scores, -np.inf))
    return r(r(e / e.sum(-1, keepdims=True)) @ r(V))


def masked(r: Callable[[Array], Array], allowed: Callable[[Any, Any], Any], hidden: Callable[[Array], Any]) -> Array:
    """A kernel in which a query sees those keys alone, with another score where it does not."""
    i, j = np.arange(TOKENS)[:, None], np.arange(TOKENS)
    scores = r(r(Q) @ np.swapaxes(r(K), -1, -2) / np.sqrt(WIDTH))
    scores = np.where(allowed(i, j), scores, hidden(scores))
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return r(r(e / e.sum(-1, keepdims=True)) @ r(V))


def in_head(r: Callable[[Array], Array], mistake: str, *heads: int, items: slice = slice(None)) -> Array:
    """A causal kernel with a mistake in some heads alone, or of some items of the batch."""
    found = attention(r, Q, K, V, causal=True)
    found[items, heads] = attention(r, Q, K, V, causal=True, mistake=mistake)[items, heads]
    return found


FEW = slice(0, 4)
ORDER = np.random.default_rng(7).permutation(HEADS)
PORTED: dict[str, tuple[Problem, Callable[[Any], Array], str, str]] = {
    "key heads in turn": (
        posed(K[:, FEW], V[:, FEW]),
        lambda r: attention(r, Q, *(np.tile(x[:, FEW], (1, 3, 1, 1)) for x in (K, V))),
        "gqa-tiled",
        "in turn",
    ),
    "values in turn": (
        posed(K[:, FEW], V[:, FEW]),
        lambda r: attention(r, Q, np.repeat(K[:, FEW], 3, 1), np.tile(V[:, FEW], (1, 3, 1, 1))),
        "gqa-tiled",
        "in turn",
    ),
    "keys in turn": (
        posed(K[:, FEW], V[:, FEW]),
        lambda r: attention(r, Q, np.tile(K[:, FEW], (1, 3, 1, 1)), np.repeat(V[:, FEW], 3, 1)),
        "gqa-tiled",
        "in turn",
    ),
    "any order": (
        posed(causal=True),
        lambda r: attention(r, Q, K, V, causal=True)[:, ORDER],
        "heads-permuted",
        ", ".join(map(str, ORDER)),
    ),
    "tokens first": (
        posed(causal=True),
        lambda r: np.swapaxes(attention(r, Q, K, V, causal=True), 1, 2),
        "layout-bnhd",
        "[n, h, d]",
    ),
    "tokens first, read as heads first": (
        posed(causal=True),
        lambda r: np.swapaxes(attention(r, Q, K, V, causal=True), 1, 2).reshape(Q.shape),
        "layout-bnhd",
        "read as if it were not",
    ),
    "a wider window": (posed(causal=True, window=4), lambda r: seen(r, 5), "window-off-by-one", "--window 5"),
    "a narrower window": (posed(causal=True, window=4), lambda r: seen(r, 3), "window-off-by-one", "--window 3"),
    "no window": (posed(causal=True, window=4), lambda r: seen(r, None), "window-missing", "without --window"),
    "no cap": (posed(causal=True, softcap=1.5), lambda r: seen(r, None), "softcap-missing", "without --softcap"),
    "a cap after the mask": (
        posed(causal=True, softcap=1.5),
        lambda r: seen(r, None, 1.5, last=True),
        "softcap-after-mask",
        "−C",
    ),
    "slopes of any number of heads": (
        posed(causal=True, bias="alibi"),
        lambda r: biased(r, 2.0 ** (-8 * np.arange(1, HEADS + 1) / HEADS)),
        "alibi-nonpow2",
        "no power of two",
    ),
    "no slopes at all": (
        posed(causal=True, bias="alibi"),
        lambda r: attention(r, Q, K, V, causal=True),
        "position-bias-missing",
        "without a bias",
    ),
    "a window without the triangle": (
        posed(causal=True, window=4),
        lambda r: masked(r, lambda i, j: np.abs(i - j) < 4, lambda _: -np.inf),
        "window-not-causal",
        "without --causal",
    ),
    "a strict triangle of −10000": (
        posed(causal=True),
        lambda r: masked(r, lambda i, j: j < i, lambda scores: scores - 1e4),
        "mask-strict",
        "not look at itself",
    ),
    "one head": (posed(causal=True), lambda r: in_head(r, "att-no-scale", 5), "att-no-scale", "in head 5 alone"),
    "two heads": (posed(causal=True), lambda r: in_head(r, "mask-offset", 2, 7), "mask-offset", "in heads 2, 7 alone"),
    "one head of one item": (
        posed(causal=True),
        lambda r: in_head(r, "att-no-scale", 5, items=slice(1, 2)),
        "att-no-scale",
        "in head 5 of item 1 of the batch alone",
    ),
    "one item": (
        posed(causal=True),
        lambda r: in_head(r, "att-no-scale", *range(HEADS), items=slice(0, 1)),
        "att-no-scale",
        "in item 0 of the batch alone",
    ),
}


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("given", "kernel", "mistake", "told"), PORTED.values(), ids=PORTED)
def test_it_is_named(given: Problem, kernel: Callable[[Any], Array], mistake: str, told: str, dtype: str) -> None:
    found = judged(given, kernel(partial(held, name=dtype)))
    assert mistake in (*found.finding.mistakes, *found.finding.also), found.hint
    assert told in found.finding.says


SMALL = np.random.default_rng(3).integers(-4, 5, (3, 2, 2, 3)).astype(float)
BY_HAND: dict[str, tuple[Callable[[Array], ac.Trace], Callable[[Array], Array], str]] = {
    "the factors exchanged": (
        lambda x: ac.matmul(x[0, :, :, :2], x[1, :, :, :2]),
        lambda x: x[1, :, :2] @ x[0, :, :2],
        "matmul-order-ba",
    ),
    "entry with entry": (
        lambda x: ac.matmul(x[0, :, :, :2], x[1, :, :, :2]),
        lambda x: x[0, :, :2] * x[1, :, :2],
        "matmul-elementwise",
    ),
    "no scale": (lambda x: ac.attention(*x), lambda x: ac.attention(*x, scale="none").result, "att-no-scale"),
    "the smallest first": (lambda x: ac.softmax(x[0]), lambda x: ac.softmax(-x[0]).result, "sm-neg"),
}


@pytest.mark.parametrize(("of", "wrong", "mistake"), BY_HAND.values(), ids=BY_HAND)
@pytest.mark.parametrize("as_text", [False, True])
def test_it_is_named_in_one_item_of_a_batch_that_was_worked_out_by_hand(
    of: Callable[[Array], ac.Trace], wrong: Callable[[Array], Array], mistake: str, *, as_text: bool
) -> None:
    given = of(SMALL)
    answer = given.result.copy()
    answer[1] = wrong(SMALL[:, 1])
    found = given.check(
        [[[f"{x:.4f}" for x in row] for row in item] for item in answer] if as_text else answer, hints="rule"
    ).steps[-1]
    assert found.finding.mistakes == (mistake,)
    assert found.finding.says.endswith(("in head 1 alone", "in item 1 of the batch alone"))


def test_what_grew_from_noise_is_no_slip_and_says_so() -> None:
    """Scores may be right within their noise, and their weights beyond it: the larger scores are, the further."""
    key = Key(problem("attention", {}, q=4 * Q[0, 0], k=4 * K[0, 0], v=V[0, 0]))
    due = key.value(("", "scaled"))
    assert due is not None
    scores = due + 8e-6 * np.abs(due) * np.sign(random(*due.shape, seed=5))
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    dump = {"scaled": scores, "weights": weights / weights.sum(-1, keepdims=True)}
    marked = Marker(key).mark(from_python({name: x.astype(np.float32) for name, x in dump.items()}))
    assert [(step.verdict, step.mistake or "") for step in marked.steps] == [("right", ""), ("unexplained", "")]
    assert "right but for noise" in (marked.steps[1].hint or "")


def test_one_entry_that_is_off_hardly_more_than_others_is_no_slip() -> None:
    key = Key(problem("attention", {}, q=Q[0, 0], k=K[0, 0], v=V[0, 0]))
    due = key.value(key.result)
    assert due is not None
    off = 0.9e-5 * np.abs(due)
    off[np.unravel_index(np.abs(due).argmax(), due.shape)] = 3e-5 * np.abs(due).max()
    found = judged(key.problem, due + off)
    assert (found.verdict, found.finding.mistakes, found.finding.wrong.number) == ("unexplained", (), 1)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_an_axis_of_one_in_front_is_that_of_a_batch(dtype: str) -> None:
    right = attention(lambda x: x, Q[0], K[0], V[0], causal=True).astype(dtype)
    key = Key(problem("attention", {"causal": True}, q=Q[0], k=K[0], v=V[0]))
    assert Marker(key).mark(from_python(right[None]))


@pytest.mark.release
@pytest.mark.spread(3)
@pytest.mark.parametrize("dtype", TYPES)
def test_two_options_that_are_forgotten_are_named_together(dtype: str) -> None:
    kernel = seen(partial(held, name=dtype), None)
    found = judged(posed(causal=True, window=4, softcap=1.5), kernel)
    assert {*found.finding.mistakes} == {"window-missing", "softcap-missing"}


def test_two_options_that_are_forgotten_by_hand_are_named_together() -> None:
    x = np.array([[0.5, 1], [2, 0.3], [1, 1.5], [0.2, 2]])
    given = problem("attention", {"causal": True, "window": 2, "softcap": 1.5}, q=x, k=x, v=x)
    answer = ac.attention(x, x, x, causal=True).result.round(4)
    [marked] = Marker(Key(given)).mark(from_python(answer.tolist())).steps
    assert {*marked.finding.mistakes} == {"window-missing", "softcap-missing"}


RIGHT: dict[str, tuple[Problem, Callable[[Any], Array]]] = {
    "shared key heads": (
        posed(K[:, FEW], V[:, FEW]),
        lambda r: attention(r, Q, *(np.repeat(x[:, FEW], 3, 1) for x in (K, V))),
    ),
    "a window": (posed(causal=True, window=4), lambda r: seen(r, 4)),
    "a cap": (posed(causal=True, softcap=1.5), lambda r: seen(r, None, 1.5)),
    "twelve slopes": (
        posed(causal=True, bias="alibi"),
        lambda r: biased(r, 2.0 ** -np.array([*range(1, 9), 0.5, 1.5, 2.5, 3.5])),
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("given", "kernel"), RIGHT.values(), ids=RIGHT)
def test_what_is_right_is_right(given: Problem, kernel: Callable[[Any], Array], dtype: str) -> None:
    assert judged(given, kernel(partial(held, name=dtype))).verdict == "right"


WIDE = HEADS * 4
X, *W = (random(TOKENS, WIDE, seed=3), *(random(WIDE, WIDE, seed=4 + i) / np.sqrt(WIDE) for i in range(4)))


def mixed(change: Callable[[Array, Array], Array]) -> Array:
    """Several heads, of which something becomes before they are mixed by W_O."""
    q, k, v = ((X @ w).reshape(TOKENS, HEADS, -1).transpose(1, 0, 2) for w in W[:3])
    right, wrong = (attention(lambda x: x, q, k, v, mistake=mistake) for mistake in ("", "att-no-scale"))
    return np.asarray(np.matmul(change(right, wrong).transpose(1, 0, 2).reshape(TOKENS, WIDE), W[3]))


def one_wrong(right: Array, wrong: Array) -> Array:
    found = right.copy()
    found[5] = wrong[5]
    return found


MIXED: dict[str, tuple[Callable[[Array, Array], Array], str, str]] = {
    "one head": (one_wrong, "att-no-scale", "in head 5 alone"),
    "two heads exchanged": (lambda right, _: right[[0, 1, 2, 4, 3, *range(5, HEADS)]], "heads-permuted", "order"),
    "the first head last": (lambda right, _: np.roll(right, -1, 0), "heads-permuted", "order"),
}


@pytest.mark.parametrize(("change", "mistake", "told"), MIXED.values(), ids=MIXED)
def test_it_is_named_behind_the_last_projection(
    change: Callable[[Array, Array], Array], mistake: str, told: str
) -> None:
    given = problem("multihead", {"heads": HEADS}, x=X, **dict(zip(("wq", "wk", "wv", "wo"), W, strict=True)))
    found = judged(given, mixed(change))
    assert found.finding.mistakes == (mistake,)
    assert told in found.finding.says


@pytest.mark.thorough
def test_queries_that_are_turned_by_other_positions_are_named() -> None:
    q, k, v = random(5, WIDTH), random(TOKENS, WIDTH, seed=1), random(TOKENS, 16, seed=2)
    theta = 10000.0 ** (-2 * np.arange(WIDTH // 2) / WIDTH)

    def turned(x: Array, places: Array) -> Array:
        pairs = (x[:, ::2] + 1j * x[:, 1::2]) * np.exp(1j * places[:, None] * theta)
        return np.stack([pairs.real, pairs.imag], -1).reshape(x.shape)

    options = {"rope": True, "causal": True, "causal_align": "end"}
    given = problem("attention", options, q=q, k=k, v=v)
    own, keys, new = np.arange(5), np.arange(TOKENS), TOKENS - 5
    for at, of_keys, named in (
        (own + new, keys, None),
        (own, keys, "rope-q-offset"),
        (own + new + 1, keys, "rope-q-offset"),
        (own, np.where(keys < new, keys, keys - new), "cache-positions-reset"),
    ):
        scores = np.matmul(turned(q, at), turned(k, of_keys).T) / np.sqrt(WIDTH)
        e = np.exp(np.where(keys <= own[:, None] + new, scores, -np.inf))
        assert judged(given, np.matmul(e / e.sum(-1, keepdims=True), v)).mistake == named


def test_a_model_with_other_heads_has_no_width_of_theirs() -> None:
    """Of two heads the width of the model would give these frequencies; of twelve it would not."""
    x = random(TOKENS, WIDE, seed=3)
    given = {f"w{name}": w for name, w in zip("qkvo", W, strict=True)}
    options = {"heads": HEADS, "rope": True}
    key = Key(problem("multihead", options, x=x, **given))
    shared = next(found for found in key.wrong if found.mistakes[0].id == "rope-exp-i")
    wrong = key.value(("", "output"), shared)
    assert wrong is not None
    found = Marker(key).mark(from_python(wrong.astype(np.float32))).steps[0].finding
    assert (found.mistakes, found.also) == (("rope-exp-i",), ())


def latent(r: Callable[[Any], Array], w: dict[str, Array], fault: str = "") -> dict[str, Array]:
    """Latent attention of four heads as DeepSeek's code has it, each step rounded by `r`."""

    def norm(x: Array, gain: Array, what: str) -> Array:
        if fault == f"{what} norm":
            return x
        rms = np.sqrt((x * x).mean(axis=-1, keepdims=True) + (1e-2 if fault == "eps" else 1e-6))
        return r(x / rms * (1 if fault == "gain" else gain))

    def turned(x: Array) -> Array:
        angles = np.outer(np.arange(x.shape[-2]), 1e4 ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1]))
        turns = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)
        return r(np.stack([turns.real, turns.imag], axis=-1).reshape(x.shape))

    def heads(x: Array) -> Array:
        return x.reshape(len(x), 4, -1).swapaxes(0, 1)

    x = w["x"]
    drawn = norm(r(x @ w["wdq"]), w["q_gamma"], "query")
    dump = {"q-norm/output": drawn, "latent": r(x @ w["wdkv"])}
    dump["kv-norm/output"] = c = norm(dump["latent"], w["kv_gamma"], "key")
    dump["q_rotated"], dump["k_rotated"] = turned(heads(r(drawn @ w["wqr"]))), turned(r(x @ w["wkr"]))
    q, k, v = heads(r(drawn @ w["wuq"])), heads(r(c @ w["wuk"])), heads(r(c @ w["wuv"]))
    scores = dump["scores"] = r(q @ k.swapaxes(1, 2) + dump["q_rotated"] @ dump["k_rotated"].T)
    scaled = dump["scaled"] = scores if fault == "scale" else r(scores / np.sqrt(12))
    shares = np.exp(np.where(np.tri(len(x)) > 0, scaled, -np.inf))
    dump["weights"] = r(shares / shares.sum(axis=-1, keepdims=True))
    mixed = dump["heads"] = r(dump["weights"] @ v)
    dump["concatenated"] = (mixed if fault == "merge" else mixed.swapaxes(0, 1)).reshape(len(x), -1)
    return dump | {"output": r(dump["concatenated"] @ w["wo"])}


LATENT = {
    "": ("", None),
    "key norm": ("mla-latent-norm-missing", "kv-norm/output"),
    "query norm": ("mla-latent-norm-missing", "q-norm/output"),
    "gain": ("rms-no-gain", "q-norm/output"),
    "eps": ("ln-wrong-eps", "q-norm/output"),
    "scale": ("att-no-scale", "scaled"),
    "merge": ("mh-merge-reshape", "concatenated"),
}
"""A fault of such a port → what it is called, and where it is made first."""


@pytest.mark.thorough
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("fault", LATENT)
def test_faults_of_latent_attention_that_other_attentions_have_are_named(fault: str, dtype: str) -> None:
    shapes: dict[str, tuple[int, ...]] = {
        "x": (12, 24), "wuq": (14, 32), "wqr": (14, 16), "wdkv": (24, 10), "wuk": (10, 32), "wuv": (10, 32),
        "wkr": (24, 4), "wo": (32, 24), "wdq": (24, 14), "q_gamma": (14,), "kv_gamma": (10,),
    }  # fmt: skip
    drawn = {name: random(*shape, seed=i) for i, (name, shape) in enumerate(shapes.items())}
    weights = {name: x if name == "x" else x / 4 if x.ndim == 2 else 1 + x / 5 for name, x in drawn.items()}
    dump = latent(lambda x: held(np.asarray(x), dtype), weights, fault)
    marked = ac.latent_attention(**weights, heads=4, causal=True).check(dump, hints="rule")
    mistake, where = LATENT[fault]
    if fault == "eps" and dtype == "bfloat16":
        assert marked  # within its noise
        return
    assert marked.first_wrong == where, [(step.name, step.verdict) for step in marked.steps]
    made = {step.mistake for step in marked.steps if step.verdict == "mistake"}
    assert made == ({mistake} if mistake else set())
    assert all(step.verdict in ("right", "mistake", "follows", "missing") for step in marked.steps)
