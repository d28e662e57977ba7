"""Keys: a problem that cannot be worked out has none; what is worked out otherwise leaves it as it is."""

from __future__ import annotations

from typing import Any

import pytest
from homework.problems import problem

from attncalc.common.errors import DomainError
from attncalc.declare.mistake import wrong
from attncalc.homework.diagnosis.key import Key

HUGE: dict[str, tuple[str, dict[str, Any]]] = {
    "the result": ("dot", {"a": [1e200, 1], "b": [1e200, 1]}),
    "a step that the result uses": ("attention", {"q": [[1e200, 1]], "k": [[1e200, 1]], "v": [[1, 2]]}),
}


@pytest.mark.parametrize(("name", "operands"), HUGE.values(), ids=HUGE)
def test_what_overflows_has_no_key(name: str, operands: dict[str, Any]) -> None:
    with pytest.raises(DomainError, match="overflows: it is beyond"):
        Key(problem(name, **operands))


def test_what_overflows_beside_the_result_does_no_harm() -> None:
    key = Key(problem("euclidean", a=[1e200, 1], b=[0, 1]))
    assert key.value(key.result) == pytest.approx(1e200)


def test_a_way_that_reads_a_number_otherwise_leaves_the_key_as_it_is() -> None:
    key = Key(problem("derivative", {"at": 3}, expression="x**2"))
    elsewhere = wrong("at-another-point", options=lambda given: {"at": 5}, says="f′(5)", hint="At which point?")
    solution = key.solutions.by(elsewhere)
    assert solution is not None
    assert [key.value(key.result, other) for other in (None, solution)] == [6, 10]
