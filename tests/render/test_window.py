"""How much of a value a page shows, and what it says of the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy

from attncalc.render import View
from attncalc.render.page import GAP, Limits, heading, label, window

SMALL = Limits(rows=5, columns=6, tables=4)
EVERYTHING = View(everything=True)


@pytest.mark.parametrize(
    ("shape", "axes", "rows", "columns", "tables", "left_out"),
    [
        ((), "", 1, 1, 1, ""),
        ((6,), "n", 1, 6, 1, ""),
        ((9,), "n", 1, 5, 1, "5 more columns"),
        ((5, 6), "n m", 5, 6, 1, ""),
        ((6, 6), "n m", 4, 6, 1, "3 more rows"),
        ((8, 7), "n m", 4, 5, 1, "3 more columns and 5 more rows"),
        ((9, 2, 2), "h n m", 2, 2, 2, "7 more tables"),
        ((2, 3, 2, 2), "b h n m", 2, 2, 2, "4 more tables"),
    ],
)
def test_ends_are_shown_and_the_rest_is_counted(
    make: Any, shape: tuple[int, ...], axes: str, rows: int, columns: int, tables: int, left_out: str
) -> None:
    step = make.table("x", np.arange(np.prod(shape, dtype=int)).reshape(shape), axes)
    shown = window(step, View(), SMALL)
    assert shown.left_out == left_out
    assert len(shown.matrices) == tables
    for table in shown.matrices:
        assert len(table.rows) == len(table.entries) == rows
        assert {len(line) for line in table.entries} == {len(table.columns)} == {columns}
        for i, line in zip(table.rows, table.entries, strict=True):
            for j, entry in zip(table.columns, line, strict=True):
                at = (*table.at, i, j)[-len(shape) :] if shape else ()
                assert entry == (GAP if None in (i, j) else str(step.value[at]))
    assert sum(len(t.entries) * len(t.columns) for t in window(step, EVERYTHING, SMALL).matrices) == step.value.size


def test_a_value_that_was_not_kept_or_is_empty_has_no_tables(make: Any) -> None:
    assert not window(make.table("x", np.zeros((0, 3)), "n m"), View(), SMALL).matrices


def test_an_exact_number_alone_is_a_table_of_one_entry(make: Any) -> None:
    step = make.table("x", np.array(sympy.Rational(1, 3), dtype=object))
    assert [table.entries for table in window(step, View(), SMALL).matrices] == [(("1/3 ≈ 0.3333",),)]


def test_names_labels_and_headings(make: Any) -> None:
    step = make.table("best", [[[1]], [[0]]], "h n rank", names=("cat", "d\nog"), labels={"h": ("first", "se\x1bcond")})
    tables = window(step, View(), SMALL).matrices
    assert [table.entries for table in tables] == [((r"d\nog (1)",),), (("cat (0)",),)]
    assert [heading(step, table) for table in tables] == ["h = first", r"h = se\x1bcond"]
    assert label(step, "n", 3) == "3"


def test_an_operand_that_is_a_formula_is_words(make: Any) -> None:
    (table,) = window(make.table("f", np.array("x**2\n")), View(), SMALL).matrices
    assert table.entries == ((r"x**2\n",),)
