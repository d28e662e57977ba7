"""Optimisers: how a gradient becomes a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Literal

import numpy as np

from attncalc.common.errors import both, flag
from attncalc.common.system import NamedTuple
from attncalc.declare.calculation import calculation, same, shuffled
from attncalc.declare.operands import FROM_0_ON, Exercise, Range
from attncalc.declare.sweeps import MOST_LINES, Sweep, turns
from attncalc.language.graph import Node, as_node, constant, group, note, output, step
from attncalc.language.ops import rename, sign, sqrt, take, total
from attncalc.record.pictures import Curves, Line, Picture
from attncalc.record.trace import Trace

OptimizerKind = Literal["gd", "momentum", "nesterov", "adagrad", "rmsprop", "adam", "adamw", "lion"]
MatrixKind = Literal["muon"]
"""Optimisers for whole matrices, which a descent through the variables of a formula cannot use."""
Memory = Mapping[str, Node]
"""Step → its value, for what an optimiser remembers from one update to the next."""


SHARE = Range(at_least=0, below=1)


class Parameters(NamedTuple):
    """The numbers that the optimisers have beside the learning rate."""

    momentum: Annotated[float, "how much of the last step is carried over (momentum, nesterov, muon)", SHARE] = 0.9
    beta1: Annotated[float, "how much of the average gradient is carried over (adam, adamw, lion)", SHARE] = 0.9
    beta2: Annotated[
        float, "how much of the average square is carried over (adam, adamw, rmsprop; lion's memory)", SHARE
    ] = 0.999
    eps: Annotated[float, "avoids a division by 0; outside the root, after the correction", FROM_0_ON] = 1e-8
    weight_decay: Annotated[
        float, "pulls towards 0: added to the gradient (L2); apart from it in adamw, lion, muon", FROM_0_ON
    ] = 0


DEFAULTS = Parameters()
Made = tuple[Node, dict[str, Node]]
"""What −lr is multiplied by to get the update, and the new memory."""


class Rule(NamedTuple):
    """An optimiser: what it remembers, which parameters it has, and the way that it takes for a gradient."""

    memory: tuple[str, ...]
    uses: tuple[str, ...]
    way: Callable[[Node, int | Node, Parameters, Memory], Made]  # (gradient, t from 1, parameters, memory)


SYMBOLS = {"velocity": "u", "sum_of_squares": "s", "first_moment": "m", "second_moment": "v"}
"""What an optimiser remembers → its symbol in formulas."""


def _plain(gradient: Node, t: int | Node, p: Parameters, memory: Memory) -> Made:
    return gradient, {}


def _rolling(gradient: Node, t: int | Node, p: Parameters, memory: Memory) -> Made:
    why = "what is rolling keeps rolling: steps in the same direction add up, alternating ones cancel"
    velocity = _remembered("velocity", constant(p.momentum, "mu", "momentum") * memory["velocity"] + gradient, why)
    return velocity, {"velocity": velocity}


def _looking_ahead(gradient: Node, t: int | Node, p: Parameters, memory: Memory) -> Made:
    velocity, memory = _rolling(gradient, t, p, memory)
    return gradient + constant(p.momentum, "mu", "momentum") * velocity, memory


def _adagrad(gradient: Node, t: int | Node, p: Parameters, memory: Memory) -> Made:
    why = "a coordinate with many large gradients has a large sum and takes smaller steps; the sum never shrinks"
    squares = _remembered("sum_of_squares", memory["sum_of_squares"] + gradient**2, why)
    return gradient / (sqrt(squares) + constant(p.eps, "ε", "eps")), {"sum_of_squares": squares}


def _rmsprop(gradient: Node, t: int | Node, p: Parameters, memory: Memory) -> Made:
    squares = _second_moment(gradient, p, memory)
    return gradient / (sqrt(squares) + constant(p.eps, "ε", "eps")), {"second_moment": squares}


def _adam(gradient: Node, t: int | Node, p: Parameters, memory: Memory) -> Made:
    why = "a moving average of the gradients: the direction on which recent ones agree"
    mean = _remembered(
        "first_moment", _faded(constant(p.beta1, "beta_1", "beta1"), memory["first_moment"], gradient), why
    )
    squares = _second_moment(gradient, p, memory)
    why = "the moments start at 0, so the early ones are too small by exactly this factor"
    why += "; its power counts the steps, and it grows to 1"
    m = step("first_corrected", mean / (1 - constant(p.beta1, "beta_1", "beta1") ** t), why, symbol="m_hat")
    v = step("second_corrected", squares / (1 - constant(p.beta2, "beta_2", "beta2") ** t), why, symbol="v_hat")
    return m / (sqrt(v) + constant(p.eps, "ε", "eps")), {"first_moment": mean, "second_moment": squares}


def _lion(gradient: Node, t: int | Node, p: Parameters, memory: Memory) -> Made:
    blend = _faded(constant(p.beta1, "beta_1", "beta1"), memory["first_moment"], gradient)
    blend = step("blend", blend, "the momentum so far and the gradient: only the sign of this counts", symbol="c")
    why = "what is remembered fades more slowly than what the step is made of"
    kept = _remembered(
        "first_moment", _faded(constant(p.beta2, "beta_2", "beta2"), memory["first_moment"], gradient), why
    )
    return sign(blend), {"first_moment": kept}


QUINTIC = {"a": 3.4445, "b": 4.7750, "c": 2.0315}
"""Jordan's coefficients (3.4445, −4.7750, 2.0315): a·s − b·s³ + c·s⁵ is steep at 0, and does not converge to 1."""
TURNS = 5
"""The number of iterations, also Jordan's."""


