"""A file is either whole or not there, and nothing is overwritten that was not named."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from attncalc.cli.output import refuse_unwritable
from attncalc.common.errors import AttncalcError
from attncalc.common.system import write_file

Make = Callable[[Path], Path]

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX modes and devices")


def test_a_new_file_is_written(tmp_path: Path) -> None:
    write_file(tmp_path / "new.json", b"[1]\n")
    assert (tmp_path / "new.json").read_bytes() == b"[1]\n"
    assert [path.name for path in tmp_path.iterdir()] == ["new.json"]


@posix
def test_a_new_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    write_file(tmp_path / "new.json", b"")
    assert (tmp_path / "new.json").stat().st_mode == (tmp_path / "other").stat().st_mode


@posix
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write_file(path, b"new")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o640)


@pytest.mark.parametrize("call", ["open", "fdopen", "fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "old.json"
    path.write_bytes(b"old")
    monkeypatch.setattr(Path if call == "replace" else os, call, fail)
    with pytest.raises(AttncalcError, match=r"old\.json: no space left on device"):
        write_file(path, b"new")
    monkeypatch.undo()
    assert (path.read_bytes(), len(list(tmp_path.iterdir()))) == (b"old", 1)


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_a_write_that_is_interrupted_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: type[BaseException]
) -> None:
    def interrupt(_: int) -> None:
        raise end

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(end):
        write_file(tmp_path / "new.json", b"new")
    assert not list(tmp_path.iterdir())


@posix
def test_a_device_is_written_to_and_not_replaced() -> None:
    write_file(Path(os.devnull), b"gone")
    assert not Path(os.devnull).is_file()


def make_link(folder: Path) -> Path:
    (folder / "link.json").symlink_to(folder / "target.json")
    return folder / "link.json"


def make_loop(folder: Path) -> Path:
    (folder / "loop.json").symlink_to(folder / "loop.json")
    return folder / "loop.json"


def make_input(folder: Path) -> Path:
    (folder / "q.json").write_text("[1]")
    return folder / "q.json"


REFUSED = {
    "a folder": (lambda folder: folder, "it is a folder"),
    "a file in no folder": (lambda folder: folder / "none" / "x.json", "there is no folder"),
    "a symbolic link": (make_link, "it is a symbolic link"),
    "a symbolic link to itself": (make_loop, "it is a symbolic link"),
    "a file that is read": (make_input, "the calculation reads it"),
}


@posix
@pytest.mark.parametrize(("make", "message"), REFUSED.values(), ids=REFUSED)
def test_paths_that_are_refused(tmp_path: Path, make: Make, message: str) -> None:
    path = make(tmp_path)
    with pytest.raises(AttncalcError, match=message):
        refuse_unwritable(path, ["none.json", str(tmp_path / "." / "q.json"), ""])


ACCEPTED = {
    "a new file": lambda folder: folder / "new.json",
    "an old file": make_input,
    "a device": lambda _: Path(os.devnull),
}


@posix
@pytest.mark.parametrize("make", ACCEPTED.values(), ids=ACCEPTED)
def test_paths_that_are_accepted(tmp_path: Path, make: Make) -> None:
    refuse_unwritable(make(tmp_path), ["other.json"])
