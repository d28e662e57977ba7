"""Colour, width and encoding follow the page and the environment."""

from __future__ import annotations

import io
import sys

import pytest

from attncalc.cli import output


class Terminal(io.StringIO):
    """A stream that somebody looks at."""

    def isatty(self) -> bool:
        return True


COLOR: dict[str, tuple[str, bool, dict[str, str], bool]] = {
    "a terminal": ("auto", True, {}, True),
    "a pipe": ("auto", False, {}, False),
    "a pipe, always": ("always", False, {}, True),
    "a terminal, never": ("never", True, {}, False),
    "NO_COLOR": ("auto", True, {"NO_COLOR": "1"}, False),
    "an empty NO_COLOR": ("auto", True, {"NO_COLOR": ""}, True),
    "FORCE_COLOR": ("auto", False, {"FORCE_COLOR": "1"}, True),
    "NO_COLOR before FORCE_COLOR": ("auto", True, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    "always before NO_COLOR": ("always", True, {"NO_COLOR": "1"}, True),
    "a dumb terminal": ("auto", True, {"TERM": "dumb"}, False),
    "a dumb terminal, FORCE_COLOR": ("auto", True, {"TERM": "dumb", "FORCE_COLOR": "1"}, True),
}


@pytest.mark.parametrize(("choice", "terminal", "environment", "expected"), COLOR.values(), ids=COLOR)
def test_color(
    monkeypatch: pytest.MonkeyPatch, choice: str, terminal: bool, environment: dict[str, str], expected: bool
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", Terminal() if terminal else io.StringIO())
    assert output.wants_color(choice) is expected


WIDTH: dict[str, tuple[str | None, int | None]] = {
    "no limit in a pipe": (None, None),
    "COLUMNS": ("40", 40),
    "COLUMNS=0 is none": ("0", None),
    "COLUMNS that are no number": ("wide", None),
    "an empty COLUMNS": ("", None),
    "COLUMNS below zero": ("-5", None),
}


@pytest.mark.parametrize(("columns", "expected"), WIDTH.values(), ids=WIDTH)
def test_width(monkeypatch: pytest.MonkeyPatch, columns: str | None, expected: int | None) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert output.width() == expected


@pytest.mark.parametrize(("encoding", "expected"), [("utf-8", True), ("ascii", False), ("latin-1", False)])
def test_an_encoding_carries_the_signs_of_formulas_or_not(encoding: str, expected: bool) -> None:
    assert output.carries_signs(io.TextIOWrapper(io.BytesIO(), encoding=encoding)) is expected


def test_signs_are_spelled_where_the_encoding_lacks_them() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    assert output.spell("1/√d_k", stream) == "1/sqrt(d_k)"


def test_what_is_said_stays_on_its_line_and_sends_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    output.say("note", "a\nError: forged \x1b[2J")
    assert capsys.readouterr().err == "note: a\\nError: forged \\x1b[2J\n"


def test_a_closed_standard_error_is_no_fault(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    output.say("note", "unheard")
    assert capsys.readouterr().out == ""
