"""Lines without boxes, for listeners and pipes: formulas also in words, numbers in full, a matrix one row a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from attncalc.arrays import Array
from attncalc.digits import numeric, shortest, widened
from attncalc.numbers import texts
from attncalc.render.glyphs import to_words
from attncalc.render.parts import findings, lessons, options, summary
from attncalc.render.view import View, asked_for, beside, shown, value_of
from attncalc.render.worked import ending, in_the_step
from attncalc.trace import Step, Trace


def page(trace: Trace, view: View) -> str:
    """Each step as lines that can be read out, then its rows; with `quiet` or `get` the rows of one value alone."""
    if view.bare:
        return _lines(rows(value_of(asked_for(trace, view)), view.digits), view)
    blocks = [_head(trace)]
    told = trace.lesson.steps if trace.lesson else {}
    blocks += [
        _step(f"step {number}: {step.key}", step, view, told.get(step.key, ())) for number, step in shown(trace, view)
    ]
    blocks += [_step(f"output: {step.key}", step, view) for step in beside(trace, view)]
    if not view.show:
        blocks.append([f"result: {trace.outputs[0].key}", *rows(trace.result, view.digits)])
    blocks += [[f"{title}:", *texts] for title, texts in lessons(trace)]
    return "\n".join(_lines(block, view) for block in blocks)


def _lines(lines: Iterable[str], view: View) -> str:
    return "".join(f"{view.spell(line)}\n" for line in lines)


def rows(value: Array, digits: int | None = None) -> Iterator[str]:
    """A number; a vector or each row of a matrix on a line, blanks between; a blank line between matrices."""
    written = np.atleast_2d(entries(value, digits))
    for number, matrix in enumerate(written.reshape(-1, *written.shape[-2:])):
        if number:
            yield ""
        yield from (" ".join(row) for row in matrix)


def entries(value: Array, digits: int | None) -> Array:
    """Numbers in the letters that every reader of numbers takes, infinities too, and none with a blank inside.

    To so many digits, exact numbers are decimals; what holds letters has none.
    """
    if digits is not None and value.dtype == object:
        decimals = numeric(value)
        value, digits = (value, None) if decimals is None else (decimals, digits)
    if digits is None:
        written = [shortest(x) for x in widened(value).ravel().tolist()]
    else:
        written = [
            text.replace("−∞", "-inf").replace("∞", "inf").replace("NaN", "nan") for text in texts(value, digits).flat
        ]
    result = np.empty(value.shape, dtype=object)
    result.ravel()[:] = [text.replace(" ", "") for text in written]
    return result


def _head(trace: Trace) -> list[str]:
    lines = [trace.calculation, trace.summary]
    for name, operand in trace.inputs.items():
        source = f" from {operand.source}" if operand.source else ""
        note = f", {operand.note}" if operand.note else ""
        formula = operand.value.dtype.kind == "U"
        what = str(operand.value) if formula else _sizes(operand.axes, operand.value.shape)
        lines.append(f"{name}{source}: {what}{note}")
    return [*lines, *options(trace)]


def _step(title: str, step: Step, view: View, told: Iterable[str] = ()) -> list[str]:
    words = to_words(step.formula)
    lines = [title, f"formula: {step.formula}"]
    lines += [f"in words: {words}"] if words != step.formula else []
    lines += [f"shape: {_sizes(step.axes, step.shape)}"] if step.shape else []
    lines += [f"why: {step.why}"] if step.why else []
    lines += told
    lines += [f"{axis}: {', '.join(labels)}" for axis, labels in step.labels.items()]
    lines += [f"worked out: {ending(arithmetic, value)}" for arithmetic, value in in_the_step(step, view.digits)]
    lines += findings(step)
    if step.value is None:
        return [*lines, summary(step)]
    if step.names:
        lines.append(f"stands for: {', '.join(step.names[int(i)] for i in step.value.ravel())}")
    return [*lines, *rows(step.value, view.digits)]


def _sizes(axes: tuple[str, ...], shape: tuple[int, ...]) -> str:
    """`n 2 by m 3`."""
    names = axes or ("",) * len(shape)
    return " by ".join(f"{name} {size}".strip() for name, size in zip(names, shape, strict=True)) or "a single number"
