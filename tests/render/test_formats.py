"""The table of formats: each loads only what it needs, and each ends as its kind should."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from attncalc.record.trace import Trace
from attncalc.render import BINARY, FORMATS, SUFFIXES, TABLE, render


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_is_a_function_with_a_sentence_about_it(format: str) -> None:
    module, _, name = TABLE[format].where.partition(":")
    assert getattr(import_module(f"attncalc.render.{module}"), name).__doc__


@pytest.mark.thorough
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", ["dot", "attention", "grouped"])
def test_text_ends_in_a_newline_and_binary_is_bytes(name: str, format: str, request: pytest.FixtureRequest) -> None:
    page = render(request.getfixturevalue(name), format)
    assert isinstance(page, bytes) == (format in BINARY)
    assert isinstance(page, bytes) or page.endswith("\n")


def test_every_format_but_the_one_for_listeners_has_a_suffix_of_its_own() -> None:
    assert [name for name, row in TABLE.items() if not row.suffix] == ["plain"]
    assert len(SUFFIXES) == len(TABLE) - 1


EXACTLY = {
    "table": "1/3 + √2",
    "plain": "1/3+sqrt(2)",
    "json": '"1/3 + √2"',
    "csv": "1/3+sqrt(2)",
    "markdown": "1/3 + √2",
    "latex": r"\frac{1}{3} + \sqrt{2}",
    "html": "</mfrac><mo>+</mo><msqrt><mrow><mn>2</mn></mrow></msqrt>",
}
"""1/3 + √2 in each format that is text."""


@pytest.mark.parametrize("format", [each for each in FORMATS if each not in BINARY])
def test_every_text_holds_exact_numbers(exact: Trace, format: str) -> None:
    page = render(exact, format)
    assert isinstance(page, str)
    assert EXACTLY[format] in page


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("format", "unneeded"),
    [
        ("json", ("rich", "sympy", "csv", "zipfile")),
        ("plain", ("rich", "sympy")),
        ("csv", ("rich", "sympy")),
        ("table", ("sympy", "rich.markdown")),
    ],
)
def test_a_format_imports_no_more_than_it_needs(format: str, unneeded: tuple[str, ...]) -> None:
    module = TABLE[format].where.partition(":")[0]
    program = f"import sys, attncalc.render.{module}; print([name for name in {unneeded!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
