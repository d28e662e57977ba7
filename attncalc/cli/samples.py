"""`sample [NAME]`: the sample inputs that come with the program, listed or written."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attncalc.cli import output, sections, settings
from attncalc.cli.command import Command
from attncalc.cli.listing import FORMATS, show
from attncalc.errors import AttncalcError, OptionError
from attncalc.samples import folder
from attncalc.text import either, near, quoted


def command() -> Command:
    """The command `sample`."""
    return Command(
        "sample",
        _sample,
        sections.target_options(FORMATS),
        summary="Lists the sample inputs that come with attncalc, or prints one exactly as it is.",
        usage="[name]",
        words=lambda: (name for entries in described().values() for name in entries),
    )


def _sample(words: Sequence[str], **given: Any) -> None:
    if len(words) > 1:
        raise OptionError(f"sample writes one file, but {len(words)} were named")
    if words:
        _write(words[0], given)
        return
    sections = {heading: list(entries.items()) for heading, entries in described().items()}
    rows = [{"name": name, "summary": line} for entries in sections.values() for name, line in entries]
    show(sections, rows, settings.target(given, FORMATS))


def _write(name: str, given: settings.Words) -> None:
    """The sample's own bytes, so that `-f` means nothing here."""
    if given["format"] is not None:
        raise OptionError("a sample is written as it is; -f is for the list of samples")
    content = find(name).read_bytes()
    path = settings.output_file(given)
    if path is None and b"\0" in content and output.is_terminal(sys.stdout):
        raise AttncalcError(
            f"{name} is binary, but standard output is a terminal", hint=f"write it to a file: -o {name}"
        )
    output.deliver(content, path)


def described() -> dict[str, dict[str, str]]:
    """Heading → file name → what it is, from the lines ``- `name`: …`` of the samples' README."""
    text = (folder() / "README.md").read_text(encoding="utf-8")
    found: dict[str, dict[str, str]] = {}
    for block in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        heading, _, lines = block.partition("\n")
        entries = re.findall(r"^- `([^`]+)`: ((?:.|\n(?=[ \t]+\S))*)", lines, re.MULTILINE)
        found[heading.strip()] = {name: " ".join(line.split()) for name, line in entries}
    return found


def find(name: str) -> Path:
    """The sample called `name`, whose suffix may be left out where that is clear."""
    known = [name for entries in described().values() for name in entries]
    found = [each for each in known if each == name] or [each for each in known if Path(each).stem == name]
    if len(found) == 1:
        return folder() / found[0]
    if found:
        raise OptionError(f"there are several samples called {quoted(name)}: {either(found)}")
    raise OptionError(f"there is no sample {quoted(name)}", hint=near(name, known) or "attncalc sample lists them")
