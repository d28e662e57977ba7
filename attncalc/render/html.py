"""One self-contained HTML file: formulas as MathML, values as tables, arithmetic shown when an entry is pointed at."""

from __future__ import annotations

import re
from base64 import b64encode
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from hashlib import sha256
from itertools import chain, groupby, takewhile
from math import ceil, log10, prod
from typing import Any

from attncalc.common.errors import amount
from attncalc.common.system import loaded
from attncalc.render import View
from attncalc.render.dress import NOTEBOOK_STYLE, PAGE_STYLE, STYLE
from attncalc.render.html_values import (
    DEEPEST,
    LABEL,
    Block,
    Layout,
    Link,
    anchor,
    around,
    axis_names,
    below,
    element,
    formula_text,
    named,
    on_paper,
    single,
    swatches,
    text,
    value,
    whole_numbers,
    with_powers,
)
from attncalc.render.mathml import mathml
from attncalc.render.page import (
    BACKWARD,
    BLANK,
    NOTHING,
    Arithmetic,
    Formula,
    Heading,
    Limits,
    Map,
    Note,
    Page,
    Paragraph,
    Part,
    Point,
    Points,
    Row,
    Rows,
    Spot,
    Table,
    Verdict,
    number,
    shown_entries,
    sized,
)
from attncalc.render.script import SCRIPT

LIMITS = (Limits(), Limits(12, 12, 4), Limits(6, 8, 2))
FEWEST = Limits(3, 3, 3)
MOST_SHOWN = 20_000  # entries of a page; if there are more, less is shown of each value
MANY = 24  # with so many steps, groups are folded, and the contents list only the groups
OPTION = r"(?<!\S)\(?--[a-z][a-z0-9-]*(?: (?:&#x27;.*?&#x27;|(?:all|N)\b))?"  # an option and its value
MANY_OPERANDS = 9  # on a folded page, so many operands are folded too
FEW = 3  # there are no contents with fewer lines
LEAST_WRONG = 3  # the number of the lightest shade for wrong steps
FITTING = 24  # letters of a formula for which every page is wide enough
LONG = 24  # characters from which on a name or a cell may be broken; such a cell has its own width
LETTERED = r"\b([^\W\d_]|[a-z]+(?=_0))_([A-Za-z0-9]|(?<=d_)[a-z]+|(?<=W_)[A-Z]+|(?<=[hwl]_)out)(?![^\W²³])"
"""Symbols and axes with subscripts, `s_k²` and `d_model`; and words with a 0 below: `chosen_0`."""
HINT = "Point at a number, tap it, or walk through a table with the arrow keys, to see what it was made from."
TOOLS = (
    '<div class="tools" hidden><button type="button" class="predict" aria-pressed="false">Predict first</button> '
    '<button type="button" class="unfold">Open all</button> <button type="button" class="fold">Fold all</button></div>'
)
PANEL = """<aside class="panel" aria-label="How a number was made" hidden>
<p class="trail"></p>
<p class="asked" hidden><label><span></span> <input type="text" inputmode="decimal" autocomplete="off"></label>
<button type="button" class="look">Look</button></p>
<div class="rule" aria-hidden="true"></div>
<output class="how"></output>
<div class="from"></div>
<button type="button" class="close">Close</button>
</aside>
"""


def write(page: Page, view: View) -> str:
    """The page as a file that runs no script but its own."""
    return "".join(pieces(page, view))


def pieces(page: Page, view: View) -> Iterator[str]:
    """The same piece by piece: a page of millions of entries is never held whole."""
    script = SCRIPT if page.told else ""
    made = _file(page.title, _body(page, Layout(page, view, limits(page), {})), script)
    yield from made if view.unicode else (piece.encode("ascii", "xmlcharrefreplace").decode() for piece in made)


def fragment(page: Page, view: View) -> str:
    """The page as a part of another page, in that page's colours and without a script."""
    layout = Layout(page, view, limits(page), None)
    return f'<div class="attncalc">\n<style>{STYLE}{NOTEBOOK_STYLE}</style>\n{"".join(_body(page, layout))}</div>\n'


# The file


def _file(title: str, body: Iterable[str], script: str) -> Iterator[str]:
    """A self-contained file, whose content security policy allows only its own style and script."""
    style = STYLE + PAGE_STYLE
    allowed = [f"style-src {_hash(style)}", *([f"script-src {_hash(script)}"] if script else [])]
    policy = "; ".join(["default-src 'none'", *allowed, "base-uri 'none'", "form-action 'none'"])
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        '<main class="attncalc">\n'
    )
    yield from body
    run = f"<script>{script}</script>\n" if script else ""
    yield f"{PANEL if script else ''}</main>\n{run}</body>\n</html>\n"


