"""A whole class is graded: many sheets against one key, each by itself, so that a broken one costs nobody else.

Sheets come from strangers. They are read as closed formats, never run, within the limits that every sheet has, and an
error in one is told in its own row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from attncalc.common import system
from attncalc.common.errors import AttncalcError, InputError, both, quoted
from attncalc.common.system import NamedTuple
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.marking.marker import Marker
from attncalc.homework.reading.answers import Sheet, Unread, nothing
from attncalc.homework.reading.asked import from_document
from attncalc.homework.reading.class_lists import Submission
from attncalc.homework.reading.keys_file import Keys, Variant, is_keys, read_keys
from attncalc.homework.reading.names import folded
from attncalc.homework.reading.sheets import EVERYTHING, MOST_BYTES, Asked, StepNames, from_file, limited
from attncalc.inputs.json_files import JsonFile, plain
from attncalc.inputs.problem_files import document_of
from attncalc.inputs.reading import Contents, Reading
from attncalc.inputs.resolve import held_in
from attncalc.record.numbers import in_marks
from attncalc.record.trace import NOTHING, aloud
from attncalc.record.verdicts import MISSING, USUAL_POLICY, Finding, Marked, MarkedStep, Policy
from attncalc.solve.problem import Problem


class CarriedProblem(NamedTuple):
    """The problem whose hash a sheet carries, if that is not its student's own."""

    student: str  # whose problem it is; "" where no such problem is known
    marks: str = ""  # what the sheet would earn by it: `4 of 4`; "" where that is not known any more
    replaced: bool = False  # whether it is nobody's any more

    def __str__(self) -> str:
        if not self.student:
            return "the sheet is of no problem that is known"
        old = " that was replaced" if self.replaced else ""
        earns = f", where it earns {self.marks}" if self.marks else ""
        return f"the sheet is of the problem of {self.student}{old}{earns}"


@dataclass(frozen=True)
class Graded:
    """What became of a submission: it was marked, or it could not be read."""

    student: str
    source: str
    marked: Marked | None = None
    error: str = ""
    hint: str = ""
    carried: CarriedProblem | None = None
    problem: str = ""  # which of several problems it is of
    variants: Mapping[str, str] = field(default_factory=dict)  # by problems, the hash of what it was marked by

    @property
    def fault(self) -> str:
        """Why it could not be read, with a hint: `softmax has no step "sofmax" (did you mean softmax?)`."""
        return f"{self.error} ({self.hint})" if self.hint else self.error

    @property
    def steps(self) -> tuple[MarkedStep, ...]:
        """The steps of what could be read."""
        return () if self.marked is None else self.marked.steps


def readable(graded: Iterable[Graded]) -> list[Marked]:
    """The sheets that could be read, marked."""
    return [one.marked for one in graded if one.marked is not None]


MOST_MARKERS = 8
POINT_DECIMALS = 2
"""Decimals of what a step earns, where the points of a problem are shared out among its steps."""
WHOSE = ("student", "problem", "folder")
"""What keys.json says of whose a problem is; problems that are otherwise alike share a marker."""


@dataclass(frozen=True)
class Settings:
    """How sheets are marked."""

    policy: Policy = USUAL_POLICY
    reveal: bool = False
    dtype: str | None = None  # in which answers were stored
    asked: Asked = EVERYTHING
    keys: Keys | None = None  # where every student has a problem of their own
    layout: str | None = None  # of heads and tokens in answers


class Assignment(NamedTuple):
    """What marking needs to know of a key."""

    contents: JsonFile  # the key itself: a problem, a saved result, or keys.json
    problem: Problem
    asked: Asked
    keys: Keys | None
    names: StepNames
    parts: Mapping[str, StepNames] = NOTHING  # of several problems of a student, by their names

    def settings(self, policy: Policy, *, reveal: bool = False, dtype: str | None = None) -> Settings:
        """How its sheets are marked."""
        return Settings(policy, reveal, dtype, self.asked, self.keys)


def assignment_in(contents: Contents, reading: Reading) -> Assignment:
    """What marking needs to know of a file that holds a key."""
    keys = read_keys(contents, reading) if is_keys(contents) else None
    held = document_of(contents, reading) if keys is None else keys.variants[0].held
    key = Key(held.problem)
    for remark in aloud(key.remarks if keys is None else ()):
        reading.tell(f"{contents.source}: {remark}")
    asked = from_document(held.document, key.names, contents.source)
    tree = JsonFile(contents.source, plain(dict(contents.members), contents.source))
    several = {one.name: one.held.problem for one in keys.variants if one.name} if keys is not None else {}
    parts = {name: Key(problem).names for name, problem in several.items()}
    return Assignment(tree, held.problem, asked, keys, key.names, parts)


