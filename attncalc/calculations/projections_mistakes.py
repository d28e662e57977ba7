"""The mistakes of projecting tokens to queries, keys and values: which weights, on which side, of whose tokens."""

from __future__ import annotations

from attncalc.calculations.layers_mistakes import factors, no_bias, weights_transposed, with_product
from attncalc.graph import Node
from attncalc.mistake import NotThere, Rule, Scope, like, wrong

ALL = "q k v"


def _of(s: Scope, tokens: Node) -> Node:
    """A projection of other tokens by its own weights."""
    return with_product(s, tokens @ factors(s)[1])


def _exchanged(one: str, other: str) -> Rule:
    """Two projections with each other's weights."""

    def rule(s: Scope) -> Node:
        tokens, own = factors(s)
        W: Node = getattr(s, f"w{other if s.step.args['name'] == one else one}")
        return with_product(s, tokens @ like(W, own))

    return rule


def _on_the_left(s: Scope) -> Node:
    tokens, W = factors(s)
    return with_product(s, like(like(W, tokens) @ like(tokens, W), tokens @ W))


def _of_tokens(s: Scope) -> Node:
    if "context" not in s:
        raise NotThere("context")
    return _of(s, s.x)


PROJECTIONS = (
    weights_transposed(ALL),
    *(
        wrong(
            "qkv-exchanged",
            f"{one} {other}",
            _exchanged(one, other),
            says=f"W_{one.upper()} and W_{other.upper()} are exchanged",
            hint="Which matrix makes what a token looks for, which what it is found by, and which what it passes on?",
        )
        for one, other in (("q", "k"), ("k", "v"), ("q", "v"))
    ),
    wrong(
        "matmul-order-ba",
        ALL,
        _on_the_left,
        says="W·x in place of x·W",
        hint="Whose rows are multiplied with whose columns?",
    ),
    no_bias(ALL),
    wrong(
        "qkv-context-ignored",
        "k v",
        _of_tokens,
        says="keys and values of the tokens, not of the context",
        hint="Where is the text that is looked at?",
    ),
    wrong(
        "qkv-context-queries",
        "q",
        lambda s: _of(s, s.context),
        says="queries of the context, not of the tokens",
        hint="Who is looking, and at what?",
    ),
)
"""Mistakes of projections."""
