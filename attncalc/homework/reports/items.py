"""What a class tells of the problem: how many had each step right, how it tells strong from weak, who erred how."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import StatisticsError, correlation
from typing import Any

from attncalc.common.system import NamedTuple
from attncalc.homework.marking.whole_class import Graded, tally
from attncalc.record.verdicts import FOLLOWS, MISSING, SOUND, Marked, MarkedStep
from attncalc.render.page import Block, Heading, Paragraph, Part, Row, Rows

ENOUGH = 30
"""From so many sheets on a correlation is said."""
ABOUT = "Facility is the share of a step's marks that was reached."
WITH_REST = (
    "With the rest is how a step's marks go with those of all others: near 1 it tells strong from weak, near 0 or "
    "below it does not."
)
TOO_FEW = f"How a step's marks go with those of the others is said from {ENOUGH} sheets on."


class Item(NamedTuple):
    """A step, over a class."""

    step: str
    sheets: int  # on which it counts
    right: int
    followed: int
    left_out: int
    facility: float | None  # the share of its marks that was reached; None where it has none
    with_rest: float | None  # the correlation with the marks of the other steps, where there are enough that differ

    def to_dict(self) -> dict[str, Any]:
        """The step as a report in JSON has it."""
        return {name: round(value, 4) if isinstance(value, float) else value for name, value in self._asdict().items()}


class Made(NamedTuple):
    """A mistake that was made, and by whom."""

    name: str
    students: tuple[str, ...]
    says: str
    hint: str


def step_names(graded: Sequence[Graded]) -> list[str]:
    """Every step that a sheet has a place for, in the order of the calculation as far as the sheets show it."""
    marked = [one.marked for one in graded if one.marked is not None]
    fullest_first = sorted(marked, key=lambda sheet: -len(sheet.steps))
    return list(dict.fromkeys(step.name for sheet in fullest_first for step in sheet.steps))


def items(graded: Sequence[Graded]) -> Iterator[Item]:
    """Each step that counts on some sheet."""
    counting: dict[str, list[tuple[Marked, MarkedStep]]] = {name: [] for name in step_names(graded)}
    for one in graded:
        for step in one.marked.steps if one.marked is not None else ():
            if step.asked and one.marked is not None:
                counting[step.name].append((one.marked, step))
    for name, found in counting.items():
        if found:
            verdicts = [step.verdict for _, step in found]
            possible = sum(step.out_of for _, step in found)
            facility = sum(step.score for _, step in found) / possible if possible else None
            right = sum(verdict in SOUND for verdict in verdicts)
            followed, left_out = verdicts.count(FOLLOWS), verdicts.count(MISSING)
            yield Item(name, len(found), right, followed, left_out, facility, _with_rest(found))


def _with_rest(found: Sequence[tuple[Marked, MarkedStep]]) -> float | None:
    """How a step's marks go with those of the other steps."""
    if len(found) < ENOUGH:
        return None
    try:
        return correlation([step.score for _, step in found], [marked.score - step.score for marked, step in found])
    except StatisticsError:  # all have the same marks
        return None


def made(graded: Sequence[Graded]) -> Iterator[Made]:
    """The mistakes of a class, the commonest first."""
    first: dict[str, MarkedStep] = {}
    students: dict[str, dict[str, None]] = {}
    for one in graded:
        for step in one.marked.steps if one.marked is not None else ():
            if step.mistake is not None:
                first.setdefault(step.mistake, step)
                students.setdefault(step.mistake, {})[one.student] = None
    for name in tally(graded):
        found = first[name].finding
        yield Made(name, tuple(students[name]), found.says, found.hint)


def analysis(graded: Sequence[Graded]) -> Iterator[Block]:
    """Each step with its counts, and each mistake with those who made it."""
    if not (found := [*items(graded)]):
        return
    enough = any(item.sheets >= ENOUGH for item in found)
    head = ("step", "sheets", "right", "followed", "left out", "facility", *(["with the rest"] if enough else []))
    rows = []
    for item in found:
        facility = "–" if item.facility is None else f"{item.facility:.0%}"
        rest = "–" if item.with_rest is None else f"{item.with_rest:.2f}"
        counts = map(str, (item.sheets, item.right, item.followed, item.left_out))
        rows.append(Row((item.step, *counts, facility, *([rest] if enough else []))))
    steps = Rows("each item", head, tuple(rows), code=frozenset({0}), right=frozenset(range(1, len(head))))
    yield Part("section", Heading("Steps"), (steps, Paragraph(f"{ABOUT} {WITH_REST if enough else TOO_FEW}", "about")))
    if mistaken := [*made(graded)]:
        told = [Row((m.name, str(len(m.students)), m.says, m.hint), sound=False) for m in mistaken]
        head = ("mistake", "sheets", "the wrong rule", "hint")
        mistakes = Rows("each mistake", head, tuple(told), code=frozenset({0}), right=frozenset({1}))
        who = tuple(Row((m.name, ", ".join(m.students)), sound=False) for m in mistaken)
        makers = Rows("the students", ("mistake", "students"), who, code=frozenset({0}))
        yield Part("section", Heading("Mistakes"), (mistakes,))
        yield Part("section", Heading("Who made them"), (makers,))
