"""CSV and Markdown's tables: how cells are told apart; what is text in the first row and column is labels."""

from __future__ import annotations

import csv
import io
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from itertools import islice
from typing import Any

import numpy as np

from attncalc.common.errors import InputError, amount, quoted, visible
from attncalc.common.numerals import KEPT_DIGITS, is_misspelt, is_number, mend
from attncalc.common.system import NamedTuple
from attncalc.declare.operands import Kind, Operand
from attncalc.inputs.given import (
    DECIMAL_HINT,
    Index,
    brackets,
    build,
    from_array,
    is_entry,
    read_expression,
    read_tokens,
)
from attncalc.inputs.reading import Contents, Reading, choose, labelled_row
from attncalc.record.trace import Given

BLANKS, BAR = " ", "|"
HEADER = "first row read as column labels"
MOST_IN_FRONT = 10**8  # lines in front of tables, added up over all tables of a file
_DELIMITERS = "\t;,"  # in this order if several would do
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+|%)?", re.ASCII)
_PERHAPS_DECIMAL = re.compile(r"\s*(?:[+-]?\d*,\d+(?:\s+|\Z))+", re.ASCII)
_PAGE = re.compile(r"[─━│]{2}|\S ╲ \S|(?i:<!DOCTYPE html)|\\begin\{|\| -+:? \||-{3,}\+-{3,}")
_BAR_FIRST = re.compile(r"(?:\s*@[^\r\n]*[\r\n])*\s*\|")
_RULE = re.compile(r"\|(?:\s*:?-+:?\s*\|)+")  # | --- | :-: |
_QUOTED = re.compile(r'"[^"]*"')
_END = r"\r\n?|\n"
LINE_END = re.compile(_END)


class Row(NamedTuple):
    """The cells of one row, and the line of the file on which it begins."""

    line: int
    cells: list[str]


class Broken(NamedTuple):
    """A row that cannot be told from those after it, and the line on which it begins."""

    line: int
    fault: str


