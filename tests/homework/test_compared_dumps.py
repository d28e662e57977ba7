"""Two dumps: pairs, verdicts, the first that diverges, and what makes one array the other."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkpoints import NAMES, computed
from homework.test_model_dumps import marker_of, returned
from operands import stored
from typer.testing import CliRunner

import attncalc as ac
from attncalc.cli import app
from attncalc.common.errors import AttncalcError
from attncalc.evaluate.precisions import held
from attncalc.homework import two_dumps
from attncalc.homework.reports import compared_dumps
from attncalc.render import View

RNG = np.random.default_rng(3)
X = RNG.normal(size=(2, 4, 5, 6))  # b h n d
Run = Callable[..., Any]


def one(a: Any, b: Any, **how: Any) -> Any:
    """What is found of one array."""
    return ac.compare(a, b, **how).arrays[0]


def test_what_is_found_of_an_array() -> None:
    b = np.array([[1.0, 2], [4, -8]])
    a = np.array([[1.0, 2], [4, -6]])
    found = ac.compare({"x": a, "y": b}, {"x": b, "y": b})
    assert (found.verdict, found.first_wrong, bool(found)) == ("differs", "x", False)
    first, second = found.arrays
    assert first[:4] == ("x", "differs", 2.0, 0.25)
    assert first.cosine == pytest.approx((a * b).sum() / np.linalg.norm(a) / np.linalg.norm(b), rel=1e-12)
    assert (first.share, first.at, first.finding) == (0.25, (1, 1), "")
    assert (second.name, second.verdict, second.max_error, second.share) == ("y", "equal", 0.0, 0.0)


VERDICTS: dict[str, tuple[Any, Any, dict[str, Any], str]] = {
    "equal": (X, X, {}, "equal"),
    "round-off": (X * (1 + 1e-14), X, {}, "within"),
    "beyond float64's": (X + 1e-6, X, {}, "differs"),
    "float32 beside float64": (X.astype("f4"), X, {}, "within"),
    "widened from bfloat16": (held(X, "bfloat16"), X, {}, "within"),
    "bfloat16 that is said": (X[0, 0, 0] * 1.005, X[0, 0, 0], {"dtype": "bfloat16"}, "within"),
    "the same, unsaid": (X[0, 0, 0] * 1.005, X[0, 0, 0], {}, "differs"),
    "a row of its own size": (np.array([[1e6, 1], [1, 1.1]], "f4"), np.array([[1e6, 1], [1, 1]], "f4"), {}, "differs"),
    "rtol": (X * 1.01, X, {"rtol": 0.02}, "within"),
    "atol alone": (X + 0.01, X, {"atol": 0.001}, "differs"),
    "whole numbers are exact": (np.array([10**9, 5]), np.array([10**9, 6]), {}, "differs"),
    "beyond what floats tell apart": (np.array([2**60]), np.array([2**60 + 1]), {}, "differs"),
    "signed and unsigned": (np.array([2**63 - 1]), np.array([2**63], "u8"), {}, "differs"),
    "whole numbers beside floats": (np.array([10**12 + 1, 5]), np.array([1e12, 5]), {}, "within"),
    "whole numbers by what is said": (np.array([10**9, 5]), np.array([10**9, 6]), {"rtol": 0.2}, "within"),
    "NaN where NaN is due": (np.array([np.nan, np.inf, 1]), np.array([np.nan, np.inf, 1]), {}, "equal"),
    "NaN elsewhere": (np.array([np.nan, 1]), np.array([1.0, 1]), {}, "differs"),
    "turns": (X + 1j * X, (X + 1j * X) * (1 + 1e-14), {}, "within"),
    "turns the other way": (X - 1j * X, X + 1j * X, {}, "differs"),
    "narrow turns": ((X + 1j * X).astype("c8"), X + 1j * X, {}, "within"),
    "another shape": (np.ones((2, 3)), np.ones((2, 4)), {}, "shape"),
    "a batch of one": (X[:1], X[0], {}, "equal"),
    "nothing in it": (np.ones((0, 3)), np.ones((0, 3)), {}, "equal"),
    "a number": (np.float64(2), np.float64(2), {}, "equal"),
}


@pytest.mark.parametrize("case", VERDICTS)
def test_verdicts(case: str) -> None:
    a, b, how, verdict = VERDICTS[case]
    found = one({"x": a}, {"x": b}, **how)
    assert found.verdict == verdict
    assert (found.share == 0) == (verdict in two_dumps.SOUND)
    assert (found.at is None) == (verdict == "shape" or case == "nothing in it")


ORDER = [2, 0, 1, 3]
PERMUTED = "the heads are permuted: 1 2 0 3 in the order of the second dump"
FINDINGS: dict[str, tuple[Any, Any, str, str]] = {
    "transposed": (X[0, 0].T, X[0, 0], "shape", "[6, 5] and [5, 6]: the last two axes are swapped (one is transposed)"),
    "bnhd": (
        X.swapaxes(1, 2),
        X,
        "shape",
        "[2, 5, 4, 6] and [2, 4, 5, 6]: heads and tokens are swapped (one is bnhd, the other bhnd)",
    ),
    "heads": (X[:, ORDER], X, "differs", PERMUTED),
    "heads and layout": (
        X[:, ORDER].swapaxes(1, 2),
        X,
        "shape",
        f"[2, 5, 4, 6] and [2, 4, 5, 6]: heads and tokens are swapped (one is bnhd, the other bhnd), and {PERMUTED}",
    ),
    "both in a square": (
        X[0, :, :4][ORDER].swapaxes(0, 1),
        X[0, :, :4],
        "differs",
        f"heads and tokens are swapped (one is nhd, the other hnd), and {PERMUTED}",
    ),
    "heads side by side": (
        X[0].reshape(5, 24)[:, np.arange(24).reshape(4, 6)[ORDER].ravel()],
        X[0].reshape(5, 24),
        "differs",
        "its last axis is permuted in blocks of 6: 1 2 0 3 in the order of the second dump",
    ),
    "pairs of neighbours": (
        X.reshape(2, 20, 3, 2).swapaxes(-1, -2).reshape(2, 20, 6).astype("f4"),
        X.reshape(2, 20, 6),
        "differs",
        "its last axis is permuted: 0 3 1 4 2 5 in the order of the second dump",
    ),
    "square": (X[0, 0, :, :5].T, X[0, 0, :, :5], "differs", "the last two axes are swapped (one is transposed)"),
    "nothing of these": (X[:, ORDER] + 1, X, "differs", ""),
    "one number": (np.ones((2, 3)), np.ones((3, 2)), "shape", "[2, 3] and [3, 2]"),
}  # fmt: skip


def test_how_far_whole_numbers_lie_apart_is_exact() -> None:
    found = one(np.array([[2**62, 3]]), np.array([[2**62 + 100, 3]]))
    assert (found.max_error, found.share, found.at, found.finding) == (100, 0.5, (0, 0), "")


@pytest.mark.parametrize("case", FINDINGS)
def test_layouts_are_tried_and_named(case: str) -> None:
    a, b, verdict, finding = FINDINGS[case]
    found = one({"x": a}, {"x": b})
    assert (found.verdict, found.finding) == (verdict, finding)


def test_a_layout_that_is_said() -> None:
    assert one({"x": X.swapaxes(1, 2)}, {"x": X}, heads_layout="bnhd").verdict == "equal"
    assert one({"x": X[0].swapaxes(0, 1)}, {"x": X[0]}, heads_layout="nhd").verdict == "equal"
    assert one({"x": X}, {"x": X}, heads_layout="bhnd").verdict == "equal"
    with pytest.raises(AttncalcError, match='not "hdn"'):
        ac.compare({"x": X}, {"x": X}, heads_layout="hdn")


@pytest.mark.parametrize("type", ["float64", "float32", "float16"])
@pytest.mark.parametrize(
    ("told", "changed"),
    {
        "it is 8 times the second": lambda x: 8 * x,
        "it is -0.3354 times the second": lambda x: -x * np.sqrt(9 / 80),
        "its signs are the other way round": lambda x: -x,
        "it is the second plus 0.25": lambda x: x + 0.25,
        "": lambda x: 8 * x + 1,
    }.items(),
)
def test_a_factor_and_a_term_are_told(told: str, changed: Callable[[Any], Any], type: str) -> None:
    for y in (X, X[0, 0, 0]):
        x = y.astype(type)
        assert one(changed(x).astype(type), x).finding == told


def stack(dtype: str, fault: str = "") -> dict[str, Any]:
    """Sixteen layers, each of attention and a gated feed-forward; every product and sum is rounded to a type."""
    rng, dump = np.random.default_rng(5), {}

    def put(name: str, value: Any) -> Any:
        dump[name] = held(np.asarray(value), dtype)
        return dump[name]

    x = put("embed", rng.normal(size=(12, 32)))
    for i in range(16):
        wq, wk, wv, w1, w2, w3 = rng.normal(size=(6, 32, 32)) / np.sqrt(32)
        at = f"layers.{i}." if i != 9 else f"layers.{i}.{fault}"
        h = put(f"layers.{i}.norm", x / np.sqrt((x * x).mean(-1, keepdims=True)))
        q, k, v = (
            put(f"layers.{i}.{n}", h @ (w.T if at[9:] == n else w)) for n, w in zip("qkv", (wq, wk, wv), strict=True)
        )
        scores = put(f"layers.{i}.scores", q @ k.T * (1 if at.endswith("scores") else 32**-0.5))
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights = put(f"layers.{i}.weights", weights / weights.sum(-1, keepdims=True))
        x = put(f"layers.{i}.between", x + put(f"layers.{i}.mixed", weights @ v))
        a = put(f"layers.{i}.gate", x @ w1)
        a = np.maximum(a, 0) if at.endswith("act") else a / (1 + np.exp(-a))
        a = put(f"layers.{i}.act", a) * put(f"layers.{i}.up", x @ w2)
        x = put(f"layers.{i}", x + put(f"layers.{i}.down", a @ w3 / 8))
    put("logits", x @ rng.normal(size=(32, 50)))
    return dump


@pytest.mark.spread(2)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("fault", ["", "q", "scores", "act"])
def test_noise_that_grows_from_layer_to_layer_is_none_and_a_fault_in_it_is_one(fault: str, dtype: str) -> None:
    """Rounding at each step adds up to more than that of one step: to several times as much at the last."""
    found = ac.compare(stack(dtype, fault), stack("float64"))
    assert (found.verdict, found.first_wrong) == (("differs", f"layers.9.{fault}") if fault else ("within", None))
    assert all((each.share == 0) == (each.verdict in two_dumps.SOUND) for each in found.arrays)


@pytest.mark.parametrize(("factor", "told"), [(1 + 2**-15, "(1 + 3.1e-05)"), (2**-15 - 1, "−(1 − 3.1e-05)")])
def test_a_factor_that_is_nearly_1_is_told_by_what_is_beside_it(factor: float, told: str) -> None:
    assert one(factor * X, X).finding == f"it is {told} times the second"


def test_pairs() -> None:
    a = {"module.h.0.w": X, "h/1/w": X, "mine": X, "more": X}
    b = {"h.0.w": X, "h.1.w": X, "theirs": X, "less": X}
    found = ac.compare(a, b, map={"mine": "theirs"})
    assert {each.name: each.verdict for each in found.arrays} == {
        "h.0.w": "equal", "h.1.w": "equal", "theirs": "equal", "less": "missing", "more": "missing",
    }  # fmt: skip
    assert (found.verdict, found.first_wrong) == ("missing", "less")
    assert ac.compare({"a": X}, {"b": X}).verdict == "equal"  # one array each
    with pytest.raises(AttncalcError, match="no array of one dump is called as one of the other"):
        ac.compare({"a": X, "c": X}, {"b": X})
    with pytest.raises(AttncalcError, match='the first dump has no "mien"'):
        ac.compare(a, b, map={"mien": "theirs"})


PAIRED = {
    "llama": "model.layers.0 model.norm",
    "gpt2": "transformer.h.0 transformer.ln_f",
    "opt": "model.decoder.layers.0 model.decoder.final_layer_norm",
    "gpt_neox": "gpt_neox.layers.0 gpt_neox.final_layer_norm",
    "bert": "bert.encoder.layer.0 bert.encoder.layer.1",
    "vit": "vit.encoder.layer.0 vit.encoder.layer.1",
    "mamba": "",
}
"""A model, and those of its modules that give what it returns, by their names alone."""


@pytest.mark.spread(8)
@pytest.mark.parametrize("model", NAMES)
def test_what_modules_give_goes_with_what_a_model_returns(model: str) -> None:
    """A module may be paired with nothing, but with nothing else than what it gives."""
    t, modules = computed(model), marker_of(model).key.names.of_modules
    assert modules is not None
    theirs = returned(t)
    plain = {name: t["/".join(filter(None, step))] for name, step in modules.whole.items()}
    front = {"gpt2": "transformer.", "gpt_neox": "gpt_neox.", "bert": "bert.", "vit": "vit.", "opt": "model.decoder."}
    if model in ("bert", "vit"):  # whose layers have another name in code
        plain = {name: x for name, x in plain.items() if not name.startswith("layers.")}
    hooked = {f"{front.get(model, '')}{n}": x for n, x in plain.items() if n not in theirs and "hidden_state" not in n}
    found = ac.compare({**theirs, "": X}, {**hooked, "": X})
    for each in (*found.arrays, *ac.compare({**hooked, "": X}, {**theirs, "": X}).arrays):
        assert each.verdict in ("equal", "missing")
    if model in PAIRED:
        equal = {each.name.removeprefix("model.") for each in found.arrays if each.verdict == "equal"} - {""}
        assert equal >= {name.removeprefix("model.") for name in PAIRED[model].split()}


def test_the_order_of_layers() -> None:
    names = [
        "embed_tokens", "hidden_states.0", "layers.0.input_layernorm", "layers.0.self_attn.q_proj", "attentions.0",
        "layers.0.self_attn", "layers.0.mlp", "hidden_states.1", "layers.2.mlp", "layers.10.mlp", "norm", "logits",
    ]  # fmt: skip
    assert two_dumps.in_order(sorted(names)) == names


def test_logits_are_behind_the_layers_wherever_a_dump_has_them() -> None:
    names = ["logits", "hidden_states.0", "attentions.0", "hidden_states.1"]
    assert two_dumps.in_order(names) == [*names[1:], "logits"]
    told = ["layers.0.z", "layers.0.a", "layers.1.z", "layers.1.a"]  # as they were dumped
    assert two_dumps.in_order(told) == told


def test_layers_that_are_counted_otherwise_and_arrays_that_are_confused_are_told() -> None:
    states = {f"hidden_states.{i}": x for i, x in enumerate(X[0])}
    found = ac.compare({f"hidden_states.{i + 1}": x for i, x in enumerate(X[0])}, states)
    assert (found.first_wrong, found.arrays[1].finding) == (
        "hidden_states.1",
        "it is hidden_states.0 of the second dump",
    )
    found = ac.compare({"gate": X[0].astype("f4"), "up": X[1]}, {"gate": X[1], "up": X[0]})
    assert [each.finding for each in found.arrays] == ["it is up of the second dump", ""]


@pytest.mark.parametrize(("change", "said"), [(lambda x: 1.02 * x, "1.02 times"), (lambda x: x + 0.04, "plus 0.04")])
def test_a_factor_or_a_term_is_no_noise_of_a_narrow_type(change: Callable[[Any], Any], said: str) -> None:
    right = {f"h.{i}": RNG.normal(size=(16, 64)) for i in range(3)}
    mine = right | {"h.0": change(right["h.0"])}
    found = ac.compare(*({name: held(x, "bfloat16") for name, x in dump.items()} for dump in (mine, right)))
    assert found.first_wrong == "h.0"
    assert said in found.arrays[0].finding


@pytest.mark.parametrize("name", ["h.{}.out", "hidden_states.{}", "layers.{}.mlp"])
def test_a_number_in_a_name_may_have_more_digits_than_any_layer(name: str) -> None:
    dump = {name.format("9" * 5000): X, "norm": X}
    assert ac.compare(dump, dump)


def test_an_array_that_is_in_the_first_dump_alone_changes_no_order() -> None:
    right = {"h.1": X, "h.1.attn": X, "h.1.ln_1": X}
    assert ac.compare({name: x + 1 for name, x in right.items()} | {"h.0.attn": X}, right).first_wrong == "h.1.ln_1"


CALLED = {
    "gpt2": (
        "wte h.0.ln_1 h.0.attn.c_attn h.0.attn.c_proj h.0.attn h.0.ln_2 h.0.mlp.c_fc h.0.mlp.act h.0.mlp.c_proj "
        "h.0.mlp h.0 ln_f lm_head"
    ),
    "bloom": (
        "word_embeddings h.0.input_layernorm h.0.self_attention.query_key_value h.0.self_attention.dense "
        "h.0.self_attention h.0.post_attention_layernorm h.0.mlp.dense_h_to_4h h.0.mlp.dense_4h_to_h h.0.mlp h.0 ln_f"
    ),
    "bert": (
        "embeddings.word_embeddings embeddings.LayerNorm embeddings encoder.layer.0.attention.self.query "
        "encoder.layer.0.attention.self.key encoder.layer.0.attention.self encoder.layer.0.attention.output.dense "
        "encoder.layer.0.attention.output.LayerNorm encoder.layer.0.attention encoder.layer.0.intermediate.dense "
        "encoder.layer.0.intermediate encoder.layer.0.output.dense encoder.layer.0.output.LayerNorm "
        "encoder.layer.0.output encoder.layer.0 encoder pooler.dense pooler.activation pooler"
    ),
    "t5": (
        "shared encoder.block.1.layer.0.layer_norm encoder.block.1.layer.0.SelfAttention.q "
        "encoder.block.1.layer.0.SelfAttention.o encoder.block.1.layer.1.layer_norm "
        "encoder.block.1.layer.1.DenseReluDense.wi encoder.block.1.layer.1.DenseReluDense.wo encoder.block.1 "
        "encoder.final_layer_norm encoder decoder.block.0.layer.0.SelfAttention.q "
        "decoder.block.0.layer.1.EncDecAttention.q decoder.block.0.layer.2.DenseReluDense.wi decoder.block.0 decoder "
        "lm_head"
    ),
    "bart": (
        "encoder.embed_tokens encoder.layers.1.self_attn.v_proj encoder.layers.1.self_attn "
        "encoder.layers.1.self_attn_layer_norm encoder.layers.1.fc1 encoder.layers.1.fc2 encoder.layers.1 encoder "
        "decoder.embed_tokens decoder.layers.0.self_attn.q_proj decoder.layers.0.self_attn "
        "decoder.layers.0.encoder_attn.q_proj decoder.layers.0.encoder_attn decoder.layers.0.fc1 decoder.layers.0.fc2 "
        "decoder.layers.0 decoder lm_head"
    ),
    "both": "encoder_hidden_states.0 encoder_hidden_states.2 decoder_hidden_states.0 cross_attentions.0 logits",
    "one attention": "q k v scores weights output",
}
"""In which order the modules of models give what they do."""


@pytest.mark.parametrize("model", CALLED)
def test_a_dump_in_the_order_of_the_alphabet_is_gone_through_as_a_model_is(model: str) -> None:
    """As safetensors and folders hold them; of two stacks, one behind the other, in any dump."""
    names = CALLED[model].split()
    assert two_dumps.in_order(sorted(names)) == names
    assert two_dumps.in_order(names) == names


def test_large_arrays_are_read_in_pieces(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    whole = one({"x": X + 0.1}, {"x": X})
    np.savez(tmp_path / "x.npz", x=X)
    monkeypatch.setattr(two_dumps, "MOST_AT_ONCE", 13)
    places = [*two_dumps.pieces(X.shape)]
    assert all(X[place].size <= 13 for place in places)
    assert np.array_equal(np.concatenate([X[place].ravel() for place in places]), X.ravel())
    pieced = one({"x": X + 0.1}, tmp_path / "x.npz")
    assert pieced._replace(cosine=0, at=()) == whole._replace(cosine=0, at=())
    assert pieced.cosine == pytest.approx(whole.cosine)


def run(*words: object) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words])


def test_files_of_every_kind(tmp_path: Path) -> None:
    y = X[0, 0].astype("f4")
    np.savez(tmp_path / "a.npz", y=y, **{"h.1.w": y})
    stored(tmp_path / "b.safetensors", {"y": y, "h.1.w": y + 1})
    (tmp_path / "c").mkdir()
    np.save(tmp_path / "c/y.npy", y)
    np.save(tmp_path / "c/h.1.w.npy", y)
    (tmp_path / "d.json").write_text(json.dumps({"y": y.tolist(), "h.1.w": y.tolist()}))
    assert run("compare", tmp_path / "a.npz", tmp_path / "c").exit_code == 0
    assert run("compare", tmp_path / "d.json", tmp_path / "a.npz").exit_code == 0
    assert run("compare", tmp_path / "c/y.npy", f"{tmp_path}/a.npz#y").exit_code == 0
    done = run("compare", tmp_path / "a.npz", tmp_path / "b.safetensors", "-f", "json")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["verdict"], found["first_wrong"]) == (1, "differs", "h.1.w")
    keys = ["name", "verdict", "max_error", "relative", "cosine", "share", "at"]
    assert [list(each) for each in found["arrays"]] == [keys, [*keys, "finding"]]
    assert found["arrays"][1]["finding"] == "it is the second less 1"
    assert run("compare", tmp_path / "a.npz", tmp_path / "none.npz").exit_code == 2
    np.savez(tmp_path / "turns.npz", w=np.ones((3, 4)) + 1j)
    np.savez(tmp_path / "back.npz", w=np.ones((3, 4)) - 1j)
    assert run("compare", tmp_path / "turns.npz", tmp_path / "turns.npz").exit_code == 0
    assert run("compare", tmp_path / "back.npz", tmp_path / "turns.npz").exit_code == 1
    assert run("compare", tmp_path, tmp_path).exit_code == 2


@pytest.mark.parametrize("form", ["table", "plain", "markdown", "latex", "html", "csv"])
def test_every_format_names_the_first_that_diverges(tmp_path: Path, form: str) -> None:
    np.savez(tmp_path / "a.npz", x=X[:, ORDER], y=X)
    np.savez(tmp_path / "b.npz", x=X, y=X)
    done = run("compare", tmp_path / "a.npz", tmp_path / "b.npz", "-f", form)
    assert done.exit_code == 1
    assert "differs" in done.stdout
    assert "permuted" in done.stdout


@pytest.mark.parametrize("form", ["table", "plain", "markdown"])
def test_a_page_tells_of_every_shape_that_differs_and_where_each_array_is_that_has_no_pair(
    tmp_path: Path, form: str
) -> None:
    lost = {f"lost{i}": X for i in range(10)}
    np.savez(tmp_path / "a.npz", x=X, y=X[0], z=X[0, 0], **lost)
    np.savez(tmp_path / "b.npz", x=X + 1, y=X[:, 0], z=X[0, 0].T, mine=X)
    page = run("compare", tmp_path / "a.npz", tmp_path / "b.npz", "-f", form).stdout
    page = " ".join(page.replace("\\[", "[").replace("\\]", "]").split())  # a terminal's lines are broken
    assert "y: [4, 5, 6] and [2, 5, 6] z: " in page
    assert "z: [5, 6] and [6, 5]: the last two axes are swapped (one is transposed) only" in page
    assert "only in the second dump: mine only" in page
    lost_of_first = "only in the first dump: lost0, lost1, lost2, lost3, lost4, lost5, lost6, lost7, 2 more"
    assert re.search(rf"{lost_of_first}\W+map lm.*--check [^:]*$", page)


def page_of(a: Any, b: Any, width: int) -> str:
    return compared_dumps.shown(ac.compare(a, b), "table", View(width=width))


def test_numbers_have_two_digits_and_a_scalar_has_no_place() -> None:
    page = page_of({"s": np.float64(3), "x": np.full(2, 1 + 3e-6)}, {"s": np.float64(1.1), "x": np.ones(2)}, 160)
    assert "\ns, a scalar, is off by 1.9, 1.7 of what it should be\n" in page
    assert re.search(r"^s +differs +1\.9 +1\.7 +1\.000000 +100 % +scalar$", page, re.MULTILINE)
    assert re.search(r"^x +differs +3e-06 +3e-06 +1\.000000 +100 % +\[0\]$", page, re.MULTILINE)
    assert "differs: 1 of 1 array does not agree" in page_of({"x": X + 1}, {"x": X}, 80)


def test_what_is_right_has_a_line_of_its_own_on_a_narrow_page() -> None:
    names = [f"model.layers.{i}.post_attention_layernorm" for i in range(3)]
    right = dict.fromkeys(names, X)
    page = page_of(right | {names[2]: X + 1}, right, 80)
    lines = page[page.index("array | verdict") :].splitlines()[1:]
    assert [line.startswith("model.layers.") for line in lines] == [True, True, True, False]


@pytest.mark.parametrize(("width", "left_out"), [(40, "cosine and beyond"), (48, "beyond"), (80, "")])
def test_a_narrow_page_names_the_columns_that_a_wider_one_has(width: int, left_out: str) -> None:
    x = X[0, 0]
    page = page_of({"query": x + 1, "key": x - 2}, {"query": x, "key": x}, width)
    assert re.findall(r"^… (.*) \(on a wider page\)$", page, re.MULTILINE) == [left_out] * bool(left_out)
    assert "--all" not in page


def test_a_map_on_the_command_line(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", p=X, q=X)
    np.savez(tmp_path / "b.npz", r=X, s=X)
    words = ("compare", tmp_path / "a.npz", tmp_path / "b.npz")
    assert run(*words).exit_code == 2
    assert run(*words, "--map", "p=r,q=s").exit_code == 0
    assert run(*words, "--map", "p").exit_code == 2


@pytest.mark.thorough
@pytest.mark.parametrize("factor", [1.0, -1.0, 3.0])
def test_a_cosine_is_at_most_1(factor: float) -> None:
    found = []
    for seed in range(200):
        x = np.random.default_rng(seed).normal(size=7)
        found += [ac.compare({"x": factor * x}, {"x": x}).arrays[0].cosine]
    assert max(map(abs, found)) <= 1
    if factor == 1:
        assert set(found) == {1.0}
