"""Mistakes between scores and weights: which keys a query may see, and what positions add."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from attncalc.declare.mistake import (
    Mistake,
    NotThere,
    Rule,
    Scope,
    another,
    chosen,
    parts,
    remade,
    replaced,
    until_steps,
    wrong,
)
from attncalc.language.axes import Axis
from attncalc.language.graph import Node, as_node, rewrite, walk
from attncalc.language.ops import index, keep_where, logical_not, outer, rename, softmax, sqrt

# The parts of an attention that rules use


def factors(s: Scope) -> tuple[Node, Node]:
    """Queries and keys, as they are compared."""
    Q, keys = parts(s.this if s.step.args["name"] == "scores" else s.scores, "matmul")
    return Q, keys.T


def width(s: Scope) -> Node:
    """d_k, the length of what is compared, where the product is divided at once as well."""
    with suppress(NotThere):
        Q, _ = factors(s)
        return Q.size(Q.names[-1])
    Q, _ = parts(parts(s.scores, "div")[0], "matmul")
    return Q.size(Q.names[-1])


def logits(s: Scope) -> Node:
    """What the softmax is taken of."""
    return parts(s.this, "softmax")[0]


def by_key(biased: Node) -> Node:
    """The key's place in place of how far it is back: it differs by a number that is the same for a whole row."""
    reaches = until_steps, lambda node: node.sources  # mostly it is in the step's own expression
    far = next((node for into in reaches for node in walk(biased, into=into) if node.op == "abs"), None)
    if far is None:
        raise NotThere("distances")
    return replaced(biased, far, -parts(far.sources[0], "sub")[1])


# Masks


def _masking(s: Scope) -> tuple[Node, Node]:
    """Who may look at whom, and the scores that are masked."""
    allowed, x, _ = parts(s.this, "where")
    return allowed, x


def _otherwise(fill: Callable[[Node], Node | float]) -> Callable[[Scope], Node]:
    """Another number where −∞ belongs."""
    return remade("where", lambda allowed, x, _: keep_where(allowed, x, fill(x)))


_RAISED = remade("where", lambda allowed, x, _: keep_where(allowed, x + 1, x))
"""1 is added where a query may look, instead of −∞ where it may not."""


def _after(s: Scope) -> Node:
    allowed, x, _ = parts(s.masked, "where")
    return keep_where(allowed, replaced(s.this, s.masked, x), 0)  # scaled, before or after the mask


def _unmasked(s: Scope) -> Node:
    if s.this.op == "where":
        return _masking(s)[1]
    return parts(s.this, "add")[0]


def triangle(
    change: Callable[[Node, Node], Node], fill: Callable[[Node], Node | float] = lambda _: -np.inf
) -> Callable[[Scope], Node]:
    """Another triangle in place of j ≤ i."""

    def rule(s: Scope) -> Node:
        allowed, x = _masking(s)
        met = []

        def other(node: Node) -> Node | None:
            if node.op != "less_equal":
                return None
            met.append(node)
            return change(*node.sources)

        [changed] = rewrite([allowed], other)
        if not met:
            raise NotThere("causal")
        return keep_where(changed, x, fill(x))

    return rule


def _lost(x: Node) -> Node:
    """−∞, and no number in the first row, where nothing is left to be seen."""
    return keep_where(as_node(1) <= index(x.names[-2], x.axes, "i"), x - np.inf, np.nan)


def _rows_for_columns(s: Scope) -> Node:
    allowed, x = _masking(s)
    n, m = x.names[-2:]
    if n in allowed.names:
        raise NotThere("a mask of keys")
    return keep_where(rename(allowed, m, n), x, -np.inf)


MINUS_ONE = wrong(
    "mask-minus-one",
    "masked",
    _otherwise(lambda x: -1),
    says="−1 in place of −∞",
    hint="How negative must a forbidden score be?",
)

