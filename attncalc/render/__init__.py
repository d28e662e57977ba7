"""How records are shown: which parts of one, and the table of formats, each of which can write every page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

from attncalc.common.errors import NARROWEST, AttncalcError, near, visible
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple, loaded
from attncalc.record.trace import Given, Step, Trace

# Which parts of a trace are shown, and on what kind of page.


Detail = Literal["brief", "normal", "full"]
"""A step shows the arithmetic of short vectors; also of one entry of every other value; or of all entries shown."""
DETAILS: tuple[Detail, ...] = get_args(Detail)


class View(NamedTuple):
    """What the reader asks for, and the limits of the page."""

    digits: int | None = None  # None: up to four in tables and formulas, all of them elsewhere
    show: tuple[str, ...] = ()  # steps or groups to show; empty for all
    get: str | None = None  # one step or output, of which only the value is shown
    quiet: bool = False  # only the result
    cells: tuple[str, ...] = ()  # only the arithmetic of these entries: "scores[0,1]", or "all"
    everything: bool = False  # nothing left out, however large
    depth: int | None = None  # an outline with so many levels of groups
    detail: Detail = "normal"  # of which entries a step shows the arithmetic
    width: int | None = None  # columns of the page; None: as wide as its content
    color: bool = False
    plot: bool = False  # the trace's pictures below the page; in its place if only a value is shown
    standalone: bool = False  # LaTeX as a document by itself
    trace: Trace | None = None  # the trace that is shown, for writers that need more of its entries
    in_python: bool = False  # whether hints name Python methods, not options of the command
    unicode: bool = True  # whether the page may contain √ and ᵀ; ASCII forms otherwise

    @property
    def bare(self) -> bool:
        """Whether only a value is asked for."""
        return self.quiet or self.get is not None

    @property
    def columns(self) -> int | None:
        """The width for which the page is laid out."""
        return None if self.width is None else max(self.width, NARROWEST)

    def spell(self, text: str) -> str:
        """Text in the characters that the page may contain, with control characters made visible."""
        text = visible(text)
        if self.unicode:
            return text
        from attncalc.render.glyphs import to_ascii  # a door: few pages need it

        return to_ascii(text)


def asked_for(trace: Trace, view: View) -> Step:
    """The one step or output whose value `get` or `quiet` asks for."""
    return trace.outputs[0] if view.get is None else trace.find(view.get)


def value_of(step: Step) -> Array:
    """The step's value, if it was kept."""
    if step.value is None:
        raise AttncalcError(f"{step.key} was too large to keep", hint="--all keeps every step")
    return step.value


def shown(trace: Trace, view: View) -> list[tuple[int, Step]]:
    """The steps to show, with their numbers from 1."""
    wanted = _wanted(trace, view)
    return [(number, step) for number, step in enumerate(trace.steps, start=1) if step.key in wanted]


def beside(trace: Trace, view: View) -> list[Step]:
    """The outputs to show that are not among the steps."""
    steps, wanted = {step.key for step in trace.steps}, _wanted(trace, view)
    return [step for step in trace.outputs if step.key not in steps and step.key in wanted]


def operand_steps(trace: Trace) -> dict[str, Step]:
    """Operand's name → the operand as a Step, to be shown like one; axes have their labels in all operands."""
    steps = {name: _as_step(name, operand) for name, operand in trace.inputs.items() if not operand.is_stored}
    known = {axis: words for step in steps.values() for axis, words in step.labels.items()}
    return {name: step._replace(labels=_of_its_size(known, step) | dict(step.labels)) for name, step in steps.items()}


def _of_its_size(labels: Mapping[str, tuple[str, ...]], step: Step) -> dict[str, tuple[str, ...]]:
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
        axes=axes,
        shape=operand.value.shape,
        value=operand.value,
        symbol=operand.symbol or name,
        symbol_latex=operand.symbol_latex,
        labels={axes[position]: labels for position, labels in operand.labels.items()},
    )


def _wanted(trace: Trace, view: View) -> set[str]:
    """The keys of the steps and outputs that `show` names, one by one or by their group."""
    everything = {step.key for step in (*trace.steps, *trace.outputs)}
    is_told_apart = trace.calculation.startswith("grad ")  # in training gradients are among the other steps
    backward = {step.key for step in trace.steps if is_told_apart and step.gradient_of is not None}
    wanted: set[str] = set()
    for name in view.show:
        within = {key for key in everything if key.startswith(f"{name}/")}
        found = within or _fitting(name, everything, trace) or {trace.find(name).key}
        if name.endswith("/*"):  # the forward steps; the gradients are norm1/grad_*
            found = (found - backward) or found
        wanted |= found
    return wanted if view.show else everything


