"""Complex answers are read as `1 + 2i`, and compared as the two numbers that they are.

A complex step is compared part by part: its value and the answer have a last axis of two, the real and the imaginary
part, each with the digits that it was written with.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from attncalc.common.arrays import Array
from attncalc.common.numerals import NOT_FINITE, is_number
from attncalc.inputs.given import nested

_SPACED = re.compile(r"(?<=[\d.)i]) *([+−-]) +(?=[\d.a-z()*/]*(?<!p)[ij]\b)", re.IGNORECASE)


def joined(text: str) -> str:
    """A text in which no blanks stand around the signs of `1 + 2i`, so that blanks part its numbers."""
    return _SPACED.sub(r"\1", text)


def split(text: str) -> tuple[str, str] | None:
    """The real and the imaginary part of `1 - 2i`, `2i`, `-j` or `1/2 + sqrt(3)/2*i`; None for what is none of these.

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


def literal(word: str, name: str) -> list[Any] | str | None:
    """The entries of what is typed as an answer and no operand may be: `1+2i, 1-2i`, `1+i 2; 0 3i`, `36%, 64%`, `∞, 0`.

    They may stand in brackets, as JSON has them. None where no entry is what operands have not; a lone letter may be
    the name of a file.
    """
    if not re.search(r"[ijIJ%∞]", word) or (word.strip().isalpha() and not _is_infinite(word.strip())):
        return None
    word = joined(word)
    entries = re.findall(r'[^\[\],;\s"]+', word)
    found = [
        split(entry) is not None or (entry[-1] == "%" and is_number(entry[:-1])) or _is_infinite(entry)
        for entry in entries
    ]
    if not any(found) or not all(there or is_number(entry) for there, entry in zip(found, entries, strict=True)):
        return None
    if word.lstrip().startswith("["):
        return nested(word, name)
    rows = [[part for cell in row.split(",") for part in cell.split() or [""]] for row in word.split(";")]
    return rows if len(rows) > 1 else rows[0] if len(rows[0]) > 1 else rows[0][0]


def _is_infinite(entry: str) -> bool:
    return entry.casefold().lstrip("+-−") in ("inf", "infinity", "∞")


def as_parts(value: Array) -> Array:
    """A complex value with a last axis of two; a real one as it is."""
    return np.stack([value.real, value.imag], axis=-1).astype(np.float64) if value.dtype.kind == "c" else value


def from_parts(value: Array) -> Array:
    """The complex numbers of which the real and the imaginary parts stand along the last axis."""
    return np.asarray(value[..., 0] + 1j * value[..., 1])
