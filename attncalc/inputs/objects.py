"""What a JSON file holds: a bare array, those of an object by name or path, those of a saved result."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from attncalc.errors import InputError
from attncalc.inputs.arrays import Index, Place, brackets, build, flatten, spoken
from attncalc.inputs.entries import Digits, is_number
from attncalc.inputs.fitting import noted
from attncalc.inputs.labels import with_labels
from attncalc.inputs.literals import read_expression, read_tokens
from attncalc.inputs.moves import labelled_row
from attncalc.inputs.names import matching, missing, part_of, several
from attncalc.text import quoted, visible

if TYPE_CHECKING:
    from attncalc.calculation import Operand
    from attncalc.inputs.reading import Reading
    from attncalc.trace import Given

_MAX_DEPTH = 8  # objects in one another around the only array
_NO_ARRAYS = ("labels", "options")  # keys of an object that hold none
_SAID_AGAIN = (("steps/", "outputs/"), ("steps/", "exact/"), ("outputs/", "exact/"))  # of a saved result


class Entry(NamedTuple):
    """A value inside a JSON file, with what stands beside it."""

    path: str  # "q", "steps/weights"
    value: Any
    labels: Any = None
    axes: tuple[str, ...] = ()
    alone: bool = True  # whether the labels are its own, and not those of several arrays


class JsonFile(NamedTuple):
    """A JSON file; `under` is where in it the tree stands, with labels that stand beside the tree."""

    source: str
    tree: Any
    under: str = ""
    labels: Any = None

    @property
    def table(self) -> bool:
        """Whether it says nothing of vectors and matrices; here every axis is in brackets."""
        return False

    @property
    def is_document(self) -> bool:
        """Whether it is a problem or a saved result."""
        return isinstance(self.tree, dict) and type(self.tree.get("calculation")) is str

    @property
    def names(self) -> tuple[str, ...]:
        """The keys of an object that may be operands."""
        if not isinstance(self.tree, dict):
            return ()
        return tuple(key for key, value in self.tree.items() if key not in _NO_ARRAYS and _may_be_array(value))

    def word(self, name: str | None) -> str | None:
        """The text that stands under a name where it is a word, and no number."""
        value = self.tree.get(name) if isinstance(self.tree, dict) and name else None
        return value if isinstance(value, str) and not is_number(value) else None

    def array(self, name: str | None, operand: Operand, reading: Reading) -> Given:
        """The array of that name or path, or the one that is meant for the operand."""
        if not isinstance(self.tree, dict):
            given = self._built(Entry("", self.tree, self.labels), operand)
            return labelled_row(given, name) if name else given
        if name:
            return self._built(self.entry(name), operand)
        if self.is_document:
            return self._built(self._result(), operand)
        own = matching(operand.name, self.names, self.source)
        if own is not None:
            return self._built(self.entry(own), operand)
        return self._built(Entry("", self.tree, self.labels), operand)

    def _built(self, entry: Entry, operand: Operand) -> Given:
        """The operand that an entry is."""
        path = self.under + entry.path
        source = f"{self.source}#{visible(entry.path, 80)}" if entry.path else self.source
        value = entry.value
        if isinstance(value, dict):
            return self._inside(entry, operand)
        if operand.kind == "tokens" and type(value) is str:
            return read_tokens(value, source)._replace(source=source)
        if operand.kind == "expression" and isinstance(value, str):
            return read_expression(value)._replace(source=source)
        place = brackets(self.source, visible(path, 80))
        if operand.kind == "expression":
            raise InputError(f"{place(())} is {spoken(value)}, but a formula is text in quotes")
        if value is None and path.startswith("steps/"):
            raise InputError(f"{place(())} was too large to be saved", hint="--all saves every step whole")
        if not isinstance(value, list | str | int | float):
            raise InputError(f"{place(())} is {spoken(value)}, not an array")
        given = _array(value, operand, place)._replace(source=source)
        return with_labels(given, entry.labels, operand, f"{self.source}: labels", alone=entry.alone, axes=entry.axes)

    def _inside(self, entry: Entry, operand: Operand) -> Given:
        """The array of an object that is not called as the operand: the only one, or rows under their labels."""
        tree = entry.value
        arrays = [key for key, value in tree.items() if key not in _NO_ARRAYS and isinstance(value, list | dict)]
        labels = tree.get("labels", entry.labels)
        prefix = f"{entry.path}/" if entry.path else ""
        if len(arrays) == 1 and entry.path.count("/") < _MAX_DEPTH:
            return self._built(Entry(prefix + arrays[0], tree[arrays[0]], labels), operand)
        flat = all(
            isinstance(value, list) and not any(isinstance(v, list | dict) for v in value) for value in tree.values()
        )
        vector = operand.shapes and all(len(shape) == 1 for shape in operand.shapes)
        if arrays and flat and not vector:
            return self._labelled(tree, prefix, operand)
        raise several([prefix + key for key in arrays], operand.name, self.source)

    def _labelled(self, tree: dict[str, Any], prefix: str, operand: Operand) -> Given:
        """The rows of an object whose keys label them."""
        keys = list(tree)

        def place(index: Index) -> str:
            where = brackets(self.source, visible(self.under + prefix + (keys[index[0]] if index else ""), 80))
            return where(index[1:])

        rows = _array(list(tree.values()), operand, place)
        source = f"{self.source}#{visible(prefix[:-1], 80)}" if prefix else self.source
        rows = with_labels(rows._replace(source=source), keys, operand, f"{self.source}: the keys", alone=True)
        return noted(rows, "keys read as row labels")

    def _entries(self) -> Iterator[Entry]:
        """Every value by its path; the steps of a saved result by their group and name."""
        alone = sum(isinstance(value, list | dict) for key, value in self.tree.items() if key not in _NO_ARRAYS) == 1
        for key, value in self.tree.items():
            labels = self.tree.get("labels", self.labels)
            if key == "steps" and isinstance(value, list):
                yield from _steps(value)
            elif key not in _NO_ARRAYS:
                yield Entry(key, value, labels, alone=alone)
                if isinstance(value, dict):
                    inner = value.get("labels", labels)
                    yield from (
                        Entry(f"{key}/{name}", held, inner, alone=len(value) == 1)
                        for name, held in value.items()
                        if name not in _NO_ARRAYS
                    )

    def entry(self, name: str) -> Entry:
        """The entry of that path, in any case, or of that name at the end of a path."""
        entries = {entry.path: entry for entry in self._entries()}
        if name in entries:
            return entries[name]
        folded = name.casefold()
        tails = {path for path in entries if path.casefold() == folded or path.casefold().endswith("/" + folded)}
        for kept, again in _SAID_AGAIN:
            tails -= {path for path in tails if path.startswith(again) and kept + path.removeprefix(again) in tails}
        if len(tails) > 1:
            raise InputError(f"{self.source}: {quoted(name)} occurs in several places: {', '.join(sorted(tails))}")
        if not tails:
            held = [path for path, entry in entries.items() if isinstance(entry.value, list)]
            raise missing(name, list(dict.fromkeys(path.rpartition("/")[2] for path in held)), self.source)
        return entries[tails.pop()]

    def _result(self) -> Entry:
        """The result of a saved document, with the labels and the axes of the step that it is."""
        outputs = self.tree.get("outputs")
        first = next(iter(outputs), None) if isinstance(outputs, dict) else None
        if "result" not in self.tree and first is None:
            raise InputError(
                f"{self.source} is a problem and holds no result",
                hint=f"name one of its operands ({part_of(self.source, 'inputs/')}…), or save its result and give that",
            )
        value = self.tree["result"] if "result" in self.tree else outputs[first]
        step = next((e for e in self._entries() if e.path == f"steps/{first}"), None)
        return Entry("result", value, *((step.labels, step.axes) if step else (None, ())))


def plain(tree: Any, source: str) -> Any:
    """The value with its numbers as numbers: whole ones as int, the others as float."""
    try:
        return _plain(tree)
    except RecursionError:
        raise InputError(f"{source}: lists and objects are nested too deeply") from None


def _plain(tree: Any) -> Any:
    if isinstance(tree, Digits):
        return int(tree) if re.fullmatch(r"-?[0-9]{1,18}", tree) else float(tree)
    if isinstance(tree, dict):
        return {key: _plain(value) for key, value in tree.items()}
    return [_plain(value) for value in tree] if isinstance(tree, list) else tree


def _array(value: Any, operand: Operand, place: Place) -> Given:
    entries, shape = flatten(value, place)
    return build(entries, shape, operand.kind, place)


def _may_be_array(value: Any) -> bool:
    return isinstance(value, list | dict | str | int | float) and not isinstance(value, bool)


def _steps(steps: list[Any]) -> Iterator[Entry]:
    for step in steps:
        if isinstance(step, dict) and isinstance(step.get("name"), str):
            axes = step.get("axes")
            names = tuple(axes) if isinstance(axes, list) and all(isinstance(axis, str) for axis in axes) else ()
            path = "/".join(filter(None, ("steps", str(step.get("group") or ""), step["name"])))
            yield Entry(path, step.get("value"), step.get("labels"), names)
