"""`--heads-layout`: q, k, v and answers whose tokens lie in front of their heads are read as if they did not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attncalc as ac
from attncalc.cli import app
from attncalc.common.errors import ShapeError

RNG = np.random.default_rng(5)
Q, K, V = (RNG.normal(size=(2, 3, 4, 5)) for _ in range(3))  # b h n d
RIGHT = ac.attention(Q, K, V)


def swapped(layout: str, *arrays: Any) -> list[Any]:
    """Arrays as a layout has them."""
    alone = [array if layout.startswith("b") else array[0] for array in arrays]
    return [array if "hn" in layout else array.swapaxes(-3, -2) for array in alone]


@pytest.mark.thorough
@pytest.mark.parametrize("layout", ["bhnd", "bnhd", "hnd", "nhd"])
def test_operands_and_answers_of_a_layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str) -> None:
    monkeypatch.chdir(tmp_path)
    q, k, v, output = swapped(layout, Q, K, V, RIGHT.result)
    weights = RIGHT["weights"] if layout.startswith("b") else RIGHT["weights"][0]
    np.savez("qkv.npz", q=q, k=k, v=v)
    np.savez("right.npz", output=output, weights=weights)
    np.save("alone.npy", output)
    words = ["attention", "qkv.npz", "--heads-layout", layout]
    for answer in ("right.npz", "alone.npy"):
        assert app([*words, "--check", answer], standalone_mode=False) == 0
    assert app([*words, "-o", "r.json"], standalone_mode=False) == 0
    due = RIGHT.result if layout.startswith("b") else RIGHT.result[0]
    assert np.array_equal(json.loads(Path("r.json").read_text())["result"], due)
    other = "nhd" if layout.startswith("b") else "bhnd"
    assert app([*words[:-1], other], standalone_mode=False) == 2


@pytest.mark.parametrize("layout", ["bhnd", "bnhd", "hnd", "nhd"])
def test_what_arrives_at_a_result_lies_as_the_result_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str
) -> None:
    monkeypatch.chdir(tmp_path)
    arriving = RNG.normal(size=RIGHT.result.shape)
    pull = RIGHT.grad(upstream=arriving)
    names = ("grad_q", "grad_k", "grad_v")
    q, k, v, upstream, *due = swapped(layout, Q, K, V, arriving, *(pull[name] for name in names))
    np.savez("qkv.npz", q=q, k=k, v=v)
    np.save("up.npy", upstream)
    np.savez("right.npz", **dict(zip(names, due, strict=True)))
    words = ["grad", "attention", "qkv.npz", "--heads-layout", layout, "--check", "right.npz"]
    assert app([*words, "--upstream", "up.npy"], standalone_mode=False) == 0


@pytest.mark.parametrize("layout", ["bhnd", "bnhd", "hnd", "nhd"])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_sheets_of_a_class_may_have_a_layout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str, jobs: str
) -> None:
    """`grade` took the option, and passed it over where it read answers."""
    monkeypatch.chdir(tmp_path)
    q, k, v, output = (array.round(4).tolist() for array in swapped(layout, Q, K, V, RIGHT.result))
    key = {"calculation": "attention", "inputs": {"q": q, "k": k, "v": v}}
    Path("key.json").write_text(json.dumps(key))
    Path("ann.json").write_text(json.dumps({"steps": {"output": output}}))
    Path("bob.json").write_text(json.dumps({"steps": {"output": (np.array(output) + 1).tolist()}}))
    words = ["grade", "key.json", "ann.json", "bob.json", "--rtol", "0.01", "--atol", "0.001", "--jobs", jobs]
    assert app([*words, "--heads-layout", layout, "-o", "report.json"], standalone_mode=False) == 1
    rows = json.loads(Path("report.json").read_text())["students"]
    assert [(row["student"], row["verdict"]) for row in rows] == [("ann", "right"), ("bob", "wrong")]


@pytest.mark.parametrize("heads", [(1,), (1, 1)])
def test_a_gradient_is_taken_in_the_shape_in_which_its_operand_was_given(heads: tuple[int, ...]) -> None:
    """An axis of size 1 stands for every head, and is in the gradient, too."""
    pull = ac.attention(Q, K[:1, :1], V[:1, :1], bias=RNG.normal(size=(*heads, 1, 4))).grad()
    shapes = {name: pull[name].shape for name in ("grad_k", "grad_v", "grad_bias")}
    assert shapes == {"grad_k": (1, 1, 4, 5), "grad_v": (1, 1, 4, 5), "grad_bias": (*heads, 1, 4)}
    for name in shapes:
        assert pull.check({name: pull[name]}).verdict == "right"


def whole(part: Any) -> Any:
    """Heads side by side."""
    return part.swapaxes(0, 1).reshape(part.shape[1], -1)


CUT = "k.reshape(7, 3, -1) and v.reshape(7, 3, -1)"
MISLAID = (
    ("nhd", "nhd", "nhd", "do tokens stand before heads? --heads-layout nhd reads them so"),
    ("nhd", "hnd", "hnd", "tokens and heads of q lie the other way round: swap them"),
    ("hnd", "", "", f"q is cut into 3 heads, and k and v are not: {CUT}, each with .swapaxes(0, 1)"),
    ("nhd", "", "", f"q is cut into 3 heads, and k and v are not: {CUT}, which --heads-layout nhd reads"),
    ("", "hnd", "hnd", "k and v are cut into 3 heads, and q is not: q.reshape(4, 3, -1), each with .swapaxes(0, 1)"),
)
"""How q, k and v lie, "" without heads, and the mend."""


@pytest.mark.parametrize(("q", "k", "v", "mend"), MISLAID)
def test_operands_that_lie_otherwise_are_refused_with_the_mend(q: str, k: str, v: str, mend: str) -> None:
    parts = Q[0], *(np.concatenate([part[0], part[1]], axis=1)[:, :7] for part in (K, V))
    given = [
        swapped(layout, part[None])[0] if layout else whole(part) for layout, part in zip((q, k, v), parts, strict=True)
    ]
    with pytest.raises(ShapeError) as refused:
        ac.attention(*given)
    assert refused.value.hint == mend


def test_operands_in_heads_that_no_mend_fits_are_refused_for_what_they_are() -> None:
    with pytest.raises(ShapeError) as refused:
        ac.attention(RNG.normal(size=(3, 4, 5)), RNG.normal(size=(2, 7, 6)), RNG.normal(size=(2, 7, 5)))
    assert "--heads-layout" not in refused.value.hint


def test_an_answer_in_heads_is_told_the_step_that_has_them() -> None:
    x, w = RNG.normal(size=(5, 6)), RNG.normal(size=(6, 6))
    t = ac.multihead(x, w, w, w, w, heads=3)
    heads = t["q_heads"]
    said = "the answer is 3 × 5 × 2, and 5 × 6 is asked for: q_heads is 3 × 5 × 2"
    assert t.check({"q": heads})["q"].hint == said
    said = said.replace("answer is 3 × 5", "answer is 5 × 3") + ", and --heads-layout nhd reads tokens before heads"
    assert t.check({"q": heads.swapaxes(0, 1)})["q"].hint == said
    said = "the answer is 5 × 3 × 2, and 3 × 5 × 2 is asked for: do tokens stand before heads in it?"
    assert t.check({"q_heads": RNG.normal(size=(5, 3, 2))})["q_heads"].hint == said
