"""Every calculation worked a second time, by loops over plain numbers: the witness to attncalc's own values.

Nothing of attncalc is used here. A witness takes the operands as nested lists and the options by name, and returns
the steps and outputs that it knows by their names. A new calculation needs a row in WITNESSES.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import witness_probability

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
    angle = 2 * math.degrees(math.atan2(math.dist(unit_a, unit_b), math.hypot(*map(sum, zip(unit_a, unit_b, strict=True)))))
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
    return found | {"distance": sorted(found["absolute"])[-1]}


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
    return {"distances": [[METRICS[metric](a, b, p) for b in (y or x)] for a in x]}


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


def softmax(x: Any, axis: int = -1, temperature: float = 1) -> Values:
    rows = [[e / temperature for e in row] for row in along(x, axis)]
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


# Attention


def projected(x: Matrix, w: Matrix, bias: Vector | None) -> list[list[float]]:
    return [[entry + (bias[j] if bias else 0) for j, entry in enumerate(row)] for row in times(x, w)]


def qkv(
    x: Matrix,
    wq: Matrix,
    wk: Matrix,
    wv: Matrix,
    bq: Vector | None = None,
    bk: Vector | None = None,
    bv: Vector | None = None,
    context: Matrix | None = None,
) -> Values:
    other = context or x
    return {"q": projected(x, wq, bq), "k": projected(other, wk, bk), "v": projected(other, wv, bv)}


def shape(x: Any) -> tuple[int, ...]:
    return (len(x), *shape(x[0])) if isinstance(x, list) else ()


def at(x: Any, place: Sequence[int]) -> Any:
    """The entry, or the part, at a place, read from the right as broadcasting does: axes of size 1 are any size."""
    rank = len(shape(x))
    for i in list(place)[len(place) - rank :] if rank < len(place) else place:
        x = x[i if len(x) > 1 else 0]
    return x


def attention(
    q: Any = None,
    k: Any = None,
    v: Any = None,
    *,
    x: Any = None,
    wq: Any = None,
    wk: Any = None,
    wv: Any = None,
    context: Any = None,
    **rules: Any,
) -> Values:
    """Every entry by itself: over the leading places, then the queries, then the keys."""
    made: Values = {}
    if x is not None:
        made = qkv(x, wq, wk, wv, context=context)
        q, k, v = made["q"], made["k"], made["v"]
    k = q if k is None else k
    v = k if v is None else v
    *lead, n, d_k = shape(q)
    m, rows = shape(k)[-2], dict.fromkeys(("scores", "scaled", "capped", "biased", "masked", "weights", "output"), {})
    found = {name: dict[tuple[int, ...], Any]() for name in rows}
    for place in product(*map(range, lead)):
        keys, values = (_of_head(part, place, lead) for part in (k, v))
        for i in range(n):
            query = at(q, (*place, i)) if lead else q[i]
            steps = [_scores(query, keys[j], (*place, i, j), n, m, d_k, rules) for j in range(m)]
            for name in steps[0]:
                found[name][*place, i] = [entry[name] for entry in steps]
            last = [entry[list(entry)[-1]] for entry in steps]
            weights = shares(last)
            found["weights"][*place, i] = weights
            found["output"][*place, i] = [
                math.fsum(w * value for w, value in zip(weights, column, strict=True) if w) for column in turned(values)
            ]
    return made | {name: nested(entries, (*lead, n)) for name, entries in found.items() if entries}


def nested(entries: dict[tuple[int, ...], Any], sizes: Sequence[int], place: tuple[int, ...] = ()) -> Any:
    """Lists within lists from entries by their places."""
    if len(place) == len(sizes):
        return entries[place]
    return [nested(entries, sizes, (*place, i)) for i in range(sizes[len(place)])]


def _of_head(part: Any, place: tuple[int, ...], lead: Sequence[int]) -> Matrix:
    """The keys or values of a head; consecutive query heads share one where there are fewer."""
    theirs = shape(part)[:-2]
    here = list(place)[len(place) - len(theirs) :]
    if theirs and theirs[-1] != lead[-1]:
        here[-1] //= lead[-1] // theirs[-1]
    for i in here:
        part = part[i]
    return part  # type: ignore[no-any-return]  # what is left of nested lists is a matrix


def _scores(query: Vector, key: Vector, place: tuple[int, ...], n: int, m: int, d_k: int, rules: Values) -> Values:
    """One score on its way: scores, scaled, capped, biased, masked, as many of them as there are."""
    score = dotted(query, key)
    steps = {"scores": score}
    masked = _masking(place, n, m, rules)
    scale = rules.get("scale", "default")
    if masked and rules.get("mask_before_scale"):
        score = steps["masked"] = masked(score)
    if scale != "none":
        score = steps["scaled"] = score / math.sqrt(d_k) if scale == "default" else score * scale
    if rules.get("softcap"):
        score = steps["capped"] = rules["softcap"] * math.tanh(score / rules["softcap"])
    if rules.get("bias") is not None:
        score = steps["biased"] = score + at(rules["bias"], place)
    if masked and not rules.get("mask_before_scale"):
        score = steps["masked"] = masked(score)
    return steps


def _masking(place: tuple[int, ...], n: int, m: int, rules: Values) -> Callable[[float], float] | None:
    """What happens to a score that may be masked; nothing where no rule asks for it."""
    *lead, i, j = place
    added = 0.0
    hidden = []
    shift = m - n if rules.get("causal_align") == "end" else 0
    if rules.get("causal"):
        hidden.append(j > i + shift)
    if rules.get("window"):
        hidden.append(i + shift - j >= rules["window"])
        if not rules.get("causal"):
            hidden.append(j - (i + shift) >= rules["window"])
    if rules.get("padding"):
        lengths = rules["padding"]
        hidden.append(j >= (lengths[lead[0]] if len(lengths) > 1 else lengths[0]))
    if rules.get("mask") is not None:
        entry, kind = at(rules["mask"], place), rules.get("mask_kind") or kind_of_mask(rules["mask"])
        if kind == "additive":
            added = entry
        hidden.append(kind != "additive" and bool(entry) == (kind == "drop"))
    if not hidden:
        return None
    return lambda score: -math.inf if any(hidden) else score + added


def kind_of_mask(mask: Any) -> str:
    """What a mask says where nobody says it: true and false, or only 0 and 1, keep; other numbers are added."""
    flat = [mask]
    while isinstance(flat[0], list):
        flat = [entry for part in flat for entry in part]
    return "keep" if all(entry in (0, 1) for entry in flat) else "additive"


def multihead(
    x: Matrix,
    wq: Matrix,
    wk: Matrix,
    wv: Matrix,
    wo: Matrix,
    bo: Vector | None = None,
    heads: int = 1,
    kv_heads: int | None = None,
    **rest: Any,
) -> Values:
    """Each head by itself, on its own block of columns."""
    names = ("bq", "bk", "bv", "context")
    made = qkv(x, wq, wk, wv, **{name: rest.pop(name) for name in names if name in rest})
    split = {
        name: [[row[h * len(row) // count : (h + 1) * len(row) // count] for row in made[name]] for h in range(count)]
        for name, count in (("q", heads), ("k", kv_heads or heads), ("v", kv_heads or heads))
    }
    found = attention(split["q"], split["k"], split["v"], **rest)
    joined = [[entry for head in found["output"] for entry in head[i]] for i in range(len(x))]
    return (
        made
        | {f"{name}_heads": heads_ for name, heads_ in split.items()}
        | found
        | {"heads": found["output"], "concatenated": joined, "output": projected(joined, wo, bo)}
    )


def kv_cache(q: Matrix, k: Matrix, v: Matrix, bytes: int = 2, **rules: Any) -> Values:  # noqa: A002 (the option's name)
    found: Values = {}
    for t in range(len(q)):
        row = attention([q[t]], k[: t + 1], v[: t + 1], **rules)
        found |= {f"token {t + 1}/{name}": row[name] for name in ("scores", "weights", "output")}
        found[f"token {t + 1}/cached_bytes"] = bytes * (t + 1) * (len(k[0]) + len(v[0]))
    return found | {"output": attention(q, k, v, causal=True, **rules)["output"], "largest_difference": 0.0}


def flash(q: Matrix, k: Matrix, v: Matrix, block: int = 2, **rules: Any) -> Values:
    """The running maximum and sum over the keys up to each block's end, found from the whole row each time."""
    whole = attention(q, k, v, **rules)
    rows = whole.get("masked") or whole.get("scaled") or whole["scores"]
    found: Values = {"output": whole["output"]}
    for b, start in enumerate(range(0, len(k), block), start=1):
        seen = [row[: start + block] for row in rows]
        sizes = [[math.exp(e - max(row)) for e in row] for row in seen]
        found |= {
            f"block {b}/scores": [row[start : start + block] for row in rows],
            f"block {b}/maximum": [max(row) for row in seen],
            f"block {b}/sum": [math.fsum(row) for row in sizes],
            f"block {b}/accumulator": times(sizes, v[: start + block]),
        }
    return found


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
    "qkv": qkv,
    "attention": attention,
    "multihead": multihead,
    "kv-cache": kv_cache,
    "flash": flash,
    **witness_probability.WITNESSES,
}
