"""Checkpoints: one in several files is read like one file, and what is wrong with it is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from operands import stored

INDEX = "model.safetensors.index.json"
A, B = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"


def listing(folder: Path, places: object) -> None:
    (folder / INDEX).write_text(json.dumps({"metadata": {"total_size": 40}, "weight_map": places}))


@pytest.fixture
def llama(folder: Path) -> Path:
    """A checkpoint in two files, in a folder of its own."""
    model = folder / "llama"
    model.mkdir()
    stored(model / A, {"model.norm.weight": [1, 2], "h.0.w": [[1, 2], [3, 4]]})
    stored(model / B, {"h.1.w": [[5, 6], [7, 8]]})
    listing(model, {"model.norm.weight": A, "h.0.w": A, "h.1.w": B, "h.2.w": B})
    return model


@pytest.mark.parametrize("word", ["llama", f"llama/{INDEX}", "@llama"])
def test_several_files_are_read_as_one(read: Any, llama: Path, word: str) -> None:
    assert read(word=f"{word}#h.1.w[-1]", shape="n").value.tolist() == [7, 8]
    assert read(word=f"{word}#model.norm.weight", shape="n").value.tolist() == [1, 2]
    (llama / B).unlink()
    assert read(word=f"{word}#h.0.w.T").value.tolist() == [[1, 3], [2, 4]]  # a file that nobody asks for may be missing


def test_a_folder_with_one_file(read: Any, folder: Path) -> None:
    stored(folder / "model.safetensors", {"w": [[1, 2]]})
    assert read(word=f"{folder}#w").value.tolist() == [[1, 2]]


def test_faults_of_several_files(fault: Any, llama: Path) -> None:
    assert fault(word="llama#h.2.w")[0] == f'llama/{INDEX} says that "h.2.w" is in llama/{B}, which does not hold it'
    (llama / B).write_bytes((llama / B).read_bytes()[:-4])
    assert fault(word="llama#h.1.w") == (
        f"llama/{B}#h.1.w lies outside the file: bytes 0 to 16 of 12",
        "the file was cut: copy it again",
    )
    (llama / B).unlink()
    assert fault(word="llama#h.1.w") == (
        f'llama/{INDEX}: its file "{B}" is missing',
        "copy all files of the checkpoint",
    )
    assert fault(word="llama#h.3.w")[0] == f'llama/{INDEX} holds no "h.3.w"'


@pytest.mark.parametrize("name", [f"../{A}", f"/{A}", f"a/{A}", f"a\\{A}", "c:x.safetensors", "w.bin", "..", "w.npz"])
def test_no_file_outside_the_folder_is_opened(fault: Any, llama: Path, name: str) -> None:
    stored(llama.parent / A, {"h.0.w": [[1]]})
    listing(llama, {"h.0.w": name})
    assert "and others are not opened" in fault(word="llama#h.0.w")[0]


@pytest.mark.parametrize("places", [None, [], {"w": 3}, {"w": None}], ids=str)
def test_a_list_that_is_none(fault: Any, llama: Path, places: object) -> None:
    listing(llama, places)
    assert (
        fault(word="llama#w")[0]
        == f'llama/{INDEX} is no list of a checkpoint\'s files: it has no "weight_map" of names'
    )


def test_a_folder_without_a_checkpoint(fault: Any, folder: Path) -> None:
    (folder / "empty").mkdir()
    assert fault(word="empty#w")[0] == "empty is a folder with nothing in it"
