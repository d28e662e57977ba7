"""A whole class is graded: many sheets against one key, each by itself, so that a broken one costs nobody else.

Sheets come from strangers. They are read as closed formats, never run, within the limits that every sheet has, and an
error in one is told in its own row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from attncalc.common import system
from attncalc.common.errors import AttncalcError
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.marking.marker import Marker
from attncalc.homework.reading.answers import Sheet
from attncalc.homework.reading.sheets import EVERYTHING, MOST_BYTES, Asked, from_file, limited
from attncalc.homework.reading.submissions import Submission
from attncalc.inputs.reading import Reading
from attncalc.record.verdicts import SOUND, USUAL_POLICY, Marked, Policy
from attncalc.solve.problem import Problem


@dataclass(frozen=True)
class Graded:
    """What became of a submission: it was marked, or it could not be read."""

    student: str
    source: str
    marked: Marked | None = None
    error: str = ""
    hint: str = ""

    @property
    def fault(self) -> str:
        """Why it could not be read, with the mend: `softmax has no step "sofmax" (did you mean softmax?)`."""
        return f"{self.error} ({self.hint})" if self.hint else self.error


@dataclass(frozen=True)
class Settings:
    """How sheets are marked."""

    policy: Policy = USUAL_POLICY
    reveal: bool = False
    dtype: str | None = None  # in which answers were stored
    asked: Asked = EVERYTHING


def grade(
    problem: Problem,
    found: Sequence[Submission],
    reading: Reading,
    settings: Settings,
    *,
    jobs: int = 1,
) -> list[Graded]:
    """Every submission, marked, in the order in which they came."""
    if jobs <= 1 or len(found) < 2 * jobs:
        marker = _marker(problem, settings)
        work: Iterable[Graded] = (_graded(marker, submission, reading) for submission in found)
    else:
        from attncalc.homework.marking.workers import shared_out  # a door: few calls share their work

        work = shared_out(_work, found, jobs, _begin, (problem, settings, reading.anew()))
    graded = []
    for one in work:
        graded.append(one)
        system.tell("sheet", len(graded), len(found))
    return graded


def tally(graded: Sequence[Graded]) -> dict[str, int]:
    """How often each mistake was made, by so many sheets, the commonest first."""
    counts = Counter(name for one in graded if one.marked is not None for name in one.marked.mistakes)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def hardest(graded: Sequence[Graded]) -> dict[str, int]:
    """How many sheets went wrong first at each step."""
    first = Counter(one.marked.first_wrong for one in graded if one.marked is not None and one.marked.first_wrong)
    return {str(name): count for name, count in first.most_common()}


def exit_status(graded: Sequence[Graded]) -> int:
    """The exit status of a grading: 2 where a sheet could not be read, else 1 where one is wrong, else 0."""
    if any(one.marked is None for one in graded):
        return 2
    return int(any(one.marked.verdict not in SOUND for one in graded if one.marked is not None))


# One sheet


def _marker(problem: Problem, settings: Settings) -> Marker:
    key, how = Key(problem), settings
    return Marker(key, policy=how.policy, reveal=how.reveal, dtype=how.dtype, asked=how.asked)


def _graded(marker: Marker, submission: Submission, reading: Reading) -> Graded:
    if submission.error:
        return Graded(submission.name, submission.source, error=submission.error, hint=submission.hint)
    try:
        with limited():
            sheet = submission.sheet or _sheet(submission, reading)
        with limited(timed=False):
            marked = marker.mark(sheet)
    except AttncalcError as error:
        return Graded(submission.name, submission.source, error=error.message, hint=error.hint)
    return Graded(marked.student or submission.name, submission.source, replace(marked, source=submission.source))


def _sheet(submission: Submission, reading: Reading) -> Sheet:
    assert submission.path, "a submission is a file or was read"
    return from_file(str(submission.path), reading.anew(MOST_BYTES))


# Many of them


_mine: dict[str, Any] = {}
"""What a worker process keeps: its marker, and how it reads."""


def _begin(problem: Problem, settings: Settings, reading: Reading) -> None:
    """Make the marker of a process: a problem travels there, its graph does not."""
    _mine.update(marker=_marker(problem, settings), reading=reading)


def _work(submission: Submission) -> Graded:
    return _graded(_mine["marker"], submission, _mine["reading"])
