"""One HTML file that needs nothing else: formulas as MathML, values as tables, each entry's arithmetic to point at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from math import prod

from attncalc.render import cells
from attncalc.render.dress import NOTEBOOK_STYLE, SCRIPT, STYLE
from attncalc.render.html_values import Layout, axes, single, value
from attncalc.render.mathml import mathml
from attncalc.render.parts import Item, divided, findings, lessons, operand_steps, options, outcome, sizes
from attncalc.render.pointing import NONE, pointing
from attncalc.render.shell import element, shell, text
from attncalc.render.view import View, as_read, asked_for
from attncalc.render.window import Limits, window
from attncalc.trace import Given, Step, Trace

LIMITS = (Limits(), Limits(12, 12, 4), Limits(6, 8, 2))
MOST_SHOWN = 20_000  # entries of a page; where there would be more, each value shows less of itself
HINT = "Point at a number, tap it, or walk through a table with the arrow keys, to see what it was made from."


def page(trace: Trace, view: View) -> str:
    """The trace as a file; with `quiet` or `get` one value alone."""
    return shell(trace.calculation, _body(trace, view, interactive=True), SCRIPT, unicode=view.unicode)


def fragment(trace: Trace, view: View) -> str:
    """The trace as a part of somebody else's page, in that page's colours and without a script."""
    body = _body(trace, view, interactive=False)
    return f'<div class="attncalc">\n<style>{STYLE}{NOTEBOOK_STYLE}</style>\n{body}</div>\n'


def _body(trace: Trace, view: View, *, interactive: bool) -> str:
    if view.cells:
        parts = _cells(trace, view)
    elif view.bare:
        parts = value(as_read(asked_for(trace, view)), Layout(view))
    else:
        parts = _whole(trace, view, interactive=interactive)
    return "".join(f"{part}\n" for part in parts)


def _sentence(words: str) -> str:
    """Text of ours, in which `d_k` has its k below and `e^x` its x above."""
    lowered = re.sub(r"\b([A-Za-z])_([A-Za-z])\b", r"\1<sub>\2</sub>", text(words))
    return re.sub(r"\be\^([−-]?(?:∞|\w+))", r"e<sup>\1</sup>", lowered)


def _whole(trace: Trace, view: View, *, interactive: bool) -> Iterator[str]:
    steps, result = divided(trace, view)
    operands = operand_steps(trace)
    limits = _limits([*operands.values(), *(item.step for item in (*steps, *result))])
    points = pointing(trace, operands, [*result, *steps], view, limits) if interactive else NONE
    layout = Layout(view, limits, points)
    yield element("h1", text(trace.calculation))
    yield element("p", _sentence(trace.summary))
    yield from (element("p", _sentence(note), "remark") for note in trace.notes)
    yield from (element("p", f"Warning: {text(warning)}", "remark warning") for warning in trace.warnings)
    if any(points.told.values()):
        yield f'<p class="hint faint" hidden>{HINT}</p>'
    yield from _given(trace, operands, layout)
    if steps:
        yield element("section", "\n".join(_sections("", steps, layout)))
    if result:
        yield element("section", "\n".join(_sections("Result", result, layout)), "result")
    for title, lines in lessons(trace):
        yield element("h2", title)
        yield element("ul", "".join(element("li", _sentence(line)) for line in lines))


def _cells(trace: Trace, view: View) -> Iterator[str]:
    """The entries that are asked for, under their steps' formulas."""
    for step, entries in groupby(cells.lines(trace, view), key=lambda line: line.step):
        yield element("h3", text(step.key))
        yield _formula(step)
        yield element("ul", "".join(element("li", text(line.text)) for line in entries), "worked")


def _limits(steps: Iterable[Step]) -> Limits:
    """How much of each value is shown, so that the page stays one that a browser opens at once."""
    shapes = [(prod(step.shape[:-2]), *(1, 1, *step.shape)[-2:]) for step in steps]
    for limits in LIMITS:
        most = (limits.tables, limits.rows, limits.columns)
        if sum(prod(map(min, shape, most)) for shape in shapes) <= MOST_SHOWN:
            return limits
    return LIMITS[-1]


def _given(trace: Trace, operands: Mapping[str, Step], layout: Layout) -> Iterator[str]:
    if operands:
        yield element("h2", "Given")
        figures = (_operand(step, trace.inputs[name], layout) for name, step in operands.items())
        yield element("div", "\n".join(figures), "operands")
    if chosen := options(trace):
        yield element("p", text(", ".join(chosen)), "faint")


def _operand(step: Step, operand: Given, layout: Layout) -> str:
    name = mathml(step.symbol_latex) if step.symbol_latex else text(step.symbol)
    size = element("span", axes(sizes(step)), "sizes") if step.shape else ""
    said = (element("p", element("bdi", text(words)), "source") for words in (operand.source, operand.note) if words)
    if step.value is not None and step.value.ndim == 0:
        entry = window(step, layout.view, layout.limits).tables[0].entries[0][0]
        return element("div", "\n".join([single(step, f"{name} = ", "span", entry, layout), *said]))
    return element("div", "\n".join([element("p", name + size), *said, *value(step, layout)]))


def _sections(title: str, items: Iterable[Item], layout: Layout) -> Iterator[str]:
    group = None
    for item in items:
        if item.step.group != group:
            group = item.step.group
            yield element("h2", text(": ".join(filter(None, (title, group))) or "Steps"))
        yield element("section", "\n".join(_step(item, layout)))


def _step(item: Item, layout: Layout) -> Iterator[str]:
    step = item.step
    number = "" if item.number is None else element("span", str(item.number), "number")
    yield element("h3", number + text(step.name))
    if not item.again:
        yield _formula(step)
        if step.why:
            yield element("p", _sentence(step.why), "why")
        yield from (element("p", _sentence(words), "about") for words in item.about)
    yield from value(step, layout)
    if step in layout.points.silent:
        yield element("p", f"the arithmetic of an entry: --cell '{text(step.key)}[{_first(step)}]'", "faint")
    for finding in findings(step):
        yield element("p", text(finding), "alarm" if "DISAGREE" in finding else "faint")


def _first(step: Step) -> str:
    return ",".join("0" * len(step.shape))


def _formula(step: Step) -> str:
    """A step's formula, the same with sizes in place, and the shape that comes out."""
    chain = [f"= {step.sizes}"] if step.sizes else []
    chain += [f"→ {comes_out}"] if (comes_out := outcome(step)) else []
    formula = mathml(f"{step.symbol_latex} = {step.latex}") if step.latex else text(step.symbol)
    return element("p", " ".join([formula, *(element("span", text(link), "sizes") for link in chain)]), "formula")
