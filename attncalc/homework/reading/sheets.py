"""A sheet is read from JSON by the names of steps, from CSV in blocks, or as the result alone.

A sheet holds answers and nothing else: a tolerance, a score or a key in it has no effect, and a note says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from math import prod
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from attncalc.common.errors import InputError, listed, near, place_text, quoted, visible
from attncalc.common.numerals import Array
from attncalc.common.system import FORMATS, NamedTuple, TooLongError, alarm
from attncalc.declare.mistake import StepKey
from attncalc.homework.reading import answers
from attncalc.homework.reading.answers import (
    ANSWER,
    BESIDE,
    MOST_TOLD,
    Answer,
    Sheet,
    decimals_of,
    literal,
    refuse_many,
    signed,
    student_of,
    without_effect,
)
from attncalc.inputs.given import as_typed, brackets, is_literal, read_literal
from attncalc.inputs.json_files import JsonFile, parse_json
from attncalc.inputs.reading import OF_DOCUMENTS, Contents, Reading
from attncalc.inputs.resolve import Found, find, opened, read_found, read_word
from attncalc.record.trace import Given

if TYPE_CHECKING:
    from attncalc.homework.reading.modules import Modules

# A sheet may be a stranger's, so its size and the time to read it are limited.
#
# The limits are the same for one sheet and for many. A sheet is no link, pipe or device (`Reading` with `most` refuses
# those), and only the sheet that exceeds a limit is refused. A call from Python has no time limit: the alarm of a
# process belongs to whoever runs it. The marker says how long to search for explanations of an answer.


MOST_BYTES = 4 * 2**20
MOST_SECONDS = 20.0


@contextmanager
def limited(what: str = "it", *, timed: bool = True) -> Iterator[None]:
    """Report it as a fault of the sheet if reading takes too long or too much memory, or nesting is too deep.

    Raises InputError. The time is limited only if the system has an alarm to set.
    """
    try:
        with alarm(MOST_SECONDS if timed else 0, of_the_processor=True):
            yield
    except TooLongError:
        raise InputError(f"{what} takes more than {MOST_SECONDS:g} seconds to be read") from None
    except MemoryError:
        raise InputError(f"{what} takes more memory than there is") from None
    except RecursionError:
        raise InputError(f"{what} is nested too deeply") from None


# Steps are found by the names that sheets give them; for a wrong name, the nearest one is suggested.


def spelled(step: StepKey) -> str:
    """The name to ask for a step by: `GROUP/NAME`, or the bare name if it is in no group."""
    return "/".join(part for part in step if part)


class StepNames:
    """The names of the steps of one problem."""

    def __init__(
        self,
        problem: str,
        shapes: Mapping[StepKey, tuple[int, ...]],
        shown: Sequence[StepKey],
        result: StepKey,
        modules: Modules | None = None,
    ) -> None:
        self.problem = problem  # its name
        self._shapes = shapes
        self._by_name = {spelled(step): step for step in shapes}
        self._shown = [spelled(step) for step in shown]
        self._result = result
        self.of_modules = modules  # the names that frameworks give to steps

    def find(self, name: str) -> StepKey:
        """The step of that name, `GROUP/NAME` or bare; "" and `result` are the result."""
        found = self.meant(name)
        if len(found) == 1:
            return found[0]
        if found:
            raise InputError(f"{quoted(name)} occurs in several groups: {listed(map(spelled, found), MOST_TOLD)}")
        unnamed = f"numpy.savez(FILE, {self._shown[-1]}=…) names an array; " if _UNNAMED.fullmatch(name) else ""
        hint = self.near(name) or f"{unnamed}{self.has}"
        raise InputError(f"{self.problem} has no step {quoted(name)}", hint=hint)

    def meant(self, name: str) -> list[StepKey]:
        """The steps that a name may mean: one, none, or those of several groups."""
        if name in self._by_name:
            return [self._by_name[name]]
        if name in ("", "result"):
            return [self._result]
        given = self.of_modules.step(name) if self.of_modules else None
        if given is not None:
            return [given]
        by_name = self._by_name.items()
        return [step for full, step in by_name if step[1] == name or full.casefold() == name.casefold()]

    def is_passed_over(self, name: str) -> bool:
        """Whether a name may belong to a module whose output is no step, or to a part of a step's own definition."""
        if self.meant(name):
            return False
        front = [name[:i] for i, sign in enumerate(name) if sign == "/"]
        if any(part in self._by_name for part in front) and not any(group == front[-1] for group, _ in self._shapes):
            return True
        return self.of_modules is not None and not self.of_modules.parts(name, self._shapes)

    def given_by(self, name: str, answer: Answer) -> Iterator[tuple[StepKey, Answer]]:
        """The step that an array's name means, or all steps that the array holds, each with its answer."""
        if self.of_modules is None or self.meant(name) or not (held := self.of_modules.parts(name, self._shapes)):
            yield self.find(name), answer
            return
        for step, read in held.items():
            yield step, answer.laid(read)

    @property
    def order(self) -> Iterator[StepKey]:
        """All steps, each after those that it is made of."""
        return iter(self._shapes)

    def shape_of(self, name: str) -> tuple[int, ...]:
        """The shape of the step of that name."""
        return self._shapes[self.find(name)]

    def near(self, name: str) -> str:
        """A hint at the steps that a wrong name may mean; "" if none is near."""
        return near(name, self._shown)

    @property
    def has(self) -> str:
        """A hint that lists the steps: `it has scores, scaled, weights, output`."""
        return f"it has {listed(self._shown, MOST_TOLD)}"


