"""The help page: commands and options under their headings, as wide as the terminal allows."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from typer.core import TyperOption

from attncalc.common.errors import NARROWEST
from attncalc.common.system import grouped

GENERAL = "General"
INDENT = 2  # of what stands below a heading
WIDEST = 100  # columns: longer lines are hard to read
MOST_NAMED = 9  # options of a section that are named one by one; of a larger family, only the number is said
UNBROKEN = "\u2011"  # a hyphen at which no line is broken, until the page is done
FEW = 3  # so few options need no second page


def page(
    ctx: Any, usage: Sequence[str], commands: Mapping[str, Sequence[tuple[str, str]]], further: Collection[str]
) -> str:
    """The page of a command: how it is called, what it does, its commands and options by section.

    It is fitted to the terminal, and keeps no blanks behind a name whose explanation goes to the next line.
    """
    ctx.terminal_width = max(min(shutil.get_terminal_size().columns, WIDEST), NARROWEST)
    formatter = ctx.make_formatter()
    formatter.write_usage(ctx.command_path, " ".join(usage))
    ctx.command.format_help_text(ctx, formatter)
    wide = max((len(name) for rows in commands.values() for name, _ in rows), default=0)
    for heading, rows in commands.items():
        with formatter.section(heading):
            write_rows(formatter, [(f"{name:<{wide}}", line) for name, line in rows], wide)
    write_options(formatter, [each for each in ctx.command.params if isinstance(each, TyperOption)], further)
    return "\n".join(map(str.rstrip, formatter.getvalue().replace(UNBROKEN, "-").rstrip("\n").split("\n")))


def write_options(formatter: Any, options: Sequence[TyperOption], further: Collection[str]) -> None:
    """The options under the headings of their sections; those that most calls do without are only named at the end."""
    named = [each for each in options if each.name in further] if len(further) > FEW else []
    shown = [each for each in options if each not in named and (named or each.name != "help_all")]
    for heading, members in _sections(shown).items():
        with formatter.section(heading):
            write_rows(formatter, [(_fitted(each, formatter.width), each.help or "") for each in members])
    if named:
        with formatter.section("More, with --help-all"):
            write_rows(formatter, [(heading, _names(members)) for heading, members in _sections(named).items()])


def _sections(options: Sequence[TyperOption]) -> dict[str, list[TyperOption]]:
    return grouped(options, lambda each: each.rich_help_panel or GENERAL)


def _names(options: Sequence[TyperOption]) -> str:
    """`--get, --show, --cell`; for a large family, only the number of its options."""
    names = [each.opts[-1] for each in options]
    family = "-".join(names[0].split("-")[:3]) + "-"  # --rope-base: --rope-
    if len(names) > MOST_NAMED and all(name.startswith(family) for name in names):
        return f"{len(names)} options that begin with {family}"
    return ", ".join(names).replace("-", UNBROKEN)


def _fitted(option: TyperOption, width: int) -> str:
    """An option as the help writes it; if it is too long, a switch and its opposite get a line each."""
    words = spelling(option)
    return words.replace(" / ", " /\n" + " " * INDENT) if len(words) > width - INDENT else words


def write_rows(formatter: Any, rows: Sequence[tuple[str, str]], wide: int = 0) -> None:
    """Words and what they mean, in two columns; the first takes at most a third, or `wide` cells."""
    formatter.write_dl(rows, col_max=max(formatter.width // 3, wide))


def spelling(option: TyperOption) -> str:
    """An option as the help writes it: `-d, --digits N`."""
    names = ", ".join(option.opts) + "".join(f" / {name}" for name in option.secondary_opts)
    return f"{names} {option.metavar}" if option.metavar else names
