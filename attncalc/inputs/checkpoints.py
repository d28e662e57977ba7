"""A checkpoint as Hugging Face's libraries write it: its configuration as our options, its tensors as our operands.

What its keys and tensors mean stands in a table for each architecture, in the folder architectures/. What no table
says is refused by its name: nothing is guessed, and no code that comes with a checkpoint is ever run.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from fnmatch import fnmatch
from functools import cache, partial
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from attncalc.common.errors import InputError, amount, both, either, listed, near, quoted, visible
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple, exists, is_folder, samples_folder, shown
from attncalc.inputs.indexing import Part, split
from attncalc.inputs.json_files import parse_json, plain
from attncalc.inputs.reading import Contents, Reading
from attncalc.inputs.resolve import SHARDED, Found, checkpoint_in, decode, opened, read_file
from attncalc.inputs.stored_arrays import ArrayFile
from attncalc.inputs.weights import Heads
from attncalc.record.trace import Given

FOLDER = Path(__file__).parent / "architectures"
CONFIG = "config.json"
EVERY = "every"
MOST_CONFIG = 2**22  # bytes
MOST_EXPERTS = 1024
WIDTHS = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "float8_e4m3fn": 1, "float8_e5m2": 1}
"""Bytes of a number, by the type in which it is stored."""
LOCAL, GLOBAL = "sliding_attention", "full_attention"
STACKS = {"layer": "layer", "encoder": "encoder/layer", "decoder": "decoder/layer"}
"""What a stack of layers is called in a table, and where its weights lie in a model."""


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
        """The parameters that a token meets: of its experts those that it is sent to."""
        found = self.parameters
        for path, file in self.found.items():
            if re.search(r"/experts/w\d\Z", path):
                experts, *shape = self.contents.described(file.name or "")[0]
                found -= max(experts - self.options.get("experts_top", 2), 0) * math.prod(shape)
        return found

    @property
    def cache_bytes(self) -> int:
        """The bytes of the keys and values that are kept for a token, in the type in which weights are stored."""
        return self._cached("attention")

    @property
    def memory_bytes(self) -> int:
        """The same for a token that an encoder has read, and a decoder attends to; 0 where there is none."""
        return self._cached("cross-attention")

    def _cached(self, attention: str) -> int:
        """The bytes of a token's keys and values for all attentions of that name in layers that write."""
        if self.options.get("no_causal"):
            return 0  # the whole text is read at once
        found = 0
        layers = [f"{stack} {i}" for stack, count in self.stacks.items() for i in range(count)]
        for layer in layers:
            for letter in "kv":
                file = self.found.get(f"{layer}/{attention}/w{letter}")
                if file is None or layer.startswith("encoder/"):
                    continue
                shape, stored = self.contents.described(file.name or "")
                look = np.lib.stride_tricks.as_strided(np.zeros(1), shape, (0,) * len(shape))
                for part in file.at:
                    look = part.cut(look, file.name or "")
                found += look.shape[-1] * WIDTHS[stored]
        return found

    def info(self) -> dict[str, Any]:
        """What there is to know of it before anything is computed."""
        read = {"kv_cache_bytes_per_token_read": self.memory_bytes} if len(self.stacks) > 1 else {}
        return {
            "architecture": self.architecture,
            "layers": self.layers,
            "options": self.options,
            "parameters": self.parameters,
            "parts": self.parts,
            "kv_cache_bytes_per_token": self.cache_bytes,
            **read,
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


def _digest(path: Path) -> str:
    found = sha256()
    with path.open("rb") as file:
        while chunk := file.read(2**22):
            found.update(chunk)
    return found.hexdigest()


def read_checkpoint(path: str, reading: Reading) -> Checkpoint:
    """The checkpoint in a folder; raises where its configuration or its tensors are not those of a known model."""
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
        hint = f"{pickles[0]} is a pickle, which is never opened: save_pretrained(…, safe_serialization=True)"
        raise InputError(
            f"{said} has no model.safetensors, nor model{SHARDED}",
            hint=hint if pickles else "copy all files of the checkpoint",
        )
    config = plain(parse_json(decode(read_file(at, MOST_CONFIG), shown(at)), shown(at)), shown(at))
    if not isinstance(config, dict):
        raise InputError(f"{shown(at)} is not an object")
    name, table = _table_of(config, shown(at))
    config = table.get("defaults", {}) | config
    contents = opened(path, reading)
    assert isinstance(contents, ArrayFile), "it ends in .safetensors, or lists files that do"
    options = _options(table, config, shown(at))
    stacks = {STACKS[name]: _count(config, key, shown(at)) for name, key in _counted(table, config)}
    found = _tensors(table, contents, stacks, options, config)
    if options.get("no_causal") and not any(path.startswith("logits/") for path in found):
        options["no_head"] = True
    held = next(iter(found.values())).contents
    assert isinstance(held, ArrayFile), "all are of the checkpoint"
    return Checkpoint(path, name, stacks, options, found, held)


@cache
def _tables() -> dict[str, dict[str, Any]]:
    """The architectures by their names."""
    found = {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.toml"))}
    del found[EVERY]
    return found


@cache
def _of_every() -> dict[str, Any]:
    """What their configurations have in common."""
    return tomllib.loads((FOLDER / f"{EVERY}.toml").read_text(encoding="utf-8"))


def _table_of(config: Mapping[str, Any], source: str) -> tuple[str, dict[str, Any]]:
    if "auto_map" in config:
        fact = f"{source}: auto_map asks for code of the checkpoint's own, which is never run"
        raise InputError(fact, hint="a model of a known architecture needs none: leave the key out")
    if config.get("quantization_config"):
        raise InputError(f"{source}: quantization_config is not supported", hint="save the weights in bfloat16")
    kind = config.get("model_type")
    for name, table in _tables().items():
        if kind in table["model_type"]:
            return name, table
    known = [kind for table in _tables().values() for kind in table["model_type"]]
    raise InputError(
        f"{source}: model_type is {quoted(str(kind))}, of which no table is known",
        hint=near(str(kind), known) or f"known are {', '.join(known)}",
    )


# The configuration


def _counted(table: Mapping[str, Any], config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The stacks of layers of an architecture, and the key that holds how many there are."""
    for name in STACKS:
        if name in table:
            own = table[name].get("layers", "")
            yield name, own if config.get(own) is not None else table["layers"]


def _count(config: Mapping[str, Any], key: str, source: str) -> int:
    value = config.get(key)
    if type(value) is not int or not 1 <= value <= 1000:
        raise InputError(f"{source}: {key} is {quoted(str(value))}, not a number of layers from 1 to 1000")
    return value


def _options(table: Mapping[str, Any], config: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Our options: those of the architecture, overruled by what the configuration says."""
    options: dict[str, Any] = dict(table["options"])
    flat = dict(_flat(config))
    known = [*_of_every()["passed_over"], *table["passed_over"], *table["config"], table["layers"]]
    known += [own for name in STACKS if (own := table.get(name, {}).get("layers"))]
    for key, value in flat.items():
        if value is not None and value is not False and not any(fnmatch(key, pattern) for pattern in known):
            raise InputError(
                f"{source}: {key} = {visible(str(value), 60)} is not supported for {config['model_type']}",
                hint="nothing is guessed of what changes a model's numbers",
            )
    for key, meaning in table["config"].items():
        if key in flat:
            options |= _option(key, flat[key], meaning, flat, source)
    heads, width = options.get("heads"), config.get("hidden_size")
    head = config.get("head_dim") or (width // heads if heads and type(width) is int else None)
    return options | _rope(config, options, head, source)


def _flat(config: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The keys, those of inner objects behind a point; turns and words are read by rules of their own."""
    for key, value in config.items():
        if isinstance(value, Mapping) and not key.startswith(("rope_", "id2label", "label2id", "task_specific")):
            yield from ((f"{key}.{inner}", held) for inner, held in value.items())
        else:
            yield key, value


def _option(key: str, value: Any, meaning: Any, config: Mapping[str, Any], source: str) -> dict[str, Any]:
    """What a key says of our options; one without a value says nothing."""
    if isinstance(meaning, str):
        meaning = {"option": meaning}
    if "must" in meaning:
        if value is not None and value not in meaning["must"]:
            wanted = either(str(one).lower() for one in meaning["must"])
            raise InputError(f"{source}: {key} = {visible(str(value), 60)} is not supported: it must be {wanted}")
        return {}
    if "same_as" in meaning:
        other = meaning["same_as"]
        if value is not None and value != config.get(other):
            raise InputError(f"{source}: {key} = {value} is not supported: it must be {other}, {config.get(other)}")
        return {}
    if value is None or ("when" in meaning and config.get(meaning["when"]) is not True):
        return {}
    option = meaning["option"]
    if "places_of" in meaning:
        others = {meaning["places_of"], meaning["others"]}
        if not isinstance(value, list) or not set(value) <= others:
            raise InputError(f"{source}: {key} is not a list of {either(sorted(others))}")
        return {option: tuple(i for i, kind in enumerate(value) if kind == meaning["places_of"])}
    if "words" in meaning:
        word = str(value).lower() if isinstance(value, bool) else str(value)
        if word not in meaning["words"] and not isinstance(value, bool):
            known = ", ".join(meaning["words"])
            raise InputError(f"{source}: {key} = {quoted(word)} is not supported", hint=f"known are {known}")
        return {option: meaning["words"][word]} if word in meaning["words"] else {}
    if "inverse_root" in meaning:
        return {option: 1 / math.sqrt(value)}
    if "share_of_head" in meaning:
        return {"share_of_head": value}
    return {option: value}


def _rope(config: Mapping[str, Any], options: dict[str, Any], head: int | None, source: str) -> dict[str, Any]:
    """The options of the turns, where the architecture has any; what a scaling asks for must be known."""
    share = options.pop("share_of_head", None)
    if not options.get("rope"):
        return {}
    held = config.get("rope_parameters") or {}
    found: dict[str, Any] = {}
    if GLOBAL in held:
        found |= {"local_rope_base": held[LOCAL]["rope_theta"]} if LOCAL in held else {}
        held = held[GLOBAL]
    if config.get("rope_local_base_freq") is not None:
        found["local_rope_base"] = config["rope_local_base_freq"]
    asked = {"rope_theta": config.get("rope_theta")} | dict(config.get("rope_scaling") or {}) | dict(held)
    kind = asked.pop("rope_type", None) or asked.pop("type", None) or "default"
    asked.pop("type", None)
    names, kinds = _of_every()["rope"], _of_every()["rope_type"]
    if kind not in kinds:
        known = f"known are {', '.join(kinds)}"
        raise InputError(f"{source}: rope_type = {quoted(str(kind))} is not supported", hint=known)
    if kind != "default":
        found["rope_scaling"] = kinds[kind]
    if "truncate" in asked and not asked.pop("truncate"):
        found["rope_no_truncate"] = True
    share = asked.pop("partial_rotary_factor", None) or config.get("partial_rotary_factor") or share
    if share not in (None, 1, 1.0):
        if head is None:
            raise InputError(f"{source}: a share of {share} of each head is turned, and nothing says how wide it is")
        found["rope_dims"] = int(head * share)
    longest = config.get("max_position_embeddings")
    if kind in ("dynamic", "yarn", "longrope", "su") and "original_max_position_embeddings" not in asked:
        asked["original_max_position_embeddings"] = config.get("original_max_position_embeddings") or longest
    for key, value in asked.items():
        if value is None:
            continue
        if key not in names:
            raise InputError(f"{source}: {key} = {visible(str(value), 60)} of the rotation is not supported")
        found[names[key]] = tuple(value) if isinstance(value, list) else value
    return found


# The tensors

_MATRIX = re.compile(r"/(?:w[qkvo123]|weights|router)\Z")


AND, GROUPED = " + ", "grouped "
"""Between the operands that lie one behind the other in a tensor; in front of those that lie so for each group."""


def _told(paths: str) -> tuple[str, list[str]]:
    """How a tensor holds operands, and their names."""
    way = GROUPED if paths.startswith(GROUPED) else ""
    return way, paths.removeprefix(way).split(AND)


def _tensors(
    table: Mapping[str, Any],
    contents: ArrayFile,
    stacks: Mapping[str, int],
    options: Mapping[str, Any],
    config: Mapping[str, Any],
) -> dict[str, Found]:
    """Where each of our operands is stored; a tensor that no operand is for is named, and one that is missing."""
    own = dict(table["tensors"])
    needed = [path for path in own.values() if path in ("embedding/table", "embedding/kernel")]
    for section, stack in STACKS.items():
        inner = {key: value for key, value in table.get(section, {}).items() if key not in ("prefix", "layers")}
        for i in range(stacks.get(stack, 0)):
            prefix = table[section]["prefix"].replace("{i}", str(i))
            needed += [f"{stack} {i}/{path}" for path in _needed(inner, options)]
            for name, paths in inner.items():
                way, inside = _told(paths)
                own[prefix + name] = way + AND.join(f"{stack} {i}/{path}" for path in inside)
    contents = _stacked(contents, [table["prefix"] + name for name in own] + list(own))
    found: dict[str, Found] = {}
    left = dict.fromkeys(contents.names)
    tied = None if TIED in table["config"] else config.get(TIED)  # where it says something else, a head that is stored
    for written, paths in own.items():
        name, cuts = split(_counted_from(written, config), ())
        held = next((full for full in (table["prefix"] + name, name) if full in left), None)
        if held is None:
            continue
        del left[held]
        if not (tied and paths == "logits/weights"):
            found |= dict(_parts(contents, held, paths, cuts, table["stored"], options))
    ignored = [pattern.replace("{i}", "*") for pattern in table["ignored"]]
    surplus = [n for n in left if not any(fnmatch(n.removeprefix(table["prefix"]), pattern) for pattern in ignored)]
    if surplus:
        said = listed([quoted(name) for name in surplus], 6)
        verb = "is" if len(surplus) == 1 else "are"
        fact = f"{contents.source}: {said} {verb} in no place of {config['model_type']}"
        raise InputError(fact, hint="is config.json that of this checkpoint?")
    needed += ["logits/weights"] if tied is False and "logits/weights" in own.values() else []
    absent = [name for name in needed if name not in found]
    if absent:
        names = [next(n for n, paths in own.items() if path in _told(paths)[1]) for path in absent]
        front = table["prefix"] if any(name.startswith(table["prefix"]) for name in contents.names) else ""
        said = listed([quoted(front * (name != "lm_head.weight") + name) for name in dict.fromkeys(names)], 6)
        are = "is" if len(names) == 1 else "are"
        hint = f"{CONFIG} asks for {amount(sum(stacks.values()), 'layer')}"
        raise InputError(f"{contents.source}: {said} {are} missing", hint=hint)
    return found


TIED = "tie_word_embeddings"
EACH = "{e}"
"""Stands in a tensor's name for the number of an expert; all of them together are one operand."""


def _stacked(contents: ArrayFile, names: Iterable[str]) -> ArrayFile:
    """The arrays of a file with those of experts that are called alike put into one, an axis for the experts in front.

    Nothing is read until that one is asked for.
    """
    joined = copy(contents)
    joined.is_checkpoint = True
    joined.loaders, joined.types = dict(contents.loaders), dict(contents.types)
    for name in names:
        each = [name.replace(EACH, str(e)) for e in range(MOST_EXPERTS)] if EACH in name else []
        held = list(takewhile(joined.loaders.__contains__, each))
        if held:
            loaders = [joined.loaders.pop(one) for one in held]
            joined.loaders[name] = partial(_all_of, loaders)
            if held[0] in joined.types:
                joined.types[name] = joined.types[held[0]]
    return joined


def _all_of(loaders: Sequence[Callable[..., Array]], at: Sequence[Any] = ()) -> Array:
    arrays = [load(at) for load in loaders]
    for part in at:
        if hasattr(part, "seen"):  # who looks at the shape alone is to see that of all of them
            part.seen.insert(0, np.broadcast_to(part.seen[0], (len(loaders), *part.seen[0].shape)))
    return np.stack(arrays)


def _counted_from(written: str, config: Mapping[str, Any]) -> str:
    """`a[key + 1:]` → `a[2:]`: rows of a tensor that begin behind what a key of the configuration says."""
    found = re.search(r"\[(\w+) \+ (\d+)", written)
    if found is None:
        return written
    value = config.get(found[1])
    if type(value) is not int:
        raise InputError(f"{CONFIG}: {found[1]} is {visible(str(value), 60)}, and rows of a tensor are counted from it")
    return written.replace(found[0], f"[{value + int(found[2])}")


def _needed(inner: Mapping[str, str], options: Mapping[str, Any]) -> list[str]:
    """What a layer cannot do without: matrices and gains of the norms, of which a parallel layer may share one.

    What only a gated network has is not asked of another.
    """
    paths = [path for words in inner.values() for path in _told(words)[1]]
    gains = [] if options.get("parallel") else [p for p in paths if p.endswith("gamma")]
    gated = "glu" in options.get("activation", "")
    return [*(p for p in paths if _MATRIX.search(p) and (gated or p != "feed-forward/w3")), *gains]


def _parts(
    contents: Contents, name: str, paths: str, cuts: Sequence[Part], stored: str, options: Mapping[str, Any]
) -> Iterator[tuple[str, Found]]:
    """The operands that a tensor holds, with the parts of it that they are, turned as tokens in rows need them."""
    way, names = _told(paths)
    matrix = _MATRIX.search(names[0]) is not None
    turned = (Part(".T"),) if matrix and stored == "[out, in]" else ()
    axis = 1 if matrix and stored == "[in, out]" else 0
    turned = (*cuts, *turned)
    if len(names) == 1:
        yield names[0], Found(contents, name, turned, told=True)
        return
    heads = options["heads"]
    groups = options.get("kv_heads") or heads
    if way:
        whiches = (slice(-2), slice(-2, -1), slice(-1, None))
        for path, which in zip(names, whiches, strict=True):
            cut = Heads(f"[{path[-1]} of {amount(heads, 'head')}]", axis, groups, heads // groups + 2, which)
            yield path, Found(contents, name, (cut, *turned), told=True)
        return
    shares = (heads, groups, groups) if len(names) == 3 else (1,) * len(names)
    assert isinstance(contents, ArrayFile)
    size = contents.described(name)[0][axis]
    if size % sum(shares):
        fact = f"{contents.source}: {quoted(name)} has {size} places in axis {axis}"
        raise InputError(f"{fact}, which {both(map(str, shares))} parts do not share")
    begin = 0
    for path, share in zip(names, shares, strict=True):
        end = begin + size // sum(shares) * share
        place = Part(f"[{':, ' * axis}{begin}:{end}]", (*[slice(None)] * axis, slice(begin, end)))
        yield path, Found(contents, name, (place, *turned), told=True)
        begin = end


# A call that names a checkpoint


def unfolded(path: str, reading: Reading, options: Mapping[str, Any]) -> tuple[dict[str, Found], dict[str, Any], Given]:
    """Where the operands of a checkpoint are, its options overruled by those that are given, and its path."""
    held = read_checkpoint(path, reading)
    if options.get("rope") is False:  # who turns nothing is not asked how
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
