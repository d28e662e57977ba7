"""A session of practice: what is said to it, line by line, and what it says back; problem after problem."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy as np

from attncalc.common.errors import AttncalcError, amount, are, both, listed, near
from attncalc.common.numerals import HINTS, QUESTION, RULE
from attncalc.homework.diagnosis.key import known
from attncalc.homework.practice.posed import AIDED, FOLLOWED, UNAIDED, Posed, Task
from attncalc.homework.practice.questions import Why, largest, place, why
from attncalc.homework.quiz.worksheets import DECIMALS, about, given
from attncalc.homework.reading.sheets import MOST_BYTES, read_sheet
from attncalc.inputs.reading import Reading
from attncalc.record.numbers import in_marks
from attncalc.record.verdicts import EARLY, FOLLOWS, MISSING, RIGHT, SOUND, TO_ROUNDING, USUAL_POLICY, Finding
from attncalc.render.page import Block, Heading, Paragraph, Part, Point, Points

WORDS = ("hint", "why", "skip", "back", "list", "next", "quit")
"""What may be said in place of an answer, each also by its first letter."""
LETTERS = {word[0]: word for word in WORDS}
ENOUGH = 3
"""After this many problems in a row without help the session ends."""
AGAIN = 3
"""After this many times the same wrong answer a hint is offered."""
MOST_CELLS = 6
TOLD = (
    "An answer is what an operand takes: 1 2; 3 4, or a file as @FILE. In its place you can say "
    f"{', '.join(WORDS)}, or their first letters."
)

PRAISE = {
    RIGHT: "Right.",
    TO_ROUNDING: "Right, but for the last digit.",
    EARLY: "Right, from numbers that were rounded on the way.",
    FOLLOWS: "It follows from your own values, of which some are wrong: back goes to them.",
}

Draw = Callable[[int, str], Posed]
"""Draws a problem by its number, from 0 on, on which a mistake shows if there is a choice; AttncalcError: no more."""


class Session:
    """What one student practises."""

    def __init__(
        self,
        draw: Draw,
        number: int = 0,
        *,
        fade: bool = False,
        whys: bool = True,
        predict: bool = False,
        hints: str = QUESTION,
        decimal: str = ".",
        called: str = "",
    ) -> None:
        self.called = called  # a problem of one's own, as its file was called
        self.draw, self.number, self.first, self.fade = draw, number, number, fade
        self.whys, self.predict, self.hints, self.decimal = whys, predict, hints, decimal
        self.question: Why | None = None
        self.right = 0  # how many steps were right without help
        self.predicted: dict[str, tuple[int, ...]] = {}  # where the student expects the largest entry of each step
        self.example: list[Block] = []  # the steps that are worked out
        self._pose(draw(number, ""))
        self.ended = False
        self.unaided = 0  # how many problems in a row were done without help
        self.counted = False  # whether the problem at hand is in that number
        self.last: dict[str, str] = {}  # how each step ended the last time
        self.met: dict[str, int] = {}  # mistakes, and how often they were made
        self.latest = ""
        self.said = ""  # the last line, with the numbers of a file in place of its name

    def _pose(self, posed: Posed) -> None:
        """Begin with a problem; where examples fade, its first steps are worked out, each time one less."""
        self.posed, self.counted = posed, False
        self.predicted = {}
        self.at = max(len(posed.tasks) - (self.number - self.first), 0) if self.fade else 0
        self.example = [block for task in posed.tasks[: self.at] for block in posed.work_out(task)]

    @property
    def solved(self) -> bool:
        """Whether all that was begun is solved."""
        states = self.last | {
            task.name: task.state for task in self.posed.tasks if self._is_begun(task) and not task.given
        }
        return bool(states) and all(state in (UNAIDED, AIDED) for state in states.values())

    def _is_begun(self, task: Task) -> bool:
        """Whether a task counts: of a problem that nobody has touched, none does, unless it is the first.

        What is worked out as an example never does.
        """
        own = [each for each in self.posed.tasks if not each.given]
        touched = any(each.answer or each.tries or each.hints or each.part for each in own)
        return not task.given and (self.number == self.first or touched)

    @property
    def task(self) -> Task | None:
        """The task at hand."""
        return self.posed.tasks[self.at] if self.at < len(self.posed.tasks) else None

    # What is said back

    def begin(self) -> list[Block]:
        """The problem, and the first task."""
        posed = self.posed
        told = Part("exercises", Heading("Given"), given(posed.trace, posed.asked.shown))
        asks = [*self.example, *self._asks()]
        if self.number > self.first:
            return [told, *asks]
        advice = Paragraph(f"{TOLD} Write {DECIMALS} decimals where a number does not come out sooner.", "onward")
        return [Heading(posed.trace.calculation), Paragraph(about(posed.trace)), told, advice, *asks]

    def again(self) -> list[Block]:
        """The problem and the task at hand, for whoever comes back."""
        return [Paragraph("This goes on from where it was left."), *self.begin()]

    def record(self) -> dict[str, Any]:
        """What was said last, and where things stand after it."""
        found: dict[str, Any] = {"said": self.said, "problem": self.number}
        if self.task is not None:
            task = self.task
            verdict = task.finding.verdict if task.finding else None
            found |= {"step": task.name, "state": task.state, "verdict": verdict, "hints": task.hints}
        return found

    def hear(self, line: str) -> list[Block]:
        """What is said back to a line: a word, or an answer."""
        self.said = line.strip()
        word = self.said.casefold()
        if word in ("help", "?"):
            return [Paragraph(TOLD)]
        word = LETTERS.get(word, word)
        asked, self.question = self.question, None
        replied = asked.replied(word) if asked else self._foreseen(self.said)
        if replied is not None:
            return replied
        if word in WORDS:
            say: Callable[[], list[Block]] = getattr(self, f"_{word}")
            return say()
        return self._answered(self.said) if word else []

    def _asks(self) -> list[Block]:
        """The question for the task at hand."""
        task, every = self.task, self.posed.tasks
        if task is None:
            return self._end_of_problem()
        step = task.step
        sizes = " × ".join(f"{axis}={size}" for axis, size in zip(step.axes, step.shape, strict=True))
        made_of = f", from {both(task.exercise.made_of)}" if task.exercise.made_of else ""
        asked = f"Step {self.at + 1} of {len(every)}: {task.name}, {sizes or 'a number'}{made_of}"
        found: list[Block] = [Paragraph(asked, "onward")]
        if (where := task.exercise.where) is not None and not where.all():
            entries = [*map(task.entry, np.argwhere(where).tolist())]
            found.append(Paragraph(f"Only {both(entries)} {are(entries)} asked for."))
        if self._may_foresee(task):
            found.append(
                Paragraph("Which entry will be the largest? Say its place, as [0], [1,0] or by labels, or go on.")
            )
        if task.in_parts:
            found.append(Paragraph(f"A row or a cell at a time will do: {self.posed.place(task)} is next."))
        if not task.is_done and self.last.get(task.name, UNAIDED) not in (UNAIDED, FOLLOWED):
            found += self.posed.why(task)
        return found

    def _end_of_problem(self) -> list[Block]:
        left = [task.name for task in self.posed.tasks if not task.is_done]
        if left:
            said = f"Left open: {listed(left, MOST_CELLS)}. back goes to the step before, next to other numbers."
            return [Paragraph(said)]
        self._count()
        if self.ended:
            return [*self._earned(), *self._closing()]
        return [Paragraph("This problem is done. next gives other numbers, quit ends."), *self._earned()]

    def _earned(self) -> list[Block]:
        """The marks of the problem, where a policy says what answers earn."""
        if self.posed.policy == USUAL_POLICY:
            return []
        return [Paragraph(f"It earns {in_marks(*self.posed.marks)}.")]

    def _count(self) -> None:
        """Count the problem that is done."""
        if self.counted:
            return
        self.counted = True
        alone = all(task.state == UNAIDED for task in self.posed.tasks)
        self.unaided = self.unaided + 1 if alone else 0
        self.ended = self.unaided >= ENOUGH

    def _closing(self) -> list[Block]:
        """What was met, and what to do next."""
        name = self.posed.problem.name
        said = {mistake.id: mistake for mistake in known(self.posed.problem.calculation.name)}
        self._remember()
        points = [Point(f"{one}, {count} ×", said[one].hint if one in said else "") for one, count in self.met.items()]
        found: list[Block] = [Paragraph(f"{self.unaided} problems in a row without help.")] if self.ended else []
        if points and self.hints != HINTS[0]:
            found.append(Part("section", Heading("Met on the way"), (Points(tuple(points)),)))
        weak = [step for step, state in self.last.items() if state not in (UNAIDED, FOLLOWED)]
        onward = f"Next: attncalc practice {name} --level hard"
        if weak:
            onward = f"Next: attncalc practice {self.called or name}, for {listed(weak, MOST_CELLS)}"
        return [*found, Paragraph(onward)]

    def close(self) -> list[Block]:
        """What is said if somebody ends early."""
        return [] if self.ended else self._closing()

    def _remember(self) -> None:
        """Keep how the steps of the problem at hand have ended."""
        for task in self.posed.tasks:
            if self._is_begun(task):
                self.last[task.name] = task.state
            for mistake in task.met:
                self.met[mistake] = self.met.get(mistake, 0) + 1
            task.met.clear()

    # Answers

    def _answered(self, text: str) -> list[Block]:
        """Judge an answer; where the task at hand is done, it is for the next one that is not."""
        if self.task is None:
            return [Paragraph("Every step has been asked for. next gives other numbers, back goes back, quit ends.")]
        found: list[Block] = []
        if self.task.is_done and not self.task.shown:
            ahead = [i for i in range(self.at, len(self.posed.tasks)) if not self.posed.tasks[i].is_done]
            if not ahead:
                return [Paragraph("This step is done. next goes on.")]
            self.at = ahead[0]
            found = self._asks()
        task = self.task
        assert task is not None, "it was found"
        try:
            if text.startswith("-") and (text == "-" or text[1:2] == "#"):
                raise AttncalcError("answers are typed here: no file is read from standard input")
            sheet = read_sheet(text, Reading(decimal=self.decimal, most=MOST_BYTES))
            finding = self.posed.judge(task, sheet)
            if sheet.source:
                self.said = json.dumps({name or task.name: one.text.tolist() for name, one in sheet.steps.items()})
        except AttncalcError as fault:
            said = f"That cannot be read, and counts for nothing: {fault.message}."
            word = (near(text, WORDS) or "help tells what can be said") if text.isalpha() else ""
            return [*found, Paragraph(" ".join(filter(None, [said, word or fault.hint])))]
        self.latest = next(iter((*finding.mistakes, *finding.perhaps)), self.latest)
        return [*found, *self._told(task, finding)]

    def _told(self, task: Task, finding: Finding) -> list[Block]:
        """What is found of an answer."""
        if finding.verdict in (*SOUND, FOLLOWS) and task.is_done and task.part is None:
            said = PRAISE[finding.verdict]
            seen = self._seen(task)
            self.question = self._whys(task)
            asked = self.question.asked() if self.question else []
            if self.at + 1 < len(self.posed.tasks):
                return [Paragraph(f"{said} next goes on.", "sound"), *seen, *asked]
            self.at += 1
            return [Paragraph(said, "sound"), *seen, *self._end_of_problem(), *([] if self.ended else asked)]
        if finding.verdict in (MISSING, FOLLOWS):
            said = "Right so far." if finding.verdict == MISSING else "So far it follows from your own values."
            return [Paragraph(f"{said} {self.posed.place(task)} is next.", "sound")]
        cells = [task.entry(at) for at in finding.wrong.cells if at]
        some = cells and finding.wrong.number < prod(task.step.shape)
        where = f"Look at {listed(cells, MOST_CELLS)}." if some else ""
        said = " ".join(filter(None, ["Not right yet.", where, *self._behind(finding)]))
        found: list[Block] = [Paragraph(said, "wrong")]
        left = self.posed.attempts_left(task)
        if left is not None and left <= 0:
            again = "That was the last attempt. The step comes back with other numbers. next goes on."
            return [*found, *self.posed.show(task), Paragraph(again)]
        if left is not None:
            found.append(Paragraph(f"{amount(left, 'attempt is', 'attempts are')} left."))
        if task.repeated >= AGAIN:
            found.append(Paragraph("That same answer came before: hint helps you on."))
        elif sum(task.tries.values()) == 1 and not self.at and self.number == self.first:
            found.append(Paragraph("Try again, or next goes on with your value, skip with the right one."))
        return found

    def _behind(self, finding: Finding) -> list[str]:
        """What is told of what is behind a wrong answer."""
        if self.hints == HINTS[0]:
            return []
        perhaps = "It may be chance, but:" if finding.perhaps else ""
        rule = f"{'+'.join(finding.mistakes)}: {finding.says}." if self.hints == RULE and finding.mistakes else ""
        return [perhaps, rule, _sentence(finding.hint)]

    # Questions beside the numbers

    def _whys(self, task: Task) -> Why | None:
        """Now and then, the question why a right step is there."""
        if not self.whys or task.state != UNAIDED:
            return None
        self.right += 1
        return why(self.posed, task, self.right)

    def _may_foresee(self, task: Task) -> bool:
        return self.predict and not task.is_done and not task.shown and largest(task.step) is not None

    def _foreseen(self, text: str) -> list[Block] | None:
        """What is said back to a place; None if it is no place, or if none was asked for."""
        task = self.task
        if task is None or not self._may_foresee(task) or (found := place(task.step, text)) is None:
            return None
        self.predicted[task.name] = found
        return [Paragraph("Work it out, and see.")]

    def _seen(self, task: Task) -> list[Block]:
        """Whether the largest entry is where it was said to be."""
        said, found = self.predicted.get(task.name), largest(task.step)
        if said is None or found is None:
            return []
        where = task.entry(found)
        return [Paragraph(f"The largest is {where}{', as you said' if said == found else ''}.")]

    # Words

    def _hint(self) -> list[Block]:
        task = self.task
        if task is None or (task.is_done and not task.shown):
            return [Paragraph("There is nothing left to hint at: next goes on.")]
        if task.shown:
            return [*self.posed.show(task), Paragraph("next goes on.")]
        found = [*self.posed.hint(task)]
        if not task.shown:
            return [*found, Paragraph(f"Hints left before the step itself is shown: {self.posed.left(task)}.")]
        return [*found, Paragraph("That is the step. It comes back with other numbers, to be done. next goes on.")]

    def _why(self) -> list[Block]:
        if self.task is None:
            return [Paragraph("No step is asked for.")]
        if not self.task.is_done and not self.task.hints:
            self.task.hints = 1  # it is the first of the hints
        words = [Paragraph(text) for text in self.task.step.about]
        found: list[Block] = [*self.posed.why(self.task), *words[:2]]
        return found or [Paragraph("No reason is known.")]

    def _skip(self) -> list[Block]:
        if self.task is not None and not self.task.is_done:
            self.task.answer = self.task.part = None  # later steps are judged by the right one
        return self._next()

    def _next(self) -> list[Block]:
        if self.task is not None:
            self.at += 1
            return self._asks()
        self._remember()
        try:
            posed = self.draw(self.number + 1, self.latest)
        except AttncalcError as fault:
            return [Paragraph(f"There are no other numbers: {fault.message}. quit ends.")]
        self.number += 1
        self._pose(posed)
        return self.begin()

    def _back(self) -> list[Block]:
        self.at = max(self.at - 1, 0)
        return self._asks()

    def _list(self) -> list[Block]:
        return [Points(tuple(self._listed()))]

    def _listed(self) -> Iterator[Point]:
        for i, task in enumerate(self.posed.tasks):
            here = " (here)" if i == self.at else ""
            yield Point(f"{i + 1}. {task.name}{here}", task.state)

    def _quit(self) -> list[Block]:
        found = self.close()
        self.ended = True
        return found


def _sentence(text: str) -> str:
    return "" if not text else text[:1].upper() + text[1:] + ("" if text.endswith(("?", ".")) else ".")
