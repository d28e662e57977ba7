"""docs/schema.json, read off the types of `attncalc/record/documents.py`; tests/test_schema.py holds pages to it."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from attncalc.calculations import DERIVATIVES
from attncalc.record import documents
from attncalc.render.document import VERSION

SCHEMA = Path(__file__).with_name("schema.json")
KINDS = {"document": "Document", "keys": "KeysDocument", "report": "MarkedDocument", "class": "ClassDocument"}
PLAIN = {bool: "boolean", int: "integer", float: "number", str: "string", NoneType: "null"}


class AnyJson:
    """Stands for the alias `Json`, which is any value."""


def schema() -> dict[str, Any]:
    """A problem, a saved result (a key too), the keys of a class, the report on a sheet, or that on a class."""
    found = {name: kind for name, kind in vars(documents).items() if is_typeddict(kind)}
    known = {name: _object(kind) for name, kind in found.items()}
    own = known["Document"]["properties"]
    own["attncalc"] = {"const": VERSION}
    own["calculation"]["pattern"] = f"^({'|'.join(f'{derivative} ' for derivative in DERIVATIVES)})?[a-z][a-z0-9-]*$"
    problem = {key: own[key] for key in ("attncalc", "calculation", "inputs", "labels", "options", "settings", "notes")}
    problem |= {key: known["VariantDocument"]["properties"][key] for key in ("ask", "shown")}
    about = f"What is to be computed: a document without what has come of it. Without a version it is of {VERSION}."
    known["Problem"] = {
        "description": about,
        "type": "object",
        "properties": problem,
        "required": ["calculation"],
    }
    kinds = {"problem": "Problem", **KINDS}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What attncalc reads and writes as JSON",
        "description": "Further keys may be added: who reads a document passes over those that it does not know.",
        "anyOf": [{"title": title, "$ref": f"#/$defs/{name}"} for title, name in kinds.items()],
        "$defs": known,
    }


def text() -> str:
    """The file as it should be."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


def _object(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind, vars(documents), {"Json": AnyJson}, include_extras=True)
    return {
        "description": inspect.cleandoc(kind.__doc__ or ""),
        "type": "object",
        "properties": {name: _type(hint) for name, hint in hints.items()},
        "required": [name for name, hint in hints.items() if get_origin(hint) is not NotRequired],
    }


def _type(hint: Any) -> dict[str, Any]:
    """The schema of a type as `documents.py` writes them."""
    origin, inside = get_origin(hint), get_args(hint)
    if hint is AnyJson:
        return {}
    if is_typeddict(hint):
        return {"$ref": f"#/$defs/{hint.__name__}"}
    if origin is NotRequired:
        return _type(inside[0])
    if origin is list:
        return {"type": "array", "items": _type(inside[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": _type(inside[1])}
    if origin in (Union, UnionType):
        return {"anyOf": [_type(each) for each in inside]}
    return {"type": PLAIN[hint]}
