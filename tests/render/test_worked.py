"""The arithmetic in front of a value, where it says more than the value does."""

from __future__ import annotations

import html
import operator
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np
import pytest
from rows import rows
from solved import page_in
from test_samples import PROBLEMS, posed

import attncalc as ac
from attncalc.common.errors import AttncalcError
from attncalc.language.graph import Node, inside, walk
from attncalc.language.primitive import symbol
from attncalc.record.numbers import texts
from attncalc.record.trace import Entry, Given, Trace
from attncalc.render import View, operand_steps, render
from attncalc.render.entries import _at, cells
from attncalc.render.page import Note, Paragraph, Part, Table
from attncalc.render.traces import options, page, table
from attncalc.render.worked import LONGEST_WORKED, ROW, WORD, WORDS, leading, links, written
from attncalc.solve import asking, solver
from attncalc.solve.problem import Backward, Problem
from attncalc.solve.solver import solve


@pytest.mark.parametrize(
    ("arithmetic", "value", "shown"),
    [
        ("1×1 + 0×0", "1", "1×1 + 0×0"),
        ("0", "0", ""),
        ("−0", "0", ""),
        ("−0.5", "-0.5", ""),
        ("e^(-2)", "e^(-2) ≈ 0.1353", ""),
        ("1 / 2", "1/2 = 0.5", "1 / 2"),
        ("e^0", "1", "e^0"),
        ("", "3", ""),
    ],
)
def test_what_is_the_value_itself_is_not_said_twice(arithmetic: str, value: str, shown: str) -> None:
    assert leading(arithmetic, value) == shown


@pytest.mark.parametrize(
    ("arithmetic", "value", "chain"),
    [
        ("1×1 + 0×0", "1", "1×1 + 0×0 = 1"),
        ("", "3", "3"),
        ("masked", "−∞", "−∞ (masked)"),
        ("all masked", "0", "0 (all masked)"),
        ("a unit vector with A·v = λ·v", "0.7071", "0.7071 (a unit vector with A·v = λ·v)"),
        ("a + b", "3", "a + b = 3"),
        ("π", "3.1416", "π = 3.1416"),
        ("153.0162 > 124.1307", "memory", "memory (153.0162 > 124.1307)"),
    ],
)
def test_words_in_the_place_of_arithmetic_come_behind_the_value(arithmetic: str, value: str, chain: str) -> None:
    assert " = ".join(links(arithmetic, value)) == chain


def in_the_step(trace: Trace, name: str) -> str:
    """The arithmetic that stands in a step."""
    (part,) = (step for part in page(trace, View()).all(Part) for step in part.steps if step.heading.key == name)
    return next((line.arithmetic for line in part.lines), "")


@pytest.mark.parametrize(
    ("entries", "worked"),
    [
        (2, "−(1×0.2689 / 1.3679) − (0×0.7311 / 1.3679)"),
        (6, "−(1×0.0043 / 1.5781)" + "".join(f" − (0×0.{p:04} / 1.5781)" for p in (116, 315, 858, 2331, 6337))),
        (30, "−(1×1.608e-13 / 1.5820) − (0×4.371e-13 / 1.5820) − (0×1.188e-12 / 1.5820) + … − (0×0.6321 / 1.5820)"),
    ],
)
def test_of_many_terms_the_first_and_the_last_are_worked_out_whatever_their_signs(entries: int, worked: str) -> None:
    upstream = np.eye(entries)[0]
    assert in_the_step(ac.softmax(np.arange(entries)).grad(upstream=upstream), "grad_sum") == worked


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_whatever_is_worked_out_has_a_line_in_its_step(name: str, backward: bool) -> None:
    for trace, part in steps_of(name, backward):
        step = trace.find(part.heading.key)
        is_nothing = asking.why_nothing(trace, step).startswith("all 0")  # which is said in place of 0×0.5 = 0
        at = asking.telling(trace, step, {}) if step.formula and not part.lines and not is_nothing else None
        if at is not None:  # it is handed on, or moved
            assert re.fullmatch(f"{WORD}|{WORDS}|", written(asking.arithmetic(trace, step, at))), step.key


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_line_and_the_table_below_it_have_the_same_digits(name: str, backward: bool) -> None:
    for _, part in steps_of(name, backward):
        value = part.one(Table).value
        if value is None or value.dtype.kind != "f":
            continue
        written_ = texts(value)
        for line in part.lines:
            there, here = written_[line.at], line.value
            assert there == here or ("e" not in there + here and float(there) == float(here)), line.text


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_line_takes_few_rows_of_a_page_of_80_columns(name: str, backward: bool) -> None:
    for _, part in steps_of(name, backward):
        rows = 3 if len(part.lines) == 1 else 2
        assert [line.text for line in part.lines if len(line.arithmetic) > 76 * rows] == []


