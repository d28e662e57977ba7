"""What attncalc can calculate: the literal table of names, from which only what is called is imported."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from attncalc.errors import OptionError
from attncalc.text import near, quoted

if TYPE_CHECKING:
    from attncalc.calculation import Calculation

TABLE: dict[str, tuple[str, str]] = {
    "dot": ("vectors", "Multiply two vectors entry by entry and add up the products."),
    "outer": ("vectors", "Multiply every entry of one vector by every entry of another."),
    "norm": ("distances", "The length of a vector."),
    "cosine": ("vectors", "How nearly two vectors point the same way, whatever their lengths."),
    "euclidean": ("distances", "The straight-line distance between two points."),
    "manhattan": ("distances", "The distance between two points along the axes."),
    "chebyshev": ("distances", "The largest difference between two points along any axis."),
    "minkowski": ("distances", "The family of distances that holds Manhattan (p = 1) and Euclid (p = 2)."),
    "pairwise": ("similarity", "The similarity or the distance of every row of x to every row of y."),
    "project": ("vectors", "The shadow of a vector on another vector or on a subspace."),
    "mips": ("similarity", "Find the keys with the largest inner product with a query."),
    "analogy": ("similarity", "Solve a − b + c by the nearest vector of a vocabulary."),
    "matmul": ("matrices", "Multiply matrices: rows of the left with columns of the right."),
    "eigen": ("matrices", "The directions that a matrix only stretches, and by how much."),
    "svd": ("matrices", "Any matrix as a turn, a stretch along the axes, and another turn."),
    "softmax": ("probability", "Turn scores into shares that are positive and sum to 1."),
    "log-softmax": ("probability", "The logarithms of the softmax, without leaving the safe range of numbers."),
    "cross-entropy": (
        "losses",
        "How surprised a model is by the right classes: −log of the probability that it gave them.",
    ),
    "next-token-loss": ("losses", "How surprised a language model is by each next token: the mean of −ln p(token)."),
    "perplexity": ("losses", "How many equally likely choices a model has been left with, on average."),
    "expectation": ("statistics", "What a quantity is on average, and how far it strays from that."),
    "entropy": ("probability", "How uncertain a distribution is: the surprise that it holds on average."),
    "kl": ("probability", "How much is lost by taking q where p holds: the Kullback–Leibler divergence of q from p."),
    "bayes": ("statistics", "How likely each hypothesis is after something was seen."),
    "likelihood": (
        "statistics",
        "How likely observations are under a distribution, and which parameters would make them likeliest.",
    ),
    "qkv": ("attention", "Project tokens to queries, keys and values."),
    "attention": ("attention", "Each query mixes the values, weighted by how well its key fits."),
    "multihead": ("multihead", "Several attentions side by side, each on its own share of the columns."),
    "kv-cache": ("pieces", "Causal attention one token at a time, with the keys and values of the past kept."),
    "flash": ("pieces", "Attention one block of keys at a time, without ever holding a whole row of scores."),
    "concentration": (
        "experiments",
        "Random vectors grow orthogonal, and their distances alike, as dimensions are added.",
    ),
    "scaling": ("experiments", "Why scores are divided by √d_k: what happens to softmax without it."),
    "complexity": (
        "complexity",
        "What a transformer costs: operations, parameters, bytes, and whether arithmetic or memory is the bound.",
    ),
    "sinusoidal": ("positions", "Tell a position by sines and cosines of many wavelengths."),
    "rope": ("rope", "Turn pairs of a vector by angles that grow with its position."),
    "alibi": ("position_biases", "Tell scores how far apart query and key are: the farther, the less."),
    "t5-bias": ("position_biases", "Put relative positions in buckets, and look up each head's bias for them."),
    "layernorm": (
        "normalisation",
        "Give every token mean 0 and variance 1 over its features, then a learned gain and shift.",
    ),
    "rmsnorm": ("normalisation", "Give every token the root mean square 1 over its features, then a learned gain."),
    "batchnorm": (
        "normalisation",
        "Give every feature mean 0 and variance 1 over the samples of a batch, then a learned gain and shift.",
    ),
    "activation": (
        "activations",
        "Bend a number: the step between two matrices without which they would be one matrix.",
    ),
    "ffn": ("layers", "Think about every token by itself: up to a wider space, a bend, and back."),
    "residual": ("layers", "Add what a sublayer found to what went into it."),
    "embed": ("layers", "Look up a vector for every token, and add one for its place."),
    "encoder-block": ("blocks", "Let every token look around, then think by itself: one layer of an encoder."),
    "decoder-block": (
        "blocks",
        "Look back at what was said, then at what the encoder found, then think: one layer of a decoder.",
    ),
    "transformer": (
        "transformer",
        "Read a sentence with a stack of encoders, and write another, token by token, with a stack of decoders.",
    ),
    "conv": (
        "sequence",
        "Slide a small window over an input and ask, at every place, how much it looks like the kernel.",
    ),
    "rnn": ("sequence", "Read a sequence one step after the other, with a state that remembers."),
    "unembed": ("layers", "Turn vectors back into words: how well each fits every row of the embedding table."),
    "derivative": (
        "calculus",
        "How fast a function rises at a point: what the slopes of ever shorter chords settle at.",
    ),
    "gradient": (
        "calculus",
        "The slopes of a function in all its variables: the direction in which it rises fastest.",
    ),
    "descend": ("descent", "Walk downhill from a point, against the slope, step by step."),
    "optimizer": (
        "optimisation",
        "Follow given gradients from a point: the moments, the corrections and the moves of every step.",
    ),
    "schedule": ("schedules", "The learning rate of every step: a climb, and then a descent."),
    "linear-regression": (
        "networks",
        "Fit a straight line: predict, measure the error, and move the weights against their gradients.",
    ),
    "mlp": (
        "networks",
        "Teach a network: forward to the loss, backward to every weight's gradient, and a step against it.",
    ),
}
"""Name → (module, one line). A test holds it against the modules."""

FAMILIES: dict[str, str] = {
    "vectors": "Vectors and distances",
    "distances": "Vectors and distances",
    "similarity": "Vectors and distances",
    "matrices": "Matrices",
    "probability": "Probability",
    "losses": "Probability",
    "statistics": "Probability",
    "attention": "Attention",
    "multihead": "Attention",
    "pieces": "Attention",
    "experiments": "Attention",
    "complexity": "Attention",
    "positions": "Positions",
    "position_biases": "Positions",
    "rope": "Positions",
    "normalisation": "Layers",
    "activations": "Layers",
    "layers": "Layers",
    "blocks": "Layers",
    "transformer": "Layers",
    "sequence": "Layers",
    "calculus": "Optimisation and training",
    "descent": "Optimisation and training",
    "optimisation": "Optimisation and training",
    "schedules": "Optimisation and training",
    "networks": "Optimisation and training",
}
"""Module → the heading under which its calculations are listed."""


def unknown(name: str) -> OptionError:
    """The error for a name that is none of a calculation."""
    hint = near(name, TABLE) or "attncalc list names them all"
    return OptionError(f"there is no calculation {quoted(name)}", hint=hint)


def load(name: str) -> Calculation:
    """The calculation called `name`; only its module is imported."""
    if name not in TABLE:
        raise unknown(name)
    module = importlib.import_module(f"attncalc.calculations.{TABLE[name][0]}")
    found: Calculation = getattr(module, name.replace("-", "_"))
    return found
