"""Another number in place of one of the problem's is sought: the one that a dump is nearest to, whichever it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np

from attncalc.common.numerals import Array
from attncalc.declare.mistake import Mistake
from attncalc.homework.diagnosis.comparing import fits
from attncalc.homework.diagnosis.explaining import Explanation, candidates_for, likelier, values_of, without_mistake
from attncalc.homework.diagnosis.key import Key, Question
from attncalc.homework.diagnosis.nearest import distance, is_within, nearest
from attncalc.homework.diagnosis.solutions import Solution

ANOTHER_BASE = "rope-wrong-base"
BASES = (10, 30, 100, 300, 1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6, 3e6, 1e7, 3e7, 1e8)
"""The bases of rotary angles that are tried first."""
EPSILONS = (1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)
FACTORS = (0.02, 0.06, 0.2, 0.5, 0.7, 0.9, 1.1, 1.4, 2, 5, 16, 50)
"""The same for what is added to a norm's mean square, and for factors of scores and of other numbers."""
SCALINGS = ("factor", "original_length", "low_freq_factor", "high_freq_factor", "beta_fast", "beta_slow")
"""The numbers by which frequencies are scaled for longer texts."""
APART = 1.25
"""The logarithms of two neighbours among these are no further apart."""
PROMISING = 0.8
"""Others are tried only if the nearest of these is off by less than this share of what the right value is off by."""
GOLDEN = (3 - 5**0.5) / 2, (5**0.5 - 1) / 2
"""Where others are tried between two numbers: at the golden sections."""
NARROWED, MORE_NARROWED = 18, 32
"""How often an interval is narrowed: for a base, of which a few figures are told, and for any other number."""
CLOSELY = 0.05
"""It is narrowed further if the number is off by less than this share of what the first one was, or within noise."""
MOST_NUMBERS = 32
"""How many whole numbers are tried at most."""
FEWER_FIGURES = 1.5
"""A number of fewer figures may be off by this many times as much as the best one."""


def may_have_other_numbers(key: Key, question: Question) -> bool:
    """Whether another number is looked for at all: each one tried takes a whole evaluation."""
    return question.answer.shape == question.expected.shape and key.is_small(question.step)


def numbers_found(
    key: Key, question: Question, beside: Explanation, *, within: bool = False
) -> Iterator[list[Explanation]]:
    """The explanations by another number in place of one of the problem's; `within` asks for those within the noise."""
    if not may_have_other_numbers(key, question):
        return
    own = question.bases[0]
    ways = searches(key, question, beside)
    ways.append(lambda: nearest(key, question, of_other_numbers(key, question), own))
    for found in (search() for search in ways):
        if found and (not within or is_within(key, question, found, own)):
            yield likelier(found)


def searches(key: Key, question: Question, beside: Explanation) -> list[Callable[[], list[Solution]]]:
    """A search for another number in place of each of the problem's."""
    settled = key.problem.settled
    option = next((name for name in ("rope_base", "base") if settled.get(name)), "")
    sought: list[tuple[str, Sequence[float], Callable[[Mistake, float], Mistake], Explanation | None]] = []
    if option:
        sought.append((ANOTHER_BASE, BASES, _instead(option, "base"), beside))
    if settled.get("eps"):
        sought.append(("ln-wrong-eps", EPSILONS, _instead("eps", "ε"), None))
    sought += [(name, FACTORS, _times, None) for name in ("att-other-scale", "scale-embedding-other")]
    caps = [("softcap-other", name, "cap") for name in ("softcap", "final_softcap")]
    scalings = [("rope-scaling-other", f"rope_{name}", name.replace("_", " ")) for name in SCALINGS]
    for known, name, called in (*caps, *scalings):
        if number := settled.get(name):
            sought.append((known, [number * factor for factor in FACTORS], _instead(name, called), None))
    return [partial(_number_found, key, question, *each) for each in sought]


