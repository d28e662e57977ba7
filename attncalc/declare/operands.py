"""Declarations of what a calculation takes: its operands with their axes, and its options."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

from attncalc.common.errors import flag
from attncalc.common.numerals import is_infinite
from attncalc.common.system import NamedTuple
from attncalc.language.graph import Node
from attncalc.record.trace import NOTHING, Trace

Kind = Literal["real", "logits", "mask", "integers", "tokens", "data", "expression", "model", "checkpoint"]
"""Which entries an operand may have: finite numbers; also −∞; also true/false; whole numbers; ids or words.

`data` are finite numbers such as targets and class weights, for which nobody wants a gradient. An `expression` is no
array but a formula, `x**2 + sin(y)`: its value is a text, and its parameter an Expression. A `model` is no array
either, but a file that holds other operands, and options, by name. A `checkpoint` is a model's folder in the usual
format; its path is kept.
"""

Shape = tuple["str | tuple[str, ...]", ...]
"""Axis names; a tuple among them is a composite axis: `"d_model (h d_k)"` is ("d_model", ("h", "d_k"))."""

Weights = Mapping[str, Node | None]
"""A parameter that holds many operands by their names, as a layer's weights; a tuple of them is a stack of layers."""


class Operand(NamedTuple):
    """An array that a calculation takes."""

    name: str  # the word on the command line, the JSON key, the library's parameter: "wq"
    symbol: str  # its name in formulas: "W_Q"
    shapes: tuple[Shape, ...]  # the declared axes; several if, for example, a vector or a matrix will do
    required: bool = False
    positional: bool = False
    kind: Kind = "real"
    broadcasts: bool = False  # read from the right: a mask [m] or [n, m] serves every head; axes of size 1 are any size
    help: str = ""
    words: tuple[str, ...] = ()  # words that may stand for it: `--bias alibi`; an option of its name holds the word
    of: str = ""  # the axis that tokens point into, whose labels are their words
    named: bool = False  # other operands may be its rows, by their labels: `analogy king man woman`
    replaces: str = ""  # the operand that it replaces under an option: "tokens if kind=vision"
    when: tuple[tuple[str, str], ...] = ()  # for each shape the option and the word that ask for it; ("", "") if none

    def under(self, options: Mapping[str, Any]) -> Operand:
        """The operand with the shapes that it may have under these options."""
        asked = [s for s, (name, word) in zip(self.shapes, self.when, strict=False) if name and options[name] == word]
        free = [s for s, (name, _) in zip(self.shapes, self.when, strict=False) if not name]
        return self._replace(shapes=tuple(asked or free)) if self.when else self

    def means(self, value: Any) -> bool:
        """Whether a value is one of the words that may stand for the operand."""
        return isinstance(value, str) and value in self.words


UPSTREAM = Operand("upstream", "upstream", ((),), help="the gradient of the loss with respect to the result")
"""The operand that every backward pass takes besides the calculation's own; it has the result's shape."""
WEIGHTS = "weights"
"""The word for a file that holds several operands by name, as weights are usually stored."""


class Range(NamedTuple):
    """The numbers that an option may be: `Annotated[float, "how warm it is", Range(above=0)]`."""

    at_least: float | None = None
    at_most: float | None = None
    above: float | None = None
    below: float | None = None
    instead: str = ""  # the hint for a number out of range
    optional: bool = False  # whether leaving the option out means "none", which 0 may have been meant to say

    def holds(self, number: Any) -> bool:
        """Whether the number is within the range."""
        return (
            (self.at_least is None or number >= self.at_least)
            and (self.at_most is None or number <= self.at_most)
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
        )

    def __str__(self) -> str:
        """`at least 1`, `greater than 0`, `from 0 to 1`, `from 0 up to, not including, 1`; "" for any number."""
        if self.at_least is not None and self.at_most is not None:
            return f"from {self.at_least:g} to {self.at_most:g}"
        if self.at_least is not None and self.below is not None:
            return f"from {self.at_least:g} up to, not including, {self.below:g}"
        named = (("at least", self.at_least), ("at most", self.at_most), ("greater than", self.above))
        return " and ".join(f"{words} {limit:g}" for words, limit in named if limit is not None)


AT_LEAST_1, ABOVE_0, FROM_0_ON = Range(at_least=1), Range(above=0), Range(at_least=0)
IF_ANY, CAP = AT_LEAST_1._replace(optional=True), ABOVE_0._replace(optional=True)


class With(NamedTuple):
    """An option has no effect without one of these: `Annotated[bool, "…", With(("causal", "bias=t5"))]`.

    They are other options, choices of options, or operands. Nothing is reported if the first is not declared.
    """

    names: tuple[str, ...]


