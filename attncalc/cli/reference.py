"""`explain` and `mistakes`: all there is to know about a calculation, and what goes wrong with it."""

import re
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer

from attncalc.api.explain import card
from attncalc.calculations import ALIASES, DERIVATIVES, TABLE, WHOLE, load, unknown
from attncalc.cli import output as out
from attncalc.cli.command import VERBS
from attncalc.cli.lists import FORMATS, show
from attncalc.cli.settings import Colour, Digits, File, formats, paper, target
from attncalc.common.errors import NoGradient, OptionError, amount, both, near, quoted, visible
from attncalc.common.system import is_file
from attncalc.homework.diagnosis.slips import listed
from attncalc.inputs.problem_files import sample_problem
from attncalc.inputs.resolve import near_files
from attncalc.language.graph import steps
from attncalc.render.cards import FORMATS as CARDS
from attncalc.render.cards import shown
from attncalc.render.page import Heading, Page, Part, Point, Points
from attncalc.solve.solver import write

WIDEST = 100  # columns of a page that has no width of its own


def _calculations() -> list[str]:
    return [*TABLE, *DERIVATIVES]


def explain(
    calculation: Annotated[
        list[str] | None,
        typer.Argument(metavar="[grad|jacobian] calculation", autocompletion=_calculations),
    ] = None,
    format: Annotated[str | None, formats(CARDS)] = None,
    output: File = None,
    digits: Digits = None,
    color: Colour = "auto",
) -> None:
    """The reference card of a calculation.

    Its formula, its steps and the reasons for them, its options, what always holds, what it costs, common mistakes,
    its gradient, its sources and an example. With grad or jacobian before its name: that of its derivative.
    """
    name = named(calculation or (), "explain", with_file="attncalc run {} --explain explains a problem")
    where = target(format, output, CARDS)
    view = paper(digits, color, where)
    try:
        known = card(name)
    except NoGradient as fault:
        fault.hint = fault.hint or f"attncalc explain {name.split()[-1]} explains the calculation itself"
        raise
    out.deliver(shown(known, where.format, view._replace(width=view.width or WIDEST)), where.path)


def _ids() -> list[str]:
    return list(dict.fromkeys(row["id"] for row in listed()))


def _known() -> list[str]:
    return [*_calculations(), *_ids()]


def mistakes(
    name: Annotated[
        list[str] | None,
        typer.Argument(metavar="[[grad|jacobian] calculation|id]", autocompletion=_known),
    ] = None,
    format: Annotated[str | None, formats(FORMATS)] = None,
    output: File = None,
) -> None:
    """Lists the known mistakes of every calculation, or of one.

    Of each the id that reports use, the wrong rule, and the hint that a student gets. With grad or jacobian before
    the calculation's name it lists those that are made in the steps of that derivative, with an id that mistake alone,
    wherever it is known.
    """
    where = target(format, output, FORMATS)
    rows = _rows([part for word in name or () for part in word.split()])
    show(partial(mistakes_page, rows), rows, where, WIDEST)


def _rows(words: Sequence[str]) -> list[dict[str, str]]:
    """The mistakes that are asked for: all, those of a calculation or of its derivative, or those of one id."""
    if len(words) == 2 and words[0] in DERIVATIVES:
        return _of_derivative(*words)
    if len(words) > 1:
        fault = f"mistakes takes one calculation or one id, but {len(words)} words were given"
        raise OptionError(fault, hint=meant(words, "mistakes"))
    name = words[0].replace("_", "-") if words else None
    if name is None or name in TABLE:
        return listed(name)
    found = [row for row in listed(None) if row["id"] == name]
    if not found:
        mend = near(name, [*TABLE, *_ids()]) or meant(words, "mistakes") or "attncalc mistakes lists them all"
        raise OptionError(f"there is no calculation and no mistake {quoted(words[0])}", hint=mend)
    return found


def _of_derivative(derivative: str, word: str) -> list[dict[str, str]]:
    """The mistakes of a calculation that are made in the steps of its derivative."""
    name = word.replace("_", "-")
    if name not in TABLE:
        raise unknown(word)
    own = {mistake.id for mistake in card(f"{derivative} {name}").mistakes}
    found = [row for row in listed(name) if own & {row["id"], row["alias_of"]}]
    if not found:
        mend = f"those of {name} carry on into it: attncalc mistakes {name}"
        raise OptionError(f"no mistake is known that is {derivative} {name}'s own", hint=mend)
    return found


