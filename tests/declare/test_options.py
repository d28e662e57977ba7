"""Options: each value against its declaration, with the words of the command line in every error."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkpoints import NAMES, computed
from rows import rows

import attncalc as ac
from attncalc.calculations import TABLE, load
from attncalc.common.errors import OptionError, either, flag, with_facts
from attncalc.declare.calculation import assignments, checked
from attncalc.declare.operands import Option, Range

SAMPLES = Path(__file__).parents[2] / "samples"
ATTENTION, CROSS_ENTROPY, NORM, SOFTMAX, PAIRWISE = (
    load(name) for name in ("attention", "cross-entropy", "norm", "softmax", "pairwise")
)


@pytest.mark.parametrize(
    ("calculation", "name", "value", "read"),
    [
        pytest.param(ATTENTION, "causal", True, True, id="a switch"),
        pytest.param(ATTENTION, "causal", np.True_, True, id="NumPy's switch"),
        pytest.param(ATTENTION, "scale", "none", "none", id="a word of a number-or-word"),
        pytest.param(ATTENTION, "scale", 0.5, 0.5, id="its number"),
        pytest.param(ATTENTION, "scale", np.float32(0.5), 0.5, id="NumPy's number"),
        pytest.param(ATTENTION, "scale", np.array(0.5), 0.5, id="an array of one number without axes"),
        pytest.param(ATTENTION, "padding", np.array(2), (2,), id="the same as one of several"),
        pytest.param(ATTENTION, "scale", "1/2", 0.5, id="a number as one writes it"),
        pytest.param(ATTENTION, "scale", "-1/3", Fraction(-1, 3), id="a fraction as one writes it"),
        pytest.param(ATTENTION, "scale", "1/sqrt(4)", 0.5, id="a root as one writes it"),
        pytest.param(ATTENTION, "window", 3, 3, id="a whole number"),
        pytest.param(ATTENTION, "window", 3.0, 3, id="one written as a float"),
        pytest.param(ATTENTION, "window", np.int64(3), 3, id="NumPy's whole number"),
        pytest.param(ATTENTION, "window", "3", 3, id="a whole number as one writes it"),
        pytest.param(ATTENTION, "window", "3.0", 3, id="one with a point"),
        pytest.param(ATTENTION, "window", "1e3", 1000, id="one in powers of ten"),
        pytest.param(CROSS_ENTROPY, "base", "2", 2, id="a number of a number-or-word"),
        pytest.param(CROSS_ENTROPY, "base", "e", "e", id="its word"),
        pytest.param(ATTENTION, "window", None, None, id="nothing, where nothing may be"),
        pytest.param(ATTENTION, "scale", None, "default", id="nothing, where there is a default"),
        pytest.param(ATTENTION, "padding", (2, 3), (2, 3), id="several"),
        pytest.param(ATTENTION, "padding", [2, 3], (2, 3), id="a list"),
        pytest.param(ATTENTION, "padding", "2, 3", (2, 3), id="a list as one writes it"),
        pytest.param(ATTENTION, "padding", np.array([2, 3]), (2, 3), id="an array"),
        pytest.param(ATTENTION, "padding", [[2], [3]], (2, 3), id="a column"),
        pytest.param(ATTENTION, "padding", np.array([[2], [3]]), (2, 3), id="an array of one column"),
        pytest.param(ATTENTION, "padding", [[2, 3]], (2, 3), id="a row"),
        pytest.param(ATTENTION, "padding", "2; 3", (2, 3), id="a column as one writes it"),
        pytest.param(ATTENTION, "padding", " 2  3", (2, 3), id="a list with blanks"),
        pytest.param(ATTENTION, "padding", "[2, 3]", (2, 3), id="a list in brackets"),
        pytest.param(ATTENTION, "rope_short_factor", "1/2; sqrt(4)", (0.5, 2), id="a column of fractions and roots"),
        pytest.param(ATTENTION, "padding", 2, (2,), id="one of several"),
        pytest.param(ATTENTION, "padding", np.int64(2), (2,), id="NumPy's one of several"),
        pytest.param(ATTENTION, "causal_align", "end", "end", id="a word"),
        pytest.param(NORM, "p", "inf", "inf", id="the word inf"),
        pytest.param(NORM, "p", float("inf"), "inf", id="the number inf"),
        *(pytest.param(NORM, "p", each, "inf", id=each) for each in ("Infinity", "INF", "+inf", "∞", "+Infinity")),
        pytest.param(NORM, "p", 3, 3, id="a whole number where any will do"),
    ],
)
def test_what_fits_is_taken(calculation: Any, name: str, value: Any, read: Any) -> None:
    found = checked(calculation, {name: value})[name]
    assert found == read
    assert type(found) is type(read)


@pytest.mark.parametrize(
    ("calculation", "name", "value", "said", "hint"),
    [
        pytest.param(ATTENTION, "causal", "yes", '--causal must be true or false, not "yes"', "", id="a switch"),
        pytest.param(ATTENTION, "causal", 1, "--causal must be true or false, not 1", "", id="1 is no switch"),
        pytest.param(
            ATTENTION, "scale", "nonee", "--scale must be a number, default or none", "none", id="a near miss"
        ),
        pytest.param(ATTENTION, "scale", True, "--scale must be", "", id="a switch for a number"),
        pytest.param(ATTENTION, "scale", float("nan"), "--scale must be", "", id="no number at all"),
        pytest.param(ATTENTION, "scale", float("inf"), "--scale must be", "", id="too large a number"),
        pytest.param(ATTENTION, "scale", 10**400, "--scale must be", "", id="a whole number beyond floats"),
        pytest.param(ATTENTION, "window", 2.5, "--window must be a whole number, not 2.5", "", id="half a key"),
        pytest.param(ATTENTION, "window", "2.5", "--window must be a whole number, not 2.5", "", id="half as text"),
        pytest.param(ATTENTION, "window", "three", '--window must be a whole number, not "three"', "", id="a numeral"),
        pytest.param(ATTENTION, "window", "", '--window must be a whole number, not ""', "", id="nothing"),
        pytest.param(ATTENTION, "window", "inf", '--window must be a whole number, not "inf"', "", id="no end"),
        pytest.param(ATTENTION, "window", "٣", '--window must be a whole number, not "٣"', "", id="another script"),
        pytest.param(ATTENTION, "window", "1_0", '--window must be a whole number, not "1_0"', "", id="an underscore"),
        pytest.param(ATTENTION, "padding", "2,,3", '--padding must be a whole number, not ""', "", id="a hole"),
        pytest.param(
            ATTENTION,
            "causal_align",
            "\x1b[2J",
            r'--causal-align must be start or end, not "\x1b[2J"',
            "",
            id="an escape",
        ),
        pytest.param(ATTENTION, "padding", "2,x", '--padding must be a whole number, not "x"', "", id="a list as text"),
        pytest.param(ATTENTION, "window", [3], "--window must be a whole number", "", id="a list of one"),
        pytest.param(ATTENTION, "padding", "1,2;3,4", '--padding must be a whole number, not "2;3"', "", id="a matrix"),
        pytest.param(ATTENTION, "padding", [[1, 2], [3, 4]], "--padding must be a whole number, not", "", id="lists"),
        pytest.param(ATTENTION, "padding", (2, 2.5), "--padding must be a whole number", "", id="one of several"),
        pytest.param(ATTENTION, "padding", object(), "--padding must be a whole number", "", id="no list"),
        pytest.param(ATTENTION, "causal_align", "ends", "--causal-align must be start or end", "end", id="a word"),
        pytest.param(NORM, "p", float("-inf"), "--p must be a number or inf", "", id="minus infinity"),
        pytest.param(PAIRWISE, "metric", "euclid", "--metric must be", "euclidean", id="a metric"),
        pytest.param(ATTENTION, "causual", True, "attention has no operand or option 'causual'", "causal", id="a name"),
    ],
)
def test_what_does_not_is_refused_in_one_line(calculation: Any, name: str, value: Any, said: str, hint: str) -> None:
    with pytest.raises(OptionError) as error:
        checked(calculation, {name: value})
    assert str(error.value).startswith(said)
    assert "\n" not in str(error.value)
    assert hint in error.value.hint


def test_a_flag_has_dashes_where_the_name_has_underscores() -> None:
    option = ATTENTION.option("mask_before_scale")
    assert isinstance(option, Option)
    assert option.flag == "--mask-before-scale"


def test_options_that_were_not_given_are_not_invented() -> None:
    assert checked(SOFTMAX, {}) == {}
    assert SOFTMAX.defaults == {"axis": -1, "temperature": 1, "log": False}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-1/4", Fraction(-1, 4)),
        ("x=3", {"x": 3}),
        ("x=3,y=-1", {"x": 3, "y": -1}),
        (" x = 3 ; y=sqrt(4) ", {"x": 3, "y": 2}),
        ("b=1/3 a=0.1", {"b": Fraction(1, 3), "a": 0.1}),
    ],
)
def test_assignments_are_numbers_by_their_names(text: str, value: object) -> None:
    found = assignments(text, "--at")
    assert found == value
    if isinstance(value, dict):
        assert isinstance(found, dict)
        assert [*found] == [*value]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x=3,4", '"4" without a name'),
        ("x=1,x=2", "twice"),
        ("x=", "no number"),
        ("x=y", "not a number"),
        ("", "no number"),
    ],
)
def test_assignments_that_are_none(text: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        assignments(text, "--at")


class TestRanges:
    """The numbers that an option may be: declared once, checked, and told in the help."""

    @pytest.mark.parametrize(
        ("limits", "inside", "outside", "words"),
        [
            (Range(), [-1e300, 0, 1e300], [], ""),
            (Range(at_least=1), [1, 2], [0, 0.999], "at least 1"),
            (Range(above=0), [5e-324], [0, -1], "greater than 0"),
            (Range(at_least=0, at_most=1), [0, 0.5, 1], [-1e-9, 1.000001], "from 0 to 1"),
            (Range(at_least=0, below=1), [0, 0.999], [1, -1e-9], "from 0 up to, not including, 1"),
            (Range(at_most=3), [3, -5], [3.5], "at most 3"),
        ],
        ids=str,
    )
    def test_what_lies_within(self, limits: Range, inside: list[float], outside: list[float], words: str) -> None:
        assert all(map(limits.holds, inside))
        assert not any(map(limits.holds, outside))
        assert str(limits) == words

    @rows(
        ("name", "option"),
        [(name, o) for name in TABLE for o in load(name).options if o.range != Range()],
        ids=lambda each: each if isinstance(each, str) else each.name,
    )
    def test_what_lies_outside_is_refused_by_its_flag(self, name: str, option: Option) -> None:
        lowest = option.range.at_least if option.range.above is None else option.range.above
        assert lowest is not None
        with pytest.raises(OptionError, match=rf"^{option.flag} must be {option.range}, not -?\d"):
            checked(load(name), {option.name: lowest - 1})
        assert with_facts(option.help, "8", str(option.range)).endswith(f" (8; {option.range})")

    @rows(
        ("name", "option"),
        [(name, o) for name in TABLE for o in load(name).options if o.range != Range() and not o.range.holds(0)],
        ids=lambda each: each if isinstance(each, str) else each.name,
    )
    def test_who_writes_0_is_told_to_leave_out_only_what_may_be(self, name: str, option: Option) -> None:
        with pytest.raises(OptionError) as refused:
            checked(load(name), {option.name: 0})
        if refused.value.hint == f"without {option.flag} there is none":
            assert option.default is None
            assert "if not given" not in option.help
            assert option.name not in ("n", "m", "d", "steps", "rate", "std", "d_ffn", "block", "decay")

    @rows("name", TABLE)
    def test_every_default_lies_within(self, name: str) -> None:
        for option in load(name).options:
            given = option.default if isinstance(option.default, tuple) else (option.default,)
            assert all(option.range.holds(number) for number in given if isinstance(number, int | float)), option.name

    def test_each_of_several_is_looked_at(self) -> None:
        with pytest.raises(OptionError, match="--stride must be at least 1, not 0"):
            checked(load("conv"), {"stride": (1, 0)})

    def test_a_prefix_stays_in_the_flag(self) -> None:
        with pytest.raises(OptionError, match="--rope-base must be greater than 0, not -2"):
            checked(ATTENTION, {"rope_base": -2})


OF_LENGTH = "has no effect without --rope-scaling dynamic, --rope-scaling longrope or --rope-scaling yarn"


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        (
            "attention",
            {"causal_align": "end"},
            "--causal-align has no effect without --causal, --window, --bias or --rope",
        ),
        ("attention", {"causal_align": "end", "causal": True}, None),
        ("attention", {"causal_align": "end", "bias": "alibi"}, None),
        ("attention", {"causal_align": "start"}, None),
        ("attention", {"mask_kind": "drop"}, "--mask-kind has no effect without --mask"),
        ("attention", {"mask_kind": "drop", "mask": [[0, 0], [1, 0]]}, None),
        ("attention", {"rope": True, "rope_length": 9}, f"--rope-length {OF_LENGTH}"),
        (
            "attention",
            {"rope": True, "rope_length": 9, "rope_scaling": "linear", "rope_factor": 2},
            f"--rope-length {OF_LENGTH}",
        ),
        (
            "attention",
            {"rope": True, "rope_length": 9, "rope_scaling": "yarn", "rope_factor": 2, "rope_original_length": 4},
            "yarn goes by the factor that is given, so the length of the text has no effect",
        ),
        (
            "attention",
            {"rope": True, "rope_length": 9, "rope_scaling": "yarn", "rope_original_length": 4},
            None,
        ),
    ],
)
def test_an_option_that_says_nothing_is_told(name: str, options: dict[str, Any], told: str | None) -> None:
    trace = getattr(ac, name)([[1.0, 0.0], [0.0, 1.0]], **options)
    assert [note for note in trace.notes if "has no effect" in note] == ([told] if told else [])


@pytest.mark.parametrize(
    ("name", "operands", "options", "told"),
    [
        ("layernorm", {"x": [[1, 2]]}, {"norm_offset": 1}, "--norm-offset has no effect without --gamma"),
        ("rmsnorm", {"x": [[1, 2]]}, {"norm_offset": 1}, "--norm-offset has no effect without --gamma"),
        ("rmsnorm", {"x": [[1, 2]], "gamma": [1, 2]}, {"norm_offset": 1}, None),
        (
            "preference-loss",
            {"new": [-1, -2], "old": [-1, -3], "advantages": [1, -1]},
            {"kind": "ppo", "beta": 0.3},
            "--beta has no effect without --kind dpo or --kind grpo",
        ),
        (
            "rope",
            {"x": [[1, 2, 3, 4]]},
            {"scaling": "yarn", "factor": 2, "original_length": 8, "mscale": 2},
            "--mscale has no effect without --mscale-all-dim",
        ),
    ],
)
def test_so_is_one_of_other_calculations(
    name: str, operands: dict[str, Any], options: dict[str, Any], told: str | None
) -> None:
    notes = load(name)(**operands, **options).notes
    assert [note for note in notes if "has no effect" in note] == ([told] if told else [])


@pytest.mark.parametrize("sample", ["encoder-block", "decoder-block"])
def test_an_offset_of_gains_is_told_where_a_block_has_none(sample: str) -> None:
    held = json.loads((SAMPLES / f"{sample}.json").read_text())
    gains = [o.name for o in load(sample).operands if "gamma" in o.name]
    notes = load(sample)(**held["inputs"], **held["options"] | {"norm_offset": 1}).notes
    assert f"--norm-offset has no effect without {either(map(flag, gains))}" in notes


@pytest.mark.parametrize(
    ("option", "value", "without"),
    [
        ("start", 1, "--kind encoder-decoder"),
        ("window_layers", (0,), "--window or --local-rope-base"),
        ("head_activation", "relu", "logits/dense/weights"),
    ],
)
def test_so_is_what_a_model_is_made_without(option: str, value: Any, without: str) -> None:
    told = computed("gpt2", **{option: value})
    assert f"{flag(option)} has no effect without {without}" in told.notes
    assert np.array_equal(told.result, computed("gpt2").result)


@pytest.mark.spread
@pytest.mark.parametrize("name", NAMES)
def test_nothing_that_a_model_says_of_itself_is_without_effect(name: str) -> None:
    assert not [note for note in computed(name).notes if "has no effect" in note]


def test_a_mixture_of_other_names_goes_with_the_whole() -> None:
    """Options in a bundle have its prefix, and what they go with has it only where that is one of them."""
    notes = ac.complexity(experts_top=4, latent_queries=8).notes
    assert "--experts-top has no effect without --experts" in notes
    assert "--latent-queries has no effect without --latent-width" in notes
