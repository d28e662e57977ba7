"""Mistakes of statistics: the divisor of a variance, the direction of Bayes' rule, the factors of a likelihood."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt as root

from attncalc.declare.mistake import Mistake, NotThere, Scope, another, chosen, like, parts, remade, wrong
from attncalc.language.graph import Node, as_node
from attncalc.language.ops import absolute, exp, listed, log, mean, power, sqrt, take, total, whole
from attncalc.mistakes.cross_entropy import to_base

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


def _under(family: str, chance: Callable[[Scope], Node]) -> Callable[[Scope], Node]:
    """Other probabilities under one distribution, and their logarithms."""

    def rule(s: Scope) -> Node:
        named = s.when("distribution", family).step.args["name"]
        return chance(s) if named == "probabilities" else log(s.probabilities)

    return rule


def _not_arranged(s: Scope) -> Node:
    expected = as_node(s.options["rate"])
    return power(expected, whole(s.observations)) * exp(-expected)


def _estimates(s: Scope, deviation: Callable[[Node, Node], Node]) -> Node:
    """Mean and standard deviation, the latter another."""
    own, spread_out = parts(s.this, "listed")
    squares = parts(spread_out, "root_of_mean")[0]
    return listed([own, deviation(squares, s.observations)], s.this.names[-1])


def _over_one_less(squares: Node, x: Node) -> Node:
    n = x.size(x.names[-1])
    return sqrt(squares * n / (n - 1))


MULTIPLY = "How likely are two independent things together?"

LIKELIHOOD = (
    wrong(
        "lik-no-log",
        "log_likelihood",
        lambda s: exp(s.this),
        says="∏ p: the likelihood, not its logarithm",
        hint="Is the likelihood asked for, or its logarithm?",
    ),
    wrong(
        "lik-sum",
        "log_likelihood",
        lambda s: total(s.probabilities),
        says="Σ p: the probabilities added up",
        hint=MULTIPLY,
    ),
    wrong(
        "lik-log-of-sum",
        "log_likelihood",
        lambda s: log(total(s.probabilities)),
        says="log Σ p: the logarithm of the sum",
        hint=MULTIPLY,
    ),
    wrong(
        "lik-mean",
        "log_likelihood",
        lambda s: mean(s.log_probabilities),
        says="the mean of the logarithms in place of their sum",
        hint="Do more observations make a likelihood smaller?",
        kind="convention",
    ),
    wrong(
        "lik-negative",
        "log_likelihood",
        lambda s: -s.this,
        says="−Σ log p, the loss",
        hint="Is that to be as large as possible, or as small?",
        kind="convention",
    ),
    *(to_base(base, "log_probabilities") for base in (10, 2)),
    wrong(
        "lik-zeros-missing",
        "probabilities log_probabilities",
        _under("bernoulli", lambda s: power(as_node(s.options["p"]), whole(s.observations))),
        says="p for every 1, and nothing for a 0",
        hint="What do the zeros say about p?",
    ),
    wrong(
        "lik-std-as-variance",
        options=another("std", root),
        says="the standard deviation taken for the variance",
        hint="Is σ given, or σ²?",
    ),
    wrong(
        "lik-no-height",
        "probabilities log_probabilities",
        _under("normal", lambda s: parts(s.this, "div")[0]),
        says="without 1/(σ·√(2π))",
        hint="What is the area under that curve?",
    ),
    wrong(
        "lik-no-half",
        "probabilities log_probabilities",
        _under("normal", remade("div", lambda curve, height: curve**2 / height)),
        says="e^−(x − μ)²/σ², without the 2",
        hint="By what is the squared distance divided?",
    ),
    wrong(
        "lik-no-factorial",
        "probabilities log_probabilities",
        _under("poisson", _not_arranged),
        says="λˣ·e^−λ, without x!",
        hint="What do the probabilities of all counts sum to?",
    ),
    wrong(
        "var-ddof",
        "maximum_likelihood_estimate",
        lambda s: _estimates(s, _over_one_less),
        says="the standard deviation over n − 1",
        hint="Which of the two makes these observations most likely: n, or n − 1?",
        kind="convention",
    ),
    wrong(
        "var-is-std",
        "maximum_likelihood_estimate",
        lambda s: _estimates(s, lambda squares, x: squares),
        says="the variance in place of the standard deviation",
        hint="In what unit is the answer: that of the values, or its square?",
    ),
)

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
    "likelihood": LIKELIHOOD,
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
