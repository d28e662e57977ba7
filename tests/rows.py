"""Tests over the rows of a table: one test for many rows, in which a failure names its row and hides no other.

    @rows(("name", "case"), CASES, ids=[…], by=lambda name, case: name)
    def test_something(name: str, case: Case) -> None: ...

stands where `pytest.mark.parametrize` would make thousands of tests, each of which costs more than what it looks at.
`by` makes one test of the rows of one group. A row for which `thorough` holds is looked at under `--thorough` only.
Above a class it goes for each of its tests. `pytest --row softmax` looks at the rows with this in their names alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Iterable, Sequence
from enum import IntEnum
from functools import wraps
from typing import Any, TypeVar
from zlib import crc32

import pytest
from hypothesis import settings

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
QUICK = 20
"""So many examples Hypothesis draws for a test, where `--thorough` doesn't ask for more."""
MODELS = ("encoder-block", "decoder-block", "decoder-only", "latent-attention", "transformer")
"""The calculations that have parts, in the names of rows."""
ONLY: list[str] = []
"""What `--row` asks for."""


def is_spread(item: pytest.Item) -> bool:
    """Whether a test looks at a row of many that are spread over the runs."""
    return hasattr(item, "callspec") and item.get_closest_marker("spread") is not None


def is_of_another_row(item: pytest.Item) -> bool:
    """Whether a test that is marked `spread` looks at a row that `--row` doesn't ask for."""
    return bool(ONLY) and is_spread(item) and not any(part in item.name for part in ONLY)


def is_asked_for(item: pytest.Item) -> bool:
    """Whether a test looks at a row that `--row` asks for, or at whichever rows of a table it asks for."""
    call = getattr(item, "callspec", None)
    return bool(ONLY) and call is not None and ("_rows" in call.params or any(part in item.name for part in ONLY))


class Run(IntEnum):
    """When a test is run: by the README's command, by `--thorough`, or by `--release`."""

    QUICK = 0
    THOROUGH = 1
    RELEASE = 2


def run_of(marks: Container[str]) -> Run:
    """When a test, or a row, with these marks is looked at, if it is not spread."""
    return Run.RELEASE if "release" in marks else Run("thorough" in marks)


def run_of_row(test: pytest.Item, call: Any) -> Run:
    """When a row is looked at. Where rows are marked `spread`, as their test may be, each run takes rows of its own.

    The quick one takes one in so many (24), `--thorough` another, and `--release` the rest. Files take turns, so that
    each row is looked at by some of them; the tests of one file share what they are made of. Rows of whole models take
    a second each, and stand back: the quick run's are `--thorough`'s, and its own are `--release`'s.
    """
    marks = {mark.name: mark for mark in (*call.marks, *test.iter_markers())}
    if "spread" not in marks or not call.indices:
        return run_of(marks)
    if "release" in marks:
        return Run.RELEASE
    in_one = "_rows" in call.params and "every row" in call.id
    assert not in_one, f"{test.nodeid}: one test of all rows cannot be spread"
    (share,) = marks["spread"].args or (24,)
    turn = crc32(test.nodeid.partition("::")[0].encode())
    together = (mark.args[0] for mark in test.iter_markers("parametrize"))  # names, which have one index
    firsts = (names.split(",")[0].strip() if isinstance(names, str) else names[0] for names in together)
    place = (sum(call.indices[name] for name in firsts) + turn) % share
    first = Run("thorough" in marks) if place == 0 else Run.THOROUGH if place == 1 else Run.RELEASE
    return Run(min(first + any(name in call.id for name in MODELS), Run.RELEASE))


def _examples() -> int:
    assert settings.default is not None, "conftest.py loads a profile"
    return settings.default.max_examples


def draws(count: int) -> int:
    """How often something is drawn: as often as is said under `--thorough`, else a fourth of it."""
    return count if _examples() > QUICK else -(-count // 4)


def rows(
    names: str | Sequence[str],
    values: Iterable[Any],
    *,
    ids: Iterable[Any] | Callable[[Any], Any] | None = None,
    by: Callable[..., str] | None = None,
    thorough: Callable[..., bool] | None = None,
) -> Callable[[Decorated], Decorated]:
    """A decorator that carries a test out on every row, with a row's values as its arguments `names`."""
    names = [names] if isinstance(names, str) else list(names)
    table = [value if len(names) > 1 else (value,) for value in values]
    said = ids if callable(ids) else str
    labels = (
        [" ".join(str(said(value)) for value in row) for row in table]
        if callable(ids) or ids is None
        else [*map(str, ids)]
    )
    groups: dict[tuple[str, bool], list[tuple[str, Sequence[Any]]]] = {}
    for label, row in zip(labels, table, strict=True):
        late = thorough is not None and thorough(*row)
        groups.setdefault((by(*row) if by else "every row", late), []).append((label, row))
    marked = [
        pytest.param(group, id=f"{name}, more" if late else name, marks=[pytest.mark.thorough] if late else [])
        for (name, late), group in groups.items()
    ]

    def over(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def every_row(*args: Any, _rows: list[tuple[str, Sequence[Any]]], **fixtures: Any) -> None:
            failed = []
            for label, row in _rows:
                if ONLY and not any(part in label for part in ONLY):
                    continue
                try:
                    test(*args, **dict(zip(names, row, strict=True)), **fixtures)
                except pytest.skip.Exception:
                    continue
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 — it is raised below, beside the others
                    error.add_note(f"in the row {label}")
                    failed.append((label, error))
            if len(failed) == 1:
                raise failed[0][1]
            if failed:
                told = BaseExceptionGroup(
                    "in the rows " + "; ".join(label for label, _ in failed), [e for _, e in failed]
                )
                raise told

        wanted = inspect.signature(test)
        kept = [parameter for name, parameter in wanted.parameters.items() if name not in names]
        own = inspect.Parameter("_rows", inspect.Parameter.KEYWORD_ONLY)
        every_row.__signature__ = wanted.replace(parameters=[*kept, own])  # type: ignore[attr-defined]  # pytest reads it
        parametrized: Callable[..., None] = pytest.mark.parametrize("_rows", marked)(every_row)
        return parametrized

    def decorate(tested: Any) -> Any:
        if not inspect.isclass(tested):
            return over(tested)
        for name, test in list(vars(tested).items()):
            if name.startswith("test"):
                setattr(tested, name, over(test))
        return tested

    return decorate
