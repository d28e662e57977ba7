"""Quizzes for learning platforms, read back: what is right earns its marks, what a mistake gives shows its hint."""

from __future__ import annotations

import io
import json
import os
import re
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import Run
from homework.test_quiz import MADE, made
from rows import rows

import attncalc as ac
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.quiz import handouts, platforms
from attncalc.homework.quiz.exports import BY_HAND, FIXED, LEFT_OVER
from attncalc.homework.quiz.platforms import Question, canvas, item, moodle, package
from attncalc.homework.quiz.worksheets import DECIMALS
from attncalc.render.page import Heading, Page, Paragraph

NUMBER = r"-?\d+(?:\.\d+)?"
CLOZE = re.compile(r"\{(\d+):NUMERICAL:((?:[^}\\]|\\.)*)\}")
ANSWER = re.compile(rf"(=|%0%)({NUMBER}):({NUMBER})(?:#((?:[^~\\]|\\.)*))?")
NS = {"q": "http://www.imsglobal.org/xsd/imsqti_v2p1"}
OF_CANVAS = {"q": "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"}
SEVERAL_WAYS = ("eigen", "svd")
QUICK = ["softmax", "cosine", "grad linear-regression", "eigen"]


class Answer(NamedTuple):
    """An answer of a gap: whether it is right, its number, how far one may be off, and what is said of it."""

    right: bool
    value: float
    off: float
    told: str = ""


Gaps = list[tuple[float, list[Answer]]]


@cache
def exported(name: str) -> tuple[str, bytes, bytes]:
    found = platforms.exported([handouts.question(made(name).problem)], platforms.FORMATS)
    text, package, cartridge = found["moodle.xml"], found["qti.zip"], found["canvas.zip"]
    assert isinstance(text, str)
    assert isinstance(package, bytes)
    assert isinstance(cartridge, bytes)
    return text, package, cartridge


def cloze(xml: str) -> Gaps:
    """The gaps of a Moodle question, read as Moodle reads them."""
    return cloze_gaps(ElementTree.fromstring(xml).findall("question")[1])  # noqa: S314  (written by ourselves)


def cloze_gaps(question: ElementTree.Element) -> Gaps:
    """The gaps of one of several questions."""
    assert question.get("type") == "cloze"
    text = question.findtext("questiontext/text") or ""
    assert FIXED in text
    gaps: Gaps = []
    for weight, inside in CLOZE.findall(text):
        answers = []
        for part in re.split(r"(?<!\\)~", inside):
            found = ANSWER.fullmatch(part)
            assert found, part
            told = re.sub(r"\\(.)", r"\1", found[4] or "")
            answers.append(Answer(found[1] == "=", float(found[2]), float(found[3]), told))
        gaps.append((int(weight), answers))
    assert "{" not in CLOZE.sub("", text)
    return gaps


def qti(package: bytes) -> Gaps:
    """The gaps of an item, in the order in which they stand in its text."""
    archive = zipfile.ZipFile(io.BytesIO(package))
    manifest = ElementTree.fromstring(archive.read("imsmanifest.xml"))  # noqa: S314  (written by ourselves)
    [resource] = manifest.iter("{http://www.imsglobal.org/xsd/imscp_v1p1}resource")
    return item_gaps(archive.read(resource.get("href") or ""))


