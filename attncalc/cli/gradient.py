"""`grad CALCULATION …` and `jacobian CALCULATION …`: the derivative of any calculation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from attncalc.calculations import load
from attncalc.cli import settings
from attncalc.cli.calculate import build, carry_out, description
from attncalc.cli.command import Command, option, switch
from attncalc.cli.groups import Calculations
from attncalc.derivatives import DERIVATIVES

if TYPE_CHECKING:
    from typer.core import TyperOption

    from attncalc.calculation import Calculation

BACKWARD, JACOBIAN = "Backward pass", "Jacobian"


class Gradients(Calculations):
    """`grad`, with a command for every calculation."""

    def build(self, name: str) -> Command:
        """The calculation's command, with the options of the backward pass."""
        calculation = load(name)
        return build(
            calculation,
            partial(_differentiate, calculation),
            f"{DERIVATIVES['grad'].says.format(name)} {description(calculation)}",
            option("upstream", "∂L/∂result (ones: L is the sum of the result)", value="G", section=BACKWARD),
            *_own("grad", BACKWARD),
        )


def _own(derivative: str, section: str) -> Iterator[TyperOption]:
    """The options that a derivative takes beside those of the calculation."""
    for name, (takes, says) in DERIVATIVES[derivative].options.items():
        if takes:
            yield option(name, says, value=takes, multiple=True, section=section)
        else:
            yield switch(name, says, section=section)


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
            f"{DERIVATIVES['jacobian'].says.format(name)} {description(calculation)}",
            *_own("jacobian", JACOBIAN),
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
