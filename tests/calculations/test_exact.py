"""Exact numbers and letters, for every calculation and option: they come to what floats come to, and hold no float."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from calculations.cases import EXPECTED
from calculations.exactness import ATOL, RTOL, agree, numbers, told_apart
from calculations.trial import Case
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from readback.arithmetic import comes_to, spelled
from rows import rows

from attncalc.calculations import TABLE, load
from attncalc.common.errors import AttncalcError, NotExact
from attncalc.declare.operands import Option
from attncalc.evaluate.exact import letters
from attncalc.record.trace import Entry, Given, Trace
from attncalc.solve import asking
from attncalc.solve.problem import Backward, Problem
from attncalc.solve.solver import solve

Array = NDArray[Any]
NAMES = [name for name in TABLE if name in EXPECTED and not EXPECTED[name].inexact]
CASES = [
    (name, replace(case, options={**case.options, "steps": 1}) if "steps" in case.options else case)
    for name in NAMES
    for case in EXPECTED[name].cases
    if case.operands
]
SMOOTH = [(name, case) for name, case in CASES if not (EXPECTED[name].no_gradient or case.no_gradient)]


def long(name: str, case: Case) -> bool:
    """Whether it is not the first case of a calculation that has one in exact numbers."""
    return case != next(first for its, first in CASES if its == name)


def _values(option: Option) -> list[Any]:
    """The words and truth values that an option may be."""
    return [*option.choices, *([True, False] if bool in option.types else [])]


def _options() -> Iterator[tuple[str, str, Any]]:
    """Every value of every option that no case has, save those that a calculation borrows from another."""
    for name in NAMES:
        calculation = load(name)
        borrowed = tuple(prefix for _, prefix in calculation.declaration.bundles.values() if prefix)
        for option in calculation.options:
            had = [case.options.get(option.name, option.default) for case in EXPECTED[name].cases]
            if not (borrowed and option.name.startswith(borrowed)):
                yield from ((name, option.name, value) for value in _values(option) if value not in had)


OPTIONS = list(_options())


def said(name: str, case: Case, backward: Backward | None) -> str:
    """What a case is called in the tables below, and in the tests' names."""
    return f"{'grad ' if backward else ''}{name}: {case}"


