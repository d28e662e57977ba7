"""Every equality on a page, in each of its formats, is true as it stands: in floats, exactly, and in letters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, reduce
from typing import Any, NamedTuple

import numpy as np
import pytest
import sympy
from calculations.cases import EXPECTED
from calculations.exactness import numbers
from calculations.test_exact import in_letters, posed
from numpy.typing import NDArray
from rows import rows
from solved import ALL, ONE_OF_EACH, Tried, solved
from test_samples import PROBLEMS
from test_samples import posed as of_a_sample

import attncalc as ac
from attncalc.common.errors import AttncalcError, NoGradient, NotExact
from attncalc.evaluate.values import evaluate
from attncalc.language.axes import Axis
from attncalc.language.graph import Node, rewrite, walk
from attncalc.language.primitive import formula
from attncalc.record import surds
from attncalc.record.trace import Step, Trace
from attncalc.render import View, render, tex, traces
from attncalc.render.page import Note, Paragraph, Part, Table
from attncalc.solve import asking, solver
from attncalc.solve.problem import Backward
from attncalc.solve.solver import solve
from attncalc.solve.turns import TurnsBehind
from readback.arithmetic import number, number_of_latex
from readback.meaning import TooLong
from readback.pages import ALONE, Line, behind, spelled
from readback.printed import Chain, Said, Side, cells, of_html, of_latex, of_markdown
from readback.test_formulas import UNREADABLE

Array = NDArray[Any]
FORMATS: dict[str, Callable[[str], Iterator[Said]]] = {"html": of_html, "latex": of_latex, "markdown": of_markdown}
GAPS = (r"\cdots", r"\vdots", r"\ddots")


class Beside(NamedTuple):
    """A trace, and the numbers that its letters stand for."""

    trace: Trace
    letters: Mapping[Any, Any] = {}

    @property
    def named(self) -> dict[str, float]:
        """The letters as a page in text shows them, `x_0` → x₀, and as LaTeX does."""
        said = {str(letter): float(value) for letter, value in self.letters.items()}
        return said | {in_text(letter): value for letter, value in said.items()}

    def floats(self, value: Array) -> Array:
        """Entries as floats; what rounding has left of what cancels is beside the point."""
        return numbers(value, self.letters) if value.dtype == object else value.astype(complex)

    def looked_up(self, side: Side) -> Side:
        """`norm2/normalized[0,1]`, the entry that this one was handed on from, as the number that stands there."""
        written = re.sub(r"\\text\{([^{}]*)\}", r"\1", side.written).replace("\\", "").strip()
        while (inner := re.sub(r"_\{([^{}]*)\}", r"_\1", written)) != written:
            written = inner
        named = re.fullmatch(r"([^][]+)(?:\[([^][]+)\])?", written)
        for step in self.trace.steps if named else ():
            if named and step.key == named[1] and step.value is not None and bool(step.shape) == bool(named[2]):
                at = place(step, [quoted or bare for quoted, bare in LABELS.findall(named[2] or "")])
                number = np.format_float_positional(self.floats(step.value)[at].real, trim="-")
                return side._replace(written=number if "\\" in side.written else number.replace("-", "−"))
        return side

    def line(self, step: Step) -> Line | None:
        """What a formula of the step may speak of, with the values that stand on the page."""
        graph = solver.behind(self.trace)
        found = graph.found(step)
        if found is None or step.value is None or step.value.dtype.kind == "U":
            return None
        node, around = found
        expression = node.sources[0]
        leaves = behind(expression)
        given = {name: np.real(self.floats(v)) if v.dtype.kind in "fO" else v for name, v in around.operands.items()}
        kept = {leaf: around.values[leaf] for leaf in leaves if leaf.op == "step"}
        known: dict[Any, Any] = {
            leaf: self.floats(value) if value.dtype.kind in "fO" else value for leaf, value in kept.items()
        }
        rest = [leaf for leaf in leaves if not leaf.sources]
        known |= evaluate(rest, given, keep=lambda _: True)
        known[expression] = self.floats(around.values[node])
        if not all(np.allclose(np.imag(value), 0) for value in known.values() if np.iscomplexobj(value)):
            return None
        known = {leaf: np.real(value) for leaf, value in known.items()}
        if isinstance(graph, TurnsBehind):
            return of_a_turn(graph, step, expression, known, node.args["group"])
        return Line(expression, known, node.args["group"])


def of_a_turn(graph: TurnsBehind, step: Step, expression: Node, known: Mapping[Any, Any], group: str) -> Line:
    """A formula in a turn of a loop, which speaks of what the turn before has handed on as that turn's."""
    turn, _, number = step.group.partition("/")[0].rpartition(" ")
    last = int(number) if turn == graph.loop.turn else graph.last
    carried = graph.loop.carry if last > graph.loop.first else {}

    made: list[Node] = []

    def of_the_turn_before(node: Node) -> Node:
        before = carried.get(node.args["name"]) if node.op == "input" else None
        if before is not None and before.op == "step" and before.args["shown"]:
            whose = f"{graph.loop.turn} {last - 1}"
            node = Node("step", *before.sources, axes=before.axes, **before.args | {"group": whose})
        made.append(node)
        return node

    (found,) = rewrite([expression], of_the_turn_before)
    pairs = zip(walk(expression), made, strict=True)
    return Line(found, {new: known[old] for old, new in pairs if old in known}, group)


