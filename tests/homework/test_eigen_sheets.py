"""Eigenvalues in any order, eigenvectors of any length; singular vectors may be turned round. Each is as right."""

from __future__ import annotations

from typing import Any

import pytest

import attncalc as ac

TWO = ac.eigen([[2, 1], [1, 2]])
THREE = ac.eigen([[2, 1, 0], [1, 2, 1], [0, 1, 2]])
SLANTED = ac.eigen([[1, 2], [0, 3]])
PARTS = ac.svd([[3, 0], [4, 5]])
ALONG, ACROSS = [["1", "1"], ["1", "-1"]], [["1", "1"], ["-1", "1"]]
"""Multiples of the eigenvectors of TWO, to 3 and to 1, and the other way round."""


def flipped(name: str) -> Any:
    return [[f"{-x:.3f}" for x in row] for row in PARTS[name]]


@pytest.mark.parametrize(
    ("trace", "sheet"),
    [
        pytest.param(TWO, ["1", "3"], id="the smaller one first"),
        pytest.param(THREE, ["2", "0.586", "3.414"], id="three in some order"),
        pytest.param(TWO, {"eigenvectors": ALONG}, id="whole numbers"),
        pytest.param(TWO, {"eigenvectors": [["-0.71", "0.71"], ["-0.71", "-0.71"]]}, id="the other way"),
        pytest.param(TWO, {"eigenvectors": ACROSS}, id="vectors in another order"),
        pytest.param(TWO, {"eigenvalues": ["1", "3"], "eigenvectors": ACROSS}, id="both in another order"),
        pytest.param(SLANTED, {"eigenvalues": ["1", "3"], "eigenvectors": [["1", "1"], ["0", "1"]]}, id="slanted"),
        pytest.param(
            TWO,
            {"eigenvalues": ["1", "3"], "eigenvectors": ACROSS, "a_v": [["1", "3"], ["-1", "3"]]},
            id="with the proof",
        ),
        pytest.param(THREE, {"characteristic_polynomial": ["-1", "6", "-10", "4"]}, id="det(A − λ·I)"),
        pytest.param(PARTS, {"u": flipped("u"), "vt": flipped("vt")}, id="singular vectors"),
    ],
)
def test_what_is_as_right_is_right(trace: Any, sheet: Any) -> None:
    assert trace.check(sheet).verdict == "right"


@pytest.mark.parametrize(
    ("trace", "sheet", "first"),
    [
        pytest.param(TWO, ["3", "2"], "eigenvalues", id="another eigenvalue"),
        pytest.param(TWO, {"eigenvectors": [["1", "1"], ["2", "-1"]]}, "eigenvectors", id="another direction"),
        pytest.param(TWO, {"eigenvectors": [["1", "1"], ["1", "1"]]}, "eigenvectors", id="one of them twice"),
        pytest.param(TWO, {"eigenvectors": [["1", "0"], ["1", "0"]]}, "eigenvectors", id="a column of zeros"),
        pytest.param(
            TWO, {"eigenvalues": ["1", "3"], "eigenvectors": ALONG}, "eigenvectors", id="each at the other's eigenvalue"
        ),
        pytest.param(SLANTED, {"eigenvectors": [["1", "0"], ["1", "1"]]}, "eigenvectors", id="as rows"),
        pytest.param(PARTS, {"u": [["1", "0"], ["0", "1"]]}, "u", id="other singular vectors"),
    ],
)
def test_what_is_wrong_is_wrong(trace: Any, sheet: Any, first: str) -> None:
    found = trace.check(sheet)
    assert (found.verdict, found.first_wrong) == ("wrong", first)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("sheet", "found"),
    [
        pytest.param({"eigenvalues": ["-5.186", "-2.314"]}, ["eigen-trace-sign"], id="the sign of the trace"),
        pytest.param({"eigenvalues": ["-2.314", "-5.186"]}, ["eigen-trace-sign"], id="the smaller one first"),
        pytest.param({"eigenvalues": ["4.781", "2.719"]}, ["eigen-determinant-plus"], id="a·d + b·c"),
        pytest.param({"eigenvalues": ["5", "2.5"]}, ["eigen-diagonal"], id="the diagonal"),
        pytest.param({"eigenvalues": ["4.628", "10.372"]}, ["eigen-not-halved"], id="not divided by 2"),
        pytest.param(
            {"characteristic_polynomial": ["1", "-7.500", "13.000"], "eigenvalues": ["2.719", "4.781"]},
            ["eigen-determinant-plus", "follows"],
            id="the roots of another polynomial, the smaller one first",
        ),
        pytest.param(
            {"characteristic_polynomial": ["1", "-7.500", "13.000"], "eigenvalues": ["2.719", "4.871"]},
            ["eigen-determinant-plus", "unexplained"],
            id="numbers that are no roots of it",
        ),
    ],
)
def test_a_wrong_polynomial_is_told(sheet: Any, found: list[str]) -> None:
    steps = ac.eigen([[5, 0.5], [1, 2.5]]).check(sheet).steps
    assert [step.mistake or step.verdict for step in steps] == found
