"""Arrays stored as bytes: npy, npz and safetensors, read by our own code for safety.

NumPy's reader allocates what a header claims and takes dtypes that are no numbers; here a header is matched against
what NumPy writes, and its claim compared with the bytes that are there. Objects, which are pickles, are never opened.
"""

from __future__ import annotations

import io
import math
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping
from copy import copy
from functools import partial
from mmap import mmap
from typing import Any, Protocol

import numpy as np

from attncalc.common.errors import InputError, amount, quoted, shape_text, visible
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple
from attncalc.declare.operands import Operand
from attncalc.inputs.given import MAX_CELLS, brackets, from_array
from attncalc.inputs.indexing import Parts
from attncalc.inputs.json_files import parse_json, plain
from attncalc.inputs.python_values import stored_numbers
from attncalc.inputs.reading import TORCH_HINT, Contents, Reading, choose
from attncalc.record.trace import Given

MAX_MEMBERS_BYTES = 8 * MAX_CELLS  # of all members of an npz file together
_MAX_HEADER = 2**16
_MAX_TENSORS_HEADER = 10**8  # as in the format's own reader
_DTYPES = re.compile(r"[<>|=](?:[fiu][1248]|c8|c16|b1)")
_TENSORS = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "F8_E4M3": "|u1", "F8_E5M2": "|u1",
    "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1", "C64": "<c8",
}  # fmt: skip

