"""`run DOCUMENT`: a problem or a saved result, evaluated again, or an answer to it checked."""

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
        [*sections.output_options(), *sections.arithmetic_options(), *sections.checking_options()],
        summary="Evaluates a problem or a saved result again, with any of the output options; with --check ANSWER it "
        "checks an answer, as check ANSWER DOCUMENT does.",
        usage="document",
    )


def _run(words: Sequence[str], **given: Any) -> int:
    from attncalc.inputs import Reading, load_document

    chosen = settings.chosen(given)
    if len(words) != 1:
        mend = "attncalc run problem.json, or attncalc run problem.json --check answer.json"
        raise OptionError(f"run takes one document, but {len(words)} were given", hint=mend)
    reading = Reading()
    document = load_document(words[0], reading)
    if given["check"] is not None:
        from attncalc.cli.checking import check_document

        return check_document(document, given["check"], given, chosen.target, reading)
    solve_and_show(problem_of(document), chosen, reading)
    return 0
