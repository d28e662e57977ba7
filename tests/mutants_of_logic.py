"""Forty changes of the program's logic, each of which a test should notice.

    python tests/mutants_of_logic.py              makes each in turn in a copy of the repository, and runs its tests
    python tests/mutants_of_logic.py 3 17         those two alone
    python tests/mutants_of_logic.py --thorough   what the suite leaves alive is tried with the thorough tests as well,
                                                  and then with those of a release

A change is a piece of text that stands once in the package and what stands there instead, so that it finds its file
wherever that has been moved. A text that is no longer there is told: write the change anew.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
COPIED = ("attncalc", "samples", "tests", "docs", "pyproject.toml", "README.md", "CONTRIBUTING.md")


class Mutant(NamedTuple):
    """What stands in the package, what is put in its place, and where the tests are that should notice."""

    old: str
    new: str
    tests: str


MUTANTS = [
    # language
    Mutant("if same.size != axis.size:", "if same.size < axis.size:", "language/test_axes.py"),
    Mutant("len(unknown) == 1 and size % have == 0", "len(unknown) == 1 and size % have != 1", "language/test_axes.py"),
    Mutant('if node.op == "step" or node in wrt:', "if node in wrt:", "language/test_gradients.py"),
    Mutant("len(repr(short)) <= FEW_DIGITS", "len(repr(short)) < FEW_DIGITS", "language/test_shorten.py"),
    Mutant("if abs(value) >= 10**FEW_DIGITS:", "if abs(value) > 10**FEW_DIGITS:", "language/test_shorten.py"),
    # evaluate
    Mutant('return bool(given) and node.op == "step" and', "return bool(given) and", "evaluate solve homework"),
    Mutant(
        "(size > 0) & (size < faint * largest)",
        "(size > 0) & (size < 0 * largest)",
        "evaluate/test_cancellation.py",
    ),
    Mutant(
        "return max(1, min(axis.size, BLOCK // max(whole_bytes(row, itemsize) - sums, 1)))",
        "return axis.size",
        "evaluate/large",
    ),
    Mutant(
        "range(1 + max(self.level.values(), default=0))", "range(max(self.level.values(), default=0))", "evaluate/large"
    ),
    Mutant(
        "if node.row.adds and node not in patterns",
        "if not node.row.adds and node not in patterns",
        "evaluate/large/test_blocks.py",
    ),
    Mutant(
        "if (needed := found.bytes(itemsize)) < least:",
        "if (needed := found.bytes(itemsize)) > least:",
        "evaluate/large",
    ),
    # record
    Mutant(
        "Context(prec=800, rounding=ROUND_HALF_UP)",
        "Context(prec=800)",
        "record",
    ),
    Mutant(
        'parenthesize(part, PRECEDENCE["Pow"])',
        'parenthesize(part, PRECEDENCE["Mul"])',
        "record/test_numbers.py",
    ),
    # declare
    Mutant(
        "if math.isfinite(size) and not option.range.holds(size):",
        "if not option.range.holds(size) and size < 0:",
        "declare cli/test_faults.py api",
    ),
    Mutant("if int not in option.types or not size.is_integer():", "if int not in option.types:", "declare"),
    # solve
    Mutant("if size < 1:", "if size < 0:", "solve cli/test_faults.py"),
    Mutant("if entries > LARGEST_JACOBIAN:", "if entries > 10 * LARGEST_JACOBIAN:", "solve"),
    Mutant(" and _stay(written, moving, sums, axis)", " and True", "solve"),
    Mutant(
        'return round_half_up(value, decimals) if value.dtype.kind == "f" else value',
        "return value",
        "solve cli/test_commands.py homework/test_never_accused.py",
    ),
    Mutant("wrong = np.isnan if infinite else _beyond", "wrong = _beyond", "calculations/test_probability.py"),
    # calculations
    Mutant(
        "turns = as_node(rotation.original_length or 0) * unscaled",
        "turns = as_node(rotation.original_length or 1) / unscaled",
        "calculations/test_rope.py",
    ),
    Mutant(
        "low, high = max(low, 0), min(high, width - 1)",
        "low, high = max(low, 0), min(high, width)",
        "calculations/test_rope.py",
    ),
    Mutant(
        'if n.size != m.size:\n            raise OptionError(\n                f"rope_positions',
        'if n.size > m.size:\n            raise OptionError(\n                f"rope_positions',
        "calculations/test_attention.py calculations/test_rope.py calculations/test_heads.py",
    ),
    Mutant(
        "min(len(row) * 0.5 * 10.0**-decimals",
        "min(len(row) * 5 * 10.0**-decimals",
        "calculations/test_losses.py calculations/test_probability.py calculations/test_statistics.py",
    ),
    # mistakes
    Mutant("triangle(lambda j, i: j <= i + 1)", "triangle(lambda j, i: j <= i + 2)", "homework/test_whole_sheets.py"),
    Mutant("return P * (G - total(G * P, P.names[-2]))", "return P * (G - total(G * P))", "homework/test_planted.py"),
    Mutant('says="divided by √d_v"', 'says="divided by √d_w"', "readback/test_says.py"),
    # inputs
    Mutant("if len(text) > KEPT_DIGITS:", "if len(text) > 10 * KEPT_DIGITS:", "inputs"),
    Mutant("if math.prod(shape) > MAX_CELLS:", "if math.prod(shape) < 0:", "inputs/test_files.py"),
    Mutant("and not -size <= place < size:", "and not -size <= place <= size:", "inputs cli/test_faults.py"),
    Mutant("if decimal == mark:", "if decimal != decimal:", "inputs"),
    Mutant("or len(data) < 10:", "or len(data) < 8:", "inputs/test_binary.py"),
    # render
    Mutant("[*range(most - LEAST_HIDDEN), size - 1]", "[*range(most - LEAST_HIDDEN), size - 2]", "render/test_grid.py"),
    Mutant(
        '"NaN" if np.isnan(number) else "-Infinity" if number < 0',
        '"NaN" if np.isnan(number) else "-Infinity" if number > 0',
        "render/test_document.py",
    ),
    Mutant(
        'return str(along[0]) if len(along) == 1 else f"{along[0]}-{along[-1]}"',
        "return str(along[0])",
        "render/test_html.py",
    ),
    # homework
    Mutant(
        "return self.tried * self.share < self.most",
        "return self.tried * self.share < 10 * self.most",
        "homework/test_comparing.py homework/test_never_accused.py homework/test_entries.py",
    ),
    Mutant(
        "return ENTRY if (~right).sum() == 1 and _sticks_out",
        "return ENTRY if (~right).sum() <= 2 and _sticks_out",
        "homework/test_dumps.py homework/test_slips.py homework/test_reports.py homework/test_python.py",
    ),
    Mutant(
        "answer.unit + 2 * moved) > OFTEN",
        "answer.unit + 2 * moved) > 1",
        "homework/test_carrying.py",
    ),
    Mutant(
        "follows is not None and nearly(answer, follows)",
        "follows is not None and fits(answer, follows)",
        "homework/test_carrying.py homework/test_never_accused.py homework/test_python.py",
    ),
    Mutant(
        "if best is None or found.cost < best.cost:",
        "if best is None or found.cost > best.cost:",
        "homework/test_quiz.py",
    ),
    # cli
    Mutant(
        'word[0] not in DASHES or word[1] in "0123456789.#"',
        'word[0] not in DASHES or word[1] in "0123456789"',
        "cli/test_words.py cli/test_faults.py cli/test_commands.py",
    ),
    Mutant("if now < self.due:", "if now > self.due:", "cli/test_progress.py"),
]


def copy(folder: Path) -> None:
    """The repository, as far as its tests need it."""
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        else:
            shutil.copy(ROOT / name, folder / name)


def place(mutant: Mutant, package: Path) -> Path | None:
    """The file in which the text stands, if it stands in one and once."""
    there = [path for path in package.rglob("*.py") if mutant.old in path.read_text(encoding="utf-8")]
    return there[0] if len(there) == 1 and there[0].read_text(encoding="utf-8").count(mutant.old) == 1 else None


def fails(folder: Path, mutant: Mutant, *options: str) -> bool:
    """Whether a test notices."""
    tests = [f"tests/{part}" for part in mutant.tests.split()]
    assert all((folder / test).exists() for test in tests), f"there is no {tests}"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-n", "2", "-p", "no:cacheprovider", *options, *tests],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "CI": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        check=False,
    )
    return done.returncode not in (0, 5)  # 5: nothing was there to be run


def main() -> None:
    """Try them, and say which live."""
    chosen = [int(word) for word in sys.argv[1:] if word.isdigit()] or range(len(MUTANTS))
    lived = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        copy(folder)
        for number in chosen:
            mutant, start = MUTANTS[number], time.monotonic()
            path = place(mutant, folder / "attncalc")
            if path is None:
                verdict = "NOT THERE"
            else:
                text = path.read_text(encoding="utf-8")
                path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
                verdict = "killed" if fails(folder, mutant) else "LIVES"
                for run in ("--thorough", "--release") if "--thorough" in sys.argv else ():
                    if verdict == "LIVES" and fails(folder, mutant, run):
                        verdict = f"killed by {run} alone"
                path.write_text(text, encoding="utf-8")
            if not verdict.startswith("killed"):
                lived.append(number)
            where, took = path and path.relative_to(folder), f"{time.monotonic() - start:.0f} s"
            print(f"{number:3} {verdict:10} {took:>5} {where}: {mutant.new.splitlines()[0]}", flush=True)
    print(f"{len(chosen) - len(lived)} of {len(chosen)} are killed")


if __name__ == "__main__":
    main()
