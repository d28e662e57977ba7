"""`quiz`: a problem with friendly numbers, or one's own, with blank sheets, worksheets and the key."""

from collections.abc import Callable, Container, Mapping, Sequence, Set
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from attncalc.api.quizzes import Handouts, any_seed, drawn, of_bank, of_document
from attncalc.calculations import DERIVATIVES, TABLE, load
from attncalc.cli import output as out
from attncalc.cli.bar import bar
from attncalc.cli.print_options import Printed
from attncalc.cli.reference import named
from attncalc.cli.rosters import Classroom, replace
from attncalc.cli.settings import (
    choice,
    names,
    one_of,
    option,
    output_file,
    own_options,
    switch,
    whole,
    whole_to,
)
from attncalc.cli.solving import by_name
from attncalc.common.errors import OptionError, both, either, flag, listed, near, quoted
from attncalc.common.system import FORMATS, NamedTuple, is_file, is_folder
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.quiz.autograders import EXPORTS, GRADESCOPE
from attncalc.homework.quiz.exports import FIXED
from attncalc.homework.quiz.handouts import WORKSHEETS, key_document, worksheet_name
from attncalc.homework.quiz.search import Quiz
from attncalc.homework.quiz.templates import Wanted
from attncalc.homework.quiz.worksheets import FORMULAS, Wording
from attncalc.homework.reading.asked import from_document, words_of
from attncalc.homework.reading.csv_lists import roster
from attncalc.homework.reading.keys_file import LEVELS, USUAL_LEVEL, is_keys
from attncalc.homework.reports.class_reports import VISIBILITIES, VISIBLE
from attncalc.inputs.calls import gather
from attncalc.inputs.problem_files import document_file, load_document
from attncalc.inputs.reading import Reading
from attncalc.render import PAGES
from attncalc.render.printing import Printing
from attncalc.solve.problem import told_apart

MOST_SEED = 10**9
MOST_SIZE = 64
MOST_PAIRS = 6


Seed = Annotated[
    int | None,
    option("Problem", "--seed", "N", "the same seed gives the same problem (any)", check=whole_to(MOST_SEED)),
]
Sizes = Annotated[list[str] | None, option("Problem", "--size", "AXIS=N,…", "sizes of axes: n=3,d_k=4")]
Level = Annotated[str | None, one_of("Problem", "--level", LEVELS, "how easy the numbers are (medium)")]


class Drawing(NamedTuple):
    """Which numbers a problem has."""

    seed: Seed = None
    size: Sizes = None
    level: Level = None
    given: Annotated[
        list[str] | None, option("Problem", "--given", "NAME,…", "the operands of the form that is wanted: x,wq,wk,wv")
    ] = None
    set: Annotated[
        list[str] | None,
        option("Problem", "--set", "NAME=VALUE", "an option of the calculation that the command has itself: seed=3"),
    ] = None


class Asking(NamedTuple):
    """What is asked, and what the worksheet tells."""

    ask: Annotated[
        list[str] | None, option("Worksheet", "--ask", "STEP,…", "the steps or entries to fill in: output,weights[1,0]")
    ] = None
    show_steps: Annotated[
        list[str] | None, option("Worksheet", "--show-steps", "STEP,…", "steps that are printed with their values")
    ] = None
    formulas: Annotated[
        str | None,
        one_of(
            "Worksheet", "--formulas", FORMULAS, "what is told of each step (full): what it is made of, or its formula"
        ),
    ] = None
    reasons: Annotated[
        bool | None, switch("Worksheet", "--reasons/--no-reasons", "why each step is taken (with full formulas)")
    ] = None

    @property
    def words(self) -> tuple[list[str], list[str]]:
        """The words for what is asked, and for what is shown."""
        return words_of(self.ask or ()), words_of(self.show_steps or ())

    def wording(self, printing: Printing) -> Wording:
        """What is said beside the numbers, and how they are printed."""
        return Wording(self.formulas or FORMULAS[-1], self.reasons, printing)


def own_but(taken: Container[str]) -> Callable[[Sequence[str] | None], dict[str, Any]]:
    """Finds the options of the calculation that words name, except those that the command has itself."""

    def own(words: Sequence[str] | None) -> dict[str, Any]:
        spoken = [part for word in words or () for part in word.replace("_", "-").split()]
        name = next((word for word in spoken if word in TABLE), None)
        if name is None:
            return {}
        derivative = next((word for word in spoken[: spoken.index(name)] if word in DERIVATIVES), "")
        return {each: hint for each, hint in own_options(load(name), derivative).items() if each not in taken}

    return own


OWN = (
    *("calculation", "key", "format", "export", "visibility", "output"),
    *(name for group in (Drawing, Asking, Classroom, Printed) for name in group._fields),
)
"""What the command has itself: a calculation's options and operands of these names are given by --set."""
WITH_BANK = (
    *("bank", "pick", "roster", "seed", "level", "format", "export", "visibility", "formulas", "reasons"),
    *Printed._fields,
)
WITH_REPLACE = ("replace", "seed", "format", "formulas", "reasons", *Printed._fields)


