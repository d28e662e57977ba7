"""The command line from outside: what each command and each common option writes, and where."""

from __future__ import annotations

import json
import operator
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest
from conftest import Run
from rows import rows

from attncalc.calculations import FAMILIES, TABLE, WHOLE
from attncalc.cli import app, carry_out
from attncalc.cli.command import VERBS
from attncalc.cli.settings import command_of


def stdout(run: Run, *words: str | Path, **more: Any) -> str:
    """What a call that succeeds, with nothing to note, writes to standard output."""
    done = run(*words, **more)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


class Page(Protocol):
    def __call__(self, *words: str) -> str: ...


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Page:
    """A help page, made in this process, since there are many."""
    monkeypatch.setenv("COLUMNS", "80")

    def help_page(*words: str) -> str:
        assert app(words, standalone_mode=False) == 0
        return capsys.readouterr().out

    return help_page


EVERY_PAGE = """
import sys
from attncalc.calculations import TABLE, WHOLE, load
from attncalc.cli import app
from attncalc.cli.command import VERBS

app(["list"], standalone_mode=False)
for words in ([], *([name] for name in (*TABLE, *VERBS)), *(["grad", name] for name in TABLE)):
    app([*words, "--help-all"], standalone_mode=False)
for name in TABLE:
    print(load(name).doc, getattr(__import__("attncalc"), name.replace("-", "_")).__doc__)
"""


@pytest.mark.release
def test_nothing_is_lost_where_python_drops_docstrings_and_assertions() -> None:
    pages = {
        level: subprocess.run(
            [sys.executable, *level, "-c", EVERY_PAGE], capture_output=True, encoding="utf-8", check=True
        ).stdout
        for level in ((), ("-O",), ("-OO",))
    }
    assert "How closely two vectors point in the same direction" in pages[()]
    assert pages["-OO",] == pages["-O",] == pages[()]


