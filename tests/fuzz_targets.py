"""What is fuzzed: every reader, given any bytes, ends in what it promises or in an error of one printable line.

A target is a function of bytes, so that a fuzzer guided by coverage (fuzz/fuzz.py) and the tests (fuzz/test_corpus.py,
which runs whatever the corpus holds) call the same code. Bytes that a check sum or a length would keep from the reader
are given the right one: what is fuzzed then is behind it.
"""

from __future__ import annotations

import json
import math
import os
import re
import struct
import tempfile
from collections.abc import Callable
from functools import cache
from io import BytesIO
from pathlib import Path
from unittest.mock import patch
from zipfile import ZipFile, ZipInfo

import any_calls
import numpy as np
from any_calls import Call
from operands import an_operand

from attncalc.calculations import TABLE, load
from attncalc.cli import app, carry_out
from attncalc.cli.command import Words
from attncalc.cli.settings import command_of
from attncalc.common.errors import AttncalcError
from attncalc.common.numerals import parse_number
from attncalc.declare.operands import Kind
from attncalc.evaluate.exact import exact
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.marking.marker import Marker
from attncalc.homework.reading.answers import Sheet
from attncalc.homework.reading.sheets import from_contents
from attncalc.homework.reading.submissions import submissions
from attncalc.homework.reports.marked_sheets import FORMATS, shown
from attncalc.inputs.calls import gather
from attncalc.inputs.given import looks_numeric
from attncalc.inputs.problem_files import load_document, sample_problem
from attncalc.inputs.python_values import to_given
from attncalc.inputs.reading import STDIN, Reading
from attncalc.inputs.resolve import contents_of, format_by_content, opened_input, read_word
from attncalc.language.expression import parse
from attncalc.record.numbers import shortest
from attncalc.record.trace import Given
from attncalc.render import View, render
from attncalc.solve.solver import solve

MANY = re.compile(rb"\d{4}")
"""Counts that may take their time, or their memory, by right: no run is made with them."""
SMALL = re.compile(r"(?i)e-\d{3}|0{100}|(e-\d\d.*){3}")
"""Numbers on the way to which 64 bits may lose digits, since they are so small."""
WRITES = re.compile(r"-\w*o|--out")
VERBS = (*TABLE, "grad", "jacobian", "run", "check", "explain", "mistakes", "list", "sample", "quiz")
"""The commands that are called; `grade` would look for sheets wherever a pattern says."""


OPERANDS = (
    an_operand("real", "n d"),
    an_operand("logits", "n|n d"),
    an_operand("mask", "n m"),
    an_operand("integers", "n"),
    an_operand("tokens", "n"),
    an_operand("expression", ""),
)


def text_of(data: bytes) -> str:
    """Bytes as the text of a word, which holds no NUL."""
    return data.decode("utf-8", "replace").replace("\0", "")


# Files


def read_as(form: str, **how: str | bool) -> Callable[[bytes], None]:
    """A target that reads bytes of a format as an operand; their number tells of which kind."""

    def read(data: bytes) -> None:
        operand = OPERANDS[len(data) % len(OPERANDS)]
        hold(read_word("-", operand, holding(data, form, **how), {}), operand.kind)

    return read


def holding(data: bytes, form: str, **how: str | bool) -> Reading:
    """A reading that has these bytes on standard input."""
    reading = Reading(**how)  # type: ignore[arg-type]  # the options of a target are of their types
    if data:
        reading.opened[STDIN] = contents_of(data, STDIN, form)
    return reading


def hold(found: Given, kind: Kind) -> None:
    """Hold an operand to its promise: entries, all of them numbers that its kind may have, labels that fit."""
    assert found.value.size or kind == "expression"
    if found.value.dtype.kind == "f":
        masked = kind in ("logits", "mask")
        assert all(math.isfinite(entry) or (masked and entry == -math.inf) for entry in found.value.flat)
    assert found.written is None or found.written.shape == found.value.shape
    assert all(len(words) == found.value.shape[axis] for axis, words in found.labels.items())


def npy_header(data: bytes) -> None:
    """An npy file whose header is the first line."""
    header, _, body = data.partition(b"\n")
    read_as("npy")(b"\x93NUMPY\x01\x00" + struct.pack("<H", min(len(header), 65_535)) + header + body)


def npz_members(data: bytes) -> None:
    """An npz file whose members begin with a line `name.npy`, and are apart by `--`."""
    file = BytesIO()
    with ZipFile(file, "w") as archive:
        for member in data.split(b"\n--\n"):
            name, _, content = member.partition(b"\n")
            archive.writestr(ZipInfo(text_of(name)), content)
    read_as("npz")(file.getvalue())


def tensors_header(data: bytes) -> None:
    """A safetensors file whose header is the first line."""
    header, _, body = data.partition(b"\n")
    read_as("safetensors")(struct.pack("<Q", len(header)) + header + body)


# Words


def literal(data: bytes) -> None:
    """A word of the command line."""
    word = text_of(data)
    looks_numeric(word)
    if word[:1] not in ("-", "@") and not word.startswith("path:"):
        operand = OPERANDS[len(data) % len(OPERANDS)]
        hold(read_word(word, operand, Reading(), {}), operand.kind)


def number(data: bytes) -> None:
    """A number of an option; what is written with the fewest digits reads as the same number."""
    value = parse_number(data.decode("utf-8", "replace"))
    assert math.isfinite(value)
    assert parse_number(shortest(value)) == value


