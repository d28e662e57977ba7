"""The entries that --cell asks for, by indices or labels: their arithmetic, and how they were rounded."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from itertools import groupby, islice
from math import inf, prod
from typing import TYPE_CHECKING

import numpy as np

from attncalc.common.errors import ShapeError, both, near, quoted
from attncalc.record.numbers import format_number
from attncalc.record.trace import Step, Trace
from attncalc.render import View, asked_for, shown
from attncalc.render.page import Arithmetic, Heading, Line, Note, Paragraph, Part, Table, spoken
from attncalc.render.traces import formula, table
from attncalc.render.worked import MOST_WRITTEN, handed_on, told_of
from attncalc.solve import asking

if TYPE_CHECKING:  # few runs use narrow types
    from attncalc.evaluate.precisions import Rounded


def cells(trace: Trace, view: View) -> Iterator[tuple[Step, Line]]:
    """The entries whose arithmetic is asked for, in order, each with its step; "all" means every step shown."""
    if view.cells == ("all",):
        for step in [asked_for(trace, view)] if view.bare else [step for _, step in shown(trace, view)]:
            yield from _of_step(trace.find(step.key), None, trace, view)  # not the output, which may lack an axis
    else:
        for word in (each for words in view.cells for each in re.split(r"(?<=\]),(?!$)", words)):
            name, at = _parted(word)
            yield from _of_step(trace.find(name), at, trace, view)


def parts(trace: Trace, view: View) -> Iterator[Part]:
    """The same as parts of a page, one for each step."""
    asked = [*cells(trace, view)]
    told_there = {step.key for step, _ in asked}
    for key, lines in groupby(asked, key=lambda found: found[0].key):
        step = trace.find(key)
        shape = Table(step.name, None, step.axes, step.shape)
        worked = tuple(line for _, line in lines)
        masked = _masked(trace, step, worked, view, told_there)
        told = (*masked, *_left(trace, step, worked), *_rounding(trace, step, worked))
        yield Part("cells", Heading(key), (formula(step), Paragraph(step.why, "why"), Arithmetic(worked), *told, shape))


def _masked(trace: Trace, step: Step, lines: Iterable[Line], view: View, told_there: Container[str]) -> Iterator[Note]:
    """Why entries in the lines' arithmetic are −∞, such as those of a mask: `masked[0,3] = −∞ (masked: 3 > 0)`."""
    told: dict[str, None] = {}
    for line in lines:
        origins = asking.origins(trace, step, line.at) if "∞" in line.arithmetic else ()
        for origin in origins:
            if origin.operand or origin.of not in trace or origin.of in told_there:
                continue
            source = trace.find(origin.of)
            along = [origin.ranges[axis] for axis in source.axes]
            found = asking.entries(trace, source, along) == -inf if prod(map(len, along)) <= MOST_LOOKED_AT else ()
            for place in np.argwhere(found)[:MOST_MASKED].tolist():
                at = tuple(places[i] for places, i in zip(along, place, strict=True))
                told[_why(trace, source, at, view, by_label=bool(line.labels))] = None
    yield from (Note(words, "finding") for words in islice(filter(None, told), MOST_MASKED))


def _why(trace: Trace, step: Step, at: tuple[int, ...], view: View, *, by_label: bool) -> str:
    """An entry of −∞ with its reason; "" if there is none."""
    shown = table(step, trace, view)
    words = tuple(spoken(shown, axis, i) for axis, i in zip(step.axes, at, strict=True))
    line = told_of(Line(step.key, at, "", (), words if by_label else ()), format_number(-inf), step, trace, view)
    return f"{line.place} = {line.links[-1]}" if line.why else ""


def _left(trace: Trace, step: Step, lines: Iterable[Line]) -> Iterator[Note]:
    """Notes on the rounding errors in entries that are shown as 0."""
    nothing = asking.left_over(trace, step)
    if nothing is None or step.value is None:
        return
    for line in lines:
        if nothing[line.at]:
            yield Note(
                f"{line.place}: 0 but for rounding, which leaves {format_number(step.value[line.at])}", "finding"
            )


def _rounding(trace: Trace, step: Step, lines: Iterable[Line]) -> Iterator[Note]:
    """Notes on how entries have been rounded to the narrow type of a run."""
    for line in lines:
        if (found := asking.rounding(trace, step, line.at)) is not None:
            yield Note(f"{line.place}: {_told(found)}", "finding")


