"""The headings of a class list say which columns hold answers, whose row it is, and what is passed over.

A column holds answers if its heading names a step of the problem, or one entry of a step by its place: weights[0,1].
The student is named by the column `student`, else by columns of names, else by one of numbers or addresses. Other
columns, which forms and spreadsheets add, are passed over, unless their headings look like misspelt steps.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from attncalc.common.errors import InputError, quoted
from attncalc.common.numerals import is_number
from attncalc.common.system import NamedTuple
from attncalc.homework.reading import answers
from attncalc.homework.reading.answers import At
from attncalc.homework.reading.sheets import StepNames
from attncalc.inputs.csv_files import Row

STUDENT, PROBLEM = "student", "problem"
_NAMES = {"name", "names", "surname", "forename", "firstname", "lastname", "fullname", "students"}
_BESIDE_NAMES = {"student", "s", "your", "full", "first", "last", "given", "middle", "family", "of", "the"}
_TELLING_APART = (STUDENT, "id", "matriculation", "registration", "username", "login", "email", "mail")
"""Words in the headings of name columns, and of columns that serve if there are none, the best first."""
_PLACED = re.compile(r"(.*\S) *\[ *(\d{1,6}(?:(?: +| *, *)\d{1,6})*) *\]", re.ASCII)

ONE_OF_THEM = "leave one of them"
COUNTED = "in a list places are counted from 0, whatever --index-base prints"


class Headings(NamedTuple):
    """What the columns of a class list hold."""

    students: Sequence[int]  # the columns that make up the name of a student
    steps: Mapping[str, Mapping[At, int]]  # for each step, the columns of its entries, by their places
    others: Sequence[int]  # the columns that are passed over
    problem: Sequence[int] = ()  # the column of the hashes of problems

    @property
    def answers(self) -> set[int]:
        """The columns of all steps."""
        return {i for columns in self.steps.values() for i in columns.values()}

    @property
    def read(self) -> list[int]:
        """The columns of names and of answers."""
        return sorted({*self.students, *self.answers})


def read_headings(head: Row, names: StepNames, source: str, *, own: bool = False) -> Headings | None:
    """What the columns of a table hold, by its first row; None if it is no class list.

    Entries of steps without a column of names are refused, unless the table may be a student's `own`.
    """
    places = [_place(cell) for cell in head.cells]
    words = [_words(cell) for cell in head.cells]
    answered = [i for i, (step, _) in enumerate(places) if step and words[i] != [STUDENT] and names.meant(step)]
    where = f"{source}:{head.line}"
    students = _students({i: said for i, said in enumerate(words) if i not in answered}, where)
    if not students:
        if own or not any(places[i][1] for i in answered):
            return None
        raise InputError(f"{where}: no column says whose a row is", hint=f'call the column of the names "{STUDENT}"')
    if not answered and not any(at for _, at in places) and words[students[0]] != [STUDENT]:
        return None
    hashes = [i for i, said in enumerate(words) if said == [PROBLEM] and i not in answered][:1]
    others = [i for i in range(len(places)) if i not in (*answered, *students, *hashes)]
    for i in others:
        if places[i][1]:
            _refuse(places[i][0], names, f"{where}:{i + 1}")
    steps = _steps({i: places[i] for i in answered}, where)
    _refuse_places_beyond(steps, names, where)
    return Headings(students, steps, others, hashes)


def refuse_misspelt(headings: Headings, head: Row, rows: Sequence[Row], names: StepNames, source: str) -> None:
    """Refuse a list without steps, a column without a heading, and numbers under a step's misspelt name."""
    where = f"{source}:{head.line}"
    answered = {place for i in headings.answers for place in (_place(head.cells[i]), (_place(head.cells[i])[0], ()))}
    for i in headings.others:
        heading, cells = head.cells[i], [row.cells[i] for row in rows if i < len(row.cells)]
        if not heading and any(cells):
            raise InputError(f"{where}:{i + 1}: the column has no name")
        of_student = {*_words(heading)} & {*_NAMES, *_TELLING_APART}
        if of_student or not heading or not any(is_number(cell.replace(",", ".")) for cell in cells):
            continue
        bare = _without_remark(heading)
        step, at = _place(bare)
        if step and names.meant(step) and bare != heading:
            if (step, at) not in answered:
                fact = f"{quoted(heading)} is no step of {names.problem}, and what stands below are numbers"
                raise InputError(f"{where}:{i + 1}: {fact}", hint=f"call the column {quoted(bare)}")
        elif names.near(heading):
            _refuse(heading, names, f"{where}:{i + 1}")
    if not headings.steps:
        raise InputError(f"{where}: no column is a step of {names.problem}", hint=names.has)


