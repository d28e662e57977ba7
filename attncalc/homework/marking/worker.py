"""A process that marks the sheets of a class, one after the other: a line of JSON in, a line of JSON out.

It ends when nobody talks to it any more, whatever it is busy with, and may not take all the memory.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import version
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, BinaryIO, NoReturn

from attncalc.common.errors import AttncalcError
from attncalc.common.system import NamedTuple
from attncalc.evaluate.large.cores import count
from attncalc.evaluate.large.memory import available, have_no_more
from attncalc.homework.marking.whole_class import Graded, assignment_in, marking
from attncalc.homework.marking.wire import from_json, to_json
from attncalc.homework.reading.class_lists import Submission
from attncalc.inputs.json_files import JsonFile
from attncalc.inputs.reading import Reading
from attncalc.record.verdicts import Policy

IDLE = 60.0
"""How many seconds it waits for another sheet."""
LEAST_MEMORY = 2**30
"""How many bytes of memory a sheet may take in any case."""


class Task(NamedTuple):
    """What sheets are marked by, and how."""

    version: str
    source: str  # of the key
    key: Mapping[str, Any]
    policy: Policy
    reveal: bool
    dtype: str | None
    reading: Mapping[str, Any]


Mark = Callable[[Submission], Graded]


def begun(task: Task) -> Mark:
    """The function that marks the sheets of a task."""
    here = version("attncalc")
    if task.version != here:
        raise AttncalcError(f"a worker has attncalc {here}, but {task.version} hands out the sheets")
    reading = Reading(**task.reading)
    found = assignment_in(JsonFile(task.source, dict(task.key)), reading)
    return marking(found.problem, found.settings(task.policy, reveal=task.reveal, dtype=task.dtype), reading)


def main(begin: Callable[[Task], Mark] = begun) -> NoReturn:
    """Mark what standard input hands over, until it ends."""
    answers, lines = os.fdopen(os.dup(1), "wb"), SimpleQueue[bytes]()
    os.dup2(2, 1)  # whatever else is printed is no answer
    Thread(target=_listen, args=(sys.stdin.buffer, lines), daemon=True).start()
    sys.stdin = None
    try:
        mark = begin(from_json(Task, lines.get()))
    except AttncalcError as error:
        _answer(answers, to_json([error.message, error.hint]))
        os._exit(0)
    _answer(answers, to_json([]))
    have_no_more(max(LEAST_MEMORY, (available() or 0) // count()))
    while True:
        try:
            line = lines.get(timeout=IDLE)
        except Empty:
            os._exit(0)
        _answer(answers, to_json(mark(from_json(Submission, line))))


def _listen(source: BinaryIO, lines: SimpleQueue[bytes]) -> None:
    """Pass on what is handed over; when it ends, nobody wants answers any more."""
    for line in source:
        lines.put(line)
    os._exit(0)


def _answer(answers: BinaryIO, line: str) -> None:
    answers.write(line.encode() + b"\n")
    answers.flush()


if __name__ == "__main__":
    main()
