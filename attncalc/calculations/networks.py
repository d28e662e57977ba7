"""Networks that learn: linear regression and the multi-layer perceptron, each with its backward pass written out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np

from attncalc.calculations.activations import ACTIVATIONS, ActivationKind, activated
from attncalc.calculations.conditions import must_be_classes
from attncalc.calculations.losses import log_probabilities, score, why_losses
from attncalc.common.errors import OptionError, ShapeError
from attncalc.declare.calculation import calculation, same, shuffled
from attncalc.declare.operands import AT_LEAST_1, Exercise, operand
from attncalc.declare.sweeps import Sweep, every_turn, turns
from attncalc.evaluate.loops import End, Loop, Values
from attncalc.language.axes import describe
from attncalc.language.gradients import gradient_step, slopes
from attncalc.language.graph import Node, as_node, constant, step
from attncalc.language.ops import affine, mean, rename, total
from attncalc.record.pictures import Curves, Line, Picture
from attncalc.record.trace import Step, Trace

Samples = Annotated[Node, "the samples, one a row"]
Rate = Annotated[float, "the learning rate: how far the weights move against their gradients"]
Steps = Annotated[int, "how many training steps are made, each from the weights that the last one left", AT_LEAST_1]
Gradients = Mapping[Node, Node]
"""Weights → the steps that hold the gradients of the loss with respect to them, in the order of the backward pass."""


def _learning(trace: Trace, sweep: Sweep) -> Iterator[Picture | Step]:
    """How the loss falls from step to step; of one step what comes out of the network."""
    losses = turns(every_turn(trace, sweep), "step", "loss")
    if len(losses) > 1:
        numbers, heights = zip(*losses, strict=True)
        yield Curves("the loss along the steps", "step", (Line("loss", np.array(numbers), np.array(heights)),))
    else:
        before = [step.name for step in trace.steps].index("loss")
        yield next(step for step in reversed(trace.steps[:before]) if len(step.shape) > 1)


@calculation(
    x="N f",
    y=operand("N o", kind="data"),
    w="f o",
    b="o",
    laws={
        "if every prediction is right, nothing is learnt": lambda f, x, w: same(f(x, x @ w, w)["grad_w"], 0 * w),
        "the order of the samples does not matter": lambda f, x, y, w: same(f(*shuffled(x, y), w), f(x, y, w)),
        "using every sample twice gives the same loss: it is a mean": lambda f, x, y, w: same(
            f(np.repeat(x, 2, axis=0), np.repeat(y, 2, axis=0), w), f(x, y, w)
        ),
        "half the loss has half the gradient": lambda f, x, y, w: same(
            2 * f(x, y, w, loss="half-mse")["grad_w"], f(x, y, w)["grad_w"]
        ),
    },
    pictures=_learning,
    reference="Goodfellow, Bengio and Courville 2016, Deep Learning, section 5.1.4",
    exercise=Exercise(sizes={"N": 3, "o": 3}),
)
def linear_regression(
    X: Samples,
    Y: Annotated[Node, "the target: what should come out for each sample"],
    W: Annotated[Node, "the initial weights"],
    b: Annotated[Node | None, "the initial bias"] = None,
    *,
    lr: Rate = 0.1,
    steps: Steps = 1,
    loss: Annotated[Literal["mse", "half-mse"], "1/N·Σ‖·‖², or half of it, whose gradient has no factor of 2"] = "mse",
) -> tuple[Node, ...] | Loop:
    """Fit a straight line: predict, measure the error, and move the weights against their gradients.

    ŷ = x·w + b and L = 1/N·Σ‖ŷ − y‖², the mean over the N samples of the squared length of each error. So
    ∂L/∂w = 2/N·xᵀ(ŷ − y) and ∂L/∂b = 2/N·Σ(ŷ − y); half-mse has 1/N in place of 2/N. With several steps the result is
    the loss of the last one, before its own update; `grad` differentiates the loss of the first.
    """
    predictions = step("predictions", affine(X, W, b), "what the current weights predict for each sample")
    errors = step("errors", predictions - Y, "prediction minus target: above 0 where the prediction is too high")
    measured = step("loss", _squared(errors, loss), _OVER_SAMPLES)
    gradients = {
        weights: _gradient(weights, measured, as_node(1), _why(weights, loss))
        for weights in (W, b)
        if weights is not None
    }
    return _trained(measured, gradients, lr, steps)


def _gradient(weights: Node, output: Node, upstream: Node, why: str) -> Node:
    """The step that holds the gradient of the loss with respect to weights, given that with respect to an output."""
    (slope,) = slopes(output, upstream, [weights])
    return gradient_step(weights, slope, why)


_OVER_SAMPLES = (
    "squares, so that errors of opposite sign do not cancel; the mean is over the samples, not over all entries"
)


def _squared(errors: Node, loss: str) -> Node:
    """The mean over the samples of the squared length of each error, or half of it."""
    whole = mean(total(errors**2), "N")
    return whole / 2 if loss == "half-mse" else whole


def _why(weights: Node, loss: str) -> str:
    factor = "1/N" if loss == "half-mse" else "2/N: the 2 comes from the square, the 1/N from the mean over the samples"
    if len(weights.axes) == 1:
        return f"the bias is part of every prediction, so the errors of all samples add up, times {factor}"
    return f"each error counts for a weight in proportion to the weight's input; times {factor}"


def _trained(loss: Node, gradients: Gradients, lr: float, steps: int) -> tuple[Node, ...] | Loop:
    """The updated weights behind the gradients; several steps make a loop."""
    new = {}
    for weights in sorted(gradients, key=lambda weights: weights.args["name"][1:]):  # w1, b1, w2, …
        name = weights.args["name"]
        why = f"{weights.args['symbol']} goes a step against its gradient, which points where the loss rises"
        new[name] = step(
            f"new_{name}",
            weights - constant(lr, "lr") * gradients[weights],
            why,
            symbol=f"{weights.args['symbol']}_new",
        )
    results = (loss, *gradients.values(), *new.values())
    if steps == 1:
        return results
    return Loop(
        turn="step",
        start={},
        steps=results,
        carry=new,
        turns=steps,
        results=results,
        stop=_diverged([loss, *new.values()]),
        loss=loss,
    )


def _diverged(watched: Sequence[Node]) -> Callable[[Values], End | None]:
    def stop(values: Values) -> End | None:
        if all(values[node].dtype == object or np.isfinite(values[node]).all() for node in watched):
            return None
        return End("training diverges: the next one is not finite (a smaller --lr helps)", failed=True)

    return stop


def _check_targets(values: Mapping[str, Any]) -> None:
    """Refuse targets that are no classes, where classes are to be told; tell how they were read."""
    if values["loss"] != "cross-entropy":
        return
    last = max(int(name[1:]) for name in values if name[0] == "w" and name[1:].isdigit())
    x, y, classes = values["x"].shape, values["y"].shape, values[f"w{last}"].shape[-1]
    one_table = y == (x[-2], classes) != x[:-1]  # one table for a whole batch
    by_number = len(y) < len(x) and not one_table
    must_be_classes("y", values["y"], classes, f"h{last}", by_number=by_number)


@calculation(
    x="N d",
    y=operand("N o|N", kind="data"),
    w1="d h1",
    b1="h1",
    w2="h1 h2",
    b2="h2",
    w3="h2 h3",
    b3="h3",
    w4="h3 h4",
    b4="h4",
    w5="h4 h5",
    b5="h5",
    check=_check_targets,
    laws={
        "relu: c times one layer and 1/c times the next make the same network": lambda f, x, w1, w2, c: same(
            f(x, x @ w1 @ w2, w1=c * w1, w2=w2 / c), f(x, x @ w1 @ w2, w1=w1, w2=w2)
        ),
        "reordering the hidden units gives the same network": lambda f, x, w1, w2: same(
            f(x, x @ w1 @ w2, w1=w1[:, ::-1], w2=w2[::-1]), f(x, x @ w1 @ w2, w1=w1, w2=w2)
        ),
        "weights that are all equal stay equal: that is why training starts at random": lambda f, x, w1, w2, c: same(
            (new := f(x, x @ w1 @ w2, w1=0 * w1 + c, w2=0 * w2 + c)["new_w1"])[:, :1] + 0 * new, new
        ),
    },
    pictures=_learning,
    reference="Rumelhart, Hinton and Williams 1986; Goodfellow, Bengio and Courville 2016, Deep Learning, section 6.5",
    exercise=Exercise(sizes={"o": 3, "h2": 3}),
)
def mlp(
    X: Samples,
    Y: Annotated[
        Node, "the target: what should come out for each sample; for cross-entropy its class (from 0) or probabilities"
    ],
    W_1: Annotated[Node, "the weights of the first layer"],
    b_1: Annotated[Node | None, "its bias"] = None,
    W_2: Annotated[Node | None, "the weights of the second layer"] = None,
    b_2: Annotated[Node | None, "its bias"] = None,
    W_3: Annotated[Node | None, "the weights of a third layer"] = None,
    b_3: Annotated[Node | None, "its bias"] = None,
    W_4: Annotated[Node | None, "the weights of a fourth layer"] = None,
    b_4: Annotated[Node | None, "its bias"] = None,
    W_5: Annotated[Node | None, "the weights of a fifth layer"] = None,
    b_5: Annotated[Node | None, "its bias"] = None,
    *,
    activation: Annotated[ActivationKind, "the function after each layer but the last"] = "relu",
    loss: Annotated[
        Literal["mse", "half-mse", "cross-entropy"], "1/N·Σ‖·‖², half of it, or the mean of −ln p of the right class"
    ] = "mse",
    lr: Rate = 0.1,
    steps: Steps = 1,
) -> tuple[Node, ...] | Loop:
    """Train a network: forward to the loss, backward to every weight's gradient, then a step against it.

    z₁ = x·w₁ + b₁, a₁ = act(z₁), z₂ = a₁·w₂ + b₂ and so on; the last layer is linear. Backward, delta_k is ∂L/∂z_k,
    with the 2/N of the loss in it: grad_w_k = a_(k−1)ᵀ·delta_k, grad_b_k sums delta_k over the samples, and
    delta_(k−1) = (delta_k·w_kᵀ) ⊙ act′(z_(k−1)), by the weights that made the forward pass. With several steps the
    result is the loss of the last one, before its own update; `grad` differentiates the loss of the first.
    """
    layers = _layers([W_1, W_2, W_3, W_4, W_5], [b_1, b_2, b_3, b_4, b_5])
    made: list[Node] = []
    flowing = X
    for k, (W, b) in enumerate(layers, start=1):
        if made:
            bent = activated(made[-1], activation)
            flowing = step(f"a{k - 1}", bent, ACTIVATIONS[activation].why, symbol=f"A_{k - 1}")
        line = affine(flowing, W, b)
        why = (
            "each unit's weighted sum of its inputs"
            if k < len(layers)
            else "the last layer is linear: it has no activation"
        )
        made.append(step(f"z{k}", line, why, symbol=f"Z_{k}"))
    measured = _measured(made[-1], Y, loss)
    return _trained(measured, _backward(measured, made, layers, loss), lr, steps)


def _layers(weights: Sequence[Node | None], biases: Sequence[Node | None]) -> list[tuple[Node, Node | None]]:
    """The layers that are given, of which none may be missing between others."""
    count = sum(W is not None for W in weights)
    if count < 2 or any(W is None for W in weights[:count]):
        missing = next(i for i, W in enumerate(weights, start=1) if W is None)
        raise OptionError(f"an mlp has two layers or more, one after the other, but w{missing} is missing")
    for k, b in enumerate(biases, start=1):
        if b is not None and weights[k - 1] is None:
            raise OptionError(f"b{k} is given, but w{k} is not")
    return [(W, b) for W, b in zip(weights, biases, strict=True) if W is not None]


def _measured(out: Node, Y: Node, loss: str) -> Node:
    """The loss of what comes out, along whose axis the target lies too."""
    classes = out.axes[-1]
    by_sample = Y.names[-1] == "N"
    Y = Y if by_sample else rename(Y, Y.names[-1], classes.name)
    if loss == "cross-entropy":
        logs = log_probabilities(out)
        rows = -score(logs, Y, None, 0, by_class=by_sample)
        rows = step("losses", rows, why_losses("nats", shared=not by_sample))
        return step(
            "loss", mean(rows, "N"), "the mean over the samples, so that batches of different sizes can be compared"
        )
    if by_sample and classes.size > 1:
        raise ShapeError(
            f"y has one number for each sample, but {classes.size} come out of the network ({describe(out.axes)})",
            hint="one number a sample is a class for --loss cross-entropy, or wants a last layer of one column",
        )
    return step("loss", _squared(out - Y, loss), _OVER_SAMPLES)


def _backward(
    loss: Node, made: Sequence[Node], layers: Sequence[tuple[Node, Node | None]], kind: str
) -> dict[Node, Node]:
    """The backward pass from the last layer to the first: each layer's delta, and the gradients of its weights."""
    gradients: dict[Node, Node] = {}
    last = len(layers)
    ends = {
        "mse": "the 2 of the square, the 1/N of the mean, and no slope of an activation, since this layer has none",
        "half-mse": "the 1/N of the mean; the ½ cancels the 2 of the square",
        "cross-entropy": "p − y for each sample, times the 1/N of the mean: the slope of −ln softmax",
    }
    (slope,) = slopes(loss, as_node(1), made[-1:])
    delta = _delta(last, slope, f"∂L/∂z{last}: {ends[kind]}")
    for k in range(last, 0, -1):
        W, b = layers[k - 1]
        why = "the layer's input times the gradient at its output, summed over the samples"
        gradients[W] = _gradient(W, made[k - 1], delta, why)
        if b is not None:
            why = "the bias is part of every sample's sum: the deltas are added up, and already hold the 1/N"
            gradients[b] = _gradient(b, made[k - 1], delta, why)
        if k > 1:
            (slope,) = slopes(made[k - 1], delta, [made[k - 2]])
            why = f"back through w{k} as it was in the forward pass, times the activation's slope at z{k - 1}"
            delta = _delta(k - 1, slope, why)
    return gradients


def _delta(k: int, value: Node, why: str) -> Node:
    return step(f"delta{k}", value, why, symbol=f"delta_{k}", of=f"z{k}")
