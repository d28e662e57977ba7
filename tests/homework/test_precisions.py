"""Dumps of narrow types: right within the noise of their sums, and a mistake is named in any noise."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkpoints import bfloat16, safetensors
from conftest import Run
from homework.kernels import KERNELS, Kernel, drawn
from homework.problems import problem
from numpy.typing import NDArray

import attncalc as ac
from attncalc.cli import app
from attncalc.common.errors import OptionError
from attncalc.common.numerals import STORED
from attncalc.evaluate.precisions import PRECISIONS, held
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.marking.marker import Marker
from attncalc.homework.reading.answers import from_array
from attncalc.homework.reading.sheets import from_python
from attncalc.homework.reading.stored_types import narrowest
from attncalc.inputs.given import brackets
from attncalc.record.verdicts import MarkedStep
from attncalc.solve.problem import Problem

Array = NDArray[np.float64]


def random(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape)


def judged(given: Problem, answer: Any, dtype: str | None = None) -> MarkedStep:
    key = Key(given)
    return Marker(key, dtype=dtype).mark(from_python(answer, key.room)).steps[0]


# The types


def test_the_types_are_those_that_can_be_said() -> None:
    assert PRECISIONS.keys() == {*STORED}


def test_a_type_that_is_said_holds_for_few_numbers_and_for_text() -> None:
    q, k, v = np.random.default_rng(1).normal(size=(3, 3, 4)).round(2)
    t = ac.attention(q, k, v)
    narrow = ac.attention(q, k, v, dtype="float32").result.astype(np.float32)
    written = [[str(entry) for entry in row] for row in narrow]
    found = t.check(written)
    assert not found
    assert "--dtype float32 allows it" in str(found)
    assert t.check(written, dtype="float32")
    by_hand = [[f"{entry:.2f}" for entry in row] for row in t.result.tolist()]
    assert t.check(by_hand, dtype="float32").verdict == "right"
    assert not t.check([["0.12", *by_hand[0][1:]], *by_hand[1:]], dtype="float32")


@pytest.mark.parametrize("name", ["float16", "float32"])
def test_what_a_type_holds_is_what_numpy_makes_of_it(name: str) -> None:
    values = np.concatenate([random(500) * 10.0**power for power in range(-12, 8)] + [np.array([0.0, -np.inf, np.inf])])
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(held(values, name), values.astype(name).astype(np.float64))


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_what_a_type_holds_has_as_many_significant_bits(name: str) -> None:
    values = held(random(500), name)
    mantissas, _ = np.frexp(values)
    np.testing.assert_array_equal(mantissas * 2.0 ** PRECISIONS[name].bits % 1, 0)
    np.testing.assert_array_equal(held(values, name), values)


@pytest.mark.parametrize(("name", "wide"), [*product(("bfloat16", "float16", "float8_e4m3fn"), ("float32", "float64"))])
def test_a_widened_array_is_told_from_its_numbers(name: str, wide: str) -> None:
    assert narrowest(held(random(200), name).astype(wide)) == name
    assert narrowest(random(200).astype(wide)) == wide


INFERRED: dict[str, tuple[Array, str]] = {
    "dozens of entries": (held(random(64), "bfloat16"), "bfloat16"),
    "few entries": (held(random(63), "bfloat16"), ""),
    "large numbers, whose last places are quarters": (held(64 + 64 * abs(random(64)), "bfloat16"), "bfloat16"),
    "whole numbers": (np.arange(100.0), ""),
    "few decimals": (random(100).round(3), ""),
    "all digits": (random(100), "float64"),
}


@pytest.mark.parametrize(("value", "stored"), INFERRED.values(), ids=INFERRED)
def test_from_which_numbers_a_type_is_inferred(value: Array, stored: str) -> None:
    assert from_array(value, brackets("", "x")).stored == stored


class Tensor:
    """As torch's, of a type that NumPy does not have."""

    requires_grad = False

    def __init__(self, value: Array, dtype: str) -> None:
        self.value, self.dtype = held(value, dtype), f"torch.{dtype}"

    def __array__(self, *_: object) -> None:
        raise TypeError("Got unsupported ScalarType")

    def float(self) -> NDArray[np.float32]:
        return self.value.astype(np.float32)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_few_numbers_of_a_tensor_are_judged_in_its_type(dtype: str) -> None:
    t = ac.attention(*np.random.default_rng(1).normal(size=(3, 3, 4)))
    given: Any = held(t.result, dtype).astype(np.float16) if dtype == "float16" else Tensor(t.result, dtype)
    found = t.check({"output": given, "weights": Tensor(t["weights"], "bfloat16")})  # NumPy reads torch's float16
    assert [step.verdict for step in found.steps] == ["right", "right"]
    assert not t.check(held(t.result, dtype).tolist())
    rows = [*given] if dtype == "float16" else [Tensor(row, dtype) for row in t.result]
    for answer in (rows, tuple(rows), {"output": rows}):
        assert t.check(answer).verdict == "right"


