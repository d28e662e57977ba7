"""Mistakes of experts in whole models, where several layers of experts follow each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attncalc.declare.mistake import NotThere, Scope, another, chosen, inside, parts, wrong
from attncalc.language.graph import Node, as_node
from attncalc.language.ops import keep_where, sigmoid, softmax, total
from attncalc.mistakes.masking import logits
from attncalc.mistakes.projections import OF_EXPERTS, factors, gates_unscaled, with_product


def _shared_in_the_whole(s: Scope) -> Node:
    """The shared experts multiplied as the chosen ones are."""
    scale: float = s.options["experts_routed_scale"]
    if scale == 1:
        raise NotThere("a scale")
    mixed, shared = parts(s.this, "add")
    return mixed + shared * scale


def _gated_before(s: Scope) -> Node:
    """What goes into an expert multiplied by its gate, and what comes out added as it is."""
    if s.step.args["name"] == "gates":
        return s.routed
    tokens, W = factors(s)
    return with_product(s, s.due("gates").T * (tokens @ W))


def _corrected_before(s: Scope) -> Node:
    """The correction added to the router's logits, so that gates and ranks both take it."""
    correction = parts(s.due("corrected"), "add")[1]
    if s.step.args["name"] == "corrected":
        return s.probabilities
    bend = sigmoid if s.options["experts_scoring"] == "sigmoid" else softmax
    return bend(s.logits + correction)


def _ranked_otherwise(given: Mapping[str, Any]) -> Mapping[str, Any]:
    if given["experts_groups"] is None:
        raise NotThere("groups")
    return {"experts_group_by": "best" if given["experts_group_by"] == "best-two" else "best-two"}


EXPERTS_OF_MODELS = (
    *inside(OF_EXPERTS, "feed-forward"),
    wrong(
        "experts-shared-scaled",
        "feed-forward/output",
        _shared_in_the_whole,
        says="the shared experts are scaled as the chosen ones are",
        hint="Which experts are multiplied by the scale of the gates?",
    ),
    wrong(
        "experts-softmax-over-tokens",
        "feed-forward/probabilities",
        lambda s: softmax(logits(s), s.this.names[-2]),
        says="shares over the tokens, in place of over the experts",
        hint="Over what do the shares of a token sum to 1?",
    ),
    wrong(
        "experts-no-gates",
        "feed-forward/gates",
        lambda s: s.routed / total(s.routed),
        says="the mean of the chosen experts, without gates",
        hint="Does a token listen to all chosen experts alike?",
    ),
    wrong(
        "experts-scoring-swapped",
        options=chosen(experts_scoring={"softmax": "sigmoid", "sigmoid": "softmax"}),
        says="probabilities by the other function, a sigmoid or a softmax",
        hint="Does what one expert gets take something from another in this model?",
        kind="convention",
    ),
    wrong(
        "experts-one-fewer",
        options=another("experts_top", lambda there: there - 1),
        says="one expert fewer for each token",
        hint="How many experts does a token meet?",
    ),
    wrong(
        "experts-one-more",
        options=another("experts_top", lambda there: there + 1),
        says="one expert more for each token",
        hint="How many experts does a token meet?",
    ),
    gates_unscaled("experts_routed_scale"),
    wrong(
        "experts-groups-missing",
        options={"experts_groups": None},
        says="experts of any group are chosen",
        hint="Of how many groups does a token meet experts?",
    ),
    wrong(
        "experts-softmax-after-topk",
        options=chosen(experts_no_renormalise={True: False}),
        says="the gates of those chosen share a whole",
        hint="What do the gates of a token sum to?",
        kind="convention",
    ),
    wrong(
        "experts-groups-by-other",
        options=_ranked_otherwise,
        says="a group ranked by its best expert in place of its best two, or the other way round",
        hint="How good is a group of experts for a token?",
        kind="convention",
    ),
    # some kernels do this with the option apply_router_weight_on_input
    wrong(
        "experts-gated-before",
        "feed-forward/gates feed-forward/hidden feed-forward/linear",
        _gated_before,
        says="what goes into an expert is multiplied by its gate, in place of what comes out",
        hint="Does a gate weigh what an expert is asked, or what it answers?",
    ),
    wrong(
        "experts-correction-in-logits",
        "feed-forward/probabilities feed-forward/corrected",
        _corrected_before,
        says="the correction is added to the router's logits, as a bias is",
        hint="What is the correction of an expert for?",
    ),
    wrong(
        "experts-correction-missing",
        "feed-forward/corrected",
        lambda s: s.probabilities,
        says="experts are ranked by their probabilities alone",
        hint="By what does this model rank its experts?",
    ),
    wrong(
        "experts-correction-in-gates",
        "feed-forward/taken",
        lambda s: keep_where(as_node(0) < s.routed, s.corrected, 0),
        says="the gates take the correction too, which is for ranking",
        hint="What is the correction of an expert for?",
    ),
    wrong(
        "experts-not-renormalised",
        options=chosen(experts_no_renormalise={False: True}),
        says="the gates are the probabilities of those chosen, which do not sum to 1",
        hint="What do the gates of a token sum to?",
    ),
)
