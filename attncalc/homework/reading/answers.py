"""Answers keep their numbers, and how many digits of each were written; a sheet holds them by the names of steps.

The digits that were written say how exactly an answer can be right: 0.36 is any number from 0.355 to 0.365. Entries
that are not answered are NaN; so are entries that are no numbers, which are never right.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from attncalc.common.errors import InputError, both, quoted, visible
from attncalc.common.numerals import NARROW, NOT_FINITE, Array, is_infinite, is_number, parse_number, with_slashes
from attncalc.common.system import NamedTuple
from attncalc.declare.operands import Operand
from attncalc.inputs.given import Place, brackets, flatten, index_of, may_be_bits, nested, spoken
from attncalc.inputs.json_files import plain
from attncalc.record.numbers import shortest

# Complex answers are read as `1 + 2i`, and compared as pairs of real numbers.
#
# To compare a complex step, its value and the answer get a last axis of two, the real and the imaginary part, each with
# the digits that it was written with.


_SPACED = re.compile(r"(?<=[\d.)i]) *([+−-]) +(?=[\d.a-z()*/]*(?<!p)[ij]\b)", re.IGNORECASE)


def joined(text: str) -> str:
    """A text without the blanks around the signs of `1 + 2i`, so that blanks only separate numbers."""
    return _SPACED.sub(r"\1", text)


def split(text: str) -> tuple[str, str] | None:
    """The real and the imaginary part of `1 - 2i`, `2i`, `-j` or `1/2 + sqrt(3)/2*i`; None for anything else.

    A part that is not written is 0.
    """
    word = text.replace("−", "-").replace(" ", "")
    if word[-1:] not in tuple("ijIJ"):
        return None
    body = word[:-1].removesuffix("*")
    at = max((i for i, sign in enumerate(body) if sign in "+-" and body[i - 1 : i] not in tuple("eE")), default=0)
    real, imaginary = body[:at] or "0", body[at:]
    imaginary += "1" if imaginary in ("", "+", "-") else ""
    told = all(is_number(part) and part.strip("+-").casefold() not in NOT_FINITE for part in (real, imaginary))
    return (real, imaginary) if told else None


_GAP = re.compile(r'(?:[,;]|^)\s*,(?!\s*$)|,\s*;|""')
_NO_OPERAND = re.compile(rf"[a-z%∞?–—…_]|\.\.\.|(?<![^\s,;])-(?![^\s,;])|{_GAP.pattern}", re.IGNORECASE)
"""What suggests an answer rather than an operand: letters as in `2i`, per cent, and entries that are left out."""


def literal(word: str, name: str) -> list[Any] | str | None:
    """The entries of a typed answer that no operand can be: `1+2i, 1-2i`, `1+i 2; 0 3i`, `36%, ?`, `∞, 0`.

    They may stand in brackets, as in JSON. None if an operand could have all of them, or if the word is made of letters
    alone and may be the name of a file.
    """
    if not _NO_OPERAND.search(word) or (word.strip().isalpha() and not is_infinite(word.strip().lstrip("-−"))):
        return None
    word = joined(word)
    entries = re.findall(r'[^\[\],;\s"]+', word)
    found = [
        split(entry) is not None or (entry[-1] == "%" and is_number(entry[:-1])) or is_infinite(entry.lstrip("-−"))
        for entry in entries
    ]
    blank = [entry.casefold() in BLANK for entry in entries]
    gaps = _GAP.search(word) is not None
    number = [there or is_number(entry) for there, entry in zip(found, entries, strict=True)]
    if not (gaps or any(found + blank)) or not any(number) or not all(map(max, number, blank)):
        return None
    if word.lstrip().startswith("["):
        return nested(word, name)
    rows = [[part for cell in row.split(",") for part in cell.split() or [""]] for row in word.split(";")]
    return rows if len(rows) > 1 else rows[0] if len(rows[0]) > 1 else rows[0][0]


def as_parts(value: Array) -> Array:
    """A complex value with a last axis of two; a real one as it is."""
    return np.stack([value.real, value.imag], axis=-1).astype(np.float64) if value.dtype.kind == "c" else value


def as_floats(value: Array) -> Array:
    """A value as a sheet has it, in floats: a complex one in its parts, and 1 and 0 for true and false."""
    return as_parts(value).astype(np.float64, copy=False)


def from_parts(value: Array) -> Array:
    """The complex numbers whose real and imaginary parts stand along the last axis."""
    return np.asarray(value[..., 0] + 1j * value[..., 1])


ROUND_OFF = 1e-9
"""How far two computations of a 64-bit number may lie apart, relative to it."""
NOISE = {"float32": 1e-5, "float16": 2e-3, "bfloat16": 1.6e-2, "float8_e4m3fn": 0.25, "float8_e5m2": 0.5}
"""The same for narrower numbers."""
FEWEST_DUMPED = 64
"""The fewest entries that make an answer with all the digits of its type a dump."""
MOST_DECIMALS = 8
"""The most decimals that a hand rounds to."""
BY_MACHINE = 9
"""A fraction with more significant figures is a machine's; if a narrower type holds it, it was widened from there."""
EXACTLY = 30
"""The decimals noted for what was written exactly, such as a fraction or a root."""
LEAST_DECIMALS, LEAST_FIGURES = 2, 3
"""The fewest decimals, or significant figures, that tell a rounded number from a guess."""
MOST_ENTRIES, MOST_STORED = 1_000_000, 2**26
"""The most entries of an answer that is written out, and of one that is stored as an array."""
BY_HAND = 4096
"""The most entries that anybody writes; larger answers are taken to be as exact as their number type."""

