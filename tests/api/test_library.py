"""The library's face: calculations as functions, what they take, what they say, what importing them costs."""

from __future__ import annotations

import inspect
import io
import json
import pickle
import pydoc
import re
import subprocess
import sys
import traceback
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from html import unescape
from importlib import metadata
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np
import pytest
import sympy
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from rich.columns import Columns
from rich.console import Console
from rich.panel import Panel
from rows import rows

import attncalc as ac
from attncalc.api import METHODS, method
from attncalc.calculations import TABLE, load
from attncalc.render import View, render

Array = NDArray[Any]
Q, K, V = [[1, 0, 1], [0, 1, 1]], [[1, 1, 0], [1, 0, 1]], [[2, 0, 1], [1, 1, 0]]
OUTPUT = [[1.3595, 0.6405, 0.3595], [1.5, 0.5, 0.5]]


class TestACall:
    def test_takes_operands_by_position_in_the_order_of_the_command_line(self) -> None:
        assert_array_equal(ac.attention(Q, K, V).result.round(4), OUTPUT)

    def test_takes_them_by_name_in_any_order(self) -> None:
        assert_array_equal(ac.attention(v=V, q=Q, k=K).result.round(4), OUTPUT)
        assert_array_equal(ac.attention(Q, v=V, k=K).result.round(4), OUTPUT)

    def test_takes_options_by_the_words_of_the_command_line(self) -> None:
        t = ac.attention(Q, K, V, causal=True, scale="none", mask_before_scale=True)
        assert [step.name for step in t.steps] == ["scores", "masked", "weights", "output"]
        assert (t.options["scale"], t.options["causal"]) == ("none", True)

    @pytest.mark.parametrize(
        "vector",
        [
            pytest.param([1, 2, 2], id="a list"),
            pytest.param((1, 2, 2), id="a tuple"),
            pytest.param(np.array([1, 2, 2]), id="whole numbers"),
            pytest.param(np.array([1, 2, 2], dtype=np.int8), id="small whole numbers"),
            pytest.param(np.array([1, 2, 2], dtype=np.float32), id="float32"),
            pytest.param(np.array([2, 2, 1.0])[::-1], id="a view"),
            pytest.param([Fraction(1), 2, 2.0], id="a mixture"),
            pytest.param(["1", "2", "2"], id="numbers as text"),
            pytest.param([np.float64(1), np.int64(2), 2], id="NumPy's numbers"),
        ],
    )
    def test_takes_anything_that_is_an_array(self, vector: Any) -> None:
        assert float(ac.norm(vector).result) == 3

    @pytest.mark.parametrize("third", [Fraction(1, 3), sympy.Rational(1, 3)], ids=["Fraction", "SymPy's"])
    def test_computes_with_exact_numbers_as_they_are(self, third: Any) -> None:
        assert ac.dot([third, 1], [3, 2]).result == 3
        assert ac.softmax([third, Fraction(1, 3), Decimal("0.5")]).result[0] == 1 / (
            2 + sympy.exp(sympy.Rational(1, 6))
        )

    def test_takes_what_speaks_the_array_protocol(self) -> None:
        class Tensor:
            """As torch's and JAX's arrays do."""

            def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
                return np.array([3.0, 4.0])

        assert float(ac.norm(Tensor()).result) == 5

    def test_leaves_its_operands_alone(self) -> None:
        x = np.array([1.0, 2, 3])
        t = ac.softmax(x)
        t.result[:] = 0
        x_before = x.copy()
        ac.softmax(x).grad([1, 0, 0])
        assert_array_equal(x, x_before)

    def test_gives_each_caller_numbers_of_their_own(self) -> None:
        x = np.array([1.0, 2, 3])
        ac.norm(x)["powers"][:] = 7
        assert_array_equal(x, [1, 2, 3])

    def test_may_be_exact_forward_and_backward(self) -> None:
        t = ac.cosine([0.1, np.float64(0.2)], np.array([3, 4]), exact=True)
        assert t.result == 11 * sympy.sqrt(5) / 25
        assert t.grad(wrt="b").result.tolist() == [-8 * sympy.sqrt(5) / 625, 6 * sympy.sqrt(5) / 625]
        assert t.mode.dtype == t.grad().mode.dtype == ac.norm([3], exact=True).mode.dtype == "object"
        assert t.to_dict()["settings"] == {"exact": True}

    def test_may_be_in_single_precision_or_rounded_by_hand(self) -> None:
        assert ac.softmax([1, 2], dtype="float32").result.dtype == np.float32
        assert ac.softmax([1, 2], dtype=np.float32).result.dtype == np.float32
        assert ac.softmax([1, 2], dtype="float32").grad([1, 0]).result.dtype == np.float32
        assert_array_equal(ac.softmax([1, 2], round_to=1)["exponentials"], [0.4, 1])

    def test_what_single_precision_cannot_hold_is_told_by_the_step_that_it_spoils(self) -> None:
        with pytest.raises(ac.DomainError, match=r"difference\[0\] = a − b overflows: .* the largest float32"):
            ac.manhattan([1e286, 2], [1, 2], dtype="float32")
        assert ac.softmax([-1e286, 0], dtype="float32").result.tolist() == [0, 1]


