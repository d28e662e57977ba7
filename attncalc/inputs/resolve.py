"""What a word means: standard input, a file, numbers, a row label or a name without its suffix, in that order."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from attncalc.common.errors import InputError, both, near, quoted, reason, visible
from attncalc.common.numerals import is_misspelt
from attncalc.common.system import FORMATS, NamedTuple, exists, is_device, is_file, is_folder, samples_folder, shown
from attncalc.declare.operands import Operand
from attncalc.inputs.given import (
    MAX_CELLS,
    as_typed,
    is_entry,
    is_literal,
    looks_numeric,
    read_expression,
    read_literal,
    read_tokens,
)
from attncalc.inputs.json_files import JsonFile, parse_json, parse_json_lines, plain, shape_in
from attncalc.inputs.reading import (
    STDIN,
    TORCH_HINT,
    Contents,
    Reading,
    fit,
    has_heads,
    heads_first,
    labelled_row,
    transposed,
    word_in,
)
from attncalc.record.trace import Given, alike

if TYPE_CHECKING:  # few operands are files of arrays
    from mmap import mmap

    from attncalc.inputs.indexing import Parts

# Where a file is found and how it is opened: with care, by its suffix or its content, once in a call.
#
# Regular files only, no larger than can be read; a file is opened once in a call, and standard input only once.


UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # its byte-order marks
SHARDED = ".safetensors.index.json"  # how the list of a checkpoint in several files ends
MAX_TEXT = 512 * 2**20  # bytes
MAX_ARRAYS = 2**20 + 8 * MAX_CELLS  # bytes

_TORCH = ("is a PyTorch file, which is never opened, since that can run code", TORCH_HINT)
_PICKLE = ("is a pickle, which is never opened, since that can run code", "save the array: numpy.save(path, array)")
_SHEET = ("is a spreadsheet", "save it as CSV")
_PAPER = ("is a document, not numbers", f"read are {', '.join(FORMATS)}")
_PHOTO = ("is a picture", f"read are {', '.join(FORMATS)}")
_PACKED = ("is compressed", "unpack it first")
_OTHER = ("is in a format that is not read", f"read are {', '.join(FORMATS)}; numpy.save writes .npy")
REFUSED = {
    **dict.fromkeys((".pt", ".pth", ".ckpt"), _TORCH),
    **dict.fromkeys((".pkl", ".pickle", ".joblib"), _PICKLE),
    **dict.fromkeys((".xlsx", ".xls", ".ods", ".numbers"), _SHEET),
    **dict.fromkeys((".docx", ".doc", ".odt", ".rtf", ".pdf", ".pages"), _PAPER),
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".heic"), _PHOTO),
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
_FORMULA = r"(?=.*\d)(?=.*[*^(])[\w\s.,;+\-*/^()√π]+"
_MOST_FILES = 100_000  # of a folder that are one dump
UNPACKED = 4  # an archive that may be a stranger's unpacks to at most this many times its own bytes


def opened(path: str, reading: Reading) -> Contents:
    """What a file holds; one that may be a stranger's is no link, and has at most `reading.most` bytes."""
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
    return contents_of(data, STDIN, format_by_content(data, STDIN), most)


def checkpoint_in(path: str) -> str | None:
    """The file with the model of a folder, or with the list of its files; None if there is no model, or no folder."""
    held = (str(Path(path, name)) for name in ("model.safetensors", "model" + SHARDED)) if is_folder(path) else ()
    return next(filter(is_file, held), None)


def arrays_in(path: str) -> list[Path]:
    """The npy files of a folder, which are one dump; none if it holds a checkpoint, or is no folder."""
    if not is_folder(path) or checkpoint_in(path):
        return []
    return sorted(islice((file for file in Path(path).iterdir() if file.suffix == ".npy"), _MOST_FILES))


def _open_shards(path: str, most: int | None) -> Contents:
    """What all files of a list hold together; each is opened when an array in it is asked for."""
    from attncalc.inputs.stored_arrays import of_shards  # a door, as above

    source = shown(path)
    tree = parse_json(decode(read_file(path, _smaller(most, MAX_TEXT)), source), source)

    def opened_shard(name: str) -> Contents:
        beside = str(Path(path).parent / name)
        if not exists(beside):
            raise InputError(f"{source}: its file {quoted(name)} is missing", hint="copy all files of the checkpoint")
        return _open_file(beside, most)

    return of_shards(tree, source, cache(opened_shard))