def refuse_misspelt(policy: Policy, task: Assignment) -> None:
    """Raise where a policy has points for what is no step of any problem."""
    known = [task.names, *task.parts.values()]
    for name in policy.points:
        problem, _, step = name.partition("/")
        if step and problem in task.parts:
            task.parts[problem].find(step)
            continue
        for names in [each for each in known if each.meant(name)] or known[:1]:
            names.find(name)


def grade(problem: Problem, found: Sequence[Submission], reading: Reading, settings: Settings) -> list[Graded]:
    """Every submission, marked, in the order in which they came."""
    mark = marking(problem, settings, reading)
    return counted(map(mark, found), len(found))


def counted(work: Iterable[Graded], many: int) -> list[Graded]:
    """What comes of marking all submissions; progress is told on the way."""
    graded = []
    for one in work:
        graded.append(one)
        system.tell("sheet", len(graded), many)
    return graded


def marking(problem: Problem, settings: Settings, reading: Reading) -> Callable[[Submission], Graded]:
    """The function that marks a submission; its markers are made once."""
    settings = replace(settings, layout=reading.heads_layout)
    mark = _by_one(problem, settings) if settings.keys is None else _ByOwn(settings.keys, settings).mark
    return lambda submission: _graded(mark, submission, reading)


def tally(graded: Sequence[Graded]) -> dict[str, int]:
    """On how many sheets each mistake was made, the commonest first."""
    counts = Counter(name for marked in readable(graded) for name in marked.mistakes)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def hardest(graded: Sequence[Graded]) -> dict[str, int]:
    """How many sheets went wrong first at each step."""
    first = Counter(marked.first_wrong for marked in readable(graded) if marked.first_wrong)
    return {str(name): count for name, count in first.most_common()}


def exit_status(graded: Sequence[Graded]) -> int:
    """The exit status of a grading: 2 where a sheet could not be read, else 1 where one is wrong, else 0."""
    if any(one.marked is None for one in graded):
        return 2
    return int(not all(readable(graded)))


# One sheet, by the problem of the class or by its student's own


def _by_one(problem: Problem, settings: Settings) -> Callable[[Sheet, str], Graded]:
    """The function that marks the sheet of any student by one problem for all."""
    marker = _marker(Key(problem), settings, settings.asked)

    def mark(sheet: Sheet, name: str) -> Graded:
        marked = marker.mark(sheet)
        return Graded(marked.student or name, "", marked)

    return mark


