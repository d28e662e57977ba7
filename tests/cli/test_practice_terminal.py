"""Practice in a terminal: what a student types, key by key, and what stands on the screen."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import PASSED_ON, Run
from homework.test_practice import answer, drawn

from attncalc.cli.practice import TRIED
from attncalc.homework.practice.posed import OPEN, SHOWN, UNAIDED, Posed, Task

pytestmark = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")

TEN = ("cosine", "softmax", "cross-entropy", "kl", "attention", "layernorm", "rmsnorm", "ffn", "mlp", "project")
NAMES = [*TEN, *(f"grad {name}" for name in TEN)]
QUICK = ("attention", "grad softmax")
DECIMALS = 4
PROMPT = "\n> "
ESCAPE = "\x1b["
COLOUR = re.compile(r"\x1b\[[\d;]*m")
CLEARING = re.compile(r"\x1b\[[\d;]*[HJ]|\x1bc")


class Student:
    """Somebody at a terminal."""

    def __init__(self, command: list[str], cwd: Path, columns: int = 80, **env: str) -> None:
        import fcntl
        import termios

        self.screen, its = os.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        own = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        surroundings = {**own, "TERM": "xterm-256color", "LANG": "C.UTF-8", **env}

        def at_it() -> None:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            command,
            stdin=its,
            stdout=its,
            stderr=its,
            cwd=cwd,
            env=surroundings,
            start_new_session=True,
            preexec_fn=at_it,  # noqa: PLW1509  (so that Ctrl-C is a signal; no threads run here)
        )
        os.close(its)
        self.seen = ""

    def reads(self) -> str:
        """What is written until an answer is asked for, or to the end; colours are taken away."""
        found, end = b"", time.monotonic() + 120
        while not found.decode(errors="ignore").replace("\r", "").endswith(PROMPT):
            assert select.select([self.screen], [], [], max(end - time.monotonic(), 0))[0], found.decode()
            try:
                part = os.read(self.screen, 65_536)
            except OSError:  # how Linux says that nobody has the other end any more
                break
            if not part:
                break
            found += part
        text = found.decode().replace("\r", "")
        self.seen += text
        return COLOUR.sub("", text)

    def says(self, line: str) -> str:
        """Type a line, and read what comes back, a line break being as good as a blank."""
        os.write(self.screen, f"{line}\n".encode())
        return " ".join(self.reads().split())

    def presses(self, key: bytes) -> str:
        """Press a key, such as Ctrl-C."""
        os.write(self.screen, key)
        return " ".join(self.reads().split())

    def leaves(self) -> int:
        """The exit status."""
        status = self.process.wait(timeout=60)
        os.close(self.screen)
        return status


Sits = Callable[..., Student]


@pytest.fixture
def sits(attncalc_command: list[str], tmp_path: Path) -> Iterator[Sits]:
    students: list[Student] = []

    def sit(*words: str, columns: int = 80, **env: str) -> Student:
        students.append(Student([*attncalc_command, "practice", *words], tmp_path, columns, **env))
        return students[-1]

    yield sit
    for one in students:
        if one.process.poll() is None:
            os.killpg(one.process.pid, signal.SIGKILL)
            one.process.wait()


def rounded(task: Task, more: float = 0) -> str:
    assert task.step.value is not None
    return json.dumps(np.round(task.step.value.astype(float) + more, DECIMALS).tolist())


def tasks_of(name: str, number: int) -> list[Task]:
    """The tasks of a session's problem, which begins with the seed 1."""
    return Posed(drawn(name, 1 + TRIED * number)).tasks


def states(told: str) -> list[str]:
    """How each step stands, in the order of the list."""
    return re.findall(r"\d+\. \S+(?: \(here\))? (to do|unaided|aided|shown|follows)", told)


@pytest.mark.spread(10)
@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.thorough) for n in NAMES])
def test_right_rounded_wrong_and_abandoned_answers_hints_an_interrupt_and_going_on(sits: Sits, name: str) -> None:
    tasks = tasks_of(name, 0)
    first, second, third, *rest = tasks
    words = (*name.split(), "--seed", "1", "--no-why", "--save", "kept.jsonl")
    ann = sits(*words)
    assert f"Step 1 of {len(tasks)}: {first.name}" in ann.reads()
    assert "counts for nothing" in ann.says("what is that")
    assert "Not right yet" in ann.says(rounded(first, 1))
    assert "Right" in ann.says(rounded(first))
    assert f"Step 2 of {len(tasks)}: {second.name}" in ann.says("next")
    told, hints = "", 0
    while "This step" not in told:
        told, hints = ann.says("hint"), hints + 1
        assert hints < 5
    assert f"Step 3 of {len(tasks)}: {third.name}" in ann.says("next")
    ann.says("skip")
    expected = [UNAIDED, SHOWN, *[OPEN] * (len(rest) + 1)]
    assert states(ann.says("list")) == expected
    ann.presses(b"\x03")
    assert ann.leaves() == 130
    assert "Traceback" not in ann.seen
    assert not CLEARING.search(ann.seen)

    again = sits(*words)
    assert "This goes on from where it was left." in again.reads()
    assert states(again.says("list")) == expected
    again.says("back")
    for task in (third, *rest):
        told = again.says(answer(task))
        assert "Right" in told or "This step is done" in told, (task.name, told)
        told = again.says("next") if task is not tasks[-1] else told
    assert states(again.says("list")) == [UNAIDED, SHOWN, *[UNAIDED] * (len(rest) + 1)]
    assert second.name in again.says("quit")  # what to do next
    assert again.leaves() == 1


