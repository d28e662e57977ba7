"""How the program ends: its exit statuses, signals, pipes and disks, and what it says then."""

from __future__ import annotations

import io
import os
import select
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

import pytest

from attncalc.cli import app, output

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals, shells and devices of POSIX")

Run = Callable[..., subprocess.CompletedProcess[str]]  # the fixture's

COSINE = ["cosine", "1,2", "3,4"]
PAGES = {
    "a calculation": COSINE,
    "help": ["--help"],
    "the version": ["--version"],
    "a list": ["list"],
    "a script for a shell": ["--show-completion", "bash"],
}

BUG = """
import sys
from attncalc.cli import Commands
def build(self, name, words):
    raise {error}
Commands.build = build
from attncalc.__main__ import main
main()
"""


def run_with_bug(error: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A call in which building the command fails."""
    return subprocess.run(
        [sys.executable, "-c", BUG.format(error=error), *COSINE],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


class TestBug:
    def test_is_told_from_a_wrong_answer_and_from_a_fault_of_the_caller(self) -> None:
        done = run_with_bug("KeyError('scores')")
        assert (done.returncode, done.stdout) == (70, "")
        assert done.stderr == (
            "Error: this is a bug in attncalc, not in your call: KeyError: 'scores'\n"
            "hint: please report it with the call, and the traceback that ATTNCALC_DEBUG=1 shows\n"
        )

    def test_stays_on_its_line(self) -> None:
        done = run_with_bug(r"ValueError('a\nError: forged \x1b[2J')")
        assert len(done.stderr.splitlines()) == 2
        assert "\x1b" not in done.stderr

    def test_shows_its_traceback_when_asked(self) -> None:
        done = run_with_bug("KeyError('scores')", ATTNCALC_DEBUG="1")
        assert (done.returncode, done.stdout) == (70, "")
        assert "Traceback (most recent call last)" in done.stderr

    def test_is_not_what_lack_of_memory_is(self) -> None:
        done = run_with_bug("MemoryError")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == "Error: there is not enough memory for this calculation\n"


@posix
class TestStreams:
    @pytest.mark.thorough
    @pytest.mark.parametrize("words", PAGES.values(), ids=PAGES)
    def test_a_full_disk_is_a_fault(self, attncalc_command: list[str], words: Sequence[str]) -> None:
        if not Path("/dev/full").exists():
            pytest.skip("this system has no /dev/full")
        with open("/dev/full", "w") as full:  # noqa: PTH123 — a device, opened to be handed on
            done = subprocess.run(
                [*attncalc_command, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert (done.returncode, done.stderr) == (2, "Error: cannot write the result: no space left on device\n")

    @pytest.mark.thorough
    @pytest.mark.parametrize("words", PAGES.values(), ids=PAGES)
    def test_a_closed_standard_output_is_a_fault(self, attncalc_command: list[str], words: Sequence[str]) -> None:
        done = in_shell('"$@" >&-', attncalc_command, words)
        assert (done.returncode, done.stderr) == (2, "Error: cannot write the result: standard output is closed\n")

    @pytest.mark.thorough
    def test_a_closed_standard_error_hides_only_what_is_said(self, attncalc_command: list[str]) -> None:
        assert in_shell('"$@" 2>&-', attncalc_command, ["cosine"]).returncode == 2
        done = in_shell('"$@" 2>&-', attncalc_command, [*COSINE, "-q"])
        assert (done.returncode, done.stdout) == (0, "0.9839\n")

    @pytest.mark.thorough
    @pytest.mark.parametrize("words", PAGES.values(), ids=PAGES)
    def test_a_closed_pipe_ends_quietly(self, attncalc_command: list[str], words: Sequence[str]) -> None:
        process = subprocess.Popen([*attncalc_command, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout
        assert process.stderr
        process.stdout.close()  # before the program has got as far as writing
        assert (process.stderr.read(), process.wait()) == (b"", 141)
        process.stderr.close()

    @pytest.mark.thorough
    def test_a_pipe_can_be_given_as_a_file(self, attncalc_command: list[str]) -> None:
        done = in_shell('"$@" -qf plain -o >(cat)', attncalc_command, ["dot", "1,2", "3,4"], program="bash")
        assert (done.stdout, done.stderr) == ("11\n", "")

    def test_the_interpreter_has_nothing_to_add(self, attncalc_command: list[str]) -> None:
        done = in_shell('"$@" | true', attncalc_command, ["list"])
        assert (done.returncode, done.stderr) == (0, "")


def in_shell(
    line: str, command: Sequence[str], words: Sequence[str], program: str = "sh"
) -> subprocess.CompletedProcess[str]:
    """The call as `"$@"` within a line of shell."""
    return subprocess.run([program, "-c", line, program, *command, *words], capture_output=True, text=True, check=False)


@pytest.mark.thorough
@posix
@pytest.mark.parametrize(
    ("number", "status"),
    [(2, 130), (15, 143), (1, 129)],  # the signals' numbers everywhere in POSIX; Windows has no name for the last
    ids=["interrupted", "terminated", "hung up"],
)
def test_a_signal_ends_it_without_a_word(attncalc_command: list[str], tmp_path: Path, number: int, status: int) -> None:
    call = [*attncalc_command, "cosine", "-", "1,2", "-o", str(tmp_path / "x.json")]  # waits for standard input
    with subprocess.Popen(call, stdin=-1, stdout=-1, stderr=-1) as process:
        assert process.stdin
        wait_until_reading(process.stdin)
        process.send_signal(number)
        assert (process.communicate(), process.returncode) == ((b"", b""), status)
    assert not list(tmp_path.iterdir())


LOADING = """
import sys
class Interruption:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interruption())
from attncalc.__main__ import main
main()
"""


@pytest.mark.thorough
@pytest.mark.parametrize(
    "module",
    ["signal", "typing", "numpy", "typer", "attncalc.cli", "attncalc.common.errors", "attncalc.calculations.vectors"],
)
def test_an_interruption_while_it_loads_is_quiet_too(module: str) -> None:
    call = [sys.executable, "-S", "-c", LOADING.format(module=module), *COSINE]
    folders = os.pathsep.join(filter(None, sys.path))  # found without `site`, which loads some of these beforehand
    done = subprocess.run(call, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": folders}, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 130)


IMPATIENT = """
import os, signal, sys
end = os._exit
os._exit = lambda status: (press(), end(status))
from attncalc.cli import Commands
def press(): os.kill(os.getpid(), signal.SIGINT)
def build(self, name, words):
    try:
        press()
        print("went on")
    finally:
        press()
        print("cleaned up")