_DECIMAL = re.compile(r"[+-]?(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,5}))?", re.ASCII)
_INSIDE = re.compile(r"\.(\d+)", re.ASCII)
_WORD = re.compile(r"[a-z]+", re.ASCII | re.IGNORECASE)
_SHARE = re.compile(r"([+-]?[\d.]+) *%", re.ASCII)
_BEFORE_PERCENT = re.compile(r"(?<=[\d.])[ \u00a0\u202f]+(?=%)", re.ASCII)
_TIMES_SIGN = re.compile(r"(?<=[\d)]) ?[·×] ?(?=[√π])|(?<=[\d)])(?=[√π])", re.ASCII)
_ROOT = re.compile(r"√(?:(\d+(?:\.\d+)?)|\((\d+(?:\.\d+)?(?:/\d+)?)\))", re.ASCII)
_POWER_OF_TEN = re.compile(r"(?<=\d) ?[·×*] ?10(?:(?:\^|\*\*)\(?([+-−]?\d+)\)?|([⁺⁻]?[⁰¹²³⁴-⁹]+))", re.ASCII)
_ABOUT = re.compile(r"[≈~]\s*(?=[-+−.√π\d])", re.ASCII)
_RAISED = str.maketrans("⁺⁻−⁰¹²³⁴⁵⁶⁷⁸⁹", "+--0123456789")
_NOT_FINITE = {"inf": math.inf, "infinity": math.inf, "∞": math.inf, "nan": math.nan}
BLANK = ("", "-", "–", "—", "?", "…", "...", "_", "__", "___", "n/a", "#n/a", "na", "null", "none")
"""What people write if they have no answer."""


At = tuple[int, ...]
"""The place of an entry in a step."""


class Tolerance(NamedTuple):
    """How far an answer may be off, if its digits are not to decide: atol + rtol·|value|."""

    rtol: float = 0.0
    atol: float = 0.0


