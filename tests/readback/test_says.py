"""What a mistake says is what it does: every sentence is read, and is true of the numbers that its rule gives."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest
from homework.problems import PROBLEMS

from attncalc.calculations import TABLE
from attncalc.declare.mistake import Mistake
from attncalc.homework.diagnosis.key import Key, known
from attncalc.mistakes.layer_norm import NO_GAIN, RMS
from attncalc.mistakes.masking import BIASES, SEEN
from attncalc.mistakes.projections import GATES
from attncalc.mistakes.rotary import IN_ATTENTION
from attncalc.mistakes.several_heads import QK_NORM, SINK
from attncalc.mistakes.whole_layers import LATER, unbiased_in
from readback.cases import ALSO
from readback.phrases import PHRASES
from readback.says import Case, readings, true

BLOCKS = ("encoder-block", "decoder-block")
NEVER = {
    **dict.fromkeys(
        product((*BLOCKS, "decoder-only"), ("alibi-by-key", "gqa-tiled", "softcap-after-mask", "flash-no-rescale")),
        "here a layer has a key head for every query head, no cap beside a mask, and few tokens",
    ),
    **dict.fromkeys(
        product(
            BLOCKS,
            sorted(
                {
                    m.id
                    for m in (
                        *BIASES,
                        *IN_ATTENTION,
                        *SEEN,
                        *LATER,
                        *unbiased_in("self-attention"),
                        *GATES,
                        *RMS,
                        NO_GAIN,
                        *QK_NORM,
                        SINK,
                    )
                }
            ),
        ),
        "what later models changed is made in decoder-only",
    ),
    **dict.fromkeys(
        product(
            ("decoder-only",),
            ("alibi-nonpow2", "att-k-not-transposed", "att-scale-dv", "heads-permuted", "t5-scaled"),
        ),
        "made in multihead, with as many heads and tokens as it takes",
    ),
    ("decoder-only", "mask-query-rows"): "no padding is asked for",
    ("decoder-block", "mask-query-rows"): "the padding of a decoder-block is that of one attention of its two",
    ("next-token-loss", "ppl-exp-sum"): "it has no step for the mean; another rule of this name writes the result",
}
"""Mistakes that a calculation shares with others, and that nobody can make in it."""
MASKED = "the formula leaves the mask out"
SHARES = "of classes told by shares the loss is another sum"
FORM = "the words are a rule for some forms, and what comes of it was worked out for one expression"
KIND = "worked out for one kind, or in one dimension"
SOMETIMES = {
    **dict.fromkeys(("att-scale-after", "att-softmax-cols", "att-exp-zero-is-0", "mask-after-softmax"), MASKED),
    **dict.fromkeys(
        ("mask-before-scale", "att-k-for-v", "att-kv-swapped"), "with a bias, or turned keys, it is another number"
    ),
    **dict.fromkeys(("mask-strict", "cache-stale", "mask-offset"), "beside a window it is another number"),
    "mask-added": "aligned at the end it moves turned queries too",
    "att-scale-n": "n is the number of queries or of keys",
    **dict.fromkeys(("ce-binary-all", "ce-log-of-mean"), SHARES),
    **dict.fromkeys(("norm-euclidean", "norm-no-abs"), "p is no number where it is inf"),
    **dict.fromkeys(("sm-temp-after", "sm-no-exp", "sm-max-numerator-only", "sm-exp-zero-is-0"), "without T"),
    **dict.fromkeys(("ppl-any-base", "ppl-exp-sum"), "by another base"),
    **dict.fromkeys(("linear-weights-transposed", "matmul-order-ba", "mh-wo-transposed"), "beside a bias"),
    **dict.fromkeys(("flash-no-rescale", "flash-rescale-inverted", "flash-block-softmax"), "rows that see nothing yet"),
    **dict.fromkeys(("alibi-plus", "alibi-signed-bidir"), MASKED),
    "ffn-no-activation": "beside biases",
    "mh-params-3d2": "projections to fewer key heads are narrower",
    **dict.fromkeys(("conv-flipped", "conv-padding-added", "conv-kernel-transposed", "linear-bias-missing"), KIND),
    **dict.fromkeys(("rnn-no-state", "rnn-no-tanh", "rnn-sigmoid-for-tanh", "rnn-sigmoid-for-content"), KIND),
    **dict.fromkeys(("diff-chain-no-inner", "diff-power-not-lowered", "diff-power-no-factor", "diff-sine-sign"), FORM),
    **dict.fromkeys(("diff-constant-kept", "diff-f-for-fprime", "diff-chain-nested", "diff-quotient-order"), FORM),
    **dict.fromkeys(("diff-exp-as-power", "diff-quotient-no-square"), FORM),
}
"""Mistakes whose words are told from the numbers in some problems alone, and why."""


@cache
def planted(calculation: str) -> list[tuple[Mistake, list[Case]]]:
    """The mistakes of a calculation and its alternatives, each with the problems that it changes."""
    keys = [Key(problem) for problem in (*PROBLEMS[calculation], *ALSO.get(calculation, ()))]
    found = []
    for mistake in known(calculation):
        solutions = ((key, key.solutions.by(mistake)) for key in keys)
        found.append((mistake, [Case(key, solution) for key, solution in solutions if solution]))
    return found


def is_told_truly(says: str, id: str, cases: list[Case]) -> bool:
    """Whether a sentence is true wherever its mistake changes something, or somewhere at least if it is listed.

    Where only NaN comes of a mistake, much is true.
    """
    if id not in SOMETIMES:
        return all(true(says, case) for case in cases)
    telling = [case for case in cases if any(np.isfinite(place.wrong).all() for place in case.places)]
    return any(true(says, case) for case in telling or cases)


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize("calculation", [name for name in TABLE if known(name)])
def test_a_mistake_does_what_it_says(calculation: str) -> None:
    made = [(mistake, cases) for mistake, cases in planted(calculation) if cases]
    false = [m.says for m, cases in made if not is_told_truly(m.says, m.id, cases)]
    assert false == []
    hidden = {m.id for m, _ in planted(calculation)} - {m.id for m, _ in made}
    assert hidden <= {never for name, never in NEVER if name == calculation}


@pytest.mark.thorough
def test_every_phrase_is_said_by_some_mistake() -> None:
    said = [mistake.says for name in TABLE for mistake in known(name)]
    words = {phrase: [part for part in phrase.split("{}") if part] for phrase in PHRASES}
    assert [phrase for phrase, parts in words.items() if not any(all(part in s for part in parts) for s in said)] == []


def test_an_equation_speaks_of_what_was_written() -> None:
    senses = [sense for meaning in PHRASES.values() for sense in (meaning if isinstance(meaning, list) else [meaning])]
    assert [s for s in senses if isinstance(s, str) and " == " in s and "wrong" not in s] == []


@pytest.mark.release
def test_what_is_told_from_the_numbers_sometimes_is_not_always() -> None:
    made = [(mistake, cases) for name in TABLE if known(name) for mistake, cases in planted(name)]
    untold = {m.id for m, cases in made if m.id in SOMETIMES and not all(true(m.says, case) for case in cases)}
    assert sorted(SOMETIMES.keys() - untold) == []


def test_words_that_no_reader_knows_are_noticed() -> None:
    assert readings("the softmax runs down the columns")
    assert not readings("the softmax runs up the columns")
