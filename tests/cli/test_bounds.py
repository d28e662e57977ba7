"""What would take for ever, or more memory than there is: refused in a line, at once, or answered right."""

from __future__ import annotations

import io
import json
import signal
import struct
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

import pytest
from rows import rows

from attncalc.cli import app, solving
from attncalc.common.system import TooLongError, alarm

COUNTLESS = "9" * 25  # more than any memory, any float64 and any int64 counts
POISSON = ["--distribution", "poisson", "--rate", "3"]
TRAIN = ["linear-regression", "1;2", "1;2", "[[1]]", "[0]", "--lr", "0.1"]
TINY = ["--wq", "[[1]]", "--wk", "[[1]]", "--wv", "[[1]]", "--wo", "[[1]]"]

REFUSED: dict[str, tuple[Sequence[str], str]] = {
    "a power of powers": (["derivative", "2**10**10", "--at", "1"], "the exponent is 1e+10, and powers end at 1000"),
    "a tower": (["derivative", "9**9**9**9", "--at", "1"], "the exponent is 3.8742e+08, and powers end at"),
    "a thousand brackets": (["derivative", "(" * 400 + "x" + ")" * 400, "--at", "1"], "more than 300 numbers, names"),
    "a hundred brackets": (["derivative", "(" * 99 + "x" + ")" * 99, "--at", "1"], "more than 40 deep"),
    "a formula without end": (["derivative", "x+" * 50_000 + "x", "--at", "1"], "100,001 characters, but the limit"),
    "an exponent of nine digits": (["softmax", "1e999999999,1"], "too large: 64-bit numbers end at 1.8e308"),
    "an exponent without end": (["softmax", "1e" + "9" * 50_000], "too large: 64-bit numbers end at 1.8e308"),
    "digits without end": (["softmax", "9" * 50_000], "too large: 64-bit numbers end at 1.8e308"),
    "open brackets": (["softmax", "[" * 50_000], "is not closed"),
    "open functions": (["softmax", "sqrt(" * 10_000], "is neither numbers nor a file"),
    "many decimals": (["softmax", "1,2", "--digits", "10000000000"], "--digits takes a whole number from 0 to 50"),
    "rounding to many": (["softmax", "1,2", "--round", "1000000"], "--round takes a whole number from 0 to 15"),
    "positions": (
        ["sinusoidal", "--n", COUNTLESS, "--d", "4"],
        "--n must be a whole number of up to",
    ),
    "so many in a document": (["run", "many.json"], "--n must be a whole number of up to 15 digits, not 1e+35"),
    "heads": (["alibi", "--n", "2", "--heads", COUNTLESS], "--heads must be a whole number of up to 15 digits"),
    "a stride": (["conv", "1,2,3", "1,1", "--stride", COUNTLESS], "--stride must be a whole number of up to 15 digits"),
    "a list of sizes": (["scaling", "--dk", f"1,{COUNTLESS}"], "--dk must be a whole number of up to 15 digits"),
    "heads of a matrix": (
        ["multihead", "[[1]]", *TINY, "--heads", "1000000000000"],
        "cannot be split into h=1000000000",
    ),
    "buckets": (["t5-bias", "--n", "3", "--buckets", "1000000"], "--buckets must be at most 4,096"),
    "random numbers": (["scaling", "--dk", "64", "--trials", "1000000000000"], "random numbers at once are more than"),
    "rows of a schedule": (["schedule", "--steps", "1000000000000"], "makes a row for each step, but 1,000,000 is"),
    "updates": ([*TRAIN, "--steps", "1000000000000"], "1,000,000,000,000 steps are asked for, but 10,000,000 is"),
    "steps downhill": (["descend", "x", "--start", "1", "--steps", "1000000000000"], "iterations are asked for, but"),
    "tokens": (["transformer", "model.json", "--generate", "1000000000000"], "--generate must be from 1 to 256"),
    "a factorial": (["likelihood", "1,1000000000", *POISSON, "--exact"], "1.0000E+9! has more than 1,000 digits"),
    "the largest of many letters": (["softmax", "40x40", "--symbolic"], "operations, but the limit is 20,000"),
    "an exact exponential": (["softmax", "1e300,1", "--exact"], "has more than 1,000 digits"),
    "an exact power": (["norm", "3,4", "--p", "1000000", "--exact"], "has more than 1,000 digits"),
    "an exact entry": (["softmax", "0." + "9" * 5_000, "--exact"], "written with 5,002 characters, but the limit is"),
    "exact zeros without end": (["softmax", f"1e-{'0' * 5_000}1", "--exact"], "written with 5,004 characters"),
    "an exact number near 0": (["softmax", "1e-999999999,1", "--exact"], "the entry 1e-999999999 has more than 1,000"),
    "an exact root of one": (
        ["softmax", "sqrt(1e-99999999),1", "--exact"],
        "the entry 1e-99999999 has more than 1,000",
    ),
    "letters without end": (
        ["softmax", "999x999x999x999", "--symbolic"],
        "would have 996,005,996,001 letters, but the limit is",
    ),
    "brackets behind a name": (["softmax", "@long.json#" + "[1]" * 20_000 + "x"], 'row labels, so there is no "[1][1]'),
    "parts of parts": (["softmax", "#" * 60_000], "is neither numbers nor a file"),
    "columns of a class": (
        ["grade", "key.json", "class.csv"],
        '"softmax" has too many entries: 1,000,000,000,000',
    ),
    "exact random numbers": (["scaling", "--exact"], "numbers that are drawn at random have no closed form"),
    "exact entries": (["softmax", "1," * 20_000 + "1", "--exact"], "20,001 entries are not made exact: the limit is"),
    "lists in lists": (["softmax", "deep.json"], "deep.json: lists and objects are nested too deeply"),
    "lists in lists of a document": (["run", "steps.json"], "steps.json: lists and objects are nested too deeply"),
    "a document's own nesting": (["run", "option.json"], "--axis must be a whole number, not (((("),
    "tables without end": (["softmax", "tables.csv"], "tables.csv holds more tables (lines @name) than are read"),
    "a table named twice": (["softmax", "twice.csv"], 'twice.csv:3: "@x" stands twice'),
    "an npy that claims 10¹⁸ entries": (["softmax", "claim.npy"], "claim.npy: the npy header is not one that NumPy"),
    "an npy that claims a long header": (["softmax", "header.npy"], "header claims 4294967295 bytes, but there are 0"),
    "an npy of 3,000 axes": (["softmax", "axes.npy"], "axes.npy has 3000 axes; the limit is 32"),
    "an npz that unpacks to more": (
        ["softmax", "bomb.npz"],
        "bomb.npz unpacks to 4,000,000,000 bytes; at most 800,000,000",
    ),
    "an npz that lies": (["softmax", "lie.npz"], "lie.npz#x is damaged"),
    "safetensors that claim 10¹⁸": (["softmax", "claim.safetensors"], "claim.safetensors#x: the header does not give"),
    "the Jacobian of a long vector": (["jacobian", "softmax", "long.json"], "would have 100,000,000 entries, but the"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that claim or hold too much."""
    made = tmp_path_factory.mktemp("bounds")
    texts = {
        "many.json": '{"attncalc":1,"calculation":"sinusoidal","options":{"n":1' + "0" * 35 + ',"d":4},"inputs":{}}',
        "deep.json": "[" * 100_000 + "]" * 100_000,
        "steps.json": '{"calculation":"softmax","inputs":{"x":[1]},"steps":' + "[" * 5_000 + "]" * 5_000 + "}",
        "option.json": '{"calculation":"softmax","inputs":{"x":[1]},"options":{"axis":' + "[" * 99 + "]" * 99 + "}}",
        "key.json": '{"calculation":"softmax","inputs":{"x":[1,2]}}',
        "class.csv": "student,softmax[999999,999999]\nAnn,1\n",
        "long.json": json.dumps([1.5] * 10_000),
        "model.json": (Path(__file__).parents[2] / "samples/transformer.json").read_text(encoding="utf-8"),
        "tables.csv": "".join(f"@t{i}\n1,2\n" for i in range(20_000)),
        "twice.csv": "@x\n1,2\n@x\n3,4\n",
    }
    for name, text in texts.items():
        (made / name).write_text(text, encoding="utf-8")
    (made / "claim.npy").write_bytes(npy("(1000000000000000000,)"))
    (made / "axes.npy").write_bytes(npy(f"({'1, ' * 3000})") + bytes(8))
    (made / "header.npy").write_bytes(b"\x93NUMPY\x02\x00\xff\xff\xff\xff")
    claim = json.dumps({"x": {"dtype": "F64", "shape": [10**18], "data_offsets": [0, 8 * 10**18]}}).encode()
    (made / "claim.safetensors").write_bytes(struct.pack("<Q", len(claim)) + claim)
    packed = zipped(npy("(2097152,)") + bytes(2**24))
    size = packed.rfind(b"PK\x01\x02") + 24  # where an archive says how much it unpacks to
    for name, claimed in {"lie.npz": 100, "bomb.npz": 4_000_000_000}.items():
        (made / name).write_bytes(packed[:size] + struct.pack("<I", claimed) + packed[size + 4 :])
    return made


def npy(shape: str) -> bytes:
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header


def zipped(content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", content)
    return file.getvalue()


@pytest.mark.release
@rows(("words", "message"), REFUSED.values(), ids=REFUSED)
def test_it_is_refused_in_a_line(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: Sequence[str],
    message: str,
) -> None:
    monkeypatch.chdir(folder)
    assert app([*words], standalone_mode=False) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert message in said.err
    assert [line.partition(": ")[0] for line in said.err.splitlines()] in (["Error"], ["Error", "hint"])
    assert all(len(line) < 500 for line in said.err.splitlines())


TOO_MUCH = {
    "positions": ["sinusoidal", "--n", "1000000000000", "--d", "512"],
    "positions and widths": ["sinusoidal", "--n", "1000000000000000", "--d", "1000000000000000"],
    "biases": ["alibi", "--heads", "1000", "--n", "1000000"],
    "pairs": ["t5-bias", "--n", "1000000000"],
    "padding": ["conv", "1,2,3", "1,1", "--padding", "1000000000000000"],
    "an outer product": ["outer", "long.json", "long.json", "--all"],
}


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on memory that the system keeps to")
@pytest.mark.parametrize("words", TOO_MUCH.values(), ids=TOO_MUCH)
def test_what_no_memory_holds_is_refused(attncalc_command: list[str], folder: Path, words: Sequence[str]) -> None:
    import resource

    done = subprocess.run(
        [*attncalc_command, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30)),
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert [line.partition(": ")[0] for line in done.stderr.splitlines()] in (["Error"], ["Error", "hint"])
    assert "bug" not in done.stderr


ANSWERED = {
    "a window over everything": (["attention", "[[1]]", "[[2]]", "[[3]]", "--window", "1000000000000"], [[3.0]]),
    "a block of everything": (["flash", "[[1]]", "[[2]]", "[[3]]", "--block", "1000000000000"], [[3.0]]),
    "a stride beyond the end": (["conv", "1,2,3", "1,1", "--stride", "1000000000000"], [3.0]),
    "a step far out": (["schedule", "--kind", "constant", "--steps", "1000000000000", "--at", "7"], [1.0]),
    "a distance far out": (["t5-bias", "--n", "1", "--max-distance", "1000000000000000"], [[0]]),
    "an exact 0 with an exponent": (["dot", "0e-999999999,1", "1,2", "--exact"], 2.0),
    "a temperature near 0": (["softmax", "1,2", "--temperature", "1e-300"], [0.0, 1.0]),
    "a number with many zeros": (["dot", "0." + "0" * 5_000 + "1", "1"], None),
}


@pytest.mark.parametrize(("words", "result"), ANSWERED.values(), ids=ANSWERED)
def test_or_it_is_answered(capsys: pytest.CaptureFixture[str], words: Sequence[str], result: object) -> None:
    assert app([*words, "-f", "json"], standalone_mode=False) == 0
    found = json.loads(capsys.readouterr().out)["result"]
    if result is not None:
        assert found == result


def without_end(*args: object, **options: object) -> NoReturn:
    while True:
        pass


def without_ground(*args: object, **options: object) -> NoReturn:
    deeper(0)


def deeper(depth: int) -> NoReturn:
    deeper(depth + 1)


ENDLESS = {
    "time": (without_end, 0.05, "the exact entries take more than 0.05 seconds"),
    "depth": (without_ground, solving.MOST_SECONDS, "the exact entries have grown too deep"),
}


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer of the processor's time")
@pytest.mark.parametrize(("work", "seconds", "message"), ENDLESS.values(), ids=ENDLESS)
def test_exact_work_without_end_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    work: Callable[..., NoReturn],
    seconds: float,
    message: str,
) -> None:
    monkeypatch.setattr(solving, "solve", work)
    monkeypatch.setattr(solving, "MOST_SECONDS", seconds)
    before = signal.getsignal(signal.SIGVTALRM)
    assert app(["softmax", "1,2", "--exact"], standalone_mode=False) == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"Error: {message}\nhint: without --exact any size will do\n")
    assert (signal.getsignal(signal.SIGVTALRM), signal.getitimer(signal.ITIMER_VIRTUAL)) == (before, (0, 0))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer of the processor's time")
def test_an_end_that_a_finalizer_swallows_comes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python prints what a finalizer raises and goes on."""
    lost: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda told: lost.append(told.exc_type))

    class Slow:
        def __del__(self) -> None:
            busy(1.0)

    def work() -> None:
        Slow()
        busy(1.0)

    with pytest.raises(TooLongError), alarm(0.05, of_the_processor=True):
        work()
    assert lost == [TooLongError]


def busy(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
