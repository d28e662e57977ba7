"""A sheet is marked against a key: its answers found, judged, and told with a verdict and marks for each step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from attncalc.calculations import WHOLE
from attncalc.common.errors import AttncalcError, InputError, listed, quoted
from attncalc.common.numerals import QUESTION, RULE
from attncalc.declare.mistake import StepKey
from attncalc.homework.diagnosis.comparing import fits, furthest, is_lost, largest_error, times_allowed
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.marking.judging import as_labelled, extent, judged, laid_out, misshapen, shape_of, unpadded
from attncalc.homework.reading.answers import BY_HAND, Answer, Sheet, Tolerance, from_parts, nothing
from attncalc.homework.reading.sheets import EVERYTHING, Asked, from_tree, spelled
from attncalc.language.graph import Node
from attncalc.record.numbers import encode
from attncalc.record.trace import USUAL
from attncalc.record.verdicts import SOUND, UNEXPLAINED, USUAL_POLICY, Finding, Marked, MarkedStep, Policy, earned
from attncalc.solve.problem import Problem
from attncalc.solve.solver import solve


def usual_hints(problem: Problem, sheet: Sheet) -> str:
    """How much is told if nobody says so: the rule for a machine's arrays, a question for a handwritten sheet."""
    return RULE if sheet.stored or problem.calculation.name in WHOLE else QUESTION


MOST_SHOWN = 100_000
"""Larger answers are not repeated in the report."""


