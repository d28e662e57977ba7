"""Graph → graph: the backward pass, with steps that are named, explained and simplified."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from fractions import Fraction
from functools import reduce
from itertools import combinations, groupby
from operator import gt, itemgetter, sub

from attncalc.common.errors import NoGradient, both
from attncalc.common.system import NamedTuple, grouped
from attncalc.language.axes import Axes, find
from attncalc.language.graph import Node, as_node, walk
from attncalc.language.ops import spread, total
from attncalc.language.ops.basics import HERE, called, concat, keep_where, same_along
from attncalc.language.ops.lookups import stack
from attncalc.language.ops.parts import listed, zeros
from attncalc.language.primitive import formula, symbol

# Graph → the same graph simplified: without factors 1, terms 0 and double signs, and with numbers multiplied out.
#
# VJPs do not look around, and a backward pass starts from ∂L/∂L = 1, so that a slope 2·x comes out as `1·(2·x) + 0`.
# The rules here look at one primitive at a time, sources first, and stop at named steps. They bring signs and numbers
# to the front, multiply the numbers out, and leave everything else as it was written.


FEW_DIGITS = 12
"""Numbers are multiplied out if the product has at most so many digits: a reader still sees where it is from."""

FEW_TERMS = 6
"""At most so many terms of a sum are written as subtracted; a longer sum is shown by its first terms anyway."""


def shortened(roots: Sequence[Node], leaves: Collection[Node] = ()) -> list[Node]:
    """The expressions simplified, down to steps and `leaves`; steps of a backward pass are replaced by their values."""
    new: dict[Node, Node] = {}
    for node in walk(*roots, into=lambda node: () if _is_leaf(node, leaves) else node.sources):
        if _is_leaf(node, leaves):
            new[node] = node
            continue
        sources = [new[source] for source in node.sources]
        if node.op == "step":
            new[node] = sources[0]
        elif node.op in _RULES:
            new[node] = spread(_RULES[node.op](*map(_narrow, sources), **node.args), node.axes)
        else:
            new[node] = node.over(sources)
    return [new[root] for root in roots]


def _is_leaf(node: Node, leaves: Collection[Node]) -> bool:
    return not node.sources or node in leaves or (node.op == "step" and node.args["of"] is None)


def _number(node: Node) -> Fraction | None:
    """The value of a node that is an unnamed finite number, exact by its decimal digits; None for any other node."""
    node = _narrow(node)
    if node.op != "constant" or node.args["symbol"] or not math.isfinite(node.args["value"]):
        return None
    return Fraction(str(node.args["value"]))


def _narrow(node: Node) -> Node:
    """The value that a node repeats along further axes; the node itself if it repeats nothing."""
    while node.row.copies:
        node = node.sources[0]
    return node


def _is_fixed(node: Node) -> bool:
    """Whether a node is made of numbers and sizes alone, by quotients and signs."""
    return node.op in ("constant", "size") or (node.op in ("div", "neg") and all(map(_is_fixed, node.sources)))


def _is_same_size(a: Node, b: Node) -> bool:
    return a.op == b.op == "size" and bool(a.args["axis"] == b.args["axis"])


def _written(value: Fraction) -> Node | None:
    """The number as a node; None if it has too many digits."""
    if abs(value) >= 10**FEW_DIGITS:
        return None
    if value.denominator == 1:
        return as_node(int(value))
    short = float(value)
    return as_node(short) if Fraction(repr(short)) == value and len(repr(short)) <= FEW_DIGITS else None


def _signed(node: Node) -> tuple[bool, Node]:
    """Whether a node has a minus in front, and the node without it."""
    value = _number(node)
    if value is not None and value < 0:
        return True, _negative(node)
    return (True, node.sources[0]) if node.op == "neg" else (False, node)


def _negative(a: Node) -> Node:
    value = _number(a)
    if value is not None:
        return as_node(int(-value)) if value.denominator == 1 else as_node(-float(value))
    if a.op == "neg":
        return a.sources[0]
    return a.sources[1] - a.sources[0] if a.op == "sub" else Node("neg", a)


def _sum(*terms: Node) -> Node:
    kept = [term for term in terms if _number(term) != 0]
    if len(kept) < 2:
        return kept[0] if kept else as_node(0)
    signed = [_signed(term) for term in kept]
    added = [term for minus, term in signed if not minus]
    taken = [term for minus, term in signed if minus]
    if not added:
        return _negative(_sum(*taken))
    if len(taken) > FEW_TERMS:
        return Node("add", *kept)
    first = added[0] if len(added) == 1 else _numbers(added, 1) or Node("add", *added)
    return reduce(_difference, taken, first)


def _difference(a: Node, b: Node) -> Node:
    minus, size = _signed(b)
    if _number(a) == 0:
        return _negative(b)
    if _number(b) == 0:
        return a
    if minus:
        return _sum(a, size)
    if a.op == b.op == "div" and _is_same_size(a.sources[1], b.sources[1]):
        return (a.sources[0] - b.sources[0]) / a.sources[1]
    return _numbers([a, b], -1) or a - b


def _numbers(terms: Sequence[Node], sign: int) -> Node | None:
    """The sum (sign 1) or the difference (−1) of two terms that are both numbers, as one number; None otherwise."""
    known = [number for number in map(_number, terms) if number is not None]
    return _written(known[0] + sign * known[1]) if len(known) == len(terms) == 2 else None


def _front(node: Node) -> tuple[Fraction, Node | None]:
    """The number in front of a product, and the rest of it: (2, x) for 2·x, (1, x) for x, (2, None) for 2."""
    number = _number(node)
    if number is not None:
        return number, None
    number = _number(node.sources[0]) if node.op == "mul" else None
    return (Fraction(1), node) if number is None else (number, node.sources[1])


def _product(a: Node, b: Node) -> Node:
    if 0 in (_number(a), _number(b)):
        return as_node(0)
    (minus_a, a), (minus_b, b) = _signed(a), _signed(b)
    (left, x), (right, y) = _front(a), _front(b)
    number = _written(left * right)
    if number is None:
        size = a * b
    elif x is None or y is None:
        size = _times(number, x or y)
    else:
        size = _times(number, _unnumbered(x, y))
    return size if minus_a == minus_b else _negative(size)


def _times(number: Node, rest: Node | None) -> Node:
    """A number times an expression without a number in front."""
    if rest is None:
        return number
    if _number(number) == 1:
        return rest
    return _quotient(_product(number, rest.sources[0]), rest.sources[1]) if rest.op == "div" else number * rest


def _unnumbered(a: Node, b: Node) -> Node:
    """A product of two factors without numbers in front; (1/n)·x is written x/n."""
    if a is b:
        return a**2
    if a.op in ("div", "ratio") and _number(a.sources[0]) is not None:
        return _quotient(_product(a.sources[0], b), a.sources[1])
    if b.op == "div" and _is_fixed(b.sources[1]):
        return _quotient(_product(a, b.sources[0]), b.sources[1])
    return a * b


def _quotient(a: Node, b: Node) -> Node:
    (minus_a, a), (minus_b, b) = _signed(a), _signed(b)
    (top, x), bottom = _front(a), _number(b)
    if top == 0 and bottom != 0:
        return as_node(0)
    whole = top / bottom if bottom else Fraction(0)
    front = _written(whole) if whole and (x is None or whole.denominator == 1) else None
    if front is not None:
        size = _times(front, x)
    elif a.op == "div" and a.sources[1] is b:
        size = a.sources[0] / b**2
    else:
        size = a / b
    return size if minus_a == minus_b else _negative(size)


def _weighed(weights: Node, values: Node) -> Node:
    """A product that is 0 where the weight is 0, whatever the value; an ordinary one if the value is a number."""
    return _product(weights, values) if _is_fixed(values) else Node("weigh", weights, values)


def _total(x: Node, over: str) -> Node:
    return _outside(x, lambda inner: as_node(1) if _is_unit(inner, over) else Node("sum", inner, over=over))


def _is_unit(x: Node, over: str) -> bool:
    """Whether the primitive guarantees that the entries sum to 1 along this axis."""
    return bool(x.row.unit) and x.args[x.row.unit].name == over


def _outside(x: Node, linear: Callable[[Node], Node]) -> Node:
    """A linear function of x, with x's sign, the number in front and a size in the denominator moved outside."""
    minus, x = _signed(x)
    front, rest = _front(x)
    number = _written(front)
    if x.op == "div" and _is_fixed(x.sources[1]) and x.sources[0].axes == x.axes:
        result = _quotient(_outside(x.sources[0], linear), x.sources[1])
    elif number is not None and rest is not None and rest is not x and rest.axes == x.axes:
        result = _times(number, linear(rest))
    else:
        result = linear(x)
    return _negative(result) if minus else result


