"""Sheets as spreadsheets save them: filled up to one width, with decimal commas, with cells in quotes."""

from __future__ import annotations

import csv
import json
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Run

import attncalc as ac
from attncalc.common.errors import InputError
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.marking.marker import Marker
from attncalc.homework.reading.csv_lists import roster
from attncalc.homework.reading.sheets import from_contents, read_sheet
from attncalc.inputs.csv_files import TextFile
from attncalc.inputs.reading import Reading
from attncalc.record.verdicts import Marked

TINY = ac.attention([[1, 0, 1], [0, 1, 1]], [[1, 1, 0], [1, 0, 1]], [[2, 0, 1], [1, 1, 0]])
PLAIN = "@scores\n1,2\n1,1\n@weights\n0.3595,0.6405\n0.5,0.5\n@output\n1.3595,0.6405,0.3595\n1.5,0.5,0.5\n"
FILLED = (
    "@scores,,\n1,2,\n1,1,\n,,\n@weights,,\n0.3595,0.6405,\n0.5,0.5,\n,,\n"
    "@output,,\n1.3595,0.6405,0.3595\n1.5,0.5,0.5\n"
)


def marked(text: str) -> Marked:
    return Marker(Key(TINY.problem)).mark(from_contents(TextFile("s.csv", text), Reading()))


def with_commas(text: str) -> str:
    return text.replace(",", ";").replace(".", ",")


def in_quotes(text: str) -> str:
    return re.sub(r"(\d)\.(\d+)", r'"\1,\2"', text)


def in_bars(text: str) -> str:
    """As tables of Markdown, with a header that says nothing."""
    rows = re.sub(r"(?m)^([^@\n].*)$", lambda row: f"| {row[1].replace(',', ' | ')} |", text)
    return re.sub(r"(@\w+\n)(.*)", lambda first: f"{first[1]}\n| |\n|---|\n{first[2]}", rows)


def numbered(text: str, labels: str = "", mark: str = ",") -> str:
    """As pandas writes tables: columns counted from 0 above, rows beside, or their labels."""
    found = []
    for block in re.split(r"(?=@)", text)[1:]:
        title, *rows = block.split()
        heads = mark.join(["", *map(str, range(rows[0].count(mark) + 1))])
        found += [title, heads, *(f"{label}{mark}{row}" for label, row in zip(labels or "0123", rows, strict=False))]
    return "\n".join(found) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(numbered(PLAIN), id="rows and columns numbered by pandas"),
        pytest.param(numbered(PLAIN, "ab"), id="columns numbered by pandas"),
        pytest.param(numbered(with_commas(PLAIN), "01", ";"), id="numbered, decimal commas"),
        pytest.param(PLAIN, id="as it was handed out"),
        pytest.param(FILLED, id="filled up"),
        pytest.param(FILLED + ",,\n,,\n", id="filled up below"),
        *(
            pytest.param(PLAIN.replace("\n@", f"\n{blank}\n@"), id=f"lines {blank!r} between")
            for blank in (",,,", ", ,,", '"","",""')
        ),
        pytest.param(with_commas(PLAIN.replace("\n@", "\n,,,\n@")), id="lines ;;; between"),
        pytest.param(with_commas(PLAIN), id="decimal commas"),
        pytest.param(with_commas(FILLED), id="decimal commas, filled up"),
        pytest.param(in_quotes(PLAIN), id="decimal commas in quotes"),
        pytest.param(in_quotes(FILLED), id="decimal commas in quotes, filled up"),
        pytest.param(in_bars(PLAIN), id="tables of Markdown"),
        pytest.param(in_bars(PLAIN).replace(".", ","), id="tables of Markdown, decimal commas"),
    ],
)
def test_right_answers_are_right(text: str) -> None:
    assert {step.name: step.verdict for step in marked(text).steps} == dict.fromkeys(
        ("scores", "weights", "output"), "right"
    )


