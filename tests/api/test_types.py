"""What a type checker knows of a client's calls: which are right, which are not, and what comes out."""

from __future__ import annotations

import ast
import inspect
import os
import pydoc
import subprocess
import sys
from pathlib import Path

import pytest
from rows import rows

import attncalc as ac
from attncalc.calculations import TABLE

ROOT = Path(__file__).parents[2]

RIGHT = """\
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import attncalc as ac

q, k, v = np.eye(2), [[1.0, 0.5], [0.0, 1.0]], ((1.0, 2), (3, Fraction(1, 3)))
t = ac.attention(q, k, v, causal=True, rope=True, rope_layout="half", padding=[1], bias="alibi", dtype=np.float32)
reveal_type(t)
reveal_type(t.result)
reveal_type(t["weights"])
reveal_type(t.steps[0].labels)
reveal_type(t.steps[0].formula)
reveal_type(t.grad([[1, 0], [0, 1]], wrt="q"))
reveal_type(t.check({"weights": [[1, 0]]}).verdict)
reveal_type(ac.score(t, Path("sheet.json")))
reveal_type(ac.__version__)
reveal_type(t.options)
reveal_type(t.problem.inputs["q"].source)
reveal_type(t.to_dict()["steps"][0]["why"])
reveal_type(t.to_dict()["options"])
reveal_type(t.check({"weights": [[1, 0]]}).to_dict()["steps"][0]["mistakes"])
reveal_type(t.check({"weights": [[1, 0]]})["weights"].given)
ac.softmax(["1/3", "2"], temperature=Decimal("0.5"))
ac.rope(q, no_truncate=True, truncate=False)
ac.rope(q, 3)
t.check({"scores": None, "weights": [[1, 0]], "output": 2.5}, reveal=True)
ac.matmul([[0.6, 0.4], [1, 0]], [[1], [2]])
ac.ffn([[1, 2]], weights={"w1": np.eye(2), "w2": np.eye(2)})
ac.derivative("x**2", at={"x": 3}, h=[0.1, 0.01])
ac.conv(np.ones(5), np.ones(3), stride=2, padding=(1,))
try:
    ac.assert_close(t, [[1, 0]])
except ac.AttncalcError as error:
    print(error.hint, ac.calculations.TABLE)
"""
WRONG = {
    "ac.attention([1], [1], [1], causl=True)": 'Unexpected keyword argument "causl" for "attention"',
    'ac.attention([1], [1], [1], rope_layout="hlaf")': 'Argument "rope_layout" to "attention" has incompatible type',
    'ac.attention([1], [1], [1], bias="alibo")': 'Argument "bias" to "attention" has incompatible type',
    "ac.attention([1], [1], [1], causal=3.5)": 'Argument "causal" to "attention" has incompatible type "float"',
    'ac.dot("1,2", [1, 2])': 'Argument 1 to "dot" has incompatible type "str"',
    "ac.dot({1: 2}, [1])": 'Argument 1 to "dot" has incompatible type "dict[int, int]"',
    "ac.softmax([1]).grad('ones')": 'Argument 1 to "grad" of "Trace" has incompatible type "str"',
    "ac.dot([1])": 'Missing positional argument "b" in call to "dot"',
    "ac.dott([1], [1])": 'Module has no attribute "dott"',
    "ac.softmax([1]).steps[0].why = ''": 'Property "why" defined in "Step" is read-only',
    "ac.softmax([1]).result.colour": 'has no attribute "colour"',
    "ac.softmax([1]).to_dict()['stpes']": 'TypedDict "Document" has no key "stpes"',
    "ac.softmax([1]).to_dict()['steps'][0].name": '"StepDocument" has no attribute "name"',
    "ac.softmax([1]).problem.input": 'has no attribute "input"; maybe "inputs"?',
    "ac.softmax([1]).problem = None": "Incompatible types in assignment",
    "ac.softmax([1]).options['log'] = True": "Unsupported target for indexed assignment",
    "len(ac.softmax([1])['x'].shape, 2)": 'Too many arguments for "len"',
}
SETTING = "bool | float | fractions.Fraction | str | tuple[..., ...] | typing.Mapping[str, ...] | None"
JSON = "bool | int | float | str | list[...] | dict[str, ...] | None"
REVEALED = (
    "attncalc.record.trace.Trace",
    "numpy.ndarray[tuple[Any, ...], numpy.dtype[Any]]",
    "numpy.ndarray[tuple[Any, ...], numpy.dtype[Any]]",
    "typing.Mapping[str, tuple[str, ...]]",
    "str",
    "attncalc.record.trace.Trace",
    "str",
    "float",
    "str",
    f"typing.Mapping[str, {SETTING}]",
    "str",
    "str",
    f"dict[str, {JSON}]",
    "list[str] | None",
    JSON,
)


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What mypy says of a right client and of wrong ones."""
    pytest.importorskip("mypy")
    folder = tmp_path_factory.mktemp("clients")
    (folder / "right.py").write_text(RIGHT, encoding="utf-8")
    (folder / "wrong.py").write_text("\n".join(["import attncalc as ac", *WRONG, ""]), encoding="utf-8")
    mypy = ("mypy", "--strict", "--config-file=", "--follow-imports=silent")  # as of a package that is installed
    command = [sys.executable, "-m", *mypy, "right.py", "wrong.py"]
    environment = os.environ | {"MYPYPATH": str(ROOT), "MYPY_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False)
    return (done.stdout + done.stderr).splitlines()


@pytest.mark.thorough
def test_a_right_client_passes_and_has_types(said: list[str]) -> None:
    right = [line for line in said if not line.startswith("wrong.py")][:-1]
    assert [line for line in right if "Revealed type is" not in line] == []
    assert [line.partition('"')[2].rstrip('"').replace("builtins.", "") for line in right] == [*REVEALED]


FACE = sorted(path.stem for path in (ROOT / "attncalc/record").glob("*.py"))
"""Files of the records that a client holds in his hands, and of how their numbers are written."""


@pytest.mark.parametrize("name", FACE)
def test_a_client_holds_nothing_of_any_type(name: str) -> None:
    """What is private may have it, and arrays have NumPy's own: exact numbers stand in them beside floats.

    An Entry is what renderers are given of a line of arithmetic; no field of a record leads to one.
    """
    tree = ast.parse((ROOT / f"attncalc/record/{name}.py").read_text(encoding="utf-8"))
    for record in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        if record.name.startswith("_") or record.name == "Entry":
            continue
        for part in record.body:
            if isinstance(part, ast.AnnAssign):
                assert "Any" not in ast.unparse(part.annotation), f"{record.name}.{ast.unparse(part.target)}"
            elif isinstance(part, ast.FunctionDef) and not part.name.startswith("_"):
                given = [*part.args.args, *part.args.kwonlyargs]
                said = [ast.unparse(each.annotation) for each in given if each.annotation]
                said.append(ast.unparse(part.returns) if part.returns else "")
                assert not any("Any" in each for each in said), f"{record.name}.{part.name}"


@pytest.mark.thorough
@pytest.mark.parametrize("call", WRONG)
def test_a_wrong_call_fails(said: list[str], call: str) -> None:
    line = [*WRONG].index(call) + 2
    (error,) = [words for words in said if words.startswith(f"wrong.py:{line}: error")]
    assert WRONG[call] in error


@rows("name", TABLE)
def test_help_shows_what_a_calculation_takes(name: str) -> None:
    function = getattr(ac, name.replace("-", "_"))
    page = pydoc.plain(pydoc.render_doc(function))
    assert f"{function.__name__}(" in page
    further = ("weights", "dtype", "accumulate", "round_to", "exact", "keep_all")
    takes = [word for word in inspect.signature(function).parameters if word not in further]
    told = page.partition("Operands:")[2]
    assert [word for word in takes if f"\n        {word} " not in told] == []
