"""Losses of classification: cross-entropy, the loss of a language model, perplexity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import numpy as np

from attncalc.calculations.conditions import (
    must_be_classes,
    must_be_places,
    must_be_probabilities,
    must_sum_to_one,
    not_all_masked,
    numbers,
    places,
)
from attncalc.calculations.probability import UNITS, Base, log_to
from attncalc.common.errors import DomainError, OptionError, ShapeError, example_of, place_text
from attncalc.declare.calculation import at_most, calculation, one_right, same, shares
from attncalc.declare.operands import Exercise, Range, operand
from attncalc.language.axes import Axes, describe
from attncalc.language.graph import Node, as_node, constant, note, step
from attncalc.language.ops import (
    antilog,
    compare_equal,
    exp,
    keep_where,
    log,
    log_softmax,
    mean,
    one_hot,
    over_all,
    safely,
    select,
    softmax,
    spread,
    total,
    weigh,
)
from attncalc.record.trace import Trace


def _check_cross_entropy(values: Mapping[str, Any]) -> None:
    name = "probabilities" if "probabilities" in values else "logits"
    if name not in values or "target" not in values:
        return
    given, target, ignored = values[name], values["target"], values["ignore_index"]
    if name == "probabilities" or values["from_probabilities"]:
        must_sum_to_one(name, given)
    else:
        not_all_masked(name)(values)
    by_number = target.ndim < given.ndim
    must_be_classes("target", target, given.shape[-1], "C", by_number=by_number, but=ignored)
    if by_number and ignored is not None and (numbers(target) == ignored).all():
        raise DomainError(f"every target is {ignored}, which is ignored: no loss is left")
    weights = numbers(values["class_weights"]) if "class_weights" in values else None
    if weights is not None and (weights < 0).any():
        raise DomainError(f"class_weights{place_text(np.argwhere(weights < 0)[0])} is below 0")


def _infinite(trace: Trace) -> Iterator[str]:
    """A warning that names the first targets whose probability is 0."""
    for at in places(trace["losses"], np.isposinf):
        yield f"losses{at} is infinite: the probability of the right class is 0 there"


@calculation(
    logits=operand("C", kind="logits"),
    target=operand("|C", kind="data"),
    probabilities="C",
    class_weights=operand("C", kind="data"),
    leading=("n",),
    check=_check_cross_entropy,
    remarks=_infinite,
    infinite=True,
    laws={
        "never below 0": lambda f, logits: at_most(0, f(logits, shares(logits))),
        "adding the same number to all scores changes nothing": lambda f, logits, c: same(
            f(logits + c, shares(logits)), f(logits, shares(logits))
        ),
        "the gradient of the logits is p − target": lambda f, logits: same(
            f(logits, one_right(logits)).grad().result, shares(logits) - one_right(logits)
        ),
        "a blind guess among C classes costs ln C": lambda f, logits: same(
            f(0 * logits, one_right(logits)), np.log(len(logits))
        ),
    },
    pictures=("probabilities",),
    reference="Goodfellow, Bengio and Courville 2016, Deep Learning, section 6.2.2; torch.nn.CrossEntropyLoss; label "
    "smoothing: Szegedy et al. 2016, section 7",
)
def cross_entropy(
    logits: Annotated[Node | None, "scores, one row an example; −inf where masked"] = None,
    target: Annotated[
        Node | None, "the right class of each row (from 0), or a row of probabilities: one-hot or soft"
    ] = None,
    *,
    p: Annotated[Node | None, "probabilities in place of logits"] = None,
    w: Annotated[Node | None, "how much each class counts in the loss"] = None,
    from_probabilities: Annotated[bool, "the first operand already holds probabilities: no softmax is taken"] = False,
    base: Base = "e",
    reduction: Annotated[Literal["mean", "sum", "none"], "over the rows: mean, sum, or none"] = "mean",
    label_smoothing: Annotated[
        float, "this share of each target is spread evenly over all classes", Range(at_least=0, at_most=1)
    ] = 0,
    ignore_index: Annotated[int | None, "rows with this target have no loss and are not counted"] = None,
) -> Node:
    """How surprised a model is by the right classes: −log of the probability that it gave them.

    −Σ target·log softmax(logits): just −log p of the right class where there is one. Classes are on the last axis.
    The gradient with respect to the logits is p − target, divided by the number of rows for the mean.

    Conventions are those of torch.nn.CrossEntropyLoss: natural logarithm, mean over the rows; with class weights the
    mean divides by the sum of the right classes' weights; with label smoothing ε the target is
    (1 − ε)·target + ε/C, weighted by the class weights while the divisor stays that of the unsmoothed target; ignored
    rows have the loss 0. One difference: if targets are probabilities of several classes and there are weights, torch
    divides by the number of rows, here by Σ weights·target, so that one-hot rows give what class numbers give.
    """
    given = _given(logits, p, target)
    assert target is not None, "_given refuses a call without one"
    by_class = _by_class(given.axes, target, ignore_index)
    if w is not None and w.axes != given.axes[-1:]:
        raise ShapeError(f"class_weights is {describe(w.axes)}, but there are {describe(given.axes[-1:])} classes")
    if from_probabilities and p is None:
        note("logits hold probabilities, as --from-probabilities says: no softmax is taken", of="logits")
    logs = log_probabilities(given, base, shares=p is not None or from_probabilities)
    target = spread(target, given.axes[:-1] if by_class else given.axes)
    losses = -score(logs, target, w, label_smoothing, by_class=by_class)
    ignored = None if ignore_index is None else compare_equal(target, ignore_index)
    if ignored is not None:
        losses = keep_where(ignored, 0, losses)
    why = why_losses(UNITS[base], weighted=w is not None, shared=bool(label_smoothing) or not by_class)
    losses = step("losses", losses, why if ignored is None else f"{why}; 0 for the rows that are ignored")
    return step("loss", *_reduced(losses, _counts(target, w, ignored, by_class=by_class), reduction))


def why_losses(unit: str, *, weighted: bool = False, shared: bool = False) -> str:
    """What a row's loss is: of the right class, or of several by their shares of the target."""
    if shared:
        counts = "weight and share of the target" if weighted else "share of the target"
        return f"the surprise at each class, in {unit}, in proportion to its {counts}"
    times = "times the weight of that class" if weighted else "0 only if the model was certain of it"
    return f"the surprise at the right class, in {unit}{', ' if weighted else ': '}{times}"


