"""One HTML file that needs nothing else: formulas as MathML, values as tables, each entry's arithmetic to point at."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Collection, Iterable, Iterator
from hashlib import sha256
from html import escape
from itertools import groupby

from attncalc.render import cells, tex
from attncalc.render.dress import NOTEBOOK_STYLE, PAGE_STYLE, SCRIPT, STYLE
from attncalc.render.mathml import mathml
from attncalc.render.parts import Item, divided, findings, lessons, operand_steps, options, sizes, summary
from attncalc.render.view import View, as_read, asked_for
from attncalc.render.window import GAP, Limits, Table, heading, label, parted, window
from attncalc.render.worked import in_the_step, written
from attncalc.text import visible
from attncalc.trace import Given, Step, Trace

LIMITS = Limits()
WIDE = 8  # columns from which on a table may have to be scrolled, by keyboard too
MOST_WORKED = 2_000  # entries of a page whose arithmetic is worked out beforehand
HINT = "Point at a number, or walk through a table with the arrow keys, to see where it comes from."


def page(trace: Trace, view: View) -> str:
    """The trace as a file; with `quiet` or `get` one value alone."""
    style = STYLE + PAGE_STYLE
    allowed = f"style-src {_hash(style)}; script-src {_hash(SCRIPT)}"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    text = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(trace.calculation)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f'<main class="attncalc">\n{_body(trace, view, interactive=True)}</main>\n'
        f"<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
    return text if view.unicode else text.encode("ascii", "xmlcharrefreplace").decode()


def fragment(trace: Trace, view: View) -> str:
    """The trace as a part of somebody else's page, in that page's colours and without a script."""
    body = _body(trace, view, interactive=False)
    return f'<div class="attncalc">\n<style>{STYLE}{NOTEBOOK_STYLE}</style>\n{body}</div>\n'


def _hash(text: str) -> str:
    """How a content security policy names the one text that it lets pass."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _body(trace: Trace, view: View, *, interactive: bool) -> str:
    if view.cells:
        parts = _cells(trace, view)
    elif view.bare:
        parts = _value(as_read(asked_for(trace, view)), view)
    else:
        parts = _whole(trace, view, interactive=interactive)
    return "".join(f"{part}\n" for part in parts)


def _text(text: str) -> str:
    """Anybody's text, which does nothing but stand there."""
    return escape(visible(text), quote=True)


def _axes(words: str) -> str:
    """Names of axes: `d_model` with its model below."""
    return re.sub(r"_(\w+)", r"<sub>\1</sub>", _text(words))


def _sentence(words: str) -> str:
    """Text of ours, in which `d_k` has its k below."""
    return re.sub(r"\b([A-Za-z])_([A-Za-z])\b", r"\1<sub>\2</sub>", _text(words))


def _element(name: str, inside: str, of: str = "", **attributes: str) -> str:
    """`_element("td", "1", "gap")` → `<td class="gap">1</td>`."""
    if of:
        attributes = {"class": of} | attributes
    said = "".join(f' {key}="{_text(value)}"' for key, value in attributes.items())
    return f"<{name}{said}>{inside}</{name}>"


# The page's parts


def _whole(trace: Trace, view: View, *, interactive: bool) -> Iterator[str]:
    steps, result = divided(trace, view)
    worked = _worked([*steps, *result]) if interactive else set()
    yield _element("h1", _text(trace.calculation))
    yield _element("p", _sentence(trace.summary))
    yield from (_element("p", _sentence(note), "remark") for note in trace.notes)
    yield from (_element("p", f"Warning: {_text(warning)}", "remark warning") for warning in trace.warnings)
    if worked:
        yield f'<p class="hint faint" hidden>{HINT}</p>'
    yield from _given(trace, view)
    if steps:
        yield _element("section", "\n".join(_sections("", steps, view, worked)))
    if result:
        yield _element("section", "\n".join(_sections("Result", result, view, worked)), "result")
    for title, texts in lessons(trace):
        yield _element("h2", title)
        yield _element("ul", "".join(_element("li", _sentence(text)) for text in texts))


def _cells(trace: Trace, view: View) -> Iterator[str]:
    """The entries that are asked for, under their steps' formulas."""
    for step, entries in groupby(cells.lines(trace, view), key=lambda line: line.step):
        yield _element("h3", _text(step.key))
        yield _formula(step)
        yield _element("ul", "".join(_element("li", _text(line.text)) for line in entries), "worked")


def _worked(items: Iterable[Item]) -> set[str]:
    """The steps whose entries are worked out beforehand, as far as the page's share of them goes."""
    left, keys = MOST_WORKED, set()
    for step in (item.step for item in items):
        if step.arithmetic is not None and step.value is not None and 0 < step.value.size <= left:
            keys.add(step.key)
            left -= step.value.size
    return keys


def _given(trace: Trace, view: View) -> Iterator[str]:
    if trace.inputs:
        yield _element("h2", "Given")
        operands = operand_steps(trace)
        figures = (_operand(step, trace.inputs[name], view) for name, step in operands.items())
        yield _element("div", "\n".join(figures), "operands")
    if chosen := options(trace):
        yield _element("p", _text(", ".join(chosen)), "faint")


def _operand(step: Step, operand: Given, view: View) -> str:
    name = mathml(step.symbol_latex) if step.symbol_latex else _text(step.symbol)
    size = _element("span", _axes(sizes(step)), "sizes") if step.shape else ""
    said = (_element("p", _element("bdi", _text(words)), "source") for words in (operand.source, operand.note) if words)
    if step.value is not None and step.value.ndim == 0:
        entry = window(step, view, LIMITS).tables[0].entries[0][0]
        return _element("div", "\n".join([_element("p", f"{name} = {_text(entry)}", "value"), *said]))
    return _element("div", "\n".join([_element("p", name + size), *said, *_value(step, view)]))


