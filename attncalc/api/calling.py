"""A call from Python: operands by position or by name, options by name, and how they are carried out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from inspect import Parameter, Signature
from os import PathLike, fspath
from typing import Any

import numpy as np

from attncalc.calculations import load, neighbours, operand_words, shape_words, type_words
from attncalc.common.errors import InputError, OptionError, amount, both, either, visible
from attncalc.common.numerals import ACCUMULATED, NARROW, STORED, must_agree, must_round_nothing
from attncalc.declare.calculation import Calculation, unknown
from attncalc.declare.operands import UPSTREAM, WEIGHTS
from attncalc.inputs.calls import from_frameworks, read_all, renamed
from attncalc.inputs.given import spoken
from attncalc.inputs.models import from_model
from attncalc.inputs.python_values import in_floats, is_fraction, to_given
from attncalc.inputs.reading import Reading
from attncalc.record.trace import EXACT, Trace
from attncalc.solve.problem import Backward, Problem, operands_named, problem_of
from attncalc.solve.solver import solve


class _Words(str):
    """The spelling of a type, which `help` shows without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@cache
def function(name: str) -> Callable[..., Trace]:
    """The calculation of that name as a function, with what `help` and an editor's completion need."""
    calculation = load(name)

    def call(*operands: Any, **given: Any) -> Trace:
        return solve_call(calculation, operands, given)

    call.__name__ = call.__qualname__ = name.replace("-", "_")
    call.__module__ = "attncalc"
    call.__doc__ = "\n".join([calculation.doc, "", *_listed(calculation)])
    vars(call)["__signature__"] = signature(calculation)
    return call


def _listed(calculation: Calculation) -> Iterator[str]:
    """What a calculation takes, a line each: `q [n, d_k]: the queries`, `causal (False): a query sees …`."""
    yield "Operands:"
    for operand in calculation.operands:
        words = f" or {either(operand.words)}" if operand.words else ""
        yield f"    {operand.name} {shape_words(operand)}{words}: {operand.help or 'see above'}"
    if calculation.options:
        yield from ("", "Options:")
    for option in calculation.options:
        yield f"    {option.name} ({option.default!r}): {option.help}"


def signature(calculation: Calculation) -> Signature:
    """Operands, options with their defaults, `weights` in place of operands that begin with w, and the settings."""
    operands = [
        o._replace(required=o.required and not (calculation.weights and o.name.startswith("w")))
        for o in calculation.operands
    ]
    by_position = [
        Parameter(
            o.name,
            Parameter.POSITIONAL_OR_KEYWORD,
            default=Parameter.empty if o.required else None,
            annotation=_Words(operand_words(o)),
        )
        for o in operands
        if o.positional
    ]
    named: dict[str, tuple[Any, str]] = {o.name: (None, operand_words(o)) for o in operands if not o.positional}
    named |= {o.name: (o.default, type_words(o)) for o in calculation.options}
    named |= {WEIGHTS: (None, "Mapping[str, Numbers] | str | PathLike[str] | None")} if calculation.weights else {}
    words = ", ".join(f'"{word}"' for word in ACCUMULATED)
    named |= {"dtype": ("float64", "DTypeLike"), "accumulate": (ACCUMULATED[0], f"Literal[{words}]")}
    named |= {"round_to": (None, "int | None"), **dict.fromkeys(_SWITCHES, (False, "bool"))}
    further = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=_Words(words))
        for name, (default, words) in named.items()
    ]
    return Signature([*by_position, *further], return_annotation=_Words("Trace"))


def solve_call(calculation: Calculation, operands: Sequence[Any], named: Mapping[str, Any]) -> Trace:
    """A call from Python: operands by position or by name, options by name, and how they are carried out."""
    positional = [operand.name for operand in calculation.operands if operand.positional]
    if len(operands) > len(positional):
        raise _too_many(calculation, positional, len(operands))
    by_name = dict(zip(positional, operands, strict=False))
    twice = [name for name in named if name in by_name]
    if twice:
        raise OptionError(f"{calculation.name} was given {both(twice)} twice, by position and by name")
    settings = {name: check(named[name]) for name, check in _SETTINGS.items() if name in named}
    given = by_name | {name: value for name, value in named.items() if name not in settings}
    notes: tuple[str, ...] = ()
    if calculation.operand(WEIGHTS) is None and (calculation.weights or isinstance(given.get(WEIGHTS), Mapping | str)):
        together, notes = _together(calculation, given.pop(WEIGHTS, None), given)
        given = together | given
    for operand in calculation.operands:
        if operand.kind == "model" and given.get(operand.name) is not None:
            given = from_model(given.pop(operand.name), calculation) | given
        if operand.kind == "checkpoint" and given.get(operand.name) is not None:
            given = _stored(calculation, operand.name, given)
    arrays = {name: value for name, value in given.items() if (o := calculation.operand(name)) and not o.means(value)}
    options = {name: value for name, value in given.items() if name not in arrays}
    for name in options:
        if not (calculation.option(name) or calculation.opposite(name)):
            have_it = neighbours(calculation.name, name, f"attncalc.{{}}(…, {name}=…)")
            raise unknown(calculation, name, have_it.replace("-", "_"))
    inputs = {}
    for operand in calculation.operands_in(arrays):
        if arrays.get(operand.name) is not None:
            read = to_given(arrays[operand.name], operand, settings.get("dtype", "float64"))
            inputs[operand.name] = in_floats(read) if settings.get("exact") is False else read
    if "exact" not in settings and any(map(is_fraction, inputs.values())):
        notes = (*notes, "fractions among the operands: all is exact; exact=False works in floats")
    must_agree(settings.get("dtype", "float64"), settings.get("accumulate"), settings.get("round_to"))
    must_round_nothing("--exact" if settings.get("exact") else "", settings.get("dtype"), settings.get("round_to"))
    found = solve(Problem(calculation, inputs, options), **settings)
    return found._replace(notes=(*found.notes, *notes)) if notes else found


