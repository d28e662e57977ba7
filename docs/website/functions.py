"""The pages of the library: every function and class that attncalc offers, from their signatures and docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

from generate import page_of

import attncalc
from attncalc.api.calling import function
from attncalc.calculations import TABLE, families

LISTED = re.compile(r"^ {4}(.+?): (.+)$", re.MULTILINE)
LONGEST = 80


def pages() -> Iterator[tuple[str, str]]:
    """A page of what all calculations share, and one for each family."""
    calculations = {name.replace("-", "_") for name in TABLE}
    shared = sorted(set(dir(attncalc)) - calculations, key=lambda name: (name[0].isupper(), name))
    parts = ["# What every calculation shares", *(part for name in shared for part in _member(name))]
    yield "library/shared.md", "\n\n".join(parts) + "\n"
    for heading, rows in families().items():
        parts = [f"# {heading}, from Python", *(part for name, _ in rows for part in _calculation(name))]
        yield f"library/{page_of(heading)}", "\n\n".join(parts) + "\n"


def _calculation(name: str) -> Iterator[str]:
    """A calculation's signature, what it says of itself, and its operands and options as tables."""
    called = function(name)
    prose, _, listed = (called.__doc__ or "").partition("\nOperands:\n")
    operands, _, options = listed.partition("\nOptions:\n")
    yield f"## {called.__name__}"
    yield _signature(called.__name__, called)
    yield _plain(prose)
    for heading, rows in (("operand", LISTED.findall(operands)), ("option (default)", LISTED.findall(options))):
        if rows:
            yield "\n".join(
                [f"| {heading} | |", "|---|---|", *(f"| `{_cell(a)}` | {_cell(_plain(b))} |" for a, b in rows)]
            )


def _member(name: str) -> Iterator[str]:
    """A function, or a class with its public methods."""
    member = getattr(attncalc, name)
    yield f"## {name}"
    if not inspect.isclass(member):
        yield _signature(name, member)
    yield _plain(inspect.getdoc(member) or "")
    for key, part in vars(member).items() if inspect.isclass(member) else ():
        if not key.startswith("_") and (isinstance(part, property) or inspect.isfunction(part)):
            yield f"### {name}.{key}"
            if inspect.isfunction(part):
                yield _signature(key, part)
            yield _plain(inspect.getdoc(part) or "")


def _signature(name: str, called: Callable[..., Any]) -> str:
    """`name(a, b, *, p: Number = 2) -> Trace`, a parameter a line where that is long."""
    whole = inspect.signature(called)
    parameters = [each for each in whole.parameters.values() if each.name != "self"]
    line = _unquoted(f"{name}{whole.replace(parameters=parameters)}")
    if len(line) > LONGEST:
        by_name = next((i for i, each in enumerate(parameters) if each.kind is each.KEYWORD_ONLY), None)
        words = [_unquoted(str(each)) for each in parameters]
        if by_name is not None:
            words.insert(by_name, "*")
        line = "\n".join([f"{name}(", *(f"    {word}," for word in words), f"){line.rpartition(')')[2]}"])
    return f"```python\n{line}\n```"


def _unquoted(text: str) -> str:
    """Types that stand in quotes, since they are read later, without them."""
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)


def _plain(text: str) -> str:
    """Words as they are: no star of theirs is an emphasis, no angle a tag."""
    return re.sub(r"(?<!`)([*<])", r"\\\1", text)


def _cell(text: str) -> str:
    return text.replace("|", r"\|")
