"""User text on its way out: shown, never sent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncalc.common.errors import amount, both, either, listed, near, quoted, shape_text, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text", "plain text"),
        ("Q·Kᵀ / √d_k", "Q·Kᵀ / √d_k"),
        ("猫 ñ ש", "猫 ñ ש"),
        (r"C:\q.json", r"C:\q.json"),
        ("two\nlines", r"two\nlines"),
        ("tab\tand\rreturn", r"tab\tand\rreturn"),
        ("\x1b[2J", r"\x1b[2J"),
        ("\x9b31m", r"\x9b31m"),
        ("\x00\x07\x7f", r"\x00\x07\x7f"),
        ("abc\u202ecba", r"abc\u202ecba"),
        ("\u2066isolate\u2069", r"\u2066isolate\u2069"),
        ("zero\u200bwidth", r"zero\u200bwidth"),
        ("\u2028line", r"\u2028line"),
        ("no\u00a0break", r"no\xa0break"),
        ("\ud800", r"\ud800"),
        ("\U000e0041tag", r"\U000e0041tag"),
        ("\ue000private", r"\ue000private"),
    ],
    ids=ascii,
)
def test_characters_that_would_act_are_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("12345", 5, "12345"),
        ("123456", 5, "1234…"),
        ("\x1b\x1b\x1b", 2, "\\x1b…"),
    ],
)
def test_long_text_is_cut(text: str, limit: int, shown: str) -> None:
    assert visible(text, limit) == shown


@pytest.mark.thorough
@given(st.text())
def test_what_is_visible_prints_and_stays_on_its_line(text: str) -> None:
    shown = visible(text)
    assert shown.isprintable()
    assert len(shown.splitlines()) <= 1
    shown.encode()  # no half characters


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (amount(0, "sheet"), "0 sheets"),
        (amount(1, "sheet"), "1 sheet"),
        (amount(2, "sheet"), "2 sheets"),
        (amount(1, "entry", "entries"), "1 entry"),
        (amount(1000, "entry", "entries"), "1,000 entries"),
        (amount("1", "mark"), "1 mark"),
        (amount("1.5", "mark"), "1.5 marks"),
    ],
)
def test_a_count_agrees_with_its_noun(said: str, expected: str) -> None:
    assert said == expected


def test_quoted_text_is_cut_to_a_line() -> None:
    assert quoted("x" * 1000) == f'"{"x" * 79}…"'


@pytest.mark.parametrize(
    ("word", "known", "said"),
    [
        ("casual", ["causal", "scale"], "did you mean causal?"),
        ("Weihgts", ["weights", "scores"], "did you mean weights?"),
        ("zebra", ["causal", "scale"], ""),
        ("scale", ["scaled", "scales", "zebra"], "did you mean scaled or scales?"),
        (
            "scal",
            ["fractal", "scale", "logits", "scaling", "scaled", "scales"],
            "did you mean scale, scaled or scales?",
        ),
        ("--temp", ["--help", "--temperature", "--dtype"], "did you mean --temperature?"),
        ("a\x1bb", ["a\x1bc"], r"did you mean a\x1bc?"),
        (0, ["scale", "scaled"], ""),
    ],
)
def test_near_names(word: object, known: list[str], said: str) -> None:
    assert near(word, known) == said


def test_near_names_with_what_stands_before_them() -> None:
    assert near("casual", ["causal"], "--") == "did you mean --causal?"
    assert near("tow", ["two"], "a\x1b/") == r"did you mean a\x1b/two?"


def test_lists_in_a_sentence() -> None:
    assert both(["q", "k", "v"]) == "q, k and v"
    assert either(["q", "k"]) == "q or k"
    assert both(["q"]) == "q"


@pytest.mark.parametrize(
    ("most", "sentence", "row"),
    [(2, "q, k, …", "q, k, …"), (3, "q, k and v", "q, k, v"), (4, "q, k and v", "q, k, v")],
    ids=["one too many", "just as many", "fewer"],
)
def test_lists_of_no_more_than_so_many(most: int, sentence: str, row: str) -> None:
    assert both(iter("qkv"), most) == sentence
    assert listed(iter("qkv"), most) == row


def test_shapes_in_a_sentence() -> None:
    assert shape_text((2, 3)) == "2 × 3"
    assert shape_text(()) == "a single number"
