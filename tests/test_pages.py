"""Whole pages as a reader sees them; each snapshot has been read by somebody before it was kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from attncalc.calculations import load
from attncalc.inputs.problem_files import load_document
from attncalc.inputs.reading import Reading
from attncalc.render import View, render
from attncalc.solve.problem import Backward, Problem
from attncalc.solve.solver import solve

SAMPLES = Path(__file__).parents[1] / "samples"


@pytest.fixture(autouse=True)
def _among_the_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page names its files, and where lines break depends on how long their names are."""
    monkeypatch.chdir(SAMPLES)


def page(name: str, format: str = "table", *, exact: bool = False, round_to: int | None = None, width: int = 80) -> str:
    """The page of a sample, as a terminal of that width shows it without colour."""
    document = load_document(f"{name}.json", Reading())
    *derivative, calculation = document.calculation.split(" ")
    problem = Problem(load(calculation), document.inputs, document.options, Backward() if derivative else None)
    digits = None if format == "table" else 9  # the last ones of a float are the processor's own
    text = render(solve(problem, exact=exact, round_to=round_to), format, View(width=width, digits=digits))
    assert isinstance(text, str)
    return text


@pytest.mark.thorough
@pytest.mark.parametrize("width", [80, 40])
@pytest.mark.parametrize("name", ["attention", "attention-two-tokens-backward", "cosine", "softmax"])
def test_a_page_on_a_terminal(name: str, width: int, snapshot: SnapshotAssertion) -> None:
    assert page(name, width=width) == snapshot


def test_a_page_of_exact_numbers(snapshot: SnapshotAssertion) -> None:
    assert page("attention-two-tokens", exact=True) == snapshot


def test_a_page_of_numbers_rounded_by_hand(snapshot: SnapshotAssertion) -> None:
    assert page("cosine", round_to=2) == snapshot


@pytest.mark.parametrize("format", ["plain", "json", "markdown", "latex"])
def test_the_other_formats(format: str, snapshot: SnapshotAssertion) -> None:
    assert page("attention-two-tokens", format) == snapshot
