"""A sheet is judged: its answers laid out in the shapes of their steps, and a finding made of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np

from attncalc.common.errors import InputError, amount, shape_text
from attncalc.common.numerals import DTYPES, NARROW, Array
from attncalc.common.system import Budget, TooLongError
from attncalc.declare.mistake import Mistake, StepKey
from attncalc.homework.diagnosis.comparing import LEFT_OVER, fits, is_filled, is_lost, largest, nearly
from attncalc.homework.diagnosis.explaining import (
    Explanation,
    explanations,
    ids,
    in_rows,
    made_again,
    made_as_well,
    made_throughout,
    possible,
    without_mistake,
)
from attncalc.homework.diagnosis.key import Key, Question
from attncalc.homework.diagnosis.solutions import Own, Solution, is_meant
from attncalc.homework.marking.findings import (
    ANOTHER_SHIFT,
    FILLED,
    FROM_UNDECIDED,
    GROWN,
    UNDONE,
    as_written,
    at_fewer_digits,
    carried,
    digits_kept,
    even_or_all_to_one,
    follows_at_once,
    incomplete,
    is_another_shift,
    is_far,
    is_undone,
    located,
    mistaken,
    multiplied,
    slipped,
    sound,
    stopped,
    unexplained,
    with_a_constant_taken,
    within_rounding,
)
from attncalc.homework.reading.answers import MOST_DECIMALS, ROUND_OFF, Answer, Tolerance, from_array, from_parts
from attncalc.homework.reading.sheets import Asked, spelled
from attncalc.inputs.given import LEAST_BITS
from attncalc.record.verdicts import EARLY, FOLLOWS, MISSING, MISTAKE, RIGHT, SLIP, SOUND, UNEXPLAINED, Finding

# Answers are laid out in the shapes of their steps: people write rows for columns, and tables are filled up.


def laid_out(key: Key, answer: Answer, step: StepKey, value: Array) -> Answer | None:
    """The answer in the shape of the step's value; None if people do not write that shape so.

    A vector may be written as a row or a column, and the only row or column of a matrix as a vector; a single entry
    may lack its brackets; a table may hold a stack of matrices, one below the other. The answer to a complex step is
    laid out in its parts.
    """
    shape = shape_of(key, step, value)
    if answer.shape not in _shapes(key, answer, step, value) or answer.value.size != math.prod(shape):
        return None
    laid = answer if answer.shape == shape else answer.laid(lambda part: part.reshape(shape))
    return laid.in_parts() if step in key.complex else laid


def shape_of(key: Key, step: StepKey, value: Array) -> tuple[int, ...]:
    """The shape of a step's value, a complex number counted as one."""
    return value.shape[:-1] if step in key.complex else value.shape


def as_labelled(key: Key, answer: Answer, step: StepKey) -> Answer:
    """A table with its rows and columns put where their labels say: in another order, or turned."""
    axes = key.nodes[step].axes
    known = [key.labels.get(axis.name, ()) for axis in axes]
    if len(axes) != 2 or not any(answer.heads) or not all(len({*labels}) == len(labels) for labels in known):
        return answer

    def are_of(heads: Sequence[Sequence[str]]) -> bool:
        return all(not own or not due or sorted(own) == sorted(due) for own, due in zip(heads, known, strict=True))

    heads = answer.heads
    if not are_of(heads) and all(heads) and are_of(heads[::-1]):
        answer, heads = answer.laid(np.matrix_transpose), heads[::-1]
    if not are_of(heads):
        return answer
    for axis, (own, due) in enumerate(zip(heads, known, strict=True)):
        if own and due:
            places = [own.index(label) for label in due]
            answer = answer.laid(partial(np.take, indices=places, axis=axis))
    return answer


def unpadded(key: Key, answer: Answer, step: StepKey) -> Answer:
    """A table without the blank columns and rows with which spreadsheets fill it up to the width of others."""
    value = key.value(step)
    if value is None or not answer.table or answer.value.ndim != 2 or not answer.answered.any():
        return answer
    shapes = _shapes(key, answer, step, value)
    if answer.shape in shapes:
        return answer
    rows, columns = (int(np.flatnonzero(answer.answered.any(axis=axis))[-1]) + 1 for axis in (1, 0))
    holding = [shape for shape in shapes if len(shape) == 2 and shape[0] >= rows and shape[1] >= columns]
    rows, columns = min(holding, default=(rows, columns))
    return answer.laid(lambda part: part[:rows, :columns])