class TestATrace:
    T = ac.attention(Q, K, V)

    def test_gives_steps_by_name_and_in_order(self) -> None:
        assert_array_equal(self.T["weights"].round(4), [[0.3595, 0.6405], [0.5, 0.5]])
        assert [(step.name, step.formula) for step in self.T.steps] == [
            ("scores", "Q·Kᵀ"),
            ("scaled", "scores / √d_k"),
            ("weights", "softmax(scaled)"),
            ("output", "weights·V"),
        ]

    def test_gives_the_result_by_that_name_too(self) -> None:
        assert_array_equal(self.T["result"], self.T.result)

    def test_has_a_gradient(self) -> None:
        back = self.T.grad(upstream=[[1, 0, 1], [0, 1, 0]])
        assert_array_equal(back["grad_q"].round(4), [[0, 0.2659, -0.2659], [0, -0.1443, 0.1443]])
        assert [step.name for step in back.outputs] == ["grad_q", "grad_k", "grad_v"]
        assert [step.name for step in self.T.grad(wrt=["v"]).outputs] == ["grad_v"]
        projected = ac.qkv([[1, 2]], np.eye(2), np.eye(2), np.eye(2))
        assert [step.name for step in projected.grad(wrt="wq").outputs] == ["grad_wq"]
        assert all(step.check and step.check.agrees for step in self.T.grad(gradcheck=True).outputs)

    def test_is_a_document_that_is_the_problem_too(self) -> None:
        document = self.T.to_dict()
        assert ForkingPickler.loads(bytes(ForkingPickler.dumps(document))) == document, "it goes to other processes"
        assert document["calculation"] == "attention"
        assert document["inputs"]["q"] == Q
        assert_allclose(document["result"], OUTPUT, atol=1e-4)
        assert [step["name"] for step in document["steps"]] == ["scores", "scaled", "weights", "output"]

    def test_saves_operands_as_they_were_given(self) -> None:
        assert ac.layernorm([1, 2, 4]).to_dict()["inputs"] == {"x": [1, 2, 4]}
        dropped = ac.attention(Q, K, V, mask=[[1, 0], [0, 0]], mask_kind="drop").to_dict()
        assert dropped["inputs"]["mask"] == [[1, 0], [0, 0]]

    def test_draws_itself(self) -> None:
        assert "1.3595" in str(self.T)
        assert "<table" in self.T._repr_html_()
        assert self.T._repr_html_() == self.T.to_html()
        assert self.T.to_html(standalone=True).startswith("<!DOCTYPE html>")
        assert "weights" in self.T._repr_markdown_() == self.T.to_markdown()
        assert r"\begin{" in self.T.to_latex()


