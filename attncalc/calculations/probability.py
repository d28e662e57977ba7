"""Probability: from scores to shares; how uncertain shares are, and how far they lie apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import numpy as np

from attncalc.calculations.conditions import FIRST, distributions, meet, not_all_masked, numbers
from attncalc.common.errors import DomainError, OptionError, ShapeError, place_text
from attncalc.declare.calculation import at_most, calculation, same, shares
from attncalc.declare.operands import ABOVE_0, Exercise, operand, options_of
from attncalc.declare.sweeps import MOST_LINES, Sweep
from attncalc.language.graph import NOT_SHIFTED, Node, constant, in_letters, note, step
from attncalc.language.kernels import is_exact
from attncalc.language.ops import (
    exp,
    held,
    log_share,
    log_sum_exp,
    logarithm,
    peak,
    ratio,
    softmax_slopes,
    total,
    weigh,
)
from attncalc.record.pictures import Curves, Line, Marks, Picture
from attncalc.record.trace import Step, Trace

Axis = Annotated[int, "the axis along which the shares sum to 1; −1 is the last"]
Base = Annotated[int | Literal["e"], "the base of the logarithm: e, 2 or 10"]
UNITS: dict[int | str, str] = {"e": "nats", 2: "bits", 10: "decimal digits"}
"""The logarithm's base → the unit of information."""


def _chosen(x: Node, axis: int) -> str:
    """The name of an axis told by its number."""
    if not -len(x.names) <= axis < len(x.names):
        raise ShapeError(f"there is no axis {axis}: x has {len(x.names)} of them, counted from 0 or back from −1")
    return x.names[axis]


def log_to(base: int | str, x: Node) -> Node:
    """The logarithm to the base that an option names."""
    if base not in UNITS:
        raise OptionError(f"--base must be e, 2 or 10, not {base}")
    return logarithm(x, base)


def _slopes(p: Node, options: Mapping[str, Any]) -> Node | None:
    """The softmax Jacobian as it is taught; over an axis that is not the last, the chain rule must do."""
    if len(p.names) != 1 or options["log"]:
        return None
    slopes = softmax_slopes(p)
    return slopes if options["temperature"] == 1 else slopes / options["temperature"]


def _against_temperature(trace: Trace, sweep: Sweep) -> Iterator[Picture | Step]:
    """The shares; of a single row also how they grow alike as the temperature rises."""
    yield trace.outputs[0]
    if trace.result.ndim != 1 or trace.options["log"]:
        return
    here = sweep.again().result
    largest = np.sort(np.argsort(-here, kind="stable")[:MOST_LINES])
    temperatures = np.linspace(0.1, max(5.0, 1.5 * options_of(trace)["temperature"]), 60)
    shares_there = np.stack([sweep.again(temperature=t).result for t in temperatures.tolist()])
    names = trace.outputs[0].labels.get(trace.outputs[0].axes[0])
    lines = [Line(names[i] if names else f"softmax[{i}]", temperatures, shares_there[:, i]) for i in largest]
    marks = Marks("at this temperature", np.full(len(largest), float(options_of(trace)["temperature"])), here[largest])
    which = f", the {MOST_LINES} largest" if len(here) > MOST_LINES else ""
    yield Curves(f"softmax against temperature{which}", "temperature", tuple(lines), marks)


@calculation(
    x=operand("n", kind="logits"),
    check=not_all_masked("x"),
    slopes=_slopes,
    laws={
        "every row sums to 1": lambda f, x: same(f(x).result.sum(-1), 1),
        "adding the same number to all scores changes nothing": lambda f, x, c: same(f(x + c), f(x)),
        "a larger score gets a larger share": lambda f, x: same(
            np.argsort(f(x).result, kind="stable"), np.argsort(x, kind="stable")
        ),
        "a temperature of T divides the scores by T": lambda f, x, c: same(f(x, temperature=c), f(x / c)),
        "the gradient of a row sums to 0": lambda f, x: same(f(x).grad(x).result.sum(-1), 0),
    },
    pictures=_against_temperature,
    reference="Bridle 1990, Training Stochastic Model Recognition Algorithms as Networks; "
    "Goodfellow, Bengio and Courville 2016, Deep Learning, section 6.2.2.3",
    exercise=Exercise(one_of=({"temperature": 2},)),
)
def softmax(
    x: Annotated[Node, "scores, also called logits; −inf where masked"],
    *,
    axis: Axis = -1,
    temperature: Annotated[float, "what the scores are divided by: above 1 flattens, below 1 sharpens", ABOVE_0] = 1,
    log: Annotated[bool, "give the logarithms of the shares, as log-softmax does"] = False,
) -> Node:
    """Turn scores into probabilities: positive shares that sum to 1.

    exp(x/T) / Σ exp(x/T) along the axis. The largest score is subtracted first, which changes nothing and keeps the
    exponentials from overflowing.
    """
    over = _chosen(x, axis)
    scores = x
    if temperature != 1:
        cooler = x / constant(temperature, "T", "temperature")
        scores = step("scaled", cooler, "above 1 the shares become more alike, below 1 less so")
    if log:
        return _log_softmax(scores, over)
    shifted = scores
    if in_letters():
        note(NOT_SHIFTED)
    else:
        why = "the shares stay the same, and e^x cannot overflow"
        shifted = step("shifted", scores - held(peak(scores, over)), why)
    exponentials = step("exponentials", exp(shifted), "every score becomes positive, and differences become ratios")
    sums = step("sum", total(exponentials, over), "the total that each exponential is a share of")
    return step("softmax", exponentials / sums, f"each entry's share of the total; over {over} the shares sum to 1")


