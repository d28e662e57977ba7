"""LaTeX for a document of one's own, or a document by itself: formulas, matrices, the result in a box."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from attncalc.render import tex
from attncalc.render.parts import Item, divided, findings, operand_steps, options, summary
from attncalc.render.view import View, as_read, asked_for
from attncalc.render.window import GAP, Limits, Table, heading, label, window
from attncalc.render.worked import in_the_step
from attncalc.trace import Step, Trace

LINE = 72  # characters of mathematics that stand side by side on a page
MOST_ROWS, MOST_COLUMNS, MOST_TABLES = 24, 10, 8  # ten columns is what amsmath's matrices have
FEWEST_COLUMNS = 4
BESIDE = re.compile(r" [≈=] ")  # between an exact entry and its decimals

PREAMBLE = r"""\documentclass[11pt,a4paper]{article}
\usepackage[margin=2.5cm]{geometry}
\usepackage{amsmath}
\allowdisplaybreaks
"""


class Piece(NamedTuple):
    """A formula or a matrix, and about how many characters wide it is."""

    latex: str
    width: int


def page(trace: Trace, view: View) -> str:
    """The trace to put into a document, or as a document; with `quiet` or `get` one value alone."""
    if view.bare:
        pieces = _value(as_read(asked_for(trace, view)), view)
        lines = [_display(piece.latex) if view.standalone else piece.latex for piece in pieces]
    else:
        lines = list(_whole(trace, view))
    body = "\n".join(lines) + "\n"
    return _document(body) if view.standalone else body


def _document(body: str) -> str:
    strange = sorted({character for character in body if not tex.has_a_glyph(character)})
    lines = [f"\\DeclareUnicodeCharacter{{{ord(c):04X}}}{{\\texttt{{U+{ord(c):04X}}}}}\n" for c in strange]
    if lines:
        lines = ["\\ifdefined\\DeclareUnicodeCharacter % pdfTeX has no glyphs for these\n", *lines, "\\fi\n"]
    return f"{PREAMBLE}{''.join(lines)}\\begin{{document}}\n{body}\\end{{document}}\n"


def _display(latex: str) -> str:
    return f"\\[\n  {latex}\n\\]"


def _aligned(lines: Iterable[str]) -> str:
    return "\\begin{align*}\n  " + " \\\\\n  ".join(lines) + "\n\\end{align*}"


# The page's parts


def _whole(trace: Trace, view: View) -> Iterator[str]:
    steps, result = divided(trace, view)
    yield f"% {trace.calculation}; it needs \\usepackage{{amsmath}}"
    if view.standalone:
        yield f"\\section*{{{tex.text(trace.calculation)}}}"
    yield tex.text(trace.summary)
    yield from (f"\n\\emph{{{tex.text(note)}}}" for note in trace.notes)
    yield from (f"\n\\textbf{{Warning:}} {tex.text(warning)}" for warning in trace.warnings)
    yield from _given(trace, view)
    yield from _items(steps, view)
    if result:
        yield "\n\\subsection*{Result}"
        yield from _items(result, view, boxed=True)


def _given(trace: Trace, view: View) -> Iterator[str]:
    """The operands, as many side by side as a line holds."""
    row: list[str] = []
    width = 0
    for step in operand_steps(trace).values():
        for piece in _value(step, view, f"{_symbol(step)} = "):
            if row and width + piece.width > LINE:
                yield _display(" \\qquad ".join(row))
                row, width = [], 0
            row.append(piece.latex)
            width += piece.width + 4
    if row:
        yield _display(" \\qquad ".join(row))
    if chosen := options(trace):
        yield f"\\noindent with {tex.text(', '.join(chosen))}"


def _items(items: Sequence[Item], view: View, *, boxed: bool = False) -> Iterator[str]:
    group = ""
    for item in items:
        if item.step.group != group:
            group = item.step.group
            yield f"\n\\subsection*{{{tex.text(group)}}}" if group else ""
        yield from _step(item, view, boxed=boxed)


def _step(item: Item, view: View, *, boxed: bool) -> Iterator[str]:
    """A step's name and reason, then a chain: its formula, its arithmetic where that is short, its value."""
    step = item.step
    number = f"{item.number}. " if item.number else ""
    yield f"\n\\paragraph{{{number}{tex.text(step.name)}}} {tex.text(step.why)}{_shape(step)}"
    symbol = _symbol(step)
    formula = Piece("" if item.again else step.latex, len(step.symbol) + len(step.formula) + 5)
    links = [] if item.again else [formula.latex]
    if formula.width > LINE:  # inside a paragraph it is broken where it may be
        yield f"\n\\noindent$\\displaystyle {symbol} = {formula.latex}$"
        links = []
    worked = in_the_step(step, view.digits)
    if step.value is not None and step.value.ndim == 0:
        links += [tex.arithmetic(line) for line, _ in worked]
    values = [*_value(step, view, boxed=boxed)]
    together = len(values) == 1 and len(links) == 1 and formula.width + values[0].width <= LINE
    if together:
        yield _display(f"{symbol} = {links[0]} = {values[0].latex}")
    else:
        chain = [f"{symbol} &= {links[0]}", *(f"&= {link}" for link in links[1:])] if links else []
        if step.value is not None and step.value.ndim == 1:
            chain += [f"{{{symbol}}}_{{{i}}} &= {tex.arithmetic(how)} = {tex.arithmetic(value)}" for i, (how, value) in enumerate(worked)]
        begin = "" if chain else symbol
        chain += [f"{begin} &= {piece.latex}" for piece in values]
        yield _aligned(chain)
    yield from (f"\\noindent {tex.text(finding)}\n" for finding in findings(step))


def _symbol(step: Step) -> str:
    return step.symbol_latex or rf"\text{{{tex.text(step.symbol)}}}"


def _shape(step: Step) -> str:
    r"""` ($n \times m = 2 \times 3$)`."""
    axes = r" \times ".join(map(tex.axis, step.axes))
    return f" (${axes} = {r' \times '.join(map(str, step.shape))}$)" if step.shape else ""
