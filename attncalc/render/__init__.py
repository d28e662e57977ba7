"""What a trace looks like: the name of a format → a function of a Trace and a View."""

from __future__ import annotations

from importlib import import_module

from attncalc.render.view import View
from attncalc.trace import Trace

__all__ = ["BINARY", "FORMATS", "PICTURES", "View", "render"]

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

PICTURES: dict[str, str] = {"png": "pictures:png", "svg": "pictures:svg"}
"""The same for those that draw the pictures of a trace and nothing else; PNG is bytes, SVG is text."""

BINARY = frozenset({"npy", "npz"})
"""The formats that are bytes; the others are text that ends in a newline."""


def render(trace: Trace, format: str, view: View | None = None) -> str | bytes:
    """The trace in a format of `FORMATS` or `PICTURES`: bytes for those in `BINARY` and PNG, text for the others."""
    view = view or View()
    if view.cells and format in ("table", "plain"):
        from attncalc.render import cells

        return cells.page(trace, view if format == "table" else view._replace(width=None))
    if view.plot and format == "table":
        return _with_pictures(trace, view)
    module, _, name = (FORMATS | PICTURES)[format].partition(":")
    page: str | bytes = getattr(import_module(f"{__name__}.{module}"), name)(trace, view)
    return page


def _with_pictures(trace: Trace, view: View) -> str:
    """The page and the pictures below it; where one value alone is asked for, the pictures alone."""
    from attncalc.render import pictures, tables

    drawn = pictures.page(trace, view)
    return drawn if view.bare else f"{tables.page(trace, view)}\n{drawn}"
