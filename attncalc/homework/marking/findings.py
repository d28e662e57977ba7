"""A finding says what is behind an answer: mistakes by their names, a slip, what is missing, and where it is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attncalc.common.arrays import Array
from attncalc.common.text import amount, flag
from attncalc.declare.mistake import Mistake, StepKey
from attncalc.declare.spelling import typed
from attncalc.homework.diagnosis.catalogue import Slip
from attncalc.homework.diagnosis.comparing import comes_out, largest, largest_error
from attncalc.homework.diagnosis.explaining import Explanation, ids
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.diagnosis.rounding import MOST_DECIMALS
from attncalc.homework.diagnosis.separating import separating
from attncalc.homework.reading.answers import BY_HAND, LEAST_FIGURES, ROUND_OFF, Answer
from attncalc.homework.reading.complex_numbers import split
from attncalc.record.numbers import format_number
from attncalc.record.verdicts import (
    EARLY,
    FOLLOWS,
    MISSING,
    MISTAKE,
    MOST_MAPPED,
    SLIP,
    TO_ROUNDING,
    UNEXPLAINED,
    Finding,
    Wrong,
)

MOST_NAMED = MOST_MAPPED**2
"""So many wrong entries are named: all those of the largest map that a page draws."""

FEWEST_DUMPED = 64
"""From so many entries on an answer with all the digits of its type is a dump, and no hand's work."""

LAST_DIGIT = Finding(TO_ROUNDING, hint="one unit off in the last digit")
FROM_ROUNDED = Finding(EARLY, hint="right method, from earlier steps that were rounded: keep more digits on the way")
ABOUT_RIGHT = Finding(EARLY, hint="as near as rounding on the way explains: keep more digits")
CARRIED = Finding(FOLLOWS, hint="worked out rightly from an earlier step that is wrong")


def located(wrong: Array) -> Wrong:
    """Where entries are wrong; not too many of them by name."""
    at = np.argwhere(wrong)
    named = tuple(map(tuple, at[:MOST_NAMED].tolist()))
    return Wrong(named, len(at), tuple(range(min(along), max(along) + 1) for along in at.T.tolist() if along))


def incomplete(blank: Array, wrong: Array) -> Finding:
    """An answer with entries that are left blank: missing where none of the others is wrong."""
    count = int(blank.sum())
    hint = f"{amount(count, 'entry is', 'entries are')} not answered"
    return Finding(UNEXPLAINED if wrong.any() else MISSING, hint=hint, wrong=located(blank | wrong))


def slipped(found: Slip) -> Finding:
    """A slip is behind an answer."""
    return Finding(SLIP, kind="slip", mistakes=(found.id,), hint=found.hint, says=found.says)


def mistaken(key: Key, step: StepKey, explanations: Sequence[Explanation], wrong: Wrong) -> Finding:
    """Mistakes are behind an answer: the likeliest ones, and beside them what would explain as much."""
    best, *others = explanations
    named = ids(best)
    ties = [ids(other) for other in others if ids(other) != named]
    aliases = [rule.id for name in named for rule in key.known if rule.alias_of == name and key.solutions.by(rule)]
    return Finding(
        MISTAKE,
        kind=best[0].kind,
        mistakes=named,
        also=tuple(dict.fromkeys(["+".join(tie) for tie in ties] + aliases)),
        hint=best[0].hint,
        says="; ".join(_said(key, mistake) for mistake in best),
        separate=_separating(key, step, explanations) if ties else None,
        wrong=wrong,
    )


def _said(key: Key, mistake: Mistake) -> str:
    """The wrong rule; of one that is an option, how that would be set."""
    if mistake.options is None:
        return mistake.says
    given = key.problem.settled
    return f"{mistake.says} ({_set_otherwise(mistake.options(given), given)})"


def _set_otherwise(changed: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """How other options are set than those that were given: `--layout half, where the problem says interleaved`."""
    others = {name: value for name, value in changed.items() if value != given[name]}
    return "; ".join(_other_setting(name, value, given[name]) for name, value in others.items())


def _other_setting(name: str, value: Any, given: Any) -> str:
    if isinstance(value, bool):
        return f"with {flag(name)}, where the problem is without" if value else f"without {flag(name)}"
    return f"{flag(name)} {typed(value)}, where the problem says {typed(given)}"


def _separating(key: Key, step: StepKey, explanations: Sequence[Explanation]) -> dict[str, Any] | None:
    """Operands that tell explanations apart, found once for a key."""
    if key.large:
        return None
    tie = (step, tuple(map(ids, explanations)))
    if tie not in key.separated:
        key.separated[tie] = separating(key, step, explanations)
    return key.separated[tie]


def unexplained(answer: Answer, expected: Array, *, possible: bool = False) -> Finding:
    """Nothing explains an answer: what stands in the way, as far as one sees.

    It is `possible` that some mistake does, of which its digits do not tell that it is no chance.
    """
    return Finding(UNEXPLAINED, hint=_in_the_way(answer, expected, possible))


def _in_the_way(answer: Answer, expected: Array, possible: bool) -> str:
    if not np.isfinite(answer.value).all() and np.isfinite(expected).all():
        complex_ = any(text is not None and split(text) for text in answer.text.flat)
        return f"an entry is not a {'real' if complex_ else 'finite'} number"
    size = largest(expected)
    if _is_dump(answer):  # sizes tell rounding from another rule, and of so many give no entry away
        most, all_of = format_number(largest_error(answer, expected)), format_number(size)
        return f"no known mistake gives this; off by up to {most}, in entries of up to {all_of}"
    even = comes_out(expected, 10.0**-answer.used)
    if possible and even:
        return "a known mistake may give this, but so may chance, with numbers so few and small"
    if possible and not answer.exact.all():
        return f"too few digits to tell why: write at least {max(LEAST_FIGURES, answer.used + 1)} decimals"
    if even:
        return "no known mistake gives this"
    only_zeros = not answer.informative and 0 < size < 10.0**-answer.used
    if only_zeros or (not answer.enough.all() and answer.used < LEAST_FIGURES):
        least = LEAST_FIGURES if not size else max(LEAST_FIGURES, LEAST_FIGURES - 1 - int(np.floor(np.log10(size))))
        return f"too few digits to tell: write at least {least} decimals"
    if answer.used < LEAST_FIGURES and not answer.exact.all():
        return f"no known mistake: {LEAST_FIGURES} decimals or more would tell more"
    return "no known mistake gives this"


def _is_dump(answer: Answer) -> bool:
    """Whether a machine wrote it: more entries than a hand writes, or dozens with more digits or in a narrow type."""
    stored = answer.noise > ROUND_OFF or answer.used > MOST_DECIMALS
    return answer.value.size > BY_HAND or (answer.value.size >= FEWEST_DUMPED and stored)
