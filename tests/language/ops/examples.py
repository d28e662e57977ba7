"""Examples of every primitive: small graphs that end in it, with operands for which it has a value and a slope.

A new row in OPS needs an entry here; what test_primitives.py asks is then asked of it too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncalc.language.axes import Axes, Axis, composite
from attncalc.language.graph import Node, constant, constants, given, identity, step
from attncalc.language.ops import (
    ROWS,
    Slide,
    absolute,
    angle_between,
    antilog,
    arccos,
    bucket,
    characteristic_polynomial,
    compare_equal,
    concat,
    cos,
    cosine_ratio,
    cubable,
    eigenvalues,
    eigenvectors,
    elu,
    erf,
    every_other,
    exp,
    exponent,
    factorial,
    first_maximum,
    floor,
    held,
    held_or_0,
    index,
    interleave,
    inverse,
    keep_where,
    listed,
    log,
    log_factorial,
    log_share,
    log_softmax,
    log_sum_exp,
    logarithm,
    logical_not,
    lookup,
    maximum,
    mean,
    merge,
    minimum,
    multiple,
    one_hot,
    one_plus_erf,
    outer,
    part_of,
    peak,
    per,
    random_normal,
    ranking,
    ratio,
    rename,
    repeat,
    root_of_mean,
    root_of_sum,
    rotate,
    rounded,
    safely,
    select,
    sigmoid,
    sign,
    sin,
    singular_parts,
    softmax,
    softmax_slopes,
    softplus,
    solve,
    split,
    spread,
    sqrt,
    stack,
    take,
    tan,
    tanh,
    total,
    weigh,
    whole,
    windows,
)
from attncalc.language.ops.moves import reread
from attncalc.language.ops.pairs import commonest, joined, pair_counts

for family in ROWS:  # a family is imported when one of its rows is asked for: here every one is
    import_module(f"attncalc.language.ops.{family}")

Array = NDArray[Any]


@dataclass(frozen=True)
class Example:
    """A graph over operands such as `n=3 d=4`, or `n=3 (h=2 d=2): positive`; nothing before the colon is a number.

    `alone` says why no leading axis is taken.
    """

    build: Callable[..., Node]
    operands: tuple[str, ...]
    alone: str = ""

    def __str__(self) -> str:
        return " & ".join(self.operands) or "no operands"

    def graph(self, lead: Mapping[int, Axis] | None = None) -> tuple[Node, list[Node]]:
        """The primitive's node and its operands, the numbered ones with a leading axis more."""
        nodes = []
        for i, operand in enumerate(self.operands):
            axes, entries = self.read(operand)
            front = (lead[i],) if lead and i in lead else ()
            nodes.append(given("xyzuvw"[i], front + axes, boolean=entries == "flags"))
        return self.build(*nodes), nodes

    def smooth(self, nodes: list[Node]) -> list[Node]:
        """Those of the operands that any numbers may stand in."""
        steps = ("flags", "places")
        return [node for node, read in zip(nodes, self.operands, strict=True) if self.read(read)[1] not in steps]

    def values(self, nodes: list[Node], seed: int = 0) -> dict[str, Array]:
        """Entries for the operands: distinct from one another and from 0, so that no two change places nearby."""
        rng = np.random.default_rng(seed)
        pool = iter(rng.permutation(np.arange(1, 200)) / 64)
        entries = [self.read(operand)[1] for operand in self.operands]
        return {node.args["name"]: _drawn(node, kind, pool, rng) for node, kind in zip(nodes, entries, strict=True)}

    @staticmethod
    def read(operand: str) -> tuple[Axes, str]:
        """`n=3 (h=2 d=2): positive` → its axes, and what entries it has."""
        declared, _, entries = operand.partition(":")
        axes: list[Axis] = []
        parts: list[Axis] = []
        inside = False
        for word in declared.split():
            inside = inside or word.startswith("(")
            name, size = word.strip("()").split("=")
            (parts if inside else axes).append(Axis(name, int(size)))
            if word.endswith(")"):
                axes.append(composite(*parts))
                inside = False
        return tuple(axes), entries.strip() or "real"