def _told(found: Rounded) -> str:
    before, below, above, value = (f"{number:.9g}".replace("-", "−") for number in found[1:5])
    if found.by_terms:
        return f"{found.name} adds up to {value}, term by term; float32 comes to {before}"
    if below == above:
        return f"{found.name} has {before} itself"
    tie = found.before - found.below == found.above - found.before
    rule = "it is half way, and that one is even" if tie else "that is the nearer"
    return f"{before} lies between {below} and {above} in {found.name}; {value} is taken: {rule}"


_PLACE = re.compile(r"""([^\[:]*)(?:\[(.*)\]|:(.*)|\[([^\]]*))""", re.DOTALL)
_PART = re.compile(r"""\s*(?:"([^"]*)"|([^,]*?))\s*(?:,|$)""")


def _parted(word: str) -> tuple[str, list[str] | None]:
    """`scores[0,1]` or `scores:0,1` → ("scores", ["0", "1"]); `scores` → ("scores", None), for all its entries."""
    found = _PLACE.fullmatch(word)
    if found is None:
        return word, None
    rest = next((each for each in found.groups()[1:] if each is not None), "")
    parts = _PART.findall(rest)[: 1 + re.sub('"[^"]*"', "", rest).count(",")] if rest else []
    return found[1], [quoted or bare for quoted, bare in parts]


def _at(words: list[str], step: Step, shown: Table) -> tuple[int, ...]:
    """The place of an entry that is named by indices from 0, or labels, along each axis of a step."""
    asked = ",".join(words)
    if len(words) != len(step.shape):
        shape = shown.sizes or "a single number"
        raise ShapeError(f"{step.key} has no entry [{asked}]: it is {shape}, indices from 0")
    place = []
    for given, axis, size in zip(words, step.axes, step.shape, strict=True):
        labels = shown.labels.get(axis, ())
        word = given if given in labels else given.removeprefix(f"{axis}=")
        by_label = given != word and word in labels  # step=4000
        is_index = word.isascii() and word.isdigit() and len(word) < 10 and not by_label
        if is_index and (int(word) < size or word not in labels):
            place.append(int(word))
        elif labels.count(word) == 1:
            place.append(labels.index(word))
        elif word in labels:
            several = both(str(i) for i, label in enumerate(labels) if label == word)
            said = f"{quoted(word)} stands at several places along {axis} of {step.key}: {several}"
            raise ShapeError(said, hint="name the place by its index")
        elif labels:
            mend = near(word, labels) or f"its labels are {', '.join(labels[:MOST_NAMED])}"
            raise ShapeError(f"{step.key}[{asked}] is not an entry: {axis} has no label {word!r}", hint=mend)
        else:
            said = f"{step.key}[{asked}]"
            raise ShapeError(f"{said} is not an entry: indices are whole numbers from 0, as in scores[0,1]")
    if any(i >= size for i, size in zip(place, step.shape, strict=True)):
        raise ShapeError(f"{step.key} has no entry [{asked}]: it is {shown.sizes}, indices from 0")
    return tuple(place)


MOST_NAMED = 12  # labels that an error names
MOST_MASKED, MOST_LOOKED_AT = 8, 4096  # entries that a page explains as −∞, and among which it looks for these


def _of_step(step: Step, words: list[str] | None, trace: Trace, view: View) -> Iterator[tuple[Step, Line]]:
    shown = table(step, trace, view)
    at = None if words is None else _at(words, step, shown)
    asked = zip(step.axes, at, words, strict=True) if at and words else ()
    named = tuple(word if word == str(i) else spoken(shown, axis, i) for axis, i, word in asked)
    labels = () if named == tuple(map(str, at or ())) else named
    for place in [at] if at is not None else islice(np.ndindex(*step.shape), MOST_WRITTEN):
        kept = shown.value
        entry = asking.entry_of(trace, step, place) if kept is None else kept[place]
        value = format_number(entry, view.digits)
        line = told_of(Line(step.key, place, "", (), labels), value, step, trace, view)
        yield step, _with_origin(line, step, trace, view)


def _with_origin(line: Line, step: Step, trace: Trace, view: View) -> Line:
    """The line; for an entry that is only handed on, with the arithmetic of the step that it comes from."""
    made, at = line, line.at
    while not (made.arithmetic or made.why) and (found := handed_on(step, at, trace)):
        (step, at), kept = found, table(found[0], trace, view)
        words = tuple(spoken(kept, axis, i) for axis, i in zip(step.axes, at, strict=True))
        made = told_of(Line(step.key, at, "", (), words), line.links[-1], step, trace, view)
    return line._replace(links=(made.place, *made.links)) if made is not line and made.arithmetic else line
