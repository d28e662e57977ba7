"""The JSON document: problem, answer key and saved result in one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from attncalc.common.numerals import Array
from attncalc.common.system import loaded
from attncalc.record.numbers import each, encode, encode_typed, exact_text
from attncalc.record.trace import EXACT, FACTS, LETTERS, USUAL, Given, Lesson, Step, Trace, remarked
from attncalc.render import View, asked_for, shown, value_of
from attncalc.solve import asking
from attncalc.solve.problem import Problem

if TYPE_CHECKING:  # the types of documents
    from attncalc.record.documents import (
        CellDocument,
        Document,
        Json,
        LessonDocument,
        PitfallDocument,
        SettingsDocument,
        StepDocument,
    )
VERSION = 1
LARGE = 10_000  # a step with so many entries has a summary in place of its value
CORNER = 4


def page(trace: Trace, view: View) -> str:
    """The document as text, with one step per line; with `quiet` or `get` only the value."""
    if view.bare:
        step = asked_for(trace, view)
        return _text(_facts(step, view) or encode(value_of(step), view.digits), view) + "\n"
    return written(document(trace, view), view)


def document(trace: Trace, view: View | None = None) -> Document:
    """The document as JSON data: dictionaries, lists, strings, numbers."""
    view = view or View()
    problem = trace.problem
    asked = problem.backward._asdict() if isinstance(problem, Problem) and problem.backward else {}
    own = {name: encode(value) for name, value in asked.items() if value and name != "jacobian"}
    inputs = {name: operand for name, operand in trace.inputs.items() if not operand.is_stored}
    whole: Document = {
        "attncalc": VERSION,
        "calculation": trace.calculation,
        "inputs": {name: _given(trace, name, operand) for name, operand in inputs.items()},
        "labels": {name: _labels(operand) for name, operand in inputs.items() if operand.labels},
        "options": {name: encode(value) for name, value in trace.options.items()} | own,
        "settings": _settings(trace),
        "notes": remarked(trace.inputs),
        "steps": [_step(step, trace, view) for _, step in shown(trace, view)],
        "cells": _cells(trace, view),
        "outputs": {step.key: _value(step, view) for step in trace.outputs if step.value is not None},
        "exact": {step.key: each(exact_text, step.value) for step in trace.outputs if _is_exact(step.value)},
        "result": _value(trace.outputs[0], view),
    }
    if trace.lesson is not None:
        whole["lesson"] = _lesson(trace.lesson)
    return cast("Document", {key: value for key, value in whole.items() if value or key not in _WHERE_THERE_ARE_ANY})


_WHERE_THERE_ARE_ANY = ("labels", "settings", "notes", "cells", "exact")


def _settings(trace: Trace) -> SettingsDocument:
    """The settings that `run` needs to give the same numbers again."""
    found: SettingsDocument = {}
    if trace.mode.round_to is not None:
        found["round"] = trace.mode.round_to
    if trace.mode.dtype not in (USUAL.dtype, EXACT):
        found["dtype"] = trace.mode.dtype
    if trace.mode.accumulate != USUAL.accumulate:
        found["accumulate"] = trace.mode.accumulate
    if trace.mode.dtype == EXACT:
        found["exact"] = True
    if LETTERS in (operand.source for operand in trace.inputs.values()):
        found["symbolic"] = True
    return found


def _given(trace: Trace, name: str, operand: Given) -> Any:
    """An operand as a document holds it: its numbers, or the files of a checkpoint."""
    if operand.files is not None:
        return {"path": str(operand.value), "files": operand.files()}
    return encode_typed(*_as_given(trace, name, operand))


def _as_given(trace: Trace, name: str, operand: Given) -> tuple[Array, Array | None]:
    """An operand as it was given, before a vector became a row or a mask became truths, so that it can be read again.

    Tokens are written as ids, even if they were given as words.
    """
    given = trace.problem.inputs.get(name)
    if given is None or given.value.dtype.kind in "US" or isinstance(given.value.flat[0], str):
        return operand.value, operand.written
    return given.value, given.written


def _lesson(lesson: Lesson) -> LessonDocument:
    """The lesson without the parts on single steps."""
    mistakes: list[PitfallDocument] = [
        {"id": one.id, "says": one.says, "hint": one.hint, "at": list(one.at)} for one in lesson.mistakes
    ]
    return {"about": list(lesson.about), "laws": list(lesson.laws), "mistakes": mistakes}


def _cells(trace: Trace, view: View) -> list[CellDocument]:
    """The arithmetic of the entries that are asked for."""
    if not view.cells:
        return []
    from attncalc.render import entries  # a door: few documents have cells

    cells: list[CellDocument] = []
    for step, line in entries.cells(trace, view):
        cell: CellDocument = {
            "step": step.key,
            "at": list(line.at),
            "formula": step.formula,
            "arithmetic": line.arithmetic,
            "value": line.value,
        }
        if (rounding := asking.rounding(trace, step, line.at)) is not None:
            cell["unrounded"] = rounding.before
        cells.append(cell)
    return cells


def _value(step: Step, view: View) -> Any:
    value = value_of(step)
    if facts := _facts(step, view):
        return facts
    if _is_exact(value):
        return loaded("render.exact_values:in_decimals")(value, view.digits)
    return encode(value, view.digits)


def _facts(step: Step, view: View) -> list[dict[str, Any]]:
    """The rows of a table of facts as objects; empty for any other value."""
    return [dict(_fact(step, i, view)) for i in range(step.shape[0])] if step.axes[1:] == (FACTS,) else []


def _fact(step: Step, i: int, view: View) -> Iterator[tuple[str, Any]]:
    """A row of a table of facts as an object: the item's number, the words for it, and the facts."""
    number, _, words = step.labels[step.axes[0]][i].partition(" ")
    yield step.axes[0], int(number)
    yield from [("text", words)] if words else []
    yield from zip(step.labels[FACTS], encode(value_of(step)[i], view.digits), strict=True)


