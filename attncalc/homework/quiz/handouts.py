"""What a quiz hands out: the problem, blank sheets, worksheets to print, and the key for whoever marks them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from attncalc.common.errors import OptionError, place_text
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.quiz import worksheets
from attncalc.homework.quiz.exports import gaps
from attncalc.homework.quiz.platforms import Question
from attncalc.homework.quiz.worksheets import ANYBODY, Exercise, Whose, Wording
from attncalc.homework.reading.sheets import EVERYTHING, Asked, spelled
from attncalc.language.graph import Node, walk_to
from attncalc.language.primitive import formula, sizes
from attncalc.record.trace import Step, Trace
from attncalc.render import TABLE, View
from attncalc.render.csv_ import harmless
from attncalc.render.document import document, written
from attncalc.render.page import write
from attncalc.solve.problem import Problem, problem_of
from attncalc.solve.solver import solve

WORKSHEETS = ("markdown", "latex")
"""The usual formats of worksheets: one to be read anywhere, one to be printed."""
AS_USUAL = Wording()
KEY = "key.json"
LONGEST = 90
"""The most characters of a formula that can still be read."""


def files(
    problem: Problem,
    worksheets_in: Iterable[str] = WORKSHEETS,
    asked: Asked = EVERYTHING,
    wording: Wording = AS_USUAL,
) -> dict[str, str]:
    """What is handed out, and the key, by the names of the files; worksheets in these formats of pages."""
    trace = solve(problem, keep_all=True)
    return handed_out(trace, worksheets_in, asked, wording) | {KEY: _key(trace, asked)}


def handed_out(
    trace: Trace,
    worksheets_in: Iterable[str],
    asked: Asked,
    wording: Wording,
    whose: Whose = ANYBODY,
) -> dict[str, str]:
    """What students get, by the names of the files; it holds nothing of the key."""
    exercises = exercises_of(trace, Key(problem_of(trace)), asked)
    worksheet = worksheets.page(trace, exercises, asked.shown, wording, whose)
    return {
        "problem.json": problem_document(trace, asked),
        "sheet.json": _blank_json(exercises, whose),
        "sheet.csv": _blank_csv(exercises, whose, ";" if wording.printing.decimal == "," else ","),
    } | {worksheet_name(form): str(write(worksheet, form)) for form in worksheets_in}


def question(
    problem: Problem, asked: Asked = EVERYTHING, wording: Wording = AS_USUAL, name: str = "", pool: str = ""
) -> Question:
    """A problem as learning platforms have it, with its answers."""
    trace, key = solve(problem, keep_all=True), Key(problem)
    exercises = exercises_of(trace, key, asked)
    worksheet = worksheets.page(trace, exercises, asked.shown, wording)
    return Question(name or worksheet.title, worksheet, gaps(key, exercises), pool)


def worksheet_name(format: str) -> str:
    """The file name of a worksheet in a format of pages; a format without a suffix of its own is text."""
    return f"worksheet{TABLE[format].suffix or '.txt'}"


def key_document(problem: Problem, asked: Asked = EVERYTHING) -> str:
    """A problem with every step worked out."""
    return _key(solve(problem, keep_all=True), asked)


def _key(trace: Trace, asked: Asked) -> str:
    view = View(everything=True)
    return written({**document(trace, view), **asked.written()}, view)


def exercises_of(trace: Trace, key: Key, asked: Asked = EVERYTHING) -> list[Exercise]:
    """The steps that are to be filled in: those that are asked for, or all that have numbers, the result among them."""
    known = {step.key: step for step in (*trace.outputs, *trace.steps)}
    every = asked.steps or [step for step in key.steps if key.value(step) is not None and step not in asked.shown]
    on_it = {key.nodes[step] for step in (*every, *asked.shown)}
    exercises = []
    for step in every:
        found = known.get(spelled(step)) or trace.find(spelled(step))
        if found.value is not None and found.value.dtype.kind in "biuf":
            exercises.append(Exercise(*_told(found, key.nodes[step], on_it), where=asked.entries(step)))
        elif asked.steps:
            raise OptionError(f"{spelled(step)} holds no real numbers, and cannot be asked for")
    return exercises


def _told(step: Step, node: Node, on_it: Collection[Node]) -> tuple[Step, list[str]]:
    """A step with a formula that uses only what is on the worksheet, and the names of what it uses.

    A step that is not on the worksheet is replaced by what it is made of; if the formula gets too long, it is left out.
    """

    def ends(made: Node) -> bool:
        return made.op == "input" or made in on_it

    behind = walk_to(ends, node.sources[0])
    found = sorted(filter(ends, behind), key=lambda made: ("step", "input").index(made.op))
    names = [str(made.args.get("symbol") or made.args["name"]) for made in found]
    if any(made.op == "step" and not ends(made) for made in behind):
        new: dict[Node, Node] = {}
        for made in behind:
            over = [new[source] for source in made.sources] if not ends(made) else []
            new[made] = made if ends(made) else over[0] if made.op == "step" else made.over(over)
        whole = Node("step", new[node.sources[0]], **node.args)
        text = formula(whole)
        is_read = len(text) <= LONGEST and "…" not in text
        text, latex, inside = (text, formula(whole, "latex"), sizes(whole, text)) if is_read else ("", "", "")
        step = step._replace(formula=text, latex=latex, sizes=inside)
    return step, list(dict.fromkeys(names))


def problem_document(trace: Trace, asked: Asked) -> str:
    """A problem as a document, without its answers; of the options, those that were given."""
    whole = document(trace)
    whole["inputs"] = {name: _short(value) for name, value in whole["inputs"].items()}
    usual = problem_of(trace).calculation.defaults.keys() - trace.problem.options.keys()
    whole["options"] = {name: value for name, value in whole["options"].items() if name not in usual}
    kept = ("attncalc", "calculation", "inputs", "labels", "options")
    return written({name: value for name, value in whole.items() if name in kept} | asked.written(), View())


def _short(value: Any) -> Any:
    """Whole numbers without a point."""
    if isinstance(value, list):
        return [_short(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _blank_json(exercises: Sequence[Exercise], whose: Whose) -> str:
    """A null for every number, with a row in each line; single entries are named by their places."""
    blanks = [f"  {json.dumps(name)}: {nulls}" for exercise in exercises for name, nulls in _blanks(exercise)]
    told = {"student": whose.student} | ({"problem": whose.problem} if whose.problem else {})
    head = "".join(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)},\n " for key, value in told.items())
    return "{" + head + '"steps": {\n' + ",\n".join(blanks) + "\n }}\n"


def _blanks(exercise: Exercise) -> Iterator[tuple[str, str]]:
    step = exercise.step
    if exercise.where is None:
        yield step.key, _nulls(step.shape)
    else:
        yield from ((step.key + place_text(at), "null") for at in np.argwhere(exercise.where).tolist())


def _nulls(shape: tuple[int, ...], indent: str = "    ") -> str:
    if not shape:
        return "null"
    if len(shape) == 1:
        return f"[{', '.join(['null'] * shape[0])}]"
    return f"[\n{indent}" + f",\n{indent}".join([_nulls(shape[1:], indent + " ")] * shape[0]) + "]"


def _blank_csv(exercises: Sequence[Exercise], whose: Whose, delimiter: str) -> str:
    """Blocks with a `?` for every number, and a `-` for what is not asked for.

    The matrices of a stack are in one block, with empty lines between them. The delimiter is not the decimal mark of
    the class, so that its spreadsheets split the cells.
    """
    student = harmless(whose.student)
    student = '"{}"'.format(student.replace('"', '""')) if any(mark in student for mark in ',;"') else student
    told = [("@student", student), *([("@problem", whose.problem)] if whose.problem else [])]
    lines = [delimiter.join(pair) for pair in told]
    for exercise in exercises:
        boxes = exercise.boxes
        matrices = boxes.reshape(-1, *boxes.shape[-2:]) if boxes.ndim > 2 else [np.atleast_2d(boxes)]
        blanks = (
            "\n".join(delimiter.join("-" if np.isnan(entry) else "?" for entry in row) for row in matrix)
            for matrix in matrices
        )
        lines += [f"@{exercise.step.key}", "\n\n".join(blanks)]
    return "\n".join(lines) + "\n"
