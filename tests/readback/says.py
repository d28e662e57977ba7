"""What a mistake says, read by somebody who knows nothing of its rule: formulas, and phrases that stand for one.

A sentence is a formula (`Q·K`), one in place of another (`a + b in place of a − b`), a phrase of phrases.py, or several
of these, apart by `:`, `;` or a comma. It is true of a wrong solution if every part of it is true of some step that is
wrong there: the step is what the formula gives, with the right steps and operands by their names, and what is said to
have been due is what was due there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncalc.declare.mistake import StepKey
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.diagnosis.solutions import Solution
from attncalc.language.graph import Node, walk
from attncalc.language.primitive import formula
from readback import text
from readback.meaning import Facts, Tensor, TooLong, single, worth
from readback.pages import Line, behind, close, spelled
from readback.phrases import BOOKS, PHRASES, SHORT

Array = NDArray[Any]
Meaning = str | tuple[str, ...] | Callable[["Place"], Any]
"""A formula, one for a step (`q = X·W_K`), one for each of several steps, or what works the value out."""


FAILURES = (ValueError, KeyError, IndexError, AttributeError, TypeError, AssertionError, StopIteration, TooLong)
"""How reading fails, or working out what was read."""
COMPILED = [(re.compile(re.escape(p).replace(r"\{\}", "(.+?)")), meaning) for p, meaning in PHRASES.items()]


class Unread(ValueError):
    """A sentence that cannot be read."""


class Case:
    """A problem with a wrong solution."""

    def __init__(self, key: Key, wrong: Solution, *, turned: bool = False) -> None:
        solutions = (wrong, key.solutions.right) if turned else (key.solutions.right, wrong)
        self.key, (self.right, self.wrong), self.turned = key, solutions, turned
        self.solution = wrong
        self.by_group: dict[str, dict[str, Tensor]] = {}

    @property
    def other_way(self) -> Case:
        """The wrong solution as if it were right."""
        return Case(self.key, self.solution, turned=not self.turned)

    @cached_property
    def values(self) -> Mapping[Node, Array]:
        leaves = [node for node in walk(*self.right.steps.values()) if node.op in LEAVES]
        steps = [s.sources[0] for solution in (self.right, self.wrong) for s in solution.steps.values()]
        inside = [node for step in steps for node in behind(step)]
        return self.key.solutions.values([*leaves, *steps, *inside])

    @cached_property
    def places(self) -> list[Place]:
        """The steps that are wrong, each with what is known there."""
        shared = [step for step in self.wrong.steps if step in self.right.steps]
        return [place for step in shared if (place := Place(self, step)).differs]

    @cached_property
    def leaves(self) -> dict[str, Tensor]:
        found = [node for node in walk(*self.right.steps.values()) if node.op in LEAVES]
        known = {a.name: Tensor((), np.asarray(float(a.size))) for leaf in found for a in leaf.axes if a.name}
        for leaf in found:
            value = np.asarray(self.values[leaf])
            for name in (spelled(leaf, ""), leaf.args.get("name", "")):
                if name and value.dtype.kind in "biuf":
                    known[name] = Tensor(leaf.names, value.astype(float))
        for name, value in self.options.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                known.setdefault(name, single(value))
        return known

    @cached_property
    def options(self) -> Mapping[str, Any]:
        problem = self.key.solutions.problem
        return {option.name: option.default for option in problem.calculation.options} | dict(problem.options)

    def known(self, group: str) -> dict[str, Tensor]:
        """Operands, sizes and right steps by the names that words may call them by, in a group."""
        if group not in self.by_group:
            self.by_group[group] = self.all_known(group)
        return dict(self.by_group[group])

    def all_known(self, group: str) -> dict[str, Tensor]:
        steps: dict[str, Tensor] = {}
        for (theirs, name), step in sorted(self.right.steps.items(), key=lambda item: _nearness(item[0][0], group)):
            value = self.values[step.sources[0]]
            if value.dtype.kind in "biuf":
                for called in (spelled(step, theirs), name):
                    steps[called] = Tensor(step.names, value.astype(float))
        known = self.leaves | steps | self.factors(group)
        if self.key.problem.calculation.name in ("softmax", "log-softmax"):
            known.setdefault("z", known.get("scaled", known["x"]))
        return known | _renamed(BOOKS, known)

    def factors(self, group: str) -> dict[str, Tensor]:
        """Queries, keys and values as they are multiplied: split, turned, shared."""
        found: dict[str, Tensor] = {}
        for name, called in (("scores", "QK"), ("heads", "_V"), ("output", "_V")):
            keys = [(theirs, n) for theirs, n in self.right.steps if n == name and _nearness(theirs, group)[0]]
            step = self.right.steps[max(keys, key=lambda key: len(key[0]))] if keys else None
            node = step and next((node for node in behind(step.sources[0]) if node.op == "matmul"), None)
            queries = {"weights", "q_rotated", "q_heads", "q", "Q"}
            if node is None or not any(
                s.args.get("name") in queries or str(s.args.get("group")).endswith("q-norm") for s in behind(node)
            ):
                continue
            a, b = (Tensor(s.names, np.asarray(self.values[s], dtype=float)) for s in node.sources)
            if called == "QK":
                axes = (*b.axes[:-2], b.axes[-1], b.axes[-2])
                found |= {"d_k": single(a.numbers.shape[-1]), "Q": a, "K": Tensor(axes, np.swapaxes(b.numbers, -1, -2))}
            elif name == "heads" or "V" not in found:
                found |= {"d_v": single(b.numbers.shape[-1]), "V": b}
        return found


def _renamed(books: Mapping[str, str], known: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """What books call by another name, where that is not taken."""
    found = {book: next((name for name in names.split() if name in known), "") for book, names in books.items()}
    return {book: known[name] for book, name in found.items() if name and book not in known}


LEAVES = ("input", "size", "constant", "constants")


def _nearness(theirs: str, group: str) -> tuple[bool, int, str]:
    """Sorts the groups that stand about a group last, the innermost at the end."""
    about = theirs in (group, "") or group.startswith(theirs + "/")
    return (about, len(theirs) if about else 0, theirs)


class Place:
    """A step of a wrong solution."""

    def __init__(self, case: Case, step: StepKey) -> None:
        self.case, (self.group, self.name) = case, step
        self.node, self.due = case.wrong.steps[step], case.right.steps[step]
        self.wrong, self.right = (case.values[node.sources[0]] for node in (self.node, self.due))

    @property
    def differs(self) -> bool:
        """Whether it has other numbers; an alternative may come to the same ones by another formula."""
        if self.case.solution.alternatives and self.node is not self.due:
            return True
        return not (self.wrong.shape == self.right.shape and close(self.wrong, self.right))

    @cached_property
    def known(self) -> dict[str, Tensor]:
        """What is known, and what is due at this step, with its parts."""
        known, due = self.case.known(self.group), self.due.sources[0]
        factors = next((node for node in behind(due) if node.op == "matmul"), None)
        bias = next((leaf for leaf in behind(due) if leaf.op == "input" and leaf.args["name"].startswith("b")), None)
        found = dict(zip(("first", "second", "third"), due.sources, strict=False)) | {
            "right": due,
            "wrong": self.node.sources[0],
        }
        found |= dict(zip(("left", "turned"), factors.sources, strict=True)) if factors else {}
        found |= {"bias": bias} if bias else {}
        values = self.case.key.solutions.values([*found.values()])
        for called, node in found.items():
            if values[node].dtype.kind in "biuf":
                known[called] = Tensor(node.names, values[node].astype(float))
        if due.axes:
            rows = due.axes[-2:][0]
            known.setdefault("i", Tensor((rows.name,), np.arange(float(rows.size))))
            if self.name == "slopes":
                known["h"] = Tensor(known["i"].axes, known["i"].numbers + 1)
        known |= self.turning() | self.normalised()
        return known | _renamed(BOOKS, known)

    def __getitem__(self, name: str) -> Array:
        return self.known[name].numbers

    def __contains__(self, name: str) -> bool:
        return name in self.known

    def option(self, name: str) -> Any:
        """An option of the problem."""
        return self.case.options[name]

    @property
    def turn(self) -> int:
        """The number of the block, the token, the iteration; 0 outside of them."""
        number = self.group.rpartition(" ")[2]
        return int(number) if number.isdigit() else 0

    def at(self, group: str, name: str) -> Array:
        """A right step of a group."""
        return self.case.values[self.case.right.steps[group, name].sources[0]]

    def earlier(self, name: str) -> Array:
        """A step of the turn before this one."""
        return self.at(f"{self.group.rpartition(' ')[0]} {self.turn - 1}", name)

    def entered(self, weights: Array) -> Array:
        """The token of this turn times weights."""
        return np.asarray(self["X"][self.turn - 1] @ weights)

    def normalised(self) -> dict[str, Tensor]:
        """What a norm in a block works on: what comes into it, its own γ and β."""
        steps, known = self.case.right.steps, self.case.known(self.group)
        first = next((name for name in ("mean", "squares") if (self.group, name) in steps), None)
        if first is None or "norm" not in self.group:
            if (offset := self.case.options.get("norm_offset")) and "γ" in known:
                return {"γ": Tensor(known["γ"].axes, known["γ"].numbers + offset)}
            return {}
        source = steps[self.group, first].sources[0].sources[0]
        x = Tensor(source.names, np.asarray(self.case.values[source], dtype=float))
        own = {book: known[name] for book in "γβ" if (name := f"{book}_{self.group[-1]}") in known}
        own |= {"γ": Tensor(own["γ"].axes, own["γ"].numbers + self.case.options["norm_offset"])} if "γ" in own else {}
        own.setdefault("β", single(0.0))
        return {"x": x, "X": x, "d": single(x.numbers.shape[-1]), "n": single(x.numbers.shape[-2]), **own}

    def turning(self) -> dict[str, Tensor]:
        """What a turn finds: its number, its own step of the turn before, and the like."""
        if not self.turn:
            return {}
        names, known = self.due.names, self.case.known(self.group)
        found = {"turn": single(self.turn), "previous": Tensor(names, np.zeros(self.due.shape))}
        for called, name in (("previous", self.name), ("old", "maximum"), ("θ", "point")):
            with suppress(KeyError):
                value = self.earlier(name)
                found[called] = Tensor(known[name].axes, np.asarray(value, dtype=float))
        if "gradients" in known:
            rows = known["gradients"]
            found["g"] = Tensor(rows.axes[1:], rows.numbers[self.turn - 1])
        return found

    def of(self, formula: str, **facts: Any) -> Array:
        """What a formula comes to."""
        return self.tensor(formula, **facts).numbers

    def tensor(self, formula: str, **facts: Any) -> Tensor:
        known = {name: value for name, value in self.known.items() if name in formula and not _is_called(name, formula)}
        if re.search(r"\bj\b", formula) and len(self.due.shape) > 1:
            grid = np.indices(self.due.shape[-2:]).astype(float)
            known |= {index: Tensor(self.due.names[-2:], at) for index, at in zip("ij", grid, strict=True)}
        known |= {name: single(facts.pop(name)) for name in [*facts] if name not in Facts._fields}
        sizes = {a.name: a.size for node in (self.node, self.due) for a in node.axes}
        sizes |= {n: int(t.numbers) for n, t in self.known.items() if not t.axes and t.numbers == t.numbers // 1}
        beside = Facts(sizes, self.node.shape, self.node.names)._replace(**facts)
        return worth(text.parse(formula, known), known, beside)[0]

    def holds(self, meaning: Meaning, due: Sequence[Meaning] = ()) -> bool:
        """Whether this step is what a meaning says, in place of what was due."""
        if isinstance(meaning, str) and " == " in meaning:
            left, right = map(self.comes_to, meaning.split(" == "))
            return any(same(a, b) for a in left for b in right)
        if not due:
            return any(same(found, self.wrong) for found in self.comes_to(meaning))
        return any((self.holds(meaning) and self.was_due(other)) or self.exchanges(other, meaning) for other in due)

    def was_due(self, meaning: Meaning) -> bool:
        return any(same(found, self.right) for found in self.comes_to(meaning))

    def comes_to(self, meaning: Meaning) -> list[Array]:
        """What a meaning comes to here, where it lays axes out anew also along those of this step.

        Nothing where it speaks of what is not there, or cannot be formed.
        """
        try:
            if callable(meaning):
                found = meaning(self)
                return [] if found is None else [np.asarray(found, dtype=float)]
            step, formula = _of_a_step(str(meaning))
            if step and not self.is_called(step):
                return []
            tensor, names = self.tensor(formula), self.node.names
        except FAILURES:
            return []
        if "copied along" not in formula or sorted(tensor.axes) != sorted(names):
            return [tensor.numbers]
        return [tensor.numbers, np.transpose(tensor.numbers, [tensor.axes.index(name) for name in names])]

    def exchanges(self, due: Meaning, was: Meaning) -> bool:
        """Whether one is in the place of the other: in some entries, or in the formula that is printed of the step."""
        for a, b in product(self.comes_to(due), self.comes_to(was)):
            numbers = not a.shape and not b.shape and self.right.shape == self.wrong.shape
            if numbers and same(np.where(self.right == a, b, self.right), self.wrong):
                return True
        if isinstance(due, str) and isinstance(was, str) and due != "∞" and not self.case.turned:
            line = Line(self.due.sources[0], self.case.values, self.group)
            try:
                whole, part, other = (text.parse(f, line.names) for f in (formula(self.due), due, was))
                found = worth(_replaced(whole, part, other), line.names, line.facts)[0].numbers
            except FAILURES:
                return False
            return same(np.asarray(found), self.wrong)
        return False

    def is_called(self, name: str) -> bool:
        return name in (self.name, spelled(self.node, self.group)) or self.name in BOOKS.get(name, "").split()


def same(a: Array, b: Array) -> bool:
    """Whether two values are one; what has other axes may stand in another shape."""
    if a.size != b.size or not {a.dtype.kind, b.dtype.kind} <= set("biuf"):
        return False
    return close(a.reshape(b.shape), b, 1.0)


def _replaced(tree: Any, part: Any, other: Any) -> Any:
    """A tree with something else in the place of a part of it."""
    if tree == part:
        return other
    return tuple(_replaced(inner, part, other) for inner in tree) if isinstance(tree, tuple) else tree


@cache
def _is_called(name: str, formula: str) -> bool:
    """Whether a name is that of a function in a formula: `mean(x)`, `mean_n(x)`."""
    return bool(re.search(rf"(?<!\w){re.escape(name)}(_\w+)?\(", formula))


def _of_a_step(meaning: str) -> tuple[str, str]:
    """`q = X·W_K`: the step's name, and the formula."""
    found = re.fullmatch(r"(\S+) = (.*)", meaning)
    return (found[1], found[2]) if found else ("", meaning)


