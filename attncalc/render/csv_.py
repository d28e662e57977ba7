"""Comma-separated values: the result with its labels, or with `everything` each step as a block of a sheet."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from io import StringIO

from attncalc.common.errors import visible
from attncalc.record.trace import Step, Trace
from attncalc.render import View, asked_for, beside, shown, value_of
from attncalc.render.glyphs import to_ascii
from attncalc.render.plain import rows

Row = list[str]

FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
"""The beginning of text that a spreadsheet would take for a formula, with or without the apostrophe against that."""


def page(trace: Trace, view: View) -> str:
    """The result, or what `get` names; with `everything` or `show` all these steps and outputs, under lines `@name`."""
    steps = written(trace, view)
    alike = _block if _in_blocks(view) else _labelled
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(row for step in steps for row in alike(step, view))
    return text.getvalue() if view.unicode else to_ascii(text.getvalue())


def written(trace: Trace, view: View) -> list[Step]:
    """The steps and outputs that the page holds."""
    if not _in_blocks(view):
        return [asked_for(trace, view)]
    return [*(step for _, step in shown(trace, view)), *beside(trace, view)]


def lost(trace: Trace, view: View) -> list[str]:
    """What is lost in a table with rows and columns alone, so that it could not be read back."""
    stacks = [step.key for step in written(trace, view) if len(step.shape) > 2]
    named = ", ".join(stacks[:3]) + (", …" if len(stacks) > 3 else "")
    apart = "-f json or npy keeps the matrices apart"
    return [f"a stack in CSV ({named}) is read again as one table: {apart}"] if stacks else []


def _in_blocks(view: View) -> bool:
    return not view.bare and (view.everything or bool(view.show))


def _block(step: Step, view: View) -> Iterator[Row]:
    yield [f"@{step.key}"]
    yield from rows(value_of(step), view.digits)


def _labelled(step: Step, view: View) -> Iterator[Row]:
    """The value, with a first row and a first column of labels if its axes have them.

    Labels that contain a number are left out: when the file is read again, they would be taken for values.
    """
    labels = [_words(step.labels.get(axis, ())) for axis in step.axes] if len(step.shape) < 3 else []
    below, across = ([], [], *labels)[-2:]
    if across:
        yield [*([""] if below else []), *across]
    for number, row in enumerate(rows(value_of(step), view.digits)):
        yield [*([below[number]] if below else []), *row]


def _words(labels: Sequence[str]) -> list[str]:
    words = [harmless(label) for label in labels]
    return [] if any(map(_is_number, words)) else words


def _is_number(label: str) -> bool:
    try:
        float(label)
    except ValueError:
        return False
    return True


def harmless(text: str) -> str:
    """User text that neither a terminal nor a spreadsheet acts on: formulas get an apostrophe in front."""
    return visible(f"'{text}" if FORMULA.match(text) else text)


def meant(cell: str) -> str:
    """The text of a cell before `harmless` changed it."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell
