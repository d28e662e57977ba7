"""A calculation's declaration: its operands, its options and the function that writes its graph.

`@calculation(q="n d_k", …)` reads everything else from the function: the n-th keyword names the n-th parameter
that is a Node, whose spelling (`Q`, `W_Q`) is the symbol in formulas; the other parameters are options, typed
and explained by their annotations. Parameters behind the `*` are given by name only.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from attncalc.expression import Expression
from attncalc.graph import Node
from attncalc.laws import Law
from attncalc.trace import Trace

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
Check = Callable[[Mapping[str, Any]], None]
"""(operands and options by name) → nothing, or DomainError."""


@dataclass(frozen=True, slots=True)
class Operand:
    """An array that a calculation takes."""

    name: str  # the word on the command line, the JSON key, the library's parameter: "wq"
    symbol: str  # how formulas speak of it: "W_Q"
    shapes: tuple[Shape, ...]  # the declared axes; several when a vector or a matrix will do
    required: bool
    positional: bool
    kind: Kind
    broadcasts: bool  # read from the right: a mask [m] or [n, m] serves every head, and axes of size 1 are any size
    help: str
    words: tuple[str, ...] = ()  # what may be said in its place: `--bias alibi`; an option of its name holds the word
    of: str = ""  # the axis that tokens point into, whose labels are their words

    def means(self, value: Any) -> bool:
        """Whether a value is one of the words that may stand for the array."""
        return isinstance(value, str) and value in self.words


@dataclass(frozen=True, slots=True)
class Option:
    """A scalar or a switch."""

    name: str  # the library's parameter: "causal_align"; a dash on the command line
    types: tuple[type, ...]  # bool, int, float, str in the order in which a word is tried; dict for x=3,y=1
    choices: tuple[str, ...]  # the words that it may be, if it may be a word at all
    many: bool  # a list of them: `--n 2,8,32`
    default: Any
    help: str

    @property
    def flag(self) -> str:
        """How it is spelled on the command line."""
        return "--" + self.name.replace("_", "-")


@dataclass(frozen=True)
class Calculation:
    """One definition, from which the command, the function, the steps and the backward pass come."""

    name: str  # "log-softmax"
    summary: str  # its one line
    doc: str
    operands: tuple[Operand, ...]
    options: tuple[Option, ...]
    function: Callable[..., Node | tuple[Node, ...]] = field(repr=False)
    reference: str = ""
    sizes: Mapping[str, str] = field(default_factory=dict)  # axis name → the option that gives its size
    leading: tuple[str, ...] = ("b",)  # names of leading axes, the innermost first
    check: Check | None = None  # raises DomainError for operands without an answer
    remarks: Remarks | None = None  # warnings that depend on the values: a fully masked query
    slopes: Slopes | None = None  # the Jacobian's closed form, where there is one that a reader should see
    laws: Mapping[str, Law] = field(default_factory=dict, repr=False)  # what always holds of it: the words → a test
    infinite: bool = False  # whether the result may be infinite (a divergence may)
    finish: Callable[[Trace], Trace] | None = None  # what is left out once the values are known
    bundles: Mapping[str, tuple[Any, str]] = field(default_factory=dict)  # parameter → its class, its options' prefix
    families: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # parameter → the operands that it holds
    layers: Mapping[str, tuple[Operand, ...]] = field(default_factory=dict)  # parameter → those of each of its layers

    def graph(self, *nodes: Node | str | None, **given: Any) -> Any:
        """The calculation on nodes, as a part of a larger graph; options that make up one parameter are bundled."""
        for parameter, (kind, prefix) in self.bundles.items():
            names = [f.name for f in dataclasses.fields(kind)]
            parts = {name: given.pop(prefix + name) for name in names if prefix + name in given}
            given.setdefault(parameter, kind(**parts))
        return self.function(*nodes, **given)

    def __call__(self, *operands: Any, **given: Any) -> Trace:
        """The calculation on arrays: `attention(q, k, v, causal=True)`."""
        from attncalc.problem import solve_call

        return solve_call(self, operands, given)

    def operand(self, name: str) -> Operand | None:
        """The operand called `name`, if there is one; `encoder 2/wq` is one of the second layer of a stack."""
        stack, number, inner = layer_of(name)
        if not number:
            return next((o for o in self.operands if o.name == name), None)
        found = next((o for o in self.layers.get(stack, ()) if o.name == inner), None)
        return found and found._replace(name=name)

    def operands_in(self, names: Iterable[str]) -> tuple[Operand, ...]:
        """The operands, and those of the layers that are named."""
        layered = (self.operand(name) for name in names if layer_of(name)[1])
        return (*self.operands, *(operand for operand in layered if operand is not None))

    def option(self, name: str) -> Option | None:
        """The option called `name`, if there is one; an operand for which a word may stand is one too."""
        spoken = (Option(o.name, (), o.words, False, None, o.help) for o in self.operands if o.words)
        return next((o for o in (*self.options, *spoken) if o.name == name), None)

    @property
    def defaults(self) -> dict[str, Any]:
        """Every option with its default."""
        return {o.name: o.default for o in self.options}


@dataclass(frozen=True, slots=True)
class Declared:
    """What is declared of an operand; the last three only of one in a family, which has no parameter of its own."""

    text: str
    kind: Kind = "real"
    broadcasts: bool = False
    of: str = ""
    symbol: str = ""
    help: str = ""
    required: bool = False


def operand(axes: str, *, kind: Kind = "real", broadcasts: bool = False, of: str = "") -> Declared:
    """An operand that is more than an array of finite numbers: `mask=operand("n m", kind="mask", broadcasts=True)`."""
    return Declared(axes, kind, broadcasts, of)


def weight(axes: str, symbol: str, help: str, *, required: bool = False) -> Declared:
    """An operand of a family: `{"wq": weight("d_model d_k", "W_Q", "the query projection", required=True)}`."""
    return Declared(axes, symbol=symbol, help=help, required=required)


def layer_of(name: str) -> tuple[str, int, str]:
    """`"encoder 2/wq"` → ("encoder", 2, "wq"); the number is 0 where a name is that of no layer's operand."""
    found = re.fullmatch(r"(\w+) (\d{1,4})/(\w+)", name)
    return (found[1], int(found[2]), found[3]) if found else ("", 0, name)