@pytest.mark.installed
@pytest.mark.parametrize("merged", [False, True], ids=["apart", "together"])
def test_a_note_is_said_where_it_is_read_and_not_twice(
    attncalc_command: list[str], clean: dict[str, str], merged: bool
) -> None:
    """Above the steps, and on standard error unless that is read beside them."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT if merged else subprocess.PIPE}
    words = [*attncalc_command, "grad", "softmax", "1,2,3"]
    done = subprocess.run(words, env=clean, encoding="utf-8", check=True, **streams)  # type: ignore[call-overload]  # either
    said = "the gradient of every operand is 0"
    assert (done.stdout.count(said), (done.stderr or "").count(said)) == (1, not merged)


class TestHelp:
    @pytest.mark.parametrize("words", [[], ["-h"], ["--help"], ["--"]], ids=["nothing", "-h", "--help", "--"])
    def test_names_every_command(self, run: Run, words: Sequence[str]) -> None:
        page = stdout(run, *words)
        listed = re.findall(r"^  ([a-z0-9][a-z0-9-]*) {2,}\S", page, re.MULTILINE)
        assert listed == [*TABLE, *WHOLE, *VERBS]
        assert all(f"\n{heading}:\n" in page for heading in FAMILIES.values())

    @pytest.mark.parametrize("name", [*TABLE, *WHOLE, *VERBS])
    @pytest.mark.parametrize("width", [80, 40])
    def test_of_every_command_fits_the_page_and_says_what_it_does(
        self, page: Page, name: str, width: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("COLUMNS", str(width))
        text = page(name, "--help")
        assert " ".join(text.split()).startswith(f"Usage: attncalc {name} ")
        assert max(map(len, text.splitlines())) <= width
        assert not re.search(r" $", text, re.MULTILINE)
        if name in TABLE:
            assert TABLE[name][1] in " ".join(text.split())

    @pytest.mark.thorough
    @rows("name", TABLE)
    def test_of_every_backward_pass_has_its_options(self, page: Page, name: str) -> None:
        text = page("grad", name, "-h")
        assert text.startswith(f"Usage: attncalc grad {name} ")
        assert all(option in text for option in ("--upstream", "--wrt", "--gradcheck"))

    def test_wins_over_whatever_else_is_wrong_behind_it(self, run: Run) -> None:
        assert stdout(run, "cosine", "-h", "--nothing").startswith("Usage: attncalc cosine a b")

    def test_names_every_command_beside_what_it_does_on_the_narrowest_page(self, run: Run) -> None:
        page = stdout(run, "--help", env={"COLUMNS": "40"})
        assert max(map(len, page.splitlines())) <= 40
        assert re.findall(r"^  ([a-z0-9][a-z0-9-]*) {2,}\S", page, re.MULTILINE) == [*TABLE, *WHOLE, *VERBS]

    @pytest.mark.thorough
    def test_is_spelled_in_ascii_where_it_must_be(self, run: Run) -> None:
        page = stdout(run, "attention", "-h", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
        assert page.isascii()
        assert "1/sqrt(d_k)" in page
        assert "\\u" not in page

    def test_loads_nothing_that_only_calculating_needs(self, run: Run) -> None:
        done = run("--help", env={"PYTHONPROFILEIMPORTTIME": "1"})
        loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
        assert "typer" in loaded
        assert not loaded & {"numpy", "sympy", "rich", "attncalc.declare.calculation"}


@pytest.mark.parametrize("name", ["attention", "cosine", "optimizer", "rope"])
@pytest.mark.parametrize("derivative", ["", "grad"])
class TestACommandForItsWords:
    """A command is made with no more options than its words name, unless it cannot be sure which these are."""

    @pytest.mark.thorough
    def test_has_the_options_that_are_named_and_no_others(self, name: str, derivative: str) -> None:
        told = operator.attrgetter("name", "opts", "secondary_opts", "is_flag", "multiple", "metavar", "help")
        operands, *options = command_of(name, carry_out, derivative).params
        for option in options:
            for spelling in () if option.is_eager else (*option.opts, *option.secondary_opts):
                first, made = command_of(name, carry_out, derivative, ["1,2", spelling]).params
                assert (first.name, told(made)) == (operands.name, told(option))

    @pytest.mark.thorough
    @pytest.mark.parametrize("word", ["--help", "-h", "--no-such", "-1", "-qd3", "--"])
    def test_has_all_of_them_where_a_word_may_be_anything(self, name: str, derivative: str, word: str) -> None:
        whole = [each.name for each in command_of(name, carry_out, derivative).params]
        assert [
            each.name for each in command_of(name, carry_out, derivative, ["1,2", word, "-f", "json"]).params
        ] == whole


def test_the_version_is_that_of_the_installed_package(run: Run) -> None:
    assert re.fullmatch(r"attncalc (\d+\.\d+\.\d+(rc\d+)?|, not installed.*)\n", stdout(run, "--version"))


class TestList:
    def test_as_a_table_stands_under_headings(self, run: Run) -> None:
        lines = stdout(run, "list").splitlines()
        assert [line for line in lines if line and line[0] != " "] == list(dict.fromkeys(FAMILIES.values()))
        assert len([line for line in lines if line[:1] == " "]) == len(TABLE)

    @pytest.mark.thorough
    @pytest.mark.parametrize("width", [40, 60, 80, 100])
    @pytest.mark.parametrize("verb", ["list", "sample"])
    def test_keeps_to_the_width(self, run: Run, verb: str, width: int) -> None:
        wide, narrow = (run(verb, env={"COLUMNS": str(columns)}).stdout for columns in (1000, width))
        assert max(map(len, narrow.splitlines())) <= width
        assert "".join(narrow.split()) == "".join(wide.split())  # nothing is lost, words may be parted at a hyphen

    def test_plainly_is_a_name_and_a_line_each(self, run: Run) -> None:
        rows = [line.split("\t") for line in stdout(run, "list", "-f", "plain").splitlines()]
        assert rows == [[name, line] for name, (_, line) in TABLE.items()]

    def test_as_json_is_for_programs(self, run: Run) -> None:
        rows = json.loads(stdout(run, "list", "-f", "json"))
        assert [row["name"] for row in rows] == list(TABLE)
        assert {row["family"] for row in rows} == {FAMILIES[module] for module, _ in TABLE.values()}

    def test_goes_to_a_file_in_the_format_of_its_suffix(self, run: Run, tmp_path: Path) -> None:
        assert stdout(run, "list", "-o", "list.json") == ""
        assert len(json.loads((tmp_path / "list.json").read_text())) == len(TABLE)


class TestSample:
    def test_lists_every_sample(self, run: Run, samples: Path) -> None:
        rows = json.loads(stdout(run, "sample", "-f", "json"))
        assert {row["name"] for row in rows} == {path.name for path in samples.iterdir()} - {"README.md"}
        assert all(row["summary"] for row in rows)

    def test_writes_one_exactly(self, run: Run, samples: Path) -> None:
        assert stdout(run, "sample", "attention.json") == (samples / "attention.json").read_text(encoding="utf-8")

    def test_needs_no_suffix(self, run: Run, samples: Path, tmp_path: Path) -> None:
        assert stdout(run, "sample", "words", "-o", "mine.anything") == ""
        assert (tmp_path / "mine.anything").read_bytes() == (samples / "words.csv").read_bytes()

    def test_can_be_piped_into_its_calculation(self, run: Run) -> None:
        problem = stdout(run, "sample", "cosine")
        assert stdout(run, "cosine", "-", "-q", input=problem) == "0.9785\n"


@pytest.fixture
def problem(samples: Path) -> Path:
    """Attention over three tokens, with labels."""
    return samples / "attention-three-tokens.json"


OUTPUT = [[3.0, 4.0], [3.4067, 4.4067], [3.5105, 4.5105]]


Q, V = "[[1,0],[0,1],[1,1]]", "1 2; 3 4; 5 6"
WAYS = {
    "by position": [Q, Q, V],
    "by name": ["--q", Q, "--v", V, "--k", Q],
    "by name with an equals sign": [f"--q={Q}", f"--k={Q}", f"--v={V}"],
    "one by name": ["--k", Q, Q, V],
    "behind options": ["-f", "json", "-q", "--", Q, Q, V],
}
BELOW_ZERO = {
    "first": (["cosine", "-1,2", "3,4"], "0.4472\n"),
    "both": (["cosine", "-1,2", "-3,-4"], "-0.4472\n"),
    "by name": (["cosine", "--a", "-1,2", "--b=-3,-4"], "-0.4472\n"),
    "a matrix": (["matmul", "-1 0; 0 -1", "-1 2; 3 4", "-f", "plain"], "1 -2\n-3 -4\n"),
    "infinity": (["softmax", "-inf,0", "-f", "plain"], "0 1\n"),
    "an option's value": (["softmax", "1,1", "--axis", "-1", "-f", "plain"], "0.5 0.5\n"),
}


class TestOperands:
    """However the operands are given, the result is the same."""

    @pytest.mark.thorough
    @pytest.mark.parametrize("words", WAYS.values(), ids=WAYS)
    def test_however_they_are_given(self, run: Run, words: Sequence[str]) -> None:
        result = json.loads(stdout(run, "attention", "-d", "4", *([] if "-f" in words else ["-qf", "json"]), *words))
        assert result == OUTPUT

    def test_that_are_weights_may_stand_in_one_file(self, run: Run, samples: Path, tmp_path: Path) -> None:
        problem = json.loads((samples / "qkv.json").read_text())
        tokens = problem["inputs"].pop("x")
        (tmp_path / "weights.json").write_text(json.dumps(problem["inputs"]))
        words = ["qkv", json.dumps(tokens), "--weights", "weights.json", "-qf", "json"]
        assert stdout(run, *words) == stdout(run, "qkv", samples / "qkv.json", "-qf", "json")

    @pytest.mark.thorough
    @pytest.mark.parametrize(("words", "expected"), BELOW_ZERO.values(), ids=BELOW_ZERO)
    def test_that_begin_with_a_minus_need_no_escape(self, run: Run, words: Sequence[str], expected: str) -> None:
        assert stdout(run, *words, "-q") == expected


class TestOptions:
    """Each common option does what its help says."""

    def test_quiet_is_the_result_alone(self, run: Run) -> None:
        assert stdout(run, "cosine", "0.8,0.2,0.1", "0.7,0.3,0.2", "-q") == "0.9785\n"

    def test_get_is_one_step_alone(self, run: Run, problem: Path) -> None:
        weights = json.loads(stdout(run, "attention", problem, "--get", "weights", "-f", "json", "-d", "4"))
        assert weights[0] == [0.4011, 0.1978, 0.4011]

    @pytest.mark.parametrize("words", [["--show", "scores,output"], ["--show", "scores", "--show", "output"]])
    def test_show_is_these_steps_alone(self, run: Run, problem: Path, words: Sequence[str]) -> None:
        document = json.loads(stdout(run, "attention", problem, *words, "-f", "json"))
        assert [step["name"] for step in document["steps"]] == ["scores", "output"]

    @pytest.mark.parametrize(("digits", "expected"), [("0", "1\n"), ("2", "0.98\n"), ("6", "0.978497\n")])
    def test_digits_are_decimals(self, run: Run, digits: str, expected: str) -> None:
        assert stdout(run, "cosine", "0.8,0.2,0.1", "0.7,0.3,0.2", "-q", "-d", digits) == expected

    def test_all_shows_every_row(self, run: Run) -> None:
        vector = ",".join(map(str, range(300)))
        heads = [stdout(run, "softmax", vector, "-q", *more).partition("\n")[0] for more in ([], ["--all"])]
        assert heads[0].split()[2:] == [*map(str, range(37)), "…", "299"]
        assert heads[1].split()[2:] == [*map(str, range(300))]

    def test_round_works_as_on_paper(self, run: Run) -> None:
        words = ["cosine", "1,2", "3,4", "--round", "1", "--get", "norm_product", "-f", "plain"]
        assert stdout(run, *words) == "11\n"  # 2.2 × 5

    def test_dtype_is_the_type_of_the_arithmetic(self, run: Run, tmp_path: Path) -> None:
        stdout(run, "softmax", "1,2", "--dtype", "float32", "-o", "x.npy")
        assert np.load(tmp_path / "x.npy").dtype == np.float32

    @pytest.mark.parametrize(
        ("more", "colored"),
        [
            ([], False),
            (["--color", "always"], True),
            (["--color", "never"], False),
        ],
        ids=["in a pipe", "always", "never"],
    )
    def test_color(self, run: Run, more: Sequence[str], colored: bool) -> None:
        assert ("\x1b[" in stdout(run, "cosine", "1,2", "3,4", *more)) is colored

    def test_data_makes_row_labels_operands(self, run: Run, samples: Path) -> None:
        assert stdout(run, "cosine", "cat", "dog", "--data", samples / "words.csv", "-q") == "0.9785\n"

    def test_transpose_turns_an_operand_round(self, run: Run) -> None:
        straight = stdout(run, "matmul", "1 2; 3 4", "5 6; 7 8", "-qf", "plain")
        assert stdout(run, "matmul", "1 3; 2 4", "5 6; 7 8", "--transpose", "a", "-qf", "plain") == straight

    def test_delimiter_and_decimal_say_how_csv_is_written(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "x.csv").write_text("1,5;2,5\n")
        words = ["norm", "x.csv", "--delimiter", ";", "--decimal", ",", "-qf", "plain"]
        assert float(stdout(run, *words)) == pytest.approx(8.5**0.5)

    def test_header_and_labels_overrule_the_content(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "x.csv").write_text("1,2\n3,4\n")
        words = ["softmax", "x.csv", "--header", "--labels", "-f", "json"]
        document = json.loads(run(*words).stdout)
        assert (document["inputs"]["x"], document["labels"]) == ([4.0], {"x": {"n": ["2"]}})

    def test_a_switch_can_overrule_a_file(self, run: Run, samples: Path) -> None:
        causal = samples / "attention-causal.json"
        done = run("attention", causal, "--no-causal", "-qf", "json", "-d", "4")
        assert (json.loads(done.stdout), done.stderr) == (
            OUTPUT,
            f"note: causal of {causal} is overruled by --causal\n",
        )

    def test_scalars_may_be_formulas(self, run: Run, problem: Path) -> None:
        default = stdout(run, "attention", problem, "-qf", "json")
        assert stdout(run, "attention", problem, "--scale", "1/sqrt(2)", "-qd10", "-f", "json") == stdout(
            run, "attention", problem, "-qd10", "-f", "json"
        )
        assert stdout(run, "attention", problem, "--scale", "none", "-qf", "json") != default


class TestFiles:
    """`-o` writes in the format of the suffix, unless `-f` says otherwise."""

    @pytest.mark.thorough
    @pytest.mark.parametrize(
        ("name", "more", "start"),
        [
            ("x.json", [], b'{"attncalc": 1,'),
            ("x.JSON", [], b'{"attncalc": 1,'),
            ("x.csv", [], b"0.98"),
            ("x.npy", [], b"\x93NUMPY"),
            ("x.npz", [], b"PK"),
            ("x.txt", [], b"cosine\n"),
            ("x.markdown", [], b"# cosine"),
            ("x.latex", [], b"% cosine"),
            ("x.HTM", [], b"<!DOCTYPE html>"),
            ("x.csv", ["-f", "json"], b'{"attncalc": 1,'),
            ("x.npy", ["-f", "npz"], b"PK"),
            ("x.anything", ["-f", "plain", "-q"], b"0.98"),
        ],
        ids=lambda value: value if isinstance(value, str) else None,
    )
    def test_have_their_format(self, run: Run, tmp_path: Path, name: str, more: Sequence[str], start: bytes) -> None:
        assert stdout(run, "cosine", "1,2", "3,4", "-o", name, *more) == ""
        assert (tmp_path / name).read_bytes().startswith(start)

    @pytest.mark.thorough
    def test_have_no_colour_and_every_sign(self, run: Run, tmp_path: Path) -> None:
        environment = {"FORCE_COLOR": "1", "PYTHONIOENCODING": "ascii", "COLUMNS": "40"}
        stdout(run, "attention", "1 2", "3 4", "5 6", "-o", "x.txt", env=environment)
        text = (tmp_path / "x.txt").read_text(encoding="utf-8")
        assert "\x1b" not in text
        assert "Q·Kᵀ" in text

    def test_a_hyphen_is_standard_output(self, run: Run) -> None:
        assert stdout(run, "cosine", "1,2", "3,4", "-q", "-o", "-") == "0.9839\n"

    @pytest.mark.thorough
    @pytest.mark.parametrize("form", ["npy", "npz"])
    def test_bytes_go_into_a_pipe(self, attncalc_command: list[str], form: str) -> None:
        done = subprocess.run([*attncalc_command, "cosine", "1,2", "3,4", "-f", form], capture_output=True, check=True)
        assert done.stdout[:2] in (b"\x93N", b"PK")


class TestGrad:
    def test_is_the_backward_pass(self, run: Run) -> None:
        words = ["grad", "softmax", "1,2,3", "--upstream", "1,0,0", "-qf", "json", "-d", "4"]
        assert json.loads(stdout(run, *words)) == [0.0819, -0.022, -0.0599]

    def test_wrt_chooses_the_gradients(self, run: Run, problem: Path) -> None:
        words: list[str | Path] = ["grad", "attention", problem, "--upstream", "1 0; 0 1; 1 1", "--wrt", "v,q"]
        document = json.loads(stdout(run, *words, "-f", "json"))
        assert list(document["outputs"]) == ["grad_v", "grad_q"]
        assert document["calculation"] == "grad attention"

    def test_gradcheck_puts_central_differences_beside(self, run: Run) -> None:
        words = ["grad", "dot", "1,2", "3,4", "--gradcheck", "-f", "json"]
        checks = [step["check"] for step in json.loads(stdout(run, *words))["steps"] if "check" in step]
        assert checks
        assert all(check["agrees"] for check in checks)


SAVED = {
    "a calculation": ["cosine", "1,2", "3,4", "--distance"],
    "a backward pass": ["grad", "dot", "1,2", "3,4", "--upstream", "2"],
    "a backward pass of one operand, compared": ["grad", "dot", "1,2", "3,4", "--wrt", "b", "--gradcheck"],
    "a Jacobian of one operand": ["jacobian", "dot", "1,2", "3,4", "--wrt", "b"],
}


class TestRun:
    @pytest.mark.thorough
    @pytest.mark.parametrize("words", SAVED.values(), ids=SAVED)
    def test_evaluates_a_saved_result_again(self, run: Run, tmp_path: Path, words: Sequence[str]) -> None:
        stdout(run, *words, "-o", "saved.json")
        assert stdout(run, "run", "saved.json", "-f", "json") == (tmp_path / "saved.json").read_text(encoding="utf-8")

    def test_marks_an_answer_by_the_gradient_that_was_asked_for(self, run: Run) -> None:
        stdout(run, "grad", "dot", "1,2", "3,4", "--wrt", "b", "-o", "saved.json")
        assert stdout(run, "check", "1,2", "saved.json", "-f", "plain").endswith("right: 2 of 2 marks\n")

    @pytest.mark.parametrize(("words", "gradient"), [([], "1,2"), (["--wrt", "a"], "3,4")])
    def test_a_call_of_its_own_wins(self, run: Run, words: Sequence[str], gradient: str) -> None:
        stdout(run, "grad", "dot", "1,2", "3,4", "--wrt", "b", "-o", "saved.json")
        assert stdout(run, "grad", "dot", "saved.json", *words, "-f", "csv") == gradient + "\n"

    def test_reads_standard_input(self, run: Run, problem: Path) -> None:
        assert stdout(run, "run", "-", "-qd1", "-f", "plain", input=problem.read_text()).splitlines()[0] == "3.0 4.0"

    def test_takes_any_output_option(self, run: Run, problem: Path) -> None:
        assert (
            stdout(run, "run", problem, "--get", "weights", "-d", "2", "-f", "csv").splitlines()[0] == "0.40,0.20,0.40"
        )

    @pytest.mark.thorough
    @pytest.mark.parametrize(("answer", "status"), [("11", 0), ("12", 1), ("saved.json", 0)])
    def test_checks_an_answer_as_check_does(self, run: Run, answer: str, status: int) -> None:
        stdout(run, "dot", "1,2", "3,4", "-o", "saved.json")
        done = run("run", "saved.json", "--check", answer)
        same = run("check", answer, "saved.json")
        assert (done.returncode, done.stdout, done.stderr) == (status, same.stdout, "")


MISREAD = {
    "-q for --q": (["attention", "-q", "1 2", "3 4", "5 6"], "note: -q is read as --quiet; for q write --q\n"),
    "-q where --q is given": (["attention", "-q", "3 4", "5 6", "--q", "1 2"], ""),
    "-q at the end": (["attention", "1 2", "3 4", "5 6", "-q"], ""),
    "-q where there is no q": (["cosine", "-q", "1,2", "3,4"], ""),
}


STACKED = {
    "the result": (["-f", "csv"], "softmax"),
    "the result in a file": (["-q", "-o", "x.csv"], "softmax"),
    "one step": (["-f", "csv", "--get", "shifted"], "shifted"),
    "a step that is a matrix": (["-f", "csv", "--get", "sum"], ""),
    "two steps": (["-f", "csv", "--show", "shifted,softmax"], "shifted, softmax"),
    "a sheet": (["-f", "csv", "--all", "--expand"], "shifted, exponentials, softmax"),
    "another format": (["-f", "plain", "-q"], ""),
}


class TestNotes:
    """What the caller should know goes to standard error, and the result stays what it is."""

    def test_of_the_reading_and_of_the_calculation(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "x.json").write_text("[[1,0],[0,1]]")
        done = run("attention", "x.json", "-qf", "json", "-d", "1")
        assert (done.returncode, json.loads(done.stdout)) == (0, [[0.7, 0.3], [0.3, 0.7]])
        assert done.stderr == "note: only q was given, as one matrix: keys = queries and values = keys\n"

    @pytest.mark.thorough
    @pytest.mark.parametrize(("words", "named"), STACKED.values(), ids=STACKED)
    def test_of_a_stack_that_a_table_gives_back_as_one(self, run: Run, words: Sequence[str], named: str) -> None:
        done = run("softmax", "[[[1,2],[3,4]],[[5,6],[7,8]]]", *words)
        note = f"note: a stack in CSV ({named}) is read again as one table: -f json or npy keeps the matrices apart\n"
        assert (done.returncode, done.stderr) == (0, note if named else "")

    @pytest.mark.thorough
    @pytest.mark.parametrize(("words", "note"), MISREAD.values(), ids=MISREAD)
    def test_of_a_short_option_that_may_have_meant_an_operand(self, run: Run, words: Sequence[str], note: str) -> None:
        done = run(*words)
        assert (done.returncode, done.stderr) == (0, note)
        assert len(done.stdout.splitlines()) <= 4  # quiet it was
