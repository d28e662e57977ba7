"""Problems and saved results: the calculation that a document names, its operands, its options, every name checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from attncalc.calculation import UPSTREAM, layer_of
from attncalc.errors import InputError
from attncalc.inputs.arrays import spoken
from attncalc.inputs.names import matching
from attncalc.inputs.objects import JsonFile, plain
from attncalc.inputs.paths import is_folder, shown
from attncalc.inputs.resolve import TABLE, Found, find, read_operands, spoken_words
from attncalc.text import near, quoted

if TYPE_CHECKING:
    from attncalc.calculation import Calculation, Operand, Option
    from attncalc.inputs.reading import Reading
    from attncalc.trace import Given

BACKWARD = ("grad ", "jacobian ")  # what stands before a calculation's name where its derivative is meant
_VERSION = 1


class Document(NamedTuple):
    """A problem or a saved result."""

    calculation: str  # "attention", "grad attention"
    inputs: dict[str, Given]
    options: dict[str, Any]  # those that it gives
    document: dict[str, Any]  # the whole, as it was read


def load_document(word: str, reading: Reading) -> Document:
    """The problem or saved result that a word names: a file, or `-`."""
    found = find(word, TABLE, reading)
    if found is None and is_folder(word):
        raise InputError(f"{shown(word)} is a folder", hint="name a file in it")
    if found is None:
        from attncalc.inputs.misses import near_files  # few words name nothing

        mend = near_files(word) or "a document is the file of a problem, or of a result: attncalc sample lists some"
        raise InputError(f"there is no document {quoted(word)}", hint=mend)
    contents = found.contents
    if found.name or found.at:
        raise InputError(f"{quoted(word)} is a part of a document", hint=f"name the whole: {contents.source}")
    if not isinstance(contents, JsonFile) or not isinstance(contents.tree, dict):
        raise InputError(
            f"{contents.source} is not a document", hint="a document is a JSON object with its calculation"
        )
    name = _calculation(contents)
    base = _base(name)
    from attncalc.calculations import TABLE as KNOWN
    from attncalc.calculations import load

    if base not in KNOWN:
        raise InputError(f"{contents.source}: there is no calculation called {quoted(name)}", hint=near(base, KNOWN))
    calculation = load(base)
    operands = [*calculation.operands, UPSTREAM] if name != base else [*calculation.operands]
    from attncalc.inputs.models import expand_model  # which reads options as this module does

    files, options = expand_model(
        calculation, document_inputs(contents, operands, name), document_options(contents, calculation)
    )
    operands += [o for o in calculation.operands_in(files) if o not in operands]
    spoken = spoken_words(operands, {}, files)
    inputs = read_operands([o for o in operands if o.name not in spoken], {}, files, reading)
    options |= spoken
    return Document(name, inputs, options, plain(contents.tree, contents.source))


def document_inputs(contents: JsonFile, operands: Sequence[Operand], called: str) -> dict[str, Found]:
    """Where in a document each operand is; a name among `inputs` that is no operand's is an error.

    A document that was written by hand may have its operands, and its options, beside `calculation` in place of that.
    """
    if "inputs" not in contents.tree:
        flat = contents._replace(tree={key: value for key, value in contents.tree.items() if key != "calculation"})
        keys = {operand.name: matching(operand.name, flat.names, contents.source) for operand in operands}
        return {name: Found(flat, key) for name, key in keys.items() if key is not None}
    inputs = contents.tree["inputs"]
    if not isinstance(inputs, dict):
        raise InputError(f"{contents.source}: inputs is {spoken(inputs)}, not an object of operands")
    inner = JsonFile(contents.source, inputs, "inputs/", inputs.get("labels", contents.tree.get("labels")))
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
            name = _operand(each, names, contents, called)
            if name in found:
                raise InputError(f"{contents.source}: inputs hold {name} twice, once as {quoted(each)}")
            found[name] = Found(holder, each)
    return found


def document_options(contents: JsonFile, calculation: Calculation) -> dict[str, Any]:
    """The options of a document; a name that is no option's is an error."""
    options = contents.tree.get("options", {})
    if not isinstance(options, dict):
        raise InputError(f"{contents.source}: options is {spoken(options)}, not an object")
    found: dict[str, Any] = {}
    called = str(contents.tree.get("calculation"))
    for key, value in options.items():
        name = key.replace("-", "_")
        option = calculation.option(name)
        if option is None and called.startswith(BACKWARD) and name in ("wrt", "gradcheck"):
            from attncalc.inputs.derivatives import own_option  # few documents ask for it

            found[name] = own_option(name, value, f"{contents.source}: options/{key}")
            continue
        if option is None and isinstance(value, bool) and calculation.opposite(name):
            found[name] = value
            continue
        if option is None:
            known = [option.name for option in calculation.options]
            raise InputError(
                f"{contents.source}: {calculation.name} has no option {quoted(key)}",
                hint=near(key, known) or f"it has {', '.join(known) or 'none'}",
            )
        found[option.name] = option_value(option, plain(value, contents.source), f"{contents.source}: options/{key}")
    return found if "inputs" in contents.tree else options_beside(contents, calculation) | found


def options_beside(contents: JsonFile, calculation: Calculation) -> dict[str, Any]:
    """The options that stand beside the operands of an object, `Causal-Align` as well as `causal_align`."""
    known = {option.name: option for option in calculation.options if not calculation.operand(option.name)}
    return {
        option.name: option_value(option, plain(value, contents.source), f"{contents.source}: {key}")
        for key, value in contents.tree.items()
        if (option := known.get(as_option(key)))
    }


def as_option(key: str) -> str:
    """How a key of a file would be spelled as an option."""
    return key.replace("-", "_").lower()


def option_value(option: Option, value: Any, place: str) -> Any:
    """An option as a file gives it: `"1/sqrt(3)"` is a number where one is wanted, a list a tuple."""
    if isinstance(value, list):
        return tuple(option_value(option, item, place) for item in value)
    if (
        isinstance(value, str)
        and dict not in option.types
        and value not in option.choices
        and float in option.types
        and str not in option.types
    ):
        from attncalc.options import written_number  # few options of a file are text

        try:
            return written_number(value)
        except InputError as error:
            raise error.within(place) from None
    return value


def check_version(contents: JsonFile) -> None:
    """Raise for a document of another version, whose keys may mean something else."""
    version = contents.tree.get("attncalc", _VERSION)
    if plain(version, contents.source) != _VERSION:
        raise InputError(
            f"{contents.source}: the document is of version {quoted(str(version))}, but only {_VERSION} can be read"
        )


def _calculation(contents: JsonFile) -> str:
    """The calculation that a document names."""
    check_version(contents)
    name = contents.tree.get("calculation")
    if type(name) is not str:
        raise InputError(
            f"{contents.source} does not name its calculation", hint='it has a key like "calculation": "attention"'
        )
    return name


def _base(name: str) -> str:
    return next((name.removeprefix(prefix) for prefix in BACKWARD if name.startswith(prefix)), name)


def _operand(key: str, names: Sequence[str], contents: JsonFile, called: str) -> str:
    """The operand that a key of a document means; that of a layer is called by its whole name."""
    if layer_of(key)[1]:
        return key
    for name in [key] if key in names else names:
        if matching(name, [key], contents.source):
            return name
    raise InputError(
        f"{contents.source}: {called} has no operand {quoted(key)}",
        hint=near(key, names) or f"it has {', '.join(names)}",
    )