class Part(NamedTuple):
    """A part of a sentence: what the step was, and what is said to have been due, each in one of several senses."""

    was: list[Meaning]
    due: list[Meaning]
    either_way: bool = False

    def holds(self, case: Case) -> bool:
        return self._holds(case) or (self.either_way and self._holds(case.other_way))

    def _holds(self, case: Case) -> bool:
        return any(
            all(
                any(place.holds(one, self.due) for place in case.places)
                for one in (sense if isinstance(sense, tuple) else [sense])
            )
            for sense in self.was
        )


def true(says: str, case: Case) -> bool:
    """Whether a sentence is true of a wrong solution; raises Unread."""
    if not readings(says):
        raise Unread(says)
    with np.errstate(all="ignore"):  # a reading that is not meant may take the root of what is negative
        return any(all(part.holds(case) for part in parts) for parts in readings(says))


@cache
def readings(says: str) -> list[list[Part]]:
    """The ways to take a sentence apart."""
    return [*_sentences(says, either_way=False)]


def _sentences(says: str, *, either_way: bool) -> Iterator[list[Part]]:
    turned = ", or the other way round"
    if says.endswith(turned):
        yield from _sentences(says.removesuffix(turned), either_way=True)
        return
    if found := senses(says):
        yield [Part(found, [], either_way)]
    for between in re.finditer(",? in place of ", says):
        if (a := senses(says[: between.start()])) and (b := senses(says[between.end() :])):
            yield [Part(a, b, either_way)]
    for mark in re.finditer(": |; |, or |, ", says):
        for first in _sentences(says[: mark.start()], either_way=either_way):
            for rest in _sentences(says[mark.end() :], either_way=either_way):
                yield first + rest


