"""Derivatives, descents, optimisers and networks, a second time: by hand where it is calculus, by loops elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from witness.layers import ACTIVATIONS
from witness.vectors import Matrix, Values, Vector, shares, times, turned


class Known(NamedTuple):
    """A formula whose derivatives have been worked out by hand."""

    value: Callable[..., float]
    slopes: Mapping[str, Callable[..., float]]
    bends: Mapping[str, Callable[..., Mapping[str, float]]] = {}


KNOWN: dict[str, Known] = {
    "x**3 - 3*x": Known(lambda x: x**3 - 3 * x, {"x": lambda x: 3 * x**2 - 3}),
    "exp(-x**2/2)*sin(3*x)": Known(
        lambda x: math.exp(-(x**2) / 2) * math.sin(3 * x),
        {"x": lambda x: math.exp(-(x**2) / 2) * (3 * math.cos(3 * x) - x * math.sin(3 * x))},
    ),
    "sqrt(1 + x^2) / max(x, 1)": Known(
        lambda x: math.sqrt(1 + x**2) / x, {"x": lambda x: 1 / math.sqrt(1 + x**2) - math.sqrt(1 + x**2) / x**2}
    ),
    "x**2 + x*y + sin(y)": Known(
        lambda x, y: x**2 + x * y + math.sin(y),
        {"x": lambda x, y: 2 * x + y, "y": lambda x, y: x + math.cos(y)},
        {"x": lambda x, y: {"x": 2, "y": 1}, "y": lambda x, y: {"x": 1, "y": -math.sin(y)}},
    ),
    "a*ln(b)/c": Known(
        lambda a, b, c: a * math.log(b) / c,
        {
            "a": lambda a, b, c: math.log(b) / c,
            "b": lambda a, b, c: a / b / c,
            "c": lambda a, b, c: -a * math.log(b) / c**2,
        },
        {
            "a": lambda a, b, c: {"a": 0, "b": 1 / b / c, "c": -math.log(b) / c**2},
            "b": lambda a, b, c: {"a": 1 / b / c, "b": -a / b**2 / c, "c": -a / b / c**2},
            "c": lambda a, b, c: {"a": -math.log(b) / c**2, "b": -a / b / c**2, "c": 2 * a * math.log(b) / c**3},
        },
    ),
    "x**2": Known(lambda x: x**2, {"x": lambda x: 2 * x}),
    "x**2 + 3*y**2 - x*y": Known(
        lambda x, y: x**2 + 3 * y**2 - x * y, {"x": lambda x, y: 2 * x - y, "y": lambda x, y: 6 * y - x}
    ),
}


def derivative(expression: str, at: Any, h: Vector) -> Values:
    f, (slope,) = KNOWN[expression].value, KNOWN[expression].slopes.values()
    x = at["x"] if isinstance(at, dict) else at
    widths = h if len(h) > 1 else [h[0] / 10**i for i in range(6)]
    quotients = [(f(x + width) - f(x)) / width for width in widths]
    return {"difference_quotients": quotients, "derivative": slope(x), "value": slope(x), "function": f(x)}


def gradient(expression: str, at: Mapping[str, float]) -> Values:
    known = KNOWN[expression]
    slopes = {name: known.slopes[name](**at) for name in at}
    return {
        **{f"partial_{name}": slope for name, slope in slopes.items()},
        "gradient": [*slopes.values()],
        "hessian": [[known.bends[name](**at)[other] for other in at] for name in at],
        "value": known.value(**at),
    }


class Update:
    """An optimiser on one coordinate, as its paper has it."""

    def __init__(
        self,
        kind: str = "gd",
        lr: float = 0.1,
        momentum: float = 0.9,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: float = 0,
    ) -> None:
        self.kind, self.lr, self.momentum, self.beta1, self.beta2 = kind, lr, momentum, beta1, beta2
        self.eps, self.weight_decay = eps, weight_decay
        self.t = 0
        self.first = self.second = 0.0

    def __call__(self, g: float, point: float) -> float:
        self.t += 1
        if self.kind == "lion":
            blend = self.beta1 * self.first + (1 - self.beta1) * g
            self.first = self.beta2 * self.first + (1 - self.beta2) * g
            return -self.lr * (math.copysign(1, blend) + self.weight_decay * point)
        if self.kind != "adamw":
            g += self.weight_decay * point
        if self.kind == "gd":
            return -self.lr * g
        if self.kind in ("momentum", "nesterov"):
            self.first = self.momentum * self.first + g
            return -self.lr * (g + self.momentum * self.first if self.kind == "nesterov" else self.first)
        if self.kind == "adagrad":
            self.second += g * g
            return -self.lr * g / (math.sqrt(self.second) + self.eps)
        self.second = self.beta2 * self.second + (1 - self.beta2) * g * g
        if self.kind == "rmsprop":
            return -self.lr * g / (math.sqrt(self.second) + self.eps)
        self.first = self.beta1 * self.first + (1 - self.beta1) * g
        m, v = self.first / (1 - self.beta1**self.t), self.second / (1 - self.beta2**self.t)
        decay = self.lr * self.weight_decay * point if self.kind == "adamw" else 0
        return -self.lr * m / (math.sqrt(v) + self.eps) - decay


def descend(
    expression: str, start: Any, steps: int = 10, optimizer: str = "gd", flow: bool = False, **more: float
) -> Values:
    known = KNOWN[expression]
    at = dict(start) if isinstance(start, dict) else {"x": start}
    path = dict(at)
    updates = {name: Update(optimizer, **more) for name in at}
    found: Values = {}
    for k in range(steps + 1):
        slopes = {name: known.slopes[name](**at) for name in at}
        moves = {name: updates[name](slopes[name], at[name]) for name in at}
        turn = {"point": at, "gradient": slopes, "update": moves} | ({"flow": path} if flow else {})
        found |= {f"iteration {k}/{name}": _entries(what) for name, what in turn.items()}
        found[f"iteration {k}/value"] = known.value(**at)
        found |= {"point": _entries(at), "value": known.value(**at)}
        at = {name: at[name] + moves[name] for name in at}
        path = _flowed(known, path, more.get("lr", 0.1) / 8)
    return found


def _entries(what: Mapping[str, float]) -> Any:
    return [*what.values()] if len(what) > 1 else next(iter(what.values()))


def _flowed(known: Known, point: Mapping[str, float], time: float) -> dict[str, float]:
    """Eight steps of Runge and Kutta's method along −∇f."""

    def down(at: Mapping[str, float]) -> dict[str, float]:
        return {name: -slope(**at) for name, slope in known.slopes.items()}

    def on(way: Mapping[str, float], by: float) -> dict[str, float]:
        return {name: x + by * way[name] for name, x in point.items()}

    for _ in range(8):
        k1 = down(point)
        k2 = down(on(k1, time / 2))
        k3 = down(on(k2, time / 2))
        k4 = down(on(k3, time))
        point = {n: x + time / 6 * (k1[n] + 2 * k2[n] + 2 * k3[n] + k4[n]) for n, x in point.items()}
    return dict(point)


