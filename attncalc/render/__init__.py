"""What a trace looks like: the name of a format → a function of a Trace and a View."""

from __future__ import annotations

from importlib import import_module

from attncalc.render.view import View
from attncalc.trace import Trace

__all__ = ["BINARY", "FORMATS", "View", "render"]

FORMATS: dict[str, str] = {
    "table": "tables:page",
    "plain": "plain:page",
    "json": "document:page",
    "csv": "csv_:page",
    "markdown": "markdown:page",
    "latex": "latex:page",
    "html": "html:page",
    "npy": "binary:npy",
    "npz": "binary:npz",
}
"""Name → where its function is: only the format that is asked for is imported."""

BINARY = frozenset({"npy", "npz"})
"""The formats that are bytes; the others are text that ends in a newline."""


def render(trace: Trace, format: str, view: View | None = None) -> str | bytes:
    """The trace in a format of `FORMATS`: bytes for those in `BINARY`, text for the others."""
    view = view or View()
    if view.cells and format in ("table", "plain"):
        from attncalc.render import cells

        return cells.page(trace, view)
    module, _, name = FORMATS[format].partition(":")
    page: str | bytes = getattr(import_module(f"{__name__}.{module}"), name)(trace, view)
    return page
