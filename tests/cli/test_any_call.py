"""Whatever is called with whatever: an answer or a fault of one line, nothing half-written, nobody's text in charge.

`ATTNCALC_CALLS=20000 pytest tests/cli/test_any_call.py` looks at so many calls of each kind, other ones in each run.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import any_calls
import pytest
from any_calls import Call, Ended
from hypothesis import HealthCheck, given, settings
from rows import draws, rows

from attncalc.calculations import TABLE, load
from attncalc.common.errors import flag

CALLS = int(os.environ.get("ATTNCALC_CALLS", "0"))
PATIENCE = 120  # seconds, for a call that would take milliseconds: only what hangs takes so long

many = settings(
    max_examples=CALLS or draws(240),
    derandomize=not CALLS,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
few = settings(many, max_examples=CALLS // 20 or draws(12))


class Hangs(BaseException):
    """Not caught by anything that catches errors."""


@contextmanager
def patience() -> Iterator[None]:
    """An end for what hangs, where the system has alarms."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        raise Hangs

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run_here(call: Call) -> Ended:
    """The call in this process, for as long as it is waited for."""
    with patience():
        return any_calls.run_here(call)


posix = pytest.mark.skipif(sys.platform == "win32", reason="names of files that only POSIX has")


FAILED_ONCE = {
    "the cells of exact eigenvalues": ["eigen", "1 2; 3 4", "--exact"],
    "the cells of eigenvalues in letters": ["eigen", "2x2", "--symbolic"],
    "a third, and tenths of it, as a width": ["derivative", "x**3", "--at", "2", "--h", "1/3"],
    "the eigenvalue of a row of one number": ["eigen", "[5]"],
    "differences beside an exact gradient": ["grad", "dot", "1,2", "3,4", "--exact", "--gradcheck"],
    "an exact Jacobian of ones and zeros": ["jacobian", "manhattan", "1,2", "4,-2", "--exact"],
    "an exact factorial": ["likelihood", "1,2", "--distribution", "poisson", "--rate", "3", "--exact"],
    "exact entries far inside one another, compared and put in order": [
        *("decoder-block", "-1 0.5; 0.5 -1", "-0.5 0.5; 0 1", "--heads", "1", "--exact"),
        *("--wq", "0.5 -1.5; 0.5 -1.5", "--wk", "1.5 0; -0.5 0.5", "--wv", "-1 -1; 1 0", "--wo", "0.5 1.5; 0.5 0"),
        *("--cross-wq", "0 1; 1.5 -1", "--cross-wk", "-1 1; -1 1.5", "--cross-wv", "0.5 0; 1 -1.5"),
        *("--cross-wo", "1 1.5; -1.5 -1", "--w1", "1.5 0.5; -1.5 -0.5", "--b1", "1/4,3/4", "--w2", "0 0.5; 1 0"),
    ],
    "a picture of one start for two series": ["optimizer", "[[[-1],[-2]],[[-1],[1]]]", "--start=-2", "--plot"],
}

OUT_OF_RANGE = {
    "terms of a difference": ["softmax", "1e308,-1e308"],
    "the entry of a root": ["eigen", "-1e308 0.5; 2 3"],
    "what it is made of": ["eigen", "4 1; -1e308 3", "-f", "html"],
    "a sum of a result's row": ["grad", "t5-bias", "1 1e308; 0 1e308; 2 1e308; 1e308 3", "--n", "6"],
    "a vector before its sum": ["analogy", "1e308,0", "-1e308,1", "1,0", "1 0; 0 1; 1 1"],
    "both ends of an axis": ["activation", "1e308,1,-1e308", "--kind", "gelu", "--plot"],
    "a factorial": ["likelihood", "1,1e308", "--distribution", "poisson", "--rate", "2"],
    "an exact factorial": ["likelihood", "1,1e308", "--distribution", "poisson", "--rate", "2", "--exact"],
    "an answer far from its value": ["matmul", "1e308 0; 0 1", "1 0; 0 1", "--check", "-1e308 0; 0 1"],
    "a sum far from an answer": ["residual", "1e308,1", "1,1", "--check=-1e308,1"],
}
"""Words of NumPy's, and a traceback, stood on standard error once where floats end on the way."""


