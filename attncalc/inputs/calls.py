"""The operands and options of one call, from the words of the command line and what their files hold."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from attncalc.common.errors import OF_LABELS, InputError, OptionError, amount, are, both, flag, near, quoted, visible
from attncalc.common.numerals import is_number
from attncalc.common.system import FORMATS, NamedTuple, exists, is_folder
from attncalc.declare.calculation import Calculation
from attncalc.declare.operands import UPSTREAM, WEIGHTS, Operand, layer_of
from attncalc.inputs.given import looks_numeric, spoken
from attncalc.inputs.json_files import JsonFile, plain
from attncalc.inputs.reading import (
    OF_DOCUMENTS,
    Contents,
    Reading,
    calculation_of,
    matching,
    option_value,
    part_of,
    word_in,
)
from attncalc.inputs.resolve import TABLE, Found, find, near_files, read_operands, read_word
from attncalc.record.trace import CHECKPOINT, NOTHING, Given
from attncalc.solve.problem import OF_DERIVATIVES, told_apart


class Gathered(NamedTuple):
    """What one call has been given."""

    inputs: dict[str, Given]  # in the order of the calculation's operands
    options: dict[str, Any]  # those that were given, in a file or on the command line
    notes: tuple[str, ...]  # what the reader should know of how all this was read


_VERSION = 1
TABLE_OF_WORDS = "embedding/table"
HEAD = "logits/weights"
"""Operands of a checkpoint: the rows of the one are words, the columns of the other classes of images."""
_WRAPPERS = ("inputs", "operands")  # keys under which a problem holds its operands


class Call:
    """A call while its words are sorted: which operand each word is for, and what their files supply besides."""

    def __init__(self, calculation: Calculation, operands: list[Operand], reading: Reading, *, backward: bool) -> None:
        self.calculation = calculation
        self.operands = operands
        self.reading = reading
        self.backward = backward
        self.words: dict[str, str] = {}
        self.files: dict[str, Found] = {}
        self.options: dict[str, Any] = {}
        self.sources: list[tuple[str, Collection[str], Mapping[str, Any]]] = []  # what each file would give
        self.named: set[str] = set()  # operands whose word stands behind their name
        self.unfilled: set[str] = set()  # positional operands without a word
        self.by_position = 0  # words for positional operands
        self.by_name = 0  # words behind a name

    def take(self, source: str, files: Mapping[str, Found], options: Mapping[str, Any] = NOTHING) -> None:
        """Take operands and options from a file, if nothing else gives them yet."""
        self.sources.append((source, files.keys(), options))
        self.files = {**files, **self.files}
        self.options = {**options, **self.options}

    def tell_overruled(self, options: Mapping[str, Any]) -> None:
        """Note which operands and options of files are overruled by a word, another file, or an option."""
        for source, names, supplied in self.sources:
            givers: dict[str, list[str]] = {}
            for name in names:
                giver = self.words[name] if name in self.words else self.files[name].contents.source
                if giver.removeprefix("@").removeprefix("path:") != source:
                    givers.setdefault(visible(giver, 40), []).append(name)
            settled = {**self.options, **options}
            for name, value in supplied.items():
                if settled[name] != value:
                    givers.setdefault(flag(name) if name in options else "another file", []).append(name)
            for giver, passed in givers.items():
                self.reading.tell(f"{both(passed)} of {source} {are(passed)} overruled by {giver}")

    def holds(self, contents: Contents) -> dict[str, str]:
        """The operands that a file holds by name, and those names."""
        held: dict[str, str] = {}
        for operand in self.operands:
            key = matching(operand.name, contents.names, contents.source)
            if key is not None and key not in held.values():
                held[operand.name] = key
        return held

    def is_problem(self, contents: Contents) -> bool:
        """Whether a file is a document of the calculation that is called, or of its derivative if that is called."""
        calculation, backward = told_apart(calculation_of(contents) or "")
        return calculation == self.calculation.name and (backward is None or self.backward)


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
    operands = [*calculation.operands]
    if backward or UPSTREAM.name in named:
        backward, operands = True, [*operands, UPSTREAM]
    call = Call(calculation, operands, reading, backward=backward)
    _assign(call, positional, named, options)
    _check_transposed(call)
    call.tell_overruled(options)
    given = {**call.options, **options}
    inputs, found = read_all(calculation, operands, call.words, call.files, given, reading)
    supplied = {name: value for name, value in found.items() if name not in inputs}
    return Gathered(inputs, supplied | dict(options), tuple(reading.notes))


def with_lists(calculation: Calculation, own: Mapping[str, Any], reading: Reading) -> dict[str, Any]:
    """A call's options; a list may stand in a file, as a table of one row or one column, like a vector."""
    found = dict(own)
    for option in calculation.options:
        word = own.get(option.name)
        if option.many and option.types and isinstance(word, str):  # of numbers
            place = Operand(option.name, option.name, (("n",),), words=option.choices)
            is_file = word.startswith(("-", "@", "path:")) or exists(word.partition("#")[0])  # called by its whole name
            if is_file and find(word, place, reading) is not None:
                found[option.name] = read_word(word, place, reading, {}).value.tolist()
    return found


