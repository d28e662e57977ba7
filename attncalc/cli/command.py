"""One command, made by Typer of an annotated function; its words, read once; and the table of the verbs."""

import inspect
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, cast

import typer
from typer.core import TyperArgument, TyperCommand, TyperOption
from typer.models import OptionInfo

from attncalc.calculations import DERIVATIVES, TABLE, load, neighbours
from attncalc.cli import output
from attncalc.common.errors import OF_LABELS, AttncalcError, OptionError, amount, both, flag, near, quoted, visible
from attncalc.common.system import NamedTuple, docstring, is_file, loaded

# Where a call's words are read, once: options are told from operands, numbers that begin with a minus included.


NAMELESS = frozenset("*^/+()[],; ")  # signs of formulas and lists of numbers, which no option's name has
INSTEAD = {  # names that other programs have for what is called differently here
    "html": "-f html makes a page of it",
    "json": "-f json makes a document of it",
    "csv": "-f csv makes a table of it",
    "tokens": OF_LABELS,
    "names": OF_LABELS,
    "save": "-o FILE writes it to a file, in the format of its suffix",
}
DASHES = "-‐‑‒–—―−"  # what editors and web pages turn a hyphen into

Parameter = TyperOption | TyperArgument


def _size(word: str, words: Sequence[str]) -> str:
    """`n=3` if an option is the name of an axis of the calculation among the words; else ""."""
    names = [name for each in words if (name := each.replace("_", "-")) in TABLE]
    shapes = [shape for operand in load(names[0]).operands for shape in operand.shapes] if names else []
    axes = {part for shape in shapes for axis in shape for part in ([axis] if isinstance(axis, str) else axis)}
    number = next((each for each in words if each.isdecimal()), "3")
    axis = word.replace("-", "_")
    return f"{axis}={number}" if axis in axes else ""


def _with_option(word: str, words: Sequence[str]) -> str:
    """A hint to name the calculation of a document if the option is that calculation's own; else ""."""
    from attncalc.inputs.problem_files import load_document  # doors: a document is read once a call is wrong
    from attncalc.inputs.reading import Reading

    for document in filter(is_file, words):
        with suppress(AttncalcError):
            called = load_document(document, Reading()).calculation
            own = load(called.split()[-1])
            if word.removeprefix("no-").replace("-", "_") in [
                *(o.name for o in own.operands),
                *(o.name for o in own.options),
            ]:
                return f"an option of {called} goes with its name: attncalc {called} {visible(document, 80)} --{word}"
    return ""


