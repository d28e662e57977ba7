"""Arrays from Python: what NumPy takes, foreign arrays by their protocols, labels of data frames, exact numbers."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from operands import an_operand
from rows import rows

from attncalc.common.errors import InputError
from attncalc.declare.operands import Kind, Operand
from attncalc.homework.reading.answers import from_python
from attncalc.inputs.python_values import stored_numbers, to_given
from attncalc.record.trace import Given


class Foreign:
    """An array of another library, seen through `__array__`."""

    def __init__(self, value: Any, **attributes: Any) -> None:
        self.value = np.asarray(value)
        self.__dict__ |= attributes

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self.value, dtype=dtype)


class Device:
    """Where a tensor lies."""

    type = "cuda"

    def __str__(self) -> str:
        return "cuda:0"


class Capsule:
    """An array of another library, seen through `__dlpack__` alone."""

    def __init__(self, value: Any) -> None:
        self.value = np.asarray(value, dtype=float)

    def __dlpack__(self, **how: Any) -> Any:
        return self.value.__dlpack__(**how)

    def __dlpack_device__(self) -> Any:
        return self.value.__dlpack_device__()


class Frame:
    """A data frame."""

    def __init__(self, value: Any, index: Any, columns: Any) -> None:
        self.value, self.index, self.columns = np.asarray(value), index, columns

    def to_numpy(self) -> Any:
        return self.value


class Series:
    """A series: an index, and no columns."""

    def __init__(self, value: Any, index: Any) -> None:
        self.value, self.index = np.asarray(value), index

    def to_numpy(self) -> Any:
        return self.value


class Counted(Foreign):
    """An array of Arrow: what it would have to copy it gives away through `__array__` alone."""

    def to_numpy(self) -> Any:
        raise ValueError("Needed to copy 1 chunks with 0 nulls, but zero_copy_only was True")


class Table(Foreign):
    """A table of Arrow: the names of its columns, which are themselves no words."""

    columns = (np.zeros(2), np.zeros(2))
    column_names = ("x", "y")


def _column(*rows: Any) -> Any:
    """A column with a row in each of its cells."""
    found = np.empty(len(rows), dtype=object)
    for i, row in enumerate(rows):
        found[i] = row
    return found


MATRIX = [[1.0, 2.0], [3.0, 4.0]]

TAKEN: dict[str, Any] = {
    "lists": [[1, 2], [3, 4]],
    "tuples": ((1, 2), (3, 4)),
    "floats": MATRIX,
    "rows": [np.array([1, 2]), np.array([3, 4])],
    "NumPy": np.array(MATRIX),
    "float32": np.array(MATRIX, dtype=np.float32),
    "integers": np.array(MATRIX, dtype=np.int8),
    "Fortran order": np.asfortranarray(MATRIX),
    "a view": np.array([[4.0, 3.0], [2.0, 1.0]])[::-1, ::-1],
    "NumPy scalars": [[np.float32(1), np.int64(2)], [3, 4]],
    "text": [["1", "2"], ["3", "4.0"]],
    "an array of text": np.array([["1", "2"], ["3", "4"]]),
    "an object array": np.array([[1, 2.0], [3, 4]], dtype=object),
    "another library's": Foreign(MATRIX),
    "rows of another library": [Foreign([1.0, 2.0]), Foreign([3.0, 4.0])],
    "DLPack": Capsule(MATRIX),
    "a frame": Frame(MATRIX, range(2), range(2)),
    "a column of lists": Series(_column([1.0, 2.0], [3.0, 4.0]), range(2)),
    "a column of arrays": Foreign(_column(np.array([1, 2]), np.array([3, 4]))),
    "Arrow's own way to NumPy": Counted(_column([1.0, 2.0], [3.0, 4.0])),
    "a masked array without a mask": np.ma.array(MATRIX),
    "a range": [range(1, 3), range(3, 5)],
}


@pytest.mark.parametrize("value", TAKEN.values(), ids=TAKEN)
def test_what_numpy_takes(operand: Callable[..., Operand], value: Any) -> None:
    found = to_given(value, operand())
    assert found.value.tolist() == MATRIX
    assert found.value.dtype == np.float64
    assert (found.source, found.labels) == ("", {})


@pytest.mark.parametrize(
    ("stored", "computed", "kept"),
    [
        ("float32", "float32", "float32"),
        ("float32", "float64", "float64"),
        ("float64", "float32", "float64"),
        ("float16", "float32", "float64"),
        ("int8", "float32", "float64"),
    ],
)
def test_float32_stays_where_it_is_computed_in(
    operand: Callable[..., Operand], stored: str, computed: str, kept: str
) -> None:
    array = np.array(MATRIX, dtype=stored)
    found = to_given(array, operand(), computed)
    assert (found.value.dtype.name, found.value.tolist()) == (kept, MATRIX)
    assert not np.shares_memory(found.value, array)


def test_the_entries_are_copied(operand: Callable[..., Operand]) -> None:
    mine = np.array(MATRIX)
    found = to_given(mine, operand())
    mine[0, 0] = 99
    assert found.value[0, 0] == 1


def test_what_is_given_already_stays(operand: Callable[..., Operand]) -> None:
    mine = Given(np.eye(2), "q.json")
    assert to_given(mine, operand()) is mine


def test_labels_of_data_frames(operand: Callable[..., Operand]) -> None:
    assert to_given(Frame(MATRIX, ["the", "cat"], ["x", "y"]), operand()).labels == {0: ("the", "cat"), 1: ("x", "y")}
    assert to_given(Frame(MATRIX, range(2), ["x", "y"]), operand()).labels == {1: ("x", "y")}
    assert to_given(Series([1.0, 2.0], ["x", "y"]), operand(shape="n")).labels == {0: ("x", "y")}
    assert to_given(Table(MATRIX), operand()).labels == {1: ("x", "y")}
    assert to_given(Series(_column([1, 2], [3, 4]), ["cat", "dog"]), operand()).labels == {0: ("cat", "dog")}


def test_text_keeps_its_digits(operand: Callable[..., Operand]) -> None:
    found = to_given([["1/3", "0.360"]], operand())
    assert found.value.tolist() == [[1 / 3, 0.36]]
    assert found.written is not None
    assert found.written.tolist() == [["1/3", "0.360"]]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([Fraction(1, 3), 2], [Fraction(1, 3), 2]),
        ([Decimal("0.1"), 0.2], [Fraction(1, 10), Fraction(1, 5)]),
        ([sympy.sqrt(2), sympy.Symbol("x"), 1], [sympy.sqrt(2), sympy.Symbol("x"), 1]),
        (np.array([sympy.Rational(1, 3)], dtype=object), [sympy.Rational(1, 3)]),
    ],
    ids=str,
)
def test_exact_numbers_stay_exact(operand: Callable[..., Operand], value: Any, expected: Any) -> None:
    found = to_given(value, operand(shape="n"))
    assert found.value.dtype == object
    assert found.value.tolist() == expected


KINDS: list[tuple[Any, Kind, Any, Any]] = [
    ([[True, False]], "mask", [[True, False]], np.bool_),
    (np.array([[True, False]]), "mask", [[True, False]], np.bool_),
    ([[0, float("-inf")]], "mask", [[0, float("-inf")]], np.float64),
    (np.array([0, -np.inf]), "logits", [0, float("-inf")], np.float64),
    ([0, 2], "tokens", [0, 2], np.int64),
    (np.array([0, 2]), "tokens", [0, 2], np.int64),
    (["the", "cat"], "tokens", ["the", "cat"], np.object_),
    (np.array(["the", "cat"]), "tokens", ["the", "cat"], np.object_),
    ("the cat", "tokens", ["the", "cat"], np.object_),
    ([1.0, 2.0], "integers", [1, 2], np.float64),
]


@pytest.mark.parametrize(("value", "kind", "expected", "dtype"), KINDS, ids=[f"{r[1]} {r[0]}" for r in KINDS])
def test_kinds(operand: Callable[..., Operand], value: Any, kind: Kind, expected: Any, dtype: Any) -> None:
    found = to_given(value, operand(kind))
    assert found.value.tolist() == expected
    assert found.value.dtype == dtype


DETACH = ": give q.detach().cpu()"
BOOLEANS = "true and false stand in masks alone: write 1 and 0"
EQUALLY_LONG = "the rows of an array are equally long"

REFUSED: list[tuple[str, Any, str, str]] = [
    ("a gradient", Foreign(MATRIX, requires_grad=True), "q is a tensor that requires a gradient" + DETACH, ""),
    ("another device", Foreign(MATRIX, requires_grad=False, device=Device()), "q is a tensor on cuda:0" + DETACH, ""),
    ("a gradient within", [Foreign([1.0], requires_grad=True)], "q is a tensor that requires a gradient" + DETACH, ""),
    ("ragged", [[1, 2], [3]], "q[1] has 1 entry where the first has 2", EQUALLY_LONG),
    ("ragged arrays", [np.ones(2), np.ones(3)], "q[1] has 3 entries where the first has 2", EQUALLY_LONG),
    ("a ragged column", Foreign(_column([1, 2], [3])), "q[1] has 1 entry where the first has 2", EQUALLY_LONG),
    ("a number among rows", [[1, 2], 3], "q[1] is a number where a list of 2 is expected", ""),
    ("nothing in it", [], "q is empty", ""),
    ("nothing in its rows", np.zeros((2, 0)), "q is empty: its shape is 2 × 0", ""),
    ("booleans", [[True, False]], "q[0][0]: true is not a number", BOOLEANS),
    ("a boolean among numbers", [[0.5, True]], "q[0][1]: true is not a number", BOOLEANS),
    ("an array of booleans", np.array([True]), "q holds true and false, not numbers", BOOLEANS),
    ("none", [[1, None]], "q[0][1]: null is not a number", "arrays have no gaps: every entry must be a number"),
    ("nothing at all", None, "q is None, not an array", ""),
    ("not a number", np.array([[1, np.nan]]), "q[0][1]: nan is not a finite number", ""),
    ("infinity", [1, float("inf")], "q[1]: inf is not a finite number", ""),
    (
        "minus infinity",
        [1, float("-inf")],
        "q[1]: -inf is not a finite number",
        "only a mask, a bias or the logits of a softmax may hold it",
    ),
    ("a huge integer", [1, 10**400], "q[1]: a whole number above 1.8e308 is too large", ""),
    ("complex numbers", np.array([1j]), "q holds complex numbers, not real numbers", ""),
    ("a complex number", [1j], "q[0]: a value of type complex is not a number", ""),
    ("dates", np.array(["2020-01-01"], dtype="M8[D]"), "q holds datetime64[D] entries, not real numbers", ""),
    ("text", "q.npy", 'q is the text "q.npy", not an array', "numpy.load and the like read files"),
    ("typed numbers", "1,2,3", 'q is the text "1,2,3", not an array', "numbers stand in lists: [[1, 2], [3, 4]]"),
    (
        "a file",
        "q.json",
        'q is the text "q.json", not an array',
        "attncalc.attention(**json.load(open(PATH))) is a call with a file's operands",
    ),
    ("words", [["x"]], 'q[0][0]: "x" is not a number', ""),
    ("a set", {1, 2}, "q is a set, which has no order of entries", "give nested lists"),
    ("a dictionary", {1: [1]}, "q is a dict, which has no order of entries", "give nested lists"),
    ("an object", object(), "q is a value of type object, not an array", ""),
    (
        "masked",
        np.ma.array([1, 2], mask=[False, True]),
        "q is a masked array with masked entries",
        "give numbers, and the mask by itself",
    ),
    ("deep", np.ones((1,) * 40).tolist(), "q is nested more than 32 deep", ""),
    ("an exact boolean", [Fraction(1, 2), True], "q[1] is True, among exact numbers", BOOLEANS),
    ("an exact gap", [Fraction(1, 2), None], "q[1] is None, among exact numbers", ""),
    ("an exact complex number", [sympy.I], "q[0] is ImaginaryUnit, not a real number", ""),
    ("exact infinity", [Fraction(1), float("inf")], "q[1]: inf is not a finite number", ""),
    ("a decimal that is no number", [Decimal("NaN")], "q[0]: NaN is not a finite number", ""),
    (
        "a decimal that is nearly 0",
        [Decimal("1e-999999999")],
        "q[0]: 1E-999999999 has more than 1,000 digits as a fraction",
        "give float(…)",
    ),
]


@rows(("value", "message", "hint"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_refused(operand: Callable[..., Operand], value: Any, message: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        to_given(value, operand())
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_what_a_foreign_array_raises_is_told(operand: Callable[..., Operand]) -> None:
    class Broken:
        def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
            raise RuntimeError("no storage\nof mine")

    with pytest.raises(InputError, match='q: NumPy cannot read this Broken: "no storage"'):
        to_given(Broken(), operand())


@given(arrays(np.float64, array_shapes(max_dims=4), elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_arrays_and_their_lists_are_the_same(value: Any) -> None:
    asked = an_operand()
    assert np.array_equal(to_given(value, asked).value, value)
    assert np.array_equal(to_given(value.tolist(), asked).value, value)


class Tensor:
    """As torch's, of a type that NumPy does not have."""

    requires_grad = False

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype

    def __array__(self, *_: object) -> None:
        raise TypeError("Got unsupported ScalarType BFloat16")

    def float(self) -> object:
        return np.array([[1, 2.5]], "f4")


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_tensors_of_narrow_types(dtype: str) -> None:
    tensor = Tensor(f"torch.{dtype}")
    assert to_given(tensor, an_operand()).value.tolist() == [[1, 2.5]]
    assert stored_numbers(tensor, "q")[1] == dtype
    assert from_python(tensor, "q").value.tolist() == [[1, 2.5]]
    assert to_given([tensor, tensor], an_operand()).value.tolist() == [[[1, 2.5]]] * 2
    assert from_python([tensor, tensor], "q").value.tolist() == [[[1, 2.5]]] * 2