def _assign(call: Call, positional: Sequence[str], named: Mapping[str, str], options: Mapping[str, Any]) -> None:
    """Find the operand that each word is for; files that hold several may fill the places of others."""
    names = {operand.name: operand for operand in call.operands}
    places = [operand for operand in call.operands if operand.positional and operand.name not in named]
    call.by_position = len(positional) + sum(name in names and names[name].positional for name in named)
    call.by_name, call.named = len(named), set(named)
    whole = None
    if len(positional) == 1 and (not places or places[0].kind in ("tokens", "model")):
        whole = _whole_problem(call, positional[0], places)
        positional = () if whole else positional
    if len(positional) > len(places):
        raise _surplus(call, positional, places)
    if WEIGHTS in named:
        _supply_weights(call, named[WEIGHTS], options, _width(call, positional, named))
    call.unfilled = {operand.name for operand in places[len(positional) :]} - call.files.keys()
    for name, word in named.items():
        if name in names:
            _supply(call, names[name], word)
        elif name != WEIGHTS:
            raise OptionError(f"{call.calculation.name} has no operand {quoted(name)}", hint=near(name, names))
    if whole:
        _supply_whole(call, whole)
    for i, word in enumerate(positional):
        free = [o for o in places if o.name not in call.words and o.name not in call.files]
        operand = free[0] if free else places[i]
        if operand.name in call.words:
            raise _surplus(call, positional, places)
        _supply(call, operand, word)


def _check_transposed(call: Call) -> None:
    names = [operand.name for operand in call.operands]
    for name in call.reading.transpose:
        if name not in names:
            raise OptionError(
                f"--transpose {quoted(name)}: {call.calculation.name} has no such operand", hint=near(name, names)
            )
        if name not in call.words and name not in call.files:
            raise OptionError(f"--transpose {name}: {name} is not given")


def _supply(call: Call, operand: Operand, word: str) -> None:
    """Take a word for its operand; if it names a file, also take what that holds for other operands, and options."""
    of_checkpoint = any(each.kind == "checkpoint" for each in call.operands)
    if operand.kind == "tokens" and of_checkpoint and exists(word) and not is_folder(word):
        word = f"@{word}"  # a checkpoint's tokens are ids, so that the word means the file
    call.words[operand.name] = word
    if operand.kind == "checkpoint":
        return  # a folder, which is read when all options are known
    found = find(word, operand, call.reading)
    if operand.kind == "model":
        if found is None:
            raise InputError(f"{operand.name}: there is no file {quoted(word)}", hint="a model is a JSON file")
        del call.words[operand.name]
        call.take(found.contents.source, {operand.name: found})
        return
    if found is None or found.name is not None or found.at:
        return
    contents = found.contents
    if calculation_of(contents) is not None:
        _supply_document(call, operand, contents)
    elif inner := _unwrapped(call, operand, contents):
        del call.words[operand.name]
        _supply_whole(call, inner)
    else:
        _supply_others(call, operand, contents)


