"""Printed LaTeX → the same trees as of text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from readback.text import WORDS, Reader, Tree, tested

_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|\d+(?:\.\d+)?(?:e[+-]?\d+)?|[^\W\d]|\S")
_GREEK = {"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "theta": "θ", "lambda": "λ"}
_GREEK |= {"mu": "μ", "phi": "φ", "pi": "π", "tau": "τ", "rho": "ρ", "eta": "η"}
_NAMED = {"ln", "sin", "cos", "tan", "arccos", "tanh", "max", "min", "exp"}
_SIGNS = {"\\approx", "\\times", "\\cdot", "\\odot", "\\otimes", "\\le", "\\land", "\\right", "\\end"}
_SIGNS |= {"\\ldots", "\\rVert", "\\top"}
_OPERATORS = {"concat": "side by side", "split": "split", "reread": "reread", "interleave": "in turn"}


def parse(latex: str, names: Collection[str] = ()) -> Tree:
    """The tree of a formula that speaks of these names, which are those of the text."""
    return _Reader(latex, {flat(name): name for name in names}).whole()


def flat(name: str) -> str:
    """A name as both notations have it: what stands below, and where a step belongs, behind `_`."""
    name = re.sub(r"\[([^\]]*)\]$", r"_\1", name)
    return re.sub(r"[ _]+", "_", name)


class _Reader(Reader):
    def __init__(self, latex: str, names: dict[str, str]) -> None:
        super().__init__(latex, _tokens(latex))
        self.names = names

    def whole(self) -> Tree:
        tree = self.clause()
        self.expect("")
        return tree

    def clause(self) -> Tree:
        tree = self.conjunction()
        if self.follow("text: where "):
            condition = self.conjunction()
            self.expect(",", "text: else ")
            tree = ("where", condition, tree, self.conjunction())
        return tree

    def conjunction(self) -> Tree:
        tree = self.comparison()
        while self.follow("\\land") or self.follow("text: and "):
            tree = ("and", tree, self.comparison())
        return tree

    def comparison(self) -> Tree:
        if self.follow("\\lnot") or self.follow("text:not "):
            return ("not", self.power())
        tree = self.worded()
        if self.next in ("\\le", "<", "="):
            sign = self.take()
            tree = ({"\\le": "≤"}.get(sign, sign), tree, self.worded())
        elif self.next in ("\\ge", ">", "\\ne"):
            sign, other = self.take(), self.worded()
            tree = ("not", ("=", tree, other)) if sign == "\\ne" else ("≤" if sign == "\\ge" else "<", other, tree)
        return tree

    def worded(self) -> Tree:
        """`x \\text{ copied along } m`, `0 \\text{ for } m=2 \\ldots 3`."""
        tree = self.sum()
        self.sums_openly = False
        if self.follow("text: copied along "):
            axes = [self.axis()]
            while self.follow(","):
                axes.append(self.axis())
            return ("copied along", tree, *axes)
        if self.follow("text: for "):
            axis = self.axis()
            self.expect("=")
            first = last = int(self.take())
            if self.follow("\\ldots"):
                last = int(self.take())
            return ("for places", tree, axis, last + 1 - first)
        return tree

    def axis(self) -> str:
        start = self.place
        while self.next not in (",", "=", "", "}", "]", ";", "&", "\\right", ")", "<", "\\le", "\\\\"):
            if self.next == "(":
                while self.next != ")":
                    self.take()
            if self.next == "_":
                self.take()
                self.below()
                continue
            self.take()
        return self.spelled(self.tokens[start : self.place])

    def sum(self) -> Tree:
        tree: Tree = ("neg", self.quotient()) if self.follow("-") else self.quotient()
        while self.next in ("+", "-"):
            sign = "−" if self.take() == "-" else "+"
            tree = (sign, tree, self.quotient())
        return tree

    def quotient(self) -> Tree:
        tree = self.product()
        if self.follow("/"):
            tree = ("/", tree, self.power())
        return tree

    def product(self) -> Tree:
        parts: list[Any] = [self.power()]
        while True:
            if sign := {"\u2062": "·", "\\times": "×", "\\cdot": "·", "\\odot": "⊙", "\\otimes": "⊗"}.get(self.next):
                self.take()
            elif self.begins():
                sign = "·"
            if sign:
                if self.sums_openly:
                    self.fail("how far does the Σ reach? Brackets are missing")
                parts += [sign, self.power()]
            else:
                return parts[0] if len(parts) == 1 else ("product", *parts)

    def begins(self) -> bool:
        """Whether a factor comes next, side by side with the one before."""
        token = self.next
        signs = (
            "\\approx",
            "\\times",
            "\\cdot",
            "\\odot",
            "\\otimes",
            "\\le",
            "\\ge",
            "\\ne",
            "\\land",
            "\\right",
            "\\end",
            "\\ldots",
            "\\rVert",
            "\\top",
        )
        return bool(re.match(r"[\w{(]|\\[a-zA-Z]", token)) and token not in signs and not token.startswith("text: ")

    def power(self) -> Tree:
        self.sums_openly = False
        if self.follow("\\sum"):
            axis = self.below() if self.follow("_") else None
            closed = self.next == "\\left"
            summed: Tree = ("call", "Σ", axis, self.power())
            self.sums_openly = not closed
            return summed
        tree = self.with_places()
        raised = False
        while True:
            self.follow("{", "}")  # parts two scripts on high
            if self.follow("!"):
                tree = ("!", tree)
            elif self.follow("^"):
                if self.follow("\\top"):
                    tree = ("ᵀ", tree)
                    while self.follow("\\left", "["):
                        tree = self.looked_up(tree)
                    continue
                if self.follow("\\circ"):
                    continue
                if self.tokens[self.place : self.place + 4] == ["{", "-", "1", "}"] and self.inverts(tree):
                    self.place += 4
                    tree = ("⁻¹", tree)
                    continue
                if self.follow("{", "-", "1", "}"):
                    tree = ("inverse of a matrix", tree)
                    raised = True
                    continue
                if raised:
                    self.fail("a power of a power")
                raised = True
                exponent = self.group()
                tree = ("call", "exp", None, exponent) if tree == ("number", "e") else ("^", tree, exponent)
            else:
                return tree

    def inverts(self, tree: Tree) -> bool:
        """Whether a −1 on high is that of a matrix: a vector stands beside it."""
        behind = self.tokens[self.place + 4]
        if behind == "\u2062":  # what stands side by side, as MathML has it
            return True
        return bool(re.match(r"[\w{(]|\\[a-zA-Z]", behind)) and behind not in ("\\cdot", "\\odot", "\\times", "\\right")

    def group(self) -> Tree:
        self.expect("{")
        tree = self.clause()
        self.expect("}")
        return tree

    def with_places(self) -> Tree:
        tree = self.atom()
        while True:
            if self.follow("\\left", "["):
                tree = self.looked_up(tree)
            elif self.next == "_" and self.tokens[self.place + 1] in ("i", "j"):
                self.take()
                tree = ("at", tree, self.take())
            elif self.follow("_", "{"):
                tree = self.places(tree)
            else:
                return tree

    def looked_up(self, tree: Tree) -> Tree:
        columns = self.follow(":", ",")
        inside = self.clause()
        self.expect("\\right", "]")
        return ("columns" if columns else "look up", tree, inside)

    def places(self, tree: Tree) -> Tree:
        start = self.place
        words = self.braced()
        end = self.place
        if "=" in words and words[words.index("=") + 1].isdigit() and "\\le" not in words:
            axis = _Reader.spelled(words[: words.index("=")])
            behind = words[words.index("=") + 1 :]
            numbers = [int(word) for word in behind if word.isdigit()]
            if "".join("#" if word.isdigit() else word for word in behind) not in ("#", "#,#,\\ldots", "#\\ldots#"):
                self.fail("which places?")
            if len(behind) == 1:
                return ("take", tree, axis, numbers[0])
            if "," in behind:
                return ("slice", tree, axis, numbers[0], None, numbers[1] - numbers[0])
            return ("slice", tree, axis, numbers[0], numbers[1] + 1, 1)
        self.place = start
        inside = self.clause()
        kind = "look up"
        if self.follow(","):
            kind = "diagonal"
            if self.clause() != inside:
                self.fail("only what is on the diagonal has two places")
        self.expect("}")
        assert self.place == end
        return (kind, tree, inside)

    @staticmethod
    def spelled(words: list[str]) -> str:
        """An axis' name: `d_{\\text{k}}` → `d_k`."""
        text = ""
        for word in words:
            if word.startswith("text:"):
                text += word[5:]
            elif word == "\\,":
                text += " "
            elif word.startswith("\\"):
                text += _GREEK.get(word[1:], word[1:])
            elif word not in "{}":
                text += word
        return text

    def braced(self) -> list[str]:
        """The tokens up to the } that closes what is open, which is taken too."""
        depth, raw = 1, []
        while depth:
            token = self.take()
            if not token:
                self.fail("a } is missing")
            depth += {"{": 1, "}": -1}.get(token, 0)
            raw.append(token)
        return raw[:-1]

    def below(self) -> str:
        """A subscript in braces as the name of an axis."""
        self.expect("{")
        return self.spelled(self.braced())

    def atom(self) -> Tree:
        if tree := self.name():
            return tree
        token = self.take()
        if token[:1].isdigit():
            return ("number", token)
        if token == "\\left" and self.follow("("):
            tree = self.clause()
            self.expect("\\right", ")")
            return tree
        if token == "\\left" and self.follow("["):
            parts = [self.clause()]
            while self.follow(";"):
                parts.append(self.clause())
            self.expect("\\right", "]")
            return ("list", *parts)
        if token == "\\left" and self.follow("|"):
            tree = self.clause()
            self.expect("\\right", "|")
            return ("call", "abs", None, tree)
        if token in ("(", "["):
            tree = self.clause() if token == "(" else tested(self.clause())
            self.expect(")" if token == "(" else "]")
            return tree
        if token == "{":
            tree = self.clause()
            self.expect("}")
            return tree
        if token == "\\ldots":
            return ("…",)
        if token == "|":
            tree = self.clause()
            self.expect("|")
            return ("call", "abs", None, tree)
        if token == "\\frac":
            return ("/", self.group(), self.group())
        if token == "\\sqrt":
            return self.root()
        if token == "\\infty":
            return ("number", "∞")
        if token in ("\\pi", "e"):
            return ("number", "π" if token == "\\pi" else "e")
        if token == "\\delta" and self.follow("_", "{", "i", "j", "}"):
            return ("δ",)
        if token == "\\begin" and self.follow("{", *"cases", "}"):
            return self.cases()
        if token == "\\operatorname":
            return self.operator()
        if token == "\\sigma":
            return self.call("σ")
        if token == "\\log":
            self.expect("_", "{")
            return self.call({"2": "log₂", "10": "log₁₀"}[self.base()])
        if token == "\\mathcal":
            self.expect("{", "N", "}")
            return self.call("N")
        if token == "\\det":
            self.expect("(", "\\lambda")
            self.follow("\u2062")
            self.expect("I", "-")
            tree = ("call", "det", None, self.product())
            self.expect(")")
            return tree
        if token[1:] in _NAMED and token[0] == "\\":
            if token == "\\ln" and self.next == "\\operatorname":
                return ("call", "ln", None, self.atom())
            return self.call(token[1:])
        if token.startswith("text:") and self.next == "(":  # in a line of arithmetic: `\\text{argmax}(1, 2)`
            return self.call(token[5:])
        if token.startswith("text:") and token[5:].strip() in WORDS:
            return ("number", "0") if "all" in token else ("neg", ("number", "∞"))
        self.place -= 1
        self.fail("no number and no name")
        raise AssertionError

    def root(self) -> Tree:
        if not self.follow("["):
            return ("√", self.group())
        degree = self.take()
        self.expect("]")
        return ("^", self.group(), ("/", ("number", "1"), ("number", degree)))

    def base(self) -> str:
        digits = self.take()
        self.expect("}")
        return digits

    def call(self, function: str) -> Tree:
        axis = self.below() if self.follow("_") else None
        raised = self.group() if self.follow("^") else None  # `\\sin^{2}{\\left(x \\right)}`
        ends = [")"]
        if self.follow("{", "\\left", "("):
            ends = ["\\right", ")", "}"]
        elif self.follow("\\left", "("):
            ends = ["\\right", ")"]
        else:
            self.expect("(")
        arguments = [self.clause()]
        while self.next in (",", ";"):
            self.take()
            self.follow("\\,")
            if self.follow("text:halves"):
                arguments.append(("halves",))
            else:
                arguments.append(self.clause())
        self.expect(*ends)
        tree: Tree = ("call", function, axis, *arguments)
        return ("^", tree, raised) if raised else tree

    def operator(self) -> Tree:
        self.expect("{")
        word = ""
        while not self.follow("}"):
            token = self.take()
            word += " " if token in ("~", "\\,") else token
        if word == "sum by":
            self.expect("_")
            where = self.group()
            self.expect("(")
            tree = self.clause()
            self.expect(")")
            return ("summed by", tree, where)
        if word in ("argmax", "argtop", "repeat", "groupsum"):
            count = 1
            if word != "argmax":
                self.expect("_", "{")
                count = int(self.base())
            self.expect("(")
            tree = self.clause()
            self.expect(")")
            without: tuple[Tree, ...] = ()
            while self.follow("text: or " if without else "text: except where "):
                without = (*without, self.comparison())
            kind = {"repeat": "shared", "groupsum": "groups"}.get(word, "top")
            return (kind, tree, count, *without)
        tree = self.call(word)
        if word in _OPERATORS:
            return (_OPERATORS[word], *tree[3:])
        return ("fold", tree[3]) if word == "fold" else tree

    def cases(self) -> Tree:
        value = self.clause()
        self.expect("&")
        condition = self.clause()
        self.expect("\\\\")
        otherwise = self.clause()
        self.expect("&", "text:else", "\\end", "{", *"cases", "}")
        return ("where", condition, value, otherwise)

    def name(self) -> Tree | None:
        """The longest name that stands here."""
        start, best = self.place, None
        for end in range(min(len(self.tokens) - 1, start + 40), start, -1):
            spelled = _spelled(self.tokens[start:end])
            if spelled is not None and spelled in self.names:
                best = end, spelled
                break
        if best is None:
            return None
        self.place = best[0]
        return ("name", self.names[best[1]])


