"""Start-up: what a small calculation costs beside importing what it stands on, in paired runs.

    python tests/benchmarks/startup.py            the installed command against its floors
    python tests/benchmarks/startup.py --cold     the same where attncalc has no bytecode, and compiles what it loads
    python tests/benchmarks/startup.py --typer    a minimal Typer command under each version of Typer

With `--cold` it is a copy of the package without bytecode that runs, and none is written: so it is in a checkout that
cannot be written to, and wherever PYTHONDONTWRITEBYTECODE is set. What others have installed keeps its own.

Each round runs every candidate once, one after the other, so that a busy machine slows all of them alike; what is
reported is the median time and the shortest one, the median over the rounds of the ratio to the same round's first
candidate, and the ratio of the shortest times.

What `--typer` gave with Python 3.11 and NumPy 2.4, 25 rounds on two cores, for the range in pyproject.toml:

    typer 0.28.0    157 ms   1.00 ×
    typer 0.25.1    164 ms   1.07 ×
    typer 0.26.8    149 ms   0.99 ×
    typer 0.27.3    155 ms   1.01 ×
    typer 0.29.2    274 ms   1.83 ×   (without NumPy: 98 ms against 244 ms, 2.49 ×)

Merely importing 0.29 costs no more (1.02 ×): it loads pydantic when a command runs.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

TYPER_VERSIONS = ("0.25", "0.26", "0.27", "0.28", "0.29")

MINIMAL_COMMAND = """
import numpy, typer
app = typer.Typer()

@app.command()
def main(operand: str, digits: int = 4) -> None:
    typer.echo(operand)

app(["1,2,3"])
"""

ROOT = Path(__file__).parents[2]
PACKAGE, SAMPLES = ROOT / "attncalc", ROOT / "samples"
CALLS = ("cosine 1,2,3 4,5,6", "softmax 2,1,0.1", "attention q.json")
FLOORS = {
    "numpy, typer": [*(f"{call} -f json" for call in CALLS), "--help", "list"],
    "numpy, typer, rich.table, rich.console": CALLS,
}
"""What a call cannot do without → the calls."""

Candidates = dict[str, list[str]]


WITH_BYTECODE = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""The environment in which whatever is imported has been compiled already, once it was imported before."""


def seconds(command: list[str], environment: Mapping[str, str]) -> float:
    """How long one run of `command` takes, from start to exit."""
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=environment, cwd=SAMPLES)
    return time.perf_counter() - start


@contextmanager
def without_bytecode() -> Iterator[dict[str, str]]:
    """The environment in which attncalc is a copy of the package that has no bytecode, and gets none."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(PACKAGE, Path(folder, PACKAGE.name), ignore=shutil.ignore_patterns("__pycache__"))
        yield os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": folder}


def measure(
    candidates: Candidates, rounds: int, environment: Mapping[str, str] = WITH_BYTECODE
) -> dict[str, list[float]]:
    """The times of every candidate, round by round; a first round, which only warms the caches, is not counted."""
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for number in range(rounds + 1):
        for name, command in candidates.items():
            elapsed = seconds(command, environment)
            if number > 0:
                times[name].append(elapsed)
    return times


def report(times: dict[str, list[float]]) -> None:
    """A line a candidate: its median and its shortest time in milliseconds, and their ratios to the first's."""
    floor = next(iter(times.values()))
    print(f"{'':<44}     median              minimum")
    for name, values in times.items():
        ratio = statistics.median(mine / first for mine, first in zip(values, floor, strict=True))
        middle, least = statistics.median(values) * 1e3, min(values) * 1e3
        print(f"{name:<44} {middle:6.0f} ms  {ratio:5.2f} ×   {least:6.0f} ms  {min(values) / min(floor):5.2f} ×")


def installed_command() -> list[str]:
    """The console script beside this interpreter."""
    return [str(Path(sys.executable).with_name("attncalc"))]


def against_floors(rounds: int, environment: Mapping[str, str] = WITH_BYTECODE) -> None:
    """Small calculations with JSON and with a table, each against the imports that they cannot do without."""
    for imports, calls in FLOORS.items():
        candidates = {f"import {imports}": [sys.executable, "-c", f"import {imports}"]}
        candidates |= {f"attncalc {call}": [*installed_command(), *call.split()] for call in calls}
        report(measure(candidates, rounds, environment))
        print()


def across_typers(rounds: int) -> None:
    """A minimal command in a fresh environment for each version of Typer, against the first version."""
    with tempfile.TemporaryDirectory() as folder:
        candidates: Candidates = {}
        for version in TYPER_VERSIONS:
            home = Path(folder, version)
            venv.create(home, with_pip=True)
            python = str(home / ("Scripts" if os.name == "nt" else "bin") / "python")
            subprocess.run([python, "-m", "pip", "install", "-q", "numpy", "rich", f"typer~={version}.0"], check=True)
            candidates[f"typer {version}"] = [python, "-c", MINIMAL_COMMAND]
        report(measure({"typer 0.28": candidates.pop("typer 0.28"), **candidates}, rounds))


def main() -> None:
    """Measure what the arguments ask for."""
    arguments = argparse.ArgumentParser(description="Measure start-up in paired runs.")
    arguments.add_argument("--rounds", type=int, default=31)
    arguments.add_argument("--typer", action="store_true", help="compare versions of Typer instead")
    arguments.add_argument("--cold", action="store_true", help="keep attncalc without bytecode")
    chosen = arguments.parse_args()
    if chosen.typer:
        across_typers(chosen.rounds)
    elif chosen.cold:
        with without_bytecode() as environment:
            against_floors(chosen.rounds, environment)
    else:
        against_floors(chosen.rounds)


if __name__ == "__main__":
    main()
