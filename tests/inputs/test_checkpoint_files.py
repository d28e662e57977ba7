"""Checkpoints as they lie about: a right result, or one line that names what is wrong with the files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkpoints import IDS, LEFT_OUT, MODELS, NAMES, Tensors, bfloat16, computed, rewritten, tensors_of
from conftest import Run
from rows import rows

import attncalc as ac
from attncalc.common.errors import AttncalcError, InputError, TooLarge
from attncalc.evaluate.large import memory
from attncalc.inputs import checkpoints, stored_arrays
from attncalc.inputs.checkpoint_configs import options_of, table_of, tables
from attncalc.inputs.checkpoint_tensors import BIASES
from attncalc.inputs.checkpoints import read_checkpoint
from attncalc.inputs.reading import Reading

Change = Callable[[Tensors], Tensors]
FIRST, HEAD, NORM = "model.layers.0.", "lm_head.weight", "model.norm.weight"
EMBED, QUERY, UP = "model.embed_tokens.weight", f"{FIRST}self_attn.q_proj.weight", f"{FIRST}mlp.up_proj.weight"
TIED = "tie_word_embeddings"


def each(convert: Callable[[Any], Any], *, but: str = "none of them") -> Change:
    """All tensors in another type."""
    return lambda held: {name: value if but in name else convert(value) for name, value in held.items()}


def without(*parts: str) -> Change:
    """All tensors but those with one of these words in their names."""
    return lambda held: {name: value for name, value in held.items() if not any(part in name for part in parts)}


def half(name: str) -> Change:
    return lambda held: held | {name: held[name][: len(held[name]) * 3 // 4]}


def padded(name: str) -> Change:
    """Three rows of zeros behind."""
    return lambda held: held | {name: np.vstack([held[name], np.zeros((3, held[name].shape[1]), np.float32)])}


def widened(value: Any) -> Any:
    return (bfloat16(value).astype(np.uint32) << 16).view(np.float32)


def tied(held: Tensors) -> Tensors:
    return held | {HEAD: held[EMBED]}


RIGHT: dict[str, tuple[dict[str, Any], Change]] = {
    "bfloat16": ({"change": each(bfloat16)}, each(widened)),
    "bfloat16, its norms in float32": ({"change": each(bfloat16, but="norm")}, each(widened, but="norm")),
    "bfloat16 in three files": ({"change": each(bfloat16), "shards": 3}, each(widened)),
    "float16": ({"change": each(np.float16)}, each(lambda value: np.float16(value).astype(np.float32))),
    "float64": ({"change": each(np.float64)}, dict),
    "a tied head, not stored": ({"change": without(HEAD), "config": {TIED: True}}, tied),
    "a tied head that is stored": ({"config": {TIED: True}}, tied),
    "a head, and nobody says whose": ({"config": {TIED: LEFT_OUT}}, dict),
    "names without what stands in front": (
        {"change": lambda held: {name.removeprefix("model."): value for name, value in held.items()}},
        dict,
    ),
    "a longer vocabulary": (
        {"change": lambda held: padded(EMBED)(padded(HEAD)(held)), "config": {"vocab_size": 20}},
        lambda held: padded(EMBED)(padded(HEAD)(held)),
    ),
    "a buffer that is no weight": (
        {"change": lambda held: held | {f"{FIRST}self_attn.rotary_emb.inv_freq": np.zeros(2, np.float32)}},
        dict,
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_checkpoint_is_taken_as_it_is(tmp_path: Path, name: str) -> None:
    how, plain = RIGHT[name]
    (tmp_path / "plain").mkdir()
    rows = {"vocab_size": 20} if "longer" in name else {}
    wanted = computed("llama", rewritten(tmp_path / "plain", "llama", plain, config=rows))
    found = rewritten(tmp_path, "llama", **how)
    np.testing.assert_array_equal(computed("llama", found)["logits"], wanted["logits"])
    width = 8 if name == "float64" else 2 if "float16" in name else 4
    assert ac.load(found).info["kv_cache_bytes_per_token"] == 2 * 2 * 4 * width  # layers, keys and values, 4 entries


@pytest.mark.thorough
def test_tensors_may_be_larger_than_what_is_read_of_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the embeddings of most models are that people use."""
    wanted = computed("llama")["logits"]
    found = rewritten(tmp_path, "llama")
    monkeypatch.setattr(stored_arrays, "MAX_CELLS", 10)
    np.testing.assert_array_equal(computed("llama", found)["logits"], wanted)


