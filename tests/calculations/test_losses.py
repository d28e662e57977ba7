"""Losses: torch's conventions worked another way, what students mix up, what is infinite, what is refused."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import attncalc as ac
from attncalc.common.errors import AttncalcError

Array = NDArray[Any]
few = settings(max_examples=30)

LOGITS = np.array([[2, 1, 0.1], [0.5, 2.5, -1], [0, 0.3, 1.2]])
TARGET = np.array([0, 1, 1])
WEIGHTS = np.array([1, 2, 0.5])
SOFT = np.array([[1, 0, 0], [0, 0.9, 0.1], [0.25, 0.5, 0.25]])

# (target, class weights, label smoothing) → the mean of torch.nn.functional.cross_entropy, of PyTorch 2.13.0 in float64
TORCH: list[tuple[Any, bool, float, float]] = [
    ([0, 1, 1], False, 0, 0.6684643535874883),
    ([0, 1, 1], False, 0.1, 0.755131020254155),
    ([0, 1, 1], True, 0, 0.7187512210494192),
    ([0, 1, 1], True, 0.1, 0.7373352703622681),
    ([0, -100, 2], False, 0, 0.47610742682008833),
    ([0, -100, 2], False, 0.1, 0.5594407601534217),
    ([0, -100, 2], True, 0, 0.45641495663933673),
    ([0, -100, 2], True, 0.1, 0.6170568384807501),
    (SOFT, False, 0, 0.7351310202541551),
    (SOFT, False, 0.1, 0.815131020254155),
]
TORCH_WEIGHTED_SHARES = 0.9370962836090962  # over the number of rows, where ours is over Σ weights·target

logits = arrays(np.float64, (3, 4), elements=st.floats(-30, 30))
targets = st.lists(st.integers(0, 3), min_size=3, max_size=3)


def by_precise_numbers(scores: Array, target: Array) -> list[float]:
    """Each row's loss to fifty digits."""
    with mpmath.workdps(50):
        return [
            float(mpmath.log(mpmath.fsum(mpmath.exp(z) for z in row.tolist())) - mpmath.mpf(float(row[c])))
            for row, c in zip(scores, target, strict=True)
        ]


def as_torch_does(
    scores: Array, target: Array, weight: Array, *, smoothing: float, ignored: int, reduction: str
) -> float | Array:
    """torch.nn.functional.cross_entropy for classes told by their numbers, in its two parts: nll and smooth loss."""
    logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    keep = target != ignored
    place = np.where(keep, target, 0)
    nll = np.where(keep, -weight[place] * logs[np.arange(len(target)), place], 0)
    smooth = np.where(keep, -(logs * weight).sum(axis=1), 0)
    if reduction == "mean":
        divisor = weight[place][keep].sum()
        return float((1 - smoothing) * nll.sum() / divisor + smoothing / scores.shape[1] * smooth.sum() / divisor)
    each = np.asarray((1 - smoothing) * nll + smoothing / scores.shape[1] * smooth)
    return float(each.sum()) if reduction == "sum" else each


