"""What a stranger types for want of the right word, and the hint that leads on from there."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from attncalc.cli import app

HINTS = {
    "self attention": "did you mean attention?",
    "dotproduct 1,2 3,4": "did you mean dot?",
    "scaled dot product attention": "did you mean attention or dot?",
    "positional encoding": "did you mean sinusoidal?",
    "layer norm 1,2,3": "did you mean layernorm?",
    "cross entropy 1": "did you mean cross-entropy?",
    "help attention": "attncalc --help, or attncalc attention --help",
    "attention --html": "-f html makes a page of it",
    "attention --save hw.json": "-o FILE writes it to a file, in the format of its suffix",
    "attention --grad": "it goes before the name: attncalc grad attention …",
    "grade key.json": "with --regrade REPORT name both, to mark by another key, or neither",
}


@pytest.mark.parametrize("call", HINTS)
def test_a_strangers_word_leads_on(call: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        app(call.split())
    assert ended.value.code == 2
    out, err = capsys.readouterr()
    assert not out
    assert HINTS[call] in err


def test_practice_of_a_saved_result_lists_no_usual_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = str(tmp_path / "saved.json")
    assert not app(
        ["attention", "1 0; 0 1", "1 0; 0 1", "1 2; 3 4", "--scale", "none", "-o", saved], standalone_mode=False
    )
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    app(["practice", saved], standalone_mode=False)
    said = capsys.readouterr().out
    assert "with scale = none\n" in said
