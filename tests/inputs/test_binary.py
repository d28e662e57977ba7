"""Arrays stored as bytes: what is read, and how hostile headers and archives are refused."""

from __future__ import annotations

import io
import json
import math
import struct
import tracemalloc
import warnings
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rows import rows

Fault = Callable[..., tuple[str, str]]

MATRIX = np.array([[1.0, 2.0], [3.0, 4.0]])
HEADER = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }"


def npy(array: NDArray[Any]) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)  # the hostile side writes pickles; nothing here reads them
    return file.getvalue()


def npy_with(header: str, body: bytes = bytes(32), version: int = 1) -> bytes:
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header.encode("latin-1") + body


def npz(**arrays: NDArray[Any]) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]  # NumPy types the names as if one were allow_pickle
    return file.getvalue()


def archive(*members: tuple[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns of a name that stands twice, which is what is wanted
        with zipfile.ZipFile(file, "w", compression) as zipped:
            for name, content in members:
                zipped.writestr(name, content)
    return file.getvalue()


def claiming(size: int, content: bytes, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive of one array that claims so many bytes, with the sum of so many of those that it has."""
    whole = bytearray(archive(("q.npy", content), compression=compression))
    told = struct.pack("<L", zlib.crc32(content[:size]))
    for at, before in ((14, b"PK\x03\x04"), (16, b"PK\x01\x02")):
        start = whole.rindex(before) + at
        whole[start : start + 4] = told
        whole[start + 8 : start + 12] = struct.pack("<L", size)
    return bytes(whole)


def tensors(header: Any, body: bytes = bytes(8)) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def tensor(dtype: Any = "F32", shape: Any = (2,), offsets: Any = (0, 8)) -> dict[str, Any]:
    return {"q": {"dtype": dtype, "shape": shape, "data_offsets": offsets}}


@pytest.mark.thorough
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", ">f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy(read: Callable[..., Any], dtype: str, order: str) -> None:
    found = read(npy(np.array(MATRIX, dtype=dtype, order=order)), "q.npy")  # type: ignore[call-overload]  # order is C or F
    assert found.value.tolist() == MATRIX.tolist()
    assert found.value.dtype == np.float64
    assert (found.written, found.source, found.note) == (None, "q.npy", "")


@pytest.mark.parametrize("version", [1, 2, 3])
def test_versions(read: Callable[..., Any], version: int) -> None:
    assert read(npy_with(HEADER, MATRIX.tobytes(), version), "q.npy").value.tolist() == MATRIX.tolist()


def test_what_is_read_is_a_copy(read: Callable[..., Any]) -> None:
    assert read(npy(MATRIX), "q.npy").value.flags.writeable


@pytest.mark.parametrize("whole", [np.int64(2**53 + 1), np.int64(-(2**53) - 1), np.uint64(2**64 - 1)])
def test_whole_numbers_that_64_bits_do_not_hold_are_told(read: Callable[..., Any], whole: Any) -> None:
    entries = np.array([[2**53, whole]], whole.dtype)
    for content, file in ((npy(entries), "q.npy"), (npz(q=entries), "q.npz")):
        assert [(r.kind, r.text.split(" and ")[0]) for r in read(content, file).remarks] == [
            ("digits", f'"{whole}" has more digits than 64 bits hold')
        ]
    assert not read(npy(entries[:, :1]), "q.npy").remarks


def test_kinds(read: Callable[..., Any], fault: Fault) -> None:
    assert read(npy(np.array([[True, False]])), "q.npy", kind="mask").value.dtype == bool
    assert read(npy(np.array([[0, -np.inf]])), "q.npy", kind="logits").value.tolist() == [[0, -math.inf]]
    assert read(npy(np.array([1, 2])), "q.npy", word="@q.npy", kind="tokens", shape="n").value.dtype == np.int64
    assert fault(npy(np.array([1.5])), "q.npy", kind="integers") == ("q.npy: [0]: 1.5 is not a whole number", "")
    assert (
        fault(npy(np.array([1.5])), "q.npy", word="@q.npy", kind="tokens")[0] == "q.npy: [0]: 1.5 is not a whole number"
    )
    for ids in (np.array([0, 1e30]), np.array([0, 2**63 + 5], dtype=np.uint64)):
        said, mend = fault(npy(ids), "q.npy", word="@q.npy", kind="tokens", shape="n")
        assert (said, mend) == (f"q.npy: [1]: {ids[1]} is neither an id nor a word", "ids are whole numbers, from 0")


MOST = "at most 100,000,000 are read"
NOT_NUMPY = "q.npy: the npy header is not one that NumPy writes"
OBJECTS = "holds Python objects, which are never opened, since that can run code"

BAD_NPY: list[tuple[str, bytes, str]] = [
    ("objects", npy(np.array([[1, None]], dtype=object)), f"q.npy {OBJECTS}"),
    ("a claim of objects", npy_with(HEADER.replace("<f8", "|O")), f"q.npy {OBJECTS}"),
    ("text", npy(np.array([["a"]])), "q.npy holds text, not real numbers"),
    ("complex", npy(np.array([[1j]])), "q.npy holds complex numbers, not real numbers"),
    ("dates", npy(np.array(["2020-01-01"], dtype="M8[D]")), "q.npy holds dates, not real numbers"),
    ("records", npy(np.zeros(2, dtype=[("a", "f8")])), "q.npy holds records, not real numbers"),
    ("bytes of no size", npy_with(HEADER.replace("<f8", "|S0")), "q.npy holds text, not real numbers"),
    (
        "a type that is not there",
        npy_with(HEADER.replace("<f8", "<f1")),
        'q.npy holds "<f1", as NumPy stores bfloat16 and float8 without saying which',
    ),
    ("booleans", npy(np.array([[True]])), "q.npy holds true and false, not numbers"),
    ("a gap", npy(np.array([[1, np.nan]])), "q.npy: [0][1]: nan is not a finite number"),
    ("infinity", npy(np.array([[1], [-np.inf]])), "q.npy: [1][0]: -inf is not a finite number"),
    ("nothing in it", npy(np.zeros((0, 3))), "q.npy is empty: its shape is 0 × 3"),
    ("cut", npy_with(HEADER, bytes(31)), "q.npy claims 32 bytes of numbers, but there are 31"),
    ("too long", npy_with(HEADER, bytes(33)), "q.npy claims 32 bytes of numbers, but there are 33"),
    (
        "a huge claim",
        npy_with(HEADER.replace("(2, 2)", "(100000000000,)")),
        "q.npy claims 800,000,000,000 bytes of numbers, but there are 32",
    ),
    (
        "a huge empty claim",
        npy_with(HEADER.replace("(2, 2)", f"(0, {10**17})"), b""),
        f"q.npy is empty: its shape is 0 × {10**17}",
    ),
    (
        "two huge axes beside an empty one",
        npy_with(HEADER.replace("(2, 2)", f"({10**17}, {10**17}, 0)"), b""),
        f"q.npy is empty: its shape is {10**17} × {10**17} × 0",
    ),
    ("no type", npy_with(HEADER.replace("<f8", "")), 'q.npy holds "", not real numbers'),
    ("an endless size", npy_with(HEADER.replace("(2, 2)", f"({10**30},)")), NOT_NUMPY),
    ("too many axes", npy_with(HEADER.replace("2, 2", "1, " * 40), bytes(8)), "q.npy has 40 axes; the limit is 32"),
    ("brackets", npy_with("(" * 9000), NOT_NUMPY),
    ("a size that is true", npy_with(HEADER.replace("(2, 2)", "(True,)")), NOT_NUMPY),
    ("code", npy_with(HEADER.replace("'<f8'", "__import__('os')")), NOT_NUMPY),
    ("more than a header", npy_with(HEADER + "x"), NOT_NUMPY),
    ("an unknown version", npy_with(HEADER, version=9), "q.npy: npy version 9 is not known"),
    (
        "a long header",
        b"\x93NUMPY\x02\x00\xff\xff\xff\xff",
        "q.npy: the header claims 4294967295 bytes, but there are 0",
    ),
    ("a cut beginning", b"\x93NUMPY", "q.npy is not an npy file"),
    ("a beginning cut in the length of its header", b"\x93NUMPY\x01\x00\x00", "q.npy is not an npy file"),
    ("text in its place", b"1,2\n3,4\n", "q.npy is not an npy file"),
    ("nothing at all", b"", "q.npy is empty"),
]


@rows(("content", "message"), [row[1:] for row in BAD_NPY], ids=[row[0] for row in BAD_NPY])
def test_bad_npy(fault: Fault, content: bytes, message: str) -> None:
    said, hint = fault(content, "q.npy")
    assert said == message
    assert "allow_pickle" not in hint


def test_a_boolean_is_0_or_1(fault: Fault) -> None:
    content = npy_with(HEADER.replace("<f8", "|b1"), b"\x02\x00\x00\x01")
    assert fault(content, "q.npy", kind="mask") == ("q.npy holds booleans that are neither 0 nor 1", "")


def test_npz(read: Callable[..., Any], fault: Fault) -> None:
    both = npz(q=MATRIX, k=MATRIX + 1)
    assert read(both, "w.npz").value.tolist() == MATRIX.tolist()
    assert read(both, "w.npz", word="w.npz#k").source == "w.npz#k"
    assert read(both, "w.npz", word="w.npz#k[1]", shape="n").value.tolist() == [4, 5]
    assert read(npz(arr_0=MATRIX), "w.npz").source == "w.npz#arr_0"
    assert fault(both, "w.npz", word="w.npz#c") == ('w.npz holds no "c"', "it holds q, k")
    assert fault(npz(weights=MATRIX, k=MATRIX), "w.npz", word="w.npz#wieghts")[1] == "did you mean w.npz#weights?"
    assert fault(both, "w.npz", word="w.npz#k[2]")[0] == "w.npz#k has no [2]: axis 0 has 2 entries, 0 to 1"
    assert fault(npz(a=MATRIX, b=MATRIX), "w.npz") == (
        "w.npz holds several arrays, none called q: a, b",
        "name one: w.npz#a",
    )


def damaged() -> bytes:
    content = bytearray(archive(("q.npy", npy(MATRIX)), compression=zipfile.ZIP_STORED))
    content[150] ^= 255  # within the numbers, so that only the checksum can tell
    return bytes(content)


OTHERWISE = "w.npz#q is encrypted, or compressed in a way that numpy.savez does not use"
TORCH = "w.npz is a PyTorch file, which is never opened, since that can run code"

BAD_NPZ: list[tuple[str, bytes, str]] = [
    ("objects", npz(q=np.array([None])), f"w.npz#q {OBJECTS}"),
    ("two of a name", archive(("q.npy", npy(MATRIX)), ("q.npy", npy(MATRIX))), 'w.npz holds two arrays called "q"'),
    ("not an array", archive(("readme.txt", b"x")), 'w.npz holds "readme.txt", which is not an array'),
    ("not an npy", archive(("q.npy", b"x")), "w.npz#q is not an npy file"),
    ("nothing in it", archive(), "w.npz holds no array"),
    ("damaged", damaged(), "w.npz#q is damaged: its bytes do not unpack to what was packed"),
    ("no archive", b"PK\x03\x04xx", "w.npz is not an npz file"),
    ("a torch file", archive(("archive/data.pkl", b"x")), TORCH),
    ("an Office file", archive(("[Content_Types].xml", b"x")), "w.npz is an Office document"),
    ("packed otherwise", archive(("q.npy", npy(MATRIX)), compression=zipfile.ZIP_BZIP2), OTHERWISE),
]


@pytest.mark.parametrize(("content", "message"), [row[1:] for row in BAD_NPZ], ids=[row[0] for row in BAD_NPZ])
def test_bad_npz(fault: Fault, content: bytes, message: str) -> None:
    assert fault(content, "w.npz")[0] == message


TENS = npy_with("{'descr': '<f8', 'fortran_order': False, 'shape': (10,), }", bytes(80))


@pytest.mark.thorough
@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
@pytest.mark.parametrize("more", [1, 5000, 2**26, -1, -40])
def test_an_archive_that_does_not_unpack_to_what_it_claims(fault: Fault, more: int, compression: int) -> None:
    """Neither more, of which what was claimed would be a right array, nor less; in no more memory than that takes."""
    content = claiming(len(TENS), (TENS + bytes(max(0, more)))[: len(TENS) + more], compression)
    tracemalloc.start()
    try:
        message, _ = fault(content, "w.npz")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    allowed = (
        f"w.npz#q does not unpack to the {len(TENS)} bytes that it claims",
        "w.npz#q is damaged: its bytes do not unpack to what was packed",
    )
    assert message in allowed
    assert most < 2 * len(content) + 2**21


@pytest.mark.parametrize("shape", ["(9,)", "(11,)", "(10, 10)", "()", "(1000000,)"])
def test_a_member_whose_header_names_another_shape(fault: Fault, shape: str) -> None:
    content = archive(("q.npy", npy_with(f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}", bytes(80))))
    assert fault(content, "w.npz")[0].endswith("of numbers, but there are 80")


def test_a_bomb_is_not_unpacked(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attncalc.inputs.stored_arrays.MAX_MEMBERS_BYTES", 10_000)
    content = archive(("q.npy", bytes(9_000)), ("k.npy", bytes(9_000)))
    assert fault(content, "w.npz")[0] == "w.npz unpacks to 18,000 bytes; at most 10,000 are read"


def test_a_name_in_an_archive_is_no_path(read: Callable[..., Any]) -> None:
    content = archive(("../../evil.npy", npy(MATRIX)), ("q.npy", npy(MATRIX)))
    assert read(content, "w.npz", word="w.npz#../../evil").value.tolist() == MATRIX.tolist()


TENSORS: list[tuple[str, bytes, list[float]]] = [
    ("F64", np.array([1, 0.1], "<f8").tobytes(), [1, 0.1]),
    ("F32", np.array([1, 0.5], "<f4").tobytes(), [1, 0.5]),
    ("F16", np.array([1, 0.25], "<f2").tobytes(), [1, 0.25]),
    ("BF16", (np.array([1, -2.5], "<f4").view("<u4") >> 16).astype("<u2").tobytes(), [1, -2.5]),
    ("F8_E4M3", bytes([0xB8, 0x7E]), [-1, 448]),
    ("F8_E4M3", bytes([0x01, 0x00]), [2.0**-9, 0]),
    ("F8_E5M2", bytes([0xC0, 0x7B]), [-2, 57344]),
    ("F8_E5M2", bytes([0x01, 0x3C]), [2.0**-16, 1]),
    ("I64", np.array([-1, 2], "<i8").tobytes(), [-1, 2]),
    ("I8", np.array([-1, 2], "i1").tobytes(), [-1, 2]),
    ("U8", bytes([1, 255]), [1, 255]),
    ("U32", np.array([1, 2**32 - 1], "<u4").tobytes(), [1, 2**32 - 1]),
]


@pytest.mark.parametrize(("dtype", "body", "value"), TENSORS, ids=[row[0] for row in TENSORS])
def test_safetensors(read: Callable[..., Any], dtype: str, body: bytes, value: list[float]) -> None:
    header = tensor(dtype, offsets=[0, len(body)]) | {"__metadata__": {"format": "pt"}}
    found = read(tensors(header, body), "w.safetensors", shape="n")
    assert found.value.tolist() == value
    assert found.value.dtype == np.float64
    assert found.source == "w.safetensors#q"


def test_one_tensor_of_several(read: Callable[..., Any]) -> None:
    header = tensor(offsets=[8, 16]) | {"model.k": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]}}
    content = tensors(header, np.array([1, 2, 3, 4], "<f4").tobytes())
    assert read(content, "w.safetensors", shape="n").value.tolist() == [3, 4]
    assert read(content, "w.safetensors", word="w.safetensors#model.k").value.tolist() == [[1, 2]]
    assert read(content, "w", word="@w#model.k").value.tolist() == [[1, 2]]  # told by its content


NO_SHAPE = "w.safetensors#q: the header does not give a shape and two offsets"
NO_FILE = "w.safetensors is not a safetensors file"

BAD_TENSORS: list[tuple[str, bytes, str]] = [
    ("outside", tensors(tensor(offsets=[0, 9])), "w.safetensors#q lies outside the file: bytes 0 to 9 of 8"),
    ("turned round", tensors(tensor(offsets=[8, 0])), "w.safetensors#q lies outside the file: bytes 8 to 0 of 8"),
    ("another size", tensors(tensor(shape=[3])), "w.safetensors#q claims 12 bytes of numbers, but there are 8"),
    (
        "a huge claim",
        tensors(tensor(shape=[10**9, 10**9])),
        f"w.safetensors#q claims {4 * 10**18:,} bytes of numbers, but there are 8",
    ),
    (
        "huge axes of nothing",
        tensors(tensor(shape=[10**17, 10**17, 0], offsets=[0, 0]), b""),
        f"w.safetensors#q is empty: its shape is {10**17} × {10**17} × 0",
    ),
    ("turns", tensors(tensor("C64", [1], [0, 8])), "w.safetensors#q holds complex numbers, not real numbers"),
    ("an unknown type", tensors(tensor("F4")), 'w.safetensors#q is stored as "F4"'),
    ("a type that is a list", tensors(tensor(["F32"])), "w.safetensors#q is stored as \"['F32']\""),
    ("a negative size", tensors(tensor(shape=[-2])), NO_SHAPE),
    ("a size that is true", tensors(tensor(shape=[True])), NO_SHAPE),
    ("a shape that is text", tensors(tensor(shape="22")), NO_SHAPE),
    ("no offsets", tensors({"q": {"dtype": "F32", "shape": [2]}}), NO_SHAPE),
    ("three offsets", tensors(tensor(offsets=[0, 4, 8])), "w.safetensors#q: the header gives 3 offsets, not two"),
    ("no description", tensors({"q": 3}), "w.safetensors#q: the header does not describe an array"),
    ("nothing in it", tensors({}), "w.safetensors holds no array"),
    ("a list", tensors([1]), f"{NO_FILE}: its header is not an object"),
    ("two of a name", tensors(b'{"q":1,"q":2}'), 'w.safetensors: header:1:8: the key "q" occurs twice in one object'),
    ("no JSON", tensors(b'{"q":'), "w.safetensors: header:1:6: the text ends where a value is expected"),
    ("no text", tensors(b"\xff\xfe"), f"{NO_FILE}: its header is not text"),
    ("short", b"abc", f"{NO_FILE}: its header does not fit in its 3 bytes"),
    ("a long header", struct.pack("<Q", 10**12) + b"{}", f"{NO_FILE}: its header does not fit in its 10 bytes"),
    (
        "a gap",
        tensors(tensor(), np.array([1, np.nan], "<f4").tobytes()),
        "w.safetensors#q: [1]: nan is not a finite number",
    ),
]


@pytest.mark.parametrize(("content", "message"), [row[1:] for row in BAD_TENSORS], ids=[row[0] for row in BAD_TENSORS])
def test_bad_safetensors(fault: Fault, content: bytes, message: str) -> None:
    assert fault(content, "w.safetensors", shape="n")[0] == message
