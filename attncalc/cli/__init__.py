"""The command line: a Typer app whose commands are generated from the calculations' declarations."""

from __future__ import annotations

from typing import Annotated

import typer

from attncalc.cli import output
from attncalc.cli.command import GENERAL
from attncalc.cli.groups import PROGRAM, Root

app = typer.Typer(cls=Root, name=PROGRAM, rich_markup_mode=None, pretty_exceptions_enable=False)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib import metadata  # here, since it costs more than a small calculation

        try:
            output.write(f"{PROGRAM} {metadata.version(PROGRAM)}\n")
        except metadata.PackageNotFoundError:
            output.write(f"{PROGRAM}, not installed: its version is that of the checkout\n")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def program(
    ctx: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_show_version, help="show the version", rich_help_panel=GENERAL
        ),
    ] = False,
) -> None:
    """Calculates the mathematics of transformers and explains every step.

    An operand is a literal (1,2,3 or "1 2; 3 4"), a file (.json, .csv, .npy, …), a part of one (FILE#name), or -
    for standard input. attncalc COMMAND --help explains a command.
    """
    if ctx.invoked_subcommand is None:
        output.write_page(ctx.get_help() + "\n")
