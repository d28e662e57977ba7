"""`check ANSWER DOCUMENT`, and `--check ANSWER` of every calculation and of `run`."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any

import typer

from attncalc.calculations import WHOLE
from attncalc.cli import output as out
from attncalc.cli.command import FURTHER
from attncalc.cli.settings import (
    Colour,
    Digits,
    File,
    Marking,
    Stored,
    Tables,
    Target,
    formats,
    names,
    paper,
    target,
)
from attncalc.common.errors import AttncalcError, InputError, OptionError, listed, quoted
from attncalc.common.numerals import parse_number
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.marking.marker import Marker, disagreements, usual_hints
from attncalc.homework.reading.answers import ANSWER
from attncalc.homework.reading.sheets import EVERYTHING, MOST_BYTES, Asked, limited, read_sheet
from attncalc.homework.reports.marked_sheets import FORMATS
from attncalc.homework.reports.marked_sheets import shown as page
from attncalc.inputs.reading import STDIN, Reading, calculation_of
from attncalc.inputs.resolve import find
from attncalc.record.trace import MOST_NAMED, TAKEN, aloud
from attncalc.record.verdicts import USUAL_POLICY, Marked, Policy
from attncalc.render import TABLE, View
from attncalc.solve.problem import Problem
from attncalc.solve.solver import solve

WRONG = 1
ARRAYS = (".npy", ".npz", ".safetensors")
"""Files that are no documents, however large they are."""


def check(
    answer: Annotated[str, typer.Argument(metavar="answer", help="an answer")],
    document: Annotated[str, typer.Argument(metavar="document", help="a document")],
    marking: Marking,
    tables: Annotated[Tables, FURTHER],
    format: Annotated[str | None, formats(FORMATS)] = None,
    output: File = None,
    digits: Digits = None,
    color: Colour = "auto",
    dtype: Stored = None,
) -> int:
    """Checks an answer to a problem, and finds the mistake that explains a wrong one.

    ANSWER is a sheet of steps, or just the result; DOCUMENT is a problem or a saved result, which is computed again.
    The exit status is 0 if the answer is right, 1 if it is wrong.

    Example: attncalc check answer.json problem.json
    """
    where = target(format, output, FORMATS)
    view = paper(digits, color, where)
    read = Reading(**tables.asked())
    answer, document = _in_order(answer, document, read)
    from attncalc.inputs.problem_files import load_document  # a door: --check of a calculation reads no document

    held = load_document(document, read)
    return check_and_show(held.problem, held.document, answer, marking, where, view, read, dtype)


def check_and_show(
    problem: Problem,
    stored: Mapping[str, Any],
    answer: str,
    marking: Marking,
    where: Target,
    view: View,
    read: Reading,
    stored_as: str | None = None,
) -> int:
    """Mark an answer and show what was found; the exit status is 0 if it is right, else 1.

    A value that is stored beside the problem, but is wrong, gets a warning.
    """
    if where.format not in FORMATS:
        raise OptionError(
            f"a report of --check cannot be written as {where.format}", hint=f"choose from {', '.join(FORMATS)}"
        )
    key = Key(problem)
    warnings = disagreements(key, stored)
    own = read.anew(key.room)
    with limited("the answer", timed=not key.large):
        sheet = read_sheet(answer, own)
    with limited("the answer", timed=False):
        if view.get and "" in sheet.steps:  # the answer to the one step that is asked for
            sheet = replace(sheet, steps={view.get if name == "" else name: a for name, a in sheet.steps.items()})
        marker = Marker(
            key,
            policy=policy(marking),
            reveal=marking.reveal,
            dtype=stored_as,
            asked=_asked(stored, key),
            layout=read.heads_layout,
        )
        marked = marker.mark(sheet).told(marking.hints or usual_hints(problem, sheet))
    if where.path:
        out.refuse_unwritable(where.path, [*read.opened, *own.opened])
    if problem.calculation.name in WHOLE and TABLE[where.format].opens:
        with suppress(AttncalcError):  # the report is as true without the arithmetic of entries
            view = view._replace(trace=solve(problem))
    out.deliver(page(marked, where.format, view), where.path)
    taken = (remark["text"] for remark in marked.remarks if remark["kind"] == TAKEN)
    of_operands = (*aloud(marked.remarks), *taken)
    out.say("note", *read.notes, *read.idle(own), *of_operands, *own.notes, *marked.notes, *_more(marked, marking))
    out.say("warning", *warnings)
    return 0 if marked else WRONG


def _more(marked: Marked, marking: Marking) -> Iterator[str]:
    """A note that --hints tells more, unless it was given."""
    behind = [step.name for step in marked.steps if step.finding.mistakes]
    if marking.hints is None and behind and marked.shown is not marked:
        yield f"--hints rule names the mistake at {listed(behind, MOST_NAMED)}"


def _asked(stored: Mapping[str, Any], key: Key) -> Asked:
    """What a document asks for."""
    if not stored.keys() & {"ask", "shown"}:
        return EVERYTHING
    from attncalc.homework.reading.asked import from_document  # a door: few problems say so

    return from_document(stored, key.names)


def policy(marking: Marking, base: Policy = USUAL_POLICY) -> Policy:
    """What answers earn: by a file, else by `base`; options overrule both."""
    if marking.policy is not None:
        from attncalc.homework.marking.policies import read_policy  # a door: few calls have a policy

        base = read_policy(marking.policy)
    said = {name: word for name, word in marking._asdict().items() if word is not None}
    own: dict[str, Any] = {name: said[name] for name in ("marks", "cells", "follow") if name in said}
    own |= {name: from_zero(name, said[name]) for name in ("rtol", "atol") if name in said}
    return replace(base, points={**base.points, **_points(marking)}, **own)


def _points(marking: Marking) -> dict[str, float]:
    """What each step weighs: `scores=1,output=3`."""
    found: dict[str, float] = {}
    for word in names(marking.points):
        name, mark, weight = word.rpartition("=")
        if not mark or not name:
            fault = f"--points takes weights by the names of steps, not {quoted(word)}"
            raise OptionError(fault, hint="--points output=3")
        if name.strip() in found:
            raise OptionError(f"--points gives {quoted(name.strip())} twice", hint="a step has one weight: leave one")
        found[name.strip()] = from_zero("points", weight)
    return found


def from_zero(name: str, word: str) -> float:
    """A number from 0 on."""
    try:
        value = parse_number(word)
    except InputError as error:
        raise OptionError(f"--{name}: {error.message}", hint=error.hint) from None
    if value < 0:
        raise OptionError(f"--{name} takes numbers from 0 on, not {quoted(word)}")
    return value


def _in_order(first: str, second: str, read: Reading) -> tuple[str, str]:
    """The answer and the document, which may stand the other way round if only one is a document."""
    known = first == "-" or _may_be_document(first, read)  # standard input can be read only once
    return (second, first) if known and not _may_be_document(second, read) else (first, second)


def _may_be_document(word: str, read: Reading) -> bool:
    """Whether a word names a document, or may name one, as it cannot be read as a stranger's sheet."""
    if word.endswith(ARRAYS):
        return False
    own = read.anew(MOST_BYTES)
    try:
        found = find(word, ANSWER, own)
    except InputError as fault:
        if word.startswith("-"):  # standard input cannot be read again
            raise InputError(
                fault.message, hint=fault.hint or "give the answer first: attncalc check - problem.json"
            ) from None
        return True  # reading it as a document will tell why it cannot be read
    if STDIN in own.opened:
        read.opened[STDIN] = own.opened[STDIN]
    return found is not None and calculation_of(found.contents) is not None
