"""The manual page, attncalc(1), from the tables of commands and options that the program itself is built from."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version

from typer.core import TyperOption

from attncalc.calculations import families
from attncalc.cli import carry_out
from attncalc.cli.command import VERBS
from attncalc.cli.help_page import spelling
from attncalc.cli.settings import command_of

SHARED = ("Output", "Arithmetic", "Checking", "Reading")
"""The sections of options that every calculation has."""
VERSION = version("attncalc")

OPERANDS = [
    ("1,2,3", 'a vector; "1 2; 3 4" or [[1,2],[3,4]] a matrix; entries may be 0.5, 1e-3, 1/3, sqrt(2), ln(2), pi'),
    ("FILE", "JSON, JSON lines, CSV, TSV, npy, npz or safetensors, told by its suffix, else by its content"),
    ("FILE#NAME", "an array of a file that holds several"),
    ("FILE#NAME[:, 0:768]", "a part of it, as NumPy indexes; FILE#NAME.T swaps its last two axes"),
    ("FOLDER", "the checkpoint in it: model.safetensors, or the files that model.safetensors.index.json lists"),
    ("@FILE", "that file, whatever its name looks like"),
    ("LABEL", "a row of the table that --data names, or of the calculation's own vocabulary"),
    ("-", "standard input"),
]
STATUSES = [
    ("0", "success; for a check or a grading: all right"),
    ("1", "a checked answer is wrong"),
    ("2", "the call, a file, a shape or a value is at fault, or the output cannot be written"),
    ("70", "a bug in attncalc"),
    ("130", "interrupted"),
]
ENVIRONMENT = [
    ("NO_COLOR", "no colour, unless --color always says otherwise"),
    ("COLUMNS", "the width of pages"),
    ("ATTNCALC_DEBUG", "1 shows the traceback of a bug"),
]
EXAMPLES = [
    ("attncalc attention --q q.json", "attention among the tokens of a file, step by step"),
    ("attncalc cosine 1,2 3,4 -q -f plain", "one number, for a pipeline"),
    ("attncalc grad softmax 1,2,3 --upstream 1,0,0", "the backward pass"),
    ("attncalc attention problem.json --check answer.json", "which step went wrong, and why"),
]


def manual() -> str:
    """The page in the language of man(7)."""
    return "".join(line + "\n" for line in _lines())


def _lines() -> Iterator[str]:
    yield '.\\" Written by docs/generate.py.'
    yield f'.TH ATTNCALC 1 "" "attncalc {VERSION}" "User commands"'
    yield ".SH NAME"
    yield "attncalc \\- calculate the mathematics of transformers and explain every step"
    yield ".SH SYNOPSIS"
    for words in ("CALCULATION [OPERANDS] [OPTIONS]", "VERB [WORDS] [OPTIONS]", "[CALCULATION] \\-\\-help"):
        yield ".B attncalc"
        yield words
        yield ".br"
    yield ".SH DESCRIPTION"
    yield "Each calculation takes operands by position or by name (\\-\\-q FILE), and shows every step from them to the"
    yield "result: the formula, the numbers, their shape, and the reason for the step. The verbs work with any"
    yield "of them. Notes and errors go to standard error."
    yield ".SH OPERANDS"
    yield from _terms(OPERANDS)
    yield ".SH CALCULATIONS"
    for heading, rows in families().items():
        yield f".SS {_text(heading)}"
        yield from _terms(rows)
    yield ".SH VERBS"
    yield from _terms([(name, line) for name, (_, line) in VERBS.items()])
    yield ".SH OPTIONS OF EVERY CALCULATION"
    sections: dict[str, list[tuple[str, str]]] = {}
    for option in command_of("dot", carry_out).params:
        if isinstance(option, TyperOption) and option.rich_help_panel in SHARED:
            sections.setdefault(option.rich_help_panel, []).append((spelling(option), option.help or ""))
    for heading, rows in sections.items():
        yield f".SS {_text(heading)}"
        yield from _terms(rows)
    yield ".SH EXIT STATUS"
    yield from _terms(STATUSES)
    yield ".SH ENVIRONMENT"
    yield from _terms(ENVIRONMENT)
    yield ".SH EXAMPLES"
    for command, line in EXAMPLES:
        yield ".TP"
        yield f".B {_text(command)}"
        yield _text(line)


def _terms(rows: list[tuple[str, str]]) -> Iterator[str]:
    for term, line in rows:
        yield ".TP"
        yield f".B {_text(term)}"
        yield _text(line)


def _text(words: str) -> str:
    """Words as they are: no request, no escape, and a hyphen that can be copied."""
    escaped = words.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + escaped if escaped[:1] in ".'" else escaped