BOTH_WAYS = [*((name, case, None) for name, case in CASES), *((name, case, Backward()) for name, case in SMOOTH)]
GROWN = "the exact entries have grown to [0-9,]+ operations, but the limit is 20,000"
NEAREST = "which whole number is nearest to a letter is not known"
LARGER = "which is the larger of two letters is not known"
TURNED = {
    "grad attention: q k v rope_positions rope=True": GROWN,
    "grad attention: q k v rope_positions rope_key_positions rope=True": GROWN,
    "grad latent-attention: x wuq wqr wdkv wuk wuv wkr wo heads=2": GROWN,
}
"""Sines and cosines of whole angles have no shorter form."""
LATENT = (
    (
        "latent-attention: x wdq wuq wqr wdkv wuk wuv wkr wo q_gamma kv_gamma rope_positions heads=2 causal=True "
        "padding=(2,) scale=0.5 eps=0.1 bytes=4"
    ),
    "latent-attention: x wdq wuq wqr wdkv wuk wuv wkr wo mask heads=2 mask_kind=drop",
)
MUON = [
    f"optimizer: gradients start kind=muon lr=0.5 eps=0.01 {more}" for more in ("weight_decay=0.2", "momentum=0.95")
]
"""Each of five iterations takes fifth powers; the sample's matrix is small and diagonal, and has an exact form."""
NORMED = (
    "grad multihead: x wq wk wv wo bias_table sinks q_gamma k_gamma heads=2 bias=t5 max_distance=3 qk_norm=True eps=0.1"
)
SHARPENED = (
    "latent-attention: x wdq wuq wqr wdkv wuk wuv wkr wo heads=2 rope_scaling=yarn rope_factor=4 "
    "rope_original_length=8 rope_mscale=1 rope_mscale_all_dim=0.7"
)
"""Scores times the square of a logarithm, in the exponents of a softmax."""
NOT_IN_NUMBERS = (
    dict.fromkeys(
        (SHARPENED, f"grad {SHARPENED}"),
        "e to a logarithm times a number of many digits would be a power of as many digits",
    )
    | TURNED
    | {NORMED: GROWN}
    | {f"grad {case}": GROWN for case in (*LATENT, *MUON)}
    | dict.fromkeys(MUON, GROWN)
)
NOT_IN_LETTERS = (
    NOT_IN_NUMBERS
    | dict.fromkeys((*LATENT, SHARPENED, f"grad {SHARPENED}"), GROWN)
    | {
        "grad multihead: x wq wk wv wo rope_positions rope_key_positions heads=2 rope=True bias=alibi": GROWN,
        "preference-loss: new old advantages kind=ppo clip=0.1": LARGER,
        "preference-loss: new old ref rewards kind=grpo eps=0.01": LARGER,
        "grad preference-loss: new old advantages kind=ppo clip=0.1": LARGER,
        "grad preference-loss: new old ref rewards kind=grpo eps=0.01": LARGER,
        "grad multihead: x wq wk wv wo q_gamma k_gamma heads=2 qk_norm=True qk_norm_over=all eps=0.1": GROWN,
        "ffn: x w1 b1 w2 b2 w3 activation=swiglu-clamped": LARGER,
        "grad ffn: x w1 b1 w2 b2 w3 activation=swiglu-clamped": LARGER,
        "beam: transitions length=2 beam=3 end=1": LARGER,
        "grad norm: a p=inf": LARGER,
        "grad chebyshev: a b": LARGER,
        "grad pairwise: x y metric=chebyshev": LARGER,
        "sampling: logits seed=3": LARGER,
        "sampling: logits greedy=True": LARGER,
        "speculative: target draft tokens seed=3": LARGER,
        "speculative: target draft tokens temperature=0.5": LARGER,
        "quantize: x": NEAREST,
        "quantize: x kind=int4 per=row": NEAREST,
        "quantize: x kind=float8_e4m3fn": LARGER,
        "quantize: x kind=float8_e5m2 per=row": LARGER,
        "quantize: x per=row zero_point=True": LARGER,
        "quantize: x w per=row kind=int4": NEAREST,
        "quantize: x w kind=mxfp4 block=2": NEAREST,
        "mips: q keys": LARGER,
        "mips: q keys top=3": LARGER,
        "analogy: a b c vocabulary": LARGER,
        "analogy: a b c vocabulary top=1": LARGER,
        "activation: x kind=elu alpha=0.5": LARGER,
        "grad activation: x kind=elu alpha=0.5": LARGER,
        "activation: x kind=leaky-relu alpha=0.2": LARGER,
        "grad activation: x kind=leaky-relu alpha=0.2": LARGER,
        "linear-attention: q k v": LARGER,
        "grad linear-attention: q k v": LARGER,
        "linear-attention: x wq wk wv": LARGER,
        "grad linear-attention: x wq wk wv": LARGER,
        "linear-attention: q": LARGER,
        "grad linear-attention: q": LARGER,
        "ffn: x w1 b1 w2 b2": LARGER,
        "grad ffn: x w1 b1 w2 b2": LARGER,
        "grad flash: q k v mask mask_kind=additive": GROWN,
        "grad attention: q k v mask mask_before_scale=True": GROWN,
        "grad attention: q k v mask mask_kind=additive": GROWN,
        "grad multihead: x wq wk wv wo heads=4 kv_heads=2": GROWN,
        "latent-attention: x wuq wqr wdkv wuk wuv wkr wo heads=2": GROWN,
    }
)
"""What has no exact form, or none that anyone would read, and what is said of it."""


def small(case: Case) -> dict[str, Array]:
    """The case's operands with at most two places along each axis, and round numbers in them."""
    rng = np.random.default_rng(3)
    arrays = {}
    for name, drawn in case.arrays().items():
        said = case.operands[name]
        if not isinstance(said, str) or drawn.dtype.kind != "f":
            arrays[name] = drawn
            continue
        shape = tuple(min(size, 2) for size in drawn.shape)
        quarters = rng.permutation(np.arange(1, max(9, np.prod(shape) + 1)))[: np.prod(shape)].reshape(shape) / 4
        arrays[name] = quarters if "positive" in said else quarters * rng.choice([-1, 1], shape)
    return arrays


def whole(case: Case) -> dict[str, Array]:
    """The case's operands as they are."""
    return case.arrays()


def posed(name: str, case: Case, backward: Backward | None = None) -> tuple[Problem, Trace]:
    """The case on small operands, or on its own where those do not go together; and what floats make of it."""
    for drawn in (small, whole) if name != "rope" else (whole,):  # of two columns some rules divide by d − 2
        problem = Problem(load(name), {n: Given(v) for n, v in drawn(case).items()}, case.options, backward)
        try:
            return problem, solve(problem)
        except AttncalcError:
            if drawn is whole:
                raise
    raise AssertionError("whole operands are tried last")


def comes_out(trace: Trace) -> None:
    """The arithmetic of a step's first and last entry, worked by the rules of school, is the entry."""
    for step in told_apart(trace).values():
        value = step.value
        if not asking.is_worked_out(trace, step) or value is None or value.dtype != object or not value.size:
            continue
        for at in {(0,) * value.ndim, tuple(size - 1 for size in value.shape)}:
            pieces = asking.arithmetic(trace, step, at)
            entries = [piece.value for piece in pieces if isinstance(piece, Entry)]
            line = "" if not entries else spelled(tuple(map(_as_float, pieces)))
            if line and "…" not in line and not any(sympy.sympify(entry).has(sympy.I) for entry in entries):
                assert comes_to(line, complex(value[at]).real), f"{step.key}{at}: {line}"