@pytest.mark.spread
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_place_is_named_as_the_table_names_it(name: str) -> None:
    (trace,) = carried_out(name, backward=False)
    for part in (part for parts in page(trace, View()).all(Part) for part in parts.steps):
        table = part.one(Table)
        for line in part.lines:
            for axis, i, word in zip(table.axes, line.at, line.labels, strict=True):
                labels = table.labels.get(axis, ())
                if labels and labels.count(labels[i]) == 1:
                    assert labels[i] in (word.strip('"'), word.removeprefix(f"{axis}=")), line.text


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_place_is_no_number_that_stands_elsewhere_above_the_table(name: str) -> None:
    (trace,) = carried_out(name, backward=False)
    for part in (part for parts in page(trace, View()).all(Part) for part in parts.steps):
        table = part.one(Table)
        for line in part.lines:
            for axis, word in zip(table.axes, line.labels, strict=True):
                labels = table.labels.get(axis, ())
                assert word not in labels or not word.isdigit() or labels[int(word)] == word, line.text
            place = line._replace(name=part.heading.key).place
            assert [found.at for _, found in cells(trace, View(cells=(place,)))] == [line.at]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("schedule", "lr[step=4000] = 512^(-1/2)×min(4000^(-1/2), 4000×4000^(-3/2)) = 6.988e-04"),
        ("derivative", "difference_quotients[h=0.01] = ((2 + 0.01)^3 "),
        ("optimizer-adamw", "second_moment[0] = 0.999×2.5e-04 + (1 − 0.999)×(-0.6)² = 6.1e-04"),
        ("rope-yarn", "frequencies[3] = 0.001×0 + (0.001 / 4)×(1 − 0) = 2.5e-04"),
        ("quantize", "codes[1,2] = round(-2.5) = -2"),
        ("kl", "ratios[3] = 0 / 0.25 = 0"),
        ("likelihood-normal", "maximum_likelihood_estimate[std] = √(((1.2 − (1.2 + 0.8 + 2.1 + 1.5) / 4)² + "),
        ("kl backward", "grad_q[3] = −(0×0 / 0.25) = 0"),
        ("experts", "balance_loss = 3×((2 / 3)×((0.21194 + 0.15536 + 0.46831) / 3) + "),
        # of a line that nobody would follow the parts are told by their values
        ("analogy", "similarities[cat] = (0.1 / √1.46)×(0.8 / √0.69) + "),
        ("rope", "products[1,2] = 2.2232×1.4024 − 0.23913×1.7416 + "),
        ("sampling", "top_p[1] = 0.1125×[0.8310 < 0.95] / 0.9848 = 0.1125 / 0.9848 = 0.1142"),
        ("svd-rank backward", "grad_a[0,1] = 0.3863×0.0499 + 0.9224×(-0.0204) + 2.2233×0.3863×0.5663 + "),
        ("svd-rank backward", "apart[1,0] = 1 / (9.5080² − 0.7729²) = 0.0111"),
        ("eigen backward", "grad_a[1,1] = 0.4714×1×0.7071 + 0.7454×1×0.8944 = 1"),
        ("project-plane", "coefficients[0] = ((1×1 + 1×2 + 0×3)×2 − 1×(0×1 + 1×2 + 1×3)) / (2×2 − 1×1) = 0.3333"),
        ("kl", "terms[3] = 0 (zero times anything counts as zero)"),
        ("kl backward", "grad_ratios[3] = 0 (zero divided by anything counts as zero)"),
        # no difference of equals, and what is decided alone is no arithmetic
        ("flash backward", "grad_v[0,1] = e^(0.70711 − 0.70711)×0.40111 + e^(0 − 0.70711)×0.40111 + "),
        ("linear-attention backward", "grad_q[cat,0] = 0.125×e^min(0, 0) = 0.125 (0 ≤ 0)"),
        ("ssm", "state[cat,0,1] = 0.0625×4 + 8 = 8.25"),
    ],
)
def test_a_line_tells_what_was_done(name: str, line: str) -> None:
    (trace,) = carried_out(name.removesuffix(" backward"), "backward" in name)
    parts = (part for parts in page(trace, View()).all(Part) for part in parts.steps)
    assert any(each.text.startswith(line) for part in parts for each in part.lines)


