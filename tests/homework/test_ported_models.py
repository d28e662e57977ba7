"""Dumps of ports of models as torch makes them: a name is the right one or none, and what is right is right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkpoints import IDS, computed, rewritten
from homework.test_model_dumps import FFN, REMEMBERED, SCORES, continued, marker_of, returned

import attncalc as ac
from attncalc.evaluate.precisions import held
from attncalc.homework.reading.sheets import from_python

WIDER = {4: 8, 8: 32, 12: 48, 24: 96}
WIDE = {"hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4, "head_dim": 8}
TEXT = [*IDS, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3]


def wider(tensors: dict[str, Any]) -> dict[str, Any]:
    """Tensors of a wider model, which bfloat16 holds."""
    by_chance = np.random.default_rng(1)
    shapes = {name: [WIDER.get(size, size) for size in value.shape] for name, value in tensors.items()}
    drawn = {name: by_chance.normal(0, 0.18, shape) for name, shape in shapes.items()}
    return {
        name: held(value + 0.9 * ("norm.weight" in name or "layernorm.weight" in name), "bfloat16").astype(np.float32)
        for name, value in drawn.items()
    }


@pytest.mark.thorough
def test_another_number_that_is_nearer_than_a_mistake_within_noise_is_named(tmp_path: Path) -> None:
    """With fewer entries turned, a pair is one of neighbours; noise hides the turns of the other one."""
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4}
    m = ac.load(rewritten(tmp_path, "gpt_neox", wider, config=sizes))
    dump = returned(m(TEXT, dtype="bfloat16", rope_dims=2))
    states = {name: value.astype(np.float32) for name, value in dump.items() if "attentions" not in name}
    marked = m(TEXT).check(states)
    told = next(step for step in marked.steps if step.mistake)
    assert told.mistake == "rope-other-dims"
    assert "another number: 2" in told.finding.says


LIKE_EPSILON = [("bert", 0.01), ("bert", 0.03), ("gpt2", 0.03), ("gpt_neox", 0.01), ("llama", 0.03), ("llama3", 0.03)]
"""Where bfloat16 leaves a mistake that divides by nearly as much as a norm with another ε."""


@pytest.mark.release
@pytest.mark.parametrize(("model", "eps"), LIKE_EPSILON)
def test_another_epsilon_within_noise_gets_no_other_name(model: str, eps: float) -> None:
    t = computed(model, dtype="bfloat16", eps=eps)
    named = "output", "residual1", "residual2", "weights", "logits"
    for dump in (returned(t), {step.key: t[step.key] for step in t.steps if step.name in named}):
        marked = marker_of(model).mark(from_python({name: x.astype(np.float32) for name, x in dump.items()}))
        assert {step.mistake for step in marked.steps} <= {None, "", "ln-wrong-eps"}


APART = {"bert": "query key value", "opt": "q_proj k_proj v_proj", "bart": "q_proj k_proj v_proj"}


@pytest.mark.thorough
@pytest.mark.spread(5)
@pytest.mark.parametrize("model", APART)
@pytest.mark.parametrize(("one", "other"), [(0, 1), (1, 2), (0, 2)])
def test_projections_that_are_stored_apart_are_exchanged_and_not_cut(
    tmp_path: Path, model: str, one: int, other: int
) -> None:
    names = APART[model].split()

    def exchanged(tensors: dict[str, Any]) -> dict[str, Any]:
        found = dict(tensors)
        for name in tensors:
            for a, b in ((names[one], names[other]), (names[other], names[one])):
                if f".{a}." in name:
                    found[name] = tensors[name.replace(f".{a}.", f".{b}.")]
        return found

    dump = returned(computed(model, rewritten(tmp_path, model, exchanged), dtype="float32"))
    marked = marker_of(model).mark(from_python(dump))
    told = [step for step in marked.steps if step.mistake]
    assert told[0].name == marked.first_wrong
    assert {step.mistake for step in told} <= {"qkv-exchanged", "att-qk-swapped"}


LEARNED = [
    *((model, "gamma beta", "ln-no-affine") for model in ("gpt2", "bert", "opt", "gpt_neox", "vit")),
    *((model, "beta", "ln-no-beta") for model in ("gpt2", "bert", "opt", "gpt_neox", "vit")),
    *((model, "exchanged", "ln-gamma-beta-swapped") for model in ("gpt2", "bert", "opt", "gpt_neox", "vit")),
    *((model, "gamma", "rms-no-gain") for model in ("llama", "qwen3", "mamba", "t5", "deepseek_v2")),
]


@pytest.mark.spread(32)
@pytest.mark.thorough
@pytest.mark.parametrize(("model", "what", "mistake"), LEARNED, ids=[f"{m}-{name}" for m, _, name in LEARNED])
@pytest.mark.parametrize("of", ["every norm", "norm2", "final norm"])
def test_a_norm_without_what_it_has_learned_is_named(model: str, what: str, mistake: str, of: str) -> None:
    t = computed(model)
    given: dict[tuple[str, str], Any] = {}
    weights, steps = {name: held.value for name, held in t.inputs.items()}, continued(t, {})
    for step in t.steps:
        group = step.group
        if step.name != "normalized" or (of != "every norm" and not group.endswith(of)):
            continue
        x = steps[f"{group}/normalized"]
        part = group.rpartition("/")[2].removesuffix("-norm")
        stem = f"{group.rpartition('/')[0]}/{part}_" if f"{group}/gamma" not in weights else f"{group}/"
        gamma, beta = (weights.get(f"{stem}{name}") for name in ("gamma", "beta"))
        scale, shift = (beta, gamma) if what == "exchanged" else (gamma if what == "beta" else 1, 0)
        given[group, "output"] = x * scale + shift
        steps |= continued(t, given)
        steps[f"{group}/output"] = given[group, "output"]
    if not given:
        pytest.skip("there is no such norm")
    names = marker_of(model).key.names
    dump = {name: steps["/".join(filter(None, names.find(name)))] for name in returned(t)}
    marked = marker_of(model).mark(from_python({name: value.astype(np.float32) for name, value in dump.items()}))
    told = [step.mistake for step in marked.steps if step.mistake]
    assert told[0] == mistake
    assert {*told} == {mistake}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("model", "held_in", "change", "at", "mistake"),
    [
        ("vit", "projection.weight", lambda x: np.swapaxes(x, -1, -2), "embedding/output", "patch-kernel-transposed"),
        ("vit", "projection.weight", lambda x: x[:, ::-1], "embedding/output", "patch-channels-reversed"),
        ("qwen2", "_proj.bias", np.zeros_like, FFN, "bias-missing"),
        ("bart", "final_logits_bias", np.zeros_like, "logits", "bias-missing"),
        ("marian", "final_logits_bias", np.zeros_like, "logits", "bias-missing"),
        ("bert", "cls.predictions.bias", np.zeros_like, "logits", "bias-missing"),
    ],
)
def test_what_is_stored_around_the_layers_and_misread_is_named(
    tmp_path: Path, model: str, held_in: str, change: Any, at: str, mistake: str
) -> None:
    def misread(tensors: dict[str, Any]) -> dict[str, Any]:
        return {name: change(value) if held_in in name else value for name, value in tensors.items()}

    dump = returned(computed(model, rewritten(tmp_path, model, misread)))
    marked = marker_of(model).mark(from_python({name: value for name, value in dump.items() if "att" not in name}))
    assert (marked.first_wrong, marked[at].mistake) == (at, mistake)


@pytest.mark.thorough
@pytest.mark.spread(4)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("options", [{"rope_original_length": 32}, {"rope_factor": 4.0}], ids=["length", "factor"])
def test_another_scaling_of_frequencies_is_named_and_nothing_else(
    tmp_path: Path, options: dict[str, Any], dtype: Any
) -> None:
    """As many frequencies as tell it from none; in the next layer noise hides which of the two it is."""
    m = ac.load(rewritten(tmp_path, "llama3", wider, config=WIDE))
    marked = m(TEXT).check(returned(m(TEXT, dtype=dtype, **options)))
    assert next((step.name, step.mistake) for step in marked.steps if step.mistake) == (SCORES, "rope-scaling-other")
    assert {step.mistake for step in marked.steps if step.mistake} == {"rope-scaling-other"}


@pytest.mark.thorough
def test_one_expert_more_is_named() -> None:
    marked = marker_of("mixtral").mark(from_python(returned(computed("mixtral", dtype="float32", experts_top=3))))
    assert (marked.first_wrong, marked[FFN].mistake) == (FFN, "experts-one-more")


@pytest.mark.thorough
@pytest.mark.parametrize("model", ["llama", "mistral", "gpt2"])
def test_norms_with_the_gains_of_each_other_are_named(tmp_path: Path, model: str) -> None:
    names = ("ln_1.", "ln_2.") if model == "gpt2" else ("input_layernorm", "post_attention_layernorm")

    def exchanged(tensors: dict[str, Any]) -> dict[str, Any]:
        other = {name: name.replace(a, b) for name in tensors for a, b in (names, names[::-1]) if a in name}
        return {name: tensors[other.get(name, name)] for name in tensors}

    dump = returned(computed(model, rewritten(tmp_path, model, exchanged), dtype="float32"))
    marked = marker_of(model).mark(from_python({name: value for name, value in dump.items() if "att" not in name}))
    assert (marked.first_wrong, marked[FFN].mistake) == (FFN, "norm-gains-exchanged")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"eps": 1e-5}, id="eps"),
        pytest.param({"rope_base": 10100.0}, id="base", marks=pytest.mark.release),
    ],
)
def test_float32_of_a_checkpoint_in_bfloat16_has_the_noise_of_float32(tmp_path: Path, options: dict[str, Any]) -> None:
    """Its embeddings are numbers of bfloat16, and nothing else is."""
    m = ac.load(rewritten(tmp_path, "llama", wider, config=WIDE))
    right, wrong = (returned(m(TEXT, dtype="float32", **other)) for other in ({}, options))
    assert m(TEXT).check(right)
    assert m(TEXT).check(wrong).first_wrong == SCORES


def attending(t: ac.Trace, layer: int, change: Any, *, causal: bool = True) -> Any:
    """The weights of a layer with ALiBi, whose slopes and distances are changed."""
    scaled = t[f"layer {layer}/attention/scaled"]
    heads, n, _ = scaled.shape
    slopes, distances = change(2.0 ** (-8 * np.arange(1, heads + 1) / heads), np.arange(n)[:, None] - np.arange(n))
    scores = scaled - slopes[:, None, None] * distances
    e = np.exp(np.where(np.tri(n, dtype=bool), scores, -np.inf) if causal else scores)
    return e / e.sum(-1, keepdims=True)


@pytest.mark.thorough
@pytest.mark.parametrize("model", ["bloom", "mpt"])
@pytest.mark.parametrize(
    ("change", "causal", "mistake"),
    [
        (lambda slopes, distances: (slopes[::-1], abs(distances)), True, "alibi-slopes-reversed"),
        (lambda slopes, distances: (slopes, distances), False, "mask-missing"),
    ],
    ids=["reversed", "unmasked"],
)
def test_other_slopes_and_signed_distances_are_named(model: str, change: Any, causal: bool, mistake: str) -> None:
    t = computed(model)
    steps = continued(t, {}) | continued(t, {("layer 0/attention", "weights"): attending(t, 0, change, causal=causal)})
    shown = {name: steps[name].astype(np.float32) for name in (SCORES, "layer 0/residual2")}
    marked = marker_of(model).mark(from_python(shown))
    assert (marked.first_wrong, marked[SCORES].mistake) == (SCORES, mistake)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("model", "layer", "number", "past"),
    [
        ("bart", "encoder/layer 0", 2, "embedding/norm/output"),
        ("bart", "decoder/layer 0", 3, "norm1/output"),
        ("llama", "layer 0", 2, "embedding/output"),
    ],
)
def test_what_goes_past_a_part_from_before_is_named(model: str, layer: str, number: int, past: str) -> None:
    t = computed(model)
    group = layer if past.startswith("norm") else layer.rpartition("layer")[0].rstrip("/")
    x = t["/".join(filter(None, (group, past)))]
    found = x + t[f"{layer}/feed-forward/output"]
    steps = continued(t, {}) | continued(t, {(layer, f"residual{number}"): found})
    key = marker_of(model).key
    told = returned(t)
    dump = {name: steps["/".join(filter(None, key.names.find(name)))].astype(np.float32) for name in told}
    marked = marker_of(model).mark(from_python(dump))
    assert next(step.mistake for step in marked.steps if step.mistake) == "block-skip-stale"


@pytest.mark.thorough
@pytest.mark.parametrize("stored", ["bfloat16", "float16"])
def test_states_in_float32_have_the_noise_of_a_model_whose_logits_alone_are_narrow(stored: str) -> None:
    """As torch's Mamba keeps the sums of its layers in float32, and returns nothing else before its logits."""
    t = computed("mamba", dtype=stored)
    dump = returned(t)
    states = {name: value.astype(np.float32) for name, value in dump.items()}
    for name in (name for name in states if name != "logits"):
        states[name] = np.nextafter(states[name], np.float32(np.inf), dtype=np.float32)  # no longer ones of that type
    marked = marker_of("mamba").mark(from_python(states))
    assert marked
    assert any("as other arrays are" in (step.hint or "") for step in marked.steps)


