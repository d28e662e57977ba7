"""What follows rightly from a wrong step keeps its mark, however its writer went on: by hand or by machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import attncalc as ac
from attncalc.record.verdicts import Marked

Array = NDArray[Any]


def as_written(value: Array, decimals: int) -> list[list[str]]:
    return [[f"{x:.{decimals}f}" for x in row] for row in value]


def a_sheet(seed: int, decimals: int, *, rounding: bool) -> tuple[ac.Trace, dict[str, Array]]:
    """Attention, divided by something else than √d_k, which is no known mistake, and gone on rightly from there."""
    random = np.random.default_rng(seed)
    q, k, v = (random.integers(-2, 3, (3, 4)).astype(float) for _ in range(3))

    def kept(value: Array) -> Array:
        return value.round(decimals) if rounding else value

    scaled = kept(q @ k.T / 1.7)
    weights = kept(np.exp(scaled) / np.exp(scaled).sum(axis=-1, keepdims=True))
    return ac.attention(q, k, v), {"scores": q @ k.T, "scaled": scaled, "weights": weights, "output": weights @ v}


@pytest.mark.spread
@pytest.mark.parametrize("rounding", [True, False], ids=["from what stands there", "from more digits than stand there"])
@pytest.mark.parametrize("decimals", [2, 3, 4])
@pytest.mark.parametrize("seed", range(8))
def test_what_follows_from_a_wrong_step_is_said_to(seed: int, decimals: int, rounding: bool) -> None:
    trace, steps = a_sheet(seed, decimals, rounding=rounding)
    marked = trace.check({name: as_written(value, decimals) for name, value in steps.items()})
    assert [step.verdict for step in marked.steps] == ["right", "unexplained", "follows", "follows"]


@pytest.mark.parametrize("units", [0, 1, -1])
def test_a_result_from_rounded_steps_is_told_to_be_of_them_though_it_is_a_unit_off(units: int) -> None:
    q, k, v = np.random.default_rng(0).integers(-2, 3, (3, 3, 4)).astype(float)
    trace = ac.attention(q, k, v)
    weights = trace["weights"].round(2)
    output = weights @ v
    output[-1, -1] += units * 0.001
    marked = trace.check({"weights": as_written(weights, 2), "output": as_written(output, 3)})
    assert "from earlier steps that were rounded" in (marked["output"].hint or "")


@pytest.mark.parametrize("off", [0.02, 0.2])
@pytest.mark.parametrize("seed", range(8))
def test_what_only_lies_near_does_not_follow(seed: int, off: float) -> None:
    trace, steps = a_sheet(seed, 3, rounding=False)
    moved = steps["output"] + np.random.default_rng(seed).normal(0, off, steps["output"].shape)
    marked = trace.check({name: as_written(value, 3) for name, value in (steps | {"output": moved}).items()})
    assert marked["output"].verdict == "unexplained"


@pytest.mark.parametrize(
    ("cosine", "verdict"), [("0.533", "follows"), ("0.558", "unexplained"), ("0.508", "unexplained")]
)
def test_what_whole_numbers_leave_open_does_not_follow_from_them(cosine: str, verdict: str) -> None:
    """16/30 may have been 15.5/30.5 or 16.5/29.5 before it was rounded: among so many numbers one may fit by chance."""
    marked = ac.cosine([3, 3, 4], [5, 1, 1]).check({"dot": "16", "norm_product": "30", "cosine": cosine})
    assert marked["cosine"].verdict == verdict


def test_a_number_for_a_step_that_is_true_or_false_is_judged() -> None:
    """Behind wrong own values it was compared with more digits than stand there, and true was subtracted from false."""
    trace = ac.complexity(n=4, d_model=8, heads=2)
    marked = trace.check({"arithmetic_intensity": "-1.19", "bound": "-0.57"})
    assert [step.verdict for step in marked.steps] == ["unexplained", "unexplained"]


def test_what_follows_by_an_alternative_that_is_an_option_is_said_to() -> None:
    """Masked before the scaling, with −1 in place of −∞: the weights follow by that order of steps alone."""
    random = np.random.default_rng(3)
    q, k, v = (random.integers(-2, 3, (3, 4)).astype(float) for _ in range(3))
    masked = q @ k.T - np.triu(np.ones((3, 3)), 1)
    weights = np.exp(masked / 2) / np.exp(masked / 2).sum(axis=-1, keepdims=True)
    steps = {"scores": q @ k.T, "scaled": masked / 2, "masked": masked, "weights": weights, "output": weights @ v}
    marked = ac.attention(q, k, v, causal=True).check({name: as_written(value, 4) for name, value in steps.items()})
    assert [step.verdict for step in marked.steps] == ["right", "mistake", "follows", "follows", "follows"]


@pytest.mark.parametrize(("mistake", "mixed"), [("att-p-transposed", "t"), ("att-k-for-v", "k")])
def test_a_mistake_behind_an_own_slip_is_named_where_more_digits_were_kept(mistake: str, mixed: str) -> None:
    """One weight is wrong, to three decimals; the others were not rounded for the product."""
    random = np.random.default_rng(5)
    q, k, v = (random.integers(-3, 4, (4, 3)) / 2 for _ in range(3))
    weights = np.exp(q @ k.T / np.sqrt(3)) / np.exp(q @ k.T / np.sqrt(3)).sum(axis=-1, keepdims=True)
    weights[0, 0] += 0.1
    output = {"t": weights.T @ v, "k": weights @ k}[mixed]
    marked = ac.attention(q, k, v).check({"weights": as_written(weights, 3), "output": as_written(output, 3)})
    assert [step.mistake for step in marked.steps] == ["slip-one-entry", mistake]


def _of_softmax(share: Array, upstream: Array) -> Array:
    return np.asarray(share * (upstream - (share * upstream).sum(axis=-1, keepdims=True)))


def _of_log_softmax(logs: Array, upstream: Array) -> Array:
    return np.asarray(upstream - np.exp(logs) * upstream.sum(axis=-1, keepdims=True))


X = np.array([[1.0, 2.5, 0.3, -1.0], [0.5, -2.0, 4.0, 1.5]])
UPSTREAM = np.array([[1.0, -2.0, 0.5, 3.0], [2.0, 1.0, -1.0, 0.25]])
GAMMA = np.array([1.5, 0.5, 2.0, 1.0])


def _of_norm(normalized: Array, divisor: Array, *, centred: bool) -> Array:
    slope = UPSTREAM * GAMMA
    along = normalized * (slope * normalized).mean(axis=-1, keepdims=True)
    return np.asarray((slope - along - (slope.mean(axis=-1, keepdims=True) if centred else 0)) / divisor)


def _closed_forms() -> dict[str, tuple[ac.Trace, dict[str, Array]]]:
    """Gradients by the formula of the textbook, which speaks of the result, on from wrong values of that result."""
    share = np.exp(X) / np.exp(X).sum(axis=-1, keepdims=True) * [[0.7, 1.1, 1.3, 0.9]]
    logs = np.log(share).round(6)
    deviation = X.std(axis=-1, keepdims=True)  # eps=0
    normalized = (X - X.mean(axis=-1, keepdims=True)) / deviation * [[0.7, 1.1, 1.3, 0.9]]
    root = np.sqrt((X**2).mean(axis=-1, keepdims=True))
    divided = X / root * [[0.7, 1.1, 1.3, 0.9]]
    return {
        "softmax": (ac.softmax(X), {"softmax": share, "grad_x": _of_softmax(share, UPSTREAM)}),
        "softmax, divided by a temperature": (
            ac.softmax(X, temperature=2),
            {"softmax": share, "grad_x": _of_softmax(share, UPSTREAM) / 2},
        ),
        "log-softmax": (ac.log_softmax(X), {"log_softmax": logs, "grad_x": _of_log_softmax(logs, UPSTREAM)}),
        "layernorm": (
            ac.layernorm(X, gamma=GAMMA, eps=0),
            {"normalized": normalized, "grad_x": _of_norm(normalized, deviation, centred=True)},
        ),
        "rmsnorm": (
            ac.rmsnorm(X, gamma=GAMMA, eps=0),
            {"normalized": divided, "grad_x": _of_norm(divided, root, centred=False)},
        ),
    }


@pytest.mark.thorough
@pytest.mark.parametrize("name", _closed_forms())
def test_a_gradient_follows_by_the_formula_that_speaks_of_the_result(name: str) -> None:
    """The backward pass goes step by step, a textbook's formula goes on from the result: both are right."""
    trace, steps = _closed_forms()[name]
    marked = trace.grad(upstream=UPSTREAM).check({name: as_written(value, 6) for name, value in steps.items()})
    assert marked["grad_x"].verdict == "follows"


