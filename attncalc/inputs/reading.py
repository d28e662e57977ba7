"""How the files of one call are read, what an opened file is to its readers, and which of its names means what."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from attncalc.common.errors import InputError, OptionError
from attncalc.common.numerals import is_number
from attncalc.common.text import both, listed, near, quoted, visible
from attncalc.record.trace import NOTHING, Given

if TYPE_CHECKING:
    from attncalc.declare.operands import Operand


STDIN = "standard input"
TORCH_HINT = "save the arrays: safetensors.torch.save_file, or numpy.save(path, tensor.detach().cpu().numpy())"
_DELIMITERS = {"tab": "\t", "\\t": "\t", "blank": " ", "space": " ", "comma": ",", "semicolon": ";"}


_MOST_LISTED = 12  # names of a file, where none of them is the one that is meant
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

    table = False  # whether it says nothing of vectors and matrices, as rows and cells do
    members: Mapping[str, Any] = NOTHING  # the keys and values of a JSON object

    def __init__(self, source: str) -> None:
        self.source = source  # as errors and results say it

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arrays that it holds; none where it holds one."""
        raise NotImplementedError

    def array(self, name: str | None, operand: Operand, reading: Reading) -> Given:
        """The array of that name, or the one that is meant for the operand."""
        raise NotImplementedError


def calculation_of(contents: Contents) -> str | None:
    """The calculation that a problem or a saved result names; None for any other file."""
    name = contents.members.get("calculation")
    return name if type(name) is str else None


def word_in(contents: Contents, name: str | None) -> str | None:
    """The text that stands under a name of a JSON object, where it is a word and no number."""
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
    ) -> None:
        self.delimiter = _delimiter(delimiter, decimal)  # None: told by the content
        self.decimal = decimal
        self.header = header  # None: told by the content
        self.labels = labels
        self.transpose = transpose  # the operands that are stored the other way
        self.data = data  # the table whose row labels may be operands
        self.most = most  # bytes of a file that may be a stranger's, and is no link; None for files of one's own
        self.notes: list[str] = []
        self.opened: dict[str, Contents] = {}  # a file is opened once, standard input can be read only once

    def anew(self, most: int | None = None) -> Reading:
        """A reading of the same kind that has opened no file yet, and opens those with so many bytes at most."""
        fresh = Reading(self.delimiter, self.decimal, self.header, self.labels, self.transpose, self.data, most)
        if STDIN in self.opened:
            fresh.opened[STDIN] = self.opened[STDIN]
        return fresh

    def tell(self, note: str) -> None:
        """Keep a note for the reader, once."""
        if note not in self.notes:
            self.notes.append(note)


def _delimiter(word: str | None, decimal: str) -> str | None:
    """The mark between cells that is asked for, by itself or by name, beside the decimal mark that is."""
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


def stored_by_torch(name: str) -> bool:
    """Whether a name is that of a PyTorch layer's matrix, which is stored [out, in]."""
    return name.endswith(".weight")


@cache  # a file of thousands of arrays is asked for each operand
def _bare(name: str) -> str:
    """`W_Q` → "wq"; `q_proj.weight` → "qproj"."""
    return re.sub(r"[^a-z0-9]", "", name.removesuffix(".weight").casefold())


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
