"""The reference card as a page: for the terminal, in plain lines, as Markdown, as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attncalc.card import Card
from attncalc.render.card_sections import Entry, Section, example, sections
from attncalc.render.parts import inline
from attncalc.render.view import View
from attncalc.text import NARROWEST

FORMATS = ("table", "plain", "markdown", "json")
PROSE = 100  # columns of a page that has no width of its own
WIDEST = 32  # characters of a name that words stand beside; a longer one has a line to itself


def page(card: Card, format: str, view: View) -> str:
    """The card in a format of `FORMATS`."""
    return {"table": _table, "plain": _plain, "markdown": _markdown, "json": _json}[format](card, view)


def _result(card: Card, format: str, view: View) -> str:
    from attncalc.render import render

    page = render(card.sample, format, view._replace(quiet=True))
    assert isinstance(page, str)
    return page


def _run(card: Card) -> str:
    *derivative, name = card.calculation.split(" ")
    if not derivative:
        return f"attncalc sample {name} | attncalc run -"
    given = card.sample.problem.inputs.get("upstream")
    upstream = f' --upstream "{inline(given)}"' if given else ""
    return f"attncalc sample {name} | attncalc {card.calculation} -{upstream}"


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
        for section in sections(card):
            yield from heading(section.title, section.remark)
            left = _left(section, width) if section.columns else 0
            for entry in section.entries:
                yield from said(entry, left)
        yield from heading("Example", _run(card))
        for name, value in example(card):
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
        if len(text) <= left and words:
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


def _left(section: Section, width: int) -> int:
    """How wide the column of names is: as most of them need, and narrower than what is said of them."""
    most = min(WIDEST, width // 2 - 4)
    return max((len(entry.text) for entry in section.entries if len(entry.text) <= most), default=4)


def _plain(card: Card, view: View) -> str:
    from attncalc.render.glyphs import to_words

    lines = [card.calculation, card.summary, *card.about]
    for section in sections(card):
        lines += ["", section.title, *filter(None, [section.remark])]
        for entry in section.entries:
            words = to_words(entry.text) if entry.latex else entry.text
            lines += [
                entry.mark.removeprefix("· ") + entry.text,
                *([f"in words: {words}"] if words != entry.text else []),
            ]
            lines += filter(None, [entry.words])
    lines += ["", "Example", _run(card), *(f"{name}: {value}" for name, value in example(card))]
    lines += [f"result: {card.sample.outputs[0].name}"]
    return "".join(f"{view.spell(line)}\n" for line in lines) + _result(card, "plain", view)


def _markdown(card: Card, view: View) -> str:
    from attncalc.render.glyphs import to_ascii
    from attncalc.render.markdown import code, math, plain

    blocks = [f"# {plain(card.calculation)}", plain(card.summary), *map(plain, card.about)]
    for section in sections(card):
        blocks += [f"## {section.title}"] + ([f"*{plain(section.remark)}*"] if section.remark else [])
        items = []
        for entry in section.entries:
            said = math(entry.latex) if entry.latex else code(entry.text) if section.columns else plain(entry.text)
            mark = entry.mark if entry.mark[:1].isdigit() else "- "
            items.append(mark + ": ".join(filter(None, (said, plain(entry.words)))))
        blocks += ["\n".join(items)] if items else []
    blocks += ["## Example", f"`{_run(card)}`"]
    blocks += ["\n".join(f"- {plain(name)}: {code(value)}" for name, value in example(card))]
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