@pytest.mark.thorough
@pytest.mark.parametrize("stored", ["bfloat16", "float16"])
def test_narrow_numbers_stay_on_the_disk_where_there_is_a_type_for_them(tmp_path: Path, stored: str) -> None:
    convert = bfloat16 if stored == "bfloat16" else np.float16
    model = computed("llama", rewritten(tmp_path, "llama", each(convert)))
    value = model.inputs["layer 0/attention/wq"].value
    assert value.dtype.name == stored
    assert not value.flags.owndata


@pytest.mark.thorough
def test_narrow_numbers_without_a_type_are_the_same_and_refused_where_they_do_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = rewritten(tmp_path, "llama", each(bfloat16))
    wanted = computed("llama", found)["logits"]
    for module in (stored_arrays, checkpoints):
        monkeypatch.setattr(module, "narrow_type", lambda name: None if name == "bfloat16" else np.dtype(name))
    np.testing.assert_array_equal(computed("llama", found)["logits"], wanted)
    sizes = [value.size for value in tensors_of("llama").values()]
    needed = 4 * sum(sizes) + 8 * max(sizes)
    monkeypatch.setattr(memory, "available", lambda: needed - 1)
    with pytest.raises(TooLarge, match=f"as float32 needs {needed:,} bytes of memory, but only") as told:
        computed("llama", found)
    assert told.value.hint == f"with pip install 'attncalc[models]' it needs {8 * max(sizes):,}"


