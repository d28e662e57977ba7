"""What there is to know of a calculation: its reference card, and what a teacher would say beside its steps.

Nothing here is written a second time: formulas, costs and gradients come from the graph of the calculation's sample,
options from its declaration, laws and mistakes from what is declared beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice, zip_longest

import numpy as np

from attncalc.calculations import DERIVATIVES, default_word, shape_words, value_word
from attncalc.common.errors import NoGradient, flag
from attncalc.common.system import grouped
from attncalc.declare.calculation import Calculation
from attncalc.declare.mistake import names
from attncalc.declare.operands import UPSTREAM, Operand, Option
from attncalc.evaluate import cost
from attncalc.homework.diagnosis.key import known
from attncalc.inputs.problem_files import sample_problem
from attncalc.language import primitive
from attncalc.language.graph import given, rewrite, steps
from attncalc.record.card import Card, OperandLine, OptionLine, StepLine
from attncalc.record.trace import Given, Lesson, Pitfall, Step, Trace
from attncalc.solve.problem import Backward, Problem, Written, problem_of, told_apart
from attncalc.solve.solver import solve, write

LONGEST = 90  # characters of a formula that is still read as one
TINY = 1e-9  # what is left by rounding of gradients that are 0
MOST_MISTAKES = 8  # that are told below a result


def card(name: str) -> Card:
    """The reference card of the calculation called `name`, or of its derivative: "grad attention"."""
    problem = _example(name)
    calculation = problem.calculation
    written, trace = write(problem), solve(problem)
    roots = written.roots if written.loop is None else written.loop.steps
    costs = cost.by_step(node for node in steps(*roots) if node.args["shown"])
    formula, latex = _whole(written)
    gradient, no_gradient = ((), "") if problem.backward else _gradient(problem)
    everything = cost.total(each.flops for each in costs.values())
    known = Card(
        calculation=name,
        summary=calculation.summary,
        about=paragraphs(calculation),
        formula=formula,
        latex=latex,
        operands=tuple(map(_operand, calculation.operands)),
        steps=tuple(_folded(trace.steps, costs)),
        options=tuple(map(_option, calculation.options)),
        laws=tuple(calculation.laws),
        turn=written.loop.turn if written.loop else "",
        flops=str(everything),
        flops_here=int(everything),
        uncounted=tuple(key for key, each in costs.items() if not each.whole),
        mistakes=mistakes_of(calculation.name),
        gradient=gradient,
        no_gradient=no_gradient,
        sample=trace,
        reference=calculation.reference,
    )
    return _differentiated(known, name.partition(" ")[0]) if problem.backward else known


def _example(name: str) -> Problem:
    """The problem in the sample of the calculation called `name`, or that of its derivative."""
    calculation, backward = told_apart(name)
    problem = sample_problem(calculation)
    inputs = {operand: each._replace(source="") for operand, each in problem.inputs.items()}
    problem = problem._replace(inputs=inputs, backward=backward)
    if backward is None or backward.jacobian:
        return problem
    found = [o.value for o in solve(problem).outputs if o.value is not None]
    if any(np.any(np.abs(value) > TINY) for value in found):
        return problem
    return problem._replace(inputs=inputs | {UPSTREAM.name: _first_alone(problem)})


def _first_alone(problem: Problem) -> Given:
    """An upstream gradient if ones give 0, as when rows sum to a constant: the loss is the result's first entry."""
    upstream = np.zeros([axis.size for axis in write(problem).result.axes])
    upstream.flat[0] = 1
    return Given(upstream)


def _differentiated(known: Card, derivative: str) -> Card:
    """The card of a derivative: with what it takes besides, and only the mistakes that are made in its own steps."""
    summary, own = DERIVATIVES[derivative]
    steps = {step.name for step in known.sample.steps if step.gradient_of is not None}
    upstream = known.sample.inputs.get(UPSTREAM.name)
    told = f"{UPSTREAM.help}; ones if not given"
    arriving = [_operand(UPSTREAM)._replace(shape=f"[{', '.join(upstream.axes)}]", help=told)] if upstream else []
    taken = [OptionLine(flag(name), takes, "", says, "") for name, (takes, says) in own.items()]
    return known._replace(
        summary=f"{summary.format(problem_of(known.sample).calculation.name)} {known.summary}",
        operands=(*known.operands, *arriving),
        options=(*known.options, *taken),
        mistakes=tuple(mistake for mistake in known.mistakes if not steps.isdisjoint(mistake.at)),
    )


