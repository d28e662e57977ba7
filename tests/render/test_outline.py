"""Long calculations: an outline in the place of their steps, parts that open by patterns, and no page of 300 lines."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from itertools import combinations, pairwise

import pytest
from solved import page_in
from test_samples import PROBLEMS, posed

import attncalc as ac
from attncalc.common.errors import AttncalcError, NoGradient
from attncalc.common.system import samples_folder
from attncalc.record.trace import Trace, alike
from attncalc.render import View, shown, traces
from attncalc.render.page import Paragraph, Part, Points, Rows, Table
from attncalc.render.traces import is_backward
from attncalc.solve import asking
from attncalc.solve.problem import Backward
from attncalc.solve.solver import solve

MOST_LINES = 300
MOST_ALIKE = 3  # steps of one page with one reason: queries, keys and values


@cache
def transformer() -> Trace:
    return solve(posed("transformer"))


@cache
def traced(name: str, backward: bool) -> Trace | None:
    """A sample worked out, forward or backward; None where it has no gradient."""
    problem = posed(name)
    if backward and problem.backward is None:
        problem = problem._replace(backward=Backward())
    try:
        return solve(problem)
    except (NoGradient, AttncalcError):
        assert backward, "every sample can be worked out"
        return None


of_every_sample = pytest.mark.parametrize(
    ("name", "backward"),
    [pytest.param(name, back, id=f"grad {name}" if back else name) for name in PROBLEMS for back in (False, True)],
)


@pytest.mark.spread
@of_every_sample
def test_no_page_of_a_sample_is_longer_than_can_be_read(name: str, backward: bool) -> None:
    if trace := traced(name, backward):
        for form, width in (("table", 40), ("table", 80), ("table", 160), ("plain", None), ("markdown", None)):
            assert page_in(form, trace, View(width=width)).count("\n") <= MOST_LINES, (form, width)


@pytest.mark.thorough
@pytest.mark.spread
@of_every_sample
def test_what_one_types_stays_whole_on_a_narrow_page(name: str, backward: bool) -> None:
    if trace := traced(name, backward):
        wide = set(re.findall(r"--(?:show|cell) (?:'.*?'|\S+)", page_in("table", trace, View(width=200))))
        for width in (40, 80):
            page = page_in("table", trace, View(width=width))
            torn = [command for command in wide if command not in page and len(command) < width - 4]
            assert [command for command in torn if command in " ".join(page.split())] == []
            assert "--show" not in page or all(command in page for command in torn if "--show" in command)


@pytest.mark.spread
@of_every_sample
def test_no_line_of_a_narrow_page_begins_with_what_belongs_to_the_line_above(name: str, backward: bool) -> None:
    if trace := traced(name, backward):
        page = page_in("table", trace, View(width=40))
        assert re.findall(r"^ *[\])²ᵀ,;].*", page, re.MULTILINE) == []


@pytest.mark.release
@pytest.mark.spread
@of_every_sample
def test_no_formula_says_that_a_thing_is_itself(name: str, backward: bool) -> None:
    if trace := traced(name, backward):
        page = page_in("table", trace, View(width=200, everything=True))
        assert re.findall(r"^ *\d+  \S+ = (.*) = \1(?: = .*)?$", page, re.MULTILINE) == []


@pytest.mark.spread
@of_every_sample
def test_no_line_says_that_a_number_is_itself(name: str, backward: bool) -> None:
    if trace := traced(name, backward):
        page = page_in("table", trace, View(width=200, everything=True)).replace("−", "-")
        assert re.findall(r"^.*= (-?[\d.]+) = \1$", page, re.MULTILINE) == []


@pytest.mark.spread
@of_every_sample
def test_no_table_is_drawn_twice(name: str, backward: bool) -> None:
    """A stack, whose matrices have headings, may hold one twice; and so may two steps that are alike by chance."""
    if trace := traced(name, backward):
        page = traces.page_or_outline(trace, View(width=80))
        steps = [step for part in page.all(Part) for step in part.steps]
        drawn = [(step.heading.key, step.one(Table)) for step in steps if step.kind == "step"]
        assert [key for key, table in drawn if table.stand_in == f"the same numbers as {key}, the result"] == []
        pairs = [
            (one, other)
            for (one, a), (other, b) in combinations([(key, table) for key, table in drawn if not table.stand_in], 2)
            if a.shape == b.shape != () and a.labels == b.labels and alike(a.value, b.value)
        ]
        lasting = asking.same_whatever(trace, pairs)
        assert [pair for pair, lasts in zip(pairs, lasting, strict=True) if lasts] == []


@pytest.mark.spread
@of_every_sample
def test_no_reason_is_given_again_and_again(name: str, backward: bool) -> None:
    """Steps of one name, in the groups of a loop, are there for one reason."""
    if trace := traced(name, backward):
        said = Counter(why for _, why in {(step.name, step.why) for step in trace.steps} if why)
        assert {why: count for why, count in said.items() if count > MOST_ALIKE} == {}


@pytest.mark.parametrize("name", ["kv-cache", "rnn", "optimizer-adamw", "quantize-mxfp4"])
def test_a_part_that_comes_again_does_not_repeat_its_reasons(name: str) -> None:
    trace = solve(posed(name))
    page = " ".join(page_in("table", trace, View(width=80)).split())
    of = Counter(
        why for _, why in {(step.name, step.why) for step in trace.steps if re.fullmatch(r".* \d", step.group)}
    )
    told = {why: names for why, names in of.items() if not any(why in other for other in of if other != why)}
    assert {why: page.count(why) for why in told} == told


def test_a_part_that_is_shown_alone_tells_its_reasons() -> None:
    trace = solve(posed("kv-cache"))
    page = " ".join(page_in("table", trace, View(width=80, show=("token 2/*",))).split())
    assert [step.why for step in trace.steps if step.group == "token 2" and step.why not in page] == []


@pytest.mark.parametrize(
    ("pattern", "layers"),
    [
        ("encoder 1/*", {"encoder 1"}),
        ("token 2/decoder 1/norm1/*", {"decoder 1"}),
        ("tokens", set()),
        ("source/*,token 1/*", {"decoder 1"}),
    ],
)
def test_above_a_part_that_is_shown_alone_stands_what_its_layers_were_given(pattern: str, layers: set[str]) -> None:
    page = traces.page(transformer(), View(show=tuple(pattern.split(","))))
    (given,) = ([t.name for t in part.all(Table)] for part in page.blocks if getattr(part, "kind", "") == "given")
    assert {name.rpartition("/")[0] for name in given} == {"", *layers}
    assert {"source", "embedding"} <= set(given)


@pytest.mark.release
@pytest.mark.spread
@pytest.mark.parametrize("name", PROBLEMS)
def test_no_two_parts_have_one_name(name: str) -> None:
    """A part comes again in the backward pass, and says so."""
    trace = traced(name, True)
    if trace is None:
        return
    is_told = any(step.group and step.gradient_of is not None for step in trace.steps)
    whole = View(width=80, everything=True)
    for form, heading in (
        ("table", r"^── (.*) ──$"),
        ("markdown", r"^## (.*)$"),
        ("html", r"<h2>(.*?)<"),
        ("latex", r"^.subsubsection\*\{(.*)\}$"),
    ):
        parts = re.findall(heading, page_in(form, trace, whole), re.MULTILINE)
        assert len(parts) == len(set(parts)), form
        assert any(part.endswith(", backward") for part in parts) == is_told, form
    listed = re.findall(r"^  (\S.*?)  +--show (\S+|'.*?')  ", page_in("table", trace, View(width=200)), re.MULTILINE)
    assert len({part for part, _ in listed}) == len({words for _, words in listed}) == len(listed)
    for part, words in listed:
        opened = [step for _, step in shown(trace, View(show=(words.strip("'"),)))]
        assert "*" not in words or {is_backward(step, trace) for step in opened} == {part.endswith(", backward")}


def test_training_has_no_part_that_comes_again() -> None:
    page = page_in("table", traced("mlp-classes", False) or pytest.fail("it trains"), View(width=200))
    assert "step 2, backward" not in page
    assert "  step 2    --show 'step 2/*'    17 steps" in page


@pytest.mark.parametrize("name", ["experts", "speculative", "latent-attention", "optimizer-muon", "beam", "optimizer"])
def test_more_levels_are_offered_where_there_are_some(name: str) -> None:
    trace = traced(name, False) or pytest.fail("it has a page")
    usual, deeper = (page_in("table", trace, View(width=200, depth=depth)) for depth in (None, 5))
    assert ("--depth N" in usual) == (usual.replace("--depth N lists the parts in it, ", "") != deeper)


def test_where_all_is_in_one_part_its_steps_are_listed() -> None:
    page = page_in("table", traced("optimizer-muon", False) or pytest.fail("it has a page"), View(width=200))
    assert "  2 step 1/blend         --show 'step 1/blend'  " in page
    assert "In this order" not in page


@pytest.mark.thorough
def test_words_that_would_take_three_lines_stand_below() -> None:
    page = page_in("table", traced("decoder-block", True) or pytest.fail("it has a gradient"), View(width=80))
    assert "  norm1, backward            --show 'norm1/grad_*'\n      6 steps → grad_mean [2]: all 0" in page


@pytest.mark.thorough
def test_a_long_page_lists_its_parts_with_what_comes_of_each_and_what_opens_it() -> None:
    page = page_in("table", transformer(), View(width=200))
    assert "  encoder 1   --show 'encoder 1/*'  29 steps → norm2/output 4×4: lowest -1.7747 at [cat,2]\n" in page
    assert "  token 1     --show 'token 1/*'    54 steps → next_token: le 0.9598, then ici 0.0351\n" in page
    assert "source → encoder 1 → memory → token 1 → " in page


@pytest.mark.spread
@of_every_sample
def test_an_outline_has_fewer_parts_than_steps_or_speaks_of_none(name: str, backward: bool) -> None:
    if trace := traced(name, backward):
        for steps, parts in re.findall(r"Outline: (\d+) steps in (\d+) part", page_in("table", trace, View(width=80))):
            assert int(parts) < int(steps)


@pytest.mark.thorough
def test_of_a_part_that_is_0_no_place_is_called_the_largest() -> None:
    page = page_in("table", traced("decoder-block", True) or pytest.fail("it has a gradient"), View(width=200))
    assert re.search(r" grad_wo +4×4: all 0, but for rounding\n", page)
    assert re.search(r" grad_wq +4×4: all 0\n", page)
    assert "4 entries of grad_x are 0 but for rounding, and shown as 0: their terms cancel" in page


@pytest.mark.thorough
@pytest.mark.parametrize("form", ["table", "plain", "markdown"])
def test_each_of_these_opens(form: str) -> None:
    page = page_in(form, transformer(), View())
    assert "--show 'token 5/*'" in page
    assert "the centre of the token's own features" not in page
    assert "the centre of the token's own features" in page_in(form, transformer(), View(everything=True))
    opened = page_in(form, transformer(), View(show=("token 5/*",)))
    assert "[token 5]" in opened.replace("\\", "")
    assert "the centre of the token's own features" in opened
    assert "'token 5/decoder 1/*'" in page_in(form, transformer(), View(depth=2))


@pytest.mark.parametrize(
    ("pattern", "count", "first"),
    [
        ("token 5/*", 54, "token 5/target/embeddings"),
        ("token 5", 54, "token 5/target/embeddings"),
        ("*/logits", 5, "token 1/logits"),
        ("token */next_token", 5, "token 1/next_token"),
        ("**/weights", 11, "encoder 1/self-attention/weights"),
        ("token 2/**/weights", 2, "token 2/decoder 1/self-attention/weights"),
        ("*/*/weights", 1, "encoder 1/self-attention/weights"),
        ('"token 1"/*', 54, "token 1/target/embeddings"),
        ("**/memory", 1, "memory"),
    ],
)
def test_patterns_pick_parts(pattern: str, count: int, first: str) -> None:
    found = [step.key for _, step in shown(transformer(), View(show=(pattern,)))]
    assert (len(found), found[0]) == (count, first)


def test_what_fits_nothing_and_what_fits_several_are_told() -> None:
    with pytest.raises(AttncalcError, match=r"no step fits 'tokn\*/weights'"):
        shown(transformer(), View(show=("tokn*/weights",)))
    with pytest.raises(AttncalcError, match="weights occurs in several groups: encoder 1") as fault:
        shown(transformer(), View(show=("weights",)))
    assert "all 11 by --show '**/weights'" in str(fault.value.hint)


def test_the_word_that_is_picked_tells_how_close_it_was() -> None:
    page = page_in("plain", transformer(), View(show=("token 1/next_token",)))
    assert "by the softmax of these scores: le 0.9598, ici 0.0351, chien 0.0021, chat 0.0011" in page


@pytest.mark.spread
@of_every_sample
def test_no_part_is_opened_that_stands_on_the_page(name: str, backward: bool) -> None:
    """In its place, what is drawn below is said to be there."""
    if trace := traced(name, backward):
        made = traces.page_or_outline(trace, View(width=80))
        rows = [
            row
            for part in made.all(Part)
            for rows in part.all(Rows)
            if rows.head[1:2] == ("opened by",)
            for row in rows.rows
        ]
        drawn = [step.heading.key for part in made.all(Part) if part.kind == "result" for step in part.steps]
        opened = {
            row.cells[0].split(" ", 1)[-1] if row.cells[0][:1].isdigit() else row.cells[0]: row.cells[1] for row in rows
        }
        assert {opened[key] for key in drawn if key in opened} <= {"(below)"}


def test_of_a_part_that_is_one_number_no_place_is_called_the_largest() -> None:
    page = page_in("table", traced("encoder-block", True) or pytest.fail("it has a gradient"), View(width=200))
    assert re.search(r" grad_output +--show grad_output +3×4: all 1\n", page)


@pytest.mark.thorough
def test_on_a_narrow_page_words_stand_below_names_that_are_long_and_a_gap_is_one_line() -> None:
    page = page_in("table", traced("batchnorm", True) or pytest.fail("it has a gradient"), View(width=40))
    assert (
        "\n  normalized → centered\n        dividing by a number divides the\n        gradient by it as well\n" in page
    )
    assert "\n  …\n      iterations 6 to 94 are left out;" in page_in(
        "table", solve(posed("descend-valley")), View(width=40)
    )


@pytest.mark.parametrize(("name", "beside"), [("experts", False), ("ssm", True), ("latent-attention", True)])
def test_what_comes_of_the_parts_stands_below_all_where_most_are_torn(name: str, beside: bool) -> None:
    page = page_in("table", traced(name, True) or pytest.fail("it has a gradient"), View(width=80))
    assert ("  part | opened by | what comes of it\n" not in page) == beside


def test_of_places_the_first_are_told_and_not_the_largest() -> None:
    page = page_in("table", solve(posed("experts")), View(width=100, depth=1))
    assert re.search(r"3 chosen +\(below\) +3×2: 2, 0, 1, 2, 0, 1\n", page)


@pytest.mark.spread
@of_every_sample
def test_what_is_called_the_largest_or_the_lowest_is(name: str, backward: bool) -> None:
    if trace := traced(name, backward):
        told = re.findall(r" --show (\w+) +\S+: (largest|lowest) (\S+) at", page_in("table", trace, View()))
        for key, which, number in told:
            value = trace[key]
            assert float(number) == pytest.approx((value.max if which == "largest" else value.min)(), abs=1e-4), key


@pytest.mark.thorough
def test_what_opens_a_part_stands_on_the_narrowest_page() -> None:
    page = page_in("table", solve(posed("encoder-block")._replace(backward=Backward())), View(width=40))
    assert "  norm1\n    --show 'norm1/*'\n" in page


@pytest.mark.thorough
@pytest.mark.parametrize("width", [40, 60, 80])
def test_every_word_that_was_close_is_told_in_order_on_a_narrow_page(width: int) -> None:
    page = page_in("table", transformer(), View(width=width))
    told = page[page.index("How close it was") : page.index("━━ result")]
    assert re.findall(r"(?m)le 0.9598 +ici 0.0351\s+chien 0.0021\s+chat 0.0011", told)
    assert "more column" not in told


def test_names_of_columns_that_stand_below_one_another_are_one_line() -> None:
    page = page_in("table", transformer(), View(width=40))
    below = dict(pair for pair in pairwise(page.splitlines()))
    assert below["In this order"].strip() == "in | follow one another"
    assert below["Outline: 304 steps in 9 parts"].strip() == "part | opened by | what comes of it"
    assert below["How close it was"].strip() == "picked | 2. | 3. | 4."


def test_above_an_outline_the_weights_of_layers_are_counted() -> None:
    trace = transformer()
    above = page_in("table", trace, View(width=40)).partition("In this order")[0]
    operands = above.partition("\n  source, ")[2].partition(" heads = ")[0]  # before it is a path
    assert operands.count("\n") <= 8
    told = " ".join(above.split())
    for layer in ("encoder 1", "decoder 1"):
        own = [given.value.size for name, given in trace.inputs.items() if name.startswith(f"{layer}/")]
        assert f"{layer}: {len(own)} arrays with {sum(own)} numbers," in told
        assert f"{layer}/" not in told


@pytest.mark.spread
@pytest.mark.parametrize("name", PROBLEMS)
def test_gradients_stand_in_the_order_of_the_steps_and_operands_are_called_as_in_formulas(name: str) -> None:
    try:
        trace = solve(posed(name)._replace(backward=Backward()))
    except AttncalcError:
        pytest.skip("it has no gradient")
    page = traces.page_or_outline(trace, View())
    numbers = [part.heading.number for part in page.all(Part) if part.kind == "step" and part.heading.number]
    assert numbers == sorted(numbers)
    (chains, *_) = [
        *(part.one(Points).points for part in page.all(Part) if part.heading.text == "What depends on what"),
        (),
    ]
    begun = {chain.text.split(" → ")[0] for chain in chains}
    assert begun.isdisjoint(name for name, given in trace.inputs.items() if given.symbol not in ("", name))


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["rnn-tanh", "flash", "kv-cache"])
def test_a_rule_by_which_several_gradients_come_back_is_said_once(name: str) -> None:
    page = traces.page(solve(posed(name)._replace(backward=Backward())), View())
    (rules,) = (part.one(Points).points for part in page.all(Part) if part.heading.text.startswith("Back on several"))
    assert len({rule.words for rule in rules}) == len(rules)


@pytest.mark.spread
@pytest.mark.parametrize("name", PROBLEMS)
def test_rules_that_stand_above_the_steps_are_not_said_in_one_again(name: str) -> None:
    try:
        trace = solve(posed(name)._replace(backward=Backward()))
    except AttncalcError:
        pytest.skip("it has no gradient")
    page = traces.page(trace, View())
    above = [part for part in page.all(Part) if part.heading.text.startswith("Back on several")]
    rules = [point.words for part in above for point in part.one(Points).points]
    reasons = [block.text for parts in page.all(Part) for step in parts.steps for block in step.all(Paragraph)]
    several = [text for text in reasons if text.startswith("what comes back from ") and " is added up; " in text]
    assert [text for text in several if any(rule in text for rule in rules)] == []


def shortened(steps: int, *, keep_all: bool = False) -> Trace:
    """A descent of so many updates; its turns are one more."""
    problem = posed("descend")
    return solve(problem._replace(options={**problem.options, "steps": steps, "flow": True}), keep_all=keep_all)


@pytest.mark.release
@pytest.mark.parametrize(
    ("steps", "said"),
    [(11, ""), (12, "iteration 6 is left out"), (13, "iterations 6 to 7 are left out"), (50, "iterations 6 to 44")],
)
def test_turns_that_are_left_out_are_told_where_they_would_stand(steps: int, said: str) -> None:
    trace = shortened(steps)
    views = [("table", View(show=("**",))), ("table", View(depth=1)), ("table", View(depth=2))]
    for form, view in [*views, *((form, View()) for form in ("plain", "markdown", "latex", "html"))]:
        text = page_in(form, trace, view)
        assert (said in text) if said else ("left out" not in text), form
        if said:
            assert text.index("iteration 5") < text.index(said) < text.rindex(f"iteration {steps - 5}"), form


def test_a_turn_that_is_left_out_is_told_to_who_asks_for_it() -> None:
    trace = shortened(50)
    for ask in (lambda: trace["iteration 30/point"], lambda: shown(trace, View(show=("iteration 30/*",)))):
        with pytest.raises(AttncalcError) as told:
            ask()
        assert told.value.hint == "iterations 6 to 44 are left out; --all (in Python keep_all=True) keeps every one"
    with pytest.raises(AttncalcError) as told:
        trace.find("iteration 60/point")
    assert "left out" not in told.value.hint


def test_a_layer_that_the_backward_pass_comes_to_twice_has_one_row() -> None:
    trace = ac.load(samples_folder() / "tiny-llama")([3, 1, 4]).grad()
    made = traces.page_or_outline(trace, View(width=80))
    (listed,) = (rows for part in made.all(Part) for rows in part.all(Rows) if rows.caption == "the parts")
    parts = [row.cells[0] for row in listed.rows]
    assert "layer 1, backward" in parts
    assert sorted(parts) == sorted({*parts})


@pytest.mark.spread
@of_every_sample
def test_only_where_turns_are_left_out_is_anything_told_of_it(name: str, backward: bool) -> None:
    if trace := traced(name, backward):
        told = any(re.search(r"the first \d+ and the last \d+ are shown", note) for note in trace.notes)
        assert bool(trace.gaps) == told


def test_a_row_for_each_turn_is_promised_only_where_it_stands() -> None:
    for steps in (3, 50):
        table = shortened(steps).find("iterations")
        assert table.why.endswith("a row for each") == (table.shape[0] == steps + 1)


def test_a_step_that_no_page_shows_is_named_by_none() -> None:
    for step in shortened(3).steps:
        assert not re.search(r"x_\d", step.formula + step.latex), step.key


def test_a_long_row_of_parts_shows_where_one_is() -> None:
    trace = shortened(50, keep_all=True)
    text = " ".join(page_in("table", trace, View(show=("iteration 30/point",), width=200)).split())
    assert "all iteration 0 → … → iteration 29 → [iteration 30] → iteration 31 → … → iteration 50" in text


GREEK = "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|rho|sigma|tau|phi|chi|psi|omega"


@pytest.mark.spread
@pytest.mark.parametrize("name", PROBLEMS)
def test_what_formulas_call_otherwise_is_said_where_it_is_given(name: str) -> None:
    trace = solve(posed(name))
    page = page_in("table", trace, View(width=80, everything=True))
    for operand, given in trace.inputs.items():
        if given.symbol and given.symbol.replace("_", "").casefold() != operand.replace("_", "").casefold():
            assert f"\n  {operand} = {given.symbol}" in page
    assert re.findall(rf"\b(?:{GREEK})\b", " ".join(step.formula for step in trace.steps)) == []


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("encoder-block", "output[the,1] = norm2/normalized[the,1] = -2.7051 / 2.0928 = -1.2926"),
        ("decoder-only", "output[the,1] = residual2[the,1] = 1.6330 + (-0.5499) = 1.0831"),
        ("optimizer", "point[0] = step 4/point[0] = 0.5798 + 0.0881 = 0.6679"),
        ("transformer", "memory[the,2] = encoder 1/norm2/output[the,2] = 1.2×0.62223 + (-0.1) = 0.6467"),
    ],
)
def test_a_result_of_an_outline_that_is_handed_on_shows_how_it_came_about(name: str, line: str) -> None:
    """As its own entry: it is the one that it was handed on from, and comes about like that."""
    page = page_in("table", solve(posed(name)), View(width=80)).partition("━━ result")[2]
    assert line in " ".join(page.split())


def test_one_chain_of_parts_needs_no_table() -> None:
    page = page_in("table", solve(posed("encoder-block")), View(width=40))
    assert "In this order\n  · self-attention → residual1 → norm1\n    → feed-forward" in page
    assert "  in  " in page_in("table", transformer(), View(width=80))


@pytest.mark.parametrize("name", ["contrastive-loss", "experts"])
def test_the_numbers_of_steps_stand_below_one_another(name: str) -> None:
    trace = solve(posed(name)._replace(backward=Backward()))
    listed = page_in("table", trace, View(width=160)).partition("what comes of it")[2].partition("━━ result")[0]
    assert len({len(number) for number in re.findall(r"^( *\d+) ", listed, re.MULTILINE)}) == 1
