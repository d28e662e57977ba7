"""Costs against a count by hand, over sizes at random; the verdict of the roofline; all of a block counted."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from conftest import Run
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from witness.costs import complexity as by_hand

import attncalc as ac
from attncalc.calculations import complexity
from attncalc.calculations.published import PUBLISHED, Name

SMALL = st.integers(1, 6)


@st.composite
def models(draw: st.DrawFn) -> dict[str, Any]:
    """Sizes that fit together: heads share the width, and key heads are shared by heads."""
    kv_heads, sharing, width = draw(SMALL), draw(SMALL), draw(SMALL)
    heads = kv_heads * sharing
    sizes: dict[str, Any] = {"n": draw(st.integers(1, 300)), "heads": heads, "kv_heads": kv_heads}
    sizes |= {"d_model": heads * width, "layers": draw(SMALL), "d_ffn": draw(st.integers(1, 500))}
    sizes |= {"bytes": draw(st.sampled_from([1, 2, 4, 8]))}
    return sizes | draw(st.fixed_dictionaries({}, optional=LATER)) | draw(st.one_of(st.just({}), WORDS))


LATER = {
    "batch": SMALL,
    "d_k": SMALL,
    "norm": st.sampled_from(["layer", "rms"]),
    "norm_at": st.sampled_from(["post", "pre", "sandwich", "both"]),
    "activation": st.sampled_from(["relu", "reglu"]),
    "biases": st.sampled_from([("all",), ("qkv",), ("output", "feed-forward")]),
    "decoder_layers": SMALL,
    "final_norm": st.booleans(),
}
WORDS = st.fixed_dictionaries(
    {"vocab": st.integers(1, 60_000)},
    optional={
        "positions": st.just(300),
        "head": st.sampled_from(["tied", "own"]),
        "biases": st.just(("head", "qkv")),
    },
)


@pytest.mark.thorough
@given(models())
def test_every_number_is_what_a_hand_counts(sizes: dict[str, Any]) -> None:
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


# Published counts: those of the modules of transformers 5.24.0 made on torch's meta device, by the published
# configurations (.ci/parameters), and of the paper's two models by hand: 4·d² an attention, 2·d·f + d + f a network,
# 2·d a norm.
PARAMETERS = {
    "transformer-base": 6 * (12 * 512**2 + 2 * (2 * 512 * 2048 + 2048 + 512) + 5 * 2 * 512) + 37000 * 512,
    "transformer-big": 6 * (12 * 1024**2 + 2 * (2 * 1024 * 4096 + 4096 + 1024) + 5 * 2 * 1024) + 37000 * 1024,
    "bert-base": 109_482_240,
    "bart-base": 139_420_416,
    "gpt2": 124_439_808,
    "gpt2-xl": 1_557_611_200,
    "pythia-6.9b": 6_857_302_016,
    "llama-2-7b": 6_738_415_616,
    "llama-2-70b": 68_976_648_192,
    "llama-3-8b": 8_030_261_248,
    "mistral-7b": 7_241_732_096,
    "mixtral-8x7b": 46_702_792_704,
    "qwen2-7b": 7_615_616_512,
    "qwen3-8b": 8_190_735_360,
    "gemma-2b": 2_506_172_416,
    "gemma-2-2b": 2_614_341_888,
    "deepseek-v2-lite": 15_706_484_224,
    "deepseek-v3": 671_026_404_352,
}


@pytest.mark.thorough
def test_a_published_model_has_its_parameters() -> None:
    found = {name: int(ac.complexity(model=name, n=1)["total_parameters"]) for name in PUBLISHED}
    assert found == PARAMETERS
    assert get_args(Name) == tuple(PUBLISHED)


def test_the_papers_models_have_about_as_many_as_table_3_says() -> None:
    assert [round(PARAMETERS[name] / 1e6) for name in ("transformer-base", "transformer-big")] == [63, 214]  # 65, 213


# A tiny checkpoint of each architecture → what `model --info` does not say of it in the words of complexity.
CHECKPOINTS: dict[str, dict[str, Any]] = {
    "gpt2": {"biases": ("all",), "norm": "layer"},
    "gpt_neox": {"biases": ("all",), "norm": "layer"},
    "llama": {},
    "mistral": {},
    "gemma": {"norm": "rms"},
    "gemma2": {"norm_at": "sandwich"},
    "qwen2": {"biases": ("qkv",)},
    "qwen3": {"qk_norm": True},
    "mixtral": {},
    "qwen3_moe": {"qk_norm": True},
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", CHECKPOINTS)
def test_a_checkpoint_is_counted_alike_from_its_tensors_and_from_its_sizes(name: str) -> None:
    folder = Path(__file__).parents[1] / "data" / "models" / name
    config, info = json.loads((folder / "config.json").read_text()), ac.load(folder).info

    def said(*keys: str) -> Any:
        return next((config[key] for key in keys if config.get(key) is not None), None)

    activation, is_gpt2 = info["options"].get("activation", "swiglu"), name == "gpt2"
    options = {"norm": "rms", "norm_at": "pre", "final_norm": True, "activation": activation} | CHECKPOINTS[name]
    sizes = {
        "d_model": said("hidden_size", "n_embd"),
        "heads": said("num_attention_heads", "n_head"),
        "kv_heads": said("num_key_value_heads"),
        "layers": info["layers"],
        "d_k": said("head_dim"),
        "d_ffn": said("intermediate_size", "n_inner"),
        "vocab": config["vocab_size"],
        "positions": said("n_positions") if is_gpt2 else None,
        "head": "own" if "logits" in info["parts"] else "tied",
        "experts": said("num_local_experts", "num_experts"),
        "experts_d_ffn": said("moe_intermediate_size"),
    }
    found = ac.complexity(n=1, bytes=4, **sizes, **options)
    assert found["total_parameters"] == info["parameters"]
    assert found["kv_cache_bytes"] == info["kv_cache_bytes_per_token"]


# What a word stands for is overruled by what is said beside it, and a document keeps the word.
def test_a_named_model_is_overruled_by_what_is_given() -> None:
    own = ac.complexity(model="gpt2", head="own")["total_parameters"]
    assert own == PARAMETERS["gpt2"] + 50257 * 768


@pytest.mark.thorough
def test_a_document_of_a_named_model_keeps_its_name_and_what_differs(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "saved.json"
    assert run("complexity", "--model", "gpt2", "--n", "8", "-o", str(path)).returncode == 0
    assert json.loads(path.read_text())["options"] == {"n": 8, "model": "gpt2"}
    again = run("complexity", str(path), "--model", "llama-2-7b", "--get", "total_parameters", "-q")
    assert again.stdout == "6738415616\n"


@pytest.mark.thorough
def test_all_of_a_model_is_in_one_part(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces: list[complexity.Counted] = []
    counted = complexity._counted

    def kept(*args: Any, **given: Any) -> complexity.Counted:
        pieces.append(counted(*args, **given))
        return pieces[-1]

    monkeypatch.setattr(complexity, "_counted", kept)
    for name in PUBLISHED:
        ac.complexity(model=name, n=8, batch=2)
    for piece in pieces:
        in_parts = [
            key for steps, _ in complexity.PARTS.values() for key in filter(re.compile(steps).fullmatch, piece.steps)
        ]
        assert sorted(in_parts) == sorted(key for key in piece.steps if key != "output")
        assert all(made.whole for made in piece.steps.values())
        weights = [
            name for _, own in complexity.PARTS.values() for name in filter(re.compile(own).fullmatch, piece.weights)
        ]
        assert sorted(weights) == sorted(piece.weights)


@pytest.mark.thorough
def test_each_product_has_two_gradients_which_are_products_as_large() -> None:
    for name in ("gpt2", "mixtral-8x7b", "deepseek-v2-lite", "transformer-base"):
        found = ac.complexity(model=name, n=64, training=True)
        forward = found["flops"].sum()
        assert found["total_flops"] == forward + found["backward_flops"]
        assert 1.99 < found["backward_flops"] / forward < 2.01


@pytest.mark.parametrize("model", [name for name, model in PUBLISHED.items() if model.window])
def test_a_window_that_keys_are_kept_for_is_said_where_there_are_more(model: Name) -> None:
    window = PUBLISHED[model].window
    assert window
    told = {n: [note for note in ac.complexity(model=model, n=n).notes if "looks back" in note] for n in (1, window)}
    assert not any(told.values())
    [said] = (note for note in ac.complexity(model=model, n=window + 1).notes if "looks back" in note)
    assert f"{window} tokens" in said
    assert f"all {window + 1}" in said


@pytest.mark.parametrize("bytes", [0.5, 1.5])
def test_a_number_may_take_a_part_of_a_byte(run: Run, samples: Path, bytes: float) -> None:
    whole, part = (float(ac.complexity(n=6, bytes=size)["kv_cache_bytes"]) for size in (1, bytes))
    assert part == bytes * whole
    asked = "--get", "token 1/cached_bytes", "-q", "--bytes"
    whole, part = (float(run("kv-cache", samples / "kv-cache.json", *asked, size).stdout) for size in (1, bytes))
    assert part == bytes * whole


def test_of_experts_a_token_costs_those_that_it_is_sent_to() -> None:
    few, many = (ac.complexity(experts=e, experts_top=2, training=True, activation="swiglu") for e in (4, 64))
    router = 2 * 1024 * 512 * (64 - 4)
    assert abs(few["flops"][4] + router - many["flops"][4]) < 0.1 * router
    assert many["parameters"][4] == 64 * 3 * 512 * 2048 + 512 * 64


def test_a_latent_is_all_that_is_cached() -> None:
    found = ac.complexity(model="deepseek-v3", n=1)
    assert found["kv_cache_bytes"] == 2 * 61 * (512 + 64)
