"""Where a file is found and how it is opened: with care, by its suffix or its content, once in a call.

Regular files only, no larger than can be read; a file is opened once in a call, and standard input only once.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from attncalc.common.errors import InputError
from attncalc.common.files import FORMATS, is_folder, shown
from attncalc.inputs.given import MAX_CELLS
from attncalc.inputs.json_files import JsonFile, parse_json, parse_json_lines
from attncalc.inputs.reading import STDIN, TORCH_HINT, Contents, Reading

if TYPE_CHECKING:
    from mmap import mmap

UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # its byte-order marks
MAX_TEXT = 512 * 2**20  # bytes
MAX_ARRAYS = 2**20 + 8 * MAX_CELLS  # bytes

_TORCH = ("is a PyTorch file, which is never opened, since that can run code", TORCH_HINT)
_PICKLE = ("is a pickle, which is never opened, since that can run code", "save the array: numpy.save(path, array)")
_SHEET = ("is a spreadsheet", "save it as CSV")
_PACKED = ("is compressed", "unpack it first")
_OTHER = ("is in a format that is not read", f"read are {', '.join(FORMATS)}; numpy.save writes .npy")
_REFUSED = {
    **dict.fromkeys((".pt", ".pth", ".ckpt"), _TORCH),
    **dict.fromkeys((".pkl", ".pickle", ".joblib"), _PICKLE),
    **dict.fromkeys((".xlsx", ".xls", ".ods"), _SHEET),
    **dict.fromkeys((".gz", ".bz2", ".xz", ".zip", ".zst"), _PACKED),
    **dict.fromkeys((".mat", ".h5", ".hdf5", ".parquet", ".feather", ".gguf", ".onnx"), _OTHER),
}
_MAGIC = (
    (rb"\x93NUMPY", "npy"),
    (rb"PK\x03\x04|PK\x05\x06", "npz"),
    (rb"\x80[\x02-\x05].", _PICKLE),
    (rb"\x1f\x8b|BZh|\xfd7zXZ", _PACKED),
    (rb"\xd0\xcf\x11\xe0", _SHEET),
    (rb".{8}\{\"", "safetensors"),
    (rb"(?:\xef\xbb\xbf)?\s*[\[{][^\n]*[\]}][ \r\t]*\n\s*[\[{]", "jsonl"),
    (rb"(?:\xef\xbb\xbf)?\s*[\[{]", "json"),
)
UNPACKED = 4  # so many times its own bytes an archive that may be a stranger's holds at most


def opened(path: str, reading: Reading) -> Contents:
    """What a file holds; one that may be a stranger's is no link, and has `reading.most` bytes."""
    if path not in reading.opened:
        reading.opened[path] = _open_file(path, reading.most)
    return reading.opened[path]


def opened_input(reading: Reading) -> Contents:
    """What standard input holds; a person at a terminal is told that it is read."""
    if STDIN not in reading.opened:
        reading.opened[STDIN] = _standard_input(reading.most)
    return reading.opened[STDIN]


def _standard_input(most: int | None) -> Contents:
    if sys.stdin is None:
        raise InputError("there is no standard input")
    if sys.stdin.isatty():
        sys.stderr.write("reading standard input; Ctrl-D ends it (on Windows Ctrl-Z and Enter)\n")
    data = read_all(sys.stdin.buffer, STDIN, _smaller(most, MAX_TEXT))
    if not data:
        raise InputError(f"{STDIN} is empty")
    return contents_of(data, STDIN, format_by_content(data, STDIN), lambda: BytesIO(data), most)


def _open_file(path: str, most: int | None) -> Contents:
    if most is not None:
        must_be_plain(path, most)
    source = shown(path)
    form = format_by_suffix(path)
    opener = partial(open_regular, path)
    data: bytes | mmap
    if form == "safetensors":  # such a file may be larger than memory: only what is asked for is read
        return contents_of(b"", source, form, opener, most)
    if form == "npy":
        data = mapped(path, _smaller(most, MAX_ARRAYS))
    else:
        data = read_file(path, _smaller(most, MAX_ARRAYS if form == "npz" else MAX_TEXT))
    if not data:
        raise InputError(f"{source} is empty")
    return contents_of(data, source, form or format_by_content(data, source), opener, most)


def _smaller(most: int | None, bound: int) -> int:
    return bound if most is None else min(most, bound)