def _as_float(piece: str | Entry) -> str | Entry:
    return piece if isinstance(piece, str) else piece._replace(value=float(piece.value))


def refuses(problem: Problem, why: str) -> None:
    """There is no exact form, and one line says why."""
    with pytest.raises(NotExact) as refusal:
        solve(problem, exact=True)
    assert re.fullmatch(why, str(refusal.value))
    assert not set("\n\r") & set(refusal.value.message + refusal.value.hint)


def holds(name: str, case: Case, backward: Backward | None = None) -> None:
    """In exact numbers the case comes to what floats come to."""
    problem, floats = posed(name, case, backward)
    exact = solve(problem, exact=True)
    agree(exact, floats)
    comes_out(exact)


@pytest.mark.spread
@rows(("name", "case"), CASES, by=lambda name, case: name, thorough=long)
def test_exact_numbers_give_what_floats_give(name: str, case: Case) -> None:
    why = NOT_IN_NUMBERS.get(said(name, case, None))
    if why:
        refuses(posed(name, case, None)[0], why)
    else:
        holds(name, case)


@pytest.mark.release
@pytest.mark.spread
@rows(("name", "case"), SMOOTH, by=lambda name, case: name, thorough=long)
def test_exact_gradients_are_those_of_floats(name: str, case: Case) -> None:
    why = NOT_IN_NUMBERS.get(said(name, case, Backward()))
    if why:
        refuses(posed(name, case, Backward())[0], why)
    else:
        holds(name, case, Backward())


@pytest.mark.release
@rows(("name", "option", "value"), OPTIONS, ids=[f"{name}: {option}={value}" for name, option, value in OPTIONS])
def test_every_option_can_be_exact(name: str, option: str, value: Any) -> None:
    faults = []
    for case in EXPECTED[name].cases:
        varied = replace(case, options={**case.options, option: value})
        try:
            solve(Problem(load(name), {n: Given(v) for n, v in varied.arrays().items()}, varied.options))
        except AttncalcError as error:
            faults.append(error.message)
            continue
        if case.operands:
            holds(name, varied)
        return
    raise AssertionError(f"no case goes with --{option} {value}: {faults}")


def in_letters(problem: Problem, case: Case) -> tuple[Problem, dict[Any, Any]]:
    """The case's random operands as letters, and the numbers for which they stand; the others as they are."""
    operands = dict(problem.inputs)
    stand_for: dict[Any, Any] = {}
    for operand, (value, *_) in problem.inputs.items():
        declared = problem.calculation.operand(operand)
        numeric = declared is not None and declared.kind in ("real", "logits")
        if numeric and isinstance(case.operands[operand], str) and value.dtype.kind == "f":
            operands[operand] = letters(operand, value.shape)
            stand_for |= dict(zip(operands[operand].value.flat, map(mpmath.mpf, value.flat), strict=True))
    return problem._replace(inputs=operands), stand_for


@pytest.mark.release
@pytest.mark.spread
@rows(
    ("name", "case", "backward"),
    BOTH_WAYS,
    ids=[said(*row) for row in BOTH_WAYS],
    by=lambda name, case, backward: name,
    thorough=lambda name, case, backward: long(name, case),
)
def test_numbers_put_in_for_letters_give_the_numbers(name: str, case: Case, backward: Backward | None) -> None:
    given, floats = posed(name, case, backward)
    problem, stand_for = in_letters(given, case)
    why = NOT_IN_LETTERS.get(said(name, case, backward))
    if why:
        refuses(problem, why)
        return
    for found, wanted in zip(solve(problem, exact=True).outputs, floats.outputs, strict=True):
        assert found.value is not None
        assert wanted.value is not None
        if found.value.dtype == object:
            assert_allclose(numbers(found.value, stand_for), wanted.value.astype(complex), rtol=RTOL, atol=ATOL)


@pytest.mark.parametrize("name", ["softmax", "log-softmax"])
def test_a_masked_score_is_exact_too(name: str) -> None:
    problem = Problem(load(name), {"x": Given(np.array([1.0, -np.inf, 2.0]))})
    agree(solve(problem, exact=True), solve(problem))


def test_an_infinite_divergence_is_infinite_exactly() -> None:
    problem = Problem(load("kl"), {"p": Given(np.array([0.5, 0.5])), "q": Given(np.array([0.0, 1.0]))})
    assert solve(problem, exact=True).result == sympy.oo


def test_what_is_refused_is_tried() -> None:
    tried = {said(*row) for row in BOTH_WAYS}
    assert not (NOT_IN_NUMBERS.keys() | NOT_IN_LETTERS.keys()) - tried
