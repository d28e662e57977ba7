"""Mistakes of sampling: temperatures, filters that cut too early; drafts kept too often, and what follows them."""

from __future__ import annotations

from collections.abc import Callable

from attncalc.calculations.sampling import summed_up
from attncalc.declare.mistake import Mistake, Scope, parts, remade, wrong
from attncalc.language.graph import Node, as_node
from attncalc.language.ops import absolute, compare_equal, concat, keep_where, maximum, select, softmax, total

WHAT_IS_LEFT = "What do the shares that are left sum to?"


def _too_early(s: Scope) -> Node:
    """Only those are kept whose sum stays below p: the one that reaches it is lost."""
    kept, _ = parts(s.this, "div")
    chosen, shares, _ = parts(kept, "where")
    below = summed_up(shares) <= parts(chosen, "less")[1]
    left = keep_where(below, shares, 0)
    return left / total(left)


def _divided_throughout(s: Scope) -> Node:
    unseen, scores, less = parts(s.this, "where")
    return keep_where(unseen, scores, parts(less, "where")[2])


def _residual(rule: Callable[[Node, Node], Node]) -> Callable[[Scope], Node]:
    """Another residual of the shares P and Q of the drafted tokens' places; behind them it stays as it is."""

    def written(s: Scope) -> Node:
        beyond, behind = parts(s.this, "concat")
        P, Q = parts(parts(beyond, "maximum")[1], "sub")
        return concat([rule(P, Q), behind], "n")

    return written


def _end_not_counted(s: Scope) -> Node:
    """Only tokens that are not the end make a text longer."""
    counts = keep_where(compare_equal(s.token, s.options["end"]), 0, 1)
    return counts if s.step.args["group"] == "step 1" else parts(s.this, "add")[0] + counts


BEHIND = "What counts behind a token that was not kept?"
ON_TOP = "Which tokens has the draft written too rarely?"

MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "sampling": (
        wrong(
            "sampling-temperature-multiplied",
            "scaled",
            remade("div", lambda scores, temperature: scores * temperature),
            says="multiplied by T",
            hint="Does a low temperature make the likeliest token likelier?",
        ),
        wrong(
            "sampling-temperature-ignored",
            "scaled",
            lambda s: parts(s.this, "div")[0],
            says="not divided by T",
            hint="What is done to the scores before they become shares?",
        ),
        wrong(
            "sampling-not-renormalised",
            "top_k top_p min_p",
            lambda s: parts(s.this, "div")[0],
            says="what is left is not made to sum to 1 again",
            hint=WHAT_IS_LEFT,
        ),
        # llama.cpp's pull request 1953, fish-speech's 1171, esm's 360
        wrong(
            "sampling-top-p-too-early",
            "top_p",
            _too_early,
            says="the token that reaches p is cut off too",
            hint="Does the token that reaches p still belong to those that are left?",
        ),
        wrong(
            "sampling-min-p-absolute",
            "least",
            lambda s: parts(s.this, "mul")[0],
            says="min_p of 1, and not of the likeliest one's share",
            hint="Of whose share is that a part?",
        ),
        wrong(
            "sampling-penalty-divided",
            "penalised",
            _divided_throughout,
            says="scores below 0 divided as well",
            hint="Does dividing a negative score lower it?",
        ),
    ),
    "beam": (
        # pointer_summarizer's issue 26
        wrong(
            "beam-no-log",
            "log_probabilities",
            lambda s: parts(s.this, "log")[0],
            says="no logarithm",
            hint="How likely are two tokens together, of which each has a share?",
        ),
        # ParlAI's issue 2058, pytorch_beam_search's issue 5
        wrong(
            "beam-past-end",
            "candidates",
            lambda s: s.extended,
            says="hypotheses that have ended are made longer",
            hint="What may come behind the end?",
        ),
        # visdial's issue 5, pytorch_beam_search's issue 5
        wrong(
            "beam-no-penalty",
            "normalised",
            lambda s: parts(s.this, "div")[0],
            says="the scores as they are",
            hint="Which of two texts has more logarithms to add up?",
        ),
        # transformers' pull request 19006, d2l-zh's pull requests 514 and 1235: which texts does it favour?
        wrong(
            "beam-penalty-multiplied",
            "normalised",
            lambda s: parts(s.this, "div")[0] * s.penalty,
            says="the scores times the penalty",
            hint="Scores are negative: which way do they move by that?",
        ),
        # transformers' issue 8722, sockeye's issue 483
        wrong(
            "beam-end-not-counted",
            "length",
            _end_not_counted,
            says="the length without the end",
            hint="Is the end a token that the model has to choose?",
        ),
    ),
    "speculative": (
        # language-model-arithmetic's issue 14 and MCSD's issue 5: why not from the target itself?
        wrong(
            "speculative-no-residual",
            "residual",
            _residual(lambda P, Q: P),
            says="drawn from the target itself",
            hint=ON_TOP,
        ),
        wrong(
            "speculative-residual-turned",
            "residual",
            _residual(lambda P, Q: maximum(as_node(0), Q - P)),
            says="Q − P in place of P − Q",
            hint=ON_TOP,
        ),
        wrong(
            "speculative-residual-absolute",
            "residual",
            _residual(lambda P, Q: absolute(P - Q)),
            says="|P − Q|: what the draft writes too often counts too",
            hint=ON_TOP,
        ),
        wrong(
            "speculative-not-renormalised",
            "shares",
            lambda s: s.residual,
            says="what is left is not made to sum to 1 again",
            hint=WHAT_IS_LEFT,
        ),
        wrong(
            "speculative-ratio-inverted",
            "ratio",
            lambda s: s.draft_share / s.target_share,
            says="Q/P in place of P/Q",
            hint="Is a token that the target likes more than the draft kept less often?",
        ),
        # mlx-swift-lm's pull request 459: kept if the target, asked by itself, draws the same token
        wrong(
            "speculative-kept-by-target",
            "acceptance",
            lambda s: s.target_share,
            says="kept as often as the target draws it",
            hint="How often has the draft written that token already?",
        ),
        wrong(
            "speculative-not-cut",
            "acceptance",
            lambda s: s.ratio,
            says="P/Q where that is more than 1",
            hint="How likely may anything be at most?",
        ),
        # transformers' issue 47932: the draft's shares are not those that it drew from
        wrong(
            "speculative-draft-uncooled",
            "draft_probabilities",
            lambda s: softmax(parts(s.draft_scaled, "div")[0]),
            says="the draft's scores are not divided by T",
            hint="From which shares did the draft draw its tokens?",
        ),
        wrong(
            "speculative-kept-behind",
            "accepted",
            lambda s: total(s.kept),
            says="tokens behind one that is not kept are counted",
            hint=BEHIND,
        ),
        wrong(
            "speculative-first-alone",
            "reached",
            lambda s: s.acceptance,
            says="each token's chance by itself",
            hint=BEHIND,
        ),
        wrong(
            "speculative-one-row-on",
            "drawn_from",
            lambda s: select(s.shares, s.accepted + 1, "n"),
            says="the row behind the first that is not kept",
            hint="Which place is to be filled by the token that is drawn?",
        ),
    ),
}
"""Calculation → its mistakes, the commonest first."""
