"""The reference card of a calculation, as records: everything its page is made from."""

from __future__ import annotations

from attncalc.common.system import NamedTuple
from attncalc.record.trace import Pitfall, Trace


class OperandLine(NamedTuple):
    """What the card says about an operand."""

    name: str
    symbol: str  # its name in formulas: "W_Q"
    latex: str
    shape: str  # "[n, d_k]"
    required: bool
    help: str


class OptionLine(NamedTuple):
    """What the card says about an option."""

    flag: str  # "--causal-align"
    takes: str  # "start|end"; "" for a switch
    default: str
    help: str
    range: str  # "at least 1"; "" for any number


class StepLine(NamedTuple):
    """What the card says about a step."""

    name: str
    group: str
    likewise: tuple[str, ...]  # groups whose steps of this name have the same formula
    symbol: str
    symbol_latex: str
    formula: str
    latex: str
    axes: tuple[str, ...]
    why: str
    flops: str = ""  # "2·n·m·d_k"; "" if they cannot be counted
    flops_here: int = 0  # with the sizes of the sample


class Card(NamedTuple):
    """The reference card of a calculation; its formulas are those of its sample's graph."""

    calculation: str
    summary: str
    about: tuple[str, ...]  # paragraphs: formula, shapes, conventions
    formula: str  # the result as one formula; "" if that would be too long to read
    latex: str
    operands: tuple[OperandLine, ...]
    steps: tuple[StepLine, ...]
    options: tuple[OptionLine, ...]
    laws: tuple[str, ...]
    turn: str  # what a turn of a loop is called, "iteration"; "" if there is no loop
    flops: str  # of all steps together, or of one turn
    flops_here: int
    uncounted: tuple[str, ...]  # steps whose operations are not counted, or not all of them
    mistakes: tuple[Pitfall, ...]
    gradient: tuple[StepLine, ...]
    no_gradient: str  # why there is none
    sample: Trace
    reference: str
