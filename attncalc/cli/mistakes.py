"""`mistakes [CALCULATION|ID]`: the known mistakes, their ids, wrong rules and hints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from attncalc.calculations import TABLE
from attncalc.cli import output, sections, settings
from attncalc.cli.command import Command
from attncalc.cli.groups import PROGRAM
from attncalc.cli.listing import FORMATS
from attncalc.errors import OptionError
from attncalc.text import NARROWEST, near, quoted

WIDEST = 100  # columns of a page that has no width of its own


def command() -> Command:
    """The command `mistakes`."""
    return Command(
        "mistakes",
        _mistakes,
        sections.target_options(FORMATS),
        summary="Lists the known mistakes of every calculation, or of one: the id that reports use, the wrong rule, "
        "and the hint that a student gets. With an id it lists that mistake alone, wherever it is known.",
        usage="[calculation|id]",
        words=lambda: [*TABLE, *_ids()],
    )


def _ids() -> list[str]:
    from attncalc.homework.mistakes import listed

    return list(dict.fromkeys(row["id"] for row in listed()))


def _mistakes(words: Sequence[str], **given: Any) -> None:
    from attncalc.homework.mistakes import listed

    derivative, _, of = " ".join(words).partition(" ")
    if derivative == "grad" and of in TABLE:
        mend = f"{PROGRAM} explain grad {of} tells those of the backward pass alone"
        raise OptionError(f"the mistakes of grad {of} are listed with those of {of}", hint=mend)
    if len(words) > 1:
        raise OptionError(f"mistakes takes one calculation or one id, but {len(words)} words were given")
    name = words[0].replace("_", "-") if words else None
    where = settings.target(given, FORMATS)
    rows = listed(name if name in TABLE else None)
    if name is not None and name not in TABLE:
        rows = [row for row in rows if row["id"] == name]
        if not rows:
            mend = near(name, [*TABLE, *_ids()]) or "attncalc mistakes lists them all"
            raise OptionError(f"there is no calculation and no mistake {quoted(words[0])}", hint=mend)
    if where.format == "json":
        content = json.dumps(rows, indent=1, ensure_ascii=False) + "\n"
    elif where.format == "plain":
        content = "".join("\t".join((r["calculation"], r["id"], r["kind"], r["says"], r["hint"])) + "\n" for r in rows)
    else:
        content = _page(rows, output.width() if where.path is None else None)
    output.write_page(content, where.path)


def _page(rows: Sequence[dict[str, str]], width: int | None) -> str:
    """The mistakes under the names of their calculations: the id and the wrong rule, the hint below."""
    import textwrap

    limit = max(width or WIDEST, NARROWEST)
    lines: list[str] = []
    heading = None
    for row in rows:
        if row["calculation"] != heading:
            heading = row["calculation"]
            lines += [*([""] if lines else []), heading]
        kind = "" if row["kind"] == "misconception" else f" ({row['kind']})"
        aside = f" (the same as {row['alias_of']})" if row["alias_of"] else kind
        said = f"{row['id']}: {row['says']}{aside}"
        lines += textwrap.wrap(said, limit, initial_indent="  ", subsequent_indent="    ")
        lines += textwrap.wrap(row["hint"], limit, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines) + "\n"
