"""The mistakes of learning-rate schedules: where counting starts, which of the two branches is taken."""

from __future__ import annotations

from fractions import Fraction

from attncalc.declare.mistake import Mistake, Scope, parts, wrong
from attncalc.language.graph import Node
from attncalc.language.ops import maximum, minimum

WIDER = "Does a wider model take longer steps?"


def _noam(s: Scope) -> tuple[Node, Node, Node, Node]:
    """d^(−1/2), s^(−1/2), s and warmup^(−3/2)."""
    width, smaller = parts(s.this, "mul")
    late, early = parts(smaller, "minimum")
    steps, warm = parts(early, "mul")
    return width, late, steps, warm


def _warmed(s: Scope) -> Node:
    width, late, steps, warm = _noam(s)
    count = parts(warm, "pow")[0]
    return width * minimum(late, steps * count ** -Fraction(1, 2))


def _from_step_zero(s: Scope) -> Node:
    width, _, steps, warm = _noam(s)
    before = steps - 1
    return width * minimum(before ** -Fraction(1, 2), before * warm)


def _grown(s: Scope) -> Node:
    width, _, _, _ = _noam(s)
    return parts(width, "pow")[0] ** Fraction(1, 2) * parts(s.this, "mul")[1]


def _larger(s: Scope) -> Node:
    width, late, steps, warm = _noam(s)
    return width * maximum(late, steps * warm)


NOAM = (
    wrong("noam-step0", "lr", _from_step_zero, says="steps counted from 0", hint="What is 0^(−1/2)?"),
    wrong(
        "noam-max",
        "lr",
        _larger,
        says="the larger of the two branches",
        hint="Which branch is smaller during the warm-up?",
    ),
    wrong(
        "noam-w05", "lr", _warmed, says="s·warmup^(−1/2)", hint="Do the two branches meet at the end of the warm-up?"
    ),
    wrong("noam-dplus", "lr", _grown, says="d_model^(+1/2)", hint=WIDER),
    wrong(
        "noam-no-d",
        "lr",
        lambda s: parts(s.this, "mul")[1],
        says="without d_model^(−1/2)",
        hint=WIDER,
    ),
)

MISTAKES: dict[str, tuple[Mistake, ...]] = {"schedule": NOAM}
"""Calculation → its mistakes, the commonest first."""
