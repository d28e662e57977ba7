"""`grade KEY SHEET…`: many answer sheets against one key."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attncalc.cli import output, sections, settings
from attncalc.cli.checking import points, tolerance
from attncalc.cli.command import Command, option
from attncalc.cli.files import format_of, make_folder, refuse_unwritable
from attncalc.cli.progress import bar
from attncalc.cli.solving import problem_of
from attncalc.errors import InputError, OptionError
from attncalc.homework.reports import REPORTS
from attncalc.text import amount, both, either

if TYPE_CHECKING:
    from attncalc.homework.grading import Graded

MOST_JOBS = 64
MOST_NAMED = 3
"""So many students are named of those whose sheets cannot be read."""
SUFFIXES = {".json": "json", ".csv": "csv", ".md": "markdown", ".html": "html", ".xml": "junit", ".tap": "tap"}
"""Of a report's file → its format, where --report names none."""


def command() -> Command:
    """The command `grade`."""
    many = "for many gradescope files, a folder"
    return Command(
        "grade",
        _grade,
        [
            option("report", either(REPORTS), value="FORMAT", choices=REPORTS, short="-f", section="Output"),
            option(
                "output",
                f"write the report there, in the format of its suffix; {many}",
                value="FILE",
                short="-o",
                section="Output",
            ),
            option(
                "jobs",
                "how many processes to use (1); 0 means one for each core",
                value="N",
                short="-j",
                section="Work",
            ),
            *sections.marking_options(),
            *sections.reading_options(),
        ],
        summary="Marks answer sheets against a problem or a saved result. Sheets are files, folders, patterns, - for a "
        "list of names on standard input, or CSV files with a column `student` and columns like weights[0,1]; other "
        "columns, as forms and spreadsheets add them, are skipped. A sheet that cannot be read is listed; the others "
        "are marked all the same. The exit status is 0 if all are right, 1 if any is wrong, 2 if any could not be "
        "read.",
        usage="key sheets…",
    )


def _grade(words: Sequence[str], **given: Any) -> int:
    from attncalc.homework.grading import Settings, grade, stood, twice
    from attncalc.homework.key import Key
    from attncalc.homework.reports import lines, report
    from attncalc.homework.submissions import submissions
    from attncalc.inputs import load_document
    from attncalc.large.cores import count

    if len(words) < 2:
        raise OptionError("grade takes a key and the sheets to mark", hint="attncalc grade key.json sheets/")
    form = settings.choice("report", given["report"], REPORTS) if given["report"] is not None else None
    if form is None and given["output"] not in (None, "", "-"):
        form = format_of(Path(given["output"]), SUFFIXES)
    jobs = settings.count("jobs", given["jobs"], MOST_JOBS)
    reading = settings.reading(given)
    key, *sheets = words
    problem = problem_of(load_document(key, reading))
    found = submissions(_listed(sheets), key, reading, Key(problem))
    if not found:
        raise InputError("there is no sheet to grade", hint="the key itself is not marked")
    in_folder = form == "gradescope" and len(found) > 1
    if in_folder and given["output"] in (None, "", "-"):
        raise OptionError("gradescope takes one file for each sheet, so -o must name a folder")
    read = [*reading.opened, *dict.fromkeys(str(each.path) for each in found if each.path)]
    path = Path(given["output"]) if in_folder else settings.output_file(given)
    if path is not None and not in_folder:
        refuse_unwritable(path, read)
    marking = Settings(tolerance(given), points(given), bool(given["reveal"]))
    with bar():
        graded = grade(problem, found, reading, marking, jobs=count() if jobs == 0 else jobs or 1)
    for note in reading.notes:
        output.say("note", note)
    for one in graded:
        for note in one.marked.notes if one.marked is not None else ():
            output.say("note", note)
    for note in twice(graded):
        output.say("note", note)
    if path is not None and in_folder:
        _write_each(graded, path, read)
    elif form is not None:
        output.deliver(report(graded, form), path)
    if form is None or path is not None:
        output.write_page("".join(f"{line}\n" for line in lines(graded, output.width())))
    _say_unread(graded)
    return stood(graded)


def _say_unread(graded: Sequence[Graded]) -> None:
    """What makes the exit status 2, for whoever reads a report by machine; the table says why of each sheet."""
    unread = [one.student for one in graded if one.marked is None]
    if unread:
        of = amount(len(graded), "sheet")
        output.say("Error", f"{len(unread)} of {of} cannot be read: {both(unread, MOST_NAMED)}")


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
    from attncalc.homework.reports import file_name, gradescope

    make_folder(folder)
    taken: set[str] = set()
    paths = [folder / file_name(one, taken) for one in graded]
    for path in paths:
        refuse_unwritable(path, read)
    for one, path in zip(graded, paths, strict=True):
        output.deliver(gradescope(one), path)
