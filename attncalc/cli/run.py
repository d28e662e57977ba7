"""`run DOCUMENT`: a problem or a saved result, evaluated again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attncalc.cli import sections, settings
from attncalc.cli.command import Command
from attncalc.cli.solving import problem_of, solve_and_show
from attncalc.errors import OptionError


def command() -> Command:
    """The command `run`."""
    return Command(
        "run",
        _run,
        [*sections.output_options(), *sections.arithmetic_options()],
        summary="Evaluates a problem or a saved result again, with any of the output options.",
        usage="document",
    )


def _run(words: Sequence[str], **given: Any) -> None:
    from attncalc.inputs import Reading, load_document

    chosen = settings.chosen(given)
    if len(words) != 1:
        raise OptionError(f"run takes one document, but {len(words)} were given", hint="attncalc run problem.json")
    reading = Reading()
    solve_and_show(problem_of(load_document(words[0], reading)), chosen, reading)
