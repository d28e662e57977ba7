"""The catalogue holds the known mistakes of each calculation, and the slips that any answer may have."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

from attncalc.calculations import TABLE
from attncalc.declare.mistake import Mistake

ANY = "any calculation"
"""Under this name the slips are listed."""


class Slip(NamedTuple):
    """A slip: what it is called, what was done, and a pointer."""

    id: str
    says: str
    hint: str


TRANSPOSED = Slip("slip-transposed-answer", "the answer is transposed", "What does each row of this step stand for?")
SIGN = Slip("slip-sign", "a sign is wrong", "Look at the signs once more.")
PERCENT = Slip("slip-percent", "written in per cent", "Is that a share of 1, or of 100?")
POINT = Slip("slip-decimal-point", "the decimal point is moved", "Look at the decimal point once more.")
ROWS = Slip("slip-rows-permuted", "rows are in the wrong order", "Is every row where it belongs?")
FIRST_ROW = Slip("slip-one-row-only", "only the first row was worked out", "Were the other rows worked out as well?")
ENTRY = Slip("slip-one-entry", "one entry is wrong, all others are right", "Work this entry out once more.")
REST = Slip(
    "slip-complement",
    "one entry is wrong, and the last one of its row is what was left of 1",
    "Work out every entry of that row by itself. Their sum is the check.",
)
INPUT = Slip(
    "slip-copied-input",
    "one number of an operand was misread",
    "Compare the numbers that you used with those that were given.",
)
FINAL = Slip(
    "slip-final-rounding", "one unit off in the last digit, which counts as right", "Is the last digit rounded?"
)

SLIPS = (TRANSPOSED, SIGN, PERCENT, POINT, ROWS, FIRST_ROW, ENTRY, REST, INPUT, FINAL)
"""Every slip that is known; the last one goes by its verdict, right to rounding."""


def known(calculation: str) -> tuple[Mistake, ...]:
    """The mistakes of a calculation, and the alternatives to its rules, from the file of its family."""
    module = f"attncalc.mistakes.{TABLE[calculation][0]}"
    if find_spec(module) is None:
        return ()
    found: tuple[Mistake, ...] = import_module(module).MISTAKES.get(calculation, ())
    return found


def listed(calculation: str | None = None) -> list[dict[str, str]]:
    """Every mistake of a calculation, or of all, and the slips: id, wrong rule, hint, kind."""
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for name in [calculation] if calculation else TABLE:
        for m in known(name):
            if m.kind != "alternative":
                row = {"calculation": name, "id": m.id, "kind": m.kind, "says": m.says, "hint": m.hint}
                rows.setdefault((name, m.id), row | {"alias_of": m.alias_of})
    for slip in SLIPS:
        row = {"calculation": ANY, "id": slip.id, "kind": "slip", "says": slip.says, "hint": slip.hint}
        rows[ANY, slip.id] = row | {"alias_of": ""}
    return list(rows.values())
