"""What a transformer costs, counted by hand: the witness to what attncalc counts from a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Values = dict[str, Any]


def complexity(
    n: int = 512,
    d_model: int = 512,
    heads: int = 8,
    kv_heads: int | None = None,
    layers: int = 1,
    d_ffn: int | None = None,
    vocab: int | None = None,
    bytes: int = 2,
    flops_per_second: float = 312e12,
    bandwidth: float = 2.039e12,
    batch: int = 1,
    d_k: int | None = None,
    norm: str = "layer",
    norm_at: str = "post",
    activation: str = "relu",
    biases: tuple[str, ...] = (),
    decoder_layers: int = 0,
    positions: int | None = None,
    final_norm: bool = False,
    head: str = "tied",
) -> Values:
    d, h, f, width, many = d_model, heads, d_ffn or 4 * d_model, d_k or d_model // heads, batch * n
    all_q, all_k = h * width, (kv_heads or heads) * width  # how wide all queries and all keys are together
    gated, rms = activation == "reglu", norm == "rms"
    qkv, out, network = ("all" in biases or part in biases for part in ("qkv", "output", "feed-forward"))
    # mean, centring, squares and their mean, two for the root, a quotient, gain and shift; RMS: squares, mean, …, gain
    one_norm = (4 if rms else 7) * many * d + 2 * many
    norms_each = 2 if norm_at in ("sandwich", "both") else 1
    ends = (2 if decoder_layers else 1) * final_norm
    parts = {}
    attentions, networks = layers + 2 * decoder_layers, layers + decoder_layers
    normed = 2 * layers + 3 * decoder_layers
    parts["projections"] = attentions * (
        2 * many * d * (2 * all_q + 2 * all_k) + qkv * many * (all_q + 2 * all_k) + out * many * d
    )
    parts["scores"] = attentions * 2 * batch * n * n * all_q
    parts["softmax"] = attentions * 6 * batch * h * n * n
    parts["mixing"] = attentions * 2 * batch * n * n * all_q
    parts["feed-forward"] = networks * (
        (3 if gated else 2) * 2 * many * d * f
        + (2 if gated else 1) * many * f
        + network * many * ((2 if gated else 1) * f + d)
    )
    parts["norms, residuals"] = (normed * norms_each + ends) * one_norm + normed * many * d
    vectors = 1 if rms else 2  # what a norm has learned
    learned = {
        "projections": attentions * (2 * d * all_q + 2 * d * all_k + qkv * (all_q + 2 * all_k) + out * d),
        "feed-forward": networks * ((3 if gated else 2) * d * f + network * ((2 if gated else 1) * f + d)),
        "norms, residuals": (normed * norms_each + ends) * vectors * d,
    }
    texts = 2 if decoder_layers else 1
    flops, weights = list(parts.values()), [learned.get(part, 0) for part in parts]
    if vocab:
        tied = head == "tied"
        logits = many * vocab * (2 * d + ("head" in biases))
        flops += [texts * many * d * bool(positions) + tied * logits] + [logits] * (not tied)
        biased = vocab * ("head" in biases)
        weights += [vocab * d + texts * (positions or 0) * d + tied * biased] + [vocab * d + biased] * (not tied)
    attention = many * (2 * all_q + 2 * all_k + d) + 3 * batch * h * n * n
    norm_held = (3 * many * d + 2 * many) if rms else (3 * many * d + 3 * many)
    held = attentions * attention + (normed * norms_each + ends) * norm_held + normed * many * d
    held += networks * ((4 if gated else 2) * many * f + many * d)
    held += (many * vocab + texts * many * d * bool(positions)) if vocab else 0
    intensity = sum(flops) / (bytes * (sum(weights) + held))
    ridge = flops_per_second / bandwidth
    return {
        "comparisons": batch * n * n,
        "flops": flops,
        "parameters": weights,
        "activation_bytes": bytes * held,
        "kv_cache_bytes": 2 * bytes * (2 * decoder_layers or layers) * many * all_k,
        "arithmetic_intensity": intensity,
        "bound": "compute" if intensity >= ridge else "memory",
        "total_flops": sum(flops),
        "total_parameters": sum(weights),
        "ridge": ridge,
    }


WITNESSES: dict[str, Callable[..., Values]] = {"complexity": complexity}
