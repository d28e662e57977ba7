"""`grade KEY SHEET…`: many answer sheets against one key."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from attncalc.api.classes import Work, assignment_by, handed_in, marked, of_sheets, still_absent, whose
from attncalc.cli import output as out
from attncalc.cli.bar import bar
from attncalc.cli.checking import policy
from attncalc.cli.command import FURTHER
from attncalc.cli.print_options import Printed
from attncalc.cli.settings import Marking, Stored, Tables, one_of, option, output_file, switch, whole_to
from attncalc.common.errors import AttncalcError, InputError, OptionError, amount, both, either, visible
from attncalc.common.system import NamedTuple, is_device, is_file, shown
from attncalc.evaluate.large.cores import count
from attncalc.homework.marking.overrides import Blank, Override, names_of, overridden, read_overrides
from attncalc.homework.marking.regrading import Change, Report, by_policy, changes, read_report
from attncalc.homework.marking.whole_class import Assignment, Graded, Settings, absent, blank_by, exit_status
from attncalc.homework.reading.answers import MOST_TOLD
from attncalc.homework.reading.class_lists import MOST_ROWS, Submission
from attncalc.homework.reading.names import file_name, folded
from attncalc.homework.reports.class_reports import (
    LONGEST_SHOWN,
    REPORTS,
    SUFFIXES,
    VISIBILITIES,
    VISIBLE,
    Account,
    gradescope,
    overview,
)
from attncalc.homework.reports.class_reports import report as page
from attncalc.homework.reports.feedback import FORMATS, written_for
from attncalc.homework.reports.mark_sheets import filled
from attncalc.homework.reports.students import anonymous, code, once
from attncalc.inputs.reading import Reading
from attncalc.inputs.resolve import MAX_TEXT, decode, read_file
from attncalc.record.verdicts import USUAL_POLICY, Policy
from attncalc.render import View
from attncalc.render.page import Page, Paragraph, Row, Rows, write

MOST_JOBS = 64
ANY_ROWS = 10**9
MOST_NAMED = 3
"""The most students that are named whose sheets cannot be read."""
MOST_SECONDS = 20
"""How long the scheduler of a cluster may take to answer."""
WITHOUT_PAGES = ("csv", "junit", "tap", "gradescope")


class Again(NamedTuple):
    """How marks that were given already are changed."""

    regrade: Annotated[
        str | None,
        option(
            "Marking again",
            "--regrade",
            "REPORT",
            "say whose marks are others than in this report (JSON); options change the policy that it was marked by",
        ),
    ] = None
    dry_run: Annotated[bool, switch("Marking again", "--dry-run", "say only that, and write nothing")] = False
    override: Annotated[
        str | None,
        option(
            "Marking again",
            "--override",
            "FILE",
            "marks by hand, of sheets on paper as well: a CSV with student, step, marks, why",
        ),
    ] = None


class Platform(NamedTuple):
    """For platforms that have one student's sheets marked at a time."""

    student: Annotated[
        str | None,
        option(
            "Platforms",
            "--student",
            "NAME",
            "whose all the sheets are, whatever they say; @FILE: Gradescope's submission_metadata.json",
        ),
    ] = None
    visibility: Annotated[
        str | None,
        one_of(
            "Platforms",
            "--visibility",
            VISIBILITIES,
            f"when Gradescope shows students what was found: {either(VISIBILITIES)} (visible)",
            "WHEN",
        ),
    ] = None


class Back(NamedTuple):
    """What comes back to students, and what they are called."""

    feedback: Annotated[
        str | None,
        option("Feedback", "--feedback", "DIR", "a page for each student there: what is wrong, the hint, the marks"),
    ] = None
    feedback_format: Annotated[
        str | None, one_of("Feedback", "--feedback-format", FORMATS, "what those pages are (html)")
    ] = None
    into: Annotated[
        str | None,
        option("Feedback", "--into", "FILE", "fill in the mark sheet that Moodle or Canvas exported (FILE#COLUMN)"),
    ] = None
    anonymous: Annotated[
        bool, switch("Feedback", "--anonymous", "codes in place of names, always the same, in all that is written")
    ] = False
    audit: Annotated[
        bool,
        switch("Feedback", "--audit", "what each mistake cost, by other policies too, and which judgements were close"),
    ] = False
    first: Annotated[
        bool, switch("Feedback", "--first", "of several sheets of a student the first counts, not the last")
    ] = False


