"""Make tiny checkpoints of each architecture by `transformers`, and what it computes of them in float64.

    python -m venv /tmp/outside && /tmp/outside/bin/pip install torch==2.13.0 transformers==5.18.0 safetensors
    /tmp/outside/bin/python tests/data/make_models.py [NAME…]

Weights are random, in float32. What the models compute in float32 whatever they are given is done in float64 here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers as tf

PLACE = Path(__file__).parent / "models"
IDS = [3, 1, 4, 1, 5, 9]
GENERATED = 3
SIZES: dict[str, Any] = {
    "vocab_size": 17,
    "hidden_size": 8,
    "intermediate_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "max_position_embeddings": 32,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
GROUPED = SIZES | {"num_key_value_heads": 1}
WIDE = GROUPED | {"head_dim": 6}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
YARN = {
    "rope_type": "yarn",
    "rope_theta": 150000.0,
    "factor": 32.0,
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "truncate": False,
    "original_max_position_embeddings": 16,
}
LATENT: dict[str, Any] = SIZES | {
    "kv_lora_rank": 5,
    "qk_rope_head_dim": 4,
    "qk_nope_head_dim": 3,
    "v_head_dim": 6,
    "n_routed_experts": 6,
    "moe_intermediate_size": 5,
    "num_experts_per_tok": 2,
    "first_k_dense_replace": 1,
    "rms_norm_eps": 1e-5,
}
SHARPENED = {
    "rope_type": "yarn",
    "rope_theta": 10000.0,
    "factor": 4.0,
    "original_max_position_embeddings": 8,
    "mscale": 1.0,
    "mscale_all_dim": 0.7,
}
SHORT = {"vocab_size": 17, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
WRITTEN = [0, 2, 7, 1, 8]
"""What a decoder has written of the ids, which an encoder has read; the first is what it begins with."""
T5: dict[str, Any] = {
    "vocab_size": 17,
    "d_model": 8,
    "d_kv": 3,
    "d_ff": 12,
    "num_heads": 2,
    "relative_attention_num_buckets": 8,
    "relative_attention_max_distance": 6,
    "decoder_start_token_id": 0,
}
BART: dict[str, Any] = {
    "vocab_size": 17,
    "d_model": 8,
    "encoder_layers": 1,
    "decoder_layers": 2,
    "encoder_ffn_dim": 12,
    "decoder_ffn_dim": 12,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "max_position_embeddings": 10,
    "pad_token_id": 10,
    "bos_token_id": 3,
    "eos_token_id": 2,
    "decoder_start_token_id": 0,
    "forced_eos_token_id": 2,
}
RETURNED = {
    "hidden": "decoder_hidden_states",
    "attentions": "decoder_attentions",
    "encoder_hidden": "encoder_hidden_states",
    "encoder_attentions": "encoder_attentions",
    "cross_attentions": "cross_attentions",
}
"""What is kept of an encoder and a decoder, and what it is called among what they return."""


def untied(config: Any) -> Any:
    """A T5 whose head is its own: the code ties them whatever the configuration says."""
    model = tf.T5ForConditionalGeneration(config)
    model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone())
    return model


SEEN: dict[str, Any] = {
    "hidden_size": 8,
    "intermediate_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "image_size": [4, 6],
    "patch_size": 2,
    "num_channels": 2,
}
VIT = {
    "vit.layers.": "vit.encoder.layer.",
    "attention.q_proj": "attention.attention.query",
    "attention.k_proj": "attention.attention.key",
    "attention.v_proj": "attention.attention.value",
    "attention.o_proj": "attention.output.dense",
    "mlp.fc1": "intermediate.dense",
    "mlp.fc2": "output.dense",
}
"""What is called otherwise in the code than in files."""
CLASSES = ["cat", "dog", "big dog", "mat", "hat"]
MODELS: dict[str, tuple[Any, Any]] = {
    "marian": (tf.MarianMTModel, tf.MarianConfig(**BART, activation_function="swish")),
    "bart": (tf.BartForConditionalGeneration, tf.BartConfig(**BART, scale_embedding=True)),
    "t5": (tf.T5ForConditionalGeneration, tf.T5Config(**T5, num_layers=2)),
    "t5_gated": (
        untied,
        tf.T5Config(
            **T5, num_layers=1, num_decoder_layers=2, feed_forward_proj="gated-gelu", tie_word_embeddings=False
        ),
    ),
    "gpt2": (tf.GPT2LMHeadModel, tf.GPT2Config(**SHORT, n_embd=8, n_layer=2, n_head=2, n_positions=16)),
    "llama": (tf.LlamaForCausalLM, tf.LlamaConfig(**GROUPED)),
    "llama3": (tf.LlamaForCausalLM, tf.LlamaConfig(**GROUPED, tie_word_embeddings=True, rope_parameters=LLAMA3)),
    "mistral": (tf.MistralForCausalLM, tf.MistralConfig(**GROUPED, sliding_window=3)),
    "qwen2": (tf.Qwen2ForCausalLM, tf.Qwen2Config(**GROUPED)),
    "qwen3": (tf.Qwen3ForCausalLM, tf.Qwen3Config(**WIDE)),
    "mixtral": (tf.MixtralForCausalLM, tf.MixtralConfig(**GROUPED, num_local_experts=4)),
    "qwen3_moe": (
        tf.Qwen3MoeForCausalLM,
        tf.Qwen3MoeConfig(**WIDE, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=6, norm_topk_prob=True),
    ),
    "gpt_oss": (
        tf.GptOssForCausalLM,
        tf.GptOssConfig(**WIDE, num_local_experts=4, num_experts_per_tok=2, sliding_window=3, rope_parameters=YARN),
    ),
    "deepseek_v2": (
        tf.DeepseekV2ForCausalLM,
        tf.DeepseekV2Config(
            **LATENT | {"kv_lora_rank": 6, "qk_nope_head_dim": 2},
            q_lora_rank=None,
            topk_method="group_limited_greedy",
            n_group=3,
            topk_group=1,
            n_shared_experts=2,
            routed_scaling_factor=1.5,
        ),
    ),
    "deepseek_v3": (
        tf.DeepseekV3ForCausalLM,
        tf.DeepseekV3Config(
            **LATENT, q_lora_rank=7, n_group=2, topk_group=1, num_key_value_heads=2, rope_parameters=SHARPENED
        ),
    ),
    "gemma": (tf.GemmaForCausalLM, tf.GemmaConfig(**WIDE)),
    "gemma2": (tf.Gemma2ForCausalLM, tf.Gemma2Config(**WIDE, sliding_window=3, query_pre_attn_scalar=5)),
    "gemma3": (tf.Gemma3ForCausalLM, tf.Gemma3TextConfig(**WIDE, sliding_window=3, query_pre_attn_scalar=5)),
    "phi3": (tf.Phi3ForCausalLM, tf.Phi3Config(**GROUPED)),
    "gpt_neox": (tf.GPTNeoXForCausalLM, tf.GPTNeoXConfig(**SIZES, rotary_pct=0.5)),
    "olmo2": (tf.Olmo2ForCausalLM, tf.Olmo2Config(**GROUPED)),
    "opt": (
        tf.OPTForCausalLM,
        tf.OPTConfig(
            **SHORT,
            hidden_size=8,
            ffn_dim=12,
            num_hidden_layers=2,
            num_attention_heads=2,
            max_position_embeddings=32,
            word_embed_proj_dim=8,
        ),
    ),
    "bloom": (tf.BloomForCausalLM, tf.BloomConfig(**SHORT, hidden_size=8, n_layer=2, n_head=2)),
    "mpt": (tf.MptForCausalLM, tf.MptConfig(**SHORT, d_model=8, n_layers=2, n_heads=2, max_seq_len=32)),
    "falcon": (
        tf.FalconForCausalLM,
        tf.FalconConfig(**SHORT, hidden_size=8, num_hidden_layers=2, num_attention_heads=2),
    ),
    "mamba": (
        tf.MambaForCausalLM,
        tf.MambaConfig(
            **SHORT, hidden_size=8, num_hidden_layers=2, state_size=3, conv_kernel=3, time_step_rank=2, use_bias=True
        ),
    ),
    "bert": (tf.BertForMaskedLM, tf.BertConfig(**SIZES)),
    "bert_bare": (tf.BertModel, tf.BertConfig(**SIZES)),
    "modernbert": (
        tf.ModernBertForMaskedLM,
        tf.ModernBertConfig(**SIZES, local_attention=4),
    ),
    "roberta": (tf.RobertaForMaskedLM, tf.RobertaConfig(**SIZES | {"pad_token_id": 2})),
    "distilbert": (
        tf.DistilBertForMaskedLM,
        tf.DistilBertConfig(**SHORT, dim=8, hidden_dim=12, n_layers=2, n_heads=2, max_position_embeddings=32),
    ),
    "vit": (tf.ViTForImageClassification, tf.ViTConfig(**SEEN, id2label=dict(enumerate(CLASSES)))),
    "vit_bare": (tf.ViTModel, tf.ViTConfig(**SEEN)),
}
TARGETS = {"targets": [3, 7, 4, 1, 11, 9]}
IMAGE = np.random.default_rng(7).normal(size=(2, 4, 6)).round(3).tolist()
BESIDE: dict[str, dict[str, Any]] = {
    "bert": TARGETS | {"token_types": [0, 0, 0, 1, 1, 1]},
    "bert_bare": {"token_types": [0, 0, 1, 1, 1, 1]},
    "modernbert": TARGETS,
    "roberta": TARGETS,
    "distilbert": TARGETS,
    "vit": {"image": IMAGE, "targets": [3]},
    "vit_bare": {"image": IMAGE},
}
"""What encoders are given besides the ids; they generate nothing."""
THEIRS = {"targets": "labels", "token_types": "token_type_ids", "image": "pixel_values"}


LARGER = {("gpt_oss", "gate_up_proj"): 3, ("mamba", "mixer"): 0.5}
"""How large weights are where smaller ones would hide something: what is clamped, what a state remembers."""


def made(name: str) -> None:
    """Write a checkpoint, and beside it what its model computes."""
    cls, config = MODELS[name]
    config._attn_implementation = config._experts_implementation = "eager"
    torch.manual_seed(len(name))
    model = cls(config).eval()
    with torch.no_grad():
        for key, parameter in learned(model).items():
            parameter.normal_(0, next((size for (of, part), size in LARGER.items() if name == of and part in key), 0.3))
            if ("norm" in key.lower() or "ln" in key) and key.endswith("weight") and "gemma" not in name:
                parameter.add_(0.8)
        for bias in corrections(model).values():
            bias.normal_(0, 0.3)
    model.save_pretrained(PLACE / name)
    (PLACE / name / "generation_config.json").unlink(missing_ok=True)
    fixed = dict(model.named_parameters()).keys() - learned(model)  # Marian's positions, which are not stored
    weights = {key: value.double() for key, value in model.state_dict().items() if key not in fixed}
    narrow, floats = torch.float32, torch.Tensor.float
    torch.float32 = torch.float = torch.float64
    torch.Tensor.float = torch.Tensor.double
    torch.FloatTensor = torch.DoubleTensor  # of Marian's positions
    torch.set_default_dtype(torch.float64)
    model = cls(config).eval()
    model.load_state_dict(weights, strict=not fixed)
    if config.is_encoder_decoder:
        found = translated(model)
    else:
        found = encoded(model, BESIDE[name]) if name in BESIDE else computed(model)
    found |= {f"grad {key}": np.zeros(value.shape) for key, value in corrections(model).items()}
    if name == "gpt_neox":  # its head has one name in the code and another in the file
        found["grad embed_out.weight"] = found.pop("grad lm_head.weight")
    torch.float32 = torch.float = narrow
    torch.Tensor.float = floats
    torch.set_default_dtype(narrow)
    found = {ours: part for key, value in found.items() for ours, part in stored_as(name, key, value)}
    np.savez_compressed(PLACE / f"{name}.npz", **found)


def stored_as(name: str, key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The gradients of experts, which the code holds in one array, by the names that they have in the file."""
    if key.startswith("grad vit."):
        for code, file in VIT.items():
            key = key.replace(code, file)
    mixtral = name == "mixtral"
    layer, _, what = key.partition(".mlp.")
    place = f"{layer}.{'block_sparse_moe' if mixtral else 'mlp'}"
    if name == "gpt_oss" or not key.startswith("grad ") or not (what.startswith("experts.") or what == "gate.weight"):
        yield key, value
    elif what == "gate.weight":
        yield f"{place}.gate.weight", value
    else:
        gate, up, down = ("w1", "w3", "w2") if mixtral else ("gate_proj", "up_proj", "down_proj")
        for e, matrix in enumerate(value):
            halves = {gate: matrix[: len(matrix) // 2], up: matrix[len(matrix) // 2 :]}
            for each, part in (halves if what.endswith("gate_up_proj") else {down: matrix}).items():
                yield f"{place}.experts.{e}.{each}.weight", part


def computed(model: Any) -> dict[str, Any]:
    """Logits, hidden states, weights of attention, the loss, its gradients, and the text that greedy search writes."""
    ids = torch.tensor([IDS])
    found = outputs(model, input_ids=ids, labels=ids)
    for _ in range(GENERATED):
        ids = torch.cat([ids, model(ids).logits[:, -1:].argmax(-1)], -1)
    return found | {"tokens": ids[0].numpy()}


def encoded(model: Any, beside: dict[str, Any]) -> dict[str, Any]:
    """What an encoder makes of the ids and what else it is given, and that itself."""
    theirs = {THEIRS[key]: torch.tensor([value]) for key, value in beside.items()}
    found = outputs(model, **(theirs if "image" in beside else {"input_ids": torch.tensor([IDS])} | theirs))
    return found | {f"given {key}": np.array(value) for key, value in beside.items()}


def outputs(model: Any, **given: Any) -> dict[str, Any]:
    """Logits, what is pooled, hidden states, weights of attention, and the loss with its gradients, as far as given."""
    out = model(**given, output_hidden_states=True, output_attentions=True)
    states = [*out.hidden_states]
    if "attentions" in out:
        shares = {"attentions": np.stack([shares[0].detach().numpy() for shares in out.attentions])}
    else:  # Mamba has none, and returns what comes out of each layer, where others return what goes into it
        shares, states = {}, [model.get_input_embeddings()(given["input_ids"]), *states[:-2], states[-1]]
    found = {"hidden": np.stack([state[0].detach().numpy() for state in states])} | shares
    for name, ours in {"logits": "logits", "pooler_output": "pooled"}.items():
        if out.get(name) is not None:
            found[ours] = out[name][0].detach().numpy()
    if out.get("loss") is not None:
        out.loss.backward()
        found |= {f"grad {key}": value.grad.numpy() for key, value in model.named_parameters()}
        found["loss"] = np.array(out.loss.item())
    return found


def learned(model: Any) -> dict[str, Any]:
    """What may be learned, with what is added to the logits, which is no parameter of its own accord."""
    found = {name: value for name, value in model.named_parameters() if value.requires_grad}
    return found | {name: value for name, value in model.named_buffers() if name == "final_logits_bias"}


def corrections(model: Any) -> dict[str, Any]:
    """What is added to experts' scores before they are ranked: no gradient ever reaches it."""
    return {name: value for name, value in model.named_buffers() if name.endswith("e_score_correction_bias")}


def translated(model: Any) -> dict[str, Any]:
    """The same of an encoder that reads the ids, and a decoder that goes on with what is written."""
    ids, written = torch.tensor([IDS]), torch.tensor([WRITTEN])
    labels = torch.tensor([[*WRITTEN[1:], -100]])
    asked: dict[str, Any] = {"output_hidden_states": True, "output_attentions": True, "labels": labels}
    own = learned(model)
    for value in own.values():
        value.requires_grad_()
    out = model(ids, decoder_input_ids=written, **asked)
    out.loss.backward()
    found = {f"grad {key}": value.grad.numpy() for key, value in own.items()}
    for _ in range(GENERATED):
        written = torch.cat([written, model(ids, decoder_input_ids=written).logits[:, -1:].argmax(-1)], -1)
    for ours, theirs in RETURNED.items():
        found[ours] = np.stack([each[0].detach().numpy() for each in out[theirs]])
    return found | {
        "given decoder_tokens": np.array(WRITTEN),
        "logits": out.logits[0].detach().numpy(),
        "loss": np.array(out.loss.item()),
        "tokens": written[0].numpy(),
    }


if __name__ == "__main__":
    for each in sys.argv[1:] or MODELS:
        made(each)
