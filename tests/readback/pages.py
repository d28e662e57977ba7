"""What stands on a page beside a formula: the names it may speak of, and their values, taken from the graph's leaves.

Names are spelled here anew from what an author wrote (`beta_1`, group `block 2`), not asked of the notation under test.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncalc.language.graph import Node, walk
from readback import latex, text
from readback.meaning import Facts, Tensor, TooLong, every, worth
from readback.text import Misread, Tree

Array = NDArray[Any]
Values = Mapping[Node, Array]

WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "theta", "lambda", "mu", "sigma", "tau", "phi")
GREEK = dict(zip(WORDS, "αβγδεθλμστφ", strict=True))
ALONE = ("step", "input", "size", "index", "constant", "constants", "identity")


class Line:
    """A formula's leaves by the names that a reader knows them by."""

    def __init__(self, expression: Node, known: Values, home: str = "") -> None:
        self.expression, self.known, self.home = expression, known, home
        self.names: dict[str, Tensor] = {}
        self.shapes: dict[str, tuple[int, ...] | str] = {}
        self.faults: list[str] = []
        self.cut = False
        inner = [n for n in behind(expression) if n is expression or n.op not in ("step", "input")]
        called = as_called(expression)
        for leaf in behind(expression):
            if leaf.op in ALONE and not (leaf.op == "constant" and leaf.args["symbol"] in ("", "π", "e")):
                self.learn(leaf, called.get(leaf, leaf.names))
        self.facts = self.beside(inner)

    def learn(self, leaf: Node, axes: tuple[str, ...]) -> None:
        name, value = spelled(leaf, self.home), Tensor(axes, np.asarray(self.known[leaf], dtype=float))
        if name in self.names and leaf.op == "index" and self.names[name].numbers.shape != value.numbers.shape:
            self.cut = True
            value = max(value, self.names[name], key=lambda t: t.numbers.size)
        elif name in self.names and not same(self.names[name], value):
            self.faults.append(f"{name} stands for two values")
        self.names[name] = value
        self.shapes[name] = name
        if leaf.op in ("step", "input") and leaf.axes:
            self.shapes[name] = leaf.shape
        elif leaf.op == "size":
            self.shapes[name] = str(leaf.args["axis"].size)
        elif leaf.op == "constant":
            self.shapes[name] = _number(leaf.args["value"])

    def beside(self, inner: Iterable[Node]) -> Facts:
        expression = self.expression
        sizes: dict[str, int] = {}
        for axis in (axis for node in behind(expression) for axis in node.axes):
            sizes[axis.name] = max(axis.size, sizes.get(axis.name, 0))
        into: dict[str, int] = {}
        slides: Any = ()
        buckets, classes = None, ("C", 0)
        for node in inner:
            if node.op in ("windows", "fold"):
                slides = tuple((s.size, s.stride, s.padding, s.dilation) for s in node.args["slides"])
            if node.op == "bucket":
                buckets = node.args["buckets"], node.args["max_distance"], node.args["causal"]
            if node.op == "split":
                sizes["h"] = node.axes[-3].size
            if node.op == "collect":
                into[node.args["into"].name] = node.args["into"].size
            if node.op == "one_hot":
                classes = node.axes[-1].name, node.axes[-1].size
        return Facts(sizes, expression.shape, expression.names, slides, buckets, classes, into, self.cut)

    def value(self) -> Array:
        return np.asarray(self.known[self.expression])

    def largest(self) -> float:
        """Of the numbers that a formula starts from: what cancels leaves rounding errors of their size."""
        return max(
            (float(np.abs(t.numbers[np.isfinite(t.numbers)]).max(initial=0)) for t in self.names.values()), default=0
        )

    def masked(self) -> bool:
        return any(np.isinf(t.numbers).any() for t in self.names.values())

    def read_text(self, formula: str) -> str:
        """What is wrong with a formula, or ""."""
        return self.judge(lambda: text.parse(formula, self.names))

    def read_latex(self, formula: str) -> str:
        return self.judge(lambda: latex.parse(formula, self.names))

    def read_sizes(self, formula: str, sizes: str) -> str:
        """The substituted line is the formula with each name's sizes, or number, in its place."""
        if self.expression.op in ALONE:
            return ""
        try:
            due = self.sized(text.parse(formula, self.names))
        except Misread:
            return ""  # said of the formula
        kept = {node[1] for node in every(due) if node[0] == "name"}
        names = [name for name, shape in self.shapes.items() if isinstance(shape, str) or name in kept]
        if not sizes:
            has = any(isinstance(s, tuple) for s in self.shapes.values()) and "…" not in formula
            told = any(node[0] == "shape" for node in every(due))
            return "sizes are not said" if has and told else ""
        try:
            found = text.parse(sizes, names)
        except Misread as error:
            return str(error)
        found = _plain(found)
        return "" if found in (_plain(due), _plain(laid(due))) else f"the sizes are read as {found}, not {_plain(due)}"

    def sized(self, tree: Any) -> Any:
        if not isinstance(tree, tuple) or not tree:
            return tree
        if tree[0] in ("look up", "columns", "diagonal"):  # which places are picked is told by its name
            return (tree[0], self.sized(tree[1]), tree[2])
        if tree[0] == "name":
            shape = self.shapes[tree[1]]
            if isinstance(shape, tuple):
                return ("shape", *shape)
            return text.parse(shape, [] if shape[-1].isdigit() or shape[:1] == "−" else [shape])
        return tuple(self.sized(part) for part in tree)

    def judge(self, parse: Any) -> str:
        if self.faults:
            return self.faults[0]
        try:
            tree = parse()
        except Misread as error:
            return f"unread: {error}"
        found: list[list[Tensor]] = []
        said = ""
        for turn in lists(tree):
            try:
                found.append(worth(tree, self.names, self.facts._replace(lists=turn)))
            except TooLong:
                return ""
            except (Misread, ValueError, IndexError, KeyError, AttributeError) as error:
                said = said or f"unread: {error}"
        for values in found:
            if not all(same(value, values[0]) for value in values[1:]):
                said = said or "reads in more than one way"
            elif agrees(values[0], self.value(), self.expression.names, self.largest(), self.masked()):
                return ""
            else:
                said = said or f"comes to {_short(values[0].numbers)}, not {_short(self.value())}"
        return said


