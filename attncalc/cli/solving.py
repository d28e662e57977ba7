"""From words, or a document, to the page: a problem is solved and shown, within a bound where letters take for ever."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attncalc.cli import output
from attncalc.cli.command import FURTHER
from attncalc.cli.settings import Arithmetic, Check, Marking, Settings, Shown, Tables, is_spoken, names
from attncalc.cli.settings import chosen as settled
from attncalc.common.errors import WITHOUT_EXACT, NoPicture, NotExact, are, both, either, flag
from attncalc.common.system import TooLongError, alarm
from attncalc.declare.calculation import Calculation, checked
from attncalc.declare.operands import UPSTREAM, WEIGHTS
from attncalc.inputs.calls import Gathered, gather, with_lists
from attncalc.inputs.json_files import plain
from attncalc.inputs.reading import WITH_HEADS, Reading, calculation_of, has_heads
from attncalc.record.trace import LETTERS, Trace, aloud, remarked
from attncalc.render import PICTURES, pieces, render
from attncalc.solve.problem import LARGE, Backward, Problem, posed
from attncalc.solve.solver import solve

if TYPE_CHECKING:  # few calls read one
    from attncalc.inputs.problem_files import Document


def carry_out(
    calculation: Calculation,
    derivative: str,
    words: Sequence[str],
    own: Mapping[str, Any],
    chosen: Settings,
    check: str | None,
    marking: Marking,
    tables: Tables,
) -> int:
    """Read the operands, calculate, and show the result; or check an answer in its place: the exit status."""
    if own.get("info"):
        from attncalc.cli.model import inform  # a door: few calls ask for it

        return inform([*words, *filter(None, [own.get("checkpoint")])], chosen)
    if own.get("text") is not None:
        from attncalc.cli.model import with_text  # a door, as above

        words = with_text(words, own)
    read = Reading(**tables.asked())
    named, options, backward = by_name(calculation, derivative, with_lists(calculation, own, read))
    gathered = (_gathered_in_letters if chosen.symbolic else gather)(
        calculation, words, named, options, read, backward=backward is not None
    )
    problem = posed(calculation, gathered.inputs, gathered.options, backward)
    stored = _stored(problem, words, named, options, read) if check is not None else {}
    return _answered(problem, stored, chosen, check, marking, read)


def _stored(
    problem: Problem, words: Sequence[str], named: Mapping[str, str], options: Mapping[str, Any], read: Reading
) -> dict[str, Any]:
    """What is stored in a document that is the whole problem; nothing if words or options add to it."""
    files = [*read.opened.values()]
    if len(words) != 1 or "#" in words[0] or named or options or len(files) != 1:
        return {}
    [file] = files
    return plain(dict(file.members), file.source) if calculation_of(file) == problem.name else {}


def by_name(
    calculation: Calculation, derivative: str, own: Mapping[str, Any]
) -> tuple[dict[str, str], dict[str, Any], Backward | None]:
    """The operands, options and derivative that a call names; raises for impossible values, before reading any file."""
    given = {name: value for name, value in own.items() if value is not None}
    known = [UPSTREAM.name, WEIGHTS, *(operand.name for operand in calculation.operands if is_spoken(operand))]
    options = {option.name: given[option.name] for option in calculation.options if option.name in given}
    backward = None
    if derivative:
        backward = Backward(names(given.get("wrt")), bool(given.get("gradcheck")), jacobian=derivative == "jacobian")
    operands = {name: given[name] for name in known if name in given}
    return operands, checked(calculation, options) if options else {}, backward


def run(
    document: Annotated[str, typer.Argument(metavar="document", help="one document")],
    shown: Shown,
    arithmetic: Arithmetic,
    *,
    check: Check = None,
    marking: Annotated[Marking, FURTHER],
) -> int:
    """Evaluates a problem or a saved result again, with any of the output options.

    With --check ANSWER it checks an answer, as check ANSWER DOCUMENT does.

    Example: attncalc run problem.json, or attncalc run problem.json --check answer.json
    """
    from attncalc.inputs.problem_files import load_document  # a door: operands are mostly given by themselves

    settled(shown, arithmetic, check, marking)  # options that clash are told before a file is read
    read = Reading()
    held = load_document(document, read)
    saved = _as_saved(arithmetic, held, document, read)
    chosen = settled(shown, saved if check is None else Arithmetic(dtype=saved.dtype), check, marking)
    return _answered(held.problem, held.document, chosen, check, marking, read)


def _as_saved(arithmetic: Arithmetic, held: "Document", document: str, read: Reading) -> Arithmetic:
    """How to calculate: as the document says, unless the command line overrules it, which a note tells."""
    given = {name: value for name, value in arithmetic._asdict().items() if value is not None and value is not False}
    saved = {name: value for name, value in held.settings.items() if value is not False}
    clash = {"round", "dtype"} if given.keys() & {"exact", "symbolic"} else {"exact"} if given else set()
    passed = [name for name, value in saved.items() if name in clash or given.get(name, value) != value]
    if passed:
        read.tell(f"{both(passed)} of {document} {are(passed)} overruled by {both(map(flag, given))}")
    return Arithmetic(**{name: value for name, value in saved.items() if name not in passed} | given)


def _answered(
    problem: Problem,
    stored: Mapping[str, Any],
    chosen: Settings,
    check: str | None,
    marking: Marking,
    read: Reading,
) -> int:
    """Show the result, or check an answer instead, given what the document has stored; returns the exit status."""
    if check is None:
        solve_and_show(problem, chosen, read)
        return 0
    from attncalc.cli.checking import check_and_show  # a door: what marks answers is needed by few

    return check_and_show(problem, stored, check, marking, chosen.target, chosen.view, read, chosen.stored)


def _gathered_in_letters(
    calculation: Calculation,
    words: Sequence[str],
    named: Mapping[str, str],
    options: Mapping[str, Any],
    read: Reading,
    *,
    backward: bool,
) -> Gathered:
    """The operands, with letters for those without numbers; a word that is a shape, `2x3` or `3`, gives one's shape."""
    from attncalc.solve.letters import can_be_letters, in_letters, is_shape  # a door: SymPy comes with it

    places = [o.name for o in calculation.operands if o.positional and o.name not in named]
    spoken = {**named, **dict(zip(places, words, strict=False))}
    lettered = {o.name for o in calculation.operands if can_be_letters(o)}
    shapes = {name: word for name, word in spoken.items() if name in lettered and is_shape(word)}
    if shapes and len(words) <= len(places):  # all of them by name
        named, words = {name: word for name, word in spoken.items() if name not in shapes}, ()
    else:
        shapes = {}
    gathered = gather(calculation, words, named, options, read, backward=backward)
    settled = calculation.defaults | gathered.options
    known = {axis: settled[name] for axis, name in calculation.sizes.items() if settled.get(name) is not None}
    sizes = {name: tuple(map(int, word.split("x"))) for name, word in shapes.items()}
    return gathered._replace(inputs=in_letters(calculation, gathered.inputs, sizes, known))