@pytest.mark.parametrize("mark", [";", "\t"])
@pytest.mark.parametrize(
    "head", ["@student{}Ann\n", "@products{}\n2,5{}1,5\n"], ids=["a line in front", "another step"]
)
def test_a_number_by_itself_has_the_decimal_mark_of_its_sheet(mark: str, head: str) -> None:
    text = head.replace("{}", mark) + "@dot\n4,0000\n"
    sheet = from_contents(TextFile("s.csv", text), Reading())
    found = Marker(Key(ac.dot([2.5, 1.5], [1, 1]).problem)).mark(sheet)
    assert {step.verdict for step in found.steps} == {"right"}


LETTERS = "not UTF-8 text, and read as Windows-1252: look at the names"
BY_EXCEL = {
    "sheet": ("@student;Jürgen Groß\n@products;\n2;12\n@dot;\n14,0\n", ""),
    "class list": ("student;products[0];products[1];dot\nJürgen Groß;2;12;14,0\n", ""),
    "marks by hand": ("student;step;marks;why\ns;dot;1;für Übung\n", "--override"),
    "roster": ("student\nJürgen Groß\n", "--roster"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("what", BY_EXCEL)
@pytest.mark.parametrize("encoding", ["cp1252", "utf-8", "utf-8-sig", "utf-16"])
def test_letters_are_read_as_excel_saves_them(run: Run, tmp_path: Path, what: str, encoding: str) -> None:
    text, option = BY_EXCEL[what]
    (tmp_path / "x.csv").write_bytes(text.encode(encoding))
    (tmp_path / "dot.json").write_text('{"calculation": "dot", "inputs": {"a": [1, 3], "b": [2, 4]}}')
    (tmp_path / "s.csv").write_text("@products\n2,12\n@dot\n14\n")
    if option == "--roster":
        done = run("quiz", "dot", option, "x.csv", "-o", "quiz")
        assert (tmp_path / "quiz/Jürgen-Groß/sheet.csv").read_text().startswith("@student,Jürgen Groß\n")
    else:
        done = run("grade", "dot.json", *(("s.csv", option, "x.csv") if option else ("x.csv",)))
        assert ("für Übung" if option else "Jürgen Groß  right") in done.stdout, done.stderr
    assert (f"note: x.csv: {LETTERS}\n" in done.stderr) == (encoding == "cp1252"), done.stderr


def test_letters_are_read_from_python_as_well_and_that_is_noted(tmp_path: Path) -> None:
    for what, (text, _) in BY_EXCEL.items():
        (tmp_path / f"{what}.csv").write_bytes(text.encode("cp1252"))
    problem, by_hand = ac.dot([1, 3], [2, 4]), str(tmp_path / "marks by hand.csv")
    grades = ac.grade(problem, {"s": [14]}, overrides=by_hand)
    assert ([one.why for one in grades.log], grades.notes) == (["für Übung"], (f"{by_hand}: {LETTERS}",))
    (tmp_path / "bank").mkdir()
    (tmp_path / "bank/one.json").write_text(json.dumps(problem.to_dict()))
    (tmp_path / "bank/bank.toml").write_text("[one]\n")
    for one, bank in (("dot", None), (problem, None), (None, tmp_path / "bank")):
        made = ac.quiz(one, bank=bank, roster=tmp_path / "roster.csv")
        assert ([*made.problems], made.notes) == (["Jürgen Groß"], (f"{tmp_path / 'roster.csv'}: {LETTERS}",))


def test_letters_of_an_operand_are_told_too(run: Run, tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_bytes("für;1;2\nnaht;3;4\n".encode("cp1252"))
    done = run("softmax", "q.csv", "-q")
    assert (done.returncode, "für" in done.stdout) == (0, True)
    assert f"note: x: {LETTERS}\n" in done.stderr


@pytest.mark.installed
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no name for what is piped in")
@pytest.mark.parametrize(
    ("words", "text", "shown"),
    [
        ("grade dot.json s.csv --override", BY_EXCEL["marks by hand"][0], "für Übung"),
        ("grade dot.json s.csv --policy", "marks = '0+1'", "marks 0+1"),
        ("quiz dot -o quiz --roster", BY_EXCEL["roster"][0], ""),
        ("grade dot.json s.csv --into", BY_EXCEL["roster"][0], "Error: /dev/stdin is not a regular file"),
    ],
)
def test_a_list_may_come_through_a_pipe_and_is_read_once(
    run: Run, tmp_path: Path, words: str, text: str, shown: str
) -> None:
    (tmp_path / "dot.json").write_text('{"calculation": "dot", "inputs": {"a": [1, 3], "b": [2, 4]}}')
    (tmp_path / "s.csv").write_text("@products\n2,12\n@dot\n14\n")
    done = run(*words.split(), "/dev/stdin", input=text)
    assert shown in done.stdout + done.stderr, done
    assert ("Error:" in done.stderr) == ("Error:" in shown)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "content", [b"@dot\n\x8114\n", b"@dot\n\xff\x0014\n", b"\xef\xbb\xbf", b"\xff\xfe\x00\xd8", b" \n"]
)
def test_what_is_no_text_of_windows_either_is_refused(run: Run, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "dot.json").write_text('{"calculation": "dot", "inputs": {"a": [1, 3], "b": [2, 4]}}')
    (tmp_path / "x.csv").write_bytes(content)
    done = run("grade", "dot.json", "x.csv")
    assert (done.returncode, "1252" in done.stderr) == (2, False), done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize(("decimal", "delimiter"), [(".", ","), (",", ";")])
def test_what_is_handed_out_opens_in_the_spreadsheets_of_its_class(
    run: Run, tmp_path: Path, decimal: str, delimiter: str
) -> None:
    (tmp_path / "class.csv").write_text('student\n"Groß, Ann"\nA; B\n')
    words = ("--roster", "class.csv", "--print-decimal", decimal, "-o", "quiz")
    assert run("quiz", "dot", "--size", "n=2", *words).returncode == 0
    variants = {one["student"]: one for one in json.loads((tmp_path / "quiz/keys.json").read_text())["variants"]}
    sheets = [*(tmp_path / "quiz").glob("*/sheet.csv")]
    assert len(sheets) == len(variants)
    for sheet in sheets:
        rows = [*csv.reader(sheet.read_text().splitlines(), delimiter=delimiter)]
        [x, y] = variants[rows[0][1]]["inputs"].values()
        products = [a * b for a, b in zip(x, y, strict=True)]
        right = {"@products": products, "@dot": [sum(products)]}
        for head, blank in pairwise(rows):
            if head[0] in right:
                assert blank == ["?"] * len(right[head[0]])
                blank[:] = [f"{number:.2f}".replace(".", decimal) for number in right[head[0]]]
        with sheet.open("w", newline="") as file:
            csv.writer(file, delimiter=delimiter).writerows(rows)
    done = run("grade", "quiz/keys.json", *map(str, sheets))
    assert (done.returncode, "2 sheets: 2 right" in done.stdout) == (0, True), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        pytest.param("@weights,,\n0.3595,,\n0.5,,\n", "not answered", id="a column left blank"),
        pytest.param("@weights,,\n0.3595,0.6405,\n,,\n", "not answered", id="a row left blank"),
        pytest.param("@weights,,,\n1,2,3,\n", "the answer is 1 × 3, and 2 × 2 is asked for", id="what no shape holds"),
        pytest.param("@weights,,\n,,\n,,\n", "not answered", id="all left blank"),
    ],
)
def test_what_is_left_blank_stays_so(text: str, hint: str) -> None:
    [step] = marked(text).steps
    assert hint in step.finding.hint