def quiz(
    calculation: Annotated[list[str] | None, typer.Argument(metavar="[grad|jacobian] calculation|document")] = None,
    *,
    own: Annotated[Mapping[str, Any], own_but(OWN)],
    drawing: Drawing,
    asking: Asking,
    classroom: Classroom,
    printed: Printed,
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
    export: Annotated[
        list[str] | None,
        option(
            "Output",
            "--export",
            "FORMAT,…",
            "the quiz for a platform, with its answers: moodle (XML), qti (2.1), canvas, or gradescope (an autograder)",
            choices=EXPORTS,
        ),
    ] = None,
    visibility: Annotated[
        str | None,
        one_of(
            "Output",
            "--visibility",
            VISIBILITIES,
            f"when Gradescope's autograder shows students what it found: {either(VISIBILITIES)} (visible)",
            "WHEN",
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
    derivative. It takes the calculation's own options, and operands that are not to be drawn. Of a document it makes
    the same files, with the problem as it stands. What --ask and --show-steps say stands in problem.json, and answers
    are marked by it. With --roster each student has a folder with a problem of their own, and keys.json, which holds
    all of them, marks them; quiz keys.json makes the folders again. --bank has problems of a folder.

    Example: attncalc quiz attention --seed 7 -o quiz, or attncalc quiz problem.json --ask output -o quiz
    """
    parts = (drawing, asking, classroom, printed)
    given = {name: value for part in parts for name, value in part._asdict().items()}
    given |= {**own, "format": format, "export": export, "visibility": visibility}
    said = {name for name, value in given.items() if value is not None}
    words, whole = calculation or [], are_a_document(calculation or [])
    if key is not None:
        _make_key(key, output, words, sorted(said))
        return
    exports = [choice("--export", word, EXPORTS) for word in names(export)]
    if visibility is not None and GRADESCOPE not in exports:
        raise OptionError("--visibility is of Gradescope's autograder", hint="--export gradescope makes one")
    wording = asking.wording(printed.printing)
    if classroom.replace is not None:
        if beside := _beside(words, said - {*WITH_REPLACE}):
            raise OptionError(f"--replace draws a problem like those of the class: {beside} cannot change it")
        replace(classroom.replace, output, _seed(drawing), _formats(format) if format else (), wording)
        return
    if classroom.pick is not None and classroom.bank is None:
        raise OptionError("--pick is of a bank, and none is named", hint="--bank DIR, a folder with a bank.toml")
    students = None if classroom.roster is None else roster(classroom.roster, partial(out.say, "note"))
    is_new = classroom.bank is None and not whole
    if classroom.bank is not None and (beside := _beside(words, said - {*WITH_BANK})):
        raise OptionError(f"--bank has problems as they are: {beside} cannot change them")
    name = named(words, "quiz", ending=" -o quiz", with_file="attncalc quiz {} -o quiz") if is_new else ""
    folder, formats, sizes, seed = _folder(output), _formats(format), sizes_of(drawing.size), _seed(drawing)
    if classroom.bank is not None:
        with bar():
            made = of_bank(classroom.bank, students or [], classroom.pick, seed, drawing.level)
    elif whole:
        made = _of_document(words[0], drawing, seed, asking, students, said)
    else:
        wanted = wanted_by(name, drawing, own)._replace(sizes=sizes, asks=asking.words)
        with bar():
            made = drawn(name, seed, wanted, students)
    notes = [*made.notes]
    out.write_folder(folder, made.written(formats, exports, wording, visibility or VISIBLE, notes.append))
    out.say("note", *notes, *[FIXED] * bool(set(exports) - {GRADESCOPE}))
    if is_new and drawing.seed is None and students is None:
        out.say("note", f"--seed {seed} makes this problem again")
    if made.found is not None:
        _tell(made.found, sizes, many=students is not None)


def _beside(words: Sequence[str], options: Set[str]) -> str:
    """The words and options that have nothing to change beside another option; "" if there are none."""
    found = [*map(quoted, words), *map(flag, sorted(options))]
    return both(found) if found else ""


def _folder(output: str | None) -> Path:
    if not output:
        raise OptionError("quiz writes several files: -o must name a folder for them", hint="-o quiz")
    folder = Path(output)
    out.refuse_folder(folder)
    return folder


def are_a_document(words: Sequence[str]) -> bool:
    """Whether the one word names a file or a folder, there or not, rather than a calculation."""
    if len(words) != 1 or words[0].replace("_", "-") in TABLE:
        return False
    [word] = words
    known = is_file(word) or is_folder(word) or Path(word).suffix.lower() in FORMATS
    return known or word.startswith("@") or word == "-"


def refuse_drawing(word: str, drawing: Drawing, *but: str) -> None:
    """Refuse what would draw numbers for a problem that has its own."""
    surplus = [flag(name) for name, value in drawing._asdict().items() if value is not None and name not in but]
    if surplus:
        mend = "name a calculation, and its numbers are drawn"
        raise OptionError(f"{quoted(word)} has its own numbers: {both(surplus)} cannot change them", hint=mend)


def _of_document(
    word: str, drawing: Drawing, seed: int, asking: Asking, students: Sequence[str] | None, said: Container[str]
) -> Handouts:
    """The problem of a document, and what is asked of it: as the command line says, else as the document does."""
    read = Reading()
    refuse_drawing(word, drawing, *(("seed", "level") if students is not None else ()))
    contents = document_file(word, read)
    if is_keys(contents) and (surplus := [flag(name) for name in ("ask", "show_steps", "roster") if name in said]):
        mend = "a class is made anew from its document or calculation, with --roster and --ask"
        raise OptionError(
            f"{quoted(word)} holds the problems of a class: {both(surplus)} cannot change them", hint=mend
        )
    with bar():
        made = of_document(contents, read, asking.words, seed, drawing.level, students)
    out.say("note", *read.notes)
    return made


def _seed(drawing: Drawing) -> int:
    """The seed that was given, or a random one."""
    return any_seed() if drawing.seed is None else drawing.seed


def wanted_by(name: str, drawing: Drawing, own: Mapping[str, Any]) -> Wanted:
    """What is fixed about the problem before its numbers are drawn."""
    base = told_apart(name)[0]
    calculation, derivative = load(base), name.removesuffix(base).strip()
    said = dict(own)
    for word in drawing.set or ():
        option, mark, value = word.partition("=")
        option = option.strip().lstrip("-").replace("-", "_")
        if not mark:
            raise OptionError(f"--set takes an option with its value, not {quoted(word)}", hint="--set seed=3")
        known = [each.name for each in calculation.options]
        if option not in known:
            mend = near(option, known) or f"it has {both(known) if known else 'none'}"
            raise OptionError(f"{base} has no option {quoted(option)}", hint=mend)
        if option in said:
            raise OptionError(f"{flag(option)} is given twice: {quoted(str(said[option]))} and {quoted(value.strip())}")
        said[option] = {"true": True, "false": False}.get(value.strip(), value.strip())
    operands, options, backward = by_name(calculation, derivative, said)
    gathered = gather(calculation, (), operands, options, Reading(), backward=backward is not None)
    given, level = names(drawing.given), drawing.level or USUAL_LEVEL
    return Wanted(gathered.options, gathered.inputs, given, backward, level=level)


def _tell(found: Quiz, sizes: Mapping[str, int], *, many: bool) -> None:
    """Tell which mistakes do not show on a problem, or on some of many, or look like others there."""
    others = "; other sizes may do more" if sizes else ""
    if found.hidden:
        out.say("note", f"on {'some problems' if many else 'this problem'} {both(found.hidden)} cannot be seen{others}")
    if found.alike:
        pairs = listed((f"{a} from {b}" for a, b in found.alike), MOST_PAIRS)
        out.say("note", f"{'some problems do' if many else 'this problem does'} not tell {pairs}{others}")


def _make_key(file: str, output: str | None, calculation: Sequence[str], surplus: Sequence[str]) -> None:
    """Make the key of a problem."""
    if calculation:
        raise OptionError("--key FILE makes the key of a problem: name no calculation with it")
    if surplus:
        raise OptionError(
            f"--key FILE makes the key of an existing problem: {both(map(flag, surplus))} cannot change it"
        )
    path = output_file(output)
    read = Reading()
    held = load_document(file, read)
    if path is not None:
        out.refuse_unwritable(path, read.opened)
    out.deliver(key_document(held.problem, from_document(held.document, Key(held.problem).names, file)), path)


def _formats(words: list[str] | None) -> list[str]:
    """The formats of the worksheets, `html,latex`; no two may be written to a file of the same name."""
    found = [choice("--format", word, PAGES) for word in names(words)] or [*WORKSHEETS]
    called = {worksheet_name(form): form for form in found}
    for form in found:
        if (other := called[worksheet_name(form)]) != form:
            raise OptionError(f"{both([form, other])} would both be {worksheet_name(form)}: give only one of them")
    return found


def sizes_of(words: list[str] | None) -> dict[str, int]:
    """`n=3,d_k=4`."""
    found: dict[str, int] = {}
    for word in names(words):
        name, mark, size = (part.strip() for part in word.partition("="))
        if not mark or not name:
            raise OptionError(f"--size takes sizes by the names of axes, not {quoted(word)}", hint="--size n=3,d_k=4")
        if name in found:
            raise OptionError(f"--size gives {quoted(name)} twice", hint="an axis has one size: leave one")
        found[name] = whole(f"--size {name}", size, 1, MOST_SIZE)
    return found
