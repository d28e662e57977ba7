"""What PyTorch gave for small problems of training; tests/data/make_training.py says how."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TORCH: dict[str, Any] = json.loads((Path(__file__).parents[1] / "data/training.json").read_text(encoding="utf-8"))
