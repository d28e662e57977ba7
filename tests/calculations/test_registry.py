"""Every calculation of the table: steps, reasons and formulas, numbers by a witness, gradients by differences."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from calculations.cases import EXPECTED
from calculations.trial import Case
from language.ops.working import SPOKEN
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from readback.arithmetic import comes_to, spelled
from readback.latex import formula_fault
from rows import rows
from witness import WITNESSES

from attncalc.calculations import FAMILIES, TABLE, load
from attncalc.common.errors import AttncalcError, DomainError, NoGradient, ShapeError
from attncalc.declare.calculation import Calculation
from attncalc.inputs.problem_files import load_document
from attncalc.inputs.reading import Reading
from attncalc.language.graph import Node, inside
from attncalc.language.primitive import Literal
from attncalc.record.trace import Entry, Given, Step, Trace
from attncalc.solve import asking, solver
from attncalc.solve.problem import Backward, Problem
from attncalc.solve.solver import solve

Array = NDArray[Any]
SAMPLES = Path(__file__).parents[2] / "samples"
NAMES = [name for name in TABLE if name in EXPECTED]
CASES = [(name, case) for name in NAMES for case in EXPECTED[name].cases]
FIRM = [(name, case, EXPECTED[name].no_gradient or case.no_gradient) for name, case in CASES]
SMOOTH = [(name, case) for name, case, why in FIRM if not why]
every_case = rows(("name", "case"), CASES, by=lambda name, case: name)
every_smooth_case = rows(("name", "case"), SMOOTH, by=lambda name, case: name)


def run(
    name: str,
    case: Case,
    backward: Backward | None = None,
    operands: Mapping[str, Array] | None = None,
    dtype: str = "float64",
) -> Trace:
    """The case carried out, with some operands in place of its own or beside them."""
    inputs = {operand: Given(value) for operand, value in (case.arrays() | dict(operands or {})).items()}
    return solve(Problem(load(name), inputs, case.options, backward), dtype=dtype)


def backwards(name: str, case: Case, dtype: str = "float64") -> Trace:
    """Its backward pass, from a gradient that is not the same everywhere, with central differences beside it."""
    upstream = np.random.default_rng(1).normal(size=plain(name, case).result.shape).round(2)
    return run(name, case, Backward(gradcheck=dtype == "float64"), {"upstream": upstream}, dtype)


Carrying = Callable[[str, Case], Trace]


def once(carried_out: Carrying) -> Carrying:
    """For all tests that only look at it, a case is carried out once."""
    known = cache(lambda name, number: carried_out(name, EXPECTED[name].cases[number]))
    return lambda name, case: known(name, EXPECTED[name].cases.index(case))


plain, gradients = once(run), once(backwards)


def words(calculation: Calculation) -> dict[str, str]:
    """Its operands and options, each with what is said of it."""
    borrowed = tuple(prefix for _, prefix in calculation.declaration.bundles.values() if prefix)  # as rope's, elsewhere
    options = {o.name: o.help for o in calculation.options if not (borrowed and o.name.startswith(borrowed))}
    return {o.name: o.help for o in calculation.operands if o.kind != "model"} | options


def names(steps: tuple[Step, ...]) -> str:
    return " ".join(step.key.replace(" ", "_") for step in steps)


def test_every_calculation_is_tried_and_witnessed() -> None:
    missing = [name for name in TABLE if name not in EXPECTED]
    assert not missing, f"add to tests/calculations/cases.py the steps, outputs and cases of {', '.join(missing)}"
    unseen = [name for name in TABLE if name not in WITNESSES]
    assert not unseen, f"add to a table of tests/witness/ a witness in plain loops for {', '.join(unseen)}"


@pytest.mark.parametrize("name", TABLE)
class TestEachCalculation:
    @pytest.mark.thorough
    def test_is_what_the_table_says(self, name: str) -> None:
        module, line = TABLE[name]
        calculation = load(name)
        assert calculation.name == name
        assert calculation.summary == line == inspect.cleandoc(calculation.function.__doc__ or "").split("\n")[0]
        assert calculation.function.__module__ == f"attncalc.calculations.{module}"
        assert module in FAMILIES

    def test_explains_every_operand_and_option(self, name: str) -> None:
        assert [what for what, text in words(load(name)).items() if not text] == []

    @pytest.mark.thorough
    def test_has_a_source(self, name: str) -> None:
        assert re.search(r"[A-Z]\w+ .*\b\d{4}\b", load(name).reference), "who described it first, and when?"

    def test_has_a_sample_that_runs(self, name: str) -> None:
        path = SAMPLES / f"{name}.json"
        assert path.exists(), f"samples/{name}.json is missing"
        document = load_document(str(path), Reading())
        assert document.calculation == name
        trace = solve(Problem(load(name), document.inputs, document.options))
        assert trace.result.dtype.kind == "U" or np.isfinite(trace.result.astype(float)).all()
        assert not trace.warnings


@rows("name", NAMES)
def test_every_operand_and_option_has_a_case(name: str) -> None:
    calculation, cases = load(name), EXPECTED[name].cases
    used = {operand for case in cases for operand in case.operands}
    used |= {
        option for case in cases for option, value in case.options.items() if value != calculation.defaults.get(option)
    }
    unused = words(calculation).keys() - used
    assert not unused, f"add to tests/calculations/cases.py a case of {name} with {', '.join(sorted(unused))}"


@pytest.mark.spread
@every_case
class TestEachCase:
    def test_has_the_steps_and_outputs_that_are_promised(self, name: str, case: Case) -> None:
        trace, expected = plain(name, case), EXPECTED[name]
        assert names(trace.steps) == (case.steps or expected.steps)
        assert names(trace.outputs) == (case.outputs or expected.outputs or names(trace.steps).split()[-1])

    def test_explains_every_step(self, name: str, case: Case) -> None:
        trace = plain(name, case)
        for step in {step.key: step for step in (*trace.steps, *trace.outputs)}.values():
            explained(step)

    def test_agrees_with_plain_loops(self, name: str, case: Case) -> None:
        if case.elsewhere:
            return
        trace = plain(name, case)
        operands = {operand: value.tolist() for operand, value in case.arrays().items()}
        known = WITNESSES[name](**operands, **case.options)
        for step in (*trace.steps, *trace.outputs):
            if step.key in known:
                agree(trace[step.key], np.array(known[step.key]), step.key, rtol=1e-12, atol=1e-13)
        assert trace.outputs[0].key in known

    def test_arithmetic_comes_to_the_entry(self, name: str, case: Case) -> None:
        comes_out(plain(name, case))

    def test_float32_stays_float32(self, name: str, case: Case) -> None:
        for step, wide in zip(run(name, case, dtype="float32").steps, plain(name, case).steps, strict=True):
            assert step.value is not None
            assert wide.value is not None
            assert step.value.dtype == (np.float32 if wide.value.dtype == np.float64 else wide.value.dtype), step.key
            agree(step.value, wide.value, step.key, rtol=1e-4, atol=1e-5)

    def test_a_batch_of_operands_gives_a_batch_of_results(self, name: str, case: Case) -> None:
        if EXPECTED[name].pools or case.pools or all(value.dtype.kind == "U" for value in case.arrays().values()):
            return
        drawn = [case.arrays(seed) for seed in (0, 1)]
        calculation = load(name)
        shared = {o.name for o in calculation.operands if o.broadcasts}
        stacked = {n: v if n in shared else np.stack([one[n] for one in drawn]) for n, v in drawn[0].items()}
        together = run(name, case, operands=stacked)
        for i, one in enumerate(drawn):
            alone = run(name, case, operands={n: drawn[0][n] if n in shared else v for n, v in one.items()})
            assert_allclose(together.result[i], alone.result, rtol=1e-12, atol=1e-13)

    def test_one_in_front_serves_a_whole_batch(self, name: str, case: Case) -> None:
        if EXPECTED[name].pools or case.pools or all(value.dtype.kind == "U" for value in case.arrays().values()):
            return
        drawn = [case.arrays(seed) for seed in (0, 1)]
        shared = {o.name for o in load(name).operands if o.broadcasts}
        own = [operand for operand in drawn[0] if operand not in shared]
        several_shapes = {o.name: len(o.shapes) > 1 for o in load(name).operands}
        learned = own[2:] if "steps" in case.options else []  # what a whole batch learns is not what each would learn
        for alone in own if len(own) > 1 else ():
            several = drawn[0] | {name: np.stack([one[name] for one in drawn]) for name in own if name != alone}
            repeated = run(name, case, operands=several | {alone: np.stack([drawn[0][alone]] * 2)})
            fronts = [] if alone in learned else [(1,), ()]
            if any(several_shapes[operand] for operand in own):  # what stands in front may be meant
                fronts = [] if several_shapes[alone] else fronts[:1]
            for shape in [(*front, *drawn[0][alone].shape) for front in fronts]:
                try:
                    spread = run(name, case, operands=several | {alone: drawn[0][alone].reshape(shape)})
                except (ShapeError, DomainError):  # a gain, or positions, of a batch need it in what they belong to
                    assert name not in ("matmul", "dot", "cosine", "kl", "outer", "linear-attention")
                else:
                    assert_allclose(spread.result, repeated.result, rtol=1e-12, atol=1e-13)


@pytest.mark.spread
@every_smooth_case
class TestEachGradient:
    @pytest.mark.thorough
    def test_agrees_with_central_differences(self, name: str, case: Case) -> None:
        found = gradients(name, case)
        assert found.outputs
        for step in found.outputs:
            assert step.check is not None, f"{step.key} was not checked"
            assert step.check.agrees, f"{step.key} is {step.check.max_error:.2g} off"

    def test_has_a_key_for_every_step(self, name: str, case: Case) -> None:
        keys = [step.key for step in gradients(name, case).steps]
        assert sorted(keys) == sorted(set(keys))

    def test_comes_from_one_value_alone(self, name: str, case: Case) -> None:
        """What a result hands on unchanged goes into the result, and not beside it into the loss."""
        assert len({value for value, into, _ in asking.edges(gradients(name, case)) if not into}) == 1

    def test_has_one_symbol_for_one_gradient(self, name: str, case: Case) -> None:
        """A part may leave its own name out, unless what is of no part is called the same."""
        backward = [step for step in gradients(name, case).steps if step.gradient_of]
        outside = {step.symbol for step in backward if not step.group}
        assert [step.key for step in backward if step.group and step.symbol in outside] == []

    def test_has_the_places_of_what_it_is_of(self, name: str, case: Case) -> None:
        """The gradient of rows that are laid behind another one begins with 0, as the rows do."""
        found = gradients(name, case)
        forward = {(step.group, step.name): step for step in found.steps if step.gradient_of is None}
        for step in found.steps:
            of = forward.get((step.group, step.gradient_of or ""))
            assert of is None or of.axes != step.axes or of.labels == step.labels, step.key

    def test_takes_no_number_from_what_is_told_in_words(self, name: str, case: Case) -> None:
        """An eigenvector's entries come from no short arithmetic: where a formula needs them, they are a step."""
        for node in solver.behind(found := gradients(name, case)).nodes.values():
            for inner in inside(node):
                if inner is not node.sources[0] and inner.shape and 0 not in inner.shape:
                    cell = inner.row.cell(inner, dict.fromkeys(inner.names, 0), looking(found, inner))
                    assert not (isinstance(cell, Literal) and str(cell.value).startswith(SPOKEN)), node.path

    def test_explains_every_step(self, name: str, case: Case) -> None:
        found = gradients(name, case)
        assert any(step.gradient_of for step in found.steps)
        for step in found.steps:
            explained(step)

    @pytest.mark.thorough
    def test_arithmetic_comes_to_the_entry(self, name: str, case: Case) -> None:
        comes_out(gradients(name, case))

    def test_keeps_float32(self, name: str, case: Case) -> None:
        found = backwards(name, case, dtype="float32")
        assert {step.value.dtype for step in found.outputs if step.value is not None} == {np.dtype(np.float32)}


