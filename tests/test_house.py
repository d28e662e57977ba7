"""The house: which part may import which, what code never does, and what lies at the top of the repository."""

from __future__ import annotations

import ast
import doctest
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "attncalc"
MODULES = sorted(PACKAGE.rglob("*.py"))

FLOOR = {"errors", "progress", "text"}
LANGUAGE = {"axes", "cells", "expression", "gradients", "graph", "notation", "ops", "shorten"}
LOOPS = {"loops", "program"}  # what a calculation returns whose turns depend on values
BLOCKS = {"blocks", "cores", "fused", "layout", "portions"}
INTERPRETERS = (
    BLOCKS | LOOPS | {"arithmetic", "cancellation", "cost", "differences", "evaluate", "expansion", "origins", "plan"}
)
BESIDE = {"laws", "mistake", "picture"}  # what else is declared of a calculation
RECORD = {"card", "numbers", "picture", "trace"}

# Who may import what, inside functions too; a part that is not named here may import everything but the CLI.
MAY_IMPORT = {
    "errors": set[str](),
    "progress": set[str](),
    "text": set[str](),
    **dict.fromkeys(LANGUAGE, FLOOR | LANGUAGE),
    **dict.fromkeys(INTERPRETERS, FLOOR | LANGUAGE | INTERPRETERS | {"trace"}),
    "calculations": FLOOR | LANGUAGE | LOOPS | BESIDE | {"calculation", "calculations", "cost", "trace"},
    "files": FLOOR,
    "laws": {"trace"},
    "memory": FLOOR,
    "picture": {"trace"},
    "numbers": FLOOR | {"surds"},
    "surds": set[str](),
    "mistake": FLOOR | LANGUAGE | {"calculation", "mistake", "trace"},
    "render": FLOOR | RECORD | {"render", "surds"},
}

EXACT = {"exact", "extents", "surds", "tidying"}  # SymPy's own modules: nobody imports them at start-up
HEAVY = {"sympy", "mpmath", "matplotlib", "pydantic", "click"}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "sympify", "parse_expr", "lambdify", "genfromtxt"}
FORBIDDEN_IMPORTS = {"pickle", "marshal", "shelve", "code", "runpy"}

TOP = {
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "attncalc",
    "docs",
    "pyproject.toml",
    "samples",
    "tests",
}
MADE_BY_TOOLS = {"build", "dist", "htmlcov", "uv.lock", "venv"}


def parse(module: Path) -> ast.Module:
    return ast.parse(module.read_text(encoding="utf-8"), str(module))


def part(module: Path) -> str:
    """The package or module directly under attncalc/ that a file belongs to."""
    return module.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(nodes: Iterator[ast.AST]) -> set[str]:
    """Dotted names that are imported: `attncalc.ops.linear`, `numpy`."""
    found = set[str]()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports are written in full"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def parts_imported(module: Path) -> set[str]:
    """The parts of attncalc that a file imports, wherever in it."""
    names = (name.split(".") for name in imported(ast.walk(parse(module))))
    return {name[1] for name in names if name[0] == "attncalc"}


