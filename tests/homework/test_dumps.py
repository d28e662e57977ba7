"""Large arrays that a program has stored: judged by some rows first, in any type of number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from homework.problems import PROBLEMS, problem
from numpy.typing import NDArray

from attncalc.evaluate.values import evaluate
from attncalc.homework.diagnosis.key import BLOCK, FEW, LARGE, Key, excerpt, in_blocks, rows
from attncalc.homework.marking.findings import MOST_NAMED
from attncalc.homework.marking.marker import Marker
from attncalc.homework.reading.answers import Answer, Sheet, from_python
from attncalc.homework.reports.marked_sheets import shown
from attncalc.record.verdicts import Finding
from attncalc.render import View

LONG = 17_000
"""So many tokens of 64 numbers are more than a million."""


MANY_RULES = ("attention", "multihead", "kv-cache", "flash", "decoder-only")
"""They have some fifty each."""


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.thorough] if name in MANY_RULES else [])
        for name in PROBLEMS
        if not name.endswith("-block")
    ],
)
def test_some_rows_are_those_of_the_whole(name: str) -> None:
    for given in PROBLEMS[name]:
        key = Key(given)
        for solution in (key.solutions.right, *key.wrong):
            node = solution.steps.get(key.result, key.nodes[key.result])
            axis = rows(node)
            if axis is None:
                continue
            whole = evaluate([node], key.solutions.operands)[node]
            chosen = np.array([0, whole.shape[-2] - 1])
            found = excerpt(node, key.solutions.operands, {axis: chosen})
            assert found is not None, "nothing here is large"
            np.testing.assert_allclose(found, whole.take(chosen, axis=-2), rtol=1e-12, atol=1e-12)


def random(*shape: int, seed: int = 0) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=shape)


def judged(key: Key, answer: Answer) -> Finding:
    return Marker(key).mark(Sheet({"": answer})).steps[0].finding


def right_of(key: Key) -> NDArray[np.float64]:
    value = key.value(key.result)
    assert value is not None, "real numbers"
    return value.copy()


def of(key: Key, mistake: str) -> NDArray[np.float64]:
    """What a mistake makes of the result."""
    solution = next(solution for solution in key.wrong if solution.mistakes[0].id == mistake)
    parts = [value for _, value in in_blocks(solution.steps[key.result].sources[0], key.solutions.operands)]
    return np.concatenate(parts, axis=-2)


@pytest.mark.release
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_a_dump_in_another_convention_is_told_which(dtype: str) -> None:
    key = Key(problem("rope", x=random(LONG, 64)))
    assert key.large
    found = judged(key, from_python(of(key, "rope-half-split").astype(dtype), "dump"))
    assert (found.verdict, found.mistakes, found.kind) == ("mistake", ("rope-half-split",), "convention")


@pytest.mark.spread
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_a_large_right_answer_is_right(dtype: str) -> None:
    key = Key(problem("rope", x=random(LONG, 64)))
    right = right_of(key)
    assert judged(key, from_python(right.astype(dtype), "dump")).verdict == "right"
    right[-1, -1] += 0.5
    assert judged(key, from_python(right.astype(dtype), "dump")).mistakes == ("slip-one-entry",)


@pytest.mark.thorough
@pytest.mark.parametrize("mistake", ["mask-missing", "att-no-scale", "mask-offset"])
def test_attention_over_many_tokens_is_judged(mistake: str) -> None:
    n = int(LARGE**0.5) + 1
    key = Key(problem("attention", {"causal": True}, q=random(n, 8), k=random(n, 8, seed=1), v=random(n, 5, seed=2)))
    assert judged(key, from_python(of(key, mistake).astype(np.float32), "dump")).mistakes == (mistake,)


def test_a_large_array_of_rounded_numbers_is_right() -> None:
    key = Key(problem("rope", x=random(500, 64)))
    right = right_of(key)
    assert judged(key, from_python(right.round(4), "dump")).verdict == "right"
    assert judged(key, from_python(right.round(4).astype(np.float32), "dump")).verdict == "right"


@pytest.mark.thorough
def test_nonsense_is_unexplained() -> None:
    key = Key(problem("rope", x=random(LONG, 64)))
    assert judged(key, from_python(random(LONG, 64, seed=1), "dump")).verdict == "unexplained"


def test_a_wrong_way_that_takes_a_whole_table_is_not_tried() -> None:
    n = int(BLOCK**0.5) + 1
    key = Key(problem("attention", q=random(n, 4), k=random(n, 4, seed=1), v=random(n, 2, seed=2)))
    wrong = {found.mistakes[0].id: found.steps[key.result].sources[0] for found in key.wrong}
    wanted = [wrong["att-softmax-all"], wrong["att-no-scale"]]
    chosen = {"n": np.array([0, n - 1])}
    whole, by_rows = (excerpt(node, key.solutions.operands, chosen) for node in wanted)
    assert whole is None
    assert by_rows is not None
    assert judged(key, from_python(random(n, 2, seed=3).astype(np.float32), "dump")).verdict == "unexplained"


def test_what_is_made_of_many_entries_is_neither_rounded_on_the_way_nor_wrong_twice() -> None:
    key = Key(problem("norm", a=random(FEW + 1)))
    assert judged(key, from_python("3.14", "answer")).verdict == "unexplained"
    assert not key._rounded
    assert not key._pairs


@pytest.mark.parametrize("held", ["float32", "float64"])
def test_a_widened_dump_is_as_exact_as_it_was(held: str) -> None:
    key = Key(problem("rope", x=random(500, 64)))
    right = right_of(key)
    assert judged(key, from_python(right.astype("float16").astype(held), "dump")).verdict == "right"
    assert judged(key, from_python((1.02 * right).astype("float16").astype(held), "dump")).verdict == "unexplained"


SPOILED = {
    "a tile": ((slice(128, 192), slice(None)), "4096 of 32000, all of [128…191,0…63]"),
    "a column": ((slice(None), 5), "500 of 32000, all of [0…499,5]"),
    "every other row": ((slice(0, 500, 2), slice(None)), "16000 of 32000, within [0…498,0…63]"),
    "two entries": (([3, 7], [1, 1]), "[3,1] [7,1]"),
}


@pytest.mark.thorough
@pytest.mark.parametrize(("places", "told"), SPOILED.values(), ids=SPOILED)
def test_where_a_dump_is_wrong_is_told_however_many_entries_are(places: Any, told: str) -> None:
    key = Key(problem("rope", x=random(500, 64)))
    right = right_of(key)
    right[places] = 9
    marked = Marker(key).mark(Sheet({"": from_python(right, "dump")}))
    assert f"wrong entries: {told}\n" in shown(marked, "table", View())
    assert f"off by up to {float(f'{np.abs(9 - right_of(key)[places]).max():.2g}'):g}" in str(marked)
    [step] = marked.to_dict()["steps"]
    assert ("wrong" in step) == (len(step["cells"]) == MOST_NAMED)


def test_the_map_of_wrong_entries_shows_all_of_them() -> None:
    key = Key(problem("rope", x=random(16, 16)))
    marked = Marker(key).mark(Sheet({"": from_python(1.02 * right_of(key), "dump")}))
    lines = [line.split() for line in shown(marked, "table", View()).splitlines()]
    assert [line for line in lines if set(line) <= {"×", "·"} and line] == [["×"] * 16] * 16


OTHERWISE: dict[str, tuple[str, dict[str, Any], dict[str, Any], str]] = {
    "another layout": ("rope", {}, {"layout": "half"}, "--layout half, where the problem says interleaved"),
    "a mask": ("attention", {}, {"causal": True}, "with --causal, where the problem is without"),
    "another ε": ("layernorm", {}, {"eps": 1e-6}, "--eps 1e-06, where the problem says 1e-05"),
}
OPERANDS: dict[str, dict[str, Any]] = {
    "rope": {"x": random(8, 4)},
    "attention": {name: random(8, 4, seed=seed) for seed, name in enumerate("qkv")},
    "layernorm": {"x": random(8, 4)},
}


@pytest.mark.parametrize(("name", "given", "taken", "told"), OTHERWISE.values(), ids=OTHERWISE)
def test_how_a_dump_was_made_is_told_by_its_option(name: str, given: Any, taken: Any, told: str) -> None:
    answer = right_of(Key(problem(name, options=taken, **OPERANDS[name])))
    found = judged(Key(problem(name, options=given, **OPERANDS[name])), from_python(answer, "dump"))
    assert found.kind == "convention"
    assert f"({told})" in found.says


@pytest.mark.thorough
def test_an_answer_too_long_to_show_is_not_revealed_as_nothing() -> None:
    key = Key(problem("rope", x=random(LONG, 64)))
    marked = Marker(key).mark(Sheet({"": from_python(1.02 * right_of(key), "dump")})).revealed()
    assert "expected null" not in str(marked)
    assert "revealed: largest error" in str(marked)