def item_gaps(xml: bytes) -> Gaps:
    """The gaps of one of several items."""
    root = ElementTree.fromstring(xml)  # noqa: S314  (written by ourselves)
    hints = {each.get("identifier"): each.text or "" for each in root.findall("q:modalFeedback", NS)}
    declared = {each.get("identifier"): each for each in root.findall("q:responseDeclaration", NS)}
    conditions = root.findall("q:responseProcessing/q:responseCondition", NS)
    gaps: Gaps = []
    inside = [each.get("responseIdentifier") for each in root.iterfind(".//q:textEntryInteraction", NS)]
    assert inside == [*declared]
    for name, condition in zip(inside, conditions, strict=True):
        answers, weight = [], 0.0
        for case in condition:
            equal = case.find("q:equal", NS)
            assert equal is not None
            assert equal[0].get("identifier") == name
            value = equal[1].text or declared[name].findtext("q:correctResponse/q:value", "", NS)
            least, most = map(float, (equal.get("tolerance") or "").split())
            assert least == most
            outcome = case.find("q:setOutcomeValue", NS)
            assert outcome is not None
            told = outcome.findtext(".//q:baseValue", "", NS)
            right = outcome.get("identifier") == "SCORE"
            weight = float(told) if right else weight
            answers.append(Answer(right, float(value), least, "" if right else hints[told]))
        gaps.append((weight, answers))
    [score] = [each for each in root.findall("q:outcomeDeclaration", NS) if each.get("identifier") == "SCORE"]
    assert float(score.get("normalMaximum") or 0) == pytest.approx(sum(weight for weight, _ in gaps))
    return gaps


def of_canvas(package: bytes) -> Gaps:
    """The right answers of each numerical question of a quiz, and that the sheet above has its number."""
    archive = zipfile.ZipFile(io.BytesIO(package))
    manifest = ElementTree.fromstring(archive.read("imsmanifest.xml"))  # noqa: S314  (written by ourselves)
    named = {each.get("href") for each in manifest.iter("{http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1}file")}
    assert {"imsmanifest.xml", *named} == {*archive.namelist()}
    root = ElementTree.fromstring(archive.read("quiz/quiz.xml"))  # noqa: S314  (written by ourselves)
    sheet, *questions = root.findall(".//q:item", OF_CANVAS)
    return [*canvas_gaps(sheet, questions)]


def canvas_gaps(
    sheet: ElementTree.Element, questions: list[ElementTree.Element]
) -> Iterator[tuple[float, list[Answer]]]:
    """The right answers of questions, each of which has a number on the sheet."""
    space = OF_CANVAS
    text = sheet.findtext(".//q:mattext", "", space)
    for number, question in enumerate(questions, 1):
        told = [each.text for each in question.findall(".//q:fieldentry", space)]
        assert told[0] == "numerical_question"
        assert text.count(f"({number})") >= 1
        answers = []
        for case in question.findall(".//q:respcondition", space):
            exact, least, most = (
                float(case.findtext(f".//q:{name}", "", space)) for name in ("varequal", "vargte", "varlte")
            )
            assert least < exact < most
            answers.append(Answer(True, exact, (most - least) / 2))
        yield float(told[1] or 0), answers


@pytest.mark.spread(18)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.thorough) for name in MADE]
)
def test_all_formats_hold_the_same_gaps_and_tell_right_from_wrong(name: str) -> None:
    key, (text, package, cartridge) = Key(made(name).problem), exported(name)
    gaps = cloze(text)
    assert gaps == qti(package)
    assert (BY_HAND in text) == (name in SEVERAL_WAYS)
    for (weight, answers), (points, right) in zip(gaps, of_canvas(cartridge), strict=True):
        assert weight == points
        assert [one.value for one in right] == [one.value for one in answers if one.right]
        assert [one.off for one in right] == pytest.approx([one.off for one in answers if one.right], rel=1e-3)
    hints = {rule.hint for rule in key.known}
    values = [key.value(step) for step in key.steps if key.nodes[step].sources[0].row.in_form_of is None]
    known = np.concatenate([value.ravel() for value in values if value is not None] or [np.zeros(0)])
    for weight, answers in gaps:
        assert weight > 0
        right = [answer for answer in answers if answer.right]
        assert np.abs(known - right[0].value).min() <= LEFT_OVER + 1e-11 * abs(right[0].value)
        for answer in right:
            assert abs(round(answer.value, DECIMALS) - answer.value) <= answer.off
        for answer in answers:
            accepted = [other for other in answers if abs(answer.value - other.value) <= other.off]
            assert accepted == [answer], "each number is that of one answer"
            assert answer.right or answer.told in hints