def _muon(gradient: Node, t: int | Node, p: Parameters, memory: Memory) -> Made:
    mu = constant(p.momentum, "mu", "momentum")
    why = "a running mean of the gradients, kept as a matrix"
    kept = _remembered("first_moment", _faded(mu, memory["first_moment"], gradient), why)
    blend = step(
        "blend", _faded(mu, kept, gradient), "the mean once more moved towards this gradient, as nesterov does"
    )
    rows, columns = blend.axes[-2:]
    tall = rows.size > columns.size
    x = step("wide", blend.T, "with its shorter side first the products below are smaller") if tall else blend
    length = sqrt(total(total(x**2, x.names[-1]), x.names[-2]))
    size = step("size", length, "no singular value is larger than the root of the sum of all their squares")
    x = step(
        "iterate_0",
        x / (size + constant(p.eps, "ε", "eps")),
        "no singular value is now too large for the iterations",
        symbol="X_0",
    )
    for k in range(1, TURNS + 1):
        x = _newton_schulz(x, k)
    if tall:
        x = step("tall", x.T, "turned back, to the shape of the point")
        x = sqrt(gradient.size(rows.name) / gradient.size(columns.name)) * x
    return x, {"first_moment": kept}


def _newton_schulz(x: Node, k: int) -> Node:
    """One iteration: a·X − b·XXᵀX + c·(XXᵀ)²X, which changes the singular values of X and none of its directions."""
    short, again = x.names[-2], "j"  # a second name for the rows
    name = x.args["symbol"]
    why = f"how far the rows of {name} overlap: I, once they are orthonormal"
    gram = step(f"gram_{k}", x @ rename(x, short, again).T, why)
    cube = step(f"cube_{k}", gram @ rename(x, short, again), f"{name} with the cubes of its singular values")
    fifth = gram @ rename(cube, short, again)
    a, b, c = (constant(number, letter) for letter, number in QUINTIC.items())
    why = "each singular value s becomes a·s − b·s³ + c·s⁵, steep at 0, so small ones soon grow; the directions stay"
    why = why if k == 1 else f"the same curve again, for the singular values of {name}"
    return step(f"iterate_{k}", a * x - b * cube + c * fifth, why, symbol=f"X_{k}")


def _second_moment(gradient: Node, p: Parameters, memory: Memory) -> Node:
    why = "a moving average of the squared gradients: how large recent ones are, coordinate by coordinate"
    return _remembered(
        "second_moment", _faded(constant(p.beta2, "beta_2", "beta2"), memory["second_moment"], gradient**2), why
    )


