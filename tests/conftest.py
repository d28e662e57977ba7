"""What every test may ask for: the installed command, a way to run it in a clean environment, Hypothesis's profiles."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import settings

# No deadline in either: a busy machine is not a fault of the code. Under CI the examples are the same in every run.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

ROOT = Path(__file__).parents[1]

# The rest of the caller's environment (colours, widths, locales, attncalc's own switches) stays outside.
PASSED_ON = ("PATH", "HOME", "TMPDIR", "SYSTEMROOT", "TEMP", "TMP", "USERPROFILE")


class Run(Protocol):
    """`run("cosine", "1,2", "3,4", input=…, env={…}, cwd=…)`: the command's exit status, stdout and stderr as text."""

    def __call__(
        self,
        *words: str | Path,
        input: str | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> subprocess.CompletedProcess[str]: ...


@pytest.fixture(scope="session", autouse=True)
def _signals_reach_what_is_started() -> None:
    """What runs in the background ignores interrupts, what runs under nohup hang-ups, and so would what it starts."""
    for name in ("SIGINT", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has the first alone
        if number and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL)


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def samples() -> Path:
    """The folder of the shipped samples."""
    return ROOT / "samples"


@pytest.fixture(scope="session")
def attncalc_command() -> list[str]:
    """The console script beside this interpreter, or the module where it is not installed as a script."""
    for name in ("attncalc", "attncalc.exe"):
        script = Path(sys.executable).with_name(name)
        if script.exists():
            return [str(script)]
    return [sys.executable, "-m", "attncalc"]


@pytest.fixture
def run(attncalc_command: list[str], tmp_path: Path) -> Run:
    """The command, run in an empty folder with nothing on standard input unless the test says otherwise."""
    clean = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    clean |= {"LANG": "C.UTF-8", "PYTHONUTF8": "1"}
    clean |= dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9")  # port 9 discards: no network

    def run_command(
        *words: str | Path,
        input: str | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*attncalc_command, *map(str, words)],
            input=input or "",
            env=clean | dict(env or {}),
            cwd=cwd or tmp_path,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    return run_command