@pytest.mark.thorough
def test_a_run_in_a_narrow_type_is_refused_where_its_largest_weight_does_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was told of a lack of memory after half a minute, when that weight was rounded."""
    many = lambda held: {name: np.tile(v, (999, 1)) if len(v) == 17 else v for name, v in held.items()}  # noqa: E731 - one line
    found = rewritten(tmp_path, "llama", many, config={"vocab_size": 17 * 999})
    monkeypatch.setattr(memory, "available", lambda: 12 * 17 * 999 * 8)
    computed("llama", found, dtype="float32")
    with pytest.raises(TooLarge, match=r"^model needs [0-9,]+ bytes of memory, but only"):
        computed("llama", found, dtype="bfloat16")


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no head": ({"change": without(HEAD), "config": {TIED: False}}, f'"{HEAD}" is missing'),
    "no matrix": ({"change": without(QUERY)}, f'"{QUERY}" is missing'),
    "no embeddings": ({"change": without(EMBED)}, f'"{EMBED}" is missing'),
    "no gain": ({"change": without(f"{FIRST}input_layernorm")}, f'"{FIRST}input_layernorm.weight" is missing'),
    "no last norm": ({"change": without(NORM)}, f'"{NORM}" is missing'),
    "no layer 1": ({"change": without("layers.1.")}, '"model.layers.1.self_attn.q_proj.weight", "model.layers.1.'),
    "one too many": (
        {"change": lambda held: held | {"model.extra.weight": held[NORM]}},
        '"model.extra.weight" is in no place of llama',
    ),
    "one twice": ({"change": lambda held: held | {"norm.weight": held[NORM]}}, '"norm.weight" is in no place'),
    "a layer too many": ({"config": {"num_hidden_layers": 1}}, "are in no place of llama"),
    "a narrow matrix": ({"change": half(QUERY)}, f'"{QUERY}" is 6 × 8, but config.json (2 heads of 4) asks for 8'),
    "a turned matrix": (
        {"change": lambda held: held | {UP: held[UP].T}},
        f'"{UP}" is 8 × 12, but config.json (hidden_size) asks for 8 in place of 12',
    ),
    "a wide network": (
        {"change": half(UP)},
        f'"{UP}" is 9 × 8, but "{FIRST}mlp.gate_proj.weight" asks for 12 in place of 9',
    ),
    "a short gain": ({"change": half(NORM)}, f'"{NORM}" is 6, but config.json (hidden_size) asks for 8'),
    "a gain of two axes": (
        {"change": lambda held: held | {NORM: held[NORM][:, None]}},
        f'"{NORM}" is 8 × 1, where 1 axis is asked for',
    ),
    "a number for a table": (
        {"change": lambda held: held | {EMBED: held[EMBED][0, 0]}},
        f'"{EMBED}" is a single number, where 2 axes',
    ),
    "an empty table": ({"change": lambda held: held | {EMBED: held[EMBED][:0]}}, f'"{EMBED}" is 0 × 8, but config'),
    "words in the head alone": ({"change": padded(HEAD)}, f'"{HEAD}" is 20 × 8, but config.json (vocab_size)'),
    "another vocabulary": ({"config": {"vocab_size": 1000}}, "(vocab_size) asks for 1000 in place of 17"),
    "another width": ({"config": {"hidden_size": 16}}, "(hidden_size) asks for 16 in place of 8"),
    "other heads": ({"config": {"num_attention_heads": 3}}, "(3 heads of 4) asks for 12 in place of 8"),
    "other groups": ({"config": {"num_key_value_heads": 2}}, "(2 heads of 4) asks for 8 in place of 4"),
    "no heads": (
        {"config": {"num_attention_heads": 0}},
        'num_attention_heads is "0", not a whole number',
    ),
    "heads that are not told": (
        {"config": {"num_attention_heads": LEFT_OUT}},
        "config.json has no num_attention_heads",
    ),
    "heads in words": ({"config": {"num_attention_heads": "two"}}, 'num_attention_heads = "two" is not a number'),
    "biases that are asked for and are not there": (
        {"config": {"attention_bias": True}},
        '"model.layers.0.self_attn.q_proj.bias", "model.layers.1.self_attn.q_proj.bias" are missing',
    ),
    "two words on the rotation": (
        {"config": {"rope_scaling": {"type": "linear", "factor": 2.0}}},
        'rope_type of rope_scaling is "linear", and of rope_parameters "default"',
    ),
    "a list for a number": ({"config": {"rms_norm_eps": [1e-5]}}, "rms_norm_eps = [1e-05] is not a number"),
    "a share of a head that Llama does not turn": (
        {"config": {"rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.5}}},
        "partial_rotary_factor = 0.5 of the rotation is not supported",
    ),
    "a rotation in words": ({"config": {"rope_parameters": "linear"}}, "rope_parameters = linear is not an object"),
    "a scaling in a list": ({"config": {"rope_scaling": [1]}}, "rope_scaling = [1] is not an object"),
    "a tie in words": ({"config": {TIED: "yes"}}, f"{TIED} = yes is neither true nor false"),
    "layers in words": ({"config": {"num_hidden_layers": True}}, "not a number of layers"),
    "no kind": ({"config": {"model_type": LEFT_OUT}}, "no model_type"),
    "code of its own": ({"config": {"auto_map": {"AutoModel": "modeling.Model"}}}, "auto_map asks for code"),
    "the configuration of GPT-2": ({"of": "gpt2"}, "are in no place of gpt2"),
    "the configuration of BERT": ({"of": "bert"}, "are in no place of bert"),
    "the configuration of Gemma": ({"of": "gemma"}, "(2 heads of 6) asks for 12 in place of 8"),
    "a weight that is no number": ({"change": lambda held: held | {NORM: held[NORM] * np.nan}}, "not a finite number"),
}


UNTOLD: dict[str, dict[str, Any]] = {
    "gemma2": {"scale": 1 / 16, "softcap": 50, "final_softcap": 30, "window": 4096},
    "gemma3": {"scale": 1 / 16, "window": 4096},
    "gpt_oss": {"window": 128, "experts_top": 4},
    "mistral": {"window": 4096},
    "qwen3_moe": {"experts_top": 8, "experts_no_renormalise": True},
    "deepseek_v3": {"experts_top": 8, "experts_routed_scale": 2.5, "experts_groups": 8, "experts_top_groups": 4},
}
"""Options whose keys a configuration leaves out, and what they are in the classes of `transformers`."""


@pytest.mark.parametrize("name", UNTOLD)
def test_a_key_that_is_left_out_means_what_it_does_to_its_library(tmp_path: Path, name: str) -> None:
    table = tables()[name]["config"].items()
    keys = {key for key, of in table if (of if isinstance(of, str) else of.get("option")) in UNTOLD[name]}
    found = ac.load(rewritten(tmp_path, name, config=dict.fromkeys(keys, LEFT_OUT))).info["options"]
    assert {option: found.get(option) for option in UNTOLD[name]} == UNTOLD[name]


BY_THEMSELVES = {
    "gpt_neox": "attention_bias",
    "gpt_oss": "attention_bias",
    "mamba": "use_conv_bias",
    "vit": "qkv_bias",
}
"""The biases that are there if nothing is said of them, in the classes of `transformers`; others are not."""


@rows(("name", "key"), [(name, key) for name, held in tables().items() for key in BIASES if key in held["passed_over"]])
def test_biases_are_there_where_a_configuration_says_so(tmp_path: Path, name: str, key: str) -> None:
    """`transformers` passes over those that it is not told of; no number is to be another in silence."""
    bias = next(
        tensor for tensor, words in tables()[name]["layer"].items() if words.split(" + ")[0].endswith(BIASES[key])
    )
    first = next(tensor for tensor in tensors_of(name) if ".0." in tensor)
    bias = f"{first.partition('.0.')[0]}.0.{bias}"

    def change(held: Tensors) -> Tensors:
        return held if bias in held else held | {bias: np.zeros(1, np.float32)}

    for said in (False, LEFT_OUT):
        copy = rewritten(tmp_path, name, change, config={key: said})
        if said is LEFT_OUT and BY_THEMSELVES.get(name) == key:
            assert np.array_equal(computed(name, copy).result, computed(name).result)
        else:
            with pytest.raises(InputError, match=rf"{re.escape(bias)}.* and config\.json has no {key}: true"):
                ac.load(copy)


@pytest.mark.parametrize("tied", [True, False, LEFT_OUT])
def test_what_is_said_by_nothing_overrules_a_tie(tmp_path: Path, tied: Any) -> None:
    """Of T5's, `scale_decoder_outputs: null` is no word of the scale to `transformers`, which is then none."""
    keys = {"tie_word_embeddings": tied, "scale_decoder_outputs": None}
    assert ac.load(rewritten(tmp_path, "t5", config=keys)).info["options"]["scale_logits"] is False


