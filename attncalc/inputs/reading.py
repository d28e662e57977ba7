"""How files are read: what an opened file is, which of its names means what, and what fits an operand."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from attncalc.common.errors import InputError, OptionError, amount, both, flag, listed, near, quoted, visible
from attncalc.common.numerals import Array, is_number, written_number
from attncalc.declare.operands import UPSTREAM, Operand, Option
from attncalc.inputs.given import spoken
from attncalc.language.axes import leading_names
from attncalc.record.trace import NOTHING, Given

if TYPE_CHECKING:  # few words pick a part
    from attncalc.inputs.indexing import Parts

STDIN = "standard input"
TORCH_HINT = "save the arrays: safetensors.torch.save_file, or numpy.save(path, tensor.detach().cpu().numpy())"
DECIMAL = re.compile(r"(?<=\d),(?=\d)", re.ASCII)
"""A comma between two digits."""
WITH_HEADS = ("q", "k", "v")
"""The operands that --heads-layout applies to, besides the gradient that arrives at a result with heads."""
_DELIMITERS = {"tab": "\t", "\\t": "\t", "blank": " ", "space": " ", "comma": ",", "semicolon": ";"}


_MOST_LISTED = 12  # names of a file, if none of them is the one that is meant
_SYNONYMS: dict[str, tuple[str, ...]] = {
    "q": ("query", "queries"),
    "k": ("key", "keys"),
    "v": ("value", "values"),
    "x": ("input", "inputs"),
    "wq": ("wquery", "weightq", "queryweight", "qproj", "toq"),
    "wk": ("wkey", "weightk", "keyweight", "kproj", "tok"),
    "wv": ("wvalue", "weightv", "valueweight", "vproj", "tov"),
    "wo": ("wout", "woutput", "weighto", "outweight", "oproj", "outproj", "toout"),
    "bq": ("biasq", "qbias", "qprojbias"),
    "bk": ("biask", "kbias", "kprojbias"),
    "bv": ("biasv", "vbias", "vprojbias"),
    "bo": ("biaso", "obias", "oprojbias", "outprojbias"),
    "gamma": ("gain", "weight"),
    "beta": ("bias", "shift"),
    "mask": ("attentionmask", "attnmask"),
    "table": ("embedding", "embeddings"),
    "vocabulary": ("vocab", "embeddings", "words"),
    "tokens": ("ids", "inputids"),
    "logits": ("scores",),
    "probabilities": ("probability", "probs"),
    "target": ("targets",),
    "targets": ("target",),
}


class Contents:
    """What a file holds, whatever its format: `JsonFile`, `TextFile` (tables) or `ArrayFile` (arrays as bytes)."""

    table = False  # whether it has rows and cells, which do not tell vectors from matrices
    members: Mapping[str, Any] = NOTHING  # the keys and values of a JSON object

    def __init__(self, source: str) -> None:
        self.source = source  # as errors and results say it

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arrays that it holds; none if it holds one without a name."""
        raise NotImplementedError

    def array(self, name: str | None, operand: Operand, reading: Reading) -> Given:
        """The array of that name, or the one that is meant for the operand."""
        raise NotImplementedError

    def part(self, name: str | None, at: Parts, operand: Operand, reading: Reading) -> Given:
        """The array, or what `[0, 1:3]` and `.T` behind its name leave of it."""
        given = self.array(name, operand, reading)
        for part in at:
            given = part.of(given)
        return given


OF_DOCUMENTS = (
    *("attncalc", "calculation", "inputs", "labels", "options", "settings", "notes", "steps", "cells", "outputs"),
    *("exact", "result", "lesson", "ask", "shown"),
)
"""The keys of a problem and of a saved result."""


def calculation_of(contents: Contents) -> str | None:
    """The calculation that a problem or a saved result names; None for any other file."""
    name = contents.members.get("calculation")
    return name if type(name) is str else None


def word_in(contents: Contents, name: str | None) -> str | None:
    """The text under a name of a JSON object, if it is a word and no number."""
    value = contents.members.get(name) if name else None
    return value if isinstance(value, str) and not is_number(value) else None


