"""What a quiz is handed out as: the problem, blank sheets, worksheets to print, and the key for who marks them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncalc.homework.key import Key, spelled
from attncalc.problem import Problem, solve
from attncalc.render.document import encode, page
from attncalc.render.view import View

Array = NDArray[Any]

DECIMALS = 4
BLANK = "\u3000"
"""A wide blank, so that an empty cell has some width."""


def files(problem: Problem) -> dict[str, str]:
    """Everything that is handed out, by the names of the files."""
    key = Key(problem)
    return {
        "problem.json": problem_document(problem),
        "sheet.json": _blank_json(key),
        "sheet.csv": _blank_csv(key),
        "key.json": key_document(problem),
        "worksheet.md": _markdown(problem, key),
        "worksheet.tex": _latex(problem, key),
    }


def problem_document(problem: Problem) -> str:
    """A problem as a document, without its answers."""
    whole = {
        "attncalc": 1,
        "calculation": problem.name,
        "inputs": {name: encode(_plain(given.value)) for name, given in problem.inputs.items()},
        "options": {name: encode(value) for name, value in problem.options.items()},
    }
    return json.dumps(whole) + "\n"


def key_document(problem: Problem) -> str:
    """A problem with every step worked out."""
    return page(solve(problem), View(everything=True))


def _steps(key: Key) -> list[tuple[str, tuple[int, ...]]]:
    """What is to be filled in, with its shape."""
    values = ((step, key.value(step)) for step in key.steps)
    return [(spelled(step), value.shape) for step, value in values if value is not None]


def _blank_json(key: Key) -> str:
    steps = {name: np.full(shape, None, dtype=object).tolist() for name, shape in _steps(key)}
    whole = {"student": "", "rounding": {"decimals": DECIMALS}, "steps": steps}
    return json.dumps(whole, indent=1) + "\n"


def _blank_csv(key: Key) -> str:
    """Blocks with a `?` for every number."""
    lines = ["@student,?", f"@rounding,{DECIMALS}"]
    for name, shape in _steps(key):
        rows, columns = int(np.prod(shape[:-1])), (1, *shape)[-1]
        lines += [f"@{name}", *[",".join("?" * columns)] * rows]
    return "\n".join(lines) + "\n"


def _plain(value: Array) -> Array:
    """Whole numbers without a point."""
    return value.astype(int) if value.dtype.kind == "f" and np.isfinite(value).all() and _integral(value) else value


def _integral(value: Array) -> bool:
    return bool((value % 1 == 0).all())


def _rows(value: Array) -> list[list[str]]:
    """A value as rows of text."""
    table = np.atleast_2d(_plain(value)) if value.ndim < 3 else _plain(value).reshape(-1, value.shape[-1])
    return [[str(entry) for entry in row] for row in table.tolist()]


def _chosen(problem: Problem) -> str:
    return ", ".join(f"{name} = {value}" for name, value in problem.options.items())


def _markdown(problem: Problem, key: Key) -> str:
    from attncalc.render.markdown import math
    from attncalc.render.markdown import plain as text

    trace = solve(problem)
    shapes = dict(_steps(key))
    lines = [f"# {text(problem.name)}", "", text(trace.summary), "", f"Name: {'_' * 30}", "", "## Given", ""]
    for name, given in problem.inputs.items():
        lines += [
            f"**{text(name)}**",
            "",
            *_table(_rows(given.value) if given.value.dtype.kind in "fiub" else [[str(given.value)]]),
            "",
        ]
    if problem.options:
        lines += [text(_chosen(problem)), ""]
    lines += ["## Work out", "", f"Write at least three decimals, {DECIMALS} where you can.", ""]
    for step in trace.steps:
        if step.key in shapes:
            rows, columns = int(np.prod(shapes[step.key][:-1])), (1, *shapes[step.key])[-1]
            lines += [f"**{text(step.key)}** = {math(step.latex)}", "", *_table([[BLANK] * columns] * rows), ""]
    return "\n".join(lines)


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    width = len(rows[0])
    return [f"|{'|'.join([' '] * width)}|", f"|{'|'.join(['---'] * width)}|", *(f"|{'|'.join(row)}|" for row in rows)]


def _latex(problem: Problem, key: Key) -> str:
    from attncalc.render.tex import text

    trace = solve(problem)
    shapes = dict(_steps(key))
    lines = [
        r"\documentclass{article}",
        r"\usepackage{amsmath,array}",
        r"\setlength{\parindent}{0pt}",
        r"\begin{document}",
        rf"\section*{{{text(problem.name)}}}",
        text(trace.summary),
        r"\medskip\par Name: \underline{\hspace{6cm}}",
        r"\subsection*{Given}",
    ]
    for name, given in problem.inputs.items():
        if given.value.dtype.kind in "fiub":
            lines.append(rf"\[ \text{{{text(name)}}} = {_matrix(_rows(given.value))} \]")
        else:
            lines.append(rf"{text(name)}: {text(str(given.value))}\par")
    if problem.options:
        lines.append(text(_chosen(problem)))
    lines += [r"\subsection*{Work out}", f"Write at least three decimals, {DECIMALS} where you can."]
    for step in trace.steps:
        if step.key in shapes:
            rows, columns = int(np.prod(shapes[step.key][:-1])), (1, *shapes[step.key])[-1]
            blank = _boxes(rows, columns)
            lines += [rf"\[ \text{{{text(step.key)}}} = {step.latex} \]", blank]
    return "\n".join([*lines, r"\end{document}"]) + "\n"


def _matrix(rows: Sequence[Sequence[str]]) -> str:
    body = r" \\ ".join(" & ".join(row) for row in rows)
    return rf"\left[\begin{{array}}{{{'r' * len(rows[0])}}} {body} \end{{array}}\right]"


def _boxes(rows: int, columns: int) -> str:
    """Empty boxes to write in."""
    cell = r"\rule{0pt}{4ex}\hspace{2.2cm}"
    row = " & ".join([cell] * columns) + r" \\ \hline"
    lines = "\n".join([row] * rows)
    return (
        rf"\begin{{center}}\begin{{tabular}}{{|{'c|' * columns}}} \hline"
        f"\n{lines}\n"
        r"\end{tabular}\end{center}"
    )
