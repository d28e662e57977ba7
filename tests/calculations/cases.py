"""What every calculation is tried on: its steps by name, and operands and options that change its graph.

A new calculation needs an entry here: the steps and outputs that CALCULATIONS promises, and a case for each of its
operands and options. Everything that tests/calculations/test_registry.py asks is then asked of it.
"""

from __future__ import annotations

from dataclasses import replace

from calculations.cases_layers import LAYERS, SIZED, grouped
from calculations.cases_training import TRAINING
from calculations.trial import Case, Expected, case


def _blocks(*numbers: int) -> str:
    return " ".join(f"block_{b}/{name}" for b in numbers for name in ("scores", "maximum", "sum", "accumulator"))


PAIR = {"a": "5", "b": "5"}
QKV = {"q": "3 4", "k": "3 4", "v": "3 2"}
WIDE = {"q": "2 4", "k": "5 4", "v": "5 3"}
PROJECTED = {"x": "3 4", "wq": "4 2", "wk": "4 2", "wv": "4 3"}
HEADS = {"x": "2 3", "wq": "3 4", "wk": "3 4", "wv": "3 2", "wo": "2 3"}
ADDED = [[0, -1.5, -0.25, 2, 0.5], [1, 0, -3, 0.75, -0.5]]

QK_NORMS = " ".join(grouped(f"{name}-norm", SIZED) for name in "qk")
CACHED = " ".join(f"token_{t}/{name}" for t in (1, 2, 3) for name in ("scores", "weights", "output", "cached_bytes"))
CACHED += " output"
LINEAR = " ".join(f"token_{t}/{name}" for t in (1, 2, 3) for name in ("state", "sum", "output")) + " output "
LINEAR += grouped("parallel", "scores masked weights output")
UNNORMALISED = " ".join(word for word in LINEAR.split() if word.rpartition("/")[2] not in ("sum", "weights"))

DRAFTED = (
    "checked target_share draft_share ratio acceptance overlap reached expected_accepted draws kept lost accepted "
)
DRAFTED += "residual shares drawn_from order sorted running place token"
SCAN = " ".join(f"token_{t}/{name}" for t in (1, 2, 3) for name in ("state", "read")) + " output "
SCAN += "scan/round_1/state scan/round_1/decay scan/round_2/state scan/output"
SCANNED = {"x": "3 2", "delta": "3 2: positive", "a": "2 2", "b": "3 2", "c": "3 2"}

LATENT = "latent k_heads v_heads k_rope q_rotated k_rotated scores scaled masked weights heads concatenated output "
LATENT += grouped("absorbed", "q_absorbed scores latent_heads heads") + " cached_bytes full_bytes"
MLA = {"x": "3 4", "wdq": "4 3", "wuq": "3 4", "wqr": "3 4", "wdkv": "4 3", "wuk": "3 4", "wuv": "3 6", "wkr": "4 2"}
MLA["wo"] = "6 3"

MERGED = " ".join(f"merge_{m}/{name}" for m in (1, 2) for name in ("pairs", "chosen", "words"))
AT_FIRST = grouped("step_1", "candidates chosen token scores ended")
THEN = "extended candidates row chosen origin token scores"
FOUND = f"{AT_FIRST} step_1/hypotheses {grouped('step_2', f'{THEN} kept hypotheses')}"
FOUND_LATER = f"{AT_FIRST} step_1/length step_1/hypotheses {grouped('step_2', f'{THEN} length ended kept hypotheses')} "
FOUND_LATER += grouped("step_3", f"{THEN} length kept hypotheses")
CLASSES = {"logits": "3 4", "target": [0, 2, 3]}
SHARES = [[0.25, 0.125, 0.5, 0.125], [0.1, 0.2, 0.3, 0.4]]
WEIGHTS = [1.0, 0.5, 2.0, 0.25]

STEPS_IN_TRAINING = (
    "comparisons flops parameters activation_bytes kv_cache_bytes backward_flops arithmetic_intensity bound"
)
COUNTED = "parameters of published models and of checkpoints, FLOPs by hand: test_complexity.py"
SMALL_MODEL = {"n": 5, "d_model": 8, "heads": 2, "d_k": 6, "vocab": 20}

