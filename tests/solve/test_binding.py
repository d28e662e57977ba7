"""Binding: an operand's axes get their names from its declaration and its shape, and masks their meaning."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import pytest

from attncalc.common.errors import AttncalcError, InputError
from attncalc.declare.calculation import Calculation, calculation
from attncalc.declare.operands import operand
from attncalc.language.graph import Node, building
from attncalc.record.trace import Given
from attncalc.solve.problem import bind

A = Annotated[Node | None, "an operand"]


@calculation(
    x="n d",
    w="d (h k)",
    a="n",
    onto="n | n k",
    s="",
    mask=operand("n m", kind="mask", broadcasts=True),
    bias=operand("n m", kind="logits", broadcasts=True),
    sizes={"h": "heads"},
)
def tried(
    X: A = None,
    W: A = None,
    a: A = None,
    onto: A = None,
    s: A = None,
    M: A = None,
    B: A = None,
    *,
    heads: Annotated[int | None, "how many heads"] = None,
    mask_kind: Annotated[str | None, "what a mask says"] = None,
) -> Node:
    """A calculation that nobody carries out."""
    raise AssertionError("only its declaration is read")


@calculation(q="n d", k="m d", leading=("h",))
def heads_first(Q: A = None, K: A = None) -> Node:
    """One whose first leading axis is that of heads."""
    raise AssertionError("only its declaration is read")


def axes(which: Calculation, options: dict[str, Any] | None = None, **shapes: Any) -> dict[str, str]:
    """Each operand's axes as bound, `n=3 d=4`."""
    inputs = {name: Given(np.ones(shape)) for name, shape in shapes.items()}
    with building():
        bound = bind(which, inputs, {"heads": None, "mask_kind": "additive", **(options or {})})
    return {
        name: " ".join(f"{axis.name.replace(' ', '·')}={axis.size}" for axis in found)
        for name, found in bound.axes.items()
    }


@pytest.mark.parametrize(
    ("shapes", "bound"),
    [
        pytest.param({"x": (3, 4)}, {"x": "n=3 d=4"}, id="as declared"),
        pytest.param({"x": (4,)}, {"x": "n=1 d=4"}, id="a vector is one row"),
        pytest.param({"x": (2, 3, 4)}, {"x": "b=2 n=3 d=4"}, id="a batch"),
        pytest.param({"x": (5, 2, 3, 4)}, {"x": "b=5 h=2 n=3 d=4"}, id="a batch of heads"),
        pytest.param({"x": (6, 5, 2, 3, 4)}, {"x": "b2=6 b=5 h=2 n=3 d=4"}, id="a batch of batches"),
        pytest.param({"a": (3,)}, {"a": "n=3"}, id="a vector"),
        pytest.param({"a": (2, 3)}, {"a": "b=2 n=3"}, id="a batch of vectors"),
        pytest.param({"s": ()}, {"s": ""}, id="a number"),
        pytest.param({"s": (2,)}, {"s": "b=2"}, id="a batch of numbers"),
        pytest.param({"onto": (3,)}, {"onto": "n=3"}, id="the first alternative"),
        pytest.param({"onto": (3, 2)}, {"onto": "n=3 k=2"}, id="the second one"),
        pytest.param({"a": (5, 3), "onto": (5, 3)}, {"a": "b=5 n=3", "onto": "b=5 n=3"}, id="as batched as the others"),
        pytest.param({"a": (3,), "onto": (3, 2)}, {"a": "n=3", "onto": "n=3 k=2"}, id="columns beside a vector"),
        pytest.param({"x": (2, 3, 4), "a": (3,)}, {"x": "b=2 n=3 d=4", "a": "n=3"}, id="one shared by a batch"),
        pytest.param({"bias": (3, 5)}, {"bias": "n=3 m=5"}, id="a bias"),
        pytest.param({"bias": (5,)}, {"bias": "m=5"}, id="a bias read from the right"),
        pytest.param({"bias": ()}, {"bias": ""}, id="one bias for all"),
        pytest.param({"bias": (1, 5)}, {"bias": "m=5"}, id="an axis of size 1 is any size"),
        pytest.param({"bias": (3, 1)}, {"bias": "n=3"}, id="wherever it is"),
        pytest.param({"bias": (2, 1, 5)}, {"bias": "b=2 m=5"}, id="between others too"),
    ],
)
def test_axes_are_named_from_the_right(shapes: dict[str, Any], bound: dict[str, str]) -> None:
    assert axes(tried, **shapes) == bound


