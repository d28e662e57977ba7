"""What positions and layers are tried on; cases.py takes them in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from calculations.trial import Case, Expected, case

NOTHING = "nothing that could have a gradient"
ROPE = "frequencies angles cosines sines rotated"
RAMPED = f"unscaled kept {ROPE}"
LONG = {"original_length": 16, "factor": 4}
NORM = {"x": "3 4", "gamma": "4", "beta": "4"}
FFN = {"x": "3 4", "w1": "4 5", "b1": "5", "w2": "5 2", "b2": "2"}
POINTS = [[-2.2, -1.0, -0.25, 0.5], [1.5, 3.0, -4.0, 0.125]]
TOKENS, TABLE = [2, 0, 2, 4], "5 4"
IN_STEPS = {"x": "3 2", "h0": "2"}

WEIGHTS = {"wq": "4 4", "wk": "4 4", "wv": "4 6", "wo": "6 4", "w1": "4 3", "w2": "3 4"}
BIASES = {"bq": "4", "bk": "4", "bv": "6", "bo": "4", "b1": "3", "b2": "4"}
NORMS = {"gamma1": "4", "beta1": "4", "gamma2": "4", "beta2": "4"}
CROSS = {f"cross_{name}": shape for name, shape in (WEIGHTS | BIASES).items() if name[1] in "qkvo"}
BLOCK = {"x": "3 4", **WEIGHTS}
LLAMA = {"x": "3 4", **WEIGHTS, "wk": "4 2", "wv": "4 2", "wo": "4 4", "w3": "4 3"}
DECODER = {"x": "3 4", "memory": "2 4", **WEIGHTS, **{name: CROSS[name] for name in CROSS if name[6] == "w"}}
LAYER = {"encoder 1": WEIGHTS, "decoder 1": WEIGHTS | CROSS}


def times(turn: str, count: int, steps: str) -> str:
    return " ".join(f"{turn}_{t}/{name}" for t in range(1, count + 1) for name in steps.split())


def grouped(group: str, steps: str) -> str:
    return " ".join(f"{group}/{name}" for name in steps.split())


def norm(number: int) -> str:
    return grouped(f"norm{number}", "mean centered variance standard_deviation normalized output")


def attention(group: str, masked: str = "") -> str:
    made = f"q k v q_heads k_heads v_heads scores scaled {masked} weights heads concatenated output"
    return grouped(group, made)


FORWARD = grouped("feed-forward", "hidden activated output")
GATED = grouped("feed-forward", "hidden activated linear gated output")


SIZED = "squares mean_square root_mean_square normalized output"
LATER = {
    "norm": "rms",
    "norm_at": "pre",
    "norm_offset": 1,
    "parallel": True,
    "residual_scale": 0.5,
    "mask_before_scale": True,
    "bias": "t5",
    "max_distance": 3,
    "causal_align": "end",
    "kv_heads": 1,
}
"""Options of a layer whose parts stand side by side, with an RMS norm, T5's biases and one key head."""
GEMMA = {
    "norm_at": "sandwich",
    "eps": 0.1,
    "qk_norm": True,
    "qk_norm_over": "all",
    "rope": True,
    "scale": 0.5,
    "softcap": 2.5,
    "window": 2,
}
"""Options of one with norms everywhere, turned keys, a cap and a window."""
TURNED = {"rope_positions": [0, 2, 3], "rope_key_positions": [1, 0, 4], "bias": "3 3"}
SUNK = {"sinks": "2", "q_gamma": "4", "q_beta": "4", "k_gamma": "4", "k_beta": "4"}
ONE_KEY_HEAD = {"wk": "4 2", "wv": "4 2", "wo": "4 4", "bias_table": "4 2", "gamma1": "4"}


EXPERTS = {"x": "3 4", "router": "4 3", "w1": "3 4 2", "w2": "3 2 4"}
FOUR_EXPERTS = {"x": "3 4", "router": "4 4", "w1": "4 4 2", "w2": "4 2 4"}


def after(*numbers: int) -> dict[str, str]:
    return {f"post_{name}{i}": "4" for name in ("gamma", "beta") for i in numbers}


def own_norms(group: str = "self-attention") -> str:
    centred = norm(1).replace("norm1/", "")
    return f"{grouped(f'{group}/q-norm', centred)} {grouped(f'{group}/k-norm', centred)}"