LISTS = {"short_factor": [1.0, 1.1], "long_factor": [2.0, 3.0]}
NO_TURNS = {"rope_parameters": LEFT_OUT}
FROM_ONE_ON = {"layer_types": LEFT_OUT, "use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1}
INFERRED: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "windows from a layer on": ("qwen2", FROM_ONE_ON, {"window": 3, "window_layers": [1]}),
    "windows of Qwen 3": ("qwen3", FROM_ONE_ON, {"window": 3, "window_layers": [1]}),
    "no layer that far": ("qwen2", FROM_ONE_ON | {"max_window_layers": LEFT_OUT}, {"window_layers": []}),
    "windows in a list": (
        "qwen2",
        FROM_ONE_ON | {"layer_types": ["sliding_attention", "full_attention"]},
        {"window": 3, "window_layers": [0]},
    ),
    "no window": ("qwen2", FROM_ONE_ON | {"use_sliding_window": False}, {"window": None, "window_layers": None}),
    "a longer text": (
        "phi3",
        {"rope_parameters": LISTS | {"rope_type": "longrope"}, "original_max_position_embeddings": 8},
        {"rope_scaling": "longrope", "rope_factor": 4, "rope_original_length": 8},
    ),
    "the first files of Phi-3": (
        "phi3",
        NO_TURNS | {"rope_scaling": LISTS | {"type": "su"}, "original_max_position_embeddings": 16},
        {"rope_scaling": "longrope", "rope_factor": 2, "rope_original_length": 16},
    ),
    "two trained lengths": (
        "phi3",
        {
            "rope_parameters": LISTS | {"rope_type": "longrope", "original_max_position_embeddings": 16},
            "original_max_position_embeddings": 8,
        },
        {"rope_factor": 4, "rope_original_length": 8},
    ),
    "a dynamic length": (
        "llama",
        {"rope_parameters": {"rope_type": "dynamic", "factor": 2.0, "original_max_position_embeddings": 8}},
        {"rope_factor": 2, "rope_original_length": 32},
    ),
    "turns of windows": ("gemma3", NO_TURNS, {"local_rope_base": 10000, "rope_base": 1000000}),
    "turns of gpt-oss": (
        "gpt_oss",
        NO_TURNS,
        {"rope_scaling": "yarn", "rope_factor": 32, "rope_original_length": 4096, "rope_no_truncate": True},
    ),
    "other turns of gpt-oss": (
        "gpt_oss",
        {"rope_parameters": {"rope_type": "default"}},
        {"rope_scaling": None, "rope_factor": None},
    ),
    "a quarter of a head": (
        "gpt_neox",
        {"rope_parameters": {"rope_type": "default"}, "hidden_size": 16},
        {"rope_dims": 2},
    ),
    "three quarters of a head": (
        "phi3",
        {"partial_rotary_factor": 0.75, "hidden_size": 16, "full_attn_mod": 1, "interpolate_factor": 1}
        | {"rope_parameters": {"rope_type": "default"}},
        {"rope_dims": 6},
    ),
}
"""What follows from other keys in `transformers`: a checkpoint, its keys, and options of it."""


