"""Mistakes of whole models: those of layers, made in all of them, and those before and after the layers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from attncalc.calculations.attention_options import DEFAULTS
from attncalc.declare.mistake import (
    Mistake,
    NotThere,
    Rule,
    Scope,
    another,
    chosen,
    inside,
    like,
    parts,
    replaced,
    until_steps,
    wrong,
)
from attncalc.language.axes import Axis
from attncalc.language.graph import Node, rewrite, walk
from attncalc.language.ops import (
    affine,
    concat,
    mean,
    part_of,
    rename,
    sigmoid,
    spread,
)
from attncalc.language.ops.moves import reread
from attncalc.mistakes.embeddings import CHANNELS_REVERSED, LEFT_OUT, PATCHES
from attncalc.mistakes.layer_norm import LAYER, NO_GAIN, of_norm
from attncalc.mistakes.model_attention import BIASED, OWN_TOKENS, TURNED
from attncalc.mistakes.model_experts import EXPERTS_OF_MODELS
from attncalc.mistakes.projections import CLAMPS, factors, unbiased, with_product
from attncalc.mistakes.state_spaces import LAYER as REMEMBERING
from attncalc.mistakes.whole_layers import of_layer, unbiased_in, without_nils

MADE_BY_WEIGHTS = "attention/q attention/k attention/v attention/output feed-forward/hidden feed-forward/linear "
MADE_BY_WEIGHTS += "feed-forward/output norm1/output norm2/output norm3/output "
MADE_BY_WEIGHTS += "cross-attention/q cross-attention/k cross-attention/v cross-attention/output "
MADE_BY_WEIGHTS += "ssm/inner ssm/gate conv/products ssm/convolved ssm/narrow ssm/delta ssm/b ssm/c scan/rates "
MADE_BY_WEIGHTS += "scan/output ssm/output"


def _of_another_layer(s: Scope) -> Node:
    """The step with the weights of the next layer of its stack; the last layer has those of the first."""
    stack = re.match(r"(?:\w+/)?layer ", s.step.args.get("group", ""))
    layers = {int(found[1]) for _, name in s.known if stack and (found := re.match(rf"{stack[0]}(\d+)/", name))}

    def other(node: Node) -> Node | None:
        found = re.fullmatch(r"(.*layer )(\d+)(/.*)", node.args["name"]) if node.op == "input" else None
        return s.known["", f"{found[1]}{(int(found[2]) + 1) % len(layers)}{found[3]}"] if found else None

    [changed] = rewrite([s.this], other, until_steps) if len(layers) > 1 else [s.this]
    if changed is s.this:
        raise NotThere("layers")
    return changed


def _untied(s: Scope) -> Node:
    """The logits by the embeddings, where the model has a head of its own."""
    if s.step.args["group"] or ("", "logits/weights") not in s.known:  # a router has logits too
        raise NotThere("head")
    x = next(node for node in (*s.this.sources, *s.this.sources[0].sources) if node.op == "step")
    return affine(x, s.known["", "embedding/table"].T, s.known.get(("", "logits/bias")))


def _unstretched(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Turns as they are for texts of the trained length."""
    if given["rope_scaling"] == "none":
        raise NotThere("scaling")
    own = ("base", "layout", "dims")
    return {f"rope_{name}": value for name, value in DEFAULTS._asdict().items() if name not in own}


def _scaled_otherwise(given: Mapping[str, Any]) -> Mapping[str, Any]:
    if given["kind"] != "encoder-decoder":
        raise NotThere("a decoder beside an encoder")
    return {"scale_logits": not given["scale_logits"]}


def _from_hidden(s: Scope) -> Node:
    """The logits of the hidden states as they are."""
    if ("logits", "hidden") not in s.known:
        raise NotThere("layer in front")
    product = s.known["logits", "hidden"]
    while product.op != "matmul":
        product = product.sources[0]
    words = s.known.get(("", "logits/weights"))
    table = s.known["", "embedding/table"].T if words is None else words
    return affine(product.sources[0], table, s.known.get(("", "logits/bias")))


def _unnormed(s: Scope) -> Node:
    """What the final norm is of, in place of what comes of it."""
    last = [node for node in (s.step, *walk(s.this, into=until_steps)) if node.op == "step"]
    for norm in last:
        group, name = norm.key
        if name == "output" and group.rpartition("/")[2] == "final norm":
            x = of_norm(norm)
            return x if norm is s.step else replaced(s.this, norm, x)
    raise NotThere("final norm")


