"""The command line: a Typer app whose commands are made of functions, those of calculations of declarations."""

import os
import re
import sys
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from attncalc.calculations import ALIASES, DERIVATIVES, TABLE, WHOLE, families
from attncalc.cli import output
from attncalc.cli.command import MISREAD, PLAIN, PROGRAM, VERBS, Context, Words, flat, made
from attncalc.common.errors import SHORTEST, AttncalcError, OptionError, either, elsewhere, letters, near, quoted
from attncalc.common.system import docstring, is_file, loaded

# Groups of commands that come from tables, so that only the called command is imported and built.


class Commands(TyperGroup):
    """A group with a command for every calculation; the program itself has the verbs too."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.noun, self.verbs = ("command", VERBS) if self.name == PROGRAM else ("calculation", {})
        self.lines = {name: line for name, (_, line) in (*TABLE.items(), *WHOLE.items(), *self.verbs.items())}

    def list_commands(self, ctx: Context) -> list[str]:
        """The names of all commands."""
        return list(self.lines)

    def get_command(self, ctx: Context, cmd_name: str) -> TyperCommand:
        """A command as a shell lists it, not built."""
        return TyperCommand(cmd_name, short_help=self.lines[cmd_name])

    def build(self, name: str, words: Sequence[str] | None) -> TyperCommand | TyperGroup:
        """The command of that name, for these words if they are known; what it needs is imported only here."""
        if name not in self.verbs:
            command: TyperCommand = loaded("cli.settings:command_of")(
                name, carry_out, self.name if self.name in DERIVATIVES else "", words
            )
            return command
        if name in DERIVATIVES:
            return typer.main.get_group(group(name, _needs_a_name, DERIVATIVE[name]))
        return made(name, loaded(f"cli.{VERBS[name][0]}"), words=words)

    def make_parser(self, ctx: Context) -> Any:
        """The parser of what stands before the command; while a shell completes a word it is Typer's own."""
        if ctx.resilient_parsing:
            return super().make_parser(ctx)
        return Words(self.params, ctx.command_path, up_to=self.noun.upper())

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that the first word names, now built."""
        name, *rest = [*ALIASES.get(args[0], (args[0],)), *args[1:]]
        if name in ("quiz", "practice"):
            rest = _spelled_out(rest)
        if name in self.lines:
            return name, self.build(name, None if ctx.resilient_parsing else rest), rest
        if ctx.resilient_parsing:
            return None, None, rest
        raise OptionError(f"{ctx.command_path} has no {self.noun} {quoted(name)}", hint=self._mend(name, rest))

    def _mend(self, name: str, rest: Sequence[str]) -> str:
        """What to write in place of a command that is not there: what may have been meant, or a near name."""
        if is_file(name):
            further = (
                "; attncalc run FILE evaluates a saved problem"
                if self.verbs
                else f": attncalc {self.name} attention FILE"
            )
            return f"a calculation's name comes first{further}"
        if name.endswith(".json") and (there := loaded("inputs.resolve:near_files")(name)):
            return str(there)
        if self.verbs and (name[:1].isdigit() or name[:1] == "["):
            return "a calculation's name comes first: attncalc cosine 1,2 3,4"
        if self.verbs and name == "help":
            return f"attncalc --help, or attncalc {rest[0] if rest and rest[0] in self.lines else 'cosine'} --help"
        known = [
            *self.lines,
            *(word for word, meant in ALIASES.items() if len(word) > SHORTEST and meant[0] in self.lines),
        ]
        if elsewhere(name) and (mend := near(name, [*self.verbs, *known])):
            asked = next((word for word in rest if word in TABLE), "")  # of a question, only the calculation counts
            return f"write attncalc explain {asked}" if asked and "explain" in mend else mend
        likely = self._spoken([name, *rest]) or near(name, known)
        return likely or loaded("cli.reference:meant")([name], "explain") or "attncalc list names them all"

    def _spoken(self, words: Sequence[str]) -> str:
        """What may be meant by several words, or by a part of one: `layer norm`, `LayerNorm`, `dotproduct`."""
        spoken = takewhile(lambda word: word[:1].isalpha() and letters(word).isalnum(), words)
        parts = [part.casefold() for part in re.split(r"[-_]|(?<=[a-z])(?=[A-Z])", "-".join(spoken)) if part]
        spelled = {letters(word): " ".join(meant) for word, meant in ALIASES.items() if meant[0] in self.lines}
        spelled |= {letters(name): name for name in self.lines}
        others = [part for part in parts if part not in (*loaded("cli.reference:BACKWARD"), "jacobian")]
        stems = [part[:5] for part in parts if len(part) > 3]
        if whole := spelled.get("".join(parts)):
            return f"did you mean {whole}?"
        if len(others) < len(parts) and (whole := spelled.get("".join(others))):
            over = ("jacobian " if "jacobian" in parts else "grad ") if self.verbs else ""
            return f"did you mean {over}{whole}?"
        found = (
            [name for name in reversed(parts) if name in self.lines]
            or [name for name in self.lines if len(parts) == 1 and len(name) > 2 and parts[0].startswith(name)]
            or [
                name
                for name, line in self.lines.items()
                if len(stems) > 1 and all(stem in str(line).casefold() for stem in stems)
            ]
        )
        return f"did you mean {either(found[:3])}?" if found else ""

    def get_help(self, ctx: Context) -> str:
        """The help as plain text: the commands under the headings of their families, then the group's own options."""
        commands = families()
        commands["Whole models"] = [(name, line) for name, (_, line) in WHOLE.items()]
        if self.verbs:
            commands["Over all of them"] = [(name, line) for name, (_, line) in self.verbs.items()]
        return str(loaded("cli.help_page:page")(ctx, [f"{self.noun.upper()} [OPERANDS] [OPTIONS]"], commands, ()))

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,  # patterns are left to the verbs that take many files
        **extra: Any,
    ) -> Any:
        """Run a call; its exit status is 2, with a line on standard error, if the caller can mend it."""
        words = list(sys.argv[1:] if args is None else args)
        variable = complete_var or f"_{PROGRAM.upper()}_COMPLETE"
        if os.environ.get(variable):
            from attncalc.cli.completion import answer  # a door: it is a shell that asks, not somebody who calculates

            sys.exit(answer(self, variable, os.environ[variable]))
        try:
            with self.make_context(PROGRAM, words, **extra) as ctx:
                status = self._invoked(ctx)
        except typer.Exit as end:
            status = end.exit_code
        except AttncalcError as fault:
            output.say_fault(fault)
            status = 2
        if standalone_mode:
            sys.exit(status)
        return status

    def _invoked(self, ctx: Context) -> int:
        """Run the command; a note after its result, or the hint of its error, tells what may have been misread."""
        try:
            status: int = self.invoke(ctx) or 0
        except AttncalcError as fault:
            fault.hint = fault.hint or "; ".join(ctx.meta.get(MISREAD, ()))
            raise
        output.say("note", *ctx.meta.get(MISREAD, ()))
        return status


