"""The options that commands share, section by section, and the command of a calculation, which has them all."""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from attncalc.calculations import DERIVATIVES, default_word, load, shape_words, value_word
from attncalc.cli import output
from attncalc.cli.command import FURTHER, Command, made
from attncalc.common.errors import AttncalcError, OptionError, both, either, flag, near, quoted, with_facts
from attncalc.common.numerals import (
    ACCUMULATED,
    DTYPES,
    HINTS,
    LAYOUTS,
    MOST_ROUNDING,
    NARROW,
    QUESTION,
    RULE,
    STORED,
    must_agree,
    must_round_nothing,
)
from attncalc.common.system import NamedTuple, loaded
from attncalc.render import BINARY, DETAILS, FORMATS, NUMBERS, PAGES, PICTURES, SUFFIXES, TABLE, Detail, View

if TYPE_CHECKING:  # NumPy comes with these; it loads faster with the calculation, when the command line stands
    from attncalc.declare.calculation import Calculation
    from attncalc.declare.operands import Operand, Option

WHEN = ("auto", "always", "never")
MOST_DIGITS = 50
MOST_DEPTH = 99


def option(
    section: str,
    name: str,
    takes: str,
    help: str,
    *,
    choices: Sequence[str] = (),
    check: Callable[..., Any] | None = None,
    completed: str = "",
) -> Any:
    """An option that takes a value: `--digits`, or `-d --digits`; a `check` makes a value of its word.

    A shell completes its value to one of the choices, or to what the function `completed` of `cli/completion.py` finds.
    """

    def found(ctx: Any, incomplete: str) -> list[str]:
        return list(loaded(f"cli.completion:{completed}")(ctx, incomplete) if completed else choices)

    return typer.Option(
        *name.split(),
        metavar=takes,
        help=help,
        rich_help_panel=section,
        parser=str,
        callback=check,
        autocompletion=found if choices or completed else None,
    )


def switch(section: str, name: str, help: str) -> Any:
    """An option that takes none."""
    return typer.Option(*name.split(), help=help, rich_help_panel=section)


def one_of(section: str, name: str, choices: Iterable[str], help: str, takes: str = "") -> Any:
    """An option that takes one of a few words."""
    words = tuple(choices)

    def check(param: typer.CallbackParam, word: str | None) -> str | None:
        return None if word is None else choice(param.opts[-1], word, words)

    return option(section, name, takes or "|".join(words), help, choices=words, check=check)


def whole_to(most: int, least: int = 0) -> Callable[..., Any]:
    """The check of a whole number from `least` to `most`."""

    def check(param: typer.CallbackParam, word: str | None) -> int | None:
        return None if word is None else whole(param.opts[-1], word, least, most)

    return check


def choice(name: str, word: str, choices: Sequence[str]) -> str:
    """One of a few words."""
    if word not in choices:
        raise OptionError(f"{name} takes {either(choices)}, not {quoted(word)}", hint=near(word, choices))
    return word


def whole(name: str, word: str, least: int, most: int) -> int:
    """A whole number from `least` to `most`."""
    if not (word.isascii() and word.isdigit() and len(word) <= len(str(most)) and least <= int(word) <= most):
        raise OptionError(f"{name} takes a whole number from {least} to {most}, not {quoted(word)}")
    return int(word)


def names(words: Iterable[str] | None) -> tuple[str, ...]:
    """`("q,k", "v")` → ("q", "k", "v")."""
    return tuple(name.strip() for word in words or () for name in word.split(",") if name.strip())


def formats(known: Sequence[str]) -> Any:
    """The option for the format of a page, which is one of `known`."""
    return option("Output", "-f --format", "FORMAT", f"{either(known)} ({next(iter(known))})", choices=tuple(known))


File = Annotated[str | None, option("Output", "-o --output", "FILE", "write to this file, in the format of its suffix")]
Digits = Annotated[
    int | None,
    option(
        "Output", "-d --digits", "N", "decimals (4; in plain, json and csv full precision)", check=whole_to(MOST_DIGITS)
    ),
]
Colour = Annotated[
    str,
    one_of("Output", "--color", WHEN, "when to use colour (auto)"),
    FURTHER,
]
Check = Annotated[
    str | None,
    option(
        "Checking",
        "--check",
        "ANSWER",
        "check an answer (a sheet of steps, or just the result) and find the mistake behind a wrong one",
    ),
]


