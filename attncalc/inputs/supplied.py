"""What a file that a word of a call names supplies beside: other operands, options, or the whole problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attncalc.errors import InputError
from attncalc.inputs.documents import (
    BACKWARD,
    as_option,
    check_version,
    document_inputs,
    document_options,
    options_beside,
)
from attncalc.inputs.names import matching
from attncalc.inputs.objects import JsonFile
from attncalc.inputs.resolve import TABLE, Found, find
from attncalc.text import both, near, quoted

if TYPE_CHECKING:
    from attncalc.calculation import Operand
    from attncalc.inputs.calls import Call
    from attncalc.inputs.contents import Contents

WRAPPERS = ("inputs", "operands")
"""Keys under which a problem holds its operands."""


def supply(call: Call, operand: Operand, word: str, found: Found | None) -> None:
    """Take from the file that a word names what it holds for other operands, and its options."""
    if operand.kind == "model":
        if found is None:
            raise InputError(f"{operand.name}: there is no file {quoted(word)}", hint="a model is a JSON file")
        call.files[operand.name] = found
        del call.words[operand.name]
        return
    if found is None or found.name is not None or found.at:
        return
    contents = found.contents
    if isinstance(contents, JsonFile) and contents.is_document:
        _supply_problem(call, operand, contents)
        return
    if unwrapped := _unwrapped(call, operand, contents):
        del call.words[operand.name]
        supply_whole(call, unwrapped)
        return
    held = holds(call, contents)
    if operand.name not in held:
        if len(held) < 2 or set(contents.names) - set(held.values()) - _option_names(call):
            return  # its keys are something else: the words of a vocabulary
        del call.words[operand.name]
    elif len(held) > 1:
        tell_unread(call, contents, held)
    _supply_held(call, contents, {name: key for name, key in held.items() if name != operand.name})


def _supply_held(call: Call, contents: Contents, held: Mapping[str, str]) -> None:
    fill(call, {name: Found(contents, key) for name, key in held.items()})
    call.options = _flat_options(call, contents) | call.options


def _supply_problem(call: Call, operand: Operand, contents: JsonFile) -> None:
    """Take the operands and options of a document, where it is the call's problem and does not stand for its result.

    It is the problem if it is of the calculation that is called, and either the only operand or, without a name in
    front that says which operand it is, the holder of one that no word fills, or of no result to stand for.
    """
    if contents.tree["calculation"] not in _problems(call):
        from attncalc.inputs.chained import supply_outputs  # few files hold a result of another calculation

        supply_outputs(call, operand, contents)
        return
    check_version(contents)
    inputs = document_inputs(contents, call.operands, contents.tree["calculation"])
    only = call.by_position == 1 if operand.positional else call.by_position + call.by_name == 1
    fills = call.unfilled & inputs.keys() or not contents.tree.keys() & {"result", "outputs"}
    if only or (operand.positional and operand.name not in call.named and fills):
        del call.words[operand.name]
        fill(call, inputs)
        call.options = document_options(contents, call.calculation) | call.options


def _unwrapped(call: Call, operand: Operand | None, contents: Contents) -> JsonFile | None:
    """A problem that names no calculation, as an object of its operands and options: the call names the calculation.

    It holds the operand that its word is for, or several others, under `inputs` or `operands`.
    """
    if not isinstance(contents, JsonFile) or not isinstance(contents.tree, dict):
        return None
    for key in WRAPPERS:
        inner = contents.tree.get(key)
        if isinstance(inner, dict):
            beside = {name: contents.tree[name] for name in ("options", "labels") if name in contents.tree}
            whole = JsonFile(contents.source, beside | inner, f"{key}/")
            held = holds(call, whole)
            if len(held) > 1 or (operand is not None and operand.name in held):
                return whole
    return None


def _problems(call: Call) -> list[str]:
    """The calculations whose documents are a problem of the call."""
    name = call.calculation.name
    return [name, *(prefix + name for prefix in BACKWARD if call.backward)]


def whole_problem(call: Call, word: str, places: Sequence[Operand]) -> Contents | None:
    """The problem that a word names beside named operands or in the place of tokens, where it can be no operand.

    It is a document of the calculation that is called, or holds operands by name, that of the place among them.
    """
    found = find(word, TABLE, call.reading)
    if found is None or found.name is not None or found.at:
        return None
    contents = found.contents
    if isinstance(contents, JsonFile) and contents.is_document:
        return contents if contents.tree["calculation"] in _problems(call) else None
    contents = _unwrapped(call, next(iter(places), None), contents) or contents
    held = holds(call, contents)
    return contents if held and all(operand.name in held for operand in places[:1]) else None


def supply_whole(call: Call, contents: Contents) -> None:
    """Take from a problem what no word of the call is for."""
    if isinstance(contents, JsonFile) and contents.is_document:
        check_version(contents)
        fill(call, document_inputs(contents, call.operands, contents.tree["calculation"]))
        call.options = document_options(contents, call.calculation) | call.options
        return
    held = holds(call, contents)
    tell_unread(call, contents, held)
    _supply_held(call, contents, held)


def fill(call: Call, files: Mapping[str, Found]) -> None:
    """Take operands from files, where no file fills them yet."""
    call.files = dict(files) | call.files


def holds(call: Call, contents: Contents) -> dict[str, str]:
    """The operands that a file holds by name, and those names."""
    held: dict[str, str] = {}
    for operand in call.operands:
        key = matching(operand.name, contents.names, contents.source)
        if key is not None and key not in held.values():
            held[operand.name] = key
    return held


def _option_names(call: Call) -> set[str]:
    return {option.name for option in call.calculation.options}


def _flat_options(call: Call, contents: Contents) -> dict[str, Any]:
    """The options that an object holds, under `options` or beside its operands."""
    if not isinstance(contents, JsonFile) or not isinstance(contents.tree, dict):
        return {}
    return options_beside(contents, call.calculation) | document_options(contents, call.calculation)


def tell_unread(call: Call, contents: Contents, held: Mapping[str, str]) -> None:
    """Note the names of a file with several operands that are none of the call's."""
    known = _option_names(call)
    held_back = [name for name in _keys(contents) if name not in held.values() and as_option(name) not in known]
    unread = [name for name in held_back if not _is_remark(contents, name)]
    if unread:
        mend = near(unread[0], [operand.name for operand in call.operands if operand.name not in held])
        names = both(map(quoted, unread[:3])) + (", …" if len(unread) > 3 else "")
        call.reading.tell(
            f"{contents.source}: {names} {'is' if len(unread) == 1 else 'are'} passed over: "
            f"{call.calculation.name} has no such operand{'; ' + mend if mend else ''}"
        )


def _keys(contents: Contents) -> Sequence[str]:
    """The names of what a file holds, switches too."""
    tree = contents.tree if isinstance(contents, JsonFile) and isinstance(contents.tree, dict) else {}
    return [*contents.names, *(key for key, value in tree.items() if isinstance(value, bool))]


def _is_remark(contents: Contents, name: str) -> bool:
    return isinstance(contents, JsonFile) and contents.word(name) is not None
