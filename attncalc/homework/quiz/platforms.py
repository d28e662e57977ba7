"""Quizzes in the formats of learning platforms: Moodle XML, QTI 2.1, and the QTI 1.2 of Canvas."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from html import escape

from attncalc.common.errors import OptionError, place_text, visible
from attncalc.common.system import NamedTuple, grouped
from attncalc.homework.quiz.exports import FIXED, OFF, Gap, Where, Writing, body, plain, written
from attncalc.render.page import Page

# Moodle


class Question(NamedTuple):
    """A problem as a platform has it; the questions of a pool are equally good, and each student is given one."""

    name: str
    page: Page
    gaps: Mapping[Where, Gap]
    pool: str = ""
    points: float | None = None  # for the whole question; None: the sum of its weights

    @property
    def total(self) -> float:
        """The points for the whole question."""
        return self.points if self.points is not None and self.gaps else sum(gap.weight for gap in self.gaps.values())

    def mark(self, gap: Gap) -> float:
        """What a gap earns: its share of the points."""
        return gap.weight * self.total / sum(each.weight for each in self.gaps.values())


def moodle(questions: Sequence[Question]) -> str:
    """Cloze questions in Moodle's XML, with a category for each pool, from which Moodle draws at random."""
    parts = []
    for pool, own in pools(questions).items():
        where = "/".join(("$course$/top/attncalc", *([pool.replace("/", "//")] if pool else [])))
        parts.append(f'<question type="category"><category><text>{plain(where)}</text></category></question>\n')
        parts += map(_moodle_question, own)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<quiz>\n{"".join(parts)}</quiz>\n'


def pools(questions: Sequence[Question]) -> dict[str, list[Question]]:
    """The questions of each pool."""
    return grouped(questions, lambda one: one.pool)


def _moodle_question(one: Question) -> str:
    whole = has_whole_marks(one)
    how = Writing(
        lambda words: plain(words).replace("{", "&#123;"),
        lambda gap: _cloze(gap, int(one.mark(gap)) if whole else gap.weight),
    )
    text = body(one.page, one.gaps, how)
    cdata = text.replace("]]>", "]]]]><![CDATA[>")
    return (
        f'<question type="cloze">\n<name><text>{plain(one.name)}</text></name>\n'
        f'<questiontext format="html"><text><![CDATA[{cdata}]]></text></questiontext>\n'
        f'<generalfeedback format="html"><text>{plain(FIXED)}</text></generalfeedback>\n'
        "<penalty>0.3333333</penalty>\n<hidden>0</hidden>\n"
        '<hint format="html"><text></text></hint>\n</question>\n'
    )


def has_whole_marks(one: Question) -> bool:
    """Whether each gap earns a whole number from 1 on, as Moodle requires; if not, gaps just have their weights."""
    return all(mark >= 1 and mark.is_integer() for mark in map(one.mark, one.gaps.values()))


def _cloze(gap: Gap, mark: int) -> str:
    """`{1:NUMERICAL:=0.8044:0.00005~%0%0.881:0.0005#hint}`."""
    answers = [f"={written(value)}:{written(OFF)}" for value in gap.right]
    for wrong in gap.wrong:
        hint = re.sub(r'[}~#/"\\]', r"\\\g<0>", plain(wrong.mistake.hint).replace("{", "&#123;"))
        hint = hint.replace(r"&\#123;", "&#123;")
        answers.append(f"%0%{written(wrong.value)}:{written(wrong.off)}#{hint}")
    return f"{{{mark}:NUMERICAL:{'~'.join(answers)}}}"


# QTI 2.1