class Shown(NamedTuple):
    """What is shown of a result, and where."""

    format: Annotated[str | None, formats(tuple(TABLE))] = None
    output: File = None
    plot: Annotated[
        bool,
        switch("Output", "--plot", "a picture below the result, or with -q alone (-o x.png or x.svg: a file)"),
        FURTHER,
    ] = False
    quiet: Annotated[bool, switch("Output", "-q --quiet", "only the result, without the steps")] = False
    get: Annotated[
        str | None, option("Output", "--get", "NAME", "only this step or output", completed="step"), FURTHER
    ] = None
    show: Annotated[
        list[str] | None,
        option(
            "Output",
            "--show",
            "NAME,NAME,…",
            "only these steps, or groups: 'token 5/*', '**/weights'",
            completed="steps",
        ),
    ] = None
    cell: Annotated[
        list[str] | None,
        option("Output", "--cell", "STEP[i,j]", "the arithmetic of one entry, or of all", completed="cells"),
    ] = None
    depth: Annotated[
        int | None,
        option("Output", "--depth", "N", "an outline of N levels of parts", check=whole_to(MOST_DEPTH)),
        FURTHER,
    ] = None
    detail: Annotated[
        str | None,
        one_of(
            "Output",
            "--detail",
            DETAILS,
            "which entries each step works out (normal): short vectors', also one of each matrix, or all",
        ),
        FURTHER,
    ] = None
    expand: Annotated[
        bool, switch("Output", "--expand", "also show the definition of each function, step by step"), FURTHER
    ] = False
    standalone: Annotated[bool, switch("Output", "--standalone", "LaTeX as a complete document"), FURTHER] = False
    explain: Annotated[
        bool, switch("Output", "--explain", "add what a teacher would say to each step, and the most common mistakes")
    ] = False
    all: Annotated[bool, switch("Output", "--all", "every row, column and step, however many there are"), FURTHER] = (
        False
    )
    digits: Digits = None
    color: Colour = "auto"


class Arithmetic(NamedTuple):
    """How it is calculated."""

    round: Annotated[
        int | None,
        option(
            "Arithmetic", "--round", "N", "round every step to N decimals, as on paper", check=whole_to(MOST_ROUNDING)
        ),
        FURTHER,
    ] = None
    exact: Annotated[bool, switch("Arithmetic", "--exact", "exact fractions and roots: 0.1 is 1/10"), FURTHER] = False
    symbolic: Annotated[
        bool,
        switch("Arithmetic", "--symbolic", "letters for operands without numbers; 2x3 gives an operand's shape"),
        FURTHER,
    ] = False
    dtype: Annotated[
        str | None,
        one_of(
            "Arithmetic",
            "--dtype",
            STORED,
            f"the floating-point type (float64), to which each value is rounded: {either(STORED[1:])}; with --check, "
            "that of the answer",
            "TYPE",
        ),
        FURTHER,
    ] = None
    accumulate: Annotated[
        str | None,
        one_of(
            "Arithmetic",
            "--accumulate",
            ACCUMULATED,
            f"in which type {either(NARROW)} add up products and sums ({ACCUMULATED[0]})",
        ),
        FURTHER,
    ] = None


OF_RESULTS = (
    "plot", "quiet", "show", "cell", "depth", "detail", "expand", "explain", "all",
    "round", "exact", "symbolic", "accumulate",
)  # fmt: skip
"""The options that have no meaning for an answer."""

Stored = Annotated[
    str | None,
    one_of(
        "Checking",
        "--dtype",
        STORED,
        f"the type in which an answer was stored, if its numbers do not tell: {either(STORED)}",
        "TYPE",
    ),
]


def hinting(section: str, usual: str) -> Any:
    """The option that says how much is told of a wrong answer."""
    return one_of(section, "--hints", HINTS, f"tell where it is wrong, also a question, or also the mistake ({usual})")


