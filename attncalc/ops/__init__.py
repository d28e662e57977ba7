"""The primitives: one row each, in a table per family, and the functions by which authors write them.

A family is imported when one of its rows or functions is first asked for; the two tables here say which one that is.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attncalc.ops.activations import *
    from attncalc.ops.classes import *
    from attncalc.ops.elementwise import *
    from attncalc.ops.linear import *
    from attncalc.ops.pairs import *
    from attncalc.ops.rearrange import *
    from attncalc.ops.reduce import *
    from attncalc.ops.rows import *
    from attncalc.ops.sampling import *
    from attncalc.ops.shares import *
    from attncalc.ops.sliding import *
    from attncalc.ops.spectral import *

ROWS = {
    "activations": "cubable elu erf one_plus_erf sigmoid softplus",
    "classes": "factorial log_factorial one_hot select whole",
    "elementwise": "abs add and arccos cos div equal exp held less less_equal log maximum minimum mul neg not pow sign "
    "sin sqrt sub tan tanh where",
    "linear": "matmul outer solve transpose",
    "pairs": "every_other interleave rotate",
    "rearrange": "concat gather listed merge rename repeat slice split spread",
    "reduce": "angle cosine_ratio first_maximum log_sum_exp mean peak ranking root_of_sum softmax sum",
    "reread": "reread",
    "rows": "bucket collect lookup stack take",
    "sampling": "random_normal",
    "shares": "log10 log2 log_share log_softmax ratio safely softmax_slopes weigh",
    "sliding": "fold windows",
    "sources": "constant constants identity index input size step",
    "spectral": "characteristic_polynomial eigenvalues eigenvectors left_singular_vectors right_singular_vectors "
    "singular_values",
}
"""Family → its rows. A test holds it against the modules."""

FUNCTIONS = {
    "activations": "cubable elu erf one_plus_erf sigmoid softplus",
    "classes": "factorial log_factorial one_hot select whole",
    "elementwise": "absolute arccos compare_equal cos exp held keep_where log logical_not maximum minimum power sign "
    "sin sqrt tan tanh",
    "linear": "outer solve",
    "pairs": "every_other interleave put_together rotate take_apart",
    "rearrange": "concat index listed merge part_of rename repeat split spread",
    "reduce": "angle_between cosine_ratio first_maximum log_sum_exp mean peak ranking root_of_sum softmax total",
    "rows": "bucket lookup stack take",
    "sampling": "random_normal",
    "shares": "log_share log_softmax logarithm ratio safely softmax_slopes weigh",
    "sliding": "Slide windows",
    "spectral": "characteristic_polynomial eigenvalues eigenvectors singular_parts",
}
"""Family → what authors write with. A test holds it against the modules."""


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
