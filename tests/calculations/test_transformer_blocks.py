"""Blocks: PyTorch's layers, the parts that they are made of, weights in one file, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from calculations.peers import PEERS
from numpy.testing import assert_allclose, assert_array_equal

import attncalc as ac
from attncalc.common.errors import AttncalcError

P = PEERS["blocks"]
NORMS = ["post", "pre"]


@pytest.mark.parametrize("norm", NORMS)
def test_the_encoder_is_pytorchs(norm: str) -> None:
    peer = P[norm]["encoder"]
    t = ac.encoder_block(P["x"], weights=peer["weights"], heads=P["heads"], norm=norm)
    assert_allclose(t.result, peer["output"], rtol=1e-12)


@pytest.mark.parametrize("norm", NORMS)
def test_the_decoder_is_pytorchs(norm: str) -> None:
    peer = P[norm]["decoder"]
    t = ac.decoder_block(P["x"], P["memory"], weights=peer["weights"], heads=P["heads"], norm=norm)
    assert_allclose(t.result, peer["output"], rtol=1e-12)


@pytest.mark.thorough
def test_every_weight_of_a_block_has_a_gradient() -> None:
    weights = P["pre"]["decoder"]["weights"]
    t = ac.decoder_block(P["x"], P["memory"], weights=weights, heads=P["heads"], norm="pre")
    found = t.grad(np.linspace(-1, 1, 12).reshape(3, 4), gradcheck=True)
    assert {step.name for step in found.outputs} == {f"grad_{name}" for name in ("x", "memory", *weights)}
    assert all(step.check is not None and step.check.agrees for step in found.outputs)


def test_its_parts_are_the_calculations() -> None:
    w = P["post"]["encoder"]["weights"]
    t = ac.encoder_block(P["x"], weights=w, heads=P["heads"])
    attended = ac.multihead(P["x"], *(w[f"w{c}"] for c in "qkvo"), **{f"b{c}": w[f"b{c}"] for c in "qkvo"}, heads=2)
    assert_array_equal(t["self-attention/output"], attended.result)
    normed = ac.layernorm(np.array(P["x"]) + attended.result, w["gamma1"], w["beta1"]).result
    assert_array_equal(t["norm1/output"], normed)
    assert_array_equal(t["feed-forward/output"], ac.ffn(normed, w["w1"], w["b1"], w["w2"], w["b2"]).result)


def test_weights_may_be_given_one_by_one_or_together() -> None:
    w = P["post"]["encoder"]["weights"]
    together = ac.encoder_block(P["x"], weights=w, heads=2).result
    assert_array_equal(ac.encoder_block(P["x"], **w, heads=2).result, together)
    changed = ac.encoder_block(P["x"], weights=w, b2=[0, 0, 0, 0], heads=2).result
    assert not np.allclose(changed, together)


def test_keys_of_the_memory_may_be_masked() -> None:
    w = P["post"]["decoder"]["weights"]
    hidden = ac.decoder_block(P["x"], P["memory"], weights=w, heads=2, memory_padding=2)
    short = ac.decoder_block(P["x"], P["memory"][:2], weights=w, heads=2)
    assert_allclose(hidden.result, short.result, rtol=1e-13)


def test_a_decoder_does_not_look_ahead_unless_it_is_let() -> None:
    w = P["post"]["decoder"]["weights"]
    first, last = np.array(P["x"]), np.array(P["x"])
    last[-1] += 1
    blind, seeing = (
        [ac.decoder_block(x, P["memory"], weights=w, heads=2, no_causal=free).result[0] for x in (first, last)]
        for free in (False, True)
    )
    assert_array_equal(*blind)
    assert not np.allclose(*seeing)


@pytest.mark.parametrize("causal", [True, False])
def test_a_decoder_may_be_told_the_other_way_round(causal: bool) -> None:
    w = P["post"]["decoder"]["weights"]
    told = ac.decoder_block(P["x"], P["memory"], weights=w, heads=2, causal=causal)
    assert told.options["no_causal"] is not causal
    assert_array_equal(
        told.result, ac.decoder_block(P["x"], P["memory"], weights=w, heads=2, no_causal=not causal).result
    )


@pytest.mark.parametrize(
    ("without", "more", "said"),
    [
        (("w1",), {}, "w1 is missing"),
        (("wq", "wo"), {}, "wq and wo are missing"),
        ((), {"heads": 3}, "cannot be split into h=3"),
        ((), {"activation": "swiglu"}, "swiglu needs w3"),
        ((), {"gamma1": [1, 2]}, "gamma_1|γ_1|d_model"),
    ],
)
def test_what_does_not_fit_is_told(without: tuple[str, ...], more: dict[str, Any], said: str) -> None:
    weights = {name: w for name, w in P["post"]["encoder"]["weights"].items() if name not in (*without, *more)}
    with pytest.raises(AttncalcError, match=said):
        ac.encoder_block(P["x"], weights=weights, **({"heads": 2} | more))