@pytest.mark.parametrize(
    ("call", "said", "hint"),
    [
        pytest.param(lambda: ac.dot([1, 2], [1, 2, 3]), "a is n=2 but b is n=3", "", id="lengths"),
        pytest.param(lambda: ac.dot([1, 2]), "b is missing", "", id="an operand"),
        pytest.param(lambda: ac.dot([1], [2], [3]), "takes 2 operands by position (a, b), but 3", "", id="too many"),
        pytest.param(lambda: ac.dot([1], [2], a=[3]), "given a twice, by position and by name", "", id="twice"),
        pytest.param(lambda: ac.attention(Q, K, V, casual=True), "'casual'", "causal", id="a misspelt option"),
        pytest.param(lambda: ac.attention(Q, K, V, scale="nome"), "--scale must be", "none", id="a misspelt word"),
        pytest.param(lambda: ac.cosine([0, 0], [1, 2]), "zero vector", "distance", id="no direction"),
        pytest.param(lambda: ac.norm([1, float("nan")]), "a", "", id="no number"),
        pytest.param(lambda: ac.norm([[1, 2], [3]]), "a", "", id="ragged"),
        pytest.param(lambda: ac.norm([1, None]), "null", "", id="nothing for a number"),
        pytest.param(lambda: ac.norm("1,2"), "text", "", id="text"),
        pytest.param(lambda: ac.norm([True, False]), "true", "", id="truth"),
        pytest.param(lambda: ac.norm([1 + 2j]), "a", "", id="a complex number"),
        pytest.param(
            lambda: ac.softmax([1], dtype="float128"),
            "dtype must be float64, float32, float16, bfloat16, float8_e4m3fn or float8_e5m2, not float128",
            "",
            id="a dtype",
        ),
        pytest.param(lambda: ac.softmax([1], round_to=-1), "round", "", id="decimals"),
        pytest.param(lambda: ac.softmax([1], round_to=1.5), "round", "", id="half a decimal"),
        pytest.param(lambda: ac.softmax([1], keep_all=1), "keep_all", "", id="no switch"),
        pytest.param(lambda: ac.softmax([1], exact="yes"), "exact must be True or False", "", id="nor is a word"),
        pytest.param(lambda: ac.softmax([1], exact=True, round_to=2), "--exact rounds nothing", "", id="both ways"),
        pytest.param(lambda: ac.dot([1], [2]).grad(wrt=["c"]), "'c'", "", id="no such operand"),
        pytest.param(lambda: ac.dot([1], [2])["dor"], "'dor'", "dot", id="no such step"),
        pytest.param(lambda: ac.mips([1], [[1]]).grad(), "jumps", "", id="no gradient"),
    ],
)
def test_every_error_is_a_valueerror_of_one_line(call: Any, said: str, hint: str) -> None:
    with pytest.raises(ac.AttncalcError) as error:
        call()
    assert isinstance(error.value, ValueError)
    assert re.fullmatch(r"[^\n]+", str(error.value))
    assert said in str(error.value)
    assert hint in error.value.hint


def test_a_traceback_shows_the_hint() -> None:
    """It stands below the message, which is one line; a mend that is found later takes its place."""
    with pytest.raises(ac.OptionError) as error:
        ac.attention(Q, K, V, casual=True)
    shown = traceback.format_exception(error.value)
    assert shown[-1] == "hint: did you mean causal?\n"
    error.value.hint = "another"
    assert traceback.format_exception(error.value)[-1] == "hint: another\n"
    error.value.hint = ""
    assert "hint" not in traceback.format_exception(error.value)[-1]


def test_an_entry_has_its_arithmetic() -> None:
    t = ac.attention(**json.loads(LABELLED))
    assert t.find("output").labels == {"n": ("I", "like")}
    told = t.cell("output[like,0]", "weights[1,0]").splitlines()
    assert [line.partition(" = ")[0] for line in told] == ["output[like,0]", "weights[1,0]"]
    assert told[0].endswith(f" = {t.result[1, 0]:.4f}")
    with pytest.raises(ac.AttncalcError) as error:
        t.find("weights[1,0]")
    assert 't.cell("weights[1,0]")' in error.value.hint
    assert error.value.hint.startswith("--cell 'weights[1,0]' is its arithmetic")  # --get says so, too
    with pytest.raises(ac.OptionError):
        t.cell()


LABELLED = """{"q": {"I": ["1/2", 1], "like": [1, "-1/3"]}, "k": [[1, 0], ["1/3", 1]], "v": [[1, 0], ["1/2", 3]]}"""


def test_fractions_are_exact_unless_floats_are_asked_for() -> None:
    q = [[Fraction(1, 2), 1, 0], [1, Fraction(-1, 3), 2]]
    exact, floats = ac.attention(q, K, V), ac.attention(q, K, V, exact=False)
    assert "exact=False" in exact.notes[-1]
    assert [str(found.result.dtype) for found in (exact, floats)] == ["object", "float64"]
    assert not floats.notes
    np.testing.assert_allclose(floats.result, exact.result.astype(float))
    assert floats.grad()["grad_q"].round(4).dtype == float
    assert not ac.attention(q, K, V, exact=True).notes