SCHEMES = os.environ.get("QTI_SCHEMES", "")
"""A folder with qtiv2p1/imsqti_v2p1.xsd and imscp_v1p1.xsd, as `schemes` of oat-sa/qti-sdk is; none is shipped."""


@pytest.fixture(scope="module")
def faults_of() -> Callable[[bytes], list[str]]:
    """What the schemas say against a package of QTI; lxml reads them, and nothing of a network."""
    if not SCHEMES:
        pytest.skip("QTI_SCHEMES names no folder with the schemas of QTI 2.1")
    etree = pytest.importorskip("lxml.etree")
    packaging, own = (
        etree.XMLSchema(etree.parse(f"{SCHEMES}/{name}", etree.XMLParser(no_network=True)))
        for name in ("imscp_v1p1.xsd", "qtiv2p1/imsqti_v2p1.xsd")
    )

    def found(whole: bytes) -> list[str]:
        archive = zipfile.ZipFile(io.BytesIO(whole))
        faults = []
        for name in archive.namelist():
            schema = packaging if name == "imsmanifest.xml" else own
            schema.validate(etree.parse(io.BytesIO(archive.read(name))))
            faults += [f"{name}:{fault.line}: {fault.message}" for fault in schema.error_log]
        return faults

    return found


@rows("name", MADE)
def test_an_item_is_valid_by_its_schema(name: str, faults_of: Callable[[bytes], list[str]]) -> None:
    assert faults_of(exported(name)[1]) == []


def test_a_pool_is_valid_by_its_schema_and_what_is_wrong_is_not(faults_of: Callable[[bytes], list[str]]) -> None:
    pool = ac.quiz("softmax", seed=3, roster=["Ada", "Bob <&>", "Eve"]).files(export=["qti"])["qti.zip"]
    assert isinstance(pool, bytes)
    assert faults_of(pool) == []
    archive = zipfile.ZipFile(io.BytesIO(pool))
    for part in ("title=", "<selection", "<file"):
        files = {
            name: archive.read(name).decode().replace(part, f"{part[:-2]}x{part[-1]}") for name in archive.namelist()
        }
        assert faults_of(package(files)), part


def test_what_a_page_says_cannot_act_in_a_question() -> None:
    page = Page("]]> & <b>", (Heading("x"),))
    for text in ("{1:NUMERICAL:=1}", "]]>", "<script>", 'a "b" ~ # / \\ }'):
        said = page._replace(blocks=(*page.blocks, Paragraph(text)))
        one = Question(said.title, said, {})
        assert cloze(moodle([one])) == []
        assert of_canvas(canvas([one])) == []
        root = ElementTree.fromstring(item(one))  # noqa: S314  (written by ourselves)
        body = root.find("q:itemBody", NS)
        assert body is not None
        assert text in "".join(body.itertext())
        assert root.get("title") == said.title


