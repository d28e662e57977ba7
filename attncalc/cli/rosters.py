"""`quiz --roster` and `quiz --replace`: a problem for each student, and another one for one of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from attncalc.cli import output as out
from attncalc.cli.bar import bar
from attncalc.cli.settings import option, whole_to
from attncalc.common.errors import AttncalcError, OptionError, amount, visible
from attncalc.common.system import NamedTuple
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.quiz.banks import picked, read_bank
from attncalc.homework.quiz.handouts import worksheet_name
from attncalc.homework.quiz.rosters import document, files_of, shared_out, with_another
from attncalc.homework.quiz.search import Asks, Quiz
from attncalc.homework.quiz.templates import Wanted
from attncalc.homework.quiz.variants import for_class, variants
from attncalc.homework.quiz.worksheets import Wording
from attncalc.homework.reading.asked import asked
from attncalc.homework.reading.lists import roster
from attncalc.homework.reading.sheets import Asked
from attncalc.homework.reading.variants import KEYS, USUAL_LEVEL, Keys, Variant, read_keys
from attncalc.inputs.problem_files import document_file
from attncalc.inputs.reading import Reading
from attncalc.record.numbers import shortest
from attncalc.render import PAGES
from attncalc.solve.problem import Problem

MORE = "larger sizes have more: --size n=4"


class Classroom(NamedTuple):
    """For whom problems are made."""

    roster: Annotated[
        str | None,
        option("Class", "--roster", "FILE", "a problem for each student of a CSV file with a column student"),
    ] = None
    replace: Annotated[
        str | None,
        option("Class", "--replace", "STUDENT", "another problem for one of them, in the folder of the class"),
    ] = None
    bank: Annotated[
        str | None, option("Class", "--bank", "DIR", "problems of a folder with a bank.toml: titles, points, draw")
    ] = None
    pick: Annotated[
        int | None,
        option("Class", "--pick", "N", "so many of its problems (all), others for each student", check=whole_to(99, 1)),
    ] = None


def drawn_for(
    file: str, name: str, seed: int, sizes: Mapping[str, int], level: str, wanted: Wanted, asks: Asks
) -> tuple[Keys, Quiz]:
    """A problem of a calculation for each student of a roster, and one of them with what it shows."""
    students = roster(file)
    with bar():
        found = for_class(name, len(students), seed=seed, sizes=sizes, level=level, wanted=wanted, asks=asks)
    _refuse_few(len(found), len(students), name, MORE)
    wants = asked(*asks, Key(found[0].problem).names)
    return shared_out(students, [one.problem for one in found], wants, level, wanted.inputs), found[0]


def like_document(file: str, source: str, problem: Problem, seed: int, level: str | None, wants: Asked) -> Keys:
    """A problem with the numbers of a document drawn anew for each student of a roster."""
    students, level = roster(file), level or USUAL_LEVEL
    told = wants.written()
    with bar():
        found = variants(
            problem, len(students), seed=seed, level=level, asks=(told.get("ask", ()), told.get("shown", ()))
        )
    if not found:
        raise OptionError(f"{source} has no numbers that can be drawn anew", hint="quiz without --roster keeps them")
    _refuse_few(len(found), len(students), source, "a document with more numbers has more")
    return shared_out(students, [one.problem for one in found], wants, level, ())


def of_bank(classroom: Classroom, seed: int, level: str | None) -> Keys:
    """Problems of a bank, for each student of a roster or for all."""
    assert classroom.bank is not None, "it was named"
    students = [] if classroom.roster is None else roster(classroom.roster)
    entries = read_bank(classroom.bank)
    with bar():
        keys = picked(entries, students, classroom.pick, seed, level or USUAL_LEVEL)
    points = {own[0].student: sum(one.points or 0 for one in own) for own in keys.by_name.values()}
    if all(one.points is not None for one in keys.variants) and len({*points.values()}) > 1:
        least, most = (shortest(pick(points.values())) for pick in (min, max))
        out.say("note", f"the problems of some students earn {least} points, those of others up to {most}")
    return keys


def _refuse_few(found: int, students: int, name: str, mend: str) -> None:
    if found < students:
        there = "is one problem" if found == 1 else f"are {found} problems"
        fault = f"there {there} of {name} that differ and are equally hard, but {amount(students, 'student')}"
        raise OptionError(fault, hint=mend)


def replace(student: str, folder: str | None, seed: int, formats: Sequence[str], wording: Wording) -> None:
    """Another problem for a student in the folder of a class, in place of the files that they had."""
    if not folder:
        raise OptionError("--replace needs the folder of the class", hint=f"-o names the one with {KEYS}")
    where = Path(folder)
    keys = read_keys(document_file(str(where / KEYS), Reading()), Reading())
    [old, *_] = keys.of(student)
    _refuse_filled(old, where)
    worksheets = [f for f in PAGES if f in formats or (where / old.folder / worksheet_name(f)).exists()]
    with bar():
        new = with_another(keys, student, seed)
    made = files_of(new.of(student)[0], worksheets, wording) | {KEYS: document(new)}
    out.write_folder(where, made, anew=made)


def _refuse_filled(old: Variant, where: Path) -> None:
    """A sheet that somebody has filled in is not written over."""
    for name, text in files_of(old, (), Wording()).items():
        there = where / name
        if there.exists() and there.read_text(encoding="utf-8") != text:
            raise AttncalcError(
                f"{visible(str(there), 80)} is not as it was handed out", hint="move it elsewhere first"
            )
