"""What a quiz hands out: the problem, blank sheets, worksheets to print, and the key for whoever marks them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from attncalc.homework.diagnosis.key import Key
from attncalc.homework.quiz import worksheets
from attncalc.homework.reading.sheets import spelled
from attncalc.record.trace import Step, Trace
from attncalc.render import TABLE, View
from attncalc.render.document import document, page, written
from attncalc.render.page import write
from attncalc.solve.problem import Problem
from attncalc.solve.solver import solve

WORKSHEETS = ("markdown", "latex")
"""The formats of worksheets that are usual: one to be read anywhere, one to be printed."""


def files(problem: Problem, worksheets_in: Iterable[str] = WORKSHEETS) -> dict[str, str]:
    """Everything that is handed out, by the names of the files; worksheets in these formats of pages."""
    trace = solve(problem, keep_all=True)
    steps = _asked(trace, Key(problem))
    worksheet = worksheets.page(trace, steps)
    return {
        "problem.json": _problem(trace),
        "sheet.json": _blank_json(steps),
        "sheet.csv": _blank_csv(steps),
        "key.json": page(trace, View(everything=True)),
    } | {worksheet_name(form): str(write(worksheet, form)) for form in worksheets_in}


def worksheet_name(format: str) -> str:
    """What a worksheet in a format of pages is called; the lines for listeners are text, as tables are."""
    return f"worksheet{TABLE[format].suffix or '.txt'}"


def key_document(problem: Problem) -> str:
    """A problem with every step worked out."""
    return page(solve(problem, keep_all=True), View(everything=True))


def _asked(trace: Trace, key: Key) -> list[Step]:
    """The steps that are to be filled in: those that have numbers, the result among them."""
    known = {step.key: step for step in (*trace.outputs, *trace.steps)}
    asked = [known[spelled(step)] for step in key.steps if key.value(step) is not None and spelled(step) in known]
    return [step for step in asked if step.value is not None and step.value.dtype.kind in "biuf"]


def _problem(trace: Trace) -> str:
    """A problem as a document, without its answers; of the options, those that were given."""
    whole = document(trace)
    whole["inputs"] = {name: _short(value) for name, value in whole["inputs"].items()}
    whole["options"] = {name: whole["options"][name] for name in trace.problem.options}
    kept = ("attncalc", "calculation", "inputs", "labels", "options")
    return written({name: value for name, value in whole.items() if name in kept}, View())


def _short(value: Any) -> Any:
    """Whole numbers without a point."""
    if isinstance(value, list):
        return [_short(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _blank_json(steps: Sequence[Step]) -> str:
    """A null for every number, a row of them a line."""
    blanks = [f"  {json.dumps(step.key)}: {_nulls(step.shape)}" for step in steps]
    return '{"student": "",\n "steps": {\n' + ",\n".join(blanks) + "\n }}\n"


def _nulls(shape: tuple[int, ...], indent: str = "    ") -> str:
    if not shape:
        return "null"
    if len(shape) == 1:
        return f"[{', '.join(['null'] * shape[0])}]"
    return f"[\n{indent}" + f",\n{indent}".join([_nulls(shape[1:], indent + " ")] * shape[0]) + "]"


def _blank_csv(steps: Sequence[Step]) -> str:
    """Blocks with a `?` for every number; the matrices of a stack one below the other."""
    lines = ["@student,"]
    for step in steps:
        rows, columns = int(np.prod(step.shape[:-1])), (1, *step.shape)[-1]
        lines += [f"@{step.key}", *[",".join("?" * columns)] * rows]
    return "\n".join(lines) + "\n"
