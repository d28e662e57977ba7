"""`mistakes [CALCULATION|ID]`: the known mistakes, their ids, wrong rules and hints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from attncalc.calculations import TABLE, unknown
from attncalc.cli import output, sections, settings
from attncalc.cli.command import Command
from attncalc.cli.listing import FORMATS
from attncalc.derivatives import DERIVATIVES
from attncalc.errors import OptionError
from attncalc.text import NARROWEST, either, near, quoted

WIDEST = 100  # columns of a page that has no width of its own


def command() -> Command:
    """The command `mistakes`."""
    return Command(
        "mistakes",
        _mistakes,
        sections.target_options(FORMATS),
        summary="Lists the known mistakes of every calculation, or of one: the id that reports use, the wrong rule, "
        f"and the hint that a student gets. With {either(DERIVATIVES)} before the calculation's name it lists those "
        "that are made in the steps of that derivative, with an id that mistake alone, wherever it is known.",
        usage=f"[[{'|'.join(DERIVATIVES)}] calculation|id]",
        words=lambda: [*TABLE, *DERIVATIVES, *_ids()],
    )


def _ids() -> list[str]:
    from attncalc.homework.mistakes import listed

    return list(dict.fromkeys(row["id"] for row in listed()))


def _mistakes(words: Sequence[str], **given: Any) -> None:
    where = settings.target(given, FORMATS)
    rows = _rows([part for word in words for part in word.split()])
    if where.format == "json":
        content = json.dumps(rows, indent=1, ensure_ascii=False) + "\n"
    elif where.format == "plain":
        content = "".join("\t".join((r["calculation"], r["id"], r["kind"], r["says"], r["hint"])) + "\n" for r in rows)
    else:
        content = _page(rows, output.width() if where.path is None else None)
    output.write_page(content, where.path)


def _rows(words: Sequence[str]) -> list[dict[str, str]]:
    """The mistakes that are asked for: all, those of a calculation or of its derivative, or those of one id."""
    from attncalc.homework.mistakes import listed

    if len(words) == 2 and words[0] in DERIVATIVES:
        return _of_derivative(*words)
    if len(words) > 1:
        raise OptionError(f"mistakes takes one calculation or one id, but {len(words)} words were given")
    name = words[0].replace("_", "-") if words else None
    if name is None or name in TABLE:
        return listed(name)
    found = [row for row in listed(None) if row["id"] == name]
    if not found:
        mend = near(name, [*TABLE, *_ids()]) or "attncalc mistakes lists them all"
        raise OptionError(f"there is no calculation and no mistake {quoted(words[0])}", hint=mend)
    return found


def _of_derivative(derivative: str, word: str) -> list[dict[str, str]]:
    """Those mistakes of a calculation that are made in the steps of its derivative."""
    from attncalc.explain import card  # whose steps those are is seen on the calculation's sample
    from attncalc.homework.mistakes import listed

    name = word.replace("_", "-")
    if name not in TABLE:
        raise unknown(word)
    own = {mistake.id for mistake in card(f"{derivative} {name}").mistakes}
    found = [row for row in listed(name) if own & {row["id"], row["alias_of"]}]
    if not found:
        mend = f"those of {name} carry on into it: attncalc mistakes {name}"
        raise OptionError(f"no mistake is known that is {derivative} {name}'s own", hint=mend)
    return found


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
