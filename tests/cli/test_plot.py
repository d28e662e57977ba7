"""--plot and -o x.png: pictures from the command line, and the calls that have none."""

from __future__ import annotations

import io
import os
import re
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from attncalc.cli import app
from attncalc.render import pages_and

ANSI = re.compile(r"\x1b\[[\d;]*m")
SHARES = """\
softmax

n │
0 │ ██████████████▊                          0.2689
1 │ ████████████████████████████████████████ 0.7311
"""

needs_matplotlib = pytest.mark.skipif(find_spec("matplotlib") is None, reason="the extra plot brings what draws it")


def call(line: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    status = app(shlex.split(line), standalone_mode=False)
    said = capsys.readouterr()
    return status or 0, said.out, said.err


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, on a page of no certain width."""
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_picture_stands_below_the_page(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, page, _ = call("log-softmax 1,2", capsys)
    _, both, _ = call("log-softmax 1,2 --plot", capsys)
    _, alone, _ = call("log-softmax 1,2 --plot -q", capsys)
    assert both == f"{page}\n{alone}"
    assert alone.startswith("log_softmax\n")


@pytest.mark.parametrize(
    "line",
    [
        "softmax 1,2 --plot --get softmax",
        "softmax 1,2 --plot -q --show softmax",
        "softmax 1,2 -qf table --plot --get softmax",
    ],
)
def test_the_pictures_of_a_step(line: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(line, capsys) == (0, SHARES, "")


def test_a_saved_result_is_drawn_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call("softmax 1,2 -o saved.json", capsys)
    assert call("run saved.json --plot --get softmax", capsys) == (0, SHARES, "")


def test_without_a_picture_the_page_is_shown_and_a_note(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, page, _ = call("dot 2 3", capsys)
    note = "note: dot has no picture of this result: it is a single number\n"
    code, other, said = call("dot 2 3 --plot", capsys)
    assert (code, other.count(note), other.replace(note, ""), said) == (0, 1, page, note)


@pytest.mark.thorough
def test_a_page_holds_the_picture_and_runs_nothing_of_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for line in (
        "attention '1 0; 0 1' '1 0; 0 1' '1 2; 3 4'",
        "descend 'x**2' --start 3",
        "sinusoidal --n 5 --d 4",
        "cosine 1,2 3,4",
    ):
        status, page, said = call(f"{line} --plot -f html", capsys)
        assert status == 0, said
        assert "<svg viewBox=" in page
        assert not re.search(r"<svg[^>]*( style=| on\w+=|href=)", page)


def test_a_text_file_holds_the_picture(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("softmax 1,2 --plot --get softmax -o x.txt", capsys) == (0, "", "")
    assert Path("x.txt").read_text(encoding="utf-8") == SHARES


FAULTS = {
    "softmax 1,2 --plot -f json": (
        "--plot draws below a table, but json has no pictures",
        "leave out -f, or write a file: -o picture.png or picture.svg",
    ),
    "softmax 1,2 --plot -f plain": (
        "--plot draws below a table, but plain has no pictures",
        "leave out -f, or write a file: -o picture.png or picture.svg",
    ),
    "softmax 1,2 --plot -o x.json": (
        "--plot draws below a table, but json has no pictures",
        "leave out -f, or write a file: -o picture.png or picture.svg",
    ),
    "softmax 1,2 --plot --cell all": (
        "--cell shows the arithmetic of an entry and --plot draws a picture: give only one of them",
        "",
    ),
    "softmax 1,2 --plot --check 1,2": ("--check marks an answer, and --plot is of a result: give only one of them", ""),
    "softmax 1,2 -o x.svg --check 1,2": (
        "--check marks an answer, and -f svg is of a result: give only one of them",
        "",
    ),
    "softmax 1,2 --check 1,2 -f npy": (
        "a report of --check cannot be written as npy",
        f"choose from {', '.join(pages_and('json', 'csv'))}",
    ),
    "dot 2 3 --plot -q": ("dot has no picture of this result: it is a single number", ""),
    "dot 2 3 -o x.png": ("dot has no picture of this result: it is a single number", ""),
    "cosine 1,2 3,4 --plot --get dot": (
        "there is no picture of dot: only decimal numbers, and several, have one",
        "",
    ),
    "softmax 1,2 --plot --get sofmax": ("softmax has no step or output called 'sofmax'", "did you mean softmax?"),
    "softmax --symbolic 3 --plot -q": ("softmax has no picture of this result: it holds letters", ""),
    "residual 1e308,1 0,0 -o x.png": (
        "numbers beyond 1e+307 are not drawn to a file: Matplotlib's axes end there",
        "--plot draws them in characters",
    ),
    "softmax 1,2 -o none/x.png": ("cannot write none/x.png: there is no folder none", ""),
}


@pytest.mark.parametrize(("line", "message", "hint"), [(line, *said) for line, said in FAULTS.items()], ids=FAULTS)
def test_calls_without_a_picture(
    line: str, message: str, hint: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    error = f"Error: {message}\n" + (f"hint: {hint}\n" if hint else "")
    assert call(line, capsys) == (2, "", error)
    assert not list(folder.iterdir())


@pytest.mark.thorough
def test_without_matplotlib_no_file_is_written(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    Path("x.png").write_bytes(b"old")
    error = "Error: Matplotlib draws PNG files, but it is not installed\nhint: pip install 'attncalc[plot]'\n"
    assert call("softmax 1,2 -o x.png", capsys) == (2, "", error)
    assert [(path.name, path.read_bytes()) for path in folder.iterdir()] == [("x.png", b"old")]


@pytest.mark.thorough
@needs_matplotlib
@pytest.mark.parametrize("failing", ["fsync", "fdopen"])
def test_a_file_is_whole_or_not_there(
    failing: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, fail)
    status, _, error = call("softmax 1,2 -o x.png", capsys)
    assert (status, error) == (2, "Error: cannot write x.png: no space left on device\n")
    assert not list(folder.iterdir())


COLORS = {
    "a pipe": ([], {}, False),
    "always": (["--color", "always"], {}, True),
    "always before NO_COLOR": (["--color", "always"], {"NO_COLOR": "1"}, True),
    "FORCE_COLOR": ([], {"FORCE_COLOR": "1"}, True),
    "NO_COLOR": ([], {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    "never": (["--color", "never"], {"FORCE_COLOR": "1"}, False),
}


class TestInstalled:
    """The command as it is installed."""

    @pytest.mark.thorough
    @pytest.mark.parametrize(("words", "environment", "colored"), COLORS.values(), ids=COLORS)
    def test_has_colour_where_it_is_wanted(
        self, run: Any, words: list[str], environment: dict[str, str], colored: bool
    ) -> None:
        done = run("attention", "1 0;0 1", "--causal", "--plot", "-q", *words, env=environment)
        assert (done.returncode, "\x1b[" in done.stdout) == (0, colored)
        assert "weights" in ANSI.sub("", done.stdout)

    @pytest.mark.parametrize("columns", [40, 80, 200])
    def test_fits_its_page(self, run: Any, samples: Path, columns: int) -> None:
        done = run("run", samples / "pairwise.json", "--plot", "-q", env={"COLUMNS": str(columns)})
        assert max(map(len, done.stdout.splitlines())) <= columns

    @pytest.mark.thorough
    def test_is_ascii_where_the_terminal_is(self, run: Any, samples: Path) -> None:
        done = run(
            "run", samples / "descend-valley.json", "--plot", env={"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
        )
        assert done.returncode == 0
        assert done.stdout.isascii()
        assert "\\u" not in done.stdout

    @pytest.mark.thorough
    def test_ends_quietly_where_nobody_reads_on(self, run: Any) -> None:
        done = run("softmax", "1,2", "--plot", "-o", "-")
        assert done.stdout.endswith("● at this temperature\n")

    @pytest.mark.release
    @needs_matplotlib
    @pytest.mark.parametrize(
        ("name", "start"), [("x.png", b"\x89PNG\r\n\x1a\n"), ("x.svg", b"<?xml"), ("X.PNG", b"\x89PNG")]
    )
    def test_writes_files(self, run: Any, tmp_path: Path, name: str, start: bytes) -> None:
        done = run("softmax", "1,2", "-o", name)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert (tmp_path / name).read_bytes().startswith(start)
        assert [path.name for path in tmp_path.iterdir()] == [name]

    @pytest.mark.thorough
    @needs_matplotlib
    def test_an_svg_goes_down_a_pipe(self, run: Any) -> None:
        done = run("softmax", "1,2", "-f", "svg")
        assert done.stdout.rstrip().endswith("</svg>")


def test_a_png_is_not_sent_to_a_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdout", Terminal())
    assert app(["softmax", "1,2", "-f", "png"], standalone_mode=False) == 2
    assert "png is binary, but standard output is a terminal" in capsys.readouterr().err