MASKS = (
    wrong(
        "mask-missing",
        "masked",
        _unmasked,
        says="nothing is masked",
        hint="May the first query look at the last key?",
    ),
    wrong(
        "mask-after-softmax",
        "weights",
        _after,
        says="masked after the softmax; what is left is not shared out again",
        hint="Does each row still sum to 1?",
    ),
    wrong(
        "mask-fill-zero",
        "masked",
        _otherwise(lambda x: 0),
        says="0 in place of −∞, or scores times the mask",
        hint="What is e⁰?",
    ),
    *(
        wrong(
            "mask-additive-01",
            "masked",
            added,
            says="the 0s and 1s of the mask are added to the scores",
            hint="How negative must a forbidden score be?",
        )
        for added in (_otherwise(lambda x: x - 1), _RAISED)
    ),
    wrong(
        "mask-plus-inf",
        "masked",
        _otherwise(lambda x: np.inf),
        says="+∞ in place of −∞",
        hint="For which infinity is e^x 0?",
    ),
    *(
        wrong(
            "mask-strict",
            "masked",
            triangle(lambda j, i: j < i, fill),
            says="a token may not look at itself",
            hint="May a token look at itself?",
        )
        for fill in (lambda _: -np.inf, lambda _: -1e9, lambda x: x - 1e4, lambda x: x - 1e9, _lost)
    ),
    wrong(
        "mask-transposed",
        "masked",
        triangle(lambda j, i: i <= j),
        says="a token sees itself and what comes after it",
        hint="Is the forbidden corner above the diagonal or below it?",
    ),
    wrong(
        "mask-inverted",
        "masked",
        remade("where", lambda allowed, x, _: keep_where(logical_not(allowed), x, -np.inf)),
        says="the mask hides what it should keep",
        hint="Does a 1 in the mask mean keep, or hide?",
    ),
    wrong(
        "mask-offset",
        "masked",
        triangle(lambda j, i: j <= i + 1),
        says="a token sees one place ahead",
        hint="May a token look one place ahead?",
    ),
    wrong(
        "mask-query-rows",
        "masked",
        _rows_for_columns,
        says="padding hides rows of queries in place of columns of keys",
        hint="Is a padded token hidden where it is looked at, or where it looks?",
    ),
    wrong(
        "mask-causal-align",
        options=chosen(causal_align={"start": "end", "end": "start"}, causal={True: True}),
        says="the triangle is aligned at the other end",
        hint="Which is the last key that the last query sees?",
        kind="convention",
    ),
)
"""Mistakes of masks."""

CAUSAL = tuple(
    wrong(
        "mask-added",
        options=options,
        says="a causal mask",
        hint="Which keys does the problem hide?",
        kind="convention",
    )
    for options in (
        chosen(causal={False: True}),
        chosen(causal={False: True}, causal_align={"start": "end", "end": "start"}),
    )
)
"""A causal mask that was not asked for."""


# Windows and caps


