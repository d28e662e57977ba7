"""Documents are what their types say: every key is declared, none that is required is missing, values are JSON's."""

from __future__ import annotations

import json
from types import UnionType
from typing import Any, NotRequired, get_args, get_origin, get_type_hints, is_typeddict

import numpy as np
import pytest
from rows import rows
from solved import ONE_OF_EACH, Tried, solved

import attncalc as ac
from attncalc.api.explain import explained
from attncalc.record.documents import Document, MarkedDocument
from attncalc.record.trace import Trace
from attncalc.render import View
from attncalc.render.document import document
from attncalc.solve.problem import problem_of
from attncalc.solve.solver import solve


def faults(value: Any, hint: Any, place: str) -> list[str]:
    """Where a value is not what its type says; what the type calls Json is anything that JSON has."""
    if is_typeddict(hint):
        hints = get_type_hints(hint, include_extras=True)
        due = {key for key, each in hints.items() if get_origin(each) is not NotRequired}
        odd = sorted((due - value.keys()) | (value.keys() - hints.keys()))
        parts = [(each, hints[key], f"{place}.{key}") for key, each in value.items() if key in hints]
        return [f"{place}: {key}" for key in odd] + [fault for part in parts for fault in faults(*part)]
    kind, inner = get_origin(hint), get_args(hint)
    if kind is NotRequired:
        return faults(value, inner[0], place)
    if kind is UnionType:
        found = [faults(value, each, place) for each in inner]
        return [] if [] in found else found[0]
    if kind is list and isinstance(value, list):
        return [fault for each in value for fault in faults(each, inner[0], place)]
    if kind is dict and isinstance(value, dict):
        return [fault for key, each in value.items() for fault in faults(each, inner[1], f"{place}.{key}")]
    if isinstance(hint, type):
        return [] if type(value) in (hint, *[int] * (hint is float)) else [f"{place} is {value!r}, and no {hint}"]
    return [] if json.loads(json.dumps(value)) == value else [f"{place} is not what JSON has"]


def odd(trace: Trace, **view: Any) -> list[str]:
    return faults(document(trace, View(**view)), Document, "document")


@pytest.mark.thorough
@rows("tried", ONE_OF_EACH, ids=map(str, ONE_OF_EACH))
def test_every_trace_is_a_document_of_its_type(tried: Tried) -> None:
    assert not odd(explained(solved(tried)))


SCORES = ac.softmax([1.0, 2.0, 4.0])
RICH = {
    "exact": solve(problem_of(SCORES), exact=True),
    "rounded": ac.softmax([1.0, 2.0, 4.0], round_to=2),
    "checked": SCORES.grad([1, 0, 0], wrt="x", gradcheck=True),
    "large": ac.softmax(np.ones((200, 100))),
    "complex": ac.eigen([[0, -1], [1, 0]]),
    "infinite": ac.softmax([-np.inf, 0]),
    "worded": ac.mips([1, 2], [[1, 0], [0, 1]]),
}


@pytest.mark.thorough
@pytest.mark.parametrize("trace", RICH.values(), ids=RICH)
def test_so_is_one_of_much_else(trace: Trace) -> None:
    assert not odd(trace, cells=("all",) if trace.result.size < 100 else ())


@pytest.mark.parametrize("reveal", [False, True])
def test_a_report_is_one_of_its_type(*, reveal: bool) -> None:
    answers = {"exponentials": [0.1, 0.2], "sum": None, "softmax": [[0.1, 0.1, 0.8]]}
    assert not faults(SCORES.check(answers, reveal=reveal).to_dict(), MarkedDocument, "report")
    assert not faults(ac.softmax(np.arange(99.0)).check([0.0] * 99).to_dict(), MarkedDocument, "report")


def test_what_is_odd_is_seen() -> None:
    whole: Any = SCORES.to_dict()
    assert faults(whole | {"calculation": 3, "more": 1}, Document, "document") == [
        "document: more",
        "document.calculation is 3, and no <class 'str'>",
    ]
    assert faults({}, Document, "document")[0] == "document: attncalc"
    assert faults([{"name": 1}], list[str], "names") == ["names is {'name': 1}, and no <class 'str'>"]
