"""NumPy's own files: npy for one value, npz for every step and output; the same bytes for the same numbers."""

from __future__ import annotations

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
    steps = [asked_for(trace, view)] if view.bare else [*(step for _, step in shown(trace, view)), *beside(trace, view)]
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for step in steps:
            file.writestr(zipfile.ZipInfo(f"{step.key}.npy", EPOCH), _npy(step, view))
    return archive.getvalue()


def _npy(step: Step, view: View) -> bytes:
    value: NDArray[Any] = value_of(step)
    if value.dtype == object:
        raise AttncalcError(
            f"{step.key} is exact or made of letters, but NumPy's files hold decimal numbers",
            hint="-f json and -f latex hold it; without --exact it is decimal",
        )
    file = BytesIO()
    np.lib.format.write_array(
        file, value if view.digits is None else round_half_up(value, view.digits), allow_pickle=False
    )
    return file.getvalue()
