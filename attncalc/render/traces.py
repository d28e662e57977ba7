"""The pages of a trace: all of it, or only one value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from math import prod
from typing import Any

import numpy as np

from attncalc.common.errors import amount, both, visible
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple, grouped, loaded
from attncalc.record.numbers import format_number, shortest, texts
from attncalc.record.trace import Given, Step, Trace
from attncalc.render import View, asked_for, beside, operand_steps, shown
from attncalc.render.page import (
    BACKWARD,
    GAP,
    LARGE,
    Arithmetic,
    Block,
    Ends,
    Formula,
    Heading,
    Limits,
    Line,
    Note,
    Page,
    Paragraph,
    Part,
    Point,
    Points,
    Table,
    ends,
    located,
    matrices,
    room,
    shown_entries,
    spoken,
    whole,
    window,
)
from attncalc.render.worked import COMPARED, LONGEST_WORKED, worked_lines, written
from attncalc.solve import asking
from attncalc.solve.problem import Problem

LONGEST_INLINE = 48  # characters of an operand that is written on one line
ROUND_OFF = 1e-12  # a smaller drift is only float64's own rounding


def page(trace: Trace, view: View, *, once: bool = True) -> Page:
    """The part of a trace that is asked for: entries' arithmetic, a value, or all; with `once` no table twice."""
    if view.cells:
        return Page(trace.calculation, tuple(loaded("render.entries:parts")(trace, view)))
    if view.plot and view.bare:
        return Page(trace.calculation, trace.pictures)
    if view.bare:
        step = asked_for(trace, view)
        return Page(trace.calculation, (table(step, trace, view),), values=True)
    made = Page(trace.calculation, tuple(_whole(trace, view)), steps=len(trace.steps))
    return without_repeats(made, trace, view) if once else made


def without_repeats(page: Page, trace: Trace, view: View) -> Page:
    """The page with each table only once: tables that repeat another one, or the result, say so instead.

    Tables that are equal only by chance, for these operands, are all shown. Gradients with all entries equal are not
    shown as tables, except as the result, and the arithmetic of one entry stands for all if they are computed alike.
    """
    shown: dict[Any, tuple[str, str]] = {}
    alike: dict[int, tuple[str, str, str]] = {}
    of_one_number = _OfOneNumber(view)
    backward = {step.key for step in trace.steps if is_backward(step, trace)}
    for part in sorted(page.all(Part), key=lambda part: part.kind != "result"):
        is_result = part.kind == "result"
        which, others = (", the result", ", below") if is_result else ("", "")
        steps = [(step.heading.key or step.heading.text, step.one(Table), step) for step in part.steps]
        for name, table, within in steps or [(table.name, table, part) for table in part.all(Table) if not table.typed]:
            looks = _looks(table, view)
            is_said = looks and not is_result and name in backward and of_one_number.say(table, within)
            if looks and not is_said:
                known, where = shown.setdefault(looks, (name, which))
                if (known, where) != (name, which):
                    alike[id(table)] = name, known, "" if is_result else where
            which = others
    said = of_one_number.said
    lasting = asking.same_whatever(trace, [(name, known) for name, known, _ in alike.values()])
    for (at, (name, other, which)), lasts in zip(alike.items(), lasting, strict=True):
        if lasts:
            said[at] = f"the same numbers as {'the result' if name == other else f'{other}{which}'}"

    def once(block: Any) -> Any:
        if isinstance(block, Part):
            kept = [each for each in block.blocks if id(each) not in of_one_number.dropped]
            return block._replace(blocks=tuple(map(once, kept)))
        if id(block) in of_one_number.alone:
            return block._replace(lines=block.lines[:1])
        return block._replace(stand_in=said[id(block)]) if id(block) in said else block

    return page._replace(blocks=tuple(map(once, page.blocks))) if said else page


def _looks(table: Table, view: View) -> Any:
    """A table as it will be shown, to find equal ones; None if it is not shown whole, or is a single number."""
    size = prod(table.shape)
    if not (table.shape and table.can_be_shown and size < LARGE and shown_entries(table, view, Limits()) == size):
        return None
    sides = tuple(table.labels.get(axis, ()) for axis in table.axes)
    return table.shape, sides, tuple(each.entries for each in window(table, view, Limits()).matrices)