def test_what_is_given_by_name_is_told() -> None:
    with pytest.raises(ac.OptionError) as error:
        ac.sinusoidal(3, 4)
    assert error.value.hint == "attncalc.sinusoidal(n=3, d=4) names them"
    assert "()" not in str(error.value)
    assert ac.sinusoidal(n=3, d=4).result.shape == (3, 4)


def test_a_marked_sheet_draws_itself() -> None:
    marked = ac.attention(Q, K, V).check(np.full((2, 3), 0.3))
    assert "<table" in marked._repr_html_()
    assert repr(marked["output"]) == "<output: unexplained, 0 of 2>"


def test_there_is_a_function_for_every_calculation() -> None:
    for name in TABLE:
        word = name.replace("-", "_")
        assert getattr(ac, word).__name__ == word
        assert getattr(ac, word).__name__ == word, "a module of the package that is called so takes its place"
        assert word in dir(ac)
        assert pickle.loads(pickle.dumps(getattr(ac, word))) is getattr(ac, word)  # noqa: S301  (made a moment ago)


@rows("name", TABLE)
def test_its_signature_is_what_it_takes(name: str) -> None:
    calculation, parameters = load(name), inspect.signature(getattr(ac, name.replace("-", "_"))).parameters
    taken = {o.name for o in calculation.operands} | calculation.defaults.keys()
    assert set(parameters) == taken | {"dtype", "accumulate", "round_to", "exact", "keep_all"} | {
        *filter(None, [calculation.weights])
    }
    required = {n for n, p in parameters.items() if p.default is inspect.Parameter.empty}
    needed = {o.name for o in calculation.operands if o.required and o.positional}
    assert required == {n for n in needed if not (calculation.weights and n.startswith("w"))}
    assert {n: p.default for n, p in parameters.items() if n in calculation.defaults} == calculation.defaults


def test_weights_may_come_together() -> None:
    one_by_one = {"w1": [[1, 2], [3, 4]], "w2": [[1, 0], [2, 1]]}
    assert_allclose(ac.ffn([[1, 2]], weights=one_by_one).result, ac.ffn([[1, 2]], weights=None, **one_by_one).result)
    with pytest.raises(ac.OptionError, match="no operand or option 'weights'"):
        ac.dot([1], [2], weights=None)


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda: ac.euclidean([1, 2], [3, 4], p=3), "norm, minkowski and pairwise have it: attncalc.norm(…, p=…)"),
        (lambda: ac.softmax([1], base=2), "cross_entropy, perplexity and entropy have it: attncalc.cross_entropy(…, "),
        (lambda: ac.softmax([1, 2], temprature=2), "did you mean temperature?"),
    ],
)
def test_an_option_of_a_neighbour_points_to_it(call: Callable[[], ac.Trace], hint: str) -> None:
    with pytest.raises(ac.OptionError, match="no operand or option") as caught:
        call()
    assert caught.value.hint.startswith(hint)


def test_help_speaks_of_the_calculation_and_not_of_its_class() -> None:
    said = pydoc.plain(pydoc.render_doc(ac.dot))
    assert "Multiply two vectors entry by entry" in said
    assert ac.log_softmax.__name__ == "log_softmax"
    assert str(inspect.signature(ac.softmax)).startswith("(x: Numbers, *, axis: int = -1, temperature: Number = 1, ")


def test_a_calculation_that_is_misspelt_for_a_quiz_is_told() -> None:
    with pytest.raises(ac.InputError) as missed:
        ac.quiz("sofmax")
    assert missed.value.hint == "did you mean softmax or log-softmax?"


@pytest.mark.parametrize(
    ("owner", "name", "said"),
    [
        (ac, "sinusoidl", "attncalc has no calculation called 'sinusoidl': did you mean sinusoidal?"),
        (ac, "explain", "attncalc has no calculation called 'explain': attncalc explain is for the shell"),
        (ac, "grad", "attncalc has no calculation called 'grad': a trace has it, ac.softmax([1, 2]).grad(…)"),
        (ac, "relu", "attncalc has no calculation called 'relu': did you mean activation(…, kind='relu')?"),
        (ac, "kl_div", "attncalc has no calculation called 'kl_div': did you mean kl?"),
        (ac, "zzz", "attncalc has no calculation called 'zzz'"),
        (
            ac.log_softmax([1, 2]),
            "log_softmax",
            "a trace has no attribute 'log_softmax': t[\"log_softmax\"] is the step",
        ),
        (ac.softmax([1, 2]), "html", "a trace has no attribute 'html': did you mean to_html?"),
        (ac.softmax([1, 2]), "resutl", "a trace has no attribute 'resutl': did you mean result?"),
        (ac.softmax([1, 2]), "zzz", "a trace has no attribute 'zzz'"),
        (ac.softmax([1, 2]), "__len__", "a trace has no attribute '__len__'"),
    ],
)
def test_what_is_not_there_leads_to_what_is(owner: Any, name: str, said: str) -> None:
    with pytest.raises(AttributeError) as error:
        getattr(owner, name)
    assert str(error.value) == said


