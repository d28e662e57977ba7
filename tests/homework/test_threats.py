"""Hostile sheets through the installed command: each costs itself at most, and nothing of what it holds acts."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from conftest import Run
from homework.problems import PROBLEMS
from rows import rows

import attncalc as ac
from attncalc.cli import app
from attncalc.common.errors import InputError
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.marking import judging
from attncalc.homework.marking.marker import Marker
from attncalc.homework.reading.answers import from_parts
from attncalc.homework.reading.sheets import MOST_BYTES, from_python, spelled

pytestmark = pytest.mark.skipif(os.name == "nt", reason="pipes and links are POSIX's")

Q, K, V = [[1, 0, 2, -1], [0, 2, 1, 1]], [[1, 1, 0, 0], [0, 1, 1, 1], [2, 0, 1, -1]], [[3, 1], [2, 0], [1, 3]]
TRACE = ac.attention(Q, K, V)
RIGHT = TRACE.result.round(4).tolist()
WRONG = (TRACE.result + 1).round(4).tolist()
CANARY = "canary"

UNREADABLE = "unreadable"
Write = Callable[[Path], object]


class Threat(NamedTuple):
    """A hostile sheet: what writes it, and what may become of it."""

    suffix: str
    write: Write
    verdict: str = UNREADABLE
    said: str = ""  # in the error of one that cannot be read


def text(content: str, encoding: str = "utf-8") -> Write:
    return lambda path: path.write_bytes(content.encode(encoding, "surrogatepass"))


def tree(whole: Any) -> Write:
    return lambda path: path.write_text(json.dumps(whole))


def steps(**found: Any) -> Write:
    return tree({"steps": found})


def holes(size: int) -> Write:
    """Gigabytes of zeros that take no room on the disk."""

    def write(path: Path) -> None:
        with path.open("wb") as file:
            file.truncate(size)

    return write


def npy(header: str, data: bytes = b"", version: bytes = b"\x01\x00") -> Write:
    length = len(header).to_bytes(2 if version == b"\x01\x00" else 4, "little")
    return lambda path: path.write_bytes(b"\x93NUMPY" + version + length + header.encode() + data)


def described(shape: str, kind: str = "<f8", data: bytes = bytes(64)) -> Write:
    return npy(f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n", data)


class Payload:
    """What runs when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (CANARY,)


def pickled(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, np.array([Payload()], dtype=object), allow_pickle=True)


def archive(*members: tuple[str, bytes]) -> Write:
    def write(path: Path) -> None:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for name, content in members:
                file.writestr(name, content)

    return write


def stored(value: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, value)
    return file.getvalue()


HEADER = "\x93NUMPY\x01\x00\x46\x00{'descr': '<f8', 'fortran_order': False, 'shape': (67108864,), }       "


