"""Tokens → graph, by recursive descent; what holds no variable is worked out on the way, and must have a value."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn

from attncalc.common.text import near
from attncalc.language.expression.functions import CONSTANTS, FUNCTIONS, RESERVED
from attncalc.language.expression.lexer import Token, fault, tokens
from attncalc.language.graph import Node, constant, given
from attncalc.language.ops import exp

DEEPEST = 40
"""So many brackets, signs and powers may stand inside one another."""
LARGEST_POWER = 1000
WHOLE_DIGITS = 15  # whole numbers of more digits are floats
_WHAT = {
    "+": "this sum",
    "-": "this difference",
    "*": "this product",
    "/": "this quotient",
    "**": "this power",
    "^": "this power",
}


class Part(NamedTuple):
    """A part of the formula; one without variables has a value."""

    node: Node
    value: float | None


class Parser:
    """Reads one text, once; `variables` are then its letters."""

    def __init__(self, text: str) -> None:
        self.text, self.tokens = text, tokens(text)
        self.at = 0
        self.depth = 0
        self.variables: dict[str, Node] = {}

    def whole(self) -> Node:
        """The graph of the whole text."""
        if self.next.kind == "end":
            self.refuse(self.next, "the expression is empty", "write something like x**2 + sin(y)")
        part = self.sum()
        if self.next.text == ")":
            self.refuse(self.next, "there is no ( for this )")
        if self.next.text == ",":
            self.refuse(self.next, "a comma parts the arguments of a function", "write a decimal point: 1.5")
        return part.node

    @property
    def next(self) -> Token:
        """The token that is to be read."""
        return self.tokens[self.at]

    def take(self, *signs: str) -> Token | None:
        """The next token if it is one of these signs."""
        token = self.next
        if token.kind != "sign" or token.text not in signs:
            return None
        self.at += 1
        return token

    def refuse(self, token: Token, message: str, hint: str = "") -> NoReturn:
        """Raise the error for what is wrong at a token."""
        fault(self.text, token.place, message, hint)

    def sum(self) -> Part:
        """Products added and taken away; a sign in front is of the whole first product."""
        sign = self.take("-", "+")
        part = self.product()
        if sign and sign.text == "-":
            part = self.worked(sign, Node.__neg__, float.__neg__, part)
        while sign := self.take("+", "-"):
            other = self.product()
            if sign.text == "+":
                part = self.worked(sign, Node.__add__, float.__add__, part, other)
            else:
                part = self.worked(sign, Node.__sub__, float.__sub__, part, other)
        return part

    def product(self) -> Part:
        """Factors multiplied and divided, from left to right."""
        part = self.signed()
        while sign := self.take("*", "/"):
            other = self.signed()
            if sign.text == "*":
                part = self.worked(sign, Node.__mul__, float.__mul__, part, other)
            else:
                part = self.worked(sign, Node.__truediv__, float.__truediv__, part, other)
        return part

    def signed(self) -> Part:
        """A power, with signs in front."""
        self.depth += 1
        if self.depth > DEEPEST:
            self.refuse(self.next, f"brackets, signs and powers stand more than {DEEPEST} deep in one another")
        sign = self.take("-", "+")
        part = self.signed() if sign else self.power()
        if sign and sign.text == "-":
            part = self.worked(sign, Node.__neg__, float.__neg__, part)
        self.depth -= 1
        return part

    def power(self) -> Part:
        """An atom, raised to what follows it."""
        base = self.atom()
        sign = self.take("**", "^")
        if sign is None:
            self.must_end()
            return base
        exponent = self.signed()
        if base.node.op == "constant" and base.node.args["symbol"] == "e":
            return self.worked(sign, exp, math.exp, exponent)
        if exponent.value is not None and abs(exponent.value) > LARGEST_POWER:
            self.refuse(sign, f"the exponent is {exponent.value:g}, and powers end at {LARGEST_POWER}")
        return self.worked(sign, Node.__pow__, math.pow, base, exponent)

    def atom(self) -> Part:
        """A number, a letter, a function with its arguments, or what stands in brackets."""
        token = self.next
        self.at += 1
        if token.kind == "number":
            value = float(token.text)
            return Part(constant(int(token.text) if self.is_whole(token.text) else value), value)
        if token.kind == "name":
            return self.named(token)
        if token.text == "(":
            return self.inside(token)[0]
        before = self.tokens[self.at - 2].text if self.at > 1 else ""
        where = f"behind {before}" if token.kind == "end" else f"before {token.text}"
        hint = "write ** for a power" if token.text == before == "*" else ""
        return self.refuse(token, f"a number or a name is missing {where}", hint)

    def is_whole(self, digits: str) -> bool:
        """Whether the text of a number is that of a whole one that is exact as a float."""
        return digits.isdigit() and len(digits) <= WHOLE_DIGITS

    def named(self, token: Token) -> Part:
        """What a name means: a function, a constant, or a letter."""
        name, bracket = token.text, self.next.text == "("
        if name in FUNCTIONS:
            if not bracket:
                self.refuse(token, f"{name} is a function, but its brackets are missing", f"write {name}(x)")
            self.at += 1
            return self.called(token)
        if name in CONSTANTS:
            node = CONSTANTS[name]()
            return Part(node, node.args["value"])
        if name in RESERVED:
            self.refuse(token, f"{name} is no name for a variable", f"call it {name}_")
        if bracket:
            known = near(name, FUNCTIONS)
            self.refuse(token, f"there is no function {name}", known or f"if a product is meant: {name}*(…)")
        if name not in self.variables:
            self.variables[name] = given(name, ())
        return Part(self.variables[name], None)

    def called(self, token: Token) -> Part:
        """A function with its arguments; its opening bracket has been read."""
        function = FUNCTIONS[token.text]
        arguments = self.inside(self.tokens[self.at - 1], token)
        if function.several != (len(arguments) > 1):
            takes = "two arguments or more" if function.several else "one argument"
            self.refuse(token, f"{token.text} takes {takes}, but {len(arguments)} {_were(arguments)} given")
        return self.worked(token, function.graph, function.value, *arguments)

    def inside(self, bracket: Token, function: Token | None = None) -> list[Part]:
        """What stands in brackets: one part, or the arguments of a function."""
        if self.next.text == ")":
            self.refuse(self.next, "there is nothing in these brackets")
        parts = [self.sum()]
        while function and self.take(","):
            parts.append(self.sum())
        if not self.take(")"):
            if self.next.text == ",":
                self.refuse(self.next, "a comma parts the arguments of a function", "write a decimal point: 1.5")
            self.refuse(bracket, "this bracket is not closed", "add )")
        return parts

    def must_end(self) -> None:
        """Refuse a factor that follows another one with no sign between them."""
        token, before = self.next, self.tokens[self.at - 1]
        if token.kind in ("number", "name") or token.text == "(":
            left, right = ("(…)" if part.kind == "sign" else part.text for part in (before, token))
            numbers = before.kind == token.kind == "number"
            self.refuse(token, "a sign is missing here", "" if numbers else f"write {left}*{right} for the product")

    def worked(self, token: Token, graph: Callable[..., Node], value: Callable[..., float], *parts: Part) -> Part:
        """An operation on parts; without variables it must have a value that a float can hold."""
        node = graph(*(part.node for part in parts))
        known = [part.value for part in parts if part.value is not None]
        if len(known) < len(parts):
            return Part(node, None)
        result = math.inf
        try:
            result = value(*known)
        except OverflowError:
            pass
        except (ValueError, ZeroDivisionError):
            result = math.nan
        if not math.isfinite(result):
            what = _WHAT.get(token.text, f"{token.text}(…)")
            fact = "has no value here" if math.isnan(result) else "is too large: 64-bit numbers end at 1.8e308"
            self.refuse(token, f"{what} {fact}")
        return Part(node, result)


def _were(arguments: Sequence[Part]) -> str:
    return "was" if len(arguments) == 1 else "were"
