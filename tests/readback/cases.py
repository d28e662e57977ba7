"""Problems on which mistakes show that those of homework/problems.py leave alone, or hide."""

from __future__ import annotations

from homework.problems import DECODER, LAYER, ONLY, TOKENS, K, Q, problem, whole

from attncalc.solve.problem import Problem

WIDER = {"wv": whole(14, 4, 6), "wo": whole(15, 6, 4)}
SIX = {f"w{letter}": whole(16 + i, 4, 6) for i, letter in enumerate("qkv")} | {"wo": whole(19, 6, 4)}
SQUARE = DECODER | {"memory": whole(21, 3, 4)}
ALSO: dict[str, list[Problem]] = {
    "decoder-only": [
        problem(
            "decoder-only",
            {"heads": 2, "norm": "layer", "eps": 0.1},
            backward=True,
            upstream=whole(8, 3, 4),
            **LAYER,
            w3=ONLY["w3"],
        )
    ],
    "log-softmax": [problem("log-softmax", backward=True, x=[2, 0, -1, 0.5], upstream=[1, -2, 0, 3])],
    "norm": [problem("norm", {"p": 2}, a=[1, -2, -2.5])],
    "attention": [problem("attention", {"bias": "alibi", "causal": True}, q=[Q, Q[::-1]], k=[K, K], v=[K, K])],
    "multihead": [
        problem("multihead", {"heads": 2, "bias": "alibi", "causal": True}, **TOKENS),
        problem("multihead", {"heads": 3, "bias": "alibi"}, **TOKENS),
        problem("multihead", {"heads": 2}, context=whole(8, 20, 6, most=1), **TOKENS),
    ],
    "encoder-block": [
        problem("encoder-block", {"heads": 2}, **LAYER | {"x": whole(11, 2, 4)}),
        problem("encoder-block", {"heads": 2}, **LAYER | WIDER),
        problem("encoder-block", {"heads": 3}, **LAYER | SIX),
    ],
    "decoder-block": [
        problem(
            "decoder-block",
            {"heads": 3, "eps": 0.1},
            **DECODER | SIX | {f"cross_{name}": value for name, value in SIX.items()},
        ),
        problem("decoder-block", {"heads": 2}, **SQUARE),
        problem("decoder-block", {"heads": 2, "eps": 0.1}, backward=True, upstream=whole(8, 3, 4), **SQUARE),
        problem("decoder-block", {"heads": 2}, **DECODER | {"x": whole(11, 2, 4), "memory": whole(21, 2, 4)}),
        problem(
            "decoder-block", {"heads": 2}, **DECODER | WIDER | {f"cross_{name}": value for name, value in WIDER.items()}
        ),
    ],
    "flash": [problem("flash", {"block": 2, "causal": True}, q=Q[:2], k=K, v=K)],
    "eigen": [problem("eigen", a=[[4, 1, 0, 0], [1, 3, 1, 0], [0, 1, 2, 1], [0, 0, 1, 1]])],
    "ffn": [problem("ffn", x=[[1, -2], [0.5, 1]], w1=[[1, 2], [-1, 1]], w2=[[1, 0.5], [2, 1]])],
    "gradient": [problem("gradient", {"at": {"x": 1.2, "y": 0.7}}, expression="x**2*sin(x) + y")],
}
"""Calculation → problems."""