def _open_file(path: str, most: int | None) -> Contents:
    path = checkpoint_in(path) or path
    if files := arrays_in(path):
        from attncalc.inputs.stored_arrays import of_files  # a door, as above

        return of_files({file.stem: cache(partial(_open_file, str(file), most)) for file in files}, shown(path))
    if most is not None:
        must_be_plain(path, most)
    if path.endswith(SHARDED):
        return _open_shards(path, most)
    form = format_by_suffix(path)
    data: bytes | mmap
    if form in ("npy", "safetensors"):  # such a file may be larger than memory: only what is asked for is read
        data = mapped(path, most)
    else:
        data = read_file(path, _smaller(most, MAX_ARRAYS if form == "npz" else MAX_TEXT), "give - and pipe it in")
    return held_in(data, path, most)


def held_in(data: bytes | mmap, path: str, most: int | None = None) -> Contents:
    """What the bytes of a file hold; its name may tell the format."""
    source = shown(path)
    if not data:
        raise InputError(f"{source} is empty")
    return contents_of(data, source, format_by_suffix(path) or format_by_content(data, source), most)


def _smaller(most: int | None, bound: int) -> int:
    return bound if most is None else min(most, bound)


def contents_of(data: bytes | mmap, source: str, form: str, most: int | None = None) -> Contents:
    """What bytes of a known format hold."""
    if form in ("npy", "npz", "safetensors"):
        from attncalc.inputs import stored_arrays  # a door: few files are arrays, and zipfile takes its time

        if form == "npy":
            return stored_arrays.of_npy(data, source)
        if form == "safetensors":
            return stored_arrays.of_safetensors(data, source)
        unpacked = _smaller(None if most is None else UNPACKED * most, stored_arrays.MAX_MEMBERS_BYTES)
        return stored_arrays.of_npz(data[:], source, unpacked)
    if form == "csv":
        from attncalc.inputs.csv_files import TextFile  # a door, as above: csv is a module by itself

        remarks: list[str] = []
        return TextFile(source, decode_table(data[:], source, remarks.append), *remarks)
    text = decode(data[:], source)
    if form == "json":
        return JsonFile(source, parse_json(text, source))
    tree, labels = parse_json_lines(text, source)
    return JsonFile(source, tree, labels=labels)


DEVICES = "/dev/"
"""The folder in which only the calling shell puts files."""


def must_be_plain(path: str, most: int) -> None:
    """Raise for a stranger's file that is a link, not regular, or larger than `most` bytes; it is not opened."""
    try:
        found = Path(path).lstat()
    except (OSError, ValueError):
        return  # whoever opens it says so
    is_link = stat.S_ISLNK(found.st_mode)
    if is_device(Path(path)) and (not is_link or path.startswith(DEVICES)):  # <(…) of a shell is a link to a pipe
        raise InputError(f"{shown(path)} is not a regular file", hint="save it in a file")
    if is_link:
        raise InputError(f"{shown(path)} is a link, and links to sheets are not followed", hint="name the file itself")
    if stat.S_ISREG(found.st_mode) and found.st_size > most:
        raise InputError(f"{shown(path)} has {found.st_size:,} bytes, but at most {most:,} are read")


def open_regular(path: str, mend: str = "save it in a file") -> BinaryIO:
    """A regular file, open for reading, or a pipe that was opened for this call, as <(…) of a shell does.

    Folders, devices and pipes that have a name are refused before they can hang the call.
    """
    if is_folder(path):
        raise InputError(f"{shown(path)} is a folder", hint="name a file in it")
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        handle = os.open(path, flags)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise InputError(f"there is no file {shown(path)}") from None
    except OSError as error:
        raise InputError(f"cannot read {shown(path)}: {reason(error)}") from None
    kind = os.fstat(handle).st_mode
    if stat.S_ISFIFO(kind) and path.startswith(DEVICES):
        os.set_blocking(handle, True)
    elif not stat.S_ISREG(kind):
        os.close(handle)
        raise InputError(f"{shown(path)} is not a regular file", hint=mend)
    return os.fdopen(handle, "rb")