def _drawn(node: Node, entries: str, pool: Iterator[float], rng: np.random.Generator) -> Array:
    shape = tuple(axis.size for axis in node.axes)
    if entries == "flags":
        return rng.random(shape) < 0.5
    if entries == "places":
        return rng.integers(0, 3, shape).astype(np.float64)
    sizes: Array = np.array([next(pool) for _ in range(int(np.prod(shape)))]).reshape(shape)
    if entries == "positive":
        return sizes
    signed: Array = sizes * rng.choice([-1, 1], shape)
    return signed / 4 if entries == "unit" else signed


def example(build: Callable[..., Node], *operands: str, alone: str = "") -> Example:
    return Example(build, operands, alone)


def multiple_of(a: Node, b: Node) -> Node:
    return multiple(total(a * b), total(b**2), a, b)


def cosine_of(a: Node, b: Node) -> Node:
    return cosine_ratio(total(a * b), root_of_sum(total(a**2), a, 2) * root_of_sum(total(b**2), b, 2), a, b)


def gram_of(x: Node) -> Node:
    """A symmetric matrix: its eigenvalues are real, and so far apart that rounding does not mix their vectors."""
    return x @ rename(x, "n", "m").T


def collected(x: Node, numbers: Node, size: int, *own: str) -> Node:
    return Node("collect", x, numbers, into=Axis("V", size), own=own)


N, M, FAR = Axis("n", 3), Axis("m", 4), (Axis("m", 41),)
V, PAIR, WORDS = Axis("V", 2), Axis("pair", 2), "all words are counted together"
PAIRS = stack([constants((1, 2), PAIR, "late"), constants((0, 1), PAIR, "early")], "merge")
SLIDES = (Slide(Axis("h", 4), "h'", "i", 2, 1, 0, 1), Slide(Axis("w", 5), "w'", "j", 3, 2, 0, 1))

