"""Long calculations: an outline in the place of their steps, parts that open by patterns, and no page of 300 lines."""

from __future__ import annotations

from functools import cache

import pytest
from solved import page_in
from test_samples import PROBLEMS, posed

from attncalc.common.errors import AttncalcError, NoGradient
from attncalc.record.trace import Trace
from attncalc.render import View, shown
from attncalc.solve.problem import Backward
from attncalc.solve.solver import solve

MOST_LINES = 300


@cache
def transformer() -> Trace:
    return solve(posed("transformer"))


@pytest.mark.spread
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_no_page_of_a_sample_is_longer_than_can_be_read(name: str, backward: bool) -> None:
    problem = posed(name)
    if backward and problem.backward is None:
        problem = problem._replace(backward=Backward())
    try:
        trace = solve(problem)
    except (NoGradient, AttncalcError):
        assert backward, "every sample can be worked out"
        return
    for form in ("table", "plain", "markdown"):
        assert page_in(form, trace, View(width=80)).count("\n") <= MOST_LINES


def test_a_long_page_lists_its_parts_with_what_comes_of_each_and_what_opens_it() -> None:
    page = page_in("table", transformer(), View(width=200))
    assert "  encoder 1   --show 'encoder 1/*'  29 steps → norm2/output 4×4: largest -1.7747 at [cat,2]\n" in page
    assert "  token 1     --show 'token 1/*'    54 steps → next_token 1: le 0.9598, then ici 0.0351\n" in page
    assert "source → encoder 1 → memory → token 1 → " in page


@pytest.mark.parametrize("form", ["table", "plain", "markdown"])
def test_each_of_these_opens(form: str) -> None:
    page = page_in(form, transformer(), View())
    assert "--show 'token 5/*'" in page
    assert "the centre of the token's own features" not in page
    assert "the centre of the token's own features" in page_in(form, transformer(), View(everything=True))
    opened = page_in(form, transformer(), View(show=("token 5/*",)))
    assert "[token 5]" in opened.replace("\\", "")
    assert "the centre of the token's own features" in opened
    assert "'token 5/decoder 1/*'" in page_in(form, transformer(), View(depth=2))


@pytest.mark.parametrize(
    ("pattern", "count", "first"),
    [
        ("token 5/*", 54, "token 5/target/embeddings"),
        ("token 5", 54, "token 5/target/embeddings"),
        ("*/logits", 5, "token 1/logits"),
        ("token */next_token", 5, "token 1/next_token"),
        ("**/weights", 11, "encoder 1/self-attention/weights"),
        ("token 2/**/weights", 2, "token 2/decoder 1/self-attention/weights"),
        ("*/*/weights", 1, "encoder 1/self-attention/weights"),
        ('"token 1"/*', 54, "token 1/target/embeddings"),
        ("**/memory", 1, "memory"),
    ],
)
def test_patterns_pick_parts(pattern: str, count: int, first: str) -> None:
    found = [step.key for _, step in shown(transformer(), View(show=(pattern,)))]
    assert (len(found), found[0]) == (count, first)


def test_what_fits_nothing_and_what_fits_several_are_told() -> None:
    with pytest.raises(AttncalcError, match=r"no step fits 'tokn\*/weights'"):
        shown(transformer(), View(show=("tokn*/weights",)))
    with pytest.raises(AttncalcError, match="weights occurs in several groups: encoder 1") as fault:
        shown(transformer(), View(show=("weights",)))
    assert "all 11 by --show '**/weights'" in str(fault.value.hint)


def test_the_word_that_is_picked_tells_how_close_it_was() -> None:
    page = page_in("plain", transformer(), View(show=("token 1/next_token",)))
    assert "by the softmax of these scores: le 0.9598, ici 0.0351, chien 0.0021, chat 0.0011" in page