@calculation(
    x=operand("n", kind="logits"),
    check=not_all_masked("x"),
    laws={
        "their exponentials sum to 1": lambda f, x: same(np.exp(f(x).result).sum(-1), 1),
        "adding the same number to all scores changes nothing": lambda f, x, c: same(f(x + c), f(x)),
        "applying it twice is the same as once": lambda f, x: same(f(f(x).result), f(x)),
    },
    reference="Blanchard, Higham and Higham 2021, Accurately Computing the Log-Sum-Exp and Softmax Functions; as "
    "torch.nn.LogSoftmax",
)
def log_softmax(x: Annotated[Node, "scores, also called logits"], *, axis: Axis = -1) -> Node:
    """The logarithm of the softmax, computed so that nothing overflows or vanishes.

    x − ln Σ exp(x) along the axis; the logarithm of a share too small to hold is still a plain number.
    """
    return _log_softmax(x, _chosen(x, axis))


def _log_softmax(x: Node, over: str) -> Node:
    if in_letters():
        note(NOT_SHIFTED)
        whole = log_sum_exp(x, over)
    else:
        largest = held(peak(x, over))
        shifted = step("shifted", x - largest, "with the largest score at 0, e^x cannot overflow")
        whole = largest + log_sum_exp(shifted, over)
    whole = step("logsumexp", whole, "the logarithm of the total; a soft maximum")
    return step("log_softmax", log_share(x, whole, over), "the logarithm of a ratio is a difference of logarithms")


@calculation(
    p="n",
    check=distributions("p"),
    infinite=True,
    laws={
        "never below 0": lambda f, p: at_most(0, f(shares(p))),
        "never above log n, which equal shares reach": lambda f, p: at_most(f(shares(p)), f(shares(0 * p))),
        "bits are nats over ln 2": lambda f, p: same(f(shares(p), base=2), f(shares(p)).result / np.log(2)),
    },
    pictures=("p", "terms"),
    reference="Shannon 1948, A Mathematical Theory of Communication, section 6",
)
def entropy(p: Annotated[Node, "the probabilities"], *, base: Base = "e") -> Node:
    """How uncertain a distribution is: the average surprise of its outcomes.

    −Σ p·log p: 0 where one outcome is certain, log n where all n are equally likely. With base 2 it is in bits, with
    base e in nats. An outcome of probability 0 adds nothing: 0·log 0 = 0, its limit.
    """
    logs = step("logs", log_to(base, p), "the rarer an outcome, the further its logarithm lies below 0")
    terms = step("terms", weigh(p, logs), "each outcome is weighted by how often it occurs; 0·log 0 = 0, its limit")
    why = f"the average surprise, in {UNITS[base]}; with the minus, since no logarithm of a probability is above 0"
    return step("entropy", -total(terms), why)


def _comparable(values: Mapping[str, Any]) -> None:
    """A check of two distributions: both sum to 1, and no quotient of them overflows."""
    distributions("p", "q")(values)
    p, q = values["p"], values["q"]
    if is_exact(p, q) or not meet(p, q):
        return
    with np.errstate(all="ignore"):
        beyond = np.argwhere(np.isinf(p / np.where(q == 0, 1, q)))
    if len(beyond):
        at = beyond[0][-q.ndim :]
        raise DomainError(f"p/q overflows: q{place_text(at)} = {q[tuple(at)]:.4g} is not 0, but too small to divide by")


def _impossible(trace: Trace) -> Iterator[str]:
    """A warning that says where a divergence becomes infinite."""
    p, q = (numbers(trace.inputs[name].value) for name in ("p", "q"))
    if p is None or q is None:
        return
    for at in np.argwhere((p > 0) & (q == 0))[:FIRST]:
        in_p, in_q = at[-p.ndim :], at[-q.ndim :]  # one of them may be a batch
        said = f"p{place_text(in_p)} = {p[tuple(in_p)]:.4g} says that it can happen"
        yield f"the divergence is infinite: q{place_text(in_q)} is 0, and {said}"


@calculation(
    p="n",
    q="n",
    check=_comparable,
    remarks=_impossible,
    infinite=True,
    laws={
        "never below 0": lambda f, p, q: at_most(0, f(shares(p), shares(q))),
        "0 from a distribution to itself": lambda f, p: same(f(shares(p), shares(p)), 0),
    },
    pictures=("p", "q", "terms"),
    reference="Kullback and Leibler 1951, On Information and Sufficiency; Goodfellow, Bengio and Courville 2016, "
    "Deep Learning, section 3.13",
)
def kl(
    p: Annotated[Node, "the true distribution"],
    q: Annotated[Node, "the distribution used in its place"],
    *,
    base: Base = "e",
) -> Node:
    """How much is lost by using q when p is true: the Kullback–Leibler divergence D(p‖q).

    Σ p·log(p/q): never negative, 0 only for q = p, and not the same with p and q swapped, so it is not a distance. It
    is infinite where q is 0 and p is not; where p is 0 a term is 0, whatever q is.
    """
    ratios = step("ratios", ratio(p, q), "above 1 where p gives an outcome more than q does; 0 where p gives none")
    terms = step("terms", weigh(p, log_to(base, ratios)), "weighted by how often each occurs under p; 0·log 0 = 0")
    return step("divergence", total(terms), f"the average of log p/q under p, in {UNITS[base]}: never below 0")
