"""Python's face: what a call and the methods of a record do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attncalc.common.system import loaded

METHODS = {
    "call": "api.calling:solve_call",
    "grad": "api.calling:backward",
    "check": "api.scoring:check_answer",
    "entries": "solve.asking:entries",
    "cell": "api.pages:cell",
    "to_dict": "render.document:document",
    "plot": "api.plots:plotted",
    "page": "api.pages:page",
    "rich": "api.pages:rich",
    "to_html": "api.pages:html",
    "latex": "api.pages:equations",
    "marked": "homework.reports.marked_sheets:plain",
    "marked_html": "homework.reports.marked_sheets:html",
}
"""A method of a record → where its function is, which is loaded only when the method is called."""


def method(name: str) -> Callable[..., Any]:
    """The function behind a method, by the method's name."""
    found: Callable[..., Any] = loaded(METHODS[name])
    return found
