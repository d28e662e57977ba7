"""Files opened with care: what is no file, what is refused unread, how a format is told, how text is decoded."""

from __future__ import annotations

import io
import os
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attncalc.common.errors import InputError
from attncalc.common.system import FORMATS
from attncalc.inputs import resolve
from attncalc.inputs.given import flatten

Fault = Callable[..., tuple[str, str]]

NEVER_OPENED = "which is never opened, since that can run code"
SAVE_TENSOR = "save the arrays: safetensors.torch.save_file, or numpy.save(path, tensor.detach().cpu().numpy())"
SAVE_ARRAY = "save the array: numpy.save(path, array)"
READ = f"read are {', '.join(FORMATS)}; numpy.save writes .npy"

REFUSED = [
    ("m.pt", f"m.pt is a PyTorch file, {NEVER_OPENED}", SAVE_TENSOR),
    ("m.PTH", f"m.PTH is a PyTorch file, {NEVER_OPENED}", SAVE_TENSOR),
    ("m.ckpt", f"m.ckpt is a PyTorch file, {NEVER_OPENED}", SAVE_TENSOR),
    ("m.pkl", f"m.pkl is a pickle, {NEVER_OPENED}", SAVE_ARRAY),
    ("m.joblib", f"m.joblib is a pickle, {NEVER_OPENED}", SAVE_ARRAY),
    ("m.xlsx", "m.xlsx is a spreadsheet", "save it as CSV"),
    ("m.csv.gz", "m.csv.gz is compressed", "unpack it first"),
    ("m.h5", "m.h5 is in a format that is not read", READ),
]


@pytest.mark.parametrize(("file", "message", "hint"), REFUSED, ids=[row[0] for row in REFUSED])
def test_refused_by_suffix(fault: Fault, file: str, message: str, hint: str) -> None:
    assert fault(b"x", file) == (message, hint)


CONTENT = [
    ("pickle", b"\x80\x04\x95x", f"m is a pickle, {NEVER_OPENED}", SAVE_ARRAY),
    ("gzip", b"\x1f\x8b\x08", "m is compressed", "unpack it first"),
    ("old Office", b"\xd0\xcf\x11\xe0", "m is a spreadsheet", "save it as CSV"),
]


@pytest.mark.parametrize(("content", "message", "hint"), [row[1:] for row in CONTENT], ids=[row[0] for row in CONTENT])
def test_refused_by_content(fault: Fault, content: bytes, message: str, hint: str) -> None:
    assert fault(content, "m") == (message, hint)


def npy() -> bytes:
    file = io.BytesIO()
    np.save(file, np.array([[1.0]]))
    return file.getvalue()


def npz() -> bytes:
    file = io.BytesIO()
    np.savez(file, q=np.array([[1.0]]))
    return file.getvalue()


TOLD = [
    ("JSON", b" [[1]]"),
    ("an object", b'\xef\xbb\xbf{"q": [[1]]}'),
    ("JSON in UTF-16", "[[1]]".encode("utf-16")),
    ("an object in UTF-16, the high byte first", b"\xfe\xff" + '\n{"q": [[1]]}'.encode("utf-16-be")),
    ("npy", npy()),
    ("npz", npz()),
    ("CSV", b"1\n"),
    ("CSV in UTF-16", "1\n".encode("utf-16")),
]


@pytest.mark.thorough
@pytest.mark.parametrize("content", [row[1] for row in TOLD], ids=[row[0] for row in TOLD])
@pytest.mark.parametrize("file", ["q", "q.txt", "q.dat"])
def test_formats_are_told_by_content_where_the_suffix_says_nothing(
    read: Callable[..., Any], content: bytes, file: str
) -> None:
    assert read(content, file).value.tolist() == [[1]]


def test_a_suffix_decides_in_any_case(read: Callable[..., Any]) -> None:
    assert read("[[1]]", "q.JSON").value.tolist() == [[1]]


SAVE_UTF8 = "save it as UTF-8; arrays stored as bytes are .npy, .npz or .safetensors"

