"""Calls of the command line at random, and what every call owes its caller: a base of samples, damaged at will."""

from __future__ import annotations

import io
import json
import os
import struct
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from attncalc.calculations import TABLE, load
from attncalc.cli import app, output
from attncalc.common.system import samples_folder
from attncalc.declare.calculation import Calculation
from attncalc.declare.operands import Option
from attncalc.inputs.problem_files import sample_problem
from attncalc.render import BINARY, FORMATS, SUFFIXES
from attncalc.solve.solver import solve

HOSTILE = (
    "\x1b[2J",
    "\x1b]8;;http://example.org\x07x",
    "\x9b31m",
    "a\nError: forged",
    "a\rb",
    "\u202egnissim",
    "\u200b\u2066",
    "[/]",
    "[red]x[/red]",
    "[link=file:///etc/passwd]x[/link]",
    ":smile:",
    "<img src=x onerror=alert(1)>",
    '"><script>alert(1)</script>',
    "\\input{x}$&%#_",
    "=HYPERLINK(1)",
    "@sum",
    "\ud800",
    "\x00",
    "e\u0301\u4e2d",
    "x" * 300,
    "",
    " ",
    "__proto__",
)
"""Words that would act if they were taken for more than text."""


class Call(NamedTuple):
    """The words of a call, what it finds on standard input and in its folder."""

    words: tuple[str, ...]
    files: Mapping[str, bytes]
    input: bytes = b""


class Ended(NamedTuple):
    """How a call ended: its status, what it wrote, and the files of its folder before and behind it."""

    status: int
    out: bytes
    err: bytes
    before: Mapping[str, bytes]
    after: Mapping[str, bytes]


@cache
def sample(name: str) -> dict[str, Any]:
    """The sample of a calculation, as it is stored."""
    found: dict[str, Any] = json.loads((samples_folder() / f"{name}.json").read_text(encoding="utf-8"))
    return found


@cache
def step_names(name: str) -> list[str]:
    """The steps that a calculation has with its sample."""
    return [step.name for step in solve(sample_problem(name)).steps]


# Numbers, well and ill

ENTRIES = (
    *("0", "1", "-1", "2", "0.5", "-0.25", "1/3", "sqrt(2)", "pi", "1e3", "1e300", "-1e300", "1e-300", "5e-324", "1e5"),
    *("1e999", "nan", "inf", "-inf", "1e-999", "x", "1,5", "50%", "0x10", "1_0", "١", "−", "true", "null", ".5", "5."),
    *("9007199254740993", "0.1000"),
)
entry = st.sampled_from(ENTRIES)
numbers = st.floats(allow_nan=False) | st.integers(-9, 9) | st.sampled_from([0.1, 0.5, 1e-9, 1e9, 10**400, True, None])
hostile = st.sampled_from(HOSTILE)


@st.composite
def arrays(draw: st.DrawFn) -> Any:
    """Nested lists of numbers: mostly small and even, sometimes ragged, empty or holding other things."""
    shape = draw(st.lists(st.integers(1, 4), max_size=3))
    leaf = draw(st.sampled_from([st.integers(-3, 3), st.integers(0, 1), numbers, numbers | hostile | entry]))

    def nested(sizes: Sequence[int]) -> Any:
        return draw(leaf) if not sizes else [nested(sizes[1:]) for _ in range(sizes[0])]

    made = nested(shape)
    if shape and draw(st.integers(0, 19)) == 0:
        made.append(draw(st.sampled_from([[], 1, [1], "x", {}])))
    return made


FAR = (0, -1, 5e-324, 1e-320, -1e-160, 1e-160, 1e160, 1e200, 1e308, -1e308)
"""Numbers whose squares, products or differences leave the range of floats."""


@st.composite
def far_off(draw: st.DrawFn, value: Any) -> Any:
    """The same nested lists with some of the numbers far from all others."""
    if isinstance(value, list):
        return [draw(far_off(item)) for item in value]
    return draw(st.sampled_from([value, *FAR])) if isinstance(value, int | float) else value


def literal(value: Any) -> str:
    """`1 2; 3 4` for a matrix, JSON for what has more axes."""
    if not isinstance(value, list):
        return str(value)
    if all(isinstance(row, list) and not any(isinstance(cell, list | dict) for cell in row) for row in value):
        return "; ".join(" ".join(map(str, row)) for row in value)
    return json.dumps(value) if any(isinstance(row, list | dict) for row in value) else ",".join(map(str, value))


