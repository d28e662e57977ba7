"""Step and Trace: the frozen record of a computation that every renderer reads.

A renderer never computes: whatever a page, a table or a document shows is in here, or is asked of a step's
`arithmetic`, which reads the same graph that gave the value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from attncalc.arrays import Array
from attncalc.errors import AttncalcError
from attncalc.text import near

if TYPE_CHECKING:
    from pathlib import Path

    from attncalc.card import Lesson
    from attncalc.homework.verdicts import Marked
    from attncalc.pictures import Picture

    Labels = Mapping[str, tuple[str, ...]]


class Entry(NamedTuple):
    """A number inside an arithmetic line, told from the text around it so that a renderer can format it."""

    value: Any
    brackets: bool  # a negative number here needs brackets: 2×(−1)


Arithmetic = tuple["str | Entry", ...]
"""One entry worked out with its numbers in place: `(Entry(1), "×", Entry(0), " + ", …)`; its value is the entry's."""


class Origin(NamedTuple):
    """A block of entries that another entry was made from: of a step, or of an operand."""

    of: str  # the step's key, or the operand's name
    operand: bool
    ranges: Mapping[str, range]  # axis → the places along it


NOTHING: Mapping[Any, Any] = MappingProxyType({})

LETTERS = "letters"
"""The source of an operand that has no numbers."""


class Given(NamedTuple):
    """An operand as it was given."""

    value: Array
    source: str = ""  # as said back to the reader: "q.json", "q.json#k", "standard input", "" for a Python value
    labels: Mapping[int, tuple[str, ...]] = NOTHING  # axis position from 0 → labels
    written: Array | None = None  # the entries' text as it was written ("0.360"), same shape; None when unknown
    axes: tuple[str, ...] = ()  # names, once the calculation has bound them
    symbol: str = ""  # how formulas speak of it, once it is bound: "W_Q"
    symbol_latex: str = ""
    note: str = ""  # what the reader should know of how it was read: "first column read as labels"


class Check(NamedTuple):
    """Central differences beside a gradient."""

    numeric: Array
    max_error: float
    agrees: bool


class Notation(NamedTuple):
    """How a step is written."""

    symbol: str  # how other formulas speak of it: "scores", "∂L/∂scores"
    formula: str = ""  # "Q·Kᵀ"
    sizes: str = ""  # the formula with sizes in place: "[2×3]·[3×2]", "[2×2] / √3"; "" where that says nothing
    latex: str = ""  # the formula
    symbol_latex: str = ""
    about: tuple[str, ...] = ()  # what a teacher would add: of the step itself, then of the primitives in its formula


class Step(NamedTuple):
    """One named intermediate value, with its formula, its reason and the way to its arithmetic."""

    name: str  # "scores", "grad_scores": unique within its group
    group: str  # "" at the top; "encoder 1/self-attention" nested by "/"
    notation: Callable[[], Notation]  # asked for by those who show it: marking a hundred sheets shows none
    axes: tuple[str, ...]  # ("n", "m"); () for a scalar
    shape: tuple[int, ...]
    value: Array | None  # None where it was not kept: `entries` works it out
    why: str
    labels: Labels = NOTHING  # axis name → its labels, for the axes that have them
    names: tuple[str, ...] = ()  # what integer entries stand for (labels of the axis they point into)
    gradient_of: str | None = None  # "scores" for grad_scores: data, not spelling
    check: Check | None = None
    drift: float | None = None  # under rounding at each step: largest distance from the full-precision value
    arithmetic: Callable[[tuple[int, ...]], Arithmetic] | None = None
    origins: Callable[[tuple[int, ...]], tuple[Origin, ...]] | None = None
    """What an entry was made from, for the pages that can point at it; not worked out before it is asked for."""
    left_over: Callable[[], Array | None] | None = None
    """Where entries are what rounding left of terms that cancel (1.1e-16 for 0): a page shows 0 there."""
    entries: Callable[[Sequence[Sequence[int]] | None], Array] | None = None
    """Of a value that was not kept: its entries at some places along each axis; None asks for all of it."""

    def __eq__(self, other: object) -> bool:  # arrays have no single truth: a step is itself alone
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        sizes = " × ".join(f"{name}={size}" for name, size in zip(self.axes, self.shape, strict=False))
        return f"<{self.key} = {self.formula}{f': {sizes}' if sizes else ''}>"

    @property
    def can_be_shown(self) -> bool:
        """Whether there are entries, kept or not, to show."""
        return 0 not in self.shape and (self.value is not None or self.entries is not None)

    @property
    def symbol(self) -> str:
        """How other formulas speak of it: `scores`, `∂L/∂scores`."""
        return self.notation().symbol

    @property
    def symbol_latex(self) -> str:
        """The symbol as LaTeX."""
        return self.notation().symbol_latex

    @property
    def formula(self) -> str:
        """`Q·Kᵀ`."""
        return self.notation().formula

    @property
    def sizes(self) -> str:
        """The formula with sizes in place, `[2×3]·[3×2]`; "" where that says nothing."""
        return self.notation().sizes

    @property
    def latex(self) -> str:
        """The formula as LaTeX."""
        return self.notation().latex

    @property
    def key(self) -> str:
        """The name by which the step is asked for: `GROUP/NAME`, or the bare name at the top."""
        return f"{self.group}/{self.name}" if self.group else self.name


