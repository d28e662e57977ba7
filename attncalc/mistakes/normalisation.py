"""Mistakes of normalisation: over which axis it is, where ε is added, what is left out."""

from __future__ import annotations

from dataclasses import replace

from attncalc.declare.mistake import Mistake, Scope, alternative, parts, wrong
from attncalc.language.graph import Node
from attncalc.language.ops import mean, total
from attncalc.mistakes.layer_norm import (
    LAYER,
    MEAN_HELD,
    MEAN_SIZE,
    OF_EACH_NORM,
    PLUS_ONE,
    RMS,
    STATISTICS_HELD,
    WHAT_ELSE,
    another_epsilon,
    divisor,
)


def _of_inputs(s: Scope) -> Node:
    parts(s.this, "sum")
    return total(s.grad_output * s.x, s.this.args["over"])


def _by_normalized(s: Scope) -> Node:
    """The gradient of x from the normalised entries alone, as books put it together."""
    over = (s.mean if "mean" in s else s.mean_square).sources[0].args["over"]
    along = s.grad_normalized - s.normalized * mean(s.grad_normalized * s.normalized, over)
    return (along - mean(s.grad_normalized, over) if "mean" in s else along) / divisor(s)


def _by_inputs(s: Scope) -> Node:
    """The gradient of x from x itself and the power of the root mean square."""
    over, rms = s.mean_square.sources[0].args["over"], s.root_mean_square
    return s.grad_normalized / rms - s.x * (mean(s.grad_normalized * s.x, over) / rms**3)


def _by_power(s: Scope) -> Node:
    """The gradient of a variance at once, past that of its root."""
    along = total(s.grad_normalized * s.centered, s.mean.sources[0].args["over"])
    return along * (-(s.standard_deviation**-3) / 2)


GRADIENTS = (
    *OF_EACH_NORM,
    wrong(
        "dln-statistics-fixed",
        "grad_x",
        lambda s: s.grad_normalized / divisor(s),
        says=STATISTICS_HELD,
        hint=WHAT_ELSE,
    ),
    wrong("dln-mean-fixed", "grad_x", lambda s: s.grad_centered, says=MEAN_HELD, hint=WHAT_ELSE),
    wrong(
        "dln-gamma-of-x",
        "grad_gamma",
        _of_inputs,
        says="dγ = Σ(dy ⊙ x), of what is not normalised yet",
        hint="What does γ multiply?",
    ),
    wrong(
        "dln-mean-of-rows",
        "grad_gamma grad_beta",
        lambda s: mean(parts(s.this, "sum")[0], s.this.args["over"]),
        says="dγ and dβ are means over the rows",
        hint="Does every row add to this gradient, or is it an average?",
    ),
)
"""Mistakes of the backward pass."""
_FROM_NORMALIZED, _FROM_DIVIDED = (
    alternative("dln-by-normalized", "grad_x", _by_normalized, says=f"dx = {says}")
    for says in ("(dx̂ − mean(dx̂) − x̂ ⊙ mean(dx̂ ⊙ x̂)) / σ", "(dx̂ − x̂ ⊙ mean(dx̂ ⊙ x̂)) / rms")
)
_BY_POWER = alternative("dln-by-power", "grad_variance", _by_power, says="dσ² = Σ(dx̂ ⊙ (x − μ))·(−½)·σ⁻³")
_BY_INPUTS = alternative("drms-by-inputs", "grad_x", _by_inputs, says="dx = dx̂ / rms − x ⊙ mean(dx̂ ⊙ x) / rms³")
_OF_A_MEAN = ("dln-divisor-fixed", "dln-mean-fixed")  # these need a mean, which the RMS norm lacks


def _over(count: str) -> tuple[Mistake, ...]:
    """Mistakes of a norm whose statistics are not those of a token, by what the entries of one are counted as."""
    sample = f"the variance divides by {count} − 1"
    return tuple(replace(m, says=sample) if m.id == "ln-ddof1" else m for m in LAYER if m.id != "ln-axis0")


_OF_A_VECTOR = ["ln-no-affine", "ln-no-center", "ln-no-beta", "ln-affine-first", "ln-gamma-beta-swapped"]
"""Their texts assume a gain for each normalised entry; a group has one for each channel."""


MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "layernorm": (_FROM_NORMALIZED, _BY_POWER, *LAYER, MEAN_SIZE, PLUS_ONE, *GRADIENTS, *another_epsilon("ln")),
    "batchnorm": (_FROM_NORMALIZED, _BY_POWER, *_over("n"), *GRADIENTS, *another_epsilon("ln")),
    "groupnorm": (
        wrong(
            "gn-one-group",
            options={"groups": 1},
            says="one group of all channels",
            hint="How many groups do the channels form?",
        ),
        # the sample's variance: pytorch's issue 22617, pytorch-groupnormalization's issue 7
        *(m for m in _over("k") if m.id not in _OF_A_VECTOR),
        *another_epsilon("ln"),
    ),
    "rmsnorm": (
        _FROM_DIVIDED,
        _BY_INPUTS,
        *RMS,
        PLUS_ONE,
        *(m for m in GRADIENTS if m.id not in _OF_A_MEAN),
        *another_epsilon("rms"),
    ),
}
"""Calculation → its mistakes, the commonest first."""
