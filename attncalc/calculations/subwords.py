"""Subwords: from letters to the tokens that a language model reads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from attncalc.common.errors import OptionError, amount, both, quoted
from attncalc.declare.calculation import calculation
from attncalc.declare.operands import Exercise, Range
from attncalc.evaluate.values import evaluate
from attncalc.language.axes import Axis
from attncalc.language.graph import Node, aside, constants, group, label, note, step
from attncalc.language.ops import commonest, joined, pair_counts, stack
from attncalc.record.trace import Trace

MOST_MERGES, MOST_LETTERS = 100, 10_000
ENDED, END_OF_WORD = "·", "</w>"
"""The mark after a word's end, and the sign that is a part of the word."""
TOKENS, BEHIND, SYMBOLS = "V", "next", "symbol"
"""Axes: the tokens, the tokens as the second of a pair, and the tokens with the mark after a word's end."""
WHY = {
    "letters": "letters are the smallest tokens; where a word has ended stands a dot, whose id is no token's",
    "counts": "how often each word is seen: one that is read often says more about which tokens are worth having",
    "pairs": "a row for what stands in front, a column for what comes behind it; no pair goes from word to word",
    "chosen": "what stands side by side most often becomes a token of its own",
    "words": "one token in place of two, wherever they meet",
    "merges": "in the order in which they were found, in which they are applied too",
    "after": "the pair is joined wherever it stands, before any later pair is",
    "tokens": "what a model reads: its vocabulary has a row for each of these ids",
}
ABOUT = {
    "chosen": "Of pairs that are as common, this takes the one that comes first in the order of the ids, as Hugging "
    "Face's tokenizers do. Algorithm 1 of the paper takes the one that was seen first, the paper's program the last in "
    "the order of the alphabet.",
    "tokens": "Merges are applied by their rank: the first one wherever its pair stands, then the second one. To join "
    "whatever pair comes first in the word may give other tokens, which the model has hardly ever read.",
}
"""What a teacher would add to the reason of a step."""


def _counted(text: str) -> Counter[str]:
    """The words of a text in the order in which they are seen, with how often each stands there, or is said to."""
    found: Counter[str] = Counter()
    for word in text.split():
        told = re.fullmatch(r"(.+):(\d{1,9})", word)
        found[told[1] if told else word] += int(told[2]) if told else 1
    return found


def _rows(words: Sequence[Sequence[str]], ids: dict[str, int], ended: int, axis: str, name: str) -> Node:
    """Words as rows of ids, each with room for at least one place behind its end."""
    longest = Axis("t", max(map(len, words)) + 1)
    rows = [[*(ids[each] for each in word), *[ended] * (longest.size - len(word))] for word in words]
    found = [constants(row, longest, f"{name}_{i}") for i, row in enumerate(rows, 1)]
    return step("letters", stack(found, axis), WHY["letters"])


def _symbols(alphabet: Sequence[str], merges: Node, tables: Sequence[Node]) -> list[str]:
    """What each id stands for; the reader is told of pairs that are as common. OptionError where none is left."""
    symbols, values = [*alphabet], evaluate([merges, *tables], {})
    for merge, (table, (a, b)) in enumerate(zip(tables, values[merges].astype(int), strict=True)):
        pairs = values[table]
        if not pairs.any():
            raise OptionError(
                f"--merges {len(tables)}: no pair is left after {amount(merge, 'merge')}",
                hint=f"--merges {merge}" if merge else "",
            )
        symbols.append(symbols[a] + symbols[b])
        alike = [f"{symbols[i]} {symbols[j]}" for i, j in np.argwhere(pairs == pairs[a, b])]
        if len(alike) > 1:
            note(f"merge {merge + 1}: {both(alike, 4)} are as common, and the first by its ids is taken")
    return symbols


def _in_words(trace: Trace) -> Trace:
    """The trace with what the ids stand for, in the steps that are made of other ids than a look-up's."""
    named = next((made.names for made in trace.steps if made.name in ("words", "tokens")), ())
    return trace.with_ids(("letters", "merges"), named)


def _read_again(f: Any, merges: int) -> bool:
    """Whether what the tokens stand for is the text again."""
    text = "hugs shrug guns"
    found = f(corpus="hug:10 pug:5 shun:3 rugs:4 hugs:5", merges=merges, encode=text).outputs[0]
    return bool(text == " ".join("".join(found.names[int(i)] for i in row).strip(ENDED) for row in found.value))


