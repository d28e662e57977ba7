"""Nothing of the key is in anything that a student gets: handouts, feedback, exports, what a tutor says, nor beside it.

Looked for is every right number of three decimals and more that is not given, in all formats of everything.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from homework.test_exports import CLOZE, NS, exported
from homework.test_practice import said, session
from homework.test_quiz import MADE, made
from numpy.typing import NDArray

import attncalc as ac
from attncalc.common.numerals import RULE
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.marking.marker import Marker
from attncalc.homework.marking.whole_class import Graded
from attncalc.homework.quiz.autograders import FILE
from attncalc.homework.quiz.class_folders import HASH
from attncalc.homework.quiz.handouts import handed_out, key_document
from attncalc.homework.quiz.worksheets import Whose, Wording
from attncalc.homework.reading.answers import Sheet, from_array
from attncalc.homework.reading.sheets import Asked, from_tree, spelled
from attncalc.homework.reports import feedback, marked_sheets
from attncalc.homework.reports.class_reports import Account, gradescope
from attncalc.render import PAGES, View
from attncalc.render.page import Page, write
from attncalc.render.printing import Printing
from attncalc.solve.problem import Problem
from attncalc.solve.solver import solve

Array = NDArray[Any]
Values = dict[str, Array]

NUMBER = re.compile(r"(\d+)(?:[.,](\d+))?")
PLACES = 3
"""So many decimals are no coincidence."""
EVEN = 1e-6
NAMES = pytest.mark.parametrize("name", MADE)


def told(text: str) -> set[str]:
    """The numbers of a text, cut off after so many decimals."""
    return {f"{found[1]}.{found[2][:PLACES]}" if found[2] else found[1] for found in NUMBER.finditer(text)}


def in_digits(values: Iterable[Array]) -> set[str]:
    """Numbers as they may be printed, without their signs: those that have so many decimals, or four digits."""
    entries = np.abs(np.concatenate([np.zeros(0), *(np.ravel(value).astype(float) for value in values)]))
    odd = [entry for entry in entries[np.isfinite(entries)] if abs(entry * 100 - round(entry * 100)) > EVEN]
    large = {str(int(entry)) for entry in entries[np.isfinite(entries)] if entry >= 1000 and entry.is_integer()}
    cut = {re.sub(rf"(\.\d{{{PLACES}}}).*", r"\1", f"{entry:.9f}") for entry in odd if entry >= 0.01}
    return cut | large | {f"{entry:.{PLACES}f}" for entry in odd if entry >= 0.01}


def right_of(problem: Problem) -> Values:
    """Every step as it should be."""
    key = Key(problem)
    values = {spelled(step): key.value(step) for step in key.steps if step not in key.complex}
    return {step: value for step, value in values.items() if value is not None and value.dtype.kind in "biuf"}


def secrets_of(problem: Problem) -> set[str]:
    """The right numbers of a problem, but for those that stand in it."""
    document = json.loads(key_document(problem))
    given = told(json.dumps([document["inputs"], document["options"]]))
    return in_digits(right_of(problem).values()) - given - in_digits([np.array([float(x) for x in given])])


@cache
def right(name: str) -> Values:
    return right_of(made(name).problem)


@cache
def secrets(name: str) -> set[str]:
    return secrets_of(made(name).problem)


def nothing_in(texts: Iterable[tuple[str, str]], secret: set[str]) -> None:
    found = {where: sorted(told(text) & secret)[:4] for where, text in texts}
    assert {where: leaked for where, leaked in found.items() if leaked} == {}


@pytest.mark.thorough
def test_what_is_looked_for_is_found_where_it_stands() -> None:
    for name in ("softmax", "attention", "grad attention", "layernorm"):
        assert len(told(key_document(made(name).problem)) & secrets(name)) > len(secrets(name)) / 3 > 2


@pytest.mark.thorough
@pytest.mark.spread(12)
@NAMES
def test_what_is_handed_out(name: str) -> None:
    trace = solve(made(name).problem, keep_all=True)
    whose = Whose("Ada", "p0123456789ab")
    for printing in (Printing(), Printing(base=1, decimal=",")):
        nothing_in(handed_out(trace, PAGES, Asked(), Wording(printing=printing), whose).items(), secrets(name))


@pytest.mark.release
@pytest.mark.parametrize("name", ["attention", "grad linear-regression", "layernorm"])
def test_of_steps_that_are_told_no_others(name: str) -> None:
    key, trace = Key(made(name).problem), solve(made(name).problem, keep_all=True)
    first, *others = [step for step in key.steps if spelled(step) in right(name)]
    known = in_digits([right(name)[spelled(first)]])
    for asked in (Asked(shown=(first,)), Asked(steps={others[-1]: None}, shown=(first,))):
        nothing_in(handed_out(trace, PAGES, asked, Wording()).items(), secrets(name) - known)


def sheets(name: str) -> Iterator[tuple[str, Sheet]]:
    """Sheets on which every step is wrong in one way or another."""
    draw, key = np.random.default_rng(1), Key(made(name).problem)
    off = {step: value + draw.uniform(3, 9, value.shape) for step, value in right(name).items()}
    yield "far off", of({step: value.round(PLACES) for step, value in off.items()})
    yield "stored", Sheet({step: from_array(value.astype(np.float32), lambda at: "") for step, value in off.items()})
    yield "few digits", of({step: (value + 0.3).round(1) for step, value in right(name).items()})
    yield "blank", of({step: np.full(value.shape, None) for step, value in off.items()})
    yield "another shape", of({step: np.arange(7) + 0.5 for step in off})
    for wrong in key.wrong[:3]:
        values = {spelled(step): key.values([node])[0] for step, node in wrong.steps.items() if spelled(step) in off}
        yield wrong.mistakes[0].id, of({step: v.round(PLACES) for step, v in values.items() if np.isfinite(v).all()})


def of(steps: Values) -> Sheet:
    return from_tree({"steps": {step: value.tolist() for step, value in steps.items()}}, "sheet")


@pytest.mark.thorough
@pytest.mark.spread(24)
@NAMES
def test_what_comes_back(name: str) -> None:
    """Reports on a sheet, in all formats, without --reveal; a student's own numbers may be right."""
    marker = Marker(Key(made(name).problem))
    for label, sheet in sheets(name):
        marked = marker.mark(sheet)
        one, own = Graded("Ada", "ada.json", marked), in_digits(answer.value for answer in sheet.steps.values())
        document = json.loads(json.dumps(marked.to_dict()))
        for step in document["steps"]:
            step.pop("share", None)
            step.pop("separate")  # other operands, on which mistakes differ
        texts = {"results.json": gradescope(one), "JSON": json.dumps(document)}
        for form in marked_sheets.FORMATS:
            texts[f"check {form}"] = "" if form == "json" else marked_sheets.shown(marked, form, View())
        for form in feedback.FORMATS:
            most = Account(hints=RULE)  # the most that a student is told
            texts[f"feedback {form}"] = feedback.written_for(one, form, most)
        nothing_in(((f"{label}, {form}", text) for form, text in texts.items()), secrets(name) - own)