_RULES: dict[str, Callable[..., Node]] = {
    "neg": _negative,
    "add": _sum,
    "sub": _difference,
    "mul": _product,
    "div": _quotient,
    "pow": lambda a, p: a if _number(p) == 1 else a**p,
    "weigh": _weighed,
    "sum": _total,
    "matmul": lambda a, b: _outside(b, lambda inner: a @ inner),
}


class Reason(NamedTuple):
    """Why a node gets its gradient: the rule that was applied."""

    text: str
    lasting: bool = True  # whether it is still worth telling if another reason follows
    through: str = ""  # the step whose formula the rule was applied to; "" if there is none


def gradients(
    output: Node, upstream: Node, wrt: Sequence[Node], *, of: str = "L", word: str = "grad", told: bool = True
) -> dict[Node, Node]:
    """The gradient of the loss with respect to each node in `wrt`, given its gradient with respect to `output`.

    Every step between them gets a gradient step of its own, made in the order of the chain rule. A node that the
    output does not depend on gets none. `of` is the name of the loss in formulas, and `word` the prefix of the new
    steps' names. If the upstream gradient has more axes than the output (one gradient for each entry of the output: a
    Jacobian), these stay in front. Steps that nobody reads need not be `told` with their reasons.
    """
    front = tuple(axis for axis in upstream.axes if axis.name not in output.names)
    own = {axis.name for axis in front}
    forward = walk(output)
    needed = set(wrt)
    for node in forward:
        if any(source in needed for source in node.sources):
            needed.add(node)
    steps = _Steps(forward, wrt)
    contributions: dict[Node, list[Node]] = {output: [upstream]}
    reasons = {output: [Reason(_arriving(output, of, word))]} if told else {}
    found: dict[Node, Node] = {}
    for node in reversed(forward):
        if node not in needed or node not in contributions:
            continue
        parts, because = contributions.pop(node), reasons.pop(node, [])
        apart = _side_by_side(parts)
        gradient = apart or _added(parts, front + node.axes)
        if node.op == "step" or node in wrt:
            gradient = steps.by_name(spread(gradient, front + node.axes), node.args.get("group", ""))
            gradient = steps.gradient(node, gradient, of, word, because, is_apart=apart is not None)
            if node in wrt:
                found[node] = gradient
        if not node.sources:
            continue
        if front or not _may_lack_axes(gradient, node):
            gradient = spread(gradient, front + node.axes)
        owner = steps.owner(node)
        for i, (source, part) in enumerate(zip(node.sources, steps.vjp(node, gradient), strict=True)):
            if part is not None and source in needed:
                contributions.setdefault(source, []).append(_fit(part, source, node, own))
                if told:
                    reasons.setdefault(source, []).extend(_because(node, i, because, owner))
    return found


