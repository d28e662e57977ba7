"""Matrices taken apart, probability and experiments worked a second time, by loops over plain numbers.

As in witness.py, which holds the other calculations, nothing of attncalc is used here.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

Vector = Sequence[float]
Matrix = Sequence[Vector]
Values = dict[str, Any]

LOGARITHMS: dict[Any, Callable[[float], float]] = {"e": math.log, 2: math.log2, 10: math.log10}


# Matrices


def columns(matrix: Matrix) -> list[list[float]]:
    return [list(column) for column in zip(*matrix, strict=True)]


def times(a: Matrix, b: Matrix) -> list[list[float]]:
    return [[math.fsum(x * y for x, y in zip(row, column, strict=True)) for column in columns(b)] for row in a]


def roots(a: Matrix) -> list[float]:
    """Eigenvalues by size: of two rows by the quadratic formula, of a symmetric matrix by Jacobi's rotations."""
    if len(a) == 2:
        (p, q), (r, s) = a
        half, root = (p + s) / 2, math.sqrt(((p - s) / 2) ** 2 + q * r)
        return sorted([half + root, half - root], key=abs, reverse=True)
    turned = [list(row) for row in a]
    for _ in range(30):
        for i in range(len(a)):
            for j in range(i + 1, len(a)):
                angle = math.atan2(2 * turned[i][j], turned[i][i] - turned[j][j]) / 2
                spin = [[float(k == m) for m in range(len(a))] for k in range(len(a))]
                spin[i][i] = spin[j][j] = math.cos(angle)
                spin[i][j], spin[j][i] = math.sin(angle), -math.sin(angle)
                turned = times(times(spin, turned), columns(spin))
    return sorted((turned[i][i] for i in range(len(a))), key=abs, reverse=True)


def directions(a: Matrix, values: Vector) -> list[list[float]]:
    """A unit vector for each eigenvalue: by Cayley and Hamilton the other factors of the polynomial leave it alone."""
    found = []
    for i in range(len(values)):
        left = [[float(r == c) for c in range(len(a))] for r in range(len(a))]
        for j, other in enumerate(values):
            if i != j:
                left = times(left, [[a[r][c] - other * (r == c) for c in range(len(a))] for r in range(len(a))])
        longest = max(columns(left), key=lambda column: math.hypot(*column))
        found.append(upright(longest))
    return found


def upright(vector: Vector) -> list[float]:
    """Of length 1, the largest entry positive: of several as large the first."""
    largest = max(map(abs, vector))
    first = next(x for x in vector if abs(x) > largest * (1 - 1e-9))
    return [x / math.copysign(math.hypot(*vector), first) for x in vector]


def eigen(a: Matrix) -> Values:
    values = roots(a)
    polynomial = [1.0]
    for value in values:
        polynomial = [x - value * y for x, y in zip([*polynomial, 0.0], [0.0, *polynomial], strict=True)]
    vectors = columns(directions(a, values))
    stretched = [[x * value for x, value in zip(row, values, strict=True)] for row in vectors]
    return {
        "characteristic_polynomial": polynomial,
        "eigenvalues": values,
        "eigenvectors": vectors,
        "a_v": stretched,
        "lambda_v": stretched,
    }


def svd(a: Matrix, rank: int | None = None) -> Values:
    smaller = min(len(a), len(a[0]))
    square = times(a, columns(a))
    squares = roots(square)
    u = directions(square, squares)[:smaller]
    s = [math.sqrt(value) for value in squares[:smaller]]
    vt = [[x / size for x in times([vector], a)[0]] for vector, size in zip(u, s, strict=True)]
    found: Values = {"u": columns(u), "s": s, "vt": vt, "rebuilt": a}
    if rank is not None:
        kept = [[x * size for x, size in zip(row, s[:rank], strict=False)] for row in columns(u)]
        found["approximation"] = times(kept, vt[:rank])
        found["error"] = math.hypot(*s[rank:])
    return found


# Probability


