"""Completion in a shell: its script written or installed, for the shell that is named or that the call comes from."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from io import StringIO
from typing import Any

from attncalc.cli.output import write
from attncalc.errors import OptionError
from attncalc.text import either, quoted

OPTIONS = ("--show-completion", "--install-completion")
SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")


def complete(ctx: Any, option: str, words: Sequence[str]) -> None:
    """Do what an option of OPTIONS says, and end; Typer by itself takes no shell's name, and would pass over it."""
    from typer.completion import install_callback, show_callback

    hint = f"{ctx.command_path} {option} followed by {either(SHELLS)}"
    if len(words) > 1:
        raise OptionError(f"{option} takes the name of one shell, but {len(words)} words were given", hint=hint)
    shell = words[0] if words else _of_the_call()
    if shell is None:
        raise OptionError("cannot tell which shell this call comes from", hint=hint)
    if shell not in SHELLS:
        raise OptionError(f"there is no completion for {quoted(shell)}", hint=hint)
    callback = show_callback if option == OPTIONS[0] else install_callback
    page = StringIO()
    with suppress(SystemExit), redirect_stdout(page):  # each ends the program, and may fail to write before
        callback(ctx, ctx.command.params[0], shell)
    write(page.getvalue())
    ctx.exit()


def _of_the_call() -> str | None:
    import shellingham

    try:
        return str(shellingham.detect_shell()[0])
    except shellingham.ShellDetectionFailure:
        return None
