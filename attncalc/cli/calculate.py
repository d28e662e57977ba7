"""A calculation's command, generated from its declaration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from typer.core import TyperOption

from attncalc.calculations import load
from attncalc.cli import sections, settings
from attncalc.cli.command import Command, option
from attncalc.cli.solving import posed, solve_and_show
from attncalc.spelling import default_word, shape_words, value_word
from attncalc.text import either, with_facts

if TYPE_CHECKING:
    from attncalc.calculation import Calculation, Operand, Option
    from attncalc.inputs import Gathered
    from attncalc.problem import Backward
    from attncalc.trace import Given

BY_NAME = "Operands, by name"
WIDEST = 30  # what an option takes is spelled out beside its name up to here, else in its help


def calculation_command(name: str) -> Command:
    """The command of a calculation: `attncalc NAME [OPERANDS] [OPTIONS]`."""
    calculation = load(name)
    return build(calculation, partial(_calculate, calculation), description(calculation))


def _calculate(calculation: Calculation, words: Sequence[str], **given: Any) -> int:
    return carry_out(calculation, words, given)


def build(calculation: Calculation, callback: Callable[..., int], summary: str, *further: TyperOption) -> Command:
    """A command that takes what the calculation takes, and `further` options."""
    own = [
        *(_operand(each) for each in _spoken(calculation)),
        *(_option(each) for each in calculation.options),
        *further,
    ]
    if calculation.has_weights:
        from attncalc.calculation import WEIGHTS  # at hand by now; above, NumPy would load before the command line

        own.append(option(WEIGHTS, "one file that holds all weights by name", value="FILE", section=BY_NAME))
    known = [
        *sections.output_options(),
        *sections.arithmetic_options(),
        *sections.checking_options(),
        *sections.reading_options(),
    ]
    operands = {f"-{each.name}" for each in calculation.operands}
    options = {f"-{each.name}" for each in calculation.options}
    return Command(
        calculation.name,
        callback,
        [*own, *known],
        summary=summary,
        usage=usage(calculation),
        ambiguous={o.opts[0]: o.opts[-1] for o in known if o.opts[0] in (operands if o.is_flag else options)},
    )


def carry_out(
    calculation: Calculation, words: Sequence[str], given: settings.Words, backward: Backward | None = None
) -> int:
    """Read the operands, calculate, and show the result; or check an answer in its place: the exit status."""
    from attncalc.calculation import WEIGHTS
    from attncalc.inputs import gather

    chosen = settings.chosen(given)
    named = {o.name: given[o.name] for o in _spoken(calculation) if given[o.name] is not None}
    named |= {name: given[name] for name in ("upstream", WEIGHTS) if given.get(name) is not None}
    options = _options(calculation, given)
    reading = settings.reading(given)
    places = [o.name for o in calculation.operands if o.positional and o.name not in named]
    spoken = named | dict(zip(places, words, strict=False))
    shapes = _shapes(calculation, spoken) if chosen.symbolic and len(words) <= len(places) else {}
    if shapes:  # what has a name needs no place
        named, words = {name: word for name, word in spoken.items() if name not in shapes}, ()
    gathered = gather(calculation, words, named, options, reading, backward=backward is not None)
    inputs = _with_letters(calculation, gathered, shapes) if chosen.symbolic else gathered.inputs
    problem = posed(calculation, inputs, gathered.options, backward)
    if given["check"] is not None:
        from attncalc.cli.checking import check_and_show, key_to

        return check_and_show(key_to(problem, chosen.target), given["check"], given, chosen.target, reading)
    solve_and_show(problem, chosen, reading)
    return 0


def _options(calculation: Calculation, given: settings.Words) -> dict[str, Any]:
    """The values of the calculation's options that were given, or which is at fault: told before any file is read."""
    found = {option.name: given[option.name] for option in calculation.options if given[option.name] is not None}
    if not found:
        return {}
    from attncalc.options import checked  # many calls give none

    return checked(calculation, found)


def _shapes(calculation: Calculation, spoken: Mapping[str, str]) -> dict[str, str]:
    """The operands of letters, of all that are spoken of: those whose word is a shape, `2x3` or `3`."""
    from attncalc.exact import can_be_letters, is_shape

    lettered = {o.name for o in calculation.operands if can_be_letters(o)}
    return {name: word for name, word in spoken.items() if name in lettered and is_shape(word)}


def _with_letters(calculation: Calculation, gathered: Gathered, shapes: dict[str, str]) -> dict[str, Given]:
    """The operands, those without numbers filled with letters."""
    from attncalc.exact import in_letters

    options = calculation.defaults | gathered.options
    known = {axis: options[name] for axis, name in calculation.sizes.items() if options.get(name) is not None}
    asked = {name: tuple(map(int, word.split("x"))) for name, word in shapes.items()}
    return in_letters(calculation, gathered.inputs, asked, known)


def _spoken(calculation: Calculation) -> list[Operand]:
    """The operands that have an option; a model's `output` comes with the model, for --output is where a page goes."""
    return [operand for operand in calculation.operands if operand.name != "output"]


def description(calculation: Calculation) -> str:
    """What the calculation does, and where that is from."""
    return f"{calculation.doc}\n\nSource: {calculation.reference}" if calculation.reference else calculation.doc


def usage(calculation: Calculation) -> str:
    """The operands that come by position, those that may be left out in brackets: `q [k] [v]`."""
    return " ".join(o.name if o.required else f"[{o.name}]" for o in calculation.operands if o.positional)


def _operand(operand: Operand) -> TyperOption:
    section = "Operands, by position or by name" if operand.positional else BY_NAME
    shapes = shape_words(operand)
    parts = [shapes if operand.required else f"{shapes}, optional", operand.help]
    return option(operand.name, ": ".join(filter(None, parts)), value=operand.symbol, section=section)


def _option(declared: Option) -> TyperOption:
    value, text = value_word(declared), declared.help
    if len(value) > WIDEST:
        value, text = "WORD", f"{text}: {either(declared.choices)}"
    text = with_facts(text, default_word(declared), str(declared.range))
    return option(declared.name, text, value=value, choices=declared.choices, section="Options")