class Marker:
    """Marks sheets against one key."""

    def __init__(
        self,
        key: Key,
        *,
        policy: Policy = USUAL_POLICY,
        reveal: bool = False,
        dtype: str | None = None,
        asked: Asked = EVERYTHING,
        suppose: bool = False,
        lenient: bool = False,
        layout: str | None = None,
    ) -> None:
        self.layout = layout  # of heads and tokens in answers
        self.lenient = lenient  # a step that cannot be read costs that step alone
        self.suppose = suppose  # mistakes are named that give an answer, though it may be chance
        self.dtype = dtype  # in which answers were stored, if that was said
        self.asked = asked
        self.key, self.policy, self.reveal = key, policy, reveal
        self.tolerance = None if policy.tolerance is None else Tolerance(*policy.tolerance)
        self.points = {key.names.find(name): weight for name, weight in policy.points.items()}

    @np.errstate(all="ignore")  # an answer may be as far from a step as numbers reach
    def mark(self, sheet: Sheet) -> Marked:
        """A verdict for every step that is asked for, or that the sheet has a place for."""
        if self.layout in ("bnhd", "nhd"):
            sheet = replace(sheet, steps=self._laid(sheet.steps, len(self.layout)))
        asked, notes, unread = self._asked_of(sheet)
        with _on_one_core() if any(answer.dumped for answer in asked.values()) else nullcontext():
            self.key.foresee(asked)
            asked = {key: self._among_others(answer, key) for key, answer in asked.items()}
            answers = {key: as_labelled(self.key, answer, key) for key, answer in asked.items()}
            answers = {key: unpadded(self.key, answer, key) for key, answer in answers.items()}
            answers = {key: answer.as_stored(self.dtype) for key, answer in answers.items()}
            if not self.dtype and any(answer.stored for answer in answers.values()):
                from attncalc.homework.diagnosis.noise import widened_together  # a door: few answers are dumps

                answers |= widened_together(answers)
            found = judged(self.key, answers, self.tolerance, sheet.decimals, self.asked, suppose=self.suppose)
            for key, fault in unread.items():  # the file is named in the note alone
                why = fault.message.removeprefix(sheet.source).lstrip(": ")
                found[key] = Finding(UNEXPLAINED, hint=f"it cannot be read: {why}")
            blank = {key: nothing(self.key.nodes[key].shape) for key in unread}
            steps = tuple(self._step(key, (answers | blank)[key], found[key]) for key in self.key.nodes if key in found)
        name, policy = self.key.problem.name, self.policy
        student, source, remarks = sheet.student, sheet.source, tuple(self.key.remarks)
        return Marked(name, steps, notes, student, source, reveal=self.reveal, policy=policy, remarks=remarks)

    def _asked_of(self, sheet: Sheet) -> tuple[dict[StepKey, Answer], tuple[str, ...], dict[StepKey, InputError]]:
        """The answer to every step; notes on what is passed over, as it is no step or one told before; what is unread.

        Raises InputError for what cannot be read, unless the marker is `lenient` and another step is answered.
        """
        asked: dict[StepKey, Answer] = {}
        unread: dict[StepKey, InputError] = {}
        notes = sheet.notes
        passed = [name for name in sheet.steps if self.key.names.is_passed_over(name)]
        if len(passed) == len(sheet.steps):
            passed = []
        elif passed:
            notes = (*notes, f"{listed([quoted(name) for name in passed], 6)}: no step of ours, passed over")
        told = ((name, answer) for name, answer in sheet.steps.items() if name not in passed)
        each = ((name, *found) for name, answer in told for found in self.key.names.given_by(name, answer))
        again = []
        for name, key, answer in each:
            known = key in asked or key in unread
            if known and self.key.names.of_modules:  # a module's output is returned by the model as well
                again.append(quoted(name))
                continue
            if known:
                raise InputError(f"{sheet.source or 'the sheet'}: {quoted(name)} is answered twice")
            if self.key.names.of_modules or answer.dumped:
                answer = _of_one_text(answer, self.key.nodes[key])  # noqa: PLW2901  (the same, without an axis)
            try:
                asked[key] = self._heads_first(self.key.in_numbers(answer, key), key, name)
            except InputError as fault:
                if not self.lenient:
                    raise
                unread[key] = fault
        if again:
            what = "a step that is" if len(again) == 1 else "steps that are"
            notes = (*notes, f"{listed(again, 6)}: {what} told above, passed over")
        if unread and not any(answer.answered.any() for answer in asked.values()):
            raise next(iter(unread.values()))
        for key in self.asked.steps or ():
            if key not in unread:
                asked.setdefault(key, nothing(self.key.nodes[key].shape))
        if not asked:
            raise InputError(
                f"{sheet.source or 'the sheet'} answers no step of {self.key.names.problem}", hint=self.key.names.has
            )
        return asked, (*notes, *(f"{fault}; the other steps are marked" for fault in unread.values())), unread

    def _laid(self, answers: Mapping[str, Answer], axes: int) -> dict[str, Answer]:
        """The answers; in those with that many axes heads are put in front of tokens, but for scores and weights."""
        steps = {name: node for step, node in self.key.nodes.items() for name in (spelled(step), step[1])}
        steps[""] = self.key.nodes[self.key.result]
        has_heads = {name for name, node in steps.items() if node.names[-1:] not in (("n",), ("m",))}
        return {
            name: answer.laid(lambda part: part.swapaxes(-3, -2))
            if name in has_heads and answer.value.ndim == axes
            else answer
            for name, answer in answers.items()
        }

    def _heads_first(self, answer: Answer, step: StepKey, name: str) -> Answer:
        """The output of a norm of heads, heads first: some models have tokens first; if both fit, the nearer counts."""
        modules = self.key.names.of_modules
        if step[1] != "output" or len(answer.shape) != 3 or modules is None or not modules.step(name):
            return answer
        right, turned = self.key.value(step), answer.laid(lambda part: part.swapaxes(0, 1))
        if right is None or turned.shape != right.shape:
            return answer
        alike = answer.shape == right.shape
        return answer if alike and largest_error(answer, right) <= largest_error(turned, right) else turned

    def _among_others(self, answer: Answer, step: StepKey) -> Answer:
        """An answer that was given by places, in the shape of its step, with all other entries blank."""
        if answer.asked is None:
            return answer
        value = self.key.value(step)
        shape = () if value is None else shape_of(self.key, step, value)
        if len(shape) != len(answer.shape) and answer.asked.all():
            return answer  # as people write a row for a vector
        if len(shape) != len(answer.shape) or any(a > b for a, b in zip(answer.shape, shape, strict=True)):
            last = ",".join(str(size - 1) for size in answer.shape)
            name = spelled(step)
            hint = f"{name} is {extent(shape)}, and places begin at 0"
            raise InputError(f"{name} has no entry {quoted(f'[{last}]')}", hint=hint)
        return answer.padded(shape)

    def _step(self, key: StepKey, answer: Answer, finding: Finding) -> MarkedStep:
        expected = self.key.value(key)
        assert expected is not None, "it was judged"
        wanted = self.asked.wants(key)
        weight = self.points.get(key, 1) if wanted else 0
        laid = laid_out(self.key, answer, key, expected)
        share, answered = self._share(key, answer, finding), self._answered(key, laid)
        value = from_parts(expected) if key in self.key.complex else expected
        at = most = None
        if laid is not None:
            most = math.inf if is_lost(laid, expected) else largest_error(laid, expected)
            if finding.verdict not in SOUND and self.key.of_model:
                at, most = furthest(laid, expected)
        return MarkedStep(
            name=spelled(key),
            finding=finding,
            given=_as_json(answer) if answer.value.size <= MOST_SHOWN else None,
            shape=value.shape,
            expected=encode(value) if value.size <= MOST_SHOWN else None,
            max_error=most,
            score=weight * earned(finding.verdict, share, self.policy, answered),
            out_of=weight * self.policy.full,
            asked=wanted,
            share=share,
            answered=answered,
            axes=names if len(names := self.key.nodes[key].names) == value.ndim else (),
            times=None if laid is None or not laid.dumped else times_allowed(laid, expected),
            at=at,
            labels=tuple(
                known if len(known := self.key.labels.get(axis.name, ())) == axis.size else ()
                for axis in self.key.nodes[key].axes
            ),
            misshapen=misshapen(answer, value.shape) if laid is None and answer.answered.any() else "",
            written=tuple(answer.text.flat) if answer.value.size <= BY_HAND and answer.exact.any() else (),
        )

    def _share(self, key: StepKey, answer: Answer, finding: Finding) -> float:
        """The share of right ones among the entries that are asked for; 0 for an answer of another shape."""
        if finding.verdict in SOUND:
            return 1.0
        if finding.void or not finding.wrong.number:
            return 0.0
        where = answer.asked if self.asked.entries(key) is None else self.asked.entries(key)
        number = math.prod(self.key.nodes[key].shape) if where is None else int(where.sum())
        return 1 - finding.wrong.number / number

    def _answered(self, key: StepKey, laid: Answer | None) -> float:
        """The share of the entries that are asked for that are not left blank."""
        if laid is None:
            return 1.0
        asked = self.asked.entries(key)
        where = laid.asked if asked is None else asked
        return float((laid.answered if where is None else laid.answered[where]).mean())


