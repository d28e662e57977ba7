"""LaTeX → MathML, for the subset of LaTeX in which formulas are written."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from functools import lru_cache
from html import escape
from html.entities import html5
from itertools import islice
from typing import Literal

from attncalc.common.system import NamedTuple

TOKEN = re.compile(
    r"\\(?:text|operatorname|mathrm|mathcal)\{[^{}]*\}|\\(?:begin|end)\{\w+\*?\}|\\[A-Za-z]+|\\.|\d+(?:(?:\.|\{,\})\d+)?|\S",
    re.DOTALL,
)
NAMED = re.compile(r"\\(\w+)\{([^{}]*)\}")
ESCAPED = re.compile(r"\\([^A-Za-z])")


def _signs(*names: str) -> dict[str, str]:
    """Command → its sign, for names that HTML has too: `alpha` → `α`."""
    return {name: html5[f"{name};"] for name in names}


LETTERS = {"infty": "∞", "circ": "∘"} | _signs(
    *("alpha", "beta", "gamma", "delta", "epsilon", "theta", "lambda", "mu", "sigma", "tau", "phi", "pi", "top")
)
OPERATORS = {
    "cdot": "·",
    "land": "∧",
    "lor": "∨",
    "lnot": "¬",
    "to": "→",
    "mid": "|",
    "ldots": "…",
    "lVert": "‖",
    "rVert": "‖",
} | _signs(
    *("odot", "otimes", "oplus", "times", "le", "ge", "ne", "approx", "sum", "prod", "nabla", "in"),
    *("lfloor", "rfloor", "lceil", "rceil"),
)
FUNCTIONS = frozenset({"ln", "log", "exp", "sin", "cos", "tan", "tanh", "arccos", "max", "min", "det"})
SPACES = {r"\,": ".17em", r"\;": ".28em", r"\ ": ".25em", r"\quad": "1em", r"\qquad": "2em"}
BRACKETS = {"cases": ("{", ""), "bmatrix": ("[", "]"), "pmatrix": ("(", ")"), "matrix": ("", "")}
TALL = re.compile("<mfrac|<munder|<mtable")  # brackets grow around these
LARGE = frozenset({"sum", "prod", "max", "min"})  # operators with their index set below
SCRIPTS = ("_", "^")
BESIDE = {"_": "msub", "^": "msup", "_^": "msubsup"}
LIMITS = {"_": "munder", "^": "mover", "_^": "munderover"}

Kind = Literal["operand", "operator", "function"]
Tokens = deque[str]


BREAKS = frozenset("=+−·⊙⊗×≤≥<>∧∨≈→")  # a line may end before these, between operands
SEPARATORS = frozenset(",;")  # and after these
OPENING, CLOSING = frozenset("([{⌊⌈"), frozenset(")]}⌋⌉")
BARS = frozenset("|‖")
LONG = 24  # characters from which on a formula, or a part of one, may take several lines
LONG_GROUP, UNEVEN = 32, 60  # the same for brackets' contents, and for a row that may be wider than the page


class Atom(NamedTuple):
    """A piece of a formula, and how it behaves between its neighbours."""

    xml: str
    kind: Kind = "operand"
    large: bool = False
    sign: str = ""
    rows: tuple[str, ...] = ()  # for long brackets: the same XML, cut where a line may end


@lru_cache(maxsize=4096)  # a page is written twice, the first time for its table of contents
def mathml(latex: str) -> str:
    """The formula as a `<math>` element, which also contains its LaTeX for copying.

    A long formula consists of rows, between which the style sheet allows line breaks; a row may be as wide as paper.
    """
    atoms = _atoms(deque(TOKEN.findall(latex)))
    body, parts = "".join(atom.xml for atom in atoms), _parts(atoms)
    kinds = ["wide"] if max(_size(row) for rows in parts for row in rows) > UNEVEN else []
    if len(parts) > 1 and _size(body) > LONG:
        body = "".join(map(_part, parts))
        kinds.append("long")
    kind = f' class="{" ".join(kinds)}"' if kinds else ""
    source = f'<annotation encoding="application/x-tex">{escape(latex)}</annotation>'
    return f'<math displaystyle="true"{kind}><semantics>{_element("mrow", body)}{source}</semantics></math>'


def _part(rows: list[str]) -> str:
    whole = "".join(_element("mrow", row) for row in rows)
    return whole if len(rows) == 1 else f'<mrow class="long">{whole}</mrow>'


def _size(xml: str) -> int:
    """The number of visible characters."""
    return len(re.sub(r"<[^>]*>|[\u2061\u2062]", "", xml))


def _parts(atoms: Iterable[Atom], depth: int = 0) -> list[list[str]]:
    """A row cut where a line may end; each long part is again cut, within its brackets."""
    parts: list[tuple[str, list[str]]] = [("", [""])]
    before, is_behind, in_bars = Atom("", "operator"), False, False
    for atom in atoms:
        has_left = before.kind == "operand" or before.sign in CLOSING or (before.sign in BARS and not in_bars)
        is_word = atom.kind == "operator" and atom.xml.startswith("<mtext>")
        leads = has_left and (is_word or atom.sign in BREAKS)
        leads &= not depth or not (is_word or atom.sign == "=")  # `0 for n=1` in brackets is not cut
        in_bars ^= atom.sign in BARS
        leads &= not in_bars
        xml = atom.xml.replace("<mo>", '<mo form="infix">', 1) if leads else atom.xml
        if leads or (is_behind and not in_bars and not atom.xml.startswith("<mspace")):
            parts += [] if depth else [("", [""])]
            parts[-1][1].extend([""] if depth else [])
        is_behind = atom.sign in SEPARATORS or (is_behind and atom.xml.startswith("<mspace"))
        depth = max(depth + (atom.sign in OPENING) - (atom.sign in CLOSING), 0)
        first, *more = atom.rows or (xml,)
        whole, rows = parts.pop()
        parts.append((whole + xml, [*rows[:-1], rows[-1] + first, *more]))
        before = atom
    return [rows if _size(whole) > LONG else [whole] for whole, rows in parts]


def _element(name: str, *inside: str) -> str:
    return f"<{name}>{''.join(inside)}</{name}>"


def _row(tokens: Tokens, *ends: str) -> str:
    return "".join(atom.xml for atom in _atoms(tokens, *ends))


def _atoms(tokens: Tokens, *ends: str) -> list[Atom]:
    """The atoms up to one of the `ends`, which is not read; an invisible × is put between adjacent factors."""
    row: list[Atom] = []
    before: Kind = "operator"
    while tokens and not tokens[0].startswith(ends or "\0"):
        looks_up = [*islice(tokens, 2)] == [r"\left", "["]  # places of an operand, not a factor
        atom = _with_scripts(tokens)
        if atom.kind != "operator" and before == "operand" and not looks_up:
            row.append(Atom('<mo lspace="0" rspace=".17em">\u2062</mo>'))  # an invisible ×
        if before == "function":
            stands_apart = atom.kind != "operator" and not atom.xml.startswith("<mrow>")  # no space before brackets
            gap = ' lspace="0" rspace=".17em"' * stands_apart
            row.append(Atom(f"<mo{gap}>\u2061</mo>"))  # an invisible "of"
        if atom.sign == "−" and before != "operand" and row and row[-1].sign not in CLOSING | BARS:
            atom = atom._replace(xml=atom.xml.replace("<mo>", '<mo form="prefix">'))  # a sign, not a difference
        row.append(atom)
        before = atom.kind
    return _grown(row)


def _grown(row: list[Atom]) -> list[Atom]:
    """The atoms, with small brackets replaced by growing ones around tall contents."""
    opened: list[int] = []
    for at, atom in enumerate(row):
        if atom.sign == "(":
            opened.append(at)
        elif atom.sign == ")" and opened:
            start = opened.pop()
            if any(TALL.search(each.xml) for each in row[start:at]):
                for place in (start, at):
                    xml = row[place].xml.replace('stretchy="false"', 'stretchy="true"', 1)
                    row[place] = row[place]._replace(xml=xml)
    return row


def _with_scripts(tokens: Tokens) -> Atom:
    """An atom with its subscript and superscript."""
    base = _atom(tokens)
    scripts: dict[str, str] = {}
    while tokens and tokens[0] in SCRIPTS:
        mark = tokens.popleft()
        scripts[mark] = _atom(tokens).xml
    if not scripts:
        return base
    marks = [mark for mark in SCRIPTS if mark in scripts]
    name = (LIMITS if base.large else BESIDE)["".join(marks)]
    above = [scripts[mark] for mark in marks]
    rows = (*base.rows[:-1], _element(name, base.rows[-1], *above)) if base.rows else ()
    return Atom(_element(name, base.xml, *above), base.kind, sign=base.sign, rows=rows)


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
    return _operator("−" if token == "-" else token) if token else Atom("<mrow></mrow>")


def _until(tokens: Tokens, end: str) -> str:
    inside = _row(tokens, end)
    if tokens:
        tokens.popleft()
    return inside


def _named(command: str, text: str, tokens: Tokens) -> Atom:
    r"""A command with its text in braces: `\text{scores}`, `\operatorname{softmax}`, `\begin{cases}`."""
    text = escape(ESCAPED.sub(r"\1", text.replace(r"\,", "\u00a0").replace("~", "\u00a0")))
    if command == "mathcal":
        text = {"N": "𝒩"}.get(text, text)
    if command == "begin":
        return Atom(_table(text.rstrip("*"), tokens))
    if command == "text":
        words = text.replace(" ", "\u00a0")
        if text.startswith(" "):  # words between operands: ` copied along `
            return Atom(_element("mtext", words), "operator")
        return Atom(f'<mi mathvariant="normal">{words}</mi>')  # an mtext has no space beside a sign
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
        return _brackets(tokens)
    if name in LETTERS:
        return Atom(_element("mi", LETTERS[name]))
    if name == "partial":
        return Atom(_element("mi", "∂"), "operator")  # no space before what follows
    if name in OPERATORS:
        return _operator(OPERATORS[name], large=name in LARGE)
    if name in FUNCTIONS:
        return Atom(_element("mi", name), "function", name in LARGE)
    return Atom(_element("mtext", escape(name)))


def _operator(sign: str, *, large: bool = False) -> Atom:
    is_tight = sign in "()[]{}|‖⌊⌋⌈⌉"
    xml = f'<mo stretchy="false" lspace="0" rspace="0">{sign}</mo>' if is_tight else _element("mo", escape(sign))
    return Atom(xml, "operator", large, sign)


def _brackets(tokens: Tokens) -> Atom:
    r"""The contents of `\left(` … `\right)`, with the brackets."""
    opening, inside = _fence(tokens), _atoms(tokens, r"\right")
    if tokens:
        tokens.popleft()
    closing = _fence(tokens)
    whole = _element("mrow", opening, *(atom.xml for atom in inside), closing)
    rows = [row for part in _parts(inside, 1) for row in part]
    is_even = ("<mfrac" in rows[0]) == ("<mfrac" in rows[-1])
    if len(rows) == 1 or _size(whole) <= (LONG_GROUP if is_even else UNEVEN):
        return Atom(whole)
    rows[0] = _element("mrow", opening.replace("<mo>", '<mo form="prefix">'), rows[0])
    rows[-1] = _element("mrow", rows[-1], closing.replace("<mo>", '<mo form="postfix">'))
    return Atom(whole, rows=tuple(rows))


def _fence(tokens: Tokens) -> str:
    r"""A bracket that grows with its contents; nothing for `\left.`."""
    token = tokens.popleft() if tokens else "."
    sign = OPERATORS.get(token[1:], token[1:]) if token.startswith("\\") else token
    return "" if sign == "." else f"<mo>{escape(sign)}</mo>"


def _table(environment: str, tokens: Tokens) -> str:
    """The rows and columns of an environment, in its brackets."""
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