def read_file(path: str, most: int = MAX_TEXT, *mend: str) -> bytes:
    """The bytes of a file that has no more than `most`."""
    with open_regular(path, *mend) as file:
        return read_all(file, shown(path), most)


def read_json(path: str, most: int = MAX_TEXT) -> Any:
    """The value of a JSON file that is no operand, its numbers as Python has them."""
    source = shown(path)
    return plain(parse_json(decode(read_file(path, most), source), source), source)


def mapped(path: str, most: int | None) -> mmap | bytes:
    """The bytes of a regular file, at most `most` of them; the system reads only what is looked at."""
    from mmap import ACCESS_READ, mmap  # few files are arrays, and start-up is not to pay for it

    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if most is not None and size > most:
            raise InputError(f"{shown(path)} has more than {most:,} bytes, the most that is read")
        try:
            return mmap(file.fileno(), 0, access=ACCESS_READ) if size else b""
        except (OSError, ValueError) as error:
            if getattr(error, "errno", None) == errno.ENOMEM:
                raise InputError(f"{shown(path)} has {size:,} bytes, and this process may not map so many") from None
            return read_all(file, shown(path), _smaller(most, MAX_ARRAYS))  # a file system that maps nothing


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
        raise InputError(f"cannot read {source}: {reason(error)}") from None
    return b"".join(chunks)


def format_by_suffix(path: str) -> str | None:
    """The format that a path's suffix names; None if it names none. Some are refused, with a hint what to do."""
    suffix = Path(path).suffix.lower()
    if suffix in REFUSED:
        what, mend = REFUSED[suffix]
        raise InputError(f"{shown(path)} {what}", hint=mend)
    return FORMATS.get(suffix)


def format_by_content(data: bytes | mmap, source: str) -> str:
    """The format that the first bytes tell; CSV if they tell no other."""
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
    if not text or text.isspace():
        raise InputError(f"{source} is empty")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InputError(f"{source}:{line}: a NUL is not text", hint="save it as UTF-8")
    return text


def decode_table(data: bytes, source: str, tell: Callable[[str], None]) -> str:
    """The text of a CSV file: as `decode` has it, or else as Windows-1252, in which Excel saves, with a remark.

    Numbers are the same in both. Names are right if Windows speaks a Western language.
    """
    try:
        return decode(data, source)
    except InputError:
        text = _of_windows(data)
        if text is None:
            raise
        tell("not UTF-8 text, and read as Windows-1252: look at the names")
        return text


def _of_windows(data: bytes) -> str | None:
    """The text of these bytes in Windows-1252; None if they are UTF-8, or no text."""
    if data[:2] in UTF_16 or _NO_TEXT.search(data):
        return None
    with suppress(UnicodeDecodeError):
        data.decode()
        return None
    with suppress(UnicodeDecodeError):
        return data.decode("cp1252")
    return None


_NO_TEXT = re.compile(rb"[\0-\x08\x0e-\x1f\x7f]")
TABLE = Operand("data", "data", (("m", "d"),), help="the table whose row labels may be operands")
_LONGEST_PATH = 4096  # characters
_LEFT_OUT = (".json", ".csv", ".tsv", ".npy")  # suffixes that a name may lack, in the working directory

Tables = Mapping[str, "Given"]
"""The tables whose row labels may be operands, by what they are called: `words.csv`, `vocabulary`."""


class Found(NamedTuple):
    """An array in a file: by name or path, or the one that is meant for its operand."""

    contents: Contents
    name: str | None = None
    at: Parts = ()
    told: bool = False  # whether it is known which way it lies


