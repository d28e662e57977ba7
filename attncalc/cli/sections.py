"""The options that commands share, section by section of their help."""

from __future__ import annotations

from collections.abc import Sequence

from typer.core import TyperOption

from attncalc.arrays import DTYPES
from attncalc.cli.command import option, switch
from attncalc.cli.settings import WHEN
from attncalc.render import FORMATS, PICTURES
from attncalc.text import either


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
