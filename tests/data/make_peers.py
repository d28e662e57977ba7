"""Makes peers.json: what PyTorch and Hugging Face transformers give for small inputs, as witnesses for the tests.

    python -m venv /tmp/peers && /tmp/peers/bin/pip install torch==2.13.0 transformers==5.23.0
    /tmp/peers/bin/python tests/data/make_peers.py

Neither is needed to run the tests. Everything that torch computes is in float64; transformers computes frequencies in
float32.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import nn
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.bloom.modeling_bloom import _get_alibi_slopes
from transformers.models.gptj.modeling_gptj import apply_rotary_pos_emb as rotate_interleaved
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb as rotate_half
from transformers.models.t5.modeling_t5 import T5Attention

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)


def numbers(*shape: int) -> torch.Tensor:
    """Random numbers with two decimals."""
    return (torch.randn(*shape) * 100).round() / 100


def lists(value: Any) -> Any:
    """Tensors as nested lists, turned where PyTorch stores [out, in]."""
    if isinstance(value, dict):
        return {key: lists(item) for key, item in value.items()}
    return value.tolist() if isinstance(value, torch.Tensor) else value


def norms() -> dict[str, Any]:
    x = torch.tensor([[1.0, 2, 3, 4], [2, 0, 1, 7]])
    gamma, beta, eps = torch.tensor([1.5, 0.5, 2, 1]), torch.tensor([0.1, -0.2, 0.3, 0]), 0.1
    return {
        "x": x,
        "gamma": gamma,
        "beta": beta,
        "eps": eps,
        "layernorm": nn.functional.layer_norm(x, (4,), gamma, beta, eps),
        "rmsnorm": nn.functional.rms_norm(x, (4,), gamma, eps),
        "batchnorm": nn.functional.batch_norm(x, None, None, gamma, beta, training=True, eps=eps),
    }


def activations() -> dict[str, Any]:
    f = nn.functional
    functions = {
        "relu": f.relu,
        "leaky-relu": f.leaky_relu,
        "elu": f.elu,
        "sigmoid": torch.sigmoid,
        "tanh": torch.tanh,
        "gelu": f.gelu,
        "gelu-tanh": lambda x: f.gelu(x, approximate="tanh"),
        "silu": f.silu,
        "softplus": lambda x: f.softplus(x, threshold=100),  # beyond its threshold PyTorch gives x itself
    }
    points = torch.tensor([-8.0, -2.2, -1, -0.5, 0, 0.5, 1, 1.5, 3, 8], requires_grad=True)
    found = {}
    for name, function in functions.items():
        value = function(points)
        found[name] = {"value": value.detach(), "derivative": torch.autograd.grad(value.sum(), points)[0]}
    return {"x": points.detach(), "kinds": found}


def networks() -> dict[str, Any]:
    found = {}
    for kind, make in (("tanh", nn.RNN), ("gru", nn.GRU), ("lstm", nn.LSTM)):
        layer = make(2, 3)
        gates = {"tanh": 1, "gru": 3, "lstm": 4}[kind]
        x, h0, c0 = numbers(4, 2), numbers(1, 3), numbers(1, 3)
        given = {"wx": numbers(2, gates * 3), "wh": numbers(3, gates * 3), "b": numbers(gates * 3)}
        with torch.no_grad():
            layer.weight_ih_l0.copy_(given["wx"].T)
            layer.weight_hh_l0.copy_(given["wh"].T)
            layer.bias_ih_l0.copy_(given["b"])
            layer.bias_hh_l0.zero_()
        states, last = layer(x, (h0, c0) if kind == "lstm" else h0)
        given |= {"x": x, "h0": h0[0]} | ({"c0": c0[0]} if kind == "lstm" else {})
        found[kind] = {"inputs": given, "states": states.detach()}
        if kind == "lstm":
            found[kind]["cell"] = last[1][0].detach()
    return found


def convolutions() -> list[dict[str, Any]]:
    found = []
    for stride, padding, dilation in ((1, 0, 1), (2, 1, 1), (1, 2, 2)):
        moves = {"stride": stride, "padding": padding, "dilation": dilation}
        row, kernel = numbers(7), numbers(3)
        value = nn.functional.conv1d(row[None, None], kernel[None, None], **moves)[0, 0]
        found.append({"x": row, "kernel": kernel, **moves, "output": value})
        picture, kernel = numbers(2, 5, 6), numbers(3, 2, 2, 3)
        value = nn.functional.conv2d(picture[None], kernel, **moves)[0]
        found.append({"x": picture, "kernel": kernel, **moves, "output": value})
    return found


def blocks() -> dict[str, Any]:
    d, heads, wide = 4, 2, 6
    x, memory = numbers(3, d), numbers(5, d)
    found: dict[str, Any] = {"x": x, "memory": memory, "heads": heads}
    for norm in ("post", "pre"):
        options = {
            "nhead": heads,
            "dim_feedforward": wide,
            "dropout": 0.0,
            "batch_first": True,
            "norm_first": norm == "pre",
        }
        encoder = filled(nn.TransformerEncoderLayer(d, **options))
        decoder = filled(nn.TransformerDecoderLayer(d, **options))
        mask = nn.Transformer.generate_square_subsequent_mask(3, dtype=torch.float64)
        found[norm] = {
            "encoder": {"weights": weights(encoder), "output": encoder(x[None])[0].detach()},
            "decoder": {
                "weights": weights(decoder),
                "output": decoder(x[None], memory[None], tgt_mask=mask, tgt_is_causal=True)[0].detach(),
            },
        }
    return found


def filled(layer: nn.Module) -> nn.Module:
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(numbers(*parameter.shape))
    return layer.train()  # in eval mode PyTorch takes a fused path; without dropout both are the same


def weights(layer: Any) -> dict[str, Any]:
    """A layer's parameters by our names, matrices as [in, out]."""
    found: dict[str, Any] = {}
    attentions = {"": layer.self_attn} | ({"cross_": layer.multihead_attn} if hasattr(layer, "multihead_attn") else {})
    for prefix, attention in attentions.items():
        for letter, w, b in zip("qkv", attention.in_proj_weight.chunk(3), attention.in_proj_bias.chunk(3), strict=True):
            found |= {f"{prefix}w{letter}": w.T.detach(), f"{prefix}b{letter}": b.detach()}
        found |= {f"{prefix}wo": attention.out_proj.weight.T.detach(), f"{prefix}bo": attention.out_proj.bias.detach()}
    found |= {"w1": layer.linear1.weight.T.detach(), "b1": layer.linear1.bias.detach()}
    found |= {"w2": layer.linear2.weight.T.detach(), "b2": layer.linear2.bias.detach()}
    for i, norm in enumerate(m for m in layer.children() if isinstance(m, nn.LayerNorm)):
        found |= {f"gamma{i + 1}": norm.weight.detach(), f"beta{i + 1}": norm.bias.detach()}
    return found


SCALINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "linear": {"factor": 4.0},
    "dynamic": {"factor": 4.0},
    "yarn": {"factor": 4.0, "original_max_position_embeddings": 2048},
    "yarn, as it stands": {"factor": 40.0, "original_max_position_embeddings": 4096, "truncate": False},
    "yarn, DeepSeek": {
        "factor": 40.0, "original_max_position_embeddings": 4096, "beta_fast": 32, "beta_slow": 1,
        "mscale": 1.0, "mscale_all_dim": 0.707,
    },
    "longrope": {
        "factor": 32.0, "original_max_position_embeddings": 4096,
        "short_factor": [1.0, 1.1, 1.2, 1.3, 1.5, 2.0, 2.5, 3.0],
        "long_factor": [1.0, 1.5, 2.5, 5.0, 10.0, 20.0, 40.0, 60.0],
    },
    "llama3": {
        "factor": 8.0, "original_max_position_embeddings": 8192, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    },
}  # fmt: skip


def ropes() -> dict[str, Any]:
    found = {}
    torch.set_default_dtype(torch.float32)
    for name, scaling in SCALINGS.items():
        kind = name.partition(",")[0]
        base = 500000.0 if kind == "llama3" else 10000.0
        for length in (1000, 8192) if kind in ("dynamic", "longrope") else (None,):
            config = LlamaConfig(
                hidden_size=16, num_attention_heads=1, max_position_embeddings=2048,
                rope_parameters={"rope_type": kind, "rope_theta": base, **scaling},
            )  # fmt: skip
            if kind == "default":
                frequencies, factor = 1 / base ** (torch.arange(0, 16, 2) / 16), 1.0
            else:
                frequencies, factor = ROPE_INIT_FUNCTIONS[kind](config, "cpu", seq_len=length)
            label = name if length is None else f"{name}, length {length}"
            found[label] = {
                "base": base, "scaling": scaling, "length": length, "frequencies": frequencies,
                "attention_factor": factor,
            }  # fmt: skip
    torch.set_default_dtype(torch.float64)
    return found


def rotations() -> dict[str, Any]:
    x = numbers(1, 1, 3, 8)
    angles = torch.arange(3)[:, None] * 10000.0 ** (-torch.arange(0, 8, 2) / 8)
    twice = torch.cat([angles, angles], -1)[None]
    half = rotate_half(x, x, twice.cos(), twice.sin())[0][0, 0]
    neighbours = rotate_interleaved(x.transpose(1, 2), angles.sin()[None], angles.cos()[None])
    return {"x": x[0, 0], "half": half, "interleaved": neighbours.transpose(1, 2)[0, 0]}


def buckets() -> list[dict[str, Any]]:
    settings = [(32, 128, False), (32, 128, True), (16, 64, False), (8, 20, True), (64, 256, False)]
    relative = torch.arange(-300, 301)
    return [
        {
            "buckets": count,
            "max_distance": farthest,
            "causal": causal,
            "values": T5Attention._relative_position_bucket(relative, not causal, count, farthest),
        }
        for count, farthest, causal in settings
    ]


def main() -> None:
    """Write everything beside this file."""
    made = {
        "made_with": {"torch": torch.__version__, "transformers": transformers.__version__},
        "norms": norms(),
        "activations": activations(),
        "networks": networks(),
        "convolutions": convolutions(),
        "blocks": blocks(),
        "ropes": ropes(),
        "rotations": rotations(),
        "buckets": buckets(),
        "alibi": {str(heads): _get_alibi_slopes(heads, "cpu") for heads in (1, 2, 3, 6, 8, 12, 16, 20)},
    }
    lines = []
    for key, value in made.items():
        plain = [lists(item) for item in value] if isinstance(value, list) else lists(value)
        lines.append(f"{json.dumps(key)}: {json.dumps(plain)}")
    Path(__file__).with_name("peers.json").write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
