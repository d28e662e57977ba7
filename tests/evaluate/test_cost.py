"""What a graph costs: the counts that a hand would make, as formulas of sizes and as numbers."""

from __future__ import annotations

import pytest

from attncalc.evaluate import cost
from attncalc.evaluate.cost import Count
from attncalc.inputs.problem_files import sample_problem
from attncalc.language.axes import Axis, composite
from attncalc.language.graph import Node, building, given, step
from attncalc.language.ops import exp, merge, softmax, split, sqrt, total
from attncalc.solve.solver import write

N, M, D, H = Axis("n", 3), Axis("m", 5), Axis("d_k", 4), Axis("h", 2)
Q, K = given("q", (N, D)), given("k", (M, D))
HEADS = given("x", (N, composite(H, D)))

COUNTS: list[tuple[str, Node, str, int]] = [
    ("a product: two for each entry and place of the inner axis", Q @ K.T, "2·n·m·d_k", 120),
    ("a sum of two: one an entry", Q + Q, "n·d_k", 12),
    ("a sum of three: two an entry", Node("add", Q, Q, Q), "2·n·d_k", 24),
    ("a function of one number: one an entry", exp(Q), "n·d_k", 12),
    ("softmax: maximum, difference, exponential, sum, quotient", softmax(Q), "5·n·d_k", 60),
    ("a sum along an axis: one for each entry that goes in", total(Q), "n·d_k", 12),
    ("a transpose moves", Q.T, "0", 0),
    ("heads are cut and joined by moving", merge(split(HEADS)), "0", 0),
    ("a composite axis counts as its parts", exp(HEADS), "n·h·d_k", 24),
]


@pytest.mark.parametrize(("node", "formula", "number"), [row[1:] for row in COUNTS], ids=[row[0] for row in COUNTS])
def test_a_primitive_costs_what_a_hand_would_count(node: Node, formula: str, number: int) -> None:
    found = cost.flops(node)
    assert (str(found), int(found)) == (formula, number)


def test_a_step_costs_what_lies_between_it_and_the_steps_before_it() -> None:
    with building():
        scores = step("scores", Q @ K.T)
        scaled = step("scaled", scores / sqrt(Q.size("d_k")))
        weights = step("weights", softmax(scaled))
    found = cost.by_step([weights])
    assert {name: str(each.flops) for name, each in found.items()} == {
        "scores": "2·n·m·d_k",
        "scaled": "n·m",  # √d_k is known beforehand
        "weights": "5·n·m",
    }
    assert str(cost.total(each.flops for each in found.values())) == "2·n·m·d_k + 6·n·m"


def test_what_two_steps_share_is_counted_once() -> None:
    with building():
        squares = Q**2
        one, other = step("one", total(squares)), step("other", squares + 1)
    found = cost.by_step([one, other])
    assert [str(each.flops) for each in found.values()] == ["2·n·d_k", "n·d_k"]


def test_a_step_that_only_moves_holds_nothing_new() -> None:
    with building():
        moved, made = step("moved", Q.T), step("made", exp(Q))
    found = cost.by_step([moved, made])
    assert {name: str(each.values) for name, each in found.items()} == {"moved": "0", "made": "n·d_k"}


@pytest.mark.parametrize(
    ("count", "written"),
    [
        (Count(), "0"),
        (Count([(1, ())]), "1"),
        (Count([(2, (N, M)), (3, (M, N))]), "5·n·m"),
        (Count([(2, (D, N, D))]), "2·n·d_k²"),
        (Count([(1, (N,)), (1, (Axis("n", 7),))]), "10"),
    ],
    ids=["nothing", "once", "in either order", "a size twice", "a name of two sizes tells neither"],
)
def test_a_count_is_written_as_a_formula(count: Count, written: str) -> None:
    assert str(count) == written


def test_sizes_by_other_names() -> None:
    count = Count([(2, (H, N, Axis("m", 3), D)), (1, (N, Axis("d_model", 8)))])
    spoken = count.spoken({"m": "n"}, {("h", "d_k"): Axis("d_model", 8)})
    assert str(spoken) == "2·n²·d_model + n·d_model"


def test_what_cannot_be_counted_is_told() -> None:
    found = cost.by_step(write(sample_problem("eigen")).roots)
    assert not found["eigenvalues"].whole
    assert found["a_v"].whole
