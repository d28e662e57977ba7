"""`list`: every calculation with its one line."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from attncalc.calculations import TABLE
from attncalc.cli import output, sections, settings
from attncalc.cli.command import Command
from attncalc.cli.help import families, family
from attncalc.errors import OptionError
from attncalc.text import NARROWEST, quoted

FORMATS = ("table", "plain", "json")


def command() -> Command:
    """The command `list`."""
    options = sections.target_options(FORMATS)
    return Command("list", _list, options, summary="Lists every calculation, with one line about it.")


def _list(words: Sequence[str], **given: Any) -> None:
    if words:
        mend = f"attncalc {words[0]} --help" if words[0] in TABLE else ""
        raise OptionError(f"list takes no operands, but {quoted(words[0])} was given", hint=mend)
    rows = [{"name": name, "family": family(name), "summary": line} for name, (_, line) in TABLE.items()]
    show(families(), rows, settings.target(given, FORMATS))


def show(
    sections: Mapping[str, Sequence[tuple[str, str]]], rows: Sequence[Mapping[str, str]], to: settings.Target
) -> None:
    """Write names and what they mean: under headings, as lines of name and tab, or as JSON."""
    if to.format == "json":
        content = json.dumps(rows, indent=1) + "\n"
    elif to.format == "plain":
        content = "".join(f"{row['name']}\t{row['summary']}\n" for row in rows)
    else:
        content = _page(sections, output.width() if to.path is None else None)
    output.write_page(content, to.path)


def _page(sections: Mapping[str, Sequence[tuple[str, str]]], width: int | None) -> str:
    """Names and what they mean under headings: in two columns, on a narrow page one below the other."""
    wide = max(len(name) for rows in sections.values() for name, _ in rows)
    limit = sys.maxsize if width is None else max(width, NARROWEST)
    below = limit < 2 * (wide + 4)  # narrower columns would be of no use
    indent = " " * (4 if below else wide + 4)
    lines: list[str] = []
    for heading, rows in sections.items():
        lines += [*([""] if lines else []), heading]
        for name, line in rows:
            lines += [f"  {name}"] if below else []
            first = indent if below else f"  {name:<{wide}}  "
            lines += textwrap.wrap(line, limit, initial_indent=first, subsequent_indent=indent)
    return "\n".join(lines) + "\n"
