"""A class is marked again: a report is read, its marks are found by another policy, and two reports are compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, starmap
from types import NoneType, UnionType
from typing import Any, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

import numpy as np

from attncalc.common.errors import InputError, quoted, visible
from attncalc.common.system import NamedTuple, shown
from attncalc.homework.diagnosis.slips import listed
from attncalc.homework.marking.overrides import Override, names_of
from attncalc.homework.marking.policies import policy_of
from attncalc.homework.marking.whole_class import CarriedProblem, Graded, shared_out
from attncalc.inputs.given import spoken
from attncalc.inputs.resolve import read_json
from attncalc.record import documents
from attncalc.record.numbers import in_marks
from attncalc.record.verdicts import (
    SOUND,
    VERDICTS,
    Finding,
    Marked,
    MarkedStep,
    Policy,
    Wrong,
    earned,
)


class Report(NamedTuple):
    """A class as a report of an earlier grading tells it."""

    graded: Sequence[Graded]
    policy: Policy
    log: Sequence[Override]
    absent: Sequence[str] = ()  # the students of the roster without a sheet


class Change(NamedTuple):
    """A student whose marks have changed."""

    student: str
    before: str  # `4 of 8`; "none" where there was no sheet, or where it could not be read
    after: str


def read_report(path: str) -> Report:
    """The class that a report in JSON tells of."""
    source, tree = shown(path), read_json(path)
    if not isinstance(tree, dict) or not isinstance(tree.get("students"), list):
        hint = "grade KEY SHEETS -o report.json writes one"
        raise InputError(f"{source} is no report on a class", hint=hint)
    policy = policy_of(tree.get("policy", {}), f"{source}: policy")
    rows, log, absent = tree["students"], tree.get("log", []), tree.get("absent", [])
    held = (
        (rows, list[documents.StudentDocument], "students"),
        (log, list[documents.ChangeDocument], "log"),
        (absent, list[str], "absent"),
    )
    changed = f"{source} is no report on a class, or was changed"
    if fault := next(filter(None, starmap(_misfit, held)), ""):
        raise InputError(f"{changed}: {fault}")
    try:
        graded = [_graded(row, policy) for row in rows]
        could = {(one.student, step.name): step.out_of for one in graded for step in one.steps}
        own = [
            Override(
                row["student"], row["step"], row["to"], row["why"], out_of=could.get((row["student"], row["step"]), 0)
            )
            for row in log
        ]
        return Report(graded, policy, own, absent)
    except ValueError as fault:
        raise InputError(f"{changed}: {visible(str(fault), 80)}") from None


_PLAIN: dict[Any, Any] = {bool: bool, str: str, int: int, float: (int, float), NoneType: NoneType}


def _misfit(value: Any, kind: Any, place: str) -> str:
    """What in a value does not fit its type in record/documents.py, and where; "" if all does."""
    origin, parts = get_origin(kind) or kind, get_args(kind)
    if origin is NotRequired:
        return _misfit(value, parts[0], place)
    if kind is Any or (origin in (Union, UnionType) and any(not _misfit(value, part, place) for part in parts)):
        return ""
    holds = dict if is_typeddict(kind) else _PLAIN.get(kind, origin)
    if origin in (Union, UnionType) or not isinstance(value, holds) or (isinstance(value, bool) and kind is not bool):
        return f"{place} is {spoken(value)}"
    if is_typeddict(kind):
        return next(filter(None, (_in_row(value, name, of, place) for name, of in _hints(kind).items())), "")
    inner = enumerate(value) if origin is list else value.items() if origin is dict else ()
    return next(filter(None, (_misfit(each, parts[-1], f"{place}[{i}]") for i, each in inner)), "")


def _in_row(row: Mapping[str, Any], name: str, kind: Any, place: str) -> str:
    if name in row:
        return _misfit(row[name], kind, f"{place}: {name}")
    return "" if get_origin(kind) is NotRequired else f"{place} has no {name}"


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, vars(documents), {"Json": Any}, include_extras=True)


def _graded(row: Mapping[str, Any], policy: Policy) -> Graded:
    if (needed := "error" if row["score"] is None else "steps") not in row:
        raise ValueError(f"{row['student']} has no {needed}")
    if row["score"] is None:
        return Graded(row["student"], row["source"], error=row["error"], hint=row.get("hint") or "")
    steps = tuple(_step(step) for step in row["steps"])
    points = row.get("points", {})
    marked = Marked("", steps, student=row["student"], source=row["source"], policy=policy, points=points)
    carried = CarriedProblem(**row["carried"]) if "carried" in row else None
    return Graded(row["student"], row["source"], marked, carried=carried, variants=row.get("variants", {}))


def _step(row: Mapping[str, Any]) -> MarkedStep:
    verdict, cells = row["verdict"], tuple(map(tuple, row["cells"]))
    if verdict not in VERDICTS:
        raise ValueError(f"{quoted(str(verdict))} is no verdict")
    far = row.get("wrong")
    wrong = (
        Wrong(cells, far["count"], tuple(range(a, b + 1) for a, b in far["within"]))
        if far
        else Wrong(cells, len(cells))
    )
    says = "; ".join(_said()[name] for name in row["mistakes"] or () if name in _said())
    finding = Finding(
        verdict,
        row["kind"],
        tuple(row["mistakes"] or ()),
        tuple(row["also"] or ()),
        row["hint"] or "",
        says,
        row["separate"],
        wrong,
        close=row.get("close", False),
    )
    given = row["given"]
    return MarkedStep(
        name=str(row["name"]),
        finding=finding,
        given=given,
        shape=np.shape(np.array(given, dtype=object)),
        expected=row.get("expected"),
        max_error=row.get("max_error"),
        score=float(row["score"]),
        out_of=float(row["out_of"]),
        asked=row.get("asked", True),
        share=row.get("share", float(verdict in SOUND)),
        answered=row.get("answered", 1.0),
    )


@cache
def _said() -> dict[str, str]:
    """What is said of each mistake, which a report does not repeat."""
    return {row["id"]: row["says"] for row in listed()}


def by_policy(report: Report, policy: Policy) -> list[Graded]:
    """The class with marks by another policy, found from the verdicts that the report tells."""
    if policy.tolerance != report.policy.tolerance:
        hint = "name the key and the sheets too, and they are judged again"
        raise InputError("how exact an answer must be is judged on the sheets, and the report has none", hint=hint)
    names = {step.name for one in report.graded for step in one.steps}
    for name in policy.points:
        if not any(name in names_of(step) for step in names):
            raise InputError(
                f"no step of the report is called {quoted(name)}", hint=f"it has {', '.join(sorted(names))}"
            )
    return [_by(policy, one, one.marked) if one.marked is not None else one for one in report.graded]


def _by(policy: Policy, one: Graded, marked: Marked) -> Graded:
    """A sheet by another policy; what it would earn by somebody else's problem is then unknown."""
    if one.carried is not None and policy != marked.policy:
        one = replace(one, carried=one.carried._replace(marks=""))
    return replace(one, marked=remarked(marked, policy))


