"""What a document asks of `grad` or `jacobian`: their own options stand among those of the calculation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attncalc.errors import InputError
from attncalc.inputs.arrays import spoken
from attncalc.problem import Backward


def own_option(name: str, value: Any, place: str) -> tuple[str, ...] | bool:
    """The switch `gradcheck`, or the operands that `wrt` names, in a list or as on the command line."""
    if name == "gradcheck":
        if isinstance(value, bool):
            return value
        raise InputError(f"{place} is {spoken(value)}, not true or false")
    names = value.replace(",", " ").split() if type(value) is str else value
    if not isinstance(names, list):
        raise InputError(f"{place} is {spoken(value)}, not a list of operands' names")
    for i, each in enumerate(names):
        if type(each) is not str:  # nor a number, which is kept as its digits
            raise InputError(f"{place}[{i}] is {spoken(each)}, not the name of an operand")
    return tuple(names)


def asked(backward: Backward, options: Mapping[str, Any]) -> tuple[Backward, dict[str, Any]]:
    """A derivative with what a document's options ask of it where the call says nothing, and the options beside."""
    wrt, gradcheck = backward.wrt or options.get("wrt", ()), backward.gradcheck or options.get("gradcheck", False)
    beside = {name: value for name, value in options.items() if name not in ("wrt", "gradcheck")}
    return backward._replace(wrt=wrt, gradcheck=gradcheck and not backward.jacobian), beside
