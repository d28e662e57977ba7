"""Homework: answers checked against a problem, the mistake behind each named, many sheets graded, quizzes made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attncalc.homework.answers import from_python
from attncalc.homework.key import Key
from attncalc.homework.marking import Marker
from attncalc.homework.sheets import Sheet
from attncalc.homework.verdicts import Marked

if TYPE_CHECKING:
    from attncalc.problem import Problem
    from attncalc.trace import Trace


def check_answer(problem: Problem, answer: Any, *, reveal: bool = False) -> Marked:
    """An answer from Python, marked: the result alone, or a mapping of steps to their values."""
    steps = answer if isinstance(answer, Mapping) else {"": answer}
    sheet = Sheet({name: from_python(value, name or "answer") for name, value in steps.items()})
    return Marker(Key(problem), reveal=reveal).mark(sheet)


def assert_close(answer: Any, right: Trace) -> None:
    """Raise an AssertionError that names the mistake, unless the answer counts as right.

    For the tests of a notebook: `ac.assert_close(my_output, ac.attention(q, k, v))`.
    """
    marked = check_answer(right.problem, answer)
    if not marked:
        raise AssertionError(str(marked))


def score(answer: Any, right: Trace) -> float:
    """The share of the marks that an answer reaches, from 0 to 1."""
    marked = check_answer(right.problem, answer)
    return marked.score / marked.out_of
