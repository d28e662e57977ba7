"""Every hint is followed: the call that it proposes does not fail by the fault that it is to mend, nor by a new one."""

from __future__ import annotations

import io
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from faulty_calls import CALLS, FILES
from rows import rows

from attncalc.cli import app

FOUND_IN_HINTS = {
    "problem.json": "fine.json",
    "answer.json": "answer.json",
    "FILE": "words.csv",
    "ANSWER": "5",
    "NAME": "dot",
    "N": "3",
    "TYPE": "float32",
    "MARK": ",",
    "NUMBER|inf": "3",
    "NUMBER|default|none": "2",
}
"""What stands for the placeholders and the files of a hint."""
HELD = {
    **FILES,
    "fine.json": '{"attncalc":1,"calculation":"cosine","inputs":{"a":[1,2],"b":[3,4]},"options":{}}',
    "answer.json": "0.9839",
    "more.csv": ",x,y\ncat,1,2\ndog,3,4\ncow,5,6\nhen,7,9\n",
    "pair.csv": ",x,y\ncat,2,1\nhen,3,4\n",
}
MORE = [
    "analogy cat dog cat --data more.csv",
    "analogy cat dog hen more.csv --data pair.csv",
    "cosine cat pair.csv#hen --data more.csv#x",
    "attention --heads 2 q.json k.json v.json",
    "attention q.json k.json v.json --casual",
    "layernorm 1,2,3 --epsilon 1",
    "softmax 1,2 --temprature 2",
    "softmax 1,2 -f jason",
    "adamw 1 --kind adamax",
    "cosine ./mode.json 1,2",
    "explain sofmax",
    "mistakes attenton",
    "grad sofmax 1,2",
    "multihead --x q.json --heads 2",
    "quiz sofmax",
    "check 5",
]
"""Faults beside those whose words are kept."""
TWO_FAULTS = {
    "cosine a 1,2": "the file has one number, and the other vector two",
    "analogy cat dog cat --data words.csv": "both words of the table are inputs",
    "cosine -- -1,2 -x": "the file that is meant has a word among its numbers",
    "quiz sofmax": "a quiz needs a folder besides",
    "grade problem.json --report Excel": "no sheet is named",
    "quiz softmax --difficulty easy": "a quiz needs a folder besides",
    "grade sheets --late 1": "the folder is missing, and marks changed by hand are a file",
    "quiz softmax --students 30": "the class is a file, and no number",
    "model . 1,2 --max-new-tokens 3": "the folder is no checkpoint",
    "multihead --num-heads 2": "the operands are missing as well",
    "layernorm 1,2,3 --epsilon 1": "the second guess takes no value",
    "complexity --kv-heads 6 --heads 9 --d-model 9": "the width is not divisible by the new number either",
}
"""Calls that are at fault in a second place, of which the hint that is followed says nothing."""

COMMAND = re.compile(r"attncalc ((?:[^,;:… ]|,(?! )| (?!or attncalc))+)")
MEANT = re.compile(r"^(?:did you mean|write) ([^ ]+(?:(?:, | or )[^ ]+)*?)(?:, which .*)?\??$")
OPTION = re.compile(r"(?:^|; |\? |write )(--[a-z-]+) ([^ ,;]+)")
WORDS_AFTER = re.compile(r"takes|overrule|is|or|and")  # of an option that is named without a value
FAULTY = re.compile(r"\"([^\"]+)\"|'([^']+)'|(?:option|command) (-\S+)")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in HELD.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    return tmp_path


def filled(words: list[str]) -> list[str]:
    return [FOUND_IN_HINTS.get(word, word) for word in words]


def mended(words: list[str], message: str, hint: str) -> Iterator[list[str]]:
    """The calls that a hint proposes in place of another word or with another option."""
    meant = MEANT.match(hint)
    faulty = FAULTY.search(message)
    if meant and faulty:
        wrong = next(filter(None, faulty.groups()))
        places = [i for i, word in enumerate(words) if word.partition("=")[0] == wrong or word.endswith(f"={wrong}")]
        for right in re.split(r", | or ", meant[1]):
            for i in places[-1:]:
                yield [*words[:i], words[i].replace(wrong, right.rstrip("?")), *words[i + 1 :]]
        return
    for option, value in OPTION.findall(hint):
        if WORDS_AFTER.fullmatch(value):
            continue
        i = words.index(option) if option in words else len(words)
        yield [*words[:i], option, *filled([value]), *words[i + 2 :]]


def told(words: list[str], capfd: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """The fault of a call, and its hint; both are empty where it goes well."""
    status = app(words, standalone_mode=False)
    said = capfd.readouterr().err
    if not status:
        return "", ""
    assert status == 2, (words, said)
    lines = said[said.index("Error: ") :].splitlines()
    return lines[0].removeprefix("Error: "), lines[1].removeprefix("hint: ") if len(lines) > 1 else ""


@pytest.mark.release
@rows("line", [*CALLS, *MORE])
def test_a_hint_that_is_followed_leads_somewhere(folder: Path, capfd: pytest.CaptureFixture[str], line: str) -> None:
    words = shlex.split(line)
    message, hint = told(words, capfd)
    assert message, "no fault is tried"
    for proposed in mended(words, message, hint):
        call = proposed
        then, further = told(filled(call), capfd)
        tried = {message}
        while then and then not in tried and (following := next(mended(call, then, further), None)):
            tried.add(then)
            call = following
            then, further = told(filled(call), capfd)
        assert then not in tried, (call, then)
        assert not then or line in TWO_FAULTS or "needs a value" in then, (call, then)


@pytest.mark.release
@rows("line", [*CALLS, *MORE])
def test_a_command_that_a_hint_names_works(folder: Path, capfd: pytest.CaptureFixture[str], line: str) -> None:
    _, hint = told(shlex.split(line), capfd)
    for named in COMMAND.findall(hint):
        words = filled(named.split())
        if {"COMMAND", "CALCULATION", "FILE", "1"} & {*named.split()} or "--heads" in words:  # a pattern, not a call
            continue
        verbs = 1 + (words[0] in ("explain", "grad", "run", "mistakes"))  # the words behind them may be prose
        told_last = [told(words[:n], capfd)[0] for n in range(len(words), min(verbs, len(words)) - 1, -1)]
        assert "" in told_last, told_last
