"""What the words of the shared options ask for: where a result goes, what is shown, how it is calculated and read."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from attncalc.arrays import DTYPES
from attncalc.cli import output
from attncalc.errors import AttncalcError, OptionError
from attncalc.render import BINARY, FORMATS, PICTURES, View
from attncalc.text import both, either, near, quoted

if TYPE_CHECKING:
    from attncalc.inputs import Reading

SUFFIXES = {
    ".json": "json",
    ".csv": "csv",
    ".md": "markdown",
    ".tex": "latex",
    ".html": "html",
    ".npy": "npy",
    ".npz": "npz",
    ".txt": "table",
    ".png": "png",
    ".svg": "svg",
}
NUMBERS = BINARY | {"csv"}  # the formats that have no room for words
WHEN = ("auto", "always", "never")
MOST_DIGITS = 50
MOST_ROUNDING = 15  # float64 has no more

Words = Mapping[str, Any]
"""The options of a call as they were written: a word, or None where one was not given."""


class Target(NamedTuple):
    """Where a result goes, and in which format."""

    path: Path | None  # None is standard output
    format: str


class Settings(NamedTuple):
    """How to calculate, and what to show of it."""

    target: Target
    view: View
    dtype: str
    round_to: int | None
    exact: bool
    symbolic: bool
    expand: bool
    explain: bool


def names(words: Iterable[str]) -> tuple[str, ...]:
    """`("q,k", "v")` → ("q", "k", "v")."""
    return tuple(name.strip() for word in words for name in word.split(",") if name.strip())


def choice(name: str, word: str | None, choices: Sequence[str], meant: str | None = None) -> str:
    """One of a few words; the first where none was given. `meant` is the one that is called so elsewhere."""
    if word is None:
        return choices[0]
    if word not in choices:
        mend = f"did you mean {meant}?" if meant in choices else near(word, choices)
        raise OptionError(f"--{name} takes {either(choices)}, not {quoted(word)}", hint=mend)
    return word


def count(name: str, word: str | None, most: int) -> int | None:
    """A whole number from 0 on, None where none was given."""
    return None if word is None else whole(name, word, 0, most)


def whole(name: str, word: str, least: int, most: int) -> int:
    """A whole number from `least` to `most`."""
    if not (word.isascii() and word.isdigit() and len(word) <= len(str(most)) and least <= int(word) <= most):
        raise OptionError(f"--{name} takes a whole number from {least} to {most}, not {quoted(word)}")
    return int(word)


def target(words: Words, formats: Sequence[str]) -> Target:
    """Where the result goes, or why it can't go there: told before anything is computed."""
    form = choice("format", words["format"], formats, SUFFIXES.get(f".{words['format']}"))
    path = output_file(words)
    if path is None and form in BINARY | {"png"} and output.is_terminal(sys.stdout):
        mend = f"write it to a file: -o result.{form}"
        raise AttncalcError(f"{form} is binary, but standard output is a terminal", hint=mend)
    if path is not None and words["format"] is None:
        from attncalc.cli.files import format_of

        form = format_of(path, {suffix: known for suffix, known in SUFFIXES.items() if known in formats})
    return Target(path, form)


def output_file(words: Words) -> Path | None:
    """The file that -o names, or why it cannot be written; None for standard output."""
    if words["output"] in (None, "-"):
        return None
    from attncalc.cli.files import refuse_unwritable

    if not words["output"]:
        raise OptionError("--output needs the name of a file, but it is empty")
    path = Path(words["output"])
    refuse_unwritable(path)
    return path


def paper(words: Words, where: Target) -> View:
    """What a page is written on: its width, its colours, the signs that it can carry, and the decimals."""
    color = output.wants_color(choice("color", words["color"], WHEN))
    return View(
        digits=count("digits", words["digits"], MOST_DIGITS),
        width=output.width() if where.path is None else None,
        color=color and where.path is None,
        unicode=where.path is not None or output.carries_signs(sys.stdout),
    )


def chosen(words: Words) -> Settings:
    """How to calculate and what to show, or which option is at fault: told before any file is read."""
    where = target(words, (*FORMATS, *PICTURES))
    _must_be_drawable(words, where)
    _must_have_room(words, where)
    _must_have_an_answer(words)
    view = paper(words, where)._replace(
        plot=bool(words["plot"]),
        show=names(words["show"]),
        quiet=bool(words["quiet"]),
        get=words["get"],
        everything=bool(words["all"]),
        cells=_cells(words["cell"]),
        standalone=bool(words["standalone"]),
    )
    rounding = count("round", words["round"], MOST_ROUNDING)
    dtype = choice("dtype", words["dtype"], DTYPES)
    exact, symbolic = bool(words["exact"]), bool(words["symbolic"])
    rounds = "--round" if rounding is not None else "--dtype float32" if dtype == "float32" else ""
    if rounds and (exact or symbolic):
        raise OptionError(f"{rounds} rounds every step, and --{'exact' if exact else 'symbolic'} rounds nothing")
    return Settings(
        where, view, dtype, rounding, exact or symbolic, symbolic, bool(words["expand"]), bool(words["explain"])
    )


def _must_be_drawable(words: Words, where: Target) -> None:
    """Refuse a picture on a page that has none."""
    flag = "--plot" if words["plot"] else f"-f {where.format}"
    if not words["plot"] and where.format not in PICTURES:
        return
    if where.format != "table" and where.format not in PICTURES:
        mend = "leave out -f, or write a file: -o picture.png or picture.svg"
        raise OptionError(f"--plot draws below a table, but {where.format} has no pictures", hint=mend)
    if words["cell"]:
        raise OptionError(f"--cell shows the arithmetic of an entry and {flag} draws a picture: give only one of them")
    if words.get("check") is not None:
        raise OptionError(f"--check marks an answer and {flag} draws a result: give only one of them")


def _must_have_room(words: Words, where: Target) -> None:
    """Refuse the arithmetic of entries where there is room for numbers alone, and several steps where for one array."""
    if where.format == "npy" and names(words["show"]) and not words["quiet"] and words["get"] is None:
        raise OptionError("--show picks steps, but npy holds one array", hint="--get NAME is that of one step")
    if words["cell"] and words.get("check") is None and where.format in NUMBERS:
        mend = f"{either([form for form in FORMATS if form not in NUMBERS])} shows it"
        raise OptionError(f"--cell shows the arithmetic of an entry, but {where.format} holds numbers alone", hint=mend)


def _must_have_an_answer(words: Words) -> None:
    """Refuse to mark what is not there."""
    idle = [f"--{name}" for name in ("reveal", "points", "rtol", "atol") if words.get(name)]
    if idle and words.get("check") is None:
        raise OptionError(f"there is no answer for {both(idle)} to mark", hint="--check ANSWER gives one")


def _cells(words: Sequence[str]) -> tuple[str, ...]:
    """The entries whose arithmetic is asked for; `all` of them, or these."""
    cells = tuple(word.strip() for word in words)
    if "all" in cells and len(cells) > 1:
        raise OptionError("--cell all shows every entry: no other --cell goes with it")
    return cells


def reading(words: Words) -> Reading:
    """How the call's files are to be read."""
    from attncalc.inputs import Reading

    return Reading(
        data=words["data"],
        delimiter=words["delimiter"],
        decimal=words["decimal"] or ".",
        header=words["header"],
        labels=words["labels"],
        transpose=names(words["transpose"]),
    )
