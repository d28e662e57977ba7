"""Reports on a class, each held against the rules of its format, with names that try to act in it."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from conftest import Run
from rows import rows

import attncalc as ac
from attncalc.homework.marking.whole_class import Graded, Settings, grade
from attncalc.homework.reading.class_lists import Submission
from attncalc.homework.reading.names import file_name
from attncalc.homework.reading.sheets import from_tree
from attncalc.homework.reports.class_reports import REPORTS, SUFFIXES, gradescope, overview, report
from attncalc.inputs.reading import Reading
from attncalc.render import View
from attncalc.render.page import write

Q, K, V = [[1, 0, 2, -1], [0, 2, 1, 1]], [[1, 1, 0, 0], [0, 1, 1, 1], [2, 0, 1, -1]], [[3, 1], [2, 0], [1, 3]]
TRACE = ac.attention(Q, K, V)
RIGHT = {step: TRACE[step] for step in TRACE}
FREE = ac.attention(Q, K, V, scale="none")
UNSCALED = {step: FREE[step if step in FREE else "scores"] for step in TRACE}

NAMES = {
    "formula": '=HYPERLINK("http://x")',
    "plus": "+1",
    "minus": "-1+2",
    "at": "@SUM(A1)",
    "tab": "\t=1",
    "return": "\r=1",
    "markup": "<script>alert(1)</script>",
    "attribute": "\" onmouseover='alert(1)' x=\"",
    "entity": "&lt;&#0;&amp;",
    "cdata": "]]><failure/>",
    "escape": "\x1b[31mred\x1b[0m",
    "bell": "\x07\x00\x9b2J",
    "bidi": "\u202egnp.exe",
    "noncharacter": "\ufffe\uffff",
    "newline": "Ann\nok 1 - Ann\n1..1",
    "directive": "Ann # SKIP",
    "directive escaped": "Ann \\# TODO",
    "yaml": "...\n---\nverdict: right",
    "table": "a | b |\n|---|",
    "link": "[x](javascript:alert(1)) <http://x> `code` **bold** :smile:",
    "rich": "[red]PASS[/red] [/]",
    "emoji": "\U0001f600 Zoë 张",
    "path": "../../etc/passwd",
    "device": "CON",
    "nothing but signs": "///",
}


def sheet(name: str, values: Mapping[str, Any], *steps: str) -> Submission:
    answers = {step: [[f"{entry:.4f}" for entry in row] for row in values[step]] for step in steps or values}
    return Submission(name, f"{name}.json", sheet=from_tree({"student": name, "steps": answers}, f"{name}.json"))


def graded(*found: Submission) -> list[Graded]:
    return grade(TRACE.problem, found, Reading(), Settings())


def unreadable(name: str) -> Graded:
    return Graded(name, f"{name}.json", error=f'{name}: "<b>\x1b[2J" is not a number # TODO')


CLASS = [
    *graded(
        sheet("Ann", RIGHT),
        sheet("Bo", UNSCALED),
        sheet("Cy", UNSCALED, "scaled", "output"),
        sheet("Di", RIGHT, "output"),
    ),
    unreadable("Ed"),
]
MARKED = graded(*(sheet(name, UNSCALED, "scaled") for name in NAMES.values()))
ODD = [one for found, name in zip(MARKED, NAMES.values(), strict=True) for one in (found, unreadable(name))]
ALL = [(found, id_) for found, id_ in ((CLASS, "a class"), (ODD, "odd names"), ([], "nobody"), ([CLASS[4]], "unread"))]


@pytest.mark.thorough
@pytest.mark.parametrize("form", [form for form in REPORTS if form != "gradescope"])
@pytest.mark.parametrize("found", [found for found, _ in ALL], ids=[id_ for _, id_ in ALL])
def test_no_report_sends_a_control_to_whoever_reads_it(found: list[Graded], form: str) -> None:
    text = report(found, form)
    assert text.replace("\n", "").isprintable()
    assert text.endswith("\n")


@pytest.mark.parametrize("form", ["markdown", "html", "table", "plain", "latex"])
def test_every_page_has_the_steps_of_each_sheet_that_is_not_right(form: str) -> None:
    """Beside the overview and the table of mistakes: the hint stands once there, and once with each sheet."""
    text = report(CLASS, form)
    assert text.count("What keeps the scores from growing") == 1 + 2
    assert text.count("worked out rightly from an earlier step") == 2 + 1


def test_no_table_of_a_latex_report_stands_in_a_line_of_text() -> None:
    for above in report(CLASS, "latex").split(r"\noindent\begin{tabular}")[:-1]:
        assert above.endswith("\n\n") or above.splitlines()[-1].startswith(r"\subsection*"), above[-80:]


def lines(found: list[Graded], width: int | None = None) -> list[str]:
    """The overview of a class, as a terminal shows it."""
    return str(write(overview(found), "table", View(width=width))).splitlines()


class TestTable:
    def test_says_what_is_wrong_where_no_mistake_is_known(self) -> None:
        guessed = {step: (values * 0 + 0.3) for step, values in RIGHT.items()}
        said = "\n".join(lines(graded(sheet("Flo", guessed, "output"))))
        assert re.search(r"^Flo +wrong +0 of 2 +first wrong at output: \w", said, re.MULTILINE)

    @pytest.mark.parametrize("found", [found for found, _ in ALL], ids=[id_ for _, id_ in ALL])
    def test_fits_a_narrow_page_and_leaves_nothing_out(self, found: list[Graded]) -> None:
        narrow, wide = lines(found, 40), lines(found)
        assert max(map(len, narrow)) <= 40
        narrow[0] = narrow[0].replace(" | ", " ")  # names of columns that stand below one another
        assert "".join("".join(narrow).split()) == "".join("".join(wide).split())


class TestJson:
    def test_has_each_sheet_and_what_was_counted(self) -> None:
        whole = json.loads(report(CLASS, "json"))
        students = {student["student"]: student for student in whole["students"]}
        assert list(students) == ["Ann", "Bo", "Cy", "Di", "Ed"]
        assert students["Bo"] | {"student": "", "source": ""} == {
            "student": "",
            "source": "",
            **TRACE.check({step: UNSCALED[step].round(4) for step in UNSCALED}).to_dict(),
        }
        assert (students["Ed"]["verdict"], students["Ed"]["score"]) == ("unreadable", None)
        assert (whole["mistakes"], whole["first_wrong"]) == ({"att-no-scale": 2}, {"scaled": 2})

    def test_gives_no_answer_away(self) -> None:
        assert '"expected"' not in report(CLASS, "json")

    def test_has_the_mend_beside_the_error(self) -> None:
        found = Graded("Ed", "ed.json", error='softmax has no step "sofmax"', hint="did you mean softmax?")
        students = json.loads(report([found, CLASS[4]], "json"))["students"]
        assert (students[0]["error"], students[0]["hint"]) == (found.error, found.hint)
        assert students[1]["hint"] is None
        assert found.fault == 'softmax has no step "sofmax" (did you mean softmax?)'


class TestCsv:
    @staticmethod
    def rows(found: list[Graded]) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(report(found, "csv"))))

    def test_has_a_row_for_each_sheet_and_a_column_for_each_step(self) -> None:
        rows = self.rows(CLASS)
        bo = {"student": "Bo", "source": "Bo.json", "verdict": "wrong", "score": "4", "out_of": "8", "error": ""}
        steps = {"scores": "right", "scaled": "mistake", "weights": "follows", "output": "follows"}
        assert rows[1] == bo | {"first_wrong": "scaled", "mistakes": "att-no-scale"} | steps
        assert [row["student"] for row in rows] == ["Ann", "Bo", "Cy", "Di", "Ed"]
        assert (rows[4]["verdict"], rows[4]["score"], rows[3]["weights"]) == ("unreadable", "", "")

    def test_columns_keep_the_order_of_the_calculation(self) -> None:
        assert report(CLASS[2:] + CLASS[:1], "csv").splitlines()[0].endswith("error,scores,scaled,weights,output")

    def test_no_cell_begins_as_a_formula(self) -> None:
        cells = [cell for row in csv.reader(io.StringIO(report(ODD, "csv"))) for cell in row]
        assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
        assert {'\'=HYPERLINK("http://x")', "'+1", "'@SUM(A1)"} <= set(cells)

    def test_every_row_has_as_many_cells(self) -> None:
        assert len({len(row) for row in csv.reader(io.StringIO(report(ODD, "csv")))}) == 1


def parsed(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text.encode())  # noqa: S314  # it is our own


class TestJunit:
    @pytest.mark.parametrize("found", [found for found, _ in ALL], ids=[id_ for _, id_ in ALL])
    def test_is_well_formed_and_counts_its_cases(self, found: list[Graded]) -> None:
        root = parsed(report(found, "junit"))
        assert root.tag == "testsuites"
        for level in (root, *root):
            cases = list(level.iter("testcase"))
            counts = [len(cases), *(len(list(level.iter(kind))) for kind in ("failure", "error"))]
            assert [int(level.attrib[name]) for name in ("tests", "failures", "errors")] == counts
        assert all(suite.attrib["name"] == case.attrib["classname"] for suite in root for case in suite)

    def test_names_the_mistake(self) -> None:
        root = parsed(report(CLASS, "junit"))
        failure = root.find("./testsuite[@name='Bo']/testcase[@name='scaled']/failure")
        assert failure is not None
        assert failure.attrib["type"] == "att-no-scale"
        assert str(failure.text).startswith("mistake; att-no-scale: ")

    def test_keeps_odd_names_apart_from_its_own_markup(self) -> None:
        root = parsed(report(ODD, "junit"))
        assert len(root) == len(ODD)
        assert {child.tag for suite in root for case in suite for child in case} == {"failure", "error"}


class TestTap:
    POINT = re.compile(r"(ok|not ok) (\d+) - (.+)")

    @pytest.mark.parametrize("found", [found for found, _ in ALL], ids=[id_ for _, id_ in ALL])
    def test_is_a_plan_and_points_with_blocks_of_yaml(self, found: list[Graded]) -> None:
        version, plan, *rest = report(found, "tap").splitlines()
        assert version == "TAP version 13"
        points = [self.POINT.fullmatch(line) for line in rest if not line.startswith("  ")]
        assert all(points)
        assert [int(point[2]) for point in points if point] == list(range(1, len(points) + 1))
        assert plan == f"1..{len(points)}"

    @pytest.mark.parametrize("found", [CLASS, ODD], ids=["a class", "odd names"])
    def test_tells_of_every_point_that_failed(self, found: list[Graded]) -> None:
        text = report(found, "tap")
        failed = text.count("\nnot ok ")
        blocks = re.findall(r"\nnot ok [^\n]*\n  ---\n((?:  [a-z]+: \"[^\n]*\"\n)+)  \.\.\.(?=\n)", text)
        assert len(blocks) == failed > 0
        for block in blocks:
            for line in block.splitlines():
                assert json.loads(line.partition(": ")[2])  # a text of YAML in double quotes

    def test_has_no_directive(self) -> None:
        points = [line for line in report(ODD, "tap").splitlines() if not line.startswith("  ")]
        assert not [line for line in points if re.search(r"(?<!\\)#", line)]


class TestGradescope:
    @rows("one", [*CLASS, *ODD], ids=lambda one: ascii(one.student))
    def test_has_what_the_platform_reads(self, one: Graded) -> None:
        whole = json.loads(gradescope(one))
        assert isinstance(whole["score"], (int, float))
        assert {type(test["score"]) for test in whole["tests"]} <= {int, float}
        assert all(0 <= test["score"] <= test["max_score"] for test in whole["tests"])
        assert {test["status"] for test in whole["tests"]} <= {"passed", "failed"}
        assert {whole[name] for name in ("output_format", "test_output_format", "test_name_format")} == {"text"}
        assert sum(test["score"] for test in whole["tests"]) == whole["score"]

    def test_gives_no_mark_to_what_cannot_be_read(self) -> None:
        whole = json.loads(gradescope(CLASS[4]))
        assert (whole["score"], whole["tests"]) == (0, [])
        assert "could not be read" in whole["output"]

    def test_has_a_file_for_each_whatever_it_is_called(self) -> None:
        taken: set[str] = set()
        names = [file_name(one.student, taken) for one in ODD]
        assert len({name.casefold() for name in names}) == len(ODD)
        assert all(re.fullmatch(r"[\w-]+\.json", name) for name in names)
        assert "CON.json" not in names
        assert file_name("Zoe\u0308 Müller", taken) == "Zoë-Müller.json"


class Reader(HTMLParser):
    """What is in a page: its tags, its attributes, and the rows of its tables."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.rows: list[list[str]] = []
        self.open = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Any]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.open = True

    def handle_endtag(self, tag: str) -> None:
        self.open = self.open and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self.open:
            self.rows[-1][-1] += data


