"""Formulas on a terminal: broken before their signs where they are wider than the page, and names cut to a width."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from itertools import accumulate, pairwise

from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions
from rich.text import Text

from attncalc.common.system import NamedTuple

GLUE = "\xa0"
"""A blank at which no line is broken."""

THAN = "(?:[<≤=≥>≠]|<=|>=|!=)"
PLACE = rf"\[[^][;]*\]|\([^][(),]* {THAN} [^][(),]*\)"  # `[step 1]`, or what decided, `(4 > 2)`: it stays together
LOOSE = rf"[-+−≈→]|->|{THAN}|else|and|or|for every|where(?: \w+ {THAN})?"  # a formula is broken before it
TIGHT = "[/⊙⊗·×]"  # and before this rather where there is nothing of the former
WORD = rf"(?:(?:{LOOSE}|{TIGHT}) )?(?:\S*Σ\w* )?(?:{PLACE}|[\S{GLUE}])+\s*|\s+"  # a Σ keeps its sum
FACTOR = r"(?<=[])ᵀ])(?:/(?=\()|[·×](?=[^\d(]|√?\((?![^()]*\))))"  # between brackets, but for those of a lone number
TIMES = r"(?<=\S)[·×]"
BARRED = r"(?:^|(?<=[][( ^·×√−-]))\|"  # a bar that opens
OPENED = rf"[(\[]|{BARRED}"
CLOSED = ")]|"
SPLIT = (", ", "; ")
LAST = r"(?<=[,#)])(?=[^,#)²ᵀ])"  # in a name that is too long for a line

HANG = 4
"""Columns before what stands below a name."""
DEEP = 1.5
"""What a bracket costs in which a line ends; a line costs 1."""


class _Break(NamedTuple):
    """A place at which a line may begin, and what it costs."""

    at: int
    cost: float


class Way(Enum):
    """Where what follows a name stands on a page that is too narrow for one line."""

    BESIDE = "each `=` below the first"
    NAMED = "below the name, but for the first of them"
    UNDER = "below the name"


class Chain:
    """`scores = Q·Kᵀ = [2×3]·[3×2]` on one line, or where that is too wide with each `=` below the first.

    After a long name, and where that saves lines or brackets in which lines end, they stand below the name. Lines that
    are too wide even so are broken outside brackets rather than within them; further ones hang in.
    """

    def __init__(self, start: Text, links: Sequence[Text] = (), *, hang: int = 2) -> None:
        self.start, self.links, self.hang = start, links, hang

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        yield from self.lines(options.max_width)

    def lines(self, width: int, way: Way | None = None) -> Iterator[Text]:
        """The lines on a page of that width."""
        whole = Text(" ").join([self.start, *self.links])
        if not self.links or whole.cell_len <= width:
            return broken(whole, width, hang=self.hang, is_formula=bool(self.links))
        lines, _ = self.laid(width, cheapest([self], width) if way is None else way)
        return (line for text, indent, hang in lines for line in broken(text, width, indent=indent, hang=hang))

    def laid(self, width: int, way: Way) -> tuple[Sequence[tuple[Text, int, int]], float]:
        """What stands on lines of its own, with its indent and that of its further lines; and what that costs."""
        start, (first, *others) = self.start, self.links
        whole, joint = (Text(" ").join(texts) for texts in ([start, *self.links], self.links))
        named = Text.assemble(start, GLUE, first)
        named.plain = named.plain.replace(f"{GLUE}= ", f"{GLUE}={GLUE}")  # a name is not left alone with the sign below
        if whole.cell_len <= width:
            return [(whole, 0, 0)], 0
        below = start.cell_len + 1
        found, cost = [(named, 0, below + 2), *((link, below, 2) for link in others)], 0.0
        if way is Way.NAMED:
            found = [(named, 0, HANG + 2), *((link, HANG, 2) for link in others)]
        if way is Way.UNDER:
            is_joint = HANG + joint.cell_len <= width
            found = [(start, 0, 2), *((link, HANG, 2) for link in ([joint] if is_joint else self.links))]
            cost = 1.0 if is_joint else 0
        if (way is Way.BESIDE and below > width // 2) or (way is Way.NAMED and named.cell_len > width):
            cost = float("inf")
        spaces = ((text.plain, width - indent, width - indent - hang) for text, indent, hang in found)
        return found, cost + sum(1 + sum(each.cost for each in _breaks(*space)) for space in spaces)


class Chains:
    """The lines of one step, all of which are broken in the same way."""

    def __init__(self, chains: Sequence[Chain]) -> None:
        self.chains = chains

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        yield from self.lines(options.max_width)

    def lines(self, width: int) -> Iterator[Text]:
        """The lines on a page of that width."""
        way = cheapest(self.chains, width)
        return (line for chain in self.chains for line in chain.lines(width, way))


def cheapest(chains: Sequence[Chain], width: int) -> Way:
    """The way in which the lines of all of these cost the least; of equals the first."""
    return min(Way, key=lambda way: sum(chain.laid(width, way)[1] for chain in chains if chain.links))


def broken(text: Text, width: int, *, indent: int = 0, hang: int = 0, is_formula: bool = True) -> Iterator[Text]:
    """The text from `indent` on, broken where it is wider than the page; further lines hang in more."""
    starts = [each.at for each in _breaks(text.plain, width - indent, width - indent - hang, is_formula=is_formula)]
    for at, line in enumerate(text.divide(starts)):
        line.rstrip()
        line.plain = line.plain.replace(GLUE, " ")
        yield Text(" " * (indent + hang * (at > 0)), no_wrap=True).append_text(line)


def _breaks(text: str, first: int, further: int, *, is_formula: bool = True) -> Sequence[_Break]:
    """Where lines begin, a first one of so many cells and then lines of so many: as it costs the least.

    A line that ends within brackets, though it holds a place outside of them, costs that once more.
    """
    if cell_len(text) <= first:
        return ()
    places = [_Break(0, 0), *_places(text, max(further, 1), is_formula), _Break(len(text), 0)]
    last = len(places) - 1
    best: list[tuple[float, int]] = [(0.0, last)] * (last + 1)  # what the rest costs from a place on, and the next one
    for start in reversed(range(last)):
        room = further if start else first
        found, least = (float("inf"), last), float("inf")
        for end in range(start + 1, last + 1):
            if end > start + 1 and cell_len(text[places[start].at : places[end].at].rstrip()) > room:
                break
            cost = places[end].cost
            found = min(found, (cost + max(0, cost - least) + best[end][0], -end))  # of equals the longest line
            least = min(least, cost)
        best[start] = (found[0], -found[1])
    chosen = [best[0][1]]
    while chosen[-1] < last:
        chosen.append(best[chosen[-1]][1])
    return [places[each] for each in chosen[:-1]]


def _places(text: str, room: int, is_formula: bool) -> Iterator[_Break]:
    """Where a line may begin: before signs and words, between factors, at last within what is too long for a line."""
    found: dict[int, float] = {}
    for word in re.finditer(WORD, text):
        start, sign = word.start(), word[0].split(" ")[0]
        is_tight = re.fullmatch(TIGHT, sign) is not None
        is_loose = re.fullmatch(LOOSE.replace("for every", "for"), sign) or text[max(start - 2, 0) : start] in SPLIT
        found[start] = 0.3 if is_tight else 0 if is_loose else 0.6
    for pattern, cost in ((TIMES, 0.8), (FACTOR, 0.3)):
        found.update((each.start(), cost) for each in re.finditer(pattern, text))
    for at in (0, *(at for each in re.finditer(PLACE, text) for at in range(each.start() + 1, each.end()))):
        found.pop(at, None)
    for start, end in pairwise([0, *sorted(found), len(text)]):
        if cell_len(text[start:end].rstrip()) > room:
            found.update(_last(text, start, end, room))
    depths = _depths(text)
    for at in sorted(found):
        depth = depths[at] - 0.5 * (text[at - 2 : at] == "; ")
        yield _Break(at, 1 + DEEP * (depth + found[at]) if is_formula else 1)


def _last(text: str, start: int, end: int, room: int) -> Iterator[tuple[int, float]]:
    """Where what is too long for a line is broken even so."""
    at = start
    for part in re.split(LAST, text[start:end]):
        for bit in chop_cells(part, room) if cell_len(part.rstrip()) > room else [part]:
            if at > start:
                yield at, 4.0
            at += len(bit)


def _depths(text: str) -> Sequence[int]:
    """How many brackets and bars are open in front of each character."""
    opened = {each.start() for each in re.finditer(OPENED, text)}
    steps = (1 if at in opened else -1 if sign in CLOSED else 0 for at, sign in enumerate(text))
    return [0, *accumulate(steps)]