def test_few_numbers_of_a_safetensors_file_are_judged_in_its_type(tmp_path: Path, run: Run) -> None:
    q = np.random.default_rng(1).normal(size=(3, 4)).round(2)
    t, path = ac.attention(q, q, q), tmp_path / "dump.safetensors"
    path.write_bytes(safetensors({name: bfloat16(t[name]) for name in ("weights", "output")}))
    np.save(tmp_path / "q.npy", q)
    for answer in (path, f"{path}#output"):
        done = run("attention", *[tmp_path / "q.npy"] * 3, "--check", answer)
        assert (done.returncode, "judged with bfloat16's noise" in done.stdout) == (0, True), answer


# Right and wrong kernels


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(1, 30))])
def test_a_right_kernel_is_right_in_a_narrow_type(name: str, dtype: str, seed: int) -> None:
    given, result, _ = drawn(name, dtype, seed)
    assert (found := judged(given, result)).verdict == "right", found.hint
    assert dtype in (found.hint or "")


@pytest.mark.parametrize(("dtype", "size"), [("bfloat16", 4), ("float16", 4)])
@pytest.mark.parametrize("seed", [7, 8, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(7))])
def test_a_sharp_softmax_over_many_keys_is_right_step_by_step(dtype: str, size: float, seed: int) -> None:
    """Nearly all weights are 0, and the noise is that of the few others."""
    draw = np.random.default_rng(seed)
    q, k, v = (held(draw.normal(size=(n, 16)) * by, dtype) for n, by in ((8, size), (128, size), (128, 1)))
    scaled = held((q.astype("f4") @ k.astype("f4").T) * np.float32(0.25), dtype)
    shares = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    weights = held(shares / shares.sum(axis=-1, keepdims=True), dtype)
    dump = {"scaled": scaled, "weights": weights, "output": held(weights @ v, dtype)}
    assert ac.attention(q, k, v).check({name: value.astype("f4") for name, value in dump.items()})


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("round", [np.rint, np.floor])
def test_codes_of_a_narrow_type_are_the_nearest_of_its_own_scaled_numbers(dtype: str, round: Any) -> None:
    """Noise takes many of them across the middle between two codes; another rounding of the same numbers is wrong."""
    x = held(random(8, 64), "bfloat16")
    dump = {"largest": abs(x).max(axis=-1)}
    dump["scale"] = held(dump["largest"] / 127, dtype)
    dump["scaled"] = held(x / dump["scale"][:, None], dtype)
    dump["codes"] = round(dump["scaled"])
    dump["dequantised"] = held(dump["codes"] * dump["scale"][:, None], dtype)
    t = ac.quantize(x, kind="int8", per="row")
    assert (np.rint(dump["scaled"]) != t["codes"]).any()
    marked = t.check({name: value.astype("f4") for name, value in dump.items()}, hints="rule")
    assert marked.first_wrong == (None if round is np.rint else "codes")
    if marked:
        assert f"what {dtype}'s noise rounds to another whole number" in (marked.steps[3].hint or "")


@pytest.mark.thorough
def test_as_which_type_a_dump_is_judged_is_said_of_what_nothing_explains_too() -> None:
    given, result, _ = drawn("attention", "bfloat16", 2)
    found = judged(given, held(random(*result.shape), "bfloat16"))
    assert found.verdict == "unexplained"
    assert "judged as bfloat16" in (found.hint or "")


@pytest.mark.release
@pytest.mark.parametrize("name", KERNELS)
def test_a_wrong_kernel_is_wrong_in_a_narrow_type_and_named(name: str) -> None:
    named, number = 0, 0
    for dtype, seed in product(("float16", "bfloat16"), range(30)):
        given, result, mistake = drawn(name, dtype, seed, wrong=True)
        found = judged(given, result)
        assert found.verdict != "right", (mistake, seed)
        number, named = number + 1, named + (mistake in (*found.finding.mistakes, *found.finding.also))
    assert named >= 0.9 * number