def contents_of(
    data: bytes | mmap, source: str, form: str, opener: Callable[[], BinaryIO], most: int | None = None
) -> Contents:
    """What bytes of a known format hold."""
    if form in ("npy", "npz", "safetensors"):
        from attncalc.inputs import stored_arrays  # a door: few files are arrays, and zipfile takes its time

        if form == "npy":
            return stored_arrays.of_npy(data, source)
        if form == "safetensors":
            return stored_arrays.of_safetensors(opener, source)
        unpacked = _smaller(None if most is None else UNPACKED * most, stored_arrays.MAX_MEMBERS_BYTES)
        return stored_arrays.of_npz(data[:], source, unpacked)
    text = decode(data[:], source)
    if form == "csv":
        from attncalc.inputs.csv_files import TextFile  # a door, as above: csv is a module by itself

        return TextFile(source, text)
    if form == "json":
        return JsonFile(source, parse_json(text, source))
    tree, labels = parse_json_lines(text, source)
    return JsonFile(source, tree, labels=labels)


def must_be_plain(path: str, most: int) -> None:
    """Raise for a file of a stranger's that is a link, no regular file, or larger than `most` bytes; none is opened."""
    try:
        found = Path(path).lstat()
    except (OSError, ValueError):
        return  # whoever opens it says so
    if stat.S_ISLNK(found.st_mode):
        raise InputError(f"{shown(path)} is a link, and links to sheets are not followed", hint="name the file itself")
    if stat.S_ISREG(found.st_mode) and found.st_size > most:
        raise InputError(f"{shown(path)} has {found.st_size:,} bytes, but at most {most:,} are read")


def open_regular(path: str) -> BinaryIO:
    """A regular file, open for reading; folders, pipes and devices are refused before they can hang the call."""
    if is_folder(path):
        raise InputError(f"{shown(path)} is a folder", hint="name a file in it")
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        handle = os.open(path, flags)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise InputError(f"there is no file {shown(path)}") from None
    except OSError as error:
        raise InputError(f"cannot read {shown(path)}: {(error.strerror or 'it cannot be opened').lower()}") from None
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    raise InputError(f"{shown(path)} is not a regular file", hint="give - and pipe it in")


def read_file(path: str, most: int = MAX_TEXT) -> bytes:
    """The bytes of a regular file that has no more than `most`."""
    with open_regular(path) as file:
        return read_all(file, shown(path), most)


def mapped(path: str, most: int) -> mmap | bytes:
    """The bytes of a regular file that has no more than `most`, of which the system reads those that are looked at."""
    from mmap import ACCESS_READ, mmap  # few files are arrays, and start-up is not to pay for it

    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise InputError(f"{shown(path)} has more than {most:,} bytes, the most that is read")
        try:
            return mmap(file.fileno(), 0, access=ACCESS_READ) if size else b""
        except (OSError, ValueError):  # a file system that maps nothing
            return read_all(file, shown(path), most)


def read_all(file: BinaryIO, source: str, most: int = MAX_TEXT) -> bytes:
    """What is left in an open file or a pipe, if it is no more than `most` bytes."""
    chunks: list[bytes] = []
    size = 0
    try:
        while chunk := file.read(2**20):
            chunks.append(chunk)
            size += len(chunk)
            if size > most:
                raise InputError(f"{source} has more than {most:,} bytes, the most that is read")
    except OSError as error:
        raise InputError(f"cannot read {source}: {(error.strerror or 'reading fails').lower()}") from None
    return b"".join(chunks)


def format_by_suffix(path: str) -> str | None:
    """The format that a path's suffix names, None where it names none; some are refused with the mend."""
    suffix = Path(path).suffix.lower()
    if suffix in _REFUSED:
        what, mend = _REFUSED[suffix]
        raise InputError(f"{shown(path)} {what}", hint=mend)
    return FORMATS.get(suffix)


def format_by_content(data: bytes | mmap, source: str) -> str:
    """The format that the first bytes tell; what is nothing else is CSV."""
    if data[:2] in UTF_16:
        data = data[:].decode("utf-16", "ignore").encode(errors="ignore")
    for pattern, form in _MAGIC:
        if re.match(pattern, data, re.DOTALL):
            if isinstance(form, tuple):
                raise InputError(f"{source} {form[0]}", hint=form[1])
            return form
    return "csv"


def decode(data: bytes, source: str) -> str:
    """The text of a file: UTF-8 with or without a byte-order mark, UTF-16 with one."""
    encoding = "utf-16" if data[:2] in UTF_16 else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        what = "UTF-16" if encoding == "utf-16" else "UTF-8"
        raise InputError(
            f"{source}:{line}:{column}: byte {data[error.start]:#04x} is not {what} text",
            hint="save it as UTF-8; arrays stored as bytes are .npy, .npz or .safetensors",
        ) from None
    if not text.strip():
        raise InputError(f"{source} is empty")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InputError(f"{source}:{line}: a NUL is not text", hint="save it as UTF-8")
    return text
