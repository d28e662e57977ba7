"""What reasons say in numbers, quoted as it stands, and what each is held against.

A quotation is a pattern, in which `{}` stands for a number. It is held against pairs of formulas that must come to the
same, against a function and its slope, or against the step beside which it stands; or it is cited, with the reason why
nothing can be worked out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncalc.evaluate.values import evaluate
from attncalc.language.axes import Axis
from attncalc.language.gradients import gradients
from attncalc.language.graph import Node, as_node, given
from attncalc.language.ops import absolute, maximum, root_of_sum, total, weigh

Array = NDArray[Any]


class Equal(NamedTuple):
    """Formulas that come to the same, pair by pair; a number to as many digits as it has."""

    pairs: list[tuple[str, str]]


class Slope(NamedTuple):
    """A function of x, and its slope."""

    function: str
    slope: str


class Holds(NamedTuple):
    """Something that has nothing to do with a certain step."""

    check: Callable[[], Any]


class Cited(NamedTuple):
    """Why a number stands there that is held against nothing."""

    reason: str


Claim = Equal | Slope | Holds | Cited | Callable[..., Any]


def equal(*pairs: str) -> Equal:
    return Equal(list(zip(pairs[::2], pairs[1::2], strict=True)))


def divided_by_root(at: Any, *sizes: str) -> bool:
    """Whether the scores of a step are divided by the root of sizes, added up."""
    (scores,) = (tensor.numbers for name, tensor in at.known.items() if name not in sizes)
    return np.allclose(at.value, scores / math.sqrt(sum(float(at[size]) for size in sizes)))


def at_zero(function: Callable[[Node], Node]) -> Array:
    """The slopes of a function at 0."""
    x = given("x", (Axis("n", 3),))
    y = function(x)
    slope = gradients(y, given("g", y.axes), [x])[x]
    return evaluate([slope], {"x": np.zeros(3), "g": np.ones(y.shape)})[slope]


def length(x: Node) -> Node:
    return root_of_sum(total(x**2), x, 2)


def moves_by_its_vectors() -> bool:
    """Whether a singular value moves with each entry of a matrix as its two unit vectors say."""
    a, h = np.array([[2.0, 1.0], [0.5, 3.0], [1.0, -1.0]]), 1e-6
    u, _, vt = np.linalg.svd(a, full_matrices=False)
    moved = [
        [np.linalg.svd(a + h * (np.indices(a.shape) == [[[i]], [[j]]]).all(0))[1] for j in (0, 1)] for i in (0, 1, 2)
    ]
    slopes = ((np.array(moved) - np.linalg.svd(a)[1]) / h).reshape(*a.shape, 2)
    return all(np.allclose(slopes[..., k], np.outer(u[:, k], vt[k]), atol=1e-5) for k in (0, 1))


def lifted(at: Any) -> bool:
    """Whether the singular values of an iterate of muon's are the polynomial of those before."""
    s = np.linalg.svd(at[f"iterate_{int(at.name[-1]) - 1}"], compute_uv=False)
    due = 3.4445 * s - 4.7750 * s**3 + 2.0315 * s**5
    return np.allclose(sorted(np.linalg.svd(at.value, compute_uv=False)), sorted(due))


def flat_at_zero() -> bool:
    return all(not at_zero(function).any() for function in (absolute, length, lambda x: maximum(as_node(0), x)))


def weighed() -> bool:
    p, x = given("p", ()), given("x", ())
    found = weigh(p, x)
    return bool(evaluate([found], {"p": np.array(0.0), "x": np.array(-np.inf)})[found] == 0)


def of_log_softmax() -> bool:
    """(p − y)/N is what −y/N becomes: −y/N − p·Σ(−y/N)."""
    p, y = np.array([0.2, 0.3, 0.5]), np.array([0.1, 0.6, 0.3])
    return np.allclose(-y / 4 - p * (-y / 4).sum(), (p - y) / 4)


def of_one_class() -> bool:
    """Central differences of −c·ln of one share."""
    c = 0.3

    def surprise(v: Array) -> float:
        return c * float(np.log(np.exp(v).sum()) - v[1])

    v, step = np.array([0.4, -1.2, 2.0]), 1e-6
    found = [(surprise(v + d) - surprise(v - d)) / (2 * step) for d in step * np.eye(3)]
    return np.allclose(found, c * (np.exp(v) / np.exp(v).sum() - [0, 1, 0]), atol=1e-8)