def _windowed_alone(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """A window without the triangle: of a model the option says the opposite."""
    if given.get("window") is None or not given.get("causal", not given.get("no_causal", True)):
        raise NotThere("a window of a causal mask")
    return {"causal": False} if "causal" in given else {"no_causal": True}


def _capped_last(s: Scope) -> Node:
    """The cap squeezes −∞ to −C."""
    if "capped" not in s or "biased" in s or s.options["mask_before_scale"]:
        raise NotThere("capped")
    allowed, x = _masking(s)
    return keep_where(allowed, x, -s.options["softcap"])


WINDOWS = (
    *(
        wrong(
            "window-off-by-one",
            options=another("window", change),
            says=f"the window is one key {wider}",
            hint="Does the window count the token itself?",
        )
        for change, wider in ((lambda there: there + 1, "wider"), (lambda there: there - 1, "narrower"))
    ),
    wrong("window-missing", options={"window": None}, says="no window", hint="How far may a query look?"),
    wrong(
        "window-not-causal",
        options=_windowed_alone,
        says="the window without the triangle: later keys within it are seen",
        hint="May a token look at one that comes after it?",
    ),
)
"""Mistakes of windows."""

SEEN = (
    *WINDOWS,
    wrong(
        "softcap-missing",
        options={"softcap": None},
        says="the scores are not capped",
        hint="How large may a score become?",
    ),
    wrong(
        "softcap-after-mask",
        "masked",
        _capped_last,
        says="−C in place of −∞: capped after the mask",
        hint="What does the cap make of −∞?",
    ),
    wrong(
        "cache-stale",
        "masked",
        triangle(lambda j, i: j < i),
        says="a token may not look at itself",
        hint="Is a token's own key in the cache when its query looks?",
        alias_of="mask-strict",
    ),
)
"""Mistakes of windows, caps and caches."""


# Biases by position


def _unbiased(s: Scope) -> Node:
    scores, other = parts(s.this, "add", "sub")
    if other.op == "step":
        raise NotThere("a bias")
    return scores


def _scaled_with(s: Scope) -> Node:
    scaled, slopes = parts(s.this, "sub")
    return scaled - slopes / sqrt(width(s))


def _bias_after(s: Scope) -> Node:
    scaled, slopes = parts(s.biased, "sub")
    return softmax(scaled) - slopes


def _scaled_though(s: Scope) -> Node:
    if "scaled" in s:
        raise NotThere("unscaled scores")
    scores, bias = parts(s.this, "add")
    return scores / sqrt(width(s)) + bias


Exponent = Callable[[Node, int], Node]
"""(the head's number from 0, the number of heads) → the exponent e of a slope 2^−e."""


def powers(exponent: Exponent, heads: Axis) -> Node:
    """A slope for every head."""
    return as_node(2) ** -exponent(index(heads.name, (heads,), "h"), heads.size)


def _of_any_number(h: Node, heads: int) -> Node:
    if not heads & (heads - 1):
        raise NotThere("a number of heads that is no power of two")
    return 8 * (h + 1) / heads


def _of_next_power(h: Node, heads: int) -> Node:
    if not heads & (heads - 1):
        raise NotThere("a number of heads that is no power of two")
    return 8 * (h + 1) / (1 << heads.bit_length())


OTHER_SLOPES = "Which slopes would another number of heads have?"


def sloped(at: str, by: Callable[[Exponent], Rule]) -> tuple[Mistake, ...]:
    """Other slopes, in a step that is made of them."""
    return (
        wrong(
            "alibi-slope-h0",
            at,
            by(lambda h, heads: 8 * h / heads),
            says="the heads counted from 0",
            hint="Is the first slope 1?",
        ),
        wrong(
            "alibi-nonpow2",
            at,
            by(_of_any_number),
            says="2^(−8h/H) for a number of heads that is no power of two",
            hint=OTHER_SLOPES,
            kind="convention",
        ),
        wrong(
            "alibi-nonpow2",
            at,
            by(_of_next_power),
            says="the first slopes of the next power of two",
            hint=OTHER_SLOPES,
            kind="convention",
        ),
        wrong(
            "alibi-2-pow-minus-h",
            at,
            by(lambda h, heads: h + 1),
            says="2^−h, whatever the number of heads is",
            hint=OTHER_SLOPES,
        ),
    )


def _penalty(s: Scope) -> tuple[Node, Node, Node]:
    """The scores, and the slopes and distances that are taken from them."""
    scores, lost = parts(s.this, "sub")
    slopes, distances = parts(lost, "outer")
    return scores, slopes, distances


def _sloped_by(exponent: Exponent) -> Rule:
    def rule(s: Scope) -> Node:
        scores, slopes, distances = _penalty(s)
        return scores - outer(powers(exponent, slopes.axes[-1]), distances)

    return rule


def _of_slope_1(s: Scope) -> Node:
    scores, slopes, distances = _penalty(s)
    return scores - outer(0 * slopes + 1, distances)


BIASES = (
    *sloped("biased", _sloped_by),
    wrong(
        "alibi-no-slope",
        "biased",
        _of_slope_1,
        says="the slope 1 for every head",
        hint="Is there a slope for each head?",
    ),
    wrong(
        "position-bias-missing",
        "biased",
        _unbiased,
        says="without a bias for the position",
        hint="What tells a query how far away a key is?",
    ),
    wrong(
        "alibi-plus",
        "biased",
        remade("sub", lambda scores, lost: scores + lost),
        says="+m·|i − j|",
        hint="Does a key that is far away get a larger score, or a smaller one?",
    ),
    wrong(
        "alibi-scaled-too",
        "biased",
        _scaled_with,
        says="(Q·Kᵀ − m·distance)/√d_k",
        hint="Is the bias added before the scaling, or after it?",
    ),
    wrong(
        "alibi-after-softmax",
        "weights",
        _bias_after,
        says="the bias is added after the softmax",
        hint="Do the rows still sum to 1?",
    ),
    wrong(
        "t5-scaled",
        "biased",
        _scaled_though,
        says="Q·Kᵀ/√d_k + bias, where nothing is scaled",
        hint="Does this model scale its scores at all?",
    ),
)
"""Mistakes of biases by position."""
