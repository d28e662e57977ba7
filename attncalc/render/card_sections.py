"""What a reference card says, section by section, in every format but JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from attncalc.card import Card, StepLine
from attncalc.render.parts import inline, options
from attncalc.text import both, flag, with_facts

MANY = 4  # parts that are worked out alike, from which on the first and the last stand for all


class Entry(NamedTuple):
    """One thing that is said: a name or a formula, the formula as LaTeX, and words about it."""

    text: str
    latex: str = ""
    words: str = ""
    mark: str = ""  # what stands in front of it: a number, a dot


class Section(NamedTuple):
    """A part of the card."""

    title: str
    entries: tuple[Entry, ...]
    remark: str = ""
    columns: bool = False  # whether what is said of each stands beside it, and not below


def sections(card: Card) -> list[Section]:
    """The parts that have something to say, in the order in which they are read."""
    return [section for section in _all_sections(card) if section.entries or section.remark]


def _all_sections(card: Card) -> Iterator[Section]:
    whole = Entry(f"{card.sample.outputs[0].name} = {card.formula}", latex=card.latex)
    yield Section("Formula", (whole,) if card.formula else ())
    yield Section("Operands", tuple(_operands(card)), columns=True)
    yield Section("Steps", tuple(_step(line, number) for number, line in enumerate(card.steps, start=1)))
    yield Section("Options", tuple(_options(card)), columns=True)
    proved = "each is checked by a test" if card.laws else ""
    yield Section("What always holds", tuple(Entry(law, mark="· ") for law in card.laws), proved)
    yield Section("Cost", tuple(_costs(card)), _cost_remark(card), columns=True)
    yield Section("Common mistakes", tuple(Entry(f"{m.id}: {m.says}", words=m.hint) for m in card.mistakes))
    backward = tuple(map(_step, card.gradient))
    yield Section("Gradient", backward, f"there is none: {card.no_gradient}" if card.no_gradient else "")
    yield Section("Sources", tuple(Entry(source, mark="· ") for source in card.reference.split("; ") if source))


def _operands(card: Card) -> Iterator[Entry]:
    for line in card.operands:
        name = line.name if line.symbol == line.name else f"{line.name} ({line.symbol})"
        shape = line.shape if line.required else f"{line.shape}, optional"
        yield Entry(f"{name} {shape}", words=line.help)


def _options(card: Card) -> Iterator[Entry]:
    for line in card.options:
        words = with_facts(line.help, line.default, line.range)
        yield Entry(f"{line.flag} {line.takes}".strip(), words=words)


def _step(line: StepLine, number: int | None = None) -> Entry:
    """A step with its number and shape, or that of a backward pass, which is spoken of by its symbol."""
    name = line.symbol if number is None else f"{line.group}/{line.name}" if line.group else line.name
    shape = f" → [{', '.join(line.axes)}]" if line.axes and number is not None else ""
    parts = both(line.likewise) if line.likewise else ""
    if len(line.likewise) >= MANY:
        parts = f"{line.likewise[0]} … {line.likewise[-1]}"
    same = f" (likewise in {parts})" if parts else ""
    latex = f"{line.symbol_latex} = {line.latex}" if line.latex else ""
    spoken = f" = {line.symbol}" if number is not None and line.symbol.startswith("∂") else ""
    mark = "" if number is None else f"{number}. "
    return Entry(f"{name}{spoken} = {line.formula}{shape}", latex, line.why + same, mark)


def _costs(card: Card) -> Iterator[Entry]:
    for line in card.steps:
        if line.flops_here:
            yield Entry(line.name, words=_count(line.flops, line.flops_here))
    if card.flops_here and len(card.steps) > 1:
        yield Entry("all together", words=_count(card.flops, card.flops_here))


def _count(formula: str, here: int) -> str:
    return f"{here:,}" if formula in (str(here), "") else f"{formula} = {here:,}"


def _cost_remark(card: Card) -> str:
    if not card.flops_here and not card.uncounted:
        return ""
    each = f", of one {card.turn}" if card.turn else ""
    sizes = {axis: n for g in card.sample.inputs.values() for axis, n in zip(g.axes, g.value.shape, strict=False)}
    here = ", ".join(f"{axis}={size}" for axis, size in sizes.items() if not axis.startswith("("))
    remark = f"floating-point operations{each}; in numbers for the example{here and ', ' + here}"
    return remark + (f"; not counted: {', '.join(card.uncounted)}" if card.uncounted else "")


def example(card: Card) -> Iterator[tuple[str, str]]:
    """The sample's operands and options, as one would type them."""
    for name, operand in card.sample.inputs.items():
        if text := inline(operand):
            yield name, text
        else:
            yield name, " × ".join(map(str, operand.value.shape)) + " numbers"
    for words in options(card.sample):
        name, _, value = words.partition(" = ")
        yield flag(name), value
