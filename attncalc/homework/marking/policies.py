"""A marking policy is read: `policy.toml`, beside the problem, or the same as JSON."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attncalc.common.errors import InputError, OptionError, near, quoted
from attncalc.common.system import shown
from attncalc.inputs.given import spoken
from attncalc.inputs.resolve import MAX_TEXT, decode, read_file, read_json
from attncalc.record.verdicts import Policy

KEYS = ("marks", "cells", "follow", "points", "tolerance", "attempts", "hint_cost")
TOLERANCE = ("rtol", "atol")


def toml(path: str) -> dict[str, Any]:
    """What a TOML file holds, or a JSON file with the same keys."""
    said = shown(path)
    if Path(path).suffix.lower() == ".json":
        return _object(read_json(path), said)
    try:
        return tomllib.loads(decode(read_file(path, MAX_TEXT), said))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{said} is no TOML: {error}") from None


def read_policy(path: str) -> Policy:
    """The policy that a file holds."""
    return policy_of(toml(path), shown(path))


def _object(tree: Any, source: str) -> dict[str, Any]:
    if not isinstance(tree, dict):
        raise InputError(f"{source} is {spoken(tree)}, not an object")
    return tree


def policy_of(tree: Any, source: str) -> Policy:
    """The policy that a document holds; a report has its own in the same form, with `rtol` and `atol` at the top."""
    tree = _object(tree, source)
    known = {name: value for name, value in tree.items() if name != "tolerance"}
    tolerance = _table(tree, "tolerance", source)
    for key, keys in ((tree, (*KEYS, *TOLERANCE)), (tolerance, TOLERANCE)):
        for name in key:
            if name not in keys:
                hint = near(name, keys) or f"it has {', '.join(keys)}"
                raise InputError(f"{source}: a policy has no {quoted(name)}", hint=hint)
    try:
        return Policy(**known | tolerance | {"points": _table(tree, "points", source)})
    except OptionError as error:
        raise InputError(f"{source}: {error.message}", hint=error.hint) from None


def _table(tree: Mapping[str, Any], name: str, source: str) -> dict[str, Any]:
    found = tree.get(name, {})
    if not isinstance(found, dict):
        raise InputError(f"{source}: {name} is {spoken(found)}, not a table", hint=f"[{name}] stands above its lines")
    return found