@dataclass(frozen=True, eq=False)
class Answer:
    """The answer to one step."""

    value: Array  # of 64-bit numbers; NaN where nothing is answered
    text: Array  # the entries as they were written; None where nothing is answered
    decimals: Array  # of each entry; fewer than 0 where 1.2e5 was written
    figures: Array  # significant ones
    table: bool = False  # rows and cells of a table, which say nothing of vectors and matrices
    noise: float = ROUND_OFF  # the relative error of its number type
    nil: float = 0.0  # what counts as 0, given the size of the numbers that it is computed from
    terms: float = 0.0  # the size of the terms that add up to the right value, if they may nearly cancel
    wordy: InputError | None = None  # why an entry or the whole is no number; a step with answers in words allows words
    labels: tuple[int, InputError] | None = None  # how many cells there are if none is a label, and the error then
    heads: tuple[tuple[str, ...], ...] = ()  # the labels of its rows and of its columns, () if it has none
    asked: Array | None = None  # which entries are asked for, if they are given by their places; None: all
    stored: str = ""  # the type in which a machine has stored it with all its digits
    inferred: bool = False  # whether that type is only inferred from the numbers
    said: bool = False  # whether somebody said in which type it was computed
    bits: bool = False  # whether its numbers may be the bits of bfloat16
    slack: Array | None = None  # how far each entry may be off when computed in that type
    tolerance: Tolerance | None = None  # how far each entry may be off, if its digits are not to decide

    @property
    def shape(self) -> tuple[int, ...]:
        """How many entries there are along each axis."""
        return self.value.shape

    @cached_property
    def answered(self) -> Array:
        """Where something is answered."""
        return np.asarray(np.not_equal(self.text, np.array(None, dtype=object)), dtype=bool)

    @cached_property
    def unit(self) -> Array:
        """The unit of the last digit that was written."""
        return 10.0**-self.decimals

    @cached_property
    def enough(self) -> Array:
        """Where enough digits are written to tell a number from a guess, or nothing is answered."""
        return (self.decimals >= LEAST_DECIMALS) | (self.figures >= LEAST_FIGURES) | ~self.answered

    @cached_property
    def used(self) -> int:
        """The most decimals that are seen in any entry, also inside `2.72/10.11`."""
        rounded = self.decimals[self.answered & (self.decimals < EXACTLY)]
        exact = self.text[self.exact & self.answered] if self.value.size <= BY_HAND else ()
        inside = (len(digits) for text in exact for digits in _INSIDE.findall(text))
        return max(int(rounded.max(initial=0)), *inside, 0)

    @cached_property
    def exact(self) -> Array:
        """Where a number was written exactly: a fraction, a root."""
        return self.decimals >= EXACTLY

    @cached_property
    def dumped(self) -> bool:
        """Whether a machine wrote it: more entries than a hand writes, or dozens with more digits, or a narrow type."""
        if self.value.size > BY_HAND or self.stored:
            return True
        return self.value.size >= FEWEST_DUMPED and (self.noise > ROUND_OFF or self.used > MOST_DECIMALS)

    @cached_property
    def informative(self) -> bool:
        """Whether there is anything but zeros in it."""
        return bool(np.any(np.nan_to_num(self.value)))

    def as_stored(self, dtype: str | None) -> Answer:
        """The answer as computed in a given type; what a hand may have written is a dump only in a narrow one."""
        if dtype is None:
            return self
        if self.bits and dtype == "bfloat16":
            numbers = (self.value.astype(np.uint32) << 16).view(np.float32)
            return from_array(numbers, lambda at: ANSWER.name).as_stored(dtype)
        if not self.stored and dtype not in NARROW:
            return replace(self, said=True, noise=max(self.noise, NOISE.get(dtype, ROUND_OFF)))
        return replace(self, stored=dtype, inferred=False, said=True, noise=NOISE.get(dtype, ROUND_OFF))

    def of_a_hundred(self) -> Answer:
        """The answer with its percentages turned into shares of 1."""
        return replace(self, value=self.value / 100, decimals=np.minimum(self.decimals + 2, EXACTLY))

    def in_parts(self) -> Answer:
        """The answer with a last axis of two: the real and the imaginary part of every entry, as they are written."""
        if self.value.size > BY_HAND:
            return self.laid(lambda part: np.stack([part, np.zeros_like(part)], axis=-1))
        pairs = [(None, None) if text is None else split(text) or (text, "0") for text in self.text.flat]
        parts = from_text([part for pair in pairs for part in pair], (*self.shape, 2), lambda at: "the answer")
        asked = None if self.asked is None else np.stack([self.asked, self.asked], axis=-1)
        noise = max(parts.noise, self.noise)
        return replace(parts, table=self.table, noise=noise, nil=self.nil, terms=self.terms, asked=asked)

    def of_words(self, words: Array, numbers: Array) -> Answer:
        """The answer to a step whose entries are one of two words, as the numbers 0 and 1; capitals do not count.

        `words` are the right ones, with their `numbers`; any other word becomes the other number.
        """
        said = np.array([str(text).casefold() for text in self.text.flat]).reshape(self.shape)
        exactly = np.full(self.shape, EXACTLY)
        value = np.where(self.answered, np.where(said == words, numbers, 1 - numbers), math.nan)
        return replace(self, value=value, decimals=exactly, figures=exactly, wordy=None)

    def padded(self, shape: tuple[int, ...]) -> Answer:
        """The answer with blank entries up to a larger shape."""

        def pad(part: Array) -> Array:
            blank = {"f": math.nan, "O": None}.get(part.dtype.kind, 0)
            whole = np.full(shape, blank, dtype=part.dtype)
            there: tuple[Any, ...] = (..., *map(slice, part.shape))  # "..." fits a single number too, which has no axis
            whole[there] = part
            return whole

        return self.laid(pad)

    def laid(self, move: Callable[[Array], Array]) -> Answer:
        """The answer with its entries moved to other places."""
        moved = (move(part) for part in (self.value, self.text, self.decimals, self.figures))
        value, text, decimals, figures = moved
        slack, asked = (None if part is None else move(part) for part in (self.slack, self.asked))
        return replace(self, value=value, text=text, decimals=decimals, figures=figures, slack=slack, asked=asked)

    def times(self, factor: float) -> Answer:
        """The answer with its numbers multiplied."""
        return replace(self, value=self.value * factor)

    def as_asked(self) -> Answer:
        """The answer without the entries that are not asked for."""
        if self.asked is None or not (self.answered & ~self.asked).any():
            return self
        text = self.text.copy()
        text[~self.asked] = None
        return replace(self, text=text, value=np.where(self.asked, self.value, math.nan))


