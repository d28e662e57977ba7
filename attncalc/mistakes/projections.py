"""Mistakes of a linear layer: the side of the weights, the tokens that they are applied to, bias and activation."""

from __future__ import annotations

from collections.abc import Sequence

from attncalc.declare.mistake import Mistake, NotThere, Rule, Scope, chosen, like, parts, wrong
from attncalc.language.graph import Node
from attncalc.language.ops import total

WHICH = "Which activation was asked for?"

OTHER_GELU = chosen(activation={"gelu": "gelu-tanh", "gelu-tanh": "gelu", "geglu": "geglu-tanh", "geglu-tanh": "geglu"})


def _either_way(**words: str) -> dict[str, str]:
    return {**words, **{other: word for word, other in words.items()}}


TANH_TO_RELU = {"gelu-tanh": "relu", "geglu-tanh": "reglu"}
TANH_TO_SILU = {"gelu-tanh": "silu", "geglu-tanh": "swiglu"}
ACTIVATION = (
    wrong(
        "gelu-relu",
        options=chosen(activation={**_either_way(relu="gelu", reglu="geglu"), **TANH_TO_RELU}),
        says="ReLU in place of GELU, or the other way round",
        hint=WHICH,
        kind="convention",
    ),
    wrong(
        "gelu-tanh",
        options=OTHER_GELU,
        says="the other form of GELU: with tanh in place of erf, or the other way round",
        hint=WHICH,
        kind="convention",
    ),
    wrong(
        "gelu-exact-for-tanh",
        options=OTHER_GELU,
        says="the other form of GELU: with tanh in place of erf, or the other way round",
        hint="Which form of GELU was the model trained with?",
        kind="convention",
        alias_of="gelu-tanh",
    ),
    wrong(
        "gelu-sigmoid",
        options=chosen(activation=_either_way(**{"gelu-tanh": "gelu-sigmoid"}) | {"gelu": "gelu-sigmoid"}),
        says="x·σ(1.702x) in place of GELU, or the other way round",
        hint=WHICH,
        kind="convention",
    ),
    wrong(
        "gelu-silu",
        options=chosen(activation={**_either_way(gelu="silu", geglu="swiglu"), **TANH_TO_SILU}),
        says="SiLU in place of GELU, or the other way round",
        hint=WHICH,
        kind="convention",
    ),
    wrong(
        "gelu-silu",
        options=chosen(activation={"silu": "gelu-tanh", "swiglu": "geglu-tanh"}),
        says="GELU with tanh in place of SiLU",
        hint=WHICH,
        kind="convention",
    ),
    wrong(
        "silu-relu",
        options=chosen(activation=_either_way(relu="silu", reglu="swiglu")),
        says="ReLU in place of SiLU, or the other way round",
        hint=WHICH,
        kind="convention",
    ),
)

BENT = (
    wrong(
        "tanh-sigmoid",
        options=chosen(activation=_either_way(tanh="sigmoid")),
        says="the sigmoid in place of tanh, or the other way round",
        hint=WHICH,
    ),
    wrong(
        "tanh-relu",
        options=chosen(activation=_either_way(tanh="relu")),
        says="ReLU in place of tanh, or the other way round",
        hint=WHICH,
    ),
    wrong(
        "sigmoid-relu",
        options=chosen(activation=_either_way(sigmoid="relu")),
        says="ReLU in place of the sigmoid, or the other way round",
        hint=WHICH,
    ),
)
"""Common activations, one in place of another."""


def _the_other(s: Scope) -> Node:
    return s.due({"hidden": "linear", "linear": "hidden"}[s.step.args["name"]])


def _ungated(s: Scope) -> Node:
    parts(s.this, "mul")
    return s.activated


def _unclamped(s: Scope) -> Node:
    """What is kept within limits, as it is."""
    inner = parts(s.this, "minimum")[0]
    return parts(inner, "maximum")[0] if inner.op == "maximum" else inner


def gates_unscaled(option: str) -> Mistake:
    """That the gates are left as they are, where an option says what multiplies them in the end."""
    return wrong(
        "experts-scale-missing",
        options={option: 1},
        says="the gates are not scaled in the end",
        hint="What are the gates of this model multiplied by?",
    )


OF_EXPERTS = (
    *(
        wrong(
            "experts-all",
            at,
            lambda s: s.probabilities,
            says="every expert is asked",
            hint="How many experts does a token meet?",
        )
        for at in ("gates", "taken")
    ),
    *(
        wrong(
            "experts-no-gates",
            "gates",
            rule,
            says=f"the chosen experts {alike}",
            hint="Does a token listen to all chosen experts alike?",
        )
        for rule, alike in (
            (lambda s: s.routed, "count alike, without gates"),
            (lambda s: s.routed / total(s.routed), "share a whole alike"),
        )
    ),
    wrong(
        "experts-shared-missing",
        "output",
        lambda s: s.mixed,
        says="without the shared expert",
        hint="Which expert does every token meet?",
    ),
)
"""Mistakes in combining the experts that a router has chosen with each other, and with a shared one."""

