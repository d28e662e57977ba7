"""Every calculation worked a second time, by loops over plain numbers: the witness to attncalc's own values.

Nothing of attncalc is used in the witnesses. Each takes the operands as nested lists and the options by name, and
returns the steps and outputs that it knows by their names. A new calculation needs a row in one of the tables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from witness import attention, costs, layers, positions, probability, training, vectors

WITNESSES: dict[str, Callable[..., dict[str, Any]]] = {
    **vectors.WITNESSES,
    **attention.WITNESSES,
    **costs.WITNESSES,
    **probability.WITNESSES,
    **positions.WITNESSES,
    **layers.WITNESSES,
    **training.WITNESSES,
}
