"""Whatever stands at a key of a file of ours, a call that reads it is answered, or refused in one line."""

from __future__ import annotations

import copy
import json
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from any_calls import Call, run_here

from attncalc.homework.reading.names import is_inside

LEFT_OUT = object()
ODD: tuple[Any, ...] = (
    *(LEFT_OUT, None, True, False, 0, 2, -1, 0.3, 10**30, 1e300, float("nan"), float("inf")),
    *("abc", "", "1/0", "a/b", "../x", "\0", "é" * 3, "x" * 3000, "weights"),
    *([], [1], [[1], [2]], [None], [[]], [["a"]], [{}], {}, {"x": [1]}, {"": 1}),
)
CALLS = {
    "saved.json": (
        "run saved.json",
        "check 1,2 saved.json",
        "attention saved.json",
        "attention --check saved.json saved.json",
        "compare saved.json saved.json",
        "grade saved.json sheet.json",
        "quiz saved.json -o out",
    ),
    "gradient.json": ("run gradient.json", "check sheet.json gradient.json", "grad attention gradient.json"),
    "problem.json": (
        "grade problem.json sheet.json",
        "quiz problem.json -o out",
        "quiz problem.json --roster class.csv -o out",
        "practice problem.json",
    ),
    "key.json": ("grade key.json sheet.json",),
    "sheet.json": ("grade problem.json sheet.json", "check sheet.json saved.json"),
    "keys.json": ("grade keys.json own.json", "quiz keys.json -o out", "quiz --replace Bob -o ."),
    "report.json": (
        "grade problem.json sheet.json --regrade report.json",
        "grade --regrade report.json --policy other.toml",
    ),
    "policy.toml": (
        "grade problem.json sheet.json --policy policy.toml",
        "check sheet.json saved.json --policy policy.toml",
    ),
    "log.jsonl": ("practice softmax --seed 3 --save log.jsonl",),
    "bank.toml": ("quiz --bank . -o out", "quiz --bank . --roster class.csv -o out --pick 1"),
}
"""The calls that read a file."""
PARTS = 256


@cache
def files() -> dict[str, bytes]:
    """The files, as calls write them."""
    attention = "attention", "--q", "1 0; 0 1", "--k", "1 0; 0 1", "--v", "1 2; 3 4", "-o"
    written = {
        "class.csv": b"student\nAda\nBob\n",
        "policy.toml": b'marks = "1+1"\ncells = "each"\nfollow = "full"\nrtol = 0.01\n[points]\nscores = 2\n',
        "other.toml": b'marks = "0+1"\nfollow = "full"\n',
        "log.jsonl": b'{"practice": "softmax", "size": {}, "level": null, "fade": false, "whys": true, '
        b'"predict": false, "document": null, "seed": 3}\n{"said": "hint"}\n{"said": "1"}\n{"said": "skip"}\n',
        "bank.toml": b'[problem]\ntitle = "t"\npoints = 2\ndraw = true\n',
    }
    calls = (
        (*attention, "saved.json"),
        ("grad", *attention, "gradient.json"),
        ("quiz", "attention", "--seed", "7", "--size", "n=2,m=2,d_k=2,d_v=2", "--level", "easy", "-o", "quiz"),
        ("quiz", "softmax", "--roster", "class.csv", "--seed", "4", "--ask", "softmax", "-o", "class"),
        ("grade", "quiz/problem.json", "quiz/sheet.json", "-f", "json", "-o", "report.json"),
    )
    with tempfile.TemporaryDirectory() as name:
        place, found = Path(name), dict(written)
        for file, content in written.items():
            (place / file).write_bytes(content)
        for verb, *words in calls:
            there = [str(place / word) if "." in word or word in ("quiz", "class") else word for word in words]
            assert run_here(Call((verb, *there), {})).status in (0, 1)
        found |= {path.name: path.read_bytes() for path in (place / "quiz").glob("*.json")}
        found |= {path.name: path.read_bytes() for path in place.glob("*.json")}
        found |= {"keys.json": (place / "class/keys.json").read_bytes()}
        return found | {"own.json": (place / "class/Ada/sheet.json").read_bytes()}