QTI = "http://www.imsglobal.org/xsd/imsqti_v2p1"
QTI_SCHEMA = "http://www.imsglobal.org/xsd/qti/qtiv2p1/imsqti_v2p1.xsd"
SINGLE = 'cardinality="single" baseType="float"'
PACKAGE = "http://www.imsglobal.org/xsd/imscp_v1p1"
SCHEMA = "http://www.w3.org/2001/XMLSchema-instance"
QTI_ITSELF = f'xmlns="{QTI}" xmlns:xsi="{SCHEMA}" xsi:schemaLocation="{QTI} {QTI_SCHEMA}"'
LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The time of every file in a package, so that the same quiz is the same package."""
UNIX = 3
"""The system that every package claims to be made on: only Unix marks files as programs."""
PROGRAM, PLAIN = 0o100755, 0o100644


def _qti(questions: Sequence[Question]) -> bytes:
    """A package of QTI 2.1 with an item for each question; several make a test, which draws one from each pool."""
    many = len(questions) > 1
    files = {f"item{i if many else ''}.xml": item(one, i * many) for i, one in enumerate(questions, 1)}
    known = {id(one): name.removesuffix(".xml") for name, one in zip(files, questions, strict=True)}
    resources = [_resource(name.removesuffix(".xml"), "item", name) for name in files]
    if many:
        sections = []
        for number, (pool, own) in enumerate(pools(questions).items(), 1):
            refs = "".join(
                f'<assessmentItemRef identifier="{known[id(one)]}" href="{known[id(one)]}.xml"/>' for one in own
            )
            sections.append(
                f'<assessmentSection identifier="pool{number}" title="{escape(visible(pool))}" visible="true">\n'
                f'<selection select="1"/>{refs}\n</assessmentSection>\n'
            )
        resources.insert(0, _resource("test", "test", "test.xml", [*known.values()]))
        files["test.xml"] = (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<assessmentTest {QTI_ITSELF} identifier="test" '
            'title="attncalc">\n'
            '<testPart identifier="part" navigationMode="nonlinear" submissionMode="simultaneous">\n'
            f"{''.join(sections)}</testPart>\n</assessmentTest>\n"
        )
    manifest = (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<manifest xmlns="{PACKAGE}" xmlns:xsi="{SCHEMA}" '
        f'xsi:schemaLocation="{PACKAGE} http://www.imsglobal.org/xsd/qti/qtiv2p1/qtiv2p1_imscpv1p2_v1p0.xsd" '
        'identifier="attncalc">\n<metadata><schema>QTIv2.1 Package</schema>'
        "<schemaversion>1.0.0</schemaversion></metadata>\n<organizations/>\n<resources>\n"
        f"{''.join(resources)}</resources>\n</manifest>\n"
    )
    return package({"imsmanifest.xml": manifest, **files})


def _resource(name: str, kind: str, file: str, needs: Sequence[str] = ()) -> str:
    others = "".join(f'<dependency identifierref="{other}"/>' for other in needs)
    told = f'identifier="{name}" type="imsqti_{kind}_xmlv2p1" href="{file}"'
    return f'<resource {told}><file href="{file}"/>{others}</resource>\n'


def package(files: Mapping[str, str], programs: Container[str] = ()) -> bytes:
    """Files as a zip; some of them are programs, which can be run where they are unpacked."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name, LONG_AGO)
            info.create_system = UNIX
            info.external_attr = (PROGRAM if name in programs else PLAIN) << 16
            archive.writestr(info, content, zipfile.ZIP_DEFLATED)
    return whole.getvalue()


def item(one: Question, number: int = 0) -> str:
    """An assessmentItem: the gaps, the marks of each, and the hints of known mistakes."""
    box = '<textEntryInteraction responseIdentifier="{}" expectedLength="8"/>'
    text = body(one.page, one.gaps, Writing(plain, lambda gap: box.format(gap.name)))
    known = {wrong.mistake.id: wrong.mistake.hint for gap in one.gaps.values() for wrong in gap.wrong}
    declared = [
        f'<responseDeclaration identifier="{gap.name}" {SINGLE}>'
        f"<correctResponse><value>{written(gap.right[0])}</value></correctResponse></responseDeclaration>"
        for gap in one.gaps.values()
    ]
    nothing, most = "<defaultValue><value>0</value></defaultValue>", f'normalMaximum="{written(one.total)}"'
    declared += [
        f'<outcomeDeclaration identifier="SCORE" {SINGLE} {most}>{nothing}</outcomeDeclaration>',
        '<outcomeDeclaration identifier="FEEDBACK" cardinality="multiple" baseType="identifier"/>',
    ]
    hints = [
        f'<modalFeedback outcomeIdentifier="FEEDBACK" identifier="{rule}" showHide="show">{plain(hint)}</modalFeedback>'
        for rule, hint in known.items()
    ]
    title = (
        f'identifier="item{number or ""}" title="{escape(visible(one.name))}" adaptive="false" timeDependent="false"'
    )
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<assessmentItem {QTI_ITSELF} {title}>",
        *declared,
        f"<itemBody>\n{text}\n</itemBody>",
        "<responseProcessing>",
        *(_processing(gap, one.mark(gap)) for gap in one.gaps.values()),
        "</responseProcessing>",
        *hints,
        "</assessmentItem>",
    ]
    return "\n".join(lines) + "\n"


