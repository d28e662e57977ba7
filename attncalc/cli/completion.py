"""Completion in a shell: its questions answered; its script written or installed, for the shell that is meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout, suppress
from io import StringIO
from itertools import islice
from typing import Any

import numpy as np
import shellingham
import typer
from typer.completion import get_completion_inspect_parameters, install_callback, shell_complete, show_callback

from attncalc.cli.command import PROGRAM
from attncalc.cli.output import write
from attncalc.cli.solving import by_name
from attncalc.common.errors import AttncalcError, OptionError, either, place_text, quoted
from attncalc.inputs.problem_files import load_document, sample_problem
from attncalc.inputs.reading import Reading
from attncalc.record.trace import Trace
from attncalc.solve.backward import smooth_operands
from attncalc.solve.problem import Problem, told_apart
from attncalc.solve.solver import solve

SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")
MOST_CELLS = 200  # entries of a step that are offered


def answer(program: Any, variable: str, instruction: str) -> int:
    """Write what a word can be completed to: what the script of a shell asks for in a variable.

    What cannot be read completes nothing: there is no place for an error while somebody types.
    """
    get_completion_inspect_parameters()  # registers the shells that Typer knows
    with suppress(AttncalcError):
        return shell_complete(program, {}, PROGRAM, variable, instruction)
    return 0


def step(ctx: Any, incomplete: str) -> list[str]:
    """What --get can be completed to: the names of steps and outputs."""
    return [name for name in _names(ctx) if name.startswith(incomplete)]


def steps(ctx: Any, incomplete: str) -> list[str]:
    """What --show can be completed to: names of steps, behind those that are there already and a comma."""
    return _listed(_names(ctx), incomplete)


def wrt(ctx: Any, incomplete: str) -> list[str]:
    """What --wrt can be completed to: the operands that have a gradient."""
    problem = _problem(ctx)
    return _listed(smooth_operands(problem.calculation, problem.inputs), incomplete)


def cells(ctx: Any, incomplete: str) -> list[str]:
    """What --cell can be completed to: the first entry of each step, and behind a bracket all entries of that one."""
    shapes = {each.key: each.shape for each in _trace(ctx).steps}
    name, bracket, _ = incomplete.rpartition("[")
    known = {name: shapes.get(name, ())} if bracket else shapes
    most = MOST_CELLS if bracket else 1
    found = [key + place_text(at) for key in known for at in islice(np.ndindex(known[key]), most) if at]
    return [word for word in ("all", *found) if word.startswith(incomplete)]


def _names(ctx: Any) -> list[str]:
    trace = _trace(ctx)
    return list(dict.fromkeys(each.key for each in (*trace.steps, *trace.outputs)))


def _listed(known: Iterable[str], incomplete: str) -> list[str]:
    before, comma, begun = incomplete.rpartition(",")
    there = before.split(",")
    return [before + comma + name for name in known if name.startswith(begun) and name not in there]


def _trace(ctx: Any) -> Trace:
    """The trace of the problem, computed with the call's options if it can be."""
    problem = _problem(ctx)
    with suppress(AttncalcError):
        _, said, _ = by_name(problem.calculation, "", ctx.params)
        return solve(problem._replace(options={**problem.options, **said}))
    return solve(problem)


def _problem(ctx: Any) -> Problem:
    """The document of `run`, or the calculation's sample.

    The call's own operands are not read: Tab waits for no large file, and standard input is the shell's.
    """
    name = ctx.command_path.removeprefix(f"{PROGRAM} ")
    if name == "run":  # an option without its value ends the reading of words, and the operands are left
        return load_document(next(iter(ctx.args), ""), Reading()).problem
    calculation, backward = told_apart(name)
    return sample_problem(calculation)._replace(backward=backward)


def complete(ctx: Any, option: str, words: Sequence[str]) -> None:
    """Do what --show-completion or --install-completion says, and end; Typer's own options take no name of a shell."""
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
