"""The formulas, one file for each family, and the table of their names, by which a file is imported when needed."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attncalc.common.errors import OptionError, both, either, near, quoted
from attncalc.common.system import NamedTuple

if TYPE_CHECKING:  # help is written before NumPy is loaded
    from attncalc.declare.calculation import Calculation
    from attncalc.declare.operands import Operand, Option, Shape


# The words of help and reference cards for operands, options, and the derivatives that any calculation may have.


def value_word(option: Option) -> str:
    """What an option takes: `N`, `NUMBER|none`, `N,N,…`; "" where it is a switch."""
    kinds = ["NUMBER"] if float in option.types else ["N"] if int in option.types else []
    kinds = ["NAME=NUMBER,…", *kinds] if dict in option.types else kinds
    kinds += option.choices or (["WORD"] if str in option.types else [])
    words = "|".join(kinds)
    return f"{words},{words},…" if option.many else words


def default_word(option: Option) -> str:
    """The default as one would type it: `10000`, `1e-05`, `2,8,32`; a switch is `on`; "" where there is none."""
    return "" if option.default is None or option.default is False else typed(option.default)


def typed(value: Any) -> str:
    """The value of an option as one would type it."""
    if value is True:
        return "on"
    if isinstance(value, tuple):
        return ",".join(map(typed, value))
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def operand_words(operand: Operand) -> str:
    """The operand's type as Python spells it: `Numbers | Literal["alibi"] | None`."""
    kinds = {"expression": "str", "tokens": "Numbers | str", "model": "Mapping[str, object]"}
    kinds |= {"checkpoint": "str | PathLike[str]"}
    words = ", ".join(f'"{word}"' for word in operand.words)
    found = [kinds.get(operand.kind, "Numbers"), *([f"Literal[{words}]"] if words else [])]
    return " | ".join([*found, *([] if operand.required else ["None"])])


def type_words(option: Option) -> str:
    """The option's type as Python spells it: `float | Literal["default", "none"]`, `int | Iterable[int] | None`."""
    kinds = {bool: "bool", int: "int", float: "Number", str: "str", dict: "Mapping[str, Number] | str"}
    found = [kinds[kind] for kind in option.types if kind is not str or not option.choices]
    if option.choices:
        words = ", ".join(f'"{word}"' for word in option.choices)
        found.append(f"Literal[{words}]")
    if option.many:
        found += [f"Iterable[{' | '.join(found)}]"]
    return " | ".join([*found, *(["None"] if option.default is None else [])])


def shape_words(operand: Operand) -> str:
    """`[n, (h d_k)]`, alternatives with `or`; a single number has no axes, and a formula is text."""
    words = {"expression": "text", "checkpoint": "a folder"}
    return words.get(operand.kind) or either(map(_shape, operand.shapes))


def _shape(shape: Shape) -> str:
    axes = (axis if isinstance(axis, str) else f"({' '.join(axis)})" for axis in shape)
    return f"[{', '.join(axes)}]"


class Derivative(NamedTuple):
    """What is said of a derivative, and the options that are its own."""

    says: str  # with a place for the calculation's name
    options: Mapping[str, tuple[str, str]]  # name → what it takes ("" for a switch), and its purpose


DERIVATIVES = {
    "grad": Derivative(
        "The backward pass of {}.",
        {
            "wrt": ("NAME,NAME,…", "only these gradients"),
            "gradcheck": ("", "compare each gradient with central differences"),
        },
    ),
    "jacobian": Derivative(
        "The Jacobian of {}: how every entry of the result changes with every entry of an operand.",
        {"wrt": ("NAME,NAME,…", "only with respect to these")},
    ),
}
"""The word before a calculation's name → the derivative."""


