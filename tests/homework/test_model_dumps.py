"""Dumps of ports with a fault, by the names of frameworks: the layer and the step are told, and the mistake named."""

from __future__ import annotations

import json
import shutil
import struct
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from checkpoints import IDS, MODELS, NAMES, computed, reference

import attncalc as ac
from attncalc.common.errors import InputError
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.marking.marker import Marker
from attncalc.homework.reading.sheets import from_python
from attncalc.solve.problem import problem_of

FIRST = "embedding/norm/output"
UNTURNED = {"rope": False, "rope_layout": "interleaved", "rope_base": 10000, "rope_dims": None}
SCORES, FFN = "layer 0/attention/weights", "layer 0/residual2"
READ, NEXT = "encoder/layer 0/attention/weights", "encoder/layer 1/attention/weights"


class Fault(NamedTuple):
    """What a port does otherwise, where that shows first among what models return, and what it is called."""

    name: str
    options: dict[str, Any]
    at: str
    models: str


GATED = "gemma gemma2 gemma3 llama mistral phi3 qwen2 qwen3"
ENCODERS = "bert bert_bare roberta distilbert"
SEEING = "vit vit_bare"
TURNED = "falcon gemma gemma2 gemma3 gpt_neox llama llama3 mistral phi3 qwen2 qwen3"
FAULTS = (
    Fault("rope-missing", UNTURNED, SCORES, "mixtral falcon gemma gemma2 llama mistral phi3 qwen2 qwen3"),
    Fault(
        "rope-half-split", {"rope_layout": "interleaved"}, SCORES, "falcon gemma gemma2 gemma3 llama phi3 qwen2 qwen3"
    ),
    Fault("rope-wrong-base", {"rope_base": 1000000.0}, SCORES, "falcon gemma gemma2 llama mistral phi3 qwen2 qwen3"),
    Fault("att-no-scale", {"scale": "none"}, SCORES, f"{TURNED} bloom gpt2 mpt opt {ENCODERS}"),
    Fault("mask-added", {"no_causal": False}, SCORES, ENCODERS),
    Fault("ln-wrong-eps", {"eps": 1e-3}, FIRST, ENCODERS),
    Fault("block-pre-for-post", {"norm_at": "pre"}, SCORES, ENCODERS),
    Fault("gelu-tanh", {"activation": "gelu-tanh"}, "layer 0/norm2/output", ENCODERS),
    Fault("att-no-scale", {"scale": "none"}, SCORES, SEEING),
    Fault("mask-added", {"no_causal": False}, SCORES, SEEING),
    Fault("ln-wrong-eps", {"eps": 1e-3}, SCORES, SEEING),
    Fault("block-pre-for-post", {"norm_at": "post"}, SCORES, SEEING),
    Fault("gelu-tanh", {"activation": "gelu-tanh"}, FFN, SEEING),
    Fault("emb-types-all-first", {"token_types": None}, FIRST, "bert bert_bare"),
    Fault(
        "mask-missing", {"no_causal": True}, SCORES, "bloom falcon gemma gpt2 gpt_neox llama mpt opt phi3 qwen2 qwen3"
    ),
    Fault("ln-wrong-eps", {"eps": 1e-3}, SCORES, f"{TURNED} gpt2 mpt opt"),
    Fault("norm-layer-for-rms", {"norm": "layer"}, SCORES, GATED),
    Fault("norm-plus-one-missing", {"norm_offset": 0}, SCORES, "gemma gemma2 gemma3"),
    Fault("window-missing", {"window": None}, SCORES, "gemma2 gemma3 mistral"),
    Fault("window-off-by-one", {"window": 4}, SCORES, "gemma2 gemma3 mistral"),
    Fault("experts-not-renormalised", {"experts_no_renormalise": True}, FFN, "mixtral qwen3_moe"),
    Fault("softcap-missing", {"softcap": None}, SCORES, "gemma2"),
    Fault("softcap-missing", {"final_softcap": None}, "logits", "gemma2"),
    Fault("scale-embedding-missing", {"scale_embedding": False}, "embedding/output", "gemma gemma2 gemma3"),
    Fault("block-not-parallel", {"parallel": False}, FFN, "falcon gpt_neox"),
    Fault("gelu-silu", {"activation": "geglu"}, FFN, "llama mistral phi3 qwen2 qwen3"),
    Fault("gelu-tanh", {"activation": "geglu"}, FFN, "gemma gemma2 gemma3"),
    Fault("gelu-tanh", {"activation": "gelu"}, FFN, "bloom gpt2"),
    Fault("t5-scaled", {"scale": "default"}, READ, "t5 t5_gated"),
    Fault("ln-wrong-eps", {"eps": 1e-3}, READ, "t5 t5_gated bart"),
    Fault("att-no-scale", {"scale": "none"}, READ, "bart marian"),
    Fault("pe-concat", {"positions": "sinusoidal"}, READ, "marian"),
    Fault("gelu-silu", {"activation": "gelu"}, "memory", "marian"),
    Fault("mask-missing", {"no_causal": True}, "decoder/layer 0/attention/weights", "bart marian"),
    Fault("scale-embedding-missing", {"scale_embedding": False}, READ, "bart"),
    Fault("block-pre-for-post", {"norm_at": "pre"}, READ, "bart marian"),
    Fault("gelu-tanh", {"activation": "gelu-tanh"}, "memory", "bart"),
    Fault("norm-layer-for-rms", {"norm": "layer"}, READ, "t5 t5_gated"),
    Fault("block-pre-for-post", {"norm_at": "post"}, READ, "t5 t5_gated"),
    Fault("gelu-relu", {"activation": "gelu"}, NEXT, "t5"),
    Fault("gelu-tanh", {"activation": "geglu"}, "memory", "t5_gated"),
    Fault("scale-logits-swapped", {"scale_logits": False}, "logits", "t5"),
    Fault("scale-logits-swapped", {"scale_logits": True}, "logits", "t5_gated"),
)
RETURNED = {"logits": "logits", "pooled": "pooler_output"}
"""What we call what an original returns."""
PLANTED = [(fault, model) for fault in FAULTS for model in fault.models.split()]


