"""A folder of one's own, an operand of any declaration, and a file or a word read as that operand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import pytest
from operands import an_operand

from attncalc.common.errors import AttncalcError
from attncalc.declare.operands import Kind, Operand
from attncalc.inputs.reading import Reading
from attncalc.inputs.resolve import read_word
from attncalc.record.trace import Given


class Read(Protocol):
    """`read(content, "q.csv", kind="mask", header=False)`: a file, read as the operand q; or `word=` alone."""

    def __call__(
        self,
        content: str | bytes | None = None,
        file: str = "q.json",
        *,
        word: str | None = None,
        kind: Kind = "real",
        shape: str = "n d",
        broadcasts: bool = False,
        tables: Mapping[str, Given] | None = None,
        **reading: Any,
    ) -> Given: ...


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def operand() -> Callable[..., Operand]:
    return an_operand


@pytest.fixture
def read(folder: Path) -> Read:
    def read_(
        content: str | bytes | None = None,
        file: str = "q.json",
        *,
        word: str | None = None,
        kind: Kind = "real",
        shape: str = "n d",
        broadcasts: bool = False,
        tables: Mapping[str, Given] | None = None,
        **reading: Any,
    ) -> Given:
        if content is not None:
            (folder / file).write_bytes(content.encode() if isinstance(content, str) else content)
        asked = an_operand(kind, shape, broadcasts=broadcasts)
        return read_word(file if word is None else word, asked, Reading(**reading), tables or {})

    return read_


@pytest.fixture
def fault(read: Read) -> Callable[..., tuple[str, str]]:
    """The message and the hint of the error that reading gives."""

    def fault_(*content: Any, **how: Any) -> tuple[str, str]:
        with pytest.raises(AttncalcError) as caught:
            read(*content, **how)
        return caught.value.message, caught.value.hint

    return fault_
