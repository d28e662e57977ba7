"""`practice`: a tutor in the terminal, which works as well from a script's standard input."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from attncalc.calculations import TABLE, families, load
from attncalc.cli import output as out
from attncalc.cli.lists import listed_page
from attncalc.cli.quizzes import Level, Seed, Sizes, may_be_document, sizes_of
from attncalc.cli.reference import named
from attncalc.cli.settings import Colour, option, switch
from attncalc.common.errors import InputError, OptionError, both, flag, quoted, reason
from attncalc.common.system import shown, unwritable
from attncalc.declare.operands import UPSTREAM
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.practice.posed import Posed
from attncalc.homework.practice.session import Session
from attncalc.homework.quiz.search import quiz as found_for
from attncalc.homework.quiz.templates import Wanted
from attncalc.homework.reading.asked import from_document
from attncalc.homework.reading.sheets import EVERYTHING
from attncalc.homework.reading.variants import LEVELS
from attncalc.inputs.problem_files import Document, load_document
from attncalc.inputs.reading import Reading
from attncalc.inputs.resolve import decode, read_file
from attncalc.render import View
from attncalc.render.page import Block, Page, write
from attncalc.solve.problem import Problem

NOT_SOLVED = 1
TRIED = 5
"""So many problems are drawn until one shows the last mistake."""


def practice(
    calculation: Annotated[list[str] | None, typer.Argument(metavar="[grad] calculation|document")] = None,
    *,
    seed: Seed = None,
    size: Sizes = None,
    level: Level = None,
    fade: Annotated[
        bool,
        switch("Problem", "--fade", "work the first problem out, leave the last step of the next to do, and so on"),
    ] = False,
    why: Annotated[bool, switch("Problem", "--why/--no-why", "ask now and then why a step is there")] = True,
    predict: Annotated[
        bool, switch("Problem", "--predict", "ask before each step which entry will be the largest")
    ] = False,
    save: Annotated[
        str | None,
        option("Output", "--save", "FILE", "append what happens, as JSON lines, and go on from there"),
    ] = None,
    color: Colour = "auto",
) -> int:
    """Asks for one step after the other, says at once whether it is right, and helps as far as you want.

    An answer is anything that an operand takes, a file with @ before its name. The words hint, why, skip, back, list,
    next and quit, or their first letters, go before. It ends after three problems in a row without help, with quit, or
    with the end of input: exit status 0 if all was solved, else 1. Without a calculation it lists them all. Nothing is
    kept but what --save keeps.

    Example: attncalc practice attention --seed 1
    """
    view = View(width=out.width(), color=out.wants_color(color), unicode=out.carries_signs(sys.stdout))
    if not calculation:
        known = {heading: _practised(rows) for heading, rows in families().items()}
        _show(list(listed_page({heading: rows for heading, rows in known.items() if rows}).blocks), view)
        return 0
    path = None if save is None else _save_file(save)
    how = {"fade": fade, "whys": why, "predict": predict}
    session = _session(calculation, seed, sizes_of(size), level, path, how)
    _show(session.begin() if not session.said else session.again(), view)
    while not session.ended:
        line = _line()
        if line is None:
            _show(session.close(), view)
            break
        _show(session.hear(line), view)
        if path is not None:
            _append(path, session.record())
    return 0 if session.solved else NOT_SOLVED


def _save_file(word: str) -> Path:
    """The file that keeps what happens."""
    path = Path(word)
    out.refuse_unwritable(path)
    return path


def _append(path: Path, line: Mapping[str, Any]) -> None:
    """Add a line to a file, behind whatever of one was written last."""
    try:
        torn = path.exists() and path.read_bytes()[-1:] not in (b"", b"\n")
        with path.open("a", encoding="utf-8") as file:
            file.write("\n" * torn + json.dumps(line, ensure_ascii=False) + "\n")
    except OSError as error:
        raise unwritable(path, reason(error)) from None


def _kept(path: Path | None) -> list[dict[str, Any]]:
    """The lines that a file holds; those that were not finished are passed over."""
    if path is None or not path.exists():
        return []
    found = []
    for number, text in enumerate(decode(read_file(str(path)), shown(str(path))).splitlines()):
        try:
            line = json.loads(text)
        except ValueError:
            line = None
        if isinstance(line, dict):
            found.append(line)
        if not number and not (found and "practice" in line):
            raise InputError(f"{shown(str(path))} holds no practice", hint="name another file with --save")
    return found


def _sizes_in(problem: Problem) -> dict[str, int]:
    """The sizes of a problem's axes, for other numbers like it."""
    every = [axis for axes in Key(problem).axes.values() for axis in axes]
    return {part.name: part.size for axis in every for part in (axis.parts or (axis,))}