@cache
def marker_of(model: str) -> Marker:
    """What marks the dumps of a model."""
    return Marker(Key(problem_of(computed(model))))


def returned(t: ac.Trace) -> dict[str, Any]:
    """What a model of a framework returns, with a batch of one."""
    two = "memory" in [made.name for made in t.outputs]
    of, side = ("decoder_", "decoder/") if two else ("", "")
    found = {f"{of}hidden_states.{i}": state for i, state in enumerate(t["hidden"])}
    if "image" in t.inputs:  # the norm is behind the states that ViT returns
        found[f"hidden_states.{len(found) - 1}"] = t[f"layer {len(found) - 2}/residual2"]
    found |= {"logits": t["logits"]} if "logits" in t else {}
    found |= {"encoder_last_hidden_state": t["memory"]} if two else {}
    named = {f"{side}layer": f"{of}attentions", "encoder/layer": "encoder_attentions"}
    for step in t.steps:
        stack, _, rest = step.group.partition("layer ")
        layer, _, attention = rest.partition("/")
        if step.name == "weights" and attention:
            name = named[f"{stack}layer"] if attention == "attention" else "cross_attentions"
            found[f"{name}.{layer}"] = t[step.key]
    return {name: value[None] for name, value in found.items()}


@pytest.mark.spread(21)
@pytest.mark.parametrize(("fault", "model"), PLANTED, ids=[f"{f.name}-{model}" for f, model in PLANTED])
def test_a_fault_is_named_and_placed(fault: Fault, model: str) -> None:
    dump = returned(computed(model, dtype="float32", **fault.options))
    marked = marker_of(model).mark(from_python(dump))
    step = next(step for step in marked.steps if step.mistake)
    assert (marked.first_wrong, step.name, step.mistake) == (fault.at, fault.at, fault.name)


def rewritten(folder: Path, model: str, change: Any) -> Path:
    """A copy of a checkpoint whose tensors are other ones."""
    copy = folder / model
    shutil.copytree(MODELS / model, copy)
    data = (copy / "model.safetensors").read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        tensors[name] = np.frombuffer(data[begin:end], np.float32).reshape(entry["shape"])
    body, told = b"", {}
    for name, value in change(tensors).items():
        raw = np.ascontiguousarray(value, np.float32).tobytes()
        told[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [len(body), len(body) + len(raw)]}
        body += raw
    text = json.dumps(told).encode()
    (copy / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + body)
    return copy


