"""The help page: commands and options under their headings, as wide as the terminal allows."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from attncalc.calculations import FAMILIES, TABLE
from attncalc.cli.command import GENERAL
from attncalc.text import NARROWEST

if TYPE_CHECKING:
    from typer.core import TyperOption

    from attncalc.cli.command import Context

INDENT = 2  # of what stands below a heading


def fit(ctx: Context) -> None:
    """Fit the help to the terminal; lines of more than a hundred characters are hard to read."""
    ctx.terminal_width = max(min(shutil.get_terminal_size().columns, 100), NARROWEST)


def write_options(formatter: Any, options: Sequence[TyperOption]) -> None:
    """The options under the headings of their sections."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for each in options:
        words = spelling(each)
        if len(words) > formatter.width - INDENT:  # a switch and its opposite, which get a line each
            words = words.replace(" / ", " /\n" + " " * INDENT)
        sections.setdefault(each.rich_help_panel or GENERAL, []).append((words, each.help or ""))
    for heading, rows in sections.items():
        with formatter.section(heading):
            write_rows(formatter, rows)


def write_rows(formatter: Any, rows: Sequence[tuple[str, str]], wide: int = 0) -> None:
    """Words and what they mean, in two columns, of which the first takes a third at most, or `wide` cells."""
    formatter.write_dl(rows, col_max=max(formatter.width // 3, wide))


def spelling(option: TyperOption) -> str:
    """An option as the help writes it: `-d, --digits N`."""
    names = ", ".join(option.opts) + "".join(f" / {name}" for name in option.secondary_opts)
    return f"{names} {option.metavar}" if option.metavar else names


def trimmed(page: str) -> str:
    """The page without the blanks that are left behind a name when its explanation goes to the next line."""
    return "\n".join(map(str.rstrip, page.split("\n")))


def family(name: str) -> str:
    """The heading under which a calculation is listed."""
    return FAMILIES[TABLE[name][0]]


def families() -> dict[str, list[tuple[str, str]]]:
    """Heading → the (name, one line) of each calculation under it."""
    found: dict[str, list[tuple[str, str]]] = {heading: [] for heading in FAMILIES.values()}
    for name, (_, line) in TABLE.items():
        found[family(name)].append((name, line))
    return {heading: rows for heading, rows in found.items() if rows}
