"""Problems and saved results: the calculation that a document names, its operands, its options, every name checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attncalc.calculations import TABLE as CALCULATIONS
from attncalc.calculations import WHOLE, load
from attncalc.common.errors import InputError, either, near, quoted
from attncalc.common.numerals import ACCUMULATED, MOST_ROUNDING, STORED, is_number
from attncalc.common.system import NamedTuple, is_file, is_folder, loaded, samples_folder, shown
from attncalc.declare.operands import UPSTREAM
from attncalc.inputs.calls import check_version, document_inputs, document_options, read_all, tell_surplus
from attncalc.inputs.given import spoken
from attncalc.inputs.json_files import plain, shape_in
from attncalc.inputs.reading import Contents, Reading, calculation_of
from attncalc.inputs.resolve import TABLE, Found, find, near_files
from attncalc.record.trace import NOTHING, Given
from attncalc.solve.problem import Problem, posed, told_apart

KNOWN = CALCULATIONS | WHOLE


class Document(NamedTuple):
    """A problem or a saved result."""

    calculation: str  # "attention", "grad attention"
    inputs: dict[str, Given]
    options: dict[str, Any]  # those that it gives
    settings: dict[str, Any]  # how it was carried out: `round`, `dtype`, `exact`, `symbolic`, those that it gives
    document: dict[str, Any]  # the whole, as it was read

    @property
    def problem(self) -> Problem:
        """The problem that it holds."""
        name, backward = told_apart(self.calculation)
        return posed(load(name), self.inputs, self.options, backward)


def load_document(word: str, reading: Reading) -> Document:
    """The problem or saved result that a word names: a file, or `-`."""
    return document_of(document_file(word, reading), reading)


def document_file(word: str, reading: Reading) -> Contents:
    """The file of a document that a word names."""
    found = find(word, TABLE, reading)
    if found is None and is_folder(word):
        made = (str(Path(word, name)) for name in ("problem.json", "keys.json"))  # as quiz calls them
        there = next((f": {shown(path)}" for path in made if is_file(path)), "")
        raise InputError(f"{shown(word)} is a folder", hint=f"name a file in it{there}")
    if found is None:
        mend = near_files(word) or "a document is the file of a problem, or of a result: attncalc sample lists some"
        raise InputError(f"there is no document {quoted(word)}", hint=mend)
    contents = found.contents
    if found.name or found.at:
        raise InputError(f"{quoted(word)} is a part of a document", hint=f"name the whole: {contents.source}")
    if contents.members is NOTHING:
        mend = "a document is a JSON object with its calculation, as -o FILE.json without -q saves it"
        raise InputError(f"{contents.source} is not a document", hint=mend)
    check_version(contents)
    return contents


def document_of(contents: Contents, reading: Reading) -> Document:
    """The problem or saved result that a file holds."""
    name = calculation_of(contents)
    if name is None:
        mend = 'it has a key like "calculation": "attention"'
        if "variants" in contents.members:
            mend = f"it holds the problems of a class: attncalc grade {contents.source} SHEETS marks by them"
        raise InputError(f"{contents.source} does not name its calculation", hint=mend)
    base, backward = told_apart(name)
    if base not in KNOWN:
        raise InputError(f"{contents.source}: there is no calculation called {quoted(name)}", hint=near(base, KNOWN))
    calculation = load(base)
    operands = [*calculation.operands, UPSTREAM] if backward else [*calculation.operands]
    files, options = document_inputs(contents, operands), document_options(contents, calculation)
    tell_surplus(contents, calculation, files, options, reading)
    settings = _settings(plain(contents.members.get("settings", {}), contents.source), contents.source)
    shapes = _of_letters(files) if settings.get("symbolic") else {}
    files = {name: found for name, found in files.items() if name not in shapes}
    inputs, options = read_all(calculation, operands, {}, files, options, reading)
    inputs |= {name: loaded("evaluate.exact:letters")(name, shape) for name, shape in shapes.items()}
    return Document(name, inputs, options, settings, plain(contents.members, contents.source))


def _settings(held: Any, source: str) -> dict[str, Any]:
    """The settings of a document, which say how it was carried out; unknown ones are an error."""
    if not isinstance(held, dict):
        raise InputError(f"{source}: settings is {spoken(held)}, not an object")
    for key, value in held.items():
        if key not in SETTINGS:
            mend = near(key, SETTINGS) or f"it has {', '.join(SETTINGS)}"
            raise InputError(f"{source}: there is no setting {quoted(key)}", hint=mend)
        fits, wanted = SETTINGS[key]
        if not fits(value):
            raise InputError(f"{source}: settings/{key} is {spoken(value)}, not {wanted}")
    return held


def _of_letters(files: Mapping[str, Found]) -> dict[str, tuple[int, ...]]:
    """The shapes of operands that hold letters in place of numbers: `[["x_00", "x_01"]]`."""
    found = {}
    for name, file in files.items():
        shape, first = shape_in(file.contents.members.get(file.name) if file.name else None)
        if isinstance(first, str) and not is_number(first):
            found[name] = shape
    return found


SETTINGS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "round": (lambda value: type(value) is int and 0 <= value <= MOST_ROUNDING, f"decimals from 0 to {MOST_ROUNDING}"),
    "dtype": (lambda value: value in STORED, either(STORED)),
    "accumulate": (lambda value: value in ACCUMULATED, either(ACCUMULATED)),
    "exact": (lambda value: isinstance(value, bool), "true or false"),
    "symbolic": (lambda value: isinstance(value, bool), "true or false"),
}
"""How a problem can be carried out: for each setting, a test of its value, and what it may be in words."""


def sample_problem(name: str, kind: object = None) -> Problem:
    """The problem in a calculation's own sample, NAME.json; or in that of a kind, NAME-KIND.json, if there is one."""
    own, of_kind = (samples_folder() / f"{stem}.json" for stem in (name, f"{name}-{kind}"))
    return load_document(f"@{of_kind if of_kind.is_file() else own}", Reading()).problem