def parse_shape(text: str) -> Shape:
    """`"d_model (h d_k)"` → ("d_model", ("h", "d_k"))."""
    return tuple(
        tuple(word[1:-1].split()) if word.startswith("(") else word for word in re.findall(r"\([^)]*\)|\S+", text)
    )


def calculation(
    *,
    reference: str = "",
    sizes: Mapping[str, str] | None = None,
    leading: tuple[str, ...] = ("b",),
    check: Check | None = None,
    remarks: Remarks | None = None,
    slopes: Slopes | None = None,
    laws: Mapping[str, Law] | None = None,
    infinite: bool = False,
    finish: Callable[[Trace], Trace] | None = None,
    **shapes: str | Declared | Mapping[str, Declared],
) -> Callable[[Callable[..., Any]], Calculation]:
    """Declare a calculation; the keywords name its operands in the order of the function's parameters for them.

    A shape is axis names apart by blanks (`""` a scalar), `|` between alternatives, brackets around a composite axis.
    A parameter whose type is a dataclass stands for several options, one for each of its fields; the text beside it
    (`Annotated[Rotation, "rope_"]`) is what their names begin with. A parameter of Weights holds the operands that its
    keyword names one by one, and one of tuple[Weights, ...] so many of them for each layer.
    """

    def declare(function: Callable[..., Any]) -> Calculation:
        hints = typing.get_type_hints(function, include_extras=True)
        parameters = inspect.signature(function).parameters.values()
        arrays = [p for p in parameters if _is_operand(_bare(hints[p.name])[0])]
        bare = {p.name: _bare(hints[p.name]) for p in parameters}
        assert len(arrays) == len(shapes), f"{function.__name__}: {len(arrays)} operands, {len(shapes)} shapes"
        doc = inspect.cleandoc(function.__doc__ or "")
        found = {p.name: _operands(p, n, s, hints) for p, (n, s) in zip(arrays, shapes.items(), strict=True)}
        layers = {p.name: found.pop(p.name) for p in arrays if typing.get_origin(_bare(hints[p.name])[0]) is tuple}
        families = {p.name: tuple(o.name for o in found[p.name]) for p in arrays if _bare(hints[p.name])[0] == Weights}
        return Calculation(
            name=function.__name__.rstrip("_").replace("_", "-"),
            summary=doc.partition("\n")[0],
            doc=doc,
            operands=tuple(o for ours in found.values() for o in ours),
            options=tuple(o for p in parameters if p not in arrays for o in _options(p, hints[p.name])),
            function=function,
            reference=reference,
            sizes=sizes or {},
            leading=leading,
            check=check,
            remarks=remarks,
            slopes=slopes,
            laws=laws or {},
            infinite=infinite,
            finish=finish,
            bundles={name: hint for name, hint in bare.items() if dataclasses.is_dataclass(hint[0])},
            families=families,
            layers=layers,
        )

    return declare


