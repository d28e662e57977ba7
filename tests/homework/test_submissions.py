"""Which sheets words mean, whose they are, and what is no sheet."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Run

import attncalc as ac
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


@pytest.mark.parametrize("words", ["class", "class/*/*.json class/*/*.csv", "class/**/*.json class/**/*.csv"])
@pytest.mark.parametrize(
    "beside",
    [
        pytest.param("ann/.git/refs/HEAD.json", id="a repository's"),
        pytest.param("ann/.ipynb_checkpoints/work-checkpoint.json", id="a notebook's"),
        pytest.param("ann/._work.json", id="macOS'"),
        pytest.param("__MACOSX/ann/._work.json", id="those of macOS' archives"),
        pytest.param("ann/~$work.csv", id="a lock of Excel's"),
        pytest.param("ann/.~lock.work.csv", id="a lock of LibreOffice's"),
    ],
)
def test_what_programs_put_beside_sheets_is_none(home: Path, words: str, beside: str) -> None:
    for name in ("ann/work.json", "bob/work.csv", beside):
        path = home / "class" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    found = submissions(words.split(), "key.json", Reading(), KEY.names)
    assert sorted(one.source for one in found) == [
        str(Path("class", *at)) for at in (("ann", "work.json"), ("bob", "work.csv"))
    ]


def test_a_hidden_folder_is_read_where_it_is_named(home: Path) -> None:
    path = home / ".class" / "ann.json"
    path.parent.mkdir()
    path.write_text("{}")
    for word in (".class", ".class/*.json", f"{home}/.class/*"):
        assert [one.name for one in submissions([word], "key.json", Reading(), KEY.names)] == ["ann"]


def test_an_absolute_pattern_means_what_it_fits(home: Path) -> None:
    assert [found.name for found in submissions([f"{home}/hand-in/*.csv"], "key.json", Reading(), KEY.names)] == ["bob"]


@pytest.mark.parametrize(
    ("word", "name", "said", "hint"),
    [
        pytest.param("empty", "empty", "empty holds no sheet", ".json", id="a folder of other things"),
        pytest.param("none", "none", "none holds no sheet", ".json", id="an empty folder"),
        pytest.param("hand-in/*.yaml", "*.yaml", 'no file fits "hand-in/*.yaml"', "", id="a pattern that fits nothing"),
        pytest.param("x**.json", "x**.json", 'no file fits "x**.json"', "", id="a pattern of two stars in a name"),
        pytest.param("\0*", "\\x00*", "no file", "", id="a pattern that nothing can be called"),
        pytest.param(f"{'n' * 300}/*", "*", "no file", "", id="a pattern in a folder that cannot be"),
        pytest.param("*" * 300 + "[", f"{'*' * 199}…", "no file", "", id="a pattern of many stars"),
    ],
)
def test_what_means_nothing_is_listed_and_the_rest_is_read(
    home: Path, word: str, name: str, said: str, hint: str
) -> None:
    (home / "none").mkdir()
    found = submissions(["hand-in/ann.json", word, "hand-in"], "key.json", Reading(), KEY.names)
    assert [one.name for one in found] == ["ann", name, "ann", "bob", "cleo"]
    assert found[1].error.startswith(said)
    assert hint in found[1].hint
    assert not any(one.error for one in found if one.path)
    (alone,) = submissions([word], "key.json", Reading(), KEY.names)
    assert alone == found[1]


def test_two_stars_in_a_name_are_one(home: Path) -> None:
    found = submissions(["hand-in/a**.json", "**/cl**.npy"], "key.json", Reading(), KEY.names)
    assert [one.name for one in found] == ["ann", "cleo"]


def test_an_empty_folder_in_another_is_listed(home: Path) -> None:
    (home / "moodle/Dan_4").mkdir()
    found = submissions(["moodle"], "key.json", Reading(), KEY.names)
    assert [(one.name, one.error) for one in found if one.error] == [("Dan_4", "moodle/Dan_4 is empty")]
    assert len(found) == 4


@pytest.mark.parametrize("word", ["moodle", "moodle/*/*.json", "moodle/**/*.json", "{}/moodle/*/answer.json"])
def test_a_folder_that_cannot_be_read_is_listed(home: Path, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests may be run by somebody who may read everything."""

    def guarded(read: Callable[..., Any]) -> Callable[..., Any]:
        def reading(path: Any = ".", *rest: Any) -> Any:
            if str(path).endswith("Ann_1"):
                raise PermissionError(13, "Permission denied", str(path))
            return read(path, *rest)

        return reading

    monkeypatch.setattr(os, "scandir", guarded(os.scandir))
    monkeypatch.setattr(os, "listdir", guarded(os.listdir))
    found = submissions([word.format(home)], "key.json", Reading(), KEY.names)
    (fault,) = (one for one in found if one.error)
    assert (fault.name, fault.error.rpartition("/")[2]) == ("Ann_1", "Ann_1: permission denied")
    assert {one.name for one in found} >= {"Ann_1", "Bob_2"}


def test_folders_nested_beyond_what_any_path_may_have_are_told(home: Path) -> None:
    for _ in range(60):  # as deep as no path reaches
        Path("d" * 100).mkdir()
        os.chdir("d" * 100)
    os.chdir(home)
    found = submissions(["d" * 100, "hand-in"], "key.json", Reading(), KEY.names)
    assert [bool(one.error) for one in found] == [True, False, False, False]
    assert "too long" in found[0].error


def test_the_class_is_marked_and_what_means_nothing_stands_in_its_table(home: Path, run: Run) -> None:
    (home / "none").mkdir()
    (home / "problem.json").write_text(json.dumps(ac.softmax([1, 2]).to_dict()))
    (home / "sheet.json").write_text('{"softmax": [0.269, 0.731]}')
    for words in ((), ("--anonymous",)):
        done = run("grade", "problem.json", "none", "sheet.json", "x**.json", "--feedback", "pages", *words)
        assert (done.returncode, len([*(home / "pages").iterdir()])) == (2, 1 + len(words))
    done = run("grade", "problem.json", "none", "sheet.json", "x**.json")
    assert done.returncode == 2
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:4]] == [
        ["none", "unreadable"],
        ["sheet", "right"],
        ["x**.json", "unreadable"],
    ]
    assert done.stderr == "Error: 2 of 3 sheets cannot be read: none and x**.json\n"


@pytest.mark.parametrize("words", [("empty",), ("none", "empty"), ("x*.json",)], ids=" ".join)
def test_where_no_sheet_is_at_all_that_is_said_and_nobody_has_a_page(
    home: Path, run: Run, words: tuple[str, ...]
) -> None:
    (home / "none").mkdir()
    (home / "problem.json").write_text(json.dumps(ac.softmax([1, 2]).to_dict()))
    done = run("grade", "problem.json", *words, "--feedback", "pages")
    assert (done.returncode, done.stdout, (home / "pages").exists()) == (2, "", False)
    assert done.stderr.count("Error: ") == 1
    assert "marked" not in done.stderr