Marks = Annotated[
    str | None, option("Checking", "--marks", "1+1|0+1", "of a step, for its method and for its numbers (1+1)")
]
Cells = Annotated[
    str | None,
    option("Checking", "--cells", "all|each", "a wrong entry costs all marks for the numbers, or its share (all)"),
]
Follow = Annotated[
    str | None,
    option("Checking", "--follow", "method|full|none", "what follows from an own wrong value earns (method)"),
]
Points = Annotated[
    list[str] | None, option("Checking", "--points", "STEP=N,…", "what a step's marks are multiplied by")
]
Rtol = Annotated[
    str | None, option("Checking", "--rtol", "R", "how far an answer may be off, relative to the right value")
]
Atol = Annotated[
    str | None, option("Checking", "--atol", "A", "how far it may be off; with neither, its own digits decide")
]


class Marking(NamedTuple):
    """How an answer is marked."""

    reveal: Annotated[bool, switch("Checking", "--reveal", "also show the right values")] = False
    hints: Annotated[str | None, hinting("Checking", f"{QUESTION}; of arrays in files {RULE}")] = None
    policy: Annotated[
        str | None,
        option("Checking", "--policy", "FILE", "what answers earn, in a file such as policy.toml; options overrule it"),
    ] = None
    marks: Marks = None
    cells: Cells = None
    follow: Follow = None
    points: Points = None
    rtol: Rtol = None
    atol: Atol = None


class Tables(NamedTuple):
    """How files are read."""

    data: Annotated[
        str | None, option("Reading", "--data", "FILE", "a table whose row labels can be used as operands")
    ] = None
    transpose: Annotated[
        list[str] | None, option("Reading", "--transpose", "NAME,NAME,…", "operands that are stored transposed")
    ] = None
    delimiter: Annotated[
        str | None, option("Reading", "--delimiter", "MARK", "the character between the cells of a CSV file")
    ] = None
    decimal: Annotated[
        str | None,
        option("Reading", "--decimal", "MARK", "the decimal mark of CSV files, and of numbers as they are typed"),
    ] = None
    header: Annotated[
        bool | None, switch("Reading", "--header/--no-header", "whether the first row of a CSV file is a header")
    ] = None
    labels: Annotated[
        bool | None, switch("Reading", "--labels/--no-labels", "whether the first column of a CSV file holds labels")
    ] = None

    heads_layout: Annotated[
        str | None,
        one_of(
            "Reading",
            "--heads-layout",
            LAYOUTS,
            "how heads and tokens lie in q, k, v, upstream and answers (bhnd, hnd)",
        ),
    ] = None

    def asked(self) -> dict[str, Any]:
        """How the call's files are to be read, as a `Reading` takes it."""
        return self._asdict() | {"decimal": self.decimal or ".", "transpose": names(self.transpose)}


class Target(NamedTuple):
    """Where a result goes, and in which format."""

    path: Path | None  # None is standard output
    format: str


class Settings(NamedTuple):
    """How to calculate, and what to show of it."""

    target: Target
    view: View
    dtype: str
    accumulate: str
    round_to: int | None
    exact: bool
    symbolic: bool
    expand: bool
    explain: bool
    stored: str | None  # with --check: the type of the answer, if it was said
    notes: tuple[str, ...] = ()  # on options that have no effect on the page that is asked for


def target(form: str | None, file: str | None, known: Iterable[str]) -> Target:
    """Where the result goes; raises if it cannot go there, before anything is computed."""
    known = tuple(known)
    chosen = known[0] if form is None else choice("--format", form, known)
    path = output_file(file)
    if path is None and chosen in BINARY and output.is_terminal(sys.stdout):
        mend = f"write it to a file: -o result.{chosen}"
        raise AttncalcError(f"{chosen} is binary, but standard output is a terminal", hint=mend)
    if path is not None and form is None:
        chosen = output.format_of(path, {suffix: each for suffix, each in SUFFIXES.items() if each in known})
    return Target(path, chosen)