def gemma(*parts: str) -> str:
    """A layer whose parts have a norm before and one after them; the first is its own attention."""
    within = grouped("self-attention", "q k v")
    rest = "q_heads k_heads v_heads q_rotated k_rotated scores scaled capped biased masked kept weights heads "
    rest += "concatenated output"
    own = f"{within} {own_norms()} {grouped('self-attention', rest)}"
    return " ".join(
        f"{norm(i)} {part} {norm(i).replace(f'norm{i}', f'post-norm{i}')} residual{i}"
        for i, part in enumerate((own, *parts), start=1)
    )


def side_by_side(*parts: str) -> str:
    """A layer whose parts share one RMS norm; the first is its own attention."""
    made = "q k v q_heads k_heads v_heads scores masked scaled biased weights heads concatenated output"
    joined = (f"{part} residual{i}" for i, part in enumerate((grouped("self-attention", made), *parts), start=1))
    return f"{grouped('norm1', SIZED)} {' '.join(joined)}"


def encoder(masked: str = "") -> str:
    own = attention("self-attention", masked)
    return f"{own} residual1 {norm(1)} {FORWARD} residual2 {norm(2)}"


def llama(masked: str = "masked") -> str:
    made = "q k v q_heads k_heads v_heads q_rotated k_rotated scores scaled"
    own = grouped("self-attention", f"{made} {masked} weights heads concatenated output")
    return f"{grouped('norm1', SIZED)} {own} residual1 {grouped('norm2', SIZED)} {GATED} residual2"


def decoder(own: str = "masked", cross: str = "") -> str:
    return (
        f"{attention('self-attention', own)} residual1 {norm(1)} {attention('cross-attention', cross)} residual2 "
        f"{norm(2)} {FORWARD} residual3 {norm(3)}"
    )


def within(group: str, steps: str) -> str:
    return " ".join(f"{group}/{step}" for step in steps.split())


def stacked(layers: dict[str, dict[str, str]]) -> dict[str, str]:
    return {f"{layer}/{name}": shape for layer, weights in layers.items() for name, shape in weights.items()}


def transformer(turns: int = 0, *, positions: bool = True, pre: bool = False) -> str:
    """The steps of a whole model; with pre-norm it has a norm behind each stack."""
    looked_up = "embeddings positions output" if positions else "embeddings output"
    reads, writes = (_pre_encoder(), _pre_decoder()) if pre else (encoder(), decoder())
    behind = [norm(1).replace("norm1", f"{stack}_norm") if pre else "" for stack in ("encoder", "decoder")]
    read = f"{grouped('source', looked_up)} {within('encoder_1', reads)} {behind[0]} memory"
    turn = f"{grouped('target', looked_up)} {within('decoder_1', writes)} {behind[1]} logits next_token"
    written = " ".join(within(f"token_{t}", turn) for t in range(1, turns + 1)) if turns else turn
    return " ".join(f"{read} {written} tokens".split())


def _pre_encoder() -> str:
    return f"{norm(1)} {attention('self-attention')} residual1 {norm(2)} {FORWARD} residual2"


def _pre_decoder() -> str:
    first = f"{norm(1)} {attention('self-attention', 'masked')} residual1"
    return f"{first} {norm(2)} {attention('cross-attention')} residual2 {norm(3)} {FORWARD} residual3"


def firm(why: str, tried: Case) -> Case:
    """A case that has no gradient, unlike the others."""
    return replace(tried, no_gradient=why)


def small(**given: Any) -> dict[str, Any]:
    """A whole model: two layers, five words, and what is read and written."""
    return {"source": [1, 3, 2], "target": [0, 4], "embedding": TABLE, **stacked(LAYER), "heads": 2, **given}


GROUPED = {"wk": "4 2", "wv": "4 2", "wo": "4 4"}
LATER_LAYER = {
    "encoder 1": GROUPED | {"bias_table": "4 2"},
    "decoder 1": GROUPED
    | {"bias_table": "4 2"}
    | {f"cross_{name}": shape for name, shape in (GROUPED | {"bk": "2", "bv": "2"}).items()},
}


