"""What a quiz is drawn from: a calculation's sample, with other options where the sample's would make a poor exercise.

What has operands gets other numbers; what has none gets other options, and what takes a formula another formula.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from attncalc import samples
from attncalc.calculation import UPSTREAM
from attncalc.errors import OptionError
from attncalc.problem import Problem, told_apart
from attncalc.trace import Given
from attncalc.writing import write

Random = np.random.Generator
Options = Mapping[str, Any]

LEVELS = ("easy", "medium", "hard")

NOT_BY_HAND: dict[str, tuple[str, str]] = {
    "concentration": ("it draws random vectors by the hundred", "quiz cosine has two of them"),
    "scaling": ("it draws random vectors by the hundred", "quiz attention has the step that divides by √d_k"),
    "transformer": ("a whole model has hundreds of steps", "quiz encoder-block and quiz decoder-block have its parts"),
}
"""What makes no exercise: why, and what does in its place."""

SIZES: dict[str, dict[str, int]] = {
    "pairwise": {"n": 3, "d": 3},
    "mips": {"m": 4},
    "analogy": {"m": 5},
    "next-token-loss": {"T": 3},
    "optimizer": {"t": 3},
    "linear-regression": {"N": 3, "o": 3},
    "mlp": {"o": 3, "h2": 3},
    "multihead": {"d_model": 5, "d_out": 3},
    "encoder-block": {"d_model": 5},
    "decoder-block": {"n": 3, "d_model": 5},
}
"""The sizes of axes that are long in the sample, or so short that mistakes cannot be told apart."""

ONE_OF: dict[str, tuple[Options, ...]] = {
    "softmax": ({"temperature": 2},),
    "likelihood": tuple({"p": p} for p in (0.2, 0.25, 0.4, 0.6, 0.7, 0.75, 0.8)),
    "complexity": tuple(
        {"n": n, "d_model": d, "heads": 2, "layers": layers, "d_ffn": 4 * d}
        for n in (4, 5, 6, 10)
        for d in (4, 8, 10)
        for layers in (1, 2, 3)
    ),
    "sinusoidal": tuple(
        {"n": n, "d": d, "start": start, "base": base}
        for n, d in ((3, 4), (4, 4), (3, 6), (4, 6))
        for start in (0, 1, 2, 5)
        for base in (100, 10000)
    ),
    "rope": ({"properties": False},),
    "alibi": tuple({"heads": heads, "n": n} for heads in (2, 4, 8) for n in (3, 4)),
    "t5-bias": tuple({"n": n, "max_distance": most} for n in (4, 5) for most in (6, 8, 12)),
    "batchnorm": ({"eps": 0.1},),
    "encoder-block": ({"eps": 0.1},),
    "decoder-block": ({"eps": 0.1},),
    "schedule": tuple(
        {"d_model": d, "warmup": warmup, "at": (1, warmup, 4 * warmup)} for d in (4, 16, 25) for warmup in (4, 9, 16)
    ),
    "descend": tuple(
        {"start": start, "lr": lr, "steps": 3} for start in (-4, -3, 2, 3, 4, 5) for lr in (0.1, 0.2, 0.25)
    ),
    "derivative": tuple({"at": x} for x in (-2, -1, 1, 2, 3)),
    "gradient": tuple({"at": {"x": x, "y": y}} for x in (-2, -1, 1, 2, 3) for y in (-2, -1, 1, 2)),
}
"""Options that go together, one set of which is taken."""

AT_HARD: dict[str, Options] = {
    "attention": {"causal": True},
    "multihead": {"causal": True},
    "encoder-block": {"causal": True},
    "minkowski": {"p": 4},
    "optimizer": {"weight_decay": 0.2, "kind": "adamw"},
}
"""What makes a hard exercise of a usual one."""

FORMULAS: dict[str, dict[str, tuple[str, ...]]] = {
    "derivative": {
        "easy": ("x**2 + 3*x", "2*x**2 - x", "x**2 - 4*x + 1"),
        "medium": ("x**3 - 3*x", "x**3 + 2*x**2", "x**4 - x"),
        "hard": ("x*exp(x)", "sin(x)*x**2", "exp(-x**2)", "x/(1 + x**2)"),
    },
    "gradient": {
        "easy": ("x**2 + 3*y", "x*y + y**2", "x**2 + x*y"),
        "medium": ("x**2*y - y**2", "x**2 + x*y + sin(y)", "x**3 - x*y**2"),
        "hard": ("x*exp(y)", "sin(x*y)", "x**2*y + exp(x - y)"),
    },
    "descend": {
        "easy": ("x**2", "(x - 1)**2"),
        "medium": ("x**2 - 2*x", "x**2 + x", "(x + 1)**2"),
        "hard": ("x**2 + sin(x)", "x**4/10 - x**2", "x**2 + exp(-x)"),
    },
}
"""Formulas in place of the sample's, by the level."""


def template(problem: str, random: Random, level: str) -> Problem:
    """The problem that a quiz of a calculation, or of its backward pass, starts from: its numbers are then drawn anew.

    A gradient arrives at every entry of a result; that of a single number is 1, as for a loss.
    """
    name, backward = told_apart(problem)
    if name in NOT_BY_HAND:
        why, mend = NOT_BY_HAND[name]
        raise OptionError(f"{name} makes no quiz: {why}", hint=mend)
    sample = samples.problem(name)
    options = dict(sample.options)
    inputs = {operand: given._replace(source="") for operand, given in sample.inputs.items()}
    if sets := ONE_OF.get(name):
        options |= sets[random.integers(len(sets))]
    if level == LEVELS[-1]:
        options |= AT_HARD.get(name, {})
    if name in FORMULAS:
        choice = FORMULAS[name][level]
        inputs["expression"] = Given(np.array(choice[random.integers(len(choice))]))
    whole = sample._replace(inputs=inputs, options=options)
    if backward and not backward.jacobian and (shape := write(whole).result.shape):
        inputs[UPSTREAM.name] = Given(np.ones(shape))
    return whole._replace(backward=backward)


def varies(problem: str) -> bool:
    """Whether templates of a calculation differ in more than their numbers."""
    name, _ = told_apart(problem)
    return name in FORMULAS or len(ONE_OF.get(name, ())) > 1
