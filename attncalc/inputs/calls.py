"""The operands and options of one call, from the words of the command line and what their files hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from attncalc.errors import InputError, OptionError
from attncalc.inputs.documents import BACKWARD, UPSTREAM, document_inputs, document_options, option_value
from attncalc.inputs.literals import looks_numeric
from attncalc.inputs.models import expand_model
from attncalc.inputs.names import matching
from attncalc.inputs.objects import JsonFile, plain
from attncalc.inputs.resolve import TABLE, Found, find, read_operands, spoken_words
from attncalc.text import both, near, quoted

if TYPE_CHECKING:
    from attncalc.calculation import Calculation, Operand
    from attncalc.inputs.contents import Contents
    from attncalc.inputs.reading import Reading
    from attncalc.trace import Given


class Gathered(NamedTuple):
    """What one call has been given."""

    inputs: dict[str, Given]  # in the order of the calculation's operands
    options: dict[str, Any]  # those that were given, in a file or on the command line
    notes: tuple[str, ...]  # what the reader should know of how all this was read


class _Call:
    """One call while its words are told apart: which operand each word is for, and what their files supply beside."""

    def __init__(self, calculation: Calculation, operands: list[Operand], reading: Reading, *, backward: bool) -> None:
        self.calculation = calculation
        self.operands = operands
        self.reading = reading
        self.backward = backward
        self.words: dict[str, str] = {}
        self.files: dict[str, Found] = {}
        self.options: dict[str, Any] = {}
        self.named: set[str] = set()  # operands whose word stands behind their name
        self.unfilled: set[str] = set()  # positional operands without a word
        self.by_position = 0  # words for positional operands
        self.by_name = 0  # words behind a name


def gather(
    calculation: Calculation,
    positional: Sequence[str],
    named: Mapping[str, str],
    options: Mapping[str, Any],
    reading: Reading,
    *,
    backward: bool = False,
) -> Gathered:
    """The operands of one call: `positional` words in the order of the operands, `named` ones, and what files supply.

    A file that holds several operands by name supplies those without a word of their own, and its options; what is
    given on the command line wins. With `backward` the operand `upstream` may be given too, and a saved backward pass
    may be the problem. Operands that are missing are not this function's concern.
    """
    backward = backward or UPSTREAM.name in named
    operands = [*calculation.operands, UPSTREAM] if backward else [*calculation.operands]
    call = _Call(calculation, operands, reading, backward=backward)
    _assign(call, positional, named)
    _check_transposed(call)
    files, held = expand_model(calculation, call.files, call.options)
    operands += [o for o in calculation.operands_in(files) if o not in operands]
    spoken = spoken_words(operands, call.words, files)
    inputs = read_operands([o for o in operands if o.name not in spoken], call.words, files, reading)
    supplied = {name: value for name, value in held.items() if name not in inputs}
    return Gathered(inputs, supplied | spoken | dict(options), tuple(reading.notes))


def _assign(call: _Call, positional: Sequence[str], named: Mapping[str, str]) -> None:
    """Find the operand that each word is for; files that hold several may fill the places of others."""
    names = {operand.name: operand for operand in call.operands}
    places = [operand for operand in call.operands if operand.positional and operand.name not in named]
    whole = not places or places[0].kind == "tokens"  # words are tokens, but a saved problem alone is the problem
    if whole and len(positional) == 1 and _supply_whole(call, positional[0]):
        return
    if len(positional) > len(places):
        raise _surplus(call, positional, places)
    call.unfilled = {operand.name for operand in places[len(positional) :]}
    call.by_position = len(positional) + sum(name in names and names[name].positional for name in named)
    call.by_name, call.named = len(named), set(named)
    for name, word in named.items():
        if name in names:
            call.words[name] = word
            _supply(call, names[name], word)
        elif name == "weights":
            _supply_weights(call, word)
        else:
            raise OptionError(f"{call.calculation.name} has no operand {quoted(name)}", hint=near(name, names))
    for i, word in enumerate(positional):
        free = [o for o in places if o.name not in call.words and o.name not in call.files]
        operand = free[0] if free else places[i]
        if operand.name in call.words:
            raise _surplus(call, positional, places)
        call.words[operand.name] = word
        _supply(call, operand, word)


def _supply(call: _Call, operand: Operand, word: str) -> None:
    """Take from the file that a word names what it holds for other operands, and its options."""
    found = find(word, operand, call.reading)
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
    held = _held(call, contents)
    if operand.name not in held:
        if len(held) < 2 or set(contents.names) - set(held.values()) - _option_names(call):
            return  # its keys are something else: the words of a vocabulary
        del call.words[operand.name]
    elif len(held) > 1:
        _tell_unread(call, contents, held)
    _fill(call, {name: Found(contents, key) for name, key in held.items() if name != operand.name})
    call.options = _flat_options(call, contents) | call.options


def _supply_problem(call: _Call, operand: Operand, contents: JsonFile) -> None:
    """Take the operands and options of a document, where it is the call's problem and does not stand for its result.

    It is the problem if it is of the calculation that is called, and either the only operand or, without a name in
    front that says which operand it is, the holder of one that no word fills.
    """
    name = call.calculation.name
    if contents.tree["calculation"] not in [name, *(prefix + name for prefix in BACKWARD if call.backward)]:
        return
    inputs = document_inputs(contents, call.operands, contents.tree["calculation"])
    only = call.by_position == 1 if operand.positional else call.by_position + call.by_name == 1
    if only or (operand.positional and operand.name not in call.named and call.unfilled & inputs.keys()):
        del call.words[operand.name]
        _fill(call, inputs)
        call.options = document_options(contents, call.calculation) | call.options


def _supply_whole(call: _Call, word: str) -> bool:
    """Take everything from a document of the calculation that is called, where that has no operand for it to be."""
    found = find(word, TABLE, call.reading)
    contents = found.contents if found else None
    if not isinstance(contents, JsonFile) or not contents.is_document:
        return False
    if contents.tree["calculation"] != call.calculation.name:
        return False
    _fill(call, document_inputs(contents, call.operands, call.calculation.name))
    call.options = document_options(contents, call.calculation) | call.options
    return True


def _supply_weights(call: _Call, word: str) -> None:
    """Take every operand that a file of weights holds."""
    found = find(word, TABLE, call.reading)
    held = _held(call, found.contents) if found else {}
    if not found or not held:
        raise InputError(f"--weights {quoted(word)} is no file that holds operands of {call.calculation.name} by name")
    _tell_unread(call, found.contents, held)
    _fill(call, {name: Found(found.contents, key) for name, key in held.items()})


def _fill(call: _Call, files: Mapping[str, Found]) -> None:
    call.files = dict(files) | call.files


def _held(call: _Call, contents: Contents) -> dict[str, str]:
    """The operands that a file holds by name, and those names."""
    held: dict[str, str] = {}
    for operand in call.operands:
        key = matching(operand.name, contents.names, contents.source)
        if key is not None and key not in held.values():
            held[operand.name] = key
    return held


def _option_names(call: _Call) -> set[str]:
    return {option.name for option in call.calculation.options}


def _flat_options(call: _Call, contents: Contents) -> dict[str, Any]:
    """The options that an object holds, under `options` or beside its operands."""
    if not isinstance(contents, JsonFile) or not isinstance(contents.tree, dict):
        return {}
    known = {option.name: option for option in call.calculation.options if not call.calculation.operand(option.name)}
    beside = {
        option.name: option_value(option, plain(value, contents.source), f"{contents.source}: {key}")
        for key, value in contents.tree.items()
        if (option := known.get(_as_option(key)))
    }
    return beside | document_options(contents, call.calculation)


def _tell_unread(call: _Call, contents: Contents, held: Mapping[str, str]) -> None:
    """Note the names of a file with several operands that are none of the call's."""
    known = _option_names(call)
    held_back = [name for name in _keys(contents) if name not in held.values() and _as_option(name) not in known]
    unread = [name for name in held_back if not _is_remark(contents, name)]
    if unread:
        mend = near(unread[0], [operand.name for operand in call.operands if operand.name not in held])
        names = both(map(quoted, unread[:3])) + (", …" if len(unread) > 3 else "")
        call.reading.tell(
            f"{contents.source}: {names} {'is' if len(unread) == 1 else 'are'} passed over: "
            f"{call.calculation.name} has no such operand{'; ' + mend if mend else ''}"
        )


