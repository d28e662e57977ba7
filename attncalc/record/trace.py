"""Step and Trace: the frozen record of a computation that every renderer reads.

A renderer never computes: whatever a page, a table or a document shows is in here, or is asked of solve/solver.py,
which reads the same graph that gave the value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeAlias

from attncalc.common.errors import AttncalcError, listed, near
from attncalc.common.numerals import Answers, Array, Numbers
from attncalc.common.system import NamedTuple

# The one door that leads up from the records: the functions behind their methods, by name.


def api(name: str) -> Callable[..., Any]:
    """A function of the table in attncalc/api, loaded when it is asked for, since that room imports this one."""
    from attncalc.api import method

    return method(name)


# What a teacher would say about a calculation, as records: a lesson, and the mistakes that it warns of.


class Pitfall(NamedTuple):
    """A way in which a calculation is often done wrong."""

    id: str  # "att-no-scale"
    says: str  # the wrong rule as one would write it down: "softmax(Q·Kᵀ)·V"
    hint: str  # a question that leads back to the right rule
    at: tuple[str, ...]  # the steps, or operands, that it changes; () for a wrong option


class Lesson(NamedTuple):
    """What a teacher would say about a calculation, for those who ask."""

    about: tuple[str, ...]  # the formula, shapes and conventions, a paragraph each
    steps: Mapping[str, tuple[str, ...]]  # a step's key → what is said below it; about each primitive only once
    laws: tuple[str, ...]  # what always holds
    mistakes: tuple[Pitfall, ...]  # the commonest first


if TYPE_CHECKING:  # types in the methods of a record, which few calls need
    from fractions import Fraction

    from rich.console import Console, ConsoleOptions, RenderResult

    from attncalc.record.documents import Document, RemarkDocument
    from attncalc.record.pictures import Picture
    from attncalc.record.verdicts import Marked

    Labels = Mapping[str, tuple[str, ...]]
    Setting: TypeAlias = "bool | float | Fraction | str | tuple[Setting, ...] | Mapping[str, Setting] | None"
    """What an option may be: a switch, a number, a word, several of these, or numbers by name."""


def alike(left: Any, right: Any) -> bool:
    """Whether two records are equal: arrays by dtype and entries, with NaN equal to NaN.

    A tuple's own `==` would fail on arrays, whose `==` is an array.
    """
    if left is right:
        return True
    if hasattr(left, "flat") or hasattr(right, "flat"):
        return hasattr(left, "flat") and hasattr(right, "flat") and _arrays_alike(left, right)
    if isinstance(left, tuple) or isinstance(right, tuple):
        return type(left) is type(right) and len(left) == len(right) and all(map(alike, left, right))
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(alike(value, right[key]) for key, value in left.items())
    return bool(left == right) or (left != left and right != right)  # noqa: PLR0124  (only NaN differs from itself)


def _arrays_alike(left: Array, right: Array) -> bool:
    if left.dtype != right.dtype or left.shape != right.shape:
        return False
    if left.dtype.kind == "O":
        return all(map(alike, left.flat, right.flat))
    return bool(((left == right) | ((left != left) & (right != right))).all())  # noqa: PLR0124  (as above)


class Stored(tuple[Any, ...]):
    """The shape and the entries of an array of exact numbers as pickled, since SymPy would evaluate them again."""

    __slots__ = ()


def surds() -> ModuleType:
    """The module that writes and stores exact numbers: a door to SymPy, which loads slowly."""
    from attncalc.record import surds as found

    return found


def stored(field: Any) -> Any:
    """A field of a record in the form that is pickled."""
    if not hasattr(field, "flat") or field.dtype.kind != "O":
        return field
    return Stored((field.shape, tuple(map(surds().taken_apart, field.flat))))


def restored(kind: Callable[..., Any], fields: Iterable[Any]) -> Any:
    """The record of this kind from its pickled fields."""
    return kind(*map(_restored, fields))


def _restored(field: Any) -> Any:
    if not isinstance(field, Stored):
        return field
    return surds().array_of(*field)


class Entry(NamedTuple):
    """A number in a line of arithmetic, kept apart from the text so that a renderer can format it."""

    value: Any
    brackets: bool  # a negative number here needs brackets: 2×(−1)


Arithmetic = tuple["str | Entry", ...]
"""The arithmetic of one entry with numbers in place: `(Entry(1), "×", Entry(0), " + ", …)`."""


class Origin(NamedTuple):
    """A block of entries of a step or an operand from which another entry was made."""

    of: str  # the step's key, or the operand's name
    operand: bool
    ranges: Mapping[str, range]  # axis → the places along it


class _Nothing(dict[Any, Any]):
    """An empty mapping that stays empty, as a default. It is pickled by its name."""

    def __setitem__(self, key: object, value: object) -> NoReturn:
        raise TypeError("nothing can be set in a default")

    def __reduce__(self) -> str:
        return "NOTHING"


NOTHING: Mapping[Any, Any] = _Nothing()

MOST_NAMED = 3  # an error lists so many steps of one name

LETTERS = "letters"
"""The source of an operand that has no numbers."""
ONES = "ones (the loss is the sum of the result)"
"""The source of an upstream gradient that was not given."""


class Remark(NamedTuple):
    """Something the reader should know about how an operand was read."""

    kind: str  # "digits" that are lost, "labels", "keys", "decimal", "letters", "shape", "transposed", TAKEN or WORDS
    text: str


TAKEN = "default"
"""The kind of a remark on a default taken for an operand; pages show it among the notes of the trace."""


WORDS = "words"
"""The kind of a remark that lists the words that ids stand for."""


CHECKPOINT = "checkpoint"
"""The kind of a remark on an operand that stays in a checkpoint: a document holds only its file's name."""


