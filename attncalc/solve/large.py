"""A large run: its result in blocks, and of a step that is too large to keep, the entries that a reader looks at.

What would not fit in memory even so is refused before it starts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from attncalc.common.numerals import Array
from attncalc.evaluate.large import memory
from attncalc.evaluate.large.blocks import evaluate_large
from attncalc.evaluate.large.layout import lay_out, whole_bytes
from attncalc.evaluate.values import entries, plan
from attncalc.language.graph import Node, steps
from attncalc.language.primitive import At
from attncalc.record.trace import Step
from attncalc.solve.problem import Written
from attncalc.solve.recording import Around, Behind, Kept

SMALL = 2**24
"""A step of so many bytes or fewer is kept."""
EXACT_ENTRY = 200
"""The bytes that an exact number takes, about, with the formulas that come between."""

ROUNDED = 12
"""Those of an entry of a checkpoint while it is rounded to a narrow type."""


def must_fit_whole(written: Written, kind: str, what: str) -> None:
    """Refuse a run that keeps every step, where there is not the memory for it."""
    roots = written.roots if written.loop is None else (*written.loop.steps, *written.loop.carry.values())
    needed = whole_bytes(plan(roots), itemsize(kind)) + _widened(written, kind)
    if kind == "object":
        memory.must_fit(needed, what, {"without --exact it": whole_bytes(plan(roots), itemsize("float64"))})
    else:
        alone = lay_out(written.outputs[:1], itemsize(kind)).bytes(itemsize(kind)) + _widened(written, kind)
        memory.must_fit(needed, what, {"the result alone (-q, or --get with its name)": alone} | _half(needed, kind))


def must_fit_stored(written: Written, kind: str, what: str) -> None:
    """Refuse a small run whose operands lie on a disk, where there is not the memory for the largest of them."""
    twice = itemsize("float64") * bool(written.precise)  # beside a narrow type it is computed in full, too
    needed = whole_bytes(plan(written.roots), itemsize(kind) + twice) + _widened(written, kind)
    memory.must_fit(needed, what, _half(needed, kind))


def _widened(written: Written, kind: str) -> int:
    """The bytes of the largest operand that lies on a disk in another type, as it is computed with."""
    stored, narrow = [g.value for g in written.inputs.values() if g.is_stored], bool(written.precise)
    sizes = (value.size for value in stored if narrow or value.dtype != np.dtype(kind))
    return (ROUNDED if narrow else itemsize(kind)) * max(sizes, default=0)


def _half(needed: int, kind: str) -> dict[str, int]:
    return {"--dtype float32": needed // 2} if kind == "float64" else {}


def must_fit_for_checking(written: Written, what: str) -> None:
    """Refuse to mark an answer to a problem whose steps there is not the memory for: marking looks at every one."""
    memory.must_fit(whole_bytes(plan(written.roots), itemsize("float64")), f"checking {what}")


def itemsize(kind: str) -> int:
    """The bytes of an entry."""
    return EXACT_ENTRY if kind == "object" else np.dtype(kind).itemsize


def evaluated(written: Written, kind: str, what: str, asked: str | None) -> dict[Node, Array]:
    """The values that are kept: of what is asked for alone, or of the outputs and of all steps that are small.

    `asked` is the name of one step or output, "" or `result` that of the result. None asks for a page of all steps, and
    so does the name of what is told of them afterwards, as the likeliest next tokens are.
    """
    named = steps(*written.roots)
    roots = [node for node in named if asked in (node.path, node.args["name"])]
    if not roots and asked in ("", "result"):
        roots = [written.outputs[0]]
    if not roots:
        gradients = written.outputs if written.outputs[0] is not written.result else ()
        small = (node for node in named if _bytes(node, kind) <= SMALL)
        roots = list(dict.fromkeys((written.outputs[0], written.result, *gradients, *small)))
    layout = lay_out(roots, itemsize(kind))
    needed = layout.bytes(itemsize(kind)) + _widened(written, kind)
    memory.must_fit(needed, what, _half(needed, kind))
    return evaluate_large(layout, written.values, dtype=kind)


def _bytes(node: Node, kind: str) -> int:
    return itemsize(kind) * math.prod(node.shape)


class LargeBehind(Behind):
    """The graph behind the trace of a large run: what was not kept is worked out again where it is asked for."""

    def __init__(self, kept: Kept) -> None:
        super().__init__(kept)
        self.kind = kept.kind
        self.rows: dict[tuple[Node, tuple[int, ...]], Array] = {}

    @cached_property
    def around(self) -> Around:
        """The values that were kept."""
        return Around(self.values, self.operands, self.look)

    def look(self, node: Node, place: At) -> Any:
        """One entry of a node; the row that it stands in is worked out once."""
        at = tuple(place[name] for name in node.names)
        if node in self.values:
            return self.values[node][at]
        if (node, at[:-1]) not in self.rows:
            chosen = {axis: [i] for axis, i in zip(node.axes[:-1], at[:-1], strict=True)}
            self.rows[node, at[:-1]] = entries(node, chosen, self.values, self.operands, self.kind).ravel()
        return self.rows[node, at[:-1]][at[-1] if at else 0]

    def left_over(self, step: Step) -> Array | None:
        """Nothing is looked for among so many entries."""
        return None

    def why_nothing(self, step: Step) -> str:
        """Nothing is told of them either."""
        return ""

    hinging = left_over

    def kept_around(self, step: Step) -> None:
        """Not all of them were."""

    def entries(self, step: Step, places: Sequence[Sequence[int]] | None) -> Array:
        """Entries of a step that was not kept, worked out now; or all of it, if there is the memory."""
        node = self.nodes[step.key]
        if places is not None:
            return entries(node, dict(zip(node.axes, places, strict=True)), self.values, self.operands, self.kind)
        layout = lay_out([node], itemsize(self.kind))
        needed = layout.bytes(itemsize(self.kind))
        memory.must_fit(needed, node.args["name"], _half(needed, self.kind))
        return evaluate_large(layout, self.operands, dtype=self.kind)[node]