def _processing(gap: Gap, mark: float) -> str:
    """A right answer adds to the score; one that a known mistake gives shows its hint."""
    score = (
        '<setOutcomeValue identifier="SCORE"><sum><variable identifier="SCORE"/>'
        f'<baseValue baseType="float">{written(mark)}</baseValue></sum></setOutcomeValue>'
    )
    first, *others = gap.right
    cases = [(_equal(gap, first, OFF, f'<correct identifier="{gap.name}"/>'), score)]
    cases += [(_equal(gap, value, OFF), score) for value in others]
    for wrong in gap.wrong:
        hint = (
            '<setOutcomeValue identifier="FEEDBACK"><multiple><variable identifier="FEEDBACK"/>'
            f'<baseValue baseType="identifier">{wrong.mistake.id}</baseValue></multiple></setOutcomeValue>'
        )
        cases.append((_equal(gap, wrong.value, wrong.off), hint))
    names = ["responseIf", *["responseElseIf"] * (len(cases) - 1)]
    drawn = (f"<{name}>{test}{then}</{name}>" for name, (test, then) in zip(names, cases, strict=True))
    return f"<responseCondition>{''.join(drawn)}</responseCondition>"


def _equal(gap: Gap, value: float, off: float, to: str = "") -> str:
    """A test of an answer: whether it equals a value, or the element `to`."""
    to = to or f'<baseValue baseType="float">{written(value)}</baseValue>'
    least = f'tolerance="{written(off)} {written(off)}"'
    return f'<equal toleranceMode="absolute" {least}><variable identifier="{gap.name}"/>{to}</equal>'


# Canvas, which has QTI 1.2: the sheet as a text, its gaps numbered, and a question for each number.

CARTRIDGE = "http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1"
QTI_12 = "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"
META = "http://canvas.instructure.com/xsd/cccv1p0"
TEXT_ALONE, NUMERICAL = "text_only_question", "numerical_question"


def canvas(questions: Sequence[Question]) -> bytes:
    """A quiz that Canvas can import; a pool of several problems becomes a group, from which it draws a question.

    Canvas' numerical questions have only right answers, so mistakes are left out.
    """
    many = len(questions) > 1
    title, total, items = "attncalc" if many else questions[0].name, 0.0, []
    for number, (pool, own) in enumerate(pools(questions).items(), 1):
        if len(own) == 1:
            items += _canvas_problem(own[0], f"problem{number}_" if many else "")
        elif all(len(one.gaps) == 1 for one in own):
            items.append(_canvas_group(pool, own, number))
        else:
            fault = (
                f"Canvas draws single questions from a pool, and a problem of {visible(pool)} asks for several numbers"
            )
            step, place = list(own[0].gaps)[-1]
            one = f"'{step}{place_text(place)}'" if place else step
            raise OptionError(
                fault, hint=f"--ask {one} asks for one, when a class is made; moodle and qti have pools of any problems"
            )
        total += own[0].total
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    kind = "associatedcontent/imscc_xmlv1p1/learning-application-resource"
    manifest = (
        f'{head}<manifest identifier="attncalc" xmlns="{CARTRIDGE}">\n'
        "<metadata><schema>IMS Content</schema><schemaversion>1.1.3</schemaversion></metadata>\n"
        '<organizations/>\n<resources>\n<resource identifier="quiz" type="imsqti_xmlv1p2">'
        '<file href="quiz/quiz.xml"/><dependency identifierref="meta"/></resource>\n'
        f'<resource identifier="meta" type="{kind}" href="quiz/assessment_meta.xml">'
        '<file href="quiz/assessment_meta.xml"/></resource>\n</resources>\n</manifest>\n'
    )
    meta = (
        f'{head}<quiz identifier="quiz" xmlns="{META}"><title>{plain(title)}</title><description></description>'
        f"<quiz_type>assignment</quiz_type><points_possible>{written(total)}</points_possible>"
        "<allowed_attempts>1</allowed_attempts></quiz>\n"
    )
    quiz = (
        f'{head}<questestinterop xmlns="{QTI_12}"><assessment ident="quiz" title="{escape(visible(title))}">\n'
        '<section ident="root_section">\n{}\n</section>\n</assessment></questestinterop>\n'
    ).replace("{}", "\n".join(items))
    return package({"imsmanifest.xml": manifest, "quiz/assessment_meta.xml": meta, "quiz/quiz.xml": quiz})


