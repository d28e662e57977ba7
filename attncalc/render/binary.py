"""Files of numbers: npy for one value, npz and safetensors for every step; the same bytes for the same numbers."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncalc.common.errors import AttncalcError
from attncalc.evaluate.precisions import PRECISIONS, held
from attncalc.record.numbers import round_half_up
from attncalc.record.trace import Step, Trace
from attncalc.render import View, asked_for, beside, shown, value_of

EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip file can hold, so that no output depends on the clock


CODED = {"bfloat16": ("BF16", 16), "float8_e4m3fn": ("F8_E4M3", 8), "float8_e5m2": ("F8_E5M2", 8)}
"""Types that NumPy lacks → their name in safetensors, and the bits of a number."""


def npy(trace: Trace, view: View) -> bytes:
    """The result, or what `get` names."""
    return _npy(asked_for(trace, view), view, trace.mode.dtype)


def npz(trace: Trace, view: View) -> bytes:
    """Every step and output by name; with `quiet` or `get` only one of them."""
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for step in _steps(trace, view):
            file.writestr(zipfile.ZipInfo(f"{step.key}.npy", EPOCH), _npy(step, view, trace.mode.dtype))
    return archive.getvalue()


def safetensors(trace: Trace, view: View) -> bytes:
    """The same, after a header that says where each one is."""
    header: dict[str, dict[str, Any]] = {}
    bodies: list[bytes] = []
    end = 0
    for step in _steps(trace, view):
        value = _numbers(step, view, trace.mode.dtype)
        if lacks := {"c": "complex numbers of 128 bits", "U": "words"}.get(value.dtype.kind):
            fact = f"{step.key} holds {lacks}, and safetensors has no type for them"
            raise AttncalcError(fact, hint="npz and json hold them")
        name = value.dtype.kind.upper() + str(8 * value.dtype.itemsize)
        if trace.mode.dtype in CODED and _is_held(value, trace.mode.dtype):
            name, value = CODED[trace.mode.dtype][0], _codes(value, trace.mode.dtype)
        body = value.astype(value.dtype.newbyteorder("<")).tobytes()
        place = [end, end := end + len(body)]
        header[step.key] = {"dtype": {"B8": "BOOL"}.get(name, name), "shape": value.shape, "data_offsets": place}
        bodies.append(body)
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # so that the numbers are aligned
    return b"".join((len(text).to_bytes(8, "little"), text, *bodies))


def _steps(trace: Trace, view: View) -> list[Step]:
    return [asked_for(trace, view)] if view.bare else [*(step for _, step in shown(trace, view)), *beside(trace, view)]


def _npy(step: Step, view: View, dtype: str) -> bytes:
    file = BytesIO()
    np.lib.format.write_array(file, _numbers(step, view, dtype), allow_pickle=False)
    return file.getvalue()


def _is_held(value: NDArray[Any], dtype: str) -> bool:
    """Whether a type can represent all floats of an array; float8_e4m3fn, for example, has no infinity."""
    return value.dtype.kind == "f" and np.array_equal(held(value, dtype), value, equal_nan=True)


def _codes(value: NDArray[Any], dtype: str) -> NDArray[Any]:
    """The bit patterns of numbers that the type can represent: sign, exponent and mantissa.

    The leading 1 of a normal number's mantissa is not stored: added to the exponent, it counts as one more.
    """
    (bits, least, *_), size = PRECISIONS[dtype], CODED[dtype][1]
    finite = np.where(np.isfinite(value), np.abs(value), 0)
    lowest = np.where(finite > 0, np.maximum(np.frexp(finite)[1] - 1, least), least)
    units = np.ldexp(finite, bits - 1 - lowest)
    found = (lowest - least) * 2 ** (bits - 1) + units
    top = 2 ** (size - 1)
    found = np.where(np.isinf(value), top - 2 ** (bits - 1), np.where(np.isnan(value), top - 1, found))
    codes: NDArray[Any] = (found + top * np.signbit(value)).astype(f"u{size // 8}")
    return codes


def _numbers(step: Step, view: View, dtype: str) -> NDArray[Any]:
    value: NDArray[Any] = value_of(step)
    if value.dtype == object:
        raise AttncalcError(
            f"{step.key} is exact or made of letters, but files of arrays hold decimal numbers",
            hint="-f json and -f latex hold it; without --exact it is decimal",
        )
    value = value if view.digits is None else round_half_up(value, view.digits)
    return value.astype(np.float16) if dtype == "float16" and _is_held(value, dtype) else value
