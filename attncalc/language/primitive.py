"""What a primitive is: one row with all that anybody needs to know of it; and how formulas are written.

How one entry of a result is made from entries of its sources is told by a cell: a scalar expression. An entry's place
is told by axis names, `{"n": 0, "m": 1}`, so that a row can say "the same place in the source" without counting axes.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from operator import attrgetter
from typing import Any, Protocol

from attncalc.common.system import NamedTuple
from attncalc.language.axes import Axes

At = Mapping[str, int]
Look = Callable[[int, At], Any]
"""(source's number, place) → the value there: what a choice (a mask, a maximum) needs to say which way it went."""


class Pick(NamedTuple):
    """The entry of a source at a place."""

    source: int
    at: At


class Form(NamedTuple):
    """An operation on entries: a sign of attncalc.solve.recording (`+`, `×`, `√`, …) or a function's name."""

    sign: str
    parts: tuple[Cell, ...]


class Literal(NamedTuple):
    """A number, or a word such as `masked`, that stands in the arithmetic for itself."""

    value: Any


Cell = Pick | Form | Literal


class Op(NamedTuple):
    """A primitive: everything that anybody needs to know of it, in one row.

    Text and LaTeX are templates over the sources ({0}, {1}, …) and the arguments ({a[over]}), or functions of
    (node, *sources' texts). `binds` says how tightly the result holds together (0 an atom, 1 a power, 2 a product,
    2.5 a quotient, 3 a sum, 4 a comparison), `takes` up to what each source may come without brackets.

    The fields stand in groups: what it computes, how it is written, its gradient, and what it costs. A row that leaves
    out all that has a default is one that works on its entries one by one, in one operation each.
    """

    kernel: Callable[..., Any]  # (node, *values) → value; elementwise rows: (*aligned values) → value
    axes: Callable[..., Axes]  # (args, *sources' axes) → axes
    text: str | Callable[..., str]
    latex: str | Callable[..., str]
    cell: Callable[..., Cell]  # (node, at, look) → how one entry is made from entries of the sources
    elementwise: bool = False
    mixes: Callable[..., tuple[str, ...]] = lambda node: ()  # the axes along which entries meet
    copies: bool = False  # its source's entries, the same all along the axes that the source lacks
    renames: tuple[str, str] | None = None  # the arguments with an axis' name in the source, and with its name here
    starts: str = ""  # the argument with the place, along `over`, where the part of the source begins that it is
    divides: bool = False  # by its second source, which may be nothing that has lost its digits
    transposed: Callable[..., Any] | None = None  # (node) → its transpose as a formula has it, where that is no `ᵀ`
    body: Callable[..., Any] | None = None  # (node, *sources) → the definition in smaller primitives, a node
    about: str | Callable[..., str] = ""  # what a teacher would say of it (of a node of it), for --explain
    complex: bool = False  # of real numbers it may make complex ones
    quick: Callable[..., Any] | None = None  # (node) → a function of bare numbers that is sooner done than the kernel
    doubled: str = ""  # the function of doubled_kernels that finds it in twice the digits
    rounds: bool = True  # a choice gives entries as they are
    loses: Callable[..., bool] | None = None  # (node, value, *laid sources) → whether their rounding shows in the value
    by_hand: Callable[..., Any] | None = None  # as the body: what one writes down by hand, where it has no body
    constants: Callable[..., Any] = lambda node: ()  # √3 or e that it takes: name, number, what another one makes
    free: Callable[..., Any] | None = None  # (value, another) → the value in the form of another that is as right

    binds: float = 0
    takes: tuple[float, ...] = (9, 9, 9, 9)
    sign: str | Callable[[Any], str] = ""  # of a product: beside one of another sign it needs brackets
    boxed: bool = False  # in LaTeX its sign holds its sources together, as a root or a bar does: they need no brackets
    raises: bool = False  # in LaTeX its last source stands raised, which needs no brackets either
    noun: str = ""  # what its value is called as a step of its own, where its name is a verb or a sign
    chooses: bool = False  # by its first source, a truth, which of the others an entry is
    joins: bool = False  # it lays its sources side by side: an entry that is one of theirs has no arithmetic to show
    picks: Callable[..., int] = lambda node: -1  # which source tells the places of another: it keeps its name
    points: str = ""  # the argument with the axis whose places its entries are, to be shown by their labels
    jumps: bool = False  # it is a whole number of what lies between two
    unit: str = ""  # the argument with the axis along which its entries sum to 1
    numbered: tuple[int, str] | None = None  # which source holds places, from 0, and the argument with their axis

    vjp: Callable[..., Sequence[Any]] | None = None  # (gradient, y, node, *sources) → a node or None for each source
    because: str | Callable[..., str] = ""  # said beside the backward step; may depend on (node, which source)
    no_gradient: str = ""  # why there is none, for a row without a VJP
    hands_on: bool = False  # the gradient passes unchanged: what was said of it before tells more than `because`
    narrow: bool = False  # the VJP takes a gradient without the axes along which it is the same; elementwise ones do

    flops: int | Callable[..., int] | None = 1  # at each place; 0 where nothing is computed, None where not counted
    places: Callable[..., Axes] = attrgetter("axes")  # the axes of those places: those of the result, or more
    adds: bool = False  # what it mixes it only adds up: of parts of an axis each gives a share of the sum
    terms: Callable[..., Any] | None = None  # as the kernel, of sizes: those of the terms that an entry is the sum of
    view: bool = False  # its value shows a source's memory and takes none of its own
    truth: bool = False  # its entries are true or false, a byte each
    normalises: bool = False  # it is the root of its first source, the mean of squares of its second
    twice: bool = False  # its kernel holds as much again as its value while it is at work

    @property
    def stays(self) -> bool:
        """Whether its entries are those of its source, and only the axes have other names, or are more."""
        return self.copies or self.renames is not None


class Rows(dict[str, Op]):
    """The rows by the names of their primitives; one that is not there yet is brought in with its family.

    That is the door between the language and its words: nothing here imports a family.
    """

    def __missing__(self, op: str) -> Op:
        import_module("attncalc.language.ops").load(op)
        return self[op]


OPS = Rows()


# Graph → text or LaTeX: how a formula is written, where brackets go, and the same formula with sizes in place.


Style = typing.Literal["text", "latex", "sizes"]


class Applied(Protocol):
    """A primitive that is applied to sources: what of a node its formula is written from."""

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
"""Names that say which number is meant; any other, as `ε`, stands for a value that an example puts in its place."""

_GREEK = ["alpha", "beta", "gamma", "delta", "epsilon", "theta", "lambda", "mu", "sigma", "tau", "phi"]
_LETTERS = dict(zip(_GREEK, ["α", "β", "γ", "δ", "ε", "θ", "λ", "μ", "σ", "τ", "φ"], strict=True))
_ALONE = ("step", "input", "size", "index", "constant", "constants", "identity")
DEEPEST = 12
"""Beyond so many nested primitives an unnamed expression is cut to `…`: a formula is read at a glance or not at all."""


def formula(node: Applied, style: Style = "text") -> str:
    """The node's own expression: a step's is that of the value it names, and speaks of other steps by their names."""
    if node.op == "step":
        return _write(node.sources[0], style, 0, node.args["group"])
    return _write(node, style, 0, "")


def symbol(node: Applied, style: Style = "text", home: str | None = None) -> str:
    """How other formulas speak of a step, an operand, a size or a number: those of the group `home`, or its own."""
    own = node.args["group"] if node.op == "step" else ""
    return _write(node, style, 0, own if home is None else home)


def sizes(node: Applied, plain: str = "") -> str:
    """The formula with sizes in place, `[2×3]·[3×2]`; empty where no operand has an axis or it says nothing new.

    The `plain` formula is written again where it is not given.
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
    if (row.latex if style == "latex" else row.text) == "{0}":  # invisible: what it shows is its source
        return _binds(node.sources[0], style)
    if node.op == "constant" and not node.args["symbol"]:
        return 3 if node.args["value"] < 0 else 2.5 if "/" in str(node.args["value"]) else 0
    if style == "latex" and node.op == "step" and node.args["symbol"].startswith("∂"):  # a fraction there
        return 1
    return 1 if style == "latex" and row.boxed else row.binds


def _seen(node: Applied) -> Applied:
    """What is written where a node stands that is not itself seen."""
    while OPS[node.op].text == OPS[node.op].latex == "{0}":
        node = node.sources[0]
    return node


def _sign(node: Applied) -> str:
    """The sign of a product: `·`, `⊙` or `⊗`; "" of anything else."""
    sign = OPS[node.op].sign
    return sign(node) if callable(sign) else sign


def _another_product(node: Applied, i: int) -> bool:
    """Whether a factor is a product that would be torn apart: no school tells whether `·` goes before `⊙`.

    A number in front may be multiplied first or last, 2·a ⊙ b, and so may matrices, A·B·C; but not a·b·c of vectors.
    """
    sign, factor = _sign(node), _seen(node.sources[i])
    if not sign or not (inner := _sign(factor)):
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
    """A symbol in LaTeX with its part below it; of a slope what is below the line has it: ∂L/∂scores_{block 1}."""
    above, slope, below = text.rpartition(r"}{\partial ")
    if slope:
        return f"{above}{slope}{_with_part(below.removesuffix('}'), part)}}}"
    return f"{{{text}}}{part}" if text.endswith("}") and "_{" in text else text + part


def _elsewhere(step: Applied, style: Style, home: str) -> str:
    """Which part a step belongs to, where it is another one than the formula's own: `maximum[block 1]`."""
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
    if node.op == "identity":  # δ: its row has it in LaTeX too
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


def pretty(name: str) -> str:
    """A symbol as text shows it: `gamma` → γ, `beta_1` → β_1, `m_hat` → m̂, and so in a slope, ∂L/∂γ."""
    if name.startswith("∂"):
        return "/".join("∂" + pretty(part[1:]) for part in name.split("/"))
    head, mark, tail = name.partition("_")
    if tail == "hat":
        return f"{head}\u0302"
    return _LETTERS.get(head.lower(), head) + mark + tail


def _latex_name(name: str, op: str) -> str:
    """A name as LaTeX shows it: words upright, letters slanted, what follows `_` below, but for words behind a word."""
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
    """An axis' name as LaTeX shows it: d_model → d with a small `model`, the parts of a composite one apart."""
    if name.startswith("("):
        return "(" + r"\,".join(latex_axis(part) for part in name.strip("()").split()) + ")"
    return _latex_name(name, "axis")
