"""The small grammar of a number, and what it refuses."""

from __future__ import annotations

import math
import unicodedata
from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from attncalc.common.errors import InputError
from attncalc.common.numerals import is_misspelt, is_number, parse_number, with_slashes, written_number
from attncalc.declare.operands import Kind
from attncalc.inputs.given import parse_entry

GOOD = {
    "1": 1.0,
    "-1": -1.0,
    "+1": 1.0,
    " 1 ": 1.0,
    "0.5": 0.5,
    ".5": 0.5,
    "5.": 5.0,
    "007": 7.0,
    "1e3": 1000.0,
    "1E-3": 0.001,
    "-1.5e+2": -150.0,
    "1/3": 1 / 3,
    "½": 0.5,
    "-¼": -0.25,
    "1½": 1.5,
    "-10⅔": -32 / 3,
    "⅞": 0.875,
    "1⁄2": 0.5,
    "3∕4": 0.75,
    "sqrt(½)": math.sqrt(0.5),
    "½*sqrt(3)": math.sqrt(3) / 2,
    "-1/3": -1 / 3,
    "pi": math.pi,
    "-pi/2": -math.pi / 2,
    "2*pi": 2 * math.pi,
    "sqrt(2)": math.sqrt(2),
    "1/sqrt(3)": 1 / math.sqrt(3),
    "sqrt(1/2)": math.sqrt(0.5),
    "2*sqrt(3)/3": 2 * math.sqrt(3) / 3,
    "ln(2)": math.log(2),
    "-ln(1/2)": math.log(2),
    "exp(1)": math.e,
    "exp(-1/2)*2": 2 * math.exp(-0.5),
    "1/ln(2)": 1 / math.log(2),
    "1.7976931348623157e308": 1.7976931348623157e308,
    "5e-324": 5e-324,
    "1/sqrt(1e300/1e-300)": 1e-300,
    "sqrt(1e-200/1e200)": 1e-200,
    "1e-999": 0.0,
}

GAPS = "arrays have no gaps: every entry must be a number"
FRACTION = "write a fraction with an ASCII slash: 1/2, 3/2 for 1½"
NO_FORMULA = "an entry is a number, 1/3, sqrt(2), ln(2), exp(1) or pi: give the result of a formula"
SEPARATORS = "write a number without blanks or separators: 1000"
TOO_LARGE = "is too large: 64-bit numbers end at 1.8e308"

BAD = [
    ("", "there is no number", GAPS),
    ("x", '"x" is not a number', ""),
    ("1_000", '"1_000" is not a number', "write a number without underscores: 1000"),
    ("1 000", '"1 000" is not a number', SEPARATORS),
    ("1'000", '"1\'000" is not a number', SEPARATORS),
    ("1,000.5", '"1,000.5" is not a number', SEPARATORS),
    (
        "1,5",
        '"1,5" is not a number',
        "write a decimal point: 1.5; a table with decimal commas is read with --decimal ,",
    ),
    (
        "1,2,3",
        '"1,2,3" is not a number',
        "several numbers stand in one place: each row needs a line, or a list, of its own",
    ),
    ("１", '"１" is not a number', "digits are written 0 to 9"),
    ("٣", '"٣" is not a number', "digits are written 0 to 9"),
    ("−1", '"−1" is not a number', "the minus sign is another character: write an ASCII -"),
    ("√2", '"√2" is not a number', "write sqrt(2), pi, -inf"),
    ("3/½", '"3/½" is not a number', FRACTION),
    ("1.5½", '"1.5½" is not a number', FRACTION),
    ("½e3", '"½e3" is not a number', FRACTION),
    ("1e½", '"1e½" is not a number', FRACTION),
    ("½½", '"½½" is not a number', FRACTION),
    ("⁄2", '"⁄2" is not a number', FRACTION),
    ("O", '"O" is not a number', "the letters O and l are not the digits 0 and 1"),
    ("1O.5", '"1O.5" is not a number', "the letters O and l are not the digits 0 and 1"),
    ("lol", '"lol" is not a number', ""),
    ("50%", '"50%" is not a number', "write a percentage as a decimal: 0.5 for 50%"),
    ("$1", '"$1" is not a number', "leave out the currency sign"),
    ("0x10", '"0x10" is not a number', "write the number in decimal digits"),
    ("1D3", '"1D3" is not a number', "write the exponent with an e: 1e3"),
    ("1+2j", '"1+2j" is not a number', "operands are real"),
    ("NA", '"NA" is not a number', GAPS),
    ("null", '"null" is not a number', GAPS),
    ("true", '"true" is not a number', "true and false stand in masks alone: write 1 and 0"),
    ("=1+1", '"=1+1" is not a number', "save the values in place of the formulas"),
    ("q=1", '"q=1" is not a number', "leave out the name and its sign; an operand is named as --q 1,2"),
    ("2**3", '"2**3" is not a number', NO_FORMULA),
    ("2^3", '"2^3" is not a number', NO_FORMULA),
    ("ln(0)", '"ln(0)" is no number: logarithms are of numbers above 0', ""),
    ("exp(1000)", f'"exp(1000)" {TOO_LARGE}', ""),
    ("1/ln(1)", '"1/ln(1)" divides by zero', ""),
    ("sqrt(-2)", '"sqrt(-2)" is not a number', NO_FORMULA),
    ("sqrt(sqrt(2))", '"sqrt(sqrt(2))" is not a number', NO_FORMULA),
    ("__import__('os')", "\"__import__('os')\" is not a number", NO_FORMULA),
    ("nan", '"nan" is not a finite number', ""),
    ("-NaN", '"-NaN" is not a finite number', ""),
    ("inf", '"inf" is not a finite number', ""),
    ("1e999", f'"1e999" {TOO_LARGE}', ""),
    ("-1.8e308", f'"-1.8e308" {TOO_LARGE}', ""),
    ("9" * 400, f'"{"9" * 79}…" {TOO_LARGE}', ""),
    ("1e200*1e200", f'"1e200*1e200" {TOO_LARGE}', ""),
    ("1/1e999", f'"1/1e999" {TOO_LARGE}', ""),
    ("1/sqrt(1e400/1e300)", f'"1/sqrt(1e400/1e300)" {TOO_LARGE}', ""),
    ("sqrt(6/8e443)", f'"sqrt(6/8e443)" {TOO_LARGE}', ""),
    ("1/0", '"1/0" divides by zero', ""),
    ("1/sqrt(0)", '"1/sqrt(0)" divides by zero', ""),
    ("1\n2", '"1\\n2" is not a number', SEPARATORS),
    ("\x1b[31m1", '"\\x1b[31m1" is not a number', ""),
]


