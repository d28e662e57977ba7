"""Models as they are stored, beside what `transformers` computes of them (tests/data/make_models.py)."""

from __future__ import annotations

import json
import math
import shutil
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkpoints import IDS, MODELS, NAMES, Pair, compared, computed, gradients, kept_of, reference
from conftest import Run
from rows import rows

import attncalc as ac
from attncalc.inputs.checkpoint_configs import tables
from attncalc.solve import problem
from attncalc.solve.problem import Backward, problem_of
from attncalc.solve.solver import _Widened, solve

DOCUMENT = Path(__file__).parents[2] / "docs" / "architectures.md"
CLOSE = 1e-12
LESS_CLOSE = {"bloom": 1e-8}
"""Its GELU has √(2/π) in eight digits."""


def figures() -> dict[str, dict[str, str]]:
    """The figures of each checkpoint in the documents, as `.ci/architectures` has measured them."""
    lines = [line.strip("| ").split(" | ") for line in DOCUMENT.read_text("utf-8").splitlines() if line.startswith("|")]
    return {line[0]: dict(zip(lines[0], line, strict=True)) for line in lines[2:]}


def must_be_close(name: str, pairs: Iterable[Pair]) -> None:
    """Every array is that of the original, and as close as the documents say, but for what another machine rounds."""
    told, close = figures()[name], LESS_CLOSE.get(name, CLOSE)
    for pair in pairs:
        np.testing.assert_allclose(pair.ours, pair.theirs, rtol=0, atol=close, err_msg=pair.place)
        if pair.kind in told:
            assert pair.error <= max(10 * float(told[pair.kind]), 1e-14), pair.place


@pytest.mark.thorough
@rows("name", NAMES)
def test_all_numbers_are_those_of_the_original(name: str) -> None:
    must_be_close(name, compared(name))


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize("name", [name for name in NAMES if "loss" in kept_of(name)])
def test_every_gradient_is_that_of_the_original(name: str) -> None:
    must_be_close(name, gradients(name))


def test_every_checkpoint_and_every_architecture_is_in_the_documents() -> None:
    assert list(figures()) == NAMES
    assert {row["architecture"] for row in figures().values()} == tables().keys()


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize("name", [name for name in NAMES if "tokens" in kept_of(name)])
def test_the_text_goes_on_as_with_the_original(name: str) -> None:
    expected = reference(name)
    begun = len(expected.get("given decoder_tokens", IDS))
    t = computed(name, generate=len(expected["tokens"]) - begun)
    assert repr(t["tokens"].tolist()) == repr([int(token) for token in expected["tokens"]])  # ids are whole numbers
    written, alone = (trace.to_dict()["outputs"] for trace in (t, computed(name)))
    assert isinstance(written, dict)
    assert {key: value for key, value in written.items() if key != "tokens"} == alone


