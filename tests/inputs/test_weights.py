"""`--weights FILE#PREFIX`: the state dicts of frameworks, laid out again by hand here, come out as our operands."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkpoints import MODELS, NAMES, computed
from operands import stored

import attncalc as ac
from attncalc.calculations import load
from attncalc.common.errors import AttncalcError
from attncalc.common.numerals import Array
from attncalc.inputs.calls import Gathered, from_frameworks, gather
from attncalc.inputs.checkpoint_configs import tables
from attncalc.inputs.checkpoints import read_checkpoint
from attncalc.inputs.reading import Reading

D, FF, H, G = 8, 12, 4, 2
RNG = np.random.default_rng(7)
SQUARE = {name: RNG.integers(-9, 9, (D, D)).astype(float) for name in ("wq", "wk", "wv", "wo")}
GROUPED = SQUARE | {name: RNG.integers(-9, 9, (D, D * G // H)).astype(float) for name in ("wk", "wv")}
GATED = {"w1": (D, FF), "w2": (FF, D), "w3": (D, FF)}
WIDE = {name: RNG.integers(-9, 9, shape).astype(float) for name, shape in GATED.items()}
BIASES = {name: RNG.integers(-9, 9, D).astype(float) for name in ("bq", "bk", "bv", "bo", "b2")} | {"b1": np.arange(FF)}
NORMS = {name: RNG.integers(1, 9, D).astype(float) for name in ("gamma1", "beta1", "gamma2", "beta2")}
ALL = {**SQUARE, **WIDE, **BIASES, **NORMS}


def linears(**names: str) -> dict[str, Array]:
    """Modules of Linears and norms under other names: `q="attn.q_proj"` is wq, and bq where there is one."""
    found: dict[str, Array] = {}
    for ours, name in names.items():
        if ours.startswith("norm"):
            found |= {f"{name}.weight": ALL[f"gamma{ours[-1]}"], f"{name}.bias": ALL[f"beta{ours[-1]}"]}
        else:
            found |= {f"{name}.weight": ALL[f"w{ours}"].T, f"{name}.bias": ALL[f"b{ours}"]}
    return found


def rows(*arrays: Array) -> Array:
    return np.concatenate(arrays, axis=0)


def grouped(q: Array, k: Array, v: Array, groups: int) -> Array:
    """Rows of queries, keys and values, group by group, as GPT-NeoX and Falcon have them."""
    parts = [x.reshape(groups, -1, *x.shape[1:]) for x in (q, k, v)]
    return np.concatenate(parts, axis=1).reshape(-1, *q.shape[1:])


LLAMA_MLP = {f"mlp.{n}_proj.weight": WIDE[w].T for n, w in (("gate", "w1"), ("down", "w2"), ("up", "w3"))}
LLAMA_ATTENTION = {f"self_attn.{w[1]}_proj.weight": GROUPED[w].T for w in GROUPED}
GPT2 = {
    "attn.c_attn.weight": np.concatenate([SQUARE["wq"], SQUARE["wk"], SQUARE["wv"]], axis=1),
    "attn.c_attn.bias": rows(BIASES["bq"], BIASES["bk"], BIASES["bv"]),
    "attn.c_proj.weight": SQUARE["wo"],
    "attn.c_proj.bias": BIASES["bo"],
    "mlp.c_fc.weight": WIDE["w1"],
    "mlp.c_fc.bias": BIASES["b1"],
    "mlp.c_proj.weight": WIDE["w2"],
    "mlp.c_proj.bias": BIASES["b2"],
    "ln_1.weight": NORMS["gamma1"],
    "ln_1.bias": NORMS["beta1"],
    "ln_2.weight": NORMS["gamma2"],
    "ln_2.bias": NORMS["beta2"],
}
TORCH = {
    "self_attn.in_proj_weight": rows(SQUARE["wq"].T, SQUARE["wk"].T, SQUARE["wv"].T),
    "self_attn.in_proj_bias": rows(BIASES["bq"], BIASES["bk"], BIASES["bv"]),
    **linears(o="self_attn.out_proj", norm1="norm1", norm2="norm2", **{"1": "linear1", "2": "linear2"}),
}
NEOX = {
    "attention.query_key_value.weight": grouped(SQUARE["wq"].T, SQUARE["wk"].T, SQUARE["wv"].T, H),
    "attention.query_key_value.bias": grouped(BIASES["bq"], BIASES["bk"], BIASES["bv"], H),
    **linears(o="attention.dense", norm1="input_layernorm", norm2="post_attention_layernorm"),
    **linears(**{"1": "mlp.dense_h_to_4h", "2": "mlp.dense_4h_to_h"}),
}
BERT = linears(
    q="attention.self.query", k="attention.self.key", v="attention.self.value", o="attention.output.dense",
    norm1="attention.output.LayerNorm", norm2="output.LayerNorm", **{"1": "intermediate.dense", "2": "output.dense"},
)  # fmt: skip
NO_GATE = {name: value for name, value in ALL.items() if name != "w3"}

CASES: dict[str, tuple[str, Mapping[str, Array], dict[str, int], Mapping[str, Array]]] = {
    "GPT-2": ("encoder-block", GPT2, {}, NO_GATE),
    "nanoGPT, a Linear of that name": (
        "encoder-block",
        {name: value.T if value.ndim == 2 else value for name, value in GPT2.items()},
        {},
        NO_GATE,
    ),
    "torch": ("encoder-block", TORCH, {}, NO_GATE),
    "GPT-NeoX": ("encoder-block", NEOX, {"heads": H}, NO_GATE),
    "BERT": ("encoder-block", BERT, {}, NO_GATE),
    "Llama": ("encoder-block", LLAMA_MLP | LLAMA_ATTENTION, {}, GROUPED | WIDE),
    "Llama's attention": ("multihead", LLAMA_ATTENTION, {}, GROUPED),
    "T5's attention alone": ("multihead", {f"{w[1]}.weight": SQUARE[w].T for w in SQUARE}, {}, SQUARE),
    "timm's attention alone": (
        "multihead",
        {"qkv.weight": rows(*(SQUARE[w].T for w in ("wq", "wk", "wv"))), "proj.weight": SQUARE["wo"].T},
        {},
        SQUARE,
    ),
    "Falcon": (
        "multihead",
        {
            "self_attention.query_key_value.weight": grouped(GROUPED["wq"].T, GROUPED["wk"].T, GROUPED["wv"].T, G),
            "self_attention.dense.weight": GROUPED["wo"].T,
        },
        {"heads": H, "kv_heads": G},
        GROUPED,
    ),
    "Phi-3": (
        "encoder-block",
        {
            "self_attn.qkv_proj.weight": rows(GROUPED["wq"].T, GROUPED["wk"].T, GROUPED["wv"].T),
            "self_attn.o_proj.weight": GROUPED["wo"].T,
            "mlp.gate_up_proj.weight": rows(WIDE["w1"].T, WIDE["w3"].T),
            "mlp.down_proj.weight": WIDE["w2"].T,
        },
        {},
        GROUPED | WIDE,
    ),
    "Meta's Llama": (
        "encoder-block",
        {f"attention.{name}.weight": value.T for name, value in GROUPED.items()}
        | {f"feed_forward.{name}.weight": value.T for name, value in WIDE.items()},
        {},
        GROUPED | WIDE,
    ),
    "ours": ("encoder-block", NO_GATE, {}, NO_GATE),
    "BERT's attention alone": (
        "multihead",
        linears(q="self.query", k="self.key", v="self.value", o="output.dense"),
        {},
        {name: value for name, value in ALL.items() if name[0] in "wb" and name[1] in "qkvo"},
    ),
    "a feed-forward network of GPT-2": ("ffn", GPT2, {}, {n: ALL[n] for n in ("w1", "w2", "b1", "b2")}),
    "MultiheadAttention": (
        "multihead",
        {name.removeprefix("self_attn."): value for name, value in TORCH.items() if "self_attn" in name},
        {},
        SQUARE | {name: BIASES[name] for name in ("bq", "bk", "bv", "bo")},
    ),
}  # fmt: skip


def called(name: str, word: str, options: Mapping[str, Any] = {}, **named: str) -> Gathered:
    return gather(load(name), [], {"x": "1,2,3,4,5,6,7,8", "weights": word, **named}, options, Reading())


@pytest.mark.thorough
@pytest.mark.parametrize("case", CASES)
def test_weights_by_the_names_of_frameworks(folder: Path, case: str) -> None:
    calculation, arrays, options, due = CASES[case]
    prefix = "model.layers.0"
    below = {f"{prefix}.{name}": value for name, value in arrays.items()}
    stored(folder / "m.safetensors", below | {"model.layers.1.x": [1], "model.layers.01.wq": [[1]]})
    found = called(calculation, f"m.safetensors#{prefix}", options)
    values = {name: given.value.tolist() for name, given in found.inputs.items() if name != "x"}
    assert values == {name: np.asarray(value, float).tolist() for name, value in due.items()}
    assert ("is not used" in str(found.notes) or "are not used" in str(found.notes)) == (calculation == "ffn")


@pytest.mark.parametrize("case", CASES)
def test_a_state_dict_gives_the_same_from_python(case: str) -> None:
    calculation, arrays, options, due = CASES[case]
    given = {name: np.asarray(value, np.float32) for name, value in arrays.items()}
    found = from_frameworks(load(calculation), given, options, D)
    assert {name: g.value.tolist() for name, g in found.inputs.items()} == {
        name: np.asarray(value, float).tolist() for name, value in due.items()
    }


class Tensor:
    """An array of another library: NumPy sees it by its protocol alone."""

    def __init__(self, value: Array) -> None:
        self.value = value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.value, dtype)


def test_weights_from_python_by_any_names(folder: Path) -> None:
    x = RNG.integers(-3, 3, (5, D))
    wanted = ac.multihead(x, heads=H, weights=SQUARE).result
    torch = {f"{name[1]}_proj.weight": Tensor(value.T) for name, value in SQUARE.items()}
    found = ac.multihead(x, heads=H, weights=torch)
    np.testing.assert_array_equal(found.result, wanted)
    assert "weights: wq, wk, wv and wo are stored [out, in], and are turned, as a Linear of that name is" in found.notes
    stored(folder / "m.safetensors", {f"h.0.{name}": value.value for name, value in torch.items()})
    np.testing.assert_array_equal(ac.multihead(x, heads=H, weights="m.safetensors#h.0").result, wanted)
    with pytest.raises(AttncalcError, match="multihead has no operand or option 'wqq'"):
        ac.multihead(x, heads=H, weights={"wqq": x})
    stored(folder / "n.safetensors", {name: value.value for name, value in torch.items()})
    np.testing.assert_array_equal(ac.multihead(x, heads=H, weights=folder / "n.safetensors").result, wanted)
    others: tuple[Any, ...] = (object(), 3, [x])
    for other in others:
        with pytest.raises(AttncalcError, match=r"weights is .*, and no mapping, nor a file") as refused:
            ac.multihead(x, heads=H, weights=other)
        assert refused.value.hint == "of a module of torch's they are its state_dict()"


def test_what_was_taken_is_written_as_one_would_pick_it(folder: Path) -> None:
    stored(folder / "m.safetensors", {f"h.0.{name}": value for name, value in GPT2.items()})
    found = called("multihead", "m.safetensors#h.0")
    assert found.inputs["wk"].source == "m.safetensors#h.0.attn.c_attn.weight[:, 8:16]"
    said = "m.safetensors: wq, wk, wv and wo are stored [in, out], and are taken so, as shapes tell"
    rest = ", ".join(f'"h.0.{name}"' for name in GPT2 if not name.startswith("attn"))
    assert found.notes == (said, f"m.safetensors: {rest} are not used: multihead has no such operand")
    stored(folder / "t.safetensors", TORCH)
    found = called("encoder-block", "t.safetensors")
    assert found.inputs["wk"].source == "t.safetensors#self_attn.in_proj_weight[8:16].T"
    own = called("encoder-block", "t.safetensors", bo="t.safetensors#norm1.bias")
    assert own.inputs["bo"].value.tolist() == NORMS["beta1"].tolist()


def test_buffers_called_bias_are_no_operands(folder: Path) -> None:
    stored(folder / "m.safetensors", {f"h.{name}": v for name, v in GPT2.items()} | {"h.attn.bias": np.ones((4, 4))})
    found = called("multihead", "m.safetensors#h.attn")
    assert "bias" not in found.inputs
    assert '"h.attn.bias" is not used' in found.notes[1]


BLOCKS = ("gemma2", "gemma3", "llama", "olmo2", "qwen3")
"""Checkpoints whose layers are blocks with the options of the model, but for the base of turns of some layers."""


@pytest.mark.parametrize("model", BLOCKS)
def test_norms_before_and_behind_each_part_are_told_apart(model: str) -> None:
    t = computed(model)
    own: dict[str, Any] = {k: v for k, v in t.options.items() if k in signature(ac.decoder_only).parameters}
    own |= {"rope_base": t.options["local_rope_base"]} if t.options.get("local_rope_base") else {}
    block = ac.decoder_only(t["embedding/output"], weights=f"{MODELS / model}#model.layers.0", **own)
    assert np.allclose(block.result, t["layer 0/residual2"], rtol=1e-12)
    assert not any("not used" in note for note in block.notes)


def test_a_prefix_that_nothing_lies_below_is_told(folder: Path) -> None:
    stored(folder / "m.safetensors", {f"transformer.h.0.{name}": value for name, value in GPT2.items()})
    for prefix, hint in {"h.0": "m.safetensors#transformer.h.0", "transformer.h.1": "transformer.h.0"}.items():
        with pytest.raises(AttncalcError) as caught:
            called("multihead", f"m.safetensors#{prefix}")
        assert caught.value.message == f'm.safetensors holds nothing below "{prefix}"'
        assert hint in caught.value.hint


FAULTS: dict[str, tuple[Mapping[str, Array], dict[str, int], str]] = {
    "two layers": (
        {f"h.{i}.{name}": value for i in range(2) for name, value in LLAMA_ATTENTION.items()},
        {},
        'm.safetensors: both "h.0.self_attn.q_proj.weight" and "h.1.self_attn.q_proj.weight" may be wq',
    ),
    "heads that nobody tells": (
        NEOX,
        {},
        "attention.query_key_value.weight holds queries, keys and values head by head, and nothing says how many heads",
    ),
    "other heads": (
        NEOX,
        {"heads": 5},
        "m.safetensors#attention.query_key_value.weight has 24 places in axis 0, which are not 15 of one size",
    ),
    "an odd size": (
        {"attn.c_attn.weight": np.ones((D, 20))},
        {},
        "attn.c_attn.weight (8 × 20) is not q, k and v one behind the other, by its size",
    ),
    "no weights": ({"a.b": np.ones(3)}, {}, '--weights "m.safetensors" is no file that holds operands of'),
}  # fmt: skip


@pytest.mark.parametrize("case", FAULTS)
def test_weights_that_cannot_be_taken(folder: Path, case: str) -> None:
    arrays, options, message = FAULTS[case]
    stored(folder / "m.safetensors", arrays)
    with pytest.raises(AttncalcError) as caught:
        called("multihead", "m.safetensors", options)
    assert caught.value.message.startswith(message)
    if case == "two layers":
        assert caught.value.hint == "name one layer: --weights m.safetensors#h.0"


OTHERS = {"bart", "marian", "t5", "t5_gated", "mamba", "deepseek_v2", "deepseek_v3", "mixtral", "qwen3_moe", "gpt_oss"}
"""Checkpoints whose layers have experts, a latent or a state, or stand in two stacks."""


@pytest.mark.thorough
@pytest.mark.spread(4)
@pytest.mark.parametrize("name", [name for name in NAMES if name not in OTHERS and "bare" not in name])
def test_a_layer_of_every_architecture_is_taken_by_its_prefix(name: str) -> None:
    """Norms of Falcon and MPT were passed over, and ModernBERT's network was not found."""
    held, t = read_checkpoint(str(MODELS / name), Reading()), computed(name)
    table, options = tables()[held.architecture], dict(held.options)
    kind = "encoder_block" if options.get("no_causal") else "decoder_only"
    known = {option.name for option in load(kind.replace("_", "-")).options} | {"bias"}
    given = {"norm_at": "pre"} | {key: value for key, value in options.items() if key in known}
    if 1 not in (options.get("window_layers") or (1,)):
        given.pop("window")
    elif "local_rope_base" in options:
        given["rope_base"] = options["local_rope_base"]
    prefix = (table["prefix"] + table["layer"]["prefix"]).replace("{i}", "1").rstrip(".")
    found = getattr(ac, kind)(t["hidden"][1], weights=f"{MODELS / name / 'model.safetensors'}#{prefix}", **given)
    out = "layer 1/norm2/output" if given["norm_at"] == "post" else "layer 1/residual2"
    np.testing.assert_allclose(found.result, t[out], rtol=0, atol=1e-12)
    assert not [note for note in found.notes if "not used" in note]
