"""Tiny checkpoints, with what `transformers` computes of them (tests/data/make_models.py)."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import attncalc as ac
from attncalc.inputs.checkpoints import read_checkpoint
from attncalc.inputs.reading import Reading

MODELS = Path(__file__).parent / "data" / "models"
NAMES = sorted(path.stem for path in MODELS.glob("*.npz"))
IDS = [3, 1, 4, 1, 5, 9]


def reference(name: str) -> dict[str, Any]:
    """What the original gave, and behind `given ` what it was given besides the ids."""
    with np.load(MODELS / f"{name}.npz") as held:
        return dict(held)


def kept_of(name: str) -> list[str]:
    """The names of what the original gave; the arrays are not read."""
    with np.load(MODELS / f"{name}.npz") as held:
        return list(held.files)


def computed(name: str, folder: Path | None = None, **options: Any) -> ac.Trace:
    """What we make of what the original was given, with other options or with another checkpoint of that name."""
    beside = {key.removeprefix("given "): value for key, value in reference(name).items() if key.startswith("given ")}
    read = beside.pop("image", IDS)
    return ac.load(folder or MODELS / name)(read, **beside | options)


class Pair(NamedTuple):
    """What we computed and what the original did."""

    kind: str  # "logits", "hidden", "weights", "loss", "gradients"
    place: str
    ours: Any
    theirs: Any

    @property
    def error(self) -> float:
        """The largest difference."""
        return float(np.abs(np.subtract(self.ours, self.theirs)).max())


def compared(name: str) -> Iterator[Pair]:
    """Everything that the original gave of the forward pass, beside ours."""
    t, expected = computed(name), reference(name)
    if "given image" in expected:  # its states are those of the layers; the norm is behind them
        hidden, expected["hidden"] = expected["hidden"][-1], expected["hidden"][:-1]
        yield Pair("hidden", "layer 1", t["layer 1/residual2"], hidden)
    for key in {"logits", "hidden", "pooled", "loss"} & expected.keys():
        yield Pair(key, key, t[key][: len(expected[key])] if key == "hidden" else t[key], expected[key])
    writes = "decoder/" if "encoder_hidden" in expected else ""
    places = {"attentions": f"{writes}layer {{i}}/attention", "encoder_attentions": "encoder/layer {i}/attention"}
    for key, place in (places | {"cross_attentions": "decoder/layer {i}/cross-attention"}).items():
        for i, weights in enumerate(expected.get(key, ())):
            yield Pair("weights", f"{key} {i}", t[f"{place.format(i=i)}/weights"], weights)
    if writes:
        yield Pair("hidden", "memory", t["memory"], expected["encoder_hidden"][-1])


def gradients(name: str) -> Iterator[Pair]:
    """The gradient by every tensor, beside ours; those of experts are put into one, as the tensors are."""
    held, expected = read_checkpoint(str(MODELS / name), Reading()), reference(name)
    found = computed(name).grad()
    for path, file in held.found.items():
        stored = file.name or ""
        each = [expected.get(f"grad {stored.replace('{e}', str(e))}") for e in range(9)]
        gradient: Any = np.stack([one for one in each if one is not None]) if "{e}" in stored else each[0]
        for part in file.at:
            gradient = part.cut(gradient, path)
        group, _, inner = path.rpartition("/")
        yield Pair("gradients", path, found[f"{group}/grad_{inner}"], gradient)


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
