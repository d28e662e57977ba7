"""Options and operands are told apart, and every way of misspelling an option has its line."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from conftest import Run
from rows import rows

from attncalc.calculations import ALIASES, TABLE, load
from attncalc.cli.command import Words, made
from attncalc.cli.settings import Arithmetic, Marking, Shown, chosen, option, switch
from attncalc.cli.solving import solve_and_show
from attncalc.common.errors import AttncalcError, OptionError
from attncalc.inputs.problem_files import sample_problem
from attncalc.inputs.reading import Reading
from attncalc.render import TABLE as FORMATS


def attention(
    words: Annotated[list[str] | None, typer.Argument(metavar="words")] = None,
    causal: Annotated[bool | None, switch("", "--causal/--no-causal", "")] = None,
    scale: Annotated[str | None, option("", "--scale", "NUMBER", "")] = None,
    causal_align: Annotated[str | None, option("", "--causal-align", "start|end", "")] = None,
    q: Annotated[str | None, option("", "--q", "Q", "")] = None,
    digits: Annotated[str | None, option("", "-d --digits", "N", "")] = None,
    show: Annotated[list[str] | None, option("", "--show", "NAMES", "")] = None,
    quiet: Annotated[bool, switch("", "-q --quiet", "")] = False,
) -> None:
    """Takes words and options, and does nothing."""


def parser(up_to: str = "") -> Words:
    command = "attncalc" if up_to else "attncalc attention"
    return Words(made("attention", attention).params, command, up_to=up_to, ambiguous={"-q": "--quiet"})


def sort(line: str) -> tuple[dict[str, Any], list[str]]:
    """The options of a call and its operands; a blank in a word is written as it is, one between words as _."""
    values, _, _ = parser().parse_args(line.split("_"))
    return values, values.pop("words") or []


SORTED: dict[str, tuple[str, dict[str, Any], str]] = {
    "operands alone": ("a.json_b.json", {}, "a.json b.json"),
    "standard input": ("-_b.json", {}, "- b.json"),
    "a part of standard input": ("-#k_--q_-#q[0]", {"q": "-#q[0]"}, "-#k"),
    "a number below zero": ("-1_2", {}, "-1 2"),
    "a vector that begins with a minus": ("-1,2_3,4", {}, "-1,2 3,4"),
    "a matrix that begins with a minus": ("-1,2;3,4", {}, "-1,2;3,4"),
    "minus infinity": ("-inf,0", {}, "-inf,0"),
    "minus a half": ("-1/2", {}, "-1/2"),
    "minus a root": ("-sqrt(2)", {}, "-sqrt(2)"),
    "minus a decimal without a zero": ("-.5,1", {}, "-.5,1"),
    "a complex number": ("-i,i_--scale_-j,j", {"scale": "-j,j"}, "-i,i"),
    "letters in rows, the first below zero": ("-a;b_[-a]", {}, "-a;b [-a]"),
    "a value below zero with a slip in it": ("--scale_-sqrt2,2", {"scale": "-sqrt2,2"}, ""),
    "a formula that begins as a switch does": ("-q**2", {}, "-q**2"),
    "a number below zero with a slip in it": ("-1x,2", {}, "-1x,2"),
    "a formula that begins with a minus": ("-x^2", {}, "-x^2"),
    "a switch between operands": ("a_--causal_b", {"causal": True}, "a b"),
    "a switch turned off": ("--no-causal_a", {"causal": False}, "a"),
    "a value behind a blank": ("--scale_2_a", {"scale": "2"}, "a"),
    "a value behind an equals sign": ("--scale=2_a", {"scale": "2"}, "a"),
    "a value below zero": ("--scale_-1/2_a", {"scale": "-1/2"}, "a"),
    "a value from standard input": ("--q_-", {"q": "-"}, ""),
    "a value with an equals sign in it": ("--q=a=b.json", {"q": "a=b.json"}, ""),
    "an empty value": ("--scale=_a", {"scale": ""}, "a"),
    "a short option": ("-d_3_a", {"digits": "3"}, "a"),
    "a short option and its value in one": ("-d3", {"digits": "3"}, ""),
    "a short option and an equals sign": ("-d=3", {"digits": "3"}, ""),
    "short options in one": ("-qd3", {"quiet": True, "digits": "3"}, ""),
    "a short switch and an operand below zero": ("-q_-3", {"quiet": True}, "-3"),
    "a repeated list": ("--show_a_--show_b", {"show": ["a", "b"]}, ""),
    "a repeated switch": ("--causal_--no-causal", {"causal": False}, ""),
    "everything behind two hyphens": ("--causal_--_--scale_-x", {"causal": True}, "--scale -x"),
}


@rows(("line", "options", "operands"), SORTED.values(), ids=SORTED)
def test_words_are_sorted(line: str, options: dict[str, Any], operands: str) -> None:
    assert sort(line) == (options, operands.split())


def test_what_follows_the_first_operand_can_be_left_alone() -> None:
    words = ["-q", "cosine", "--nothing", "-1"]
    values, rest, _ = parser("COMMAND").parse_args(words)
    assert (values, rest) == ({"quiet": True}, words[1:])


def test_two_hyphens_before_the_first_operand_end_the_options() -> None:
    assert parser("COMMAND").parse_args(["--", "cosine", "-d"]) == ({}, ["cosine", "-d"], [])


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
        parser().parse_args([word])
    assert caught.value.hint == hint


def test_an_option_before_the_command_is_sent_behind_it() -> None:
    with pytest.raises(OptionError) as caught:
        parser("COMMAND").parse_args(["-f", "json"])
    assert caught.value.hint == "an option follows the name that it belongs to: attncalc COMMAND … -f"


@pytest.mark.parametrize(
    ("line", "read"),
    [
        pytest.param("-h_--nothing", {"help": True}, id="help"),
        pytest.param("a_-qh_--nothing", {"help": True}, id="help in a bundle"),
    ],
)
def test_an_eager_option_is_answered_whatever_else_is_wrong(line: str, read: dict[str, Any]) -> None:
    values, operands, order = parser().parse_args(line.split("_"))
    assert (values, operands, [each.name for each in order]) == (read, [], ["help"])


@pytest.mark.parametrize(
    ("line", "noted"),
    [
        pytest.param("-q_a", ["-q is read as --quiet; for q write --q"], id="an operand behind a short switch"),
        pytest.param("a_-q", [], id="nothing behind it"),
        pytest.param("-q_--causal_a", [], id="an option behind it"),
        pytest.param("-q_a_--q_b", [], id="both are written"),
    ],
)
def test_what_may_be_misread_is_noted(line: str, noted: list[str]) -> None:
    words = parser()
    words.parse_args(line.split("_"))
    assert words.misread == noted


def pair(
    first: Annotated[str, typer.Argument(help="an answer")], second: Annotated[str, typer.Argument(help="a key")]
) -> None:
    """Takes two words."""


@pytest.mark.parametrize(("given", "said"), [(["a"], "1 word was"), (["a", "b", "c"], "3 words were")])
def test_too_few_words_and_too_many_are_said(given: list[str], said: str) -> None:
    with pytest.raises(OptionError) as caught:
        Words(made("pair", pair).params, "attncalc pair", example="attncalc pair a b").parse_args(given)
    assert caught.value.message == f"pair takes an answer and a key, but {said} given"
    assert caught.value.hint == "attncalc pair a b"


@rows(("alias", "words"), ALIASES.items(), ids=ALIASES)
def test_a_natural_name_is_a_calculation_with_an_option_that_there_is(alias: str, words: tuple[str, ...]) -> None:
    name, *given = words
    assert alias not in TABLE
    if given:
        option = next(option for option in load(name).options if f"--{option.name}" == given[0])
        assert given[1] in option.choices


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        ("attention --heads 2", "multihead, complexity and latent-attention have it: attncalc multihead --heads"),
        ("euclidean 1,2 3,4 --p 3", "norm, minkowski and pairwise have it: attncalc norm --p"),
        ("sinusoidal 3 4", "attncalc sinusoidal --n 3 --d 4"),
        ("derivative -x --at 1", 'in brackets it is a formula: "(-x)"'),
    ],
)
def test_a_call_that_is_nearly_right_is_told_the_right_one(run: Run, call: str, hint: str) -> None:
    assert run(*call.split()).stderr.endswith(f"hint: {hint}\n")


@pytest.mark.thorough
def test_natural_names_are_called_and_explained(run: Run) -> None:
    assert run("relu", "1,-1", "-q", "-f", "plain").stdout == run("activation", "1,-1", "-q", "-f", "plain").stdout
    assert run("grad", "gelu", "1,2", "-q").stdout == run("grad", "activation", "1,2", "--kind", "gelu", "-q").stdout
    assert run("explain", "adam").stdout == run("explain", "optimizer").stdout


@pytest.mark.parametrize("word", ["1,0", "[1,0]", "(1, 0)", " 1 , 0 ", "product[1,0]", "result[1,0]", "product:1,0"])
def test_a_place_alone_is_one_of_the_result(run: Run, word: str) -> None:
    done = run("matmul", "1 2; 3 4", "5 6; 7 8", "--cell", word)
    assert done.stdout.splitlines()[-1] == "product[1,0] = 3×5 + 4×7 = 43"


OPTIONS: dict[str, Any] = {
    "explain": True,
    "detail": "full",
    "depth": 1,
    "expand": True,
    "standalone": True,
    "show": ["scores"],
}
ALONE: dict[str, dict[str, Any]] = {
    "": {},
    "-q": {"quiet": True},
    "--get": {"get": "weights"},
    "--cell": {"cell": ["weights[0,0]"]},
}
OPEN = {
    ("csv", "expand", ""),
    *((form, "show", "--cell") for form in FORMATS),
    *((form, "expand", alone) for form in FORMATS for alone in ("--get", "--cell")),
}
"""What changes nothing here, and does so with --all, where all entries are asked for, or of what it adds itself."""


@pytest.mark.spread(8)
@pytest.mark.parametrize("form", FORMATS)
def test_an_option_that_changes_nothing_on_a_page_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    """And one that is told changes nothing."""
    problem = sample_problem("attention")

    def written(options: dict[str, Any]) -> tuple[bytes, set[str]] | None:
        page = tmp_path / "page"
        with suppress(AttncalcError):
            shown = Shown(format=form, output=str(page), **options)
            solve_and_show(problem, chosen(shown, Arithmetic(), None, Marking()), Reading())
            return page.read_bytes(), set(capsys.readouterr().err.splitlines())
        return None

    for alone, few in ALONE.items():
        plain = written(few)
        for name, value in OPTIONS.items() if plain else ():
            found = written(few | {name: value})
            if found and plain and (form, name, alone) not in OPEN:
                told = {f"note: --{name} has no effect {why}" for why in (f"in {form}", f"with {alone}")}
                assert told.isdisjoint(found[1]) == (found[0] != plain[0]), (name, alone, found[1])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("softmax", "1,2,3", "--header"), "--header has no effect without a CSV file"),
        (("softmax", "x.json", "--no-labels"), "--no-labels has no effect without a CSV file"),
        (
            ("softmax", "1,2,3", "--header", "--delimiter", ";"),
            "--delimiter and --header have no effect without a CSV file",
        ),
        (("softmax", "x.csv", "--no-header"), ""),
        (("softmax", "1,2,3", "--check", "y.csv", "--no-header"), ""),
        (("softmax", "1,2,3", "--check", "1,2,3", "--no-header"), "--no-header has no effect without a CSV file"),
        (("softmax", "1,2,3", "--heads-layout", "hnd"), "--heads-layout has no effect without --q, --k or --v"),
        (("attention", "[[[1,2]]]", "--heads-layout", "hnd"), ""),
        (("dot", "1,2", "3,4", "--data", "d.csv"), "--data has no effect: no operand is called as a row of d.csv"),
        (("dot", "w", "3,4", "--data", "d.csv"), ""),
        (("grade", "p.json", "x.json", "--header"), "--header has no effect without a CSV file"),
        (("grade", "p.json", "x.json", "y.csv", "--no-header"), ""),
    ],
)
def test_an_option_of_reading_that_nothing_is_read_by_is_told(
    run: Run, tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    (tmp_path / "x.json").write_text("[1, 2, 3]")
    (tmp_path / "x.csv").write_text("1,2,3\n")
    (tmp_path / "y.csv").write_text("0.0900,0.2447,0.6652\n")
    (tmp_path / "d.csv").write_text("w,1,2\nv,3,4\n")
    (tmp_path / "p.json").write_text('{"calculation": "softmax", "inputs": {"x": [1, 2, 3]}}')
    notes = [line for line in run(*words).stderr.splitlines() if "no effect" in line]
    assert notes == ([f"note: {told}"] if told else [])


LISTS = {
    "a column": ("n.csv", "4\n16\n"),
    "a row": ("n.csv", "4,16\n"),
    "a column below a title": ("n.csv", "n\n4\n16\n"),
    "JSON": ("n.json", "[4, 16]"),
    "a part of a file": ("n.json#lengths", '{"lengths": [[4], [16]], "other": 3}'),
    "a file that is called as a number": ("@7", "4\n16\n"),
    "standard input": ("-", "4 16"),
}


@pytest.mark.parametrize(("word", "text"), LISTS.values(), ids=LISTS)
def test_a_list_may_stand_in_a_table(run: Run, tmp_path: Path, word: str, text: str) -> None:
    """Of an option as of an operand: one row or one column is that list."""
    (tmp_path / word.lstrip("@").partition("#")[0]).write_text(text)
    call = ["scaling", "--trials", "2", "--seed", "1", "-f", "json"]
    assert run(*call, "--dk", word, input=text).stdout == run(*call, "--dk", "4,16").stdout


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("m.csv", "--dk must be a whole number, not [1.0, 2.0]"),
        ("@none.csv", "there is no file none.csv"),
        ("none.csv", '--dk must be a whole number, not "none.csv"'),
        ("x.csv", 'x.csv:1:2: "a" is not a number'),
    ],
)
def test_what_is_no_list_is_told(run: Run, tmp_path: Path, word: str, said: str) -> None:
    (tmp_path / "m.csv").write_text("1,2\n3,4\n")
    (tmp_path / "x.csv").write_text("1,a\n")
    done = run("scaling", "--dk", word)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"Error: {said}")


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "asked", [{"get": "exponentials"}, {"show": ["exponentials"]}, {"cell": ["exponentials[0,0]"]}]
)
def test_what_a_definition_adds_may_be_asked_for(tmp_path: Path, form: str, asked: dict[str, Any]) -> None:
    with suppress(OptionError):
        shown = Shown(format=form, output=str(tmp_path / "page"), expand=True, **asked)
        assert chosen(shown, Arithmetic(), None, Marking()).notes == ()
