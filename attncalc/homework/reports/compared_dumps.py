"""What a comparison of two dumps looks like: its page, and what JSON and CSV hold of it."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from attncalc.common.errors import amount, visible
from attncalc.common.system import grouped
from attncalc.homework.reports.marked_sheets import as_csv
from attncalc.homework.two_dumps import SOUND, Compared, Comparison
from attncalc.record.numbers import shortest
from attncalc.render import View, pages_and
from attncalc.render.csv_ import harmless
from attncalc.render.page import Block, Heading, Page, Paragraph, Row, Rows, write

FORMATS = pages_and("json", "csv")
COLUMNS = ("name", "verdict", "max_error", "relative", "cosine", "share", "at", "finding")
MOST_LISTED = 64
"""The most arrays that a page lists; if there are more, it lists those that are not sound, and counts the others."""

MOST_TOLD = 8
CALLED_OTHERWISE = (
    "--map lm_head=logits pairs two arrays that are called otherwise; model CHECKPOINT TOKENS --check DUMP knows names "
    "of modules and of what a model returns"
)
SCALAR = "scalar"  # instead of the place of an entry


def shown(found: Comparison, format: str, view: View) -> str:
    """A comparison in a format of FORMATS."""
    data = {"json": _json, "csv": _csv}
    return data[format](found) if format in data else str(write(page(found), format, view))


def page(found: Comparison) -> Page:
    """The summary, the first array that diverges, and a line for every array."""
    title = "Two dumps compared"
    blocks: list[Block] = [Heading(title), Paragraph(summary(found), "sound" if found else "wrong")]
    first = next((one for one in found.arrays if one.name == found.first_wrong), None)
    if first is not None:
        blocks.append(Paragraph(_told(first)))
    listed = [one for one in found.arrays if len(found.arrays) <= MOST_LISTED or one.verdict not in SOUND]
    rows = tuple(Row(_cells(one), one.verdict in SOUND) for one in listed[:MOST_LISTED])
    head = ("array", "verdict", "error", "relative", "cosine", "beyond", "at")
    if rows:
        blocks.append(Rows("arrays in the order of layers", head, rows, frozenset({0}), frozenset(range(2, 6))))
    others = [one for one in listed if one.finding and one.verdict != "missing" and one is not first]
    blocks += [Paragraph(f"{_name(one.name)}: {one.finding}") for one in others[:MOST_TOLD]]
    lost = _lost(listed)
    blocks += [Paragraph(f"{finding}: {names}") for finding, names in lost.items()]
    if len(lost) > 1:  # in both dumps
        blocks.append(Paragraph(CALLED_OTHERWISE, "remark"))
    if len(rows) < len(found.arrays):
        left = amount(len(found.arrays) - len(rows), "array") + (" more" if rows else "")
        blocks.append(Paragraph(f"{left}: -f json and -f csv name all of them", "remark"))
    return Page(title, tuple(blocks))


def summary(found: Comparison) -> str:
    """`differs: 2 of 24 arrays do not agree; first at layers.3.attn`."""
    many = amount(len(found.arrays), "array")
    if found:
        said = "no entry differs" if found.verdict == "equal" else "all agree within the tolerance"
        return f"{found.verdict}: {many}, {said}"
    wrong = sum(one.verdict not in SOUND for one in found.arrays)
    agree = f"{'does' if wrong == 1 else 'do'} not agree"
    return f"{found.verdict}: {wrong} of {many} {agree}; first at {_name(found.first_wrong or '')}"


def _told(one: Compared) -> str:
    """The first array that diverges, in a sentence or two."""
    name = _name(one.name)
    if one.max_error is None:
        return f"{name}: {one.finding}"
    told = f"off by {_number(one.max_error)}, {_number(one.relative)} of"
    if one.at == ():
        told = f"{name}, a {SCALAR}, is {told} what it should be"
    else:
        told = f"{name} is worst at {_place(one)}: {told} the largest entry; "
        told += f"{_share(one.share)} of its entries are beyond the tolerance"
    return f"{told}; {one.finding}" if one.finding else told


def _lost(listed: Sequence[Compared]) -> dict[str, str]:
    """The names of the arrays without a pair, by the finding that says where they are."""
    lost = grouped((one for one in listed if one.verdict == "missing"), lambda one: one.finding)
    named = {finding: [_name(one.name) for one in found] for finding, found in lost.items()}
    return {
        finding: ", ".join([*names[:MOST_TOLD], *[f"{len(names) - MOST_TOLD} more"] * (len(names) > MOST_TOLD)])
        for finding, names in named.items()
    }


def _cells(one: Compared) -> tuple[str, ...]:
    numbers = (_number(one.max_error), _number(one.relative), _cosine(one.cosine))
    if one.verdict in SOUND:
        return (_name(one.name), one.verdict, *numbers, "", "")
    return (_name(one.name), one.verdict, *numbers, _share(one.share), SCALAR if one.at == () else _place(one))


def _name(name: str) -> str:
    return visible(name, 60) or "the array"


def _place(one: Compared) -> str:
    return f"[{','.join(map(str, one.at))}]" if one.at is not None and one.max_error else ""


def _number(value: float | None) -> str:
    """With two digits: `1.9`, `3e-06`."""
    return "" if value is None else shortest(float(f"{value:.2g}"))


def _cosine(value: float | None) -> str:
    return "" if value is None else "–" if math.isnan(value) else f"{value:.6f}"


def _share(value: float | None) -> str:
    return "" if value is None else "0" if value == 0 else f"{100 * value:.3g} %"


def _json(found: Comparison) -> str:
    """One object, an array a line."""
    lines = ",\n  ".join(json.dumps(_entry(one), ensure_ascii=False) for one in found.arrays)
    front = f'"verdict": {json.dumps(found.verdict)}, "first_wrong": {json.dumps(found.first_wrong)}'
    return f'{{{front}, "arrays": [\n  {lines}\n]}}\n'


def _entry(one: Compared) -> dict[str, object]:
    """What was found about an array; null stands for infinities, which JSON does not have."""
    held: dict[str, object] = {
        "name": one.name,
        "verdict": one.verdict,
        **{key: _finite(getattr(one, key)) for key in ("max_error", "relative", "cosine", "share")},
        "at": None if one.at is None else list(one.at),
    }
    return held | ({"finding": one.finding} if one.finding else {})


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _csv(found: Comparison) -> str:
    rows: list[Sequence[str]] = [COLUMNS]
    for one in found.arrays:
        numbers = ("" if v is None else shortest(v) for v in (one.max_error, one.relative, one.cosine, one.share))
        rows.append([harmless(one.name), one.verdict, *numbers, _place(one), harmless(one.finding)])
    return as_csv(rows)
