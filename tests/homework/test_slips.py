"""Every slip of the hand, made in one step of an attention problem, is told; what says too little is not."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import attncalc as ac
from attncalc.evaluate.precisions import held
from attncalc.homework.diagnosis.slips import FINAL, HALF, NO_UPCAST, SLIPS

Q, K, V = [[1, 0, 2, -1], [0, 2, 1, 1], [1, 1, 0, 0]], [[1, 1, 0, 0], [0, 1, 1, 1], [2, 0, 1, -1]], [[3], [2], [-1]]
TRACE = ac.attention(Q, K, V)
SCORES = [[1, 1, 5], [2, 4, 0], [2, 1, 2]]
WEIGHTS = [["0.107", "0.107", "0.787"], ["0.245", "0.665", "0.090"], ["0.384", "0.233", "0.384"]]


def written(value: Any) -> list[list[str]]:
    """Numbers to three decimals."""
    return [[f"{x:.3f}" for x in row] for row in value]


def changed(value: list[list[Any]], **entries: Any) -> list[list[Any]]:
    """A table with other entries: `_01` is the one in row 0 and column 1."""
    copy = [list(row) for row in value]
    for at, entry in entries.items():
        copy[int(at[1])][int(at[2])] = entry
    return copy


def test_the_tables_are_right() -> None:
    assert TRACE.check({"scores": SCORES, "weights": WEIGHTS}).verdict == "right"


MADE = [
    pytest.param("one-entry", "scores", changed(SCORES, _11=3), id="a whole number that is another one"),
    pytest.param("one-entry", "weights", changed(WEIGHTS, _11="0.656"), id="digits that change places"),
    pytest.param("sign", "weights", changed(WEIGHTS, _11="-0.665"), id="a minus too many"),
    pytest.param("sign", "weights", [[f"-{x}" for x in row] for row in WEIGHTS], id="every sign turned"),
    pytest.param(
        "percent", "weights", written(100 * TRACE["weights"]), id="shares of a hundred"
    ),
    pytest.param("decimal-point", "weights", changed(WEIGHTS, _11="6.65"), id="a point one place on"),
    pytest.param("transposed-answer", "weights", [*zip(*WEIGHTS, strict=True)], id="shares transposed"),
    pytest.param("rows-permuted", "weights", WEIGHTS[1:] + WEIGHTS[:1], id="rows moved up"),
    pytest.param(
        "one-row-only", "weights", [WEIGHTS[0], ["1.000", "2.000", "0.000"], ["1.000", "0.500", "1.000"]],
        id="the other rows as they were",
    ),
    pytest.param("complement", "weights", changed(WEIGHTS, _11="0.656", _12="0.099"), id="the rest is the rest"),
    pytest.param("columns-permuted", "weights", [[c, a, b] for a, b, c in WEIGHTS], id="columns moved on"),
    pytest.param("entries-swapped", "weights", changed(WEIGHTS, _01="0.245", _10="0.107"), id="two changed places"),
    pytest.param("row-copied", "weights", [*WEIGHTS[:2], WEIGHTS[1]], id="a row written twice"),
    pytest.param("part-only", "weights", WEIGHTS[1], id="one row in place of three"),
    pytest.param("copied-input", "output", written(ac.attention(Q, K, [[2], [2], [-1]]).result), id="a 3 read as 2"),
    pytest.param("copied-input", "output", written(ac.attention(Q, K, [[8], [2], [-1]]).result), id="a 3 read as 8"),
]  # fmt: skip


@pytest.mark.parametrize(("slip", "step", "answer"), MADE)
def test_a_slip_is_told(slip: str, step: str, answer: Any) -> None:
    before = {"scores": SCORES} if step == "weights" else {}
    found = TRACE.check({**before, step: answer})[step]
    assert (found.verdict, found.mistake) == ("slip", f"slip-{slip}")


def test_every_slip_has_a_row() -> None:
    assert {slip.id for slip in SLIPS} - {FINAL.id, HALF.id, NO_UPCAST.id} == {f"slip-{row.values[0]}" for row in MADE}


@pytest.mark.parametrize(
    ("step", "answer"),
    [
        pytest.param("scores", changed(SCORES, _11=3, _22=0), id="two entries"),
        pytest.param("weights", changed(WEIGHTS, _11="0.6", _12="0.1"), id="digits left out"),
        pytest.param("output", [["-0.25"], ["1.81"], ["1.00"]], id="numbers from nowhere"),
    ],
)
def test_what_no_slip_explains_is_none(step: str, answer: Any) -> None:
    assert TRACE.check({step: answer})[step].verdict != "slip"


@pytest.mark.parametrize(
    ("decimals", "named", "also"),
    [
        pytest.param(2, "slip-complement", ["att-no-scale"], id="which few digits allow"),
        pytest.param(4, "att-no-scale", [], id="which more digits tell"),
    ],
)
def test_a_slip_that_says_no_more_than_where_leaves_a_mistake_possible(
    decimals: int, named: str, also: list[str]
) -> None:
    """A row of two shares has but one number to tell by."""
    q, k = [[1, 0, 1], [0, 1, 1]], [[1, 1, 0], [1, 0, 1]]
    shares = [[f"{x:.{decimals}f}" for x in row] for row in ac.attention(q, k, k, scale="none")["weights"]]
    step = ac.attention(q, k, k).check({"weights": shares}, hints="rule")["weights"]
    assert (step.mistake, step.to_dict(reveal=False)["also"]) == (named, also)
    assert "What keeps the scores from growing" in str(step.hint)


def test_few_whole_numbers_change_places_by_chance() -> None:
    """A square of two has but two entries off its diagonal."""
    of = ac.matmul([[1, 2], [3, 4]], [[1, 0], [0, 1]])
    assert of.check([[1, 3], [2, 4]])["product"].mistake != "slip-transposed-answer"


def test_a_square_of_two_with_digits_enough_is_transposed() -> None:
    of = ac.matmul([[1.25, 2.5], [3.75, 4.5]], [[1, 0.5], [0.25, 1.5]])  # [[1.875, 4.375], [4.875, 8.625]]
    assert of.check([["1.875", "4.875"], ["4.375", "8.625"]])["product"].mistake == "slip-transposed-answer"


@pytest.mark.parametrize(
    ("observed", "found"),
    [
        pytest.param(2, "slip-copied-input", id="the observation below it"),
        pytest.param(10, "unexplained", id="what no other row has"),
    ],
)
def test_an_observation_is_misread_as_another_one(observed: float, found: str) -> None:
    x, w = [[1, 2], [3, 1], [0, 1]], [[1], [1]]
    right, misread = (ac.linear_regression(x, [[y], [2], [0.5]], w, [0], lr=0.1) for y in (1, observed))
    step = right.check({"grad_w": written(misread["grad_w"])})["grad_w"]
    assert (step.mistake or step.verdict) == found


def test_a_misread_entry_may_have_complex_eigenvalues() -> None:
    assert ac.eigen([[2, 1], [1, 2]]).check([2, 3]).verdict == "wrong"


@pytest.mark.parametrize(
    ("answer", "slip", "says"),
    [
        pytest.param([[1.25, 2.5], [3.75, 4.5], [2.25, 6.5]], "slip-copied-input", "", id="another row of the table"),
        pytest.param([[1.25, 2.5]], "slip-part-only", "row 0 alone is given, counted from 0", id="a row alone"),
    ],
)
def test_a_row_of_a_table_is_told_from_the_others(answer: list[list[float]], slip: str, says: str) -> None:
    step = ac.embed([0, 1, 2], [[1.25, 2.5], [3.75, 4.5], [0.5, 0.75], [2.25, 6.5]]).check(answer)["output"]
    assert (step.verdict, step.mistake) == ("slip", slip)
    assert says in step.finding.says


def test_one_of_two_numbers_is_told_which() -> None:
    step = ac.bayes([0.5, 0.5], [0.83, 0.2]).check("0.194")["posterior"]  # 0.806 and 0.194
    assert (step.mistake, step.finding.says) == ("slip-part-only", "entry 1 alone is given, counted from 0")


@pytest.mark.parametrize("step", ["scores", "scaled", "weights", "output"])
def test_a_dump_that_passed_the_largest_half_is_told(step: str) -> None:
    x = np.random.default_rng(0).normal(size=(8, 32)) * 60
    x[3:] /= 10
    trace = ac.attention(x, x, x)
    with np.errstate(all="ignore"):
        half = np.where(np.abs(trace["scores"]) > 65504, np.inf, trace["scores"])
        shares = np.exp(half / 32**0.5 - (half / 32**0.5).max(axis=1, keepdims=True))
        weights = shares / shares.sum(axis=1, keepdims=True)
        dumps = {"scores": half, "scaled": half / 32**0.5, "weights": weights, "output": weights @ x}
        assert not np.isfinite(dumps[step]).all()
        found = trace.check({step: dumps[step].astype(np.float16)})[step]
    assert (found.verdict, found.mistake) == ("slip", "half-overflow")


def normed(name: str, r: Callable[[Any], Any], of_squares: Callable[[Any], Any], x: Any, *, by_terms: bool) -> Any:
    """A norm that keeps numbers as one type holds them, and works out the mean of squares as another does."""
    centred = r(x - x.mean(-1, keepdims=True)) if name == "layernorm" else x
    squares = of_squares(centred**2)
    added = np.zeros(len(x)) if by_terms else squares.sum(-1)
    for term in squares.T if by_terms else ():
        added = of_squares(added + term)
    mean = of_squares(of_squares(added / x.shape[1]) + 1e-5)
    return r(centred / of_squares(np.sqrt(mean))[:, None])


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["rmsnorm", "layernorm"])
@pytest.mark.parametrize(
    ("stored", "width", "large", "by_terms", "told"),
    [
        pytest.param("float16", 64, 300, False, True, id="a square is beyond float16"),
        pytest.param("float16", 256, 20, True, True, id="their sum is"),
        pytest.param("float16", 256, 20, False, False, id="a sum in float32 is not"),
        pytest.param("bfloat16", 1024, 1, True, True, id="a term is lost beside the sum so far"),
        pytest.param("bfloat16", 1024, 1, False, False, id="no more than noise"),
    ],
)
def test_a_norm_that_squares_in_the_stored_type_is_told(
    name: str, stored: str, width: int, large: float, by_terms: bool, told: bool
) -> None:
    x = np.random.default_rng(0).normal(size=(6, width))
    x[2] *= large
    x = held(held(x, "bfloat16"), stored)
    r = partial(held, name=stored)
    trace = getattr(ac, name)(x, eps=1e-5)
    assert trace.check(normed(name, r, lambda value: value, x, by_terms=False), dtype=stored)
    found = trace.check(normed(name, r, r, x, by_terms=by_terms), dtype=stored).steps[0]
    assert (found.verdict, found.mistake) == (("slip", "norm-no-upcast") if told else ("right", None))


@pytest.mark.parametrize(
    ("slip", "change"),
    [
        ("slip-sign", np.negative),
        ("slip-columns-permuted", np.fliplr),
        ("slip-decimal-point", lambda output: output / 10),
        ("slip-one-entry", lambda output: output + np.diag([0, 0.7])),
    ],
)
def test_a_slip_is_told_beside_what_follows_from_rounded_steps(slip: str, change: Callable[[Any], Any]) -> None:
    """The weights are right to two decimals, and what is made of them is not what more would give."""
    trace = ac.attention([[1, 0], [1, 2]], [[1, 1], [0, 1]], [[7, -3], [2, 11]])
    weights = trace["weights"].round(2)
    output = written(change(weights @ [[7, -3], [2, 11]]))
    marked = trace.check({"weights": [[f"{x:.2f}" for x in row] for row in weights], "output": output})
    assert [step.mistake for step in marked.steps] == [None, slip]
