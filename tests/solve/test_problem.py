"""A problem carried out: what the trace holds, backward passes, rounding by hand, and errors that name the mend."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import attncalc as ac
from attncalc.calculations import load
from attncalc.common.errors import AttncalcError, DomainError, NoGradient, OptionError, ShapeError
from attncalc.record.trace import Given, Trace
from attncalc.solve.problem import Backward, Problem
from attncalc.solve.solver import solve

Array = NDArray[Any]
Q, K, V = [[1.0, 0, 1], [0, 1, 1]], [[1.0, 1, 0], [1, 0, 1]], [[2.0, 0, 1], [1, 1, 0]]


def problem(
    name: str, options: dict[str, Any] | None = None, backward: Backward | None = None, **inputs: Any
) -> Problem:
    given = {word: value if isinstance(value, Given) else Given(np.array(value)) for word, value in inputs.items()}
    return Problem(load(name), given, options or {}, backward)


def run(name: str, options: dict[str, Any] | None = None, backward: Backward | None = None, **inputs: Any) -> Trace:
    return solve(problem(name, options, backward, **inputs))


class TestTrace:
    T = run("attention", {"causal": True}, q=Q, k=K, v=V)

    def test_says_what_was_asked_for(self) -> None:
        assert self.T.calculation == "attention"
        assert self.T.summary == load("attention").summary
        assert self.T.options["causal"] is True
        assert self.T.options["causal_align"] == "start", "defaults too"
        assert_array_equal(self.T.inputs["q"].value, Q)
        assert self.T.inputs["q"].axes == ("n", "d_k")

    def test_holds_each_step_once_in_order(self) -> None:
        keys = [step.key for step in self.T.steps]
        assert keys == list(self.T) == ["scores", "scaled", "masked", "weights", "output"]

    def test_gives_the_first_output_as_the_result(self) -> None:
        assert [step.name for step in self.T.outputs] == ["output", "weights"]
        assert self.T.result is self.T.outputs[0].value

    def test_gives_a_step_by_its_name(self) -> None:
        assert "scaled" in self.T
        assert "grad_q" not in self.T
        assert_allclose(self.T["scaled"], np.array([[1, 2], [1, 1]]) / 3**0.5)

    def test_says_which_names_are_near(self) -> None:
        with pytest.raises(AttncalcError, match="attention has no step or output called 'weight'") as error:
            self.T["weight"]
        assert "weights" in error.value.hint

    def test_is_no_list_of_steps(self) -> None:
        with pytest.raises(AttncalcError, match="attention has no step or output called 0"):
            self.T[0]  # type: ignore[index]  # as whoever takes it for its result would write

    def test_says_which_groups_have_a_name(self) -> None:
        cache = ac.kv_cache(Q, K, V)
        with pytest.raises(AttncalcError, match="scores occurs in several groups: token 1/scores, token 2/scores"):
            cache["scores"]
        assert cache["token 2/scores"].shape == (1, 2)
        assert cache["output"].shape == (2, 3), "a name at the top needs no group"

    def test_keeps_labels_on_their_axes(self) -> None:
        t = run("attention", q=Given(np.array(Q), labels={0: ("the", "cat")}), k=K, v=V)
        assert t.find("scores").labels == {"n": ("the", "cat")}
        assert t.find("output").labels == {"n": ("the", "cat")}

    def test_gives_an_axis_its_labels_under_a_second_name_too(self) -> None:
        t = run("attention", q=Given(np.array(Q), labels={0: ("the", "cat")}))
        assert t.find("scores").labels == {"n": ("the", "cat"), "m": ("the", "cat")}

    @pytest.mark.parametrize(
        ("calculation", "words", "step", "labels"),
        [
            pytest.param("flash", (), "block 1/scores", {}, id="a first part needs none"),
            pytest.param("flash", (), "block 2/scores", {"m": ("m=2",)}, id="a later one has its places"),
            pytest.param("flash", (), "block 2/accumulator", {}, id="what is summed over it has none"),
            pytest.param("flash", "abc", "block 1/scores", {"m": ("a", "b")}, id="words of a first part"),
            pytest.param("flash", "abc", "block 2/scores", {"m": ("c",)}, id="words of a later one"),
            pytest.param("kv-cache", (), "token 2/weights", {"n": ("n=1",)}, id="a part by part of another"),
            pytest.param("kv-cache", "abc", "token 2/weights", {"n": ("b",), "m": ("a", "b")}, id="words of both"),
            pytest.param("kv-cache", "abc", "output", {"n": ("a", "b", "c")}, id="parts put together again"),
        ],
    )
    def test_gives_parts_of_an_axis_the_labels_of_their_places(
        self, calculation: str, words: Sequence[str], step: str, labels: dict[str, tuple[str, ...]]
    ) -> None:
        keys = Given(np.eye(3), labels={0: tuple(words)} if words else {})
        t = run(calculation, q=np.eye(3), k=keys, v=np.eye(3))
        assert t.find(step).labels == labels

    def test_gives_the_gradient_of_a_part_its_places(self) -> None:
        t = ac.flash(np.eye(3), np.eye(3), np.eye(3)).grad()
        assert t.find("block 2/grad_scores").labels == {"m": ("m=2",)}

    def test_gives_an_axis_that_is_renamed_no_places_of_its_part(self) -> None:
        t = ac.rnn([[1.0]], [[1.0] * 8], [[1.0] * 8] * 2, kind="lstm")
        assert t.find("time step 1/cell").labels == {}


class TestBackward:
    """`grad` of a problem."""

    def test_shows_the_forward_steps_first(self) -> None:
        t = run("attention", backward=Backward(), q=Q, k=K, v=V)
        names = [step.name for step in t.steps]
        assert t.calculation == "grad attention"
        assert names[:4] == ["scores", "scaled", "weights", "output"]
        assert all(name.startswith("grad_") for name in names[4:])

    def test_shows_forward_steps_that_the_gradient_does_not_need(self) -> None:
        t = run("dot", backward=Backward(), a=[1.0, 2], b=[3.0, 4])
        assert [step.name for step in t.steps][:2] == ["products", "dot"]

    def test_takes_ones_where_nothing_else_is_given(self) -> None:
        ones = run("outer", backward=Backward(), a=[1.0, 2], b=[3.0, 4])
        assert_array_equal(ones["grad_a"], [7, 7])
        assert "the loss is the sum" in ones.inputs["upstream"].source

    def test_takes_the_gradient_that_is_given(self) -> None:
        t = run("outer", backward=Backward(), a=[1.0, 2], b=[3.0, 4], upstream=[[1.0, 0], [0, 0]])
        assert_array_equal(t["grad_a"], [3, 0])
        assert_array_equal(t["grad_b"], [1, 0])

    def test_gives_the_operands_that_are_asked_for(self) -> None:
        t = run("attention", backward=Backward(wrt=("v", "q")), q=Q, k=K, v=V)
        assert [step.name for step in t.outputs] == ["grad_v", "grad_q"]

    def test_knows_what_each_gradient_is_of(self) -> None:
        t = run("attention", backward=Backward(), q=Q, k=K, v=V)
        assert {step.name: step.gradient_of for step in t.steps if step.gradient_of}["grad_scaled"] == "scaled"

    def test_is_0_where_the_result_ignores_an_operand(self) -> None:
        square = np.eye(2)
        t = run("qkv", backward=Backward(), x=square, wq=square, wk=square, wv=square)
        assert_array_equal(t["grad_wk"], np.zeros((2, 2)))
        assert t.find("grad_wk").why == "the result, q, does not depend on it"

    def test_is_0_where_the_result_takes_only_the_sign_of_an_operand(self) -> None:
        t = run("optimizer", {"kind": "lion", "lr": 0.1}, backward=Backward(), gradients=np.eye(2), start=np.ones(2))
        assert_array_equal(t["grad_gradients"], np.zeros((2, 2)))
        assert t.find("grad_gradients").why.startswith("the result changes with it only in jumps")

    def test_checks_itself_by_central_differences(self) -> None:
        t = run("attention", backward=Backward(gradcheck=True), q=Q, k=K, v=V)
        for step in t.outputs:
            assert step.check is not None
            assert step.check.agrees
            assert_allclose(step.check.numeric, t[step.name], atol=1e-7)
        assert not any(step.check for step in t.steps if step.gradient_of in ("scores", "weights"))

    @pytest.mark.parametrize(
        ("name", "inputs", "said"),
        [
            pytest.param("softmax", {"x": [1.0, 2, 3]}, "softmax sums to 1,", id="shares"),
            pytest.param("layernorm", {"x": [[1.0, 2, 4]]}, "each row of output sums to 0,", id="deviations"),
            pytest.param("batchnorm", {"x": [[1.0, 2], [3, 0]]}, "output sums to 0 along n,", id="of a batch"),
            pytest.param("softmax", {"x": [3.0]}, "softmax sums to 1,", id="one share"),
            pytest.param("softmax", {"x": [1.0, -np.inf]}, "softmax sums to 1,", id="shares of what is masked"),
            pytest.param("activation", {"x": [-1.0, -2]}, "", id="a sum that is 0 here alone"),
            pytest.param("softmax", {"x": [1.0, 2, 3], "upstream": [2.0, 2, 2]}, "", id="an upstream that is given"),
            pytest.param("outer", {"a": [0.1], "b": [0.2, 0.3]}, "", id="gradients that are small and not 0"),
            pytest.param("dot", {"a": [0.0], "b": [0.0]}, "", id="a result that is a single number"),
        ],
    )
    def test_says_why_every_gradient_is_0(self, name: str, inputs: dict[str, Any], said: str) -> None:
        options = {"kind": "relu"} if name == "activation" else None
        notes = run(name, options, Backward(), **inputs).notes
        told = [note for note in notes if "so the gradient of every operand is 0" in note]
        assert [note.startswith(said) for note in told] == [True] * bool(said)

    def test_takes_an_upstream_without_the_axis_that_a_vector_lacks(self) -> None:
        t = run("attention", backward=Backward(), q=Q[0], k=K, v=V, upstream=[1.0, 0, 1])
        assert t["grad_q"].shape == (3,)

    def test_takes_an_upstream_of_one_row_as_a_vector(self) -> None:
        one = run("attention", backward=Backward(), q=Q[:1], k=K, v=V, upstream=[[1.0, 0, 1]])
        other = run("attention", backward=Backward(), q=Q[:1], k=K, v=V, upstream=[1.0, 0, 1])
        assert_array_equal(one["grad_q"], other["grad_q"])

    @pytest.mark.parametrize(
        ("name", "backward", "inputs", "error", "said"),
        [
            pytest.param(
                "mips", Backward(), {"q": [1.0], "keys": [[1.0]]}, NoGradient, "a ranking jumps", id="a ranking"
            ),
            pytest.param(
                "mips",
                Backward(),
                {"q": [1.0, 2], "keys": [[1.0], [2]]},
                ShapeError,
                "cannot form",
                id="a ranking's shapes",
            ),
            pytest.param(
                "dot", Backward(wrt=("c",)), {"a": [1.0], "b": [1.0]}, OptionError, "dot was given a and b", id="wrt"
            ),
            pytest.param(
                "dot",
                Backward(),
                {"a": [1.0], "b": [1.0], "upstream": [1.0, 2]},
                ShapeError,
                "upstream is 2, and the result that it belongs to is a single number",
                id="an upstream of another shape",
            ),
        ],
    )
    def test_refuses_what_it_cannot_do(
        self, name: str, backward: Backward, inputs: dict[str, Any], error: type[Exception], said: str
    ) -> None:
        with pytest.raises(error, match=said):
            run(name, backward=backward, **inputs)

    def test_refuses_an_upstream_that_nobody_asked_for(self) -> None:
        with pytest.raises(OptionError, match="dot has no operand 'upstream'"):
            run("dot", a=[1.0], b=[1.0], upstream=1.0)

    @pytest.mark.parametrize("wrt", ["mask", "causal"])
    def test_has_no_slope_by_a_mask_or_a_switch(self, wrt: str) -> None:
        with pytest.raises(OptionError, match=f"no gradient with respect to '{wrt}'"):
            run("attention", backward=Backward(wrt=(wrt,)), q=Q, k=K, v=V, mask=[[1.0, 0], [1, 1]])


class TestJacobian:
    def test_is_one_gradient_for_each_entry(self) -> None:
        x = np.array([0.5, -1.0, 2.0])
        t = run("softmax", backward=Backward(jacobian=True), x=x)
        p = ac.softmax(x).result
        assert t.calculation == "jacobian softmax"
        assert_allclose(t.result, np.diag(p) - np.outer(p, p), atol=1e-15)

    def test_of_a_product_has_four_axes(self) -> None:
        a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
        t = run("matmul", backward=Backward(jacobian=True), a=a, b=b)
        assert t["jacobian_a"].shape == (2, 4, 2, 3)
        assert_allclose(t["jacobian_a"][1, 2], np.stack([np.zeros(3), b[:, 2]]))

    def test_that_would_be_too_large_is_refused(self) -> None:
        with pytest.raises(ShapeError, match=r"would have .* entries, but the limit is") as error:
            run("outer", backward=Backward(jacobian=True), a=np.ones(200), b=np.ones(200))
        assert "grad" in error.value.hint


class TestRoundingByHand:
    def test_rounds_every_step_before_the_next_uses_it(self) -> None:
        t = solve(problem("attention", q=Q, k=K, v=V), round_to=2)
        assert_array_equal(t["scaled"], [[0.58, 1.15], [0.58, 0.58]])
        assert_array_equal(t["weights"], [[0.36, 0.64], [0.5, 0.5]])
        assert_array_equal(t.result, [[1.36, 0.64, 0.36], [1.5, 0.5, 0.5]])

    def test_rounds_halves_up(self) -> None:
        t = solve(problem("dot", a=[0.125, 0.115], b=[1.0, 1]), round_to=2)
        assert_array_equal(t["products"], [0.13, 0.12])

    def test_says_how_far_each_step_is_from_the_full_value(self) -> None:
        full, rounded = (solve(problem("attention", q=Q, k=K, v=V), round_to=to) for to in (None, 2))
        for step in rounded.steps:
            assert step.drift == pytest.approx(np.abs(rounded[step.name] - full[step.name]).max())
        assert all(step.drift is None for step in full.steps)

    def test_leaves_what_is_masked_masked(self) -> None:
        t = solve(problem("attention", {"causal": True}, q=Q, k=K, v=V), round_to=2)
        assert np.isneginf(t["masked"][0, 1])
        assert t.find("masked").drift is not None

    def test_goes_into_the_backward_pass(self) -> None:
        t = solve(problem("attention", backward=Backward(), q=Q, k=K, v=V), round_to=2)
        for step in t.steps:
            assert step.value is not None
            assert_allclose(step.value, np.round(step.value, 2), atol=1e-12)

    @pytest.mark.parametrize("decimals", [0, 1, 6])
    def test_takes_any_number_of_decimals(self, decimals: int) -> None:
        t = solve(problem("attention", q=Q, k=K, v=V), round_to=decimals)
        assert_allclose(t["scaled"], np.round(t["scaled"], decimals), atol=1e-15)


@pytest.mark.parametrize(
    ("name", "inputs", "options", "error", "said", "hint"),
    [
        pytest.param("dot", {"a": [1.0]}, {}, OptionError, "dot needs a and b, but b is missing", "", id="one missing"),
        pytest.param(
            "dot",
            {},
            {},
            OptionError,
            "dot needs a and b, but a and b are missing",
            "attncalc explain dot says what it takes, with an example",
            id="both missing",
        ),
        pytest.param("dot", {"a": [1.0], "c": [1.0]}, {}, OptionError, "dot has no operand 'c'", "", id="one too many"),
        pytest.param(
            "dot",
            {"a": [1.0], "b": [1.0]},
            {"p": 2},
            OptionError,
            "dot has no operand or option 'p'",
            "",
            id="an option",
        ),
        pytest.param(
            "matmul",
            {"a": Given(np.ones((2, 3)), source="a.csv"), "b": Given(np.ones((2, 3)), source="b.csv")},
            {},
            ShapeError,
            "b.csv)",
            "is a.csv transposed? --transpose a turns it round",
            id="files and the mend",
        ),
        pytest.param(
            "qkv",
            {"x": np.ones((1, 3))}
            | {name: Given(np.ones((2, 3)), source=f"layer.npz#{name}.weight") for name in ("wq", "wk", "wv")},
            {},
            ShapeError,
            "cannot form X·W_Q",
            "are wq, wk and wv stored as [out, in]? --transpose wq,wk,wv turns them round",
            id="weights as PyTorch stores them",
        ),
        pytest.param(
            "matmul", {"a": np.ones((2, 3)), "b": np.ones((5, 4))}, {}, ShapeError, "cannot form A·B", "", id="no mend"
        ),
        pytest.param(
            "dot",
            {"a": [1e200, 1], "b": [1e200, 1]},
            {},
            DomainError,
            "products[0] = a ⊙ b overflows",
            "",
            id="overflow",
        ),
        pytest.param(
            "norm", {"a": [1.7e308, 1.7e308]}, {}, DomainError, "overflows: it is beyond 1.8e+308", "", id="the result"
        ),
        pytest.param(
            "optimizer",
            {"gradients": [[1.0], [1e200]], "start": [0.0]},
            {"kind": "adam"},
            DomainError,
            "step 2/second_moment[0] = ",
            "",
            id="a part of a divisor",
        ),
        pytest.param(
            "project",
            {"a": [1e-160, 2e-160], "onto": [[3e-160, 1e-160], [1e-160, 2e-160]]},
            {},
            DomainError,
            "its entries overflow or nearly vanish",
            "",
            id="a system without all of its digits",
        ),
        pytest.param(
            "attention",
            {"q": [[1.0], [1e200]], "k": [[-1.0], [-1e200]], "v": [[1.0], [2.0]]},
            {"causal": True, "causal_align": "end", "window": 1},
            DomainError,
            "scores[1,1] = Q·Kᵀ overflows: it is below -1.8e+308, the lowest float64",
            "",
            id="scores below everything are no mask",
        ),
        pytest.param(
            "kv-cache",
            {"q": [[1e200]], "k": [[-1e200]], "v": [[1.0]]},
            {},
            DomainError,
            "token 1/scores[0,0] = Q·Kᵀ overflows",
            "",
            id="nor among the cached keys",
        ),
    ],
)
def test_a_problem_that_cannot_be_solved_says_why_in_one_line(
    name: str, inputs: dict[str, Any], options: dict[str, Any], error: type[AttncalcError], said: str, hint: str
) -> None:
    with pytest.raises(error) as raised:
        run(name, options, **inputs)
    assert said in str(raised.value)
    assert raised.value.hint.startswith(hint)
    assert "\n" not in str(raised.value) + raised.value.hint


@pytest.mark.parametrize(
    ("name", "inputs", "options", "said"),
    [
        ("norm", {"a": [0.0, 1.0]}, {"p": 0.5}, "⊙ sign(a) has no value there (a division by 0, ∞ − ∞ or"),
        ("kl", {"p": [0.5, 0.5], "q": [1.0, 0.0]}, {}, "grad_q[1] = −∂L/∂ratios ⊙ ratios / q has no value there"),
    ],
    ids=["0/0", "0 times infinity"],
)
def test_what_has_no_exact_value_is_refused_as_it_is_among_floats(
    name: str, inputs: dict[str, Any], options: dict[str, Any], said: str
) -> None:
    asked = problem(name, options, backward=Backward(), **inputs)
    with pytest.raises(DomainError, match=re.escape(said)):
        solve(asked, exact=True)
    with pytest.raises(DomainError):
        solve(asked)


def test_the_logarithm_of_0_is_as_infinite_among_exact_numbers() -> None:
    asked = problem("cross-entropy", backward=Backward(), probabilities=[[0.0, 1.0]], target=[0])
    assert str(solve(asked, exact=True).result.tolist()) == "[[-oo, 0]]"
    assert solve(asked).result.tolist() == [[-np.inf, 0]]
    asked = problem("entropy", backward=Backward(), p=[1.0, 0.0])
    assert str(solve(asked, exact=True).result.tolist()) == "[-1, oo]"
    assert solve(asked).result.tolist() == [-1, np.inf]


def test_an_infinite_entry_is_no_result_of_finite_ones() -> None:
    with pytest.raises(DomainError, match="overflows"):
        solve(problem("euclidean", a=[3e38, 0.0], b=[-3e38, 0]), dtype="float32")


def test_float32_is_kept_to_the_end() -> None:
    t = solve(problem("attention", backward=Backward(), q=Q, k=K, v=V), dtype="float32")
    assert {step.value.dtype for step in t.steps if step.value is not None} == {np.dtype(np.float32)}


class TestExact:
    def test_numbers_are_fractions_and_surds(self) -> None:
        import sympy

        t = solve(problem("attention", q=Q, k=K, v=V), exact=True)
        assert t["scaled"][0, 0] == sympy.sqrt(3) / 3
        assert sympy.simplify(t["weights"][0].sum() - 1) == 0

    def test_so_are_gradients(self) -> None:
        t = solve(problem("attention", backward=Backward(), q=Q, k=K, v=V, upstream=np.eye(2, 3)), exact=True)
        floats = run("attention", backward=Backward(), q=Q, k=K, v=V, upstream=np.eye(2, 3))
        assert_allclose(t["grad_q"].astype(float), floats["grad_q"], rtol=1e-14, atol=1e-15)

    def test_letters_give_formulas_forward_and_back(self) -> None:
        import sympy

        letters = np.array(sympy.symbols("a b"), dtype=object)
        t = run("softmax", x=letters)
        assert t.result[0].free_symbols == set(letters)
        back = run("softmax", backward=Backward(), x=letters, upstream=np.array([1.0, 0]))
        numbers = {letters[0]: 1, letters[1]: 2}
        expected = ac.softmax([1, 2]).grad([1, 0]).result
        assert_allclose([float(entry.subs(numbers)) for entry in back.result], expected, rtol=1e-12)

    def test_letters_with_the_default_upstream_are_no_trouble(self) -> None:
        import sympy

        letters = np.array(sympy.symbols("a b c"), dtype=object)
        assert run("softmax", backward=Backward(), x=letters).result.shape == (3,)
        assert run("norm", backward=Backward(), a=letters).result.shape == (3,)


EYE, HALF = [[1.0, 0.0], [0.0, 1.0]], [[0.0, -np.inf], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"causal": True, "scale": -1}, "masked·(−1) is infinite there: −∞×(−1)"),
        ({"window": 1, "scale": -0.5}, "masked·(−0.5) is infinite there: −∞×(−0.5)"),
        ({"causal": True, "scale": 0}, "masked·0 has no value there: −∞×0"),
        ({"mask": HALF, "mask_kind": "additive", "scale": -1}, "masked·(−1) is infinite there: −∞×(−1)"),
        ({"causal": True, "scale": 1.7e308}, "masked·1.7e+308 overflows: it is beyond 1.8e+308, the largest float64"),
    ],
)
def test_what_was_infinite_before_does_not_overflow(options: dict[str, Any], said: str) -> None:
    """Masked keys that are scaled by a number below 0 would get all the weight."""
    twice = [[2.0, 0.0], [0.0, 2.0]]
    with pytest.raises(DomainError, match=re.escape(said)):
        ac.attention(twice, EYE, EYE, **options, mask_before_scale=True)
    with pytest.raises(DomainError, match=re.escape(said)):
        ac.multihead(twice, wq=EYE, wk=EYE, wv=EYE, wo=EYE, **options, mask_before_scale=True)
