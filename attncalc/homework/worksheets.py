"""Worksheets: a problem to be printed and worked out by hand, as Markdown and as LaTeX, with a box for every number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from attncalc.derivatives import DERIVATIVES
from attncalc.digits import shortest
from attncalc.render import tex
from attncalc.render.markdown import code, math, plain
from attncalc.render.parts import operand_steps, sizes
from attncalc.render.view import View
from attncalc.render.window import Limits, heading, is_words, label, window
from attncalc.trace import Step, Trace

DECIMALS = 4
ASKED = f"Work each step out from the one before. Write {DECIMALS} decimals where a number does not come out sooner."
WHOLE = Limits(rows=64, columns=64, tables=64)
ROOM = "&emsp;" * 3
"""What makes an empty cell of Markdown wide enough to write in."""
TIMES = r" \times "
WIDE = 8
"""From so many columns on, the boxes of a printed table are narrow."""


def markdown(trace: Trace, steps: Sequence[Step]) -> str:
    """The worksheet as Markdown; `steps` are to be filled in."""
    return "\n\n".join(_markdown(trace, steps)) + "\n"


def latex(trace: Trace, steps: Sequence[Step]) -> str:
    """The worksheet as a LaTeX document; `steps` are to be filled in."""
    return "\n".join(_latex(trace, steps)) + "\n"


class Table(NamedTuple):
    """A table to print: what stands above and beside its entries."""

    place: str  # which one of a stack it is
    corner: tuple[str, str]  # the axes of its rows and of its columns; of a vector there is but one
    columns: Sequence[str]
    rows: Sequence[str]  # "" is the one row of a vector
    entries: Sequence[Sequence[str]]


def _tables(step: Step) -> Iterator[Table]:
    """A value as tables with the names of their axes; a number alone is none."""
    rows_axis, columns_axis = ("", "", *step.axes)[-2:]
    for table in window(step, View(everything=True), WHOLE).tables if step.shape else ():
        columns = [label(step, columns_axis, j) for j in table.columns if j is not None]
        rows = [label(step, rows_axis, i) if len(step.shape) > 1 else "" for i in table.rows if i is not None]
        yield Table(heading(step, table), (rows_axis, columns_axis), columns, rows, table.entries)


def _blank(step: Step) -> Step:
    """A step whose entries are not told, not even by the names that they stand for."""
    return step._replace(value=np.zeros(step.shape), names=())


def _tells(trace: Trace) -> bool:
    """Whether the steps' formulas may be shown: those of a formula's derivatives are the answers."""
    return not any(is_words(step) for step in operand_steps(trace).values() if not step.shape)


def _chosen(trace: Trace) -> str:
    """The options that were given, as usual ones too: `distribution = bernoulli, p = 0.25`; of switches other ones."""
    usual = trace.problem.calculation.defaults
    given = trace.problem.options.items()
    told = [(name, value) for name, value in given if not isinstance(value, bool) or value != usual[name]]
    return ", ".join(f"{name} = {_word(value)}" for name, value in told)


def _about(trace: Trace) -> str:
    """What is worked out, in a sentence or two."""
    derivative, _, name = trace.calculation.rpartition(" ")
    return f"{DERIVATIVES[derivative].says.format(name)} {trace.summary}" if derivative else trace.summary


def _word(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} = {_word(item)}" for name, item in value.items())
    if isinstance(value, tuple | list):
        return ", ".join(map(_word, value))
    return value if isinstance(value, str) else shortest(value)


def _markdown(trace: Trace, steps: Sequence[Step]) -> Iterator[str]:
    yield f"# {plain(trace.calculation)}"
    yield plain(_about(trace))
    yield "Name: \\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_"
    yield "## Given"
    for step in operand_steps(trace).values():
        symbol = math(step.symbol_latex) if step.symbol_latex else code(step.symbol)
        if not step.shape:
            yield f"{symbol} = `{step.value}`"
            continue
        yield f"{symbol}, {plain(sizes(step))}"
        yield from (_grid(table, table.entries) for table in _tables(step))
    if chosen := _chosen(trace):
        yield f"with {plain(chosen)}"
    yield "## Work out"
    yield plain(ASKED)
    group = ""
    for number, step in enumerate(steps, 1):
        if step.group != group:
            group = step.group
            yield f"### {plain(group or trace.calculation)}"
        formula = f": {math(f'{step.symbol_latex} = {step.latex}')}" if step.latex and _tells(trace) else ""
        yield f"**{number}. {plain(step.name)}**{formula}"
        yield f"*{plain(step.why)}*"
        if not step.shape:
            yield f"{plain(step.name)} = {ROOM}\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_"
        for table in _tables(_blank(step)):
            if table.place:
                yield plain(table.place)
            yield _grid(table, [[ROOM] * len(table.columns)] * len(table.rows))


def _grid(table: Table, entries: Sequence[Sequence[str]]) -> str:
    """A table of Markdown, with its axes in the corner and its rows and columns named."""
    corner = " ╲ ".join(filter(None, table.corner))
    lines = [[corner, *map(code, table.columns)], ["--:"] * (len(table.columns) + 1)]
    for name, row in zip(table.rows, entries, strict=True):
        lines.append([name and f"**{code(name)}**", *row])
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


PREAMBLE = r"""\documentclass[11pt,a4paper]{article}
\usepackage[margin=2.2cm]{geometry}
\usepackage{amsmath}
\setlength{\parindent}{0pt}
\setlength{\parskip}{1ex}
\newcommand{\room}[1]{\rule[-1.2ex]{0pt}{4.2ex}\hspace{#1}}
\begin{document}
\pagestyle{plain}"""


def _latex(trace: Trace, steps: Sequence[Step]) -> Iterator[str]:
    yield PREAMBLE
    yield rf"\section*{{{tex.text(trace.calculation)}}}"
    yield tex.sentence(_about(trace))
    yield "\n" + r"Name: \underline{\hspace{7cm}}\hfill Date: \underline{\hspace{3cm}}"
    yield r"\subsection*{Given}"
    for step in operand_steps(trace).values():
        symbol = f"${step.symbol_latex}$" if step.symbol_latex else tex.text(step.symbol)
        if not step.shape:
            yield f"{symbol} $=$ {tex.text(str(step.value))}\n"
            continue
        yield from _kept_together(
            [f"{symbol}, {_sizes(step)}", *(_drawn(table, table.entries) for table in _tables(step))]
        )
    if chosen := _chosen(trace):
        yield f"with {tex.text(chosen)}"
    yield r"\subsection*{Work out}"
    yield tex.text(ASKED)
    group = ""
    for number, step in enumerate(steps, 1):
        if step.group != group:
            group = step.group
            yield rf"\subsubsection*{{{tex.text(group or trace.calculation)}}}"
        formula = rf"\quad ${step.symbol_latex} = {step.latex}$" if step.latex and _tells(trace) else ""
        head = rf"\textbf{{{number}. {tex.text(step.name)}}}{formula}"
        told = [head, rf"\emph{{{tex.sentence(step.why)}}}"]
        if not step.shape:
            told.append(rf"{tex.text(step.name)} $=$ \underline{{\room{{4cm}}}}")
        blanks = [(table, _room(table)) for table in _tables(_blank(step))]
        drawn = [_drawn(table, [[room] * len(table.columns)] * len(table.rows)) for table, room in blanks]
        yield from _kept_together(told + drawn[:1])
        yield from (part for table in drawn[1:] for part in _kept_together([table]))
    yield r"\end{document}"


def _sizes(step: Step) -> str:
    parts = (f"{tex.axis(axis)} = {size}" for axis, size in zip(step.axes, step.shape, strict=True))
    return f"${TIMES.join(parts)}$"


def _room(table: Table) -> str:
    width = 1.9 if len(table.columns) < WIDE else 13 / len(table.columns) - 0.42
    return rf"\room{{{max(width, 0.4):.2g}cm}}"


def _kept_together(parts: Sequence[str]) -> Iterator[str]:
    """Paragraphs that no page break parts."""
    yield "\n" + r"\begin{minipage}{\linewidth}\setlength{\parskip}{1ex}"
    yield "\n\n".join(parts)
    yield r"\end{minipage}" + "\n"


def _drawn(table: Table, entries: Sequence[Sequence[str]]) -> str:
    """A table of LaTeX with rules, its axes in the corner."""
    corner = r" $\backslash$ ".join(f"${tex.axis(axis)}$" for axis in table.corner if axis)
    lines = [" & ".join([corner, *map(tex.text, table.columns)])]
    lines += [" & ".join([tex.text(name), *row]) for name, row in zip(table.rows, entries, strict=True)]
    body = "\n".join(rf"{line} \\ \hline" for line in lines)
    place = f"{tex.text(table.place)}\n\n" if table.place else ""
    size = r"\small" if len(table.columns) >= WIDE else ""
    return rf"{place}{size}\begin{{tabular}}{{|r|{'r|' * len(table.columns)}}}\hline" + f"\n{body}\n" + r"\end{tabular}"