class Reading:
    """How the files of one call are read; `notes` collects what their reader should be told."""

    def __init__(
        self,
        delimiter: str | None = None,
        decimal: str = ".",
        header: bool | None = None,
        labels: bool | None = None,
        transpose: Collection[str] = frozenset(),
        data: str | None = None,
        most: int | None = None,
        heads_layout: str | None = None,
    ) -> None:
        self.delimiter = _delimiter(delimiter, decimal)  # None: told by the content
        self.decimal = decimal
        self.header = header  # None: told by the content
        self.labels = labels
        self.transpose = transpose  # the operands that are stored the other way
        self.data = data  # the table whose row labels may be operands
        self.most = most  # bytes of a file that may be a stranger's, and must be no link; None for one's own files
        self.heads_layout = heads_layout  # of LAYOUTS; None: heads in front of tokens, if there are any
        self.notes: list[str] = []
        self.opened: dict[str, Contents] = {}  # a file is opened once, standard input can be read only once

    def anew(self, most: int | None = None) -> Reading:
        """A reading of the same kind that has opened no file yet, and opens files of at most `most` bytes."""
        fresh = copy(self)
        fresh.most, fresh.notes, fresh.opened = most, [], {}
        if STDIN in self.opened:
            fresh.opened[STDIN] = self.opened[STDIN]
        return fresh

    def asked(self) -> dict[str, Any]:
        """The arguments with which another `Reading` reads files in the same way."""
        names = ("delimiter", "decimal", "header", "labels", "data", "most", "heads_layout")
        return {name: getattr(self, name) for name in names} | {"transpose": sorted(self.transpose)}

    def parted_by(self, delimiter: str | None) -> Reading:
        """The reading for a file that may name its delimiter; one that was asked for wins."""
        if delimiter is None or self.delimiter is not None:
            return self
        own = copy(self)
        own.delimiter = delimiter
        return own

    def typed(self, word: str) -> str:
        """A word with points for the decimal commas that were typed; in brackets, numbers are as JSON has them."""
        if self.decimal == "." or word.lstrip()[:1] in ("[", "{"):
            return word
        if re.search(r"\d,\d+,\d", word, re.ASCII):
            fault = f"{quoted(word)} has two decimal commas in a number"
            raise InputError(fault, hint="with --decimal , blanks part numbers: 1,5 2")
        return DECIMAL.sub(".", word)

    def idle(self, *others: Reading) -> Iterator[str]:
        """The remark on options for tables, if neither this reading nor the others opened a table."""
        said = {"delimiter": self.delimiter, "header": self.header, "labels": self.labels}
        idle = [flag(name if value else f"no_{name}") for name, value in said.items() if value is not None]
        opened = (contents for reading in (self, *others) for contents in reading.opened.values())
        if idle and not any(contents.table for contents in opened):
            yield f"{both(idle)} {'has' if len(idle) == 1 else 'have'} no effect without a CSV file"

    def tell(self, note: str) -> None:
        """Keep a note for the reader, once."""
        if note not in self.notes:
            self.notes.append(note)


def _delimiter(word: str | None, decimal: str) -> str | None:
    """The delimiter that is asked for, by itself or by name; it must not be the decimal mark."""
    if word is not None and len(word) != 1 and word not in _DELIMITERS:
        raise OptionError(f"--delimiter is one character, not {quoted(word)}", hint=f"or {', '.join(_DELIMITERS)}")
    mark = word if word is None else _DELIMITERS.get(word, word)
    if mark in ('"', "\n", "\r"):
        raise OptionError("--delimiter cannot be a quote or a line end")
    if decimal not in (".", ","):
        raise OptionError(f"--decimal is . or , not {quoted(decimal)}")
    if decimal == mark:
        raise OptionError(f"--delimiter and --decimal are both {quoted(decimal)}")
    return mark


def matching(operand: str, names: Iterable[str], source: str) -> str | None:
    """The name in a file that means the operand, if there is one: its own in any spelling, else a synonym."""
    known = list(names)
    for wanted in ({_bare(operand)}, set(_SYNONYMS.get(operand, ()))):
        found = [name for name in known if _bare(name) in wanted]
        if len(found) > 1:
            raise InputError(
                f"{source} holds {both(map(quoted, found))}, and each of them may be {operand}",
                hint=f"name one: {part_of(source, found[0])}",
            )
        if found:
            return found[0]
    return None


def part_of(source: str, name: str) -> str:
    """The word that picks what a file holds under a name: `qkv.npz#k`, of standard input `-#k`."""
    return f"{'-' if source == STDIN else source}#{visible(name, 40)}"


@cache  # a file of thousands of arrays is asked for each operand
def _bare(name: str) -> str:
    """`W_Q` → "wq"; `q_proj.weight` → "qproj"."""
    return "".join(sign for sign in name.removesuffix(".weight").casefold() if sign.isascii() and sign.isalnum())


