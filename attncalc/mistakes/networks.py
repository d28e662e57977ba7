"""Mistakes of learning: the loss and its constant, the slope of the activation, the weights of the way back."""

from __future__ import annotations

from collections.abc import Callable

from attncalc.declare.mistake import Mistake, NotThere, Scope, alternative, like, parts, remade, replaced, wrong
from attncalc.language.gradients import slopes
from attncalc.language.graph import Node, inside, rewrite
from attncalc.language.ops import mean
from attncalc.mistakes.cross_entropy import OF_ROWS, sloped_again, to_base
from attncalc.mistakes.projections import ACTIVATION, BENT, no_bias

CONSTANT = "Which constant stands in the loss that was given?"
AVERAGED = "Over what is the loss averaged?"
LINKS = "Which two factors does the chain rule multiply here?"
POINT = "At which point is that slope taken?"


def _of_mse(s: Scope) -> Node:
    return s.when("loss", "mse").this


def _of_squares(s: Scope) -> Node:
    return s.when("loss", "mse", "half-mse").this


def _samples(s: Scope) -> Node:
    return s.x.size(s.x.names[-2])


def _outputs(s: Scope) -> Node:
    out = s.predictions if "predictions" in s else s.z2
    return out.size(out.names[-1])


def _constants(at: str) -> tuple[Mistake, ...]:
    """Mistakes of the constant in front of the gradients of squares."""
    return (
        wrong("mse-no-2", at, lambda s: _of_mse(s) / 2, says="1/N in place of 2/N", hint=CONSTANT),
        wrong("mse-no-mean", at, lambda s: _of_squares(s) * _samples(s), says="without the 1/N", hint=AVERAGED),
        wrong("mse-no-mean", at, lambda s: _of_mse(s) * _samples(s) / 2, says="without the 2/N", hint=AVERAGED),
        wrong(
            "mse-mean-all", at, lambda s: _of_squares(s) / _outputs(s), says="1/(N·out) in place of 1/N", hint=AVERAGED
        ),
        wrong("mse-sign", at, lambda s: -_of_squares(s), says="y − ŷ", hint="Is that uphill, or downhill?"),
    )


LOSS = (
    wrong(
        "mse-no-2",
        "loss",
        lambda s: _of_squares(s) * 2 if s.options["loss"] == "half-mse" else _of_squares(s) / 2,
        says="1/(2N) in place of 1/N, or the other way round",
        hint=CONSTANT,
        kind="convention",
    ),
    wrong("mse-no-mean", "loss", lambda s: _of_squares(s) * _samples(s), says="without the 1/N", hint=AVERAGED),
    wrong(
        "mse-mean-all",
        "loss",
        lambda s: _of_squares(s) / _outputs(s),
        says="1/(N·out) in place of 1/N",
        hint=AVERAGED,
    ),
)
"""Mistakes in the constant of the loss itself; its gradients may still be right."""


# Cross-entropy of the output, with steps named as in the calculation cross-entropy


def _of_entropy(s: Scope) -> Node:
    return s.when("loss", "cross-entropy").this


def _of_last(s: Scope) -> Node:
    """The second layer's delta, where that is the last one."""
    if "z3" in s:
        raise NotThere("the last layer")
    return _of_entropy(s)


ENTROPY = (
    *OF_ROWS,
    *(to_base(base, "log_probabilities", "Which logarithm is in the loss?") for base in (2, 10)),
    wrong(
        "ce-sum",
        "loss",
        lambda s: _of_entropy(s) * _samples(s),
        says="the sum over the samples in place of their mean",
        hint=AVERAGED,
        kind="convention",
    ),
    wrong(
        "ce-mean-all",
        "loss",
        lambda s: _of_entropy(s) / _outputs(s),
        says="divided by N·C in place of N",
        hint=AVERAGED,
    ),
    wrong(
        "ce-sum",
        "delta2",
        lambda s: _of_last(s) * _samples(s),
        says="without the 1/N: the slope of the sum over the samples",
        hint=AVERAGED,
        kind="convention",
    ),
    wrong("ce-mean-all", "delta2", lambda s: _of_last(s) / _outputs(s), says="1/(N·C) in place of 1/N", hint=AVERAGED),
    wrong("ce-grad-sign", "delta2", lambda s: -_of_last(s), says="y − p", hint="Which way does the loss rise?"),
    *sloped_again("delta2", _of_last),
)
"""Mistakes of cross-entropy: in the loss, and in the slope with which the backward pass begins."""