EXAMPLES: dict[str, tuple[Example, ...]] = {
    # without sources
    "input": (example(lambda x: x, "n=3 m=4"),),
    "constant": (example(lambda: constant(3)), example(lambda: constant(0.25)), example(lambda: constant(2.5, "C"))),
    "constants": (example(lambda: constants((1, 2.5, 4), N, "length")),),
    "identity": (example(lambda: identity((N,))), example(lambda: identity((Axis("b", 2), N)))),
    "size": (example(lambda x: x.size("d"), "n=3 d=4"),),
    "index": (
        example(lambda: index("m", (M,), "j")),
        example(lambda: index("n", (N, M), "i")),
        example(lambda: index("m", (N, M), "j")),
    ),
    "step": (example(lambda x: step("scores", x, "compare"), "n=3 m=4"),),
    # linear
    "matmul": (
        example(lambda x, y: x @ y, "n=2 d=3", "d=3 m=4"),
        example(lambda x, y: x @ y, "n=2 d=3", "d=3"),
        example(lambda x, y: x @ y, "d=3", "d=3 m=4"),
        example(lambda x, y: x @ y, "d=3", "d=3", alone="two [b, d] are matrices, of which one is to be transposed"),
        example(lambda x, y: x @ y, "b=2 h=2 n=2 d=3", "b=2 h=2 d=3 m=2"),
        example(lambda x, y: x @ y, "h=2 n=2 d=3", "d=3 m=4"),
        example(lambda x, y: x @ y, "n=2 d=3", "h=2 d=3 m=4"),
        example(lambda x, y: x @ y, "h=2 d=3", "h=2 d=3 m=4"),
        example(lambda x, y: x @ y, "h=2 n=4 d=3", "h=2 d=3"),
        example(lambda x, y: x @ y, "d=3", "h=2 d=3 m=4"),
    ),
    "transpose": (example(lambda x: x.T, "n=2 d=3"), example(lambda x: x.T, "h=2 n=2 d=3")),
    "outer": (
        example(outer, "n=2", "m=3"),
        example(outer, "b=2 n=2", "b=2 m=3"),
        example(outer, "n=2", "b=2 m=3"),
        example(outer, "n=2 k=2", "m=3"),
    ),
    "solve": (
        example(solve, "k=3 j=3", "k=3"),
        example(solve, "b=2 k=3 j=3", "b=2 k=3"),
        example(solve, "k=3 j=3", "b=2 k=3"),
        example(solve, "b=2 k=3 j=3", "k=3"),
    ),
    "inverse": (example(inverse, "k=3 j=3"), example(inverse, "b=2 k=3 j=3")),
    # elementwise
    "add": (
        example(lambda x, y: x + y, "n=3 m=4", "n=3 m=4"),
        example(lambda x, y: x + y, "n=3 m=4", "m=4"),
        example(lambda x, y: x + y, "n=3", "n=3 m=4"),
        example(lambda x, y: x + y, "m=4 n=3", "n=3 m=4"),
        example(lambda x, y, z: Node("add", x, y, z), "n=3", "n=3", "n=3"),
    ),
    "sub": (example(lambda x, y: x - y, "n=3 m=4", "m=4"), example(lambda x: 1 - x, "n=3")),
    "neg": (example(lambda x: -x, "n=3"),),
    "mul": (example(lambda x, y: x * y, "n=3 m=4", "n=3"), example(lambda x: 3 * x, "n=3")),
    "div": (example(lambda x, y: x / y, "n=3 m=4", "n=3"), example(lambda x: 1 / x, "n=3")),
    "pow": (
        example(lambda x: x**2, "n=3 m=4"),
        example(lambda x: x**3, "n=3"),
        example(lambda x: x**-1, "n=3"),
        example(lambda x: x**1.5, "n=3: positive"),
        example(lambda x, y: x**y, "n=3: positive", "n=3"),
    ),
    "exp": (example(exp, "n=3 m=4"),),
    "log": (example(log, "n=3 m=4: positive"),),
    "sqrt": (example(sqrt, "n=3 m=4: positive"),),
    "abs": (example(absolute, "n=3 m=4"),),
    "sign": (example(sign, "n=3 m=4"),),
    "round": (example(lambda x: rounded(10 * x), "n=3 m=4"),),
    "floor": (example(lambda x: floor(10 * x), "n=3 m=4"),),
    "exponent": (example(exponent, "n=3 m=4: positive"),),
    "tanh": (example(tanh, "n=3 m=4"),),
    "sin": (example(sin, "n=3 m=4"),),
    "cos": (example(cos, "n=3 m=4"),),
    "tan": (example(tan, "n=3 m=4: unit"),),
    "arccos": (example(arccos, "n=3 m=4: unit"),),
    "maximum": (
        example(maximum, "n=3 m=4", "n=3 m=4"),
        example(maximum, "n=3 m=4", "m=4"),
        example(lambda x: maximum(x, 0), "n=5"),
    ),
    "where": (
        example(keep_where, "n=3 m=4: flags", "n=3 m=4", "n=3 m=4"),
        example(keep_where, "n=3 m=4: flags", "n=3 m=4", "m=4"),
        example(lambda x, y: keep_where(x, y, -np.inf), "n=3 m=4: flags", "n=3 m=4"),
    ),
    "held": (example(held, "n=3 m=4"),),
    "held_or_0": (example(held_or_0, "n=3 m=4"),),
    "less_equal": (example(lambda x, y: x <= y, "n=3 m=4", "m=4"), example(lambda x: x <= 1 * x, "n=3")),
    "less": (example(lambda x, y: x < y, "n=3 m=4", "m=4"), example(lambda x: x < 1 * x, "n=3")),
    "equal": (example(compare_equal, "n=3 m=4", "m=4"), example(lambda x: compare_equal(x, x), "n=3")),
    "and": (example(lambda x, y: x & y, "n=3 m=4: flags", "n=3 m=4: flags"),),
    "not": (example(logical_not, "n=3 m=4: flags"),),
    # along an axis
    "sum": (
        example(total, "n=3 m=4"),
        example(lambda x: total(x, "n"), "n=3 m=4"),
        example(lambda x: total(x, "n"), "b=2 n=3 m=2"),
    ),
    "mean": (example(mean, "n=3 m=4"), example(lambda x: mean(x, "n"), "n=3 m=4")),
    "peak": (example(peak, "n=3 m=4"), example(lambda x: peak(x, "n"), "n=3 m=4")),
    "first_maximum": (
        example(lambda x: first_maximum(x, "m"), "n=3 m=4"),
        example(lambda x: first_maximum(x, "n"), "n=3 m=4"),
    ),
    "softmax": (example(softmax, "n=3 m=4"), example(lambda x: softmax(x, "n"), "n=3 m=2")),
    "log_sum_exp": (example(log_sum_exp, "n=3 m=4"), example(lambda x: log_sum_exp(x, "n"), "n=3 m=2")),
    "root_of_sum": (
        example(lambda x: root_of_sum(total(x**2), x, 2), "n=3 m=4"),
        example(lambda x: root_of_sum(total(x**2, "n"), x, 2, "n"), "n=3 m=2"),
        example(lambda x: root_of_sum(total(x**3), x, 3), "n=3 m=4: positive"),
        example(lambda x: root_of_sum(total(x**1.5), x, 1.5), "m=4: positive"),
    ),
    "root_of_mean": (
        example(lambda x: root_of_mean(mean(x**2), x), "n=3 m=4"),
        example(lambda x: root_of_mean(mean(x**2, "n"), x, "n"), "n=3 m=2"),
        example(lambda x, w: root_of_mean(total(x**2 * w), x, weights=w), "n=3 m=4", "m=4: positive"),
    ),
    "per": (example(lambda x, y: per(x, 1 + y, y), "n=3 m=4", "n=3 m=4: positive"),),
    "multiple": (example(multiple_of, "n=4", "n=4"), example(multiple_of, "b=2 n=3", "b=2 n=3")),
    "cosine_ratio": (example(cosine_of, "n=4", "n=4"), example(cosine_of, "b=2 n=3", "b=2 n=3")),
    "angle": (example(lambda x, y: angle_between(cosine_of(x, y), x, y), "n=4", "n=4"),),
    "ranking": (
        example(lambda x: ranking(x, 3), "n=3 m=5"),
        example(lambda x, y: ranking(x, 2, y), "m=7", "m=7: flags"),
    ),
    # moving
    "rename": (example(lambda x: rename(x, "n", "m"), "n=3 d=2"),),
    "split": (example(split, "n=3 (h=2 d=2)"), example(split, "b=2 n=3 (h=2 d=3)")),
    "merge": (example(merge, "h=2 n=3 d=2"), example(merge, "b=2 h=3 n=2 d=2")),
    "repeat": (example(lambda x: repeat(x, "g", "h", 3), "g=2 m=3 d=2"),),
    "reread": (
        example(lambda x: reread(x, (Axis("h", 2), Axis("n", 3), Axis("c", 2))), "n=3 d=4", alone="it reads all axes"),
    ),
    "gather": (example(lambda x: Node("gather", x, old="h", new="g", times=3), "h=6 m=2 d=2"),),
    "slice": (
        example(lambda x: part_of(x, "n", 1, 3), "n=4 d=2"),
        example(lambda x: part_of(x, "d", 0, 2), "n=2 d=3"),
        example(lambda x: part_of(x, "n", 2, 3), "h=2 n=3 d=2"),
    ),
    "concat": (
        example(lambda x, y: concat([x, y], "n"), "n=2 d=3", "n=1 d=3"),
        example(lambda x, y, z: concat([x, y, z], "d"), "n=2 d=1", "n=2 d=2", "n=2 d=1"),
        example(lambda x, y: concat([x, y], "n"), "n=2 d=3", "d=3 n=1"),
    ),
    "spread": (
        example(lambda x: spread(x, (*x.axes, M)), "n=3"),
        example(lambda x: spread(x, (M, *x.axes)), "n=3"),
        example(lambda x: spread(x, (M, *reversed(x.axes))), "n=3 d=2"),
    ),
    # activations
    "erf": (example(erf, "n=3 m=4"),),
    "one_plus_erf": (example(one_plus_erf, "n=3 m=4"),),
    "sigmoid": (example(sigmoid, "n=3 m=4"),),
    "softplus": (example(softplus, "n=3 m=4"),),
    "cubable": (example(cubable, "n=3 m=4"),),
    "elu": (example(lambda x: elu(x, 1), "n=3 m=4"), example(lambda x: elu(x, 0.5), "n=5")),
    "minimum": (example(minimum, "n=3 m=4", "m=4"), example(lambda x: minimum(x, 0), "n=5")),
    # pairs
    "every_other": (
        example(lambda x: every_other(x, 0, "pair"), "n=2 d=6"),
        example(lambda x: every_other(x, 1, "pair"), "d=4"),
    ),
    "interleave": (example(lambda x, y: interleave(x, y, "d"), "n=2 pair=3", "n=2 pair=3"),),
    "rotate": tuple(
        example(lambda x, y, z, layout=layout: rotate(x, y, z, layout), *operands)
        for layout in ("interleaved", "half")
        for operands in (("n=2 d=6", "n=2 pair=3", "n=2 pair=3"), ("h=2 n=2 d=4", "n=2 pair=2", "n=2 pair=2"))
    ),
    # rows
    "take": (
        example(lambda x: take(x, "n", 1), "n=3 d=2"),
        example(lambda x: take(x, "d", 0), "n=3 d=2"),
        example(lambda x: take(x, "n", 2), "b=2 n=3 d=2"),
    ),
    "stack": (
        example(lambda x, y, z: stack([x, y, z], "n"), "d=2", "d=2", "d=2"),
        example(lambda x, y: stack([x, y], "n"), "b=2 d=3", "b=2 d=3"),
    ),
    "lookup": (
        example(lambda x: lookup(x, constants((2, 0, 2, 1), M, "tokens"), "V"), "V=3 d=2"),
        example(lambda x: lookup(x.T, constants((2, 0, 2, 1), M, "tokens"), "V"), "V=3 d=2"),
        example(lambda x: lookup(x, spread(constants((2, 0, 1), N, "tokens"), (M, N)), "V"), "V=3 d=2"),
        example(lambda x: lookup(x, spread(constants((2, 0, 1), N, "tokens"), (M, N)), "V"), "m=4 V=3 d=2"),
        example(lambda x, y: lookup(x, y, "V"), "V=3 d=2", "m=4: places"),
        example(lambda x, y: lookup(x, y, "V"), "m=4 V=3 d=2", "n=3 m=4: places"),
    ),
    "collect": (
        example(lambda x: collected(x, constants((2, 0, 2, 1), M, "tokens"), 5, "m"), "m=4 d=2"),
        example(lambda x: collected(x, spread(constants((2, 0, 1), N, "tokens"), (M, N)), 3, "m", "n"), "m=4 n=3 d=2"),
        example(lambda x: collected(x, spread(constants((2, 0, 1), N, "tokens"), (M, N)), 3, "n"), "m=4 n=3 d=2"),
        example(lambda x, y: collected(x, y, 3, "m"), "m=4 d=2", "m=4: places"),
        example(lambda x, y: collected(x, y, 3, "n"), "m=4 n=3 d=2", "m=4 n=3: places"),
    ),
    "bucket": (
        example(lambda: bucket(index("m", FAR, "j") - 20, buckets=16, max_distance=15, causal=False)),
        example(lambda: bucket(index("m", FAR, "j") - 20, buckets=16, max_distance=15, causal=True)),
        example(lambda x: bucket(x, buckets=4, max_distance=3, causal=False), "n=3: places"),
    ),
    # windows
    "windows": (
        example(lambda x: windows(x, [Slide(x.axes[-1], "w", "k", 3, 1, 0, 1)]), "l=5"),
        example(lambda x: windows(x, [Slide(x.axes[-1], "w", "k", 2, 2, 1, 2)]), "c=2 l=5"),
        example(lambda x: windows(x, SLIDES), "h=4 w=5"),
    ),
    "fold": (
        example(lambda x: Node("fold", x, slides=(Slide(Axis("l", 5), "w", "k", 3, 1, 0, 1),)), "w=3 k=3"),
        example(lambda x: Node("fold", x, slides=SLIDES), "h'=3 w'=2 i=2 j=3"),
    ),
    # probability
    "weigh": (example(weigh, "n=3 m=4", "n=3 m=4"), example(weigh, "n=3 m=4", "m=4")),
    "ratio": (example(ratio, "n=3 m=4", "n=3"), example(lambda x, y: ratio(x, 1 + y), "n=3 m=4", "n=3 m=4: positive")),
    "log2": (example(lambda x: logarithm(x, 2), "n=3 m=4: positive"),),
    "log10": (example(lambda x: logarithm(x, 10), "n=3 m=4: positive"),),
    "softmax_slopes": (example(lambda x: softmax_slopes(softmax(x)), "n=3"), example(softmax_slopes, "b=2 n=3")),
    "log_share": (
        example(lambda x: log_share(x, log_sum_exp(x), "m"), "n=3 m=4"),
        example(lambda x: log_share(x, log_sum_exp(x, "n"), "n"), "n=3 m=2"),
        example(lambda x, y: log_share(x, y, "m"), "n=3 m=4", "n=3"),
    ),
    "log_softmax": (
        example(log_softmax, "n=3 m=4"),
        example(lambda x: log_softmax(x, over="n"), "n=3 m=2"),
        example(lambda x: log_softmax(x, softmax(x)), "n=3 m=4"),
    ),
    "safely": (example(lambda x: safely(log(x), 2 * log(sqrt(x)), x), "n=3 m=4: positive"),),
    "antilog": (
        example(lambda p: antilog(-mean(log(p)), p, "e"), "n=3 m=4: positive"),
        example(lambda p: antilog(-mean(logarithm(p, 2)), p, 2), "m=4: positive"),
    ),
    "whole": (example(whole, "n=3 m=4"),),
    "factorial": (example(lambda: factorial(index("n", (N,), "i"))), example(factorial, "n=3: places")),
    "log_factorial": (
        example(lambda: log_factorial(index("m", (N, M), "j"))),
        example(log_factorial, "n=3: places"),
    ),
    "select": (
        example(lambda x: select(x, index("n", (N,), "i")), "n=3 m=4"),
        example(lambda x: select(x, index("n", (N,), "i") + 2), "n=3 m=4"),
        example(select, "n=3 m=4", "n=3: places"),
        example(lambda x: select(x, index("n", (N,), "i"), "m"), "m=4 n=3"),
        example(
            lambda x: select(x, index("m", (N, M), "j"), "d"), "d=4", alone="a stack of rows lacks the places' axes"
        ),
    ),
    "pair_counts": (
        example(lambda x, y: pair_counts(x, y, V, V._replace(name="next")), "w=3 t=4: places", "w=3", alone=WORDS),
    ),
    "commonest": (example(lambda x: commonest(x, "V"), "V=3 next=4", alone=WORDS),),
    "joined": (
        example(lambda x: joined(x, constants((1, 2), PAIR, "pair"), 3, "V"), "w=4 t=5: places", alone=WORDS),
        example(lambda x: joined(x, PAIRS, 3, "V"), "w=4 t=5: places", alone=WORDS),
        example(lambda x: joined(x, PAIRS, 3, "V", by_rank=False), "w=4 t=5: places", alone=WORDS),
    ),
    "one_hot": (
        example(lambda: one_hot(index("n", (N,), "i"), M)),
        example(lambda: one_hot(constant(2), M)),
        example(lambda x: one_hot(x, M), "n=3: places"),
    ),
    "listed": (
        example(lambda x, y: listed([total(x), total(y), mean(x)], "k"), "n=3", "n=3"),
        example(lambda x, y: listed([x, y], "k"), "n=3", "n=3"),
    ),
    # sampling
    "random_normal": (example(lambda: random_normal((N, M), 7)),),
    # matrices taken apart
    "characteristic_polynomial": (
        example(characteristic_polynomial, "n=1 m=1"),
        example(characteristic_polynomial, "n=2 m=2"),
        example(characteristic_polynomial, "n=4 m=4"),
    ),
    "eigenvalues": (
        example(lambda x: eigenvalues(gram_of(x)), "n=2 d=3"),
        example(lambda x: eigenvalues(gram_of(x), characteristic_polynomial(gram_of(x))), "n=2 d=3"),
    ),
    "eigenvectors": (example(lambda x: eigenvectors(gram_of(x)), "n=2 d=3"),),
    "left_singular_vectors": (
        example(lambda x: singular_parts(x)[0], "m=2 n=3"),
        example(lambda x: singular_parts(x)[0], "m=3 n=2"),
    ),
    "singular_values": (example(lambda x: singular_parts(x)[1], "m=2 n=3"),),
    "right_singular_vectors": (
        example(lambda x: singular_parts(x)[2], "m=2 n=3"),
        example(lambda x: singular_parts(x)[2], "m=3 n=2"),
    ),
}
