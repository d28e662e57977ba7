"""Attention worked a second time, entry by entry, in loops over plain numbers; as in witness.py."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from witness.positions import bucket, rope, slopes
from witness.vectors import Matrix, Values, Vector, dotted, shares, times, turned


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


STEPS = ("scores", "scaled", "capped", "biased", "masked", "kept", "weights", "output")


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
    m = shape(k)[-2]
    rules["heads_of_alibi"] = lead[-1] if lead else 1
    if rules.get("rope"):
        shift = m - n if rules.get("causal_align") == "end" else 0
        q = made["q_rotated"] = by_head(q, shift, rules)
        theirs = rules.get("rope_key_positions") or rules.get("rope_positions")
        k = made["k_rotated"] = by_head(k, 0, rules | {"rope_positions": theirs})
    found: dict[str, dict[tuple[int, ...], Any]] = {name: {} for name in STEPS}
    for place in product(*map(range, lead)):
        keys, values = (_of_head(part, place, lead) for part in (k, v))
        for i in range(n):
            query = at(q, (*place, i)) if lead else q[i]
            steps = [_scores(query, keys[j], (*place, i, j), n, m, d_k, rules) for j in range(m)]
            for name in steps[0]:
                found[name][*place, i] = [entry[name] for entry in steps]
            last = [entry[list(entry)[-1]] for entry in steps]
            weights = shares(last)
            if rules.get("sinks"):
                *weights, sunk = shares([*last, rules["sinks"][place[-1]]])
                found["kept"][*place, i] = 1 - sunk
            found["weights"][*place, i] = weights
            found["output"][*place, i] = [
                math.fsum(w * value for w, value in zip(weights, column, strict=True) if w) for column in turned(values)
            ]
    return made | {name: nested(entries, (*lead, n)) for name, entries in found.items() if entries}


def by_head(x: Any, shift: int, rules: Values) -> Any:
    """Queries or keys turned by their places, head by head."""
    if len(shape(x)) > 2:
        return [by_head(part, shift, rules) for part in x]
    options = {name[5:]: value for name, value in rules.items() if name.startswith("rope_")}
    options.pop("key_positions", None)
    places = options.pop("positions", None) or [i + shift for i in range(len(x))]
    return rope(x, places, **options)["rotated"]


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
    if rules.get("bias") == "alibi":
        *lead, i, j = place
        slope = slopes(rules["heads_of_alibi"])[lead[-1]] if lead else 2.0**-8
        shift = m - n if rules.get("causal_align") == "end" else 0
        score = steps["biased"] = score - slope * abs(i + shift - j)
    elif rules.get("bias") == "t5":
        *lead, i, j = place
        shift = m - n if rules.get("causal_align") == "end" else 0
        table, farthest = rules["bias_table"], rules.get("max_distance", 128)
        score = steps["biased"] = (
            score + table[bucket(j - i - shift, len(table), farthest, bool(rules.get("causal")))][lead[-1]]
        )
    elif rules.get("bias") is not None:
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
    eps, norm = rest.pop("eps", 1e-5), rest.pop("norm", "rms")
    gains = {name: rest.pop(f"{name}_gamma", None) for name in "qk"}
    shifts = {name: rest.pop(f"{name}_beta", None) for name in "qk"}
    offset = rest.pop("norm_offset", 0)
    names = ("bq", "bk", "bv", "context")
    made = qkv(x, wq, wk, wv, **{name: rest.pop(name) for name in names if name in rest})
    over = rest.pop("qk_norm_over", "head") if rest.pop("qk_norm", False) else ""

    def sized(rows: Matrix, name: str) -> Matrix:
        return [normalised(row, norm, eps, gains[name], shifts[name], offset) for row in rows]

    plain = {name: sized(made[name], name) if over == "all" and name in "qk" else made[name] for name in "qkv"}
    split: Values = {
        name: [[row[h * len(row) // count : (h + 1) * len(row) // count] for row in plain[name]] for h in range(count)]
        for name, count in (("q", heads), ("k", kv_heads or heads), ("v", kv_heads or heads))
    }
    own = dict(split)
    if over == "head":
        own |= {name: [sized(head, name) for head in split[name]] for name in "qk"}
    found = attention(own["q"], own["k"], own["v"], **rest)
    joined = [[entry for head in found["output"] for entry in head[i]] for i in range(len(x))]
    return (
        made
        | {f"{name}_heads": heads_ for name, heads_ in split.items()}
        | found
        | {"heads": found["output"], "concatenated": joined, "output": projected(joined, wo, bo)}
    )


def normalised(
    row: Vector, kind: str, eps: float, gamma: Vector | None, beta: Vector | None, offset: float
) -> list[float]:
    """A query or a key of a head, with its norm."""
    middle = math.fsum(row) / len(row) if kind == "layer" else 0.0
    root = math.sqrt(math.fsum((e - middle) ** 2 for e in row) / len(row) + eps)
    return [
        (e - middle) / root * (gamma[i] + offset if gamma else 1) + (beta[i] if beta else 0) for i, e in enumerate(row)
    ]


def taken(given: dict[str, Any]) -> tuple[Matrix, Matrix, Matrix, Values]:
    """Queries, keys and values out of what is given, and what is told of them where they were made from tokens."""
    if "x" in given:
        x = given.pop("x")
        other = given.pop("context", x)
        made = {name: times(x if name == "q" else other, given.pop(f"w{name}")) for name in ("q", "k", "v")}
        return made["q"], made["k"], made["v"], made
    q = given.pop("q")
    return q, given.pop("k", q), given.pop("v", q), {}


def latent_attention(
    x: Matrix,
    wuq: Matrix,
    wqr: Matrix,
    wdkv: Matrix,
    wuk: Matrix,
    wuv: Matrix,
    wkr: Matrix,
    wo: Matrix,
    wdq: Matrix | None = None,
    q_gamma: Vector | None = None,
    kv_gamma: Vector | None = None,
    heads: int = 1,
    eps: float = 1e-6,
    bytes: int = 2,
    **rules: Any,
) -> Values:
    """Ordinary attention of every head, over what its latent says and where it stands, laid side by side."""

    def narrow(w: Matrix | None, gamma: Vector | None) -> Matrix:
        made = times(x, w) if w else x
        return [normalised(row, "rms", eps, gamma, None, 0) for row in made] if gamma else made

    def columns(made: Matrix, h: int, count: int) -> Matrix:
        return [row[h * len(row) // count : (h + 1) * len(row) // count] for row in made]

    asked, latent = narrow(wdq, q_gamma), narrow(wdkv, kv_gamma)
    places = rules.pop("rope_positions", None) or list(range(len(x)))
    turning = {name.removeprefix("rope_"): rules.pop(name) for name in list(rules) if name.startswith("rope_")}
    sharpness = (0.1 * turning.get("mscale_all_dim", 0) * math.log(turning.get("factor", 1)) + 1) ** 2
    turned_key = rope(times(x, wkr), places, **turning)["rotated"]
    rows: list[list[float]] = [[] for _ in x]
    weights = []
    for h in range(heads):
        turned_query = rope(columns(times(asked, wqr), h, heads), places, **turning)["rotated"]
        query = [[*a, *b] for a, b in zip(columns(times(asked, wuq), h, heads), turned_query, strict=True)]
        query = [[sharpness * e for e in row] for row in query]
        key = [[*a, *b] for a, b in zip(columns(times(latent, wuk), h, heads), turned_key, strict=True)]
        found = attention(query, key, columns(times(latent, wuv), h, heads), **rules)
        weights.append(found["weights"])
        rows = [[*row, *more] for row, more in zip(rows, found["output"], strict=True)]
    kept = len(wdkv[0]) + len(wkr[0])
    own = len(wuk[0]) + len(wqr[0]) + len(wuv[0])
    return {
        "weights": weights,
        "concatenated": rows,
        "output": times(rows, wo),
        "cached_bytes": bytes * len(x) * kept,
        "full_bytes": bytes * len(x) * own,
        "largest_difference": 0.0,
    }


def linear_attention(*, feature: str = "elu", unnormalised: bool = False, **operands: Any) -> Values:
    """Every output by itself, as weights over the keys so far; the states as sums over them."""
    q, k, v, found = taken(operands)

    def phi(rows: Matrix) -> Matrix:
        return [[e + 1 if e > 0 else math.exp(e) for e in row] for row in rows]

    if feature == "elu":
        q, k = phi(q), phi(k)
        found |= {"q_features": q, "k_features": k}
    rows = []
    for t in range(len(q)):
        weights = [sum(a * b for a, b in zip(q[t], key, strict=True)) for key in k[: t + 1]]
        whole = 1.0 if unnormalised else math.fsum(weights)
        mixed = [math.fsum(w * row[c] for w, row in zip(weights, v[: t + 1], strict=True)) for c in range(len(v[0]))]
        rows.append([e / whole for e in mixed])
        found[f"token {t + 1}/state"] = times([list(column) for column in zip(*k[: t + 1], strict=True)], v[: t + 1])
        found[f"token {t + 1}/output"] = [rows[-1]]
        if not unnormalised:
            found[f"token {t + 1}/sum"] = [math.fsum(column) for column in zip(*k[: t + 1], strict=True)]
    return found | {"output": rows, "parallel/output": rows, "largest_difference": 0.0}


def ssm(
    x: Matrix,
    delta: Matrix,
    a: Matrix,
    b: Matrix,
    c: Matrix,
    skip: Sequence[float] = (),
    a_log: bool = False,
    delta_softplus: bool = False,
    discretization: str = "euler",
) -> Values:
    """Every state by itself, as a sum over the tokens so far of what they added and what has faded since."""
    found: Values = {}
    if a_log:
        a = found["rates"] = [[-math.exp(e) for e in row] for row in a]
    if delta_softplus:
        delta = found["durations"] = [[math.log1p(math.exp(e)) for e in row] for row in delta]

    def added(t: int, d: int, s: int) -> float:
        held = delta[t][d] if discretization == "euler" else math.expm1(delta[t][d] * a[d][s]) / a[d][s]
        return held * b[t][s] * x[t][d]

    def state(t: int, d: int, s: int) -> float:
        since = [math.fsum(delta[u][d] for u in range(j + 1, t + 1)) for j in range(t + 1)]
        return math.fsum(math.exp(a[d][s] * since[j]) * added(j, d, s) for j in range(t + 1))

    tokens, channels, entries = range(len(x)), range(len(a)), range(len(a[0]))
    found["decay"] = [[[math.exp(delta[t][d] * a[d][s]) for s in entries] for d in channels] for t in tokens]
    found["added"] = [[[added(t, d, s) for s in entries] for d in channels] for t in tokens]
    states = [[[state(t, d, s) for s in entries] for d in channels] for t in tokens]
    read = [[math.fsum(h * e for h, e in zip(row, c[t], strict=True)) for row in states[t]] for t in tokens]
    for t in tokens:
        found |= {f"token {t + 1}/state": states[t], f"token {t + 1}/read": read[t]}
    past = [[skip[d] * x[t][d] if skip else 0.0 for d in channels] for t in tokens]
    output = [[r + p for r, p in zip(*rows, strict=True)] for rows in zip(read, past, strict=True)]
    return found | {"output": output, "scan/output": output, "largest_difference": 0.0}


def kv_cache(*, bytes: int = 2, **rules: Any) -> Values:
    q, k, v, found = taken(rules)
    for t in range(len(q)):
        row = attention([q[t]], k[: t + 1], v[: t + 1], **rules)
        found |= {f"token {t + 1}/{name}": row[name] for name in ("scores", "weights", "output")}
        found[f"token {t + 1}/cached_bytes"] = bytes * (t + 1) * (len(k[0]) + len(v[0]))
    return found | {"output": attention(q, k, v, causal=True, **rules)["output"], "largest_difference": 0.0}


def flash(*, block: int = 2, **rules: Any) -> Values:
    """The running maximum and sum over the keys up to each block's end, found from the whole row each time."""
    q, k, v, found = taken(rules)
    whole = attention(q, k, v, **rules)
    rows = whole.get("masked") or whole.get("scaled") or whole["scores"]
    found |= {"output": whole["output"]}
    for b, start in enumerate(range(0, len(k), block), start=1):
        seen = [row[: start + block] for row in rows]
        tops = [max(*row, -1e300) for row in seen]  # where all are masked no number is subtracted
        sizes = [[math.exp(e - top) for e in row] for row, top in zip(seen, tops, strict=True)]
        found |= {
            f"block {b}/scores": [row[start : start + block] for row in rows],
            f"block {b}/maximum": [max(row) for row in seen],
            f"block {b}/sum": [math.fsum(row) for row in sizes],
            f"block {b}/accumulator": times(sizes, v[: start + block]),
        }
    return found


WITNESSES: dict[str, Callable[..., Values]] = {
    "qkv": qkv,
    "attention": attention,
    "multihead": multihead,
    "latent-attention": latent_attention,
    "linear-attention": linear_attention,
    "ssm": ssm,
    "kv-cache": kv_cache,
    "flash": flash,
}