def _canvas_sheet(one: Question) -> str:
    return body(one.page, one.gaps, Writing(plain, lambda gap: f"({gap.name.removeprefix('gap')})"))


def _canvas_problem(one: Question, prefix: str) -> list[str]:
    """The sheet, and a question for each of its numbers."""
    items = [_canvas_item(f"{prefix}sheet", one.name, _canvas_sheet(one), TEXT_ALONE)]
    for (step, _), gap in one.gaps.items():
        said = f"({gap.name.removeprefix('gap')}) {step}"
        text, right = f"<p>{plain(said)} =</p>", _canvas_answers(gap)
        items.append(_canvas_item(f"{prefix}{gap.name}", said, text, NUMERICAL, one.mark(gap), right))
    return items


def _canvas_group(pool: str, own: Sequence[Question], number: int) -> str:
    """A group of problems of one number each: one of them is drawn for each student, with its sheet."""
    items = []
    for i, one in enumerate(own, 1):
        [((step, _), gap)] = one.gaps.items()
        text = f"{_canvas_sheet(one)}\n<p>{plain(f'(1) {step}')} =</p>"
        items.append(_canvas_item(f"pool{number}_{i}", one.name, text, NUMERICAL, one.total, _canvas_answers(gap)))
    lines = "\n".join(items)
    points = written(own[0].total)
    each = f"<selection_extension><points_per_item>{points}</points_per_item></selection_extension>"
    drawn = f"<selection><selection_number>1</selection_number>{each}</selection>"
    return (
        f'<section ident="pool{number}" title="{escape(visible(pool))}">\n'
        f"<selection_ordering>{drawn}</selection_ordering>\n{lines}\n</section>"
    )


def _canvas_item(name: str, title: str, text: str, kind: str, points: float = 0, answers: str = "") -> str:
    """A question, or a text that has none."""
    fields = {"question_type": kind, "points_possible": written(points)}
    told = "".join(
        f"<qtimetadatafield><fieldlabel>{label}</fieldlabel><fieldentry>{value}</fieldentry></qtimetadatafield>"
        for label, value in fields.items()
    )
    box = (
        '<response_str ident="response1" rcardinality="Single"><render_fib fibtype="Decimal">'
        '<response_label ident="answer1"/></render_fib></response_str>'
    )
    return (
        f'<item ident="{name}" title="{escape(visible(title))}">'
        f"<itemmetadata><qtimetadata>{told}</qtimetadata></itemmetadata>"
        f'<presentation><material><mattext texttype="text/html">{escape(text, quote=False)}</mattext></material>'
        f"{box if answers else ''}</presentation>{answers}</item>"
    )


def _canvas_answers(gap: Gap) -> str:
    """Each right number, with the range in which an answer may lie."""
    cases = "".join(
        '<respcondition continue="No"><conditionvar><or>'
        f'<varequal respident="response1">{written(value)}</varequal>'
        f'<and><vargte respident="response1">{written(value - OFF)}</vargte>'
        f'<varlte respident="response1">{written(value + OFF)}</varlte></and></or></conditionvar>'
        '<setvar action="Set" varname="SCORE">100</setvar></respcondition>'
        for value in gap.right
    )
    score = '<decvar maxvalue="100" minvalue="0" varname="SCORE" vartype="Decimal"/>'
    return f"<resprocessing><outcomes>{score}</outcomes>{cases}</resprocessing>"


MAKERS: dict[str, tuple[str, Callable[[Sequence[Question]], str | bytes]]] = {
    "moodle": ("moodle.xml", moodle),
    "qti": ("qti.zip", _qti),
    "canvas": ("canvas.zip", canvas),
}
"""For each format, the file's name and the function that makes it."""
FORMATS = tuple(MAKERS)


def exported(questions: Sequence[Question], formats: Iterable[str]) -> dict[str, str | bytes]:
    """The contents of the files for these platforms, by file names."""
    return {file: make(questions) for file, make in (MAKERS[form] for form in formats)}
