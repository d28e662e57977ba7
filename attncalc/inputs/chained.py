"""What a saved result supplies beside itself where commands are chained: its other outputs, under their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attncalc.inputs.objects import JsonFile
from attncalc.inputs.resolve import Found
from attncalc.inputs.supplied import fill, holds

if TYPE_CHECKING:
    from attncalc.calculation import Operand
    from attncalc.inputs.calls import Call


def supply_outputs(call: Call, operand: Operand, contents: JsonFile) -> None:
    """Take the other outputs of a result that is called as its operand is: of `qkv`, k and v beside q."""
    outputs = contents.tree.get("outputs")
    if isinstance(outputs, dict) and next(iter(outputs), None) == operand.name:
        held = holds(call, JsonFile(contents.source, outputs))
        fill(call, {name: Found(contents, f"outputs/{held[name]}") for name in call.unfilled & held.keys()})