def _faded(decay: Node, past: Node, new: Node) -> Node:
    """A running mean: the past fades, and the new counts for what is left of 1."""
    return decay * past + (1 - decay) * new


def _remembered(name: str, value: Node, why: str) -> Node:
    return step(name, value, why, symbol=SYMBOLS[name])


APART = ("adamw", "lion", "muon")
"""Optimisers whose weight decay does not go through the gradient."""
_MOMENTS = ("first_moment", "second_moment")
RULES: dict[str, Rule] = {
    "gd": Rule((), ("weight_decay",), _plain),
    "momentum": Rule(("velocity",), ("momentum", "weight_decay"), _rolling),
    "nesterov": Rule(("velocity",), ("momentum", "weight_decay"), _looking_ahead),
    "adagrad": Rule(("sum_of_squares",), ("eps", "weight_decay"), _adagrad),
    "rmsprop": Rule(("second_moment",), ("beta2", "eps", "weight_decay"), _rmsprop),
    "adam": Rule(_MOMENTS, ("beta1", "beta2", "eps", "weight_decay"), _adam),
    "adamw": Rule(_MOMENTS, ("beta1", "beta2", "eps", "weight_decay"), _adam),
    "lion": Rule(("first_moment",), ("beta1", "beta2", "weight_decay"), _lion),
    "muon": Rule(("first_moment",), ("momentum", "eps", "weight_decay"), _muon),
}


def updated(kind: str, point: Node, gradient: Node, lr: float, t: int | Node, p: Parameters, memory: Memory) -> Made:
    """The steps of one update: moments where there are any, and `update`, which is added to the point."""
    if p.weight_decay and kind not in APART:
        why = "weight decay adds the slope of λ/2·‖θ‖², which pulls every coordinate towards 0"
        gradient = step("decayed_gradient", gradient + constant(p.weight_decay, "lambda", "weight_decay") * point, why)
    way, memory = RULES[kind].way(gradient, t, p, memory)
    move, why = -(constant(lr, "lr") * way), "lr times the direction, against the gradient; this is added to the point"
    if isinstance(t, int) and t == 1 and RULES[kind].way is _adam:
        why += "; at the first step the gradient is divided by its own size"
        why += ", so each coordinate moves by lr where ε is small" + ", and by its decay" * bool(p.weight_decay)
    if p.weight_decay and kind in APART:
        move = move - constant(lr, "lr") * (constant(p.weight_decay, "lambda", "weight_decay") * point)
        why += "; the decay stands apart from the gradient, so it pulls at the same rate in every coordinate"
    return step("update", move, why), memory


def tell_idle(kind: str, p: Parameters) -> None:
    """Tell of parameters that were given and that this optimiser does not have."""
    idle = [
        flag(name)
        for name, value in p._asdict().items()
        if value != getattr(DEFAULTS, name) and name not in RULES[kind].uses
    ]
    if idle:
        note(f"{both(idle)} {'have' if len(idle) > 1 else 'has'} no effect on {kind}")


def _way(trace: Trace, sweep: Sweep) -> Iterator[Picture]:
    """Each coordinate of the point along the steps, the start included."""
    here = sweep.again()
    made = turns(here, "step", "point")
    start = np.broadcast_to(here.inputs["start"].value, made[0][1].shape)  # one start for all series of gradients
    points = np.stack([start.ravel(), *(point.ravel() for _, point in made)])
    places = np.array([0, *(number for number, _ in made)])
    lines = [Line(f"point[{i}]", places, column) for i, column in enumerate(points.T[:MOST_LINES])]
    yield Curves("the point at each step", "step", tuple(lines))


