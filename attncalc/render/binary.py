"""Files of numbers: npy for one value, npz and safetensors for every step; the same bytes for the same numbers."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncalc.common.errors import AttncalcError
from attncalc.record.numbers import round_half_up
from attncalc.record.trace import Step, Trace
from attncalc.render import View, asked_for, beside, shown, value_of

EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip file can hold: no output depends on the clock


def npy(trace: Trace, view: View) -> bytes:
    """The result, or what `get` names."""
    return _npy(asked_for(trace, view), view)


def npz(trace: Trace, view: View) -> bytes:
    """Every step and output by its name; with `quiet` or `get` one of them."""
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for step in _steps(trace, view):
            file.writestr(zipfile.ZipInfo(f"{step.key}.npy", EPOCH), _npy(step, view))
    return archive.getvalue()


def safetensors(trace: Trace, view: View) -> bytes:
    """The same, behind a header that says where each is."""
    header: dict[str, dict[str, Any]] = {}
    bodies: list[bytes] = []
    end = 0
    for step in _steps(trace, view):
        value = _numbers(step, view)
        if lacks := {"c": "complex numbers of 128 bits", "U": "words"}.get(value.dtype.kind):
            fact = f"{step.key} holds {lacks}, and safetensors has no type for them"
            raise AttncalcError(fact, hint="npz and json hold them")
        name = value.dtype.kind.upper() + str(8 * value.dtype.itemsize)
        body = value.astype(value.dtype.newbyteorder("<")).tobytes()
        place = [end, end := end + len(body)]
        header[step.key] = {"dtype": {"B8": "BOOL"}.get(name, name), "shape": value.shape, "data_offsets": place}
        bodies.append(body)
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # so that the numbers begin at a whole one
    return b"".join((len(text).to_bytes(8, "little"), text, *bodies))


def _steps(trace: Trace, view: View) -> list[Step]:
    return [asked_for(trace, view)] if view.bare else [*(step for _, step in shown(trace, view)), *beside(trace, view)]


def _npy(step: Step, view: View) -> bytes:
    file = BytesIO()
    np.lib.format.write_array(file, _numbers(step, view), allow_pickle=False)
    return file.getvalue()


def _numbers(step: Step, view: View) -> NDArray[Any]:
    value: NDArray[Any] = value_of(step)
    if value.dtype == object:
        raise AttncalcError(
            f"{step.key} is exact or made of letters, but files of arrays hold decimal numbers",
            hint="-f json and -f latex hold it; without --exact it is decimal",
        )
    return value if view.digits is None else round_half_up(value, view.digits)
