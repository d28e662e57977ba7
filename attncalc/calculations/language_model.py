"""A whole language model, from token ids to the next token: embeddings, a stack of layers, a norm, and words again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import count, takewhile
from typing import Annotated, Literal

import numpy as np

from attncalc.calculations.attention_options import DEFAULTS, Rotation
from attncalc.calculations.experts import experts
from attncalc.calculations.layers import FfnActivation, embed
from attncalc.calculations.losses import next_token_loss
from attncalc.calculations.multihead import AS_IN_2017, Attending, Heads, Sight
from attncalc.calculations.normalisation import Epsilon, Style, learned_by, normed
from attncalc.calculations.transformer import TURNS
from attncalc.calculations.transformer_blocks import (
    ENCODER,
    JOINED,
    SIZES,
    Joining,
    Norm,
    Part,
    designed,
    encoder_layer,
)
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple
from attncalc.declare.calculation import Measured, calculation
from attncalc.declare.operands import ABOVE_0, AT_LEAST_1, Exercise, Weights, operand, options_of, weight
from attncalc.evaluate.loops import Growth
from attncalc.language.axes import Axis
from attncalc.language.graph import Node, aside, group, output, step
from attncalc.language.ops import affine, concat, rename, softmax, spread, take, tanh
from attncalc.language.ops import ranking as best
from attncalc.language.ops.parts import part_of
from attncalc.record.trace import FACTS, Step, Trace

MOST_NEXT = 5


def path_of(name: str) -> str:
    """Where in a layer a weight of a block lies: "wq" → "attention/wq", "post_gamma1" → "post-norm1/gamma"."""
    norm = re.fullmatch(r"(post_)?(gamma|beta)(\d)", name)
    if norm:
        return f"{'post-' if norm[1] else ''}norm{norm[3]}/{norm[2]}"
    if name[1:] in ("_gamma", "_beta"):
        return f"attention/{name[0]}-norm/{name[2:]}"
    return f"{'feed-forward' if name[1:].isdigit() else 'attention'}/{name}"


class Routing(NamedTuple):
    """How tokens are sent to experts, where the layers have any in place of a feed-forward network."""

    top: Annotated[int, "how many experts a token is sent to", AT_LEAST_1] = 2
    no_renormalise: Annotated[bool, "the gates are the probabilities of those chosen, as they are"] = False


AS_MIXTRAL = Routing()
EXPERTS = {
    "router": weight("d_model e", "W_R", "the router: a column for each expert"),
    "w1": weight("e d_model d_ff", "W_1", "the experts' first weights (up), one matrix for each"),
    "w2": weight("e d_ff d_model", "W_2", "the experts' second weights (back down)"),
    "w3": weight("e d_model d_ff", "W_3", "the weights of the parts that the activation gates"),
}
LAYER = {path_of(name): declared for name, declared in ENCODER.items()}
LAYER |= {path: LAYER[path]._replace(required=False) for path in ("feed-forward/w1", "feed-forward/w2")}
LAYER |= {f"experts/{name}": declared for name, declared in EXPERTS.items()}
EMBEDDING = {
    "table": weight("V d_model", "E", "the embeddings, one row for each token of the vocabulary", required=True),
    "positions": weight("p d_model", "P", "what is added for the position, one row each"),
    "norm/gamma": weight("d_model", "gamma", "the gain of a norm of the embeddings"),
    "norm/beta": weight("d_model", "beta", "its shift"),
}
FINAL_NORM = {
    "gamma": weight("d_model", "gamma", "the gain of the norm behind the last layer"),
    "beta": weight("d_model", "beta", "its shift"),
}
HEAD = {
    "weights": weight("d_model V", "W_U", "from vectors to words; the embeddings again if not given"),
    "bias": weight("V", "b_U", "its bias"),
}
"""The weights of a model, by their places in it."""


def _with_the_next(trace: Trace) -> Trace:
    """The trace with what is told of the whole: how long vectors are in each layer, and the likeliest next tokens."""
    options = options_of(trace)
    if trace.calculation != "model":
        return trace
    told = [*_layers_told(trace)]
    if not options["no_causal"]:
        logits, shares = trace["logits"][-1], trace["next_probabilities"]
        top = np.argsort(-logits, kind="stable")[: options["top"]]
        words = trace.inputs["embedding/table"].labels.get(0, ())
        ids = tuple(f"{i} {words[int(i)]}" if words else str(i) for i in top)
        why = "the tokens that fit best behind the last one"
        facts = {"logit": logits[top], "probability": shares[top]}
        told.append(_facts("next", "token", ids, facts, why))
    return trace._replace(outputs=(*trace.outputs, *told))


def _layers_told(trace: Trace) -> Iterator[Step]:
    """How long the tokens' vectors are behind each layer, on average, and what its two parts have added.

    Nothing is told of a large run that has not kept these steps.
    """
    steps = {made.key: made.value for made in trace.steps if made.value is not None}
    known = {made.key for made in trace.steps}
    layers = [*takewhile(lambda i: f"layer {i}/residual2" in known, count())]
    told = {"residual stream": "residual2", "attention": "attention/output", "feed-forward": "feed-forward/output"}
    if all(f"layer {i}/{name}" in steps for i in layers for name in told.values()):
        facts = {of: np.array([_length(steps[f"layer {i}/{name}"]) for i in layers]) for of, name in told.items()}
        why = "the mean length of the tokens' vectors: what goes on to the next layer, and what each part has added"
        yield _facts("layers", "layer", tuple(map(str, layers)), facts, why)


def _length(vectors: Array) -> float:
    return float(np.linalg.norm(vectors, axis=-1).mean())


def _facts(name: str, of: str, labels: tuple[str, ...], facts: dict[str, Array], why: str) -> Step:
    """A table of facts, a row for each thing."""
    rows = np.stack(list(facts.values()), axis=-1)
    return Step(name, "", (of, FACTS), rows.shape, rows, name, why=why, labels={of: labels, FACTS: tuple(facts)})


@calculation(
    checkpoint=operand("", kind="checkpoint"),
    tokens=operand("n", kind="tokens", of="V"),
    targets=operand("n", kind="tokens", of="V"),
    embedding=EMBEDDING,
    layer=LAYER,
    final_norm=FINAL_NORM,
    logits=HEAD,
    sizes=SIZES,
    finish=_with_the_next,
    reference="Radford et al. 2019, section 2.3; Touvron et al. 2023, LLaMA, section 2.2; as in transformers",
    exercise=Exercise(refused="a whole model has hundreds of steps", instead="quiz decoder-only has one of its layers"),
)
def model(
    checkpoint: Annotated[Node, "a folder with config.json and safetensors, as Hugging Face's libraries write it"],
    tokens: Annotated[Node, "the ids of the text to go on from: 15496,995, or a file of them"],
    targets: Annotated[Node | None, "the right token behind each of them; the next of the text if not given"] = None,
    *,
    embedding: tuple[Weights, ...],
    layer: tuple[Weights, ...],
    final_norm: tuple[Weights, ...],
    logits: tuple[Weights, ...],
    heads: Heads = 1,
    norm: Norm = "rms",
    activation: FfnActivation = "swiglu",
    eps: Epsilon = 1e-5,
    no_causal: Annotated[bool, "let tokens see the ones after them, too"] = False,
    attending: Annotated[Attending, ""] = AS_IN_2017,
    rotation: Annotated[Rotation, "rope_"] = DEFAULTS,
    joining: Annotated[Joining, ""] = JOINED,
    routing: Annotated[Routing, "experts_"] = AS_MIXTRAL,
    bias: Annotated[Literal["alibi", "t5"] | None, "what position adds to the scores"] = None,
    scale_embedding: Annotated[bool, "multiply the embeddings by √d_model"] = False,
    window_layers: Annotated[tuple[int, ...] | None, "the layers that --window is for, counted from 0 (all)"] = None,
    local_rope_base: Annotated[float | None, "the base of the turns in those layers, without scaling", ABOVE_0] = None,
    final_softcap: Annotated[float | None, "logits are squeezed into −C … C: C·tanh(logit/C)", ABOVE_0] = None,
    top: Annotated[int, "how many of the likeliest next tokens are told", AT_LEAST_1] = MOST_NEXT,
    generate: Annotated[int | None, "generate this many tokens, one after the other", TURNS] = None,
) -> Measured | Growth:
    """Compute a model as it is stored: the logits of every position, the loss, and the likeliest next tokens.

    Layers are numbered from 0 and have the steps of decoder-only: `layer 3/attention/weights`. hidden[0] are the
    embeddings, hidden[L] what the final norm gives. --generate appends the likeliest token again and again; the
    other outputs stay those of the text that was given.
    """
    (table,) = embedding
    E = table["table"]
    assert E is not None, "it is required"
    design = designed(norm, activation, eps, joining, kind="rms", at="pre")

    def passed(ids: Node) -> tuple[Node, list[Node]]:
        """The logits of a text, and what comes into each layer, and out of the last norm."""
        with group("embedding"):
            x = embed.graph(ids, E, P=table["positions"], scale=scale_embedding)[0]
            if table["norm/gamma"] is not None:
                x = _last_norm(x, "norm", table["norm/gamma"], table["norm/beta"], design.style)
        hidden = [x]
        for i, weights in enumerate(layer):
            sight = _sight(i, window_layers, attending, rotation, local_rope_base)
            sight = sight._replace(causal=not no_causal, B=bias)
            with group(f"layer {i}"):
                named = {name: weights[path_of(name)] for name in ENCODER}
                x = encoder_layer(x, named, design, sight, "attention", _routed(weights, activation, routing))
            hidden.append(x)
        for last in final_norm:
            hidden[-1] = x = _last_norm(x, "final norm", last["gamma"], last["beta"], design.style)
        return _head(x, E, logits, final_softcap), hidden

    found, states = passed(tokens)
    n = found.axes[-2]
    last = softmax(take(found, n.name, n.size - 1))
    aside("next_probabilities", last, "the share of every token as the next one")
    whole = concat([spread(x, (Axis("L+1", 1), *x.axes)) for x in states], "L+1")
    told = output("hidden", whole, "what goes into each layer, and what the final norm makes of the last one's output")
    loss = _loss(found, tokens, targets, no_causal=no_causal)
    results = (found, told, *([loss] if loss is not None else []))
    if generate is None:
        return Measured(results, loss)
    return _growth(tokens, found, lambda ids: passed(ids)[0], generate, results)


def _routed(weights: Weights, activation: str, routing: Routing) -> Part | None:
    """The experts of a layer, None where it has a feed-forward network."""
    router, *held = (weights[f"experts/{name}"] for name in EXPERTS)
    if router is None:
        return None

    def part(x: Node) -> Node:
        with group("feed-forward"):
            found: Node = experts.graph(x, router, *held[:2], W_3=held[2], activation=activation, **routing._asdict())[
                0
            ]
        return found

    return part


def _sight(
    i: int, chosen: tuple[int, ...] | None, attending: Attending, rotation: Rotation, local_base: float | None
) -> Sight:
    """Who looks at whom in a layer, which may be one of those with a window."""
    local = chosen is None or i in chosen
    if local and local_base is not None:
        rotation = Rotation(base=local_base, layout=rotation.layout, dims=rotation.dims)
    return Sight(attending=attending if local else attending._replace(window=None), rotation=rotation)


def _last_norm(x: Node, name: str, gamma: Node | None, beta: Node | None, style: Style) -> Node:
    """A norm of its own, in a group of that name."""
    return normed(x, name, {learned_by(name, "gamma"): gamma, learned_by(name, "beta"): beta}, style)


def _head(x: Node, E: Node, heads: tuple[Weights, ...], softcap: float | None) -> Node:
    """How well each token of the vocabulary would follow each position."""
    head: Weights = heads[0] if heads else {}
    why = "how well each token of the vocabulary would follow each position"
    W = head.get("weights")
    raw = affine(x, E.T if W is None else W, head.get("bias"))
    if softcap is None:
        return step("logits", raw, why)
    raw = step("raw_logits", raw, why)
    return step("logits", softcap * tanh(raw / softcap), "no logit can grow without limit: all stay between −C and C")


def _loss(logits: Node, tokens: Node, targets: Node | None, *, no_causal: bool) -> Node | None:
    """How surprised the model is by what comes next; None where nothing does."""
    n = logits.axes[-2]
    if targets is None:
        if no_causal or n.size == 1:
            return None
        logits, targets = part_of(logits, n.name, 0, n.size - 1), part_of(tokens, n.name, 1, n.size)
    found: Node = next_token_loss.graph(logits, targets)[0]
    return found


def _growth(
    tokens: Node, first: Node, logits_of: Callable[[Node], Node], count: int, others: tuple[Node, ...]
) -> Growth:
    """The turns of a text that grows by the likeliest token each; of the text that is given the logits are known."""
    written = [tokens]

    def turns() -> Iterator[Node]:
        for t in range(1, count + 1):
            with group(f"token {t}"):
                logits = first if t == 1 else logits_of(concat(written, "n"))
                last = take(logits, "n", logits.axes[-2].size - 1)
                chosen = step("next_token", rename(best(last, 1), "rank", "n"), "the token with the largest logit")
                written.append(chosen)
            yield chosen

    def results() -> tuple[Node, ...]:
        return (step("tokens", concat(written, "n"), "the text, and the tokens generated after it"), *others)

    return Growth("token", turns(), count, lambda chosen: False, results)
