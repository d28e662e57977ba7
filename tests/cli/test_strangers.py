"""What a stranger types for want of the right word, and the hint that leads on from there."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rows import rows

from attncalc.calculations import TABLE, load
from attncalc.cli import app

HINTS = {
    "self attention": "did you mean attention?",
    "dotproduct 1,2 3,4": "did you mean dot?",
    "scaled dot product attention": "did you mean attention?",
    "positional encoding": "did you mean sinusoidal?",
    "layer norm 1,2,3": "did you mean layernorm?",
    "cross entropy 1": "did you mean cross-entropy?",
    "attention 1,2 1,2 1,2 causal": "did you mean --causal?",
    "attention 1,2 1,2 1,2 --mask causal": "did you mean --causal?",
    "attention 1,2 --rope half": "did you mean --rope-layout half?",
    "help attention": "attncalc --help, or attncalc attention --help",
    "attention --html": "-f html makes a page of it",
    "attention --save hw.json": "-o FILE writes it to a file, in the format of its suffix",
    "attention --grad": "it goes before the name: attncalc grad attention …",
    "grade key.json": "with --regrade REPORT name both, to mark by another key, or neither",
}

CALLED = {
    "attention": "attention_weights AttentionScores causal masking",
    "multihead": "gqa mqa grouped-query-attention multi_query_attention MHA_",
    "cross-entropy": "crossentropy Cross_Entropy crossent bce logloss",
    "log-softmax": "logsoftmax log_softmax LogSoftmax",
    "kl": "kldiv",
    "cosine": "cossim cos-sim similarity angle",
    "euclidean": "distance dist l2",
    "manhattan": "l1 cityblock",
    "norm": "magnitude length",
    "sinusoidal": "posenc positions pos_enc",
    "eigen": "eigenvalues eigenvectors pca eig",
    "sampling": "topk top-p nucleus argmax",
    "unembed": "logits lm_head",
    "bpe": "tokenizer tokenise tokenize",
    "patch-embed": "vit",
    "layernorm": "LayerNorm layer_norm",
    "batchnorm": "batch_norm BatchNorm1d",
    "schedule": "lr learning-rate",
    "complexity": "flops params",
    "mlp": "perceptron neural-network",
    "linear-regression": "ols",  # and mse, but that is what the recipe of CONTRIBUTING adds
    "grad attention": "grad_attention attention-backward AttentionGrad",
    "grad softmax": "softmax_backward gradSoftmax",
    "jacobian softmax": "softmax_jacobian",
    "jacobian": "jac",
}
"""A calculation, and what it or a part of it is called elsewhere."""


@pytest.mark.parametrize(("name", "word"), [(name, word) for name, words in CALLED.items() for word in words.split()])
def test_the_first_that_is_meant_is_what_the_word_says(
    name: str, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app([word, "1,2"], standalone_mode=False) == 2
    assert re.search(rf"\nhint: did you mean {name}(?: or |, |\?)", capsys.readouterr().err)


CHOICES = {
    name: next(f"{option.flag} {option.choices[-1]}" for option in known.options if option.choices)
    for name, known in {name: load(name) for name in TABLE}.items()
    if any(option.choices for option in known.options) and {each.kind for each in known.operands} <= {"real", "mask"}
}


@rows("name", CHOICES)
def test_a_word_that_an_option_takes_is_told_to_be_one(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = CHOICES[name]
    assert app([name, *["1,2"] * (name == "norm"), said.split()[1]], standalone_mode=False) == 2
    assert capsys.readouterr().err.endswith(f"\nhint: did you mean {said}?\n")


@pytest.mark.parametrize("call", HINTS)
def test_a_strangers_word_leads_on(call: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        app(call.split())
    assert ended.value.code == 2
    out, err = capsys.readouterr()
    assert not out
    assert HINTS[call] in err


def test_practice_of_a_saved_result_lists_no_usual_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = str(tmp_path / "saved.json")
    assert not app(
        ["attention", "1 0; 0 1", "1 0; 0 1", "1 2; 3 4", "--scale", "none", "-o", saved], standalone_mode=False
    )
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    app(["practice", saved], standalone_mode=False)
    said = capsys.readouterr().out
    assert "with scale = none\n" in said
