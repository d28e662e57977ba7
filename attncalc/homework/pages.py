"""What a marked sheet looks like: a page in the terminal, lines to be read out, JSON, CSV, Markdown, LaTeX, HTML."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING

from attncalc.digits import shortest
from attncalc.homework.verdicts import MOST_MAPPED, SOUND, Marked, MarkedStep, Wrong
from attncalc.numbers import format_number
from attncalc.render.view import View
from attncalc.text import amount, visible

if TYPE_CHECKING:
    from rich.text import Text

FORMATS = ("table", "plain", "json", "csv", "markdown", "latex", "html")
GOOD, BAD, REASON, FAINT, NAME = "color(29)", "bold color(166)", "italic", "color(245)", "bold color(32)"
MOST_LISTED = 64
"""So many wrong entries are listed by their places; of more it is told how many there are, and from where to where."""
HEAD = ("step", "verdict", "marks", "mistake", "hint")
COLUMNS = ("step", "verdict", "kind", "mistake", "also", "hint", "entries", "score", "out_of")


def page(marked: Marked, format: str, view: View) -> str:
    """A marked sheet in a format of FORMATS."""
    pages: dict[str, Callable[[Marked, View], str]] = {
        "table": _table,
        "plain": lambda marked, view: "".join(f"{view.spell(line)}\n" for line in _lines(marked)),
        "json": _json,
        "csv": _csv,
        "markdown": _markdown,
        "latex": _latex,
        "html": _html,
    }
    return pages[format](marked, view)


def _json(marked: Marked, view: View) -> str:
    """One object, a step a line."""
    whole = marked.to_dict()
    steps = ",\n  ".join(map(json.dumps, whole.pop("steps")))
    head = ", ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in whole.items())
    return f'{{{head},\n "steps": [{steps}]}}\n'


def plain(marked: Marked) -> str:
    """A marked sheet as lines that can be read out."""
    return "\n".join(_lines(marked))


def summary(marked: Marked) -> str:
    """The verdict in a line: `wrong: 4 of 8 marks; first wrong at weights`."""
    where = f"; first wrong at {marked.first_wrong}" if marked.first_wrong else ""
    return f"{marked.verdict}: {shortest(marked.score)} of {amount(shortest(marked.out_of), 'mark')}{where}"


def blame(step: MarkedStep) -> str:
    """What is behind a step that is wrong: `att-no-scale (or att-scale-dv): nothing divided`, "" where nothing is."""
    found = step.finding
    if not found.mistakes:
        return ""
    also = f" (or {', '.join(found.also)})" if found.also else ""
    convention = "right under another convention: " if found.kind == "convention" else ""
    return f"{step.mistake}{also}: {convention}{found.says}"


def marks(step: MarkedStep) -> str:
    """`1 of 2`."""
    return f"{shortest(step.score)} of {shortest(step.out_of)}"


def _table(marked: Marked, view: View) -> str:
    from attncalc.render.flow import assembled

    return assembled(_drawn(marked, view), view)


def _drawn(marked: Marked, view: View) -> Iterator[Text]:
    from rich.text import Text

    from attncalc.render.flow import flow

    who = f", {marked.student}" if marked.student else ""
    yield Text(view.spell(f"{marked.calculation}, checked{who}"), NAME)
    wide = max((len(step.name) for step in marked.steps), default=0)
    for step in marked.steps:
        found = step.finding
        yield Text()
        line = Text().append(view.spell(f"{step.name:<{wide}}  "), NAME)
        line.append(f"{found.verdict}", GOOD if found.verdict in SOUND else BAD)
        line.append(f"  {marks(step)}", FAINT)
        yield from flow(line, view.columns, hang=4)
        for text, style in ((blame(step), ""), (found.hint, REASON), (_error(step, marked), FAINT)):
            if text:
                yield from flow(Text(view.spell(text), style), view.columns, indent=4, hang=2)
        if found.wrong.cells and step.shape:
            yield from _map(step.shape, found.wrong, view)
        if found.separate:
            told = f"operands that would tell: {json.dumps(found.separate)}"
            yield from flow(Text(view.spell(told), FAINT), view.columns, indent=4, hang=2)
    yield Text()
    yield from flow(Text(view.spell(summary(marked)), GOOD if marked else BAD), view.columns, hang=2)


def _map(shape: Sequence[int], wrong: Wrong, view: View) -> Iterator[Text]:
    """Which entries are wrong: a sign for each, row by row."""
    from rich.text import Text

    *lead, rows, columns = (1, 1, *shape)[-max(2, len(shape)) :]
    if lead or max(rows, columns) > MOST_MAPPED:
        from attncalc.render.flow import flow

        yield from flow(
            Text(view.spell(f"wrong entries: {places(wrong, shape)}"), FAINT), view.columns, indent=4, hang=2
        )
        return
    cells = {(0, *cell)[-2:] for cell in wrong.cells}
    for i in range(rows):
        signs = " ".join("×" if (i, j) in cells else "·" for j in range(columns))
        yield Text(view.spell(f"    {signs}"), BAD if any(cell[0] == i for cell in cells) else FAINT)


def places(wrong: Wrong, shape: Sequence[int]) -> str:
    """`[0,1] [1,1]`; where they are too many for that, `4096 of 262144, all of [1024…1087,0…63]`; "" of a number."""
    if not shape:
        return ""
    if wrong.all_named and wrong.number <= MOST_LISTED:
        return " ".join(f"[{','.join(map(str, cell))}]" for cell in wrong.cells)
    how = "all of" if wrong.number == prod(map(len, wrong.within)) else "within"
    spans = (str(along[0]) if len(along) == 1 else f"{along[0]}…{along[-1]}" for along in wrong.within)
    return f"{wrong.number} of {prod(shape)}, {how} [{','.join(spans)}]"


def _error(step: MarkedStep, marked: Marked) -> str:
    if not marked.reveal or step.finding.verdict == SOUND[0]:
        return ""
    answer = "" if step.expected is None else f"expected {json.dumps(_short(step.expected))}"
    off = "" if step.max_error is None else f"largest error {format_number(step.max_error)}"
    return "; ".join(filter(None, (answer, off)))


def _short(value: object) -> object:
    """The numbers of a nested list to four decimals."""
    if isinstance(value, list):
        return [_short(item) for item in value]
    return round(value, 4) if isinstance(value, float) else value


def _lines(marked: Marked) -> Iterator[str]:
    yield f"{marked.calculation}, checked" + (f", {marked.student}" if marked.student else "")
    for step in marked.steps:
        found = step.finding
        yield f"step: {step.name}"
        yield f"verdict: {found.verdict}, {shortest(step.score)} of {amount(shortest(step.out_of), 'mark')}"
        told = (
            ("mistake", blame(step)),
            ("hint", found.hint),
            ("wrong entries", places(found.wrong, step.shape)),
            ("would tell apart", json.dumps(found.separate) if found.separate else ""),
            ("revealed", _error(step, marked)),
        )
        yield from (f"{name}: {text}" for name, text in told if text)
    yield summary(marked)


def _row(step: MarkedStep) -> tuple[str, ...]:
    """A step as a row of a table with these COLUMNS."""
    found = step.finding
    return (
        step.name,
        found.verdict,
        found.kind or "",
        step.mistake or "",
        " ".join(found.also),
        found.hint,
        places(found.wrong, step.shape),
        shortest(step.score),
        shortest(step.out_of),
    )


def _in_brief(step: MarkedStep) -> tuple[str, ...]:
    """A step as a row of a page's table, under its HEAD."""
    return step.name, step.finding.verdict, marks(step), blame(step), step.finding.hint


