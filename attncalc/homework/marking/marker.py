"""A sheet is marked against a key: a verdict and marks for each step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from attncalc.common.errors import InputError
from attncalc.common.text import quoted
from attncalc.declare.mistake import StepKey
from attncalc.homework.diagnosis.comparing import Tolerance, fits, largest_error
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.marking.judging import judged
from attncalc.homework.marking.layouts import laid_out, unpadded
from attncalc.homework.reading.answers import Answer
from attncalc.homework.reading.complex_numbers import from_parts
from attncalc.homework.reading.sheets import Sheet, from_tree
from attncalc.homework.reading.step_names import spelled
from attncalc.record.verdicts import FULL, MARKS, Finding, Marked, MarkedStep
from attncalc.render.document import encode

MOST_SHOWN = 100_000
"""Larger answers are not repeated in the report."""


class Marker:
    """Marks sheets against one key."""

    def __init__(
        self,
        key: Key,
        *,
        tolerance: Tolerance | None = None,
        points: Mapping[str, float] | None = None,
        reveal: bool = False,
    ) -> None:
        self.key, self.tolerance, self.reveal = key, tolerance, reveal
        self.points = {key.names.find(name): weight for name, weight in (points or {}).items()}

    @np.errstate(all="ignore")  # an answer may be as far from a step as numbers reach
    def mark(self, sheet: Sheet) -> Marked:
        """A verdict for every step that the sheet has a place for."""
        asked: dict[StepKey, Answer] = {}
        for name, answer in sheet.steps.items():
            key = self.key.names.find(name)
            if key in asked:
                raise InputError(f"{sheet.source or 'the sheet'}: {quoted(name)} is answered twice")
            asked[key] = self.key.in_numbers(answer, key)
        self.key.foresee(asked)
        answers = {key: unpadded(self.key, answer, key) for key, answer in asked.items()}
        found = judged(self.key, answers, self.tolerance, sheet.decimals)
        steps = tuple(self._step(key, answers[key], finding) for key, finding in found.items())
        return Marked(self.key.problem.name, steps, sheet.notes, sheet.student, sheet.source, reveal=self.reveal)

    def _step(self, key: StepKey, answer: Answer, finding: Finding) -> MarkedStep:
        expected = self.key.value(key)
        assert expected is not None, "it was judged"
        weight = self.points.get(key, 1)
        laid = laid_out(self.key, answer, key, expected)
        value = from_parts(expected) if key in self.key.complex else expected
        return MarkedStep(
            name=spelled(key),
            finding=finding,
            given=_as_json(answer) if answer.value.size <= MOST_SHOWN else None,
            shape=value.shape,
            expected=encode(value) if value.size <= MOST_SHOWN else None,
            max_error=None if laid is None else largest_error(laid, expected),
            score=weight * MARKS[finding.verdict],
            out_of=weight * FULL,
        )


def _as_json(answer: Answer) -> Any:
    """The answer's numbers, with null for what is not answered."""
    if answer.answered.all() and answer.wordy is None:
        return encode(answer.value)
    value = (from_parts(answer.in_parts().value) if answer.wordy else answer.value).astype(object)
    value[~answer.answered] = None
    return encode(value.tolist())


def disagreeing(key: Key, stored: Mapping[str, Any]) -> list[str]:
    """The names of stored steps, and of the result, whose values are not what the problem gives."""
    if "steps" not in stored and "result" not in stored:
        return []
    given = {name: (key.names.find(name), answer) for name, answer in from_tree(_values_of(stored), "").steps.items()}
    key.foresee(step for step, _ in given.values())
    found = []
    for name, (step, answer) in given.items():
        expected = key.value(step)
        laid = None if expected is None else laid_out(key, key.in_numbers(answer, step), step, expected)
        if expected is not None and (laid is None or not fits(laid, expected).all()):
            found.append(name or spelled(step))
    return found


def _values_of(stored: Mapping[str, Any]) -> dict[str, Any]:
    """What of a saved result can be compared: steps that were too large have no value."""
    steps = stored.get("steps")
    if not isinstance(steps, list):
        return {name: stored[name] for name in ("steps", "result") if name in stored}
    return {"steps": [step for step in steps if isinstance(step, dict) and step.get("value") is not None]}