def are_stretched(a: Array, vectors: Array) -> bool:
    """Whether the columns of length 1 are multiplied by the eigenvalues, in their order: the largest in size first."""
    lengths = (vectors * (a @ vectors)).sum(0)
    told = np.allclose((vectors**2).sum(0), 1) and np.allclose(a @ vectors, vectors * lengths)
    found = np.linalg.eigvals(a)
    return told and np.allclose(lengths, found[np.argsort(-np.abs(found))])


def shifts_cancel() -> bool:
    v = np.array([0.4, -1.2, 2.0])
    e, shifted = np.exp(v), np.exp(v - v.max())
    shares = np.allclose(e / e.sum(), shifted / shifted.sum())
    return shares and np.allclose(np.log(e.sum()), v.max() + np.log(shifted.sum()))


def turned_a_quarter() -> bool:
    a, b, angle = 1, 0, math.pi / 2
    c, s = math.cos(angle), math.sin(angle)
    return np.allclose([a * c - b * s, a * s + b * c], [0, 1])


def turned_back() -> bool:
    (a, b), c, s = (3.0, 1.0), math.cos(0.7), math.sin(0.7)
    a, b = a * c - b * s, a * s + b * c
    return np.allclose([a * c + b * s, b * c - a * s], [3, 1])


def of_logsumexp() -> bool:
    v, step = np.array([0.4, -1.2, 2.0]), 1e-6
    found = [(np.logaddexp.reduce(v + d) - np.logaddexp.reduce(v - d)) / (2 * step) for d in step * np.eye(3)]
    return np.allclose(found, np.exp(v) / np.exp(v).sum(), atol=1e-8)


def divergence(at: Any) -> float:
    """Σ p·ln(p/q), to which an outcome that p gives no share adds nothing."""
    p, q = (at[name][at["p"] > 0] for name in "pq")
    with np.errstate(divide="ignore"):
        return float((p * np.log(p / q)).sum())


SQUARES = np.random.default_rng(3).normal(size=(2, 2, 2))


def more_alike() -> bool:
    def largest(temperature: float) -> float:
        e = np.exp(np.array([1.0, 2.0, 4.0]) / temperature)
        return float((e / e.sum()).max())

    return largest(2) < largest(1) < largest(0.5)


GRID = np.linspace(-8, 8, 160001)
PHI = np.vectorize(math.erf)(GRID / np.sqrt(2)) / 2 + 0.5


def off(approximation: Array) -> float:
    """How far something is from x·Φ(x), at most."""
    return float(np.abs(approximation - GRID * PHI).max())


def cubic(x: Array) -> Array:
    return np.asarray(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))


def variance_near_one() -> bool:
    q, k = np.random.default_rng(5).normal(size=(2, 4000, 64))
    return bool(abs((q * k).sum(-1).var() / 64 - 1) < 0.1)


def sums_to_one(at: Any) -> bool:
    def along(axis: int) -> bool:
        sums = at.value.sum(axis)
        return np.allclose(sums[sums != 0], 1)  # a query that sees nothing has no weights

    return bool(at.along(along))


def named(*names: str) -> Callable[..., bool]:
    """Whether a step is made of what is named, with the numbers that stand there: `w{1}`."""
    return lambda at, *numbers: all(name.format(*numbers) in (*at.known, at.name) for name in names)


