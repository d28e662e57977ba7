"""What a mistake says in a formula is what it does: the formula is read, and gives what the mistake gives."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from homework.problems import PROBLEMS
from numpy.typing import NDArray

from attncalc.homework.diagnosis.key import Key
from attncalc.homework.diagnosis.solutions import Solution
from attncalc.language.graph import Node, walk
from readback import text
from readback.meaning import Facts, Tensor, worth
from readback.pages import close, spelled

Array = NDArray[Any]

BOOKS = {"P": "weights", "dP": "grad_weights", "dO": "upstream", "dy": "upstream", "p": "probabilities", "z": "logits"}
BOOKS |= {"σ": "standard_deviation", "x": "X", "∇f": "gradient"}
"""What the words of mistakes call a step or an operand, as books do."""

SAID: dict[tuple[str, str], tuple[str, str]] = {
    ("outer", "outer-elementwise"): ("a ⊙ b", ""),
    ("cosine", "cos-distance"): ("1 − cosine", ""),
    ("cosine", "cos-same-norm"): ("a·b over a·a", "Σ(a ⊙ b) / Σ(a ⊙ a)"),
    ("cosine", "cos-no-sqrt"): ("a·b over (a·a)(b·b)", "Σ(a ⊙ b) / (Σ(a ⊙ a)·Σ(b ⊙ b))"),
    ("cosine", "cos-double-root"): ("a·b over √(‖a‖·‖b‖)", "Σ(a ⊙ b) / √(√(Σ a²)·√(Σ b²))"),
    ("cosine", "cos-sum-norms"): ("a·b over ‖a‖ + ‖b‖", "Σ(a ⊙ b) / (√(Σ a²) + √(Σ b²))"),
    ("cosine", "cos-one-norm"): ("a·b over ‖a‖ alone", "Σ(a ⊙ b) / √(Σ a²)"),
    ("norm", "norm-sum-first"): ("(Σa)²", "(Σ a)²"),
    ("euclidean", "euc-plus"): ("a + b", ""),
    ("manhattan", "man-no-abs"): ("Σ(a − b)", ""),
    ("manhattan", "man-sum-first"): ("|Σ(a − b)|", ""),
    ("manhattan", "man-squared"): ("Σ(a − b)²", ""),
    ("manhattan", "man-euclidean"): ("√Σ(a − b)²", "√(Σ(a − b)²)"),
    ("manhattan", "man-norm-diff"): ("the difference of Σ|a| and Σ|b|", "|Σ|a| − Σ|b||"),
    ("manhattan", "man-plus"): ("a + b", ""),
    ("chebyshev", "cheb-no-abs"): ("max(a − b)", ""),
    ("chebyshev", "cheb-manhattan"): ("Σ|a − b|", ""),
    ("chebyshev", "cheb-euclidean"): ("√Σ(a − b)²", "√(Σ(a − b)²)"),
    ("chebyshev", "cheb-plus"): ("a + b", ""),
    ("minkowski", "mink-manhattan"): ("Σ|a − b|", ""),
    ("minkowski", "mink-plus"): ("a + b", ""),
    ("analogy", "ana-reversed"): ("b − a + c", ""),
    ("analogy", "ana-exchanged"): ("a + b − c", ""),
    ("matmul", "matmul-elementwise"): ("A ⊙ B", ""),
    ("matmul", "matmul-order-ba"): ("B·A", ""),
    ("bayes", "bayes-ignore-prior"): ("likelihood / Σ likelihood", ""),
    ("likelihood", "lik-sum"): ("Σ p", ""),
    ("softmax", "sm-neg"): ("e^−z", "exp(−x)"),
    ("attention", "att-no-scale"): ("softmax(Q·Kᵀ)·V", ""),
    ("attention", "att-k-not-transposed"): ("Q·K", ""),
    ("attention", "att-k-for-v"): ("P·K", ""),
    ("attention", "att-qk-swapped"): ("K·Qᵀ", ""),
    ("attention", "att-q-for-k"): ("Q·Qᵀ", ""),
    ("attention", "att-p-transposed"): ("Pᵀ·V", ""),
    ("attention", "att-scale-dk"): ("divided by d_k", "scores / d_k"),
    ("attention", "att-scale-dv"): ("divided by √d_v", "scores / √d_v"),
    ("attention", "att-scale-multiplied"): ("multiplied by √d_k", "scores·√d_k"),
    ("attention", "jac-diag-only"): ("P ⊙ (1 − P) ⊙ dP", ""),
    ("attention", "datt-dv-p"): ("dV = P·dO", "P·dO"),
    ("layernorm", "ln-no-center"): ("x/σ", "X / σ"),
    ("layernorm", "dln-statistics-fixed"): ("γ ⊙ dy / σ", ""),
    ("activation", "gelu-relu"): ("max(0, x)", ""),
    ("unembed", "unembed-not-transposed"): ("H·E", ""),
    ("unembed", "sm-sigmoid"): ("σ(z)", ""),
    ("gradient", "diff-downhill"): ("−∇f", ""),
}
"""(calculation, mistake) → the formula in its words, and how it is written out where that is short for something."""


@cache
def keys(calculation: str) -> list[Key]:
    return [Key(problem) for problem in PROBLEMS[calculation]]


def names_of(key: Key, solution: Solution) -> dict[str, Tensor]:
    """The operands, sizes and right steps of a problem, by the names that words may call them by."""
    leaves = [node for node in walk(*solution.steps.values()) if node.op in ("input", "size", "constant")]
    found = key.solutions.values([*leaves, *(node.sources[0] for node in solution.steps.values())])
    sizes = {axis.name: axis.size for leaf in leaves for axis in leaf.axes}
    known = {name: Tensor((), np.asarray(float(size))) for name, size in sizes.items()}
    for leaf in leaves:
        if name := spelled(leaf, ""):
            known[name] = Tensor(leaf.names, np.asarray(found[leaf], dtype=float))
    for step in solution.steps.values():
        value = found[step.sources[0]]
        if value.dtype.kind in "biuf":
            for name in (step.args["name"], spelled(step, step.args["group"])):
                known.setdefault(name, Tensor(step.names, np.asarray(value, dtype=float)))
    return known | {book: known[name] for book, name in BOOKS.items() if name in known and book not in known}


def comes_to(formula: str, known: dict[str, Tensor], node: Node) -> Array | None:
    """What the formula comes to; None where it speaks of what is not in this problem, or cannot be formed there."""
    sizes = {axis.name: axis.size for axis in node.axes}
    try:
        return np.asarray(worth(text.parse(formula, known), known, Facts(sizes, node.shape, node.names))[0].numbers)
    except (ValueError, KeyError, IndexError, AttributeError, TypeError):
        return None


def does(key: Key, wrong: Solution, formula: str) -> bool:
    """Whether a step is what the formula gives, and is not right."""
    right = key.solutions.right
    known = names_of(key, right)
    for step, node in wrong.steps.items():
        if step in right.steps:
            spoilt, due = key.values([node, right.steps[step]])
            found = None if spoilt.shape == due.shape and close(spoilt, due) else comes_to(formula, known, node)
            if found is not None and close(found, spoilt, 1.0):
                return True
    return False


@pytest.mark.parametrize(("calculation", "id"), SAID, ids=[" ".join(said) for said in SAID])
def test_a_mistake_does_what_it_says(calculation: str, id: str) -> None:
    fragment, formula = SAID[calculation, id]
    planted = [(key, s) for key in keys(calculation) for s in key.wrong if s.mistakes and s.mistakes[0].id == id]
    found = [(key, solution) for key, solution in planted if fragment in solution.mistakes[0].says]
    assert found, f"its words have changed: read {[s.mistakes[0].says for _, s in planted]} anew"
    assert any(does(key, solution, formula or fragment) for key, solution in found)
