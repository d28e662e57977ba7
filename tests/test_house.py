"""The house: which part may import which, what code never does, and what lies at the top of the repository."""

from __future__ import annotations

import ast
import doctest
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "attncalc"
MODULES = sorted(PACKAGE.rglob("*.py"))

FLOOR = {"arrays", "errors", "progress", "text"}
LANGUAGE = {"axes", "cells", "expression", "gradients", "graph", "notation", "ops", "shorten", "steps"}
LOOPS = {"loops", "loops.program"}  # what a calculation returns whose turns depend on values
INTERPRETERS = LOOPS | {
    "arithmetic",
    "cancellation",
    "cost",
    "differences",
    "evaluate",
    "expansion",
    "origins",
    "loops.running",
    "plan",
}
BLOCKS = {"large.blocks", "large.cores", "large.exponential", "large.fused", "large.layout", "large.portions"}
BESIDE = {"laws", "mistake", "pictures"}  # what else is declared of a calculation
RECORD = {"card", "digits", "numbers", "pictures", "trace"}

# Who may import what, inside functions too; a part that is not named here may import everything but the CLI.
MAY_IMPORT = {
    "arrays": set[str](),
    "digits": {"arrays", "surds"},
    "errors": set[str](),
    "progress": set[str](),
    "text": set[str](),
    **dict.fromkeys(LANGUAGE, FLOOR | LANGUAGE),
    **dict.fromkeys(INTERPRETERS, FLOOR | LANGUAGE | INTERPRETERS | {"trace"}),
    **dict.fromkeys(BLOCKS, FLOOR | LANGUAGE | INTERPRETERS | BLOCKS),
    "calculations": FLOOR | LANGUAGE | LOOPS | BESIDE | {"calculation", "calculations", "cost", "trace"},
    "files": FLOOR,
    "large.memory": FLOOR,
    "laws": {"arrays", "trace"},
    "pictures": {"arrays", "trace"},
    "numbers": FLOOR | {"digits", "surds"},
    "surds": set[str](),
    "mistake": FLOOR | LANGUAGE | {"calculation", "mistake", "trace"},
    "render": FLOOR | RECORD | {"render", "surds"},
}

ON_SEVERAL_FLOORS = {"large", "loops", "pictures"}  # what they hold is not all of one floor

EXACT = {"exact", "surds"}  # SymPy's own modules: nobody imports them at start-up
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
    """The part that a file belongs to: `graph`, `ops`, `large.memory`."""
    return part_of(module.relative_to(PACKAGE).with_suffix("").parts)


def part_of(name: Sequence[str]) -> str:
    """The package or module directly under attncalc/; where a package is on several floors, the module in it."""
    if name[0] in ON_SEVERAL_FLOORS and PACKAGE.joinpath(*name[:2]).with_suffix(".py").exists():
        return ".".join(name[:2]).removesuffix(".__init__")
    return name[0]


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
    return {part_of(name[1:]) for name in names if name[0] == "attncalc"}


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
        if part(module) not in EXACT:
            assert not {name for name in at_once if set(name.split(".")) & EXACT and name.startswith("attncalc.")}
            assert not HEAVY & {name.partition(".")[0] for name in at_once}

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


def test_the_readme_says_what_each_part_is_for() -> None:
    table = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## Where things are\n")[2]
    named = {word.removeprefix("attncalc/").removesuffix(".py").strip("/") for word in re.findall(r"`([^`]+)`", table)}
    parts = {module.relative_to(PACKAGE).parts[0].removesuffix(".py") for module in MODULES}
    assert sorted(parts - named - {"__init__", "__main__"}) == []