TABLE: dict[str, tuple[str, str]] = {
    "dot": ("vectors", "Multiply two vectors entry by entry and add up the products."),
    "outer": ("vectors", "Multiply every entry of one vector by every entry of another."),
    "norm": ("distances", "The length of a vector."),
    "cosine": ("vectors", "How closely two vectors point in the same direction, whatever their lengths."),
    "euclidean": ("distances", "The straight-line distance between two points."),
    "manhattan": ("distances", "The distance between two points when every move is along an axis."),
    "chebyshev": ("distances", "The largest difference between two points along any axis."),
    "minkowski": ("distances", "The family of distances that includes Manhattan (p = 1) and Euclidean (p = 2)."),
    "pairwise": ("similarity", "The similarity or distance between every row of x and every row of y, or of x itself."),
    "project": ("vectors", "The shadow of a vector on another vector or on a subspace."),
    "mips": ("similarity", "Find the keys with the largest inner product with a query."),
    "analogy": ("similarity", "Solve an analogy: the vectors of a vocabulary that are nearest to a − b + c."),
    "matmul": ("matrices", "Multiply matrices: each row of the left one with each column of the right one."),
    "eigen": ("matrices", "The directions that a matrix only stretches, and by how much."),
    "svd": ("matrices", "Any matrix as a rotation, a stretch along the axes, and another rotation."),
    "softmax": ("probability", "Turn scores into probabilities: positive shares that sum to 1."),
    "log-softmax": ("probability", "The logarithm of the softmax, computed so that nothing overflows or vanishes."),
    "cross-entropy": (
        "losses",
        "How surprised a model is by the right classes: −log of the probability that it gave them.",
    ),
    "next-token-loss": ("losses", "How surprised a language model is by each next token: the mean of −ln p(token)."),
    "perplexity": ("losses", "How many equally likely choices a model is left with, on average."),
    "expectation": ("statistics", "What a quantity is on average, and how far it strays from that."),
    "entropy": ("probability", "How uncertain a distribution is: the average surprise of its outcomes."),
    "kl": ("probability", "How much is lost by using q when p is true: the Kullback–Leibler divergence D(p‖q)."),
    "bayes": ("statistics", "How likely each hypothesis is once something has been observed."),
    "likelihood": (
        "statistics",
        "How likely observations are under a distribution, and which parameters would make them most likely.",
    ),
    "contrastive-loss": ("preferences", "How well each row finds the one that it belongs to among all the others."),
    "preference-loss": ("preferences", "What a language model learns from being preferred, or from being rewarded."),
    "sampling": (
        "sampling",
        "Choose the next token: scores become shares, filters leave some of them, and a random number picks one.",
    ),
    "speculative": (
        "sampling",
        "Keep what a small model has drafted, or draw another token, so that the large one's shares stay true.",
    ),
    "beam": (
        "sampling",
        "Search for a likely text: keep the best few beginnings, make each longer by every token, and so on.",
    ),
    "qkv": ("attention", "Project tokens to queries, keys and values."),
    "attention": ("attention", "Each query mixes the values, weighting each by how well its key fits the query."),
    "multihead": ("multihead", "Several attention heads side by side, each on its own block of columns."),
    "kv-cache": (
        "attention_in_pieces",
        "Causal attention one token at a time, keeping the keys and values of past tokens.",
    ),
    "flash": (
        "attention_in_pieces",
        "Attention one block of keys at a time, without ever holding a whole row of scores.",
    ),
    "concentration": (
        "random_vectors",
        "Random vectors become orthogonal, and their distances alike, as dimensions are added.",
    ),
    "scaling": ("random_vectors", "Why scores are divided by √d_k: what happens to softmax without it."),
    "complexity": (
        "complexity",
        "What a transformer costs: operations, parameters, bytes, and whether arithmetic or memory is the bottleneck.",
    ),
    "latent-attention": (
        "latent_attention",
        "Attention whose keys and values come from one narrow vector for each token, which is cached in their place.",
    ),
    "linear-attention": (
        "recurrences",
        "Causal attention whose weights are products of features, so that one state stands for all tokens so far.",
    ),
    "ssm": (
        "recurrences",
        "A selective state space model, Mamba's scan: each token says how much of the state fades and what is written.",
    ),
    "sinusoidal": ("positions", "Encode each position by sines and cosines of many wavelengths."),
    "rope": ("rope", "Rotate pairs of a vector's entries by angles that grow with its position."),
    "alibi": ("position_biases", "Lower each score in proportion to the distance between its query and key."),
    "t5-bias": ("position_biases", "Sort relative positions into buckets, and look up each head's bias for them."),
    "layernorm": (
        "normalisation",
        "Give every token mean 0 and variance 1 over its features, then a learned gain and shift.",
    ),
    "rmsnorm": ("normalisation", "Give every token a root mean square of 1 over its features, then a learned gain."),
    "batchnorm": (
        "normalisation",
        "Give every feature mean 0 and variance 1 over the samples of a batch, then a learned gain and shift.",
    ),
    "groupnorm": (
        "normalisation",
        "Give every group of channels mean 0 and variance 1 over all its places, then a learned gain and shift.",
    ),
    "activation": (
        "activations",
        "Apply a nonlinear function to each number: without one, two layers would be a single matrix.",
    ),
    "ffn": ("layers", "Process every token by itself: up to a wider space, a nonlinear function, and back."),
    "residual": ("layers", "Add a sublayer's output to its input."),
    "embed": ("layers", "Look up a vector for every token, and add one for its position."),
    "encoder-block": (
        "transformer_blocks",
        "One layer of an encoder: each token attends to all, then is processed by itself.",
    ),
    "decoder-block": (
        "transformer_blocks",
        "One layer of a decoder: attend to the tokens so far, then to the encoder's output, then process each token.",
    ),
    "decoder-only": (
        "transformer_blocks",
        "One layer of a language model of today: attend to the tokens so far, then process each token.",
    ),
    "transformer": (
        "transformer",
        "Read a sentence with a stack of encoder layers, and write another, token by token, with decoder layers.",
    ),
    "conv": ("sequence", "Slide a small kernel over an input and measure, at every position, how well the two match."),
    "rnn": ("sequence", "Read a sequence one step at a time, with a state that remembers."),
    "patch-embed": ("sequence", "Cut an image into patches, and make each of them a token."),
    "unembed": ("layers", "Turn vectors back into words: how well each fits every row of the embedding table."),
    "lora": ("layers", "A layer whose weights are frozen, with a trained change of low rank beside it."),
    "experts": ("experts", "Send each token to the few experts that suit it, and mix what they make of it."),
    "quantize": (
        "quantisation",
        "Store numbers in few bits: codes and the scale that they are multiplied by, and what is lost.",
    ),
    "bpe": (
        "subwords",
        "Byte-pair encoding: letters that often stand side by side become tokens, the commonest pair first.",
    ),
    "derivative": ("calculus", "How fast a function rises at a point: the limit of the slopes of ever shorter chords."),
    "gradient": (
        "calculus",
        "The slope of a function in each of its variables; together they point where it rises fastest.",
    ),
    "descend": ("descent", "Walk downhill from a point, step by step, against the gradient."),
    "optimizer": (
        "optimisation",
        "Follow given gradients from a point: the moments, corrections and update of every step.",
    ),
    "schedule": ("schedules", "The learning rate at every step: first a warm-up, then a decay."),
    "linear-regression": (
        "networks",
        "Fit a straight line: predict, measure the error, and move the weights against their gradients.",
    ),
    "mlp": (
        "networks",
        "Train a network: forward to the loss, backward to every weight's gradient, then a step against it.",
    ),
}
"""Name → (module, one line), made from the modules by docs/generate.py."""

