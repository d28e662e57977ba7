"""The primitives: one row each, in a table per family, and the functions by which authors write them.

A family is imported when one of its rows is first asked for, which is when a formula has a node of it, or one of its
functions; the two tables here say which one that is.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attncalc.ops.activations import *
    from attncalc.ops.antilogs import *
    from attncalc.ops.choices import *
    from attncalc.ops.classes import *
    from attncalc.ops.functions import *
    from attncalc.ops.heads import *
    from attncalc.ops.pairs import *
    from attncalc.ops.parts import *
    from attncalc.ops.peaks import *
    from attncalc.ops.rows import *
    from attncalc.ops.sampling import *
    from attncalc.ops.shares import *
    from attncalc.ops.sliding import *
    from attncalc.ops.spectral import *
    from attncalc.ops.trigonometry import *

ROWS = {
    "activations": "cubable elu erf one_plus_erf sigmoid softplus",
    "antilogs": "antilog",
    "arithmetic": "add div mul neg sub",
    "choices": "abs and equal held less less_equal maximum minimum not sign where",
    "classes": "factorial log_factorial one_hot select whole",
    "heads": "gather merge repeat split",
    "lengths": "angle cosine_ratio root_of_mean root_of_sum",
    "linear": "matmul outer transpose",
    "pairs": "every_other interleave rotate",
    "parts": "concat listed slice",
    "peaks": "first_maximum held_or_0 peak ranking",
    "powers": "exp log pow sqrt",
    "renaming": "rename spread",
    "reread": "reread",
    "rows": "bucket collect lookup stack take",
    "sampling": "random_normal",
    "shares": "log10 log2 log_share log_softmax per ratio safely softmax_slopes weigh",
    "sliding": "fold windows",
    "soft": "log_sum_exp softmax",
    "sources": "constant constants identity index input size step",
    "spectral": "characteristic_polynomial eigenvalues eigenvectors left_singular_vectors right_singular_vectors "
    "singular_values",
    "sums": "mean sum",
    "systems": "solve",
    "trigonometry": "arccos cos sin tan tanh",
}
"""Family → its rows. A test holds it against the modules."""

FUNCTIONS = {
    "activations": "cubable elu erf one_plus_erf sigmoid softplus",
    "antilogs": "antilog",
    "choices": "compare_equal held logical_not maximum minimum",
    "classes": "factorial log_factorial one_hot select whole",
    "functions": "absolute affine angle_between arccos concat cosine_ratio exp index keep_where log log_share "
    "log_sum_exp logarithm mean outer over_all per pi power ratio rename repeat root_of_mean root_of_sum "
    "sign softmax softmax_slopes solve spread sqrt tanh total weigh",
    "heads": "merge split",
    "pairs": "every_other interleave put_together rotate take_apart",
    "parts": "listed part_of",
    "peaks": "first_maximum held_or_0 peak ranking",
    "rows": "bucket lookup stack take",
    "sampling": "random_normal",
    "shares": "log_softmax safely",
    "sliding": "Slide windows",
    "spectral": "characteristic_polynomial eigenvalues eigenvectors singular_parts",
    "trigonometry": "cos sin tan",
}
"""Module → what authors write with: in `functions` what most calculations do. A test holds it against the modules."""


def load(row: str) -> None:
    """Import the family of a row, which enters its rows in the table."""
    _family(ROWS, row)


def _family(table: dict[str, str], name: str) -> ModuleType:
    for family, names in table.items():
        if name in names.split():
            return import_module(f"{__name__}.{family}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if not TYPE_CHECKING:  # a type checker would take any name for granted

    def __getattr__(name: str) -> Any:
        return getattr(_family(FUNCTIONS, name), name)