def _bare(hint: Any) -> tuple[Any, str]:
    """A hint without its Annotated text, and that text."""
    if typing.get_origin(hint) is typing.Annotated:
        return hint.__origin__, hint.__metadata__[0]
    return hint, ""


def _is_operand(hint: Any) -> bool:
    return hint in (Node, Expression) or Node in typing.get_args(hint) or hint in (Weights, tuple[Weights, ...])


def _operands(
    parameter: inspect.Parameter, name: str, declared: str | Declared | Mapping[str, Declared], hints: dict[str, Any]
) -> tuple[Operand, ...]:
    """The operand that a parameter is, or those that it holds by their names."""
    if not isinstance(declared, Mapping):
        return (_operand(parameter, name, declared, hints),)
    return tuple(
        Operand(
            name=inner,
            symbol=each.symbol,
            shapes=(parse_shape(each.text),),
            required=each.required,
            positional=False,
            kind=each.kind,
            broadcasts=each.broadcasts,
            help=each.help,
        )
        for inner, each in declared.items()
    )


def _operand(parameter: inspect.Parameter, name: str, declared: str | Declared, hints: dict[str, Any]) -> Operand:
    if isinstance(declared, str):
        declared = Declared(declared)
    hint, text = _bare(hints[parameter.name])
    return Operand(
        name=name,
        symbol=parameter.name,
        shapes=tuple(parse_shape(part) for part in declared.text.split("|")),
        required=parameter.default is inspect.Parameter.empty,
        positional=parameter.kind is not inspect.Parameter.KEYWORD_ONLY,
        kind=declared.kind,
        broadcasts=declared.broadcasts,
        help=text,
        words=tuple(word for part in typing.get_args(hint) for word in typing.get_args(part) if word is not None),
        of=declared.of,
    )


def _options(parameter: inspect.Parameter, annotated: Any) -> list[Option]:
    """The option that a parameter is, or those that its class has as fields."""
    kind, prefix = _bare(annotated)
    if not dataclasses.is_dataclass(kind):
        return [_option(parameter.name, annotated, parameter.default)]
    hints = _field_hints(typing.cast("Any", kind))
    return [_option(prefix + f.name, hints[f.name], f.default) for f in dataclasses.fields(kind)]


@cache
def _field_hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind, include_extras=True)


def _one(kind: Any) -> Any:
    """What a list holds, float for tuple[float, ...]; dict for assignments; anything else is itself."""
    origin = typing.get_origin(kind)
    return typing.get_args(kind)[0] if origin is tuple else dict if origin is dict else kind


def _option(name: str, annotated: Any, default: Any) -> Option:
    hint, text = _bare(annotated)
    union = typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)
    many = any(typing.get_origin(part) is tuple for part in union)
    flat = [_one(part) for part in union]
    choices = [word for part in flat if typing.get_origin(part) is Literal for word in typing.get_args(part)]
    return Option(
        name=name,
        types=tuple(part for part in flat if part in (bool, int, float, str, dict)),
        choices=tuple(choices),
        many=many,
        default=default,
        help=text,
    )