def _as_option(key: str) -> str:
    """How a key of a file would be spelled as an option: `Causal-Align` is causal_align."""
    return key.replace("-", "_").lower()


def _keys(contents: Contents) -> Sequence[str]:
    """The names of what a file holds, switches too."""
    tree = contents.tree if isinstance(contents, JsonFile) and isinstance(contents.tree, dict) else {}
    return [*contents.names, *(key for key, value in tree.items() if isinstance(value, bool))]


def _is_remark(contents: Contents, name: str) -> bool:
    return isinstance(contents, JsonFile) and contents.word(name) is not None


def _check_transposed(call: _Call) -> None:
    names = [operand.name for operand in call.operands]
    for name in call.reading.transpose:
        if name not in names:
            raise OptionError(
                f"--transpose {quoted(name)}: {call.calculation.name} has no such operand", hint=near(name, names)
            )
        if name not in call.words and name not in call.files:
            raise OptionError(f"--transpose {name}: {name} is not given")


def _surplus(call: _Call, positional: Sequence[str], places: Sequence[Operand]) -> InputError:
    """The error for more words than operands; a shell may have split them."""
    name, many = call.calculation.name, len(positional)
    given = f"{many} {'word was' if many == 1 else 'words were'} given"
    if not places:
        return InputError(
            f"{name} takes no operands by position, and {given}", hint=f"attncalc {name} --help lists what it takes"
        )
    taken = f"{len(places)} {'operand' if len(places) == 1 else 'operands'} ({both(o.name for o in places)})"
    numeric = sum(looks_numeric(word) for word in positional)
    return InputError(
        f"{name} takes {taken}, and {given}",
        hint='quote each vector: "1,2,3" (PowerShell splits 1,2,3 in three words)' if numeric > 1 else "",
    )
