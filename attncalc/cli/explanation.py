"""`explain CALCULATION`: the reference card."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attncalc.calculations import TABLE, unknown
from attncalc.cli import output, sections, settings
from attncalc.cli.command import Command
from attncalc.errors import OptionError
from attncalc.render.card import FORMATS


def command() -> Command:
    """The command `explain`."""
    return Command(
        "explain",
        _explain,
        [*sections.target_options(FORMATS), *sections.page_options()],
        summary="The reference card of a calculation: its formula, its steps and the reasons for them, its options, "
        "what always holds, what it costs, common mistakes, its gradient, its sources and an example.",
        usage="calculation",
        words=lambda: TABLE,
    )


def _explain(words: Sequence[str], **given: Any) -> None:
    if len(words) != 1:
        raise OptionError(
            f"explain takes the name of one calculation, but {len(words)} words were given",
            hint="attncalc explain attention",
        )
    name = words[0].replace("_", "-")
    if name not in TABLE:
        raise unknown(words[0])
    where = settings.target(given, FORMATS)
    view = settings.paper(given, where)
    from attncalc.explain import card
    from attncalc.render.card import page

    output.deliver(page(card(name), where.format, view), where.path)
