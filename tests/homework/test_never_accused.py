"""What is right is never called a mistake: rounded in any manner, early or late, by any route; nor is what is nonsense.

Seeded loops over many problems: each sheet is one of a thousand or so, and one accusation fails the test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest
from homework.problems import problem
from homework.sheets import answered, finding, right_steps, written
from numpy.typing import NDArray
from rows import draws

import attncalc as ac
from attncalc.declare.mistake import StepKey
from attncalc.evaluate.values import evaluate
from attncalc.homework.diagnosis.comparing import Spelled
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.marking.marker import Marker
from attncalc.homework.reading.answers import Answer, Sheet
from attncalc.homework.reading.sheets import spelled
from attncalc.record.numbers import round_half_up
from attncalc.record.verdicts import SOUND
from attncalc.solve.problem import Problem

Array = NDArray[Any]
Random = np.random.Generator
Draw = Callable[[Random], Problem]
Kept = Callable[[Array], Array]
Steps = Mapping[str, Array]
ACCUSED = {"mistake", "slip", "follows"}
COUNT, MANY = draws(25), draws(40)
"""Problems of each kind, each of which makes for many cases."""


def an_attention(random: Random) -> Problem:
    n, d_k, d_v = random.integers(2, 4), random.integers(2, 5), random.integers(2, 4)
    q, k, v = (random.integers(-3, 4, shape).tolist() for shape in ((n, d_k), (n, d_k), (n, d_v)))
    return problem("attention", {"causal": bool(random.integers(2))}, q=q, k=k, v=v)


def a_softmax(random: Random) -> Problem:
    x = random.normal(0, 2, random.integers(2, 6)).round(1).tolist()
    return problem("softmax", {"temperature": [1, 2, 0.5][random.integers(3)]}, x=x)


def a_cosine(random: Random) -> Problem:
    a, b = random.integers(-4, 5, (2, random.integers(2, 5)))
    return problem("cosine", a=[*a.tolist(), 1], b=[*b.tolist(), 2])


def a_norm(random: Random) -> Problem:
    a = random.integers(-5, 6, random.integers(2, 5))
    return problem("norm", {"p": [2, 2, 1, 3, "inf"][random.integers(5)]}, a=[*a.tolist(), 2.5])


def a_manhattan(random: Random) -> Problem:
    a, b = random.integers(-40, 41, (2, random.integers(2, 5))) / 10
    return problem("manhattan", a=a.tolist(), b=b.tolist())


FORMULAS = ("x**3 - 2*x", "x**2*sin(x)", "exp(x)/(x**2 + 1)", "(x**2 + 1)**2 - cos(x**2)", "3*x + exp(2*x)")


def a_derivative(random: Random) -> Problem:
    formula, at = FORMULAS[random.integers(len(FORMULAS))], random.integers(-20, 21) / 10
    return problem("derivative", {"at": at}, expression=formula)


def a_gradient(random: Random) -> Problem:
    x, y = random.integers(-20, 21, 2) / 10
    formula = ("x**2*y - y**2", "sin(x*y) + x**3", "x*exp(y) + 2*y")[random.integers(3)]
    return problem("gradient", {"at": {"x": x, "y": y}}, expression=formula)


def a_layernorm(random: Random) -> Problem:
    x = random.integers(-5, 6, (2, 4))
    x[:, 0] = x[:, 1] + 1  # no row is constant
    return problem("layernorm", {"eps": 0.1}, x=x.tolist())


def a_cross_entropy(random: Random) -> Problem:
    logits, target = random.normal(0, 2, (3, 3)).round(1), random.integers(0, 3, 3)
    return problem("cross-entropy", logits=logits.tolist(), target=target.tolist())


def a_projection(random: Random) -> Problem:
    a, onto = random.integers(-4, 5, (2, random.integers(2, 5)))
    return problem("project", a=[*a.tolist(), 1], onto=[*onto.tolist(), 2])


def a_flash(random: Random) -> Problem:
    q, k, v = (random.integers(-3, 4, shape).tolist() for shape in ((2, 3), (4, 3), (4, 2)))
    return problem("flash", {"block": int(random.integers(1, 4)), "causal": bool(random.integers(2))}, q=q, k=k, v=v)


def a_recurrence(random: Random) -> Problem:
    x, wx, wh, b = (random.normal(0, 1, shape).round(1).tolist() for shape in ((3, 2), (2, 2), (2, 2), 2))
    return problem("rnn", x=x, wx=wx, wh=wh, b=b)


def a_likelihood(random: Random) -> Problem:
    mean, std = (random.integers(1, 30, 2) / 10).tolist()
    given = {"distribution": "normal", "mean": mean, "std": std}
    return problem("likelihood", given, observations=(random.integers(-20, 41, 4) / 10).tolist())


KINDS: dict[str, Draw] = {
    "attention": an_attention,
    "softmax": a_softmax,
    "cosine": a_cosine,
    "norm": a_norm,
    "manhattan": a_manhattan,
    "derivative": a_derivative,
    "gradient": a_gradient,
    "layernorm": a_layernorm,
    "cross-entropy": a_cross_entropy,
    "project": a_projection,
    "flash": a_flash,
    "rnn": a_recurrence,
    "likelihood": a_likelihood,
}
every_kind = pytest.mark.parametrize("draw", KINDS.values(), ids=KINDS)


def markers(draw: Draw, count: int = COUNT) -> Iterator[tuple[Marker, Random]]:
    for seed in range(count):
        random = np.random.default_rng(seed)
        yield Marker(Key(draw(random))), random


def step(key: Key, name: str) -> Array:
    value = key.value(("", name))
    assert value is not None, "a step of real numbers"
    return value


def result(key: Key) -> Array:
    return step(key, key.result[1])


@pytest.mark.thorough
@pytest.mark.draws
@every_kind
def test_what_is_rounded_in_the_end_is_right(draw: Draw) -> None:
    for marker, _ in markers(draw, MANY):
        for decimals in (2, 3, 4, 8, 12):
            assert finding(marker, marker.key.result, written(result(marker.key), decimals)).verdict == "right"


@pytest.mark.draws
@every_kind
def test_a_sheet_of_rounded_steps_is_right(draw: Draw) -> None:
    for marker, _ in markers(draw):
        for decimals in (2, 3, 5):
            assert answered(marker, right_steps(marker.key, decimals)).verdict == "right"


def cut(value: Array, decimals: int, manner: int) -> Array:
    """Rounded half up, half to even, or cut off."""
    size = np.abs(value) * 10.0**decimals
    kept = [np.floor(size + 0.5), np.rint(size), np.floor(size + 1e-9)][manner]
    return np.where(np.isfinite(value), np.copysign(kept / 10.0**decimals, value), value)


def by_chance(value: Array, decimals: int, random: Random) -> Array:
    """Rounded now in this manner and now in that, to as many decimals or one more."""
    return cut(value, decimals + int(random.integers(2)), int(random.integers(3)))


@pytest.mark.thorough
@pytest.mark.draws
@every_kind
def test_what_is_cut_off_is_right_to_rounding(draw: Draw) -> None:
    for marker, _ in markers(draw):
        for decimals in (3, 4):
            cut_off = written(cut(result(marker.key), decimals, 2), decimals)
            assert finding(marker, marker.key.result, cut_off).verdict in SOUND


def rounded_on_the_way(key: Key, after_step: Callable[[Array], Array]) -> Array:
    """The result if everything that is written down is rounded."""
    spelled = Spelled(key.nodes[key.result], {})
    return evaluate([spelled.root], key.solutions.operands, after_step=after_step)[spelled.root]


def not_accused(marker: Marker, value: Array, decimals: int) -> list[str]:
    """The verdict on a result as it is written, which is no accusation; none where rounding has left no number.

    Nor is ∞ one, as the logarithm of a probability that was rounded to 0 is: what is not finite is never right.
    """
    if np.isnan(value).any():
        return []
    verdict = finding(marker, marker.key.result, written(value, decimals)).verdict
    assert verdict not in ACCUSED
    if np.isinf(value).any():
        assert verdict not in SOUND
        return []
    return [verdict]


@pytest.mark.release
@pytest.mark.draws
@every_kind
def test_who_rounds_at_every_step_is_not_accused(draw: Draw) -> None:
    """In one manner throughout: half up, half to even or cut off, to as many decimals as the answer or one more."""
    found: Counter[str] = Counter()
    for marker, _ in markers(draw):
        for decimals in (2, 3, 4):
            for manner in (0, 1, 2):
                for more in (0, 1):
                    value = rounded_on_the_way(marker.key, partial(cut, decimals=decimals + more, manner=manner))
                    found.update(not_accused(marker, value, decimals))
    assert found["unexplained"] <= 0.02 * found.total()


@pytest.mark.release
@pytest.mark.draws
@every_kind
def test_who_rounds_now_so_and_now_otherwise_is_not_accused(draw: Draw) -> None:
    """Nor is it always right: that needs one manner that gives every entry."""
    found: Counter[str] = Counter()
    for marker, random in markers(draw):
        for decimals in (3, 3, 4, 4):
            value = rounded_on_the_way(marker.key, partial(by_chance, decimals=decimals, random=random))
            found.update(not_accused(marker, value, decimals))
    assert found["unexplained"] <= 0.3 * found.total()


@pytest.mark.thorough
@pytest.mark.draws
@every_kind
def test_who_works_on_from_rounded_steps_is_not_accused(draw: Draw) -> None:
    """Every step is worked out from the one before as it stands on the page, and rounded."""
    for marker, _ in markers(draw):
        key = marker.key
        for decimals in (2, 3):
            own: dict[StepKey, Array] = {}
            sheet: dict[StepKey, Answer] = {}
            for step in key.steps:
                value = key.value(step, own=own)
                if value is not None and not np.isnan(value).any():
                    sheet[step] = written(value, decimals)
                    own[step] = sheet[step].value
            marked = answered(marker, sheet)
            assert marked.verdict in SOUND, [
                (s.name, s.finding) for s in marked.steps if s.finding.verdict not in SOUND
            ]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("draw", "kept"),
    [
        pytest.param(a_softmax, "sum", id="the sum of a softmax"),
        pytest.param(a_cosine, "norm_a", id="the length of a vector"),
        pytest.param(a_layernorm, "standard_deviation", id="a standard deviation"),
        pytest.param(a_cross_entropy, "losses", id="losses before their mean"),
        pytest.param(an_attention, "scaled", id="scaled scores"),
    ],
)
def test_who_says_to_keep_fewer_digits_of_one_step_has_rounded_early(draw: Draw, kept: str) -> None:
    for marker, _ in markers(draw, 6):
        key = marker.key
        value = key.value(key.result, own={("", kept): round_half_up(step(key, kept), 2)})
        assert value is not None
        sheet = Sheet({spelled(key.result): written(value, 4)}, decimals=2)
        assert marker.mark(sheet).verdict in SOUND


def noise(random: Random, like: Array) -> Array:
    return random.normal(size=like.shape) * max(1.0, float(np.abs(like).max()))


def nearby(random: Random, like: Array) -> Array:
    return like + random.normal(size=like.shape) * 0.3 * max(0.1, float(np.abs(like).max()))


def shares(random: Random, like: Array) -> Array:
    return np.asarray(random.dirichlet(np.ones(like.shape[-1]), size=like.shape[:-1]))


@pytest.mark.release
@pytest.mark.spread
@pytest.mark.draws
@pytest.mark.parametrize("nonsense", [noise, nearby, shares])
@pytest.mark.parametrize("draw", [an_attention, a_softmax, a_layernorm])
def test_nonsense_is_unexplained(draw: Draw, nonsense: Callable[[Random, Array], Array]) -> None:
    for marker, random in markers(draw, 5):
        value = result(marker.key)
        for decimals in (2, 3, 4) * draws(8):
            found = finding(marker, marker.key.result, written(nonsense(random, value), decimals))
            assert found.verdict not in ACCUSED, found


@pytest.mark.release
@pytest.mark.spread
@pytest.mark.parametrize("draw", [a_cosine, a_norm, a_manhattan, a_derivative, a_cross_entropy])
def test_a_single_number_without_sense_is_hardly_ever_explained(draw: Draw) -> None:
    """It fits a known mistake by chance in less than one case in a hundred, as is promised."""
    found = Counter(
        finding(marker, marker.key.result, written(nearby(random, result(marker.key)), decimals)).verdict
        for marker, random in markers(draw, 8)
        for decimals in (2, 3, 4) * 5
    )
    assert sum(found[verdict] for verdict in ACCUSED) <= 0.01 * found.total() + 1


# Other routes, each with its steps as people write them.


def verdicts(marker: Marker, steps: Mapping[str, Array | float], decimals: int) -> list[str]:
    """What is found of a sheet of numbers."""
    sheet = {("", name): written(np.asarray(value, float), decimals) for name, value in steps.items()}
    return [step.finding.verdict for step in answered(marker, sheet).steps]


def routed(draw: Draw) -> Iterator[tuple[Marker, Random, int]]:
    for marker, random in markers(draw, MANY):
        for decimals in (2, 3, 4, 6):
            yield marker, random, decimals


def shared_out(scores: Array) -> Array:
    e = np.exp(scores)
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def test_a_softmax_without_taking_the_maximum_away_is_right() -> None:
    for marker, _, decimals in routed(a_softmax):
        problem = marker.key.problem
        z = problem.inputs["x"].value / problem.options["temperature"]
        e = np.exp(z)
        steps = {"shifted": z, "exponentials": e, "sum": e.sum(), "softmax": e / e.sum()}
        assert set(verdicts(marker, steps, decimals)) == {"right"}


def test_who_fills_in_a_shift_and_does_not_use_it_is_right() -> None:
    for marker, _, decimals in routed(a_softmax):
        problem = marker.key.problem
        e = np.exp(problem.inputs["x"].value / problem.options["temperature"])
        steps = {"shifted": step(marker.key, "shifted"), "exponentials": e, "sum": e.sum(), "softmax": e / e.sum()}
        assert set(verdicts(marker, steps, decimals)) == {"right"}


def test_shares_raised_to_a_power_and_shared_out_anew_are_a_softmax_with_temperature() -> None:
    for marker, _, decimals in routed(a_softmax):
        problem = marker.key.problem
        p = shared_out(problem.inputs["x"].value) ** (1 / problem.options["temperature"])
        assert verdicts(marker, {"softmax": p / p.sum()}, decimals) == ["right"]


def a_causal_attention(random: Random) -> Problem:
    found = an_attention(random)
    return found._replace(options={"causal": True})


def operands(marker: Marker) -> tuple[Array, Array, Array]:
    q, k, v = (marker.key.problem.inputs[name].value for name in "qkv")
    return q, k, v


@pytest.mark.thorough
@pytest.mark.parametrize("scaled", ["q", "k", "both"])
def test_queries_or_keys_may_be_scaled_before_the_product(scaled: str) -> None:
    for marker, _, decimals in routed(a_causal_attention):
        q, k, v = operands(marker)
        root = np.sqrt(q.shape[1])
        scores = {"q": (q / root) @ k.T, "k": q @ (k / root).T, "both": (q / root**0.5) @ (k / root**0.5).T}[scaled]
        masked = np.where(np.tri(len(q)) > 0, scores, -np.inf)
        weights = shared_out(masked)
        steps = {"scores": scores, "scaled": scores, "masked": masked, "weights": weights, "output": weights @ v}
        assert set(verdicts(marker, steps, decimals)) == {"right"}


@pytest.mark.thorough
def test_a_mask_may_come_before_the_scaling() -> None:
    for marker, _, decimals in routed(a_causal_attention):
        q, k, v = operands(marker)
        masked = np.where(np.tri(len(q)) > 0, q @ k.T, -np.inf)
        scaled = masked / np.sqrt(q.shape[1])
        weights = shared_out(scaled)
        steps = {"scores": q @ k.T, "masked": masked, "scaled": scaled, "weights": weights, "output": weights @ v}
        assert set(verdicts(marker, steps, decimals)) == {"right"}


def test_a_mask_may_come_after_the_softmax_where_the_rest_is_shared_out_anew() -> None:
    for marker, _, decimals in routed(a_causal_attention):
        q, k, v = operands(marker)
        kept = shared_out(q @ k.T / np.sqrt(q.shape[1])) * np.tri(len(q))
        weights = kept / kept.sum(axis=-1, keepdims=True)
        assert verdicts(marker, {"weights": weights, "output": weights @ v}, decimals) == ["right", "right"]


def test_a_large_negative_number_does_for_minus_infinity() -> None:
    for marker, _, decimals in routed(a_causal_attention):
        masked = step(marker.key, "masked")
        assert verdicts(marker, {"masked": np.where(np.isinf(masked), -1e9, masked)}, decimals) == ["right"]


def an_alibi(random: Random) -> Problem:
    n, heads = random.integers(3, 5), random.integers(1, 4)
    shapes = {"q": (heads, n, 2), "k": (heads, n, 2), "v": (heads, n, 3)}
    operands = {name: random.integers(-2, 3, shape).tolist() for name, shape in shapes.items()}
    return problem("attention", {"causal": True, "bias": "alibi"}, **operands)


@pytest.mark.thorough
def test_alibi_may_count_the_keys_from_the_first_one() -> None:
    """A row's constant makes no difference to its shares."""
    for marker, _, decimals in routed(an_alibi):
        scaled, biased, masked = (step(marker.key, name) for name in ("scaled", "biased", "masked"))
        slopes = (scaled - biased)[..., 1, 0]  # one place back
        by_key = scaled + slopes[..., None, None] * np.arange(scaled.shape[-1])
        steps = {"biased": by_key, "masked": np.where(np.isinf(masked), masked, by_key), "weights": shared_out(masked)}
        assert set(verdicts(marker, steps, decimals)) == {"right"}