@pytest.mark.release
def test_quiz_writes_them_with_what_is_asked_and_always_the_same(run: Run, tmp_path: Path) -> None:
    words = ("quiz", "attention", "--seed", "3", "--export", "moodle,qti,canvas", "--ask", "weights[0,1],output")
    done = run(*words, "-o", "a")
    assert done.returncode == 0, done.stderr
    assert FIXED in done.stderr
    run(*words, "-o", "b")
    for name in ("moodle.xml", "qti.zip", "canvas.zip"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    gaps = cloze((tmp_path / "a/moodle.xml").read_text())
    columns = len(gaps) - 1
    assert [weight for weight, _ in gaps] == [columns, *[1] * columns]  # steps weigh alike
    refused = run("quiz", "attention", "--export", "moodel", "-o", "c")
    assert (refused.returncode, (tmp_path / "c").exists()) == (2, False)
    assert "did you mean moodle?" in refused.stderr


@pytest.mark.thorough
def test_a_class_is_a_pool_from_which_the_platform_draws(run: Run, tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_text("student\nAda\nBob\nEve\n", encoding="utf-8")
    words = ("quiz", "softmax", "--seed", "3", "--roster", "class.csv")
    done = run(*words, "--export", "moodle,qti", "-o", "a")
    assert (done.returncode, FIXED in done.stderr) == (0, True)
    text = (tmp_path / "a/moodle.xml").read_text(encoding="utf-8")
    category, *questions = ElementTree.fromstring(text).findall("question")  # noqa: S314  (written by ourselves)
    assert category.findtext("category/text") == "$course$/top/attncalc/softmax"
    assert len({question.findtext("name/text") for question in questions}) == 3
    assert not any(name in text for name in ("Ada", "Bob", "Eve"))
    archive = zipfile.ZipFile(tmp_path / "a/qti.zip")
    space = {"q": "http://www.imsglobal.org/xsd/imsqti_v2p1"}
    test = ElementTree.fromstring(archive.read("test.xml"))  # noqa: S314  (written by ourselves)
    [section] = test.iter("{http://www.imsglobal.org/xsd/imsqti_v2p1}assessmentSection")
    assert [each.get("select") for each in section.findall("q:selection", space)] == ["1"]
    refs = {each.get("href"): each.get("identifier") for each in section.findall("q:assessmentItemRef", space)}
    assert {"imsmanifest.xml", "test.xml", *refs} == {*archive.namelist()}
    for file, name in refs.items():
        assert ElementTree.fromstring(archive.read(file or "")).get("identifier") == name  # noqa: S314  (as above)
    refused = run(*words, "--export", "canvas", "-o", "b")
    assert (refused.returncode, (tmp_path / "b").exists()) == (2, False)
    assert "Canvas draws single questions" in refused.stderr
    asked = re.search(r"--ask (\S+) asks for one", refused.stderr)
    assert asked
    assert run(*words, "--export", "canvas", "--ask", asked[1].strip("'"), "-o", "b").returncode == 0
    done = run("quiz", "a/keys.json", "--export", "moodle", "-o", "c")
    assert (tmp_path / "c/moodle.xml").read_text(encoding="utf-8") == text, done.stderr


@pytest.mark.thorough
def test_a_bank_has_a_pool_for_each_of_its_problems(run: Run, samples: Path, tmp_path: Path) -> None:
    (tmp_path / "bank").mkdir()
    for name in ("dot", "softmax"):
        own = json.loads((samples / f"{name}.json").read_bytes())
        (tmp_path / f"bank/{name}.json").write_text(json.dumps(own | ({"ask": ["sum"]} if name == "softmax" else {})))
    (tmp_path / "bank/bank.toml").write_text("[softmax]\ntitle = 'A/B'\ndraw = true\n[dot]\n", encoding="utf-8")
    (tmp_path / "class.csv").write_text("student\nAda\nBob\n", encoding="utf-8")
    done = run("quiz", "--bank", "bank", "--roster", "class.csv", "--export", "moodle,qti,canvas", "-o", "a")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "a/moodle.xml").read_text(encoding="utf-8")
    found = [each.findtext("category/text") for each in ElementTree.fromstring(text).findall("question")]  # noqa: S314 - our own
    top = "$course$/top/attncalc"
    assert found == [f"{top}/A//B", None, None, f"{top}/dot", None]  # what is the same for all stands there once
    test = zipfile.ZipFile(tmp_path / "a/qti.zip").read("test.xml").decode()
    assert (test.count("<assessmentSection"), test.count("<assessmentItemRef")) == (2, 3)
    quiz = zipfile.ZipFile(tmp_path / "a/canvas.zip").read("quiz/quiz.xml")
    root = ElementTree.fromstring(quiz)  # noqa: S314 - our own
    [group] = root.findall(".//q:section/q:section", OF_CANVAS)
    assert (group.get("title"), len(group.findall("q:item", OF_CANVAS))) == ("A/B", 2)
    sheet, *questions = root.findall("q:assessment/q:section/q:item", OF_CANVAS)
    assert [*canvas_gaps(sheet, questions)]
    names = [each.get("ident") for each in root.iter() if each.tag.endswith(("}item", "}section"))]
    assert len({*names}) == len(names)


@rows("points", [9, 6, 2.5, 0])
def test_what_a_problem_of_a_bank_earns_is_shared_among_its_numbers(
    run: Run, samples: Path, tmp_path: Path, points: float
) -> None:
    """In Moodle only where each gets a whole number; else its weights stand there, and it is told what to set."""
    bank, made = tmp_path / f"bank{points}", tmp_path / f"made{points}"
    bank.mkdir()
    own = json.loads((samples / "softmax.json").read_bytes()) | {"ask": ["shifted", "softmax", "sum"]}
    (bank / "softmax.json").write_text(json.dumps(own))
    (bank / "bank.toml").write_text(f"[softmax]\npoints = {points}\n")
    done = run("quiz", "--bank", bank, "--export", "moodle,qti,canvas", "-o", made)
    assert done.returncode == 0, done.stderr
    size = len(own["inputs"]["x"])
    many = [size, 1, size]  # shifted, their sum, the result
    shares = [points / 3 / size for size in many for _ in range(size)]  # steps weigh alike
    assert [mark for mark, _ in qti((made / "qti.zip").read_bytes())] == pytest.approx(shares)
    cartridge = (made / "canvas.zip").read_bytes()
    assert [mark for mark, _ in of_canvas(cartridge)] == pytest.approx(shares)
    meta = zipfile.ZipFile(io.BytesIO(cartridge)).read("quiz/assessment_meta.xml").decode()
    assert f"<points_possible>{points}<" in meta
    marks = [mark for mark, _ in cloze((made / "moodle.xml").read_text(encoding="utf-8"))]
    if all(share >= 1 and share.is_integer() for share in shares):
        assert (marks, "Moodle" in done.stderr) == (shares, False)
    else:
        assert marks == [max(many) / size for size in many for _ in range(size)]
        assert f"its question counts {sum(marks):g}, and {points} is the maximum mark to give it" in done.stderr


@pytest.mark.thorough
@rows("ask", ["softmax[0]", "sum"])
def test_canvas_draws_a_problem_of_one_number_from_a_group(ask: str) -> None:
    """Read back, each has the numbers and the answers of Moodle's."""
    files = ac.quiz("softmax", seed=3, roster=["Ada", "Bob", "Eve"], ask=[ask]).files(export=["moodle", "canvas"])
    xml, cartridge = files["moodle.xml"], files["canvas.zip"]
    assert isinstance(xml, str)
    assert isinstance(cartridge, bytes)
    _, *drawn = ElementTree.fromstring(xml).findall("question")  # noqa: S314  (written by ourselves)
    archive = zipfile.ZipFile(io.BytesIO(cartridge))
    root = ElementTree.fromstring(archive.read("quiz/quiz.xml"))  # noqa: S314  (written by ourselves)
    [group] = root.findall(".//q:section/q:section", OF_CANVAS)
    assert group.findtext(".//q:selection_number", "", OF_CANVAS) == "1"
    points = int(group.findtext(".//q:points_per_item", "", OF_CANVAS))
    items = group.findall("q:item", OF_CANVAS)
    assert len({each.get("ident") for each in items}) == 3
    for each, question in zip(items, drawn, strict=True):
        [(weight, right)], [(same, answers)] = canvas_gaps(each, [each]), cloze_gaps(question)
        assert weight == same == points
        assert [one.value for one in right] == [one.value for one in answers if one.right]
        given = re.findall(NUMBER, question.findtext("questiontext/text", "").partition("Work out")[0])
        assert given == re.findall(NUMBER, each.findtext(".//q:mattext", "", OF_CANVAS).partition("Work out")[0])
    meta = archive.read("quiz/assessment_meta.xml").decode()
    assert f"<points_possible>{points}<" in meta
    assert not any(name in archive.read("quiz/quiz.xml").decode() for name in ("Ada", "Bob", "Eve"))
