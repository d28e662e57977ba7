"""What every test may ask for: the installed command, a way to run it in a clean environment, Hypothesis's profiles."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import pytest
import rows
from forks import Forks
from hypothesis import settings

gc.set_threshold(50_000, 20, 100)  # reading all tests makes next to no garbage: looking for it took a third of the time

# No deadline: a busy machine is not a fault of the code. Under CI the examples are the same in every run.
ALWAYS: dict[str, Any] = {"deadline": None}
if os.environ.get("CI"):
    ALWAYS |= {"derandomize": True, "print_blob": True}
settings.register_profile("quick", **ALWAYS, max_examples=rows.QUICK)
settings.register_profile("thorough", **ALWAYS, max_examples=40)
settings.register_profile("few", **ALWAYS, max_examples=5)
settings.load_profile("quick")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help="run what the suite leaves out because it takes long")
    parser.addoption(
        "--release", action="store_true", help="run what neither the quick run nor --thorough has time for"
    )
    parser.addoption("--row", action="append", default=[], help="of a table, look at the rows with this in their names")


def pytest_configure(config: pytest.Config) -> None:
    rows.ONLY[:] = config.getoption("--row")
    if config.getoption("--thorough"):
        settings.load_profile("thorough")
    elif rows.ONLY:  # whoever asks for a row wants to know of that row: examples that are drawn know nothing of it
        settings.load_profile("few")


ELSEWHERE: set[str] = set()
"""The tests of which no row is looked at in this run."""


def is_in_run(run: rows.Run, test: pytest.Item) -> bool:
    """Whether a test of that run is asked for: of the quick one, unless another is.

    What draws examples is asked for more of them under `--thorough`.
    """
    thorough, release = map(test.config.getoption, ("--thorough", "--release"))
    asked = {rows.Run.QUICK: not (thorough or release), rows.Run.THOROUGH: thorough, rows.Run.RELEASE: release}
    draws = test.get_closest_marker("draws") is not None or hasattr(getattr(test, "obj", None), "hypothesis")
    return asked[run] or (draws and thorough and run is rows.Run.QUICK)


@pytest.hookimpl(trylast=True)  # behind pytest's own, which makes a call of every row
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Leave rows to the runs that look at them: those of other runs are most of all that there are.

    Whoever asks for a row or a test by name gets all of them.
    """
    if rows.ONLY or metafunc.config.option.keyword:
        return
    test, calls = metafunc.definition, metafunc._calls  # no other way leaves a row before a test is made of it
    found = [call for call in calls if is_in_run(rows.run_of_row(test, call), test)]
    if calls and not found:  # without any it would be a test of no row
        ELSEWHERE.add(test.nodeid)
    calls[:] = found or calls[:1]


@pytest.hookimpl(trylast=True)  # the snapshots' plug-in is to see what is left out: what it didn't see, it calls unused
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave what belongs to this run: the quick one, that of `--thorough` or that of `--release`.

    Who asks for some by name gets all of them at once, and what takes long with `--thorough`. Who asks for a row gets
    what looks at it in any of the three.
    """

    def asked(item: pytest.Item) -> bool:
        if rows.is_of_another_row(item):
            return False
        if rows.ONLY or config.option.keyword:
            is_long = any(map(item.get_closest_marker, ("thorough", "release")))
            return config.getoption("--thorough") or not is_long or rows.is_asked_for(item)
        if hasattr(item, "callspec"):  # a row, which stands here only where it is in this run
            return item.nodeid.partition("[")[0] not in ELSEWHERE
        return is_in_run(rows.run_of({mark.name for mark in item.iter_markers()}), item)

    found: dict[bool, list[pytest.Item]] = {True: [], False: []}
    for item in items:
        found[asked(item)].append(item)
    config.hook.pytest_deselected(items=found[False])
    items[:] = sorted(found[True], key=lambda item: LONGEST not in item.nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A file's tests go to one process, since what they share is made once; files in their order, heavy or not."""
    from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]  # a door; xdist tells no types

    config.option.loadscopereorder = False  # else those of few tests, which may be long ones, come last
    return LoadFileScheduling(config, log)


def pytest_collection_finish() -> None:
    """Spare the collector what stays to the end: going through it again and again took a tenth of the time."""
    gc.collect()
    gc.freeze()


ROOT = Path(__file__).parents[1]
LONGEST = "test_contributing.py"
"""Runs a suite of its own: what begins with it does not have to wait for it at the end."""

# The rest of the caller's environment (colours, widths, locales, attncalc's own switches) stays outside.
PASSED_ON = ("PATH", "PYTHONPATH", "HOME", "TMPDIR", "SYSTEMROOT", "TEMP", "TMP", "USERPROFILE")


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


@pytest.fixture(scope="session")
def clean() -> dict[str, str]:
    """An environment without the caller's colours, widths and locale, and without a network."""
    passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    no_network = dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9")  # port 9 discards
    return {**passed, "LANG": "C.UTF-8", "PYTHONUTF8": "1", **no_network}


@pytest.fixture(scope="session")
def forks(clean: dict[str, str]) -> Iterator[Forks | None]:
    """The program loaded once, where a process can fork."""
    if not hasattr(os, "fork"):
        yield None
        return
    started = Forks(clean)
    yield started
    started.end()


@pytest.fixture
def run(
    attncalc_command: list[str],
    tmp_path: Path,
    clean: dict[str, str],
    forks: Forks | None,
    request: pytest.FixtureRequest,
) -> Run:
    """The command, run in an empty folder with nothing on standard input unless the test says otherwise.

    A test that is marked `installed`, or that sets what Python reads when it starts, starts the installed program.
    """
    installed = forks is None or request.node.get_closest_marker("installed") is not None

    def run_command(
        *words: str | Path,
        input: str | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> subprocess.CompletedProcess[str]:
        said, own, folder = [str(word) for word in words], dict(env or {}), cwd or tmp_path
        if not installed and forks is not None and not any(name.startswith("PYTHON") for name in own):
            return subprocess.CompletedProcess(said, *forks.call(said, clean | own, folder, input or ""))
        return subprocess.run(
            [*attncalc_command, *said],
            input=input or "",
            env=clean | own,
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    return run_command
