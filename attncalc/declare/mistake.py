"""A mistake's declaration: a wrong rule in the language of calculations, with its id and the hint that goes with it.

    wrong(
        "att-p-transposed", "output", lambda s: like(weights(s).T, weights(s)) @ values(s),
        says="Pᵀ·V", hint="Output row i mixes values with whose weights?",
    )

A mistake writes steps (or operands) by another rule, or runs the calculation with other options. If its expression
cannot be formed, or a step does not exist, the mistake does not apply. An alternative, a rule that is equally right,
is declared in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from attncalc.common.errors import ShapeError
from attncalc.language import ops
from attncalc.language.axes import describe
from attncalc.language.graph import Node, rewrite, walk

Kind = Literal["misconception", "convention", "slip", "alternative"]
"""A wrong idea, a convention that is right elsewhere, a slip of the hand, or an equally right alternative."""

StepKey = tuple[str, str]
"""A step's (group, name)."""


class NotThere(LookupError):
    """Raised if a rule uses a step or an operand that this problem does not have: the mistake does not apply."""


class Scope:
    """The steps and operands of a problem by name, for a rule to use; those of the step's own group come first."""

    def __init__(
        self,
        step: Node,
        known: Mapping[StepKey, Node],
        options: Mapping[str, Any],
        as_due: Callable[[StepKey], Node],
    ) -> None:
        self.step = step
        self.known = known
        self.options = options
        self._as_due = as_due

    @property
    def this(self) -> Node:
        """The right expression of the step that the rule writes."""
        return self.step.sources[0]

    def due(self, name: str, group: str | None = None) -> Node:
        """The right expression of a step in the same group, even of a later one; NotThere if there is none.

        It uses the values that earlier groups have by the mistake: one made in every layer changes all later layers.
        """
        return self._as_due((self.step.args.get("group", "") if group is None else group, name))

    def __getattr__(self, name: str) -> Node:
        group = self.step.args.get("group", "")
        while True:
            if (group, name) in self.known:
                return self.known[group, name]
            if not group:
                raise NotThere(name)
            group = group.rpartition("/")[0]

    def when(self, option: str, *values: Any) -> Scope:
        """The same scope, if the option has one of these values; NotThere otherwise."""
        if self.options.get(option) not in values:
            raise NotThere(option)
        return self

    def __contains__(self, name: str) -> bool:
        try:
            getattr(self, name)
        except NotThere:
            return False
        return True


Rule = Callable[[Scope], Node]
Options = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""All options of a problem → the changed ones; it raises NotThere if there is nothing to change."""


@dataclass(frozen=True)
class Mistake:
    """A rule in place of the usual one: a wrong one, or an alternative that is equally right."""

    id: str
    says: str  # the wrong rule, as one would write it down
    hint: str  # a question or a pointer that does not give the answer away
    kind: Kind
    at: tuple[str, ...] = ()  # the steps or operands that the rule writes
    rule: Rule | None = None
    options: Options | None = None
    alias_of: str = ""  # the mistake that always gives the same results
    any_shift: bool = False  # whether a row may be shifted by any number, as this alternative shifts by 0


def wrong(
    id: str,
    at: str = "",
    rule: Rule | None = None,
    *,
    says: str,
    hint: str,
    options: Mapping[str, Any] | Options | None = None,
    kind: Kind = "misconception",
    alias_of: str = "",
) -> Mistake:
    """Declare a mistake: `at` names steps, separated by blanks, that `rule` writes; or `options` are changed.

    `partial_*` names all steps that begin so. A mapping of options makes no mistake if all already have these values.
    """
    assert (rule is None) == (not at), f"{id}: a rule and the steps that it writes go together"
    assert (rule is None) != (options is None), f"{id}: either a rule or options"
    changed = options if callable(options) or options is None else _fixed(options)
    return Mistake(id, says, hint, kind, tuple(at.split()), rule, changed, alias_of)


def alternative(
    id: str,
    at: str = "",
    rule: Rule | None = None,
    *,
    says: str,
    options: Options | None = None,
    any_shift: bool = False,
) -> Mistake:
    """Declare an alternative: a rule that leads to the same result by steps that are just as right."""
    return Mistake(id, says, "", "alternative", tuple(at.split()), rule, options, any_shift=any_shift)


def _fixed(options: Mapping[str, Any]) -> Options:
    def change(given: Mapping[str, Any]) -> Mapping[str, Any]:
        if not options.keys() <= given.keys() or options.items() <= given.items():
            raise NotThere(*options)
        return options

    return change


def chosen(**changes: Mapping[Any, Any]) -> Options:
    """Options changed by their present values: `chosen(layout={"interleaved": "half", "half": "interleaved"})`."""

    def change(given: Mapping[str, Any]) -> Mapping[str, Any]:
        found = {name: words[given[name]] for name, words in changes.items() if given.get(name) in words}
        if len(found) < len(changes):
            raise NotThere(*changes)
        return found

    return change


def another(option: str, change: Callable[[Any], Any]) -> Options:
    """An option changed by a function of its value, if it is given: `another("window", lambda there: 2 * there)`."""

    def changed(given: Mapping[str, Any]) -> Mapping[str, Any]:
        if given.get(option) is None:
            raise NotThere(option)
        return {option: change(given[option])}

    return changed


def names(word: str, step: str) -> bool:
    """Whether a word of a mistake's `at` names a step: `partial_*` names all that begin so."""
    return word == step or (word.endswith("*") and step.startswith(word[:-1]))


