"""Reading large files beside what one writes by hand, in paired runs.

    python tests/benchmarks/files.py              files of 10 MB
    python tests/benchmarks/files.py --megabytes 40 --rounds 5

Each round reads every file both ways, one after the other; what is reported is the median time of both, and the median
over the rounds of their ratio. Reading by hand does not look for labels, gaps, ragged rows and numbers that are not
finite; attncalc does.
"""

from __future__ import annotations

import argparse
import csv
import json
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncalc.inputs.reading import Reading
from attncalc.inputs.resolve import TABLE, read_word

Array = NDArray[Any]
WIDTH = 64
BYTES_AN_ENTRY = 20  # of a random number as text, with its comma


def by_csv_module(path: Path) -> Array:
    """Rows by the standard library, entries by NumPy."""
    with path.open(newline="", encoding="utf-8") as file:
        return np.array(list(csv.reader(file)), dtype=float)


BY_HAND: dict[str, tuple[str, str, Callable[[Path], Array]]] = {
    "json.loads + numpy.array": ("a.json", "JSON", lambda path: np.array(json.loads(path.read_text(encoding="utf-8")))),
    "csv.reader + numpy.array": ("a.csv", "CSV", by_csv_module),
    "numpy.loadtxt": ("a.csv", "CSV", lambda path: np.loadtxt(path, delimiter=",")),
    "numpy.load": ("a.npy", "npy", lambda path: np.asarray(np.load(path))),
}


def write(folder: Path, megabytes: float) -> None:
    """The same numbers in every format, the text files about so large."""
    rows = max(1, round(megabytes * 1e6 / BYTES_AN_ENTRY / WIDTH))
    values = np.random.default_rng(0).standard_normal((rows, WIDTH))
    (folder / "a.json").write_text(json.dumps(values.tolist()), encoding="utf-8")
    np.save(folder / "a.npy", values)
    lines = (",".join(map(repr, row)) for row in values.tolist())
    (folder / "a.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def ours(path: Path) -> Array:
    """As an operand is read."""
    return read_word(str(path), TABLE, Reading(), {}).value


def seconds(read: Callable[[Path], Array], path: Path) -> float:
    """How long one reading takes."""
    start = time.perf_counter()
    read(path)
    return time.perf_counter() - start


def main() -> None:
    """Measure every format and print a table."""
    arguments = argparse.ArgumentParser(description="Measure the reading of large files in paired runs.")
    arguments.add_argument("--megabytes", type=float, default=10)
    arguments.add_argument("--rounds", type=int, default=9)
    chosen = arguments.parse_args()
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.system()} {platform.machine()}\n")
    print(f"{'by hand':<26} {'file':>12} {'by hand':>10} {'attncalc':>10} {'ratio':>8}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, chosen.megabytes)
        for how, (file, form, by_hand) in BY_HAND.items():
            path = folder / file

            assert np.array_equal(by_hand(path), ours(path)), f"{how} reads other numbers"
            both = [(seconds(by_hand, path), seconds(ours, path)) for _ in range(chosen.rounds)]
            theirs, mine = (statistics.median(times) * 1e3 for times in zip(*both, strict=True))
            ratio = statistics.median(b / a for a, b in both)
            size = f"{path.stat().st_size / 1e6:.1f} MB {form}"
            print(f"{how:<26} {size:>12} {theirs:7.1f} ms {mine:7.1f} ms {ratio:6.2f} ×")


if __name__ == "__main__":
    main()