def _supply_others(call: Call, operand: Operand, contents: Contents) -> None:
    """Take what a file holds by name for other operands, and for the one that its word is for."""
    held = call.holds(contents)
    if operand.name not in held:
        if len(held) < 2 or set(contents.names) - set(held.values()) - _option_names(call):
            return  # its keys are something else: the words of a vocabulary
        del call.words[operand.name]
    elif len(held) > 1:
        _tell_unread(call, contents, held)
    others = {name: Found(contents, key) for name, key in held.items() if name != operand.name}
    call.take(contents.source, others, document_options(contents, call.calculation))


def _supply_document(call: Call, operand: Operand, contents: Contents) -> None:
    """Take the operands and options of a document, if it is the call's problem, and not a result used as an operand.

    It is the problem if it is of the calculation that is called, and one of these holds: it is the only operand,
    without weights beside it; it has no result; or it stands without the name of an operand, and holds one that nothing
    else fills.
    """
    if not call.is_problem(contents):
        _supply_outputs(call, operand, contents)
        return
    check_version(contents)
    inputs = document_inputs(contents, call.operands)
    only = call.by_position == 1 if operand.positional else call.by_position + call.by_name == 1
    required = {each.name for each in call.operands if each.required or WEIGHTS not in call.named}
    fills = operand.name not in call.named and call.unfilled & inputs.keys() & required
    stands_for_none = not contents.members.keys() & {"result", "outputs"}
    if (only and WEIGHTS not in call.named) or (operand.positional and (fills or stands_for_none)):
        del call.words[operand.name]
        _take_document(call, contents, inputs)
        if operand.name in call.named and operand.name in inputs:  # it wins over what other files hold
            call.files[operand.name] = inputs[operand.name]


def _supply_outputs(call: Call, operand: Operand, contents: Contents) -> None:
    """For chained commands, take the other outputs of a result whose first output is the operand: of `qkv`, k and v."""
    outputs = contents.members.get("outputs")
    if isinstance(outputs, dict) and next(iter(outputs), None) == operand.name:
        held = call.holds(JsonFile(contents.source, outputs))
        others = {name: Found(contents, f"outputs/{held[name]}") for name in call.unfilled & held.keys()}
        call.take(contents.source, others)


def _supply_whole(call: Call, contents: Contents) -> None:
    """Take from a problem what no word of the call supplies."""
    if calculation_of(contents) is None:
        held = call.holds(contents)
        _tell_unread(call, contents, held)
        files = {name: Found(contents, key) for name, key in held.items()}
        call.take(contents.source, files, document_options(contents, call.calculation))
    else:
        check_version(contents)
        _take_document(call, contents, document_inputs(contents, call.operands))


def _take_document(call: Call, contents: Contents, inputs: Mapping[str, Found]) -> None:
    options = document_options(contents, call.calculation)
    tell_surplus(contents, call.calculation, inputs, options, call.reading)
    call.take(contents.source, inputs, options)


def _whole_problem(call: Call, word: str, places: Sequence[Operand]) -> Contents | None:
    """The problem that a word names, if it can be no operand: beside named operands, or in place of tokens.

    It is a document of the calculation that is called, or holds operands by name, including the one of that place.
    """
    found = find(word, TABLE, call.reading)
    if found is None or found.name is not None or found.at:
        return None
    contents = found.contents
    if calculation_of(contents) is not None:
        return contents if call.is_problem(contents) else None
    contents = _unwrapped(call, next(iter(places), None), contents) or contents
    held = call.holds(contents)
    return contents if held and all(operand.name in held for operand in places[:1]) else None


