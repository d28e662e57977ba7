"""Rotary positions: transformers' rotations and frequencies, laws, attention with --rope, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from calculations.peers import PEERS
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import attncalc as ac
from attncalc.common.errors import AttncalcError, OptionError

X = [[1.0, -2.0, 3.0, 0.5]]
NAMES = {"original_max_position_embeddings": "original_length"}


def options(peer: dict[str, Any], name: str) -> dict[str, Any]:
    """Our words for a configuration of transformers."""
    kind = name.partition(",")[0]
    scaling = {NAMES.get(key, key): value for key, value in peer["scaling"].items()}
    if "truncate" in scaling:
        scaling["no_truncate"] = not scaling.pop("truncate")
    if kind == "dynamic":
        scaling["original_length"] = 2048
    length = {"length": peer["length"]} if peer["length"] else {}
    return {"base": peer["base"], "scaling": "none" if kind == "default" else kind, **scaling, **length}


class TestAgainstTransformers:
    @pytest.mark.parametrize("layout", ["interleaved", "half"])
    def test_turns_the_same_pairs(self, layout: str) -> None:
        peer = PEERS["rotations"]
        assert_allclose(ac.rope(peer["x"], layout=layout).result, peer[layout], atol=1e-14)

    @pytest.mark.parametrize("name", PEERS["ropes"])
    def test_has_the_same_frequencies_and_attention_factor(self, name: str) -> None:
        peer = PEERS["ropes"][name]
        t = ac.rope(np.zeros((1, 16)), **options(peer, name))
        assert_allclose(t["frequencies"], peer["frequencies"], rtol=5e-7)  # theirs are of single precision
        assert_allclose(t["cosines"][0], peer["attention_factor"], rtol=1e-12)


class TestByHand:
    def test_a_quarter_turn_brings_one_axis_to_the_next(self) -> None:
        assert_allclose(ac.rope([[1.0, 0.0]], [np.pi / 2]).result, [[0, 1]], atol=1e-16)

    def test_position_0_does_not_turn(self) -> None:
        assert_array_equal(ac.rope(X).result, X)

    def test_frequencies_go_by_the_width_that_is_turned(self) -> None:
        assert_allclose(ac.rope(X)["frequencies"], [1, 0.01])
        assert_allclose(ac.rope(np.ones((1, 12)), dims=4)["frequencies"], [1, 0.01])

    def test_dimensions_behind_the_first_ones_stay(self) -> None:
        assert_array_equal(ac.rope(X, [5], dims=2).result[:, 2:], np.array(X)[:, 2:])

    @pytest.mark.parametrize("layout", ["interleaved", "half"])
    @pytest.mark.parametrize(
        "more", [{}, {"scaling": "yarn", "factor": 4, "original_length": 64}], ids=["plain", "yarn"]
    )
    def test_the_inverse_turns_back(self, layout: str, more: dict[str, Any]) -> None:
        there = ac.rope(X, [7], layout=layout, **more).result
        assert_allclose(ac.rope(there, [7], layout=layout, inverse=True, **more).result, X, atol=1e-14)

    def test_yarn_says_that_lengths_change(self) -> None:
        t = ac.rope(X, scaling="yarn", factor=4, original_length=64)
        assert "attention factor" in t.notes[-1]

    def test_yarn_says_which_pairs_it_keeps(self) -> None:
        told, *_ = ac.rope(X, scaling="yarn", factor=4, original_length=64).notes
        assert told.startswith("yarn keeps the pairs up to 0 and slows down those from 1 on: ")

    def test_yarn_slows_down_no_pair_that_there_is_not(self) -> None:
        """By so few turns its ramp would end behind the last dimension, which is number 3."""
        t = ac.rope(np.ones((2, 4)), scaling="yarn", factor=4, original_length=16, beta_slow=1e-6)
        assert_allclose(t["kept"], [1, 2 / 3])

    def test_longrope_goes_by_the_number_of_rows_where_no_length_is_given(self) -> None:
        lists = {
            "scaling": "longrope",
            "short_factor": (1, 1),
            "long_factor": (2, 4),
            "original_length": 2,
            "factor": 2,
        }
        near, far = (ac.rope(np.ones((n, 4)), **lists)["frequencies"] for n in (2, 3))
        assert_allclose(near, [1, 0.01])
        assert_allclose(far, [0.5, 0.0025])


vectors = st.lists(st.floats(-10, 10), min_size=6, max_size=6)
places = st.integers(0, 100_000)
layouts = st.sampled_from(["interleaved", "half"])


class TestLaws:
    @pytest.mark.thorough
    @given(vectors, places, layouts)
    def test_a_turn_keeps_the_length(self, x: list[float], place: int, layout: str) -> None:
        assert_allclose(np.linalg.norm(ac.rope([x], [place], layout=layout).result), np.linalg.norm(x), atol=1e-13)

    @pytest.mark.thorough
    @given(vectors, vectors, st.integers(0, 500), st.integers(0, 500), st.integers(0, 500), layouts)
    def test_a_product_depends_on_the_distance_alone(
        self, q: list[float], k: list[float], m: int, n: int, further: int, layout: str
    ) -> None:
        here, there = (
            float(ac.rope([q], [m + s], layout=layout).result[0] @ ac.rope([k], [n + s], layout=layout).result[0])
            for s in (0, further)
        )
        assert here == pytest.approx(there, abs=1e-9)

    @pytest.mark.thorough
    @given(vectors, st.integers(0, 1000), st.integers(0, 1000))
    def test_turns_add_up(self, x: list[float], a: int, b: int) -> None:
        assert_allclose(ac.rope(ac.rope([x], [a]).result, [b]).result, ac.rope([x], [a + b]).result, atol=1e-11)

    @given(st.sampled_from([{}, {"base": 500}, {"factor": 8}]))
    def test_ntk_slows_the_last_pair_by_the_factor_and_the_first_not_at_all(self, more: dict[str, float]) -> None:
        given_ = {"factor": 4, **more}
        plain = ac.rope(np.ones((1, 8)), **{k: v for k, v in given_.items() if k != "factor"})["frequencies"]
        slowed = ac.rope(np.ones((1, 8)), scaling="ntk", **given_)["frequencies"]
        assert_allclose(slowed[[0, -1]], [1, plain[-1] / given_["factor"]], rtol=1e-12)


class TestInAttention:
    rng = np.random.default_rng(3)
    q, k, v = rng.normal(size=(3, 4)), rng.normal(size=(5, 4)), rng.normal(size=(5, 2))

    @pytest.mark.parametrize("layout", ["interleaved", "half"])
    def test_is_rope_on_queries_and_keys_and_not_on_values(self, layout: str) -> None:
        t = ac.attention(self.q, self.k, self.v, rope=True, rope_layout=layout, rope_base=100)
        q, k = (ac.rope(x, layout=layout, base=100).result for x in (self.q, self.k))
        assert_allclose(t["q_rotated"], q, atol=1e-15)
        assert_allclose(t["k_rotated"], k, atol=1e-15)
        assert_allclose(t.result, ac.attention(q, k, self.v).result, atol=1e-15)

    def test_scaling_carries_its_attention_factor(self) -> None:
        scaling = {"scaling": "yarn", "factor": 4, "original_length": 8}
        t = ac.attention(
            self.q, self.k, self.v, rope=True, **{f"rope_{name}": value for name, value in scaling.items()}
        )
        assert_allclose(t["q_rotated"], ac.rope(self.q, **scaling).result, atol=1e-15)

    def test_the_last_query_may_stand_beside_the_last_key(self) -> None:
        t = ac.attention(self.q, self.k, self.v, rope=True, causal=True, causal_align="end")
        assert_allclose(t["q_rotated"], ac.rope(self.q, [2, 3, 4]).result, atol=1e-15)

    def test_positions_are_those_of_queries_and_keys(self) -> None:
        t = ac.attention(self.q, self.k[:3], self.v[:3], rope=True, rope_positions=[4, 0, 9])
        assert_allclose(t["k_rotated"], ac.rope(self.k[:3], [4, 0, 9]).result, atol=1e-15)

    @pytest.mark.parametrize("keys", [2, 5])
    def test_positions_need_as_many_queries_as_keys(self, keys: int) -> None:
        k = np.ones((keys, self.q.shape[1]))
        with pytest.raises(OptionError, match=f"there are {len(self.q)} queries and {keys} keys"):
            ac.attention(self.q, k, k, rope=True, rope_positions=np.arange(len(self.q)))

    @pytest.mark.parametrize("shift", [1, 17])
    def test_moving_all_positions_changes_nothing(self, shift: int) -> None:
        there = [
            ac.attention(self.q, self.k[:3], self.v[:3], rope=True, rope_positions=np.arange(3) + s).result
            for s in (0, shift)
        ]
        assert_allclose(there[1], there[0], atol=1e-14)

    def test_every_head_of_several_is_turned_by_its_own_width(self) -> None:
        x, w = self.rng.normal(size=(3, 4)), [self.rng.normal(size=(4, 8)) for _ in range(3)]
        t = ac.multihead(x, w[0], w[1], w[2], self.rng.normal(size=(8, 4)), heads=2, rope=True)
        assert_allclose(t["q_rotated"][1], ac.rope((x @ w[0])[:, 4:]).result, atol=1e-14)

    @pytest.mark.thorough
    def test_gradients_pass_the_turn(self) -> None:
        t = ac.attention(self.q, self.k, self.v, rope=True, rope_dims=2)
        found = t.grad(self.rng.normal(size=(3, 2)), gradcheck=True)
        assert all(step.check is not None and step.check.agrees for step in found.outputs)


class TestAlibiInAttention:
    rng = np.random.default_rng(4)

    def test_is_the_bias_of_alibi(self) -> None:
        q, k, v = (self.rng.normal(size=(4, 3, 2)) for _ in range(3))
        by_word = ac.attention(q, k, v, bias="alibi")
        by_array = ac.attention(q, k, v, bias=ac.alibi(heads=4, n=3).result)
        assert_allclose(by_word["biased"], by_array["biased"], atol=1e-15)

    def test_one_head_has_the_slope_2_to_the_minus_8(self) -> None:
        q, k, v = (self.rng.normal(size=(3, 2)) for _ in range(3))
        t = ac.attention(q, k, v, bias="alibi")
        distance = np.abs(np.arange(3)[:, None] - np.arange(3))
        assert_allclose(t["biased"], t["scaled"] - distance / 256, atol=1e-15)

    def test_distances_go_by_the_alignment(self) -> None:
        q, k, v = self.rng.normal(size=(1, 2)), self.rng.normal(size=(3, 2)), self.rng.normal(size=(3, 2))
        t = ac.attention(q, k, v, bias="alibi", causal=True, causal_align="end")
        assert_allclose(t["biased"], t["scaled"] - np.array([[2, 1, 0]]) / 256, atol=1e-15)

    def test_the_word_is_an_option_and_an_array_beside_it_is_an_error(self) -> None:
        assert ac.attention([[1.0]], [[1.0]], [[1.0]], bias="alibi").options["bias"] == "alibi"
        with pytest.raises(AttncalcError, match="an array or alibi"):
            ac.attention([[1.0]], [[1.0]], [[1.0]], bias="alibo")


LISTS = {"scaling": "longrope", "short_factor": (1, 2), "long_factor": (1, 2), "original_length": 8}
SCALINGS = ("base", "linear", "ntk", "dynamic", "yarn", "longrope", "llama3")
REFUSED: list[tuple[dict[str, Any], str]] = [
    *(({"scaling": scaling}, f"--scaling {scaling} needs --") for scaling in SCALINGS),
    ({"scaling": "yarn", "length": 4}, "--scaling yarn needs --factor"),
    ({"scaling": "yarn", "base": 1, "factor": 2, "original_length": 8}, "--base must not be 1"),
    ({"scaling": "dynamic", "factor": 2}, "needs --original-length"),
    ({"factor": 2}, "--factor goes with --scaling"),
    ({"scaling": "linear", "factor": 2, "beta_fast": 8}, "--beta-fast goes with --scaling yarn"),
    ({"scaling": "yarn", "factor": 2, "original_length": 8, "low_freq_factor": 1}, "goes with --scaling llama3"),
    ({**LISTS, "short_factor": (1, 2, 3), "factor": 2}, "3 numbers"),
    (LISTS, "--factor .or --length. must"),
    ({"scaling": "llama3", "factor": 2, "original_length": 8, "low_freq_factor": 4}, "must be below"),
    ({"scaling": "linear", "factor": 0}, "--factor must be greater than 0"),
    ({"base": -1}, "--base must be greater than 0"),
    ({"dims": 3}, "--dims must be an even number"),
    ({"dims": 6}, "--dims must be an even number from 2 to 4"),
    ({"layout": "halves"}, "did you mean half|--layout must be"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_what_makes_no_sense_is_refused(call: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        ac.rope(X, **call)


@pytest.mark.parametrize("given", [1, 3])
def test_another_number_of_positions_is_refused_as_such(given: int) -> None:
    said = f"{given} positions? (is|are) given, but . is n=2 × d(_k)?=2: there is one for each of its rows"
    rows, places = [[1, 2], [3, 4]], list(range(given))
    with pytest.raises(AttncalcError, match=said):
        ac.rope(rows, places)
    with pytest.raises(AttncalcError, match=said):
        ac.attention(rows, rows, rows, rope=True, rope_positions=places)


def test_an_odd_width_is_refused_with_the_mend() -> None:
    with pytest.raises(AttncalcError, match="odd") as caught:
        ac.rope([[1.0, 2.0, 3.0]])
    assert "--dims 2" in caught.value.hint


def test_attention_names_its_own_flags() -> None:
    with pytest.raises(OptionError, match="--rope-scaling yarn needs --rope-factor"):
        ac.attention(X, X, X, rope=True, rope_scaling="yarn")
    with pytest.raises(OptionError, match="--rope is not given"):
        ac.attention(X, X, X, rope_base=5)