def test_differences_that_are_squared_and_added_up_are_a_term_each(make: Any) -> None:
    one = make.entry(1)
    line = ("(", one, *(piece for _ in range(5) for piece in (" − ", one, ")² + (", one)), " − ", one, ")²")
    step = make.step("x", 0.0)
    assert in_the_step(make.trace(step, arithmetic={"x": lambda at: line}), "x") == " + ".join(["(1 − 1)²"] * 6)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("t5-bias", "bias[1,2,2] = 0.1 (from table[0,1] and buckets[2,2])"),
        ("sampling", "sorted[3] = 0.0152 (from probabilities[4] and order[3])"),
        ("conv", "windows[1,1,2,2] = 1 (from X[3,3])"),
        ("embed", "embeddings[is,1] = 1 (from E[is,1] and tokens[2])"),
        ("embed backward", "grad_table[the,1] = 1 + 1 = 2"),
        ("multihead", "q_heads[1,is,1] = 3 (from q[is,3])"),
        ("multihead backward", "grad_q[is,2] = 0.1886 (from grad_q_heads[1,is,0])"),
    ],
)
def test_an_entry_that_is_only_moved_tells_where_it_stood_before(name: str, line: str) -> None:
    (trace,) = carried_out(name.removesuffix(" backward"), "backward" in name)
    parts = [part for parts in page(trace, View()).all(Part) for part in parts.steps]
    assert line in [each.text for part in parts for each in part.lines]


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_of_entries_that_are_moved_one_is_told_that_is_not_0(name: str, backward: bool) -> None:
    for _, part in steps_of(name, backward):
        for line in part.lines if len(part.lines) == 1 else ():
            if line.why.startswith("from ") and line.value == "0":
                value = part.one(Table).value
                near = value[tuple(slice(asking.LOOKED_AT) for _ in line.at)] if value is not None else np.empty(0)
                assert not near.any(), line.text


@pytest.mark.parametrize(
    ("name", "given", "step", "formula", "told"),
    [
        ("residual", {"alpha": 0.5}, "scaled", "α·F", "alpha = α = 0.5"),
        ("scaling", {"sigma": 2.0, "dk": (4,)}, "predicted_variance", "d_k·σ^4", "sigma = σ = 2"),
        ("rope-yarn", {}, "frequencies", "unscaled ⊙ kept + (unscaled / factor) ⊙ (1 − kept)", "factor = 4"),
        ("softmax", {"temperature": 2.0}, "scaled", "x / T", "temperature = T = 2"),
        ("attention", {"softcap": 5.0}, "capped", "C·tanh(scaled / C)", "softcap = C = 5"),
        (
            "attention",
            {"window": 2, "causal": True},
            "masked",
            "scaled where (j ≤ i and i − j < W), else −∞",
            "window = W = 2",
        ),
        ("svd-rank", {}, "approximation", "(u ⊙ (s where k < r, else 0))·vt", "rank = r = 1"),
        (
            "experts",
            {"capacity": 1},
            "kept",
            "gates where (1 where j < i, else 0)·routed < capacity, else 0",
            "capacity = 1",
        ),
    ],
)
def test_an_option_has_a_sign_in_formulas_and_the_page_says_its_number(
    name: str, given: dict[str, Any], step: str, formula: str, told: str
) -> None:
    problem = posed(name)
    trace = solve(problem._replace(options={**problem.options, **given}))
    assert trace.find(step).formula == formula
    assert told in options(trace, asking.signs(trace))


