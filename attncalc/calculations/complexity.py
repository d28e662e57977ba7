"""What a transformer costs: operations, parameters and bytes, counted from the graph of a block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import gcd
from typing import Annotated

import numpy as np

from attncalc.calculations.layers import unembed
from attncalc.calculations.transformer_blocks import ENCODER, encoder_block
from attncalc.common.errors import OptionError, with_facts
from attncalc.common.system import NamedTuple
from attncalc.declare.calculation import at_most, calculation, same
from attncalc.declare.operands import ABOVE_0, AT_LEAST_1, Exercise, parse_shape
from attncalc.evaluate import cost
from attncalc.evaluate.cost import Cost, Count
from attncalc.language.axes import Axis, composite
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
)
from attncalc.language.ops import listed, power, total
from attncalc.record.trace import Step, Trace

WIDTH, HEADS = 512, 8
"""Those of the original transformer, where no others are given."""
PARTS = {
    "projections": ("self-attention/q", "self-attention/k", "self-attention/v", "self-attention/output"),
    "scores": ("self-attention/scores",),
    "softmax": ("self-attention/scaled", "self-attention/weights"),
    "mixing": ("self-attention/heads",),
    "feed-forward": ("feed-forward/",),
    "norms, residuals": ("norm1/", "norm2/", "residual"),
}
"""The parts of a block, by what the keys of their steps begin with."""

WEIGHTS = {
    "projections": ("wq", "wk", "wv", "wo"),
    "feed-forward": ("w1", "w2"),
    "norms, residuals": ("gamma1", "beta1", "gamma2", "beta2"),
}
"""The weights of a part; biases are left out."""

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
        "Each token adds 2·d_k numbers for every key head and layer, however long the text already is.",
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
"""Why a step is there, and what a teacher would add."""

EMBEDDING = "embedding"


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


class Sizes(NamedTuple):
    """The sizes of a model."""

    n: int
    d_model: int
    heads: int
    kv_heads: int
    d_ffn: int
    vocab: int | None


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
    vocab: Annotated[
        int | None, "the size of the vocabulary; without it the embedding is not counted", AT_LEAST_1
    ] = None,
    bytes: Annotated[int, "how many bytes a number takes: 2 in float16, 4 in float32", AT_LEAST_1] = 2,
    flops_per_second: Annotated[float, "what the processor can do (default: an A100 in bfloat16)", ABOVE_0] = 312e12,
    bandwidth: Annotated[
        float, "bytes per second that its memory delivers (default: an A100 with 80 GB)", ABOVE_0
    ] = 2.039e12,
) -> tuple[Node, ...]:
    """What a transformer costs: operations, parameters, bytes, and whether arithmetic or memory is the bottleneck.

    Attention is O(n²·d): every token is compared with every token, with 2·n²·d_model operations for the scores and as
    many for mixing the values, in addition to 8·n·d_model² for the projections. The projections have 4·d_model²
    parameters, however many heads there are.

    Everything is counted from the graph of encoder-block, forward pass only. A multiplication and an addition count as
    one each, and so does an exponential or a root. A causal mask saves nothing here: masked scores are computed too.
    Biases are left out. With --vocab the embedding is counted once, since one table serves input and output.

    The arithmetic intensity is operations per byte, where every weight is read once and every step's value is written
    once. A processor that can do more operations than that for each byte it receives waits for memory (roofline).
    """
    kv_heads = heads if kv_heads is None else kv_heads
    d_ffn = 4 * d_model if d_ffn is None else d_ffn
    _must_share("--d-model", d_model, "--heads", heads)
    _must_share("--heads", heads, "--kv-heads", kv_heads)
    sizes = Sizes(n, d_model, heads, kv_heads, d_ffn, vocab)
    block, words = _block(sizes), _words(sizes)
    of_block, of_embedding = cost.by_step([block]), _of_embedding(sizes)
    parts = [*PARTS, *([EMBEDDING] if vocab else [])]
    label("part", parts)
    note("a multiplication and an addition count as one each; biases are left out; masked scores are computed too")

    def of_parts(counts: Mapping[str, Count]) -> Node:
        """One number for each part, those of the block as often as there are layers."""
        times = {part: 1 if part == EMBEDDING else layers for part in parts}
        found = [_times(times[part], _formula(counts.get(part, Count()).spoken(*words))) for part in parts]
        return listed(found, "part")

    def bytes_of(values: Iterable[Count], once: Count) -> Node:
        inner = _times(layers, _formula(cost.total(values).spoken(*words)))
        return named_size("bytes", bytes) * (inner + _formula(once) if once.terms else inner)

    tokens = named_size("n", n)
    _said("comparisons", tokens**2, aside)
    flops = {part: cost.total(c.flops for c in _steps_of(part, of_block)) for part in PARTS}
    operations = _said("flops", of_parts(flops | {EMBEDDING: of_embedding.flops}))
    learned = {part: cost.parameters([block], names) for part, names in WEIGHTS.items()}
    weights = _said("parameters", of_parts(learned | {EMBEDDING: of_embedding.values}))
    logits = Count() if vocab is None else _logits(sizes)
    held = _said("activation_bytes", bytes_of((c.values for c in of_block.values()), logits))
    cached = [of_block[f"self-attention/{name}"].values for name in ("k", "v")]
    _said("kv_cache_bytes", bytes_of(cached, Count()), aside)
    all_flops = output("total_flops", total(operations), "for one forward pass")
    all_weights = output("total_parameters", total(weights), "biases are left out")
    intensity = _said("arithmetic_intensity", all_flops / (named_size("bytes", bytes) * all_weights + held))
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


def _block(sizes: Sizes) -> Node:
    """One block over operands that have sizes and no values; what it says beside its graph is not ours to say."""
    parts = {name: Axis(name, sizes.d_model // sizes.heads) for name in ("d_k", "d_v")}
    parts |= {"h": Axis("h", sizes.heads), "g": Axis("g", sizes.kv_heads)}
    known = {"d_model": Axis("d_model", sizes.d_model), "d_ff": Axis("d_ff", sizes.d_ffn)}

    def operand(name: str) -> Node:
        axes = (known[a] if isinstance(a, str) else composite(*(parts[b] for b in a)) for a in parse_shape(shape[name]))
        return given(name, tuple(axes))

    shape = {name: declared.text for name, declared in ENCODER.items()}
    counted = {name for names in WEIGHTS.values() for name in names}
    weights = {name: operand(name) if name in counted else None for name in shape}
    tokens = given("x", (Axis("n", sizes.n), known["d_model"]))
    with building():
        block: Node = encoder_block.graph(tokens, weights=weights, heads=sizes.heads)
    return block


def _steps_of(part: str, costs: Mapping[str, Cost]) -> list[Cost]:
    return [found for key, found in costs.items() if key.startswith(PARTS[part])]


def _of_embedding(sizes: Sizes) -> Cost:
    """What the table of words costs: its logits' operations, and the numbers that it holds."""
    if sizes.vocab is None:
        return Cost(Count(), Count(), whole=True)
    n, V, d_model = Axis("n", sizes.n), Axis("V", sizes.vocab), Axis("d_model", sizes.d_model)
    table = given("table", (V, d_model))
    with building():
        _, logits = unembed.graph(given("h", (n, d_model)), table)
    return Cost(cost.by_step([logits])["logits"].flops, cost.entries(table.axes), whole=True)