def mistakes_page(rows: Sequence[dict[str, str]]) -> Page:
    """The mistakes under the names of their calculations: the id and the wrong rule, the hint below."""
    parts = []
    for name, found in groupby(rows, key=lambda row: row["calculation"]):
        points = []
        for row in found:
            kind = "" if row["kind"] == "misconception" else f" ({row['kind']})"
            aside = f" (the same as {row['alias_of']})" if row["alias_of"] else kind
            fields = tuple(row[field] for field in ("calculation", "id", "kind", "says", "hint"))
            points.append(Point(f"{row['id']}: {row['says']}{aside}", row["hint"], fields=fields))
        parts.append(Part("section", Heading(name), (Points(tuple(points)),)))
    return Page("Mistakes", tuple(parts))


def named(words: Sequence[str], verb: str, *, ending: str = "", with_file: str) -> str:
    """The one calculation, or its derivative, that the words name.

    `ending` is what else an example of a call needs; `with_file` is the hint if a file was named.
    """
    spoken = [part for word in words for part in word.split()]
    derivative = [word for word in spoken[:1] if word in DERIVATIVES]
    names = spoken[len(derivative) :]
    if derivative and not names:
        raise OptionError(
            f"{verb} {derivative[0]} needs the name of a calculation",
            hint=f"attncalc {verb} {derivative[0]} attention{ending}; attncalc list names them all",
        )
    if len(names) != 1:
        given = amount(len(spoken), "word was", "words were")
        raise OptionError(
            f"{verb} takes the name of one calculation, but {given} given",
            hint=meant(spoken, verb) or f"attncalc {verb} attention{ending}, or attncalc {verb} grad attention{ending}",
        )
    name = names[0].replace("_", "-")
    name = ALIASES.get(name, (name,))[0]
    if name in VERBS or name in WHOLE:
        raise OptionError(
            f"{verb} is for calculations, and {quoted(name)} is none", hint=f"attncalc {name} --help explains it"
        )
    if name not in TABLE:
        fault = _a_file(words[0], with_file) or _a_mistake(names[0]) or unknown(names[0])
        fault.hint = fault.hint if near(name, TABLE) else meant(spoken, verb) or fault.hint
        raise fault
    return " ".join([*derivative, name])


BACKWARD = ("backprop", "backpropagation", "backward", "derivative", "grad", "gradient", "gradients")
MOST_MEANT = 3


def meant(words: Sequence[str], verb: str) -> str:
    """A hint for words that are no name: a calculation with nearly that name, else those whose cards have all words."""
    asked = [word.casefold().replace("_", "-") for word in words]
    derivative = "jacobian" if "jacobian" in asked else "grad" if {*asked} & {*BACKWARD} else ""
    others = [word for word in asked if word not in (*BACKWARD, "jacobian", "of", "the")]
    whole, *single = (ALIASES.get(word, (word,))[0] for word in ("-".join(others), *others))
    if whole not in TABLE and (mend := near("-".join(asked), TABLE)):
        return mend
    usual = ["attention"] if derivative and not others else []
    if name := next((word for word in (whole, *single, *usual) if word in TABLE), ""):
        return f"did you mean attncalc {verb} {' '.join(filter(None, (derivative, name)))}?"
    ranked = {name: rank for name in TABLE if others and (rank := _rank(name, others))}
    told = sorted(ranked, key=ranked.__getitem__)[:MOST_MEANT]
    return f"{both(told)} {'tells' if len(told) == 1 else 'tell'} of it: attncalc {verb} {told[0]}" if told else ""


def _rank(name: str, words: Sequence[str]) -> int:
    """1 if the words are names of a calculation's operands, options or steps, 2 if they are in its texts, else 0."""
    calculation = load(name)
    written = write(sample_problem(name))
    shown = steps(*(written.roots if written.loop is None else written.loop.steps))
    called = [each.name for each in calculation.operands] + [each.name for each in calculation.options]
    called += [node.args["name"] for node in shown]
    prose = [calculation.summary, calculation.doc, *calculation.laws, *(each.help for each in calculation.options)]
    wanted = {word.removesuffix("s") for part in words for word in part.split("-")}
    for rank, texts in enumerate((called, [*called, *prose]), 1):
        found = re.findall(r"[^\W_]+", " ".join([name, *texts]).casefold())
        if wanted <= {word.removesuffix("s") for word in found}:
            return rank
    return 0


def _a_file(word: str, mend: str) -> OptionError | None:
    """The error if a file, or what looks like one, was named in place of a calculation; else None."""
    if not is_file(word):
        is_path = bool(Path(word).suffix) or Path(word).name != word
        return OptionError(f"there is no file {quoted(word)}", hint=near_files(word)) if is_path else None
    return OptionError(f"{quoted(word)} is a file, not a calculation", hint=mend.format(visible(word, 80)))


def _a_mistake(word: str) -> OptionError | None:
    """The error if a known mistake was named in place of a calculation; else None."""
    if not any(row["id"] == word for row in listed(None)):
        return None
    return OptionError(f"{quoted(word)} is a mistake, not a calculation", hint=f"attncalc mistakes {word} tells it")