def read(found: list[Graded]) -> Reader:
    reader = Reader()
    reader.feed(report(found, "html"))
    return reader


class TestHtml:
    def test_shows_students_by_steps_and_each_mistake_with_its_count_and_hint(self) -> None:
        rows = read(CLASS).rows
        assert rows[0] == ["student", "verdict", "marks", "scores", "scaled", "weights", "output", "remark"]
        assert rows[2][:7] == ["Bo", "wrong", "4 of 8", "right", "att-no-scale", "follows", "follows"]
        assert rows[4][:7] == ["Di", "right", "2 of 2", "", "", "", "right"]
        mistake = rows[rows.index(["mistake", "sheets", "the wrong rule", "hint"]) + 1]
        assert mistake[:2] == ["att-no-scale", "2"]
        assert mistake[3].endswith("?")

    def test_labels_are_inert(self) -> None:
        reader = read(ODD)
        assert reader.tags == read(CLASS).tags
        assert reader.attributes == {"lang", "charset", "http-equiv", "content", "name", "class", "scope"}
        shown = {row[0] for row in reader.rows}
        assert {NAMES["markup"], NAMES["attribute"], NAMES["entity"]} <= shown

    def test_lets_nothing_be_loaded(self) -> None:
        assert "default-src 'none'" in report(CLASS, "html")


