"""Marking: each step of a sheet against the key, its writer's own earlier steps, rounding, known mistakes and slips.

The order of judgement is the order of `Marker._judged`; what is right by any route is never called a mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncalc.errors import InputError
from attncalc.graph import Node, walk
from attncalc.homework import comparing
from attncalc.homework.answers import LEAST_FIGURES, Answer
from attncalc.homework.comparing import Tolerance, convinces, fits, fitting, nearly
from attncalc.homework.key import Key, spelled
from attncalc.homework.rounding import MOST_DECIMALS, Rounded, Spelled
from attncalc.homework.separating import separating
from attncalc.homework.sheets import Sheet, from_tree
from attncalc.homework.slips import Slip, slips
from attncalc.homework.verdicts import (
    EARLY,
    FOLLOWS,
    FULL,
    MARKS,
    MISSING,
    MISTAKE,
    RIGHT,
    SLIP,
    SOUND,
    TO_ROUNDING,
    UNEXPLAINED,
    Cells,
    Finding,
    Marked,
    MarkedStep,
)
from attncalc.homework.ways import Way
from attncalc.mistake import Mistake, StepKey
from attncalc.problem import Problem
from attncalc.render.document import encode
from attncalc.text import quoted, shape_text

Array = NDArray[Any]
Own = dict[StepKey, Array]

MOST_CELLS = 4096
"""In larger steps nobody has rounded by hand, and mistakes are not looked for in pairs."""
MOST_PAIRS = 400
MOST_SHOWN = 64
"""So many wrong entries are named."""

HINTS = {
    TO_ROUNDING: "one unit off in the last digit",
    FOLLOWS: "worked out rightly from an earlier step that is wrong",
    MISSING: "not answered",
}


class _Match(NamedTuple):
    """A wrong way that gives what was written."""

    mistakes: tuple[Mistake, ...]
    closeness: int  # 0 as it is written, 1 but for the last digit, 2 with rounding on the way


class Marker:
    """Marks sheets against one key."""

    def __init__(
        self,
        key: Key,
        *,
        tolerance: Tolerance | None = None,
        points: Mapping[str, float] | None = None,
        reveal: bool = False,
    ) -> None:
        self.key, self.tolerance, self.reveal = key, tolerance, reveal
        self.points = {key.find(name): weight for name, weight in (points or {}).items()}
        self._spelled: dict[Node, Spelled] = {}
        self._rounded: dict[tuple[Node, int], Rounded] = {}

    def mark(self, sheet: Sheet) -> Marked:
        """A verdict for every step that the sheet has a place for."""
        answers: dict[StepKey, Answer] = {}
        for name, answer in sheet.steps.items():
            key = self.key.find(name)
            if key in answers:
                raise InputError(f"{sheet.source or 'the sheet'}: {quoted(name)} is answered twice")
            answers[key] = answer
        work = _Work(self, sheet.decimals)
        for key in self.key.nodes:
            if key in answers:
                work.judge(key, answers[key])
        work.settle()
        steps = tuple(self._step(key, answers[key], finding) for key, finding in work.found.items())
        return Marked(self.key.problem.name, steps, sheet.notes, sheet.student, sheet.source, reveal=self.reveal)

    def _step(self, key: StepKey, answer: Answer, finding: Finding) -> MarkedStep:
        expected = self.key.value(key)
        assert expected is not None, "it was judged"
        weight = self.points.get(key, 1)
        laid = self.key.laid(answer, key, expected)
        return MarkedStep(
            name=spelled(key),
            finding=finding,
            given=_given(answer),
            shape=expected.shape,
            expected=encode(expected),
            max_error=None if laid is None else comparing.largest_error(laid, expected),
            score=weight * MARKS[finding.verdict],
            out_of=weight * FULL,
        )

    def spelled(self, node: Node) -> Spelled:
        """A step spelled out to where a hand may round."""
        if node not in self._spelled:
            self._spelled[node] = Spelled(node)
        return self._spelled[node]

    def rounded(self, node: Node, decimals: int, own: Own | None = None) -> Rounded:
        """What a step becomes by rounding on the way to it."""
        operands = self.key.ways.operands
        if own:
            return self.spelled(node).rounded(operands, decimals, own)
        if (node, decimals) not in self._rounded:
            self._rounded[node, decimals] = self.spelled(node).rounded(operands, decimals)
        return self._rounded[node, decimals]


class _Work:
    """One sheet while it is marked: what its writer has written so far, and what was found of it."""

    def __init__(self, marker: Marker, decimals: int | None) -> None:
        self.marker, self.key, self.decimals = marker, marker.key, decimals
        self.own: Own = {}
        self.found: dict[StepKey, Finding] = {}
        self.made: tuple[Mistake, ...] = ()  # the mistakes found so far
        self.answers: dict[StepKey, Answer] = {}
        self.matches: dict[StepKey, list[_Match]] = {}  # everything that would explain a step

    def judge(self, key: StepKey, answer: Answer) -> None:
        """Find the verdict on a step; what it holds is what later steps are worked out from."""
        expected = self.key.value(key)
        if expected is None:
            raise InputError(f"{spelled(key)} holds no real numbers, and cannot be checked")
        laid = self.key.laid(answer, key, expected)
        if not answer.answered.any():
            found = Finding(MISSING, hint="nothing is answered" if answer.value.size == 0 else HINTS[MISSING])
        elif laid is None:
            found = self._of_another_shape(key, answer, expected)
        elif not laid.answered.all():
            found = _incomplete(laid, expected)
        else:
            found = self._judged(key, laid, expected)
            right = fits(laid, expected, self.marker.tolerance)
            if found.verdict not in SOUND:
                found = replace(found, cells=_places(~right))
            if not np.isnan(laid.value).any():
                self.own[key], self.answers[key] = laid.value, laid
        self.found[key] = found

    def settle(self) -> None:
        """Let later steps decide between what would explain an earlier one equally well, and name the mistakes."""
        for key, matches in self.matches.items():
            later = [k for k in self.answers if self.key.nodes[k].serial > self.key.nodes[key].serial]
            agreeing = [sum(self._agrees(match, k) for k in later) for match in matches]
            left = [match for match, count in zip(matches, agreeing, strict=True) if count == max(agreeing)]
            self.found[key] = self._named(left, self.found[key].cells)

    def _agrees(self, match: _Match, key: StepKey) -> bool:
        way = self.key.ways.way(*match.mistakes)
        value = None if way is None else self.key.value(key, way)
        answer = self.answers[key]
        return value is not None and value.shape == answer.shape and bool(nearly(answer, value).all())

    def _judged(self, key: StepKey, answer: Answer, expected: Array) -> Finding:
        for judgement in (self._right, self._carried, self._mistaken, self._within_rounding, self._slipped):
            found = judgement(key, answer, expected)
            if found is not None:
                return found
        return self._unexplained(key, answer, expected)

    # Right

    def _right(self, key: StepKey, answer: Answer, expected: Array) -> Finding | None:
        values = [value for way in self.key.routes if (value := self.key.value(key, way)) is not None]
        values = [value for value in values if value.shape == expected.shape]
        if any(fits(answer, value, self.marker.tolerance).all() for value in values):
            return Finding(RIGHT)
        if not answer.enough.any() or self._needs_no_rounding(key, answer):
            return None
        close = any(nearly(answer, value).all() for value in values)
        fine = answer.used >= LEAST_FIGURES
        if close and fine:
            return Finding(TO_ROUNDING, hint=HINTS[TO_ROUNDING])
        early = self._rounded_early(key, answer, expected)
        if early is None and close:
            return Finding(TO_ROUNDING, hint=HINTS[TO_ROUNDING])
        return early

    def _needs_no_rounding(self, key: StepKey, answer: Answer) -> bool:
        """Whether everything up to the step comes out evenly to the digits that were written."""
        unit = 10.0**-answer.used
        for node in walk(self.key.nodes[key]):
            if node.op == "step":
                value = self.key.value(node.key)
                if value is None or not comparing.comes_out(value, unit):
                    return False
        return True

    def _rounded_early(self, key: StepKey, answer: Answer, expected: Array) -> Finding | None:
        if not self._by_hand(answer):
            return None
        own = self._sound_own(key)
        follows = self.key.value(key, own=own) if own else None
        if follows is not None and (fits(answer, follows).all() or nearly(answer, follows).all()):
            return Finding(EARLY, hint="right method, from earlier steps that were rounded: keep more digits on the way")
        for way in self.key.routes:
            node = way.steps.get(key)
            if node is None:
                continue
            for mine in (None, own) if own else (None,):
                hit = self._replayed(node, answer, mine)
                if hit is not None:
                    where = f" at {hit}" if hit else ""
                    return Finding(EARLY, hint=f"right method, rounded too early{where}: keep more digits on the way")
        return None

    def _replayed(self, node: Node, answer: Answer, own: Own | None = None) -> str | None:
        """The step whose rounding explains an answer, "" where several do; None where rounding does not."""
        rounded = self.marker.rounded(node, self._digits(answer), own)
        if rounded.values.shape[1:] != answer.shape:
            return None
        hits = fitting(answer, rounded.values)
        if not hits.size:
            return None
        exact = self.key.ways.values([node.sources[0]], own)[node.sources[0]]
        return rounded.culprit(int(hits[0]), exact, 0.5 * answer.unit)

    def _digits(self, answer: Answer) -> int:
        return answer.used if self.decimals is None else self.decimals

    def _by_hand(self, answer: Answer) -> bool:
        return answer.value.size <= MOST_CELLS and self._digits(answer) <= MOST_DECIMALS and bool(answer.enough.any())

    def _sound_own(self, key: StepKey) -> Own:
        """The writer's own values that a step is made of, if all of them are right."""
        used = self.key.used(key, self.own)
        return {k: self.own[k] for k in used} if all(self.found[k].verdict in SOUND for k in used) else {}

    # Carried on

    def _carried(self, key: StepKey, answer: Answer, expected: Array) -> Finding | None:
        used = self.key.used(key, self.own)
        if all(self.found[k].verdict in SOUND for k in used):
            return None
        follows = self.key.value(key, own=self.own)
        values = [] if follows is None or _says_nothing(follows, expected) else [follows]
        carried = self.key.ways.way(*self.made) if self.made else None
        further = self.key.value(key, carried) if carried else None
        values += [] if further is None else [further]
        values = [value for value in values if value.shape == answer.shape and not np.isnan(value).any()]
        enough = answer.enough.any()
        same = any(fits(answer, value).all() or (enough and nearly(answer, value).all()) for value in values)
        if not same and follows is not None and self._by_hand(answer):
            same = bool(values) and self._replayed(self.key.nodes[key], answer, self.own) is not None
        return Finding(FOLLOWS, hint=HINTS[FOLLOWS]) if same else None

    # Known mistakes

    def _mistaken(self, key: StepKey, answer: Answer, expected: Array) -> Finding | None:
        for matches in self._explanations(key, answer, expected):
            if matches:
                self.matches[key] = sorted(matches, key=lambda match: -self._place(match.mistakes))
                self.made = tuple(dict.fromkeys((*self.made, *self.matches[key][0].mistakes)))
                return Finding(MISTAKE)
        return None

    def _explanations(self, key: StepKey, answer: Answer, expected: Array) -> Iterator[list[_Match]]:
        """What would explain an answer, likelier explanations first: one mistake, then two."""
        own = {k: self.own[k] for k in self.key.used(key, self.own)}
        singles = [((m,), way) for m, way in self.key.mistakes if key in way.steps]
        bases: list[Own | None] = [own, None] if own else [None]
        for close in (fits, nearly):
            for base in bases:
                yield self._matching(key, answer, expected, singles, base, close)
        if self._by_hand(answer):
            for base in bases:
                yield self._matching_rounded(key, answer, expected, singles, base)
        if answer.value.size <= MOST_CELLS:
            pairs = list(self._pairs(key, own))
            for close in (fits, nearly):
                for base in bases:
                    yield self._matching(key, answer, expected, pairs, base, close, tried=len(singles))

    def _pairs(self, key: StepKey, own: Own) -> Iterator[tuple[tuple[Mistake, ...], Way]]:
        """Two mistakes that both lie between the writer's own steps and this one."""
        gap = self._gap(key, own)
        within = [i for i, (m, _) in enumerate(self.key.mistakes) if m.options or gap & set(m.at)]
        for number, (i, j) in enumerate(combinations(within, 2)):
            if number == MOST_PAIRS:
                return
            way = self.key.pair(i, j)
            if way is not None and key in way.steps:
                yield (self.key.mistakes[i][0], self.key.mistakes[j][0]), way

    def _gap(self, key: StepKey, own: Own) -> set[str]:
        """The names of the steps that are made on the way from the writer's own ones."""
        seen: set[Node] = set()
        stack = [self.key.nodes[key]]
        while stack:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                stack.extend(s for s in node.sources if not (s.op == "step" and s.key in own))
        return {node.args["name"] for node in seen if node.op in ("step", "input")}

    def _matching(
        self,
        key: StepKey,
        answer: Answer,
        expected: Array,
        ways: Sequence[tuple[tuple[Mistake, ...], Way]],
        own: Own | None,
        close: Callable[[Answer, Array], Array],
        *,
        tried: int = 0,
    ) -> list[_Match]:
        nodes = [way.steps[key] for _, way in ways]
        if not nodes or (close is nearly and not answer.enough.any()):
            return []
        against = self._against(key, expected, own)
        slack = answer.unit if close is nearly else 0.0
        values = self.key.values(nodes, own)
        matches = []
        for (mistakes, _), value in zip(ways, values, strict=True):
            if value.shape != answer.shape or not close(answer, value).all():
                continue
            prior = comparing.COPIED if self._stands_there(key, value) else 1.0
            others = _distinct(values)
            if convinces(answer, value, against, others, tried=tried, slack=slack, prior=prior):
                matches.append(_Match(mistakes, 0 if close is fits else 1))
        return matches

    def _matching_rounded(
        self,
        key: StepKey,
        answer: Answer,
        expected: Array,
        ways: Sequence[tuple[tuple[Mistake, ...], Way]],
        own: Own | None,
    ) -> list[_Match]:
        nodes = [way.steps[key] for _, way in ways]
        against = self._against(key, expected, own)
        values = self.key.values(nodes, own)
        matches = []
        for (mistakes, _), value, node in zip(ways, values, nodes, strict=True):
            if value.shape != answer.shape or not _is_about(answer, value):
                continue
            rounded = self.marker.rounded(node, self._digits(answer), own).values
            if fitting(answer, rounded).size:
                slack = np.ptp(np.where(np.isfinite(rounded), rounded, 0), axis=0)
                if convinces(answer, value, against, _distinct(values), slack=slack):
                    matches.append(_Match(mistakes, 2))
        return matches

    def _stands_there(self, key: StepKey, value: Array) -> bool:
        """Whether a value is that of an operand or of an earlier step, so that it may have been copied."""
        earlier = [self.key.value(k) for k, node in self.key.nodes.items() if node.serial < self.key.nodes[key].serial]
        there = (*self.own.values(), *self.key.ways.operands.values(), *(v for v in earlier if v is not None))
        return any(other.shape == value.shape and np.array_equal(other, value) for other in there)

    def _against(self, key: StepKey, expected: Array, own: Own | None) -> Array:
        """What a step would be without the mistake that is looked for."""
        follows = self.key.value(key, own=own) if own else None
        return expected if follows is None or follows.shape != expected.shape else follows

    def _named(self, matches: list[_Match], cells: Cells) -> Finding:
        """The finding that names the mistakes: the likeliest one, and beside it what would explain as much."""
        best, *others = matches
        ids = _ids(best.mistakes)
        ties = [_ids(match.mistakes) for match in others if _ids(match.mistakes) != ids]
        aliases = [a.id for m in best.mistakes for a in self._aliases(m)]
        return Finding(
            MISTAKE,
            kind=best.mistakes[0].kind,
            mistakes=ids,
            also=tuple(dict.fromkeys(["+".join(tie) for tie in ties] + aliases)),
            hint=best.mistakes[0].hint,
            says="; ".join(m.says for m in best.mistakes),
            separate=separating(self.key, [match.mistakes for match in matches]) if ties else None,
            cells=cells,
        )

    def _place(self, mistakes: Sequence[Mistake]) -> int:
        """Where mistakes begin among the steps; what begins later says less of the steps before, which are right."""
        at = [i for i, (_, name) in enumerate(self.key.nodes) if any(name in m.at for m in mistakes)]
        return min(at, default=-1)

    def _aliases(self, mistake: Mistake) -> Iterable[Mistake]:
        return (m for m in self.key.known if m.alias_of == mistake.id and self.key.ways.way(m) is not None)

    # Rounding that no usual manner explains, slips, and the rest

    def _within_rounding(self, key: StepKey, answer: Answer, expected: Array) -> Finding | None:
        """Entries that rounding on the way reaches one by one, though in no manner all at once."""
        if not self._by_hand(answer) or not answer.enough.all() or self._needs_no_rounding(key, answer):
            return None
        own = self._sound_own(key)
        reached = [self.marker.rounded(self.key.nodes[key], self._digits(answer), o).values for o in (None, own or None)]
        values = np.concatenate([value for value in reached if value.shape[1:] == answer.shape])
        low, high = values.min(axis=0), values.max(axis=0)
        half = 1.5 * answer.unit  # and one unit off in the last digit
        with np.errstate(invalid="ignore"):
            within = ((low - half <= answer.value) & (answer.value <= high + half)) | fits(answer, expected)
        if within.all() and not _says_nothing(answer.value, expected):
            return Finding(EARLY, hint="as near as rounding on the way explains: keep more digits")
        return None

    def _slipped(self, key: StepKey, answer: Answer, expected: Array) -> Finding | None:
        bases = [expected]
        if any(self.found[k].verdict not in SOUND for k in self.key.used(key, self.own)):
            follows = self.key.value(key, own=self.own)
            bases += [] if follows is None or follows.shape != expected.shape else [follows]
        for base in bases:
            found = slips(self.key, key, answer, base)
            if found:
                return _slip(found)
        return None

    def _of_another_shape(self, key: StepKey, answer: Answer, expected: Array) -> Finding:
        """An answer of a shape that is not the step's: a mistake may give it, or it is transposed."""
        turned = answer.laid(np.transpose) if answer.shape == expected.shape[::-1] and answer.value.ndim > 1 else None
        if turned is not None and fits(turned, expected).all():
            return _slip(Slip("slip-transposed-answer", "the answer is transposed", "Whose are the rows of this step?"))
        if answer.answered.all() and not np.isnan(answer.value).any():
            found = self._mistaken(key, answer, expected)
            if found is not None:
                return found
        given, due = shape_text(answer.shape), shape_text(expected.shape)
        return Finding(UNEXPLAINED, hint=f"the answer is {given}, and {due} is asked for")

    def _unexplained(self, key: StepKey, answer: Answer, expected: Array) -> Finding:
        if not np.isfinite(answer.value).all() and np.isfinite(expected).all():
            return Finding(UNEXPLAINED, hint="an entry is not a finite number")
        if not answer.enough.all() and not comparing.comes_out(expected, 10.0**-answer.used):
            size = float(np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected)))
            least = max(LEAST_FIGURES, LEAST_FIGURES - 1 - int(np.floor(np.log10(size)))) if size else LEAST_FIGURES
            return Finding(UNEXPLAINED, hint=f"too few digits to tell: write at least {least} decimals")
        if answer.used < LEAST_FIGURES and not comparing.comes_out(expected, 10.0**-answer.used):
            return Finding(UNEXPLAINED, hint=f"no known mistake; {LEAST_FIGURES} decimals or more would tell more")
        return Finding(UNEXPLAINED, hint="no known mistake gives this")


