"""A model as graphs for counting: its kinds of blocks, and the layers around them, with sizes but without values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from attncalc.calculations.experts import experts
from attncalc.calculations.latent_attention import latent_attention
from attncalc.calculations.layers import GATED, FfnActivation, embed
from attncalc.calculations.multihead import Attending, Sight
from attncalc.calculations.normalisation import NormKind, learned_by, normed
from attncalc.calculations.transformer_blocks import (
    DECODER,
    ENCODER,
    SELF,
    Design,
    Joining,
    NormAt,
    Part,
    decoder_layer,
    designed,
    encoder_layer,
    feed_forward,
    joined,
)
from attncalc.common.errors import OptionError
from attncalc.common.system import NamedTuple
from attncalc.declare.calculation import Calculation
from attncalc.declare.operands import AT_LEAST_1, FROM_0_ON, IF_ANY, Declared, Shape, Weights, With, parse_shape
from attncalc.language.axes import Axes, Axis, composite
from attncalc.language.graph import Node, building, given, group, step, walk
from attncalc.language.ops import affine, lookup, take, tanh

IDS = ("tokens", "kinds")
"""Operands that only point at rows of a table."""
VECTORS = (*IDS, "x", "memory", "hidden")
"""Operands that are not learned."""
BIASES = {"qkv": r"(cross_)?b[qkv]", "output": r"(cross_)?bo", "feed-forward": r"b\d", "head": r"\w+_bias"}
"""The parts that may have biases, and the names of these; a layer norm has its shift, an RMS norm none."""


class Layout(NamedTuple):
    """What the blocks of a model are made of, and what stands around them."""

    d_k: Annotated[int | None, "the width of a head; d_model/heads if not given", AT_LEAST_1] = None
    activation: FfnActivation = "relu"
    norm: Annotated[NormKind, "which norm the parts have"] = "layer"
    norm_at: NormAt = None
    qk_norm: Annotated[bool, "each head's queries and keys have norms"] = False
    rope: Annotated[bool, "queries and keys are turned by their positions"] = False
    biases: Annotated[
        tuple[Literal["none", "qkv", "output", "feed-forward", "head", "all"], ...],
        "what has a bias: the projections to queries, keys and values (qkv), …; all but the head",
    ] = ("none",)
    decoder_layers: Annotated[
        int, "how many blocks a decoder has; --layers are then the encoder's, and both read n tokens", FROM_0_ON
    ] = 0
    positions: Annotated[int | None, "how many positions have a learned vector", IF_ANY] = None
    segments: Annotated[int | None, "how many kinds of segments have a learned vector: BERT's 2", IF_ANY] = None
    embedding_norm: Annotated[bool, "a norm stands behind the embedding"] = False
    final_norm: Annotated[bool, "a norm stands behind the last block"] = False
    head: Annotated[
        Literal["tied", "own", "pooler"],
        "the way back to words: the embedding's table (tied), a matrix of its own, or in its place BERT's pooler",
    ] = "tied"


MIXED, NARROW = With(("experts",)), With(("width",))


class Mixture(NamedTuple):
    """Experts in place of a feed-forward network."""

    top: Annotated[int, "how many experts a token is sent to", AT_LEAST_1, MIXED] = 2
    d_ffn: Annotated[int | None, "the width of one expert; --d-ffn if not given", AT_LEAST_1, MIXED] = None
    shared: Annotated[int | None, "the width of an expert that every token meets", AT_LEAST_1, MIXED] = None
    dense: Annotated[int, "how many blocks have a feed-forward network all the same", FROM_0_ON, MIXED] = 0


class Latent(NamedTuple):
    """Keys and values that come from a latent."""

    width: Annotated[int | None, "the latent of keys and values, as wide as this (latent-attention)", AT_LEAST_1] = None
    queries: Annotated[int | None, "the width of the queries' latent, where they have one", AT_LEAST_1, NARROW] = None
    rope: Annotated[int, "the width of the turned part of a key, which all heads share", AT_LEAST_1, NARROW] = 64
    d_v: Annotated[int | None, "the width of a head's values; that of its keys if not given", AT_LEAST_1, NARROW] = None


AS_IN_2017, AS_MIXTRAL, NO_LATENT = Layout(), Mixture(), Latent()


class Piece(NamedTuple):
    """What a model has so many times: a kind of block, or what stands around all of them."""

    name: str
    times: int
    roots: tuple[Node, ...]
    words: Mapping[str, str]  # size → its name in formulas


class Anatomy(NamedTuple):
    """The sizes of a model, and what it is made of."""

    axes: Mapping[str, Axis]
    tokens: Axes  # of a text, or of a batch of them
    layers: int
    layout: Layout
    mixture: Mixture
    latent: Latent

    def pieces(self) -> Iterator[Piece]:
        """The kinds of blocks, and what stands around them."""
        words = {"m": "n", "s": "n", "d_ff": "d_ffn", "d_pooled": "d_model", "p": "positions"}
        words |= {"g": "h"} if self._same("g", "h") else {}
        words |= {"d_v": "d_k"} if self._same("d_v", "d_k") else {}
        plain, mixed = self.layers, 0
        if "e" in self.axes:
            plain, mixed = self.mixture.dense, self.layers - self.mixture.dense
        name = "dense_layers" if mixed else "layers"
        with building():
            if plain:
                yield Piece(name, plain, (self._block(mixed=False),), words)
            if mixed:
                own = {"e": "experts", "s": "d_shared"} | ({} if self._same("f", "d_ff") else {"d_ff": "d_expert"})
                name = "expert_layers" if plain else "layers"
                yield Piece(name, mixed, (self._block(mixed=True),), words | own)
            if self.layout.decoder_layers:
                yield Piece("decoder_layers", self.layout.decoder_layers, (self._decoder_block(),), words)
            if around := tuple(self._around()):
                yield Piece("", 1, around, words | {"s": "segments"})

    def _same(self, one: str, other: str) -> bool:
        return self.axes[one].size == self.axes[other].size

    @property
    def _design(self) -> Design:
        joining = Joining(norm_at=self.layout.norm_at)
        return designed(self.layout.norm, self.layout.activation, 1e-5, joining)

    def _operand(self, name: str, shape: Shape | str) -> Node:
        """An operand that has sizes and no values."""
        parts = parse_shape(shape) if isinstance(shape, str) else shape
        axes = (self.axes[a] if isinstance(a, str) else composite(*map(self.axes.__getitem__, a)) for a in parts)
        return given(name, tuple(axes))

    def _vectors(self, name: str) -> Node:
        return given(name, (*self.tokens, self.axes["d_model"]))

    def of(self, calculation: Calculation, name: str, prefix: str = "") -> Node:
        """An operand of a calculation, with the axes that it declares."""
        declared = calculation.operand(name)
        assert declared is not None, name
        return self._operand(prefix + name, declared.shapes[0])

    def _has(self, name: str) -> bool:
        """Whether there is a weight of that name."""
        if re.fullmatch(r"\w*(gamma|beta)\d?", name):
            asked = self.layout.qk_norm if name[:2] in ("q_", "k_") else True
            asked &= self._design.at in ("sandwich", "both") or not name.startswith("post_")
            return asked and ("gamma" in name or self.layout.norm == "layer")
        if name[-1] == "3" and self.layout.activation not in GATED:
            return False
        asked_for = [*self.layout.biases, *(part for part in BIASES if part != "head" and "all" in self.layout.biases)]
        is_bias = any(re.fullmatch(BIASES[part], name) for part in asked_for if part in BIASES)
        return is_bias or bool(re.fullmatch(r"(cross_)?w\w", name))

    def _weights(self, declared: Mapping[str, Declared]) -> Weights:
        return {name: self._operand(name, of.shapes[0]) if self._has(name) else None for name, of in declared.items()}

    def _block(self, *, mixed: bool) -> Node:
        """One block of an encoder, or of a model of one stack."""
        weights, design = self._weights(ENCODER), self._design
        x, network = self._vectors("x"), self._experts if mixed else feed_forward(weights, design)
        if self.latent.width is not None:
            return step("output", joined(x, [self._latent_attention, network], weights, design))
        attending = Attending(qk_norm=self.layout.qk_norm, rope=self.layout.rope)
        return step("output", encoder_layer(x, weights, design, Sight(attending=attending), SELF, network))

    def _decoder_block(self) -> Node:
        weights = self._weights(DECODER)
        memory = given("memory", (*self.tokens[:-1], self.tokens[-1]._replace(name="s"), self.axes["d_model"]))
        attending = Attending(qk_norm=self.layout.qk_norm, rope=self.layout.rope)
        sight = Sight(attending=attending)
        return step("output", decoder_layer(self._vectors("x"), memory, weights, self._design, sight))

    def _latent_attention(self, x: Node) -> Node:
        has_queries = self.latent.queries is not None
        names = [o.name for o in latent_attention.operands if o.required and o.name != "x"]
        weights = [self.of(latent_attention, name) for name in names]
        with group(SELF):
            found: Node = latent_attention.graph(
                x,
                *weights,
                W_DQ=self.of(latent_attention, "wdq") if has_queries else None,
                gamma_Q=self.of(latent_attention, "q_gamma") if has_queries else None,
                gamma_KV=self.of(latent_attention, "kv_gamma"),
            )[0]
        return found

    @property
    def _experts(self) -> Part:
        def part(x: Node) -> Node:
            axes = dict(self.axes)
            inner = self._replace(axes=axes | {"d_ff": axes["f"]._replace(name="d_ff")})
            gated = self.layout.activation in GATED
            names = ["shared_w1", "shared_w2", *(["shared_w3"] if gated else [])] if "s" in axes else []
            shared = {f"S_{name[-1]}": inner.of(experts, name) for name in names}
            with group("feed-forward"):
                found: Node = experts.graph(
                    x,
                    *(inner.of(experts, name) for name in ("router", "w1", "w2")),
                    W_3=inner.of(experts, "w3") if gated else None,
                    activation=self.layout.activation,
                    top=self.mixture.top,
                    **shared,
                )[0]
            return found

        return part

    def _norm(self, x: Node, name: str) -> Node:
        weights = self._weights({learned_by(name, vector): Declared("d_model") for vector in ("gamma", "beta")})
        return normed(x, name, weights, self._design.style)

    def _around(self) -> Iterator[Node]:
        """What stands before the blocks and behind them."""
        layout = self.layout
        stacks = ("encoder-", "decoder-") if layout.decoder_layers else ("",)
        table = self._operand("table", "V d_model") if "V" in self.axes else None
        for stack in stacks:
            if table is not None:
                yield self._embedded(table, stack)
            if layout.final_norm and stack != stacks[-1]:
                yield self._norm(self._vectors("hidden"), f"{stack}norm")
        last = self._vectors("hidden")
        if layout.final_norm:
            last = self._norm(last, f"{stacks[-1] or 'final-'}norm")
        if table is not None:
            yield self._headed(last, table)
        elif layout.final_norm:
            yield last

    def _embedded(self, table: Node, stack: str) -> Node:
        """The tokens of a text as vectors."""
        prefix = stack.replace("-", "_")
        places = None if self.layout.positions is None else self._operand(f"{prefix}positions", "p d_model")
        with group(f"{stack}embedding"):
            x: Node = embed.graph(given("tokens", self.tokens), table, P=places)[0]
            if self.layout.segments is not None:
                kinds = lookup(self._operand("segments", "S d_model"), given("kinds", self.tokens), "S")
                x = step("segmented", x + kinds, "which of two texts a token is of")
        return self._norm(x, f"{stack}embedding-norm") if self.layout.embedding_norm else x

    def _headed(self, last: Node, table: Node) -> Node:
        """What is made of the last vectors."""
        if self.layout.head == "pooler":
            with group("head"):
                first = take(last, "n", 0)
                made = affine(
                    first, self._operand("head_weights", "d_model d_pooled"), self._operand("head_bias", "d_pooled")
                )
                return step("pooled", tanh(made), "the first token speaks for the whole text")
        is_own = self.layout.head == "own"
        W = self._operand("head_weights", "d_model V") if is_own else table.T
        name = "head_bias" if is_own else "table_bias"
        bias = self._operand(name, "V") if self._has(name) else None
        with group("head" if is_own else "embedding"):
            return step("logits", affine(last, W, bias), "how well each word fits")


def anatomy(
    n: int,
    batch: int,
    sizes: Mapping[str, int | None],
    layers: int,
    layout: Layout,
    mixture: Mixture,
    latent: Latent,
) -> Anatomy:
    """The anatomy of a model of these sizes; those that are not there are None."""
    _must_fit(sizes, layers, layout, mixture, latent)
    axes = {name: Axis(name, size) for name, size in sizes.items() if size is not None}
    axes["d_out"] = axes["d_model"]  # a block's output is as wide as its input
    tokens = (*([Axis("batch", batch)] if batch > 1 else []), Axis("n", n))
    return Anatomy(axes, tokens, layers, layout, mixture, latent)


def _must_fit(sizes: Mapping[str, int | None], layers: int, layout: Layout, mixture: Mixture, latent: Latent) -> None:
    """Raise where options ask for what does not go together."""
    asked = {
        "--positions": layout.positions is not None,
        "--segments": layout.segments is not None,
        "--embedding-norm": layout.embedding_norm,
        f"--head {layout.head}": layout.head != "tied",
    }
    for flag in (flag for flag, is_asked in asked.items() if is_asked and sizes["V"] is None):
        raise OptionError(f"{flag} goes with --vocab, the size of the vocabulary")
    if layout.decoder_layers and (latent.width is not None or sizes["e"] is not None):
        raise OptionError("--decoder-layers counts blocks of 2017: without --experts and --latent-width")
    if sizes["e"] is not None and not mixture.top <= sizes["e"]:
        raise OptionError(f"--experts-top {mixture.top}: there are only {sizes['e']} experts")
    if mixture.dense > layers:
        raise OptionError(f"--experts-dense {mixture.dense}: there are only {layers} blocks")


def inputs(root: Node) -> list[Node]:
    """What a piece is made of, of which there are gradients."""
    return [node for node in walk(root) if node.op == "input" and node.args["name"] not in IDS]