class Given(NamedTuple):
    """An operand as it was given."""

    value: Array
    source: str = ""  # as shown to the reader: "q.json", "q.json#k", "standard input", "" for a Python value
    labels: Mapping[int, tuple[str, ...]] = NOTHING  # axis position from 0 → labels
    written: Array | None = None  # the entries' text as it was written ("0.360"), same shape; None when unknown
    axes: tuple[str, ...] = ()  # names, once the calculation has bound them
    symbol: str = ""  # its name in formulas, once it is bound: "W_Q"
    symbol_latex: str = ""
    remarks: tuple[Remark, ...] = ()  # on how it was read
    files: Callable[[], dict[str, dict[str, int | str]]] | None = None  # of a checkpoint: their sizes and SHA-256

    @property
    def note(self) -> str:
        """The remarks on how it was read, as one text: "first column read as row labels"."""
        return "; ".join(remark.text for remark in self.remarks if remark.kind != TAKEN)

    @property
    def is_stored(self) -> bool:
        """Whether it is one of the many arrays of a checkpoint, which pages do not repeat."""
        return any(remark.kind == CHECKPOINT for remark in self.remarks)

    def noted(self, kind: str, text: str) -> Given:
        """The operand with one more remark, unless the text is empty."""
        return self._replace(remarks=(*self.remarks, Remark(kind, text))) if text else self

    def __eq__(self, other: object) -> bool:
        return alike(self, other)

    def __ne__(self, other: object) -> bool:
        return not alike(self, other)

    def __hash__(self) -> int:
        return hash((self.source, self.value.shape))

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, (Given, tuple(map(stored, self)))


def remarked(inputs: Mapping[str, Given]) -> list[RemarkDocument]:
    """The remarks on all operands, as documents hold them."""
    return [
        {"kind": remark.kind, "operand": name, "text": remark.text}
        for name, operand in inputs.items()
        for remark in operand.remarks
        if remark.kind not in (WORDS, CHECKPOINT)
    ]


ALOUD = ("digits", "decimal", "labels", "letters")
"""The kinds of remarks that are reported; others, such as a vector read as a row, only pages and JSON show."""


def aloud(remarks: Iterable[RemarkDocument]) -> Iterator[str]:
    """The remarks to report: operands that may have been read in another way than they were meant."""
    return (f"{remark['operand']}: {remark['text']}" for remark in remarks if remark["kind"] in ALOUD)


FACTS = "fact"
"""The name of the last axis of a table of facts, with one row for each item: programs get it as a list of objects."""


class Check(NamedTuple):
    """Central differences beside a gradient."""

    numeric: Array
    max_error: float
    agrees: bool
    kinks: int = 0  # at how many entries the slopes on both sides differ, with the gradient between them

    def __eq__(self, other: object) -> bool:
        return alike(self, other)

    def __ne__(self, other: object) -> bool:
        return not alike(self, other)

    def __hash__(self) -> int:
        return hash((self.max_error, self.agrees))


