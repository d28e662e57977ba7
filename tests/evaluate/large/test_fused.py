"""The fused kernel: matched on softmax(x)·V alone, and what it gives is what the graph gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from attncalc.calculations import load
from attncalc.evaluate.large import cores, exponential, fused
from attncalc.evaluate.large.fused import Band
from attncalc.evaluate.values import evaluate
from attncalc.language.axes import Axis
from attncalc.language.graph import Node, given, walk
from attncalc.language.ops import softmax
from attncalc.record.trace import Given
from attncalc.solve.problem import Problem, Written
from attncalc.solve.solver import write

Array = NDArray[Any]
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "causal": {"causal": True},
    "causal, aligned to the end": {"causal": True, "causal_align": "end"},
    "a window to both sides": {"window": 3},
    "a causal window": {"window": 2, "causal": True},
    "padding": {"padding": (5,)},
    "everything padded": {"padding": (0,)},
    "causal and padded": {"causal": True, "padding": (4,)},
    "unscaled": {"scale": "none"},
    "scaled by a number": {"scale": 0.3},
}
OTHERS: dict[str, dict[str, Any]] = {
    "a cap": {"softcap": 5.0},
    "a bias": {"bias": "alibi"},
    "a negative scale": {"scale": -1.0},
    "a mask before the scale": {"mask_before_scale": True, "softcap": 1.0},
}
SHAPES = {"square": (13, 13, ()), "few queries": (3, 17, ()), "many queries": (17, 5, ()), "heads": (6, 7, (2, 3))}
BOUND = {"float32": 4, "float64": 4}
"""Times eps·√m of the largest value that is mixed: sums run over tiles, and a score may come without its shift."""


def attention(n: int, m: int, leads: tuple[int, ...], dtype: str, spread: float = 1, **options: Any) -> Written:
    rng = np.random.default_rng(n * m)
    shapes = {"q": (n, 4), "k": (m, 4), "v": (m, 3)}
    inputs = {name: Given(spread * rng.standard_normal((*leads, *shape))) for name, shape in shapes.items()}
    return write(Problem(load("attention"), inputs, options), dtype=dtype)


def both_ways(found: Written, dtype: str) -> tuple[Array, Array]:
    """The output by the kernel, and by the graph."""
    node = next(node for node in walk(found.outputs[0]) if fused.match(node))
    values = evaluate(found.roots, found.values, dtype=dtype, keep=lambda other: True)
    pattern = fused.match(node)
    assert pattern is not None
    return fused.attend(node, pattern, values), values[node]


def close(found: Array, wanted: Array, largest: float, m: int) -> None:
    assert found.dtype == wanted.dtype
    eps = float(np.finfo(wanted.dtype).eps)
    assert_allclose(found, wanted, rtol=0, atol=BOUND[wanted.dtype.name] * eps * np.sqrt(m) * largest)


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles that these sizes fill several times, the last one in part; exponentials as where NumPy has no AVX-512."""
    monkeypatch.setattr(exponential, "pays", lambda: True)
    monkeypatch.setattr(fused, "ROWS", 4)
    monkeypatch.setattr(fused, "KEYS", {"float32": 3, "float64": 3})
    monkeypatch.setattr(fused, "EDGE", 2)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("n", "m", "leads"), SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_gives_what_the_graph_gives(
    n: int, m: int, leads: tuple[int, ...], options: dict[str, Any], dtype: str
) -> None:
    found = attention(n, m, leads, dtype, **options)
    close(*both_ways(found, dtype), float(np.abs(found.values["v"]).max()), m)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_gives_the_same_by_the_exponentials_of_numpy(monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]) -> None:
    monkeypatch.setattr(exponential, "pays", lambda: False)
    found = attention(13, 17, (), "float64", **options)
    close(*both_ways(found, "float64"), float(np.abs(found.values["v"]).max()), 17)


@pytest.mark.thorough
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_large_scores_are_shifted(options: dict[str, Any], dtype: str) -> None:
    """Scores of thousands, whose exponentials are beyond every float."""
    found = attention(9, 11, (), dtype, spread=60, **options)
    made, wanted = both_ways(found, dtype)
    assert np.isfinite(made).all()
    slack = 3e3 if dtype == "float32" else 1e3  # an exponent of thousands carries so many roundings of its own
    assert_allclose(made, wanted, rtol=0, atol=slack * np.finfo(dtype).eps * np.abs(found.values["v"]).max())


@pytest.mark.parametrize("options", OTHERS.values(), ids=OTHERS)
def test_other_patterns_are_left_to_the_graph(options: dict[str, Any]) -> None:
    assert not any(map(fused.match, walk(*attention(4, 5, (), "float64", **options).roots)))


def test_a_softmax_over_another_axis_is_no_attention() -> None:
    n, m, d = Axis("n", 3), Axis("m", 4), Axis("d", 2)
    scores, values = given("scores", (n, d)) @ given("k", (m, d)).T, given("v", (m, d))
    assert fused.match(softmax(scores) @ values)
    assert not fused.match(softmax(scores, "n") @ values)


@pytest.mark.parametrize(
    ("options", "band"),
    [
        ({"causal": True}, Band(after=0)),
        ({"causal": True, "causal_align": "end"}, Band(after=3)),
        ({"window": 2}, Band(before=1, after=1)),
        ({"window": 2, "causal": True}, Band(before=1, after=0)),
        ({"padding": (5,)}, Band(keys=5)),
    ],
    ids=str,
)
def test_the_keys_that_are_seen_are_told_by_the_graph(options: dict[str, Any], band: Band) -> None:
    (pattern,) = filter(None, map(fused.match, walk(attention(4, 7, (), "float64", **options).outputs[0])))
    assert pattern.band == band


def test_keys_that_nobody_sees_are_not_touched() -> None:
    """Under a causal mask what comes later may be anything: its tiles are skipped."""
    found = attention(4, 12, (), "float64", causal=True)
    node = next(node for node in walk(found.outputs[0]) if fused.match(node))
    pattern = fused.match(node)
    assert pattern is not None
    values = evaluate(found.roots, found.values, keep=lambda other: True)
    clean = fused.attend(node, pattern, values)
    spoilt: dict[Node, Array] = {**values, pattern.V: values[pattern.V].copy()}
    spoilt[pattern.V][4:] = np.nan
    assert_allclose(fused.attend(node, pattern, spoilt), clean)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_number_of_cores_changes_nothing(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    found = attention(40, 50, (2,), "float64", causal=True)
    made, _ = both_ways(found, "float64")
    monkeypatch.setattr(cores, "count", lambda: count)
    again, _ = both_ways(found, "float64")
    assert np.array_equal(made, again)
