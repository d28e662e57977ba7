"""What every attention shares: the steps from scores to weights, and the options of rotary embeddings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby, pairwise
from typing import Annotated, Literal

import numpy as np

from attncalc.common.errors import DomainError, OptionError, ShapeError
from attncalc.common.system import NamedTuple
from attncalc.declare.operands import ABOVE_0, CAP, IF_ANY, With
from attncalc.language import ops  # a family of primitives is loaded when it is asked for
from attncalc.language.axes import Axes, Axis
from attncalc.language.graph import Node, as_node, constant, constants, note, step
from attncalc.language.ops import absolute, concat, index, keep_where, log_sum_exp, outer, softmax, sqrt, tanh
from attncalc.language.primitive import formula
from attncalc.record.trace import Step, Trace

# From scores to weights: scale, cap, bias, mask and softmax, the same for every attention.


Causal = Annotated[bool, "a query sees itself and what comes before it"]
CausalAlign = Annotated[
    Literal["start", "end"],
    "start: query i sees keys 0…i; end: the last query sees every key (with fewer queries)",
    With(("causal", "window", "bias", "rope")),
]
MaskKind = Annotated[
    Literal["keep", "drop", "additive"] | None,
    "what a mask says: 1 keeps, 1 drops, or numbers to add; told by its entries where this is not given",
    With(("mask",)),
]
"""Only binding reads this option: calculations get a mask as true and false, or as numbers."""
Padding = Annotated[tuple[int, ...] | None, "how many keys are valid, for each entry of the batch: 3,5"]
Window = Annotated[
    int | None,
    "a query sees this many keys: itself and those before it; without --causal, on each side",
    IF_ANY,
]
Scale = Annotated[
    float | Literal["default", "none"], "what scores are multiplied by; default is 1/√d_k, none leaves them"
]
Softcap = Annotated[float | None, "scores are squeezed into −C … C: C·tanh(score/C)", CAP]
MaskFirst = Annotated[
    bool,
    "mask before scaling, softmax((Q·Kᵀ + M)/√d_k), as some texts write it",
    With(("causal", "mask", "padding", "window")),
]

MaxDistance = Annotated[int, "t5: from this distance on, all share one bucket", With(("bias=t5",))]
KvHeads = Annotated[int | None, "how many key heads there are; consecutive query heads share one"]
RopeOn = Annotated[bool, "rotate queries and keys by their positions"]

MOST_BUCKETS = 4096
AT_ONCE = 128
"""How many queries of a large run are examined together."""

ABOUT = {
    "scores": "Row i belongs to query i, column j to key j. Their dot product is large when both are large in the "
    "same places. It also grows with their lengths, so a long key scores high with many queries.",
    "scaled": "A score is a sum of d_k products. If the entries are independent, with mean 0 and variance 1, its "
    "variance is d_k: a typical score is √d_k in size, 8 for d_k = 64, and softmax would then pick a single key and "
    "pass back almost no gradient. d_k is the width of the vectors being multiplied: a head's, not the model's.",
    "capped": "Scores that are small compared with C hardly change. The cap comes before the mask: C·tanh(−∞) is −C, "
    "so a mask put in first would be undone.",
    "biased": "Lowering a score by 1 divides that key's weight, relative to the others, by e ≈ 2.718. The bias comes "
    "after the scaling, so that it means the same for every d_k.",
    "alibi": "With a slope of ½, every step further away divides a key's weight by √e ≈ 1.65. The slopes are not "
    "learned, and the bias comes after the scaling.",
    "t5": "T5 itself divides no score by √d_k (--scale none): its first weights are drawn smaller instead.",
    "kept": "A softmax must give away all of its weight, even where no key fits. Models then dump it on the first "
    "token; a sink of its own takes it without a value to mix in. Beside Σe^score the sink is one more term, e^s.",
    "masked": "Causal means j ≤ i: a token sees itself and the tokens before it, so in a square table the last row "
    "sees every key. A query whose keys are all masked gets the weights 0 and the output 0.",
    "weights": "Read along a row: it says how one query divides its attention, and it sums to 1. A column need not "
    "sum to 1: a key may be attended to by every query or by none.",
}
"""What a teacher would add to the reason of a step."""


class Rules(NamedTuple):
    """Who may look at whom, and what is done to the scores: the options that every attention shares."""

    causal: bool = False
    causal_align: str = "start"
    padding: tuple[int, ...] | None = None
    window: int | None = None
    scale: float | str = "default"
    softcap: float | None = None
    mask_before_scale: bool = False
    max_distance: int = 128


class Learned(NamedTuple):
    """What an attention has learned beside its projections."""

    sinks: Node | None = None
    table: Node | None = None  # of T5's biases


UNLEARNED = Learned()


def weights_of(
    Q: Node, K: Node, M: Node | None, B: Node | str | None, rules: Rules, learned: Learned = UNLEARNED
) -> Node:
    """Attention weights: how much of each key every query takes."""
    scores = step("scores", Q @ K.T, "compare every query with every key", about=ABOUT["scores"])
    return shared_out(scores, Q.size("d_k"), M, B, rules, learned)


def shared_out(
    scores: Node, width: Node, M: Node | None, B: Node | str | None, rules: Rules, learned: Learned = UNLEARNED
) -> Node:
    """The weights from scores, products of vectors so wide, in the order scale, cap, bias, mask, softmax."""
    if rules.mask_before_scale:
        scores = _masked(scores, M, rules)
    if rules.scale != "none":
        default, size = rules.scale == "default", formula(width)
        root = f"√({size})" if " " in size else f"√{size}"
        why = (
            f"keep the variance of the scores near 1, whatever {size} is"
            if default
            else f"the number that was given takes the place of 1/{root}"
        )
        scores = step("scaled", scaled(width, scores, rules.scale), why, about=ABOUT["scaled"] if default else "")
    if rules.softcap is not None:
        cap = constant(rules.softcap, "C", "softcap")
        why = "no score can grow without limit: all stay between −C and C"
        scores = step("capped", cap * tanh(scores / cap), why, about=ABOUT["capped"])
    if isinstance(B, Node):
        why = "what position or structure contributes, whatever the tokens are"
        scores = step("biased", scores + B, why, about=ABOUT["biased"])
    elif B == "t5":
        scores = step("biased", *_with_t5(scores, learned.table, rules), about=ABOUT["t5"])
    elif B is not None:
        scores = step("biased", *_with_alibi(scores, rules), about=ABOUT["alibi"])
    if learned.table is not None and B != "t5":
        raise OptionError("bias_table goes with --bias t5")
    if not rules.mask_before_scale:
        scores = _masked(scores, M, rules)
    if learned.sinks is not None:
        return _beside_sinks(scores, learned.sinks)
    return step(
        "weights", softmax(scores), "each query divides a total weight of 1 among the keys", about=ABOUT["weights"]
    )


def _beside_sinks(scores: Node, sinks: Node) -> Node:
    """The weights of keys beside which each head's sink takes its share."""
    why = "how much of its weight a query leaves to the keys; the head's sink takes the rest, like one more key"
    kept = step("kept", ops.sigmoid(log_sum_exp(scores) - sinks), why, about=ABOUT["kept"])
    return step("weights", softmax(scores) * kept, "each query divides among the keys what the sink leaves to them")


