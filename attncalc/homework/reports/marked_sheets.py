"""What a marked sheet looks like: its page, and what JSON and CSV hold of it."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import groupby
from math import prod

import numpy as np

from attncalc.calculations import WHOLE
from attncalc.common.errors import amount, place_text, visible
from attncalc.common.numerals import Array
from attncalc.common.system import loaded
from attncalc.record.numbers import format_number, in_marks, shortest
from attncalc.record.trace import Trace
from attncalc.record.verdicts import (
    FOLLOWS,
    MOST_MAPPED,
    NOTHING_WRONG,
    SOUND,
    USUAL_POLICY,
    Marked,
    MarkedStep,
    Wrong,
)
from attncalc.render import View, pages_and
from attncalc.render.page import LEFT_OUT, MOST_PLACES, Heading, Page, Paragraph, Verdict, write

FORMATS = pages_and("json", "csv")
MOST_LISTED = 64
"""The most wrong entries that are listed by their places; if there are more, only their number and range are given."""
FEW = 2
"""Up to this many entries are named one by one, even if they make up a whole row."""
COLUMNS = ("step", "verdict", "kind", "mistake", "also", "hint", "entries", "score", "out_of")


def shown(marked: Marked, format: str, view: View) -> str:
    """A marked sheet in a format of FORMATS."""
    marked, data = marked.shown, {"json": _json, "csv": _csv}
    return data[format](marked) if format in data else str(write(page(marked, view.trace), format, view))


def plain(marked: Marked) -> str:
    """A marked sheet as lines that can be read out."""
    return shown(marked, "plain", View()).removesuffix("\n")


def html(marked: Marked) -> str:
    """A marked sheet as a part of a notebook."""
    return str(loaded("render.html:fragment")(page(marked.shown), View()))


def page(marked: Marked, trace: Trace | None = None) -> Page:
    """The steps of a sheet with their verdicts, and the summary; for a model, which has hundreds of steps, its layers.

    Entries of a model's steps are worked out if its trace is given.
    """
    if marked.calculation in WHOLE:
        told: Page = loaded("homework.reports.checked_models:page")(marked, trace)
        return told
    title = f"{marked.calculation}, checked" + (f", {marked.student}" if marked.student else "")
    end = Paragraph(summary(marked), "sound" if marked else "wrong")
    by = [Paragraph(f"policy: {marked.policy}", "about")] if marked.policy != USUAL_POLICY else []
    return Page(title, (Heading(title), *verdicts(marked), end, *by))


def verdicts(marked: Marked) -> list[Verdict]:
    """The verdict on each step; if it is undecided, no entry is called wrong."""
    off = [_off(step) for step in marked.steps]
    return [
        Verdict(
            step.name,
            step.verdict,
            marks(step),
            step.verdict in SOUND,
            blame(step),
            step.finding.hint,
            _error(step, marked, shown := _given(step, wrong, marked)),
            "-f json has operands that would tell these apart" if step.finding.separate else "",
            places(wrong, step.shape),
            () if step.misshapen else _regions(wrong, step.shape),
            tuple(_map(step.shape, wrong)) or tuple((False,) * len(row) for row in shown if step.misshapen),
            shown,
            np.shape(_cells(step))[:-1] if step.misshapen else tuple(step.shape[:-1]),
            misshapen=step.misshapen,
            labels=step.labels if len(step.labels) == len(step.shape) and not step.misshapen else (),
            axes=() if step.misshapen else step.axes,
        )
        for step, wrong in zip(marked.steps, off, strict=True)
    ]


def _off(step: MarkedStep) -> Wrong:
    """Which entries a page shows as wrong: none that follow rightly from earlier ones, however far from the key."""
    follow = step.verdict == FOLLOWS and step.answered == 1
    return NOTHING_WRONG if follow or step.finding.undecided else step.finding.wrong


def summary(marked: Marked) -> str:
    """The verdict in a line: `wrong: 4 of 8 marks; first wrong at weights`."""
    verdict = "undecided" if marked.undecided else marked.verdict
    where = f"; first {verdict} at {marked.first_wrong}" if marked.first_wrong else ""
    return f"{verdict}: {in_marks(marked.score)} of {amount(in_marks(marked.out_of), 'mark')}{where}"


def blame(step: MarkedStep) -> str:
    """What is behind a step that is wrong: `att-no-scale: nothing divided`, and what would give the same numbers."""
    found = step.finding
    if not found.mistakes:
        return ""
    give = "gives" if len(found.also) == 1 else "give"
    also = f" (or {', '.join(found.also)}, which {give} the same here)" if found.also else ""
    convention = "right under another convention: " if found.kind == "convention" else ""
    return f"{step.mistake}{also}: {convention}{found.says}"


def marks(step: MarkedStep) -> str:
    """`1 of 2`."""
    if not step.asked:
        return "not asked for"
    return in_marks(step.score, step.out_of)


def places(wrong: Wrong, shape: Sequence[int]) -> str:
    """`[0,1] [1,1]`; if they are too many for that, `4096 of 262144, all of [1024…1087,0…63]`; "" for a number."""
    if not shape:
        return ""
    if wrong.all_named and wrong.number <= MOST_LISTED:
        return " ".join(map(place_text, wrong.cells))
    how = "all of" if wrong.number == prod(map(len, wrong.within)) else "within"
    spans = (str(along[0]) if len(along) == 1 else f"{along[0]}…{along[-1]}" for along in wrong.within)
    return f"{wrong.number} of {prod(shape)}, {how} [{','.join(spans)}]"


def _regions(wrong: Wrong, shape: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """The places of wrong entries; a row or a matrix that is wrong throughout has one place, its first indices."""
    if not (wrong.all_named and shape and wrong.cells and len(wrong.cells[0]) == len(shape)):
        return ()  # too many, or of an answer that has another shape
    found = tuple(_inside(wrong.cells, shape, ()))
    return found if len(found) <= MOST_PLACES or wrong.number <= MOST_LISTED else ()


def _inside(cells: Sequence[tuple[int, ...]], shape: Sequence[int], at: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    if len(cells) == prod(shape[len(at) :]) and (len(cells) > FEW or len(at) in (0, len(shape))):
        yield at
        return
    for index, some in groupby(cells, lambda cell: cell[len(at)]):
        yield from _inside(tuple(some), shape, (*at, index))


def _map(shape: Sequence[int], wrong: Wrong) -> Iterator[tuple[bool, ...]]:
    """Which entries are wrong, row by row, one matrix of a stack after the other; nothing if there are too many."""
    rows, columns = prod(shape[:-1]), (1, *shape)[-1]
    if not wrong.cells or not shape or max(rows, columns) > MOST_MAPPED:
        return
    off = set(wrong.cells)
    for at in np.ndindex(*shape[:-1]):
        yield tuple((*at, j) in off for j in range(columns))


def _given(step: MarkedStep, wrong: Wrong, marked: Marked) -> tuple[tuple[str, ...], ...]:
    """The student's numbers, in the rows of the map, with the right ones beside wrong ones if these are revealed.

    An answer of another shape than its step is in rows of its own.
    """
    drawn = [] if step.misshapen else [*_map(step.shape, wrong)]
    if not step.misshapen and (step.verdict in SOUND or step.given is None or (step.shape and not drawn)):
        return ()
    cells = _cells(step)
    shape = cells.shape if step.misshapen else step.shape
    rows, columns = prod(shape[:-1]), (1, *shape)[-1]
    is_drawn = cells.size > 1 and max(rows, columns) <= MOST_MAPPED if step.misshapen else cells.size == prod(shape)
    if not is_drawn or any(isinstance(cell, dict) for cell in cells.flat):  # complex ones
        return ()
    told = [*map(_number, cells.flat)]
    if marked.reveal and drawn and step.expected is not None:
        due = np.array(step.expected, dtype=object).flat
        off = np.ravel(drawn)
        told = [f"{own} → {_short(x)}" if no else own for own, x, no in zip(told, due, off, strict=True)]
    return tuple(map(tuple, np.array(told, dtype=object).reshape(rows, columns)))


def _cells(step: MarkedStep) -> Array:
    """The entries of an answer in its own shape, as they were written."""
    cells = np.array(step.given, dtype=object)
    return np.array(step.written, dtype=object).reshape(cells.shape) if step.written else cells


def _number(cell: object) -> str:
    if cell is None:
        return LEFT_OUT
    return shortest(cell) if isinstance(cell, int | float) else str(cell)


def _error(step: MarkedStep, marked: Marked, given: Sequence[Sequence[str]]) -> str:
    if not marked.reveal or step.finding.verdict == SOUND[0]:
        return ""
    beside = any("→" in cell for row in given for cell in row)
    answer = "" if beside or step.expected is None else f"expected {_short(step.expected)}"
    off = "" if step.max_error is None else f"largest error {format_number(step.max_error)}"
    return "; ".join(filter(None, (answer, off)))


def _short(value: object) -> str:
    """A number to four decimals; a vector or a matrix as it is typed, each matrix of a stack in brackets."""
    if not isinstance(value, list):
        return _number(round(value, 4) if isinstance(value, float) else value)
    parts, inner = [*map(_short, value)], value[0] if value else None
    if isinstance(inner, list) and inner and isinstance(inner[0], list):
        return ", ".join(f"[{part}]" for part in parts)
    return ("; " if isinstance(inner, list) else " ").join(parts)


# Data


def _json(marked: Marked) -> str:
    """One object, a step a line."""
    whole = marked.to_dict()
    steps = ",\n  ".join(map(json.dumps, whole["steps"]))
    head = ", ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in whole.items() if key != "steps")
    return f'{{{head},\n "steps": [{steps}]}}\n'


def _row(step: MarkedStep) -> tuple[str, ...]:
    """A step as a row of a table with these COLUMNS."""
    found = step.finding
    return (
        step.name,
        found.verdict,
        found.kind or "",
        step.mistake or "",
        " ".join(found.also),
        found.hint,
        places(found.wrong, step.shape),
        shortest(step.score),
        shortest(step.out_of),
    )


def _csv(marked: Marked) -> str:
    return as_csv([COLUMNS, *([visible(cell) for cell in _row(step)] for step in marked.steps)])


def as_csv(rows: Iterable[Iterable[object]], delimiter: str = ",", end: str = "\n") -> str:
    """Rows as the lines of a CSV file."""
    text = StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator=end).writerows(rows)
    return text.getvalue()
