"""Every calculation worked a second time, by loops over plain numbers: the witness to attncalc's own values.

Nothing of attncalc is used in the witnesses. Each takes the operands as nested lists and the options by name, and
returns the steps and outputs that it knows by their names. A new calculation needs a row in one of the tables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import witness_attention
import witness_costs
import witness_layers
import witness_positions
import witness_probability
import witness_training
import witness_vectors

WITNESSES: dict[str, Callable[..., dict[str, Any]]] = {
    **witness_vectors.WITNESSES,
    **witness_attention.WITNESSES,
    **witness_costs.WITNESSES,
    **witness_probability.WITNESSES,
    **witness_positions.WITNESSES,
    **witness_layers.WITNESSES,
    **witness_training.WITNESSES,
}