def _arriving(output: Node, of: str, word: str) -> str:
    """The reason for the gradient that the backward pass begins with."""
    if word == "grad":
        return "the gradient that arrives at the result from the loss"
    return f"each entry of {of} moves with itself, one for one" if output.axes else f"{of} moves with itself"


class _Steps:
    """The steps of a forward graph, which give the steps of its backward pass their names."""

    def __init__(self, forward: Sequence[Node], wrt: Sequence[Node]) -> None:
        named = [node for node in forward if node.op in ("step", "input")]
        self.operands = {("", node.args["name"]) for node in wrt if node.op == "input"}
        self.outside = {node.args["symbol"] for node in named if not node.args.get("group")}
        self.holding = {node.sources[0]: node for node in named if node.op == "step"}
        self.alike = {
            (value.op, value.sources): step
            for value, step in self.holding.items()
            if value.sources and value.op != "step"
        }
        self.owners: dict[Node, Node] = {}  # node → the step in whose formula it stands
        self.made: dict[tuple[str, ...], Node] = {}  # the steps that VJPs make, so that each is made once

    def gradient(
        self, node: Node, value: Node, of: str, word: str, reasons: Sequence[Reason], *, is_apart: bool
    ) -> Node:
        """The step that holds the gradient of a node, with the steps through which it came back."""
        ways, why = _told(reasons, is_apart)
        is_called_like_an_operand = node.op == "step" and node.key in self.operands
        also = "_step" if is_called_like_an_operand else ""
        told_apart = node.op == "step" and node.args["symbol"] in self.outside
        return gradient_step(node, value, why, of, word, also, ways, _edges(reasons), told_apart)

    def owner(self, node: Node) -> Node | None:
        """The step in whose formula a node stands; the node's sources are noted as standing there too."""
        owner = node if node.op == "step" else self.holding.get(node, self.owners.get(node))
        if owner is not None:
            self.owners.update(dict.fromkeys(node.sources, owner))
        return owner

    def vjp(self, node: Node, gradient: Node) -> Sequence[Node | None]:
        """The share of a node's gradient that each of its sources gets, None for a source without one."""
        held = self.holding.get(node, node)
        if node.row.vjp is None:
            raise NoGradient(f"{symbol(held)} has no gradient: {node.row.no_gradient}")
        return node.row.vjp(gradient, held, node, *node.sources)

    def by_name(self, value: Node, within: str) -> Node:
        """The gradient, in which a step replaces every expression of a VJP that equals it.

        Steps that a VJP makes are put into the group `within`, and each of them is made once.
        """
        new: dict[Node, Node] = {}
        for node in walk(value, into=lambda node: () if _stands(node) else node.sources):
            if _stands(node):
                new[node] = node
                continue
            sources = tuple(new[source] for source in node.sources)
            if node.op != "step":
                step = self.alike.get((node.op, sources))
                new[node] = step if step is not None and step.sources[0].args == node.args else node.over(sources)
            elif sources[0].op == "step":
                new[node] = sources[0]
            else:
                key = within, node.args["name"], formula(sources[0])
                new[node] = self.made.setdefault(key, Node("step", *sources, **{**node.args, "group": within}))
        return new[value]


