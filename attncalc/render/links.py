"""What stands behind an equals sign in LaTeX; an entry's arithmetic in as many lines as a page takes for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from attncalc.render import tex
from attncalc.trace import Step

LINE = 72  # characters of mathematics that stand side by side on a page
CONTINUED = r"\quad"  # instead of an equals sign, before the rest of a line
SIZES = {"": 6, "small": 15, "footnotesize": 26, "scriptsize": 38}  # how many more characters a line holds


class Link(NamedTuple):
    """What stands behind an equals sign, and about how many characters wide it is."""

    latex: str
    width: int
    relation: str = "="
    below: str = ""  # the place along a stack or a list: it is but a part of the value


def spelled_out(step: Step, at: tuple[int, ...], line: str) -> Iterator[Link]:
    """An entry's arithmetic and its value, in as many lines as they take."""
    room = LINE - len(step.symbol)
    first, *further = _lines(line, room)
    yield Link(_set(first, room), _width(first), below=",".join(map(str, at)))
    yield from (Link(f"{{}}{_set(rest, room)}", LINE, CONTINUED) for rest in further)


def fits(step: Step, line: str) -> bool:
    """Whether lines of a page hold an entry's arithmetic, be it in small letters: a root, say, is not broken."""
    room = LINE - len(step.symbol)
    return all(_width(part) <= room + SIZES["scriptsize"] for part in _lines(line, room))


def _width(line: str) -> int:
    """About how many characters wide a line is set: ×s have room around them, and 1e-9 becomes 1×10⁻⁹."""
    return len(line) + line.count("×") + 2 * len(re.findall(r"\de-?\d", line))


def _lines(arithmetic: str, room: int) -> list[str]:
    """The arithmetic, broken between its terms where it is wider than the room: inside brackets if it must be."""
    lines = [arithmetic]
    for deepest in range(4):
        if all(_width(line) <= room for line in lines):
            break
        lines = [""]
        for term in _terms(arithmetic, deepest):
            if lines[-1] and _width(lines[-1] + term) > room:
                lines.append("")
            lines[-1] += term
    return lines


def _terms(arithmetic: str, deepest: int) -> Iterator[str]:
    """The pieces from each +, − or = to the next; those in more brackets than that, and under roots, stay together."""
    depths, start = [0], 0
    for i, character in enumerate(arithmetic):
        if character == "(":
            depths.append(depths[-1] + (1 if i == 0 or arithmetic[i - 1] not in "√^" else 100))
        elif character == ")" and len(depths) > 1:
            depths.pop()
        elif depths[-1] <= deepest and arithmetic[i : i + 3] in (" + ", " − ", " - ", " = "):
            yield arithmetic[start:i]
            start = i
    yield arithmetic[start:]


def _set(line: str, room: int) -> str:
    """A line of arithmetic, smaller where it is wider than the room as it is."""
    latex = tex.arithmetic(line)
    size = next((size for size, more in SIZES.items() if _width(line) <= room + more), "scriptsize")
    return f"\\text{{\\{size}${latex}$}}" if size else latex