def _spelled_out(words: Sequence[str]) -> list[str]:
    """The words, with a natural name replaced by its calculation and the option that goes with it."""
    for i, word in enumerate(words):
        if word in TABLE or (i and words[i - 1].startswith("-")):
            break
        if word in ALIASES:
            return [*words[:i], *ALIASES[word], *words[i + 1 :]]
    return [*words]


def carry_out(*asked: Any) -> int:
    """Do what the words of a calculation's command ask for; NumPy, and all that calculates, is imported only here."""
    status: int = loaded("cli.solving:carry_out")(*asked)
    return status


DERIVATIVE = {
    "grad": "The backward pass of a calculation. It takes the calculation's own operands and options, and --upstream.",
    "jacobian": "The Jacobian of a small calculation: how each entry of the result changes with each entry of an "
    "operand.",
}


def group(name: str, callback: Callable[..., None], about: str) -> typer.Typer:
    """A Typer app with the commands of the tables; the callback says what a call without any of them does."""
    app = typer.Typer(cls=Commands, name=name, add_completion=False, **PLAIN)
    app.callback(invoke_without_command=True, add_help_option=False, help=about)(flat(callback)[0])
    return app


def _needs_a_name(ctx: typer.Context) -> None:
    if ctx.invoked_subcommand is None:
        raise OptionError(f"{ctx.command_path} needs the name of a calculation", hint="attncalc list names them all")


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


def _of_a_shell(name: str, help: str) -> Any:
    return typer.Option(name, metavar="[SHELL]", is_eager=True, callback=_complete, help=help)


def program(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="show the version")
    ] = False,
    install_completion: Annotated[
        str | None, _of_a_shell("--install-completion", "let a shell complete words (this one)")
    ] = None,
    show_completion: Annotated[str | None, _of_a_shell("--show-completion", "show the script that does so")] = None,
) -> None:
    """Calculates the mathematics of transformers and explains every step.

    An operand is a literal (1,2,3 or "1 2; 3 4"), a file (.json, .csv, .npy, …), a part of one (FILE#name), or -
    for standard input. attncalc COMMAND --help explains a command.
    """
    if ctx.invoked_subcommand is None:
        output.write_page(ctx.get_help() + "\n")


app = group(PROGRAM, program, docstring(program))
