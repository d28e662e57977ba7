"""`quiz --roster` and `quiz --replace`: a problem for each student, and another one for one of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from attncalc.cli import output as out
from attncalc.cli.bar import bar
from attncalc.cli.settings import option, whole_to
from attncalc.common.errors import AttncalcError, OptionError, visible
from attncalc.common.system import NamedTuple
from attncalc.homework.quiz.class_folders import document, files_of, with_another
from attncalc.homework.quiz.handouts import worksheet_name
from attncalc.homework.quiz.worksheets import Wording
from attncalc.homework.reading.keys_file import KEYS, Variant, read_keys
from attncalc.homework.reading.names import folded
from attncalc.inputs.problem_files import document_file
from attncalc.inputs.reading import Reading
from attncalc.render import PAGES


class Classroom(NamedTuple):
    """For whom problems are made."""

    roster: Annotated[
        str | None,
        option("Class", "--roster", "FILE", "a problem for each student of a CSV file with a column student"),
    ] = None
    replace: Annotated[
        str | None,
        option(
            "Class",
            "--replace",
            "STUDENT",
            "another problem for one of them, in the folder of the class; of a bank STUDENT#NAME",
        ),
    ] = None
    bank: Annotated[
        str | None, option("Class", "--bank", "DIR", "problems of a folder with a bank.toml: titles, points, draw")
    ] = None
    pick: Annotated[
        int | None,
        option("Class", "--pick", "N", "so many of its problems (all), others for each student", check=whole_to(99, 1)),
    ] = None


def replace(student: str, folder: str | None, seed: int, formats: Sequence[str], wording: Wording) -> None:
    """Write another problem for a student into the folder of a class, in place of the files that they had."""
    if not folder:
        raise OptionError("--replace needs the folder of the class", hint=f"-o names the one with {KEYS}")
    where = Path(folder)
    keys = read_keys(document_file(str(where / KEYS), Reading()), Reading())
    name, _, problem = (student, "", "") if folded(student) in map(folded, keys.students) else student.rpartition("#")
    with bar():
        new = with_another(keys, name or student, seed, problem)
    made: dict[str, str] = {}
    for old, one in zip(keys.variants, new.variants, strict=True):
        if old is not one:
            _refuse_filled(old, where)
            worksheets = [f for f in PAGES if f in formats or (where / old.folder / worksheet_name(f)).exists()]
            made |= files_of(one, worksheets, wording)
    made[KEYS] = document(new)
    out.write_folder(where, made, anew=made)


def _refuse_filled(old: Variant, where: Path) -> None:
    """Refuse to replace a sheet that somebody has filled in."""
    for name, text in files_of(old, (), Wording()).items():
        there = where / name
        if there.exists() and there.read_text(encoding="utf-8") != text:
            raise AttncalcError(
                f"{visible(str(there), 80)} is not as it was handed out", hint="move it elsewhere first"
            )
