"""The arithmetic of single entries, as a page of its own."""

from __future__ import annotations

from attncalc.render import View, cells
from attncalc.trace import Trace


def test_indices_say_once_whence_they_count(dot: Trace) -> None:
    page = cells.page(dot, View(cells=("products[1]", "products[0]", "dot")))
    assert page.count("(indices from 0)") == 1
    assert "products[1] = 0.2×0.3 = 0.06\nproducts[0] = 0.8×0.7 = 0.56\n" in page


def test_a_single_number_has_none(dot: Trace) -> None:
    assert "indices" not in cells.page(dot, View(cells=("dot",)))
