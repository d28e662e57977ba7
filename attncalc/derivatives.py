"""The derivatives that any calculation may have, as help and reference cards speak of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Derivative(NamedTuple):
    """What is said of a derivative, and the options that are its own."""

    says: str  # with a place for the calculation's name
    options: Mapping[str, tuple[str, str]]  # name → what it takes ("" for a switch), and what it is for


DERIVATIVES = {
    "grad": Derivative(
        "The backward pass of {}.",
        {
            "wrt": ("NAME,NAME,…", "only these gradients"),
            "gradcheck": ("", "compare each gradient with central differences"),
        },
    ),
    "jacobian": Derivative(
        "The Jacobian of {}: how every entry of the result changes with every entry of an operand.",
        {"wrt": ("NAME,NAME,…", "only with respect to these")},
    ),
}
"""What stands before a calculation's name → the derivative."""
