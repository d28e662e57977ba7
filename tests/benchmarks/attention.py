"""Large attention beside bare NumPy and, where it is installed, PyTorch, from array to array, in paired runs.

    python tests/benchmarks/attention.py                  8,192 queries and keys of width 64
    python tests/benchmarks/attention.py --n 4096 --rounds 7

Each round runs every candidate once, one after the other, so that a busy machine slows all of them alike; what is
reported is the median time, and the median over the rounds of the ratio to the same round's PyTorch, or to bare NumPy
where PyTorch is not installed; and the same of the processor time, all cores added up, which other programs that run
meanwhile disturb less. Each candidate uses all cores that the process may use, and its result is compared with
attncalc's before anything is measured.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
from collections.abc import Callable
from importlib import import_module, metadata
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

import attncalc as ac
from attncalc.large.cores import count

Array = NDArray[np.floating]
Candidate = Callable[[], Array]
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


def measure(calls: dict[str, Candidate], rounds: int) -> dict[str, list[tuple[float, float]]]:
    """The time and the processor time of every candidate, round by round, after a run of each that is not counted."""
    results = {name: call() for name, call in calls.items()}
    for name, result in results.items():
        apart = np.max(np.abs(result - results["attncalc"]))
        assert apart < 1e-4 * np.max(np.abs(result)), f"{name} is {apart:.2g} off"
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start, worked = time.perf_counter(), time.process_time()
            call()
            times[name].append((time.perf_counter() - start, time.process_time() - worked))
    return times


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
    chosen = arguments.parse_args()
    print(f"n = {chosen.n:,}, d = {chosen.width}, {chosen.rounds} rounds; {machine()}\n")
    print(f"{'':<34} {'time':>10} {'ratio':>8} {'processor':>13} {'ratio':>8}")
    for dtype, causal in CASES:
        rng = np.random.default_rng(0)
        q, k, v = (rng.standard_normal((chosen.n, chosen.width)).astype(dtype) for _ in range(3))
        times = measure(candidates(q, k, v, causal=causal), chosen.rounds)
        floor = next(iter(times.values()))
        for name, values in times.items():
            pairs = list(zip(values, floor, strict=True))
            passed, worked = (statistics.median(mine[i] / first[i] for mine, first in pairs) for i in (0, 1))
            middle, processor = (statistics.median(one[i] for one in values) * 1e3 for i in (0, 1))
            label = f"{dtype}{', causal' if causal else ''}: {name}"
            print(f"{label:<34} {middle:7.0f} ms {passed:6.2f} × {processor:10.0f} ms {worked:6.2f} ×", flush=True)


if __name__ == "__main__":
    main()