def exact_number(data: bytes) -> None:
    """An entry as an exact number, which is read a second time for it: the same number, unless it comes near 0."""
    word = text_of(data)
    value = parse_number(word)
    found = exact(Given(np.array([value]), written=np.array([word], dtype=object))).value[0]
    assert SMALL.search(word) or math.isclose(found, value, rel_tol=1e-12, abs_tol=1e-300)


def expression(data: bytes) -> None:
    """A typed formula: a graph whose letters are its only inputs, and which the same text gives again."""
    text = data.decode("utf-8", "replace")
    found = parse(text)
    assert {node.args["name"] for node in found.variables.values()} == set(found.variables)
    assert [*parse(f" {text} ").variables] == [*found.variables]


def python_value(data: bytes) -> None:
    """A value of Python's, as JSON has them."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return
    operand = OPERANDS[len(data) % len(OPERANDS)]
    hold(to_given(value, operand), operand.kind)


# Documents and sheets


def document(data: bytes) -> None:
    """A problem or a saved result; what it stands for can be stored again."""
    found = load_document("-", holding(data, "json"))
    json.dumps(found.document)


def run_document(data: bytes) -> None:
    """A problem or a saved result, evaluated again and written as every page of text."""
    found = load_document("-", holding(data, "json"))
    if not MANY.search(data):
        trace = solve(found.problem)
        for form in ("table", "json"):
            assert render(trace, form, View())


def sheet_json(data: bytes) -> None:
    """An answer sheet as JSON."""
    read_sheet(data, "json")


def sheet_csv(data: bytes) -> None:
    """An answer sheet as CSV in blocks."""
    read_sheet(data, "csv")


def read_sheet(data: bytes, form: str) -> Sheet:
    """An answer sheet."""
    reading = holding(data, form)
    return from_contents(opened_input(reading), reading)


@cache
def key() -> Key:
    """The key that sheets are marked against: softmax of a few rows."""
    return Key(sample_problem("softmax"))


def marked_sheet(data: bytes) -> None:
    """An answer sheet in either format, marked."""
    marked = Marker(key()).mark(read_sheet(data, "json" if data[:1] in (b"{", b"[") else "csv"))
    for form in FORMATS:
        assert shown(marked, form, View())


def class_table(data: bytes) -> None:
    """A CSV file with the answers of a class."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "class.csv"
        path.write_bytes(data)
        submissions([str(path)], "key.json", Reading(), key().names)


# Calls


def operands(data: bytes) -> None:
    """The operands of a call: its calculation and its words, a line each, then what is on standard input.

    A word `name=word` is for the operand of that name.
    """
    head, _, piped = data.partition(b"\n\n")
    name, *lines = text_of(head).split("\n")
    if name not in TABLE:
        return
    named = dict(line.partition("=")[::2] for line in lines if "=" in line)
    positional = [line for line in lines if "=" not in line]
    calculation = load(name)
    found = gather(calculation, positional, named, {}, holding(piped, format_by_content(piped, STDIN)))
    kinds = {operand.name: operand.kind for operand in calculation.operands_in(found.inputs)}
    for operand, given in found.inputs.items():
        hold(given, kinds.get(operand, "real"))


def words(data: bytes) -> None:
    """The words of a call, a line each: options told from operands, which are operands however often they are read."""
    name, *lines = text_of(data).split("\n")
    if name in TABLE:
        parameters = command_of(name, carry_out).params
        operands = Words(parameters, name).parse_args(lines)[0].get("operands")
        assert Words(parameters, name).parse_args(["--", *(operands or ())])[0] == {"operands": operands}


def call(data: bytes) -> None:
    """A whole call, its words a line each, then what is on standard input; none that writes to a file."""
    head, _, piped = data.partition(b"\n\n")
    name, *lines = text_of(head).split("\n")
    if name in VERBS and not MANY.search(data) and not any(map(WRITES.match, lines)):
        made = Call((name, *lines), {}, piped)
        any_calls.check(made, any_calls.run_here(made))


def completion(data: bytes) -> None:
    """What a shell asks for to complete a line."""
    line = f"attncalc {text_of(data)}"
    asked = {"_ATTNCALC_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    status: object = None
    with patch.dict(os.environ, asked), any_calls.streams(b"") as (out, err):
        try:
            app([], standalone_mode=False)
        except SystemExit as end:
            status = end.code
    assert (status, err.getvalue()) == (0, b"")
    assert any_calls.harmless(out.getvalue().decode())


TARGETS: dict[str, Callable[[bytes], None]] = {
    **{form: read_as(form) for form in ("json", "jsonl", "csv", "npy", "npz", "safetensors")},
    "csv_decimal_commas": read_as("csv", decimal=","),
    "csv_labelled": read_as("csv", header=True, labels=True),
    "npy_header": npy_header,
    "npz_members": npz_members,
    "tensors_header": tensors_header,
    "literal": literal,
    "number": number,
    "exact_number": exact_number,
    "expression": expression,
    "python_value": python_value,
    "document": document,
    "run_document": run_document,
    "sheet_json": sheet_json,
    "sheet_csv": sheet_csv,
    "marked_sheet": marked_sheet,
    "class_table": class_table,
    "operands": operands,
    "words": words,
    "call": call,
    "completion": completion,
}


def run(target: str, data: bytes) -> None:
    """A target on bytes: an error of one printable line is as good an end as any."""
    fault: AttncalcError | None = None
    try:
        TARGETS[target](data)
    except AttncalcError as error:
        fault = error
    if fault is not None:
        assert fault.message
        assert fault.message.isprintable()
        assert fault.hint.isprintable()
        assert len(fault.message) < 2_000