@pytest.mark.release
def test_three_without_help_end_it_with_0(sits: Sits) -> None:
    ann = sits("dot", "--seed", "1", "--no-why")
    told = ann.reads()
    for number in range(3):
        told = [ann.says(answer(task)) for task in tasks_of("dot", number)][-1]
        if number < 2:
            assert "This problem is done" in told
            ann.says("next")
    assert "3 problems in a row without help" in told
    assert ann.leaves() == 0


@pytest.mark.release
def test_examples_fade(sits: Sits) -> None:
    ann = sits("softmax", "--fade", "--seed", "1", "--no-why")
    told = ann.reads()
    count = len(tasks_of("softmax", 0))
    for number in range(1, 3):
        told = ann.says("next")
        tasks = tasks_of("softmax", number)
        assert told.count("This step:") == count - number
        asked = tasks[count - number :]
        assert f"Step {count - number + 1} of {count}: {asked[0].name}" in told
        for task in asked:
            assert "Right" in ann.says(answer(task))
    assert ann.presses(b"\x04").endswith("attncalc practice softmax --level hard")  # Ctrl-D
    assert ann.leaves() == 0


@pytest.mark.release
def test_no_colour_where_none_is_wanted(sits: Sits) -> None:
    seen = []
    for env in ({}, {"NO_COLOR": "1"}, {"TERM": "dumb"}):
        ann = sits("softmax", "--seed", "1", **env)
        ann.reads()
        ann.says("1 2 3")
        ann.says("hint")
        ann.says("quit")
        assert ann.leaves() == 1
        seen.append(ann.seen)
    assert ESCAPE in seen[0]
    assert ESCAPE not in seen[1] + seen[2]
    assert COLOUR.sub("", seen[0]) == seen[1]


@pytest.mark.thorough
def test_a_narrow_terminal_has_lines_that_fit(sits: Sits) -> None:
    ann = sits("attention", "--seed", "1", columns=40, NO_COLOR="1")
    ann.reads()
    for line in ("1 2 3; 4 5 6; 7 8 9", "hint", "hint", "hint", "hint", "list", "quit"):
        ann.says(line)
    assert ann.leaves() == 1
    assert not [line for line in ann.seen.splitlines() if len(line) > 40 and "│" not in line]


@pytest.mark.release
def test_a_pipe_hears_the_same_without_a_prompt(sits: Sits, run: Run) -> None:
    lines = [answer(task) for task in tasks_of("softmax", 0)[:2]]
    said = [lines[0], "next", "1 2 3", "hint", "nonsense", lines[1], "list", "quit"]
    ann = sits("softmax", "--seed", "1", NO_COLOR="1")
    ann.reads()
    for line in said:
        ann.says(line)
    assert ann.leaves() == 1
    done = run("practice", "softmax", "--seed", "1", input="\n".join([*said, ""]))
    assert done.returncode == 1
    assert "> " not in done.stdout
    shown = " ".join(line for line in ann.seen.splitlines() if not line.startswith("> "))
    assert shown.split() == done.stdout.split()


@pytest.mark.parametrize(
    "words",
    [
        ("softmax", "--size", "k=3"),
        ("softmax", "--ask", "weights"),
        ("softmax", "--show-steps", "softmax", "--ask", "softmax"),
        ("softmax", "--given", "q"),
        ("softmax", "--set", "temperature=-1"),
        ("attention", "--size", "n=0"),
        ("p.json", "--size", "n=3"),
        ("p.json", "--seed", "3", "--ask", "weights"),
        ("softmax", "--save", "p.json"),
    ],
    ids=" ".join,
)
def test_nothing_is_said_beside_an_error(run: Run, tmp_path: Path, words: tuple[str, ...]) -> None:
    """Neither a seed of problems that there are not, nor how a document was read; nor is anything kept."""
    document = {"calculation": "softmax", "inputs": {"x": [1, 2]}, "option": {}}
    (tmp_path / "p.json").write_text(json.dumps(document))
    told = run("practice", *words)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr.startswith("Error: ")
    assert [line for line in told.stderr.splitlines()[1:] if not line.startswith("hint: ")] == []
    assert [path.name for path in tmp_path.iterdir()] == ["p.json"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), ""),
        (("--color", "never"), ""),
        (("--save", "kept.jsonl"), "--save has no effect without a calculation"),
        (
            ("--fade", "--no-why", "--level", "easy", "--ask", "output"),
            "--level, --ask, --fade and --no-why have no effect without a calculation",
        ),
        (("--hints", "rule", "--attempts", "2"), "--hints and --attempts have no effect without a calculation"),
    ],
)
def test_options_of_a_practice_are_of_one(run: Run, tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    listed = run("practice", *words)
    assert listed.stdout == run("practice").stdout
    assert listed.stderr == (f"note: {told}\n" if told else "")
    assert not [*tmp_path.iterdir()]
