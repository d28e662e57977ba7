"""Pieces of work on all cores: in their order, and ended together where one of them fails or is interrupted."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

import numpy as np
import pytest

from attncalc.evaluate.large import cores
from attncalc.evaluate.large.cores import on_all

THREADS, PIECES = 3, 200


class Left(deque[tuple[int, int]]):
    """The pieces that are left, which tell when they are given up."""

    given_up: threading.Event

    def clear(self) -> None:
        super().clear()
        self.given_up.set()


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[int]]:
    """As many cores as there are threads here; how many each library of linear algebra starts."""
    np.linalg.norm(np.ones(2))  # where NumPy is loaded, so is its library
    libraries = cores.linear_algebra().lib_controllers
    if not libraries:
        pytest.skip("NumPy stands on an unknown library: the pieces are done one after the other")
    monkeypatch.setattr(cores, "count", lambda: THREADS)
    monkeypatch.setattr(cores, "deque", Left)
    monkeypatch.setattr(Left, "given_up", threading.Event(), raising=False)
    return lambda: [library.num_threads for library in libraries]


def test_what_is_made_stands_in_the_order_of_the_pieces(threads: Callable[[], list[int]]) -> None:
    assert on_all(lambda piece: piece**2, range(PIECES)) == [piece**2 for piece in range(PIECES)]


def test_meanwhile_linear_algebra_starts_no_threads(threads: Callable[[], list[int]]) -> None:
    before = threads()
    assert {tuple(found) for found in on_all(lambda piece: threads(), range(PIECES))} == {(1,) * len(before)}
    assert threads() == before


def in_this_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def in_another() -> bool:
    return not in_this_thread()


@pytest.mark.parametrize(
    ("error", "fails"),
    [
        pytest.param(MemoryError(), in_another, id="another thread has no memory"),
        pytest.param(MemoryError(), in_this_thread, id="this thread has no memory"),
        pytest.param(KeyboardInterrupt(), in_this_thread, id="Ctrl-C, which this thread alone hears"),
    ],
)
def test_the_others_end_with_the_piece_that_they_have(
    threads: Callable[[], list[int]], error: BaseException, fails: Callable[[], bool]
) -> None:
    all_work, done = threading.Barrier(THREADS, timeout=60), []

    def work(piece: int) -> None:
        all_work.wait()
        if fails():
            raise error
        assert Left.given_up.wait(60)
        done.append(piece)

    before = threads(), threading.active_count()
    with pytest.raises(type(error)):
        on_all(work, range(PIECES))
    assert len(done) < THREADS
    assert (threads(), threading.active_count()) == before
