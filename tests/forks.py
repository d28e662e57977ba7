"""The program, loaded once: each call of the command line is carried out in a fork of this process.

A fork has an environment, a folder and streams of its own, as a new process has, and only the start of Python and the
loading of modules are spared. It is told a call as one line of JSON, and answers with its exit status.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

MOST_SECONDS = 120
LOADED_TOO = ("sympy", "numpy", "multiprocessing.pool", "concurrent.futures.process", "unittest.mock")


class Forks:
    """The process, and what goes to it and comes back."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, __file__],
            env=environment | {"OPENBLAS_NUM_THREADS": "1"},  # a fork has the thread that it is made in and no other
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def call(self, words: list[str], environment: dict[str, str], cwd: Path, input: str) -> tuple[int, str, str]:
        """The exit status of a call, and what it wrote."""
        files = [self.folder / name for name in ("stdin", "stdout", "stderr")]
        files[0].write_bytes(input.encode())
        asked = {"words": words, "environment": environment, "cwd": str(cwd), "files": [str(file) for file in files]}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(asked).encode() + b"\n")
        self.process.stdin.flush()
        status = int(self.process.stdout.readline())
        out, err = (file.read_text(encoding="utf-8") for file in files[1:])
        return status, out, err

    def end(self) -> None:
        """Close what it listens to, upon which it ends."""
        self.process.communicate()


def serve() -> None:
    """Answer calls until there are no more."""
    import attncalc

    for module in (*LOADED_TOO, *(module.name for module in pkgutil.walk_packages(attncalc.__path__, "attncalc."))):
        importlib.import_module(module)
    gc.collect()
    gc.freeze()
    for line in sys.stdin.buffer:
        child = os.fork()
        if child == 0:
            carry_out(**json.loads(line))
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def carry_out(words: list[str], environment: dict[str, str], cwd: str, files: list[str]) -> NoReturn:
    """Call the program in this process, as if it had just been started, and leave."""
    import resource

    from attncalc.__main__ import run

    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    for number, (file, flags) in enumerate(
        zip(files, (os.O_RDONLY, *2 * (os.O_WRONLY | os.O_CREAT | os.O_TRUNC,)), strict=True)
    ):
        os.dup2(os.open(file, flags, 0o600), number)
    streams: list[Any] = [
        os.fdopen(0, encoding="utf-8", errors="surrogateescape", closefd=False),
        os.fdopen(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False),
        os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False, buffering=1),
    ]
    sys.stdin, sys.stdout, sys.stderr = streams
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = streams  # type: ignore[misc]  # Final, but in this process they are others
    sys.argv = ["attncalc", *words]
    try:
        status: object = run()
    except SystemExit as leaving:
        status = leaving.code
    for stream in streams[1:]:
        stream.flush()
    os._exit(status if isinstance(status, int) else bool(status))


if __name__ == "__main__":
    serve()
