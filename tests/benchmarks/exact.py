"""Exact runs beside the same problems written by hand in SymPy, in paired runs.

    python tests/benchmarks/exact.py

Both start from the same fractions and end with the result as expressions, after one run of each whose time does not
count; each round runs both, and SymPy's cache is emptied before either. What is reported is the median time of both,
and the median over the rounds of their ratio.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import sympy
from numpy.typing import NDArray
from sympy.core.cache import clear_cache

from attncalc.calculations import load
from attncalc.record.trace import Given
from attncalc.solve.problem import Problem
from attncalc.solve.solver import solve

Array = NDArray[Any]
Tidy = Callable[[Any], Any]

HOW: dict[str, Tidy] = {
    "as it comes out": lambda entry: entry,
    "over one denominator": sympy.together,  # as attncalc shows each step
    "simplified": sympy.simplify,
}
"""What is done by hand with every entry of a step."""


def tenths(*shapes: tuple[int, ...]) -> list[Array]:
    """Operands in tenths, as one writes them in an exercise."""
    rng = np.random.default_rng(sum(map(sum, shapes)))
    return [rng.integers(-9, 10, shape) / 10 for shape in shapes]


def exactly(array: Array) -> Any:
    """A matrix of SymPy's; a vector is one column of it."""
    return sympy.Matrix(array.tolist()).applyfunc(lambda entry: sympy.Rational(str(entry)))


def shares(scores: Any, tidy: Tidy) -> Any:
    """The softmax of every row."""
    powers = scores.applyfunc(sympy.exp)
    sums = [sum(powers.row(i)) for i in range(powers.rows)]
    return sympy.Matrix(powers.rows, powers.cols, lambda i, j: tidy(powers[i, j] / sums[i]))


def attention(tidy: Tidy, q: Any, k: Any, v: Any) -> Any:
    """softmax(Q·Kᵀ/√d)·V."""
    scores = (q * k.T / sympy.sqrt(q.cols)).applyfunc(tidy)
    return (shares(scores, tidy) * v).applyfunc(tidy)


def softmax(tidy: Tidy, x: Any) -> Any:
    """The softmax of every row."""
    return shares(x, tidy)


def layernorm(tidy: Tidy, x: Any) -> Any:
    """(x − μ)/√(σ² + ε) of every row."""
    rows = []
    for i in range(x.rows):
        mean = sum(x.row(i)) / x.cols
        centred = x.row(i).applyfunc(lambda entry, mean=mean: entry - mean)
        variance = sum(entry**2 for entry in centred) / x.cols
        rows.append((centred / sympy.sqrt(variance + sympy.Rational("0.00001"))).applyfunc(tidy))
    return sympy.Matrix.vstack(*rows)


def cosine(tidy: Tidy, a: Any, b: Any) -> Any:
    """a·b/(‖a‖·‖b‖), and the angle in degrees."""
    similarity = tidy(a.dot(b) / (sympy.sqrt(a.dot(a)) * sympy.sqrt(b.dot(b))))
    tidy(sympy.acos(similarity) * 180 / sympy.pi)
    return sympy.Matrix([similarity])


class Case(NamedTuple):
    """A calculation, its operands, and the same by hand."""

    name: str
    operands: Sequence[Array]
    by_hand: Callable[..., Any]


CASES = {
    "attention, 2 tokens of 3": Case("attention", tenths((2, 3), (2, 3), (2, 3)), attention),
    "attention, 3 tokens of 4": Case("attention", tenths((3, 4), (3, 4), (3, 4)), attention),
    "softmax, 4 rows of 6": Case("softmax", tenths((4, 6)), softmax),
    "layernorm, 4 rows of 6": Case("layernorm", tenths((4, 6)), layernorm),
    "cosine, 8 numbers": Case("cosine", tenths((8,), (8,)), cosine),
}


def seconds(call: Callable[[], Any]) -> float:
    """How long one run takes, nothing being remembered from another."""
    clear_cache()
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main() -> None:
    """Measure every case and print a table."""
    arguments = argparse.ArgumentParser(description="Measure exact runs beside SymPy by hand, in paired runs.")
    arguments.add_argument("--rounds", type=int, default=9)
    chosen = arguments.parse_args()
    print(f"Python {platform.python_version()}, SymPy {sympy.__version__}, {platform.system()} {platform.machine()}\n")
    print(f"{'exactly':<26} {'by hand, each step':<22} {'by hand':>10} {'attncalc':>10} {'ratio':>8}")
    for title, case in CASES.items():
        calculation = load(case.name)
        names = [operand.name for operand in calculation.operands]
        problem = Problem(calculation, {n: Given(value) for n, value in zip(names, case.operands, strict=False)})

        def ours(problem: Problem = problem) -> Array:
            return solve(problem, exact=True).result

        for how, tidy in HOW.items():

            def theirs(case: Case = case, tidy: Tidy = tidy) -> Any:
                return case.by_hand(tidy, *map(exactly, case.operands))

            for one, other in zip(ours().ravel(), theirs(), strict=True):
                assert abs((one - other).evalf(30)) < Fraction(1, 10**25), "they give different numbers"
            rounds = chosen.rounds if how != "simplified" else 1  # which takes a hundred times as long
            both = [(seconds(theirs), seconds(ours)) for _ in range(rounds)]
            first, second = (statistics.median(times) * 1e3 for times in zip(*both, strict=True))
            ratio = statistics.median(b / a for a, b in both)
            print(f"{title:<26} {how:<22} {first:7.1f} ms {second:7.1f} ms {ratio:6.2f} ×", flush=True)


if __name__ == "__main__":
    main()
