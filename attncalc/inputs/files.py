"""Files opened with care: regular ones only, no larger than can be read, decoded, told apart by suffix or content."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from attncalc.errors import InputError
from attncalc.inputs.arrays import MAX_CELLS
from attncalc.inputs.paths import FORMATS, is_folder, shown

if TYPE_CHECKING:
    from mmap import mmap

UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # its byte-order marks
MAX_TEXT = 512 * 2**20  # bytes
MAX_ARRAYS = 2**20 + 8 * MAX_CELLS  # bytes

TORCH_HINT = "save the arrays: safetensors.torch.save_file, or numpy.save(path, tensor.detach().cpu().numpy())"
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


def format_by_content(data: bytes, source: str) -> str:
    """The format that the first bytes tell; what is nothing else is CSV."""
    if data[:2] in UTF_16:
        data = data.decode("utf-16", "ignore").encode(errors="ignore")
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
