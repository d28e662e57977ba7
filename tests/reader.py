"""Reads what attncalc writes, by the rules that one learns at school, so that tests can hold it against the values.

Arithmetic (`0.8×0.7 + 0.2×0.3`), formulas over single numbers (`(x + y)² / z`) and their LaTeX are worked out here by
a grammar that knows nothing of the graph. Where a reader would have to guess (√x², −x^y, a^b^c) it refuses.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping

from attncalc.record.trace import Entry

FUNCTIONS: dict[str, Callable[..., float]] = {
    "exp": math.exp,
    "ln": math.log,
    "log₂": math.log2,
    "log₁₀": math.log10,
    "tanh": math.tanh,
    "sin": math.sin,
    "tan": math.tan,
    "cos": math.cos,
    "arccos": math.acos,
    "erf": math.erf,
    "σ": lambda x: (1 + math.tanh(x / 2)) / 2,
    "sign": lambda x: float((x > 0) - (x < 0)),
    "max": lambda *entries: max(entries),
    "min": lambda *entries: min(entries),
    "floor": lambda x: float(math.floor(x)),
    "argmax": lambda *entries: entries.index(max(entries)),
}
PRODUCTS = {"×": float.__mul__, "·": float.__mul__, "⊙": float.__mul__, "/": float.__truediv__}
WORDS = {
    "masked": ([], -math.inf),
    "all": (["masked"], 0.0),
    "left": (["out"], -math.inf),
    "taken": ([], -math.inf),
}
"""Words that stand for an entry: the tokens behind each, and what it counts as."""
COMPARISONS = {"≤": float.__le__, "<": float.__lt__, "=": float.__eq__}

_NAME = r"[^\W\d²][^\W²]*"
TOKEN = re.compile(rf"\s*(\d+(?:\.\d+)?(?:e[+-]?\d+)?|{_NAME}|‖{_NAME}‖|∂L/∂(?:‖{_NAME}‖|{_NAME})|−∞|\S)")


def read(text: str, names: Mapping[str, float] | None = None) -> float:
    """The value of a line of arithmetic, or of a formula whose letters are given."""
    reader = _Reader(text, {"π": math.pi, "e": math.e, "∞": math.inf, **(names or {})})
    value = reader.condition()
    reader.expect("")
    return value


def spelled(pieces: Iterable[str | Entry]) -> str:
    """A line of arithmetic as text, its numbers to their last digit."""
    return "".join(piece if isinstance(piece, str) else _number(piece) for piece in pieces)


def _number(entry: Entry) -> str:
    value = float(entry.value)
    digits = repr(abs(value)).replace("inf", "∞").replace("e+", "e")
    sign = "−" if math.copysign(1, value) < 0 else ""
    return f"({sign}{digits})" if sign and entry.brackets else sign + digits


class _Reader:
    def __init__(self, text: str, names: Mapping[str, float]) -> None:
        self.text, self.names = text, names
        self.tokens: list[str] = [*TOKEN.findall(text), ""]
        self.place = 0

    @property
    def next(self) -> str:
        return self.tokens[self.place]

    def take(self, *wanted: str) -> str:
        """The next token if it is one of these, else nothing."""
        if self.next in wanted and self.next:
            self.place += 1
            return self.tokens[self.place - 1]
        return ""

    def expect(self, wanted: str) -> None:
        if self.next != wanted:
            raise ValueError(f"{self.text!r}: {wanted or 'the end'!r} expected before {self.tokens[self.place :]}")
        self.place += 1

    def condition(self) -> float:
        """`x where a ≤ b and not c, else y`."""
        value = self.conjunction()
        if self.take("where"):
            holds = self.conjunction()
            self.expect(",")
            self.expect("else")
            otherwise = self.conjunction()
            return value if holds else otherwise
        return value

    def conjunction(self) -> float:
        value = self.comparison()
        while self.take("and"):
            value = float(bool(self.comparison()) and bool(value))
        return value

    def comparison(self) -> float:
        if self.take("not"):
            return float(not self.atom())
        value = self.sum()
        if sign := self.take(*COMPARISONS):
            value = float(COMPARISONS[sign](value, self.sum()))
        return value

    def sum(self) -> float:
        value = -self.product() if self.take("−") else self.product()
        while sign := self.take("+", "−"):
            term = self.product()
            value = value + term if sign == "+" else value - term
        return value

    def product(self) -> float:
        value = self.power()
        while sign := self.take(*PRODUCTS):
            value = PRODUCTS[sign](float(value), float(self.power()))
        return value

    def power(self) -> float:
        if self.take("√"):
            value = math.sqrt(self.atom())
            if self.next in ("²", "^"):
                raise ValueError(f"{self.text!r}: is the root raised, or what stands under it?")
            return value
        value = self.atom()
        if self.take("!"):
            return float(math.factorial(int(value)))
        if self.take("²"):
            value = value**2
        elif self.take("^"):
            value = math.pow(value, self.atom())
        if self.next in ("²", "^"):
            raise ValueError(f"{self.text!r}: a power of a power needs brackets")
        return value

    def atom(self) -> float:
        token = self.next
        self.place += 1
        if token == "(":
            value = self.condition()
            self.expect(")")
            return value
        if token == "|":
            value = abs(self.condition())
            self.expect("|")
            return value
        if token == "−∞":
            return -math.inf
        if token in FUNCTIONS and self.next == "(":
            return self.called(FUNCTIONS[token])
        if token in self.names:
            return self.names[token]
        if token in WORDS:
            rest, value = WORDS[token]
            for word in rest:
                self.expect(word)
            return value
        if not token[:1].isdigit():
            raise ValueError(f"{self.text!r}: {token!r} is no number")
        return float(token)

    def called(self, function: Callable[..., float]) -> float:
        self.expect("(")
        arguments = [self.condition()]
        while self.take(","):
            arguments.append(self.condition())
        self.expect(")")
        return float(function(*arguments))


LATEX_WORDS = {
    r"\cdot": "·",
    r"\odot": "⊙",
    r"\le": "≤",
    r"\land": " and ",
    r"\lnot": " not ",
    r"\infty": "∞",
    r"\left": "",
    r"\right": "",
    r"\ln": "ln",
    r"\tanh": "tanh",
    r"\sin": "sin",
    r"\cos": "cos",
    r"\arccos": "arccos",
    r"\max": "max",
    r"\pi": "π",
    "-": "−",
}


def from_latex(latex: str) -> str:
    """A formula over single numbers, in LaTeX, as the text that `read` reads."""
    text = latex
    cases = re.compile(r"\\begin\{cases\}(.*?)&(.*?)\\\\(.*?)&\s*\\text\{else\}\s*\\end\{cases\}")
    while True:
        shorter = cases.sub(r"(\1 where \2, else \3)", text)
        shorter = re.sub(r"\\operatorname\{(\w+)\}", r"\1", shorter)
        shorter = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"((\1) / (\2))", shorter)
        shorter = re.sub(r"\\sqrt\{([^{}]*)\}", r"√(\1)", shorter)
        shorter = re.sub(r"\^\{([^{}]*)\}", r"^(\1)", shorter)
        if shorter == text:
            break
        text = shorter
    for word, sign in LATEX_WORDS.items():
        text = re.sub(re.escape(word) + (r"(?![a-z])" if word[0] == "\\" else ""), sign, text)
    return text


def latex_fault(latex: str) -> str:
    """What TeX would stumble over, or ""."""
    if not latex.isascii():
        return f"not ASCII: {[c for c in latex if not c.isascii()]}"
    depth = 0
    for mark in re.findall(r"(?<!\\)[{}]", latex):
        depth += 1 if mark == "{" else -1
        if depth < 0:
            return "a } too many"
    if depth:
        return "a } is missing"
    if latex.count(r"\left") - latex.count(r"\leftarrow") != latex.count(r"\right") - latex.count(r"\rightarrow"):
        return r"\left and \right do not match"
    flat = latex
    while group := re.search(r"\{([^{}]*)\}", flat):
        if fault := _script_fault(group[1]):
            return fault
        flat = flat[: group.start()] + ("@" if group[1] else "") + flat[group.end() :]
    return _script_fault(flat)


def _script_fault(flat: str) -> str:
    """A second superscript or subscript on the same thing, or letters of one that would not go down."""
    thing = r"(?:@|\\[a-z]+|\w)"
    if re.search(rf"\^{thing}(?:_{thing})?\^|_{thing}(?:\^{thing})?_", flat):
        return f"two scripts on one thing in {flat}"
    if re.search(r"(?<!\\)[_^][^\W_][^\W_]", flat):
        return f"a script of several letters without braces in {flat}"
    return ""
