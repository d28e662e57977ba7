"""The house: which part may import which, what code never does, and what lies at the top of the repository."""

from __future__ import annotations

import ast
import doctest
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest
from generate import alike
from rows import rows
from tables import ROOMS, fresh
from test_contributing import edits

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "attncalc"
MODULES = sorted(PACKAGE.rglob("*.py"))

EXACT = {"exact", "surds"}  # SymPy's own modules: nobody imports them at start-up
HEAVY = {"sympy", "mpmath", "matplotlib", "pydantic", "click"}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "sympify", "parse_expr", "lambdify", "genfromtxt"}
FORBIDDEN_IMPORTS = {"pickle", "marshal", "shelve", "code", "runpy"}

WALKS = {"a table": 40, "a check": 60}
"""So many files of ours the calls of `.ci/walk` pass."""

SHORT = 40
"""Files of fewer lines are read by several others."""

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

EXAMPLES = [
    str(path.relative_to(ROOT))
    for path in [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), PACKAGE / "__init__.py"]
    if ">>> " in path.read_text(encoding="utf-8") and path.name != "interoperation.md"  # which wants other packages
]
"""The documents with lines of Python, which are run; test_interoperation.py has the one that is not among them."""


def parse(module: Path) -> ast.Module:
    return ast.parse(module.read_text(encoding="utf-8"), str(module))


def named(node: ast.stmt) -> list[str]:
    """The names that a line of a module gives to a number, a function or a class; an overload has another's."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [] if node.decorator_list else [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]


def imported(nodes: Iterator[ast.AST]) -> set[str]:
    """Dotted names that are imported: `attncalc.language.ops.linear`, `numpy`."""
    found = set[str]()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports are written in full"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


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


@rows("module", MODULES, ids=names(MODULES))
class TestEachModule:
    @pytest.mark.thorough
    def test_loads_nothing_heavy_when_imported(self, module: Path) -> None:
        at_once = imported(at_start(parse(module).body))
        if module.stem not in ("exact", "exact_kernels", "surds", "tidying"):
            assert not HEAVY & {name.partition(".")[0] for name in at_once}

    @pytest.mark.thorough
    def test_runs_no_text_and_unpickles_nothing(self, module: Path) -> None:
        tree = parse(module)
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        called = {ast.unparse(call.func) for call in calls}
        assert not {name for name in called if name.rpartition(".")[2] in FORBIDDEN_CALLS} - {"re.compile"}
        assert "allow_pickle" not in {k.arg for c in calls for k in c.keywords if ast.unparse(k.value) != "False"}
        assert not FORBIDDEN_IMPORTS & {name.partition(".")[0] for name in imported(ast.walk(tree))}

    @pytest.mark.thorough
    def test_says_what_it_is(self, module: Path) -> None:
        said = (ast.get_docstring(parse(module)) or "").partition("\n\n")[0]
        assert re.search(r"[.:]$", said), "a module's docstring opens with a sentence"

    @pytest.mark.thorough
    def test_gives_no_name_twice(self, module: Path) -> None:
        given = [name for node in parse(module).body for name in named(node)]
        assert len(given) == len(set(given)), {name for name in given if given.count(name) > 1}


def test_no_two_files_have_one_name() -> None:
    """A family of mistakes has that of its calculations."""
    counts = Counter(
        module.stem for module in MODULES if module.stem != "__init__" and module.parent.name != "mistakes"
    )
    assert not {name for name, count in counts.items() if count > 1}


def test_a_family_of_mistakes_imports_no_other_family() -> None:
    """What several families share has a file of its own, which lists no calculation."""
    files = [module for module in MODULES if module.parent.name == "mistakes" and module.stem != "__init__"]
    families = {f"attncalc.mistakes.{module.stem}" for module in files if "\nMISTAKES" in module.read_text("utf-8")}
    assert "attncalc.mistakes.attention" in families
    for module in files:
        assert not {name.rpartition(".")[0] for name in imported(ast.walk(parse(module)))} & families, module.stem


def imports() -> dict[str, set[str]]:
    """What of ours each file imports, also by doors and for a type checker alone."""
    files = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in MODULES}
    known: dict[str, set[str]] = {}
    for name, path in files.items():
        found = imported(ast.walk(parse(path)))
        known[name] = {each if each in files else each.rpartition(".")[0] for each in found} & files.keys() - {name}
    return known


@pytest.mark.thorough
def test_no_imports_run_in_a_circle() -> None:
    assert [*TopologicalSorter(imports()).static_order()]  # a CycleError names the files


@pytest.mark.thorough
def test_what_a_few_lines_say_to_one_file_stands_there() -> None:
    known = imports()
    for module in MODULES:
        name = ".".join(module.relative_to(ROOT).with_suffix("").parts)
        if len(module.read_text("utf-8").splitlines()) < SHORT and not name.endswith(("__init__", "__main__")):
            assert len([file for file, found in known.items() if name in found]) != 1, name


def test_the_top_level_holds_only_what_a_reader_expects() -> None:
    there = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert {name for name in there if not name.endswith(".egg-info")} - MADE_BY_TOOLS <= TOP


@pytest.mark.thorough
def test_what_is_read_off_the_source_is_fresh() -> None:
    """The tables of names, and the sentences of rooms and files in docs/architecture.md."""
    stale = [path.name for path, text in fresh().items() if path.read_text(encoding="utf-8") != text]
    assert not stale, "python docs/generate.py --tables writes them"


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("off most by 0.2642 at [3]", True),
        ("off most by 0.2640 at [3]", True),
        ("off most by 0.2643 at [3]", False),
        ("off most by 0.2741 at [3]", False),
        ("off most by 0.2641 at [2]", False),
        ("off most by 0.264 at [3]", False),
        ("off most by 0.26412 at [3]", False),
        ("off most by 0.2641 at [3], 0.1", False),
    ],
)
def test_a_document_may_differ_by_a_machine_s_last_digit(other: str, same: bool) -> None:
    assert alike("off most by 0.2641 at [3]", other) is same


def test_the_rooms_are_those_of_the_contract() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = [room for layer in settings["contracts"][0]["layers"] for room in layer.split(" | ")]
    parts = {module.relative_to(PACKAGE).parts[0].removesuffix(".py") for module in MODULES}
    assert sorted(layers) == sorted(ROOMS) == sorted(parts - {"__init__", "__main__"})


def test_every_document_has_a_place_on_the_site() -> None:
    """The site's own build says so too, but is not run here."""
    places = (ROOT / "docs/website/mkdocs.yml").read_text(encoding="utf-8")
    named = set(re.findall(r" ([\w-]+\.md)$", places, re.MULTILINE))
    assert {path.name for path in ROOT.glob("docs/*.md")} <= named