class TestCrossEntropy:
    def test_is_minus_the_logarithm_of_the_right_probability(self) -> None:
        t = ac.cross_entropy(LOGITS, TARGET)
        assert_allclose(t["losses"], by_precise_numbers(LOGITS, TARGET), rtol=0, atol=1e-15)
        assert float(t.result) == pytest.approx(0.66846, abs=5e-6)

    @pytest.mark.thorough
    @pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
    @pytest.mark.parametrize("smoothing", [0, 0.1, 1], ids="smoothing={}".format)
    @pytest.mark.parametrize("ignored", [-100, 1], ids="ignored={}".format)
    def test_does_as_torch_does(self, reduction: str, smoothing: float, ignored: int) -> None:
        target = np.array([0, ignored, 2])
        t = ac.cross_entropy(
            LOGITS,
            target,
            class_weights=WEIGHTS,
            reduction=reduction,
            label_smoothing=smoothing,
            ignore_index=ignored,
        )
        expected = as_torch_does(LOGITS, target, WEIGHTS, smoothing=smoothing, ignored=ignored, reduction=reduction)
        assert_allclose(t.result, expected, rtol=1e-14)

    @pytest.mark.parametrize(("target", "weighted", "smoothing", "expected"), TORCH)
    def test_is_torch_s_number(self, target: Any, weighted: bool, smoothing: float, expected: float) -> None:
        options: dict[str, Any] = {"ignore_index": -100} if np.ndim(target) == 1 else {}
        options |= {"class_weights": WEIGHTS} if weighted else {}
        t = ac.cross_entropy(LOGITS, target, label_smoothing=smoothing, **options)
        assert float(t.result) == pytest.approx(expected, rel=1e-15)

    def test_weighted_shares_divide_by_their_weights_and_say_that_torch_does_not(self) -> None:
        t = ac.cross_entropy(LOGITS, SOFT, class_weights=WEIGHTS)
        assert float(t.result) == pytest.approx(TORCH_WEIGHTED_SHARES * 3 / (SOFT @ WEIGHTS).sum(), rel=1e-14)
        assert any("torch: by the number of rows" in note for note in t.notes)

    def test_one_hot_rows_give_what_class_numbers_give(self) -> None:
        for options in ({}, {"class_weights": WEIGHTS}, {"label_smoothing": 0.2, "class_weights": WEIGHTS}):
            by_number = ac.cross_entropy(LOGITS, TARGET, **options)
            by_row = ac.cross_entropy(LOGITS, np.eye(3)[TARGET], **options)
            assert_allclose(by_row.result, by_number.result, rtol=1e-15)
            assert any("one-hot" in note for note in by_row.notes)
            assert any("numbers of the right classes" in note for note in by_number.notes)

    def test_shares_of_the_classes_weigh_the_logarithms(self) -> None:
        t = ac.cross_entropy(LOGITS, SOFT, reduction="none")
        logs = np.array([[-math.log(math.fsum(np.exp(row - z))) for z in row] for row in LOGITS])
        assert_allclose(t.result, [-SOFT[i] @ logs[i] for i in range(3)], rtol=1e-14)
        assert any("probabilities" in note for note in t.notes)

    def test_a_square_of_scores_and_as_many_numbers_are_a_class_for_each_row(self) -> None:
        assert ac.cross_entropy(LOGITS, [0, 1, 1])["losses"].shape == (3,)

    def test_one_row_of_scores_and_one_class(self) -> None:
        assert_allclose(ac.cross_entropy(LOGITS[0], 2).result, by_precise_numbers(LOGITS[:1], TARGET[:1] + 2)[0])

    def test_the_mean_is_over_every_row_of_a_batch(self) -> None:
        batch = np.stack([LOGITS, 2 * LOGITS])
        t = ac.cross_entropy(batch, [TARGET, TARGET[::-1]])
        alone = [ac.cross_entropy(z, y).result for z, y in zip(batch, [TARGET, TARGET[::-1]], strict=True)]
        assert float(t.result) == pytest.approx(np.mean(alone), rel=1e-15)

    @pytest.mark.parametrize("base", [2, 10])
    def test_a_base_is_a_factor(self, base: int) -> None:
        natural = ac.cross_entropy(LOGITS, TARGET)
        t = ac.cross_entropy(LOGITS, TARGET, base=base)
        assert_allclose(t["log_probabilities"], natural["log_probabilities"] / math.log(base), rtol=1e-15)
        assert_allclose(t.grad().result, natural.grad().result / math.log(base), rtol=1e-14)

    def test_probabilities_in_place_of_scores(self) -> None:
        p = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
        for t in (
            ac.cross_entropy(p, TARGET, from_probabilities=True),
            ac.cross_entropy(probabilities=p, target=TARGET),
        ):
            assert_allclose(t.result, ac.cross_entropy(LOGITS, TARGET).result, rtol=1e-14)

    @pytest.mark.parametrize("apart", [800, 1e5, 1e200])
    def test_scores_whose_probabilities_vanish_have_a_loss(self, apart: float) -> None:
        assert float(ac.cross_entropy([apart, 0], 1).result) == apart
        assert_allclose(ac.cross_entropy([apart, 0], 1).grad().result, [1, -1])

    def test_a_tiny_probability_keeps_its_logarithm(self) -> None:
        assert float(ac.cross_entropy([740, 0], 1).result) == 740  # e^−740 is subnormal: only three digits are left

    def test_a_class_that_is_ruled_out(self) -> None:
        t = ac.cross_entropy(probabilities=[0.7, 0.3, 0], target=2)
        assert t.result == np.inf
        assert "the probability of the right class is 0" in t.warnings[0]
        masked = ac.cross_entropy([1, 2, -np.inf], 1)
        assert_allclose(masked.result, math.log(1 + math.exp(-1)))
        assert_allclose(masked.grad().result, [1 / (1 + math.e), -1 / (1 + math.e), 0])

    def test_no_weight_on_what_is_impossible_costs_nothing(self) -> None:
        t = ac.cross_entropy(probabilities=[0.5, 0.5, 0], target=[0.5, 0.5, 0], base=2)
        assert float(t.result) == 1
        assert_allclose(t.grad().result, np.array([-1, -1, 0]) / math.log(2))


