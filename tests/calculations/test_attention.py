"""Attention: worked examples, who may look at whom, what is masked throughout, and laws that hold for any input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from calculations.attending import TOKENS, agrees, drawn
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import attncalc as ac
from attncalc.calculations import load
from attncalc.common.errors import AttncalcError, ShapeError
from attncalc.solve.solver import solve

Array = NDArray[Any]
few = settings(max_examples=20)

TWO = {"q": [[1, 0, 1], [0, 1, 1]], "k": [[1, 1, 0], [1, 0, 1]], "v": [[2, 0, 1], [1, 1, 0]]}
THREE = {"q": [[1, 0], [0, 1], [1, 1]], "k": [[1, 0], [0, 1], [1, 1]], "v": [[1, 2], [3, 4], [5, 6]]}
UPSTREAM = [[1, 0, 1], [0, 1, 0]]


class TestWorkedExamples:
    """Numbers that are printed in tutorials, to the digits that they give (0.359 there is 0.3595, cut off)."""

    def test_two_tokens_forward(self) -> None:
        t = ac.attention(**TWO)
        assert_array_equal(t["scores"], [[1, 2], [1, 1]])
        assert_allclose(t["scaled"], np.array([[1, 2], [1, 1]]) / math.sqrt(3))
        assert_array_equal(t["weights"].round(4), [[0.3595, 0.6405], [0.5, 0.5]])
        assert_array_equal(t.result.round(4), [[1.3595, 0.6405, 0.3595], [1.5, 0.5, 0.5]])

    @pytest.mark.parametrize(
        ("step", "value"),
        [
            ("grad_v", [[0.3595, 0.5, 0.3595], [0.6405, 0.5, 0.6405]]),
            ("grad_weights", [[3, 1], [0, 1]]),
            ("grad_scaled", [[0.4605, -0.4605], [-0.25, 0.25]]),
            ("grad_q", [[0, 0.2659, -0.2659], [0, -0.1443, 0.1443]]),
            ("grad_k", [[0.2659, -0.1443, 0.1216], [-0.2659, 0.1443, -0.1216]]),
        ],
    )
    def test_two_tokens_backward(self, step: str, value: list[list[float]]) -> None:
        assert_array_equal(ac.attention(**TWO).grad(UPSTREAM)[step].round(4), value)

    def test_three_tokens(self) -> None:
        t = ac.attention(**THREE)
        weights = [[0.4011, 0.1978, 0.4011], [0.1978, 0.4011, 0.4011], [0.2483, 0.2483, 0.5035]]
        assert_array_equal(t["weights"].round(4), weights)
        assert_array_equal(t.result.round(4), [[3, 4], [3.4067, 4.4067], [3.5105, 4.5105]])

    def test_three_tokens_causal(self) -> None:
        t = ac.attention(**THREE, causal=True)
        assert_array_equal(t.result.round(4), [[1, 2], [2.3395, 3.3395], [3.5105, 4.5105]])

    def test_unscaled_from_tokens_and_projections(self) -> None:
        t = agrees("attention", TOKENS, scale="none")
        assert [step.name for step in t.steps] == ["q", "k", "v", "scores", "weights", "output"]
        q, k = (np.array(TOKENS["x"]) @ np.array(TOKENS[name]) for name in ("wq", "wk"))
        assert_array_equal(t["scores"], q @ k.T)

    def test_five_tokens_are_twenty_five_comparisons(self) -> None:
        assert ac.attention(**drawn(q=(5, 3), k=(5, 3), v=(5, 3)))["scores"].size == 25


SEEN = {
    "causal": ({"causal": True}, (3, 3), ["x..", "xx.", "xxx"]),
    "causal, fewer queries": ({"causal": True}, (2, 4), ["x...", "xx.."]),
    "causal, aligned to the end": ({"causal": True, "causal_align": "end"}, (2, 4), ["xxx.", "xxxx"]),
    "causal, more queries, aligned to the end": (
        {"causal": True, "causal_align": "end"},
        (4, 2),
        ["..", "..", "x.", "xx"],
    ),
    "a window on both sides": ({"window": 2}, (4, 4), ["xx..", "xxx.", ".xxx", "..xx"]),
    "a window of oneself": ({"window": 1}, (3, 3), ["x..", ".x.", "..x"]),
    "a causal window": ({"window": 2, "causal": True}, (4, 4), ["x...", "xx..", ".xx.", "..xx"]),
    "a causal window at the end": (
        {"window": 2, "causal": True, "causal_align": "end"},
        (2, 4),
        [".xx.", "..xx"],
    ),
    "padding": ({"padding": (2,)}, (2, 4), ["xx..", "xx.."]),
    "causal and padding": ({"causal": True, "padding": (2,)}, (3, 3), ["x..", "xx.", "xx."]),
    "a mask that keeps": ({"mask": [[1, 0, 1], [0, 1, 1]]}, (2, 3), ["x.x", ".xx"]),
    "true and false": ({"mask": [[True, False, True], [False, True, True]]}, (2, 3), ["x.x", ".xx"]),
    "a mask that drops": ({"mask": [[1, 0, 1], [0, 1, 1]], "mask_kind": "drop"}, (2, 3), [".x.", "x.."]),
    "a mask of keys": ({"mask": [1, 0, 1]}, (2, 3), ["x.x", "x.x"]),
    "a mask of one column": ({"mask": [[1], [0]]}, (2, 3), ["xxx", "..."]),
    "minus infinity": ({"mask": [[0, -math.inf], [-math.inf, 0]]}, (2, 2), ["x.", ".x"]),
    "all together": (
        {"causal": True, "window": 2, "padding": (3,), "mask": [1, 1, 0, 1]},
        (4, 4),
        ["x...", "xx..", ".x..", "...."],
    ),
}


@pytest.mark.parametrize(("options", "sizes", "seen"), SEEN.values(), ids=SEEN.keys())
def test_who_may_look_at_whom(options: dict[str, Any], sizes: tuple[int, int], seen: list[str]) -> None:
    n, m = sizes
    t = ac.attention(**drawn(q=(n, 4), k=(m, 4), v=(m, 3)), **options)
    assert ["".join("x" if w > 0 else "." for w in row) for row in t["weights"]] == seen
    assert_array_equal(np.isneginf(t["masked"]), [[c == "." for c in row] for row in seen])
    assert_allclose(t["weights"].sum(axis=-1), [float("x" in row) for row in seen])


def test_a_mask_is_read_by_its_entries_unless_its_kind_is_said() -> None:
    operands = drawn(q=(2, 3), k=(2, 3), v=(2, 3))
    ones, others = [[1, 0], [1, 1]], [[0, -1], [2, 0]]
    assert any("read as keep" in note for note in ac.attention(**operands, mask=ones).notes)
    assert any("read as additive" in note for note in ac.attention(**operands, mask=others).notes)
    said = ac.attention(**operands, mask=ones, mask_kind="additive")
    assert_allclose(said["masked"], said["scaled"] + ones)
    assert not any("read as" in note for note in said.notes)


class TestOrder:
    """Scale, then cap, then bias, then mask; each changes what the next one meets."""

    OPERANDS = drawn(q=(3, 4), k=(3, 4), v=(3, 2))

    def test_of_the_steps(self) -> None:
        t = ac.attention(**self.OPERANDS, softcap=1, bias=np.ones((3, 3)), causal=True)
        names = ["scores", "scaled", "capped", "biased", "masked", "weights", "output"]
        assert [step.name for step in t.steps] == names

    def test_of_the_arithmetic(self) -> None:
        bias = np.full((3, 3), 9.0)
        t = ac.attention(**self.OPERANDS, softcap=0.5, bias=bias, mask=np.full((3, 3), -2.0))
        assert_allclose(t["scaled"], t["scores"] / 2)
        assert_allclose(t["capped"], 0.5 * np.tanh(t["scaled"] / 0.5))
        assert_allclose(t["biased"], t["capped"] + 9)
        assert_allclose(t["masked"], t["biased"] - 2)

    def test_masking_first_matters_for_finite_masks_alone(self) -> None:
        finite = {"mask": [[0, -2, 1], [1, 0, -1], [0.5, 0, 0]]}
        hiding = {"mask": [[1, 0, 1], [1, 1, 0], [1, 1, 1]]}
        first = {"mask_before_scale": True}
        assert_allclose(
            ac.attention(**self.OPERANDS, **hiding, **first).result, ac.attention(**self.OPERANDS, **hiding).result
        )
        t = ac.attention(**self.OPERANDS, **finite, **first)
        assert_allclose(t["scaled"], (t["scores"] + finite["mask"]) / 2)
        assert np.abs(t.result - ac.attention(**self.OPERANDS, **finite).result).max() > 0.01


class TestMaskedThroughout:
    """A query that may look at nothing mixes nothing."""

    OPERANDS = drawn(q=(3, 2), k=(2, 2), v=(2, 2))
    MASK: Array = np.array([[1, 1], [0, 0], [0, 1]])

    def test_gets_the_weights_0_and_the_output_0(self) -> None:
        t = ac.attention(**self.OPERANDS, mask=self.MASK)
        assert_array_equal(t["weights"][1], [0, 0])
        assert_array_equal(t.result[1], [0, 0])
        assert_allclose(t["weights"].sum(axis=-1), [1, 0, 1])

    def test_is_told_from_one_whose_weights_are_rounded_to_0(self) -> None:
        q, k = np.zeros((2, 2)), np.zeros((3, 2))
        problem = ac.attention(q, k, k, mask=[[1, 1, 1], [0, 0, 0]]).problem
        t = solve(problem, round_to=0)
        assert_array_equal(t["weights"], np.zeros((2, 3)))
        assert [w.partition(":")[0] for w in t.warnings] == ["every key is masked for query 1"]

    def test_is_named_in_a_warning(self) -> None:
        (warning,) = ac.attention(**self.OPERANDS, mask=self.MASK).warnings
        assert "every key is masked for query 1" in warning
        batch = ac.attention(**drawn(q=(2, 3, 3, 2), k=(2, 3, 3, 2), v=(2, 3, 3, 2)), padding=(0, 2))
        assert "b=0, h=0, query 0" in batch.warnings[0]
        assert "and 4 more" in batch.warnings[0]

    def test_gets_the_gradient_0(self) -> None:
        found = ac.attention(**self.OPERANDS, mask=self.MASK).grad(np.ones((3, 2)) * [[1, 2]], gradcheck=True)
        assert_array_equal(found["grad_q"][1], [0, 0])
        assert all(np.isfinite(found[name]).all() for name in found if name.startswith("grad_"))
        assert all(step.check.agrees for step in found.outputs if step.check)

    def test_even_by_an_additive_mask(self) -> None:
        t = ac.attention(**self.OPERANDS, mask=[[0, 0], [-math.inf, -math.inf], [0, 0]])
        assert_array_equal(t.result[1], [0, 0])
        assert t.warnings

    def test_what_is_masked_has_no_say_however_large(self) -> None:
        k, v = np.array([[1.0, 0], [1e300, 1e300]]), np.array([[1.0, 2], [1e300, -1e300]])
        t = ac.attention([[1.0, 1.0]], k, v, mask=[[1, 0]])
        assert_array_equal(t.result, [[1, 2]])

    def test_says_nothing_where_nothing_is_masked_throughout(self) -> None:
        assert not ac.attention(**self.OPERANDS, causal=True).warnings


@pytest.mark.parametrize(
    ("given_", "said", "hint"),
    [
        pytest.param({"q": (2, 3), "k": (2, 4), "v": (2, 3)}, "cannot form Q·Kᵀ: Q is n=2 × d_k=3 but K", "", id="d_k"),
        pytest.param({"q": (2, 3), "k": (3, 4), "v": (4, 3)}, "cannot form Q·Kᵀ", "transpose k", id="k transposed"),
        pytest.param(
            {"q": (2, 3), "k": (4, 3), "v": (5, 3)},
            "cannot form weights·V: weights is n=2 × m=4 but V is m=5 × d_v=3",
            "",
            id="as many values as keys",
        ),
        pytest.param({"q": (2, 3), "k": (4, 3)}, "v must still be given", "", id="no values"),
        pytest.param({"q": (2, 3), "v": (4, 3)}, "k must still be given", "", id="no keys"),
        pytest.param({"k": (2, 3), "v": (4, 3)}, "q must still be given", "", id="no queries"),
        pytest.param({}, "q must still be given", "", id="nothing"),
        pytest.param({"x": (2, 3), "wq": (3, 3)}, "wk and wv must still be given", "", id="two projections missing"),
        pytest.param({"x": (2, 3), "q": (3, 3)}, "not both", "", id="both ways"),
        pytest.param({"q": (2, 3), "wq": (3, 3)}, "wq goes with x", "", id="a projection without tokens"),
        pytest.param({"q": (3, 2, 3), "k": (2, 4, 3), "v": (2, 4, 3)}, "3 query heads cannot share 2", "", id="heads"),
        pytest.param(
            {**dict.fromkeys("qkv", (2, 3)), "mask": (2, 3)},
            "cannot form scaled + M: scaled is n=2 × m=2 but M is n=2 × m=3; m must be of one size",
            "",
            id="a mask's size",
        ),
        pytest.param(
            {**dict.fromkeys("qkv", (2, 3)), "padding": (3,)}, "--padding 3 is not among 0…2", "", id="padding"
        ),
        pytest.param({**dict.fromkeys("qkv", (2, 3)), "padding": (1, 1)}, "gives 2 lengths", "", id="too many lengths"),
        pytest.param({**dict.fromkeys("qkv", (2, 3)), "window": 0}, "--window must be at least 1", "", id="no window"),
        pytest.param(
            {**dict.fromkeys("qkv", (2, 3)), "softcap": 0}, "--softcap must be greater than 0", "", id="a cap of 0"
        ),
        pytest.param(
            {**dict.fromkeys("qkv", (4, 2, 3)), "kv_heads": 2},
            "--kv-heads says 2, but the keys have 4",
            "",
            id="kv heads",
        ),
        pytest.param(
            {**dict.fromkeys("qkv", (2, 3)), "kv_heads": 2},
            "--kv-heads says 2, but the keys have no axis of heads",
            "",
            id="kv heads without heads",
        ),
    ],
)
def test_what_cannot_be_attended_is_refused_in_one_line(given_: dict[str, Any], said: str, hint: str) -> None:
    shapes = {name: v for name, v in given_.items() if isinstance(v, tuple) and name != "padding"}
    options = {name: v for name, v in given_.items() if name not in shapes}
    with pytest.raises(AttncalcError) as error:
        ac.attention(**drawn(**shapes), **options)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert hint in error.value.hint


def test_a_mask_of_two_kinds_of_numbers_says_so() -> None:
    with pytest.raises(AttncalcError, match="mask is to keep what it marks, and has entries other than 0 and 1"):
        ac.attention(**TWO, mask=[[0, 2], [1, 1]], mask_kind="keep")


def test_one_matrix_alone_attends_to_itself_and_says_so() -> None:
    t = ac.attention(TWO["q"])
    assert_allclose(t.result, ac.attention(TWO["q"], TWO["q"], TWO["q"]).result)
    assert "only q was given, as one matrix: keys = queries and values = keys" in t.notes


def test_queries_and_keys_of_two_widths_are_told() -> None:
    x, narrow, wide = np.ones((2, 2)), np.ones((2, 2)), np.ones((2, 3))
    said = "queries have d_k=3 and keys d_k=2: scores Q·Kᵀ need both of one width"
    assert ac.qkv(x, wide, narrow, narrow).notes == (said,)
    assert ac.qkv(x, wide, wide, narrow).notes == ()


def test_causal_with_other_sizes_says_how_it_is_aligned() -> None:
    wide = drawn(q=(2, 3), k=(4, 3), v=(4, 3))
    assert any("--causal-align end" in note for note in ac.attention(**wide, causal=True).notes)
    assert not ac.attention(**wide, causal=True, causal_align="end").notes


def test_a_query_alone_is_one_row_and_its_result_a_vector() -> None:
    t = ac.attention([1, 0, 1], TWO["k"], TWO["v"])
    whole = ac.attention(**TWO)
    assert_allclose(t.result, whole.result[0])
    assert_allclose(t["weights"], whole["weights"][0])
    assert_allclose(t.grad([1, 0, 1])["grad_q"], whole.grad([[1, 0, 1], [0, 0, 0]])["grad_q"][0])


seeds = st.integers(0, 10_000)
sizes = st.tuples(st.integers(1, 4), st.integers(1, 5), st.integers(1, 4), st.integers(1, 3))


def random_attention(seed: int, size: tuple[int, int, int, int]) -> dict[str, Array]:
    n, m, d_k, d_v = size
    return drawn(seed, q=(n, d_k), k=(m, d_k), v=(m, d_v))


class TestLaws:
    @few
    @given(seeds, sizes)
    def test_rows_share_out_1(self, seed: int, size: tuple[int, int, int, int]) -> None:
        weights = ac.attention(**random_attention(seed, size))["weights"]
        assert (weights >= 0).all()
        assert_allclose(weights.sum(axis=-1), 1, rtol=4e-16 * size[1])

    @few
    @given(seeds, sizes)
    def test_permuting_queries_permutes_the_output(self, seed: int, size: tuple[int, int, int, int]) -> None:
        operands = random_attention(seed, size)
        order = np.random.default_rng(seed).permutation(size[0])
        moved = ac.attention(**operands | {"q": operands["q"][order]})
        assert_allclose(moved.result, ac.attention(**operands).result[order], rtol=1e-12, atol=1e-14)

    @few
    @given(seeds, sizes)
    def test_permuting_keys_with_their_values_changes_nothing(self, seed: int, size: tuple[int, int, int, int]) -> None:
        operands = random_attention(seed, size)
        order = np.random.default_rng(seed).permutation(size[1])
        moved = ac.attention(operands["q"], operands["k"][order], operands["v"][order])
        assert_allclose(moved.result, ac.attention(**operands).result, rtol=1e-12, atol=1e-14)

    @few
    @given(seeds, sizes)
    def test_the_output_stays_among_the_values(self, seed: int, size: tuple[int, int, int, int]) -> None:
        operands = random_attention(seed, size)
        output, v = ac.attention(**operands).result, operands["v"]
        assert (output >= v.min(axis=0) - 1e-14).all()
        assert (output <= v.max(axis=0) + 1e-14).all()

    @few
    @given(seeds, sizes, st.floats(0.1, 10))
    def test_larger_queries_are_a_larger_scale(self, seed: int, size: tuple[int, int, int, int], c: float) -> None:
        operands = random_attention(seed, size)
        larger = ac.attention(**operands | {"q": c * operands["q"]})
        scaled = ac.attention(**operands, scale=c / math.sqrt(size[2]))
        assert_allclose(larger.result, scaled.result, rtol=1e-10, atol=1e-12)

    @few
    @given(seeds, sizes)
    def test_the_same_key_everywhere_is_a_mean(self, seed: int, size: tuple[int, int, int, int]) -> None:
        operands = random_attention(seed, size)
        keys = np.broadcast_to(operands["k"][:1], operands["k"].shape)
        mean = operands["v"].mean(axis=0)
        found = ac.attention(operands["q"], keys, operands["v"]).result
        assert_allclose(found, np.broadcast_to(mean, found.shape), rtol=1e-10, atol=1e-12)

    @pytest.mark.thorough
    @few
    @given(seeds, st.integers(1, 5))
    def test_causal_attention_does_not_see_what_comes_after(self, seed: int, n: int) -> None:
        operands = drawn(seed, q=(n, 3), k=(n, 3), v=(n, 2))
        whole = ac.attention(**operands, causal=True).result
        for t in range(n):
            start = ac.attention(operands["q"][: t + 1], operands["k"][: t + 1], operands["v"][: t + 1], causal=True)
            assert_allclose(start.result, whole[: t + 1], rtol=1e-12, atol=1e-14)

    @pytest.mark.thorough
    @few
    @given(seeds, st.integers(1, 4))
    def test_the_pieces_give_the_whole(self, seed: int, n: int) -> None:
        operands = drawn(seed, q=(n, 3), k=(n, 3), v=(n, 2))
        whole = ac.attention(**operands, causal=True).result
        assert_allclose(ac.kv_cache(**operands).result, whole, rtol=1e-12, atol=1e-14)
        for block in (1, 2, 5):
            flash = ac.flash(**operands, block=block, causal=True)
            assert_allclose(flash.result, whole, rtol=1e-12, atol=1e-14)

    @pytest.mark.thorough
    @pytest.mark.parametrize(
        ("queries", "rules"),
        [
            (3, {"window": 1}),
            (3, {"window": 2, "causal": True}),
            (3, {"mask": [[0, 0, 0, 1], [0, 0, 0, 0], [1, 0, 0, 1]]}),
            (3, {"mask": [[-np.inf, -np.inf, -np.inf, -1e9], [0, 1, 2, 3], [-np.inf, -1e9, -np.inf, 0]]}),
            (3, {"mask": [0, 0, 1, 1]}),
            (3, {"mask": [[0], [1], [1]], "window": 3}),
            (3, {"causal": True, "causal_align": "end"}),
            (3, {"causal": True, "causal_align": "end", "window": 2}),
            (6, {"causal": True}),
            (6, {"causal": True, "causal_align": "end"}),
        ],
        ids=str,
    )
    def test_blocks_that_a_query_does_not_see_leave_no_trace(self, queries: int, rules: dict[str, Any]) -> None:
        operands, upstream = drawn(1, q=(queries, 3), k=(4, 3), v=(4, 2)), drawn(2, g=(queries, 2))["g"]
        whole = ac.attention(**operands, **rules)
        for block in (1, 2, 4):
            pieces = ac.flash(**operands, **rules, block=block)
            assert_allclose(pieces.result, whole.result, rtol=1e-12, atol=1e-14)
            assert (pieces.warnings, pieces.notes) == (whole.warnings, whole.notes)
            slopes, expected = pieces.grad(upstream), whole.grad(upstream)
            for name in ("grad_q", "grad_k", "grad_v"):
                assert_allclose(slopes[name], expected[name], rtol=1e-10, atol=1e-12)

    def test_the_pieces_share_key_heads_too(self) -> None:
        operands = drawn(0, q=(2, 4, 3, 3), k=(2, 2, 3, 3), v=(2, 2, 3, 2))
        whole = ac.attention(**operands, causal=True).result
        assert_allclose(ac.kv_cache(**operands).result, whole, rtol=1e-12, atol=1e-14)
        assert_allclose(ac.flash(**operands, causal=True).result, whole, rtol=1e-12, atol=1e-14)

    def test_blocks_of_a_context_give_what_it_gives_at_once(self) -> None:
        operands = drawn(0, x=(3, 4), context=(5, 4), wq=(4, 2), wk=(4, 2), wv=(4, 3))
        assert_allclose(ac.flash(**operands).result, ac.attention(**operands).result, rtol=1e-12, atol=1e-14)

    @pytest.mark.thorough
    @pytest.mark.parametrize(("keys", "blocks"), [(1, 1), (5, 3), (128, 64), (129, 43), (1000, 63)])
    def test_many_keys_are_cut_into_few_blocks(self, keys: int, blocks: int) -> None:
        operands = drawn(q=(3, 2), k=(keys, 2), v=(keys, 2))
        found = ac.flash(**operands)
        assert len({step.group for step in found.steps if step.group}) == blocks
        assert_allclose(found.result, ac.attention(**operands).result, rtol=1e-12, atol=1e-14)

    @pytest.mark.parametrize(
        ("name", "sizes", "said"),
        [
            pytest.param(
                "flash", (3, 1, 3), "K is m=1 × d_k=2 and V is m=3 × d_v=1, but m must", id="more values than keys"
            ),
            pytest.param("flash", (3, 3, 2), "K is m=3 × d_k=2 and V is m=2 × d_v=1, but m must", id="fewer"),
            pytest.param(
                "kv-cache", (2, 3, 3), "Q is n=2 .* K is n=3 .* V is n=3 .*, but n must", id="keys without a query"
            ),
            pytest.param("kv-cache", (3, 2, 3), "Q is n=3 .* K is n=2 .* V is n=3 .*, but n must", id="too few keys"),
        ],
    )
    def test_pieces_of_different_lengths_are_refused(self, name: str, sizes: tuple[int, int, int], said: str) -> None:
        n, m, values = sizes
        with pytest.raises(ShapeError, match=said):
            load(name)(np.ones((n, 2)), np.ones((m, 2)), np.ones((values, 1)))


@pytest.mark.parametrize(
    ("given_", "empty"),
    [
        pytest.param({"bias": [[0, -math.inf], [-math.inf, -math.inf]]}, [1], id="a bias of −∞"),
        pytest.param({"mask": [[0, 0], [1, 0]]}, [0], id="a mask"),
        pytest.param({"mask": [[0, 0], [1, 0]], "mask_before_scale": True}, [0], id="a mask before the scale"),
        pytest.param({"mask": [[0, 0], [1, 0]], "mask_before_scale": True, "softcap": 2}, [], id="seen for the cap"),
    ],
)
def test_a_query_is_told_of_where_its_weights_are_0_and_nowhere_else(given_: dict[str, Any], empty: list[int]) -> None:
    t = ac.attention(*[[[1.0, 0], [0, 1]]] * 3, **given_)
    assert np.flatnonzero((t["weights"] == 0).all(axis=-1)).tolist() == empty
    assert [w.partition(":")[0] for w in t.warnings] == [f"every key is masked for query {i}" for i in empty]
    capped = "softcap" in given_
    assert any("masked keys get weight" in told for told in t.notes) == capped
    if "masked" in t:
        assert ("gets no weight" in t.find("masked").why) != capped