class Step(NamedTuple):
    """One named intermediate value, with its formula and its reason.

    What is worked out later, the arithmetic of an entry and what it was made from, is in attncalc/solve/solver.py.
    """

    name: str  # "scores", "grad_scores": unique within its group
    group: str  # "" at the top; "encoder 1/self-attention" nested by "/"
    axes: tuple[str, ...]  # ("n", "m"); () for a scalar
    shape: tuple[int, ...]
    value: Array | None  # None if it was too large to keep
    symbol: str  # its name in other formulas: "scores", "∂L/∂scores"
    symbol_latex: str = ""
    formula: str = ""  # "Q·Kᵀ"; an operand that is shown like a step has none
    sizes: str = ""  # the formula with sizes in place: "[2×3]·[3×2]", "[2×2] / √3"; "" if that says nothing new
    latex: str = ""  # the formula
    about: tuple[str, ...] = ()  # what a teacher would add: on the step itself, then on the primitives in its formula
    why: str = ""
    labels: Labels = NOTHING  # axis name → its labels, for the axes that have them
    names: tuple[str, ...] = ()  # what integer entries stand for (labels of the axis they point into)
    gradient_of: str | None = None  # "scores" for grad_scores, so that no name needs to be parsed
    check: Check | None = None
    drift: float | None = None  # under rounding at each step: largest distance from the full-precision value

    def __eq__(self, other: object) -> bool:
        return alike(self, other)

    def __ne__(self, other: object) -> bool:
        return not alike(self, other)

    def __hash__(self) -> int:
        return hash((self.name, self.group, self.shape))

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, (Step, tuple(map(stored, self)))

    def __repr__(self) -> str:
        sizes = " × ".join(f"{name}={size}" for name, size in zip(self.axes, self.shape, strict=False))
        return f"<{self.key} = {self.formula}{f': {sizes}' if sizes else ''}>"

    @property
    def key(self) -> str:
        """The name by which the step is asked for: `GROUP/NAME`, or the bare name at the top."""
        return f"{self.group}/{self.name}" if self.group else self.name

    def as_ids(self, words: tuple[str, ...] = ()) -> Step:
        """The step with its entries as whole numbers, and the words that these stand for, where there are any."""
        value = self.value
        if value is not None and (value.dtype.kind == "f" or all(getattr(x, "is_Integer", False) for x in value.flat)):
            value = value.astype("int64")
        return self._replace(value=value, names=words or self.names)

    @property
    def can_be_shown(self) -> bool:
        """Whether there are entries, kept or not, to show."""
        return 0 not in self.shape


class Mode(NamedTuple):
    """How a problem was carried out."""

    dtype: str = "float64"  # EXACT: fractions, roots and letters
    accumulate: str = "float32"  # the type in which a run in a narrow type adds up; "same" for that type itself
    round_to: int | None = None  # decimals, at each step
    expand: bool = False  # with the definition of each primitive as sub-steps
    keep_all: bool = False  # every turn of a loop, every step of a large run
    asked: str | None = None  # the only step that is kept of a large run, "" for the result


EXACT = "object"
USUAL = Mode()


class Posed(Protocol):
    """What a record knows of its problem; the class itself is in solve/problem.py."""

    @property
    def name(self) -> str:
        """`attention`, `grad attention`."""

    @property
    def inputs(self) -> Mapping[str, Given]:
        """The operands as they were given."""

    @property
    def options(self) -> Mapping[str, Setting]:
        """The options that were given; the others have their defaults."""


class Gap(NamedTuple):
    """The turns of a loop, between the first and the last ones, that were not kept."""

    turn: str  # "iteration"
    first: int
    last: int

    @property
    def said(self) -> str:
        """`iterations 6 to 94 are left out`."""
        if self.first == self.last:
            return f"{self.turn} {self.first} is left out"
        return f"{self.turn}s {self.first} to {self.last} are left out"


class _ByHand(NamedTuple):
    """The problem of a trace that was put together by hand, not computed."""

    name: str = ""
    inputs: Mapping[str, Given] = NOTHING
    options: Mapping[str, Setting] = NOTHING


_MADE_BY_HAND = _ByHand()


_FIELDS = (
    *("calculation", "summary", "inputs", "options", "steps", "outputs", "notes", "warnings"),
    *("problem", "mode", "lesson", "pictures"),
)