def of_other_numbers(key: Key, question: Question) -> list[Solution]:
    """The solutions with another whole number in place of one of the problem's: each of a few is tried."""
    settled = key.problem.settled
    axes = [axis for node in key.nodes.values() for axis in node.axes]
    n, width = (max((axis.size for axis in axes if axis.name == name), default=0) for name in ("n", "d_k"))
    tried = (
        ("window", "window-other-size", "window", range(1, n)),
        ("rope", "rope-other-dims", "rope_dims", range(2, width, 2)),
        (
            "max_distance",
            "t5-other-distance",
            "max_distance",
            (128, *range(1, 2 * n)) if settled.get("bias") == "t5" else (),
        ),
    )
    found = []
    for there, name, option, numbers in tried:
        for known in key.known if settled.get(there) else ():
            others = [number for number in numbers[:MOST_NUMBERS] if number != settled[option]]
            rules = [_counted(known, option, number) for number in others if known.id == name]
            if rules and _is_touched(key, question, rules[-1]):
                found += [key.solutions.by(rule) for rule in rules]
    return candidates_for(question, found)


@cache
def _counted(known: Mistake, option: str, number: int) -> Mistake:
    return replace(known, options=lambda _: {option: number}, says=f"another number: {number}")


def _is_touched(key: Key, question: Question, rule: Mistake) -> bool:
    """Whether a rule changes a step, as it follows from own values or the true operands."""
    own = question.bases[0]
    made = values_of(key, question, candidates_for(question, [key.solutions.by(rule)]), own)
    return any(not np.array_equal(x, without_mistake(key, question, own), equal_nan=True) for x in made)


def _instead(option: str, called: str) -> Callable[[Mistake, float], Mistake]:
    return lambda known, number: replace(
        known, options=lambda _: {option: number}, says=f"another {called}: about {number:g}"
    )


def _times(known: Mistake, factor: float) -> Mistake:
    return replace(known, rule=lambda s: s.this * factor, says=f"{known.says.rpartition(' ')[0]} about {factor:g}")


def _number_found(
    key: Key,
    question: Question,
    id: str,
    usual: Sequence[float],
    rule: Callable[[Mistake, float], Mistake],
    beside: Explanation | None = None,
) -> list[Solution]:
    """The number that a dump is nearest to, in as few figures as will do; only a base may be beyond type noise."""
    known = next((mistake for mistake in key.known if mistake.id == id), None)
    if known is None:
        return []
    own, tried = question.bases[0], dict[float, tuple[float, list[Solution], list[Array]]]()

    def off(number: float) -> float:
        number = float(f"{number:.9g}")
        if number not in tried:
            made = candidates_for(question, [key.solutions.by(rule(known, number))])
            values = [x for x in values_of(key, question, made, own) if x.shape == question.expected.shape]
            far = min([distance(question.answer, x, question.expected) for x in values], default=np.inf)
            tried[number] = far, made, values
        return tried[number][0]

    def is_within(number: float) -> bool:
        return off(number) < np.inf and all(fits(question.answer, x).all() for x in tried[number][2])

    if not _is_touched(key, question, rule(known, usual[-1])):
        return []
    first = float(f"{min(usual, key=off):.9g}")
    most = 1.0 if beside is not None else PROMISING
    if off(first) >= most * distance(question.answer, without_mistake(key, question, own), question.expected):
        return []
    low, high, best = np.log(first) - APART, np.log(first) + APART, first
    for narrowed in range(NARROWED if beside is not None else MORE_NARROWED):
        a, b = (low + share * (high - low) for share in GOLDEN)
        low, high = (low, b) if off(np.exp(a)) < off(np.exp(b)) else (a, high)
        best = min(tried, key=off)
        if narrowed == NARROWED and off(best) > CLOSELY * off(first) and not is_within(best):
            return []
    rounded = next((x for n in range(1, 7) if off(x := float(f"{best:.{n}g}")) <= FEWER_FIGURES * off(best)), best)
    made = tried[rounded][1]
    if beside is not None:
        return nearest(key, question, made, own, beside)
    return nearest(key, question, made, own) if is_within(rounded) else []
