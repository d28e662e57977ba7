"""Sampling: from a row of scores to the token that is written next."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from attncalc.common.errors import OptionError
from attncalc.declare.calculation import calculation, same
from attncalc.declare.operands import ABOVE_0, AT_LEAST_1, FROM_0_ON, Exercise, Range, operand
from attncalc.language.axes import Axis
from attncalc.language.graph import Node, constant, step
from attncalc.language.ops import (
    index,
    keep_where,
    one_hot,
    peak,
    ranking,
    rename,
    select,
    softmax,
    spread,
    take,
    total,
)

SHARE = Range(above=0, at_most=1)


@calculation(
    logits=operand("V", kind="logits"),
    previous=operand("t", kind="tokens", of="V"),
    laws={
        "greedy takes the largest": lambda f, logits: same(f(logits, greedy=True), logits.argmax()),
        "the best one alone is greedy": lambda f, logits: same(f(logits, top_k=1), f(logits, greedy=True)),
        "what is left sums to 1": lambda f, logits: same(f(logits, top_p=0.7, min_p=0.1)["shares"].sum(), 1),
    },
    reference="Holtzman et al. 2020, The Curious Case of Neural Text Degeneration, eq. 2 (top-p); Fan et al. 2018 "
    "(top-k); Nguyen et al. 2024 (min-p); Keskar et al. 2019, CTRL, eq. 1 (repetition penalty)",
    exercise=Exercise(sizes={"V": 5}, one_of=({"top_k": 3, "top_p": 0.9, "seed": 1}, {"top_p": 0.8, "seed": 2})),
)
def sampling(
    logits: Annotated[Node, "a score for every token of the vocabulary"],
    previous: Annotated[Node | None, "the tokens so far, which --repetition-penalty makes less likely"] = None,
    *,
    temperature: Annotated[float, "the scores are divided by it first", ABOVE_0] = 1,
    top_k: Annotated[int | None, "only so many of the likeliest tokens are left", AT_LEAST_1] = None,
    top_p: Annotated[float | None, "only the likeliest are left, until they reach this share", SHARE] = None,
    min_p: Annotated[float | None, "only those of at least this share of the likeliest one's", SHARE] = None,
    repetition_penalty: Annotated[
        float, "a previous token's score is divided by it, or multiplied below 0", ABOVE_0
    ] = 1,
    greedy: Annotated[bool, "the likeliest token, and nothing is drawn"] = False,
    seed: Annotated[int, "of the random number", FROM_0_ON] = 0,
) -> tuple[Node, Node]:
    """Choose the next token: scores become shares, filters leave some of them, and a random number picks one.

    The order is that of Hugging Face's: repetition penalty, temperature, top-k, top-p, min-p, and after each filter
    the shares are made to sum to 1 again. The random number lies between 0 and 1; the token is the first at which the
    shares, added up from the likeliest on, reach it.
    """
    if (previous is None) != (repetition_penalty == 1):
        given = "previous is given" if previous is not None else "--repetition-penalty is given"
        raise OptionError(f"previous and --repetition-penalty go together, but only {given}")
    vocabulary = logits.axes[-1]
    if top_k is not None and top_k > vocabulary.size:
        raise OptionError(f"--top-k {top_k}: there are only {vocabulary.size} tokens")
    scores = logits
    if previous is not None:
        theta = constant(repetition_penalty, "theta")
        less = keep_where(scores < 0, scores * theta, scores / theta)
        seen = step("seen", total(one_hot(previous, vocabulary), previous.names[-1]), "how often each token was there")
        scores = step("penalised", keep_where(seen < 1, scores, less), "divided or multiplied, whichever lowers it")
    if temperature != 1:
        why = "a low temperature favours the likeliest, a high one the others"
        scores = step("scaled", scores / constant(temperature, "T"), why)
    shares = step("probabilities", softmax(scores), "every token gets a share, however unlikely it is")
    order = step("order", ranking(shares, vocabulary.size), "the tokens by their shares, the likeliest first")
    shares = step("sorted", select(shares, order), "their shares in that order")
    rank = index("rank", shares.axes[-1:], "r")
    if top_k is not None:
        shares = _left("top_k", keep_where(rank < top_k, shares, 0), "the tail is cut off at a fixed length")
    if top_p is not None:
        ahead = step("ahead", summed_up(shares, own=False), "the share of all that are likelier")
        shares = _left("top_p", keep_where(ahead < top_p, shares, 0), "as many as it takes: few where one is sure")
    if min_p is not None:
        least = step("least", min_p * peak(shares), "the surer the likeliest one is, the more is asked of the others")
        shares = _left("min_p", keep_where(least <= shares, shares, 0), "whoever reaches that share stays")
    shares = step("shares", shares, "what is drawn from")
    if greedy:
        return step("token", take(order, "rank", 0), "the likeliest one, every time"), shares
    drawn = constant(round(float(np.random.default_rng(seed).random()), 4), "u")
    running = step("running", summed_up(shares), "added up from the likeliest on")
    place = step("place", total(keep_where(running < drawn, 1, 0)), "so many are passed before the sum reaches u")
    return step("token", select(order, place), "a token is drawn as often as its share says"), shares


def _left(name: str, kept: Node, why: str) -> Node:
    """What a filter leaves, made to sum to 1 again."""
    return step(name, kept / total(kept), f"{why}; what is left is shared anew")


def summed_up(shares: Node, *, own: bool = True) -> Node:
    """The sum of all shares that stand before each, and of its own."""
    rank = shares.axes[-1]
    square = (*shares.axes, Axis("s", rank.size))
    other, this = index("s", square, "s"), index("rank", square, "r")
    counts = other <= this if own else other < this
    return total(keep_where(counts, spread(rename(shares, "rank", "s"), square), 0), "s")