EXPECTED: dict[str, Expected] = {
    # Vectors and distances
    "dot": Expected("products dot", (case(**PAIR),)),
    "outer": Expected("outer", (case(a="3", b="4"),)),
    "norm": Expected("powers sum norm", (case(a="5"), case(a="5", p=1), case(a="5", p=3.5), case(a="5", p="inf"))),
    "cosine": Expected(
        "dot norm_a norm_b norm_product cosine",
        (case(**PAIR), case("dot norm_a norm_b norm_product cosine distance", "distance angle", **PAIR, distance=True)),
        outputs="cosine angle",
    ),
    "euclidean": Expected("difference squares sum distance", (case(**PAIR), case(**PAIR, squared=True))),
    "manhattan": Expected("difference absolute distance", (case(**PAIR),)),
    "chebyshev": Expected("difference absolute distance", (case(**PAIR),)),
    "minkowski": Expected("difference powers sum distance", (case(**PAIR), case(**PAIR, p=1.5), case(**PAIR, p=1))),
    "pairwise": Expected(
        "distances",
        (
            case("unit_x unit_y distances", x="3 4", y="2 4"),
            case("unit_x distances", x="3 4"),
            case("unit_x unit_y distances", x="3 4", y="2 4", metric="cosine"),
            *(
                case(x="3 4", y="2 4", metric=metric)
                for metric in ("euclidean", "sqeuclidean", "manhattan", "chebyshev", "minkowski", "dot")
            ),
            case(x="3 4", y="2 4", metric="minkowski", p=1.5),
        ),
    ),
    "project": Expected(
        "dot squared_norm coefficient projection residual",
        (case(a="3", onto="3"), case("gram coefficients projection residual", a="4", onto="4 2")),
        outputs="projection residual",
    ),
    "mips": Expected(
        "scores ranking",
        (case(q="4", keys="5 4"), case(q="4", keys="5 4", top=3)),
        outputs="ranking scores",
        no_gradient="a ranking jumps where two entries change places",
    ),
    "analogy": Expected(
        "target similarities ranking",
        (case(a="3", b="3", c="3", vocabulary="6 3"), case(a="3", b="3", c="3", vocabulary="6 3", top=1)),
        outputs="ranking similarities",
        no_gradient="a ranking jumps where two entries change places",
    ),
    # Matrices
    "matmul": Expected(
        "product",
        (
            case(a="2 3", b="3 4"),
            case("product_1 product_2 product", a="2 3", b="3 4", c="4 2", d="2 3"),
            case(
                "product_1 product_2 product_3 product_4 product_5 product_6 product",
                **dict(zip("abcdefgh", ["1 2", "2 3", "3 2", "2 1", "1 2", "2 2", "2 3", "3 2"], strict=True)),
            ),
        ),
    ),
    # Probability
    "softmax": Expected(
        "shifted exponentials sum softmax",
        (
            case(x="5"),
            case(x="3 4"),
            case(x="3 4", axis=-2),
            case("scaled shifted exponentials sum softmax", x="5", temperature=0.5),
            case("scaled shifted logsumexp log_softmax", x="3 4", temperature=2, log=True),
        ),
    ),
    "log-softmax": Expected("shifted logsumexp log_softmax", (case(x="5"), case(x="3 4"), case(x="3 4", axis=-2))),
    # Attention
    "qkv": Expected(
        "q k v",
        (case(**PROJECTED), case(**PROJECTED, bq="2", bk="2", bv="3"), case(**PROJECTED, context="5 4")),
        outputs="q k v",
    ),
    "attention": Expected(
        "scores scaled weights output",
        (
            case(**QKV),
            case(**WIDE),
            case(q="3 4"),
            case("q k v scores scaled weights output", **PROJECTED),
            case("q k v scores scaled weights output", **PROJECTED, context="5 4"),
            case("scores weights output", **QKV, scale="none"),
            case(**QKV, scale=0.25),
            case("scores scaled masked weights output", **QKV, causal=True),
            case("scores scaled masked weights output", **WIDE, causal=True, causal_align="end"),
            case("scores scaled masked weights output", **QKV, window=2),
            case("scores scaled masked weights output", **QKV, window=2, causal=True),
            case("scores scaled masked weights output", **WIDE, padding=(3,)),
            case("scores scaled masked weights output", **WIDE, mask="2 5: flags"),
            case("scores scaled masked weights output", **WIDE, mask="2 5: flags", mask_kind="drop"),
            case("scores scaled masked weights output", **WIDE, mask=ADDED, mask_kind="additive"),
            case("scores masked scaled weights output", **WIDE, mask=ADDED, mask_before_scale=True),
            case("scores scaled biased weights output", **WIDE, bias="2 5"),
            *(
                replace(tried, pools="several queries one above the other are heads, each with its own slope")
                for tried in (
                    case("scores scaled biased weights output", **QKV, bias="alibi"),
                    case(
                        "scores scaled biased masked weights output",
                        **WIDE,
                        bias="alibi",
                        causal=True,
                        causal_align="end",
                    ),
                )
            ),
            case("q_rotated k_rotated scores scaled weights output", **WIDE, rope=True, rope_layout="half"),
            case("q_rotated k_rotated scores scaled weights output", **QKV, rope=True, rope_positions=[4, 0, 2]),
            case(
                "q_rotated k_rotated scores scaled weights output",
                **WIDE,
                rope=True,
                rope_positions=[4, 5],
                rope_key_positions=[0, 1, 2, 4, 3],
            ),
            case("scores scaled capped weights output", **QKV, softcap=2.5),
            case("scores scaled capped biased masked weights output", **QKV, softcap=2.5, bias="3 3", causal=True),
            case(q="4 3 2", k="2 5 2", v="2 5 3", kv_heads=2),
        ),
        outputs="output weights",
    ),
    "multihead": Expected(
        "q k v q_heads k_heads v_heads scores scaled weights heads concatenated output",
        (
            case(**HEADS, heads=2),
            case(**HEADS, heads=2, bq="4", bk="4", bv="2", bo="3"),
            case(**HEADS, heads=2, context="3 3"),
            case(x="2 3", wq="3 8", wk="3 4", wv="3 2", wo="4 2", heads=4, kv_heads=2),
            case(
                "q k v q_heads k_heads v_heads scores weights heads concatenated output", **HEADS, heads=2, scale="none"
            ),
            *(
                case(
                    "q k v q_heads k_heads v_heads scores scaled masked weights heads concatenated output",
                    **HEADS,
                    heads=2,
                    **rule,
                )
                for rule in (
                    {"causal": True, "window": 2},
                    {"causal": True, "context": "3 3", "causal_align": "end"},
                    {"padding": (1,)},
                    {"mask": [[1, 0], [0, 0]], "mask_kind": "drop"},
                )
            ),
            case(
                "q k v q_heads k_heads v_heads scores masked scaled capped biased weights heads concatenated output",
                **HEADS,
                heads=2,
                causal=True,
                mask_before_scale=True,
                softcap=1.5,
                bias="2 2 2",
            ),
            case(
                "q k v q_heads k_heads v_heads q_rotated k_rotated scores scaled biased weights heads concatenated "
                "output",
                **HEADS,
                heads=2,
                rope=True,
                rope_positions=[3, 1],
                rope_key_positions=[0, 1],
                bias="alibi",
            ),
            case(
                f"q k v q_heads k_heads v_heads {QK_NORMS} scores scaled biased kept weights heads concatenated output",
                **HEADS,
                heads=2,
                bias="t5",
                bias_table="4 2",
                max_distance=3,
                sinks="2",
                qk_norm=True,
                q_gamma="2",
                k_gamma="2",
                eps=0.1,
            ),
            case(
                f"q k v {QK_NORMS} q_heads k_heads v_heads scores scaled weights heads concatenated output",
                **HEADS,
                heads=2,
                qk_norm=True,
                qk_norm_over="all",
                q_gamma="4",
                k_gamma="4",
                eps=0.1,
            ),
        ),
        outputs="output weights",
    ),
    "latent-attention": Expected(
        f"q q_heads q_rope {LATENT.replace('masked ', '')}",
        (
            case(
                **{name: shape for name, shape in MLA.items() if name != "wdq"} | {"wuq": "4 4", "wqr": "4 4"}, heads=2
            ),
            case(
                f"q_latent {grouped('q-norm', SIZED)} q q_heads q_rope latent {grouped('kv-norm', SIZED)} "
                + LATENT.removeprefix("latent "),
                **MLA,
                q_gamma="3",
                kv_gamma="3",
                heads=2,
                causal=True,
                padding=(2,),
                scale=0.5,
                eps=0.1,
                bytes=4,
                rope_positions=[0, 2, 3],
            ),
            case(
                f"q_latent q q_heads q_rope {LATENT}",
                **MLA,
                heads=2,
                mask=[[1, 0, 0], [1, 1, 0], [0, 0, 1]],
                mask_kind="drop",
            ),
            case(
                f"q_latent q q_heads q_rope {LATENT.replace('scaled masked', 'sharpened scaled')}",
                **MLA,
                heads=2,
                rope_scaling="yarn",
                rope_factor=4,
                rope_original_length=8,
                rope_mscale=1,
                rope_mscale_all_dim=0.7,
            ),
        ),
        outputs="output weights largest_difference",
        pools="what is cached is counted for one text",
    ),
    "linear-attention": Expected(
        f"q_features k_features {LINEAR}",
        (
            case(**QKV),
            case(UNNORMALISED, **QKV, feature="none", unnormalised=True),
            case(f"q k v q_features k_features {LINEAR}", x="3 4", wq="4 2", wk="4 2", wv="4 3"),
            case(q="3 4"),
        ),
        outputs="output largest_difference",
    ),
    "ssm": Expected(
        f"decay added {SCAN}",
        (
            case(**SCANNED),
            case(
                f"rates durations decay added {SCAN}",
                **SCANNED,
                skip="2",
                a_log=True,
                delta_softplus=True,
                discretization="zoh",
            ),
        ),
        outputs="output largest_difference",
    ),
    "kv-cache": Expected(
        CACHED,
        (
            case(**QKV),
            case(**QKV, scale=0.5, bytes=4),
            case(f"q k v {CACHED}", x="3 4", wq="4 2", wk="4 2", wv="4 3"),
            case(q="3 4"),
        ),
        outputs="output largest_difference",
    ),
    "flash": Expected(
        f"{_blocks(1, 2)} output",
        (
            case(**QKV),
            case(**QKV, causal=True),
            case(**QKV, scale="none"),
            case(f"{_blocks(1, 2, 3)} output", **WIDE, mask="2 5: flags"),
            case(f"{_blocks(1, 2, 3)} output", **WIDE, mask=ADDED, mask_kind="additive"),
            case(f"{_blocks(1, 2, 3)} output", **WIDE, window=1),
            case(**QKV, causal=True, window=1, block=2),
            case(f"{_blocks(1, 2, 3)} output", **WIDE, causal=True, causal_align="end"),
            case(f"{_blocks(1)} output", **QKV, block=3),
            case(f"q k v {_blocks(1, 2)} output", x="3 4", wq="4 2", wk="4 2", wv="4 3"),
            case(f"q k v {_blocks(1, 2, 3)} output", **PROJECTED, context="5 4"),
            case(q="3 4"),
        ),
    ),
    # Matrices taken apart
    "eigen": Expected(
        "characteristic_polynomial eigenvalues eigenvectors",
        (
            case(a=[[4.0, 1.0], [2.0, 3.0]]),
            case(a=[[1.0, 2.0], [2.0, -2.0]]),
            case(a=[[2.0, 0.0, 0.0], [0.0, 3.0, 4.0], [0.0, 4.0, 9.0]]),
        ),
        outputs="eigenvalues eigenvectors a_v lambda_v",
    ),
    "svd": Expected(
        "u s vt",
        (
            case(a=[[3.0, 0.0], [4.0, 5.0]]),
            case(a=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
            case(
                "u s vt approximation error", "approximation error s u vt", a=[[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]], rank=1
            ),
        ),
        outputs="s u vt rebuilt",
    ),
    # More of probability
    "cross-entropy": Expected(
        "probabilities log_probabilities losses loss",
        (
            case(**CLASSES),
            Case({"logits": "4", "target": 2}),
            case(logits="2 3 4", target=[[0, 1, 2], [3, 3, 0]]),
            case(logits="2 4", target=[[0, 0, 1, 0], [1, 0, 0, 0]]),
            case(logits="2 4", target=SHARES),
            case(probabilities=SHARES, target=[1, 3]),
            case(logits=SHARES, target=[[0.5, 0, 0.5, 0], [0, 0, 0, 1]], from_probabilities=True),
            *(case(**CLASSES, base=base) for base in (2, 10)),
            *(case(**CLASSES, reduction=reduction) for reduction in ("sum", "none")),
            case(**CLASSES, class_weights=WEIGHTS),
            case(**CLASSES, label_smoothing=0.25),
            case(**CLASSES, class_weights=WEIGHTS, label_smoothing=0.25, base=2),
            case(logits="2 4", target=SHARES, class_weights=WEIGHTS, label_smoothing=0.5),
            case(**CLASSES, ignore_index=3),
            case(logits="3 4", target=[0, -100, 3], class_weights=WEIGHTS, label_smoothing=0.25, ignore_index=-100),
        ),
        pools="a mean over rows is one over those of a batch as well",
    ),
    "next-token-loss": Expected(
        "probabilities log_likelihood loss perplexity",
        (case(logits="3 5", targets=[4, 0, 2]),),
        outputs="loss perplexity",
    ),
    "perplexity": Expected(
        "log_probabilities mean_negative_log perplexity",
        tuple(case(probabilities=[0.2, 0.5, 0.05, 1.0], base=base) for base in ("e", 2, 10)),
    ),
    "contrastive-loss": Expected(
        "unit_a unit_b similarities logits log_shares_a losses_a loss_a log_shares_b losses_b loss_b loss",
        (
            case(a="3 2", b="3 2"),
            case(
                "similarities logits log_shares_a losses_a loss_a loss",
                a="3 4",
                b="3 4",
                temperature=0.5,
                kind="infonce",
                raw=True,
            ),
        ),
    ),
    "preference-loss": Expected(
        "log_ratios_chosen log_ratios_rejected margins losses loss",
        (
            case(chosen="3", rejected="3", ref_chosen="3", ref_rejected="3", beta=0.5),
            case("ratios gained held bounded kept loss", new="4", old="4", advantages="4", kind="ppo", clip=0.1),
            case(
                "ratios centred deviation advantages gaps divergences gained held bounded kept loss",
                new="4",
                old="4",
                ref="4",
                rewards="4",
                kind="grpo",
                eps=0.01,
            ),
        ),
    ),
    "speculative": Expected(
        f"target_probabilities draft_probabilities {DRAFTED}",
        (
            case(target="3 4", draft="2 4", tokens=[2, 0], seed=3),
            case(
                f"target_scaled target_probabilities draft_scaled draft_probabilities {DRAFTED}",
                target="2 4",
                draft="1 4",
                tokens=[1],
                temperature=0.5,
            ),
            case(
                DRAFTED,
                target=[[0.5, 0.25, 0.25], [0.125, 0.375, 0.5]],
                draft=[[0.25, 0.5, 0.25]],
                tokens=[1],
                from_probabilities=True,
            ),
        ),
        outputs="token accepted",
        no_gradient="a ranking jumps where two entries change places",
    ),
    "beam": Expected(
        f"probabilities log_probabilities {FOUND} best sequence",
        (
            case(transitions="4 4", length=2, beam=3, end=1),
            case(
                f"log_probabilities {FOUND_LATER} penalty normalised best sequence",
                transitions=[[0.125, 0.5, 0.375], [0.25, 0.125, 0.625], [0.5, 0.25, 0.25]],
                length=3,
                length_penalty=1.5,
                from_probabilities=True,
            ),
        ),
        outputs="sequence score",
        no_gradient="it is flat but for its jumps",
        pools="a table stands for a whole text",
    ),
    "sampling": Expected(
        "probabilities order sorted shares running place token",
        (
            case(logits="5", seed=3),
            case("probabilities order sorted shares token", logits="5", greedy=True),
            case(
                "seen penalised scaled probabilities order sorted top_k ahead top_p least min_p shares running place "
                "token",
                logits=[2, 1, 0.5, -1, 0],
                previous=[0, 3, 3],
                temperature=0.8,
                top_k=4,
                top_p=0.9,
                min_p=0.4,
                repetition_penalty=1.5,
                seed=1,
            ),
        ),
        outputs="token shares",
        no_gradient="a ranking jumps where two entries change places",
    ),
    "expectation": Expected(
        "products mean deviations squares variance standard_deviation",
        (case(values="5"), case(values="4", probabilities=SHARES[0]), case(values="5", sample=True)),
        outputs="mean variance standard_deviation",
    ),
    "entropy": Expected("logs terms entropy", (case(p=SHARES[0]), case(p=SHARES[1], base=2))),
    "kl": Expected(
        "ratios terms divergence", (case(p=SHARES[0], q=SHARES[1]), case(p=SHARES[1], q=SHARES[0], base=10))
    ),
    "bayes": Expected(
        "joint evidence posterior",
        (
            case(prior=[0.1, 0.9], likelihood=[0.8, 0.25]),
            case(prior=[0.2, 0.3, 0.5], likelihood=[[0.5, 0.5], [0.1, 0.9], [0.75, 0.25]]),
            case(prior=[0.2, 0.3, 0.5], likelihood=[[0.5, 0.5], [0.1, 0.9], [0.75, 0.25]], observed=1),
        ),
    ),
    "likelihood": Expected(
        "probabilities log_probabilities log_likelihood maximum_likelihood_estimate",
        (
            case(observations="4", distribution="normal", mean=0.5, std=2),
            *(
                Case(given, options, no_gradient=why)
                for given, options, why in (
                    ({"observations": [1, 0, 1, 1]}, {"p": 0.6}, "counts are whole numbers"),
                    (
                        {"observations": [2, 0, 2], "probabilities": [0.2, 0.3, 0.5]},
                        {"distribution": "categorical"},
                        "a choice",
                    ),
                    ({"observations": [0, 2, 5]}, {"distribution": "poisson", "rate": 2.5}, "whole numbers"),
                )
            ),
        ),
        outputs="log_likelihood maximum_likelihood_estimate",
    ),
    # Experiments
    "concentration": Expected(
        "mean_cosine spread distance_ratio",
        (Case({}, {"n": (2, 5), "trials": 20, "seed": 3}),),
        outputs="distance_ratio mean_cosine spread",
        no_gradient="given nothing that could have a gradient",
    ),
    "scaling": Expected(
        "predicted_variance sampled_variance max_weight_unscaled max_weight_scaled",
        (Case({}, {"dk": (2, 5), "trials": 20, "seed": 3, "sigma": 0.5}),),
        outputs="max_weight_scaled predicted_variance sampled_variance max_weight_unscaled",
        no_gradient="given nothing that could have a gradient",
    ),
    "bpe": Expected(
        f"letters counts {MERGED} merges",
        (
            Case({}, {"corpus": "aba:3 abab:1 aaa:2 b aba", "merges": 2}),
            Case(
                {},
                {"corpus": "ab abc:4 cab:2", "merges": 2, "encode": "cabab c", "end_of_word": True},
                f"letters counts {MERGED} merges encode/letters encode/after_1 tokens",
                "tokens merges",
            ),
        ),
        outputs="merges",
        no_gradient="given nothing that could have a gradient",
    ),
    "complexity": Expected(
        "comparisons flops parameters activation_bytes kv_cache_bytes arithmetic_intensity bound",
        (
            Case({}, {"n": 7, "d_model": 12, "heads": 4, "layers": 3, "bytes": 4}),
            Case({}, {"n": 5, "heads": 4, "kv_heads": 2, "d_ffn": 96, "vocab": 50}),
            Case({}, {"n": 2048, "flops_per_second": 1e12, "bandwidth": 1e12}),
            Case({}, SMALL_MODEL | {"activation": "reglu", "norm": "rms", "norm_at": "pre", "batch": 2}),
            Case({}, SMALL_MODEL | {"biases": ("all",), "positions": 9, "final_norm": True, "decoder_layers": 2}),
            *(
                Case({}, SMALL_MODEL | options, steps, elsewhere=COUNTED)
                for steps, options in (
                    ("", {"rope": True, "qk_norm": True}),
                    ("", {"segments": 2, "embedding_norm": True, "head": "pooler"}),
                    ("", {"layers": 3, "experts": 4, "experts_d_ffn": 5, "experts_shared": 3, "experts_dense": 1}),
                    ("", {"experts": 4, "experts_top": 1}),
                    ("", {"latent_width": 6, "latent_queries": 5, "latent_rope": 2, "latent_d_v": 3}),
                    (
                        STEPS_IN_TRAINING,
                        {"model": "gpt2", "training": True},
                    ),
                )
            ),
        ),
        outputs="bound total_flops total_parameters ridge",
        no_gradient="given nothing that could have a gradient",
    ),
}

EXPECTED |= LAYERS | TRAINING
