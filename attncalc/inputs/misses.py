"""A word that means nothing where an operand is wanted, or that is one too many: what it may have been meant for."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from attncalc.errors import InputError
from attncalc.inputs.entries import is_number
from attncalc.inputs.literals import looks_numeric, read_literal
from attncalc.inputs.mends import is_misspelt
from attncalc.inputs.paths import FORMATS, is_folder, shown
from attncalc.text import amount, both, near, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from attncalc.calculation import Operand
    from attncalc.inputs.calls import Call
    from attncalc.inputs.resolve import Tables


def miss(word: str, operand: Operand, tables: Tables) -> InputError:
    """The error for a word that means nothing, with what it may have been meant for."""
    parts = [part for part in re.split(r"[;,\s]+", word) if part]
    numeric = any(is_number(part, operand.kind) for part in parts) and (len(parts) > 1 or word.isalpha())
    if "#" not in word and (numeric or is_misspelt(word)):
        return _fault_of_literal(word, operand)
    if not word.strip():
        return InputError(
            f"{operand.name}: the word is empty", hint="1,2,3 is a vector, q.json a file, - standard input"
        )
    if word.startswith(("http://", "https://")):
        return InputError(f"{operand.name}: {quoted(word)} is not fetched", hint="download it, and give the file")
    base = word.partition("#")[0]
    if base and is_folder(base):
        return InputError(f"{shown(base)} is a folder", hint="name a file in it")
    if Path(base).name != base or Path(base).suffix.lower() in FORMATS:
        return InputError(f"there is no file {shown(base)}", hint=near_files(base))
    labels = [label for table in tables.values() for label in table.labels.get(0, ())]
    kinds = "no number, no file and no row label" if labels else "neither numbers nor a file"
    files = _files_beside(base)
    hint = near(Path(word).stem, [*files, *labels], said=files)
    return InputError(f"{operand.name}: {quoted(word)} is {kinds}", hint=hint or "1,2,3 is a vector, - standard input")


def _fault_of_literal(word: str, operand: Operand) -> InputError:
    try:
        read_literal(word, operand.name, operand.kind)
    except InputError as error:
        return error
    raise AssertionError("a word that is no literal does not read as one")


def near_files(path: str) -> str:
    """The hint that names files of nearly that name beside it, "" where there are none."""
    files = _files_beside(path)
    folder = path.rstrip("/").removesuffix(Path(path).name)
    return near(Path(path).stem, files, folder, said=files)


def _files_beside(path: str) -> dict[str, str]:
    """The files in the folder of a path, by their names without suffix; a thousand at most."""
    try:
        return {entry.stem: entry.name for entry in islice(Path(path).parent.iterdir(), 1000) if entry.is_file()}
    except (OSError, ValueError):
        return {}


def surplus(call: Call, positional: Sequence[str], places: Sequence[Operand]) -> InputError:
    """The error for more words than operands; a shell may have split them."""
    name, many = call.calculation.name, len(positional)
    given = f"{amount(many, 'word was', 'words were')} given"
    by_name = [o.name for o in call.operands if o.positional and o.name in call.named]
    if not places and by_name:
        return InputError(
            f"{both(by_name)} {'is' if len(by_name) == 1 else 'are'} given by name, but {given} by position",
            hint=f"{name} takes each operand once: leave out --{by_name[0]} or the word",
        )
    if not places:
        return InputError(
            f"{name} takes no operands by position, but {given}", hint=f"attncalc {name} --help lists what it takes"
        )
    taken = f"{amount(len(places), 'operand')} ({both(o.name for o in places)})"
    numeric = sum(looks_numeric(word) for word in positional)
    return InputError(
        f"{name} takes {taken}, but {given}",
        hint='quote each vector: "1,2,3" (PowerShell splits 1,2,3 in three words)' if numeric > 1 else "",
    )
