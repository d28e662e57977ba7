"""What there is of memory, and the refusal of what is more."""

from __future__ import annotations

from pathlib import Path

import pytest

from attncalc.common.errors import TooLarge
from attncalc.evaluate.large import memory
from attncalc.evaluate.large.layout import places, whole_bytes
from attncalc.evaluate.values import plan
from attncalc.language.axes import Axis
from attncalc.language.graph import Node, given
from attncalc.language.ops import exp, softmax, total

GIB = 2**30
X = given("x", (Axis("n", 3), Axis("d", 4)))


def place(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


NEW = {"memory.max": f"{4 * GIB}\n", "memory.current": f"{3 * GIB}\n", "memory.stat": f"anon 5\ninactive_file {GIB}\n"}
OLD = {
    "memory.limit_in_bytes": f"{4 * GIB}\n",
    "memory.usage_in_bytes": f"{3 * GIB}\n",
    "memory.stat": f"inactive_file 1\ntotal_inactive_file {GIB}\n",
}
NONE = NEW | {"memory.max": "max\n"}
GROUPS: dict[str, tuple[str, str, dict[str, str], list[int]]] = {
    "the new layout": ("0::/app", "app", NEW, [2 * GIB]),
    "the new layout, no limit": ("0::/app", "app", NONE, []),
    "a limit further up": ("0::/app/one", "app", NEW, [2 * GIB]),
    "inside a container, whose path is not there": ("0::/docker/abc", "", NEW, [2 * GIB]),
    "the old layout": ("4:memory:/app", "memory/app", OLD, [2 * GIB]),
    "the old layout, no limit": ("4:memory:/app", "memory/app", OLD | {"memory.limit_in_bytes": f"{2**63 - 4096}"}, []),
    "another controller": ("4:cpu:/app", "cpu/app", OLD, []),
}


@pytest.mark.parametrize(("line", "folder", "files", "left"), GROUPS.values(), ids=GROUPS)
def test_a_container_s_limit_holds(
    tmp_path: Path, line: str, folder: str, files: dict[str, str], left: list[int]
) -> None:
    place(tmp_path / "sys/fs/cgroup" / folder, files)
    place(tmp_path, {"proc/self/cgroup": f"{line}\n"})
    assert list(memory._of_the_container(tmp_path)) == left


def test_without_control_groups_there_is_no_limit(tmp_path: Path) -> None:
    assert list(memory._of_the_container(tmp_path)) == []


def test_what_is_there_is_told() -> None:
    found = memory.available()
    assert found is None or 0 < found < 2**60


TABLES: list[tuple[str, Node, int]] = [
    ("an operand, which is there already", X, 0),
    ("what an operand gives", exp(X), 1),
    ("a chain, of which a link and the next are there", exp(exp(exp(X))), 2),
    ("a view, which takes no room", exp(X).T, 1),
    ("a view, which holds what it shows", exp(exp(X).T), 2),
    ("behind a view, when nobody needs it any more", exp(exp(exp(X).T)), 2),
    ("what needs a second table while it is made", softmax(X), 2),
]


@pytest.mark.parametrize(("node", "tables"), [row[1:] for row in TABLES], ids=[row[0] for row in TABLES])
def test_what_is_held_at_a_time_is_counted(node: Node, tables: int) -> None:
    assert whole_bytes(plan([node]), 8) == tables * 8 * 12


WAYS = {"float32": 500, "the result alone": 20}
CASES: dict[str, tuple[int | None, str | None]] = {
    "enough": (1000, None),
    "unknown": (None, None),
    "too little": (999, "float32 needs 500; the result alone needs 20"),
    "only one way fits": (100, "the result alone needs 20"),
    "no way fits": (10, "what fits is smaller: fewer rows, or a part of them at a time"),
}


@pytest.mark.parametrize(("free", "hint"), CASES.values(), ids=CASES)
def test_what_does_not_fit_is_refused_with_the_way_round(
    monkeypatch: pytest.MonkeyPatch, free: int | None, hint: str | None
) -> None:
    monkeypatch.setattr(memory, "available", lambda: free)
    if hint is None:
        memory.must_fit(1000, "it", WAYS)
        return
    with pytest.raises(TooLarge) as caught:
        memory.must_fit(1000, "it", WAYS)
    assert str(caught.value) == f"it needs 1,000 bytes of memory, but only {free} are available"
    assert caught.value.hint == hint


def test_a_block_has_fewer_places_the_more_each_of_them_takes() -> None:
    """Of 65,536 queries beside as many keys no block has them all."""

    def rows(m: int) -> int:
        scores = given("q", (Axis("n", 1), Axis("d", 4))) @ given("k", (Axis("m", m), Axis("d", 4))).T
        return places(plan([total(exp(scores), "m")]), Axis("n", 2**16), 8)

    assert 1 <= rows(2**16) < rows(2**15) < 2**15


def test_a_sum_is_not_counted_with_each_place_that_is_added_to_it() -> None:
    """A product of 128 × 512 and 512 × 1,408 was added up of two of the 512 at a time."""
    product = given("x", (Axis("n", 128), Axis("d", 1))) @ given("w", (Axis("d", 1), Axis("f", 1408)))
    row, axis, held = plan([product]), Axis("d", 512), 128 * 1408 * 8
    assert places(row, axis, 8) == 2
    assert places(row, axis, 8, held) == 512


def test_values_that_are_let_go_take_no_room_in_a_block() -> None:
    """As many places make a block of a long chain as of a short one: flash had thirteen for 512 blocks of keys."""

    def rows(length: int) -> int:
        chain = given("q", (Axis("n", 1), Axis("d", 64)))
        for _ in range(length):
            chain = exp(chain)
        return places(plan([chain]), Axis("n", 2**16), 8)

    assert rows(500) == rows(5)