@pytest.mark.thorough
def test_few_logits_of_few_decimals_have_the_noise_of_the_states_beside_them() -> None:
    """Alone they may be a hand's."""
    dump = {name: held(value, "bfloat16") for name, value in returned(computed("vit")).items() if "hidden" in name}
    dump["logits"] = np.array([0.984375, -0.54296875, -1.4453125, 0.71875, -0.890625])
    for off, first in ((0.0, None), (0.125, "logits")):
        dump["logits"][0] += off
        marked = marker_of("vit").mark(from_python({name: x.astype(np.float32) for name, x in dump.items()}))
        assert (marked.first_wrong, "judged as bfloat16" in (marked["logits"].hint or "")) == (first, True)


@pytest.mark.thorough
@pytest.mark.spread(4)
@pytest.mark.parametrize("becomes", [np.nan, 1e9])
@pytest.mark.parametrize("lost", [3, 5])
def test_a_mistake_by_which_a_state_overflows_is_named_in_the_rows_before(lost: int, becomes: float) -> None:
    t, at = computed("mamba"), REMEMBERED
    right, place = continued(t, {}), ("layer 0/ssm/scan", "durations")
    wrong = continued(t, {place: t["layer 0/ssm/delta"]})
    for steps, named in ((right, ""), (wrong, "ssm-no-softplus")):
        dump = steps[at].astype(np.float32)
        dump[lost:], dump[lost - 1] = becomes, dump[lost - 1] * 1e30
        marked = marker_of("mamba").mark(from_python({at: dump}))
        assert (marked.first_wrong, marked[at].mistake or "") == (at, named)