def _incomplete(answer: Answer, expected: Array) -> Finding:
    open_ = int((~answer.answered).sum())
    missing = f"{open_} {'entry is' if open_ == 1 else 'entries are'} not answered"
    wrong = answer.answered & ~fits(answer, expected)
    verdict = UNEXPLAINED if wrong.any() else MISSING
    return Finding(verdict, hint=missing, cells=_places(~answer.answered | wrong))


def _slip(found: Slip) -> Finding:
    return Finding(SLIP, kind="slip", mistakes=(found.id,), hint=found.hint, says=found.says)


def _ids(mistakes: Sequence[Mistake]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(mistake.id for mistake in mistakes))


def _places(wrong: Array) -> Cells:
    return tuple(tuple(int(i) for i in at) for at in np.argwhere(wrong)[:MOST_SHOWN])


def _given(answer: Answer) -> Any:
    """The answer as JSON has it: the text that was written, as numbers where it says one."""
    value = encode(answer.value)
    if answer.answered.all():
        return value
    blank = np.where(answer.answered, answer.value.astype(object), None)
    return blank.tolist()


def _distinct(values: Sequence[Array]) -> list[Array]:
    """The values that differ."""
    return [*{(value.shape, value.round(9).tobytes()): value for value in values}.values()]


def _says_nothing(value: Array, expected: Array) -> bool:
    """Whether a value is 0 or NaN throughout where it should not be: nothing follows from it."""
    return bool(np.isnan(value).any() or (not np.any(value) and np.any(expected)))


