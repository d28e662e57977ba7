"""Runs in narrow types: what a type holds, each value rounded to it, sums of two kinds, drift, one entry's story."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from calculations.test_registry import NAMES
from conftest import Run
from numpy.typing import NDArray
from rows import rows

import attncalc as ac
from attncalc.cli import app
from attncalc.common.errors import AttncalcError, DomainError, NoGradient, OptionError
from attncalc.common.numerals import ACCUMULATED, NARROW
from attncalc.evaluate.precisions import CARRIER, PRECISIONS, held
from attncalc.inputs.problem_files import load_document, sample_problem
from attncalc.inputs.reading import Reading
from attncalc.render import View, render
from attncalc.solve.problem import Backward
from attncalc.solve.solver import solve

Array = NDArray[Any]

# What a type holds, against its codes one by one: sign, exponent and fraction as the standards lay them out.

LAYOUTS = {"float8_e5m2": (5, 2), "float8_e4m3fn": (4, 3), "float16": (5, 10), "bfloat16": (8, 7)}


def numbers_of(name: str) -> list[Fraction]:
    """All finite numbers of a type that are not below 0, decoded by hand, in order."""
    exponent_bits, bits = LAYOUTS[name]
    bias, found = 2 ** (exponent_bits - 1) - 1, []
    for exponent, fraction in product(range(2**exponent_bits), range(2**bits)):
        last = exponent == 2**exponent_bits - 1
        if last and (name != "float8_e4m3fn" or fraction == 2**bits - 1):
            continue  # infinities and NaN; e4m3fn has but one NaN of each sign
        whole = fraction if exponent == 0 else 2**bits + fraction
        found.append(whole * Fraction(2) ** (max(exponent, 1) - bias - bits))
    return found


def nearest(x: float, numbers: list[Fraction]) -> Fraction | None:
    """The number of a type that is nearest to x ≥ 0, of two the one with the even code; None for what overflows."""
    at = min(range(len(numbers)), key=lambda i: (abs(numbers[i] - Fraction(x)), i % 2))
    end = numbers[-1] + (numbers[-1] - numbers[-2]) / 2
    over = Fraction(x) > end or (Fraction(x) == end and len(numbers) % 2 == 0)
    return None if over else numbers[at]


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["float8_e5m2", "float8_e4m3fn"])
def test_a_number_becomes_the_nearest_code(name: str) -> None:
    numbers = numbers_of(name)
    assert float(numbers[-1]) == PRECISIONS[name].most
    halves = [float((a + b) / 2) for a, b in pairwise(numbers)]
    beside = [float(np.nextafter(np.float32(half), np.float32(to))) for half in halves for to in (0, np.inf)]
    end = 2 * float(numbers[-1]) - halves[-1]
    tried = [*map(float, numbers), *halves, *beside, end, np.nextafter(end, 0), np.nextafter(end, np.inf), 1e9]
    for x, found, below in zip(tried, held(np.array(tried), name), held(-np.array(tried), name), strict=True):
        due = nearest(x, numbers)
        beyond = PRECISIONS[name].beyond
        np.testing.assert_array_equal([found, below], [beyond, -beyond] if due is None else [float(due), -float(due)])


def test_bfloat16_is_the_upper_half_of_a_float32() -> None:
    rng = np.random.default_rng(3)
    bits = np.concatenate([rng.integers(0, 2**32, 5000), np.arange(2**16) * 2**16 + 2**15]).astype(np.uint32)
    x = bits.view(np.float32)
    bits, x = bits[np.isfinite(x)].astype(np.uint64), x[np.isfinite(x)]
    upper = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32)
    np.testing.assert_array_equal(held(x, "bfloat16").astype(np.float32), upper.view(np.float32))


# Every calculation, forward and backward, in every narrow type, with sums of both kinds.

WAYS = [(name, dtype, way) for name in NAMES for dtype, way in product(NARROW, ACCUMULATED)]


TOO_NEAR = {"concentration": "distance_ratio[0] = "}
"""In float8_e5m2 the nearest of some points at random is at a distance of 0, by which the ratio would be divided."""


@pytest.mark.spread(28)
@rows(("name", "dtype", "accumulate"), WAYS, by=lambda name, dtype, accumulate: name)
def test_every_step_is_held_by_the_type_and_tells_its_drift(name: str, dtype: str, accumulate: str) -> None:
    for backward in (None, Backward()):
        problem = sample_problem(name)._replace(backward=backward)
        try:
            trace = solve(problem, dtype=dtype, accumulate=accumulate)
        except NoGradient:
            continue
        except AttncalcError as error:
            near = name in TOO_NEAR and error.message.startswith(TOO_NEAR[name])
            assert "overflows: it is beyond" in error.message or near or backward, error  # noqa: PT017  (some cannot be held)
            continue
        wide = {step.key for step in solve(problem).steps}
        for step in trace.steps:
            assert step.value is not None
            if step.value.dtype.kind == "f":
                assert step.value.dtype == CARRIER
                finite = step.value[~np.isinf(step.value)]  # what masks is infinite in a type without, too
                # ids stand for words: they are places, which no type rounds
                due = np.rint(finite) if step.names else held(finite, dtype)
                np.testing.assert_array_equal(finite, due, err_msg=step.key)
            assert step.drift is not None or step.key not in wide, step.key  # a loop may end later


@pytest.mark.spread(14)
@pytest.mark.release
@pytest.mark.parametrize("name", NAMES)
def test_a_document_gives_the_same_numbers_again(name: str, tmp_path: Path) -> None:
    for (dtype, accumulate), backward in product(product(NARROW, ACCUMULATED), (None, Backward())):
        try:
            trace = solve(sample_problem(name)._replace(backward=backward), dtype=dtype, accumulate=accumulate)
        except AttncalcError:
            continue
        path = tmp_path / "saved.json"
        path.write_text(str(render(trace, "json", View())))
        document = load_document(str(path), Reading())
        again = solve(document.problem, **document.settings)
        for before, after in zip(trace.outputs, again.outputs, strict=True):
            np.testing.assert_array_equal(before.value, after.value)


# Attention by hand, number by number, in a type whose codes are searched for.


def rounded(x: float, numbers: list[Fraction]) -> float:
    found = nearest(abs(x), numbers)
    assert found is not None
    return float(np.copysign(float(found), x))


@pytest.mark.parametrize("accumulate", ACCUMULATED)
def test_attention_as_a_hand_rounds_it(accumulate: Any) -> None:
    numbers = numbers_of("float8_e4m3fn")
    rng = np.random.default_rng(5)
    q, k, v = (rng.normal(size=shape).tolist() for shape in ((2, 4), (3, 4), (3, 2)))

    def r(x: float) -> float:
        return rounded(x, numbers)

    def product_of(a: list[float], b: list[float]) -> float:
        terms = [x * y for x, y in zip(a, b, strict=True)]
        if accumulate == "float32":
            return r(sum(terms))
        total = r(terms[0])
        for term in terms[1:]:
            total = r(total + r(term))
        return total

    q, k, v = ([[r(x) for x in row] for row in matrix] for matrix in (q, k, v))
    scores = [[product_of(a, b) for b in k] for a in q]
    scaled = [[r(x / 2) for x in row] for row in scores]
    raised = [[np.exp(x) for x in row] for row in scaled]
    weights = [[r(x / sum(row)) for x in row] for row in raised]
    output = [[product_of(row, [line[j] for line in v]) for j in range(2)] for row in weights]
    found = ac.attention(q, k, v, dtype="float8_e4m3fn", accumulate=accumulate)
    for step, due in {"scores": scores, "scaled": scaled, "weights": weights, "output": output}.items():
        np.testing.assert_array_equal(found[step], due)


def test_a_long_sum_of_ones_stops_growing_where_a_one_is_less_than_half_a_unit() -> None:
    ones = np.ones(300)
    assert ac.dot(ones, ones, dtype="bfloat16").result == 300
    assert ac.dot(ones, ones, dtype="bfloat16", accumulate="same").result == 256
    assert ac.rmsnorm(ones[None], dtype="bfloat16", accumulate="same")["mean_square"] == held(
        np.array(256 / 300), "bfloat16"
    )


def test_ids_places_and_sizes_are_no_values() -> None:
    table = np.arange(2000.0).reshape(1000, 2) % 7
    found = ac.embed([999, 257], table, positions="none", dtype="float8_e5m2")
    np.testing.assert_array_equal(found.result, table[[999, 257]])
    logits = np.zeros((1, 300))
    assert ac.cross_entropy(logits, [257], dtype="float8_e5m2").result == held(np.log(np.array(300.0)), "float8_e5m2")


def test_an_infinity_that_masks_stays_one_in_a_type_without() -> None:
    found = ac.attention([[1, 2], [2, 1]], [[1, 2], [2, 1]], [[1], [2]], causal=True, dtype="float8_e4m3fn")
    np.testing.assert_array_equal(found["weights"][0], [1, 0])


def test_the_backward_pass_is_of_the_same_type() -> None:
    trace = ac.attention([[0.1, 0.2]], [[0.3, 0.4], [0.5, 0.6]], [[0.7], [0.8]], dtype="float16", accumulate="same")
    back = trace.grad()
    assert (back.mode.dtype, back.mode.accumulate) == ("float16", "same")
    assert all(np.array_equal(held(step.value, "float16"), step.value) for step in back.steps if step.value is not None)


# What is said

CELLS = [
    (
        "float32",
        "weights[0,1]",
        "0.106506981 lies between 0.106445312 and 0.106933594 in bfloat16; 0.106445312 is taken",
    ),
    ("float32", "scores[0,0]", "scores[0,0]: bfloat16 has 1 itself"),
    ("same", "output[0,0]", "output[0,0]: bfloat16 adds up to 1.3125, term by term; float32 comes to 1.31738281"),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("accumulate", "cell", "said"), CELLS)
@pytest.mark.parametrize("form", ["table", "plain", "markdown", "html", "latex"])
def test_a_cell_tells_how_it_was_rounded(accumulate: str, cell: str, said: str, form: str) -> None:
    trace = solve(sample_problem("attention"), dtype="bfloat16", accumulate=accumulate)
    shown = render(trace, form, View(cells=(cell,), width=200))
    assert isinstance(shown, str)
    assert said in shown.replace("\\", "")


def test_a_tie_goes_to_the_even_one() -> None:
    trace = ac.dot([1], [1.0625], dtype="float8_e4m3fn")
    assert trace.result == 1
    trace = ac.dot([1, 1], [1, 0.0625], dtype="float8_e4m3fn")
    shown = render(trace, "plain", View(cells=("dot",)))
    assert isinstance(shown, str)
    assert "1.0625 lies between 1 and 1.125 in float8_e4m3fn; 1 is taken: it is half way, and that one is even" in shown


def test_json_has_the_number_before_it_was_rounded(run: Run, samples: Path) -> None:
    found = run("attention", samples / "attention.json", "--dtype", "bfloat16", "--cell", "weights[0,1]", "-f", "json")
    (cell,) = json.loads(found.stdout)["cells"]
    assert cell["unrounded"] == pytest.approx(0.10650698, rel=1e-7)
    assert found.stderr == "note: every value is rounded to bfloat16; sums are added up in float32 first\n"


FAULTS = [
    (
        "dot 300,2 2,3 --dtype float8_e4m3fn",
        "products[0] = a ⊙ b overflows: it is beyond 448, the largest float8_e4m3fn",
    ),
    ("dot 1e5,2 2,3 --dtype float16", "a[0] = 100000 overflows: it is beyond 65504, the largest float16"),
    ("dot 1,2 2,3 --dtype float16 --round 2", "--round rounds to decimals and --dtype float16 to digits of its own"),
    ("dot 1,2 2,3 --accumulate same", "--accumulate says how a narrow type adds up, and --dtype names none"),
    ("dot 1,2 2,3 --dtype bfloat16 --exact", "--dtype bfloat16 rounds every step, and --exact rounds nothing"),
    ("dot 1,2 2,3 --dtype float7", "--dtype takes float64, float32, float16, bfloat16, float8_e4m3fn or float8_e5m2"),
]


@pytest.mark.parametrize(("words", "said"), FAULTS, ids=[words for words, _ in FAULTS])
def test_what_does_not_go_is_told_in_a_line(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert app(words.split(), standalone_mode=False) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"Error: {said}")


class Like:
    """A type as torch writes it."""

    def __str__(self) -> str:
        return "torch.bfloat16"


def test_a_type_is_named_in_many_ways() -> None:
    names: list[Any] = ["bfloat16", Like(), np.float16, np.dtype("float16")]
    for said in names:
        assert ac.dot([1.0], [1.0], dtype=said).mode.dtype in NARROW
    with pytest.raises(OptionError, match="accumulate must be float32 or same, not 'float64'"):
        ac.dot([1.0], [1.0], dtype="bfloat16", accumulate="float64")  # type: ignore[arg-type]  # it is wrong on purpose
    with pytest.raises(DomainError, match=r"a\[1\] = 500 overflows"):
        ac.dot([1.0, 500], [1.0, 1], dtype="float8_e4m3fn")
