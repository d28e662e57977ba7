"""The calculation that is named behind `explain` and `quiz`: `attention`, or `grad attention` in one word or in two."""

from __future__ import annotations

from collections.abc import Sequence

from attncalc.calculations import TABLE, unknown
from attncalc.cli.groups import VERBS
from attncalc.derivatives import DERIVATIVES
from attncalc.errors import OptionError
from attncalc.text import quoted, visible


def named(words: Sequence[str], verb: str, *, ending: str = "", with_file: str) -> str:
    """The one calculation, or its derivative, that the words name.

    `ending` is what else a call of the verb needs, for examples; `with_file` is the mend where a file was named.
    """
    spoken = [part for word in words for part in word.split()]
    derivative = [word for word in spoken[:1] if word in DERIVATIVES]
    names = spoken[len(derivative) :]
    if derivative and not names:
        raise OptionError(
            f"{verb} {derivative[0]} needs the name of a calculation",
            hint=f"attncalc {verb} {derivative[0]} attention{ending}; attncalc list names them all",
        )
    if len(words) == 1 and len(names) != 1:
        raise unknown(words[0])
    if len(names) != 1:
        raise OptionError(
            f"{verb} takes the name of one calculation, but {len(words)} words were given",
            hint=f"attncalc {verb} attention{ending}, or attncalc {verb} grad attention{ending}",
        )
    name = names[0].replace("_", "-")
    if name in VERBS:
        raise OptionError(
            f"{verb} is for calculations, and {quoted(name)} is none", hint=f"attncalc {name} --help explains it"
        )
    if name not in TABLE:
        raise _a_file(words[0], with_file) or _a_mistake(names[0]) or unknown(names[0])
    return " ".join([*derivative, name])


def _a_file(word: str, mend: str) -> OptionError | None:
    """The fault where a file was named in place of a calculation."""
    from attncalc.inputs.paths import is_file  # few names are none of a calculation

    if not is_file(word):
        return None
    return OptionError(f"{quoted(word)} is a file, not a calculation", hint=mend.format(visible(word, 80)))


def _a_mistake(word: str) -> OptionError | None:
    """The fault where a known mistake was named in place of a calculation."""
    from attncalc.homework.mistakes import listed  # the same

    if not any(row["id"] == word for row in listed(None)):
        return None
    return OptionError(f"{quoted(word)} is a mistake, not a calculation", hint=f"attncalc mistakes {word} tells it")