def optimizer(gradients: Any, start: Any, kind: str = "adam", lr: float = 0.001, **more: float) -> Values:
    if kind == "muon":
        return _muon(gradients, start, lr, **more)
    updates = [Update(kind, lr, **more) for _ in start]
    point = list(start)
    found: Values = {}
    for t, row in enumerate(gradients, start=1):
        moves = [update(g, x) for update, g, x in zip(updates, row, point, strict=True)]
        point = [x + move for x, move in zip(point, moves, strict=True)]
        found |= {f"step {t}/update": moves, f"step {t}/point": point, "point": point}
    return found


def _muon(
    gradients: Sequence[Matrix],
    start: Matrix,
    lr: float,
    momentum: float = 0.9,
    eps: float = 1e-8,
    weight_decay: float = 0,
) -> Values:
    """As PyTorch's code has it: B = b·A + c·A·A, and then a·X + B·X."""
    rows, columns = len(start), len(start[0])
    mean = [[0.0] * columns for _ in range(rows)]
    point = [[*row] for row in start]
    found: Values = {}
    for t, gradient in enumerate(gradients, start=1):
        mean = _mixed(momentum, mean, 1 - momentum, gradient)
        x = _mixed(momentum, mean, 1 - momentum, gradient)
        x = turned(x) if rows > columns else x
        size = math.sqrt(math.fsum(e * e for row in x for e in row)) + eps
        x = [[e / size for e in row] for row in x]
        for _ in range(5):
            a = times(x, turned(x))
            x = _mixed(3.4445, x, 1, times(_mixed(-4.7750, a, 2.0315, times(a, a)), x))
        x = turned(x) if rows > columns else x
        update = _mixed(-lr * math.sqrt(max(1, rows / columns)), x, -lr * weight_decay, point)
        point = _mixed(1, point, 1, update)
        found |= {f"step {t}/update": update, f"step {t}/point": point, "point": point}
    return found