def spelled(value: Any) -> str:
    """The value of an option as its word."""
    if isinstance(value, dict):
        return ",".join(f"{name}={number}" for name, number in value.items())
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


# Files, in every format


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode("utf-8", "surrogatepass")


def as_csv(value: Any, mark: str = ",") -> bytes:
    rows = value if isinstance(value, list) and value and isinstance(value[0], list) else [value]
    lines = (mark.join(map(str, row if isinstance(row, list) else [row])) for row in rows)
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def as_npy(value: Any) -> bytes:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        array = np.zeros((2, 2))
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def as_npz(values: Mapping[str, Any]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, value in values.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), as_npy(value))
    return file.getvalue()


def as_tensors(values: Mapping[str, Any]) -> bytes:
    header: dict[str, Any] = {}
    body = b""
    for name, value in values.items():
        array = np.frombuffer(as_npy(value)[128:], np.float64) if value is not None else np.zeros(0)
        data = array.tobytes()
        header[name] = {"dtype": "F64", "shape": [array.size], "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """The same bytes; or cut short, with a byte changed, a part left out, doubled or put in."""
    kind = draw(st.integers(0, 9))
    at = draw(st.integers(0, len(content)))
    if kind == 0:
        return content[:at]
    if kind == 1 and content:
        at = min(at, len(content) - 1)
        return content[:at] + bytes([draw(st.integers(0, 255))]) + content[at + 1 :]
    if kind == 2:
        return content[:at] + content[at + draw(st.integers(1, 9)) :]
    if kind == 3:
        return content[:at] + content[max(0, at - draw(st.integers(1, 20))) :]
    if kind == 4:
        put = draw(hostile.map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary(max_size=9))
        return content[:at] + put + content[at:]
    return content


FILE_NAMES = st.sampled_from(
    [*"abq", "a b", "-x", "--q", "1,2", "3", "ü", "[red]", "x\x1b[2J", "x\ny", "x\u202ey", "x#y", "@x", "\udcff", "pi"]
)
labels = st.lists(hostile | st.sampled_from(["cat", "dog", "the"]), min_size=1, max_size=4)


@st.composite
def files(draw: st.DrawFn, name: str, value: Any) -> tuple[str, bytes]:
    """A file that holds a value as an operand of that name, and what the file is called."""
    form = draw(
        st.sampled_from(["json", "json", "json", "csv", "tsv", "npy", "npz", "safetensors", "jsonl", "txt", ""])
    )
    key = draw(st.sampled_from([name, name, name.upper(), "x"]) | hostile)
    held: Any = value
    if form in ("json", "txt", ""):
        kind = draw(st.integers(0, 4))
        if kind == 1:
            held = {key: value}
        elif kind == 2:
            held = {key: value, "labels": draw(labels), draw(hostile): draw(arrays())}
        elif kind == 3:
            held = {word: [draw(numbers), 1] for word in draw(labels)}
        content = as_json(held)
    elif form in ("csv", "tsv"):
        content = as_csv(value, draw(st.sampled_from([",", ";", "\t", " "])))
        if draw(st.booleans()):
            rows = content.decode("utf-8", "surrogatepass").split("\n")
            heads = draw(labels)
            content = "\n".join(f"{heads[i % len(heads)]},{row}" for i, row in enumerate(rows)).encode(
                "utf-8", "surrogatepass"
            )
    elif form == "npy":
        content = as_npy(value)
    elif form == "npz":
        content = as_npz({"x": value, name or "y": value})
    elif form == "safetensors":
        content = as_tensors({name or "y": value})
    else:
        content = b"\n".join(as_json(row) for row in (value if isinstance(value, list) else [value]))
    stem = draw(FILE_NAMES) if draw(st.integers(0, 3)) == 0 else name
    return f"{stem}.{form}" if form else stem, draw(damaged(content))


# Options


def option_words(option: Option, *, calm: bool) -> st.SearchStrategy[list[str]]:
    """An option of a calculation; a calm one has a value of the kind that it takes."""
    if bool in option.types:
        return st.sampled_from([[option.flag], [option.flag.replace("--", "--no-", 1)]])
    good: list[str] = [*option.choices]
    if int in option.types or float in option.types:
        good += ["0", "1", "2", "3", "4", "-1", "0.5", "1/3"]
    if dict in option.types:
        good += ["x=1", "x=1,y=2", "1"]
    if str in option.types:
        good += ["x", "the", "0"]
    bad = ["", "nan", "inf", "1e999", "1e300", "-1e300", "1e-300", "99999999999999999999", "x", "1,2,3", "7"]
    value = st.sampled_from(good or ["1"]) if calm else st.sampled_from([*good, *bad]) | hostile
    return value.map(lambda word: [f"{option.flag}={word}"]) | value.map(lambda word: [option.flag, word])


STEPS = st.sampled_from(["output", "result", "weights", "scores", "softmax", "norm 1/x", "nothing", ""]) | hostile


def calm_ones() -> st.SearchStrategy[list[str]]:
    """The options that every calculation has, with values that they take."""
    return st.one_of(
        st.sampled_from([*FORMATS]).map(lambda form: ["-f", form]),
        st.sampled_from(["-q", "--all", "--expand", "--explain", "--exact", "--exact", "--standalone"]).map(
            lambda word: [word]
        ),
        st.integers(0, 50).map(lambda n: ["-d", str(n)]),
        st.integers(0, 15).map(lambda n: ["--round", str(n)]),
        st.sampled_from([["--cell", "all"], ["--dtype", "float32"], ["--color", "always"]]),
        st.sampled_from([f"out{suffix}" for suffix in SUFFIXES]).map(lambda name: ["-o", name]),
    )


def wild_ones(calculation: Calculation) -> st.SearchStrategy[list[str]]:
    """The options that every calculation has, with any values."""
    forms = st.sampled_from([*FORMATS, "jsn"])
    return st.one_of(
        forms.map(lambda form: ["-f", form]),
        st.sampled_from(["-q", "--all", "--expand", "--explain", "--exact", "--symbolic", "--standalone"]).map(
            lambda word: [word]
        ),
        st.sampled_from(["0", "2", "15", "50", "51", "-1", "x"]).map(lambda n: ["-d", n]),
        st.sampled_from(["0", "1", "3", "15", "16"]).map(lambda n: ["--round", n]),
        STEPS.map(lambda name: [f"--get={name}"]),
        STEPS.map(lambda name: [f"--show={name}"]),
        st.sampled_from(["all", "output[0,0]", "output:0,1", "weights[9]", "x[", "output[0]", "softmax[0]"]).map(
            lambda cell: ["--cell", cell]
        ),
        st.sampled_from(["float32", "float64", "float16"]).map(lambda kind: ["--dtype", kind]),
        st.sampled_from(["always", "never", "green"]).map(lambda when: ["--color", when]),
        st.sampled_from([o.name for o in calculation.operands] or ["x"]).map(lambda name: ["--transpose", name]),
        st.sampled_from([",", ";", "tab", "|", "xx", '"']).map(lambda mark: ["--delimiter", mark]),
        st.sampled_from([["--header"], ["--no-header"], ["--labels"], ["--no-labels"], ["--decimal", ","]]),
        st.sampled_from([f"out{suffix}" for suffix in SUFFIXES] + ["out", "none/x.json", ".", "out.docx"]).map(
            lambda name: ["-o", name]
        ),
        st.sampled_from(["--check", "--data", "--nothing", "-x", "--", "-", "--help", "--reveal", "--rtol=1"]).map(
            lambda word: [word]
        ),
        hostile.map(lambda word: [f"--{word}"]),
    )


# Calls


@st.composite
def of_a_calculation(draw: st.DrawFn, names: Sequence[str] = tuple(TABLE)) -> Call:
    """A calculation, its backward pass or its Jacobian: operands from its sample or at random, in any form."""
    name = draw(st.sampled_from(names))
    calculation, stored = load(name), sample(name)
    held: dict[str, bytes] = {}
    words: list[str] = []
    given = dict(stored.get("inputs", {}))
    calm = draw(st.booleans())
    random = not calm and draw(st.booleans())
    piped = b""
    if draw(st.integers(0, 5)) == 0:
        held["p.json"] = as_json(stored) if calm else draw(damaged(as_json(stored)))
        words.append("p.json")
        given = {}
    elif calm and draw(st.booleans()):
        given = {o: draw(far_off(value)) for o, value in given.items()}
    elif random:
        operands = [o.name for o in calculation.operands]
        given = {o: draw(arrays()) for o in operands[: draw(st.integers(1, 4))]}
    for operand, value in given.items():
        way = draw(st.integers(0, 7))
        word = literal(value) if not isinstance(value, dict) else json.dumps(value)
        if way > 3:
            file, content = (f"{operand}.json", as_json(value)) if calm else draw(files(operand, value))
            if "\0" not in file and "/" not in file and file not in (".", ".."):
                held[file] = content
                word = ("@" if draw(st.booleans()) else "") + file
                word += "" if calm else draw(st.sampled_from(["", "", "", f"#{operand}", "#[0]", "#nothing"]))
        elif way == 3:
            piped, word = as_json(value) if calm else draw(damaged(as_json(value))), "-"
        declared = calculation.operand(operand)
        by_name = declared is None or not declared.positional or draw(st.integers(0, 3)) == 0
        words += [f"--{operand}={word}" if declared is not None and by_name else word]
    told: dict[str, list[str]] = {}
    for option in calculation.options:
        value = stored.get("options", {}).get(option.name)
        if value is not None and value is not False and not random and "p.json" not in held:
            told[option.flag] = [option.flag] if value is True else [f"{option.flag}={spelled(value)}"]
    for option in draw(st.lists(st.sampled_from(calculation.options or (None,)), max_size=2)):
        if option is not None:
            told[option.flag] = draw(option_words(option, calm=calm))
    for more in draw(st.lists(calm_ones() if calm or draw(st.booleans()) else wild_ones(calculation), max_size=3)):
        if calm:
            told[more[0]] = more
        else:
            words += more
    words += [word for option_ in told.values() for word in option_]
    verb = draw(st.sampled_from(["", "", "", "grad", "jacobian"]))
    if verb and draw(st.booleans()):
        words += draw(st.sampled_from([["--wrt", next(iter(given), "x")], ["--gradcheck"], ["--upstream", "1,2"]]))
    if not calm and draw(st.integers(0, 4)) == 0:
        words.insert(draw(st.integers(0, len(words))), draw(hostile | entry))
    return Call(tuple(word.replace("\0", "") for word in [*verb.split(), name, *words]), held, piped)


@st.composite
def of_a_document(draw: st.DrawFn) -> Call:
    """`run`, `check` or `grade` with a sample, one value of which may be another, and with any answer."""
    name = draw(st.sampled_from([*TABLE]))
    stored = json.loads(json.dumps(sample(name)))
    calm = draw(st.booleans())
    for _ in range(draw(st.integers(0, 0 if calm else 2))):
        part = draw(st.sampled_from(["inputs", "options", "steps", "outputs", "result", "calculation", "attncalc"]))
        value: Any = draw(arrays() | hostile | numbers)
        if part in ("inputs", "options") and isinstance(stored.get(part), dict) and stored[part]:
            stored[part][draw(st.sampled_from([*stored[part]]))] = value
        else:
            stored[part] = value
    held = {"p.json": as_json(stored) if calm else draw(damaged(as_json(stored)))}
    verb = draw(st.sampled_from(["run", "check", "grade"]))
    if verb == "run":
        words = ["run", "p.json"]
    else:
        steps = st.sampled_from(step_names(name)) if calm else STEPS
        answer = {draw(steps): draw(arrays()) for _ in range(draw(st.integers(0, 2)))}
        sheet: Any = draw(
            st.sampled_from([answer, {"steps": answer, "student": draw(hostile)}, {"steps": answer, "rounding": 3}])
            | arrays()
        )
        file, content = draw(files("sheet", sheet))
        file = file.replace("\0", "").lstrip("-") or "s"
        held[file if "/" not in file and file != "p.json" else "s"] = content
        other = next(name for name in [*held, "p.json"] if name != "p.json" or len(held) == 1)
        words = ["check", f"@{other}", "p.json"] if verb == "check" else ["grade", "p.json", other]
        if draw(st.booleans()):
            words += draw(
                st.sampled_from(
                    [["--reveal"], ["--rtol", "0.1"], ["--points", "output=3"], ["--atol", "x"], ["--points", "x"]]
                )
            )
    if draw(st.booleans()):
        form = draw(st.sampled_from([*FORMATS]))
        words += (
            ["-f", form] if verb != "grade" else ["--report", draw(st.sampled_from(["json", "csv", "junit", "tap"]))]
        )
    return Call(tuple(words), held)


@st.composite
def of_a_page(draw: st.DrawFn) -> Call:
    """`explain`, `mistakes`, `list`, `sample`, help: a calculation or any word."""
    verb = draw(st.sampled_from(["explain", "mistakes", "sample"]) | st.sampled_from(["list", "run", "grad", "check"]))
    word = draw(st.sampled_from([*TABLE]) | hostile.map(lambda text: text.replace("\0", "")) | entry)
    words = [verb, *([word] if draw(st.booleans()) else [])]
    if draw(st.booleans()):
        words += draw(
            st.sampled_from([["-f", form] for form in (*FORMATS, "x")] + [["--help"], ["-o", "out.json"], ["-d", "3"]])
        )
    return Call(tuple(words), {})


calls = st.one_of(of_a_calculation(), of_a_calculation(), of_a_calculation(), of_a_document(), of_a_page())


# What a call owes


def check(call: Call, ended: Ended) -> None:
    """Hold an ended call to what is promised of each."""
    verb = call.words[0]
    grading = verb in ("check", "grade") or any(word.startswith("--check") for word in call.words)
    assert ended.status in ((0, 1, 2) if grading else (0, 2))
    err = ended.err.decode("utf-8")
    assert harmless(err), "standard error carries a character that acts"
    assert "Traceback" not in err
    assert "Warning" not in err
    kinds = [line.partition(": ")[0] for line in err.splitlines()]
    assert set(kinds) <= {"Error", "hint", "note", "warning"}
    changed = {name for name in ended.after if ended.before.get(name) != ended.after[name]}
    assert set(ended.before) <= set(ended.after)
    if ended.status == 2 and (verb != "grade" or not ended.out):
        assert not ended.out
        assert kinds in (["Error"], ["Error", "hint"])
        assert not changed, "a fault has left something behind"
        return
    assert kinds[:1] != ["Error"] or verb == "grade"
    assert len(changed) <= 1
    pages = [ended.after[name] for name in changed] + ([ended.out] if ended.out else [])
    assert len(pages) == 1 or verb == "grade"
    assert pages[0], "the result is empty"
    for page in pages:
        check_page(page, call.words)


def check_page(page: bytes, words: Sequence[str]) -> None:
    """A page of text carries no character that acts; JSON is strict."""
    if page.startswith((b"\x93NUMPY", b"PK", b"\x89PNG")) or page[6:9] == b"\0\0{":  # a header's length, and the header
        assert any(word.endswith(BINARY) for word in words)
        return
    text = page.decode("utf-8")
    if "always" not in words:
        assert harmless(text), "the page carries a character that acts"
    if text.startswith(('{"', "{\n", "{}")):  # a formula in LaTeX may begin with a brace too
        json.loads(text, parse_constant=refuse, object_pairs_hook=without_doubles)
    if text.startswith("<"):
        assert "<img src=x" not in text
        assert "<script>alert" not in text


def harmless(text: str) -> bool:
    """Whether every character prints, or ends a line or a cell."""
    ours = "\n\t\xa0\u2061\u2062"  # MathML's blanks and invisible signs, of a function and of a product
    return all(character.isprintable() or character in ours for character in text.replace("\r\n", "\n"))


def refuse(constant: str) -> Any:
    """For numbers that JSON does not have."""
    raise AssertionError(f"{constant} is not JSON")


def without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """For objects: no key twice."""
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), f"a key stands twice among {keys}"
    return dict(pairs)


def lay_out(call: Call, place: Path) -> dict[str, bytes]:
    """Write a call's files; what could be written."""
    written = {}
    for name, content in call.files.items():
        path = os.path.join(place, name)  # noqa: PTH118 — names that pathlib would change
        with open(path, "wb") as file:  # noqa: PTH123 — the same
            file.write(content)
        written[name] = content
    return written


def listed(place: Path) -> dict[str, bytes]:
    """The files of a folder."""
    return {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()}


# Calls in this process


@contextmanager
def streams(content: bytes) -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    """Standard streams of bytes in place of the real ones."""
    out, err = io.BytesIO(), io.BytesIO()
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = io.TextIOWrapper(io.BytesIO(content), "utf-8")
    sys.stdout = io.TextIOWrapper(out, "utf-8", newline="\n")
    sys.stderr = io.TextIOWrapper(err, "utf-8", newline="\n", write_through=True)
    try:
        output.prepare_streams()
        yield out, err
    finally:
        for wrapper in (sys.stdout, sys.stderr):
            wrapper.detach()
        sys.stdin, sys.stdout, sys.stderr = before


def run_here(call: Call) -> Ended:
    """The call in this process, in a folder of its own; what escapes it is a bug."""
    home = os.getcwd()  # noqa: PTH109 — to go back
    with tempfile.TemporaryDirectory() as place:
        before = lay_out(call, Path(place))
        os.chdir(place)
        try:
            with streams(call.input) as (out, err), warnings.catch_warnings():
                warnings.simplefilter("error")
                status = app(list(call.words), standalone_mode=False)
            return Ended(status, out.getvalue(), err.getvalue(), before, listed(Path(place)))
        finally:
            os.chdir(home)