def _untransposed(s: Scope) -> Node:
    X = s.x
    product = next(node for node in inside(s.step) if node.op == "matmul")
    return replaced(s.this, product, like(X, X.T) @ product.sources[1])


def _descent(at: str) -> tuple[Mistake, ...]:
    """Mistakes of the step downhill."""
    return (
        wrong(
            "gd-sign", at, remade("sub", lambda W, move: W + move), says="W + lr·gradient", hint="Did the loss go down?"
        ),
        wrong(
            "gd-no-lr",
            at,
            remade("sub", lambda W, move: W - parts(move, "mul")[1]),
            says="W − gradient",
            hint="How long is a step?",
        ),
    )


REGRESSION = (
    alternative(
        "mse-target-first",
        "errors grad_w grad_b",
        lambda s: -s.this,
        says="y − ŷ, and a minus in front of the gradients",
    ),
    *_constants("grad_w grad_b"),
    *LOSS,
    no_bias("predictions"),
    wrong(
        "mse-x-untransposed",
        "grad_w",
        _untransposed,
        says="X·errors in place of Xᵀ·errors",
        hint="Over which index does the sum run?",
    ),
    wrong(
        "bp-bias-mean",
        "grad_b",
        lambda s: s.this / _samples(s),
        says="the mean over the samples, divided by N once more",
        hint="Are the samples added up, or averaged?",
    ),
    *_descent("new_w new_b"),
)


# Two layers


def _back(s: Scope) -> Node:
    """δ₂·W₂ᵀ, what comes back to the first layer, or the like of another one."""
    later = f"delta{int(s.step.args['name'].removeprefix('delta')) + 1}"
    for node in inside(s.step):
        if node.op == "matmul" and _bare(node.sources[0]).args.get("name") == later:
            return node
    raise NotThere(later)


def _bare(node: Node) -> Node:
    """What an axis is renamed of."""
    while node.op == "rename":
        node = node.sources[0]
    return node


def _carried(s: Scope, change: Callable[[Node, Node], Node]) -> Node:
    """The first layer's delta with another way back."""
    product = _back(s)
    return replaced(s.this, product, like(change(product.sources[0], product.sources[1].T), product))


def _updated(s: Scope) -> Node:
    lr = s.options["lr"]
    return _carried(s, lambda delta, W: delta @ (W - lr * like(s.grad_w2, W)).T)


def _through(s: Scope, at: Node, gradient: Node) -> Node:
    """What a gradient becomes on its way back through the activation, somewhere else than where it stands."""
    [bent] = rewrite([s.a1.sources[0]], lambda node: at if node is s.z1 else None)
    (slope,) = slopes(bent, gradient, [at])
    return slope


def _at_activation(s: Scope) -> Node:
    if "relu" in s.options["activation"]:
        raise NotThere("another slope: a is above 0 where z is")
    return _through(s, s.a1, _back(s))


_BY_ITS_RESULT: dict[str, Callable[[Node], Node]] = {"sigmoid": lambda a: a * (1 - a), "tanh": lambda a: 1 - a**2}
"""Activation → its slope as a function of its value."""


def _slope_of(s: Scope) -> Callable[[Node], Node]:
    if s.options["activation"] not in _BY_ITS_RESULT:
        raise NotThere("a slope by its result")
    return _BY_ITS_RESULT[s.options["activation"]]


