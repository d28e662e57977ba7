"""A whole language model, from token ids to the next token: embeddings, layers, also of an encoder, and logits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count, takewhile
from typing import Annotated, Any, Literal

import numpy as np

from attncalc.calculations.activations import ACTIVATIONS, ActivationKind, activated
from attncalc.calculations.attention_options import DEFAULTS, Rotation, Rules, Turning
from attncalc.calculations.experts import AS_MIXTRAL, Routing, experts
from attncalc.calculations.latent_attention import AXES, latent_attention, through_latents
from attncalc.calculations.layers import FfnActivation, embed
from attncalc.calculations.losses import cross_entropy, next_token_loss
from attncalc.calculations.multihead import AS_IN_2017, Attending, Heads, Sight
from attncalc.calculations.normalisation import Epsilon, Style, learned_by, normed
from attncalc.calculations.recurrences import selective_layer
from attncalc.calculations.sequence import patch_embed
from attncalc.calculations.transformer import TURNS
from attncalc.calculations.transformer_blocks import (
    CROSS_ATTENTION,
    DECODER,
    ENCODER,
    JOINED,
    SIZES,
    Design,
    Joining,
    Norm,
    Part,
    decoder_layer,
    designed,
    encoder_layer,
    joined,
)
from attncalc.common.errors import DomainError, OptionError, place_text
from attncalc.common.numerals import Array
from attncalc.declare.calculation import Measured, calculation
from attncalc.declare.operands import ABOVE_0, AT_LEAST_1, CAP, Exercise, Weights, With, operand, options_of, weight
from attncalc.evaluate.loops import Growth
from attncalc.language.axes import Axes, Axis
from attncalc.language.graph import Node, aside, constant, constants, group, output, step
from attncalc.language.ops import affine, concat, rename, softmax, spread, sqrt, take, tanh
from attncalc.language.ops import ranking as best
from attncalc.language.ops.parts import part_of
from attncalc.record.trace import FACTS, Step, Trace

MOST_NEXT = 5
PARTS = ("ssm", "attention", CROSS_ATTENTION, "feed-forward")
LENGTHS = "the mean length of the tokens' vectors: what goes on to the next layer, and what each part has added"
SCALED = "the embeddings serve as the head too, and are about 1 in size: without √d_model the logits would be too large"


def path_of(name: str) -> str:
    """Where in a layer a weight of a block lies: "wq" → "attention/wq", "post_gamma1" → "post-norm1/gamma"."""
    if name.startswith("cross_"):
        return f"{CROSS_ATTENTION}/{name.removeprefix('cross_')}"
    norm = re.fullmatch(r"(post_)?(gamma|beta)(\d)", name)
    if norm:
        return f"{'post-' if norm[1] else ''}norm{norm[3]}/{norm[2]}"
    if name[1:] in ("_gamma", "_beta"):
        return f"attention/{name[0]}-norm/{name[2:]}"
    return f"{'feed-forward' if name[1:].isdigit() else 'attention'}/{name}"


EXPERTS = {
    "router": weight("d_model e", "W_R", "the router: a column for each expert"),
    "w1": weight("e d_model d_ff", "W_1", "the experts' first weights (up), one matrix for each"),
    "w2": weight("e d_ff d_model", "W_2", "the experts' second weights (back down)"),
    "w3": weight("e d_model d_ff", "W_3", "the weights of the parts that the activation gates"),
    "b1": weight("e d_ff", "b_1", "the first layers' biases"),
    "b2": weight("e d_model", "b_2", "the second layers'"),
    "b3": weight("e d_ff", "b_3", "those of the parts that the activation gates"),
    "router_bias": weight("e", "b_router", "the router's bias"),
    "shared_w1": weight("d_model s", "S_1", "the first weights of an expert that every token meets"),
    "shared_w2": weight("s d_model", "S_2", "its second weights"),
    "shared_w3": weight("d_model s", "S_3", "its weights of the part that is gated"),
    "correction": weight("e", "c_R", "what is added to the probabilities where experts are ranked, and only there"),
}
BESIDE = {"W_3": "w3", "b_1": "b1", "b_2": "b2", "b_3": "b3", "b_router": "router_bias", "c_R": "correction"}
BESIDE |= {f"S_{i}": f"shared_w{i}" for i in (1, 2, 3)}
"""Optional parameters of experts → the names of their weights."""
LATENT = {
    name: weight(axes, declared.symbol, declared.help)
    for name, axes in AXES.items()
    if name != "wo" and (declared := latent_attention.operand(name)) is not None
}
SELECTIVE = {
    "wx": weight("d_model d", "W_X", "from a token to the channels that are remembered"),
    "bx": weight("d", "b_X", "its bias"),
    "wz": weight("d_model d", "W_Z", "from a token to its gate, an entry for each channel"),
    "bz": weight("d", "b_Z", "its bias"),
    "kernel": weight("d k", "K", "a kernel over the token and those before it, one for each channel"),
    "kernel_bias": weight("d", "b_K", "its bias"),
    "wr": weight("d r", "W_r", "down to the few numbers that say how long a token lasts"),
    "wdt": weight("r d", "W_δ", "from these to how long it lasts for each channel"),
    "bdt": weight("d", "b_δ", "its bias"),
    "wb": weight("d s", "W_B", "to the entries of the state that a token writes to"),
    "wc": weight("d s", "W_C", "to those that it reads from"),
    "a": weight("d s", "A_log", "the logarithm of how fast each entry of a channel's state fades"),
    "skip": weight("d", "D", "what each channel hands on of its input beside the state"),
    "wo": weight("d d_model", "W_O", "from the channels back to a token"),
    "bo": weight("d_model", "b_O", "its bias"),
}
"""The weights of a layer with a state in place of attention."""
REPLACED = ("feed-forward/w1", "feed-forward/w2", "attention/wq", "attention/wk", "attention/wv", "attention/wo")
"""Weights that a layer lacks if it has experts, latent attention or a state."""
LAYER = {path_of(name): declared for name, declared in ENCODER.items()}
LAYER |= {path: LAYER[path]._replace(required=False) for path in REPLACED}
LAYER |= {f"attention/{name}": declared for name, declared in LATENT.items()}
LAYER |= {f"experts/{name}": declared for name, declared in EXPERTS.items()}
LAYER |= {f"ssm/{name}": declared for name, declared in SELECTIVE.items()}
DECODER_LAYER = {path_of(name): declared for name, declared in DECODER.items()}
PLACED = {
    "positions": weight("p d_model", "P", "what is added for the position, one row each"),
    "norm/gamma": weight("d_model", "gamma", "the gain of a norm of the embeddings"),
    "norm/beta": weight("d_model", "beta", "its shift"),
}
EMBEDDING = {
    "table": weight("V d_model", "E", "the embeddings, one row for each token of the vocabulary"),
    "kernel": weight("d_model c kh kw", "K", "of an image: a kernel of a patch's size for each feature"),
    "kernel_bias": weight("d_model", "b_K", "its bias"),
    "class": weight("d_model", "cls", "the token in front of an image's patches"),
    "types": weight("t d_model", "T", "what is added for the text that a token is of, one row each"),
} | PLACED
FINAL_NORM = {
    "gamma": weight("d_model", "gamma", "the gain of the norm behind the last layer"),
    "beta": weight("d_model", "beta", "its shift"),
}
POOLER = {
    "weights": weight("d_model d_pooled", "W_P", "what the first token's vector is multiplied by", required=True),
    "bias": weight("d_pooled", "b_P", "its bias"),
}
HEAD = {
    "dense/weights": weight("d_model d_out", "W_D", "a layer in front of the words, which an encoder's head has"),
    "dense/bias": weight("d_out", "b_D", "its bias"),
    "norm/gamma": weight("d_model", "gamma", "the gain of its norm"),
    "norm/beta": weight("d_model", "beta", "its shift"),
    "weights": weight("d_model V", "W_U", "from vectors to words; the embeddings again if not given"),
    "bias": weight("V", "b_U", "its bias"),
}
"""These tables: the place in the model → the weight."""


def _check_padding(values: Mapping[str, Any]) -> None:
    pad = values["pad_token"]
    padded = np.argwhere(values["tokens"] == pad) if pad is not None else np.array(())
    if len(padded):
        fact = f"tokens{place_text(padded[0])} is {pad}, which fills up texts, and has no position of its own"
        raise DomainError(fact, hint="leave the padding out")


def _with_the_next(trace: Trace) -> Trace:
    """The trace with what is told of the whole: how long vectors are in each layer, and the likeliest next tokens."""
    options, asked, trace = options_of(trace), trace.mode.asked, trace.with_ids(("tokens",))
    if trace.calculation != "model" or asked in ("", "result") or asked in trace:
        return trace
    if asked == "loss":
        without = options["no_head"]
        mend = "it ends with its hidden states" if without else "--targets are the tokens that are right"
        raise OptionError(f"the model has no loss{'' if without else ' without --targets'}", hint=mend)
    told = [*_layers_told(trace)]
    if not (options["no_causal"] or options["no_head"] or options["kind"] == "vision"):
        words = trace.inputs["embedding/table"].labels.get(0, ())
        shares, why = trace["next_probabilities"], "the tokens that fit best behind the last one"
        last = trace["logits"][..., -1, :]
        told += _likeliest("next", ("text", "token"), last, shares, words, options["top"], why)
    if options["kind"] == "vision" and not options["no_head"]:
        words = trace.inputs["logits/weights"].labels.get(1, ())
        shares, why = trace["class_probabilities"], "what the image most likely shows"
        told += _likeliest("classes", ("image", "class"), trace["logits"], shares, words, options["top"], why)
    return trace._replace(outputs=(*trace.outputs, *told))


def _likeliest(
    name: str, of: tuple[str, str], logits: Array, shares: Array, words: tuple[str, ...], count: int, why: str
) -> Iterator[Step]:
    """A table of those with the largest logits; of several texts (or images) one for each."""
    each, one = of
    for at in np.ndindex(logits.shape[:-1]):
        top = np.argsort(-logits[at], kind="stable")[:count]
        ids = tuple(f"{i} {words[int(i)]}" if words else str(i) for i in top)
        told = _facts(name, one, ids, {"logit": logits[at][top], "probability": shares[at][top]}, why)
        place = f"{each} {','.join(map(str, at))}"
        yield told._replace(group=place, symbol=f"{name}[{place}]") if logits.size > logits.shape[-1] else told


def _layers_told(trace: Trace) -> Iterator[Step]:
    """How long the tokens' vectors are behind each layer, on average, and what its parts have added.

    Nothing is told of a large run that has not kept these steps.
    """
    steps = {made.key: made.value for made in trace.steps if made.value is not None}
    known = {made.key for made in trace.steps}
    for stack, name in (("", "layers"), ("encoder/", "encoder_layers"), ("decoder/", "decoder_layers")):
        layers = [*takewhile(lambda layer: f"{layer}/residual1" in known, map(f"{stack}layer {{}}".format, count()))]
        parts = [part for part in PARTS if layers and f"{layers[0]}/{part}/output" in known]
        post = options_of(trace)["norm_at"] == "post"
        told = {"residual stream": f"norm{len(parts)}/output" if post else f"residual{len(parts)}"}
        told |= {part: f"{part}/output" for part in parts}
        if layers and all(f"{layer}/{of}" in steps for layer in layers for of in told.values()):
            facts = {of: np.array([_length(steps[f"{layer}/{at}"]) for layer in layers]) for of, at in told.items()}
            yield _facts(name, "layer", tuple(map(str, range(len(layers)))), facts, LENGTHS)


def _length(vectors: Array) -> float:
    return float(np.linalg.norm(vectors, axis=-1).mean())


def _facts(name: str, of: str, labels: tuple[str, ...], facts: dict[str, Array], why: str) -> Step:
    """A table of facts, a row for each thing."""
    rows = np.stack(list(facts.values()), axis=-1)
    return Step(name, "", (of, FACTS), rows.shape, rows, name, why=why, labels={of: labels, FACTS: tuple(facts)})


@calculation(
    checkpoint=operand("", kind="checkpoint"),
    tokens=operand("n | kind=encoder-decoder: s", kind="tokens", of="V"),
    targets=operand("n", kind="tokens", of="V"),
    decoder_tokens=operand("n", kind="tokens", of="V"),
    token_types=operand("n", kind="tokens", of="t"),
    image=operand("c h w | m k", replaces="tokens if kind=vision"),
    embedding=EMBEDDING,
    layer=LAYER,
    final_norm=FINAL_NORM,
    pooler=POOLER,
    logits=HEAD,
    encoder_embedding=PLACED,
    encoder_layer=LAYER,
    encoder_final_norm=FINAL_NORM,
    decoder_embedding=PLACED,
    decoder_layer=DECODER_LAYER,
    decoder_final_norm=FINAL_NORM,
    sizes=SIZES,
    check=_check_padding,
    finish=_with_the_next,
    reference="Radford et al. 2019, section 2.3; Touvron et al. 2023, LLaMA, section 2.2; as in transformers",
    exercise=Exercise(refused="a whole model has hundreds of steps", instead="quiz decoder-only has one of its layers"),
)
def model(
    checkpoint: Annotated[Node, "a folder with config.json and safetensors, as Hugging Face's libraries write it"],
    tokens: Annotated[
        Node | None, "the ids of the text to go on from, or to read: 15496,995, or a file of them; or an image"
    ] = None,
    targets: Annotated[Node | None, "the right token behind each of them; the next of the text if not given"] = None,
    *,
    decoder_tokens: Annotated[Node | None, "the ids that a decoder has written so far"] = None,
    S: Annotated[Node | None, "which of two texts each token is of, 0 or 1; all of the first if not given"] = None,
    X: Annotated[Node | None, "an image, channels in front, or its patches, each a row; tokens may name it too"] = None,
    embedding: tuple[Weights, ...],
    layer: tuple[Weights, ...],
    final_norm: tuple[Weights, ...],
    pooler: tuple[Weights, ...],
    logits: tuple[Weights, ...],
    encoder_embedding: tuple[Weights, ...],
    encoder_layer: tuple[Weights, ...],
    encoder_final_norm: tuple[Weights, ...],
    decoder_embedding: tuple[Weights, ...],
    decoder_layer: tuple[Weights, ...],
    decoder_final_norm: tuple[Weights, ...],
    kind: Annotated[
        Literal["decoder-only", "encoder-decoder", "vision"],
        "one stack of layers, one that reads the tokens and one that writes others, or one that looks at an image",
    ] = "decoder-only",
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
    positions: Annotated[
        Literal["sinusoidal", "sinusoidal-concatenated"] | None,
        "what is added for the position where nothing is stored for it; concatenated: sines first, then cosines",
    ] = None,
    scale_embedding: Annotated[bool, "multiply the embeddings by √d_model"] = False,
    scale_logits: Annotated[bool, "divide the last vectors by √d_model before they are compared with words"] = False,
    no_first_norm: Annotated[bool, "the first attention has no norm in front: the embeddings have one already"] = False,
    window_layers: Annotated[
        tuple[int, ...] | None,
        "the layers that --window is for, counted from 0 (all)",
        With(("window", "local_rope_base")),
    ] = None,
    local_rope_base: Annotated[float | None, "the base of the turns in those layers, without scaling", ABOVE_0] = None,
    final_softcap: Annotated[float | None, "logits are squeezed into −C … C: C·tanh(logit/C)", CAP] = None,
    top: Annotated[int, "how many of the likeliest next tokens are told", AT_LEAST_1] = MOST_NEXT,
    no_head: Annotated[bool, "the model ends with its hidden states, and has no logits"] = False,
    head_activation: Annotated[
        ActivationKind | None, "the function of a head's own layer; that of all others", With(("logits/dense/weights",))
    ] = None,
    pad_token: Annotated[int | None, "what fills up short texts; refused, for positions are not counted there"] = None,
    start: Annotated[
        int | None,
        "the first token of a decoder beside an encoder, if it has written none",
        With(("kind=encoder-decoder",)),
    ] = None,
    generate: Annotated[int | None, "generate this many tokens, one after the other", TURNS] = None,
) -> Measured | Growth:
    """Compute a model as it is stored: the logits of every position, the loss, and the likeliest next tokens.

    Layers are numbered from 0 and have the steps of decoder-only: `layer 3/attention/weights`. hidden[0] are the
    embeddings, hidden[L] what the final norm gives. --generate appends the likeliest token again and again; the
    other outputs stay those of the text that was given. Where an encoder reads the tokens and a decoder writes others,
    these are --decoder-tokens, layers are encoder/layer 0 and decoder/layer 0, and memory is what the encoder found.
    """
    (table,) = embedding
    E = table["table"]
    given = _given(tokens, X, E, vision=kind == "vision")
    design = designed(norm, activation, eps, joining, kind="rms", at="pre")

    def passed(
        ids: Node,
        around: tuple[Weights, ...],
        stack: tuple[Weights, ...],
        last: tuple[Weights, ...],
        memory: Node | None = None,
        *,
        causal: bool,
    ) -> list[Node]:
        """What comes into each layer of a stack, and out of the norm behind the last; decoders have a memory."""
        held = around[0] if around else dict.fromkeys(PLACED)
        with group("embedding"):
            if kind == "vision":
                x = _looked_at(ids, held)
            else:
                places = positions if held["positions"] is None else held["positions"]
                x = embed.graph(ids, E, P=places, S=S, T=held.get("types"), scale=scale_embedding)[0]
            if held["norm/gamma"] is not None:
                x = _last_norm(x, "norm", held["norm/gamma"], held["norm/beta"], design.style)
        sights = [_sight(i, window_layers, attending, rotation, local_rope_base) for i in range(len(stack))]
        seen = [sight._replace(causal=causal, B=bias) for sight in sights]
        states = [
            x,
            *_through_all(x, memory, stack, _designs(design, len(stack), no_first_norm=no_first_norm), seen, routing),
        ]
        for norms in last:
            states[-1] = _last_norm(states[-1], "final norm", norms["gamma"], norms["beta"], design.style)
        return states

    memory = None
    if kind == "encoder-decoder":
        with group("encoder"):
            read = passed(given, encoder_embedding, encoder_layer, encoder_final_norm, causal=False)[-1]
        memory = step("memory", read, "what every layer of the decoder attends to; computed only once")
        given = _so_far(decoder_tokens, start, E, memory.axes[:-2])
    elif decoder_tokens is not None:
        raise OptionError("--decoder-tokens are for a model with an encoder and a decoder, and this one has no encoder")

    def written(ids: Node) -> list[Node]:
        """What comes into each layer of the tokens, or of those that are written, and out of the last norm."""
        if memory is None:
            return passed(ids, embedding, layer, final_norm, causal=not no_causal)
        with group("decoder"):
            return passed(ids, decoder_embedding, decoder_layer, decoder_final_norm, memory, causal=not no_causal)

    def scored(x: Node) -> Node:
        head: Weights = logits[0] if logits else {}
        if kind == "vision":
            return _classified(x, head)
        x = _prepared(x, head, head_activation or activation, design.style)
        return _head(x, E, head, final_softcap, scaled=scale_logits)

    _must_be_told(targets, generate, no_causal=no_causal, no_head=no_head)
    states = written(given)
    found = None if no_head else scored(states[-1])
    alone = no_causal or kind == "vision"  # no next token
    if found is not None and not alone:
        last = softmax(take(found, "n", found.axes[-2].size - 1))
        aside("next_probabilities", last, "the share of every token as the next one")
    whole = concat([spread(x, (Axis("L+1", 1), *x.axes)) for x in states], "L+1")
    told = output("hidden", whole, "what goes into each layer, and what the final norm makes of the last one's output")
    pooled = [_pooled(states[-1], weights) for weights in pooler]
    if found is None:
        return Measured((told, *pooled), None)
    loss = _loss(found, given, targets, no_causal=alone)
    results = (found, told, *pooled, *(one for one in (loss, memory) if one is not None))
    if generate is None:
        return Measured(results, loss)
    return _growth(given, found, lambda ids: scored(written(ids)[-1]), generate, results)


def _given(tokens: Node | None, X: Node | None, E: Node | None, *, vision: bool) -> Node:
    """What the model reads: the tokens of a text, or an image."""
    given, other = (X, tokens) if vision else (tokens, X)
    if other is not None:
        what = ("looks at images", "text") if vision else ("reads text", "an image")
        raise OptionError(f"this model {what[0]}, and {what[1]} was given")
    if given is None:
        mend = "" if vision else "give their ids: 1,2,3; --info tells what the checkpoint is, without any"
        raise OptionError(f"model needs {'an image' if vision else 'tokens'}, and none was given", hint=mend)
    if E is None and not vision:
        raise OptionError("model needs embedding/table, a row for each token of the vocabulary")
    return given


def _must_be_told(targets: Node | None, generate: int | None, *, no_causal: bool, no_head: bool) -> None:
    """Refuse to generate with a model that does not tell what comes next, and to compare what has no logits."""
    if generate is not None and (no_causal or no_head):
        raise OptionError("--generate appends what comes next, which this model does not tell: it reads whole texts")
    if targets is not None and no_head:
        raise OptionError("--targets need logits to be compared with, and this model ends with its hidden states")


def _looked_at(X: Node, held: Weights) -> Node:
    """An image, or its patches, as tokens."""
    W, P = held["kernel"], held["positions"]
    if W is None:
        raise OptionError("a model that looks at images needs embedding/kernel")
    X = rename(X, "m", "n") if X.names[-1] == "k" else X
    places = None if P is None else rename(P, "p", "n")
    found: Node = patch_embed.graph(X, W, held["kernel_bias"], held["class"], places)
    return found


def _with_table(weights: Weights, first: Weights) -> Weights:
    """The weights of a layer; without a table of biases of its own it has the first layer's, as in T5."""
    name = "attention/bias_table"
    return {**weights, name: first[name]} if weights[name] is None else weights


