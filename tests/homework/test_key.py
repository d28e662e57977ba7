"""Keys: what cannot be worked out has none; what is worked out otherwise leaves it as it is, layer by layer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from homework.problems import PROBLEMS, problem
from homework.test_model_dumps import marker_of
from numpy.testing import assert_array_equal

from attncalc.common.errors import DomainError
from attncalc.declare.mistake import Scope, StepKey, wrong
from attncalc.homework.diagnosis.key import Key
from attncalc.language.graph import Node

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


def test_a_rule_is_written_into_no_more_layers_than_are_asked_for() -> None:
    key = marker_of("llama").key
    known = next(mistake for mistake in key.known if mistake.id == "att-no-scale")
    usual, written = key.solutions.by(known), list[StepKey]()

    def noted(s: Scope) -> Node:
        written.append(s.step.key)
        assert known.rule is not None
        return known.rule(s)

    solution = key.solutions.by(replace(known, rule=noted))
    assert solution is not None
    assert usual is not None
    first, second = (("layer 0/attention", "scaled"), ("layer 1/attention", "scaled"))
    assert (solution.steps[first], written) == (usual.steps[first], [first])
    assert (solution.steps[second], written) == (usual.steps[second], [first, second])


def test_a_mistake_is_known_in_one_part_though_it_cannot_be_made_in_another() -> None:
    key = Key(PROBLEMS["decoder-block"][0])
    swapped = next(mistake for mistake in key.known if mistake.id == "att-qk-swapped")
    solution = key.solutions.by(swapped)
    assert solution is not None
    scores = ("self-attention", "scores")
    right, found = key.value(scores), key.value(scores, solution)
    assert right is not None
    assert_array_equal(found, right.swapaxes(-1, -2))
    assert ("cross-attention", "scores") not in solution.steps
