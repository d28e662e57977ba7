"""`check ANSWER DOCUMENT`, and `--check ANSWER` of every calculation: which mistake explains a wrong answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from attncalc.cli import output, sections, settings
from attncalc.cli.command import Command
from attncalc.cli.solving import problem_of
from attncalc.errors import InputError, OptionError
from attncalc.homework.pages import FORMATS, page
from attncalc.text import amount, quoted

if TYPE_CHECKING:
    from attncalc.homework.comparing import Tolerance
    from attncalc.homework.key import Key
    from attncalc.inputs import Document, Reading
    from attncalc.problem import Problem

WRONG = 1
ARRAYS = (".npy", ".npz", ".safetensors")
"""Files that are no documents, however large they are."""


def command() -> Command:
    """The command `check`."""
    return Command(
        "check",
        _check,
        [
            *sections.marking_options(),
            *sections.target_options(FORMATS),
            *sections.page_options(),
            *sections.reading_options(),
        ],
        summary="Checks an answer to a problem, and names the mistake that explains a wrong one. ANSWER is a sheet of "
        "steps, or just the result; DOCUMENT is a problem or a saved result, which is computed again. The exit status "
        "is 0 if the answer is right, 1 if it is wrong.",
        usage="answer document",
    )


def _check(words: Sequence[str], **given: Any) -> int:
    from attncalc.inputs import load_document

    if len(words) != 2:
        raise OptionError(
            f"check takes an answer and a document, but {amount(len(words), 'word was', 'words were')} given",
            hint="attncalc check answer.json problem.json",
        )
    where = settings.target(given, FORMATS)
    reading = settings.reading(given)
    answer, word = _in_order(words, reading)
    return check_document(load_document(word, reading), answer, given, where, reading)


def check_document(
    document: Document, answer: str, given: settings.Words, where: settings.Target, reading: Reading
) -> int:
    """Mark an answer to the problem that a document holds; what is stored beside it and is not so gets a warning."""
    key = key_to(problem_of(document), where)
    warnings = _disagreeing(document, key)
    status = check_and_show(key, answer, given, where, reading)
    for warning in warnings:
        output.say("warning", warning)
    return status


def key_to(problem: Problem, where: settings.Target) -> Key:
    """The key to a problem, for a report of a format that there is."""
    from attncalc.homework.key import Key

    if where.format not in FORMATS:
        raise OptionError(
            f"a report of --check cannot be written as {where.format}", hint=f"choose from {', '.join(FORMATS)}"
        )
    return Key(problem)


def check_and_show(key: Key, answer: str, given: settings.Words, where: settings.Target, reading: Reading) -> int:
    """Mark an answer and show what was found: 0 where it is right, else 1."""
    from attncalc.homework.limits import limited, room
    from attncalc.homework.marking import Marker
    from attncalc.homework.sheets import read_sheet

    view = settings.paper(given, where)
    own = reading.anew(room(key))
    with limited("the answer", timed=not key.large):
        sheet = read_sheet(answer, own)
        marker = Marker(key, tolerance=tolerance(given), points=points(given), reveal=bool(given["reveal"]))
        marked = marker.mark(sheet)
    if where.path:
        from attncalc.cli.files import refuse_unwritable

        refuse_unwritable(where.path, [*reading.opened, *own.opened])
    output.deliver(page(marked, where.format, view), where.path)
    for note in (*reading.notes, *own.notes, *marked.notes):
        output.say("note", note)
    return 0 if marked else WRONG


def tolerance(given: settings.Words) -> Tolerance | None:
    """How far an answer may be off, where that was said."""
    from attncalc.homework.comparing import Tolerance

    if given["rtol"] is None and given["atol"] is None:
        return None
    return Tolerance(*(_size(name, given[name]) for name in ("rtol", "atol")))


def points(given: settings.Words) -> dict[str, float]:
    """What each step weighs: `scores=1,output=3`."""
    found = {}
    for word in settings.names(given["points"]):
        name, mark, weight = word.rpartition("=")
        if not mark or not name:
            fault = f"--points takes weights by the names of steps, not {quoted(word)}"
            raise OptionError(fault, hint="--points output=3")
        found[name.strip()] = _size("points", weight)
    return found


def _size(name: str, word: str | None) -> float:
    """A number from 0 on."""
    from attncalc.inputs import parse_number

    if word is None:
        return 0.0
    try:
        value = parse_number(word)
    except InputError as error:
        raise OptionError(f"--{name}: {error.message}", hint=error.hint) from None
    if value < 0:
        raise OptionError(f"--{name} takes numbers from 0 on, not {quoted(word)}")
    return value


def _in_order(words: Sequence[str], reading: Reading) -> tuple[str, str]:
    """The answer and the document, which may stand the other way round where only one is a document."""
    first, second = words
    known = first == "-" or _may_be_document(first, reading)  # what is piped in is read only for what it is
    return (second, first) if known and not _may_be_document(second, reading) else (first, second)


def _may_be_document(word: str, reading: Reading) -> bool:
    """Whether a word names a document, or a file that cannot be read as a stranger's sheet, so that it may be one."""
    from attncalc.homework.limits import MOST_BYTES
    from attncalc.homework.sheets import ANSWER
    from attncalc.inputs.objects import JsonFile
    from attncalc.inputs.reading import STDIN
    from attncalc.inputs.resolve import find

    if word.endswith(ARRAYS):
        return False
    own = reading.anew(MOST_BYTES)
    try:
        found = find(word, ANSWER, own)
    except InputError as fault:
        if word.startswith("-"):  # what is gone cannot be read again for what it is
            raise InputError(
                fault.message, hint=fault.hint or "give the answer first: attncalc check - problem.json"
            ) from None
        return True  # whoever reads it for what it is says why it cannot be read
    if STDIN in own.opened:
        reading.opened[STDIN] = own.opened[STDIN]
    return found is not None and isinstance(found.contents, JsonFile) and found.contents.is_document


def _disagreeing(document: Document, key: Key) -> list[str]:
    """Warnings for stored steps that are not what the problem gives."""
    from attncalc.errors import AttncalcError
    from attncalc.homework.marking import disagreeing

    stored = document.document
    try:
        names = disagreeing(key, stored)
    except AttncalcError as error:
        return [f"the stored steps cannot be compared: {error.message}"]
    return [f"{name} as stored is not what the inputs give; the inputs are gone by" for name in names]