def solve_and_show(problem: Problem, chosen: Settings, read: Reading) -> None:
    """Calculate and show the result; files that were read are not written to."""
    if chosen.target.path:
        output.refuse_unwritable(chosen.target.path, read.opened)
    solved: Callable[..., tuple[Trace, str | bytes | Iterable[str]]] = partial(_solved, in_pieces=True)
    if chosen.exact or LETTERS in (given.source for given in problem.inputs.values()):  # SymPy might take for ever
        solved = patience()(_solved)
    trace, content = solved(problem, chosen)
    output.deliver(content, chosen.target.path)
    is_page = chosen.target.format == "table" and not (chosen.view.bare or chosen.view.cells or chosen.target.path)
    is_seen = is_page and output.are_one_place(sys.stdout, sys.stderr)  # they stand above the steps
    idle = [*read.idle(), *_idle_layout(read, problem), *chosen.notes]
    notes = [*read.notes, *idle, *aloud(remarked(trace.inputs)), *(() if is_seen else trace.notes)]
    if chosen.target.format == "csv":
        from attncalc.render.csv_ import lost  # a door: a format is loaded where it is asked for

        notes += lost(trace, chosen.view)
    output.say("note", *notes)
    output.say("warning", *trace.warnings)


def _idle_layout(read: Reading, problem: Problem) -> Iterator[str]:
    """A note on a layout of heads that applies to no operand."""
    layout = read.heads_layout
    if layout is not None and not any(has_heads(given, name, layout) for name, given in problem.inputs.items()):
        yield f"--heads-layout has no effect without {either(map(flag, WITH_HEADS))}"


