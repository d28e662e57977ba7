"""Mistakes of any layer norm: over which axis it is, where ε is added, what is left out."""

from __future__ import annotations

from collections.abc import Callable

from attncalc.calculations.normalisation import learned_by
from attncalc.declare.mistake import Mistake, NotThere, Scope, parts, remade, wrong
from attncalc.language.graph import Node, walk
from attncalc.language.ops import absolute, mean, sqrt, total

EPSILON = "Where does ε stand, under the root or beside it?"
USUAL = (1e-3, 1e-5, 1e-6, 1e-8, 1e-12)
"""The ε of Keras; of PyTorch's layer norm; of Flax, T5 and the first Llama; of others; and of BERT."""
UNITS = "In what unit is the divisor: that of the entries, or its square?"


def centred(s: Scope) -> Node:
    """What is normalised."""
    name = s.step.args["name"]
    if name == "mean":
        return parts(s.this, "mean")[0]
    return parts(s.this if name == "centered" else s.centered, "sub")[0]


def of_norm(norm: Node, group: str | None = None) -> Node:
    """What a norm is of, told by its own steps alone; the group is that of its last step, if it is not said."""
    group = norm.key[0] if group is None else group
    own = walk(norm, into=lambda node: node.sources if node.op != "step" or node.key[0] == group else ())
    made = {node.key[1]: node for node in own if node.op == "step" and node.key[0] == group}
    return parts(made["centered" if "centered" in made else "squares"], "sub", "pow")[0]


def axis(s: Scope) -> str:
    """The axis along which it is normalised."""
    node = s.this if s.step.args["name"] == "mean" else s.mean.sources[0]
    if node.op != "mean":
        raise NotThere("mean")
    return str(node.args["over"])


def other(s: Scope) -> str:
    """The other one of the last two axes."""
    last = centred(s).names[-2:]
    return next(name for name in last if name != axis(s))


def gain(s: Scope) -> Node:
    """γ, which has the norm's number in a block, with what is added to it."""
    offset, gamma = s.options.get("norm_offset"), _learned(s, "gamma")
    return offset + gamma if offset else gamma


def shift(s: Scope) -> Node:
    """β, which has the norm's number in a block."""
    return _learned(s, "beta")


def _learned(s: Scope, name: str) -> Node:
    """What a norm has learned: in a model it is called by the norm's whole path."""
    group = s.step.args["group"]
    if ("", f"{group}/{name}") in s.known:
        return s.known["", f"{group}/{name}"]
    part = group.rpartition("/")[2]
    found: Node = getattr(s, learned_by(part, name) if "norm" in part else name)
    return found


def root(change: Callable[[Node, Node], Node]) -> Callable[[Scope], Node]:
    """The divisor of the variance (or the mean square) and ε in another way."""
    return lambda s: change(*parts(parts(s.this, "sqrt", "root_of_mean")[0], "add"))


EPSILON_OUTSIDE = root(lambda square, eps: sqrt(square) + eps)
ROOT_TWICE = root(lambda square, eps: sqrt(sqrt(square) + eps))


def _across(s: Scope) -> Node:
    """The statistics over the other axis; what is not normalised over the features is left alone."""
    over = other(s) if s.step.args["name"] == "mean" else _other_of_squares(s)
    return mean(parts(s.this, "mean")[0], over)


def _other_of_squares(s: Scope) -> str:
    (squares,) = parts(s.this, "mean")
    over = s.this.args["over"]
    return next(name for name in squares.names[-2:] if name != over)


def _sample(s: Scope) -> Node:
    (squares,) = parts(s.this, "mean")
    over = s.this.args["over"]
    return total(squares, over) / (squares.size(over) - 1)


def _without_learned(s: Scope) -> Node:
    centred(s)  # NotThere for an RMS norm
    return s.normalized


def _affine_first(s: Scope) -> Node:
    name = s.step.args["name"]
    if name == "output":
        return _without_learned(s)
    x = gain(s) * centred(s) + shift(s)
    return mean(x, axis(s)) if name == "mean" else x - s.mean


def another_epsilon(prefix: str) -> tuple[Mistake, ...]:
    """The ε of another library."""
    return tuple(
        wrong(
            f"{prefix}-wrong-eps",
            options={"eps": eps},
            says="another ε",
            hint="Which ε was given?",
            kind="convention",
        )
        for eps in USUAL
    )


MEAN_SIZE = wrong(
    "ln-mean-size",
    "standard_deviation",
    lambda s: mean(absolute(s.centered), axis(s)),
    says="divided by the mean of |x − μ|",
    hint=UNITS,
)