@pytest.mark.parametrize(
    ("rows", "where"),
    [
        pytest.param("0.659 (ok),0.242,0.099", '5:1: "0.659 (ok)"', id="the first of a row"),
        pytest.param("ca.0.659\n0.242\n0.099", '5:1: "ca.0.659"', id="the first of a column"),
        pytest.param("the,0.659,0.242,0.099", "", id="a label"),
        pytest.param("the,0.659,0.242", '5:1: "the"', id="a label in place of a number"),
        pytest.param("the,cat,dog\n0.659,0.242,0.099", "", id="headings"),
    ],
)
def test_a_word_in_place_of_a_number_is_told(rows: str, where: str) -> None:
    """No other cell of its row or column says that it is no label, and the sizes do."""
    text = f"@sum\n11.212\n\n@softmax\n{rows}\n"
    sheet = from_contents(TextFile("s.csv", text), Reading())
    found = Marker(Key(ac.softmax([2, 1, 0.1]).problem), lenient=True).mark(sheet)["softmax"]
    said = f"it cannot be read: {where} is not a number"
    assert (found.hint == said) if where else found.verdict == "right", found.hint


def test_an_entry_that_is_left_open_makes_no_labels() -> None:
    assert from_contents(TextFile("s.csv", "@scores\n,0\n0,1\n"), Reading()).steps["scores"].shape == (2, 2)