def from_text(entries: Sequence[Any], shape: tuple[int, ...], place: Place, *, table: bool = False) -> Answer:
    """An answer from its entries in order: numbers, numbers as text, and None or an empty cell for a blank.

    A word, or a complex number, is NaN; it is refused later, if its step turns out to have real numbers.
    """
    first: dict[bool, InputError] = {}  # the first fault of a word, and of a complex number
    value, text = np.full(len(entries), math.nan), np.empty(len(entries), dtype=object)
    decimals, figures = np.zeros(len(entries), dtype=int), np.zeros(len(entries), dtype=int)
    for i, entry in enumerate(entries):
        try:
            text[i] = _written(entry)
            if text[i] is not None:
                value[i], decimals[i], figures[i] = read(text[i])
        except InputError as error:
            fault = error.within(place(index_of(i, shape)))
            is_complex = text[i] is not None and split(text[i]) is not None
            if text[i] is None or not (is_complex or _WORD.fullmatch(text[i])):
                raise fault from None
            first.setdefault(is_complex, fault)
    widened = ((decimals > 0) & (decimals < EXACTLY) & (figures > BY_MACHINE)).any()
    noise = NOISE["float32"] if widened and _was_float32(value) else ROUND_OFF
    laid = Answer(value, text, decimals, figures, table, noise, wordy=first.get(False) or first.get(True))
    return laid.laid(lambda part: part.reshape(shape))


def from_lists(tree: Any, place: Place) -> Answer:
    """An answer from nested lists; an answer without entries is never right."""
    if _hollow(tree):
        return nothing((0,))
    entries, shape = flatten(tree, place)
    if len(entries) > MOST_ENTRIES:
        raise InputError(f"{place(())} has more than {MOST_ENTRIES:,} entries")
    return from_text(entries, shape, place)