class _ByOwn:
    """Marks sheets by problems of each student's own, one or several; the markers made last are kept."""

    def __init__(self, keys: Keys, settings: Settings) -> None:
        self.keys, self.settings = keys, settings
        self.by_id, self.by_name = keys.by_id, keys.by_name
        self.made: dict[str, Marker] = {}

    def mark(self, sheet: Sheet, name: str) -> Graded:
        """A sheet marked by its student's own problem; if it names another student's problem, that is told as well."""
        meant = self.by_id.get(sheet.problem) or self._called(sheet.problem, sheet.student or name)
        own = self._own(sheet, name, meant)
        student = own.student or sheet.student or name
        if not meant and own.name and _is_empty(sheet):
            return self.blank(own, student)
        graded = self._graded(own, student, self.marker(own).mark(sheet))
        if not sheet.problem or any(one is own for one in meant):
            return graded
        if not meant:
            return replace(graded, carried=CarriedProblem(""))
        there = self.marker(meant[0]).mark(sheet)
        is_old = any(one is meant[0] for one in self.keys.replaced)
        return replace(graded, carried=CarriedProblem(meant[0].student, in_marks(there.score, there.out_of), is_old))

    def of(self, student: str) -> list[Variant]:
        """The problems of a student, or else those for all."""
        return self.by_name.get(folded(student)) or self.by_name.get("", [])

    def _called(self, problem: str, student: str) -> list[Variant]:
        """Those of a student's several problems that have the name."""
        return [one for one in self.of(student) if one.name and one.name == problem]

    def _own(self, sheet: Sheet, name: str, meant: Sequence[Variant]) -> Variant:
        """The problem by which a sheet is marked: the one that it names, of its student's own or of those for all.

        A sheet without a student's name belongs to the student whose problem it names.
        """
        said = sheet.student or name
        found = self.of(said)
        if meant and not found and not sheet.student:
            found = self.by_name.get(folded(meant[0].student), [])
        if not found:
            hint = "its students are those of the roster"
            raise InputError(f"{self.keys.source} has no problem for {quoted(said)}", hint=hint)
        if not meant and sheet.problem in {one.name for one in self.keys.variants if one.name}:
            if _is_empty(sheet):  # a row of a list that has columns for the problems of others
                return found[0]
            hint = f"theirs are {both(quoted(own.name) for own in found)}"
            raise InputError(f"{quoted(said)} has no problem {quoted(sheet.problem)}", hint=hint)
        told = [own for own in found if any(one is own for one in meant)] or found
        if len(told) > 1:  # somebody else's hash tells at least which of several problems is meant
            told = [own for own in found if own.name in {one.name for one in meant}]
        if len(told) != 1:
            hint = 'the hash that was on it does: "problem", @problem'
            raise InputError(f"the sheet does not tell which of {len(found)} problems it is of", hint=hint)
        return told[0]

    def marker(self, own: Variant) -> Marker:
        """The marker of a problem."""
        document = {key: value for key, value in own.held.document.items() if key not in WHOSE}
        if (name := f"{own.name} {document}") not in self.made:
            key = Key(own.held.problem)
            asked = from_document(own.held.document, key.names, self.keys.source)
            while len(self.made) >= MOST_MARKERS:
                self.made.pop(next(iter(self.made)))
            self.made[name] = _marker(key, self.settings, asked, own.name)
        return self.made[name]

    def blank(self, own: Variant, student: str) -> Graded:
        """The blank sheet of a student who has handed in none, marked."""
        marker = self.marker(own)
        unanswered = {} if marker.asked.steps else {"": nothing((0,))}
        return self._graded(own, student, marker.mark(Sheet(unanswered)))

    def _graded(self, own: Variant, student: str, marked: Marked) -> Graded:
        """A sheet of one of the problems, with the points of that."""
        if own.points is not None and marked.out_of:
            marked = replace(marked, steps=tuple(shared_out(marked.steps, own.points)))
        variants = {own.name: own.id} if own.id else {}
        return Graded(student, "", replace(marked, student=student), problem=own.name, variants=variants)


def _is_empty(sheet: Sheet) -> bool:
    return not any(answer.answered.any() for answer in sheet.steps.values())


def shared_out(steps: Sequence[MarkedStep], points: float) -> Iterator[MarkedStep]:
    """The steps with a problem's points shared out among them, rounded so that they still add up to these."""
    whole, reached = sum(step.out_of for step in steps), 0.0
    for step in steps:
        before, reached = round(reached, POINT_DECIMALS), reached + (points * step.out_of / whole if whole else 0.0)
        out_of = round(round(reached, POINT_DECIMALS) - before, POINT_DECIMALS)
        share = step.score / step.out_of if step.out_of else 0.0
        yield replace(step, score=out_of * share, out_of=out_of)


def several_problems(graded: Sequence[Graded], keys: Keys, settings: Settings) -> list[Graded]:
    """A class in which all problems of a student are one sheet, with steps called `PROBLEM/STEP`.

    A problem without a sheet counts as a blank one. Sheets that could not be read stand by themselves.
    """
    markers = _ByOwn(keys, settings)
    found: dict[str, dict[str, Graded]] = {}
    for one in graded:
        if one.marked is not None:
            found.setdefault(one.student, {})[one.problem] = one
    whole = []
    for student, sheets in found.items():
        own = markers.of(student)
        parts = [sheets.get(each.name) or markers.blank(each, student) for each in own]
        steps = [replace(step, name=f"{part.problem}/{step.name}") for part in parts for step in part.steps]
        first = next(iter(sheets.values()))
        assert first.marked is not None, "it was marked"
        notes = tuple(note for marked in readable(parts) for note in marked.notes)
        points = {each.name: each.points for each in own if each.points is not None}
        marked = replace(first.marked, calculation="", steps=tuple(steps), notes=notes, points=points)
        carried = next((part.carried for part in parts if part.carried is not None), None)
        source = ", ".join(dict.fromkeys(one.source for one in sheets.values()))
        variants = {name: variant for part in parts for name, variant in part.variants.items()}
        whole.append(Graded(student, source, marked, carried=carried, variants=variants))
    return [*whole, *(one for one in graded if one.marked is None)]