def find(word: str, operand: Operand, reading: Reading) -> Found | None:
    """The file that a word means, if it means one; numbers, tokens, row labels and the operand's own words are none."""
    if operand.means(word):
        return None
    if word == "-":
        return Found(opened_input(reading))
    if word.startswith("-#"):
        return _picked(opened_input(reading), word[2:])
    path = _marked(word)
    if path is not None:
        found = Found(opened(path, reading)) if exists(path) else _inside(path, reading)
        if found is None:
            raise _no_file(path)
        return found
    if operand.kind == "expression":
        return Found(opened(word, reading)) if Path(word).suffix.lower() in FORMATS and exists(word) else None
    if operand.kind == "tokens" or looks_numeric(word, operand.kind):
        return None
    paths = _paths(word)
    if len(paths) > 1:
        return None  # it is not clear which is meant, so that reading the word will raise
    return Found(opened(paths[0], reading)) if paths else _inside(word, reading)


def read_word(word: str, operand: Operand, reading: Reading, tables: Tables) -> Given:
    """The operand that a word of the command line means."""
    if not (word == "-" or word.startswith("-#") or _marked(word) is not None):
        if operand.kind == "tokens":
            return read_tokens(word, operand.name)
        given = _literal_or_row(word, operand, reading, tables) if operand.kind != "expression" else None
        if given is not None:
            return given
    found = find(word, operand, reading)
    if found is not None:
        return read_found(found, operand, reading)
    if operand.kind != "expression":
        raise _miss(word, operand, tables)
    if Path(word).suffix.lower() in FORMATS:
        raise _no_file(word)
    return read_expression(word)


def _literal_or_row(word: str, operand: Operand, reading: Reading, tables: Tables) -> Given | None:
    """The numbers that a word is, or the row that it labels; None if it is neither, and should be a file."""
    if looks_numeric(word, operand.kind):
        if exists(word):
            reading.tell(
                f"{operand.name}: {quoted(word)} is read as numbers; the file of that name is @{visible(word)}"
            )
        literal = reading.typed(as_typed(word))
        given = read_literal(literal, operand.name, operand.kind)
        return _shaped(given, operand, reading, table=not literal.startswith("["))
    meanings = {f"the file {shown(path)}": path for path in _paths(word)}
    labelled = {f"a row of {name}": table for name, table in tables.items() if word in table.labels.get(0, ())}
    if len(meanings) + len(labelled) > 1:
        ways = [f"@{shown(path)}" for path in meanings.values()] + [_row(word, table) for table in labelled.values()]
        said = both([*meanings, *labelled])
        raise InputError(f"{operand.name}: {quoted(word)} is both {said}", hint=f"write {' or '.join(ways)}")
    rows = (labelled_row(table, word) for table in labelled.values())
    return next((_shaped(row, operand, reading, table=False) for row in rows), None)


def read_operands(
    operands: Sequence[Operand], words: Mapping[str, str], files: Mapping[str, Found], reading: Reading
) -> tuple[dict[str, Given], dict[str, str]]:
    """Each operand from its word, else from the file that holds it; and words that stand for an operand, as alibi.

    Tables come first, since their labels may be words.
    """
    piped = [name for name, word in words.items() if word == "-"]
    if len(piped) > 1 and not opened_input(reading).names:
        raise InputError(
            f"standard input holds one array, and {both(piped)} are both to be read from it",
            hint=f'pipe in an object: {{"{piped[0]}": [...], "{piped[1]}": [...]}}',
        )
    inputs: dict[str, Given] = {}
    tables: dict[str, Given] = {}
    if reading.data is not None:
        data = read_word(reading.data, TABLE, reading, {})
        if 0 not in data.labels:
            raise InputError(
                f"{data.source or '--data'} has no row labels", hint="--labels takes the first column as labels"
            )
        tables[data.source] = data
    rows = next(iter(tables), "")
    spoken: dict[str, str] = {}
    for operand in sorted(operands, key=lambda operand: not operand.named):
        name, file = operand.name, files.get(operand.name)
        word = words[name] if name in words else word_in(file.contents, file.name) if file else None
        if word is not None and operand.means(word):
            spoken[name] = word
        elif name in words:
            inputs[name] = read_word(words[name], operand, reading, tables)
        elif file is not None:
            inputs[name] = _read_held(file, operand, reading, tables)
        table = inputs.get(name) if operand.named else None
        if table and table.labels.get(0) and not any(_same_rows(table, other) for other in tables.values()):
            tables[name] = table
    if rows and not any(given.source.startswith(f"{rows}#") for given in inputs.values()):
        reading.tell(f"--data has no effect: no operand is called as a row of {rows}")
    return {operand.name: inputs[operand.name] for operand in operands if operand.name in inputs}, spoken


