"""What is fuzzed: every reader, given any bytes, ends in what it promises or in an error of one printable line.

A target is a function of bytes, so that a fuzzer guided by coverage (fuzz/fuzz.py) and the tests (fuzz/test_corpus.py,
which runs whatever the corpus holds) call the same code.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from io import BytesIO

from attncalc.calculation import Kind, Operand, parse_shape
from attncalc.digits import shortest
from attncalc.errors import AttncalcError
from attncalc.expression import parse
from attncalc.homework.sheets import from_contents
from attncalc.inputs import Reading, load_document, looks_numeric, parse_number, read_word
from attncalc.inputs.opening import STDIN, _contents
from attncalc.trace import Given


def an_operand(kind: Kind, shape: str) -> Operand:
    """An operand of that kind; `shape` as it is declared."""
    return Operand("q", "Q", tuple(parse_shape(part) for part in shape.split("|")), True, True, kind, False, "")


OPERANDS = (
    an_operand("real", "n d"),
    an_operand("logits", "n|n d"),
    an_operand("mask", "n m"),
    an_operand("integers", "n"),
    an_operand("tokens", "n"),
    an_operand("expression", ""),
)


def read_as(form: str) -> Callable[[bytes], None]:
    """A target that reads bytes of a format as an operand; their number tells of which kind."""

    def read(data: bytes) -> None:
        operand = OPERANDS[len(data) % len(OPERANDS)]
        hold(read_word("-", operand, holding(data, form), {}), operand.kind)

    return read


def holding(data: bytes, form: str) -> Reading:
    """A reading that has these bytes on standard input."""
    reading = Reading()
    if data:
        reading.opened[STDIN] = _contents(data, STDIN, form, lambda: BytesIO(data))
    return reading


def hold(found: Given, kind: Kind) -> None:
    """Hold an operand to its promise: entries, all of them numbers that its kind may have, labels that fit."""
    assert found.value.size or kind == "expression"
    if found.value.dtype.kind == "f":
        masked = kind in ("logits", "mask")
        assert all(math.isfinite(entry) or (masked and entry == -math.inf) for entry in found.value.flat)
    assert found.written is None or found.written.shape == found.value.shape
    assert all(len(words) == found.value.shape[axis] for axis, words in found.labels.items())


def sheet_json(data: bytes) -> None:
    """An answer sheet as JSON."""
    reading = holding(data, "json")
    from_contents(reading.standard_input(), reading)


def sheet_csv(data: bytes) -> None:
    """An answer sheet as CSV in blocks."""
    reading = holding(data, "csv")
    from_contents(reading.standard_input(), reading)


def document(data: bytes) -> None:
    """A problem or a saved result; what it stands for can be stored again."""
    found = load_document("-", holding(data, "json"))
    json.dumps(found.document)


def literal(data: bytes) -> None:
    """A word of the command line."""
    word = data.decode("utf-8", "replace").replace("\0", "")
    looks_numeric(word)
    if word[:1] not in ("-", "@") and not word.startswith("path:"):
        operand = OPERANDS[len(data) % len(OPERANDS)]
        hold(read_word(word, operand, Reading(), {}), operand.kind)


def number(data: bytes) -> None:
    """A number of an option; what is written with the fewest digits reads as the same number."""
    value = parse_number(data.decode("utf-8", "replace"))
    assert math.isfinite(value)
    assert parse_number(shortest(value)) == value


def expression(data: bytes) -> None:
    """A typed formula: a graph whose letters are its only inputs, and which the same text gives again."""
    text = data.decode("utf-8", "replace")
    found = parse(text)
    assert {node.args["name"] for node in found.variables.values()} == set(found.variables)
    assert [*parse(f" {text} ").variables] == [*found.variables]


TARGETS: dict[str, Callable[[bytes], None]] = {
    **{form: read_as(form) for form in ("json", "jsonl", "csv", "npy", "npz", "safetensors")},
    "sheet_json": sheet_json,
    "sheet_csv": sheet_csv,
    "document": document,
    "literal": literal,
    "number": number,
    "expression": expression,
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
