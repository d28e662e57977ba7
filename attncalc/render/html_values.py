"""Values in HTML: a table for each matrix, an entry that tells what it was made from, exact ones as formulas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from attncalc.numbers import parted
from attncalc.render import tex
from attncalc.render.mathml import mathml
from attncalc.render.parts import sizes, summary
from attncalc.render.pointing import NONE, Place, Pointing
from attncalc.render.shell import element, text
from attncalc.render.view import View
from attncalc.render.window import GAP, Limits, Table, heading, label, window
from attncalc.render.worked import ending, in_the_step
from attncalc.trace import Step

WIDE = 8  # columns from which on a table may have to be scrolled, by keyboard too


class Layout(NamedTuple):
    """What the parts of a page go by."""

    view: View
    limits: Limits = Limits()
    points: Pointing = NONE


def axes(words: str) -> str:
    """Names of axes: `d_model` with its model below."""
    return re.sub(r"_(\w+)", r"<sub>\1</sub>", text(words))


def value(step: Step, layout: Layout) -> Iterator[str]:
    """A step's value: the arithmetic of its entries where that is short, then its tables, or what is known of it."""
    if not step.can_be_shown:
        yield element("p", text(summary(step)), "faint")
        return
    worked = in_the_step(step, layout.view.digits)
    if not step.shape:
        arithmetic, number = (
            worked[0] if worked else ("", window(step, layout.view, layout.limits).tables[0].entries[0][0])
        )
        chain = f"{step.name} = {arithmetic} = " if arithmetic else f"{step.name} = "
        yield single(step, text(chain), "strong", number, layout)
        return
    if worked:
        rows = (
            element("li", text(f"{step.name}[{i}] = {ending(how, number)}")) for i, (how, number) in enumerate(worked)
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


def single(step: Step, chain: str, name: str, entry: str, layout: Layout) -> str:
    """A single number behind the words that lead to it."""
    number = element(name, _entry(step, (), entry), **_told(step, (), layout))
    return element("p", chain + number, "value", **_number(step, layout))


def _table(step: Step, table: Table, layout: Layout) -> Iterator[str]:
    row_axis, column_axis = ("", "", *step.axes)[-2:]
    is_row = len(step.shape) == 1
    span = {"scope": "colgroup", "colspan": str(len(table.columns))}
    above = element("th", axes(column_axis), "axis", **span)
    names = [_name(step, column_axis, j, scope="col") for j in table.columns]
    corner = ("", "") if is_row else ("<td></td>", element("th", axes(row_axis), "axis", scope="col"))
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