class TestGradient:
    @pytest.mark.parametrize("reduction", ["mean", "sum"])
    def test_is_p_minus_y_over_n(self, reduction: str) -> None:
        t = ac.cross_entropy(LOGITS, TARGET, reduction=reduction).grad(gradcheck=True)
        p = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
        assert_allclose(t.result, (p - np.eye(3)[TARGET]) / (3 if reduction == "mean" else 1), atol=1e-15)
        check = t.outputs[0].check
        assert check is not None
        assert check.agrees

    def test_reads_as_a_student_writes_it(self) -> None:
        t = ac.cross_entropy(LOGITS, TARGET).grad()
        names = [step.name for step in t.steps]
        assert names[4:] == ["grad_loss", "grad_losses", "grad_log_probabilities", "grad_logits"]
        assert t.find("grad_log_probabilities").formula == "onehot(target) ⊙ (−∂L/∂losses)"
        last = t.find("grad_logits")
        assert last.formula == "∂L/∂log_probabilities − probabilities ⊙ Σ ∂L/∂log_probabilities"
        assert last.why.startswith("straight past probabilities, by both slopes in one: raising a score raises")
        assert last.why.endswith("where −c comes in at one entry alone, this is c·(probabilities, less 1 there)")

    def test_none_is_of_the_target(self) -> None:
        assert [step.name for step in ac.cross_entropy(LOGITS, SOFT, class_weights=WEIGHTS).grad().outputs] == [
            "grad_logits"
        ]

    def test_an_ignored_row_is_not_felt(self) -> None:
        t = ac.cross_entropy(LOGITS, [0, -100, 1], ignore_index=-100).grad()
        assert_array_equal(t.result[1], 0)
        assert_allclose(t.result[[0, 2]], ac.cross_entropy(LOGITS[[0, 2]], [0, 1]).grad().result)

    def test_has_no_minus_zero(self) -> None:
        t = ac.cross_entropy(LOGITS, TARGET).grad()
        for step in t.steps:
            assert not np.signbit(step.value[step.value == 0]).any() if step.value is not None else True


class TestLaws:
    @pytest.mark.thorough
    @few
    @given(logits, targets, st.floats(-100, 100))
    def test_a_shift_of_all_scores_changes_nothing(self, z: Array, y: list[int], shift: float) -> None:
        assert_allclose(ac.cross_entropy(z + shift, y).result, ac.cross_entropy(z, y).result, atol=1e-12)

    @pytest.mark.thorough
    @few
    @given(logits, targets)
    def test_gradients_of_a_row_cancel(self, z: Array, y: list[int]) -> None:
        assert_allclose(ac.cross_entropy(z, y).grad().result.sum(axis=1), 0, atol=1e-15)

    @pytest.mark.thorough
    @few
    @given(logits, targets)
    def test_no_loss_is_below_zero(self, z: Array, y: list[int]) -> None:
        t = ac.cross_entropy(z, y)
        assert (t["losses"] >= 0).all()
        assert_allclose(t["losses"], by_precise_numbers(z, np.array(y)), rtol=1e-12, atol=1e-14)

    @pytest.mark.thorough
    @few
    @given(logits)
    def test_the_best_forecast_of_shares_is_the_shares(self, z: Array) -> None:
        p = ac.softmax(z).result
        assert_allclose(ac.cross_entropy(z, p).result, np.mean([ac.entropy(row).result for row in p]), atol=1e-12)
        assert_allclose(ac.cross_entropy(z, p).grad().result, 0, atol=1e-15)


class TestNextToken:
    def test_perplexity_is_e_to_the_loss(self) -> None:
        t = ac.next_token_loss(LOGITS, TARGET)
        assert_allclose(t["log_likelihood"], np.negative(by_precise_numbers(LOGITS, TARGET)), atol=1e-15)
        assert [step.name for step in t.outputs] == ["loss", "perplexity"]
        assert_allclose(t["perplexity"], math.exp(float(t["loss"])), rtol=1e-15)

    def test_a_model_that_knows_nothing_is_as_perplexed_as_the_vocabulary_is_large(self) -> None:
        assert_allclose(ac.next_token_loss(np.zeros((5, 7)), [0, 1, 2, 3, 4])["perplexity"], 7, rtol=1e-14)

    def test_the_gradient_is_cross_entropy_s(self) -> None:
        t = ac.next_token_loss(LOGITS, TARGET).grad(gradcheck=True)
        assert_allclose(t.result, ac.cross_entropy(LOGITS, TARGET).grad().result, rtol=1e-15)
        assert "probabilities ⊙ Σ" in t.find("grad_logits").formula

    def test_each_sequence_of_a_batch_has_its_loss(self) -> None:
        t = ac.next_token_loss([LOGITS, LOGITS], [TARGET, TARGET[::-1]])
        assert_allclose(t.result, [ac.next_token_loss(LOGITS, y).result for y in (TARGET, TARGET[::-1])])

    def test_a_token_that_was_ruled_out(self) -> None:
        t = ac.next_token_loss([[0, -np.inf], [0, 0]], [1, 0])
        assert t.result == np.inf
        assert "log_likelihood[0] is −∞" in t.warnings[0]