def _is_about(answer: Answer, value: Array) -> bool:
    """Whether rounding could bring a value to what was written; to look closer is work."""
    with np.errstate(invalid="ignore"):
        off = np.abs(answer.value - value)
    size = float(np.max(np.abs(value), initial=0.0, where=np.isfinite(value)))
    return bool(np.all((off <= 30 * answer.unit + 0.02 * size) | ~np.isfinite(value)))


def disagreeing(problem: Problem, stored: Mapping[str, Any]) -> list[str]:
    """The names of stored steps, and of the result, whose values are not what the problem gives."""
    if "steps" not in stored and "result" not in stored:
        return []
    key = Key(problem)
    found = []
    for name, answer in from_tree(_values_of(stored), "").steps.items():
        step = key.find(name)
        expected = key.value(step)
        laid = None if expected is None else key.laid(answer, step, expected)
        if expected is not None and (laid is None or not fits(laid, expected).all()):
            found.append(name or spelled(step))
    return found


def _values_of(stored: Mapping[str, Any]) -> dict[str, Any]:
    steps = stored.get("steps")
    if not isinstance(steps, list):
        return {name: stored[name] for name in ("steps", "result") if name in stored}
    return {"steps": [step for step in steps if isinstance(step, dict) and step.get("value") is not None]}
