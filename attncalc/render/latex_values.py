"""A value as LaTeX: matrices that fit a line, with labels beside and above them; an entry's arithmetic in lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from attncalc.common.system import NamedTuple
from attncalc.record.numbers import parted
from attncalc.render import View, tex
from attncalc.render.page import GAP, Formula, Limits, Line, Matrix, Table, axes, heading, label, located, window

LINE = 72  # characters of mathematics that fit on a line
CONTINUED = r"\quad"  # instead of an equals sign, before the rest of a line
SIZES = {"": 6, "small": 15, "footnotesize": 26, "scriptsize": 38}  # type size → how many more characters fit


class Link(NamedTuple):
    """What follows an equals sign, and about how many characters wide it is."""

    latex: str
    width: int
    relation: str = "="
    below: str = ""  # the place in a stack or a list, if it is only a part of the value
    listed: bool = False  # whether it is a single entry, not a matrix of a stack


def spelled_out(of: Formula | Table, entry: Line, line: str) -> Iterator[Link]:
    """An entry's arithmetic and value, in as many lines as needed, with its place, by labels if it has any."""
    room = LINE - len(of.symbol)
    first, *further = _lines(line, room)
    below = _below([word.strip('"') for word in entry.labels or map(str, entry.at)])
    yield Link(_set(first, room), _width(first), below=below)
    yield from (Link(f"{{}}{_set(rest, room)}", LINE, CONTINUED) for rest in further)


def _below(words: Iterable[str]) -> str:
    return ",".join(word if word.isdigit() else rf"\text{{{tex.text(word)}}}" for word in words)


def fits(of: Formula | Table, line: str) -> bool:
    """Whether an entry's arithmetic fits on lines, in small type if needed; a root, for example, cannot be broken."""
    room = LINE - len(of.symbol)
    return all(_width(part) <= room + SIZES["scriptsize"] for part in _lines(line, room))


def _width(line: str) -> int:
    """About how many characters wide a line is when set: × has space around it, and 1e-9 becomes 1×10⁻⁹."""
    return len(line) + line.count("×") + 2 * len(re.findall(r"\de-?\d", line))


def _lines(arithmetic: str, room: int) -> list[str]:
    """The arithmetic, broken between terms if it is wider than the room, if necessary inside brackets.

    A root that is too wide even in small type is written as a power, since lines cannot break under a root.
    """
    lines = _broken(arithmetic, room)
    if any(_width(line) > room + SIZES["scriptsize"] for line in lines) and "√(" in arithmetic:
        lines = _broken(_as_power(arithmetic), room)
    return lines


def _as_power(arithmetic: str) -> str:
    """`√(a + b) / 2` → `(a + b)^(1/2) / 2`, for the first root that is not inside another."""
    before, _, rest = arithmetic.partition("√(")
    depth = 1
    for i, character in enumerate(rest):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if not depth:
            return f"{before}({rest[:i]})^(1/2){rest[i + 1 :]}"
    return arithmetic


def _broken(arithmetic: str, room: int) -> list[str]:
    lines = [arithmetic]
    for deepest in range(4):
        if all(_width(line) <= room for line in lines):
            break
        lines = [""]
        for term in _terms(arithmetic, deepest):
            if lines[-1] and _width(lines[-1] + term) > room:
                lines.append("")
            lines[-1] += term
    return lines


def _terms(arithmetic: str, deepest: int) -> Iterator[str]:
    """The arithmetic cut before each +, − or = and after commas, but not within deeper brackets, roots or exponents."""
    depths, start = [0], 0
    for i, character in enumerate(arithmetic):
        if character == "(":
            depths.append(depths[-1] + (100 if re.search(r"([√^]-?[a-z]*|exp)$", arithmetic[max(0, i - 9) : i]) else 1))
        elif character == "[":  # comparisons are not cut
            depths.append(depths[-1] + 100)
        elif character in ")]" and len(depths) > 1:
            depths.pop()
        elif depths[-1] <= deepest and arithmetic[i : i + 3] in (" + ", " − ", " - ", " = "):
            yield arithmetic[start:i]
            start = i
        elif depths[-1] <= deepest and arithmetic[i : i + 2] == ", ":
            yield arithmetic[start : i + 1]
            start = i + 1
    yield arithmetic[start:]