@pytest.mark.thorough
@pytest.mark.spread(24)
@NAMES
def test_what_platforms_show(name: str) -> None:
    """Of the exports all but the answers, which the platform keeps to itself: texts, titles, hints."""
    text, package, cartridge = exported(name)
    shown = {
        "Moodle": re.sub("<penalty>.*</penalty>", "", CLOZE.sub("", text)),
        "its hints": " ".join(re.findall(r"#((?:[^~}\\]|\\.)*)", text)),
    }
    archive = zipfile.ZipFile(io.BytesIO(package))
    item = ElementTree.fromstring(archive.read("item.xml"))  # noqa: S314  (written by ourselves)
    seen = [*item.findall("q:itemBody", NS), *item.findall("q:modalFeedback", NS)]
    shown["QTI"] = " ".join([item.get("title", ""), *(part for each in seen for part in each.itertext())])
    archive = zipfile.ZipFile(io.BytesIO(cartridge))
    quiz = ElementTree.fromstring(archive.read("quiz/quiz.xml"))  # noqa: S314  (as above)
    titles = [each.get("title", "") for each in quiz.iter()]
    shown["Canvas"] = " ".join([*titles, *(each.text or "" for each in quiz.iter() if each.tag.endswith("mattext"))])
    for file in ("imsmanifest.xml", "quiz/assessment_meta.xml"):
        shown[f"Canvas, {file}"] = archive.read(file).decode()
    nothing_in(shown.items(), secrets(name))


