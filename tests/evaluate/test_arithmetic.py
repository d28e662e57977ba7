"""The arithmetic of one entry: it comes to the entry, whatever brackets that takes, and stays short enough to read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import given as examples
from hypothesis import strategies as st
from numpy.typing import NDArray
from readback.arithmetic import comes_to, spelled
from trees import LETTERS, arrays, entries, plain, scalars

from attncalc.evaluate.values import evaluate
from attncalc.language.axes import Axis
from attncalc.language.graph import Node, given, step
from attncalc.language.ops import absolute, exp, index, keep_where, maximum, mean, peak, softmax, sqrt, total
from attncalc.language.primitive import At
from attncalc.solve.recording import entry

Array = NDArray[Any]
N, M, D = Axis("n", 2), Axis("m", 2), Axis("d", 3)
Q, K = given("q", (N, D), "Q"), given("k", (M, D), "K")
A, B = given("a", (D,)), given("b", (D,))
VALUES = {
    "q": np.array([[1.0, 0, 1], [0, 1, -1]]),
    "k": np.array([[1.0, 1, 0], [-1, 0, 2]]),
    "a": np.array([3.0, -4, 0.5]),
    "b": np.array([-1.0, 2, 2]),
}


def line(node: Node, at: At, operands: dict[str, Array]) -> str:
    """The arithmetic of an entry, as a reader gets it."""
    known = evaluate([node], operands, keep=lambda _: True)

    def look(source: Node, place: At) -> Any:
        value = known[source] if source in known else evaluate([source], operands)[source]
        return value[tuple(place[name] for name in source.names)]

    return spelled(entry(node, at, look))


@pytest.mark.parametrize(
    ("node", "at", "written"),
    [
        pytest.param(Q @ K.T, {"n": 0, "m": 1}, "1.0×(−1.0) + 0.0×0.0 + 1.0×2.0", id="a product of matrices"),
        pytest.param(A - B, {"d": 0}, "3.0 − (−1.0)", id="a minus taken away"),
        pytest.param(A - B, {"d": 1}, "−4.0 − 2.0", id="a minus in front"),
        pytest.param(-A * B, {"d": 0}, "(−3.0)×(−1.0)", id="a sign in a product"),
        pytest.param(-(A * B), {"d": 0}, "−(3.0×(−1.0))", id="the sign of a product"),
        pytest.param(A**2, {"d": 1}, "(−4.0)²", id="a negative number squared"),
        pytest.param(sqrt(total(A**2)), {}, "√(3.0² + (−4.0)² + 0.5²)", id="a length"),
        pytest.param(absolute(A), {"d": 1}, "|−4.0|", id="a size"),
        pytest.param(exp(A), {"d": 1}, "e^(−4.0)", id="an exponential"),
        pytest.param(A / B, {"d": 2}, "0.5 / 2.0", id="a quotient"),
        pytest.param((A / B) * A, {"d": 2}, "(0.5 / 2.0)×0.5", id="a quotient in a product"),
        pytest.param(A / (B * B), {"d": 2}, "0.5 / (2.0×2.0)", id="a product below"),
        pytest.param((A + B) * B, {"d": 2}, "(0.5 + 2.0)×2.0", id="a sum in a product"),
        pytest.param(mean(A), {}, "(3.0 + (−4.0) + 0.5) / 3.0", id="a mean"),
        pytest.param(peak(A), {}, "max(3.0, −4.0, 0.5)", id="a maximum"),
        pytest.param(maximum(A, 0), {"d": 1}, "max(−4.0, 0.0)", id="the larger of two"),
        pytest.param(A / sqrt(A.size("d")), {"d": 0}, "3.0 / √3.0", id="a size below a root"),
        pytest.param(0.044715 * A, {"d": 0}, "0.044715×3.0", id="a number of the formula keeps its digits"),
        pytest.param(softmax(B), {"d": 0}, "e^(−1.0) / (e^(−1.0) + e^2.0 + e^2.0)", id="a softmax"),
        pytest.param(
            keep_where(index("m", (N, M), "j") <= index("n", (N, M), "i"), Q @ K.T, -np.inf),
            {"n": 0, "m": 1},
            "masked: 1.0 > 0.0",
            id="what is masked says so",
        ),
        pytest.param(keep_where(A <= B, A * B, 0), {"d": 0}, "3.0 > −1.0", id="a 0 that is chosen"),
        pytest.param(keep_where(A <= B, A * B, 0), {"d": 1}, "−4.0×2.0 (−4.0 ≤ 2.0)", id="a product that is chosen"),
        pytest.param(
            total(keep_where(A <= B, 1, 0)),
            {},
            "[3.0 ≤ −1.0] + [−4.0 ≤ 2.0] + [0.5 ≤ 2.0] = 0.0 + 1.0 + 1.0",
            id="choices that are counted",
        ),
        pytest.param(
            keep_where(A <= B, 0, A) + B, {"d": 0}, "3.0×[3.0 > −1.0] + (−1.0) = 3.0 + (−1.0)", id="what else is 0"
        ),
        pytest.param(keep_where(A <= B, A, B) + 1, {"d": 0}, "−1.0 + 1.0 (3.0 > −1.0)", id="neither of them is 0"),
        pytest.param(
            keep_where(A <= B, A + B, 0) * 2, {"d": 0}, "(3.0 + (−1.0))×[3.0 ≤ −1.0]×2.0 = 0.0×2.0", id="a sum"
        ),
    ],
)
def test_an_entry_is_worked_as_on_paper(node: Node, at: At, written: str) -> None:
    assert line(node, at, VALUES) == written


@pytest.mark.thorough
@examples(scalars)
def test_a_line_comes_to_the_value(node: Node) -> None:
    operands = {name: np.asarray(value) for name, value in LETTERS.items()}
    known = evaluate([node], operands, keep=lambda _: True)
    assume(node.op != "input" and plain(known.values()))
    assert comes_to(line(node, {}, operands), float(known[node]))


@examples(arrays(), st.data())
def test_a_line_comes_to_the_entry(node: Node, data: st.DataObject) -> None:
    assume(node.op != "input")
    operands = entries(3)
    value = evaluate([node], operands)[node]
    assume(np.isfinite(value).all() and (np.abs(value) < 1e6).all())
    at = {axis.name: data.draw(st.integers(0, axis.size - 1)) for axis in node.axes}
    expected = float(value[tuple(at.values())])
    assert comes_to(line(node, at, operands), expected)


def test_a_line_stops_at_steps_and_speaks_of_their_values() -> None:
    scores = step("scores", Q @ K.T, "…")
    assert line(step("scaled", scores / 2, "…"), {"n": 1, "m": 1}, VALUES) == "−2.0 / 2.0"


def test_what_is_only_handed_on_has_no_arithmetic() -> None:
    scores = step("scores", Q @ K.T, "…")
    assert line(step("same", scores, "…"), {"n": 0, "m": 0}, VALUES) == ""
    assert line(step("operand", A, "…"), {"d": 0}, VALUES) == ""


@pytest.mark.parametrize(("size", "terms"), [(8, 8), (9, 4), (1000, 4)], ids=["8 terms", "9 terms", "1000 terms"])
@pytest.mark.parametrize(("reduce", "between"), [(total, " + "), (peak, ", ")], ids=["a sum", "a maximum"])
def test_a_long_line_is_shortened_in_its_middle(reduce: Any, between: str, size: int, terms: int) -> None:
    node = reduce(given("long", (Axis("n", size),)) * 1)
    written = line(node, {}, {"long": np.arange(float(size))})
    numbers = [part for part in written.replace("max(", "").rstrip(")").split(between) if part != "…"]
    assert len(numbers) == terms
    assert ("…" in written) == (size > terms)
    assert f"{size - 1}.0" in numbers[-1]


@pytest.mark.parametrize(
    "reduce", [total, mean, peak, softmax, lambda x: x @ x], ids=["Σ", "mean", "max", "softmax", "·"]
)
def test_an_entry_of_millions_is_not_spelled_out(reduce: Callable[[Node], Node]) -> None:
    """It would have a term for each, and a page asks for it before it knows whether there is room."""
    node = reduce(given("long", (Axis("n", 2**40),)))
    assert entry(node, dict.fromkeys(node.names, 0), lambda source, place: 0.0) == ("…",)