LAYER = (
    wrong(
        "ln-axis0",
        "mean variance",
        _across,
        says="mean and variance over the tokens, feature by feature",
        hint="Is there one mean for each token, or one for each feature?",
    ),
    wrong(
        "ln-global",
        "mean variance",
        lambda s: mean(s.this, s.this.names[-1]),
        says="one mean and one variance for everything",
        hint="Is there one mean for each token, or one for each feature?",
    ),
    wrong(
        "ln-ddof1",
        "variance",
        _sample,
        says="the variance divides by d − 1",
        hint="Is that the variance of these numbers, or an estimate from a sample?",
        kind="convention",
    ),
    wrong(
        "ln-eps-outside",
        "standard_deviation",
        EPSILON_OUTSIDE,
        says="σ + ε: ε beside the root",
        hint=EPSILON,
    ),
    wrong(
        "ln-sqrt-std",
        "standard_deviation",
        ROOT_TWICE,
        says="√(σ + ε): the deviation under the root",
        hint="Is the variance under the root, or the deviation?",
    ),
    wrong(
        "ln-div-variance",
        "standard_deviation",
        root(lambda variance, eps: variance + eps),
        says="divided by σ² + ε: no root",
        hint=UNITS,
    ),
    wrong(
        "ln-squared",
        "standard_deviation",
        root(lambda variance, eps: (variance + eps) ** 2),
        says="divided by (σ² + ε)²",
        hint=UNITS,
    ),
    wrong(
        "ln-no-affine",
        "output",
        _without_learned,
        says="without γ and β",
        hint="Where do the two learned vectors come in?",
    ),
    wrong(
        "ln-no-beta",
        "output",
        lambda s: gain(s) * s.normalized,
        says="without β",
        hint="Where do the two learned vectors come in?",
    ),
    wrong(
        "ln-gamma-beta-swapped",
        "output",
        lambda s: shift(s) * s.normalized + gain(s),
        says="β ⊙ x̂ + γ: the two are swapped",
        hint="Which of the two scales, and which shifts?",
    ),
    wrong(
        "ln-affine-first",
        "mean centered output",
        _affine_first,
        says="γ ⊙ x + β is normalised",
        hint="Which comes first: normalising, or scaling and shifting?",
    ),
    *(
        wrong(
            "ln-no-center",
            step,
            rule,
            says=f"{instead}: the mean is not subtracted",
            hint="What is the mean of a normalised row?",
        )
        for step, rule, instead in (
            ("normalized", lambda s: centred(s) / s.standard_deviation, "x/σ"),
            ("centered", centred, "x/√(E[x²] + ε)"),
        )
    ),
)


RMS = (
    wrong(
        "rms-var",
        "squares",
        remade("pow", lambda x, power: (x - mean(x)) ** power),
        says="divided by √(variance + ε)",
        hint="Does this norm subtract a mean?",
    ),
    wrong(
        "rms-l2",
        "mean_square",
        lambda s: total(s.squares),
        says="divided by the length ‖x‖",
        hint="Is that the mean of the squares, or their sum?",
    ),
    wrong(
        "rms-l2",
        "root_mean_square",
        lambda s: sqrt(total(s.squares)),
        says="divided by the length ‖x‖",
        hint="Is that the mean of the squares, or their sum?",
    ),
    wrong(
        "rms-eps-outside",
        "root_mean_square",
        EPSILON_OUTSIDE,
        says="rms + ε: ε beside the root",
        hint=EPSILON,
    ),
    wrong(
        "rms-sqrt-rms",
        "root_mean_square",
        ROOT_TWICE,
        says="√(rms + ε): a root too many",
        hint="How many roots were taken?",
    ),
    wrong(
        "rms-multiplied",
        "normalized",
        lambda s: parts(s.this, "div")[0] * s.root_mean_square,
        says="times the root mean square",
        hint="Should a large row become larger, or smaller?",
    ),
)


def _without_gain(s: Scope) -> Node:
    parts(s.root_mean_square, "root_of_mean", "sqrt")
    return s.normalized


NO_GAIN = wrong(
    "rms-no-gain",
    "output",
    _without_gain,
    says="without γ",
    hint="Where does the learned vector come in?",
)


PLUS_ONE = wrong(
    "norm-plus-one-missing",
    options={"norm_offset": 0},
    says="γ as it is stored, without what is added to it",
    hint="What does this model multiply by before it has learned any gain?",
    kind="convention",
)

MEAN_HELD = "the mean is held fixed"
STATISTICS_HELD = "γ ⊙ dy / σ: what the norm takes from x is held fixed"
WHAT_ELSE = "What else changes when one entry of x does?"


def divisor(s: Scope) -> Node:
    """What is divided by: a deviation, or a root mean square."""
    found: Node = s.standard_deviation if "standard_deviation" in s else s.root_mean_square
    return found


OF_EACH_NORM = (
    wrong(
        "dln-divisor-fixed",
        "grad_centered",
        lambda s: s.grad_normalized / divisor(s),
        says="the standard deviation is held fixed",
        hint=WHAT_ELSE,
    ),
    wrong(
        "dln-no-gamma",
        "grad_normalized",
        lambda s: s.grad_output,
        says="without the factor γ",
        hint="By what was each normalised entry multiplied?",
    ),
)
"""Mistakes of the backward pass, in a norm of its own and in a layer."""
