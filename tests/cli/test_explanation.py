"""`explain CALCULATION`, and `--explain` on every calculation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Run

from attncalc.common.errors import either
from attncalc.render import pages_and

TWO = ("attention", "[[1,0,1],[0,1,1]]", "[[1,1,0],[1,0,1]]", "[[2,0,1],[1,1,0]]")


class TestExplain:
    def test_shows_the_card(self, run: Run) -> None:
        done = run("explain", "softmax")
        assert (done.returncode, done.stderr) == (0, "")
        headings = [line for line in done.stdout.splitlines() if line and not line.startswith(" ")]
        assert headings[0] == "softmax"
        wanted = [
            "Formula",
            "Operands",
            "Steps",
            "Options",
            "What always holds",
            "Cost",
            "Gradient",
            "Sources",
            "Example",
        ]
        assert [heading for heading in headings if heading in wanted] == wanted

    @pytest.mark.parametrize("name", ["log-softmax", "log_softmax"])
    def test_takes_a_name_as_the_library_spells_it_too(self, run: Run, name: str) -> None:
        assert run("explain", name).stdout.startswith("log-softmax\n")

    @pytest.mark.parametrize("words", [["grad attention"], ["grad", "attention"]], ids=" + ".join)
    def test_takes_the_derivative_of_a_calculation_in_one_word_or_in_two(self, run: Run, words: list[str]) -> None:
        done = run("explain", *words)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("grad attention\nThe backward pass of attention. ")
        assert "  11. grad_q = ∂L/∂Q = ∂L/∂scores·K → [n, d_k]\n" in done.stdout
        assert "  attncalc sample attention | attncalc grad attention -\n" in done.stdout

    def test_its_example_runs(self, run: Run) -> None:
        card = run("explain", "cosine").stdout
        assert "attncalc sample cosine | attncalc run -" in card
        sample = run("sample", "cosine").stdout
        assert run("run", "-", "-q", "-f", "plain", input=sample).stdout.startswith("0.978")

    @pytest.mark.thorough
    @pytest.mark.parametrize(("name", "upstream"), [("softmax", "1 0 0"), ("unembed", "1 0 0 0")])
    def test_the_example_of_a_derivative_runs_too(self, run: Run, name: str, upstream: str) -> None:
        card = run("explain", "grad", name).stdout
        assert f'attncalc sample {name} | attncalc grad {name} - --upstream "{upstream}"' in card
        slopes = run("grad", name, "-", "--upstream", upstream, "-q", input=run("sample", name).stdout).stdout
        assert slopes.splitlines()[-1] in card

    def test_writes_a_file_in_the_format_of_its_suffix(self, run: Run, tmp_path: Path) -> None:
        assert run("explain", "attention", "-o", "card.md").stdout == ""
        assert (tmp_path / "card.md").read_text(encoding="utf-8").startswith("# attention\n")
        run("explain", "attention", "-o", "card.json")
        assert json.loads((tmp_path / "card.json").read_text(encoding="utf-8"))["card"] == "attention"

    @pytest.mark.thorough
    @pytest.mark.parametrize(
        ("words", "fault", "hint"),
        [
            ([], "explain takes the name of one calculation, but 0 words were given", "attncalc explain attention"),
            (["a", "b"], "explain takes the name of one calculation, but 2 words were given", "attncalc explain"),
            (["atention"], 'there is no calculation called "atention"', "did you mean attention"),
            (
                ["grad"],
                "explain grad needs the name of a calculation",
                "attncalc explain grad attention; attncalc list",
            ),
            (["grad", "atention"], 'there is no calculation called "atention"', "did you mean attention"),
            (["grad mips"], "ranking has no gradient", ""),
            (["check"], 'explain is for calculations, and "check" is none', "attncalc check --help explains it"),
            ([""], "explain takes the name of one calculation, but 0 words were given", "attncalc explain attention"),
            (
                ["temperature"],
                'no calculation called "temperature"',
                "softmax, contrastive-loss and sampling tell of it",
            ),
            (["warmup"], 'no calculation called "warmup"', "schedule tells of it: attncalc explain schedule"),
            (["causal mask"], "but 2 words were given", "tell of it: attncalc explain attention"),
            (["softmax gradient"], "but 2 words were given", "did you mean attncalc explain grad softmax?"),
            (["gradient", "of", "softmax"], "but 3 words were given", "did you mean attncalc explain grad softmax?"),
            (["layer", "norm"], "but 2 words were given", "did you mean layernorm?"),
            (["backprop"], 'no calculation called "backprop"', "did you mean attncalc explain grad attention?"),
            (["here.json"], '"here.json" is a file, not a calculation', "attncalc run here.json --explain explains"),
            (["zzz"], 'there is no calculation called "zzz"', "attncalc list names them all"),
            (["att-no-scale"], '"att-no-scale" is a mistake, not a calculation', "attncalc mistakes att-no-scale"),
            (["softmax", "-f", "csv"], f"--format takes {either(pages_and('json'))}", ""),
        ],
    )
    def test_what_cannot_be_explained_is_one_line(
        self, run: Run, tmp_path: Path, words: list[str], fault: str, hint: str
    ) -> None:
        (tmp_path / "here.json").write_text("[1]")
        done = run("explain", *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert fault in done.stderr
        assert hint in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [["grad", "attention"], ["grad attention"]], ids=["two words", "one"])
def test_mistakes_of_a_backward_pass_are_those_of_its_own_steps(run: Run, words: list[str]) -> None:
    done = run("mistakes", *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert "datt-no-scale" in done.stdout
    assert " att-no-scale" not in done.stdout


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "fault", "hint"),
    [
        (
            ["mistakes", "jacobian", "softmax"],
            "no mistake is known that is jacobian softmax's own",
            "those of softmax carry on into it: attncalc mistakes softmax",
        ),
        (
            ["mistakes", "grad", "att-no-scale"],
            'there is no calculation called "att-no-scale"',
            "attncalc list names them all",
        ),
        (["mistakes", "grad", "mips"], "a ranking jumps", ""),
        (
            ["explain", "grad", "gradient"],
            "it takes a formula, and no array of numbers",
            "derivative and gradient differentiate the formula, by its own variables",
        ),
        (["explain", "jacobian", "alibi"], "it takes no array of numbers", "attncalc explain alibi explains"),
        (["grad", "t5-bias", "--n", "2", "--m", "2"], "nothing that could have a gradient", "with respect to table"),
    ],
)
def test_where_there_is_nothing_to_tell_of_a_derivative(run: Run, words: list[str], fault: str, hint: str) -> None:
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert fault in done.stderr
    assert hint in done.stderr


class TestExplainedSteps:
    def test_a_page_adds_what_a_teacher_would(self, run: Run) -> None:
        bare, explained = run(*TWO).stdout, run(*TWO, "--explain").stdout
        assert "Read along a row" in explained
        for heading in ("Worth knowing", "What always holds", "Common mistakes"):
            assert f"\n{heading}\n" in explained
            assert heading not in bare
        assert set(bare.splitlines()) - set(explained.splitlines()) <= {
            line for line in bare.splitlines() if "━" in line
        }

    @pytest.mark.thorough
    @pytest.mark.parametrize("format", ["plain", "markdown", "latex", "html"])
    def test_so_does_every_written_format(self, run: Run, format: str) -> None:
        told = run(*TWO, "--explain", "-f", format).stdout
        assert "Read along a row" in told
        assert "Worth knowing" in told
        assert "att-no-scale" in told.replace("\\", "")

    def test_a_document_carries_it_as_data_and_is_read_again(self, run: Run) -> None:
        text = run(*TWO, "--explain", "-f", "json").stdout
        told = json.loads(text)
        assert told["steps"][0]["about"][0].startswith("Row i belongs to query i")
        assert told["lesson"].keys() == {"about", "laws", "mistakes"}
        assert told["lesson"]["mistakes"][0].keys() == {"id", "says", "hint", "at"}
        assert run("run", "-", "-q", input=text).stdout == run(*TWO, "-q").stdout

    def test_a_value_alone_stays_alone(self, run: Run) -> None:
        assert run(*TWO, "--explain", "-q").stdout == run(*TWO, "-q").stdout

    def test_a_backward_pass_and_a_saved_problem_are_explained_too(self, run: Run, samples: Path) -> None:
        assert "Worth knowing" in run("grad", *TWO, "--explain").stdout
        assert "Worth knowing" in run("run", samples / "cosine.json", "--explain").stdout
