"""A checkpoint as Hugging Face's libraries write it: its configuration as our options, its tensors as our operands.

No code that comes with a checkpoint is ever run.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from attncalc.common.errors import InputError, amount, visible
from attncalc.common.system import NamedTuple, exists, is_folder, samples_folder, shown
from attncalc.evaluate.large.memory import must_fit
from attncalc.inputs.checkpoint_configs import CONFIG, STACKS, check_bias, count, counted, options_of, table_of
from attncalc.inputs.checkpoint_tensors import check_sizes, shape_of_part, stored_operands
from attncalc.inputs.json_files import plain
from attncalc.inputs.reading import Reading
from attncalc.inputs.resolve import SHARDED, Found, checkpoint_in, opened, read_json
from attncalc.inputs.stored_arrays import ArrayFile, narrow_type
from attncalc.record.trace import Given

MOST_CONFIG = 2**22  # bytes
WIDTHS = {"bfloat16": 2, "float8_e4m3fn": 1, "float8_e5m2": 1}
"""The bytes of a number in types that NumPy does not have."""
CACHED = ("wk", "wv", "wdkv", "wkr")
"""The weights that make what an attention caches of a token: keys and values, or a latent and a rotated part."""


class Checkpoint(NamedTuple):
    """A model as it is stored."""

    path: str
    architecture: str  # the name of its table
    stacks: dict[str, int]  # where layers lie, "layer" or "encoder/layer" and "decoder/layer" → how many there are
    options: dict[str, Any]  # of the calculation `model`
    found: dict[str, Found]  # operand → where it is stored
    contents: ArrayFile

    @property
    def layers(self) -> int:
        """How many layers there are, in all stacks together."""
        return sum(self.stacks.values())

    @property
    def parameters(self) -> int:
        """How many numbers have been learned."""
        return sum(self.parts.values())

    @property
    def parts(self) -> dict[str, int]:
        """The parameters of each part: the layers together, by what is in them."""
        found: dict[str, int] = {}
        for name, path in {file.name or "": path for path, file in self.found.items()}.items():
            part = re.sub(r"layer \d+/", "layers/", path).rpartition("/")[0]
            part = part.removesuffix("/norm").removesuffix("/dense")
            found[part] = found.get(part, 0) + math.prod(self.contents.described(name)[0])
        return found

    @property
    def active(self) -> int:
        """The parameters that a token meets: of the experts, only those that it is sent to."""
        found = self.parameters
        for name in {file.name or "" for path, file in self.found.items() if re.search(r"/experts/[wb]\d\Z", path)}:
            experts, *shape = self.contents.described(name)[0]
            found -= max(experts - self.options.get("experts_top", 2), 0) * math.prod(shape)
        return found

    @property
    def state_bytes(self) -> int:
        """The bytes of what is kept of a whole text: states, and the tokens that a convolution reaches back to."""
        found = 0
        for path, file in self.found.items():
            if path.endswith(("/ssm/a", "/ssm/kernel")):
                shape, stored = self.contents.described(file.name or "")
                channels, size = shape_of_part(shape, file)
                found += channels * (size - path.endswith("kernel")) * _width(stored)
        return found

    def cached(self, attention: str) -> int:
        """How many bytes all attentions of that name cache for a token: its keys and values, in the weights' type.

        Encoders cache none. For cross-attention, it is a token that the encoder has read.
        """
        if self.options.get("no_causal"):
            return 0  # the whole text is read at once
        found = 0
        for path, file in self.found.items():
            if path.endswith(tuple(f"/{attention}/{name}" for name in CACHED)) and not path.startswith("encoder/"):
                shape, stored = self.contents.described(file.name or "")
                found += shape_of_part(shape, file)[-1] * _width(stored)
        return found

    @property
    def widened(self) -> list[int]:
        """The number of entries of each operand that must be widened, as NumPy does not have its type."""
        told = [(self.contents.described(file.name or ""), file) for file in self.found.values()]
        return [math.prod(shape_of_part(shape, file)) for (shape, kind), file in told if narrow_type(kind) is None]

    def info(self) -> dict[str, Any]:
        """What can be said of it before anything is computed."""
        more = {"kv_cache_bytes_per_token_read": self.cached("cross-attention")} if len(self.stacks) > 1 else {}
        more |= {"state_bytes": self.state_bytes} if self.state_bytes else {}
        return {
            "architecture": self.architecture,
            "layers": self.layers,
            "options": self.options,
            "parameters": self.parameters,
            "parts": self.parts,
            "kv_cache_bytes_per_token": self.cached("attention"),
            **more,
            "flops_per_token": 2 * self.active,
            "training_flops_per_token": 6 * self.active,
        }

    @property
    def summary(self) -> str:
        """`llama, 2 layers, 1,234 parameters`."""
        layers = " + ".join(map(str, self.stacks.values()))
        said = f"{layers} layers" if len(self.stacks) > 1 else amount(self.layers, "layer")
        return f"{self.architecture}, {said}, {amount(self.parameters, 'parameter')}"

    def files(self) -> dict[str, dict[str, Any]]:
        """The size and the SHA-256 of each file that holds tensors or the configuration."""
        folder = Path(self.path)
        names = sorted(p.name for p in folder.iterdir() if p.name == CONFIG or p.suffix == ".safetensors")
        return {name: {"bytes": (folder / name).stat().st_size, "sha256": _digest(folder / name)} for name in names}


def _width(stored: str) -> int:
    return WIDTHS.get(stored) or np.dtype(stored).itemsize


def sums_of(path: str) -> Mapping[str, str]:
    """The modules of a checkpoint's layers that add the residual, each with the step that is this sum."""
    table: Mapping[str, Mapping[str, str]] = table_of(read_json(str(Path(path, CONFIG)), MOST_CONFIG), shown(path))[1]
    return table.get("sums", {})


