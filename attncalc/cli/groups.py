"""Groups of commands that come from tables, so that only the called command is imported and built."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, cast

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from attncalc.calculations import TABLE
from attncalc.cli import output
from attncalc.cli.command import Command, Context, help_option
from attncalc.cli.words import sort_words
from attncalc.errors import AttncalcError, OptionError
from attncalc.text import near, quoted

PROGRAM = "attncalc"

VERBS: Mapping[str, tuple[str, str]] = {
    "grad": ("attncalc.cli.gradient", "The backward pass of any calculation, step by step."),
    "jacobian": ("attncalc.cli.gradient:jacobian", "How each entry of a result changes with each entry of an operand."),
    "explain": ("attncalc.cli.explanation", "The reference card of a calculation: all there is to know about it."),
    "check": ("attncalc.cli.checking", "Check an answer to a problem, and name the mistake behind a wrong one."),
    "grade": ("attncalc.cli.grading", "Mark many answer sheets against one key."),
    "quiz": ("attncalc.cli.quizzes", "A new problem with friendly numbers, blank answer sheets and the key."),
    "mistakes": ("attncalc.cli.mistakes", "The known mistakes with their ids, wrong rules and hints."),
    "run": ("attncalc.cli.run", "Evaluate a problem or a saved result again."),
    "list": ("attncalc.cli.listing", "Every calculation, with one line about it."),
    "sample": ("attncalc.cli.samples", "List the sample inputs, or print one."),
}
"""Name → (the module whose `command()`, or the module:function, that builds it; its one line)."""


class Calculations(TyperGroup):
    """A group with a command for every calculation; `build` makes the one that is called."""

    noun = "calculation"

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**{**attributes, "add_help_option": False, "rich_markup_mode": None})
        self.params.append(help_option())
        self.commands = {name: TyperCommand(name, short_help=line) for name, line in self.lines().items()}

    def lines(self) -> dict[str, str]:
        """Every command's name and one line; the commands themselves are not built for it."""
        return {name: line for name, (_, line) in TABLE.items()}

    def build(self, name: str) -> Command:
        """The command of that name."""
        from attncalc.cli.calculate import calculation_command

        return calculation_command(name)

    def sections(self) -> dict[str, list[tuple[str, str]]]:
        """The commands as the help lists them."""
        from attncalc.cli.help import families

        return families()

    @property
    def options(self) -> list[TyperOption]:
        """The options that stand before the command's name."""
        return [param for param in self.params if isinstance(param, TyperOption)]

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Tell the group's options from the command and its words."""
        if ctx.resilient_parsing:  # as it is while a shell completes a word
            return super().parse_args(ctx, args)
        found, rest = sort_words(args, self.options, ctx.command_path, up_to=self.noun.upper())
        left = super().parse_args(ctx, [*found, "--", *rest])
        if not rest and not self.invoke_without_command:
            raise OptionError(
                f"{ctx.command_path} needs the name of a calculation", hint="attncalc list names them all"
            )
        return left

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that the first word names, now built."""
        name, *rest = args
        if name in self.commands:
            return name, self.build(name), rest
        if ctx.resilient_parsing:
            return None, None, rest
        raise OptionError(f"{ctx.command_path} has no {self.noun} {quoted(name)}", hint=self.mend(name))

    def mend(self, name: str) -> str:
        """What to write in place of a command that is not there."""
        from attncalc.inputs.paths import is_file  # few calls need it

        if is_file(name):
            return f"a calculation's name comes first: attncalc {self.name} attention FILE"
        return near(name, list(self.commands)) or "attncalc list names them all"

    def get_help(self, ctx: Context) -> str:
        """The help, as wide as the terminal allows."""
        from attncalc.cli.help import fit, trimmed  # few calls ask for it

        fit(ctx)
        return trimmed(super().get_help(ctx))

    def collect_usage_pieces(self, ctx: Context) -> list[str]:
        """What follows the group's name in the first line of its help."""
        return [f"{self.noun.upper()} [OPERANDS] [OPTIONS]"]

    def format_options(self, ctx: Context, formatter: Any) -> None:
        """The commands under the headings of their families, then the group's own options."""
        from attncalc.cli.help import write_options, write_rows

        wide = max(map(len, self.commands))
        for heading, rows in self.sections().items():
            with formatter.section(heading):
                write_rows(formatter, [(f"{name:<{wide}}", line) for name, line in rows], wide)
        write_options(formatter, self.options)


class Root(Calculations):
    """The whole program: the calculations and the verbs."""

    noun = "command"

    def lines(self) -> dict[str, str]:
        """The calculations and the verbs."""
        return super().lines() | {name: line for name, (_, line) in VERBS.items()}

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """As for any group; completion may be asked for with the name of a shell."""
        if args and args[0].endswith("-completion") and not ctx.resilient_parsing:
            from attncalc.cli.completion import OPTIONS, complete  # once in a user's life

            if args[0] in OPTIONS:
                complete(ctx, args[0], args[1:])
        return super().parse_args(ctx, args)

    def build(self, name: str) -> Command:
        """The verb or the calculation of that name."""
        if name in VERBS:
            module, _, maker = VERBS[name][0].partition(":")
            return cast(Command, getattr(import_module(module), maker or "command")())
        return super().build(name)

    def sections(self) -> dict[str, list[tuple[str, str]]]:
        """The families, then the verbs."""
        return super().sections() | {"Over all of them": [(name, line) for name, (_, line) in VERBS.items()]}

    def mend(self, name: str) -> str:
        """The near names, and what an operand or a wish for help may have been meant for."""
        from attncalc.inputs.paths import is_file  # few calls need it

        if is_file(name):
            return "a calculation's name comes first; attncalc run FILE evaluates a saved problem"
        if name[:1].isdigit() or name[:1] == "[":
            return "a calculation's name comes first: attncalc cosine 1,2 3,4"
        if name == "help":
            return "attncalc --help, or attncalc cosine --help"
        return super().mend(name)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,  # patterns are left to the verbs that take many files
        **extra: Any,
    ) -> Any:
        """Run a call: its exit status, 2 with a line on standard error where the caller can mend it."""
        words = list(sys.argv[1:] if args is None else args)
        self._main_shell_completion(extra, PROGRAM, complete_var)
        try:
            with self.make_context(PROGRAM, words, **extra) as ctx:
                status = self.invoke(ctx) or 0
        except typer.Exit as end:
            status = end.exit_code
        except AttncalcError as fault:
            output.say_fault(fault)
            status = 2
        if standalone_mode:
            sys.exit(status)
        return status
