"""What records look like: the one table of formats, each of which writes every page."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from attncalc.record.trace import Trace
from attncalc.render.view import View

if TYPE_CHECKING:
    from attncalc.render.page import Page

__all__ = ["BINARY", "DATA", "FORMATS", "PAGES", "PICTURES", "View", "render", "write"]

PAGES: dict[str, str] = {
    "table": "terminal:write",
    "plain": "plain:write",
    "markdown": "markdown:write",
    "latex": "latex:write",
    "html": "html:write",
}
"""Of pages: name → where the function of a Page and a View is. Only the format that is asked for is imported."""

PICTURES: dict[str, str] = {"png": "pictures:png", "svg": "pictures:svg"}
"""The same for those that draw the pictures of a page and nothing else; PNG is bytes, SVG is text."""

DATA: dict[str, str] = {"json": "document:page", "csv": "csv_:page", "npy": "binary:npy", "npz": "binary:npz"}
"""Those that hold the numbers of a trace: name → where the function of a Trace and a View is."""

FORMATS = ("table", "plain", "json", "csv", *list(PAGES)[2:], "npy", "npz")
"""What a trace is shown in, but for pictures."""

BINARY = frozenset({"npy", "npz"})
"""The formats that are bytes; the others are text that ends in a newline."""


def render(trace: Trace, format: str, view: View | None = None) -> str | bytes:
    """The trace in a format of `FORMATS` or `PICTURES`: bytes for those in `BINARY` and PNG, text for the others."""
    view = view or View()
    if format in DATA:
        content: str | bytes = _function(DATA[format])(trace, view)
        return content
    from attncalc.render import traces  # a door: numbers alone need no page

    page = traces.page(trace, view._replace(plot=True, quiet=True, cells=()) if format in PICTURES else view)
    if format == "html" and not view.bare and not view.cells:
        from attncalc.render import html, pointing  # a door: what else is written has nothing to point at

        page = pointing.pointed(page, trace, view, html.limits(page))
    return write(page, format, view)


def write(page: Page, format: str, view: View | None = None) -> str | bytes:
    """A page in a format of `PAGES` or `PICTURES`."""
    content: str | bytes = _function((PAGES | PICTURES)[format])(page, view or View())
    return content


def _function(where: str) -> Any:
    module, _, name = where.partition(":")
    return getattr(import_module(f"{__name__}.{module}"), name)