_NARROW = {"BF16": "bfloat16", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2"}

_EIGHT_BITS = {"F8_E4M3": (3, 7, False), "F8_E5M2": (2, 15, True)}
"""For each type of a byte: the bits of its fraction, the bias of its exponent, and whether the largest one means ∞."""

Loaders = dict[str, "Loader"]
"""The arrays of a file by name, each read when it is asked for."""


class Loader(Protocol):
    """Reads an array, or only the parts of it that are asked for."""

    def __call__(self, at: Parts = (), most: float = MAX_CELLS) -> Array:
        """The numbers, in a type to compute with, if there are no more than `most`."""


class ArrayFile(Contents):
    """An npy file, whose array has no name, or the named arrays of an npz or safetensors file."""

    def __init__(self, source: str, loaders: Loaders) -> None:
        super().__init__(source)
        self.loaders = loaders
        self.types: dict[str, str] = {}  # the stored types of arrays that are read in a wider type
        self.is_checkpoint = False  # whether arrays may be large, so that they are mapped, or kept narrow

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its arrays."""
        return tuple(name for name in self.loaders if name)

    def array(self, name: str | None, operand: Operand, reading: Reading) -> Given:
        """The array of that name, or the one that is meant for the operand."""
        return self.part(name, (), operand, reading)

    def part(self, name: str | None, at: Parts, operand: Operand, reading: Reading) -> Given:
        """The array, or what `[0, 1:3]` and `.T` behind its name leave of it; only its bytes are read."""
        if operand.kind == "expression":
            raise InputError(f"{self.source} holds arrays, and {operand.name} is a formula")
        value, source = self.stored(name, operand, at)
        return from_array(value, operand.kind, brackets(source), mapped=self.is_checkpoint)._replace(source=source)

    def stored(self, name: str | None, operand: Operand, at: Parts = ()) -> tuple[Array, str]:
        """The array, or the parts of it, as it was stored, and what it is called in errors."""
        chosen = "" if name is None and "" in self.loaders else choose(name, operand.name, self.names, self.source)
        source = f"{self.source}#{visible(chosen, 80)}" if chosen else self.source
        most = math.inf if self.is_checkpoint else MAX_CELLS
        return self.loaders[chosen](at, most), "".join((source, *(part.text for part in at)))

    def described(self, name: str) -> tuple[tuple[int, ...], str]:
        """The shape of an array and the type in which it was stored; its numbers are not read."""
        look = _Look("", [])
        self.loaders[name]((look,))
        return look.seen[0].shape, self.types.get(name, look.seen[0].dtype.name)


class _Look(NamedTuple):
    """An empty part of an array, which keeps the array to look at its shape and type."""

    text: str
    seen: list[Array]

    def cut(self, array: Array, source: str) -> Array:
        """An empty part; the array is kept in `seen`."""
        self.seen.append(array)
        return array.reshape(-1)[:0] if array.ndim < 2 else array[:0]

    def of(self, given: Given) -> Given:
        """The operand as it is: only arrays are looked at like this."""
        return given


def of_npy(data: bytes | mmap, source: str) -> ArrayFile:
    """What an npy file holds, which is read when it is asked for."""
    return ArrayFile(source, {"": partial(read_npy, data, source)})


def read_npy(data: bytes | mmap, source: str, at: Parts = (), most: float = MAX_CELLS) -> Array:
    """The array of an npy file, or the parts of it that are asked for."""
    if data[:6] != b"\x93NUMPY" or len(data) < 10:
        raise InputError(f"{source} is not an npy file", hint="numpy.save writes one")
    version = data[6]
    if version not in (1, 2, 3):
        raise InputError(f"{source}: npy version {version} is not known")
    start = 10 if version == 1 else 12
    length = int.from_bytes(data[8:start], "little")
    header = data[start : start + length]
    if length > _MAX_HEADER or len(header) < length:
        raise InputError(f"{source}: the header claims {length} bytes, but there are {len(data) - start}")
    dtype, fortran, shape = _header(header.decode("latin-1"), source)
    body = memoryview(data)[start + length :]
    _check_size(len(body), shape, dtype.itemsize, source)
    array = np.frombuffer(body, dtype=dtype).reshape(shape, order="F" if fortran else "C")
    return _checked_truth(_part(array, at, most, source), source)


def of_npz(data: bytes, source: str, most: int) -> ArrayFile:
    """The arrays of an npz file, by name, if all of them together have no more bytes than `most`."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        members = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, EOFError, NotImplementedError, UnicodeError):
        raise InputError(f"{source} is not an npz file", hint="numpy.savez writes one") from None
    _refuse_other_archives([member.filename for member in members], source)
    total = sum(member.file_size for member in members)
    if total > most:
        raise InputError(f"{source} unpacks to {total:,} bytes; at most {most:,} are read")
    loaders: Loaders = {}
    for member in members:
        name = member.filename.removesuffix(".npy")
        if name in loaders:
            raise InputError(f"{source} holds two arrays called {quoted(name)}")
        if name == member.filename:
            raise InputError(f"{source} holds {quoted(name)}, which is not an array")
        loaders[name] = _member(archive, member, f"{source}#{quoted(name)[1:-1]}")
    return ArrayFile(source, loaders)


def of_safetensors(data: bytes | mmap, source: str) -> ArrayFile:
    """The arrays of a safetensors file, by name: eight bytes of length, a JSON header, and the numbers end to end."""
    size = len(data)
    length = int.from_bytes(data[:8], "little")
    if size < 8 or length > min(size - 8, _MAX_TENSORS_HEADER):
        raise InputError(f"{source} is not a safetensors file: its header does not fit in its {amount(size, 'byte')}")
    try:
        text = data[8 : 8 + length].decode()
    except UnicodeDecodeError:
        raise InputError(f"{source} is not a safetensors file: its header is not text") from None
    header = plain(parse_json(text, f"{source}: header"), source)
    if not isinstance(header, dict):
        raise InputError(f"{source} is not a safetensors file: its header is not an object")
    header.pop("__metadata__", None)
    loaders: Loaders = {
        name: partial(_tensor, data, 8 + length, entry, f"{source}#{quoted(name)[1:-1]}")
        for name, entry in header.items()
    }
    found = ArrayFile(source, loaders)
    kinds = ((name, entry.get("dtype")) for name, entry in header.items() if isinstance(entry, dict))
    found.types = {name: _NARROW[kind] for name, kind in kinds if isinstance(kind, str) and kind in _NARROW}
    return found


def of_shards(tree: Any, source: str, opened: Callable[[str], Contents]) -> ArrayFile:
    """The arrays of a checkpoint in several files; `tree` is the list that names the file of each array."""
    listed = plain(tree, source)
    places = listed.get("weight_map") if isinstance(listed, dict) else None
    if not isinstance(places, dict) or not all(isinstance(name, str) for name in places.values()):
        raise InputError(f'{source} is no list of a checkpoint\'s files: it has no "weight_map" of names')
    for name in dict.fromkeys(places.values()):
        if not re.fullmatch(r"[^/\\:\0]+\.safetensors", name):
            raise InputError(
                f"{source}: {quoted(name)} is no safetensors file beside it, and others are not opened",
                hint="a checkpoint's files lie in one folder",
            )

    def load(name: str, at: Parts = (), most: float = MAX_CELLS) -> Array:
        shard = opened(places[name])
        assert isinstance(shard, ArrayFile), "it ends in .safetensors"
        if name not in shard.loaders:
            raise InputError(
                f"{source} says that {quoted(name)} is in {shard.source}, which does not hold it",
                hint="the files are of several checkpoints, or one was saved anew",
            )
        found.types |= shard.types
        return shard.loaders[name](at, most)

    found = ArrayFile(source, {name: partial(load, name) for name in places})
    return found


def of_files(files: Mapping[str, Callable[[], Contents]], source: str) -> ArrayFile:
    """The arrays of several npy files, by the names of the files, each of which is opened when it is asked for."""

    def load(name: str, at: Parts = (), most: float = MAX_CELLS) -> Array:
        held = files[name]()
        assert isinstance(held, ArrayFile), "it ends in .npy"
        return held.loaders[""](at, most)

    return ArrayFile(source, {name: partial(load, name) for name in files})


def of_arrays(arrays: Mapping[str, Any], source: str) -> ArrayFile:
    """Arrays from Python, of NumPy, torch or JAX, as if they were stored."""

    def load(name: str, at: Parts = (), most: float = MAX_CELLS) -> Array:
        return _part(stored_numbers(arrays[name], name)[0], at, most, source)

    return ArrayFile(source, {name: partial(load, name) for name in arrays})


def _header(text: str, source: str) -> tuple[np.dtype[Any], bool, tuple[int, ...]]:
    """The dtype, order and shape that an npy header names; it is matched, never evaluated."""
    match = {
        key: re.search(rf"'{key}':\s*({pattern})\s*,?\s*", text)
        for key, pattern in (
            ("descr", r"'[^']*'|\[.*\]"),
            ("fortran_order", "True|False"),
            ("shape", r"\((?:\d{1,18}L?,\s*)*(?:\d{1,18}L?\s*)?\)"),
        )
    }
    rest = text
    for found in match.values():
        if found is None:
            raise InputError(f"{source}: the npy header is not one that NumPy writes")
        rest = rest.replace(found.group(), "", 1)
    descr, fortran, shape = (found.group(1) for found in match.values() if found)
    if rest.strip() not in ("{}", "{ }"):
        raise InputError(f"{source}: the npy header is not one that NumPy writes")
    sizes = tuple(int(size) for size in re.findall(r"\d+", shape))
    return _dtype(descr.strip("'"), source), fortran == "True", sizes


def _dtype(name: str, source: str) -> np.dtype[Any]:
    if name.endswith("O"):
        raise InputError(
            f"{source} holds Python objects, which are never opened, since that can run code",
            hint="save numbers: numpy.save(path, array.astype(float))",
        )
    if re.fullmatch(r"[<>|=](V[12]|f1)", name):
        raise InputError(
            f"{source} holds {quoted(name)}, as NumPy stores bfloat16 and float8 without saying which",
            hint="save it with safetensors, or as float32: numpy.save(path, array.astype('float32'))",
        )
    if name.startswith("[") or not _DTYPES.fullmatch(name) or name[1:] == "f1":
        what = {"U": "text", "S": "text", "M": "dates", "m": "times"}.get(name[1:2])
        raise InputError(
            f"{source} holds {what or 'records' if what or name[:1] == '[' else quoted(name)}, not real numbers"
        )
    return np.dtype(name)


def _check_size(present: int, shape: tuple[int, ...], itemsize: int, source: str) -> None:
    """Raise unless the bytes that are there are those that the header claims, before anything is allocated."""
    if len(shape) > 32:
        raise InputError(f"{source} has {len(shape)} axes; the limit is 32")
    cells = math.prod(shape)
    if not cells and math.prod(filter(None, shape)) > MAX_CELLS:  # NumPy makes no array of it, although it has no entry
        raise InputError(f"{source} is empty: its shape is {shape_text(shape)}")
    if cells * itemsize != present:
        raise InputError(f"{source} claims {amount(cells * itemsize, 'byte')} of numbers, but there are {present:,}")


def _part(array: Array, at: Parts, most: float, source: str) -> Array:
    """The part of a stored array that is asked for; only its size is limited."""
    for part in at:
        array, source = part.cut(array, source), source + part.text
    if array.size > most:
        mend = f"a part of it is {source}[0:{min(9, *array.shape)}]"
        raise InputError(f"{source} has {array.size:,} entries; at most {most:,} are read", hint=mend)
    return array


def _checked_truth(array: Array, source: str) -> Array:
    """The array itself; raises for a boolean stored as something other than 0 and 1."""
    if array.dtype.kind == "b" and (array.view(np.uint8) > 1).any():
        raise InputError(f"{source} holds booleans that are neither 0 nor 1")
    return array


def _refuse_other_archives(names: list[str], source: str) -> None:
    if any(name.endswith("data.pkl") for name in names):
        raise InputError(f"{source} is a PyTorch file, which is never opened, since that can run code", hint=TORCH_HINT)
    if "[Content_Types].xml" in names:
        raise InputError(f"{source} is an Office document", hint="save the sheet as CSV")


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, source: str) -> Loader:
    def load(at: Parts = (), most: float = MAX_CELLS) -> Array:
        if member.flag_bits & 1 or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise InputError(f"{source} is encrypted, or compressed in a way that numpy.savez does not use")
        claimed = copy(member)
        claimed.file_size += 1  # zipfile inflates all of it first, and then cuts it to what is claimed
        try:
            with archive.open(claimed) as file:
                data = file.read(claimed.file_size)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError):
            raise InputError(f"{source} is damaged: its bytes do not unpack to what was packed") from None
        if len(data) != member.file_size:
            raise InputError(f"{source} does not unpack to the {amount(member.file_size, 'byte')} that it claims")
        return read_npy(data, source, at, most)

    return load


