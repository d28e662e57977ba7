"""The whole transformer: embeddings, a stack of encoders, a stack of decoders, and words, generated one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import numpy as np

from attncalc.calculations.attention import VASWANI
from attncalc.calculations.attention_options import DEFAULTS, Rotation
from attncalc.calculations.layers import FfnActivation, embed
from attncalc.calculations.multihead import AS_IN_2017, Attending, Heads, Sight
from attncalc.calculations.normalisation import Epsilon, Style, normed
from attncalc.calculations.transformer_blocks import (
    DECODER,
    ENCODER,
    JOINED,
    SIZES,
    Joining,
    Norm,
    decoder_layer,
    designed,
    encoder_layer,
)
from attncalc.common.errors import OptionError, amount, near
from attncalc.declare.calculation import calculation, same, shuffled
from attncalc.declare.operands import Declared, Exercise, Range, Weights, operand, options_of, weight
from attncalc.evaluate.loops import Growth
from attncalc.language.axes import Axis
from attncalc.language.graph import Node, constants, group, step, words_of
from attncalc.language.ops import affine, concat, rename, take
from attncalc.language.ops import ranking as best
from attncalc.record.trace import Step, Trace

TURNS = Range(at_least=1, at_most=256)
"""The range for the number of generated tokens; each turn reads everything that was written before."""


def _final_norm(stack: str) -> dict[str, Declared]:
    return {
        f"{stack}_norm_{name}": weight("d_model", symbol, f"the {what} of a norm behind the {stack}s")
        for name, symbol, what in (("gamma", "gamma", "gain"), ("beta", "beta", "shift"))
    }


def _in_words(trace: Trace) -> Trace:
    """The trace with tokens told by their words, and with a note where the end came before all were generated."""
    words = trace.inputs["embedding"].labels.get(0, ())
    tokens = trace.outputs[0]
    assert tokens.value is not None, "outputs are always kept"
    named = tuple(words[int(token)] for token in tokens.value) if words and tokens.value.ndim == 1 else ()
    turns = max(map(_turn, trace.steps), default=0)
    ended = turns < (options_of(trace).get("generate") or 0)
    said = (f"the end was chosen as token {turns}, and nothing is generated after it",) if ended else ()
    return trace._replace(
        steps=tuple(_told(made, words, named) for made in trace.steps),
        outputs=tuple(_told(made, words, named) for made in trace.outputs),
        notes=(*trace.notes, *said),
    )


def _told(made: Step, words: tuple[str, ...], tokens: tuple[str, ...]) -> Step:
    """A step with the words of what has been written as labels; the tokens themselves as ids."""
    sizes = dict(zip(made.axes, made.shape, strict=True))
    if made.name in ("tokens", "next_token"):
        return made.as_ids(words)._replace(labels={})
    written: dict[str, tuple[str, ...]] = {name: tokens[: sizes[name]] for name in ("n", "m") if name in sizes}
    return made._replace(labels={**made.labels, **written}) if tokens else made


def _turn(made: Step) -> int:
    """The turn in which a step is made, 0 for what comes before or after all of them."""
    turn = made.group.partition("/")[0]
    return int(turn.removeprefix("token ")) if turn.startswith("token ") else 0


def _token_id(token: int | str, flag: str, words: tuple[str, ...], size: int) -> int:
    """A token's number, from itself or its word; what looks like a number is a word where there is such a one."""
    if isinstance(token, str) and token not in words and token.isascii() and token.isdigit():
        token = int(token)
    if isinstance(token, str):
        if token not in words:
            raise OptionError(f"{flag} {token}: the vocabulary has no such word", hint=near(token, words))
        return words.index(token)
    if not 0 <= token < size:
        raise OptionError(f"{flag} {token} is not among the {amount(size, 'word')} of the vocabulary, 0…{size - 1}")
    return token