def attention_dump(kernel: Kernel, mistake: str, dtype: str = "float64", size: float = 1) -> tuple[Problem, Array]:
    operands = {name: size * random(2, 4, 32, 16, seed=seed) for seed, name in enumerate("qkv")}
    causal = mistake.startswith("mask")
    result = kernel(lambda x: held(x, dtype), *operands.values(), causal=causal, mistake=mistake)
    return problem("attention", {"causal": causal}, **operands), result


@pytest.mark.thorough
@pytest.mark.parametrize("mistake", KERNELS["attention"].mistakes)
def test_noise_makes_no_mistake_nameless(mistake: str) -> None:
    given, result = attention_dump(KERNELS["attention"].kernel, mistake)
    result = result + 1e-3 * random(*result.shape, seed=9)
    found = judged(given, result.astype(np.float32))
    assert mistake in (*found.finding.mistakes, *found.finding.also), found.hint


@pytest.mark.parametrize(("rows", "size", "seed"), [(4, 1.0, 0), (4, 0.5, 0), (4, 0.5, 2), (6, 0.5, 1)])
def test_a_mistake_that_no_entry_tells_is_told_by_all_of_them(rows: int, size: float, seed: int) -> None:
    narrow, rng = partial(held, name="float8_e4m3fn"), np.random.default_rng(seed)
    q, k, v = (narrow(size * rng.normal(size=(rows, 8))) for _ in "qkv")
    given, kernel = problem("attention", q=q, k=k, v=v), KERNELS["attention"].kernel
    right, wrong = (kernel(narrow, q, k, v, mistake=mistake) for mistake in ("", "att-no-scale"))
    assert judged(given, right, "float8_e4m3fn").finding.verdict == "right"
    assert judged(given, wrong, "float8_e4m3fn").mistake == "att-no-scale"


def test_a_row_is_judged_by_its_own_noise() -> None:
    x = held(random(64, 8), "bfloat16")
    x[0] *= 1024
    given = problem("residual", x=x, f=x)
    due = held(2 * x, "bfloat16")
    assert judged(given, due, "bfloat16").verdict == "right"
    due[5] += 0.5 * np.abs(due[5]).max()  # far less than the noise of the first row
    assert judged(given, due, "bfloat16").verdict != "right"


def test_numbers_that_come_out_evenly_are_no_sign_of_a_narrow_type() -> None:
    x = np.tile([0.5, 0.25, 1.5, 2.0], (16, 1))
    given = problem("residual", x=x, f=x)
    assert judged(given, 2 * x).verdict == "right"
    off = 2 * x
    off[3, 2] += 1 / 64
    assert judged(given, off).verdict != "right"
    assert judged(given, off, "bfloat16").verdict == "right"


@pytest.mark.thorough
def test_a_type_that_is_said_counts(tmp_path: Any) -> None:
    given, result, _ = drawn("attention", "bfloat16", 1)
    few = result[..., :1, :].reshape(-1)[:8]
    trace = ac.softmax(np.log(np.arange(1, 9)))
    answer = held(trace.result, "bfloat16") + few * 0
    assert not trace.check(answer)
    assert trace.check(answer, dtype="bfloat16")
    assert ac.score(trace, answer, dtype="bfloat16") == 1
    ac.assert_close(trace, answer, dtype="bfloat16")
    assert judged(given, result, "float64").verdict != "right"
    with pytest.raises(OptionError, match="dtype must be"):
        ac.score(trace, answer, dtype="int8")
    np.save(tmp_path / "p.npy", held(np.array([0.2689, 0.7311]), "bfloat16"))
    words = ["softmax", "1,2", "--check", str(tmp_path / "p.npy")]
    assert app(words, standalone_mode=False) == 1
    assert app([*words, "--dtype", "bfloat16"], standalone_mode=False) == 0


# Distances that are said


def test_a_distance_is_that_of_every_rule() -> None:
    q, k, v = (random(3, 4, seed=seed) for seed in range(3))
    trace = ac.attention(q, k, v)
    wrong = ac.attention(q, k, v, scale="none").result + 5e-3
    assert trace.check(wrong).mistakes == ()
    assert trace.check(wrong, atol=1e-2).mistakes == ("att-no-scale",)
    assert ac.score(trace, trace.result + 5e-3, atol=1e-2) == 1
    with pytest.raises(AssertionError, match="att-no-scale"):
        ac.assert_close(trace, wrong, atol=1e-2)
    with pytest.raises(OptionError, match="rtol takes numbers from 0 on"):
        ac.score(trace, wrong, rtol=-1)


