"""What a shell completes: commands, options, their values, names of calculations and samples, ids of mistakes."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from conftest import Run

from attncalc.common.system import samples_folder

SHELLS = ("bash", "zsh", "fish")

LINES = [
    ("attncalc soft", {"softmax"}),
    ("attncalc grad atten", {"attention"}),
    ("attncalc explain co", {"concentration", "contrastive-loss", "conv", "cosine", "complexity"}),
    ("attncalc explain gra", {"grad", "gradient"}),
    ("attncalc explain grad atten", {"attention"}),
    ("attncalc softmax --te", {"--temperature"}),
    ("attncalc attention --scale d", {"default"}),
    ("attncalc attention --color a", {"always", "auto"}),
    ("attncalc mistakes att-no", {"att-no-scale", "att-no-softmax"}),
    ("attncalc mistakes softm", {"softmax"}),
    ("attncalc sample attention-two", {"attention-two-tokens.json", "attention-two-tokens-backward.json"}),
    ("attncalc softmax zz", set[str]()),
    ("attncalc attention q.json --show sc", {"scores", "scaled"}),
    ("attncalc attention --show scores,we", {"scores,weights"}),
    ("attncalc attention --causal --get mas", {"masked"}),
    ("attncalc attention --get sc", {"scores", "scaled"}),
    ("attncalc attention --cell wei", {"weights[0,0]"}),
    ("attncalc attention --cell weights[1,", {"weights[1,0]", "weights[1,1]", "weights[1,2]"}),
    (f"attncalc run {samples_folder() / 'attention-two-tokens.json'} --show sca", {"scaled"}),
    ("attncalc grad attention --get grad_s", {"grad_scores", "grad_scaled"}),
    ("attncalc grad attention --wrt q,", {"q,k", "q,v"}),
    ("attncalc jacobian softmax --wrt x", {"x"}),
    ("attncalc attention --show zz", set[str]()),
    ("attncalc run no-such-file.json --show sc", set[str]()),
    ("attncalc model --show sc", set[str]()),
]


def completed(run: Run, line: str, shell: str = "bash") -> str:
    words = shlex.split(line)
    asked = {"_ATTNCALC_COMPLETE": f"complete_{shell}", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    asked |= {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    return run(env=asked).stdout


@pytest.mark.thorough
@pytest.mark.parametrize(("line", "words"), LINES, ids=[line for line, _ in LINES])
def test_a_word_is_completed(run: Run, line: str, words: set[str]) -> None:
    assert set(completed(run, line).split()) == words


@pytest.mark.thorough
@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_is_answered(run: Run, shell: str) -> None:
    assert "softmax" in completed(run, "attncalc softm", shell)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_for_a_shell_is_written(run: Run, shell: str) -> None:
    done = run("--show-completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"complete_{shell}" in done.stdout


FAULTS = [
    (["tcsh"], 'there is no completion for "tcsh"'),
    (["bash", "zsh"], "--show-completion takes the name of one shell, but 2 words were given"),
]


@pytest.mark.parametrize(("words", "fault"), FAULTS, ids=[" ".join(words) for words, _ in FAULTS])
def test_another_shell_is_refused_in_a_line(run: Run, words: list[str], fault: str) -> None:
    done = run("--show-completion", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"Error: {fault}\nhint: attncalc --show-completion followed by bash, zsh, fish, powershell or pwsh\n"
    )


def test_a_completion_is_installed_for_the_shell_that_is_named(run: Run, tmp_path: Path) -> None:
    done = run("--install-completion", "fish", env={"HOME": str(tmp_path)})
    assert (done.returncode, done.stderr) == (0, "")
    assert "complete_fish" in (tmp_path / ".config/fish/completions/attncalc.fish").read_text()
