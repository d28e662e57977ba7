"""What an author says while a graph is written: steps in their order and their parts, and what is kept beside them."""

from __future__ import annotations

from attncalc.language.axes import Axis
from attncalc.language.graph import aside, building, given, group, label, note, output, step, steps
from attncalc.language.ops import total

N, D = Axis("n", 3), Axis("d", 3)
Q, K = given("q", (N, D), "Q"), given("k", (Axis("m", 3), D), "K")


def test_steps_come_in_the_order_in_which_they_were_written() -> None:
    with building():
        q = step("q", Q + 0, "first")
        k = step("k", K + 0, "second")
        last = step("scores", q @ k.T, "third")
    assert [node.args["name"] for node in steps(last)] == ["q", "k", "scores"]


def test_groups_nest_and_end() -> None:
    with building():
        with group("encoder 1"), group("norm1"):
            inner = step("mean", Q, "…")
        outside = step("output", inner, "…")
    assert [inner.key, outside.key] == [("encoder 1/norm1", "mean"), ("", "output")]


def test_an_output_is_not_among_the_steps_that_are_shown() -> None:
    with building():
        assert not output("angle", total(Q), "…").args["shown"]
        assert step("dot", total(Q), "…").args["shown"]


def test_what_an_author_says_beside_the_graph_is_kept_once_and_apart() -> None:
    with building() as said:
        note("keys = queries")
        note("keys = queries")
        label("part", ["weights", "biases"])
        kept = aside("cached_bytes", Q, "…")
    with building() as other:
        pass
    assert (said.notes, said.labels, said.asides) == (["keys = queries"], {"part": ("weights", "biases")}, [kept])
    assert (other.notes, other.labels, other.asides) == ([], {}, [])
