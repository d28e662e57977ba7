"""Lists that a teacher keeps as CSV, with a name above each column: a roster, marks changed by hand, a mark sheet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from attncalc.common.errors import InputError, both, near, quoted, visible
from attncalc.common.system import NamedTuple, is_file, shown
from attncalc.homework.reading.answers import LONGEST_NAME
from attncalc.homework.reading.headings import ONE_OF_THEM, students_in
from attncalc.homework.reading.names import folded
from attncalc.inputs.csv_files import BLANKS, Row, delimiter_of, first_line, rows_in, without_mark
from attncalc.inputs.reading import Reading
from attncalc.inputs.resolve import decode_table, read_file
from attncalc.render.csv_ import meant

Tell = Callable[[str], None]
"""Is told remarks on how a list was read."""


POSSIBLE = "points possible"
"""The name of a row in Canvas exports that holds no student's marks, but the most that can be reached."""


class Headed(NamedTuple):
    """A list: its column names, and its rows, each with a cell for every column."""

    source: str
    head: Sequence[str]
    rows: Sequence[Row]
    delimiter: str

    def column(self, *names: str) -> int:
        """The index of the column with one of these names, whatever its capitals."""
        known = [word.casefold() for word in self.head]
        for name in names:
            if known.count(name) > 1:
                raise InputError(f"{self.source} has two columns {quoted(name)}", hint=ONE_OF_THEM)
            if name in known:
                return known.index(name)
        hint = near(names[0], self.head) or f"its first line names the columns: {both(map(quoted, self.head))}"
        raise InputError(f"{self.source} has no column {quoted(names[0])}", hint=hint)

    def cells(self, *columns: str) -> Iterator[tuple[int, list[str]]]:
        """The line of each row, and its cells in these columns."""
        places = [self.column(name) for name in columns]
        for row in self.rows:
            yield row.line, [meant(row.cells[i]) for i in places]


def delimiter_in(text: str, mark: str | None = None) -> str:
    """The delimiter of a list, which may be said by a mark; it is no blank, as names of students have blanks."""
    found = delimiter_of(first_line(text), Reading().parted_by(mark))
    return "," if found == BLANKS else found


def headed(path: str, tell: Tell) -> Headed:
    """A list with column names in its first row, as any spreadsheet saves it."""
    source, data = shown(path), read_file(path)
    text, mark = without_mark(decode_table(data, source, lambda remark: tell(f"{source}: {remark}")))
    delimiter = delimiter_in(text, mark)
    rows = list(rows_in(text, delimiter, source))
    if not rows:
        raise InputError(f"{source} is empty", hint="its first row names the columns")
    head, *others = rows
    long = next((row for row in others if len(row.cells) > len(head.cells)), None)
    if long is not None:
        fault = f"{source}:{long.line}: there are {len(long.cells)} cells, under {len(head.cells)} names of columns"
        raise InputError(fault, hint="put a cell that holds the delimiter in quotes")
    filled = [row._replace(cells=[*row.cells, *[""] * (len(head.cells) - len(row.cells))]) for row in others]
    return Headed(source, head.cells, filled, delimiter)


def roster(path: str, tell: Tell) -> list[str]:
    """The students of a roster, in its order; their names stand in the same columns as in a class list."""
    if path.isdecimal() and not is_file(path):
        hint = "its first line is the word student, and a name stands in each of the others"
        raise InputError(f"a roster is a file, not a number of students: {path}", hint=hint)
    found = headed(path, tell)
    columns = students_in(found.head, found.source) or [found.column("student")]
    lines: dict[str, int] = {}
    students: list[str] = []
    for row in found.rows:
        student = visible(" ".join(filter(None, (meant(row.cells[i]).strip() for i in columns))), LONGEST_NAME)
        if folded(student) in lines:
            before = lines[folded(student)]
            raise InputError(f"{found.source}:{row.line}: {quoted(student)} stands in line {before} already")
        if student and student.casefold() != POSSIBLE:
            lines[folded(student)] = row.line
            students.append(student)
    if not students:
        raise InputError(f"{found.source} names no student", hint="the names stand below the word student, one a line")
    return students
