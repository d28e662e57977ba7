"""Grading: a class of a thousand sheets of a five-step attention problem, singles and pairs included; and one check.

    python tests/benchmarks/grading.py               the class, on two processes
    python tests/benchmarks/grading.py --jobs 1      on one
    python tests/benchmarks/grading.py --check       a small sheet checked, beside the calculation by itself

The class is made in a temporary folder: sheets that are right, rounded on the way, wrong by one mistake or by two, with
slips, with an error that is carried on rightly, and filled with random numbers; half of those with mistakes or random
numbers hold the result alone, so that the mistakes may lie anywhere. The times are those of the whole command, by the
clock and of the processor.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncalc.calculations import load
from attncalc.declare.mistake import StepKey
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.diagnosis.solutions import Solution
from attncalc.homework.reading.sheets import spelled
from attncalc.record.trace import Given
from attncalc.solve.problem import Problem

Array = NDArray[Any]
Random = np.random.Generator
Work = dict[StepKey, Array]

ATTNCALC = str(Path(sys.executable).with_name("attncalc"))
DECIMALS = (3, 3, 4)


def problem(n: int, width: int) -> Problem:
    """Causal attention over n tokens, of small whole numbers."""
    random = np.random.default_rng(7)
    inputs = {name: Given(random.integers(-3, 4, (n, width)).astype(float)) for name in ("q", "k", "v")}
    return Problem(load("attention"), inputs, {"causal": True})


def along(key: Key, solution: Solution) -> Work:
    """Every step as a solution of the problem has it."""
    nodes = {step: solution.steps[step] for step in key.steps if step in solution.steps}
    return dict(zip(nodes, key.values(nodes.values()), strict=True))


def right(key: Key, random: Random) -> Work:
    """Every step as it should be."""
    return along(key, key.solutions.right)


def rounded_early(key: Key, random: Random) -> Work:
    """Every step worked out from the one before as it stands on the page, and rounded to two decimals."""
    own: Work = {}
    for step in key.steps:
        value = key.value(step, own=own)
        assert value is not None, "every step is a number"
        own[step] = np.round(value, 2)
    return own


def one_mistake(key: Key, random: Random) -> Work:
    """A known mistake."""
    return along(key, key.wrong[random.integers(len(key.wrong))])


def two_mistakes(key: Key, random: Random) -> Work:
    """Two known mistakes."""
    solution = None
    while solution is None:
        i, j = sorted(random.choice(len(key.wrong), 2, replace=False).tolist())
        solution = key.wrong_twice(i, j)
    return along(key, solution)


def slip(key: Key, random: Random) -> Work:
    """One wrong entry in one step, all others being right."""
    found = right(key, random)
    step = key.steps[random.integers(len(key.steps))]
    found[step] = found[step].copy()
    found[step][-1, 0] += 0.25
    return found


def carried(key: Key, random: Random) -> Work:
    """Something wrong in an early step, and all that follows from it worked out rightly."""
    own: Work = {}
    for step in key.steps:
        value = key.value(step, own=own)
        assert value is not None, "every step is a number"
        own[step] = value + random.normal(size=value.shape).round(1) if step == key.steps[0] else value
    return own


def nonsense(key: Key, random: Random) -> Work:
    """Random numbers."""
    return {step: random.normal(0, 2, value.shape) for step, value in right(key, random).items()}


KINDS: tuple[Callable[[Key, Random], Work], ...] = (
    right,
    rounded_early,
    one_mistake,
    two_mistakes,
    slip,
    carried,
    nonsense,
)


def sheets(key: Key, count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """So many sheets by the name of their student, who is called by what is done."""
    random = np.random.default_rng(11)
    for number, kind in enumerate(islice(cycle(KINDS), count)):
        work = kind(key, random)
        if kind in (one_mistake, two_mistakes, nonsense) and random.integers(2):
            work = {key.result: work[key.result]} if key.result in work else work
        decimals = 2 if kind is rounded_early else DECIMALS[random.integers(len(DECIMALS))]
        steps = {spelled(step): as_written(value, decimals) for step, value in work.items()}
        yield f"{kind.__name__}-{number:04}", {"steps": steps}


def as_written(value: Array, decimals: int) -> Any:
    """Nested lists of numbers as text."""
    if value.ndim:
        return [as_written(part, decimals) for part in value]
    return f"{value:.{decimals}f}" if np.isfinite(value) else str(value)


def machine() -> str:
    """What it ran on."""
    return f"Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} cores, {platform.machine()}"


def grade_class(count: int, jobs: int, n: int, width: int) -> None:
    """Make a class, grade it, and say how long that took and what was found."""
    with tempfile.TemporaryDirectory() as folder:
        key = Key(problem(n, width))
        given = {name: given.value.tolist() for name, given in key.problem.inputs.items()}
        document = {"attncalc": 1, "calculation": "attention", "inputs": given, "options": {"causal": True}}
        Path(folder, "key.json").write_text(json.dumps(document))
        home = Path(folder, "sheets")
        home.mkdir()
        for name, sheet in sheets(key, count):
            Path(home, f"{name}.json").write_text(json.dumps(sheet))
        report = Path(folder, "report.json")
        command = [ATTNCALC, "grade", "key.json", "sheets", "--jobs", str(jobs), "--report", "json", "-o", str(report)]
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        found = subprocess.run(
            command, check=False, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        elapsed, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        if found.returncode != 1:
            raise SystemExit(f"grade ended with {found.returncode}: {found.stderr}")
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"{machine()}; attention over {n} tokens of width {width}")
        print(f"{count} sheets, {jobs} processes: {elapsed:.1f} s, {spent:.1f} s of processor time")
        tell(json.loads(report.read_text()))


def tell(report: Any) -> None:
    """A line for each kind of sheet: the verdicts on the first step that is wrong."""
    found: dict[str, Counter[str]] = {}
    for sheet in report["students"]:
        first = next((step for step in sheet["steps"] if step["name"] == sheet["first_wrong"]), None)
        verdict = sheet["verdict"] if first is None else first["verdict"]
        found.setdefault(sheet["student"].partition("-")[0], Counter())[verdict] += 1
    for kind, verdicts in found.items():
        print(f"  {kind:<14} " + ", ".join(f"{verdict} {count}" for verdict, count in verdicts.most_common()))


def check_one(rounds: int) -> None:
    """A small sheet checked and the calculation by itself, in turn: each one's median, and the ratio."""
    with tempfile.TemporaryDirectory() as folder:
        key = Key(problem(3, 4))
        sheet = {spelled(step): as_written(value, 3) for step, value in right(key, np.random.default_rng()).items()}
        wrong = sheet | {"output": as_written(one_mistake(key, np.random.default_rng(1))[key.result], 3)}
        given = {name: given.value.tolist() for name, given in key.problem.inputs.items()}
        for name, content in (("problem", given), ("right", sheet), ("wrong", wrong)):
            Path(folder, f"{name}.json").write_text(json.dumps(content))
        alone = [ATTNCALC, "attention", "problem.json", "--causal"]
        calls = {"by itself": alone} | {
            f"--check {name}": [*alone, "--check", f"{name}.json"] for name in ("right", "wrong")
        }
        times: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(rounds):
            for name, call in calls.items():
                start = time.perf_counter()
                subprocess.run(call, cwd=folder, stdout=subprocess.DEVNULL, check=False)
                times[name].append(time.perf_counter() - start)
        print(machine())
        for name, values in times.items():
            ratio = statistics.median(a / b for a, b in zip(values, times["by itself"], strict=True))
            print(f"{name:<14} {statistics.median(values) * 1e3:6.0f} ms  {ratio:5.2f} ×")


def main() -> None:
    """Measure what the arguments ask for."""
    arguments = argparse.ArgumentParser(description="Measure how long grading takes.")
    arguments.add_argument("--sheets", type=int, default=1000)
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--tokens", type=int, default=3)
    arguments.add_argument("--width", type=int, default=4)
    arguments.add_argument("--rounds", type=int, default=15)
    arguments.add_argument("--check", action="store_true", help="check one sheet instead")
    chosen = arguments.parse_args()
    if chosen.check:
        check_one(chosen.rounds)
    else:
        grade_class(chosen.sheets, chosen.jobs, chosen.tokens, chosen.width)


if __name__ == "__main__":
    main()
