"""Tiny checkpoints, with what `transformers` computes of them (tests/data/make_models.py)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import attncalc as ac

MODELS = Path(__file__).parent / "data" / "models"
NAMES = sorted(path.stem for path in MODELS.glob("*.npz"))
IDS = [3, 1, 4, 1, 5, 9]


def reference(name: str) -> dict[str, Any]:
    """What the original gave, and behind `given ` what it was given besides the ids."""
    with np.load(MODELS / f"{name}.npz") as held:
        return dict(held)


def computed(name: str, folder: Path | None = None, **options: Any) -> ac.Trace:
    """What we make of what the original was given, with other options or with another checkpoint of that name."""
    beside = {key.removeprefix("given "): value for key, value in reference(name).items() if key.startswith("given ")}
    read = beside.pop("image", IDS)
    return ac.load(folder or MODELS / name)(read, **beside | options)
