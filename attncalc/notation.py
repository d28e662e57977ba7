"""Graph → text or LaTeX: how a formula is written, where brackets go, and the same formula with sizes in place."""

from __future__ import annotations

from typing import Literal

from attncalc.graph import NUMBERS_OF_ONE_NAME, Node, constant, inside

Style = Literal["text", "latex", "sizes"]

_GREEK = ["alpha", "beta", "gamma", "delta", "epsilon", "theta", "lambda", "mu", "sigma", "phi"]
_LETTERS = dict(zip(_GREEK, ["α", "β", "γ", "δ", "ε", "θ", "λ", "μ", "σ", "φ"], strict=True))
_ALONE = ("step", "input", "size", "index", "constant", "constants", "identity")
DEEPEST = 12
"""Beyond so many nested primitives an unnamed expression is cut to `…`: a formula is read at a glance or not at all."""


def formula(node: Node, style: Style = "text") -> str:
    """The node's own expression: a step's is that of the value it names, and speaks of other steps by their names."""
    if node.op == "step":
        return _write(node.sources[0], style, 0, node.args["group"])
    return _write(node, style, 0, "")


def symbol(node: Node, style: Style = "text") -> str:
    """How other formulas speak of a step, an operand, a size or a number."""
    return _write(node, style, 0, node.args["group"] if node.op == "step" else "")


def sizes(node: Node) -> str:
    """The formula with sizes in place, `[2×3]·[3×2]`; empty where no operand has an axis or it says nothing new."""
    text = formula(node, "sizes")
    return text if "[" in text and text != formula(node) else ""


def about(step: Node) -> tuple[str, ...]:
    """What a teacher would add to a step's reason: of the step itself, then of each primitive in its formula."""
    texts = [step.args.get("about", "")]
    for node in reversed(inside(step)):  # the outermost first, as one reads a formula
        said = node.row.about
        texts.append(said(node) if callable(said) else said)
    return tuple(text for text in dict.fromkeys(texts) if text)


def _write(node: Node, style: Style, depth: int, home: str) -> str:
    if node.op in _ALONE:
        return _alone(node, style) + (_elsewhere(node, style, home) if node.op == "step" else "")
    if depth > DEEPEST:
        return r"\ldots" if style == "latex" else "…"
    row = node.row
    inner = []
    for i, source in enumerate(node.sources):
        text = _write(source, style, depth + 1, home)
        held = style == "latex" and (row.boxed or (row.raises and source is node.sources[-1]))
        if not held and _binds(source, style) > row.takes[min(i, len(row.takes) - 1)]:
            text = rf"\left({text}\right)" if style == "latex" else f"({text})"
        inner.append(text)
    template = row.latex if style == "latex" else row.text
    if callable(template):
        return template(node, *inner)
    return template.format(*inner, a=node.args)


def _binds(node: Node, style: Style) -> float:
    if (node.row.latex if style == "latex" else node.row.text) == "{0}":  # invisible: what it shows is its source
        return _binds(node.sources[0], style)
    if node.op == "constant" and not node.args["symbol"]:
        return 3 if node.args["value"] < 0 else 2.5 if "/" in str(node.args["value"]) else 0
    if style == "latex" and node.op == "step" and node.args["symbol"].startswith("∂"):  # a fraction there
        return 1
    return 1 if style == "latex" and node.row.boxed else node.row.binds


def _elsewhere(step: Node, style: Style, home: str) -> str:
    """Which part a step belongs to, where it is another one than the formula's own: `maximum[block 1]`."""
    group = step.args["group"]
    if group == home or not group or style == "sizes":
        return ""
    theirs, ours = group.split("/"), home.split("/")
    while len(theirs) > 1 and ours and theirs[0] == ours[0]:
        theirs, ours = theirs[1:], ours[1:]
    return rf"_{{\text{{{'/'.join(theirs)}}}}}" if style == "latex" else f"[{'/'.join(theirs)}]"


def _alone(node: Node, style: Style) -> str:
    row = node.row
    if style == "sizes":
        if node.op == "size":
            return str(node.args["axis"].size)
        if node.op == "constant" and node.args["symbol"] not in NUMBERS_OF_ONE_NAME:
            node = constant(node.args["value"])
        if node.axes and node.op in ("step", "input"):
            return f"[{'×'.join(str(axis.size) for axis in node.axes)}]"
    template = row.latex if style == "latex" else row.text
    text = template(node) if callable(template) else template.format(a=node.args)
    if node.op == "identity":  # δ: its row has it in LaTeX too
        return text
    if node.op == "constant" and (style != "latex" or len(node.args["symbol"]) < 2):  # a number, or π
        return text
    return _latex_name(text, node.op) if style == "latex" else pretty(text)


def pretty(name: str) -> str:
    """A symbol as text shows it: `gamma` → γ, `beta_1` → β_1, `m_hat` → m̂."""
    head, mark, tail = name.partition("_")
    if tail == "hat":
        return f"{head}\u0302"
    return _LETTERS.get(head.lower(), head) + mark + tail


def _latex_name(name: str, op: str) -> str:
    """A name as LaTeX shows it: words upright, letters slanted, what follows `_` below."""
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
    elif op == "step" and len(name) > 2 and not (len(head) == 1 and (len(tail) == 1 or tail.isdigit())):
        return rf"\text{{{name.replace('_', ' ')}}}"
    elif len(head) > 1:
        head = rf"\text{{{head}}}"
    below = tail if len(tail) == 1 else rf"\text{{{tail.replace('_', ' ')}}}"
    return f"{head}_{{{below}}}" if tail else head


def latex_axis(name: str) -> str:
    """An axis' name as LaTeX shows it: d_model → d with a small `model`, the parts of a composite one apart."""
    if name.startswith("("):
        return "(" + r"\,".join(latex_axis(part) for part in name.strip("()").split()) + ")"
    return _latex_name(name, "axis")
