"""The same call gives the same document, to the last digit, wherever it is made: what a machine has set is no input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    path for path in (ROOT / "samples").glob("*.json") if "calculation" in json.loads(path.read_text(encoding="utf-8"))
)
EVERY = """
import sys
from attncalc.cli import app, output
output.prepare_streams()
for path in sys.argv[1:]:
    app(["run", path, "-f", "json"], standalone_mode=False)
    sys.stdout.write("\\0")
"""

PLACES: dict[str, dict[str, str]] = {
    "again": {},
    "another order of hashes": {"PYTHONHASHSEED": "1"},
    "one thread": {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
    "two threads": {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"},
    "a locale of decimal commas": {"LANG": "de_DE.UTF-8", "LC_ALL": "de_DE.UTF-8", "LC_NUMERIC": "de_DE.UTF-8"},
    "the C locale": {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "a narrow screen": {"COLUMNS": "40", "FORCE_COLOR": "1", "TERM": "xterm"},
    "a time zone": {"TZ": "Pacific/Kiritimati"},
}


def documents(settings: Mapping[str, str], place: Path) -> list[object]:
    """What the document of every sample says, made by one process with these settings in that folder."""
    clean = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "SYSTEMROOT") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-c", EVERY, *map(str, DOCUMENTS)],
        env=clean | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"} | dict(settings),
        cwd=place,
        capture_output=True,
        check=True,
    )
    return [json.loads(text) for text in done.stdout.decode().split("\0")[:-1]]


@cache
def here() -> list[object]:
    """The documents as they are made at the top of the repository."""
    return documents({}, ROOT)


@pytest.mark.release
@pytest.mark.spread(8)
@pytest.mark.parametrize("settings", PLACES.values(), ids=PLACES)
def test_every_document_is_the_same(tmp_path: Path, settings: dict[str, str]) -> None:
    found = documents(settings, tmp_path)
    assert len(found) == len(DOCUMENTS)
    assert [path.name for path, one, other in zip(DOCUMENTS, here(), found, strict=True) if one != other] == []