def _csv(marked: Marked, view: View) -> str:
    import csv
    from io import StringIO

    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([visible(cell) for cell in _row(step)] for step in marked.steps)
    return text.getvalue()


def _markdown(marked: Marked, view: View) -> str:
    from attncalc.render.markdown import code
    from attncalc.render.markdown import plain as harmless

    title = f"# {harmless(marked.calculation)}, checked"
    lines = [title, "", f"| {' | '.join(HEAD)} |", "|---|---|---|---|---|"]
    for step in marked.steps:
        name, *cells = _in_brief(step)
        lines.append(f"| {' | '.join([code(name), *map(harmless, cells)])} |")
    return "\n".join([*lines, "", f"**{harmless(summary(marked))}**"]) + "\n"


def _latex(marked: Marked, view: View) -> str:
    from attncalc.render.tex import text

    lines = [r"\noindent\begin{tabular}{lllp{0.5\linewidth}}", r"step & verdict & marks & mistake and hint \\ \hline"]
    for step in marked.steps:
        *short, mistake, hint = map(text, _in_brief(step))
        lines.append(" & ".join([*short, r" \newline ".join(filter(None, (mistake, hint)))]) + r" \\")
    return "\n".join([*lines, r"\end{tabular}", "", text(summary(marked))]) + "\n"


def _html(marked: Marked, view: View) -> str:
    from attncalc.render.shell import element, shell, text

    who = f", {marked.student}" if marked.student else ""
    title = f"{marked.calculation}, checked{who}"
    parts = [element("h1", text(title)), html_table(marked, "each step"), element("p", text(summary(marked)))]
    return shell(title, "".join(f"{part}\n" for part in parts), unicode=view.unicode)


def html_table(marked: Marked, caption: str) -> str:
    """The steps of a marked sheet as an HTML table."""
    return html_rows(caption, HEAD, [(step.finding.verdict, _in_brief(step)) for step in marked.steps])


def html_rows(caption: str, head: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Rows of text, each with its verdict, as an HTML table; a row's first cell is its heading."""
    from attncalc.render.shell import element, text

    body = []
    for verdict, (first, *others) in rows:
        cells = element("th", text(first), scope="row") + "".join(element("td", text(cell)) for cell in others)
        body.append(element("tr", cells, "right" if verdict in SOUND else "wrong"))
    names = "".join(element("th", text(name), scope="col") for name in head)
    parts = (element("caption", text(caption)), f"<thead><tr>{names}</tr></thead>", element("tbody", "".join(body)))
    return element("div", element("table", "".join(parts), "marks"), "scroll")