def _tensor(data: bytes | mmap, start: int, entry: Any, source: str, at: Parts = (), most: float = MAX_CELLS) -> Array:
    dtype, shape, (begin, end) = _tensor_header(entry, source)
    rest = len(data) - start
    if not 0 <= begin <= end <= rest:
        fault = f"{source} lies outside the file: bytes {begin} to {end} of {rest}"
        raise InputError(fault, hint="the file was cut: copy it again" if begin <= end else "")
    _check_size(end - begin, shape, np.dtype(_TENSORS[dtype]).itemsize, source)
    whole = np.frombuffer(data, _TENSORS[dtype], math.prod(shape), start + begin).reshape(shape)
    array = _part(whole, at, most, source)
    if dtype in _NARROW and most == math.inf and (kind := narrow_type(_NARROW[dtype])) is not None:
        return array.view(kind)
    if dtype == "BF16":  # the upper half of a float32
        return np.asarray((array.astype(np.uint32) << 16).view(np.float32))
    if dtype in _EIGHT_BITS:
        return np.asarray(_of_eight_bits(*_EIGHT_BITS[dtype])[array])
    return _checked_truth(array, source)


def narrow_type(name: str) -> np.dtype[Any] | None:
    """NumPy's type of that name; None if it needs ml_dtypes, and that is not installed."""
    if name in _NARROW.values():
        try:
            import ml_dtypes  # a door: an optional extra
        except ImportError:
            return None
        kind: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
        return kind
    return np.dtype(name)


