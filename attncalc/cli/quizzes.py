"""`quiz CALCULATION`: a new problem with friendly numbers, blank sheets, worksheets and the key."""

import os
from pathlib import Path
from typing import Annotated

import typer

from attncalc.cli import output as out
from attncalc.cli.reference import named
from attncalc.cli.settings import choice, names, one_of, option, output_file, whole, whole_to
from attncalc.common.errors import OptionError, both, either, listed, quoted
from attncalc.homework.quiz.handouts import WORKSHEETS, files, key_document, worksheet_name
from attncalc.homework.quiz.search import quiz as found_for
from attncalc.homework.quiz.templates import LEVELS
from attncalc.inputs.problem_files import load_document
from attncalc.inputs.reading import Reading
from attncalc.render import PAGES, SUFFIXES

MOST_SEED = 10**9
MOST_SIZE = 64
MOST_PAIRS = 6


def quiz(
    calculation: Annotated[list[str] | None, typer.Argument(metavar="[grad|jacobian] calculation")] = None,
    seed: Annotated[
        int | None,
        option("Problem", "--seed", "N", "the same seed gives the same problem (any)", check=whole_to(MOST_SEED)),
    ] = None,
    size: Annotated[list[str] | None, option("Problem", "--size", "AXIS=N,…", "sizes of axes: n=3,d_k=4")] = None,
    level: Annotated[
        str | None,
        option(
            "Problem",
            "--level",
            "|".join(LEVELS),
            "how easy the numbers are (medium)",
            choices=LEVELS,
            check=one_of(LEVELS),
        ),
    ] = None,
    key: Annotated[
        str | None, option("Problem", "--key", "FILE", "make the key of this problem instead of a new problem")
    ] = None,
    format: Annotated[
        list[str] | None,
        option(
            "Output",
            "-f --format",
            "FORMAT,…",
            f"of the worksheet: {either(PAGES)} ({','.join(WORKSHEETS)})",
            choices=PAGES,
        ),
    ] = None,
    output: Annotated[
        str | None,
        option("Output", "-o --output", "DIR", "the folder for the files; with --key, the file for the key"),
    ] = None,
) -> None:
    """Makes a new problem with small numbers, chosen so that every known mistake gives a different answer.

    It writes problem.json, sheet.json, sheet.csv, worksheet.md, worksheet.tex and, for the marker, key.json; with -f
    html, worksheet.html in place of those two. With grad or jacobian before the calculation's name: one of its
    derivative.

    Example: attncalc quiz attention --seed 7 -o quiz
    """
    if key is not None:
        if calculation:
            raise OptionError("--key FILE makes the key of a problem: name no calculation with it")
        surplus = [
            f"--{name}"
            for name, given in (("seed", seed), ("size", size), ("level", level), ("format", format))
            if given is not None
        ]
        if surplus:
            raise OptionError(f"--key FILE makes the key of an existing problem: {both(surplus)} cannot change it")
        _make_key(key, output)
        return
    name = named(calculation or (), "quiz", ending=" -o quiz", with_file="attncalc quiz --key {} makes its key")
    if not output:
        raise OptionError("quiz writes several files: -o must name a folder for them", hint="-o quiz")
    sizes, formats = _sizes(size), _formats(format)
    chosen = int.from_bytes(os.urandom(3), "big") if seed is None else seed
    found = found_for(name, seed=chosen, sizes=sizes, level=level or "medium")
    out.write_folder(Path(output), files(found.problem, formats))
    if seed is None:
        out.say("note", f"--seed {chosen} makes this problem again")
    if found.hidden:
        out.say("note", f"on this problem {both(found.hidden)} cannot be seen{_others(sizes)}")
    if found.alike:
        pairs = listed((f"{a} from {b}" for a, b in found.alike), MOST_PAIRS)
        out.say("note", f"this problem does not tell {pairs}{_others(sizes)}")


def _others(sizes: dict[str, int]) -> str:
    """What may help, where sizes were asked for."""
    return "; other sizes may do more" if sizes else ""


def _make_key(file: str, output: str | None) -> None:
    path = output_file(output)
    read = Reading()
    problem = load_document(file, read).problem
    if path is not None:
        out.refuse_unwritable(path, read.opened)
    out.deliver(key_document(problem), path)


def _formats(words: list[str] | None) -> list[str]:
    """`html,latex`: those of the worksheets, no two of which may be files of one name."""
    found = [choice("--format", word, PAGES, SUFFIXES.get(f".{word}")) for word in names(words)] or [*WORKSHEETS]
    by_name = {worksheet_name(form): form for form in found}
    for form in found:
        if (other := by_name[worksheet_name(form)]) != form:
            raise OptionError(f"{both([form, other])} would both be {worksheet_name(form)}: give only one of them")
    return found


def _sizes(words: list[str] | None) -> dict[str, int]:
    """`n=3,d_k=4`."""
    found: dict[str, int] = {}
    for word in names(words):
        name, mark, size = (part.strip() for part in word.partition("="))
        if not mark or not name:
            raise OptionError(f"--size takes sizes by the names of axes, not {quoted(word)}", hint="--size n=3,d_k=4")
        if name in found:
            raise OptionError(f"--size gives {quoted(name)} twice")
        found[name] = whole(f"--size {name}", size, 1, MOST_SIZE)
    return found