@pytest.mark.spread
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_what_stood_there_is_the_same_number(name: str, backward: bool) -> None:
    for trace, part in steps_of(name, backward):
        given = {step.symbol: step for step in operand_steps(trace).values()}
        for line in (line for line in part.lines if line.why.startswith("from ")):
            value = part.one(Table).value
            assert value is not None
            there = []
            for place in line.why.removeprefix("from ").split(" and "):
                name, _, inside = place.removesuffix("]").partition("[")
                group = trace.find(part.heading.key).group
                own = f"{group}/{name}" if f"{group}/{name}" in {step.key for step in trace.steps} else name
                source = given.get(name) or trace.find(own)
                at = _at(inside.split(",") if inside else [], source, table(source, trace, View()))
                there.append(asking.entry_of(trace, source, at) if source.value is None else source.value[at])
            assert any(number == pytest.approx(value[line.at], abs=1e-12) for number in there), line.text


CHOICES = ("beam", "complexity", "complexity-llama", "cross-entropy-weighted", "experts", "ffn", "speculative")
SAYS = {"≤": operator.le, "<": operator.lt, "=": operator.eq, "≥": operator.ge, ">": operator.gt, "≠": operator.ne}


@pytest.mark.thorough
@pytest.mark.parametrize("name", CHOICES)
def test_what_decided_stands_behind_the_value_and_holds_as_it_stands(name: str) -> None:
    problem = posed(name)
    trace = solve(problem._replace(backward=Backward()) if name == "ffn" else problem)
    lines = (line for _, line in cells(trace, View(cells=("all",))))
    told = [found for line in lines if (found := re.search(r" \((\S+) ([≤<=≥>≠]) (\S+)\)$", line.links[-1]))]
    assert told
    for found in told:
        assert SAYS[found[2]](float(found[1]), float(found[3])), found[0]


@pytest.mark.release
@pytest.mark.spread
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_what_is_made_by_a_choice_shows_by_which(name: str, backward: bool) -> None:
    for trace in carried_out(name, backward):
        graph = solver.behind(trace)
        for part in (part for parts in page(trace, View()).all(Part) for part in parts.steps):
            found = graph.found(trace.find(part.heading.key))
            chosen = found and any(inner.row.chooses and compares(inner.sources[0]) for inner in inside(found[0]))
            for line in part.lines if chosen else ():
                if len(written(asking.arithmetic(trace, trace.find(part.heading.key), line.at))) > LONGEST_WORKED - ROW:
                    continue  # it is told by its parts' values
                assert re.search(r"[≤<≥>≠]|[\[(]\S+ = \S+[\])]", line.text), line.text


def compares(condition: Node) -> bool:
    """Whether a choice goes by a comparison: not by a mask that was given, nor by whether a place is another."""
    made = walk(condition, into=lambda node: () if node.op in ("step", "input") else node.sources)
    leaves = [node for node in made if node.op in ("step", "input") or not node.sources]
    signs = {node.op for node in made} & {"less", "less_equal", "equal"}
    return bool(signs) and (signs != {"equal"} or any(leaf.op not in ("index", "constant") for leaf in leaves))


def steps_of(name: str, backward: bool) -> Iterator[tuple[Trace, Any]]:
    """Each step of a page, with the trace that it is of."""
    for trace in carried_out(name, backward):
        yield from ((trace, step) for parts in page(trace, View()).all(Part) for step in parts.steps)


def carried_out(name: str, backward: bool) -> list[Trace]:
    """A sample, forward or backward; none where it has no gradient."""
    problem = posed(name)
    try:
        return [solve(problem._replace(backward=problem.backward or Backward()) if backward else problem)]
    except AttncalcError:
        return []


def test_a_masked_entry_says_what_is_beyond_what() -> None:
    trace = ac.attention([[1, 0], [0, 1]], [[1, 0], [0, 1]], [[1, 2], [3, 4]], causal=True)
    (part,) = (s for part in page(trace, View()).all(Part) for s in part.steps if s.heading.key == "masked")
    assert [line.text for line in part.lines] == ["masked[0,1] = −∞ (masked: 1 > 0)"]


def test_a_row_that_was_used_nowhere_says_so() -> None:
    trace = ac.embed([0, 1, 0], [[1, 2], [3, 4], [5, 6]]).grad()
    worked = written(asking.arithmetic(trace, trace.find("grad_table"), (2, 0)))
    assert links(worked, "0") == ["0 (used nowhere)"]


