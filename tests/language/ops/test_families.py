"""The tables of families: what is imported when a row or a function is asked for must be there."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from attncalc.language import ops
from attncalc.language.primitive import OPS

FAMILIES = sorted(path.stem for path in Path(ops.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("family", ops.ROWS)
def test_the_rows_come_in_with_their_family(family: str) -> None:
    import_module(f"attncalc.language.ops.{family}")
    assert set(ops.ROWS[family].split()) <= OPS.keys()


@pytest.mark.parametrize("family", ops.FUNCTIONS)
def test_a_function_is_its_familys_own(family: str) -> None:
    module = import_module(f"attncalc.language.ops.{family}")
    for name in ops.FUNCTIONS[family].split():
        assert getattr(ops, name) is getattr(module, name)
        assert name not in FAMILIES, "a module of that name would hide the function"


@pytest.mark.parametrize("table", [ops.ROWS, ops.FUNCTIONS], ids=["rows", "functions"])
def test_no_name_stands_twice(table: dict[str, str]) -> None:
    names = [name for family in table.values() for name in family.split()]
    assert len(names) == len(set(names))
    assert table.keys() <= set(FAMILIES)


def test_what_is_not_there_is_said() -> None:
    with pytest.raises(AttributeError, match="no attribute 'sofmax'"):
        _ = ops.sofmax  # type: ignore[attr-defined]  # that it is not there is the point
