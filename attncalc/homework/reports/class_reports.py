"""Reports on a class: its page, and JSON, CSV, JUnit, TAP and Gradescope for those who read them by machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from attncalc.common.errors import amount, both, visible
from attncalc.common.numerals import RULE
from attncalc.common.system import NamedTuple
from attncalc.homework.marking.overrides import Override
from attncalc.homework.marking.whole_class import Graded, hardest, readable, tally
from attncalc.homework.reading.answers import MOST_TOLD
from attncalc.homework.reading.class_lists import REPORT
from attncalc.homework.reports.audit import audit, document
from attncalc.homework.reports.items import analysis, items, made, perhaps, step_names, variants
from attncalc.homework.reports.items import document as item_document
from attncalc.homework.reports.marked_sheets import as_csv, blame, summary, verdicts
from attncalc.record.numbers import in_marks, shortest
from attncalc.record.verdicts import SOUND, USUAL_POLICY, WRONG, Marked, MarkedStep, Policy
from attncalc.render import PAGES, View
from attncalc.render import SUFFIXES as ALL
from attncalc.render.csv_ import harmless
from attncalc.render.page import Block, Heading, Page, Paragraph, Part, Point, Points, Row, Rows, write
from attncalc.render.printing import AS_IT_IS, Printing, printed

UNREADABLE = "unreadable"
LONGEST_SHOWN = 60
"""The longest name of a student in the overview; reports have names in full."""
VISIBILITIES = (VISIBLE, HIDDEN, *_) = ("visible", "hidden", "after_due_date", "after_published")
"""When Gradescope shows something to students."""


class Account(NamedTuple):
    """How a class was marked."""

    policy: Policy = USUAL_POLICY
    log: Sequence[Override] = ()  # the marks that were changed by hand
    audited: bool = False  # whether the report shows what mistakes cost, and which judgements were close
    printing: Printing = AS_IT_IS
    visibility: str = VISIBLE  # when Gradescope shows a student what was found
    hints: str | None = None  # how much students are told of what is wrong
    absent: Sequence[str] = ()  # the students of the roster without a sheet


AS_USUAL = Account()
OF_ANOTHER = "This sheet is of another problem than yours, and was marked by yours."


def report(graded: Sequence[Graded], format: str, view: View | None = None, how: Account = AS_USUAL) -> str:
    """A report in a format of REPORTS; one for `gradescope` is on the sheets of a single student."""
    if format == "json":
        return _json(graded, how)
    if format == "gradescope":
        return gradescope(graded[0], how, graded[1:])
    return (
        _DATA[format](graded) if format in _DATA else str(write(printed(page(graded, how), how.printing), format, view))
    )


def overview(graded: Sequence[Graded], how: Account = AS_USUAL) -> Page:
    """The class in a few lines: students with their marks, and what was counted over them."""
    rows = [Row((visible(student, LONGEST_SHOWN), *rest)) for student, *rest in map(_in_brief, graded)]
    mistakes = {
        f"{each.name}{each.also}": count for each, count in zip(made(graded), tally(graded).values(), strict=True)
    }
    counts = [("mistakes", mistakes), ("first wrong at", hardest(graded))]
    told = [f"{title}: {', '.join(f'{name} {n}' for name, n in found.items())}" for title, found in counts if found]
    students = Rows("each student", ("student", "verdict", "marks", ""), tuple(rows))
    by = [f"policy: {how.policy}"] if how.policy != USUAL_POLICY else []
    said = [*told, *by, *(f"changed by hand: {change}" for change in how.log)]
    shown = audit(graded, how.policy) if how.audited else ()
    lost = map(Paragraph, without_sheet(how.absent))
    blocks = (students, Paragraph(counted(graded), "about"), *lost, *map(Paragraph, said), *shown)
    return printed(Page("Grades", blocks), replace(how.printing, texts={}))


def page(graded: Sequence[Graded], how: Account = AS_USUAL) -> Page:
    """The class: students by steps, each step and mistake with its counts, each sheet that is not right."""
    steps = step_names(graded)
    rows = []
    for one in graded:
        student, *brief, remark = _in_brief(one)
        found = {step.name: step.mistake or step.verdict for step in one.steps}
        rows.append(Row((student, *brief, *(found.get(name, "") for name in steps), remark), verdict(one) in SOUND))
    head = ("student", "verdict", "marks", *steps, "remark")
    students = Rows("each student", head, tuple(rows), code=frozenset(range(3, 3 + len(steps))))
    by = Paragraph(f"Policy: {how.policy}")
    lost = map(Paragraph, without_sheet(how.absent))
    blocks: list[Block] = [Heading("Grades"), Paragraph(counted(graded)), *lost, by, students]
    if how.log:
        changed = tuple(Point(str(change)) for change in how.log)
        blocks.append(Part("section", Heading("Changed by hand"), (Points(changed),)))
    blocks += analysis(graded)
    blocks += audit(graded, how.policy) if how.audited else ()
    wrong = ((one.student, marked) for one in graded for marked in readable([one]) if not marked)
    blocks += [Part("section", Heading(student), tuple(verdicts(marked))) for student, marked in wrong]
    return Page("Grades", tuple(blocks))


def verdict(one: Graded) -> str:
    """The verdict on a sheet, or that it could not be read."""
    return UNREADABLE if one.marked is None else one.marked.verdict


def _first_wrong(marked: Marked) -> str:
    """`first wrong at weights: att-no-scale`."""
    if marked.first_wrong is None:
        return ""
    named = {step.mistake: f"{step.mistake}{perhaps([step])}" for step in reversed(marked.steps) if step.mistake}
    said = ", ".join(named[name] for name in marked.mistakes) or marked[marked.first_wrong].finding.hint
    return f"first wrong at {marked.first_wrong}" + (f": {said}" if said else "")


def _in_brief(one: Graded) -> tuple[str, str, str, str]:
    """A student with the verdict, the marks, and a remark: where a sheet goes wrong, or why it could not be read."""
    if one.marked is None:
        return one.student, UNREADABLE, "", one.fault
    remark = "; ".join(filter(None, (str(one.carried or ""), _first_wrong(one.marked))))
    return one.student, one.marked.verdict, in_marks(one.marked.score, one.marked.out_of), remark


def counted(graded: Sequence[Graded]) -> str:
    """`40 sheets: 25 right, 14 wrong, 1 unreadable; 6.2 of 8 marks on average`."""
    found = [verdict(one) for one in graded]
    counts = {
        "right": sum(word in SOUND for word in found),
        WRONG: found.count(WRONG),
        UNREADABLE: found.count(UNREADABLE),
    }
    parts = [f"{count} {word}" for word, count in counts.items() if count]
    average = ""
    if marked := readable(graded):
        reached, possible = (
            sum(part) / len(marked) for part in zip(*((m.score, m.out_of) for m in marked), strict=True)
        )
        average = f"; {shortest(round(reached, 1))} of {amount(shortest(round(possible, 1)), 'mark')} on average"
    return f"{amount(len(graded), 'sheet')}: {', '.join(parts)}{average}"


def without_sheet(absent: Sequence[str]) -> list[str]:
    """`7 students have no sheet: Mia, Nils, …`; nothing where all have one."""
    names = [visible(student, LONGEST_SHOWN) for student in absent]
    return [f"{amount(len(names), 'student has', 'students have')} no sheet: {both(names, MOST_TOLD)}"] if names else []


# Data


def _json(graded: Sequence[Graded], how: Account) -> str:
    """One object, a student a line."""
    students = ",\n  ".join(json.dumps(_student(one)) for one in graded)
    told: dict[str, Any] = {"mistakes": tally(graded), "first_wrong": hardest(graded), "policy": how.policy.to_dict()}
    told["items"] = [*map(item_document, items(graded))]
    told["made_by"] = {each.name: each.students for each in made(graded)}
    now_and_then = {
        "variants": [*map(item_document, variants(graded))],
        "absent": [*how.absent],
        "log": [change.to_dict() for change in how.log],
        "audit": document(graded, how.policy) if how.audited else None,
    }
    told |= {key: value for key, value in now_and_then.items() if value}
    rest = ",\n ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in told.items())
    return f'{{"students": [\n  {students}],\n {rest}}}\n'


def _student(one: Graded) -> dict[str, Any]:
    told: dict[str, Any] = {"student": one.student, "source": one.source}
    if one.carried is not None:
        told["carried"] = one.carried._asdict()
    if one.variants:
        told["variants"] = dict(one.variants)
    if one.marked is None:
        unread = {"verdict": UNREADABLE, "score": None, "out_of": None, "error": one.error, "hint": one.hint or None}
        return told | unread
    if one.marked.points:
        told["points"] = dict(one.marked.points)
    return {**told, **{key: value for key, value in one.marked.to_dict().items() if key not in ("policy", "notes")}}


def _csv(graded: Sequence[Graded]) -> str:
    steps = step_names(graded)
    remarked = any(one.carried for one in graded)
    rows = [[*REPORT, *steps, *(["remark"] if remarked else [])]]
    for one in graded:
        marked = one.marked
        found = {step.name: step.verdict for step in one.steps}
        row = [one.student, one.source, verdict(one)]
        if marked is None:
            row += ["", "", "", "", one.fault]
        else:
            marks = [shortest(marked.score), shortest(marked.out_of)]
            row += [*marks, marked.first_wrong or "", " ".join(marked.mistakes), ""]
        row += [*(found.get(name, "") for name in steps), *([str(one.carried or "")] if remarked else [])]
        rows.append([harmless(cell) for cell in row])
    return as_csv(rows)


def _outcome(step: MarkedStep) -> str:
    """What a report says of a wrong step."""
    return "; ".join(part for part in (step.finding.verdict, blame(step), step.finding.hint) if part)


def _junit(graded: Sequence[Graded]) -> str:
    """A suite for each sheet, a case for each of its steps; a sheet that could not be read is an error."""
    suites = []
    for one in graded:
        name = _attribute(one.student)
        if one.marked is None:
            cases = [f'<testcase name="sheet" classname={name}><error message={_attribute(one.fault)}/></testcase>']
        else:
            cases = [_case(step, name) for step in one.marked.steps]
        body = "".join(f"\n    {case}" for case in cases)
        suites.append(f"  <testsuite name={name} {_counts([one])}>{body}\n  </testsuite>\n")
    head = f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="attncalc" {_counts(graded)}>\n'
    return f"{head}{''.join(suites)}</testsuites>\n"


def _counts(graded: Sequence[Graded]) -> str:
    """How many cases there are, and how they went."""
    cases = [step.verdict in SOUND for one in graded for step in one.steps]
    errors = sum(one.marked is None for one in graded)
    return f'tests="{len(cases) + errors}" failures="{cases.count(False)}" errors="{errors}"'


def _case(step: MarkedStep, student: str) -> str:
    start = f"<testcase name={_attribute(step.name)} classname={student}"
    if step.verdict in SOUND:
        return f"{start}/>"
    kind = _attribute(step.mistake or step.verdict)
    text = escape(visible(_outcome(step)))
    return f"{start}><failure type={kind} message={_attribute(_outcome(step))}>{text}</failure></testcase>"


def _attribute(text: str) -> str:
    return quoteattr(visible(text))


def _tap(graded: Sequence[Graded]) -> str:
    """A test point for each step, in version 13 of TAP; a block of YAML says what is behind one that failed."""
    points: list[str] = []
    number = 0
    for one in graded:
        if one.marked is None:
            number += 1
            points += [f"not ok {number} - {_tap_text(one.student)}: sheet", *_yaml({"message": one.fault})]
        for step in one.steps:
            number += 1
            good = step.verdict in SOUND
            points.append(f"{'ok' if good else 'not ok'} {number} - {_tap_text(f'{one.student}: {step.name}')}")
            if not good:
                facts = {"message": blame(step), "verdict": step.verdict, "mistake": step.mistake, "hint": step.hint}
                points += _yaml({name: fact for name, fact in facts.items() if fact})
    return "\n".join(["TAP version 13", f"1..{number}", *points]) + "\n"


def _tap_text(text: str) -> str:
    """Text with escaped `#` signs, which begin directives in TAP."""
    return visible(text).replace("#", r"\#")


def _yaml(facts: Mapping[str, str]) -> list[str]:
    """A block of YAML, with its texts quoted as in JSON."""
    lines = (f"  {name}: {json.dumps(visible(fact), ensure_ascii=False)}" for name, fact in facts.items())
    return ["  ---", *lines, "  ..."]


def gradescope(one: Graded, how: Account = AS_USUAL, others: Sequence[Graded] = ()) -> str:
    """The results.json of a sheet for Gradescope; it also names other sheets of the student that cannot be read.

    All texts in it are plain text. Only the teacher sees what the program has printed.
    """
    whole: dict[str, Any] = {"output_format": "text", "test_output_format": "text", "test_name_format": "text"}
    whole |= {"visibility": how.visibility, "stdout_visibility": HIDDEN}
    unread = [f"The sheet could not be read: {each.fault}" for each in (one, *others) if each.marked is None]
    if one.marked is None:
        whole |= {"score": 0, "output": "\n".join(unread), "tests": []}
    else:
        tests = [
            {
                "name": step.name,
                "score": step.score,
                "max_score": step.out_of,
                "status": "passed" if step.verdict in SOUND else "failed",
                "output": _outcome(step),
            }
            for step in one.marked.told(how.hints or RULE).shown.steps
        ]
        told = "\n".join((summary(one.marked), *of_another(one), *unread))
        whole |= {"score": one.marked.score, "output": told, "tests": tests}
    return json.dumps(whole, indent=1) + "\n"


def of_another(one: Graded) -> list[str]:
    """What to tell a student whose sheet has the hash of another problem; it does not tell whose that is."""
    return [] if one.carried is None else [OF_ANOTHER]


_DATA: dict[str, Callable[[Sequence[Graded]], str]] = {
    "csv": _csv,
    "junit": _junit,
    "tap": _tap,
}
REPORTS = ("json", *_DATA, "gradescope", *PAGES)
SUFFIXES = {suffix: form for suffix, form in ALL.items() if form in REPORTS} | {".xml": "junit", ".tap": "tap"}
"""The format of a report by the suffix of its file, if no format is named."""