def remarked(marked: Marked, policy: Policy) -> Marked:
    """A sheet with its marks by another policy, found from its verdicts."""
    steps: dict[str, list[MarkedStep]] = {}  # by problems of a bank
    for step in marked.steps:
        problem = step.name.partition("/")[0] if marked.points else ""
        weight = _weight(step.name, policy) if step.asked else 0
        if problem not in marked.points:
            was = marked.policy.full * _weight(step.name, marked.policy)
            weight *= step.out_of / was if was else 1  # older reports do not tell the points of problems
        score = weight * earned(step.verdict, step.share, policy, step.answered)
        steps.setdefault(problem, []).append(replace(step, score=score, out_of=weight * policy.full))
    for problem in steps.keys() & marked.points.keys():
        steps[problem] = [*shared_out(steps[problem], marked.points[problem])]
    return replace(marked, steps=tuple(chain.from_iterable(steps.values())), policy=policy)


def _weight(step: str, policy: Policy) -> float:
    return next((policy.points[name] for name in names_of(step) if name in policy.points), 1)


def changes(before: Sequence[Graded], after: Sequence[Graded]) -> Iterator[Change]:
    """The students whose marks in the second grading differ from those in the first."""
    was, now = ({one.student: _marks(one.marked) for one in graded} for graded in (before, after))
    for student in {**was, **now}:
        old, new = (found.get(student, ()) for found in (was, now))
        if old != new:
            yield Change(student, *(in_marks(*marks) or "none" for marks in (old, new)))


def _marks(marked: Marked | None) -> tuple[float, ...]:
    return () if marked is None else (marked.score, marked.out_of)
