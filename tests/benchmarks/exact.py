"""Exact attention beside the same problem written by hand in SymPy, in paired runs.

    python tests/benchmarks/exact.py

Both start from the same fractions and end with the output as expressions, after one run of each whose
time does not count; each round runs both, and SymPy's cache is emptied before either. What is reported is the median
time of both, and the median over the rounds of their ratio.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray
from sympy.core.cache import clear_cache

from attncalc.calculations import load
from attncalc.problem import Problem, solve
from attncalc.trace import Given

Array = NDArray[Any]
SIZES = {"2 tokens, width 3": (2, 3), "3 tokens, width 4": (3, 4)}


HOW: dict[str, Callable[[Any], Any]] = {
    "as it comes out": lambda entry: entry,
    "over one denominator": sympy.together,  # as attncalc shows each step
    "simplified": sympy.simplify,
}
"""What is done by hand with every entry of a step."""


def operands(n: int, d: int) -> dict[str, Array]:
    """Tenths, as one writes them in an exercise."""
    rng = np.random.default_rng(n * d)
    return {name: rng.integers(-9, 10, (n, d)) / 10 for name in "qkv"}


def by_hand(q: Array, k: Array, v: Array, tidy: Callable[[Any], Any]) -> Any:
    """softmax(Q·Kᵀ/√d)·V with SymPy's matrices."""
    Q, K, V = (sympy.Matrix([[sympy.Rational(str(x)) for x in row] for row in m.tolist()]) for m in (q, k, v))
    scores = (Q * K.T / sympy.sqrt(Q.cols)).applyfunc(tidy)
    powers = scores.applyfunc(sympy.exp)
    sums = [sum(powers.row(i)) for i in range(powers.rows)]
    weights = sympy.Matrix(powers.rows, powers.cols, lambda i, j: tidy(powers[i, j] / sums[i]))
    return (weights * V).applyfunc(tidy)


def seconds(call: Callable[[], Any]) -> float:
    """How long one run takes, nothing being remembered from another."""
    clear_cache()
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main() -> None:
    """Measure every size and print a table."""
    arguments = argparse.ArgumentParser(description="Measure exact attention beside SymPy by hand, in paired runs.")
    arguments.add_argument("--rounds", type=int, default=5)
    chosen = arguments.parse_args()
    print(f"Python {platform.python_version()}, SymPy {sympy.__version__}, {platform.system()} {platform.machine()}\n")
    print(f"{'attention of':<20} {'by hand, each step':<24} {'by hand':>10} {'attncalc':>10} {'ratio':>8}")
    for title, (n, d) in SIZES.items():
        arrays = operands(n, d)
        problem = Problem(load("attention"), {name: Given(value) for name, value in arrays.items()})

        def ours(problem: Problem = problem) -> Array:
            return solve(problem, exact=True).result

        for how, tidy in HOW.items():

            def theirs(arrays: dict[str, Array] = arrays, tidy: Callable[[Any], Any] = tidy) -> Any:
                return by_hand(arrays["q"], arrays["k"], arrays["v"], tidy)

            for one, other in zip(ours().ravel(), theirs(), strict=True):
                assert abs((one - other).evalf(30)) < Fraction(1, 10**25), "they give different numbers"
            both = [(seconds(theirs), seconds(ours)) for _ in range(chosen.rounds)]
            first, second = (statistics.median(times) * 1e3 for times in zip(*both, strict=True))
            ratio = statistics.median(b / a for a, b in both)
            print(f"{title:<20} {how:<24} {first:7.1f} ms {second:7.1f} ms {ratio:6.2f} ×")


if __name__ == "__main__":
    main()