def _as_json(answer: Answer) -> Any:
    """The answer's numbers, with null for what is not answered."""
    if answer.answered.all() and answer.wordy is None:
        return encode(answer.value)
    value = (from_parts(answer.in_parts().value) if answer.wordy else answer.value).astype(object)
    value[~answer.answered] = None
    return encode(value.tolist())


def _on_one_core() -> AbstractContextManager[object]:
    """Linear algebra on one thread: several wait busily for one another at each product, which uses up the budget."""
    from attncalc.evaluate.large.cores import linear_algebra  # a door: few answers are dumps

    limited: AbstractContextManager[object] = linear_algebra().limit(limits=1)
    return limited


def _of_one_text(answer: Answer, step: Node) -> Answer:
    """An answer without the axis of a batch of one, which stands second if the first axis is that of all layers."""
    places = (0, 1) if step.names[:1] == ("L+1",) else (0,)
    at = next((i for i in places if answer.shape[i : i + 1] == (1,)), None)
    if at is None or len(answer.shape) <= len(step.axes):
        return answer
    return answer.laid(lambda part: part.squeeze(at))


def disagreements(key: Key, stored: Mapping[str, Any]) -> list[str]:
    """Warnings for stored values of a document that are not what its problem gives."""
    try:
        return [f"{name} as stored is not what the inputs give; the inputs are gone by" for name in _wrong(key, stored)]
    except AttncalcError as error:
        return [f"the stored steps cannot be compared: {error.message}"]


def _wrong(key: Key, stored: Mapping[str, Any]) -> list[str]:
    """The names of stored steps, and of the result, whose values are not what the problem gives."""
    if "steps" not in stored and "result" not in stored:
        return []
    given = {name: (key.names.find(name), answer) for name, answer in from_tree(_values_of(stored), "").steps.items()}
    key.foresee(step for step, _ in given.values())
    how = stored.get("settings", {})
    rounded = how.get("round") is not None or "dtype" in how  # on the way, as a marked answer never is
    again = solve(key.problem, round_to=how.get("round"), dtype=how.get("dtype", USUAL.dtype)) if rounded else None
    found = []
    for name, (step, answer) in given.items():
        expected = key.value(step) if again is None else again[spelled(step)]
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