@pytest.mark.parametrize("text", ["README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/cost.md"])
def test_the_files_that_a_document_names_are_there(text: str) -> None:
    words = re.findall(r"`([\w./]+)`", (ROOT / text).read_text(encoding="utf-8"))
    places = {word for word in words if re.match(r"(attncalc|tests|docs|\.ci)/|\w+/([\w/]+\.py)?$", word)}
    places -= {edit.path for edit in edits() if edit.where == "As"}  # those that a recipe makes
    assert places
    assert not [place for place in places if not any((top / place).exists() for top in (ROOT, PACKAGE))]


@pytest.mark.thorough
def test_the_functions_and_classes_that_the_architecture_names_are_there() -> None:
    words = set(re.findall(r"`([A-Z]\w+)`", (ROOT / "docs/architecture.md").read_text(encoding="utf-8")))
    defined = {node.name for module in MODULES for node in parse(module).body if isinstance(node, ast.ClassDef)}
    assert words
    assert not words - defined


@pytest.mark.thorough
@pytest.mark.parametrize(("call", "most"), WALKS.items(), ids=WALKS)
def test_a_call_passes_few_files(call: str, most: int) -> None:
    """A reader who follows it passes as many; fewer is better, and then the number here is to be made smaller."""
    loader = SourceFileLoader("walk", str(ROOT / ".ci/walk"))
    spec = spec_from_loader("walk", loader)
    assert spec
    walk = module_from_spec(spec)
    loader.exec_module(walk)
    passed = walk.walk(walk.CALLS[call])
    assert len(passed) <= most, "\n".join(passed)


# What starting is not to pay for: a dataclass alone takes as long to make as the smallest module to load.
UNNEEDED = HEAVY | {"csv", "unittest", "zipfile"}
DRAWING = {"numpy.random"}  # which takes as long to load as a short page takes to be made
RICH = {"rich", "dataclasses", "fractions", *DRAWING}  # the middle two are what Rich's tables bring along
CALLS = [
    ("attention {samples}/attention.json -f json", RICH),
    ("attention {samples}/attention.json -f plain", RICH),
    ("attention {samples}/attention.json -f markdown", RICH),
    ("attention {samples}/attention.json -f latex", RICH),
    ("attention {samples}/attention.json -f html", RICH),
    ("attention {samples}/attention.json", DRAWING),
    ("cosine 1,2,3 4,5,6 -f json", RICH),
    ("softmax 2,1,0.1 -f json", RICH),
    ("cosine 1,2,3 4,5,6", {"json", *DRAWING}),
    ("cosine --help", RICH),
    ("list -f json", {"numpy", *RICH}),
    ("list", {"numpy", *DRAWING}),
    ("list -f plain", RICH),
    ("mistakes softmax -f json", {"rich", "fractions"}),  # what marks answers is written with dataclasses,
    ("explain softmax -f plain", {"rich"}),  # and a gradient is shortened with fractions
    ("--help", {"numpy", *RICH}),
]


def modules_loaded(call: str) -> set[str]:
    """The names of the modules that a call has loaded when it ends."""
    program = (
        "import sys; from attncalc.__main__ import run\n"
        f"sys.argv = {['attncalc', *call.split()]!r}\n"
        "try: sys.exit(run())\n"
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
    code = "import sys, attncalc.cli.settings; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "numpy" not in done.stdout.split()


@pytest.mark.spread(2)
@pytest.mark.parametrize(("call", "unneeded"), CALLS, ids=[call for call, _ in CALLS])
def test_a_call_loads_only_what_it_needs(call: str, unneeded: set[str], samples: Path) -> None:
    loaded = modules_loaded(call.format(samples=samples))
    assert sorted((UNNEEDED | unneeded) & loaded) == []


@pytest.mark.parametrize("text", EXAMPLES)
def test_the_examples_are_true(text: str) -> None:
    result = doctest.testfile(str(ROOT / text), module_relative=False, encoding="utf-8")
    assert result.attempted > 0
    assert result.failed == 0