def looking(trace: Trace, node: Node) -> Callable[[int, Mapping[str, int]], Any]:
    """The entries of a node's sources, for its cell."""
    look = solver.behind(trace).around.look
    return lambda source, at: look(node.sources[source], at)


def misshapen(operands: Mapping[str, Array]) -> Iterator[dict[str, Array]]:
    """Operands of other shapes: one longer by zeros or with one more axis behind, and two of batches of 2 and of 3."""
    for name, value in operands.items():
        for axis in range(value.ndim):
            yield {name: np.concatenate((value, np.zeros_like(value.take([0], axis))), axis)}
        yield {name: value[..., None]}
    for name, other in pairwise(operands):
        yield {each: np.stack([operands[each]] * size) for each, size in ((name, 2), (other, 3))}


@pytest.mark.thorough
@rows(("name", "case"), [(name, case) for name, case in CASES if load(name).check], by=lambda name, case: name)
def test_what_is_checked_of_operands_is_so_whatever_their_shapes(name: str, case: Case) -> None:
    operands = {operand: value for operand, value in case.arrays().items() if value.dtype.kind in "iuf"}
    for changed in misshapen(operands):
        with suppress(AttncalcError):  # NumPy's own errors are a fault of ours
            run(name, case, operands=changed)


@rows(("name", "case", "why"), [row for row in FIRM if row[2]], ids=lambda value: str(value)[:60])
def test_what_has_no_gradient_says_why(name: str, case: Case, why: str) -> None:
    with pytest.raises(NoGradient, match=why):
        run(name, case, Backward())