def reached(places: Iterable[At]) -> tuple[int, ...]:
    """The smallest shape that has all these places."""
    return tuple(1 + max(along) for along in zip(*places, strict=False))


def from_places(entries: Mapping[At, Any], place: Place) -> Answer:
    """An answer from some entries by their places; the other entries are not asked for."""
    shape = reached(entries)
    written = [entries.get(at) for at in np.ndindex(shape)]
    there = np.array([at in entries for at in np.ndindex(shape)]).reshape(shape)
    return replace(from_text(written, shape, place), asked=there)


def from_array(value: Array, place: Place, own: str = "") -> Answer:
    """An answer from stored numbers, each with as many digits as it takes; `own` is the type that they had before.

    Many complex ones are refused only if there is a step for them: a dump may hold arrays that are no steps.
    """
    own = own or value.dtype.name
    if own in NARROW and not np.issubdtype(value.dtype, np.floating):  # ml_dtypes' own
        value = value.astype(np.float32)
    if value.dtype.kind == "c" and not value.imag.any():  # as torch stores even real eigenvalues
        value = value.real
    if value.dtype.kind == "c" and value.size <= BY_HAND:
        found = from_text(value.ravel().tolist(), value.shape, place)
        return replace(found, noise=NOISE.get(value.real.dtype.name, ROUND_OFF))
    if value.dtype.kind == "c":
        fault = InputError(f"{place(())} has {value.size:,} complex entries, and at most {BY_HAND:,} are read")
        return replace(from_array(np.full(value.shape, math.nan), place), wordy=fault)
    if value.dtype.kind not in "fiu":
        raise InputError(f"{place(())} holds {value.dtype.name} entries, not real numbers")
    if value.size > MOST_STORED:
        raise InputError(f"{place(())} has more than {MOST_STORED:,} entries")
    bits = may_be_bits(value)
    decimals = _decimals_of_all(value) if value.dtype.kind == "f" else LEAST_DECIMALS
    many = value.size >= FEWEST_DUMPED
    stored, noise = "", NOISE.get(own, ROUND_OFF)  # rounded numbers and whole ones fit any type
    if decimals == EXACTLY and not many and own in NOISE:
        stored = own
    elif many and (decimals == EXACTLY or not _are_whole(value)):
        from attncalc.homework.reading.stored_types import narrowest  # a door: few answers are dumps

        narrow = narrowest(value)
        if decimals == EXACTLY or narrow in NARROW:  # in a narrow type many numbers have few decimals anyway
            stored, noise, decimals = narrow, NOISE.get(narrow, ROUND_OFF), EXACTLY
    if value.size <= BY_HAND and not (stored and many):
        texts = [shortest(entry) for entry in value.ravel()]
        answer = from_text(texts, value.shape, place)
        return replace(answer, noise=max(answer.noise, noise), stored=stored, bits=bits)
    alike = np.broadcast_to(decimals, value.shape)
    text = np.broadcast_to(np.array("", dtype=object), value.shape)
    figures = np.broadcast_to(EXACTLY, value.shape)
    inferred = bool(stored) and stored != own
    numbers = value.astype(np.float64, copy=False)
    return Answer(numbers, text, alike, figures, noise=noise, stored=stored, inferred=inferred, bits=bits)


def _was_float32(value: Array) -> bool:
    """Whether float32 holds all of these numbers, which may then have been widened from it."""
    with np.errstate(over="ignore", under="ignore"):
        return np.array_equal(value, value.astype(np.float32), equal_nan=True)


def _are_whole(value: Array) -> bool:
    finite = value[np.isfinite(value)]
    return np.array_equal(finite, np.rint(finite))


def _decimals_of_all(value: Array) -> int:
    """The decimals to which a whole array was rounded before it was stored; EXACTLY if it was not."""
    if _are_whole(value):
        return LEAST_DECIMALS
    if value.dtype.itemsize < 4:
        return EXACTLY
    finite = value[np.isfinite(value)].astype(np.float64)
    slack = 4 * np.finfo(value.dtype if value.dtype.kind == "f" else np.float64).eps * np.abs(finite)
    for decimals in range(LEAST_DECIMALS, 7):
        parts = finite[:BY_HAND] * 10.0**decimals
        if (np.abs(parts - np.rint(parts)) <= slack[:BY_HAND] * 10.0**decimals).all():
            return decimals
    return EXACTLY


