"""The mistakes of attention's backward pass: the slopes of the softmax, the scale, which factor, which index."""

from __future__ import annotations

from collections.abc import Callable

from attncalc.calculations.masking_mistakes import factors, width
from attncalc.calculations.probability_mistakes import ROWS, slopes
from attncalc.graph import Node
from attncalc.mistake import NotThere, Scope, flipped, like, parts, wrong
from attncalc.ops import total

CONSTANT = "Which constant of the forward pass comes back in the gradient?"
INDEX = "Over which index does the sum run?"
FACTOR = "Which factor does the gradient of a product need: its own, or the other one?"


def _spread_out(s: Scope) -> tuple[Node, Node]:
    """The weights and their gradient, in the step behind the softmax."""
    weights, pulled = parts(s.this, "mul")
    if weights.op != "step" or weights.args["name"] != "weights":
        raise NotThere("weights")
    gradient, _ = parts(pulled, "sub")
    return weights, gradient


def _down_the_columns(s: Scope) -> Node:
    P, G = _spread_out(s)
    return P * (G - total(G * P, P.names[-2]))


_BEHIND = "grad_masked grad_biased grad_capped grad_scaled grad_scores"


def _behind_scores(change: Callable[[Node, Node, Node], Node]) -> Callable[[Scope], Node]:
    """The gradient of queries or keys, from that of the scores, in another way."""

    def rule(s: Scope) -> Node:
        parts(s.this, "matmul")
        return change(s.grad_scores, *factors(s))

    return rule


def _of_queries(s: Scope) -> bool:
    return bool(s.step.args["of"].startswith("q"))


def _exchanged(s: Scope) -> Node:
    of_queries = _of_queries(s)
    return _behind_scores(lambda dS, Q, K: like(dS.T @ Q if of_queries else dS @ K, s.this))(s)


def _own_partner(s: Scope) -> Node:
    of_queries = _of_queries(s)
    return _behind_scores(lambda dS, Q, K: dS @ like(Q, K) if of_queries else dS.T @ like(K, Q))(s)


GRADIENTS = (
    *slopes(_BEHIND, _spread_out),
    wrong(
        "jac-columns",
        _BEHIND,
        _down_the_columns,
        says="the sums taken down the columns",
        hint=ROWS,
    ),
    wrong(
        "datt-dv-p",
        "grad_v grad_v_heads",
        lambda s: like(s.weights, s.weights.T) @ parts(s.this, "matmul")[1],
        says="dV = P·dO",
        hint="Does the sum run over the queries, or over the keys?",
    ),
    wrong(
        "datt-no-scale",
        "grad_scores",
        lambda s: parts(s.this, "div")[0],
        says="without the 1/√d_k of the forward pass",
        hint=CONSTANT,
    ),
    wrong(
        "datt-scale-dk",
        "grad_scores",
        lambda s: parts(s.this, "div")[0] / width(s),
        says="divided by d_k in place of √d_k",
        hint=CONSTANT,
    ),
    wrong(
        "datt-dk-untransposed",
        "grad_k grad_k_heads",
        _behind_scores(lambda dS, Q, K: like(dS, dS.T) @ Q),
        says="dK = dS·Q",
        hint=INDEX,
    ),
    wrong(
        "datt-dq-transposed",
        "grad_q grad_q_heads",
        _behind_scores(lambda dS, Q, K: flipped(dS) @ K),
        says="dQ = dSᵀ·K",
        hint=INDEX,
    ),
    wrong(
        "datt-swapped",
        "grad_q grad_k grad_q_heads grad_k_heads",
        _exchanged,
        says="dQ and dK are swapped",
        hint=FACTOR,
    ),
    wrong(
        "datt-wrong-partner",
        "grad_q grad_k grad_q_heads grad_k_heads",
        _own_partner,
        says="dQ = dS·Q, dK = dSᵀ·K",
        hint=FACTOR,
    ),
)
"""Mistakes of the backward pass."""
