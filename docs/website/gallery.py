"""The pages of mistakes: each with its hint, and with an answer in which it was made and is named.

The problems are the samples, and where none of them shows a mistake those that the tests plant it on.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from generate import WIDTH, page_of
from homework.problems import PROBLEMS
from homework.sheets import written

from attncalc.calculations import families
from attncalc.declare.mistake import Mistake, StepKey
from attncalc.homework.diagnosis.key import Key, known
from attncalc.homework.diagnosis.slips import SLIPS
from attncalc.homework.marking.marker import Marker
from attncalc.homework.quiz import handouts
from attncalc.homework.reading.sheets import read_sheet, spelled
from attncalc.homework.reports.marked_sheets import shown
from attncalc.inputs.problem_files import load_document
from attncalc.inputs.reading import Reading
from attncalc.render import View
from attncalc.solve.problem import Problem

FEW_ENTRIES, MOST_ENTRIES = 24, 144
"""An answer of few is what one looks at; one of more than the most is no example."""
DECIMALS = range(3, 7)
UNSEEN = "None of the problems here shows it."
LOG = logging.getLogger("mkdocs.gallery")
INDEX = """\
# Mistakes

What goes wrong when the mathematics of transformers is done by hand, or ported to another machine: {count} known
mistakes, each with a question that leads out of it. Who makes one is told which (`--check`, `check`, `grade`,
`practice`), and a quiz has numbers on which each gives another answer. `attncalc mistakes` lists them in a terminal.

Each page shows, of every mistake, an answer in which it was made and what the program says of it: × stands for a wrong
entry, · for a right one. Files are [samples](../samples.md); where none of them shows a mistake, the problem is folded
above the answer.

{contents}

## Slips, in any calculation

{slips}
"""


class Entry(NamedTuple):
    """What is said of a mistake, under the name of which calculation, and on which page."""

    name: str
    page: str
    text: str


class Posed(NamedTuple):
    """A problem, the sample that it is, and what marks answers to it."""

    file: str
    problem: Problem
    marker: Marker


def pages() -> Iterator[tuple[str, str]]:
    """An index, and a page for each family; a mistake stands where it first shows."""
    entries = _entries()
    for heading, rows in families().items():
        parts = [f"# {heading}: mistakes"]
        for name, _ in rows:
            ids = dict.fromkeys(mistake.id for mistake in _wrong(name))
            elsewhere = [f"[{each}]({entries[each].page}#{each})" for each in ids if entries[each].name != name]
            parts += [f"## {name}"] if ids else []
            parts += [f"Elsewhere, too: {', '.join(elsewhere)}."] if elsewhere else []
            parts += [entries[each].text for each in ids if entries[each].name == name]
        yield f"mistakes/{page_of(heading)}", "\n\n".join(parts) + "\n"
    for entry in entries.values():
        if entry.text.endswith(UNSEEN):
            LOG.warning("%s", entry.text)  # a strict build ends with it
    slips = [f"| `{slip.id}` | {slip.says} | {slip.hint} |" for slip in SLIPS]
    contents = "\n".join(f"- [{heading}]({page_of(heading)})" for heading in families())
    table = "\n".join(["| slip | what is wrong | hint |", "|---|---|---|", *slips])
    yield "mistakes/index.md", INDEX.format(count=len(entries) + len(slips), contents=contents, slips=table)


def _entries() -> dict[str, Entry]:
    """A mistake's id → what is said of it."""
    samples, shown_at, first = _samples(), dict[str, Entry](), dict[str, Entry]()
    for heading, rows in families().items():
        for name, _ in rows:
            mistakes = {each.id: each for each in reversed(_wrong(name)) if each.id not in shown_at}
            posed = [*map(_sampled, samples.get(name, ())), *map(_planted, PROBLEMS.get(name, ()))] if mistakes else []
            for mistake in mistakes.values():
                made = next((found for each in posed if (found := _made(mistake, each))), "")
                text = _entry(mistake, made or UNSEEN)
                kept = shown_at if made else first
                kept.setdefault(mistake.id, Entry(name, page_of(heading), text))
    return first | shown_at


def _wrong(name: str) -> list[Mistake]:
    return [mistake for mistake in known(name) if mistake.kind != "alternative"]


def _samples() -> dict[str, list[str]]:
    """A calculation's samples, its own first."""
    found: dict[str, list[str]] = {}
    for path in sorted(Path().glob("*.json"), key=lambda path: path.stem):
        held = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(held, dict) and "calculation" in held:
            found.setdefault(held["calculation"].split(" ")[-1], []).append(path.name)
    return found


def _sampled(name: str) -> Posed:
    problem = load_document(name, Reading()).problem
    return Posed(name, problem, Marker(Key(problem)))


def _planted(problem: Problem) -> Posed:
    return Posed("", problem, Marker(Key(problem)))


def _entry(mistake: Mistake, made: str) -> str:
    """Its rule and its hint, and an answer that shows it."""
    same = f" Its numbers are those of `{mistake.alias_of}`, which is named first." if mistake.alias_of else ""
    said = f"{_plain(mistake.says)}.{same} *{_plain(mistake.hint)}*"
    return f"### {mistake.id} {{#{mistake.id}}}\n\n{said}\n\n{made}"


def _made(mistake: Mistake, posed: Posed) -> str:
    """An answer in which it was made, and what is told of it: small, early, and with no other name before its own."""
    key = posed.marker.key
    answers: list[tuple[StepKey, Any]] = []
    told = mistake.alias_of or mistake.id  # who gives the same numbers is named beside it
    for wrong in (wrong for wrong in key.wrong if wrong.mistakes[0].id == told):
        there = [step for step in key.steps if step in wrong.steps]
        for step, value in zip(there, key.values([wrong.steps[step] for step in there]), strict=True):
            right = key.value(step)
            if right is not None and _can_be_written(value) and not np.array_equal(value, right):
                answers.append((step, value))
    answers.sort(key=lambda answer: answer[1].size > FEW_ENTRIES)
    for names in (1, None):
        for step, value in answers:
            for decimals in DECIMALS:
                answer = f"{{{json.dumps(spelled(step))}: {_spelled(value, decimals)}}}"
                marked = posed.marker.mark(read_sheet(answer, Reading()))
                found = marked.steps[0].finding
                if mistake.id in (*found.mistakes, *found.also)[:names]:
                    printed = shown(marked, "table", View(width=WIDTH)).rstrip()
                    file = posed.file or "problem.json"
                    call = f"```console\n$ attncalc check '{answer}' {file}\n{printed}\n```"
                    return call if posed.file else f"{_folded(posed.problem)}\n\n{call}"
    return ""


def _folded(problem: Problem) -> str:
    """A problem that is no sample."""
    text = handouts.files(problem, ())["problem.json"].rstrip()
    return f'<details markdown="1"><summary><code>problem.json</code></summary>\n```json\n{text}\n```\n</details>'


def _can_be_written(value: Any) -> bool:
    finite = value.dtype.kind in "biuf" and not np.isnan(value).any() and not (value == np.inf).any()
    return bool(finite and value.size <= MOST_ENTRIES)


def _spelled(value: Any, decimals: int) -> str:
    """Numbers as somebody writes them: `[[0.667, 0.333]]`."""
    texts = written(value, decimals).text.reshape(value.shape).tolist()
    return json.dumps(texts).replace('"', "").replace("-inf", '"-inf"')


def _plain(text: str) -> str:
    """Words as they are: nothing in them is an emphasis or a tag."""
    return text.replace("*", r"\*").replace("_", r"\_").replace("<", "&lt;")