class Asked(NamedTuple):
    """The steps that a sheet is to answer, and those that it is shown; `steps` is None if every answer counts."""

    steps: Mapping[StepKey, Array | None] | None = None  # which entries of each; None: all of them
    shown: tuple[StepKey, ...] = ()

    def wants(self, step: StepKey) -> bool:
        """Whether a step that stands on a sheet counts."""
        return self.steps is None or step in self.steps

    def entries(self, step: StepKey) -> Array | None:
        """Which entries of a step are asked for; None if all are."""
        return None if self.steps is None else self.steps.get(step)

    @property
    def words(self) -> tuple[list[str], list[str]]:
        """The words of `ask`, and those of `shown`."""
        return [*self._ask()], [*map(spelled, self.shown)]

    def written(self) -> dict[str, list[str]]:
        """The same as a document holds it: `{"ask": ["weights[1,0]", "output"], "shown": ["scores"]}`."""
        return {key: words for key, words in zip(("ask", "shown"), self.words, strict=True) if words}

    def _ask(self) -> Iterator[str]:
        for step, where in (self.steps or {}).items():
            if where is None:
                yield spelled(step)
            else:
                yield from (spelled(step) + place_text(at) for at in np.argwhere(where).tolist())


EVERYTHING = Asked()


NO_EFFECT = ("tolerance", "rtol", "atol", "score", "verdict", "key", "path", "expected")
"""What only the key's owner may say; but with a list under it, such a word may be a step's name."""
PLACED = re.compile(r"(.*\S) *\[ *(\d{1,6}(?: *, *\d{1,6})*) *\]", re.ASCII)
"""A single entry of a step: `weights[1,0]`."""
_UNNAMED = re.compile(r"arr_[0-9]+", re.ASCII)
"""Names that numpy.savez gives to arrays without names."""
_OF_NUMBERS = re.compile(r'[-+−≈~?…_\d√π./⁄∕¼-¾⅐-⅞*·×^⁺⁻⁰¹²³⁴-⁹(),;\[\]"\s\u00a0\u202f%sqrtpiej]+', re.ASCII)
"""A text of numbers, which may have roots, π, powers of ten or ≈; it is not the name of a file."""
_OF_OBJECTS = re.compile(r"\s*(?:\[\s*)?\{")
"""How JSON with names in it begins: an object, or a list of them."""