def choose(name: str | None, operand: str, names: Sequence[str], source: str) -> str:
    """One of a file's arrays: the one of that name, else the one that means the operand, else the only one."""
    if name is not None:
        found = [known for known in names if known == name] or [k for k in names if k.casefold() == name.casefold()]
        if len(found) != 1:
            raise missing(name, names, source)
        return found[0]
    own = matching(operand, names, source)
    if own is not None:
        return own
    if len(names) != 1:
        raise several(names, operand, source)
    return names[0]


def missing(name: str, names: Sequence[str], source: str) -> InputError:
    """The error for a name that a file does not hold."""
    known = f"it holds {_listed(names)}" if names else ""
    return InputError(f"{source} holds no {quoted(name)}", hint=near(name, names, part_of(source, "")) or known)


def several(names: Sequence[str], operand: str, source: str) -> InputError:
    """The error for a file with several arrays, none of which is meant for the operand."""
    if len(names) < 2:
        return InputError(f"{source} holds no array")
    return InputError(
        f"{source} holds several arrays, none called {operand}: {_listed(names)}",
        hint=f"name one: {part_of(source, names[0])}",
    )


def _listed(names: Sequence[str]) -> str:
    return listed((visible(name, 40) for name in names), _MOST_LISTED)


# Operands fitted to their declared rank, turned, indexed and labelled, their written entries moving along.


def fit(given: Given, operand: Operand, *, table: bool) -> Given:
    """The operand with the rank that is declared, if its layout leaves the rank open.

    A table (rows and cells, without brackets) of one row or one column is a vector if a vector is declared; a single
    number is a vector of one entry if nothing less is declared. A vector in place of rows stays a vector, and a note
    says that it is one row. Other ranks are left as they are.
    """
    ranks = {len(shape) for shape in operand.shapes}
    value = given.value
    if table and value.size == 1 and 0 in ranks:
        return moved(given, lambda array: array.reshape(()), {})
    row = value.shape[:1] == (1,)
    if table and value.ndim == 2 and 1 in ranks and 1 in value.shape and (row or not operand.broadcasts):
        note = "" if value.size == 1 else f"its one {'row' if row else 'column'} read as a vector"
        return moved(given, lambda array: array[0] if row else array[:, 0], {int(row): 0}).noted("shape", note)
    if value.ndim == 0 and 1 in ranks and 0 not in ranks:
        return moved(given, lambda array: array.reshape(1), {}).noted(
            "shape", "a single number read as a vector of one entry"
        )
    if value.ndim == 1 and min(ranks, default=1) == 2 and not operand.broadcasts:
        return given.noted("shape", "a vector read as one row")
    return given


def moved(given: Given, move: Callable[[Array], Array], axes: Mapping[int, int]) -> Given:
    """The value and the written entries moved alike; `axes` gives the new place of each axis that stays."""
    return given._replace(
        value=np.asarray(move(given.value)),
        written=None if given.written is None else np.asarray(move(given.written), dtype=object),
        labels={new: given.labels[old] for old, new in axes.items() if old in given.labels},
    )


def transposed(given: Given, name: str) -> Given:
    """The operand with its last two axes swapped."""
    ndim = given.value.ndim
    if ndim < 2:
        raise InputError(f"{name} has no two axes to transpose", hint=f"leave {name} out of --transpose")
    swapped = {axis: axis for axis in range(ndim - 2)} | {ndim - 2: ndim - 1, ndim - 1: ndim - 2}
    return moved(given, lambda array: array.swapaxes(-1, -2), swapped).noted("transposed", "transposed")


def has_heads(given: Given, name: str, layout: str) -> bool:
    """Whether a layout of heads applies to an operand."""
    return name in WITH_HEADS or (name == UPSTREAM.name and given.value.ndim == len(layout))


def heads_first(given: Given, name: str, layout: str) -> Given:
    """The operand with its heads in front of its tokens; raises if it does not have the axes of the layout."""
    many = given.value.ndim
    if many != len(layout):
        had = f"{name} has {amount(many, 'axis', 'axes')}, but --heads-layout {layout} names {len(layout)}"
        raise InputError(had, hint="bnhd and bhnd have a batch in front, nhd and hnd none")
    if layout.index("h") < layout.index("n"):
        return given
    axes = {axis: axis for axis in range(many - 3)} | {many - 3: many - 2, many - 2: many - 3, many - 1: many - 1}
    return moved(given, lambda array: array.swapaxes(-3, -2), axes).noted("layout", f"read as {layout}")


