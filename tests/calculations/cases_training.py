"""What calculus, descents, optimisers and networks are tried on; the end of cases.py takes it in."""

from __future__ import annotations

from typing import Any

import numpy as np
from calculations.trial import Case, Expected, case

NOTHING = "nothing that could have a gradient"
DESCENT = "point value gradient update"
RULES: dict[str, Any] = {"momentum": 0.8, "beta1": 0.7, "beta2": 0.9, "eps": 0.01}
POINTS = {"x": "4 2", "y": "4 1: positive", "w": "2 1", "b": "1"}
NETWORK = {"x": "4 2", "y": "4 3", "w1": "2 3", "b1": "3", "w2": "3 3", "b2": "3"}
LINE = "predictions errors loss grad_w grad_b new_w new_b"
BACKWARD = "delta2 grad_w2 grad_b2 delta1 grad_w1 grad_b1 new_w1 new_b1 new_w2 new_b2"
LEARNT = "loss grad_w2 grad_b2 grad_w1 grad_b1 new_w1 new_b1 new_w2 new_b2"


def formula(text: str, steps: str = "", outputs: str = "", /, **options: Any) -> Case:
    """A case whose operand is a formula."""
    return Case({"expression": np.array(text)}, options, steps, outputs)


def turns(word: str, numbers: range, steps: str) -> str:
    return " ".join(f"{word}_{number}/{name}" for number in numbers for name in steps.split())


def moments(kind: str) -> str:
    return {
        "gd": "",
        "momentum": "velocity ",
        "nesterov": "velocity ",
        "adagrad": "sum_of_squares ",
        "rmsprop": "second_moment ",
        "adam": "first_moment second_moment first_corrected second_corrected ",
        "adamw": "first_moment second_moment first_corrected second_corrected ",
    }[kind]


def _descent(kind: str, /, **options: Any) -> Case:
    steps = turns("iteration", range(3), f"point value gradient {moments(kind)}update")
    start = {"x": 2, "y": -1}
    return formula("x**2 + 3*y**2 - x*y", steps, start=start, steps=2, optimizer=kind, lr=0.05, **options)


def _turned(shape: str, before: str = "", after: str = "", /, **options: Any) -> Case:
    """Muon with gradients and a point of a shape."""
    iterations = " ".join(f"gram_{k} cube_{k} iterate_{k}" for k in range(1, 6))
    steps = f"first_moment blend {before} size iterate_0 {iterations} {after} update point"
    return case(
        turns("step", range(1, 3), steps), gradients=f"2 {shape}", start=shape, kind="muon", lr=0.5, eps=0.01, **options
    )


def _optimized(kind: str, decayed: str = "", /, **options: Any) -> Case:
    steps = turns("step", range(1, 4), f"{decayed}{moments(kind)}update point")
    return case(steps, gradients="3 2", start="2", kind=kind, lr=0.5, **options)


