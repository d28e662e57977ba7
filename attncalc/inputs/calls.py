"""The operands and options of one call, from the words of the command line and what their files hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from attncalc.calculation import UPSTREAM
from attncalc.errors import OptionError
from attncalc.inputs.resolve import Found, find, read_operands, spoken_words
from attncalc.text import near, quoted

if TYPE_CHECKING:
    from attncalc.calculation import Calculation, Operand
    from attncalc.inputs.reading import Reading
    from attncalc.trace import Given


class Gathered(NamedTuple):
    """What one call has been given."""

    inputs: dict[str, Given]  # in the order of the calculation's operands
    options: dict[str, Any]  # those that were given, in a file or on the command line
    notes: tuple[str, ...]  # what the reader should know of how all this was read


class Call:
    """One call while its words are told apart: which operand each word is for, and what their files supply beside."""

    def __init__(self, calculation: Calculation, operands: list[Operand], reading: Reading, *, backward: bool) -> None:
        self.calculation = calculation
        self.operands = operands
        self.reading = reading
        self.backward = backward
        self.words: dict[str, str] = {}
        self.files: dict[str, Found] = {}
        self.options: dict[str, Any] = {}
        self.named: set[str] = set()  # operands whose word stands behind their name
        self.unfilled: set[str] = set()  # positional operands without a word
        self.by_position = 0  # words for positional operands
        self.by_name = 0  # words behind a name


def gather(
    calculation: Calculation,
    positional: Sequence[str],
    named: Mapping[str, str],
    options: Mapping[str, Any],
    reading: Reading,
    *,
    backward: bool = False,
) -> Gathered:
    """The operands of one call: `positional` words in the order of the operands, `named` ones, and what files supply.

    A file that holds several operands by name supplies those without a word of their own, and its options; what is
    given on the command line wins. With `backward` the operand `upstream` may be given too, and a saved backward pass
    may be the problem. Operands that are missing are not this function's concern.
    """
    operands = [*calculation.operands]
    if backward or UPSTREAM.name in named:
        backward, operands = True, [*operands, UPSTREAM]
    call = Call(calculation, operands, reading, backward=backward)
    _assign(call, positional, named)
    _check_transposed(call)
    files, held = call.files, call.options
    if any(operand.kind == "model" for operand in operands):
        from attncalc.inputs.models import expand_model  # one calculation has a model

        files, held = expand_model(calculation, files, held)
    operands += [o for o in calculation.operands_in(files) if o not in operands]
    spoken = spoken_words(operands, call.words, files)
    inputs = read_operands([o for o in operands if o.name not in spoken], call.words, files, reading)
    supplied = {name: value for name, value in held.items() if name not in inputs}
    return Gathered(inputs, supplied | spoken | dict(options), tuple(reading.notes))


def _assign(call: Call, positional: Sequence[str], named: Mapping[str, str]) -> None:
    """Find the operand that each word is for; files that hold several may fill the places of others."""
    names = {operand.name: operand for operand in call.operands}
    places = [operand for operand in call.operands if operand.positional and operand.name not in named]
    call.by_position = len(positional) + sum(name in names and names[name].positional for name in named)
    call.by_name, call.named = len(named), set(named)
    problem = None
    if len(positional) == 1 and (not places or places[0].kind in ("tokens", "model")):
        from attncalc.inputs.supplied import whole_problem

        problem = whole_problem(call, positional[0], places)
    if problem is not None:
        positional = ()
    if len(positional) > len(places):
        from attncalc.inputs.misses import surplus

        raise surplus(call, positional, places)
    call.unfilled = {operand.name for operand in places[len(positional) :]}
    for name, word in named.items():
        if name in names:
            call.words[name] = word
            _supply(call, names[name], word)
        elif name == "weights":
            from attncalc.inputs.weights import supply_weights

            supply_weights(call, word)
        else:
            raise OptionError(f"{call.calculation.name} has no operand {quoted(name)}", hint=near(name, names))
    if problem is not None:
        from attncalc.inputs.supplied import supply_whole

        supply_whole(call, problem)
    for i, word in enumerate(positional):
        free = [o for o in places if o.name not in call.words and o.name not in call.files]
        operand = free[0] if free else places[i]
        if operand.name in call.words:
            from attncalc.inputs.misses import surplus

            raise surplus(call, positional, places)
        call.words[operand.name] = word
        _supply(call, operand, word)


def _supply(call: Call, operand: Operand, word: str) -> None:
    """Take what a word supplies beside its operand, which only the file that it names can."""
    found = find(word, operand, call.reading)
    if found is not None or operand.kind == "model":
        from attncalc.inputs.supplied import supply

        supply(call, operand, word, found)


def _check_transposed(call: Call) -> None:
    names = [operand.name for operand in call.operands]
    for name in call.reading.transpose:
        if name not in names:
            raise OptionError(
                f"--transpose {quoted(name)}: {call.calculation.name} has no such operand", hint=near(name, names)
            )
        if name not in call.words and name not in call.files:
            raise OptionError(f"--transpose {name}: {name} is not given")