def labelled_row(given: Given, label: str) -> Given:
    """The row that a label names; raises if there is none, or more than one."""
    labels = given.labels.get(0, ())
    found = [i for i, word in enumerate(labels) if word == label]
    if len(found) > 1:
        raise InputError(f"{given.source}: {quoted(label)} labels rows {both(str(i + 1) for i in found)}")
    if not labels:
        raise InputError(
            f"{given.source} is one array without row labels, so there is no {quoted(label)} in it",
            hint=f"{part_of(given.source, '')}[{label}] is the entry at {label}, counted from 0"
            if label.isdecimal() and label.isascii()
            else "a table's first column is read as labels where it holds no number, or with --labels",
        )
    if not found:
        known = ", ".join(visible(word, 40) for word in labels[:10])
        raise InputError(f"{given.source} has no row {quoted(label)}", hint=near(label, labels) or f"it has {known}")
    row = moved(given, partial(_entry, found[0]), {axis: axis - 1 for axis in range(1, given.value.ndim)})
    return row._replace(source=f"{given.source}#{visible(label)}", remarks=())


def _entry(i: int, array: Array) -> Array:
    return np.asarray(array[i], dtype=array.dtype)


_TOKEN_AXES = ("n", "m", "N", "T", "V")  # of tokens or samples; a list that several operands share labels these


def with_labels(
    given: Given, labels: Any, operand: Operand, place: str, *, alone: bool, axes: Sequence[str] = ()
) -> Given:
    """The operand with the labels that stand beside it; `axes` names its axes if the file does.

    A list labels the rows; in an object an axis is called by its name, or by its position from 0. If a list stands
    beside several operands (it is not `alone`), it labels those that have as many rows of tokens.
    """
    if labels is None:
        return given
    names = _axis_names(operand, given.value.ndim, axes)
    if isinstance(labels, dict):
        own = matching(operand.name, labels, place)
        if own is not None and isinstance(labels[own], list | dict):
            return with_labels(given, labels[own], operand, f"{place}/{own}", alone=True, axes=axes)
        places = {str(i): i for i in range(len(names))} | {name: i for i, name in enumerate(names)}
        found = {places[key]: _words(words, f"{place}/{key}") for key, words in labels.items() if key in places}
    elif isinstance(labels, list):
        rows = max(given.value.ndim - 2, 0)
        if not given.value.ndim or not (
            alone or (names[rows] in _TOKEN_AXES and len(labels) == given.value.shape[rows])
        ):
            return given
        found = {rows: _words(labels, place)}
    else:
        raise InputError(f"{place} must be a list, or an object of axes and their lists")
    for axis, words in found.items():
        if len(words) != given.value.shape[axis]:
            raise InputError(f"{place}: {amount(len(words), 'label')} for an axis of size {given.value.shape[axis]}")
    return given._replace(labels=found)


def _axis_names(operand: Operand, ndim: int, axes: Sequence[str]) -> list[str]:
    """A name for each axis of the array; axes in front of the declared ones get the names that calculations use."""
    if not axes:
        shape = next((s for s in operand.shapes if len(s) == ndim), max(operand.shapes, key=len, default=()))
        axes = [name if isinstance(name, str) else f"({' '.join(name)})" for name in shape]
    known = list(axes)[-ndim:] if ndim else []
    extra = ndim - len(known)
    return leading_names([extra], ("b",), known)[:extra][::-1] + known


def _words(words: Any, place: str) -> tuple[str, ...]:
    if not isinstance(words, list):
        raise InputError(f"{place} must be a list of texts")
    for i, word in enumerate(words):
        if not isinstance(word, str | int | float) or isinstance(word, bool):
            raise InputError(f"{place}[{i}] is {spoken(word)}, not a text")
        if any("\ud800" <= character <= "\udfff" for character in str(word)):
            raise InputError(f"{place}[{i}]: {quoted(str(word))} holds half a character")
    return tuple(str(word) for word in words)


def option_value(option: Option, value: Any, place: str) -> Any:
    """An option as a file gives it: `"1/sqrt(3)"` is a number where one is wanted, a list a tuple."""
    if isinstance(value, list):
        return tuple(option_value(option, item, place) for item in value)
    if (
        isinstance(value, str)
        and dict not in option.types
        and option.word(value) is None
        and float in option.types
        and str not in option.types
    ):
        try:
            return written_number(value)
        except InputError as error:
            raise error.within(place) from None
    return value