def _unwrapped(call: Call, operand: Operand | None, contents: Contents) -> JsonFile | None:
    """A problem that names no calculation, as an object of its operands and options: the call names the calculation.

    It holds the operand that its word is for, or several others, under `inputs` or `operands`.
    """
    for key in _WRAPPERS:
        inner = contents.members.get(key)
        if isinstance(inner, dict):
            beside = {name: contents.members[name] for name in ("options", "labels") if name in contents.members}
            whole = JsonFile(contents.source, beside | inner, f"{key}/")
            held = call.holds(whole)
            if len(held) > 1 or (operand is not None and operand.name in held):
                return whole
    return None


def _width(call: Call, positional: Sequence[str], named: Mapping[str, str]) -> int | None:
    """The width of the tokens x, which tells which way a matrix lies; None if it is not known yet."""
    first = call.operands[0]
    word = named.get(first.name) or (positional[0] if positional and first.positional else None)
    if first.name != "x" or word is None:
        return None
    try:
        return int(read_word(word, first, call.reading, {}).value.shape[-1])
    except (InputError, IndexError):
        return None  # reading it as an operand will tell what is wrong


def _supply_weights(call: Call, word: str, options: Mapping[str, Any], width: int | None) -> None:
    """Take every operand that `--weights` holds: a file, an object in one, or what is below a prefix of its names."""
    from attncalc.inputs.weights import taken, unread  # a door: few calls have weights in a file

    found = find(word, TABLE, call.reading)
    contents = _holder(found) if found else None
    files: dict[str, Found] = {}
    rest: list[str] = []
    prefix = ""
    if found and not found.at and found.name not in found.contents.names:
        prefix = "" if contents else (found.name or "").rstrip("./")
        contents = contents or found.contents
        files, rest = taken(contents, prefix, [o.name for o in call.operands], options, call.reading, width)
    elif contents:
        files = {name: Found(contents, key) for name, key in call.holds(contents).items()}
    if contents and prefix and not files and not rest:
        fronts = {name[: dot.start()] for name in contents.names for dot in re.finditer(r"[./]", name)}
        whole = sorted((front for front in fronts if front.endswith(f".{prefix}")), key=len)
        hint = f"did you mean {part_of(contents.source, whole[0])}?" if whole else near(prefix, fronts)
        raise InputError(f"{contents.source} holds nothing below {quoted(visible(prefix, 80))}", hint=hint)
    if not contents or not files:
        fault = f"--weights {quoted(word)} is no file that holds operands of {call.calculation.name} by name"
        raise InputError(fault, hint="" if found else near_files(word))
    if rest:
        call.reading.tell(unread(rest, contents.source, call.calculation.name))
    call.take(contents.source, files)


def from_frameworks(
    calculation: Calculation, weights: Mapping[str, Any] | str, options: Mapping[str, Any], width: int | None
) -> Gathered:
    """The operands, if any, among weights with frameworks' names: those of a state dict, or of `FILE#PREFIX`."""
    if isinstance(weights, str):
        return gather(calculation, (), {WEIGHTS: weights}, options, Reading())
    from attncalc.inputs.stored_arrays import of_arrays  # doors: few calls have such weights
    from attncalc.inputs.weights import taken, unread

    reading, contents = Reading(), of_arrays(weights, WEIGHTS)
    files, rest = taken(contents, "", [o.name for o in calculation.operands], options, reading, width)
    if files and rest:
        reading.tell(unread(rest, WEIGHTS, calculation.name))
    return Gathered(read_operands(calculation.operands, {}, files, reading)[0], {}, tuple(reading.notes))


def _holder(found: Found) -> Contents | None:
    """The file, or the object that `model.json#encoder[0]` picks; None if that is no object."""
    contents, path = found.contents, found.name or ""
    if not path and not found.at:
        return contents
    if not isinstance(contents, JsonFile) or (path and not contents.members):
        return None
    value, path = contents.entry(path)[1::-1] if path else (contents.tree, "")
    for part in found.at:
        places: tuple[object, ...] = getattr(part, "places", ())
        i = places[0] if len(places) == 1 else None
        if not isinstance(i, int) or not isinstance(value, list) or not -len(value) <= i < len(value):
            return None
        value, path = value[i], f"{path}[{i}]"
    return JsonFile(f"{contents.source}#{visible(path, 80)}", value) if isinstance(value, dict) else None