def bomb(path: Path) -> None:
    """Half a gigabyte of zeros in half a megabyte."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file, file.open("output.npy", "w") as member:
        member.write(HEADER.encode("latin-1"))
        for _ in range(512):
            member.write(bytes(2**20))


def link(target: str) -> Write:
    return lambda path: path.symlink_to(target)


def named(name: str) -> Write:
    return tree({"student": name, "steps": {"output": WRONG}})


DEEP = 100_000
MANY, MILLION = 200_000, 1_000_000
FORGED: dict[str, Any] = {
    "score": 100,
    "out_of": 1,
    "verdict": "right",
    "tolerance": 100,
    "rtol": 100,
    "atol": 100,
    "expected": WRONG,
    "key": {"output": WRONG},
    "path": "/etc/passwd",
    "result": WRONG,
    "outputs": {"output": WRONG},
    "inputs": {"q": 0},
    "options": {"scale": "none"},
}

THREATS: dict[str, Threat] = {
    # Nesting
    "deep lists": Threat(".json", text("[" * DEEP + "]" * DEEP)),
    "deep lists in a step": Threat(".json", text('{"steps": {"output": ' + "[" * DEEP + "1" + "]" * DEEP + "}}")),
    "deep objects": Threat(".json", text('{"a":' * DEEP + "1" + "}" * DEEP)),
    "deep notes": Threat(".json", text('{"steps": {}, "notes": ' + "[" * DEEP + "]" * DEEP + "}")),
    "many axes": Threat(".json", text('{"output": ' + "[" * 70 + "1" + "]" * 70 + "}")),
    "unclosed lists": Threat(".json", text("[" * DEEP)),
    "nested fractions": Threat(".json", steps(output="(" * 10_000 + "1" + ")" * 10_000)),
    # Size
    "gigabytes of zeros as JSON": Threat(".json", holes(2**33), said="bytes"),
    "gigabytes of zeros as CSV": Threat(".csv", holes(2**33), said="bytes"),
    "gigabytes of zeros as npy": Threat(".npy", holes(2**33), said="bytes"),
    "gigabytes of zeros as npz": Threat(".npz", holes(2**33), said="bytes"),
    "zeros up to the limit": Threat(".json", holes(4 * 2**20)),
    "columns without end": Threat(".csv", text("@output\n" + ",".join("1" * MANY)), verdict="wrong"),
    "rows without end": Threat(".csv", text("@output\n" + "1\n" * MANY), verdict="wrong"),
    "thousands of blocks": Threat(".csv", text("".join(f"@s{i}\n1\n" for i in range(6000))), said="steps"),
    "remarks without end": Threat(".csv", text("@x,1\n" * MANY + "@output\n1\n"), verdict="wrong"),
    "a cell of megabytes": Threat(".csv", text("@output\n" + "9" * (3 * MILLION))),
    "a quote that never ends": Threat(".csv", text('@output\n"' + "1,\n" * 100_000)),
    "steps without end": Threat(".json", tree({"steps": {f"s{i}": 1 for i in range(MANY)}})),
    "steps without end in a list": Threat(
        ".json", tree({"steps": [{"name": f"s{i}", "value": 1} for i in range(80_000)]})
    ),
    "far too many numbers": Threat(".json", steps(output=[1] * MANY), verdict="wrong"),
    "a name of megabytes": Threat(".json", tree({"steps": {"o" * (3 * MILLION): 1}})),
    "a student of megabytes": Threat(".json", named("A" * (3 * MILLION)), verdict="wrong"),
    "a number of megabytes": Threat(".json", text('{"output": ' + "9" * (3 * MILLION) + "}")),
    "a number of megabytes as text": Threat(".json", steps(output="9" * (3 * MILLION))),
    "decimals of megabytes": Threat(".json", steps(output="0." + "3" * (3 * MILLION)), verdict="wrong"),
    # Arrays that lie
    "a claim of terabytes": Threat(".npy", described("(100000000000,)")),
    "a claim of exabytes": Threat(".npy", described("(1000000000, 1000000000)")),
    "a claim beyond any integer": Threat(".npy", described(f"({10**40},)")),
    "fewer than none": Threat(".npy", described("(-1, 8)")),
    "sizes that are truth values": Threat(".npy", described("(True, 8)")),
    "no bytes an entry": Threat(".npy", described("(1000000000000000000,)", "|S0", b"")),
    "no rows of many": Threat(".npy", described("(0, 1000000000000000000)")),
    "a header that is code": Threat(".npy", npy("__import__('os').mkdir('canary')\n")),
    "a header of brackets": Threat(".npy", npy("(" * 9000 + "\n")),
    "a header that claims gigabytes": Threat(
        ".npy", lambda path: path.write_bytes(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{")
    ),
    "a version of the future": Threat(".npy", npy("{}", version=b"\x09\x00")),
    "more than it says": Threat(".npy", described("(1,)", data=bytes(4096))),
    "records": Threat(".npy", npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }\n", bytes(8))),
    "a pickle in npy": Threat(".npy", pickled),
    "a pickle by another name": Threat(".json", pickled),
    "a pickle in npz": Threat(".npz", lambda path: np.savez(path, output=np.array([Payload()]), allow_pickle=True)),
    "a bomb": Threat(".npz", bomb),
    "a bomb of many": Threat(".npz", archive(*((f"{i}.npy", stored(np.zeros(500_000))) for i in range(40)))),
    "a way out of the archive": Threat(".npz", archive(("../../canary.npy", stored(np.ones(1))))),
    "no archive": Threat(".npz", text("PK\x03\x04")),
    "a member that is no array": Threat(".npz", archive(("output.npy", b"#!/bin/sh"))),
    # What is no file
    "a pipe": Threat(".json", os.mkfifo, said="not a regular file"),
    "a pipe as CSV": Threat(".csv", os.mkfifo, said="not a regular file"),
    "endless zeros": Threat(".json", link("/dev/zero"), said="link"),
    "a link out of the folder": Threat(".json", link("../outside.json"), said="link"),
    "a link to the key": Threat(".json", link("../problem.json"), said="link"),
    "a link to passwords": Threat(".csv", link("/etc/passwd"), said="link"),
    "a link to itself": Threat(".json", link("a link to itself.json"), said="link"),
    "a link to nothing": Threat(".npy", link("nowhere"), said="link"),
    # What forges
    "forged beside the steps": Threat(".json", tree({**FORGED, "steps": {"output": WRONG}}), verdict="wrong"),
    "forged beside a step": Threat(".json", tree({"output": WRONG, "score": 100, "tolerance": 100}), verdict="wrong"),
    "forged in a step": Threat(
        ".json", tree({"steps": [{"name": "output", "value": WRONG, **FORGED}]}), verdict="wrong"
    ),
    "forged lines": Threat(".csv", text("@score,100\n@tolerance,9\n@output\n1,1\n1,1\n"), verdict="wrong"),
    "forged as a step": Threat(".json", steps(output=WRONG, score=100)),
    "a step twice": Threat(".json", text('{"steps": {"output": 1, "output": 2}}')),
    "a step by two names": Threat(".json", steps(output=WRONG, result=RIGHT)),
    "broadcast": Threat(".json", steps(output=[[2]]), verdict="wrong"),
    "empty": Threat(".json", steps(output=[]), verdict="wrong"),
    "no steps": Threat(".json", steps(), said="answers no step of"),
    "not a number": Threat(".json", steps(output=[["nan", "nan"], ["nan", "nan"]]), verdict="wrong"),
    "infinite": Threat(".json", steps(output=[["inf", "-inf"], [1, 1]]), verdict="wrong"),
    "overflow": Threat(".json", text('{"output": [[1e999, 1], [1, 1]]}')),
    "true": Threat(".json", steps(output=[[True, True], [True, True]])),
    "a saved result of its own": Threat(".json", tree(ac.attention(K, K, K).to_dict()), verdict="wrong"),
    "decimals beyond sense": Threat(".json", tree({"rounding": {"decimals": 10**9}, "steps": {"output": WRONG}})),
    "no decimals": Threat(".json", tree({"rounding": -3, "steps": {"output": WRONG}})),
    # What would be evaluated
    "a tower of powers": Threat(".json", steps(output=[["9**9**9", "1"], ["1", "1"]])),
    "an import": Threat(".json", steps(output=[["__import__('os').mkdir('canary')", "1"], ["1", "1"]])),
    "a factorial": Threat(".json", steps(output=[["99999999!", "1"], ["1", "1"]])),
    "a reference": Threat(".json", tree({"$ref": "file:///etc/passwd"})),
    "a name of a file": Threat(".json", steps(output="@/etc/passwd")),
    "a part of a file": Threat(".csv", text("@output\n../problem.json#result\n")),
    # Words
    "UTF-16 without a mark": Threat(".json", text('{"output": 1}', "utf-16-le")),
    "half a character": Threat(".json", text('{"student": "\ud800", "output": 1}')),
    "half a character, escaped": Threat(".json", text('{"student": "\\ud800", "output": 1}'), verdict="wrong"),
    "zero bytes": Threat(".csv", text("@output\n1\0,1\n1,1\n")),
}
NAMES: dict[str, str] = {
    "colours": "\x1b[31mred\x1b[0m",
    "a cleared screen": "\x1b[2J\x1b[H",
    "a title": "\x1b]0;owned\x07",
    "the clipboard": "\x1b]52;c;b3duZWQ=\x07",
    "a link": "\x1b]8;;http://x\x07x\x1b]8;;\x07",
    "C1": "\x9b31mred",
    "a carriage return": "zoe\rann  right  2 of 2",
    "a line of its own": "zoe\nann  right  2 of 2",
    "backspaces": "zoe\b\b\bann",
    "right to left": "\u202ethgir",
    "no width": "a\u200bn\u200bn",
    "markup": "[green]right[/green] [/] [link=file:///etc/passwd]x[/link]",
    "HTML": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "emoji": ":white_check_mark: \U0001f3c6",
    "a formula": "=HYPERLINK(0)",
}
THREATS |= {f"named {what}": Threat(".json", named(name), verdict="wrong") for what, name in NAMES.items()}


def file_of(what: str) -> str:
    return f"{what}{THREATS[what].suffix}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A problem, an honest sheet, and every hostile one beside it."""
    found = tmp_path_factory.mktemp("threats")
    (found / "problem.json").write_text(json.dumps(TRACE.to_dict()))
    (found / "outside.json").write_text(json.dumps({"output": RIGHT}))
    (found / "sheets").mkdir()
    (found / "sheets" / "ann.json").write_text(json.dumps({"steps": {"output": RIGHT}}))
    for what, threat in THREATS.items():
        threat.write(found / "sheets" / file_of(what))
    odd = found / "sheets" / "odd\n\x1b[31mname \u202e.json"
    odd.write_text(json.dumps({"output": WRONG}))
    (found / "sheets" / "folder.json").mkdir()
    return found


