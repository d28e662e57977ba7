"""Problems on which mistakes differ visibly from what is right and from one another, for every calculation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from attncalc.calculations import load
from attncalc.record.trace import Given
from attncalc.solve.problem import Backward, Problem


def problem(name: str, options: Mapping[str, Any] | None = None, *, backward: bool = False, **operands: Any) -> Problem:
    given = {n: v for n, v in operands.items() if v is not None}
    inputs = {n: Given(np.array(v) if isinstance(v, str) else np.array(v, float)) for n, v in given.items()}
    return Problem(load(name), inputs, dict(options or {}), Backward() if backward else None)


def whole(seed: int, *shape: int, most: int = 2) -> list[Any]:
    """Small whole numbers."""
    return list(np.random.default_rng(seed).integers(-most, most + 1, shape).tolist())


def half(seed: int, *shape: int) -> list[Any]:
    """Small numbers of one decimal, which leave gates open."""
    return list(np.random.default_rng(seed).integers(-12, 13, shape).astype(float).__truediv__(10).tolist())


# n=3, d_k=4, d_v=2, with a score that is 0; and a square one, with n = d_k.
Q = [[-1, 0, 2, -1], [0, 0, 2, -1], [1, 0, -1, 2]]
K = [[-1, 0, 0, 0], [-1, 2, 1, 2], [-1, 1, 0, 1]]
V = [[3, 1], [2, 0], [1, 3]]
SQUARE: dict[str, Any] = {
    "q": [[0, -1, 0], [-1, -1, 2], [1, 2, 2]],
    "k": [[2, 0, 0], [1, 0, 2], [-1, 2, 1]],
    "v": [[1, 2], [1, 3], [3, 1]],
}
WIDE = [[3, 1, 0, 1], [2, 0, 1, 2], [1, 3, -1, 0]]
FEW_TOKENS: dict[str, Any] = {"x": whole(65, 3, 3), **{f"w{n}": whole(66 + i, 3, 3) for i, n in enumerate("qkv")}}
TOKENS: dict[str, Any] = {
    "x": whole(1, 3, 6),
    **{f"w{letter}": whole(seed, 6, 6, most=1) for seed, letter in enumerate("qkvo", 2)},
}
WIDE_GAINS = [1, 2, 0.5, 1.5, 1, 0.5]
WIDE_TOKENS: dict[str, Any] = {
    "x": whole(41, 3, 12, most=1),
    **{f"w{letter}": whole(seed, 12, 12, most=1) for seed, letter in enumerate("qkvo", 42)},
}
ADAM: dict[str, Any] = {"lr": 0.5, "beta1": 0.8, "beta2": 0.95, "eps": 0.2}
LION: dict[str, Any] = {"kind": "lion", "lr": 0.5, "beta1": 0.8, "beta2": 0.95, "weight_decay": 0.2}
MUON: dict[str, Any] = {"kind": "muon", "lr": 0.5, "momentum": 0.8}
GRADIENTS: dict[str, Any] = {"gradients": [[0.5], [-0.6], [0.7], [-0.9]], "start": [1]}
CODED = [[-3.5, 1.25, 0.5, 1.7], [1.75, -0.625, 0.9, 0.3]]
ONE_SIDED = [[-3, -4.5, -6, -5], [-3.5, -4, -5.2, -4.1]]
SEARCHED: dict[str, Any] = {"beam": 2, "length": 3, "from_probabilities": True}
DRAFTED: dict[str, Any] = {
    "target": [[1, 0.5, 0, -1], [0.2, 1, -0.5, 0.7], [0, 1.5, 0.5, 1], [0.5, 0, 1, -0.5]],
    "draft": [[0.5, 1, 0.2, -0.5], [1, 0.3, 0.5, 0], [1, 0.5, 0, 0.4]],
    "tokens": [1, 0, 1],
}
SCANNED: dict[str, Any] = {
    "x": [[2, -1], [1, 3], [-2, 1]],
    "delta": [[1, 0.5], [0.5, 2], [1.5, 0.25]],
    "b": [[1, 2], [-1, 1], [3, 0.5]],
    "c": [[1, -1], [2, 1], [0.5, 2]],
    "skip": [1, -0.5],
}
ROWS: dict[str, Any] = {"x": [[1, 2, 3, 4], [2, 0, 1, 7]], "gamma": [1.5, 0.5, 2, 1], "beta": [0.1, -0.2, 0.3, 0]}
PULL = [[1, -2, 0, 3], [0.5, 1, 2, -1]]
LOGITS = [[2, 1, 0.1], [0.5, 2.5, -1], [0, 0.3, 1.2]]
FORECASTS: dict[str, Any] = {
    "logits": [[1, 2, 0, 0.5], [0.3, 1, 2, 0], [2, 0, 1, 1], [0, 0, 1, 2], [1, 0.5, 0.2, 0.1]],
    "targets": [1, 2, 0, 3, 2],
}
LAYER: dict[str, Any] = {
    "x": whole(11, 3, 4),
    **{name: whole(seed, 4, 4, most=1) for seed, name in enumerate(("wq", "wk", "wv", "wo"), 12)},
    "w1": whole(16, 4, 5, most=1),
    "w2": whole(17, 5, 4, most=1),
    "gamma1": [1.5, 0.5, 2, 1],
    "beta1": [0.1, -0.2, 0.3, 0],
    "gamma2": [1, 2, 0.5, 1],
    "beta2": [0, 0.5, -0.5, 0.2],
}
DECODER: dict[str, Any] = LAYER | {
    "memory": whole(21, 4, 4),
    **{f"cross_{name}": whole(seed, 4, 4, most=1) for seed, name in enumerate(("wq", "wk", "wv", "wo"), 22)},
    "gamma3": [1, 0.5, 1, 2],
    "beta3": [0.3, 0, 0.1, -0.1],
}
ONLY: dict[str, Any] = {name: LAYER[name] for name in LAYER if not name.startswith("beta")} | {
    "w3": whole(18, 4, 5, most=1)
}
WIDE_HEADS: dict[str, Any] = {f"w{letter}": whole(31 + i, 4, 8, most=1) for i, letter in enumerate("qkv")} | {
    "wo": whole(34, 8, 4, most=1)
}
LEARNED: dict[str, Any] = {"sinks": [0.5, 2], "q_gamma": [1.5, 0.5], "k_gamma": [1, 2], "bias_table": whole(19, 4, 2)}

EXPERTS: dict[str, Any] = {
    "x": whole(50, 3, 4),
    "router": half(51, 4, 3),
    "w1": whole(52, 3, 4, 3),
    "w2": whole(53, 3, 3, 4),
    "w3": whole(54, 3, 4, 3),
}
MLA: dict[str, Any] = {
    "x": whole(60, 3, 4),
    "wuq": half(61, 4, 4),
    "wqr": half(62, 4, 8),
    "wdkv": half(63, 4, 3),
    "wuk": half(64, 3, 4),
    "wuv": half(65, 3, 6),
    "wkr": half(66, 4, 4),
    "wo": half(67, 6, 4),
    "kv_gamma": [1.5, 0.5, 2],
}
BIASED = {"bq": 4, "bk": 4, "bv": 4, "bo": 4, "b1": 5, "b2": 4}

FOUR_HEADS = [Q[:2], Q[1:], [K[1], Q[0]], [[1, 1, 0, -1], [0, -1, 1, 1]]]
TWO_KEY_HEADS = [K, [[1, -1, 0, 2], [0, 1, 1, -1], [2, 0, -1, 1]]]
SLOW = [[1, -0.5], [0.4, 0.8], [-0.6, 1]]


PROBLEMS: dict[str, list[Problem]] = {
    "dot": [problem("dot", a=[1, -2, 2], b=[3, 1, -1.5])],
    "outer": [problem("outer", a=[1, -2, 2], b=[3, 1, -1.5])],
    "cosine": [
        problem("cosine", a=[1, -2, 2], b=[3, 1, -1.5]),
        problem("cosine", {"distance": True}, a=[1, -2, 2], b=[3, 1, -1.5]),
    ],
    "norm": [problem("norm", {"p": p}, a=[1, -2, 2.5]) for p in (2, 1, 3, "inf")],
    "euclidean": [problem("euclidean", a=[1, -2, 2], b=[3, 1, -1.5])],
    "manhattan": [problem("manhattan", a=[1, -2, 2], b=[3, 1, -1.5])],
    "chebyshev": [problem("chebyshev", a=[1, -2, 2], b=[3, 5, -1.5])],
    "minkowski": [problem("minkowski", {"p": p}, a=[1, -2, 2], b=[3, 1, -1.5]) for p in (3, 2, 4)],
    "pairwise": [
        problem("pairwise", {"metric": metric}, x=[[1, 2, -1], [3, -1, 0]], y=[[0, 1, 2], [2, 5, 1]])
        for metric in ("cosine-similarity", "cosine", "dot", "euclidean")
    ],
    "sampling": [
        problem("sampling", {"temperature": 0.5, "top_k": 4, "top_p": 0.7, "seed": 1}, logits=[2, 1.5, 1, 0.5, -1]),
        problem(
            "sampling",
            {"repetition_penalty": 2, "min_p": 0.237, "seed": 3},
            logits=[2, -0.5, 1.5, 0.5],
            previous=[0, 1],
        ),
    ],
    "beam": [
        problem(
            "beam", SEARCHED | {"length_penalty": 1}, transitions=[[0.1, 0.5, 0.4], [0.2, 0.1, 0.7], [0.5, 0.3, 0.2]]
        ),
        problem("beam", {"length": 4, "length_penalty": 2}, transitions=[[0.5, 2, 1.5], [1, 0.3, 1.2], [2, 0.5, 1]]),
    ],
    "speculative": [
        problem("speculative", {"temperature": 0.5, "seed": 11}, **DRAFTED),
        problem("speculative", {"temperature": 2, "seed": 1}, **DRAFTED),
    ],
    "bpe": [
        problem("bpe", {"corpus": "bar:6 far:5 tab:4 tan:4", "merges": 3, "encode": "tar bat"}),
        problem("bpe", {"corpus": "cab:1 abca:1 bc:5 cabb:2", "merges": 3, "encode": "cabc"}),
    ],
    "quantize": [
        problem("quantize", {"kind": "int4", "per": "row"}, x=CODED, w=[[1, -2], [0.5, 3], [-1, 0.5], [2, 1]]),
        problem("quantize", {"kind": "int4", "zero_point": True}, x=ONE_SIDED),
        problem("quantize", {"kind": "mxfp4", "block": 2}, x=[[2.7, 1, -0.4, 0.3], [-1.2, 0.5, 5.5, 3]]),
    ],
    "lora": [
        problem(
            "lora",
            {"alpha": 6},
            x=[[1, 2, 0], [0, 1, 1]],
            w=[[1, 0], [0, 1], [2, 1]],
            a=[[1, 0], [1, 1], [-1, 2]],
            b=[[0.5, -1], [1, 0.5]],
        )
    ],
    "contrastive-loss": [
        problem("contrastive-loss", {"temperature": 0.5}, a=[[3, 4], [1, 0.5], [0, 2]], b=[[0.5, 1], [4, 3], [1, -1]])
    ],
    "preference-loss": [
        problem(
            "preference-loss",
            {"beta": 0.5},
            chosen=[-2, -3, -1.5],
            rejected=[-2.5, -2, -4],
            ref_chosen=[-2.5, -3.2, -2],
            ref_rejected=[-2, -2.6, -3],
        ),
        problem(
            "preference-loss", {"kind": "ppo"}, new=[-1, -2, -0.5], old=[-1.5, -1.5, -0.6], advantages=[10, 20, -5]
        ),
        problem(
            "preference-loss",
            {"kind": "grpo", "beta": 0.5},
            new=[-1, -2, -0.5, -3],
            old=[-2.5, -1.5, -0.6, -3.1],
            ref=[-1.2, -2.3, -1, -2.5],
            rewards=[0, 1, 1, 2.5],
        ),
    ],
    "project": [
        problem("project", a=[1, -2, 2.5], onto=[3, 1, -1.5]),
        problem("project", a=[1, -2, 2], onto=[[1, 0], [1, 1], [0, 2]]),
    ],
    "mips": [problem("mips", {"top": 3}, q=[1, 2, -1], keys=[[2, 1, 0], [3, 9, 8], [1, 1, -2], [6, 0, 1], [2, 3, 0]])],
    "analogy": [
        problem(
            "analogy",
            {"top": 3},
            a=[3, 1, 0.5],
            b=[2, -1, 1],
            c=[-1, 1, 2],
            vocabulary=[
                [3, 1, 0.5],
                [2, -1, 1],
                [-1, 1, 2],
                [0.1, 2, 1],
                [4, -1, 0],
                [-6, -2, 8],
                [0, 9, 4],
                [5, 5, 1],
            ],
        )
    ],
    "matmul": [problem("matmul", a=[[1, 2], [3, -1]], b=[[0, 1], [2, 5]])],
    "svd": [
        problem("svd", a=[[3, 1], [-1, 2]]),
        problem("svd", a=[[3, 1, 0], [-1, 2, 1]]),
        problem("svd", {"rank": 1}, a=[[3, 1, 0], [-1, 2, 1], [0.5, 0, 2]]),
    ],
    "softmax": [
        problem("softmax", {"temperature": 2}, x=[2, 0, -1, 0.5]),
        problem("softmax", x=[[2, 0, -1, 0.5], [1, 3, 0, 0.2]]),
        problem("softmax", backward=True, x=[1, 2, 0.5], upstream=[1, 0, -1]),
        problem("softmax", {"temperature": 2}, backward=True, x=[2, 0, -1, 0.5], upstream=[1, -2, 0, 3]),
    ],
    "log-softmax": [problem("log-softmax", x=[2, 0, -1, 0.5])],
    "cross-entropy": [
        problem("cross-entropy", logits=LOGITS, target=[0, 1, 1]),
        problem("cross-entropy", logits=LOGITS, target=[[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.5, 0.3]]),
        problem("cross-entropy", {"base": 2}, logits=LOGITS, target=[0, 1, 1]),
        problem("cross-entropy", backward=True, logits=LOGITS, target=[0, 1, 1]),
        problem("cross-entropy", logits=LOGITS[:2], target=[1, 2]),
    ],
    "next-token-loss": [problem("next-token-loss", **FORECASTS)],
    "perplexity": [
        problem("perplexity", probabilities=[0.5, 0.25, 0.125, 0.8, 0.1]),
        problem("perplexity", {"base": 2}, probabilities=[0.5, 0.25, 0.125, 0.8, 0.1]),
    ],
    "expectation": [problem("expectation", values=[1, 2, 4, 9])],
    "bayes": [problem("bayes", prior=[0.1, 0.9], likelihood=[0.8, 0.25])],
    "likelihood": [
        problem("likelihood", {"distribution": "normal", "mean": 1, "std": 2}, observations=[0.5, 2, 4]),
        problem("likelihood", {"distribution": "poisson", "rate": 2}, observations=[1, 3, 2]),
        problem("likelihood", {"p": 0.7}, observations=[1, 0, 1, 1, 0]),
        problem("likelihood", {"distribution": "categorical"}, observations=[0, 2, 1], probabilities=[0.5, 0.3, 0.2]),
    ],
    "qkv": [
        problem("qkv", **FEW_TOKENS),
        problem("qkv", context=whole(64, 4, 3), **FEW_TOKENS),
        problem("qkv", **FEW_TOKENS, bq=[1, -2, 0.5], bk=[2, 1, -1], bv=[0.5, 1, 2]),
    ],
    "attention": [
        problem("attention", {"causal": True}, q=Q[:2], k=[*K, [0, 1, -1, 1]], v=[*V, [1, -2]]),
        problem("attention", q=Q, k=K, v=V),
        problem("attention", **SQUARE),
        problem("attention", {"causal": True}, q=Q, k=K, v=V),
        problem("attention", {"causal": True}, **SQUARE),
        problem("attention", {"causal": True}, q=Q[:2], k=K, v=V),
        problem("attention", {"padding": (2,)}, q=Q, k=K, v=V),
        problem("attention", {"rope": True}, q=Q, k=K, v=WIDE),
        problem("attention", {"scale": "none"}, q=Q, k=K, v=V, bias=[[0.5, 1, 0], [0.2, 0.7, 1], [-1, 0, 0.5]]),
        problem("attention", {"bias": "alibi"}, q=[Q, Q[::-1]], k=[K, K], v=[V, V]),
        problem("attention", {"causal": True, "window": 2}, q=[*Q, Q[0]], k=[*K, [0, 1, -1, 1]], v=[*V, [1, -2]]),
        problem("attention", {"causal": True, "softcap": 1.5}, q=Q, k=K, v=V),
        problem("attention", {"bias": "alibi"}, q=[Q, Q[::-1], K], k=[K, K, Q], v=[V, V, V]),
        problem("attention", {"rope": True, "causal_align": "end"}, q=Q[:2], k=K, v=WIDE),
        problem("attention", {"rope": True}, q=Q[:2], k=K, v=WIDE),
        problem("attention", q=FOUR_HEADS, k=TWO_KEY_HEADS, v=whole(94, 2, 3, 2)),
        problem("attention", q=Q, k=whole(91, 20, 4, most=1), v=whole(92, 20, 2)),
        problem("attention", backward=True, q=Q, k=K, v=V, upstream=[[1, 0], [0, 1], [2, -1]]),
        problem("attention", backward=True, upstream=[[1, 0], [0, 1], [2, -1]], **SQUARE),
        problem("attention", q=Q, k=K, v=WIDE),
    ],
    "multihead": [
        problem("multihead", {"heads": 2}, **TOKENS),
        problem("multihead", {"heads": 2}, **{n: v[:2] if n == "x" else v for n, v in TOKENS.items()}),
        problem("multihead", {"heads": 2, "causal": True}, **TOKENS),
        problem("multihead", {"heads": 2}, **TOKENS | {"wv": whole(6, 6, 4), "wo": whole(7, 4, 6)}),
        problem("multihead", {"heads": 2, "padding": (2,)}, **TOKENS),
        problem("multihead", {"heads": 2, "bias": "alibi"}, **TOKENS),
        problem("multihead", {"heads": 2, "scale": "none"}, bias=whole(9, 3, 3), **TOKENS),
        problem("multihead", {"heads": 3, "rope": True}, **WIDE_TOKENS),
        problem("multihead", {"heads": 2, "causal": True}, context=whole(8, 5, 6), **TOKENS),
        problem(
            "multihead",
            {"heads": 4, "kv_heads": 2, "causal": True, "window": 2},
            **WIDE_TOKENS | {"wk": whole(48, 12, 6, most=1), "wv": whole(49, 12, 6, most=1)},
        ),
        problem("multihead", {"heads": 2, "causal": True, "softcap": 1.5}, **TOKENS),
        problem("multihead", {"heads": 2, "qk_norm": True, "eps": 0.1}, sinks=[0.5, 2], q_gamma=[1, 2, 0.5], **TOKENS),
        problem(
            "multihead", {"heads": 2, "qk_norm": True, "qk_norm_over": "all", "eps": 0.1}, q_gamma=WIDE_GAINS, **TOKENS
        ),
        problem("multihead", {"heads": 2}, bq=[1, 0, -1, 0.5, 0, 2], bo=[0.5, 0, 1, 0, -1, 0], **TOKENS),
        problem("multihead", {"heads": 2}, backward=True, upstream=whole(7, 3, 6), **TOKENS),
    ],
    "latent-attention": [
        *(
            problem("latent-attention", {"heads": 2, "eps": 0.1} | more, **MLA)
            for more in ({"causal": True}, {"padding": (2,)})
        ),
        problem(
            "latent-attention",
            {"heads": 2, "eps": 0.1},
            backward=True,
            upstream=whole(68, 3, 6),
            **MLA | {"wo": half(69, 6, 6)},
        ),
    ],
    "linear-attention": [
        problem("linear-attention", q=Q, k=K, v=V),
        problem("linear-attention", q=Q, k=K, v=WIDE),
    ],
    "ssm": [
        problem("ssm", **SCANNED, a=[[-0.5, -1.5], [-0.25, -1]]),
        problem(
            "ssm",
            {"a_log": True, "delta_softplus": True, "discretization": "zoh"},
            **SCANNED,
            a=[[0.5, -0.5], [0.25, 1]],
        ),
    ],
    "kv-cache": [
        problem("kv-cache", q=Q, k=K, v=V),
        problem("kv-cache", q=Q, k=K, v=WIDE),
        problem("kv-cache", q=whole(95, 4, 3, 4), k=TWO_KEY_HEADS, v=whole(94, 2, 3, 2)),
    ],
    "flash": [
        problem("flash", {"block": 2}, q=Q, k=[*K, [0, 1, -1, 1]], v=[*V, [1, -2]]),
        problem("flash", {"block": 2, "causal": True}, q=[*Q, [1, 1, 0, 1]], k=[*K, [2, 1, -1, 1]], v=[*V, [1, -2]]),
        problem("flash", {"block": 2, "causal": True, "causal_align": "end"}, q=Q, k=WIDE, v=WIDE),
        problem(
            "flash",
            {"block": 2, "causal": True, "window": 2},
            q=[*Q, [1, 1, 0, 1]],
            k=[*K, [2, 1, -1, 1]],
            v=[*V, V[0]],
        ),
        problem("flash", {"block": 2}, q=FOUR_HEADS, k=TWO_KEY_HEADS, v=whole(94, 2, 3, 2)),
    ],
    "eigen": [
        problem("eigen", a=[[4, 1], [2, 3]]),
        problem("eigen", a=[[5, 0.5], [1, 2.5]]),
        problem("eigen", a=[[2, 1, 0], [1, 3, 1], [0, 1, 5]]),
    ],
    "entropy": [problem("entropy", p=[0.6, 0.3, 0.1])],
    "kl": [problem("kl", p=[0.5, 0.3, 0.2], q=[0.1, 0.7, 0.2])],
    "complexity": [
        problem("complexity", {"n": 5, "d_model": 12, "heads": 3, "layers": 2}),
        problem("complexity", {"n": 4, "d_model": 8, "heads": 4, "kv_heads": 2, "activation": "swiglu"}),
        problem("complexity", {"n": 3, "d_model": 6, "heads": 2, "vocab": 10, "training": True}),
    ],
    "sinusoidal": [problem("sinusoidal", {"n": 4, "d": 6})],
    "rope": [problem("rope", x=[[1, -2, 3, 0.5]], positions=[2])],
    "alibi": [problem("alibi", {"heads": 12, "n": 3}), problem("alibi", {"heads": 4, "n": 3, "causal": True})],
    "t5-bias": [
        problem(
            "t5-bias",
            {"n": 12, "buckets": 8, "max_distance": 16, "causal": causal},
            table=[[0.7 * i - i % 3, i] for i in range(8)],
        )
        for causal in (True, False)
    ],
    "layernorm": [
        problem("layernorm", {"eps": 0.1}, **ROWS),
        problem("layernorm", {"eps": 0.1, "norm_offset": 1}, **ROWS),
        problem("layernorm", {"eps": 0.1}, backward=True, upstream=PULL, **ROWS),
    ],
    "batchnorm": [
        problem("batchnorm", {"eps": 0.1}, **ROWS),
        problem("batchnorm", {"eps": 0.1}, backward=True, upstream=PULL, **ROWS),
    ],
    "groupnorm": [
        problem(
            "groupnorm",
            {"groups": 2, "eps": 0.1},
            x=[[1, 3, 0], [5, 7, 2], [2, 2.5, 1], [0, 4, -3]],
            gamma=[1.5, 2, 1, 0.5],
            beta=[0.5, 1, 0, -1],
        )
    ],
    "rmsnorm": [
        problem("rmsnorm", {"eps": 0.1}, x=ROWS["x"], gamma=ROWS["gamma"]),
        problem("rmsnorm", {"eps": 0.1, "norm_offset": 1}, x=ROWS["x"], gamma=ROWS["gamma"]),
        problem(
            "rmsnorm",
            {"eps": 0.1},
            backward=True,
            upstream=[[1, -2, 0, 3], [0.5, 1, 2, -1]],
            x=ROWS["x"],
            gamma=ROWS["gamma"],
        ),
    ],
    "activation": [
        problem("activation", {"kind": "gelu"}, x=[-2.2, -1, 1.5]),
        problem("activation", {"kind": "gelu-tanh"}, x=[-2.2, -1, 1.5]),
        problem("activation", {"kind": "sigmoid"}, backward=True, x=[-2.2, -1, 1.5], upstream=[0.5, 2, -1.2]),
    ],
    "ffn": [
        problem(
            "ffn",
            {"activation": kind},
            x=[[1, -2], [0.5, 1], [-1.5, 0.5]],
            w1=[[1, 2, -1], [0, 1, 1]],
            w2=[[1, 0], [2, 1], [0, -1]],
            b1=[0.5, -1, 0.3],
            b2=[0.2, -0.4],
        )
        for kind in ("relu", "gelu", "tanh")
    ]
    + [
        problem(
            "ffn",
            {"activation": "swiglu"},
            x=[[1, -2], [0.5, 1]],
            w1=[[1, 2], [0, 1]],
            w2=[[1, 0.5], [2, 1]],
            w3=[[2, 1], [1, 0]],
        )
    ]
    + [
        problem(
            "ffn",
            {"activation": "swiglu-clamped"},
            x=[[4, -2], [3, 1]],
            w1=[[2, 1], [0, -1]],
            w2=[[1, 0.5], [2, 1]],
            w3=[[2, -3], [1, 0]],
        )
    ]
    + [problem("ffn", x=[[1, -2], [0.5, 1]], w1=[[1, 2], [0, 1]], w2=[[1, 0.5], [2, 1]])],
    "residual": [problem("residual", x=[[1, 2], [3, 4]], f=[[0.5, 1], [0, 1]])],
    "embed": [
        problem("embed", {"scale": True, "positions": "sinusoidal"}, tokens=[0, 2, 1], table=whole(5, 3, 4)),
        problem(
            "embed",
            tokens=[0, 2, 1],
            table=whole(5, 3, 4),
            positions=whole(6, 3, 4),
            types=[0, 1, 1],
            type_table=whole(7, 2, 4),
        ),
    ],
    "experts": [
        problem("experts", {"top": top} | more, **EXPERTS | own)
        for top, more, own in (
            (2, {}, {}),
            (1, {"no_renormalise": True, "routed_scale": 2.5, "capacity": 1}, {}),
            (2, {"activation": "swiglu-clamped"}, {"x": [[9, -6, 3, 0], [2, 7, -5, 4], [-8, 1, 6, -3]]}),
            (2, {}, {"b1": whole(57, 3, 3), "b2": whole(58, 3, 4), "router_bias": [0.5, -1, 0]}),
            (2, {"activation": "gelu"}, {"w3": None, "shared_w1": whole(55, 4, 3), "shared_w2": whole(56, 3, 4)}),
        )
    ],
    "encoder-block": [
        problem("encoder-block", {"heads": 2, "norm": norm, "eps": 0.1} | more, **LAYER)
        for norm, more in (
            ("post", {}),
            ("pre", {}),
            ("post", {"causal": True}),
            ("post", {"padding": (2,)}),
            ("post", {"activation": "gelu"}),
        )
    ]
    + [
        problem(
            "encoder-block", {"heads": 2, "norm": norm, "eps": 0.1}, backward=True, upstream=whole(8, 3, 4), **LAYER
        )
        for norm in ("post", "pre")
    ],
    "decoder-block": [
        problem("decoder-block", {"heads": 2, "norm": norm, "eps": 0.1} | more, **DECODER)
        for norm, more in (("post", {}), ("pre", {}), ("post", {"activation": "gelu"}))
    ],
    "decoder-only": [
        problem(
            "decoder-only",
            {"heads": 2, "norm": "layer", "norm_at": "post", "no_causal": True, "activation": "gelu"},
            **LAYER,
        ),
        problem("decoder-only", {"heads": 2, "rope": True, "eps": 0.1}, **ONLY | WIDE_HEADS),
        problem(
            "decoder-only",
            {"heads": 2, "norm_at": "after", "qk_norm": True, "qk_norm_over": "all", "eps": 0.1},
            q_gamma=WIDE_GAINS[:4],
            **ONLY,
        ),
        problem(
            "decoder-only",
            {
                "heads": 2,
                "norm": "layer",
                "eps": 0.1,
                "activation": "geglu",
                "window": 2,
                "softcap": 1.5,
                "qk_norm": True,
            },
            **LAYER,
            **{name: LEARNED[name] for name in ("q_gamma", "k_gamma", "sinks")},
            **{name: half(90 + i, size) for i, (name, size) in enumerate(BIASED.items())},
            w3=ONLY["w3"],
        ),
        problem(
            "decoder-only",
            {
                "heads": 2,
                "no_causal": True,
                "parallel": True,
                "norm_offset": 1,
                "residual_scale": 0.5,
                "bias": "alibi",
                "eps": 0.1,
            },
            **ONLY,
        ),
    ],
    "conv": [
        problem("conv", {"padding": (1,), "stride": (2,)}, x=[1, 3, -2, 4, 0.5, 2, 5], kernel=[1, 2, -1]),
        problem("conv", {"dilation": (2,)}, x=[1, 3, -2, 4, 0.5, 2, 5], kernel=[1, 2, -1]),
        problem("conv", x=whole(71, 4, 4, most=4), kernel=[[1, 2], [-1, 3]]),
        problem(
            "conv", {"depthwise": True}, x=whole(72, 2, 4, 4, most=4), kernel=[[[1, 2], [-1, 3]], [[0, 1], [2, -2]]]
        ),
        problem("conv", x=whole(72, 2, 4, 4, most=4), kernel=[[[1, 2], [-1, 3]], [[0, 1], [2, -2]]]),
    ],
    "patch-embed": [
        problem(
            "patch-embed",
            x=[whole(73, 4, 4, most=4)],
            w=[[[[1, 0.5], [-1, 1]]], [[[2, 1], [1, -1]]]],
            b=[0.5, -1],
            cls=[1, 2],
            positions=[[0, 0.5], [1, 0], [0, 1], [2, 0], [0.5, 2]],
        )
    ],
    "rnn": [
        problem("rnn", {"kind": "tanh"}, x=SLOW, wx=[[0.5, -1], [0.3, 0.8]], wh=[[0.2, 1], [-0.7, 0.4]], b=[0.3, -0.2]),
        problem("rnn", {"kind": "lstm"}, x=SLOW, wx=half(87, 2, 8), wh=half(88, 2, 8), b=half(89, 8)),
        problem("rnn", {"kind": "gru"}, x=SLOW, wx=half(84, 2, 6), wh=half(85, 2, 6), b=half(86, 6)),
    ],
    "unembed": [
        problem("unembed", h=[[1, -2, 0.5], [0.3, 1, 2]], table=[[1, 0.5, -1], [2, 1, 0], [0, -1, 1]]),
        problem("unembed", h=[[1, -2, 0.5], [0.3, 1, 2]], table=[[1, 0.5, -1], [2, 1, 0], [0, -1, 1], [1, 1, 1]]),
    ],
    "derivative": [
        problem("derivative", {"at": at}, expression=formula)
        for formula, at in (
            ("x**2*sin(3*x) + 2", 0.7),
            ("exp(2*x)/(x**2 + 1)", 0.5),
            ("(x**2 + x)**3 - cos(x**2)", 0.6),
            ("2**x - 3/x + x**4", 1.5),
        )
    ],
    "gradient": [
        problem("gradient", {"at": {"x": 1.2, "y": 0.7}}, expression=formula)
        for formula in ("x**3*y + sin(x*y) - y", "exp(x*y)/(y + x**2)")
    ],
    "descend": [problem("descend", {"start": 3, "lr": 0.1, "steps": 4}, expression="x**2")],
    "optimizer": [
        problem("optimizer", ADAM, **GRADIENTS),
        problem(
            "optimizer",
            ADAM | {"kind": "adamw", "weight_decay": 0.2},
            gradients=[[0.5, 1], [-0.6, 0.3], [0.7, -0.2], [-0.9, 0.4]],
            start=[1, -2],
        ),
        problem("optimizer", LION, gradients=[[0.5, 1], [-0.1, -0.3], [0.2, 1.5]], start=[3, -2]),
        problem(
            "optimizer",
            MUON,
            gradients=[[[1, 2], [3, -1], [0, 1]], [[2, 0], [-1, 1], [1, 3]]],
            start=[[1, 0], [0, 1], [2, -1]],
        ),
    ],
    "schedule": [
        problem("schedule", {"d_model": 4, "warmup": 4, "steps": 8}),
        *(
            problem("schedule", {"kind": kind, "warmup": 3, "steps": 9, **more})
            for kind, more in {"wsd": {"decay": 4}, "linear": {}, "cosine": {"lr": 2}}.items()
        ),
    ],
    "linear-regression": [
        problem("linear-regression", x=whole(31, 3, 3), y=whole(32, 3, 5), w=whole(33, 3, 5), b=[0.1, 0.2, 0.3, 0, 0]),
    ],
    "mlp": [
        problem(
            "mlp",
            {"activation": activation, "lr": 0.5},
            x=[[1, 2], [-1, 0.5], [0.5, -1.5]],
            y=[[1, 0], [0, 1], [1, 1]],
            w1=[[0.5, -0.3], [0.2, 0.8]],
            b1=[0.1, -0.2],
            w2=[[1, -0.5], [0.3, -0.7]],
            b2=[0, 0.3],
        )
        for activation in ("sigmoid", "tanh", "relu", "gelu", "gelu-tanh", "silu")
    ]
    + [
        problem(
            "mlp",
            {"activation": "tanh", "loss": "cross-entropy", "lr": 0.5},
            x=[[1, 2], [-1, 0.5], [0.5, -1.5]],
            y=target,
            w1=[[0.5, -0.3], [0.2, 0.8]],
            b1=[0.1, -0.2],
            w2=[[1, -0.5, 0.4, 0.2], [0.3, -0.7, 0.9, -1]],
            b2=[0, 0.3, -0.1, 0.5],
        )
        for target in ([3, 0, 2], [[0.5, 0.1, 0.1, 0.3], [0.1, 0.2, 0.5, 0.2], [0.3, 0.4, 0.2, 0.1]])
    ],
}
"""Calculation → problems that bring out its mistakes."""
