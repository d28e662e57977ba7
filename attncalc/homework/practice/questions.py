"""What is asked beside the numbers, and never counted: why a step is there, and which of its entries is the largest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attncalc.common.system import NamedTuple
from attncalc.homework.practice.posed import Posed, Task
from attncalc.record.trace import Step
from attncalc.render.page import Block, Paragraph

REASONS = 3
"""How many reasons of real steps are offered, one of which is right."""
ONE_IN = 3
"""One in this many right steps is followed by the question why it is there."""


class Why(NamedTuple):
    """Which of some reasons is that of a step."""

    name: str
    reasons: Sequence[str]
    right: int  # counted from 1, as they are shown

    def asked(self) -> list[Block]:
        """The question."""
        listed = [Paragraph(f"{number}  {reason}") for number, reason in enumerate(self.reasons, 1)]
        return [Paragraph(f"Which of these is why there is a step {self.name}? Say 1, 2 or 3, or go on."), *listed]

    def replied(self, text: str) -> list[Block] | None:
        """What is said back to a number; None for anything else, which is no reply."""
        if text not in map(str, range(1, len(self.reasons) + 1)):
            return None
        if int(text) == self.right:
            return [Paragraph("Yes, that is why.", "sound")]
        return [Paragraph(f"It is {self.right}: {self.reasons[self.right - 1]}.")]


def why(posed: Posed, task: Task, turn: int) -> Why | None:
    """The question why a step is there, now and then; None otherwise, and if there are not three reasons.

    It is not asked before a step of a single number, whose answer might be 1, 2 or 3 as well.
    """
    ahead = posed.tasks[posed.tasks.index(task) + 1 :]
    if turn % ONE_IN or task.hints or (ahead and not ahead[0].step.shape):
        return None
    own = task.step.why
    others = dict.fromkeys(step.why for step in posed.trace.steps if step.why and step.why != own)
    if not own or len(others) < REASONS - 1:
        return None
    first = turn // ONE_IN % (len(others) - REASONS + 2)
    reasons = [*others][first : first + REASONS - 1]
    place = (turn // ONE_IN + len(task.name)) % REASONS
    return Why(task.name, [*reasons[:place], own, *reasons[place:]], place + 1)


def largest(step: Step) -> tuple[int, ...] | None:
    """The place of a step's largest entry; None where two are as large, or there is but one."""
    value = step.value
    if value is None or value.size < 2 or value.dtype.kind not in "fiu" or (value == value.max()).sum() != 1:
        return None
    return tuple(map(int, np.unravel_index(int(value.argmax()), value.shape)))


def place(step: Step, text: str) -> tuple[int, ...] | None:
    """The place that is meant, by indices or labels: `1,0`, `[cat,the]`; None where it is no place of the step."""
    words = [word.strip() for word in text.strip().removeprefix("[").removesuffix("]").split(",")]
    if len(words) != len(step.shape):
        return None
    found = []
    for word, axis, size in zip(words, step.axes, step.shape, strict=True):
        labels = [label.casefold() for label in step.labels.get(axis, ())]
        known = labels.index(word.casefold()) if word.casefold() in labels else int(word) if word.isdecimal() else size
        if known >= size:
            return None
        found.append(known)
    return tuple(found)
