"""The reference card: its page, section by section, and its JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attncalc.common.errors import both, flag, with_facts
from attncalc.record.card import Card, StepLine
from attncalc.render import View, pages_and
from attncalc.render.document import VERSION, document, written
from attncalc.render.page import Block, Heading, Page, Paragraph, Part, Point, Points, room, write
from attncalc.render.traces import options, table, typed

FORMATS = pages_and("json")
MANY = 4  # of so many groups with the same formulas only the first and the last are named


def shown(card: Card, format: str, view: View) -> str:
    """The card in a format of `FORMATS`."""
    return _json(card, view) if format == "json" else str(write(page(card, view), format, view))


def page(card: Card, view: View) -> Page:
    """The card as a page: its sections in reading order, and an example."""
    sections = [part for part in _sections(card) if part.blocks]
    about = (Paragraph(words, "about") for words in card.about)
    run = Paragraph(_run(card), "code")
    result = table(card.sample.outputs[0], card.sample, view)
    example = Part("section", Heading("Example"), (run, Points(tuple(_example(card))), result))
    return Page(card.calculation, (Heading(card.calculation), Paragraph(card.summary), *about, *sections, example))


def _sections(card: Card) -> Iterator[Part]:
    whole = Point(f"{card.sample.outputs[0].name} = {card.formula}", latex=card.latex)
    yield _section("Formula", [whole] if card.formula else [])
    yield _section("Operands", list(_operands(card)), columns=True)
    yield _section("Steps", [_step(line, number) for number, line in enumerate(card.steps, start=1)])
    yield _section("Options", list(_options(card)), columns=True)
    proved = "each is checked by a test" if card.laws else ""
    yield _section("What always holds", [Point(law, mark="· ") for law in card.laws], proved)
    yield _section("Cost", list(_costs(card)), _cost_remark(card), columns=True)
    yield _section("Common mistakes", [Point(f"{m.id}: {m.says}", m.hint) for m in card.mistakes])
    none = f"there is none: {card.no_gradient}" if card.no_gradient else ""
    yield _section("Gradient", list(map(_step, card.gradient)), none)
    yield _section("Sources", [Point(source, mark="· ") for source in card.reference.split("; ") if source])


def _section(title: str, points: list[Point], remark: str = "", *, columns: bool = False) -> Part:
    blocks: list[Block] = [Paragraph(remark, "remark")] if remark else []
    if points:
        blocks.append(Points(tuple(points), room(point.text for point in points) if columns else 0))
    return Part("section", Heading(title), tuple(blocks))


def _run(card: Card) -> str:
    *derivative, name = card.calculation.split(" ")
    if not derivative:
        return f"attncalc sample {name} | attncalc run -"
    given = card.sample.problem.inputs.get("upstream")
    upstream = f' --upstream "{typed(given)}"' if given else ""
    return f"attncalc sample {name} | attncalc {card.calculation} -{upstream}"


def _operands(card: Card) -> Iterator[Point]:
    for line in card.operands:
        name = line.name if line.symbol == line.name else f"{line.name} ({line.symbol})"
        shape = line.shape if line.required else f"{line.shape}, optional"
        yield Point(f"{name} {shape}", line.help)


def _options(card: Card) -> Iterator[Point]:
    for line in card.options:
        words = with_facts(line.help, line.default, line.range)
        yield Point(f"{line.flag} {line.takes}".strip(), words)


def _step(line: StepLine, number: int | None = None) -> Point:
    """A step with its number and shape, or a gradient, which is named by its symbol."""
    name = line.symbol if number is None else f"{line.group}/{line.name}" if line.group else line.name
    shape = f" → [{', '.join(line.axes)}]" if line.axes and number is not None else ""
    parts = both(line.likewise) if line.likewise else ""
    if len(line.likewise) >= MANY:
        parts = f"{line.likewise[0]} … {line.likewise[-1]}"
    same = f" (likewise in {parts})" if parts else ""
    latex = f"{line.symbol_latex} = {line.latex}" if line.latex else ""
    spoken = f" = {line.symbol}" if number is not None and line.symbol.startswith("∂") else ""
    mark = "" if number is None else f"{number}. "
    return Point(f"{name}{spoken} = {line.formula}{shape}", line.why + same, mark, latex)


def _costs(card: Card) -> Iterator[Point]:
    for line in card.steps:
        if line.flops_here:
            yield Point(line.name, _count(line.flops, line.flops_here))
    if card.flops_here and len(card.steps) > 1:
        yield Point("all together", _count(card.flops, card.flops_here))


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


def _example(card: Card) -> Iterator[Point]:
    """The sample's operands and options, as a user would type them."""
    for name, operand in card.sample.inputs.items():
        size = " × ".join(map(str, operand.value.shape)) + " numbers"
        yield Point(name, value=typed(operand) or size)
    for words in options(card.sample):
        name, _, value = words.partition(" = ")
        yield Point(flag(name), value=value)


def _json(card: Card, view: View) -> str:
    sample = document(card.sample, view)
    told: dict[str, Any] = {
        "attncalc": VERSION,
        "card": card.calculation,
        "summary": card.summary,
        "about": list(card.about),
        "formula": card.formula,
        "latex": card.latex,
        "operands": [line._asdict() for line in card.operands],
        "steps": [line._asdict() for line in card.steps],
        "options": [line._asdict() for line in card.options],
        "laws": list(card.laws),
        "flops": {"formula": card.flops, "here": card.flops_here, "uncounted": list(card.uncounted)},
        "mistakes": [mistake._asdict() for mistake in card.mistakes],
        "gradient": [line._asdict() for line in card.gradient],
        "no_gradient": card.no_gradient,
        "example": {key: sample[key] for key in ("inputs", "options", "outputs", "result")},
        "sources": [source for source in card.reference.split("; ") if source],
    }
    return written(told, view)
