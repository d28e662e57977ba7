"""The backward pass: its numbers are slopes, its steps are the chain rule, and it explains itself."""

from __future__ import annotations

from functools import reduce
from operator import mul

import hypothesis.strategies
import numpy as np
import pytest
from numpy.testing import assert_allclose
from slopes import slope
from trees import ARRAYS, arrays, entries

from attncalc.common.errors import NoGradient
from attncalc.evaluate.values import evaluate
from attncalc.language.axes import Axis
from attncalc.language.gradients import gradient_step, gradients
from attncalc.language.graph import Node, as_node, building, given, group, identity, inside, step, steps
from attncalc.language.ops import (
    cos,
    exp,
    held,
    keep_where,
    log,
    log_softmax,
    maximum,
    mean,
    minimum,
    outer,
    part_of,
    peak,
    ranking,
    safely,
    sin,
    singular_parts,
    softmax,
    sqrt,
    take,
    tanh,
    total,
)
from attncalc.language.primitive import formula

N, M, D = Axis("n", 3), Axis("m", 4), Axis("d", 2)
X, Y = given("x", (N, D)), given("y", (M, D))
A, B = given("a", ()), given("b", ())


def attended() -> tuple[Node, list[Node]]:
    """Attention in four steps, and its operands."""
    Q, K, V = given("q", (N, D), "Q"), given("k", (M, D), "K"), given("v", (M, Axis("d_v", 2)), "V")
    with building():
        scores = step("scores", Q @ K.T, "compare")
        scaled = step("scaled", scores / sqrt(Q.size("d")), "tame")
        weights = step("weights", softmax(scaled), "share out")
        return step("output", weights @ V, "mix"), [Q, K, V]


@pytest.mark.thorough
@hypothesis.given(arrays(), hypothesis.strategies.integers(0, 99))
def test_the_gradient_of_any_graph_is_its_slope(node: Node, seed: int) -> None:
    operands = entries(seed)
    upstream = np.random.default_rng(seed).normal(size=tuple(axis.size for axis in node.axes))
    value = evaluate([node], operands)[node]
    hypothesis.assume(np.isfinite(value).all() and (np.abs(value) < 1e3).all())
    found = gradients(node, given("g", node.axes), list(ARRAYS.values()))
    for operand, gradient in found.items():
        assert gradient.names == operand.names
        expected = slope(node, operand.args["name"], operands, upstream, 1e-4)
        number = evaluate([gradient], {**operands, "g": upstream})[gradient]
        assert_allclose(number, expected, rtol=1e-4, atol=1e-5 * max(1.0, float(np.abs(expected).max())))


@pytest.mark.parametrize(
    "node",
    [
        pytest.param(outer(total(X, "n"), total(X, "d")), id="contributions that lack different axes"),
        pytest.param(total(X * given("b", (N,)), "n"), id="a weighted sum of rows"),
        pytest.param(total(softmax(X), "n"), id="columns of a softmax summed"),
        pytest.param(total(total(X * X, "d") * total(X, "d"), "n"), id="one operand on three ways"),
        pytest.param(X @ Y.T @ Y, id="one operand twice in a product"),
        pytest.param(keep_where(X <= 0, X, 2 * X) * X, id="a choice"),
        pytest.param(X / total(X**2), id="a divisor without the axis"),
    ],
)
def test_axes_that_a_gradient_lacks_come_back(node: Node) -> None:
    rng = np.random.default_rng(3)
    operands = {"x": rng.normal(size=(3, 2)), "y": rng.normal(size=(4, 2)), "b": rng.normal(size=3)}
    upstream = rng.normal(size=tuple(axis.size for axis in node.axes))
    gradient = gradients(node, given("g", node.axes), [X])[X]
    found = evaluate([gradient], {**operands, "g": upstream})[gradient]
    assert_allclose(found, slope(node, "x", operands, upstream), rtol=1e-6, atol=1e-6)


def test_every_step_gets_a_step_of_its_own_in_the_order_of_the_chain_rule() -> None:
    output, operands = attended()
    found = gradients(output, given("upstream", output.axes), operands)
    names = [node.args["name"] for node in steps(*found.values()) if node.args["of"]]
    assert names == ["grad_output", "grad_weights", "grad_scaled", "grad_scores", "grad_v", "grad_k", "grad_q"]


