"""Shortened graphs: what changes nothing is left out, and nothing else; the value stays what it was."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, strategies
from hypothesis import given as examples
from language.test_expression import formulas
from rows import rows

from attncalc.common.errors import ExpressionError
from attncalc.evaluate.values import evaluate
from attncalc.language.axes import Axis
from attncalc.language.expression import parse
from attncalc.language.gradients import shortened
from attncalc.language.graph import Node, as_node, given, step
from attncalc.language.ops import mean, one_hot, spread, total
from attncalc.language.primitive import formula


@rows(
    ("text", "short"),
    [
        ("1*x", "x"),
        ("x*1", "x"),
        ("x/1", "x"),
        ("x + 0", "x"),
        ("0 - x", "−x"),
        ("0*x + y", "y"),
        ("x**1", "x"),
        ("-(-x)", "x"),
        ("-(x - y)", "y − x"),
        ("x + -y", "x − y"),
        ("-x + y", "y − x"),
        ("-x - y", "−x − y"),
        ("2*(3*x)", "6·x"),
        ("1000000*999999*x", "999999000000·x"),
        ("1000000*1000000*x", "1000000·1000000·x"),
        ("2*0.06172839455*x", "0.1234567891·x"),
        ("2*0.061728394555*x", "2·0.061728394555·x"),
        ("x*2*y*3", "6·x·y"),
        ("x*-2", "−2·x"),
        ("-2*-x", "2·x"),
        ("0.1*(3*x)", "0.3·x"),
        ("2*x/2", "x"),
        ("(1/x)*y", "y / x"),
        ("(1/3)*x", "x / 3"),
        ("x/-y", "−x / y"),
        ("x/y/y", "x / y²"),
        ("x*x", "x²"),
        ("2 - 5", "−3"),
        ("x**(3 - 1)", "x²"),
        ("x + y - x", "x + y − x"),
        ("123456*(7891011*x)", "974192654016·x"),
        ("1234567*(7891011*x)", "1234567·7891011·x"),
    ],
)
def test_leaves_out_what_changes_nothing(text: str, short: str) -> None:
    assert formula(shortened([parse(text).node])[0]) == short


@examples(formulas("x", "y", "1", "2", "0.5"), strategies.floats(0.3, 2), strategies.floats(0.3, 2))
def test_keeps_the_value(text: str, x: float, y: float) -> None:
    try:
        node = parse(text).node
    except ExpressionError:
        return
    operands = {"x": np.array(x), "y": np.array(y)}
    values = evaluate([node], operands, keep=lambda _: True)
    assume(all(np.isfinite(v) and v != 0 for v in values.values()))  # 1/−0 and 1/0 lie far apart
    (short,) = shortened([node])
    assert float(evaluate([short], operands)[short]) == pytest.approx(float(values[node]), rel=1e-6, abs=1e-9)


N = Axis("n", 3)


@pytest.mark.parametrize(
    ("build", "short"),
    [
        (lambda x: total(2 * x), "2·Σ x"),
        (lambda x: total(-x), "−Σ x"),
        (lambda x: total(x / x.size("n")), "Σ x / n"),
        (lambda x: 1 / x.size("n") * (2 * x), "2·x / n"),
        (lambda x: spread(1 / x.size("n"), x.axes) * x, "x / n"),
        (mean, "mean(x)"),
        (lambda x: 0 * x, "0 copied along n"),
        (lambda x: step("named", 1 * x) * 1, "named"),
        (lambda x: x * total(one_hot(x, Axis("class", 3)), "class"), "x"),
        (lambda x: total(one_hot(x, Axis("class", 3)), "n"), "Σ_n onehot(x)"),
    ],
)
def test_numbers_and_sizes_come_out_of_what_is_linear(build: Callable[[Node], Node], short: str) -> None:
    x = given("x", (N,))
    node = build(x)
    (found,) = shortened([node])
    assert formula(step("whole", found)) == short
    assert found.axes == node.axes
    operands = {"x": np.array([1.0, 2, 0])}
    assert evaluate([found], operands)[found] == pytest.approx(evaluate([node], operands)[node])


@pytest.mark.parametrize(
    ("letters", "short"),
    [("abcdef", "x − a − b − c − d − e − f"), ("abcdefg", "x + (−a) + (−b) + … + (−g)")],
    ids=["six are taken away", "of seven the first and the last are told"],
)
def test_few_terms_are_written_as_taken_away(letters: str, short: str) -> None:
    (found,) = shortened([Node("add", given("x", ()), *(-given(letter, ()) for letter in letters))])
    assert formula(found) == short


def test_equal_parts_stay_one() -> None:
    x = given("x", ())
    inner = 1 * (x + 0)
    first, second = shortened([inner * 2, inner * 3])
    assert first.sources[1] is second.sources[1]
    assert shortened([as_node(5)])[0].args["value"] == 5
