"""`grad CALCULATION …` and `jacobian CALCULATION …`: the derivative of any calculation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from attncalc.calculations import load
from attncalc.cli import settings
from attncalc.cli.calculate import build, carry_out, description
from attncalc.cli.command import Command, option, switch
from attncalc.cli.groups import Calculations

if TYPE_CHECKING:
    from attncalc.calculation import Calculation

SECTION = "Backward pass"


class Gradients(Calculations):
    """`grad`, with a command for every calculation."""

    def build(self, name: str) -> Command:
        """The calculation's command, with the options of the backward pass."""
        calculation = load(name)
        return build(
            calculation,
            partial(_differentiate, calculation),
            f"The backward pass of {name}. {description(calculation)}",
            option("upstream", "∂L/∂result (ones: L is the sum of the result)", value="G", section=SECTION),
            option(
                "wrt",
                "only these gradients",
                value="NAME,NAME,…",
                multiple=True,
                section=SECTION,
            ),
            switch("gradcheck", "compare each gradient with central differences", section=SECTION),
        )


def _differentiate(calculation: Calculation, words: Sequence[str], **given: Any) -> int:
    from attncalc.problem import Backward

    return carry_out(calculation, words, given, Backward(settings.names(given["wrt"]), bool(given["gradcheck"])))


class Jacobians(Calculations):
    """`jacobian`, with a command for every calculation."""

    def build(self, name: str) -> Command:
        """The calculation's command, with the operands to differentiate by."""
        calculation = load(name)
        return build(
            calculation,
            partial(_all_slopes, calculation),
            f"The Jacobian of {name}: how every entry of the result changes with every entry of an operand. "
            f"{description(calculation)}",
            option("wrt", "only with respect to these", value="NAME,NAME,…", multiple=True, section="Jacobian"),
        )


def _all_slopes(calculation: Calculation, words: Sequence[str], **given: Any) -> int:
    from attncalc.problem import Backward

    return carry_out(calculation, words, given, Backward(settings.names(given["wrt"]), jacobian=True))


def jacobian() -> Jacobians:
    """The group `jacobian`."""
    return Jacobians(
        name="jacobian",
        help="The Jacobian of a small calculation: how each entry of the result changes with each entry of an operand.",
    )


def command() -> Gradients:
    """The group `grad`."""
    return Gradients(
        name="grad",
        help="The backward pass of a calculation. It takes the calculation's own operands and options, and --upstream.",
    )