def from_python(value: Any, name: str) -> Answer:
    """An answer from Python: nested lists of numbers, text or None; whatever NumPy takes."""
    from attncalc.inputs.python_values import (  # a door: no sheet's file is of Python
        narrow,
        opened_lists,
        refuse_held_tensor,
        together,
        widened,
    )

    value = together(value, name)
    if value is None or isinstance(value, list | tuple | str | int | float):
        return from_lists(opened_lists(value, name), brackets("", name))
    refuse_held_tensor(value, name)
    array = np.asarray(widened(value))
    if array.dtype.kind in "OSU":
        return from_lists(array.tolist(), brackets("", name))
    return from_array(array, brackets("", name), narrow(value))


def nothing(shape: tuple[int, ...]) -> Answer:
    """An answer of this shape in which all entries are blank."""
    return Answer(
        np.full(shape, math.nan), np.full(shape, None, dtype=object), np.zeros(shape, int), np.zeros(shape, int)
    )


def each_read(readers: Mapping[str, Callable[[], Answer]]) -> dict[str, Answer]:
    """The answers to the steps of a sheet; one that cannot be read says why in `wordy`.

    Raises InputError if one cannot be read and no other has an entry.
    """
    found: dict[str, Answer] = {}
    faults: list[InputError] = []
    for name, reader in readers.items():
        try:
            found[name] = reader()
        except InputError as fault:
            found[name] = replace(nothing((0,)), wordy=fault)
            faults.append(fault)
    if faults and not any(answer.answered.any() for answer in found.values()):
        raise faults[0]
    return found


def read(text: str) -> tuple[float, int, int]:
    """A number with its decimals and significant figures: `0.360` is (0.36, 3, 3), as is `36.0%`; `1/3` is exact."""
    word = text.casefold().replace("−", "-")
    if word.lstrip("+-") in _NOT_FINITE:
        return (-1 if word.startswith("-") else 1) * _NOT_FINITE[word.lstrip("+-")], EXACTLY, EXACTLY
    if share := _SHARE.fullmatch(word):
        word = f"{share[1]}e-2"  # rounded once: 57.6/100 is 0.5760000000000001
    try:
        value = parse_number(word)
    except InputError as error:  # its message should quote what was written, not what is read
        raise InputError(error.message.replace(quoted(word), quoted(text)), hint=error.hint) from None
    found = _DECIMAL.fullmatch(word)
    if found is None:
        return value, EXACTLY, EXACTLY
    whole, fraction, exponent = found.groups()
    decimals = len(fraction) - int(exponent or 0)
    return value, max(min(decimals, EXACTLY), -EXACTLY), len((whole + fraction).lstrip("0"))


def respelled(text: str) -> str:
    """A text with roots, π and powers of ten as operands have them: `5*sqrt(70)/70` for `5√70/70`, `5e-2` for `5·10⁻²`.

    The sign of `≈0.09` is dropped, a long minus becomes a short one, and the blank in `36 %` is removed.
    """
    text = with_slashes(_ABOUT.sub("", text.replace("−", "-")))
    if "%" in text:
        text = _BEFORE_PERCENT.sub("", text)
    if "√" in text or "π" in text:
        text = _ROOT.sub(r"sqrt(\1\2)", _TIMES_SIGN.sub("*", text)).replace("π", "pi")
    if "10" in text:
        text = _POWER_OF_TEN.sub(lambda found: "e" + (found[1] or found[2]).translate(_RAISED), text)
    return text


