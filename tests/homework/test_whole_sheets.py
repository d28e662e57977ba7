"""Whole sheets, worked out in NumPy with more than one thing wrong: each is named where it was done."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from homework.problems import GRADIENTS, ROWS, K, Q, V, whole
from homework.problems import LAYER as BLOCK
from numpy.typing import NDArray

import attncalc as ac
from attncalc.record.verdicts import Marked

Array = NDArray[Any]


def text(value: Any, decimals: int) -> Any:
    if np.ndim(value):
        return [text(part, decimals) for part in value]
    return f"{value:.{decimals}f}"


def found(trace: ac.Trace, steps: Mapping[str, Any], decimals: int) -> dict[str, str]:
    """What is told of each step, the mistake or the verdict, of a sheet with so many decimals."""
    marked = trace.check({name: text(value, decimals) for name, value in steps.items()})
    return {step.name: step.mistake or step.verdict for step in marked.steps}


def softmax(x: Array, axis: int = -1) -> Array:
    powers = np.exp(x - x.max(axis, keepdims=True))
    return np.asarray(powers / powers.sum(axis, keepdims=True))


def attention(*, queries_twice: bool = False, scale: float = 2, transposed: bool = False) -> dict[str, Array]:
    q, k, v = (np.array(x, float) for x in (Q, K, V))
    scores = q @ (q if queries_twice else k).T
    weights = softmax(scores / scale)
    output = (weights.T if transposed else weights) @ v
    return {"scores": scores, "scaled": scores / scale, "weights": weights, "output": output}


def norm(*, ddof: int = 0, outside: bool = False) -> dict[str, Array]:
    x, gamma, beta = (np.array(ROWS[name], float) for name in ("x", "gamma", "beta"))
    variance = x.var(1, ddof=ddof)
    root = np.sqrt(variance) + 0.1 if outside else np.sqrt(variance + 0.1)
    normalized = (x - x.mean(1, keepdims=True)) / root[:, None]
    return {"variance": variance, "standard_deviation": root, "output": normalized * gamma + beta}


def regression(*, sign: int) -> dict[str, Array]:
    x, y, w = np.array([[1, 2], [3, 1], [0, 1]]), np.array([[1], [2], [0]]), np.ones((2, 1))
    errors = x @ w - y
    grad_w, grad_b = 2 / 3 * x.T @ errors, 2 / 3 * errors.sum(0)
    return {"grad_w": grad_w, "grad_b": grad_b, "new_w": w - sign * 0.1 * grad_w, "new_b": -sign * 0.1 * grad_b}


ATTENTION = ac.attention(Q, K, V)
LAYER = ac.layernorm(ROWS["x"], ROWS["gamma"], ROWS["beta"], eps=0.1)
REGRESSION = ac.linear_regression([[1, 2], [3, 1], [0, 1]], [[1], [2], [0]], [[1], [1]], [0], lr=0.1)
PROBABILITIES = np.array([0.2, 0.5, 0.1, 0.4, 0.7])


@pytest.mark.thorough
@pytest.mark.parametrize("decimals", [3, 4])
@pytest.mark.parametrize(
    ("trace", "steps", "told"),
    [
        pytest.param(
            ATTENTION,
            attention(queries_twice=True, scale=1),
            ["att-q-for-k", "att-no-scale", "follows", "follows"],
            id="the second behind wrong scores",
        ),
        pytest.param(
            ATTENTION,
            attention(scale=1, transposed=True),
            ["right", "att-no-scale", "follows", "att-p-transposed"],
            id="the second from more digits than were written",
        ),
        pytest.param(
            LAYER,
            norm(ddof=1, outside=True),
            ["ln-ddof1", "ln-eps-outside", "follows"],
            id="the second behind a step of which another mistake makes another shape",
        ),
        pytest.param(LAYER, norm(outside=True), ["right", "ln-eps-outside", "follows"], id="one alone"),
    ],
)
def test_each_mistake_is_named_where_it_was_made(
    trace: ac.Trace, steps: dict[str, Array], told: list[str], decimals: int
) -> None:
    assert [*found(trace, steps, decimals).values()] == told


@pytest.mark.parametrize(
    ("output", "made"),
    [
        (attention(queries_twice=True, scale=1)["output"], {"att-q-for-k", "att-no-scale"}),
        (attention(scale=1, transposed=True)["output"], {"att-no-scale", "att-p-transposed"}),
    ],
    ids=["one behind the other", "one on either side of the weights"],
)
def test_two_mistakes_are_told_from_the_result_alone(output: Array, made: set[str]) -> None:
    (step,) = ATTENTION.check({"output": text(output, 3)}).steps
    assert {*step.finding.mistakes} == made


def declared(trace: ac.Trace, step: str, answer: Any) -> Marked:
    """An answer on a sheet that says to have rounded to two decimals."""
    marked: Marked = trace.check({"steps": {step: answer}, "rounding": 2})
    return marked


def test_of_what_is_rounded_early_no_entry_is_called_wrong() -> None:
    output = attention()["weights"].round(2) @ np.array(V, float)
    (step,) = declared(ATTENTION, "output", text(output, 3)).steps
    assert (step.verdict, step.to_dict(reveal=False)["cells"]) == ("rounded-early", [])


def test_exponentials_rounded_inside_a_softmax_are_summed_as_they_were_rounded() -> None:
    trace = ac.attention([[1, 1]], [[-2, -2], [-1, 0], [-1, 0], [-2, -2], [0, 0]], np.ones((5, 1)))
    powers = np.exp(trace["scaled"]).round(2)
    (step,) = declared(trace, "weights", text(powers / powers.sum(), 4)).steps
    assert step.verdict == "rounded-early"


def test_the_step_whose_rounding_makes_the_difference_is_named() -> None:
    logits = np.array([[0, 0.6, -0.5], [-1.8, -0.9, -2], [0.1, 2.7, -1]])
    losses = -np.log(softmax(logits).round(2).diagonal()).round(2)
    (step,) = declared(ac.cross_entropy(logits, [0, 1, 2]), "loss", text(losses.mean(), 4)).steps
    assert step.hint == "right method, rounded too early at probabilities: keep more digits on the way"


def test_the_result_itself_is_never_the_step_that_was_rounded_too_early() -> None:
    trace = ac.cosine([1, 0, -2, -2, 1], [-4, -4, -4, -3, 2])
    (step,) = declared(trace, "cosine", "0.4862").steps  # ‖a‖ read off as 3.16
    assert step.hint == "right method, rounded too early: keep more digits on the way"


@pytest.mark.parametrize(
    ("a", "b", "answer"),
    [
        pytest.param([0.7, 0.5], [0.06, 0.01], "0.9555", id="0.047 as 0.05"),
        pytest.param([0.3, 0.1], [-0.08, -0.09], "-0.7878", id="0.033 as 0.03"),
        pytest.param([-0.5, 0.7], [0.03, 0.07], "0.4579", id="0.034 as 0.03"),
        pytest.param([-0.3, 0.7], [0.06, -0.01], "-0.6476", id="0.025 as 0.03"),
    ],
)
def test_who_writes_four_decimals_has_not_kept_two_unless_the_sheet_says_so(
    a: list[float], b: list[float], answer: str
) -> None:
    """The dot product, where all else keeps the four decimals that are written."""
    trace = ac.cosine(a, b)
    assert trace.check(answer).verdict == "wrong"
    assert declared(trace, "cosine", answer).verdict == "rounded-early"


def test_a_mistake_made_again_is_named_again_though_the_step_says_little() -> None:
    assert found(REGRESSION, regression(sign=-1), 2) == {
        "grad_w": "right",
        "grad_b": "right",
        "new_w": "gd-sign",
        "new_b": "gd-sign",
    }
    assert found(REGRESSION, {"new_b": regression(sign=-1)["new_b"]}, 2) == {"new_b": "unexplained"}


@pytest.mark.thorough
def test_moments_without_correction_are_named_at_every_update() -> None:
    how = {"lr": 0.5, "beta1": 0.8, "beta2": 0.95, "eps": 0.2}
    point, first, second = 1.0, 0.0, 0.0
    steps: dict[str, list[float]] = {}
    for t, gradient in enumerate(np.ravel(GRADIENTS["gradients"]), start=1):
        first = round(0.8 * first + 0.2 * gradient, 3)
        second = round(0.95 * second + 0.05 * gradient**2, 3)
        update = round(-0.5 * first / (np.sqrt(second) + 0.2), 3)
        point = round(point + update, 3)
        moments = {"first_moment": first, "second_moment": second}
        steps |= {f"step {t}/{name}": [x] for name, x in {**moments, "update": update, "point": point}.items()}
    told = found(ac.optimizer(**GRADIENTS, kind="adam", **how), steps, 3)
    assert {told[f"step {t}/update"] for t in (1, 2, 3, 4)} == {"adam-no-bias"}
    assert {told[f"step {t}/point"] for t in (1, 2, 3, 4)} == {"follows"}


@pytest.mark.parametrize(
    ("mistake", "divisor"),
    [
        ("adam-eps-inside", lambda v, t: np.sqrt(v + 0.1)),
        ("adam-no-sqrt", lambda v, t: v + 0.1),
        ("adam-eps-hat", lambda v, t: np.sqrt(v) + 0.1 / np.sqrt(1 - 0.95**t)),
    ],
)
def test_another_divisor_is_named_beside_a_decay_that_stands_apart(
    mistake: str, divisor: Callable[[Array, int], Array]
) -> None:
    gradients, point = np.array([[0.5, -0.3], [-0.8, 1.1], [0.4, 0.6]]), np.array([1.0, -2.0])
    trace = ac.optimizer(gradients, point, kind="adamw", lr=0.1, beta1=0.8, beta2=0.95, eps=0.1, weight_decay=0.2)
    first, second, steps = np.zeros(2), np.zeros(2), dict[str, Array]()
    for t, gradient in enumerate(gradients, start=1):
        first, second = 0.8 * first + 0.2 * gradient, 0.95 * second + 0.05 * gradient**2
        update = -0.1 * first / (1 - 0.8**t) / divisor(second / (1 - 0.95**t), t) - 0.1 * 0.2 * point
        point = point + update
        steps |= {f"step {t}/update": update, f"step {t}/point": point}
    assert [*found(trace, steps, 4).values()] == [mistake, *["follows"] * 5]


DESCENTS: dict[str, tuple[ac.Trace, Callable[[Array], Array], list[float]]] = {
    "x": (ac.descend("x**2", start=3, lr=0.1, steps=3), lambda x: 2 * x, [3.0]),
    "x and y": (
        ac.descend("x**2 + 2*y**2", start={"x": 3, "y": -1}, lr=0.1, steps=3),
        lambda x: np.array([2, 4]) * x,
        [3.0, -1.0],
    ),
}


@pytest.mark.parametrize("of", DESCENTS)
@pytest.mark.parametrize(("sign", "told"), [(-1, {"right"}), (1, {"right", "gd-sign", "follows"})])
def test_a_step_that_is_taken_away_may_be_written_without_its_sign(of: str, sign: int, told: set[str]) -> None:
    """Whoever writes 0.6 and goes from 3 to 2.4 is right, and whoever goes to 3.6 is not."""
    trace, slope, start = DESCENTS[of]
    point, steps = np.array(start), dict[str, Array]()
    for t in range(3):
        update = 0.1 * slope(point)
        steps |= {f"iteration {t}/point": point, f"iteration {t}/update": update}
        point = point + sign * update
    steps["iteration 3/point"] = point
    assert {*found(trace, {name: value.squeeze() for name, value in steps.items()}, 4).values()} == told


def test_an_update_of_adam_may_be_what_is_taken_away() -> None:
    gradients, point = np.array([[0.5, -0.3], [-0.8, 1.1], [0.4, 0.6]]), np.array([1.0, -2.0])
    trace = ac.optimizer(gradients, point, kind="adam", lr=0.1, beta1=0.8, beta2=0.95, eps=0.1)
    first, second, steps = np.zeros(2), np.zeros(2), dict[str, Array]()
    for t, gradient in enumerate(gradients, start=1):
        first, second = 0.8 * first + 0.2 * gradient, 0.95 * second + 0.05 * gradient**2
        update = 0.1 * first / (1 - 0.8**t) / (np.sqrt(second / (1 - 0.95**t)) + 0.1)
        point = point - update
        steps |= {f"step {t}/update": update, f"step {t}/point": point}
    assert {*found(trace, steps, 4).values()} == {"right"}


def test_a_large_number_that_is_added_to_scores_masks_them() -> None:
    """As BERT adds −10000 to what is hidden."""
    q, k, v = (np.array(x, float) for x in (Q, K, V))
    masked = q @ k.T / 2 - np.where(np.tri(3), 0, 10000)
    steps = {"masked": masked, "weights": softmax(masked), "output": softmax(masked) @ v}
    assert {*found(ac.attention(q, k, v, causal=True), steps, 3).values()} == {"right"}


ADAM = ac.optimizer([[0.5], [-0.6]], [1], kind="adam", lr=0.1)
"""With the usual β₂ = 0.999, of which 0.99 would make ten times as much of 1 − β₂."""


@pytest.mark.parametrize(
    ("step", "answer", "found"),
    [
        pytest.param("step 1/update", "-0.31623", "adam-no-bias", id="0.05/√0.00025"),
        pytest.param("step 1/point", "0.68377", "adam-no-bias", id="the point there"),
        pytest.param("step 1/second_corrected", "0.000", "unexplained", id="0.00025, which zeros do not tell"),
        pytest.param("step 1/second_corrected", "inf", "adam-t-from-0", id="0.00025/0, which no rounding excuses"),
        pytest.param("step 2/update", "0.01429", "right", id="not rounded"),
        pytest.param("step 2/update", "0.01441", "rounded-early", id="0.0789/√0.3000, of four decimals each"),
    ],
)
def test_what_a_mistake_gives_as_it_is_written_is_not_rounded_from_afar(step: str, answer: str, found: str) -> None:
    (marked,) = ADAM.check({step: [answer]}).steps
    assert (marked.mistake or marked.verdict) == found


@pytest.mark.parametrize("decimals", [3, 4])
def test_the_sum_in_place_of_the_mean_is_named_where_it_stands(decimals: int) -> None:
    logs = np.log(PROBABILITIES)
    steps = {"log_probabilities": logs, "mean_negative_log": -logs.sum(), "perplexity": np.exp(-logs.sum())}
    told = found(ac.perplexity(PROBABILITIES), steps, decimals)
    assert (told["log_probabilities"], told["mean_negative_log"]) == ("right", "ppl-exp-sum")


def test_a_mistake_is_made_of_own_values_that_the_step_before_it_was_not_asked_for() -> None:
    """A mean of 1/p is made of the logarithms, be they wrong, and not of the loss that follows from them."""
    logits, targets = np.array([[1, 2, 0], [0.3, 1, 2], [2, 0, 1], [0, 0.5, -3]]), [1, 2, 0, 2]
    logs = np.log2(softmax(logits)[range(4), targets]).round(3)
    steps = {"log_likelihood": logs, "loss": -logs.mean(), "perplexity": np.exp(-logs).mean()}
    told = found(ac.next_token_loss(logits, targets), steps, 3)
    assert told == {"log_likelihood": "ce-log2", "loss": "follows", "perplexity": "ppl-mean-of-exp"}


@pytest.mark.parametrize(
    ("last", "answer", "hint", "close"),
    [
        pytest.param(
            -1.5, "0.19", "too few digits to tell why: write at least 3 decimals", False, id="maybe a mistake"
        ),
        pytest.param(-1.5, "0.77", "no known mistake: 3 decimals or more would tell more", False, id="none gives it"),
        pytest.param(-1.5, "9", "no known mistake: 3 decimals or more would tell more", False, id="far from it"),
        pytest.param(-1.5, "-0.2", "too few digits to tell: write at least 2 decimals", True, id="its first digit"),
        pytest.param(-0.499, "0.0", "too few digits to tell: write at least 2 decimals", True, id="nothing but zeros"),
    ],
)
def test_few_digits(last: float, answer: str, hint: str, *, close: bool) -> None:
    """Marks hang on digits that are missing only where more of them may make an answer right."""
    step = ac.cosine([1, -2, 2], [3, 1, last]).check({"cosine": answer}).steps[0]
    assert (step.hint, step.finding.close) == (hint, close)


FRACTIONS = {
    "q": [[1 / 2, 1, 0], [1, -1 / 3, 2], [0, 1, 1], [3 / 4, 0, -1]],
    "k": [[1, 0, 1 / 2], [1 / 3, 1, 0], [-1, 2, 1], [0, 1 / 2, 1]],
    "v": [[1, 0, 2], [1 / 2, 3, -1], [0, 1, 1], [2, -1 / 4, 0]],
}


@pytest.mark.parametrize(
    "trace",
    [
        pytest.param(ac.attention(**FRACTIONS), id="a table"),
        pytest.param(ac.cosine([1, -2, 2], [3, 1, -1.5]), id="a number"),
        pytest.param(ac.cosine([1, -2, 2], [3, 1, -0.499]), id="nearly 0"),
        pytest.param(ac.norm([3, 4, 1]), id="above 1"),
    ],
)
def test_the_decimals_that_are_asked_for_are_enough_and_fewer_are_not(trace: ac.Trace) -> None:
    """Of one decimal nobody can tell, so that no entry is called wrong; the sheet is not, either."""
    result = np.asarray(trace.result)
    marked = trace.check(text(result, 1))
    (step,) = marked.steps
    [asked] = map(int, re.findall(r"at least (\d+) decimals", str(step.hint)))
    assert [trace.check(text(result, decimals)).verdict for decimals in (asked - 1, asked)] == ["wrong", "right"]
    assert "×" not in str(marked)
    assert "wrong" not in str(marked)
    assert "undecided: 0 of 2 marks" in str(marked)


def test_what_is_made_of_a_step_of_too_few_digits_is_not_said_to_be_wrong() -> None:
    steps = {name: step.round(1) for name, step in attention_of(FRACTIONS).items()}
    steps["output"] = steps["weights"] @ np.array(FRACTIONS["v"])
    marked = ac.attention(**FRACTIONS).check({name: text(value, 1) for name, value in steps.items()})
    assert "wrong" not in str(marked)


def attention_of(operands: dict[str, Any]) -> dict[str, Array]:
    q, k, v = (np.array(operands[name]) for name in "qkv")
    scores = q @ k.T
    weights = softmax(scores / np.sqrt(3))
    return {"scores": scores, "scaled": scores / np.sqrt(3), "weights": weights, "output": weights @ v}


@pytest.mark.parametrize(
    ("decimals", "step"), [(2, "weights"), (2, "scaled"), (1, "weights")], ids=["weights", "scores", "one decimal"]
)
def test_fewer_digits_kept_on_the_way_than_are_written_are_told_and_call_nothing_wrong(
    decimals: int, step: str
) -> None:
    """A sheet that says how it was rounded, as the hint asks, is right."""
    kept = attention_of(FRACTIONS)[step].round(decimals)
    weights = kept if step == "weights" else softmax(kept)
    answer = text(weights @ np.array(FRACTIONS["v"]), 3)
    marked = ac.attention(**FRACTIONS).check(answer)
    assert f"may be rounding to {decimals} decimal" in str(marked.steps[0].hint)
    assert "×" not in str(marked)
    declared = ac.attention(**FRACTIONS).check({"steps": {"output": answer}, "rounding": decimals})
    assert declared.verdict == "rounded-early"


def test_a_root_read_off_to_two_decimals_is_told() -> None:
    of = attention_of(FRACTIONS)
    marked = ac.attention(**FRACTIONS).check({"scores": text(of["scores"], 3), "scaled": text(of["scores"] / 1.73, 3)})
    assert marked.steps[1].hint == "right method, √3 taken as 1.73: keep more digits on the way"
    assert marked.verdict == "rounded-early"


def test_rows_that_are_not_done_and_filled_with_zeros_are_told() -> None:
    weights = attention_of(FRACTIONS)["weights"]
    weights[1:] = 0
    (step,) = ac.attention(**FRACTIONS).check({"weights": text(weights, 2)}).steps
    assert "leave blank what is not done" in str(step.hint)


@pytest.mark.parametrize(
    ("last", "answer", "verdict"),
    [
        pytest.param(-0.499, "0.00", "right", id="rounded to two decimals"),
        pytest.param(-0.499, "0.000", "right", id="rounded to three decimals"),
        pytest.param(-0.499, "0.0000", "wrong", id="rounded to four decimals there is more than 0"),
        pytest.param(-0.499, "0", "wrong", id="a whole number is no rounded one"),
        pytest.param(-0.499, 0.0, "wrong", id="nor is a number without digits"),
        pytest.param(-0.497, "0.000", "wrong", id="more than half a unit"),
        pytest.param(-0.4, "0.00", "wrong", id="the value is larger"),
        pytest.param(-0.5, "0.0", "right", id="the value is 0"),
    ],
)
def test_zeros_are_right_of_what_is_0_to_the_decimals_that_are_written(
    last: float, answer: str | float, verdict: str
) -> None:
    assert ac.cosine([1, -2, 2], [3, 1, last]).check({"cosine": answer}).verdict == verdict


def test_a_large_array_of_zeros_is_not_a_rounded_one() -> None:
    small = np.full((80, 80), 1e-3)
    assert ac.residual(small, small).check(np.zeros((80, 80))).verdict == "wrong"


FIRST = [row[:1] for row in V]  # values of another width than there are queries


def queries_and_keys(*, tokens: int) -> dict[str, Array]:
    """Two queries and three keys, the scores divided by the root of one of the numbers of tokens."""
    q, k, v = (np.array(x, float) for x in (Q[:2], K, FIRST))
    scores = q @ k.T
    weights = softmax(scores / np.sqrt(tokens))
    return {"scores": scores, "scaled": scores / np.sqrt(tokens), "weights": weights, "output": weights @ v}


@pytest.mark.parametrize("tokens", [pytest.param(2, id="queries"), pytest.param(3, id="keys")])
def test_the_tokens_of_a_wrong_scale_are_the_queries_or_the_keys(tokens: int) -> None:
    told = found(ac.attention(Q[:2], K, FIRST), queries_and_keys(tokens=tokens), 3)
    assert told == {"scores": "right", "scaled": "att-scale-n", "weights": "follows", "output": "follows"}


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"evidence": 0.08 + 0.25, "posterior": np.array([0.08, 0.225]) / 0.33}, id="in the sum alone"),
        pytest.param(
            {"joint": np.array([0.08, 0.25]), "evidence": 0.33, "posterior": np.array([0.08, 0.25]) / 0.33},
            id="in the products",
        ),
    ],
)
def test_the_factor_of_the_other_hypothesis_may_be_missed_in_two_places(wrong: dict[str, Any]) -> None:
    first, *others = found(ac.bayes([0.1, 0.9], [0.8, 0.25]), wrong, 3).values()
    assert first == "bayes-evidence-no-complement"
    assert set(others) == {"follows"}


def test_a_mean_that_is_not_subtracted_is_named_where_it_should_be() -> None:
    x, root = np.array(ROWS["x"], float), norm()["standard_deviation"]
    told = found(LAYER, {"centered": x, "standard_deviation": root, "normalized": x / root[:, None]}, 3)
    assert told == {"centered": "ln-no-center", "standard_deviation": "right", "normalized": "follows"}


@pytest.mark.parametrize("base", [None, 2, 10])
def test_an_inverse_perplexity_is_named_in_every_base(base: int | None) -> None:
    trace = ac.perplexity(PROBABILITIES, **({} if base is None else {"base": base}))
    assert found(trace, {"perplexity": np.exp(np.log(PROBABILITIES).mean())}, 3) == {"perplexity": "ppl-inverse"}


def test_weights_laid_side_by_side_are_named_whatever_their_width_is() -> None:
    """Two heads of three tokens are six columns wide, where four are asked for."""
    x, square = np.array([[1, 0, 2, -1], [0, 1, 1, 1], [2, -1, 0, 1]]), np.eye(4)
    trace = ac.multihead(x, square[::-1], square, square, square, heads=2)
    weights = np.asarray(trace["weights"])
    told = found(trace, {"concatenated": weights.transpose(1, 0, 2).reshape(3, 6)}, 3)
    assert told == {"concatenated": "mh-merge-weights"}


SAMPLES = {"x": [[1, 2], [3, 1], [0, 1]], "y": [[1, 0, 2], [2, 1, 0], [0, 1, 1]], "w": [[0.5, 1, 0], [1, -0.5, 1]]}


def wide_regression(loss: str) -> tuple[ac.Trace, dict[str, Array]]:
    """A regression with three outputs, and what is worked out of it."""
    x, y, w = (np.array(value, float) for value in SAMPLES.values())
    errors, half = x @ w - y, 0.5 if loss == "half-mse" else 1.0
    steps = {"errors": errors, "loss": half * (errors**2).sum() / 3, "grad_w": half * 2 / 3 * x.T @ errors}
    return ac.linear_regression(**SAMPLES, lr=0.1, loss=loss), steps


@pytest.mark.parametrize("loss", ["mse", "half-mse"])
def test_errors_may_be_the_target_minus_the_prediction(loss: str) -> None:
    trace, steps = wide_regression(loss)
    told = found(trace, steps | {"errors": -steps["errors"]}, 3)
    assert set(told.values()) == {"right"}
    uphill = found(trace, steps | {"errors": -steps["errors"], "grad_w": -steps["grad_w"]}, 3)
    assert uphill == {"errors": "right", "loss": "right", "grad_w": "mse-sign"}


@pytest.mark.parametrize(
    ("loss", "times", "id"),
    [
        pytest.param("mse", 1 / 3, "mse-mean-all", id="averaged over all entries"),
        pytest.param("mse", 1 / 2, "mse-no-2", id="half of it"),
        pytest.param("half-mse", 2, "mse-no-2", id="the whole in place of half of it"),
        pytest.param("half-mse", 3, "mse-no-mean", id="the sum"),
    ],
)
def test_the_constant_of_the_loss_is_named_in_the_loss_itself(loss: str, times: float, id: str) -> None:
    trace, steps = wide_regression(loss)
    told = found(trace, steps | {"loss": times * steps["loss"]}, 3)
    assert told == {"errors": "right", "loss": id, "grad_w": "right"}


NETWORK = {
    "x": [[1, 2], [-1, 0.5], [0.5, -1.5]],
    "y": [[1, 0], [0, 2], [1, 1]],
    "w1": [[0.5, -0.3], [0.2, 0.8]],
    "b1": [0.1, -0.2],
    "w2": [[1, -0.5], [0.3, -0.7]],
    "b2": [0, 0.5],
}


def logistic(z: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-z)))


@pytest.mark.parametrize(
    ("activation", "bend", "slope"),
    [
        pytest.param("sigmoid", logistic, lambda a: a * (1 - a), id="sigmoid"),
        pytest.param("tanh", np.tanh, lambda a: 1 - a**2, id="tanh"),
    ],
)
def test_the_slope_of_an_activation_is_taken_at_the_wrong_place(
    activation: str, bend: Callable[[Array], Array], slope: Callable[[Array], Array]
) -> None:
    x, y, w1, b1, w2, b2 = (np.array(value, float) for value in NETWORK.values())
    a1 = bend(x @ w1 + b1)
    z2 = a1 @ w2 + b2
    delta2 = 2 / 3 * (z2 - y)
    trace = ac.mlp(**NETWORK, activation=activation, lr=0.5)
    delta1 = delta2 @ w2.T * slope(bend(a1))
    told = found(trace, {"delta2": delta2, "delta1": delta1, "grad_w1": x.T @ delta1}, 4)
    assert told == {"delta2": "right", "delta1": "bp-deriv-at-activation", "grad_w1": "follows"}
    assert found(trace, {"delta2": delta2 * slope(bend(z2))}, 4) == {"delta2": "bp-output-deriv-extra"}


def test_the_slope_of_an_activation_that_was_left_out_is_1() -> None:
    """It is no second mistake."""
    x, y, w1, b1, w2, b2 = (np.array(value, float) for value in NETWORK.values())
    a1 = x @ w1 + b1
    delta2 = 2 / 3 * (a1 @ w2 + b2 - y)
    delta1 = delta2 @ w2.T
    steps = {"z1": a1, "a1": a1, "delta2": delta2, "delta1": delta1, "grad_w1": x.T @ delta1}
    told = found(ac.mlp(**NETWORK, activation="sigmoid", lr=0.5), steps, 4)
    assert [*told.values()] == ["right", "ffn-no-activation", *["follows"] * 3]


def tenths(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).integers(-12, 13, shape) / 10


def gated(*, remembers: bool = True, bent: bool = True) -> tuple[ac.Trace, dict[str, Array]]:
    """A GRU that reads three inputs: with the state before or not, its new content bent by tanh or not."""
    x, w_x, w_h, hidden = tenths(1, 3, 3), tenths(2, 3, 6), tenths(3, 2, 6), np.zeros(2)
    steps: dict[str, Array] = {}
    for t, row in enumerate(x, start=1):
        entered, kept = row @ w_x, (hidden if remembers else 0 * hidden) @ w_h
        r, z = logistic(entered[:2] + kept[:2]), logistic(entered[2:4] + kept[2:4])
        new = entered[4:] + r * kept[4:]
        new = np.tanh(new) if bent else new
        hidden = (1 - z) * new + z * hidden
        made = {"from_input": entered, "from_state": kept, "gates": np.array([r, z, new]), "hidden": hidden}
        steps |= {f"time step {t}/{name}": value for name, value in made.items()}
    return ac.rnn(x, w_x, w_h, kind="gru"), steps


def test_scores_of_the_right_tokens_are_no_logarithms() -> None:
    logits, targets = np.array([[1, 2, 0], [0.3, 1, 2], [2, 0, 1], [0, 0.5, -3]]), [1, 2, 0, 1]
    scores = logits[range(4), targets]
    steps = {"log_likelihood": scores, "loss": -scores.mean(), "perplexity": np.exp(-scores.mean())}
    told = found(ac.next_token_loss(logits, targets), steps, 3)
    assert [*told.values()] == ["ce-logit", "follows", "follows"]


def test_a_reference_that_is_left_out_is_missed_where_it_is_taken_off() -> None:
    chosen, rejected, ref_chosen, ref_rejected = np.array(
        [[-2, -3, -1.5], [-2.5, -2, -4], [-2.5, -3, -2], [-2, -2, -3]]
    )
    margins = 0.5 * (chosen - rejected)
    steps = {"log_ratios_chosen": chosen, "log_ratios_rejected": rejected, "margins": margins}
    losses = np.log(1 + np.exp(-margins))
    told = found(
        ac.preference_loss(chosen, rejected, ref_chosen, ref_rejected, beta=0.5),
        steps | {"losses": losses, "loss": losses.mean()},
        3,
    )
    assert [*told.values()] == ["dpo-no-reference", "dpo-no-reference", "follows", "follows", "follows"]


def test_both_ways_of_a_contrastive_loss_may_be_sums() -> None:
    a, b = np.array([[3, 4], [1, 0.5], [0, 2]]), np.array([[0.5, 1], [4, 3], [1, -1]])
    unit_a, unit_b = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (a, b))
    logits = 2 * unit_a @ unit_b.T
    one, other = (-np.log(softmax(logits, axis)).trace() for axis in (1, 0))
    steps = {"logits": logits, "loss_a": one, "loss_b": other, "loss": (one + other) / 2}
    told = found(ac.contrastive_loss(a, b, temperature=0.5), steps, 4)
    assert [*told.values()] == ["right", "clip-sum", "clip-sum", "follows"]


FORGOTTEN = ["right", "rnn-no-state", "follows", "follows"]


@pytest.mark.parametrize(
    ("student", "told"),
    [
        pytest.param({"remembers": False}, [*["right"] * 4, *FORGOTTEN, *FORGOTTEN], id="the state is forgotten"),
        pytest.param(
            {"bent": False},
            ["right", "right", "rnn-no-tanh", "follows", *["right", "follows", "follows", "follows"] * 2],
            id="new content is not bent",
        ),
    ],
)
def test_what_a_gru_lacks_is_named(student: dict[str, bool], told: list[str]) -> None:
    trace, steps = gated(**student)
    assert [*found(trace, steps, 4).values()] == told


@pytest.mark.parametrize("decimals", [4, None], ids=["by hand", "in a machine"])
def test_a_mistake_that_is_made_again_on_what_it_has_left_follows(decimals: int | None) -> None:
    """However its writer has carried on what was wrong, it costs the same."""

    def kept(value: Array) -> Array:
        return value if decimals is None else value.round(decimals)

    x = np.array([[2, 3, 3, -3], [-3, -2, 3, 2], [-2, -3, 2, 1]], float)
    gamma, beta = (np.array(ROWS[name]) for name in ("gamma", "beta"))
    centred = kept(x - kept(x.mean(0)))
    normalized = kept(centred / kept(np.sqrt(kept((centred**2).mean(0)) + 0.1)))
    steps = {"centered": centred, "normalized": normalized, "output": gamma * normalized + beta}
    assert [*found(ac.layernorm(x, gamma, beta, eps=0.1), steps, 4).values()] == ["ln-axis0", "follows", "follows"]


def experts(*, everybody: bool = False, alike: bool = False) -> tuple[ac.Trace, dict[str, Array]]:
    """Two of three experts, of which all are asked, or those chosen count alike."""
    x, router, w1, w2 = tenths(4, 3, 4), tenths(5, 4, 3), tenths(6, 3, 4, 2), tenths(7, 3, 2, 4)
    probabilities = softmax(x @ router)
    chosen = probabilities > probabilities.min(1, keepdims=True)
    taken = probabilities if everybody else np.where(chosen, probabilities, 0)
    gates = chosen / 2 if alike else taken / taken.sum(1, keepdims=True)
    output = np.einsum("ne,end->nd", gates, np.maximum(x @ w1, 0) @ w2)
    trace = ac.experts(x, router, w1=w1, w2=w2, top=2, activation="relu")
    return trace, {"probabilities": probabilities, "taken": taken, "gates": gates, "output": output}


def test_experts_that_are_all_asked_or_count_alike_are_named() -> None:
    assert [*found(*experts(), 3).values()] == ["right"] * 4
    assert [*found(*experts(everybody=True), 3).values()] == ["right", "experts-all", "follows", "follows"]
    assert [*found(*experts(alike=True), 3).values()] == ["right", "right", "experts-no-gates", "follows"]


@pytest.mark.parametrize("mistake", ["ln-ddof1", "ln-eps-outside"])
def test_a_mistake_in_one_row_alone_is_named_there(mistake: str) -> None:
    right, wrong = norm(), norm(ddof=mistake == "ln-ddof1", outside=mistake == "ln-eps-outside")
    output = np.array([right["output"][0], wrong["output"][1]])
    (step,) = LAYER.check({"output": text(output, 4)}).steps
    assert step.mistake == mistake
    assert step.finding.mistakes == (mistake,)


def test_squares_of_what_is_centred_are_named_where_they_are_written() -> None:
    x, gamma = np.array(ROWS["x"], float), np.array(ROWS["gamma"])
    squares = (x - x.mean(1, keepdims=True)) ** 2
    root = np.sqrt(squares.mean(1) + 0.1)
    steps = {"squares": squares, "root_mean_square": root, "output": gamma * x / root[:, None]}
    assert [*found(ac.rmsnorm(x, gamma, eps=0.1), steps, 3).values()] == ["rms-var", "follows", "follows"]


def backward(*, scale: float) -> dict[str, Array]:
    forward, upstream = attention(), np.array([[1, 0], [0, 1], [2, -1]], float)
    weights, (q, k, v) = forward["weights"], (np.array(x, float) for x in (Q, K, V))
    grad_weights = upstream @ v.T
    grad_scaled = weights * (grad_weights - (grad_weights * weights).sum(1, keepdims=True))
    grad_scores = grad_scaled / scale
    gradients = {"grad_k": grad_scores.T @ q, "grad_q": grad_scores @ k}
    return forward | {"grad_scaled": grad_scaled, "grad_scores": grad_scores} | gradients


@pytest.mark.thorough
@pytest.mark.parametrize(("scale", "mistake"), [(1, "datt-no-scale"), (4, "datt-scale-dk")])
def test_a_gradient_goes_with_the_step_that_it_is_taken_in(scale: float, mistake: str) -> None:
    upstream = [[1, 0], [0, 1], [2, -1]]
    sheet = found(ATTENTION.grad(upstream), backward(scale=scale), 3)
    assert sheet["grad_scaled"] == "right"
    assert (sheet["grad_scores"], sheet["grad_k"], sheet["grad_q"]) == (mistake, "follows", "follows")


def test_a_gradient_of_scores_that_were_scaled_first_is_right() -> None:
    steps = backward(scale=1)
    halved = {name: steps[name] / 2 for name in ("scores", "grad_k", "grad_q")}
    sheet = found(ATTENTION.grad([[1, 0], [0, 1], [2, -1]]), steps | halved, 3)
    assert set(sheet.values()) <= {"right", "missing"}


@pytest.mark.thorough
@pytest.mark.parametrize(("ahead", "told"), [(0, "right"), (1, "mask-offset"), (-1, "mask-strict"), (2, "unexplained")])
def test_a_triangle_at_another_place_is_told_apart(ahead: int, told: str) -> None:
    random = np.random.default_rng(5)
    q, k, v = (random.normal(size=(4, 3)).round(1) for _ in range(3))
    masked = np.where(np.tri(4, k=ahead, dtype=bool), q @ k.T / np.sqrt(3), -np.inf)
    assert found(ac.attention(q, k, v, causal=True), {"masked": masked}, 3) == {"masked": told}


@pytest.mark.parametrize(
    ("trace", "answer", "verdict"),
    [
        pytest.param(ac.norm([2.2, -2.7, -2.3, -2.7]), "4.9609", "wrong", id="4.9709"),
        pytest.param(
            ac.log_softmax([0.3, 1.9, -0.5, 1.7]), ["-2.3437", "-0.7473", "-3.1473", "-0.9473"], "wrong", id="−2.3473"
        ),
        pytest.param(ac.kl([0.3, 0.35, 0.1, 0.25], [0.1, 0.35, 0.35, 0.2]), "0.2500", "wrong", id="0.2601"),
        pytest.param(
            ac.kl([0.1, 0.2, 0.35, 0.35], [0.15, 0.05, 0.4, 0.4]), "0.16", "rounded-early", id="0.28 − 3·0.04"
        ),
    ],
)
def test_one_manner_of_rounding_gives_every_entry_or_it_is_wrong(trace: ac.Trace, answer: Any, verdict: str) -> None:
    assert trace.check(answer).verdict == verdict


@pytest.mark.parametrize("seed", range(3))
def test_one_mean_for_all_rows_may_be_written_once_a_row(seed: int) -> None:
    """A step that is filled with one number is void, unless a mistake gives it."""
    x = np.random.default_rng(seed).integers(-9, 10, (3, 4)).astype(float)
    mean = np.full(3, x.mean())
    centred = x - mean[:, None]
    variance = np.full(3, (centred**2).mean())
    root = np.sqrt(variance + 0.1)
    steps = {"mean": mean, "centered": centred, "variance": variance, "standard_deviation": root}
    steps |= {"normalized": centred / root[:, None]}
    once = steps | {"mean": mean[0], "variance": variance[0], "standard_deviation": root[0]}
    parts = {name: once[name] for name in ("variance", "standard_deviation", "normalized")}
    for sheet in (steps, once, parts):
        assert [*found(ac.layernorm(x, eps=0.1), sheet, 3).values()] == ["ln-global", *["follows"] * (len(sheet) - 1)]


def test_one_scale_for_a_whole_tensor_may_be_written_once_a_row() -> None:
    x = np.array([[1.53, -0.71, 0.2], [0.3, 0.94, -0.4]])
    largest = np.full(2, 1.53)
    told = found(ac.quantize(x, per="row"), {"largest": largest, "scale": largest / 127}, 5)
    assert [*told.values()] == ["quantize-per-tensor", "follows"]


@pytest.mark.parametrize(
    ("step", "mistake"),
    [
        ("q_rotated", "rope-k-only"),
        ("scaled", "att-no-scale"),
        ("weights", "att-softmax-cols"),
        ("heads", "att-p-transposed"),
        ("concatenated", "mh-merge-reshape"),
        ("output", "mh-wo-transposed"),
    ],
)
def test_an_attention_through_a_latent_has_the_mistakes_of_every_other(step: str, mistake: str) -> None:
    """Each in one step, and carried on from there."""
    x, wuq, wqr, wdkv, wuk, wuv, wkr, wo = (tenths(i, 4, 4) for i in range(20, 28))
    wdkv, wuk, wuv, wkr = wdkv[:, :3], wuk[:3], wuv[:3], wkr[:, :2]

    def split(rows: Array) -> Array:
        return rows.reshape(4, 2, 2).swapaxes(0, 1)

    def turned(pairs: Array) -> Array:
        angles = np.arange(4)
        a, b = pairs[..., 0], pairs[..., 1]
        return np.stack([a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)], -1)

    q_rope = split(x @ wqr)
    q_rotated = q_rope if step == "q_rotated" else turned(q_rope)
    latent = x @ wdkv
    scores = split(x @ wuq) @ split(latent @ wuk).swapaxes(1, 2) + q_rotated @ turned(x @ wkr).T
    scaled = scores / (1 if step == "scaled" else 2)
    weights = softmax(scaled, 1 if step == "weights" else -1)
    heads = (weights.swapaxes(1, 2) if step == "heads" else weights) @ split(latent @ wuv)
    concatenated = (heads if step == "concatenated" else heads.swapaxes(0, 1)).reshape(4, 4)
    output = concatenated @ (wo.T if step == "output" else wo)
    steps = {"q_rotated": q_rotated, "scores": scores, "scaled": scaled, "weights": weights}
    steps |= {"heads": heads, "concatenated": concatenated, "output": output}
    given = {"wuq": wuq, "wqr": wqr, "wdkv": wdkv, "wuk": wuk, "wuv": wuv, "wkr": wkr, "wo": wo}
    told = found(ac.latent_attention(x, weights=given, heads=2), steps, 4)
    at = [*steps].index(step)
    assert [*told.values()] == ["right"] * at + [mistake] + ["follows"] * (len(steps) - at - 1)


@pytest.mark.parametrize(("base", "whole"), [(10, np.mean), (2, np.mean), (np.e, np.sum)])
def test_losses_that_compare_have_the_mistakes_of_a_cross_entropy(base: float, whole: Callable[[Array], float]) -> None:
    margins = np.array([0.1, -0.05, 0.15])
    losses = np.log(1 + np.exp(-margins)) / np.log(base)
    steps = {"margins": margins, "losses": losses, "loss": whole(losses)}
    told = found(ac.preference_loss([-2, -3, -1.5], [-2.5, -2, -4], [-2.5, -3, -2], [-2, -2.5, -3]), steps, 4)
    mistakes = ["right", "dpo-sum"] if base == np.e else [f"ce-log{base}", "follows"]
    assert [*told.values()] == ["right", *mistakes]


def test_a_temperature_that_is_left_out_is_missed() -> None:
    logits = np.array([2, 1.5, 1, 0.5, -1])
    told = found(ac.sampling(logits, temperature=0.5, top_k=4), {"probabilities": softmax(logits)}, 3)
    assert told == {"probabilities": "sampling-temperature-ignored"}


@pytest.mark.spread(3)
@pytest.mark.parametrize(
    ("held", "gives", "after"),
    [
        ("dln-divisor-fixed", lambda gn, gc, sd: (gn / sd, gn / sd - (gn / sd).mean(-1, keepdims=True)), ["follows"]),
        ("dln-mean-fixed", lambda gn, gc, sd: (gc, gc), []),
        ("dln-statistics-fixed", lambda gn, gc, sd: (None, gn / sd), []),
    ],
)
@pytest.mark.parametrize(("norm", "number", "to"), [("post", 2, "grad_residual2"), ("pre", 1, "grad_x")])
def test_what_a_norm_of_a_layer_takes_from_its_input_is_held_fixed(
    norm: str, number: int, to: str, held: str, gives: Any, after: list[str]
) -> None:
    """What goes past the norm is added as it should be."""
    operands = {name: np.array(value, float) for name, value in BLOCK.items()}
    trace = ac.encoder_block(**operands, heads=2, norm=norm, eps=0.1).grad(upstream=np.array(whole(8, 3, 4), float))
    of = f"norm{number}"
    gn, gc, sd = (trace[f"{of}/{name}"] for name in ("grad_normalized", "grad_centered", "standard_deviation"))
    centred, back = gives(gn, gc, sd[:, None])
    past = {"grad_residual1": trace["grad_residual1"]} if norm == "pre" else {}
    sheet = {f"{of}/grad_normalized": gn, f"{of}/grad_centered": centred, to: sum(past.values(), back)} | past
    told = found(trace, {name: value for name, value in sheet.items() if value is not None}, 4)
    assert [word for word in told.values() if word != "right"] == [held, *after]