LABELS = re.compile(r'"([^"]*)"|([^,]+)')


SPELLED = {
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "·": r"$\cdot$",
    "λ²": r"$\lambda^{2}$",
    "λ³": r"$\lambda^{3}$",
    "λ⁰": r"$\lambda^{0}$",
    "λ": r"$\lambda$",
}
"""Signs in words as LaTeX has them."""


def unspelled(word: str) -> str:
    """A word as it was before LaTeX."""
    return reduce(lambda found, sign: found.replace(SPELLED[sign], sign), SPELLED, word)


def place(step: Step, words: list[str]) -> tuple[int, ...]:
    """A place that indices or labels name."""
    along = zip(words, step.axes, strict=True)
    return tuple(int(word) if word.isdigit() else _labelled(step, axis, unspelled(word)) for word, axis in along)


def _labelled(step: Step, axis: str, word: str) -> int:
    """`cat`, or `step=4000`, along an axis."""
    labels = step.labels[axis]
    return labels.index(word if word in labels else word.removeprefix(f"{axis}="))


def in_text(letter: str) -> str:
    head, mark, tail = letter.rpartition("_")
    return head + tail.translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")) if mark and "," not in tail else letter


def unit(side: str) -> float:
    """Half of the last digit that is shown; a number that ends early is so to four decimals."""
    mantissa, _, exponent = re.sub(r" ?\\times ?10\^\{(.+)\}", r"e\1", side).partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 0.5 * 10.0 ** (int(exponent) - decimals if exponent else -max(decimals, 4))


def worth(side: Side, letters: Mapping[str, float]) -> complex:
    return (number_of_latex if side.latex else number)(side.written, letters)


class Entry(NamedTuple):
    """What an entry is, and whether the page writes it exactly."""

    value: complex
    exact: bool
    word: str = ""  # what a whole number stands for


