"""Mistakes of derivatives: the slope of a formula by rules of which one is wrong.

A formula is differentiated from its letters up, each primitive by the slope in its own row, unless the wrong rule
applies to it. So a wrong rule is stated once, and works in any formula.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attncalc.declare.mistake import Mistake, NotThere, Rule, Scope, parts, wrong
from attncalc.language.graph import Node, as_node, walk
from attncalc.language.ops import part_of, power, total

Slopes = Sequence[Node | None]
"""The slopes of a primitive's sources; None for a source that does not depend on the letter."""
WrongRule = Callable[[Node, Slopes], Node | None]
"""The slope of a primitive; None if the rule does not apply to it."""

PARTIAL = "partial_"
TERMS = ("add", "sub")
ONE = as_node(1)


def _local(node: Node, source: int = 0) -> Node:
    """The slope of a primitive in one of its sources."""
    assert node.row.vjp, "what a formula is made of has slopes"
    slope = node.row.vjp(ONE, node, node, *node.sources)[source]
    return as_node(0) if slope is None else slope


def _chained(node: Node, slopes: Slopes) -> Node:
    """The chain rule: the slope in each source times the slope of that source, added up."""
    terms = [_local(node, i) * slope for i, slope in enumerate(slopes) if slope is not None]
    return terms[0] if len(terms) == 1 else Node("add", *terms)


def _slope(formula: Node, letter: Node, rule: WrongRule) -> Node:
    """The slope of a formula in one of its letters, with a wrong rule; NotThere where it is never used."""
    found: dict[Node, Node] = {letter: ONE}
    used = False
    for node in walk(formula):
        slopes = [found.get(source) for source in node.sources]
        if any(slopes):
            wrongly = rule(node, slopes)
            used = used or wrongly is not None
            found[node] = wrongly or _chained(node, slopes)
    if not used:
        raise NotThere("the rule")
    return found[formula]


def _formula(s: Scope) -> Node:
    """What is differentiated: the value of f, which is among the results."""
    name = s.step.args["name"]
    step = s.value if name.startswith(PARTIAL) else s.function
    return step.sources[0]


def _by(rule: WrongRule) -> Rule:
    """The slope in the letter that a step is named after, or in the only one there is, with a wrong rule."""

    def slope(s: Scope) -> Node:
        formula, name = _formula(s), s.step.args["name"].removeprefix(PARTIAL)
        letters = [node for node in walk(formula) if node.op == "input"]
        for letter in letters:
            if len(letters) == 1 or letter.args["name"] == name:
                return _slope(formula, letter, rule)
        raise NotThere(name)

    return slope


def _holds_more(node: Node, slopes: Slopes) -> bool:
    """Whether it is a function, or a power, of more than the letter itself."""
    alone = slopes[0] is not None and not any(slopes[1:])
    return alone and node.op not in (*TERMS, "neg", "mul", "div") and node.sources[0].op != "input"


def _at_inner_slope(node: Node, slopes: Slopes) -> Node | None:
    first, *rest = slopes[0], *node.sources[1:]
    return _local(node.over([first, *rest])) if first and _holds_more(node, slopes) else None


def _of_each(op: str) -> WrongRule:
    """A product or quotient of the slopes."""

    def rule(node: Node, slopes: Slopes) -> Node | None:
        return node.over([slope for slope in slopes if slope]) if node.op == op and all(slopes) else None

    return rule


def _quotient(combine: Callable[[Node, Node, Node], Node]) -> WrongRule:
    """Of a quotient u/v, made of u′·v, u·v′ and v."""

    def rule(node: Node, slopes: Slopes) -> Node | None:
        if node.op != "div" or slopes[1] is None:
            return None
        u, v = node.sources
        return combine((slopes[0] or as_node(0)) * v, u * slopes[1], v)

    return rule


def _power(combine: Callable[[Node, Node], Node]) -> WrongRule:
    """Of a power x^p with a fixed exponent, made of x and p."""

    def rule(node: Node, slopes: Slopes) -> Node | None:
        fixed = node.op == "pow" and slopes[0] is not None and slopes[1] is None
        return combine(*node.sources) * slopes[0] if fixed and slopes[0] else None

    return rule


