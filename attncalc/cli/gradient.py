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


class Derivatives(Calculations):
    """`grad` or `jacobian`, with a command for every calculation."""

    def build(self, name: str) -> Command:
        """The calculation's command, with the options of the derivative."""
        assert self.name, "a group that is a command has its name"
        calculation = load(name)
        summary = f"{DERIVATIVES[self.name].says.format(name)} {description(calculation)}"
        return build(calculation, partial(_differentiate, calculation, self.name), summary, *_own(self.name))


def _own(derivative: str) -> Iterator[TyperOption]:
    """The options that a derivative takes beside those of the calculation."""
    section = "Jacobian" if derivative == "jacobian" else "Backward pass"
    if derivative == "grad":
        yield option("upstream", "∂L/∂result (ones: L is the sum of the result)", value="G", section=section)
    for name, (takes, says) in DERIVATIVES[derivative].options.items():
        if takes:
            yield option(name, says, value=takes, multiple=True, section=section)
        else:
            yield switch(name, says, section=section)


def _differentiate(calculation: Calculation, derivative: str, words: Sequence[str], **given: Any) -> int:
    from attncalc.problem import Backward

    wanted = Backward(settings.names(given["wrt"]), bool(given.get("gradcheck")), jacobian=derivative == "jacobian")
    return carry_out(calculation, words, given, wanted)


def command() -> Derivatives:
    """The group `grad`."""
    return Derivatives(
        name="grad",
        help="The backward pass of a calculation. It takes the calculation's own operands and options, and --upstream.",
    )


def jacobian() -> Derivatives:
    """The group `jacobian`."""
    return Derivatives(
        name="jacobian",
        help="The Jacobian of a small calculation: how each entry of the result changes with each entry of an operand.",
    )