def _labels(tables: Tables) -> list[str]:
    """The words that are rows of tables."""
    return [label for table in tables.values() for label in table.labels.get(0, ())]


def _same_rows(table: Given, other: Given) -> bool:
    """Whether two tables are the same one, given twice, so that their labels are not ambiguous."""
    return alike((table.labels.get(0), table.value), (other.labels.get(0), other.value))


def _no_file(path: str) -> InputError:
    return InputError(f"there is no file {shown(path)}", hint=near_files(path))


def _shaped(given: Given, operand: Operand, reading: Reading, *, table: bool) -> Given:
    """The operand, transposed if that is asked for, with the rank that is declared."""
    if operand.name in reading.transpose:
        given = transposed(given, operand.name)
    layout = reading.heads_layout
    if layout is not None and has_heads(given, operand.name, layout):
        given = heads_first(given, operand.name, layout)
    return fit(given, operand, table=table)


def _marked(word: str) -> str | None:
    """The path of `@PATH` or `path:PATH`."""
    return next((word[len(mark) :] for mark in ("@", "path:") if word.startswith(mark) and len(word) > len(mark)), None)


def _paths(word: str) -> list[str]:
    """The files that a word may name: itself, or with a suffix that was left out."""
    candidates = [word]
    if word and Path(word).name == word:
        candidates += [word + suffix for suffix in _LEFT_OUT]
    held = (path for path in candidates if exists(path))
    return [path for path in held if not is_folder(path) or checkpoint_in(path) or arrays_in(path)]


def _inside(word: str, reading: Reading) -> Found | None:
    """What `FILE#name` picks, if there is such a file."""
    for match in re.finditer("#", word[:_LONGEST_PATH]):
        paths = _paths(word[: match.start()])
        if len(paths) > 1:
            raise InputError(f"{quoted(word)} may be in {both(map(shown, paths))}", hint="give the suffix")
        if paths:
            return _picked(opened(paths[0], reading), word[match.end() :])
    return None


def _row(word: str, table: Given) -> str:
    """How to write a labelled row so that it is not taken for a file; in an array of a file, by its index."""
    if "#" in table.source:
        return f"{table.source}[{table.labels[0].index(word)}]"
    return f"{table.source}#{visible(word)}"


def read_found(found: Found, operand: Operand, reading: Reading) -> Given:
    """The operand in an array of a file."""
    given = found.contents.part(found.name, found.at, operand, reading)
    name = given.source.rpartition("#")[2]
    of_torch = name.endswith(".weight")  # a PyTorch layer's matrix is stored [out, in]
    square = given.value.ndim == 2 and given.value.shape[0] == given.value.shape[1]  # others fit one way alone
    free = not found.told and operand.name not in reading.transpose and not operand.named
    if of_torch and square and free:
        linear = f"{operand.name}: {name} fits either way; if it is a PyTorch Linear's, it is stored [out, in]"
        reading.tell(f"{linear}: --transpose {operand.name} turns it")
    return _shaped(given, operand, reading, table=found.contents.table)


def _read_held(found: Found, operand: Operand, reading: Reading, tables: Tables) -> Given:
    """An operand of a file with several; a word in it is a row label, and never a file."""
    contents = found.contents
    text = operand.kind in ("tokens", "expression")
    word = None if text else word_in(contents, found.name)
    if word is None or is_literal(word, operand.kind):
        return (None if text else _in_letters(found, operand)) or read_found(found, operand, reading)
    for table in tables.values():
        if word in table.labels.get(0, ()):
            return _shaped(labelled_row(table, word), operand, reading, table=False)
    known = _labels(tables)
    what = "neither a number nor a row label" if known else "not a number"
    raise InputError(f"{contents.source}: {found.name} is {quoted(word)}, {what}", hint=near(word, known))


def _in_letters(found: Found, operand: Operand) -> Given | None:
    """An operand that was saved without numbers, under --symbolic: `[["q_00", "q_01"]]`."""
    held = found.contents.members.get(found.name or "")
    shape, first = shape_in(held)
    if not (shape and isinstance(first, str) and first.startswith(f"{operand.name}_0")):
        return None
    from attncalc.evaluate.exact import letters  # a door: SymPy, which few operands need

    given = letters(operand.name, shape)
    return given if np.vectorize(str, otypes=[object])(given.value).tolist() == held else None


