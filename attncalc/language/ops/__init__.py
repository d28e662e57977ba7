"""The primitives: one row each, in a table per family, and the functions by which authors apply them.

A family is imported when one of its functions or rows is first asked for. The two tables here name the family of each
row and function; docs/generate.py makes them from the families' files.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what __getattr__ below imports on demand
    from attncalc.language.ops.basics import *
    from attncalc.language.ops.choices import *
    from attncalc.language.ops.curves import *
    from attncalc.language.ops.lookups import *
    from attncalc.language.ops.moves import *
    from attncalc.language.ops.pairs import *
    from attncalc.language.ops.parts import *
    from attncalc.language.ops.shares import *
    from attncalc.language.ops.sliding import *
    from attncalc.language.ops.spectral import *
    from attncalc.language.ops.sums import *

ROWS = {
    "basics": "add constant constants div exp identity index input log mul neg pow random_normal size sqrt step sub "
    "sum",
    "choices": "abs and equal exponent first_maximum floor held held_or_0 less less_equal maximum minimum not peak "
    "ranking round sign where",
    "curves": "arccos cos cubable elu erf one_plus_erf sigmoid sin softplus tan tanh",
    "linear": "inverse matmul outer solve transpose",
    "lookups": "bucket collect factorial log_factorial lookup one_hot select stack take whole",
    "moves": "gather merge rename repeat reread split spread",
    "pairs": "commonest joined pair_counts",
    "parts": "concat every_other interleave listed rotate slice",
    "shares": "antilog log10 log2 log_share log_softmax log_sum_exp per ratio safely softmax softmax_slopes weigh",
    "sliding": "fold windows",
    "spectral": "characteristic_polynomial eigenvalues eigenvectors left_singular_vectors right_singular_vectors "
    "singular_values",
    "sums": "angle cosine_ratio mean multiple root_of_mean root_of_sum",
}
"""Family → its rows."""

FUNCTIONS = {
    "basics": "absolute affine angle_between arccos beside concat cosine_ratio exp halfway index inverse keep_where "
    "log log_share log_sum_exp logarithm mean outer over_all per pi power random_normal ratio rename repeat "
    "root_of_mean root_of_sum sign softmax softmax_slopes solve spread sqrt tanh total weigh",
    "choices": "compare_equal exponent first_maximum floor held held_or_0 logical_not maximum minimum peak ranking "
    "rounded",
    "curves": "cos cubable elu erf one_plus_erf sigmoid sin softplus tan",
    "lookups": "bucket factorial log_factorial lookup one_hot select stack take whole",
    "moves": "merge reread split",
    "pairs": "commonest joined pair_counts",
    "parts": "every_other interleave listed part_of put_together rotate take_apart zeros",
    "shares": "antilog log_softmax safely",
    "sliding": "Slide windows",
    "spectral": "characteristic_polynomial eigenvalues eigenvectors singular_parts",
    "sums": "degrees multiple",
}
"""Family → its functions."""


def load(row: str) -> None:
    """Import the family of a row, which adds its rows to OPS."""
    _family(ROWS, row)


def _family(table: dict[str, str], name: str) -> ModuleType:
    for family, members in table.items():
        if name in members.split():
            return import_module(f"{__name__}.{family}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if not TYPE_CHECKING:  # with __getattr__ a type checker would accept any name

    def __getattr__(name: str) -> Any:
        return getattr(_family(FUNCTIONS, name), name)
