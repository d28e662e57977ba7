"""The options that every calculation has: what is shown and where, how files are read, how it is calculated."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from typer.core import TyperOption

from attncalc.cli import output
from attncalc.cli.command import option, switch
from attncalc.errors import AttncalcError, NoPicture, OptionError
from attncalc.render import BINARY, FORMATS, PICTURES, View
from attncalc.text import either, near, quoted, visible

if TYPE_CHECKING:
    from attncalc.inputs import Reading
    from attncalc.problem import Problem
    from attncalc.trace import Trace

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
WHEN = ("auto", "always", "never")
DTYPES = ("float64", "float32")
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


def output_options() -> list[TyperOption]:
    """What is shown, and where."""
    section = "Output"
    return [
        *target_options((*FORMATS, *PICTURES)),
        switch("plot", "a picture below the result, with -q in its place (-o x.png or x.svg: a file)", section=section),
        switch("quiet", "the result alone, without the steps", short="-q", section=section),
        option("get", "this step or output alone", value="NAME", section=section),
        option("show", "these steps alone", value="NAME,NAME,…", multiple=True, section=section),
        option("cell", "the arithmetic of an entry, or of all", value="STEP[i,j]", multiple=True, section=section),
        switch("expand", "the definition of each function, as steps of its own", section=section),
        switch("standalone", "LaTeX as a document by itself", section=section),
        switch("explain", "below each step what a teacher would add, and the commonest mistakes", section=section),
        switch("all", "every row, column and step, however many", section=section),
        *page_options(),
    ]


def target_options(formats: Sequence[str]) -> list[TyperOption]:
    """`-f` and `-o`."""
    section = "Output"
    return [
        option(
            "format", f"{either(formats)} ({formats[0]})", value="FORMAT", short="-f", choices=formats, section=section
        ),
        option("output", "write it there, in the format of the suffix", value="FILE", short="-o", section=section),
    ]


def page_options() -> list[TyperOption]:
    """How numbers are shown, and in which colours."""
    section = "Output"
    return [
        option("digits", "decimals (4; in plain, json and csv all there are)", value="N", short="-d", section=section),
        option("color", "whether to use colour (auto)", value="|".join(WHEN), choices=WHEN, section=section),
    ]


def arithmetic_options() -> list[TyperOption]:
    """How it is calculated."""
    section = "Arithmetic"
    return [
        option("round", "as on paper: every step is rounded to N decimals", value="N", section=section),
        switch("exact", "fractions and surds: 0.1 is 1/10", section=section),
        switch("symbolic", "letters for operands without numbers; 2x3 is the shape of one", section=section),
        option("dtype", "the floating-point type (float64)", value="|".join(DTYPES), choices=DTYPES, section=section),
    ]


def marking_options() -> list[TyperOption]:
    """How an answer is marked."""
    section = "Checking"
    return [
        switch("reveal", "show what is right, too", section=section),
        option("points", "what each step weighs in the marks", value="STEP=N,…", multiple=True, section=section),
        option("rtol", "how far an answer may be off, relative to the right one", value="R", section=section),
        option("atol", "how far it may be off; without either, its own digits say", value="A", section=section),
    ]


def checking_options() -> list[TyperOption]:
    """An answer to check in place of showing the steps."""
    told = "check an answer, a sheet or the result alone, and name the mistake behind a wrong one"
    return [option("check", told, value="ANSWER", section="Checking"), *marking_options()]


def reading_options() -> list[TyperOption]:
    """How files are read."""
    section = "Reading"
    return [
        option("data", "a table: its row labels can be operands", value="FILE", section=section),
        option(
            "transpose",
            "operands that are stored the other way",
            value="NAME,NAME,…",
            multiple=True,
            section=section,
        ),
        option("delimiter", "what stands between the cells of a CSV file", value="MARK", section=section),
        option("decimal", "the decimal mark of a CSV file", value="MARK", section=section),
        option("header", "the first row of a CSV file is a header, or is not", section=section),
        option("labels", "the first column of a CSV file is labels, or is not", section=section),
    ]


def names(words: Iterable[str]) -> tuple[str, ...]:
    """`("q,k", "v")` → ("q", "k", "v")."""
    return tuple(name.strip() for word in words for name in word.split(",") if name.strip())


def choice(name: str, word: str | None, choices: Sequence[str]) -> str:
    """One of a few words; the first where none was given."""
    if word is None:
        return choices[0]
    if word not in choices:
        raise OptionError(f"--{name} takes {either(choices)}, not {quoted(word)}", hint=near(word, choices))
    return word


def count(name: str, word: str | None, most: int) -> int | None:
    """A whole number from 0 on."""
    if word is None:
        return None
    if not (word.isascii() and word.isdigit() and len(word) <= len(str(most)) and int(word) <= most):
        raise OptionError(f"--{name} takes a whole number from 0 to {most}, not {quoted(word)}")
    return int(word)


def target(words: Words, formats: Sequence[str]) -> Target:
    """Where the result goes, or why it can't go there: told before anything is computed."""
    form = choice("format", words["format"], formats)
    if words["output"] in (None, "-"):
        if form in BINARY | {"png"} and output.is_terminal(sys.stdout):
            mend = f"write it to a file: -o result.{form}"
            raise AttncalcError(f"{form} is binary, and standard output is a terminal", hint=mend)
        return Target(None, form)
    from attncalc.cli.files import refuse_unwritable

    if not words["output"]:
        raise OptionError("--output needs the name of a file, and it is empty")
    path = Path(words["output"])
    refuse_unwritable(path)
    if words["format"] is None:
        form = _format_of(path, formats)
    return Target(path, form)