def broken(sides: list[Side], entry: Entry, letters: Mapping[str, float]) -> Iterator[str]:
    """What is wrong with the equalities of an entry, which the last of them is, be it in decimals."""
    end = sides[-1]
    if entry.word:
        named = f"{entry.word} ({int(entry.value.real)})"
        said = unspelled(re.sub(r"^\\text\{(.*)\}$", r"\1", end.written))
        if said not in (named, f"{entry.value.real:g}"):  # a table has the word too, a line of arithmetic the number
            yield f"{end.written} is not {named}"
        sides = sides[:-1]
    for side in sides:
        due, slack = entry.value, 1e-9 * max(1.0, abs(entry.value))
        if side.relation == "≈" or (side is end and not entry.exact):
            slack = unit(side.written) * (1 + 1e-6)
        elif not entry.exact and not entry.word:  # from the digits that stand there one gets the digits of the end
            due, slack = worth(end, letters), unit(end.written) * (1 + 1e-6)
        try:
            got = worth(side, letters)
        except TooLong:
            continue
        except ValueError as error:
            yield f"{side.written}: unread: {error}"
            continue
        if got != due and not abs(got - due) <= slack:
            yield f"{side.written} is {got}, not {due}"


def of_step(beside: Beside, said: Said, read: dict[str, int], again: bool = False) -> Iterator[str]:
    """What is wrong with all that is said of a step; what has been read is counted."""
    step = step_of(beside.trace, said)
    if step.value is None or step.value.dtype.kind == "U":
        return
    noise = asking.left_over(beside.trace, step)
    value = step.value if noise is None else np.where(noise, 0, step.value)
    exact = value.dtype == object
    floats, letters = beside.floats(value), beside.named
    for number_, chain in enumerate(said.chains if step.shape else together(said.chains)):
        sides = list(chain.sides)
        is_name = step.latex == step.symbol_latex and sides and sides[0].written != step.latex  # which is not printed
        if number_ == 0 and not again and step.latex and sides and sides[0].latex and not chain.at and not is_name:
            formula = sides.pop(0)
            if (line := beside.line(step)) and (fault := line.read_latex(formula.written)):
                yield f"{step.key} = {formula.written}: {fault}"
            read["formulas"] = read.get("formulas", 0) + 1
        if sides and (matrices := [cells(side.written) for side in sides])[0] is not None:
            for side, matrix in zip(sides, matrices, strict=True):
                assert matrix is not None, side
                yield from in_matrix(step, chain, side, matrix, floats, exact, letters)
                read["matrices"] = read.get("matrices", 0) + 1
        elif sides:
            at = place(step, [quoted or bare for quoted, bare in LABELS.findall(chain.at)]) if chain.at else ()
            word = step.names[int(value[at])] if step.names else ""
            entry = Entry(complex(floats[at]), exact, word)
            sides = [beside.looked_up(side) for side in sides]
            yield from (f"{step.key}[{chain.at}]: {fault}" for fault in broken(sides, entry, letters))
            read["entries"] = read.get("entries", 0) + 1


def together(chains: list[Chain]) -> list[Chain]:
    """What is said of a single number in several lines, as one chain."""
    found: list[Chain] = []
    for chain in chains:
        drawn = found and all(side.latex for side in (*found[-1].sides, *chain.sides)) and found[-1].left == chain.left
        if drawn:
            found[-1] = found[-1]._replace(sides=[*found[-1].sides, *chain.sides])
        else:
            found.append(chain)
    return found


def in_matrix(
    step: Step, chain: Chain, side: Side, matrix: list[list[str]], floats: Array, exact: bool, letters: Any
) -> Iterator[str]:
    """The entries of a matrix that is printed whole."""
    along = dict(part.split(" = ") for part in chain.at.strip('"').split(", ") if part)
    floats = floats[tuple(_places(step, axis, along[axis]) if axis in along else slice(None) for axis in step.axes)]
    if any(entry in GAPS for row in matrix for entry in row):
        return
    laid = floats.reshape((1, 1, *floats.shape)[-2:])
    if laid.shape != (len(matrix), len(matrix[0])):
        yield f"{step.key}: a matrix of {len(matrix)}×{len(matrix[0])} is printed, not of {laid.shape}"
        return
    for at in np.ndindex(laid.shape):
        word = step.names[int(laid[at].real)] if step.names else ""
        entry = Side(matrix[at[0]][at[1]], latex=True, relation=side.relation)
        yield from (
            f"{step.key}{at}: {fault}" for fault in broken([entry], Entry(complex(laid[at]), exact, word), letters)
        )


