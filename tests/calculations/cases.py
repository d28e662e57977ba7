"""What every calculation is tried on: its steps by name, and operands and options that change its graph.

A new calculation needs an entry here: the steps and outputs that CALCULATIONS promises, and a case for each of its
operands and options. Everything that tests/calculations/test_registry.py asks is then asked of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Case:
    """Operands (`"3 4"` is random of that shape, a list is itself) and options; own steps, outputs where they differ."""

    operands: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    steps: str = ""
    outputs: str = ""

    def __str__(self) -> str:
        said = [f"{name}={value}" for name, value in self.options.items()]
        return " ".join([*(name for name in self.operands), *said])

    def arrays(self, seed: int = 0) -> dict[str, Array]:
        """The operands' values."""
        rng = np.random.default_rng(seed)
        return {name: _drawn(value, rng) for name, value in self.operands.items()}


@dataclass(frozen=True)
class Expected:
    """A calculation's steps and outputs, and the cases that it is tried on."""

    steps: str
    cases: tuple[Case, ...]
    outputs: str = ""  # where they are not the last step alone
    no_gradient: str = ""  # why there is none


def _drawn(value: Any, rng: np.random.Generator) -> Array:
    """Numbers of two decimals, no two of them alike and none 0: `"5"`, `"2 3: positive"`, `"3 4: flags"`."""
    if not isinstance(value, str):
        return np.array(value)
    sizes, _, entries = value.partition(":")
    shape = tuple(map(int, sizes.split()))
    if entries.strip() == "flags":
        return rng.random(shape) < 0.7
    count = int(np.prod(shape))
    numbers = rng.permutation(np.arange(1, max(200, count + 1)))[:count].reshape(shape) / 100
    return numbers if entries.strip() == "positive" else numbers * rng.choice([-1, 1], shape)


def case(steps: str = "", outputs: str = "", /, **given: Any) -> Case:
    """A case: what is text of digits, or a list of lists, is an operand; the rest are options."""
    operands = {name: value for name, value in given.items() if _is_operand(value)}
    return Case(operands, {name: value for name, value in given.items() if name not in operands}, steps, outputs)


def _is_operand(value: Any) -> bool:
    return isinstance(value, list) or (isinstance(value, str) and value[:1].isdigit())


def _blocks(*numbers: int) -> str:
    return " ".join(f"block_{b}/{name}" for b in numbers for name in ("scores", "maximum", "sum", "accumulator"))


PAIR = {"a": "5", "b": "5"}
QKV = {"q": "3 4", "k": "3 4", "v": "3 2"}
WIDE = {"q": "2 4", "k": "5 4", "v": "5 3"}
PROJECTED = {"x": "3 4", "wq": "4 2", "wk": "4 2", "wv": "4 3"}
HEADS = {"x": "3 4", "wq": "4 6", "wk": "4 6", "wv": "4 4", "wo": "4 5"}
ADDED = [[0, -1.5, -0.25, 2, 0.5], [1, 0, -3, 0.75, -0.5]]

