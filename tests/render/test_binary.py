"""npy, npz and safetensors: what is read back, in the same bytes every time."""

from __future__ import annotations

import time
from io import BytesIO
from typing import Any

import numpy as np
import pytest
import sympy

import attncalc as ac
from attncalc.common.errors import AttncalcError
from attncalc.inputs.stored_arrays import of_safetensors
from attncalc.record.trace import Trace
from attncalc.render import BINARY, FORMATS, View, render


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