GATES = (
    wrong(
        "gate-up-swapped",
        "hidden linear",
        _the_other,
        says="W_1 and W_3 are exchanged",
        hint="Which of the two products goes through the activation?",
    ),
    wrong(
        "gate-missing",
        "gated",
        _ungated,
        says="the gate alone: nothing is multiplied by it",
        hint="What does the gate let through?",
    ),
)
"""Mistakes of a gated network."""

CLAMPS = (
    wrong(
        "gate-plus-one-missing",
        "gated",
        lambda s: s.activated * s.linear_clamped,
        says="the gate times the other part, without 1 more",
        hint="What does the gate let through where the other part is nothing?",
    ),
    wrong(
        "gate-not-clamped",
        "clamped linear_clamped",
        _unclamped,
        says="both parts as large as they are",
        hint="How large may an entry become before it is gated?",
    ),
)
"""Mistakes of a gated network with clamped parts."""


def factors(s: Scope) -> Sequence[Node]:
    """The tokens of a layer, and its weights."""
    return parts(s.this.sources[0] if s.this.op == "add" else s.this, "matmul")


def with_product(s: Scope, product: Node) -> Node:
    """A layer with another product of tokens and weights, its bias kept."""
    return product + s.this.sources[1] if s.this.op == "add" else product


def unbiased(s: Scope) -> Node:
    """A layer without its bias."""
    factors(s)
    return parts(s.this, "add")[0]


def by_rows(s: Scope) -> Node:
    """A layer whose square weights are transposed."""
    tokens, W = factors(s)
    return with_product(s, tokens @ like(W.T, W))


def no_bias(at: str) -> Mistake:
    """A layer without its bias."""
    return wrong(
        "linear-bias-missing",
        at,
        unbiased,
        says="x·W, without the bias",
        hint="Is anything to be added to the product?",
    )


def weights_transposed(at: str) -> Mistake:
    """Square weights used as PyTorch stores them."""
    return wrong(
        "linear-weights-transposed",
        at,
        by_rows,
        says="x·Wᵀ in place of x·W",
        hint="With what is a token multiplied: with the columns of W, or with its rows?",
    )


def _other_way(s: Scope) -> Node:
    _, W = factors(s)
    if W.axes[-1].size != W.axes[-2].size:
        raise NotThere("a square matrix")
    return by_rows(s)


def conv1d_transposed(at: str, alias_of: str = "") -> Mistake:
    """Square matrices that lie the other way than they are used; of others their shapes tell it."""
    return wrong(
        "conv1d-transposed",
        at,
        _other_way,
        says="a square matrix the other way round",
        hint="Is this matrix stored [in, out], as a Conv1D's, or [out, in], as a Linear's?",
        alias_of=alias_of,
    )


ALL = "q k v"


def _of(s: Scope, tokens: Node) -> Node:
    """A projection of other tokens by its own weights."""
    return with_product(s, tokens @ factors(s)[1])


def _exchanged(one: str, other: str) -> Rule:
    """Two projections with each other's weights."""

    def rule(s: Scope) -> Node:
        tokens, own = factors(s)
        W: Node = getattr(s, f"w{other if s.step.args['name'] == one else one}")
        return with_product(s, tokens @ like(W, own))

    return rule


def _on_the_left(s: Scope) -> Node:
    tokens, W = factors(s)
    return with_product(s, like(like(W, tokens) @ like(tokens, W), tokens @ W))


def _of_tokens(s: Scope) -> Node:
    if "context" not in s:
        raise NotThere("context")
    return _of(s, s.x)


PROJECTIONS = (
    weights_transposed(ALL),
    *(
        wrong(
            "qkv-exchanged",
            f"{one} {other}",
            _exchanged(one, other),
            says=f"W_{one.upper()} and W_{other.upper()} are exchanged",
            hint="Which matrix makes what a token looks for, which what it is found by, and which what it passes on?",
        )
        for one, other in (("q", "k"), ("k", "v"), ("q", "v"))
    ),
    wrong(
        "matmul-order-ba",
        ALL,
        _on_the_left,
        says="W·x in place of x·W",
        hint="Whose rows are multiplied with whose columns?",
    ),
    no_bias(ALL),
    wrong(
        "qkv-context-ignored",
        "k v",
        _of_tokens,
        says="keys and values of the tokens, not of the context",
        hint="Where is the text that is looked at?",
    ),
    wrong(
        "qkv-context-queries",
        "q",
        lambda s: _of(s, s.context),
        says="queries of the context, not of the tokens",
        hint="Who is looking, and at what?",
    ),
)
"""Mistakes of projections."""
