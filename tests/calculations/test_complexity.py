"""Costs against a count by hand, over sizes at random; the verdict of the roofline; all of a block counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from witness.costs import complexity as by_hand

import attncalc as ac

SMALL = st.integers(1, 6)


@st.composite
def models(draw: st.DrawFn) -> dict[str, int]:
    """Sizes that fit together: heads share the width, and key heads are shared by heads."""
    kv_heads, sharing, width = draw(SMALL), draw(SMALL), draw(SMALL)
    heads = kv_heads * sharing
    sizes = {"n": draw(st.integers(1, 300)), "heads": heads, "kv_heads": kv_heads, "d_model": heads * width}
    sizes |= {"layers": draw(SMALL), "d_ffn": draw(st.integers(1, 500)), "bytes": draw(st.sampled_from([1, 2, 4, 8]))}
    return sizes | draw(st.one_of(st.just({}), st.fixed_dictionaries({"vocab": st.integers(1, 60_000)})))


@given(models())
def test_every_number_is_what_a_hand_counts(sizes: dict[str, int]) -> None:
    found, counted = ac.complexity(**sizes), by_hand(**sizes)
    for name in ("comparisons", "flops", "parameters", "activation_bytes", "kv_cache_bytes", "total_flops"):
        np.testing.assert_array_equal(found[name], counted[name], err_msg=name)
    assert_allclose(found["arithmetic_intensity"], counted["arithmetic_intensity"], rtol=1e-12)


# Formulas as they are known, each for one number: (what, the options, the number).
KNOWN = [
    ("several heads have 4·d² parameters", {"d_model": 512}, ("parameters", 0), 4 * 512**2),
    ("whatever their number", {"d_model": 512, "heads": 16}, ("parameters", 0), 4 * 512**2),
    ("shared key heads have 2·d² + 2·d²·g/h", {"d_model": 512, "kv_heads": 2}, ("parameters", 0), 2.5 * 512**2),
    ("the network between has 8·d²", {"d_model": 512}, ("parameters", 4), 8 * 512**2),
    ("scores take 2·n²·d operations", {"n": 100, "d_model": 64}, ("flops", 1), 2 * 100**2 * 64),
    ("mixing as many", {"n": 100, "d_model": 64}, ("flops", 3), 2 * 100**2 * 64),
    ("projections 8·n·d²", {"n": 100, "d_model": 64}, ("flops", 0), 8 * 100 * 64**2),
    ("a table of words serves on both sides", {"vocab": 1000}, ("parameters", 6), 1000 * 512),
    ("in float16 a token keeps 4·d bytes a layer", {"n": 1, "layers": 3}, ("kv_cache_bytes", ()), 3 * 4 * 512),
    ("in float32 8·d", {"n": 1, "layers": 3, "bytes": 4}, ("kv_cache_bytes", ()), 3 * 8 * 512),
    ("of which shared key heads keep a part", {"n": 1, "kv_heads": 2}, ("kv_cache_bytes", ()), 4 * 512 * 2 / 8),
]


@pytest.mark.parametrize(("options", "where", "number"), [row[1:] for row in KNOWN], ids=[row[0] for row in KNOWN])
def test_a_known_formula(options: dict[str, int], where: tuple[str, int | tuple[()]], number: float) -> None:
    step, place = where
    assert ac.complexity(**options)[step][place] == number


@pytest.mark.parametrize(
    ("options", "bound"),
    [
        pytest.param({"n": 1, "d_model": 4096}, "memory", id="one token: a weight that is read serves it alone"),
        pytest.param({"n": 1, "d_model": 4096, "layers": 24}, "memory", id="in every layer"),
        pytest.param({"n": 1024, "d_model": 4096}, "compute", id="many tokens of a wide model"),
        pytest.param({"n": 1024, "d_model": 4096, "bytes": 16}, "memory", id="numbers that take more bytes"),
        pytest.param({"n": 1024, "d_model": 4096, "bandwidth": 1e11}, "memory", id="a slower memory"),
        pytest.param({"n": 16384, "d_model": 512}, "memory", id="a long text: n² scores are written and read"),
    ],
)
def test_what_the_processor_waits_for(options: dict[str, Any], bound: str) -> None:
    found = ac.complexity(**options)
    assert found["bound"] == bound
    assert (found["arithmetic_intensity"] >= found["ridge"]) == (bound == "compute")
