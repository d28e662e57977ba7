"""What comes back: a page for each student with nobody else's numbers, codes in place of names, the class by items."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Run

from attncalc.homework.marking.findings import located
from attncalc.homework.marking.whole_class import Graded
from attncalc.homework.reports import marked_sheets
from attncalc.homework.reports.class_reports import overview, report
from attncalc.homework.reports.items import ALONE, ENOUGH, document, items, variants
from attncalc.homework.reports.mark_sheets import filled
from attncalc.homework.reports.students import anonymous, code, once
from attncalc.record.verdicts import Finding, Marked, MarkedStep
from attncalc.render import View
from attncalc.render.page import Heading, Page, Paragraph, Part, write
from attncalc.render.printing import Printing, printed, texts_of

HEAD = ",".join(f'"{step}[{i},{j}]"' for step in ("weights", "output") for i in (0, 1) for j in (0, 1))
RIGHT = "0.8044,0.1956,0.3302,0.6698,0.1956,0.6089,0.6698,-0.3395"
SHEETS = {
    "Zoë Müller": RIGHT,
    "Bo": "0.8808,0.1192,0.2689,0.7311,0.1192,0.7616,0.7311,-0.4621",
    "../=cmd": RIGHT.replace("-0.3395", "0.3395"),
    "CON": "0.8044,0.1956,0.4,0.6,0.1956,,0.6,-0.2",
}
FORMATS = {"html": ".html", "markdown": ".md", "text": ".txt"}
CELLS = re.compile(r"-?\d\.\d{3,}")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    inputs = {"q": [[0, 2], [1, 1]], "k": [[0, 1], [2, 0]], "v": [[0, 1], [1, -1]]}
    (tmp_path / "problem.json").write_text(json.dumps({"calculation": "attention", "inputs": inputs}))
    rows = [f'"{name}",{cells}' for name, cells in SHEETS.items()]
    (tmp_path / "class.csv").write_text("\n".join([f"student,{HEAD}", *rows, "Ed,x,1"]) + "\n")
    return tmp_path


@pytest.mark.thorough
@pytest.mark.parametrize("form", FORMATS)
def test_each_student_gets_their_own_page_and_nothing_else(run: Run, home: Path, form: str) -> None:
    done = run("grade", "problem.json", "class.csv", "--feedback", "back/pages", "--feedback-format", form)
    assert done.returncode == 2, done.stderr  # one cannot be read
    pages = {path.name: path.read_text() for path in (home / "back/pages").iterdir()}
    assert {*pages} == {f"{stem}{FORMATS[form]}" for stem in ("Zoë-Müller", "Bo", "cmd", "CON-", "Ed")}
    for (name, cells), stem in zip(SHEETS.items(), ("Zoë-Müller", "Bo", "cmd", "CON-"), strict=True):
        text = re.sub(r"<meta http-equiv=[^>]*>", "", pages[f"{stem}{FORMATS[form]}"])  # hashes spell anything
        others = [other for other in SHEETS if other not in (name, "../=cmd")]
        assert not [other for other in others if other in text]
        assert {*CELLS.findall(re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL))} <= {*cells.split(",")}
        assert re.search(r"\d of 4 marks", text)
    assert "×" in pages[f"CON-{FORMATS[form]}"]
    assert "could not be read" in pages[f"Ed{FORMATS[form]}"]
    for line in pages.get("CON-.txt", "").splitlines():
        assert len(line) <= 80


@pytest.mark.thorough
def test_the_right_answer_stands_there_only_where_it_may(run: Run, home: Path) -> None:
    for words, there in (((), False), (("--reveal",), True)):
        for form, suffix in FORMATS.items():
            run("grade", "problem.json", "class.csv", "--feedback", "back", "--feedback-format", form, *words)
            assert ("0.3302" in (home / f"back/Bo{suffix}").read_text()) == there, form


@pytest.mark.thorough
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("name", "sheet"),
    [("s.csv", "@products\n2,12\n@dot\n13.25\n"), ("s.json", '{"steps": {"products": [2, 12], "dot": 13.25}}')],
)
def test_a_single_number_stands_on_its_page_as_others_do(
    run: Run, tmp_path: Path, form: str, name: str, sheet: str
) -> None:
    (tmp_path / "dot.json").write_text('{"calculation": "dot", "inputs": {"a": [1, 3], "b": [2, 4]}}')
    (tmp_path / name).write_text(sheet)
    run("grade", "dot.json", name, "--feedback", "back", "--feedback-format", form)
    assert "13.25" in (tmp_path / f"back/s{FORMATS[form]}").read_text()


TELLS = {"none": (False, False), "question": (True, False), "rule": (True, True)}
"""Whether a page has the question, and whether the mistake."""
UNSCALED = "0.8808 0.1192; 0.2689 0.7311"


def told(text: str) -> tuple[bool, bool]:
    """Whether a text has the question, and whether anything of the mistake: its name, or its rule."""
    flat = " ".join(text.split())
    return "What keeps the scores" in flat, "no-scale" in flat or "nothing divided" in flat


@pytest.mark.release
@pytest.mark.parametrize(("words", "how"), [((), "question"), *((("--hints", hints), hints) for hints in TELLS)])
def test_students_are_told_as_much_as_is_wanted(run: Run, home: Path, words: tuple[str, ...], how: str) -> None:
    for form, suffix in FORMATS.items():
        done = run("grade", "problem.json", "class.csv", "--feedback", "back", "--feedback-format", form, *words)
        assert "att-no-scale 1" in done.stdout  # the report is the teacher's
        assert told((home / f"back/Bo{suffix}").read_text()) == TELLS[how], form
    alone = ("--get", "weights", "--check", UNSCALED, *words)
    for form in ("table", "plain", "markdown", "html", "latex", "csv", "json"):
        assert told(run("attention", "problem.json", *alone, "-f", form).stdout) == TELLS[how], form
    [step] = json.loads(run("attention", "problem.json", *alone, "-f", "json").stdout)["steps"]
    names = "mistake", "mistakes", "also", "separate"
    assert (step["hint"] is None, all(step[name] is None for name in names)) == tuple(not tells for tells in TELLS[how])
    assert (step["verdict"], step["kind"], step["cells"][0]) == ("mistake", "misconception", [0, 0])
    assert told(run("attention", "problem.json", *alone, "--reveal").stdout) == TELLS["rule"]


def test_of_what_a_machine_has_stored_all_is_told(run: Run, home: Path) -> None:
    run("attention", "problem.json", "--scale", "none", "--get", "weights", "-o", "dump.npy")
    alone = ("attention", "problem.json", "--get", "weights", "--check", "dump.npy")
    assert [told(run(*alone, *more).stdout) for more in ((), ("--hints", "none"))] == [TELLS["rule"], TELLS["none"]]


def test_a_report_says_as_much_to_gradescope_as_is_wanted(run: Run, home: Path) -> None:
    (home / "bo.csv").write_text(f"student,{HEAD}\nBo,{SHEETS['Bo']}\n")
    for hints, tells in TELLS.items():
        whole = json.loads(run("grade", "problem.json", "bo.csv", "-f", "gradescope", "--hints", hints).stdout)
        assert told(whole["tests"][0]["output"]) == tells


@pytest.mark.thorough
@pytest.mark.parametrize(("words", "how"), [((), "question"), *((("--hints", hints), hints) for hints in TELLS)])
def test_a_tutor_tells_as_much_as_is_wanted(run: Run, home: Path, words: tuple[str, ...], how: str) -> None:
    said = run("practice", "problem.json", *words, input="next\nnext\n0.8808 0.1192; 0.2689 0.7311\n").stdout
    assert told(re.split("Not right yet|Met on the way|Next:", said)[1]) == TELLS[how]
    assert ("Met on the way" in said) == (how != "none")


@pytest.mark.release
def test_codes_stand_in_place_of_names_everywhere(run: Run, home: Path) -> None:
    (home / "changes.csv").write_text("student,step,marks,why\nBo,output,2,Bo asked before Zoë Müller\n")
    words = ("problem.json", "class.csv", "--anonymous", "--override", "changes.csv", "--feedback", "back")
    codes = set()
    for form in ("json", "csv", "html", "markdown", "table", "plain", "latex", "junit", "tap"):
        run("grade", *words, "-f", form, "-o", "report")
        text = (home / "report").read_text()
        assert not re.search(r"\b(Zoë|Müller|Bo|cmd|CON|class\.csv)\b", text)
        codes.add(frozenset(re.findall(r"\bs-[a-z2-7]{8}\b", text)))
    assert len(codes) == 1
    assert {path.stem for path in (home / "back").iterdir()} == {*next(iter(codes))}
    run("grade", *words, "-f", "json", "-o", "first.json")
    again = run("grade", "--regrade", "first.json", "--anonymous")
    assert "the marks of 0 of 5 students change" in again.stdout


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--feedback", ""), "--feedback needs the name of a folder"),
        (("--feedback", "class.csv"), "cannot write class.csv: it is no folder"),
        (("--feedback-format", "text"), "none are asked for"),
        (("--feedback", "a", "--feedback-format", "pdf"), "takes html, markdown or text"),
        (("--hints", "rule"), "--hints says how much students are told"),
        (("--feedback", "a", "--hints", "all"), "--hints takes none, question or rule"),
    ],
)
def test_feedback_that_cannot_be_is_refused(run: Run, home: Path, words: tuple[str, ...], said: str) -> None:
    done = run("grade", "problem.json", "class.csv", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("--points", "outputs=2"),
        ("--into", "marks.csv"),
        ("--override", "nobody.csv"),
        ("--texts", "texts.md"),
        ("-o", "nowhere/report.json"),
        ("-f", "gradescope", "-o", "class.csv/each"),
    ],
    ids=" ".join,
)
def test_where_a_class_cannot_be_marked_nothing_is_left(run: Run, home: Path, words: tuple[str, ...]) -> None:
    (home / "nobody.csv").write_text("student,step,marks,why\nNobody,output,2,late\n")
    there = sorted(home.rglob("*"))
    assert run("grade", "problem.json", "class.csv", "--feedback", "new/back", *words).returncode == 2
    assert sorted(home.rglob("*")) == there


def student(number: int, *verdicts: tuple[str, float]) -> Graded:
    """A sheet with these verdicts and marks, of two each."""
    steps = tuple(
        MarkedStep(f"s{i}", Finding(verdict), None, (), None, None, marks, 2.0)
        for i, (verdict, marks) in enumerate(verdicts)
    )
    return Graded(f"n{number}", "", Marked("dot", steps))


STRONG, WEAK = (("right", 2.0), ("right", 2.0), ("follows", 1.0)), (("missing", 0.0), ("right", 2.0), ("mistake", 0.0))


@pytest.mark.thorough
@pytest.mark.parametrize("number", [ENOUGH - 1, ENOUGH])
def test_items_tell_how_many_had_them_and_how_they_go_with_the_rest(number: int) -> None:
    weak = 9
    found = [student(i, *(WEAK if i < weak else STRONG)) for i in range(number)]
    first, second, third = items([*found, Graded("Ed", "", error="no sheet")])
    assert first[1:5] == (number, number - weak, 0, weak)
    assert third[1:5] == (number, 0, number - weak, 0)
    assert first.facility == pytest.approx((number - weak) / number)
    assert (second.facility, second.with_rest) == (1, None)  # all have the same marks
    if number < ENOUGH:
        assert (first.with_rest, third.with_rest) == (None, None)
    else:
        assert first.with_rest is not None
        assert math.isclose(first.with_rest, 1)
    for form in ("html", "markdown", "table", "json"):
        assert ("with the rest" in report(found, form)) == (number >= ENOUGH and form != "json")


def of_variant(number: int, variants: dict[str, str], *verdicts: tuple[str, float]) -> Graded:
    return replace(student(number, *verdicts), variants=variants)


A, B, C = {"": "pa"}, {"": "pb"}, {"": "pc"}
SHARED = [*(of_variant(i, A, *STRONG) for i in range(3)), of_variant(3, A, *WEAK), of_variant(4, B, *WEAK)]
SHARED += [of_variant(5, B, *STRONG), of_variant(6, C, *STRONG), Graded("Ed", "", error="no sheet")]


def test_variants_are_counted_that_several_students_had() -> None:
    found = [*map(document, variants(SHARED))]
    keys = ("variant", "sheets", "steps", "right", "followed", "left_out", "facility")
    rows = [tuple(whole[key] for key in keys) for whole in found]
    assert rows == [("pa", 4, 12, 7, 3, 1, round(17 / 24, 4)), ("pb", 2, 6, 3, 1, 1, round(7 / 12, 4))]
    assert json.loads(report(SHARED, "json"))["variants"] == found
    for form in ("html", "markdown", "plain"):
        page = re.sub(r"<[^>]+>|\b(?:[a-z]+ ?[a-z]*):", " ", report(SHARED, form))
        assert re.search(r"pa\W+4\W+12\W+7\W+3\W+1\W+71%", page), form
        assert "pc" not in page
    hidden, _ = anonymous(SHARED, ())
    told = [next(iter(one.variants.values()), "") for one in hidden]
    assert sorted(told) == ["", "", *["pa"] * 4, *["pb"] * 2]  # whose pc is, others may know


def test_of_a_bank_each_problem_is_counted() -> None:
    own = [of_variant(i, {"a": "pa", "b": f"p{i}"}, *STRONG) for i in range(3)]
    steps = ("a/x", "a/y", "b/x")
    named = []
    for one in own:
        assert one.marked is not None
        called = tuple(replace(step, name=name) for step, name in zip(one.marked.steps, steps, strict=True))
        named.append(replace(one, marked=replace(one.marked, steps=called)))
    rows = [(whole.problem, whole.variant, whole.sheets, whole.steps, whole.right) for whole in variants(named)]
    assert rows == [("a", "", 3, 6, 6), ("b", "", 3, 3, 0)]
    assert re.search(r"a +all +3 +6 +6 +0 +0 +100%", report(named, "table"))


@pytest.mark.thorough
def test_where_everybody_has_other_numbers_that_is_said(run: Run, tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_text("student\nAda\nBob\n", encoding="utf-8")
    run("quiz", "softmax", "--seed", "1", "--ask", "softmax", "--roster", "class.csv", "-o", "hw")
    for name in ("Ada", "Bob"):
        (tmp_path / f"{name}.json").write_text('{"softmax": [0.1, 0.2, 0.7]}', encoding="utf-8")
    page = run("grade", "hw/keys.json", "Ada.json", "Bob.json", "-f", "plain").stdout
    assert page.count(ALONE) == 1
    run("grade", "hw/keys.json", "Ada.json", "Bob.json", "-o", "all.json")
    whole = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))
    keys = json.loads((tmp_path / "hw/keys.json").read_text(encoding="utf-8"))["variants"]
    assert [one["variants"] for one in whole["students"]] == [{"": one["problem"]} for one in keys]
    assert "variants" not in whole
    run("grade", "--regrade", "all.json", "-f", "plain", "-o", "again.txt")
    assert ALONE in (tmp_path / "again.txt").read_text(encoding="utf-8")


@pytest.mark.thorough
def test_the_mistakes_of_a_class_stand_with_those_who_made_them(run: Run, home: Path) -> None:
    run("grade", "problem.json", "class.csv", "-f", "html", "-o", "class.html")
    page = re.sub(r"<[^>]+>", " ", (home / "class.html").read_text())
    assert re.search(r"att-no-scale\s+Bo\b", page)
    run("grade", "problem.json", "class.csv", "-o", "class.json")
    whole = json.loads((home / "class.json").read_text())
    assert whole["made_by"]["att-no-scale"] == ["Bo"]
    assert [item["step"] for item in whole["items"]] == ["weights", "output"]
    assert whole["items"][0]["right"] == 2


@pytest.mark.thorough
def test_an_audit_says_what_each_policy_would_give_and_what_was_judged_narrowly(run: Run, home: Path) -> None:
    """What it says of other policies is what marking by them gives."""
    near = {"Flo": RIGHT.replace("0.8044", "0.8045"), "Gil": "0.80,0.20,0.33,0.67,0.20,0.60,0.67,-0.34"}
    with (home / "class.csv").open("a") as file:
        file.writelines(f"{name},{cells}\n" for name, cells in near.items())
    run("grade", "problem.json", "class.csv", "--audit", "-o", "audit.json")
    whole = json.loads((home / "audit.json").read_text())
    audit, marked = whole["audit"], [one for one in whole["students"] if one["score"] is not None]
    possible = sum(one["out_of"] for one in marked)
    lost = possible - sum(one["score"] for one in marked)
    assert sum(cost["lost"] for cost in audit["costs"]) == lost
    policies = {each["policy"]: each for each in audit["policies"]}
    assert policies["as it is"]["reached"] == pytest.approx(1 - lost / possible, abs=1e-6)
    for name, each in policies.items():
        words = () if name == "as it is" else (f"--{name.split()[0]}", name.split()[1])
        run("grade", "problem.json", "class.csv", *words, "-o", "other.json")
        other = [one for one in json.loads((home / "other.json").read_text())["students"] if one["score"] is not None]
        reached = [one["score"] / one["out_of"] for one in other]
        assert each["reached"] == pytest.approx(sum(reached) / len(reached), abs=1e-6), name
        changed = sum(abs(a - m["score"] / m["out_of"]) > 1e-9 for a, m in zip(reached, marked, strict=True))
        assert each["changed"] == changed, name
        if words:
            costs = sum(cost["otherwise"][name] for cost in audit["costs"])
            assert costs == pytest.approx(1 - each["reached"], abs=1e-5)
    narrow = {(one["student"], one["step"], one["verdict"]) for one in audit["close"]}
    assert narrow == {("Flo", "weights", "right-to-rounding"), ("Gil", "output", "rounded-early")}
    shown = run("grade", "--regrade", "audit.json", "--audit").stdout
    assert "What mistakes cost" in shown
    assert "one unit off in the last digit" in shown
    for form in ("html", "markdown"):
        assert "Close judgements" in run("grade", "problem.json", "class.csv", "--audit", "-f", form).stdout
    refused = run("grade", "problem.json", "class.csv", "--audit", "-f", "csv")
    assert (refused.returncode, refused.stdout) == (2, "")


def test_an_answer_near_the_limit_of_a_tolerance_is_close(run: Run, home: Path) -> None:
    (home / "ann.json").write_text(json.dumps({"steps": {"weights": [[0.8135, 0.1956], [0.3302, 0.6698]]}}))
    shown = run("grade", "problem.json", "ann.json", "--atol", "0.01", "--audit").stdout
    assert "of 0.01" in " ".join(shown.split()) or "where 0.01 is allowed" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        pytest.param("@sum\n2.9962\n", "off by 2 units of its last digit", id="a number"),
        pytest.param("@softmax\n0.3334,0.3331,0.3336\n", "off by 3 units of its last digit", id="a vector in a table"),
        pytest.param("student,sum\nAnn,3.0000\n", "", id="digits that are not kept"),
        pytest.param("student,dot\nAnn,6\n", "", id="another number where nothing is rounded"),
    ],
)
def test_few_units_off_are_close_where_rounding_may_be_behind_them(
    run: Run, tmp_path: Path, answers: str, why: str
) -> None:
    dot = {"calculation": "dot", "inputs": {"a": [1, 2, 3], "b": [2, 0, 1]}}
    softmax = {"calculation": "softmax", "inputs": {"x": [0.003, 0.001, 0.004]}}  # sum 2.9960, softmax … 0.3328, 0.3338
    (tmp_path / "problem.json").write_text(json.dumps(dot if "dot" in answers else softmax))
    (tmp_path / "ann.csv").write_text(answers)
    marked = json.loads(run("grade", "problem.json", "ann.csv", "--audit", "-f", "json").stdout)
    assert marked["students"][0]["verdict"] == "wrong"
    assert [one["why"] for one in marked["audit"]["close"]] == [why] * bool(why)


TEXTS = """# Header
Course *101*

