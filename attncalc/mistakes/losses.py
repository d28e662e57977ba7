"""Mistakes of cross-entropy and perplexity: softmax twice, a sign, sum or mean, which logarithm."""

from __future__ import annotations

from attncalc.declare.mistake import Mistake, NotThere, Scope, alternative, chosen, parts, replaced, wrong
from attncalc.language.graph import Node, as_node
from attncalc.language.ops import exp, log, mean, power, select, total
from attncalc.mistakes.cross_entropy import LOGARITHMS, OF_ROWS, OF_SHARES, ORDER, SCORE, SIGN, sloped_again, to_base

PER_WHAT = "Is that the loss of all rows together, or of one on average?"
SAME_BASE = "Does the base of the power match that of the logarithm?"


def _of_all(s: Scope) -> Node:
    return s.this / s.probabilities.size(s.probabilities.names[-1])


def _by_classes(s: Scope) -> Node:
    N, C = s.losses.axes[-1:], s.probabilities.axes[-1:]
    if s.options["reduction"] != "mean" or not N or N[0].size == C[0].size:
        raise NotThere("another number of rows than of classes")
    return total(s.losses) / s.probabilities.size(C[0].name)


def _counted_from_1(s: Scope) -> Node:
    if len(s.step.axes) == len(s.logits.axes):
        raise NotThere("classes")
    return s.step - 1


CROSS_ENTROPY = (
    *OF_ROWS,
    wrong(
        "ce-sum",
        options=chosen(reduction={"mean": "sum", "sum": "mean"}),
        says="the sum over the rows in place of their mean, or the other way round",
        hint=PER_WHAT,
        kind="convention",
    ),
    wrong("ce-mean-all", "loss", _of_all, says="divided by N·C in place of N", hint=PER_WHAT),
    wrong("ce-mean-classes", "loss", _by_classes, says="divided by C in place of N", hint=PER_WHAT),
    wrong(
        "ce-from-1",
        "target",
        _counted_from_1,
        says="the classes counted from 1",
        hint="Which number has the first class?",
        kind="convention",
    ),
    wrong(
        "ce-all-classes",
        "losses",
        lambda s: -total(log(s.probabilities)),
        says="−Σ ln p over all classes",
        hint="Which classes of a row play a part in its loss?",
    ),
    *LOGARITHMS,
    wrong(
        "ce-grad-sign",
        "grad_logits",
        lambda s: -s.this,
        says="y − p",
        hint="Which way does the loss rise?",
    ),
    wrong(
        "ce-grad-no-target",
        "grad_logits",
        lambda s: -parts(s.this, "sub")[1],
        says="p in place of p − y",
        hint="Where does the target enter the gradient?",
    ),
    wrong(
        "ce-grad-no-softmax",
        "grad_logits",
        lambda s: parts(s.this, "sub")[0] / s.probabilities,
        says="−y/p: the gradient of the probabilities",
        hint="Of which step is that the gradient?",
    ),
    *sloped_again("grad_logits", lambda s: s.this),
)


def _logs(s: Scope) -> Node:
    """The logarithms of the right tokens' probabilities."""
    return s.log_likelihood if "log_likelihood" in s else s.log_probabilities


def _missing(s: Scope) -> Node:
    """The mean of −log p."""
    return s.loss if "loss" in s else s.mean_negative_log


def _natural(s: Scope) -> Node:
    if s.options.get("base", "e") != "e":
        raise NotThere("nats")
    return _missing(s)


def _bits(s: Scope) -> Node:
    if s.options.get("base", "e") == "e":
        raise NotThere("bits")
    return _missing(s)


def _in_bits(s: Scope) -> Node:
    if s.options["base"] != "e":
        raise NotThere("nats")
    return s.this / log(as_node(2))


def _by_another_base(s: Scope) -> Node:
    """Logarithms and the power by 2 where e was meant, by e where it was another."""
    natural = s.options["base"] == "e"
    if s.step.args["name"] == "log_probabilities":
        return s.this / log(as_node(2)) if natural else log(s.probabilities)
    return power(as_node(2), s.mean_negative_log) if natural else exp(s.mean_negative_log)


PERPLEXITY = (
    wrong(
        "ppl-2pow-nats",
        "perplexity",
        lambda s: power(as_node(2), _natural(s)),
        says="2^L, where L is in nats",
        hint=SAME_BASE,
    ),
    wrong("ppl-exp-bits", "perplexity", lambda s: exp(_bits(s)), says="e^L, where L has another base", hint=SAME_BASE),
    wrong("ppl-exp-bits", "log_probabilities", _in_bits, says="e^L, where L has another base", hint=SAME_BASE),
    wrong(
        "ppl-exp-sum",
        "perplexity",
        lambda s: replaced(s.this, _missing(s), -total(_logs(s))),
        says="e^Σ, or ∏ 1/p: not per token",
        hint="Is that per token, or for the whole text?",
    ),
    wrong(
        "ppl-exp-sum",
        "mean_negative_log",
        lambda s: -total(_logs(s)),
        says="the sum in place of the mean: not per token",
        hint="Is that per token, or for the whole text?",
    ),
    wrong(
        "ppl-mean-of-exp",
        "perplexity",
        lambda s: mean(replaced(s.this, _missing(s), -_logs(s))),
        says="the mean of 1/p",
        hint="Which comes first: the mean, or the power?",
    ),
    wrong(
        "ppl-no-exp",
        "perplexity",
        _missing,
        says="L itself",
        hint="Could this be a number of choices?",
    ),
    wrong(
        "ppl-inverse",
        "perplexity",
        lambda s: 1 / s.this,
        says="the geometric mean of p",
        hint="Could this be a number of choices?",
    ),
    wrong(
        "ppl-T-minus-1",
        "mean_negative_log loss",
        lambda s: -total(_logs(s)) / (_logs(s).size(_logs(s).names[-1]) - 1),
        says="divided by T − 1",
        hint="How many forecasts were scored?",
    ),
)


def _token_logits(s: Scope) -> Node:
    return -mean(select(s.logits, s.targets))


NEXT_TOKEN = (
    *OF_SHARES,
    wrong("ce-no-minus", "loss", lambda s: -s.this, says="+ln p", hint=SIGN),
    wrong(
        "ce-sum",
        "loss",
        lambda s: -total(s.log_likelihood),
        says="the sum over the tokens",
        hint=PER_WHAT,
        kind="convention",
    ),
    wrong("ce-logit", "loss", _token_logits, says="−z of the right token", hint=SCORE),
    wrong(
        "ce-logit",
        "log_likelihood",
        lambda s: select(s.logits, s.targets),
        says="z of the right token in place of its logarithm",
        hint=SCORE,
    ),
    to_base(2, "log_likelihood"),
    wrong(
        "ce-log-of-mean",
        "loss",
        lambda s: -log(mean(exp(s.log_likelihood))),
        says="−ln of the mean probability",
        hint=ORDER,
    ),
)

MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "cross-entropy": CROSS_ENTROPY,
    "next-token-loss": (*NEXT_TOKEN, *(m for m in PERPLEXITY if m.id != "ppl-exp-bits")),
    "perplexity": (
        alternative(
            "ppl-any-base",
            "log_probabilities perplexity",
            _by_another_base,
            says="logarithms and power by another base, the same one for both",
        ),
        *PERPLEXITY,
    ),
}
"""Calculation → its mistakes, the commonest first."""
