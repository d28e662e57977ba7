"""A word that means nothing where an operand is wanted: what it may have been meant for."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from attncalc.errors import InputError
from attncalc.inputs.entries import is_number
from attncalc.inputs.literals import read_literal
from attncalc.inputs.mends import is_misspelt
from attncalc.inputs.paths import FORMATS, is_folder, shown
from attncalc.text import near, quoted

if TYPE_CHECKING:
    from attncalc.calculation import Operand
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