def scaled(width: Node, scores: Node, scale: float | str) -> Node:
    """The scores by 1/√d_k, by the number that was given, or as they are."""
    if isinstance(scale, str):
        return scores if scale == "none" else scores / sqrt(width)
    return scores * as_node(scale)


def _with_t5(scores: Node, table: Node | None, rules: Rules) -> tuple[Node, str]:
    """The scores and each head's learned bias for how far apart query and key are, and why."""
    if table is None:
        raise OptionError("--bias t5 needs bias_table, a row for each bucket and a column for each head")
    buckets = table.axes[-2].size
    check_buckets(buckets, rules.max_distance, causal=rules.causal)
    i, j = _places(scores.axes[-2:], rules)
    numbers = ops.bucket(j - i, buckets, rules.max_distance, causal=rules.causal)
    return (
        scores + ops.lookup(table.T, numbers, "buckets"),
        "each head has learned what to add for a distance; far ones share a bucket",
    )


def check_buckets(buckets: int, max_distance: int, *, causal: bool) -> None:
    """Raise for buckets that no distance can be sorted into."""
    if buckets > MOST_BUCKETS:
        raise OptionError(f"--buckets must be at most {MOST_BUCKETS:,}, not {buckets}")
    own = buckets if causal else buckets // 2
    if own < 2 or (not causal and buckets % 2):
        raise OptionError(f"--buckets must be {'at least 2' if causal else 'an even number from 4 on'}, not {buckets}")
    if max_distance <= own // 2:
        raise OptionError(
            f"--max-distance must be more than {own // 2}, up to which every distance has a bucket of its own, not "
            f"{max_distance}"
        )