class Words:
    """The parser of one command, in place of Typer's own, which would look for options in `-1,2`.

    With `up_to`, the first operand is what that says (COMMAND), and whatever follows is left for that command.
    `ambiguous` are short options that are also the name of an operand or option: {"-q": "--quiet"}; if that may have
    been meant, `misread` says so.
    """

    _opt_prefixes = frozenset(("-", "--"))  # Typer asks its parsers for them

    def __init__(
        self,
        parameters: Sequence[Any],
        command: str,
        *,
        up_to: str = "",
        example: str = "",
        ambiguous: Mapping[str, str] | None = None,
    ) -> None:
        self.arguments = [each for each in parameters if isinstance(each, TyperArgument)]
        options = [each for each in parameters if isinstance(each, TyperOption)]
        self.known = {spelling: option for option in options for spelling in (*option.opts, *option.secondary_opts)}
        self.command = command
        self.name = command.rpartition(" ")[2]
        self.up_to = up_to
        self.example = example
        self.ambiguous = ambiguous or {}
        self.misread: list[str] = []

    def parse_args(self, args: Sequence[str]) -> tuple[dict[str, Any], list[str], list[Parameter]]:
        """The values by the parameters' names, the words that are left, and the parameters in the order given.

        An eager option is answered whatever else is wrong, and what follows it is its value.
        """
        rest = deque(args)
        values: dict[str, Any] = {}
        operands: list[str] = []
        order: list[Parameter] = []
        meant: list[str] = []
        while rest:
            word = rest.popleft()
            if word == "--":
                break
            if not self._is_option(word):
                operands.append(word)
                if self.up_to:
                    break
                continue
            if word in self.ambiguous and rest and rest[0][:1] != "-":
                meant.append(word)
            while self._bundles(word):  # -qd3 is -q -d3
                switch, word = self.known[word[:2]], "-" + word[2:]
                if switch.is_eager:
                    return {str(switch.name): True}, [], [switch]
                values[str(switch.name)] = True
                order.append(switch)
            name, equals, value = self._split(word)
            option = self.known.get(name)
            if option is None:
                raise self._unknown(name, [*operands, value, *rest])
            if option.is_flag and equals:
                raise OptionError(f"{name} is a switch and takes no value", hint=f"leave out ={visible(value, 80)}")
            key = str(option.name)
            if option.is_eager:
                return {key: option.is_flag or " ".join([*filter(None, [value]), *rest])}, [], [option]
            order.append(option)
            if option.is_flag:
                values[key] = name in option.opts
                continue
            value = value if equals else self._following(name, option, rest)
            if option.multiple:
                values.setdefault(key, []).append(value)
            elif key in values:
                raise OptionError(f"{name} is given twice: {quoted(values[key])} and {quoted(value)}")
            else:
                values[key] = value
        operands += rest
        self.misread += [
            f"{short} is read as {self.ambiguous[short]}; for {short[1:]} write -{short}"
            for short in dict.fromkeys(meant)
            if short[1:] not in values
        ]
        if self.up_to:
            return values, operands, order
        return values | self._placed(operands), [], [*order, *self.arguments]

    def _is_option(self, word: str) -> bool:
        """Whether a word is meant as an option: not `-` or `-#k` (standard input), a number below zero, a formula."""
        if len(word) < 2 or word[0] not in DASHES or word[1] in "0123456789.#":
            return False
        name = word.partition("=")[0]
        if name in self.known or word.startswith("--"):
            return True
        if word[0] != "-":
            return "--" + name.lstrip(DASHES) in self.known
        short = self.known.get(word[:2])
        if (short is None or short.is_flag) and not NAMELESS.isdisjoint(name):
            return False
        from attncalc.inputs.given import looks_numeric  # a door: most calls have no such word

        return not looks_numeric(word)

    def _bundles(self, word: str) -> bool:
        """Whether a word is a short switch with more behind it."""
        short = self.known.get(word[:2])
        return len(word) > 2 and word[1] != "-" and word[2] != "=" and short is not None and short.is_flag

    def _split(self, word: str) -> tuple[str, str, str]:
        """`--digits=3` → ("--digits", "=", "3"); so for `-d=3` and `-d3`; `--digits` → ("--digits", "", "")."""
        name, equals, value = word.partition("=")
        if name not in self.known and word[1] != "-" and word[:2] in self.known:
            return word[:2], "=", word[2:]
        return name, equals, value

    def _following(self, name: str, option: TyperOption, rest: deque[str]) -> str:
        """The word behind an option that takes a value."""
        if not rest:
            raise OptionError(f"{name} needs a value", hint=f"write {name} {option.metavar}")
        if rest[0] == "--" or self._is_option(rest[0]):
            value = visible(rest[0], 80)
            raise OptionError(
                f"{name} needs a value, but {value} is an option",
                hint=f"write {name} {option.metavar}, or {option.opts[-1]}={value} if that is the value",
            )
        return rest.popleft()

    def _placed(self, operands: list[str]) -> dict[str, Any]:
        """The operands by the names of the arguments that they are for; raises if there are too many or too few."""
        least = sum(each.required for each in self.arguments)
        many = [each for each in self.arguments if each.nargs != 1]
        if len(operands) >= least and (many or len(operands) <= len(self.arguments)):
            single = [str(each.name) for each in self.arguments if each.nargs == 1]
            return dict(zip(single, operands, strict=False)) | {
                str(each.name): operands[len(single) :] or None for each in many
            }
        if not self.arguments:
            mend = f"attncalc {operands[0]} --help" if operands[0] in TABLE else ""
            raise OptionError(f"{self.name} takes no operands, but {quoted(operands[0])} was given", hint=mend)
        taken = both(str(each.help) for each in self.arguments)
        given = amount(len(operands), "word was", "words were")
        raise OptionError(f"{self.name} takes {taken}, but {given} given", hint=self.example)

    def _unknown(self, name: str, words: Sequence[str]) -> OptionError:
        """An option that is not there, and what may have been meant, or where it may belong instead."""
        word = name.lstrip(DASHES)
        if name[0] != "-":
            return OptionError(
                f"{quoted(name)} begins with a dash that is not a hyphen", hint=f"did you mean --{word}?"
            )
        long = [spelling[2:] for spelling in self.known if spelling.startswith("--")]
        long = [spelling for spelling in long if spelling.startswith("no-") == word.startswith("no-")]
        same = flag(word)[2:] in long
        mend = f"did you mean {flag(word)}?" if same else near(word, long, "--") if len(word) > 1 else ""
        if not same and (len(word) > 1 or name[:2] == "--"):
            mend = neighbours(self.name, word.replace("-", "_"), f"attncalc {{}} --{word}") or mend
        if word in INSTEAD and not same:
            mend = INSTEAD[word]
        elif not same and (option := self._taking(word)):
            mend = f"did you mean {option}?"
        elif name[:2] != "--" and self._takes_formulas():
            mend = f'in brackets it is a formula: "({visible(name, 80)})"'
        elif word in DERIVATIVES:
            mend = f"it goes before the name: attncalc {word} {self.name} …"
        if "--size" in self.known and (size := _size(word, words)):
            mend = f"sizes are said together: --size {size}"
        if [each.name for each in self.arguments] == ["document"]:
            mend = _with_option(word, words) or mend
        place = visible(f"{self.command} {self.up_to} … {name}", 80)
        elsewhere = f"an option follows the name that it belongs to: {place}" if self.up_to else ""
        return OptionError(
            f"{self.command} has no option {visible(name, 80)}",
            hint=mend or elsewhere or f"{self.command} --help lists its options",
        )

    def _taking(self, word: str) -> str:
        """The option of the called calculation that takes this word: `--kind adam` for `--adam`."""
        return load(self.name).taking([word]) if self.name in TABLE else ""

    def _takes_formulas(self) -> bool:
        """Whether an operand of the called calculation is a formula, as -x is."""
        return self.name in TABLE and any(operand.kind == "expression" for operand in load(self.name).operands)