def _practised(rows: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The calculations for which problems are made."""
    return [(name, line) for name, line in rows if not load(name).exercise.refused]


def _session(
    words: Sequence[str],
    seed: int | None,
    sizes: Mapping[str, int],
    level: str | None,
    path: Path | None,
    how: Mapping[str, bool],
) -> Session:
    """A session with drawn numbers, or one that begins with a problem of one's own."""
    own = len(words) == 1 and words[0].replace("_", "-") not in TABLE and may_be_document(words[0])
    held: Document | None = None
    if own:
        read = Reading()
        if words[0] == "-":
            raise OptionError("practice reads answers from standard input: the problem must be in a file")
        held = load_document(words[0], read)
        for note in read.notes:
            out.say("note", note)
        surplus = [flag(name) for name, value in (("size", sizes), ("level", level)) if value]
        if surplus:
            mend = "name a calculation, and its numbers are drawn"
            raise OptionError(f"{quoted(words[0])} has its own numbers: {both(surplus)} cannot change them", hint=mend)
    name = held.problem.name if held else named(words, "practice", with_file="attncalc practice {}")
    own_sizes = _sizes_in(held.problem) if held else sizes
    kept = _kept(path)
    chosen = int.from_bytes(os.urandom(3), "big") if seed is None else seed
    head = {
        "practice": name,
        "size": dict(sizes),
        "level": level,
        **how,
        "document": dict(held.document) if held else None,
    }
    head = json.loads(json.dumps(head))
    earlier = [line["seed"] for line in kept if head.items() <= line.items() and seed in (None, line["seed"])]
    chosen = earlier[-1] if earlier else chosen
    if seed is None and held is None and not earlier:
        out.say("note", f"--seed {chosen} makes these problems again")
    wanted = Wanted()
    if held:
        given = tuple(operand for operand in held.problem.inputs if operand != UPSTREAM.name)
        wanted = Wanted(dict(held.problem.options), given=given, backward=held.problem.backward)

    def posed(problem: Problem) -> Posed:
        return Posed(problem, from_document(held.document, Key(problem).names, words[0]) if held else EVERYTHING)

    def draw(number: int, mistake: str) -> Posed:
        if held is not None and number == 0:
            return posed(held.problem)
        seeds = (chosen + TRIED * number + turn for turn in range(TRIED))
        drawn = (found_for(name, seed=each, sizes=own_sizes, level=level or LEVELS[1], wanted=wanted) for each in seeds)
        first = next(drawn)
        showing = (one for one in chain([first], drawn) if mistake not in one.hidden)
        return posed(next(showing, first).problem)

    session = Session(draw, **how)
    head["seed"] = chosen
    ours = False
    for line in kept:  # what was said is said again
        ours = line.items() >= head.items() if "practice" in line else ours
        if ours and "said" in line and line["said"] not in ("quit", "q"):
            session = Session(draw, session.number + 1, **how) if session.ended else session
            session.hear(line["said"])
    if session.ended:
        session = Session(draw, session.number + 1, **how)
    if path is not None:
        _append(path, head)
    return session


def _line() -> str | None:
    """The next line that is said; None at the end of input."""
    if sys.stdin is None:
        return None
    if out.is_terminal(sys.stdin):
        out.write("> ")
    try:
        line = sys.stdin.readline()
    except UnicodeDecodeError:
        return "?"  # what nobody can read is no answer
    return line or None


def _show(blocks: Sequence[Block], view: View) -> None:
    """Write what is said back."""
    if blocks:
        text = str(write(Page("practice", tuple(blocks)), "table", view))
        out.write_page(text if text.endswith("\n") else text + "\n")