def shares(x: Vector) -> list[float]:
    sizes = [math.exp(e - max(x)) for e in x]
    return [size / math.fsum(sizes) for size in sizes]


def rows_of(x: Any) -> Iterator[Any]:
    """The innermost lists, in order."""
    if isinstance(x[0], list):
        for part in x:
            yield from rows_of(part)
    else:
        yield x


def numbers_of(x: Any) -> list[Any]:
    """The numbers in nested lists, in order."""
    return [y for part in x for y in numbers_of(part)] if isinstance(x, list) else [x]


def like(shape: Any, flat: Iterator[Any]) -> Any:
    """Numbers put back in the places of nested lists."""
    return [like(part, flat) for part in shape] if isinstance(shape, list) else next(flat)


def cross_entropy(
    logits: Any = None,
    target: Any = None,
    probabilities: Any = None,
    class_weights: Vector | None = None,
    from_probabilities: bool = False,
    base: Any = "e",
    reduction: str = "mean",
    label_smoothing: float = 0,
    ignore_index: int | None = None,
) -> Values:
    given = list(rows_of(logits if probabilities is None else probabilities))
    p = given if from_probabilities or probabilities is not None else [shares(row) for row in given]
    logs = [[LOGARITHMS[base](x) for x in row] for row in p]
    classes = len(p[0])
    weights = class_weights or [1.0] * classes
    flat = numbers_of(target)
    soft = len(flat) == len(given) * classes
    losses, counts = [], []
    for i, row in enumerate(logs):
        wanted = flat[i * classes : (i + 1) * classes] if soft else [float(c == flat[i]) for c in range(classes)]
        if not soft and flat[i] == ignore_index:
            losses.append(0.0)
            counts.append(0.0)
            continue
        mixed = [(1 - label_smoothing) * y + label_smoothing / classes for y in wanted]
        losses.append(-math.fsum(w * y * x for w, y, x in zip(weights, mixed, row, strict=True)))
        counts.append(math.fsum(w * y for w, y in zip(weights, wanted, strict=True)))
    one_row = not isinstance((logits if probabilities is None else probabilities)[0], list)
    place = target if not soft else _rows_shape(target)
    each = losses[0] if one_row else like(place, iter(losses))
    loss = {"none": each, "sum": math.fsum(losses), "mean": math.fsum(losses) / math.fsum(counts)}[reduction]
    whole = logits if probabilities is None else probabilities
    return {
        "probabilities": like(whole, iter(numbers_of(p))),
        "log_probabilities": like(whole, iter(numbers_of(logs))),
        "losses": each,
        "loss": loss,
    }


def _rows_shape(target: Any) -> Any:
    """Nested lists with a number in the place of each row."""
    return [_rows_shape(part) for part in target] if isinstance(target[0], list) else 0


def next_token_loss(logits: Matrix, targets: Vector) -> Values:
    p = [shares(row) for row in logits]
    right = [row[int(token)] for row, token in zip(p, targets, strict=True)]
    loss = -math.fsum(map(math.log, right)) / len(right)
    return {
        "probabilities": p,
        "log_likelihood": [math.log(x) for x in right],
        "loss": loss,
        "perplexity": math.prod(1 / x for x in right) ** (1 / len(right)),
    }


def perplexity(probabilities: Vector, base: Any = "e") -> Values:
    logs = [LOGARITHMS[base](p) for p in probabilities]
    return {
        "log_probabilities": logs,
        "mean_negative_log": -math.fsum(logs) / len(logs),
        "perplexity": 1 / statistics.geometric_mean(probabilities),
    }


def expectation(values: Vector, probabilities: Vector | None = None, sample: bool = False) -> Values:
    p = probabilities or [1 / len(values)] * len(values)
    mean = math.fsum(x * y for x, y in zip(values, p, strict=True))
    variance = math.fsum(y * x * x for x, y in zip(values, p, strict=True)) - mean**2
    if sample:
        variance = statistics.variance(values)
    return {
        "products": [x * y for x, y in zip(values, p, strict=True)],
        "mean": mean,
        "deviations": [x - mean for x in values],
        "squares": [(x - mean) ** 2 for x in values],
        "variance": variance,
        "standard_deviation": math.sqrt(variance),
    }