def grade(
    words: Annotated[list[str] | None, typer.Argument(metavar="key sheets…")] = None,
    *,
    marking: Marking,
    again: Again,
    back: Back,
    printed: Printed,
    platform: Platform,
    tables: Annotated[Tables, FURTHER],
    report: Annotated[str | None, one_of("Output", "-f --report", REPORTS, either(REPORTS), "FORMAT")] = None,
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
    cluster: Annotated[
        str | None,
        option("Work", "--cluster", "ADDRESS", "use the workers of a Dask scheduler: tcp://host:8786, or its file"),
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
    be read is listed, and so is a folder or a pattern that holds none; the others are marked all the same, as are the
    other steps of a sheet of which one cannot be read. What answers earn is a policy, in a file or in the options of
    the same names. --regrade finds the marks of a report by another policy, or, with key and sheets, marks them again;
    marks by hand keep their share of a step. The exit status is 0 if all are right, 1 if any is wrong, 2 if
    any could not be read.

    Example: attncalc grade key.json sheets/
    """
    if report is None and output not in (None, "", "-"):
        report = out.format_of(Path(output), SUFFIXES)
    _refuse_idle(report, output, marking, back, platform)
    before, printing = _before(again), printed.printing
    by = policy(marking, USUAL_POLICY if before is None else before.policy)
    read = Reading(**tables.asked())
    task = _task(words or (), read, MOST_ROWS if max_rows is None else max_rows) if words or before is None else None
    if platform.student is not None and task is None:
        raise OptionError("--student says whose the sheets are, and there are none to be marked")
    if task is not None:
        task = task._replace(found=whose(task.found, platform.student, task.assignment))
    files = [*read.opened, *filter(None, (again.regrade, again.override, marking.policy, printed.texts))]
    files += [] if task is None else dict.fromkeys(str(each.path) for each in task.found if each.path)
    many = len(before.graded if before is not None else ()) if task is None else len(task.found)
    a_file_each = report == "gradescope" and many > 1 and platform.student is None
    path = None if again.dry_run else _target(output, files, a_file_each=a_file_each)
    changed = _changed(path, before, again, read)
    pages = _pages(back)
    sheet = _mark_sheet(back, files)
    if task is not None:
        with bar(), executed(cluster) as executor:
            work = Work(count() if jobs == 0 else jobs or 1, executor)
            graded, several = marked(
                task.assignment, task.found, read, by, reveal=marking.reveal, dtype=dtype, first=back.first, work=work
            )
    else:
        assert before is not None, "there are words, or there is a report"
        graded, several = once(by_policy(before, by), first=back.first)
    found = _Class(graded, several, *_missing(graded, None if platform.student else task, before, by))
    alone = report is not None and path is None and not a_file_each  # the report has standard output to itself
    graded, log, missing = _settled(found, before, changed, again, back, read, aside=alone and not again.dry_run)
    if again.dry_run:
        return 0
    account = Account(by, log, back.audit, printing, platform.visibility or VISIBLE, marking.hints, missing)
    if a_file_each:
        _write_each(graded, Path(output or ""), files, ".json", lambda each: gradescope(each, account))
    elif report is not None:
        view = View(width=out.width() if path is None else None, unicode=out.carries_signs(sys.stdout))
        out.deliver(page(graded, report, view, account), path)
    if sheet is not None:
        _fill_in(sheet, graded)
    if pages is not None:
        form = back.feedback_format or "html"
        _write_each(_somebodys(graded, task), pages, files, FORMATS[form], lambda one: written_for(one, form, account))
    if not alone:
        out.write_page(str(write(overview(graded, account), "table", View(width=out.width()))))
    _say_unread(graded)
    return exit_status(graded)


def _refuse_idle(report: str | None, output: str | None, marking: Marking, back: Back, platform: Platform) -> None:
    """Refuse options that would change nothing of what is written."""
    if platform.visibility is not None and report != "gradescope":
        raise OptionError("--visibility is of Gradescope's reports", hint="-f gradescope makes one")
    if marking.hints is not None and back.feedback is None and report != "gradescope":
        raise OptionError("--hints says how much students are told, and nothing is for them", hint="--feedback DIR")
    if back.feedback is None and back.feedback_format is not None:
        raise OptionError("--feedback-format says what pages are, and none are asked for", hint="--feedback DIR")
    if back.audit and report in WITHOUT_PAGES and output in (None, "-"):
        raise OptionError(f"{report} has no room for an audit", hint="-o FILE writes it, and the audit is shown beside")


def _before(again: Again) -> Report | None:
    """The report that is marked again."""
    if again.regrade is None and again.dry_run:
        raise OptionError("--dry-run says what --regrade would change, and nothing is to be regraded")
    return None if again.regrade is None else read_report(again.regrade)


class _Task(NamedTuple):
    """What is to be marked."""

    assignment: Assignment
    found: Sequence[Submission]


NO_TABLES = (".json", ".npy", ".npz", ".safetensors")
"""The suffixes of sheets that are never CSV."""


def _task(words: Sequence[str], read: Reading, most: int) -> _Task:
    """The key and the sheets that words name."""
    if len(words) < 2:
        given = amount(len(words), "word was", "words were")
        fault = f"grade takes a key and the sheets to mark, but {given} given"
        mend = "; with --regrade REPORT name both, to mark by another key, or neither" if words else ""
        raise OptionError(fault, hint=f"attncalc grade key.json sheets/{mend}")
    key, *sheets = words
    task = assignment_by(key, sheets, read)
    found = handed_in(_listed(sheets), key, read, task, most)
    if all(each.path.suffix in NO_TABLES for each in found if each.path):
        for idle in read.idle():
            read.tell(idle)
    return _Task(task, found)


@contextmanager
def executed(address: str | None) -> Iterator[Executor | None]:
    """The executor of a cluster, by the address of its scheduler or the file that it wrote; None if none is named.

    Certificates and the like are those of Dask's own configuration.
    """
    if address is None:
        yield None
        return
    try:
        from distributed import Client  # a door: an extra, which loads for long
    except ImportError:
        raise OptionError("--cluster needs Dask", hint="pip install 'attncalc[cluster]'") from None
    where = {"scheduler_file": address} if is_file(address) else {"address": address}
    try:
        client = Client(**where, timeout=MOST_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        said = visible(str(error).partition("\n")[0], 200)
        raise AttncalcError(f"there is no scheduler at {visible(address, 80)}: {said}") from None
    with client:
        yield client.get_executor(pure=False)


class _Class(NamedTuple):
    """A class, marked, before marks are changed by hand."""

    graded: Sequence[Graded]
    several: Mapping[str, Sequence[str]]  # remarks on students with several sheets
    absent: Sequence[str]
    blank: Blank


def _missing(
    graded: Sequence[Graded], task: _Task | None, before: Report | None, by: Policy
) -> tuple[Sequence[str], Blank]:
    """The students of the roster without a sheet, and the function that makes a blank one for each of them."""
    missing = absent(graded, task.assignment.keys) if task is not None else before.absent if before is not None else ()
    return missing, blank_by(graded, missing, Settings(by) if task is None else task.assignment.settings(by))


def _settled(
    found: _Class,
    before: Report | None,
    changed: Sequence[Override],
    again: Again,
    back: Back,
    read: Reading,
    *,
    aside: bool,
) -> tuple[list[Graded], Sequence[Override], list[str]]:
    """The class after marks by hand, and with codes for names; the log of changes; and who still has no sheet.

    Notes tell what changes, and who has several sheets.
    """
    was, old = ((), ()) if before is None else (before.graded, before.log)
    graded, log = overridden(found.graded, changed, old, found.blank)
    missing, several = still_absent(found.absent, graded), found.several
    kept = {(folded(one.student), one.step) for one in log}
    lost = [one for one in old if (folded(one.student), one.step) not in kept]
    if back.anonymous:
        graded, log = anonymous(graded, log)
        was, _ = anonymous(was, ())
        several = {name: [f"of the sheets of {code(name)} one counts"] for name in several}
        missing = sorted(map(code, missing))
    if lost:
        names = both([f"{code(one.student) if back.anonymous else one.student}, {one.step}" for one in lost], MOST_TOLD)
        read.tell(f"there is no such step any more, and its marks by hand are dropped: {names}")
    out.say("note", *read.notes, *of_sheets(graded), *(line for lines in several.values() for line in lines))
    if before is not None:
        _tell_changes([*changes(was, graded)], len(graded), dry=again.dry_run, aside=aside)
    return graded, log, missing


def _target(output: str | None, files: Sequence[str], *, a_file_each: bool) -> Path | None:
    """The file of the report; raises if it cannot be written, before anything is marked."""
    if a_file_each:
        if output in (None, "", "-"):
            raise OptionError("gradescope takes one file for each sheet, so -o must name a folder")
        out.refuse_folder(Path(output))
        return None
    path = output_file(output)
    if path is not None:
        out.refuse_unwritable(path, files)
    return path


def _changed(path: Path | None, before: Report | None, again: Again, read: Reading) -> Sequence[Override]:
    """The marks by hand; raises if the report would replace one with marks by hand that this one does not have."""
    changed = [] if again.override is None else read_overrides(again.override, read.tell)
    try:
        held = read_report(str(path)).log if path is not None and is_file(str(path)) else ()
    except AttncalcError:
        return changed  # it is no report
    again_by_hand = {(folded(one.student), one.step) for one in (*(before.log if before else ()), *changed)}
    lost = [one for one in held if not {(folded(one.student), step) for step in names_of(one.step)} & again_by_hand]
    if lost:
        fault = f"{shown(str(path))} has marks by hand that would be lost: {both(map(str, lost), MOST_NAMED)}"
        raise InputError(fault, hint=f"--regrade {shown(str(path))} with another -o FILE keeps them")
    return changed


class _MarkSheet(NamedTuple):
    """A mark sheet that is to be filled in."""

    path: Path
    column: str
    data: bytes


def _mark_sheet(back: Back, files: Sequence[str]) -> _MarkSheet | None:
    """The mark sheet; raises if it cannot be filled in, before anything is marked."""
    if back.into is None:
        return None
    if back.anonymous:
        raise OptionError("--into finds students by their names, and --anonymous takes them away")
    name, _, column = (back.into, "", "") if is_file(back.into) else back.into.partition("#")
    if is_device(Path(name)):
        raise InputError(f"{shown(name)} is not a regular file", hint="save it in a file: the marks are written there")
    sheet = _MarkSheet(Path(name), column, read_file(name, MAX_TEXT))
    out.refuse_unwritable(sheet.path, files)
    filled(decode(sheet.data, shown(name)), shown(name), column, ())
    return sheet


def _fill_in(sheet: _MarkSheet, graded: Sequence[Graded]) -> None:
    """Write the marks into a mark sheet, in the encoding that platforms and spreadsheets read."""
    source = shown(str(sheet.path))
    text, notes = filled(decode(sheet.data, source), source, sheet.column, graded)
    marked = sheet.data[:1] in (b"\xef", b"\xff", b"\xfe")
    out.deliver(text.encode("utf-8-sig" if marked else "utf-8"), sheet.path)
    out.say("note", *notes)


def _pages(back: Back) -> Path | None:
    """The folder for the students' pages; raises if it cannot be made, before anything is marked."""
    if back.feedback is None:
        return None
    if not back.feedback:
        raise OptionError("--feedback needs the name of a folder, but it is empty")
    folder = Path(back.feedback)
    out.refuse_folder(folder)
    return folder


def _tell_changes(found: Sequence[Change], students: int, *, dry: bool, aside: bool) -> None:
    """Tell whose marks change, and how; `aside` on standard error, if standard output is for a report alone."""
    rows = [Row((visible(one.student, LONGEST_SHOWN), one.before, one.after)) for one in found]
    change = "would change" if dry else "change"
    told = f"the marks of {len(rows)} of {amount(students, 'student')} {change}"
    if aside:
        for one in found:
            out.say("note", f"{visible(one.student, LONGEST_SHOWN)}: {one.after}, before it was {one.before}")
        out.say("note", told)
    elif not rows:
        out.write_page(f"{told}\n")
    else:
        table = Rows("each change", ("student", "marks before", "marks now"), tuple(rows))
        changed = Page("Changes", (table, Paragraph(told, "about")))
        out.write_page(str(write(changed, "table", View(width=out.width()))))


def _say_unread(graded: Sequence[Graded]) -> None:
    """Say why the exit status is 2, for readers of a machine's report; the table has the reason for each sheet."""
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


def _somebodys(graded: Sequence[Graded], task: _Task | None) -> list[Graded]:
    """The sheets of students: all but the folders and patterns that hold none, even if names are codes."""
    nothing = [] if task is None else [one for one in task.found if one.nobodys]
    nobodys = {word for one in nothing for word in (one.source, code(one.name))}
    return [one for one in graded if one.source not in nobodys]


def _write_each(
    graded: Sequence[Graded], folder: Path, read: Sequence[str], suffix: str, content: Callable[[Graded], str]
) -> None:
    """Write a file for each sheet, named after its student; raises if one would replace a file that was read."""
    out.make_folder(folder)
    taken: set[str] = set()
    paths = [folder / file_name(one.student, taken, suffix) for one in graded]
    for path in paths:
        out.refuse_unwritable(path, read)
    for one, path in zip(graded, paths, strict=True):
        out.deliver(content(one), path)