@pytest.mark.parametrize("loss", [np.nan, pytest.param(1e30, marks=pytest.mark.release)])  # all mistakes are sought
def test_a_loss_that_is_lost_is_wrong(loss: float) -> None:
    assert marker_of("gpt2").mark(from_python({"loss": np.float32(loss)})).first_wrong == "loss"


@pytest.mark.thorough
@pytest.mark.parametrize("stored", ["bfloat16", pytest.param("float16", marks=pytest.mark.release)])
def test_a_token_that_goes_to_an_expert_whose_score_is_far_from_the_best_is_wrong(stored: str) -> None:
    t, place = computed("mixtral"), ("layer 1/feed-forward", "logits")
    logits = t["/".join(place)].copy()
    logits[2] = -logits[2]
    steps = continued(t, {place: logits})
    dump = {name: held(steps[name], stored).astype(np.float32) for name in ("layer 1/residual2", "logits")}
    marked = marker_of("mixtral").mark(from_python(dump))
    assert (bool(marked), marked.first_wrong) == (False, "layer 1/residual2")


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def even(x: Any, eps: float = 1e-6) -> Any:
    """What an RMS norm makes of a row, without a gain."""
    return x / np.sqrt(np.mean(x * x, -1, keepdims=True) + eps)


Steps = dict[str, Any]
Given = dict[tuple[str, str], Any]
SSM, ROUTED = "layer 0/ssm", "layer 1/feed-forward"


