"""Activations, functions of one number, with their slopes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Literal

import numpy as np

from attncalc.common.errors import OptionError, either
from attncalc.common.system import NamedTuple
from attncalc.declare.calculation import calculation, same
from attncalc.declare.operands import options_of
from attncalc.declare.sweeps import Sweep
from attncalc.language.graph import Node, as_node, output, step
from attncalc.language.ops import (
    cubable,
    elu,
    exp,
    keep_where,
    maximum,
    one_plus_erf,
    pi,
    sigmoid,
    softplus,
    spread,
    sqrt,
    tanh,
)
from attncalc.record.pictures import Curves, Line, Marks, Picture
from attncalc.record.trace import Trace

ActivationKind = Literal[
    "relu", "leaky-relu", "elu", "sigmoid", "tanh", "gelu", "gelu-tanh", "gelu-sigmoid", "silu", "softplus"
]
ALPHA = {"leaky-relu": 0.01, "elu": 1}
"""The activations that have a parameter, and its default."""

Alpha = Annotated[float | None, "leaky-relu: the slope below 0 (0.01); elu: the depth below 0 (1)"]


class Activation(NamedTuple):
    """A function of one number: (x, inner, α) → value, with the inner expression that its definition speaks of."""

    value: Callable[[Node, Node, float], Node]
    slope: Callable[[Node, Node, Node, float], Node]  # (x, inner, value, α)
    why: str
    inner: Callable[[Node], Node] | None = None
    because: str = ""  # of the inner expression


def _tanh_inner(x: Node) -> Node:
    x = cubable(x)
    return sqrt(2 / pi()) * (x + 0.044715 * x**3)


ACTIVATIONS: dict[str, Activation] = {
    "relu": Activation(
        lambda x, inner, alpha: maximum(as_node(0), x),
        lambda x, inner, y, alpha: keep_where(as_node(0) < x, 1, 0),
        "negative numbers become 0; the slope at 0 is taken as 0",
    ),
    "leaky-relu": Activation(
        lambda x, inner, alpha: keep_where(as_node(0) < x, x, alpha * x),
        lambda x, inner, y, alpha: keep_where(as_node(0) < x, 1, alpha),
        "negative numbers are made small rather than 0, so that they keep a slope",
    ),
    "elu": Activation(
        lambda x, inner, alpha: elu(x, alpha),
        lambda x, inner, y, alpha: keep_where(as_node(0) < x, 1, y + alpha),
        "negative numbers level off at −α",
    ),
    "sigmoid": Activation(
        lambda x, inner, alpha: sigmoid(x),
        lambda x, inner, y, alpha: y * (1 - y),
        "squeezes any number to between 0 and 1: 1/(1 + e^−x)",
    ),
    "tanh": Activation(
        lambda x, inner, alpha: tanh(x),
        lambda x, inner, y, alpha: 1 - y**2,
        "squeezes any number to between −1 and 1, and 0 stays 0",
    ),
    "gelu": Activation(
        lambda x, inner, alpha: x / 2 * one_plus_erf(inner),
        lambda x, inner, y, alpha: one_plus_erf(inner) / 2 + x * exp(-(inner**2)) / sqrt(2 * pi()),
        "x·Φ(x), where Φ(x) = ½(1 + erf(x/√2)) is the share of a bell curve that lies below x",
        inner=lambda x: x / sqrt(as_node(2)),
        because="Φ, the normal distribution function, is written with erf(x/√2)",
    ),
    "gelu-tanh": Activation(
        lambda x, inner, alpha: x / 2 * (1 + tanh(inner)),
        lambda x, inner, y, alpha: (
            (1 + tanh(inner)) / 2 + x / 2 * (1 - tanh(inner) ** 2) * (sqrt(2 / pi()) * (1 + 0.134145 * cubable(x) ** 2))
        ),
        "approximates x·Φ(x), never more than 0.0005 away from it",
        inner=_tanh_inner,
        because="tanh of this cubic follows erf(x/√2) closely",
    ),
    "gelu-sigmoid": Activation(
        lambda x, inner, alpha: x * sigmoid(inner),
        lambda x, inner, y, alpha: sigmoid(inner) + 1.702 * (x * (sigmoid(inner) * (1 - sigmoid(inner)))),
        "a coarser approximation of x·Φ(x), up to 0.02 away from it",
        inner=lambda x: 1.702 * x,
        because="stretched like this, the sigmoid follows Φ",
    ),
    "silu": Activation(
        lambda x, inner, alpha: x * sigmoid(x),
        lambda x, inner, y, alpha: sigmoid(x) + y * (1 - sigmoid(x)),
        "x times σ(x), a gate that opens as x grows",
    ),
    "softplus": Activation(
        lambda x, inner, alpha: softplus(x),
        lambda x, inner, y, alpha: sigmoid(x),
        "a ReLU with its corner rounded off",
    ),
}
"""Name → function. The slopes are those that the backward pass finds; a test compares them."""


def activated(x: Node, kind: str, alpha: float | None = None, *, inner: Node | None = None) -> Node:
    """An activation of x, without steps of its own."""
    function = ACTIVATIONS[kind]
    inner = inner or (function.inner(x) if function.inner else x)
    return function.value(x, inner, _alpha(kind, alpha))


def _alpha(kind: str, alpha: float | None) -> float:
    if alpha is not None and kind not in ALPHA:
        raise OptionError(f"--alpha goes with {either(ALPHA)}, but the activation is {kind}")
    return ALPHA.get(kind, 0) if alpha is None else alpha


def _bent(trace: Trace, sweep: Sweep) -> Iterator[Picture]:
    """The function and its slope around 0, with the given numbers on it."""
    here = sweep.again()
    x = here.inputs["x"].value.ravel()
    reach = max(4.0, 1.25 * float(np.abs(x).max()))
    places = np.linspace(-reach, reach, 241)
    there = sweep.again(x=places)
    lines = tuple(Line(step.name, places, there[step.name]) for step in there.outputs)
    yield Curves(options_of(trace)["kind"], "x", lines, Marks("the given x", x, here.result.ravel()))


@calculation(
    x="| n | n m",
    laws={
        "relu(x) − relu(−x) is x": lambda f, x: same(f(x).result - f(-x).result, x),
        "gelu(x) − gelu(−x) is x; so for silu and softplus": lambda f, x: all(
            same(f(x, kind=kind).result - f(-x, kind=kind).result, x) for kind in ("gelu", "silu", "softplus")
        ),
        "tanh(x) is 2·σ(2x) − 1": lambda f, x: same(f(x, kind="tanh"), 2 * f(2 * x, kind="sigmoid").result - 1),
    },
    pictures=_bent,
    reference="Hendrycks and Gimpel 2016, Gaussian Error Linear Units, section 2; all as in torch.nn.functional",
)
def activation(
    x: Annotated[Node, "any numbers: the function is applied to each"],
    *,
    kind: Annotated[ActivationKind, "which function"] = "relu",
    alpha: Alpha = None,
) -> tuple[Node, Node]:
    """Apply a nonlinear function to each number: without one, two layers would be a single matrix.

    GELU is x·Φ(x) = ½x·(1 + erf(x/√2)); gelu-tanh and gelu-sigmoid (x·σ(1.702x)) approximate it. The slope is an
    additional output; at a corner it is the one from the left, as in PyTorch.
    """
    function = ACTIVATIONS[kind]
    inner = step("inner", function.inner(x), function.because) if function.inner else x
    value = step("output", activated(x, kind, alpha, inner=inner), function.why)
    slope = spread(function.slope(x, inner, value, _alpha(kind, alpha)), x.axes)
    return value, output("derivative", slope, "how fast the output changes with x")