def entropy(p: Vector, base: Any = "e") -> Values:
    logs = [LOGARITHMS[base](x) if x else -math.inf for x in p]
    terms = [x * log if x else 0.0 for x, log in zip(p, logs, strict=True)]
    return {"logs": logs, "terms": terms, "entropy": -math.fsum(terms)}


def kl(p: Vector, q: Vector, base: Any = "e") -> Values:
    log = LOGARITHMS[base]
    terms = [x * (log(x) - log(y)) if x else 0.0 for x, y in zip(p, q, strict=True)]
    ratios = [x / y if x else 0.0 for x, y in zip(p, q, strict=True)]
    return {"ratios": ratios, "terms": terms, "divergence": math.fsum(terms)}


def bayes(prior: Vector, likelihood: Any, observed: int | None = None) -> Values:
    if observed is not None:
        likelihood = [row[observed] for row in likelihood]
    if isinstance(likelihood[0], list):
        each = [bayes(prior, column) for column in columns(likelihood)]
        return {
            "joint": columns([one["joint"] for one in each]),
            "evidence": [one["evidence"] for one in each],
            "posterior": columns([one["posterior"] for one in each]),
        }
    joint = [x * y for x, y in zip(prior, likelihood, strict=True)]
    # By odds: a hypothesis' share is 1 / (1 + the odds against it).
    posterior = [1 / (1 + math.fsum(other for j, other in enumerate(joint) if j != i) / x) for i, x in enumerate(joint)]
    return {"joint": joint, "evidence": math.fsum(joint), "posterior": posterior}


def likelihood(
    observations: Vector,
    probabilities: Vector | None = None,
    distribution: str = "bernoulli",
    p: float = 0,
    mean: float = 0,
    std: float = 1,
    rate: float = 1,
) -> Values:
    x = observations
    if distribution == "bernoulli":
        chances, estimate = [p if one else 1 - p for one in x], statistics.fmean(x)
    elif distribution == "categorical":
        assert probabilities is not None
        chances = [probabilities[int(one)] for one in x]
        estimate = [x.count(c) / len(x) for c in range(len(probabilities))]  # type: ignore[assignment]  # one a class
    elif distribution == "normal":
        chances = [statistics.NormalDist(mean, std).pdf(one) for one in x]
        estimate = [statistics.fmean(x), statistics.pstdev(x)]  # type: ignore[assignment]  # two parameters
    else:
        chances = [math.prod(rate / k for k in range(1, int(one) + 1)) * math.exp(-rate) for one in x]
        estimate = statistics.fmean(x)
    logs = [math.log(chance) for chance in chances]
    return {
        "probabilities": chances,
        "log_probabilities": logs,
        "log_likelihood": math.log(math.prod(chances)),
        "maximum_likelihood_estimate": estimate,
    }


# Experiments


def drawn(shape: tuple[int, ...], *seed: int) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).tolist()


def concentration(n: Sequence[int], trials: int, seed: int) -> Values:
    found: Values = {"mean_cosine": [], "spread": [], "distance_ratio": []}
    for size in n:
        pairs = list(zip(drawn((trials, size), seed, size, 0), drawn((trials, size), seed, size, 1), strict=True))
        cosines = [
            math.fsum(x * y for x, y in zip(a, b, strict=True)) / (math.hypot(*a) * math.hypot(*b)) for a, b in pairs
        ]
        distances = sorted(math.dist(a, b) for a, b in pairs)
        found["mean_cosine"].append(statistics.fmean(cosines))
        found["spread"].append(statistics.pstdev(cosines))
        found["distance_ratio"].append(distances[-1] / distances[0])
    return found