def with_words(folder: Path, words: list[str]) -> Path:
    """A copy of a checkpoint with a vocabulary of whole words."""
    copy = folder / "llama"
    shutil.copytree(MODELS / "llama", copy)
    vocabulary = {word: i for i, word in enumerate(words)}
    model = {"type": "WordLevel", "vocab": vocabulary, "unk_token": words[0]}
    tokenizer = {"version": "1.0", "added_tokens": [], "pre_tokenizer": {"type": "Whitespace"}, "model": model}
    (copy / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    return copy


WORDS = ["<?>", *"a cat dog is here on mat the sat ran ate big red old new ,".split()]  # noqa: SIM905  (read at once)


@pytest.mark.thorough
def test_tokens_have_their_words(tmp_path: Path, run: Run) -> None:
    m = ac.load(with_words(tmp_path, WORDS))
    t = m("the cat")
    assert t.inputs["tokens"].value.tolist() == [8, 2]
    best = int(t["logits"][-1].argmax())
    assert t.to_dict()["outputs"]["next"][0] == {  # type: ignore[index]  # outputs are any JSON
        "token": best,
        "text": WORDS[best],
        "logit": t["logits"][-1].max(),
        "probability": t["next_probabilities"].max(),
    }
    assert "8 2 (the cat)" in run("model", m.path, "8,2").stdout


@pytest.mark.thorough
@pytest.mark.spread(8)
@pytest.mark.parametrize("name", [name for name in NAMES if "vit" not in name])
def test_of_several_texts_each_is_as_if_it_were_alone(name: str) -> None:
    """Their likeliest next tokens ended as a bug, and so did a decoder that had written nothing of them."""
    ids = [[3, 5, 4], [6, 3, 5]]
    together, alone = ac.model(MODELS / name, ids), [ac.load(MODELS / name)(text) for text in ids]
    for i, one in enumerate(alone):
        for key in (step.key for step in one.outputs if not step.key.endswith("layers")):
            found = together[f"text {i}/next"] if key == "next" else together[key]
            found = found[:, i] if key == "hidden" else found if key == "next" else found[i]
            np.testing.assert_allclose(found, one[key], rtol=0, atol=1e-9, err_msg=key)
    if any(step.key == "next" for step in alone[0].outputs):
        grown = [ac.load(MODELS / name)(text, generate=2)["tokens"] for text in ids]
        np.testing.assert_array_equal(ac.load(MODELS / name)(ids, generate=2)["tokens"], grown)


def test_of_several_texts_the_page_tells_the_next_tokens_of_each(run: Run) -> None:
    done = run("model", MODELS / "llama", "3,1;4,2")
    assert done.returncode == 0
    assert ["next[text 0]" in done.stdout, "next[text 1]" in done.stdout] == [True, True]
    told = json.loads(run("model", MODELS / "llama", "3,1;4,2", "--get", "text 1/next", "-f", "json").stdout)
    alone = json.loads(run("model", MODELS / "llama", "4,2", "--get", "next", "-f", "json").stdout)
    assert [one["token"] for one in told] == [one["token"] for one in alone]
    images = np.stack([reference("vit")["given image"]] * 2)
    assert [step.key for step in ac.model(MODELS / "vit", images).outputs][-1] == "image 1/classes"


@pytest.mark.thorough
def test_a_text_wants_the_package_of_tokenizers(tmp_path: Path, run: Run) -> None:
    path = with_words(tmp_path, WORDS)
    done = run("model", path, "--text", "the cat", "--get", "next", "-f", "json")
    try:
        import tokenizers  # noqa: F401  (an extra)
    except ImportError:
        assert done.returncode == 2
        assert "--text needs the package tokenizers" in done.stderr
    else:
        assert done.stdout == run("model", path, "8,2", "--get", "next", "-f", "json").stdout
    assert "needs a checkpoint" in run("model", "--text", "the cat").stderr
    for stored in (path, MODELS / "llama"):
        wrong = run("model", stored, "the chat")
        assert wrong.returncode == 2
        assert "--text makes them of any text" in wrong.stderr
    assert "only one of them" in run("model", path, "8,2", "--text", "the cat").stderr


def edited(folder: Path, name: str = "llama", /, **keys: Any) -> Path:
    """A copy of a checkpoint with other keys in its configuration."""
    copy = folder / name
    shutil.copytree(MODELS / name, copy, dirs_exist_ok=True)
    config = json.loads((MODELS / name / "config.json").read_text(encoding="utf-8"))
    (copy / "config.json").write_text(json.dumps(config | keys), encoding="utf-8")
    return copy


@pytest.mark.spread
@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"auto_map": {"AutoModel": "x.y"}}, "auto_map"),
        ({"model_type": "lama"}, "did you mean llama?"),
        ({"quantization_config": {"bits": 4}}, "quantization_config"),
        ({"hidden_act": "mish"}, 'hidden_act = "mish" is not supported'),
        ({"pretraining_tp": 2}, "pretraining_tp = 2 is not supported"),
        ({"my_own_key": 3}, "my_own_key = 3 is not supported for llama"),
        ({"rope_parameters": {"rope_type": "odd"}}, 'rope_type = "odd"'),
        ({"rope_parameters": {"rope_type": "linear"}}, 'rope_type = "linear" needs factor'),
        ({"rope_parameters": {"rope_type": "longrope"}}, 'rope_type = "longrope" needs short_factor and long_factor'),
        ({"num_hidden_layers": 3}, '"model.layers.2.self_attn.q_proj.weight"'),
        ({"num_hidden_layers": 1}, "in no place of llama"),
        ({"num_hidden_layers": "two"}, "not a number of layers"),
        ({"tie_word_embeddings": None, "model_type": "gpt2", "n_layer": 2}, "gpt2"),
    ],
)
def test_what_no_table_says_is_refused(keys: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(ac.InputError) as found:
        ac.load(edited(tmp_path, **keys))
    assert said in f"{found.value} {found.value.hint}"


@pytest.mark.parametrize(
    ("name", "keys", "said"),
    [
        ("bert", {"is_decoder": True}, "is_decoder = True is not supported: it must be false"),
        ("modernbert", {"local_attention": 0.5}, 'local_attention is "0.5", not a whole number from 1 on'),
        (
            "modernbert",
            {"rope_parameters": {"sliding_attention": {"rope_type": "linear"}, "full_attention": {}}},
            'rope_type = "linear" of sliding_attention is not supported',
        ),
        (
            "modernbert",
            {"layer_types": ["full_attention"]},
            "layer_types is a list of 1, and num_hidden_layers is 2",
        ),
        ("bert", {"position_embedding_type": "relative_key"}, "it must be absolute"),
        ("bert", {"hidden_act": "mish"}, 'hidden_act = "mish" is not supported'),
        ("roberta", {"pad_token_id": None}, "config.json: pad_token_id is None"),
        ("roberta", {"model_type": "bert"}, "in no place of bert"),
    ],
)
def test_what_no_encoder_does_is_refused(name: str, keys: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(ac.InputError) as found:
        ac.load(edited(tmp_path, name, **keys))
    assert said in f"{found.value} {found.value.hint}"


TURNS: dict[str, Any] = {"global_rope_theta": 160000.0, "local_rope_theta": 10000.0}
EARLIER: dict[str, dict[str, Any]] = {
    "modernbert": {"global_attn_every_n_layers": 2, "rope_parameters": None} | TURNS,
    "gemma2": {},
    "gemma3": {"sliding_window_pattern": 6, "rope_parameters": None, "rope_local_base_freq": 10000.0},
}
"""What the first files of a model have in place of a list of the layers' kinds."""


@pytest.mark.parametrize("name", EARLIER)
def test_layers_with_a_window_are_told_by_the_first_files_too(name: str, tmp_path: Path) -> None:
    found = ac.load(edited(tmp_path, name, layer_types=None, **EARLIER[name])).info["options"]
    assert found | {"rope_base": 1} == ac.load(MODELS / name).info["options"] | {"rope_base": 1}


LATER: dict[str, dict[str, Any]] = {
    "gpt_oss": {"swiglu_alpha": 1.702},
    "mpt": {"_name_or_path": "", "chunk_size_feed_forward": 0, "return_dict": True, "label2id": {"LABEL_0": 0}},
}
"""What `transformers` of later versions writes as well, of MPT into the object of its attention."""


@pytest.mark.parametrize("name", LATER)
def test_what_later_versions_write_as_well_changes_nothing(name: str, tmp_path: Path) -> None:
    config = json.loads((MODELS / name / "config.json").read_text(encoding="utf-8"))
    keys = {"attn_config": config["attn_config"] | LATER[name]} if name == "mpt" else LATER[name]
    assert ac.load(edited(tmp_path, name, **keys)).info["options"] == ac.load(MODELS / name).info["options"]
    with pytest.raises(ac.InputError, match="alpha = 2 is not supported"):
        ac.load(edited(tmp_path, "gpt_oss", swiglu_alpha=2))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("bert_bare", {"targets": [3, 1, 4]}, "this model ends with its hidden states"),
        ("bert", {"generate": 2}, "it reads whole texts"),
        ("bert", {"token_types": [0, 1, 2]}, "but there are 2 rows, 0…1"),
        ("llama", {"token_types": [0, 1, 1]}, "model has no table for token_types: embedding/types must be given"),
        ("roberta", {"tokens": [3, 2, 4]}, "tokens[1] is 2, which fills up texts"),
        ("bert", {"tokens": None}, "model needs tokens, and none was given"),
        ("bert", {"image": [[[1, 2]]]}, "this model reads text, and an image was given"),
        ("vit", {"tokens": None}, "model needs an image, and none was given"),
        ("vit", {"tokens": np.ones((2, 4, 4))}, "with_class is n=5 × d_model=8 but P is n=7 × d_model=8"),
        ("vit", {"tokens": np.ones((1, 4, 6))}, "has other channels than the kernels"),
        ("vit", {"tokens": np.ones((2, 4, 6)), "targets": [1, 2]}, "an image shows one thing"),
    ],
)
def test_what_an_encoder_cannot_tell_is_an_error(name: str, given: dict[str, Any], said: str) -> None:
    with pytest.raises(ac.AttncalcError) as found:
        ac.load(MODELS / name)(**{"tokens": [3, 1, 4]} | given)
    assert said in str(found.value)


