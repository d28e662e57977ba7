"""What a primitive is: one row with everything that is known of it; and how formulas are written.

A cell is the scalar expression that makes one entry of a result from entries of its sources. The place of an entry is
given by axis names, `{"n": 0, "m": 1}`, so that a row can say "the same place in the source" without counting axes.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from operator import attrgetter
from typing import Any, Protocol

from attncalc.common.system import NamedTuple
from attncalc.language.axes import Axes

At = Mapping[str, int]
Look = Callable[[int, At], Any]
"""(source's number, place) → the value there: the cell of a choice (a mask, a maximum) reads which way it went."""


class Pick(NamedTuple):
    """A source's entry at a place."""

    source: int
    at: At


class Form(NamedTuple):
    """An operation on entries: a sign of attncalc.solve.recording (`+`, `×`, `√`, …) or a function's name."""

    sign: str
    parts: tuple[Cell, ...]


class Literal(NamedTuple):
    """A number, or a word such as `masked`, shown in the arithmetic as it is."""

    value: Any


Cell = Pick | Form | Literal


class Op(NamedTuple):
    """A primitive: everything that is known of it, in one row.

    Text and LaTeX are templates over the sources ({0}, {1}, …) and the arguments ({a[over]}), or functions of
    (node, *sources' texts). `binds` is the precedence of the result (0 an atom, 1 a power, 2 a product, 2.5 a quotient,
    3 a sum, 4 a comparison), `takes` the loosest precedence at which each source needs no brackets.

    The fields stand in groups: what it computes, how it is written, its gradient, and what it costs. With the defaults
    a row costs one operation for each entry.
    """

    kernel: Callable[..., Any]  # (node, *values) → value; elementwise rows: (*aligned values) → value
    axes: Callable[..., Axes]  # (args, *sources' axes) → axes
    text: str | Callable[..., str]
    latex: str | Callable[..., str]
    cell: Callable[..., Cell]  # (node, at, look) → how one entry is made from entries of the sources
    elementwise: bool = False
    mixes: Callable[..., tuple[str, ...]] = lambda node: ()  # the axes along which entries are combined
    copies: bool = False  # it repeats its source's entries along the axes that the source lacks
    renames: tuple[str, str] | None = None  # the arguments that hold an axis' name in the source, and its name here
    starts: str = ""  # of a part of the source: the argument with the place along `over` where the part begins
    divides: bool = False  # by its second source, which must not have lost its digits to underflow
    transposed: Callable[..., Any] | None = None  # (node) → its transpose as formulas write it, if not with `ᵀ`
    body: Callable[..., Any] | None = None  # (node, *sources) → its definition in smaller primitives, as a node
    about: str | Callable[..., str] = ""  # what a teacher would say of it (or of one node), for --explain
    complex: bool = False  # it may make complex numbers of real ones
    quick: Callable[..., Any] | None = None  # (node) → a function of bare numbers that is faster than the kernel
    doubled: str = ""  # the function of doubled_kernels for twice the digits, which is called as the kernel is
    rounds: bool = True  # False of a choice, which hands entries on as they are
    loses: Callable[..., bool] | None = None  # (node, value, *laid sources) → whether their rounding shows in the value
    by_hand: Callable[..., Any] | None = None  # like `body`: what one writes down by hand, if there is no body
    constants: Callable[..., Any] = lambda node: ()  # those it uses, √3 or e: (name, number, the node with another one)
    in_form_of: Callable[..., Any] | None = None  # (value, another) → the value in the equally right form of the other

    binds: float = 0
    takes: tuple[float, ...] = (9, 9, 9, 9)
    sign: str | Callable[[Any], str] = ""  # of a product: it needs brackets beside a product with another sign
    boxed: bool = False  # its LaTeX sign encloses its sources, as a root or a bar does: they need no brackets
    raises: bool = False  # its last source is a superscript in LaTeX, which needs no brackets either
    noun: str = ""  # the name of its value as a step of its own, if the primitive's name is a verb or a sign
    chooses: bool = False  # its first source, a truth, chooses which of the other sources gives an entry
    joins: bool = False  # it lays its sources side by side: its entries are theirs, and have no arithmetic to show
    picks: Callable[..., int] = lambda node: -1  # which source says the places of another: it keeps its name
    points: str = ""  # the argument with the axis whose places its entries are; they are shown by their labels
    jumps: bool = False  # it rounds to a whole number
    unit: str = ""  # the argument with the axis along which its entries sum to 1
    numbered: tuple[int, str] | None = None  # which source holds places (from 0), and the argument with their axis

    vjp: Callable[..., Sequence[Any]] | None = None  # (gradient, y, node, *sources) → a node or None for each source
    because: str | Callable[..., str] = ""  # the reason of the backward step; may depend on (node, which source)
    no_gradient: str = ""  # why a row without a VJP has no gradient
    hands_on: bool = False  # the gradient passes unchanged: an earlier reason tells more than `because`
    narrow: bool = False  # the VJP takes a gradient without axes along which it is constant; elementwise VJPs do

    flops: int | Callable[..., int] | None = 1  # at each place; 0 if nothing is computed, None if not counted
    places: Callable[..., Axes] = attrgetter("axes")  # the axes of those places: those of the result, or more
    adds: bool = False  # it only adds up the entries it mixes, so that it can be summed block by block
    terms: Callable[..., Any] | None = None  # the kernel over absolute values: the size of the terms each entry sums
    view: bool = False  # its value is a view of a source's memory and takes none of its own
    truth: bool = False  # its entries are true or false, a byte each
    normalises: bool = False  # it is the root of its first source, the mean of squares of its second
    doubles_memory: bool = False  # its kernel needs as much memory again as its value while it runs

    @property
    def stays(self) -> bool:
        """Whether its entries are those of its source, under renamed or additional axes."""
        return self.copies or self.renames is not None


class Rows(dict[str, Op]):
    """Primitive's name → its row; the family of a missing row is imported when the row is asked for.

    Nothing else in this module imports a family.
    """

    def __missing__(self, op: str) -> Op:
        import_module("attncalc.language.ops").load(op)
        return self[op]


OPS = Rows()


# Graph → text or LaTeX: how a formula is written, where brackets go, and the same formula with sizes in place of names.


Style = typing.Literal["text", "latex", "sizes"]


class Applied(Protocol):
    """A primitive applied to sources: the part of a node that formulas need."""

    @property
    def op(self) -> str:
        """The primitive's name."""

    @property
    def args(self) -> dict[str, Any]:
        """Its arguments."""

    @property
    def axes(self) -> Axes:
        """The axes of the value."""

    @property
    def sources(self) -> Sequence[Applied]:
        """What it is applied to."""


NUMBERS_OF_ONE_NAME = ("π", "e")
"""Names of one particular number; any other, such as `ε`, is replaced by its value in an example."""

_GREEK = ["alpha", "beta", "gamma", "delta", "epsilon", "theta", "lambda", "mu", "sigma", "tau", "phi"]
_LETTERS = dict(zip(_GREEK, ["α", "β", "γ", "δ", "ε", "θ", "λ", "μ", "σ", "τ", "φ"], strict=True))
_ALONE = ("step", "input", "size", "index", "constant", "constants", "identity")
DEEPEST = 12
"""An unnamed expression is cut to `…` below this many nested primitives: nobody reads a longer formula."""


def formula(node: Applied, style: Style = "text") -> str:
    """The node's expression, in which other steps stand by their names; a step's is that of the value it names."""
    if node.op == "step":
        return _write(node.sources[0], style, 0, node.args["group"])
    return _write(node, style, 0, "")


def symbol(node: Applied, style: Style = "text", home: str | None = None) -> str:
    """The name of a step, an operand, a size or a number in formulas of the group `home`, by default its own group."""
    own = node.args["group"] if node.op == "step" else ""
    return _write(node, style, 0, own if home is None else home)


def sizes(node: Applied, plain: str = "") -> str:
    """The formula with sizes in place of names, `[2×3]·[3×2]`; empty if no operand has an axis or it says nothing new.

    `plain` is the ordinary formula, if it is known already.
    """
    text = formula(node, "sizes")
    return text if "[" in text and text != (plain or formula(node)) else ""


def _write(node: Applied, style: Style, depth: int, home: str) -> str:
    if node.op in _ALONE:
        text, part = _alone(node, style), _elsewhere(node, style, home) if node.op == "step" else ""
        return _with_part(text, part) if part and style == "latex" else text + part
    if depth > DEEPEST:
        return r"\ldots" if style == "latex" else "…"
    row = OPS[node.op]
    inner = []
    for i, source in enumerate(node.sources):
        named = style == "sizes" and i == row.picks(node)
        text = _write(source, "text" if named else style, depth + 1, home)
        held = style == "latex" and (row.boxed or (row.raises and source is node.sources[-1]))
        loose = _binds(source, style) > row.takes[min(i, len(row.takes) - 1)] or _another_product(node, i)
        if not held and loose:
            text = rf"\left({text}\right)" if style == "latex" else f"({text})"
        inner.append(text)
    template = row.latex if style == "latex" else row.text
    if callable(template):
        return template(node, *inner)
    return template.format(*inner, a=node.args)


def _binds(node: Applied, style: Style) -> float:
    row = OPS[node.op]
    if (row.latex if style == "latex" else row.text) == "{0}":  # invisible: only its source is seen
        return _binds(node.sources[0], style)
    if node.op == "constant" and not node.args["symbol"]:
        return 3 if node.args["value"] < 0 else 2.5 if "/" in str(node.args["value"]) else 0
    if style == "latex" and node.op == "step" and node.args["symbol"].startswith("∂"):  # a fraction there
        return 1
    return 1 if style == "latex" and row.boxed else row.binds


def _seen(node: Applied) -> Applied:
    """The node that a formula shows: the first visible one, from this node towards its source."""
    while OPS[node.op].text == OPS[node.op].latex == "{0}":
        node = node.sources[0]
    return node


def _sign(node: Applied) -> str:
    """The sign of a product: `·`, `⊙` or `⊗`; "" for anything else."""
    sign = OPS[node.op].sign
    return sign(node) if callable(sign) else sign


def _another_product(node: Applied, i: int) -> bool:
    """Whether a factor is a product that needs brackets, since no rule says whether `·` goes before `⊙`.

    A number in front, 2·a ⊙ b, and matrices, A·B·C, may be multiplied in any order, but a·b·c of vectors may not.
    """
    if not (sign := _sign(node)):
        return False
    factor = _seen(node.sources[i])
    if not (inner := _sign(factor)):
        return False
    first = factor.sources[0]
    if sign == inner == "·":
        if not (first.axes and factor.sources[1].axes) or not all(source.axes for source in node.sources):
            return False
        return len(factor.axes) < max(len(source.axes) for source in factor.sources)
    if sign == inner:
        while _sign(factor) == sign:
            factor = _seen(factor.sources[0])
        return i == 1 and _sign(factor) == "·"  # g ⊙ (2·a ⊙ b): the number is no longer in front
    if inner == "·" and i == 0 and not first.axes:
        return _sign(_seen(factor.sources[1])) == "·"
    return not (sign == "·" and i == 1 and not node.sources[0].axes)


def _with_part(text: str, part: str) -> str:
    """A LaTeX symbol with its group as a subscript; in a derivative the denominator gets it: ∂L/∂scores_{block 1}."""
    above, slope, below = text.rpartition(r"}{\partial ")
    if slope:
        return f"{above}{slope}{_with_part(below.removesuffix('}'), part)}}}"
    return f"{{{text}}}{part}" if text.endswith("}") and "_{" in text else text + part


def _elsewhere(step: Applied, style: Style, home: str) -> str:
    """The group of a step, if it is not the formula's own group: `[block 1]` in `maximum[block 1]`."""
    group = step.args["group"]
    is_here = group == home and not step.args.get("told_apart")
    if is_here or not group or (style == "sizes" and step.axes):
        return ""
    theirs, ours = group.split("/"), home.split("/") if home != group else []
    while len(theirs) > 1 and ours and theirs[0] == ours[0]:
        theirs, ours = theirs[1:], ours[1:]
    return rf"_{{\text{{{'/'.join(theirs)}}}}}" if style == "latex" else f"[{'/'.join(theirs)}]"


def _alone(node: Applied, style: Style) -> str:
    row = OPS[node.op]
    if style == "sizes":
        if node.op == "size":
            return str(node.args["axis"].size)
        if node.op == "constant" and node.args["symbol"] not in NUMBERS_OF_ONE_NAME:
            return number_text(node.args["value"])
        if node.axes and node.op in ("step", "input"):
            return f"[{'×'.join(str(axis.size) for axis in node.axes)}]"
    template = row.latex if style == "latex" else row.text
    text = template(node) if callable(template) else template.format(a=node.args)
    if node.op == "identity":  # δ, for which its row has the LaTeX too
        return text
    if node.op == "constant" and len(node.args["symbol"]) < 2:  # a number, or π
        return text
    return _latex_name(text, node.op) if style == "latex" else pretty(text)


def number_text(value: Any) -> str:
    """A number as a formula shows it: a fraction as a fraction, a float by its shortest digits."""
    if value == float("-inf"):
        return "−∞"
    text = (repr(value) if isinstance(value, float) else str(value)).removesuffix(".0")
    return text.replace("-", "−", 1) if value < 0 else text  # the sign of an exponent is part of the numeral: 1e-05


@lru_cache(maxsize=1024)
def pretty(name: str) -> str:
    """A symbol as text shows it: `gamma` → γ, `beta_1` → β_1, `m_hat` → m̂; also within a derivative, ∂L/∂γ."""
    if name.startswith("∂"):
        return "/".join("∂" + pretty(part[1:]) for part in name.split("/"))
    head, mark, tail = name.partition("_")
    if tail == "hat":
        return f"{head}\u0302"
    return _LETTERS.get(head.lower(), head) + mark + tail


@lru_cache(maxsize=1024)
def _latex_name(name: str, op: str) -> str:
    """A name as LaTeX shows it: words upright, letters slanted, `_x` as a subscript unless words follow a word."""
    if name.startswith("∂"):
        above, _, below = name[1:].partition("/∂")
        return rf"\frac{{\partial {_latex_name(above, op)}}}{{\partial {_latex_name(below, op)}}}"
    if name.startswith("‖"):
        return rf"\lVert {_latex_name(name.strip('‖'), op)} \rVert"
    head, _, tail = name.partition("_")
    if tail == "hat":
        return rf"\hat{{{head}}}"
    if head.lower() in _LETTERS:
        head = "\\" + head.lower()
    elif len(head) > 1:
        if op == "step":  # words, with a number or a letter below: `gram_1`, `log_shares_a`
            words, _, last = name.rpartition("_")
            head, tail = (words, last) if words and (len(last) == 1 or last.isdigit()) else (name, "")
        head = rf"\text{{{head.replace('_', ' ')}}}"
    below = tail if len(tail) == 1 else rf"\text{{{tail.replace('_', ' ')}}}"
    return f"{head}_{{{below}}}" if tail else head


def latex_axis(name: str) -> str:
    """An axis' name as LaTeX shows it: d_model → d with `model` below, the parts of a composite axis spaced apart."""
    if name.startswith("("):
        return "(" + r"\,".join(latex_axis(part) for part in name.strip("()").split()) + ")"
    return _latex_name(name, "axis")