SHIFTS: dict[str, Callable[[Array], Array]] = {
    "the mean of each row": lambda x: x.mean(axis=1, keepdims=True),
    "the least of each row": lambda x: x.min(axis=1, keepdims=True),
    "the largest of all": lambda x: x.max(keepdims=True),
    "one number for each row": lambda x: np.array([[0.3], [-1.0], [1.7]]),
    "a number": lambda x: np.array([[1.0]]),
}


@pytest.mark.spread(8)
@pytest.mark.parametrize("name", SHIFTS)
@pytest.mark.parametrize("decimals", [3, 5])
@pytest.mark.parametrize("rounding", [True, False], ids=["from what stands there", "from more digits than stand there"])
@pytest.mark.parametrize("temperature", [1, 2])
@pytest.mark.parametrize("axis", [0, 1])
def test_any_number_may_be_taken_from_a_row(
    name: str, decimals: int, axis: int, temperature: float, *, rounding: bool
) -> None:
    """No share depends on it, whatever of the steps is told; who takes away another in between has made a mistake."""
    x = np.array([[2.0, 1.0, 0.1, -1.2], [0.5, 2.5, 1.5, 0.0], [-0.7, 0.4, 2.1, 1.0]])
    scaled = x / temperature

    def kept(value: Array) -> Array:
        return value.round(decimals) if rounding else value

    shifted = kept(scaled - SHIFTS[name](scaled))
    powers = kept(np.exp(shifted))
    sums = kept(powers.sum(axis=1))
    right = np.exp(scaled) / np.exp(scaled).sum(axis=1, keepdims=True)
    trace = ac.softmax(x if axis else x.T, axis=axis, temperature=temperature)

    def marked(**steps: Array) -> Marked:
        return trace.check(
            {
                step: [[f"{v:.{decimals}f}" for v in row] for row in (value if axis else value.T)]
                if value.ndim == 2
                else [f"{v:.{decimals}f}" for v in value]
                for step, value in steps.items()
            }
        )

    whole = {"shifted": shifted, "exponentials": powers, "sum": sums, "softmax": right}
    for left_out in ((), ("shifted",), ("shifted", "sum"), ("exponentials",), ("shifted", "exponentials", "sum")):
        told = {step: value for step, value in whole.items() if step not in left_out}
        found = marked(**told)
        assert all(step.verdict in ("right", "rounded-early") for step in found.steps), (left_out, found)
        hinted = [step.name for step in found.steps if "another number than the maximum" in (step.hint or "")]
        assert hinted == [step for step in ("shifted", "exponentials") if step in told][:1]
    spoiled = powers.copy()
    spoiled[1, 2] *= 1.3
    assert marked(exponentials=spoiled)["exponentials"].verdict not in ("right", "rounded-early")
    for steps in ({"exponentials": powers}, {"exponentials": spoiled}, {"shifted": shifted}):
        [(step, value)] = steps.items()
        blanks = np.array([[f"{v:.{decimals}f}" for v in row] for row in value], dtype=object)
        blanks[0, 1] = blanks[2] = None  # what is there of the other rows is right, or spoiled
        found = trace.check({step: (blanks if axis else blanks.T).tolist()})
        assert (found[step].verdict == "missing") == (value is not spoiled), found
    due = np.exp(scaled - scaled.max(axis=1, keepdims=True)).sum(axis=1)
    if name != "the largest of all":
        found = marked(exponentials=powers, sum=due)
        assert not all(step.verdict == "right" for step in found.steps)