def _digest(path: Path) -> str:
    found = sha256()
    with path.open("rb") as file:
        while chunk := file.read(2**22):
            found.update(chunk)
    return found.hexdigest()


def read_checkpoint(path: str, reading: Reading) -> Checkpoint:
    """The checkpoint in a folder; raises if its configuration or its tensors are not those of a known model."""
    said = shown(path)
    if not is_folder(path):
        if exists(path):
            raise InputError(f"{said} is a file", hint=f"give the folder with {CONFIG} and all files of the checkpoint")
        sample = str(samples_folder() / path)
        mend = f"a checkpoint is a folder with {CONFIG} and safetensors files"
        if path and is_folder(sample):
            mend = f"the sample is {sample}"
        raise InputError(f"there is no folder {said}", hint=mend)
    at = str(Path(path, CONFIG))
    if not exists(at):
        raise InputError(f"{said} has no {CONFIG}", hint="a checkpoint is a folder as save_pretrained writes it")
    if checkpoint_in(path) is None:
        pickles = [p.name for p in Path(path).iterdir() if p.suffix in (".bin", ".pt", ".pth")]
        hint = "copy all files of the checkpoint"
        if pickles:
            hint = f"{pickles[0]} is a pickle, which is never opened: save_pretrained(…, safe_serialization=True)"
        raise InputError(f"{said} has no model.safetensors, nor model{SHARDED}", hint=hint)
    config = read_json(at, MOST_CONFIG)
    if not isinstance(config, dict):
        raise InputError(f"{shown(at)} is not an object")
    name, table = table_of(config, shown(at))
    config = table.get("defaults", {}) | config
    contents = opened(path, reading)
    assert isinstance(contents, ArrayFile), "it ends in .safetensors, or lists files that do"
    options = options_of(table, config, shown(at))
    stacks = {STACKS[name]: count(config, key, shown(at)) for name, key in counted(table, config)}
    found = stored_operands(table, contents, stacks, options, config)
    check_sizes(found, options, config)
    for place in [path for path in found if path.endswith("/bias_table")]:
        rows = shape_of_part(contents.described(found[place].name or "")[0], found[place])[0]
        check_bias(rows, options, table, shown(at), causal=place.startswith("decoder/"))
    if options.get("no_causal") and not any(path.startswith("logits/") for path in found):
        options["no_head"] = True
    held = next(iter(found.values())).contents
    assert isinstance(held, ArrayFile), "all are of the checkpoint"
    return Checkpoint(path, name, stacks, options, found, held)


# A call that names a checkpoint


def unfolded(path: str, reading: Reading, options: Mapping[str, Any]) -> tuple[dict[str, Found], dict[str, Any], Given]:
    """Where the operands of a checkpoint are, its options overruled by those that are given, and its path."""
    held = read_checkpoint(path, reading)
    if sizes := held.widened:  # all are held as float32, and the largest is made by way of two arrays more
        most = 8 * max(sizes)
        must_fit(4 * sum(sizes) + most, f"{shown(path)} as float32", {"with pip install 'attncalc[models]' it": most})
    if options.get("rope") is False:  # without a rotation, how to rotate is not asked
        own = {name: value for name, value in held.options.items() if not name.startswith("rope")}
        held = held._replace(options=own)
    given = Given(np.asarray(path), source=shown(path), files=held.files).noted("model", held.summary)
    return held.found, held.options | dict(options), given


def unchanged(file: Found, reading: Reading) -> str:
    """The path of a document's checkpoint; raises where its files are no longer what they were."""
    source, stored = file.contents.source, plain(file.contents.members.get(file.name or ""), file.contents.source)
    if not isinstance(stored, Mapping) or not isinstance(stored.get("path"), str):
        raise InputError(f"{source}: checkpoint is not an object with a path")
    path = str(stored["path"])
    held = read_checkpoint(path, reading).files()
    for name, facts in dict(stored.get("files") or {}).items():
        if held.get(name) != facts:
            what = "is gone" if name not in held else "has changed since"
            raise InputError(f"{shown(path)}: {visible(name, 80)} {what}, and the document is of what it was")
    return path
