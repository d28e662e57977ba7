"""Heads: batches of them, heads that share keys, masks for each, and the columns that each head takes for its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from calculations.attending import TOKENS, agrees, drawn
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import attncalc as ac
from attncalc.common.errors import AttncalcError

Array = NDArray[Any]

LAYOUTS: dict[str, dict[str, tuple[int, ...]]] = {
    "a batch of heads": {"q": (2, 3, 4, 2), "k": (2, 3, 5, 2), "v": (2, 3, 5, 3)},
    "heads": {"q": (3, 4, 2), "k": (3, 5, 2), "v": (3, 5, 3)},
    "grouped heads": {"q": (4, 3, 2), "k": (2, 5, 2), "v": (2, 5, 3)},
    "a batch of grouped heads": {"q": (2, 4, 3, 2), "k": (2, 2, 5, 2), "v": (2, 2, 5, 3)},
    "one key head for all": {"q": (2, 4, 3, 2), "k": (2, 1, 5, 2), "v": (2, 1, 5, 3)},
    "one key head, no batch": {"q": (3, 3, 2), "k": (1, 5, 2), "v": (1, 5, 3)},
    "keys without heads": {"q": (3, 4, 2), "k": (5, 2), "v": (5, 3)},
    "more queries than keys": {"q": (2, 6, 2), "k": (2, 3, 2), "v": (2, 3, 1)},
    "one key, one key head": {"q": (3, 1, 2), "k": (1, 1, 2), "v": (1, 1, 1)},
    "one key, one key head, a batch": {"q": (2, 3, 4, 1), "k": (2, 1, 1, 1), "v": (2, 1, 1, 2)},
}
RULES: dict[str, dict[str, Any]] = {
    "plain": {},
    "causal": {"causal": True},
    "causal at the end": {"causal": True, "causal_align": "end"},
    "window": {"window": 2},
    "cap": {"softcap": 0.75},
    "another scale": {"scale": 0.3},
    "cap, causal, window": {"softcap": 2, "causal": True, "window": 2},
}


@pytest.mark.thorough
@pytest.mark.parametrize("rules", RULES.values(), ids=RULES.keys())
@pytest.mark.parametrize("shapes", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_heads_and_batches_agree_with_loops_over_every_entry(
    shapes: dict[str, tuple[int, ...]], rules: dict[str, Any]
) -> None:
    t = agrees("attention", drawn(**shapes), **rules)
    assert t.result.shape == (*shapes["q"][:-1], shapes["v"][-1])


@pytest.mark.parametrize("shapes", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_the_gradient_of_what_several_share_has_the_shape_of_what_is_shared(shapes: dict[str, tuple[int, ...]]) -> None:
    t = ac.attention(**drawn(**shapes))
    found = t.grad(np.random.default_rng(7).normal(size=t.result.shape), gradcheck=True)
    for gradient in found.outputs:
        assert gradient.shape == shapes[gradient.name.removeprefix("grad_")]
        assert gradient.check is not None
        assert gradient.check.agrees


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["keep", "drop", "additive", "bias"])
@pytest.mark.parametrize(
    "shape", [(5,), (4, 5), (1, 5), (4, 1), (3, 4, 5), (3, 1, 5), (2, 3, 4, 5), (2, 1, 1, 5)], ids=str
)
def test_masks_and_biases_broadcast_from_the_right(shape: tuple[int, ...], kind: str) -> None:
    rng = np.random.default_rng(4)
    operands = drawn(**LAYOUTS["a batch of heads"])
    if kind == "bias":
        agrees("attention", operands | {"bias": rng.normal(size=shape)})
    elif kind == "additive":
        agrees("attention", operands | {"mask": rng.normal(size=shape)}, mask_kind=kind)
    else:
        agrees("attention", operands | {"mask": rng.random(shape) < 0.6}, mask_kind=kind)


@pytest.mark.thorough
@pytest.mark.parametrize("rule", ["plain", "causal", "causal at the end", "window"])
@pytest.mark.parametrize("lengths", [(3,), (3, 5), (0, 2)], ids=str)
def test_padding_is_one_length_for_all_or_one_for_each_entry_of_the_batch(lengths: tuple[int, ...], rule: str) -> None:
    agrees("attention", drawn(**LAYOUTS["a batch of heads"]), padding=lengths, **RULES[rule])
    agrees("attention", drawn(q=(2, 4, 2), k=(2, 5, 2), v=(2, 5, 3)), padding=lengths, **RULES[rule])


@pytest.mark.thorough
@pytest.mark.parametrize(
    "rules",
    [{}, {"causal": True}, {"padding": (3,)}, {"padding": (3, 5), "window": 2}],
    ids=["alone", "causal", "padding", "padding and window"],
)
@pytest.mark.parametrize("shape", [(2, 1, 1, 5), (2, 3, 4, 1), (3, 1, 5), (3, 4, 1), (3, 1, 1), (4, 5)], ids=str)
def test_reasons_not_to_look_go_together_whatever_axes_they_differ_along(
    shape: tuple[int, ...], rules: dict[str, Any]
) -> None:
    mask = np.random.default_rng(5).random(shape) < 0.6
    agrees("attention", drawn(**LAYOUTS["a batch of heads"]) | {"mask": mask}, **rules)


@pytest.mark.thorough
@pytest.mark.parametrize("shape", [(5,), (1, 5), (4, 1), (1, 1), (3, 1, 5), (2, 1, 1, 5), (2, 3, 4, 5)], ids=str)
def test_the_gradient_of_a_bias_has_the_shape_of_the_bias(shape: tuple[int, ...]) -> None:
    operands = drawn(**LAYOUTS["a batch of heads"])
    whole, rng = np.zeros((2, 3, 4, 5)), np.random.default_rng(6)
    bias, upstream = rng.normal(size=shape), rng.normal(size=(2, 3, 4, 3))
    found = ac.attention(**operands, bias=bias).grad(upstream, wrt="bias", gradcheck=True)
    of_each = ac.attention(**operands, bias=bias + whole).grad(upstream, wrt="bias").result
    shared = tuple(np.flatnonzero(np.less((1,) * (4 - len(shape)) + shape, whole.shape)))
    assert found.result.shape == shape
    assert found.to_dict()["outputs"]["grad_bias"] == found.result.tolist()
    assert_allclose(found.result, of_each.sum(shared, keepdims=True).reshape(shape), atol=1e-14)
    assert found.outputs[0].check is not None
    assert found.outputs[0].check.agrees


SHAPES = {"x": (3, 4), "wq": (4, 6), "wk": (4, 6), "wv": (4, 4), "wo": (4, 5)}
BIASES = {"bq": (6,), "bk": (6,), "bv": (4,), "bo": (5,)}


class TestMultihead:
    """Several heads against each head by itself."""

    @pytest.mark.parametrize(
        ("more", "options"),
        [
            pytest.param({}, {"heads": 2}, id="two heads"),
            pytest.param({}, {"heads": 1}, id="one head"),
            pytest.param(BIASES, {"heads": 2}, id="biases"),
            pytest.param({"context": (5, 4)}, {"heads": 2}, id="a context"),
            pytest.param({"context": (5, 4)}, {"heads": 2, "causal": True, "causal_align": "end"}, id="at the end"),
            pytest.param({}, {"heads": 2, "causal": True, "softcap": 1.5}, id="causal, capped"),
            pytest.param({"bias": (2, 3, 3)}, {"heads": 2}, id="a bias for each head"),
            pytest.param({"bias": (3, 3)}, {"heads": 2, "scale": "none"}, id="one bias, unscaled"),
            pytest.param({"mask": (3,)}, {"heads": 2, "mask_kind": "additive"}, id="a mask of keys"),
        ],
    )
    def test_each_head_attends_with_its_own_columns(self, more: dict[str, Any], options: dict[str, Any]) -> None:
        agrees("multihead", drawn(**SHAPES, **more), **options)

    @pytest.mark.parametrize(("heads", "kv_heads"), [(4, 2), (4, 1), (6, 3), (2, 2)], ids=str)
    def test_grouped_heads_share_a_key_head(self, heads: int, kv_heads: int) -> None:
        shapes = {"x": (3, 4), "wq": (4, 2 * heads), "wk": (4, 2 * kv_heads), "wv": (4, 3 * kv_heads)}
        t = agrees("multihead", drawn(**shapes, wo=(3 * heads, 5)), heads=heads, kv_heads=kv_heads)
        assert t["weights"].shape == (heads, 3, 3)

    def test_biases_may_stand_behind_the_weights(self) -> None:
        operands = drawn(**SHAPES, **BIASES)
        placed = [operands.pop(name) for name in ("x", "wq", "wk", "wv", "wo", "bq", "bk", "bv", "bo")]
        named = drawn(**SHAPES, **BIASES)
        assert_array_equal(ac.multihead(*placed, heads=2).result, ac.multihead(**named, heads=2).result)

    def test_a_batch_of_tokens_with_a_mask_for_each_head(self) -> None:
        operands = drawn(**SHAPES) | drawn(1, x=(2, 3, 4), bias=(2, 3, 3))
        t = ac.multihead(**operands, heads=2)
        for i, x in enumerate(operands["x"]):
            assert_allclose(t.result[i], ac.multihead(**operands | {"x": x}, heads=2).result, rtol=1e-12)

    def test_counts_its_parameters(self) -> None:
        assert any("4·d_model² = 4·4² = 64" in note for note in ac.multihead(**TOKENS, wo=np.eye(4), heads=2).notes)
        told = ac.multihead(**drawn(**SHAPES, **BIASES), heads=2).notes
        assert any("24 + 24 + 16 + 20 = 84, and 21 in the biases" in note for note in told)

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            pytest.param(
                {"heads": 4}, "wq: an axis of 6 cannot be split into h=4 × d_k", id="heads that do not divide"
            ),
            pytest.param({"heads": 2, "kv_heads": 4}, "wk: .*cannot be split|share", id="more key heads"),
            pytest.param({"heads": 3, "kv_heads": 2}, "share|split", id="no multiple"),
            pytest.param({"heads": 2, "wo": (6, 5)}, "wo: .*cannot be split|cannot form", id="W_O of other heads"),
            pytest.param({"heads": 0}, "--heads must be at least 1, not 0", id="no heads"),
            pytest.param({"heads": -2}, "--heads must be at least 1", id="fewer than none"),
            pytest.param({"heads": 2, "wk": (4, 8)}, "wk: an axis of 8 cannot be split into|share", id="another d_k"),
        ],
    )
    def test_sizes_that_do_not_divide_are_refused(self, change: dict[str, Any], said: str) -> None:
        shapes = SHAPES | {name: value for name, value in change.items() if isinstance(value, tuple)}
        options = {name: value for name, value in change.items() if not isinstance(value, tuple)}
        with pytest.raises(AttncalcError, match=said) as error:
            ac.multihead(**drawn(**shapes), **options)
        assert "\n" not in str(error.value)
