"""Running text laid out within a width, and lines turned into a page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.text import Text

from attncalc.render.view import View
from attncalc.render.window import GAP

WORD = r"(?:[-+−=/→] )?\S+\s*|\s+"  # a line of arithmetic is broken before its sign
PIECE = r"[^×·,()|]+[×·,()|]*|[×·,()|]+"  # where a word without blanks may be broken: never in a number


def flow(text: Text, width: int | None, *, indent: int = 0, hang: int = 0) -> Iterator[Text]:
    """The text from `indent` on, broken between words where it is wider than the page; further lines hang in more."""
    if width is None or indent + text.cell_len <= width:
        yield Text(" " * indent).append_text(text)
        return
    for number, line in enumerate(text.divide(_breaks(text.plain, width - indent, width - indent - hang))):
        line.rstrip()
        yield Text(" " * (indent + hang * (number > 0))).append_text(line)


def _breaks(text: str, first: int, further: int) -> list[int]:
    """The offsets at which lines begin: a first line of so many cells, then lines of so many."""
    found: list[int] = []
    offset, room = 0, first
    for piece in _pieces(text, further):
        if cell_len(piece.rstrip()) > room and offset:
            found.append(offset)
            room = further
        room -= cell_len(piece)
        offset += len(piece)
    return found


def _pieces(text: str, room: int) -> Iterator[str]:
    """What stays together: words; the factors of a long product; the bits of a name that is too long for a line."""
    for word in re.findall(WORD, text):
        if cell_len(word.rstrip()) <= room:
            yield word
            continue
        for piece in re.findall(PIECE, word):
            yield from chop_cells(piece, room) if cell_len(piece.rstrip()) > room else [piece]


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
    below = indent + start.cell_len + 1
    if below <= width // 2:
        yield from flow(Text(" ").join([start, links[0]]), width, indent=indent, hang=below - indent + 2)
        links = links[1:]
    else:  # after a long name the formula gets lines of its own
        yield from flow(start, width, indent=indent, hang=2)
        below = indent + 4
    for link in links:
        yield from flow(link, width, indent=below, hang=2)


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