def _places(step: Step, axis: str, said: str) -> int | slice:
    """`1`, a label, or `0…9` of a piece, along an axis."""
    labels = step.labels.get(axis, tuple(map(str, range(max(step.shape)))))
    first, more, last = said.partition("…")
    return slice(labels.index(first), labels.index(last) + 1) if more else labels.index(said)


def step_of(trace: Trace, said: Said) -> Step:
    """The step that a heading names."""
    if said.number:
        step = trace.steps[said.number - 1]
    else:
        step = next((output for output in trace.outputs if output.name == said.heading), None) or trace.find(
            said.heading
        )
    assert said.heading in (step.name, step.key), f"{said.heading} is not {step.key}"
    return step


def faults(beside: Beside, form: str, view: View = View(), read: dict[str, int] | None = None) -> list[str]:  # noqa: B008  (it is frozen)
    """What is wrong with a page; what has been read is counted."""
    page = render(beside.trace, form, view)
    assert isinstance(page, str)
    found: list[str] = []
    seen: set[str] = set()
    for said in FORMATS[form](page):
        again = f"{said.number} {said.heading}" in seen
        found += of_step(beside, said, {} if read is None else read, again)
        seen.add(f"{said.number} {said.heading}")
    return found


@cache
def exactly(tried: Tried, lettered: bool) -> Beside | None:
    """A case in exact numbers or in letters; None where it has no such form."""
    case, expected = EXPECTED[tried.name].cases[tried.number], EXPECTED[tried.name]
    if expected.inexact or not case.operands or "steps" in case.options:
        return None
    stand_for: dict[Any, Any] = {}
    try:
        problem, _ = posed(tried.name, case, Backward() if tried.backward else None)
        if lettered:
            problem, stand_for = in_letters(problem, case)
        return Beside(solve(problem, exact=True), stand_for)
    except (NotExact, NoGradient):
        return None


def readable(tried: Tried) -> bool:
    return not str(tried).startswith(tuple(UNREADABLE))


READ = [tried for tried in ALL if readable(tried)]
LARGE = (
    "encoder-block",
    "decoder-block",
    "transformer",
    "multihead",
    "kv-cache",
    "optimizer",
    "next-token-loss",
    "rope",
)
"""Whose pages take long to read."""


@pytest.mark.thorough
@pytest.mark.spread(32)
@rows(
    ("tried", "form"),
    [(tried, form) for tried in READ for form in FORMATS],
    by=lambda tried, form: f"{tried.name} {form}",
    thorough=lambda tried, form: tried not in ONE_OF_EACH or tried.name in LARGE or form == "markdown",
)
def test_what_a_page_says_is_true(tried: Tried, form: str) -> None:
    assert faults(Beside(solved(tried)), form) == []


@pytest.mark.thorough
@pytest.mark.spread
@rows(
    "tried",
    READ,
    by=lambda tried: tried.name,
    thorough=lambda tried: tried not in ONE_OF_EACH or tried.name in LARGE,
)
def test_any_entry_is_worked_out_truly(tried: Tried) -> None:
    trace = solved(tried)
    rng = np.random.default_rng(len(trace.steps))
    places = [(step, [int(rng.integers(size)) for size in step.shape]) for step in trace.steps if 0 not in step.shape]
    cells = tuple(f"{step.key}:{','.join(map(str, at))}" if at else step.key for step, at in places)
    for form in FORMATS:
        assert faults(Beside(trace), form, View(cells=cells)) == []


