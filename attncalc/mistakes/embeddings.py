"""Mistakes of any embedding, of words or of patches: what is left out or taken for something else."""

from __future__ import annotations

from attncalc.declare.mistake import NotThere, Scope, parts, remade, replaced, until_steps, wrong
from attncalc.language.graph import Node, walk
from attncalc.language.ops import concat, part_of, reread, spread, take


def all_but(s: Scope, name: str) -> Node:
    """The sum of all vectors but one."""
    one = getattr(s, name)
    for node in walk(s.this, into=until_steps):
        if node.op == "add" and one in node.sources:
            [other] = (source for source in node.sources if source is not one)
            return replaced(s.this, node, other)
    raise NotThere(name)


def _of_the_first(s: Scope) -> Node:
    """The first type's row for every token."""
    table, _ = parts(s.this, "lookup")
    return spread(take(table, table.names[-2], 0), s.this.axes)


LEFT_OUT = (
    wrong(
        "pe-missing",
        "output",
        lambda s: all_but(s, "positions"),
        says="without the positions",
        hint="Would another order of the words change the result?",
    ),
    wrong(
        "emb-types-missing",
        "output",
        lambda s: all_but(s, "types"),
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
"""Parts of an embedding that are not added, or are added to all tokens alike."""


def _column_by_column(s: Scope) -> Node:
    down, across, *inside = s.patches.axes[-4:]
    return reread(spread(s.patches, (*s.patches.axes[:-4], across, down, *inside)), s.this.axes)


def _kernels_turned(s: Scope) -> Node:
    """Each kernel column by column, where patches are read row by row."""
    W = s.this.sources[0]
    *front, kh, kw = W.axes
    return reread(spread(W, (*front, kw, kh)), s.this.axes)


def _channels_reversed(s: Scope) -> Node:
    """Each kernel from its last channel to its first."""
    W = s.this.sources[0]
    name, count = W.axes[-3][:2]
    if count == 1:
        raise NotThere("several channels")
    return reread(concat([part_of(W, name, i, i + 1) for i in reversed(range(count))], name), s.this.axes)


PATCHES = (
    wrong(
        "patch-columns",
        "read",
        _column_by_column,
        says="column by column",
        hint="In which order are the patches read?",
    ),
    wrong(
        "patch-kernel-transposed",
        "kernels",
        _kernels_turned,
        says="each kernel column by column, where a patch is read row by row",
        hint="With which entry of its kernel is the second entry of a patch multiplied?",
    ),
    wrong(
        "patch-no-bias",
        "embedded",
        lambda s: parts(s.this, "add")[0],
        says="without the bias of a feature",
        hint="What does the layer add to the product?",
    ),
    wrong(
        "patch-class-last",
        "with_class",
        remade("concat", lambda first, patches: concat([patches, first], "n")),
        says="the class token behind the patches",
        hint="At which position does the class token stand?",
    ),
    wrong(
        "patch-no-positions",
        "output",
        lambda s: s.with_class,
        says="no position is added",
        hint="How would attention know where a patch was?",
    ),
)
"""Mistakes of cutting an image into patches and embedding them."""
CHANNELS_REVERSED = wrong(
    "patch-channels-reversed",
    "kernels",
    _channels_reversed,
    says="the channels from the last to the first",
    hint="In which order are red, green and blue stored, in the image and in the kernels?",
)
"""A mistake for images with several channels, such as models read."""