@pytest.mark.parametrize(
    ("of", "written", "because"),
    [
        ("output", "upstream", "the gradient that arrives at the result from the loss"),
        (
            "v",
            "weightsᵀ·∂L/∂output",
            "what comes back from there is weighted by weights",
        ),
        ("weights", "∂L/∂output·Vᵀ", "each entry of weights is used at every place of d_v: "),
        ("scaled", "weights ⊙ (∂L/∂weights − Σ(∂L/∂weights ⊙ weights))", "shares sum to 1 over m, "),
        ("scores", "∂L/∂scaled / √d", "divides the gradient by it as well"),
        (
            "q",
            "∂L/∂scores·K",
            "entry of Q is used at every place of m: what comes back from there is weighted by K",
        ),
        (
            "k",
            "∂L/∂scoresᵀ·Q",
            "entry of K is used at every place of n: what comes back from there is weighted by Q",
        ),
    ],
)
def test_the_backward_pass_of_attention_reads_as_in_a_textbook(of: str, written: str, because: str) -> None:
    output, operands = attended()
    found = gradients(output, given("upstream", output.axes), operands)
    node = next(node for node in steps(*found.values()) if node.args["of"] == of)
    assert formula(node) == written
    assert because in node.args["why"]


ROOT, SQUARE, MEAN, SUM, FACTOR = (
    "the slope of √x is 1/(2√x)",
    "the slope of a square is twice what was squared",
    "every entry of a mean gets its equal share of the gradient",
    "a sum passes its gradient on to each of its terms",
    "each factor gets the gradient times the other factor",
)
ALONE = "hands the gradient to the larger of the two alone"
PAST = "straight past shares, by both slopes in one"
RAISING = (
    "raising a score raises the logarithm of its own share, and lowers all of them by that share: where −c comes in at "
    "one entry alone, this is c·(shares, less 1 there)"
)
SHARES = step("shares", softmax(X), "why")
CHAINS = {
    "a sum inside a root": (sqrt(X + 1), ROOT),
    "a sum by itself": (X + 1, SUM),
    "a factor inside a sum": (2 * X + 1, FACTOR),
    "a mean of squares": (mean(X**2), f"{MEAN}; {SQUARE}"),
    "a shift that cancels": (
        X - held(peak(X)),
        "a difference passes its gradient on to what it starts from; max(x) cancels in the end, and gets none",
    ),
    "the smaller and the larger of two": (
        minimum(X, 1) * maximum(X, 0),
        f"{FACTOR}; max {ALONE} (the first, if they are equal); min {ALONE.replace('larger', 'smaller')}",
    ),
    "slopes that are taken in one": (
        safely(log(SHARES), log_softmax(X, SHARES), SHARES),
        f"{PAST}: {RAISING}",
    ),
    "slopes that are taken in one, and jump over what is only named": (
        safely(log(SHARES), tanh(X), SHARES),
        f"{PAST}; the slope of tanh x is 1 − tanh² x",
    ),
    "nothing": (X, "passed on unchanged"),
    "nothing but another order": (X.T, "passed on unchanged"),
    "two factors of one kind": (X * (tanh(X) * X), f"{FACTOR}; the slope of tanh x is 1 − tanh² x"),
    "two factors with names": (A * (B * X), f"{FACTOR}, here a and b"),
}


@pytest.mark.parametrize(("node", "because"), CHAINS.values(), ids=CHAINS)
def test_a_reason_tells_all_that_happens_inside_a_step(node: Node, because: str) -> None:
    root = step("result", node, "why")
    found = gradients(root, given("g", root.axes), [X])
    assert found[X].args["why"] == because


def test_what_a_step_is_made_of_has_its_name_in_a_gradient_too() -> None:
    A = given("a", (N, D), "A")
    u, s, vt = (step(name, part, "why") for name, part in zip(("u", "s", "vt"), singular_parts(A), strict=True))
    cosines, sines = step("cosines", cos(X), "why"), step("sines", sin(X), "why")
    for root, operand in ((((u * s) @ vt), A), (cosines * sines, X)):
        gradient = gradients(step("result", root, "why"), given("g", root.axes), [operand])[operand]
        whole = {(node.op, node.sources) for named in (u, s, vt, cosines, sines) for node in named.sources}
        assert [node for node in inside(gradient) if (node.op, node.sources) in whole] == []


def test_a_step_that_only_passes_on_another_is_not_spoken_of_instead() -> None:
    root = step("root", sqrt(X), "why")
    found = gradients(step("result", root, "why"), given("g", (N, D)), [X])
    assert formula(found[X].sources[0]) == "∂L/∂root / (2·root)"


@pytest.mark.parametrize(
    ("places", "written", "because"),
    [
        ([(1, 3), (0, 1)], "[∂L/∂part1; ∂L/∂part0]", "goes to the places that it was made from"),
        ([(2, 3), (0, 1)], "[∂L/∂part1; 0 for n=1; ∂L/∂part0]", "goes to the places that it was made from"),
        ([(1, 3), (1, 2)], "[0 for n=0; ∂L/∂part1; 0 for n=2] + [0 for n=0; ∂L/∂part0]", "is added up"),
    ],
)
def test_what_comes_back_to_different_places_stands_side_by_side(
    places: list[tuple[int, int]], written: str, because: str
) -> None:
    with building():
        parts = [step(f"part{i}", part_of(X, "n", *where), "a part") for i, where in enumerate(places)]
        result = step("result", total(total(parts[0], "n")) * total(total(parts[1], "n")), "a number")
    gradient = gradients(result, given("g", ()), [X])[X]
    assert formula(gradient) == written
    assert f"what comes back from part1 and part0 {because}" in gradient.args["why"]