def at_start(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """The statements that run when a module is imported: not those in functions or under TYPE_CHECKING."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            continue
        yield statement
        for inner in ("body", "orelse", "handlers", "finalbody"):
            yield from at_start(getattr(statement, inner, []))


def names(modules: list[Path]) -> list[str]:
    return [str(module.relative_to(PACKAGE)) for module in modules]


def test_every_layer_is_there() -> None:
    """A renamed module would otherwise leave its rule behind."""
    assert {part(module) for module in MODULES} >= MAY_IMPORT.keys()


@pytest.mark.parametrize("module", MODULES, ids=names(MODULES))
class TestEachModule:
    def test_imports_only_what_stands_below_it(self, module: Path) -> None:
        if (allowed := MAY_IMPORT.get(part(module))) is not None:
            assert parts_imported(module) <= allowed

    def test_leaves_the_command_line_alone(self, module: Path) -> None:
        if part(module) not in ("cli", "__main__"):
            assert "cli" not in parts_imported(module)

    def test_loads_nothing_heavy_when_imported(self, module: Path) -> None:
        at_once = imported(at_start(parse(module).body))
        assert not {name for name in at_once if set(name.split(".")) & EXACT and name.startswith("attncalc.")}
        assert not HEAVY & {name.partition(".")[0] for name in at_once} or part(module) in EXACT

    def test_runs_no_text_and_unpickles_nothing(self, module: Path) -> None:
        tree = parse(module)
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        called = {ast.unparse(call.func) for call in calls}
        assert not {name for name in called if name.rpartition(".")[2] in FORBIDDEN_CALLS} - {"re.compile"}
        assert "allow_pickle" not in {k.arg for c in calls for k in c.keywords if ast.unparse(k.value) != "False"}
        assert not FORBIDDEN_IMPORTS & {name.partition(".")[0] for name in imported(ast.walk(tree))}

    def test_says_what_it_is(self, module: Path) -> None:
        said = (ast.get_docstring(parse(module)) or "").partition("\n\n")[0]
        assert re.search(r"[.:]$", said), "a module's docstring opens with a sentence"


def test_the_top_level_holds_only_what_a_reader_expects() -> None:
    there = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert {name for name in there if not name.endswith(".egg-info")} - MADE_BY_TOOLS <= TOP


# What starting is not to pay for: a dataclass alone takes as long to make as the smallest module to load.
UNNEEDED = HEAVY | {"csv", "dataclasses", "fractions", "unittest", "zipfile"}
UNNEEDED |= {"attncalc.cli.gradient", "attncalc.expression.parser", "attncalc.gradients", "attncalc.program"}
UNNEEDED |= {"attncalc.illustration", "attncalc.picture", "attncalc.sweep"}
UNNEEDED |= {"attncalc.homework", "attncalc.inputs.python_values", "attncalc.ops.spectral"}
ATTENTION = {"attncalc.calculations.attention", "attncalc.calculations.masking", "attncalc.ops.pairs"}
VECTORS = {"attncalc.calculations.vectors"}
CALLS = [
    ("attention {samples}/attention.json -f json", ATTENTION, VECTORS | {"decimal", "rich", "attncalc.render.tables"}),
    ("attention {samples}/attention.json", ATTENTION, VECTORS | {"attncalc.render.document"}),
    ("cosine 1,2,3 4,5,6 -f json", VECTORS, ATTENTION | {"rich", "attncalc.cancellation"}),
    ("cosine 1,2,3 4,5,6", VECTORS, ATTENTION | {"decimal", "json", "attncalc.inputs.json_files"}),
    ("cosine --help", VECTORS, ATTENTION | {"rich", "attncalc.problem", "attncalc.inputs.calls"}),
    ("list", {"attncalc.calculations"}, ATTENTION | VECTORS | {"numpy", "rich", "attncalc.graph"}),
    ("--help", {"attncalc.calculations"}, ATTENTION | VECTORS | {"numpy", "rich", "attncalc.graph"}),
]


@pytest.mark.parametrize(("call", "needed", "unneeded"), CALLS, ids=[call for call, _, _ in CALLS])
def test_a_call_loads_only_what_it_needs(call: str, needed: set[str], unneeded: set[str], samples: Path) -> None:
    program = (
        "import sys; from attncalc.__main__ import main\n"
        f"sys.argv = {['attncalc', *call.format(samples=samples).split()]!r}\n"
        "try: main()\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True)
    loaded = set(done.stderr.split())
    assert needed <= loaded
    assert sorted((UNNEEDED | unneeded) & loaded) == []


@pytest.mark.parametrize("text", ["README.md", "attncalc/__init__.py"])
def test_the_examples_are_true(text: str) -> None:
    result = doctest.testfile(str(ROOT / text), module_relative=False, encoding="utf-8")
    assert result.attempted > 0
    assert result.failed == 0