@cache
def senses(words: str) -> list[Meaning]:
    """What words stand for: a formula, or what a phrase means."""
    found: list[Meaning] = []
    for pattern, meaning in COMPILED:
        if match := pattern.fullmatch(words):
            formulas = [written_out(group) for group in match.groups()]
            if all(map(_is_formula, formulas)):
                found += [_filled(one, formulas) for one in (meaning if isinstance(meaning, list) else [meaning])]
    step, formula = _of_a_step(words)
    if _is_formula(written_out(formula)):
        found.append(f"{step} = {written_out(formula)}" if step else written_out(formula))
    return found


def _filled(meaning: Any, formulas: Sequence[str]) -> Meaning:
    """A meaning with formulas in its gaps."""
    if isinstance(meaning, tuple):
        return tuple(one.format(*formulas) for one in meaning)
    if isinstance(meaning, str):
        return meaning.format(*formulas)
    return lambda place: meaning(place, *formulas)


@cache
def _is_formula(formula: str) -> bool:
    try:
        text.parse(formula, set(re.findall(r"[^\W\d²ᵀΣ][^\W²ᵀ]*\u0302?(?!\w*\()", formula)))
    except (text.Misread, IndexError):
        return False
    return True


def written_out(formula: str) -> str:
    """A formula as books have it, with what is short for something written out."""
    for short, long in SHORT:
        formula = re.sub(short, long, formula)
    return formula