def test_a_mistake_in_steps_side_by_side_is_charged_once_and_named_in_each() -> None:
    """√d_k is forgotten where queries and keys take their slopes, neither of which is made of the other."""
    random = np.random.default_rng(0)
    q, k, v, upstream = (random.integers(-2, 3, (3, 2)).astype(float) for _ in range(4))
    share = np.exp(q @ k.T / np.sqrt(2))
    share /= share.sum(axis=-1, keepdims=True)
    slope = _of_softmax(share, upstream @ v.T)
    steps = {"weights": share, "grad_k": slope.T @ q, "grad_q": slope @ k}
    marked = ac.attention(q, k, v).grad(upstream=upstream).check({x: as_written(y, 4) for x, y in steps.items()})
    assert [(step.verdict, step.mistake, step.score) for step in marked.steps] == [
        ("right", None, 2),
        ("mistake", "datt-no-scale", 0),
        ("follows", "datt-no-scale", 1),
    ]


def test_a_mistake_in_two_forms_is_charged_once() -> None:
    """A token that may not look at itself, masked by −10000 before the scaling: the scaled scores are judged first."""
    q, k = (
        np.array([[-1, 0, 2, -1], [0, 0, 2, -1]]),
        np.array([[-1, 0, 0, 0], [-1, 2, 1, 2], [-1, 1, 0, 1], [0, 1, -1, 1]]),
    )
    masked = q @ k.T - 10000 * np.triu(np.ones((2, 4)))
    steps = {"scaled": as_written(masked / 2, 1), "masked": as_written(masked, 1)}
    marked = ac.attention(q, k, k, causal=True).check(steps)
    found = [(step.verdict, step.mistake) for step in marked.steps]
    assert found == [("mistake", "mask-strict"), ("follows", "mask-strict")]


