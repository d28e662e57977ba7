"""Sampling: from scores to the next tokens, which are drawn, drafted by a small model, or found by search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from attncalc.calculations.conditions import must_be_places, must_sum_to_one, numbers, taken_as_scores
from attncalc.common.errors import DomainError, OptionError, ShapeError, place_text
from attncalc.common.numerals import Array
from attncalc.declare.calculation import calculation, same, shares
from attncalc.declare.operands import ABOVE_0, AT_LEAST_1, FROM_0_ON, IF_ANY, Exercise, Range, operand
from attncalc.language.axes import Axis, describe
from attncalc.language.graph import Node, as_node, aside, constant, constants, group, note, output, step
from attncalc.language.ops import (
    compare_equal,
    concat,
    floor,
    index,
    keep_where,
    listed,
    log,
    lookup,
    maximum,
    minimum,
    one_hot,
    part_of,
    peak,
    ranking,
    ratio,
    rename,
    reread,
    select,
    softmax,
    spread,
    take,
    total,
)
from attncalc.record.trace import Trace

SHARE = Range(above=0, at_most=1, optional=True)
WARM = Range(above=0, instead="--greedy takes the likeliest")
TURNS = 50


@calculation(
    logits=operand("V", kind="logits"),
    previous=operand("t", kind="tokens", of="V"),
    check=taken_as_scores("logits"),
    laws={
        "greedy takes the largest": lambda f, logits: same(f(logits, greedy=True), logits.argmax()),
        "the best one alone is greedy": lambda f, logits: same(f(logits, top_k=1), f(logits, greedy=True)),
        "what is left sums to 1": lambda f, logits: same(f(logits, top_p=0.7, min_p=0.1)["shares"].sum(), 1),
    },
    reference="Holtzman et al. 2020, The Curious Case of Neural Text Degeneration, eq. 2 (top-p); Fan et al. 2018, "
    "Hierarchical Neural Story Generation (top-k); Nguyen et al. 2024, Turning Up the Heat (min-p); Keskar et al. "
    "2019, CTRL, section 4.1 (repetition penalty)",
    exercise=Exercise(sizes={"V": 5}, one_of=({"top_k": 3, "top_p": 0.9, "seed": 1}, {"top_p": 0.8, "seed": 2})),
)
def sampling(
    logits: Annotated[Node, "a score for every token of the vocabulary"],
    previous: Annotated[Node | None, "the tokens so far, which --repetition-penalty makes less likely"] = None,
    *,
    temperature: Annotated[float, "the scores are divided by it first", WARM] = 1,
    top_k: Annotated[int | None, "only so many of the likeliest tokens are left", IF_ANY] = None,
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
        theta = constant(repetition_penalty, "theta", "repetition_penalty")
        less = keep_where(scores < 0, scores * theta, scores / theta)
        seen = step("seen", total(one_hot(previous, vocabulary), previous.names[-1]), "how often each token was there")
        scores = step("penalised", keep_where(seen < 1, scores, less), "divided or multiplied, whichever lowers it")
    if temperature != 1:
        why = "a low temperature favours the likeliest, a high one the others"
        scores = step("scaled", scores / constant(temperature, "T", "temperature"), why)
    shares = step("probabilities", softmax(scores), "every token gets a share, however unlikely it is")
    order = step("order", ranking(shares, vocabulary.size), "the tokens by their shares, the likeliest first")
    shares = step("sorted", select(shares, order), "their shares in that order")
    rank = index("rank", shares.axes[-1:], "r")
    if top_k is not None:
        shares = _left(
            "top_k",
            keep_where(rank < constant(top_k, "k", "top_k"), shares, 0),
            "only the k likeliest stay: the tail is cut off at a fixed length",
        )
    if top_p is not None:
        ahead = step("ahead", summed_up(shares, own=False), "the share of all that are likelier")
        shares = _left(
            "top_p",
            keep_where(ahead < constant(top_p, "p", "top_p"), shares, 0),
            "the likeliest stay, as many as it takes to reach p: few where one is sure",
        )
    if min_p is not None:
        least = step(
            "least",
            constant(min_p, "p_min", "min_p") * peak(shares),
            "the surer the likeliest one is, the more is asked of the others",
        )
        shares = _left("min_p", keep_where(least <= shares, shares, 0), "whoever reaches that share stays")
    shares = step("shares", shares, "what is drawn from")
    if greedy:
        return step("token", take(order, "rank", 0), "the likeliest one, every time"), shares
    [drawn] = _random(seed, 1)
    return _drawn(shares, order, constant(drawn, "u")), shares


def _random(seed: int, count: int) -> list[float]:
    """Numbers between 0 and 1 of four decimals, which one can write down."""
    note(f"what is random comes from seed {seed}: the same seed draws the same numbers")
    return [round(float(each), 4) for each in np.random.default_rng(seed).random(count)]


def _drawn(shares: Node, order: Node, drawn: Node) -> Node:
    """Shares are added up in this order; the token at which the sum reaches the random number is drawn."""
    running = step("running", summed_up(shares), "added up from the likeliest on")
    place = step("place", total(keep_where(running < drawn, 1, 0)), "so many are passed before the sum reaches u")
    return step("token", select(order, place), "a token is drawn as often as its share says")


def _left(name: str, kept: Node, why: str) -> Node:
    """What a filter leaves, made to sum to 1 again."""
    return step(name, kept / total(kept), f"{why}; what is left is shared anew")


def summed_up(shares: Node, *, own: bool = True) -> Node:
    """The sum of all shares that stand before each, and of its own."""
    along = shares.axes[-1]
    square = (*shares.axes, Axis("s", along.size))
    other, this = index("s", square, "s"), index(along.name, square, along.name[0])
    counts = other <= this if own else other < this
    return total(keep_where(counts, spread(rename(shares, along.name, "s"), square), 0), "s")


ABOUT = {
    "acceptance": "Where the draft gave the token no more than the target does, it is always kept; where it gave too "
    "much, it is kept as often as makes the two alike. What is missing elsewhere is made up for by the residual.",
    "residual": "Kept drafts make up the smaller one of both shares, min(P, Q). What the target's own shares have on "
    "top of that is P − Q where this is positive. Together they are P: no token is written more often than the target "
    "alone would write it, however poor the draft is; a poor draft costs time alone.",
    "overlap": "Σ min(P, Q) is 1 for two models that agree, and 0 for two that share no token. It is how often "
    "whatever the draft writes there is kept (β in Leviathan et al.), before one knows which token that is.",
}
"""What a teacher would add to the reason of a step."""


def _drafted(values: Mapping[str, Any]) -> None:
    """Raise for shares that are none, and for a token that the draft cannot have written."""
    draft, tokens = values["draft"], values["tokens"]
    taken_as_scores("target", "draft")(values)
    if not values["from_probabilities"]:
        return
    must_sum_to_one("target", values["target"])
    must_sum_to_one("draft", draft)
    must_be_places("tokens", tokens, draft.shape[-1], "V")
    shares = numbers(draft)
    if shares is None or any(a != b for a, b in zip(shares.shape[-2::-1], tokens.shape[::-1], strict=False)):
        return
    ids = np.broadcast_to(tokens, np.broadcast_shapes(tokens.shape, shares.shape[:-1])).astype(int)
    given = np.take_along_axis(np.broadcast_to(shares, (*ids.shape, shares.shape[-1])), ids[..., None], -1)[..., 0]
    for at in np.argwhere(given == 0):
        token = ids[tuple(at)]
        share, place = place_text((*at[1 - shares.ndim :], token)), place_text(at[-tokens.ndim :])
        fault = f"draft{share} is 0, but tokens{place} is {token}"
        raise DomainError(fault, hint="a token that was drafted has a share")


def _as_the_target_alone(f: Any, target: Array, draft: Array) -> bool:
    """Whether one drafted token, kept or drawn anew, comes out as often as the target alone writes it."""
    found = [f(target[:2], draft[:1], [token]) for token in range(target.shape[-1])]
    often = found[0]["draft_probabilities"][0]
    kept = np.array([q * each["acceptance"][0] for q, each in zip(often, found, strict=True)])
    return same(kept + (1 - kept.sum()) * found[0]["shares"][0], found[0]["target_probabilities"][0])


@calculation(
    target=operand("n V", kind="logits"),
    draft=operand("n V", kind="logits"),
    tokens=operand("n", kind="tokens", of="V"),
    check=_drafted,
    laws={
        "every token comes out as often as the target alone would write it": _as_the_target_alone,
        "a draft that is the target is kept as it is": lambda f, target: same(
            f(target, target[:-1], target[:-1].argmax(-1))["accepted"], len(target) - 1
        ),
        "the overlap is 1 less half of all that the two differ by": lambda f, target, draft: same(
            f(target[:2], draft[:1], [0])["overlap"],
            1 - np.abs(shares(target[:1]) - shares(draft[:1])).sum() / 2,
        ),
    },
    reference="Leviathan et al. 2023, Fast Inference from Transformers via Speculative Decoding, algorithm 1 and "
    "appendix A.1; Chen et al. 2023, Accelerating Large Language Model Decoding with Speculative Sampling, algorithm 2",
    exercise=Exercise(sizes={"V": 4}, one_of=({"seed": 1}, {"seed": 2}, {"seed": 5})),
)
def speculative(
    target: Annotated[Node, "the large model's scores, n + 1 rows: one for each drafted token, one for what follows"],
    draft: Annotated[Node, "the small model's scores, a row for each token that it drafted"],
    tokens: Annotated[Node, "the tokens that it drafted"],
    *,
    from_probabilities: Annotated[bool, "target and draft are probabilities already"] = False,
    temperature: Annotated[float, "the scores of both are divided by it first", ABOVE_0] = 1,
    seed: Annotated[int, "of the random numbers", FROM_0_ON] = 0,
) -> tuple[Node, Node]:
    """Keep what a small model has drafted, or draw another token, so that the large one's shares stay true.

    A drafted token is kept with the probability min(1, P/Q), P the target's share of it and Q the draft's. At the first
    that is not kept, a token is drawn from the residual max(0, P − Q), made to sum to 1; behind a draft that is kept
    throughout one more is drawn from the target. The result is that token; `accepted` says how many are kept before it.
    """
    if from_probabilities and temperature != 1:
        raise OptionError("--temperature divides scores, but --from-probabilities says that there are none")
    n = tokens.axes[-1].size
    if target.axes[-2].size != n + 1 or draft.axes[-2].size != n:
        facts = (
            f"tokens are {describe(tokens.axes)}, draft is {describe(draft.axes)}, target is {describe(target.axes)}"
        )
        raise ShapeError(f"{facts}, but draft has a row for each token, and target one more, for what follows them")
    P, Q = (_probabilities(*pair, temperature, from_probabilities) for pair in (("target", target), ("draft", draft)))
    checked = step("checked", part_of(P, "n", 0, n), "the target's shares where a token was drafted")
    theirs = step("target_share", select(checked, tokens), "what the target gives to each drafted token")
    ours = step("draft_share", select(Q, tokens), "what the draft gave to it, which drew it from these shares")
    quotient = step("ratio", theirs / ours, "above one where the draft was too modest, below where too sure")
    why = "the draft writes a token too often by that factor, so that so much of it is kept"
    chance = step("acceptance", minimum(quotient, 1), why, about=ABOUT["acceptance"])
    why = "how often whatever is drafted there is kept"
    aside("overlap", total(minimum(checked, Q)), why, about=ABOUT["overlap"])
    reached = [take(chance, "n", 0)]
    for i in range(1, n):
        reached.append(reached[-1] * take(chance, "n", i))
    so_far = aside("reached", listed(reached, "n"), "how often all are kept up to here: one that is not ends it")
    aside("expected_accepted", total(so_far), "so many of these tokens are kept on average")
    *draws, last = _random(seed, n + 1)
    chosen = constants(draws, tokens.axes[-1], "random")
    thrown = step("draws", chosen, "a random number for each token, as likely here as there between none and one")
    kept = step("kept", keep_where(thrown < chance, 1, 0), "one chance for each token")
    lost = step("lost", summed_up(1 - kept), "how many are not kept, up to here")
    accepted = step("accepted", total(keep_where(lost < 1, 1, 0)), "behind the first that is not kept nothing counts")
    beyond, behind = maximum(as_node(0), checked - Q), part_of(P, "n", n, n + 1)
    why = "what the target's shares have beyond the draft's; behind the draft, all that they are"
    residual = step(
        "residual",
        concat([beyond, spread(behind, (*beyond.axes[:-2], *behind.axes[-2:]))], "n"),
        why,
        about=ABOUT["residual"],
    )
    left = step("shares", ratio(residual, total(residual)), "made to sum to one")
    left = spread(left, (*accepted.axes, *left.axes[-2:]))
    chosen = step("drawn_from", select(left, accepted, "n"), "the row of the first that is not kept, or the last")
    order = step("order", ranking(chosen, chosen.axes[-1].size), "the tokens by their shares, the likeliest first")
    ranked = step("sorted", select(chosen, order), "their shares in that order")
    return _drawn(ranked, order, constant(last, "u")), accepted


def _probabilities(name: str, scores: Node, temperature: float, known: bool) -> Node:
    if known:
        return scores
    if temperature != 1:
        scores = step(
            f"{name}_scaled",
            scores / constant(temperature, "T", "temperature"),
            "both models are cooled or warmed alike",
        )
    return step(f"{name}_probabilities", softmax(scores), "scores become shares")


IN_SEARCH = {
    "logs": "shares along a text are multiplied, and their logarithms added, which do not become too small",
    "extended": "each hypothesis with each token behind it: the logarithms so far, and that of the new one",
    "candidates": "one that has ended stays as it is, with the end once more behind it; it can only be overtaken",
    "row": "hypothesis behind hypothesis, since all of them compete",
    "chosen": "the best of all, whichever hypotheses they come from; the others are never looked at again",
    "origin": "which hypothesis was made longer: every one has as many candidates as there are tokens",
    "token": "and by which token",
    "scores": "what each has by now; no logarithm of a share is positive, so that no text gets better by growing",
    "ended": "one for a text whose end has been written",
    "length": "so many tokens, the end among them, and none behind it",
    "kept": "the hypotheses that were made longer, one of them perhaps twice",
    "hypotheses": "the texts that survive, one a row",
    "penalty": "longer texts have more logarithms to add up: this makes up for it",
    "normalised": "what the length does by itself is taken out",
    "best": "only now is one chosen",
}
"""The reasons of the steps of a beam search."""
PENALTY = (
    "It is called a penalty, and favours long texts, the more the larger α is: scores are negative, and what is "
    "divided by more is less negative."
)


def _named(trace: Trace) -> Trace:
    """The trace with the words that ids stand for, where the table has any."""
    words = trace.inputs["transitions"].labels.get(0, ())
    return trace.with_ids(("token", "kept", "hypotheses", "sequence"), words)


def _transitions(values: Mapping[str, Any]) -> None:
    """Raise unless the table is square, its end is a token, and its rows are probabilities."""
    table, end = values["transitions"], values["end"]
    taken_as_scores("transitions")(values)
    rows, columns = table.shape[-2:]
    if rows != columns:
        raise ShapeError(f"transitions are {rows}×{columns}, but each token has a row, and a column as the next one")
    if end >= rows:
        raise OptionError(f"--end {end}: there are only {rows} tokens", hint=f"the last one is {rows - 1}")
    if values["from_probabilities"]:
        must_sum_to_one("transitions", table)


def _best_of_two(f: Any, transitions: Array) -> bool:
    """Whether as many hypotheses as tokens find the best text of two tokens."""
    found = f(transitions, beam=len(transitions), length=2)["score"]
    logs = np.log(shares(transitions))
    both = logs[0][:, None] + logs
    both[0, 1:] = -np.inf
    both[0, 0] = logs[0, 0]
    return same(found, both.max())


@calculation(
    transitions=operand("V next", kind="logits"),
    check=_transitions,
    finish=_named,
    laws={
        "one hypothesis is greedy": lambda f, transitions: same(
            f(transitions, beam=1, length=1), transitions[0].argmax()
        ),
        "as many hypotheses as tokens find the best text of two": _best_of_two,
    },
    reference="Sutskever, Vinyals and Le 2014, Sequence to Sequence Learning with Neural Networks, section 3.2; "
    "Wu et al. 2016, Google's Neural Machine Translation System, eq. 14 (length penalty)",
    exercise=Exercise(sizes={"V": 3, "next": 3}, one_of=({"beam": 2, "length": 2, "length_penalty": 1},)),
)
def beam(
    transitions: Annotated[Node, "a row for each token: the scores of those that may come next"],
    *,
    beam: Annotated[int, "so many hypotheses survive each step", AT_LEAST_1] = 2,
    length: Annotated[int, "so many tokens at most, the end among them", Range(at_least=1, at_most=TURNS)] = 3,
    end: Annotated[int, "the token with which a text ends, and behind which it begins", FROM_0_ON] = 0,
    length_penalty: Annotated[float | None, "α: scores are divided by ((5 + length)/6)^α in the end", FROM_0_ON] = None,
    from_probabilities: Annotated[bool, "transitions are probabilities already"] = False,
) -> tuple[Node, Node]:
    """Search for a likely text: keep the best few beginnings, make each longer by every token, and so on.

    Here what comes next depends on the last token alone; with a language model each hypothesis has a row of its own.
    The first token is what follows the end, as the text of before has ended. Of candidates that are as good, those of
    the better hypothesis survive, and of these the lower id. One that has ended keeps its place and its score until
    better ones push it out.
    """
    vocabulary = transitions.axes[-1].size
    if beam > vocabulary:
        raise OptionError(f"--beam {beam}: the first token is one of {vocabulary} only")
    shares = transitions if from_probabilities else step("probabilities", softmax(transitions), "scores become shares")
    logs = step("log_probabilities", log(shares), IN_SEARCH["logs"])
    with group("step 1"):
        first = step("candidates", take(logs, "V", end), "the text has yet to begin, so that there is one hypothesis")
        chosen = step("chosen", ranking(first, beam), IN_SEARCH["chosen"])
        tokens = rename(select(index("next", first.axes, "j"), chosen), "rank", "beam")
        tokens = step("token", tokens, "one hypothesis alone: the places are the tokens' ids")
        scores = step("scores", select(first, tokens), IN_SEARCH["scores"])
        ended = step("ended", _is(tokens, end), IN_SEARCH["ended"])
        size = step("length", spread(as_node(1), ended.axes), IN_SEARCH["length"])
        texts = step("hypotheses", listed([tokens], "t"), IN_SEARCH["hypotheses"])
    for turn in range(2, length + 1):
        with group(f"step {turn}"):
            extended = step("extended", scores + lookup(logs, tokens, "V"), IN_SEARCH["extended"])
            once_more = keep_where(compare_equal(index("next", extended.axes, "j"), end), scores, -np.inf)
            candidates = step("candidates", keep_where(ended < 1, extended, once_more), IN_SEARCH["candidates"])
            row = step("row", reread(candidates, (Axis("candidate", beam * vocabulary),)), IN_SEARCH["row"])
            chosen = step("chosen", ranking(row, beam), IN_SEARCH["chosen"])
            place = select(index("candidate", row.axes, "i"), chosen)
            origin = step("origin", floor(place / transitions.size("V")), IN_SEARCH["origin"])
            tokens = step("token", rename(place - transitions.size("V") * origin, "rank", "beam"), IN_SEARCH["token"])
            scores = step("scores", rename(select(row, chosen), "rank", "beam"), IN_SEARCH["scores"])
            before = rename(lookup(ended, origin, "beam"), "rank", "beam")
            size = rename(lookup(size, origin, "beam"), "rank", "beam") + (1 - before)
            size = step("length", size, IN_SEARCH["length"])
            ended = step("ended", _is(tokens, end), IN_SEARCH["ended"])
            kept = step("kept", rename(lookup(texts, origin, "beam"), "rank", "beam"), IN_SEARCH["kept"])
            texts = step(
                "hypotheses",
                listed([*(take(kept, "t", i) for i in range(turn - 1)), tokens], "t"),
                IN_SEARCH["hypotheses"],
            )
    if length_penalty is not None:
        penalty = step(
            "penalty",
            ((5 + size) / 6) ** constant(length_penalty, "alpha", "length_penalty"),
            IN_SEARCH["penalty"],
            about=PENALTY,
        )
        scores = step("normalised", scores / penalty, IN_SEARCH["normalised"])
    best = step("best", ranking(scores, 1), IN_SEARCH["best"])
    sequence = step("sequence", take(lookup(texts, best, "beam"), "rank", 0), "the text that was looked for")
    return sequence, output("score", take(select(scores, best), "rank", 0), "what it has in the end")


def _is(tokens: Node, token: int) -> Node:
    return keep_where(compare_equal(tokens, token), 1, 0)
