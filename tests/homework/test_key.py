"""Keys: a problem that cannot be worked out has none."""

from __future__ import annotations

from typing import Any

import pytest
from homework.problems import problem

from attncalc.errors import DomainError
from attncalc.homework.key import Key

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