def _hash(text: str) -> str:
    """The hash by which a content security policy allows this text."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _sentence(words: str) -> str:
    """Text of ours, with `d_k` and `d_model` set with subscripts, and `e^x` with a superscript."""
    raised = with_powers(re.sub(LETTERED, r"\1<sub>\2</sub>", text(words)))
    return re.sub(OPTION, lambda option: element("span", option[0], "option"), raised)


SAID = {"why": "why", "about": "about", "remark": "faint", "instructions": "instructions"}
"""Kind of running text → its class."""
SET = {"strong": "strong", "emphasis": "em", "code": "code"}
"""Kind of span → its element."""

# Blocks


def _body(page: Page, layout: Layout) -> Iterator[str]:
    """The blocks, with the table of contents before the first part."""
    above = [*takewhile(lambda block: not isinstance(block, Part), page.blocks)]
    blocks = (above, page.blocks[len(above) :])
    if not above:  # a list
        yield from below([element("h1", text(page.title)), ""])
    for block in chain(_blocks(blocks[0], layout), _contents(page, _links(page, layout)), _blocks(blocks[1], layout)):
        yield from below([block, ""])


def _links(page: Page, layout: Layout) -> list[Link]:
    """The lines of the contents, found by writing all parts once with hardly any entries."""
    if layout.links is None:
        return []
    view, bare = layout.view._replace(everything=False), page._replace(told=NOTHING, origins=frozenset())
    links: dict[str, Link] = {}
    deque(below(_blocks(page.blocks, Layout(bare, view, FEWEST, links))), maxlen=0)
    return [link for link in links.values() if link.text]


def _contents(page: Page, links: Sequence[Link]) -> Iterator[str]:
    if page.steps >= MANY:
        links = [link for link in links if not link.is_step]
    if len(links) < FEW:
        return
    lines = []
    for name, run in groupby(links, key=_outermost):
        found = [
            element("li", element("a", text(x.text), href=f"#{x.id}"), *([] if x.is_step else ["part"])) for x in run
        ]
        if len(found) > 1:  # several lines within one encoder, or one token
            inside = element("summary", text(name)) + element("ol", "".join(found))
            found = [element("li", element("details", inside))]
        lines += found
    yield element("nav", element("ol", "".join(lines)), "contents", aria_label="Contents")


def _outermost(link: Link) -> str:
    """The outermost group that a part is within, forward or backward: one encoder, one token."""
    if link.is_step:
        return link.id
    name, _, rest = link.text.partition("/")
    return name + BACKWARD if rest.endswith(BACKWARD) else name


def limits(page: Page) -> Limits:
    """How much of each value is shown, so that browsers open the page at once."""
    tables = [table for part in page.all(Part) for each in (part, *part.steps) for table in each.all(Table)]
    fitting = (most for most in LIMITS if sum(shown_entries(t, View(), most) for t in tables) <= MOST_SHOWN)
    return next(fitting, LIMITS[-1])


def _blocks(blocks: Sequence[Any], layout: Layout) -> Iterator[Block]:
    for kind, run in groupby(blocks, key=type):
        if kind is Verdict:
            yield from _verdicts(list(run))
            continue
        if kind is Map:
            yield from (_map(block, layout) for block in run if block.names)
            yield _legend()
            continue
        for block in run:
            yield from _block(block, layout)


def _block(block: Any, layout: Layout) -> Iterator[Block]:
    if isinstance(block, Heading):
        yield element("h1", text(block.text))
    elif isinstance(block, Paragraph) and block.kind == "where":
        yield element("p", "where " + "; ".join(map(mathml, re.findall(r"\$(.*?)\$", block.latex))), "where")
    elif isinstance(block, Paragraph) and block.kind == "onward" and layout.is_pointed_at:
        return  # other entries can be pointed at
    elif isinstance(block, Paragraph):
        said = element("code", text(block.text)) if block.kind == "code" else _sentence(block.text)
        said = "".join(element(SET[kind], text(part)) if kind else text(part) for part, kind in block.spans) or said
        said += f": {BLANK * 5}" if block.kind == "blank" else ""
        yield element("p", said, SAID.get(block.kind, ""))
    elif isinstance(block, Note) and block.kind == "warning":
        yield element("p", f"Warning: {text(block.text)}", "remark warning")
    elif isinstance(block, Note):
        yield element("p", _sentence(block.text), "remark")
    elif isinstance(block, Rows):
        yield _rows(block)
    elif isinstance(block, Arithmetic):
        yield element("ul", "".join(element("li", whole_numbers(line.text)) for line in block.lines), "worked")
    elif isinstance(block, Points):
        yield element("ul", "".join(element("li", _point(point, is_named=bool(block.room))) for point in block.points))
    elif isinstance(block, Table):
        yield from value(block, (), layout)
    elif isinstance(block, Part):
        yield from PARTS.get(block.kind, _section)(block, layout)
    else:
        yield loaded("render.html_pictures:picture")(block, layout.view)  # few pages have pictures


def _given(part: Part, layout: Layout) -> Iterator[Block]:
    if layout.is_pointed_at:
        yield f'<p class="hint faint" hidden>{HINT}</p>{TOOLS}'
    if tables := list(part.all(Table)):
        title = element("h2", text(part.heading.text))
        inside = around("div", below(_operand(table, layout) for table in tables), "operands")
        is_open = len(tables) < MANY_OPERANDS or layout.page.steps < MANY or layout.links is None
        yield _folded("section", title, inside, layout.anchor("given", part.heading.text), is_open=is_open)
    if chosen := [_sentence(note.text) for note in part.all(Note)]:
        chosen[:-1] = [f"{option}," for option in chosen[:-1]]  # so that no line begins with a comma
        yield element("p", " ".join(element("span", option, "option") for option in chosen), "faint")


def _folded(
    kind: str, title: str, inside: Iterable[str], anchor: str, of: str = "", *, is_open: bool = True
) -> Iterator[str]:
    """A part that can be folded by its title; if the part has an id, the title ends with a link to it."""
    if anchor:
        title += element("a", "", "link", href=f"#{anchor}", aria_label="link to this part")
    shown = {"open": ""} if is_open else {}
    lines = chain([f"<summary>{title}</summary>\n"], inside, ["\n"])
    return around(kind, around("details", lines, **shown), of, **named(anchor))


def _operand(table: Table, layout: Layout) -> Iterator[str]:
    name = mathml(table.symbol_latex) if table.symbol_latex else text(table.symbol)
    size = element("span", axis_names(table.sizes), "sizes") if table.shape else ""
    said = [element("p", element("bdi", text(words)), "source") for words in (table.source, table.note) if words]
    anchor = layout.anchor(f"given/{table.name}")
    if not table.shape:
        entry = number(table, layout.view)
        return around("div", below([single(table, f"{name} = ", "span", entry, layout), *said]), **named(anchor))
    blocks = chain([element("p", name + size), *said], value(table, (), layout, anchor))
    return around("div", below(blocks), **named(anchor))


def _steps(part: Part, layout: Layout) -> Iterator[Block]:
    """The groups of steps."""
    if part.blocks:
        found = ([_group(of, part, layout)] if isinstance(of, Part) else _block(of, layout) for of in part.blocks)
        drawn = chain.from_iterable(found)
        yield around("section", below(drawn), "result" if part.kind == "result" else "")


def _group(group: Part, of: Part, layout: Layout) -> Iterator[str]:
    """The steps of a group; forward and backward steps without groups stand side by side if there is room."""
    title = "Result" if of.kind == "result" else ""
    said = ": ".join(filter(None, (title, group.heading.text))) or of.heading.text
    name = f"{group.heading.text}/" if group.heading.text and not title else said.lower()
    is_listed = group.kind == "group" or layout.page.steps >= MANY  # in the contents; otherwise its steps are
    anchor = layout.anchor(name, said if is_listed else "") or layout.another(name)
    passes = [list(steps) for _, steps in groupby(group.all(Part), key=_is_backward)]
    columns = [below(_folded_step(step, layout) for step in steps) for steps in passes]
    inside = below(columns)
    if len(columns) == 2:
        inside = around("div", below(around("div", column) for column in columns), "passes")
    is_open = bool(title) or layout.page.steps < MANY or layout.links is None
    heading = element("h2", text(said)) + ("" if is_open else _outcome(list(group.all(Part)), layout))
    yield from _folded("section", heading, inside, anchor, "group", is_open=is_open)


def _outcome(steps: Sequence[Part], layout: Layout) -> str:
    """`29 steps → output 4×4`: the outcome of a folded part."""
    last = steps[-1].one(Table)
    single = element("span", text(f"= {number(last, layout.view)}"), "chain") if prod(last.shape) == 1 else ""
    size = single or sized(last.shape)
    return element("span", text(f"{amount(len(steps), 'step')} → {steps[-1].heading.text} ") + size, "sizes")


def _is_backward(step: Part) -> bool:
    return step.heading.text.startswith("grad_")


def _folded_step(part: Part, layout: Layout) -> Iterator[str]:
    counted = "" if part.heading.number is None else element("span", str(part.heading.number), "number")
    name = text(part.heading.text)
    name = name.replace("_", "_<wbr>") if len(name) > LONG else name
    title = element("h3", counted + name)
    own = layout.anchor(part.heading.key or part.heading.text, part.heading.text, is_step=True)
    entries = anchor(part.heading.key) if part.kind == "again" and layout.links is not None else own
    return _folded("section", title, below(_step(part, layout, entries)), own, "step")


def _step(part: Part, layout: Layout, anchor: str) -> Iterator[Block]:
    if part.kind != "again":
        yield from map(_formula, part.all(Formula))
        for block in part.all(Paragraph):
            yield from _block(block, layout)
    lines = () if part.kind == "again" else tuple(part.lines)
    yield from value(part.one(Table), lines, layout, anchor)
    for note in part.all(Note):
        yield element("p", text(note.text), "alarm" if note.kind == "alarm" else "faint")


def _formula(formula: Formula) -> str:
    """A step's formula, the same with sizes in place of names, and the shape of its result."""
    chain = [f"= {formula.sizes}"] if formula.sizes else []
    chain += [f"→ {formula.outcome}"] if formula.outcome else []
    latex = " = ".join(filter(None, (formula.symbol_latex, formula.latex)))
    drawn = mathml(latex) if formula.symbol_latex else text(formula.symbol)
    if "<math" in drawn and len(formula.text) > FITTING:  # as plain letters too, for pages that are too narrow for it
        drawn += element("span", formula_text(f"{formula.symbol} = {formula.text}"), "letters")
    chain = [element("span", formula_text(link), "sizes") for link in chain]
    return element("p", " ".join([drawn, *chain]), "formula")


