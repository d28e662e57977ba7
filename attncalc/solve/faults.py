"""Why a problem cannot be written as a graph: missing or unknown operands, shapes that clash; with hints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from attncalc.calculations import WHOLE
from attncalc.common.errors import AttncalcError, OptionError, ShapeError, are, both, example_of, near
from attncalc.declare.operands import UPSTREAM
from attncalc.language.kernels import has_letters
from attncalc.record.trace import Given
from attncalc.solve.problem import Problem


def unlike_declared(problem: Problem) -> OptionError:
    """The error for operands that the calculation does not have, or that it needs and was not given."""
    calculation = problem.calculation
    names = [operand.name for operand in calculation.operands_in(problem.inputs)]
    for name in problem.inputs:
        if name not in names and not (name == UPSTREAM.name and problem.backward):
            return OptionError(f"{calculation.name} has no operand {name!r}", hint=near(name, names))
    needed = [o.name for o in calculation.operands if o.required]
    missing = [name for name in needed if name not in problem.inputs]
    whole = calculation.name in WHOLE
    mend = f"attncalc {problem.name} --help says what it takes" if whole else example_of(problem.name)
    hint = "" if problem.inputs else mend
    if calculation.declaration.families:
        hint = "--weights FILE may hold them by their names"
    tables = {file for g in problem.inputs.values() for file, mark, _ in [g.source.partition("#")] if mark}
    if len(tables) == len(missing) == 1 and (o := calculation.operand(missing[0])) and len(o.shapes[0]) == 2:
        [table] = tables
        hint = (
            f"--{o.name} {table} gives {o.help}" if o.named else f"{table} holds none by a name that is known: {o.help}"
        )
    return OptionError(f"{problem.name} needs {both(needed)}, but {both(missing)} {are(missing)} missing", hint=hint)


def explained(error: ShapeError, problem: Problem, write: Callable[[dict[str, Given]], Any]) -> ShapeError:
    """The error with the files that its operands came from, and a hint if transposing one of them would help.

    That is tried out: `write` makes the problem's graph from other operands, or raises an error.
    """
    files = dict.fromkeys(g.source.partition("#")[0] for g in problem.inputs.values() if g.source)
    message = f"{error.message} ({_whence(problem.inputs, list(files))})" if files else error.message
    if error.hint:
        return ShapeError(message, hint=error.hint)
    for names in _perhaps_turned(problem.inputs):
        turned = {name: _swapped(problem.inputs[name], -1) for name in names}
        try:
            write({**problem.inputs, **turned})
        except AttncalcError:
            continue
        [name, *more] = names
        if more:
            mend = f"are {both(names)} stored as [out, in]? --transpose {','.join(names)} turns them round"
        elif "transposed" in (remark.kind for remark in problem.inputs[name].remarks):
            mend = f"{name} is turned round by --transpose: leave {name} out of it"
        else:
            mend = f"is {problem.inputs[name].source or name} transposed? --transpose {name} turns it round"
        return ShapeError(message, hint=mend)
    for mend, inputs in _perhaps_in_heads(problem.inputs):
        with suppress(AttncalcError):
            write({**problem.inputs, **inputs})
            return ShapeError(message, hint=mend)
    return ShapeError(message)


def _perhaps_in_heads(inputs: Mapping[str, Given]) -> Iterator[tuple[str, dict[str, Given]]]:
    """(hint, changed operands) that may have been meant if queries, keys and values differ in their heads."""
    parts = {name: inputs[name] for name in ("q", "k", "v") if name in inputs and not has_letters(inputs[name].value)}
    stacks = {name: g for name, g in parts.items() if g.value.ndim > 2}
    others = {name: g for name, g in parts.items() if name not in stacks}
    if not stacks:
        return
    shape, tokens = next(iter(stacks.values())).value.shape, {name: _swapped(g) for name, g in stacks.items()}
    layout = f"--heads-layout {'bnhd'[-len(shape) :]}"
    if not others:
        yield f"do tokens stand before heads? {layout} reads them so", tokens
        for name in stacks:
            yield f"tokens and heads of {name} lie the other way round: swap them", {name: tokens[name]}
        return
    for heads, laid in ((shape[-3], stacks), (shape[-2], tokens)):
        fit = laid is stacks or len(shape) == 3
        if fit and all(g.value.ndim == 2 and g.value.shape[1] % heads == 0 for g in others.values()):
            cut = {name: _swapped(_cut(g, heads)) for name, g in others.items()}
            each = both([f"{name}.reshape({len(g.value)}, {heads}, -1)" for name, g in others.items()])
            first = f"{each}, which {layout} reads" if laid is tokens else f"{each}, each with .swapaxes(0, 1)"
            said = f"{both([*stacks])} {are(stacks)} cut into {heads} heads, and {both([*others])} {are(others)} not"
            yield f"{said}: {first}", laid | cut


def _cut(g: Given, heads: int) -> Given:
    return g._replace(value=g.value.reshape(len(g.value), heads, -1), labels={}, written=None)


def _swapped(g: Given, other: int = -3) -> Given:
    return g._replace(value=np.swapaxes(g.value, other, -2), labels={}, written=None)


def _perhaps_turned(inputs: Mapping[str, Given]) -> list[list[str]]:
    """Operands that may be stored transposed: first all that PyTorch's Linear stores so, then each by itself."""
    matrices = [name for name, g in inputs.items() if g.value.ndim >= 2 and not has_letters(g.value)]
    stored = [name for name in matrices if inputs[name].source.endswith(".weight")]
    return [*([stored] if stored else []), *([name] for name in matrices)]


def _whence(inputs: Mapping[str, Given], files: Sequence[str]) -> str:
    """`all from problem.json`, or `q from q.json, k from k.json`; for many operands only the files."""
    if len(files) == 1 and len(inputs) > 1 and all(g.source for g in inputs.values()):
        return f"all from {files[0]}"
    if sum(bool(g.source) for g in inputs.values()) > 4:
        return f"read from {both(files)}"
    return ", ".join(f"{name} from {g.source}" for name, g in inputs.items() if g.source)
