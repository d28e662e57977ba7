"""Fuzzing by hand, guided by coverage: `python tests/fuzz/fuzz.py csv 600` mutates inputs of a target for 600 seconds.

`all` in place of a target takes each in turn for its share of the seconds, and tells at the end how far each has come.
It needs atheris (`pip install atheris hypothesis`, in an environment of its own that has attncalc's dependencies) and
starts from the corpus. What is found is left in the folder from which it is called, as TARGET-crash-…; cut down, it
becomes a file of corpus/TARGET/, and with that a test. `fuzzed/` there keeps what reached something new, for next time.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import atheris  # type: ignore[import-untyped]  # it ships no types, and the tests do without it

HERE = Path(__file__).parent.resolve()
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(ROOT)]
SAMPLES = ("document",)
"""The targets that begin with the samples, too; to run all of them takes long, and the tests do it."""
LIMITS = ("-max_len=5000", "-timeout=30", "-rss_limit_mb=2000")
MEMORY = 4 * 2**30
"""What a process may ask for, used or not: a reader that trusts a claim asks for more."""
MOST_CRASHES = 5
"""A target that has ended so often is left, with what it has found."""


class Fuzzed(NamedTuple):
    """How far a target has come."""

    target: str
    seconds: float
    executions: int
    units: int  # inputs that reached something new
    crashes: int


def fuzz(name: str, seconds: int, options: list[str]) -> None:
    """Fuzz a target in this process, which ends with it; further words are libFuzzer's own options."""
    begun = time.monotonic()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with atheris.instrument_imports(include=["attncalc"]):
        import fuzz_targets

        for path in (HERE / "corpus" / name).glob("*"):  # what is imported where it is needed is followed too
            with suppress(Exception):  # atheris tells of each import on the streams that calls are held to
                fuzz_targets.run(name, path.read_bytes())
    kept = Path.cwd() / "fuzzed" / name
    kept.mkdir(parents=True, exist_ok=True)
    known = kept.with_suffix(".words")
    known.write_text("".join(f'"{word}"\n' for word in vocabulary()), encoding="ascii")
    seeds = [HERE / "corpus" / name, *([ROOT / "samples"] if name in SAMPLES else [])]
    left = max(1, round(begun + seconds - time.monotonic()))
    where = [f"-artifact_prefix={Path.cwd() / name}-", f"-dict={known}", f"-max_total_time={left}"]
    words = [sys.argv[0], *map(str, [kept, *seeds]), "-print_final_stats=1", *LIMITS, *where, *options]
    atheris.Setup(words, lambda data: fuzz_targets.run(name, data))
    atheris.Fuzz()


def vocabulary() -> list[str]:
    """The words that files and calls are made of: what calculations, operands and options are called."""
    from attncalc.calculations import TABLE, load

    found = {*TABLE, "inputs", "options", "labels", "steps", "result", "outputs", "student", "rounding", "sqrt(", "pi"}
    for calculation in map(load, TABLE):
        found |= {operand.name for operand in calculation.operands} | {option.name for option in calculation.options}
        found |= {choice for option in calculation.options for choice in option.choices}
    return sorted(found)


def fuzz_all(seconds: int, options: list[str]) -> Iterator[Fuzzed]:
    """Fuzz every target, one at a time, each in processes of its own."""
    from fuzz_targets import TARGETS

    for name in TARGETS:
        print(f"{name} …", flush=True)  # noqa: T201 — it speaks to the person who called it
        yield fuzz_one(name, seconds // len(TARGETS), options)


def fuzz_one(name: str, seconds: int, options: list[str]) -> Fuzzed:
    """Fuzz a target for so many seconds, again where it has ended early."""
    log = Path.cwd() / "fuzzed" / f"{name}.log"
    log.parent.mkdir(exist_ok=True)
    begun, executions, units, crashes = time.monotonic(), 0, 0, 0
    while crashes < MOST_CRASHES and (left := round(begun + seconds - time.monotonic())) > 0:
        with log.open("wb") as file:
            done = subprocess.run(
                [sys.executable, __file__, name, str(left), *options], stdout=file, stderr=file, check=False
            )
        told = log.read_text(encoding="utf-8", errors="replace")
        executions += stat(told, "number_of_executed_units")
        units += stat(told, "new_units_added")
        if done.returncode == 0:
            break
        crashes += 1
        log = log.with_name(f"{name}-{crashes}.log")
    return Fuzzed(name, time.monotonic() - begun, executions, units, crashes)


def stat(told: str, name: str) -> int:
    """A number of libFuzzer's final ones; 0 where it has not come so far."""
    found = re.search(rf"stat::{name}: +(\d+)", told)
    return int(found[1]) if found else 0


def main() -> int:
    """Fuzz the target that is named, or all: the exit status, 1 where something has crashed."""
    name, seconds, *options = sys.argv[1:]
    if name != "all":
        fuzz(name, int(seconds), options)
    rows = list(fuzz_all(int(seconds), options))
    lines = [f"{'target':20} {'seconds':>8} {'executions':>11} {'a second':>9} {'new units':>10} {'crashes':>8}"]
    for row in rows:
        pace, found = row.executions / row.seconds, f"{row.units:10,} {row.crashes:8}"
        lines.append(f"{row.target:20} {row.seconds:8.0f} {row.executions:11,} {pace:9,.0f} {found}")
    print(*lines, sep="\n")  # noqa: T201 — a table for who has called it
    return int(any(row.crashes for row in rows))


if __name__ == "__main__":
    sys.exit(main())