class Option(NamedTuple):
    """A scalar or a switch."""

    name: str  # the library's parameter: "causal_align"; a dash on the command line
    types: tuple[type, ...]  # bool, int, float, str, in the order in which they are tried; dict for x=3,y=1
    choices: tuple[str, ...]  # the words that it may be, if any
    many: bool  # whether it is a list: `--n 2,8,32`
    default: Any
    help: str
    range: Range = Range()
    beside: tuple[str, ...] = ()  # it has no effect without any of these

    @property
    def flag(self) -> str:
        """Its spelling on the command line."""
        return flag(self.name)

    def word(self, text: str) -> str | None:
        """The choice that a text is, with infinity in any spelling; None if it is no choice."""
        if text not in self.choices and "inf" in self.choices and is_infinite(text):
            return "inf"
        return text if text in self.choices else None


def options_of(trace: Trace) -> Mapping[str, Any]:
    """A trace's options as Any, for the calculation that declared them and knows their types."""
    return trace.options


class Declared(NamedTuple):
    """What the decorator says about an operand; the last three fields are for operands that are no parameters."""

    text: str
    kind: Kind = "real"
    broadcasts: bool = False
    of: str = ""
    named: bool = False
    replaces: str = ""
    symbol: str = ""
    help: str = ""
    required: bool = False

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The declared axes; several if options choose among them, or if a vector will do for a matrix."""
        return tuple(parse_shape(part) for part in self.text.split("|"))

    @property
    def when(self) -> tuple[tuple[str, str], ...]:
        """For each shape the option and the word that ask for it; empty if no shape names an option."""
        return tuple(map(parse_condition, self.text.split("|"))) if ":" in self.text else ()


Shapes = Mapping[str, str | Declared | Mapping[str, Declared]]


class Declaration(NamedTuple):
    """What a calculation takes."""

    operands: tuple[Operand, ...]
    options: tuple[Option, ...]
    bundles: Mapping[str, tuple[Any, str]] = NOTHING  # parameter → its class, and the prefix of its options' names
    families: Mapping[str, tuple[str, ...]] = NOTHING  # parameter → the operands that it holds
    layers: Mapping[str, tuple[Operand, ...]] = NOTHING  # parameter → the operands of each of its layers


operand = Declared
"""An operand that is more than an array of finite numbers: `mask=operand("n m", kind="mask", broadcasts=True)`."""


def weight(axes: str, symbol: str, help: str, *, required: bool = False) -> Declared:
    """An operand of a family: `{"wq": weight("d_model d_k", "W_Q", "the query projection", required=True)}`."""
    return Declared(axes, symbol=symbol, help=help, required=required)


@lru_cache(maxsize=4096)  # a model's names are asked for again and again
def layer_of(name: str) -> tuple[str, int | None, str]:
    """`"encoder 2/wq"` → ("encoder", 2, "wq"), `"final norm/gamma"` → ("final_norm", None, "gamma").

    The first is "" if the name is not one of a layer's operand. A stack may lie in an encoder or a decoder:
    `"encoder/layer 2/attention/wq"` → ("encoder_layer", 2, "attention/wq").
    """
    if "/" not in name:
        return "", None, name
    found = re.fullmatch(r"((?:(?:en|de)coder/)?[a-z_ ]+?)(?: (\d{1,4}))?/([\w/-]+)", name)
    if not found:
        return "", None, name
    return re.sub("[ /]", "_", found[1]), int(found[2]) if found[2] else None, found[3]


def parse_condition(text: str) -> tuple[str, str]:
    """`"kind=muon: r c"` → ("kind", "muon"), the option under which an operand has these axes; ("", "") if none."""
    name, _, word = text.rpartition(":")[0].strip().partition("=")
    return name, word


def parse_shape(text: str) -> Shape:
    """`"d_model (h d_k)"` → ("d_model", ("h", "d_k"))."""
    text = text.rpartition(":")[2]
    words = re.findall(r"\([^)]*\)|\S+", text) if "(" in text else text.split()
    return tuple(tuple(word[1:-1].split()) if word.startswith("(") else word for word in words)


class Exercise(NamedTuple):
    """What a quiz changes in a calculation's sample, if new numbers alone would make a poor exercise."""

    refused: str = ""  # why there is no exercise; `instead` says what to use in its place
    instead: str = ""
    sizes: Mapping[str, int] = NOTHING  # axis → its size, if the sample's is long or too short to tell mistakes apart
    one_of: tuple[Mapping[str, Any], ...] = ()  # sets of options, one of which is taken
    at_hard: Mapping[str, Any] = NOTHING  # options of a hard exercise
    formulas: Mapping[str, tuple[str, ...]] = NOTHING  # level → formulas in place of the sample's
    truths: tuple[str, ...] = ()  # operands whose entries are 0 or 1


AS_ITS_SAMPLE = Exercise()
