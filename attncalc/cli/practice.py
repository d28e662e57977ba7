"""`practice`: a tutor in the terminal, which works as well from a script's standard input."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from attncalc.api.quizzes import any_seed
from attncalc.calculations import families, load
from attncalc.cli import output as out
from attncalc.cli.checking import from_zero, policy
from attncalc.cli.lists import listed_page
from attncalc.cli.print_options import DECIMAL_MARKS
from attncalc.cli.quiz import Drawing, are_a_document, own_but, refuse_drawing, sizes_of, wanted_by
from attncalc.cli.reference import named
from attncalc.cli.settings import (
    Atol,
    Cells,
    Colour,
    Follow,
    Marking,
    Marks,
    Points,
    Rtol,
    hinting,
    names,
    one_of,
    option,
    switch,
    whole_to,
)
from attncalc.common.errors import InputError, OptionError, both, flag, reason, visible
from attncalc.common.numerals import QUESTION
from attncalc.common.system import NamedTuple, shown, unwritable
from attncalc.declare.operands import UPSTREAM
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.practice.posed import Posed
from attncalc.homework.practice.session import Draw, Session
from attncalc.homework.quiz.search import quiz as found_for
from attncalc.homework.quiz.templates import Wanted
from attncalc.homework.reading.asked import asked, from_document, words_of
from attncalc.inputs.problem_files import Document, load_document
from attncalc.inputs.reading import Reading
from attncalc.inputs.resolve import decode, read_file
from attncalc.record.verdicts import USUAL_POLICY, Policy
from attncalc.render import View
from attncalc.render.page import Block, Page, write
from attncalc.render.printing import AS_IT_IS, Printing, printed
from attncalc.solve.problem import Problem
from attncalc.solve.solver import write as write_graph

NOT_SOLVED = 1
TRIED = 5
"""The most problems that are drawn to find one that shows the last mistake."""


class Asked(NamedTuple):
    """What is asked, and what is shown."""

    ask: Annotated[
        list[str] | None, option("Problem", "--ask", "STEP,…", "the steps or entries to work out: output,weights[1,0]")
    ] = None
    show_steps: Annotated[
        list[str] | None, option("Problem", "--show-steps", "STEP,…", "steps that are told with their values")
    ] = None
    hints: Annotated[str, hinting("Problem", QUESTION)] = QUESTION


class Earning(NamedTuple):
    """What answers earn."""

    policy: Annotated[
        str | None,
        option(
            "Checking",
            "--policy",
            "FILE",
            "what answers earn, in a file such as policy.toml, with attempts and hint_cost; options overrule it",
        ),
    ] = None
    marks: Marks = None
    cells: Cells = None
    follow: Follow = None
    points: Points = None
    rtol: Rtol = None
    atol: Atol = None
    attempts: Annotated[
        int | None,
        option("Checking", "--attempts", "N", "so many wrong answers, and the step is shown (any)", check=whole_to(99)),
    ] = None
    hint_cost: Annotated[
        str | None, option("Checking", "--hint-cost", "SHARE", "what a hint costs, as a share of its step (0)")
    ] = None

    @property
    def by(self) -> Policy:
        """The policy."""
        base = policy(Marking(**{name: said for name, said in self._asdict().items() if name in Marking._fields}))
        cost = base.hint_cost if self.hint_cost is None else from_zero("hint-cost", self.hint_cost)
        return replace(base, attempts=base.attempts if self.attempts is None else self.attempts, hint_cost=cost)


OWN = (
    "calculation",
    "fade",
    "why",
    "predict",
    "save",
    "print_decimal",
    "color",
    *Drawing._fields,
    *Asked._fields,
    *Earning._fields,
)
"""What the command has itself: a calculation's options and operands of these names are given by --set."""