def test_choices_that_are_counted_are_factors_and_then_numbers() -> None:
    trace = solve(posed("speculative"))
    assert in_the_step(trace, "accepted") == "[0 < 1] + [1 < 1] = 1 + 0"
    (part,) = (s for part in page(trace, View(show=("accepted",))).all(Part) for s in part.steps)
    assert [line.text for line in part.lines] == ["accepted = [0 < 1] + [1 < 1] = 1 + 0 = 1"]


def test_digits_are_written_until_a_comparison_holds() -> None:
    line = (Entry(0.50001, brackets=False), " > ", Entry(0.5, brackets=False))
    assert written(line) == "0.50001 > 0.5"


def test_digits_are_written_until_a_number_of_many_figures_comes_out() -> None:
    a, b = 48461234567.891, 4137.4321
    line = (Entry(a, False), "×", Entry(b, False))
    factors = written(line, result=f"{a * b:.0f}").split("×")
    assert np.prod([*map(float, factors)]) == pytest.approx(a * b, rel=1e-13)


def test_an_entry_that_goes_by_what_rounding_left_says_so() -> None:
    trace = ac.ffn([[0.1, 0.2]], [[1, 2], [1, 0]], [-0.3, 0], [[1, 2], [3, 1]], [0, 0]).grad()
    steps = (step for part in page(trace, View()).all(Part) for step in part.steps)
    (part,) = (step for step in steps if step.heading.key == "grad_hidden")
    told = "grad_hidden[0,0] goes by what rounding left of a 0: 5.551e-17 > 0"
    assert [note.text for note in part.all(Note)] == [told]


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_no_line_is_written_with_what_rounding_left_over(name: str, backward: bool) -> None:
    problem = posed(name)
    if backward:
        problem = problem._replace(backward=problem.backward or Backward())
    try:
        trace = solve(problem)
    except AttncalcError:  # it has no gradient
        return
    for step in islice(trace.steps, 60):
        if asking.is_worked_out(trace, step) and 0 not in step.shape:
            at = asking.telling(trace, step, {}) or (0,) * len(step.shape)
            for place in {at, (0,) * len(step.shape)}:
                line = asking.arithmetic(trace, step, place)
                sizes = [abs(float(piece.value)) for piece in line if isinstance(piece, Entry)]
                largest = max(sizes, default=0.0)
                assert not [size for size in sizes if 0 < size < 1e-14 * min(largest, 1)], (step.key, place)


def test_of_entries_that_come_about_in_several_ways_one_without_zeros_is_worked_out() -> None:
    weights = [[1, 0, 0, 1, 0, 1, 1, 0], [0, 1, 1, 0, 1, 0, 0, 1]]
    trace = ac.rnn([[1, 0], [0, 1]], weights, weights, kind="lstm")
    assert in_the_step(trace, "time step 1/gates") == "1 / (1 + e^(−1))"  # and not e^(−0)


def test_of_a_sparse_table_an_entry_is_worked_out_that_is_made_of_something() -> None:
    trace = ac.bpe(corpus="yz:2 az:1 xyz:3", merges=1)
    assert in_the_step(trace, trace.find("merge 1/pairs").key) == "2 + 3"


def said_to_be_the_same(trace: Trace) -> set[tuple[str, str]]:
    steps = [step for parts in page(trace, View(everything=True)).all(Part) for step in parts.steps]
    said = [(step.heading.key, *step.one(Table).stand_in.partition("the same numbers as ")) for step in steps]
    return {(key, other) for key, _, prefix, other in said if prefix}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "pair", "is_said"),
    [
        ("kv-cache", ("token 1/weights", "token 1/scores"), False),  # a softmax of one 1 is 1
        ("attention-rope", ("k_rotated", "q_rotated"), False),  # k is q here
        (
            "preference-loss-ppo backward",
            ("grad_held", "grad_bounded"),
            False,
        ),  # the advantage is 1 where they are not 0
        ("descend-valley", ("iteration 96/first_corrected", "iteration 96/first_moment"), False),  # to four decimals
        ("latent-attention", ("absorbed/scores", "scores"), True),
        ("rope", ("rotated_norms", "norms"), True),
        ("sampling", ("shares", "top_p"), True),
        (
            "chebyshev backward",
            ("grad_absolute", "grad_a, the result"),
            False,
        ),  # the largest difference is positive here
        ("chebyshev backward", ("grad_difference", "grad_a, the result"), True),
        ("residual backward", ("norm/grad_variance", "norm/grad_standard_deviation"), False),  # all 0, as each says
    ],
)
def test_what_is_the_same_by_chance_is_not_said_to_be(name: str, pair: tuple[str, str], is_said: bool) -> None:
    (trace,) = carried_out(name.removesuffix(" backward"), "backward" in name)
    assert (pair in said_to_be_the_same(trace)) == is_said


