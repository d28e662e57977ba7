"""What docs/interoperation.md shows, run: each part whose packages and programs are there.

The heavy ones are in no extra, since a session takes them from time to time:

    python -m venv /tmp/outside
    /tmp/outside/bin/pip install -e '.[test]' pandas polars pyarrow torch jax nbclient ipykernel
    /tmp/outside/bin/python -m pytest -rs tests/test_interoperation.py
"""

from __future__ import annotations

import doctest
import re
import shutil
from pathlib import Path

import pytest
from generate import ENVIRONMENT, fill

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/interoperation.md").read_text(encoding="utf-8")
PARTS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
IMPORTED = re.compile(r"^>>> (?:import|from) (\w+)", re.MULTILINE)
CALLED = re.compile(r"(?:^\$|\|) (\w+) ", re.MULTILINE)
SHELL = re.compile(r"^```shell-session\n", re.MULTILINE)


@pytest.mark.filterwarnings("default")  # theirs are no faults of ours
@pytest.mark.parametrize("part", PARTS)
def test_what_is_shown_is_so(part: str, samples: Path, tmp_path: Path) -> None:
    for package in IMPORTED.findall(PARTS[part]):
        pytest.importorskip(package, reason=f"{package} is in no extra: the docstring says how to have it")
    for program in CALLED.findall("".join(re.findall(r"^\$ .*\n", PARTS[part], re.MULTILINE))):
        if not shutil.which(program, path=ENVIRONMENT["PATH"]):
            pytest.skip(f"{program} is not on this machine")
    told: list[str] = []
    examples = doctest.DocTestParser().get_doctest(PARTS[part], {}, part, str(ROOT), 0)
    doctest.DocTestRunner().run(examples, out=told.append)
    assert not told, "".join(told)
    shown = SHELL.sub("```console\n", PARTS[part])
    assert fill(shown, shutil.copytree(samples, tmp_path / "samples")) == shown
    assert examples.examples or "\n$ " in shown
