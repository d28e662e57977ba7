"""The tables of families: what is imported when a row or a function is asked for must be there."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

from attncalc import ops
from attncalc.graph import OPS

PACKAGE = Path(ops.__file__).parent
FAMILIES = sorted(path.stem for path in PACKAGE.glob("*.py") if path.stem not in ("__init__", "kernels"))


def rows(family: str) -> list[str]:
    """The rows that a module enters: the keys of `OPS |= {…}`, and those of `OPS["…"] = …`."""
    found: list[ast.expr | None] = []
    for node in ast.parse((PACKAGE / f"{family}.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.AugAssign) and ast.unparse(node.target) == "OPS":
            assert isinstance(node.value, ast.Dict)
            found += node.value.keys
        elif isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Subscript):
            found.append(target.slice)
    return sorted(key.value for key in found if isinstance(key, ast.Constant) and isinstance(key.value, str))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_rows_of_a_family_are_those_of_the_table(family: str) -> None:
    assert sorted(ops.ROWS.get(family, "").split()) == rows(family)
    assert all(OPS[name] for name in rows(family))


@pytest.mark.parametrize("family", ops.FUNCTIONS)
def test_the_functions_of_a_family_are_in_its_module(family: str) -> None:
    module = import_module(f"attncalc.ops.{family}")
    for name in ops.FUNCTIONS[family].split():
        assert getattr(ops, name) is getattr(module, name)
        assert getattr(module, name).__module__ == module.__name__
        assert name not in FAMILIES, "a module of that name would hide the function"


@pytest.mark.parametrize("table", [ops.ROWS, ops.FUNCTIONS], ids=["rows", "functions"])
def test_no_name_stands_twice(table: dict[str, str]) -> None:
    names = [name for family in table.values() for name in family.split()]
    assert len(names) == len(set(names))
    assert table.keys() <= set(FAMILIES)


def test_what_is_not_there_is_said() -> None:
    with pytest.raises(AttributeError, match="no attribute 'sofmax'"):
        _ = ops.sofmax  # type: ignore[attr-defined]  # that it is not there is the point
