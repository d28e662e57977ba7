"""Answers checked from Python: marked, asserted to be right, or counted."""

from __future__ import annotations

from typing import Any

from attncalc.common.errors import AttncalcError, OptionError, either, quoted, visible
from attncalc.common.numerals import RULE, STORED, Answers
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.marking.marker import Marker, usual_hints
from attncalc.homework.reading.sheets import from_python
from attncalc.homework.reports.marked_sheets import blame
from attncalc.record.trace import Trace
from attncalc.record.verdicts import SOUND, Marked, Policy
from attncalc.solve.problem import Problem, problem_of


def check_answer(
    problem: Problem,
    answer: Answers,
    *,
    reveal: bool = False,
    rtol: float | None = None,
    atol: float | None = None,
    dtype: str | None = None,
    hints: str | None = None,
) -> Marked:
    """An answer from Python, marked: the result alone, a mapping of steps to their values, or a sheet."""
    return _marked(problem, answer, _exactness(rtol, atol, dtype), dtype, reveal, hints)


def assert_close(
    trace: Trace,
    answer: Answers,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    dtype: str | None = None,
) -> None:
    """Raise an AssertionError that names the step, the mistake and a hint, unless the answer counts as right.

    For pytest and otter: `attncalc.assert_close(attncalc.attention(q, k, v), my_output)`. The answer is the result
    alone, anything that NumPy takes; a mapping of steps to their values; or a sheet, as a dictionary or as the path of
    its file. How many digits it has says how exact it must be, if no `rtol` or `atol` is given: the right rule and
    every mistake are compared so. `dtype` says in which type a machine has stored it, where its numbers do not tell.
    The message gives no number of the key away.
    """
    problem, policy = _problem(trace), _exactness(rtol, atol, dtype)
    try:
        marked = _marked(problem, answer, policy, dtype)
    except AttncalcError as error:
        raise AssertionError(f"the answer cannot be marked: {error}") from None
    if not marked:
        raise AssertionError(blamed(marked))


def score(
    trace: Trace,
    answer: Answers,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    dtype: str | None = None,
) -> float:
    """The share of the marks that an answer reaches, from 0 to 1; what cannot be marked reaches none.

    For nbgrader and other scripts that count: `attncalc.score(attncalc.softmax(x), my_softmax)`. Nothing is printed.
    `rtol`, `atol` and `dtype` are those of `assert_close`.
    """
    problem, policy = _problem(trace), _exactness(rtol, atol, dtype)
    try:
        marked = _marked(problem, answer, policy, dtype)
    except AttncalcError:
        return 0.0
    return marked.score / marked.out_of if marked.out_of else 0.0


def _exactness(rtol: float | None, atol: float | None, dtype: str | None) -> Policy:
    """How exact an answer must be; raises OptionError if there is no such type, or a tolerance is below 0."""
    if dtype is not None and dtype not in STORED:
        raise OptionError(f"dtype must be {either(STORED)}, not {visible(str(dtype), 80)}")
    for name, size in (("rtol", rtol), ("atol", atol)):
        if size is not None and not size >= 0:
            raise OptionError(f"{name} takes numbers from 0 on, not {visible(str(size), 80)}")
    return Policy(rtol=rtol, atol=atol)


def _marked(
    problem: Problem, answer: Answers, policy: Policy, dtype: str | None, reveal: bool = False, hints: str | None = RULE
) -> Marked:
    key = Key(problem)
    sheet = from_python(answer, key.room)
    marked = Marker(key, policy=policy, reveal=reveal, dtype=dtype).mark(sheet)
    return marked.told(hints or usual_hints(problem, sheet))


def blamed(marked: Marked) -> str:
    """What is wrong with an answer, a step a line: its verdict, the mistake behind it, a hint."""
    lines = [f"{marked.calculation} is not right"]
    for step in marked.steps:
        found = step.finding
        if found.verdict not in SOUND:
            told = ": ".join(part for part in (step.name, found.verdict, blame(step)) if part)
            lines.append(f"{told}. {found.hint}" if found.hint else told)
    return "\n  ".join(lines) if len(lines) > 1 else f"{lines[0]}: nothing is answered"


def _problem(trace: Any) -> Problem:
    """The problem of a trace; raises OptionError for anything else."""
    if not isinstance(trace, Trace):
        mend = "attncalc.assert_close(attncalc.softmax(x), answer)"
        raise OptionError(f"a Trace comes first, then the answer, and not {quoted(type(trace).__name__)}", hint=mend)
    return problem_of(trace)