@pytest.mark.parametrize("name", INFERRED)
def test_what_is_not_said_follows_from_other_keys_as_in_its_library(tmp_path: Path, name: str) -> None:
    model, keys, due = INFERRED[name]
    config = json.loads((rewritten(tmp_path, model, config=keys) / "config.json").read_text(encoding="utf-8"))
    table = tables()[model]
    found = json.loads(json.dumps(options_of(table, table.get("defaults", {}) | config, "config.json")))
    assert {option: found.get(option) for option in due} == due


STORED_TWICE: dict[str, tuple[str, Change, dict[str, Any]]] = {
    "a head of GPT-2's own": ("gpt2", lambda held: held | {HEAD: held["transformer.wte.weight"] * 2}, {TIED: False}),
    "a tied head of GPT-2": ("gpt2", lambda held: held | {HEAD: held["transformer.wte.weight"] * 2}, {TIED: True}),
}
"""Heads that are stored beside the embeddings: a checkpoint, its tensors, and its keys."""


@pytest.mark.parametrize("name", STORED_TWICE)
def test_a_head_counts_that_is_not_tied(tmp_path: Path, name: str) -> None:
    model, change, keys = STORED_TWICE[name]
    found, plain = computed(model, rewritten(tmp_path, model, change, config=keys)), computed(model)
    np.testing.assert_allclose(found["logits"], plain["logits"] * (1 if keys[TIED] else 2), rtol=1e-12)


@pytest.mark.parametrize(("model", "front"), [("bert", "cls.predictions"), ("roberta", "lm_head")])
def test_of_two_biases_that_of_the_head_counts(tmp_path: Path, model: str, front: str) -> None:
    both = lambda held: held | {f"{front}.decoder.bias": held[f"{front}.bias"] + 1}  # noqa: E731 - one line
    found = computed(model, rewritten(tmp_path, model, both))["logits"]
    np.testing.assert_allclose(found, computed(model)["logits"] + 1, rtol=0, atol=1e-6)


def test_a_window_that_is_none_is_none(tmp_path: Path) -> None:
    assert "window" not in ac.load(rewritten(tmp_path, "mistral", config={"sliding_window": None})).info["options"]


@pytest.mark.thorough
@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_a_checkpoint_is_a_line(tmp_path: Path, name: str) -> None:
    how, said = WRONG[name]
    with pytest.raises(AttncalcError) as found:
        ac.load(rewritten(tmp_path, "llama", **how))(IDS)
    assert said in str(found.value)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("distance", [2, 0, -1])
def test_a_distance_that_no_bucket_is_left_for_is_told_by_its_key(tmp_path: Path, distance: int) -> None:
    folder = rewritten(tmp_path, "t5", config={"relative_attention_max_distance": distance})
    fault = rf"config.json: relative_attention_max_distance must be .*, not {distance}$"
    with pytest.raises(InputError, match=fault):
        ac.load(folder)


def test_an_expert_too_few_is_told(tmp_path: Path) -> None:
    with pytest.raises(AttncalcError, match=r"\(num_local_experts\) asks for 4 in place of 3"):
        ac.load(rewritten(tmp_path, "mixtral", without("experts.3.")))


def cut(folder: Path) -> None:
    last = max(folder.glob("*.safetensors"))
    last.write_bytes(last.read_bytes()[:-10])


def in_a_folder(folder: Path) -> None:
    max(folder.glob("*.safetensors")).unlink()
    (folder / "model.safetensors").mkdir()


