"""A value as LaTeX matrices that fit a line; with labels beside and above them where the axes have some."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from attncalc.numbers import parted
from attncalc.render import tex
from attncalc.render.links import LINE, Link, spelled_out
from attncalc.render.parts import summary
from attncalc.render.view import View
from attncalc.render.window import GAP, Limits, Table, heading, is_words, label, window
from attncalc.trace import Step

LIMITS = Limits(rows=24, columns=10)  # ten columns is what amsmath's matrices have
FEWEST_COLUMNS = 4


class Value(NamedTuple):
    """A value as a chain of equals signs, and what is left out of it."""

    links: list[Link]
    left_out: str = ""


def value(step: Step, view: View) -> Value:
    """The step's value: a number, a matrix, the matrices of a stack; entry by entry where these are too wide."""
    if not step.can_be_shown:
        return Value([], tex.text(summary(step)))
    shown = window(step, view, LIMITS)
    if view.everything:
        blocks = [block for table in shown.tables for block in _blocks(table)]
        links = _links(step, blocks, by_index=len(blocks) > len(shown.tables))
    else:
        links = _links(step, shown.tables)
        for most in range(LIMITS.columns - 1, FEWEST_COLUMNS - 1, -1):
            if _fit(links):
                break
            shown = window(step, view, LIMITS._replace(columns=most))
            links = _links(step, shown.tables)
    if not _fit(links):
        links = list(_listed(step, shown.tables))
    return Value(links, tex.text(f"{GAP} {shown.left_out} (--all shows them)") if shown.left_out else "")


def _fit(links: Iterable[Link]) -> bool:
    return all(link.width <= LINE for link in links)


def _blocks(table: Table) -> Iterator[Table]:
    """A table in pieces that each fit a page."""
    widths = [max(map(_width, column)) + 2 for column in zip(*table.entries, strict=True)]
    first = 0
    for last in range(1, len(widths) + 1):
        block = widths[first : last + 1]
        if last == len(widths) or len(block) > LIMITS.columns or sum(block) > LINE - 8:
            for top in range(0, len(table.rows), LIMITS.rows):
                rows = slice(top, top + LIMITS.rows)
                entries = tuple(line[first:last] for line in table.entries[rows])
                yield Table(table.at, table.rows[rows], table.columns[first:last], entries)
            first = last


def _links(step: Step, tables: Sequence[Table], *, by_index: bool = False) -> list[Link]:
    """The matrices; for an exact one that has decimals, these as a further link."""
    links = []
    for table in tables:
        parts = [list(map(parted, line)) for line in table.entries]
        exact = [[entry for entry, _, _ in line] for line in parts]
        links.append(_matrix(step, table, exact, by_index=by_index))
        signs = {sign for line in parts for _, sign, _ in line} - {""}
        if signs:
            decimal = [[decimals or entry for entry, _, decimals in line] for line in parts]
            beside = _matrix(step, table, decimal, by_index=by_index, decimal=True)
            links.append(beside._replace(relation="=" if signs == {" = "} else r"\approx", below=""))
    return links


def _matrix(
    step: Step, table: Table, entries: Sequence[Sequence[str]], *, by_index: bool, decimal: bool = False
) -> Link:
    """A number, or a matrix: by itself, or framed by labels (by indices where it is a part of a larger one)."""
    cells = [
        [_cell(step, table, i, j, entry, decimal=decimal) for j, entry in zip(table.columns, line, strict=True)]
        for i, line in zip(table.rows, entries, strict=True)
    ]
    if not step.shape:
        return Link(cells[0][0], len(entries[0][0]))
    rows, columns = ("", "", *step.axes)[-2:]
    above = _names(step, columns, table.columns, by_index=by_index)
    beside = _names(step, rows, table.rows, by_index=by_index) if len(step.shape) > 1 else []
    widths = [max(map(_width, column)) + 2 for column in zip(*entries, *([above] if above else []), strict=True)]
    width = sum(widths) + max(map(len, beside), default=0)
    place = heading(step, table)
    return Link(_drawn(cells, above, beside), width, below=rf"\text{{{tex.text(place)}}}" if place else "")


def _width(entry: str) -> int:
    return len(entry) + 4 * ("e-" in entry or "e+" in entry)  # it is spelled ×10^…


def _names(step: Step, axis: str, indices: Sequence[int | None], *, by_index: bool) -> list[str]:
    """What stands beside rows or above columns: labels, or indices if those are wanted; nothing else."""
    if not by_index and axis not in step.labels:
        return []
    return [GAP if index is None else label(step, axis, index) for index in indices]


def _cell(step: Step, table: Table, i: int | None, j: int | None, entry: str, *, decimal: bool) -> str:
    if i is None or j is None:
        return r"\cdots" if i is not None else r"\vdots" if j is not None else r"\ddots"
    if step.names or is_words(step):
        return rf"\text{{{tex.text(entry)}}}"
    if step.value is not None and step.value.dtype == object and not decimal:
        return tex.exact(step.value[(*table.at, i, j)[-step.value.ndim :] if step.value.ndim else ()])
    return tex.arithmetic(entry)


def _drawn(cells: Sequence[Sequence[str]], above: Sequence[str], beside: Sequence[str]) -> str:
    lines = [list(line) for line in cells]
    if beside:
        lines = [[_name(name), *line] for name, line in zip(beside, lines, strict=True)]
    body = " \\\\ ".join(" & ".join(line) for line in lines)
    if not above and not beside:
        return f"\\begin{{bmatrix}} {body} \\end{{bmatrix}}"
    if above:
        names = " & ".join([*([""] if beside else []), *map(_name, above)])
        body = f"{names} \\\\ \\hline {body}"
    columns = ("r|" if beside else "") + "r" * len(cells[0])
    return f"\\begin{{array}}{{{columns}}} {body} \\end{{array}}"


def _name(name: str) -> str:
    return r"\cdots" if name == GAP else rf"\text{{{tex.text(name)}}}"


def _listed(step: Step, tables: Iterable[Table]) -> Iterator[Link]:
    """Every entry by itself."""
    for table in tables:
        for i, line in zip(table.rows, table.entries, strict=True):
            for j, text in zip(table.columns, line, strict=True):
                if i is not None and j is not None:
                    exact, sign, decimals = parted(text)
                    at = (*table.at, i, j)[-len(step.shape) :] if step.shape else ()
                    if len(text) > LINE and step.value is not None and step.value.dtype == object:
                        yield from spelled_out(step, at, text)
                        continue
                    spelled = _cell(step, table, i, j, exact, decimal=False)
                    told = f"{spelled} {tex.arithmetic(sign + decimals)}" if sign else spelled
                    yield Link(told, len(text), below=",".join(map(str, at)))
