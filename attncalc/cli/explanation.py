"""`explain CALCULATION`: the reference card, that of its derivative too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attncalc.calculations import TABLE
from attncalc.cli import output, sections, settings
from attncalc.cli.command import Command
from attncalc.cli.named import named
from attncalc.derivatives import DERIVATIVES
from attncalc.errors import NoGradient
from attncalc.render.card import FORMATS
from attncalc.text import either


def command() -> Command:
    """The command `explain`."""
    return Command(
        "explain",
        _explain,
        [*sections.target_options(FORMATS), *sections.page_options()],
        summary="The reference card of a calculation: its formula, its steps and the reasons for them, its options, "
        "what always holds, what it costs, common mistakes, its gradient, its sources and an example. "
        f"With {either(DERIVATIVES)} before its name: that of its derivative.",
        usage=f"[{'|'.join(DERIVATIVES)}] calculation",
        words=lambda: (*TABLE, *DERIVATIVES),
    )


def _explain(words: Sequence[str], **given: Any) -> None:
    name = named(words, "explain", with_file="attncalc run {} --explain explains a problem")
    where = settings.target(given, FORMATS)
    view = settings.paper(given, where)
    from attncalc.explain import card
    from attncalc.render.card import page

    try:
        known = card(name)
    except NoGradient as fault:
        fault.hint = fault.hint or f"attncalc explain {name.split()[-1]} explains the calculation itself"
        raise
    output.deliver(page(known, where.format, view), where.path)
