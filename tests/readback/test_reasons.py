"""Numbers and formulas in what is said: each is quoted in claims.py as it stands, and held against something."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from typing import Any

import numpy as np
import pytest
from calculations.cases import EXPECTED
from language.ops.examples import EXAMPLES
from numpy.typing import NDArray
from solved import Tried

from attncalc.calculations import TABLE
from attncalc.homework.diagnosis.key import known
from attncalc.language.graph import Node
from attncalc.language.ops.basics import called
from attncalc.language.primitive import OPS
from readback import text
from readback.claims import CLAIMS, Cited, Equal, Holds, Slope
from readback.graphs import CALCULATED, Printed, of_calculation
from readback.hints import HINTS
from readback.meaning import Tensor, worth
from readback.pages import Line

Array = NDArray[Any]
QUOTED = {
    quotation: re.compile(re.escape(quotation).replace(r"\{\}", r"(\d+)"))
    for quotation in sorted(CLAIMS, key=len, reverse=True)
}
"""The patterns, the longest first."""
STATED = re.compile(r"\d|[√²³·^=|Σ∂⊙ᵀ⁻−+×∞½]|\w/\w|\b(?:max|min)\b")
"""What a number or a formula has in it."""
NAMES = {"x": (), "p": (), "v": ("n",)}
X, P, V, STEP = 0.37, 2.6, [0.4, -1.2, 2.0], 1e-6


class Beside:
    """A step, for whoever looks at what stands beside it."""

    def __init__(self, tried: Tried, printed: Printed, step: Node) -> None:
        self.tried, self.printed, self.step = tried, printed, step

    @property
    def name(self) -> str:
        return str(self.step.args["name"])

    @property
    def group(self) -> str:
        return str(self.step.args["group"])

    @property
    def value(self) -> Array:
        return np.asarray(self.printed.known[self.step.sources[0]], dtype=float)

    @cached_property
    def known(self) -> dict[str, Tensor]:
        return Line(self.step.sources[0], self.printed.known, self.group).names

    def along(self, holds: Callable[[int], Any]) -> bool:
        """Whether something holds along one of the axes: which one is an option of some calculations."""
        return any(holds(axis) for axis in range(self.value.ndim))

    def __getitem__(self, name: str) -> Array:
        near = ("", self.group)
        found = {
            called: node
            for node in self.printed.known
            if node.op == "input" or (node.op == "step" and node.args["group"] in near)
            for called in (node.args["symbol"], node.args["name"])
        }
        if name in self.known:
            return self.known[name].numbers
        return np.asarray(self.printed.known[found[name]] if name in found else self.option(name), dtype=float)

    def option(self, name: str) -> Any:
        value = EXPECTED[self.tried.name].cases[self.tried.number].options[name]
        return [*value.values()] if isinstance(value, dict) else value

    def is_gradient(self, twice: int) -> bool:
        """Whether it is so many N-ths of a sum over the samples."""
        errors = self["errors"]
        due = twice / len(errors) * (self["X"].T @ errors if "X" in self.known else errors.sum(0))
        return np.allclose(self.value, due)

    def is_error(self, layer: str, twice: int) -> bool:
        if self.name != f"delta{layer}":
            return False
        errors = self[f"Z_{layer}"] - self["Y"].reshape(self.value.shape)
        return np.allclose(self.value, twice * errors / len(errors))


def of_rows() -> Iterator[str]:
    """What is said of primitives, about them and beside their backward steps."""
    for op, examples in EXAMPLES.items():
        row = OPS[op]
        for example in examples:
            node, _ = example.graph()
            yield row.about(node) if callable(row.about) else row.about
            for i in range(len(node.sources)):
                yield row.because(node, i) if callable(row.because) else row.because


@cache
def beside() -> list[tuple[str, Beside]]:
    """The reason of every step of every calculation."""
    found = []
    for tried in CALCULATED:
        if printed := of_calculation(tried):
            steps = [node for node in printed.known if node.op == "step" and node.sources[0] in printed.known]
            found += [(step.args["why"], Beside(tried, printed, step)) for step in steps]
    return found


@cache
def names() -> re.Pattern[str]:
    """The names of values, groups and axes that look like numbers or formulas: `W_1`, `time step 3`."""
    nodes = {node for tried in CALCULATED if (printed := of_calculation(tried)) for node in printed.known}
    words = {str(node.args.get(key) or "") for node in nodes for key in ("symbol", "name", "group")}
    words |= {called(node) for node in nodes}
    words |= {part for word in words for part in word.split("/")} | {name for node in nodes for name in node.names}
    stated = sorted(filter(STATED.search, words), key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, stated))})(?!\w)")


@cache
def sentences() -> frozenset[str]:
    """What is said in primitives and in steps, apart by semicolons."""
    told = [*of_rows(), *(why for why, _ in beside())]
    return frozenset(part for sentence in told for part in (sentence or "").split("; "))


def is_true_of(sentence: str, steps: list[Beside]) -> bool:
    """Whether the numbers of a sentence that name something name it rightly, beside these steps."""
    quoted = [(quotation, found) for quotation, pattern in QUOTED.items() if (found := pattern.search(sentence))]
    return all(
        is_true(CLAIMS[quotation], *((at, *found.groups()) for at in steps))
        for quotation, found in quoted
        if found.groups()
    )


def left_over(sentence: str) -> str:
    """A sentence without what is quoted from it, and without names."""
    for pattern in QUOTED.values():
        sentence = pattern.sub("", sentence)
    return names().sub("", sentence)


def number(formula: str, x: float = X) -> float:
    names = {"x": np.asarray(x), "p": np.asarray(P), "v": np.asarray(V)}
    known = {name: Tensor(NAMES[name], value) for name, value in names.items()}
    with np.errstate(all="ignore"):
        return float(worth(text.parse(formula, known), known)[0].numbers)


def is_true(claim: Any, *places: Any) -> bool:
    """Whether a claim holds: by itself, or beside all the steps where it stands."""
    if isinstance(claim, Equal):
        return all(_equal(*pair) for pair in claim.pairs)
    if isinstance(claim, Slope):
        measured = (number(claim.function, X + STEP) - number(claim.function, X - STEP)) / (2 * STEP)
        return number(claim.slope) == pytest.approx(measured, rel=1e-6, abs=1e-9)
    if isinstance(claim, Holds):
        return bool(claim.check())
    return isinstance(claim, Cited) or (bool(places) and all(claim(at, *numbers) for at, *numbers in places))


def _equal(left: str, right: str) -> bool:
    decimals = len(right.partition(".")[2]) if right.replace(".", "").isdigit() else 9
    a, b = number(left), number(right)
    return a == b or abs(a - b) <= 10.0**-decimals  # 709.78 is cut, not rounded


@pytest.mark.thorough
def test_every_number_and_every_formula_in_a_reason_is_quoted() -> None:
    assert [sentence for sentence in sentences() if STATED.search(left_over(sentence))] == []


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize("quotation", CLAIMS)
def test_what_is_quoted_is_true(quotation: str) -> None:
    pattern = QUOTED[quotation]
    assert any(pattern.search(sentence) for sentence in sentences()), "nobody says so any more"
    places = [(at, *found.groups()) for why, at in beside() if (found := pattern.search(why or ""))]
    assert is_true(CLAIMS[quotation], *places)


def test_every_number_in_a_hint_is_quoted() -> None:
    hints = {mistake.hint for name in TABLE for mistake in known(name) if re.search(r"\d", mistake.hint)}
    assert hints == HINTS.keys()
    for hint, claim in HINTS.items():
        assert is_true(claim), hint