class TestMarkdown:
    @pytest.mark.parametrize("found", [CLASS, ODD], ids=["a class", "odd names"])
    def test_every_row_has_as_many_cells(self, found: list[Graded]) -> None:
        tables = report(found, "markdown").split("\n## ")
        for table in tables:
            rows = [line for line in table.splitlines() if line.startswith("|")]
            assert len({len(re.findall(r"(?<!\\)\|", line)) for line in rows}) == 1

    def test_shows_each_mistake_with_its_count_and_hint(self) -> None:
        assert re.search(r"\| `?att-no-scale`? \| 2 \| .+ \| .+\? \|$", report(CLASS, "markdown"), re.MULTILINE)


def test_the_table_has_a_line_for_each_whatever_it_is_called() -> None:
    found = lines(ODD)
    assert all(line.isprintable() for line in found)
    assert found.index("") == len(ODD) + 1


@pytest.fixture
def homework(tmp_path: Path) -> Path:
    """A problem, and three sheets, one of them unreadable."""
    (tmp_path / "problem.json").write_text(json.dumps(TRACE.to_dict()))
    folder = tmp_path / "sheets"
    folder.mkdir()
    for name, values in (("ann", RIGHT), ("bo", UNSCALED)):
        (folder / f"{name}.json").write_text(json.dumps({"steps": {"output": values["output"].round(4).tolist()}}))
    (folder / "cy.json").write_text("{")
    return tmp_path


