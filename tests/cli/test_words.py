"""Options and operands are told apart, and every way of misspelling an option has its line."""

from __future__ import annotations

import pytest

from attncalc.cli.command import option, switch
from attncalc.cli.words import sort_words
from attncalc.errors import OptionError

OPTIONS = [
    option("causal", "", section=""),
    option("scale", "", value="NUMBER"),
    option("causal_align", "", value="start|end"),
    option("q", "", value="Q"),
    option("digits", "", value="N", short="-d"),
    option("show", "", value="NAMES", multiple=True),
    switch("quiet", "", short="-q"),
]


def sort(line: str) -> tuple[list[str], list[str]]:
    return sort_words(line.split("_"), OPTIONS, "attncalc attention")


SORTED = {
    "operands alone": ("a.json_b.json", "", "a.json b.json"),
    "standard input": ("-_b.json", "", "- b.json"),
    "a part of standard input": ("-#k_--q_-#q[0]", "--q=-#q[0]", "-#k"),
    "a number below zero": ("-1_2", "", "-1 2"),
    "a vector that begins with a minus": ("-1,2_3,4", "", "-1,2 3,4"),
    "a matrix that begins with a minus": ("-1,2;3,4", "", "-1,2;3,4"),
    "minus infinity": ("-inf,0", "", "-inf,0"),
    "minus a half": ("-1/2", "", "-1/2"),
    "minus a root": ("-sqrt(2)", "", "-sqrt(2)"),
    "minus a decimal without a zero": ("-.5,1", "", "-.5,1"),
    "a complex number": ("-i,i_--scale_-j,j", "--scale=-j,j", "-i,i"),
    "letters in rows, the first below zero": ("-a;b_[-a]", "", "-a;b [-a]"),
    "a value below zero with a slip in it": ("--scale_-sqrt2,2", "--scale=-sqrt2,2", ""),
    "a formula that begins as a switch does": ("-q**2", "", "-q**2"),
    "a number below zero with a slip in it": ("-1x,2", "", "-1x,2"),
    "a formula that begins with a minus": ("-x^2", "", "-x^2"),
    "a switch between operands": ("a_--causal_b", "--causal", "a b"),
    "a switch turned off": ("--no-causal_a", "--no-causal", "a"),
    "a value behind a blank": ("--scale_2_a", "--scale=2", "a"),
    "a value behind an equals sign": ("--scale=2_a", "--scale=2", "a"),
    "a value below zero": ("--scale_-1/2_a", "--scale=-1/2", "a"),
    "a value from standard input": ("--q_-", "--q=-", ""),
    "a value with an equals sign in it": ("--q=a=b.json", "--q=a=b.json", ""),
    "an empty value": ("--scale=_a", "--scale=", "a"),
    "a short option": ("-d_3_a", "--digits=3", "a"),
    "a short option and its value in one": ("-d3", "--digits=3", ""),
    "a short option and an equals sign": ("-d=3", "--digits=3", ""),
    "short options in one": ("-qd3", "-q --digits=3", ""),
    "a short switch and an operand below zero": ("-q_-3", "-q", "-3"),
    "a repeated list": ("--show_a_--show_b", "--show=a --show=b", ""),
    "a repeated switch": ("--causal_--no-causal", "--causal --no-causal", ""),
    "everything behind two hyphens": ("--causal_--_--scale_-x", "--causal", "--scale -x"),
}


@pytest.mark.parametrize(("line", "options", "operands"), SORTED.values(), ids=SORTED)
def test_words_are_sorted(line: str, options: str, operands: str) -> None:
    assert sort(line) == (options.split(), operands.split())


def test_what_follows_the_first_operand_can_be_left_alone() -> None:
    words = ["-q", "cosine", "--nothing", "-1"]
    assert sort_words(words, OPTIONS, "attncalc", up_to="COMMAND") == (["-q"], words[1:])


def test_two_hyphens_before_the_first_operand_end_the_options() -> None:
    assert sort_words(["--", "cosine", "-d"], OPTIONS, "attncalc", up_to="COMMAND") == ([], ["cosine", "-d"])


FAULTS = {
    "a near miss": ("--casual", "attncalc attention has no option --casual", "did you mean --causal"),
    "an underscore": ("--causal=align", "--causal is a switch and takes no value", "leave out =align"),
    "nothing near": ("--zzzzzz", "attncalc attention has no option --zzzzzz", "attncalc attention --help lists"),
    "a list for a short one": ("-x=1,2", "attncalc attention has no option -x", "attncalc attention --help lists"),
    "a short one that is long": ("-s_1", "attncalc attention has no option -s", "attncalc attention --help lists"),
    "a value that is missing": ("--scale", "--scale needs a value", "write --scale NUMBER"),
    "a short option's value": ("a_-d", "-d needs a value", "write -d N"),
    "an option for a value": (
        "--scale_--causal",
        "--scale needs a value, but --causal is an option",
        "--scale=--causal",
    ),
    "the end of options for a value": ("--scale_--_a", "--scale needs a value, but -- is an option", "--scale=--"),
    "a switch with a value": ("--causal=yes", "--causal is a switch and takes no value", "leave out =yes"),
    "a short switch with a value": ("-q=1", "-q is a switch and takes no value", "leave out =1"),
    "two values": ("--scale_1_--scale_2", '--scale is given twice: "1" and "2"', ""),
    "two values, short and long": ("-d_1_--digits_2", '--digits is given twice: "1" and "2"', ""),
    "a dash from a web page": (
        "–causal",
        '"–causal" begins with a dash that is not a hyphen',
        "did you mean --causal?",
    ),
    "a dash from an editor": ("—scale=2", '"—scale" begins with a dash that is not a hyphen', "did you mean --scale?"),
    "a bar from a word processor": ("―q_1", '"―q" begins with a dash that is not a hyphen', "did you mean --q?"),
    "an escape": ("--\x1b[2J", r"attncalc attention has no option --\x1b[2J", ""),
    "three hyphens": ("---causal", "attncalc attention has no option ---causal", "did you mean --causal"),
}


@pytest.mark.parametrize(("line", "message", "hint"), FAULTS.values(), ids=FAULTS)
def test_faults_are_said(line: str, message: str, hint: str) -> None:
    with pytest.raises(OptionError) as caught:
        sort(line)
    assert caught.value.message == message
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("--causal_align", "did you mean --causal-align?"),
        ("-q1", "attncalc attention --help lists its options"),
    ],
    ids=["an underscore for a hyphen", "a number behind a switch"],
)
def test_faults_of_one_word_are_said(word: str, hint: str) -> None:
    with pytest.raises(OptionError) as caught:
        sort_words([word], OPTIONS, "attncalc attention")
    assert caught.value.hint == hint


def test_an_option_before_the_command_is_sent_behind_it() -> None:
    with pytest.raises(OptionError) as caught:
        sort_words(["-f", "json"], OPTIONS, "attncalc", up_to="COMMAND")
    assert caught.value.hint == "an option follows the name that it belongs to: attncalc COMMAND … -f"