def absent(graded: Sequence[Graded], keys: Keys | None) -> list[str]:
    """The students of a roster who have no sheet, not even one that cannot be read."""
    if keys is None:
        return []
    there = {folded(one.student) for one in graded}
    lost = dict.fromkeys(one.student for name, own in keys.by_name.items() for one in own if name in there)
    return [student for student in keys.students if student and student not in lost]


def blank_by(graded: Sequence[Graded], missing: Sequence[str], settings: Settings) -> Callable[[str], Graded | None]:
    """The function that makes a blank sheet for a student whose sheet is `missing` or could not be read.

    It has the steps of the others' sheets; if students have several problems, which may differ, those of the key.
    """
    unread = {folded(one.student): one for one in graded if one.marked is None}
    names = {folded(name): name for name in missing} | {name: one.student for name, one in unread.items()}
    keys = settings.keys if settings.keys is not None and any(one.name for one in settings.keys.variants) else None
    several = any(name for one in graded for name in one.variants)
    most = max(readable(graded), key=lambda marked: len(marked.steps), default=None)

    def blank(student: str) -> Graded | None:
        if (found := folded(student)) not in names:
            return None
        name = names[found]
        if keys is not None:
            made = _ByOwn(keys, settings)
            own = made.of(student)
            return several_problems([made.blank(own[0], name)], keys, settings)[0] if own else None
        if several or most is None:
            fault = f"what the steps of {quoted(name)} earn is not known without a sheet that can be read"
            raise InputError(fault, hint="name the key and the sheets too" if several else "")
        told = f"{name}: {unread[found].fault}; all marks are by hand" if found in unread else ""
        hint = "it could not be read" if found in unread else "nothing was handed in"
        steps = tuple(_unanswered(step, hint) for step in most.steps)
        marked = replace(most, steps=steps, notes=(told,) if told else (), student=name, source="")
        return Graded(name, "", marked)

    return blank


def _unanswered(step: MarkedStep, hint: str) -> MarkedStep:
    """A step of a blank sheet."""
    found = Finding(MISSING, hint=hint)
    own = replace(step, expected=None, max_error=None, times=None, at=None)  # those are of another's problem
    return replace(own, finding=found, given=None, score=0.0, share=0.0, answered=0.0, written=())


def _marker(key: Key, how: Settings, asked: Asked, problem: str = "") -> Marker:
    """The marker of a problem; a policy may name its steps with the problem's name in front."""
    said = how.policy.points
    of_it = {
        name.removeprefix(f"{problem}/"): weight for name, weight in said.items() if name.startswith(f"{problem}/")
    }
    own = {name: weight for name, weight in {**said, **of_it}.items() if key.names.meant(name)}
    by = replace(how.policy, points=own)
    return Marker(key, policy=by, reveal=how.reveal, dtype=how.dtype, asked=asked, lenient=True, layout=how.layout)


def _graded(mark: Callable[[Sheet, str], Graded], submission: Submission, reading: Reading) -> Graded:
    if submission.error:
        return Graded(submission.name, submission.source, error=submission.error, hint=submission.hint)
    name = submission.name
    try:
        with limited():
            sheet = submission.sheet or _sheet(submission, reading)
        sheet = _known(sheet, name) if submission.known else sheet
        name = sheet.student or name
        with limited(timed=False):
            found = mark(sheet, submission.name)
    except AttncalcError as error:
        said = error.student if isinstance(error, Unread) and not submission.known else ""
        return Graded(said or name, submission.source, error=error.message, hint=error.hint)
    assert found.marked is not None, "what was not read has raised an error"
    return replace(found, source=submission.source, marked=replace(found.marked, source=submission.source))


def _known(sheet: Sheet, student: str) -> Sheet:
    """A sheet whose student is known; if it says another name, that is noted."""
    said = sheet.student if folded(sheet.student) != folded(student) else ""
    told = (f"{student}: the sheet says that it is of {quoted(said)}",) if said else ()
    return replace(sheet, student=student, notes=(*sheet.notes, *told))


def _sheet(submission: Submission, reading: Reading) -> Sheet:
    assert submission.path, "a submission is a file or was read"
    path, own = str(submission.path), reading.anew(MOST_BYTES)
    if submission.data is not None:
        own.opened[path] = held_in(submission.data, path, MOST_BYTES)
    return from_file(path, own)