WHOLE: dict[str, tuple[str, str]] = {
    "model": (
        "language_model",
        "Compute a model as it is stored: the logits of every position, the loss, and the likeliest next tokens.",
    ),
}
"""The same for calculations on a checkpoint, too large for samples, quizzes and exact forms."""

FAMILIES: dict[str, str] = {
    module: heading
    for heading, modules in {
        "Vectors and distances": "vectors distances similarity",
        "Matrices": "matrices",
        "Probability": "probability losses preferences sampling statistics",
        "Attention": "attention multihead attention_in_pieces latent_attention recurrences random_vectors complexity",
        "Positions": "positions position_biases rope",
        "Layers": "normalisation activations layers transformer_blocks experts quantisation transformer sequence "
        "subwords",
        "Optimisation and training": "calculus descent optimisation schedules networks",
    }.items()
    for module in modules.split()
}
"""Module → the heading under which its calculations are listed."""


ALIASES: dict[str, tuple[str, ...]] = {
    **{
        word: (name,)
        for name, words in {
            "attention": "attn sdpa self-attention scaled-dot-product-attention",
            "batchnorm": "bn",
            "cosine": "cosine-similarity",
            "cross-entropy": "ce nll xent",
            "dot": "dot-product inner-product",
            "experts": "moe",
            "ffn": "feed-forward feedforward",
            "flash": "flash-attention",
            "kl": "kl-div kl-divergence",
            "latent-attention": "mla",
            "matmul": "mm",
            "multihead": "mha multi-head-attention",
            "perplexity": "ppl",
            "rope": "rotary",
            "sinusoidal": "pe positional-encoding",
            "ssm": "mamba",
        }.items()
        for word in words.split()
    },
    "sgd": ("optimizer", "--kind", "gd"),
    "swish": ("activation", "--kind", "silu"),
    **{kind: ("ffn", "--activation", kind) for kind in ("swiglu", "geglu", "reglu", "glu")},
    **{
        kind: (name, "--kind", kind)
        for name, kinds in {
            "activation": "relu leaky-relu elu sigmoid tanh gelu gelu-tanh gelu-sigmoid silu softplus",
            "optimizer": "gd momentum nesterov adagrad rmsprop adam adamw lion muon",
            "schedule": "noam wsd",
            "preference-loss": "dpo ppo grpo",
            "contrastive-loss": "clip infonce",
            "rnn": "gru lstm",
        }.items()
        for kind in kinds.split()
    },
}
"""Natural name → the calculation and option that it stands for: `adam` is `optimizer --kind adam`."""