@pytest.mark.spread(64)
@rows(
    ("tried", "lettered", "form"),
    [(tried, lettered, form) for tried in ONE_OF_EACH for lettered in (False, True) for form in FORMATS],
    by=lambda tried, lettered, form: f"{tried.name} {'in letters' if lettered else 'exactly'}",
    thorough=lambda tried, lettered, form: tried.backward or tried.name in LARGE or form != "html",
)
def test_what_a_page_says_exactly_is_true(tried: Tried, lettered: bool, form: str) -> None:
    if readable(tried) and (beside := exactly(tried, lettered)):
        assert faults(beside, form) == []


WIDE = np.random.default_rng(1).normal(size=(3, 2, 30, 4)).round(2)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "trace", [ac.softmax(WIDE[0, 0].T), ac.attention(*WIDE)], ids=["a wide matrix", "a stack of them"]
)
def test_pieces_of_a_wide_matrix_are_no_equals(trace: Trace) -> None:
    read: dict[str, int] = {}
    assert faults(Beside(trace), "latex", View(everything=True), read) == []
    assert read["matrices"] > len(trace.steps)


@pytest.mark.thorough
def test_the_numbers_of_a_line_have_as_many_digits_as_it_takes() -> None:
    for trace in (
        ac.optimizer([[0.0332, 0.1], [0.1, 0.2]], [0.0, 1.0], kind="adam"),
        ac.euclidean([1e-5, 2e-5], [0, 5e-6]),
        ac.cosine([1e-5, 2e-5], [3e-6, 5e-6]),
        ac.sampling([1e-5, 3e-5, 2e-5, 0, 4e-5], seed=3),  # all are 0.2 to four digits, and one is the largest
        ac.contrastive_loss(*np.random.default_rng(11).normal(size=(2, 3, 3)) * 1e-4).grad(),  # squares of 1e-10
    ):
        assert [fault for form in FORMATS for fault in faults(Beside(trace), form)] == []


@pytest.mark.thorough
def test_a_comparison_with_a_sum_is_no_factor() -> None:
    trace = ac.speculative([[-1, -1, -1, 1]] * 2, [[1, 1, 1, -1]], [0], temperature=0.5, seed=3, exact=True)
    assert [fault for form in FORMATS for fault in faults(Beside(trace), form)] == []


E = sympy.E
POWERS = [
    E ** (1 / E),
    (1 + E) ** (1 / E),
    2 ** sympy.exp(E / 2),
    sympy.sqrt(1 + sympy.exp(sympy.exp(-2))),
    3 ** (E / 9),
]


@pytest.mark.parametrize("power", POWERS, ids=str)
def test_a_power_of_a_power_reads_one_way(power: Any) -> None:
    line = surds.text(power)
    assert number(line) == pytest.approx(complex(power))
    assert number_of_latex(surds.latex(power)) == pytest.approx(complex(power))
    assert number_of_latex(tex.arithmetic(line)) == pytest.approx(complex(power))


TOLD = re.compile(r"(?:^|, |; |where | = )(\S+)(?= = )")
"""What is told in a line: `beta1 = β_1 = 0.9`, `where squares = (scores − average)²; average = mean(scores)`."""


def laid_out(part: Any) -> Iterator[Any]:
    """The blocks of a page, and of the parts in it."""
    for block in part.blocks:
        yield block
        if isinstance(block, Part):
            yield from laid_out(block)


BY_ITSELF = re.compile(r"t|.*\(t\)|.*_last|(word|text)_\d+")
"""Names that say what they are: the time, what follows it, what a turn has handed on, the rows that one table has."""