def _tokens(latex: str) -> Iterator[str]:
    place = 0
    latex = latex.replace("\\mathrm{", "\\text{")
    while place < len(latex):
        if latex[place].isspace():
            place += 1
            continue
        if latex.startswith("\\text{", place):
            end = latex.index("}", place)
            yield "text:" + latex[place + 6 : end].replace("\\_", "_")
            place = end + 1
            continue
        found = _TOKEN.match(latex, place)
        assert found
        yield found[0]
        place = found.end()


def _spelled(tokens: list[str]) -> str | None:
    """Tokens as the name that they spell, if they are one: a base, and what stands below it."""
    reader = _Name(tokens)
    found = reader.name()
    return flat(found) if found is not None and reader.place == len(tokens) else None


class _Name:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens, self.place = tokens, 0

    def follow(self, *words: str) -> bool:
        if self.tokens[self.place : self.place + len(words)] == list(words):
            self.place += len(words)
            return True
        return False

    def name(self) -> str | None:
        base = self.base()
        if base is None:
            return None
        for _ in range(2):
            if self.follow("'"):
                base += "'"
            if self.follow("_", "{"):
                below = self.below()
                if below is None:
                    return None
                base += "_" + below
        return base

    def below(self) -> str | None:
        text = ""
        while not self.follow("}"):
            if self.place >= len(self.tokens):
                return None
            token = self.tokens[self.place]
            self.place += 1
            if token.startswith("text:"):
                text += token[5:]
            elif re.fullmatch(r"\w|\d+|[',]", token):
                text += token
            else:
                return None
        return text

    def base(self) -> str | None:
        if self.place >= len(self.tokens):
            return None
        token = self.tokens[self.place]
        self.place += 1
        if token == "{":  # a name with an index, of another part: `{x_{8}}_{\\text{iteration 0}}`
            inside = self.name()
            return inside if inside is not None and self.follow("}") else None
        if token == "\\frac" and self.follow("{", "\\partial"):
            above = self.name()
            if above is None or not self.follow("}", "{", "\\partial"):
                return None
            below = self.name()
            return f"∂{above}/∂{below}" if below is not None and self.follow("}") else None
        if token == "\\lVert":
            inside = self.name()
            return f"‖{inside}‖" if inside is not None and self.follow("\\rVert") else None
        if token == "\\hat" and self.follow("{"):
            inside = self.name()
            return f"{inside}\u0302" if inside is not None and self.follow("}") else None
        if token.startswith("text:"):
            return token[5:]
        if token == "\\sigma" and self.tokens[self.place : self.place + 1] not in (["("], ["\\left"]):  # no sigmoid
            return "σ"
        if token[:1] == "\\":
            return _GREEK.get(token[1:])
        return token if re.fullmatch(r"[^\W\d_]", token) else None


def formula_fault(latex: str) -> str:
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
        if found := _script_fault(group[1]):
            return found
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