def a_perplexity(random: Random) -> Problem:
    return problem("perplexity", probabilities=(random.integers(1, 20, random.integers(2, 6)) / 20).tolist())


@pytest.mark.thorough
@pytest.mark.parametrize("base", [2, np.e])
def test_bits_to_the_base_2_give_the_perplexity_that_nats_give(base: float) -> None:
    for marker, _, decimals in routed(a_perplexity):
        logs = np.log(marker.key.problem.inputs["probabilities"].value) / np.log(base)
        steps = {"log_probabilities": logs, "mean_negative_log": -logs.mean(), "perplexity": base ** -logs.mean()}
        assert set(verdicts(marker, steps, decimals)) == {"right"}


def test_the_logarithm_of_a_softmax_may_be_taken_twice() -> None:
    for seed in range(MANY):
        x = np.random.default_rng(seed).normal(0, 2, 4).round(1)
        marker = Marker(Key(problem("log-softmax", x=x.tolist())))
        once = np.log(shared_out(x))
        assert verdicts(marker, {"log_softmax": np.log(shared_out(once))}, 4) == ["right"]


@pytest.mark.parametrize("positions", ["sinusoidal", "none"])
def test_an_embedding_may_be_scaled_where_the_positions_are_added(positions: str) -> None:
    table, ids = np.array([[1, 2, 3, -1], [2, 0, 1, 0.5], [3, 1, -1, 2]]), [0, 2]
    options = {"scale": True, "positions": positions}
    marker = Marker(Key(problem("embed", options, tokens=ids, table=table.tolist())))
    steps = {"embeddings": table[ids], "output": result(marker.key)}
    assert set(verdicts(marker, steps, 3)) == {"right"}
    unscaled = {"embeddings": table[ids], "output": result(marker.key) - table[ids]}
    assert verdicts(marker, unscaled, 3) == ["right", "mistake"]


