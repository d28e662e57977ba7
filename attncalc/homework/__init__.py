"""Homework: answers checked against a problem, the mistake behind each named, many sheets graded, quizzes made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attncalc.homework.verdicts import Marked
    from attncalc.problem import Problem


def check_answer(problem: Problem, answer: Any, *, reveal: bool = False) -> Marked:
    """An answer from Python, marked: the result alone, or a mapping of steps to their values."""
    from collections.abc import Mapping

    from attncalc.homework.answers import from_python
    from attncalc.homework.key import Key
    from attncalc.homework.marking import Marker
    from attncalc.homework.sheets import Sheet

    steps = answer if isinstance(answer, Mapping) else {"": answer}
    sheet = Sheet({name: from_python(value, name or "answer") for name, value in steps.items()})
    return Marker(Key(problem), reveal=reveal).mark(sheet)