def _set(line: str, room: int) -> str:
    """A line of arithmetic, in smaller type if it is wider than the room."""
    worked, _, whence = line.partition(" (from ")
    decided = r"(?<=[\w}])(?<!\\[gln]e) \("  # after a value brackets hold a reason, not a factor; after ≥ a number
    latex = re.sub(decided, r"\\quad (", tex.arithmetic(worked))
    latex += rf"\quad {tex.behind(f'from {whence[:-1]}')}" if whence else ""
    size = next((size for size, more in SIZES.items() if _width(line) <= room + more), "scriptsize")
    return f"\\text{{\\{size}${latex}$}}" if size else latex


# Matrices

SHORT = 7  # characters; longer symbols have no room on a line before their matrix
LIMITS = Limits(rows=24, columns=10)  # amsmath's matrices have at most ten columns
FEWEST_COLUMNS = 4
STRUT = r"\rule{0pt}{2.6ex}"  # keeps a row away from the line above it


class Value(NamedTuple):
    """A value as the links of a chain of equations, and what is left out of it."""

    links: list[Link]
    left_out: str = ""


def value(table: Table, view: View) -> Value:
    """A number, a matrix, or the matrices of a stack; entry by entry if these are too wide."""
    if not table.can_be_shown:
        return Value([], tex.text(table.instead))
    shown = window(table, view, LIMITS)
    if view.everything:
        blocks = [block for matrix in shown.matrices for block in _blocks(matrix)]
        links = _links(table, blocks, by_index=len(blocks) > len(shown.matrices))
    else:
        links = _links(table, shown.matrices)
        for most in range(LIMITS.columns - 1, FEWEST_COLUMNS - 1, -1):
            if _fit(table, links):
                break
            shown = window(table, view, LIMITS._replace(columns=most))
            links = _links(table, shown.matrices)
    if not _fit(table, links):
        links = list(_listed(table, shown.matrices))
    return Value(links, tex.text(f"{GAP} {shown.left_out} (--all shows them)") if shown.left_out else "")


def _fit(table: Table, links: Iterable[Link]) -> bool:
    room = LINE - max(0, len(table.symbol) - SHORT)
    return all(link.width <= room for link in links)


def _blocks(matrix: Matrix) -> Iterator[Matrix]:
    """A matrix in pieces, each of which fits on a page."""
    widths = [max(map(_set_width, column)) + 2 for column in zip(*matrix.entries, strict=True)]
    first = 0
    for last in range(1, len(widths) + 1):
        block = widths[first : last + 1]
        if last == len(widths) or len(block) > LIMITS.columns or sum(block) > LINE - 8:
            for top in range(0, len(matrix.rows), LIMITS.rows):
                rows = slice(top, top + LIMITS.rows)
                entries = tuple(line[first:last] for line in matrix.entries[rows])
                yield Matrix(matrix.at, matrix.rows[rows], matrix.columns[first:last], entries)
            first = last


def _links(table: Table, matrices: Sequence[Matrix], *, by_index: bool = False) -> list[Link]:
    """The matrices, each followed by its decimals if it is exact and has any."""
    links = []
    for matrix in matrices:
        parts = [list(map(parted, line)) for line in matrix.entries]
        exact = [[entry for entry, _, _ in line] for line in parts]
        links.append(_matrix(table, matrix, exact, by_index=by_index))
        signs = {sign for line in parts for _, sign, _ in line} - {""}
        if signs:
            decimal = [[decimals or entry for entry, _, decimals in line] for line in parts]
            beside = _matrix(table, matrix, decimal, by_index=by_index, decimal=True)
            links.append(beside._replace(relation="=" if signs == {" = "} else r"\approx"))
    return links