def _tell_unread(call: Call, contents: Contents, held: Mapping[str, str]) -> None:
    """Note the names in a file of several operands that are neither operands nor options of the call."""
    switches = [key for key, value in contents.members.items() if isinstance(value, bool)]
    options = _option_names(call)
    unread = [
        name for name in (*contents.names, *switches) if name not in held.values() and as_option(name) not in options
    ]
    known = [operand.name for operand in call.operands if operand.name not in held]
    _tell_passed_over(
        unread, contents, f"{call.calculation.name} has no such operand", [*known, *options], call.reading
    )


def tell_surplus(
    contents: Contents,
    calculation: Calculation,
    files: Mapping[str, Found],
    options: Mapping[str, Any],
    reading: Reading,
) -> None:
    """Note the keys of a document that nothing reads; `files` and `options` are what was found in it."""
    read, known = {*OF_DOCUMENTS}, [*OF_DOCUMENTS]
    if "inputs" not in contents.members:  # its operands and options may stand at the top
        read |= {found.name or "" for found in files.values()}
        read |= {key for key in contents.members if as_option(key) in options}
        known += [operand.name for operand in calculation.operands if operand.name not in files]
        known += [option.name for option in calculation.options if option.name not in options]
    unread = [key for key in contents.members if key not in read]
    _tell_passed_over(unread, contents, "a document has no such key", known, reading)


def _tell_passed_over(
    keys: Sequence[str], contents: Contents, why: str, known: Collection[str], reading: Reading
) -> None:
    """Note the keys of a file that are passed over, and what may be meant; remarks in words need no note."""
    free = [name for name in known if name not in contents.members]
    unread = [key for key in keys if word_in(contents, key) is None or near(key, free)]
    if unread:
        mend = near(unread[0], free) or (OF_LABELS if _are_words(contents.members.get(unread[0])) else "")
        names = both(map(quoted, unread[:3])) + (", …" if len(unread) > 3 else "")
        reading.tell(f"{contents.source}: {names} {are(unread)} passed over: {why}{'; ' + mend if mend else ''}")


def _are_words(held: Any) -> bool:
    return isinstance(held, list) and bool(held) and all(type(word) is str and not is_number(word) for word in held)


def _option_names(call: Call) -> set[str]:
    return {option.name for option in call.calculation.options}


def _surplus(call: Call, positional: Sequence[str], places: Sequence[Operand]) -> InputError:
    """The error for more words than operands; a shell may have split them."""
    name, many = call.calculation.name, len(positional)
    given = f"{amount(many, 'word was', 'words were')} given"
    by_name = [o.name for o in call.operands if o.positional and o.name in call.named]
    if not places and by_name:
        once = f"{name} takes each operand once: leave out --{by_name[0]} or the word"
        mend = OF_LABELS if _are_words(re.split(r"[,;\s]+", positional[0])) and "," in positional[0] else once
        return InputError(f"{both(by_name)} {are(by_name)} given by name, but {given} by position", hint=mend)
    if not places and (said := call.calculation.taking(positional)):
        return InputError(f"{name} takes no operands by position, but {given}", hint=f"did you mean {said}?")
    if not places:
        needed = [flag(o.name) for o in call.calculation.options if o.default is None and int in o.types and not o.many]
        named = " ".join(f"{option} {visible(word, 40)}" for option, word in zip(needed, positional, strict=False))
        mend = f"attncalc {name} {named}" if len(needed) == many else f"attncalc {name} --help lists what it takes"
        return InputError(f"{name} takes no operands by position, but {given}", hint=mend)
    taken = f"{amount(len(places), 'operand')} ({both(o.name for o in places)})"
    numeric = [word for word in positional if looks_numeric(word.rstrip("%"))]
    hint, last = "", positional[-1]
    if said := call.calculation.taking(positional):
        hint = f"did you mean {said}?"
    elif len(numeric) > 1 and any(re.search(r"[,;\s]", word.strip()) for word in numeric):
        hint = 'the rows of a matrix are one word: "1,2; 3,4"'
    elif len(numeric) > 1:
        hint = 'quote each vector: "1,2,3" (PowerShell splits 1,2,3 in three words)'
    elif Path(last).suffix and Path(last).suffix.lower() not in FORMATS:  # none that is read: a page is meant
        hint = f"-o {visible(last, 40)} writes the page there"
    return InputError(f"{name} takes {taken}, but {given}", hint=hint)


