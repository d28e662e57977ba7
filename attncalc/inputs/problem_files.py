"""Problems and saved results: the calculation that a document names, its operands, its options, every name checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from attncalc.calculations import TABLE as KNOWN
from attncalc.calculations import load
from attncalc.common.errors import InputError
from attncalc.common.files import is_folder, samples_folder, shown
from attncalc.common.numerals import written_number
from attncalc.common.text import near, quoted
from attncalc.declare.operands import UPSTREAM, layer_of
from attncalc.inputs.given import spoken
from attncalc.inputs.json_files import JsonFile, plain
from attncalc.inputs.reading import Contents, Reading, calculation_of, matching, missing
from attncalc.inputs.resolve import TABLE, Found, find, near_files, read_operands
from attncalc.inputs.shaping import with_labels
from attncalc.record.trace import NOTHING, Given
from attncalc.solve.problem import Backward, Problem, told_apart

if TYPE_CHECKING:
    from attncalc.declare.calculation import Calculation
    from attncalc.declare.operands import Operand, Option


_VERSION = 1
_OF_DERIVATIVES = ("wrt", "gradcheck")  # what a document of a derivative may ask among its options
_VOCABULARY = "vocabulary"


class Document(NamedTuple):
    """A problem or a saved result."""

    calculation: str  # "attention", "grad attention"
    inputs: dict[str, Given]
    options: dict[str, Any]  # those that it gives
    document: dict[str, Any]  # the whole, as it was read

    @property
    def problem(self) -> Problem:
        """The problem that it holds."""
        name, backward = told_apart(self.calculation)
        return posed(load(name), self.inputs, self.options, backward)


def posed(
    calculation: Calculation, inputs: Mapping[str, Given], options: Mapping[str, Any], backward: Backward | None
) -> Problem:
    """The problem of what has been read; of a derivative, a document's options ask what the call leaves open."""
    if backward is not None:
        wrt, gradcheck = backward.wrt or options.get("wrt", ()), backward.gradcheck or options.get("gradcheck", False)
        backward = backward._replace(wrt=wrt, gradcheck=gradcheck and not backward.jacobian)
        options = {name: value for name, value in options.items() if name not in _OF_DERIVATIVES}
    return Problem(calculation, inputs, options, backward)


def load_document(word: str, reading: Reading) -> Document:
    """The problem or saved result that a word names: a file, or `-`."""
    found = find(word, TABLE, reading)
    if found is None and is_folder(word):
        raise InputError(f"{shown(word)} is a folder", hint="name a file in it")
    if found is None:
        mend = near_files(word) or "a document is the file of a problem, or of a result: attncalc sample lists some"
        raise InputError(f"there is no document {quoted(word)}", hint=mend)
    contents = found.contents
    if found.name or found.at:
        raise InputError(f"{quoted(word)} is a part of a document", hint=f"name the whole: {contents.source}")
    if contents.members is NOTHING:
        raise InputError(
            f"{contents.source} is not a document", hint="a document is a JSON object with its calculation"
        )
    check_version(contents)
    name = calculation_of(contents)
    if name is None:
        raise InputError(
            f"{contents.source} does not name its calculation", hint='it has a key like "calculation": "attention"'
        )
    base, backward = told_apart(name)
    if base not in KNOWN:
        raise InputError(f"{contents.source}: there is no calculation called {quoted(name)}", hint=near(base, KNOWN))
    calculation = load(base)
    operands = [*calculation.operands, UPSTREAM] if backward else [*calculation.operands]
    files, options = document_inputs(contents, operands), document_options(contents, calculation)
    inputs, options = read_all(calculation, operands, {}, files, options, reading)
    return Document(name, inputs, options, plain(contents.members, contents.source))


def sample_problem(name: str) -> Problem:
    """The problem in a calculation's own sample, NAME.json."""
    return load_document(f"@{samples_folder() / name}.json", Reading()).problem


def read_all(
    calculation: Calculation,
    operands: Sequence[Operand],
    words: Mapping[str, str],
    files: Mapping[str, Found],
    options: Mapping[str, Any],
    reading: Reading,
) -> tuple[dict[str, Given], dict[str, Any]]:
    """The operands of a call from words and files, and its options: given, of a model, or words in operands' places."""
    files, options = _with_model(calculation, files, options)
    operands = [*operands, *(o for o in calculation.operands_in(files) if o not in operands)]
    inputs, spoken = read_operands(operands, words, files, reading)
    return inputs, {**options, **spoken}