def _logits(sizes: Sizes) -> Count:
    return cost.entries((Axis("n", sizes.n), Axis("V", sizes.vocab or 0)))


def _words(sizes: Sizes) -> tuple[dict[str, str], dict[tuple[str, str], Axis]]:
    """How hand counts speak of the sizes: keys are tokens too, and the heads' widths make up d_model."""
    names = {"m": "n", "d_v": "d_k", "d_ff": "d_ffn", "d_out": "d_model"}
    names |= {"g": "h"} if sizes.kv_heads == sizes.heads else {}
    return names, {("h", "d_k"): Axis("d_model", sizes.d_model)}


def _formula(count: Count) -> Node:
    """A count as a formula of sizes."""
    terms = []
    for often, factors in count:
        names = {axis.name: axis for axis in factors}
        ordered = sorted(names, key=lambda name: name.startswith("d"))
        powers = [power(named_size(*names[name][:2]), sum(a.name == name for a in factors)) for name in ordered]
        term = powers[0] if often == 1 else often * powers[0]
        for factor in powers[1:]:
            term = term * factor
        terms.append(term)
    return as_node(0) if not terms else terms[0] if len(terms) == 1 else Node("add", *terms)


def _times(layers: int, expression: Node) -> Node:
    zero = expression.op == "constant"
    return expression if layers == 1 or zero else named_size("layers", layers) * expression
