"""A mistake's declaration: a wrong rule in the language of calculations, with its id and the hint that goes with it.

    wrong(
        "att-p-transposed", "output", lambda s: like(weights(s).T, weights(s)) @ values(s),
        says="Pᵀ·V", hint="Output row i mixes values with whose weights?",
    )

A mistake writes steps (or operands) by another rule, or does the calculation under other options. Where the expression
cannot be formed, or a step is not there, the mistake does not apply. An alternative, a rule that is as right, is
declared alike.
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
"""What is wrong: the idea, the convention (right elsewhere), the hand; an alternative is as right as the usual rule."""

StepKey = tuple[str, str]
"""A step's (group, name)."""


class NotThere(LookupError):
    """A step or an operand that a rule speaks of is not in this problem, so that the mistake does not apply."""


class Scope:
    """What a rule may speak of: the steps and operands of a problem by their names, of its own part first."""

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
        """The expression of the step that a rule writes, as it should be."""
        return self.step.sources[0]

    def due(self, name: str, group: str | None = None) -> Node:
        """The expression of a step of the same part as it should be, be it behind this one; NotThere if there is none.

        It is over what the parts before have become: a mistake in every layer is one in what the next layers are given.
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
        """The same, of a problem whose option has one of these values."""
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
"""All options of a problem → those that are other ones; NotThere where there are none to change."""


@dataclass(frozen=True)
class Mistake:
    """A rule in place of the usual one: a wrong one, or an alternative that is as right."""

    id: str
    says: str  # the wrong rule, as one would write it down
    hint: str  # a question or a pointer that does not give the answer away
    kind: Kind
    at: tuple[str, ...] = ()  # the steps or operands that the rule writes
    rule: Rule | None = None
    options: Options | None = None
    alias_of: str = ""  # the mistake whose results it has, whatever the operands are
    any_shift: bool = False  # whether a row may be shifted by any number where this alternative takes none away


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
    """Declare a mistake: `at` names steps, apart by blanks, and `rule` writes them; or `options` are other ones.

    `partial_*` names all steps that begin so. Options with the values that they are to have make no mistake where they
    have these.
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
    """Declare an alternative: a rule that leads to the same result, and whose steps are as right as the usual ones."""
    return Mistake(id, says, "", "alternative", tuple(at.split()), rule, options, any_shift=any_shift)


def _fixed(options: Mapping[str, Any]) -> Options:
    def change(given: Mapping[str, Any]) -> Mapping[str, Any]:
        if not options.keys() <= given.keys() or options.items() <= given.items():
            raise NotThere(*options)
        return options

    return change


def chosen(**changes: Mapping[Any, Any]) -> Options:
    """Other words for options, by what they are: `chosen(layout={"interleaved": "half", "half": "interleaved"})`."""

    def change(given: Mapping[str, Any]) -> Mapping[str, Any]:
        found = {name: words[given[name]] for name, words in changes.items() if given.get(name) in words}
        if len(found) < len(changes):
            raise NotThere(*changes)
        return found

    return change


def another(option: str, change: Callable[[Any], Any]) -> Options:
    """Another value of an option that is given: `another("window", lambda there: 2 * there)`."""

    def changed(given: Mapping[str, Any]) -> Mapping[str, Any]:
        if given.get(option) is None:
            raise NotThere(option)
        return {option: change(given[option])}

    return changed


def names(word: str, step: str) -> bool:
    """Whether a word of a mistake's `at` names a step: `partial_*` names all that begin so."""
    return word == step or (word.endswith("*") and step.startswith(word[:-1]))


def inside(mistakes: Sequence[Mistake], *groups: str) -> tuple[Mistake, ...]:
    """The mistakes of a calculation in a larger one, where its steps stand in these groups."""
    return tuple(
        replace(mistake, at=tuple(f"{group}/{name}" for group in groups for name in mistake.at))
        for mistake in mistakes
        if mistake.at
    )


WHERE = {"n": "row{s} {numbers}", "h": "head{s} {numbers}", "b": "item{s} {numbers} of the batch"}
"""How places along an axis are spoken of, the inner axis first."""


def in_places(
    mistake: Mistake, places: Mapping[str, Sequence[int]], at: str = "", otherwise: Node | None = None
) -> Mistake:
    """A mistake made in some rows, heads or items of a batch alone; or so what it makes of the step `at`.

    That is for one that is made elsewhere, or is an option.
    """
    rule = mistake.rule

    def change(s: Scope) -> Node:
        other = rule(s) if otherwise is None and rule else otherwise
        assert other is not None, "it is a rule, or given"
        axes = {axis.name: axis for axis in s.this.axes}
        if not places.keys() <= axes.keys() or other.axes != s.this.axes:
            raise NotThere("heads")
        for name, numbers in places.items():  # of what is wrong in some heads, some items of the batch
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
    """x with the axes of another node: what a wrong rule takes it for; refused where the sizes are others."""
    if [axis.size for axis in x.axes] != [axis.size for axis in pattern.axes]:
        raise ShapeError(f"{describe(x.axes)} cannot be taken for {describe(pattern.axes)}")
    return ops.reread(x, pattern.axes)


def replaced(whole: Node, part: Node, other: Node) -> Node:
    """An expression with something else in the place of a part of it.

    A step or an operand is replaced wherever it is used, also behind the steps that the expression speaks of. Another
    part that the expression itself has is not replaced behind them: a rule writes each of these steps by itself.
    """
    is_own = part.op not in ("step", "input") and part in walk(whole, into=until_steps)

    def into(node: Node) -> Sequence[Node]:
        if node.serial <= part.serial:  # what was made before the part does not hold it
            return ()
        return until_steps(node) if is_own else node.sources

    [changed] = rewrite([whole], lambda node: other if node is part else None, into)
    return changed


def remade(op: str, change: Callable[..., Node]) -> Rule:
    """A step that is this primitive, in another way of its sources: `remade("sub", lambda x, less: x + less)`."""
    return lambda s: change(*parts(s.this, op))


def until_steps(node: Node) -> Sequence[Node]:
    """Where a walk over an expression goes on: not behind the steps that it speaks of."""
    return () if node.op == "step" else node.sources


def flipped(x: Node) -> Node:
    """A square matrix transposed, its axes named as before."""
    return like(x.T, x)


def parts(node: Node, *ops: str) -> Sequence[Node]:
    """The sources of a primitive, looked for behind the names that it carries; NotThere where it is another one."""
    while node.op not in ops and (node.op == "step" or node.row.stays):
        node = node.sources[0]
    if node.op not in ops:
        raise NotThere(" or ".join(ops))
    return node.sources
