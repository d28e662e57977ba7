"""Statistics: expectation and variance, Bayes' rule, the likelihood of observations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import numpy as np

from attncalc.calculations.conditions import (
    distributions,
    meet,
    must_be_places,
    must_be_probabilities,
    must_be_whole,
    must_sum_to_one,
    numbers,
    places,
)
from attncalc.common.errors import DomainError, OptionError, place_text
from attncalc.declare.calculation import at_most, calculation, same, shares, shuffled
from attncalc.declare.operands import ABOVE_0, Exercise, Range, operand
from attncalc.language.graph import Node, constant, label, note, step
from attncalc.language.ops import (
    exp,
    factorial,
    listed,
    log,
    log_factorial,
    one_hot,
    pi,
    power,
    root_of_mean,
    safely,
    spread,
    sqrt,
    take,
    total,
    whole,
)
from attncalc.language.ops import mean as average
from attncalc.record.trace import Trace


@calculation(
    values="n",
    probabilities="n",
    check=distributions("probabilities"),
    laws={
        "a shift moves the mean and leaves the variance": lambda f, values, c: (
            same(f(values + c), f(values).result + c) and same(f(values + c)["variance"], f(values)["variance"])
        ),
        "c times the values have c² times the variance": lambda f, values, c: same(
            f(c * values)["variance"], c**2 * f(values)["variance"]
        ),
    },
    pictures=("probabilities", "products"),
    reference="Goodfellow, Bengio and Courville 2016, Deep Learning, section 3.8; Bessel's correction: Gauss 1823",
)
def expectation(
    x: Annotated[Node, "the values"],
    p: Annotated[Node | None, "how likely each of them is; all alike where none are given"] = None,
    *,
    sample: Annotated[bool, "divide the squares by n − 1: an estimate from a sample"] = False,
) -> tuple[Node, Node, Node]:
    """What a quantity is on average, and how far it strays from that.

    The mean Σ p·x, the variance Σ p·(x − mean)², and its root, the standard deviation. Without probabilities every
    value counts 1/n. A sample lies closer to its own mean than to the true one, so an estimate from a sample divides by
    n − 1 (`sample`, NumPy's ddof=1, the default of pandas and spreadsheets).
    """
    size = x.axes[-1].size
    if sample and p is not None:
        raise OptionError("--sample is for data that all count alike, but probabilities were given")
    if sample and size < 2:
        raise DomainError("one value has no sample variance: n − 1 is 0")
    n = x.size(x.names[-1])
    products = step(
        "products",
        x / n if p is None else x * p,
        "each value counts equally, 1/n" if p is None else "each value counts in proportion to its probability",
    )
    mean = step("mean", total(products), "the balance point of the values")
    leads = tuple(axis for axis in mean.axes if axis.name not in x.names)  # several distributions of the same values
    x = spread(x, leads + x.axes)
    deviations = step("deviations", x - mean, "how far each value is from the mean; on average these cancel")
    squares = step(
        "squares", deviations**2, "squaring removes the signs, so nothing cancels, and makes far values count for more"
    )
    if sample:
        variance, counts = total(squares) / (n - 1), 1 / (n - 1)
        why = "n − 1, as the deviations are from the sample's own mean, which is closer to the values than the true one"
    elif p is not None:
        variance, counts = total(squares * p), p
        why = "the mean of the squares: each counts in proportion to its probability"
    else:
        variance, counts = average(squares), None
        why = "the mean of the squares, over n: the variance of these values themselves (--sample divides by n − 1)"
    variance = step("variance", variance, why)
    root = root_of_mean(variance, deviations, weights=counts)
    deviation = step("standard_deviation", root, "the root brings the result back to the units of the values")
    return mean, variance, deviation


def _check_bayes(values: Mapping[str, Any]) -> None:
    must_sum_to_one("prior", values["prior"])
    must_be_probabilities("likelihood", values["likelihood"])
    prior, likelihood, observed = numbers(values["prior"]), numbers(values["likelihood"]), values["observed"]
    if prior is None or likelihood is None:
        return
    one_table = likelihood.ndim > 1 and likelihood.shape[-1] != prior.shape[-1]  # one table for a batch
    has_columns = likelihood.ndim > prior.ndim or one_table
    weights = prior[..., None] if has_columns else prior
    if not meet(weights, likelihood):
        return
    impossible = (weights * likelihood).sum(axis=-2 if has_columns else -1) == 0
    if has_columns and observed is not None:
        impossible = impossible[..., observed : observed + 1]
    if impossible.any():
        at = [*map(int, np.argwhere(impossible)[0])]
        what = f"column {at.pop() if observed is None else observed}" if has_columns else "what was seen"
        lead = at[: impossible.ndim - has_columns]
        row = f"of row {','.join(map(str, lead))} (counted from 0) " if lead else ""
        raise DomainError(f"no hypothesis {row}allows {what}: its evidence is 0, and nothing can be learnt from it")
    sums = likelihood.sum(axis=-1)
    if has_columns and (np.abs(sums - 1) > 1e-6).any():
        note(f"rows of likelihood sum to {', '.join(f'{s:.4g}' for s in sums.ravel()[:4])}: not every outcome is there")


@calculation(
    prior="h",
    likelihood="h | h k",
    check=_check_bayes,
    laws={
        "the posterior sums to 1": lambda f, prior, likelihood: same(
            f(shares(prior), shares(likelihood)).result.sum(0), 1
        ),
        "only ratios of likelihoods count": lambda f, prior, likelihood: same(
            f(shares(prior), shares(likelihood) / 2), f(shares(prior), shares(likelihood))
        ),
        "if all likelihoods are equal, the posterior is the prior": lambda f, prior: same(
            f(shares(prior), 0 * prior + 0.5), shares(prior)
        ),
    },
    pictures=("prior", "posterior"),
    reference="Bayes 1763, An Essay towards solving a Problem in the Doctrine of Chances",
)
def bayes(
    prior: Annotated[Node, "how likely each hypothesis was beforehand"],
    likelihood: Annotated[Node, "how likely the observation is under each hypothesis; or a row of outcomes for each"],
    *,
    observed: Annotated[int | None, "which column of the likelihood was observed, counted from 0"] = None,
) -> Node:
    """How likely each hypothesis is once something has been observed.

    prior·likelihood / Σ prior·likelihood. The likelihood is P(observation | hypothesis), not the other way round, which
    is what is asked for. With a table [h, k] of outcomes and none of them observed, each column of the posterior is
    what one would believe after that outcome.
    """
    h = prior.names[-1]
    table = likelihood.names[-1] != h
    if observed is not None:
        if not table:
            raise OptionError("--observed picks a column, and likelihood has one number for each hypothesis")
        k = likelihood.axes[-1]
        if not 0 <= observed < k.size:
            raise OptionError(f"--observed {observed} is not one of likelihood's columns, 0 to {k.size - 1}")
        likelihood = take(likelihood, k.name, observed)
    elif table and not set(prior.names) <= set(likelihood.names):  # several priors, and one table
        prior = spread(prior, (*prior.axes, likelihood.axes[-1]))
    joint = step("joint", prior * likelihood, "the probability of both together: the hypothesis and the observation")
    evidence = step(
        "evidence", total(joint, h), "the probability of the observation overall, whichever hypothesis is true"
    )
    return step("posterior", joint / evidence, "each hypothesis's share of the probability of what was observed")


Family = Literal["bernoulli", "categorical", "normal", "poisson"]
NEEDED: dict[str, tuple[str, ...]] = {
    "bernoulli": ("p",),
    "categorical": ("probabilities",),
    "normal": ("mean", "std"),
    "poisson": ("rate",),
}
"""Distribution → its parameters."""


def _check_likelihood(values: Mapping[str, Any]) -> None:
    x, family = values["observations"], values["distribution"]
    if "probabilities" in values:
        must_sum_to_one("probabilities", values["probabilities"])
    if family == "bernoulli" and (found := numbers(x)) is not None:
        for at in np.argwhere((found != 0) & (found != 1)):
            raise DomainError(f"observations{place_text(at)} = {found[tuple(at)]:g}: a Bernoulli trial gives 0 or 1")
    if family == "categorical" and "probabilities" in values:
        must_be_places("observations", x, values["probabilities"].shape[-1], "probabilities")
    if family == "poisson":
        must_be_whole("observations", x, "a count: Poisson's are 0, 1, 2, …")


def _impossible(trace: Trace) -> Iterator[str]:
    """A warning that names the first observations that cannot be."""
    for at in places(trace["log_probabilities"], np.isneginf):
        yield f"observations{at} has the probability 0, so the likelihood is 0 and its logarithm −∞"


@calculation(
    observations="n",
    probabilities=operand("C", kind="data"),
    check=_check_likelihood,
    remarks=_impossible,
    infinite=True,
    laws={
        "the order of the observations does not matter": lambda f, observations, c: same(
            f(*shuffled(observations), distribution="normal", mean=c, std=1),
            f(observations, distribution="normal", mean=c, std=1),
        ),
        "no other mean makes the observations more likely than their own": lambda f, observations, c: at_most(
            f(observations, distribution="normal", mean=c, std=1),
            f(observations, distribution="normal", mean=float(observations.mean()), std=1),
        ),
    },
    pictures=("probabilities",),
    reference="Fisher 1922, On the Mathematical Foundations of Theoretical Statistics",
    exercise=Exercise(one_of=tuple({"p": p} for p in (0.2, 0.25, 0.4, 0.6, 0.7, 0.75, 0.8)), truths=("observations",)),
)
def likelihood(
    x: Annotated[Node, "what was observed; the observations are independent"],
    *,
    theta: Annotated[Node | None, "categorical: how likely each class is"] = None,
    distribution: Annotated[Family, "the distribution that they are assumed to come from"] = "bernoulli",
    p: Annotated[float | None, "bernoulli: how likely a 1 is", Range(at_least=0, at_most=1)] = None,
    mean: Annotated[float | None, "normal: the mean"] = None,
    std: Annotated[float | None, "normal: the standard deviation (not the variance)", ABOVE_0] = None,
    rate: Annotated[float | None, "poisson: the expected count", ABOVE_0] = None,
) -> tuple[Node, Node]:
    """How likely observations are under a distribution, and which parameters would make them most likely.

    The logarithm of the likelihood is Σ log p(x), since independent observations multiply. For the normal distribution
    p is a density, which may be above 1. The estimate is the parameter with the largest likelihood: the mean for
    Bernoulli and Poisson, the shares of the classes for the categorical, mean and standard deviation (over n, not
    n − 1) for the normal distribution.
    """
    given = {"p": p, "probabilities": theta, "mean": mean, "std": std, "rate": rate}
    _must_fit(distribution, given)
    n = x.names[-1]
    if distribution == "bernoulli":
        assert p is not None, "needed"
        ones = whole(x)
        chance = power(constant(p, "p"), ones) * power(1 - constant(p, "p"), 1 - ones)
        chance, logs = _with_logs(chance, "p for every 1, and 1 − p for every 0")
        estimate, why = average(x, n), "the share of ones"
    elif distribution == "categorical":
        assert theta is not None, "needed"
        chance, logs = _with_logs(one_hot(x, theta.axes[-1]) @ theta, "the probability of each observation's class")
        estimate = average(one_hot(x, theta.axes[-1]), n)
        why = "each class's share of the observations"
    elif distribution == "normal":
        assert mean is not None, "needed"
        assert std is not None, "needed"
        chance, logs, estimate = _normal(x, mean, std)
        why = "the observations' own mean, and their standard deviation (over n)"
    else:
        assert rate is not None, "needed"
        chance, logs = _poisson(x, rate)
        estimate, why = average(x, n), "the average count"
    summed = step("log_likelihood", total(logs, n), "independent observations multiply, so their logarithms add up")
    return summed, step(
        "maximum_likelihood_estimate", estimate, f"{why}: no other value makes these observations more likely"
    )


def _must_fit(distribution: str, given: Mapping[str, Any]) -> None:
    needed = NEEDED[distribution]
    missing = [f"--{name}" for name in needed if given[name] is None]
    if missing:
        raise OptionError(f"the {distribution} distribution needs {' and '.join(missing)}")
    for name, value in given.items():
        if value is not None and name not in needed:
            owner = next(family for family, words in NEEDED.items() if name in words)
            raise OptionError(f"--{name} belongs to the {owner} distribution, but the distribution is {distribution}")


def _with_logs(chance: Node, why: str) -> tuple[Node, Node]:
    chance = step("probabilities", chance, why)
    return chance, _logs(log(chance))


def _logs(logs: Node) -> Node:
    return step("log_probabilities", logs, "a sum of logarithms does not underflow as a product of probabilities would")


def _normal(x: Node, mean: float, std: float) -> tuple[Node, Node, Node]:
    """Densities, their logarithms, and the estimate of mean and standard deviation."""
    centre, spread = constant(mean, "mu", "mean"), constant(std, "sigma", "std")
    exponent = -((x - centre) ** 2 / (2 * spread**2))
    height = spread * sqrt(2 * pi())
    chance = step(
        "probabilities", exp(exponent) / height, "densities: the height of the bell curve at each observation"
    )
    logs = _logs(safely(log(chance), exponent - log(height), chance))
    label("parameter", ("mean", "std"))
    own = average(x)
    deviations = x - own
    return chance, logs, listed([own, root_of_mean(average(deviations**2), deviations)], "parameter")


def _poisson(x: Node, rate: float) -> tuple[Node, Node]:
    """Probabilities of counts, and their logarithms."""
    x, expected = whole(x), constant(rate, "lambda", "rate")
    direct = x * log(expected) - expected - log_factorial(x)
    chance = power(expected, x) * exp(-expected) / factorial(x)
    chance = step(
        "probabilities", safely(chance, exp(direct), chance), "counts of rare events that happen independently"
    )
    return chance, _logs(safely(log(chance), direct, chance))