def output_file(file: str | None) -> Path | None:
    """The file that -o names, or None for standard output; raises if it cannot be written."""
    if file in (None, "-"):
        return None
    if not file:
        raise OptionError("--output needs the name of a file, but it is empty")
    path = Path(file)
    output.refuse_unwritable(path)
    return path


def paper(digits: int | None, color: str, where: Target) -> View:
    """What a page is written on: its width, its colours, the signs that it can carry, and the decimals."""
    return View(
        digits=digits,
        width=output.width() if where.path is None else None,
        color=output.wants_color(color) and where.path is None,
        unicode=where.path is not None or output.carries_signs(sys.stdout),
    )


def chosen(shown: Shown, arithmetic: Arithmetic, check: str | None, marking: Marking) -> Settings:
    """How to calculate and what to show; raises if options clash, before any file is read."""
    where = target(shown.format, shown.output, TABLE)
    if check is not None:
        _must_have_a_place(shown, arithmetic, where)
    _must_be_drawable(shown, where)
    _must_have_room(shown, where)
    idle = [f"--{name}" for name, value in zip(marking._fields, marking, strict=True) if value]
    if idle and check is None:
        raise OptionError(f"there is no answer for {both(idle)} to mark", hint="--check ANSWER gives one")
    view = paper(shown.digits, shown.color, where)._replace(
        plot=shown.plot,
        show=names(shown.show),
        quiet=shown.quiet,
        get=shown.get,
        everything=shown.all,
        cells=_cells(shown.cell or ()),
        depth=shown.depth,
        detail=cast(Detail, shown.detail or View().detail),
        standalone=shown.standalone,
    )
    rounding, exact, symbolic, dtype, accumulate = arithmetic
    if check is None or accumulate is not None:
        must_agree(dtype or DTYPES[0], accumulate, rounding)
    must_round_nothing("--exact" if exact else "--symbolic" if symbolic else "", dtype, rounding)
    exact = exact or symbolic
    of_run, adding = dtype or DTYPES[0], accumulate or ACCUMULATED[0]
    notes = tuple(_idle(shown, where))
    return Settings(where, view, of_run, adding, rounding, exact, symbolic, shown.expand, shown.explain, dtype, notes)


AT_WORK = {
    "explain": (*PAGES, "json"),
    "detail": PAGES,
    "depth": tuple(form for form in PAGES if TABLE[form].made.endswith("_or_outline")),
    "expand": tuple(form for form in FORMATS if form != "npy"),
    "standalone": ("latex",),
    "show": tuple(TABLE),
}
"""The formats in which options of a page have an effect."""
ALONE = {
    "--get": {"explain", "detail", "depth", "show"},
    "-q": {"explain", "detail", "depth", "expand"},
    "--cell": {"explain", "detail", "depth"},
}
"""The options that have no effect if so little is asked for; with --cell, JSON has all the rest, too."""


def _idle(shown: Shown, where: Target) -> Iterator[str]:
    """Notes on options that have no effect on the page that is asked for."""
    asked = {"--get": shown.get is not None, "-q": shown.quiet, "--cell": shown.cell and where.format in PAGES}
    named = shown.get or shown.show or shown.cell
    for name, forms in AT_WORK.items():
        if getattr(shown, name) in (None, False) or (name == "expand" and named):  # it may be what --expand adds
            continue
        beside = [option for option, is_asked in asked.items() if is_asked and name in ALONE[option]]
        if beside or where.format not in forms:
            yield f"{flag(name)} has no effect {f'with {beside[0]}' if beside else f'in {where.format}'}"


def _must_have_a_place(shown: Shown, arithmetic: Arithmetic, where: Target) -> None:
    """Refuse options for the calculation or the page of a result if an answer is marked."""
    given = shown._asdict() | arithmetic._asdict()
    picture = [f"-f {where.format}"] if where.format in PICTURES else []
    for name in [*picture, *(flag(name) for name in OF_RESULTS if given[name] not in (None, False))]:
        mend = "--hints rule says what is wrong, and attncalc explain CALCULATION what is right" * (name == "--explain")
        raise OptionError(f"--check marks an answer, and {name} is of a result: give only one of them", hint=mend)


