"""A quiz for a learning platform: Moodle XML and QTI 2.1, a gap for every entry, known mistakes with their hints.

Answers are fixed there: what follows from an own error counts as wrong, and the exports say so.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from html import escape
from math import isfinite, lcm
from typing import Any

from attncalc.common.errors import visible
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple
from attncalc.declare.mistake import Mistake
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.quiz.worksheets import DECIMALS, Exercise
from attncalc.render import View
from attncalc.render.page import (
    BLANK,
    Formula,
    Heading,
    Limits,
    Page,
    Paragraph,
    Part,
    Place,
    Table,
    axes,
    heading,
    label,
    number,
    whole,
    window,
)

FIXED = "Each gap is marked by itself: what follows from an earlier error counts as wrong."
OFF = 0.505 * 10**-DECIMALS
"""So far an answer may be off that has as many decimals as a worksheet asks for."""
WIDER = 10
"""An answer that looks like a mistake may be off by so many times more, where nothing else is near."""
LEFT_OVER = 1e-12
MOST_WEIGHT = 840
"""The weights of gaps make steps weigh alike, unless they would have to be larger than this."""

Where = tuple[str, Place]
"""An entry: the key of its step, and its place there."""


class Wrong(NamedTuple):
    """An answer that a known mistake gives."""

    mistake: Mistake
    value: float
    off: float


class Gap(NamedTuple):
    """An entry that is asked for."""

    name: str  # by which an answer is told
    right: tuple[float, ...]  # by the usual rules, and by others that are as right
    weight: int
    wrong: tuple[Wrong, ...]


def gaps(key: Key, exercises: Sequence[Exercise]) -> dict[Where, Gap]:
    """The gaps of a quiz: none for an entry that is no finite number, or a step that may be written in many ways."""
    found: dict[Where, Gap] = {}
    counts = {each.step.key: int((each.boxes == 0).sum()) for each in exercises}
    common = lcm(*filter(None, counts.values())) if counts else 1
    for exercise in exercises:
        step = key.names.find(exercise.step.key)
        if key.nodes[step].sources[0].row.free is not None:
            continue
        right = [value for each in key.right if (value := key.value(step, each)) is not None]
        wrong = [(each.mistakes[0], value) for each in key.wrong if (value := key.value(step, each)) is not None]
        weight = common // counts[exercise.step.key] if common <= MOST_WEIGHT and counts[exercise.step.key] else 1
        for at, asked in _entries(exercise.boxes):
            values = _different(float(value[at]) for value in right if value.shape == exercise.step.shape)
            if asked == 0 and all(map(isfinite, values)):
                others = [(rule, float(value[at])) for rule, value in wrong if value.shape == exercise.step.shape]
                name = f"gap{len(found) + 1}"
                found[exercise.step.key, at] = Gap(name, values, weight, tuple(_told_apart(values, others)))
    return found


def _entries(boxes: Array) -> Iterator[tuple[Place, float]]:
    yield from zip(_places(boxes.shape), boxes.ravel().tolist(), strict=True)


def _places(shape: Sequence[int]) -> Iterator[Place]:
    """The places of a value, row by row."""
    if not shape:
        yield ()
        return
    for first in range(shape[0]):
        yield from ((first, *rest) for rest in _places(shape[1:]))


def _different(values: Iterator[float]) -> tuple[float, ...]:
    """Those of the values that are not the same number to somebody who rounds."""
    found: list[float] = []
    for value in values:
        if not any(abs(value - other) <= OFF for other in found):
            found.append(value)
    return tuple(found)


def _told_apart(right: Sequence[float], others: Sequence[tuple[Mistake, float]]) -> Iterator[Wrong]:
    """What known mistakes give, each number once, and none that is nearly right."""
    known = [*right]
    apart = [(rule, value) for rule, value in others if isfinite(value)]
    for rule, value in apart:
        if all(abs(value - other) > 2 * OFF for other in known):
            near = [abs(value - other) for other in (*right, *(one for _, one in apart)) if other != value]
            wide = all(off > 2 * WIDER * OFF for off in near)
            known.append(value)
            yield Wrong(rule, value, WIDER * OFF if wide else OFF)


# The text with its gaps, in elements that every platform takes.


class Writing(NamedTuple):
    """How a platform wants text and gaps."""

    text: Callable[[str], str]
    gap: Callable[[Gap], str]


def body(page: Page, found: Mapping[Where, Gap], how: Writing) -> str:
    """A worksheet's blocks, with gaps in place of its boxes."""
    blocks = [
        block for block in page.blocks if not isinstance(block, Heading) and getattr(block, "kind", "") != "blank"
    ]
    return "\n".join([*_blocks(blocks, found, how), f"<p>{how.text(FIXED)}</p>"])


