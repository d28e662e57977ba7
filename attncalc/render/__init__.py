"""What records look like: the one table of formats, each of which writes every page."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from attncalc.record.trace import Trace
from attncalc.render.view import View

if TYPE_CHECKING:
    from attncalc.render.page import Page

__all__ = ["BINARY", "FORMATS", "NUMBERS", "PAGES", "PICTURES", "SUFFIXES", "TABLE", "View", "render", "write"]


class Format(NamedTuple):
    """One row: a format of pages, of the record itself, of its numbers alone, or of the pictures of a page."""

    where: str  # "markdown:write": only the module of the format that is asked for is imported
    suffix: str = ""  # of its files
    holds: Literal["page", "record", "numbers", "pictures"] = "page"
    binary: bool = False  # bytes; the others are text that ends in a newline


TABLE: dict[str, Format] = {
    "table": Format("terminal:write", ".txt"),
    "plain": Format("plain:write"),
    "json": Format("document:page", ".json", "record"),
    "csv": Format("csv_:page", ".csv", "numbers"),
    "markdown": Format("markdown:write", ".md"),
    "latex": Format("latex:write", ".tex"),
    "html": Format("html:write", ".html"),
    "npy": Format("binary:npy", ".npy", "numbers", binary=True),
    "npz": Format("binary:npz", ".npz", "numbers", binary=True),
    "png": Format("pictures:png", ".png", "pictures", binary=True),
    "svg": Format("pictures:svg", ".svg", "pictures"),
}
"""Name → row, in the order in which they are named to a reader."""

PAGES = tuple(name for name, row in TABLE.items() if row.holds == "page")
PICTURES = tuple(name for name, row in TABLE.items() if row.holds == "pictures")
NUMBERS = tuple(name for name, row in TABLE.items() if row.holds == "numbers")
BINARY = tuple(name for name, row in TABLE.items() if row.binary)
FORMATS = tuple(name for name in TABLE if name not in PICTURES)
"""What a trace is shown in, but for pictures."""
SUFFIXES = {row.suffix: name for name, row in TABLE.items() if row.suffix}


def pages_and(*others: str) -> tuple[str, ...]:
    """The formats of a page, and those that its maker writes by itself."""
    return tuple(name for name in TABLE if name in PAGES or name in others)


def render(trace: Trace, format: str, view: View | None = None) -> str | bytes:
    """The trace in a format of the table: bytes for those in `BINARY`, text for the others."""
    view = view or View()
    if TABLE[format].holds in ("record", "numbers"):
        content: str | bytes = _function(format)(trace, view)
        return content
    from attncalc.render import traces  # a door: numbers alone need no page

    page = traces.page(trace, view._replace(plot=True, quiet=True, cells=()) if format in PICTURES else view)
    if format == "html" and not view.bare and not view.cells:
        from attncalc.render import html, pointing  # a door: what else is written has nothing to point at

        page = pointing.pointed(page, trace, view, html.limits(page))
    return write(page, format, view)


def write(page: Page, format: str, view: View | None = None) -> str | bytes:
    """A page in a format of `PAGES` or `PICTURES`."""
    content: str | bytes = _function(format)(page, view or View())
    return content


def _function(format: str) -> Any:
    module, _, name = TABLE[format].where.partition(":")
    return getattr(import_module(f"{__name__}.{module}"), name)
