"""Traces made by hand: what renderers are given, without the machinery that computes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from attncalc.record.trace import Arithmetic, Entry, Given, Origin, Step, Trace
from attncalc.render import View
from attncalc.render.page import Table
from attncalc.render.traces import table
from attncalc.solve.recording import Behind


class ByHand(Behind):
    """Arithmetic by the names of steps, in the place of a graph."""

    def __init__(self, lines: Mapping[str, Callable[[tuple[int, ...]], Arithmetic]], nothing: Any = None) -> None:
        self.lines, self.nothing, self.named = lines, nothing, ()

    def knows(self, step: Step) -> bool:
        return step.name in self.lines

    def arithmetic(self, step: Step, at: tuple[int, ...], deepest: int | None = None) -> Arithmetic:
        return self.lines[step.name](at) if self.knows(step) else ()

    def origins(self, step: Step, at: tuple[int, ...]) -> tuple[Origin, ...]:
        return ()

    def left_over(self, step: Step) -> Any:
        return self.nothing


class Make:
    """Builds steps and traces with whatever a test does not say left empty."""

    @staticmethod
    def step(name: str, value: Any, axes: str = "", formula: str = "", **more: Any) -> Step:
        """A step; its axes are words apart by blanks."""
        array = np.asarray(value)
        return Step(
            name=name,
            axes=tuple(axes.split()),
            shape=array.shape,
            value=array,
            **{"group": "", "symbol": name, "formula": formula} | more,
        )

    @staticmethod
    def trace(*steps: Step, outputs: tuple[Step, ...] = (), arithmetic: Any = None, **more: Any) -> Trace:
        """A trace whose result is its last step, unless outputs are given; arithmetic by the names of steps."""
        if arithmetic is not None:
            more["behind"] = ByHand(arithmetic)
        usual = {"calculation": "demo", "summary": "A demonstration.", "inputs": {}, "options": {}}
        return Trace(steps=steps, outputs=outputs or steps[-1:], **usual | more)

    @classmethod
    def table(cls, name: str, value: Any, axes: str = "", **more: Any) -> Table:
        """A value on a page."""
        step = cls.step(name, value, axes, **more)
        return table(step, cls.trace(step), View())

    @staticmethod
    def entry(value: Any, *, brackets: bool = False) -> Entry:
        """A number in an arithmetic line."""
        return Entry(value, brackets)


@pytest.fixture(scope="session")
def make() -> type[Make]:
    """The builder."""
    return Make


def _products(a: np.ndarray, b: np.ndarray) -> Arithmetic:
    pieces: list[str | Entry] = []
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        pieces += [*([" + "] if pieces else []), Entry(x, brackets=bool(pieces)), "×", Entry(y, brackets=True)]
    return tuple(pieces)


@pytest.fixture(scope="session")
def dot(make: type[Make]) -> Trace:
    """Two vectors of three, with the arithmetic of every entry."""
    a, b = np.array([0.8, 0.2, -0.1]), np.array([0.7, 0.3, -0.2])
    why = {"products": "each entry of a meets its partner in b", "dot": "one number says how far they agree"}
    products = make.step("products", a * b, "n", "a ⊙ b", sizes="[3] ⊙ [3]", why=why["products"])
    arithmetic = {
        "products": lambda at: (Entry(a[at], brackets=False), "×", Entry(b[at], brackets=True)),
        "dot": lambda at: _products(a, b),
    }
    value = (a * b).sum()  # not a @ b, whose last digit depends on the processor
    total = make.step("dot", value, "", "a·b", sizes="[3]·[3]", why=why["dot"])
    inputs = {"a": Given(a, "words.csv#cat", axes=("n",)), "b": Given(b, axes=("n",))}
    return make.trace(
        products, total, arithmetic=arithmetic, calculation="dot", summary="The inner product.", inputs=inputs
    )


@pytest.fixture(scope="session")
def exact(make: type[Make]) -> Trace:
    """Surds: an array of them, and one by itself, which NumPy hands over as no array."""
    import sympy

    surds = np.array([sympy.sqrt(2), sympy.Rational(1, 3)], dtype=object)
    total = np.array(sympy.sqrt(2) + sympy.Rational(1, 3), dtype=object)
    return make.trace(make.step("surds", surds, "n", "√x"), make.step("sum", total, "", "Σ surds"))


@pytest.fixture(scope="session")
def attention(make: type[Make]) -> Trace:
    """Two queries, two keys, the second key hidden from the first query; the tokens have labels."""
    labels = {"n": ("the", "cat"), "m": ("the", "cat")}
    scores, masked = np.array([[1.0, 2.0], [1.0, 1.0]]), np.array([[1 / 3, -np.inf], [1 / 3, 1 / 3]])
    weights, output = np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[2.0, 0.0, 1.0], [1.5, 0.5, 0.5]])
    q = Given(np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]), "q.json", axes=("n", "d_k"), labels={0: ("the", "cat")})
    steps = (
        make.step("scores", scores, "n m", "Q·Kᵀ", sizes="[2×3]·[2×3]ᵀ", labels=labels, why="compare all with all"),
        make.step("masked", masked, "n m", "scores where j ≤ i, else −∞", labels=labels),
        make.step("weights", weights, "n m", "softmax(masked)", labels=labels, latex=r"\mathrm{softmax}"),
        make.step("output", output, "n d_v", "weights·V", labels={"n": ("the", "cat")}, why="mix the values"),
    )
    return make.trace(
        *steps,
        outputs=(steps[3], steps[2]),
        calculation="attention",
        summary="Each query mixes the values.",
        inputs={"q": q},
        options={"causal": True},
    )


@pytest.fixture(scope="session")
def grouped(make: type[Make]) -> Trace:
    """Parts with steps of the same name, a checked gradient, and an output that is no step."""
    stack = np.arange(6.0).reshape(2, 1, 3) / 8
    output = make.step("angle", 11.9, formula="arccos(cosine)")
    steps = (
        make.step("q", [[1.0, 2.0]], "n d", "x·W_Q", symbol="Q", group="encoder 1/self-attention"),
        make.step("weights", stack, "h n m", "softmax(q)", group="encoder 1/self-attention", drift=0.0012),
        make.step("weights", stack + 1, "h n m", "softmax(q)", group="encoder 2/self-attention", drift=0.0),
    )
    return make.trace(*steps, outputs=(steps[1], output))
