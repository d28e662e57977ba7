"""The corpus: inputs that fuzzing has found, those that once broke a reader and those that reach a part of one."""

from __future__ import annotations

from pathlib import Path

import fuzz_targets
import pytest
from rows import rows

FILES = sorted(path for path in (Path(__file__).parent / "corpus").glob("*/*") if path.is_file())


@rows("path", FILES, ids=[f"{path.parent.name}/{path.name}" for path in FILES], by=lambda path: path.parent.name)
def test_each_ends_in_an_answer_or_in_a_line(path: Path) -> None:
    fuzz_targets.run(path.parent.name, path.read_bytes())


@pytest.mark.parametrize("name", fuzz_targets.TARGETS)
def test_every_target_has_a_corpus(name: str) -> None:
    assert any(path.parent.name == name for path in FILES)