def as_called(expression: Node) -> dict[Node, tuple[str, ...]]:
    """The axes of leaves that a formula uses by other names alone: the keys, where they are the same tokens."""
    used: dict[Node, set[tuple[str, ...]]] = {}
    for node in behind(expression):
        if node.op in ("step", "input"):
            continue
        for source in node.sources:
            if source.op == "rename":
                continue
            names = (source if node.op != "rename" else node).names
            used.setdefault(source, set()).add(names)
        if node.op == "rename" and node.sources[0].op == "rename":
            inner = node.sources[0]
            while inner.op == "rename":
                inner = inner.sources[0]
            used.setdefault(inner, set()).add(node.names)
    return {leaf: next(iter(names)) for leaf, names in used.items() if len(names) == 1}


def lists(tree: Tree) -> range:
    """What is side by side may be so in several ways, of which the shapes tell: so many are tried."""
    several = any(node[0] == "list" for node in every(tree))
    return range(8 if several else 2 if any(node[0] == "take" for node in every(tree)) else 1)


def behind(expression: Node) -> list[Node]:
    """The primitives of a formula and its leaves."""
    stop = ("step", "input")
    return walk(expression, into=lambda node: () if node.op in stop else node.sources)


def pretty(symbol: str) -> str:
    head, mark, tail = symbol.partition("_")
    return f"{head}\u0302" if tail == "hat" else GREEK.get(head.lower(), head) + mark + tail


def spelled(leaf: Node, home: str) -> str:
    if leaf.op == "size":
        return str(leaf.args["axis"].name)
    if leaf.op == "identity":
        return "δ"
    symbol = leaf.args["symbol"]
    if leaf.op == "constant" and symbol in ("", "π", "e"):
        return str(symbol)
    name = "/∂".join(map(pretty, symbol.split("/∂")))
    group = leaf.args["group"] if leaf.op == "step" else ""
    in_its_own = group == home and leaf.args.get("told_apart")
    if group and (group != home or in_its_own):
        theirs, ours = group.split("/"), [] if in_its_own else home.split("/")
        while len(theirs) > 1 and ours and theirs[0] == ours[0]:
            theirs, ours = theirs[1:], ours[1:]
        name += f"[{'/'.join(theirs)}]"
    return name


def agrees(found: Tensor, value: Array, axes: tuple[str, ...], largest: float, masked: bool) -> bool:
    numbers = np.asarray(found.numbers)
    value = np.asarray(value, dtype=complex if np.iscomplexobj(value) or np.iscomplexobj(numbers) else float)
    if sorted(found.axes) == sorted(axes) and len(set(axes)) == len(axes):
        numbers = np.transpose(numbers, [found.axes.index(name) for name in axes])
    if numbers.shape != value.shape and numbers.size == value.size and 1 in value.shape:
        numbers = numbers.reshape(value.shape)
    if masked:  # a row that sees nothing: −∞ − (−∞) counts as 0
        numbers = np.where(np.isnan(numbers), 0, numbers)
    return close(numbers, value, largest)


def close(found: Array, value: Array, largest: float = 0) -> bool:
    if found.shape != value.shape:
        return False
    finite = np.abs(value[np.isfinite(value)])
    largest = max(largest, float(finite.max()) if finite.size else 0.0)
    return bool(np.allclose(found, value, rtol=1e-7, atol=1e-12 * max(largest, 1e-300), equal_nan=True))


def same(a: Tensor, b: Tensor) -> bool:
    if a.axes != b.axes and sorted(a.axes) == sorted(b.axes) and len(set(a.axes)) == len(a.axes):
        b = Tensor(a.axes, np.transpose(b.numbers, [b.axes.index(name) for name in a.axes]))
    return close(np.asarray(a.numbers), np.asarray(b.numbers))


def _number(value: Any) -> str:
    return str(value).removesuffix(".0").replace("-", "−", 1)


def laid(tree: Any) -> Any:
    """Sizes in which vectors lie one after the other: theirs are added, `[3 + 1]`."""
    if not isinstance(tree, tuple) or not tree:
        return tree
    if tree[0] == "list" and all(part[0] == "shape" and len(part) == 2 for part in tree[1:]):
        return ("list", text.parse(" + ".join(str(part[1]) for part in tree[1:]), []))
    return tuple(laid(part) for part in tree)


def _plain(tree: Any) -> Any:
    """Numbers as numbers, so that 2 and 2.0 are one."""
    if isinstance(tree, tuple) and tree and tree[0] == "number":
        return ("number", float(tree[1])) if tree[1] not in "πei∞" else tree
    return tuple(_plain(part) for part in tree) if isinstance(tree, tuple) else tree


def _short(x: Array) -> str:
    return " ".join(np.array2string(np.asarray(x), precision=4, threshold=12).split())[:160]