def _stands(node: Node) -> bool:
    """Whether a node is an operand, or a step that is already in a group."""
    return node.op == "input" or (node.op == "step" and node.args["group"] is not None)


def slopes(output: Node, upstream: Node, wrt: Sequence[Node]) -> list[Node]:
    """The gradient with respect to each node in `wrt` as one expression without steps; 0 if the output ignores it.

    `upstream` is the loss's gradient with respect to the output (1 for the loss itself). A calculation that writes its
    own backward pass makes steps of these expressions.
    """
    found = gradients(output, upstream, wrt)
    short = dict(zip(found, shortened([*found.values()], (upstream,)), strict=True))
    return [short[node] if node in short else spread(as_node(0), node.axes) for node in wrt]


def gradient_step(
    of: Node,
    value: Node,
    why: str,
    loss: str = "L",
    word: str = "grad",
    also: str = "",
    ways: str = "",
    edges: tuple[tuple[str, str], ...] = (),
    told_apart: bool = False,
) -> Node:
    """The step that holds the gradient of the loss with respect to a step or an operand.

    With `told_apart` formulas add its group even inside that group, since a step outside all groups has the same name.
    """
    name, within = of.args["name"], of.args.get("group", "")
    if of.op != "step":
        within, _, name = name.rpartition("/")
    return Node(
        "step",
        value,
        name=f"{word}_{name}{also}",
        group=within,
        why="; ".join(filter(None, (ways, why))),
        ways=ways,
        symbol=gradient_symbol(of, loss),
        shown=True,
        of=name,
        edges=edges,
        told_apart=told_apart,
    )


def gradient_symbol(of: Node, loss: str = "L") -> str:
    """The gradient of the loss with respect to a step or an operand as formulas write it: `∂L/∂x`."""
    return f"∂{loss}/∂{of.args['symbol']}"


def _may_lack_axes(gradient: Node, node: Node) -> bool:
    """Whether the VJP can take the gradient without spreading it over all axes of the node first."""
    return node.row.narrow or (node.row.elementwise and all(_comparable(gradient, s) for s in node.sources))


def _comparable(a: Node, b: Node) -> bool:
    if a.axes == b.axes:
        return True
    ours, theirs = {*a.names}, {*b.names}
    return ours <= theirs or theirs <= ours


def _side_by_side(parts: Sequence[Node]) -> Node | None:
    """The sum of contributions that are nonzero in different places, by putting them side by side; None for others."""
    first = parts[0]
    if len(parts) < 2 or any(part.op != first.op or part.axes != first.axes for part in parts):
        return None
    if first.op == "where":
        return _either(*parts) if len(parts) == 2 and _is_one_test(*parts) else _rows(parts)
    return _pieces(parts) if first.op == "concat" else None


