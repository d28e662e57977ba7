"""An audit shows whether marking is fair: what mistakes cost, by other policies too, and what was judged narrowly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attncalc.common.errors import amount
from attncalc.common.system import NamedTuple
from attncalc.homework.diagnosis.comparing import comes_out
from attncalc.homework.marking.regrading import remarked
from attncalc.homework.marking.whole_class import Graded, readable
from attncalc.record.numbers import format_number, in_marks, shortest
from attncalc.record.verdicts import CELLS, FOLLOWING, MARKS, SOUND, UNEXPLAINED, Marked, MarkedStep, Policy, earned
from attncalc.render.page import Block, Heading, Paragraph, Part, Row, Rows

NEAR_LIMIT = (0.8, 1.25)
"""A judgement is close if the answer is off by a share of the allowed error that lies between these."""
FEW_UNITS = 3
"""A judgement is close if a wrong answer is off by at most this many units of its last digit."""
ABOUT = (
    "Shares are of all marks that could be reached. Behind those of the policy at hand stand the same by marks {}, "
    "cells {}, follow {} and follow {}, all else being equal; marks changed by hand are left out."
)

CHANGED = "Reached is the share of all marks; changed are the students whose own share would be another."


class Cost(NamedTuple):
    """What a mistake, or a verdict that names none, cost a class."""

    name: str
    sheets: int
    lost: float
    share: float  # of all marks that could be reached
    otherwise: tuple[float, ...]  # the same by each other policy


class Close(NamedTuple):
    """A judgement that might have been different, and would then have changed the marks."""

    student: str
    step: str
    verdict: str
    marks: float
    otherwise: float
    why: str


def others(policy: Policy) -> dict[str, Policy]:
    """The policies that differ from this one in a single setting, by that setting."""
    return {
        **{f"marks {word}": replace(policy, marks=word) for word in MARKS if word != policy.marks},
        **{f"cells {word}": replace(policy, cells=word) for word in CELLS if word != policy.cells},
        **{f"follow {word}": replace(policy, follow=word) for word in FOLLOWING if word != policy.follow},
    }


def costs(graded: Sequence[Graded], policy: Policy) -> list[Cost]:
    """What each mistake cost, the dearest first."""
    sheets = readable(graded)
    lost, possible = zip(*(_lost(sheets, each) for each in (policy, *others(policy).values())), strict=True)
    found = []
    for name in lost[0]:
        shares = [each[name] / most if most else 0.0 for each, most in zip(lost, possible, strict=True)]
        number = sum(any(_class(step) == name for step in marked.steps) for marked in sheets)
        found.append(Cost(name, number, lost[0][name], shares[0], tuple(shares[1:])))
    return sorted(found, key=lambda cost: (-cost.lost, cost.name))


def _lost(sheets: Sequence[Marked], policy: Policy) -> tuple[dict[str, float], float]:
    """The marks that each mistake costs by a policy, and all marks that could be reached."""
    lost: dict[str, float] = {}
    possible = 0.0
    for marked in sheets:
        for step in remarked(marked, policy).steps:
            possible += step.out_of
            if name := _class(step):
                lost[name] = lost.get(name, 0.0) + step.out_of - step.score
    return lost, possible


def _class(step: MarkedStep) -> str:
    """What a wrong step is counted under: its mistake, else its verdict; "" if it is not wrong, or not asked for."""
    return "" if step.verdict in SOUND or not step.asked else step.mistake or step.verdict


def averages(graded: Sequence[Graded], at_hand: Policy) -> Iterator[tuple[str, float, int]]:
    """For each policy, the share of all marks that was reached, and how many students would have another share."""
    for name, policy in {"as it is": at_hand, **others(at_hand)}.items():
        sheets = [(remarked(marked, at_hand), remarked(marked, policy)) for marked in readable(graded)]
        possible = sum(now.out_of for _, now in sheets)
        moved = sum(bool(np.abs(_reached(was) - _reached(now)) > 1e-9) for was, now in sheets)
        yield name, (sum(now.score for _, now in sheets) / possible if possible else 0.0), moved


def _reached(marked: Marked) -> float:
    return marked.score / marked.out_of if marked.out_of else 0.0


def close(graded: Sequence[Graded], policy: Policy) -> Iterator[Close]:
    """The close judgements that would have changed marks if they had been different."""
    for one in graded:
        for step in one.steps:
            if step.asked and (why := _doubt(step, policy)):
                weight = step.out_of / policy.full
                other = weight * earned(UNEXPLAINED, 0.0, policy) if step.verdict in SOUND else step.out_of
                if other != step.score:
                    yield Close(one.student, step.name, step.verdict, step.score, other, why)


def _doubt(step: MarkedStep, policy: Policy) -> str:
    """Why a step may be judged otherwise; "" if it is clear."""
    if step.finding.close or step.finding.stopped:
        return step.finding.hint
    if step.finding.kind == "convention":
        return "right under another convention"
    off, allowed, units = _off(step, policy)
    if policy.tolerance is not None and allowed and NEAR_LIMIT[0] <= off / allowed <= NEAR_LIMIT[1]:
        return f"off by {format_number(off)}, where {format_number(allowed)} is allowed"
    if policy.tolerance is None and step.verdict not in SOUND and 1 <= units <= FEW_UNITS:
        return f"off by {amount(str(units), 'unit')} of its last digit"
    return ""


def _off(step: MarkedStep, policy: Policy) -> tuple[float, float, int]:
    """How far the worst entry is off, how far it may be, and how many units of its last digit that is.

    What is not known is 0: for an answer with gaps, or a report without the right values. The units are 0 too if the
    right value comes out in these digits, so that nothing was rounded.
    """
    try:
        given, right = (np.array(each, dtype=float).ravel() for each in (step.given, step.expected))
    except (TypeError, ValueError):
        return 0.0, 0.0, 0
    if given.shape != right.shape or not given.size or not np.isfinite([given, right]).all():
        return 0.0, 0.0, 0
    rtol, atol = policy.tolerance or (0.0, 0.0)
    off, allowed = np.abs(given - right), atol + rtol * np.abs(right)
    worst = int(np.argmax(off / allowed if allowed.all() else off))
    digits = max(len(shortest(each).partition(".")[2]) for each in given.tolist())
    units = 0 if comes_out(right[worst], 10.0**-digits) else round(float(off[worst]) * 10**digits)
    return float(off[worst]), float(allowed[worst]), units


def audit(graded: Sequence[Graded], policy: Policy) -> Iterator[Block]:
    """What each mistake cost, what other policies would make of the class, and the judgements that were close."""
    words = [name.partition(" ")[2] for name in others(policy)]
    rows = [
        Row((cost.name, str(cost.sheets), in_marks(cost.lost), *map(_percent, (cost.share, *cost.otherwise))))
        for cost in costs(graded, policy)
    ]
    head = ("mistake", "sheets", "lost", "share", *words)
    cost = Rows("what each cost", head, tuple(rows), code=frozenset({0}), right=frozenset(range(1, len(head))))
    about = Paragraph(ABOUT.format(*words), "about")
    yield Part("section", Heading("What mistakes cost"), (cost, about) if rows else (Paragraph("Nothing was lost."),))
    compared = (Row((name, _percent(reached), str(moved))) for name, reached, moved in averages(graded, policy))
    whole = Rows("each policy", ("policy", "reached", "changed"), tuple(compared))
    yield Part("section", Heading("By other policies"), (whole, Paragraph(CHANGED, "about")))
    doubts = [
        Row((each.student, each.step, f"{each.verdict}, {in_marks(each.marks)}", in_marks(each.otherwise), each.why))
        for each in close(graded, policy)
    ]
    table = Rows("each judgement", ("student", "step", "judged", "else", "why"), tuple(doubts), code=frozenset({1}))
    told = (table,) if doubts else (Paragraph("No judgement was close."),)
    yield Part("section", Heading("Close judgements"), told)


def document(graded: Sequence[Graded], policy: Policy) -> dict[str, Any]:
    """The audit as a report in JSON has it."""
    found = []
    for cost in costs(graded, policy):
        otherwise = {name: round(share, 6) for name, share in zip(others(policy), cost.otherwise, strict=True)}
        found.append({**cost._asdict(), "share": round(cost.share, 6), "otherwise": otherwise})
    return {
        "costs": found,
        "policies": [
            {"policy": name, "reached": round(reached, 6), "changed": moved}
            for name, reached, moved in averages(graded, policy)
        ],
        "close": [each._asdict() for each in close(graded, policy)],
    }


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
