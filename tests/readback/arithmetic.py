"""Lines of arithmetic over single numbers: `0.8×0.7 + 0.2×0.3` → what somebody gets who works it out."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate

import numpy as np

from attncalc.record.trace import Entry
from readback import latex, text
from readback.meaning import Tensor, reading
from readback.text import Tree

_LOWERED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def number(line: str, letters: Mapping[str, float] | None = None) -> complex:
    """The value of a line, or of a formula whose letters are given."""
    raised = re.sub("(?<!⁻)[⁰¹²³⁴-⁹]+", lambda found: "^" + found[0].translate(_LOWERED), line)
    return _worth(text.parse(raised.replace("-", "−").replace("e−", "e-"), letters or {}), letters or {})


def number_of_latex(line: str, letters: Mapping[str, float] | None = None) -> complex:
    return _worth(latex.parse(line, letters or {}), letters or {})


def real(line: str, letters: Mapping[str, float] | None = None) -> float:
    """The same, of what holds no i."""
    return number(line, letters).real


_SAID = re.compile(r"(?:masked: )?([^=\[\]]+ [≤<=≥>≠] [^=\[\]]+)")


def apart(line: str) -> tuple[list[str], str]:
    """The ways in which a line tells a number, and what it says to have decided, a comparison."""
    for at in _cuts(line):
        if said := _SAID.fullmatch(line[at + 2 : -1]):
            return _ways(line[:at]), said[1]
    only = _SAID.fullmatch(line)
    return ([], only[1]) if only else (_ways(line), "")


def _ways(line: str) -> list[str]:
    return re.split(r" = (?![^\[]*\])", line)


def comes_to(line: str, value: float) -> bool:
    """Whether a line comes to a number in each way that it tells, and what it says to have decided holds.

    The sign of that is chosen by the truth that is computed, so that a wrong one makes a line that does not hold.
    """
    ways, why = apart(line)
    close = (
        math.isclose(each, value, rel_tol=1e-9, abs_tol=1e-12) or (math.isnan(each) and math.isnan(value))
        for each in map(real, ways)
    )
    return all(close) and (not why or all(real(part) == 1 for part in why.split(" and ")))


def _cuts(line: str) -> Iterator[int]:
    """Where a bracket begins that holds all the rest of the line."""
    for found in re.finditer(r" \(", line if line.endswith(")") else ""):
        inner = line[found.end() : -1]
        depths = accumulate({"(": 1, ")": -1}.get(character, 0) for character in inner)
        if inner.count("(") == inner.count(")") and min(depths) >= 0:
            yield found.start()


def _worth(tree: Tree, letters: Mapping[str, float]) -> complex:
    names = {name: Tensor((), np.asarray(value)) for name, value in letters.items()}
    with np.errstate(all="ignore"):
        return complex(reading(tree, names).numbers)


def spelled(pieces: Iterable[str | Entry]) -> str:
    """An entry's arithmetic as text, its numbers to their last digit."""
    return "".join(piece if isinstance(piece, str) else _number(piece) for piece in pieces)


def _number(entry: Entry) -> str:
    value = float(entry.value)
    digits = repr(abs(value)).replace("inf", "∞").replace("e+", "e")
    sign = "−" if math.copysign(1, value) < 0 else ""
    return f"({sign}{digits})" if sign and entry.brackets else sign + digits
