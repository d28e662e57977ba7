"""Derivatives and gradients: numbers by SymPy and by hand, formulas as a person writes them, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy
from hypothesis import given, strategies
from language.test_expression import formulas
from numpy.testing import assert_allclose

import attncalc as ac
from attncalc.common.errors import DomainError, ExpressionError, InputError, NoGradient, NotExact, OptionError
from attncalc.evaluate.values import evaluate
from attncalc.language.expression import parse
from attncalc.language.gradients import slopes
from attncalc.language.graph import as_node
from attncalc.language.primitive import formula

x, y = sympy.symbols("x y", real=True)
BY_SYMPY = {
    "x**5 - 2*x": x**5 - 2 * x,
    "x*exp(-x**2/2)": x * sympy.exp(-(x**2) / 2),
    "ln(1 + x**2)": sympy.log(1 + x**2),
    "log2(x) + log10(x)": sympy.log(x, 2) + sympy.log(x, 10),
    "sqrt(x)/(1 + x)": sympy.sqrt(x) / (1 + x),
    "x**x": x**x,
    "2**x": 2**x,
    "x**(1/3)": x ** sympy.Rational(1, 3),
    "tan(x)": sympy.tan(x),
    "tanh(sin(x))": sympy.tanh(sympy.sin(x)),
    "sigmoid(2*x)": 1 / (1 + sympy.exp(-2 * x)),
    "softplus(x)": sympy.log(1 + sympy.exp(x)),
    "erf(x)": sympy.erf(x),
    "gelu(x)": x * (1 + sympy.erf(x / sympy.sqrt(2))) / 2,
    "silu(x)": x / (1 + sympy.exp(-x)),
    "acos(x/2)": sympy.acos(x / 2),
    "e**x*cos(pi*x)": sympy.exp(x) * sympy.cos(sympy.pi * x),
}


@pytest.mark.parametrize("text", BY_SYMPY)
def test_first_and_second_derivatives_are_those_of_sympy(text: str) -> None:
    at, known = 0.7, BY_SYMPY[text]
    assert float(ac.derivative(text, at=at).result) == pytest.approx(
        float(known.diff(x).subs(x, at).evalf()), rel=1e-12
    )
    found = ac.gradient(text, at={"x": at})
    assert float(found["value"]) == pytest.approx(float(known.subs(x, at).evalf()), rel=1e-12)
    assert_allclose(found["hessian"], [[float(known.diff(x, 2).subs(x, at).evalf())]], rtol=1e-10)


def test_gradient_and_hessian_in_two_variables_are_those_of_sympy() -> None:
    known = (1 - x) ** 2 + 100 * (y - x**2) ** 2
    found = ac.gradient("(1-x)**2 + 100*(y-x**2)**2", at="x=-1.2,y=1")
    at = {x: -1.2, y: 1}
    assert_allclose(found.result, [float(known.diff(v).subs(at)) for v in (x, y)], rtol=1e-12)
    assert_allclose(found["hessian"], [[float(known.diff(v, w).subs(at)) for v in (x, y)] for w in (x, y)], rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "slope"),
    [
        ("x**2", "2·x"),
        ("5*x", "5"),
        ("7", "0"),
        ("x**3 - 3*x", "3·x² − 3"),
        ("-3*x**2*-2", "12·x"),
        ("1/x", "−1 / x²"),
        ("x**-2", "−2·x^(−3)"),
        ("sqrt(x)", "1 / (2·√x)"),
        ("ln(x**2 + 1)", "2·x / (x² + 1)"),
        ("exp(x)", "exp(x)"),
        ("0.1*x**2", "0.2·x"),
        ("sin(x)*x", "sin(x) + x·cos(x)"),
        ("tan(x)", "1 + tan(x)²"),
        ("softplus(x)", "σ(x)"),
        ("-cos(x)", "sin(x)"),
        ("relu(x)", "0 where x ≤ 0, else 1"),
    ],
)
def test_a_slope_is_written_as_a_person_writes_it(text: str, slope: str) -> None:
    assert ac.derivative(text, at=2).find("derivative").formula == slope


@given(formulas("x", "y", "2", "0.5", "3", "1"), strategies.floats(0.3, 2), strategies.floats(0.3, 2))
def test_a_shortened_slope_is_the_slope_that_differences_give(text: str, at_x: float, at_y: float) -> None:
    try:
        expression = parse(text)
    except ExpressionError:
        return
    operands = {"x": np.array(at_x), "y": np.array(at_y)}
    for name, letter in expression.variables.items():
        (slope,) = slopes(expression.node, as_node(1), [letter])
        assert formula(slope)
        around = [
            float(evaluate([expression.node], operands | {name: operands[name] + i * 1e-4})[expression.node])
            for i in (-2, -1, 1, 2)
        ]
        found = float(evaluate([slope], operands)[slope])
        size = max(map(abs, around))
        if not all(map(math.isfinite, (*around, found))) or size > 1e3 or abs(found) > 1e3:
            continue
        coarse, fine = (around[3] - around[0]) / 4e-4, (around[2] - around[1]) / 2e-4
        if abs(coarse - fine) < 1e-5 * max(1, abs(fine)):  # smooth, as far as differences can tell
            assert found == pytest.approx(fine, rel=1e-3, abs=1e-3), formula(slope)


def test_the_quotients_come_nearer_by_the_factor_of_h() -> None:
    found = ac.derivative("x**3", at=2)
    errors = np.abs(found["difference_quotients"][:4] - found.result)
    assert_allclose(errors[1:] / errors[:-1], 0.1, rtol=0.2)
    assert found.find("difference_quotients").labels["h"] == ("0.1", "0.01", "0.001", "0.0001", "1e-05", "1e-06")


@pytest.mark.parametrize(("h", "widths"), [((0.5,), 6), ((1, 0.5), 2), ((-0.1, 0.1, 0.2), 3)])
def test_one_h_is_made_smaller_and_several_are_taken_as_they_are(h: tuple[float, ...], widths: int) -> None:
    assert ac.derivative("x**2", at=3, h=h)["difference_quotients"].shape == (widths,)


@pytest.mark.parametrize("at", [3, "3", "x=3", {"x": 3}, {"x": "3"}, "x = 3"])
def test_a_point_is_said_in_many_ways(at: object) -> None:
    assert float(ac.derivative("x**2", at=at).result) == 6


def test_variables_stand_in_the_order_of_the_point() -> None:
    found = ac.gradient("x**2*y", at={"y": 5, "x": 3})
    assert found.result.tolist() == [9, 30]
    assert found.find("gradient").labels["variable"] == ("y", "x")


def test_without_a_point_the_result_is_a_formula() -> None:
    assert sympy.simplify(ac.derivative("x**3*exp(x)").result.item() - (x**3 * sympy.exp(x)).diff(x)) == 0
    assert ac.gradient("x**2*y").result.tolist() == [2 * x * y, x**2]


def test_a_third_is_exact_where_numbers_are() -> None:
    from attncalc.calculations import load
    from attncalc.inputs.python_values import to_given
    from attncalc.solve.problem import Problem
    from attncalc.solve.solver import solve

    calculation = load("gradient")
    inputs = {"expression": to_given("x**2*y", calculation.operands[0])}
    found = solve(Problem(calculation, inputs, {"at": "x=1/3,y=0.1"}), exact=True)
    assert found.result.tolist() == [sympy.Rational(1, 15), sympy.Rational(1, 9)]


@pytest.mark.parametrize(
    ("text", "options", "error", "message"),
    [
        ("x*y", {"at": 1}, OptionError, "in one variable, but the formula has x and y"),
        ("x", {"at": {"y": 1}}, OptionError, "gives y, but the formula has x"),
        ("x", {"at": "x=1,x=2"}, OptionError, "twice"),
        ("x", {"at": "x=one"}, OptionError, "not a number"),
        ("x", {"at": {"x": math.inf}}, OptionError, "must be"),
        ("x", {"at": {"1": 2}}, OptionError, "not the name of a variable"),
        ("x", {"at": True}, OptionError, "must be"),
        ("x", {"at": 1, "h": (0,)}, OptionError, "must not be 0"),
        ("ln(x)", {"at": -1}, DomainError, "no value"),
        ("exp(x)", {"at": 1000}, DomainError, "overflows"),
        ("1/x", {"at": 0}, DomainError, "divides by 0"),
        ("x/(1-1)", {"at": 1}, DomainError, "divides by 0"),
        ("sqrt(x)", {"at": 0}, DomainError, "divides by 0"),
        ("1/x", {"at": 1e-320}, DomainError, "overflows"),
        ("2x", {"at": 1}, ExpressionError, "character 2"),
        (3, {"at": 1}, InputError, "a formula is text"),
        ("relu(x)", {}, NotExact, "the larger of two letters"),
    ],
)
def test_refuses(text: object, options: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ac.derivative(text, **options)


@pytest.mark.parametrize(
    ("at", "message"),
    [(1, "is one number, but the formula has x and y"), ("x=1", "lacks y"), ("x=1,2", "without a name")],
)
def test_a_point_of_several_variables_names_them_all(at: object, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        ac.gradient("x*y", at=at)


def test_many_variables_have_a_gradient_and_no_hessian() -> None:
    names = [f"x{i}" for i in range(31)]
    found = ac.gradient("*".join(names), at=dict.fromkeys(names, 1))
    assert found.result.tolist() == [1] * 31
    assert [step.name for step in found.outputs] == ["gradient", "value"]
    assert "Hessian" in found.notes[0]


def test_what_is_typed_has_no_backward_pass() -> None:
    with pytest.raises(NoGradient, match="nothing that could have a gradient"):
        ac.derivative("x**2", at=1).grad()


BOMBS = [
    ("x**1000*x**1000", {"x": 12345.678}),
    ("x**y", {"x": 1.0000001, "y": 1e9}),
    ("2**x**2**y", {"x": 12345.678, "y": 900}),
    ("exp(exp(exp(x)))", {"x": 10}),
]


@pytest.mark.parametrize(("text", "at"), BOMBS, ids=[text for text, _ in BOMBS])
def test_exact_numbers_do_not_grow_without_bound(text: str, at: dict[str, float]) -> None:
    from attncalc.calculations import load
    from attncalc.inputs.python_values import to_given
    from attncalc.solve.problem import Problem
    from attncalc.solve.solver import solve

    calculation = load("gradient")
    with pytest.raises(NotExact, match="digits"):
        solve(Problem(calculation, {"expression": to_given(text, calculation.operands[0])}, {"at": at}), exact=True)


@pytest.mark.parametrize(
    ("formula", "at", "before", "behind", "given"),
    [
        ("abs(x)", 0, -1, 1, 0),
        ("relu(x - 1)", 1, 0, 1, 0),
        ("max(x, 0)", 0, 0, 1, 1),
        ("-max(x, x**2)", 1, -1, -2, -1),
        ("abs(x)*3 + 100000", 0, -3, 3, 0),
        ("abs(exp(x) - 1)", 0, -1, 1, 0),
        ("abs(x**2 - 1)", 1, -2, 2, 0),
    ],
)
def test_a_corner_is_told_by_its_slopes_on_both_sides(
    formula: str, at: float, before: float, behind: float, given: float
) -> None:
    for found in (ac.derivative(formula, at=at), ac.gradient(formula, at=at)):
        (warning,) = found.warnings
        assert f" {before} before and {behind} behind the point" in warning
        assert f"{given} is what the rules" in warning


def test_a_corner_is_told_of_each_variable_that_has_one() -> None:
    warnings = ac.gradient("abs(x) + y*max(z, 0) + y**2", at={"y": 2, "x": 0, "z": 0}).warnings
    assert [warning.split(" is ")[0] for warning in warnings] == ["the slope in x", "the slope in z"]


@pytest.mark.parametrize(
    ("formula", "at"),
    [
        ("abs(x)", -2),
        ("abs(x)*x", 0),
        ("x**2", 1e8),
        ("tanh(1000*x)", 0),
        ("sin(1/x)", 0.001),
        ("1e12+x", 1),
        ("x**2.5", 0),
        ("abs(x)", 1e-9),
        ("abs(x)", -1e-12),
        ("max(x, 0)", 1e-7),
        ("0*x", 0),
        ("x - x", 1),
    ],
)
def test_quotients_that_come_near_or_have_not_settled_tell_of_no_corner(formula: str, at: float) -> None:
    assert not ac.derivative(formula, at=at).warnings
    assert not ac.gradient(formula, at=at).warnings


CANCELLING = [
    *("(1-cos(x))/x**2", "(x-sin(x))/x**3", "exp(x)-1-x", "ln(1+x)-x", "sqrt(x**2+1)-x", "1/(1-cos(x))"),
    *("tan(x)-x", "(exp(x)-1)/x", "1/x-1/tan(x)"),
]
"""Formulas whose terms nearly cancel near 0, or far from it."""


@pytest.mark.thorough
@pytest.mark.parametrize("formula", CANCELLING)
def test_lost_digits_are_found_or_told(formula: str) -> None:
    """Twice the digits bring most of them back; where they don't, a warning says how many are left."""
    x = sympy.Symbol("x")
    slope = sympy.diff(sympy.sympify(formula.replace("ln", "log")), x)
    for power in (-16, -12, -8, -5, -2, 8):
        at = 10.0**power
        if "exp" in formula and power > 2:
            continue
        true = float(slope.evalf(60, subs={x: sympy.Rational(at)}, maxn=400))
        trace = ac.derivative(formula, at=at)
        told = [int(said.split()[0].replace("no", "0")) for said in trace.warnings if " of value " in said]
        digits = min(told, default=7)
        assert float(trace.result) == pytest.approx(true, rel=10.0**-digits, abs=0) or digits == 0