def practice(
    calculation: Annotated[list[str] | None, typer.Argument(metavar="[grad] calculation|document")] = None,
    *,
    own: Annotated[Mapping[str, Any], own_but(OWN)],
    drawing: Drawing,
    asking: Asked,
    earning: Earning,
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
    print_decimal: Annotated[
        str | None,
        one_of("Output", "--print-decimal", DECIMAL_MARKS, "the decimal mark, of answers too: . or , (.)", "MARK"),
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
        known = {
            heading: [(name, line) for name, line in rows if not load(name).exercise.refused]
            for heading, rows in families().items()
        }
        _show(list(listed_page({heading: rows for heading, rows in known.items() if rows}).blocks), view)
        alone = {"fade": fade, "no_why": not why, "predict": predict, "save": save, "print_decimal": print_decimal}
        _tell_idle({**own, **_given(drawing), **_given(asking), **_given(earning), **alone})
        return 0
    path = None if save is None else _save_file(save)
    how: dict[str, Any] = {"fade": fade, "whys": why, "predict": predict}
    how |= {} if asking.hints == QUESTION else {"hints": asking.hints}
    how |= {} if print_decimal is None else {"decimal": print_decimal}
    printing = Printing(decimal=print_decimal or ".")
    session = _session(calculation, drawing, asking, own, earning.by, path, how)
    _show(session.begin() if not session.said else session.again(), view, printing)
    while not session.ended:
        line = _line()
        if line is None:
            _show(session.close(), view, printing)
            break
        _show(session.hear(line), view, printing)
        if path is not None:
            _append(path, session.record())
    return 0 if session.solved else NOT_SOLVED


def _given(options: Drawing | Asked | Earning) -> dict[str, Any]:
    """The options of a group that are not at their defaults."""
    return {name: value for name, value in options._asdict().items() if value != options._field_defaults[name]}


def _tell_idle(options: Mapping[str, Any]) -> None:
    """Note the options that have no effect without a calculation."""
    idle = [flag(name) for name, value in options.items() if value not in (None, False)]
    if idle:
        have = "has" if len(idle) == 1 else "have"
        out.say("note", f"{both(idle)} {have} no effect without a calculation")


def _save_file(word: str) -> Path:
    """The file that keeps what happens."""
    path = Path(word)
    out.refuse_unwritable(path)
    return path


def _append(path: Path, line: Mapping[str, Any]) -> None:
    """Add a line to a file; if its last line is unfinished, below that."""
    try:
        torn = path.exists() and path.read_bytes()[-1:] not in (b"", b"\n")
        with path.open("a", encoding="utf-8") as file:
            file.write("\n" * torn + json.dumps(line, ensure_ascii=False) + "\n")
    except OSError as error:
        raise unwritable(path, reason(error)) from None


def _kept(path: Path | None) -> list[dict[str, Any]]:
    """The lines of a file that begin a practice or hold what was said; others, such as unfinished ones, are skipped."""
    if path is None or not path.exists():
        return []
    found = []
    for number, text in enumerate(decode(read_file(str(path)), shown(str(path))).splitlines()):
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            line = None
        if isinstance(line, dict) and (type(line.get("seed")) is int or isinstance(line.get("said"), str)):
            found.append(line)
        if not number and not (found and "practice" in line):
            raise InputError(f"{shown(str(path))} holds no practice", hint="name another file with --save")
    return found


def _session(
    words: Sequence[str],
    drawing: Drawing,
    asking: Asked,
    options: Mapping[str, Any],
    policy: Policy,
    path: Path | None,
    how: Mapping[str, Any],
) -> Session:
    """A session with drawn numbers, or one that begins with the problem of a document."""
    seed, sizes = drawing.seed, sizes_of(drawing.size)
    read = Reading()
    held = _held(words[0], drawing, read) if are_a_document(words) else None
    name = held.problem.name if held else named(words, "practice", with_file="attncalc practice {}")
    own_sizes = write_graph(held.problem).bound.sizes if held else sizes  # for other numbers like its own
    kept = _kept(path)
    asks = words_of(asking.ask or ()), words_of(asking.show_steps or ())
    further: dict[str, object] = {
        "options": {name: value for name, value in options.items() if value is not None},
        "set": [*names(drawing.set)],
        "given": [*names(drawing.given)],
        "ask": asks[0],
        "shown": asks[1],
        "policy": {} if policy == USUAL_POLICY else asdict(policy),
    }
    head: dict[str, Any] = {
        "practice": name,
        "size": dict(sizes),
        "level": drawing.level,
        **how,
        "document": dict(held.document) if held else None,
        **{name: value for name, value in further.items() if value},
    }
    head = json.loads(json.dumps(head))
    earlier = [
        line["seed"]
        for line in kept
        if "seed" in line and head.items() <= line.items() and seed in (None, line["seed"])
    ]
    chosen = earlier[-1] if earlier else any_seed() if seed is None else seed
    if seed is None and held is None and not earlier:
        read.tell(f"--seed {chosen} makes these problems again")
    wanted = wanted_by(name, drawing, options) if held is None else _like(held)
    wanted = wanted._replace(sizes=own_sizes, asks=asks)

    def posed(problem: Problem) -> Posed:
        known = Key(problem).names
        ask, shown = from_document(held.document, known, words[0]).words if held else ([], [])
        return Posed(problem, asked(asks[0] or ask, asks[1] or shown, known), policy)

    def draw(number: int, mistake: str) -> Posed:
        if held is not None and number == 0:
            return posed(held.problem)
        seeds = (chosen + TRIED * number + turn for turn in range(TRIED))
        drawn = (found_for(name, each, wanted) for each in seeds)
        first = next(drawn)
        showing = (one for one in chain([first], drawn) if mistake not in one.hidden)
        return posed(next(showing, first).problem)

    head["seed"] = chosen
    session = _heard(draw, kept, head, {**how, "called": visible(words[0], 80) if held else ""})
    if path is not None:
        _append(path, head)
    out.say("note", *read.notes)
    return session


def _held(word: str, drawing: Drawing, read: Reading) -> Document:
    """The problem of a document, with which a session begins."""
    if word == "-":
        raise OptionError("practice reads answers from standard input: the problem must be in a file")
    held = load_document(word, read)
    refuse_drawing(word, drawing, "seed")
    return held


def _like(held: Document) -> Wanted:
    """What the drawn problems have in common with that of a document."""
    given = tuple(operand for operand in held.problem.inputs if operand != UPSTREAM.name)
    return Wanted(dict(held.problem.options), given=given, backward=held.problem.backward)


def _heard(draw: Draw, kept: Sequence[Mapping[str, Any]], head: Mapping[str, Any], how: Mapping[str, Any]) -> Session:
    """A session in which everything that was said earlier is said again."""
    session, ours = Session(draw, **how), False
    for line in kept:
        ours = line.items() >= head.items() if "practice" in line else ours
        if ours and "said" in line and line["said"] not in ("quit", "q"):
            session = Session(draw, session.number + 1, **how) if session.ended else session
            session.hear(line["said"])
    return Session(draw, session.number + 1, **how) if session.ended else session


def _line() -> str | None:
    """The next line that is said; None at the end of input."""
    if sys.stdin is None:
        return None
    if out.is_terminal(sys.stdin):
        out.write("> ")
    try:
        line = sys.stdin.readline()
    except UnicodeDecodeError:
        return "?"  # what cannot be read is no answer
    return line or None


def _show(blocks: Sequence[Block], view: View, printing: Printing = AS_IT_IS) -> None:
    """Write the tutor's reply."""
    if blocks:
        text = str(write(printed(Page("practice", tuple(blocks)), printing), "table", view))
        out.write_page(text if text.endswith("\n") else text + "\n")
