"""What a calculation takes, read off its function: operands and options by the parameters and their annotations."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal

from attncalc.calculation import Declaration, Declared, Operand, Option, Range, Shapes, Weights, parse_shape
from attncalc.expression import Expression
from attncalc.graph import Node


def declaration(function: Callable[..., Any], shapes: Shapes) -> Declaration:
    """What the function takes, the shapes being those of its operands in the order of its parameters for them."""
    hints = typing.get_type_hints(function, include_extras=True)
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


def _bare(hint: Any) -> tuple[Any, str]:
    """A hint without its Annotated text, and that text."""
    if typing.get_origin(hint) is typing.Annotated:
        return hint.__origin__, hint.__metadata__[0]
    return hint, ""


def _is_operand(hint: Any) -> bool:
    return hint in (Node, Expression) or Node in typing.get_args(hint) or hint in (Weights, tuple[Weights, ...])


def _is_bundle(hint: Any) -> bool:
    """Whether a parameter stands for several options: a named tuple does."""
    return isinstance(hint, type) and hasattr(hint, "_field_defaults")


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
    if not _is_bundle(kind):
        return [_option(parameter.name, annotated, parameter.default)]
    hints = _field_hints(kind)
    return [_option(prefix + name, hints[name], kind._field_defaults[name]) for name in kind._fields]


@cache
def _field_hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind, include_extras=True)


def _one(kind: Any) -> Any:
    """What a list holds, float for tuple[float, ...]; dict for assignments; anything else is itself."""
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
    )