def _matrix(
    table: Table, matrix: Matrix, entries: Sequence[Sequence[str]], *, by_index: bool, decimal: bool = False
) -> Link:
    """A number, or a matrix, framed by labels if there are any (by indices if it is a piece of a larger one)."""
    cells = [
        [_cell(table, matrix, i, j, entry, decimal=decimal) for j, entry in zip(matrix.columns, line, strict=True)]
        for i, line in zip(matrix.rows, entries, strict=True)
    ]
    if not table.shape:
        return Link(cells[0][0], len(entries[0][0]))
    rows, columns = axes(table)
    above = _names(table, columns, matrix.columns, by_index=by_index)
    beside = _names(table, rows, matrix.rows, by_index=by_index) if len(table.shape) > 1 else []
    widths = [max(map(_set_width, column)) + 2 for column in zip(*entries, *([above] if above else []), strict=True)]
    width = sum(widths) + max(map(len, beside), default=0)
    place = ", ".join(filter(None, (heading(table, matrix), _piece(table, matrix) if by_index else "")))
    return Link(_drawn(cells, above, beside), width, below=rf"\text{{{tex.text(place)}}}" if place else "")


def _piece(table: Table, matrix: Matrix) -> str:
    """The rows and columns that a piece of a value holds: `m = 0…9`; "" if it holds all."""
    spans = zip(axes(table), (1, 1, *table.shape)[-2:], (matrix.rows, matrix.columns), strict=True)
    parts = [(axis, [i for i in places if i is not None]) for axis, size, places in spans if len(places) < size]
    return ", ".join(f"{axis} = {label(table, axis, at[0])}{GAP}{label(table, axis, at[-1])}" for axis, at in parts)


def _set_width(entry: str) -> int:
    return len(entry) + 4 * ("e-" in entry or "e+" in entry)  # it is spelled ×10^…


def _names(table: Table, axis: str, indices: Sequence[int | None], *, by_index: bool) -> list[str]:
    """The labels of rows or columns, or indices if these are wanted; empty otherwise."""
    if not by_index and axis not in table.labels:
        return []
    return [GAP if index is None else label(table, axis, index) for index in indices]


def _cell(table: Table, matrix: Matrix, i: int | None, j: int | None, entry: str, *, decimal: bool) -> str:
    if i is None or j is None:
        return r"\cdots" if i is not None else r"\vdots" if j is not None else r"\ddots"
    if table.names or table.is_words:
        return rf"\text{{{tex.text(entry)}}}"
    if table.value is not None and table.value.dtype == object and not decimal:
        return tex.exact(table.value[(*matrix.at, i, j)[-table.value.ndim :] if table.value.ndim else ()])
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
        body = f"{names} \\\\ \\hline{STRUT} {body}"
    columns = ("r|" if beside else "") + "r" * len(cells[0])
    return f"\\begin{{array}}{{{columns}}} {body} \\end{{array}}"


def _name(name: str) -> str:
    return r"\cdots" if name == GAP else rf"\text{{{tex.text(name)}}}"


def _listed(table: Table, matrices: Iterable[Matrix]) -> Iterator[Link]:
    """Every entry as a link of its own."""
    entries = [(matrix, at, text) for matrix in matrices for at, text in located(table, matrix)]
    exact_ones = table.value is not None and table.value.dtype == object
    in_lines = exact_ones and any(_as_fraction(text) > LINE for _, _, text in entries)  # for all entries alike
    for matrix, at, text in entries:
        if in_lines:
            line = Line(table.name, at, "", (), labels=_labels(table, at))
            yield from (link._replace(listed=True) for link in spelled_out(table, line, text))
            continue
        exact, sign, decimals = parted(text)
        i, j = (0, 0, *at)[-2:]
        spelled = _cell(table, matrix, i, j, exact, decimal=False)
        told = f"{spelled} {tex.arithmetic(sign + decimals)}" if sign else spelled
        yield Link(told, _as_fraction(text), below=_below(_labels(table, at)), listed=True)


def _labels(table: Table, at: Sequence[int]) -> tuple[str, ...]:
    """A place by its labels, or by its indices if it has none."""
    return tuple(label(table, axis, index) for axis, index in zip(table.axes, at, strict=True))


def _as_fraction(text: str) -> int:
    """About how wide an exact number is when set: a fraction is as wide as its numerator or denominator."""
    exact, sign, decimals = parted(text)
    depth, parts = 0, [0]
    for character in exact:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "/" and not depth:
            parts.append(0)
        else:
            parts[-1] += 1
    return (max(parts) if len(parts) == 2 else sum(parts)) + len(sign + decimals)
