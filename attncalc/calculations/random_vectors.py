"""Experiments with random vectors: what happens to angles, distances and scores as dimensions are added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from attncalc.common.errors import OptionError, amount
from attncalc.declare.calculation import calculation
from attncalc.declare.operands import ABOVE_0, AT_LEAST_1, FROM_0_ON, Exercise
from attncalc.language.axes import Axis
from attncalc.language.graph import Node, constant, constants, group, label, note, output, step
from attncalc.language.ops import listed, mean, over_all, peak, random_normal, root_of_sum, softmax, sqrt, total

Trials = Annotated[int, "the number of trials for each", AT_LEAST_1]
Seed = Annotated[int, "the seed of the random numbers: the same seed gives the same numbers", FROM_0_ON]

ABOUT = {
    "mean_cosine": "A dot product is a sum of products, each of which is positive as often as negative.",
    "spread": "1/√n is 0.71 for n = 2 and 0.04 for n = 512, where nearly all pairs are within 8° of a right angle.",
    "distance_ratio": "Distances gather around √(2n) while their spread stays near 1, so the nearest neighbour is "
    "hardly nearer than any other.",
    "predicted_variance": "The variance of a product of two numbers whose means are 0 is σ²·σ². With means μ it is σ⁴ "
    "+ 2·μ²·σ², and the rule d_k·σ⁴ no longer holds.",
    "sampled_variance": "The more trials, the nearer to the prediction: with 4,000 scores it is off by about 2 %.",
    "max_weight_unscaled": "A score that leads by 5 gets e⁵ ≈ 148 times the weight of the next one. Once one weight "
    "is 1, the slopes p·(1 − p) of the softmax are 0.",
    "max_weight_scaled": "Equal weights for the eight keys would be 0.125 each.",
}
"""What a teacher would add to the reason of a step."""

KEYS = 8
"""How many keys a query of the scaling experiment is compared with."""
MOST_DRAWN = 50_000_000  # random numbers at once, some 400 MB


@calculation(
    reference="Aggarwal, Hinneburg and Keim 2001, On the Surprising Behavior of Distance Metrics in High Dimensional "
    "Space; Vershynin 2018, High-Dimensional Probability, section 3.3",
    pictures=("mean_cosine", "spread", "distance_ratio"),
    exercise=Exercise(refused="it draws random vectors by the hundred", instead="quiz cosine has two of them"),
)
def concentration(
    *,
    n: Annotated[tuple[int, ...], "the dimensions to try"] = (2, 8, 32, 128, 512),
    trials: Trials = 1000,
    seed: Seed = 0,
) -> tuple[Node, Node, Node]:
    """Random vectors become orthogonal, and their distances alike, as dimensions are added.

    In each trial two vectors are drawn from N(0, 1). Their cosine is 0 on average, with a standard deviation of 1/√n,
    so nearly all pairs are nearly at right angles once n is large. Distances are near √(2n), and the farthest pair
    is hardly farther apart than the nearest: the ratio of the two falls towards 1.
    """
    _must_be_drawable("--n", n, trials)
    cosines, spreads, ratios = [], [], []
    for size in n:
        with group(f"n={size}"):
            drawn = (Axis("trial", trials), Axis("entry", size))
            x, y = (output(name, random_normal(drawn, seed, size, i)) for i, name in enumerate("xy"))
            norms = root_of_sum(total(x**2), x, 2) * root_of_sum(total(y**2), y, 2)
            cosine = output("cosines", total(x * y) / norms)
            average = output("average", mean(cosine))
            cosines.append(mean(cosine))
            spreads.append(sqrt(output("variance", mean((cosine - average) ** 2))))
            distance = output("distances", root_of_sum(total((x - y) ** 2), x - y, 2))
            farthest, nearest = output("farthest", peak(distance)), output("nearest", -peak(-distance))
            ratios.append(farthest / nearest)
    label("n", [str(size) for size in n])
    said = amount(trials, "pair")
    note(f"{said} of vectors from N(0, 1) for each n, seed {seed}: the same seed draws the same vectors")
    center = _told("mean_cosine", listed(cosines, "n"), "no direction is preferred, so the angle is 90° on average")
    spread = _told(
        "spread", listed(spreads, "n"), "the standard deviation of the cosines: about 1/√n, smaller and smaller"
    )
    ratio = _told(
        "distance_ratio", listed(ratios, "n"), "the largest distance over the smallest: near 1, all distances are alike"
    )
    return ratio, center, spread


@calculation(
    pictures=("sampled_variance", "max_weight_unscaled", "max_weight_scaled"),
    reference="Vaswani et al. 2017, Attention Is All You Need, section 3.2.1, footnote 4",
    exercise=Exercise(
        refused="it draws random vectors by the hundred", instead="quiz attention has the step that divides by √d_k"
    ),
)
def scaling(
    *,
    dk: Annotated[tuple[int, ...], "the widths of queries and keys to try"] = (4, 16, 64, 256, 1024),
    sigma: Annotated[float, "the standard deviation of their entries", ABOVE_0] = 1,
    trials: Trials = 500,
    seed: Seed = 0,
) -> tuple[Node, Node, Node, Node]:
    """Why scores are divided by √d_k: what happens to softmax without it.

    A score is a sum of d_k products, each of variance σ⁴ (σ is the standard deviation of the entries, whose mean is
    0), so its variance is d_k·σ⁴. In each trial one query is compared with eight keys. Unscaled, the largest weight
    tends to 1 as d_k grows: softmax picks a single key, and its gradient vanishes. Divided by √d_k it stays put.
    """
    _must_be_drawable("--dk", dk, trials * KEYS)
    variances, unscaled, scaled = [], [], []
    deviation = constant(sigma, "sigma", "sigma")
    for size in dk:
        with group(f"dk={size}"):
            trial, m, width = Axis("trial", trials), Axis("m", KEYS), Axis("d_k", size)
            query = output("query", deviation * random_normal((trial, width), seed, size, 0))
            keys = output("keys", deviation * random_normal((trial, m, width), seed, size, 1))
            scores = output("scores", total(query * keys))
            average = output("average", over_all(mean, scores))
            variances.append(over_all(mean, output("squares", (scores - average) ** 2)))
            unscaled.append(mean(output("largest", peak(softmax(scores)))))
            scaled.append(mean(output("largest_scaled", peak(softmax(scores / sqrt(query.size("d_k")))))))
    sizes = Axis("dk", len(dk))
    label(sizes.name, [str(size) for size in dk])
    said = amount(trials, "query", "queries")
    note(f"{said} and {KEYS} keys for each, from N(0, σ²) with σ = {float(sigma):g}, seed {seed}")
    predicted = constants(dk, sizes, "d_k") * deviation**4
    predicted = _told(
        "predicted_variance", predicted, "variances add up: d_k products of variance σ⁴ each (their means must be 0)"
    )
    sampled = _told(
        "sampled_variance", listed(variances, "dk"), "the variance of the random scores, to compare with the prediction"
    )
    alone = _told(
        "max_weight_unscaled",
        listed(unscaled, "dk"),
        "the larger d_k, the further apart scores lie, and the more weight softmax puts on the best key",
    )
    tamed = _told("max_weight_scaled", listed(scaled, "dk"), "divided by √d_k, scores have variance σ⁴ whatever d_k is")
    return tamed, predicted, sampled, alone


def _told(name: str, value: Node, why: str) -> Node:
    return step(name, value, why, about=ABOUT[name])


def _must_be_drawable(flag: str, sizes: Sequence[int], rows: int) -> None:
    if not sizes or min(sizes) < 1:
        raise OptionError(f"{flag} takes dimensions of at least 1, such as 2,8,32")
    if len(set(sizes)) < len(sizes):
        raise OptionError(f"{flag} names a dimension twice")
    if rows * max(sizes) > MOST_DRAWN:
        raise OptionError(
            f"{rows} × {max(sizes)} random numbers at once are more than {MOST_DRAWN:,}", hint="take fewer --trials"
        )
