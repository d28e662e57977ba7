"""Large runs on the command line: results in files, pages in part, and what does not fit refused with bytes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import Run
from numpy.testing import assert_allclose
from numpy.typing import NDArray

N = 2400  # from here on, the weights of so many queries and keys make a run large


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """q.npy, k.npy and v.npy of N rows of whole numbers."""
    rng = np.random.default_rng(0)
    for name in "qkv":
        np.save(tmp_path / f"{name}.npy", rng.integers(-2, 3, (N, 4)).astype(np.float32))
    return tmp_path


def shares(folder: Path) -> NDArray[np.float64]:
    """The causal weights, by plain NumPy."""
    q, k = (np.load(folder / f"{name}.npy").astype(float) for name in "qk")
    scores = np.where(np.tri(N, dtype=bool), q @ k.T / 2, -np.inf)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


CALL = ("attention", "q.npy", "k.npy", "v.npy", "--causal")


@pytest.mark.thorough
def test_the_result_and_one_step_go_to_a_file(run: Run, folder: Path) -> None:
    weights = shares(folder)
    for words in (
        ("-o", "result.npy"),
        ("-q", "-f", "npy", "-o", "result.npy"),
        ("--get", "output", "-o", "result.npy"),
    ):
        assert run(*CALL, *words, cwd=folder).returncode == 0
        assert_allclose(np.load(folder / "result.npy"), weights @ np.load(folder / "v.npy"), atol=1e-13)
    assert run(*CALL, "--get", "weights", "--dtype", "float32", "-o", "weights.npy", cwd=folder).returncode == 0
    assert_allclose(np.load(folder / "weights.npy"), weights, atol=1e-6)


@pytest.mark.thorough
def test_a_page_shows_the_ends_of_every_step(run: Run, folder: Path) -> None:
    done = run(*CALL, "--show", "weights", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "… 2,362 more columns and 2,378 more rows (--all shows them)" in done.stdout
    last = next(line for line in done.stdout.splitlines() if line.lstrip().startswith("2399"))
    assert float(last.split()[-1]) == pytest.approx(shares(folder)[-1, -1], abs=5e-5)


@pytest.mark.thorough
def test_the_document_has_a_summary_and_the_result(run: Run, folder: Path) -> None:
    done = run(*CALL, "-f", "json", cwd=folder)
    document = json.loads(done.stdout)
    weights = next(step for step in document["steps"] if step["name"] == "weights")
    assert_allclose(weights["summary"]["corner"], shares(folder)[:4, :4], atol=1e-13)
    assert list(document["outputs"]) == ["output"]
    assert np.shape(document["result"]) == (N, 4)


def test_the_arithmetic_of_an_entry_is_there(run: Run, folder: Path) -> None:
    done = run(*CALL, "--cell", "scores[2399,7]", "-d", "4", cwd=folder)
    value = float(done.stdout.rsplit("=", 1)[1])
    q, k = (np.load(folder / f"{name}.npy") for name in "qk")
    assert value == q[2399] @ k[7]


SIZES: dict[str, tuple[str, ...]] = {
    "positions": ("sinusoidal", "--n", "1000000000000", "--d", "8"),
    "a bias": ("alibi", "--n", "1000000", "--heads", "8", "-q"),
}


@pytest.mark.parametrize("words", SIZES.values(), ids=SIZES)
def test_sizes_that_no_machine_has_are_refused(run: Run, words: tuple[str, ...]) -> None:
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    error, hint = done.stderr.splitlines()
    assert error.startswith(f"Error: {words[0]} needs ")
    assert error.endswith(" are available")
    assert hint.startswith("hint: ")


@pytest.mark.release
@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of the address space, and /proc")
@pytest.mark.parametrize(
    ("words", "status"),
    [
        pytest.param((), 0, marks=pytest.mark.thorough),
        (("--all",), 2),
        (("-f", "npz", "-o", "all.npz"), 2),
        (("--get", "weights"), 2),
    ],
)
def test_a_limit_of_the_process_is_respected(
    limited: Callable[..., tuple[int, str]], folder: Path, words: tuple[str, ...], status: int
) -> None:
    """Of 24,000 queries the result takes kilobytes, and each step 4.6 GB."""
    for name in "qkv":
        np.save(folder / f"{name}.npy", np.ones((24_000, 2), dtype=np.float32))
    found, said = limited(2**31 + 2**30, *CALL, *words, *(() if words else ("-q", "-o", "out.npy")), cwd=folder)
    assert found == status, said
    assert "Traceback" not in said
    if status:
        assert " bytes of memory, but only " in said
        assert not list(folder.glob("*.npz"))


@pytest.mark.release
@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of the address space, and /proc")
def test_more_numbers_than_can_be_written_as_text_are_refused(
    limited: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    """Of 40 million numbers the array takes 320 MB, and their text many times that."""
    call = ("sinusoidal", "--n", "5000000", "--d", "8")
    found, said = limited(2**31 + 2**30, *call, "-f", "plain", cwd=tmp_path)
    error, hint = said.splitlines()
    assert (found, error[:60]) == (2, "Error: sinusoidal as plain needs 4,800,000,000 bytes of memo")
    assert hint == "hint: -f npy -o FILE (the result alone) needs 320,000,000"


@pytest.fixture
def limited(attncalc_command: list[str]) -> Callable[..., tuple[int, str]]:
    """The command under a limit of its address space: its exit status and what it said on stderr."""
    import resource
    import subprocess

    def run_limited(most: int, *words: str, cwd: Path) -> tuple[int, str]:
        done = subprocess.run(
            [*attncalc_command, *words],
            cwd=cwd,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)),
        )
        return done.returncode, done.stderr

    return run_limited