def centred_windows(t: ac.Trace) -> Any:
    """A convolution whose windows have their token in the middle."""
    kernel, inner = t.inputs[f"{SSM}/kernel"].value, np.pad(t[f"{SSM}/inner"], ((1, 1), (0, 0)))
    n, reach = len(t[f"{SSM}/inner"]), kernel.shape[-1]
    seen = np.stack([inner[i : i + n] for i in range(reach)])
    return np.einsum("knd,dk->nd", seen, kernel.reshape(-1, reach)) + t.inputs[f"{SSM}/kernel_bias"].value


def gated_before(t: ac.Trace) -> Any:
    """Experts that are asked for what their gates leave of a token."""
    x, gates = t["layer 0/norm2/output"], t["layer 0/feed-forward/gates"]
    w1, w2, w3 = (t.inputs[f"layer 0/experts/{name}"].value for name in ("w1", "w2", "w3"))
    up, beside = (np.einsum("ne,nd,edf->enf", gates, x, w) for w in (w1, w3))
    return np.einsum("ne,enf,efd->nd", gates > 0, up * sigmoid(up) * beside, w2)


def corrected(t: ac.Trace) -> Any:
    return sigmoid(t[f"{ROUTED}/logits"] + t.inputs["layer 1/experts/correction"].value)