def renamed(calculation: Calculation, given: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """What a call is given, by operands; with some options, one operand takes the place of another."""
    found = dict(given)
    for operand in calculation.operands:
        place, _, condition = operand.replaces.partition(" if ")
        option, _, word = condition.partition("=")
        if place in found and operand.name not in found and options.get(option) == word:
            found[operand.name] = found.pop(place)
    return found


def read_all(
    calculation: Calculation,
    operands: Sequence[Operand],
    words: Mapping[str, str],
    files: Mapping[str, Found],
    options: Mapping[str, Any],
    reading: Reading,
) -> tuple[dict[str, Given], dict[str, Any]]:
    """The operands of a call from words and files, and its options: given, of a model, or words in place of operands.

    A model's options with usual values count as not given.
    """
    given = options
    model = next((o.name for o in calculation.operands if o.kind == "model" and o.name in files), None)
    if model is not None:
        from attncalc.inputs.models import from_file  # a door: few calculations have one

        files, options = from_file(model, calculation, files, options)
    held = next((o.name for o in calculation.operands if o.kind == "checkpoint"), None)
    checkpoint: dict[str, Given] = {}
    stored: dict[str, Found] = {}
    if held is not None and (held in words or held in files):
        from attncalc.inputs import checkpoints  # a door, as above

        path = words[held] if held in words else checkpoints.unchanged(files[held], reading)
        stored, options, checkpoint[held] = checkpoints.unfolded(path, reading, options)
        files = {name: file for name, file in files.items() if name != held} | stored
        words = renamed(calculation, {name: word for name, word in words.items() if name != held}, options)
    operands = [*operands, *(o for o in calculation.operands_in(files) if o not in operands)]
    try:
        inputs, spoken = read_operands(operands, words, files, reading)
    except InputError as fault:
        said = calculation.taking(word for word in words.values() if quoted(word) in fault.message)
        fault.hint = f"did you mean {said}?" if said else fault.hint
        raise
    for name in stored:
        inputs[name] = inputs[name].noted(CHECKPOINT, inputs[name].source)
    if TABLE_OF_WORDS in stored or HEAD in stored:
        from attncalc.inputs.vocabularies import classes_of, words_of  # a door, as above

        words_first = (TABLE_OF_WORDS, 0, words_of), (HEAD, 1, classes_of)  # a model without words has classes
        name, axis, told = next(each for each in words_first if each[0] in stored)
        known = told(str(checkpoint[held or ""].value), inputs[name].value.shape[axis])
        inputs[name] = inputs[name]._replace(labels={axis: known} if known else {})
    return checkpoint | inputs, {**calculation.unusual(options), **given, **spoken}


def document_inputs(contents: Contents, operands: Sequence[Operand]) -> dict[str, Found]:
    """Where in a document each operand is; a name among `inputs` that is no operand's is an error.

    A document that was written by hand may have its operands and options at the top, beside `calculation`.
    """
    if "inputs" not in contents.members:
        beside = {key: value for key, value in contents.members.items() if key != "calculation"}
        flat = JsonFile(contents.source, beside)
        keys = {operand.name: matching(operand.name, flat.names, contents.source) for operand in operands}
        return {name: Found(flat, key) for name, key in keys.items() if key is not None}
    inputs = contents.members["inputs"]
    if not isinstance(inputs, dict):
        raise InputError(f"{contents.source}: inputs is {spoken(inputs)}, not an object of operands")
    inner = JsonFile(contents.source, inputs, "inputs/", inputs.get("labels", contents.members.get("labels")))
    names = [operand.name for operand in operands]
    found: dict[str, Found] = {}
    for key, value in inputs.items():
        if key == "labels" or value is None:
            continue
        holder, held = inner, [key]
        if key == "weights" and "weights" not in names and isinstance(value, dict):
            holder = JsonFile(contents.source, value, "inputs/weights/", value.get("labels"))
            held = list(holder.names)
        for each in held:
            name = _operand(each, names, contents)
            if name in found:
                raise InputError(f"{contents.source}: inputs hold {name} twice, once as {quoted(each)}")
            found[name] = Found(holder, each)
    return found


def document_options(contents: Contents, calculation: Calculation) -> dict[str, Any]:
    """The options of a document; a name that is no option's is an error.

    If operands stand at the top, options may stand beside them, `Causal-Align` as well as `causal_align`.
    """
    source, members = contents.source, contents.members
    options = members.get("options", {})
    if not isinstance(options, dict):
        raise InputError(f"{source}: options is {spoken(options)}, not an object")
    called = calculation_of(contents)
    found: dict[str, Any] = {}
    if called is None or "inputs" not in members:
        known = {option.name: option for option in calculation.options if not calculation.operand(option.name)}
        beside = ((key, value, known.get(as_option(key))) for key, value in members.items())
        found = {o.name: option_value(o, plain(value, source), f"{source}: {key}") for key, value, o in beside if o}
    derivative = called is not None and told_apart(called)[1] is not None
    for key, value in options.items():
        name, place = key.replace("-", "_"), f"{source}: options/{key}"
        option = calculation.option(name)
        if option is not None:
            found[name] = option_value(option, plain(value, source), place)
        elif derivative and name in OF_DERIVATIVES:
            found[name] = _of_derivative(name, value, place)
        elif isinstance(value, bool) and calculation.opposite(name):
            found[name] = value
        else:
            names = [option.name for option in calculation.options]
            raise InputError(
                f"{source}: {calculation.name} has no option {quoted(key)}",
                hint=near(key, names) or f"it has {', '.join(names) or 'none'}",
            )
    return calculation.unusual(found) if "steps" in members else found  # a result is saved with all, given or not


def as_option(key: str) -> str:
    """How a key of a file would be spelled as an option."""
    return key.replace("-", "_").lower()


def check_version(contents: Contents) -> None:
    """Raise for a document of another version, whose keys may mean something else."""
    version = contents.members.get("attncalc", _VERSION)
    if plain(version, contents.source) != _VERSION:
        raise InputError(
            f"{contents.source}: the document is of version {quoted(str(version))}, but only {_VERSION} can be read"
        )


def _operand(key: str, names: Sequence[str], contents: Contents) -> str:
    """The operand that a key of a document means; an operand of a layer has its whole name."""
    if layer_of(key)[0]:
        return key
    for name in [key] if key in names else names:
        if matching(name, [key], contents.source):
            return name
    raise InputError(
        f"{contents.source}: {calculation_of(contents)} has no operand {quoted(key)}",
        hint=near(key, names) or f"it has {', '.join(names)}",
    )


def _of_derivative(name: str, value: Any, place: str) -> tuple[str, ...] | bool:
    """The switch `gradcheck`, or the operands that `wrt` names, in a list or as on the command line."""
    if name == "gradcheck":
        if isinstance(value, bool):
            return value
        raise InputError(f"{place} is {spoken(value)}, not true or false")
    names = value.replace(",", " ").split() if type(value) is str else value
    if not isinstance(names, list):
        raise InputError(f"{place} is {spoken(value)}, not a list of operands' names")
    for i, each in enumerate(names):
        if type(each) is not str:  # nor a number, which is kept as its digits
            raise InputError(f"{place}[{i}] is {spoken(each)}, not the name of an operand")
    return tuple(names)
