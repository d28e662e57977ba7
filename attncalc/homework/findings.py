"""What judging says of a step: the findings that are always the same, and those that tell what is missing."""

from __future__ import annotations

import numpy as np

from attncalc.arrays import Array
from attncalc.homework.answers import BY_HAND, LEAST_FIGURES, ROUND_OFF, Answer
from attncalc.homework.comparing import comes_out, largest_error
from attncalc.homework.complex_numbers import split
from attncalc.homework.rounding import MOST_DECIMALS
from attncalc.homework.slips import Slip
from attncalc.homework.verdicts import (
    EARLY,
    FOLLOWS,
    MISSING,
    MOST_MAPPED,
    SLIP,
    TO_ROUNDING,
    UNEXPLAINED,
    Finding,
    Wrong,
)
from attncalc.numbers import format_number
from attncalc.text import amount

MOST_NAMED = MOST_MAPPED**2
"""So many wrong entries are named: all those of the largest map that a page draws."""

FEWEST_DUMPED = 64
"""From so many entries on an answer with all the digits of its type is a dump, and no hand's work."""

LAST_DIGIT = Finding(TO_ROUNDING, hint="one unit off in the last digit")
FROM_ROUNDED = Finding(EARLY, hint="right method, from earlier steps that were rounded: keep more digits on the way")
ABOUT_RIGHT = Finding(EARLY, hint="as near as rounding on the way explains: keep more digits")
CARRIED = Finding(FOLLOWS, hint="worked out rightly from an earlier step that is wrong")


def unexplained(answer: Answer, expected: Array, *, possible: bool = False) -> Finding:
    """Nothing explains an answer: what stands in the way, as far as one sees.

    It is `possible` that some mistake does, of which its digits do not tell that it is no chance.
    """
    if not np.isfinite(answer.value).all() and np.isfinite(expected).all():
        complex_ = any(text is not None and split(text) for text in answer.text.flat)
        return Finding(UNEXPLAINED, hint=f"an entry is not a {'real' if complex_ else 'finite'} number")
    size = float(np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected)))
    if _is_dump(answer):  # sizes tell rounding from another rule, and of so many give no entry away
        most, all_of = format_number(largest_error(answer, expected)), format_number(size)
        return Finding(
            UNEXPLAINED, hint=f"no known mistake gives this; off by up to {most}, in entries of up to {all_of}"
        )
    even = comes_out(expected, 10.0**-answer.used)
    if possible and even:
        return Finding(
            UNEXPLAINED, hint="a known mistake may give this, but so may chance, with numbers so few and small"
        )
    if possible and not answer.exact.all():
        least = max(LEAST_FIGURES, answer.used + 1)
        return Finding(UNEXPLAINED, hint=f"too few digits to tell why: write at least {least} decimals")
    if even:
        return Finding(UNEXPLAINED, hint="no known mistake gives this")
    only_zeros = not answer.informative and 0 < size < 10.0**-answer.used
    if only_zeros or (not answer.enough.all() and answer.used < LEAST_FIGURES):
        least = LEAST_FIGURES if not size else max(LEAST_FIGURES, LEAST_FIGURES - 1 - int(np.floor(np.log10(size))))
        return Finding(UNEXPLAINED, hint=f"too few digits to tell: write at least {least} decimals")
    few = answer.used < LEAST_FIGURES and not answer.exact.all()
    more = f": {LEAST_FIGURES} decimals or more would tell more" if few else " gives this"
    return Finding(UNEXPLAINED, hint=f"no known mistake{more}")


def _is_dump(answer: Answer) -> bool:
    """Whether a machine wrote it: more entries than a hand writes, or dozens with more digits or in a narrow type."""
    stored = answer.noise > ROUND_OFF or answer.used > MOST_DECIMALS
    return answer.value.size > BY_HAND or (answer.value.size >= FEWEST_DUMPED and stored)


def incomplete(blank: Array, wrong: Array) -> Finding:
    """An answer with entries that are left blank: missing where none of the others is wrong."""
    count = int(blank.sum())
    hint = f"{amount(count, 'entry is', 'entries are')} not answered"
    return Finding(UNEXPLAINED if wrong.any() else MISSING, hint=hint, wrong=located(blank | wrong))


def slipped(found: Slip) -> Finding:
    """A slip is behind an answer."""
    return Finding(SLIP, kind="slip", mistakes=(found.id,), hint=found.hint, says=found.says)


def located(wrong: Array) -> Wrong:
    """Where entries are wrong; not too many of them by name."""
    at = np.argwhere(wrong)
    named = tuple(map(tuple, at[:MOST_NAMED].tolist()))
    return Wrong(named, len(at), tuple(range(min(along), max(along) + 1) for along in at.T.tolist() if along))