@pytest.mark.release
@pytest.mark.spread(36)
@NAMES
def test_what_a_tutor_says(name: str) -> None:
    """To wrong answers and to what cannot be read; hints, in the end, work out entries."""
    at, draw = session(name), np.random.default_rng(2)
    spoken, own = [str(write(Page("practice", tuple(at.begin())), "plain", View()))], []
    for task in at.posed.tasks:
        value = np.asarray(task.step.value, float)
        own.append((value + draw.uniform(3, 9, value.shape)).round(PLACES))
        for word in (json.dumps(own[-1].tolist()), "[[1, 2], 3]", "list", "next"):
            spoken += [said(at, word), json.dumps(at.record())]  # what --save keeps, too
    nothing_in([("said", " ".join(spoken))], secrets(name) - in_digits(own))


# What stands beside: hashes, times, names of files, what a file says of itself

CLOCK = re.compile(r"\b(?:19|20)\d\d-\d\d-\d\d|\b\d\d:\d\d\b|\\today")
HEXADECIMAL = re.compile(r"\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{8,}\b")
ABOUT_ITSELF = re.compile(r"<meta[^>]*>|\\(?:pdfinfo|hypersetup|author|date)\b.*")
CLASS = ["Ada", "Zoë Müller"]


@pytest.mark.thorough
def test_nothing_in_a_folder_of_a_class_tells_of_the_key() -> None:
    quiz = ac.quiz("attention", seed=3, roster=CLASS)
    made_now, again = ([*quiz.files(PAGES, export=("moodle", "qti", "gradescope")).items()] for _ in range(2))
    assert made_now == again
    theirs = {name: text for name, text in made_now if "/" in name}
    for name, text in theirs.items():
        assert isinstance(text, str)
        [whose] = [one for one in quiz.keys.variants if name.startswith(f"{one.folder}/")] if quiz.keys else []
        nothing_in([(name, text)], secrets_of(whose.held.problem))
        problem = theirs[f"{whose.folder}/problem.json"]
        assert isinstance(problem, str)
        assert whose.id == "p" + sha256(problem.encode()).hexdigest()[:HASH], "anybody can find it from the problem"
        assert {*HEXADECIMAL.findall(text.replace(whose.id, ""))} == set(), name
        assert not CLOCK.search(text), name
        assert "seed" not in text, name
        about = " ".join(ABOUT_ITSELF.findall(text))
        assert not re.search(r"(?:generator|author|date|keywords|description)\b", about), (name, about)
        assert not [other for other in CLASS if other != whose.student and other in text], name
    for name, package in made_now:
        if isinstance(package, bytes):
            infos = zipfile.ZipFile(io.BytesIO(package)).infolist()
            assert {info.date_time for info in infos} == {(1980, 1, 1, 0, 0, 0)}, name
            assert {(info.comment, info.extra) for info in infos} == {(b"", b"")}, name


@pytest.mark.thorough
def test_results_of_gradescope_say_what_feedback_says() -> None:
    """The key is in the zip, which students never see; results.json is all that they do."""
    quiz = ac.quiz("softmax", seed=4, ask="softmax")
    package = quiz.files(export=["gradescope"])[FILE]
    assert isinstance(package, bytes)
    assert {*zipfile.ZipFile(io.BytesIO(package)).namelist()} == {"setup.sh", "run_autograder", "key.json"}
    grades = ac.grade(quiz.problems[""], {"Ada": {"softmax": [0.3, 0.3, 0.4]}})
    results = json.loads(grades.feedback("Ada", "gradescope"))
    assert not told(json.dumps(results)) & secrets("softmax")
    assert results["stdout_visibility"] == "hidden"
