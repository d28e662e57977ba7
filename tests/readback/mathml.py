"""HTML → a tree of elements, and of its MathML the LaTeX that says the same, read off what a browser is to draw."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

from readback.text import Misread

EMPTY = ("meta", "br", "hr", "img", "input", "link", "wbr")


class Element:
    """An element, with what stands in it."""

    def __init__(self, tag: str, of: dict[str, str]) -> None:
        self.tag, self.of = tag, of
        self.inside: list[Element | str] = []

    @property
    def children(self) -> list[Element]:
        return [part for part in self.inside if isinstance(part, Element)]

    def every(self) -> Iterator[Element]:
        """The element and all elements in it."""
        yield self
        for child in self.children:
            yield from child.every()

    def all(self, tag: str, named: str = "") -> list[Element]:
        """Those in it with this tag, and of this class."""
        return [e for e in self.every() if e.tag == tag and (not named or named in e.of.get("class", "").split())]

    @property
    def text(self) -> str:
        return "".join(part if isinstance(part, str) else part.text for part in self.inside)


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("page", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].inside.append(element)
        if tag not in EMPTY:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if self.open.pop().tag != tag:
            raise Misread(f"</{tag}> ends what it does not begin")

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)


def page(html: str) -> Element:
    """The page as a tree."""
    parser = _Parser()
    parser.feed(html)
    parser.close()
    if len(parser.open) != 1:
        raise Misread(f"<{parser.open[-1].tag}> is not ended")
    return parser.open[0]


# MathML

LETTERS = {"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "θ": "theta", "λ": "lambda"}
LETTERS |= {"μ": "mu", "σ": "sigma", "φ": "phi", "π": "pi", "⊤": "top", "∞": "infty", "∘": "circ", "∂": "partial"}
SIGNS = {"−": "-", "·": r"\cdot ", "×": r"\times ", "⊙": r"\odot ", "⊗": r"\otimes ", "≤": r"\le ", "∧": r"\land "}
SIGNS |= {"…": r"\ldots ", "¬": r"\lnot ", "∑": r"\sum ", "\u2061": "", "≈": r"\approx "}
NAMED = ("ln", "log", "exp", "sin", "cos", "tan", "tanh", "arccos", "max", "min", "det")


def latex(math: Element) -> str:
    """What a `<math>` element shows, as LaTeX; nobody looks at the LaTeX that comes with it."""
    [semantics] = math.children
    return _said(semantics.children[0])


def _said(element: Element) -> str:
    tag, children = element.tag, element.children
    if tag == "mrow" and len(children) == 2 and children[1].tag == "mtable":
        return _cases(children[1])
    if tag in ("mrow", "mtd"):
        return _row(children)
    is_name = tag == "mi" and element.of.get("mathvariant") == "normal"
    if tag == "mi" and not is_name:
        word = element.text
        if word == "𝒩":
            return r"\mathcal{N}"
        if word in LETTERS or word in NAMED:
            return f"\\{LETTERS.get(word, word)} "
        return word if len(word) == 1 else f"\\operatorname{{{word}}}".replace("\u00a0", "~")
    if tag == "mn":
        return element.text
    if tag == "mtext" or is_name:
        return f"\\text{{{element.text}}}".replace("\u00a0", " ").replace("_", "\\_")
    if tag == "mo":
        return _sign(element)
    if tag == "mspace":
        return ""
    if tag == "mfrac":
        return rf"\frac{{{_said(children[0])}}}{{{_said(children[1])}}}"
    if tag == "msqrt":
        return rf"\sqrt{{{_row(children)}}}"
    if tag == "mroot":
        return rf"\sqrt[{_said(children[1])}]{{{_said(children[0])}}}"
    if tag == "mover" and element.of.get("accent"):
        return rf"\hat{{{_said(children[0])}}}"
    marks = {"msub": "_", "msup": "^", "msubsup": "_^", "munder": "_", "mover": "^", "munderover": "_^"}[tag]
    base, *scripts = children
    return _said(base) + "".join(mark + _script(script) for mark, script in zip(marks, scripts, strict=True))


def _script(element: Element) -> str:
    return f"{{{_said(element)}}}" if element.tag == "mrow" else _said(element)


def _sign(element: Element) -> str:
    sign, stretches = element.text, element.of.get("stretchy") != "false"
    if sign in "([" and stretches:
        return rf"\left{sign}"
    if sign in ")]" and stretches:
        return rf"\right{sign}"
    return SIGNS.get(sign, sign)


def _row(parts: list[Element]) -> str:
    found, opened = "", False
    for part in parts:
        if part.tag == "mo" and part.text == "‖":
            found += r"\rVert " if opened else r"\lVert "
            opened = not opened
        else:
            found += _said(part)
    return found


def _cases(table: Element) -> str:
    rows = [" & ".join(map(_said, row.children)) for row in table.children]
    return r"\begin{cases}" + r" \\ ".join(rows) + r"\end{cases}"
