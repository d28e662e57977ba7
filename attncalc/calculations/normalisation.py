"""Normalisation: layer norm, RMS norm, batch norm and group norm."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Literal

from attncalc.common.errors import OptionError
from attncalc.common.system import NamedTuple
from attncalc.declare.calculation import calculation, same
from attncalc.declare.operands import AT_LEAST_1, FROM_0_ON, Exercise, With
from attncalc.language.axes import Axis
from attncalc.language.graph import Node, constant, group, note, step
from attncalc.language.ops import mean, reread, root_of_mean

Gain = Annotated[Node | None, "the gain: what each feature is multiplied by afterwards; 1 if not given"]
Shift = Annotated[Node | None, "the shift: what is added to each feature afterwards; 0 if not given"]
Epsilon = Annotated[float, "added to the variance under the root, so that nothing is divided by 0", FROM_0_ON]
NormOffset = Annotated[float, "added to the gain; 1 where a model stores γ − 1, as Gemma does", With(("gamma",))]
NormKind = Literal["layer", "rms"]


class Style(NamedTuple):
    """Which norm the parts of a model have."""

    kind: NormKind = "layer"
    eps: float = 1e-5
    offset: float = 0


def learned_by(norm: str, vector: str) -> str:
    """What the gain or the shift of a norm is called: post-norm1 has post_gamma1."""
    return norm.replace("norm", vector).replace("-", "_")


def normed(X: Node, name: str, weights: Mapping[str, Node | None], style: Style) -> Node:
    """A norm as a part called `name`: norm1 has the gain gamma1 and the shift beta1, q-norm q_gamma and q_beta."""
    gamma, beta = (weights.get(learned_by(name, vector)) for vector in ("gamma", "beta"))
    with group(name):
        if style.kind == "layer":
            centred: Node = layernorm.graph(X, gamma, beta, eps=style.eps, norm_offset=style.offset)
            return centred
        if beta is not None:
            raise OptionError(f"{learned_by(name, 'beta')} is a layer norm's: an RMS norm has no shift")
        sized: Node = rmsnorm.graph(X, gamma, eps=style.eps, norm_offset=style.offset)
        return sized


@calculation(
    x="n d",
    gamma="d",
    beta="d",
    laws={
        "shifting or stretching a row changes nothing (ε = 0)": lambda f, x, c: same(f(c * x + c, eps=0), f(x, eps=0)),
        "each row has mean 0": lambda f, x: same(f(x).result.mean(-1), 0),
        "each row has variance 1 (ε = 0)": lambda f, x: same(f(x, eps=0).result.var(-1), 1),
    },
    pictures=("x", "normalized"),
    reference="Ba, Kiros and Hinton 2016, Layer Normalization, eq. 3; as torch.nn.LayerNorm",
)
def layernorm(
    X: Annotated[Node, "the tokens, one a row"],
    gamma: Gain = None,
    beta: Shift = None,
    *,
    eps: Epsilon = 1e-5,
    norm_offset: NormOffset = 0,
) -> Node:
    """Give every token mean 0 and variance 1 over its features, then a learned gain and shift.

    γ ⊙ (x − μ)/√(σ² + ε) + β, with μ and σ² over the d features of one token. The variance is the population's (over
    d, not d − 1), and ε stands under the root.
    """
    return _normalised(X, X.names[-1], _offset(gamma, norm_offset), beta, eps, "token's own features")


@calculation(
    x="n d",
    gamma="d",
    beta="d",
    laws={
        "each column has mean 0": lambda f, x: same(f(x).result.mean(0), 0),
        "shifting or stretching a column changes nothing (ε = 0)": lambda f, x, c: same(
            f(c * x + c, eps=0), f(x, eps=0)
        ),
    },
    reference="Ioffe and Szegedy 2015, Batch Normalization, algorithm 1; as torch.nn.BatchNorm1d",
    exercise=Exercise(one_of=({"eps": 0.1},)),
)
def batchnorm(
    X: Annotated[Node, "the samples, one a row"], gamma: Gain = None, beta: Shift = None, *, eps: Epsilon = 1e-5
) -> Node:
    """Give every feature mean 0 and variance 1 over the samples of a batch, then a learned gain and shift.

    As layernorm, but with μ and σ² over the n samples for one feature instead of over the features of one sample: the
    result for a sample depends on the others in its batch. This is the form used in training (variance over n, not
    n − 1); afterwards running averages from training take the place of μ and σ².
    """
    if X.axes[-2].size == 1:
        note("a batch of one sample is its own mean: all that is left is the shift")
    return _normalised(X, X.names[-2], gamma, beta, eps, "feature's values in the batch")


@calculation(
    x="c l | c h w",
    gamma="c",
    beta="c",
    laws={
        "with one group all entries together have mean 0": lambda f, x: same(f(x, groups=1).result.mean(), 0),
        "with a group for each channel every channel has mean 0": lambda f, x: same(
            f(x, groups=len(x)).result.reshape(len(x), -1).mean(-1), 0
        ),
        "shifting or stretching all of it changes nothing (ε = 0)": lambda f, x, c: same(
            f(c * x + c, groups=1, eps=0), f(x, groups=1, eps=0)
        ),
    },
    reference="Wu and He 2018, Group Normalization, eq. 1 and 7; as torch.nn.GroupNorm",
    exercise=Exercise(one_of=({"groups": 2, "eps": 0.1},)),
)
def groupnorm(
    X: Annotated[Node, "a row or an image with its channels in front"],
    gamma: Gain = None,
    beta: Shift = None,
    *,
    groups: Annotated[int, "how many groups the channels form; neighbours belong together", AT_LEAST_1] = 1,
    eps: Epsilon = 1e-5,
) -> Node:
    """Give every group of channels mean 0 and variance 1 over all its places, then a learned gain and shift.

    Between layer norm (one group) and instance norm (a group for each channel). A group is c/g channels that stand
    next to one another, with all their places; unlike batch norm it asks for no other images.
    """
    places = 2 if "h" in X.names[-2:] else 1
    front, (channels, *_) = X.axes[: -1 - places], X.axes[-1 - places :]
    if channels.size % groups:
        raise OptionError(f"{channels.size} channels cannot be shared equally among --groups {groups}")
    entries = math.prod(axis.size for axis in X.axes[-1 - places :]) // groups
    why = "a row for each group: its channels one after the other, with all their places"
    grouped = step("grouped", reread(X, (*front, Axis("g", groups), Axis("k", entries))), why)
    normalized = _standardised(grouped, "k", eps, "group")
    back = step("ungrouped", reread(normalized, X.axes), "every channel at its own place again")
    return _affine(back, gamma, beta)


def _normalised(X: Node, over: str, gamma: Node | None, beta: Node | None, eps: float, what: str) -> Node:
    """Mean 0 and variance 1 along an axis, then the gain and the shift."""
    return _affine(_standardised(X, over, eps, what), gamma, beta)


def _standardised(X: Node, over: str, eps: float, what: str) -> Node:
    """Mean 0 and variance 1 along an axis."""
    mu = step("mean", mean(X, over), f"the centre of the {what}")
    centered = step(
        "centered", X - mu, "without the mean only differences count: adding a number to all changes nothing"
    )
    variance = step("variance", mean(centered**2, over), "how far they spread: the mean of the squared deviations")
    deviation = step(
        "standard_deviation",
        _root(variance, eps, centered, over),
        f"the root brings it back to the unit of the entries{'; ε keeps it from being 0' if eps else ''}",
    )
    why = f"dividing by their spread gives all the same variance: 1{', but for ε' if eps else ''}"
    return step("normalized", centered / deviation, why)


@calculation(
    x="n d",
    gamma="d",
    laws={
        "stretching a row changes nothing (ε = 0)": lambda f, x, c: same(f(c * x, eps=0), f(x, eps=0)),
        "each row has mean square 1 (ε = 0)": lambda f, x: same((f(x, eps=0).result ** 2).mean(-1), 1),
    },
    pictures=("x", "normalized"),
    reference="Zhang and Sennrich 2019, Root Mean Square Layer Normalization, eq. 4; as torch.nn.RMSNorm",
)
def rmsnorm(
    X: Annotated[Node, "the tokens, one a row"],
    gamma: Gain = None,
    *,
    eps: Epsilon = 1e-6,
    norm_offset: NormOffset = 0,
) -> Node:
    """Give every token a root mean square of 1 over its features, then a learned gain.

    γ ⊙ x/√(mean x² + ε): layer norm without subtracting the mean and without the shift. It is the mean of the squares,
    not their sum, and ε stands under the root.
    """
    squares = step("squares", X**2, "squaring removes the signs: only sizes count")
    mean_square = step(
        "mean_square", mean(squares), "the mean, not the sum, so that it does not grow with the number of features"
    )
    root = step(
        "root_mean_square",
        _root(mean_square, eps, X, X.names[-1]),
        f"the size of a typical entry{'; ε keeps it from being 0' if eps else ''}",
    )
    normalized = step("normalized", X / root, "a typical entry now has size 1; no mean is taken away")
    return _affine(normalized, _offset(gamma, norm_offset), None, "gain")


def _offset(gamma: Node | None, offset: float) -> Node | None:
    return gamma if gamma is None or not offset else offset + gamma


def _root(mean_square: Node, eps: float, x: Node, over: str) -> Node:
    """√(mean x² + ε); x may be so large that its squares overflow, or so small that they vanish."""
    return root_of_mean(mean_square + constant(eps, "ε", "eps"), x, over)


def _affine(normalized: Node, gamma: Node | None, beta: Node | None, missing: str = "gain or shift") -> Node:
    scaled = normalized if gamma is None else gamma * normalized
    shifted = scaled if beta is None else scaled + beta
    if shifted is normalized:
        return step("output", shifted, f"no {missing} was given, so the result stays as it is")
    learned = "a learned gain lets" if beta is None else "a learned gain and shift let"
    return step("output", shifted, f"{learned} each feature take the range that suits it")