class Trace:
    """A calculation that has been carried out: operands, options, every step, and the result.

    `t.result` is the first output, `t["weights"]` a step or an output by its name (`t["group/name"]` where
    several parts have a step of that name). It is data: frozen, equal by its values, and it can be pickled.
    """

    __slots__ = (*_FIELDS, "behind")

    calculation: str  # "attention", "grad attention"
    summary: str  # the calculation's one line
    inputs: Mapping[str, Given]
    options: Mapping[str, Setting]  # all of them, defaults included
    steps: tuple[Step, ...]  # in the order in which they are shown
    outputs: tuple[Step, ...]  # the first is the result; an output need not be one of the steps
    notes: tuple[str, ...]  # conventions chosen, how operands were read
    warnings: tuple[str, ...]
    problem: Posed  # what was computed, to compute it again in another way
    mode: Mode  # how it was computed
    lesson: Lesson | None  # explanations, if they were asked for
    pictures: tuple[Picture, ...]  # pictures, if they were asked for
    behind: object  # data of solve/solver.py, which is not a part of the record: neither compared nor pickled

    def __init__(
        self,
        calculation: str,
        summary: str,
        inputs: Mapping[str, Given],
        options: Mapping[str, Setting],
        steps: tuple[Step, ...],
        outputs: tuple[Step, ...],
        notes: tuple[str, ...] = (),
        warnings: tuple[str, ...] = (),
        problem: Posed = _MADE_BY_HAND,
        mode: Mode = USUAL,
        lesson: Lesson | None = None,
        pictures: tuple[Picture, ...] = (),
        behind: object = None,
    ) -> None:
        given = (calculation, summary, inputs, options, steps, outputs, notes, warnings, problem, mode, lesson)
        for name, value in zip(self.__slots__, (*given, pictures, behind), strict=True):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a trace is frozen: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a trace is frozen: {name} cannot be deleted")

    if not TYPE_CHECKING:  # otherwise a type checker would accept any attribute

        def __getattr__(self, name: str) -> NoReturn:
            """Raise AttributeError with what was likely meant: a step of that name, or a similar attribute."""
            mend = ""
            if name[:1] != "_" and name not in self.__slots__:
                keys = {step.name.replace("-", "_"): step.key for step in (*self.steps, *self.outputs)}
                near_by = near(name, [each for each in dir(self) if each[:1] != "_"])
                mend = f't["{keys[name]}"] is the step' if name in keys else near_by
            raise AttributeError(f"a trace has no attribute {name!r}{mend and ': '}{mend}", name=name, obj=self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trace) and alike(self._values(), other._values())

    def __hash__(self) -> int:
        return hash((self.calculation, *self.steps))

    def __reduce__(self) -> tuple[type[Trace], tuple[Any, ...]]:
        return Trace, self._values()

    def __repr__(self) -> str:
        return f"<{self.calculation}: {', '.join(self)}>"

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in _FIELDS)

    def _replace(self, **fields: Any) -> Trace:
        """The same trace with some fields replaced, as for named tuples."""
        return Trace(**{name: getattr(self, name) for name in self.__slots__} | fields)

    def with_ids(self, names: Iterable[str], words: tuple[str, ...] = ()) -> Trace:
        """The trace in which the steps and outputs of these names are ids of words."""
        told = [[s.as_ids(words) if s.name in names else s for s in part] for part in (self.steps, self.outputs)]
        return self._replace(steps=tuple(told[0]), outputs=tuple(told[1]))

    @property
    def result(self) -> Array:
        """The first output's value."""
        value = self.outputs[0].value
        assert value is not None, "outputs are always kept"
        return value

    @property
    def gaps(self) -> dict[str, Gap]:
        """The part before a gap → the turns that are left out behind it."""
        names = dict.fromkeys(step.group.split("/")[0] for step in self.steps)
        turns = [(name, *name.rpartition(" ")) for name in names]
        found = {}
        for (name, word, _, number), (_, other, _, later) in pairwise(turns):
            if word and word == other and number.isdecimal() and later.isdecimal() and int(later) - int(number) > 1:
                found[name] = Gap(word, int(number) + 1, int(later) - 1)
        return found

    def left_out(self, name: str) -> str | None:
        """What tells of a step that it is in a gap; nothing where it is not."""
        word, _, number = str(name).partition("/")[0].rpartition(" ")
        for gap in self.gaps.values():
            if word == gap.turn and number.isdecimal() and gap.first <= int(number) <= gap.last:
                return f"{gap.said}; --all (in Python keep_all=True) keeps every one"
        return None

    def find(self, name: str) -> Step:
        """The step or output called `name` (`GROUP/NAME`, or a bare name that only one group has), or the `result`."""
        known = list({s.key: s for s in (*self.steps, *self.outputs)}.values())
        found = [s for s in known if s.key == name] or [s for s in known if s.name == name]
        if len(found) == 1:
            return found[0]
        if not found and name == "result":
            return self.outputs[0]
        if found:
            few = ", ".join(s.key for s in found[:MOST_NAMED]) + (" …" if len(found) > MOST_NAMED else "")
            mend = f"one of them by its whole name; all {len(found)} by --show '**/{name}'"
            raise AttncalcError(f"{name} occurs in several groups: {few}", hint=mend)
        keys = [s.key for s in known]
        if str(name).endswith("]") and (base := name.partition("[")[0]) in self:
            mend = f"--cell '{name}' is its arithmetic, --get {base} the whole"
            mend += f' (in Python t.cell("{name}") and t["{base}"])'
            raise AttncalcError(f"{self.calculation} has no step called {name!r}, which is an entry", hint=mend)
        raise AttncalcError(
            f"{self.calculation} has no step or output called {name!r}",
            hint=self.left_out(name) or near(name, keys) or f"it has {listed(keys, 12)}",
        )

    def __getitem__(self, name: str) -> Array:
        return self.entries(self.find(name))

    def entries(self, step: Step, places: Sequence[Sequence[int]] | None = None) -> Array:
        """A step's value, or its entries at some places along each axis; what was too large to keep is worked out."""
        if step.value is not None and places is None:
            return step.value
        found: Array = api("entries")(self, step, places)
        return found

    def __contains__(self, name: object) -> bool:
        return any(name in (s.key, s.name) for s in (*self.steps, *self.outputs))

    def __iter__(self) -> Iterator[str]:
        return (s.key for s in self.steps)

    def grad(self, upstream: Numbers | None = None, *, wrt: str | Iterable[str] = (), gradcheck: bool = False) -> Trace:
        """The backward pass: the gradient of the loss with respect to every operand, step by step.

        `upstream` is the gradient of the loss with respect to the result (ones where it is not given: the loss is the
        sum), `wrt` names the operands that are wanted, `gradcheck` puts central differences beside each gradient.
        """
        trace: Trace = api("grad")(self, upstream, wrt, gradcheck=gradcheck)
        return trace

    def check(
        self,
        answer: Answers,
        *,
        reveal: bool = False,
        rtol: float | None = None,
        atol: float | None = None,
        dtype: str | None = None,
        hints: str | None = None,
    ) -> Marked:
        """An answer, marked, with the mistake behind what is wrong: the result, steps with their values, or a sheet.

        What comes back is true if the answer counts as right. How many digits an answer has says how exact it must be,
        if no `rtol` or `atol` is given; `dtype` says in which type a machine has stored it.
        `hints` say how much documents and pages of it tell: where it is wrong (none), also a question, also the
        mistake (rule); if nobody says so, all of arrays, and of what a hand has written a question.
        """
        exactness = {"rtol": rtol, "atol": atol, "dtype": dtype}
        marked: Marked = api("check")(self.problem, answer, reveal=reveal, hints=hints, **exactness)
        return marked

    def cell(self, *entries: str) -> str:
        """The arithmetic of entries, by labels or indices from 0: `t.cell("output[0,1]", "weights[1,0]")`, a line each.

        `"all"` is every entry of the steps that a page shows.
        """
        return str(api("cell")(self, entries))

    def to_dict(self) -> Document:
        """The JSON document as a dictionary: problem, steps, outputs and result."""
        document: Document = api("to_dict")(self)
        return document

    def to_latex(self, *, standalone: bool = False) -> str:
        """The steps and the result as LaTeX to put into a document, or as a document by itself; amsmath is needed."""
        return str(api("page")(self, "latex", standalone=standalone))

    def to_html(self, *, standalone: bool = False) -> str:
        """The page in HTML to put into another, or as a file by itself, with what it shows where it is pointed at."""
        return str(api("to_html")(self, standalone=standalone))

    def to_markdown(self) -> str:
        """The page in Markdown, with formulas between dollars."""
        return str(api("page")(self, "markdown"))

    def plot(self, path: str | Path | None = None, *, width: int | None = None) -> str:
        """The result's pictures, drawn with characters; with a path of a PNG or SVG file they are drawn there instead.

        Files are Matplotlib's, which `pip install 'attncalc[plot]'` brings; what comes back then is the path.
        """
        return str(api("plot")(self, path, width))

    def __str__(self) -> str:
        return str(api("page")(self, "plain"))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield api("rich")(self)

    def _repr_html_(self) -> str:
        return self.to_html()

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def _repr_latex_(self) -> str:
        return str(api("latex")(self))
