"""The known mistakes: which calculation has which, and the slips that any answer may have."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from attncalc.calculations import TABLE
from attncalc.mistake import Mistake

ANY = "any calculation"
"""Under this name the slips are listed."""


def known(calculation: str) -> tuple[Mistake, ...]:
    """The mistakes of a calculation, and its other right routes, from the file beside it."""
    module = f"attncalc.calculations.{TABLE[calculation][0]}_mistakes"
    if find_spec(module) is None:
        return ()
    found: tuple[Mistake, ...] = import_module(module).MISTAKES.get(calculation, ())
    return found


def listed(calculation: str | None = None) -> list[dict[str, str]]:
    """Every mistake of a calculation, or of all, and the slips: id, wrong rule, hint, kind."""
    from attncalc.homework.slips import SLIPS

    rows: dict[tuple[str, str], dict[str, str]] = {}
    for name in [calculation] if calculation else TABLE:
        for m in known(name):
            if m.kind != "route":
                row = {"calculation": name, "id": m.id, "kind": m.kind, "says": m.says, "hint": m.hint}
                rows.setdefault((name, m.id), row | {"alias_of": m.alias_of})
    for slip in SLIPS:
        row = {"calculation": ANY, "id": slip.id, "kind": "slip", "says": slip.says, "hint": slip.hint}
        rows[ANY, slip.id] = row | {"alias_of": ""}
    return list(rows.values())
