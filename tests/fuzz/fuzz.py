"""Fuzzing by hand, guided by coverage: `python tests/fuzz/fuzz.py csv 600` mutates inputs of a target for 600 seconds.

It needs atheris (`pip install atheris`, in an environment of its own) and starts from the corpus. What is found is left
in the folder from which it is called, as crash-…; cut down, it becomes a file of corpus/TARGET/, and with that a test.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris  # type: ignore[import-untyped]  # it ships no types, and the tests do without it

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

with atheris.instrument_imports(include=["attncalc"]):
    import fuzz_targets

    for path in (HERE / "corpus" / sys.argv[1]).glob("*"):  # what is imported where it is needed is followed too
        fuzz_targets.run(path.parent.name, path.read_bytes())


def main() -> None:
    """Fuzz the target that is named; further words are libFuzzer's own options."""
    name, seconds, *options = sys.argv[1:]
    found = Path.cwd() / f"corpus-{name}"
    found.mkdir(exist_ok=True)
    limits = [f"-max_total_time={seconds}", "-max_len=2000", "-timeout=30", "-rss_limit_mb=2000"]
    words = [sys.argv[0], str(found), str(HERE / "corpus" / name), "-print_final_stats=1", *limits, *options]
    atheris.Setup(words, lambda data: fuzz_targets.run(name, data))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
