"""Convolution and recurrence: PyTorch's numbers, conventions by hand, long sequences, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from calculations.peers import PEERS
from numpy.testing import assert_allclose, assert_array_equal

import attncalc as ac
from attncalc.common.errors import AttncalcError

NETWORKS = PEERS["networks"]


class TestConv:
    @pytest.mark.parametrize("peer", PEERS["convolutions"], ids=lambda p: f"{np.ndim(p['x'])}-D, stride {p['stride']}")
    def test_is_what_pytorch_gives(self, peer: dict[str, Any]) -> None:
        moves = {name: peer[name] for name in ("stride", "padding", "dilation")}
        assert_allclose(ac.conv(peer["x"], peer["kernel"], **moves).result, peer["output"], atol=1e-13)

    def test_the_kernel_is_not_turned_round(self) -> None:
        assert_array_equal(ac.conv([1, 2, 4], [1, 10]).result, [21, 42])

    def test_padding_is_zeros_on_both_sides(self) -> None:
        t = ac.conv([1, 2], [1, 1, 1], padding=2)
        assert_array_equal(t["windows"], [[0, 0, 1], [0, 1, 2], [1, 2, 0], [2, 0, 0]])
        assert_array_equal(t.result, [1, 3, 3, 2])

    def test_a_kernel_without_channels_serves_each_by_itself(self) -> None:
        x, kernel = np.arange(24.0).reshape(2, 3, 4), np.array([[1.0, -1.0]])
        assert_array_equal(ac.conv(x, kernel).result, np.stack([ac.conv(channel, kernel).result for channel in x]))

    def test_gradients_of_places_under_several_windows_add_up(self) -> None:
        found = ac.conv([1.0, 2.0, 3.0, 4.0], [1.0, 10.0]).grad()
        assert_array_equal(found["grad_x"], [1, 11, 11, 10])
        assert_array_equal(found["grad_kernel"], [6, 9])

    @pytest.mark.parametrize(
        ("x", "kernel", "more", "said"),
        [
            ([1, 2], [1, 2, 3], {}, "a window of 3 does not fit"),
            ([1, 2], [[1, 2]], {}, "x is l, but the kernel is kh × kw"),
            ([[1, 2], [3, 4]], [[[1]], [[2]]], {}, "x is h × w, but the kernel is c × kh × kw"),
            ([1, 2], [1], {"stride": 0}, "--stride must be at least 1"),
            ([1, 2], [1], {"padding": -1}, "--padding must be at least 0"),
            ([1, 2], [1], {"dilation": (1, 2)}, "--dilation takes one number or 1, but 2"),
        ],
    )
    def test_what_does_not_fit_is_told(self, x: Any, kernel: Any, more: dict[str, Any], said: str) -> None:
        with pytest.raises(AttncalcError, match=said):
            ac.conv(x, kernel, **more)


class TestRnn:
    @pytest.mark.parametrize("kind", NETWORKS)
    def test_is_what_pytorch_gives(self, kind: str) -> None:
        peer = NETWORKS[kind]
        t = ac.rnn(**peer["inputs"], kind=kind)
        assert_allclose(t["states"], peer["states"], atol=1e-14)
        assert_array_equal(t.result, t["states"][-1])
        assert_array_equal(t["hidden"], t.result)
        if kind == "lstm":
            assert_array_equal(t["cell"], t["time step 4/cell"])
            assert_allclose(t["time step 4/cell"], peer["cell"], atol=1e-14)

    def test_gates_stand_in_pytorchs_order_and_are_named(self) -> None:
        t = ac.rnn(**NETWORKS["lstm"]["inputs"], kind="lstm")
        assert t.find("time step 1/gates").labels["gate"] == ("i", "f", "g", "o")

    @pytest.mark.parametrize("kind", NETWORKS)
    def test_what_is_not_given_is_0(self, kind: str) -> None:
        inputs = {name: NETWORKS[kind]["inputs"][name] for name in ("x", "wx", "wh")}
        zeros = {"b": np.zeros(len(inputs["wx"][0])), "h0": np.zeros(3)} | (
            {"c0": np.zeros(3)} if kind == "lstm" else {}
        )
        assert_array_equal(ac.rnn(**inputs, kind=kind).result, ac.rnn(**inputs, **zeros, kind=kind).result)

    def test_a_gru_says_which_bias_is_meant(self) -> None:
        assert "bias_ih" in ac.rnn(**NETWORKS["gru"]["inputs"], kind="gru").notes[0]

    @pytest.mark.thorough
    def test_a_thousand_steps_are_no_deeper_than_one(self) -> None:
        x = np.random.default_rng(0).normal(size=(1000, 2))
        t = ac.rnn(x, np.eye(2), 0.5 * np.eye(2))
        h = np.zeros(2)
        for row in x:
            h = np.tanh(row + 0.5 * h)
        assert_allclose(t.result, h, atol=1e-13)

    @pytest.mark.parametrize(
        ("wh", "more", "said"),
        [
            ([[1, 2], [3, 4]], {"kind": "lstm"}, "wh has 2 columns, and a lstm network with h=2 needs 4·h = 8"),
            ([[1, 2, 3], [3, 4, 5]], {}, "needs h = 2"),
            ([[1, 2], [3, 4]], {"c0": [0, 0]}, "c0 goes with --kind lstm"),
        ],
    )
    def test_what_does_not_fit_is_told(self, wh: Any, more: dict[str, Any], said: str) -> None:
        with pytest.raises(AttncalcError, match=said):
            ac.rnn([[1.0, 2.0]], np.ones((2, len(wh[0]))), wh, **more)
