"""LaTeX for a document of one's own, or a document by itself: formulas, matrices, the result in a box."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from attncalc.render.parts import Item, divided, findings, operand_steps, options, summary
from attncalc.render.view import View, as_read, asked_for
from attncalc.render.window import GAP, Limits, Table, heading, label, window
from attncalc.render.worked import in_the_step
from attncalc.text import visible
from attncalc.trace import Step, Trace

LINE = 74  # characters of mathematics that stand side by side on a page of A4
MOST_ROWS, MOST_COLUMNS = 24, 10  # amsmath's matrices have ten columns
FEWEST_COLUMNS = 4

PREAMBLE = r"""\documentclass[11pt,a4paper]{article}
\usepackage[margin=2.5cm]{geometry}
\usepackage{amsmath}
\allowdisplaybreaks
"""


class Piece(NamedTuple):
    """A formula or a matrix, and about how many characters wide it is."""

    latex: str
    width: int


def page(trace: Trace, view: View) -> str:
    """The trace to put into a document, or as a document; with `quiet` or `get` one value's matrix alone."""
    if view.bare:
        pieces = _value(as_read(asked_for(trace, view)), view)
        lines = [f"\\[ {piece.latex} \\]" if view.standalone else piece.latex for piece in pieces]
    else:
        lines = list(_whole(trace, view))
    body = "\n".join(lines) + "\n"
    return _document(body) if view.standalone else body


def _document(body: str) -> str:
    strange = sorted({c for c in body if not c.isascii() and not _is_composed(c)})
    declared = [f"\\DeclareUnicodeCharacter{{{ord(c):04X}}}{{\\texttt{{U+{ord(c):04X}}}}}\n" for c in strange]
    if declared:
        declared = ["\\ifdefined\\DeclareUnicodeCharacter % pdfTeX has no letters for these\n", *declared, "\\fi\n"]
    return f"{PREAMBLE}{''.join(declared)}\\begin{{document}}\n\n{body}\n\\end{{document}}\n"
