"""One command, made by Typer of a function with annotated parameters, and the table of the verbs."""

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, cast

import typer
from typer.core import TyperCommand, TyperOption

from attncalc.cli import output
from attncalc.cli.words import Words

PROGRAM = "attncalc"

VERBS: Mapping[str, tuple[str, str]] = {
    "grad": ("", "The backward pass of any calculation, step by step."),
    "jacobian": ("", "How each entry of a result changes with each entry of an operand."),
    "explain": ("reference:explain", "The reference card of a calculation: all there is to know about it."),
    "check": ("checking:check", "Check an answer to a problem, and name the mistake behind a wrong one."),
    "grade": ("grade:grade", "Mark many answer sheets against one key."),
    "quiz": ("quizzes:quiz", "A new problem with friendly numbers, blank answer sheets and the key."),
    "mistakes": ("reference:mistakes", "The known mistakes with their ids, wrong rules and hints."),
    "run": ("checking:run", "Evaluate a problem or a saved result again."),
    "list": ("lists:every", "Every calculation, with one line about it."),
    "sample": ("lists:sample", "List the sample inputs, or print one."),
}
"""Name → (the module and the function that it is, "" for a group with a command for each calculation; its one line)."""

FURTHER = "further"
"""Marks an option, or a group of them, that most calls do without: --help only names it, --help-all explains it."""

MISREAD, EVERYTHING = "attncalc.misread", "attncalc.everything"  # what is kept with a call
EXAMPLE = "Example: "  # how the last line of a verb's docstring begins
PLAIN: dict[str, Any] = {"rich_markup_mode": None, "pretty_exceptions_enable": False}

Context = Any  # Typer keeps the types of its vendored Click to itself


def _show_help(ctx: typer.Context, param: typer.CallbackParam, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        ctx.meta[EVERYTHING] = param.name == "help_all"
        output.write_page(ctx.get_help() + "\n")
        raise typer.Exit


class Help(NamedTuple):
    """The help of whatever it follows, on verbs, calculations and groups alike."""

    help: Annotated[bool, typer.Option("-h", "--help", help="show this help", is_eager=True, callback=_show_help)] = (
        False
    )
    help_all: Annotated[
        bool, typer.Option("--help-all", help="show the help of every option", is_eager=True, callback=_show_help)
    ] = False


class Command(TyperCommand):
    """A command whose operands may begin with a minus, and whose help is plain text, by section."""

    further: Collection[str] = ()  # the names of its options that are marked FURTHER
    ambiguous: Mapping[str, str] | None = None  # as Words take them

    def make_parser(self, ctx: Context) -> Any:
        """The parser of the words; while a shell completes one it is Typer's own."""
        if ctx.resilient_parsing:
            return super().make_parser(ctx)
        example = (self.help or "").partition(EXAMPLE)[2]
        words = Words(self.params, ctx.command_path, example=example, ambiguous=self.ambiguous)
        ctx.meta[MISREAD] = words.misread
        return words

    def get_help(self, ctx: Context) -> str:
        """The help as plain text."""
        operands = [each.metavar or "" for each in self.params if not isinstance(each, TyperOption)]
        further = () if ctx.meta.get(EVERYTHING) else self.further
        return help_of(ctx, [*filter(None, operands), "[OPTIONS]"], {}, further)


def help_of(
    ctx: Context, usage: Sequence[str], commands: Mapping[str, Sequence[tuple[str, str]]], further: Collection[str] = ()
) -> str:
    """The help of a command, as wide as the terminal allows."""
    from attncalc.cli.help_page import page  # a door: few calls ask for it

    return page(ctx, usage, commands, further)


def made(
    name: str,
    function: Callable[..., int | None],
    *,
    own: Mapping[str, Any] | None = None,
    about: str = "",
    ambiguous: Mapping[str, str] | None = None,
) -> Command:
    """The command that Typer makes of a function; its help is the docstring, or what is said here.

    `own` are the annotations of options that the function takes as one mapping, its parameter `own`.
    """
    callback, further = flat(function, own or {})
    app = typer.Typer(add_completion=False, **PLAIN)
    app.command(name, cls=Command, help=about or inspect.getdoc(function), add_help_option=False)(callback)
    command = cast(Command, typer.main.get_command(app))
    command.further, command.ambiguous = further, ambiguous
    return command


def flat(
    function: Callable[..., int | None], own: Mapping[str, Any] | None = None
) -> tuple[Callable[..., int | None], Collection[str]]:
    """A function as Typer takes it, and which of its options are marked as FURTHER.

    Where a parameter is a NamedTuple, each of its fields becomes an option; every command has those of Help. All are
    read off the annotations as they stand, which must be values, not text: reading text takes longer than all the rest.
    """
    hints = getattr(function, "func", function).__annotations__
    groups: dict[str, tuple[Callable[..., Any], Collection[str]]] = {}
    parameters: list[inspect.Parameter] = []
    further: set[str] = set()

    def take(name: str, hint: Any, default: Any, marks: Sequence[Any]) -> None:
        if FURTHER in marks:
            further.add(name)
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=hint, default=default))

    for name, parameter in inspect.signature(function).parameters.items():
        hint = hints[name]
        marks = getattr(hint, "__metadata__", ())
        kind = hint.__origin__ if marks else hint
        if name == "own":
            groups[name] = dict, own or {}
            for each, annotation in (own or {}).items():
                take(each, annotation, None, annotation.__metadata__)
        elif hasattr(kind, "_field_defaults"):
            groups[name] = kind, kind._fields
            for each, annotation in kind.__annotations__.items():
                take(each, annotation, kind._field_defaults[each], [*marks, *annotation.__metadata__])
        else:
            take(name, hint, parameter.default, marks)
    for each, annotation in Help.__annotations__.items():
        take(each, annotation, False, ())

    def callback(**given: Any) -> int | None:
        for each in Help.__annotations__:
            given.pop(each)
        packed = {name: make(**{each: given.pop(each) for each in fields}) for name, (make, fields) in groups.items()}
        return function(**packed, **given)

    callback.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # Typer reads it
    return callback, further
