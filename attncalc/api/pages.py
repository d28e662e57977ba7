"""The pages that a trace writes of itself in Python, in a notebook and on a Rich console."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attncalc.common.errors import OptionError
from attncalc.record.trace import Trace
from attncalc.render import View, render, traces

if TYPE_CHECKING:  # each method loads its own writer
    from attncalc.render.terminal import Drawn


IN_PYTHON = View(in_python=True)


def page(trace: Trace, format: str, *, standalone: bool = False) -> str:
    """The page as text: plain, as `print` shows it, Markdown, or LaTeX, as a part of a document or a whole one."""
    return str(render(trace, format, IN_PYTHON._replace(standalone=standalone)))


def cell(trace: Trace, places: Sequence[str]) -> str:
    """The arithmetic of entries, a line each."""
    if not places or not all(isinstance(place, str) for place in places):
        raise OptionError("cell takes the places of entries, as text", hint='t.cell("output[0,1]")')
    from attncalc.render.entries import cells  # a door: few calls ask for entries

    return "\n".join(line.text for _, line in cells(trace, View(cells=tuple(places))))


def rich(trace: Trace) -> Drawn:
    """The page as Rich draws it, as wide as what it is drawn in."""
    from attncalc.render.terminal import Drawn  # a door: nobody else needs Rich

    return Drawn(traces.page_or_outline(trace, IN_PYTHON), View())


def html(trace: Trace, *, standalone: bool) -> str:
    """The page as a part of a notebook or of another page, in its colours, or as a file."""
    if standalone:
        return str(render(trace, "html"))
    from attncalc.render.html import fragment  # a door: so do the styles and MathML

    return fragment(traces.page(trace, IN_PYTHON), View())


def equations(trace: Trace) -> str:
    """The steps as one formula in LaTeX, because notebooks set nothing else of LaTeX."""
    from attncalc.render.latex import equations  # a door, like the others

    return equations(traces.page(trace, View()), View())
