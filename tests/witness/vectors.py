"""Vectors, distances, products and softmax worked a second time, by loops over plain numbers; as in witness.py."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

Vector = Sequence[float]
Matrix = Sequence[Vector]
Values = dict[str, Any]


def dotted(a: Vector, b: Vector) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def turned(matrix: Matrix) -> list[list[float]]:
    return [list(column) for column in zip(*matrix, strict=True)]


def times(a: Matrix, b: Matrix) -> list[list[float]]:
    return [[dotted(row, column) for column in turned(b)] for row in a]


def length(a: Vector, p: float = 2) -> float:
    """The p-norm, by the largest entry, so that nothing overflows."""
    largest = max(map(abs, a))
    return largest * math.fsum((abs(x) / largest) ** p for x in a) ** (1 / p) if largest else 0.0


def shares(x: Vector) -> list[float]:
    """The softmax; nothing where all is masked."""
    top = max(x)
    if top == -math.inf:
        return [0.0] * len(x)
    sizes = [math.exp(e - top) for e in x]
    return [size / math.fsum(sizes) for size in sizes]


# Vectors and distances


def dot(a: Vector, b: Vector) -> Values:
    return {"products": [x * y for x, y in zip(a, b, strict=True)], "dot": dotted(a, b)}


def outer(a: Vector, b: Vector) -> Values:
    return {"outer": [[x * y for y in b] for x in a]}


def norm(a: Vector, p: Any = 2) -> Values:
    if p == "inf":
        return {"powers": [abs(x) for x in a], "sum": max(map(abs, a)), "norm": max(map(abs, a))}
    powers = [math.exp(p * math.log(abs(x))) for x in a]
    return {"powers": powers, "sum": math.fsum(powers), "norm": length(a, p)}


def cosine(a: Vector, b: Vector, distance: bool = False) -> Values:
    similarity = dotted(a, b) / (math.hypot(*a) * math.hypot(*b))
    unit_a, unit_b = ([x / math.hypot(*v) for x in v] for v in (a, b))
    together = math.hypot(*(x + y for x, y in zip(unit_a, unit_b, strict=True)))
    angle = 2 * math.degrees(math.atan2(math.dist(unit_a, unit_b), together))
    found = {
        "dot": dotted(a, b),
        "norm_a": math.hypot(*a),
        "norm_b": math.hypot(*b),
        "norm_product": math.hypot(*a) * math.hypot(*b),
        "cosine": similarity,
        "angle": angle,
    }
    return found | ({"distance": 1 - similarity} if distance else {})


def minkowski(a: Vector, b: Vector, p: float = 3) -> Values:
    difference = [x - y for x, y in zip(a, b, strict=True)]
    powers = [abs(d) ** p for d in difference]
    return {"difference": difference, "powers": powers, "sum": math.fsum(powers), "distance": length(difference, p)}


def euclidean(a: Vector, b: Vector, squared: bool = False) -> Values:
    found = minkowski(a, b, 2)
    distance = found["sum"] if squared else math.dist(a, b)
    return {"difference": found["difference"], "squares": found["powers"], "sum": found["sum"], "distance": distance}


def manhattan(a: Vector, b: Vector) -> Values:
    found = minkowski(a, b, 1)
    return {"difference": found["difference"], "absolute": found["powers"], "distance": found["sum"]}


def chebyshev(a: Vector, b: Vector) -> Values:
    found = manhattan(a, b)
    return found | {"distance": max(found["absolute"])}


METRICS: dict[str, Callable[[Vector, Vector, float], float]] = {
    "cosine-similarity": lambda a, b, p: dotted(a, b) / (math.hypot(*a) * math.hypot(*b)),
    "cosine": lambda a, b, p: 1 - dotted(a, b) / (math.hypot(*a) * math.hypot(*b)),
    "euclidean": lambda a, b, p: math.dist(a, b),
    "sqeuclidean": lambda a, b, p: math.dist(a, b) ** 2,
    "manhattan": lambda a, b, p: math.fsum(abs(x - y) for x, y in zip(a, b, strict=True)),
    "chebyshev": lambda a, b, p: max(abs(x - y) for x, y in zip(a, b, strict=True)),
    "minkowski": lambda a, b, p: length([x - y for x, y in zip(a, b, strict=True)], p),
    "dot": lambda a, b, p: dotted(a, b),
}


def pairwise(x: Matrix, y: Matrix | None = None, metric: str = "cosine-similarity", p: float = 3) -> Values:
    measured = {"distances": [[METRICS[metric](a, b, p) for b in (y or x)] for a in x]}
    given = {"x": x} | ({"y": y} if y else {}) if metric.startswith("cosine") else {}
    return measured | {
        f"unit_{name}": [[n / length(row, 2) for n in row] for row in rows] for name, rows in given.items()
    }


def project(a: Vector, onto: Any) -> Values:
    if not isinstance(onto[0], list):
        coefficient = dotted(a, onto) / dotted(onto, onto)
        shadow = [coefficient * x for x in onto]
        rest = [x - y for x, y in zip(a, shadow, strict=True)]
        found = {"dot": dotted(a, onto), "squared_norm": dotted(onto, onto), "coefficient": coefficient}
        return found | {"projection": shadow, "residual": rest}
    columns, rest = orthogonal(turned(onto)), list(a)
    for column in columns:
        share = dotted(rest, column) / dotted(column, column)
        rest = [x - share * y for x, y in zip(rest, column, strict=True)]
    shadow = [x - y for x, y in zip(a, rest, strict=True)]
    gram = [[dotted(b, c) for c in turned(onto)] for b in turned(onto)]
    return {"gram": gram, "projection": shadow, "residual": rest}


def orthogonal(columns: Matrix) -> list[list[float]]:
    """Gram and Schmidt's: columns at right angles that span the same."""
    found: list[list[float]] = []
    for column in columns:
        rest = list(column)
        for one in found:
            share = dotted(rest, one) / dotted(one, one)
            rest = [x - share * y for x, y in zip(rest, one, strict=True)]
        found.append(rest)
    return found


