"""Models: many arrays as a tree of names, with options and a vocabulary beside them, in one file or from Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attncalc.common.errors import InputError, near, quoted
from attncalc.common.system import NamedTuple
from attncalc.declare.calculation import Calculation
from attncalc.inputs.given import spoken
from attncalc.inputs.json_files import JsonFile, plain
from attncalc.inputs.python_values import to_given
from attncalc.inputs.reading import missing, option_value, with_labels
from attncalc.inputs.resolve import Found

_VOCABULARY = "vocabulary"


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


def from_file(
    at: str, calculation: Calculation, files: Mapping[str, Found], options: Mapping[str, Any]
) -> tuple[dict[str, Found], dict[str, Any]]:
    """Where each operand is, and the options, with those of a model's file; what is given besides wins over it."""
    contents, name, index, _ = files[at]
    if not isinstance(contents, JsonFile):
        raise InputError(f"{contents.source} holds no model", hint="a model is a JSON object")
    if index:
        asked = "".join(part.text for part in index)
        raise InputError(f"{contents.source}: a model is an object, and {asked} asks for an entry of an array")
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
    model = read_model(tree, calculation, "model")
    found = calculation.unusual(model.options)
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