def scaling(dk: Sequence[int], trials: int, seed: int = 0, sigma: float = 1) -> Values:
    found: Values = {
        name: [] for name in ("predicted_variance", "sampled_variance", "max_weight_unscaled", "max_weight_scaled")
    }
    for size in dk:
        queries, keys = drawn((trials, size), seed, size, 0), drawn((trials, 8, size), seed, size, 1)
        scores = [
            [sigma**2 * math.fsum(x * y for x, y in zip(query, key, strict=True)) for key in theirs]
            for query, theirs in zip(queries, keys, strict=True)
        ]
        found["predicted_variance"].append(size * sigma**4)
        found["sampled_variance"].append(statistics.pvariance([x for row in scores for x in row]))
        found["max_weight_unscaled"].append(statistics.fmean(max(shares(row)) for row in scores))
        scaled = [[x / math.sqrt(size) for x in row] for row in scores]
        found["max_weight_scaled"].append(statistics.fmean(max(shares(row)) for row in scaled))
    return found


def contrastive_loss(a: Matrix, b: Matrix, temperature: float = 0.07, kind: str = "clip", raw: bool = False) -> Values:
    def unit(row: Vector) -> Vector:
        return [e / math.hypot(*row) for e in row]

    left, right = (a, b) if raw else ([unit(row) for row in a], [unit(row) for row in b])
    alike = [[sum(x * y for x, y in zip(one, other, strict=True)) for other in right] for one in left]
    logits = [[e / temperature for e in row] for row in alike]

    def logs(row: Vector) -> Vector:
        return [e - math.log(math.fsum(math.exp(other) for other in row)) for e in row]

    rows = [logs(row) for row in logits]
    columns = [logs(list(column)) for column in zip(*logits, strict=True)]
    found: Values = {"similarities": alike, "logits": logits, "log_shares_a": rows}
    found |= {} if raw else {"unit_a": left, "unit_b": right}
    found["losses_a"] = [-row[i] for i, row in enumerate(rows)]
    found["loss_a"] = found["loss"] = math.fsum(found["losses_a"]) / len(a)
    if kind == "clip":
        found["log_shares_b"] = [list(row) for row in zip(*columns, strict=True)]
        found["losses_b"] = [-column[j] for j, column in enumerate(columns)]
        found["loss_b"] = math.fsum(found["losses_b"]) / len(b)
        found["loss"] = (found["loss_a"] + found["loss_b"]) / 2
    return found


def preference_loss(
    kind: str = "dpo", beta: float | None = None, clip: float = 0.2, eps: float = 1e-4, **given: Vector
) -> Values:
    if kind == "dpo":
        up = [x - y for x, y in zip(given["chosen"], given["ref_chosen"], strict=True)]
        down = [x - y for x, y in zip(given["rejected"], given["ref_rejected"], strict=True)]
        margins = [(0.1 if beta is None else beta) * (x - y) for x, y in zip(up, down, strict=True)]
        losses = [-math.log(1 / (1 + math.exp(-margin))) for margin in margins]
        found = {"log_ratios_chosen": up, "log_ratios_rejected": down, "margins": margins, "losses": losses}
        return found | {"loss": math.fsum(losses) / len(losses)}
    ratios = [math.exp(x - y) for x, y in zip(given["new"], given["old"], strict=True)]
    known: Values = {"ratios": ratios}
    penalties = [0.0] * len(ratios)
    if kind == "ppo":
        gains = given["advantages"]
    else:
        usual = math.fsum(given["rewards"]) / len(ratios)
        centred = [reward - usual for reward in given["rewards"]]
        deviation = math.sqrt(math.fsum(c * c for c in centred) / (len(ratios) - 1))
        gains = [c / (deviation + eps) for c in centred]
        gaps = [x - y for x, y in zip(given["ref"], given["new"], strict=True)]
        drifts = [math.exp(gap) - gap - 1 for gap in gaps]
        penalties = [(0.04 if beta is None else beta) * drift for drift in drifts]
        known |= {"centred": centred, "deviation": deviation, "advantages": gains, "gaps": gaps, "divergences": drifts}
    gained = [r * gain for r, gain in zip(ratios, gains, strict=True)]
    held = [min(max(r, 1 - clip), 1 + clip) for r in ratios]
    bounded = [r * gain for r, gain in zip(held, gains, strict=True)]
    kept = [min(x, y) for x, y in zip(gained, bounded, strict=True)]
    known |= {"gained": gained, "held": held, "bounded": bounded, "kept": kept}
    return known | {"loss": -math.fsum(x - y for x, y in zip(kept, penalties, strict=True)) / len(kept)}


