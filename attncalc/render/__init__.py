"""What records look like: what of one is shown, and the one table of formats, each of which writes every page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

from attncalc.common.errors import NARROWEST, AttncalcError, near, visible
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple, loaded
from attncalc.record.trace import Given, Step, Trace

# What of a trace is shown, and on what kind of page.


Detail = Literal["brief", "normal", "full"]
"""Worked out in a step are the entries of short vectors; also one entry of every other value; all that are shown."""
DETAILS: tuple[Detail, ...] = get_args(Detail)


class View(NamedTuple):
    """The reader's wishes and the page's limits."""

    digits: int | None = None  # None: up to four in tables and formulas, all of them elsewhere
    show: tuple[str, ...] = ()  # steps or groups to show; none named: all
    get: str | None = None  # one step or output, its value alone
    quiet: bool = False  # the result alone
    cells: tuple[str, ...] = ()  # the arithmetic of these entries alone: "scores[0,1]", or "all"
    everything: bool = False  # nothing left out, however large
    depth: int | None = None  # an outline of so many levels of groups
    detail: Detail = "normal"  # which entries are worked out in a step
    width: int | None = None  # columns of the page; None: as wide as its content
    color: bool = False
    plot: bool = False  # the trace's pictures below the page; in its place where it is quiet
    standalone: bool = False  # LaTeX as a document by itself
    trace: Trace | None = None  # what is shown, for whoever has to ask for an entry of it
    in_python: bool = False  # whether a program reads the page's advice, which calls methods and has no options
    unicode: bool = True  # whether the page can carry √ and ᵀ; ASCII forms otherwise

    @property
    def bare(self) -> bool:
        """Whether a value alone is asked for."""
        return self.quiet or self.get is not None

    @property
    def columns(self) -> int | None:
        """The page's width, as far as anything is laid out for it."""
        return None if self.width is None else max(self.width, NARROWEST)

    def spell(self, text: str) -> str:
        """Text as the page can carry it; whatever in it would act rather than print is shown."""
        text = visible(text)
        if self.unicode:
            return text
        from attncalc.render.glyphs import to_ascii  # for the few pages that need it

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
    """The operands by their names, each as something that can be shown; an axis has its labels wherever it stands."""
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
    """The keys of the steps and outputs that `show` names, by themselves or by their group."""
    everything = {step.key for step in (*trace.steps, *trace.outputs)}
    is_told_apart = trace.calculation.startswith("grad ")  # training has gradients in the midst of its parts
    backward = {step.key for step in trace.steps if is_told_apart and step.gradient_of is not None}
    wanted: set[str] = set()
    for name in view.show:
        within = {key for key in everything if key.startswith(f"{name}/")}
        found = within or _fitting(name, everything, trace) or {trace.find(name).key}
        if name.endswith("/*"):  # the part itself: what comes back through it is norm1/grad_*
            found = (found - backward) or found
        wanted |= found
    return wanted if view.show else everything


def _fitting(pattern: str, keys: Iterable[str], trace: Trace) -> set[str]:
    """The keys that a pattern fits: `*` is one part of a key, a final `/*` all below, `**` any depth."""
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
    """One row: a format of pages, of the record itself, of its numbers alone, or of the pictures of a page."""

    where: str  # "markdown:write": only the module of the format that is asked for is imported
    suffix: str = ""  # of its files
    holds: Literal["page", "record", "numbers", "pictures"] = "page"
    binary: bool = False  # bytes; the others are text that ends in a newline
    made: str = "traces:page_or_outline"  # what makes a trace's page for it
    pieces: str = ""  # what writes a page that may be very long, piece by piece
    opens: bool = False  # whether a reader can go from a map to what is told of a step


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
"""Name → row, in the order in which they are named to a reader."""

PAGES = tuple(name for name, row in TABLE.items() if row.holds == "page")
PICTURES = tuple(name for name, row in TABLE.items() if row.holds == "pictures")
NUMBERS = tuple(name for name, row in TABLE.items() if row.holds == "numbers")
BINARY = tuple(name for name, row in TABLE.items() if row.binary)
FORMATS = tuple(name for name in TABLE if name not in PICTURES)
"""What a trace is shown in, but for pictures."""
SUFFIXES = {row.suffix: name for name, row in TABLE.items() if row.suffix}


def pages_and(*others: str) -> tuple[str, ...]:
    """The formats of a page, and those that its maker writes by itself."""
    return tuple(name for name in TABLE if name in PAGES or name in others)


def render(trace: Trace, format: str, view: View | None = None) -> str | bytes:
    """The trace in a format of the table: bytes for those in `BINARY`, text for the others."""
    made = pieces(trace, format, view)
    return made if isinstance(made, (str, bytes)) else "".join(made)


def pieces(trace: Trace, format: str, view: View | None = None) -> str | bytes | Iterable[str]:
    """The same; a page of which nothing is left out piece by piece, made as they are asked for, where it can be so."""
    view, row = view or View(), TABLE[format]
    what: Any = trace
    if row.holds not in ("record", "numbers"):
        drawn = view._replace(plot=True, quiet=True, cells=()) if row.holds == "pictures" else view
        what = loaded(f"render.{row.made}")(trace, drawn)
    writer = row.pieces if view.everything and row.pieces else row.where
    content: str | bytes | Iterable[str] = loaded(f"render.{writer}")(what, view)
    return content