def _exponential_as_power(node: Node, slopes: Slopes) -> Node | None:
    """e^x taken for a power: the exponent comes down and is one less."""
    slope, exponent = slopes[-1], node.sources[-1]
    if slope is None or not (node.op == "exp" or (node.op == "pow" and slopes[0] is None)):
        return None
    base = node.sources[0] if node.op == "pow" else Node("exp", ONE)
    return exponent * power(base, exponent - 1) * slope


def _with_constants(node: Node, slopes: Slopes) -> Node | None:
    """What does not depend on the letter is left as it is among the terms."""
    if node.op not in TERMS or all(slopes):
        return None
    return node.over([slope or source for slope, source in zip(slopes, node.sources, strict=True)])


def _h_outside(s: Scope) -> Node:
    difference, h = parts(s.this, "div")
    here = parts(difference, "sub")[1]
    return (here + h - here) / h


def _slopes(at: str) -> tuple[Mistake, ...]:
    """The mistakes of the steps that hold slopes."""
    return (
        wrong(
            "diff-chain-no-inner",
            at,
            _by(lambda node, slopes: _local(node) if _holds_more(node, slopes) else None),
            says="u′(v) for u(v): the inner slope is left out",
            hint="Does what stands inside change as fast as the letter itself?",
        ),
        wrong(
            "diff-product-each",
            at,
            _by(_of_each("mul")),
            says="u′·v′ for u·v",
            hint="What does your rule make of x·x?",
        ),
        wrong(
            "diff-power-not-lowered",
            at,
            _by(_power(lambda x, p: p * x**p)),
            says="p·x^p for x^p",
            hint="Which power of x is left?",
        ),
        wrong(
            "diff-power-no-factor",
            at,
            _by(_power(lambda x, p: x ** (p - 1))),
            says="x^(p−1) for x^p",
            hint="What stands in front of the power?",
        ),
        wrong(
            "diff-quotient-order",
            at,
            _by(_quotient(lambda left, right, v: (right - left) / v**2)),
            says="(u·v′ − u′·v)/v² for u/v",
            hint="Which of the two terms is taken from which?",
        ),
        wrong(
            "diff-quotient-each",
            at,
            _by(_of_each("div")),
            says="u′/v′ for u/v",
            hint="What does your rule make of x/x?",
        ),
        wrong(
            "diff-exp-as-power",
            at,
            _by(_exponential_as_power),
            says="x·e^(x−1) for e^x",
            hint="Where does the letter stand: in the base, or in the exponent?",
        ),
        wrong(
            "diff-sine-sign",
            at,
            _by(lambda node, slopes: -_chained(node, slopes) if node.op in ("sin", "cos") else None),
            says="−cos for sin, or sin for cos",
            hint="Just after 0, does the sine rise or fall? And the cosine?",
        ),
        wrong(
            "diff-constant-kept",
            at,
            _by(_with_constants),
            says="a term without the letter is kept",
            hint="How fast does a constant change?",
        ),
        wrong(
            "diff-f-for-fprime",
            at,
            _formula,
            says="f in place of its slope",
            hint="Is that the slope, or the height?",
        ),
        wrong(
            "diff-quotient-no-square",
            at,
            _by(_quotient(lambda left, right, v: (left - right) / v)),
            says="(u′·v − u·v′)/v for u/v",
            hint="What stands below the line?",
        ),
        wrong(
            "diff-chain-nested",
            at,
            _by(_at_inner_slope),
            says="u′(v′) for u(v): the outer slope at the inner one",
            hint="At which place is the outer slope taken?",
        ),
    )


MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "derivative": (
        *_slopes("derivative value"),
        wrong(
            "diff-chord",
            "derivative value",
            lambda s: total(part_of(s.difference_quotients, "h", 0, 1), "h"),
            says="the slope of a chord in place of the limit",
            hint="What happens as h becomes smaller?",
        ),
        wrong(
            "diff-not-divided",
            "difference_quotients",
            lambda s: parts(s.this, "div")[0],
            says="f(x + h) − f(x), not divided by h",
            hint="Over what distance does f rise by so much?",
        ),
        wrong(
            "diff-h-outside",
            "difference_quotients",
            _h_outside,
            says="f(x) + h in place of f(x + h)",
            hint="At which two places is f taken?",
        ),
    ),
    "gradient": (
        *_slopes(f"{PARTIAL}*"),
        wrong(
            "diff-downhill",
            "gradient",
            lambda s: -s.this,
            says="−∇f in place of ∇f",
            hint="Does f rise or fall that way?",
        ),
    ),
}
"""Calculation → its mistakes, the commonest first."""
