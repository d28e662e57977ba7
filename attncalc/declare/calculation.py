"""A calculation's declaration: its operands, its options and the function that writes its graph.

`@calculation(q="n d_k", …)` reads everything else from the function: the n-th keyword names the n-th parameter
that is a Node, whose spelling (`Q`, `W_Q`) is the symbol in formulas; the other parameters are options, typed
and explained by their annotations. Parameters after the `*` are given by name only. All this is read when it is first
asked for, so that importing a module of many calculations costs no more than the one that is called.
"""

from __future__ import annotations

import inspect
import math
import re
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, cached_property
from numbers import Rational
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from attncalc.common.errors import OF_LABELS_IN_PYTHON, InputError, OptionError, either, flag, near, quoted, visible
from attncalc.common.numerals import Array, written_number
from attncalc.common.system import docstring
from attncalc.declare.operands import (
    AS_ITS_SAMPLE,
    WEIGHTS,
    Declaration,
    Declared,
    Exercise,
    Operand,
    Option,
    Range,
    Shapes,
    Weights,
    With,
    layer_of,
)
from attncalc.language.graph import Expression, Node
from attncalc.record.trace import NOTHING, Trace, api

if TYPE_CHECKING:  # few calculations declare pictures
    from attncalc.declare.sweeps import Pictures

# The vocabulary for laws, which compare results of a calculation.
#
# A law is one line beside the definition, `"a shift changes nothing": lambda f, x, c: same(f(x + c), f(x))`. `f` is the
# calculation; the other parameters are its operands in their declared shapes, whole numbers for its options, and `c`, a
# number above 0. A test draws them at random, and the reference card lists the laws.


Law = Callable[..., bool]
"""(the calculation, operands and options by their names) → whether it holds for them."""

TOLERANCE = 1e-9  # relative to the largest number on either side


def same(left: Any, right: Any) -> bool:
    """Whether two results (or arrays, or numbers) agree except for rounding."""
    left, right = value(left), value(right)
    return bool(np.all(np.abs(left - right) <= _slack(left, right)))


def at_most(left: Any, right: Any) -> bool:
    """Whether no entry on the left is larger than that on the right, except for rounding."""
    left, right = value(left), value(right)
    return bool(np.all(left <= right + _slack(left, right)))


def value(side: Any) -> Array:
    """The value of a result; arrays and numbers as they are."""
    return side.result if isinstance(side, Trace) else np.asarray(side)


def _slack(left: Array, right: Array) -> float:
    return TOLERANCE * max(1.0, float(np.max(np.abs(left), initial=0)), float(np.max(np.abs(right), initial=0)))


def shares(x: Array) -> Array:
    """Any numbers turned into positive shares that sum to 1 along the last axis."""
    grown = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(grown / grown.sum(axis=-1, keepdims=True))


def shuffled(*arrays: Array) -> list[Array]:
    """Arrays with equally many rows, with their rows permuted in the same way."""
    order = np.random.default_rng(len(arrays[0])).permutation(len(arrays[0]))
    return [array[order] for array in arrays]


def alike_along_diagonals(table: Any) -> bool:
    """Whether each entry equals the one up and to the left of it, so that it depends on i − j alone."""
    square = value(table)
    return same(square[..., 1:, 1:], square[..., :-1, :-1])


def one_right(x: Array) -> Array:
    """1 at the largest entry of each row, else 0."""
    return np.asarray(np.eye(x.shape[-1])[x.argmax(axis=-1)])


Remarks = Callable[[Trace], Iterable[str]]
Slopes = Callable[[Node, Mapping[str, Any]], "Node | None"]
"""(the result, the options) → a closed form of its Jacobian; None leaves it to the chain rule."""
Presets = Mapping[str, Mapping[str, Mapping[str, Any]]]
Check = Callable[[Mapping[str, Any]], "Mapping[str, Any] | None"]
"""(operands and options by name) → the options that these values change, if any; it may raise DomainError."""


