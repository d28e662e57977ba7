"""A worker for tests: sheets of some names do what no sheet should, and the others are marked."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import NoReturn

from attncalc.common.errors import InputError
from attncalc.homework.marking import worker
from attncalc.homework.marking.whole_class import Graded
from attncalc.homework.reading.class_lists import Submission
from attncalc.homework.reading.sheets import limited


def hang() -> NoReturn:
    while True:
        time.sleep(60)


def end() -> NoReturn:
    os._exit(9)


def eat() -> NoReturn:
    held = []
    while True:
        held.append(b"x" * 2**26)


BAD: dict[str, Callable[[], NoReturn]] = {"hangs": hang, "ends": end, "eats": eat}


def begun(task: worker.Task) -> worker.Mark:
    mark = worker.begun(task)

    def marked(one: Submission) -> Graded:
        if one.name in BAD:
            try:
                with limited():
                    BAD[one.name]()
            except InputError as error:
                return Graded(one.name, one.source, error=error.message)
        return mark(one)

    return marked


if __name__ == "__main__":
    vars(worker).update(LEAST_MEMORY=2**28, available=lambda: 0)
    worker.main(begun)
