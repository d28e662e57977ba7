"""Which words of a call are options and which are operands, numbers that begin with a minus included."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from typer.core import TyperOption

from attncalc.errors import OptionError
from attncalc.text import flag, near, quoted, visible

NAMELESS = frozenset("*^/+()[],; ")  # what no option's name holds, and formulas and lists of numbers do
DASHES = "-‐‑‒–—―−"  # what editors and web pages turn a hyphen into


def sort_words(
    words: Sequence[str], options: Iterable[TyperOption], command: str, *, up_to: str = ""
) -> tuple[list[str], list[str]]:
    """The options of a call, each as one word (`--digits=3`), and its operands.

    `command` is how the call is spoken of in errors. With `up_to` the first operand is what that says (COMMAND), and
    whatever follows it is left as it is, for the command to sort.
    """
    known = {spelling: option for option in options for spelling in (*option.opts, *option.secondary_opts)}
    rest = deque(words)
    found: list[str] = []
    operands: list[str] = []
    given: dict[str, str] = {}
    while rest:
        word = rest.popleft()
        if word == "--":
            return found, [*operands, *rest]
        if not _is_option(word, known):
            operands.append(word)
            if up_to:
                return found, [*operands, *rest]
            continue
        while _bundles(word, known):  # -qd3 is -q -d3
            found.append(word[:2])
            if known[word[:2]].is_eager:
                return found, []
            word = "-" + word[2:]
        name, equals, value = _split(word, known)
        option = known.get(name)
        if option is None:
            raise _unknown(name, known, command, f"{command} {up_to} … {name}" if up_to else "")
        if option.is_flag:
            if equals:
                raise OptionError(f"{name} is a switch and takes no value", hint=f"leave out ={visible(value, 80)}")
            found.append(name)
            if option.is_eager:  # --help answers whatever else is wrong
                return found, []
            continue
        long = option.opts[-1]
        if not equals:
            value = _following(name, option, rest, known)
        if long in given and not option.multiple:
            raise OptionError(f"{name} is given twice: {quoted(given[long])} and {quoted(value)}")
        given[long] = value
        found.append(f"{long}={value}")
    return found, operands


def _is_option(word: str, known: Mapping[str, TyperOption]) -> bool:
    """Whether a word is meant as an option: not `-` or `-#k` (standard input), a number below zero, or a formula."""
    if len(word) < 2 or word[0] not in DASHES or word[1] in "0123456789.#":
        return False
    name = word.partition("=")[0]
    if name in known or word.startswith("--"):
        return True
    if word[0] != "-":
        return "--" + name.lstrip(DASHES) in known
    short = known.get(word[:2])
    if (short is None or short.is_flag) and not NAMELESS.isdisjoint(name):
        return False
    from attncalc.inputs import looks_numeric  # here, since most calls have no such word

    return not looks_numeric(word)


def _bundles(word: str, known: Mapping[str, TyperOption]) -> bool:
    """Whether a word is a short switch with more behind it."""
    return len(word) > 2 and word[1] != "-" and word[2] != "=" and word[:2] in known and known[word[:2]].is_flag


def _split(word: str, known: Mapping[str, TyperOption]) -> tuple[str, str, str]:
    """`--digits=3` → ("--digits", "=", "3"); so for `-d=3` and `-d3`; `--digits` → ("--digits", "", "")."""
    name, equals, value = word.partition("=")
    if name not in known and word[1] != "-" and word[:2] in known:
        return word[:2], "=", word[2:]
    return name, equals, value


def _following(name: str, option: TyperOption, rest: deque[str], known: Mapping[str, TyperOption]) -> str:
    """The word behind an option that takes a value."""
    if not rest:
        raise OptionError(f"{name} needs a value", hint=f"write {name} {option.metavar}")
    if rest[0] == "--" or _is_option(rest[0], known):
        value = visible(rest[0], 80)
        raise OptionError(
            f"{name} needs a value, but {value} is an option",
            hint=f"write {name} {option.metavar}, or {option.opts[-1]}={value} if that is the value",
        )
    return rest.popleft()


def _unknown(name: str, known: Mapping[str, TyperOption], command: str, place: str) -> OptionError:
    """An option that is not there; `place` is where it may belong instead."""
    word = name.lstrip(DASHES)
    if name[0] != "-":
        return OptionError(f"{quoted(name)} begins with a dash that is not a hyphen", hint=f"did you mean --{word}?")
    long = [spelling for spelling in known if spelling.startswith("--")]
    same = [spelling for spelling in long if spelling == flag(word)]
    mend = f"did you mean {same[0]}?" if same else near("--" + word, long) if len(word) > 1 else ""
    elsewhere = f"an option follows the name that it belongs to: {visible(place, 80)}" if place else ""
    return OptionError(
        f"{command} has no option {visible(name, 80)}",
        hint=mend or elsewhere or f"{command} --help lists its options",
    )
