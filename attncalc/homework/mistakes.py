"""The known mistakes: which calculation has which, and the slips that any answer may have."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from attncalc.calculations import TABLE
from attncalc.mistake import Mistake


def known(calculation: str) -> tuple[Mistake, ...]:
    """The mistakes of a calculation, and its other right routes, from the file beside it."""
    module = f"attncalc.calculations.{TABLE[calculation][0]}_mistakes"
    if find_spec(module) is None:
        return ()
    found: tuple[Mistake, ...] = import_module(module).MISTAKES.get(calculation, ())
    return found
