"""Layers: PyTorch's activations and slopes, tails to the last digits, gates, tokens and words, what is refused."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from calculations.peers import PEERS
from conftest import Run
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import attncalc as ac
from attncalc.calculations.activations import ACTIVATIONS
from attncalc.common.errors import AttncalcError

KINDS = PEERS["activations"]["kinds"]
EXACT: dict[str, Any] = {
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "softplus": lambda x: mpmath.log(1 + mpmath.exp(x)),
    "silu": lambda x: x / (1 + mpmath.exp(-x)),
    "elu": lambda x: x if x > 0 else mpmath.expm1(x),
    "gelu": lambda x: x * mpmath.erfc(-x / mpmath.sqrt(2)) / 2,
}
POINTS = [-30.0, -8.0, -1.0, -1e-9, 0.0, 1e-9, 0.5, 3.0, 40.0]


class TestActivation:
    @pytest.mark.parametrize("kind", KINDS)
    def test_is_what_pytorch_gives(self, kind: str) -> None:
        t = ac.activation(PEERS["activations"]["x"], kind=kind)
        assert_allclose(t.result, KINDS[kind]["value"], rtol=1e-14, atol=1e-15)
        assert_allclose(t["derivative"], KINDS[kind]["derivative"], rtol=1e-13, atol=1e-15)

    @pytest.mark.thorough
    @pytest.mark.parametrize("kind", ACTIVATIONS)
    def test_the_slope_that_is_shown_is_the_one_of_the_backward_pass(self, kind: str) -> None:
        t = ac.activation(POINTS, kind=kind)
        assert_allclose(t.grad()["grad_x"], t["derivative"], rtol=1e-12, atol=1e-15)

    @pytest.mark.parametrize("kind", EXACT)
    def test_keeps_its_digits_far_out(self, kind: str) -> None:
        found = ac.activation(POINTS, kind=kind).result
        with mpmath.workdps(60):
            for x, value in zip(POINTS, found, strict=True):
                exact = EXACT[kind](mpmath.mpf(x))
                slack = 4 + 2 * x * x if kind == "gelu" else 4  # e^(−x²/2) feels the last digit of x² that often
                assert abs(value - exact) <= slack * 2.3e-16 * abs(exact), x

    @pytest.mark.parametrize("kind", ACTIVATIONS)
    @pytest.mark.parametrize("size", [1e3, 1e103, 1e155, 1e308])
    def test_nothing_overflows_far_out(self, kind: str, size: float) -> None:
        t = ac.activation([-size, size], kind=kind)
        assert not t.warnings
        assert np.isfinite(t.result).all()
        assert np.isfinite(t["derivative"]).all()
        assert_allclose(t.grad()["grad_x"], t["derivative"], rtol=1e-12)

    @pytest.mark.parametrize("size", [30.0, 1e3, 1e13, 1e20, 1e38])
    def test_a_cube_that_overflows_leaves_gelu_tanh_as_it_is(self, size: float) -> None:
        for dtype in ("float32", "float64"):
            t = ac.activation([-size, size], kind="gelu-tanh", dtype=dtype)
            assert not t.warnings
            assert_array_equal(t.result, np.array([-0.0, size], dtype))
            assert_array_equal(t["derivative"], [0, 1])

    def test_the_stand_ins_for_gelu_stay_near_it(self) -> None:
        x = np.linspace(-6, 6, 2001)
        gelu, by_tanh, by_sigmoid = (ac.activation(x, kind=k).result for k in ("gelu", "gelu-tanh", "gelu-sigmoid"))
        assert np.abs(by_tanh - gelu).max() == pytest.approx(4.73e-4, abs=2e-6)
        assert np.abs(by_sigmoid - gelu).max() < 0.0204

    def test_a_single_number_will_do(self) -> None:
        assert ac.activation(1.5, kind="silu").result == pytest.approx(1.5 / (1 + math.exp(-1.5)))

    @pytest.mark.thorough
    def test_exact_numbers_stay_exact(self) -> None:
        import sympy

        t = ac.activation(np.array([sympy.Integer(1)], dtype=object), kind="gelu")
        assert sympy.simplify(t.result[0] - (1 + sympy.erf(1 / sympy.sqrt(2))) / 2) == 0

    @given(st.floats(-20, 20))
    def test_silu_and_softplus_are_tied_by_the_sigmoid(self, x: float) -> None:
        silu, plus, share = (float(ac.activation([x], kind=k).result[0]) for k in ("silu", "softplus", "sigmoid"))
        assert silu == pytest.approx(x * share, abs=1e-12)
        assert plus == pytest.approx(-math.log1p(-share) if share < 0.5 else x - math.log(share), rel=1e-12)


class TestFfn:
    X, W1, W2, W3 = [[1.0, -2.0]], [[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]], [[1.0], [2.0], [3.0]], [[0.5, 1.0, 0.0]] * 2

    def test_relu_by_hand(self) -> None:
        assert_array_equal(ac.ffn(self.X, self.W1, w2=self.W2, b1=[0.5, 0, 0]).result, [[1.5]])

    def test_a_gate_multiplies_what_may_pass(self) -> None:
        t = ac.ffn(self.X, self.W1, w2=self.W2, w3=self.W3, activation="swiglu")
        hidden, passed = np.array(self.X) @ self.W1, np.array(self.X) @ self.W3
        assert_allclose(t.result, (hidden / (1 + np.exp(-hidden)) * passed) @ self.W2, rtol=1e-14)

    @pytest.mark.parametrize(
        ("more", "said"),
        [
            ({}, "w2 must still be given"),
            ({"w2": W2, "activation": "swiglu"}, "swiglu needs w3"),
            ({"w2": W2, "w3": W3}, "w3 and b3 go with swiglu or geglu"),
        ],
    )
    def test_what_is_missing_or_too_much_is_named(self, more: dict[str, Any], said: str) -> None:
        with pytest.raises(AttncalcError, match=said):
            ac.ffn(self.X, self.W1, **more)


class TestResidual:
    def test_is_an_euler_step(self) -> None:
        """h′ = −h from 1 in a hundred steps of 0.01 comes to (1 − 0.01)^100."""
        h = np.array([[1.0]])
        for _ in range(100):
            h = ac.residual(h, -h, alpha=0.01).result
        assert h[0, 0] == pytest.approx(0.99**100)

    def test_post_norm_is_the_layer_norm_of_the_sum(self) -> None:
        x, f = np.arange(4.0)[None], np.array([[3.0, 0.0, 1.0, 1.0]])
        assert_array_equal(ac.residual(x, f, norm="post").result, ac.layernorm(x + f).result)


TABLE = [[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]]


class TestEmbed:
    def test_is_the_product_with_a_vector_that_has_a_single_1(self) -> None:
        assert_array_equal(ac.embed([2, 0, 2], TABLE).result, np.eye(3)[[2, 0, 2]] @ TABLE)

    def test_a_row_gets_the_gradients_of_all_the_places_of_its_word(self) -> None:
        found = ac.embed([2, 0, 2], TABLE).grad([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
        assert_array_equal(found["grad_table"], [[2, 20], [0, 0], [5, 50]])

    def test_scale_is_the_root_of_the_width_and_comes_before_the_positions(self) -> None:
        t = ac.embed([1], TABLE, scale=True, positions=[[10.0, 10.0], [0.0, 0.0]])
        assert_allclose(t.result, [[10, 10 + 2 * math.sqrt(2)]])

    def test_sinusoidal_positions_are_those_of_sinusoidal(self) -> None:
        t = ac.embed([0, 1, 2], TABLE, positions="sinusoidal")
        assert_array_equal(t["positions"], ac.sinusoidal(n=3, d=2).result)

    def test_words_are_looked_up_in_the_labels(self) -> None:
        pandas = Frame(TABLE, ["the", "cat", "is"])
        t = ac.embed("is the", pandas)
        assert_array_equal(t.result, [[3, 1], [1, 0]])
        assert t.find("embeddings").labels["n"] == ("is", "the")

    @pytest.mark.parametrize(
        ("tokens", "said"),
        [
            ("the dog", '"dog" is not among the 3 words'),
            ([0, 3], r"tokens\[1\] is 3, but the vocabulary has 3 words, 0…2"),
            ([-1], r"tokens\[0\] is -1"),
        ],
    )
    def test_a_token_that_is_not_there_is_named(self, tokens: Any, said: str) -> None:
        with pytest.raises(AttncalcError, match=said):
            ac.embed(tokens, Frame(TABLE, ["the", "cat", "is"]))

    def test_words_need_labels(self) -> None:
        with pytest.raises(AttncalcError, match="no words are known"):
            ac.embed("the", TABLE)

    @pytest.mark.parametrize(
        ("tokens", "said"),
        [
            ("1,2.5", '"2.5" is not a whole number'),
            ("1 cat 2", '"cat" is a word, and no words'),
            ("ids.npy", "there is no file ids.npy"),
        ],
    )
    def test_what_is_no_token_is_told_and_not_what_stands_before_it(self, run: Run, tokens: str, said: str) -> None:
        done = run("embed", tokens, "1,2;3,4;5,6")
        assert done.returncode == 2
        assert said in done.stderr

    def test_too_few_positions_are_refused(self) -> None:
        with pytest.raises(AttncalcError, match="1 position "):
            ac.embed([0, 1], TABLE, positions=[[1.0, 2.0]])


class Frame:
    """As much of a data frame as attncalc looks at."""

    def __init__(self, rows: list[list[float]], index: list[str]) -> None:
        self.rows, self.index = rows, index

    def to_numpy(self) -> Any:
        return np.array(self.rows)


class TestUnembed:
    def test_logits_are_products_with_the_same_table(self) -> None:
        t = ac.unembed([[1.0, 2.0]], TABLE)
        assert_array_equal(t["logits"], [[1, 4, 5]])
        assert t.outputs[0].name == "probabilities"
        assert t.result.sum() == pytest.approx(1)