# The cost


SHAPES: dict[str, tuple[int, ...]] = {"a hand's": (2, 8, 16, 16), "more": (2, 8, 17, 16), "many": (8, 16, 64, 16)}


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("mistake", ["att-no-scale", ""])
def test_a_wrong_dump_takes_little_memory(shape: tuple[int, ...], mistake: str) -> None:
    q, k, v = (random(*shape, seed=seed) for seed in range(3))
    kernel: Callable[..., Array] = KERNELS["attention"].kernel
    result = kernel(lambda x: x, q, k, v, mistake=mistake) if mistake else random(*shape, seed=5)
    given = problem("attention", q=q, k=k, v=v)
    judged(given, result.astype(np.float32))  # what is loaded and kept once is not counted
    tracemalloc.start()
    found = judged(given, result.astype(np.float32))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    scores = 8 * result.size // shape[-1] * shape[-2]
    assert found.mistake == (mistake or None)
    graphs = 8_000_000  # of all rules that are tried, however many entries there are
    assert peak < graphs + 4 * (3 * result.nbytes + 4 * scores)


@pytest.mark.thorough
@pytest.mark.parametrize("stored", ["float64", "float32"])
@pytest.mark.parametrize("name", ["softmax", "layernorm"])
def test_a_large_dump_that_nothing_explains_takes_as_much_as_four_results(name: str, stored: str) -> None:
    x, answer = random(512, 1024), random(512, 1024, seed=1).astype(stored)
    given = problem(name, x=x)
    tracemalloc.start()
    found = judged(given, answer)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.verdict == "unexplained"
    graphs = 8_000_000  # and the text of the modules that are loaded here
    assert peak < graphs + x.nbytes * (1 + 4 + (stored != "float64"))  # the others are widened once


@pytest.mark.parametrize("size", [(3, 4), (40, 16)])
def test_the_bits_of_bfloat16_are_told_and_read(size: tuple[int, int]) -> None:
    """As a program has them that has no type for them; counts of 16 bits stay numbers."""
    x = held(random(*size), "bfloat16").astype(np.float32)
    bits = (x.view(np.uint32) >> 16).astype(np.uint16)
    t = ac.attention(x, x, x)
    output = held(t.result, "bfloat16").astype(np.float32)
    stored = (output.view(np.uint32) >> 16).astype(np.uint16)
    told = t.check(stored).steps[0]
    assert (told.verdict, told.hint) == (
        "unexplained",
        "if these are the bits of bfloat16, --dtype bfloat16 reads them so",
    )
    assert t.check(stored, dtype="bfloat16")
    assert not t.check(stored[::-1], dtype="bfloat16")
    assert ac.attention(bits, x, x).inputs["q"].note.startswith("if these are the bits of bfloat16, save ")
    counted = np.array([[1, 60000], [3, 4]], dtype=np.uint16)
    assert ac.matmul(counted, np.eye(2)).check(counted)


def softmax(scores: Any) -> Any:
    with np.errstate(invalid="ignore"):
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "hide",
    [
        lambda seen, scores: np.where(seen, scores, -np.inf),  # and the first row is NaN
        lambda seen, scores: np.where(seen, scores, -1e9),
        lambda seen, scores: scores + np.where(seen, 0, -1e9),  # which float64 has, and float32 has not
        lambda seen, scores: scores + np.where(seen, 0, -1e4),
    ],
)
def test_a_strict_triangle_is_named_whatever_becomes_of_the_row_that_sees_nothing(hide: Any, dtype: Any) -> None:
    q, k, v = (random(12, 4, seed=seed).astype(dtype) for seed in range(3))
    weights = softmax(hide(np.tril(np.ones((12, 12)), -1) > 0, (q @ k.T / 2).astype(dtype)).astype(dtype))
    t = ac.attention(q, k, v, causal=True)
    assert t.check({"weights": weights.astype(dtype)})["weights"].mistake == "mask-strict"


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_row_that_is_no_number_is_not_taken_for_powers_of_0(dtype: Any) -> None:
    q, k, v = (random(12, 4, seed=seed).astype(dtype) for seed in range(3))
    masked = np.where(np.tril(np.ones((12, 12)), -1) > 0, (q @ k.T / 2).astype(dtype), -np.inf).astype(dtype)
    marked = ac.attention(q, k, v, causal=True).check({"masked": masked, "weights": softmax(masked)})
    assert [step.mistake for step in marked.steps] == ["mask-strict", "mask-strict"]