def _of_the_sum(s: Scope) -> Node:
    """The slope by what the activation gives, with what it is given in its place."""
    return _back(s) * _slope_of(s)(s.z1)


def _of_another(s: Scope) -> Node:
    """The slope of the sigmoid for that of tanh, or the other way round."""
    slope = _slope_of(s)
    [other] = (another for another in _BY_ITS_RESULT.values() if another is not slope)
    return _back(s) * other(s.a1)


def _alone(s: Scope) -> Node:
    """The activation's slope without what comes back."""
    product = _back(s)
    return replaced(s.this, product, like(0 * product + 1, product))


def _averaged(s: Scope) -> Node:
    delta = s.delta2 if s.step.args["name"] == "grad_b2" else s.delta1
    return like(mean(delta, delta.names[-2]), s.this)


def _before_bending(s: Scope) -> Node:
    return like(s.z1.T @ s.delta2, s.this)


def _straight(s: Scope) -> Node:
    """What an activation is given, as it is; and so what comes back, by a slope of 1."""
    name = s.step.args["name"]
    if name.startswith("delta"):
        return _back(s)
    found: Node = getattr(s, name.replace("a", "z"))
    return found


MLP = (
    *_constants("delta2"),
    *LOSS,
    *ENTROPY,
    *BENT,
    *ACTIVATION,
    wrong(
        "ffn-no-activation",
        "a1 a2 a3 a4 delta1 delta2 delta3 delta4",
        _straight,
        says="without the activation",
        hint="What are two layers with nothing between them?",
    ),
    no_bias("z1 z2 z3 z4 z5"),
    wrong(
        "bp-updated-w2",
        "delta1",
        _updated,
        says="the gradient goes back through w2 after its update",
        hint="Which w2 did the forward pass use?",
    ),
    wrong(
        "bp-deriv-at-activation",
        "delta1",
        _at_activation,
        says="σ′(a) in place of σ′(z)",
        hint=POINT,
    ),
    wrong(
        "bp-z-one-minus-z",
        "delta1",
        _of_the_sum,
        says="z(1 − z), or 1 − z² of tanh: the slope by the result, with z in its place",
        hint=POINT,
    ),
    wrong(
        "bp-another-slope",
        "delta1",
        _of_another,
        says="the slope of the sigmoid for that of tanh, or the other way round",
        hint="Which function is the activation here, and what is its slope?",
    ),
    wrong("bp-no-deriv", "delta1", _back, says="without the slope of the activation", hint=LINKS),
    wrong("bp-deriv-only", "delta1", _alone, says="the slope of the activation alone", hint=LINKS),
    wrong(
        "bp-output-deriv-extra",
        "delta2",
        lambda s: _through(s, s.z2, like(s.this, s.z2)),
        says="the slope of an activation at the output, where there is none",
        hint="Is there an activation at the output?",
    ),
    wrong(
        "bp-w2-untransposed",
        "delta1",
        lambda s: _carried(s, lambda delta, W: delta @ like(W, W.T)),
        says="δ₂·w2 in place of δ₂·w2ᵀ",
        hint="Which side of w2 has the size of δ₂?",
    ),
    wrong(
        "bp-dw2-uses-z", "grad_w2", _before_bending, says="z₁ᵀ·δ₂ in place of a₁ᵀ·δ₂", hint="What went into layer 2?"
    ),
    wrong(
        "bp-bias-mean",
        "grad_b1 grad_b2",
        _averaged,
        says="the mean over the samples, where the 1/N is in δ already",
        hint="Are the samples added up, or averaged?",
    ),
    wrong(
        "bp-bias-missing",
        "new_b1 new_b2",
        lambda s: parts(s.this, "sub")[0],
        says="the biases stay as they are",
        hint="Are the biases learned as well?",
    ),
    *_descent("new_w1 new_b1 new_w2 new_b2"),
)

MISTAKES: dict[str, tuple[Mistake, ...]] = {"linear-regression": REGRESSION, "mlp": MLP}
"""Calculation → its mistakes, the commonest first."""
