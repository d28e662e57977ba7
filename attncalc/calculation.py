"""A calculation's declaration: its operands, its options and the function that writes its graph.

`@calculation(q="n d_k", …)` reads everything else from the function: the n-th keyword names the n-th parameter
that is a Node, whose spelling (`Q`, `W_Q`) is the symbol in formulas; the other parameters are options, typed
and explained by their annotations. Parameters behind the `*` are given by name only. All this is read when it is first
asked for, so that a module of many calculations costs no more than the one that is called.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from attncalc.graph import Node
from attncalc.text import flag
from attncalc.trace import NOTHING, Trace

if TYPE_CHECKING:
    from attncalc.laws import Law
    from attncalc.pictures import Pictures

Kind = Literal["real", "logits", "mask", "integers", "tokens", "data", "expression", "model"]
"""What entries an operand may have: finite numbers; also −∞; also true/false; whole numbers; ids or words.

`data` are finite numbers that a loss is measured by, targets and class weights: nobody asks for their gradient. An
`expression` is no array but a formula, `x**2 + sin(y)`: its value is one text, and its parameter an Expression. A
`model` is no array either: it is a file that holds other operands, and options, by their names.
"""

Shape = tuple["str | tuple[str, ...]", ...]
"""Axis names; a tuple among them is a composite axis: `"d_model (h d_k)"` is ("d_model", ("h", "d_k"))."""

Weights = Mapping[str, Node | None]
"""A parameter that holds many operands by their names, as a layer's weights; a tuple of them is a stack of layers."""

Remarks = Callable[[Trace], Iterable[str]]
Slopes = Callable[[Node, Mapping[str, Any]], "Node | None"]
"""(the result, the options) → its Jacobian as a formula of its own, None where the chain rule must do."""
Check = Callable[[Mapping[str, Any]], "Mapping[str, Any] | None"]
"""(operands and options by name) → DomainError, or the options that the values settle otherwise, if there are any."""


class Operand(NamedTuple):
    """An array that a calculation takes."""

    name: str  # the word on the command line, the JSON key, the library's parameter: "wq"
    symbol: str  # how formulas speak of it: "W_Q"
    shapes: tuple[Shape, ...]  # the declared axes; several when a vector or a matrix will do
    required: bool = False
    positional: bool = False
    kind: Kind = "real"
    broadcasts: bool = False  # read from the right: a mask [m] or [n, m] serves every head; axes of size 1 are any size
    help: str = ""
    words: tuple[str, ...] = ()  # what may be said in its place: `--bias alibi`; an option of its name holds the word
    of: str = ""  # the axis that tokens point into, whose labels are their words

    def means(self, value: Any) -> bool:
        """Whether a value is one of the words that may stand for the array."""
        return isinstance(value, str) and value in self.words


UPSTREAM = Operand("upstream", "upstream", ((),), help="the gradient of the loss with respect to the result")
"""What every backward pass takes beside the calculation's own operands: of the result's shape, whatever that is."""
WEIGHTS = "weights"
"""The word for operands that come together by their names, as weights are usually stored."""


class Range(NamedTuple):
    """The numbers that an option may be: `Annotated[float, "how warm it is", Range(above=0)]`."""

    at_least: float | None = None
    at_most: float | None = None
    above: float | None = None
    below: float | None = None

    def holds(self, number: Any) -> bool:
        """Whether the number lies within."""
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


class Option(NamedTuple):
    """A scalar or a switch."""

    name: str  # the library's parameter: "causal_align"; a dash on the command line
    types: tuple[type, ...]  # bool, int, float, str in the order in which a word is tried; dict for x=3,y=1
    choices: tuple[str, ...]  # the words that it may be, if it may be a word at all
    many: bool  # a list of them: `--n 2,8,32`
    default: Any
    help: str
    range: Range = Range()

    @property
    def flag(self) -> str:
        """How it is spelled on the command line."""
        return flag(self.name)


class Declared(NamedTuple):
    """What the decorator says of an operand; the last three of one in a family, which is no parameter by itself."""

    text: str
    kind: Kind = "real"
    broadcasts: bool = False
    of: str = ""
    symbol: str = ""
    help: str = ""
    required: bool = False


Shapes = Mapping[str, str | Declared | Mapping[str, Declared]]


class Declaration(NamedTuple):
    """What a calculation takes."""

    operands: tuple[Operand, ...]
    options: tuple[Option, ...]
    bundles: Mapping[str, tuple[Any, str]] = NOTHING  # parameter → its class, and what its options' names begin with
    families: Mapping[str, tuple[str, ...]] = NOTHING  # parameter → the operands that it holds
    layers: Mapping[str, tuple[Operand, ...]] = NOTHING  # parameter → those of each of its layers