def _written(entry: Any) -> str | None:
    """The text of an entry; None if it is left blank."""
    if isinstance(entry, str):
        text = respelled(entry.strip())
        return None if text.casefold() in BLANK else text
    if entry is None:
        return None
    if isinstance(entry, bool | np.bool_):
        raise InputError(f"{spoken(bool(entry))} is not a number")
    if isinstance(entry, int | float | np.integer | np.floating):
        return shortest(entry)
    if isinstance(entry, complex):
        entry = {"re": entry.real, "im": entry.imag}
    if isinstance(entry, dict) and entry.keys() == {"re", "im"}:  # as a saved result has them
        parts = [_written(entry[part]) for part in ("re", "im")]
        if None in parts and any(parts):
            name = "re" if parts[0] is None else "im"
            raise InputError(f'of {{"re": …, "im": …}} the part "{name}" is not answered', hint="write 0 where it is 0")
        return None if None in parts else f"{parts[0]} + {parts[1]}i".replace("+ -", "- ")
    if hasattr(entry, "numerator") or hasattr(entry, "as_tuple"):  # a Fraction, a Decimal
        return str(entry)
    raise InputError(f"{spoken(entry)} is not a number")


def _hollow(tree: Any) -> bool:
    """Whether nested lists hold no entry at all."""
    while isinstance(tree, list | tuple):
        if not tree:
            return True
        if len(tree) > 1 and not all(isinstance(item, list | tuple) and not item for item in tree):
            return False
        tree = tree[0]
    return False


# A sheet, wherever it was read: answers by the names of their steps, and what else it may hold.


BESIDE = ("student", "problem", "rounding", "notes")
"""What a sheet may hold besides its steps."""
LONGEST_NAME = 200
MOST_TOLD = 12
MOST_STEPS = 5000
MOST_DIGITS = 15

ANSWER = Operand("answer", "answer", ((),), kind="logits", broadcasts=True)


@dataclass(frozen=True)
class Sheet:
    """What somebody has answered."""

    steps: Mapping[str, Answer]  # by the names of steps; "" is the result
    student: str = ""
    source: str = ""
    decimals: int | None = None  # to how many the student claims to have rounded
    notes: tuple[str, ...] = field(default=())  # what the marker should be told
    problem: str = ""  # the hash of its problem, which the sheets of a class have
    stored: bool = False  # whether it holds arrays that a machine stored


def refuse_many(steps: int, source: str) -> None:
    """Raise InputError for a sheet with too many steps."""
    if steps > MOST_STEPS:
        raise InputError(f"{source or 'the sheet'} has {steps:,} steps, and {MOST_STEPS:,} are read at most")


def without_effect(names: Sequence[str], source: str) -> tuple[str, ...]:
    """A note on names in a sheet that have no effect; of many, it lists the first ones."""
    if not names:
        return ()
    known = list(dict.fromkeys(names))
    said = both(map(quoted, known), MOST_TOLD)
    where = f"{source}: " if source else ""
    return (f"{where}{said} {'has' if len(known) == 1 else 'have'} no effect: a sheet holds answers only",)


class Unread(InputError):
    """Why a sheet cannot be read, and whose it is."""

    student = ""


@contextmanager
def signed(student: str) -> Iterator[None]:
    """Errors raised inside also tell whose sheet it is."""
    try:
        yield
    except InputError as fault:
        told = Unread(fault.message, hint=fault.hint)
        told.student = student
        raise told from None


def student_of(name: Any, source: str, key: str = "student") -> str:
    """The student of a sheet, or the hash of its problem: a text, "" if it is missing."""
    if name is None:
        return ""
    if not isinstance(name, str):
        raise InputError(f"{source}: {key} is to be a text")
    return visible(name.strip(), LONGEST_NAME)


def decimals_of(rounding: Any, source: str) -> int | None:
    """The decimals to which a student claims to have rounded: `3`, or {"decimals": 3}."""
    plainly = plain(rounding, source)
    number = plainly.get("decimals") if isinstance(plainly, dict) else plainly
    if number is None:
        return None
    if isinstance(number, str) and re.fullmatch(r"\s*\d{1,4}\s*", number, re.ASCII):
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= MOST_DIGITS:
        raise InputError(f"{source}: rounding is a number of decimals from 0 to {MOST_DIGITS}")
    return number