def read_sheet(word: str, reading: Reading) -> Sheet:
    """The sheet, or the result alone, that a word of the command line means: a file, `-`, JSON or numbers."""
    word = as_typed(word)
    word = answers.respelled(reading.typed(word)) if _OF_NUMBERS.fullmatch(word) else word
    typed = literal(word, ANSWER.name)
    found = find(word, ANSWER, reading) if typed is None or word.strip().isalpha() else None
    if found is None and typed is not None:
        return Sheet({"": answers.from_lists(typed, brackets("", ANSWER.name))})
    if found is None and _OF_OBJECTS.match(word):
        return from_tree(_with_points(parse_json(word, ANSWER.name), reading), "")
    if found is None:
        name, mark, _ = word.partition("=")
        if mark:
            mend = f"--check '{{{quoted(name.strip())}: [1, 2, 3]}}' is an answer to a step"
            raise InputError(f"{ANSWER.name}: {quoted(word)} is neither numbers nor a file", hint=mend)
        given = read_word(word, ANSWER, reading, {})
        return Sheet({"": _as_read(given, ANSWER.name, table=not word.startswith("["))})
    return from_contents(found.contents, reading, found)


def from_file(path: str, reading: Reading) -> Sheet:
    """The sheet in a file."""
    return from_contents(opened(path, reading), reading)


def from_contents(contents: Contents, reading: Reading, found: Found | None = None) -> Sheet:
    """The sheet in the contents of a file, or in a part of it: `FILE#name`."""
    part = found if found is not None and (found.name or found.at) else None
    if isinstance(contents, JsonFile):
        whole = _with_points(contents.tree, reading)
        return from_tree(whole, contents.source) if part is None else _part(part, contents, reading)
    from attncalc.homework.reading import table_sheets  # a door: most sheets are JSON

    if part is None:
        return table_sheets.from_contents(contents, reading)
    return table_sheets.stored(contents, part) or _as_operand(part, reading)


def from_python(answer: Any, most: int | None = None) -> Sheet:
    """The sheet in a value from Python: steps by their names, a sheet as a dictionary or a file, or the result.

    A file has no more than `most` bytes.
    """
    if isinstance(answer, PathLike) or (isinstance(answer, str) and answer.endswith(tuple(FORMATS))):
        return from_file(fspath(answer), Reading(most=most))
    if isinstance(answer, Mapping):
        sheet = from_tree(_in_lists(dict(_one_by_one(answer))), "")
        return replace(sheet, stored=any(hasattr(value, "shape") for value in answer.values()))
    if isinstance(answer, list) and _are_steps(answer):
        return from_tree(_in_lists(answer), "")
    if isinstance(answer, (str, list, tuple)):
        answer = _pointed({"": answer})[""]
    return Sheet({"": answers.from_python(answer, ANSWER.name)}, stored=hasattr(answer, "shape"))


