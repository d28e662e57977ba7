"""Mistakes of the softmax, its temperature, exponential and shift; of entropy and divergence."""

from __future__ import annotations

from collections.abc import Callable

from attncalc.calculations.probability import log_to
from attncalc.declare.mistake import Mistake, NotThere, Scope, alternative, parts, wrong
from attncalc.language.graph import Node, as_node
from attncalc.language.ops import (
    compare_equal,
    exp,
    first_maximum,
    keep_where,
    log,
    log_sum_exp,
    power,
    ratio,
    sigmoid,
    total,
    weigh,
)
from attncalc.mistakes.attention_core import slopes
from attncalc.mistakes.cross_entropy import LOGARITHMS


def scores(s: Scope) -> Node:
    """What the softmax is taken of, after the temperature."""
    return s.scaled if "scaled" in s else s.x


def axis(s: Scope) -> str:
    """Along which axis the shares sum to 1."""
    shift = s.shifted.sources[0]
    while shift.op != "peak":
        if not shift.sources:
            raise NotThere("axis")
        shift = shift.sources[-1]
    return str(shift.args["over"])


def _temperature(s: Scope) -> Node:
    return as_node(s.options["temperature"])


def _later(s: Scope) -> Node:
    return parts(s.this, "div")[0] if s.step.args["name"] == "scaled" else s.this / _temperature(s)


def _zero_where(zero: Callable[[Scope], Node]) -> Callable[[Scope], Node]:
    return lambda s: keep_where(compare_equal(zero(s), 0), 0, s.this)


def _other_way_round(s: Scope) -> Node:
    """The ratio of q to p, and its logarithms as often as q comes."""
    if s.step.args["name"] == "ratios":
        return ratio(s.q, s.p)
    return weigh(s.q, log_to(s.options["base"], s.ratios))


FUNCTION = "Which function makes every score positive?"
BASE = "Which number is raised to the power of each score?"


UNSHIFTED = alternative(
    "sm-unshifted",
    "shifted",
    lambda s: parts(s.this, "sub")[0],
    says="without taking the maximum away",
    any_shift=True,
)


def _slope_of_shares(s: Scope) -> Node:
    along = s.softmax * (s.grad_softmax - total(s.softmax * s.grad_softmax, axis(s)))
    return along / _temperature(s) if "scaled" in s else along


def _slope_of_logarithms(s: Scope) -> Node:
    return s.grad_log_softmax - exp(s.log_softmax) * total(s.grad_log_softmax, axis(s))


SOFTMAX = (
    UNSHIFTED,
    alternative("sm-grad-by-shares", "grad_x", _slope_of_shares, says="dx = P ⊙ (dP − Σ P ⊙ dP), over T"),
    wrong(
        "sm-temp-multiply",
        "scaled",
        lambda s: parts(s.this, "div")[0] * _temperature(s),
        says="e^(z·T): multiplied by the temperature",
        hint="Does a temperature above 1 make the shares more alike, or less?",
    ),
    wrong(
        "sm-temp-twice",
        "scaled",
        lambda s: s.this / _temperature(s),
        says="divided by T²",
        hint="How many times were the scores divided by the temperature?",
    ),
    wrong(
        "sm-temp-ignored",
        "scaled",
        lambda s: parts(s.this, "div")[0],
        says="without the temperature",
        hint="How many times were the scores divided by the temperature?",
    ),
    wrong(
        "sm-temp-after",
        "scaled softmax",
        _later,
        says="the shares divided by the temperature",
        hint="What do the shares sum to?",
    ),
    wrong(
        "sm-no-exp",
        "exponentials",
        scores,
        says="z/Σz: no exponentials",
        hint=FUNCTION,
    ),
    wrong(
        "sm-base2",
        "exponentials",
        lambda s: power(as_node(2), s.shifted),
        says="powers of 2 in place of e",
        hint=BASE,
    ),
    wrong(
        "sm-base10",
        "exponentials",
        lambda s: power(as_node(10), s.shifted),
        says="powers of 10 in place of e",
        hint=BASE,
    ),
    wrong(
        "sm-neg",
        "exponentials",
        lambda s: exp(-s.shifted),
        says="e^−z",
        hint="Does the largest score get the largest share?",
    ),
    wrong(
        "sm-sigmoid",
        "softmax",
        lambda s: sigmoid(scores(s)),
        says="σ(z), each score by itself",
        hint="What do the shares sum to?",
    ),
    wrong(
        "sm-argmax",
        "softmax",
        lambda s: first_maximum(scores(s), axis(s)),
        says="the largest score gets everything",
        hint="Do the other scores get nothing at all?",
    ),
    wrong(
        "sm-max-numerator-only",
        "sum",
        lambda s: total(exp(scores(s)), axis(s)),
        says="the maximum is subtracted above the line, but not below",
        hint="Is the same number subtracted above and below the line?",
    ),
    *(
        wrong(
            "sm-exp-zero-is-0",
            "exponentials",
            _zero_where(exponent),
            says="e⁰ taken as 0",
            hint="What is any number to the power 0?",
        )
        for exponent in (scores, lambda s: s.shifted)
    ),
    *slopes("grad_shifted", lambda s: (s.softmax, s.grad_softmax)),
)


def _unshifted_throughout(s: Scope) -> Node:
    return (
        parts(s.this, "sub")[0]
        if s.step.args["name"] == "shifted"
        else log_sum_exp(s.shifted, parts(s.this, "add")[1].args["over"])
    )


LOG_SOFTMAX = (
    alternative(
        "sm-unshifted",
        "shifted logsumexp",
        _unshifted_throughout,
        says="without taking the maximum away",
        any_shift=True,
    ),
    alternative("lsm-grad-by-logs", "grad_x", _slope_of_logarithms, says="dx = dy − e^y ⊙ Σ dy"),
    wrong(
        "lsm-no-log",
        "log_softmax",
        lambda s: exp(s.this),
        says="the softmax, without its logarithm",
        hint="Can the logarithm of a share be above 0?",
    ),
    wrong(
        "lsm-not-shifted-back",
        "logsumexp",
        lambda s: parts(s.this, "add")[1],
        says="ln Σ e^(z − max), without adding the maximum again",
        hint="Is the same number taken away from every score and from the whole?",
    ),
    wrong(
        "lsm-log-each",
        "logsumexp",
        lambda s: total(s.x, axis(s)),
        says="Σ ln e^z in place of ln Σ e^z",
        hint="Which comes first: the sum, or the logarithm?",
    ),
    wrong(
        "sm-no-exp",
        "logsumexp",
        lambda s: log(total(s.x, axis(s))),
        says="ln Σ z: no exponentials",
        hint=FUNCTION,
    ),
)

ENTROPY = (
    alternative(
        "ent-minus-inside",
        "terms entropy",
        lambda s: -s.this if s.step.args["name"] == "terms" else total(s.terms),
        says="the minus before each term of the sum",
    ),
    wrong("ce-no-minus", "entropy", lambda s: -s.this, says="Σ p·log p", hint="Can an entropy be below 0?"),
    *LOGARITHMS,
)

KL = (
    wrong(
        "ce-swapped",
        "ratios terms",
        _other_way_round,
        says="Σ q·log(q/p)",
        hint="Which of the two is true, and which stands in for it?",
    ),
    *LOGARITHMS,
)

MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "softmax": SOFTMAX,
    "log-softmax": LOG_SOFTMAX,
    "entropy": ENTROPY,
    "kl": KL,
}
"""Calculation → its mistakes, the commonest first."""
