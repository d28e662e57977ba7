"""Completion in a shell: its questions answered; its script written or installed, for the shell that is meant."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from io import StringIO
from typing import Any

import shellingham
import typer
from typer.completion import get_completion_inspect_parameters, install_callback, shell_complete, show_callback

from attncalc.cli.command import PROGRAM
from attncalc.cli.output import write
from attncalc.common.errors import OptionError, either, quoted

SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")


def answer(program: Any, variable: str, instruction: str) -> int:
    """Write what a word can be completed to: what the script of a shell asks for in a variable."""
    get_completion_inspect_parameters()  # makes the shells known that Typer knows
    return shell_complete(program, {}, PROGRAM, variable, instruction)


def complete(ctx: Any, option: str, words: Sequence[str]) -> None:
    """Do what --show-completion or --install-completion says, and end; Typer's own takes no shell's name."""
    hint = f"{ctx.command_path} {option} followed by {either(SHELLS)}"
    if len(words) > 1:
        raise OptionError(f"{option} takes the name of one shell, but {len(words)} words were given", hint=hint)
    shell = words[0] if words else _of_the_call()
    if shell is None:
        raise OptionError("cannot tell which shell this call comes from", hint=hint)
    if shell not in SHELLS:
        raise OptionError(f"there is no completion for {quoted(shell)}", hint=hint)
    callback = show_callback if option == "--show-completion" else install_callback
    page = StringIO()
    with suppress(SystemExit), redirect_stdout(page):  # each ends the program, and may fail to write before
        callback(ctx, ctx.command.params[0], shell)
    write(page.getvalue())
    raise typer.Exit


def _of_the_call() -> str | None:
    try:
        return str(shellingham.detect_shell()[0])
    except shellingham.ShellDetectionFailure:
        return None
