"""A mixture of experts: a router sends each token to a few feed-forward networks of many."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import numpy as np

from attncalc.calculations.layers import GATED, FfnActivation, bent, ffn
from attncalc.common.errors import OptionError
from attncalc.common.system import NamedTuple
from attncalc.declare.calculation import calculation, same
from attncalc.declare.operands import ABOVE_0, AT_LEAST_1, IF_ANY, Exercise, With
from attncalc.language.axes import Axis
from attncalc.language.graph import Node, as_node, constant, constants, group, output, step
from attncalc.language.ops import (
    affine,
    index,
    keep_where,
    lookup,
    mean,
    one_hot,
    part_of,
    peak,
    rename,
    sigmoid,
    softmax,
    spread,
    stack,
    total,
)
from attncalc.language.ops import ranking as best
from attncalc.record.trace import Trace

ABOUT = {
    "logits": "The router is one small matrix, a column for each expert. It is trained with everything else, through "
    "the gates: what is not chosen passes nothing back.",
    "chosen": "An expert that is not chosen costs nothing: of Mixtral's 8 experts a token meets 2, so a token takes "
    "the time of a network that is four times smaller than its memory.",
    "gates": "Renormalised, the gates of a token sum to 1 (Mixtral, Qwen 3). Switch and the first DeepSeek models "
    "leave them as they are, so that a router that is in doubt adds little.",
    "corrected": "DeepSeek-V3 raises it a little after each step of training for an expert that had too few tokens, "
    "and lowers it for one that had too many. It has no gradient, and no loss has to balance the experts.",
    "group_scores": "The experts of a group share a device. A token that goes to few groups is sent to few devices.",
    "kept": "On many devices each expert has room for so many tokens. A token too many is dropped: only the path "
    "around the layer carries it on.",
    "shared": "What every token needs need not be learned by each expert again.",
    "balance_loss": "Without it a few experts are chosen more and more, because only they learn. It is smallest, 1 for "
    "each expert that a token meets, where all have the same share.",
}
"""What a teacher would add to the reason of a step."""


GROUPED = With(("groups",))


class Routing(NamedTuple):
    """How tokens are sent to experts: options that a whole model has under --experts-…."""

    top: Annotated[int, "how many experts a token is sent to", AT_LEAST_1] = 2
    scoring: Annotated[Literal["softmax", "sigmoid"], "how the router's logits become probabilities"] = "softmax"
    no_renormalise: Annotated[bool, "the gates are the probabilities of those chosen, as they are"] = False
    routed_scale: Annotated[float, "what the gates are multiplied by in the end", ABOVE_0] = 1
    groups: Annotated[int | None, "the experts stand in so many groups, of which a token meets few", IF_ANY] = None
    top_groups: Annotated[int, "of how many groups a token meets experts, with --groups", AT_LEAST_1, GROUPED] = 1
    group_by: Annotated[
        Literal["best", "best-two"], "what ranks a group: its best expert, or its best two", GROUPED
    ] = "best"


AS_MIXTRAL = Routing()


def _dropped(trace: Trace) -> Iterator[str]:
    """A warning for tokens that no expert had room for."""
    routed = next((made for made in trace.steps if made.name == "kept"), None)
    if routed is not None and routed.value is not None:
        lost = np.argwhere((routed.value == 0).all(axis=-1)).ravel().tolist()
        if lost:
            yield f"no expert had room for token {', '.join(map(str, lost[:5]))}{' and others' if lost[5:] else ''}"


@calculation(
    x="n d_model",
    router="d_model e",
    w1="e d_model d_ff",
    w2="e d_ff d_model",
    b1="e d_ff",
    b2="e d_model",
    w3="e d_model d_ff",
    b3="e d_ff",
    router_bias="e",
    shared_w1="d_model s",
    shared_w2="s d_model",
    shared_w3="d_model s",
    correction="e",
    remarks=_dropped,
    laws={
        "each token is sent by itself": lambda f, x, router, w1, w2: same(
            f(x[:1], router, w1, w2, activation="relu"), f(x, router, w1, w2, activation="relu").result[:1]
        ),
        "the gates of a token sum to 1": lambda f, x, router, w1, w2: same(
            f(x, router, w1, w2, top=1, activation="relu")["gates"].sum(-1), 1
        ),
    },
    pictures=("gates",),
    reference="Shazeer et al. 2017, eq. 1 and 3–5; Fedus, Zoph and Shazeer 2022, Switch Transformers, eq. 4–6; "
    "Jiang et al. 2024, Mixtral of Experts, section 2.1; Dai et al. 2024, DeepSeekMoE, eq. 9–11; "
    "groups and correction: DeepSeek-AI 2024, DeepSeek-V3, eq. 12–16, as in transformers",
    exercise=Exercise(sizes={"e": 3}),
)
def experts(
    X: Annotated[Node, "the tokens, one a row"],
    W_R: Annotated[Node, "the router: a column for each expert"],
    W_1: Annotated[Node, "the experts' first weights (up), one matrix for each"],
    W_2: Annotated[Node, "the experts' second weights (back down)"],
    *,
    b_1: Annotated[Node | None, "their biases"] = None,
    b_2: Annotated[Node | None, "their biases"] = None,
    W_3: Annotated[Node | None, "the weights of the parts that the activation gates (swiglu, geglu …)"] = None,
    b_3: Annotated[Node | None, "their biases"] = None,
    b_router: Annotated[Node | None, "the router's bias, a number for each expert"] = None,
    S_1: Annotated[Node | None, "the first weights of an expert that every token meets"] = None,
    S_2: Annotated[Node | None, "its second weights"] = None,
    S_3: Annotated[Node | None, "its weights of the part that is gated"] = None,
    c_R: Annotated[Node | None, "what is added to the probabilities where experts are ranked, and only there"] = None,
    routing: Annotated[Routing, ""] = AS_MIXTRAL,
    capacity: Annotated[
        int | None, "how many tokens an expert has room for; those after them are dropped", IF_ANY
    ] = None,
    activation: FfnActivation = "swiglu",
) -> tuple[Node, Node, Node, Node]:
    """Send each token to the few experts that suit it, and mix what they make of it.

    Σ g_e·expert_e(x) over the experts e that the router ranks highest for a token; each expert is a feed-forward
    network. Here every expert works on every token, and gates of 0 leave out what a program would not compute. The
    load of each expert and the loss that balances them are additional outputs.
    """
    (e,) = W_R.axes[-1:]
    if routing.top > e.size:
        raise OptionError(f"--top {routing.top}: there are only {e.size} experts")
    why = "how well each expert suits each token"
    logits = step("logits", affine(X, W_R, b_router), why, about=ABOUT["logits"])
    if routing.scoring == "softmax":
        scores = step("probabilities", softmax(logits), "the experts share each token's attention")
    else:
        scores = step("probabilities", sigmoid(logits), "each expert by itself: one's share takes nothing from another")
    ranked = scores
    if c_R is not None:
        why = "who had too few tokens in training is ranked higher; the gates know nothing of it"
        ranked = step("corrected", scores + c_R, why, about=ABOUT["corrected"])
    if routing.groups is not None:
        ranked = _of_best_groups(ranked, routing.groups, routing)
    why = "the experts that a token is sent to, best first"
    chosen = step("chosen", best(ranked, routing.top), why, about=ABOUT["chosen"])
    why = "which token goes where, a row for each token: a one for every expert that was chosen"
    routed = step("routed", total(one_hot(chosen, e), "rank"), why)
    why = "the probabilities of those that were chosen; nobody listens to the others"
    gates = step("taken", keep_where(as_node(0) < routed, scores, 0), why)
    if not routing.no_renormalise:
        gates = gates / step("whole", total(gates), "what those chosen have together")
    if routing.routed_scale != 1:
        gates = gates * routing.routed_scale
    whole = "" if routing.no_renormalise else "; those chosen share a whole"
    gates = step("gates", gates, f"how much of each expert's result a token takes{whole}", about=ABOUT["gates"])
    if capacity is not None:
        n = X.axes[-2]
        rows = (n._replace(name="n"), n._replace(name="m"))
        earlier = keep_where(index("m", rows, "j") < index("n", rows, "i"), 1, 0) @ rename(routed, n.name, "m")
        has_room = earlier < constant(capacity, "capacity", "capacity")
        why = "an expert that is full turns later tokens away"
        gates = step("kept", keep_where(has_room, gates, 0), why, about=ABOUT["kept"])
    found = _each(X, (W_1, b_1), (W_2, b_2), (W_3, b_3), activation)
    why = "each token adds up what its experts answer, by the gates; the others count nothing"
    mixed = step("mixed" if S_1 is not None else "output", total(gates.T * found, e.name), why)
    load = output("load", total(routed, "n"), "how many tokens each expert was chosen for")
    if S_1 is not None and S_2 is not None:
        with group("shared"):
            shared = ffn.graph(X, S_1, None, S_2, W_3=S_3, activation=activation)
        mixed = step("output", mixed + shared, "beside it stands what every token gets", about=ABOUT["shared"])
    elif S_1 is not None or S_2 is not None or S_3 is not None:
        raise OptionError("a shared expert needs shared_w1 and shared_w2")
    why = "each expert's share of the tokens times its mean probability, added up, times the number of experts"
    balance = output("balance_loss", e.size * total(load / X.size("n") * mean(scores, "n")), why)
    return mixed, chosen, load, balance


def _of_best_groups(scores: Node, groups: int, routing: Routing) -> Node:
    """The scores, −∞ for experts outside the groups that are ranked highest."""
    (e,) = scores.axes[-1:]
    size, rest = divmod(e.size, groups)
    wide = 1 if routing.group_by == "best" else 2
    if rest or size < wide:
        pairs = "" if wide == 1 else ", of two experts at least"
        raise OptionError(f"--groups {groups}: {e.size} experts do not stand in {groups} equal groups{pairs}")
    if routing.top_groups * size < routing.top or routing.top_groups > groups:
        facts = f"{groups} groups of {size} experts, and --top is {routing.top}"
        raise OptionError(f"--top-groups {routing.top_groups} does not fit: there are {facts}")
    parts = [part_of(scores, e.name, g * size, (g + 1) * size) for g in range(groups)]
    if wide == 2:
        two = [total(one_hot(best(part, 2), part.axes[-1]), "rank") for part in parts]
        parts = [keep_where(as_node(0) < among, part, 0) for among, part in zip(two, parts, strict=True)]
    why = "each group is as good as its best expert" if wide == 1 else "each group is as good as its best two experts"
    found = stack([peak(part) if wide == 1 else total(part) for part in parts], "group").T
    found = step("group_scores", found, why, about=ABOUT["group_scores"])
    best_groups = step("groups", best(found, routing.top_groups), "the groups that a token meets, best first")
    open_ = total(one_hot(best_groups, Axis("group", groups)), "rank")
    numbers = constants([i // size for i in range(e.size)], e, "group of")
    why = "experts of other groups are out of the question"
    return step("within", keep_where(as_node(0) < lookup(open_, numbers, "group"), scores, -np.inf), why)


Layer = tuple[Node | None, Node | None]
"""Weights and biases of all experts."""


def _each(X: Node, up: Layer, down: Layer, beside: Layer, activation: str) -> Node:
    """What every expert makes of every token."""
    gated = activation in GATED
    if gated != (beside[0] is not None):
        needs = f"--activation {activation} needs w3, which is missing"
        raise OptionError(needs if gated else f"w3 goes with a gated activation, and it is {activation}")
    hidden = step("hidden", _through(X, up), "each expert has a first layer of its own")
    inner = bent(hidden, (lambda: _through(X, beside)) if gated else None, activation)
    return step("expert_outputs", _through(inner, down), "what each expert would answer, for every token")


def _through(x: Node, layer: Layer) -> Node:
    W, b = layer
    assert W is not None, "it is checked before"
    if x.axes[:-2] and x.axes[0] not in W.axes:  # in a batch every expert gets every text
        x = spread(x, (W.axes[0], *x.axes))
    return x @ W if b is None else x @ W + b