def _one_by_one(answer: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    """The answers by their names; a tuple returned by a model becomes `hidden_states.0`, `hidden_states.1` …"""
    from attncalc.homework.reading.modules import RETURNED  # a door: no sheet's file is of Python

    for name, value in answer.items():
        if name in ("past_key_values", "cache"):  # what generating goes on from, and no array
            continue
        if isinstance(value, tuple) and str(name).endswith(RETURNED):
            yield from ((f"{name}.{i}", each) for i, each in enumerate(value))
        else:
            yield str(name), value


def _in_lists(tree: Any, name: str = "") -> Any:
    """A sheet from Python, in which a list of arrays, such as one for each head, is joined or opened into lists."""
    if isinstance(tree, Mapping):
        return {key: _in_lists(value, str(key)) for key, value in tree.items()}
    if not isinstance(tree, list | tuple):
        return tree
    if any(isinstance(item, Mapping) for item in tree):
        return [_in_lists(item, name) for item in tree]
    from attncalc.inputs.python_values import opened_lists, together  # a door: no sheet's file is of Python

    one = together(tree, name)
    return opened_lists(tree, name) if one is tree else one


def from_tree(tree: Any, source: str) -> Sheet:
    """The sheet in a JSON value: an object of steps or a list of them, a saved result, or the result alone.

    Commas in its texts are read as decimal commas if they can be nothing else.
    """
    if isinstance(tree, list) and _are_steps(tree):
        tree = {"steps": tree}
    if not isinstance(tree, dict):
        return Sheet({"": _answer(_pointed({"": tree})[""], "", source)}, source=source)
    student = student_of(tree.get("student"), source)
    with signed(student):
        return _from_object(tree, source, student)


def _from_object(tree: Mapping[str, Any], source: str, student: str) -> Sheet:
    _refuse_ours(tree, source)
    others = [name for name in tree if name not in (*BESIDE, *OF_DOCUMENTS)]
    if "steps" in tree:
        steps = _listed(tree["steps"], source)
        if isinstance(tree["steps"], list):
            others += [name for step in tree["steps"] for name in NO_EFFECT if name in step]
    elif "calculation" in tree or "result" in tree:
        _refuse_problem(tree, source)
        steps = {"": tree.get("result")}
    else:
        others = [name for name, value in tree.items() if name in NO_EFFECT and not isinstance(value, list)]
        steps = {name: value for name, value in tree.items() if name not in (*BESIDE, *others)}
    refuse_many(len(steps), source)
    said = _pointed(steps)
    whole = {name: partial(_answer, value, name, source) for name, value in said.items() if not PLACED.fullmatch(name)}
    return Sheet(
        answers.each_read({**whole, **_single_entries(said, source)}),
        student=student,
        source=source,
        decimals=decimals_of(tree.get("rounding"), source),
        notes=without_effect(others, source),
        problem=student_of(tree.get("problem"), source, "problem"),
    )


def _single_entries(steps: Mapping[str, Any], source: str) -> Mapping[str, Callable[[], Answer]]:
    """Readers of the answers that are given entry by entry: `"weights[1,0]": 0.37`."""
    places: dict[str, dict[tuple[int, ...], Any]] = {}
    for name, value in steps.items():
        if found := PLACED.fullmatch(name):
            places.setdefault(found[1], {})[tuple(map(int, re.findall(r"[0-9]+", found[2])))] = value
    answered = {}
    for step, entries in places.items():
        ranks = {len(at) for at in entries}
        if step in steps or len(ranks) > 1 or prod(answers.reached(entries)) > answers.MOST_ENTRIES:
            fault = "is answered as a whole, too" if step in steps else "has entries of different ranks, or too many"
            raise InputError(
                f"{source or 'the sheet'}: {quoted(step)} {fault}", hint='an entry is "weights[1,0]": 0.37'
            )
        answered[step] = partial(answers.from_places, entries, brackets(source, visible(step, 80)))
    return answered


def _pointed(steps: Mapping[str, Any]) -> Mapping[str, Any]:
    """Steps with points for the decimal commas in their texts, unless the commas may separate thousands."""
    texts = [text for text in _texts([*steps.values()]) if "," in text or "." in text]
    if not any("," in text for text in texts):
        return steps
    from attncalc.homework.reading.table_sheets import are_commas  # a door: most sheets have points
    from attncalc.inputs.csv_files import has_point, pointed

    if any(map(has_point, texts)) or not are_commas(texts):
        return steps
    return {name: pointed(value, answers.respelled) for name, value in steps.items()}


def _with_points(tree: Any, reading: Reading) -> Any:
    """A JSON value with points for the commas in its texts, if decimal commas were asked for."""
    if reading.decimal == ".":
        return tree
    from attncalc.inputs.csv_files import pointed  # a door: as above

    return pointed(tree, answers.respelled)


def _texts(tree: Any) -> Iterator[str]:
    """The texts of nested lists."""
    waiting = [tree]
    while waiting:
        value = waiting.pop()
        if type(value) is str:
            yield answers.respelled(value.strip())
        elif isinstance(value, list):
            waiting += value


def _are_steps(items: list[Any]) -> bool:
    """Whether a list holds steps, not entries; complex entries are objects, too, but of `re` and `im`."""
    return any(isinstance(item, dict) and item.keys() != {"re", "im"} for item in items)


_OURS = {
    "variants": "the problems of a class",
    "students": "the report of a class",
    "first_wrong": "the report of a sheet",
    "output_format": "a report for Gradescope",
}
"""Our documents that are no sheets, by a key of each; `students` is first: a class report has `first_wrong`, too."""


def _refuse_ours(tree: Mapping[str, Any], source: str) -> None:
    for name, what in _OURS.items():
        if name in tree and (not isinstance(tree[name], list) or _are_steps(tree[name])):
            raise InputError(f"{source or 'the answer'} is {what}, and no sheet")


def _refuse_problem(tree: Mapping[str, Any], source: str) -> None:
    """Refuse a problem as it was set: it is no blank sheet, but somebody named the wrong file."""
    if not {"result", "outputs"} & tree.keys():
        called = tree["calculation"]
        of = f" of {visible(called, 80)}" if isinstance(called, str) else ""
        raise InputError(
            f"{source or 'the answer'} is a problem{of} without answers, where answers are wanted",
            hint='answers stand under "steps", by their names',
        )


def _part(found: Found, contents: JsonFile, reading: Reading) -> Sheet:
    """`FILE#name`: one array of a JSON file as the result, which may be complex."""
    if contents.names and found.name and not found.at:
        entry = contents.entry(found.name)
        if isinstance(entry.value, list):
            source = f"{contents.source}#{visible(entry.path, 80)}"
            return Sheet({"": answers.from_lists(entry.value, brackets("", source))}, source=source)
    return _as_operand(found, reading)


def _as_operand(found: Found, reading: Reading) -> Sheet:
    given = read_found(found, ANSWER, reading)
    return Sheet({"": _as_read(given, given.source)}, source=given.source)


def _as_read(given: Given, name: str, *, table: bool = False) -> Answer:
    """The answer in what was read as an operand."""
    entries = given.value if given.written is None else given.written
    return answers.from_text(entries.ravel().tolist(), given.value.shape, brackets("", name), table=table)


def _listed(steps: Any, source: str) -> dict[str, Any]:
    """Steps by their names, from an object or from a list of objects with a name and a value."""
    if isinstance(steps, dict):
        return steps
    if not isinstance(steps, list):
        raise InputError(f"{source}: steps is neither an object of steps nor a list of them")
    found: dict[str, Any] = {}
    for i, step in enumerate(steps):
        if not isinstance(step, dict) or type(step.get("name")) is not str:
            raise InputError(f"{source}: steps[{i}] has no name", hint='a step is {"name": "weights", "value": [[…]]}')
        group = step.get("group")
        name = f"{group}/{step['name']}" if group and isinstance(group, str) else step["name"]
        if name in found:
            raise InputError(f"{source}: steps has {quoted(name)} twice")
        if "value" in step:
            found[name] = step["value"]
    return found


def _answer(value: Any, name: str, source: str) -> Answer:
    place = brackets(source, visible(name, 80))
    if isinstance(value, dict):
        hint = 'steps stand by their names at the top, or under "steps"'
        raise InputError(f"{place(())} is an object, not numbers", hint=hint)
    if hasattr(value, "__array__"):
        return answers.from_python(value, place(()))
    if isinstance(value, str):
        word = answers.respelled(as_typed(value))
        typed = literal(word, place(()))
        if typed is None and is_literal(word):
            return _as_read(read_literal(word, place(()), ANSWER.kind), place(()), table=not word.startswith("["))
        return answers.from_lists(value if typed is None else typed, place)
    return answers.from_lists(value, place)
