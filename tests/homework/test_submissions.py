"""Which sheets words mean, whose they are, and what is no sheet."""

from __future__ import annotations

from pathlib import Path

import pytest

import attncalc as ac
from attncalc.common.errors import InputError
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.reading.submissions import submissions
from attncalc.inputs.reading import Reading

KEY = Key(ac.softmax([1, 2]).problem)
FILES = (
    "key.json", "hand-in/ann.json", "hand-in/bob.csv", "hand-in/notes.txt", "hand-in/late/cleo.npy",
    "moodle/Ann_1/answer.json", "moodle/Bob_2/answer.json", "moodle/Cleo_3/mine.json",
    "twice/a/work.json", "twice/b/work.json", "both/dan.csv", "both/dan.json", "empty/readme.txt",
)  # fmt: skip


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in FILES:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "names"),
    [
        pytest.param("hand-in", ["ann", "bob", "cleo"], id="a folder and those in it, but what no sheet is called"),
        pytest.param("hand-in/ann.json", ["ann"], id="a file"),
        pytest.param("hand-in/bob.csv hand-in/ann.json", ["bob", "ann"], id="files in the order given"),
        pytest.param("hand-in/*.json", ["ann"], id="a pattern"),
        pytest.param("moodle/*/*", ["Ann_1", "Bob_2", "mine"], id="folders name what is called answer"),
        pytest.param("twice", ["a", "b"], id="folders name what is called alike"),
        pytest.param("both", ["dan", "dan"], id="a file of each format"),
        pytest.param("key.json hand-in/ann.json", ["ann"], id="the key is no sheet"),
        pytest.param("nowhere.json", ["nowhere"], id="what is not there has a row of its own"),
        pytest.param(f"{'n' * 300}.csv ann.csv", ["n" * 199 + "…", "ann"], id="so has a list of an impossible name"),
    ],
)
def test_words_mean(home: Path, words: str, names: list[str]) -> None:
    assert [found.name for found in submissions(words.split(), "key.json", Reading(), KEY.names)] == names


def test_an_absolute_pattern_means_what_it_fits(home: Path) -> None:
    assert [found.name for found in submissions([f"{home}/hand-in/*.csv"], "key.json", Reading(), KEY.names)] == ["bob"]


@pytest.mark.parametrize(
    ("word", "said", "hint"),
    [
        pytest.param("empty", "empty holds no sheet", ".json", id="a folder of other things"),
        pytest.param("hand-in/*.yaml", 'no file fits "hand-in/*.yaml"', "", id="a pattern that fits nothing"),
    ],
)
def test_what_means_nothing_is_told(home: Path, word: str, said: str, hint: str) -> None:
    with pytest.raises(InputError) as error:
        submissions([word], "key.json", Reading(), KEY.names)
    assert error.value.message == said
    assert hint in (error.value.hint or "")
