"""LaTeX → MathML, for the part of LaTeX in which formulas are written."""

from __future__ import annotations

import re
from collections import deque
from functools import lru_cache
from html import escape
from itertools import islice
from typing import Literal

from attncalc.common.system import NamedTuple

TOKEN = re.compile(
    r"\\(?:text|operatorname|mathrm)\{[^{}]*\}|\\(?:begin|end)\{\w+\*?\}|\\[A-Za-z]+|\\.|\d+(?:(?:\.|\{,\})\d+)?|\S",
    re.DOTALL,
)
NAMED = re.compile(r"\\(\w+)\{([^{}]*)\}")
ESCAPED = re.compile(r"\\([^A-Za-z])")

LETTERS = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "epsilon": "ε",
    "theta": "θ",
    "lambda": "λ",
    "mu": "μ",
    "sigma": "σ",
    "phi": "φ",
    "pi": "π",
    "top": "⊤",
    "infty": "∞",
    "circ": "∘",
}
OPERATORS = {
    "odot": "⊙",
    "otimes": "⊗",
    "oplus": "⊕",
    "cdot": "·",
    "times": "×",
    "le": "≤",
    "ge": "≥",
    "ne": "≠",
    "approx": "≈",
    "land": "∧",
    "lor": "∨",
    "lnot": "¬",
    "sum": "∑",
    "prod": "∏",
    "nabla": "∇",
    "to": "→",
    "in": "∈",
    "mid": "|",
    "ldots": "…",
    "lVert": "‖",
    "rVert": "‖",
    "lfloor": "⌊",
    "rfloor": "⌋",
    "lceil": "⌈",
    "rceil": "⌉",
}
FUNCTIONS = frozenset({"ln", "log", "exp", "sin", "cos", "tan", "tanh", "arccos", "max", "min", "det"})
SPACES = {r"\,": ".17em", r"\;": ".28em", r"\ ": ".25em", r"\quad": "1em", r"\qquad": "2em"}
BRACKETS = {"cases": ("{", ""), "bmatrix": ("[", "]"), "pmatrix": ("(", ")"), "matrix": ("", "")}
LARGE = frozenset({"sum", "prod", "max", "min"})  # what they run over stands below them
SCRIPTS = ("_", "^")
BESIDE = {"_": "msub", "^": "msup", "_^": "msubsup"}
LIMITS = {"_": "munder", "^": "mover", "_^": "munderover"}

Kind = Literal["operand", "operator", "function"]
Tokens = deque[str]


class Atom(NamedTuple):
    """A piece of a formula, and how its neighbours take it."""

    xml: str
    kind: Kind = "operand"
    large: bool = False


@lru_cache(maxsize=4096)  # a page is gone through for its contents first
def mathml(latex: str) -> str:
    """The formula as a `<math>` element, which also carries its LaTeX for whoever copies it."""
    body = _row(deque(TOKEN.findall(latex)))
    source = f'<annotation encoding="application/x-tex">{escape(latex)}</annotation>'
    return f'<math displaystyle="true"><semantics>{_element("mrow", body)}{source}</semantics></math>'


def _element(name: str, *inside: str) -> str:
    return f"<{name}>{''.join(inside)}</{name}>"


def _row(tokens: Tokens, *ends: str) -> str:
    """The atoms up to one of the ends, which is left standing; factors that only stand side by side are told apart."""
    row: list[str] = []
    before: Kind = "operator"
    while tokens and not tokens[0].startswith(ends or "\0"):
        looks_up = [*islice(tokens, 2)] == [r"\left", "["]  # the places of an operand, and no factor
        atom = _with_scripts(tokens)
        if atom.kind != "operator" and before == "operand" and not looks_up:
            row.append('<mo lspace="0" rspace=".17em">\u2062</mo>')  # an invisible ×
        if before == "function":
            row.append("<mo>\u2061</mo>")  # an invisible "of"
        row.append(atom.xml)
        before = atom.kind
    return "".join(row)


def _with_scripts(tokens: Tokens) -> Atom:
    """An atom with what stands below and above it."""
    base = _atom(tokens)
    scripts: dict[str, str] = {}
    while tokens and tokens[0] in SCRIPTS:
        mark = tokens.popleft()
        scripts[mark] = _atom(tokens).xml
    if not scripts:
        return base
    marks = [mark for mark in SCRIPTS if mark in scripts]
    name = (LIMITS if base.large else BESIDE)["".join(marks)]
    return Atom(_element(name, base.xml, *(scripts[mark] for mark in marks)), base.kind)