def _mixed(s: float, a: Matrix, t: float, b: Matrix) -> list[list[float]]:
    return [[s * x + t * y for x, y in zip(*rows, strict=True)] for rows in zip(a, b, strict=True)]


def schedule(
    kind: str = "noam",
    d_model: int = 512,
    warmup: int | None = None,
    lr: float = 1,
    steps: int | None = None,
    decay: int | None = None,
    decay_kind: str = "cosine",
    at: tuple[int, ...] | None = None,
) -> Values:
    warm = {"noam": 4000}.get(kind, 0) if warmup is None else warmup

    def rate(s: int) -> float:
        if kind == "noam":
            return float(d_model**-0.5 * (s * warm**-1.5 if s < warm else s**-0.5))
        if s <= warm:
            return s / warm
        if kind == "constant":
            return 1
        assert steps
        if kind == "wsd":
            length = decay or max(1, steps // 10)
            gone = max(0, (s - steps + length) / length)
            ways = {"cosine": math.cos(math.pi * gone / 2) ** 2, "linear": 1 - gone, "1-sqrt": 1 - math.sqrt(gone)}
            return ways[decay_kind]
        share = (s - warm) / (steps - warm)
        return 1 - share if kind == "linear" else math.cos(math.pi * share / 2) ** 2

    return {"lr": [lr * rate(s) for s in at or range(1, (steps or 0) + 1)]}


SLOPES: dict[str, Callable[[float], float]] = {
    "relu": lambda x: float(x > 0),
    "sigmoid": lambda x: math.exp(-x) / (1 + math.exp(-x)) ** 2,
    "tanh": lambda x: 1 / math.cosh(x) ** 2,
    "softplus": lambda x: 1 / (1 + math.exp(-x)),
}


def _with_bias(x: Matrix, w: Matrix, b: Vector | None) -> list[list[float]]:
    return [[e + (b[j] if b else 0) for j, e in enumerate(row)] for row in times(x, w)]


def _less(weights: Any, gradient: Any, lr: float) -> Any:
    if isinstance(weights, list):
        return [_less(w, g, lr) for w, g in zip(weights, gradient, strict=True)]
    return weights - lr * gradient


def _sums(rows: Matrix) -> list[float]:
    return [math.fsum(column) for column in turned(rows)]


def linear_regression(
    x: Matrix, y: Matrix, w: Matrix, b: Vector | None = None, lr: float = 0.1, steps: int = 1, loss: str = "mse"
) -> Values:
    found: Values = {}
    for k in range(1, steps + 1):
        predictions = _with_bias(x, w, b)
        errors = [[p - t for p, t in zip(*rows, strict=True)] for rows in zip(predictions, y, strict=True)]
        factor = (2 if loss == "mse" else 1) / len(x)
        turn: Values = {
            "predictions": predictions,
            "errors": errors,
            "loss": factor / 2 * math.fsum(e * e for row in errors for e in row),
            "grad_w": [[factor * e for e in row] for row in times(turned(x), errors)],
        }
        turn["new_w"] = w = _less(w, turn["grad_w"], lr)
        if b is not None:
            turn["grad_b"] = [factor * e for e in _sums(errors)]
            turn["new_b"] = b = _less(b, turn["grad_b"], lr)
        found |= turn | {f"step {k}/{name}": value for name, value in turn.items()}
    return found


def mlp(
    x: Matrix, y: Any, activation: str = "relu", loss: str = "mse", lr: float = 0.1, steps: int = 1, **given: Any
) -> Values:
    layers = sum(name[0] == "w" for name in given)
    weights = dict(given)
    found: Values = {}
    for k in range(1, steps + 1):
        turn, inputs = _forward(x, weights, layers, activation)
        turn |= _backward(inputs, turn, _measured(turn[f"z{layers}"], y, loss), weights, layers, activation)
        weights = {name: _less(value, turn[f"grad_{name}"], lr) for name, value in weights.items()}
        turn |= {f"new_{name}": value for name, value in weights.items()}
        turn = {name: value for name, value in turn.items() if name != "slope"}
        found |= turn | {f"step {k}/{name}": value for name, value in turn.items()}
    return found


def _forward(x: Matrix, w: Values, layers: int, activation: str) -> tuple[Values, list[Matrix]]:
    found: Values = {}
    inputs = [x]
    for k in range(1, layers + 1):
        found[f"z{k}"] = _with_bias(inputs[-1], w[f"w{k}"], w.get(f"b{k}"))
        if k < layers:
            found[f"a{k}"] = [[ACTIVATIONS[activation](e, 0) for e in row] for row in found[f"z{k}"]]
            inputs.append(found[f"a{k}"])
    return found, inputs


def _measured(z: Matrix, y: Any, loss: str) -> Values:
    """The loss, and its slope with respect to what comes out."""
    n = len(z)
    if loss == "cross-entropy":
        p = [shares(row) for row in z]
        wanted = y if isinstance(y[0], list) else [[float(j == c) for j in range(len(z[0]))] for c in y]
        losses = [-math.fsum(t * math.log(e) for e, t in row) for row in zip_rows(p, wanted)]
        slope = [[(e - t) / n for e, t in row] for row in zip_rows(p, wanted)]
        return {"losses": losses, "loss": math.fsum(losses) / n, "slope": slope}
    wanted = y if isinstance(y[0], list) else [[t] for t in y]
    factor = (2 if loss == "mse" else 1) / n
    errors = [[e - t for e, t in row] for row in zip_rows(z, wanted)]
    return {
        "loss": factor / 2 * math.fsum(e * e for row in errors for e in row),
        "slope": [[factor * e for e in row] for row in errors],
    }


def zip_rows(a: Matrix, b: Matrix) -> list[list[tuple[float, float]]]:
    return [[*zip(*rows, strict=True)] for rows in zip(a, b, strict=True)]


def _backward(
    inputs: list[Matrix], forward: Values, measured: Values, w: Values, layers: int, activation: str
) -> Values:
    found = dict(measured)
    delta = measured["slope"]
    for k in range(layers, 0, -1):
        found[f"delta{k}"] = delta
        found[f"grad_w{k}"] = times(turned(inputs[k - 1]), delta)
        if f"b{k}" in w:
            found[f"grad_b{k}"] = _sums(delta)
        if k > 1:
            back = times(delta, turned(w[f"w{k}"]))
            delta = [[g * SLOPES[activation](z) for g, z in row] for row in zip_rows(back, forward[f"z{k - 1}"])]
    return found


WITNESSES: dict[str, Callable[..., Values]] = {
    "derivative": derivative,
    "gradient": gradient,
    "descend": descend,
    "optimizer": optimizer,
    "schedule": schedule,
    "linear-regression": linear_regression,
    "mlp": mlp,
}
