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
) -> Values:
    d, h, f, width = d_model, heads, d_ffn or 4 * d_model, d_model // heads
    shared = (kv_heads or heads) * width  # how wide all keys are together
    norm = 7 * n * d + 2 * n  # mean, centring, squares and their mean, two for the root, a quotient, gain and shift
    parts = {
        "projections": 2 * n * d * (d + shared + shared + d),
        "scores": 2 * h * n * n * width,
        "softmax": h * n * n + 5 * h * n * n,
        "mixing": 2 * h * n * n * width,
        "feed-forward": 2 * n * d * f + n * f + 2 * n * f * d,
        "norms, residuals": 2 * norm + 2 * n * d,
    }
    learned = {"projections": 2 * d * d + 2 * d * shared, "feed-forward": 2 * d * f, "norms, residuals": 4 * d}
    flops = [layers * count for count in parts.values()] + ([2 * n * d * vocab] if vocab else [])
    weights = [layers * learned.get(part, 0) for part in parts] + ([vocab * d] if vocab else [])
    attention = n * d + 2 * n * shared + 3 * h * n * n + n * d + n * d
    held = layers * (attention + 2 * n * d + 2 * (3 * n * d + 3 * n) + 2 * n * f + n * d) + n * (vocab or 0)
    intensity = sum(flops) / (bytes * (sum(weights) + held))
    ridge = flops_per_second / bandwidth
    return {
        "comparisons": n * n,
        "flops": flops,
        "parameters": weights,
        "activation_bytes": bytes * held,
        "kv_cache_bytes": 2 * bytes * layers * n * shared,
        "arithmetic_intensity": intensity,
        "bound": "compute" if intensity >= ridge else "memory",
        "total_flops": sum(flops),
        "total_parameters": sum(weights),
        "ridge": ridge,
    }


WITNESSES: dict[str, Callable[..., Values]] = {"complexity": complexity}
