"""Which name of a file means which operand: in any case, with or without underscores, by the usual synonyms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from attncalc.errors import InputError
from attncalc.inputs.reading import STDIN
from attncalc.text import both, listed, near, quoted, visible

MOST_LISTED = 12  # names of a file, where none of them is the one that is meant
SYNONYMS: dict[str, tuple[str, ...]] = {
    "q": ("query", "queries"),
    "k": ("key", "keys"),
    "v": ("value", "values"),
    "x": ("input", "inputs"),
    "wq": ("wquery", "weightq", "queryweight", "qproj", "toq"),
    "wk": ("wkey", "weightk", "keyweight", "kproj", "tok"),
    "wv": ("wvalue", "weightv", "valueweight", "vproj", "tov"),
    "wo": ("wout", "woutput", "weighto", "outweight", "oproj", "outproj", "toout"),
    "bq": ("biasq", "qbias", "qprojbias"),
    "bk": ("biask", "kbias", "kprojbias"),
    "bv": ("biasv", "vbias", "vprojbias"),
    "bo": ("biaso", "obias", "oprojbias", "outprojbias"),
    "gamma": ("gain", "weight"),
    "beta": ("bias", "shift"),
    "mask": ("attentionmask", "attnmask"),
    "table": ("embedding", "embeddings"),
    "vocabulary": ("vocab", "embeddings", "words"),
    "tokens": ("ids", "inputids"),
    "logits": ("scores",),
    "probabilities": ("probability", "probs"),
    "target": ("targets",),
    "targets": ("target",),
}


def matching(operand: str, names: Iterable[str], source: str) -> str | None:
    """The name in a file that means the operand, if there is one: its own in any spelling, else a synonym."""
    known = list(names)
    for wanted in ({_bare(operand)}, set(SYNONYMS.get(operand, ()))):
        found = [name for name in known if _bare(name) in wanted]
        if len(found) > 1:
            raise InputError(
                f"{source} holds {both(map(quoted, found))}, and each of them may be {operand}",
                hint=f"name one: {part_of(source, found[0])}",
            )
        if found:
            return found[0]
    return None


def part_of(source: str, name: str) -> str:
    """The word that picks what a file holds under a name: `qkv.npz#k`, of standard input `-#k`."""
    return f"{'-' if source == STDIN else source}#{visible(name, 40)}"


def stored_by_torch(name: str) -> bool:
    """Whether a name is that of a PyTorch layer's matrix, which is stored [out, in]."""
    return name.endswith(".weight")


@cache  # a file of thousands of arrays is asked for each operand
def _bare(name: str) -> str:
    """`W_Q` → "wq"; `q_proj.weight` → "qproj"."""
    return re.sub(r"[^a-z0-9]", "", name.removesuffix(".weight").casefold())


def choose(name: str | None, operand: str, names: Sequence[str], source: str) -> str:
    """One of a file's arrays: the one of that name, else the one that means the operand, else the only one."""
    if name is not None:
        found = [known for known in names if known == name] or [k for k in names if k.casefold() == name.casefold()]
        if len(found) != 1:
            raise missing(name, names, source)
        return found[0]
    own = matching(operand, names, source)
    if own is not None:
        return own
    if len(names) != 1:
        raise several(names, operand, source)
    return names[0]


def missing(name: str, names: Sequence[str], source: str) -> InputError:
    """The error for a name that a file does not hold."""
    known = f"it holds {_listed(names)}" if names else ""
    return InputError(f"{source} holds no {quoted(name)}", hint=near(name, names, part_of(source, "")) or known)


def several(names: Sequence[str], operand: str, source: str) -> InputError:
    """The error for a file with several arrays, none of which is meant for the operand."""
    if len(names) < 2:
        return InputError(f"{source} holds no array")
    return InputError(
        f"{source} holds several arrays, none called {operand}: {_listed(names)}",
        hint=f"name one: {part_of(source, names[0])}",
    )


def _listed(names: Sequence[str]) -> str:
    return listed((visible(name, 40) for name in names), MOST_LISTED)