def log_probabilities(given: Node, base: int | str = "e", *, shares: bool = False) -> Node:
    """The steps from scores, or from shares, to the logarithms of probabilities."""
    if shares:
        p = step("probabilities", given, "used as given: they sum to 1 already")
        logs = log_to(base, p)
    else:
        p = step("probabilities", softmax(given), "scores become probabilities that sum to 1 over the classes")
        direct = log_softmax(given, p)
        logs = safely(log_to(base, p), direct if base == "e" else direct / log(as_node(int(base))), p)
    return step("log_probabilities", logs, "0 for a certain class, far below 0 for one that the model thinks unlikely")


def _given(logits: Node | None, p: Node | None, target: Node | None) -> Node:
    if logits is not None and p is not None:
        raise OptionError("cross-entropy takes logits or probabilities, but both were given")
    given = logits if logits is not None else p
    if given is None or target is None:
        missing = "target" if given is not None else "logits (or --probabilities)"
        mend = example_of("cross-entropy") if given is target is None else ""
        raise OptionError(f"cross-entropy needs logits and target, but {missing} is missing", hint=mend)
    return given


def _by_class(given: Axes, target: Node, ignore_index: int | None) -> bool:
    """Whether the target tells classes by their numbers, one a row; else it holds a row of shares for each."""
    rows = given[:-1]
    if len(target.axes) == len(given):
        if ignore_index is not None:
            raise OptionError(
                "--ignore-index goes with classes given by number, but target holds probabilities",
                hint="class weights of 0 leave classes out",
            )
        return False
    if target.axes != rows and any(axis.size != 1 for axis in rows):
        raise ShapeError(
            f"the scores are {describe(given)} but target is {describe(target.axes)}",
            hint=f"one class for each row ({describe(rows)}), or a row of probabilities for each ({describe(given)})",
        )
    return True


def score(logs: Node, target: Node, w: Node | None, smoothing: float, *, by_class: bool) -> Node:
    """Each row's log-probability of what is right, weighted by class; a loss is what it lacks to 0."""
    if by_class and not smoothing:
        right = select(logs, target)
        return right if w is None else weigh(select(w, target), right)
    classes = logs.axes[-1]
    shares = one_hot(target, classes) if by_class else target
    if smoothing:
        spread_out = constant(smoothing, "epsilon", "label_smoothing")
        shares = (1 - spread_out) * shares + spread_out / logs.size(classes.name)
    return total(weigh(shares if w is None else w * shares, logs))


def _counts(target: Node, w: Node | None, ignored: Node | None, *, by_class: bool) -> Node | None:
    """What each row counts in a mean, where it is not 1 throughout."""
    if w is None:
        return None if ignored is None else keep_where(ignored, 0, 1)
    if not by_class:
        note("the weighted mean divides by Σ weights·target (torch: by the number of rows, for soft targets)")
        return total(w * target)
    weights = select(w, target)
    return weights if ignored is None else keep_where(ignored, 0, weights)