def _before_the_last_layer(s: Scope) -> Node:
    """The final norm of what the last layer is given, in place of what it gives."""
    last = of_norm(s.step)
    place = re.fullmatch(r"(.*layer )(\d+)", last.key[0]) if last.op == "step" else None
    before = (f"{place[1]}{int(place[2]) - 1}", last.key[1]) if place else None
    found = next((node for node in walk(last) if node.op == "step" and node.key == before), None)
    if found is None:
        raise NotThere("layer in front of the last one")
    return replaced(s.this, last, found)


def _from_place(first: int) -> Rule:
    """Learned positions, counted from another number."""

    def rule(s: Scope) -> Node:
        (table,) = parts(s.this, "slice")
        return like(part_of(table, table.names[-2], first, first + s.this.axes[-2].size), s.this)

    return rule


def _cut(*, in_turn: bool) -> Rule:
    """The gate, or what goes beside it, cut from a matrix in which their columns lie in turn, or in halves."""

    def rule(s: Scope) -> Node:
        *front, width = s.this.axes
        made = {name: s.due(name) for name in ("hidden", "linear")}
        both = concat([reread(x, (*front, Axis("half", 1), width)) for x in made.values()], "half")
        half = Axis("half", 2)
        lying = reread(both, (*front, width, half))
        if in_turn:
            lying = reread(spread(both, (*front, width, half)), (*front, half, width))
        place = [*made].index(s.step.args["name"])
        return reread(part_of(lying, "half", place, place + 1), s.this.axes)

    return rule


def _normed_at_once(s: Scope) -> Node:
    """The final norm of what a layer gives."""
    norm = s.due("output", "final norm")
    return replaced(norm, of_norm(norm, "final norm"), s.this)


def _normed_before_the_sum(s: Scope) -> Node:
    """A norm of what a part finds, added to what goes past it, where it is of the sum in the same layer."""
    whole = of_norm(s.step)
    past, part = parts(whole, "add")
    layer = s.step.key[0].rpartition("/")[0]
    if whole.op != "step" or "residual" not in whole.key[1] or whole.key[0] != layer:
        raise NotThere("a sum in the norm")
    return replaced(s.this, whole, part) + past


def _norm_of_the_sum(s: Scope) -> Node:
    """The norm behind a part of what goes past it, too."""
    group, name = s.when("norm_at", "sandwich").step.key
    past, norm = parts(s.this, "add")
    if norm.key != (f"{group}/post-norm{name[-1]}", "output"):
        raise NotThere("a norm behind the part")
    part = of_norm(norm)
    return replaced(norm.sources[0], part, past + part)


def _less_its_mean(s: Scope) -> Node:
    """The squares of an RMS norm, or what it makes of its entries, without their mean."""
    if "centered" in s:
        raise NotThere("an RMS norm")
    x = parts(s.this, "pow", "div")[0]
    return replaced(s.this, x, x - mean(x))


def _past_the_part_before(s: Scope) -> Node:
    """A sum with what went past the part before, in place of what came of that."""
    group, name = s.step.key
    before = s.known.get((group, f"{name[:-1]}{int(name[-1]) - 1}"))
    if before is None:
        raise NotThere("a part before")
    return parts(before, "add")[0] + parts(s.this, "add")[1]


def _of_the_writer(s: Scope) -> Node:
    """Keys or values of what the decoder writes, in place of what the encoder has read."""
    read, W = factors(s)
    q = s.due("q")
    x = parts(q.sources[0] if q.op == "add" else q, "matmul")[0]
    return with_product(s, rename(x, x.names[-2], read.names[-2]) @ W)


def _unbent(s: Scope) -> Node:
    """What goes into an activation; of a gated network it is another mistake's."""
    if "linear" in s:
        raise NotThere("a network without a gate")
    return s.hidden


def _further(given: Mapping[str, Any]) -> Mapping[str, Any]:
    if given["bias"] != "t5":
        raise NotThere("buckets")
    return {"max_distance": 2 * given["max_distance"]}


def _bare(at: str) -> Mistake:
    return wrong(
        "norm-final-missing",
        at,
        _unnormed,
        says="what the last layer gives, without the norm behind it",
        hint="What is done to the last layer's vectors before they become logits?",
    )


