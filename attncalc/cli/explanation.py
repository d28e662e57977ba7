"""`explain CALCULATION`: the reference card, that of its derivative too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attncalc.calculations import TABLE, unknown
from attncalc.cli import output, sections, settings
from attncalc.cli.command import Command
from attncalc.cli.groups import VERBS
from attncalc.derivatives import DERIVATIVES
from attncalc.errors import NoGradient, OptionError
from attncalc.render.card import FORMATS
from attncalc.text import either, quoted, visible


def command() -> Command:
    """The command `explain`."""
    return Command(
        "explain",
        _explain,
        [*sections.target_options(FORMATS), *sections.page_options()],
        summary="The reference card of a calculation: its formula, its steps and the reasons for them, its options, "
        "what always holds, what it costs, common mistakes, its gradient, its sources and an example. "
        f"With {either(DERIVATIVES)} before its name: that of its derivative.",
        usage=f"[{'|'.join(DERIVATIVES)}] calculation",
        words=lambda: (*TABLE, *DERIVATIVES),
    )


def _explain(words: Sequence[str], **given: Any) -> None:
    name = _called(words)
    where = settings.target(given, FORMATS)
    view = settings.paper(given, where)
    from attncalc.explain import card
    from attncalc.render.card import page

    try:
        known = card(name)
    except NoGradient as fault:
        fault.hint = fault.hint or f"attncalc explain {name.split()[-1]} explains the calculation itself"
        raise
    output.deliver(page(known, where.format, view), where.path)


def _called(words: Sequence[str]) -> str:
    """The name that is to be explained: `attention`, or `grad attention` in one word or in two."""
    spoken = [part for word in words for part in word.split()]
    derivative = [word for word in spoken[:1] if word in DERIVATIVES]
    named = spoken[len(derivative) :]
    if derivative and not named:
        raise OptionError(
            f"explain {derivative[0]} needs the name of a calculation",
            hint=f"attncalc explain {derivative[0]} attention; attncalc list names them all",
        )
    if len(words) == 1 and len(named) != 1:
        raise unknown(words[0])
    if len(named) != 1:
        raise OptionError(
            f"explain takes the name of one calculation, but {len(words)} words were given",
            hint="attncalc explain attention, or attncalc explain grad attention",
        )
    name = named[0].replace("_", "-")
    if name in VERBS:
        raise OptionError(
            f"explain is for calculations, and {quoted(name)} is none", hint=f"attncalc {name} --help explains it"
        )
    if name not in TABLE:
        raise _a_file(words[0]) or _a_mistake(named[0]) or unknown(named[0])
    return " ".join([*derivative, name])


def _a_mistake(word: str) -> OptionError | None:
    """The fault where a known mistake was named in place of a calculation."""
    from attncalc.homework.mistakes import listed  # few names are none of a calculation

    if not any(row["id"] == word for row in listed(None)):
        return None
    return OptionError(f"{quoted(word)} is a mistake, not a calculation", hint=f"attncalc mistakes {word} tells it")


def _a_file(word: str) -> OptionError | None:
    """The fault where a file was named in place of a calculation."""
    from attncalc.inputs.paths import is_file

    if not is_file(word):
        return None
    mend = f"attncalc run {visible(word, 80)} --explain explains a problem"
    return OptionError(f"{quoted(word)} is a file, not a calculation", hint=mend)
