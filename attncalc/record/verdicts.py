"""What is found of a sheet: a verdict for each step, and the marks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from attncalc.common.system import NamedTuple, loaded

if TYPE_CHECKING:  # types of a document, which no marking needs
    from attncalc.record.documents import Json, MarkedDocument, MarkedStepDocument

RIGHT, TO_ROUNDING, EARLY = "right", "right-to-rounding", "rounded-early"
FOLLOWS, MISTAKE, SLIP, UNEXPLAINED, MISSING = "follows", "mistake", "slip", "unexplained", "missing"
SOUND = (RIGHT, TO_ROUNDING, EARLY)
"""The verdicts of what counts as right, the best first."""
WRONG = "wrong"
MARKS = {RIGHT: 2, TO_ROUNDING: 2, EARLY: 2, FOLLOWS: 1, SLIP: 1, MISTAKE: 0, UNEXPLAINED: 0, MISSING: 0}
"""One mark for the method and one for the number."""
FULL = 2
MOST_MAPPED = 16
"""A map of the wrong entries has so many rows and columns at most."""


class Wrong(NamedTuple):
    """Which entries of an answer are wrong: the first of them, how many there are, and from where to where they lie."""

    cells: tuple[tuple[int, ...], ...] = ()
    number: int = 0
    within: tuple[range, ...] = ()  # of each axis the places between the first and the last

    @property
    def all_named(self) -> bool:
        """Whether the cells are all of them."""
        return len(self.cells) == self.number


NOTHING_WRONG = Wrong()


@dataclass(frozen=True)
class Finding:
    """What is found of one step."""

    verdict: str
    kind: str | None = None  # misconception, convention or slip
    mistakes: tuple[str, ...] = ()  # one id; several for mistakes made together
    also: tuple[str, ...] = ()  # what would explain it as well
    hint: str = ""
    says: str = ""  # the wrong rule
    separate: dict[str, Json] | None = None  # operands that would tell apart what explains it equally well
    wrong: Wrong = NOTHING_WRONG
    partly: bool = False  # whether all that is answered is right, and something is not answered
    stopped: bool = False  # whether the search for what is behind it ended before everything was tried


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

    @property
    def verdict(self) -> str:
        """How the step is judged, one of MARKS."""
        return self.finding.verdict

    @property
    def mistake(self) -> str | None:
        """The id of the mistake behind it, two that were made together as `a+b`."""
        return "+".join(self.finding.mistakes) or None

    @property
    def hint(self) -> str | None:
        """A question that leads on and gives nothing away."""
        return self.finding.hint or None

    def to_dict(self, *, reveal: bool) -> MarkedStepDocument:
        """The step as JSON has it; the answer is in it only if it may be revealed."""
        found, wrong = self.finding, self.finding.wrong
        document: MarkedStepDocument = {
            "name": self.name,
            "verdict": self.verdict,
            "kind": found.kind,
            "mistake": self.mistake,
            "mistakes": list(found.mistakes),
            "also": list(found.also),
            "hint": self.hint,
            "separate": found.separate,
            "cells": [list(cell) for cell in wrong.cells],
            "wrong": {"count": wrong.number, "within": [[along[0], along[-1]] for along in wrong.within]},
            "given": self.given,
            "expected": self.expected,
            "max_error": self.max_error,
            "score": _tidy(self.score),
            "out_of": _tidy(self.out_of),
        }
        if wrong.all_named:
            del document["wrong"]
        if not self.asked:
            document["asked"] = False
        if not reveal:
            del document["expected"], document["max_error"]
        return document


@dataclass(frozen=True)
class Marked:
    """A sheet, marked: true if it counts as right; `marked["weights"]` is a step of it, `to_dict()` what JSON has."""

    calculation: str
    steps: tuple[MarkedStep, ...]  # in the order of the calculation
    notes: tuple[str, ...] = ()
    student: str = ""
    source: str = ""
    reveal: bool = field(default=False, repr=False)

    @property
    def verdict(self) -> str:
        """Right, right to rounding or rounded early, by the worst of the steps that count; anything else is wrong."""
        found = [step.finding.verdict for step in self.steps if step.asked]
        if not found or not all(verdict in SOUND for verdict in found):
            return WRONG
        return max(found, key=SOUND.index)

    @property
    def first_wrong(self) -> str | None:
        """The first step that is not right, of a sheet that is wrong."""
        wrong = (step.name for step in self.steps if step.finding.verdict not in SOUND)
        return None if self else next(wrong, None)

    @property
    def stopped(self) -> str | None:
        """That the search for what is behind a step ended before everything was tried, and after how long."""
        return next((step.hint for step in self.steps if step.finding.stopped), None)

    @property
    def mistakes(self) -> tuple[str, ...]:
        """The ids of the mistakes that were made, each once, in the order of the steps."""
        return tuple(dict.fromkeys(step.mistake for step in self.steps if step.mistake is not None))

    @property
    def score(self) -> float:
        """The marks that were reached."""
        return sum(step.score for step in self.steps)

    @property
    def out_of(self) -> float:
        """The marks that could be reached."""
        return sum(step.out_of for step in self.steps)

    def __bool__(self) -> bool:
        return self.verdict in SOUND

    def __getitem__(self, name: str) -> MarkedStep:
        for step in self.steps:
            if step.name == name:
                return step
        raise KeyError(name)

    def revealed(self) -> Marked:
        """The same, with the answers in it."""
        return replace(self, reveal=True)

    def to_dict(self) -> MarkedDocument:
        """The report as JSON has it."""
        return {
            "verdict": self.verdict,
            "first_wrong": self.first_wrong,
            "score": _tidy(self.score),
            "out_of": _tidy(self.out_of),
            "stopped": self.stopped,
            "steps": [step.to_dict(reveal=self.reveal) for step in self.steps],
        }

    def __str__(self) -> str:
        return str(loaded("api:method")("marked")(self))  # the door of all that methods do: a record makes no page


def _tidy(number: float) -> float | int:
    return int(number) if float(number).is_integer() else round(number, 6)
