"""Where a line that is wider than the page is broken: prose between words, a formula before its signs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len, chop_cells

from attncalc.render.flow import GLUE

WORD = rf"(?:[-+−=≈/⊙→] )?(?:\S*Σ\w* )?[\S{GLUE}]+\s*|\s+"  # a formula is broken before its sign; a Σ keeps its sum
FACTOR = r"(?<=\))(?=/\(|[·×]√?\((?![^()]*\)))"  # between brackets, but for those of a lone number
PIECE = r"[^×·,()|]+[×·,()|]*|[×·,()|]+"  # where a word without blanks may be broken: never in a number


def in_prose(text: str, first: int, further: int) -> list[int]:
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


def in_a_formula(text: str, first: int, further: int) -> list[int]:
    """The same for a formula: a line ends at the last sign that the fewest brackets enclose, in a list at a `;`."""
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


def torn(text: str, room: int) -> bool:
    """Whether a name in the text is too long for a line of that room."""
    return any(cell_len(piece) > room for word in text.split() for piece in re.findall(PIECE, word))
