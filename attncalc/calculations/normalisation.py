"""Normalisation: layer norm, RMS norm and batch norm."""

from __future__ import annotations

from typing import Annotated

from attncalc.calculation import FROM_0_ON, calculation
from attncalc.graph import Node
from attncalc.laws import same
from attncalc.ops import mean, sqrt
from attncalc.steps import note, step

Gain = Annotated[Node | None, "what each feature is multiplied by afterwards; 1 where it is not given"]
Shift = Annotated[Node | None, "what is added to each feature afterwards; 0 where it is not given"]
Epsilon = Annotated[float, "added to the variance under the root, so that nothing is divided by 0", FROM_0_ON]


@calculation(
    x="n d",
    gamma="d",
    beta="d",
    laws={
        "a shift and a stretch of a row change nothing (ε = 0)": lambda f, x, c: same(f(c * x + c, eps=0), f(x, eps=0)),
        "each row has mean 0": lambda f, x: same(f(x).result.mean(-1), 0),
        "each row has variance 1 (ε = 0)": lambda f, x: same(f(x, eps=0).result.var(-1), 1),
    },
    reference="Ba, Kiros and Hinton 2016, Layer Normalization; as torch.nn.LayerNorm",
)
def layernorm(
    X: Annotated[Node, "the tokens, one a row"], gamma: Gain = None, beta: Shift = None, *, eps: Epsilon = 1e-5
) -> Node:
    """Give every token mean 0 and variance 1 over its features, then a learned gain and shift.

    γ ⊙ (x − μ)/√(σ² + ε) + β, with μ and σ² over the d features of one token. The variance is the population's (over
    d, not d − 1), and ε stands under the root.
    """
    return _normalised(X, X.names[-1], gamma, beta, eps, "token's own features")


@calculation(
    x="n d",
    gamma="d",
    beta="d",
    laws={
        "each column has mean 0": lambda f, x: same(f(x).result.mean(0), 0),
        "a shift and a stretch of a column change nothing (ε = 0)": lambda f, x, c: same(
            f(c * x + c, eps=0), f(x, eps=0)
        ),
    },
    reference="Ioffe and Szegedy 2015, Batch Normalization; as torch.nn.BatchNorm1d",
)
def batchnorm(
    X: Annotated[Node, "the samples, one a row"], gamma: Gain = None, beta: Shift = None, *, eps: Epsilon = 1e-5
) -> Node:
    """Give every feature mean 0 and variance 1 over the samples of a batch, then a learned gain and shift.

    As layernorm, with μ and σ² over the n samples for one feature instead of over the features of one sample: what a
    sample becomes depends on its neighbours. This is what happens in training (the variance over n, not n − 1); later
    the averages of training take the place of μ and σ².
    """
    if X.axes[-2].size == 1:
        note("a batch of one sample is its own mean: nothing but the shift is left of it")
    return _normalised(X, X.names[-2], gamma, beta, eps, "feature's values in the batch")


def _normalised(X: Node, over: str, gamma: Node | None, beta: Node | None, eps: float, what: str) -> Node:
    """Mean 0 and variance 1 along an axis, then the gain and the shift."""
    mu = step("mean", mean(X, over), f"where the {what} lie")
    centered = step("centered", X - mu, "from here on only differences count: a shift of all changes nothing")
    variance = step("variance", mean(centered**2, over), "how far they spread: the mean square, over all of them")
    deviation = step("standard_deviation", sqrt(variance + eps), "back to the unit of the entries; ε keeps it from 0")
    normalized = step("normalized", centered / deviation, "the same spread for all, whatever came in")
    return _affine(normalized, gamma, beta)


@calculation(
    x="n d",
    gamma="d",
    laws={
        "a stretch of a row changes nothing (ε = 0)": lambda f, x, c: same(f(c * x, eps=0), f(x, eps=0)),
        "each row has mean square 1 (ε = 0)": lambda f, x: same((f(x, eps=0).result ** 2).mean(-1), 1),
    },
    reference="Zhang and Sennrich 2019, Root Mean Square Layer Normalization; as torch.nn.RMSNorm",
)
def rmsnorm(X: Annotated[Node, "the tokens, one a row"], gamma: Gain = None, *, eps: Epsilon = 1e-6) -> Node:
    """Give every token the root mean square 1 over its features, then a learned gain.

    γ ⊙ x/√(mean x² + ε): layer norm without the mean taken away and without the shift. It is the mean of the squares,
    not their sum, and ε stands under the root.
    """
    squares = step("squares", X**2, "signs go: only sizes count")
    mean_square = step("mean_square", mean(squares), "the mean, not the sum: a longer vector is not a larger one")
    root = step("root_mean_square", sqrt(mean_square + eps), "the size of a typical entry; ε keeps it from 0")
    return _affine(
        step("normalized", X / root, "the typical entry becomes 1; the mean stays where it falls"), gamma, None
    )


def _affine(normalized: Node, gamma: Node | None, beta: Node | None) -> Node:
    scaled = normalized if gamma is None else gamma * normalized
    shifted = scaled if beta is None else scaled + beta
    return step("output", shifted, "scale, then shift: each feature may take the range that serves it")