PROGRAM = "attncalc"

VERBS: Mapping[str, tuple[str, str]] = {
    "grad": ("", "The backward pass of any calculation, step by step."),
    "jacobian": ("", "How each entry of a result changes with each entry of an operand."),
    "explain": ("reference:explain", "The reference card of a calculation: all there is to know about it."),
    "check": ("checking:check", "Check an answer to a problem, and find the mistake behind a wrong one."),
    "compare": ("compare:compare", "Compare two dumps of arrays, and name the first array that diverges."),
    "grade": ("grade:grade", "Mark many answer sheets against one key."),
    "quiz": ("quiz:quiz", "A new problem with friendly numbers, blank answer sheets and the key."),
    "practice": ("practice:practice", "A tutor: it asks for one step after the other, judges each, and gives hints."),
    "mistakes": ("reference:mistakes", "The known mistakes with their ids, wrong rules and hints."),
    "run": ("solving:run", "Evaluate a problem or a saved result again."),
    "list": ("lists:every", "Every calculation, with one line about it."),
    "sample": ("lists:sample", "List the sample inputs, or print one."),
}
"""Name → (its module and function, or "" for a group with a command for each calculation; its one line)."""

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
    """The options for help, which verbs, calculations and groups have alike."""

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
        return str(loaded("cli.help_page:page")(ctx, [*filter(None, operands), "[OPTIONS]"], {}, further))