class Measured:
    """Returned by a calculation whose backward pass starts from a loss that is not its first result."""

    __slots__ = ("loss", "outputs")

    def __init__(self, outputs: tuple[Node, ...], loss: Node | None) -> None:
        self.outputs = outputs
        self.loss = loss  # None if no targets were given


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
        exercise: Exercise,
        presets: Presets,
    ) -> None:
        self.name = function.__name__.rstrip("_").replace("_", "-")
        self.function = function
        self.__module__ = function.__module__
        self.shapes = shapes
        self.reference = reference
        self.sizes = sizes  # axis name → the option that gives its size
        self.leading = leading  # names of leading axes, the innermost first
        self.check = check  # raises DomainError for operands without an answer
        self.remarks = remarks  # warnings that depend on the values: a fully masked query
        self.slopes = slopes  # a closed form of the Jacobian, if there is one that a reader should see
        self.laws = laws  # what always holds: its words → a test
        self.infinite = infinite  # whether the result may be infinite (a divergence may)
        self.finish = finish  # changes the trace once the values are known
        self.pictures = pictures  # what is drawn in place of the result
        self.exercise = exercise  # what a quiz changes in the sample
        self.presets = presets  # option → its words → the options that a word implies, unless they are given

    def __repr__(self) -> str:
        return f"<calculation {self.name}>"

    @cached_property
    def doc(self) -> str:
        """The docstring of its function."""
        return inspect.cleandoc(docstring(self.function))

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
        return self.doc.partition("\n")[0]

    @cached_property
    def declaration(self) -> Declaration:
        """Its operands and options, read off its function."""
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
        """The calculation on nodes, as a part of a larger graph; options that make up one parameter are collected."""
        for parameter, (kind, prefix) in self.declaration.bundles.items():
            parts = {name: given.pop(prefix + name) for name in kind._fields if prefix + name in given}
            given.setdefault(parameter, kind(**parts))
        return self.function(*nodes, **given)

    def __call__(self, *operands: Any, **given: Any) -> Trace:
        """The calculation on arrays: `attention(q, k, v, causal=True)`."""
        trace: Trace = api("call")(self, operands, given)
        return trace

    def __reduce__(self) -> str:
        return self.function.__name__  # by its name in its module, as functions are pickled

    @property
    def weights(self) -> str:
        """The word by which all weights are given together; "" if it has fewer than two."""
        several = not self.operand(WEIGHTS) and sum(o.name.startswith("w") for o in self.operands) > 1
        return WEIGHTS if several else ""

    def operand(self, name: str) -> Operand | None:
        """The operand called `name`, if there is one; `encoder 2/wq` is one of the second layer of a stack."""
        stack, _, inner = layer_of(name)
        if not stack:
            return self._operands.get(name)
        found = next((o for o in self.declaration.layers.get(stack, ()) if o.name == inner), None)
        return found and found._replace(name=name)

    @cached_property
    def _operands(self) -> dict[str, Operand]:
        return {operand.name: operand for operand in reversed(self.operands)}

    def operands_in(self, names: Iterable[str]) -> tuple[Operand, ...]:
        """All its own operands, and those of layers that are among these names."""
        layered = (self.operand(name) for name in names if layer_of(name)[0])
        return (*self.operands, *(operand for operand in layered if operand is not None))

    def option(self, name: str) -> Option | None:
        """The option called `name`, if there is one; an operand that may be given as a word counts as one too."""
        return self._options.get(name)

    @cached_property
    def _options(self) -> dict[str, Option]:
        spoken = (Option(o.name, (), o.words, False, None, o.help) for o in self.operands if o.words)
        return {option.name: option for option in reversed([*self.options, *spoken])}

    def taking(self, words: Iterable[str]) -> str:
        """The flag for the first of these words that is an option or its choice: `--kind relu`; "" if none is."""
        said = {option.name.replace("_", "-"): option.flag for option in self.options if bool in option.types}
        said |= {word: f"{option.flag} {word}" for option in reversed(self.options) for word in option.choices}
        return next((said[word] for word in words if word in said), "")

    def opposite(self, name: str) -> Option | None:
        """The switch `no_NAME`, which may be set by its opposite too: causal=False is no_causal=True."""
        return next((o for o in self.options if o.name == f"no_{name}" and bool in o.types), None)

    def meant_by(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options that the presets among these options imply."""
        words = (table.get(options.get(name, ""), NOTHING) for name, table in self.presets.items())
        return {name: value for meant in words for name, value in meant.items()}

    def unusual(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options that differ from their defaults and from what presets imply."""
        usual = self.defaults | self.meant_by(options)
        return {name: value for name, value in options.items() if value != usual.get(name)}

    @property
    def defaults(self) -> dict[str, Any]:
        """Every option with its default."""
        return {o.name: o.default for o in self.options}

    def idle(self, options: Mapping[str, Any], operands: Iterable[str]) -> Iterator[str]:
        """A message for each option without effect, since an option or operand that it needs is missing."""
        there = {name for name, value in options.items() if value not in (None, False, "none")} | {*operands}
        there |= {f"{name}={value}" for name, value in options.items()}
        for option in self.options:
            if options[option.name] in (option.default, ()):
                continue
            few = [name for name in option.beside if self.option(key := name.partition("=")[0]) or self.operand(key)]
            if few and few[0] == option.beside[0] and there.isdisjoint(few):
                spelled = (name if "/" in name else flag(name).replace("=", " ") for name in few)
                yield f"{option.flag} has no effect without {either(spelled)}"


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
    exercise: Exercise = AS_ITS_SAMPLE,
    presets: Presets = NOTHING,
    **shapes: str | Declared | Mapping[str, Declared],
) -> Callable[[Callable[..., Any]], Calculation]:
    """Declare a calculation; the keywords name its operands in the order of the function's parameters for them.

    A shape is axis names separated by blanks (`""` for a scalar), `|` between alternatives, brackets around a composite
    axis. A parameter whose type is a named tuple stands for several options, one for each field; the text beside it
    (`Annotated[Rotation, "rope_"]`) is the prefix of their names. A parameter of type Weights holds the operands that
    its keyword lists, and one of type tuple[Weights, ...] holds these for each layer.
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
        exercise=exercise,
        presets=presets,
    )


# Operands and options, read off a function's parameters and their annotations


def declaration(function: Callable[..., Any], shapes: Shapes) -> Declaration:
    """The operands and options of the function, given the shapes of its operands in the order of its parameters."""
    hints = _hints(function, function.__globals__)
    parameters = inspect.signature(function).parameters.values()
    bare = {p.name: _bare(hints[p.name]) for p in parameters}
    arrays = [p for p in parameters if _is_operand(bare[p.name][0])]
    assert len(arrays) == len(shapes), f"{function.__name__}: {len(arrays)} operands, {len(shapes)} shapes"
    found = {p.name: _operands(p, n, s, hints) for p, (n, s) in zip(arrays, shapes.items(), strict=True)}
    layers = {p.name: found.pop(p.name) for p in arrays if typing.get_origin(bare[p.name][0]) is tuple}
    return Declaration(
        operands=tuple(o for ours in found.values() for o in ours),
        options=tuple(o for p in parameters if p not in arrays for o in _options(p, hints[p.name])),
        bundles={p.name: bare[p.name] for p in parameters if p not in arrays and _is_bundle(bare[p.name][0])},
        families={p.name: tuple(o.name for o in found[p.name]) for p in arrays if bare[p.name][0] == Weights},
        layers=layers,
    )


def _hints(declared: Any, names: Mapping[str, Any]) -> dict[str, Any]:
    """The annotations of parameters or fields, evaluated; plain names are looked up, which is ten times faster."""
    written = {name: text for name, text in declared.__annotations__.items() if name != "return"}
    hints = {name: names[text] for name, text in written.items() if text in names}
    rest = types.SimpleNamespace(__annotations__={name: text for name, text in written.items() if name not in hints})
    return hints | typing.get_type_hints(rest, dict(names), include_extras=True)


def _bare(hint: Any) -> tuple[Any, str]:
    """A hint without its Annotated text, and that text."""
    if typing.get_origin(hint) is typing.Annotated:
        return hint.__origin__, hint.__metadata__[0]
    return hint, ""


def _is_operand(hint: Any) -> bool:
    return hint in (Node, Expression) or Node in typing.get_args(hint) or hint in (Weights, tuple[Weights, ...])


def _is_bundle(hint: Any) -> bool:
    """Whether a parameter stands for several options: its type is a named tuple."""
    return isinstance(hint, type) and hasattr(hint, "_field_defaults")


def _operands(
    parameter: inspect.Parameter, name: str, declared: str | Declared | Mapping[str, Declared], hints: dict[str, Any]
) -> tuple[Operand, ...]:
    """The operand of a parameter, or all operands that it holds by name."""
    if isinstance(declared, Mapping):
        return tuple(_operand(inner, each) for inner, each in declared.items())
    own = declared if isinstance(declared, Declared) else Declared(declared)
    hint, text = _bare(hints[parameter.name])
    required = parameter.default is inspect.Parameter.empty
    words = tuple(word for part in typing.get_args(hint) for word in typing.get_args(part) if word is not None)
    found = _operand(name, own._replace(symbol=parameter.name, help=text, required=required))
    return (found._replace(positional=parameter.kind is not inspect.Parameter.KEYWORD_ONLY, words=words),)


def _operand(name: str, declared: Declared) -> Operand:
    said = declared._asdict()
    del said["text"]
    return Operand(name, shapes=declared.shapes, when=declared.when, **said)


def _options(parameter: inspect.Parameter, annotated: Any) -> list[Option]:
    """The option of a parameter, or one option for each field of its class."""
    kind, prefix = _bare(annotated)
    if not _is_bundle(kind):
        return [_option(parameter.name, annotated, parameter.default)]
    hints = _field_hints(kind)
    found = [_option(prefix + name, hints[name], kind._field_defaults[name]) for name in kind._fields]
    return [
        o._replace(beside=tuple(prefix * (n.partition("=")[0] in kind._fields) + n for n in o.beside)) for o in found
    ]


@cache
def _field_hints(kind: Any) -> dict[str, Any]:
    return _hints(kind, vars(sys.modules[kind.__module__]))


def _one(kind: Any) -> Any:
    """The type of a list's items, float for tuple[float, ...]; dict for a mapping; any other type as it is."""
    origin = typing.get_origin(kind)
    return typing.get_args(kind)[0] if origin is tuple else dict if origin is dict else kind