class TextFile(Contents):
    """Rows and cells, or several such tables under lines `@name`; for tokens, words."""

    table = True

    def __init__(self, source: str, text: str, remark: str = "") -> None:
        super().__init__(source)
        self.text, self.mark = without_mark(text)
        self.remark = remark  # on its letters

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its tables, if it has several."""
        return tuple(blocks(self.text, self.source))

    def array(self, name: str | None, operand: Operand, reading: Reading) -> Given:
        """The table, the one of that name or meant for the operand, or the row of that label."""
        return self._array(name, operand, reading).noted("letters", self.remark)

    def _array(self, name: str | None, operand: Operand, reading: Reading) -> Given:
        reading = reading.parted_by(self.mark)
        if operand.kind == "tokens":
            return read_tokens(self.text, self.source)._replace(source=self.source)
        if operand.kind == "expression":
            return read_expression(self.text)._replace(source=self.source)
        tables = blocks(self.text, self.source)
        if not tables:
            given = read_table(self.text, self.source, operand.kind, reading)._replace(source=self.source)
            return labelled_row(given, name) if name else given
        chosen = choose(name, operand.name, list(tables), self.source)
        given = read_table(tables[chosen], self.source, operand.kind, reading)
        return given._replace(source=f"{self.source}#{visible(chosen, 80)}")


def without_mark(text: str) -> tuple[str, str | None]:
    """The text without its sign of a delimiter, and the delimiter: Excel's first line `sep=;`, or Markdown's bars."""
    if (bare := _without_bars(text)) is not None:
        return bare, BAR
    found = re.match(r'(?i:("?)sep=([^"\r\n])\1[,;\t ]*)(?=[\r\n]|\Z)', text)
    return (text[found.end() :], found[2]) if found else (text, None)


def _without_bars(text: str) -> str | None:
    """Tables of Markdown without the bars around rows, and without the rule below a header; None if there are none.

    An empty header, which is there because Markdown needs one, is left out; lines stay where they are.
    """
    if not _BAR_FIRST.match(text):
        return None
    found: list[str] = []
    rows = 0
    for line in io.StringIO(text, newline=None):
        row = line.strip()
        if not row or row.startswith("@"):
            rows = 0 if row else rows
            found.append(line)
        elif not (len(row) > 1 and row[0] == row[-1] == BAR):
            return None
        elif rows == 1 and _RULE.fullmatch(row):
            found[-1] = found[-1] if found[-1].strip(f"{BAR} \n") else "\n"
            found.append("\n")
        else:
            rows += 1
            found.append(f"{row[1:-1]}\n")
    return "".join(found) if rows else None


def blocks(text: str, source: str = "the file") -> dict[str, str]:
    """The tables of a file by name, each begun by a line `@name`; {} for a file that is one table.

    Lines in front of a table are kept as empty ones, so that errors name the lines of the file.
    """
    if not re.match(r'\s*"?@', text):
        return {}
    found: dict[str, list[str]] = {}
    name, in_front = "", 0
    for number, line in enumerate(io.StringIO(text, newline=None)):
        title = re.fullmatch(r'\s*"?@([^,;\t"]+)"?[,;\t]*\s*', line)
        if title:
            name, in_front = title.group(1).strip(), in_front + number
            if name in found:
                raise InputError(f"{source}:{number + 1}: {quoted('@' + name)} stands twice")
            if in_front > MOST_IN_FRONT:
                raise InputError(f"{source} holds more tables (lines @name) than are read")
            found[name] = ["\n" * (number + 1)]
        elif name:
            found[name].append(line)
    return {name: "".join(lines) for name, lines in found.items()}


def read_table(text: str, source: str, kind: Kind, reading: Reading) -> Given:
    """The numbers of a table, with the labels of its rows and columns; always of two axes."""
    try:
        digits = _of_digits(text, source, kind, reading) if len(text) > KEPT_DIGITS else None
        return digits or _read_table(text, source, kind, reading)
    except InputError as fault:
        if _PAGE.search(text[:KEPT_DIGITS]):
            fault.hint = "that is a page for readers: attncalc reads again what it writes with -f json, csv, npy or npz"
        raise


def _of_digits(text: str, source: str, kind: Kind, reading: Reading) -> Given | None:
    """A large table of digits, with or without a header, read line by line without keeping cells.

    None for any other table, or if anything is wrong with it: reading it cell by cell then finds what.
    """
    mark = delimiter_of(text, reading)
    try:
        at, head = 0, list(islice(rows_in(text[:KEPT_DIGITS], mark, source), 2))
        row_labels, header = _labels(head, kind, reading, source)
        start, width = head[header].line - 1, len(head[0].cells)
    except (InputError, IndexError):
        return None
    for _ in range(start):
        at = text.find("\n", at) + 1
    digits = re.compile(rf"[0-9eE+.\-\s{re.escape(mark)}]*", re.ASCII)
    commas = reading.decimal == "," or any(map(DECIMAL_COMMA.fullmatch, head[0].cells))
    if row_labels or commas or not digits.fullmatch(text, at):
        return None
    found = array("d")
    try:
        for line in _lines(text, at):
            cells = line.split() if mark == BLANKS else line.split(mark)
            if len(cells) == width and line.strip():
                found.extend(map(float, cells))
            elif len(cells) > 1 or line.strip():
                return None
        value = np.frombuffer(found).reshape(-1, width)
        if not np.isfinite(value).all():  # digits that are too large, for nobody meant an infinity
            return None
        given = from_array(value, kind, brackets(source))
    except (ValueError, InputError):
        return None
    if header:
        given = given._replace(labels={1: tuple(head[0].cells)}).noted("labels", HEADER)
    return _perhaps_one_column(given, text, reading)


def _lines(text: str, start: int) -> Iterator[str]:
    """The lines from a place on, one after the other, without their newlines."""
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def _perhaps_one_column(given: Given, text: str, reading: Reading) -> Given:
    """The operand, with a note if its two columns of whole numbers may be one with decimal commas."""
    two = given.value.shape[1:] == (2,) and not reading.delimiter
    if not two or not _PERHAPS_DECIMAL.fullmatch(text) or not re.search(r",\d\d", text):
        return given
    return given.noted("decimal", "read as two columns; with --decimal , it is one, of numbers with decimal commas")


def _read_table(text: str, source: str, kind: Kind, reading: Reading) -> Given:
    rows, commas = table_rows(text, source, reading)
    if not rows:
        raise InputError(f"{source} is empty")
    row_labels, header = _labels(rows, kind, reading, source)
    data = [row.cells[row_labels:] for row in rows[header:]]
    if not data or not data[0]:
        raise InputError(f"{source} has labels but no numbers")

    def place(index: Index) -> str:
        line = [rows[header + i].line for i in index[:1]]
        return ":".join(map(str, [source, *line, *(i + row_labels + 1 for i in index[1:])]))

    cells = [cell for row in data for cell in row]
    given = build(_as_floats(text, cells), (len(data), len(data[0])), kind, place)
    labels = {}
    if header:
        labels[1] = tuple(rows[0].cells[row_labels:])
        given = given.noted("labels", HEADER)
    if row_labels:
        labels[0] = tuple(row.cells[0] for row in rows[header:])
        given = given.noted("labels", "first column read as row labels")
    if commas and reading.decimal != ",":
        given = given.noted("decimal", "commas read as decimal marks")
    return _perhaps_one_column(given._replace(labels=labels), text, reading)


def table_rows(text: str, source: str, reading: Reading) -> tuple[list[Row], bool]:
    """The rows of a table, all of one length and with decimal points, and whether they had commas instead."""
    rows, delimiter = parted(text, source, reading)
    if not rows:
        return [], False
    for row in rows:
        try:
            check_length(row, rows[0], source)
        except InputError as fault:
            fault.hint = fault.hint or _of_decimal_commas(text, source, reading)
            raise
    commas = reading.decimal == "," or _decimal_commas(rows, delimiter, explicit=bool(reading.delimiter), source=source)
    return ([with_points(row, source) for row in rows] if commas else rows), commas


def _of_decimal_commas(text: str, source: str, reading: Reading) -> str:
    """The hint that uneven rows are even if commas are decimal marks; "" if they are not."""
    if reading.decimal == "," or reading.delimiter or not re.search(r"\d,\d", text, re.ASCII):
        return ""
    other = copy(reading)
    other.decimal = ","
    rows, _ = parted(text, source, other)
    even = len({len(row.cells) for row in rows}) == 1 < len(rows[0].cells)
    numbers = (is_number(_with_point(cell)) for row in rows[1:] or rows for cell in row.cells[1:] or row.cells)
    return DECIMAL_HINT if even and all(numbers) else ""


def parted(text: str, source: str, reading: Reading) -> tuple[list[Row], str]:
    """The rows of a table as they are written, and its delimiter.

    A row without any text is a blank line if it is longer or shorter than the others.
    """
    delimiter = delimiter_of(text, reading)
    rows = list(rows_in(text, delimiter, source))
    width = next((len(row.cells) for row in rows if any(row.cells)), 0)
    return [row for row in rows if any(row.cells) or not width or len(row.cells) == width], delimiter


def delimiter_of(text: str, reading: Reading) -> str:
    """The delimiter: the one that is asked for, else the one that most lines have, else blanks."""
    if reading.delimiter:
        return reading.delimiter
    lines = [_QUOTED.sub("", line) for line in text.lstrip()[:KEPT_DIGITS].splitlines() if line.strip()][:100]
    having = {d: sum(d in line for line in lines) for d in _DELIMITERS if d != reading.decimal}
    most = max(having.values())
    return next(d for d, number in having.items() if number == most) if most else BLANKS


def first_line(text: str) -> str:
    """The first line that is not blank; without its quoted text, if that goes on below it."""
    first = re.search(r"[^\r\n]*\S[^\r\n]*", text)
    line = first[0] if first else ""
    return (_QUOTED.sub("", text.lstrip()).splitlines() or [""])[0] if line.count('"') % 2 else line


def rows_in(text: str, delimiter: str, source: str) -> Iterator[Row]:
    """The rows that are not blank, their cells without the blanks around them."""
    rest = text.lstrip("\n")  # there are many such lines in front of a late table of a file
    for row in rows_from(io.StringIO(rest, newline=""), len(text) - len(rest) + 1, delimiter):
        if isinstance(row, Broken):
            raise InputError(f"{source}:{row.line}: {row.fault}")
        yield row


def rows_from(lines: Iterable[str], first: int, delimiter: str) -> Iterator[Row | Broken]:
    """The rows of these lines, as far as the first broken one; they begin with line number `first` of their file."""
    if delimiter == BLANKS:
        for number, line in enumerate(lines, start=first):
            if cells := line.split():
                yield Row(number, cells)
        return
    reader = csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=True)
    begun = first
    try:
        for cells in reader:
            stripped = [cell.strip() for cell in cells]
            if any(stripped) or len(stripped) > 1:
                yield Row(begun, stripped)
            begun = first + reader.line_num
    except csv.Error as error:
        long = "limit" in str(error)
        yield Broken(begun, "a cell is too long" if long else "a quote does not enclose a whole cell, or is not closed")


def records(text: str, delimiter: str) -> Iterator[tuple[int, str | None]]:
    """The line on which each row begins, and its text; for a quote that is never closed, its line and None.

    Quoted text belongs to its cell, line breaks included. A row that is broken in another way ends with its line.
    """
    mark = re.escape(delimiter)
    cell = rf'(?> *"[^"]*+(?:""[^"]*+)*+"[^{mark}\r\n]*|(?! *")[^{mark}\r\n]*)'
    row = rf"(?:{cell}{mark})*+(?:{cell}({_END}|\Z))?" if delimiter != BLANKS else rf"[^\r\n]*({_END}|\Z)"
    pattern = re.compile(row)
    at, line = 0, 1
    while at < len(text):
        found = pattern.match(text, at)
        assert found, "it fits any text"
        line_breaks = len(LINE_END.findall(found[0]))
        yield (line, found[0]) if found[1] is not None else (line + line_breaks, None)
        if found[1] is None:
            return
        at, line = found.end(), line + line_breaks


def check_length(row: Row, first: Row, source: str) -> None:
    """Refuse a row that has more or fewer cells than the first one."""
    if len(row.cells) == len(first.cells):
        return
    comment = next((r.line for r in (first, row) if r.cells[0].startswith(("#", "%", "//"))), None)
    hint = f"comments are not read: take out line {comment}" if comment else ""
    if not hint and len(row.cells) == len(first.cells) + 1 and not row.cells[-1]:
        hint = "take out the delimiter at the end of the line"
    raise InputError(
        f"{source}:{row.line}: has {amount(len(row.cells), 'cell')} where line {first.line} has {len(first.cells)}",
        hint=hint,
    )


def _decimal_commas(rows: Sequence[Row], delimiter: str, *, explicit: bool, source: str) -> bool:
    """Whether cells such as `1,5` hold decimal commas; a file that can be read in two ways is refused."""
    if delimiter == ",":
        return False
    cells = [cell for row in rows for cell in row.cells]
    with_comma = [cell for cell in cells if DECIMAL_COMMA.fullmatch(cell)]
    if not with_comma or any(has_point(cell) for cell in cells):
        return False
    as_rows = all(is_number(part) for cell in cells for part in cell.split(","))
    if delimiter == ";" and not explicit and with_comma == cells and as_rows:
        first = rows[0]
        raise InputError(
            f"{source}:{first.line}: {quoted(';'.join(first.cells))} can be read in two ways: as the numbers "
            f"{_two(map(_with_point, first.cells))} with decimal commas, or as the rows {_two(first.cells)}",
            hint="--decimal , for decimal commas; otherwise put each row on a line of its own",
        )
    return True


def with_points(row: Row, source: str) -> Row:
    """The row with decimal points for decimal commas; a number that has a point already is refused."""
    for i, cell in enumerate(row.cells, start=1):
        if has_point(cell):
            raise InputError(
                f"{source}:{row.line}:{i}: {quoted(cell)} has a point among decimal commas",
                hint="write numbers without separators between thousands",
            )
    return row._replace(cells=[_with_point(cell) for cell in row.cells])


def has_point(cell: str) -> bool:
    """Whether a cell is a number with a decimal point."""
    return "." in cell and is_number(cell)


def _with_point(cell: str) -> str:
    return cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell


def pointed(tree: Any, spelled: Callable[[str], str] = str) -> Any:
    """A JSON value with points in those of its texts that are numbers with decimal commas once they are `spelled`."""
    if isinstance(tree, dict):
        return {key: pointed(value, spelled) for key, value in tree.items()}
    if isinstance(tree, list):
        return [pointed(value, spelled) for value in tree]
    if type(tree) is not str:
        return tree
    number = spelled(tree.strip())
    return _with_point(number) if DECIMAL_COMMA.fullmatch(number) else tree.strip()


def _labels(rows: Sequence[Row], kind: Kind, reading: Reading, source: str) -> tuple[bool, bool]:
    """Whether the first column labels the rows, and whether the first row labels the columns."""
    column = [row.cells[0] for row in rows]
    words = [cell for cell in column if not cell.startswith("=")]  # a column of =A1 alone was meant as numbers
    label = is_text(words if any(words[1:]) else column, kind) if reading.labels is None else reading.labels
    if reading.header is None and reading.labels is not False and is_numbered(rows):
        return True, True
    first = rows[0].cells[label:]
    header = is_text(first, kind) if reading.header is None else reading.header
    if not header and reading.header is None:
        for i, cell in enumerate(first, start=label + 1):
            if cell and not is_entry(cell, kind):
                overrule = "a first row or column of labels holds no number; --header and --labels overrule"
                place = f"{source}:{rows[0].line}:{i}"
                raise InputError(f"{place}: {quoted(cell)} is not a number", hint=mend(cell) or overrule)
    for i, cell in enumerate(first, start=label + 1):
        if header and not cell:
            mends = "--labels takes the first column as row labels" if i == 1 else "--no-header takes it as numbers"
            raise InputError(f"{source}:{rows[0].line}:{i}: there is no label in the header row", hint=mends)
    for row in rows[header:]:
        if label and not row.cells[0]:
            hint = "--header takes the first row as column labels" if row is rows[0] else "write one"
            raise InputError(f"{source}:{row.line}:1: there is no row label", hint=hint)
    if not header and not label and not column[0] and all(map(bool, (*first[1:], *column[1:]))):
        hint = "if the first row and column are labels: --header --labels"
        raise InputError(f"{source}:{rows[0].line}:1: there is no number", hint=hint)
    return label, header


def is_numbered(rows: Sequence[Row]) -> bool:
    """Whether the first row numbers the columns from 0, above row labels, as pandas writes it: `,0,1,2`."""
    corner, *numbers = rows[0].cells
    labelled = len(rows) > 1 and all(row.cells[0] for row in rows[1:])
    return not corner and labelled and len(numbers) > 0 and numbers == [*map(str, range(len(numbers)))]


def is_text(cells: Sequence[str], kind: Kind) -> bool:
    """Whether there is text in the cells, and nothing that is, or was meant as, a number."""
    return any(cells) and not any(is_entry(cell, kind) or is_misspelt(cell) for cell in cells)


def _as_floats(text: str, cells: list[str]) -> Sequence[str | float]:
    """The cells of a large table as floats, if they are digits and nothing else; otherwise as they are."""
    if len(text) > KEPT_DIGITS and re.fullmatch(r"[0-9eE+.-]*", "".join(cells)):
        try:
            floats = [float(cell) for cell in cells]
        except ValueError:
            return cells  # reading entries one by one will tell which is wrong
        return floats if np.isfinite(floats).all() else cells
    return cells


def _two(cells: Iterable[str]) -> str:
    """The first two cells, cut short."""
    return " and ".join(visible(cell, 20) for cell in islice(cells, 2))
