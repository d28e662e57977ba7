"""Operands of any declaration, for tests of what is read as them."""

from __future__ import annotations

from typing import Any

from attncalc.declare.operands import Kind, Operand, parse_shape


def an_operand(
    kind: Kind = "real", shape: str = "n d", name: str = "q", *, positional: bool = True, **more: Any
) -> Operand:
    """An operand; `|` stands between the shapes that it may have. One that comes by position is required."""
    shapes = tuple(parse_shape(part) for part in shape.split("|"))
    return Operand(name, name.upper(), shapes, positional, positional, kind, **more)