def of_the_sum(t: ac.Trace) -> Any:
    x = t["embedding/output"] + t["layer 0/attention/output"]
    return even(x) * (1 + t.inputs["layer 0/post-norm1/gamma"].value)


def past(t: ac.Trace) -> Any:
    return t[f"{SSM}/x"] * t.inputs[f"{SSM}/skip"].value


def by_silu(t: ac.Trace) -> Any:
    return t[f"{SSM}/gate"] * sigmoid(t[f"{SSM}/gate"])


PORTS: list[tuple[str, str, str, Any]] = [
    (
        "mamba",
        "ssm-gate-sigmoid",
        REMEMBERED,
        lambda t: {(SSM, "gated"): t[f"{SSM}/scan/output"] * sigmoid(t[f"{SSM}/gate"])},
    ),
    (
        "mamba",
        "ssm-skip-past-gate",
        REMEMBERED,
        lambda t: {(SSM, "gated"): (t[f"{SSM}/scan/output"] - past(t)) * by_silu(t) + past(t)},
    ),
    (
        "mamba",
        "ssm-skip-not-loaded",
        REMEMBERED,
        lambda t: {(f"{SSM}/scan", "output"): t[f"{SSM}/scan/output"] - past(t) + t[f"{SSM}/x"]},
    ),
    ("mamba", "ssm-a-log-as-a", REMEMBERED, lambda t: {(f"{SSM}/scan", "rates"): -np.log(-t[f"{SSM}/scan/rates"])}),
    (
        "mamba",
        "ssm-decay-without-delta",
        REMEMBERED,
        lambda t: {(f"{SSM}/scan", "decay"): np.exp(t[f"{SSM}/scan/rates"]) + 0 * t[f"{SSM}/scan/decay"]},
    ),
    (
        "mamba",
        "ssm-bias-after-softplus",
        REMEMBERED,
        lambda t: {
            (f"{SSM}/scan", "durations"): np.log1p(np.exp(t[f"{SSM}/delta"] - t.inputs[f"{SSM}/bdt"].value))
            + t.inputs[f"{SSM}/bdt"].value
        },
    ),
    ("mamba", "ssm-conv-looks-ahead", REMEMBERED, lambda t: {(SSM, "convolved"): centred_windows(t)}),
    ("mixtral", "experts-gated-before", FFN, lambda t: {("layer 0/feed-forward", "output"): gated_before(t)}),
    (
        "deepseek_v3",
        "experts-correction-in-logits",
        "layer 1/residual2",
        lambda t: {(ROUTED, name): corrected(t) for name in ("probabilities", "corrected")},
    ),
    (
        "deepseek_v3",
        "norm-missing",
        SCORES,
        lambda t: {("layer 0/attention/kv-norm", "output"): t["layer 0/attention/latent"]},
    ),
    (
        "gpt2",
        "ffn-no-activation",
        FFN,
        lambda t: {("layer 0/feed-forward", "activated"): t["layer 0/feed-forward/hidden"]},
    ),
    ("gemma2", "norm-of-sum-for-part", "layer 0/residual1", lambda t: {("layer 0", "residual1"): of_the_sum(t)}),
]