def _designs(design: Design, layers: int, *, no_first_norm: bool) -> list[Design]:
    """What each layer is like: all alike but for the first, whose attention may have no norm."""
    return [design._replace(bare=(1,)) if no_first_norm and i == 0 else design for i in range(layers)]


def _through_all(
    x: Node,
    memory: Node | None,
    stack: tuple[Weights, ...],
    designs: Sequence[Design],
    sights: Sequence[Sight],
    routing: Routing,
) -> Iterator[Node]:
    """The tokens behind each layer of a stack."""
    for i, (weights, design, sight) in enumerate(zip(stack, designs, sights, strict=True)):
        with group(f"layer {i}"):
            x = _through(x, memory, _with_table(weights, stack[0]), design, sight, routing)
        yield x


def _through(x: Node, memory: Node | None, held: Weights, design: Design, sight: Sight, routing: Routing) -> Node:
    """The tokens behind one layer, of a decoder where there is a memory."""
    weights = {name: held[path_of(name)] for name in (ENCODER if memory is None else DECODER)}
    if memory is not None:
        return decoder_layer(x, memory, weights, design, sight, name="attention")
    if held["ssm/a"] is not None:
        return joined(x, [_remembering(held)], weights, design)
    processed, attended = _routed(held, design.activation, routing), _through_latents(held, sight)
    return encoder_layer(x, weights, design, sight, "attention", processed, attended)


