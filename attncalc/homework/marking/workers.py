"""Work is shared out: batches of sheets go to an executor's workers, each of which marks them in a process of its own.

A process may hang, die or take all the memory: that costs only the sheet that it had, which is listed, and a new one
goes on. It ends with the call, however that ends. What is sent to it and back is JSON.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from queue import Empty, SimpleQueue
from secrets import token_hex
from threading import Lock, Thread
from typing import ClassVar

from attncalc.common.errors import AttncalcError, InputError, visible
from attncalc.common.system import exists
from attncalc.homework.marking.whole_class import Assignment, Graded, counted
from attncalc.homework.marking.wire import from_json, to_json
from attncalc.homework.marking.worker import Task
from attncalc.homework.reading.class_lists import Submission
from attncalc.homework.reading.sheets import MOST_BYTES
from attncalc.inputs.reading import Reading
from attncalc.inputs.resolve import must_be_plain, read_file
from attncalc.record.verdicts import Policy

MOST_AT_ONCE = 16
"""Sheets that a worker is handed together."""
MOST_WAITING = 256
"""Batches that an executor is handed before the first of them is done."""
PATIENCE = 300.0
"""How many seconds a sheet may take before its process is ended; reading and marking it have limits of their own."""
COMMAND = (sys.executable, "-P", "-m", "attncalc.homework.marking.worker")


def grade(
    assignment: Assignment,
    found: Sequence[Submission],
    reading: Reading,
    policy: Policy,
    *,
    reveal: bool = False,
    dtype: str | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
) -> list[Graded]:
    """Every submission, marked by `jobs` processes here or by an executor's workers, in the order they came in."""
    key, asked = assignment.contents, {**reading.asked(), "most": None}
    task = to_json(Task(version("attncalc"), key.source, key.members, policy, reveal, dtype, asked))
    call = token_hex(8)
    size = max(1, min(MOST_AT_ONCE, len(found) // (4 * jobs)))
    batches = [found[i : i + size] for i in range(0, len(found), size)]
    if executor is not None:
        sent = ([_with_data(one) for one in batch] for batch in batches)
        try:
            return counted(_by(executor, call, task, sent), len(found))
        finally:
            _Process.end_all(call)  # where its workers are threads of this process
    threads = ThreadPoolExecutor(jobs)
    try:
        with _signals_held():
            futures = [threads.submit(_here, call, task, batch) for batch in batches]
        work = (one for future in futures for one in future.result())
        return counted(work, len(found))
    finally:  # whatever ends this early, an interrupt above all, leaves work that nobody waits for
        _Process.end_all(call)
        threads.shutdown(cancel_futures=True)


def _by(executor: Executor, call: str, task: str, batches: Iterator[list[Submission]]) -> Iterator[Graded]:
    """What an executor's workers make of batches; it is handed a limited number at a time."""
    sent = ((executor.submit(marked, call, task, text), text) for text in map(to_json, batches))
    waiting = deque(islice(sent, MOST_WAITING))
    try:
        while waiting:
            future, text = waiting.popleft()
            yield from from_json(list[Graded], _done(future, partial(executor.submit, marked, call, task, text)))
            waiting.extend(islice(sent, 1))
    finally:
        for future, _ in waiting:
            future.cancel()


def _done(future: Future[str], again: Callable[[], Future[str]]) -> str:
    """What became of a batch; if its worker is lost, it is handed to another one, once."""
    try:
        return future.result()
    except AttncalcError:
        raise
    except Exception:  # noqa: BLE001 - an executor loses work by errors of its own
        future = again()
    try:
        return future.result()
    except AttncalcError:
        raise
    except Exception as error:  # noqa: BLE001 - as above
        said = visible(f"{type(error).__name__}: {error}", 200)
        raise AttncalcError(f"sheets were lost with their worker, twice: {said}") from None


def _with_data(one: Submission) -> Submission:
    """A submission with what its file holds, for a worker that has no such file; or with why it cannot be read."""
    if one.path is None or one.sheet is not None or one.error or not exists(str(one.path)):
        return one
    try:
        must_be_plain(str(one.path), MOST_BYTES)
        return one._replace(data=read_file(str(one.path), MOST_BYTES))
    except InputError as fault:
        return one._replace(error=fault.message, hint=fault.hint)


# A batch, on whatever machine and in whatever thread of a worker


def marked(call: str, task: str, batch: str) -> str:
    """What comes of a batch of submissions, both in JSON."""
    return to_json(_here(call, task, from_json(list[Submission], batch)))


def _here(call: str, task: str, batch: Sequence[Submission]) -> list[Graded]:
    """What comes of a batch: each sheet is marked, or listed with what became of it."""
    return [_one(call, task, one) for one in batch]


def _one(call: str, task: str, submission: Submission) -> Graded:
    """A sheet, marked; or listed, if it has twice ended the process that marks it."""
    for _ in range(2):
        with _Process.of(call, task) as process:
            answer = process.ask(to_json(submission))
        if answer is not None:
            return from_json(Graded, answer)
        if process.late:
            error = f"the sheet takes more than {PATIENCE:g} seconds to be marked"
            return Graded(submission.name, submission.source, error=error)
    return Graded(submission.name, submission.source, error="the sheet ends the process that marks it")


class _Process:
    """A process that marks the sheets of one call."""

    idle: ClassVar[dict[str, list[_Process]]] = {}  # those of all threads, which wait for another sheet
    all: ClassVar[set[_Process]] = set()  # those that have not ended
    ended: ClassVar[set[str]] = set()  # the calls for which none begins any more
    lock = Lock()

    def __init__(self, call: str, task: str) -> None:
        self.call, self.late = call, False
        path = os.pathsep.join(filter(None, (str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH"))))
        with self.lock:
            if call in self.ended:
                raise CancelledError
            self.process = subprocess.Popen(  # noqa: S603 - this Python, and a module of ours
                COMMAND,
                env={**os.environ, "PYTHONPATH": path},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            assert self.process.stdin is not None, "it is a pipe"
            self.pipe = self.process.stdin
            self.answers: SimpleQueue[bytes] = SimpleQueue()
            self.thread = Thread(target=self._listen, daemon=True)
            self.thread.start()
            self.all.difference_update([one for one in self.all if one.process.poll() is not None])
            self.all.add(self)
        self.begun = self.ask(task)

    def _listen(self) -> None:
        assert self.process.stdout is not None, "it is a pipe"
        with self.process.stdout as answers:
            for line in answers:
                self.answers.put(line)
        self.answers.put(b"")

    @classmethod
    @contextmanager
    def of(cls, call: str, task: str) -> Iterator[_Process]:
        """An idle process of a call, or a new one."""
        with cls.lock:
            waiting = [one for one in cls.idle.get(call, []) if one.process.poll() is None]
            process = waiting.pop() if waiting else None
            cls.idle[call] = waiting
        process = process or cls._ready(cls(call, task)) or cls._ready(cls(call, task))
        if process is None:
            raise AttncalcError("the process that marks sheets does not start")
        yield process
        with cls.lock:
            if process.process.poll() is None:
                cls.idle.setdefault(call, []).append(process)

    @staticmethod
    def _ready(new: _Process) -> _Process | None:
        """A new process that is ready to mark; None where it has ended. Raises what it says of the task."""
        if new.begun is None:
            return None
        if fault := from_json(list[str], new.begun):
            new.end()
            raise AttncalcError(fault[0], hint=fault[1])
        return new

    def ask(self, line: str) -> bytes | None:
        """The answer to a line; None where the process has ended, or was ended because it took too long."""
        with suppress(OSError):
            self.pipe.write(line.encode() + b"\n")
            self.pipe.flush()
        try:
            answer = self.answers.get(timeout=PATIENCE)
        except Empty:
            self.late = True
            answer = b""
        if not answer:
            self.end()
        return answer or None

    def end(self) -> None:
        """End it, whatever it is doing."""
        self.process.kill()
        self.process.wait()
        with suppress(OSError):
            self.pipe.close()
        self.thread.join()

    @classmethod
    def end_all(cls, call: str) -> None:
        """End all processes of a call, and let none begin for it any more."""
        with cls.lock:
            cls.ended.add(call)
            cls.idle.pop(call, None)
            running = [one for one in cls.all if one.call == call]
        for process in running:
            process.end()


@contextmanager
def _signals_held() -> Iterator[None]:
    """Ctrl-C, or a terminal that is closed, waits until this is over.

    A thread that begins meanwhile, and each process that it starts, never sees either, and is ended by us.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
