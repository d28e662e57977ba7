"""A command whose operands may begin with a minus, whose faults are one line and whose help is plain text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperOption

from attncalc.cli import output
from attncalc.cli.words import sort_words
from attncalc.errors import AttncalcError
from attncalc.text import flag

Context = Any  # Typer keeps the types of its vendored Click to itself

GENERAL = "General"


class Command(TyperCommand):
    """One command: its options in sections, and whatever else was written as its operands.

    The callback receives the operands as `words`, and each option that was given under its own name. `words`, where it
    is given, are what a shell completes an operand to; otherwise it offers files.
    """

    def __init__(
        self,
        name: str,
        callback: Callable[..., int | None],
        options: Sequence[TyperOption],
        *,
        summary: str,
        usage: str = "",
        ambiguous: Mapping[str, str] | None = None,
        words: Callable[[], Iterable[str]] | None = None,
    ) -> None:
        operands = TyperArgument(
            param_decls=["words"],
            nargs=-1,
            hidden=True,
            autocompletion=(lambda ctx, args, incomplete: list(words())) if words else None,
        )
        super().__init__(
            name,
            callback=callback,
            params=[operands, *options, help_option()],
            help=summary,
            add_help_option=False,
            rich_markup_mode=None,
        )
        self.usage = usage
        self.ambiguous = ambiguous or {}  # short options that are the name of an operand too: {"-q": "--quiet"}
        self.misreadings: list[str] = []

    @property
    def options(self) -> list[TyperOption]:
        """The options, the one for help included."""
        return [param for param in self.params if isinstance(param, TyperOption)]

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Tell options from operands, so that what is handed on needs no telling any more."""
        if not ctx.resilient_parsing:  # as it is while a shell completes a word
            self.misreadings = self._misreadings(args)
            found, operands = sort_words(args, self.options, ctx.command_path)
            args = [*found, "--", *operands]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Context) -> Any:
        """Run the command; what may have been misread is noted behind its result, or is the hint of its fault."""
        try:
            status = super().invoke(ctx)
        except AttncalcError as fault:
            fault.hint = fault.hint or "; ".join(self.misreadings)
            raise
        for note in self.misreadings:
            output.say("note", note)
        return status

    def _misreadings(self, args: list[str]) -> list[str]:
        """`-q q.json` is `--quiet` and an operand, but may have been meant as `--q q.json`."""
        found = []
        for short, long in self.ambiguous.items():
            written = any(word.partition("=")[0] == "-" + short for word in args)
            meant = any(word == short and following[:1] != "-" for word, following in pairwise(args))
            if meant and not written:
                found.append(f"{short} is read as {long}; for {short[1:]} write -{short}")
        return found

    def collect_usage_pieces(self, ctx: Context) -> list[str]:
        """What follows the command's name in the first line of its help."""
        return [self.usage, "[OPTIONS]"] if self.usage else ["[OPTIONS]"]

    def get_help(self, ctx: Context) -> str:
        """The help, as wide as the terminal allows."""
        from attncalc.cli.help import fit, trimmed  # few calls ask for it

        fit(ctx)
        return trimmed(super().get_help(ctx))

    def format_options(self, ctx: Context, formatter: Any) -> None:
        """The options, section by section."""
        from attncalc.cli.help import write_options

        write_options(formatter, self.options)


def option(
    name: str,
    help: str,
    *,
    value: str = "",
    short: str = "",
    section: str = GENERAL,
    multiple: bool = False,
    choices: Sequence[str] = (),
) -> TyperOption:
    """An option `--name VALUE`; without a value a switch, `--name/--no-name` or `--a-no-b/--a-b`; None if not given."""
    long = flag(name)
    opposite = long.replace("-no-", "-") if "-no-" in long else "--no-" + long[2:]
    return TyperOption(
        param_decls=[name, *([short] if short else []), long if value else f"{long}/{opposite}"],
        type=str if value else bool,
        is_flag=not value,
        metavar=value or None,
        multiple=multiple,
        help=help,
        rich_help_panel=section,
        autocompletion=(lambda ctx, args, incomplete: list(choices)) if choices else None,
    )


def switch(name: str, help: str, *, short: str = "", section: str = GENERAL) -> TyperOption:
    """A switch that can only be turned on."""
    decls = [name, *([short] if short else []), flag(name)]
    return TyperOption(param_decls=decls, type=bool, is_flag=True, help=help, rich_help_panel=section)


def help_option() -> TyperOption:
    """`-h`, `--help`: the help of whatever it follows, and no more."""

    def show(ctx: Context, param: Any, wanted: bool | None) -> None:
        if wanted and not ctx.resilient_parsing:
            output.write_page(ctx.get_help() + "\n")
            raise typer.Exit

    return TyperOption(
        param_decls=["help", "-h", "--help"],
        type=bool,
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help="show this help",
        rich_help_panel=GENERAL,
    )
