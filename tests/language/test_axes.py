"""Axes: which names meet, where values are laid, how an array's axes get their names."""

from __future__ import annotations

import numpy as np
import pytest

from attncalc.common.errors import ShapeError
from attncalc.language import axes as ax
from attncalc.language.axes import Axes, Axis, composite


def read(text: str) -> Axes:
    """`n=3 d=4` as axes."""
    return tuple(Axis(name, int(size)) for name, size in (word.split("=") for word in text.split()))


def test_a_composite_axis_is_as_long_as_its_parts_together() -> None:
    assert composite(Axis("h", 2), Axis("d_k", 3)) == Axis("(h d_k)", 6, (Axis("h", 2), Axis("d_k", 3)))


@pytest.mark.parametrize(
    ("axes", "said"), [("n=3 d_k=4", "n=3 × d_k=4"), ("n=3", "n=3"), ("", "a single number")], ids=str
)
def test_axes_are_described_in_words(axes: str, said: str) -> None:
    assert ax.describe(read(axes)) == said


def test_places_are_counted_from_the_right() -> None:
    assert [ax.position(read("b=2 n=3 d=4"), name) for name in "bnd"] == [-3, -2, -1]


def test_a_missing_axis_is_an_error_that_says_which_there_are() -> None:
    with pytest.raises(ShapeError, match="no axis m among n=3 × d=4"):
        ax.find(read("n=3 d=4"), "m")


def test_two_axes_of_one_name_are_refused() -> None:
    with pytest.raises(ShapeError, match="two axes would share a name: n=3 × n=3"):
        ax.unique(read("n=3 n=3"))


@pytest.mark.parametrize(
    ("sides", "together"),
    [
        pytest.param(["n=3 d=4", "n=3 d=4"], "n=3 d=4", id="the same"),
        pytest.param(["n=3 d=4", "d=4"], "n=3 d=4", id="one holds the other"),
        pytest.param(["n=3", "n=3 d=4"], "n=3 d=4", id="not by position: n is not d"),
        pytest.param(["d=4 n=3", "n=3 d=4"], "d=4 n=3", id="the first one's order"),
        pytest.param(["n=3 d=4", ""], "n=3 d=4", id="a number meets all"),
        pytest.param(["", "n=3", "b=2 n=3"], "b=2 n=3", id="three"),
    ],
)
def test_sides_meet_by_name(sides: list[str], together: str) -> None:
    assert ax.together(*map(read, sides)) == read(together)


@pytest.mark.parametrize(
    ("sides", "fault"),
    [
        pytest.param(["n=3", "m=3"], r"\bm is .*one side only", id="an outer product is asked for"),
        pytest.param(["n=3 d=4", "m=3 d=4"], r"\bm is .*one side only", id="even of one size"),
        pytest.param(["n=3 d=4", "n=3 d=5"], r"\bd must be of one size", id="sizes"),
        pytest.param(["n=3", "n=1"], r"\bn must be of one size", id="nothing stretches"),
    ],
)
def test_other_sides_do_not_meet(sides: list[str], fault: str) -> None:
    with pytest.raises(ShapeError, match=fault):
        ax.together(*map(read, sides))


@pytest.mark.parametrize(
    ("axes", "target", "shape"),
    [
        pytest.param("m=4", "n=3 m=4", (4,), id="NumPy's own way"),
        pytest.param("n=3", "n=3 m=4", (3, 1), id="the first axis"),
        pytest.param("m=4 n=3", "n=3 m=4", (3, 4), id="turned round"),
        pytest.param("", "n=3 m=4", (), id="a number"),
        pytest.param("b=2 m=4", "b=2 n=3 m=4", (2, 1, 4), id="one between"),
    ],
)
def test_a_value_is_laid_out_for_broadcasting_by_name(axes: str, target: str, shape: tuple[int, ...]) -> None:
    value = np.arange(np.prod([axis.size for axis in read(axes)])).reshape([axis.size for axis in read(axes)])
    laid = ax.align(value, read(axes), read(target))
    assert laid.shape == shape
    policies = ax.align(np.stack([value] * 5), read(axes), read(target))
    full = tuple(axis.size for axis in read(target))
    assert np.broadcast_shapes(policies.shape, full) == (5, *full), "axes in front stay in front"
    assert (np.broadcast_to(policies, (5, *full))[4] == np.broadcast_to(laid, full)).all()


@pytest.mark.parametrize(
    ("shape", "declared", "leading", "known", "axes"),
    [
        pytest.param((3, 4), ["n", "d"], [], {}, "n=3 d=4", id="as declared"),
        pytest.param((2, 3, 4), ["n", "d"], ["b"], {}, "b=2 n=3 d=4", id="a batch"),
        pytest.param((5, 2, 3, 4), ["n", "d"], ["h", "b"], {}, "b=5 h=2 n=3 d=4", id="a batch of heads"),
        pytest.param((), [], [], {}, "", id="a number"),
        pytest.param((4, 6), ["d", ("h", "k")], [], {"h": 2}, "d=4 (h_k)=6", id="heads side by side"),
        pytest.param((4, 6), ["d", ("h", "k")], [], {"k": 2}, "d=4 (h_k)=6", id="from the other part"),
        pytest.param((4, 6), ["d", ("h", "k")], [], {"h": 3, "k": 2}, "d=4 (h_k)=6", id="both known"),
    ],
)
def test_shapes_get_their_names_from_the_right(
    shape: tuple[int, ...], declared: list[str], leading: list[str], known: dict[str, int], axes: str
) -> None:
    bound = ax.bind(shape, declared, leading=leading, known=known)
    assert [(axis.name.replace(" ", "_"), axis.size) for axis in bound] == [tuple(axis) for axis in _pairs(axes)]


def _pairs(text: str) -> list[tuple[str, int]]:
    return [(axis.name, axis.size) for axis in read(text)]


def test_a_split_tells_the_other_operands_its_sizes() -> None:
    known = {"h": 2}
    ax.bind((4, 6), ["d", ("h", "k")], known=known)
    assert known == {"h": 2, "k": 3}


@pytest.mark.parametrize(
    ("known", "rule"),
    [
        ({"h": 4}, "an axis of 6 cannot be split into h=4 × k"),
        ({}, "an axis of 6 cannot be split into h × k"),
        ({"h": 2, "k": 2}, "h=2 × k=2"),
    ],
    ids=["not a multiple", "nothing known", "a clash"],
)
def test_a_split_that_does_not_come_out_is_refused(known: dict[str, int], rule: str) -> None:
    with pytest.raises(ShapeError, match=rule):
        ax.bind((4, 6), ["d", ("h", "k")], known=known)


@pytest.mark.parametrize(
    ("ranks", "pool", "taken", "named"),
    [
        pytest.param([0, 1], ["b"], [], ["b"], id="one"),
        pytest.param([1], ["h"], [], ["h"], id="attention calls one leading axis heads"),
        pytest.param([2, 0], ["b"], [], ["h", "b", "b2"], id="two are a batch of heads"),
        pytest.param([1], ["b"], ["b"], ["b_"], id="a declared name is not taken again"),
    ],
)
def test_leading_axes_have_names_too(ranks: list[int], pool: list[str], taken: list[str], named: list[str]) -> None:
    assert ax.leading_names(ranks, pool, taken)[: len(named)] == named
