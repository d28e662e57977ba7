"""The command line: a Typer app whose commands are made of functions, those of calculations of declarations."""

from typing import Annotated

import typer

from attncalc.cli import output
from attncalc.cli.command import PROGRAM
from attncalc.cli.commands import group


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib import metadata  # a door: it costs more than a small calculation

        try:
            output.write(f"{PROGRAM} {metadata.version(PROGRAM)}\n")
        except metadata.PackageNotFoundError:
            output.write(f"{PROGRAM}, not installed: its version is that of the checkout\n")
        raise typer.Exit


def _complete(ctx: typer.Context, param: typer.CallbackParam, shell: str | None) -> None:
    if shell is not None and not ctx.resilient_parsing:
        from attncalc.cli.completion import complete  # a door: once in a user's life

        complete(ctx, param.opts[0], shell.split())


def program(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="show the version")
    ] = False,
    install_completion: Annotated[
        str | None,
        typer.Option(
            "--install-completion",
            metavar="[SHELL]",
            is_eager=True,
            callback=_complete,
            help="let a shell complete words (this one)",
        ),
    ] = None,
    show_completion: Annotated[
        str | None,
        typer.Option(
            "--show-completion",
            metavar="[SHELL]",
            is_eager=True,
            callback=_complete,
            help="show the script that does so",
        ),
    ] = None,
) -> None:
    """Calculates the mathematics of transformers and explains every step.

    An operand is a literal (1,2,3 or "1 2; 3 4"), a file (.json, .csv, .npy, …), a part of one (FILE#name), or -
    for standard input. attncalc COMMAND --help explains a command.
    """
    if ctx.invoked_subcommand is None:
        output.write_page(ctx.get_help() + "\n")


app = group(PROGRAM, program, program.__doc__ or "")