@pytest.mark.thorough
def test_what_a_teacher_makes_shows_itself_in_a_line() -> None:
    assert repr(ac.quiz("softmax", seed=4)) == "<a quiz: a problem>"
    assert repr(ac.quiz("softmax", seed=4, roster=["Ada", "Bob"])) == "<a quiz for 2 students: Ada, Bob>"
    assert repr(ac.grade(ac.norm([3, 4]), {"Ann": 5, "Bob": 7, "Cy": 5})) == "<3 sheets: Ann 2, Bob 0, Cy 2>"


def imported_by(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has after running the code, beyond its own."""
    script = f"import sys; before = set(sys.modules); {code}; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not done.stderr, "importing is silent"
    return set(done.stdout.split())


HEAVY = {"sympy", "mpmath", "rich", "typer", "matplotlib", "json.tool", "asyncio", "hypothesis"}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "code",
    [
        "import attncalc",
        "import attncalc as ac; ac.attention([[1.0]], [[1.0]], [[1.0]], causal=True)",
        "import attncalc as ac; ac.softmax([1, 2]).grad([1, 0], gradcheck=True)",
        "import attncalc as ac; ac.softmax([1, 2]).to_dict()",
    ],
    ids=["importing", "attention", "a gradient", "a document"],
)
def test_nothing_heavy_is_loaded_until_it_is_needed(code: str) -> None:
    assert not HEAVY & imported_by(code)


def test_importing_attncalc_loads_no_calculation() -> None:
    loaded = imported_by("import attncalc")
    assert not {name for name in loaded if name.startswith("attncalc.calculations.")}
    assert "numpy" not in loaded


@pytest.mark.thorough
def test_a_calculation_loads_its_own_family_alone() -> None:
    loaded = imported_by("import attncalc as ac; ac.dot([1], [2])")
    families = {name.rpartition(".")[2] for name in loaded if name.startswith("attncalc.calculations.")}
    assert families == {"vectors"}


def test_it_tells_its_version() -> None:
    assert ac.__version__ == metadata.version("attncalc")


@pytest.mark.thorough
def test_rich_prints_a_trace_wherever_it_stands() -> None:
    trace = ac.attention(Q, K, V)
    for width in (40, 80, 200):
        console = Console(width=width, file=io.StringIO(), record=True)
        console.print(trace)
        assert console.export_text() == str(render(trace, "table", View(width=width, in_python=True)))
    console = Console(width=100, file=io.StringIO(), record=True)
    console.print(Columns([Panel(trace, width=48), Panel(trace, width=48)]))
    lines = console.export_text().splitlines()
    assert all(line.count("│") >= 4 for line in lines[1:-1])
    assert any(line.count("scores") >= 2 for line in lines)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_of_a_record_has_a_function_behind_it(name: str) -> None:
    assert callable(method(name))


def test_advice_in_python_is_of_methods_and_dictionaries() -> None:
    rows = [[1, 0], [0, 1]]
    trace = ac.attention(rows, rows, rows)
    for page in (str(trace), trace.to_markdown(), trace._repr_html_()):
        assert "--cell" not in page
        place = unescape(page).replace("\\", "").split('.cell("')[1].split('"')[0]
        assert trace.cell(place).startswith(f"{place} = ")
    with pytest.raises(ac.OptionError) as caught:
        trace.cell("output", 0, 1)
    assert caught.value.hint == 't.cell("output[0,1]")'
    for name in ("labels", "tokens"):
        with pytest.raises(ac.OptionError) as caught:
            ac.attention(rows, rows, rows, **{name: ["a", "b"]})
        assert caught.value.hint is not None
        assert "keys of a dictionary" in caught.value.hint
