"""The mistakes of positions that are added: exponents of sinusoids, slopes of ALiBi, buckets of T5."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attncalc.axes import Axis
from attncalc.graph import Node, as_node, rewrite
from attncalc.mistake import Mistake, NotThere, Scope, chosen, parts, right, wrong
from attncalc.ops import absolute, cos, index, keep_where, maximum, minimum, outer, part_of, put_together, sin

LAYOUTS = {"interleaved": "interleaved", "concatenated": "half"}

EXPONENT = "Is i the number of the column, or of the pair?"
LAST = "How long is the wave of the last pair?"
SLOPES = "What are the slopes for other numbers of heads?"


# Sinusoids


def _pair(s: Scope) -> tuple[Node, Node]:
    """The number of the pair, and the width."""
    pairs = s.frequencies.axes[-1]
    return index(pairs.name, (pairs,), "i"), Node("size", axes=(), axis=Axis("d", s.options["d"]))


def _base(s: Scope) -> Node:
    return as_node(s.options["base"])


def _frequencies(exponent: Callable[[Node, Node], Node]) -> Callable[[Scope], Node]:
    """Frequencies with another exponent, a function of the pair and the width."""

    def rule(s: Scope) -> Node:
        pairs = s.this.axes[-1]
        i, d = index(pairs.name, (pairs,), "i"), Node("size", axes=(), axis=Axis("d", s.options["d"]))
        return _base(s) ** -exponent(i, d)

    return rule


def _columns(even: Callable[[Node, Node], Node], odd: Callable[[Node, Node], Node]) -> Callable[[Scope], Node]:
    """Sines and cosines with exponents of their own."""

    def rule(s: Scope) -> Node:
        place, _ = parts(s.angles, "outer")
        i, d = _pair(s)
        angles = [outer(place, _base(s) ** -exponent(i, d)) for exponent in (even, odd)]
        return _woven(s, sin(angles[0]), cos(angles[1]))

    return rule


def _woven(s: Scope, first: Node, second: Node) -> Node:
    width = s.this.axes[-1]
    whole = put_together(first, second, LAYOUTS[s.options["layout"]], width.name)
    return part_of(whole, width.name, 0, width.size)


def _degrees(s: Scope) -> Node:
    turned = s.angles * as_node(np.pi / 180)
    return _woven(s, sin(turned), cos(turned))


def _short_steps(i: Node, d: Node) -> Node:
    return i / (d / 2 - 1)


SINUSOIDAL = (
    wrong(
        "pe-exp-double",
        "encoding",
        _columns(lambda i, d: 4 * i / d, lambda i, d: (4 * i + 2) / d),
        says="the exponent 2j/d with j the column",
        hint=EXPONENT,
    ),
    wrong(
        "pe-odd-own-index",
        "encoding",
        _columns(lambda i, d: 2 * i / d, lambda i, d: (2 * i + 1) / d),
        says="the cosine with an exponent of its own, (2i + 1)/d",
        hint="Do the two of a pair share a frequency?",
    ),
    wrong(
        "pe-exp-half",
        "frequencies",
        _frequencies(lambda i, d: i / d),
        says="the exponent i/d, or base 100",
        hint=LAST,
    ),
    wrong(
        "pe-base-1000",
        options=chosen(base={10000: 1000}),
        says="base 1000",
        hint="Read the constant once more.",
    ),
    wrong(
        "pe-concat",
        options=chosen(layout={"interleaved": "concatenated", "concatenated": "interleaved"}),
        says="all sines before all cosines, or the other way round",
        hint="What stands in column 1?",
        kind="convention",
    ),
    wrong(
        "pe-timescales-minus-1",
        "frequencies",
        _frequencies(_short_steps),
        says="the exponent i/(d/2 − 1)",
        hint="How many steps are there from the first frequency to the last?",
        kind="convention",
    ),
    wrong(
        "pe-div-half",
        "frequencies",
        _frequencies(lambda i, d: 4 * i / d),
        says="2i/(d/2)",
        hint="Where do the brackets of the divisor stand?",
    ),
    wrong(
        "pe-pow-inverted",
        "frequencies",
        _frequencies(lambda i, d: -(2 * i / d)),
        says="p times 10000^(2i/d)",
        hint="Do later columns turn faster, or slower?",
    ),
    wrong(
        "pe-int-division",
        "frequencies",
        _frequencies(lambda i, d: 0 * i),
        says="a whole-number division: the exponent is 0",
        hint="Is the exponent a whole number?",
    ),
    wrong(
        "pe-precedence",
        "frequencies",
        _frequencies(lambda i, d: 0 * i),
        says="2i/d//2: divided, and then halved to a whole number",
        hint="Where do the brackets of the divisor stand?",
        alias_of="pe-int-division",
    ),
    wrong(
        "pe-pos-from-1",
        options=lambda given: {"start": given["start"] + 1},
        says="positions from 1",
        hint="What is the first row of the sines?",
    ),
    wrong(
        "pe-swap",
        "encoding",
        lambda s: _woven(s, cos(s.angles), sin(s.angles)),
        says="cosines in the even columns, sines in the odd ones",
        hint="What is column 0 at position 0?",
    ),
    wrong("pe-degrees", "encoding", _degrees, says="sines of degrees", hint="In which mode is the calculator?"),
)


# ALiBi


def _slopes(exponent: Callable[[Node, int], Node]) -> Callable[[Scope], Node]:
    """Slopes 2^−…, a function of the head's number from 0 and of how many there are."""

    def rule(s: Scope) -> Node:
        heads = s.this.axes[-1]
        return as_node(2) ** -exponent(index(heads.name, (heads,), "h"), heads.size)

    return rule


