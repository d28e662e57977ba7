"""A case on which a calculation is tried, and what is expected of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Case:
    """Operands (`"3 4"` is random of that shape, a list is itself) and options; own steps and outputs, if any."""

    operands: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    steps: str = ""
    outputs: str = ""
    no_gradient: str = ""  # why there is none, where that is so of this case alone
    pools: str = ""  # why a batch of operands does not give a batch of results, likewise
    elsewhere: str = ""  # who is the witness, where no plain loops are

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
    pools: str = ""  # why a batch of operands does not give a batch of results
    inexact: str = ""  # why exact numbers are not asked for


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
