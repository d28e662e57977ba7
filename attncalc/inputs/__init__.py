"""Literals, JSON, CSV, npy, npz and safetensors → operands, with errors that name file, line and cell.

What reads a format is imported when a file has it; each name below brings its own module and what that needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attncalc.inputs.calls import Gathered as Gathered
    from attncalc.inputs.calls import gather as gather
    from attncalc.inputs.documents import Document as Document
    from attncalc.inputs.documents import load_document as load_document
    from attncalc.inputs.entries import parse_number as parse_number
    from attncalc.inputs.literals import looks_numeric as looks_numeric
    from attncalc.inputs.python_values import to_given as to_given
    from attncalc.inputs.reading import Reading as Reading
    from attncalc.inputs.resolve import read_word as read_word

_HOME = {
    "Document": "documents",
    "Gathered": "calls",
    "Reading": "reading",
    "gather": "calls",
    "load_document": "documents",
    "looks_numeric": "literals",
    "parse_number": "entries",
    "read_word": "resolve",
    "to_given": "python_values",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