def best(scores: Vector, top: int) -> list[int]:
    return sorted(range(len(scores)), key=lambda i: -scores[i])[:top]


def mips(q: Vector, keys: Matrix, top: int = 1) -> Values:
    scores = [dotted(q, key) for key in keys]
    return {"scores": scores, "ranking": best(scores, top)}


def analogy(a: Vector, b: Vector, c: Vector, vocabulary: Matrix, top: int = 3) -> Values:
    target = [x - y + z for x, y, z in zip(a, b, c, strict=True)]
    similarities = [METRICS["cosine-similarity"](target, word, 0) for word in vocabulary]
    others = [-2 if word in (a, b, c) else s for word, s in zip(vocabulary, similarities, strict=True)]
    return {"target": target, "similarities": similarities, "ranking": best(others, top)}


# Matrices


def matmul(**factors: Matrix) -> Values:
    first, *others = factors.values()
    found = {}
    for i, factor in enumerate(others, start=1):
        first = times(first, factor)
        found["product" if i == len(others) else f"product_{i}"] = first
    return found


# Probability


def along(x: Any, axis: int) -> Matrix:
    """The vectors of a matrix, or the only one, along an axis."""
    if not isinstance(x[0], list):
        return [x]
    return x if axis in (-1, 1) else turned(x)


def back(rows: list[Any], x: Any, axis: int) -> Any:
    """Vectors along an axis put together again as x is."""
    if not isinstance(x[0], list):
        return rows[0]
    return rows if axis in (-1, 1) or not isinstance(rows[0], list) else turned(rows)


def softmax(x: Any, axis: int = -1, temperature: float = 1, log: bool = False) -> Values:
    rows = [[e / temperature for e in row] for row in along(x, axis)]
    if log:
        scaled = back(rows, x, axis)
        return {"scaled": scaled} | log_softmax(scaled, axis)
    shifted = [[e - max(row) for e in row] for row in rows]
    exponentials = [[math.exp(e) for e in row] for row in shifted]
    found = {
        "shifted": back(shifted, x, axis),
        "exponentials": back(exponentials, x, axis),
        "sum": back([math.fsum(row) for row in exponentials], x, axis),
        "softmax": back([shares(row) for row in rows], x, axis),
    }
    return found | ({"scaled": back(rows, x, axis)} if temperature != 1 else {})


def log_softmax(x: Any, axis: int = -1) -> Values:
    rows = along(x, axis)
    whole = [max(row) + math.log(math.fsum(math.exp(e - max(row)) for e in row)) for row in rows]
    return {
        "shifted": softmax(x, axis)["shifted"],
        "logsumexp": back(whole, x, axis),
        "log_softmax": back([[e - w for e in row] for row, w in zip(rows, whole, strict=True)], x, axis),
    }


WITNESSES: dict[str, Callable[..., Values]] = {
    "dot": dot,
    "outer": outer,
    "norm": norm,
    "cosine": cosine,
    "euclidean": euclidean,
    "manhattan": manhattan,
    "chebyshev": chebyshev,
    "minkowski": minkowski,
    "pairwise": pairwise,
    "project": project,
    "mips": mips,
    "analogy": analogy,
    "matmul": matmul,
    "softmax": softmax,
    "log-softmax": log_softmax,
}
