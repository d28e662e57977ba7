"""Conditions on operands without which there is no answer: probabilities, whole numbers, rows not fully masked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from attncalc.common.errors import DomainError, place_text
from attncalc.common.numerals import Array
from attncalc.language.graph import note

Check = Callable[[Mapping[str, Any]], None]

LEAST_SLACK = 1e-6  # the error of a sum in single precision
MOST_SLACK = 0.02
HALF_PRECISIONS = (8, 11)  # significant bits of bfloat16 and float16
FIRST = 3  # the number of entries that a warning names
FIRST_ROWS = 100  # how all entries were rounded is judged by so many rows


def places(value: Array, are: Callable[[Array], Array]) -> Iterator[str]:
    """The first entries that are so, each as one writes its place; none among exact numbers and letters."""
    if value.dtype.kind == "f":
        yield from map(place_text, np.argwhere(are(value))[:FIRST])


def numbers(value: Array) -> Array | None:
    """The entries as floats; None where some are letters, of which nothing can be said."""
    try:
        return value.astype(np.float64)
    except TypeError:
        return None


def meet(*values: Array) -> bool:
    """Whether their shapes let them meet entry by entry; where they don't, the graph says it more clearly."""
    try:
        np.broadcast_shapes(*(value.shape for value in values))
    except ValueError:
        return False
    return True


def distributions(*names: str) -> Check:
    """A check that the named operands, where they are given, are probabilities that sum to 1 along the last axis."""

    def check(values: Mapping[str, Any]) -> None:
        for name in names:
            if name in values:
                must_sum_to_one(name, values[name])

    return check


def must_sum_to_one(name: str, value: Array) -> None:
    """Raise unless the rows are probabilities; what their rounding as written explains is said and let pass."""
    must_be_probabilities(name, value)
    p = numbers(value)
    if p is None:
        return
    sums = p.sum(axis=-1)
    off = np.abs(sums - 1)
    for at in np.argwhere(off > LEAST_SLACK):
        row, total = p[tuple(at)], sums[tuple(at)]
        which = f"row {','.join(map(str, at))} of {name} (counted from 0)" if len(at) else name
        if off[tuple(at)] > _slack(row):
            raise DomainError(
                f"{which} sums to {total:.6g}, and probabilities sum to 1",
                hint="softmax turns scores into probabilities",
            )
        note(f"{which} sums to {total:.6g}: taken as rounded, and used as it is", of=name)


def _slack(row: Array) -> float:
    """How far the sum of a row may be from 1 because its entries were rounded, judged by their decimals or bits."""
    fractions, exponents = np.frexp(row[row > 0])
    for bits in HALF_PRECISIONS:
        if not (np.ldexp(fractions, bits) % 1).any():  # a model's dump: off by half a unit of each entry's last bit
            return min(float(np.ldexp(1.0, exponents - bits - 1).sum()) + LEAST_SLACK, MOST_SLACK)
    decimals = max(len(f"{entry:.12f}".rstrip("0").partition(".")[2]) for entry in row.tolist())
    return min(len(row) * 0.5 * 10.0**-decimals + LEAST_SLACK, MOST_SLACK) if decimals > 1 else 0.0


def must_be_probabilities(name: str, value: Array) -> None:
    """Raise for an entry below 0 or above 1."""
    p = numbers(value)
    if p is None:
        return
    for at in np.argwhere((p < 0) | (p > 1 + LEAST_SLACK)):
        place, entry = f"{name}{place_text(at)}", p[tuple(at)]
        if entry < 0:
            raise DomainError(f"{place} = {entry:.6g} is below 0, and a probability is not")
        raise DomainError(
            f"{place} = {entry:.6g} is above 1, and a probability is not",
            hint="softmax turns scores into probabilities; 25% is written 0.25",
        )


def must_be_whole(name: str, value: Array, what: str) -> None:
    """Raise for an entry that is no whole number from 0 on."""
    found = numbers(value)
    if found is not None:
        for at in np.argwhere((found < 0) | (found % 1 != 0)):
            raise DomainError(f"{name}{place_text(at)} = {found[tuple(at)]:g} is not {what}")


