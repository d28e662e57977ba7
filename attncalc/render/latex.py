"""LaTeX for a document of one's own, or a document by itself: formulas, matrices, the result in a box."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from attncalc.render import cells, tex
from attncalc.render.links import CONTINUED, LINE, Link, fits, spelled_out
from attncalc.render.matrices import value
from attncalc.render.parts import Item, divided, findings, lessons, operand_steps, options
from attncalc.render.view import View, as_read, asked_for
from attncalc.render.worked import ending, in_the_step
from attncalc.trace import Step, Trace

PREAMBLE = r"""\documentclass[11pt,a4paper]{article}
\usepackage[margin=2.5cm]{geometry}
\usepackage{amsmath}
\allowdisplaybreaks
"""
INNERMOST = r"\\begin\{cases\}(?:(?!\\(?:begin|end)\{).)*\\end\{cases\}"
CASES = re.compile(rf"(\\left\({INNERMOST}\\right\)|{INNERMOST})")


def page(trace: Trace, view: View) -> str:
    """The trace to put into a document, or as a document; with `quiet` or `get` one value alone."""
    if view.bare:
        parts = _alone(as_read(asked_for(trace, view)), view)
    elif view.cells:
        parts = list(_cells(trace, view))
    else:
        parts = list(_whole(trace, view))
    body = "\n".join(parts).strip() + "\n"
    return _document(body) if view.standalone else body


def equations(trace: Trace, view: View) -> str:
    """The steps as one display of equations, for pages that set formulas and no more of LaTeX."""
    steps, result = divided(trace, view)
    lines: list[str] = []
    for item in (*steps, *result):
        formula = [Link(item.step.latex, 0)] if item.step.latex and not item.again else []
        lines += _equations(item.step, [*formula, *value(item.step, view).links])
    return "$$\\begin{aligned}\n  " + " \\\\[1ex]\n  ".join(lines) + "\n\\end{aligned}$$"


def _alone(step: Step, view: View) -> list[str]:
    """A value by itself: what it equals stands behind it, and an entry that is listed stands behind its place."""
    links = value(step, view).links
    wide = sum(link.width for link in links if not link.below or _is_listed(link)) > LINE
    if view.standalone and (any(map(_is_listed, links)) or (wide and not view.everything)):
        return ["\\begin{align*}\n  " + " \\\\\n  ".join(_equations(step, links)) + "\n\\end{align*}"]
    parts: list[str] = []
    for link in links:
        if _is_listed(link):
            parts.append(f"{_named(step, link)} = {link.latex}")
        elif link.relation == CONTINUED:
            parts[-1] += f" {link.latex}"
        elif parts and not link.below and not view.everything:  # which shows a wide matrix in pieces
            parts[-1] += f" {link.relation} {link.latex}"
        else:
            parts.append(link.latex)
    return [_display(part) for part in parts] if view.standalone else parts


def _is_listed(link: Link) -> bool:
    """Whether it is one entry at its place, and not a matrix of a stack."""
    return link.below.replace(",", "").isdigit()


def _document(body: str) -> str:
    strange = sorted({character for character in body if not tex.has_a_glyph(character)})
    lines = [f"\\DeclareUnicodeCharacter{{{ord(c):04X}}}{{\\texttt{{U+{ord(c):04X}}}}}\n" for c in strange]
    if lines:
        lines = ["\\ifdefined\\DeclareUnicodeCharacter % pdfTeX has no glyphs for these\n", *lines, "\\fi\n"]
    return f"{PREAMBLE}{''.join(lines)}\\begin{{document}}\n\n{body}\n\\end{{document}}\n"


def _display(latex: str) -> str:
    return f"\\[\n  {latex}\n\\]"


# The page's parts


def _whole(trace: Trace, view: View) -> Iterator[str]:
    steps, result = divided(trace, view)
    if view.standalone:
        yield f"\\section*{{{tex.text(trace.calculation)}}}"
    else:
        yield f"% {trace.calculation}; needs \\usepackage{{amsmath}}"
    yield tex.sentence(trace.summary)
    yield from (f"\n\\emph{{{tex.sentence(note)}}}" for note in trace.notes)
    yield from (f"\n\\textbf{{Warning:}} {tex.sentence(warning)}" for warning in trace.warnings)
    yield from _given(trace, view)
    yield from _items(steps, view)
    if result:
        yield "\n\\subsection*{Result}"
        yield from _items(result, view, boxed=True)
    for title, texts in lessons(trace):
        points = "\n".join(f"  \\item {tex.sentence(text)}" for text in texts)
        yield f"\n\\subsection*{{{title}}}\n\\begin{{itemize}}\n{points}\n\\end{{itemize}}"


def _cells(trace: Trace, view: View) -> Iterator[str]:
    """The entries that are asked for, under their steps' formulas."""
    for step, entries in groupby(cells.lines(trace, view), key=lambda line: line.step):
        yield f"\n\\paragraph{{{tex.text(step.key)}}} {tex.sentence(step.why)}{_shape(step)}"
        links = [Link(step.latex, LINE)]
        for line in entries:
            links += spelled_out(step, line.at, " = ".join(line.links))
        yield _chain(step, links)


