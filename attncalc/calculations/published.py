"""Published models: the options of `complexity` for each of them, and their sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attncalc.common.system import NamedTuple

Name = Literal[
    "transformer-base",
    "transformer-big",
    "bert-base",
    "bart-base",
    "gpt2",
    "gpt2-xl",
    "pythia-6.9b",
    "llama-2-7b",
    "llama-2-70b",
    "llama-3-8b",
    "mistral-7b",
    "mixtral-8x7b",
    "qwen2-7b",
    "qwen3-8b",
    "gemma-2b",
    "gemma-2-2b",
    "deepseek-v2-lite",
    "deepseek-v3",
]


class Published(NamedTuple):
    """A model that has been published."""

    source: str
    options: Mapping[str, Any]
    window: int | None = None  # how many tokens a query looks back,
    windowed: str = "each layer"  # in these layers


_OF_2017: dict[str, Any] = {"biases": ("feed-forward",), "vocab": 37000}
_PRE: dict[str, Any] = {"norm_at": "pre", "final_norm": True}
_GPT2 = _PRE | {"vocab": 50257, "positions": 1024, "biases": ("all",), "activation": "gelu-tanh"}
_LLAMA = _PRE | {"norm": "rms", "rope": True, "activation": "swiglu", "head": "own"}
_LLAMA_2 = _LLAMA | {"vocab": 32000}
_MISTRAL = _LLAMA_2 | {"d_model": 4096, "heads": 32, "kv_heads": 8, "layers": 32, "d_ffn": 14336}
_GEMMA = _LLAMA | {"head": "tied", "activation": "geglu-tanh", "vocab": 256000, "heads": 8, "d_k": 256}
_DEEPSEEK = _LLAMA | {"latent_width": 512, "latent_rope": 64, "latent_d_v": 128, "d_k": 128}

PUBLISHED: Mapping[Name, Published] = {
    "transformer-base": Published(
        "Vaswani et al. 2017, table 3: about 65M parameters, with a vocabulary of about 37000 (section 5.1)",
        _OF_2017 | {"d_model": 512, "heads": 8, "layers": 6, "decoder_layers": 6, "d_ffn": 2048},
    ),
    "transformer-big": Published(
        "Vaswani et al. 2017, table 3: about 213M parameters, with a vocabulary of about 37000 (section 5.1)",
        _OF_2017 | {"d_model": 1024, "heads": 16, "layers": 6, "decoder_layers": 6, "d_ffn": 4096},
    ),
    "bert-base": Published(
        "Devlin et al. 2019, BERT; google-bert/bert-base-uncased with its pooler",
        {"n": 512, "d_model": 768, "heads": 12, "layers": 12, "d_ffn": 3072, "vocab": 30522, "positions": 512}
        | {"segments": 2, "embedding_norm": True, "head": "pooler", "biases": ("all",), "activation": "gelu"},
    ),
    "bart-base": Published(
        "Lewis et al. 2020, BART; facebook/bart-base, whose 1024 positions are counted from 2",
        {"d_model": 768, "heads": 12, "layers": 6, "decoder_layers": 6, "d_ffn": 3072, "vocab": 50265}
        | {"positions": 1026, "embedding_norm": True, "biases": ("all",), "activation": "gelu"},
    ),
    "gpt2": Published(
        "Radford et al. 2019, table 2; openai-community/gpt2",
        _GPT2 | {"d_model": 768, "heads": 12, "layers": 12},
    ),
    "gpt2-xl": Published(
        "Radford et al. 2019, table 2; openai-community/gpt2-xl",
        _GPT2 | {"d_model": 1600, "heads": 25, "layers": 48},
    ),
    "pythia-6.9b": Published(
        "Biderman et al. 2023, Pythia, table 1; EleutherAI/pythia-6.9b",
        _PRE
        | {"d_model": 4096, "heads": 32, "layers": 32, "vocab": 50432}
        | {"biases": ("all",), "activation": "gelu", "head": "own"},
    ),
    "llama-2-7b": Published(
        "Touvron et al. 2023, Llama 2, table 1; meta-llama/Llama-2-7b-hf",
        _LLAMA_2 | {"d_model": 4096, "heads": 32, "layers": 32, "d_ffn": 11008},
    ),
    "llama-2-70b": Published(
        "Touvron et al. 2023, Llama 2, table 1; meta-llama/Llama-2-70b-hf",
        _LLAMA_2 | {"d_model": 8192, "heads": 64, "kv_heads": 8, "layers": 80, "d_ffn": 28672},
    ),
    "llama-3-8b": Published(
        "Grattafiori et al. 2024, The Llama 3 Herd of Models, table 3; meta-llama/Meta-Llama-3-8B",
        _MISTRAL | {"vocab": 128256},
    ),
    "mistral-7b": Published("Jiang et al. 2023, Mistral 7B, table 1; mistralai/Mistral-7B-v0.1", _MISTRAL, 4096),
    "mixtral-8x7b": Published(
        "Jiang et al. 2024, Mixtral of Experts, table 1; mistralai/Mixtral-8x7B-v0.1",
        _MISTRAL | {"experts": 8, "experts_top": 2},
    ),
    "qwen2-7b": Published(
        "Yang et al. 2024, Qwen2, table 1; Qwen/Qwen2-7B",
        _LLAMA
        | {"d_model": 3584, "heads": 28, "kv_heads": 4, "layers": 28, "d_ffn": 18944}
        | {"vocab": 152064, "biases": ("qkv",)},
    ),
    "qwen3-8b": Published(
        "Yang et al. 2025, Qwen3, table 1; Qwen/Qwen3-8B",
        _LLAMA
        | {"d_model": 4096, "heads": 32, "kv_heads": 8, "layers": 36, "d_ffn": 12288}
        | {"vocab": 151936, "qk_norm": True},
    ),
    "gemma-2b": Published(
        "Gemma Team 2024, Gemma, table 1; google/gemma-2b",
        _GEMMA | {"d_model": 2048, "kv_heads": 1, "layers": 18, "d_ffn": 16384},
    ),
    "gemma-2-2b": Published(
        "Gemma Team 2024, Gemma 2, table 1; google/gemma-2-2b",
        _GEMMA | {"d_model": 2304, "kv_heads": 4, "layers": 26, "d_ffn": 9216, "norm_at": "sandwich"},
        4096,
        "every other layer",
    ),
    "deepseek-v2-lite": Published(
        "DeepSeek-AI 2024, DeepSeek-V2, appendix B; deepseek-ai/DeepSeek-V2-Lite",
        _DEEPSEEK
        | {"d_model": 2048, "heads": 16, "layers": 27, "d_ffn": 10944, "vocab": 102400, "experts": 64}
        | {"experts_top": 6, "experts_d_ffn": 1408, "experts_shared": 2816, "experts_dense": 1},
    ),
    "deepseek-v3": Published(
        "DeepSeek-AI 2024, DeepSeek-V3, section 4.2; deepseek-ai/DeepSeek-V3 without the layer for a second token",
        _DEEPSEEK
        | {"d_model": 7168, "heads": 128, "layers": 61, "d_ffn": 18432, "vocab": 129280, "latent_queries": 1536}
        | {"experts": 256, "experts_top": 8, "experts_d_ffn": 2048, "experts_shared": 2048, "experts_dense": 3},
    ),
}