def test_a_number_that_fills_up_is_one_entry() -> None:
    cosine = Marker(Key(ac.cosine([1, -2, 2], [3, 1, -1.5]).problem))
    sheet = from_contents(TextFile("s.csv", "@student;Ann\n@dot;\n-2;\n@norm_b;\n3,5;\n"), Reading())
    assert [step.verdict for step in cosine.mark(sheet).steps] == ["right", "right"]


def test_a_result_by_itself_is_read_as_operands_are() -> None:
    with pytest.raises(InputError, match="can be read in two ways"):
        marked("0,3595;0,6405\n0,5;0,5\n")


NAMES = ("=1+1", '=HYPERLINK("http://x")', "@cmd", "+x", "-x", "'=x", "''@", "＝1＋1", "O'Neil", "'x'")


@pytest.mark.thorough
def test_no_name_acts_in_a_spreadsheet_and_each_is_read_back(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    quiz = ac.quiz("dot", seed=1, roster=NAMES)
    for name, text in quiz.files().items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    for path in Path().glob("*/sheet.json"):
        path.unlink()
    assert run("grade", "keys.json", *(f"{p}" for p in Path().glob("*/")), "-o", "g.csv", cwd=tmp_path).returncode == 1
    with Path("g.csv").open(encoding="utf-8", newline="") as file:
        rows = [*csv.reader(file)][1:]
    sheets = [path.read_text(encoding="utf-8").splitlines()[0] for path in Path().glob("*/sheet.csv")]
    cells = [row[0] for row in rows] + [next(csv.reader([line]))[1] for line in sheets]
    assert len(cells) == 2 * len(NAMES)
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "＝"))]
    assert {*ac.grade("keys.json", ".").marks} == {*NAMES}
    assert {*roster("g.csv", print)} == {*NAMES}
    Path("by_hand.csv").write_text(
        "student,step,marks,why\n" + "".join(f"{quoted(row[0])},dot,1,asked\n" for row in rows), encoding="utf-8"
    )
    assert {*ac.grade("keys.json", Path().glob("*/sheet.csv"), overrides="by_hand.csv").marks.values()} == {1.0}
    Path("list.csv").write_text("student,dot\n" + "".join(f"{quoted(row[0])},1\n" for row in rows), encoding="utf-8")
    assert {*ac.grade("keys.json", "list.csv").marks} == {*NAMES}


def quoted(cell: str) -> str:
    return '"{}"'.format(cell.replace('"', '""'))


def test_what_canvas_says_can_be_reached_is_no_student(tmp_path: Path) -> None:
    """The gradebook that Canvas exports has a row of that between its headings and its students."""
    path = tmp_path / "canvas.csv"
    path.write_text('Student,ID,HW1 (12)\n    Points Possible,,10\n"Lovelace, Ada",1,\nBob,2,\n')
    assert roster(str(path), print) == ["Lovelace, Ada", "Bob"]


COMMAS = (
    "-0,417",
    "−0,417",
    "≈-0,417",
    "~ −0,417",
    "-4,17·10^-1",
    "-4,17×10⁻¹",
    "-4,17E-01",
    "-41,7%",
    "−41,7 %",
    "-41,7\u202f%",
)