def families() -> dict[str, list[tuple[str, str]]]:
    """Heading → the (name, one line) of each calculation under it."""
    found: dict[str, list[tuple[str, str]]] = {heading: [] for heading in FAMILIES.values()}
    for name, (module, line) in TABLE.items():
        found[FAMILIES[module]].append((name, line))
    return found


def unknown(name: str) -> OptionError:
    """The error for a name that is none of a calculation."""
    hint = near(name, TABLE) or "attncalc list names them all"
    return OptionError(f"there is no calculation called {quoted(name)}", hint=hint)


def neighbours(name: str, option: str, call: str) -> str:
    """A hint: calculations under the same heading that have such an operand or option, and a call of the first."""
    if name not in TABLE:
        return ""
    heading = FAMILIES[TABLE[name][0]]
    others = [load(other) for other, (module, _) in TABLE.items() if other != name and FAMILIES[module] == heading]
    known = [other.name for other in others if option in {o.name for o in other.operands} | other.defaults.keys()][:3]
    return f"{both(known)} {'has' if len(known) == 1 else 'have'} it: {call.format(known[0])}" if known else ""


def load(name: str) -> Calculation:
    """The calculation called `name`; only its module is imported."""
    known = TABLE | WHOLE
    if name not in known:
        raise unknown(name)
    module = importlib.import_module(f"attncalc.calculations.{known[name][0]}")
    found: Calculation = getattr(module, name.replace("-", "_"))
    return found
