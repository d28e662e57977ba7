"""The sample inputs that come with the program: where they are, and the problem of each calculation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attncalc.problem import Problem


def folder() -> Path:
    """Where the samples are: inside the installed package, or at the top of a checkout."""
    installed = Path(__file__).parent / "samples"
    return installed if installed.is_dir() else Path(__file__).parents[1] / "samples"


def problem(name: str) -> Problem:
    """The problem in a calculation's own sample, NAME.json."""
    from attncalc.calculations import load
    from attncalc.inputs import Reading, load_document
    from attncalc.problem import Problem

    document = load_document(f"@{folder() / name}.json", Reading())
    return Problem(load(document.calculation), document.inputs, document.options)
