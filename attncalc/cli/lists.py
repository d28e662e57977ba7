"""`list` and `sample`: what there is to calculate, and the inputs that come with it."""

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from attncalc.calculations import families
from attncalc.cli import output
from attncalc.cli.settings import File, Target, formats, output_file, target
from attncalc.common.errors import AttncalcError, OptionError, either, near, quoted
from attncalc.common.system import samples_folder
from attncalc.render import View, pages_and
from attncalc.render.page import Heading, Page, Part, Point, Points, write

FORMATS = pages_and("json")


def every(format: Annotated[str | None, formats(FORMATS)] = None, output: File = None) -> None:
    """Lists every calculation, with one line about it."""
    known = families()
    rows = [{"name": name, "family": heading, "summary": line} for heading in known for name, line in known[heading]]
    show(partial(listed_page, known), rows, target(format, output, FORMATS))


def _samples() -> list[str]:
    return [name for entries in described().values() for name in entries]


def sample(
    name: Annotated[
        str | None, typer.Argument(metavar="[name]", help="the name of one sample", autocompletion=_samples)
    ] = None,
    format: Annotated[str | None, formats(FORMATS)] = None,
    output: File = None,
) -> None:
    """Lists the sample inputs that come with attncalc, or prints one exactly as it is.

    Example: attncalc sample attention.json
    """
    if name is not None:
        _write(name, format, output)
        return
    sections = {heading: list(entries.items()) for heading, entries in described().items()}
    rows = [{"name": name, "summary": line} for entries in sections.values() for name, line in entries]
    show(partial(listed_page, sections), rows, target(format, output, FORMATS))


def listed_page(sections: Mapping[str, Sequence[tuple[str, str]]]) -> Page:
    """Names and what they mean, under headings."""
    wide = max(len(name) for rows in sections.values() for name, _ in rows)
    parts = []
    for heading, rows in sections.items():
        points = tuple(Point(name, words, fields=(name, words)) for name, words in rows)
        parts.append(Part("section", Heading(heading), (Points(points, wide),)))
    return Page("attncalc", tuple(parts))


def show(page: Callable[[], Page], rows: Sequence[Mapping[str, str]], to: Target, width: int | None = None) -> None:
    """Write a list: as JSON, or as a page, which has this width if the terminal does not give one."""
    if to.format == "json":
        output.deliver(json.dumps(rows, indent=1, ensure_ascii=width is None) + "\n", to.path)
        return
    view = View(width=(output.width() if to.path is None else None) or width)
    output.write_page(str(write(page(), to.format, view)), to.path)


def _write(name: str, form: str | None, file: str | None) -> None:
    """Write the sample's own bytes, for which `-f` means nothing."""
    if form is not None:
        raise OptionError("a sample is written as it is; -f is for the list of samples")
    sample = find_sample(name)
    path = output_file(file)
    if sample.is_dir():
        if path is None:
            raise OptionError(f"{sample.name} is a folder", hint=f"attncalc sample {name} -o {name} writes it")
        output.write_folder(path, {each.name: each.read_bytes() for each in sorted(sample.iterdir())})
        return
    content = sample.read_bytes()
    if path is None and b"\0" in content and output.is_terminal(sys.stdout):
        raise AttncalcError(
            f"{name} is binary, but standard output is a terminal", hint=f"write it to a file: -o {name}"
        )
    output.deliver(content, path)


def described() -> dict[str, dict[str, str]]:
    """Heading → file name → what it is, from the lines ``- `name`: …`` of the samples' README."""
    text = (samples_folder() / "README.md").read_text(encoding="utf-8")
    found: dict[str, dict[str, str]] = {}
    for block in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        heading, _, lines = block.partition("\n")
        entries = re.findall(r"^- `([^`]+)`: ((?:.|\n(?=[ \t]+\S))*)", lines, re.MULTILINE)
        found[heading.strip()] = {name: " ".join(line.split()) for name, line in entries}
    return found


def find_sample(name: str) -> Path:
    """The sample called `name`, whose suffix may be left out if it is still clear which is meant."""
    known = _samples()
    found = [each for each in known if each == name] or [each for each in known if Path(each).stem == name]
    if len(found) == 1:
        return samples_folder() / found[0]
    if found:
        raise OptionError(f"there are several samples called {quoted(name)}: {either(found)}")
    raise OptionError(f"there is no sample {quoted(name)}", hint=near(name, known) or "attncalc sample lists them")
