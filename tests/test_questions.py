"""docs/questions.md: what a reader asks of a page is answered by it, or by a command that it shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from conftest import Run

ROOT = Path(__file__).parents[1]
ASKED = re.findall(
    r"^\| \d+ \| (.+?) \| `attncalc (.+?)` \| `(.+)` \|$",
    (ROOT / "docs" / "questions.md").read_text("utf-8"),
    re.MULTILINE,
)


def test_there_are_thirty_over_fifteen_calculations() -> None:
    names = {next(word for word in words.split() if word not in ("grad", "run")) for _, words, _ in ASKED}
    assert len(ASKED) >= 30
    assert len({name.partition(".")[0] for name in names}) >= 15


@pytest.mark.spread
@pytest.mark.parametrize(("words", "line"), [found[1:] for found in ASKED], ids=[found[0] for found in ASKED])
def test_the_page_answers_it(run: Run, words: str, line: str) -> None:
    done = run(*shlex.split(words), cwd=ROOT / "samples", env={"COLUMNS": "200"})
    assert line in done.stdout