class _OfOneNumber:
    """Gradients with all entries equal: the words in place of their tables, and the blocks that become needless."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.said: dict[int, str] = {}  # table → the words in its place
        self.dropped: set[int] = set()  # paragraphs that say the same
        self.alone: set[int] = set()  # arithmetic of which one line is enough

    def say(self, table: Table, within: Part) -> bool:
        """Whether all entries of a gradient are equal; if so, note the words in its place."""
        number = _one_number(table, self.view)
        if not number:
            return False
        why = [block for block in within.all(Paragraph) if block.text.startswith(f"all {number}, since")]
        self.said[id(table)] = why[0].text if why else f"all {number}"
        self.dropped.update(map(id, why))
        ways = {id(each): {line.links for line in each.lines} for each in within.all(Arithmetic)}
        self.alone.update(at for at, found in ways.items() if len(found) == 1 and self.view.detail != "full")
        return True


def _one_number(table: Table, view: View) -> str:
    """The number that all entries are, as text; "" if they differ or there is only one."""
    if table.value is None or table.value.size < 2 or not np.all(table.value == table.value.flat[0]):
        return ""
    entries = {entry for matrix in window(table, view, Limits()).matrices for _, entry in located(table, matrix)}
    return entries.pop() if len(entries) == 1 else ""


OUTLINED = 20  # a trace with so many steps is shown as an outline
LONGEST = 300  # about so many lines make a page too long to be shown without an outline
NARROW = 80  # on a page with fewer columns, lines break too often for their number to be estimated


def _lines(trace: Trace) -> int:
    """About how many lines the page takes, with the headings of matrices and the words on steps."""
    shapes = [given.value.shape for given in trace.inputs.values() if not typed(given)]
    shapes += [step.shape for step in trace.steps]
    sizes = [whole(shape) for shape in shapes]
    values = sum((min(size.rows, Limits().rows) + 5) * min(size.tables, Limits().tables) for size in sizes)
    back = sum(step.gradient_of is not None for step in trace.steps)  # these are shown with their rules too
    return values + 7 * len(trace.steps) + 3 * back


def _is_short(trace: Trace, view: View) -> bool:
    """Whether a page without an outline would be short; a narrow page, with many broken lines, is written to see."""
    if len(trace.steps) >= OUTLINED or _lines(trace) > LONGEST:
        return False
    if view.width is None or view.width >= NARROW:
        return True
    written: str = loaded("render.terminal:write")(page(trace, view), view)
    return written.count("\n") <= LONGEST


def page_or_outline(trace: Trace, view: View) -> Page:
    """The page that is asked for; if nothing is asked for, the outline of a long trace."""
    opened = view.bare or view.cells or view.everything or view.show or _is_short(trace, view)
    if opened and (view.depth is None or view.bare or view.cells):
        return page(trace, view)
    made: Page = loaded("render.outline:page")(trace, view)
    return without_repeats(made, trace, view)


MOST_DRAWN = 4  # operands that are shown above an outline


def beginning(trace: Trace, *, outlined: bool = False, groups: Iterable[str] | None = None) -> Iterator[Block]:
    """The beginning of a page: summary, notes and operands; above an outline, many operands have only their sizes.

    If only steps of some groups are shown, the operands of other layers are left out.
    """
    yield Heading(trace.calculation)
    yield Paragraph(trace.summary)
    yield from (Note(note, "note") for note in trace.notes)
    yield from (Note(warning, "warning") for warning in trace.warnings)
    given, chosen = operands(trace), options(trace, asking.signs(trace))
    if groups is not None:
        given = [table for table in given if "/" not in table.name or _is_of(table.name.rpartition("/")[0], groups)]
    if outlined and sum(not table.typed and bool(table.shape) for table in given) > MOST_DRAWN:
        chosen = [*_of_layers(given), *chosen]
        given = [table for table in given if "/" not in table.name]
        given = [table if table.typed or not table.shape else table._replace(stand_in=GAP) for table in given]
    yield Part("given", Heading("Given"), (*given, *(Note(words, "option") for words in chosen)))


def _is_of(layer: str, groups: Iterable[str]) -> bool:
    """Whether one of these groups belongs to a layer, as `token 1/decoder 1/norm2` and `decoder 1, backward` do."""
    return any(f"/{layer}/" in f"/{group.removesuffix(BACKWARD)}/" for group in groups)


def _of_layers(given: Sequence[Table]) -> Iterator[str]:
    """How many weights each layer has: `encoder 1: 16 arrays with 172 numbers`."""
    for name, tables in grouped(given, lambda table: table.name.rpartition("/")[0]).items():
        if name:
            count = sum(prod(table.shape) for table in tables)
            yield f"{name}: {amount(len(tables), 'array')} with {amount(count, 'number')}"


def _whole(trace: Trace, view: View) -> Iterator[Block]:
    above = [] if view.show else list(_dependencies(trace))
    steps, result = _divided(trace, view, asking.ways(trace) if len(above) > 1 else {})
    yield from beginning(trace, groups={part for part, _ in (*steps, *result)} if view.show else None)
    if view.show and len(trace.steps) >= OUTLINED:
        yield from loaded("render.outline:where")(trace, view)
    yield from above
    yield Part("steps", Heading("Steps"), tuple(_with_gaps(_groups(steps, told_apart=True), trace)))
    if result:
        yield Part("result", Heading("Result"), tuple(_groups(result, told_apart=False)))
    yield from lessons(trace)
    yield from trace.pictures if view.plot else ()
    yield from onward([part for _, part in (*steps, *result)], view)


MOST_WITH_ZEROS = 4  # steps that are named
HELD = rf"\[[^\[\]]*{COMPARED}[^\[\]]*\]"
"""A condition as a factor of arithmetic, `[0 < 4]`."""


def onward(steps: Sequence[Part], view: View) -> Iterator[Paragraph]:
    """Remarks at the end of a page: on entries that are 0 except for rounding, on comparisons as factors, and a hint.

    The hint says how to ask for the arithmetic of other entries, and shows how places are written.
    """
    tables = {part.heading.key: part.one(Table) for part in steps}
    left = {name: gone for name, shown in tables.items() if len(gone := left_over(shown))}
    if left:
        count = sum(map(len, left.values()))
        where = both(left) if len(left) <= MOST_WITH_ZEROS else amount(len(left), "step")
        if any(tables[name].shape for name in left):
            where = f"{amount(count, 'entry', 'entries')} of {where}"
        is_, its, upto, it = ("is", "its", "", "it") if count == 1 else ("are", "their", "up to ", "them")
        most = format_number(max(np.max(np.abs(gone)) for gone in left.values()))
        yield Paragraph(
            f"{where} {is_} 0 but for rounding, and shown as 0: {its} terms cancel, and floats leave {upto}{most} of "
            f"{it} (a saved document keeps that).",
            "remark",
        )
    if any(re.search(HELD, line.arithmetic) for step in steps for line in step.lines):
        yield Paragraph("A comparison, as [a < b], is 1 where it holds, and 0 where it does not.", "remark")
    alone = [step for step in steps if len(step.lines) == 1 < prod(step.one(Table).shape)]
    if alone:
        heading, line = alone[-1].heading, alone[-1].lines[0]
        place = _beside(line._replace(name=heading.key or line.name), alone[-1].one(Table)).place
        counted = "by indices from 0" if line.labels == tuple(map(str, line.at)) else "by labels or indices from 0"
        one, each = ('.cell("{}")', '.cell("all")') if view.in_python else ("--cell '{}'", "--cell all")
        yield Paragraph(f"Any other entry, {counted}: {one.format(place)}; all of them: {each}", "onward")


def _beside(line: Line, shown: Table) -> Line:
    """The line with the place of a neighbouring entry, along the last axis that has more than one place."""
    axis = max(axis for axis, size in enumerate(shown.shape) if size > 1)
    at = (*line.at[:axis], (line.at[axis] + 1) % shown.shape[axis], *line.at[axis + 1 :])
    return line._replace(at=at, labels=tuple(spoken(shown, axis, i) for axis, i in zip(shown.axes, at, strict=True)))


MOST_EDGES = 24  # with more edges nobody would see the whole


def _dependencies(trace: Trace) -> Iterator[Block]:
    """The dependencies in a backward pass, and the rules for gradients that come back from several steps."""
    if all(step.gradient_of is None for step in trace.steps):
        return
    letters = {name: given.symbol for name, given in trace.inputs.items() if given.symbol and name not in trace}
    edges = [(letters.get(value, value), into, rule) for value, into, rule in asking.edges(trace)]
    if not 1 < len(edges) <= MOST_EDGES:
        return
    chains = tuple(Point(chain, mark="· ") for chain in _chains([(value, into or LOSS) for value, into, _ in edges]))
    yield Part("section", Heading("What depends on what"), (Points(chains),))
    ways = Counter(value for value, _, _ in edges)  # for a single way the step itself gives the rule
    alike: dict[str, list[str]] = {}
    for value, into, rule in edges:
        if ways[value] > 1:
            alike.setdefault(rule, []).append(f"{into or LOSS} → {value}")
    rules = tuple(Point(", ".join(named), rule) for rule, named in alike.items())
    named = Points(rules, room(rule.text for rule in rules))
    yield from [Part("section", Heading("Back on several ways, and by which rule"), (named,))] if rules else []


LOSS = "L"


def _chains(edges: list[tuple[str, str]]) -> Iterator[str]:
    """`q → scores → scaled`, with each edge once: a chain ends at a value with which another one goes on."""
    left = list(reversed(edges))
    while left:
        entered = {into for _, into in left}
        value, into = next((edge for edge in left if edge[0] not in entered), left[0])
        chain = [value]
        while (edge := (value, into)) in left:
            left.remove(edge)
            chain.append(into)
            value, into = next((other for other in left if other[0] == into), (into, ""))
        yield " → ".join(chain)


def is_backward(step: Step, trace: Trace) -> bool:
    """Whether a step belongs to a backward pass, which gradients within a calculation, as in training, do not."""
    return step.gradient_of is not None and trace.calculation.startswith("grad ")


def _part(step: Step, trace: Trace) -> str:
    """The part of a page to which a step belongs: its group, with `, backward` after it for gradients."""
    return step.group + BACKWARD * is_backward(step, trace)


def parts_of(trace: Trace, view: View, steps: Iterable[Step]) -> Iterator[tuple[str, Part]]:
    """(part's name, block) for some steps; an output that is no step has no number."""
    numbers = {step.key: number for number, step in enumerate(trace.steps, start=1)}
    above = _nothing_above(trace)
    return ((_part(step, trace), _step(step, numbers.get(step.key), trace, view, above, step.why)) for step in steps)


def _groups(steps: Sequence[tuple[str, Part]], *, told_apart: bool) -> Iterator[Part]:
    """Consecutive steps of one part under its name; steps between parts under their own names, if `told_apart`."""
    several = any(name.removesuffix(BACKWARD) for name, _ in steps)
    for name, members in groupby(steps, key=lambda item: item[0] if several else ""):
        inside = tuple(step for _, step in members)
        of = name.removesuffix(BACKWARD)
        if of or not (several and told_apart):
            yield Part("group", Heading(name if of else ""), inside)
        else:
            first, last = inside[0].heading.text, inside[-1].heading.text
            names = {1: first, 2: f"{first}, {last}"}.get(len(inside), f"{first} {GAP} {last}")
            yield Part("between", Heading(names), inside)


def _with_gaps(groups: Iterable[Part], trace: Trace) -> Iterator[Block]:
    """The groups, with a remark wherever turns between them are left out."""
    before, gaps = "", trace.gaps
    for group in groups:
        turn = group.heading.text.split("/")[0]
        if turn != before and before in gaps:
            yield Paragraph(f"{GAP} {gaps[before].said}; --all keeps every one", "remark")
        yield group
        before = turn


def _divided(
    trace: Trace, view: View, ways: Mapping[str, str]
) -> tuple[list[tuple[str, Part]], list[tuple[str, Part]]]:
    """The steps up to the result, and the result with the other outputs, each with its group.

    If a step that is no output follows the result, all steps are in the first list, and the second repeats the result.
    For steps among `ways`, these replace the reason, since the rules stand above.
    """
    outputs = {output.key: output for output in trace.outputs}
    result = trace.outputs[0]
    items = shown(trace, view)
    above = _nothing_above(trace)

    def made(step: Step, number: int | None) -> tuple[str, Part]:
        return _part(step, trace), _step(step, number, trace, view, above, ways.get(step.key, step.why))

    keys = [step.key for _, step in items]
    first = keys.index(result.key) if result.key in keys else len(keys)
    ends_in_outputs = all(key in outputs for key in keys[first:])
    steps = items[:first] if ends_in_outputs else items
    middle = [made(step, number) for number, step in steps]
    last = [made(outputs[step.key], number) for number, step in items[len(steps) :]]
    if not ends_in_outputs:
        last = [(_part(result, trace), made(result, items[first][0])[1]._replace(kind="again"))]
    return middle, last + [made(step, None) for step in beside(trace, view)]


class Above(NamedTuple):
    """What a page has shown above a step: `followed` is the place (axis → index) whose arithmetic was shown last.

    `told` maps names that formulas use to the last words on them: a letter may count along another axis later.
    `known` maps (a step's key, False) and (an operand's name, True) to the step.
    """

    followed: dict[str, int]
    told: dict[str, str]
    known: Mapping[tuple[str, bool], Step]


def _nothing_above(trace: Trace) -> Above:
    known = {(step.key, False): step for step in trace.steps}
    return Above({}, {}, known | {(name, True): step for name, step in operand_steps(trace).items()})


def _step(step: Step, number: int | None, trace: Trace, view: View, above: Above, why: str) -> Part:
    """A step: its formula, its reason, its arithmetic if that is short, its value, and findings on it."""
    how = formula(step)
    blocks: list[Block] = [how]
    unshown = asking.unshown(trace, step)
    where = {words: latex for words, latex in unshown.items() if above.told.get(words.partition(" = ")[0]) != words}
    above.told.update((words.partition(" = ")[0], words) for words in where)
    if where:
        latex = "; ".join(f"${each}$" for each in where.values())
        blocks.append(Paragraph(f"where {'; '.join(where)}", "where", f"where {latex}"))
    nothing = asking.why_nothing(trace, step)
    said = ((why, "why"), (nothing, "about"))
    blocks += [Paragraph(words, kind) for words, kind in said if words]
    told = trace.lesson.steps.get(step.key, ()) if trace.lesson and number else ()
    blocks += [Paragraph(words, "about") for words in told]
    if words := ranked(trace, step, view):
        blocks.append(Paragraph(f"{RANKED} {', '.join(f'{word} {share}' for word, share in words)}", "about"))
    shown = table(step, trace, view)
    is_plain = nothing.startswith("all 0") and "cancel" not in nothing  # lines like 0×0.5 = 0 teach nothing
    is_plain &= view.detail != "full"
    if worked := [] if is_plain and shown.shape else worked_lines(step, shown, trace, view, above.followed):
        blocks.append(Arithmetic(tuple(worked)))
    shown = shown._replace(factors=tuple(_factors(step, trace, view, above.known)))
    return Part("step", Heading(step.name, number, step.key), (*blocks, shown, *_findings(step, trace)))


def _factors(step: Step, trace: Trace, view: View, known: Mapping[tuple[str, bool], Step]) -> Iterator[Table]:
    """The factors of a step that is a matrix product, and the bias; empty if one of them was not kept."""
    factors = asking.factors(trace, step)
    made = [known.get((factor.name, factor.is_operand)) for factor in factors]
    values = [found for found in made if found is not None and found.value is not None]
    for factor, found in zip(factors, values, strict=True) if len(values) == len(factors) else ():
        shown = table(found, trace, view)
        value, symbol = np.asarray(shown.value), shown.symbol or shown.name
        names = (*factor.axes[:-2], *factor.axes[:-3:-1]) if factor.is_turned else factor.axes
        labels = {new: shown.labels[old] for old, new in zip(shown.axes, names, strict=True) if old in shown.labels}
        value, symbol = (value.swapaxes(-1, -2), f"{symbol}ᵀ") if factor.is_turned else (value, symbol)
        yield shown._replace(value=value, axes=factor.axes, shape=value.shape, labels=labels, symbol=symbol)


RANKED = "how close it was, by the softmax of these scores:"
MOST_RANKED = 4  # the word that was picked, and its runners-up


def ranked(trace: Trace, step: Step, view: View) -> list[tuple[str, str]]:
    """The likeliest words from which a step picks one by its score, each with its share; empty if it picks none."""
    found = asking.ranked(trace, step)[:MOST_RANKED]
    return [(visible(step.names[i]), format_number(share, view.digits)) for i, share in found]


LONGEST_SIZES = 240  # characters of a formula with sizes in place; a longer one nobody would follow


def formula(step: Step) -> Formula:
    """The formula of a step; the shape of the result is "" for a number, and if the sizes already are that shape."""
    sizes = step.sizes if len(step.sizes) <= LONGEST_SIZES else ""
    out = f"[{'×'.join(map(str, step.shape))}]" if step.shape else ""
    out = "" if step.sizes == out else out
    return Formula(step.symbol, step.formula, sizes, out, step.symbol_latex, step.latex)


def table(step: Step, trace: Trace, view: View) -> Table:
    """The table of a step's value; of a value that was too large to keep, only the ends."""
    value, nothing = step.value, asking.left_over(trace, step)
    if nothing is not None and value is not None:
        value = value.copy()
        value[nothing] = 0
    return Table(
        step.name,
        value,
        step.axes,
        step.shape,
        step.labels,
        step.names,
        step.symbol,
        step.symbol_latex,
        full=step.value,
        ends=None if step.value is not None or 0 in step.shape else _ends(step, trace, view),
    )


def left_over(table: Table) -> Array:
    """The rounding errors in the entries that are shown as 0."""
    if table.full is None or table.value is None or table.value is table.full:
        return np.empty(0)
    return np.asarray(table.full[(table.value == 0) & (table.full != 0)])


def _ends(step: Step, trace: Trace, view: View) -> Ends:
    """Those entries of a value that was not kept that the widest page can show."""
    limits = whole(step.shape) if view.everything else Limits()
    rows, columns = (ends(size, most) for size, most in zip((1, 1, *step.shape)[-2:], limits[:2], strict=True))
    entries = {}
    for at in matrices(step.shape, limits):
        places = [*([i] for i in at), rows, columns][-len(step.shape) :]
        entries[at] = asking.entries(trace, step, places).reshape(len(rows), len(columns))
    return Ends(tuple(rows), tuple(columns), entries)


def kinks(count: int) -> str:
    """The words on entries where the slopes on both sides differ."""
    return f"; {amount(count, 'entry', 'entries')} at a kink, between the slopes of both sides" if count else ""


def _findings(step: Step, trace: Trace) -> Iterator[Note]:
    """Notes on what checks and rounding at each step have shown, and on entries that depend on mere rounding errors."""
    alarm = step.check is not None and not step.check.agrees
    kind = "alarm" if alarm else "finding"
    if step.check is not None:
        verdict = "agree" if step.check.agrees else "DISAGREE"
        found = f"central differences {verdict}: largest difference {format_number(step.check.max_error)}"
        yield Note(found + kinks(step.check.kinks), kind)
    if step.drift is not None:
        drift = f"largest drift from full precision: {format_number(step.drift)}"
        yield Note(drift if step.drift > ROUND_OFF else "no drift so far", kind)
    hinging = asking.hinging(trace, step)
    if hinging is not None and hinging.any():
        first, *others = (tuple(map(int, at)) for at in np.argwhere(hinging))
        line = written(asking.arithmetic(trace, step, first))
        more = f" and {len(others)} more go" if others else " goes"
        goes = f"{Line(step.name, first, '', ()).place}{more} by what rounding left of a 0"
        yield Note(f"{goes}: {line}" if len(line) <= LONGEST_WORKED else goes, "finding")


def lessons(trace: Trace) -> Iterator[Part]:
    """The explanations below the result, if they were asked for."""
    if trace.lesson is None:
        return
    about, _, laws, mistakes = trace.lesson
    points = [f"{mistake.id}: {mistake.says}. {mistake.hint}" for mistake in mistakes]
    for title, said in (("Worth knowing", about), ("What always holds", laws), ("Common mistakes", points)):
        if said:
            yield Part("section", Heading(title), (Points(tuple(Point(words, mark="· ") for words in said)),))


# Operands and options


def operands(trace: Trace) -> list[Table]:
    """The operands, with where they are from, and how a user would type them."""
    return [_operand(step, trace.inputs[name]) for name, step in operand_steps(trace).items()]


def _operand(step: Step, operand: Given) -> Table:
    value, symbol, latex = step.value, step.symbol, step.symbol_latex
    shown = Table(step.name, value, step.axes, step.shape, step.labels, step.names, symbol, latex, full=value)
    written = operand.written if typed(operand) and _is_exact(operand.written) else None
    return shown._replace(source=operand.source, note=operand.note, typed=typed(operand), written=written)


def _is_exact(written: Any) -> bool:
    """Whether an operand was given with fractions or roots, which decimals would change."""
    return written is not None and any(re.search(r"[/a-z(]", str(entry).replace("e", "")) for entry in written.flat)


def typed(operand: Given) -> str:
    """A small operand as a user would type it: `1 0 1; 0 1 1`; "" for a larger one."""
    value = operand.value
    if value.dtype.kind == "U" and not value.ndim:
        return str(value)  # a formula
    if value.size > LONGEST_INLINE or value.ndim > 2:
        return ""
    rows = value.reshape(-1, value.shape[-1] if value.ndim else 1)
    words = texts(rows) if operand.written is None else operand.written.reshape(rows.shape)
    line = "; ".join(" ".join(map(str, row)) for row in words)
    return line if len(line) <= LONGEST_INLINE else ""


def options(trace: Trace, signs: Mapping[str, tuple[str, Any]] | None = None) -> list[str]:
    """`causal = true`, `scale = none`: the options that were given, or differ from their defaults.

    An option with a single letter, such as p, is listed too if a reason mentions it. With `signs`, options with another
    name in formulas are listed as `eps = ε = 1e-05`, and numbers that no option sets as `ε = 1e-05`.
    """
    problem = trace.problem if isinstance(trace.problem, Problem) else None
    usual, given = (problem.calculation.defaults, problem.options) if problem else ({}, {})
    spoken = {name: f"{sign} = {in_words(number)}" for name, (sign, number) in (signs or {}).items()}
    if "h" in spoken and spoken["h"] == f"h = {in_words(trace.options.get('heads', (signs or {})['h'][1]))}":
        spoken["heads"] = spoken.pop("h")
    letters = {
        name for name in usual if len(name) == 1 and any(re.search(rf"\b{name}\b", step.why) for step in trace.steps)
    }
    told = spoken.keys() | given.keys() | letters
    chosen = [name for name, value in trace.options.items() if name in told or value != usual.get(name)]
    said = {name: f"{name} = {in_words(trace.options[name])}" for name in chosen}
    for name, words in spoken.items():
        if words.partition(" = ")[0] != name:
            said[name] = f"{name} = {words}" if name in said or name in usual else words
        elif not isinstance(trace.options.get(name), str):  # a word stays, whatever number it stands for
            said[name] = words
    return [*said.values()]


def in_words(value: Any, comma: str = ",", equals: str = "=") -> str:
    """An option's value: `full`, `0.5,1`, `a=1,b=2`."""
    if isinstance(value, (list, tuple)):
        return comma.join(in_words(item, comma, equals) for item in value)
    if isinstance(value, Mapping):
        return comma.join(f"{name}{equals}{in_words(item, comma, equals)}" for name, item in value.items())
    return value if isinstance(value, str) else shortest(value)
