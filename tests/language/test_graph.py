"""The graph: wrong shapes are refused where they arise, walks do not recurse, a rewrite keeps what it may."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from attncalc.common.errors import ShapeError
from attncalc.evaluate.values import evaluate
from attncalc.language.axes import Axis, composite
from attncalc.language.graph import Node, as_node, given, rewrite, step, walk
from attncalc.language.ops import concat, merge, outer, ranking, rename, solve, split, spread, total
from attncalc.language.primitive import formula

N, M, D = Axis("n", 3), Axis("m", 3), Axis("d", 3)
Q, K = given("q", (N, D), "Q"), given("k", (M, D), "K")
R, S = given("r", (N, Axis("d", 4)), "R"), given("s", (M, Axis("d", 2)), "S")


@pytest.mark.parametrize(
    ("write", "said"),
    [
        pytest.param(
            lambda: Q @ K, r"cannot form Q·K: Q is n=3 × d=3 but K is m=3 × d=3; .*d is not m", id="Q·K, square"
        ),
        pytest.param(lambda: Q.T @ K, r"cannot form Qᵀ·K: .*; .*n is not m", id="Qᵀ·K, square"),
        pytest.param(lambda: Q @ Q, "cannot form Q·Q", id="Q·Q"),
        pytest.param(lambda: R @ S.T, r"R is n=3 × d=4 but S.* is .*; .*inner sizes", id="sizes"),
        pytest.param(lambda: Q + K, r"cannot form Q \+ K: .* one side only", id="an elementwise outer product"),
        pytest.param(lambda: Q + R, "d must be of one size", id="sizes of one name"),
        pytest.param(
            lambda: Node("where", Q, R, as_node(-math.inf)),
            r"cannot form R where Q, else −∞: Q is n=3 × d=3 but R is n=3 × d=4; d must be of one size",
            id="sizes of one name, beside a number",
        ),
        pytest.param(lambda: total(Q, "m"), "no axis m among n=3 × d=3", id="a sum over nothing"),
        pytest.param(lambda: total(Q).T, "only a matrix can be transposed", id="a vector turned"),
        pytest.param(lambda: Q @ Q.T, "two axes would share a name", id="self-attention without a second name"),
        pytest.param(lambda: rename(Q, "n", "d"), "two axes would share a name", id="a name that is taken"),
        pytest.param(lambda: split(Q), "made of two parts", id="no heads to split"),
        pytest.param(lambda: merge(Q), "heads, rows and columns", id="no heads to merge"),
        pytest.param(lambda: spread(Q, (N,)), "d=3 is not among", id="a spread that loses"),
        pytest.param(lambda: solve(R, total(R)), "square system", id="a system that is not square"),
        pytest.param(lambda: concat([Q, K], "d"), "the same axes", id="rows of other things"),
        pytest.param(lambda: ranking(total(Q), 4), "the best 4 of 3", id="more than there are"),
        pytest.param(lambda: ranking(total(Q), 1, Q <= 0), "axes that the scores lack", id="left out by a table"),
        pytest.param(lambda: Q @ constant_like(), "vectors or matrices on both sides", id="a number in a product"),
    ],
)
def test_what_does_not_fit_is_refused_where_it_arises(write: Callable[[], Node], said: str) -> None:
    with pytest.raises(ShapeError, match=said) as error:
        write()
    assert "\n" not in str(error.value)
    assert str(error.value).startswith("cannot form ") or "no axis" in str(error.value)


def constant_like() -> Node:
    return total(total(K))


def test_a_transpose_of_a_transpose_is_the_matrix_itself() -> None:
    assert Q.T.T is Q


def test_a_transposed_product_is_the_product_of_transposes_turned_round() -> None:
    assert formula((Q @ K.T).T) == "K·Qᵀ"


def test_axes_know_their_parts_after_merging() -> None:
    heads = given("x", (Axis("h", 2), N, D))
    assert merge(heads).axes == (N, composite(Axis("h", 2), D))
    assert split(merge(heads)).axes == heads.axes


def test_products_with_shared_leading_axes_keep_them() -> None:
    h = Axis("h", 2)
    assert (given("a", (h, N, D)) @ given("b", (h, D, M))).names == ("h", "n", "m")
    assert (given("a", (N, D)) @ given("b", (h, D, M))).names == ("h", "n", "m")
    assert (given("a", (h, D)) @ given("b", (h, D, M))).names == ("h", "m")
    assert (given("a", (h, N, D)) @ given("b", (h, D))).names == ("h", "n")


def test_an_outer_product_is_asked_for() -> None:
    assert outer(total(Q), total(K)).names == ("n", "m")


def test_a_rewrite_changes_what_stands_on_it_and_nothing_else() -> None:
    scores = step("scores", Q @ K.T, "…")
    scaled = step("scaled", scores / 2, "…")
    aside_ = step("aside", Q + 1, "…")
    (new, same) = rewrite(
        [scaled, aside_],
        lambda node: step("scores", -node.sources[0], "…") if node.args.get("name") == "scores" else None,
    )
    assert same is aside_
    assert new is not scaled
    assert formula(new.sources[0].sources[0]) == "−Q·Kᵀ"
    values = {"q": np.eye(3), "k": np.eye(3)}
    assert (evaluate([new], values)[new] == -evaluate([scaled], values)[scaled]).all()


def test_a_rewrite_that_breaks_the_shapes_is_refused() -> None:
    scores = step("scores", Q @ K.T, "…")
    with pytest.raises(ShapeError, match="cannot form Q·K"):
        rewrite([scores], lambda node: node.sources[0] if node.op == "transpose" else None)


def test_a_walk_comes_to_sources_first_and_to_each_node_once() -> None:
    shared = Q + 1
    order = walk(shared * shared, -shared)
    assert len(order) == len(set(order))
    assert all(order.index(source) < order.index(node) for node in order for source in node.sources)


@pytest.mark.thorough
def test_a_walk_does_not_recurse() -> None:
    node = Q
    for _ in range(20_000):
        node = node + 1
    assert len(walk(node)) == 40_001