@calculation(
    laws={"what is encoded can be read again": _read_again},
    finish=_in_words,
    reference="Sennrich, Haddow and Birch 2016, Neural Machine Translation of Rare Words with Subword Units, "
    "section 3.2 and algorithm 1; Gage 1994, A New Algorithm for Data Compression",
    exercise=Exercise(
        one_of=(
            {"corpus": "hug:8 bum:5 gum:4 hum:9", "merges": 3, "encode": "hum hug"},
            {"corpus": "tin:5 into:8 thin:9 tint:8", "merges": 3, "encode": "hint tint"},
            {"corpus": "pant:5 span:5 ant:7 snap:3", "merges": 3, "encode": "ant pant"},
            {"corpus": "into:6 hint:4 nit:5 tin:8", "merges": 3, "encode": "tint tin"},
        )
    ),
)
def bpe(
    *,
    corpus: Annotated[str, "a text, or its words with how often each stands there: 'hug:10 pug:5'"] = "",
    merges: Annotated[int, "how many pairs become tokens of their own", Range(at_least=1, at_most=MOST_MERGES)] = 3,
    encode: Annotated[str, "a text to be made into tokens"] = "",
    end_of_word: Annotated[bool, "every word has a last letter of its own, </w>, as in the paper"] = False,
) -> tuple[Node, ...]:
    """Byte-pair encoding: letters that often stand side by side become tokens, the commonest pair first.

    Every pair of neighbours in the words is counted; the commonest one becomes a token, and all is counted anew. A text
    is encoded by the same merges in the same order. Ids are those of the letters in the order of the alphabet, then
    those of the merges. In aaa the pair aa is counted twice, although it can be joined only once: so do the paper's
    algorithm and most programs. Without --encode the result is the merges.
    """
    read = _counted(corpus)
    if not sum(read.values()):
        raise OptionError("--corpus has no words", hint="write --corpus 'hug:10 pug:5 hugs:5'")
    ends = [END_OF_WORD] * end_of_word
    if sum(len(word) + 1 for word in read) > MOST_LETTERS:
        raise OptionError(f"--corpus has more than {amount(MOST_LETTERS, 'letter')} in different words")
    alphabet = [*sorted({letter for word in read for letter in word}), *ends]
    ids = {letter: i for i, letter in enumerate(alphabet)}
    own, ended = len(alphabet), len(alphabet) + merges
    axes = Axis(TOKENS, ended), Axis(BEHIND, ended)
    words = _rows([[*word, *ends] for word in read], ids, ended, "w", "word")
    label("w", [*read])
    counts = step("counts", constants([*read.values()], words.axes[0], "seen"), WHY["counts"])
    tables: list[Node] = []
    chosen: list[Node] = []
    for merge in range(1, merges + 1):
        with group(f"merge {merge}"):
            tables.append(step("pairs", pair_counts(words, counts, *axes), WHY["pairs"]))
            chosen.append(step("chosen", commonest(tables[-1], SYMBOLS), WHY["chosen"], about=ABOUT["chosen"]))
            made = joined(words, chosen[-1], own + merge - 1, SYMBOLS)
            words = (step if merge < merges else aside)("words", made, WHY["words"])
    learned = step("merges", stack(chosen, "merge"), WHY["merges"])
    symbols = _symbols(alphabet, learned, tables)
    label(TOKENS, symbols)
    label(BEHIND, symbols)
    label(SYMBOLS, [*symbols, ENDED])
    if not encode.split():
        return (learned,)
    label("word", encode.split())
    with group("encode"):
        strange = sorted({letter for word in encode.split() for letter in word} - ids.keys())
        if strange:
            known = f"the letters of --corpus are {''.join(alphabet)}"
            raise OptionError(f"--encode has {both(map(quoted, strange), 3)}, but {known}")
        text = _rows([[*word, *ends] for word in encode.split()], ids, ended, "word", "text")
        for merge, pair in enumerate(chosen[:-1], 1):
            text = step(f"after_{merge}", joined(text, pair, own + merge - 1, SYMBOLS), WHY["after"])
    last = joined(text, chosen[-1], ended - 1, SYMBOLS)
    return step("tokens", last, WHY["tokens"], about=ABOUT["tokens"]), learned