class TestPerplexity:
    @pytest.mark.parametrize("base", ["e", 2, 10])
    def test_is_the_same_in_every_base(self, base: Any) -> None:
        t = ac.perplexity([0.5, 0.25, 0.125, 0.8, 0.1], base=base)
        assert_allclose(t.result, (0.5 * 0.25 * 0.125 * 0.8 * 0.1) ** (-1 / 5), rtol=1e-14)
        logarithm: Any = {"e": math.log, 2: math.log2, 10: math.log10}[base]
        assert_allclose(t["mean_negative_log"], logarithm(float(t.result)), rtol=1e-14)

    def test_two_bits_are_four_choices(self) -> None:
        t = ac.perplexity([0.5, 0.25, 0.125], base=2)
        assert (float(t["mean_negative_log"]), float(t.result)) == (2, 4)
        assert t.find("perplexity").formula == "2^mean_negative_log"

    def test_a_slope_to_the_power(self) -> None:
        found = ac.perplexity([0.5, 0.25], base=2).grad(gradcheck=True)
        assert_allclose(found.result, -math.sqrt(8) / 2 / np.array([0.5, 0.25]), rtol=1e-14)
        assert "a^x·ln a" in found.find("grad_mean_negative_log").why

    def test_what_was_impossible_and_came(self) -> None:
        t = ac.perplexity([0.5, 0])
        assert t.result == np.inf
        assert "probabilities[1] is 0" in t.warnings[0]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a class beyond the last": (
        {"logits": LOGITS, "target": [0, 1, 3]},
        r"target\[2\] = 3 is not one of the 3 positions of C",
    ),
    "a class where there is one": ({"logits": [[2]], "target": [1]}, r"target\[0\] = 1 is not 0, the only one of C"),
    "a class below the first": ({"logits": LOGITS, "target": [0, 1, -1]}, r"target\[2\] = -1 is not one"),
    "half a class": ({"logits": LOGITS, "target": [0, 0.5, 1]}, r"target\[1\] = 0.5 is not one"),
    "too few classes": ({"logits": LOGITS, "target": [0, 1]}, "n=2"),
    "shares that do not sum to 1": ({"logits": LOGITS, "target": SOFT * 0.5}, r"row 0 of target .* sums to 0.5"),
    "probabilities that do not": (
        {"logits": LOGITS, "target": TARGET, "from_probabilities": True},
        r"logits\[0,0\] = 2 is above 1",
    ),
    "both": ({"logits": LOGITS, "probabilities": SOFT, "target": TARGET}, "both were given"),
    "no target": ({"logits": LOGITS}, "target is missing"),
    "no scores": ({"target": TARGET}, r"logits \(or --probabilities\) is missing"),
    "a row that is masked": ({"logits": [[-np.inf, -np.inf]], "target": [0]}, "row 0 of logits .* −∞ throughout"),
    "nothing left": ({"logits": LOGITS, "target": [7, 7, 7], "ignore_index": 7}, "every target is 7"),
    "an ignored row of shares": ({"logits": LOGITS, "target": SOFT, "ignore_index": 0}, "--ignore-index goes with"),
    "too much smoothing": ({"logits": LOGITS, "target": TARGET, "label_smoothing": 1.5}, "--label-smoothing must be"),
    "another base": ({"logits": LOGITS, "target": TARGET, "base": 3}, "--base must be e, 2 or 10"),
    "a weight below 0": ({"logits": LOGITS, "target": TARGET, "class_weights": [1, -1, 1]}, r"class_weights\[1\]"),
    "a row of shares for a batch": (
        {"logits": [LOGITS, LOGITS], "target": [[0, 0, 1]] * 3},
        "the scores are b=2 × h=3 × C=3 but target is",
    ),
    "a table of shares for a batch of as many rows as classes": (
        {"logits": [LOGITS] * 3, "target": [[[0, 0, 1]] * 3]},
        "the scores are b=3 × h=3 × C=3 but target is h=3 × C=3",
    ),
    "as many weights as classes": ({"logits": LOGITS, "target": TARGET, "class_weights": [1, 1]}, "C=2"),
}


@pytest.mark.parametrize(("given_", "message"), REFUSED.values(), ids=REFUSED)
def test_refuses(given_: dict[str, Any], message: str) -> None:
    with pytest.raises(AttncalcError, match=message):
        ac.cross_entropy(**given_)


def test_refuses_a_token_outside_the_vocabulary() -> None:
    with pytest.raises(AttncalcError, match=r"targets\[0\] = 3 is not one of the 3 positions of V"):
        ac.next_token_loss(LOGITS, [3, 0, 0])


def test_refuses_what_is_no_probability() -> None:
    with pytest.raises(AttncalcError, match=r"probabilities\[1\] = 1.5 is above 1"):
        ac.perplexity([0.5, 1.5])
