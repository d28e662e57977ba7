"""The reference card and what is explained beside steps: read off definitions, so that it cannot say something else."""

from __future__ import annotations

import numpy as np
import pytest
from rows import rows

import attncalc as ac
from attncalc.api.explain import card, explained, mistakes_of
from attncalc.calculations import DERIVATIVES, TABLE, load
from attncalc.common.errors import NoGradient
from attncalc.inputs.problem_files import sample_problem
from attncalc.language.ops import ROWS
from attncalc.language.primitive import OPS
from attncalc.solve.problem import Backward
from attncalc.solve.solver import solve

Q, K, V = [[1, 0, 1], [0, 1, 1]], [[1, 1, 0], [1, 0, 1]], [[2, 0, 1], [1, 1, 0]]


@pytest.mark.spread
@pytest.mark.parametrize("name", TABLE)
class TestEachCard:
    def test_says_what_the_calculation_says(self, name: str) -> None:
        calculation, found = load(name), card(name)
        assert found.summary == calculation.summary
        assert [line.name for line in found.operands] == [operand.name for operand in calculation.operands]
        assert [line.flag for line in found.options] == [option.flag for option in calculation.options]
        assert found.laws == tuple(calculation.laws)
        assert found.reference == calculation.reference

    def test_has_every_step_of_the_sample_or_one_that_stands_for_it(self, name: str) -> None:
        found = card(name)
        told = {(group, line.name) for line in found.steps for group in (line.group, *line.likewise)}
        assert told == {(step.group, step.name) for step in found.sample.steps}

    def test_has_the_gradient_that_is_worked_out_or_says_why_there_is_none(self, name: str) -> None:
        found = card(name)
        assert bool(found.gradient) != bool(found.no_gradient)
        if found.gradient:
            worked = {
                step.name: step.formula for step in solve(sample_problem(name)._replace(backward=Backward())).steps
            }
            assert all(worked.keys() >= {line.name} for line in found.gradient)


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("derivative", DERIVATIVES)
def test_a_derivative_has_a_card_where_there_is_one(derivative: str, name: str) -> None:
    try:
        found = card(f"{derivative} {name}")
    except NoGradient:
        assert card(name).no_gradient
        return
    told = {(group, line.name) for line in found.steps for group in (line.group, *line.likewise)}
    assert told == {(step.group, step.name) for step in found.sample.steps}
    assert (found.gradient, found.no_gradient) == ((), "")
    assert found.summary.endswith(load(name).summary)
    assert any(np.any(np.abs(np.asarray(output.value)) > 1e-9) for output in found.sample.outputs)


def test_the_card_of_a_backward_pass() -> None:
    found = card("grad softmax")
    assert found.summary.startswith("The backward pass of softmax. ")
    assert [(line.name, line.shape) for line in found.operands] == [("x", "[n]"), ("upstream", "[n]")]
    assert [line.flag for line in found.options][-2:] == ["--wrt", "--gradcheck"]
    assert [mistake.id for mistake in found.mistakes] == ["jac-diag-only", "jac-missing", "jac-p-only", "jac-plus"]
    assert found.steps[-1].formula == "∂L/∂shifted"
    assert found.sample.inputs["upstream"].value.tolist() == [1, 0, 0]


def test_the_card_of_attention() -> None:
    found = card("attention")
    assert found.formula == "softmax(Q·Kᵀ / √d_k)·V"
    assert [line.formula for line in found.steps] == ["Q·Kᵀ", "scores / √d_k", "softmax(scaled)", "weights·V"]
    assert [line.flops for line in found.steps] == ["2·n·m·d_k", "n·m", "5·n·m", "2·n·m·d_v"]
    assert found.flops_here == 72 + 9 + 45 + 36
    assert found.gradient[1].symbol == "∂L/∂weights"
    assert found.gradient[1].formula == "∂L/∂output·Vᵀ"


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["multihead", "scaling"])  # of 110 and of 212 characters
def test_a_formula_that_would_be_too_long_is_left_out(name: str) -> None:
    assert card(name).formula == ""


def test_parts_that_are_worked_out_alike_are_told_once() -> None:
    scores, *_ = card("kv-cache").steps
    assert (scores.group, scores.likewise) == ("token 3", ("token 1", "token 2"))


def test_what_has_no_gradient_says_why() -> None:
    assert "ranking" in card("mips").no_gradient


class TestExplained:
    def test_each_text_is_told_once(self) -> None:
        lesson = explained(ac.attention(Q, K, V, causal=True)).lesson
        assert lesson is not None
        texts = [text for told in lesson.steps.values() for text in told]
        assert len(set(texts)) == len(texts) > 0

    def test_the_step_itself_comes_before_its_primitives(self) -> None:
        lesson = explained(ac.attention(Q, K, V)).lesson
        assert lesson is not None
        first, *further = lesson.steps["scores"]
        assert first.startswith("Row i belongs to query i")
        assert OPS["matmul"].about in further

    def test_conventions_and_laws_are_the_declared_ones(self) -> None:
        lesson = explained(ac.softmax([1, 2, 3])).lesson
        assert lesson is not None
        assert lesson.laws == tuple(load("softmax").laws)
        assert lesson.about[0].startswith("exp(x/T) / Σ exp(x/T)")

    def test_mistakes_are_those_that_its_steps_may_have(self) -> None:
        def told(*, causal: bool) -> set[str]:
            lesson = explained(ac.attention(Q, K, V, causal=causal)).lesson
            assert lesson is not None
            assert len(lesson.mistakes) == 8  # of 25, and of 34 behind a mask
            return {mistake.id for mistake in lesson.mistakes}

        assert "att-no-scale" in told(causal=False)
        assert "mask-missing" in told(causal=True) - told(causal=False)

    def test_mistakes_of_steps_that_are_named_by_the_formula_are_told(self) -> None:
        lesson = explained(ac.gradient("u**2*v", at={"u": 1, "v": 2})).lesson
        assert lesson is not None
        assert {"diff-chain-no-inner", "diff-downhill"} <= {mistake.id for mistake in lesson.mistakes}

    def test_a_backward_pass_is_explained_too(self) -> None:
        lesson = explained(ac.attention(Q, K, V).grad(Q)).lesson
        assert lesson is not None
        assert any(text for step, told in lesson.steps.items() for text in told if step.startswith("grad_"))
        assert any("grad_weights" in mistake.at or "grad_scaled" in mistake.at for mistake in lesson.mistakes)


@rows("name", TABLE)
def test_no_mistake_is_told_twice(name: str) -> None:
    ids = [mistake.id for mistake in mistakes_of(name)]
    assert len(set(ids)) == len(ids)


ATTENTIONS = ["qkv", "attention", "multihead", "kv-cache", "flash", "concentration", "scaling", "complexity"]


@pytest.mark.thorough
@pytest.mark.parametrize("name", ATTENTIONS)
def test_every_step_of_an_attention_is_explained(name: str) -> None:
    trace = solve(sample_problem(name))
    bare = {step.name for step in trace.steps if not step.about}
    assert not bare, f"about= says what a teacher would add to {', '.join(sorted(bare))}"


def test_the_primitives_that_are_used_most_are_explained() -> None:
    rows = [name for names in ROWS.values() for name in names.split()]
    assert sum(bool(OPS[row].about) for row in rows) >= 20