def sampling(
    logits: Vector,
    previous: Sequence[int] = (),
    temperature: float = 1,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    repetition_penalty: float = 1,
    greedy: bool = False,
    seed: int = 0,
) -> Values:
    found: Values = {}
    scores = list(logits)
    if previous:
        found["seen"] = [previous.count(token) for token in range(len(scores))]
        for token in {*previous}:
            scores[token] *= repetition_penalty if scores[token] < 0 else 1 / repetition_penalty
        found["penalised"] = scores
    if temperature != 1:
        found["scaled"] = scores = [score / temperature for score in scores]
    grown = [math.exp(score) for score in scores]
    found["probabilities"] = [e / math.fsum(grown) for e in grown]
    order = sorted(range(len(scores)), key=lambda token: (-found["probabilities"][token], token))
    left = [found["probabilities"][token] for token in order]
    found |= {"order": order, "sorted": left}

    def shared(kept: list[float]) -> list[float]:
        return [share / math.fsum(kept) for share in kept]

    if top_k is not None:
        found["top_k"] = left = shared([*left[:top_k], *[0.0] * (len(left) - top_k)])
    if top_p is not None:
        found["ahead"] = [math.fsum(left[:i]) for i in range(len(left))]
        found["top_p"] = left = shared(
            [share if ahead < top_p else 0.0 for share, ahead in zip(left, found["ahead"], strict=True)]
        )
    if min_p is not None:
        found["least"] = min_p * max(left)
        found["min_p"] = left = shared([share if share >= found["least"] else 0.0 for share in left])
    found["shares"] = left
    if greedy:
        return found | {"token": order[0]}
    found["running"] = [math.fsum(left[: i + 1]) for i in range(len(left))]
    drawn = round(float(np.random.default_rng(seed).random()), 4)
    found["place"] = sum(reached < drawn for reached in found["running"])
    return found | {"token": order[found["place"]]}


def speculative(
    target: Matrix,
    draft: Matrix,
    tokens: Sequence[int],
    from_probabilities: bool = False,
    temperature: float = 1,
    seed: int = 0,
) -> Values:
    """As the papers' algorithms go: token by token, until one is not kept."""
    found: Values = {}
    models: dict[str, list[list[float]]] = {"target": [*map(list, target)], "draft": [*map(list, draft)]}
    for name, scores in models.items() if not from_probabilities else ():
        rows = [[score / temperature for score in row] for row in scores]
        found |= {f"{name}_scaled": rows} if temperature != 1 else {}
        models[name] = found[f"{name}_probabilities"] = [
            [math.exp(score) / math.fsum(map(math.exp, row)) for score in row] for row in rows
        ]
    p, q = models["target"], models["draft"]
    found["checked"] = p[: len(tokens)]
    *draws, last = [round(float(each), 4) for each in np.random.default_rng(seed).random(len(tokens) + 1)]
    theirs, ours = ([rows[i][int(token)] for i, token in enumerate(tokens)] for rows in (p, q))
    ratios = [a / b for a, b in zip(theirs, ours, strict=True)]
    chances = [min(1.0, each) for each in ratios]
    found |= {"target_share": theirs, "draft_share": ours, "ratio": ratios, "acceptance": chances, "draws": draws}
    found["overlap"] = [math.fsum(map(min, *rows)) for rows in zip(p, q, strict=False)]
    found["reached"] = [math.prod(chances[: i + 1]) for i in range(len(tokens))]
    found["expected_accepted"] = math.fsum(found["reached"])
    found["kept"] = [int(r < chance) for r, chance in zip(draws, chances, strict=True)]
    found["lost"] = [found["kept"][: i + 1].count(0) for i in range(len(tokens))]
    accepted = found["accepted"] = [*found["kept"], 0].index(0)
    behind = [*q, [0.0] * len(p[0])]
    found["residual"] = [[max(0.0, a - b) for a, b in zip(*rows, strict=True)] for rows in zip(p, behind, strict=True)]
    found["shares"] = [[e / math.fsum(row) if e else 0.0 for e in row] for row in found["residual"]]
    row = found["drawn_from"] = found["shares"][accepted]
    order = found["order"] = sorted(range(len(row)), key=lambda token: (-row[token], token))
    left = found["sorted"] = [row[token] for token in order]
    found["running"] = [math.fsum(left[: i + 1]) for i in range(len(left))]
    found["place"] = sum(reached < last for reached in found["running"])
    return found | {"token": order[found["place"]]}


