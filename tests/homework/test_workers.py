"""Classes marked by many: what comes of it is the same, and a sheet that misbehaves costs nobody else."""

from __future__ import annotations

import json
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import attncalc as ac
from attncalc.common.errors import AttncalcError
from attncalc.homework.marking import workers
from attncalc.homework.marking.whole_class import Graded
from attncalc.homework.marking.wire import from_json, to_json
from attncalc.homework.reading.answers import ANSWER, from_python
from attncalc.homework.reading.class_lists import Submission
from attncalc.homework.reading.sheets import from_tree

T = ac.attention([[1, 0], [0, 1]], [[1, 0], [0, 1]], [[1, 2], [3, 4]])
linux = pytest.mark.skipif(sys.platform != "linux", reason="memory is limited there")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Fifty sheets of a class in several formats, some of which cannot be read."""
    weights = np.round(T["weights"], 4)
    for i in range(40):
        steps = {"weights": (weights + (i % 3 == 0)).tolist(), "output": np.round(T.result, 2 + i % 3).tolist()}
        (tmp_path / f"s{i:02}.json").write_text(json.dumps({"student": f"Zoë {i}", "steps": steps}), encoding="utf-8")
    for i in range(6):
        (tmp_path / f"t{i}.csv").write_text("@output\n1.66,2.66\n2.33,?\n", encoding="utf-8")
    np.save(tmp_path / "array.npy", T.result)
    (tmp_path / "broken.json").write_text('{"steps": ', encoding="utf-8")
    (tmp_path / "empty.csv").write_text("", encoding="utf-8")
    (tmp_path / "link.json").symlink_to(tmp_path / "s00.json")
    return tmp_path


@pytest.mark.thorough
@pytest.mark.parametrize("make", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_an_executor_marks_as_the_call_itself_does(home: Path, make: type[ThreadPoolExecutor]) -> None:
    alone = ac.grade(T, home).report("json")
    with make(2) as executor:
        assert ac.grade(T, home, executor=executor).report("json") == alone
        assert ac.grade(T, home, executor=executor).report("json") == alone
    assert ac.grade(T, home, jobs=2).report("json") == alone
    assert not [one for one in workers._Process.all if one.process.poll() is None]


@pytest.mark.thorough
@linux
def test_a_sheet_that_misbehaves_costs_nobody_else(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("array.npy", "broken.json", "empty.csv", "link.json"):
        (tmp_path / name).unlink()
    for name in ("hangs", "ends", "eats", "right"):
        (tmp_path / f"{name}.json").write_text(json.dumps(T.result.tolist()), encoding="utf-8")
    bad = Path(__file__).with_name("bad_worker.py")
    monkeypatch.setattr(workers, "COMMAND", (sys.executable, str(bad)))
    monkeypatch.setattr(workers, "PATIENCE", 5.0)
    found = ac.grade(T, home, jobs=2)
    assert len(found) == 50
    assert {one.student: one.error for one in found.sheets if one.marked is None} == {
        "hangs": "the sheet takes more than 5 seconds to be marked",
        "ends": "the sheet ends the process that marks it",
        "eats": "it takes more memory than there is",
    }
    assert sum(one.marked is not None for one in found) == 47


@pytest.mark.thorough
def test_class_lists_are_shared_out(tmp_path: Path) -> None:
    rows = [f"s{i},{i % 3},{'' if i % 4 else 'word'},{i / 7}" for i in range(20)]
    path = tmp_path / "class.csv"
    path.write_text('student,dot,products[0],"products[1]"\n' + "\n".join(rows) + "\n", encoding="utf-8")
    t = ac.dot([1, 2], [0, 1])
    alone = ac.grade(t, path).report("json")
    assert ac.grade(t, path, jobs=2).report("json") == alone
    given = {f"s{i}": answer for i, answer in enumerate([2, [[1]], "2", np.float32(2), {"products": [0, 2]}, None] * 2)}
    assert ac.grade(t, given, jobs=2).report("json") == ac.grade(t, given).report("json")


class Losing(Executor):
    """An executor that loses some of what it is handed."""

    def __init__(self, lost: int) -> None:
        self.lost = lost

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        self.lost -= 1
        if self.lost >= 0:
            done.set_exception(RuntimeError("the worker went away"))
        else:
            done.set_result(fn(*args, **kwargs))
        return done


@pytest.mark.thorough
def test_what_is_lost_with_its_worker_is_marked_by_another(home: Path) -> None:
    assert ac.grade(T, home, executor=Losing(1)).report() == ac.grade(T, home).report()
    with pytest.raises(AttncalcError, match="lost with their worker, twice: RuntimeError: the worker went away"):
        ac.grade(T, home, executor=Losing(99))


@pytest.mark.thorough
def test_a_worker_of_another_version_refuses(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "version", lambda name: "9.9")
    with pytest.raises(AttncalcError, match=r"a worker has attncalc [\d.]+(rc\d+)?, but 9.9 hands out the sheets"):
        ac.grade(T, home, jobs=2)


@pytest.mark.parametrize("answer", [[0.5, None, "1/3"], [[1 + 2j, 3]], {"weights": [["", "n/a"], [1e5, float("nan")]]}])
def test_answers_travel_as_they_are(answer: Any) -> None:
    sheet = from_tree(answer, "a.json") if isinstance(answer, dict) else None
    value = next(iter(sheet.steps.values())) if sheet else from_python(answer, ANSWER.name)
    there = from_json(type(value), to_json(value))
    assert type(there) is type(value)
    for name, part in vars(value).items():
        same = np.array_equal(there.value, part, equal_nan=True) if name == "value" else True
        assert same
        assert str(vars(there).get(name)) == str(part)


def test_a_type_may_go_by_a_name() -> None:
    """NumPy's NDArray does, from NumPy 2.5 and Python 3.12 on."""
    named: Any = type("Named", (), {"__value__": np.ndarray})
    assert_array_equal(from_json(named, to_json(np.array([[0.5, np.nan]]))), [[0.5, np.nan]])


def test_findings_travel_as_they_are() -> None:
    marked = ac.grade(T, {"Ann": {"weights": [[0.5, 0.5], [1, 0]], "output": [[9, 9], [9, 9]]}}, reveal=True).sheets[0]
    assert from_json(Graded, to_json(marked)) == marked
    one = Submission("Ann", "a.json", Path("a.json"), error="no", hint="yes", data=b"\x00\xff")
    assert from_json(Submission, to_json(one)) == one