def _fitting(pattern: str, keys: Iterable[str], trace: Trace) -> set[str]:
    """The keys that match a pattern: `*` is one part of a key, a final `/*` everything below, `**` any depth."""
    if "*" not in pattern and '"' not in pattern:
        return set()
    parts = re.findall(r'(?:"[^"]*"|[^/"])+', pattern)
    signs = []
    for place, part in enumerate(parts):
        last = place == len(parts) - 1
        if part == "**":
            signs.append(".+" if last else "(?:.+/)?")
        elif part == "*" and last and place:
            signs.append(".+")
        else:
            words = re.findall(r'"[^"]*"|\*|[^"*]+', part)
            inside = ("[^/]*" if word == "*" else re.escape(word.strip('"')) for word in words)
            signs.append("".join(inside) + "/" * (not last))
    found = {key for key in keys if re.fullmatch("".join(signs), key)}
    if not found and "*" in re.sub('"[^"]*"', "", pattern):
        hint = trace.left_out(pattern) or near(pattern.strip("*/"), keys)
        raise AttncalcError(f"no step fits {visible(pattern, 80)!r}", hint=hint)
    return found


__all__ = ["BINARY", "FORMATS", "NUMBERS", "PAGES", "PICTURES", "SUFFIXES", "TABLE", "View", "pieces", "render"]


class Format(NamedTuple):
    """One row: a format for pages, for the record itself, for its numbers alone, or for the pictures of a page."""

    where: str  # "markdown:write": only the module of the format that is asked for is imported
    suffix: str = ""  # the suffix of its files
    holds: Literal["page", "record", "numbers", "pictures"] = "page"
    binary: bool = False  # whether it is bytes; the others are text that ends in a newline
    made: str = "traces:page_or_outline"  # the function that makes a trace's page for it
    pieces: str = ""  # the function that writes a very long page piece by piece
    opens: bool = False  # whether a map links to the details of its steps


TABLE: dict[str, Format] = {
    "table": Format("terminal:write", ".txt"),
    "plain": Format("plain:write"),
    "json": Format("document:page", ".json", "record"),
    "csv": Format("csv_:page", ".csv", "numbers"),
    "markdown": Format("markdown:write", ".md"),
    "latex": Format("latex:write", ".tex", made="traces:page"),
    "html": Format("html:write", ".html", made="pointing:page", pieces="html:pieces", opens=True),
    "npy": Format("binary:npy", ".npy", "numbers", binary=True),
    "npz": Format("binary:npz", ".npz", "numbers", binary=True),
    "safetensors": Format("binary:safetensors", ".safetensors", "numbers", binary=True),
    "png": Format("pictures:png", ".png", "pictures", binary=True),
    "svg": Format("pictures:svg", ".svg", "pictures"),
}
"""Name → row, in the order in which messages list them."""

PAGES = tuple(name for name, row in TABLE.items() if row.holds == "page")
PICTURES = tuple(name for name, row in TABLE.items() if row.holds == "pictures")
NUMBERS = tuple(name for name, row in TABLE.items() if row.holds == "numbers")
BINARY = tuple(name for name, row in TABLE.items() if row.binary)
FORMATS = tuple(name for name in TABLE if name not in PICTURES)
"""All formats for a trace except pictures."""
SUFFIXES = {row.suffix: name for name, row in TABLE.items() if row.suffix}


def pages_and(*others: str) -> tuple[str, ...]:
    """The formats for pages, and other ones that a maker writes itself."""
    return tuple(name for name in TABLE if name in PAGES or name in others)


def render(trace: Trace, format: str, view: View | None = None) -> str | bytes:
    """The trace in a format of the table: bytes for those in `BINARY`, text for the others."""
    made = pieces(trace, format, view)
    return made if isinstance(made, (str, bytes)) else "".join(made)


def pieces(trace: Trace, format: str, view: View | None = None) -> str | bytes | Iterable[str]:
    """The same; but a page with nothing left out comes in pieces, made while they are written, if the format can."""
    view, row = view or View(), TABLE[format]
    what: Any = trace
    if row.holds not in ("record", "numbers"):
        drawn = view._replace(plot=True, quiet=True, cells=()) if row.holds == "pictures" else view
        what = loaded(f"render.{row.made}")(trace, drawn)
    writer = row.pieces if view.everything and row.pieces else row.where
    content: str | bytes | Iterable[str] = loaded(f"render.{writer}")(what, view)
    return content
