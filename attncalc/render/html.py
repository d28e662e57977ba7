"""One HTML file that needs nothing else: formulas as MathML, values as tables, each entry's arithmetic to point at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from attncalc.render import cells, tex
from attncalc.render.dress import NOTEBOOK_STYLE, SCRIPT, STYLE
from attncalc.render.mathml import mathml
from attncalc.render.parts import Item, divided, findings, lessons, operand_steps, options, sizes, summary
from attncalc.render.pointing import NONE, Place, Pointing, pointing
from attncalc.render.shell import element, shell, text
from attncalc.render.view import View, as_read, asked_for
from attncalc.render.window import GAP, Limits, Table, heading, label, parted, window
from attncalc.render.worked import in_the_step
from attncalc.trace import Given, Step, Trace

LIMITS = Limits()
WIDE = 8  # columns from which on a table may have to be scrolled, by keyboard too
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
        parts = _value(as_read(asked_for(trace, view)), view)
    else:
        parts = _whole(trace, view, interactive=interactive)
    return "".join(f"{part}\n" for part in parts)


def _axes(words: str) -> str:
    """Names of axes: `d_model` with its model below."""
    return re.sub(r"_(\w+)", r"<sub>\1</sub>", text(words))


def _sentence(words: str) -> str:
    """Text of ours, in which `d_k` has its k below."""
    return re.sub(r"\b([A-Za-z])_([A-Za-z])\b", r"\1<sub>\2</sub>", text(words))


# The page's parts


def _whole(trace: Trace, view: View, *, interactive: bool) -> Iterator[str]:
    steps, result = divided(trace, view)
    operands = operand_steps(trace)
    points = pointing(trace, operands, [*result, *steps], view, LIMITS) if interactive else NONE
    yield element("h1", text(trace.calculation))
    yield element("p", _sentence(trace.summary))
    yield from (element("p", _sentence(note), "remark") for note in trace.notes)
    yield from (element("p", f"Warning: {text(warning)}", "remark warning") for warning in trace.warnings)
    if any(points.told.values()):
        yield f'<p class="hint faint" hidden>{HINT}</p>'
    yield from _given(trace, operands, view, points)
    if steps:
        yield element("section", "\n".join(_sections("", steps, view, points)))
    if result:
        yield element("section", "\n".join(_sections("Result", result, view, points)), "result")
    for title, lines in lessons(trace):
        yield element("h2", title)
        yield element("ul", "".join(element("li", _sentence(line)) for line in lines))


def _cells(trace: Trace, view: View) -> Iterator[str]:
    """The entries that are asked for, under their steps' formulas."""
    for step, entries in groupby(cells.lines(trace, view), key=lambda line: line.step):
        yield element("h3", text(step.key))
        yield _formula(step)
        yield element("ul", "".join(element("li", text(line.text)) for line in entries), "worked")


def _given(trace: Trace, operands: Mapping[str, Step], view: View, points: Pointing) -> Iterator[str]:
    if operands:
        yield element("h2", "Given")
        figures = (_operand(step, trace.inputs[name], view, points) for name, step in operands.items())
        yield element("div", "\n".join(figures), "operands")
    if chosen := options(trace):
        yield element("p", text(", ".join(chosen)), "faint")


def _operand(step: Step, operand: Given, view: View, points: Pointing) -> str:
    name = mathml(step.symbol_latex) if step.symbol_latex else text(step.symbol)
    size = element("span", _axes(sizes(step)), "sizes") if step.shape else ""
    said = (element("p", element("bdi", text(words)), "source") for words in (operand.source, operand.note) if words)
    if step.value is not None and step.value.ndim == 0:
        entry = window(step, view, LIMITS).tables[0].entries[0][0]
        return element("div", "\n".join([_single(step, f"{name} = ", "span", entry, points), *said]))
    return element("div", "\n".join([element("p", name + size), *said, *_value(step, view, points)]))


def _sections(title: str, items: Iterable[Item], view: View, points: Pointing) -> Iterator[str]:
    group = None
    for item in items:
        if item.step.group != group:
            group = item.step.group
            yield element("h2", text(": ".join(filter(None, (title, group))) or "Steps"))
        yield element("section", "\n".join(_step(item, view, points)))


def _step(item: Item, view: View, points: Pointing) -> Iterator[str]:
    step = item.step
    number = "" if item.number is None else element("span", str(item.number), "number")
    yield element("h3", number + text(step.name))
    if not item.again:
        yield _formula(step)
        if step.why:
            yield element("p", _sentence(step.why), "why")
        yield from (element("p", _sentence(words), "about") for words in item.about)
    yield from _value(step, view, points)
    if step in points.silent:
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


def _value(step: Step, view: View, points: Pointing = NONE) -> Iterator[str]:
    if not step.can_be_shown:
        yield element("p", text(summary(step, view)), "faint")
        return
    worked = in_the_step(step, view.digits)
    if not step.shape:
        arithmetic, value = worked[0] if worked else ("", window(step, view, LIMITS).tables[0].entries[0][0])
        chain = f"{step.name} = {arithmetic} = " if arithmetic else f"{step.name} = "
        yield _single(step, text(chain), "strong", value, points)
        return
    if worked:
        rows = (element("li", text(f"{step.name}[{i}] = {how} = {value}")) for i, (how, value) in enumerate(worked))
        yield element("ul", "".join(rows), "worked")
    shown = window(step, view, LIMITS)
    figures = []
    for table in shown.tables:
        drawn = element("table", "".join(_table(step, table, points)))
        if len(table.columns) > WIDE:
            drawn = element("div", drawn, "wide scroll", tabindex="0", role="region", aria_label=step.name)
        else:
            drawn = element("div", drawn, "scroll")
        figures.append(element("figure", drawn))
    yield element("div", "\n".join(figures), "stack", **_number(step, points))
    if shown.left_out:
        yield element("p", f"{GAP} {shown.left_out} (--all shows them)", "faint")


def _single(step: Step, chain: str, name: str, entry: str, points: Pointing) -> str:
    """A single number behind the words that lead to it."""
    number = element(name, _entry(step, (), entry), **_told(step, (), points))
    return element("p", chain + number, "value", **_number(step, points))


def _table(step: Step, table: Table, points: Pointing) -> Iterator[str]:
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
                row += element("td", _entry(step, at, entry), **_told(step, at, points))
        yield element("tr", row)
    yield "</tbody>"


def _number(step: Step, points: Pointing) -> dict[str, str]:
    """The number by which entries that were made from this value speak of it."""
    return {"data_value": str(points.numbers[step])} if step in points.numbers else {}


def _told(step: Step, at: Place, points: Pointing) -> dict[str, str]:
    """What an entry tells when it is pointed at, and its place where others point at it."""
    place = {"data_at": ",".join(map(str, at))} if step in points.numbers else {}
    told = points.told.get(step, {}).get(at)
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