@pytest.mark.thorough
@pytest.mark.parametrize("form", [form for form in REPORTS if form != "gradescope"])
def test_a_report_goes_to_a_file_and_the_table_is_printed(run: Run, homework: Path, form: str) -> None:
    done = run("grade", "problem.json", "sheets", "--report", form, "-o", "report")
    assert done.returncode == 2
    assert done.stdout.startswith("student")
    assert done.stderr == "Error: 1 of 3 sheets cannot be read: cy\n"
    assert (homework / "report").read_text() == run("grade", "problem.json", "sheets", "--report", form).stdout


@pytest.mark.release
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_report_has_the_format_of_its_suffix_unless_one_is_named(run: Run, homework: Path, suffix: str) -> None:
    done = run("grade", "problem.json", "sheets", "-o", f"class{suffix}")
    assert (done.returncode, done.stdout.partition(" ")[0]) == (2, "student")
    meant = run("grade", "problem.json", "sheets", "-f", SUFFIXES[suffix]).stdout
    assert (homework / f"class{suffix}").read_text() == meant
    run("grade", "problem.json", "sheets", "-f", "tap", "-o", f"class{suffix}")
    assert (homework / f"class{suffix}").read_text().startswith("TAP version 13\n")


@pytest.mark.parametrize("name", ["class.zip", "class"])
def test_a_report_whose_format_nobody_tells_is_not_written(run: Run, homework: Path, name: str) -> None:
    done = run("grade", "problem.json", "sheets", "-o", name)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"Error: cannot tell the format of {name} from its suffix\n"
        f"hint: known suffixes are {', '.join(SUFFIXES)}; for any other, give -f FORMAT\n"
    )
    assert not (homework / name).exists()


