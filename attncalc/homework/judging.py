"""Judging: the verdict on each step, in the order in which explanations are tried.

Right as written; right but for the last digit; rounded on the way; worked out from the writer's own earlier steps; a
known mistake; within rounding after all; a slip; unexplained. What is right by any route is never called a mistake.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncalc.errors import InputError
from attncalc.graph import Node, walk
from attncalc.homework.answers import BY_HAND, LEAST_FIGURES, Answer
from attncalc.homework.comparing import (
    LEFT_OVER,
    OFTEN,
    Tolerance,
    by_rounding,
    chance,
    comes_out,
    fits,
    fitting,
    nearly,
)
from attncalc.homework.explaining import Match, Question, explanations, ids, together
from attncalc.homework.findings import (
    ABOUT_RIGHT,
    CARRIED,
    FROM_ROUNDED,
    LAST_DIGIT,
    incomplete,
    places,
    slipped,
    unexplained,
)
from attncalc.homework.key import Key, spelled
from attncalc.homework.rounding import MOST_DECIMALS
from attncalc.homework.separating import separating
from attncalc.homework.slips import TRANSPOSED, slips
from attncalc.homework.verdicts import (
    EARLY,
    FOLLOWS,
    MISSING,
    MISTAKE,
    RIGHT,
    SOUND,
    UNEXPLAINED,
    Cells,
    Finding,
)
from attncalc.homework.ways import Own
from attncalc.mistake import Mistake, StepKey
from attncalc.text import shape_text

Array = NDArray[Any]


class Work:
    """One sheet while it is judged: what its writer has written so far, and what was found of it."""

    def __init__(self, key: Key, tolerance: Tolerance | None, decimals: int | None) -> None:
        self.key, self.tolerance, self.decimals = key, tolerance, decimals
        self.found: dict[StepKey, Finding] = {}
        self.answers: dict[StepKey, Answer] = {}  # those of which later steps may be worked out
        self.questions: dict[StepKey, Question] = {}
        self.own: dict[StepKey, Array] = {}  # their values
        self.made: tuple[Mistake, ...] = ()  # the mistakes found so far
        self.matches: dict[StepKey, list[Match]] = {}  # everything that would explain a step

    def judge(self, key: StepKey, answer: Answer) -> None:
        """Find the verdict on a step; what it holds is what later steps are worked out from."""
        expected = self.key.value(key)
        if expected is None:
            raise InputError(f"{spelled(key)} holds no real numbers, and cannot be checked")
        answer = replace(answer, nil=LEFT_OVER * self.key.size)
        laid = self.key.laid(answer, key, expected)
        if not answer.answered.any():
            found = Finding(MISSING, hint="nothing is answered" if answer.value.size == 0 else "not answered")
        elif laid is None:
            found = self._of_another_shape(self._question(key, answer, expected))
        elif not laid.answered.all():
            found = incomplete(laid, expected)
        else:
            self.questions[key] = self._question(key, laid, expected)
            found = self._judged(self.questions[key])
            if found.verdict not in SOUND:
                found = replace(found, cells=places(~fits(laid, expected, self.tolerance)))
            if not np.isnan(laid.value).any():
                self.own[key], self.answers[key] = laid.value, laid
        self.found[key] = found

    def settle(self) -> None:
        """Let later steps decide between what would explain an earlier one equally well, and name the mistakes."""
        wrong = [
            question for key, question in self.questions.items() if self.found[key].verdict in (UNEXPLAINED, FOLLOWS)
        ]
        open_ = [question for question in wrong if self.found[question.key].verdict == UNEXPLAINED]
        if len(wrong) > 1 and open_:
            matches = together(self.key, wrong)
            self.matches |= {question.key: matches for question in open_ if matches}
        for key, matches in self.matches.items():
            later = [k for k in self.answers if self.key.nodes[k].serial > self.key.nodes[key].serial]
            agreeing = [sum(self._agrees(match, k) for k in later) for match in matches]
            left = [match for match, count in zip(matches, agreeing, strict=True) if count == max(agreeing)]
            self.found[key] = self._named(key, left, self.found[key].cells)

    def _agrees(self, match: Match, key: StepKey) -> bool:
        way = self.key.ways.way(*match.mistakes)
        value = None if way is None else self.key.value(key, way)
        answer = self.answers[key]
        return value is not None and value.shape == answer.shape and bool(nearly(answer, value).all())

    def _question(self, key: StepKey, answer: Answer, expected: Array) -> Question:
        used = self.key.used(key, self.own)
        own = {k: self.own[k] for k in used}
        digits = answer.used if self.decimals is None else self.decimals
        by_hand = answer.value.size <= BY_HAND and bool(answer.enough.any())
        return Question(key, answer, expected, own, digits, by_hand)

    def _sound(self, question: Question) -> bool:
        """Whether all of the writer's own steps behind this one are right."""
        return all(self.found[key].verdict in SOUND for key in question.own)

    def _judged(self, question: Question) -> Finding:
        for judgement in (self._right, self._carried, self._mistaken, self._within_rounding, self._slipped):
            found = judgement(question)
            if found is not None:
                return found
        return unexplained(question.answer, question.expected)

    # Right

    def _right(self, question: Question) -> Finding | None:
        key, answer, expected = question[:3]
        values = [value for way in self.key.routes if (value := self.key.value(key, way)) is not None]
        values = [value for value in values if value.shape == expected.shape]
        if any(fits(answer, value, self.tolerance).all() for value in values):
            return Finding(RIGHT)
        if not answer.enough.any():
            return None
        close = not self._comes_out(question) and any(nearly(answer, value).all() for value in values)
        if close and answer.used >= LEAST_FIGURES:
            return LAST_DIGIT
        early = self._rounded_early(question) if question.by_hand else None
        return LAST_DIGIT if early is None and close else early

    def _comes_out(self, question: Question) -> bool:
        """Whether everything up to a step comes out evenly to the digits that were written: nothing to be rounded."""
        if question.answer.value.size > BY_HAND:
            return False
        named = [node for node in walk(self.key.nodes[question.key]) if node.op == "step"]
        values = [self.key.value(node.key) for node in named]
        return all(value is not None and comes_out(value, 10.0**-question.answer.used) for value in values)

    def _rounded_early(self, question: Question) -> Finding | None:
        answer, own = question.answer, question.own if self._sound(question) else {}
        follows = self.key.value(question.key, own=own) if own and () in self.key.taken(own) else None
        if follows is not None and (fits(answer, follows).all() or nearly(answer, follows).all()):
            return FROM_ROUNDED
        for way in self.key.routes:
            for base in (None, own) if own and way.route in self.key.taken(own) else (None,):
                hit = self._replayed(question, way.steps[question.key], base) if question.key in way.steps else None
                if hit is not None:
                    where = f" at {hit}" if hit else ""
                    return Finding(EARLY, hint=f"right method, rounded too early{where}: keep more digits on the way")
        return None

    def _replayed(self, question: Question, node: Node, own: Own | None) -> str | None:
        """The step whose rounding explains an answer, "" where it is no single one; None where rounding does not."""
        rounded = self.key.rounded(node, question.digits, own)
        answer = question.answer
        hits = fitting(answer, rounded.values).tolist() if rounded.values.shape[1:] == answer.shape else []
        if self._comes_out(question):  # whole numbers are not read off to three or four figures
            hits = [hit for hit in hits if not rounded.digits[hit][2]]
        exact = self.key.values([node], own)[0]
        if not hits or by_rounding(answer, exact, rounded.values[: hits[0] + 1]) > OFTEN:
            return None
        return rounded.culprit(hits[0], exact, np.maximum(0.5 * answer.unit, answer.noise * np.abs(exact)))

    # Wrong

    def _carried(self, question: Question) -> Finding | None:
        """Whether a step is what follows from the writer's own earlier ones, or from the mistakes found so far."""
        if self._sound(question):
            return None
        key, answer, expected, own = question[:4]
        follows = self.key.value(key, own=own)
        carried = self.key.ways.way(*self.made) if self.made else None
        values = [follows, self.key.value(key, carried) if carried else None]
        for value in values:
            if value is None or value.shape != answer.shape or _says_nothing(value, expected):
                continue
            if fits(answer, value).all() or (answer.enough.any() and nearly(answer, value).all()):
                return CARRIED
        if question.by_hand and follows is not None and not _says_nothing(follows, expected):
            return None if self._replayed(question, self.key.nodes[key], own) is None else CARRIED
        return None

    def _mistaken(self, question: Question) -> Finding | None:
        for matches in explanations(self.key, question):
            if matches:
                self.matches[question.key] = matches
                self.made = tuple(dict.fromkeys((*self.made, *matches[0].mistakes)))
                return Finding(MISTAKE)
        return None

    def _named(self, key: StepKey, matches: list[Match], cells: Cells) -> Finding:
        """The finding that names the mistakes: the likeliest one, and beside it what would explain as much."""
        best, *others = matches
        named = ids(best.mistakes)
        ties = [ids(match.mistakes) for match in others if ids(match.mistakes) != named]
        aliases = [alias.id for mistake in best.mistakes for alias in self._aliases(mistake)]
        return Finding(
            MISTAKE,
            kind=best.mistakes[0].kind,
            mistakes=named,
            also=tuple(dict.fromkeys(["+".join(tie) for tie in ties] + aliases)),
            hint=best.mistakes[0].hint,
            says="; ".join(mistake.says for mistake in best.mistakes),
            separate=self._separating(key, matches) if ties else None,
            cells=cells,
        )

    def _separating(self, key: StepKey, matches: list[Match]) -> dict[str, Any] | None:
        """Operands that tell ties apart, found once for a key."""
        if self.key.large:
            return None
        known, tie = self.key.separated, (key, tuple(ids(match.mistakes) for match in matches))
        if tie not in known:
            known[tie] = separating(self.key, key, [match.mistakes for match in matches])
        return known[tie]

    def _aliases(self, mistake: Mistake) -> Iterable[Mistake]:
        return (m for m in self.key.known if m.alias_of == mistake.id and self.key.ways.way(m) is not None)

    def _within_rounding(self, question: Question) -> Finding | None:
        """Entries that rounding on the way reaches one by one, though in no usual manner all at once."""
        key, answer, expected = question[:3]
        few = question.digits <= MOST_DECIMALS
        if not (few and question.by_hand and answer.enough.all()) or self._comes_out(question):
            return None
        gone_on = question.own and self._sound(question) and () in self.key.taken(question.own)
        bases = [None, question.own] if gone_on else [None]
        reached = [self.key.rounded(self.key.nodes[key], question.digits, base).near for base in bases]
        values = np.concatenate([value for value in reached if value.shape[1:] == answer.shape])
        most = 1.5 * answer.unit  # and one unit off in the last digit
        with np.errstate(invalid="ignore"):
            within = (values.min(axis=0) - most <= answer.value) & (answer.value <= values.max(axis=0) + most)
        much = chance(answer, expected, np.ptp(values, axis=0) + answer.unit) > OFTEN
        if not much and (within | fits(answer, expected)).all() and not _says_nothing(answer.value, expected):
            return ABOUT_RIGHT
        return None

    def _slipped(self, question: Question) -> Finding | None:
        key, answer, expected = question[:3]
        follows = None if self._sound(question) else self.key.value(key, own=question.own)
        for value in (expected, follows):
            found = slips(self.key, key, answer, value) if value is not None and value.shape == answer.shape else None
            if found:
                return slipped(found)
        return None

    def _of_another_shape(self, question: Question) -> Finding:
        """An answer of a shape that is not the step's: it is transposed, or a mistake gives it."""
        answer, expected = question.answer, question.expected
        if answer.value.ndim > 1 and answer.shape == expected.shape[::-1]:
            turned = answer.laid(np.transpose)
            if turned.answered.all() and fits(turned, expected).all():
                return slipped(TRANSPOSED)
        whole = answer.answered.all() and not np.isnan(answer.value).any()
        found = self._mistaken(question) if whole else None
        given, due = shape_text(answer.shape), shape_text(expected.shape)
        return found or Finding(UNEXPLAINED, hint=f"the answer is {given}, and {due} is asked for")


def _says_nothing(value: Array, expected: Array) -> bool:
    """Whether a value is NaN somewhere, or 0 throughout where it should not be: nothing follows from it."""
    return bool(np.isnan(value).any() or (not np.any(value) and np.any(expected)))
