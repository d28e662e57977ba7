"""A calculation's command, and those of its derivatives, made from its declaration."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attncalc.calculations import load
from attncalc.cli.command import FURTHER, Command, made
from attncalc.cli.settings import Arithmetic, Check, Marking, Shown, Tables, chosen, option, switch
from attncalc.common.text import either, flag, with_facts
from attncalc.declare.spelling import DERIVATIVES, default_word, shape_words, value_word

if TYPE_CHECKING:  # NumPy comes with these; it loads faster with the calculation, when the command line stands
    from attncalc.declare.calculation import Calculation
    from attncalc.declare.operands import Operand, Option

BY_POSITION, BY_NAME = "Operands, by position or by name", "Operands, by name"
WIDEST = 30  # what an option takes is spelled out beside its name up to here, else in its help
DETAILS = 3  # from so many options on that begin with another one's name, they are details of that
SHORT = {"-q": "--quiet", "-d": "--digits", "-f": "--format", "-o": "--output"}


def calculate(
    calculation: "Calculation",
    derivative: str,
    *,
    operands: Annotated[list[str] | None, typer.Argument(metavar="")] = None,
    own: Mapping[str, Any],
    shown: Shown,
    arithmetic: Arithmetic,
    check: Check = None,
    marking: Annotated[Marking, FURTHER],
    tables: Annotated[Tables, FURTHER],
) -> int:
    """Calculate and show the result, or check an answer in its place: the exit status.

    `own` are the calculation's operands that were given by name, its options, and those of the derivative.
    """
    from attncalc.cli.solving import carry_out  # a door: only here is anything calculated

    asked = chosen(shown, arithmetic, check, marking)
    return carry_out(calculation, derivative, operands or (), own, asked, check, marking, tables)


def command_of(name: str, derivative: str = "") -> Command:
    """The command of a calculation: `attncalc [grad|jacobian] NAME [OPERANDS] [OPTIONS]`."""
    calculation = load(name)
    about = f"{calculation.doc}\n\nSource: {calculation.reference}" if calculation.reference else calculation.doc
    if derivative:
        about = f"{DERIVATIVES[derivative].says.format(name)} {about}"
    spoken = {each.name for each in calculation.operands}, {each.name for each in calculation.options}
    command = made(
        name,
        partial(calculate, calculation, derivative),
        own=_own(calculation) | _of_derivative(derivative) | _weights(calculation),
        about=about,
        # -q alone may be meant for --q, and -d 3 for --d 3, but -f json never for the operand f
        ambiguous={short: long for short, long in SHORT.items() if short[1:] in spoken[long != "--quiet"]},
    )
    positional = [each for each in calculation.operands if each.positional]
    command.params[0].metavar = " ".join(each.name if each.required else f"[{each.name}]" for each in positional)
    return command


def _own(calculation: "Calculation") -> dict[str, Any]:
    """The options of the operands and of the calculation: their names → their annotations."""
    operands = {each.name: _operand(each) for each in calculation.operands if is_spoken(each)}
    details = _details(calculation)
    return operands | {each.name: _option(each, details.get(each.name, "")) for each in calculation.options}


def is_spoken(operand: "Operand") -> bool:
    """Whether an operand has an option; a model's `output` comes with the model: --output is where a page goes."""
    return operand.name != "output"


def _details(calculation: "Calculation") -> dict[str, str]:
    """Options that only matter with another one → that one: of rope, all those whose names begin with `rope_`.

    So do those whose help begins with a choice of the other: `yarn: …` of a scaling that may be yarn.
    """
    found: dict[str, str] = {}
    for other in calculation.options:
        choices = tuple(f"{word}{mark}" for word in other.choices for mark in (":", ","))
        named = [each.name for each in calculation.options if each.name.startswith(other.name + "_")]
        told = [each.name for each in calculation.options if choices and each.help.startswith(choices)]
        for family in (named, told):
            if len(family) >= DETAILS:
                found = dict.fromkeys(family, other.name) | found
    return found


def _operand(operand: "Operand") -> Any:
    section = BY_POSITION if operand.positional else BY_NAME
    shapes = shape_words(operand)
    parts = [shapes if operand.required else f"{shapes}, optional", operand.help]
    return Annotated[str | None, option(section, flag(operand.name), operand.symbol, ": ".join(filter(None, parts)))]


def _option(declared: "Option", detail_of: str) -> Any:
    takes, about = value_word(declared), declared.help
    section = f"With {flag(detail_of)}" if detail_of else "Options"
    marks = (FURTHER,) if detail_of else ()
    if len(takes) > WIDEST:
        takes, about = "WORD", f"{about}: {either(declared.choices)}"
    about = with_facts(about, default_word(declared), str(declared.range))
    if takes:
        given = option(section, flag(declared.name), takes, about, choices=declared.choices)
        return Annotated[str | None, given, *marks]
    on = flag(declared.name)
    off = on.replace("-no-", "-") if "-no-" in on else "--no-" + on[2:]
    return Annotated[bool | None, switch(section, f"{on}/{off}", about), *marks]


def _of_derivative(derivative: str) -> dict[str, Any]:
    """The options that a derivative takes beside those of the calculation."""
    if not derivative:
        return {}
    section = "Jacobian" if derivative == "jacobian" else "Backward pass"
    found: dict[str, Any] = {}
    if derivative == "grad":
        about = "∂L/∂result (ones: L is the sum of the result)"
        found["upstream"] = Annotated[str | None, option(section, "--upstream", "G", about)]
    for name, (takes, says) in DERIVATIVES[derivative].options.items():
        if takes:
            found[name] = Annotated[list[str] | None, option(section, flag(name), takes, says)]
        else:
            found[name] = Annotated[bool | None, switch(section, flag(name), says)]
    return found


def _weights(calculation: "Calculation") -> dict[str, Any]:
    """The option of a file that holds all weights, where there are any."""
    if not calculation.has_weights:
        return {}
    from attncalc.declare.operands import WEIGHTS  # a door: as above

    given = option(BY_NAME, flag(WEIGHTS), "FILE", "one file that holds all weights by name")
    return {WEIGHTS: Annotated[str | None, given]}
