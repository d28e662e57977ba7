"""A mixture of experts: a router sends each token to a few feed-forward networks of many."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import numpy as np

from attncalc.calculations.activations import ACTIVATIONS, activated
from attncalc.calculations.layers import GATED, FfnActivation, ffn
from attncalc.common.errors import OptionError
from attncalc.declare.calculation import calculation, same
from attncalc.declare.operands import ABOVE_0, AT_LEAST_1, Exercise
from attncalc.language.graph import Node, as_node, group, output, step
from attncalc.language.ops import index, keep_where, mean, one_hot, rename, sigmoid, softmax, spread, total
from attncalc.language.ops import ranking as best
from attncalc.record.trace import Trace

ABOUT = {
    "logits": "The router is one small matrix, a column for each expert. It is trained with everything else, through "
    "the gates: what is not chosen passes nothing back.",
    "chosen": "An expert that is not chosen costs nothing: of Mixtral's 8 experts a token meets 2, so a token takes "
    "the time of a network that is four times smaller than its memory.",
    "gates": "Renormalised, the gates of a token sum to 1 (Mixtral, Qwen 3). Switch and the first DeepSeek models "
    "leave them as they are, so that a router that is in doubt adds little.",
    "kept": "On many devices each expert has room for so many tokens. A token too many is dropped: only the path "
    "around the layer carries it on.",
    "shared": "What every token needs need not be learned by each expert again.",
    "balance_loss": "Without it a few experts are chosen more and more, because only they learn. It is smallest, 1 for "
    "each expert that a token meets, where all have the same share.",
}
"""What a teacher would add to the reason of a step."""


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
    shared_w1="d_model s",
    shared_w2="s d_model",
    shared_w3="d_model s",
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
    "Jiang et al. 2024, Mixtral of Experts, section 2.1; Dai et al. 2024, DeepSeekMoE",
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
    S_1: Annotated[Node | None, "the first weights of an expert that every token meets"] = None,
    S_2: Annotated[Node | None, "its second weights"] = None,
    S_3: Annotated[Node | None, "its weights of the part that is gated"] = None,
    top: Annotated[int, "how many experts a token is sent to", AT_LEAST_1] = 2,
    scoring: Annotated[Literal["softmax", "sigmoid"], "how the router's logits become probabilities"] = "softmax",
    no_renormalise: Annotated[bool, "the gates are the probabilities of those chosen, as they are"] = False,
    routed_scale: Annotated[float, "what the gates are multiplied by in the end", ABOVE_0] = 1,
    capacity: Annotated[
        int | None, "how many tokens an expert has room for; those after them are dropped", AT_LEAST_1
    ] = None,
    activation: FfnActivation = "swiglu",
) -> tuple[Node, Node, Node, Node]:
    """Send each token to the few experts that suit it, and mix what they make of it.

    Σ g_e·expert_e(x) over the experts e that the router ranks highest for a token; each expert is a feed-forward
    network. Here every expert works on every token, and gates of 0 leave out what a program would not compute. The
    load of each expert and the loss that balances them are additional outputs.
    """
    (e,) = W_R.axes[-1:]
    if top > e.size:
        raise OptionError(f"--top {top}: there are only {e.size} experts")
    why = "how well each expert suits each token"
    logits = step("logits", X @ W_R, why, about=ABOUT["logits"])
    if scoring == "softmax":
        scores = step("probabilities", softmax(logits), "the experts share each token's attention")
    else:
        scores = step("probabilities", sigmoid(logits), "each expert by itself: one's share takes nothing from another")
    chosen = step("chosen", best(scores, top), "the experts that a token is sent to, best first", about=ABOUT["chosen"])
    why = "which token goes where, a row for each token: a one for every expert that was chosen"
    routed = step("routed", total(one_hot(chosen, e), "rank"), why)
    why = "the probabilities of those that were chosen; nobody listens to the others"
    gates = step("taken", keep_where(as_node(0) < routed, scores, 0), why)
    if not no_renormalise:
        gates = gates / step("whole", total(gates), "what those chosen have together")
    why = "how much of each expert's result a token takes" + ("" if no_renormalise else "; those chosen share a whole")
    gates = step("gates", gates if routed_scale == 1 else gates * routed_scale, why, about=ABOUT["gates"])
    if capacity is not None:
        n = X.axes[-2]
        rows = (n._replace(name="n"), n._replace(name="m"))
        earlier = keep_where(index("m", rows, "j") < index("n", rows, "i"), 1, 0) @ rename(routed, n.name, "m")
        why = "an expert that is full turns later tokens away"
        gates = step("kept", keep_where(earlier < capacity, gates, 0), why, about=ABOUT["kept"])
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


Layer = tuple[Node | None, Node | None]
"""Weights and biases of all experts."""


def _each(X: Node, up: Layer, down: Layer, beside: Layer, activation: str) -> Node:
    """What every expert makes of every token."""
    gated = activation in GATED
    if gated != (beside[0] is not None):
        needs = f"--activation {activation} needs w3, which is missing"
        raise OptionError(needs if gated else f"w3 goes with a gated activation, and it is {activation}")
    kind = GATED.get(activation, activation)
    hidden = step("hidden", _through(X, up), "each expert has a first layer of its own")
    bent = step("activated", activated(hidden, kind), ACTIVATIONS[kind].why)
    if gated:
        passed = step("linear", _through(X, beside), "the part that the gate lets through or holds back")
        bent = step("gated", bent * passed, "each entry passes in proportion to its gate")
    return step("expert_outputs", _through(bent, down), "what each expert would answer, for every token")


def _through(x: Node, layer: Layer) -> Node:
    W, b = layer
    assert W is not None, "it is checked before"
    if x.axes[:-2] and x.axes[0] not in W.axes:  # of a batch every expert looks at every text
        x = spread(x, (W.axes[0], *x.axes))
    return x @ W if b is None else x @ W + b
