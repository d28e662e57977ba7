"""One call: which word is for which operand, what files supply beside, what wins, and what is said of it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from operands import an_operand

from attncalc.common.errors import AttncalcError
from attncalc.declare.calculation import Calculation, calculation
from attncalc.declare.operands import Declaration, Operand, Option
from attncalc.inputs.calls import Gathered, gather
from attncalc.inputs.reading import Reading


def named(name: str, shape: str, *, kind: Any = "real", **more: Any) -> Operand:
    return an_operand(kind, shape, name, broadcasts=kind == "mask", **more)


def a_calculation(name: str, *operands: Operand, options: Sequence[Option] = ()) -> Calculation:
    def function() -> tuple[()]:
        return ()

    function.__name__ = name
    made = calculation()(function)
    made.declaration = Declaration(operands, tuple(options))
    return made


ATTENTION = a_calculation(
    "attention",
    named("q", "n d_k"),
    named("k", "m d_k"),
    named("v", "m d_v"),
    named("wq", "d_model d_k", positional=False),
    named("mask", "n m", positional=False, kind="mask"),
    named("bias", "n m", positional=False, words=("alibi",)),
    options=[
        Option("causal", (bool,), (), False, False, ""),
        Option("scale", (float,), ("none", "default"), False, "default", ""),
        Option("padding", (int,), (), True, None, ""),
        Option("causal_align", (), ("start", "end"), False, "start", ""),
    ],
)
DOT = a_calculation("dot", named("a", "n"), named("b", "n"))
ANALOGY = a_calculation("analogy", *(named(name, "d") for name in "abc"), named("vocabulary", "m d", named=True))
EMBED = a_calculation("embed", named("tokens", "n", kind="tokens"), named("table", "V d", named=True))
BLOCK = a_calculation("block", named("x", "n d"), *(named(n, "d d", positional=False) for n in ("wq", "wo")))

Gather = Callable[..., Gathered]


@pytest.fixture
def call(folder: Path) -> Gather:
    def call_(
        calculation: Calculation,
        *words: str,
        named: Mapping[str, str] | None = None,
        options: Mapping[str, Any] | None = None,
        backward: bool = False,
        **reading: Any,
    ) -> Gathered:
        return gather(calculation, words, named or {}, options or {}, Reading(**reading), backward=backward)

    return call_


def values(gathered: Gathered) -> dict[str, Any]:
    return {name: given.value.tolist() for name, given in gathered.inputs.items()}


def sources(gathered: Gathered) -> dict[str, str]:
    return {name: given.source for name, given in gathered.inputs.items()}


QKV = {"q": [[1, 0]], "k": [[0, 1]], "v": [[2, 3]]}
PROBLEM = {"calculation": "attention", "inputs": QKV, "options": {"causal": True, "scale": "1/sqrt(3)", "padding": [1]}}
SAVED = PROBLEM | {"attncalc": 1, "outputs": {"output": [[8, 9]]}, "result": [[8, 9]]}
SAVED_DOT = {"calculation": "dot", "inputs": {"a": [1], "b": [2]}, "outputs": {"dot": 2}, "result": 2}


@pytest.fixture(autouse=True)
def some_files(folder: Path) -> None:
    for name, content in {
        "q.json": [[5, 6]],
        "k.json": [[7, 8]],
        "qkv.json": QKV,
        "qk.json": {"Q": [[1, 0]], "keys": [[0, 1]]},
        "v.json": {"V": [[2, 3]], "wq": [[9, 9]]},
        "flat.json": QKV | {"causal": True, "scale": "none"},
        "optioned.json": QKV | {"options": {"causal-align": "end"}},
        "unnamed.json": {"inputs": QKV, "options": {"causal": True}},
        "wrapped.json": {"operands": QKV | {"causal": True}, "title": "by hand"},
        "extra.json": QKV | {"masc": [[1]], "note": "hand-made"},
        "problem.json": PROBLEM,
        "saved.json": SAVED,
        "dot.json": SAVED_DOT,
        "scores.json": {"calculation": "softmax", "inputs": {"x": [1]}, "result": [[3, 4]]},
        "grad.json": PROBLEM
        | {"calculation": "grad attention", "inputs": QKV | {"upstream": [[1, 1]]}, "result": [[1]]},
        "alibi.json": QKV | {"bias": "alibi"},
        "beside.json": QKV | {"calculation": "attention", "causal": True},
        "later.json": PROBLEM | {"attncalc": 2},
        "words.json": {"king": [1, 0], "man": [0, 1], "a": [2, 2]},
        "tokens.json": ["the", "cat"],
    }.items():
        (folder / name).write_text(json.dumps(content))
    (folder / "words.csv").write_text("word,x,y\ncat,0.8,0.2\ndog,0.7,0.3\n")
    np.savez(folder / "qkv.npz", **{name: np.array(value, dtype=float) for name, value in QKV.items()})  # type: ignore[arg-type]  # as above
    np.savez(folder / "torch.npz", **{"q_proj.weight": np.eye(2), "x": np.ones((1, 2))})  # type: ignore[arg-type]  # as above


class TestWhichWordIsForWhichOperand:
    def test_by_position(self, call: Gather) -> None:
        assert values(call(DOT, "1,2", "3,4")) == {"a": [1, 2], "b": [3, 4]}

    def test_by_name(self, call: Gather) -> None:
        assert values(call(DOT, named={"b": "3,4", "a": "1,2"})) == {"a": [1, 2], "b": [3, 4]}

    def test_positions_pass_over_what_has_a_name(self, call: Gather) -> None:
        assert values(call(DOT, "3,4", named={"a": "1,2"})) == {"a": [1, 2], "b": [3, 4]}

    def test_array_options_are_operands(self, call: Gather) -> None:
        found = call(ATTENTION, "q.json", named={"mask": "true false"})
        assert values(found) == {"q": [[5, 6]], "mask": [True, False]}

    def test_one_matrix_leaves_the_others_open(self, call: Gather) -> None:
        found = call(ATTENTION, named={"q": "q.json"})
        assert (values(found), found.options, found.notes) == ({"q": [[5, 6]]}, {}, ())

    def test_inputs_come_in_the_order_of_the_operands(self, call: Gather) -> None:
        assert list(call(ANALOGY, "1,0", "0,1", "1,1", "words.json").inputs) == ["a", "b", "c", "vocabulary"]


class TestFilesThatHoldSeveral:
    @pytest.mark.parametrize(
        "word",
        [
            *("qkv.json", "qkv.npz", "qkv", "problem.json", "saved.json", "beside.json"),
            *("unnamed.json", "wrapped.json"),
        ],
    )
    def test_one_file_supplies_all(self, call: Gather, word: str) -> None:
        assert values(call(ATTENTION, word)) == QKV
        assert values(call(ATTENTION, named={"q": word})) == QKV

    def test_places_are_filled_by_files(self, call: Gather) -> None:
        assert sources(call(ATTENTION, "qk.json", "v.json")) == {
            "q": "qk.json#Q",
            "k": "qk.json#keys",
            "v": "v.json#V",
            "wq": "v.json#wq",
        }

    def test_what_is_given_wins(self, call: Gather) -> None:
        assert values(call(ATTENTION, "qkv.json", named={"k": "k.json"})) == QKV | {"k": [[7, 8]]}
        assert values(call(ATTENTION, "qkv.json", "k.json")) == QKV | {"k": [[7, 8]]}
        assert values(call(ATTENTION, "problem.json", named={"q": "q.json"})) == QKV | {"q": [[5, 6]]}
        assert values(call(ATTENTION, "saved.json", named={"q": "q.json"})) == QKV | {"q": [[5, 6]]}

    @pytest.mark.parametrize("word", ["problem.json", "saved.json", "flat.json", "qkv.npz", "unnamed.json"])
    def test_all_that_is_given_wins(self, call: Gather, word: str) -> None:
        given = {"q": "q.json", "k": "k.json", "v": "9 9"}
        found = call(ATTENTION, word, named=given)
        assert values(found) == {"q": [[5, 6]], "k": [[7, 8]], "v": [9, 9]}
        assert found.options == call(ATTENTION, word).options

    def test_a_problem_without_a_result_is_the_problem_beside_all_the_others(self, call: Gather) -> None:
        found = call(ATTENTION, "problem.json", named={"k": "k.json", "v": "9 9"})
        assert values(found) == {"q": [[1, 0]], "k": [[7, 8]], "v": [9, 9]}

    @pytest.mark.parametrize("first", ["q", "k", "v"])
    def test_a_problem_without_a_result_is_the_problem_behind_a_name_as_well(self, call: Gather, first: str) -> None:
        beside = {"q": "v", "k": "q", "v": "k"}[first]
        for named in ({first: "problem.json", beside: "9 9"}, {beside: "9 9", first: "problem.json"}):
            found = call(ATTENTION, named=named)
            assert values(found) == QKV | {beside: [9, 9]}
            assert found.options == call(ATTENTION, "problem.json").options
            assert found.notes == (f"{beside} of problem.json is overruled by 9 9",)

    def test_of_two_problems_behind_names_each_gives_its_own(self, call: Gather, folder: Path) -> None:
        (folder / "other.json").write_text(json.dumps(PROBLEM | {"inputs": {"q": [[6]], "k": [[7]], "v": [[8]]}}))
        for named in ({"q": "problem.json", "k": "other.json"}, {"k": "other.json", "q": "problem.json"}):
            found = values(call(ATTENTION, named=named))
            assert (found["q"], found["k"]) == (QKV["q"], [[7]])

    @pytest.mark.parametrize("named", [{}, {"table": "words.csv"}, {"tokens": "dog"}])
    def test_tokens_and_their_table_in_one_file(self, call: Gather, folder: Path, named: dict[str, str]) -> None:
        inputs = {"tokens": ["cat"], "table": {"cat": [1, 2], "dog": [3, 4]}}
        (folder / "flat_tokens.json").write_text(json.dumps(inputs))
        (folder / "embed.json").write_text(json.dumps({"calculation": "embed", "inputs": inputs}))
        table = [[0.8, 0.2], [0.7, 0.3]] if "table" in named else [[1, 2], [3, 4]]
        for word in ["flat_tokens.json", "embed.json"]:
            assert values(call(EMBED, word, named=named)) == {"tokens": [named.get("tokens", "cat")], "table": table}

    def test_the_same_file_for_each(self, call: Gather) -> None:
        assert values(call(ATTENTION, "qkv.json", "qkv.json", "qkv.json")) == QKV
        assert values(call(ATTENTION, "wrapped.json", "wrapped.json", "wrapped.json")) == QKV

    def test_options_come_along(self, call: Gather) -> None:
        assert call(ATTENTION, "flat.json").options == {"causal": True, "scale": "none"}
        assert call(ATTENTION, "optioned.json").options == {"causal_align": "end"}
        assert call(ATTENTION, "unnamed.json").options == call(ATTENTION, "wrapped.json").options == {"causal": True}
        options = {"causal": True, "scale": pytest.approx(3**-0.5), "padding": (1,)}
        assert call(ATTENTION, "problem.json").options == options

    def test_options_come_along_in_any_spelling(self, call: Gather, folder: Path) -> None:
        (folder / "spelled.json").write_text(json.dumps(QKV | {"Causal": True, "causal-align": "end"}))
        found = call(ATTENTION, "spelled.json")
        assert (found.options, found.notes) == ({"causal": True, "causal_align": "end"}, ())

    def test_a_switch_that_is_passed_over_is_said(self, call: Gather, folder: Path) -> None:
        (folder / "slip.json").write_text(json.dumps(QKV | {"casual": True}))
        assert [note.partition(":")[2] for note in call(ATTENTION, "slip.json").notes] == [
            ' "casual" is passed over: attention has no such operand; did you mean causal?'
        ]

    def test_options_of_the_call_win(self, call: Gather) -> None:
        found = call(ATTENTION, "problem.json", options={"causal": False, "scale": 2.0})
        assert found.options == {"causal": False, "scale": 2.0, "padding": (1,)}

    def test_what_is_passed_over_is_said(self, call: Gather) -> None:
        found = call(ATTENTION, "extra.json")
        assert values(found) == QKV
        assert found.notes == ('extra.json: "masc" is passed over: attention has no such operand; did you mean mask?',)

    def test_the_words_of_a_vocabulary_are_no_operands(self, call: Gather) -> None:
        found = call(ANALOGY, "king", "man", "a", "words.json")
        assert values(found) == {"a": [1, 0], "b": [0, 1], "c": [2, 2], "vocabulary": [[1, 0], [0, 1], [2, 2]]}
        assert found.inputs["a"].source == "words.json#king"

    def test_weights(self, call: Gather) -> None:
        found = call(BLOCK, "1,2", named={"weights": "torch.npz"})
        assert values(found) == {"x": [1, 2], "wq": [[1, 0], [0, 1]]}

    @pytest.mark.parametrize(
        ("words", "by_name", "k", "v"),
        [
            (["s.json"], {}, [[2, 0]], [[3, 0]]),
            (["s.json", "5,5"], {}, [5, 5], [[3, 0]]),
            (["s.json"], {"v": "5,5"}, [[2, 0]], [5, 5]),
            ([], {"q": "s.json"}, [[2, 0]], [[3, 0]]),
            (["s.json", "5,5", "6,6"], {}, [5, 5], [6, 6]),
            (["s.json#q"], {}, None, None),
        ],
        ids=["alone", "k given", "v by name", "q by name", "all given", "a part of it"],
    )
    def test_a_result_of_several_outputs_that_are_operands(
        self, call: Gather, folder: Path, words: list[str], by_name: dict[str, str], k: Any, v: Any
    ) -> None:
        outputs = {"q": [[1, 0]], "k": [[2, 0]], "v": [[3, 0]]}
        saved = {"attncalc": 1, "calculation": "qkv", "inputs": {"x": [[1, 0]]}, "outputs": outputs, "result": [[1, 0]]}
        (folder / "s.json").write_text(json.dumps(saved))
        found = values(call(ATTENTION, *words, named=by_name))
        assert (found["q"], found.get("k"), found.get("v")) == ([[1, 0]], k, v)

    def test_outputs_are_no_operands_of_a_call_that_takes_the_result_for_another(
        self, call: Gather, folder: Path
    ) -> None:
        saved = {"calculation": "svd", "inputs": {}, "outputs": {"s": [1, 2], "k": [[3, 4]]}, "result": [1, 2]}
        (folder / "s.json").write_text(json.dumps(saved))
        assert values(call(ATTENTION, "s.json")) == {"q": [1, 2]}

    @pytest.mark.parametrize("part", ["#encoder[0]", "#encoder[-2]", "#first", "#deep/first"])
    def test_weights_of_one_layer_of_a_file(self, call: Gather, folder: Path, part: str) -> None:
        layer, other = {"wq": [[1, 2], [3, 4]]}, {"wq": [[9, 9], [9, 9]]}
        tree = {"encoder": [layer, other], "first": layer, "deep": {"first": layer}, "wq": [[7, 7], [7, 7]]}
        tree = {"deep": tree.pop("deep")} if "deep" in part else tree
        (folder / "model.json").write_text(json.dumps(tree))
        found = call(BLOCK, "1,2", named={"weights": f"model.json{part}"})
        assert values(found) == {"x": [1, 2], "wq": [[1, 2], [3, 4]]}
        assert found.inputs["wq"].source == f"model.json{part}#wq"

    @pytest.mark.parametrize("part", ["#wq", "#encoder", "#encoder[1]", "#encoder[0][0]"])
    def test_no_weights_are_taken_from_beside_the_part_that_is_named(
        self, call: Gather, folder: Path, part: str
    ) -> None:
        tree = {"encoder": [{"wq": [[1, 2], [3, 4]]}], "wq": [[7, 7], [7, 7]]}
        (folder / "model.json").write_text(json.dumps(tree))
        with pytest.raises(AttncalcError) as caught:
            call(BLOCK, "1,2", named={"weights": f"model.json{part}"})
        assert caught.value.message == f'--weights "model.json{part}" is no file that holds operands of block by name'

    def test_a_word_in_the_place_of_an_array_is_an_option(self, call: Gather) -> None:
        assert call(ATTENTION, "qkv.json", named={"bias": "alibi"}).options == {"bias": "alibi"}
        assert call(ATTENTION, "alibi.json").options == {"bias": "alibi"}

    def test_a_name_of_two_files_is_no_bundle(self, call: Gather, folder: Path) -> None:
        (folder / "qkv.csv").write_text("1,2")
        with pytest.raises(AttncalcError) as caught:
            call(ATTENTION, "qkv")
        assert caught.value.message == 'q: "qkv" is both the file qkv.json and the file qkv.csv'


class TestSavedResults:
    def test_alone_it_is_the_problem(self, call: Gather) -> None:
        assert values(call(ATTENTION, "saved.json")) == QKV
        assert values(call(DOT, "dot.json")) == {"a": [1], "b": [2]}

    def test_of_another_calculation_it_is_its_result(self, call: Gather) -> None:
        assert values(call(ATTENTION, "scores.json")) == {"q": [[3, 4]]}
        assert sources(call(ATTENTION, "scores.json")) == {"q": "scores.json#result"}

    def test_beside_all_the_others_it_is_its_result(self, call: Gather) -> None:
        assert values(call(ATTENTION, "saved.json", "k.json", "v.json")) == QKV | {
            "q": [[8, 9]],
            "k": [[7, 8]],
            "wq": [[9, 9]],
        }
        assert values(call(ATTENTION, "saved.json", named={"k": "k.json", "v": "v.json"}))["q"] == [[8, 9]]

    def test_behind_a_name_and_beside_others_it_is_its_result(self, call: Gather) -> None:
        assert values(call(ATTENTION, "qkv.json", named={"v": "saved.json"})) == QKV | {"v": [[8, 9]]}

    def test_with_a_mask_beside_it_it_is_the_problem(self, call: Gather) -> None:
        assert values(call(ATTENTION, "saved.json", named={"mask": "1,0"})) == QKV | {"mask": [1, 0]}

    def test_a_backward_pass(self, call: Gather) -> None:
        assert values(call(ATTENTION, "grad.json", backward=True)) == QKV | {"upstream": [[1, 1]]}
        assert values(call(ATTENTION, "saved.json", backward=True)) == QKV
        assert values(call(ATTENTION, "grad.json")) == {"q": [[1]]}
        assert values(call(ATTENTION, "qkv.json", named={"upstream": "2,3"})) == QKV | {"upstream": [2, 3]}


class TestRowLabels:
    def test_of_data(self, call: Gather) -> None:
        found = call(DOT, "cat", "dog", data="words.csv")
        assert values(found) == {"a": [0.8, 0.2], "b": [0.7, 0.3]}
        assert sources(found) == {"a": "words.csv#cat", "b": "words.csv#dog"}
        assert found.inputs["a"].labels == {0: ("x", "y")}

    def test_of_json_data(self, call: Gather) -> None:
        assert values(call(DOT, "king", "1,2", data="words.json")) == {"a": [1, 0], "b": [1, 2]}

    def test_of_a_document(self, call: Gather, folder: Path) -> None:
        inputs = {"a": "king", "b": "man", "c": [1, 1], "vocabulary": {"king": [1, 0], "man": [0, 1]}}
        (folder / "p.json").write_text(json.dumps({"calculation": "analogy", "inputs": inputs}))
        found = call(ANALOGY, "p.json")
        assert values(found) == {"a": [1, 0], "b": [0, 1], "c": [1, 1], "vocabulary": [[1, 0], [0, 1]]}

    def test_tokens_are_left_to_the_calculation(self, call: Gather) -> None:
        found = call(EMBED, "the cat", "words.csv")
        assert values(found)["tokens"] == ["the", "cat"]
        assert found.inputs["table"].labels[0] == ("cat", "dog")
        assert values(call(EMBED, "@tokens.json", "words.csv"))["tokens"] == ["the", "cat"]


class TestTransposed:
    def test_operands(self, call: Gather) -> None:
        found = call(ATTENTION, named={"q": "1,2", "wq": "1,2;3,4"}, transpose=("wq",))
        assert values(found)["wq"] == [[1, 3], [2, 4]]

    def test_a_torch_name_gets_a_hint(self, call: Gather) -> None:
        found = call(BLOCK, named={"weights": "torch.npz"})
        assert found.notes == ("torch.npz: wq is stored [out, in], and is turned, as a Linear of that name is",)
        said = "wq: q_proj.weight fits either way; if it is a PyTorch Linear's, it is stored [out, in]: --transpose wq"
        assert call(BLOCK, named={"wq": "torch.npz#q_proj.weight"}).notes == (f"{said} turns it",)
        turned = call(BLOCK, named={"weights": "torch.npz"}, transpose={"wq"})
        assert values(turned)["wq"] == values(found)["wq"]

    def test_a_matrix_that_fits_one_way_alone_gets_none(self, call: Gather) -> None:
        arrays: dict[str, Any] = {"q_proj.weight": np.ones((2, 3)), "x": np.ones((1, 2))}
        np.savez("conv1d.npz", **arrays)
        found = call(BLOCK, named={"weights": "conv1d.npz"})
        assert found.notes == ("conv1d.npz: wq is stored [in, out], and is taken so, as shapes tell",)
        assert call(BLOCK, named={"wq": "conv1d.npz#q_proj.weight"}).notes == ()


class TestStandardInput:
    @pytest.fixture
    def pipe(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
        return lambda text: monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    def test_supplies_several(self, call: Gather, pipe: Callable[[str], None]) -> None:
        for words in (["-"], ["-", "-"]):
            pipe('{"a": [1], "b": [2]}')
            assert values(call(DOT, *words)) == {"a": [1], "b": [2]}

    def test_is_read_once(self, call: Gather, pipe: Callable[[str], None]) -> None:
        pipe("1 2")
        with pytest.raises(AttncalcError) as caught:
            call(DOT, "-", "-")
        assert caught.value.message == "standard input holds one array, and a and b are both to be read from it"
        assert caught.value.hint == 'pipe in an object: {"a": [...], "b": [...]}'


FAULTS: list[tuple[str, Calculation, list[str], dict[str, Any], str, str]] = [
    (
        "split by the shell",
        DOT,
        ["1", "2", "3", "4"],
        {},
        "dot takes 2 operands (a and b), but 4 words were given",
        'quote each vector: "1,2,3" (PowerShell splits 1,2,3 in three words)',
    ),
    (
        "too many files",
        DOT,
        ["q.json", "k.json", "v.json"],
        {},
        "dot takes 2 operands (a and b), but 3 words were given",
        "",
    ),
    (
        "too many beside a name",
        DOT,
        ["1,2", "3,4"],
        {"named": {"a": "5"}},
        "dot takes 1 operand (b), but 2 words were given",
        'the rows of a matrix are one word: "1,2; 3,4"',
    ),
    (
        "one beside its name",
        DOT,
        ["q.json"],
        {"named": {"a": "5", "b": "6"}},
        "a and b are given by name, but 1 word was given by position",
        "dot takes each operand once: leave out --a or the word",
    ),
    ("no such operand", DOT, [], {"named": {"aa": "1"}}, 'dot has no operand "aa"', "did you mean a?"),
    ("nothing to transpose", ATTENTION, ["q.json"], {"transpose": ["wq"]}, "--transpose wq: wq is not given", ""),
    (
        "transposing what is not there",
        ATTENTION,
        ["q.json"],
        {"transpose": ["wk"]},
        '--transpose "wk": attention has no such operand',
        "did you mean k?",
    ),
    (
        "data without labels",
        DOT,
        ["cat", "dog"],
        {"data": "q.json"},
        "q.json has no row labels",
        "--labels takes the first column as labels",
    ),
    (
        "an unknown label",
        DOT,
        ["kat", "1,2"],
        {"data": "words.csv"},
        'a: "kat" is no number, no file and no row label',
        "did you mean cat?",
    ),
    (
        "a wrong weight",
        BLOCK,
        ["1,2"],
        {"named": {"weights": "1,2"}},
        '--weights "1,2" is no file that holds operands of block by name',
        "",
    ),
    (
        "weights in a file that is mistyped",
        BLOCK,
        ["1,2"],
        {"named": {"weights": "torch.npy"}},
        '--weights "torch.npy" is no file that holds operands of block by name',
        "did you mean torch.npz?",
    ),
    (
        "an array of a file of weights",
        BLOCK,
        ["1,2"],
        {"named": {"weights": "torch.npz#q_proj.weight"}},
        '--weights "torch.npz#q_proj.weight" is no file that holds operands of block by name',
        "",
    ),
    (
        "delimiter",
        DOT,
        ["q.json"],
        {"delimiter": "ab"},
        '--delimiter is one character, not "ab"',
        "or tab, \\t, blank, space, comma, semicolon",
    ),
    ("decimal", DOT, ["q.json"], {"decimal": ";"}, '--decimal is . or , not ";"', ""),
    (
        "delimiter and decimal",
        DOT,
        ["q.json"],
        {"delimiter": ",", "decimal": ","},
        '--delimiter and --decimal are both ","',
        "",
    ),
    (
        "a document of another version",
        ATTENTION,
        ["later.json"],
        {},
        'later.json: the document is of version "2", but only 1 can be read',
        "",
    ),
    ("quote", DOT, ["q.json"], {"delimiter": '"'}, "--delimiter cannot be a quote or a line end", ""),
]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("calculation", "words", "how", "message", "hint"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS]
)
def test_faults(
    call: Gather, calculation: Calculation, words: list[str], how: dict[str, Any], message: str, hint: str
) -> None:
    with pytest.raises(AttncalcError) as caught:
        call(calculation, *words, **how)
    assert (caught.value.message, caught.value.hint) == (message, hint)


BUNDLES: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "an unknown option",
        PROBLEM | {"options": {"casual": True}},
        'p.json: attention has no option "casual"',
        "did you mean causal?",
    ),
    (
        "an unknown operand",
        PROBLEM | {"inputs": {"qq": [[1]]}},
        'p.json: attention has no operand "qq"',
        "did you mean q?",
    ),
    ("options that are a list", PROBLEM | {"options": [1]}, "p.json: options is a list, not an object", ""),
    ("inputs that are a list", PROBLEM | {"inputs": [1]}, "p.json: inputs is a list, not an object of operands", ""),
    (
        "an option that is no number",
        PROBLEM | {"options": {"scale": "x"}},
        'p.json: options/scale: "x" is not a number',
        "",
    ),
    ("a bad entry", PROBLEM | {"inputs": {"q": [[1], ["x"]]}}, 'p.json: inputs/q[1][0]: "x" is not a number', ""),
    ("a word that is no label", PROBLEM | {"inputs": {"q": "cat"}}, 'p.json: q is "cat", not a number', ""),
    (
        "an operand twice",
        PROBLEM | {"inputs": {"q": [[1]], "query": [[1]]}},
        'p.json: inputs hold q twice, once as "query"',
        "",
    ),
    (
        "a bad entry of a problem that names no calculation",
        {"inputs": {"q": [[1], ["x"]], "k": [[1]]}},
        'p.json: inputs/q[1][0]: "x" is not a number',
        "",
    ),
    (
        "an unknown option of a problem that names no calculation",
        {"inputs": QKV, "options": {"casual": True}},
        'p.json: attention has no option "casual"',
        "did you mean causal?",
    ),
    (
        "operands under another name",
        {"data": QKV},
        "p.json holds several arrays, none called q: data/q, data/k, data/v",
        "name one: p.json#data/q",
    ),
    (
        "a ragged operand",
        {"q": [[1]], "k": [[1], []]},
        "p.json: k[1] has no entries where the first has 1",
        "the rows of an array are equally long",
    ),
]


@pytest.mark.parametrize(("content", "message", "hint"), [row[1:] for row in BUNDLES], ids=[row[0] for row in BUNDLES])
def test_faults_of_a_file(call: Gather, folder: Path, content: dict[str, Any], message: str, hint: str) -> None:
    (folder / "p.json").write_text(json.dumps(content))
    with pytest.raises(AttncalcError) as caught:
        call(ATTENTION, "p.json")
    assert (caught.value.message, caught.value.hint) == (message, hint)
