"""A large run: its result in blocks, and, of steps that are too large to keep, the entries that a reader asks for.

A run that still would not fit in memory is refused before it starts.
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
"""Steps of at most so many bytes are kept."""
EXACT_ENTRY = 200
"""About how many bytes an exact number takes, including intermediate expressions."""

ROUNDED = 12
"""The bytes of a checkpoint's entry while it is rounded to a narrow type."""


def must_fit_whole(written: Written, kind: str, what: str) -> None:
    """Refuse a run that keeps every step, if there is not enough memory."""
    roots = written.roots if written.loop is None else (*written.loop.steps, *written.loop.carry.values())
    needed = whole_bytes(plan(roots), itemsize(kind)) + _widened(written, kind)
    if kind == "object":
        memory.must_fit(needed, what, {"without --exact it": whole_bytes(plan(roots), itemsize("float64"))})
    else:
        alone = lay_out(written.outputs[:1], itemsize(kind)).bytes(itemsize(kind)) + _widened(written, kind)
        memory.must_fit(needed, what, {"the result alone (-q, or --get with its name)": alone} | _half(needed, kind))


def must_fit_stored(written: Written, kind: str, what: str) -> None:
    """Refuse a small run whose operands are on a disk, if there is not enough memory for the largest of them."""
    twice = itemsize("float64") * bool(written.precise)  # a run in a narrow type is computed in full, too
    needed = whole_bytes(plan(written.roots), itemsize(kind) + twice) + _widened(written, kind)
    memory.must_fit(needed, what, _half(needed, kind))


def _widened(written: Written, kind: str) -> int:
    """The bytes of the largest operand on a disk that must be converted to another type."""
    stored, narrow = [g.value for g in written.inputs.values() if g.is_stored], bool(written.precise)
    sizes = (value.size for value in stored if narrow or value.dtype != np.dtype(kind))
    return (ROUNDED if narrow else itemsize(kind)) * max(sizes, default=0)


def _half(needed: int, kind: str) -> dict[str, int]:
    return {"--dtype float32": needed // 2} if kind == "float64" else {}


def must_fit_for_checking(written: Written, what: str) -> None:
    """Refuse to mark an answer if there is not enough memory for all steps, since marking looks at every one."""
    memory.must_fit(whole_bytes(plan(written.roots), itemsize("float64")), f"checking {what}")


def itemsize(kind: str) -> int:
    """The bytes of one entry of this kind of number."""
    return EXACT_ENTRY if kind == "object" else np.dtype(kind).itemsize


def evaluated(written: Written, kind: str, what: str, asked: str | None) -> dict[Node, Array]:
    """The values that are kept: only what is asked for, or the outputs and all small steps.

    `asked` is the name of one step or output, "" or `result` for the result. None asks for a page of all steps, and so
    does a name that is no step, such as the likeliest next tokens, which are found from the steps afterwards.
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
    """The graph behind the trace of a large run; values that were not kept are computed again when asked for."""

    def __init__(self, kept: Kept) -> None:
        super().__init__(kept)
        self.kind = kept.kind
        self.rows: dict[tuple[Node, tuple[int, ...]], Array] = {}

    @cached_property
    def around(self) -> Around:
        """The values that were kept."""
        return Around(self.values, self.operands, self.look)

    def look(self, node: Node, place: At) -> Any:
        """One entry of a node; the row that it stands in is computed once."""
        at = tuple(place[name] for name in node.names)
        if node in self.values:
            return self.values[node][at]
        if (node, at[:-1]) not in self.rows:
            chosen = {axis: [i] for axis, i in zip(node.axes[:-1], at[:-1], strict=True)}
            self.rows[node, at[:-1]] = entries(node, chosen, self.values, self.operands, self.kind).ravel()
        return self.rows[node, at[:-1]][at[-1] if at else 0]

    def kept_around(self, step: Step) -> None:
        """None: not all values were kept, and so many entries are not examined."""

    def entries(self, step: Step, places: Sequence[Sequence[int]] | None) -> Array:
        """Entries of a step that was not kept, computed now; or all of it, if there is enough memory."""
        node = self.nodes[step.key]
        if places is not None:
            return entries(node, dict(zip(node.axes, places, strict=True)), self.values, self.operands, self.kind)
        layout = lay_out([node], itemsize(self.kind))
        needed = layout.bytes(itemsize(self.kind))
        memory.must_fit(needed, node.args["name"], _half(needed, self.kind))
        return evaluate_large(layout, self.operands, dtype=self.kind)[node]