def beam(
    transitions: Matrix,
    beam: int = 2,
    length: int = 3,
    end: int = 0,
    length_penalty: float | None = None,
    from_probabilities: bool = False,
) -> Values:
    """Texts as lists of tokens, each with its score, sorted anew after every step."""
    found: Values = {}
    table = [list(row) for row in transitions]
    if not from_probabilities:
        table = [[math.exp(score) / math.fsum(map(math.exp, row)) for score in row] for row in table]
        found["probabilities"] = table
    logs = found["log_probabilities"] = [[math.log(share) for share in row] for row in table]
    texts: list[list[int]] = [[]]
    scores = [0.0]
    for turn in range(1, length + 1):
        rows, open_ended = [], []
        for text, score in zip(texts, scores, strict=True):
            follow = [score + e for e in logs[text[-1] if text else end]]
            open_ended.append(follow)
            rows.append([score if j == end else -math.inf for j in range(len(logs))] if end in text else follow)
        order = sorted(
            ((i, j) for i, row in enumerate(rows) for j in range(len(row))), key=lambda at: -rows[at[0]][at[1]]
        )
        best = order[:beam]
        scores = [rows[i][j] for i, j in best]
        texts = [[*texts[i], j] for i, j in best]
        at = f"step {turn}/"
        found |= {at + "candidates": rows if turn > 1 else rows[0], at + "scores": scores, at + "hypotheses": texts}
        found |= {at + "chosen": [i * len(logs) + j for i, j in best], at + "token": [text[-1] for text in texts]}
        found |= {at + "ended": [int(end in text) for text in texts]}
        found |= {at + "length": [text.index(end) + 1 if end in text else len(text) for text in texts]}
        if turn > 1:
            found |= {
                at + "row": [e for row in rows for e in row],
                at + "extended": open_ended,
                at + "origin": [i for i, _ in best],
                at + "kept": [text[:-1] for text in texts],
            }
    if length_penalty is not None:
        found["penalty"] = [((5 + size) / 6) ** length_penalty for size in found[f"step {length}/length"]]
        scores = found["normalised"] = [s / by for s, by in zip(scores, found["penalty"], strict=True)]
    first = scores.index(max(scores))
    return found | {"best": [first], "sequence": texts[first], "score": scores[first]}


WITNESSES: dict[str, Callable[..., Values]] = {
    "eigen": eigen,
    "svd": svd,
    "cross-entropy": cross_entropy,
    "sampling": sampling,
    "beam": beam,
    "speculative": speculative,
    "next-token-loss": next_token_loss,
    "contrastive-loss": contrastive_loss,
    "preference-loss": preference_loss,
    "perplexity": perplexity,
    "expectation": expectation,
    "entropy": entropy,
    "kl": kl,
    "bayes": bayes,
    "likelihood": likelihood,
    "concentration": concentration,
    "scaling": scaling,
}