@pytest.mark.thorough
@pytest.mark.spread(6)
@pytest.mark.parametrize(("model", "mistake", "at", "wrong"), PORTS, ids=[f"{p[0]}-{p[1]}" for p in PORTS])
def test_what_a_port_does_otherwise_is_named(model: str, mistake: str, at: str, wrong: Any) -> None:
    t = computed(model)
    steps = continued(t, {}) | continued(t, wrong(t))
    marked = marker_of(model).mark(from_python({at: steps[at].astype(np.float32)}))
    assert (marked.first_wrong, marked[at].mistake) == (at, mistake)


@pytest.mark.thorough
@pytest.mark.parametrize("mistake", ["norm-layer-for-rms", "norm-plus-one-added"])
def test_what_one_class_does_wrong_for_all_norms_is_named(mistake: str) -> None:
    """Those of latents are of the same class as the others."""
    t = computed("deepseek_v3")
    given: Given = {}
    steps: Steps = continued(t, {})
    for group in [step.group for step in t.steps if step.name == "normalized" and step.group.startswith("layer 0/")]:
        x = steps[f"{group}/normalized"]
        if mistake == "norm-plus-one-added":
            given[group, "output"] = steps[f"{group}/output"] + x
        else:
            x = x * steps[f"{group}/root_mean_square"][:, None]
            given[group, "normalized"] = even(x - x.mean(-1, keepdims=True), 1e-5 if group.endswith("norm1") else 1e-6)
        steps |= continued(t, given)
    marked = marker_of("deepseek_v3").mark(from_python({SCORES: steps[SCORES].astype(np.float32)}))
    assert marked[SCORES].mistake == mistake


@pytest.mark.thorough
def test_gates_that_share_a_whole_where_they_should_not_are_named(tmp_path: Path) -> None:
    """As Mixtral's code makes them, in a model of Qwen's that leaves them as they are."""
    folder = rewritten(tmp_path, "qwen3_moe", dict, config={"norm_topk_prob": False})
    dump = returned(computed("qwen3_moe", folder, experts_no_renormalise=False))
    marked = computed("qwen3_moe", folder).check(dump)
    assert (marked.first_wrong, marked[FFN].mistake) == (FFN, "experts-softmax-after-topk")


@pytest.mark.thorough
def test_groups_that_are_ranked_by_their_best_expert_alone_are_named() -> None:
    dump = returned(computed("deepseek_v3", dtype="float32", experts_group_by="best"))
    told = [step.mistake for step in marker_of("deepseek_v3").mark(from_python(dump)).steps if step.mistake]
    assert told[:1] == ["experts-groups-by-other"]


@pytest.mark.thorough
def test_norms_that_another_model_calls_so_are_named(tmp_path: Path) -> None:
    """Llama's post_attention_layernorm stands where Gemma 2 has its pre_feedforward_layernorm."""

    def exchanged(tensors: dict[str, Any]) -> dict[str, Any]:
        one, other = "post_attention_layernorm", "pre_feedforward_layernorm"
        names = {name: name.replace(one, "?").replace(other, one).replace("?", other) for name in tensors}
        return {name: tensors[there] for name, there in names.items()}

    dump = returned(computed("gemma2", rewritten(tmp_path, "gemma2", exchanged), dtype="float32"))
    told = [step.mistake for step in marker_of("gemma2").mark(from_python(dump)).steps if step.mistake]
    assert told[:1] == ["norm-gains-exchanged"]
