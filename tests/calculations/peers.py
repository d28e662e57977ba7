"""What PyTorch and Hugging Face transformers gave for small inputs; tests/data/make_peers.py says how."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PEERS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "data/peers.json").read_text(encoding="utf-8"))