# What starting is not to pay for: a dataclass alone takes as long to make as the smallest module to load.
UNNEEDED = HEAVY | {"csv", "dataclasses", "fractions", "unittest", "zipfile"}
UNNEEDED |= {"attncalc.cli.gradient", "attncalc.expression.parser", "attncalc.gradients", "attncalc.loops.program"}
UNNEEDED |= {"attncalc.pictures.illustration", "attncalc.pictures", "attncalc.pictures.sweep"}
UNNEEDED |= {"attncalc.homework", "attncalc.inputs.python_values", "attncalc.ops.spectral"}
UNNEEDED |= {"attncalc.backward", "attncalc.library", "attncalc.options", "attncalc.loops.running", "numpy.typing"}
# What a literal needs nothing of, and a document in JSON nothing of.
FILES = ("documents", "files", "held", "misses", "models", "moves", "objects", "opening", "supplied")
LITERAL = {"attncalc.cli.progress", *(f"attncalc.inputs.{name}" for name in FILES)}
IN_JSON = {"decimal", "rich", "attncalc.digits", "attncalc.numbers", "attncalc.render.tables", "attncalc.render.window"}
ATTENTION = {"attncalc.calculations.attention", "attncalc.calculations.masking"}
TURNING = {"attncalc.calculations.turning", "attncalc.calculations.frequencies", "attncalc.ops.pairs"}
VECTORS = {"attncalc.calculations.vectors"}
PROBABILITY = {"attncalc.calculations.probability"}
CALLS = [
    ("attention {samples}/attention.json -f json", ATTENTION, VECTORS | TURNING | IN_JSON),
    ("attention {samples}/attention.json", ATTENTION, VECTORS | TURNING | {"attncalc.render.document"}),
    ("cosine 1,2,3 4,5,6 -f json", VECTORS, ATTENTION | LITERAL | IN_JSON | {"attncalc.cancellation"}),
    (
        "softmax 2,1,0.1 -f json",
        {"attncalc.calculations.probability"},
        ATTENTION | LITERAL | IN_JSON | {"attncalc.ops.shares"},
    ),
    ("cosine 1,2,3 4,5,6", VECTORS, ATTENTION | LITERAL | {"decimal", "json", "attncalc.inputs.json_files"}),
    ("cosine --help", VECTORS, ATTENTION | {"rich", "attncalc.problem", "attncalc.inputs.calls"}),
    ("list", {"attncalc.calculations"}, ATTENTION | VECTORS | {"numpy", "rich", "attncalc.graph"}),
    ("--help", {"attncalc.calculations"}, ATTENTION | VECTORS | {"numpy", "rich", "attncalc.graph"}),
]


def modules_loaded(call: str) -> set[str]:
    """The names of the modules that a call has loaded when it ends."""
    program = (
        "import sys; from attncalc.__main__ import main\n"
        f"sys.argv = {['attncalc', *call.split()]!r}\n"
        "try: main()\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True)
    return set(done.stderr.split())


def test_importing_the_package_loads_nothing_else() -> None:
    code = "import sys; before = {*sys.modules}; import attncalc; print(*{*sys.modules} - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {*done.stdout.split()} <= {"__future__", "attncalc"}


def test_the_command_line_stands_before_numpy_is_loaded() -> None:
    """NumPy takes longer to load deeper down the stack: by these imports, a call took 1.28 × in place of 0.93 ×.

    As measured by tests/benchmarks/startup.py, beside `import numpy, typer`.
    """
    code = "import sys, attncalc.cli.calculate; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "numpy" not in done.stdout.split()


def test_what_calls_are_to_load_or_not_is_there() -> None:
    """A renamed module would otherwise leave its name behind, and nobody would see that it is loaded."""
    said = UNNEEDED.union(*(needed | unneeded for _, needed, unneeded in CALLS))
    assert {name for name in said if name.startswith("attncalc.")} <= set(map(dotted, MODULES))


@pytest.mark.parametrize(("call", "needed", "unneeded"), CALLS, ids=[call for call, _, _ in CALLS])
def test_a_call_loads_only_what_it_needs(call: str, needed: set[str], unneeded: set[str], samples: Path) -> None:
    loaded = modules_loaded(call.format(samples=samples))
    assert needed <= loaded
    assert sorted((UNNEEDED | unneeded) & loaded) == []


# Lines of attncalc that a call loads. Where there is no bytecode all of them are compiled anew, in about 10 µs each.
MOST_LINES = [
    ("cosine 1,2,3 4,5,6 -f json", 6800),
    ("softmax 2,1,0.1 -f json", 7100),
    ("attention {samples}/attention.json -f json", 8650),
    ("cosine 1,2,3 4,5,6", 7900),
    ("cosine --help", 3850),
    ("list", 2100),
    ("--help", 1550),
]


@pytest.mark.parametrize(("call", "most"), MOST_LINES, ids=[call for call, _ in MOST_LINES])
def test_what_a_call_loads_does_not_grow_back(call: str, most: int, samples: Path) -> None:
    loaded = modules_loaded(call.format(samples=samples))
    own = [module for module in MODULES if dotted(module) in loaded]
    assert own
    assert sum(len(module.read_text(encoding="utf-8").splitlines()) for module in own) <= most


def dotted(module: Path) -> str:
    """A file's name as it is imported: `attncalc.ops.sums`, and `attncalc.ops` for its __init__."""
    return ".".join(module.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("text", ["README.md", "attncalc/__init__.py"])
def test_the_examples_are_true(text: str) -> None:
    result = doctest.testfile(str(ROOT / text), module_relative=False, encoding="utf-8")
    assert result.attempted > 0
    assert result.failed == 0
