"""Mistakes of sinusoidal positions: the exponent, the order of sines and cosines, where counting starts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attncalc.declare.mistake import Mistake, Scope, chosen, parts, wrong
from attncalc.language.axes import Axis
from attncalc.language.graph import Node, as_node, named_size
from attncalc.language.ops import cos, index, outer, part_of, put_together, sin

LAYOUTS = {"interleaved": "interleaved", "concatenated": "half"}

EXPONENT = "Is i the number of the column, or of the pair?"
LAST = "How long is the wave of the last pair?"


def _pair(s: Scope, pairs: Axis) -> tuple[Node, Node]:
    """The number of the pair, and the width."""
    return index(pairs.name, (pairs,), "i"), named_size("d", s.options["d"])


def _base(s: Scope) -> Node:
    return as_node(s.options["base"])


def _frequencies(exponent: Callable[[Node, Node], Node]) -> Callable[[Scope], Node]:
    """Frequencies with another exponent, a function of the pair and the width."""

    def rule(s: Scope) -> Node:
        return _base(s) ** -exponent(*_pair(s, s.this.axes[-1]))

    return rule


def _columns(even: Callable[[Node, Node], Node], odd: Callable[[Node, Node], Node]) -> Callable[[Scope], Node]:
    """Sines and cosines with exponents of their own."""

    def rule(s: Scope) -> Node:
        place, _ = parts(s.angles, "outer")
        pair = _pair(s, s.frequencies.axes[-1])
        angles = [outer(place, _base(s) ** -exponent(*pair)) for exponent in (even, odd)]
        return _woven(s, sin(angles[0]), cos(angles[1]))

    return rule


def _woven(s: Scope, first: Node, second: Node) -> Node:
    width = s.this.axes[-1]
    whole = put_together(first, second, LAYOUTS[s.options["layout"]], width.name)
    return part_of(whole, width.name, 0, width.size)


def _degrees(s: Scope) -> Node:
    turned = s.angles * as_node(np.pi / 180)
    return _woven(s, sin(turned), cos(turned))


SINUSOIDAL = (
    wrong(
        "pe-exp-double",
        "encoding",
        _columns(lambda i, d: 4 * i / d, lambda i, d: (4 * i + 2) / d),
        says="the exponent 2j/d, where j is the column",
        hint=EXPONENT,
    ),
    wrong(
        "pe-odd-own-index",
        "encoding",
        _columns(lambda i, d: 2 * i / d, lambda i, d: (2 * i + 1) / d),
        says="the cosine with an exponent of its own, (2i + 1)/d",
        hint="Do the sine and the cosine of a pair share a frequency?",
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
        hint="Which base was given?",
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
        _frequencies(lambda i, d: i / (d / 2 - 1)),
        says="the exponent i/(d/2 − 1)",
        hint="How many steps are there from the first frequency to the last?",
        kind="convention",
    ),
    wrong(
        "pe-div-half",
        "frequencies",
        _frequencies(lambda i, d: 4 * i / d),
        says="the exponent 2i/(d/2)",
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
        hint="Which position does the first row stand for?",
    ),
    wrong(
        "pe-swap",
        "encoding",
        lambda s: _woven(s, cos(s.angles), sin(s.angles)),
        says="cosines in the even columns, sines in the odd ones",
        hint="What stands in column 0 at position 0?",
    ),
    wrong(
        "pe-sines-alone",
        "encoding",
        lambda s: _woven(s, sin(s.angles), sin(s.angles)),
        says="sines in both columns of a pair",
        hint="What stands at position 0 in column 1?",
    ),
    wrong("pe-degrees", "encoding", _degrees, says="sines of degrees", hint="In which mode is the calculator?"),
)

MISTAKES: dict[str, tuple[Mistake, ...]] = {"sinusoidal": SINUSOIDAL}
"""Calculation → its mistakes, the commonest first."""