class Calculation:
    """One definition, from which the command, the function, the steps and the backward pass come."""

    def __init__(
        self,
        function: Callable[..., Node | tuple[Node, ...]],
        shapes: Shapes,
        *,
        reference: str,
        sizes: Mapping[str, str],
        leading: tuple[str, ...],
        check: Check | None,
        remarks: Remarks | None,
        slopes: Slopes | None,
        laws: Mapping[str, Law],
        infinite: bool,
        finish: Callable[[Trace], Trace] | None,
        pictures: Pictures | None,
    ) -> None:
        self.name = function.__name__.rstrip("_").replace("_", "-")
        self.function = function
        self.shapes = shapes
        self.reference = reference
        self.sizes = sizes  # axis name → the option that gives its size
        self.leading = leading  # names of leading axes, the innermost first
        self.check = check  # raises DomainError for operands without an answer
        self.remarks = remarks  # warnings that depend on the values: a fully masked query
        self.slopes = slopes  # the Jacobian's closed form, where there is one that a reader should see
        self.laws = laws  # what always holds of it: the words → a test
        self.infinite = infinite  # whether the result may be infinite (a divergence may)
        self.finish = finish  # what is left out once the values are known
        self.pictures = pictures  # what is drawn of it in place of its result

    def __repr__(self) -> str:
        return f"<calculation {self.name}>"

    @cached_property
    def doc(self) -> str:
        """What it is, at length."""
        return inspect.cleandoc(self.function.__doc__ or "")

    @property
    def summary(self) -> str:
        """What it is, in one line."""
        return self.doc.partition("\n")[0]

    @cached_property
    def declaration(self) -> Declaration:
        """What it takes, read off its function."""
        from attncalc.declarations import declaration

        return declaration(self.function, self.shapes)

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The arrays that it takes."""
        return self.declaration.operands

    @property
    def options(self) -> tuple[Option, ...]:
        """Its scalars and switches."""
        return self.declaration.options

    def graph(self, *nodes: Node | str | None, **given: Any) -> Any:
        """The calculation on nodes, as a part of a larger graph; options that make up one parameter are bundled."""
        for parameter, (kind, prefix) in self.declaration.bundles.items():
            parts = {name: given.pop(prefix + name) for name in kind._fields if prefix + name in given}
            given.setdefault(parameter, kind(**parts))
        return self.function(*nodes, **given)

    def __call__(self, *operands: Any, **given: Any) -> Trace:
        """The calculation on arrays: `attention(q, k, v, causal=True)`."""
        from attncalc.library import solve_call

        return solve_call(self, operands, given)

    @property
    def has_weights(self) -> bool:
        """Whether several operands are weights, so that they may come together."""
        return not self.operand(WEIGHTS) and sum(o.name.startswith("w") for o in self.operands) > 1

    def operand(self, name: str) -> Operand | None:
        """The operand called `name`, if there is one; `encoder 2/wq` is one of the second layer of a stack."""
        stack, number, inner = layer_of(name)
        among = self.declaration.layers.get(stack, ()) if number else self.operands
        found = next((o for o in among if o.name == inner), None)
        return found and found._replace(name=name)

    def operands_in(self, names: Iterable[str]) -> tuple[Operand, ...]:
        """The operands, and those of the layers that are named."""
        layered = (self.operand(name) for name in names if layer_of(name)[1])
        return (*self.operands, *(operand for operand in layered if operand is not None))

    def option(self, name: str) -> Option | None:
        """The option called `name`, if there is one; an operand for which a word may stand is one too."""
        spoken = (Option(o.name, (), o.words, False, None, o.help) for o in self.operands if o.words)
        return next((o for o in (*self.options, *spoken) if o.name == name), None)

    def opposite(self, name: str) -> Option | None:
        """The switch `no_NAME`, which can be said the other way round too: causal=False is no_causal=True."""
        return next((o for o in self.options if o.name == f"no_{name}" and bool in o.types), None)

    @property
    def defaults(self) -> dict[str, Any]:
        """Every option with its default."""
        return {o.name: o.default for o in self.options}


def operand(axes: str, *, kind: Kind = "real", broadcasts: bool = False, of: str = "") -> Declared:
    """An operand that is more than an array of finite numbers: `mask=operand("n m", kind="mask", broadcasts=True)`."""
    return Declared(axes, kind, broadcasts, of)


def weight(axes: str, symbol: str, help: str, *, required: bool = False) -> Declared:
    """An operand of a family: `{"wq": weight("d_model d_k", "W_Q", "the query projection", required=True)}`."""
    return Declared(axes, symbol=symbol, help=help, required=required)


def layer_of(name: str) -> tuple[str, int, str]:
    """`"encoder 2/wq"` → ("encoder", 2, "wq"); the number is 0 where a name is that of no layer's operand."""
    found = re.fullmatch(r"(\w+) (\d{1,4})/(\w+)", name) if "/" in name else None
    return (found[1], int(found[2]), found[3]) if found else ("", 0, name)


def parse_shape(text: str) -> Shape:
    """`"d_model (h d_k)"` → ("d_model", ("h", "d_k"))."""
    words = re.findall(r"\([^)]*\)|\S+", text) if "(" in text else text.split()
    return tuple(tuple(word[1:-1].split()) if word.startswith("(") else word for word in words)


def calculation(
    *,
    reference: str = "",
    sizes: Mapping[str, str] = NOTHING,
    leading: tuple[str, ...] = ("b",),
    check: Check | None = None,
    remarks: Remarks | None = None,
    slopes: Slopes | None = None,
    laws: Mapping[str, Law] = NOTHING,
    infinite: bool = False,
    finish: Callable[[Trace], Trace] | None = None,
    pictures: Pictures | None = None,
    **shapes: str | Declared | Mapping[str, Declared],
) -> Callable[[Callable[..., Any]], Calculation]:
    """Declare a calculation; the keywords name its operands in the order of the function's parameters for them.

    A shape is axis names apart by blanks (`""` a scalar), `|` between alternatives, brackets around a composite axis.
    A parameter whose type is a named tuple stands for several options, one for each of its fields; the text beside it
    (`Annotated[Rotation, "rope_"]`) is what their names begin with. A parameter of Weights holds the operands that its
    keyword names one by one, and one of tuple[Weights, ...] so many of them for each layer.
    """
    return lambda function: Calculation(
        function,
        shapes,
        reference=reference,
        sizes=sizes,
        leading=leading,
        check=check,
        remarks=remarks,
        slopes=slopes,
        laws=laws,
        infinite=infinite,
        finish=finish,
        pictures=pictures,
    )