@pytest.mark.spread
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_where_the_same_numbers_stand_is_told_truly(name: str, backward: bool) -> None:
    """`below` of what stands further down, in the result; of what stands above by its name alone."""
    for trace in carried_out(name, backward=backward):
        steps = [step for part in page(trace, View()).all(Part) for step in part.steps]
        keys = [step.heading.key for step in steps]
        for i, step in enumerate(steps):
            told = step.one(Table).stand_in.removeprefix("the same numbers as ")
            if told != step.one(Table).stand_in and told != "the result":
                other, _, where = told.partition(", ")
                assert keys.index(other) != i
                assert where == "the result" or (keys.index(other) > i) == bool(where), told


@pytest.mark.spread
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_any_other_entry_is_another_one_and_is_there(name: str, backward: bool) -> None:
    """The last line says how to see an entry that is not worked out above it."""
    for trace in carried_out(name, backward=backward):
        shown = page(trace, View())
        for told in (block.text for block in shown.all(Paragraph) if block.text.startswith("Any other entry")):
            place = told.split("'")[1]
            assert place not in [line.place for part in shown.all(Part) for line in part.lines]
            assert [line.place for _, line in cells(trace, View(cells=(place,)))] == [place.replace('"', "")]


@pytest.mark.spread
@pytest.mark.parametrize("name", PROBLEMS)
def test_gradients_that_are_all_0_say_why(name: str) -> None:
    for trace in carried_out(name, backward=True):
        slopes = [output.value for output in trace.outputs if output.value is not None]
        if all(value.dtype.kind == "f" and np.allclose(value, 0, atol=1e-9) for value in slopes):
            assert any("the gradient of every operand is 0" in note for note in trace.notes)


@pytest.mark.spread(4)
@pytest.mark.parametrize("format", ["table", "html", "markdown", "latex"])
@pytest.mark.parametrize(
    ("name", "upstream"), [("softmax", "1 0 0"), ("encoder-block", "1 0 0 0; 0 0 0 0; 0 0 0 0")], ids=["vector", "rows"]
)
def test_the_page_says_so_in_its_first_lines_and_what_shows_more(name: str, upstream: str, format: str) -> None:
    (trace,) = carried_out(name, backward=True)
    text = html.unescape(str(render(trace, format, View(width=400))))
    above = text[text.rindex(trace.summary) :][:2_000]
    assert (above.count("the gradient of every operand is 0"), above.count(upstream)) == (1, 1)
    given = Given(np.squeeze([[float(entry) for entry in row.split()] for row in upstream.split(";")]))
    problem = trace.problem
    assert isinstance(problem, Problem)
    other = solve(problem._replace(inputs={**problem.inputs, "upstream": given}))
    assert all(output.value is not None and not np.allclose(output.value, 0) for output in other.outputs[:1])


OWN = {"π", "e", "u", "a", "b", "c"}
"""What is no option: numbers of one name, a draw, and the coefficients of Muon's quintic, which its reason gives."""


@pytest.mark.spread
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_sign_of_an_option_is_given_with_its_name(name: str, backward: bool) -> None:
    for trace in carried_out(name, backward):
        (given,) = (part for part in page(trace, View()).all(Part) if part.kind == "given")
        chosen = [note.text.split(" = ") for note in given.all(Note)]
        signs = {sign for option, *between, number in chosen for sign in (option, *between)}
        numbers = [node for node in walk(*solver.behind(trace).named) if node.op == "constant"]
        names = {symbol(node) for node in numbers if node.args["symbol"]}
        assert isinstance(trace.problem, Problem)
        assert names - OWN <= signs | set(trace.problem.calculation.defaults)


