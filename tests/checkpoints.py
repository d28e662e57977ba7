"""Tiny checkpoints, with what `transformers` computes of them (tests/data/make_models.py)."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
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


STORED = {"float64": "F64", "float32": "F32", "float16": "F16", "int64": "I64", "uint16": "BF16", "uint8": "F8_E4M3"}
"""What safetensors calls a type; numbers of 16 and 8 bits stand for those that NumPy has not."""
Tensors = dict[str, Any]


def tensors_of(model: str) -> Tensors:
    """The arrays of a checkpoint by their names."""
    data = (MODELS / model / "model.safetensors").read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    found = {}
    for name, entry in header.items():
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        found[name] = np.frombuffer(data[begin:end], np.float32).reshape(entry["shape"])
    return found


def bfloat16(value: Any) -> Any:
    """Floats as the 16 bits of a bfloat16, rounded to even."""
    bits = np.ascontiguousarray(value, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16).reshape(np.shape(value))


def safetensors(tensors: Tensors) -> bytes:
    """A file that holds the arrays."""
    body, told = b"", {}
    for name, value in tensors.items():
        raw = np.ascontiguousarray(value).tobytes()
        place = [len(body), len(body) + len(raw)]
        told[name] = {"dtype": STORED[value.dtype.name], "shape": list(value.shape), "data_offsets": place}
        body += raw
    text = json.dumps(told).encode()
    return struct.pack("<Q", len(text)) + text + body


def rewritten(
    folder: Path,
    model: str,
    change: Callable[[Tensors], Tensors] = dict,
    *,
    config: dict[str, Any] | None = None,
    of: str = "",
    shards: int = 1,
) -> Path:
    """A copy of a checkpoint with other tensors, with other keys, or with another model's configuration."""
    copy = folder / model
    copy.mkdir(exist_ok=True)
    keys = json.loads((MODELS / (of or model) / "config.json").read_text(encoding="utf-8")) | (config or {})
    (copy / "config.json").write_text(json.dumps({k: v for k, v in keys.items() if v is not LEFT_OUT}), "utf-8")
    tensors = change(tensors_of(model))
    if shards == 1:
        (copy / "model.safetensors").write_bytes(safetensors(tensors))
        return copy
    places = {name: f"model-{i % shards + 1:05}-of-{shards:05}.safetensors" for i, name in enumerate(tensors)}
    for file in set(places.values()):
        held = {name: value for name, value in tensors.items() if places[name] == file}
        (copy / file).write_bytes(safetensors(held))
    (copy / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}), "utf-8")
    return copy


LEFT_OUT = object()
"""The value of a key that is not to stand in a configuration."""