def _picked(contents: Contents, name: str) -> Found:
    """`weights[2, 1:3]` or `weights.T` in a file; a name that ends so itself is taken as it is."""
    if not name.endswith(("]", ".T")):
        return Found(contents, name or None)
    from attncalc.inputs.indexing import split  # a door: few words pick a part

    base, at = split(name, contents.names, labels=contents.table)
    return Found(contents, base or None, at)


def _miss(word: str, operand: Operand, tables: Tables) -> InputError:
    """The error for a word that means nothing, with what it may have been meant for."""
    parts = [part for part in re.split(r"[;,\s]+", word) if part]
    numeric = any(is_entry(part, operand.kind) for part in parts) and (len(parts) > 1 or word.isalpha())
    if "#" not in word and (numeric or is_misspelt(word) or _is_formula(word)):
        return _fault_of_literal(word, operand)
    if not word.strip():
        return InputError(
            f"{operand.name}: the word is empty", hint="1,2,3 is a vector, q.json a file, - standard input"
        )
    if word.startswith(("http://", "https://")):
        return InputError(f"{operand.name}: {quoted(word)} is not fetched", hint="download it, and give the file")
    base = word.partition("#")[0]
    if base and is_folder(base):
        if _is_empty(base):
            hint = "arrays are in npz, safetensors or npy files, or in a folder of npy files"
            return InputError(f"{shown(base)} is a folder with nothing in it", hint=hint)
        return InputError(f"{shown(base)} is a folder", hint="name a file in it")
    if Path(base).name != base or Path(base).suffix.lower() in FORMATS:
        return InputError(f"there is no file {shown(base)}", hint=near_files(base))
    file, _, place = word.partition("[")
    if is_file(file):
        return InputError(f"there is no file {shown(word)}", hint=f"did you mean {shown(f'{file}#[{place}')}?")
    labels = _labels(tables)
    kinds = "no number, no file and no row label" if labels else "neither numbers nor a file"
    files = _files_beside(base)
    hint = near(Path(word).stem, [*files, *labels, *operand.words], said=files)
    known = f"it may be {' or '.join(operand.words)}; " if operand.words else ""
    usual = f"{known}1,2,3 is a vector, - standard input"
    return InputError(f"{operand.name}: {quoted(word)} is {kinds}", hint=hint or usual)


def _is_empty(folder: str) -> bool:
    """Whether a folder is known to be empty; one that may not be looked into is not."""
    try:
        return not any(Path(folder).iterdir())
    except OSError:
        return False


def _is_formula(word: str) -> bool:
    """Whether a word with a / is a formula rather than a file in a folder: `32/(sqrt(14)*sqrt(77))`."""
    is_path = Path(word).suffix.lower() in FORMATS or is_folder(str(Path(word).parent))
    return "/" in word and not is_path and re.fullmatch(_FORMULA, word, re.ASCII) is not None


def _fault_of_literal(word: str, operand: Operand) -> InputError:
    try:
        read_literal(word, operand.name, operand.kind)
    except InputError as error:
        return error
    raise AssertionError("a word that is no literal does not read as one")


def near_files(path: str) -> str:
    """A hint: a sample of that name, or files beside it of nearly that name; "" if there are none."""
    name = Path(path).name
    if str(Path(path)) in (name, str(Path("samples", name))) and is_file(str(samples_folder() / name)):
        return f"attncalc sample {name} -o {name} writes the sample"
    files = _files_beside(path)
    folder = path.rstrip("/").removesuffix(Path(path).name)
    return near(Path(path).stem, files, folder, said=files)


def _files_beside(path: str) -> dict[str, str]:
    """The files beside a path that may be read, by their names without suffix; at most a thousand are looked at."""
    try:
        beside = islice(Path(path).parent.iterdir(), 1000)
        return {one.stem: one.name for one in beside if one.suffix.lower() not in REFUSED and one.is_file()}
    except (OSError, ValueError):
        return {}
