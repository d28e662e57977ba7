"""`x**2 + sin(y)` typed by a user → graph, through a grammar of its own: nothing is ever eval'ed.

    sum     = ["-" | "+"] product {("+" | "-") product}
    product = signed {("*" | "/") signed}
    signed  = ("-" | "+") signed | power
    power   = atom [("**" | "^") signed]
    atom    = number | name | function "(" sum {"," sum} ")" | "(" sum ")"

So −x² is −(x²), and a^b^c is a^(b^c). Length, depth, numbers and powers are limited, and parts without variables are
computed in float64 while they are read, so that no text takes long and no number in it overflows.
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Callable, Sequence
from typing import Literal, NoReturn

from attncalc.common.errors import ExpressionError, near, quoted, visible
from attncalc.common.system import NamedTuple
from attncalc.language.graph import Expression, Node, as_node, constant, given
from attncalc.language.ops import (
    absolute,
    arccos,
    cos,
    erf,
    exp,
    log,
    logarithm,
    maximum,
    minimum,
    one_plus_erf,
    pi,
    sigmoid,
    sign,
    sin,
    softplus,
    sqrt,
    tan,
    tanh,
)


class Function(NamedTuple):
    """A function: how to make its graph, its value for plain numbers, and whether it takes several arguments."""

    graph: Callable[..., Node]
    value: Callable[..., float]
    several: bool = False


def _pairwise(choose: Callable[[Node, Node], Node]) -> Callable[..., Node]:
    def graph(first: Node, *others: Node) -> Node:
        for other in others:
            first = choose(first, other)
        return first

    return graph


def _sigmoid(x: float) -> float:
    return (1 + math.tanh(x / 2)) / 2


FUNCTIONS: dict[str, Function] = {
    "exp": Function(exp, math.exp),
    "log": Function(log, math.log),
    "ln": Function(log, math.log),
    "log2": Function(lambda x: logarithm(x, 2), math.log2),
    "log10": Function(lambda x: logarithm(x, 10), math.log10),
    "sqrt": Function(sqrt, math.sqrt),
    "abs": Function(absolute, math.fabs),
    "sign": Function(sign, lambda x: float((x > 0) - (x < 0))),
    "sin": Function(sin, math.sin),
    "cos": Function(cos, math.cos),
    "tan": Function(tan, math.tan),
    "arccos": Function(arccos, math.acos),
    "acos": Function(arccos, math.acos),
    "tanh": Function(tanh, math.tanh),
    "erf": Function(erf, math.erf),
    "sigmoid": Function(sigmoid, _sigmoid),
    "relu": Function(lambda x: maximum(as_node(0), x), lambda x: max(0.0, x)),
    "softplus": Function(softplus, lambda x: max(x, 0.0) + math.log1p(math.exp(-abs(x)))),
    "silu": Function(lambda x: x * sigmoid(x), lambda x: x * _sigmoid(x)),
    "gelu": Function(lambda x: x / 2 * one_plus_erf(x / sqrt(as_node(2))), lambda x: x / 2 * math.erfc(-x / 2**0.5)),
    "max": Function(_pairwise(maximum), max, several=True),
    "min": Function(_pairwise(minimum), min, several=True),
}

CONSTANTS: dict[str, Callable[[], Node]] = {
    "pi": pi,
    "e": lambda: constant(math.e, "e"),
}

RESERVED = frozenset(keyword.kwlist) | {"I", "inf", "infinity", "nan", "oo", "zoo"}
"""Names with a meaning in Python or SymPy, which must not be variables."""


LONGEST = 1000  # characters
MOST = 300  # tokens
MOST_DIGITS = 40
LONGEST_NAME = 32
SHOWN = 60  # characters of a long text that an error quotes

_TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z][A-Za-z0-9_]*)|(?P<sign>\*\*|[-+*/^(),])",
    re.ASCII,
)
_MENDS = (
    ("−–—‐‑‒", "the minus sign is another character: write an ASCII -"),
    ("×·⋅∙", "write * for a product"),
    ("÷", "write / for a quotient"),
    ("²³¹⁰⁴⁵⁶⁷⁸⁹", "write x**2 for x²"),
    ("√", "write sqrt(x)"),
    ("π", "write pi"),
    ("[]{}", "brackets are round: ( and )"),
    ("|", "write abs(x)"),
    ("!", "there is no factorial"),
    ("=", "an expression has no =: where to look is said beside it, as in --at x=3"),
    ("<>", "there are no comparisons: max(a, b), min(a, b), relu(x) and abs(x) choose"),
    ("%", "there is no remainder, and a percentage is a decimal: 0.5 for 50%"),
    ("_", "a name begins with a letter, and a number has no underscores"),
    (".", "a point stands in numbers alone: 0.5"),
    ("'\"`", "leave the quotes out"),
    ("\n\r", "an expression is one line"),
    (";", "one expression at a time; arguments are apart by commas"),
)


class Token(NamedTuple):
    """A piece of the text, and where it begins (from 1)."""

    kind: Literal["number", "name", "sign", "end"]
    text: str
    place: int


def fault(text: str, place: int, message: str, hint: str = "") -> NoReturn:
    """Raise the error for what is wrong at a character of the text, counted from 1."""
    shown = quoted(text)
    if len(text) > SHOWN:
        start = max(0, min(place - 1 - SHOWN // 2, len(text) - SHOWN))
        sides = ("…" if start else "", "…" if start + SHOWN < len(text) else "")
        shown = f'"{sides[0]}{visible(text[start : start + SHOWN])}{sides[1]}"'
    raise ExpressionError(f"{shown}, character {place}: {message}", hint=hint)


def tokens(text: str) -> list[Token]:
    """The tokens of a text, followed by an `end`."""
    if len(text) > LONGEST:
        raise ExpressionError(f"the expression has {len(text):,} characters, but the limit is {LONGEST:,}")
    found: list[Token] = []
    place = 0
    while place < len(text):
        if text[place] in " \t":
            place += 1
            continue
        match = _TOKEN.match(text, place)
        if match is None:
            _refuse(text, place)
        token = Token(match.lastgroup, match.group(), place + 1)  # type: ignore[arg-type]  # the groups are the kinds
        _check(token, text)
        found.append(token)
        place = match.end()
        if len(found) > MOST:
            fault(text, token.place, f"the expression has more than {MOST} numbers, names and signs")
    return [*found, Token("end", "", len(text) + 1)]


def _check(token: Token, text: str) -> None:
    """Refuse numbers and names that are too long."""
    if token.kind == "name" and (len(token.text) > LONGEST_NAME or "__" in token.text):
        long = f"a name has at most {LONGEST_NAME} characters"
        fault(text, token.place, "a name has no two underscores in a row" if "__" in token.text else long)
    if token.kind == "number":
        if len(re.split("[eE]", token.text)[0]) > MOST_DIGITS:
            fault(text, token.place, f"a number has at most {MOST_DIGITS} digits")
        if not math.isfinite(float(token.text)):
            fault(text, token.place, f"{visible(token.text, 20)} is too large: 64-bit numbers end at 1.8e308")


def _refuse(text: str, place: int) -> NoReturn:
    character = text[place]
    hint = next((mend for signs, mend in _MENDS if character in signs), "")
    if not hint and character.isalpha():
        hint = "names are written in the letters a to z: alpha, theta_1"
    fault(text, place + 1, f"{quoted(character)} is no part of an expression", hint)


DEEPEST = 40
"""The deepest nesting of brackets, signs and powers."""
LARGEST_POWER = 1000
WHOLE_DIGITS = 15  # whole numbers with more digits become floats
_WHAT = {
    "+": "this sum",
    "-": "this difference",
    "*": "this product",
    "/": "this quotient",
    "**": "this power",
    "^": "this power",
}


_OF_TWO: dict[str, tuple[Callable[..., Node], Callable[..., float]]] = {
    "+": (Node.__add__, float.__add__),
    "-": (Node.__sub__, float.__sub__),
    "*": (Node.__mul__, float.__mul__),
    "/": (Node.__truediv__, float.__truediv__),
}


class Part(NamedTuple):
    """A part of the formula; `value` is None if it has variables."""

    node: Node
    value: float | None


class Parser:
    """Parses one text, once; `variables` then holds its letters."""

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
        """The next token to read."""
        return self.tokens[self.at]

    def take(self, *signs: str) -> Token | None:
        """Read the next token if it is one of these signs, else return None."""
        token = self.next
        if token.kind != "sign" or token.text not in signs:
            return None
        self.at += 1
        return token

    def refuse(self, token: Token, message: str, hint: str = "") -> NoReturn:
        """Raise the error for what is wrong at a token."""
        fault(self.text, token.place, message, hint)

    def sum(self) -> Part:
        """Products added and subtracted; a leading sign applies to the whole first product."""
        sign = self.take("-", "+")
        part = self.product()
        if sign and sign.text == "-":
            part = self.worked(sign, Node.__neg__, float.__neg__, part)
        while sign := self.take("+", "-"):
            part = self.worked(sign, *_OF_TWO[sign.text], part, self.product())
        return part

    def product(self) -> Part:
        """Factors multiplied and divided, from left to right."""
        part = self.signed()
        while sign := self.take("*", "/"):
            part = self.worked(sign, *_OF_TWO[sign.text], part, self.signed())
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
        """A number, a letter, a function with its arguments, or an expression in brackets."""
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
        """Whether the text is a whole number that a float holds exactly."""
        return digits.isdigit() and len(digits) <= WHOLE_DIGITS

    def named(self, token: Token) -> Part:
        """The function call, constant or letter that a name stands for."""
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
        """A function call whose opening bracket has been read."""
        function = FUNCTIONS[token.text]
        arguments = self.inside(self.tokens[self.at - 1], token)
        if function.several != (len(arguments) > 1):
            takes = "two arguments or more" if function.several else "one argument"
            self.refuse(token, f"{token.text} takes {takes}, but {len(arguments)} {_were(arguments)} given")
        return self.worked(token, function.graph, function.value, *arguments)

    def inside(self, bracket: Token, function: Token | None = None) -> list[Part]:
        """The contents of brackets: one part, or the arguments of a function."""
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
        """An operation applied to parts; without variables its value must be a finite float."""
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


def parse(text: str) -> Expression:
    """The text as an Expression; an error names the character at which the text goes wrong, from 1."""
    parser = Parser(text)
    node = parser.whole()
    return Expression(text.strip(), node, parser.variables)