def inside(mistakes: Sequence[Mistake], *groups: str) -> tuple[Mistake, ...]:
    """The mistakes of a calculation for a larger one that has its steps in these groups."""
    return tuple(
        replace(mistake, at=tuple(f"{group}/{name}" for group in groups for name in mistake.at))
        for mistake in mistakes
        if mistake.at
    )


WHERE = {"n": "row{s} {numbers}", "h": "head{s} {numbers}", "b": "item{s} {numbers} of the batch"}
"""Axis → how places along it are described, the inner axis first."""


def in_places(
    mistake: Mistake, places: Mapping[str, Sequence[int]], at: str = "", otherwise: Node | None = None
) -> Mistake:
    """A mistake made only in some rows, heads or items of a batch.

    For a mistake in another step or an option, `otherwise` is the value that it gives to the step `at`.
    """
    rule = mistake.rule

    def change(s: Scope) -> Node:
        other = rule(s) if otherwise is None and rule else otherwise
        assert other is not None, "it is a rule, or given"
        axes = {axis.name: axis for axis in s.this.axes}
        if not places.keys() <= axes.keys() or other.axes != s.this.axes:
            raise NotThere("heads")
        for name, numbers in places.items():  # first some heads of all items, then of some items of the batch
            found = s.this
            for number in numbers:
                found = ops.keep_where(ops.compare_equal(ops.index(name, (axes[name],), name), number), other, found)
            other = found
        return other

    parts = (
        WHERE[name].format(s="s" * (len(places[name]) > 1), numbers=", ".join(map(str, places[name])))
        for name in WHERE
        if name in places
    )
    says = f"{mistake.says}, in {' of '.join(parts)} alone"
    return replace(mistake, rule=change, options=None, at=(at,) if at else mistake.at, says=says)


def like(x: Node, pattern: Node) -> Node:
    """x with the axes of another node, for which a wrong rule takes it; ShapeError if the sizes differ."""
    if [axis.size for axis in x.axes] != [axis.size for axis in pattern.axes]:
        raise ShapeError(f"{describe(x.axes)} cannot be taken for {describe(pattern.axes)}")
    return ops.reread(x, pattern.axes)


def replaced(whole: Node, part: Node, other: Node) -> Node:
    """An expression with one part replaced by another.

    A step or an operand is replaced everywhere, even inside the steps that the expression uses. Any other part of the
    expression is not replaced inside these steps, since a rule writes each step by itself.
    """
    is_own = part.op not in ("step", "input") and part in walk(whole, into=until_steps)

    def into(node: Node) -> Sequence[Node]:
        if node.serial <= part.serial:  # a node that was made before the part does not contain it
            return ()
        return until_steps(node) if is_own else node.sources

    [changed] = rewrite([whole], lambda node: other if node is part else None, into)
    return changed


def remade(op: str, change: Callable[..., Node]) -> Rule:
    """A rule for a step that is this primitive, from its sources: `remade("sub", lambda x, less: x + less)`."""
    return lambda s: change(*parts(s.this, op))


def until_steps(node: Node) -> Sequence[Node]:
    """The sources of a node, none for a step: a walk by these stays within one expression."""
    return () if node.op == "step" else node.sources


def flipped(x: Node) -> Node:
    """A square matrix transposed, with its axes named as before."""
    return like(x.T, x)


def parts(node: Node, *ops: str) -> Sequence[Node]:
    """The sources of one of these primitives, looked for through steps and renamed axes; NotThere if it is another."""
    while node.op not in ops and (node.op == "step" or node.row.stays):
        node = node.sources[0]
    if node.op not in ops:
        raise NotThere(" or ".join(ops))
    return node.sources