@pytest.mark.parametrize("kind", ["json", "row", "column", "list"])
@pytest.mark.parametrize("entry", COMMAS)
def test_a_number_with_a_decimal_comma_is_spelled_as_one_with_a_point(tmp_path: Path, entry: str, kind: str) -> None:
    entries = [entry, "-1,42", "-2,32"]
    text = {
        "json": json.dumps({"steps": {"log_softmax": entries}}),
        "row": f"@student;Ann\n@log_softmax\n{';'.join(entries)}\n",
        "column": "@student;Ann\n@log_softmax\n" + "".join(f"{each}\n" for each in entries),
        "list": f"student;{';'.join(f'log_softmax[{i}]' for i in range(3))}\nAnn;{';'.join(entries)}\n",
    }[kind]
    path = tmp_path / ("ann.json" if kind == "json" else "ann.csv")
    path.write_text(text, encoding="utf-8")
    [one] = ac.grade(ac.log_softmax([2, 1, 0.1]), path)
    assert one.error == ""
    assert [step.verdict for step in one.steps] == ["right"]


@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("−0.417 ≈−1.417", [-0.417, -1.417]),
        ("−0.417; -1.417", [[-0.417], [-1.417]]),
        ("36.0 %; 64.0 %", [[0.36], [0.64]]),
        ("-41.7%; 5.0\u202f%", [[-0.417], [0.05]]),
        ("-0.417; ?; …", [[-0.417], [None], [None]]),
        ("_ 0.5; ? 1.5", [[None, 0.5], [None, 1.5]]),
    ],
)
def test_what_is_typed_is_spelled_so_too(typed: str, read: list[Any], decimal: str) -> None:
    """As an answer on the command line or in practice."""
    found = read_sheet(typed.replace(".", decimal), Reading(decimal=decimal)).steps[""]
    assert np.array_equal(found.value, np.array(read, dtype=float), equal_nan=True)
    assert np.array_equal(found.answered, ~np.isnan(found.value))


@pytest.mark.parametrize("title", ['"@weights"', '"@weights",', " @weights ", '"@weights"\t', "@weights,,"])
def test_a_block_is_told_by_its_title_in_quotes_and_blanks(title: str) -> None:
    text = f"{title}\n0.3595,0.6405\n0.5,0.5\n{title.replace('weights', 'output')}\n1.3595,0.6405,0.3595\n1.5,0.5,0.5\n"
    for head in ("", "@student,Ann\n", '"@student","Ann"\n'):
        found = marked(head + text)
        assert {step.name: step.verdict for step in found.steps} == {"weights": "right", "output": "right"}


@pytest.mark.parametrize("head", ["@Student,Ann", '"@STUDENT","Ann"', "@student ,Ann", " @student, Ann"])
def test_whose_a_sheet_is_stands_in_any_letters(head: str) -> None:
    found = marked(f"{head}\n{PLAIN}")
    assert (found.student, found.notes) == ("Ann", ())


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        pytest.param(",x,y,z\na,0.284,0.140,0.576\nb,0.446,0.446,0.108\n", "right", id="as on the key"),
        pytest.param(",a,b\nx,0.284,0.446\ny,0.140,0.446\nz,0.576,0.108\n", "right", id="turned"),
        pytest.param(",z,x,y\nb,0.108,0.446,0.446\na,0.576,0.284,0.140\n", "right", id="in another order"),
        pytest.param("b,0.446,0.446,0.108\na,0.284,0.140,0.576\n", "right", id="rows alone have labels"),
        pytest.param(",x,y,z\na,0.446,0.446,0.108\nb,0.284,0.140,0.576\n", "slip", id="beside the wrong labels"),
        pytest.param(",u,v\nx,0.284,0.446\ny,0.140,0.446\nz,0.576,0.108\n", "slip", id="turned, with other labels"),
    ],
)
def test_a_table_with_labels_is_read_by_them(run: Run, tmp_path: Path, rows: str, verdict: str) -> None:
    inputs = {"q": [[1, 0], [0, 2]], "k": [[1, 1], [0, 1], [2, 0]], "v": [[1, 0], [0, 1], [2, 2]]}
    labels = {"q": {"n": ["a", "b"]}, "k": {"m": ["x", "y", "z"]}}
    problem = {"attncalc": 1, "calculation": "attention", "inputs": inputs, "labels": labels, "options": {}}
    (tmp_path / "p.json").write_text(json.dumps(problem))
    (tmp_path / "s.csv").write_text(f"@weights\n{rows}")
    done = run("check", "s.csv", "p.json", "-f", "json")
    assert json.loads(done.stdout)["steps"][0]["verdict"] == verdict
