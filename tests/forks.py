"""The program, loaded once: each call of the command line is carried out in a fork of this process.

    forks.py serve SOCKET           loads it, and listens until standard input ends
    forks.py call SOCKET WORD…      calls it in a fork, with the streams, folder and environment of this process

A fork has an environment, a folder and streams of its own, as a new process has, and only the start of Python and the
loading of modules are spared. A call is its words, environment and folder behind its three streams, and is answered
with its exit status.
"""

from __future__ import annotations

import marshal
import os
import socket
import sys

if __name__ != "__main__" or sys.argv[1] == "serve":  # who only calls is to start at once
    import gc
    import importlib
    import pathlib
    import pkgutil
    import select
    import signal
    import subprocess
    import tempfile
    from collections.abc import Mapping, Sequence
    from typing import Any, NoReturn

MOST_SECONDS = 120
LOADED_TOO = ("sympy", "numpy", "multiprocessing.pool", "concurrent.futures.process", "unittest.mock")


class Forks:
    """The process, and what goes to it and comes back."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="forks")  # near the root, since names of sockets are short
        self.socket = str(pathlib.Path(self.folder.name, "socket"))
        self.process = subprocess.Popen(
            [sys.executable, __file__, "serve", self.socket],
            env={**environment, "OPENBLAS_NUM_THREADS": "1"},  # a fork has the thread that it is made in and no other
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline(), "the program cannot be loaded"  # else it says that it listens

    def call(
        self, words: Sequence[str], environment: Mapping[str, str], cwd: pathlib.Path, input: str
    ) -> tuple[int, str, str]:
        """The exit status of a call, and what it wrote."""
        files = [pathlib.Path(self.folder.name, name) for name in ("stdin", "stdout", "stderr")]
        files[0].write_bytes(input.encode())
        with files[0].open("rb") as given, files[1].open("wb") as out, files[2].open("wb") as err:
            streams = [stream.fileno() for stream in (given, out, err)]
            status = call(self.socket, words, environment, str(cwd), streams)
        printed, told = (file.read_text(encoding="utf-8") for file in files[1:])
        return status, printed, told

    def write_command(self, file: pathlib.Path) -> None:
        """Write a program that is as good as the installed one, while this process is there."""
        call = f'exec "{sys.executable}" -IS "{__file__}" call "{self.socket}" "$@"'
        file.write_text(f"#!/bin/sh\n{call}\n", encoding="utf-8")
        file.chmod(0o700)

    def end(self) -> None:
        """Close what it listens to, upon which it ends."""
        self.process.communicate()
        self.folder.cleanup()


def call(where: str, words: Sequence[str], environment: Mapping[str, str], cwd: str, streams: Sequence[int]) -> int:
    """The exit status of a call that is carried out there."""
    with socket.socket(socket.AF_UNIX) as there:
        there.connect(where)
        socket.send_fds(there, [b"\0"], streams)
        there.sendall(marshal.dumps(([*words], {**environment}, cwd)))  # which needs nothing that has to be loaded
        there.shutdown(socket.SHUT_WR)
        return int(there.recv(9))


def serve(where: str) -> None:
    """Carry out calls, several at a time, until standard input ends."""
    import attncalc

    for module in (*LOADED_TOO, *(module.name for module in pkgutil.walk_packages(attncalc.__path__, "attncalc."))):
        importlib.import_module(module)
    gc.collect()
    gc.freeze()
    ended, ends = socket.socketpair()
    ends.setblocking(False)
    signal.set_wakeup_fd(ends.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    called: dict[int, socket.socket] = {}
    with socket.socket(socket.AF_UNIX) as here:
        here.bind(where)
        here.listen()
        sys.stdout.write("it listens\n")
        sys.stdout.flush()
        while sys.stdin not in (ready := select.select([here, ended, sys.stdin], [], [])[0]):
            if here in ready:
                there, _ = here.accept()
                called[begun(there)] = there
            if ended in ready:
                ended.recv(1024)
                tell_ended(called)


def begun(there: socket.socket) -> int:
    """The process that carries out what is asked for."""
    _, streams, _, _ = socket.recv_fds(there, 1, 3)
    with there.makefile("rb") as asked:
        words, environment, cwd = marshal.loads(asked.read())  # noqa: S302  (of ourselves)
    child = os.fork()
    if child == 0:
        carry_out(words, environment, cwd, streams)
    for stream in streams:
        os.close(stream)
    return child


def tell_ended(called: dict[int, socket.socket]) -> None:
    """Tell the exit statuses of the processes that have ended."""
    while called:
        child, status = os.waitpid(-1, os.WNOHANG)
        if child == 0:
            return
        with called.pop(child) as there:
            there.sendall(str(os.waitstatus_to_exitcode(status)).encode())


def carry_out(words: list[str], environment: dict[str, str], cwd: str, streams: Sequence[int]) -> NoReturn:
    """Call the program in this process, as if it had just been started, and leave."""
    import resource  # Windows has none, and no forks

    from attncalc.__main__ import run

    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, max(streams) + 1)
    files: list[Any] = [
        os.fdopen(0, encoding="utf-8", errors="surrogateescape", closefd=False),
        os.fdopen(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False),
        os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False, buffering=1),
    ]
    sys.stdin, sys.stdout, sys.stderr = files
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = files  # type: ignore[misc]  # Final, but in this process they are others
    sys.argv = ["attncalc", *words]
    try:
        status: object = run()
    except SystemExit as leaving:
        status = leaving.code
    for stream in files[1:]:
        stream.flush()
    os._exit(status if isinstance(status, int) else bool(status))


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        sys.exit(call(sys.argv[2], sys.argv[3:], dict(os.environ), os.getcwd(), (0, 1, 2)))  # noqa: PTH109  (pathlib is not loaded)
