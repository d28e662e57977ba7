"""Printed text → a tree: formulas (`softmax(scores)·V`), the same with sizes in place, and lines of arithmetic.

A tree is a tuple: ("name", "scores"), ("number", "0.5"), ("shape", 2, 3), ("call", "max", axis, arguments…), or an
operation's sign with what it works on. Where school gives no rule for what goes first, or several, the reader refuses
or leaves the choice open: a chain of products stays one node, for whoever works it out to try every order.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

Tree = tuple[Any, ...]

KEYWORDS = frozenset(
    re.split(
        " ",
        "where else and not or except in turn for copied along split into heads parts side by shared each summed "
        "groups of windows added up place largest eigenvalues eigenvectors left right singular vectors values as rows "
        "reread",
    )
)
WORDS = {"masked": "−∞", "taken": "−∞", "left out": "−∞", "all masked": "0"}
"""Words of a line of arithmetic that stand for an entry, and what it counts as."""
_NUMBER = r"\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_WORD = r"[^\W\d²ᵀ][^\W²ᵀ]*"
_SIGN = r"⁻¹|\S"
_OF = ("eigenvalues", "eigenvectors", "left singular vectors", "right singular vectors", "singular values")


COMPARISONS = ("≤", "<", "=", "not")
"""The kinds of a tree that is true or false."""


def tested(comparison: Tree) -> Tree:
    """1 where a comparison in brackets holds, else 0."""
    return ("where", comparison, ("number", "1"), ("number", "0"))


class Misread(ValueError):
    """What is printed cannot be read, or in more than one way."""


def parse(text: str, names: Collection[str] = ()) -> Tree:
    """The tree of a formula that speaks of these names."""
    return _Reader(text, names).whole()


def _tokens(text: str, names: Collection[str]) -> Iterator[str]:
    longest_first = sorted(names, key=len, reverse=True)
    place = 0
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        for name in longest_first:
            behind = text[place + len(name) : place + len(name) + 1]
            slope = re.match(r"_[ij](?!\w)", text[place + len(name) :])  # `x_i`, of a matrix of slopes
            goes_on = _is_word(name[-1]) and (_is_word(behind) or behind == "\u0302") and not slope
            if text.startswith(name, place) and not goes_on:
                yield "name:" + name
                place += len(name)
                break
        else:
            found = re.compile(f"{_NUMBER}|{_WORD}|{_SIGN}").match(text, place)
            assert found
            yield found[0]
            place = found.end()


def _is_word(character: str) -> bool:
    return bool(re.fullmatch(r"[^\W²ᵀ]", character))


class Reader:
    """A grammar's place among the tokens of a text."""

    def __init__(self, text: str, tokens: Iterator[str]) -> None:
        self.text, self.tokens = text, [*tokens, ""]
        self.place = 0
        self.sums_openly = False  # whether what was just read is a Σ without brackets

    @property
    def next(self) -> str:
        return self.tokens[self.place]

    def follow(self, *words: str) -> bool:
        """Whether these tokens come next; they are taken."""
        if self.tokens[self.place : self.place + len(words)] == list(words):
            self.place += len(words)
            return True
        return False

    def take(self) -> str:
        self.place += 1
        return self.tokens[self.place - 1]

    def expect(self, *words: str) -> None:
        if not self.follow(*words):
            self.fail(f"{' '.join(words) or 'the end'!r} expected")

    def fail(self, why: str) -> None:
        raise Misread(f"{self.text!r}: {why} before {self.tokens[self.place : self.place + 6]}")


