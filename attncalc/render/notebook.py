"""How a trace draws itself in a notebook."""

from __future__ import annotations

from attncalc.render import html as html_page
from attncalc.render import latex as latex_page
from attncalc.render import markdown as markdown_page
from attncalc.render.view import View
from attncalc.trace import Trace


def html(trace: Trace) -> str:
    """The steps and the result as a part of the notebook, in its colours."""
    return html_page.fragment(trace, View())


def markdown(trace: Trace) -> str:
    """The same as Markdown."""
    return markdown_page.page(trace, View())


def latex(trace: Trace) -> str:
    """The steps as one formula: a notebook sets nothing else of LaTeX."""
    return latex_page.equations(trace, View())
