"""`x**2 + sin(y)` typed by a user → graph, through a grammar of its own: nothing is ever eval'ed.

    sum     = ["-" | "+"] product {("+" | "-") product}
    product = signed {("*" | "/") signed}
    signed  = ("-" | "+") signed | power
    power   = atom [("**" | "^") signed]
    atom    = number | name | function "(" sum {"," sum} ")" | "(" sum ")"

So −x² is −(x²), and a^b^c is a^(b^c). Length, depth, numbers and powers are limited, and what holds no variable is
worked out in float64 as it is read, so that no text takes long and no number in it is beyond what can be computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from attncalc.language.graph import Node, rewrite


class Expression(NamedTuple):
    """A formula in letters: its text as it was typed, its graph, and the letters in the order in which they come."""

    text: str
    node: Node
    variables: Mapping[str, Node]

    def at(self, values: Mapping[str, Node]) -> Node:
        """The formula with other nodes in place of its letters."""
        places = {node: values[name] for name, node in self.variables.items() if name in values}
        return rewrite([self.node], places.get)[0]


def parse(text: str) -> Expression:
    """The expression that a text is; what is wrong with one that is none is told with its character, from 1."""
    from attncalc.language.expression.parser import Parser  # a door: many import this file, and few read a text

    parser = Parser(text)
    node = parser.whole()
    return Expression(text.strip(), node, parser.variables)
