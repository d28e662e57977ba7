"""Expressions: what is read, as what, what is refused and at which character; and that nothing else ever happens."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, strategies
from hypothesis.strategies import SearchStrategy
from readback.arithmetic import real
from rows import rows

from attncalc.common.errors import ExpressionError
from attncalc.evaluate.values import evaluate
from attncalc.language.expression import CONSTANTS, FUNCTIONS, parse
from attncalc.language.graph import Expression, constant
from attncalc.language.primitive import formula


def worked_out(text: str, **values: float) -> float:
    expression = parse(text)
    operands = {name: np.array(value, dtype=float) for name, value in values.items()}
    return float(evaluate([expression.node], operands)[expression.node])


@rows(
    ("text", "shown"),
    [
        ("x**2 + sin(y)", "x² + sin(y)"),
        ("x^2", "x²"),
        ("-x**2", "−x²"),
        ("(-x)**2", "(−x)²"),
        ("2**-x", "2^(−x)"),
        ("2^3^2", "2^(3²)"),
        ("(2^3)^2", "(2^3)²"),
        ("-3*x", "−3·x"),
        ("2*-x", "2·(−x)"),
        ("--x", "−(−x)"),
        ("+x", "x"),
        ("x - -y", "x − (−y)"),
        ("a - b - c", "a − b − c"),
        ("a - (b - c)", "a − (b − c)"),
        ("a / b / c", "(a / b) / c"),
        ("a / (b / c)", "a / (b / c)"),
        ("a*b/c", "a·b / c"),
        ("a/b*c", "(a / b)·c"),
        ("((x))", "x"),
        ("0.1*x", "0.1·x"),
        (".5*x", "0.5·x"),
        ("1.*x", "1·x"),
        ("1e-3*x", "0.001·x"),
        ("007*x", "7·x"),
        ("e**x", "exp(x)"),
        ("e*pi", "e·π"),
        ("log(x)", "ln(x)"),
        ("ln(x)", "ln(x)"),
        ("log2(x) + log10(x)", "log₂(x) + log₁₀(x)"),
        ("max(a, b, c)", "max(max(a, b), c)"),
        ("relu(x)", "max(0, x)"),
        ("abs(x)", "|x|"),
        ("theta_1*alpha", "θ_1·α"),
        ("\tx  +\ty ", "x + y"),
    ],
)
def test_is_read_by_the_rules_of_school(text: str, shown: str) -> None:
    assert formula(parse(text).node) == shown


@pytest.mark.parametrize("text", [*FUNCTIONS, *CONSTANTS])
def test_every_name_works_as_a_graph_as_it_does_on_plain_numbers(text: str) -> None:
    if text in CONSTANTS:
        assert worked_out(text) == getattr(math, text)
        return
    x, y = 0.37, 0.61
    several = FUNCTIONS[text].several
    arguments = (x, y, -1.0) if several else (x,)
    inside = "x, y, -1" if several else "x"
    known = worked_out(f"{text}({inside})", x=x, y=y)
    assert known == pytest.approx(FUNCTIONS[text].value(*arguments), rel=1e-14)
    assert worked_out(f"{text}({', '.join(map(repr, arguments))})") == pytest.approx(known, rel=1e-14)


@pytest.mark.parametrize(
    ("text", "value"),
    [("1/3", 1 / 3), ("2**0.5", 2**0.5), ("exp(-1000)", 0.0), ("10**308", 1e308), ("9**9", 9.0**9), ("-2**2", -4)],
)
def test_what_holds_no_variable_has_a_value(text: str, value: float) -> None:
    assert worked_out(text) == pytest.approx(value, rel=1e-15)


def test_letters_come_in_the_order_in_which_they_are_met_and_can_be_replaced() -> None:
    expression = parse("y*x + x**2")
    assert [*expression.variables] == ["y", "x"]
    assert formula(expression.at({"x": constant(3)})) == "y·3 + 3²"
    assert formula(expression.at({})) == "y·x + x²"


@rows(
    ("text", "place", "message", "hint"),
    [
        ("", 1, "is empty", "x**2"),
        ("  ", 3, "is empty", ""),
        ("x +", 4, "missing behind +", ""),
        ("* x", 1, "missing before *", ""),
        ("x * * y", 5, "missing before *", "**"),
        ("(x", 1, "not closed", "add )"),
        ("x)", 2, "no ( for this )", ""),
        ("x + )", 5, "missing before )", ""),
        ("()", 2, "nothing in these brackets", ""),
        ("2x", 2, "sign is missing", "2*x"),
        ("2(x + 1)", 2, "sign is missing", "2*(…)"),
        ("(a)(b)", 4, "sign is missing", "(…)*(…)"),
        ("x y", 3, "sign is missing", "x*y"),
        ("1.2.3", 4, "sign is missing", ""),
        ("1 000", 3, "sign is missing", ""),
        ("e(x)", 2, "sign is missing", "e*(…)"),
        ("x(3)", 1, "no function x", "x*(…)"),
        ("sinn(x)", 1, "no function sinn", "sin"),
        ("sin x", 1, "brackets are missing", "sin(x)"),
        ("sin(1, 2)", 1, "one argument, but 2", ""),
        ("max(1)", 1, "two arguments or more, but 1", ""),
        ("1,5", 2, "comma", "1.5"),
        ("(1,5)", 3, "comma", "1.5"),
        ("x = 3", 3, '"="', "--at"),
        ("x²", 2, '"²"', "x**2"),
        ("3!", 2, '"!"', "factorial"),
        ("|x|", 1, '"|"', "abs(x)"),
        ("π", 1, '"π"', "pi"),
        ("√x", 1, '"√"', "sqrt"),
        ("x − 1", 3, '"−"', "-"),
        ("2×x", 2, '"×"', "*"),
        ("[x]", 1, '"["', "( and )"),
        ("50%", 3, '"%"', "0.5"),
        ("x.y", 2, '"."', "numbers alone"),
        ("_x", 1, '"_"', ""),
        ("a__b", 1, "underscores", ""),
        ("'x'", 1, '"\'"', "quotes"),
        ("x\ny", 2, r'"\n"', "one line"),
        ("\u202ex", 1, r'"\u202e"', ""),
        ("\x1b[2J", 1, r'"\x1b"', ""),
        ("x" * 33, 1, "32 characters", ""),
        ("1" * 41, 1, "40 digits", ""),
        ("1e309", 1, "too large", ""),
        ("1/0", 2, "quotient has no value", ""),
        ("ln(0)", 1, "ln(…) has no value", ""),
        ("sqrt(-1)", 1, "sqrt(…) has no value", ""),
        ("(-8)**(1/3)", 5, "power has no value", ""),
        ("x + exp(1000)", 5, "exp(…) is too large", ""),
        ("9**9**9**9", 5, "powers end at 1000", ""),
        ("x**1001", 2, "powers end at 1000", ""),
        ("10**-10**9", 3, "powers end at 1000", ""),
        ("9e300*9e300", 6, "product is too large", ""),
        ("lambda", 1, "no name for a variable", "lambda_"),
        ("I*x", 1, "no name for a variable", "I_"),
        ("nan", 1, "no name for a variable", ""),
        ("(" * 41 + "x" + ")" * 41, 41, "more than 40 deep", ""),
        ("-" * 50 + "x", 42, "more than 40 deep", ""),
        ("^".join("x" * 60), 81, "more than 40 deep", ""),
    ],
    ids=lambda value: repr(value)[:24] if isinstance(value, str) else None,
)
def test_refuses_and_points_at_the_character(text: str, place: int, message: str, hint: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert f", character {place}: " in caught.value.message
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("text", "message"),
    [("x" * 1001, "1,001 characters, but the limit is 1,000"), ("+".join("x" * 200), "more than 300")],
    ids=["characters", "tokens"],
)
def test_is_limited(text: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        parse(text)


def test_a_long_text_is_quoted_around_the_fault() -> None:
    with pytest.raises(ExpressionError, match=r'^"…[+x]+!x[+x]+…", character 203: ') as caught:
        parse("x" + "+x" * 100 + "x!x" + "+x" * 100)
    assert len(caught.value.message) < 150


HOSTILE = [
    "__import__('os').system('id')",
    "().__class__.__base__.__subclasses__()",
    "x.subs.__globals__",
    "open('/etc/hostname').read()",
    "exec('import os')",
    "eval(x)",
    "f'{x}'",
    "lambda: 0",
    "[x for x in y]",
    "x if y else z",
    "x; import os",
    "import os",
    "globals()",
    "factorial(10**6)",
    "gamma(10**8)",
    "binomial(10**9, 10**8)",
    "9**9**9",
    "9**9**9**9**9",
    "1e1000000000",
    "1e-999999999999 + 1/1e-999999999999",
    "exp(exp(exp(100.0)))",
    "((((((x" * 20,
    "x" * 999,
    "-" * 5000 + "1",
    "1+" * 20000 + "1",
    "5!!!!!!!!",
    "\\input{/etc/passwd}",
    "${HOME}",
    "`id`",
    "$(id)",
    "%1000000000d",
    "x\x00y",
    "\ud800",
    "𝟙+𝕩",
    "ｘ+1",
    "1_000",
    "0x10",
    "1j",
    "x@y",
    "x//y",
    "x:=3",
    "~x",
    "x<y",
    "True",
    "None",
    "oo",
]


@rows("text", HOSTILE, ids=lambda text: repr(text)[:30])
def test_hostile_text_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


PIECES = [
    *("x", "y", "e", "pi", "0", "1", "2", "9", "0.5", "1e5", "1e-9", "999", "7e14", "1e308"),
    *("+", "-", "*", "/", "**", "^", "(", ")", "(", ")", ",", " "),
    *("exp(", "ln(", "sqrt(", "sin(", "tan(", "softplus(", "max(", "erf(", "relu(", "log2("),
]
soups = strategies.lists(strategies.sampled_from(PIECES), max_size=60).map("".join)


def formulas(*leaves: str) -> SearchStrategy[str]:
    """Well-formed formulas, so that the fuzz reaches what comes behind the parser's door."""

    def grown(inner: SearchStrategy[str]) -> SearchStrategy[str]:
        sign = strategies.sampled_from(["+", "-", "*", "/", "**", "^"])
        function = strategies.sampled_from([name for name in FUNCTIONS if not FUNCTIONS[name].several])
        return strategies.one_of(
            strategies.tuples(inner, sign, inner).map(lambda parts: "({}){}({})".format(*parts)),
            strategies.tuples(function, inner).map(lambda parts: "{}({})".format(*parts)),
            inner.map(lambda text: f"-{text}"),
        )

    return strategies.recursive(strategies.sampled_from(leaves), grown, max_leaves=12)


