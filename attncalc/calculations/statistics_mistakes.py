"""The mistakes of statistics: what a variance divides by, and which way round Bayes' rule goes."""

from __future__ import annotations

from collections.abc import Callable

from attncalc.graph import Node
from attncalc.mistake import Mistake, NotThere, Scope, chosen, like, wrong
from attncalc.ops import absolute, listed, mean, sqrt, take, total

GIVEN = "Which of the two is given, and which is asked for?"
RARE = "How likely was it before the test?"
ELSE = "How likely is a positive test where there is nothing to find?"


def _pair(s: Scope) -> tuple[Node, Node]:
    """P(seen | the hypothesis) and P(seen | not), where there are just these two."""
    likelihood = s.likelihood
    if len(likelihood.axes) != 1 or likelihood.axes[0].size != 2:
        raise NotThere("two hypotheses")
    name = likelihood.names[0]
    return take(likelihood, name, 0), take(likelihood, name, 1)


def _instead(change: Callable[[Node, Node], Node]) -> Callable[[Scope], Node]:
    """Another number for P(seen | not)."""

    def rule(s: Scope) -> Node:
        sensitivity, rest = _pair(s)
        return s.prior * like(listed([sensitivity, change(sensitivity, rest)], "h"), s.prior)

    return rule


def _without_complement(s: Scope) -> Node:
    sensitivity, rest = _pair(s)
    return take(s.prior, s.prior.names[-1], 0) * sensitivity + rest


def _joint_without_complement(s: Scope) -> Node:
    sensitivity, rest = _pair(s)
    return like(listed([take(s.prior, s.prior.names[-1], 0) * sensitivity, rest], "h"), s.prior)


MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "expectation": (
        wrong(
            "var-ddof",
            options=chosen(sample={False: True, True: False}),
            says="n − 1 in place of n, or the other way round",
            hint="Is that the variance of these numbers, or an estimate from a sample?",
            kind="convention",
        ),
        wrong(
            "var-is-std",
            "variance",
            lambda s: sqrt(s.this),
            says="the standard deviation in place of the variance",
            hint="In what unit is the answer: that of the values, or its square?",
        ),
        wrong(
            "var-is-std",
            "standard_deviation",
            lambda s: s.variance,
            says="the variance in place of the standard deviation",
            hint="In what unit is the answer: that of the values, or its square?",
        ),
        wrong(
            "var-mean-abs",
            "variance",
            lambda s: mean(absolute(s.deviations)),
            says="the mean absolute deviation",
            hint="How does a variance get rid of the signs?",
        ),
        wrong(
            "var-no-center",
            "deviations",
            lambda s: s.values if "values" in s else s.x,
            says="E[x²]: the mean is not subtracted",
            hint="From where is the distance of each value measured?",
        ),
        wrong(
            "var-sum",
            "variance",
            lambda s: total(s.squares),
            says="the sum of the squares",
            hint="Would more values make the answer larger?",
        ),
        wrong(
            "var-sign",
            "variance",
            lambda s: -s.this,
            says="E[x]² − E[x²]",
            hint="Can a mean of squares be below 0?",
        ),
    ),
    "bayes": (
        wrong("bayes-inverted", "posterior", lambda s: s.likelihood, says="P(B|A) in place of P(A|B)", hint=GIVEN),
        wrong(
            "bayes-no-evidence",
            "posterior",
            lambda s: s.joint,
            says="prior · likelihood, not divided by the evidence",
            hint="What do the answers for all hypotheses sum to?",
        ),
        wrong(
            "bayes-ignore-prior",
            "joint",
            lambda s: s.likelihood,
            says="likelihood / Σ likelihood: without the prior",
            hint=RARE,
        ),
        wrong(
            "bayes-spec-for-fpr",
            "joint",
            _instead(lambda sensitivity, rest: 1 - rest),
            says="the specificity in place of the false-positive rate",
            hint=ELSE,
        ),
        wrong(
            "bayes-comp",
            "joint",
            _instead(lambda sensitivity, rest: 1 - sensitivity),
            says="P(B|¬A) taken as 1 − P(B|A)",
            hint=ELSE,
        ),
        *(
            wrong(
                "bayes-evidence-no-complement",
                step,
                rule,
                says="the evidence without the factor 1 − prior",
                hint="How likely is it that there is nothing to find?",
            )
            for step, rule in (("evidence", _without_complement), ("joint", _joint_without_complement))
        ),
    ),
}
"""Calculation → its mistakes, the commonest first."""