def _so_far(tokens: Node | None, start: int | None, E: Node | None, texts: Axes) -> Node:
    """What a decoder has written of every text: the tokens that are given, or the one that it begins with."""
    found = _first(start, E) if tokens is None else tokens
    return spread(found, (*(axis for axis in texts if axis not in found.axes), *found.axes))


def _first(start: int | None, E: Node | None) -> Node:
    """What a decoder has written before anything: the token that it begins with."""
    if start is None:
        raise OptionError("the model needs --decoder-tokens, or --start, the token that its decoder begins with")
    assert E is not None, "_given refuses a text without it"
    size = E.axes[-2].size
    if not 0 <= start < size:
        raise OptionError(f"--start {start} is not among the {size} tokens of the vocabulary, 0…{size - 1}")
    return constants((start,), Axis("n", 1), "start")


def _routed(weights: Weights, activation: str, routing: Routing) -> Part | None:
    """The experts of a layer, None where it has a feed-forward network."""
    held = {name: weights[f"experts/{name}"] for name in EXPERTS}
    if held["router"] is None:
        return None

    def part(x: Node) -> Node:
        with group("feed-forward"):
            found: Node = experts.graph(
                x,
                *(held[name] for name in ("router", "w1", "w2")),
                **{parameter: held[name] for parameter, name in BESIDE.items()},
                routing=routing,
                activation=activation,
            )[0]
        return found

    return part


