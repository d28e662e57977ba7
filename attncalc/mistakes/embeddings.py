"""The mistakes of an embedding wherever one stands: what of its sum is left out, or taken for another row."""

from __future__ import annotations

from attncalc.declare.mistake import NotThere, Scope, parts, wrong
from attncalc.language.graph import Node
from attncalc.language.ops import spread, take


def _without(s: Scope, name: str) -> Node:
    """The sum of all vectors but one."""
    if name not in s:
        raise NotThere(name)
    return sum((getattr(s, other) for other in ("types", "positions") if other != name and other in s), s.embeddings)


def _of_the_first(s: Scope) -> Node:
    """The first type's row for every token."""
    table, _ = parts(s.this, "lookup")
    return spread(take(table, table.names[-2], 0), s.this.axes)


LEFT_OUT = (
    wrong(
        "pe-missing",
        "output",
        lambda s: _without(s, "positions"),
        says="without the positions",
        hint="Would another order of the words change the result?",
    ),
    wrong(
        "emb-types-missing",
        "output",
        lambda s: _without(s, "types"),
        says="without the types",
        hint="Is a token of the second text told from one of the first?",
    ),
    wrong(
        "emb-types-all-first",
        "types",
        _of_the_first,
        says="every token is taken for one of the first text",
        hint="Which text is the last token of?",
    ),
)
"""A part of an embedding that nobody adds, or for all tokens alike."""