@pytest.mark.spread
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_how_many_heads_an_axis_is_made_of_is_given_with_the_letter(name: str, backward: bool) -> None:
    for trace in carried_out(name, backward):
        made = {axis for step in trace.steps for axis in step.axes if axis.startswith("(")}
        letters = {axis.strip("()").split()[0] for axis in made}
        told = {sign for words in options(trace, asking.signs(trace)) for sign in words.split(" = ")[1:-1]}
        assert letters <= told | {axis for given in trace.inputs.values() for axis in given.axes}


@pytest.mark.thorough
@rows("name", PROBLEMS)
def test_a_word_that_was_given_stands_there_as_it_was_given(name: str) -> None:
    for trace in carried_out(name, False):
        told = dict(words.rpartition(" = ")[::2] for words in options(trace, asking.signs(trace)))
        assert isinstance(trace.problem, Problem)
        usual = trace.problem.calculation.defaults
        for option, value in trace.options.items():
            if isinstance(value, str) and value != usual.get(option):
                assert told[option] == value


@pytest.mark.spread
@pytest.mark.parametrize("name", PROBLEMS)
def test_each_option_that_was_given_is_told(name: str) -> None:
    for trace in carried_out(name, False):
        told = {words.partition(" = ")[0] for words in options(trace, asking.signs(trace))}
        assert isinstance(trace.problem, Problem)
        assert trace.problem.options.keys() <= told


@pytest.mark.parametrize(
    ("trace", "told"),
    [
        (lambda: ac.pairwise([[1, 2], [3, 4]]), []),
        (lambda: ac.pairwise([[1, 2], [3, 4]], metric="cosine-similarity"), ["metric = cosine-similarity"]),
        (lambda: ac.norm([3, 4]), []),
        (lambda: ac.minkowski([1, 2], [3, 4]), ["p = 3"]),  # its reason says: the larger p
        (lambda: ac.attention([[1, 0]], [[1, 0]], [[1]]), []),
    ],
    ids=["default", "given", "unspoken", "spoken of", "many"],
)
def test_a_usual_option_is_told_where_it_was_given_or_is_spoken_of(trace: Any, told: list[str]) -> None:
    made = trace()
    assert options(made, asking.signs(made)) == told


def test_why_a_step_is_0_is_said_and_not_entry_by_entry() -> None:
    (trace,) = carried_out("rnn-gru", backward=False)
    steps = {step.heading.key: step for part in page(trace, View()).all(Part) for step in part.steps}
    first, second = (steps[f"time step {at}/from_state"] for at in (1, 2))
    assert [block.text for block in first.all(Paragraph) if block.kind == "about"] == ["all 0, since h_0 is 0"]
    assert (len(first.lines), len(second.lines)) == (0, 6)


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_gradient_that_is_one_number_all_over_is_no_table(name: str) -> None:
    """But for the result's."""
    for trace in carried_out(name, backward=True):
        for part in page(trace, View()).all(Part):
            for step in part.steps if part.kind == "steps" else ():
                table, value = step.one(Table), step.one(Table).value
                if trace.find(step.heading.key).gradient_of is None or value is None or value.size < 2:
                    continue
                is_one = bool(np.all(value == value.flat[0]))
                told = f"all {texts(value.reshape(-1))[0].strip()}"
                assert table.stand_in.startswith(told) == is_one, step.heading.key


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (lambda: ac.norm([1e-200, -1e-200]), "numbers so small are 0 in floats"),
        (lambda: ac.dot([1e-200, 1e-200], [1e-200, -1e-200]), "numbers so small are 0 in floats"),
        (lambda: ac.dot([1e-200, 0], [0, -1e-200]), "one factor is 0 wherever another is not"),
        (lambda: ac.norm([0, 0]), "a is 0"),
    ],
)
def test_what_is_0_only_since_it_is_so_small_is_told_so(found: Any, why: str) -> None:
    assert f"all 0, since {why}\n" in page_in("table", found())


