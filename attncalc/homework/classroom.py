"""A class on a page, as Markdown or HTML: students by steps, every mistake with its count and hint, each sheet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from attncalc.homework.grading import Graded, tally
from attncalc.homework.pages import html_page, html_table
from attncalc.homework.verdicts import SOUND, MarkedStep
from attncalc.text import visible


class Made(NamedTuple):
    """A mistake that was made, by how many sheets."""

    name: str
    sheets: int
    says: str
    hint: str


def step_names(graded: Sequence[Graded]) -> list[str]:
    """Every step that a sheet has a place for, in the order of the calculation as far as the sheets show it."""
    marked = [one.marked for one in graded if one.marked is not None]
    fullest_first = sorted(marked, key=lambda sheet: -len(sheet.steps))
    return list(dict.fromkeys(step.name for sheet in fullest_first for step in sheet.steps))


def made(graded: Sequence[Graded]) -> Iterator[Made]:
    """The mistakes of a class, the commonest first."""
    first: dict[str, MarkedStep] = {}
    for one in graded:
        for step in one.marked.steps if one.marked is not None else ():
            if step.mistake is not None:
                first.setdefault(step.mistake, step)
    for name, count in tally(graded).items():
        found = first[name].finding
        yield Made(name, count, found.says, found.hint)


def cells(one: Graded, steps: Sequence[str]) -> list[str]:
    """What is said of each step of a sheet: the mistake, else the verdict; "" where it has no place for the step."""
    found = {step.name: step.mistake or step.verdict for step in one.marked.steps} if one.marked is not None else {}
    return [found.get(name, "") for name in steps]


def markdown(graded: Sequence[Graded], summary: str, rows: Sequence[Sequence[str]]) -> str:
    """The class as Markdown; `rows` are each sheet's student, verdict, marks and what is said of it."""
    from attncalc.render.markdown import code, plain

    steps = step_names(graded)
    parts = ["# Grades", "", plain(summary), ""]
    parts += [f"| student | verdict | marks | {''.join(f'{code(name)} | ' for name in steps)}|"]
    parts += ["|---" * (4 + len(steps)) + "|"]
    for one, (student, verdict, marks, why) in zip(graded, rows, strict=True):
        said = [*map(code, cells(one, steps)), plain(why)]
        parts.append(f"| {' | '.join([plain(student), verdict, marks, *said])} |")
    if found := list(made(graded)):
        parts += ["", "## Mistakes", "", "| mistake | sheets | the wrong rule | hint |", "|---|--:|---|---|"]
        parts += [f"| {code(m.name)} | {m.sheets} | {plain(m.says)} | {plain(m.hint)} |" for m in found]
    return "\n".join(parts) + "\n"


def html(graded: Sequence[Graded], summary: str, rows: Sequence[Sequence[str]]) -> str:
    """The class as one HTML page that needs nothing else and runs nothing."""
    steps = step_names(graded)
    body = []
    for one, (student, verdict, marks, why) in zip(graded, rows, strict=True):
        style = "right" if verdict in SOUND else "wrong"
        said = "".join(f"<td>{_text(cell)}</td>" for cell in (verdict, marks, *cells(one, steps), why))
        body.append(f'<tr class="{style}"><th scope="row">{_text(student)}</th>{said}</tr>')
    parts = [f"<p>{_text(summary)}</p>", _table(("student", "verdict", "marks", *steps, ""), body)]
    if found := list(made(graded)):
        body = [
            f'<tr><th scope="row">{_text(m.name)}</th><td>{m.sheets}</td><td>{_text(m.says)}</td>'
            f"<td>{_text(m.hint)}</td></tr>"
            for m in found
        ]
        parts += ["<h2>Mistakes</h2>", _table(("mistake", "sheets", "the wrong rule", "hint"), body)]
    for one in graded:
        if one.marked is not None and not one.marked:
            parts += [f"<h2>{_text(one.student)}</h2>", html_table(one.marked)]
    return html_page("Grades", parts)


def _table(head: Sequence[str], body: Sequence[str]) -> str:
    titles = "".join(f'<th scope="col">{_text(name)}</th>' for name in head)
    return f"<table><thead><tr>{titles}</tr></thead>\n<tbody>\n" + "\n".join(body) + "\n</tbody></table>"


def _text(words: str) -> str:
    """Anybody's words, in which nothing acts."""
    return escape(visible(words), quote=True)