def later() -> str:
    """A whole model of layers whose parts stand side by side, with one key head."""
    sized = [grouped(f"self-attention/{name}-norm", SIZED) for name in "qk"]
    made = "q_heads k_heads v_heads q_rotated k_rotated scores masked scaled capped biased weights heads concatenated "
    first = [grouped("self-attention", "q k v"), *sized, grouped("self-attention", f"{made} output")]

    def layer(*parts: str) -> str:
        joined = (f"{part} residual{i}" for i, part in enumerate((" ".join(first), *parts), start=1))
        return f"{grouped('norm1', SIZED)} {' '.join(joined)}"

    reads = f"{grouped('source', 'embeddings positions output')} {within('encoder_1', layer(FORWARD))} memory"
    writes = within("decoder_1", layer(attention("cross-attention"), FORWARD))
    return f"{reads} {grouped('target', 'embeddings positions output')} {writes} logits next_token tokens"


AWAY = "largest scale scaled codes dequantised"
CODED = f"{AWAY} error"
SPACED = AWAY.replace("codes", "spacing codes").replace("scale ", "exponent scale ")
AWAY_W, SPACED_W = (steps.removesuffix(" dequantised") for steps in (AWAY, SPACED))

LAYERS: dict[str, Expected] = {
    # Positions
    "sinusoidal": Expected(
        "frequencies angles encoding",
        (
            case(n=4, d=6),
            case(n=3, d=5, base=100, start=2),
            case(n=3, d=4, layout="concatenated"),
            case("frequencies angles encoding products shift shifted", n=3, d=4, properties=True, offset=2),
            case(
                "frequencies angles encoding products shift shifted",
                n=3,
                d=6,
                properties=True,
                layout="concatenated",
                start=1,
            ),
        ),
        outputs="encoding",
        no_gradient=NOTHING,
    ),
    "rope": Expected(
        ROPE,
        (
            case(x="3 6"),
            case(x="3 4", positions=[3, 0, 7]),
            case(x="3 6", layout="half", base=100, inverse=True),
            case(x="3 6", dims=4),
            case(x="3 6", dims=2, layout="half"),
            case(f"{ROPE} norms rotated_norms products", x="3 4", properties=True),
            case(x="3 8", scaling="base", factor=4),
            case(x="3 8", scaling="linear", factor=4),
            case(x="3 8", scaling="ntk", factor=4),
            case(x="3 8", scaling="dynamic", **LONG),
            case(x="3 8", scaling="dynamic", length=64, **LONG),
            case(RAMPED, x="3 8", scaling="yarn", **LONG),
            case(RAMPED, x="3 8", scaling="yarn", base=500, beta_fast=4, beta_slow=0.5, no_truncate=True, **LONG),
            case(RAMPED, x="3 8", scaling="yarn", mscale=1.5, mscale_all_dim=0.5, **LONG),
            case(RAMPED, x="3 8", scaling="yarn", original_length=16, length=64, attention_factor=1.25),
            case(x="3 4", scaling="longrope", short_factor=(1, 1.5), long_factor=(2, 4), original_length=16, length=8),
            case(x="3 4", scaling="longrope", short_factor=(1, 1.5), long_factor=(2, 4), length=32, **LONG),
            case(RAMPED, x="3 8", scaling="llama3", base=100, **LONG),
            case(RAMPED, x="3 8", scaling="llama3", low_freq_factor=0.5, high_freq_factor=2, **LONG),
        ),
        outputs="rotated",
    ),
    "alibi": Expected(
        "slopes distances bias",
        (case(n=3), case(heads=4, n=3), case(heads=6, n=2, m=5), case(heads=2, n=3, causal=True)),
        outputs="bias slopes",
        no_gradient=NOTHING,
    ),
    "t5-bias": Expected(
        "relative_positions buckets bias",
        (
            case(table="8 2", n=3, m=20, max_distance=16),
            case(table="8 2", n=3, buckets=8, max_distance=10, causal=True),
            firm(NOTHING, case("relative_positions buckets", "buckets", n=4, m=30)),
        ),
        outputs="bias buckets",
    ),
    # Layers
    "layernorm": Expected(
        "mean centered variance standard_deviation normalized output",
        (case(x="3 4"), case(**NORM), case(**NORM, eps=0.1, norm_offset=1)),
    ),
    "groupnorm": Expected(
        "grouped mean centered variance standard_deviation normalized ungrouped output",
        (case(x="4 3", gamma="4", beta="4", eps=0.1), case(x="4 2 3", groups=2)),
        pools="a row with one axis more is an image",
    ),
    "patch-embed": Expected(
        "patches read rows kernels embedded output",
        (
            case(x="1 4 4", w="2 1 2 2"),
            case(
                "patches read rows kernels embedded class_row with_class output",
                x="2 2 4",
                w="3 2 2 2",
                b="3",
                cls="3",
                positions="3 3",
            ),
            case("kernels embedded output", x="3 8", w="3 2 2 2", b="3"),
        ),
    ),
    "rmsnorm": Expected(
        "squares mean_square root_mean_square normalized output",
        (case(x="3 4"), case(x="3 4", gamma="4", eps=0.1, norm_offset=1)),
    ),
    "batchnorm": Expected(
        "mean centered variance standard_deviation normalized output",
        (case(x="3 4"), case(**NORM, eps=0.1)),
    ),
    "activation": Expected(
        "output",
        (
            *(
                case(x=POINTS, kind=kind)
                for kind in ("relu", "leaky-relu", "elu", "sigmoid", "tanh", "silu", "softplus")
            ),
            *(case("inner output", x=POINTS, kind=kind) for kind in ("gelu", "gelu-tanh", "gelu-sigmoid")),
            case(x="5", kind="elu", alpha=0.5),
            case(x="5", kind="leaky-relu", alpha=0.2),
        ),
        outputs="output derivative",
    ),
    "ffn": Expected(
        "hidden activated output",
        (
            case(**FFN),
            case(x="3 4", w1="4 5", w2="5 2", activation="gelu"),
            case("hidden activated linear gated output", **FFN, w3="4 5", b3="5", activation="swiglu"),
            case("hidden activated linear gated output", **FFN, w3="4 5", activation="geglu"),
            case(
                "hidden clamped activated linear linear_clamped gated output",
                **FFN | {"x": [[8, -9, 4, 6], [-7, 5, 9, -3], [0.5, 1, -2, 3]]},
                w3="4 5",
                activation="swiglu-clamped",
            ),
        ),
    ),
    "residual": Expected(
        "scaled sum output",
        (
            case(x="3 4", f="3 4"),
            case(x="3 4", f="3 4", alpha=0.5),
            case(
                f"scaled sum {grouped('norm', 'mean centered variance standard_deviation normalized output')} output",
                x="3 4",
                f="3 4",
                norm="post",
            ),
        ),
    ),
    "embed": Expected(
        "embeddings output",
        (
            case(tokens=TOKENS, table=TABLE),
            case(tokens=TOKENS, table=TABLE, scale=True),
            case("embeddings positions output", tokens=TOKENS, table=TABLE, positions="6 4"),
            case("embeddings positions output", tokens=TOKENS, table=TABLE, positions="sinusoidal"),
            case("embeddings types output", tokens=TOKENS, table=TABLE, type_table="2 4"),
            case(
                "embeddings types positions output",
                tokens=TOKENS,
                table=TABLE,
                positions="6 4",
                types=[0, 0, 1, 1],
                type_table="2 4",
            ),
            case("embeddings positions output", tokens=TOKENS, table=TABLE, positions="sinusoidal-concatenated"),
        ),
    ),
    "lora": Expected(
        "base down change scaled output merged merged_output",
        (case(x="2 3", w="3 4", a="3 2", b="2 4", alpha=3),),
        outputs="output merged merged_output",
    ),
    "unembed": Expected("logits probabilities", (case(h="3 4", table="5 4"),), outputs="probabilities logits"),
    "conv": Expected(
        "windows products output",
        (
            case(x="7", kernel="3"),
            case(x="7", kernel="3", stride=(2,), padding=(1,), dilation=(2,)),
            case(x="4 5", kernel="2 3"),
            case(x="4 5", kernel="2 2", stride=(1, 2), padding=(0, 1), dilation=(2, 1)),
            case(x="2 4 5", kernel="2 2 3"),
            case(x="2 4 5", kernel="2 3"),
            case(x="2 4 5", kernel="3 2 2 2", padding=(1,)),
            case(x="2 4 5", kernel="2 2 3", depthwise=True),
        ),
        pools="a row with one axis more is a picture",
    ),
    "rnn": Expected(
        times("time_step", 3, "hidden"),
        (
            case(x="3 2", wx="2 2", wh="2 2"),
            case(**IN_STEPS, wx="2 2", wh="2 2", b="2"),
            case(
                times("time_step", 3, "from_input from_state gates hidden"),
                **IN_STEPS,
                wx="2 6",
                wh="2 6",
                b="6",
                kind="gru",
            ),
            case(
                times("time_step", 3, "sums gates cell hidden"),
                "hidden states cell",
                **IN_STEPS,
                wx="2 8",
                wh="2 8",
                b="8",
                c0="2",
                kind="lstm",
            ),
        ),
        outputs="hidden states",
        inexact="an LSTM nests a function in a function at every step: SymPy takes minutes for three",
    ),
    "quantize": Expected(
        CODED,
        (
            case(x="3 4"),
            case(CODED, x="3 4", kind="int4", per="row"),
            case(CODED.replace("codes", "spacing codes"), x="3 4", kind="float8_e4m3fn"),
            case(CODED.replace("codes", "spacing codes"), x="3 4", kind="float8_e5m2", per="row"),
            case("lowest highest scale zero_point scaled codes dequantised error", x="3 4", per="row", zero_point=True),
            case(
                f"{AWAY} {grouped('w', AWAY_W)} summed scales product error",
                "product dequantised error product_error",
                x="3 4",
                w="4 2",
                per="row",
                kind="int4",
            ),
            case(
                " ".join(
                    f"{grouped(f'block_{i}', SPACED)} {grouped(f'block_{i}/w', SPACED_W)} block_{i}/summed "
                    f"block_{i}/scales block_{i}/product"
                    for i in (1, 2)
                )
                + " dequantised error product",
                "product dequantised error product_error",
                x="3 4",
                w="4 2",
                kind="mxfp4",
                block=2,
            ),
        ),
        outputs="dequantised error",
        no_gradient="it is flat but for its jumps",
    ),
    "experts": Expected(
        "logits probabilities chosen routed taken whole gates hidden activated linear gated expert_outputs output",
        (
            case(**EXPERTS, w3="3 4 2", b1="3 2", b2="3 4", b3="3 2", router_bias="3"),
            case(
                "logits probabilities chosen routed taken gates kept hidden activated expert_outputs mixed "
                f"{grouped('shared', 'hidden activated output')} output",
                **EXPERTS,
                shared_w1="4 2",
                shared_w2="2 4",
                top=1,
                scoring="sigmoid",
                no_renormalise=True,
                routed_scale=2.5,
                capacity=1,
                activation="silu",
            ),
            case(
                "logits probabilities chosen routed taken whole gates hidden activated linear gated expert_outputs "
                f"mixed {grouped('shared', 'hidden activated linear gated output')} output",
                **EXPERTS,
                w3="3 4 2",
                shared_w1="4 2",
                shared_w2="2 4",
                shared_w3="4 2",
            ),
            case(
                "logits probabilities corrected group_scores groups within chosen routed taken whole gates hidden "
                "activated expert_outputs output",
                **FOUR_EXPERTS,
                correction="4",
                scoring="sigmoid",
                groups=2,
                group_by="best-two",
                activation="relu",
            ),
            case(
                "logits probabilities group_scores groups within chosen routed taken gates hidden activated "
                "expert_outputs output",
                **FOUR_EXPERTS,
                top=1,
                no_renormalise=True,
                groups=4,
                top_groups=2,
                activation="relu",
            ),
        ),
        outputs="output chosen load balance_loss",
        pools="the experts are an axis of their own, and the tokens of a batch are rows",
        inexact="every entry holds the fractions of powers of e of several activations",
    ),
    "encoder-block": Expected(
        f"{encoder()} output",
        (
            case(**BLOCK, heads=2),
            case(
                f"{norm(1)} {attention('self-attention')} residual1 {norm(2)} {FORWARD} residual2 output",
                **BLOCK,
                **BIASES,
                **NORMS,
                heads=2,
                norm="pre",
                eps=0.1,
                activation="gelu",
            ),
            case(
                f"{encoder().replace('activated', 'activated feed-forward/linear feed-forward/gated')} output",
                **BLOCK,
                w3="4 3",
                b3="3",
                heads=2,
                activation="swiglu",
            ),
            case(f"{encoder('masked')} output", **BLOCK, heads=2, causal=True, padding=(2,)),
            case(
                f"{encoder('masked')} output",
                **BLOCK,
                heads=2,
                mask=[[1, 0, 0], [1, 1, 0], [0, 0, 1]],
                mask_kind="drop",
            ),
            case(f"{gemma(FORWARD)} output", **BLOCK, **SUNK, **TURNED, **after(1, 2), heads=2, **GEMMA),
            case(
                f"{side_by_side(FORWARD)} output",
                **BLOCK | ONE_KEY_HEAD,
                heads=2,
                causal=True,
                **LATER,
            ),
        ),
        inexact="normalised twice, the surds grow beyond what is kept exact",
    ),
    "decoder-block": Expected(
        f"{decoder()} output",
        (
            case(**DECODER, heads=2),
            case(
                f"{norm(1)} {attention('self-attention', 'masked')} residual1 {norm(2)} {attention('cross-attention')} "
                f"residual2 {norm(3)} {FORWARD} residual3 output",
                **DECODER,
                **BIASES,
                **NORMS,
                gamma3="4",
                beta3="4",
                **{name: shape for name, shape in CROSS.items() if name not in DECODER},
                heads=2,
                norm="pre",
                eps=0.1,
                activation="gelu-tanh",
            ),
            case(f"{decoder('')} output", **DECODER, heads=2, no_causal=True),
            case(
                f"{decoder('masked', 'masked')} output",
                **DECODER,
                heads=2,
                padding=(2,),
                memory_mask=[[1, 0], [1, 1], [0, 1]],
                memory_mask_kind="keep",
            ),
            case(
                f"{decoder('masked', 'masked')} output",
                **DECODER,
                heads=2,
                mask=[[0, 1, 1], [1, 0, 0], [0, 0, 0]],
                mask_kind="drop",
                memory_padding=(1,),
            ),
            case(
                f"{decoder().replace('activated', 'activated feed-forward/linear feed-forward/gated')} output",
                **DECODER,
                w3="4 3",
                b3="3",
                heads=2,
                activation="geglu",
            ),
            case(
                f"{gemma(attention('cross-attention'), FORWARD).replace('masked', 'masked', 1)} output",
                **DECODER,
                **SUNK,
                **TURNED,
                **after(1, 2, 3),
                heads=2,
                **GEMMA,
            ),
            case(
                f"{side_by_side(attention('cross-attention'), FORWARD)} output",
                **DECODER | ONE_KEY_HEAD | {"cross_wk": "4 2", "cross_wv": "4 2", "cross_wo": "4 4"},
                heads=2,
                **LATER,
            ),
        ),
        inexact="normalised twice, the surds grow beyond what is kept exact",
    ),
    "decoder-only": Expected(
        f"{llama()} output",
        (
            case(**LLAMA, heads=2, rope=True, rope_layout="half", kv_heads=1),
            case(
                f"{gemma(FORWARD)} output",
                **BLOCK,
                **BIASES,
                **NORMS,
                **SUNK,
                **TURNED,
                **after(1, 2),
                heads=2,
                norm="layer",
                activation="gelu-tanh",
                **GEMMA,
            ),
            case(
                f"{side_by_side(GATED)} output",
                **LLAMA | ONE_KEY_HEAD | {"b3": "3"},
                heads=2,
                padding=(2,),
                mask=[[1, 1, 1], [0, 1, 1], [1, 1, 1]],
                mask_kind="keep",
                activation="geglu-tanh",
                **LATER,
            ),
            case(
                f"{llama('').replace('q_rotated', '').replace('k_rotated', '')} output".replace("self-attention/ ", ""),
                **LLAMA,
                heads=2,
                kv_heads=1,
                no_causal=True,
                activation="reglu",
            ),
        ),
        inexact="normalised twice, the surds grow beyond what is kept exact",
    ),
    "transformer": Expected(
        transformer(),
        (
            case(**small()),
            case(**small(output="4 5", output_bias="5", scale_embedding=True, positions="6 4")),
            case(transformer(2, positions=False), **small(positions="none", generate=2)),
            case(
                transformer(1, pre=True),
                **{name: value for name, value in small().items() if name != "target"},
                encoder_norm_gamma="4",
                encoder_norm_beta="4",
                decoder_norm_gamma="4",
                decoder_norm_beta="4",
                generate=1,
                start=3,
                end=1,
                eps=0.1,
                activation="silu",
                norm="pre",
            ),
            case(
                later(),
                **small(**stacked(LATER_LAYER)),
                **LATER | {"softcap": 2.5, "scale": 0.5, "rope": True},
                window=2,
                qk_norm=True,
                qk_norm_over="all",
            ),
        ),
        outputs="tokens memory",
        no_gradient="a ranking jumps",
        pools="a model serves every sentence",
        inexact="normalised twice, the surds grow beyond what is kept exact",
    ),
}
