"""Formulas on a terminal: broken before their signs where they are wider than the page, and names cut to a width."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.console import Console, ConsoleOptions
from rich.text import Text

from attncalc.render.view import View
from attncalc.render.window import GAP

GLUE = "\xa0"
"""A blank at which no line is broken."""
WORD = rf"(?:[-+−=≈/⊙→] )?(?:\S*Σ\w* )?[\S{GLUE}]+\s*|\s+"  # a formula is broken before its sign; a Σ keeps its sum
FACTOR = r"(?<=\))(?=/\(|[·×]√?\((?![^()]*\)))"  # between brackets, but for those of a lone number
PIECE = r"[^×·,()|]+[×·,()|]*|[×·,()|]+"  # where a word without blanks may be broken: never in a number


class Chain:
    """`scores = Q·Kᵀ = [2×3]·[3×2]` on one line, or where that is too wide with each `=` below the first.

    Lines that are too wide even so are broken outside brackets rather than within them; further ones hang in.
    """

    def __init__(self, start: Text, links: Sequence[Text] = (), *, hang: int = 2) -> None:
        self.start, self.links, self.hang = start, links, hang

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        yield from self.lines(options.max_width)

    def lines(self, width: int) -> Iterator[Text]:
        """The lines on a page of that width."""
        start, links = self.start, self.links
        whole = Text(" ").join([start, *links])
        if not links or whole.cell_len <= width:
            yield from broken(whole, width, hang=self.hang)
            return
        below = start.cell_len + 1
        if below <= width // 2 and not any(_torn(link.plain, width - below - 2) for link in links):
            yield from broken(Text(" ").join([start, links[0]]), width, hang=below + 2)
            links = links[1:]
        else:  # after a long name the formula gets lines of its own
            yield from broken(start, width, hang=2)
            below = 4
        for link in links:
            yield from broken(link, width, indent=below, hang=2)


def broken(text: Text, width: int, *, indent: int = 0, hang: int = 0) -> Iterator[Text]:
    """The text from `indent` on, broken where it is wider than the page; further lines hang in more."""
    if indent + text.cell_len <= width:
        yield _indented(text, indent)
        return
    for number, line in enumerate(text.divide(_breaks(text.plain, width - indent, width - indent - hang))):
        line.rstrip()
        yield _indented(line, indent + hang * (number > 0))


def _indented(text: Text, indent: int) -> Text:
    text.plain = text.plain.replace(GLUE, " ")
    return Text(" " * indent, no_wrap=True).append_text(text)


def _breaks(text: str, first: int, further: int) -> list[int]:
    """The offsets at which lines begin: a first line of so many cells, then lines of so many.

    A line ends at the last sign that the fewest brackets enclose, in a list at a `;`, where that fills half of it.
    """
    found: list[int] = []
    places: list[tuple[int, float]] = []  # where the line may end, and how many brackets are open there
    start = offset = depth = 0
    for word in _pieces(text, further):
        for piece in re.split(FACTOR, word):
            if offset:
                places.append((offset, depth - 0.5 * text[:offset].endswith("; ")))
            while cell_len(text[start : offset + len(piece)].rstrip()) > (further if found else first) and places:
                least = further // 2 if found else first - further // 2
                late = [place for place in places if cell_len(text[start : place[0]]) >= least] or places[-1:]
                fewest = min(open_ for _, open_ in late)
                start = max(place for place, open_ in late if open_ == fewest)
                found.append(start)
                places = [place for place in places if place[0] > start]
            offset += len(piece)
            depth += sum(piece.count(sign) for sign in "([") - sum(piece.count(sign) for sign in ")]")
    return found


def _pieces(text: str, room: int) -> Iterator[str]:
    """What stays together: words; the factors of a long product; the bits of a name that is too long for a line."""
    for word in re.findall(WORD, text):
        if cell_len(word.rstrip()) <= room:
            yield word
            continue
        for piece in re.findall(PIECE, word):
            yield from chop_cells(piece, room) if cell_len(piece.rstrip()) > room else [piece]


def _torn(text: str, room: int) -> bool:
    """Whether a name in the text is too long for a line of that room."""
    return any(cell_len(piece) > room for word in text.split() for piece in re.findall(PIECE, word))


def right(text: str, width: int) -> str:
    """Text at the right of so many columns, however wide its characters are."""
    return " " * (width - cell_len(text)) + text


def shortened(text: str, width: int, view: View) -> str:
    """A label within so many columns, with the sign of a gap where it is cut."""
    text, gap = view.spell(text), view.spell(GAP)
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width) if width <= len(gap) else set_cell_size(text, width - len(gap)) + gap