class Trace:
    """A calculation that has been carried out: operands, options, every step, and the result.

    `t.result` is the first output, `t["weights"]` a step or an output by its name (`t["group/name"]` where
    several parts have a step of that name).
    """

    def __init__(
        self,
        calculation: str,
        summary: str,
        inputs: Mapping[str, Given],
        options: Mapping[str, Any],
        steps: tuple[Step, ...],
        outputs: tuple[Step, ...],
        notes: tuple[str, ...] = (),
        warnings: tuple[str, ...] = (),
        problem: Any = None,
        lesson: Lesson | None = None,
        pictures: tuple[Picture, ...] = (),
    ) -> None:
        self.calculation = calculation  # "attention", "grad attention"
        self.summary = summary  # the calculation's one line
        self.inputs = inputs
        self.options = options  # all of them, defaults included
        self.steps = steps  # in the order in which they are shown
        self.outputs = outputs  # the first is the result; an output need not be one of the steps
        self.notes = notes  # conventions chosen, how operands were read
        self.warnings = warnings
        self.problem = problem  # what was computed, for computing it again another way
        self.lesson = lesson  # what is explained beside it, where that was asked for
        self.pictures = pictures  # what is drawn of it, where that was asked for

    def __repr__(self) -> str:
        return f"<{self.calculation}: {', '.join(self)}>"

    def _replace(self, **fields: Any) -> Trace:
        """The same trace with other fields, as named tuples do it."""
        return Trace(**vars(self) | fields)

    @property
    def result(self) -> Array:
        """The first output's value."""
        value = self.outputs[0].value
        assert value is not None, "outputs are always kept"
        return value

    def find(self, name: str) -> Step:
        """The step or output called `name` (`GROUP/NAME`, or a bare name that only one group has), or the `result`."""
        known = list({s.key: s for s in (*self.steps, *self.outputs)}.values())
        found = [s for s in known if s.key == name] or [s for s in known if s.name == name]
        if len(found) == 1:
            return found[0]
        if not found and name == "result":
            return self.outputs[0]
        if found:
            raise AttncalcError(f"{name} occurs in several groups: {', '.join(s.key for s in found)}")
        keys = [s.key for s in known]
        raise AttncalcError(
            f"{self.calculation} has no step or output called {name!r}",
            hint=near(name, keys) or f"it has {', '.join(keys)}",
        )

    def __getitem__(self, name: str) -> Array:
        step = self.find(name)
        if step.value is not None:
            return step.value
        if step.entries is None:
            raise AttncalcError(f"{name} was too large to keep")
        return step.entries(None)

    def __contains__(self, name: object) -> bool:
        return any(name in (s.key, s.name) for s in (*self.steps, *self.outputs))

    def __iter__(self) -> Iterator[str]:
        return (s.key for s in self.steps)

    def grad(self, upstream: Any = None, *, wrt: str | Iterable[str] = (), gradcheck: bool = False) -> Trace:
        """The backward pass: the gradient of the loss with respect to every operand, step by step.

        `upstream` is the gradient of the loss with respect to the result (ones where it is not given: the loss is the
        sum), `wrt` names the operands that are wanted, `gradcheck` puts central differences beside each gradient.
        """
        from attncalc.library import backward  # a record is made by what it calls here, so not at the top

        names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
        return backward(self.problem, upstream, names, gradcheck=gradcheck, like=self.result)

    def check(self, answer: Any, *, reveal: bool = False) -> Marked:
        """An answer, marked, with the mistake behind what is wrong: the result, steps with their values, or a sheet.

        What comes back is true if the answer counts as right. How many digits an answer has says how exact it must be.
        """
        from attncalc.homework import check_answer

        return check_answer(self.problem, answer, reveal=reveal)

    def to_dict(self) -> dict[str, Any]:
        """The JSON document as a dictionary: problem, steps, outputs and result."""
        from attncalc.render.document import document

        return document(self)

    def to_latex(self, *, standalone: bool = False) -> str:
        """The steps and the result as LaTeX to put into a document, or as a document by itself; amsmath is needed."""
        from attncalc.render import View, latex

        return latex.page(self, View(standalone=standalone))

    def plot(self, path: str | Path | None = None, *, width: int | None = None) -> str:
        """The result's pictures, drawn with characters; with a path of a PNG or SVG file they are drawn there instead.

        Files are Matplotlib's, which `pip install 'attncalc[plot]'` brings; what comes back then is the path.
        """
        from attncalc.pictures.illustration import plotted

        return plotted(self, path, width)

    def __str__(self) -> str:
        from attncalc.render import View, plain

        return plain.page(self, View())

    def _repr_html_(self) -> str:
        from attncalc.render import notebook

        return notebook.html(self)

    def _repr_markdown_(self) -> str:
        from attncalc.render import notebook

        return notebook.markdown(self)

    def _repr_latex_(self) -> str:
        from attncalc.render import notebook

        return notebook.latex(self)