def _is_exact(value: Array | None) -> TypeGuard[Array]:
    return value is not None and value.dtype.kind == "O"


def _labels(operand: Given) -> dict[str, list[str]]:
    axes = operand.axes or tuple(map(str, range(operand.value.ndim)))
    return {axes[position]: list(labels) for position, labels in operand.labels.items()}


def _step(step: Step, trace: Trace, view: View) -> StepDocument:
    entry: dict[str, Any] = {"name": step.name}
    if step.group:
        entry["group"] = step.group
    if step.gradient_of is not None:
        entry["gradient_of"] = step.gradient_of
    entry |= {"formula": step.formula, "latex": step.latex, "axes": list(step.axes), "shape": list(step.shape)}
    if step.labels:
        entry["labels"] = {axis: list(labels) for axis, labels in step.labels.items()}
    if step.value is None or (step.value.size > LARGE and not view.everything):
        entry["summary"] = _summary(step, trace, view)
    else:
        entry["value"] = _value(step, view)
        if _is_exact(step.value):
            latex = each(loaded("render.tex:exact"), step.value)
            entry |= {"exact": each(exact_text, step.value), "exact_latex": latex}
        if step.names:
            entry["names"] = each(lambda index: step.names[index], step.value.astype(int))
    entry["why"] = step.why
    if step.check is not None:
        entry["check"] = {
            "agrees": step.check.agrees,
            "max_error": encode(step.check.max_error),
            "numeric": encode(step.check.numeric, view.digits),
        }
    if step.drift is not None:
        entry["drift"] = encode(step.drift)
    if trace.lesson is not None and (about := trace.lesson.steps.get(step.key)):
        entry["about"] = list(about)
    return cast("StepDocument", entry)  # it was built key by key, in reading order


def _summary(step: Step, trace: Trace, view: View) -> dict[str, Json]:
    """The corner of a value that was not kept; else its range and its corner; empty for exact numbers."""
    value = step.value
    if value is None:
        places = [range(1 if axis < -2 else min(CORNER, step.shape[axis])) for axis in range(-len(step.shape), 0)]
        corner = asking.entries(trace, step, places)
        return {"corner": encode(corner.reshape(corner.shape[-2:]), view.digits)}
    if value.dtype.kind == "O":
        return {}
    first = value[(0,) * max(value.ndim - 2, 0)]
    facts = {"corner": first[:CORNER, :CORNER] if first.ndim == 2 else first[:CORNER]}
    if value.dtype.kind != "c":
        facts = {"min": value.min(), "max": value.max()} | facts
    return {name: encode(fact, view.digits) for name, fact in facts.items()}


# Text


def written(whole: Mapping[str, object], view: View) -> str:
    """An object as text, with a line for each key, and for each item of a list of objects."""
    parts = [f"{json.dumps(key)}: {_part(value, view)}" for key, value in whole.items()]
    return "{" + ",\n ".join(parts) + "}\n"


def _part(value: object, view: View) -> str:
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        return "[\n  " + ",\n  ".join(_text(item, view) for item in value) + "]"
    return _text(value, view)


def _text(value: object, view: View) -> str:
    """Compact JSON without characters that act on a terminal."""
    text = json.dumps(value, ensure_ascii=not view.unicode, allow_nan=False)
    return text if text.isprintable() else re.sub(r"[^ -~]", _harmless, text)


def _harmless(character: re.Match[str]) -> str:
    return character[0] if character[0].isprintable() else json.dumps(character[0])[1:-1]