def a_preference(random: Random) -> tuple[ac.Trace, Callable[[Kept], Steps]]:
    """The loss by its textbook's formula, −ln σ(margin), whose σ is written down."""
    given = -random.integers(2, 60, (4, 3)) / 10

    def steps(kept: Kept) -> Steps:
        margins = kept(0.5 * (given[0] - given[2] - (given[1] - given[3])))
        losses = kept(-np.log(kept(1 / (1 + np.exp(-margins)))))
        return {"margins": margins, "losses": losses, "loss": kept(losses.mean())}

    return ac.preference_loss(*given, beta=0.5), steps


def a_jacobian(random: Random) -> tuple[ac.Trace, Callable[[Kept], Steps]]:
    """The slopes of a softmax by the entries of diag(p) − p·pᵀ."""
    x, upstream = random.integers(-3, 6, (2, 4)) / 2, random.integers(-2, 3, (2, 4))

    def steps(kept: Kept) -> Steps:
        shares = kept(shared_out(x))
        slopes = [kept(np.diag(p) - np.outer(p, p)) @ g for p, g in zip(shares, upstream, strict=True)]
        return {"softmax": shares, "grad_x": kept(np.array(slopes))}

    return ac.softmax(x).grad(upstream=upstream), steps


def a_norm_by_its_cube(random: Random) -> tuple[ac.Trace, Callable[[Kept], Steps]]:
    """The slope of an RMS norm from x itself."""
    x, upstream = random.integers(1, 6, (2, 4)), random.integers(-2, 3, (2, 4))

    def steps(kept: Kept) -> Steps:
        root = kept(np.sqrt(kept((x**2).mean(-1, keepdims=True)) + 0.1))
        along = kept((upstream * x).sum(-1, keepdims=True) / (4 * root**3))
        return {"root_mean_square": root[:, 0], "grad_x": kept(upstream / root - x * along)}

    return ac.rmsnorm(x, eps=0.1).grad(upstream=upstream), steps