def test_weights_of_the_next_layer_are_told(tmp_path: Path) -> None:
    def turned(tensors: dict[str, Any]) -> dict[str, Any]:
        return {
            name: tensors[name.replace("layers.0", "L").replace("layers.1", "layers.0").replace("L", "layers.1")]
            for name in tensors
        }

    port = ac.load(rewritten(tmp_path, "llama", turned))
    marked = ac.load(MODELS / "llama")(IDS).check(returned(port(IDS)))
    assert marked.first_wrong == SCORES
    assert marked[SCORES].mistake == "weights-of-another-layer"


def test_embeddings_in_place_of_the_head_are_told(tmp_path: Path) -> None:
    def tied(tensors: dict[str, Any]) -> dict[str, Any]:
        return tensors | {"lm_head.weight": tensors["model.embed_tokens.weight"]}

    port = ac.load(rewritten(tmp_path, "qwen2", tied))
    marked = ac.load(MODELS / "qwen2")(IDS).check(returned(port(IDS)))
    assert marked.first_wrong == "logits"
    assert marked["logits"].mistake == "untied-head"


def test_modules_are_known_by_their_names() -> None:
    t = ac.load(MODELS / "llama")(IDS)
    hooked = {
        "model.embed_tokens": t["embedding/output"],
        "model.layers.1.input_layernorm": t["layer 1/norm1/output"],
        "model.layers.1.self_attn.q_proj": t["layer 1/attention/q"],
        "model.layers.1.self_attn": t["layer 1/attention/output"],
        "model.layers.1.mlp.gate_proj": t["layer 1/feed-forward/hidden"],
        "model.layers.1.mlp": t["layer 1/feed-forward/output"],
        "model.layers.1": t["layer 1/residual2"],
        "model.norm": t["final norm/output"],
        "lm_head": t["logits"],
        "model.layers.1.mlp.act_fn": t["layer 1/feed-forward/activated"],
    }
    marked = t.check({name: value[None] for name, value in hooked.items()})
    assert marked
    assert len(marked.steps) == len(hooked) - 1
    assert "act_fn" in marked.notes[0]


def test_modules_of_a_decoder_are_known_by_their_names() -> None:
    t = computed("t5_gated")
    hooked = {
        "encoder.embed_tokens": t["encoder/embedding/embeddings"],
        "decoder.embed_tokens": t["decoder/embedding/embeddings"],
        "encoder.block.0.layer.0.SelfAttention.q": t["encoder/layer 0/attention/q"],
        "encoder.block.0": t["encoder/layer 0/residual2"],
        "encoder.final_layer_norm": t["memory"],
        "decoder.block.1.layer.0.layer_norm": t["decoder/layer 1/norm1/output"],
        "decoder.block.1.layer.1": t["decoder/layer 1/residual2"],
        "decoder.block.1.layer.1.EncDecAttention": t["decoder/layer 1/cross-attention/output"],
        "decoder.block.1.layer.1.EncDecAttention.k": t["decoder/layer 1/cross-attention/k"],
        "decoder.block.1.layer.2.DenseReluDense.wi_1": t["decoder/layer 1/feed-forward/linear"],
        "decoder.block.1": t["decoder/layer 1/residual3"],
        "lm_head": t["logits"],
    }
    marked = t.check({name: value[None] for name, value in hooked.items()})
    assert marked
    assert len(marked.steps) == len(hooked)


def test_modules_of_an_encoder_are_known_by_their_names() -> None:
    t = computed("bert")
    layer = "bert.encoder.layer.0"
    hooked = {
        "bert.embeddings.word_embeddings": t["embedding/embeddings"],
        "bert.embeddings.token_type_embeddings": t["embedding/types"],
        "bert.embeddings": t["embedding/norm/output"],
        f"{layer}.attention.self.query": t["layer 0/attention/q"],
        f"{layer}.attention.self": t["layer 0/attention/concatenated"],
        f"{layer}.attention.output.dense": t["layer 0/attention/output"],
        f"{layer}.attention": t["layer 0/norm1/output"],
        f"{layer}.intermediate.dense": t["layer 0/feed-forward/hidden"],
        f"{layer}.intermediate": t["layer 0/feed-forward/activated"],
        f"{layer}.output.dense": t["layer 0/feed-forward/output"],
        layer: t["layer 0/norm2/output"],
        "last_hidden_state": t["layer 1/norm2/output"],
        "cls.predictions.transform.dense": t["logits/hidden"],
        "cls.predictions.transform": t["logits/norm/output"],
        "cls": t["logits"],
    }
    marked = t.check({name: value[None] for name, value in hooked.items()})
    assert marked
    assert len(marked.steps) == len(hooked)