## title
Sheet 3
# Instructions
Work
alone.

- no calculator
# Footer
Due <soon>
"""
PRINTED = ("--texts", "texts.md", "--index-base", "1", "--print-decimal", ",")
MARKED = """# Title
Sheet **3**
# Instructions
Work with **four *decimals* at** most, `a_b`; <b> 5 * 3 * 2, \\*not\\* & $x$, a_b_c.
See [the page](https://x.org/a?b=1) or <https://y.org>.

3. first
4. second
   - inner
"""
SET = {
    "html": [
        ">Work with <strong>four </strong><em>decimals</em><strong> at</strong> most, <code>a_b</code>; &lt;b&gt; 5",
        "5 * 3 * 2, *not* &amp; $x$, a_b_c. See the page (https://x.org/a?b=1) or https://y.org.</p>",
        ">3. first</p>",
        ">4. second</p>",
        ">• inner</p>",
        "<h1>Sheet 3</h1>",
    ],
    "latex": [
        r"Work with \textbf{four }\emph{decimals}\textbf{ at} most, \texttt{a\_b}; \textless{}b\textgreater{} 5",
        r"5 * 3 * 2, *not* \& \$x\$, a\_b\_c. See the page (https://x.org/a?b=1) or https://y.org.",
        "\n\n3. first\n\n4. second\n\n• inner\n",
    ],
    "markdown": [
        r"Work with **four** *decimals* **at** most, `a_b`; \<b\> 5 \* 3 \* 2, \*not\* \& \$x\$, a_b_c. See the page",
        "\n3\\. first\n\n4\\. second\n\n• inner\n",
        "# Sheet 3\n",
    ],
    "plain": [
        "Work with four decimals at most, a_b; <b> 5 * 3 * 2, *not* & $x$, a_b_c. See the page (https://x.org/a?b=1)"
    ],
}


@pytest.mark.parametrize("form", SET)
@pytest.mark.parametrize("where", ["instead of usual ones", "where there are none"])
def test_ones_own_texts_are_set_as_markdown_says(form: str, where: str) -> None:
    usual = Part("exercises", Heading("Work out"), (Paragraph("Work.", "instructions"),))
    page = Page("a", (Heading("a"), *([usual] if where == "instead of usual ones" else [])))
    done = str(write(printed(page, Printing(texts_of(MARKED, "texts.md"))), form, View()))
    for part in SET[form]:
        assert part in done, done
    assert "Work." not in done


WORDS = ("Course", "Sheet 3", "Work alone.", "no calculator", "Due")


@pytest.mark.thorough
def test_what_is_printed_for_a_class_has_ones_own_texts_indices_and_decimals(run: Run, home: Path) -> None:
    (home / "texts.md").write_text(TEXTS)
    own = {"calculation": "activation", "inputs": {"x": [[0.5, -1.25], [1, 2]]}, "options": {"kind": "gelu-tanh"}}
    (home / "own.json").write_text(json.dumps(own))
    worksheets = run("quiz", "own.json", *PRINTED, "-f", "html,markdown,latex,plain", "-o", "quiz")
    assert worksheets.returncode == 0, worksheets.stderr
    pages = {path.name: path.read_text() for path in (home / "quiz").glob("worksheet.*")}
    for form, suffix in FORMATS.items():
        kind = "table" if form == "text" else form
        words = ("--feedback", "back", "--feedback-format", form, "-f", kind, "-o", f"all{suffix}")
        run("grade", "problem.json", "class.csv", *words, *PRINTED)
        pages |= {name: (home / name).read_text() for name in (f"back/CON-{suffix}", f"all{suffix}")}
    for name, page in pages.items():
        text = re.sub(r"<style>.*?</style>|<annotation.*?</annotation>|<[^>]+>", " ", page, flags=re.DOTALL)
        assert [word for word in WORDS if word not in text] == [], name
        assert not re.findall(r"(?<![\w.])\d+\.\d+(?!\d|cm|em|ex|.linewidth)", text), name
        assert re.search(r"\d(,|\{,\})\d", text), name
    assert "<mn>0,044715</mn>" in pages["worksheet.html"]
    assert "0{,}044715" in pages["worksheet.tex"]
    assert "0,8044" in pages["back/CON-.html"]
    plain = run("grade", "problem.json", "class.csv", "-f", "plain", *PRINTED).stdout
    assert "wrong entries: [1,2] [2,1] [2,2]" in plain
    assert "answered: 0,1956 –; 0,6 -0,2" in plain
    assert json.loads((home / "quiz/sheet.json").read_text())["student"] == ""


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# Titel\nx\n", 'texts.md:1: no text is called "Titel"'),
        ("x\n# Title\n", "texts.md:1: there is no heading above this text"),
        ("# Title\n# title\n", "texts.md:2: Title stands there twice"),
        ("\n", "texts.md is empty"),
    ],
)
def test_texts_that_cannot_be_read_are_refused(run: Run, home: Path, text: str, said: str) -> None:
    (home / "texts.md").write_text(text)
    for words in (("quiz", "problem.json", "-o", "quiz"), ("grade", "problem.json", "class.csv")):
        done = run(*words, "--texts", "texts.md")
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr


MOODLE = """\
Identifier,Full name,Email address,Grade,Maximum Grade,Grade can be changed,Last modified (grade),Feedback comments
Participant 11,Zoe\u0308 MÜLLER,zoe@x.org,,{most},Yes,-,
Participant 12,B. Diddley,bo@x.org,55,{most},Yes,-,"a, b
c"
Participant 13,"=cmd|x",ed@x.org,,{most},Yes,-,
Participant 14,Someone Else,con@x.org,,{most},No,-,
Participant 15,Fay,f@x.org,,{most},Yes,-,
"""
CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Quiz 1 (77),Quiz 2 (78),Final Score
    Points Possible,,,,,8,10,(read only)
"Müller, Zoë",1,u1,zm,S1,,,
"Diddley, Bo",2,u2,bo,S1,3,,
"""


@pytest.mark.thorough
@pytest.mark.parametrize(("most", "zoe", "bo"), [("100.00", "100", "25"), ("10,00", "10", "2,5"), ("", "4", "1")])
def test_moodles_mark_sheet_is_filled_in_and_left_as_it_was(run: Run, home: Path, most: str, zoe: str, bo: str) -> None:
    cell = f'"{most}"' if "," in most else most
    before = MOODLE.format(most=cell).replace("\n", "\r\n")
    (home / "marks.csv").write_bytes(b"\xef\xbb\xbf" + before.encode())
    done = run("grade", "problem.json", "class.csv", "--into", "marks.csv")
    after = (home / "marks.csv").read_bytes()
    expected = before.replace(f"zoe@x.org,,{cell}", f"zoe@x.org,{zoe},{cell}").replace('"=cmd|x"', "'=cmd|x")
    written = f'"{bo}"' if "," in bo else bo
    assert after.decode("utf-8-sig") == expected.replace(f"org,55,{cell}", f"org,{written},{cell}")
    assert after.startswith(b"\xef\xbb\xbf")
    assert '2 marks filled in under "Grade"' in done.stderr
    assert "1 mark was another before" in done.stderr
    assert "1 mark may not be changed" in done.stderr
    assert 'not in the mark sheet: "../=cmd"' in done.stderr
    assert ("scaled" in done.stderr) == bool(most)


@pytest.mark.thorough
def test_canvas_mark_sheet_is_filled_in_under_the_assignment_that_is_named(run: Run, home: Path) -> None:
    (home / "marks.csv").write_text(CANVAS)
    refused = run("grade", "problem.json", "class.csv", "--into", "marks.csv")
    assert (refused.returncode, refused.stdout, (home / "marks.csv").read_text()) == (2, "", CANVAS)
    assert 'hint: name it: --into "marks.csv#Quiz 1 (77)"' in refused.stderr
    run("grade", "problem.json", "class.csv", "--into", "marks.csv#quiz 1")
    assert (home / "marks.csv").read_text() == CANVAS.replace("zm,S1,,", "zm,S1,8,").replace("bo,S1,3", "bo,S1,2")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Ann Lee_4711_assignsubmission_file", {1}),
        ("leeann_4711_99_sheet", {1}),
        ("lee, ann", {1}),
        ("ANN@x.org", {1}),
        ("Kim", set()),
        ("Nobody", set()),
    ],
)
def test_students_are_found_by_what_platforms_call_them(name: str, found: set[int]) -> None:
    sheet = "Identifier,Full name,Email address,Grade\n"
    sheet += "Participant 4711,Ann Lee,ann@x.org,\nParticipant 1,Kim,k@x.org,\nParticipant 2,Kim,l@x.org,\n"
    one = student(0, ("right", 2.0))
    text, notes = filled(sheet, "marks.csv", "", [Graded(name, "", one.marked)])
    assert {i for i, line in enumerate(text.splitlines()) if line.endswith(",2")} == found
    assert any(name in note for note in notes) == (not found)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--into", "class.csv"), "cannot write class.csv: the calculation reads it"),
        (("--into", "other.csv"), "other.csv is no mark sheet of Moodle or Canvas"),
        (("--into", "none.csv"), "none.csv"),
        (("--into", "marks.csv", "--anonymous"), "--anonymous takes them away"),
        (("--into", "marks.csv#Quiz 3"), 'marks.csv has no column "Quiz 3"'),
    ],
)
def test_a_mark_sheet_that_cannot_be_filled_in_is_refused(run: Run, home: Path, words: list[str], said: str) -> None:
    (home / "other.csv").write_text("a,b\n1,2\n")
    (home / "marks.csv").write_text(CANVAS)
    done = run("grade", "problem.json", "class.csv", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert (home / "marks.csv").read_text() == CANVAS


@pytest.mark.thorough
@pytest.mark.parametrize("form", FORMATS)
def test_a_stack_of_matrices_is_shown_with_what_is_wrong_in_it(run: Run, home: Path, form: str) -> None:
    weights = {"wq": [[1, 2], [0, 1]], "wk": [[1, 0], [1, 1]], "wv": [[1, 1], [2, 1]], "wo": [[1, 0], [1, 1]]}
    inputs = {"x": [[1, 0], [0, 1]], **weights}
    problem = {"calculation": "multihead", "inputs": inputs, "options": {"heads": 2}}
    (home / "heads.json").write_text(json.dumps(problem))
    (home / "mia.json").write_text(json.dumps({"steps": {"scores": [[[1, 0], [1, 0]], [[0, 2], [0, 7.5]]]}}))
    words = ("--index-base", "1", "--feedback", "back", "--feedback-format", form)
    done = run("grade", "heads.json", "mia.json", *words)
    assert done.returncode == 1, done.stderr
    page = re.sub(r"<[^>]+>", " ", (home / f"back/mia{FORMATS[form]}").read_text())
    assert "7.5" in page
    assert "[2,2,2]" in page.replace("\\", "")
    if form != "text":
        assert re.search(r"(?m)(^|  )2,2 +0 +7\.5 ×", page)


def test_a_student_is_one_however_the_name_is_written() -> None:
    names = ["Zo\u00eb  Lee", "zoe\u0308 lee", "Bo"]
    found, told = once([replace(student(i, ("right", 2.0)), student=name) for i, name in enumerate(names)])
    assert [one.student for one in found] == [names[1], "Bo"]
    assert [*told] == [names[1]]
    assert code(names[0]) == code(names[1]) != code("Bo")
    assert code(code("Bo")) == code("Bo")


@pytest.mark.parametrize(
    ("at", "told"),
    [
        (..., "every entry"),
        (0, "all of h=1"),
        ((1, 0), "all of h=2, n=a"),
        (np.s_[:, 1, 0], "[1,b,x] [2,b,x]"),
        (np.s_[:, 1:, :2], "[1,b,x] [1,b,y] [1,c,x] [1,c,y] [2,b,x] [2,b,y] [2,c,x] [2,c,y]"),
        (np.s_[:, :, ::2], " ".join(f"[{h},{n},{m}]" for h in (1, 2) for n in "abc" for m in "xz")),
    ],
)
def test_wrong_entries_are_told_by_matrices_and_rows_and_by_their_labels(at: Any, told: str) -> None:
    off = np.zeros((2, 3, 3), dtype=bool)
    off[at] = True
    found, labels = Finding("unexplained", wrong=located(off)), ((), ("a", "b", "c"), ("x", "y", "z"))
    step = MarkedStep("weights", found, None, off.shape, None, None, 0, 2, axes=("h", "n", "m"), labels=labels)
    page = printed(marked_sheets.page(Marked("multihead", (step,))), Printing(base=1))
    for form in ("plain", "markdown", "html"):
        assert f"wrong entries: {told}" in str(write(page, form, View())).replace("\\", ""), form


def test_wrong_entries_of_an_answer_of_another_shape_are_told_by_their_places() -> None:
    found = Finding("unexplained", wrong=located(np.array([[True, False], [True, False]])))
    step = MarkedStep("weights", found, [1, 2], (2,), None, None, 0, 2)  # as a report has it that is read again
    assert "wrong entries: [0,0] [1,0]" in str(marked_sheets.plain(Marked("attention", (step,))))


def test_a_class_says_what_cannot_be_told_from_a_mistake() -> None:
    def sheet(name: str, *also: str) -> Graded:
        found = Finding("mistake", kind="misconception", mistakes=("a-b",), also=also)
        return replace(student(0, ("right", 2.0)), student=name, marked=Marked("attention", (wrong(found),)))

    def wrong(found: Finding) -> MarkedStep:
        return MarkedStep("weights", found, None, (2,), None, None, 0, 2)

    for sheets, summed in (
        ([sheet("Ann", "c-d")], "a-b (or c-d) 1"),
        ([sheet("Ann", "c-d"), sheet("Bo")], "a-b 2"),
        ([sheet("Ann", "e", "c-d", "f"), sheet("Bo", "c-d", "e", "f")], "a-b (or c-d, e, …) 2"),
    ):
        said = report(sheets, "table", View()) + str(write(overview(sheets), "plain", View()))
        assert f"mistakes: {summed}" in said
        assert "first wrong at weights: a-b (or c-d" in said
