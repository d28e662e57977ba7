"""Operands of any declaration, for tests of what is read as them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from attncalc.declare.operands import Kind, Operand, parse_shape


def an_operand(
    kind: Kind = "real", shape: str = "n d", name: str = "q", *, positional: bool = True, **more: Any
) -> Operand:
    """An operand; `|` stands between the shapes that it may have. One that comes by position is required."""
    shapes = tuple(parse_shape(part) for part in shape.split("|"))
    return Operand(name, name.upper(), shapes, positional, positional, kind, **more)


def stored(path: Path, arrays: Mapping[str, Any]) -> None:
    """Arrays in a safetensors file, as float32."""
    header: dict[str, Any] = {}
    body = b""
    for name, value in arrays.items():
        array = np.asarray(value, "<f4")
        header[name] = {"dtype": "F32", "shape": array.shape, "data_offsets": [len(body), len(body) + array.nbytes]}
        body += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)
