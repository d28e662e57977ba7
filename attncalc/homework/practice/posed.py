"""One problem that is practised: what was answered to each of its steps, what was found of that, and its hints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from attncalc.common.errors import InputError, place_text
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.marking.marker import Marker
from attncalc.homework.quiz.handouts import exercises_of
from attncalc.homework.quiz.worksheets import Exercise, tells_formulas
from attncalc.homework.reading.answers import Answer, Sheet, from_array, from_text
from attncalc.homework.reading.sheets import EVERYTHING, Asked
from attncalc.inputs.given import brackets
from attncalc.record.trace import Step
from attncalc.record.verdicts import FOLLOWS, MARK_DECIMALS, MISSING, SOUND, USUAL_POLICY, Finding, Policy, earned
from attncalc.render import View
from attncalc.render.entries import cells
from attncalc.render.page import Block, Heading, Line, Paragraph, Part
from attncalc.render.traces import table
from attncalc.solve.problem import Problem
from attncalc.solve.solver import solve

UNAIDED, AIDED, SHOWN, OPEN, FOLLOWED, GIVEN = "unaided", "aided", "shown", "to do", "follows", "worked out"
"""How a step ends; what is still to do; what is right but for an own wrong value; what is not asked for."""
MOST_AT_ONCE = 16
"""A step with more entries may be answered a row or a cell at a time."""
MOST_TRIED = 24
"""How many entries are tried, at most, to find one that can be worked out as an example."""


@dataclass(eq=False)
class Task:
    """A step that is asked for."""

    exercise: Exercise
    answer: Answer | None = None  # what later steps are worked out from
    finding: Finding | None = None
    share: float = 0.0  # of its entries, how many are right
    part: Answer | None = None  # the rows and cells so far, of a step that is answered in parts
    hints: int = 0  # how many were taken
    shown: bool = False
    given: bool = False  # worked out from the beginning, as an example
    tries: Counter[str] = field(default_factory=Counter)  # wrong answers, by how they were written
    repeated: int = 0  # how often the last wrong answer was given
    met: list[str] = field(default_factory=list)  # the mistakes that were found in it

    @property
    def step(self) -> Step:
        """The step."""
        return self.exercise.step

    @property
    def name(self) -> str:
        """The name by which the step is asked for."""
        return self.step.key

    def entry(self, at: Iterable[Any]) -> str:
        """How an entry is called: `weights[1,0]`."""
        return self.name + place_text(at)

    @property
    def state(self) -> str:
        """How it has ended, or that it has not."""
        if self.shown:
            return GIVEN if self.given else SHOWN
        if self.finding is None or self.finding.verdict not in (*SOUND, FOLLOWS):
            return OPEN
        if self.finding.verdict == FOLLOWS:
            return FOLLOWED
        return AIDED if self.hints else UNAIDED

    @property
    def is_done(self) -> bool:
        """Whether one may go on without leaving something behind."""
        return self.state != OPEN

    @property
    def in_parts(self) -> bool:
        """Whether it may be answered a row or a cell at a time."""
        return self.step.value is not None and self.step.value.size > MOST_AT_ONCE and self.exercise.where is None

    @property
    def first_blank(self) -> int:
        """The number of the first entry, in their order, that is not answered yet."""
        return 0 if self.part is None else int(np.argmin(self.part.answered.ravel()))


class Posed:
    """A problem with its tasks, in the order in which a hand works."""

    def __init__(self, problem: Problem, asked: Asked = EVERYTHING, policy: Policy = USUAL_POLICY) -> None:
        self.problem, self.asked, self.policy = problem, asked, policy
        self.key = Key(problem)
        self.trace = solve(problem, keep_all=True)
        self.marker = Marker(self.key, policy=policy, asked=asked, suppose=True)
        self.tasks = [Task(exercise) for exercise in exercises_of(self.trace, self.key, asked)]

    @property
    def is_done(self) -> bool:
        """Whether every task has ended."""
        return all(task.is_done for task in self.tasks)

    @property
    def marks(self) -> tuple[float, float]:
        """What the tasks have earned by the policy, and what can be earned: each hint costs its share of a step."""
        found = out_of = 0.0
        for task in self.tasks:
            weight = self.marker.points.get(self.key.names.find(task.name), 1)
            out_of += 0 if task.given else weight * self.policy.full
            if task.finding is not None and not task.shown:
                left = max(1 - self.policy.hint_cost * task.hints, 0)
                found += left * weight * earned(task.finding.verdict, task.share, self.policy)
        return round(found, MARK_DECIMALS), round(out_of, MARK_DECIMALS)

    def attempts_left(self, task: Task) -> int | None:
        """How many wrong answers a step may have yet; None: any number."""
        return self.policy.attempts - sum(task.tries.values()) if self.policy.attempts else None

    # Answers

    def judge(self, task: Task, sheet: Sheet) -> Finding:
        """The finding on an answer to a task, beside the own values of the other ones.

        Tasks that are open, or follow from own values, are judged anew. Raises InputError for what is no answer to it.
        """
        said = self._completed(task, self._answer(task, sheet))
        before = {each.name: each.answer for each in self.tasks if each.answer is not None and each is not task}
        marked = self.marker.mark(Sheet({**before, task.name: said}))
        steps = {self.key.names.find(step.name): step for step in marked.steps}
        found = {name: step.finding for name, step in steps.items()}
        own = steps[self.key.names.find(task.name)]
        finding = own.finding
        if finding.verdict == MISSING and said is not task.part and not task.in_parts:
            raise InputError(finding.hint)
        if not said.answered.all() and task.in_parts and finding.verdict in (MISSING, FOLLOWS):
            task.part = said
            return finding
        is_done = finding.verdict in (*SOUND, FOLLOWS)
        if is_done or task.part is None:
            task.answer, task.finding, task.share = said, finding, own.share
        if is_done:
            task.part = None
        else:
            written = " ".join(map(str, said.text.ravel()))
            written = written if written.strip() else str(said.value.tolist())
            task.tries[written] += 1
            task.repeated = task.tries[written]
            task.met += finding.mistakes
        for other in self.tasks:
            if other.answer is not None and other is not task and other.state in (OPEN, FOLLOWED):
                other.finding = found[self.key.names.find(other.name)]
        return finding

    def _answer(self, task: Task, sheet: Sheet) -> Answer:
        """The answer to a task in what was said: the only one, or that of its name."""
        own = self.key.names.find(task.name)
        found = [answer for name, answer in sheet.steps.items() if name and self.key.names.find(name) == own]
        if not found and [*sheet.steps] == [""]:
            found = [sheet.steps[""]]
        if len(found) != 1:
            raise InputError(f"that holds no answer to {task.name}")
        if not found[0].answered.any():
            raise InputError("nothing is answered")
        return found[0]

    def _completed(self, task: Task, said: Answer) -> Answer:
        """The answer to a whole step: a row or a cell after those before it, or entries asked for in their places."""
        where = task.exercise.where
        if where is not None and said.value.size == np.count_nonzero(where) < where.size:
            alone = np.full(where.shape, None, dtype=object)
            alone[where] = said.text.ravel()
            return from_text([*alone.ravel()], where.shape, brackets("", task.name))
        row = task.step.shape[-1] if task.step.shape else 1
        count, first = said.value.size, task.first_blank
        if not task.in_parts or count not in (1, row) or said.asked is not None:
            return said
        if count > 1 and first % row:
            raise InputError(f"a row begun cell by cell is finished so: {self.place(task)} is next")
        size = int(np.prod(task.step.shape))
        entries = [None] * size if task.part is None else [*task.part.text.ravel()]
        entries[first : first + count] = said.text.ravel()
        return from_text(entries, task.step.shape, brackets("", task.name))

    def place(self, task: Task) -> str:
        """Which entry of a large step is next: `weights[1,0]`."""
        return task.entry(np.unravel_index(task.first_blank, task.step.shape))

    # Hints: the principle; the rule with its sizes; another entry worked out; this step itself

    def hint(self, task: Task) -> Sequence[Block]:
        """The next hint; the last one shows the step."""
        ladder = [*self._ladder(task)]
        rung = min(task.hints, len(ladder))
        task.hints += 1
        return ladder[rung] if rung < len(ladder) else self.show(task)

    def left(self, task: Task) -> int:
        """How many hints there are before the step itself is shown."""
        return max(len([*self._ladder(task)]) - task.hints, 0)

    def _ladder(self, task: Task) -> Iterator[Sequence[Block]]:
        step = task.step
        if self.why(task):
            yield self.why(task)
        if step.formula and tells_formulas(self.trace):
            yield [Paragraph(" = ".join(filter(None, (step.symbol, step.formula, step.sizes))))]
        if lines := self._example(task):
            yield [Paragraph(f"Another entry: {lines[0].text}")]

    def why(self, task: Task) -> list[Block]:
        """The reason for a step."""
        words = [task.step.why] if task.step.why else [*task.step.about[:1]]
        return [Paragraph(f"{text[:1].upper()}{text[1:]}.".replace("..", ".")) for text in words]

    def _example(self, task: Task) -> tuple[Line, ...]:
        """Another entry of a step, worked out: not the one that is next, nor the first wrong one.

        If only some entries are asked for, it is none of these.
        """
        step, wrong = task.step, task.finding.wrong.cells[:1] if task.finding else ()
        if step.value is None or step.value.size < 2:
            return ()
        asked = np.unravel_index(task.first_blank, step.shape) if not wrong else wrong[0]
        where = task.exercise.where
        others = np.ndindex(*step.shape) if where is None or where.all() else map(tuple, np.argwhere(~where).tolist())
        places = (at for at in others if at != tuple(map(int, asked)))
        for at in islice(places, MOST_TRIED):
            found = tuple(line for _, line in cells(self.trace, View(cells=(task.entry(at),))) if line.arithmetic)
            if found:
                return found
        return ()

    def work_out(self, task: Task) -> list[Block]:
        """A step as an example: its reason, its rule and its value."""
        task.given = True
        return [*(block for rung in self._ladder(task) for block in rung), *self.show(task)]

    def show(self, task: Task) -> Sequence[Block]:
        """The value of a step, which is taken for the writer's own."""
        assert task.step.value is not None, "it is asked for"
        task.shown, task.part = True, None
        task.answer = from_array(task.step.value.astype(float), brackets("", task.name))
        task.finding = None
        return [Part("exercises", Heading(f"This step: {task.name}"), (table(task.step, self.trace, View()),))]
