"""Every printed formula, read by somebody who knows nothing of the package, comes to the value beside it."""

from __future__ import annotations

import pytest
from language.ops.examples import Example
from rows import rows
from solved import Tried

from attncalc.language.graph import Node, step
from attncalc.language.primitive import formula, sizes
from readback.graphs import CALCULATED, ROWS, SMOOTH, Printed, of_calculation, of_gradient, of_row
from readback.pages import Line

UNREADABLE = {
    "random_normal": "two draws are both written N(0, 1), and which numbers come of it is not printed",
    "alibi: heads=6": "up to where h runs in each half is told by the reason",
}
"""What nobody can work out from its formula, and why."""


def faults(printed: Printed) -> list[str]:
    """What is wrong with the formulas, their LaTeX and their lines of sizes."""
    found = []
    for node, group in printed.nodes:
        if printed.known[node].dtype.kind == "U":
            continue  # a verdict, which its formula leads to
        named = shown(node, group)
        line = Line(node, printed.known, group)
        text, latex = formula(named), formula(named, "latex")
        found += [f"{text}: {fault}" for fault in [line.read_text(text)] if fault]
        found += [f"{latex}: {fault}" for fault in [line.read_latex(latex)] if fault]
        found += [f"{sizes(named)}: {fault}" for fault in [line.read_sizes(text, sizes(named))] if fault]
    return found


def shown(node: Node, group: str) -> Node:
    """The step that prints a node, in its group."""
    named = step("result", node)
    named.args["group"] = group
    return named


@pytest.mark.thorough
@rows(("op", "example"), ROWS, ids=[f"{op}: {example}" for op, example in ROWS])
def test_a_row_is_what_it_says(op: str, example: Example) -> None:
    assert bool(faults(of_row(op, example))) == (op in UNREADABLE)


TOO_LONG = ("eigenvectors",)
"""How unit vectors turn is cut short with "…", and two of its axes are the vectors' own."""


@pytest.mark.thorough
@rows(("op", "example"), SMOOTH, ids=[f"{op}: {example}" for op, example in SMOOTH])
def test_its_gradient_is_what_it_says(op: str, example: Example) -> None:
    assert bool(faults(of_gradient(op, example))) == (op in TOO_LONG)


@pytest.mark.spread
@pytest.mark.parametrize("tried", CALCULATED, ids=str)
def test_a_calculation_is_what_it_says(tried: Tried) -> None:
    printed = of_calculation(tried)
    if printed is None:
        pytest.skip("it has no gradient")
    drawn = any(node.op == "random_normal" for node in printed.known)
    assert bool(faults(printed)) == (drawn or str(tried).startswith(tuple(UNREADABLE))), faults(printed)


MOST_TERMS = 6
"""A gradient that comes on more ways keeps the brackets of those that are sums: six terms are shown at most."""


@pytest.mark.spread
@pytest.mark.parametrize("tried", [tried for tried in CALCULATED if tried.backward], ids=str)
def test_a_gradient_that_comes_on_several_ways_is_one_sum(tried: Tried) -> None:
    printed = of_calculation(tried)
    if printed is None:
        pytest.skip("it has no gradient")
    own = [node for node, _ in printed.nodes if node.op == "add" and len(_terms(node)) <= MOST_TERMS]
    ways = [node for node in own if any("∂L/∂" in formula(shown(term, "")) for term in node.sources)]
    faulty = [node for node in ways if any(_plain(term).op in SIGNS for term in node.sources[1:])]
    assert [formula(shown(node, "")) for node in faulty] == []


SIGNS = ("add", "sub", "neg")


def _plain(node: Node) -> Node:
    while node.row.stays:
        node = node.sources[0]
    return node


def _terms(node: Node) -> list[Node]:
    node = _plain(node)
    return [term for source in node.sources for term in _terms(source)] if node.op in SIGNS else [node]