EXPECTED: dict[str, Expected] = {
    # Vectors and distances
    "dot": Expected("products dot", (case(**PAIR),)),
    "outer": Expected("outer", (case(a="3", b="4"),)),
    "norm": Expected("powers sum norm", (case(a="5"), case(a="5", p=1), case(a="5", p=3.5), case(a="5", p="inf"))),
    "cosine": Expected(
        "dot norm_a norm_b norm_product cosine",
        (case(**PAIR), case("dot norm_a norm_b norm_product cosine distance", "distance angle", **PAIR, distance=True)),
        outputs="cosine angle",
    ),
    "euclidean": Expected("difference squares sum distance", (case(**PAIR), case(**PAIR, squared=True))),
    "manhattan": Expected("difference absolute distance", (case(**PAIR),)),
    "chebyshev": Expected("difference absolute distance", (case(**PAIR),)),
    "minkowski": Expected("difference powers sum distance", (case(**PAIR), case(**PAIR, p=1.5), case(**PAIR, p=1))),
    "pairwise": Expected(
        "distances",
        (
            case(x="3 4", y="2 4"),
            case(x="3 4"),
            *(
                case(x="3 4", y="2 4", metric=metric)
                for metric in ("cosine", "euclidean", "sqeuclidean", "manhattan", "chebyshev", "minkowski", "dot")
            ),
            case(x="3 4", y="2 4", metric="minkowski", p=1.5),
        ),
    ),
    "project": Expected(
        "dot squared_norm coefficient projection residual",
        (case(a="3", onto="3"), case("gram coefficients projection residual", a="4", onto="4 2")),
        outputs="projection residual",
    ),
    "mips": Expected(
        "scores ranking",
        (case(q="4", keys="5 4"), case(q="4", keys="5 4", top=3)),
        outputs="ranking scores",
        no_gradient="a ranking jumps where two entries change places",
    ),
    "analogy": Expected(
        "target similarities ranking",
        (case(a="3", b="3", c="3", vocabulary="6 3"), case(a="3", b="3", c="3", vocabulary="6 3", top=1)),
        outputs="ranking similarities",
        no_gradient="a ranking jumps where two entries change places",
    ),
    # Matrices
    "matmul": Expected(
        "product",
        (
            case(a="2 3", b="3 4"),
            case("product_1 product_2 product", a="2 3", b="3 4", c="4 2", d="2 3"),
            case(
                "product_1 product_2 product_3 product_4 product_5 product_6 product",
                **dict(zip("abcdefgh", ["1 2", "2 3", "3 2", "2 1", "1 2", "2 2", "2 3", "3 2"], strict=True)),
            ),
        ),
    ),
    # Probability
    "softmax": Expected(
        "shifted exponentials sum softmax",
        (
            case(x="5"),
            case(x="3 4"),
            case(x="3 4", axis=-2),
            case("scaled shifted exponentials sum softmax", x="5", temperature=0.5),
        ),
    ),
    "log-softmax": Expected("shifted logsumexp log_softmax", (case(x="5"), case(x="3 4"), case(x="3 4", axis=-2))),
    # Attention
    "qkv": Expected(
        "q k v",
        (case(**PROJECTED), case(**PROJECTED, bq="2", bk="2", bv="3"), case(**PROJECTED, context="5 4")),
        outputs="q k v",
    ),
    "attention": Expected(
        "scores scaled weights output",
        (
            case(**QKV),
            case(**WIDE),
            case(q="3 4"),
            case("q k v scores scaled weights output", **PROJECTED),
            case("q k v scores scaled weights output", **PROJECTED, context="5 4"),
            case("scores weights output", **QKV, scale="none"),
            case(**QKV, scale=0.25),
            case("scores scaled masked weights output", **QKV, causal=True),
            case("scores scaled masked weights output", **WIDE, causal=True, causal_align="end"),
            case("scores scaled masked weights output", **QKV, window=2),
            case("scores scaled masked weights output", **QKV, window=2, causal=True),
            case("scores scaled masked weights output", **WIDE, padding=(3,)),
            case("scores scaled masked weights output", **WIDE, mask="2 5: flags"),
            case("scores scaled masked weights output", **WIDE, mask="2 5: flags", mask_kind="drop"),
            case("scores scaled masked weights output", **WIDE, mask=ADDED, mask_kind="additive"),
            case("scores masked scaled weights output", **WIDE, mask=ADDED, mask_before_scale=True),
            case("scores scaled biased weights output", **WIDE, bias="2 5"),
            case("scores scaled capped weights output", **QKV, softcap=2.5),
            case("scores scaled capped biased masked weights output", **QKV, softcap=2.5, bias="3 3", causal=True),
            case(q="4 3 2", k="2 5 2", v="2 5 3", kv_heads=2),
        ),
        outputs="output weights",
    ),
    "multihead": Expected(
        "q k v q_heads k_heads v_heads scores scaled weights heads concatenated output",
        (
            case(**HEADS, heads=2),
            case(**HEADS, heads=2, bq="6", bk="6", bv="4", bo="5"),
            case(**HEADS, heads=2, context="5 4"),
            case(x="3 4", wq="4 8", wk="4 4", wv="4 6", wo="12 5", heads=4, kv_heads=2),
            case(
                "q k v q_heads k_heads v_heads scores weights heads concatenated output", **HEADS, heads=2, scale="none"
            ),
            *(
                case(
                    "q k v q_heads k_heads v_heads scores scaled masked weights heads concatenated output",
                    **HEADS,
                    heads=2,
                    **rule,
                )
                for rule in (
                    {"causal": True, "window": 2},
                    {"causal": True, "context": "5 4", "causal_align": "end"},
                    {"padding": (2,)},
                    {"mask": [[1, 0, 1], [1, 1, 0], [0, 0, 1]], "mask_kind": "drop"},
                )
            ),
            case(
                "q k v q_heads k_heads v_heads scores masked scaled capped biased weights heads concatenated output",
                **HEADS,
                heads=2,
                causal=True,
                mask_before_scale=True,
                softcap=1.5,
                bias="2 3 3",
            ),
        ),
        outputs="output weights",
    ),
    "kv-cache": Expected(
        " ".join(f"token_{t}/{name}" for t in (1, 2, 3) for name in ("scores", "weights", "output", "cached_bytes"))
        + " output",
        (case(**QKV), case(**QKV, scale=0.5, bytes=4)),
        outputs="output largest_difference",
    ),
    "flash": Expected(
        f"{_blocks(1, 2)} output",
        (
            case(**QKV),
            case(**QKV, causal=True),
            case(**QKV, scale="none"),
            case(f"{_blocks(1)} output", **QKV, block=3),
        ),
    ),
}