def _through_latents(held: Weights, sight: Sight) -> Part | None:
    """The attention of a layer whose keys and values come from a latent, None where it has keys of its own."""
    weights = {name: held[f"attention/{name}"] for name in AXES}
    if weights["wdkv"] is None:
        return None
    rules = Rules(causal=sight.causal, padding=sight.padding, scale=sight.attending.scale)

    def part(x: Node) -> Node:
        with group("attention"):
            turning = Turning(sight.P, sight.rotation, sight.attending.rope)
            return through_latents(x, weights, sight.M, rules, turning).result

    return part


def _remembering(held: Weights) -> Part:
    """The one part of a layer that remembers in a state."""

    def part(x: Node) -> Node:
        with group("ssm"):
            return selective_layer(x, {name: held[f"ssm/{name}"] for name in SELECTIVE})

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


def _pooled(x: Node, weights: Weights) -> Node:
    """One vector for the whole text, made of its first token's."""
    W = weights["weights"]
    assert W is not None, "it is required"
    with group("pooler"):
        first = step("first", take(x, x.names[-2], 0), "a token in front gathers what is asked of the whole text")
        hidden = step("hidden", affine(first, W, weights["bias"]), "what was learned to be asked of it")
    return step("pooled", tanh(hidden), "one vector for the whole text, each entry between −1 and 1")