def _blocks(blocks: Sequence[Any], found: Mapping[Where, Gap], how: Writing, step: str = "") -> Iterator[str]:
    for block in blocks:
        if isinstance(block, Paragraph):
            yield f"<p>{how.text(block.text)}</p>"
        elif isinstance(block, Formula) and block.text:
            yield f"<p>{how.text(f'{block.symbol} = {block.text}')}</p>"
        elif isinstance(block, Table):
            yield from _table(block, found, how, step)
        elif isinstance(block, Part):
            counted = "" if block.heading.number is None else f"{block.heading.number}. "
            name = "h4" if block.kind == "exercise" else "h3"
            yield f"<{name}>{how.text(counted + block.heading.text)}</{name}>"
            yield from _blocks(block.blocks, found, how, block.heading.key)


def _table(table: Table, found: Mapping[Where, Gap], how: Writing, step: str) -> Iterator[str]:
    """A value, or a gap for each entry that is asked for."""

    def entry(text: str, at: Place) -> str:
        if text != BLANK:
            return how.text(text)
        return how.gap(found[step, at]) if (step, at) in found else "–"

    if not table.shape:
        text = number(table, View(everything=True))
        yield f"<p>{how.text(table.symbol or table.name)} = {entry(text, ())}</p>"
        return
    if not table.blank:
        yield f"<p>{how.text(', '.join(filter(None, (table.symbol or table.name, table.sizes))))}</p>"
    down, across = axes(table)
    for matrix in window(table, View(everything=True), Limits(*whole(table.shape))).matrices:
        place = heading(table, matrix)
        corner = how.text(" \\ ".join(filter(None, (down, across))))
        names = "".join(f'<th scope="col">{how.text(label(table, across, j or 0))}</th>' for j in matrix.columns)
        lines = [f"<tr><th>{corner}</th>{names}</tr>"]
        for i, entries in zip(matrix.rows, matrix.entries, strict=True):
            name = how.text(label(table, down, i or 0)) if len(table.shape) > 1 else ""
            places = ((*matrix.at, i or 0, j or 0)[-len(table.shape) :] for j in matrix.columns)
            cells = "".join(f"<td>{entry(text, at)}</td>" for text, at in zip(entries, places, strict=True))
            lines.append(f'<tr><th scope="row">{name}</th>{cells}</tr>')
        yield from [f"<p>{how.text(place)}</p>"] if place else []
        yield f"<table><tbody>{''.join(lines)}</tbody></table>"


def _plain(text: str) -> str:
    return escape(visible(text), quote=False)


def _number(value: float) -> str:
    """A number without an exponent, which some platforms take for text; what rounding has left of 0 is 0."""
    return f"{Decimal(f'{0.0 if abs(value) < LEFT_OVER else value:.12g}'):f}"


# Moodle


def moodle(name: str, page: Page, found: Mapping[Where, Gap]) -> str:
    """A question of the kind cloze, as Moodle imports it."""
    text = body(page, found, Writing(lambda words: _plain(words).replace("{", "&#123;"), _cloze))
    cdata = text.replace("]]>", "]]]]><![CDATA[>")
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<quiz>\n'
        '<question type="category"><category><text>$course$/top/attncalc</text></category></question>\n'
        f'<question type="cloze">\n<name><text>{_plain(name)}</text></name>\n'
        f'<questiontext format="html"><text><![CDATA[{cdata}]]></text></questiontext>\n'
        f'<generalfeedback format="html"><text>{_plain(FIXED)}</text></generalfeedback>\n'
        "<penalty>0.3333333</penalty>\n<hidden>0</hidden>\n"
        '<hint format="html"><text></text></hint>\n</question>\n</quiz>\n'
    )


def _cloze(gap: Gap) -> str:
    """`{1:NUMERICAL:=0.8044:0.00005~%0%0.881:0.0005#hint}`."""
    answers = [f"={_number(value)}:{_number(OFF)}" for value in gap.right]
    for wrong in gap.wrong:
        hint = re.sub(r'[}~#/"\\]', r"\\\g<0>", _plain(wrong.mistake.hint).replace("{", "&#123;"))
        hint = hint.replace(r"&\#123;", "&#123;")
        answers.append(f"%0%{_number(wrong.value)}:{_number(wrong.off)}#{hint}")
    return f"{{{gap.weight}:NUMERICAL:{'~'.join(answers)}}}"


# QTI 2.1