def _format_of(path: Path, formats: Sequence[str]) -> str:
    known = [suffix for suffix, form in SUFFIXES.items() if form in formats]
    suffix = path.suffix.lower()
    if suffix not in known:
        raise OptionError(
            f"cannot tell the format of {visible(str(path), 80)} from its suffix",
            hint=f"known are {', '.join(known)}; any other goes with -f FORMAT",
        )
    return SUFFIXES[suffix]


def paper(words: Words, where: Target) -> View:
    """What a page is written on: its width, its colours, the signs that it can carry, and the decimals."""
    color = output.wants_color(choice("color", words["color"], WHEN))
    return View(
        digits=count("digits", words["digits"], MOST_DIGITS),
        width=output.width() if where.path is None else None,
        color=color and where.path is None,
        unicode=where.path is not None or output.carries_signs(sys.stdout),
    )


def settings(words: Words) -> Settings:
    """How to calculate and what to show, or which option is at fault: told before any file is read."""
    where = target(words, (*FORMATS, *PICTURES))
    _must_be_drawable(words, where)
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
    exact, symbolic = bool(words["exact"]), bool(words["symbolic"])
    if rounding is not None and (exact or symbolic):
        raise OptionError(f"--round rounds every step, and --{'exact' if exact else 'symbolic'} rounds none")
    dtype = choice("dtype", words["dtype"], DTYPES)
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
        raise OptionError(f"--plot draws below a table, and {where.format} has no pictures", hint=mend)
    if words["cell"]:
        raise OptionError(f"--cell shows the arithmetic of an entry alone, and {flag} draws: give one of them")
    if words.get("check") is not None:
        raise OptionError(f"--check marks an answer, and {flag} draws a result: give one of them")


def _cells(words: Sequence[str]) -> tuple[str, ...]:
    """The entries whose arithmetic is asked for; `all` of them, or these."""
    cells = tuple(word.strip() for word in words)
    if "all" in cells and len(cells) > 1:
        raise OptionError("--cell all is every entry: no other --cell goes with it")
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


def solve_and_show(problem: Problem, chosen: Settings, read: Reading) -> None:
    """Calculate and show the result; what has been read is not written to."""
    from attncalc.problem import solve
    from attncalc.render import render

    if chosen.target.path:
        from attncalc.cli.files import refuse_unwritable

        refuse_unwritable(chosen.target.path, read.opened)
    with _progress(quiet=chosen.view.quiet):
        trace = solve(
            problem,
            dtype=chosen.dtype,
            round_to=chosen.round_to,
            exact=chosen.exact,
            expand=chosen.expand,
            keep_all=chosen.view.everything or chosen.target.format == "npz",
            asked=_asked(chosen),
        )
    if chosen.explain:
        from attncalc.explain import explained

        trace = explained(trace)
    _must_fit_as_text(trace, chosen)
    if chosen.view.plot or chosen.target.format in PICTURES:
        trace, chosen = _illustrated(trace, chosen)
    content = render(trace, chosen.target.format, chosen.view)
    deliver(content, chosen.target.path)
    for note in (*read.notes, *trace.notes):
        output.say("note", note)
    for warning in trace.warnings:
        output.say("warning", warning)


def _progress(*, quiet: bool) -> AbstractContextManager[None]:
    """How far the work inside has got, where somebody may be looking."""
    if not output.is_terminal(sys.stderr):
        return nullcontext()
    from attncalc.cli.progress import bar

    return bar(quiet=quiet)


TEXT_ENTRY = 120
"""The bytes that a number takes, about, while it is written as text."""


def _must_fit_as_text(trace: Trace, chosen: Settings) -> None:
    """Refuse a result in so many digits that there is not the memory for them; pages show the ends alone."""
    if chosen.target.format not in ("json", "csv", "plain"):
        return
    kept = [step.value.size for step in trace.outputs if step.value is not None]
    from attncalc.problem import LARGE

    if sum(kept) > LARGE:
        from attncalc.large import memory  # few results are large

        ways = {f"-f npy -o FILE{'' if chosen.view.bare else ' (the result alone)'}": 8 * max(kept)}
        memory.must_fit(TEXT_ENTRY * sum(kept), f"{trace.calculation} as {chosen.target.format}", ways)


def _asked(chosen: Settings) -> str | None:
    """The one step or output that is to be shown, "" for the result; None for a page of several."""
    if chosen.view.get is not None:
        return chosen.view.get
    return "" if chosen.view.quiet or chosen.target.format in ("npy", "csv") else None


def _illustrated(trace: Trace, chosen: Settings) -> tuple[Trace, Settings]:
    """The trace with its pictures; below a page that has more to show, none is but a note."""
    from attncalc.pictures.illustration import illustrated

    try:
        return illustrated(trace, chosen.view), chosen
    except NoPicture as fault:
        if chosen.target.format in PICTURES or chosen.view.bare:
            raise
        view = chosen.view._replace(plot=False)
        return trace._replace(notes=(*trace.notes, fault.message)), chosen._replace(view=view)


def deliver(content: str | bytes, path: Path | None) -> None:
    """Write a result where it goes: to a file, or to standard output."""
    if path is None:
        output.write(content)
    else:
        from attncalc.cli.files import write_file

        write_file(path, content.encode() if isinstance(content, str) else content)