def tried(text: str) -> Expression | None:
    """The expression, or None; without any other kind of error."""
    try:
        return parse(text)
    except ExpressionError as error:
        return None if str(error).isprintable() else pytest.fail(f"{error!r} would act on a terminal")


@given(strategies.one_of(soups, strategies.text(max_size=80), formulas("x", "y", "2", "pi", "e", "1e5", "999", "0")))
def test_whatever_is_typed_is_read_or_refused(text: str) -> None:
    expression = tried(text)
    if expression is not None:
        assert formula(expression.node)
        assert formula(expression.node, "latex")


@given(formulas("x", "y", "2", "0.5", "3", "pi"), strategies.floats(0.1, 3), strategies.floats(0.1, 3))
@example("(sin(pi))**(x)", 0.5, 1.0)
def test_what_is_shown_is_worth_what_was_typed(text: str, x: float, y: float) -> None:
    """The formula is read by another grammar, which knows nothing of the graph."""
    expression = tried(text)
    shown = formula(expression.node) if expression else "…"
    if expression is None or "…" in shown:
        return
    value = float(evaluate([expression.node], {"x": np.array(x), "y": np.array(y)})[expression.node])
    read, beside = (real(shown, {"x": x, "y": y, "π": pi}) for pi in (math.pi, math.nextafter(math.pi, 4)))
    if math.isfinite(value) and read == pytest.approx(beside, rel=1e-6, abs=1e-9, nan_ok=True):  # unlike sin(π)^0.5
        assert read == pytest.approx(value, rel=1e-6, abs=1e-9), shown


@pytest.mark.thorough
def test_random_soups_by_the_thousand() -> None:
    """What hand-picked attacks miss: many short strings of tokens, drawn without any idea."""
    rng = np.random.default_rng(0)
    texts = ("".join(rng.choice(PIECES, size=rng.integers(1, 25))) for _ in range(20_000))
    assert sum(tried(text) is not None for text in texts) > 100