def test_modules_of_a_layer_that_ends_in_a_norm_are_known_by_their_names() -> None:
    t = computed("bart")
    hooked = {
        "model.encoder.layernorm_embedding": t["encoder/embedding/norm/output"],
        "model.encoder.layers.0": t["encoder/layer 0/norm2/output"],
        "model.decoder.layers.1.self_attn.out_proj": t["decoder/layer 1/attention/output"],
        "model.decoder.layers.1.encoder_attn": t["decoder/layer 1/cross-attention/output"],
        "model.decoder.layers.1.encoder_attn_layer_norm": t["decoder/layer 1/norm2/output"],
        "model.decoder.layers.1.fc1": t["decoder/layer 1/feed-forward/hidden"],
        "model.decoder.layers.1": t["decoder/layer 1/norm3/output"],
        "decoder_hidden_states.2": t["hidden"][2],
    }
    marked = t.check({name: value[None] for name, value in hooked.items()})
    assert marked
    assert len(marked.steps) == len(hooked) - 1  # a layer is told twice
    with pytest.raises(InputError, match="no step"):  # the bias of the logits is added behind it
        t.check({"lm_head": t["logits"]})


def test_a_fault_of_a_decoders_layer_is_named() -> None:
    t = computed("t5")
    scores = t["decoder/layer 1/attention/biased"]
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    shares /= shares.sum(-1, keepdims=True)
    dump = {"decoder_hidden_states.1": t["hidden"][1], "decoder_attentions.1": shares}
    marked = marker_of("t5").mark(from_python(dump))
    assert (marked.first_wrong, marked.steps[1].mistake) == ("decoder/layer 1/attention/weights", "mask-missing")


def test_modules_are_known_by_their_names_in_files_and_in_code() -> None:
    t = computed("vit")
    files, code = "vit.encoder.layer.1", "vit.layers.1"
    hooked = {
        "vit.embeddings.patch_embeddings": t["embedding/embedded"],
        "vit.embeddings": t["embedding/output"],
        f"{files}.layernorm_before": t["layer 1/norm1/output"],
        f"{files}.attention.attention.query": t["layer 1/attention/q"],
        f"{code}.attention.k_proj": t["layer 1/attention/k"],
        f"{files}.attention.attention": t["layer 1/attention/concatenated"],
        f"{code}.attention": t["layer 1/attention/output"],
        f"{code}.mlp.fc1": t["layer 1/feed-forward/hidden"],
        f"{files}.intermediate": t["layer 1/feed-forward/activated"],
        f"{code}.mlp": t["layer 1/feed-forward/output"],
        code: t["layer 1/residual2"],
        "vit.layernorm": t["final norm/output"],
        "classifier": t["logits"],
    }
    marked = t.check({name: value[None] for name, value in hooked.items()})
    assert marked
    assert len(marked.steps) == len(hooked)


def test_a_head_without_its_layer_is_told() -> None:
    t = computed("distilbert")
    W, b = (t.inputs[name].value for name in ("embedding/table", "logits/bias"))
    marked = t.check({"logits": t["hidden"][-1] @ W.T + b})
    assert marked["logits"].mistake == "head-layer-missing"


@pytest.mark.thorough
def test_the_originals_are_right() -> None:
    for name in NAMES:
        if name != "bloom":  # its GELU has √(2/π) in eight digits
            held = reference(name)
            of = "decoder_" if "encoder_hidden" in held else ""
            dump = {theirs: held[key] for key, theirs in RETURNED.items() if key in held}
            dump |= {f"{of}hidden_states.{i}": h for i, h in enumerate(held["hidden"])}
            dump |= {f"encoder_hidden_states.{i}": h for i, h in enumerate(held["encoder_hidden"] if of else ())}
            dump |= {f"cross_attentions.{i}": h for i, h in enumerate(held["cross_attentions"] if of else ())}
            assert computed(name).check(dump), name