def _must_be_drawable(shown: Shown, where: Target) -> None:
    """Refuse a picture on a page that has none."""
    by = "--plot" if shown.plot else f"-f {where.format}"
    if not shown.plot and where.format not in PICTURES:
        return
    if where.format not in ("table", "html", *PICTURES):
        mend = "leave out -f, or write a file: -o picture.png or picture.svg"
        raise OptionError(f"--plot draws below a table, but {where.format} has no pictures", hint=mend)
    if shown.cell:
        raise OptionError(f"--cell shows the arithmetic of an entry and {by} draws a picture: give only one of them")


def _must_have_room(shown: Shown, where: Target) -> None:
    """Refuse the arithmetic of entries in a format of numbers alone, and several steps in one of a single array."""
    if where.format == "npy" and names(shown.show) and not shown.quiet and shown.get is None:
        raise OptionError("--show picks steps, but npy holds one array", hint="--get NAME is that of one step")
    drawn = shown.plot or where.format in PICTURES
    if (picked := names(shown.show)) and shown.quiet and shown.get is None and not shown.cell and not drawn:
        mend = f"--get {picked[0]} -q prints one step, and --show without -q shows these"
        raise OptionError("--show picks steps of the page, and -q prints the result alone", hint=mend)
    if shown.cell and where.format in NUMBERS:
        mend = f"{either([form for form in FORMATS if form not in NUMBERS])} shows it"
        raise OptionError(f"--cell shows the arithmetic of an entry, but {where.format} holds numbers alone", hint=mend)


def _cells(words: Sequence[str]) -> tuple[str, ...]:
    """The entries whose arithmetic is asked for; `all` of them, or these. A place alone is one of the result: `1,2`."""
    places = (re.fullmatch(r"\s*(?:\[(.+)\]|\(?(\d+(?:\s*,\s*\d+)*)\)?)\s*", word) for word in words)
    cells = tuple(f"result[{at[1] or at[2]}]" if at else word.strip() for at, word in zip(places, words, strict=True))
    if "all" in cells and len(cells) > 1:
        raise OptionError("--cell all shows every entry: no other --cell goes with it")
    return cells


# A calculation's command, and those of its derivatives, made from its declaration.


BY_POSITION, BY_NAME = "Operands, by position or by name", "Operands, by name"
WIDEST = 30  # the most characters beside an option's name for what it takes; longer words are in its help
FAMILY = 3  # the fewest options with another one's name in front that count as details of that
SHORT = {"-q": "--quiet", "-d": "--digits", "-f": "--format", "-o": "--output"}


def calculate(
    carry_out: Callable[..., int],
    calculation: "Calculation",
    derivative: str,
    *,
    operands: Annotated[list[str] | None, typer.Argument(metavar="")] = None,
    own: Mapping[str, Any],
    shown: Shown,
    arithmetic: Arithmetic,
    check: Check = None,
    marking: Annotated[Marking, FURTHER],
    tables: Annotated[Tables, FURTHER],
) -> int:
    """Calculate and show the result, or check an answer in its place: the exit status.

    `own` are the calculation's operands that were given by name, its options, and those of the derivative.
    """
    asked = chosen(shown, arithmetic, check, marking)
    return carry_out(calculation, derivative, operands or (), own, asked, check, marking, tables)


def command_of(
    name: str, carry_out: Callable[..., int], derivative: str = "", words: Sequence[str] | None = None
) -> Command:
    """The command of a calculation: `attncalc [grad|jacobian] NAME [OPERANDS] [OPTIONS]`.

    `carry_out` does what its words ask for.
    """
    calculation = load(name)
    about = f"{calculation.doc}\n\nSource: {calculation.reference}" if calculation.reference else calculation.doc
    if derivative:
        about = f"{DERIVATIVES[derivative].says.format(name)} {about}"
    spoken = {each.name for each in calculation.operands}, {each.name for each in calculation.options}
    command = made(
        name,
        partial(calculate, carry_out, calculation, derivative),
        own=partial(own_options, calculation, derivative),
        about=about,
        words=words,
        # -q alone may be meant for --q, and -d 3 for --d 3, but -f json never for the operand f
        ambiguous={short: long for short, long in SHORT.items() if short[1:] in spoken[long != "--quiet"]},
    )
    positional = [each for each in calculation.operands if each.positional]
    command.params[0].metavar = " ".join(each.name if each.required else f"[{each.name}]" for each in positional)
    return command


