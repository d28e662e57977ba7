"""What the tests of attention share: random operands, tokens with projections, the comparison with plain loops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from witness import WITNESSES

import attncalc as ac

Array = NDArray[Any]

TOKENS = {
    "x": [[1, 0, 2, 1], [0, 1, 1, 0], [2, 1, 0, 1]],
    "wq": [[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 1, 0, 1]],
    "wk": [[0, 1, 0, 0], [1, 0, 0, 1], [0, 0, 1, 0], [1, 0, 1, 0]],
    "wv": [[1, 0, 1, 0], [0, 2, 0, 0], [0, 0, 0, 1], [0, 1, 1, 0]],
}
"""The tokens and weights of samples/qkv.json."""


def drawn(seed: int = 0, /, **shapes: tuple[int, ...]) -> dict[str, Array]:
    """Random operands of these shapes."""
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}


def agrees(name: str, operands: Mapping[str, Any], **options: Any) -> ac.Trace:
    """The trace, once all its steps are what plain loops over every entry give."""
    trace: ac.Trace = getattr(ac, name)(**operands, **options)
    known = WITNESSES[name](**{word: np.asarray(value).tolist() for word, value in operands.items()}, **options)
    for step in (*trace.steps, *trace.outputs):
        assert_allclose(trace[step.key], np.array(known[step.key], float), rtol=1e-12, atol=1e-13, err_msg=step.key)
    return trace