def test_a_gradient_that_is_one_number_in_one_way_is_worked_out_once() -> None:
    trace = solve(posed("cross-entropy")._replace(backward=Backward()))
    page = page_in("table", trace, View(width=80))
    assert "   grad_losses[0] = 1 / 3 = 0.3333\n\n   all 0.3333\n" in page
    assert "grad_losses[1] = 1 / 3" in page_in("table", trace, View(width=80, detail="full"))


def test_why_a_gradient_is_0_is_said_once_and_not_entry_by_entry() -> None:
    (trace,) = carried_out("bayes", backward=True)
    steps = {step.heading.key: step for part in page(trace, View()).all(Part) for step in part.steps}
    assert steps["grad_joint"].one(Table).stand_in == "all 0, since its terms cancel"
    assert steps["grad_joint"].lines[0].text == "grad_joint[0] = 1 / 0.305 + (-3.2787) = 0"
    assert steps["grad_likelihood"].one(Table).stand_in == "all 0, since ∂L/∂joint is 0"
    assert steps["grad_likelihood"].lines == steps["grad_prior"].lines == []
    assert page_in("table", trace, View(width=80)).count("all 0, since ∂L/∂joint is 0") == 2  # of the result, too


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_lines_beside_a_table_say_more_than_the_table(name: str, backward: bool) -> None:
    for _, part in steps_of(name, backward):
        if part.lines and part.one(Table).shape:
            assert any(line.arithmetic or line.why for line in part.lines), part.heading.key


def test_what_a_condition_is_as_a_factor_is_told_where_there_is_one() -> None:
    told = "A comparison, as [a < b], is 1 where it holds, and 0 where it does not."
    pages = [page_in("table", solve(posed(name)), View(width=80)) for name in ("sampling", "softmax")]
    assert [told in each for each in pages] == [True, False]


@pytest.mark.parametrize(
    ("trace", "said"),
    [
        (lambda: ac.scaling(dk=[4, 16]), ["dk = d_k = 4,16", "sigma = σ = 1"]),
        (lambda: ac.complexity(n=8, d_model=8, heads=4), "heads = h = 4"),
        (lambda: ac.complexity(n=8, d_model=8), "heads = h = 8"),
        (lambda: ac.complexity(n=8, model="llama-2-7b"), "heads = h = 32"),
    ],
    ids=["dk", "heads", "heads by default", "heads of a model"],
)
def test_an_option_is_named_once(trace: Any, said: list[str] | str) -> None:
    made = trace()
    shown = options(made, asking.signs(made))
    assert said == shown if isinstance(said, list) else [each for each in shown if each[:2] in ("he", "h ")] == [said]


@pytest.mark.spread
@pytest.mark.parametrize("name", PROBLEMS)
def test_zeros_alone_come_to_nothing_but_zero(name: str) -> None:
    """√0 is 0: where squares are too small for floats, and a norm is found all the same, no line says otherwise."""
    problem = posed(name)
    tiny = {
        operand: given._replace(value=given.value * 1e-200, written=None) if given.value.dtype.kind == "f" else given
        for operand, given in problem.inputs.items()
    }
    own = dict(problem.options) | ({"eps": 0} if "eps" in problem.settled else {})
    with suppress(AttncalcError):
        for line in page_in("plain", solve(problem._replace(inputs=tiny, options=own))).splitlines():
            *_, work, value = ["", "", *line.split(" = ")]
            if re.fullmatch(r"[0. √()+−×/-]+", work) and re.fullmatch(r"-?[0-9.]+(e-?[0-9]+)?", value):
                assert float(value) == 0, line


@pytest.mark.parametrize(
    "found",
    [
        lambda: ac.norm([1e-200, -1e-200]),
        lambda: ac.cosine([1e-200, 1e-200], [1e-200, 2e-200]),
        lambda: ac.euclidean([1e-200, 0], [0, 1e-200]),
        lambda: ac.rmsnorm([[1e-200, 1e-200]], eps=0),
    ],
)
def test_what_is_made_of_zeros_alone_says_what_they_stand_for(found: Any) -> None:
    told = "made of what is too small for floats"
    for form in ("table", "plain", "markdown", "html", "latex"):
        page = page_in(form, found())
        assert "√0 = 1" not in page
        assert "0 / 0 = " not in page
        assert told in page, form
