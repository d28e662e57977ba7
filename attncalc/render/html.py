"""One HTML file that needs nothing else: formulas as MathML, values as tables, each entry's arithmetic to point at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from math import prod
from typing import NamedTuple

from attncalc.render import cells, tex
from attncalc.render.dress import NOTEBOOK_STYLE, SCRIPT, STYLE
from attncalc.render.mathml import mathml
from attncalc.render.parts import Item, divided, findings, lessons, operand_steps, options, sizes, summary
from attncalc.render.pointing import NONE, Place, Pointing, pointing
from attncalc.render.shell import element, shell, text
from attncalc.render.view import View, as_read, asked_for
from attncalc.render.window import GAP, Limits, Table, heading, label, parted, window
from attncalc.render.worked import ending, in_the_step
from attncalc.trace import Given, Step, Trace

LIMITS = (Limits(), Limits(12, 12, 4), Limits(6, 8, 2))
MOST_SHOWN = 20_000  # entries of a page; where there would be more, each value shows less of itself
WIDE = 8  # columns from which on a table may have to be scrolled, by keyboard too
HINT = "Point at a number, tap it, or walk through a table with the arrow keys, to see what it was made from."


class Layout(NamedTuple):
    """What the parts of a page go by."""

    view: View
    limits: Limits = LIMITS[0]
    points: Pointing = NONE


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
        parts = _value(as_read(asked_for(trace, view)), Layout(view))
    else:
        parts = _whole(trace, view, interactive=interactive)
    return "".join(f"{part}\n" for part in parts)


def _axes(words: str) -> str:
    """Names of axes: `d_model` with its model below."""
    return re.sub(r"_(\w+)", r"<sub>\1</sub>", text(words))


def _sentence(words: str) -> str:
    """Text of ours, in which `d_k` has its k below and `e^x` its x above."""
    lowered = re.sub(r"\b([A-Za-z])_([A-Za-z])\b", r"\1<sub>\2</sub>", text(words))
    return re.sub(r"\be\^([−-]?(?:∞|\w+))", r"e<sup>\1</sup>", lowered)


# The page's parts


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
    size = element("span", _axes(sizes(step)), "sizes") if step.shape else ""
    said = (element("p", element("bdi", text(words)), "source") for words in (operand.source, operand.note) if words)
    if step.value is not None and step.value.ndim == 0:
        entry = window(step, layout.view, layout.limits).tables[0].entries[0][0]
        return element("div", "\n".join([_single(step, f"{name} = ", "span", entry, layout), *said]))
    return element("div", "\n".join([element("p", name + size), *said, *_value(step, layout)]))


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
    yield from _value(step, layout)
    if step in layout.points.silent:
        yield element("p", f"the arithmetic of an entry: --cell '{text(step.key)}[{_first(step)}]'", "faint")
    for finding in findings(step):
        yield element("p", text(finding), "alarm" if "DISAGREE" in finding else "faint")


def _first(step: Step) -> str:
    return ",".join("0" * len(step.shape))


def _formula(step: Step) -> str:
    """A step's formula, the same with sizes in place, and the shape that comes out."""
    chain = [f"= {step.sizes}"] if step.sizes else []
    chain += [f"→ [{'×'.join(map(str, step.shape))}]"] if step.shape else []
    formula = mathml(f"{step.symbol_latex} = {step.latex}") if step.latex else text(step.symbol)
    return element("p", formula + element("span", text(" ".join(chain)), "sizes"), "formula")


# A value


def _value(step: Step, layout: Layout) -> Iterator[str]:
    if not step.can_be_shown:
        yield element("p", text(summary(step, layout.view)), "faint")
        return
    worked = in_the_step(step, layout.view.digits)
    if not step.shape:
        arithmetic, value = (
            worked[0] if worked else ("", window(step, layout.view, layout.limits).tables[0].entries[0][0])
        )
        chain = f"{step.name} = {arithmetic} = " if arithmetic else f"{step.name} = "
        yield _single(step, text(chain), "strong", value, layout)
        return
    if worked:
        rows = (
            element("li", text(f"{step.name}[{i}] = {ending(how, value)}")) for i, (how, value) in enumerate(worked)
        )
        yield element("ul", "".join(rows), "worked")
    shown = window(step, layout.view, layout.limits)
    figures = []
    for table in shown.tables:
        drawn = element("table", "".join(_table(step, table, layout)))
        if len(table.columns) > WIDE:
            drawn = element("div", drawn, "wide scroll", tabindex="0", role="region", aria_label=step.name)
        else:
            drawn = element("div", drawn, "scroll")
        figures.append(element("figure", drawn))
    yield element("div", "\n".join(figures), "stack", **_number(step, layout))
    if shown.left_out:
        yield element("p", f"{GAP} {shown.left_out} (--all shows them)", "faint")


def _single(step: Step, chain: str, name: str, entry: str, layout: Layout) -> str:
    """A single number behind the words that lead to it."""
    number = element(name, _entry(step, (), entry), **_told(step, (), layout))
    return element("p", chain + number, "value", **_number(step, layout))


def _table(step: Step, table: Table, layout: Layout) -> Iterator[str]:
    row_axis, column_axis = ("", "", *step.axes)[-2:]
    is_row = len(step.shape) == 1
    span = {"scope": "colgroup", "colspan": str(len(table.columns))}
    above = element("th", _axes(column_axis), "axis", **span)
    names = [_name(step, column_axis, j, scope="col") for j in table.columns]
    corner = ("", "") if is_row else ("<td></td>", element("th", _axes(row_axis), "axis", scope="col"))
    unseen = element("span", text(f"{step.symbol}, {sizes(step)}"), "unseen")
    yield element("caption", unseen + text(heading(step, table)))
    yield element("thead", element("tr", corner[0] + above) + element("tr", corner[1] + "".join(names)))
    yield "<tbody>"
    for i, entries in zip(table.rows, table.entries, strict=True):
        row = "" if is_row else _name(step, row_axis, i, scope="row")
        for j, entry in zip(table.columns, entries, strict=True):
            if i is None or j is None:
                row += element("td", GAP, "gap")
            else:
                at = (*table.at, j) if is_row else (*table.at, i, j)
                row += element("td", _entry(step, at, entry), **_told(step, at, layout))
        yield element("tr", row)
    yield "</tbody>"


def _number(step: Step, layout: Layout) -> dict[str, str]:
    """The number by which entries that were made from this value speak of it."""
    return {"data_value": str(layout.points.numbers[step])} if step in layout.points.numbers else {}


def _told(step: Step, at: Place, layout: Layout) -> dict[str, str]:
    """What an entry tells when it is pointed at, and its place where others point at it."""
    place = {"data_at": ",".join(map(str, at))} if step in layout.points.numbers else {}
    told = layout.points.told.get(step, {}).get(at)
    if told is None:
        return place
    return place | {"data_how": told.how} | ({"data_from": told.origins} if told.origins else {})


def _entry(step: Step, at: tuple[int, ...], entry: str) -> str:
    """A number as it is; an exact one as a formula, with its decimals beside it."""
    if step.value is None or step.value.dtype != object or step.names:
        return text(entry)
    _, sign, decimals = parted(entry)
    return mathml(tex.exact(step.value[at])) + text(sign + decimals)


def _name(step: Step, axis: str, index: int | None, *, scope: str) -> str:
    """The heading of a row or a column: its label, or its index."""
    if index is None:
        return element("th", GAP, "gap", scope=scope)
    name = text(label(step, axis, index))
    if axis not in step.labels:
        return element("th", name, scope=scope)
    return element("th", element("bdi", name), "label", scope=scope)