def must_be_places(name: str, value: Array, size: int, axis: str, *, but: int | None = None) -> None:
    """Raise for an entry that is no position along an axis, counted from 0; `but` is one that need not be."""
    found = numbers(value)
    if found is None:
        return
    there = (found >= 0) & (found < size) & (found % 1 == 0)
    for at in np.argwhere(~there & (found != (np.nan if but is None else but))):
        entry = found[tuple(at)]
        due = f"one of the {size} positions of {axis}, 0 to {size - 1}" if size > 1 else f"0, the only one of {axis}"
        raise DomainError(
            f"{name}{place_text(at)} = {entry:g} is not {due}",
            hint=f"they are counted from 0, so that the last is {size - 1}" if entry == size else "",
        )


def must_be_classes(name: str, value: Array, size: int, axis: str, *, by_number: bool, but: int | None = None) -> None:
    """Raise for what tells no classes, by their numbers or by probabilities; tell how it was read."""
    if not by_number:
        must_sum_to_one(name, value)
        pure = numbers(value)
        shares = pure is None or ((pure != 0) & (pure != 1)).any()
        meaning = "probabilities of the classes" if shares else "one-hot: 1 at the right class"
        note(f"{name} read as {meaning}", of=name)
    else:
        must_be_places(name, value, size, axis, but=but)
        note(f"{name} read as the numbers of the right classes, counted from 0", of=name)


def not_all_masked(name: str) -> Check:
    """A check that no row of scores (along the axis of the options, else the last one) is −∞ throughout.

    Scores that look like probabilities are remarked upon as well.
    """

    def check(values: Mapping[str, Any]) -> None:
        taken_as_scores(name)(values)
        x, axis = values[name], values.get("axis", -1)
        if x.dtype.kind != "f" or not -x.ndim <= axis < x.ndim:
            return
        empty = np.argwhere(np.isneginf(x).all(axis=axis))
        if len(empty):
            raise DomainError(
                f"{_row(name, empty[0].tolist(), x.ndim, axis)} is −∞ throughout: nothing is left to share out",
                hint="let one entry of it stay finite; attention gives such a query the weights 0",
            )

    return check


def taken_as_scores(*names: str) -> Check:
    """A check that only remarks: these operands look like probabilities, and scores are asked for."""

    def check(values: Mapping[str, Any]) -> None:
        mend = "their logarithms are scores that give them back"
        if "from_probabilities" in values:
            mend = "--from-probabilities uses them as they are"
        for name in names:
            if not values.get("from_probabilities") and _are_shares(values[name], values.get("axis", -1)):
                taken = "the entries sum to 1, as probabilities do, and are taken as scores all the same"
                note(f"{name}: {taken}; {mend}", of=name)

    return check


def _are_shares(value: Array, axis: int) -> bool:
    """Whether the entries are shares that sum to 1 along an axis, as scores hardly ever do by themselves.

    Whole numbers are no shares: a row of scores may well be one 1 among 0s. Of many rows the first ones tell how their
    entries were rounded.
    """
    p = numbers(value)
    if p is None or not -p.ndim <= axis < p.ndim or p.shape[axis] < 2 or not ((p >= 0) & (p <= 1)).all():
        return False
    rows = np.moveaxis(p, axis, -1).reshape(-1, p.shape[axis])
    off = np.abs(rows.sum(axis=-1) - 1)
    return bool((off <= MOST_SLACK).all() and (p % 1).any()) and all(
        off[i] <= max(LEAST_SLACK, _slack(row)) for i, row in enumerate(rows[:FIRST_ROWS])
    )


def _row(name: str, at: list[int], rank: int, axis: int) -> str:
    """`row 2 of x`, or `column 2 of x` where the axis is the first of two."""
    if not at:
        return name
    kind = "column" if rank == 2 and axis in (0, -2) else "row"
    return f"{kind} {','.join(map(str, at))} of {name} (counted from 0)"