@calculation(
    source=operand("s", kind="tokens", of="V"),
    model=operand("", kind="model"),
    target=operand("n", kind="tokens", of="V"),
    embedding="V d_model",
    positions="p d_model",
    output="d_model V",
    output_bias="V",
    encoder_norm=_final_norm("encoder"),
    decoder_norm=_final_norm("decoder"),
    encoder=ENCODER,
    decoder=DECODER,
    sizes=SIZES,
    finish=_in_words,
    laws={
        "later tokens do not change earlier logits": lambda f, source, model, target: same(
            f(source, model, target[:1])["logits"], f(source, model, target)["logits"][:1]
        ),
        "without positions the order of the source does not matter": lambda f, source, model, target: same(
            f(*shuffled(source), model | {"positions": "none"}, target)["logits"],
            f(source, model | {"positions": "none"}, target)["logits"],
        ),
        "generating two tokens is the same as generating one, then another": lambda f, source, model: same(
            f(source, model, generate=2, start=0), f(source, model, f(source, model, [0]).result)
        ),
    },
    pictures=("weights",),
    reference=f"{VASWANI}, figure 1",
    exercise=Exercise(
        refused="a whole model has hundreds of steps",
        instead="quiz encoder-block and quiz decoder-block have its parts",
    ),
)
def transformer(
    source: Annotated[Node, "the text to read: ids, or words of the model's vocabulary"],
    model: Annotated[Node | None, "a file that holds everything below by name"] = None,
    target: Annotated[Node | None, "the tokens written so far, beginning with the start token"] = None,
    *,
    E: Annotated[Node | None, "the embeddings, one row for each word of the vocabulary"] = None,
    P: Annotated[
        Node | Literal["sinusoidal", "none"] | None, "what is added for the position; sinusoidal if absent"
    ] = None,
    W_U: Annotated[Node | None, "from vectors to words; the embeddings again if not given"] = None,
    b_U: Annotated[Node | None, "its bias"] = None,
    encoder_norm: Weights,
    decoder_norm: Weights,
    encoder: tuple[Weights, ...],
    decoder: tuple[Weights, ...],
    heads: Heads = 1,
    norm: Norm = "post",
    activation: FfnActivation = "relu",
    eps: Epsilon = 1e-5,
    attending: Annotated[Attending, ""] = AS_IN_2017,
    rotation: Annotated[Rotation, "rope_"] = DEFAULTS,
    joining: Annotated[Joining, ""] = JOINED,
    bias: Annotated[Literal["alibi", "t5"] | None, "what position adds to the scores of self-attention"] = None,
    scale_embedding: Annotated[bool, "multiply the embeddings by √d_model"] = False,
    generate: Annotated[int | None, "generate this many tokens, one after the other", TURNS] = None,
    start: Annotated[int | str | None, "the first token, if no target is given"] = None,
    end: Annotated[int | str | None, "the token after which nothing more is generated"] = None,
) -> tuple[Node, Node] | Growth:
    """Read a sentence with a stack of encoder layers, and write another, token by token, with decoder layers.

    The encoder layers turn the source into a memory, which every decoder layer attends to. The next token is the one
    with the largest logit after the tokens so far (greedy search); with --generate it is appended and the decoder runs
    again. A model is one JSON object: embedding, positions, heads, norm, activation, eps, scale_embedding, encoder and
    decoder (lists of weights, like those of encoder-block and decoder-block), encoder_norm, decoder_norm ({gamma,
    beta}), output, output_bias, vocabulary.
    """
    if E is None or not decoder:
        raise OptionError("transformer needs a model with an embedding and at least one decoder")
    design = designed(norm, activation, eps, joining)
    sight = Sight(attending=attending, B=bias, rotation=rotation)
    places = None if P == "none" else P or "sinusoidal"
    with group("source"):
        x = embed.graph(source, E, P=places, scale=scale_embedding)[0]
    for i, weights in enumerate(encoder, start=1):
        with group(f"encoder {i}"):
            x = encoder_layer(x, weights, design, sight)
    memory = step(
        "memory",
        _normed(x, "encoder", encoder_norm, design.style),
        "what every decoder layer attends to; computed only once",
    )

    def logits_of(tokens: Node) -> Node:
        with group("target"):
            y = embed.graph(tokens, E, P=places, scale=scale_embedding)[0]
        for i, weights in enumerate(decoder, start=1):
            with group(f"decoder {i}"):
                y = decoder_layer(y, memory, weights, design, sight._replace(causal=True))
        y = _normed(y, "decoder", decoder_norm, design.style)
        found = affine(y, E.T if W_U is None else W_U, b_U)
        return step("logits", found, "how well each word of the vocabulary would follow each position")

    words, size = words_of("V"), E.axes[-2].size
    written = [target if target is not None else _first(start, words, size)]
    over = None if end is None else _token_id(end, "--end", words, size)

    def choose() -> Node:
        logits = logits_of(concat(written, "n"))
        last = take(logits, "n", logits.axes[-2].size - 1)
        chosen = step(
            "next_token", rename(best(last, 1), "rank", "n"), "the word with the largest logit after the last token"
        )
        written.append(chosen)
        return chosen

    def turns(count: int) -> Iterator[Node]:
        for t in range(1, count + 1):
            with group(f"token {t}"):
                chosen = choose()
            yield chosen

    def results() -> tuple[Node, Node]:
        return step("tokens", concat(written, "n"), "the tokens so far, and the ones generated after them"), memory

    if generate is None:
        choose()
        return results()
    return Growth("token", turns(generate), generate, lambda chosen: bool(np.all(chosen == over)), results)


def _normed(x: Node, stack: str, weights: Weights, style: Style) -> Node:
    """The norm behind a stack, where the model has one."""
    gamma, beta = weights[f"{stack}_norm_gamma"], weights[f"{stack}_norm_beta"]
    if gamma is None and beta is None:
        return x
    return normed(x, f"{stack} norm", {f"{stack} gamma": gamma, f"{stack} beta": beta}, style)


def _first(start: int | str | None, words: tuple[str, ...], size: int) -> Node:
    """What is written before the first turn, where no target is given: the start token."""
    if start is None:
        raise OptionError("transformer needs a target to go on from, or --start, the token to begin with")
    return constants((_token_id(start, "--start", words, size),), Axis("n", 1), "start")
