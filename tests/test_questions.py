"""docs/questions.md and docs/comparison.md: what they say that a command shows is shown by it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from conftest import Run

ROOT = Path(__file__).parents[1]
ROW = re.compile(r"^\| \d+ \| (.+?) \| `attncalc (.+?)` \| `(.+)` \|$", re.MULTILINE)
ASKED, COMPARED = (
    ROW.findall((ROOT / "docs" / f"{page}.md").read_text("utf-8")) for page in ("questions", "comparison")
)


def test_there_are_seventy_four_over_forty_calculations() -> None:
    names = {next(word for word in words.split() if word not in ("grad", "jacobian", "run")) for _, words, _ in ASKED}
    assert len(ASKED) == 74
    assert len({name.partition(".")[0] for name in names}) > 40


def test_every_device_has_a_row() -> None:
    assert {said.partition(",")[0].partition(":")[0] for said, *_ in COMPARED} == {
        "Tom Yeh",
        "Jay Alammar",
        "Grant Sanderson",
        "handcalcs",
        "Symbolab",
    }


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "line"),
    [found[1:] for found in (*ASKED, *COMPARED)],
    ids=[found[0] for found in (*ASKED, *COMPARED)],
)
def test_the_page_shows_it(run: Run, words: str, line: str) -> None:
    done = run(*shlex.split(words), cwd=ROOT / "samples", env={"COLUMNS": "200"})
    assert line in done.stdout