TRAINING: dict[str, Expected] = {
    "derivative": Expected(
        "difference_quotients derivative value",
        (
            formula("x**3 - 3*x", at=2, h=(0.5, 0.25, 0.125)),
            formula("x**3 - 3*x", at={"x": -1.5}, h=(1.0, -1.0)),
            formula("exp(-x**2/2)*sin(3*x)", at=0.75, h=(0.5, 0.05)),
            formula("sqrt(1 + x^2) / max(x, 1)", at=2.5, h=(0.5, 0.25)),
        ),
        outputs="value function",
        no_gradient=NOTHING,
    ),
    "gradient": Expected(
        "partial_x partial_y gradient",
        (
            formula("x**2 + x*y + sin(y)", at={"x": 3, "y": -1}),
            formula("x**2 + x*y + sin(y)", "partial_y partial_x gradient", at={"y": 0.5, "x": -2}),
            formula("a*ln(b)/c", "partial_a partial_b partial_c gradient", at={"a": 2, "b": 3, "c": 5}),
        ),
        outputs="gradient hessian value",
        no_gradient=NOTHING,
    ),
    "descend": Expected(
        turns("iteration", range(3), DESCENT),
        (
            formula("x**2", start=3, lr=0.1, steps=2),
            formula("x**2", turns("iteration", range(1), DESCENT), start={"x": 3}, steps=0),
            formula("x**2", turns("iteration", range(3), f"{DESCENT} flow"), start=2, steps=2, flow=True),
            _descent("gd", weight_decay=0),
            *(_descent(kind, **RULES) for kind in ("momentum", "nesterov", "adagrad", "rmsprop", "adam", "adamw")),
            _descent("adamw", weight_decay=0.3),
        ),
        outputs="point value iterations",
        no_gradient="a loop whose turns depend on values",
    ),
    "optimizer": Expected(
        turns("step", range(1, 4), f"{moments('adam')}update point"),
        (
            case(gradients="3 2", start="2"),
            *(_optimized(kind, **RULES) for kind in ("gd", "momentum", "nesterov", "adagrad", "rmsprop", "adam")),
            *(_optimized(kind, "decayed_gradient ", weight_decay=0.2) for kind in ("gd", "nesterov", "adam")),
            _optimized("adamw", weight_decay=0.2, **RULES),
            case(
                turns("step", range(1, 3), "blend first_moment update point")
                + " step_3/blend step_3/update step_3/point",
                gradients="3 2",
                start="2",
                kind="lion",
                lr=0.5,
                weight_decay=0.2,
                beta2=0.99,
            ),
            _turned("2 3", weight_decay=0.2),
            _turned("3 2", "wide", "tall", momentum=0.95),
        ),
        outputs="point",
    ),
    "schedule": Expected(
        "lr",
        (
            Case({}, {"d_model": 64, "warmup": 3, "steps": 6}),
            Case({}, {"at": (1, 4000, 10000), "lr": 2}),
            Case({}, {"kind": "cosine", "lr": 0.1, "steps": 5}),
            Case({}, {"kind": "cosine", "lr": 0.1, "steps": 9, "warmup": 3}),
            Case({}, {"kind": "linear", "lr": 0.5, "steps": 6, "warmup": 2}),
            Case({}, {"kind": "constant", "lr": 0.5, "steps": 4, "warmup": 2}),
            Case({}, {"kind": "wsd", "lr": 0.5, "steps": 9, "warmup": 2, "decay": 4}),
            Case({}, {"kind": "wsd", "lr": 0.5, "steps": 20, "decay_kind": "linear"}),
            Case({}, {"kind": "wsd", "steps": 8, "warmup": 1, "decay": 3, "decay_kind": "1-sqrt"}),
        ),
        no_gradient=NOTHING,
    ),
    "linear-regression": Expected(
        LINE,
        (
            case(**POINTS),
            case(**POINTS, lr=0.25, loss="half-mse"),
            case("predictions errors loss grad_w new_w", "loss grad_w new_w", x="4 2", y="4 1", w="2 1"),
            case(turns("step", range(1, 4), LINE), x="4 2", y="4 3", w="2 3", b="3", steps=3),
        ),
        outputs="loss grad_w grad_b new_w new_b",
    ),
    "mlp": Expected(
        f"z1 a1 z2 loss {BACKWARD}",
        (
            case(**NETWORK, activation="sigmoid"),
            case(**NETWORK, activation="tanh", loss="half-mse", lr=0.5),
            case(
                "z1 a1 z2 loss delta2 grad_w2 delta1 grad_w1 new_w1 new_w2",
                "loss grad_w2 grad_w1 new_w1 new_w2",
                x="4 2",
                y="4: positive",
                w1="2 3",
                w2="3 1",
                activation="softplus",
            ),
            case(
                f"z1 a1 z2 probabilities log_probabilities losses loss {BACKWARD}",
                **NETWORK | {"y": [2, 0, 1, 1]},
                loss="cross-entropy",
                activation="tanh",
            ),
            case(
                f"z1 a1 z2 probabilities log_probabilities losses loss {BACKWARD}",
                **NETWORK | {"y": [[0.5, 0.25, 0.25], [0, 1, 0], [1, 0, 0], [0.125, 0.5, 0.375]]},
                loss="cross-entropy",
                activation="sigmoid",
            ),
            case(turns("step", range(1, 3), f"z1 a1 z2 loss {BACKWARD}"), **NETWORK, activation="tanh", steps=2),
            case(
                "z1 a1 z2 a2 z3 a3 z4 a4 z5 loss delta5 grad_w5 grad_b5 delta4 grad_w4 grad_b4 delta3 grad_w3 grad_b3 "
                f"{BACKWARD} new_w3 new_b3 new_w4 new_b4 new_w5 new_b5",
                "loss grad_w5 grad_b5 grad_w4 grad_b4 grad_w3 grad_b3 grad_w2 grad_b2 grad_w1 grad_b1 "
                "new_w1 new_b1 new_w2 new_b2 new_w3 new_b3 new_w4 new_b4 new_w5 new_b5",
                x="2 2",
                y="2 1",
                **{f"w{k}": f"2 {1 if k == 5 else 2}" for k in range(1, 6)},
                **{f"b{k}": "1" if k == 5 else "2" for k in range(1, 6)},
                activation="tanh",
            ),
        ),
        outputs=LEARNT,
        inexact="the exact numbers of several samples behind a bend fill pages; relu is tried in test_networks.py",
    ),
}
