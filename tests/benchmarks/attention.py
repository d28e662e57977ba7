"""Large attention beside bare NumPy and, where it is installed, PyTorch, from array to array, in paired runs.

    python tests/benchmarks/attention.py                  8,192 queries and keys of width 64
    python tests/benchmarks/attention.py --n 4096 --rounds 7
    python tests/benchmarks/attention.py --processes      whole processes: from three .npy files to one

Each round runs every candidate once, one after the other, so that a busy machine slows all of them alike, and begins
with another one than the round before, so that none always runs behind the same. What is reported is the median time,
and the median over the rounds of the ratio to the same round's PyTorch, or to bare NumPy where PyTorch is not
installed; and the same of the processor time, all cores added up, which other programs that run meanwhile disturb less.
Each candidate uses all cores that the process may use, and its result is compared with attncalc's before anything is
measured. A whole process is started anew each time: it starts its interpreter, imports what it needs, reads its
operands and writes its result.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import attncalc as ac
from attncalc.evaluate.large.cores import count

Array = NDArray[np.floating]
Candidate = Callable[[], Array]
PAUSE = 0.2
"""Seconds before each run: threads of a library that has just worked keep a core busy while they wait for more."""
CASES = [("float32", False), ("float64", False), ("float32", True), ("float64", True)]


def bare(q: Array, k: Array, v: Array, *, causal: bool) -> Array:
    """What one writes in NumPy: every score at once."""
    scores = q @ k.T / q.dtype.type(q.shape[1] ** 0.5)
    if causal:
        scores[np.triu_indices(len(q), 1)] = -np.inf
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores @ v


def candidates(q: Array, k: Array, v: Array, *, causal: bool) -> dict[str, Candidate]:
    """Name → a call from arrays to an array; the first is what the others are compared with."""
    found: dict[str, Candidate] = {}
    if find_spec("torch"):
        torch = import_module("torch")
        torch.set_num_threads(count())
        attend = torch.nn.functional.scaled_dot_product_attention

        def with_torch() -> Array:
            one = [torch.from_numpy(x)[None, None] for x in (q, k, v)]
            with torch.inference_mode():
                made: Array = attend(*one, is_causal=causal)[0, 0].numpy()
            return made

        found["PyTorch"] = with_torch
    found["bare NumPy"] = lambda: bare(q, k, v, causal=causal)
    found["attncalc"] = lambda: ac.attention(q, k, v, causal=causal, dtype=q.dtype).result
    return found


PREAMBLE = "import sys, numpy as np; q, k, v = (np.load(f'{name}.npy') for name in 'qkv'); "
"""What a script does first in the folder of the operands."""
WITH_TORCH = """import torch
with torch.inference_mode():
    one = [torch.from_numpy(x)[None, None] for x in (q, k, v)]
    made = torch.nn.functional.scaled_dot_product_attention(*one, is_causal=CAUSAL)[0, 0].numpy()
np.save(sys.argv[1], made)"""
IN_NUMPY = "sys.path.insert(0, HERE); from attention import bare; np.save(sys.argv[1], bare(q, k, v, causal=CAUSAL))"


def processes(q: Array, k: Array, v: Array, *, causal: bool, folder: Path) -> dict[str, Candidate]:
    """Name → a whole process from files to a file, whose contents are returned."""
    for name, value in {"q": q, "k": k, "v": v}.items():
        np.save(folder / f"{name}.npy", value)
    scripts = {"PyTorch": WITH_TORCH} if find_spec("torch") else {}
    scripts["bare NumPy"] = IN_NUMPY
    commands = {
        name: [sys.executable, "-c", PREAMBLE + script.replace("CAUSAL", str(causal)).replace("HERE", repr(HERE))]
        for name, script in scripts.items()
    }
    operands = [f"--{name}={name}.npy" for name in "qkv"]
    options = [*operands, f"--dtype={q.dtype.name}", "-q", *(["--causal"] if causal else []), "-o"]
    commands["attncalc"] = [sys.executable, "-m", "attncalc", "attention", *options]

    def call(name: str) -> Array:
        target = folder / f"{name.replace(' ', '-')}.npy"
        target.unlink(missing_ok=True)
        subprocess.run([*commands[name], target], cwd=folder, check=True, env=COMPILED)
        made: Array = np.load(target)
        return made

    return {name: partial(call, name) for name in commands}


HERE = str(Path(__file__).parent)
COMPILED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""What is imported is compiled once, as it is after an installation."""


def measure(calls: dict[str, Candidate], rounds: int) -> dict[str, list[tuple[float, float]]]:
    """The time and the processor time of every candidate, round by round, after a run of each that is not counted."""
    results = {name: call() for name, call in calls.items()}
    for name, result in results.items():
        apart = np.max(np.abs(result - results["attncalc"]))
        assert apart < 1e-4 * np.max(np.abs(result)), f"{name} is {apart:.2g} off"
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    names = list(calls)
    for number in range(rounds):
        first = number % len(names)
        for name in (*names[first:], *names[:first]):
            time.sleep(PAUSE)
            start, worked = time.perf_counter(), processor_time()
            calls[name]()
            times[name].append((time.perf_counter() - start, processor_time() - worked))
    return times


def processor_time() -> float:
    """What this process and those that it has started have worked so far."""
    children = os.times()
    return time.process_time() + children.children_user + children.children_system


def machine() -> str:
    """What it ran on."""
    torch = f", PyTorch {metadata.version('torch')}" if find_spec("torch") else ""
    system = f"{platform.system()} {platform.machine()}, {count()} cores, Python {platform.python_version()}"
    return f"{system}, NumPy {np.__version__}{torch}"


def main() -> None:
    """Measure every case and print a table."""
    arguments = argparse.ArgumentParser(description="Measure large attention in paired runs.")
    arguments.add_argument("--n", type=int, default=8192)
    arguments.add_argument("--width", type=int, default=64)
    arguments.add_argument("--rounds", type=int, default=9)
    arguments.add_argument("--processes", action="store_true", help="whole processes, from files to a file")
    chosen = arguments.parse_args()
    print(f"n = {chosen.n:,}, d = {chosen.width}, {chosen.rounds} rounds; {machine()}\n")
    print(f"{'':<34} {'time':>10} {'ratio':>8} {'processor':>13} {'ratio':>8}")
    for dtype, causal in CASES:
        rng = np.random.default_rng(0)
        q, k, v = (rng.standard_normal((chosen.n, chosen.width)).astype(dtype) for _ in range(3))
        with tempfile.TemporaryDirectory() as folder:
            make = partial(processes, folder=Path(folder)) if chosen.processes else candidates
            times = measure(make(q, k, v, causal=causal), chosen.rounds)
        floor = next(iter(times.values()))
        for name, values in times.items():
            pairs = list(zip(values, floor, strict=True))
            passed, worked = (statistics.median(mine[i] / first[i] for mine, first in pairs) for i in (0, 1))
            middle, processor = (statistics.median(one[i] for one in values) * 1e3 for i in (0, 1))
            label = f"{dtype}{', causal' if causal else ''}: {name}"
            print(f"{label:<34} {middle:7.0f} ms {passed:6.2f} × {processor:10.0f} ms {worked:6.2f} ×", flush=True)


if __name__ == "__main__":
    main()