def _atom(tokens: Tokens) -> Atom:
    token = tokens.popleft() if tokens else ""
    if token == "{":
        return Atom(_element("mrow", _until(tokens, "}")))
    if found := NAMED.fullmatch(token):
        return _named(found[1], found[2], tokens)
    if token in SPACES:
        return Atom(f'<mspace width="{SPACES[token]}"></mspace>', "operator")
    if token.startswith("\\"):
        return _command(token[1:], tokens)
    if token[:1].isdigit():
        return Atom(_element("mn", token.replace("{,}", ",")))
    if token.isalpha():
        return Atom(_element("mi", token))
    return Atom(_operator("−" if token == "-" else token), "operator") if token else Atom("<mrow></mrow>")


def _until(tokens: Tokens, end: str) -> str:
    inside = _row(tokens, end)
    if tokens:
        tokens.popleft()
    return inside


def _named(command: str, text: str, tokens: Tokens) -> Atom:
    r"""What carries its text in braces: `\text{scores}`, `\operatorname{softmax}`, `\begin{cases}`."""
    text = escape(ESCAPED.sub(r"\1", text.replace(r"\,", "\u00a0").replace("~", "\u00a0")))
    if command == "begin":
        return Atom(_table(text.rstrip("*"), tokens))
    if command == "text":
        words = text.replace(" ", "\u00a0")
        if text.startswith(" "):  # words between operands: ` for every `
            return Atom(_element("mtext", words), "operator")
        return Atom(f'<mi mathvariant="normal">{words}</mi>')  # beside an mtext, a sign has no room
    return Atom(_element("mi", text), "function")


def _command(name: str, tokens: Tokens) -> Atom:
    if name == "frac":
        return Atom(_element("mfrac", _atom(tokens).xml, _atom(tokens).xml))
    if name == "sqrt" and tokens and tokens[0] == "[":
        tokens.popleft()
        index = _element("mrow", _until(tokens, "]"))
        return Atom(_element("mroot", _atom(tokens).xml, index))
    if name == "sqrt":
        return Atom(_element("msqrt", _atom(tokens).xml))
    if name == "hat":
        return Atom(f'<mover accent="true">{_atom(tokens).xml}<mo stretchy="false">^</mo></mover>')
    if name == "left":
        opening = _fence(tokens)
        inside = _until(tokens, r"\right")
        return Atom(_element("mrow", opening, inside, _fence(tokens)))
    if name in LETTERS:
        return Atom(_element("mi", LETTERS[name]))
    if name == "partial":
        return Atom(_element("mi", "∂"), "operator")  # it clings to what follows
    if name in OPERATORS:
        return Atom(_operator(OPERATORS[name]), "operator", name in LARGE)
    if name in FUNCTIONS:
        return Atom(_element("mi", name), "function", name in LARGE)
    return Atom(_element("mtext", escape(name)))


def _operator(sign: str) -> str:
    if sign in "()[]{}|‖⌊⌋⌈⌉":
        return f'<mo stretchy="false" lspace="0" rspace="0">{sign}</mo>'
    return _element("mo", escape(sign))


def _fence(tokens: Tokens) -> str:
    r"""A bracket that grows with what it holds; `\left.` is none."""
    token = tokens.popleft() if tokens else "."
    sign = OPERATORS.get(token[1:], token[1:]) if token.startswith("\\") else token
    return "" if sign == "." else f"<mo>{escape(sign)}</mo>"


def _table(environment: str, tokens: Tokens) -> str:
    """Rows and columns up to the end of their environment, in its brackets."""
    rows: list[list[str]] = [[]]
    while tokens and not tokens[0].startswith(r"\end"):
        rows[-1].append(_element("mtd", _row(tokens, "&", r"\\", r"\end")))
        if tokens and not tokens[0].startswith(r"\end") and tokens.popleft() == r"\\":
            rows.append([])
    if tokens:
        tokens.popleft()
    opening, closing = (_element("mo", sign) if sign else "" for sign in BRACKETS.get(environment, ("", "")))
    body = "".join(_element("mtr", *row) for row in rows if row)
    return _element("mrow", opening, f'<mtable class="{environment}">{body}</mtable>', closing)
