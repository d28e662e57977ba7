"""The result of marking a sheet: a verdict for each step, and the marks that it earns by a policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING

from attncalc.common.errors import OptionError, either, near, quoted, visible
from attncalc.common.numerals import HINTS, QUESTION, RULE
from attncalc.common.system import NamedTuple, loaded

if TYPE_CHECKING:  # types of documents, which marking does not need
    from attncalc.record.documents import Json, MarkedDocument, MarkedStepDocument, PolicyDocument, RemarkDocument

RIGHT, TO_ROUNDING, EARLY = "right", "right-to-rounding", "rounded-early"
FOLLOWS, MISTAKE, SLIP, UNEXPLAINED, MISSING = "follows", "mistake", "slip", "unexplained", "missing"
SOUND = (RIGHT, TO_ROUNDING, EARLY)
"""The verdicts that count as right, the best first."""
WRONG = "wrong"
VERDICTS = (*SOUND, FOLLOWS, SLIP, MISTAKE, UNEXPLAINED, MISSING)
MARK_DECIMALS = 6
"""Sums of marks are rounded to so many decimals: points may be divided among steps."""
MOST_MAPPED = 16
"""A map of wrong entries has at most so many rows and columns."""


class Wrong(NamedTuple):
    """The wrong entries of an answer: the first of them, how many there are, and where they lie along each axis."""

    cells: tuple[tuple[int, ...], ...] = ()
    number: int = 0
    within: tuple[range, ...] = ()  # for each axis the places from the first to the last

    @property
    def all_named(self) -> bool:
        """Whether `cells` holds all wrong entries."""
        return len(self.cells) == self.number


NOTHING_WRONG = Wrong()


MARKS = {"1+1": (1.0, 1.0), "0+1": (0.0, 1.0)}
"""The marks of a step for its method and for its numbers."""
CELLS = ("all", "each")
FOLLOWING = ("method", "full", "none")


@dataclass(frozen=True)
class Policy:
    """What answers earn, and how exact they must be; by itself, what attncalc does where nobody says otherwise.

    `marks` are those for method and accuracy of a step. By `cells`, a wrong or blank entry costs the accuracy of its
    step (all), or its share of it (each). `follow` is what a step earns that follows from an own wrong value; `points`
    multiply the marks of steps. An answer may be off by `atol` and `rtol` of the right value; with neither its own
    digits decide. `attempts` (0: any number) and `hint_cost`, a share of a step, are for practice.
    """

    marks: str = "1+1"
    cells: str = "all"
    follow: str = "method"
    points: Mapping[str, float] = field(default_factory=dict)
    rtol: float | None = None
    atol: float | None = None
    attempts: int = 0
    hint_cost: float = 0.0

    def __post_init__(self) -> None:
        for name, choices in (("marks", MARKS), ("cells", CELLS), ("follow", FOLLOWING)):
            value: object = getattr(self, name)
            if not isinstance(value, str) or value not in choices:
                said = quoted(value) if isinstance(value, str) else visible(repr(value), 80)
                mend = near(value, choices) if isinstance(value, str) else ""
                raise OptionError(f"{name} must be {either(choices)}, not {said}", hint=mend)
        sizes: dict[str, object] = {name: getattr(self, name) for name in ("rtol", "atol", "attempts", "hint_cost")}
        for name, size in {**sizes, **{f"points of {step}": size for step, size in self.points.items()}}.items():
            if size is None and name in ("rtol", "atol"):
                continue
            if isinstance(size, bool) or not isinstance(size, int | float) or not 0 <= size < inf:
                raise OptionError(f"{name} must be a number from 0 on, not {visible(repr(size), 80)}")
        if not float(self.attempts).is_integer():
            raise OptionError(f"attempts must be a whole number, not {self.attempts}")

    @property
    def full(self) -> float:
        """What a step earns that is right, before its points."""
        return sum(MARKS[self.marks])

    @property
    def tolerance(self) -> tuple[float, float] | None:
        """How far an answer may be off, relative to the right value and by itself; None where its digits decide."""
        return None if self.rtol is None and self.atol is None else (self.rtol or 0.0, self.atol or 0.0)

    def __str__(self) -> str:
        """`marks 0+1, cells each, follow method, points output=3`."""
        points = ",".join(f"{step}={weight:g}" for step, weight in self.points.items())
        return ", ".join(f"{name} {points if name == 'points' else value}" for name, value in self.to_dict().items())

    def to_dict(self) -> PolicyDocument:
        """The policy as a document: what marking goes by, and whatever else is not as usual."""
        whole: PolicyDocument = {"marks": self.marks, "cells": self.cells, "follow": self.follow}
        if self.points:
            whole["points"] = dict(self.points)
        for name in ("rtol", "atol"):
            if getattr(self, name) is not None:
                whole[name] = getattr(self, name)
        return whole


USUAL_POLICY = Policy()


def earned(verdict: str, share: float, policy: Policy, answered: float = 1.0) -> float:
    """The marks of a step, before its points, by its verdict, the share of right entries and a policy.

    Sheets are marked by this, and marked again by other policies. If steps that follow from own values earn full marks,
    the accuracy marks depend on `answered`, the share of entries that are not blank.
    """
    method, accuracy = MARKS[policy.marks]
    if verdict == FOLLOWS and policy.follow == "full":
        return method + accuracy * (answered if policy.cells == "each" else answered == 1)
    if verdict in SOUND:
        return method + accuracy
    rightly_done = (FOLLOWS,) if policy.follow == "method" else ()
    found = method if verdict in (SLIP, *rightly_done) or (verdict == MISSING and share) else 0.0
    return found + (accuracy * share if policy.cells == "each" else 0.0)


@dataclass(frozen=True)
class Finding:
    """What marking found out about one step."""

    verdict: str
    kind: str | None = None  # misconception, convention or slip
    mistakes: tuple[str, ...] = ()  # one id; several for mistakes made together
    also: tuple[str, ...] = ()  # mistakes that would explain it as well
    hint: str = ""
    says: str = ""  # the wrong rule
    separate: dict[str, Json] | None = None  # operands for which equally good explanations give different answers
    wrong: Wrong = NOTHING_WRONG
    void: bool = False  # whether it earns nothing, since all its entries are the same number
    stopped: bool = False  # whether the search for an explanation ended before everything was tried
    close: bool = False  # whether the verdict is uncertain: by rounding, by chance, or for lack of digits
    perhaps: tuple[str, ...] = ()  # mistakes that give the answer, perhaps by chance: worth a question

    @property
    def undecided(self) -> bool:
        """Whether it cannot be decided: the answer may be right, if more digits or its rounding were known."""
        return self.verdict in (UNEXPLAINED, FOLLOWS) and self.close


@dataclass(frozen=True)
class MarkedStep:
    """One step of a sheet, marked."""

    name: str
    finding: Finding
    given: Json
    shape: tuple[int, ...]
    expected: Json = field(repr=False)  # a notebook shows the last value of a cell
    max_error: float | None = field(repr=False)
    score: float
    out_of: float
    asked: bool = True  # whether it counts
    share: float = 0.0  # of the entries that are asked for, how many are right
    answered: float = 1.0  # and how many are not left blank
    axes: tuple[str, ...] = ()  # their names, as far as they are known
    times: float | None = field(default=None, repr=False)  # in a dump: the largest error as a multiple of the tolerance
    at: tuple[int, ...] | None = field(default=None, repr=False)  # where a model's wrong step is farthest off
    labels: tuple[tuple[str, ...], ...] = field(default=(), repr=False)  # of each axis, () if it has none
    misshapen: str = field(default="", repr=False)  # the shape of the answer, if it is not that of the step
    written: tuple[str | None, ...] = field(default=(), repr=False)  # the entries as written, if some are like 1/3

    def __repr__(self) -> str:
        """What was found, in one line: `<weights: mistake att-no-scale, 0 of 2>`."""
        behind = f" {self.mistake}" if self.mistake else ""
        return f"<{self.name}: {self.verdict}{behind}, {self.score:g} of {self.out_of:g}>"

    @property
    def verdict(self) -> str:
        """How the step is judged, one of VERDICTS."""
        return self.finding.verdict

    @property
    def mistake(self) -> str | None:
        """The id of the mistake behind it; two that were made together are joined, `a+b`."""
        return "+".join(self.finding.mistakes) or None

    @property
    def hint(self) -> str | None:
        """A guiding question that gives nothing away."""
        return self.finding.hint or None

    def told(self, hints: str) -> MarkedStep:
        """The step without the mistake behind it, and without the question too unless `hints` asks for it."""
        found = self.finding
        asked = found.hint if hints == QUESTION or found.stopped else ""
        return replace(self, finding=replace(found, mistakes=(), also=(), says="", separate=None, hint=asked))

    def to_dict(self, *, reveal: bool, hints: str = RULE) -> MarkedStepDocument:
        """The step for JSON, with the answer only if it may be revealed, and the mistake only if it may be told."""
        found, wrong, all_told = self.finding, self.finding.wrong, reveal or hints == RULE
        document: MarkedStepDocument = {
            "name": self.name,
            "verdict": self.verdict,
            "kind": found.kind,
            "mistake": self.mistake,
            "mistakes": list(found.mistakes) if all_told else None,
            "also": list(found.also) if all_told else None,
            "hint": self.hint,
            "separate": found.separate,
            "cells": [list(cell) for cell in wrong.cells],
            "wrong": {"count": wrong.number, "within": [[along[0], along[-1]] for along in wrong.within]},
            "given": self.given,
            "expected": self.expected,
            "max_error": None if self.max_error == inf else self.max_error,
            "score": _tidy(self.score),
            "out_of": _tidy(self.out_of),
        }
        if wrong.all_named:
            del document["wrong"]
        if not self.asked:
            document["asked"] = False
        if found.close:
            document["close"] = True
        if 0 < self.share < 1:
            document["share"] = self.share
        if 0 < self.answered < 1:
            document["answered"] = self.answered
        if self.at is not None:
            document["at"] = list(self.at)
        if not reveal:
            del document["expected"]
            if self.at is None:
                del document["max_error"]
        return document


@dataclass(frozen=True)
class Marked:
    """A marked sheet, true if it counts as right; `marked["weights"]` is a step of it, `to_dict()` its JSON."""

    calculation: str
    steps: tuple[MarkedStep, ...]  # in the order of the calculation
    notes: tuple[str, ...] = ()
    student: str = ""
    source: str = ""
    reveal: bool = field(default=False, repr=False)
    policy: Policy = USUAL_POLICY
    points: Mapping[str, float] = field(default_factory=dict, repr=False)  # problem of a bank → what it earns
    hints: str = field(default=RULE, repr=False)  # one of HINTS: how much is said of errors
    remarks: tuple[RemarkDocument, ...] = field(default=(), repr=False)  # how the problem's operands were read

    @property
    def verdict(self) -> str:
        """The worst verdict of the steps that count, if all of these count as right; otherwise WRONG."""
        found = [step.finding.verdict for step in self.steps if step.asked]
        if not found or not all(verdict in SOUND for verdict in found):
            return WRONG
        return max(found, key=SOUND.index)

    @property
    def first_wrong(self) -> str | None:
        """The first step that is not right; None if the sheet counts as right."""
        wrong = (step.name for step in self.steps if step.finding.verdict not in SOUND)
        return None if self else next(wrong, None)

    @property
    def undecided(self) -> bool:
        """Whether the sheet is not right, but no step is certainly wrong."""
        unsound = [step.finding for step in self.steps if step.asked and step.finding.verdict not in SOUND]
        return bool(unsound) and all(found.undecided for found in unsound)

    @property
    def stopped(self) -> str | None:
        """The message that the search for an explanation ended early, if it did, with the time that it took."""
        return next((step.hint for step in self.steps if step.finding.stopped), None)

    @property
    def mistakes(self) -> tuple[str, ...]:
        """The ids of the mistakes that were made, each once, in the order of the steps."""
        return tuple(dict.fromkeys(step.mistake for step in self.steps if step.mistake is not None))

    @property
    def score(self) -> float:
        """The marks that were reached."""
        return round(sum(step.score for step in self.steps), MARK_DECIMALS)

    @property
    def out_of(self) -> float:
        """The marks that could be reached."""
        return round(sum(step.out_of for step in self.steps), MARK_DECIMALS)

    def __bool__(self) -> bool:
        return self.verdict in SOUND

    def __getitem__(self, name: str) -> MarkedStep:
        for step in self.steps:
            if step.name == name:
                return step
        raise KeyError(name)

    def revealed(self) -> Marked:
        """The same, with the answers revealed."""
        return replace(self, reveal=True)

    def told(self, hints: str) -> Marked:
        """The same, with documents and pages telling as much as `hints`, one of HINTS, allows."""
        if hints not in HINTS:
            raise OptionError(f"hints must be {either(HINTS)}, not {quoted(hints)}", hint=near(hints, HINTS))
        return replace(self, hints=hints)

    @property
    def shown(self) -> Marked:
        """The same without what `hints` keeps back; if answers are revealed, everything is told."""
        if self.reveal or self.hints == RULE:
            return self
        return replace(self, steps=tuple(step.told(self.hints) for step in self.steps))

    def to_dict(self) -> MarkedDocument:
        """The report for JSON, with the policy if it is not the default."""
        whole: MarkedDocument = {
            "verdict": self.verdict,
            "first_wrong": self.first_wrong,
            "score": _tidy(self.score),
            "out_of": _tidy(self.out_of),
            "stopped": self.stopped,
            "steps": [step.to_dict(reveal=self.reveal, hints=self.hints) for step in self.shown.steps],
        }
        if self.remarks:
            whole["notes"] = [*self.remarks]
        return whole if self.policy == USUAL_POLICY else {**whole, "policy": self.policy.to_dict()}

    def __repr__(self) -> str:
        """What went wrong, in one line: all that a plain `assert trace.check(answer)` can show."""
        wrong = next((step for step in self.steps if step.name == self.first_wrong), None)
        behind = f", {wrong.mistake}: {wrong.hint}" if wrong and wrong.mistake else ""
        found = f"{self.verdict}, first at {self.first_wrong}{behind}" if wrong else self.verdict
        return f"<{self.calculation}: {found}>"

    def _repr_html_(self) -> str:
        return str(loaded("api:method")("marked_html")(self))

    def __str__(self) -> str:
        return str(loaded("api:method")("marked")(self))  # a door, since records make no pages themselves


def _tidy(number: float) -> float | int:
    return int(number) if float(number).is_integer() else round(number, MARK_DECIMALS + 3)
