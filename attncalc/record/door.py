"""The one door that leads up from the records: what stands behind a method of theirs, by its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def api(name: str) -> Callable[..., Any]:
    """A function of the table in attncalc/api: it makes records itself, and is loaded when it is asked for."""
    from attncalc.api import method

    return method(name)