def made(
    name: str,
    function: Callable[..., int | None],
    *,
    own: Callable[[], Mapping[str, Any]] = dict,
    about: str = "",
    ambiguous: Mapping[str, str] | None = None,
    words: Sequence[str] | None = None,
) -> Command:
    """The command that Typer makes of a function; its help is the docstring, or what is said here.

    `own` gives the annotations of options that the function takes as one mapping, its parameter `own`. With the `words`
    that it is called with, the command has no more options than they name, if each of them is spelled out.
    """
    callback, further = flat(function, own, words)
    app = typer.Typer(add_completion=False, **PLAIN)
    app.command(name, cls=Command, help=about or inspect.cleandoc(docstring(function)), add_help_option=False)(callback)
    command = cast(Command, typer.main.get_command(app))
    command.further, command.ambiguous = further, ambiguous
    return command


def flat(
    function: Callable[..., int | None],
    own: Callable[[], Mapping[str, Any]] = dict,
    words: Sequence[str] | None = None,
) -> tuple[Callable[..., int | None], Collection[str]]:
    """A function as Typer takes it, and which of its options are marked as FURTHER.

    If a parameter is a NamedTuple, each of its fields becomes an option; every command has those of Help. The function
    in the annotation of a parameter `own` finds further options by the words of the call; it is not asked if the words
    name only other options. Annotations must be values, not text: evaluating text takes longer than all the rest.
    """
    hints = getattr(function, "func", function).__annotations__
    groups: dict[str, tuple[Callable[..., Any], Collection[str]]] = {}
    parameters: list[inspect.Parameter] = []
    further: set[str] = set()
    place = 0

    def taken(name: str, hint: Any, default: Any, marks: Sequence[Any]) -> inspect.Parameter:
        if FURTHER in marks:
            further.add(name)
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=hint, default=default)

    for name, parameter in inspect.signature(function).parameters.items():
        hint = hints[name]
        marks = getattr(hint, "__metadata__", ())
        kind = hint.__origin__ if marks else hint
        if name == "own":
            own = partial(marks[0], words) if marks else own
            place, groups[name] = len(parameters), (dict, ())
        elif hasattr(kind, "_field_defaults"):
            groups[name] = kind, kind._fields
            for each, annotation in kind.__annotations__.items():
                default = kind._field_defaults[each]
                parameters.append(taken(each, annotation, default, [*marks, *annotation.__metadata__]))
        else:
            parameters.append(taken(name, hint, parameter.default, marks))
    parameters += [taken(each, annotation, False, ()) for each, annotation in Help.__annotations__.items()]
    few = _named(parameters, words)
    if few is None and "own" in groups:
        found = own()
        groups["own"] = dict, found
        parameters[place:place] = [taken(each, told, None, told.__metadata__) for each, told in found.items()]
        few = _named(parameters, words)
    parameters = parameters if few is None else few

    def callback(**given: Any) -> int | None:
        for each in Help.__annotations__:
            given.pop(each, None)
        packed = {
            name: make(**{each: given.pop(each) for each in fields if each in given})
            for name, (make, fields) in groups.items()
        }
        return function(**packed, **given)

    callback.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # Typer reads it
    return callback, further


def _named(parameters: Sequence[inspect.Parameter], words: Sequence[str] | None) -> list[inspect.Parameter] | None:
    """The parameters that the words of a call name, and those that are no option; None if a word names none."""
    if words is None:
        return None
    spelled = {each.name: _spellings(each.annotation) for each in parameters}
    asked = {word.partition("=")[0] for word in words if word and word[0] in DASHES}
    if not asked <= set().union(*spelled.values()) - spelled["help"] - spelled["help_all"]:
        return None
    return [each for each in parameters if not spelled[each.name] or spelled[each.name] & asked]


def _spellings(annotation: Any) -> set[str]:
    """How an option is written: -d and --digits; --causal and --no-causal; nothing if it is no option."""
    told = [each for each in getattr(annotation, "__metadata__", ()) if isinstance(each, OptionInfo)]
    return {one for each in told for both in (each.default, *(each.param_decls or ())) for one in str(both).split("/")}