def own_options(calculation: "Calculation", derivative: str = "") -> dict[str, Any]:
    """The options of the operands, of the calculation and of its derivative: their names → their annotations.

    After them the file that holds all weights, and the options of a checkpoint: --text in place of tokens, and --info.
    """
    details = _details(calculation)
    found = {each.name: _operand(each) for each in calculation.operands if is_spoken(each)}
    found |= {each.name: _option(each, details.get(each.name, "")) for each in calculation.options}
    found |= _of_derivative(derivative)
    if calculation.weights:
        about = "all weights by name, ours or the usual ones; FILE#PREFIX: those below it"
        found[calculation.weights] = Annotated[str | None, option(BY_NAME, flag(calculation.weights), "FILE", about)]
    if any(operand.kind == "checkpoint" for operand in calculation.operands):
        text = option("Options", "--text", "TEXT", "the text in place of its tokens (with the package tokenizers)")
        info = switch("Options", "--info", "tell what the checkpoint is; needs no tokens")
        found |= {} if derivative else {"info": Annotated[bool | None, info]}
        found["text"] = Annotated[str | None, text]
    return found


def is_spoken(operand: "Operand") -> bool:
    """Whether an operand has an option: all but a model's `output`, because --output says where a page goes."""
    return operand.name != "output"


def _details(calculation: "Calculation") -> dict[str, str]:
    """Options that only matter with another one → that one: with rope, all those whose names begin with `rope_`.

    So do options whose help begins with a choice of the other: `yarn: …` with a scaling that may be yarn.
    """
    found: dict[str, str] = {}
    for other in calculation.options:
        choices = tuple(f"{word}{mark}" for word in other.choices for mark in (":", ","))
        named = [each.name for each in calculation.options if each.name.startswith(other.name + "_")]
        told = [each.name for each in calculation.options if choices and each.help.startswith(choices)]
        for family in (named, told):
            if len(family) >= FAMILY:
                found = dict.fromkeys(family, other.name) | found
    return found


def _operand(operand: "Operand") -> Any:
    section = BY_POSITION if operand.positional else BY_NAME
    shapes = shape_words(operand)
    parts = [shapes if operand.required else f"{shapes}, optional", operand.help]
    return Annotated[str | None, option(section, flag(operand.name), operand.symbol, ": ".join(filter(None, parts)))]


def _option(declared: "Option", detail_of: str) -> Any:
    takes, about = value_word(declared), declared.help
    section = f"With {flag(detail_of)}" if detail_of else "Options"
    marks = (FURTHER,) if detail_of else ()
    if len(takes) > WIDEST:
        takes, about = "WORD", f"{about}: {either(declared.choices)}"
    about = with_facts(about, default_word(declared), str(declared.range))
    if takes:
        given = option(section, flag(declared.name), takes, about, choices=declared.choices)
        return Annotated[str | None, given, *marks]
    on = flag(declared.name)
    off = on.replace("-no-", "-") if "-no-" in on else "--no-" + on[2:]
    return Annotated[bool | None, switch(section, f"{on}/{off}", about), *marks]


def _of_derivative(derivative: str) -> dict[str, Any]:
    """The options that a derivative takes besides those of the calculation."""
    if not derivative:
        return {}
    section = "Jacobian" if derivative == "jacobian" else "Backward pass"
    found: dict[str, Any] = {}
    if derivative == "grad":
        about = "∂L/∂result (ones: L is the sum of the result)"
        found["upstream"] = Annotated[str | None, option(section, "--upstream", "G", about)]
    for name, (takes, says) in DERIVATIVES[derivative].options.items():
        if takes:
            found[name] = Annotated[list[str] | None, option(section, flag(name), takes, says, completed=name)]
        else:
            found[name] = Annotated[bool | None, switch(section, flag(name), says)]
    return found