@pytest.mark.spread
@pytest.mark.parametrize("backward", [None, Backward()], ids=["forward", "backward"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_each_name_in_a_formula_stands_on_the_page(name: str, backward: Backward | None) -> None:
    try:
        trace = solve(of_a_sample(name)._replace(backward=backward))
    except AttncalcError:
        pytest.skip("it has no gradient")
    blocks = [*laid_out(traces.page(trace, View(everything=True)))]
    tables = [block for block in blocks if isinstance(block, Table)]
    lines = [block.text for block in blocks if isinstance(block, Note | Paragraph)]
    known = {table.symbol or table.name for table in tables} | {axis for table in tables for axis in table.axes}
    known |= {sign for line in lines for sign in TOLD.findall(line)}
    known |= {letter for table in tables for letter in re.findall(r"\b[a-z]\b", table.typed)}
    graph, missing = solver.behind(trace), set[str]()
    for step in trace.steps:
        if found := graph.found(step):
            leaves = [leaf for leaf in behind(found[0].sources[0]) if leaf.op in ALONE and leaf.op != "index"]
            own = {spelled(leaf, leaf.args.get("group", "")) for leaf in leaves} - {step.formula, "", "π", "e", "δ"}
            missing |= {sign for sign in own - known if re.search(rf"(?<!\w){re.escape(sign)}(?!\w)", step.formula)}
    assert {sign for sign in missing if not BY_ITSELF.fullmatch(sign)} == set()


_PART = r"0(?:(?:…| \\ldots )\d+)?"
COUNTED = re.compile(
    rf"(?<![^ $])(\w+) = ({_PART}(?:(?: or | \\text{{ or }} ){_PART})*)"
    r"(?:(?: along | \\text\{ along \} )([^;$]+))?(?![^;$])"
)
"""What a letter counts: `p = 0…2 along n`, `k = 0…1`, `h = 0…1 or 0…3`."""


def counted(found: re.Match[str]) -> tuple[str, list[int], str]:
    """A letter, how far it counts in each part, and along which axis."""
    lasts = [int(re.findall(r"\d+", part)[-1]) for part in re.split(" or |{ or }", found[2])]
    return found[1], lasts, found[3] or found[1]


def in_a_word(letter: str, line: str) -> bool:
    return re.search(rf"(?<![^\W_]){letter}(?![^\W_])", line) is not None


@pytest.mark.thorough
@pytest.mark.spread
@rows("tried", ALL, by=lambda tried: tried.name)
def test_each_letter_that_counts_places_is_told(tried: Tried) -> None:
    """By the reason of its step, or once above it: along which axis it counts, and how far."""
    trace = solved(tried)
    graph, known = solver.behind(trace), {step.key: step for step in trace.steps}
    told: dict[str, tuple[list[int], str]] = {}
    for part in laid_out(traces.page(trace, View(everything=True))):
        if not isinstance(part, Part) or part.kind != "step":
            continue
        for block in part.all(Paragraph):
            if block.kind == "where":
                found, drawn = (list(map(counted, COUNTED.finditer(text))) for text in (block.text, block.latex))
                assert [each[:2] for each in found] == [each[:2] for each in drawn]
                assert all(told.get(letter) != (lasts, along) for letter, lasts, along in found), "that was told before"
                told |= {letter: (lasts, along) for letter, lasts, along in found}
        step = known.get(part.heading.key)
        if step is None or not (made := graph.found(step)):
            continue
        formulas, leaves, ahead = [step.formula], list[Node](), [made[0].sources[0]]
        while ahead:
            here = behind(ahead.pop())
            leaves += here
            unseen = [leaf for leaf in here if leaf.op == "step" and not leaf.args["shown"] and leaf.path not in known]
            formulas += map(formula, unseen)
            ahead += [leaf.sources[0] for leaf in unseen]
        for leaf in leaves:
            letter = leaf.args["symbol"] if leaf.op == "index" else ""
            if letter and leaf.args["along"] == Axis(letter, 1) and letter in step.axes:
                continue  # its one place is the heading of the table
            if letter and any(in_a_word(letter, line) for line in formulas) and not in_a_word(letter, step.why):
                lasts, along = told[letter]
                numbers = np.moveaxis(evaluate([leaf], {})[leaf], leaf.names.index(along), 0)
                assert [*numbers.reshape(len(numbers), -1)[:, 0]] in [[*range(last + 1)] for last in lasts], letter