Commands.build = build
from attncalc.__main__ import main
main()
"""


@posix
def test_whoever_interrupts_it_again_disturbs_neither_its_cleaning_up_nor_its_end() -> None:
    call = [sys.executable, "-c", IMPATIENT, *COSINE]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("cleaned up\n", "", 130)


@pytest.mark.thorough
@posix
def test_an_interruption_after_the_result_changes_nothing() -> None:
    late = "import os\nend = os._exit\nos._exit = lambda status: (os.kill(os.getpid(), 2), end(status))\n"
    call = [sys.executable, "-c", late + "from attncalc.__main__ import main\nmain()", *COSINE, "-q"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("0.9839\n", "", 0)


def wait_until_reading(standard_input: IO[bytes]) -> None:
    """Until the program has begun to empty its pipe, which is filled to the brim with blanks before that."""
    pipe = standard_input.fileno()
    os.set_blocking(pipe, False)
    with suppress(BlockingIOError):
        while os.write(pipe, b" " * 4096):
            pass
    _, begun, _ = select.select([], [pipe], [], 60)
    assert begun, "the program never waited for its input"


class TestNotes:
    """What is noted stands behind the result, and never before a fault."""

    def test_a_fault_stands_alone(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "1,2").write_text("[5]")  # a literal wins over a file of its name, which is noted
        assert app(["norm", "1,2", "-q"], standalone_mode=False) == 0
        assert capsys.readouterr().err.startswith("note: ")
        assert app(["norm", "1,2", "--get", "nothing"], standalone_mode=False) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert [line.partition(": ")[0] for line in said.err.splitlines()] == ["Error", "hint"]

    def test_what_may_have_been_misread_is_the_hint_of_a_fault_that_has_none(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert app(["kl", "-q", "0.5,0.5"], standalone_mode=False) == 2
        assert capsys.readouterr().err == (
            "Error: kl needs p and q, but q is missing\nhint: -q is read as --quiet; for q write --q\n"
        )


class TestOverwriting:
    """What the call reads, and what was not named, stays as it is."""

    def test_an_input_is_refused(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "a.json").write_text("[[1,2],[3,4]]")
        done = run("matmul", "a.json", "a.json", "-o", "a.json")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == "Error: cannot write a.json: the calculation reads it\nhint: choose another name\n"
        assert (tmp_path / "a.json").read_text() == "[[1,2],[3,4]]"

    @pytest.mark.parametrize(
        "words",
        [["cosine", "1,2", "0,0"], ["cosine", "1,2"], ["cosine", "1,2", "3,4", "--get", "nothing"]],
        ids=["a value", "a missing operand", "a missing step"],
    )
    def test_a_fault_leaves_the_old_file(self, run: Run, tmp_path: Path, words: Sequence[str]) -> None:
        (tmp_path / "old.json").write_text("old")
        assert run(*words, "-o", "old.json").returncode == 2
        assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("old.json", "old")]


@pytest.mark.parametrize(
    ("form", "status", "printed", "said"),
    [
        ("plain", 0, "11\n", ""),
        ("npy", 2, "", "Error: cannot write the result: standard output takes text alone\nhint: -o FILE\n"),
    ],
)
def test_a_program_may_collect_what_is_printed(
    form: str, status: int, printed: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    streams = [io.StringIO(), io.StringIO()]
    for name, stream in zip(("stdout", "stderr"), streams, strict=True):
        monkeypatch.setattr(sys, name, stream)
    output.prepare_streams()
    assert app(["dot", "1,2", "3,4", "-q", "-f", form], standalone_mode=False) == status
    assert [stream.getvalue() for stream in streams] == [printed, said]