def explained(trace: Trace) -> Trace:
    """The trace with what a teacher would say: below each step, and of the whole."""
    calculation = problem_of(trace).calculation
    told: set[str] = set()
    lessons = {}
    for step in trace.steps:
        new = tuple(text for text in step.about if text not in told)
        told.update(new)
        lessons[step.key] = new
    mistakes = _told(mistakes_of(calculation.name), [*trace.inputs, *(step.name for step in trace.steps)])
    return trace._replace(lesson=Lesson(paragraphs(calculation), lessons, tuple(calculation.laws), tuple(mistakes)))


def mistakes_of(name: str) -> tuple[Pitfall, ...]:
    """The mistakes that are declared beside a calculation, the commonest first."""
    found = (m for m in known(name) if m.kind in ("misconception", "convention") and not m.alias_of)
    return tuple({m.id: Pitfall(m.id, m.says, m.hint, m.at) for m in found}.values())


def _told(mistakes: Iterable[Pitfall], steps: Iterable[str]) -> Iterable[Pitfall]:
    """The mistakes that these steps may have: the commonest of each step, then the next one of each, and so on."""
    places: dict[str, list[Pitfall]] = {step: [] for step in (*steps, "")}
    for mistake in mistakes:
        place = next((at for word in mistake.at for at in places if names(word, at)), None if mistake.at else "")
        if place is not None:
            places[place].append(mistake)
    rounds = zip_longest(*places.values())
    return islice(filter(None, chain.from_iterable(rounds)), MOST_MISTAKES)


def paragraphs(calculation: Calculation) -> tuple[str, ...]:
    """The calculation's docstring below its first line, a paragraph each."""
    _, *more = calculation.doc.split("\n\n")
    return tuple(" ".join(part.split()) for part in more)


def _option(option: Option) -> OptionLine:
    return OptionLine(option.flag, value_word(option), default_word(option), option.help, str(option.range))


def _operand(operand: Operand) -> OperandLine:
    node = given(operand.name, (), operand.symbol)
    symbol, latex = primitive.symbol(node), primitive.symbol(node, "latex")
    return OperandLine(operand.name, symbol, latex, shape_words(operand), operand.required, operand.help)


def _whole(written: Written) -> tuple[str, str]:
    """The result as one formula of the operands, as text and as LaTeX; none if it would be too long."""
    if written.loop is not None:
        return "", ""
    (result,) = rewrite(written.outputs[:1], lambda node: node.sources[0] if node.op == "step" else None)
    text = primitive.formula(result)
    return (text, primitive.formula(result, "latex")) if len(text) <= LONGEST and "…" not in text else ("", "")


def _gradient(problem: Problem) -> tuple[tuple[StepLine, ...], str]:
    """The steps of the backward pass, or why there are none."""
    try:
        trace = solve(problem._replace(backward=Backward()))
    except NoGradient as error:
        return (), error.message
    return tuple(_folded([step for step in trace.steps if step.gradient_of is not None], {})), ""


def _folded(found: Sequence[Step], costs: Mapping[str, cost.Cost]) -> Iterable[StepLine]:
    """The steps; if parts are worked out alike (heads, tokens, layers, turns), the last one stands for all."""
    alike = grouped(found, lambda step: (re.sub(r"\d+", "#", step.group), step.name))
    shown = {same[-1].key: [step.group for step in same[:-1]] for same in alike.values()}
    for step in found:
        if step.key in shown:
            yield _line(step, shown[step.key], costs)


def _line(step: Step, likewise: Iterable[str], costs: Mapping[str, cost.Cost]) -> StepLine:
    found = costs.get(step.key) or costs.get(step.key.partition("/")[2])  # a turn's steps are counted once
    return StepLine(
        name=step.name,
        group=step.group,
        likewise=tuple(likewise),
        symbol=step.symbol,
        symbol_latex=step.symbol_latex,
        formula=step.formula,
        latex=step.latex,
        axes=step.axes,
        why=step.why,
        flops=str(found.flops) if found and found.whole else "",
        flops_here=int(found.flops) if found else 0,
    )