def _reduced(losses: Node, counts: Node | None, reduction: str) -> tuple[Node, str]:
    """One number from all the losses, and why."""
    if reduction == "none":
        return losses, "left as they are, one for each row"
    if not losses.axes and counts is None:
        return losses, "with a single row there is nothing to average"
    if reduction == "sum":
        return over_all(total, losses), "the sum over all rows: a larger batch has a larger loss"
    if counts is None:
        return over_all(mean, losses), "the average loss of a row, so that batches of different sizes can be compared"
    return (
        over_all(total, losses) / over_all(total, counts),
        "a weighted average: divided by the sum of the weights of the rows that count",
    )


def _check_tokens(values: Mapping[str, Any]) -> None:
    not_all_masked("logits")(values)
    must_be_places("targets", values["targets"], values["logits"].shape[-1], "V")


def _unforeseen(trace: Trace) -> Iterator[str]:
    """A warning that names the first tokens whose probability is 0."""
    for at in places(trace["log_likelihood"], np.isneginf):
        yield f"log_likelihood{at} is −∞: the token that came next had the probability 0, so the loss is infinite"


@calculation(
    logits=operand("T V", kind="logits"),
    targets=operand("T", kind="integers"),
    check=_check_tokens,
    remarks=_unforeseen,
    infinite=True,
    laws={
        "the perplexity is e to the loss": lambda f, logits: same(
            (t := f(logits, logits.argmin(-1)))["perplexity"], np.exp(t.result)
        ),
        "adding the same number to all scores changes nothing": lambda f, logits, c: same(
            f(logits + c, logits.argmin(-1)), f(logits, logits.argmin(-1))
        ),
    },
    pictures=("probabilities",),
    reference="Bengio et al. 2003, A Neural Probabilistic Language Model, section 2",
    exercise=Exercise(sizes={"T": 3}),
)
def next_token_loss(
    logits: Annotated[Node, "a row of scores over the vocabulary for each position"],
    targets: Annotated[Node, "the token that came next at each position (ids from 0), already shifted by one"],
) -> tuple[Node, Node]:
    """How surprised a language model is by each next token: the mean of −ln p(token).

    Row t of the logits is the prediction of targets[t] from the tokens before it. The perplexity, e to the loss,
    is the number of equally likely tokens that would surprise as much. The loss is the mean over the positions (some
    texts sum).
    """
    shares = step(
        "probabilities", softmax(logits), "each position's prediction: a probability for every word of the vocabulary"
    )
    right = select(shares, targets)
    logs = safely(log(right), select(log_softmax(logits, shares), targets), right)
    logs = step("log_likelihood", logs, "only the token that came next counts, not what else was thought likely")
    loss = step("loss", -mean(logs), "the mean over all positions; the minus sign turns a likelihood into a loss")
    return loss, step("perplexity", exp(loss), "in effect the model is choosing among this many equally likely tokens")


def _held_impossible(trace: Trace) -> Iterator[str]:
    """A warning that names the first tokens that were held to be impossible."""
    for at in places(trace.inputs["probabilities"].value, lambda p: p == 0):
        yield f"the perplexity is infinite: probabilities{at} is 0, and that token came"


@calculation(
    probabilities="T",
    check=lambda values: must_be_probabilities("probabilities", values["probabilities"]),
    pictures=("probabilities",),
    remarks=_held_impossible,
    infinite=True,
    laws={
        "never below 1": lambda f, probabilities: at_most(1, f(shares(probabilities))),
        "the base does not matter": lambda f, probabilities: same(
            f(shares(probabilities), base=2), f(shares(probabilities))
        ),
        "probabilities of 1/k throughout have the perplexity k": lambda f, probabilities: same(
            f(shares(0 * probabilities)), len(probabilities)
        ),
    },
    reference="Jelinek, Mercer, Bahl and Baker 1977, Perplexity: a Measure of the Difficulty of Speech Recognition "
    "Tasks",
)
def perplexity(p: Annotated[Node, "the probability that each right token was given"], *, base: Base = "e") -> Node:
    """How many equally likely choices a model is left with, on average.

    base^(−mean log p): the same for any base, as long as the logarithm and the power share it. It is 1 for
    perfect predictions and the size of the vocabulary for blind guesses; it is the geometric mean of 1/p.
    """
    logs = step("log_probabilities", log_to(base, p), "logarithms turn a product of probabilities into a sum")
    missing = step("mean_negative_log", -mean(logs), f"the cross-entropy for each token, in {UNITS[base]}")
    choices = antilog(missing, p, base)
    return step("perplexity", choices, "back from a logarithm to a number of choices, with the same base as before")