def explained(step: Step) -> None:
    """A formula and LaTeX without anything left to fill in, and a reason."""
    assert step.why, f"{step.key} gives no reason"
    assert step.formula, f"{step.key} has no formula"
    assert not set("{}") & set(step.formula + step.sizes), step.formula
    assert step.latex, f"{step.key} has no LaTeX"
    assert not formula_fault(step.latex), f"{step.key}: {step.latex}: {formula_fault(step.latex)}"
    assert not formula_fault(step.symbol_latex), f"{step.key}: {step.symbol_latex}"
    assert step.value is not None
    assert len(step.axes) == len(step.shape) == step.value.ndim


def agree(found: Array, wanted: Array, what: str, *, rtol: float, atol: float) -> None:
    """Numbers within the tolerance; words as they are."""
    if wanted.dtype.kind == "U":
        assert found.tolist() == wanted.tolist(), what
    else:
        assert_allclose(found, wanted, rtol=rtol, atol=atol, err_msg=what)


def comes_out(trace: Trace) -> None:
    """The arithmetic of each step and output, worked by the rules of school, is its entry; a few entries of each are.

    The first and the last are looked at, since edges differ, and two that are drawn.
    """
    rng = np.random.default_rng(len(trace.steps))
    for step in {step.key: step for step in (*trace.steps, *trace.outputs)}.values():
        assert step.value is not None
        if step.value.dtype.kind == "U" or not asking.is_worked_out(trace, step):
            assert step.value.dtype.kind == "U" or step not in trace.steps
            continue  # a verdict, which its arithmetic leads to; or a table of a loop's turns
        for flat in sorted({0, step.value.size - 1, *rng.integers(step.value.size, size=2).tolist()}):
            at = tuple(int(i) for i in np.unravel_index(flat, step.shape))
            pieces = asking.arithmetic(trace, step, at)
            if not any(isinstance(piece, Entry) for piece in pieces):
                continue  # words: an entry that no short arithmetic gives
            line = spelled(pieces)
            if line and "…" not in line:
                assert comes_to(line, float(step.value[at])), f"{step.key}{at}: {line}"
