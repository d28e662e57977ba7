"""Mistakes of convolution and recurrence: how a kernel is flipped and moved; weights, gates and the previous state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from attncalc.calculations.sequence import GATES, gate_parts
from attncalc.declare.mistake import Mistake, NotThere, Rule, Scope, chosen, like, parts, remade, replaced, wrong
from attncalc.language.graph import Node, inside
from attncalc.language.ops import concat, part_of, sigmoid, stack, tanh, total
from attncalc.mistakes.embeddings import PATCHES
from attncalc.mistakes.projections import no_bias, weights_transposed

# Convolution


def _backwards(x: Node, name: str) -> Node:
    size = next(axis.size for axis in x.axes if axis.name == name)
    return concat([part_of(x, name, i, i + 1) for i in reversed(range(size))], name)


def _flipped(s: Scope) -> Node:
    K = s.kernel
    for name in [name for name in K.names if name in ("k", "kh", "kw")]:
        K = _backwards(K, name)
    return replaced(s.this, s.kernel, K)


def _each_channel(s: Scope) -> Node:
    """Everything added up but the channels."""
    if "c" not in s.kernel.names:
        raise NotThere("channels")
    return total(total(s.products, "kw"), "kh")


def _padded(given: Mapping[str, Any]) -> Mapping[str, Any]:
    if any(given["padding"]):
        raise NotThere("no padding")
    return {"padding": (1,)}


EDGES = "How many zeros stand beyond each edge?"

CONV = (
    # BlazeFace's issue 3
    wrong(
        "conv-depthwise-summed",
        options=chosen(depthwise={True: False}),
        says="the channels summed",
        hint="Does a channel of the result see the other channels?",
    ),
    wrong(
        "conv-flipped",
        "products",
        _flipped,
        says="the kernel turned round, as in a mathematical convolution",
        hint="Is the kernel turned round before it slides over the input?",
        kind="convention",
    ),
    wrong("conv-no-padding", options={"padding": (0,)}, says="without the padding", hint=EDGES),
    wrong("conv-padding-added", options=_padded, says="a zero on each side, where none was asked for", hint=EDGES),
    wrong(
        "conv-stride-ignored",
        options={"stride": (1,)},
        says="the window moves by one place",
        hint="How far does the window move each time?",
    ),
    wrong(
        "conv-dilation-ignored",
        options={"dilation": (1,)},
        says="the entries of the window are neighbours",
        hint="How far apart are the entries under the kernel?",
    ),
    wrong(
        "conv-kernel-transposed",
        "products",
        lambda s: replaced(s.this, s.kernel, like(s.kernel.T, s.kernel)),
        says="rows and columns of the kernel are exchanged",
        hint="Do the kernel's rows lie along the rows of the image?",
    ),
    wrong(
        "conv-channels-apart",
        "output",
        _each_channel,
        says="one result for every channel, not added up",
        hint="How many numbers does one kernel give at each position?",
    ),
)

# Recurrence


def _in_step(s: Scope, change: Callable[[Node], Node | None]) -> Node:
    """A step with parts of it replaced; NotThere where none is."""
    found = s.this
    for node in inside(s.step):
        other = change(node)
        if other is not None:
            found = replaced(found, node, other)
    if found is s.this:
        raise NotThere(s.step.args["name"])
    return found


def _transposed(*weights: str) -> Rule:
    def rule(s: Scope) -> Node:
        meant = [getattr(s, W) for W in weights]
        return _in_step(
            s,
            lambda node: (
                node.sources[0] @ like(node.sources[1].T, node.sources[1])
                if node.op == "matmul" and node.sources[1] in meant
                else None
            ),
        )

    return rule


def _unbiased(s: Scope) -> Node:
    return _in_step(s, lambda node: node.sources[0] if node.op == "add" and node.sources[1] is s.b else None)


def _forgetful(s: Scope) -> Node:
    return _in_step(s, lambda node: 0 * node if node.op == "matmul" and node.sources[1] is s.wh else None)


def _in_place_of_tanh(other: Callable[[Node], Node]) -> Rule:
    return lambda s: _in_step(s, lambda node: other(node.sources[0]) if node.op == "tanh" else None)


def _input_alone_bent(s: Scope) -> Node:
    from_input, from_state = parts(parts(s.this, "tanh")[0], "add")
    return like(tanh(from_input) + from_state, s.this)


def _lstm_gates(order: str) -> Rule:
    """The gates, where the columns are taken to hold them in this order."""

    def rule(s: Scope) -> Node:
        columns = dict(zip(order, gate_parts(s.when("kind", "lstm").sums, 4), strict=True))
        return stack([tanh(columns[gate]) if gate == "g" else sigmoid(columns[gate]) for gate in GATES["lstm"]], "gate")

    return rule


def _gru_gates(s: Scope) -> Node:
    s.when("kind", "gru")
    (a_z, a_r, a_n), (u_z, u_r, u_n) = gate_parts(s.from_input, 3), gate_parts(s.from_state, 3)
    r = sigmoid(a_r + u_r)
    return stack([r, sigmoid(a_z + u_z), tanh(a_n + r * u_n)], "gate")


def _reset_before(s: Scope) -> Node:
    r, z, _ = parts(s.when("kind", "gru").this, "stack")
    state, W = parts(s.from_state, "matmul")
    size = state.shape[-1]
    new = like((r * state) @ part_of(W, "gates", 2 * size, 3 * size), z)
    return stack([r, z, tanh(gate_parts(s.from_input, 3)[2] + new)], "gate")


def _of_two_products(change: Callable[[Sequence[Node], Sequence[Node]], Node]) -> Rule:
    """A sum of two products made in another way of their factors."""
    return remade("add", lambda first, second: change(parts(first, "mul"), parts(second, "mul")))


RNN = (
    *(
        replace(weights_transposed("hidden"), rule=_transposed(*weights))
        for weights in (("wx", "wh"), ("wh",), ("wx",))
    ),
    replace(no_bias("hidden sums from_input"), rule=_unbiased),
    wrong(
        "rnn-no-state",
        "hidden sums from_state",
        _forgetful,
        says="x·W_x alone, without the previous state",
        hint="What does the network remember of the step before?",
    ),
    wrong(
        "rnn-no-tanh",
        "hidden",
        _in_place_of_tanh(lambda x: x),
        says="without tanh",
        hint="Between which two numbers does every entry of a state lie?",
    ),
    wrong(
        "rnn-no-tanh",
        "gates",
        _in_place_of_tanh(lambda x: x),
        says="without tanh for the new content",
        hint="Between which two numbers does every entry of the new content lie?",
    ),
    wrong(
        "rnn-sigmoid-for-tanh",
        "hidden",
        _in_place_of_tanh(sigmoid),
        says="a sigmoid in place of tanh",
        hint="Can an entry of a state be below 0?",
    ),
    wrong(
        "rnn-tanh-of-input",
        "hidden",
        _input_alone_bent,
        says="tanh(x·W_x) + h·W_h: the state is added after tanh",
        hint="Where does the bracket of tanh close?",
    ),
    wrong(
        "rnn-sigmoid-for-content",
        "gates",
        _in_place_of_tanh(sigmoid),
        says="a sigmoid in place of tanh for the new content",
        hint="Which of the gates may be below 0?",
    ),
    *(
        wrong(
            "rnn-gate-order",
            "gates",
            rule,
            says="the gates' columns in another order, as other libraries have them",
            hint="Which columns belong to which gate?",
            kind="convention",
        )
        for rule in (_gru_gates, _lstm_gates("iofg"), _lstm_gates("igfo"))
    ),
    wrong(
        "lstm-gates-swapped",
        "cell",
        _of_two_products(lambda kept, added: added[0] * kept[1] + kept[0] * added[1]),
        says="i ⊙ c + f ⊙ g: the gates are exchanged",
        hint="Which gate says what to keep, and which what to add?",
    ),
    wrong(
        "gru-update-swapped",
        "hidden",
        _of_two_products(lambda new, old: old[0] * new[1] + new[0] * old[1]),
        says="z ⊙ n + (1 − z) ⊙ h",
        hint="Does z near 1 keep the old state here, or take the new one?",
        kind="convention",
    ),
    wrong(
        "gru-reset-before",
        "gates",
        _reset_before,
        says="(r ⊙ h)·W_h in place of r ⊙ (h·W_h)",
        hint="What does r hold back: the state, or the product with it?",
        kind="convention",
    ),
)


MISTAKES: dict[str, tuple[Mistake, ...]] = {"patch-embed": PATCHES, "conv": CONV, "rnn": RNN}
"""Calculation → its mistakes, the commonest first."""
