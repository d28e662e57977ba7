"""What a class tells of the problem: how many had each step right, how it tells strong from weak, who erred how."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import StatisticsError, correlation
from typing import Any

from attncalc.common.errors import listed
from attncalc.common.system import NamedTuple, grouped
from attncalc.homework.marking.whole_class import Graded, readable, tally
from attncalc.record.verdicts import FOLLOWS, MISSING, SOUND, Marked, MarkedStep
from attncalc.render.page import Block, Heading, Paragraph, Part, Row, Rows

ENOUGH = 30
"""The fewest sheets for which a correlation is reported."""
ABOUT = "Facility is the share of a step's marks that was reached."
WITH_REST = (
    "With the rest is how a step's marks go with those of all others: near 1 it tells strong from weak, near 0 or "
    "below it does not."
)
OF_STEPS = "Counted are the steps of all sheets together, of variants that several students had."
ALONE = "Everybody has numbers of their own: figures of a variant would be those of one sheet."
TOO_FEW = f"How a step's marks go with those of the others is said from {ENOUGH} sheets on."


class Item(NamedTuple):
    """A step, over a class."""

    step: str
    sheets: int  # on which it counts
    right: int
    followed: int
    left_out: int
    facility: float | None  # the share of its marks that was reached; None if it has no marks
    with_rest: float | None  # the correlation with the marks of the other steps, if enough sheets have different ones


class Whole(NamedTuple):
    """One of several problems, or a variant that several students had: all its steps, over a class."""

    problem: str
    variant: str  # its hash; "" for all variants
    sheets: int
    steps: int  # on all sheets together
    right: int
    followed: int
    left_out: int
    facility: float | None


def document(told: Item | Whole) -> dict[str, Any]:
    """An item, or a whole problem, as a report in JSON has it."""
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in told._asdict().items()}


MOST_ALSO = 2
"""The most mistakes that are named because they cannot be told from another one."""


class Made(NamedTuple):
    """A mistake that was made, and by whom."""

    name: str
    students: tuple[str, ...]
    says: str
    hint: str
    also: str = ""  # what cannot be told from it: ` (or mh-scale-dmodel)`


def step_names(graded: Sequence[Graded]) -> list[str]:
    """Every step that a sheet has a place for, in the order of the calculation as far as the sheets show it."""
    fullest_first = sorted(graded, key=lambda one: -len(one.steps))
    return list(dict.fromkeys(step.name for one in fullest_first for step in one.steps))


def items(graded: Sequence[Graded]) -> Iterator[Item]:
    """Each step that counts on some sheet."""
    asked = ((marked, step) for marked in readable(graded) for step in marked.steps if step.asked)
    counting = grouped(asked, lambda pair: pair[1].name)
    for name in filter(counting.__contains__, step_names(graded)):
        found = counting[name]
        yield Item(name, len(found), *_counts([step for _, step in found]), _with_rest(found))


def _with_rest(found: Sequence[tuple[Marked, MarkedStep]]) -> float | None:
    """The correlation of a step's marks with those of the other steps; None for few sheets, or if marks are alike."""
    if len(found) < ENOUGH:
        return None
    try:
        return correlation([step.score for _, step in found], [marked.score - step.score for marked, step in found])
    except StatisticsError:  # all have the same marks
        return None


def variants(graded: Sequence[Graded]) -> Iterator[Whole]:
    """Each problem, if there are several, and each variant that several students had, if there are other variants."""
    own: dict[str, dict[str, list[Graded]]] = {}
    for one in graded:
        for problem, variant in one.variants.items() if one.marked is not None else ():
            own.setdefault(problem, {}).setdefault(variant, []).append(one)
    for problem, found in own.items():
        if len(own) > 1:
            yield _whole(problem, "", [one for sheets in found.values() for one in sheets])
        for variant, sheets in found.items() if len(found) > 1 else ():
            if len(sheets) > 1:
                yield _whole(problem, variant, sheets)


def _whole(problem: str, variant: str, sheets: Sequence[Graded]) -> Whole:
    steps = [
        step
        for one in sheets
        for step in one.steps
        if step.asked and step.name.startswith(f"{problem}/" if problem else "")
    ]
    return Whole(problem, variant, len(sheets), len(steps), *_counts(steps))