def paths_of(tree: Any, behind: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each value in lists and objects."""
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ():
        yield (*behind, key)
        yield from paths_of(value, (*behind, key))


def changed(tree: Any, path: tuple[Any, ...], value: Any) -> Any:
    """The tree with another value there."""
    whole = copy.deepcopy(tree)
    held = whole
    for key in path[:-1]:
        held = held[key]
    held[path[-1]] = value
    if value is LEFT_OUT:
        del held[path[-1]]
    return whole


def as_toml(tree: dict[str, Any]) -> str:
    """Tables, and below them one level of tables."""

    def spelled(value: Any) -> str:
        if isinstance(value, dict):
            return "{" + ", ".join(f"{json.dumps(key)} = {spelled(held)}" for key, held in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(spelled, value)) + "]"
        special = {"NaN": "nan", "Infinity": "inf", "null": '"null"', str(10**30): "9" * 18}
        text = json.dumps(value)
        return special.get(text, text)

    return "".join(f"{json.dumps(key)} = {spelled(value)}\n" for key, value in tree.items())


FORMS: dict[str, tuple[Callable[[str], Any], Callable[[Any], str]]] = {
    "json": (json.loads, json.dumps),
    "toml": (tomllib.loads, as_toml),
    "jsonl": (
        lambda text: [json.loads(line) for line in text.splitlines()],
        lambda tree: "".join(f"{json.dumps(line)}\n" for line in tree),
    ),
}
"""How a file is read and written, by its suffix."""


@pytest.mark.spread(PARTS)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("file", CALLS)
def test_a_call_is_answered_or_refused_in_a_line(file: str, part: int) -> None:
    read, write = FORMS[file.rpartition(".")[2]]
    tree = read(files()[file].decode())
    every = ((path, value) for path in paths_of(tree) for value in ODD)
    for number, (path, value) in enumerate(islice(every, part, None, PARTS)):
        content = write(changed(tree, path, value))
        words = CALLS[file][number % len(CALLS[file])].split()
        ended = run_here(Call(tuple(words), files() | {file: content.encode()}, b"quit\n"))
        kinds = [line.partition(": ")[0] for line in ended.err.decode().splitlines()]
        assert ended.status in (0, 1, 2), (words, path, value)
        if ended.status == 2 and not (words[0] == "grade" and ended.out):
            assert kinds in (["Error"], ["Error", "hint"]), (words, path, value)
            assert not ended.out, (words, path, value)
            assert ended.after == ended.before, (words, path, value)


@pytest.mark.parametrize("folder", ["../x", "/x", "a/../../x", "..", "a//b", "C:x", "a\\..\\x", "a\nb", " . "])
def test_a_student_s_folder_is_within_that_of_the_class(folder: str) -> None:
    keys = json.loads(files()["keys.json"])
    keys["variants"][0]["folder"] = folder
    call = Call(("quiz", "keys.json", "-o", "out"), {"keys.json": json.dumps(keys).encode()})
    ended = run_here(call)
    assert (ended.status, ended.after) == (2, ended.before)
    assert b"which is no folder within that of the class" in ended.err


def test_without_a_folder_a_student_s_name_makes_one(tmp_path: Path) -> None:
    keys = json.loads(files()["keys.json"])
    del keys["variants"][0]["folder"]
    keys["variants"][0]["student"] = "../Ada"
    call = Call(("quiz", "keys.json", "-o", str(tmp_path / "out")), {"keys.json": json.dumps(keys).encode()})
    assert run_here(call).status == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["Ada", "Bob", "keys.json"]


@pytest.mark.parametrize("folder", ["Ada/1-week 1: a", "Ünal", "a.b", "Ann Lee", "3-Ann", "x" * 60])
def test_other_folders_are(folder: str) -> None:
    assert is_inside(folder)
