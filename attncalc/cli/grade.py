"""`grade KEY SHEET…`: many answer sheets against one key."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from attncalc.cli import output as out
from attncalc.cli.bar import bar
from attncalc.cli.checking import points, tolerance
from attncalc.cli.command import FURTHER
from attncalc.cli.settings import Marking, Stored, Tables, one_of, option, output_file, whole_to
from attncalc.common.errors import InputError, OptionError, amount, both, either
from attncalc.evaluate.large.cores import count
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.marking import whole_class
from attncalc.homework.marking.whole_class import Graded
from attncalc.homework.reading.asked import from_document
from attncalc.homework.reading.class_lists import MOST_ROWS
from attncalc.homework.reading.submissions import submissions
from attncalc.homework.reports.class_reports import REPORTS, SUFFIXES, file_name, gradescope, overview
from attncalc.homework.reports.class_reports import report as page
from attncalc.inputs.problem_files import load_document
from attncalc.inputs.reading import Reading
from attncalc.render import View
from attncalc.render.page import write

MOST_JOBS = 64
ANY_ROWS = 10**9
MOST_NAMED = 3
"""So many students are named of those whose sheets cannot be read."""


def grade(
    key: Annotated[str, typer.Argument(metavar="key", help="a key")],
    sheets: Annotated[list[str], typer.Argument(metavar="sheets…", help="the sheets to mark")],
    marking: Marking,
    tables: Annotated[Tables, FURTHER],
    report: Annotated[
        str | None,
        option("Output", "-f --report", "FORMAT", either(REPORTS), choices=REPORTS, check=one_of(REPORTS)),
    ] = None,
    output: Annotated[
        str | None,
        option(
            "Output",
            "-o --output",
            "FILE",
            "write the report there, in the format of its suffix; for many gradescope files, a folder",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        option(
            "Work",
            "-j --jobs",
            "N",
            "how many processes to use (1); 0 means one for each core",
            check=whole_to(MOST_JOBS),
        ),
    ] = None,
    max_rows: Annotated[
        int | None,
        option(
            "Work",
            "--max-rows",
            "N",
            f"how many rows a class list may have ({MOST_ROWS:,}); one with more is listed, and not marked",
            check=whole_to(ANY_ROWS, 1),
        ),
    ] = None,
    dtype: Annotated[Stored, FURTHER] = None,
) -> int:
    """Marks answer sheets against a problem or a saved result.

    Sheets are files, folders, patterns, - for a list of names on standard input, or CSV files with a column `student`
    and columns like weights[0,1]; other columns, as forms and spreadsheets add them, are skipped. A sheet that cannot
    be read is listed, and so is a folder or a pattern that holds none; the others are marked all the same. The exit
    status is 0 if all are right, 1 if any is wrong, 2 if any could not be read.

    Example: attncalc grade key.json sheets/
    """
    if report is None and output not in (None, "", "-"):
        report = out.format_of(Path(output), SUFFIXES)
    read = Reading(**tables.asked())
    held = load_document(key, read)
    names = Key(held.problem).names
    asked = from_document(held.document, names, key)
    found = submissions(_listed(sheets), key, read, names, MOST_ROWS if max_rows is None else max_rows)
    if not found:
        raise InputError("there is no sheet to grade", hint="the key itself is not marked")
    in_folder = report == "gradescope" and len(found) > 1
    if in_folder and output in (None, "", "-"):
        raise OptionError("gradescope takes one file for each sheet, so -o must name a folder")
    opened = [*read.opened, *dict.fromkeys(str(each.path) for each in found if each.path)]
    path = Path(output) if in_folder and output else output_file(output)
    if path is not None and not in_folder:
        out.refuse_unwritable(path, opened)
    how = whole_class.Settings(tolerance(marking), points(marking), marking.reveal, dtype, asked)
    with bar():
        graded = whole_class.grade(held.problem, found, read, how, jobs=count() if jobs == 0 else jobs or 1)
    for note in read.notes:
        out.say("note", note)
    for one in graded:
        for note in one.marked.notes if one.marked is not None else ():
            out.say("note", note)
    for note in whole_class.twice(graded):
        out.say("note", note)
    if path is not None and in_folder:
        _write_each(graded, path, opened)
    elif report is not None:
        width = out.width() if path is None else None
        out.deliver(page(graded, report, View(width=width, unicode=out.carries_signs(sys.stdout))), path)
    if report is None or path is not None:
        out.write_page(str(write(overview(graded), "table", View(width=out.width()))))
    _say_unread(graded)
    return whole_class.exit_status(graded)


def _say_unread(graded: Sequence[Graded]) -> None:
    """What makes the exit status 2, for whoever reads a report by machine; the table says why of each sheet."""
    unread = [one.student for one in graded if one.marked is None]
    if unread:
        of = amount(len(graded), "sheet")
        out.say("Error", f"{len(unread)} of {of} cannot be read: {both(unread, MOST_NAMED)}")


def _listed(words: Sequence[str]) -> list[str]:
    """The sheets' names, those on standard input in place of `-`."""
    found: list[str] = []
    for word in words:
        if word == "-":
            if sys.stdin is None:
                raise InputError("there is no standard input")
            found += [line.rstrip("\r\n") for line in sys.stdin if line.strip()]
        else:
            found.append(word)
    return found


def _write_each(graded: Sequence[Graded], folder: Path, read: Sequence[str]) -> None:
    """A Gradescope file for each sheet, called as its student is; none where one would take a sheet's own place."""
    out.make_folder(folder)
    taken: set[str] = set()
    paths = [folder / file_name(one, taken) for one in graded]
    for path in paths:
        out.refuse_unwritable(path, read)
    for one, path in zip(graded, paths, strict=True):
        out.deliver(gradescope(one), path)