@pytest.mark.thorough
def test_an_image_has_classes_and_may_be_patches(run: Run, tmp_path: Path) -> None:
    image, path = reference("vit")["given image"], tmp_path / "image.npy"
    t, m = computed("vit"), ac.load(MODELS / "vit")
    patches = image.reshape(2, 2, 2, 3, 2).transpose(1, 3, 0, 2, 4).reshape(6, 8)
    np.testing.assert_allclose(m(patches)["logits"], t["logits"], rtol=0, atol=CLOSE)
    best = int(t["logits"].argmax())
    likeliest = t.to_dict()["outputs"]["classes"][0]  # type: ignore[index]  # outputs are any JSON
    assert likeliest == {
        "class": best,
        "text": ["cat", "dog", "big dog", "mat", "hat"][best],
        "logit": t["logits"].max(),
        "probability": t["class_probabilities"].max(),
    }
    np.save(path, image)
    for words in ([path], ["--image", path]):
        done = run("model", m.path, *words, "--targets", "mat", "-f", "json")
        assert json.loads(done.stdout)["outputs"]["loss"] == float(t["loss"])


def test_an_encoder_tells_no_next_token_and_keeps_no_cache() -> None:
    m = ac.load(MODELS / "bert")
    assert [step.name for step in m(IDS).outputs] == ["logits", "hidden", "layers"]
    assert m.info["kv_cache_bytes_per_token"] == 0
    bare = ac.load(MODELS / "bert_bare")
    assert [step.name for step in bare(IDS).outputs] == ["hidden", "pooled", "layers"]


