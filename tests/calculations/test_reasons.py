"""Reasons that change with the options, so that each is true of what was computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

import attncalc as ac

X = [[1.0, 2.0, 4.0, 0.0], [0.0, 1.0, 3.0, 1.0]]
LOGITS, CLASSES, SHARES = [[1, 2, 0], [0, 1, 3]], [1, 2], [[0.5, 0.5, 0], [0, 0, 1]]


class Reason(NamedTuple):
    """Words that the reason of a step holds, and words that would be false of it."""

    call: Callable[[], ac.Trace]
    step: str
    holds: str
    lacks: str = ""


REASONS = {
    "a cube is no square": Reason(lambda: ac.norm([3, -4], p=3), "powers", "large entries", "squaring"),
    "a root makes small entries count": Reason(lambda: ac.norm([3, -4], p=0.5), "powers", "small entries"),
    "p = 1 takes no root": Reason(lambda: ac.norm([3, -4], p=1), "norm", "changes nothing"),
    "no ε": Reason(lambda: ac.layernorm(X, eps=0), "standard_deviation", "the root", "ε"),
    "no ε of a root mean square": Reason(lambda: ac.rmsnorm(X, eps=0), "root_mean_square", "typical", "ε"),
    "a norm without a shift": Reason(lambda: ac.rmsnorm(X), "output", "no gain was given", "shift"),
    "another scale": Reason(lambda: ac.attention(X, scale=0.5), "scaled", "takes the place"),
    "one head's slope": Reason(lambda: ac.attention(X, bias="alibi"), "biased", "a single head", "from head to head"),
    "numbers are added": Reason(lambda: ac.attention(X, mask=[[0, -1.5]]), "masked", "numbers are added"),
    "i and j": Reason(lambda: ac.attention(X, causal=True), "masked", "query i, key j", "added"),
    "α is 1": Reason(lambda: ac.residual(X, X), "scaled", "counts in full", "below 1"),
    "α is not 1": Reason(lambda: ac.residual(X, X, alpha=0.5), "scaled", "below 1"),
    "one class is right": Reason(lambda: ac.cross_entropy(LOGITS, CLASSES), "losses", "certain of it"),
    "several classes share": Reason(lambda: ac.cross_entropy(LOGITS, SHARES), "losses", "share", "certain"),
    "a smoothed target": Reason(
        lambda: ac.cross_entropy(LOGITS, CLASSES, label_smoothing=0.1), "losses", "share of the target", "certain"
    ),
    "classes have weights": Reason(
        lambda: ac.cross_entropy(LOGITS, CLASSES, class_weights=[1, 2, 3]), "losses", "times the weight", "certain"
    ),
    "rows are ignored": Reason(lambda: ac.cross_entropy(LOGITS, CLASSES, ignore_index=1), "losses", "0 for the rows"),
    "neighbours make a pair": Reason(lambda: ac.rope(X), "rotated", "neighbours"),
    "halves make a pair": Reason(lambda: ac.rope(X, layout="half"), "rotated", "half the width apart", "neighbours"),
    "turned back": Reason(lambda: ac.rope(X, inverse=True), "rotated", "a·cos + b·sin, b·cos − a·sin"),
    "nothing beyond the edges": Reason(lambda: ac.conv([1, 2, 3], [1, 1]), "windows", "under the kernel", "zeros"),
    "zeros beyond the edges": Reason(lambda: ac.conv([1, 2, 3], [1, 1], padding=1), "windows", "zeros"),
    "a decay by itself": Reason(
        lambda: ac.optimizer([[1.0], [2.0]], [0.0], kind="adamw", weight_decay=0.1),
        "step 1/update",
        "stands apart from the gradient",
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("row", REASONS.values(), ids=REASONS)
def test_a_reason_is_true_under_its_options(row: Reason) -> None:
    why = row.call().find(row.step).why
    assert row.holds in why
    assert not row.lacks or row.lacks not in why


def test_the_formula_of_a_rotation_tells_which_entries_make_a_pair() -> None:
    assert ac.rope(X).find("rotated").formula == "rotate(X; cosines, sines)"
    assert ac.rope(X, layout="half").find("rotated").formula == "rotate(X; cosines, sines; halves)"


def test_frequencies_of_some_dimensions_go_by_their_number() -> None:
    assert ac.rope(X, dims=2).find("frequencies").formula == "10000^(−2·i / dims)"