@pytest.mark.parametrize(
    ("along", "places", "written"),
    [
        ("n", (2, 0, 1), "[∂L/∂part1; ∂L/∂part2; ∂L/∂part0]"),
        ("d", (0, 1), "[∂L/∂part0; ∂L/∂part1]"),
        (
            "n",
            (2, 0),
            "((∂L/∂part1 copied along n) where n = 0, else 0) + ((∂L/∂part0 copied along n) where n = 2, else 0)",
        ),
    ],
)
def test_what_comes_back_to_each_row_stands_side_by_side(along: str, places: tuple[int, ...], written: str) -> None:
    with building():
        parts = [step(f"part{i}", take(X, along, place), "a part") for i, place in enumerate(places)]
        result = step("result", reduce(mul, (total(part) for part in parts)), "a number")
    gradient = gradients(result, given("g", ()), [X])[X]
    assert formula(gradient) == written
    entries_of_x = np.arange(6.0).reshape(3, 2) + 1
    found = evaluate([gradient], {"x": entries_of_x, "g": np.array(1.0)})[gradient]
    assert_allclose(found, slope(result, "x", {"x": entries_of_x}, np.array(1.0), 1e-4), rtol=1e-6)


def test_what_comes_back_on_one_side_of_a_comparison_and_on_the_other_is_one_choice() -> None:
    result = step("result", exp(minimum(X, 0)) + maximum(as_node(0), X), "no corner at 0")
    gradient = gradients(result, given("g", (N, D)), [X])[X]
    assert formula(gradient) == "∂L/∂result ⊙ exp(min(x, 0)) where x ≤ 0, else ∂L/∂result"
    assert gradient.args["why"].count("(the first, if they are equal)") == 1
    operands = {"x": np.array([[-2.0, 1], [0.5, -0.1], [3, -3]]), "g": np.arange(6.0).reshape(3, 2) + 1}
    found = evaluate([gradient], operands)[gradient]
    assert_allclose(found, slope(result, "x", {"x": operands["x"]}, operands["g"], 1e-4), rtol=1e-6)


def test_a_gradient_step_knows_what_it_is_of() -> None:
    scores = step("scores", X, "…")
    node = gradient_step(scores, X, "…")
    assert (node.args["name"], node.args["of"], formula(node + 0)) == ("grad_scores", "scores", "∂L/∂scores + 0")


def test_a_gradient_step_stands_in_the_group_of_its_step() -> None:
    with building(), group("norm1"):
        inner = step("squares", X**2, "why")
    found = gradients(total(inner), given("g", (N,)), [X])
    assert [node.key for node in steps(*found.values())] == [("norm1", "grad_squares"), ("", "grad_x")]


def test_an_operand_that_the_output_ignores_gets_none() -> None:
    assert gradients(total(X), given("g", (N,)), [X, Y]).keys() == {X}


def test_what_is_held_gets_none() -> None:
    found = gradients(X - held(peak(X)), given("g", (N, D)), [X])
    upstream = np.arange(6.0).reshape(3, 2)
    assert (evaluate([found[X]], {"x": np.ones((3, 2)), "g": upstream})[found[X]] == upstream).all()


def test_a_choice_on_the_way_is_an_error_that_names_the_step() -> None:
    ranked = step("ranking", ranking(total(X), 2), "best first")
    with pytest.raises(NoGradient, match=r"^ranking has no gradient: a ranking jumps where two entries change places$"):
        gradients(ranked, given("g", ranked.axes), [X])


def test_a_gradient_per_entry_is_the_jacobian() -> None:
    weights = softmax(given("s", (N,)))
    jacobian = gradients(weights, identity(weights.axes), [weights.sources[0]])[weights.sources[0]]
    assert jacobian.names == ("n'", "n")
    p = np.array([0.2, 0.3, 0.5])
    found = evaluate([jacobian], {"s": np.log(p)})[jacobian]
    assert_allclose(found, np.diag(p) - np.outer(p, p), atol=1e-15)


@pytest.mark.thorough
def test_a_thousand_steps_deep_is_no_recursion() -> None:
    node = X
    for i in range(5000):
        node = step(f"s{i}", node * 1.0001, "again")
    gradient = gradients(node, given("g", node.axes), [X])[X]
    ones = np.ones((3, 2))
    assert_allclose(evaluate([gradient], {"x": ones, "g": ones})[gradient], 1.0001**5000, rtol=1e-9)