def _is_one_test(one: Node, other: Node) -> bool:
    """Whether two choices depend on the same comparison."""
    a, b = one.sources[0], other.sources[0]
    return a is b or (a.op == b.op and a.args == b.args and all(map(_is_alike, a.sources, b.sources)))


def _is_alike(a: Node, b: Node) -> bool:
    return a is b or (_number(a) is not None and _number(a) == _number(b))


def _either(one: Node, other: Node) -> Node | None:
    """`a where the test holds, else b`, for two choices of which each is 0 where the other is not; None for others."""
    (test, a, b), (_, c, d) = one.sources, other.sources
    if _number(b) == _number(c) == 0:
        return keep_where(test, a, d)
    return keep_where(test, c, b) if _number(a) == _number(d) == 0 else None


def _rows(parts: Sequence[Node]) -> Node | None:
    """The rows, or numbers, that came back from every place along one of the last two axes, put one below another."""
    rows: dict[tuple[str, Fraction | None], Node] = {}
    axes = parts[0].axes
    for part in parts:
        here, row, nothing = part.sources
        if here.op != "equal" or here.sources[0].op != "index" or row.op != "spread" or _number(nothing) != 0:
            return None
        rows[here.sources[0].args["along"].name, _number(here.sources[1])] = row.sources[0]
    for lay, along in zip((listed, stack), reversed(axes), strict=False):
        laid = [rows[along.name, Fraction(i)] for i in range(along.size) if (along.name, Fraction(i)) in rows]
        rest = tuple(axis for axis in axes if axis is not along)
        if len(laid) == along.size == len(parts) and all(row.axes == rest for row in laid):
            return lay(laid, along.name)
    return None


def _pieces(parts: Sequence[Node]) -> Node | None:
    """Pieces along an axis that do not overlap, put one behind the other with zeros in the gaps; None for others."""
    first, found = parts[0], [piece for piece in map(_placed, parts) if piece]
    over, size = first.args["over"], find(first.axes, first.args["over"]).size
    pieces = sorted(found, key=itemgetter(1))
    ends = [0, *(start + find(piece.axes, over).size for _, start, piece in pieces)]
    starts = [*(start for _, start, _ in pieces), size]
    if len(pieces) < len(parts) or any(over != along for along, *_ in pieces) or any(map(gt, ends, starts)):
        return None
    gaps = [zeros(first, over, end, start) for end, start in zip(ends, starts, strict=True)]
    laid = [gaps[0], *(part for (*_, piece), gap in zip(pieces, gaps[1:], strict=True) for part in (piece, gap))]
    return concat([part for part in laid if part is not None], over)


def _placed(part: Node) -> tuple[str, int, Node] | None:
    """(axis, first place, piece) of a concatenation that is 0 except for one piece; None for others."""
    over, start, found = part.args["over"], 0, list[tuple[str, int, Node]]()
    for piece in part.sources:
        if not (piece.op == "spread" and _number(piece) == 0):
            found.append((over, start, piece))
        start += find(piece.axes, over).size
    return found[0] if len(found) == 1 else None


def _added(parts: Sequence[Node], axes: Axes) -> Node:
    """The sum of the contributions, spread over the node's axes if they lack different ones.

    Terms of a contribution that is itself a sum are added one by one, `a − b + c` and not `a + (c − b)`.
    """
    if len(parts) == 1:
        return parts[0]
    terms = [term for part in parts for term in _terms(part)]
    if len(terms) > FEW_TERMS:
        terms = [(False, part) for part in parts]
    if not all(_comparable(a, b) for (_, a), (_, b) in combinations(terms, 2)):
        terms = [(minus, spread(term, axes)) for minus, term in terms]
    (minus, first), *others = terms
    result = -first if minus else first
    for minus, run in groupby(others, key=itemgetter(0)):
        values = [term for _, term in run]
        result = reduce(sub, values, result) if minus else Node("add", result, *values)
    return result


def _terms(part: Node) -> list[tuple[bool, Node]]:
    """The terms of a sum, each with whether it is subtracted; a sum of many terms stays one term."""
    terms: list[tuple[bool, Node]] = []
    ahead: list[tuple[bool, Node, tuple[Node, ...]]] = [(False, part, ())]  # with the moves that are applied to it
    while ahead:
        if len(terms) + len(ahead) > FEW_TERMS:
            return [(False, part)]
        minus, node, moves = ahead.pop()
        is_even = not moves or all(source.names == node.names for source in node.sources)
        if node.row.stays:
            ahead.append((minus, node.sources[0], (node, *moves)))
        elif node.op == "neg":
            ahead.append((not minus, node.sources[0], moves))
        elif node.op in ("add", "sub") and is_even and not minus:
            *firsts, last = node.sources
            ahead += [(node.op == "sub", last, moves), *((False, first, moves) for first in reversed(firsts))]
        else:
            terms.append((minus, reduce(lambda inner, move: move.over([inner]), moves, node)))
    return terms


