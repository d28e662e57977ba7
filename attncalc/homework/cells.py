"""Tables of answers: each cell holds one entry, so that a comma in it can only be a decimal mark."""

from __future__ import annotations

import re
from collections.abc import Iterable

from attncalc.homework.answers import with_roots
from attncalc.homework.complex_numbers import joined
from attncalc.inputs.csv_files import DECIMAL_COMMA, Row, check_length, has_point, parted, with_points
from attncalc.inputs.reading import Reading

_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
"""In quotes among commas this may be a number above a thousand as well."""


def entry_rows(text: str, source: str, reading: Reading) -> list[Row]:
    """The rows of a table of answers, all of one length, with decimal points."""
    rows, delimiter = parted(joined(with_roots(text)), source, reading)
    for row in rows:
        check_length(row, rows[0], source)
    if reading.decimal == ",":
        return [with_points(row, source) for row in rows]
    if any(has_point(cell) for row in rows for cell in row.cells) or not has_commas(rows, delimiter):
        return rows
    return [with_points(row, source) for row in rows]


def has_commas(rows: Iterable[Row], delimiter: str) -> bool:
    """Whether there are decimal commas in a table of answers."""
    found = [cell for row in rows for cell in row.cells if DECIMAL_COMMA.fullmatch(cell)]
    return any(delimiter != "," or not _THOUSANDS.fullmatch(cell) for cell in found)