def _cells(part: Part, layout: Layout) -> Iterator[str]:
    """The arithmetic of entries, below their step's formula."""
    yield element("h3", text(part.heading.text))
    yield _formula(part.one(Formula))
    yield element("ul", "".join(element("li", whole_numbers(line.text)) for line in part.lines), "worked")
    yield from (element("p", whole_numbers(note.text)) for note in part.all(Note))


def _section(part: Part, layout: Layout) -> Iterator[Block]:
    yield element("h2", text(part.heading.text), **named(layout.anchor(part.heading.key)))
    for block in part.blocks:
        if isinstance(block, Table) and block.shape:
            yield element("p", f"{text(block.name)}:")
    yield from _blocks(part.blocks, layout)


def _point(point: Point, *, is_named: bool) -> str:
    told = text(point.value) or _sentence(point.words)
    if is_named and not point.latex:
        return ": ".join(filter(None, (element("strong", _sentence(point.text)), told)))
    said = element("span", mathml(point.latex), "formula") if point.latex else _sentence(point.text)
    return said + (element("p", told, "why") if told else "")


def _verdicts(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Marked steps as a table, and below it the remarks on each, beside the answer."""
    rows = [Row((v.name, v.verdict, v.marks), v.sound) for v in verdicts]
    yield _rows(Rows("each step", ("step", "verdict", "marks"), tuple(rows)))
    for verdict in verdicts:
        told = (verdict.mistake, ""), (verdict.hint, "why")
        said = [element("p", _sentence(words), kind) for words, kind in told if words]
        said += [_answered(verdict)] if verdict.map else []
        said += [element("p", text(words), "faint") for words in verdict.besides]
        if said:
            yield element("section", "\n".join([element("h3", text(verdict.name)), *said]), "judged")


def _answered(verdict: Verdict) -> str:
    """The answer, with × at wrong entries."""
    body = []
    for (name, cells), signs in zip(verdict.answered, verdict.signs, strict=True):
        drawn = [element("th", text(name), scope="row")] if verdict.stack else []
        drawn += [element("td", text(cell), "alarm" * (sign == "×")) for cell, sign in zip(cells, signs, strict=True)]
        body.append(element("tr", "".join(drawn)))
    names = [*([verdict.along] if verdict.stack else []), *verdict.columns]
    head = "".join(element("th", text(name), scope="col") if name else "<td></td>" for name in names)
    caption = element("caption", text(verdict.caption))
    table = element("table", f"{caption}<thead><tr>{head}</tr></thead>{element('tbody', ''.join(body))}")
    return element("div", table, "scroll")


def _rows(rows: Rows) -> str:
    """A table of words; the first cell of a row is its heading, and a verdict in the next is marked as sound or not."""
    body = []
    judged = "verdict" in rows.head
    for row in rows.rows:
        first, *others = row.cells
        cells = [element("td", text(cell), "long" if len(cell) > LONG else "") for cell in others]
        sound = ("right" if row.sound else "wrong") if judged else ""
        body.append(element("tr", element("th", text(first), scope="row") + "".join(cells), sound))
    names = "".join(element("th", text(name), scope="col") for name in rows.head)
    parts = (
        element("caption", text(rows.caption)),
        f"<thead><tr>{names}</tr></thead>",
        element("tbody", "".join(body)),
    )
    return element("div", element("table", "".join(parts), "marks"), "scroll")


def _map(block: Map, layout: Layout) -> str:
    """Steps as cells, darker the farther off they are, each with a link to its details."""
    parts = [name.rpartition("/")[0] for name in block.names]
    runs = [(part, len(list(run))) for part, run in groupby(parts)]
    above = "".join(element("th", text(part), scope="colgroup", colspan=str(size)) for part, size in runs)
    names = "".join(element("th", element("span", text(n.rpartition("/")[2])), scope="col") for n in block.names)
    body = []
    for part, spots in block.lines:
        cells = "".join(map(partial(_spot, layout), spots))
        body.append(element("tr", element("th", text(part), scope="row") + cells))
    rows = [above, names] if any(parts) else [names]
    head = element("thead", "".join(element("tr", f"<td></td>{row}") for row in rows))
    drawn = element("table", element("caption", text(block.caption)) + head + element("tbody", "".join(body)), "map")
    kind = f"{on_paper(2.4 * len(block.names) + LABEL)} wide scroll".strip()
    return element("div", drawn, kind, tabindex="0", role="region", aria_label=block.caption)


def _legend() -> str:
    within, beyond = swatches("h", range(1, DEEPEST + 1, 2)), swatches("m", range(LEAST_WRONG, DEEPEST + 1, 2))
    said = f"0 {within} 1 {beyond} 10,000 times as far off as numbers of the type may be: striped is wrong"
    return element("p", said, "scale faint")


def _spot(layout: Layout, spot: Spot | None) -> str:
    if spot is None:
        return "<td></td>"
    beyond = min(LEAST_WRONG + round(1.5 * log10(min(max(spot.times, 1), 1e9))), DEEPEST)
    within = f"h{ceil(DEEPEST * spot.times)}" if spot.times > 0 else ""
    shade = f"m{beyond}" if spot.times > 1 else within
    said = text(spot.text) + (f"<br>{element('span', text(spot.word), 'word')}" if spot.word else "")
    if layout.links is not None:
        said = element("a", said, href=f"#{anchor(spot.name)}", title=spot.said)
    return element("td", said, shade + " alarm" * spot.loud)


def _opened(part: Part, layout: Layout) -> Iterator[Block]:
    """The details of the steps of a map, folded layer by layer; layers with something wrong are open."""
    yield element("h2", text(part.heading.text))
    for group in part.all(Part):
        inside = below(_told(step, layout) for step in group.all(Part))
        is_open = group.heading.key == "wrong"
        yield _folded("section", element("h3", text(group.heading.text)), inside, "", "group", is_open=is_open)


def _told(step: Part, layout: Layout) -> Iterator[str]:
    inside = below(chain([element("h4", text(step.heading.text))], _blocks(step.blocks, layout)))
    return around("section", inside, "judged", **named(layout.anchor(step.heading.text)))


def _exercises(part: Part, layout: Layout) -> Iterator[Block]:
    """What is given, side by side if there is room, or what is to be computed."""
    yield element("h2", text(part.heading.text))
    for kind, run in groupby(part.blocks, key=type):
        drawn = chain.from_iterable(_worked_out(each, layout) for each in run)
        yield from [around("div", below(drawn), "operands")] if kind is Table else drawn


def _worked_out(block: Any, layout: Layout) -> Iterator[Block]:
    if isinstance(block, Table):
        yield _operand(block, layout)
    elif isinstance(block, Part) and block.kind == "exercise":
        yield around("section", below(_exercise(block, layout)), "step")
    elif isinstance(block, Part):
        yield element("h2", text(block.heading.text))
    else:
        yield from _block(block, layout)


def _exercise(part: Part, layout: Layout) -> Iterator[Block]:
    yield element("h3", element("span", str(part.heading.number), "number") + text(part.heading.text))
    yield from (_formula(formula) for formula in part.all(Formula) if formula.latex)
    for block in part.all(Paragraph):
        yield from _block(block, layout)
    yield from value(part.one(Table), (), layout)


PARTS = {
    "opened": _opened,
    "given": _given,
    "steps": _steps,
    "result": _steps,
    "cells": _cells,
    "exercises": _exercises,
}
"""Kind of part → the function that writes it; any other kind is written as a section."""