def test_heads_may_come_first() -> None:
    assert axes(heads_first, q=(2, 3, 4), k=(5, 4)) == {"q": "h=2 n=3 d=4", "k": "m=5 d=4"}


def test_columns_split_by_the_heads_that_are_said() -> None:
    assert axes(tried, {"heads": 2}, w=(4, 6)) == {"w": "d=4 (h·k)=6"}


@pytest.mark.parametrize(
    ("shapes", "options", "said"),
    [
        pytest.param({"x": ()}, {}, r"x is a single number, but a matrix is needed \(n × d\)", id="a number"),
        pytest.param({"a": ()}, {}, r"a is a single number, but a vector is needed \(n\)", id="no vector"),
        pytest.param({"onto": ()}, {}, r"a vector or a matrix is needed \(n or n × k\)", id="neither of two"),
        pytest.param(
            {"w": (4, 6)}, {"heads": 4}, "w: an axis of 6 cannot be split into h=4 × k", id="heads that do not divide"
        ),
        pytest.param({"w": (4, 6)}, {}, "w: an axis of 6 cannot be split into h × k", id="heads that nobody said"),
        pytest.param({"w": (4, 6)}, {"heads": 0}, "--heads must be at least 1, not 0", id="no heads"),
    ],
)
def test_other_shapes_are_refused_by_the_operands_name(
    shapes: dict[str, Any], options: dict[str, Any], said: str
) -> None:
    with pytest.raises(AttncalcError, match=said):
        axes(tried, options, **shapes)


def masked(value: Any, kind: str | None) -> tuple[Any, list[str]]:
    with building() as frame:
        bound = bind(tried, {"mask": Given(np.array(value))}, {"heads": None, "mask_kind": kind})
    return bound.inputs["mask"].value, frame.notes


@pytest.mark.parametrize(
    ("value", "kind", "read", "noted"),
    [
        pytest.param([[True, False]], None, [True, False], True, id="true and false keep"),
        pytest.param([[1.0, 0.0]], None, [True, False], True, id="so do 1 and 0"),
        pytest.param([[0.0, -1.5]], None, [0, -1.5], True, id="other numbers are added"),
        pytest.param([[0.0, -np.inf]], None, [0, -np.inf], True, id="minus infinity is"),
        pytest.param([[1.0, 0.0]], "keep", [True, False], False, id="keep"),
        pytest.param([[1.0, 0.0]], "drop", [False, True], False, id="drop"),
        pytest.param([[True, False]], "drop", [False, True], False, id="true and false may drop"),
        pytest.param([[1.0, 0.0]], "additive", [1, 0], False, id="1 and 0 may be added"),
        pytest.param([[True, False]], "additive", [1.0, 0.0], False, id="and so may true and false"),
    ],
)
def test_a_mask_keeps_drops_or_adds(value: Any, kind: str | None, read: list[Any], noted: bool) -> None:
    found, notes = masked(value, kind)
    assert found.tolist() == read
    assert found.dtype == (bool if isinstance(read[0], bool) else float)
    assert bool(notes) == noted
    assert not notes or "--mask-kind says otherwise" in notes[0]


@pytest.mark.parametrize("kind", ["keep", "drop"])
def test_a_mask_of_other_numbers_neither_keeps_nor_drops(kind: str) -> None:
    with pytest.raises(InputError, match=f"mask is to {kind} what it marks") as error:
        masked([[1.0, 2.0]], kind)
    assert "--mask-kind additive" in error.value.hint


def test_labels_go_to_the_axis_that_they_stand_on() -> None:
    tokens = Given(np.ones((2, 3)), labels={0: ("the", "cat")})
    vector = Given(np.ones(3), labels={0: ("a", "b", "c")})
    with building():
        options = {"heads": None, "mask_kind": None}
        assert bind(tried, {"x": tokens}, options).labels == {"n": ("the", "cat")}
        assert bind(tried, {"x": vector}, options).labels == {"d": ("a", "b", "c")}


def test_an_axis_that_a_vector_lacks_is_dropped_from_the_result() -> None:
    with building():
        bound = bind(tried, {"x": Given(np.ones(4))}, {"heads": None, "mask_kind": None})
    assert bound.dropped == {"n"}


def test_sizes_that_clash_are_left_to_the_formula_that_cannot_be_formed() -> None:
    assert axes(tried, x=(3, 4), a=(5,)) == {"x": "n=3 d=4", "a": "n=5"}