@pytest.mark.parametrize(
    ("keys", "along", "verdicts"),
    [
        pytest.param(3, 0, ["mistake", "follows", "follows", "right"], id="square, and rightly shared out"),
        pytest.param(2, 0, ["slip", "slip", "slip", "right"], id="not square, and rightly shared out"),
        pytest.param(
            2, 1, ["slip", "slip", "mistake", "follows"], id="not square, and shared out along the other axis"
        ),
    ],
)
def test_a_sheet_with_rows_for_columns_is_judged_as_it_stands(keys: int, along: int, verdicts: list[str]) -> None:
    """Scores with a row for each key go on so: shares sum to 1 down the columns, and are turned for the product."""
    random = np.random.default_rng(1)
    q, k, v = (random.integers(-2, 3, (n, 2)).astype(float) for n in (3, keys, keys))
    scores = k @ q.T
    scaled = scores / np.sqrt(2)
    weights = np.exp(scaled) / np.exp(scaled).sum(axis=along, keepdims=True)
    steps = {"scores": scores, "scaled": scaled, "weights": weights, "output": weights.T @ v}
    marked = ac.attention(q, k, v).check({name: as_written(value, 4) for name, value in steps.items()})
    assert [step.verdict for step in marked.steps] == verdicts
    assert marked["weights"].mistake == {"mistake": "att-softmax-cols", "slip": "slip-transposed-answer"}.get(
        verdicts[2]
    )