def test_no_report_at_all_is_the_table(run: Run, homework: Path) -> None:
    assert run("grade", "problem.json", "sheets", "-o", "-").stdout == run("grade", "problem.json", "sheets").stdout


def test_gradescope_has_a_file_for_each_and_writes_them_anew(run: Run, homework: Path) -> None:
    for _ in range(2):
        assert run("grade", "problem.json", "sheets", "--report", "gradescope", "-o", "a/b").returncode == 2
    assert {path.name for path in (homework / "a/b").iterdir()} == {"ann.json", "bo.json", "cy.json"}


def test_gradescope_of_one_sheet_is_one_file(run: Run, homework: Path) -> None:
    words = ("grade", "problem.json", "sheets/bo.json", "--report", "gradescope")
    assert run(*words, "-o", "results.json").returncode == 1
    whole = json.loads((homework / "results.json").read_text())
    assert (whole["score"], len(whole["tests"])) == (0, 1)
    assert json.loads(run(*words).stdout) == whole


@pytest.mark.thorough
@pytest.mark.parametrize("form", REPORTS)
def test_a_report_on_standard_output_stands_there_alone(run: Run, homework: Path, form: str) -> None:
    words = ("grade", "problem.json", "sheets/bo.json", "--report", form)
    done = run(*words, "-o", "-")
    assert done.stdout.endswith("\n")
    assert done.stdout == run(*words).stdout


@pytest.mark.thorough
@pytest.mark.parametrize(
    "words",
    [
        ("json", "-o", "problem.json"),
        ("csv", "-o", "sheets/ann.json"),
        ("gradescope", "-o", "sheets"),
    ],
    ids=["the key", "a sheet", "a folder with a sheet in the place of each report"],
)
def test_what_is_marked_is_not_written_to(run: Run, homework: Path, words: tuple[str, ...]) -> None:
    before = {path: path.read_bytes() for path in homework.rglob("*.json")}
    done = run("grade", "problem.json", "sheets", "--report", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(": the calculation reads it\nhint: choose another name\n")
    assert {path: path.read_bytes() for path in homework.rglob("*.json")} == before


@pytest.mark.parametrize("where", ["", "-"])
def test_gradescope_of_many_sheets_needs_a_folder(run: Run, homework: Path, where: str) -> None:
    done = run("grade", "problem.json", "sheets", "--report", "gradescope", "-o", where)
    assert (done.returncode, done.stdout) == (2, "")
    assert "-o must name a folder" in done.stderr
    assert {path.name for path in homework.iterdir()} == {"problem.json", "sheets"}


@pytest.mark.thorough
@pytest.mark.parametrize("where", ["problem.json", "problem.json/deeper", "/proc/nowhere"])
def test_gradescope_cannot_write_into_what_is_no_folder(run: Run, homework: Path, where: str) -> None:
    before = (homework / "problem.json").read_bytes()
    done = run("grade", "problem.json", "sheets", "--report", "gradescope", "-o", where)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: cannot write ")
    assert (homework / "problem.json").read_bytes() == before
