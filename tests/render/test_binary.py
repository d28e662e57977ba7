"""npy, npz and safetensors: what is read back, in the same bytes every time."""

from __future__ import annotations

import json
import time
from io import BytesIO
from typing import Any

import numpy as np
import pytest
import sympy

import attncalc as ac
from attncalc.common.errors import AttncalcError
from attncalc.common.numerals import NARROW
from attncalc.inputs.stored_arrays import of_safetensors
from attncalc.record.trace import Trace
from attncalc.render import BINARY, FORMATS, View, render
from attncalc.render.binary import CODED, _codes


def loaded(trace: Trace, format: str, **view: Any) -> Any:
    content = render(trace, format, View(**view))
    assert isinstance(content, bytes)
    assert format in BINARY
    return np.load(BytesIO(content))


def test_npy_is_the_result(attention: Trace) -> None:
    assert loaded(attention, "npy").tolist() == attention.result.tolist()


@pytest.mark.parametrize(
    ("view", "expected"),
    [({"get": "products"}, [0.8 * 0.7, 0.2 * 0.3, 0.1 * 0.2]), ({"get": "products", "digits": 1}, [0.6, 0.1, 0.0])],
    ids=["get", "digits"],
)
def test_npy_of_a_step(dot: Trace, view: dict[str, Any], expected: list[float]) -> None:
    assert loaded(dot, "npy", **view).tolist() == expected


def test_npz_is_every_step_and_output_by_its_name(grouped: Trace) -> None:
    archive = loaded(grouped, "npz")
    assert list(archive) == [*grouped, "angle"]
    assert archive["encoder 1/self-attention/weights"].tolist() == grouped.result.tolist()


def test_safetensors_holds_the_same_and_is_read_again(grouped: Trace) -> None:
    archive = loaded(grouped, "npz")
    content = render(grouped, "safetensors")
    assert isinstance(content, bytes)
    held = of_safetensors(content, "x.safetensors")
    assert {name: load().tolist() for name, load in held.loaders.items()} == {n: archive[n].tolist() for n in archive}
    assert int.from_bytes(content[:8], "little") % 8 == 0
    alone = render(grouped, "safetensors", View(get="angle"))
    assert isinstance(alone, bytes)
    assert list(of_safetensors(alone, "x").loaders) == ["angle"]


@pytest.mark.parametrize("dtype", NARROW)
def test_safetensors_holds_narrow_numbers_in_their_own_type(dtype: str) -> None:
    inputs: Any = ([[0, 2, -1], [1, 1, 0]], [[1, 0.1, 3], [-2, 1, 1e-3]], [[1, 5], [2, -3]])
    trace = ac.attention(*inputs, dtype=dtype)
    content = render(trace, "safetensors")
    assert isinstance(content, bytes)
    held = of_safetensors(content, "x.safetensors")
    assert {name: held.described(name)[1] for name in held.loaders} == dict.fromkeys(trace, dtype)
    assert all(held.loaders[name]().tolist() == trace[name].tolist() for name in trace)
    due = "float16" if dtype == "float16" else "float32"  # NumPy has no others
    assert {value.dtype.name for value in loaded(trace, "npz").values()} == {due}
    rounded = render(trace, "safetensors", View(digits=1))
    assert isinstance(rounded, bytes)
    assert of_safetensors(rounded, "x").described("weights")[1] == "float32"  # 0.3 is none of the type's numbers


def test_what_a_type_has_not_is_kept_wide() -> None:
    trace = ac.attention([[1.0], [2.0]], [[1.0], [2.0]], [[1.0], [2.0]], causal=True, dtype="float8_e4m3fn")
    content = render(trace, "safetensors")
    assert isinstance(content, bytes)
    held = of_safetensors(content, "x")
    assert (held.described("masked")[1], held.described("weights")[1]) == ("float32", "float8_e4m3fn")
    assert held.loaders["masked"]()[0, 1] == -np.inf


@pytest.mark.parametrize("dtype", CODED)
def test_the_bits_of_narrow_numbers(dtype: str) -> None:
    name, size = CODED[dtype]
    bits = np.arange(2**size, dtype=f"u{size // 8}")

    def read(codes: Any) -> Any:
        head = {"a": {"dtype": name, "shape": codes.shape, "data_offsets": [0, codes.nbytes]}}
        text = json.dumps(head).encode()
        return of_safetensors(len(text).to_bytes(8, "little") + text + codes.tobytes(), "x").loaders["a"]()

    value = read(bits)
    codes, told = _codes(value, dtype), ~np.isnan(value)
    assert np.array_equal(codes[told], bits[told])
    assert np.isnan(read(codes[~told])).all()


def test_safetensors_has_no_type_for_complex_numbers() -> None:
    trace = ac.eigen([[0, -1], [1, 0]])
    with pytest.raises(AttncalcError, match="eigenvalues holds complex numbers of 128 bits") as caught:
        render(trace, "safetensors", View(get="eigenvalues"))
    assert caught.value.hint == "npz and json hold them"
    assert loaded(trace, "npz", get="eigenvalues")["eigenvalues"].tolist() == [1j, -1j]


def test_safetensors_has_no_type_for_words() -> None:
    trace = ac.complexity(n=4, d_model=8)
    assert "bound" in loaded(trace, "npz")
    for view in (View(), View(get="bound")):
        with pytest.raises(AttncalcError, match="bound holds words, and safetensors has no type for them") as caught:
            render(trace, "safetensors", view)
        assert caught.value.hint == "npz and json hold them"
    assert isinstance(render(trace, "safetensors", View(get="flops")), bytes)


def test_npz_of_one_value(grouped: Trace) -> None:
    assert list(loaded(grouped, "npz", get="angle")) == ["angle"]


def test_a_step_may_have_any_name(make: Any) -> None:
    assert list(loaded(make.trace(make.step("file", 1.0)), "npz")) == ["file"]


@pytest.mark.parametrize("format", [each for each in FORMATS if each in BINARY])
def test_the_same_numbers_are_the_same_bytes_at_any_time(
    monkeypatch: pytest.MonkeyPatch, grouped: Trace, format: str
) -> None:
    before = render(grouped, format)
    monkeypatch.setattr(time, "time", lambda: 2e9)  # zipfile would ask the clock for the time of a member
    assert render(grouped, format) == before


@pytest.mark.parametrize("format", [each for each in FORMATS if each in BINARY])
def test_exact_numbers_are_refused_with_the_way_round(make: Any, format: str) -> None:
    trace = make.trace(make.step("x", np.array([sympy.sqrt(2)], dtype=object)))
    with pytest.raises(AttncalcError, match="x is exact") as fault:
        render(trace, format)
    assert "json" in fault.value.hint
