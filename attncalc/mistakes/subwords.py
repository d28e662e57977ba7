"""Mistakes of byte-pair encoding: pairs not counted, or not counted again, and merges in the wrong order."""

from __future__ import annotations

from attncalc.declare.mistake import Mistake, NotThere, Scope, parts, wrong
from attncalc.language.graph import Node
from attncalc.language.ops import joined, keep_where, one_hot, outer, pair_counts, stack, take


def _merges(s: Scope) -> list[Node]:
    """The pairs that have been chosen so far."""
    known = (s.known.get((f"merge {i + 1}", "chosen")) for i in range(s.options["merges"]))
    return [chosen for chosen in known if chosen is not None]


def _each_word_once(s: Scope) -> Node:
    words, counts = parts(s.this, "pair_counts")
    return pair_counts(words, counts * 0 + 1, *s.this.axes)


def _first_table(s: Scope) -> Node:
    """The first table again, without the pairs that are tokens by now."""
    before = _merges(s)
    if not before:
        raise NotThere("an earlier merge")
    table = s.known["merge 1", "pairs"]
    for pair in before:
        first, second = (one_hot(take(pair, "pair", i), axis) for i, axis in enumerate(table.axes))
        table = keep_where(outer(first, second) < 1, table, 0)
    return table


def _leftmost(s: Scope) -> Node:
    last, merges = s.this, _merges(s)
    first = last.args["new"] - len(merges) + 1
    return joined(s.known["encode", "letters"], stack(merges, "merge"), first, last.args["of"], by_rank=False)


MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "bpe": (
        # fastllm's pull request 715, course's issue 608
        wrong(
            "bpe-leftmost-first",
            "tokens",
            _leftmost,
            says="the leftmost pair that is a token is joined first",
            hint="Of two pairs in a word, which one was learned first?",
        ),
        # minbpe's issue 69, python-bpe's issue 20
        wrong(
            "bpe-counted-once",
            "pairs",
            _first_table,
            says="the pairs of the first count, without those that are tokens by now",
            hint="Which letters still stand beside one another, now that two have become one?",
        ),
        # a review of ai-engineering-from-scratch's pull request 47: a count is lost where words come to look alike
        wrong(
            "bpe-words-once",
            "pairs",
            _each_word_once,
            says="each word counts once, however common it is",
            hint="How often does each word stand in the text?",
        ),
    ),
}
"""Calculation → its mistakes, the commonest first."""