CLAIMS: dict[str, Claim] = {
    # of primitives
    "4² = 16, and 2² + 2² = 8": equal("4²", "16", "2² + 2²", "8"),
    "e^x is positive for every x, 1 at 0 and 0 at −∞": equal("exp(0)", "1", "exp(−∞)", "0"),
    "1 more in x is 2.718 times as much": equal("e", "2.718", "exp(x + 1)", "e·exp(x)"),
    "float64 beyond x = 709.78": equal("ln(1.7976931348623157e+308)", "709.78"),
    "float32 beyond 88.72": equal("ln(3.4028234663852886e+38)", "88.72"),
    "ln is the natural logarithm, which e^x undoes: 0 at 1, negative below, −∞ at 0": equal(
        "exp(ln(x))", "x", "ln(1)", "0", "ln(0)", "−∞"
    ),
    "√(3² + 4²) = 5, not 3 + 4 = 7": equal("√(3² + 4²)", "5", "3 + 4", "7"),
    "(0 at 0, by convention)": Holds(flat_at_zero),
    "a vector compared with itself gives 1": equal("(v·v) / (√(v·v)·√(v·v))", "1"),
    "a radian is 180°/π": equal("180 / π", "57.2957795"),
    "0 times anything is 0 here, 0·log 0 too: what p·log p comes to as p goes to 0": Holds(weighed),
    "0·log 0 = 0": Holds(weighed),
    "a share below 5·10⁻³²⁴ is 0 in float64": Holds(lambda: math.ulp(0) == 5e-324),
    "ln 0 is −∞": equal("ln(0)", "−∞"),
    "where −c comes in at one entry alone, this is c·(": Holds(of_one_class),
    "less 1 there)": Holds(of_one_class),
    "max(x) cancels": Holds(shifts_cancel),
    "max(scaled) cancels": Holds(shifts_cancel),
    "max hands the gradient to the larger of the two alone": Slope("max(x, p·x)", "p"),
    "min hands the gradient to the smaller of the two alone": Slope("min(x, p·x)", "1"),
    "a score that is 1 above another gets e ≈ 2.718 times its share": equal("e", "2.718", "exp(x + 1) / exp(x)", "e"),
    "each row sums to 1": equal("Σ softmax(v)", "1"),
    "a softmax's shares sum to 1": equal("Σ softmax(v)", "1"),
    "its slope is 0": Slope("sign(x)", "0"),
    "its gradient is 0": Cited("what is not passed on has no influence; the gradients are held against differences"),
    "−∞ goes in before the softmax, so that its share is e^−∞ = 0": equal("e^(−∞)", "0"),
    "A 0 there would still contribute e⁰ = 1": equal("e^0", "1"),
    "a 0 put in after the softmax would leave the row's sum below 1": equal("Σ softmax(v)", "1"),
    "−10⁹ works too": equal("exp(−10^9)", "0"),
    "float16 only reaches 65,504": Holds(lambda: np.finfo(np.float16).max == 65504),
    "a quarter turn takes (1, 0) to (0, 1)": Holds(turned_a_quarter),
    "rows counted from 0": Cited("so NumPy counts, and the arithmetic of lookup's examples is read back"),
    "one-hot row (1 at t, else 0)": Holds((np.eye(4)[2] @ np.arange(8).reshape(4, 2) == [4, 5]).all),
    "lies between −1 and 1": equal("tanh(−∞)", "−1", "tanh(∞)", "1"),
    "tanh 0.1 = 0.0997": equal("tanh(0.1)", "0.0997"),
    "tanh 3 = 0.9951": equal("tanh(3)", "0.9951"),
    "σ(x) = 1/(1 + e^−x)": equal("σ(x)", "1 / (1 + exp(−x))"),
    "½ at 0, 0.7311 at 1 and 0.9933 at 5": equal("σ(0)", "0.5", "σ(1)", "0.7311", "σ(5)", "0.9933"),
    "σ(−x) = 1 − σ(x)": equal("σ(−x)", "1 − σ(x)"),
    "below, α·exp(x), which is the value + α": Slope("p·(exp(x) − 1)", "p·exp(x)"),
    "above 0 the slope is 1": Slope("x", "1"),
    "head 0 takes the first columns, head 1 the next": Cited("the formula of split is read back"),
    "head 0's row, then head 1's": Cited("the formula of merge is read back"),
    "of 8 query heads and 2 key heads, heads 0 to 3 read key head 0, heads 4 to 7 key head 1": Holds(
        lambda: [h * 2 // 8 for h in range(8)] == [0] * 4 + [1] * 4
    ),
    "only if the columns have length 1": Holds(lambda: not np.allclose(np.linalg.inv(2 * np.eye(2)), 2 * np.eye(2))),
    "the slope of 1/x is −1/x²": Slope("1 / x", "−1 / x²"),
    "the slope of x^p is p·x^(p−1)": Slope("x^p", "p·x^(p − 1)"),
    "the slope of ln x is 1/x": Slope("ln(x)", "1 / x"),
    "the slope of log₂ x is 1/(x·ln 2)": Slope("log₂(x)", "1 / (x·ln(2))"),
    "the slope of log₁₀ x is 1/(x·ln 10)": Slope("log₁₀(x)", "1 / (x·ln(10))"),
    "the slope of √x is 1/(2√x)": Slope("√x", "1 / (2·√x)"),
    "the slope of arccos x is −1/√(1 − x²)": Slope("arccos(x)", "−1 / √(1 − x²)"),
    "the slope of sin x is cos x": Slope("sin(x)", "cos(x)"),
    "the slope of cos x is −sin x": Slope("cos(x)", "−sin(x)"),
    "the slope of tan x is 1 + tan² x": Slope("tan(x)", "1 + tan(x)²"),
    "the slope of tanh x is 1 − tanh² x": Slope("tanh(x)", "1 − tanh(x)²"),
    "the slope of erf x is the bell curve 2/√π·exp(−x²)": Slope("erf(x)", "(2 / √π)·exp(−x²)"),
    "the slope of ln(1 + e^x) is σ(x)": Slope("ln(1 + exp(x))", "σ(x)"),
    "the slope of σ is σ·(1 − σ)": Slope("σ(x)", "σ(x)·(1 − σ(x))"),
    "the slope of the p-th root y is 1/(p·y^(p−1))": Slope("x^(1 / p)", "1 / (p·(x^(1 / p))^(p − 1))"),
    "the slope of a^x is a^x·ln a": Slope("p^x", "p^x·ln(p)"),
    "the slope of |x| is the sign of x": Slope("|x|", "sign(x)"),
    "the slope of ln Σ exp is the softmax": Holds(of_logsumexp),
    "(a·cos − b·sin, a·sin + b·cos)": Holds(turned_a_quarter),
    "(a·cos + b·sin, b·cos − a·sin): rotated back": Holds(turned_back),
    "x − ln Σ e^x": equal("Σ(v − ln(Σ exp(v)))", "Σ ln(softmax(v))"),
    "ln(e^x / Σ e^x) = x − ln Σ e^x": equal("Σ ln(exp(v) / (Σ exp(v)))", "Σ(v − ln(Σ exp(v)))"),
    "in general A·B is not B·A": Holds(lambda: not np.allclose(SQUARES[0] @ SQUARES[1], SQUARES[1] @ SQUARES[0])),
    "e^x makes every score positive, and dividing by the sum makes shares of them": equal(
        "Σ(exp(v) / (Σ exp(v)))", "Σ softmax(v)", "max(exp(v) / (Σ exp(v)))", "max(softmax(v))"
    ),
    "max with one argument is the largest entry": equal("max(v)", "2"),
    "Σ adds along one axis": equal("Σ v", "1.2"),
    "⊙ multiplies entries that stand in the same place": equal("Σ(v ⊙ v)", "v·v"),
    # of steps
    "for p = ∞ only absolute values count": Holds(lambda: abs(np.linalg.norm([1, -3, 2], 200) - 3) < 1e-9),
    "PE_i·PE_j is the same along each diagonal: it depends only on i − j": lambda at: np.allclose(
        at.value[1:, 1:], at.value[:-1, :-1]
    ),
    "divided by √d_k, scores have variance σ⁴ whatever d_k is": Holds(variance_near_one),
    "each singular value s becomes a·s − b·s³ + c·s⁵, steep at 0": lifted,
    "the same as A·v": lambda at: np.allclose(at.value, at["A"] @ at["eigenvectors"]),
    "A·v = λ·v": lambda at: np.allclose(at["A"] @ at.value, at.value * at["eigenvalues"]),
    "h + α·F(h): one Euler step of h′ = F(h)": Cited("a name for the formula of the step, which is read back"),
    "key − query: the past is negative": lambda at: (np.triu(at.value) >= 0).all() and (np.tril(at.value) <= 0).all(),
    "negative numbers level off at −α": equal("p·(exp(−∞) − 1)", "−p"),
    "the cap makes −C of −∞": equal("p·tanh(−∞)", "−p"),
    "all stay between −C and C": equal("p·tanh(∞)", "p", "p·tanh(−∞)", "−p"),
    "n² where tokens are compared, n where each": Cited("the costs of steps have tests of their own"),
    "those of size n²": Cited("the costs of steps have tests of their own"),
    "the average of log p/q under p, in nats": lambda at: np.allclose(at.value, divergence(at)),
    "the average of log p/q under p, in decimal digits": lambda at: np.allclose(at.value, divergence(at) / np.log(10)),
    "which is subtracted before e^x": Cited("the formula of the next step, which is read back"),
    "the shares stay the same, and e^x cannot overflow": equal("max(softmax(v − max(v)))", "max(softmax(v))"),
    "√Σ s² of the singular values left out": lambda at: np.allclose(
        at.value, np.linalg.norm(at["s"][int(at.option("rank")) :])
    ),
    "without √d the positions would outweigh": Cited("how large embeddings are depends on who made them"),
    "the slope of −ln softmax": Holds(of_log_softmax),
    "−∇f points downhill": Cited("that f goes down has a test of its own"),
    "for p = 1 the root changes nothing": equal("x^(1 / 1)", "x"),
    "0 for the same direction, 2 for opposite ones": equal(
        "1 − (v·v) / (√(v·v)·√(v·v))", "0", "1 + (v·v) / (√(v·v)·√(v·v))", "2"
    ),
    "0 where λ·I − A sends some direction to 0": lambda at: np.allclose(
        np.polyval(at.value, np.linalg.eigvals(at["A"])), 0, atol=1e-9
    ),
    "row i of it times eigenvector i is 1, and times any other one 0": lambda at: np.allclose(
        at.value @ at["eigenvectors"], np.eye(len(at.value))
    ),
    "only stretched, one a column, of length 1, in the order of the eigenvalues": lambda at: are_stretched(
        at["A"], at.value
    ),
    "the output directions, one a column, of length 1": lambda at: np.allclose((at.value**2).sum(0), 1),
    "the input directions, one a row, of length 1": lambda at: np.allclose((at.value**2).sum(1), 1),
    "y's rows, of length 1 too": lambda at: np.allclose((at.value**2).sum(-1), 1),
    "entry l, k is 1/(s_k² − s_l²), and 0 where l is k": lambda at: all(
        np.isclose(at.value[i, k], 0 if i == k else 1 / (at["s"][k] ** 2 - at["s"][i] ** 2))
        for i, k in np.ndindex(at.value.shape)
    ),
    "those not 0 count the rank": lambda at: np.count_nonzero(at.value > 1e-9) == np.linalg.matrix_rank(at["A"]),
    "the roots of the eigenvalues of Aᵀ·A": lambda at: np.allclose(
        at.value**2, np.linalg.eigvalsh(at["A"].T @ at["A"])[::-1][: at.value.size], atol=1e-9
    ),
    "the shares sum to 1": sums_to_one,
    "probabilities that sum to 1": sums_to_one,
    "they sum to 1 already": sums_to_one,
    "a total weight of 1": sums_to_one,
    "above 1 the shares become more alike, below 1 less so": Holds(more_alike),
    "with the largest score at 0, e^x cannot overflow": lambda at: at.along(
        lambda axis: np.allclose(at.value.max(axis), 0)
    ),
    "0 for a certain class, far below 0": lambda at: at.value.max() <= 0,
    "0 only if the model was certain of it": lambda at: at.value.min() >= 0,
    "0 for the rows that are ignored": lambda at: (at.value == 0).any(),
    "each value counts equally, 1/n": lambda at: np.allclose(at.value, at["x"] / at["x"].size),
    "over n: the variance of these values themselves (--sample divides by n − 1)": lambda at: np.allclose(
        at.value, at["squares"].sum() / at["squares"].size
    ),
    "n − 1, as the deviations": lambda at: np.allclose(at.value, at["squares"].sum() / (at["squares"].size - 1)),
    "its logarithm lies below 0": lambda at: at.value.max() <= 0,
    "no logarithm of a probability is above 0": equal("ln(1)", "0"),
    "above 1 where p gives an outcome more than q does": lambda at: ((at.value > 1) == (at["p"] > at["q"])).all(),
    "0 where p gives none": lambda at: ((at.value == 0) == (at["p"] == 0)).all(),
    "never below 0": lambda at: at.value.min() >= -1e-12,
    "p for every 1, and 1 − p for every 0": lambda at: (
        (np.isclose(at.value, at["p"]) == (at["x"] == 1)).all() and np.allclose(at.value[at["x"] == 0], 1 - at["p"])
    ),
    "keep the variance of the scores near 1": Holds(variance_near_one),
    "whatever d_k + d_r is": lambda at: divided_by_root(at, "d_k", "d_r"),
    "takes the place of 1/√d_k": Cited("what it takes the place of is not calculated"),
    "takes the place of 1/√(d_k + d_r)": Cited("what it takes the place of is not calculated"),
    "e^−∞ is 0": equal("e^(−∞)", "0"),
    "the slope of a single head is 2⁻⁸": lambda at: np.allclose(np.abs(np.diff(at["scaled"] - at.value)), 2.0**-8),
    "the results of head 0 come first": lambda at: np.allclose(
        at.value[..., : at["heads"].shape[-1]], at["heads"][..., 0, :, :]
    ),
    "for a query that sees no key the sum is 0, and so is the output": Cited("0/0 counts as 0 there, by convention"),
    "the angle is 90° on average": equal("arccos(0)·180 / π", "90"),
    "about 1/√n": Cited("a matter of chance"),
    "near 1, all distances are alike": Cited("it says what a number means that is not 1"),
    "(their means must be 0)": Cited("a condition, which the numbers that are drawn meet"),
    "PE_(p + {})": lambda at, far: (
        len(at.value) > int(far) and np.allclose(at.value[: -int(far)], at["encoding"][int(far) :])
    ),
    "ε keeps it from being 0": lambda at: at.value.min() > 0,
    "all the same variance: 1": lambda at: at.along(lambda axis: at.value.var(axis).max() <= 1 + 1e-9),
    "a typical entry now has size 1": lambda at: (at.value**2).mean(-1).max() <= 1 + 1e-9,
    "negative numbers become 0": lambda at: (at.value >= 0).all(),
    "the slope at 0 is taken as 0": Holds(flat_at_zero),
    "entry i, j moves a singular value by u_i·v_j": Holds(moves_by_its_vectors),
    "made small rather than 0": lambda at: (at.value != 0).all(),
    "to between 0 and 1: 1/(1 + e^−x)": equal("σ(x)", "1 / (1 + exp(−x))", "σ(−∞)", "0", "σ(∞)", "1"),
    "to between −1 and 1": equal("tanh(−∞)", "−1", "tanh(∞)", "1"),
    "and 0 stays 0": equal("tanh(0)", "0"),
    "with erf(x/√2)": Holds(lambda: np.allclose(PHI, np.vectorize(NormalDist().cdf)(GRID))),
    "x·Φ(x), where Φ(x) = ½(1 + erf(x/√2)) is the share of a bell curve that lies below x": Holds(
        lambda: np.allclose(PHI, np.vectorize(NormalDist().cdf)(GRID))
    ),
    "tanh of this cubic follows erf(x/√2) closely": Holds(
        lambda: np.abs(np.tanh(cubic(GRID)) - 2 * PHI + 1).max() < 1e-3
    ),
    "approximates x·Φ(x), never more than 0.0005 away from it": Holds(
        lambda: 4e-4 < off(GRID / 2 * (1 + np.tanh(cubic(GRID)))) <= 5e-4
    ),
    "approximation of x·Φ(x), up to 0.02 away from it": Holds(
        lambda: round(off(GRID / (1 + np.exp(-1.702 * GRID))), 2) == 0.02
    ),
    "α = 1: the sublayer's output counts in full": lambda at: np.allclose(at.value, at["F"]),
    "an α below 1": Cited("α is given, and 1 leaves the sublayer's output as it is"),
    "iteration 0 is the start": lambda at: np.allclose(at.value, at.option("start")) or at.group != "iteration 0",
    "the moments start at 0": Cited("the first step's formula has the 0 in it, and is read back"),
    "its power counts the steps, and it grows to 1": equal("1 − 0.9^1000", "1.0000"),
    "the slope of λ/2·‖θ‖²": Slope("(p / 2)·x²", "p·x"),
    "every coordinate towards 0": Slope("(p / 2)·x²", "p·x"),
    "a straight rise, then 1/√step": Cited("the formula of the step, which is read back"),
    "to 0 at the last step": lambda at: at.value[-1] == 0,
    "above 0 where the prediction is too high": lambda at: ((at.value > 0) == (at["predictions"] > at["Y"])).all(),
    "times 2/N: the 2 comes from the square, the 1/N from the mean over the samples": lambda at: at.is_gradient(2),
    "times 1/N": lambda at: at.is_gradient(1),
    "∂L/∂z{}: the 2 of the square, the 1/N of the mean": lambda at, k: at.is_error(k, 2),
    "∂L/∂z{}: the 1/N of the mean": lambda at, k: at.is_error(k, 1),
    "∂L/∂z{}: p − y for each sample, times the 1/N of the mean": lambda at, k: at.name == f"delta{k}",
    "the ½ cancels the 2 of the square": Slope("(1/2)·x²", "x"),
    "already hold the 1/N": lambda at: np.allclose(at.value, at[f"δ_{at.name[-1]}"].sum(0)),
    "back through w{}": named("W_{0}"),
    "the activation's slope at z{}": named("delta{0}"),
}