def _of_eight_bits(bits: int, bias: int, infinite: bool) -> Array:
    """The number that every byte stands for; e4m3fn has no ∞, and NaN in its last place alone."""
    codes = np.arange(256)
    exponent, fraction = (codes & 127) >> bits, codes & (2**bits - 1)
    normal = exponent > 0
    value = np.ldexp((fraction + normal * 2.0**bits) / 2**bits, np.maximum(exponent, 1) - bias)
    if infinite:
        value = np.where(exponent == exponent.max(), np.where(fraction == 0, np.inf, np.nan), value)
    else:
        value[(codes & 127) == 127] = np.nan
    return np.asarray(np.where(codes < 128, value, -value).astype(np.float32))


def _tensor_header(entry: Any, source: str) -> tuple[str, tuple[int, ...], tuple[int, int]]:
    """A tensor's dtype, shape and the bytes that hold it."""
    if not isinstance(entry, dict):
        raise InputError(f"{source}: the header does not describe an array")
    dtype: Any = entry.get("dtype")
    shape: Any = entry.get("shape")
    offsets: Any = entry.get("data_offsets")
    for numbers in (shape, offsets):
        if not isinstance(numbers, list) or not all(type(number) is int and number >= 0 for number in numbers):
            raise InputError(f"{source}: the header does not give a shape and two offsets")
    if len(offsets) != 2:
        raise InputError(f"{source}: the header gives {amount(len(offsets), 'offset')}, not two")
    if not isinstance(dtype, str) or dtype not in _TENSORS:
        raise InputError(f"{source} is stored as {quoted(str(dtype))}", hint=f"read are {', '.join(_TENSORS)}")
    return dtype, tuple(shape), (offsets[0], offsets[1])
