"""What an author says while a graph is written: the names and reasons of steps, their parts, notes, labels of axes.

A step is a node, and carries its name and its reason. The rest is kept beside the nodes, in the frame of one problem.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from attncalc.graph import Node, Number, given


class Building:
    """What is kept beside the nodes while one problem's graph is written."""

    def __init__(self) -> None:
        self.groups: list[str] = []  # the parts that steps written now belong to, the innermost last
        self.notes: list[str] = []  # choices that the reader is told of
        self.labels: dict[str, tuple[str, ...]] = {}  # axis → words for its places, where the author made it
        self.asides: list[Node] = []  # steps that are shown although the result does not go through them
        self.known: dict[str, tuple[str, ...]] = {}  # axis → the labels that came with the operands
        self.letters: dict[str, Number | None] = {}  # numbers that options give by name; None stays a letter
        self.exact = False  # whether the operands are fractions, surds or letters


_building: ContextVar[Building] = ContextVar("building")


@contextmanager
def building() -> Iterator[Building]:
    """The frame in which one problem's graph is written; it yields what is kept beside the nodes."""
    state = Building()
    token = _building.set(state)
    try:
        yield state
    finally:
        _building.reset(token)


def note(text: str) -> None:
    """Tell the reader of a choice: `K was not given: keys = queries`."""
    state = _building.get(None)
    if state is not None and text not in state.notes:
        state.notes.append(text)


def label(axis: str, words: Sequence[str]) -> None:
    """Name the places of an axis that the author made: the parts of a count, the columns of a report."""
    state = _building.get(None)
    if state is not None:
        state.labels[axis] = tuple(words)


def words_of(axis: str) -> tuple[str, ...]:
    """The labels that came with the operands for an axis: a vocabulary's words."""
    state = _building.get(None)
    return state.known.get(axis, ()) if state is not None else ()


def in_exact_numbers() -> bool:
    """Whether the operands are fractions, surds or letters, among which nothing is ever rounded."""
    state = _building.get(None)
    return state is not None and state.exact


@contextmanager
def group(name: str) -> Iterator[None]:
    """Steps written inside belong to this part or turn: `with group("self-attention"):`; groups nest."""
    state = _building.get()
    state.groups.append(name)
    try:
        yield
    finally:
        state.groups.pop()


def step(
    name: str,
    value: Node,
    why: str = "",
    *,
    symbol: str = "",
    shown: bool = True,
    of: str | None = None,
    about: str = "",
) -> Node:
    """Give a value a name and a reason: an identity, at which formulas stop and which the backward pass names too.

    `of` is the step whose gradient it holds, where a calculation works its own backward pass out. `about` is what a
    teacher would add to the reason, for those who ask.
    """
    state = _building.get(None)
    within = "/".join(state.groups) if state else ""
    said: dict[str, Any] = {"name": name, "group": within, "why": why, "symbol": symbol or name}
    return Node("step", value, **said, shown=shown, of=of, about=about)


def output(name: str, value: Node, why: str = "", *, symbol: str = "") -> Node:
    """A result that is not one of the steps: shown beside the result, asked for by its name."""
    return step(name, value, why, symbol=symbol, shown=False)


def aside(name: str, value: Node, why: str = "", *, about: str = "") -> Node:
    """A step that is shown although the result does not go through it: bytes that are cached, a check."""
    node = step(name, value, why, about=about)
    _building.get().asides.append(node)
    return node


def letter(name: str, value: Number | None) -> Node:
    """A single number that an option gives, spoken of by its name (`x` of `--at x=3`); None leaves it a letter."""
    _building.get().letters[name] = value
    return given(name, ())