def _learned_by(others: Mapping[str, str]) -> Rule:
    """Norms of a layer with what others of its norms have learned."""

    def rule(s: Scope) -> Node:
        own = s.step.args["group"].rpartition("/")[2]

        def other(node: Node) -> Node | None:
            name = node.args["name"].replace(f"/{own}/", f"/{others[own]}/") if node.op == "input" else ""
            return s.known.get(("", name)) if name and name != node.args["name"] else None

        [changed] = rewrite([s.this], other, until_steps)  # earlier steps keep their own weights
        if changed is s.this:
            raise NotThere("another gain")
        return changed

    return rule


UNLEARNED = *(one for one in LAYER if one.id in ("ln-no-affine", "ln-no-beta", "ln-gamma-beta-swapped")), NO_GAIN
"""Mistakes that a single norm of a layer may have."""
NORMS = (
    "norm1/output",
    "norm2/output",
    "norm3/output",
    "post-norm1/output",
    "post-norm2/output",
    "norm/output",
)
"""The norms of a model except the final one; `norm` is that of the embeddings, or the one before the logits."""
AROUND = (
    *inside(LEFT_OUT, "embedding"),
    *(m for at in (*NORMS, "final norm/output") for m in inside(UNLEARNED, at.rpartition("/")[0])),
    *inside(CLAMPS, "feed-forward"),
    wrong(
        "mask-added",
        options=chosen(no_causal={True: False}),
        says="a causal mask",
        hint="May a token of this model look at those after it?",
        kind="convention",
    ),
    wrong(
        "head-layer-missing",
        "logits",
        _from_hidden,
        says="the words are told from the hidden states as they are",
        hint="What does this model's head do with the hidden states first?",
    ),
    *inside((_bare("output"),), "final norm"),
    *map(_bare, ("logits raw_logits", "scaled_output")),
    *(
        wrong(
            "norm-missing",
            at,
            lambda s: of_norm(s.step),
            says="what this norm is of, as it is",
            hint="Which norms has a layer of this model, and what does each of them normalise?",
        )
        for at in (*NORMS, "kv-norm/output")
    ),
    wrong(
        "norm-before-sum",
        "norm1/output norm2/output norm3/output",
        _normed_before_the_sum,
        says="x + LN(F(x))",
        hint="Is what goes past a part of this model normalised with what it finds?",
    ),
    wrong(
        "head-not-activated",
        "norm/output",
        lambda s: replaced(s.this, s.known["logits", "activated"], s.known["logits", "hidden"]),
        says="without an activation",
        hint="What does this model's head do with the hidden states first?",
    ),
    *unbiased_in("cross-attention")[:4],
    wrong(
        "qkv-context-ignored",
        "cross-attention/k cross-attention/v",
        _of_the_writer,
        says="keys and values of the tokens, not of the context",
        hint="Where is the text that is looked at?",
    ),
    wrong(
        "head-of-mean",
        "logits/first",
        lambda s: mean(parts(s.this, "take")[0], "n"),
        says="the mean of all tokens, in place of the first one",
        hint="Which token's vector tells the class?",
    ),
    *inside((*PATCHES, CHANNELS_REVERSED), "embedding"),
    wrong(
        "gate-factor-missing",
        "feed-forward/activated",
        lambda s: s.clamped * sigmoid(s.clamped),
        says="the sigmoid of the gate itself, not of some times it",
        hint="What is the gate multiplied by in its sigmoid?",
    ),
    wrong(
        "norm-plus-one-added",
        options=chosen(norm_offset={0: 1}),
        says="1 more than γ as it is stored",
        hint="Does this model multiply by what it has learned, or by 1 more?",
        kind="convention",
    ),
    wrong(
        "gate-not-activated",
        "feed-forward/gated",
        lambda s: s.hidden * s.linear,
        says="the two products multiplied, without an activation",
        hint="Which of the two products goes through an activation before they are multiplied?",
    ),
    *OWN_TOKENS,
    *(
        wrong(
            "gate-wrong-join",
            "feed-forward/gated",
            rule,
            says=says,
            hint="What is done to each of the two products, and how do they meet?",
        )
        for rule, says in (
            (
                lambda s: s.activated * replaced(s.activated.sources[0], s.hidden, s.linear),
                "both products go through the activation",
            ),
            (lambda s: s.activated + s.linear, "what comes out of the gate is added, not multiplied"),
        )
    ),
    *(
        wrong(
            "fused-gate-up-order",
            "feed-forward/hidden feed-forward/linear",
            _cut(in_turn=in_turn),
            says=says,
            hint="How do the columns of the gate, and of what it lets through, lie in the matrix that makes both?",
        )
        for in_turn, says in (
            (False, "each second column of a fused matrix that holds one half behind the other"),
            (True, "halves of a fused matrix that holds their columns in turn"),
        )
    ),
    *TURNED,
    wrong(
        "rope-other-dims",
        options={"rope_dims": None},
        says="all entries of a head are turned",
        hint="How many entries of a head does this model turn?",
    ),
    wrong(
        "window-other-size",
        options=another("window", lambda there: 2 * there),
        says="a window twice as wide",
        hint="How far may a query look?",
    ),
    *(
        wrong(
            "softcap-other",
            options=another(option, lambda there: 2 * there),
            says="twice the cap",
            hint="How large may a score become, and how large a logit?",
        )
        for option in ("softcap", "final_softcap")
    ),
    wrong(
        "t5-other-distance",
        options=_further,
        says="buckets for distances twice as far",
        hint="From which distance on do all keys share a bucket?",
    ),
    *(
        wrong(
            "norm-of-first-part",
            at,
            _learned_by({"norm2": "norm1", "norm3": "norm1", "post-norm2": "post-norm1"}),
            says="a norm with the gain of the layer's first norm",
            hint="Whose gain does each norm of a layer have?",
        )
        for at in ("norm2/output", "norm3/output", "post-norm2/output")
    ),
    wrong(
        "norm-of-second-part",
        "norm1/output",
        _learned_by({"norm1": "norm2"}),
        says="a norm with the gain of the layer's second norm",
        hint="Whose gain does each norm of a layer have?",
    ),
    *(
        wrong(
            "norm-gains-exchanged",
            f"{one}/output {other}/output",
            _learned_by({one: other, other: one}),
            says=f"{says} with each other's gain",
            hint="Whose gain does each norm of a layer have?",
        )
        for one, other, says in (
            ("norm1", "norm2", "the layer's first two norms"),
            # Llama's post_attention_layernorm stands in front of the second part
            ("norm2", "post-norm1", "the norms behind the first part and in front of the second"),
            ("norm2", "post-norm2", "the norms in front of the second part and behind it"),
            ("norm1", "post-norm1", "the norms in front of the first part and behind it"),
        )
    ),
    wrong(
        "ffn-no-activation",
        "feed-forward/activated",
        _unbent,
        says="x·W₁·W₂, without the activation",
        hint="What are two layers with nothing between them?",
    ),
    wrong(
        "norm-of-sum-for-part",
        "residual1 residual2",
        _norm_of_the_sum,
        says="LN(x + F(x)) in place of x + LN(F(x))",
        hint="Is what goes past each part normalised as well?",
    ),
    wrong(
        "block-parallel",
        options=chosen(parallel={False: True}),
        says="the parts side by side, both from the layer's input",
        hint="What does the feed-forward network of this layer see: its input, or what attention made of it?",
    ),
    wrong(
        "scale-embedding-missing",
        options=chosen(scale_embedding={True: False}),
        says="the embeddings are not multiplied by √d_model",
        hint="How long are this model's embeddings when they go into the first layer?",
    ),
    wrong(
        "first-norm-added",
        options=chosen(no_first_norm={True: False}),
        says="a norm in front of the first attention too",
        hint="What has been done to the embeddings before the first layer?",
        kind="convention",
    ),
    wrong(
        "rope-one-base",
        options={"local_rope_base": None},
        says="all layers turn by the same base",
        hint="Do layers with a window turn by the base of the others?",
        kind="convention",
    ),
    wrong(
        "rope-scaling-missing",
        options=_unstretched,
        says="the frequencies are not scaled for longer texts",
        hint="For texts of which length was this model trained, and which may it read?",
    ),
    *(
        wrong(
            "rope-scaling-other",
            options=another(f"rope_{option}", lambda there: 2 * there),
            says=f"twice the {called}",
            hint="By how much are the frequencies of this model scaled, and which of them?",
        )
        for option, called in (("factor", "factor of the frequencies"), ("original_length", "trained length"))
    ),
    *(
        wrong(
            "bias-missing",
            at,
            unbiased,
            says="without its bias",
            hint="Which of the layers of an expert have a bias, and has the router one?",
        )
        for at in (
            "feed-forward/logits",
            "feed-forward/hidden feed-forward/linear",
            "feed-forward/linear",
            "feed-forward/expert_outputs",
        )
    ),
    wrong(
        "window-in-all-layers",
        options={"window_layers": None},
        says="a window in every layer",
        hint="Which layers of this model look at the whole text?",
    ),
    wrong(
        "pe-concat",
        options=chosen(positions={"sinusoidal-concatenated": "sinusoidal", "sinusoidal": "sinusoidal-concatenated"}),
        says="sines and cosines alternating where all sines come first, or the other way round",
        hint="Which columns of the positions are cosines?",
        kind="convention",
    ),
    wrong(
        "scale-logits-swapped",
        options=_scaled_otherwise,
        says="the last vectors divided by √d_model where they are not to be, or the other way round",
        hint="Does this model have a head of its own, or do the embeddings serve as one?",
        kind="convention",
    ),
    wrong(
        "untied-head",
        "logits raw_logits",
        _untied,
        says="the embeddings in place of the head that is stored",
        hint="Which matrix of the file turns the last vectors into logits?",
    ),
    wrong(
        "softcap-missing",
        options={"final_softcap": None},
        says="the logits are not capped",
        hint="How large may a logit become?",
    ),
    *inside(
        (
            wrong(
                "layer-missing",
                "output",
                _before_the_last_layer,
                says="the last layer is left out",
                hint="How many layers has this model, and which number has the last one?",
            ),
        ),
        "final norm",
    ),
    wrong(
        "layer-missing",
        "residual2",
        _normed_at_once,
        says="the final norm of what this layer gives: those behind it are left out",
        hint="How many layers has this model?",
    ),
    wrong(
        "layer-missing",
        "residual1 residual2 residual3",
        lambda s: parts(s.this, "add")[0],
        says="what a layer is given goes on as it is: the layer is left out",
        hint="What does each layer add to what it is given?",
    ),
    *(
        wrong(
            "pe-wrong-start",
            "embedding/positions",
            _from_place(first),
            says=f"positions counted from {first}",
            hint="Which row of the table is the first token's?",
            kind="convention",
        )
        for first in (1, 2)
    ),
    *BIASED,
    *(
        wrong(
            "block-skip-stale",
            sums,
            _past_the_part_before,
            says="what goes past a part is what went past the part before",
            hint="What is added to what this part finds: what came into the layer, or what the part before made of it?",
        )
        for sums in ("residual2 residual3", "residual2", "residual3")
    ),
    wrong(
        "bias-missing",
        "logits raw_logits",
        unbiased,
        says="without its bias",
        hint="Is anything added to the scores of the words in the end?",
    ),
    *(
        wrong(
            "att-other-scale",
            "attention/scaled cross-attention/scaled",
            rule,
            says=f"the scaled scores times {factor}",
            hint="What are the scores of each layer divided by?",
        )
        for rule, factor in ((lambda s: s.this * 2, "2"), (lambda s: s.this / 2, "1/2"))
    ),
    wrong(
        "scale-embedding-other",
        "embedding/embeddings",
        lambda s: s.this * 2,
        says="the embeddings times 2",
        hint="What are this model's embeddings multiplied by?",
    ),
    *EXPERTS_OF_MODELS,
    wrong(
        "weights-of-another-layer",
        MADE_BY_WEIGHTS,
        _of_another_layer,
        says="each layer with the weights of the next one",
        hint="Are layers counted from 0 or from 1?",
    ),
)
BESIDE = ("post-norm1", "post-norm2", "q-norm", "k-norm", "kv-norm", "norm", "final norm")
"""The norms of a model besides those in front of its parts."""
ONE_CLASS = inside(
    (
        wrong(
            "norm-layer-for-rms",
            "squares normalized",
            _less_its_mean,
            says="a layer norm in place of every RMS norm, those of queries, keys and latents too",
            hint="Does this model's norm subtract a mean?",
            kind="convention",
        ),
        wrong(
            "norm-plus-one-added",
            "output",
            lambda s: s.this + s.when("norm_offset", 0).normalized,
            says="1 more than γ as it is stored, in every norm",
            hint="Does this model multiply by what it has learned, or by 1 more?",
            kind="convention",
        ),
    ),
    *("norm1", "norm2", "norm3", *BESIDE),
)
"""Mistakes in all norms of a model at once, if one class implements them."""
IN_LAYERS = without_nils(of_layer("123", "attention", "cross-attention", beside=BESIDE))
MISTAKES: dict[str, tuple[Mistake, ...]] = {"model": (*IN_LAYERS, *REMEMBERING, *AROUND, *ONE_CLASS)}
"""Calculation → its mistakes, the commonest first."""