def _refuse(step: str, names: StepNames, where: str) -> None:
    """Raise InputError: there is no such step. Its hint names the nearest one."""
    try:
        names.find(step)
    except InputError as error:
        raise error.within(where) from None


def _words(heading: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", heading.casefold())


def _place(heading: str) -> tuple[str, At]:
    """`weights[0,1]` → ("weights", (0, 1)), as `weights[0 1]` and `weights[0][1]`."""
    match = _PLACED.fullmatch(heading.replace("][", " "))
    return (match[1], tuple(map(int, match[2].replace(",", " ").split()))) if match else (heading, ())


def _without_remark(heading: str) -> str:
    """`weights[0,1] (three decimals)` → `weights[0,1]`."""
    step, bracket, _ = heading.partition("]")
    return step + bracket if bracket and "[" in step else re.split("[(:]", heading, maxsplit=1)[0].rstrip()


def students_in(head: Sequence[str], where: str) -> list[int]:
    """The columns that make up the names of students in any list; none if no heading says so."""
    return _students({i: _words(cell) for i, cell in enumerate(head)}, where)


def _students(words: Mapping[int, Sequence[str]], where: str) -> list[int]:
    """The columns that say whose a row is: one, or those that make up a name; none if no heading says so."""
    own = [i for i, said in words.items() if said == [STUDENT]]
    found = own or [i for i, said in words.items() if {*said} & _NAMES and {*said} <= _NAMES | _BESIDE_NAMES]
    for i, j in combinations(found, 2):
        if words[i] == words[j]:
            called = quoted(" ".join(words[i]))
            raise InputError(f"{where}: two columns, {i + 1} and {j + 1}, are called {called}", hint=ONE_OF_THEM)
    return found or [i for known in _TELLING_APART for i, said in words.items() if known in said][:1]


def _steps(places: Mapping[int, tuple[str, At]], where: str) -> dict[str, dict[At, int]]:
    """For each step, the columns of its entries, by their places."""
    steps: dict[str, dict[At, int]] = {}
    for i, (step, at) in places.items():
        entries = steps.setdefault(step, {})
        if at in entries:
            raise InputError(f"{where}: two columns, {entries[at] + 1} and {i + 1}, hold the same of {quoted(step)}")
        entries[at] = i
    for step, entries in steps.items():
        if len({len(at) for at in entries}) > 1:
            raise InputError(f"{where}: the columns of {quoted(step)} have places of different kinds")
        if (count := math.prod(answers.reached(entries))) > answers.MOST_ENTRIES:
            raise InputError(f"{where}: {quoted(step)} has too many entries: {count:,}")
    return steps


def _has_zero(places: Iterable[At]) -> bool:
    return any(0 in at for at in places)


def seem_from_one(steps: Mapping[str, Mapping[At, int]]) -> bool:
    """Whether places may have been counted from 1 instead of 0: there is no 0 in any of them."""
    placed = [columns for columns in steps.values() if () not in columns]
    return bool(placed) and not any(map(_has_zero, placed))


def _refuse_places_beyond(steps: Mapping[str, Mapping[At, int]], names: StepNames, where: str) -> None:
    """Refuse columns for entries that a step does not have; entries without a column are just not asked for."""
    for step, columns in steps.items():
        shape, own = names.shape_of(step), answers.reached(columns)
        if len(shape) == len(own) and any(a > b for a, b in zip(own, shape, strict=True)):
            named, last = (",".join(str(size - 1) for size in sizes) for sizes in (own, shape))
            hint = f"its last one is {quoted(f'[{last}]')}" if _has_zero(columns) else COUNTED
            raise InputError(f"{where}: {quoted(step)} has no entry {quoted(f'[{named}]')}", hint=hint)