@pytest.mark.thorough
@pytest.mark.parametrize("words", OUT_OF_RANGE.values(), ids=OUT_OF_RANGE)
def test_what_leaves_the_range_of_floats_is_told_in_our_own_words(words: list[str]) -> None:
    call = Call(tuple(words), {})
    any_calls.check(call, run_here(call))


@pytest.mark.thorough
@pytest.mark.parametrize("words", FAILED_ONCE.values(), ids=FAILED_ONCE)
def test_what_failed_once_is_answered(words: list[str]) -> None:
    call = Call(tuple(words), {})
    ended = run_here(call)
    assert (ended.status, ended.err) == (0, b"")
    any_calls.check(call, ended)


ODD = "XyZzY"
ODD_FILES = {
    "key.json": b'{"calculation": "softmax", "inputs": {"x": [1, 2]}, "options": {}}',
    "names.json": b'{"XyZzY": [1, 2], "softmax": ["XyZzY", "3XyZzY"]}',
    "table.csv": b"a,b\n1,XyZzY\n",
    "class.csv": b"student,softmax[0],softmax[1]\nAnn,XyZzY,1\n",
    "headings.csv": b"student,XyZzY[0]\nAnn,1\n",
}


def calls_with_an_odd_word(name: str) -> Iterator[list[str]]:
    """Calls of a calculation in which a word that nobody knows stands wherever one may."""
    calculation = load(name)
    for words in ([ODD], [f"1,{ODD}", f"{ODD},1"], ["names.json"], ["table.csv", "table.csv"], ["1,2", "1,2", ODD]):
        yield [name, *words]
    for option in ("--get", "--check", "--show", "--cell", "--format", f"--{ODD}", "--dtype", "--transpose"):
        yield [name, "1,2", "1,2", option, ODD]
    for answer in (f"1,{ODD}", f"0.1{ODD};2", "names.json", "table.csv", "class.csv"):
        yield [name, "1,2", "1,2", "--check", answer]
    for operand in calculation.operands:
        yield from ([name, f"--{operand.name}", word] for word in (ODD, f"1,{ODD}", f"names.json#{ODD}1", f"{ODD}.csv"))
    for own in calculation.options:
        yield from ([name, "1,2", flag(own.name), word] for word in (ODD, f"1{ODD}"))


def is_not_quoted_in_lower_case(words: list[str]) -> None:
    ended = run_here(Call(tuple(words), ODD_FILES))
    said = (ended.out + ended.err).decode()
    assert ODD in said or ODD.lower() not in said.lower(), (words, said)


@rows("file", ODD_FILES)
def test_no_word_of_a_sheet_is_quoted_in_lower_case(file: str) -> None:
    for words in (["grade", "key.json", file], ["check", file, "key.json"]):
        is_not_quoted_in_lower_case(words)


@pytest.mark.thorough
@pytest.mark.spread(18)
@rows("name", TABLE, by=lambda name: name)
def test_nobodys_word_is_quoted_in_lower_case(name: str) -> None:
    for words in calls_with_an_odd_word(name):
        is_not_quoted_in_lower_case(words)


@pytest.mark.thorough
@posix
@many
@given(any_calls.of_a_calculation())
def test_any_calculation(call: Call) -> None:
    any_calls.check(call, run_here(call))


@pytest.mark.thorough
@posix
@many
@given(any_calls.of_a_document())
def test_any_document(call: Call) -> None:
    any_calls.check(call, run_here(call))


@pytest.mark.thorough
@posix
@many
@given(any_calls.of_a_page())
def test_any_page(call: Call) -> None:
    any_calls.check(call, run_here(call))


@pytest.mark.thorough
@posix
@few
@given(any_calls.calls)
def test_any_call_of_the_command(attncalc_command: list[str], call: Call) -> None:
    with tempfile.TemporaryDirectory() as place:
        before = any_calls.lay_out(call, Path(place))
        done = subprocess.run(
            [*attncalc_command, *call.words],
            input=call.input,
            cwd=place,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "PYTHONPATH": os.environ.get("PYTHONPATH", "")},
        )
        any_calls.check(call, Ended(done.returncode, done.stdout, done.stderr, before, any_calls.listed(Path(place))))