MOST_WAYS = 4  # groups that are named, if a gradient comes back from steps of one name in several groups
MOST_RULES = 2  # rules that are told if a gradient comes back through several steps; each edge has its own, too
LONGEST_RULES = 120  # characters of these rules together: two matrix products, for example, say the same twice


def _told(reasons: Sequence[Reason], is_apart: bool) -> tuple[str, str]:
    """Through which steps a gradient came back, and by which rules; with `is_apart`, each to its own places."""
    rules = _merged(reason.text for reason in reasons)
    ways = [*dict.fromkeys(reason.through for reason in reasons if reason.through)]
    if len(ways) < 2:
        return "", "; ".join(rules)
    groups, _, names = zip(*(way.rpartition("/") for way in ways), strict=True)
    several = [*dict.fromkeys(names)]
    where = both(several) if len(several) > 1 else f"{several[0]} in {both(groups, MOST_WAYS)}"
    are_few = len(rules) <= MOST_RULES and sum(map(len, rules)) <= LONGEST_RULES
    how = "goes to the places that it was made from" if is_apart else "is added up"
    return f"what comes back from {where} {how}", "; ".join(rules if are_few else ())


def _edges(reasons: Sequence[Reason]) -> tuple[tuple[str, str], ...]:
    """The steps that a gradient came through, each with the rules that were applied there."""
    through = grouped(dict.fromkeys(reasons), lambda reason: reason.through)
    return tuple((where, "; ".join(_merged(reason.text for reason in found))) for where, found in through.items())


def _merged(rules: Iterable[str]) -> list[str]:
    """Each rule and each remark in brackets once; a rule on several factors once with the names of all of them."""
    others: dict[str, list[str]] = {}
    for rule in dict.fromkeys(rules):
        said, _, other = rule.partition(HERE)
        others.setdefault(said, []).append(other)
    told: list[str] = []
    for said, found in others.items():
        rule = said + HERE * all(found) + both(found) * all(found)
        words, _, remark = rule.rpartition(" (")
        told.append(words if words and any(each.endswith(f" ({remark}") for each in told) else rule)
    return told


def _because(node: Node, source: int, before: list[Reason], owner: Node | None) -> list[Reason]:
    """Why the source gets its gradient. `before` is why the node got its own.

    `owner` is the step in whose formula the node stands.

    What happens inside a step is told nowhere else, so reasons from there are carried along. A primitive without a
    reason of its own, which only moves entries, leaves them as they are.
    """
    because, hands_on = node.row.because, node.row.hands_on
    if not because:
        return before
    inside = node.op != "step" and (owner is None or owner.sources[0] is not node)
    carried = [reason for reason in before if reason.lasting] if inside else []
    through = "" if owner is None else owner.path
    places = same_along(node, source) if node.row.elementwise else ""
    it = called(node.sources[source]) if places else ""
    each = f"each entry of {it}" if node.sources[source].axes else it
    repeated = [Reason(f"{each} is used at every place of {places}, so that is added up", through=through)] * bool(it)
    if carried and hands_on:
        return [*carried, *repeated]
    text = because(node, source) if callable(because) else because
    if carried and not text:
        return [*carried, *repeated]
    return [*carried, Reason(text, lasting=bool(text) and not hands_on, through=through), *repeated]


def _fit(gradient: Node, source: Node, node: Node, own: set[str]) -> Node:
    """A source's gradient with the source's axes: summed over all others, except a Jacobian's own axes in front."""
    if gradient.axes == source.axes == node.axes:
        return gradient
    kept = {*source.names}
    if node.row.elementwise:  # a source that is repeated along an axis gets the gradient of every place along it
        there = {*kept, *gradient.names}
        gradient = spread(gradient, tuple(axis for axis in node.axes if axis.name not in there) + gradient.axes)
    for name in gradient.names:
        if name not in kept and name not in own:
            gradient = total(gradient, name)
    return gradient