def _solved(
    problem: Problem, chosen: Settings, *, in_pieces: bool = False
) -> tuple[Trace, str | bytes | Iterable[str]]:
    """The trace of a problem, and the page that shows it."""
    with _progress(quiet=chosen.view.quiet):
        trace = solve(
            problem,
            dtype=chosen.dtype,
            accumulate=chosen.accumulate,
            round_to=chosen.round_to,
            exact=chosen.exact,
            expand=chosen.expand,
            keep_all=chosen.view.everything or chosen.target.format in ("npz", "safetensors"),
            asked=_asked(chosen),
        )
    if chosen.explain:
        from attncalc.api.explain import explained  # a door: it knows all that is said of a calculation

        trace = explained(trace)
    _must_fit_as_text(trace, chosen)
    if chosen.view.plot or chosen.target.format in PICTURES:
        trace, chosen = _illustrated(trace, chosen)
    return trace, (pieces if in_pieces else render)(trace, chosen.target.format, chosen.view)


def _progress(*, quiet: bool) -> AbstractContextManager[None]:
    """Shows how far the work inside has got, if somebody may be looking."""
    if not output.is_terminal(sys.stderr):
        return nullcontext()
    from attncalc.cli.bar import bar  # a door: most calls are done before any bar

    return bar(quiet=quiet)


TEXT_ENTRY = 120  # the bytes that a number takes, about, while it is written as text


def _must_fit_as_text(trace: Trace, chosen: Settings) -> None:
    """Refuse to write a large result as text if memory is too small for all of its digits."""
    if chosen.target.format not in ("json", "csv", "plain"):
        return
    kept = [step.value.size for step in trace.outputs if step.value is not None]
    if sum(kept) > LARGE:
        from attncalc.evaluate.large import memory  # a door: few results are large

        ways = {f"-f npy -o FILE{'' if chosen.view.bare else ' (the result alone)'}": 8 * max(kept)}
        memory.must_fit(TEXT_ENTRY * sum(kept), f"{trace.calculation} as {chosen.target.format}", ways)


def _asked(chosen: Settings) -> str | None:
    """The one step or output that is to be shown, "" for the result; None for a page of several."""
    if chosen.view.get is not None:
        return chosen.view.get
    return "" if chosen.view.quiet or (chosen.target.format in ("npy", "csv") and not chosen.view.show) else None


def _illustrated(trace: Trace, chosen: Settings) -> tuple[Trace, Settings]:
    """The trace with its pictures; if there are none, a page that has more to show gets a note."""
    from attncalc.api.plots import illustrated  # a door: few pages have pictures

    try:
        return illustrated(trace, chosen.view), chosen
    except NoPicture as fault:
        if chosen.target.format in PICTURES or chosen.view.bare:
            raise
        view = chosen.view._replace(plot=False)
        return trace._replace(notes=(*trace.notes, fault.message)), chosen._replace(view=view)


MOST_SECONDS = 20.0
"""Of the processor's time, so that a busy machine refuses nothing that an idle one answers."""


@contextmanager
def patience() -> Iterator[None]:
    """Raise NotExact if the work inside takes too long, or nests its expressions too deeply."""
    try:
        with alarm(MOST_SECONDS, of_the_processor=True):
            yield
    except TooLongError:
        raise NotExact(f"the exact entries take more than {MOST_SECONDS:g} seconds", hint=WITHOUT_EXACT) from None
    except RecursionError:
        raise NotExact("the exact entries have grown too deep", hint=WITHOUT_EXACT) from None