def _with_alibi(scores: Node, rules: Rules) -> tuple[Node, str]:
    """The scores less each head's slope times the distance, and why; a single head's slope is 2⁻⁸."""
    heads = next((axis.size for axis in scores.axes[:-2] if axis.name == "h"), None)
    i, j = _places(scores.axes[-2:], rules)
    distances = absolute(i - j)
    if heads is None:
        return scores - as_node(2) ** -8 * distances, "distant keys are penalised; the slope of a single head is 2⁻⁸"
    why = "distant keys are penalised, with a slope that differs from head to head"
    return scores - outer(slopes_of(heads), distances), why


def slopes_of(heads: int) -> Node:
    """ALiBi's slopes: 2^(−8h/H) for h = 1…H; for H no power of two, those of the power below and every other one of
    the power above.
    """
    power = 2 ** (heads.bit_length() - 1)
    if power == heads:
        return as_node(2) ** -(8 * _head(heads) / constant(heads, "H", "heads"))
    note(
        f"{heads} heads are no power of two: the first {power} slopes are those of {power} heads, the others every "
        f"second one of {2 * power} heads, as in the paper's code"
    )
    between = as_node(2) ** -(8 * (2 * _head(heads - power) - 1) / (2 * power))
    return concat([as_node(2) ** -(8 * _head(power) / power), between], "h")


def _head(count: int) -> Node:
    """The heads' numbers, from 1."""
    return index("h", (Axis("h", count),), "h") + 1


def _places(axes: Axes, rules: Rules, start: int = 0, total: int = 0) -> tuple[Node, Node]:
    """Where each query stands, and each key from `start` on: both from 0, or the last query beside key `total` − 1."""
    n, m = axes[-2:]
    i, j = index(n.name, axes, "i"), index(m.name, axes, "j")
    shift = (total or m.size) - n.size if rules.causal_align == "end" else 0
    return i + shift if shift else i, j + start if start else j


def _masked(scores: Node, M: Node | None, rules: Rules) -> Node:
    """The scores with −∞ where a query may not look, as a step, where there are such places."""
    n, m = scores.axes[-2:]
    note_alignment(n.size, m.size, rules)
    hidden = as_seen(scores, M, rules)
    if hidden is scores:
        return scores
    added = "the mask's numbers are added; " if M is not None and not _chooses(M) else ""
    placed = "query i, key j; " if rules.window is not None else ""
    if rules.causal:
        placed = "query i, key j: none looks ahead; "
    gone = "e^−∞ is 0, so a masked key gets no weight"
    if rules.mask_before_scale and rules.softcap is not None:
        note("--softcap makes −C of −∞: masked keys get weight, too; without --mask-before-scale they get none")
        gone = "the cap makes −C of −∞, so a masked key gets weight, too"
    return step("masked", hidden, f"{added}{placed}{gone}", about=ABOUT["masked"])


def note_alignment(queries: int, keys: int, rules: Rules) -> None:
    """Tell which keys a query sees where causal has two readings: there are not as many queries as keys."""
    if rules.causal and rules.causal_align == "start" and queries != keys:
        note(f"causal, n={queries}, m={keys}: query i sees keys 0…i; --causal-align end lets the last query see all")


def as_seen(scores: Node, M: Node | None, rules: Rules, start: int = 0, total: int = 0) -> Node:
    """The scores with −∞ where a query may not look: e^−∞ is 0. The keys are those from `start` on, of `total`."""
    if M is not None and not _chooses(M):
        scores = scores + M
    allowed = None
    for rule in _rules(scores, M, rules, start, total):
        allowed = rule if allowed is None else allowed & rule
    return scores if allowed is None else keep_where(allowed, scores, -np.inf)