class Graded(NamedTuple):
    returncode: int
    stdout: str
    stderr: str
    rows: dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def class_(folder: Path, attncalc_command: list[str]) -> Graded:
    """All of them graded at once, as a class is."""
    command = [*attncalc_command, "grade", "problem.json", "sheets", "--report", "json", "-o", "report.json"]
    before = listing(folder)
    done = subprocess.run(
        command, cwd=folder, capture_output=True, encoding="utf-8", timeout=300, check=False, stdin=subprocess.DEVNULL
    )
    report = json.loads((folder / "report.json").read_text())
    assert listing(folder) - before == {"report.json"}
    return Graded(done.returncode, done.stdout, done.stderr, {row["source"]: row for row in report["students"]})


def listing(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.thorough
class TestGrading:
    def test_ends_with_the_status_of_what_cannot_be_read(self, class_: Graded) -> None:
        assert class_.returncode == 2

    def test_marks_the_honest_sheet(self, class_: Graded) -> None:
        row = class_.rows["sheets/ann.json"]
        assert (row["student"], row["verdict"], row["score"]) == ("ann", "right", 2)

    def test_has_a_row_for_each(self, class_: Graded) -> None:
        assert len(class_.rows) == len(THREATS) + 3  # ann, the odd name, and the empty folder

    @rows("what", THREATS)
    def test_costs_that_sheet_alone(self, class_: Graded, what: str) -> None:
        threat, row = THREATS[what], class_.rows[f"sheets/{file_of(what)}"]
        assert row["verdict"] == threat.verdict
        assert not row["score"]
        if threat.verdict == UNREADABLE:
            assert threat.said in row["error"]
            assert len(row["error"]) < 500

    def test_sends_nothing_that_acts(self, class_: Graded) -> None:
        for stream in (class_.stdout, class_.stderr):
            assert stream.replace("\n", "").isprintable()

    def test_prints_a_line_for_each_and_none_for_what_a_name_forges(self, class_: Graded) -> None:
        lines = [line for line in class_.stdout.split("\n\n")[0].splitlines() if not line.startswith("  ")]
        assert len(lines) == 1 + len(class_.rows)
        assert sum(line.startswith("ann ") for line in lines) == 1

    def test_says_what_has_no_effect_shortly(self, class_: Graded) -> None:
        *notes, last = class_.stderr.splitlines()
        assert any("have no effect" in note for note in notes)
        assert all(note.startswith("note: ") for note in notes)
        assert len(notes) < 20
        assert re.fullmatch(r"Error: \d+ of \d+ sheets cannot be read: .{1,300}", last)

    def test_gives_no_number_of_the_key_away(self, class_: Graded) -> None:
        texts = [class_.stdout, class_.stderr, *(row.get("error", "") for row in class_.rows.values())]
        assert not [text for text in texts if str(TRACE.result[0, 0])[:6] in text]


# What `check` must bear as well: it reads one sheet, which may be a stranger's.
CHECKED = (
    "deep lists in a step", "deep objects", "deep notes", "nested fractions", "a name of megabytes",
    "a number of megabytes", "a claim of terabytes", "no bytes an entry", "a header that is code",
    "a header of brackets", "a pickle in npy", "a pickle in npz", "a way out of the archive", "a pipe",
    "forged beside the steps", "forged in a step", "forged lines", "a step twice", "broadcast", "empty",
    "not a number", "a tower of powers", "an import", "a reference", "zero bytes", "half a character",
    "named colours", "named a line of its own", "named markup", "named right to left",
    "gigabytes of zeros as JSON", "gigabytes of zeros as npy", "zeros up to the limit", "a bomb", "a bomb of many",
    "thousands of blocks", "a link to the key", "a link out of the folder", "endless zeros",
)  # fmt: skip


@pytest.mark.release
@rows("what", CHECKED)
def test_checking_ends_with_the_verdict_or_the_error_of_grading(
    folder: Path, class_: Graded, run: Run, what: str
) -> None:
    done = run("check", f"sheets/{file_of(what)}", "problem.json", cwd=folder)
    row = class_.rows[f"sheets/{file_of(what)}"]
    assert done.returncode == {"wrong": 1, UNREADABLE: 2}[row["verdict"]]
    assert (done.stdout == "") == (done.returncode == 2)
    assert row.get("error", "") in done.stderr
    errors = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
    assert [line.partition(":")[0] for line in errors] in ([], ["Error"], ["Error", "hint"])
    for stream in (done.stdout, done.stderr):
        assert stream.replace("\n", "").isprintable()
        assert len(stream) < 10_000
    assert not (folder / CANARY).exists()


@pytest.mark.parametrize("words", [("check", "{}", "problem.json"), ("attention", "problem.json", "--check", "{}")])
@pytest.mark.thorough
def test_a_link_is_not_followed_by_whoever_checks(folder: Path, run: Run, words: tuple[str, ...]) -> None:
    done = run(*(word.format("sheets/a link to the key.json") for word in words), cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "is a link" in done.stderr


@pytest.mark.release
@pytest.mark.parametrize("order", [1, -1])
def test_a_large_problem_may_stand_before_or_after_an_answer(run: Run, tmp_path: Path, order: int) -> None:
    """A document may have more bytes than a sheet; so may a dump that is the answer to it."""
    x = np.random.default_rng(0).normal(size=(400, 1500))
    (tmp_path / "problem.json").write_text(json.dumps({"calculation": "softmax", "inputs": {"x": x.tolist()}}))
    np.save(tmp_path / "dump.npy", np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True))
    assert all((tmp_path / name).stat().st_size > MOST_BYTES for name in ("problem.json", "dump.npy"))
    done = run("check", *["dump.npy", "problem.json"][::order])
    assert (done.returncode, done.stderr) == (0, "")
    (tmp_path / "zeros.npy").write_bytes(b"\x93NUMPY")
    os.truncate(tmp_path / "zeros.npy", 2**33)
    assert "bytes" in run("check", *["zeros.npy", "problem.json"][::order]).stderr


@pytest.mark.parametrize("piped", ["answer", "problem"])
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.thorough
def test_what_is_piped_in_may_stand_before_or_after_the_other(folder: Path, run: Run, piped: str, order: int) -> None:
    texts = {"answer": json.dumps({"output": WRONG}), "problem": (folder / "problem.json").read_text()}
    (folder / "outside-wrong.json").write_text(texts["answer"])
    words = {"answer": "outside-wrong.json", "problem": "problem.json"} | {piped: "-"}
    done = run("check", *[words["answer"], words["problem"]][::order], input=texts[piped], cwd=folder)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.thorough
def test_more_than_a_sheet_has_is_not_read_from_a_pipe(folder: Path, run: Run, order: int) -> None:
    done = run("check", *["-", "problem.json"][::order], input="1," * MOST_BYTES, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "standard input has more than" in done.stderr


@pytest.mark.parametrize("what", ["gigabytes of zeros as JSON", "gigabytes of zeros as npy", "a bomb", "a pipe",
                                  "a link to the key", "endless zeros"])  # fmt: skip
@pytest.mark.thorough
def test_python_reads_no_more_of_a_sheet(folder: Path, class_: Graded, what: str) -> None:
    path = folder / "sheets" / file_of(what)
    assert ac.score(TRACE, path) == 0
    with pytest.raises(AssertionError, match="the answer cannot be marked"):
        ac.assert_close(TRACE, path)
    with pytest.raises(InputError) as error:
        TRACE.check(path)
    assert class_.rows[f"sheets/{path.name}"]["error"].partition(" ")[2] in error.value.message


SLOW = """
import sys, time
from attncalc import softmax
from attncalc.common.errors import AttncalcError
from attncalc.homework.marking import whole_class
from attncalc.homework.marking.marker import Marker
from attncalc.homework.reading import answers, sheets, submissions
from attncalc.inputs.reading import Reading

def slow(tree, source):
    while isinstance(tree, dict) and tree.get("student") == "slow":
        try:
            sum(range(1000))
        except (AttncalcError, Exception):  # as searches do that go on with the next thing
            pass
    return read(tree, source)

read, sheets.from_tree = sheets.from_tree, slow
sheets.MOST_SECONDS = 0.2
"""


def ran(program: str, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    call = [sys.executable, "-c", SLOW + program, *words]
    return subprocess.run(call, capture_output=True, text=True, check=False, timeout=60, cwd=cwd)


@pytest.mark.thorough
def test_a_sheet_that_takes_too_long_to_be_read_is_given_up(tmp_path: Path) -> None:
    for name in ("slow", "ann"):
        (tmp_path / f"{name}.json").write_text(json.dumps({"student": name, "softmax": [0.2689, 0.7311]}))
    done = ran(
        "from pathlib import Path\n"
        "t = softmax([1, 2])\n"
        "found = [submissions.Submission(n, n, Path(f'{n}.json')) for n in ('slow', 'ann')]\n"
        "graded = whole_class.grade(t.problem, found, Reading(), whole_class.Settings())\n"
        "print([(one.student, one.error, bool(one.marked)) for one in graded])\n",
        cwd=tmp_path,
    )
    assert done.stdout == "[('slow', 'it takes more than 0.2 seconds to be read', False), ('ann', '', True)]\n", (
        done.stderr
    )


@pytest.mark.thorough
def test_a_sheet_that_takes_too_long_to_be_read_is_not_checked(tmp_path: Path) -> None:
    (tmp_path / "sheet.json").write_text('{"student": "slow", "softmax": [0.27, 0.73]}')
    done = ran("from attncalc.__main__ import main\nmain()\n", "softmax", "1,2", "--check", "sheet.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Error: the answer takes more than 0.2 seconds to be read\n"


@pytest.fixture
def no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """No budget for anything but the verdict itself."""
    monkeypatch.setattr(judging, "MOST_SECONDS", 0.0)


@pytest.mark.spread
@pytest.mark.usefixtures("no_time")
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_verdict_comes_without_any_time_for_a_diagnosis(name: str) -> None:
    for given in PROBLEMS[name]:
        key = Key(given)
        right = {step: key.value(step) for step in key.steps if key.value(step) is not None}
        for step, value in right.items():
            assert value is not None
            whole = from_parts(value) if step in key.complex else value
            for answer, verdict in ((whole, "right"), (whole + 0.5, "unexplained")):
                marked = Marker(key).mark(from_python({spelled(step): answer}))
                assert marked.steps[0].verdict == verdict
                assert bool(marked.stopped) == (verdict != "right")


@pytest.mark.usefixtures("no_time")
def test_what_follows_from_a_wrong_step_is_seen_without_any_time() -> None:
    marked = ac.softmax([1, 2, 3]).check({"exponentials": [1, 2, 3], "softmax": [1 / 6, 1 / 3, 1 / 2]})
    assert [step.verdict for step in marked.steps] == ["unexplained", "follows"]


@pytest.mark.usefixtures("no_time")
def test_so_is_what_follows_with_more_digits_than_stand_there() -> None:
    """1, 2 and 3.8 over 1.7, told to three decimals and not rounded for the shares."""
    marked = ac.softmax([1, 2, 3]).check(
        {"exponentials": ["0.588", "1.176", "2.235"], "sum": "4.000", "softmax": ["0.147", "0.294", "0.559"]}
    )
    assert [step.verdict for step in marked.steps] == ["unexplained", "follows", "follows"]


@pytest.mark.usefixtures("no_time")
@pytest.mark.parametrize("format", ["table", "json", "csv"])
def test_a_diagnosis_that_was_stopped_is_a_line_of_the_report(format: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["attention", "1,0;0,1", "--check", "[[0.7, 0.3], [0.2, 0.8]]", "-f", format]
    assert app(words, standalone_mode=False) == 1
    said = capsys.readouterr()
    assert "diagnosis stopped after 0 s: a known mistake may be behind this" in said.out
    assert said.err == "note: only q was given, as one matrix: keys = queries and values = keys\n"