def document_inputs(contents: Contents, operands: Sequence[Operand]) -> dict[str, Found]:
    """Where in a document each operand is; a name among `inputs` that is no operand's is an error.

    A document that was written by hand may have its operands, and its options, beside `calculation` in place of that.
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

    Where the operands stand at the top, options may stand beside them, `Causal-Align` as well as `causal_align`.
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
        elif derivative and name in _OF_DERIVATIVES:
            found[name] = _of_derivative(name, value, place)
        elif isinstance(value, bool) and calculation.opposite(name):
            found[name] = value
        else:
            names = [option.name for option in calculation.options]
            raise InputError(
                f"{source}: {calculation.name} has no option {quoted(key)}",
                hint=near(key, names) or f"it has {', '.join(names) or 'none'}",
            )
    return found


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
        try:
            return written_number(value)
        except InputError as error:
            raise error.within(place) from None
    return value


def check_version(contents: Contents) -> None:
    """Raise for a document of another version, whose keys may mean something else."""
    version = contents.members.get("attncalc", _VERSION)
    if plain(version, contents.source) != _VERSION:
        raise InputError(
            f"{contents.source}: the document is of version {quoted(str(version))}, but only {_VERSION} can be read"
        )


def _operand(key: str, names: Sequence[str], contents: Contents) -> str:
    """The operand that a key of a document means; that of a layer is called by its whole name."""
    if layer_of(key)[1]:
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


class Model(NamedTuple):
    """What a model holds: its arrays as a tree of names, its options, and the words of its vocabulary."""

    arrays: dict[str, Any]  # "embedding", "encoder 1" → {"wq", …}
    options: dict[str, Any]
    words: list[str] | None

    @property
    def names(self) -> list[str]:
        """The operands that it holds: "embedding", "encoder 1/wq"."""
        found = []
        for key, value in self.arrays.items():
            found += [f"{key}/{inner}" for inner in value] if isinstance(value, Mapping) else [key]
        return found


def read_model(tree: Any, calculation: Calculation, source: str) -> Model:
    """A model's parts; a key that means nothing to the calculation is an error."""
    if not isinstance(tree, Mapping):
        raise InputError(f"{source} is {spoken(tree)}, not an object that holds a model")
    arrays: dict[str, Any] = {}
    options: dict[str, Any] = {}
    for key, value in tree.items():
        if value is None or key == _VOCABULARY:
            continue
        operand, option = calculation.operand(key), calculation.option(key)
        if key in calculation.declaration.layers:
            arrays |= {f"{key} {i}": layer for i, layer in enumerate(_layers(value, f"{source}: {key}"), start=1)}
        elif option is not None and (operand is None or operand.means(value)):
            options[key] = option_value(option, plain(value, source), f"{source}: {key}")
        elif operand is None and isinstance(value, Mapping):
            if not value:
                raise InputError(f"{source}: {key} is empty", hint="leave it out where the model has none")
            arrays |= {f"{key}_{inner}": held for inner, held in value.items()}
        elif operand is not None:
            arrays[key] = value
        else:
            raise _unknown(key, calculation, source)
    model = Model(arrays, options, tree.get(_VOCABULARY))
    for name in model.names:
        if calculation.operand(name) is None:
            raise _unknown(name, calculation, source)
    return model


def _with_model(
    calculation: Calculation, files: Mapping[str, Found], options: Mapping[str, Any]
) -> tuple[dict[str, Found], dict[str, Any]]:
    """Where each operand is and which options are given, with those that a model's file holds; others win over it."""
    at = next((o.name for o in calculation.operands if o.kind == "model" and o.name in files), None)
    if at is None:
        return dict(files), dict(options)
    contents, name, index = files[at]
    if not isinstance(contents, JsonFile):
        raise InputError(f"{contents.source} holds no model", hint="a model is a JSON object")
    if index:
        raise InputError(f"{contents.source}: a model is an object, and {list(index)} asks for an entry of an array")
    if name and name not in contents.members:
        raise missing(name, contents.names, contents.source)
    tree, under = (contents.tree[name], f"{contents.under}{name}/") if name else (contents.tree, contents.under)
    model = read_model(tree, calculation, contents.source + (f"#{name}" if name else ""))
    labels = {"V": model.words} if model.words is not None else None
    inner = JsonFile(contents.source, model.arrays, under, labels)
    found = {name: Found(inner, name) for name in model.names}
    return found | {name: file for name, file in files.items() if name != at}, model.options | dict(options)


def from_model(tree: Any, calculation: Calculation) -> dict[str, Any]:
    """The operands and options that a model from Python holds, ready for a call."""
    from attncalc.inputs.python_values import to_given  # a door: of Python alone, and fractions take their time

    model = read_model(tree, calculation, "model")
    found: dict[str, Any] = dict(model.options)
    for name in model.names:
        key, _, inner = name.partition("/")
        operand = calculation.operand(name)
        assert operand is not None, "read_model knows every name"
        given = to_given(model.arrays[key][inner] if inner else model.arrays[key], operand)
        labels = {"V": model.words} if model.words is not None else None
        found[name] = with_labels(given, labels, operand, "model: vocabulary", alone=True)
    return found


def _layers(value: Any, place: str) -> list[Mapping[str, Any]]:
    if not isinstance(value, list | tuple) or not all(isinstance(layer, Mapping) for layer in value):
        raise InputError(f"{place} is {spoken(value)}, not a list of layers, each an object of weights")
    return list(value)


def _unknown(name: str, calculation: Calculation, source: str) -> InputError:
    known = [*calculation.declaration.layers, _VOCABULARY]
    known += [o.name for o in calculation.operands if not o.positional] + [o.name for o in calculation.options]
    known += [o.name for layer in calculation.declaration.layers.values() for o in layer] if "/" in name else []
    return InputError(f"{source}: a model has nothing called {quoted(name)}", hint=near(name.rpartition("/")[2], known))
