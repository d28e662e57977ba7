"""What `--weights` names: a file, or an object in one, that holds operands by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attncalc.errors import InputError
from attncalc.inputs.misses import near_files
from attncalc.inputs.objects import JsonFile
from attncalc.inputs.resolve import TABLE, Found, find
from attncalc.inputs.supplied import fill, holds, tell_unread
from attncalc.text import quoted, visible

if TYPE_CHECKING:
    from attncalc.inputs.calls import Call
    from attncalc.inputs.contents import Contents


def supply_weights(call: Call, word: str) -> None:
    """Take every operand that a file of weights holds, or an object of it."""
    found = find(word, TABLE, call.reading)
    contents = _holder(found) if found else None
    held = holds(call, contents) if contents else {}
    if not contents or not held:
        fault = f"--weights {quoted(word)} is no file that holds operands of {call.calculation.name} by name"
        raise InputError(fault, hint="" if found else near_files(word))
    tell_unread(call, contents, held)
    fill(call, {name: Found(contents, key) for name, key in held.items()})


def _holder(found: Found) -> Contents | None:
    """The file, or the object that `model.json#encoder[0]` picks; None where that is no object."""
    contents, path = found.contents, found.name or ""
    if not path and not found.at:
        return contents
    if not isinstance(contents, JsonFile) or (path and not isinstance(contents.tree, dict)):
        return None
    value, path = contents.entry(path)[1::-1] if path else (contents.tree, "")
    for i in found.at:
        if not isinstance(value, list) or not -len(value) <= i < len(value):
            return None
        value, path = value[i], f"{path}[{i}]"
    return JsonFile(f"{contents.source}#{visible(path, 80)}", value) if isinstance(value, dict) else None
