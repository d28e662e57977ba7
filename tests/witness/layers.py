"""Layers, blocks and the whole transformer worked a second time, by loops over plain numbers; as in witness.py."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import chain, pairwise, product
from typing import Any

from witness.attention import multihead, projected
from witness.positions import sinusoidal
from witness.vectors import Matrix, Values, Vector, dotted, shares, times, turned


def normalised(x: Matrix, eps: float) -> Values:
    """Every row by itself."""
    means = [math.fsum(row) / len(row) for row in x]
    centered = [[e - mean for e in row] for row, mean in zip(x, means, strict=True)]
    variances = [math.fsum(e * e for e in row) / len(row) for row in centered]
    deviations = [math.sqrt(v + eps) for v in variances]
    return {
        "mean": means,
        "centered": centered,
        "variance": variances,
        "standard_deviation": deviations,
        "normalized": [[e / s for e in row] for row, s in zip(centered, deviations, strict=True)],
    }


def affine(rows: Matrix, gamma: Vector | None, beta: Vector | None) -> list[list[float]]:
    return [
        [(gamma[j] if gamma else 1) * entry + (beta[j] if beta else 0) for j, entry in enumerate(row)] for row in rows
    ]


def layernorm(
    x: Matrix, gamma: Vector | None = None, beta: Vector | None = None, eps: float = 1e-5, norm_offset: float = 0
) -> Values:
    found = normalised(x, eps)
    return found | {"output": affine(found["normalized"], raised(gamma, norm_offset), beta)}


def raised(gamma: Vector | None, offset: float) -> Vector | None:
    return gamma and [g + offset for g in gamma]


def batchnorm(x: Matrix, gamma: Vector | None = None, beta: Vector | None = None, eps: float = 1e-5) -> Values:
    found = normalised(turned(x), eps)
    upright = {name: turned(rows) for name, rows in found.items() if name in ("centered", "normalized")}
    return found | upright | {"output": affine(upright["normalized"], gamma, beta)}


def rmsnorm(x: Matrix, gamma: Vector | None = None, eps: float = 1e-6, norm_offset: float = 0) -> Values:
    squares = [[e * e for e in row] for row in x]
    means = [math.fsum(row) / len(row) for row in squares]
    roots = [math.sqrt(mean + eps) for mean in means]
    normalized = [[e / root for e in row] for row, root in zip(x, roots, strict=True)]
    return {
        "squares": squares,
        "mean_square": means,
        "root_mean_square": roots,
        "normalized": normalized,
        "output": affine(normalized, raised(gamma, norm_offset), None),
    }


def sigma(x: float) -> float:
    return 0.5 * (1 + math.tanh(x / 2))


def _gelu_tanh_inner(x: float) -> float:
    return 0.7978845608028654 * (x + 0.044715 * x * x * x)


ACTIVATIONS: dict[str, Callable[[float, float], float]] = {
    "relu": lambda x, alpha: (x + abs(x)) / 2,
    "leaky-relu": lambda x, alpha: x if x > 0 else alpha * x,
    "elu": lambda x, alpha: x if x > 0 else alpha * math.expm1(x),
    "sigmoid": lambda x, alpha: sigma(x),
    "tanh": lambda x, alpha: math.tanh(x),
    "gelu": lambda x, alpha: 0.5 * x * math.erfc(-x / math.sqrt(2)),
    "gelu-tanh": lambda x, alpha: 0.5 * x * (1 + math.tanh(_gelu_tanh_inner(x))),
    "gelu-sigmoid": lambda x, alpha: x * sigma(1.702 * x),
    "silu": lambda x, alpha: x * sigma(x),
    "softplus": lambda x, alpha: math.log1p(math.exp(x)),
}
INNER: dict[str, Callable[[float], float]] = {
    "gelu": lambda x: x / math.sqrt(2),
    "gelu-tanh": _gelu_tanh_inner,
    "gelu-sigmoid": lambda x: 1.702 * x,
}


def entrywise(x: Any, function: Callable[[float], float]) -> Any:
    return [entrywise(part, function) for part in x] if isinstance(x, list) else function(x)


def activation(x: Any, kind: str = "relu", alpha: float | None = None) -> Values:
    function = ACTIVATIONS[kind]
    a = {"leaky-relu": 0.01, "elu": 1.0}.get(kind, 0.0) if alpha is None else alpha

    found = {"output": entrywise(x, lambda e: function(e, a))}
    return found | ({"inner": entrywise(x, INNER[kind])} if kind in INNER else {})


GATED = {"swiglu": "silu", "geglu": "gelu", "geglu-tanh": "gelu-tanh", "reglu": "relu", "glu": "sigmoid"}
GATED["swiglu-clamped"] = "gelu-sigmoid"


def ffn(
    x: Matrix,
    w1: Matrix,
    b1: Vector | None = None,
    w2: Matrix | None = None,
    b2: Vector | None = None,
    w3: Matrix | None = None,
    b3: Vector | None = None,
    activation: str = "relu",
) -> Values:
    assert w2 is not None
    kind = GATED.get(activation, activation)
    clamped = activation == "swiglu-clamped"
    hidden = projected(x, w1, b1)
    alpha = {"leaky-relu": 0.01, "elu": 1.0}.get(kind, 0.0)
    activated = entrywise(hidden, lambda e: ACTIVATIONS[kind](min(e, 7.0) if clamped else e, alpha))
    found = {"hidden": hidden, "activated": activated}
    if w3 is not None:
        found["linear"] = projected(x, w3, b3)
        passed = entrywise(found["linear"], lambda e: min(max(e, -7.0), 7.0) + 1 if clamped else e)
        activated = [[a * e for a, e in zip(*rows, strict=True)] for rows in zip(activated, passed, strict=True)]
        found["gated"] = activated
    return found | {"output": projected(activated, w2, b2)}


def residual(x: Matrix, f: Matrix, alpha: float = 1, norm: str = "none") -> Values:
    scaled = [[alpha * e for e in row] for row in f]
    total = added(x, scaled)
    return {"scaled": scaled, "sum": total, "output": total if norm == "none" else layernorm(total)["output"]}


def added(a: Matrix, b: Matrix) -> list[list[float]]:
    return [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(a, b, strict=True)]


def embed(
    tokens: Sequence[int],
    table: Matrix,
    positions: Any = None,
    scale: bool = False,
    types: Sequence[int] | None = None,
    type_table: Matrix | None = None,
) -> Values:
    rows = [[(math.sqrt(len(table[0])) if scale else 1) * e for e in table[token]] for token in tokens]
    found: Values = {"embeddings": rows}
    if type_table is not None:
        found["types"] = [type_table[number] for number in types or [0] * len(tokens)]
        rows = added(rows, found["types"])
    if positions is None:
        return found | {"output": rows}
    if isinstance(positions, str):
        layout = "concatenated" if positions.endswith("concatenated") else "interleaved"
        positions = sinusoidal(len(tokens), len(table[0]), layout=layout)["encoding"]
    places = positions[: len(tokens)]
    return found | {"positions": places, "output": added(rows, places)}


def unembed(h: Matrix, table: Matrix) -> Values:
    logits = [[dotted(row, word) for word in table] for row in h]
    return {"logits": logits, "probabilities": [shares(row) for row in logits]}


def groupnorm(
    x: Any, gamma: Vector | None = None, beta: Vector | None = None, groups: int = 1, eps: float = 1e-5
) -> Values:
    deep = _depth(x) == 3
    flat = [[e for row in channel for e in row] if deep else list(channel) for channel in x]
    each, size = len(flat) // groups, len(flat[0])
    rows = [[e for channel in flat[g * each : (g + 1) * each] for e in channel] for g in range(groups)]
    found = normalised(rows, eps) | {"grouped": rows}
    output: Any = []
    for c in range(len(flat)):
        start = c % each * size
        own = found["normalized"][c // each][start : start + size]
        made = [e * (gamma[c] if gamma else 1) + (beta[c] if beta else 0) for e in own]
        across = len(x[0][0]) if deep else size
        output.append([made[i : i + across] for i in range(0, size, across)] if deep else made)
    return found | {"output": output}


def patch_embed(
    x: Any, w: Any, b: Vector | None = None, cls: Vector | None = None, positions: Matrix | None = None
) -> Values:
    kh, kw = len(w[0][0]), len(w[0][0][0])

    def feature(kernel: Any, top: int, left: int) -> float:
        return math.fsum(
            weight * x[c][top + i][left + j]
            for c, plane in enumerate(kernel)
            for i, row in enumerate(plane)
            for j, weight in enumerate(row)
        )

    if _depth(x) == 2:  # rows of patches: a picture of one channel, each a patch of one row
        w = [[[[e for plane in kernel for row in plane for e in row]]] for kernel in w]
        x, kh, kw = [x], 1, len(x[0])
    corners = [(top, left) for top in range(0, len(x[0]), kh) for left in range(0, len(x[0][0]), kw)]
    found: Values = {"embedded": [[feature(k, *at) + (b[o] if b else 0) for o, k in enumerate(w)] for at in corners]}
    output = found["embedded"]
    if cls:
        found["with_class"] = output = [cls, *output]
    if positions:
        output = added(output, positions)
    return found | {"output": output}


def conv(
    x: Any,
    kernel: Any,
    stride: Sequence[int] = (1,),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    depthwise: bool = False,
) -> Values:
    """A row is a picture of one line; a picture one of one channel; a kernel one of one output."""
    if depthwise:
        alone = [conv(plane, own, stride, padding, dilation)["output"] for plane, own in zip(x, kernel, strict=True)]
        return {"output": alone}
    flat, channels, several = not isinstance(x[0], list), _depth(x) == 3, _depth(kernel) == 4
    shared = channels and _depth(kernel) == 2
    picture = [[x]] if flat else x if channels else [x]
    kernels = [[[kernel]]] if flat else kernel if several else [kernel] if channels and not shared else [[kernel]]
    moves = [(1, value[0]) if flat else (value[0], value[-1]) for value in (stride, dilation)]
    edges = (0, padding[0]) if flat else (padding[0], padding[-1])

    def entry(c: int, i: int, j: int) -> float:
        inside = 0 <= i < len(picture[c]) and 0 <= j < len(picture[c][0])
        return float(picture[c][i][j]) if inside else 0.0

    def at(o: int, channel: int | None, i: int, j: int) -> float:
        chosen = [channel] if channel is not None else range(len(picture))
        return math.fsum(
            entry(c, i * moves[0][0] + a * moves[1][0] - edges[0], j * moves[0][1] + b * moves[1][1] - edges[1])
            * weight
            for c in chosen
            for a, row in enumerate(kernels[o][0 if channel is not None else c])
            for b, weight in enumerate(row)
        )

    down, across = len(kernels[0][0]), len(kernels[0][0][0])
    sizes = [
        (size + 2 * edge - dilated * (reach - 1) - 1) // move + 1
        for size, edge, dilated, reach, move in zip(
            (len(picture[0]), len(picture[0][0])), edges, moves[1], (down, across), moves[0], strict=True
        )
    ]
    planes = [
        [[at(o, c, i, j) for j in range(sizes[1])] for i in range(sizes[0])]
        for o, c in (product([0], range(len(picture))) if shared else product(range(len(kernels)), [None]))
    ]
    if flat:
        return {"output": planes[0][0]}
    return {"output": planes if several or shared else planes[0]}


def _depth(x: Any) -> int:
    return 1 + _depth(x[0]) if isinstance(x, list) else 0


def rnn(
    x: Matrix,
    wx: Matrix,
    wh: Matrix,
    b: Vector | None = None,
    h0: Vector | None = None,
    c0: Vector | None = None,
    kind: str = "tanh",
) -> Values:
    """One unit after the other, each with its own columns."""
    width = len(wh)
    hidden, cell = list(h0 or [0.0] * width), list(c0 or [0.0] * width)
    found: Values = {}
    states = []
    for t, row in enumerate(x, start=1):
        a, u = projected([row], wx, b)[0], times([hidden], wh)[0]
        new, gates = [], []
        for k in range(width):
            own = range(k, len(a), width)
            if kind == "tanh":
                new.append(math.tanh(a[k] + u[k]))
            elif kind == "lstm":
                i, f, g, o = (a[c] + u[c] for c in own)
                gates.append([sigma(i), sigma(f), math.tanh(g), sigma(o)])
                cell[k] = gates[-1][1] * cell[k] + gates[-1][0] * gates[-1][2]
                new.append(gates[-1][3] * math.tanh(cell[k]))
            else:
                r, z, n = own
                reset, update = sigma(a[r] + u[r]), sigma(a[z] + u[z])
                candidate = math.tanh(a[n] + reset * u[n])
                gates.append([reset, update, candidate])
                new.append(candidate + update * (hidden[k] - candidate))
        hidden = new
        states.append(hidden)
        found[f"time step {t}/hidden"] = hidden
        if gates:
            found[f"time step {t}/gates"] = turned(gates)
        if kind == "lstm":
            found[f"time step {t}/cell"] = list(cell)
    last = {"hidden": hidden} | ({"cell": list(cell)} if kind == "lstm" else {})
    return found | {"states": states} | last


# Experts


def experts(
    x: Matrix,
    router: Matrix,
    w1: Any,
    w2: Any,
    top: int = 2,
    scoring: str = "softmax",
    no_renormalise: bool = False,
    routed_scale: float = 1,
    capacity: int | None = None,
    activation: str = "swiglu",
    groups: int = 1,
    top_groups: int = 1,
    group_by: str = "best",
    **given: Any,
) -> Values:
    """Token by token: only the experts that were chosen are asked."""

    def asked(row: list[float]) -> list[int]:
        """The experts that are chosen for a token: of the best groups, if there are any."""
        size, correction = count // groups, given.get("correction", [0.0] * count)
        ranked = [p + c for p, c in zip(row, correction, strict=True)]
        best = [sorted(ranked[g * size : (g + 1) * size])[::-1] for g in range(groups)]
        worth = [math.fsum(own[: 1 if group_by == "best" else 2]) for own in best]
        open_ = sorted(range(groups), key=lambda g: -worth[g])[:top_groups]
        return sorted((e for e in range(count) if e // size in open_), key=lambda e: -ranked[e])[:top]

    logits = projected(x, router, given.get("router_bias"))
    count = len(router[0])
    likely = [shares(row) if scoring == "softmax" else [sigma(e) for e in row] for row in logits]
    chosen = [asked(row) for row in likely]
    taken = [[p if e in own else 0.0 for e, p in enumerate(row)] for row, own in zip(likely, chosen, strict=True)]
    load, gates, rows = [0] * count, [], []
    for row, theirs, token in zip(likely, chosen, x, strict=True):
        whole = 1 if no_renormalise else math.fsum(row[e] for e in theirs)
        gates.append([row[e] / whole * routed_scale if e in theirs else 0.0 for e in range(count)])
        answer = [0.0] * len(token)
        for e in theirs:
            load[e] += 1
            if capacity is None or load[e] <= capacity:
                own = {name: given[name][e] for name in ("b1", "b2", "w3", "b3") if name in given}
                said = ffn([token], w1[e], w2=w2[e], activation=activation, **own)["output"][0]
                answer = [a + gates[-1][e] * s for a, s in zip(answer, said, strict=True)]
        if "shared_w1" in given:
            own = {"w3": given["shared_w3"]} if "shared_w3" in given else {}
            said = ffn([token], given["shared_w1"], w2=given["shared_w2"], activation=activation, **own)["output"][0]
            answer = [a + s for a, s in zip(answer, said, strict=True)]
        rows.append(answer)
    n = len(x)
    balance = count * math.fsum(load[e] / n * math.fsum(row[e] for row in likely) / n for e in range(count))
    found: Values = {"logits": logits, "probabilities": likely, "chosen": chosen, "taken": taken, "gates": gates}
    return found | {"output": rows, "load": load, "balance_loss": balance}


# Blocks


def block(x: Matrix, memory: Matrix | None, w: Values, norm: str, activation: str, eps: float, **rules: Any) -> Matrix:
    """A layer of an encoder, or of a decoder where there is a memory."""
    learned = ("q_gamma", "q_beta", "k_gamma", "k_beta", "sinks", "bias_table")
    own = {name: value for name, value in rules.items() if value is not None and name not in JOINING}
    own = {name: value for name, value in own.items() if not name.startswith("memory_") and name != "heads"}
    own |= {name: w[name] for name in learned if w.get(name) is not None}
    cross = {name: rules[f"memory_{name}"] for name in ("mask", "mask_kind", "padding") if rules.get(f"memory_{name}")}
    cross |= {"scale": rules["scale"]} if "scale" in rules else {}
    projections = ("wq", "wk", "wv", "wo", "bq", "bk", "bv", "bo")
    kind = norm if norm in ("rms", "layer") else rules.get("kind", "layer")
    at = rules.get("norm_at") or (rules.get("at", "post") if norm in ("rms", "layer") else norm)
    heads: Values = {"heads": rules["heads"], "kv_heads": rules.get("kv_heads")}

    def normed(y: Matrix, name: str, i: int) -> Matrix:
        norms: Values = {"eps": eps, "norm_offset": rules.get("norm_offset", 0), "gamma": w.get(f"{name}gamma{i}")}
        if kind == "rms":
            return list(rmsnorm(y, **norms)["output"])
        return list(layernorm(y, beta=w.get(f"{name}beta{i}"), **norms)["output"])

    def attention(y: Matrix, context: Matrix | None, prefix: str, **seen: Any) -> Matrix:
        held: Values = {name: w[prefix + name] for name in projections if w.get(prefix + name) is not None}
        extra: Values = (
            {"context": context}
            if context is not None
            else {"eps": eps, "norm": kind} | {k: rules[k] for k in ("norm_offset",) if k in rules}
        )
        found: Matrix = multihead(y, **heads, **held, **extra, **seen)["output"]
        return found

    def forward(y: Matrix) -> Matrix:
        held = {name: w[name] for name in ("w1", "b1", "w2", "b2", "w3", "b3") if w.get(name) is not None}
        found: Matrix = ffn(y, activation=activation, **held)["output"]
        return found

    parts: list[Callable[[Matrix], Matrix]] = [lambda y: attention(y, None, "", **own)]
    if memory is not None:
        parts.append(lambda y: attention(y, memory, "cross_", **cross))
    start = x
    for i, part in enumerate([*parts, forward], start=1):
        y = start if rules.get("parallel") else x
        alone = not rules.get("parallel") or w.get(f"gamma{i}") or w.get(f"beta{i}")
        if at in ("pre", "both", "sandwich"):
            y = normed(y, "", i if alone else 1)
        found = part(y)
        if at in ("sandwich", "after"):
            found = normed(found, "post_" if at == "sandwich" else "", i)
        x = added(x, [[rules.get("residual_scale", 1) * e for e in row] for row in found])
        if at in ("post", "both"):
            x = normed(x, "post_" if at == "both" else "", i)
    return x


JOINING = ("norm_at", "norm_offset", "parallel", "residual_scale", "kv_heads", "kind", "at")


def encoder_block(
    x: Matrix, heads: int = 1, norm: str = "post", activation: str = "relu", eps: float = 1e-5, **given: Any
) -> Values:
    return {"output": block(x, None, given, norm, activation, eps, heads=heads, **_rules(given))}


def decoder_block(
    x: Matrix,
    memory: Matrix,
    heads: int = 1,
    norm: str = "post",
    activation: str = "relu",
    eps: float = 1e-5,
    no_causal: bool = False,
    **given: Any,
) -> Values:
    rules = _rules(given) | ({} if no_causal else {"causal": True})
    return {"output": block(x, memory, given, norm, activation, eps, heads=heads, **rules)}


def decoder_only(
    x: Matrix,
    heads: int = 1,
    norm: str = "rms",
    activation: str = "swiglu",
    eps: float = 1e-5,
    no_causal: bool = False,
    **given: Any,
) -> Values:
    rules = {"kind": "rms", "at": "pre"} | _rules(given) | ({} if no_causal else {"causal": True})
    return {"output": block(x, None, given, norm, activation, eps, heads=heads, **rules)}


def _rules(given: Values) -> Values:
    names = ("causal", "mask", "mask_kind", "padding", "memory_mask", "memory_mask_kind", "memory_padding")
    more = ("bias", "causal_align", "window", "scale", "softcap", "mask_before_scale", "max_distance")
    found = (*names, *more, "qk_norm", "qk_norm_over", *JOINING)
    return {name: value for name, value in given.items() if name in found or name.startswith("rope")}


def transformer(
    source: Sequence[int],
    target: Sequence[int] | None = None,
    embedding: Matrix | None = None,
    positions: Any = "sinusoidal",
    output: Matrix | None = None,
    output_bias: Vector | None = None,
    heads: int = 1,
    norm: str = "post",
    activation: str = "relu",
    eps: float = 1e-5,
    scale_embedding: bool = False,
    generate: int | None = None,
    start: int | None = None,
    end: int | None = None,
    **given: Any,
) -> Values:
    """The whole of it again for every token."""
    assert embedding is not None
    places = None if positions == "none" else positions
    design = (norm, activation, eps)
    rules = _rules(given)
    kind = norm if norm == "rms" else "layer"

    def stack(name: str) -> list[Values]:
        numbers = sorted({int(key.split("/")[0].split(" ")[1]) for key in given if key.startswith(f"{name} ")})
        return [{k.split("/")[1]: v for k, v in given.items() if k.startswith(f"{name} {i}/")} for i in numbers]

    def finished(x: Matrix, name: str) -> Matrix:
        gamma, beta = given.get(f"{name}_norm_gamma"), given.get(f"{name}_norm_beta")
        if gamma is None and beta is None:
            return x
        offset = given.get("norm_offset", 0)
        if kind == "rms":
            return list(rmsnorm(x, gamma, eps, offset)["output"])
        return list(layernorm(x, gamma, beta, eps, offset)["output"])

    memory = embed(source, embedding, places, scale_embedding)["output"]
    for layer in stack("encoder"):
        memory = block(memory, None, layer, *design, heads=heads, **rules)
    memory = finished(memory, "encoder")
    tokens = list(target) if target is not None else [start]
    found: Values = {}
    for t in range(1, (generate or 1) + 1):
        y = embed([int(token) for token in tokens if token is not None], embedding, places, scale_embedding)["output"]
        for layer in stack("decoder"):
            y = block(y, memory, layer, *design, heads=heads, causal=True, **rules)
        logits = projected(finished(y, "decoder"), output or turned(embedding), output_bias)
        tokens.append(logits[-1].index(max(logits[-1])))
        found[f"token {t}/logits" if generate else "logits"] = logits
        if generate and tokens[-1] == end:
            break
    return found | {"memory": memory, "tokens": tokens}


def lora(x: Matrix, w: Matrix, a: Matrix, b: Matrix, alpha: float | None = None) -> Values:
    rank = len(b)
    scale = (rank if alpha is None else alpha) / rank
    base, down = projected(x, w, None), projected(x, a, None)
    change = projected(down, b, None)
    scaled = [[scale * e for e in row] for row in change]
    merged = added(w, [[scale * e for e in row] for row in projected(a, b, None)])
    return {
        "base": base,
        "down": down,
        "change": change,
        "scaled": scaled,
        "output": added(base, scaled),
        "merged": merged,
        "merged_output": projected(x, merged, None),
    }


CODES: dict[str, list[float]] = {
    "int8": [float(i) for i in range(128)],
    "int4": [float(i) for i in range(8)],
    "float8_e4m3fn": [
        *(i * 2.0**-9 for i in range(8)),
        *((8 + i) * 2.0 ** (e - 3) for e in range(-6, 9) for i in range(8) if (8 + i) * 2.0 ** (e - 3) <= 448),
    ],
    "float8_e5m2": [
        *(i * 2.0**-16 for i in range(4)),
        *((4 + i) * 2.0 ** (e - 2) for e in range(-14, 16) for i in range(4)),
    ],
    "mxfp4": [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0],
}
"""Every number from 0 on that a code can be, by its bits: those that end in an even bit have even places."""


def nearest(number: float, kind: str) -> float:
    """By trying all codes: the nearest, of two as near the one in an even place."""
    place = min(range(len(CODES[kind])), key=lambda i: (abs(CODES[kind][i] - abs(number)), i % 2))
    return math.copysign(CODES[kind][place], number) if place else 0.0


def quantised(x: Matrix, scaled_alike: Sequence[Sequence[tuple[int, int]]], kind: str) -> Values:
    """Codes by absmax, of each set of places that have one scale."""
    largest = [max(abs(x[i][j]) for i, j in places) for places in scaled_alike]
    powers = [max((k for k in range(-127, 128) if 4 * 2.0**k <= e), default=-127) for e in largest]
    scales = [2.0**k for k in powers] if kind == "mxfp4" else [e / CODES[kind][-1] for e in largest]
    scaled = [[0.0] * len(x[0]) for _ in x]
    for places, scale in zip(scaled_alike, scales, strict=True):
        for i, j in places:
            scaled[i][j] = x[i][j] / scale
    codes = [[nearest(e, kind) for e in row] for row in scaled]
    back = [[0.0] * len(x[0]) for _ in x]
    for places, scale in zip(scaled_alike, scales, strict=True):
        for i, j in places:
            back[i][j] = codes[i][j] * scale
    found: Values = {"largest": largest, "scale": scales, "scaled": scaled, "codes": codes, "dequantised": back}
    return found | ({"exponent": powers} if kind == "mxfp4" else {})


def shifted(x: Matrix, rows: bool, last: int) -> Values:
    """Codes from 0 to the last."""
    ranges = [(min(0.0, *row), max(0.0, *row)) for row in (x if rows else [[*chain(*x)]])]
    scales = [(high - low) / last for low, high in ranges]
    zeros = [round(-low / scale) for (low, _), scale in zip(ranges, scales, strict=True)]
    own = [i if rows else 0 for i in range(len(x))]
    scaled = [[e / scales[i] for e in row] for i, row in zip(own, x, strict=True)]
    codes = [[min(round(e) + zeros[i], last) for e in row] for i, row in zip(own, scaled, strict=True)]
    back = [[scales[i] * (code - zeros[i]) for code in row] for i, row in zip(own, codes, strict=True)]
    found: Values = {"lowest": [low for low, _ in ranges], "highest": [high for _, high in ranges]}
    found |= {"scale": scales, "zero_point": zeros, "scaled": scaled, "codes": codes, "dequantised": back}
    return found if rows else found | {name: found[name][0] for name in ("lowest", "highest", "scale", "zero_point")}


def quantize(
    x: Matrix,
    w: Matrix | None = None,
    kind: str = "int8",
    per: str | None = None,
    block: int = 32,
    zero_point: bool = False,
) -> Values:
    """Every code by trying all that there are; the product of what they stand for."""
    if zero_point:
        found = shifted(x, per == "row", 2 * int(CODES[kind][-1]) + 1)
        return found | {
            "error": [[b - a for a, b in zip(*rows, strict=True)] for rows in zip(x, found["dequantised"], strict=True)]
        }
    width = block if kind == "mxfp4" or per == "block" else len(x[0])
    known: Values = {}
    back: list[list[float]] = [[] for _ in x]
    theirs: list[list[float]] = []
    for b in range(len(x[0]) // width):
        home = f"block {b + 1}/" if width < len(x[0]) else ""
        part = [row[b * width : (b + 1) * width] for row in x]
        for name, matrix, by_rows in (("", part, True), ("w/", w[b * width : (b + 1) * width] if w else None, False)):
            if matrix is None:
                continue
            places = [[(i, j) for j in range(len(matrix[0]))] for i in range(len(matrix))]
            if not by_rows:
                places = [[(i, j) for i in range(len(matrix))] for j in range(len(matrix[0]))]
            whole = per in (None, "tensor") and kind != "mxfp4"
            coded = quantised(matrix, [[*chain(*places)]] if whole else places, kind)
            coded |= {n: coded[n][0] for n in ("largest", "scale") if whole}
            known |= {f"{home}{name}{step}": found for step, found in coded.items()}
            if by_rows:
                back = [[*before, *more] for before, more in zip(back, coded["dequantised"], strict=True)]
            else:
                theirs += coded["dequantised"]
    known["dequantised"] = back
    known["error"] = [[b - a for a, b in zip(*rows, strict=True)] for rows in zip(x, back, strict=True)]
    if w:
        known["product"] = times(back, theirs)
        due = times(x, w)
        known["product_error"] = [
            [a - b for a, b in zip(*rows, strict=True)] for rows in zip(known["product"], due, strict=True)
        ]
    return known


def bpe(corpus: str, merges: int = 3, encode: str = "", end_of_word: bool = False) -> Values:
    """Words as lists of tokens that are text, as in the paper's algorithm; ids are looked up in the end."""
    often: dict[str, int] = {}
    for word in corpus.split():
        letters, _, number = word.partition(":")
        often[letters] = often.get(letters, 0) + int(number or 1)
    tokens = [*sorted({*"".join(often)}), *["</w>"] * end_of_word]
    size = len(tokens) + merges

    def spelled(words: Sequence[str]) -> list[list[str]]:
        return [[*word, *["</w>"] * end_of_word] for word in words]

    def ids(words: list[list[str]], longest: int) -> list[list[int]]:
        return [[*map(tokens.index, word), *[size] * (longest - len(word))] for word in words]

    def joined(words: list[list[str]], a: str, b: str) -> list[list[str]]:
        found = []
        for word in words:
            made: list[str] = []
            for each in word:
                if made and (made[-1], each) == (a, b):
                    made[-1] += each
                else:
                    made.append(each)
            found.append(made)
        return found

    words, length = spelled([*often]), max(map(len, spelled([*often]))) + 1
    found: Values = {"letters": ids(words, length), "counts": [*often.values()]}
    chosen: list[tuple[str, str]] = []
    for merge in range(merges):
        table = [[0] * size for _ in range(size)]
        for spelling, seen in zip(words, often.values(), strict=True):
            for a, b in pairwise(spelling):
                table[tokens.index(a)][tokens.index(b)] += seen
        most = max(map(max, table))
        first = next(i for i, line in enumerate(table) if most in line)
        chosen.append((tokens[first], tokens[table[first].index(most)]))
        found[f"merge {merge + 1}/pairs"] = table
        found[f"merge {merge + 1}/chosen"] = [tokens.index(each) for each in chosen[-1]]
        words = joined(words, *chosen[-1])
        tokens.append("".join(chosen[-1]))
        found[f"merge {merge + 1}/words"] = ids(words, length)
    found["merges"] = [[tokens.index(each) for each in pair] for pair in chosen]
    words = spelled(encode.split())
    length = max(map(len, words), default=0) + 1
    for merge, pair in enumerate(chosen if words else (), 1):
        found.setdefault("encode/letters", ids(words, length))
        words = joined(words, *pair)
        found[f"encode/after_{merge}" if merge < merges else "tokens"] = ids(words, length)
    return found


WITNESSES: dict[str, Callable[..., Values]] = {
    "bpe": bpe,
    "lora": lora,
    "quantize": quantize,
    "groupnorm": groupnorm,
    "patch-embed": patch_embed,
    "layernorm": layernorm,
    "rmsnorm": rmsnorm,
    "batchnorm": batchnorm,
    "activation": activation,
    "ffn": ffn,
    "residual": residual,
    "embed": embed,
    "unembed": unembed,
    "conv": conv,
    "rnn": rnn,
    "experts": experts,
    "encoder-block": encoder_block,
    "decoder-block": decoder_block,
    "decoder-only": decoder_only,
    "transformer": transformer,
}
