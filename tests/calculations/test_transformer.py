"""The whole transformer: the model that ships, greedy generation and its end, words and ids, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import attncalc as ac
from attncalc.calculations import load
from attncalc.common.errors import AttncalcError, InputError, NoGradient, NotExact
from attncalc.common.system import told_to
from attncalc.inputs.calls import gather
from attncalc.inputs.problem_files import load_document
from attncalc.inputs.reading import Reading
from attncalc.solve.problem import Problem
from attncalc.solve.solver import solve

MODEL: dict[str, Any] = json.loads((Path(__file__).parents[2] / "samples/model.json").read_text(encoding="utf-8"))
WORDS = MODEL["vocabulary"]
SAID = {
    "the cat is": "le chat est",
    "the dog is here": "le chien est ici",
    "is the cat here": "est le chat ici",
    "here is the dog": "ici est le chien",
}


def spoken(t: ac.Trace) -> str:
    return " ".join(WORDS[token] for token in t.result)


@pytest.mark.parametrize("source", SAID)
def test_the_sample_model_translates(source: str) -> None:
    t = ac.transformer(source, MODEL, generate=8, start="<s>", end="</s>")
    assert spoken(t) == f"<s> {SAID[source]} </s>"
    assert t.result.dtype == np.int64


@pytest.mark.thorough
def test_generation_is_the_same_token_by_token() -> None:
    written = [0]
    for _ in range(4):
        written = ac.transformer("the cat is", MODEL, written).result.tolist()
    assert written == ac.transformer("the cat is", MODEL, generate=4, start=0).result.tolist()


def test_nothing_is_generated_after_the_end() -> None:
    t = ac.transformer("the cat", MODEL, generate=6, start="<s>", end="</s>")
    assert spoken(t) == "<s> le chat </s>"
    assert {step.group.partition("/")[0] for step in t.steps if step.group.startswith("token")} == {
        "token 1",
        "token 2",
        "token 3",
    }
    assert "the end was chosen as token 3" in t.notes[-1]
    assert t["tokens"] is t.result


@pytest.mark.thorough
def test_what_comes_after_the_end_is_not_worked_out() -> None:
    told: list[tuple[str, int, int | None]] = []
    places = ac.sinusoidal(n=4, d=4).result  # a fifth token would have none
    with told_to(lambda *said: told.append(said)):
        t = ac.transformer("the cat is", MODEL | {"positions": places}, generate=50, start="<s>", end="chat")
    assert spoken(t).endswith("chat")
    assert [said for said in told if said[0] == "token"] == [("token", done, 50) for done in range(1, len(t.result))]
    with pytest.raises(AttncalcError, match="positions"):
        ac.transformer("the cat is", MODEL | {"positions": places}, generate=50, start="<s>")


@pytest.mark.thorough
def test_rounding_may_choose_other_tokens_and_another_end() -> None:
    t = ac.transformer("the cat is", MODEL, generate=8, start="<s>", end="</s>", round_to=0)
    tokens = t.result.tolist()
    assert 1 not in tokens[:-1]
    assert tokens[-1] == 1 or len(tokens) == 9
    for k, token in enumerate(tokens[1:], start=1):
        logits = t[f"token {k}/logits"]
        assert_array_equal(logits, np.round(logits))
        assert token == logits[-1].argmax()


def test_the_decoders_rows_are_named_by_what_was_written() -> None:
    t = ac.transformer("the cat", MODEL, generate=2, start="<s>")
    assert t.find("token 2/decoder 1/self-attention/weights").labels == {"n": ("<s>", "le"), "m": ("<s>", "le")}
    assert t.find("token 2/decoder 1/cross-attention/weights").labels == {"n": ("<s>", "le"), "s": ("the", "cat")}
    assert t.find("encoder 1/self-attention/weights").labels == {"s": ("the", "cat"), "t": ("the", "cat")}


def test_ids_and_words_are_the_same_tokens() -> None:
    by_words, by_ids = (ac.transformer(source, MODEL, [0])["logits"] for source in ("the cat", [2, 3]))
    assert_array_equal(by_words, by_ids)


def test_the_memory_is_read_once_and_is_an_output() -> None:
    t = ac.transformer("the cat", MODEL, generate=2, start="<s>")
    assert [step.name for step in t.outputs] == ["tokens", "memory"]
    assert sum(step.name == "memory" for step in t.steps) == 1


def test_without_an_output_matrix_the_embeddings_serve_twice() -> None:
    model = {name: part for name, part in MODEL.items() if name not in ("output", "output_bias")}
    t = ac.transformer("the cat", model, [0])
    last = t["decoder 1/norm3/output"]
    assert_array_equal(t["logits"], last @ np.array(MODEL["embedding"]).T)


def test_the_call_wins_over_the_model() -> None:
    post, pre = (ac.transformer("the cat", MODEL, [0], norm=norm)["logits"] for norm in ("post", "pre"))
    assert not np.allclose(post, pre)


def test_a_choice_has_no_gradient() -> None:
    with pytest.raises(NoGradient, match="a ranking jumps"):
        ac.transformer("the cat", MODEL, [0]).grad()


@pytest.mark.thorough
def test_a_saved_result_is_the_problem_again(run: Callable[..., Any], samples: Path, tmp_path: Path) -> None:
    saved = run("transformer", "the cat is", samples / "model.json", "--generate", "3", "--start", "<s>", "-f", "json")
    assert saved.returncode == 0, saved.stderr
    (tmp_path / "saved.json").write_text(saved.stdout, encoding="utf-8")
    again = run("run", tmp_path / "saved.json", "-f", "json")
    assert json.loads(again.stdout)["result"] == json.loads(saved.stdout)["result"] == [0, 7, 8, 10]


def test_the_model_s_file_is_named_once_and_tokens_by_their_words(run: Callable[..., Any], samples: Path) -> None:
    done = run("transformer", "the cat is", "model.json", "0", cwd=samples, env={"COLUMNS": "80"})
    head = done.stdout.partition("── source ──")[0]
    assert "  source, s=3: 2 3 5 (the cat is)\n  target, n=1: 0 (<s>)\n  ← model.json\n  embedding = E, V=12" in head
    assert head.count("model.json") == 1


HALF = {**MODEL, "encoder": [{"wq": MODEL["encoder"][0]["wq"]}]}
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({}, "needs a target to go on from, or --start"),
    ({"start": "<S>"}, "--start <S>: the vocabulary has no such word"),
    ({"start": 12}, "--start 12 is not among the 12 words"),
    ({"start": 0, "generate": 0}, "--generate must be from 1 to 256"),
    ({"start": 0, "generate": 1, "end": "stop"}, "--end stop: the vocabulary has no such word"),
    ({"target": [0], "model": {**MODEL, "decoder": []}}, "at least one decoder"),
    ({"target": [0], "model": {**MODEL, "decodr": []}}, 'nothing called "decodr"'),
    (
        {"target": [0], "model": HALF},
        "encoder 1 needs wk, wv, wo, w1 and w2",
    ),
    ({"target": [0], "model": {**MODEL, "encoder": [{"wquery": [[1]]}]}}, 'nothing called "encoder 1/wquery"'),
    ({"target": [0], "model": {**MODEL, "encoder_norm": {}}}, "encoder_norm is empty"),
    ({"target": [0], "model": {**MODEL, "extra": np.eye(2)}}, 'nothing called "extra"'),
    ({"target": [0], "model": {**MODEL, "vocabulary": ["one"]}}, "vocabulary: 1 label for an axis of size 12"),
    ({"target": [0], "model": [1, 2]}, "not an object that holds a model"),
]


@pytest.mark.parametrize(("call", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_what_makes_no_sense_is_refused(call: dict[str, Any], said: str) -> None:
    with pytest.raises(AttncalcError, match=said):
        ac.transformer("the cat", **({"model": MODEL} | call))


PARTS = {
    "model.json#layers": 'model.json holds no "layers"',
    "model.json#encoder": "model.json#encoder is a list, not an object that holds a model",
    "model.json#[0]": "model.json: a model is an object, and [0] asks for an entry of an array",
    "list.json#encoder": 'list.json holds no "encoder"',
}


@pytest.mark.parametrize(("word", "said"), PARTS.items(), ids=PARTS)
def test_a_part_of_a_file_that_is_no_model_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model.json").write_text(json.dumps(MODEL), encoding="utf-8")
    Path("list.json").write_text(json.dumps([MODEL]), encoding="utf-8")
    with pytest.raises(InputError) as error:
        gather(load("transformer"), ["the cat"], {"model": word}, {}, Reading())
    assert error.value.message == said


@pytest.mark.thorough
def test_what_grows_too_large_to_be_exact_is_refused_while_it_grows(samples: Path) -> None:
    """Each turn is looked at as any step is: the sample's entries would otherwise fill pages for minutes."""
    document = load_document(str(samples / "transformer.json"), Reading())
    with pytest.raises(NotExact, match="operations, but the limit is"):
        solve(Problem(load("transformer"), document.inputs, document.options), exact=True)