def _next_power(h: Node, heads: int) -> Node:
    power = 1 << (heads - 1).bit_length()
    return 8 * (h + 1) / power


def by_key(biased: Node) -> Node:
    """The key's place in place of how far it is back: it differs by a number that is the same for a whole row."""
    met = []

    def place(node: Node) -> Node | None:
        if node.op != "abs":
            return None
        met.append(node)
        return -parts(node.sources[0], "sub")[1]

    [changed] = rewrite([biased], place)
    if not met:
        raise NotThere("distances")
    return changed


def _by_key(s: Scope) -> Node:
    parts(s.this, "where")  # without a triangle a row has distances to both sides
    return by_key(s.this)


def _gaining(s: Scope) -> Node:
    if s.this.op == "where":
        allowed, x, _ = parts(s.this, "where")
        return keep_where(allowed, -x, -np.inf)
    return -s.this


def _signed(s: Scope) -> Node:
    (difference,) = parts(s.this, "abs")
    return difference


ALIBI = (
    right("alibi-by-key", "bias", _by_key, says="+m·j in place of −m·(i − j): a row's constant makes no difference"),
    wrong(
        "alibi-slope-h0",
        "slopes",
        _slopes(lambda h, heads: 8 * h / heads),
        says="the heads counted from 0",
        hint="Is the first slope 1?",
    ),
    wrong(
        "alibi-nonpow2",
        "slopes",
        _slopes(lambda h, heads: 8 * (h + 1) / heads),
        says="2^(−8h/H) for a number of heads that is no power of two",
        hint=SLOPES,
        kind="convention",
    ),
    wrong(
        "alibi-nonpow2",
        "slopes",
        _slopes(_next_power),
        says="the first slopes of the next power of two",
        hint=SLOPES,
        kind="convention",
    ),
    wrong(
        "alibi-2-pow-minus-h",
        "slopes",
        _slopes(lambda h, heads: h + 1),
        says="2^−h, whatever the number of heads is",
        hint=SLOPES,
    ),
    wrong("alibi-plus", "bias", _gaining, says="+m·|i − j|", hint="Do keys that are far away gain?"),
    wrong(
        "alibi-no-slope",
        "slopes",
        lambda s: 0 * s.this + 1,
        says="the slope 1 for every head",
        hint="Is there a slope for each head?",
    ),
    wrong(
        "alibi-signed-bidir",
        "distances",
        _signed,
        says="−m·(i − j), with its sign, where nothing is masked",
        hint="Is that a distance, or a difference?",
    ),
)


# T5


def _capped(s: Scope) -> Node:
    """Buckets without the logarithmic part."""
    distance, causal, buckets = s.relative_positions, s.options["causal"], s.options["buckets"]
    if buckets is None:
        buckets = s.table.axes[-2].size if "table" in s else 32
    if causal:
        return minimum(maximum(0 - distance, 0), buckets - 1)
    half = buckets // 2
    later = keep_where(as_node(0) < distance, half, 0)
    return minimum(absolute(distance), half - 1) + later


T5 = (
    wrong(
        "t5-sign",
        "relative_positions",
        lambda s: -s.this,
        says="query − key",
        hint="Is the past negative, or positive?",
    ),
    wrong(
        "t5-bidir",
        options=chosen(causal={True: False}),
        says="the encoder's buckets in a decoder",
        hint="Can it see the future?",
    ),
    wrong(
        "t5-log-bucket",
        "buckets",
        _capped,
        says="without the logarithmic buckets for far distances",
        hint="What happens to distances that are far?",
    ),
)


MISTAKES: dict[str, tuple[Mistake, ...]] = {"sinusoidal": SINUSOIDAL, "alibi": ALIBI, "t5-bias": T5}
"""Calculation → its mistakes, the commonest first."""