@rows(("text", "value"), GOOD.items(), ids=GOOD)
def test_numbers_as_people_write_them(text: str, value: float) -> None:
    assert parse_number(text) == value
    assert is_number(text)


@rows(("text", "message", "hint"), BAD, ids=[ascii(row[0])[:30] for row in BAD])
def test_what_is_no_number(text: str, message: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_number(text)
    assert (caught.value.message, caught.value.hint) == (message, hint)


@pytest.mark.parametrize("text", ["-inf", "-Infinity", "-INF", " -inf "])
def test_minus_infinity_means_masked(text: str) -> None:
    assert parse_entry(text, "logits") == parse_entry(text, "mask") == -math.inf
    for kind in ("real", "integers"):
        with pytest.raises(InputError, match="-inf is not a finite number"):
            parse_entry(text, kind)


KINDS: list[tuple[str, Kind, float]] = [
    ("true", "mask", True),
    ("False", "mask", False),
    ("3", "integers", 3.0),
    ("4/2", "integers", 2.0),
]


@pytest.mark.parametrize(("text", "kind", "value"), KINDS)
def test_entries_of_a_kind(text: str, kind: Kind, value: float) -> None:
    assert parse_entry(text, kind) == value


def test_a_whole_number_is_wanted() -> None:
    with pytest.raises(InputError, match="is not a whole number"):
        parse_entry("1.5", "integers")


@pytest.mark.parametrize("sign", "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞")
def test_every_sign_of_a_fraction_is_that_fraction(sign: str) -> None:
    """As Unicode takes it apart."""
    above, below = unicodedata.normalize("NFKD", sign).split("⁄")
    assert with_slashes(sign) == f"{above}/{below}"
    assert with_slashes(f"-2{sign}") == f"-{2 * int(below) + int(above)}/{below}"
    assert is_number(sign)
    assert not is_misspelt(sign)
    assert Fraction(str(written_number(sign))) == Fraction(int(above), int(below))


@pytest.mark.parametrize(
    "text", ["1_000", "50%", "$1", "１", "−1", "1,5", "1 000", "1'000", "0x1F", "1D3", "1+2j", "=A1", "#1"]
)
def test_numbers_that_are_misspelt_are_no_labels(text: str) -> None:
    assert is_misspelt(text)
    assert not is_number(text)


@pytest.mark.parametrize(
    "text", ["cat", "d1", "2nd", "2024-01-31", "10-20", "12:30", "the 3 cats", "", "猫", "½ cup", "1", "-", "[CLS]"]
)
def test_labels_are_no_misspelt_numbers(text: str) -> None:
    assert not is_misspelt(text)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_is_printed_is_read_back(value: float) -> None:
    assert parse_number(repr(value)) == value
    assert math.copysign(1, parse_number(repr(value))) == math.copysign(1, value)
    assert parse_number(f"{value:.17e}") == value


@given(st.fractions(max_denominator=10**6))
def test_fractions_are_read(value: object) -> None:
    assert math.isclose(
        parse_number(str(value)), float(str(value).split("/")[0]) / float((str(value) + "/1").split("/")[1])
    )


@given(st.text(alphabet="0123456789+-./*eE pisqrt()nafx,_", max_size=30))
def test_a_number_or_an_input_error(text: str) -> None:
    with suppress(InputError):
        assert math.isfinite(parse_number(text))