def _chooses(M: Node) -> bool:
    """Whether a mask, or the part of one, is true and false, and no numbers to add."""
    given = M if M.op == "input" else M.sources[0]
    return bool(given.args["boolean"])


def _rules(scores: Node, M: Node | None, rules: Rules, start: int, total: int) -> Iterator[Node]:
    """One condition for each reason why a query may or may not look at a key."""
    n, m = scores.axes[-2:]
    axes = _told_apart(scores, M, rules)
    if n in axes:
        i, j = _places(axes, rules, start, total)
        if rules.causal:
            yield j <= i
        if rules.window is not None:
            window = constant(rules.window, "W", "window")
            yield i - j < window
            if not rules.causal:
                yield j - i < window
    if rules.padding is not None:
        yield _valid(scores, index(m.name, axes, "j"), rules.padding)
    if M is not None and _chooses(M):
        yield M


def _told_apart(scores: Node, M: Node | None, rules: Rules) -> Axes:
    """The axes along which the conditions differ, so that any two go together: padding by batch, and causal."""
    differ = set(scores.names[-2 if rules.causal or rules.window is not None else -1 :])
    if M is not None and _chooses(M):
        differ |= set(M.names)
    if rules.padding is not None and len(rules.padding) > 1:
        differ.add(scores.names[0])
    return tuple(axis for axis in scores.axes if axis.name in differ)


def _valid(scores: Node, j: Node, lengths: tuple[int, ...]) -> Node:
    """Which keys are no padding: those before each batch entry's length."""
    batch, m = scores.axes[:-2], scores.axes[-1]
    wrong = [length for length in lengths if not 0 <= length <= m.size]
    if wrong:
        raise OptionError(f"--padding {wrong[0]} is not among 0…{m.size}: it is a number of keys, and m={m.size}")
    if len(lengths) == 1:
        return j < lengths[0]
    if not batch or batch[0].size != len(lengths):
        there = f"{batch[0].size}" if batch else "one"
        raise ShapeError(f"--padding gives {len(lengths)} lengths, but the batch has {there}")
    return j < constants(lengths, batch[0], "length")


def fully_masked(trace: Trace) -> Iterator[str]:
    """A warning for queries that may look at nothing."""
    for before, weights in pairwise(trace.steps):
        if weights.name == "weights" and (empty := _empty(trace, weights, before)):
            _must_be_masked(trace, weights, empty)
            yield said_of(empty, weights.axes[:-1], weights.labels)


def said_of(empty: list[list[int]], axes: tuple[str, ...], labels: Mapping[str, tuple[str, ...]]) -> str:
    """The warning for queries whose keys are all masked, by their places along those axes."""
    shown = ", ".join(_place(axes, at, labels) for at in empty[:5])
    more = f" and {len(empty) - 5} more" if len(empty) > 5 else ""
    return (
        f"every key is masked for {shown}{more}: the weights and the output there are 0, as in PyTorch and "
        f"ONNX (a plain softmax would give NaN)"
    )


def _must_be_masked(trace: Trace, weights: Step, empty: list[list[int]]) -> None:
    """Refuse scores that are −∞ because they overflow: a query without a finite one is not a query that is masked."""
    for scores in trace.steps:
        if scores.name == "scores" and scores.group == weights.group and scores.value is not None:
            for at in empty:
                row = scores.value[tuple(at)]
                if row.dtype.kind == "f" and np.isneginf(row).any():
                    place = [*at, int(np.argmin(row))]
                    raise DomainError(
                        f"{scores.key}[{','.join(map(str, place))}] = {scores.formula} overflows: it is below "
                        f"{np.finfo(row.dtype).min:.2g}, the lowest {row.dtype}"
                    )


