"""Running text laid out within a width, and lines turned into a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from attncalc.render.view import View
from attncalc.render.window import GAP

GLUE = "\xa0"
"""A blank at which no line is broken."""


def flow(text: Text, width: int | None, *, indent: int = 0, hang: int = 0, formula: bool = False) -> Iterator[Text]:
    """The text from `indent` on, broken between words where it is wider than the page; further lines hang in more.

    A formula is broken outside its brackets rather than within them, where that fills half the line or more.
    """
    if width is None or indent + text.cell_len <= width:
        yield Text(" " * indent).append_text(text)
        return
    from attncalc.render.breaks import in_a_formula, in_prose  # most lines of most pages fit

    breaks = in_a_formula if formula else in_prose
    for number, line in enumerate(text.divide(breaks(text.plain, width - indent, width - indent - hang))):
        line.rstrip()
        yield Text(" " * (indent + hang * (number > 0))).append_text(line)


def right(text: str, width: int) -> str:
    """Text at the right of so many columns, however wide its characters are."""
    return " " * (width - cell_len(text)) + text


def shortened(text: str, width: int, view: View) -> str:
    """A label within so many columns, with the sign of a gap where it is cut."""
    text, gap = view.spell(text), view.spell(GAP)
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width) if width <= len(gap) else set_cell_size(text, width - len(gap)) + gap


def chain(start: Text, links: Sequence[Text], width: int | None, *, indent: int = 0) -> Iterator[Text]:
    """`scores = Q·Kᵀ = [2×3]·[3×2]` on one line, or where that is too wide with each `=` below the first."""
    whole = Text(" ").join([start, *links])
    if width is None or not links or indent + whole.cell_len <= width:
        yield from flow(whole, width, indent=indent, hang=2)
        return
    from attncalc.render.breaks import torn  # as above

    below = indent + start.cell_len + 1
    if below <= width // 2 and not any(torn(link.plain, width - below - 2) for link in links):
        yield from flow(Text(" ").join([start, links[0]]), width, indent=indent, hang=below - indent + 2, formula=True)
        links = links[1:]
    else:  # after a long name the formula gets lines of its own
        yield from flow(start, width, indent=indent, hang=2)
        below = indent + 4
    for link in links:
        yield from flow(link, width, indent=below, hang=2, formula=True)


def assembled(lines: Iterable[Text], view: View) -> str:
    """The lines as a page: plain, or with the colours' escape codes."""
    if not view.color:
        return "".join(line.plain.rstrip() + "\n" for line in lines)
    from io import StringIO

    from rich.console import Console

    page = StringIO()
    console = Console(
        file=page, force_terminal=True, color_system="256", no_color=False, legacy_windows=False, _environ={}
    )
    for line in lines:
        filled = max((span.end for span in line.spans if " on " in str(span.style)), default=0)
        shown = line[: max(len(line.plain.rstrip()), filled)]  # blanks on a colour of their own stay
        console.print(shown, soft_wrap=True, markup=False, emoji=False, highlight=False)
    return page.getvalue()
