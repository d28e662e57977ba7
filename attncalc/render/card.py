"""The reference card as a page: for the terminal, in plain lines, as Markdown, as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from attncalc.card import Card, StepLine
from attncalc.render.parts import inline, options
from attncalc.render.view import NARROWEST, View
from attncalc.text import both, with_facts

FORMATS = ("table", "plain", "markdown", "json")
PROSE = 100  # columns of a page that has no width of its own
MANY = 4  # parts that are worked out alike, from which on the first and the last stand for all
WIDEST = 32  # characters of a name that words stand beside; a longer one has a line to itself


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


def page(card: Card, format: str, view: View) -> str:
    """The card in a format of `FORMATS`."""
    return {"table": _table, "plain": _plain, "markdown": _markdown, "json": _json}[format](card, view)


# What is said, in every format but JSON


def _sections(card: Card) -> list[Section]:
    """The parts that have something to say, in the order in which they are read."""
    return [section for section in _all_sections(card) if section.entries or section.remark]


def _all_sections(card: Card) -> Iterator[Section]:
    whole = Entry(f"{card.sample.outputs[0].name} = {card.formula}", latex=card.latex)
    yield Section("Formula", (whole,) if card.formula else ())
    yield Section("Operands", tuple(_operands(card)), columns=True)
    yield Section("Steps", tuple(_step(line, number) for number, line in enumerate(card.steps, start=1)))
    yield Section("Options", tuple(_options(card)), columns=True)
    proved = "each is proved by a test" if card.laws else ""
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
    return Entry(f"{name} = {line.formula}{shape}", latex, line.why + same, "" if number is None else f"{number}. ")


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


def _example(card: Card) -> Iterator[tuple[str, str]]:
    """The sample's operands and options, as one would type them."""
    for name, operand in card.sample.inputs.items():
        if text := inline(operand):
            yield name, text
        else:
            yield name, " × ".join(map(str, operand.value.shape)) + " numbers"
    for words in options(card.sample):
        name, _, value = words.partition(" = ")
        yield f"--{name.replace('_', '-')}", value


def _result(card: Card, format: str, view: View) -> str:
    from attncalc.render import render

    page = render(card.sample, format, view._replace(quiet=True))
    assert isinstance(page, str)
    return page


def _run(card: Card) -> str:
    return f"attncalc sample {card.calculation} | attncalc run -"


# The formats


def _table(card: Card, view: View) -> str:
    from rich.text import Text

    from attncalc.render.flow import assembled, flow
    from attncalc.render.tables import ACCENT, REASON

    width = view.columns or PROSE

    def lines() -> Iterator[Text]:
        yield Text(view.spell(card.calculation), ACCENT)
        yield from flow(Text(view.spell(card.summary)), width)
        for paragraph in card.about:
            yield Text()
            yield from flow(Text(view.spell(paragraph)), width)
        for section in _sections(card):
            yield from heading(section.title, section.remark)
            left = _left(section) if section.columns else 0
            for entry in section.entries:
                yield from said(entry, left)
        yield from heading("Example", _run(card))
        for name, value in _example(card):
            yield from flow(Text.assemble((view.spell(name), "bold"), view.spell(f" = {value}")), width, indent=2)
        if card.sample.result.ndim:
            yield Text()
            yield Text.assemble("  ", (view.spell(card.sample.outputs[0].name), "bold"), " =")
            yield Text()

    def heading(title: str, remark: str) -> Iterator[Text]:
        yield Text()
        yield Text(view.spell(title), ACCENT)
        yield from flow(Text(view.spell(remark), REASON), width, indent=2) if remark else ()

    def said(entry: Entry, left: int) -> Iterator[Text]:
        text, words = view.spell(entry.mark + entry.text), view.spell(entry.words)
        if len(text) <= left and words and width >= 2 * left:
            beside = Text.assemble("  ", (f"{text:<{left + 2}}", "bold"), (words, REASON))
            yield from flow(beside, width, hang=left + 4)
            return
        below = len(entry.mark) or 4
        yield from flow(Text(text, "bold" if left else ""), width, indent=2, hang=below)
        yield from flow(Text(words, REASON), width, indent=left + 4 if left else 2 + below) if words else ()

    margin = "" if view.columns == NARROWEST else "  "  # a table is laid out for no less
    narrower = view._replace(width=None if view.columns is None else view.columns - len(margin))
    rows = _result(card, "table", narrower).splitlines()
    if not card.sample.result.ndim:
        rows[0] = f"{view.spell(card.sample.outputs[0].name)} = {rows[0]}"
    return assembled(lines(), view) + "".join(f"{margin}{line}\n" if line else "\n" for line in rows)


def _left(section: Section) -> int:
    """How wide the column of names is: as most of them need."""
    return max((len(entry.text) for entry in section.entries if len(entry.text) <= WIDEST), default=WIDEST)


def _plain(card: Card, view: View) -> str:
    from attncalc.render.glyphs import to_words

    lines = [card.calculation, card.summary, *card.about]
    for section in _sections(card):
        lines += ["", section.title, *filter(None, [section.remark])]
        for entry in section.entries:
            words = to_words(entry.text) if entry.latex else entry.text
            lines += [
                entry.mark.removeprefix("· ") + entry.text,
                *([f"in words: {words}"] if words != entry.text else []),
            ]
            lines += filter(None, [entry.words])
    lines += ["", "Example", _run(card), *(f"{name}: {value}" for name, value in _example(card))]
    lines += [f"result: {card.sample.outputs[0].name}"]
    return "".join(f"{view.spell(line)}\n" for line in lines) + _result(card, "plain", view)


def _markdown(card: Card, view: View) -> str:
    from attncalc.render.glyphs import to_ascii
    from attncalc.render.markdown import code, math, plain

    blocks = [f"# {plain(card.calculation)}", plain(card.summary), *map(plain, card.about)]
    for section in _sections(card):
        blocks += [f"## {section.title}"] + ([f"*{plain(section.remark)}*"] if section.remark else [])
        items = []
        for entry in section.entries:
            said = math(entry.latex) if entry.latex else code(entry.text) if section.columns else plain(entry.text)
            mark = entry.mark if entry.mark[:1].isdigit() else "- "
            items.append(mark + ": ".join(filter(None, (said, plain(entry.words)))))
        blocks += ["\n".join(items)] if items else []
    blocks += ["## Example", f"`{_run(card)}`"]
    blocks += ["\n".join(f"- {plain(name)}: {code(value)}" for name, value in _example(card))]
    blocks += [f"{plain(card.sample.outputs[0].name)}:", _result(card, "markdown", view)]
    text = "\n\n".join(block for block in blocks if block)
    return text if view.unicode else to_ascii(text)


def _json(card: Card, view: View) -> str:
    from attncalc.render.document import VERSION, document, written

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