QTI = "http://www.imsglobal.org/xsd/imsqti_v2p1"
QTI_SCHEMA = "http://www.imsglobal.org/xsd/qti/qtiv2p1/imsqti_v2p1.xsd"
SINGLE = 'cardinality="single" baseType="float"'
PACKAGE = "http://www.imsglobal.org/xsd/imscp_v1p1"
SCHEMA = "http://www.w3.org/2001/XMLSchema-instance"
LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The time of every file in a package, so that the same quiz is the same package."""


def qti(name: str, page: Page, found: Mapping[Where, Gap]) -> bytes:
    """A package with an item, as QTI 2.1 has it."""
    manifest = (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<manifest xmlns="{PACKAGE}" xmlns:xsi="{SCHEMA}" '
        f'xsi:schemaLocation="{PACKAGE} http://www.imsglobal.org/xsd/qti/qtiv2p1/qtiv2p1_imscpv1p2_v1p0.xsd" '
        'identifier="attncalc">\n<metadata><schema>QTIv2.1 Package</schema>'
        "<schemaversion>1.0.0</schemaversion></metadata>\n<organizations/>\n<resources>\n"
        '<resource identifier="item" type="imsqti_item_xmlv2p1" href="item.xml"><file href="item.xml"/></resource>\n'
        "</resources>\n</manifest>\n"
    )
    package = io.BytesIO()
    with zipfile.ZipFile(package, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, content in (("imsmanifest.xml", manifest), ("item.xml", item(name, page, found))):
            archive.writestr(zipfile.ZipInfo(file, LONG_AGO), content, zipfile.ZIP_DEFLATED)
    return package.getvalue()


def item(name: str, page: Page, found: Mapping[Where, Gap]) -> str:
    """An assessmentItem: the gaps, the marks of each, and the hints of known mistakes."""
    text = body(page, found, Writing(_plain, _interaction))
    known = {wrong.mistake.id: wrong.mistake.hint for gap in found.values() for wrong in gap.wrong}
    total = sum(gap.weight for gap in found.values())
    declared = [
        f'<responseDeclaration identifier="{gap.name}" {SINGLE}>'
        f"<correctResponse><value>{_number(gap.right[0])}</value></correctResponse></responseDeclaration>"
        for gap in found.values()
    ]
    nothing = "<defaultValue><value>0</value></defaultValue>"
    declared += [
        f'<outcomeDeclaration identifier="SCORE" {SINGLE} normalMaximum="{total}">{nothing}</outcomeDeclaration>',
        '<outcomeDeclaration identifier="FEEDBACK" cardinality="multiple" baseType="identifier"/>',
    ]
    hints = [
        f'<modalFeedback outcomeIdentifier="FEEDBACK" identifier="{one}" showHide="show">{_plain(hint)}</modalFeedback>'
        for one, hint in known.items()
    ]
    where = f'xmlns="{QTI}" xmlns:xsi="{SCHEMA}" xsi:schemaLocation="{QTI} {QTI_SCHEMA}"'
    title = f'identifier="item" title="{escape(visible(name))}" adaptive="false" timeDependent="false"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<assessmentItem {where} {title}>",
        *declared,
        f"<itemBody>\n{text}\n</itemBody>",
        "<responseProcessing>",
        *map(_processing, found.values()),
        "</responseProcessing>",
        *hints,
        "</assessmentItem>",
    ]
    return "\n".join(lines) + "\n"


def _interaction(gap: Gap) -> str:
    return f'<textEntryInteraction responseIdentifier="{gap.name}" expectedLength="8"/>'


def _processing(gap: Gap) -> str:
    """A right answer adds to the score; one that a known mistake gives shows its hint."""
    score = (
        '<setOutcomeValue identifier="SCORE"><sum><variable identifier="SCORE"/>'
        f'<baseValue baseType="float">{gap.weight}</baseValue></sum></setOutcomeValue>'
    )
    first, *others = gap.right
    cases = [(_equal(gap, first, OFF, f'<correct identifier="{gap.name}"/>'), score)]
    cases += [(_equal(gap, value, OFF), score) for value in others]
    for wrong in gap.wrong:
        hint = (
            '<setOutcomeValue identifier="FEEDBACK"><multiple><variable identifier="FEEDBACK"/>'
            f'<baseValue baseType="identifier">{wrong.mistake.id}</baseValue></multiple></setOutcomeValue>'
        )
        cases.append((_equal(gap, wrong.value, wrong.off), hint))
    names = ["responseIf", *["responseElseIf"] * (len(cases) - 1)]
    drawn = (f"<{name}>{test}{then}</{name}>" for name, (test, then) in zip(names, cases, strict=True))
    return f"<responseCondition>{''.join(drawn)}</responseCondition>"


def _equal(gap: Gap, value: float, off: float, to: str = "") -> str:
    """Whether an answer is a value, or what a declaration holds of it."""
    to = to or f'<baseValue baseType="float">{_number(value)}</baseValue>'
    least = f'tolerance="{_number(off)} {_number(off)}"'
    return f'<equal toleranceMode="absolute" {least}><variable identifier="{gap.name}"/>{to}</equal>'


FORMATS = ("moodle", "qti")


def exported(form: str, name: str, page: Page, found: Mapping[Where, Gap]) -> tuple[str, str | bytes]:
    """A quiz for a platform: the file's name, and what is in it."""
    return ("moodle.xml", moodle(name, page, found)) if form == "moodle" else ("qti.zip", qti(name, page, found))
