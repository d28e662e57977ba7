"""What of a trace is shown, and on what kind of page."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from attncalc.common.errors import AttncalcError
from attncalc.common.text import NARROWEST, visible
from attncalc.record.trace import Step, Trace

if TYPE_CHECKING:
    from attncalc.common.arrays import Array


class View(NamedTuple):
    """The reader's wishes and the page's limits."""

    digits: int | None = None  # None: up to four in tables and formulas, all of them elsewhere
    show: tuple[str, ...] = ()  # steps or groups to show; none named: all
    get: str | None = None  # one step or output, its value alone
    quiet: bool = False  # the result alone
    cells: tuple[str, ...] = ()  # the arithmetic of these entries alone: "scores[0,1]", or "all"
    everything: bool = False  # nothing left out, however large
    width: int | None = None  # columns of the page; None: as wide as its content
    color: bool = False
    plot: bool = False  # the trace's pictures below the page; in its place where it is quiet
    standalone: bool = False  # LaTeX as a document by itself
    trace: Trace | None = None  # what is shown, for whoever has to ask for an entry of it
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


def _wanted(trace: Trace, view: View) -> set[str]:
    """The keys of the steps and outputs that `show` names, by themselves or by their group."""
    everything = {step.key for step in (*trace.steps, *trace.outputs)}
    wanted: set[str] = set()
    for name in view.show:
        within = {key for key in everything if key.startswith(f"{name}/")}
        wanted |= within or {trace.find(name).key}
    return wanted if view.show else everything
