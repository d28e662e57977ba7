"""What every written page says of a trace: its operands, its options, its findings, and where its result begins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from attncalc.digits import shortest
from attncalc.numbers import format_number, texts
from attncalc.render.view import View, as_read, beside, shown
from attncalc.trace import Given, Notation, Step, Trace

LONGEST_INLINE = 40  # characters of an operand that is repeated in a line


class Item(NamedTuple):
    """A step on its way to a page."""

    number: int | None  # None for an output that is no step
    step: Step
    again: bool = False  # it stands further up with its formula
    about: tuple[str, ...] = ()  # what is explained below it


class Division(NamedTuple):
    """A page's two parts."""

    steps: list[Item]
    result: list[Item]


def divided(trace: Trace, view: View) -> Division:
    """The steps up to the result, and the result with the outputs.

    Where a step that is no output follows the result, all steps stand in the first part, and the result again.
    """
    outputs = {output.key: as_read(output) for output in trace.outputs}
    result = outputs[trace.outputs[0].key]
    told = trace.lesson.steps if trace.lesson else {}
    items = [Item(number, as_read(step), about=told.get(step.key, ())) for number, step in shown(trace, view)]
    others = [Item(None, as_read(step)) for step in beside(trace, view)]
    keys = [item.step.key for item in items]
    if result.key not in keys:
        return Division(items, others)
    first = keys.index(result.key)
    if all(key in outputs for key in keys[first:]):
        return Division(items[:first], [item._replace(step=outputs[item.step.key]) for item in items[first:]] + others)
    return Division(items, [items[first]._replace(step=result, again=True), *others])


def lessons(trace: Trace) -> list[tuple[str, list[str]]]:
    """What is explained below the result: (heading, paragraphs or points), where it was asked for."""
    if trace.lesson is None:
        return []
    about, _, laws, mistakes = trace.lesson
    points = [f"{mistake.id}: {mistake.says}. {mistake.hint}" for mistake in mistakes]
    parts = [("Worth knowing", list(about)), ("What always holds", list(laws)), ("Common mistakes", points)]
    return [(title, lines) for title, lines in parts if lines]


def operand_steps(trace: Trace) -> dict[str, Step]:
    """The operands by their names, each as something that can be shown; an axis has its labels wherever it stands."""
    steps = {name: _as_step(name, operand) for name, operand in trace.inputs.items()}
    known = {axis: words for step in steps.values() for axis, words in step.labels.items()}
    return {name: step._replace(labels=_fitting(known, step) | dict(step.labels)) for name, step in steps.items()}


def _fitting(labels: Mapping[str, tuple[str, ...]], step: Step) -> dict[str, tuple[str, ...]]:
    return {
        axis: labels[axis]
        for axis, size in zip(step.axes, step.shape, strict=True)
        if size == len(labels.get(axis, ()))
    }


def _as_step(name: str, operand: Given) -> Step:
    axes = operand.axes or tuple(map(str, range(operand.value.ndim)))
    return Step(
        name=name,
        group="",
        notation=lambda: Notation(operand.symbol or name, symbol_latex=operand.symbol_latex),
        axes=axes,
        shape=operand.value.shape,
        value=operand.value,
        why="",
        labels={axes[position]: labels for position, labels in operand.labels.items()},
    )


def outcome(step: Step) -> str:
    """`[2×3]`, the shape that comes out; "" for a number, and where the sizes in the formula say no more than that."""
    text = f"[{'×'.join(map(str, step.shape))}]" if step.shape else ""
    return "" if step.sizes == text else text


def sizes(step: Step) -> str:
    """`n=2 × d_k=3`."""
    return " × ".join(
        str(size) if axis.isdigit() else f"{axis}={size}" for axis, size in zip(step.axes, step.shape, strict=True)
    )


def inline(operand: Given) -> str:
    """A small operand as one would type it: `1 0 1; 0 1 1`; "" for a larger one."""
    value = operand.value
    if value.dtype.kind == "U" and not value.ndim:
        return str(value)  # a formula
    if value.size > LONGEST_INLINE or value.ndim > 2:
        return ""
    rows = value.reshape(-1, value.shape[-1] if value.ndim else 1)
    written = texts(rows) if operand.written is None else operand.written.reshape(rows.shape)
    line = "; ".join(" ".join(map(str, row)) for row in written)
    return line if len(line) <= LONGEST_INLINE else ""


def common_file(trace: Trace) -> str:
    """The file that most operands come from, each by its own name; "" where no two come from one file."""
    named = ((operand.source, f"#{name}") for name, operand in trace.inputs.items())
    files = Counter(source.removesuffix(name) for source, name in named if source.endswith(name))
    file, count = max(files.items(), key=lambda item: item[1], default=("", 0))
    return file if count > 1 else ""


def options(trace: Trace) -> list[str]:
    """`causal = true`, `scale = none`: the options that are not as they would be by themselves."""
    usual = trace.problem.calculation.defaults if trace.problem else {}
    return [f"{name} = {_option(value)}" for name, value in trace.options.items() if value != usual.get(name)]


def _option(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(map(_option, value))
    if isinstance(value, dict):
        return ",".join(f"{name}={_option(item)}" for name, item in value.items())
    return value if isinstance(value, str) else shortest(value)


ROUND_OFF = 1e-12  # a drift that is no more than float64's own rounding


def findings(step: Step) -> list[str]:
    """What a check, or rounding at each step, has shown."""
    found = []
    if step.check is not None:
        verdict = "agree" if step.check.agrees else "DISAGREE"
        found.append(f"central differences {verdict}: largest difference {format_number(step.check.max_error)}")
    if step.drift is not None:
        drift = f"largest drift from full precision: {format_number(step.drift)}"
        found.append(drift if step.drift > ROUND_OFF else "no drift so far")
    return found


def summary(step: Step) -> str:
    """What is said in place of a value that was not kept, or that has no entries."""
    if step.value is not None:
        return f"no entries: {'×'.join(map(str, step.shape))}"
    return "too large to keep (--all keeps it)"
