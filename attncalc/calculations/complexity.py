"""What a transformer costs: operations, parameters and bytes, counted from the graphs of its parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from math import gcd
from typing import Annotated, TypeVar

import numpy as np

from attncalc.calculations.anatomy import (
    AS_IN_2017,
    AS_MIXTRAL,
    NO_LATENT,
    VECTORS,
    Latent,
    Layout,
    Mixture,
    Piece,
    anatomy,
    inputs,
)
from attncalc.calculations.published import PUBLISHED, Name
from attncalc.common.errors import OptionError, with_facts
from attncalc.common.system import NamedTuple
from attncalc.declare.calculation import at_most, calculation, same
from attncalc.declare.operands import ABOVE_0, AT_LEAST_1, IF_ANY, Exercise
from attncalc.evaluate import cost
from attncalc.evaluate.cost import Cost, Count
from attncalc.language.axes import Axes, Axis
from attncalc.language.gradients import gradients
from attncalc.language.graph import (
    Node,
    as_node,
    aside,
    building,
    constant,
    given,
    label,
    named_size,
    note,
    output,
    step,
    walk,
)
from attncalc.language.ops import listed, power, total
from attncalc.record.trace import Step, Trace

WIDTH, HEADS = 512, 8
"""The default sizes, those of the original transformer."""
T = TypeVar("T")
EMBEDDING, HEAD = "embedding", "head"
PARTS = {
    "projections": (
        r"[a-z]+-attention/(q|k|v|latent|output|concatenated|frequencies|\w+_\w+)",
        r"(cross_)?[wb][qkvo]|w(uq|qr|dkv|uk|uv|kr|dq)",
    ),
    "scores": (r"[a-z]+-attention/scores", ""),
    "softmax": (r"[a-z]+-attention/(scaled|weights)", ""),
    "mixing": (r"[a-z]+-attention/heads", ""),
    "feed-forward": (r"feed-forward/.+", r"(shared_)?[wb]\d|router"),
    "norms, residuals": (r".*norm\d?/\w+|residual\d", r"\w*(gamma|beta)\d?"),
    EMBEDDING: (r"(\w+-)?embedding/\w+", r"table(_bias)?|segments|(\w+_)?positions"),
    HEAD: (r"head/\w+", r"head_\w+"),
}
"""Part of a model → patterns for its steps and weights. Rotations count with the part that they rotate."""

REASONS = {
    "comparisons": (
        "every token is compared with every token: twice the length, four times the work",
        "1,024 tokens make a million pairs, 2,048 make four million: that is why long texts are expensive.",
    ),
    "flops": (
        "n² where tokens are compared, n where each is processed alone: which is larger depends on n",
        (
            "A product [n, k]·[k, m] is n·m·k multiplications and nearly as many additions. The two products of "
            "attention take 4·n²·d_model together, the projections 8·n·d_model²: the first overtake the second from "
            "n = 2·d_model on."
        ),
    ),
    "parameters": (
        "what is learned does not grow with the length of the text",
        (
            "A projection is d_model × d_model however it is split into heads, and there are four, W_O included. "
            "With d_ffn = 4·d_model the feed-forward network has twice as many parameters."
        ),
    ),
    "activation_bytes": (
        "the value of every step, kept for the backward pass; those of size n² outgrow the others",
        "Scores, scaled scores and weights are n² for every head; attention in blocks (flash) keeps none of them.",
    ),
    "kv_cache_bytes": (
        "the keys and values of all tokens, kept so that each is computed only once",
        (
            "Each token adds 2·d_k numbers for every key head and layer, however long the text already is. Where "
            "queries look back w tokens alone, no more need be kept: --n w tells how many bytes those are."
        ),
    ),
    "backward_flops": (
        "each product of the forward pass has two gradients, each of them a product as large",
        "So training a token takes three times what reading it does, 6 operations for each weight in place of 2.",
    ),
    "arithmetic_intensity": (
        "operations for each byte that is read or written",
        (
            "A weight that is read once serves all n tokens. With a single token (--n 1) it serves only once: about "
            "1 operation a byte, which is why generating token by token waits for memory."
        ),
    ),
    "bound": (
        "compute if this holds, else memory: below the ridge the processor waits for memory",
        (
            "At the ridge both take equally long. More tokens, a larger batch, or numbers of fewer bytes raise the "
            "intensity."
        ),
    ),
}
"""The reason of each step, and what a teacher would add."""


def _must_share(whole: str, size: int, part: str, count: int) -> None:
    """Raise where a size cannot be shared equally; what nobody has given is told to be the default."""
    if size % count:
        facts = {"--d-model": WIDTH, "--heads": HEADS}
        said = (
            with_facts(f"{flag} {given}", "the default" if facts.get(flag) == given else "")
            for flag, given in ((whole, size), (part, count))
        )
        raise OptionError(" cannot be shared equally among ".join(said), hint=f"{part} {gcd(size, count)} divides it")


def _in_words(trace: Trace) -> Trace:
    """The bound as the word that it stands for."""

    def told(step: Step) -> Step:
        if step.name != "bound" or step.value is None:
            return step
        return step._replace(value=np.where(step.value, "compute", "memory"))

    return trace._replace(steps=tuple(map(told, trace.steps)), outputs=tuple(map(told, trace.outputs)))


class Counted(NamedTuple):
    """What a piece of a model costs."""

    name: str
    times: int
    steps: dict[str, Cost]  # of the forward pass, by their keys
    weights: dict[str, Count]  # how many numbers each operand that is learned holds
    backward: Count

    def all_of(self, count: Count) -> Node | None:
        """So much as often as the model has the piece, as a formula; None for nothing."""
        found = _formula(count)
        if found is None or self.times == 1:
            return found
        return named_size(self.name, self.times) * found


@calculation(
    laws={
        "twice the tokens make four times the comparisons": lambda f, n: same(
            f(n=2 * n)["comparisons"], 4 * f(n=n)["comparisons"]
        ),
        "twice the layers make twice the cache": lambda f, n, layers: same(
            f(n=n, layers=2 * layers)["kv_cache_bytes"], 2 * f(n=n, layers=layers)["kv_cache_bytes"]
        ),
        "the parameters do not depend on the number of tokens": lambda f, n: same(
            f(n=n)["parameters"], f(n=2 * n)["parameters"]
        ),
        "shared key heads make the cache smaller": lambda f, n: at_most(
            4 * f(n=n, heads=8, kv_heads=2)["kv_cache_bytes"], f(n=n, heads=8)["kv_cache_bytes"]
        ),
    },
    presets={"model": {name: model.options for name, model in PUBLISHED.items()}},
    finish=_in_words,
    pictures=("flops", "parameters"),
    reference="Vaswani et al. 2017, Attention Is All You Need, table 1; Williams et al. 2009, Roofline",
    exercise=Exercise(
        one_of=tuple(
            {"n": n, "d_model": d, "heads": 2, "layers": layers, "d_ffn": 4 * d}
            for n in (4, 5, 6, 10)
            for d in (4, 8, 10)
            for layers in (1, 2, 3)
        )
    ),
)
def complexity(
    *,
    n: Annotated[int, "how many tokens", AT_LEAST_1] = 1024,
    d_model: Annotated[int, "the width of a token", AT_LEAST_1] = WIDTH,
    heads: Annotated[int, "how many heads", AT_LEAST_1] = HEADS,
    kv_heads: Annotated[int | None, "how many key heads; as many as heads if not given", AT_LEAST_1] = None,
    layers: Annotated[int, "how many blocks", AT_LEAST_1] = 1,
    d_ffn: Annotated[int | None, "the width of the feed-forward network; 4·d_model if not given", AT_LEAST_1] = None,
    vocab: Annotated[int | None, "the size of the vocabulary; without it the embedding is not counted", IF_ANY] = None,
    bytes: Annotated[float, "how many bytes a number takes: 2 in float16, 4 in float32, 0.5 in int4", ABOVE_0] = 2,
    flops_per_second: Annotated[float, "what the processor can do (default: an A100 in bfloat16)", ABOVE_0] = 312e12,
    bandwidth: Annotated[
        float, "bytes per second that its memory delivers (default: an A100 with 80 GB)", ABOVE_0
    ] = 2.039e12,
    model: Annotated[Name | None, "a published model: what is not given is as in it"] = None,
    batch: Annotated[int, "how many texts of n tokens", AT_LEAST_1] = 1,
    training: Annotated[bool, "count the backward pass, too"] = False,
    layout: Annotated[Layout, ""] = AS_IN_2017,
    experts: Annotated[int | None, "how many experts stand in place of the feed-forward network", IF_ANY] = None,
    mixture: Annotated[Mixture, "experts_"] = AS_MIXTRAL,
    latent: Annotated[Latent, "latent_"] = NO_LATENT,
) -> tuple[Node, ...]:
    """What a transformer costs: operations, parameters, bytes, and whether arithmetic or memory is the bottleneck.

    Attention is O(n²·d): every token is compared with every token, with 2·n²·d_model operations for the scores and as
    many for mixing the values, in addition to 8·n·d_model² for the projections. The projections have 4·d_model²
    parameters, however many heads there are.

    Everything is counted from the graphs of encoder-block and the others: the forward pass, with --training the
    backward pass too. A multiplication and an addition count as one each, and so does an exponential or a root. A
    causal mask saves nothing here: masked scores are computed too. Biases are left out unless --biases asks for them.
    With --vocab the embedding is counted once, since one table serves input and output (--head own: two). Of --experts
    a token costs the operations of those that it is sent to; the parameters are those of all.

    The arithmetic intensity is operations per byte, where every weight is read once and every step's value is written
    once. A processor that can do more operations than that for each byte it receives waits for memory (roofline).
    """
    kv_heads = heads if kv_heads is None else kv_heads
    d_ffn = 4 * d_model if d_ffn is None else d_ffn
    if layout.d_k is None:
        _must_share("--d-model", d_model, "--heads", heads)
    _must_share("--heads", heads, "--kv-heads", kv_heads)
    d_k = layout.d_k or d_model // heads
    sizes: dict[str, int | None] = {"d_model": d_model, "d_ff": d_ffn, "h": heads, "g": kv_heads, "d_k": d_k}
    sizes |= {"d_v": latent.d_v or d_k, "V": vocab, "p": layout.positions, "S": layout.segments, "d_pooled": d_model}
    sizes |= {"c": latent.width, "d_r": latent.rope, "d_q": latent.queries or d_model}
    sizes |= {"e": experts, "f": mixture.d_ffn or d_ffn, "s": mixture.shared}
    whole = anatomy(n, batch, sizes, layers, layout, mixture, latent)
    d_model_of = {("h", "d_k"): whole.axes["d_model"]} if heads * d_k == d_model else {}
    pieces = [_counted(piece, d_model_of, mixture.top, training=training) for piece in whole.pieces()]
    has_head = layout.head != "tied" and vocab is not None
    parts = [part for part in PARTS if (part != EMBEDDING or vocab) and (part != HEAD or has_head)]
    label("part", parts)
    biases = "biases are left out" if layout.biases == ("none",) else "biases are counted"
    note(f"a multiplication and an addition count as one each; {biases}; masked scores are computed too")
    if layout.rope or latent.width is not None:
        note("pair counts the pairs of entries of a query or a key that RoPE turns together")
    if model is not None:
        known = PUBLISHED[model]
        note(f"{model}: {known.source}")
        if known.window is not None and n > known.window:
            seen = f"a query of {model} looks back {known.window} tokens in {known.windowed}"
            note(f"{seen}: a cache need keep no more of them there; kv_cache_bytes is of all {n}")

    def of_parts(found: Callable[[Counted, str], Iterable[Count]]) -> Node:
        """One number for each part, those of a piece as often as the model has it."""
        return listed(
            [_sum(piece.all_of(cost.total(found(piece, part))) for piece in pieces) for part in parts], "part"
        )

    def bytes_of(found: Callable[[Counted], Iterable[Count]]) -> Node:
        return constant(bytes, "bytes", "bytes") * _sum(piece.all_of(cost.total(found(piece))) for piece in pieces)

    _said("comparisons", _sum([_formula(Count([(1, (*whole.tokens, whole.tokens[-1]))]))]), aside)
    operations = _said("flops", of_parts(lambda piece, part: (c.flops for c in _of(PARTS[part][0], piece.steps))))
    learned = _said("parameters", of_parts(lambda piece, part: _of(PARTS[part][1], piece.weights)))
    held = _said("activation_bytes", bytes_of(lambda piece: (made.values for made in piece.steps.values())))
    keys = "self-attention/(latent|k_rope)" if latent.width is not None else "[a-z]+-attention/[kv]"
    caching = [piece for piece in pieces if piece.name == "decoder_layers"] or pieces
    _said(
        "kv_cache_bytes", bytes_of(lambda piece: (c.values for c in _of(keys, piece.steps) if piece in caching)), aside
    )
    forward = total(operations)
    back = _said("backward_flops", _sum(piece.all_of(piece.backward) for piece in pieces)) if training else None
    why = "for one forward pass" if back is None else "for one forward and one backward pass"
    all_flops = output("total_flops", forward if back is None else forward + back, why)
    all_weights = output("total_parameters", total(learned), biases)
    intensity = _said("arithmetic_intensity", all_flops / (constant(bytes, "bytes", "bytes") * all_weights + held))
    speeds = constant(flops_per_second, "flops_per_second"), constant(bandwidth, "bandwidth")
    ridge = output(
        "ridge",
        speeds[0] / speeds[1],
        "how many operations the processor can do in the time that it takes to move a byte",
    )
    return _said("bound", ridge <= intensity), all_flops, all_weights, ridge


def _said(name: str, value: Node, make: Callable[..., Node] = step) -> Node:
    why, about = REASONS[name]
    return make(name, value, why, about=about)


def _of(pattern: str, found: Mapping[str, T]) -> list[T]:
    """What there is under names of this pattern."""
    return [each for name, each in found.items() if re.fullmatch(pattern, name)]


def _counted(piece: Piece, products: Mapping[tuple[str, str], Axis], top: int, *, training: bool) -> Counted:
    """What a piece costs, counted from its graphs."""

    def told(key: str, count: Count) -> Count:
        return Count(_met(key, term, top) for term in count).spoken(piece.words, products)

    forward = cost.by_step(piece.roots)
    steps = {key: c._replace(flops=told(key, c.flops), values=told(key, c.values)) for key, c in forward.items()}
    held = {node.args["name"]: node for node in walk(*piece.roots) if node.op == "input"}
    learned = {name: cost.entries(node.axes) for name, node in held.items() if name not in VECTORS}
    weights = {name: count.spoken(piece.words, products) for name, count in learned.items()}
    backward = Count()
    if training:
        with building():
            slopes = [
                slope
                for root in piece.roots
                for slope in gradients(root, given("upstream", root.axes), inputs(root)).values()
            ]
        made = cost.by_step([*piece.roots, *slopes])
        backward = cost.total(told(key, c.flops) for key, c in made.items() if key not in forward)
    return Counted(piece.name, piece.times, steps, weights, backward)


EXPERTS_ALONE = (
    r"feed-forward/(grad_)?(hidden|activated|linear|gated|expert_outputs|mixed|output)|feed-forward/grad_gates"
)
"""The steps in which experts work only on the tokens sent to them; the router works on all tokens."""


def _met(key: str, term: tuple[int, Axes], top: int) -> tuple[int, Axes]:
    """A term of a count, of the experts only those that a token meets."""
    often, factors = term
    names = [axis.name for axis in factors]
    if "e" not in names or not ("d_ff" in names or re.fullmatch(EXPERTS_ALONE, key)):
        return term
    return often, tuple(Axis("top", top) if axis.name == "e" else axis for axis in factors)


def _formula(count: Count) -> Node | None:
    """A count as a formula of sizes; None for nothing."""
    terms = []
    for often, factors in count:
        names = {axis.name: axis for axis in factors}
        ordered = sorted(names, key=lambda name: name.startswith("d"))
        powers = [power(named_size(*names[name][:2]), sum(a.name == name for a in factors)) for name in ordered]
        term = powers[0] if often == 1 else often * powers[0]
        for factor in powers[1:]:
            term = term * factor
        terms.append(term)
    return _sum(terms) if terms else None


def _sum(terms: Iterable[Node | None]) -> Node:
    """What there is, added up."""
    there = [term for term in terms if term is not None]
    return as_node(0) if not there else there[0] if len(there) == 1 else Node("add", *there)