def _sections(title: str, items: Iterable[Item], view: View, worked: Collection[str]) -> Iterator[str]:
    group = None
    for item in items:
        if item.step.group != group:
            group = item.step.group
            yield _element("h2", _text(": ".join(filter(None, (title, group))) or "Steps"))
        yield _element("section", "\n".join(_step(item, view, worked)))


def _step(item: Item, view: View, worked: Collection[str]) -> Iterator[str]:
    step = item.step
    number = "" if item.number is None else _element("span", str(item.number), "number")
    yield _element("h3", number + _text(step.name))
    if not item.again:
        yield _formula(step)
        if step.why:
            yield _element("p", _sentence(step.why), "why")
        yield from (_element("p", _sentence(text), "about") for text in item.about)
    yield from _value(step, view, works=step.key in worked)
    for finding in findings(step):
        yield _element("p", _text(finding), "alarm" if "DISAGREE" in finding else "faint")


def _formula(step: Step) -> str:
    """A step's formula, the same with sizes in place, and the shape that comes out."""
    chain = [f"= {step.sizes}"] if step.sizes else []
    chain += [f"→ [{'×'.join(map(str, step.shape))}]"] if step.shape else []
    formula = mathml(f"{step.symbol_latex} = {step.latex}") if step.latex else _text(step.symbol)
    return _element("p", formula + _element("span", _text(" ".join(chain)), "sizes"), "formula")


# A value


def _value(step: Step, view: View, *, works: bool = False) -> Iterator[str]:
    if not step.can_be_shown:
        yield _element("p", _text(summary(step, view)), "faint")
        return
    worked = in_the_step(step, view.digits)
    if not step.shape:
        arithmetic, value = worked[0] if worked else ("", window(step, view, LIMITS).tables[0].entries[0][0])
        chain = f"{step.name} = {arithmetic} = " if arithmetic else f"{step.name} = "
        yield _element("p", _text(chain) + _element("strong", _entry(step, (), value)), "value")
        return
    if worked:
        rows = (_element("li", _text(f"{step.name}[{i}] = {how} = {value}")) for i, (how, value) in enumerate(worked))
        yield _element("ul", "".join(rows), "worked")
    shown = window(step, view, LIMITS)
    figures = []
    for table in shown.tables:
        drawn = _element("table", "".join(_table(step, table, view, works=works)))
        if len(table.columns) > WIDE:
            drawn = _element("div", drawn, "wide scroll", tabindex="0", role="region", **{"aria-label": step.name})
        else:
            drawn = _element("div", drawn, "scroll")
        figures.append(_element("figure", drawn))
    yield _element("div", "\n".join(figures), "stack")
    if shown.left_out:
        yield _element("p", f"{GAP} {shown.left_out} (--all shows them)", "faint")


def _table(step: Step, table: Table, view: View, *, works: bool) -> Iterator[str]:
    row_axis, column_axis = ("", "", *step.axes)[-2:]
    is_row = len(step.shape) == 1
    span = {"scope": "colgroup", "colspan": str(len(table.columns))}
    above = _element("th", _axes(column_axis), "axis", **span)
    names = [_name(step, column_axis, j, scope="col") for j in table.columns]
    corner = ("", "") if is_row else ("<td></td>", _element("th", _axes(row_axis), "axis", scope="col"))
    unseen = _element("span", _text(f"{step.symbol}, {sizes(step)}"), "unseen")
    yield _element("caption", unseen + _text(heading(step, table)))
    yield _element("thead", _element("tr", corner[0] + above) + _element("tr", corner[1] + "".join(names)))
    yield "<tbody>"
    for i, entries in zip(table.rows, table.entries, strict=True):
        row = "" if is_row else _name(step, row_axis, i, scope="row")
        for j, entry in zip(table.columns, entries, strict=True):
            if i is None or j is None:
                row += _element("td", GAP, "gap")
            else:
                at = (*table.at, j) if is_row else (*table.at, i, j)
                how = {"data-how": text} if works and (text := _how(step, at, entry, view)) else {}
                row += _element("td", _entry(step, at, entry), **how)
        yield _element("tr", row)
    yield "</tbody>"


def _entry(step: Step, at: tuple[int, ...], entry: str) -> str:
    """A number as it is; an exact one as a formula, with its decimals beside it."""
    if step.value is None or step.value.dtype != object or step.names:
        return _text(entry)
    _, sign, decimals = parted(entry)
    return mathml(tex.exact(step.value[at])) + _text(sign + decimals)


def _name(step: Step, axis: str, index: int | None, *, scope: str) -> str:
    """The heading of a row or a column: its label, or its index."""
    if index is None:
        return _element("th", GAP, "gap", scope=scope)
    text = _text(label(step, axis, index))
    if axis not in step.labels:
        return _element("th", text, scope=scope)
    return _element("th", _element("bdi", text), "label", scope=scope)


def _how(step: Step, at: tuple[int, ...], entry: str, view: View) -> str:
    """`scores[0,1] = 1×1 + 0×0 + 1×1 = 2`."""
    assert step.arithmetic is not None, "only what can be worked out is"
    arithmetic = written(step.arithmetic(at), view.digits)
    told = arithmetic not in ("", entry)  # an entry that was only moved has nothing to tell
    return f"{step.name}[{','.join(map(str, at))}] = {arithmetic} = {entry}" if told else ""