class _Reader(Reader):
    def __init__(self, text: str, names: Collection[str]) -> None:
        super().__init__(text, _tokens(text, names))

    def whole(self) -> Tree:
        tree = self.clause()
        self.expect("")
        return tree

    def clause(self) -> Tree:
        """`a where c, else b`, `a and b in turn`, or a value with words behind it."""
        tree = self.conjunction()
        if self.follow("in", "turn"):
            if tree[0] != "and":
                self.fail("two rows come in turn")
            return ("in turn", *tree[1:])
        if self.follow("where"):
            condition = self.conjunction()
            self.expect(",", "else")
            otherwise = self.conjunction()
            if self.next == "where":
                self.fail("brackets are missing about what holds where")
            return ("where", condition, tree, otherwise)
        return tree

    def conjunction(self) -> Tree:
        tree = self.comparison()
        while self.follow("and"):
            tree = ("and", tree, self.comparison())
        return tree

    def comparison(self) -> Tree:
        if self.follow("not"):
            return ("not", self.atom())
        tree = self.worded()
        if self.next in ("≤", "<", "="):
            sign = self.take()
            tree = (sign, tree, self.worded())
        elif self.next in ("≥", ">", "≠"):
            sign = {"≥": "≤", ">": "<", "≠": "="}[self.take()]
            other = self.worded()
            tree = ("not", (sign, tree, other)) if sign == "=" else (sign, other, tree)
        return tree

    def worded(self) -> Tree:
        tree = self.sum()
        while True:
            if self.follow("copied", "along"):
                axes = [self.axis()]
                while self.next == "," and self.tokens[self.place + 1] != "else":
                    self.take()
                    axes.append(self.axis())
                tree = ("copied along", tree, *axes)
            elif self.follow("for"):  # `0 for m=2…3`
                axis = self.axis()
                self.expect("=")
                first = last = int(self.take())
                if self.follow("…"):
                    last = int(self.take())
                tree = ("for places", tree, axis, last + 1 - first)
            elif self.follow("split", "into", "heads") or self.follow("split", "into", "parts"):
                tree = ("split", tree)
            elif self.follow("side", "by", "side"):
                tree = ("side by side", tree)
            elif self.follow("shared", "by"):
                tree = ("shared", tree, int(self.take()))
                self.expect("heads", "each")
            elif self.follow("summed", "by", "groups", "of"):
                tree = ("groups", tree, int(self.take()))
            elif self.follow("summed", "by"):
                tree = ("summed by", tree, self.atom())
            elif self.follow("reread"):
                tree = ("reread", tree)
            else:
                return tree

    def axis(self) -> str:
        """An axis' name, which may look like anything: `d_model`, `(h d_k)`."""
        if self.follow("("):
            parts = []
            while not self.follow(")"):
                parts.append(self.take().removeprefix("name:"))
            return f"({' '.join(parts)})"
        return self.take().removeprefix("name:")

    def sum(self) -> Tree:
        tree: Tree = ("neg", self.quotient()) if self.follow("−") else self.quotient()
        while self.next in ("+", "−"):
            sign = self.take()
            tree = (sign, tree, self.quotient())
        return tree

    def quotient(self) -> Tree:
        tree = self.product()
        self.sums_openly = False
        if self.follow("/"):
            tree = ("/", tree, self.power())
            if self.next in ("/", "·", "×", "⊙", "⊗"):
                self.fail("what else is divided, or divides? Brackets are missing")
        return tree

    def product(self) -> Tree:
        parts: list[Any] = [self.power()]
        while self.next in ("·", "×", "⊙", "⊗"):
            if self.sums_openly:
                self.fail("how far does the Σ reach? Brackets are missing")
            parts += [self.take(), self.power()]
        return parts[0] if len(parts) == 1 else ("product", *parts)

    def power(self) -> Tree:
        if self.follow("√"):
            root: Tree = ("√", self.atom_with_places())
            if self.next in ("²", "^", "ᵀ", "!"):
                self.fail("is the root raised, or what stands under it?")
            return root
        self.sums_openly = False
        if self.next == "Σ" or self.next.startswith("Σ_"):
            axis = self.take()[2:] or None
            closed = self.next == "("
            summed: Tree = ("call", "Σ", axis, self.power())
            self.sums_openly = not closed
            return summed
        tree = self.atom_with_places()
        raised = 0
        while self.next in ("²", "^", "ᵀ", "⁻¹", "!", "°"):
            sign = self.take()
            if sign == "°":
                continue
            if sign in ("²", "^") and (raised or (tree[0] == "name" and tree[1][:1] == "∂")):
                self.fail("a power of a power, or of a slope, needs brackets")
            raised += sign in ("²", "^")
            tree = ("^", tree, ("number", "2")) if sign == "²" else (sign, tree)
            if sign == "^":
                tree = (*tree, self.atom_with_places())
            while self.follow("["):
                tree = self.places(tree)
        return tree

    def atom_with_places(self) -> Tree:
        tree = self.atom()
        while True:
            if self.follow("["):
                tree = self.places(tree)
            elif re.fullmatch("_[ij]", self.next):
                tree = ("at", tree, self.take()[1:])
            else:
                return tree

    def places(self, tree: Tree) -> Tree:
        """`x[n=1]`, `x[n=0…1]`, `x[d=0, 2, …]`, or what the places are: `x[tokens]`, `x[i + 2]`."""
        if self.follow(":", ","):
            inside = self.clause()
            self.expect("]")
            return ("columns", tree, inside)
        start = self.place
        axis = self.axis()
        if self.follow("=") and self.next.isdigit():
            first = int(self.take())
            if self.follow("]"):
                return ("take", tree, axis, first)
            if self.follow("…"):
                last = int(self.take())
                self.expect("]")
                return ("slice", tree, axis, first, last + 1, 1)
            self.expect(",")
            step = int(self.take()) - first
            self.expect(",", "…", "]")
            return ("slice", tree, axis, first, None, step)
        self.place = start
        inside = self.clause()
        if self.follow(","):  # `x[i, i]`
            twice = self.clause()
            if twice != inside:
                self.fail("only what is on the diagonal has two places")
            self.expect("]")
            return ("diagonal", tree, inside)
        self.expect("]")
        return ("look up", tree, inside)

    def atom(self) -> Tree:
        token = self.take()
        if token.startswith("name:"):
            return ("name", token[5:])
        if token == "(":
            tree = self.clause()
            self.expect(")")
            return tree
        if token == "…":
            return ("…",)
        if token == "|":
            tree = self.clause()
            self.expect("|")
            return ("call", "abs", None, tree)
        if token == "[":
            return self.list_or_shape()
        if token == "−" and self.follow("∞"):
            return ("neg", ("number", "∞"))
        if token[:1].isdigit():
            return ("number", token)
        if token in ("∞", "π", "e", "i") and self.next != "(":
            return ("number", token)
        if token == "δ_ij":
            return ("δ",)
        return self.worded_function(token)

    def worded_function(self, token: str) -> Tree:
        self.place -= 1
        tree: Tree
        for words, value in WORDS.items():
            if self.follow(*words.split()):
                return ("number", value) if value == "0" else ("neg", ("number", "∞"))
        for words in _OF:
            if self.follow(*words.split(), "of"):
                tree = ("call", words, None, self.atom())
                if words == "right singular vectors":
                    self.expect(",", "as", "rows")
                return tree
        if self.follow("place", "of", "the", "largest") or self.follow("places", "of", "the", "largest"):
            count = int(self.take()) if self.next.isdigit() else 1
            self.expect("of")
            tree = ("top", self.power(), count)
            if self.follow("except", "where"):
                tree = (*tree, self.comparison())
                while self.follow("or"):
                    tree = (*tree, self.comparison())
            return tree
        if self.follow("ln") and self.next != "(":  # `ln softmax(x)`
            if not self.next.startswith("softmax"):
                self.fail("ln of what?")
            return ("call", "ln", None, self.atom())
        if self.tokens[self.place - 1] == "ln" and self.next == "(":
            self.place -= 1
        tree = self.call()
        return ("fold", tree[3]) if tree[1] == "fold" else tree

    def call(self) -> Tree:
        word = self.take()
        if not re.fullmatch(_WORD, word) or (word in KEYWORDS and self.next != "(") or self.next != "(":
            self.place -= 1
            self.fail("no number and no name")
        self.take()
        if word == "det":
            self.expect("λ", "·", "I", "−")
        function, _, axis = word.partition("_")
        arguments = [self.clause()]
        while self.next in (",", ";"):
            self.take()
            if self.follow("halves"):
                arguments.append(("halves",))
            else:
                arguments.append(self.clause())
        self.expect(")")
        return ("call", function, axis or None, *arguments)

    def list_or_shape(self) -> Tree:
        """`[a; b]`, `[2×3]` of a substituted line, or `[a < b]`, which is 1 or 0."""
        start = self.place
        sizes = []
        while self.next.isdigit() and self.tokens[self.place + 1] in ("×", "]"):
            sizes.append(int(self.take()))
            if self.take() == "]":
                return ("shape", *sizes)
        self.place = start
        parts = [self.clause()]
        while self.follow(";"):
            parts.append(self.clause())
        self.expect("]")
        return tested(parts[0]) if len(parts) == 1 and parts[0][0] in COMPARISONS else ("list", *parts)