def _shapes(key: Key, answer: Answer, step: StepKey, value: Array) -> set[tuple[int, ...]]:
    """The shapes in which people write a step's value."""
    axes = key.nodes[step].axes
    shapes = {shape := shape_of(key, step, value)}
    if len(shape) == len(axes):
        shapes.add(tuple(axis.size for axis in axes if axis.name not in key.dropped))
    if given := key.broadcast.get(key.nodes[step].args["of"] or ""):  # a gradient has its operand's shape
        shapes.add(tuple(axis.size for axis in given))
    for shape in list(shapes):
        if len(shape) == 1:
            shapes |= {(1, *shape), (*shape, 1)}
        if len(shape) == 2 and 1 in shape:
            shapes.add((math.prod(shape),))
        if math.prod(shape) == 1:
            shapes.add(())
        if not shape and answer.value.size == 1:  # in brackets, or the one cell of a table
            shapes.add(answer.shape)
        if answer.table and len(shape) > 2:
            shapes.add((math.prod(shape[:-1]), shape[-1]))
    return shapes


SHOWN_DECIMALS = 4
"""How many decimals a step has that the problem tells."""
TELLING = 4
"""Nobody fills a sheet with a number of this many figures."""
MOST_SECONDS = 20.0
"""How much processor time may be spent on one sheet to find out what is behind its wrong steps."""

# A sheet is judged: a finding for each step, each after those that it is made of.
#
# The order of judgement: right as written, or but for its last digit, or rounded on the way; worked out from the
# writer's own wrong values; a known mistake; a slip; unexplained. What is right by any of the right rules is never
# called a mistake, unless the writer's own steps show that this rule was not used.


def judged(
    key: Key,
    answers: Mapping[StepKey, Answer],
    tolerance: Tolerance | None,
    decimals: int | None,
    asked: Asked,
    *,
    suppose: bool,
) -> dict[StepKey, Finding]:
    """The finding on each step of a sheet, in the calculation's order; `suppose` names mistakes that may be chance."""
    begin = partial(_Sheet, key, answers, tolerance, decimals, Budget(MOST_SECONDS), asked)
    sheet = begin()
    if doubtful := sheet.doubtful():
        sheet = begin(doubtful)
    sheet.name_mistakes()
    if suppose:
        sheet.suppose_mistakes()
    return {step: sheet.found[step] for step in sheet.found if step in answers}


