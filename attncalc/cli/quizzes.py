"""`quiz CALCULATION`: a new problem with friendly numbers, blank sheets, worksheets and the key."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attncalc.cli import output, settings
from attncalc.cli.command import Command, option
from attncalc.cli.files import refuse_unwritable, write_folder
from attncalc.cli.named import named
from attncalc.derivatives import DERIVATIVES
from attncalc.errors import OptionError
from attncalc.homework.templates import LEVELS
from attncalc.text import both, either, listed, quoted

MOST_SEED = 10**9
MOST_SIZE = 64
MOST_PAIRS = 6


def command() -> Command:
    """The command `quiz`."""
    return Command(
        "quiz",
        _quiz,
        [
            option("seed", "the same seed gives the same problem (any)", value="N", section="Problem"),
            option("size", "sizes of axes: n=3,d_k=4", value="AXIS=N,…", multiple=True, section="Problem"),
            option(
                "level",
                "how easy the numbers are (medium)",
                value="|".join(LEVELS),
                choices=LEVELS,
                section="Problem",
            ),
            option("key", "make the key of this problem instead of a new problem", value="FILE", section="Problem"),
            option(
                "output",
                "the folder for the files; with --key, the file for the key",
                value="DIR",
                short="-o",
                section="Output",
            ),
        ],
        summary="Makes a new problem with small numbers, chosen so that every known mistake gives a different answer. "
        "It writes problem.json, sheet.json, sheet.csv, worksheet.md, worksheet.tex and, for the marker, key.json. "
        f"With {either(DERIVATIVES)} before the calculation's name: one of its derivative.",
        usage=f"[{'|'.join(DERIVATIVES)}] calculation",
    )


def _quiz(words: Sequence[str], **given: Any) -> None:
    if given["key"] is not None:
        _make_key(words, given)
        return
    name = named(words, "quiz", ending=" -o quiz", with_file="attncalc quiz --key {} makes its key")
    if not given["output"]:
        raise OptionError("quiz writes several files: -o must name a folder for them", hint="-o quiz")
    level = settings.choice("level", given["level"], LEVELS) if given["level"] is not None else "medium"
    sizes = _sizes(given["size"])
    seed = settings.count("seed", given["seed"], MOST_SEED)
    from attncalc.homework.handouts import files
    from attncalc.homework.quiz import quiz

    chosen = int.from_bytes(os.urandom(3), "big") if seed is None else seed
    found = quiz(name, seed=chosen, sizes=sizes, level=level)
    write_folder(Path(given["output"]), files(found.problem))
    if seed is None:
        output.say("note", f"--seed {chosen} makes this problem again")
    if found.hidden:
        output.say("note", f"on this problem {both(found.hidden)} cannot be seen{_others(sizes)}")
    if found.alike:
        pairs = listed((f"{a} from {b}" for a, b in found.alike), MOST_PAIRS)
        output.say("note", f"this problem does not tell {pairs}{_others(sizes)}")


def _others(sizes: dict[str, int]) -> str:
    """What may help, where sizes were asked for."""
    return "; other sizes may do more" if sizes else ""


def _make_key(words: Sequence[str], given: settings.Words) -> None:
    from attncalc.cli.solving import problem_of
    from attncalc.homework.handouts import key_document
    from attncalc.inputs import Reading, load_document

    if words:
        raise OptionError("--key FILE makes the key of a problem: name no calculation with it")
    surplus = [f"--{name}" for name in ("seed", "size", "level") if given[name]]
    if surplus:
        raise OptionError(f"--key FILE makes the key of an existing problem: {both(surplus)} cannot change it")
    path = settings.output_file(given)
    reading = Reading()
    problem = problem_of(load_document(given["key"], reading))
    if path is not None:
        refuse_unwritable(path, reading.opened)
    output.deliver(key_document(problem), path)


def _sizes(words: Sequence[str]) -> dict[str, int]:
    """`n=3,d_k=4`."""
    found: dict[str, int] = {}
    for word in settings.names(words):
        name, mark, size = (part.strip() for part in word.partition("="))
        if not mark or not name:
            raise OptionError(f"--size takes sizes by the names of axes, not {quoted(word)}", hint="--size n=3,d_k=4")
        if name in found:
            raise OptionError(f"--size gives {quoted(name)} twice")
        found[name] = settings.whole(f"size {name}", size, 1, MOST_SIZE)
    return found