BROKEN: dict[str, tuple[Callable[[Path], Any], str]] = {
    "cut": (cut, "lies outside the file: "),
    "gone": (lambda folder: max(folder.glob("*.safetensors")).unlink(), "copy all files of the checkpoint"),
    "empty": (lambda folder: max(folder.glob("*.safetensors")).write_bytes(b""), "is empty"),
    "a folder": (in_a_folder, ""),
    "a pointer": (
        lambda folder: max(folder.glob("*.safetensors")).write_text("version https://git-lfs.github.com/spec/v1\n"),
        "is not a safetensors file",
    ),
    "no configuration": (lambda folder: (folder / "config.json").write_text(""), "config.json is empty"),
    "a list": (lambda folder: (folder / "config.json").write_text("[]"), "config.json is not an object"),
}


@pytest.mark.parametrize("shards", [1, 2])
@pytest.mark.parametrize("how", BROKEN)
def test_broken_files_are_told_by_name(run: Run, tmp_path: Path, how: str, shards: int) -> None:
    folder = rewritten(tmp_path, "llama", shards=shards)
    harm, said = BROKEN[how]
    harm(folder)
    done = run("model", folder, "3,1,4")
    assert done.returncode == 2
    assert done.stdout == ""
    assert said in done.stderr
    assert done.stderr.count("\n") <= 2


def test_pickles_stay_closed(run: Run, tmp_path: Path) -> None:
    folder = rewritten(tmp_path, "llama")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    assert "pytorch_model.bin is a pickle, which is never opened" in run("model", folder, "3,1,4").stderr


@pytest.mark.thorough
@pytest.mark.spread(4)
@pytest.mark.parametrize("model", NAMES)
def test_a_number_that_no_option_may_be_is_told_by_the_files_key(tmp_path: Path, model: str) -> None:
    """Not by our option's name, and before any arithmetic is tried with it."""
    meanings = tables()[read_checkpoint(str(MODELS / model), Reading()).architecture]["config"]
    config = json.loads((MODELS / model / "config.json").read_text(encoding="utf-8"))
    read = [key for key, meaning in meanings.items() if "when" not in meaning]
    numbers = [key for key in read if type(config.get(key)) in (int, float)]
    assert numbers
    for key in numbers:
        for value in (-1.5, 1e400):
            folder = rewritten(tmp_path, model, config={key: value})
            with pytest.raises(InputError, match=rf"config\.json: {key} .*{value}"):
                read_checkpoint(str(folder), Reading())


ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    2,
    -1,
    0.3,
    10**30,
    1e300,
    1e400,
    -1e400,
    "abc",
    "",
    [],
    [1],
    [[1], [2]],
    {},
    {"x": [1]},
)
TURNS = ("rope_type", "rope_theta", "partial_rotary_factor", "factor", "truncate", "type", "full_attention")


def paths_of(config: dict[str, Any], behind: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The keys of an object, and those of the objects in it."""
    for key, value in config.items():
        yield (*behind, key)
        yield from paths_of(value, (*behind, key)) if isinstance(value, dict) else ()


def refusal_of(config: dict[str, Any]) -> str:
    """Why a configuration is refused; "" where it is not."""
    try:
        _, table = table_of(config, "config.json")
        options_of(table, config, "config.json")
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.spread(12)
@pytest.mark.parametrize("model", NAMES)
def test_whatever_a_key_holds_it_is_read_or_refused_in_a_line(model: str) -> None:
    text = (MODELS / model / "config.json").read_text(encoding="utf-8")
    turns = [(outer, key) for outer in ("rope_parameters", "rope_scaling") for key in TURNS]
    for *outer, key in (*paths_of(json.loads(text)), *turns):
        for value in ODD:
            config = json.loads(text)
            held = config
            for name in outer:
                held[name] = held.get(name) or {}
                held = held[name]
            held[key] = value
            assert re.fullmatch(r"(config\.json[: ].+)?", refusal_of(config)), (key, value)


@pytest.mark.thorough
def test_an_empty_folder_is_no_dump(run: Run, tmp_path: Path) -> None:
    said = run("model", str(MODELS / "llama"), "3,1,4", "--check", str(tmp_path)).stderr
    assert "is a folder with nothing in it" in said
    assert "npy" in said
