"""Judging: the verdict on each step, in the order in which explanations are tried.

Right as written; right but for the last digit; rounded on the way; worked out from the writer's own earlier steps; a
known mistake; within rounding after all; a slip; unexplained. What is right by any route is never called a mistake,
unless the writer's own steps show that nobody has gone it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from attncalc.arrays import Array
from attncalc.errors import InputError
from attncalc.homework.answers import BY_HAND, Answer
from attncalc.homework.carrying import carried
from attncalc.homework.comparing import LEFT_OVER, Tolerance, fits, nearly
from attncalc.homework.complex_numbers import from_parts
from attncalc.homework.explaining import Match, Question, again, beside, explanations, ids, possible, together
from attncalc.homework.findings import incomplete, located, slipped, unexplained
from attncalc.homework.key import Key, spelled
from attncalc.homework.layouts import laid_out
from attncalc.homework.separating import separating
from attncalc.homework.slips import TRANSPOSED, slips
from attncalc.homework.soundness import is_far, right, within_rounding
from attncalc.homework.verdicts import EARLY, FOLLOWS, MISSING, MISTAKE, RIGHT, SOUND, UNEXPLAINED, Finding, Wrong
from attncalc.homework.ways import Own, Way, is_meant
from attncalc.mistake import Mistake, StepKey
from attncalc.spelling import typed
from attncalc.text import amount, flag, shape_text


def judged(
    key: Key, answers: Mapping[StepKey, Answer], tolerance: Tolerance | None = None, decimals: int | None = None
) -> dict[StepKey, Finding]:
    """The verdict on each step of a sheet, in the order of the calculation."""
    work = _Work(key, tolerance, decimals)
    work.judge(answers)
    if astray := work.astray():
        work = _Work(key, tolerance, decimals, astray)
        work.judge(answers)
    work.settle()
    return work.found


class _Work:
    """One sheet while it is judged: what its writer has written so far, and what was found of it."""

    def __init__(
        self, key: Key, tolerance: Tolerance | None, decimals: int | None, astray: Collection[StepKey] = ()
    ) -> None:
        self.key, self.tolerance, self.decimals = key, tolerance, decimals
        self.held_to = astray  # the steps that only the routes which their writer has gone make right
        self.found: dict[StepKey, Finding] = {}
        self.answers: dict[StepKey, Answer] = {}  # those of which later steps may be worked out
        self.questions: dict[StepKey, Question] = {}
        self.own: dict[StepKey, Array] = {}  # their values
        self.denied: dict[tuple[Mistake, tuple[Mistake, ...]], list[StepKey]] = {}
        """The own steps that a mistake writes which makes a route, by the routes that they are not of."""
        self.made: tuple[Mistake, ...] = ()  # the mistakes found so far
        self.matches: dict[StepKey, list[Match]] = {}  # everything that would explain a step

    def judge(self, answers: Mapping[StepKey, Answer]) -> None:
        """Find the verdict on every step, each after those that it is made of."""
        for key in self.key.nodes:
            if key in answers:
                self._judge(key, answers[key])

    def astray(self) -> set[StepKey]:
        """The steps that are right by a route alone that their writer is on neither before them nor after them.

        So they are not what the steps before them give, and nothing that is right was made of them.
        """
        return {key for key, question in self.questions.items() if self._is_astray(question)}

    def _is_astray(self, question: Question) -> bool:
        key, routes = question.key, self._gone(question.own)
        if len(routes) == len(question.routes) or not question.sound or self.found[key].verdict != RIGHT:
            return False
        if any(key in later.own and self.found[later.key].verdict in SOUND for later in self.questions.values()):
            return False
        return right(self.key, question._replace(routes=routes), self.tolerance) != Finding(RIGHT)

    def _gone(self, own: Own) -> list[Way]:
        """The usual route, and those that the writer's own steps leave open."""
        taken = self.key.taken(own)
        return [way for way in self.key.routes if not way.route or way.route in taken]

    def _judge(self, key: StepKey, answer: Answer) -> None:
        """Find the verdict on a step; what it holds is what later steps are worked out from."""
        expected = self.key.value(key)
        if expected is None:
            raise InputError(f"{spelled(key)} holds no numbers, and cannot be checked")
        answer = replace(answer, nil=LEFT_OVER * self.key.size)
        laid = laid_out(self.key, answer, key, expected)
        if not answer.answered.any():
            found = Finding(MISSING, hint="nothing is answered" if answer.value.size == 0 else "not answered")
        elif laid is None:
            due = expected[..., 0] if key in self.key.complex else expected
            found = self._of_another_shape(self._question(key, answer, due))
        elif not laid.answered.all():
            blank, wrong = ~laid.answered, ~fits(laid, expected)
            found = incomplete(self._entries(key, blank), self._entries(key, wrong & ~blank))
        else:
            self.questions[key] = self._question(key, laid, expected)
            found = self._verdict(self.questions[key])
            if found.verdict not in SOUND:
                found = replace(found, wrong=located(self._entries(key, ~fits(laid, expected, self.tolerance))))
            if not np.isnan(laid.value).any():
                self.own[key] = from_parts(laid.value) if key in self.key.complex else laid.value
                self.answers[key] = laid
                self._deny(key)
        self.found[key] = found

    def _entries(self, key: StepKey, parts: Array) -> Array:
        """What is so of the parts of a step, of its entries: of a complex number where it is of either part."""
        return np.asarray(parts.any(axis=-1)) if key in self.key.complex else parts

    def settle(self) -> None:
        """Let later steps decide between what would explain an earlier one equally well, and name the mistakes."""
        wrong = [
            question for key, question in self.questions.items() if self.found[key].verdict in (UNEXPLAINED, FOLLOWS)
        ]
        made = {mistake for matches in self.matches.values() for match in matches for mistake in match}
        for question in wrong:
            if self.found[question.key].verdict == UNEXPLAINED:
                before = () if question.sound else self.made
                matches = again(self.key, question, made) or (before and beside(self.key, question, before))
                if matches:
                    self.matches[question.key] = matches
        open_ = [q for q in wrong if self.found[q.key].verdict == UNEXPLAINED and q.key not in self.matches]
        if len(wrong) > 1 and open_:
            matches = together(self.key, wrong)
            self.matches |= {question.key: matches for question in open_ if matches}
        for key, matches in self.matches.items():
            later = [k for k in self.answers if self.key.nodes[k].serial > self.key.nodes[key].serial]
            agreeing = [sum(self._agrees(match, k) for k in later) for match in matches]
            left = [match for match, count in zip(matches, agreeing, strict=True) if count == max(agreeing)]
            self.found[key] = self._named(key, left, self.found[key].wrong)

    def _agrees(self, match: Match, key: StepKey) -> bool:
        way = self.key.ways.way(*match)
        value = None if way is None else self.key.value(key, way)
        answer = self.answers[key]
        return value is not None and value.shape == answer.shape and bool(nearly(answer, value).all())

    def _question(self, key: StepKey, answer: Answer, expected: Array) -> Question:
        used = self.key.used(key, self.own)
        own = {k: self.own[k] for k in used}
        digits = answer.used if self.decimals is None else self.decimals
        few = answer.value.size <= BY_HAND and self.key.has_few(key)
        by_hand = few and bool(answer.enough.any()) and key not in self.key.complex
        sound = all(self.found[k].verdict in SOUND for k in used)
        routes = self._gone(own) if key in self.held_to else self._left_open(key, own)
        return Question(key, answer, expected, own, sound, routes, digits, by_hand)

    def _left_open(self, key: StepKey, own: Own) -> list[Way]:
        """The routes but those on which a step beside this one, which they write together with it, would be another.

        A gradient goes with the step that it is taken in: who has written that in one way has no gradient of another.
        """
        subject = (key[0], self.key.nodes[key].args["of"] or key[1])
        together = [m for way in self.key.routes for m in way.route if is_meant(subject, m.at)]
        return [
            way
            for way in self.key.routes
            if not any(k not in own for m in together for k in self.denied.get((m, way.route), ()))
        ]

    def _deny(self, key: StepKey) -> None:
        """Note which routes have other numbers than the writer's in a step that some route writes."""
        writing = [m for way in self.key.routes for m in way.route if is_meant(key, m.at)]
        taken = self.key.taken({key: self.own[key]}) if writing else ()
        for way in self.key.routes if writing else ():
            if way.route not in taken:
                for mistake in writing:
                    self.denied.setdefault((mistake, way.route), []).append(key)

    def _verdict(self, question: Question) -> Finding:
        sound = right(self.key, question, self.tolerance)
        if sound and sound.verdict == EARLY and is_far(self.key, question):
            return self._mistaken(question, as_written=True) or sound
        return (
            sound
            or carried(self.key, question, self.answers, self.made)
            or self._mistaken(question)
            or within_rounding(self.key, question)
            or self._slipped(question)
            or self._unexplained(question)
        )

    def _unexplained(self, question: Question) -> Finding:
        return unexplained(question.answer, question.expected, possible=possible(self.key, question))

    def _mistaken(self, question: Question, *, as_written: bool = False) -> Finding | None:
        for matches in explanations(self.key, question, as_written=as_written):
            if matches:
                self.matches[question.key] = matches
                self.made = tuple(dict.fromkeys((*self.made, *matches[0])))
                return Finding(MISTAKE)
        return None

    def _named(self, key: StepKey, matches: list[Match], wrong: Wrong) -> Finding:
        """The finding that names the mistakes: the likeliest one, and beside it what would explain as much."""
        best, *others = matches
        named = ids(best)
        ties = [ids(match) for match in others if ids(match) != named]
        aliases = [alias.id for mistake in best for alias in self._aliases(mistake)]
        return Finding(
            MISTAKE,
            kind=best[0].kind,
            mistakes=named,
            also=tuple(dict.fromkeys(["+".join(tie) for tie in ties] + aliases)),
            hint=best[0].hint,
            says="; ".join(map(self._said, best)),
            separate=self._separating(key, matches) if ties else None,
            wrong=wrong,
        )

    def _said(self, mistake: Mistake) -> str:
        """The wrong rule; of one that is an option, how that would be set."""
        if mistake.options is None:
            return mistake.says
        given = self.key.problem.settled
        return f"{mistake.says} ({_set_otherwise(mistake.options(given), given)})"

    def _separating(self, key: StepKey, matches: list[Match]) -> dict[str, Any] | None:
        """Operands that tell ties apart, found once for a key."""
        if self.key.large:
            return None
        known, tie = self.key.separated, (key, tuple(map(ids, matches)))
        if tie not in known:
            known[tie] = separating(self.key, key, matches)
        return known[tie]

    def _aliases(self, mistake: Mistake) -> Iterable[Mistake]:
        return (m for m in self.key.known if m.alias_of == mistake.id and self.key.ways.way(m) is not None)

    def _slipped(self, question: Question) -> Finding | None:
        key, answer, expected, own = question[:4]
        if key in self.key.complex:
            return None
        tried = [(expected, self.key.true(own))]
        if not question.sound and (follows := self.key.value(key, own=own)) is not None:
            tried.append((follows, own))
        for value, base in tried:
            found = slips(self.key, question, value, base) if value.shape == answer.shape else None
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
        given, due = _extent(answer.shape), _extent(expected.shape)
        return found or Finding(UNEXPLAINED, hint=f"the answer is {given}, and {due} is asked for")


def _extent(shape: tuple[int, ...]) -> str:
    """`2 × 3`, `a list of 3 numbers`, where 3 alone might be taken for the answer itself."""
    return f"a list of {amount(shape[0], 'number')}" if len(shape) == 1 else shape_text(shape)


def _set_otherwise(changed: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """How other options are set than those that were given: `--layout half, where the problem says interleaved`."""
    others = {name: value for name, value in changed.items() if value != given[name]}
    return "; ".join(_other_setting(name, value, given[name]) for name, value in others.items())


def _other_setting(name: str, value: Any, given: Any) -> str:
    if isinstance(value, bool):
        return f"with {flag(name)}, where the problem is without" if value else f"without {flag(name)}"
    return f"{flag(name)} {typed(value)}, where the problem says {typed(given)}"