def _counts(steps: Sequence[MarkedStep]) -> tuple[int, int, int, float | None]:
    """How many steps are right, follow or are left out, and the share of their marks that was reached."""
    verdicts, possible = [step.verdict for step in steps], sum(step.out_of for step in steps)
    facility = sum(step.score for step in steps) / possible if possible else None
    right = sum(verdict in SOUND for verdict in verdicts)
    return right, verdicts.count(FOLLOWS), verdicts.count(MISSING), facility


def made(graded: Sequence[Graded]) -> Iterator[Made]:
    """The mistakes of a class, the commonest first."""
    mistaken = ((one.student, step) for one in graded for step in one.steps)
    made_by = grouped(mistaken, lambda pair: pair[1].mistake)
    for name in tally(graded):
        students, steps = zip(*made_by[name], strict=True)
        found = steps[0].finding
        yield Made(name, tuple(dict.fromkeys(students)), found.says, found.hint, perhaps(steps))


def perhaps(steps: Sequence[MarkedStep]) -> str:
    """The other mistakes that may be behind all of these steps, too: ` (or mh-scale-dmodel)`; "" if there are none."""
    first, *others = ({*step.finding.also} for step in steps)
    shared = sorted(first.intersection(*others))
    return f" (or {listed(shared, MOST_ALSO)})" if shared else ""


def analysis(graded: Sequence[Graded]) -> Iterator[Block]:
    """Each step with its counts, and each mistake with those who made it."""
    if not (found := [*items(graded)]):
        return
    enough = any(item.sheets >= ENOUGH for item in found)
    head = ("step", "sheets", "right", "followed", "left out", "facility", *(["with the rest"] if enough else []))
    rows = []
    for item in found:
        rest = "–" if item.with_rest is None else f"{item.with_rest:.2f}"
        counts = map(str, (item.sheets, item.right, item.followed, item.left_out))
        rows.append(Row((item.step, *counts, _percent(item.facility), *([rest] if enough else []))))
    steps = Rows("each item", head, tuple(rows), code=frozenset({0}), right=frozenset(range(1, len(head))))
    yield Part("section", Heading("Steps"), (steps, Paragraph(f"{ABOUT} {WITH_REST if enough else TOO_FEW}", "about")))
    yield from _of_variants(graded)
    if mistaken := [*made(graded)]:
        told = [Row((m.name, str(len(m.students)), f"{m.says}{m.also}", m.hint), sound=False) for m in mistaken]
        head = ("mistake", "sheets", "the wrong rule", "hint")
        mistakes = Rows("each mistake", head, tuple(told), code=frozenset({0}), right=frozenset({1}))
        who = tuple(Row((m.name, ", ".join(m.students)), sound=False) for m in mistaken)
        makers = Rows("the students", ("mistake", "students"), who, code=frozenset({0}))
        yield Part("section", Heading("Mistakes"), (mistakes,))
        yield Part("section", Heading("Who made them"), (makers,))


def _of_variants(graded: Sequence[Graded]) -> Iterator[Block]:
    """The problems of a bank, and the variants that several students had; or why there are no figures of these."""
    marked = [one.variants for one in graded if one.marked is not None]
    if not (found := [*variants(graded)]):
        if len({*(each for one in marked for each in one.items())}) > 1:
            yield Paragraph(ALONE, "about")
        return
    names = ("problem", "variant") if any(whole.problem for whole in found) else ("variant",)
    rows = []
    for whole in found:
        counts = map(str, (whole.sheets, whole.steps, whole.right, whole.followed, whole.left_out))
        own = (whole.problem, whole.variant or "all")[-len(names) :]
        rows.append(Row((*own, *counts, _percent(whole.facility))))
    head = (*names, "sheets", "steps", "right", "followed", "left out", "facility")
    numbers = frozenset(range(len(names), len(head)))
    table = Rows("each variant", head, tuple(rows), code=frozenset(range(len(names))), right=numbers)
    yield Part("section", Heading("Variants"), (table, Paragraph(OF_STEPS, "about")))


def _percent(facility: float | None) -> str:
    return "–" if facility is None else f"{facility:.0%}"