class _Sheet:
    """A sheet that is judged: what its writer has written so far, and what was found of it."""

    def __init__(
        self,
        key: Key,
        answers: Mapping[StepKey, Answer],
        tolerance: Tolerance | None,
        decimals: int | None,
        budget: Budget,
        asked: Asked,
        doubtful: Collection[StepKey] = (),
    ) -> None:
        self.key, self.tolerance, self.decimals, self.budget, self.asked = key, tolerance, decimals, budget, asked
        self.doubted = doubtful  # steps that only rules behind the writer's own values make right
        self.found: dict[StepKey, Finding] = {}
        self.questions: dict[StepKey, Question] = {}
        self.misshapen: dict[StepKey, Question] = {}  # those with answers of another shape
        self.answers: dict[StepKey, Answer] = {}  # those from which later steps may be worked out
        self.own: dict[StepKey, Array] = {}  # their values
        self.behind: dict[StepKey, list[tuple[Mistake, ...]]] = {}  # the alternatives behind own steps
        self.made: tuple[Mistake, ...] = ()  # the mistakes found so far
        self.of_wide = any(answer.stored in DTYPES for answer in answers.values())  # a dump, with its small arrays
        self.of_machine = any(answer.dumped for answer in answers.values())  # NaN is carried on to later steps
        self.narrow = ""  # the type whose noise arrays in float32 may have, too
        if any(answer.stored in NARROW for answer in answers.values()):
            from attncalc.homework.diagnosis import noise  # a door: few answers are dumps

            self.narrow = noise.coarsest(key, answers)
        self.shifted: set[StepKey] = set()  # right, but shifted by another number than the maximum
        self.at_a_glance: set[StepKey] = set()  # steps whose finding needs no search
        self.ranked_otherwise = False  # by noise, so that later steps are right if they follow
        self.explained: dict[StepKey, list[Explanation]] = {}  # everything that would explain a step
        for step in key.nodes:
            if step in answers:
                self.found[step] = self._judged(step, answers[step])
            elif step in asked.shown:
                self._take_as_shown(step)

    def _take_as_shown(self, step: StepKey) -> None:
        """Take the value of a step that the problem tells, as the worksheet shows it, for the writer's own."""
        value = self.key.value(step)
        if value is not None:
            self.own[step] = np.round(value, SHOWN_DECIMALS)
            self.answers[step] = from_array(self.own[step], lambda at: spelled(step))
            self.found[step] = Finding(RIGHT)

    # One step

    def _judged(self, step: StepKey, answer: Answer) -> Finding:
        """The finding on a step; its answer becomes the own value that later steps are worked out from."""
        expected = self.key.value(step)
        if expected is None:
            raise InputError(f"{spelled(step)} holds no numbers, and cannot be checked")
        stored, answer = answer.stored, self._with_its_noise(step, answer, expected)
        if not answer.answered.any():
            return Finding(MISSING, hint="nothing is answered" if answer.value.size == 0 else "not answered")
        whole = laid_out(self.key, answer, step, expected)
        if whole is None:
            due = expected[..., 0] if step in self.key.complex else expected
            question = self.misshapen[step] = self._question(step, answer, due)
            return self._searched(self._of_another_shape, question)
        where = self.asked.entries(step)
        if where is not None:
            complex_ = step in self.key.complex
            whole = replace(whole, asked=np.stack([where, where], axis=-1) if complex_ else where)
        laid = whole.as_asked()
        if not laid.answered.any():
            return Finding(MISSING, hint="not answered")
        laid = self._beside_its_terms(step, laid, expected)
        question = self.questions[step] = self._question(step, laid, expected)
        found = self._of_right_shape(question, stored)
        void = _is_filled(laid, expected) and found.verdict not in (*SOUND, FOLLOWS, MISTAKE)
        given = whole.answered
        told = self.of_machine or not np.isnan(whole.value[given]).any()
        if told and not void:  # nothing follows from a step that is filled up
            own = whole.value if given.all() else np.where(given, whole.value, self._following(question))
            self.own[step] = from_parts(own) if step in self.key.complex else own
            self.answers[step] = laid
        blank = ~laid.answered if laid.asked is None else ~laid.answered & laid.asked
        if blank.any():
            return incomplete(found, self._entries(step, blank), self._entries(step, blank | ~fits(laid, expected)))
        return found

    def _with_its_noise(self, step: StepKey, answer: Answer, expected: Array) -> Answer:
        """An answer with how far it may be off: by the tolerance, or by the type in which it was stored."""
        nil, tolerance = LEFT_OVER * self.key.largest_operand, self.tolerance
        is_nothing = self._is_gradient(step) and largest(expected) <= nil  # its terms cancel, as for the keys' bias
        if tolerance is None and is_nothing and answer.stored not in NARROW:
            tolerance = Tolerance(answer.noise, nil if answer.noise <= ROUND_OFF else nil / LEFT_OVER * answer.noise)
        answer = replace(answer, nil=nil, tolerance=tolerance)
        in_stream = bool(self.narrow) and answer.stored == "float32" and not answer.said
        narrow = in_stream or answer.stored in NARROW
        if narrow or (self.of_wide and not answer.said and (answer.stored == "float64" or answer.used > MOST_DECIMALS)):
            from attncalc.homework.diagnosis import noise  # a door: few answers are dumps

            answer = noise.among_narrow(answer, self.narrow) if in_stream else answer
            answer = (noise.of_its_type if narrow else noise.in_part_of_float32)(self.key, step, answer, expected)
        return answer

    def _of_right_shape(self, question: Question, stored: str) -> Finding:
        """The finding on an answer in the shape of its step; `stored` is the type in which it was handed in."""
        answer = question.answer
        found = as_written(self.key, question)
        if found is None:
            found = self._among_ranks(question) or self._searched(self._first_finding, question)
        elif answer.slack is not None:
            found = self._searched(self._nearer, question, found)
        if answer.slack is not None and not answer.said and found.verdict in (RIGHT, UNEXPLAINED):
            from attncalc.homework.diagnosis.noise import judged_as  # a door: as above

            judged = judged_as(answer.stored, stored, inferred=answer.inferred)
            found = replace(found, hint="; ".join(filter(None, (found.hint, judged))))
        if found.verdict in SOUND:
            return found
        return replace(found, wrong=located(self._entries(question.step, ~fits(answer, question.expected))))

    def _beside_its_terms(self, step: StepKey, answer: Answer, expected: Array) -> Answer:
        """An answer, if it is off, with the size of the terms that it sums up: where these cancel, digits are lost."""
        may_cancel = expected.dtype.kind == "f" and step not in self.key.complex and self.key.is_small(step)
        if not may_cancel or fits(answer, expected).all():
            return answer
        return replace(answer, terms=self.key.size_of_terms(step))

    def _following(self, question: Question) -> Array:
        """What follows from own values; later steps are worked out from it where nothing is answered."""
        return without_mistake(self.key, question, question.own)

    def _among_ranks(self, question: Question) -> Finding | None:
        """Whether an array is right but for what noise ranks otherwise, or follows from an array that is."""
        stored = self.narrow or (question.answer.slack is not None and question.answer.stored)
        if not stored or not question.own_are_right:
            return None
        if self.ranked_otherwise and fits(question.answer, self._following(question)).all():
            return Finding(RIGHT)
        from attncalc.homework.diagnosis.noise import ranked_otherwise  # a door: few answers are dumps

        if told := ranked_otherwise(self.key, question, stored):
            self.ranked_otherwise = True
            return Finding(RIGHT, hint=told.format(stored))
        return None

    def _nearer(self, question: Question) -> Finding:
        """Whether an answer that is right within the noise of its type is much nearer to what a mistake gives.

        Noise that comes from the steps before it does not count.
        """
        from attncalc.homework.diagnosis.nearest import is_noticeable  # a door: few answers are dumps

        noticeable = is_noticeable(question.answer, question.expected)
        if noticeable and question.own:
            noticeable = is_noticeable(question.answer, self._following(question))
        return (noticeable and self._mistaken(question, as_written=True)) or Finding(RIGHT)

    def _searched(
        self, search: Callable[[Question], Finding], question: Question, otherwise: Finding | None = None
    ) -> Finding:
        """What a search finds, or, if it takes too long, what is known without it."""
        try:
            with self.budget.spent():
                return search(question)
        except TooLongError:
            return (
                otherwise
                or follows_at_once(self.key, question, self.answers)
                or stopped(question.answer, question.expected, self.budget.seconds)
            )

    def _first_finding(self, question: Question) -> Finding:
        """The first finding, in the order of judgement."""
        if question.answer.bits and largest(question.expected) < LEAST_BITS:
            return Finding(UNEXPLAINED, hint="if these are the bits of bfloat16, --dtype bfloat16 reads them so")
        return (
            self._shifted_otherwise(question)
            or self._sound(question)
            or self._carried(question)
            or self._at_a_glance(question)
            or self._filled(question)
            or (self._slipped(question) if is_lost(question.answer, question.expected) else None)
            or self._unless_mistaken(
                question, with_a_constant_taken(self.key, question, self.answers, self.found.values(), surely=True)
            )
            or self._unless_mistaken(question, at_fewer_digits(self.key, question, surely=True))
            or self._mistaken(question)
            or self._slipped(question)
            or self._named(question, in_rows(self.key, question))
            or self._mistaken_twice(question)
            or with_a_constant_taken(self.key, question, self.answers, self.found.values(), surely=False)
            or at_fewer_digits(self.key, question, surely=False)
            or within_rounding(self.key, question)
            or self._unexplained(question)
        )

    def _shifted_otherwise(self, question: Question) -> Finding | None:
        """Whether a softmax's rows are shifted by another number than the maximum, or a step follows from such rows."""
        step = question.step
        if not question.own_are_right or step in self.doubted or not self.key.is_small(step):
            return None
        if follows := not self.shifted.isdisjoint(question.own):
            is_right = carried(self.key, question._replace(own_are_right=False), self.answers, ()) is not None
        else:
            is_right = is_another_shift(self.key, question)
        self.shifted |= {step} if is_right else set()
        return Finding(RIGHT, hint="" if follows else ANOTHER_SHIFT) if is_right else None

    def _is_gradient(self, step: StepKey) -> bool:
        """Whether a step is a gradient of a model."""
        return self.key.of_model and bool(self.key.nodes[step].args["of"])

    def _is_by_machine(self, answer: Answer) -> bool:
        """Whether a machine wrote an answer; in a model, even if it has few numbers."""
        return answer.dumped or (self.key.of_model and answer.used > MOST_DECIMALS)

    def _at_a_glance(self, question: Question) -> Finding | None:
        """What a model's gradient tells without trying every mistake, which takes long."""
        answer = question.answer
        if not self._is_gradient(question.step) or not self._is_by_machine(answer):
            return None
        from attncalc.homework.diagnosis import slips  # a door: as below

        if fits(answer.times(-1), question.expected).all():
            return slipped(slips.SIGN)
        if slips.is_transposed(answer, question.expected):
            return slipped(slips.TRANSPOSED)
        found = multiplied(answer, question.expected)
        self.at_a_glance |= {question.step} if found else set()
        return found

    def _unexplained(self, question: Question) -> Finding:
        """Nothing explains a step; with more digits it may be right, or what follows from own values."""
        if is_undone(question.answer, question.expected):
            return UNDONE
        if shared := even_or_all_to_one(question.answer, question.expected):
            return shared
        follows = [self._following(question)] if question.own else []
        if question.answer.dumped and question.own_are_right and any(fits(question.answer, x).all() for x in follows):
            return replace(GROWN, hint=GROWN.hint + self._begun())
        if self.key.of_model and question.answer.dumped and (found := multiplied(question.answer, question.expected)):
            return found
        known = bool(possible(self.key, question))
        return unexplained(question.answer, question.expected, *follows, possible=known)

    def _begun(self) -> str:
        """A remark on the first array that is off by more than is usual for noise, though not by too much for it."""
        from attncalc.homework.diagnosis.nearest import is_noticeable  # a door: as above

        right = ((step, q) for step, q in self.questions.items() if step in self.found)
        first = next((spelled(step) for step, q in right if is_noticeable(q.answer, q.expected)), "")
        return first and f"; the first that is off by more than noise mostly is: {first}"

    def _sound(self, question: Question) -> Finding | None:
        """Whether a step counts as right; if only by much rounding on the way, a mistake that gives it is likelier.

        If a mistake gives it, but perhaps by chance, it counts neither as right nor as explained, unless there are own
        values before it.
        """
        found = sound(self.key, question)
        if found and found.verdict == EARLY and is_far(self.key, question):
            doubted = not question.own and possible(self.key, question)
            return self._mistaken(question, as_written=True) or (None if doubted else found)
        return found

    def _carried(self, question: Question) -> Finding | None:
        """Whether a step follows from own values that are wrong, or of which nobody can tell whether they are."""
        found = carried(self.key, question, self.answers, self.made)
        unsound = [self.found[behind] for behind in question.own if self.found[behind].verdict not in SOUND]
        return FROM_UNDECIDED if found and unsound and all(behind.undecided for behind in unsound) else found

    def _unless_mistaken(self, question: Question, found: Finding | None) -> Finding | None:
        """What was found of digits that were not kept, unless a mistake gives the step as it is written."""
        return found and (self._mistaken(question, as_written=True) or found)

    def _filled(self, question: Question) -> Finding | None:
        """The finding if one number fills a step: this says little, so with few figures only one mistake is tried."""
        answer = question.answer
        if np.isnan(answer.value).all():
            return unexplained(answer, question.expected)
        if not _is_filled(answer, question.expected):
            return None
        found = self._mistaken(question, as_written=bool((answer.figures < TELLING).any()))
        found = found or even_or_all_to_one(answer, question.expected)
        return found or (FILLED if answer.value.size > 1 else unexplained(answer, question.expected))

    def _mistaken(self, question: Question, *, as_written: bool = False) -> Finding | None:
        """Whether known mistakes explain a step."""
        if not question.answer.dumped and self.key.is_small(question.step):
            return self._named(question, explanations(self.key, question, as_written=as_written))
        from attncalc.homework.diagnosis import dumps  # a door: few answers are dumps

        found = dumps.explanations(self.key, question, as_written=as_written, beside=self.made)
        return self._named(question, found)

    def _mistaken_twice(self, question: Question) -> Finding | None:
        """Whether two mistakes at once explain a step of a dump in which no mistake was found before."""
        if self.made or not question.answer.dumped:
            return None
        from attncalc.homework.diagnosis.dumps import two_at_once  # a door: as above

        return self._named(question, two_at_once(self.key, question))

    def _named(self, question: Question, explained: Iterable[list[Explanation]]) -> Finding | None:
        """That a mistake was made, by the first of these explanations; it is named once the whole sheet is judged."""
        for found in explained:
            if found:
                self.explained[question.step] = found
                self.made = tuple(dict.fromkeys((*self.made, *found[0])))
                return Finding(MISTAKE)
        return None

    def _slipped(self, question: Question) -> Finding | None:
        """Whether a slip explains a step, beside what is right or beside what follows from own values."""
        step, answer, expected, own = question[:4]
        if step in self.key.complex:
            return None
        bases = [(expected, self.key.foresee(own))]
        is_apart = not question.own_are_right or question.by_hand  # of a dump both are the same but for noise
        if own and is_apart and (follows := self.key.value(step, own=own)) is not None:
            bases.append((follows, own))
        alike = [(value, base) for value, base in bases if value.shape == answer.shape]
        from attncalc.homework.diagnosis import slips  # a door: most answers have no slip

        behind = (slips.slip_behind(self.key, question, value, base) for value, base in alike)
        found = next(filter(None, behind), None)
        if found is None:
            return None
        also = possible(self.key, question) if found in slips.UNTOLD else []
        return slipped(found, also)

    def _of_another_shape(self, question: Question) -> Finding:
        """An answer of a shape that is not the step's: it is transposed, or a mistake gives it."""
        from attncalc.homework.diagnosis import slips  # a door: as above

        answer, expected = question.answer, question.expected
        if slips.is_transposed(answer, expected):
            return slipped(slips.TRANSPOSED)
        whole = answer.answered.all() and not np.isnan(answer.value).any()
        turned = answer.laid(np.matrix_transpose) if answer.value.ndim > 1 else answer
        ways = [question, question._replace(answer=turned)] if turned.shape == expected.shape else [question]
        tried = (self._carried(way) or self._mistaken(way) for way in ways if whole)
        found = next(filter(None, tried), None)
        if found is None and (part := slips.part_given(answer, expected)):
            return slipped(part)
        hint = misshapen(answer, expected.shape)
        hint += self._of_other_tokens(question) or self._of_heads(question)
        torn = answer.text.size == 2 * expected.size and all(str(entry).isdecimal() for entry in answer.text.flat[1::2])
        if torn and not np.array_equal(expected, np.rint(expected)):
            hint += "; a comma parts numbers here: write 0.5 for 0,5"
        return found or Finding(UNEXPLAINED, hint=hint)

    def _of_other_tokens(self, question: Question) -> str:
        """A remark that a dump of a model was made of more tokens than were given, or of fewer."""
        axes, given = self.key.nodes[question.step].axes, question.answer.shape
        if self.key.names.of_modules is None or len(given) != len(axes):
            return ""
        other = {(size, axis.size, axis.name) for size, axis in zip(given, axes, strict=True) if size != axis.size}
        sizes = {pair[:2] for pair in other}
        if len(sizes) != 1 or {name for *_, name in other} - {"n", "m"}:
            return ""
        [(theirs, ours)] = sizes
        return f": it is of {amount(theirs, 'token')}, and TOKENS are {ours}"

    def _of_heads(self, question: Question) -> str:
        """A remark that tokens stand before heads, or, if no heads are asked for, on the step that has them."""
        step, given, due = question.step, question.answer.shape, question.expected.shape
        turned = (*given[:-3], given[-2], given[-3], given[-1]) if len(given) in (3, 4) else ()
        if turned == due:
            return ": do tokens stand before heads in it?"
        reads = f"--heads-layout {'bnhd'[-len(given) :]} reads tokens before heads"
        for other, node in self.key.nodes.items():
            alike = "h" in node.names and node.shape in (given, turned) and math.prod(node.shape) == math.prod(due)
            if alike and step in self.key.own_behind(other, {step: question.expected}):
                named = f": {spelled(other)} is {shape_text(node.shape)}"
                return named if node.shape == given else f"{named}, and {reads}"
        return ""

    def _question(self, step: StepKey, answer: Answer, expected: Array) -> Question:
        own = self.key.own_behind(step, self.own)
        own_are_right = all(self.found[behind].verdict in SOUND for behind in own) and not self._is_behind_another(step)
        right = self._behind(own) if step in self.doubted else self._not_contradicted(step, own)
        kept = digits_kept(answer, self.decimals)
        by_hand = not self._is_by_machine(answer) and self.key.is_small(step)
        by_hand = by_hand and bool(answer.enough[answer.answered].any()) and step not in self.key.complex
        return Question(step, answer, expected, own, self.own, own_are_right, right, kept, by_hand)

    def _is_behind_another(self, step: StepKey) -> bool:
        """Whether a step is made of one that a mistake has given another shape, and that is no own value therefore."""
        if not self.misshapen:
            return False
        behind = self.key.own_behind(step, self.own | {bad: q.expected for bad, q in self.misshapen.items()})
        return any(self.found[bad].verdict in (MISTAKE, FOLLOWS) for bad in behind.keys() & self.misshapen.keys())

    def _entries(self, step: StepKey, parts: Array) -> Array:
        """Marks on the parts of a step as marks on its entries: a complex number is marked if either part is."""
        return np.asarray(parts.any(axis=-1)) if step in self.key.complex else parts

    # The rules that the writer has used

    def _behind(self, own: Own) -> list[Solution]:
        """The usual solution, and the other right ones that may be behind own values."""
        behind = self.key.alternatives_behind(own)
        return [solution for solution in self.key.right if not solution.rules or solution.rules in behind]

    def _not_contradicted(self, step: StepKey, own: Own) -> list[Solution]:
        """The right solutions, but for those that contradict own values of steps written by the same rules as this one.

        A gradient goes with the step that it is taken in: if that was written by one rule, so was the gradient.
        """
        subject = (step[0], self.key.nodes[step].args["of"] or step[1])
        at = tuple(word for rule in self.key.alternatives if is_meant(subject, rule.at) for word in rule.at)
        beside = [other for other in self.own if other not in own and is_meant(other, at)]
        for other in beside:
            if other not in self.behind:
                self.behind[other] = self.key.alternatives_behind({other: self.own[other]})
        return [s for s in self.key.right if all(s.rules in self.behind[other] for other in beside)]

    def doubtful(self) -> set[StepKey]:
        """The steps that are right only by an alternative that no step before or after them has used.

        So they are not what the steps before them give, and no right step was made of them.
        """
        alone = {step for step, question in self.questions.items() if self._is_doubtful(question)}
        after = (q for q in self.questions.values() if self.shifted & q.own.keys() and self._is_unshifted(q))
        return alone.union(*(self.shifted & q.own.keys() for q in after))

    def _is_unshifted(self, question: Question) -> bool:
        """Whether a step is as it should be if the maximum is subtracted, and not as it follows from own values."""
        if not self.key.is_moved_by_a_shift(question.step) or not fits(question.answer, question.expected).all():
            return False
        return not fits(question.answer, self._following(question)).all()

    def _is_doubtful(self, question: Question) -> bool:
        step, behind = question.step, self._behind(question.own)
        if len(behind) == len(question.right) or not question.own_are_right or self.found[step].verdict != RIGHT:
            return False
        if any(step in later.own and self.found[later.step].verdict in SOUND for later in self.questions.values()):
            return False
        return sound(self.key, question._replace(right=behind)) != Finding(RIGHT)

    # The whole sheet

    def name_mistakes(self) -> None:
        """Explain steps that say too little by themselves with the help of the others, and name all mistakes."""
        with suppress(TooLongError), self.budget.spent():
            self._explain_by_the_others()
        named: set[tuple[str, ...]] = set()  # by their ids, as a mistake may have several forms
        for step in [step for step in self.key.nodes if step in self.explained]:
            wrong, likeliest = self.found[step].wrong, self.explained[step]
            try:
                with self.budget.spent():
                    likeliest = self._borne_out(step, likeliest)
                    self.found[step] = mistaken(self.key, step, likeliest, wrong)
            except TooLongError:
                self.found[step] = mistaken(self.key, step, likeliest, wrong, separately=False)
            called = {ids(explanation) for explanation in likeliest}
            if not named.isdisjoint(called):  # it was made before, and is charged once
                self.found[step] = replace(self.found[step], verdict=FOLLOWS)
            named |= called

    def suppose_mistakes(self) -> None:
        """Name the mistakes that give an unexplained step, though that may be chance."""
        for step, question in {**self.questions, **self.misshapen}.items():
            found = self.found[step]
            if found.verdict in (UNEXPLAINED, SLIP) and (likely := possible(self.key, question)):
                self.found[step] = replace(found, perhaps=ids(likely), hint=likely[0].hint)

    def _explain_by_the_others(self) -> None:
        """Explain steps by a mistake made elsewhere, by one beside those made before, or by one throughout."""
        wrong = [q for step, q in self.questions.items() if self.found[step].verdict in (UNEXPLAINED, FOLLOWS)]
        wrong = [question for question in wrong if question.step not in self.at_a_glance]
        left = [question for question in wrong if self.found[question.step].verdict == UNEXPLAINED]
        made = {mistake for found in self.explained.values() for match in found for mistake in match}
        for question in left:
            before = () if question.own_are_right else self.made
            again = made_again(self.key, question, made)
            if found := again or (made_as_well(self.key, question, before) if before else []):
                self.explained[question.step] = found
        left = [question for question in left if question.step not in self.explained]
        if len(wrong) > 1 and left and (found := made_throughout(self.key, wrong)):
            self.explained |= {question.step: found for question in left}

    def _borne_out(self, step: StepKey, found: list[Explanation]) -> list[Explanation]:
        """The explanations that agree with more of the later steps than others do."""
        serial = self.key.nodes[step].serial
        later = [other for other in self.answers if self.key.nodes[other].serial > serial]
        agreeing = [sum(self._agrees(explanation, other) for other in later) for explanation in found]
        return [one for one, count in zip(found, agreeing, strict=True) if count == max(agreeing)]

    def _agrees(self, explanation: Explanation, step: StepKey) -> bool:
        solution = self.key.solutions.by(*explanation)
        value = None if solution is None else self.key.value(step, solution)
        answer = self.answers[step]
        return value is not None and value.shape == answer.shape and bool(nearly(answer, value).all())


def _is_filled(answer: Answer, expected: Array) -> bool:
    """Whether one number fills a step; a NaN that was written does not count, as it tells more."""
    return is_filled(answer.value, expected) and not np.isnan(answer.value[answer.answered]).any()


def misshapen(answer: Answer, shape: tuple[int, ...]) -> str:
    """What is said of an answer that cannot be laid out in the shape that is asked for."""
    return f"the answer is {extent(answer.shape)}, and {extent(shape)} is asked for"


def extent(shape: tuple[int, ...]) -> str:
    """`2 × 3`, `a list of 3 numbers`, where 3 alone might be taken for the answer itself."""
    return f"a list of {amount(shape[0], 'number')}" if len(shape) == 1 else shape_text(shape)
