"""What is to be computed, before anything is: a calculation, its operands and options, and a derivative of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from attncalc.declare.calculation import Calculation
from attncalc.declare.options import checked
from attncalc.record.trace import NOTHING, Given


class Backward(NamedTuple):
    """What a backward pass is asked for: gradients of these operands (none named: of all), checked or not."""

    wrt: tuple[str, ...] = ()
    gradcheck: bool = False
    jacobian: bool = False  # one gradient for each entry of the result, instead of one of their sum


_DERIVATIVES = ("grad", "jacobian")


def told_apart(name: str) -> tuple[str, Backward | None]:
    """The name of a problem → its calculation's, and the derivative that is meant: "grad attention", "jacobian dot"."""
    derivative, _, calculation = name.partition(" ")
    return (calculation, Backward(jacobian=derivative == "jacobian")) if derivative in _DERIVATIVES else (name, None)


class Problem(NamedTuple):
    """What is to be computed, before anything is."""

    calculation: Calculation
    inputs: Mapping[str, Given]
    options: Mapping[str, Any] = NOTHING  # the ones that were given; the others have defaults
    backward: Backward | None = None

    @property
    def name(self) -> str:
        """`attention`, or `grad attention` for its backward pass, `jacobian attention` for its Jacobian."""
        if self.backward is None:
            return self.calculation.name
        return f"{'jacobian' if self.backward.jacobian else 'grad'} {self.calculation.name}"

    @property
    def settled(self) -> dict[str, Any]:
        """Every option: as it was given, where that is as declared, else its default."""
        if not self.options:
            return self.calculation.defaults
        return self.calculation.defaults | checked(self.calculation, self.options)