def _given(trace: Trace, view: View) -> Iterator[str]:
    """The operands, as many side by side as a line holds."""
    row: list[str] = []
    room = LINE
    for step in operand_steps(trace).values():
        if step.value is not None and step.value.dtype.kind == "U":  # a formula, as it was typed
            yield rf"\noindent {tex.text(step.name)}: {tex.text(str(step.value))}"
            continue
        shown = value(step, view)
        for link in shown.links:
            width = len(step.symbol) + len(link.below) + link.width + 6
            if row and width > room:
                yield _display(" \\qquad ".join(row))
                row, room = [], LINE
            row.append(f"{_named(step, link)} {link.relation} {link.latex}")
            room -= width
        if shown.left_out:
            yield from [*([_display(" \\qquad ".join(row))] if row else []), shown.left_out]
            row, room = [], LINE
    if row:
        yield _display(" \\qquad ".join(row))
    if chosen := options(trace):
        yield f"\n\\noindent with {tex.text(', '.join(chosen))}"


def _items(items: Sequence[Item], view: View, *, boxed: bool = False) -> Iterator[str]:
    group = ""
    for item in items:
        if item.step.group != group:
            group = item.step.group
            yield f"\n\\subsection*{{{tex.text(group or 'after that')}}}"
        yield from _step(item, view, boxed=boxed)


def _step(item: Item, view: View, *, boxed: bool) -> Iterator[str]:
    """A step's name and reason, then a chain: its formula, its arithmetic where that is short, its value."""
    step = item.step
    number = f"{item.number}. " if item.number else ""
    yield f"\n\\paragraph{{{number}{tex.text(step.name)}}} {tex.sentence(step.why)}{_shape(step)}"
    yield from (f"\n{tex.sentence(text)}" for text in item.about)
    links: list[Link] = []
    if step.latex and not item.again:
        links.append(Link(step.latex, len(step.formula)))
        if len(step.symbol) + len(step.formula) > LINE:
            yield f"\n{{\\raggedright\\noindent$\\displaystyle {_symbol(step)} = {_breakable(step.latex)}$\\par}}"
            links.clear()
    links += _worked(step, view)
    shown = value(step, view)
    whole = all(link.relation != CONTINUED for link in shown.links)
    links += [link._replace(latex=f"\\boxed{{{link.latex}}}") if boxed and whole else link for link in shown.links]
    if links:
        yield _chain(step, links)
    yield from (remark for remark in (shown.left_out, *map(tex.sentence, findings(step))) if remark)


def _breakable(latex: str) -> str:
    """A formula that TeX may break in a paragraph, inside brackets too: those that grow would hold it together.

    Those of cases keep their size: there is nothing to break in them.
    """
    parts = CASES.split(latex)
    parts[::2] = (re.sub(r"\\(left|right)(?=\W)", lambda sign: rf"\big{sign[1][0]}", part) for part in parts[::2])
    return "".join(parts).replace("; ", r";\allowbreak ")


def _worked(step: Step, view: View) -> Iterator[Link]:
    for index, (arithmetic, result) in enumerate(in_the_step(step, view.digits)):
        line = ending(arithmetic, result) if step.shape else arithmetic
        if line and fits(step, line):
            yield from spelled_out(step, (index,) if step.shape else (), line)


def _chain(step: Step, links: Sequence[Link]) -> str:
    """The links behind one another if a line holds them, else below one another."""
    width = len(step.symbol) + sum(link.width + 3 for link in links)
    if width <= LINE and not any(link.below for link in links):
        return _display(" ".join([_symbol(step), *(f"{link.relation} {link.latex}" for link in links)]))
    return "\\begin{align*}\n  " + " \\\\\n  ".join(_equations(step, links)) + "\n\\end{align*}"


def _equations(step: Step, links: Sequence[Link]) -> list[str]:
    """The links, aligned; the step's name stands before the first, and wherever a part of it is spoken of."""
    lines, continued = [], False
    for link in links:
        left = "" if link.relation == CONTINUED or (continued and not link.below) else _named(step, link)
        lines.append(f"{left} &{link.relation} {link.latex}".strip())
        continued = not link.below and link.relation != CONTINUED
    return lines


def _symbol(step: Step) -> str:
    return step.symbol_latex or rf"\text{{{tex.text(step.symbol)}}}"


def _named(step: Step, link: Link) -> str:
    return f"{{{_symbol(step)}}}_{{{link.below}}}" if link.below else _symbol(step)


def _shape(step: Step) -> str:
    r"""` ($n \times m = 2 \times 3$)`."""
    axes, lengths = r" \times ".join(map(tex.axis, step.axes)), r" \times ".join(map(str, step.shape))
    return f" (${axes} = {lengths}$)" if step.shape else ""