@calculation(
    gradients="t n | kind=muon: t r k",
    start="n | kind=muon: r k",
    laws={
        "adam's first step is lr long in every coordinate (ε = 0)": lambda f, gradients, start, c: same(
            f(gradients[:1], start, lr=c, eps=0), start - c * np.sign(gradients[0])
        ),
        "c times all gradients leads adam to the same point (ε = 0)": lambda f, gradients, start, c: same(
            f(c * gradients, start, eps=0), f(gradients, start, eps=0)
        ),
        "momentum with μ = 0 is plain gradient descent": lambda f, gradients, start: same(
            f(gradients, start, kind="momentum", momentum=0), f(gradients, start, kind="gd")
        ),
        "gd has no memory: gradients in any order lead to the same point": lambda f, gradients, start: same(
            f(*shuffled(gradients), start, kind="gd"), f(gradients, start, kind="gd")
        ),
        "lion's steps are lr long in every coordinate": lambda f, gradients, start, c: same(
            abs(f(gradients, start, kind="lion", lr=c)["step 1/update"]), c * abs(np.sign(gradients[0]))
        ),
        "c times all gradients leads muon to the same matrix (ε = 0)": lambda f, gradients, c: same(
            f(c * gradients[None], gradients, kind="muon", eps=0), f(gradients[None], gradients, kind="muon", eps=0)
        ),
        "without weight decay adamw is adam": lambda f, gradients, start: same(
            f(gradients, start, kind="adamw", weight_decay=0), f(gradients, start, kind="adam")
        ),
    },
    reference="Kingma and Ba 2015, Adam, algorithm 1; Loshchilov and Hutter 2019, Decoupled Weight Decay "
    "Regularization, algorithm 2 (adamw); Duchi et al. 2011, Adaptive Subgradient Methods, figure 1 (adagrad); "
    "Tieleman and Hinton 2012, lecture 6.5 (rmsprop); "
    "Chen et al. 2023, Symbolic Discovery of Optimization Algorithms, algorithm 2 (lion); "
    "Jordan et al. 2024, Muon, and the code of zeropower_via_newtonschulz5 (muon); numbers as torch.optim's",
    pictures=_way,
    exercise=Exercise(sizes={"t": 3}, at_hard={"weight_decay": 0.2, "kind": "adamw"}),
)
def optimizer(
    G: Annotated[Node, "the gradient at each step, a row or a matrix for each"],
    theta: Annotated[Node, "the point before the first step"],
    *,
    kind: Annotated[OptimizerKind | MatrixKind, "which optimiser"] = "adam",
    lr: Annotated[float, "the learning rate: how long the steps are", FROM_0_ON] = 0.001,
    p: Annotated[Parameters, ""] = DEFAULTS,
) -> tuple[Node]:
    """Follow given gradients from a point: the moments, corrections and update of every step.

    Steps are counted from t = 1. adam: m ← β₁m + (1 − β₁)g, v ← β₂v + (1 − β₂)g², m̂ = m/(1 − β₁ᵗ), v̂ = v/(1 − β₂ᵗ),
    θ ← θ − lr·m̂/(√v̂ + ε): ε stands outside the root, after the correction. momentum: u ← μu + g, θ ← θ − lr·u;
    nesterov: θ ← θ − lr·(g + μu); rmsprop divides by √v + ε without a correction, with β₂ for its decay; adagrad by
    √Σg² + ε. lion: θ ← θ − lr·sign(β₁m + (1 − β₁)g), then m ← β₂m + (1 − β₂)g (its authors' β₂ is 0.99).
    muon takes matrices, gradients [t, r, k] and a start [r, k]: m ← μm + (1 − μ)g, C = (1 − μ)g + μm, five
    Newton–Schulz iterations X from C/(‖C‖ + ε), θ ← θ − lr·√max(1, r/k)·X (its author's μ is 0.95, his ε 1e-7, and his
    X is rounded to bfloat16). Weight decay is L2, λθ added to g; in adamw, lion and muon −lr·λθ is applied apart from
    g. These are torch.optim's conventions (whose own defaults differ: there adagrad has ε = 1e-10, rmsprop the decay
    0.99, adamw λ = 0.01).
    """
    tell_idle(kind, p)
    memory: Memory = dict.fromkeys(RULES[kind].memory, as_node(0))
    point = theta
    for t in range(1, G.size("t").args["axis"].size + 1):
        with group(f"step {t}"):
            move, memory = updated(kind, point, take(G, "t", t - 1), lr, t, p, memory)
            point = step("point", point + move, "the point after this step")
    return (output("point", point, "the point after the last step"),)