@pytest.mark.thorough
def test_a_document_is_of_the_files_as_they_were(tmp_path: Path, run: Run) -> None:
    path = edited(tmp_path)
    saved = run("model", path, "3,1,4", "-f", "json").stdout
    document = tmp_path / "saved.json"
    document.write_text(saved, encoding="utf-8")
    assert json.loads(saved)["inputs"].keys() == {"checkpoint", "tokens"}
    assert run("run", document, "-f", "json").stdout == saved
    edited(tmp_path, rms_norm_eps=0.1)
    assert "config.json has changed since" in run("run", document).stderr


@pytest.mark.thorough
@rows("name", NAMES)
def test_parameters_are_all_that_is_stored(name: str) -> None:
    with (MODELS / name / "model.safetensors").open("rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    held = sum(math.prod(entry["shape"]) for key, entry in header.items() if key != "__metadata__")
    assert ac.load(MODELS / name).info["parameters"] == held


@pytest.mark.thorough
def test_the_next_tokens_are_objects_alone_too(run: Run) -> None:
    whole = json.loads(run("model", MODELS / "llama", "3,1,4", "-f", "json").stdout)["outputs"]["next"]
    assert json.loads(run("model", MODELS / "llama", "3,1,4", "--get", "next", "-f", "json").stdout) == whole
    assert whole[0].keys() == {"token", "logit", "probability"}


def test_info_counts_what_is_there(run: Run) -> None:
    info = json.loads(run("model", MODELS / "mixtral", "--info", "-f", "json").stdout)
    assert info["parameters"] == sum(info["parts"].values())
    layer = 8 * 8 + 8 * 4 + 8 * 4 + 8 * 8 + 2 * 8 + 8 * 4 + 4 * 3 * 8 * 12
    assert info["parameters"] == 2 * layer + 2 * 17 * 8 + 8
    assert info["flops_per_token"] == 2 * (info["parameters"] - 2 * 2 * 3 * 8 * 12)  # two of four experts
    assert info["kv_cache_bytes_per_token"] == 2 * 2 * 4 * 4


@pytest.mark.thorough
def test_a_decoder_begins_with_its_start_token(run: Run) -> None:
    t5 = ac.load(MODELS / "t5")
    alone, given = t5(IDS), t5(IDS, decoder_tokens=[0])
    assert (alone["logits"] == given["logits"]).all()
    assert alone["logits"].shape == (1, 17)
    done = run("model", MODELS / "t5", "3,1,4", "--decoder-tokens", "0,2", "--get", "memory", "-f", "json")
    assert np.shape(json.loads(done.stdout)) == (3, 8)
    assert "this one has no encoder" in run("model", MODELS / "llama", "3,1,4", "--decoder-tokens", "3").stderr
    assert "--start 17 is not among the 17 tokens" in run("model", MODELS / "t5", "3,1,4", "--start", "17").stderr


@pytest.mark.thorough
def test_info_tells_of_both_stacks(run: Run) -> None:
    info = json.loads(run("model", MODELS / "t5_gated", "--info", "-f", "json").stdout)
    attention, network = 4 * 8 * 6, 3 * 8 * 12
    reads, writes = 2 * 8 + attention + network + 8 * 2, 3 * 8 + 2 * attention + network
    assert info["parameters"] == sum(info["parts"].values()) == reads + 2 * writes + 8 * 2 + 2 * 8 + 2 * 17 * 8
    assert info["kv_cache_bytes_per_token"] == info["kv_cache_bytes_per_token_read"] == 2 * 2 * 6 * 4
    page = run("model", MODELS / "t5_gated", "--info").stdout
    assert "norm2 → cross-attention → + residual → norm3" in page


def test_a_decoder_needs_all_of_its_weights(tmp_path: Path) -> None:
    copy = tmp_path / "t5"
    shutil.copytree(MODELS / "t5", copy)
    config = json.loads((copy / "config.json").read_text(encoding="utf-8"))
    (copy / "config.json").write_text(json.dumps(config | {"num_decoder_layers": 3}), encoding="utf-8")
    with pytest.raises(ac.InputError, match=r"decoder\.block\.2\.layer\.0\.SelfAttention\.q\.weight.* are missing"):
        ac.load(copy)
    (copy / "config.json").write_text(json.dumps(config | {"feed_forward_proj": "gated-gelu"}), encoding="utf-8")
    with pytest.raises(ac.InputError, match="wi_1"):
        ac.load(copy)


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "text"), [("ids.txt", "3 1\n4\n"), ("ids.json", "[3, 1, 4]"), ("ids.csv", "3,1,4\n")])
def test_tokens_may_stand_in_a_file(tmp_path: Path, run: Run, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    done = run("model", MODELS / "llama", path, "-f", "json")
    assert json.loads(done.stdout)["outputs"] == ac.load(MODELS / "llama")([3, 1, 4]).to_dict()["outputs"]
    missing = run("model", MODELS / "llama", path.with_name("other.txt"))
    assert (missing.returncode, missing.stdout) == (2, "")


def test_weights_are_mapped() -> None:
    t = ac.load(MODELS / "llama")(IDS)
    value = t.inputs["layer 0/attention/wq"].value
    assert value.dtype == np.float32
    assert not value.flags.owndata
    assert not value.flags.writeable
    assert t["layer 0/attention/q"].dtype == np.float64


@pytest.mark.thorough
@pytest.mark.parametrize("large", [False, True])
def test_weights_are_never_all_in_memory(monkeypatch: pytest.MonkeyPatch, large: bool) -> None:
    """The backward pass kept each weight from its use on the way there to its use on the way back."""
    widened, most = [], 0
    read = _Widened.__getitem__

    def counted(held: _Widened, name: str) -> Any:
        nonlocal most
        value = read(held, name)
        widened.append(weakref.ref(value))
        most = max(most, sum(each() is not None for each in widened))
        return value

    monkeypatch.setattr(_Widened, "__getitem__", counted)
    monkeypatch.setattr(problem, "LARGE", 1 if large else problem.LARGE)
    solve(problem_of(computed("llama"))._replace(backward=Backward()))
    assert len(widened) > 40
    assert most <= 3


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("model", "said"),
    [("bert", "has no loss without --targets"), ("bert_bare", "has no loss\nhint: it ends with its hidden states")],
)
def test_a_loss_that_there_is_not_is_told(run: Run, model: str, said: str) -> None:
    assert said in run("model", str(MODELS / model), "3,1,4", "--get", "loss").stderr