def a_variance_at_once(random: Random) -> tuple[ac.Trace, Callable[[Kept], Steps]]:
    """The slope of a variance by the power −3/2 of it."""
    x, upstream = random.integers(-3, 6, (2, 4)) + np.arange(4), random.integers(-9, 10, (2, 4))

    def steps(kept: Kept) -> Steps:
        centred = x - x.mean(-1, keepdims=True)
        deviation = kept(np.sqrt((centred**2).mean(-1) + 0.1))
        slope = kept(-(upstream * centred).sum(-1) / 2 * kept(deviation**-3.0))
        return {"standard_deviation": deviation, "grad_variance": slope}

    return ac.layernorm(x, eps=0.1).grad(upstream=upstream), steps


@pytest.mark.spread(2)
@pytest.mark.parametrize("made", [a_preference, a_jacobian, a_norm_by_its_cube, a_variance_at_once])
@pytest.mark.parametrize("decimals", [2, 3, 4])
def test_what_is_rounded_on_another_way_is_right(
    made: Callable[[Random], tuple[ac.Trace, Callable[[Kept], Steps]]], decimals: int
) -> None:
    """Each number that is written down is rounded, as a hand goes on from it."""
    for seed in range(8):
        trace, steps = made(np.random.default_rng(seed))
        sheet = steps(lambda value: round_half_up(np.asarray(value, float), decimals))
        marked = trace.check({name: np.vectorize(f"{{:.{decimals}f}}".format)(x).tolist() for name, x in sheet.items()})
        assert {step.verdict for step in marked.steps} <= set(SOUND), (seed, marked.steps)