def _too_many(calculation: Calculation, positional: Sequence[str], count: int) -> OptionError:
    """The error for more operands by position than there are; sizes and other numbers are given by name."""
    were = f"but {count} {'was' if count == 1 else 'were'} given"
    if positional:
        named = f" ({', '.join(positional)})"
        return OptionError(f"{calculation.name} takes {amount(len(positional), 'operand')} by position{named}, {were}")
    needed = [o.name for o in calculation.options if o.default is None and int in o.types and not o.many]
    numbers = ", ".join(f"{name}={number}" for name, number in zip(needed, (3, 4, 5), strict=False))
    called = f"attncalc.{calculation.name.replace('-', '_')}"
    mend = f"{called}({numbers}) names them" if numbers else f"help({called}) lists what it takes"
    return OptionError(f"{calculation.name} takes no operands by position, {were}", hint=mend)


def _together(
    calculation: Calculation, weights: Any, given: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The operands that are given together, by our names or by those of frameworks, and notes on these."""
    if isinstance(weights, Mapping | None):
        known = (name for name in weights or {} if calculation.operand(name) or calculation.option(name))
        if not weights or any(known):
            return dict(weights or {}), ()
    elif not isinstance(weights, str | PathLike):
        fault = f"weights is {spoken(weights)}, and no mapping, nor a file"
        raise InputError(fault, hint="of a module of torch's they are its state_dict()")
    else:
        weights = fspath(weights)
    options = {name: value for name, value in given.items() if calculation.option(name)}
    width = np.shape(given["x"])[-1] if np.ndim(given.get("x", ())) > 1 else None
    told = from_frameworks(calculation, weights, options, width)
    return dict(told.inputs) or dict(weights), told.notes


def _stored(calculation: Calculation, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """What is given, together with the operands and options of the checkpoint whose path is under `name`."""
    options = {key: value for key, value in given.items() if calculation.option(key)}
    inputs, settled = read_all(calculation, calculation.operands, {name: fspath(given[name])}, {}, options, Reading())
    return {**renamed(calculation, given, settled), **inputs, **settled}


def backward(trace: Trace, upstream: Any, wrt: str | Iterable[str], *, gradcheck: bool) -> Trace:
    """The backward pass of a trace's problem, in numbers as wide as those of its result."""
    problem = problem_of(trace)
    names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
    inputs = dict(problem.inputs)
    if upstream is not None:
        inputs[UPSTREAM.name] = to_given(upstream, UPSTREAM)
    dtype, accumulate = trace.mode.dtype, trace.mode.accumulate
    if dtype not in NARROW:
        dtype = "float32" if trace.result.dtype == np.float32 else "float64"
    backward = Backward(operands_named(names, inputs), gradcheck)
    exact = trace.mode.dtype == EXACT
    return solve(problem._replace(inputs=inputs, backward=backward), dtype=dtype, accumulate=accumulate, exact=exact)


def _known_dtype(dtype: Any) -> str:
    """`float32`, `bfloat16` …, however it was said: as a word, or as a type of NumPy's, of ml_dtypes' or of torch's."""
    name = str(dtype).removeprefix("torch.")
    if name not in STORED:
        with suppress(TypeError):
            name = str(np.dtype(dtype).name)
    if name not in STORED:
        raise OptionError(f"dtype must be {either(STORED)}, not {visible(name, 80)}")
    return name


def _known_accumulate(word: Any) -> str:
    if word not in ACCUMULATED:
        raise OptionError(f"accumulate must be {either(ACCUMULATED)}, not {visible(repr(word), 80)}")
    return str(word)


def _decimals(decimals: Any) -> int | None:
    """A number of decimals, or None for no rounding."""
    if decimals is None:
        return None
    if isinstance(decimals, bool) or not isinstance(decimals, int | np.integer) or decimals < 0:
        said = visible(repr(decimals), 80)
        raise OptionError(f"round_to must be a whole number of decimals, 0 or more, not {said}")
    return int(decimals)


def _on_or_off(name: str, word: Any) -> bool:
    if not isinstance(word, bool | np.bool_):
        raise OptionError(f"{name} must be True or False, not {visible(repr(word), 80)}")
    return bool(word)


_SWITCHES = ("exact", "keep_all")
"""Whether to compute with fractions and roots; whether to keep every turn of a loop and every step of a large run."""
_SETTINGS: dict[str, Callable[[Any], Any]] = {
    "dtype": _known_dtype,
    "accumulate": _known_accumulate,
    "round_to": _decimals,
    **{name: partial(_on_or_off, name) for name in _SWITCHES},
}
"""What a call takes besides operands and options, each with its check."""