def _option(name: str, annotated: Any, default: Any) -> Option:
    hint, text = _bare(annotated)
    told = getattr(annotated, "__metadata__", ())
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
        range=next((each for each in told if isinstance(each, Range)), Range()),
        beside=next((each.names for each in reversed(told) if isinstance(each, With)), ()),
    )


# Options, each checked against its declaration before anything is computed.


LARGEST_WHOLE = 10**15
"""Larger whole numbers may not be exact as floats, and count nothing that fits into a computer."""


def checked(calculation: Calculation, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given, each checked against its declaration."""
    result = {}
    for name, value in options.items():
        option, opposite = calculation.option(name), calculation.opposite(name)
        if option is None and opposite is not None and isinstance(value, bool):
            result[opposite.name] = not value
            continue
        if option is None:
            raise unknown(calculation, name)
        # None, or null in a document, means that it is not given.
        result[name] = option.default if value is None else read(option, value)
    return result


def unknown(calculation: Calculation, name: str, mend: str = "") -> OptionError:
    """The error for a name that is neither an operand nor an option."""
    words = [*(o.name for o in calculation.options), *(o.name for o in calculation.operands)]
    mend = mend or near(name, words) or (OF_LABELS_IN_PYTHON if name in ("labels", "tokens") else "")
    return OptionError(f"{calculation.name} has no operand or option {name!r}", hint=mend)


def read(option: Option, value: Any) -> Any:
    """The value, which may be text, converted for the option; raise OptionError, saying what the option may be."""
    if getattr(value, "ndim", None) == 0:  # a NumPy number, or a tensor of one number
        value = value.item()
    if option.many:
        return tuple(read(option._replace(many=False), item) for item in _items(option, value))
    if isinstance(value, str) and dict in option.types:
        value = assignments(value, option.flag)
    if isinstance(value, bool):
        if bool in option.types:
            return value
    elif isinstance(value, Mapping):
        if dict in option.types:
            return _by_name(option, value)
    elif isinstance(value, str):
        if (word := option.word(value)) is not None or (str in option.types and not option.choices):
            return word or value
        if float in option.types or int in option.types:
            with suppress(InputError):  # it would only say that the word is no number; `_refused` says more
                return read(option, written_number(value))
    elif isinstance(value, Rational | float) and (number := _as_number(option, value)) is not None:
        return number
    raise _refused(option, value)


def _items(option: Option, value: Any) -> list[Any]:
    """The items of a list, which may also be given as text, or as a table of one row or one column."""
    if isinstance(value, str) and value not in option.choices:
        text = re.sub(r"^\s*\[(.*)\]\s*$", r"\1", value)
        apart = next((mark for mark in ",;" if mark in text), None)
        return [part.strip() for part in text.split(apart)] or [""]
    items = [*value] if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    rows = [[*each] for each in items if isinstance(each, list | tuple) or getattr(each, "ndim", 0) == 1]
    if len(rows) < len(items) or (len(rows) > 1 and any(len(row) != 1 for row in rows)):
        return items
    return [entry for row in rows for entry in row]


def _by_name(option: Option, values: Mapping[Any, Any]) -> dict[str, Any]:
    """Numbers by the names of variables, each checked as a number."""
    number = option._replace(types=(float,))
    numbers = {n: _number(item, option.flag) if isinstance(item, str) else item for n, item in values.items()}
    return {_name(name, option): read(number, item) for name, item in numbers.items()}


def _as_number(option: Option, value: Rational | float) -> Rational | float | str | None:
    """The number converted for the option; None if it takes no such number, OptionError if it is out of range."""
    size = _size(value)
    if math.isfinite(size) and not option.range.holds(size):
        none = f"without {option.flag} there is none" if option.range.optional and not size else ""
        fact = f"{option.flag} must be {option.range}, not {size:.15g}"
        raise OptionError(fact, hint=option.range.instead or none)
    if size == math.inf and "inf" in option.choices:
        return "inf"
    if float in option.types and math.isfinite(size):
        return value
    if int not in option.types or not size.is_integer():
        return None
    if abs(size) > LARGEST_WHOLE:
        raise OptionError(f"{option.flag} must be a whole number of up to 15 digits, not {size:g}")
    return int(size)


def _refused(option: Option, value: Any) -> OptionError:
    """The error that says what an option may be."""
    words = {
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        str: "a word",
        dict: "numbers by name (x=3,y=-1)",
    }
    kinds = [words[kind] for kind in option.types if kind is not str or not option.choices]
    hint = near(value, option.choices) if isinstance(value, str) else ""
    allowed = either([*kinds, *option.choices])
    found = quoted(value) if isinstance(value, str) else visible(repr(value), 80)
    return OptionError(f"{option.flag} must be {allowed}, not {found}", hint=hint)


def assignments(text: str, flag: str) -> dict[str, Rational | float] | Rational | float:
    """`x=3,y=-1` as numbers by their names, or a single number without a name."""
    found: dict[str, Rational | float] = {}
    parts = re.split(r"[,;\s]+", re.sub(r"\s*=\s*", "=", text.strip(" ,;")))
    for part in parts:
        name, equals, number = part.rpartition("=")
        if not equals and len(parts) > 1:
            raise OptionError(f"{flag} has {quoted(part)} without a name", hint="each number has one: x=3,y=-1")
        value = _number(number, flag)
        if not equals:
            return value
        if name in found:
            raise OptionError(f"{flag} gives {quoted(name)} twice")
        found[name] = value
    return found


def _number(text: str, flag: str) -> Rational | float:
    """The number of an assignment."""
    try:
        return written_number(text)
    except InputError as error:
        raise OptionError(f"{flag}: {error.message}", hint=error.hint or "write x=3,y=-1") from None


def _name(name: Any, option: Option) -> str:
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
        raise OptionError(f"{option.flag}: {quoted(str(name))} is not the name of a variable", hint="write x=3,y=-1")
    return name


def _size(value: Rational | float) -> float:
    """The number as a float, infinite if it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf
