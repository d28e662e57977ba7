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
        switch("plot", "a picture below the result, or with -q alone (-o x.png or x.svg: a file)", section=section),
        switch("quiet", "only the result, without the steps", short="-q", section=section),
        option("get", "only this step or output", value="NAME", section=section),
        option("show", "only these steps", value="NAME,NAME,…", multiple=True, section=section),
        option("cell", "the arithmetic of one entry, or of all", value="STEP[i,j]", multiple=True, section=section),
        switch("expand", "also show the definition of each function, step by step", section=section),
        switch("standalone", "LaTeX as a complete document", section=section),
        switch("explain", "add what a teacher would say to each step, and the most common mistakes", section=section),
        switch("all", "every row, column and step, however many there are", section=section),
        *page_options(),
    ]


def target_options(formats: Sequence[str]) -> list[TyperOption]:
    """`-f` and `-o`."""
    section = "Output"
    return [
        option(
            "format", f"{either(formats)} ({formats[0]})", value="FORMAT", short="-f", choices=formats, section=section
        ),
        option("output", "write to this file, in the format of its suffix", value="FILE", short="-o", section=section),
    ]


def page_options() -> list[TyperOption]:
    """How numbers are shown, and in which colours."""
    section = "Output"
    return [
        option("digits", "decimals (4; in plain, json and csv full precision)", value="N", short="-d", section=section),
        option("color", "when to use colour (auto)", value="|".join(WHEN), choices=WHEN, section=section),
    ]


def arithmetic_options() -> list[TyperOption]:
    """How it is calculated."""
    section = "Arithmetic"
    return [
        option("round", "round every step to N decimals, as on paper", value="N", section=section),
        switch("exact", "exact fractions and roots: 0.1 is 1/10", section=section),
        switch("symbolic", "letters for operands without numbers; 2x3 gives an operand's shape", section=section),
        option("dtype", "the floating-point type (float64)", value="|".join(DTYPES), choices=DTYPES, section=section),
    ]


def marking_options() -> list[TyperOption]:
    """How an answer is marked."""
    section = "Checking"
    return [
        switch("reveal", "also show the right values", section=section),
        option("points", "what a step's marks are multiplied by", value="STEP=N,…", multiple=True, section=section),
        option("rtol", "how far an answer may be off, relative to the right value", value="R", section=section),
        option("atol", "how far it may be off; with neither, its own digits decide", value="A", section=section),
    ]


def checking_options() -> list[TyperOption]:
    """An answer to check in place of showing the steps."""
    told = "check an answer (a sheet of steps, or just the result) and name the mistake behind a wrong one"
    return [option("check", told, value="ANSWER", section="Checking"), *marking_options()]


def reading_options() -> list[TyperOption]:
    """How files are read."""
    section = "Reading"
    return [
        option("data", "a table whose row labels can be used as operands", value="FILE", section=section),
        option("transpose", "operands that are stored transposed", value="NAME,NAME,…", multiple=True, section=section),
        option("delimiter", "the character between the cells of a CSV file", value="MARK", section=section),
        option("decimal", "the decimal mark of a CSV file", value="MARK", section=section),
        option("header", "whether the first row of a CSV file is a header", section=section),
        option("labels", "whether the first column of a CSV file holds labels", section=section),
    ]