UNDECODABLE = [
    (b"[[1,\n\xe92]]", "q.json:2:1: byte 0xe9 is not UTF-8 text", SAVE_UTF8),
    (b"\xff\xfe[\x00\x00\xd8]\x00", "q.json:1:5: byte 0x00 is not UTF-16 text", SAVE_UTF8),
    (b"[[1,\n\x00 2]]", "q.json:2: a NUL is not text", "save it as UTF-8"),
    (b"\xff\xfe\x00\x00[\x00\x00\x00", "q.json:1: a NUL is not text", "save it as UTF-8"),
]


@pytest.mark.parametrize(("content", "message", "hint"), UNDECODABLE, ids=[ascii(row[0]) for row in UNDECODABLE])
def test_what_is_no_text(fault: Fault, content: bytes, message: str, hint: str) -> None:
    assert fault(content) == (message, hint)


def test_too_many_bytes(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolve, "MAX_TEXT", 10)
    assert fault("[[1, 2, 3, 4]]") == ("q.json has more than 10 bytes, the most that is read", "")


@pytest.mark.parametrize("content", ["[[1, 2], [3, 4]]", "1,2\n3,4"])
def test_too_many_cells(fault: Fault, monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    monkeypatch.setattr("attncalc.inputs.given.MAX_CELLS", 3)
    assert fault(content, "q") == ("q has more than 3 entries", "")


def test_too_many_cells_are_not_laid_out_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attncalc.inputs.given.MAX_CELLS", 10_000)
    row = [0.0] * 2000
    matrix = [row] * 2000  # the same row, again and again: as a list of entries it would be 32 MB
    tracemalloc.start()
    with pytest.raises(InputError, match="more than 10,000 entries"):
        flatten(matrix, lambda at: "q")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no named pipes of this kind, and other devices")
class TestNoFiles:
    """What has a name but is no regular file, and must not hang the call."""

    def test_a_pipe(self, folder: Path, fault: Fault) -> None:
        os.mkfifo(folder / "pipe")
        assert fault(word="pipe") == ("pipe is not a regular file", "give - and pipe it in")

    def test_a_pipe_that_a_shell_has_opened_is_read(self, fault: Fault) -> None:
        reading, writing = os.pipe()
        os.write(writing, b"student\nAnn\n")
        os.close(writing)
        try:
            assert resolve.read_file(f"/dev/fd/{reading}") == b"student\nAnn\n"
            assert fault(word=f"/dev/fd/{reading}")[0] == f"/dev/fd/{reading} is empty"
            with pytest.raises(InputError, match="is not a regular file"):
                resolve.must_be_plain(f"/dev/fd/{reading}", 10)
        finally:
            os.close(reading)

    def test_a_pipe_that_is_no_operand_is_not_sent_to_standard_input(self, folder: Path) -> None:
        os.mkfifo(folder / "pipe")
        with pytest.raises(InputError) as caught:
            resolve.read_file("pipe")
        assert (caught.value.message, caught.value.hint) == ("pipe is not a regular file", "save it in a file")

    @pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/tty"])
    def test_a_device(self, fault: Fault, device: str) -> None:
        message = fault(word=device)[0]
        assert message.startswith((f"{device} is not a regular file", f"cannot read {device}: "))

    def test_a_link_in_a_circle(self, folder: Path, fault: Fault) -> None:
        (folder / "loop").symlink_to("loop")
        assert fault(word="loop")[0] == "cannot read loop: too many levels of symbolic links"

    def test_a_link_to_nowhere(self, folder: Path, fault: Fault) -> None:
        (folder / "r.json").symlink_to("gone.json")
        assert fault(word="r.json") == ("there is no file r.json", "")

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything")
    def test_a_file_that_may_not_be_read(self, folder: Path, fault: Fault) -> None:
        (folder / "q.json").write_text("[1]")
        (folder / "q.json").chmod(0)
        assert fault(word="q.json") == ("cannot read q.json: permission denied", "")


@pytest.mark.parametrize("word", ["folder", "folder/", "@folder", "."])
def test_a_folder(folder: Path, fault: Fault, word: str) -> None:
    (folder / "folder").mkdir()
    (folder / "folder" / "q.txt").touch()
    assert fault(word=word) == (f"{word.removeprefix('@')} is a folder", "name a file in it")
