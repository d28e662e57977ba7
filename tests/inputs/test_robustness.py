"""Whatever a file holds and whatever word is typed: an operand of finite numbers, or an error of one printable line."""

from __future__ import annotations

import io
import json
import math
import struct
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from operands import an_operand

from attncalc.common.errors import AttncalcError, InputError
from attncalc.common.system import exists
from attncalc.declare.operands import Kind, Operand
from attncalc.inputs.given import looks_numeric
from attncalc.inputs.problem_files import load_document
from attncalc.inputs.reading import Reading
from attncalc.inputs.resolve import read_word
from attncalc.record.trace import Given

KINDS: tuple[Kind, ...] = ("real", "logits", "mask", "integers", "tokens", "data")

operands = st.builds(an_operand, st.sampled_from(KINDS), st.sampled_from(["n", "n d", "|n", "n|n d", "b n d"]))


@contextmanager
def a_file(content: bytes, name: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        yield str(path)


def read(word: str, operand: Operand, reading: Reading) -> None:
    """Read, and hold the operand or the error to what they promise."""
    try:
        found = read_word(word, operand, reading, {})
    except InputError as error:
        check_error(error)
    else:
        check_operand(found, operand.kind)


def check_error(error: AttncalcError) -> None:
    assert error.message
    assert error.message.isprintable()
    assert error.hint.isprintable()
    assert "Traceback" not in error.message


def check_operand(found: Given, kind: Kind) -> None:
    assert found.value.size
    if found.value.dtype.kind == "f":
        masked = kind in ("logits", "mask")
        assert all(math.isfinite(entry) or (masked and entry == -math.inf) for entry in found.value.flat)
    assert found.written is None or found.written.shape == found.value.shape
    assert all(len(words) == found.value.shape[axis] for axis, words in found.labels.items())


def npy_header(text: str, body: bytes) -> bytes:
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode("latin-1", "replace") + body


def zipped(members: list[tuple[str, bytes]]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in dict(members).items():
            archive.writestr(name, content)
    return file.getvalue()


def tensors(header: Any, body: bytes) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


number = st.sampled_from(["1", "-2", "0.5", "1e3", "1/3", "nan", "-inf", "1e999", "x", "", "1,5", "true", "cat", "50%"])
cells = st.lists(st.lists(number, min_size=1, max_size=4), min_size=1, max_size=4)
csv_text = st.builds(
    lambda rows, delimiter, end: end.join(delimiter.join(row) for row in rows).encode(),
    cells,
    st.sampled_from([",", ";", "\t", " ", "  "]),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
json_value: Any = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("qkxyQ") | st.text(max_size=5), inner),
    max_leaves=20,
)
document = st.fixed_dictionaries(
    {"calculation": st.sampled_from(["dot", "attention", "grad dot", "x"]) | json_value},
    optional=dict.fromkeys(("inputs", "options", "steps", "outputs", "result", "labels", "attncalc"), json_value),
)
dtype = st.sampled_from(["<f8", ">f4", "|i1", "|b1", "<f2", "|O", "<U1", "<c8", "|S0", "<f16", "<M8[D]", "|V8"])
header = st.builds(
    "{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}".format,
    dtype,
    st.sampled_from(["True", "False", "1"]),
    st.lists(st.integers(-1, 4), max_size=3).map(tuple) | st.just((10**11,)),
)
tensor = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from(["F32", "BF16", "BOOL", "U8", "X"]) | json_value,
        "shape": st.lists(st.integers(-1, 4), max_size=3) | json_value,
        "data_offsets": st.lists(st.integers(-1, 9), min_size=2, max_size=2) | json_value,
    }
)
contents = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.text(max_size=50).map(lambda text: text.encode("utf-16", "surrogatepass")),
    csv_text,
    json_value.map(lambda value: json.dumps(value).encode()),
    document.map(lambda value: json.dumps(value).encode()),
    st.builds(npy_header, header | st.text(max_size=30), st.binary(max_size=40)),
    st.lists(st.tuples(st.sampled_from(["q.npy", "k.npy", "x"]), st.binary(max_size=40)), max_size=3).map(zipped),
    st.builds(tensors, st.dictionaries(st.sampled_from(["q", "k", "__metadata__"]), tensor) | json_value, st.binary()),
)
suffixes = st.sampled_from(["", ".json", ".jsonl", ".csv", ".tsv", ".npy", ".npz", ".safetensors", ".txt"])
readings = st.builds(
    Reading,
    delimiter=st.sampled_from([None, None, ",", ";", "|", "tab"]),
    header=st.sampled_from([None, None, True, False]),
    labels=st.sampled_from([None, None, True, False]),
    transpose=st.sampled_from([frozenset(), frozenset(), frozenset("q")]),
)
picks = st.sampled_from(["", "", "#", "#q", "#k[0]", "#[1]", "#[0][0]", "#steps/q", "#[x]", "#q["])


@pytest.mark.thorough
@given(contents, suffixes, operands, readings, picks)
@example(b'{"a": {"b": ' * 300 + b"1" + b"}}" * 300, ".json", an_operand("real", "n"), Reading(), "")
@example(b"[" * 5000 + b"]" * 5000, ".json", an_operand("real", "n"), Reading(), "")
@example(b'"' * 1000, ".csv", an_operand("real", "n"), Reading(), "")
@example(b"1" * 300_000 + b"x", ".csv", an_operand("real", "n"), Reading(), "")
def test_any_bytes(content: bytes, suffix: str, operand: Operand, reading: Reading, pick: str) -> None:
    with a_file(content, "q" + suffix) as path:
        read(f"@{path}{pick}", operand, reading)


@pytest.mark.thorough
@given(document.map(lambda value: json.dumps(value).encode()) | contents)
def test_any_document(content: bytes) -> None:
    with a_file(content, "p.json") as path:
        try:
            load_document(path, Reading())
        except AttncalcError as error:
            check_error(error)


@given(st.text(max_size=30) | st.text(alphabet="0123456789+-./*eE,; []()pisqrtnaf", max_size=30), operands)
@example("[" * 5000, an_operand("real", "n"))
@example("1" * 5000 + "x", an_operand("real", "n"))
@example("1*" * 5000 + "x", an_operand("real", "n"))
@example(",".join("1" * 5000), an_operand("real", "n"))
def test_any_word(word: str, operand: Operand) -> None:
    looks_numeric(word)
    if word[:1] != "-" and not exists(word.removeprefix("@").partition("#")[0]):
        read(word, operand, Reading())


@pytest.mark.parametrize(
    "text", ["1" * 50_000 + "x", "1*" * 25_000 + "x", "sqrt(" * 10_000, "-" * 50_000, " " * 50_000 + "x"]
)
def test_long_words_are_refused_at_once(text: str) -> None:
    """They would take minutes if a pattern tried every way to split them."""
    assert not looks_numeric(text)
