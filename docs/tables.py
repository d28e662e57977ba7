"""What is read off the source: where each calculation and primitive is found, and the sentence of every room and file.

python docs/generate.py --tables      writes them, and runs nothing
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "attncalc"
CALCULATIONS = PACKAGE / "calculations/__init__.py"
PRIMITIVES = PACKAGE / "language/ops/__init__.py"
ARCHITECTURE = ROOT / "docs/architecture.md"
ROOMS = [
    *("common", "language", "record", "evaluate", "declare", "calculations", "mistakes", "solve"),
    *("inputs", "render", "homework", "api", "cli"),
]
"""In the order of their imports: each knows those before it alone."""
WIDTH = 120


def fresh() -> dict[Path, str]:
    """The files that hold a table, as they should be."""
    lists = {"rooms": "\n".join(f"- `{room}/`: {_sentence(PACKAGE / room)}" for room in ROOMS), "files": _files()}
    architecture = ARCHITECTURE.read_text(encoding="utf-8")
    for name, text in lists.items():
        architecture = _between(architecture, f"<!-- {name} -->\n", f"<!-- end of {name} -->", text)
    return {CALCULATIONS: _calculations(), PRIMITIVES: _primitives(), ARCHITECTURE: architecture}


def _between(text: str, start: str, end: str, new: str) -> str:
    """The text with something else between two places; what the first ends in may be part of it."""
    before, found, rest = text.partition(start)
    _, also, after = rest.partition(end)
    assert found, f"{start!r} is not there"
    assert also, f"{end!r} is not there"
    return before + start.rpartition("\n")[0] + "\n" + new + ("" if end.startswith("\n") else "\n") + end + after


def _sentence(path: Path) -> str:
    """The first sentence of a file, or of a folder's own file."""
    file = path / "__init__.py" if path.is_dir() else path
    said = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return " ".join(said.partition("\n\n")[0].split())


def _files() -> str:
    """A heading for each room, and a line for each of its files."""
    lines = []
    for room in ROOMS:
        lines += [f"### {room}/", ""]
        files = sorted((PACKAGE / room).rglob("*.py"), key=lambda file: (file.parent != PACKAGE / room, str(file)))
        lines += [f"- `{_shown(file)}`: {_sentence(file)}" for file in files if file != PACKAGE / room / "__init__.py"]
        lines.append("")
    return "\n".join(lines[:-1])


def _shown(file: Path) -> str:
    return str(file.relative_to(PACKAGE)).removesuffix("__init__.py")


def _calculations() -> str:
    """The file with its table as it should be: the rows in their order, new ones behind those of the same family.

    Those of a new family come behind all that stand under the same heading.
    """
    text = CALCULATIONS.read_text(encoding="utf-8")
    before, start, rest = text.partition("TABLE: dict[str, tuple[str, str]] = {\n")
    _, end, after = rest.partition("\n}\n")
    whole = re.findall(r'^    "([^"]+)": \(', text.partition("\nWHOLE: ")[2].partition("\n}\n")[0], re.MULTILINE)
    there = {name: row for name, row in _declared() if name not in whole}
    order: list[str] = [
        name for name in re.findall(r'^    "([^"]+)": \(', rest.partition("\n}\n")[0], re.MULTILINE) if name in there
    ]
    titles = re.findall(r'^        "([A-Z][^"]*)": ((?:"[^"]+"\s*)+),$', after, re.MULTILINE)
    heading = {module: title for title, modules in titles for module in re.findall(r"\w+", modules)}
    for name, (family, _) in there.items():
        if name not in order:
            families = [there[other][0] for other in order]
            kin = [i for i, other in enumerate(families) if other == family]
            kin = kin or [i for i, other in enumerate(families) if heading.get(other) == heading.get(family)]
            order.insert(max(kin, default=len(order) - 1) + 1, name)
    return before + start + "\n".join(_row(name, *there[name]) for name in order) + end + after


def _declared() -> Iterator[tuple[str, tuple[str, str]]]:
    """Name → (family, first line), of every function that is decorated as a calculation."""
    for path in sorted(CALCULATIONS.parent.glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and any(_declares(decorator) for decorator in node.decorator_list):
                line = (ast.get_docstring(node) or "").partition("\n")[0]
                yield node.name.replace("_", "-"), (path.stem, line)


def _declares(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "calculation"


def _row(name: str, family: str, line: str) -> str:
    short = f'    "{name}": ("{family}", "{line}"),'
    return short if len(short) <= WIDTH else f'    "{name}": (\n        "{family}",\n        "{line}",\n    ),'


def _primitives() -> str:
    """The file with its tables as they should be."""
    text = PRIMITIVES.read_text(encoding="utf-8")
    families = sorted(path for path in PRIMITIVES.parent.glob("*.py") if path != PRIMITIVES)
    trees = {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in families}
    for name, members in (("ROWS", rows), ("FUNCTIONS", functions)):
        before, _, rest = text.partition(f"\n{name} = {{\n")
        _, _, after = rest.partition("\n}\n")
        text = before + _table(name, {family: members(tree) for family, tree in trees.items()}) + after
    return text


def rows(tree: ast.Module) -> list[str]:
    """The rows that a family enters: the keys of `OPS |= {…}`, and those of `OPS["…"] = …`."""
    found: list[ast.expr | None] = []
    for node in tree.body:
        if isinstance(node, ast.AugAssign) and isinstance(node.value, ast.Dict) and ast.unparse(node.target) == "OPS":
            found += node.value.keys
        elif isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Subscript):
            found.append(target.slice)
    return sorted(key.value for key in found if isinstance(key, ast.Constant) and isinstance(key.value, str))


def functions(tree: ast.Module) -> list[str]:
    """What authors write with: the public functions that give nodes, and the public classes that these take."""
    defined = (node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef))
    found = [node.name for node in defined if isinstance(node, ast.ClassDef) or _gives_nodes(node)]
    assigned = (node for node in tree.body if isinstance(node, ast.Assign))
    found += [ast.unparse(node.targets[0]) for node in assigned if re.match(r"of_(one|two)\(", ast.unparse(node.value))]
    return sorted(name for name in found if not name.startswith("_"))


def _gives_nodes(node: ast.stmt) -> bool:
    given = ast.unparse(node.returns) if isinstance(node, ast.FunctionDef) and node.returns else ""
    return "Node" in given and "Callable" not in given


def _table(name: str, families: dict[str, list[str]]) -> str:
    lines = [f"\n{name} = {{"]
    for family, names in families.items():
        start = f'    "{family}": '
        parts = wrap(" ".join(names), WIDTH - len(start) - 3)
        if parts:
            spaced = [*(f'"{part} "' for part in parts[:-1]), f'"{parts[-1]}"']
            lines.append(start + "\n    ".join(spaced) + ",")
    return "\n".join([*lines, "}", ""])