def _prepared(x: Node, head: Weights, activation: str, style: Style) -> Node:
    """The vectors as the words are told from them: an encoder's head has a layer and a norm in front."""
    W = head.get("dense/weights")
    if W is None:
        return x
    with group("logits"):
        wide = rename(affine(x, W, head["dense/bias"]), "d_out", x.names[-1])
        hidden = step("hidden", wide, "a layer more, learned for telling words alone")
        x = step("activated", activated(hidden, activation), ACTIVATIONS[activation].why)
        return _last_norm(x, "norm", head["norm/gamma"], head["norm/beta"], style)


def _classified(x: Node, head: Weights) -> Node:
    """How well each class fits an image: its first token alone is asked."""
    W = head.get("weights")
    assert W is not None, "who looks at images has a head of its own, or none"
    with group("logits"):
        first = step("first", take(x, x.names[-2], 0), "the token in front has gathered what the image shows")
    found = step("logits", affine(first, W, head.get("bias")), "how well each class fits")
    aside("class_probabilities", softmax(found), "the share of every class")
    return found


def _head(x: Node, E: Node | None, head: Weights, softcap: float | None, *, scaled: bool) -> Node:
    """How well each token of the vocabulary would follow each position."""
    if scaled:
        x = step("scaled_output", x / sqrt(x.size("d_model")), SCALED)
    why = "how well each token of the vocabulary would follow each position"
    W = head.get("weights")
    if W is None:
        assert E is not None, "_given refuses a text without it"
        W = E.T
    raw = affine(x, W, head.get("bias"))
    if softcap is None:
        return step("logits", raw, why)
    raw, cap = step("raw_logits", raw, why), constant(softcap, "C_final", "final_softcap")
    why = "no logit can grow without limit: all stay between −C_final and C_final"
    return step("logits", cap * tanh(raw / cap), why)


def _loss(logits: Node, tokens: Node, targets: Node | None, *, no_causal: bool) -> Node | None:
    """How surprised the model is by what comes next, or by what stands there; None where nothing is told."""
    found: Node
    if no_causal:
        if targets is None:
            return None
        if len(logits.axes) < 2:
            if targets.axes[-1].size != 1:
                raise OptionError("an image shows one thing: --targets is the number of one class")
            targets = take(targets, "n", 0)
        found = cross_entropy.graph(logits, targets)
        return found
    n = logits.axes[-2]
    if targets is None:
        if n.size == 1:
            return None
        logits, targets = part_of(logits, n.name, 0, n.size - 1), part_of(tokens, n.name, 1, n.size)
    found = next_token_loss.graph(logits, targets)[0]
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