def _empty(trace: Trace, weights: Step, before: Step) -> list[list[int]]:
    """The queries that share out nothing; in a large run those among them whose output is 0 throughout."""
    if weights.value is not None:
        nothing = (weights.value == 0).all(axis=-1)
        if weights.drift is not None and before.value is not None and before.axes == weights.axes:
            nothing &= np.isneginf(before.value).all(axis=-1)  # small shares of many keys may also be rounded to 0
        return np.argwhere(nothing).tolist()
    result = trace.outputs[0]
    if result.value is None or result.axes[:-1] != weights.axes[:-1]:
        return []
    nothing, keys = np.argwhere((result.value == 0).all(axis=-1)).tolist(), weights.shape[-1]
    found = []
    for (*batch, block), queries in groupby(nothing, key=lambda at: [*at[:-1], at[-1] // AT_ONCE]):
        at, rows = [[i] for i in batch], [at[-1] for at in queries]
        if before.value is None and before.axes == weights.axes:
            nearest = min(block * AT_ONCE, keys - 1)  # most masks let a query see itself, so that key comes first
            near = trace.entries(before, [*at, rows, range(nearest, min(nearest + AT_ONCE, keys))])
            rows = [rows[i] for i in np.flatnonzero(np.isneginf(near).all(axis=-1))]
        if rows:
            alone = (trace.entries(weights, [*at, rows, range(keys)]) == 0).all(axis=-1).ravel()
            found += [[*batch, row] for row, none in zip(rows, alone, strict=True) if none]
    return found


def _place(axes: tuple[str, ...], at: list[int], labels: Mapping[str, tuple[str, ...]]) -> str:
    """`h=1, query 0 (the)`."""
    *batch, query = at
    where = "".join(f"{name}={i}, " for name, i in zip(axes, batch, strict=False))
    word = f" ({labels[axes[-1]][query]})" if axes[-1] in labels else ""
    return f"{where}query {query}{word}"


# The options of rotary embeddings, and whether an attention turns its queries and keys.


Optional = float | None


class Rotation(NamedTuple):
    """How positions turn vectors: the options of rope, which attention has under --rope-…."""

    base: Annotated[float, "frequencies are base^(−2i/d)", ABOVE_0] = 10000
    layout: Annotated[
        Literal["interleaved", "half"],
        "which two entries make a pair: (2i, 2i + 1) as in the paper, or (i, i + d/2) as in Llama",
    ] = "interleaved"
    dims: Annotated[int | None, "rotate only this many of the first dimensions"] = None
    scaling: Annotated[
        Literal["none", "base", "linear", "ntk", "dynamic", "yarn", "longrope", "llama3"],
        "how the frequencies change for texts longer than the trained length",
    ] = "none"
    factor: Annotated[Optional, "how many times longer than the trained length the text may be", ABOVE_0] = None
    original_length: Annotated[int | None, "the trained length", ABOVE_0, With(("scaling",))] = None
    length: Annotated[
        int | None,
        "the length of this text (dynamic, longrope); the number of positions if not given",
        ABOVE_0,
        With(("scaling=dynamic", "scaling=longrope", "scaling=yarn")),
    ] = None
    low_freq_factor: Annotated[Optional, "llama3: pairs with fewer turns than this are slowed down (1)"] = None
    high_freq_factor: Annotated[Optional, "llama3: pairs with more turns than this stay as they are (4)"] = None
    beta_fast: Annotated[Optional, "yarn: pairs with more turns than this stay as they are (32)", ABOVE_0] = None
    beta_slow: Annotated[Optional, "yarn: pairs with fewer turns than this are slowed down (1)", ABOVE_0] = None
    attention_factor: Annotated[Optional, "yarn, longrope: what cosines and sines are multiplied by", ABOVE_0] = None
    mscale: Annotated[
        Optional, "yarn: the attention factor's numerator, with mscale-all-dim", With(("mscale_all_dim",))
    ] = None
    mscale_all_dim: Annotated[Optional, "yarn: the attention factor's denominator"] = None
    no_truncate: Annotated[bool, "yarn: the ramp's ends are not rounded to whole pairs"] = False
    short_factor: Annotated[
        tuple[float, ...] | None, "longrope: a divisor for each pair, within the trained length"
    ] = None
    long_factor: Annotated[tuple[float, ...] | None, "longrope: a divisor for each pair, beyond it"] = None


DEFAULTS = Rotation()


class Turning(NamedTuple):
    """Whether and how an attention turns its queries and keys."""

    positions: Node | None = None  # of the queries, and of the keys if they have none of their own
    rotation: Rotation = DEFAULTS
    on: bool = False
    at_end: bool = False  # whether the last query has the position of the last key
    key_positions: Node | None = None
