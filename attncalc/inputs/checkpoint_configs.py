"""A checkpoint's configuration as our options, by the table of its architecture.

Each table is a file in the folder architectures/. What none of them says is refused by its name: nothing is guessed.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

from attncalc.calculations import load
from attncalc.calculations.attention_options import check_buckets
from attncalc.calculations.positions import NEEDS
from attncalc.common.errors import InputError, OptionError, both, either, near, quoted, visible
from attncalc.declare.calculation import read

FOLDER = Path(__file__).parent / "architectures"
CONFIG = "config.json"
EVERY = "every"
LOCAL, GLOBAL = "sliding_attention", "full_attention"
STACKS = {"layer": "layer", "encoder": "encoder/layer", "decoder": "decoder/layer"}
"""What a stack of layers is called in a table, and where its weights lie in a model."""


@cache
def tables() -> dict[str, dict[str, Any]]:
    """The architectures by their names."""
    found = {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.toml"))}
    del found[EVERY]
    return found


@cache
def of_every() -> dict[str, Any]:
    """What their configurations have in common."""
    return tomllib.loads((FOLDER / f"{EVERY}.toml").read_text(encoding="utf-8"))


def table_of(config: Mapping[str, Any], source: str) -> tuple[str, dict[str, Any]]:
    """The name of the architecture that a configuration is of, and its table."""
    if "auto_map" in config:
        fact = f"{source}: auto_map asks for code of the checkpoint's own, which is never run"
        raise InputError(fact, hint="a model of a known architecture needs none: leave the key out")
    if config.get("quantization_config"):
        held = config["quantization_config"]
        way = held.get("quant_method") if isinstance(held, Mapping) else None
        hint = "save the weights in bfloat16"
        if way == "mxfp4":
            hint += ": from_pretrained(…, quantization_config=Mxfp4Config(dequantize=True)).save_pretrained(…)"
        fact = f"{source}: quantization_config is not supported"
        raise InputError(fact + (f" (quant_method = {quoted(str(way))})" if way else ""), hint=hint)
    kind = config.get("model_type")
    if kind is None:
        raise InputError(f"{source} has no model_type", hint="save_pretrained writes which architecture it is")
    for name, table in tables().items():
        if kind in table["model_type"]:
            return name, table
    known = [kind for table in tables().values() for kind in table["model_type"]]
    raise InputError(
        f"{source}: model_type is {quoted(str(kind))}, of which no table is known",
        hint=near(str(kind), known) or f"known are {', '.join(known)}",
    )


# The options


def counted(table: Mapping[str, Any], config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The stacks of layers of an architecture, and the key that holds how many there are."""
    for name in STACKS:
        if name in table:
            own = table[name].get("layers", "")
            yield name, own if config.get(own) is not None else table["layers"]


def count(config: Mapping[str, Any], key: str, source: str) -> int:
    """The number of layers that a key holds."""
    value = config.get(key)
    if type(value) is not int or not 1 <= value <= 1000:
        raise InputError(f"{source}: {key} is {quoted(str(value))}, not a number of layers from 1 to 1000")
    return value


def whole(config: Mapping[str, Any], key: str, source: str, least: int = 1) -> int:
    """The whole number that a key holds."""
    value = config.get(key)
    if type(value) is not int or value < least:
        raise InputError(f"{source}: {key} is {quoted(str(value))}, not a whole number from {least} on")
    return value


def options_of(table: Mapping[str, Any], config: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Our options: those of the architecture, overruled by what the configuration says."""
    options: dict[str, Any] = dict(table["options"])
    flat = dict(_flat(config))
    known = [*of_every()["passed_over"], *table["passed_over"], *table["config"], table["layers"]]
    known += [own for name in STACKS if (own := table.get(name, {}).get("layers"))]
    for key, value in flat.items():
        if value is not None and value is not False and not any(fnmatch(key, pattern) for pattern in known):
            raise InputError(
                f"{source}: {key} = {visible(str(value), 60)} is not supported for {config['model_type']}",
                hint="nothing is guessed of what changes a model's numbers",
            )
    for key in dict.fromkeys(key for keys in of_every()["sizes"].values() for key in keys):
        if config.get(key) is not None:
            whole(config, key, source)
    for key, meaning in table["config"].items():
        if key in flat:
            if "places_of" in meaning and isinstance(flat[key], list):
                layers, told = count(config, table["layers"], source), len(flat[key])
                if told != layers:
                    raise InputError(f"{source}: {key} is a list of {told}, and {table['layers']} is {layers}")
            options |= _allowed(key, _option(key, flat[key], meaning, flat, source), source)
    of_heads = next((key for key, meaning in table["config"].items() if meaning == "heads"), None)
    if of_heads and "heads" not in options:
        raise InputError(f"{source} has no {of_heads}", hint="how many heads there are can't be told from the tensors")
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
    if value is None or not _holds(meaning.get("when", {}), config):
        return {}
    if not isinstance(value, int | float) and not {"words", "places_of"} & meaning.keys():
        raise InputError(f"{source}: {key} = {_spelled(value)} is not a number")
    option = meaning["option"]
    if option in ("heads", "kv_heads") and meaning.keys() == {"option"}:
        return {option: whole(config, key, source)}
    if "places_of" in meaning:
        others = {meaning["places_of"], meaning["others"]}
        if not isinstance(value, list) or not set(value) <= others:
            raise InputError(f"{source}: {key} is not a list of {either(sorted(others))}")
        return {option: tuple(i for i, kind in enumerate(value) if kind == meaning["places_of"])}
    if "global" in meaning:
        every, layers = whole(config, key, source), count(config, meaning["of"], source)
        other = 0 if meaning["global"] == "first" else every - 1
        return {option: tuple(i for i in range(layers) if i % every != other)}
    if "both_sides" in meaning:
        return {option: whole(config, key, source) // 2 + 1}
    if "words" in meaning:
        word = str(value).lower() if isinstance(value, bool) else str(value)
        if word not in meaning["words"] and not isinstance(value, bool):
            known = ", ".join(meaning["words"])
            raise InputError(f"{source}: {key} = {quoted(word)} is not supported", hint=f"known are {known}")
        return {option: meaning["words"][word]} if word in meaning["words"] else {}
    if "inverse_root" in meaning:
        if not 0 < value < math.inf:
            raise InputError(f"{source}: {key} must be greater than 0, not {_spelled(value)}")
        return {option: 1 / math.sqrt(value)}
    if "share_of_head" in meaning:
        return {"share_of_head": value}
    return {option: value}


def _allowed(key: str, options: dict[str, Any], source: str) -> dict[str, Any]:
    """What a key says, if the options may be that; else it is the key that is told, not the option."""
    known = load("model")
    for name, value in options.items():
        if (option := known.option(name)) is not None:
            try:
                read(option, value)
            except OptionError as error:
                said = f"{source}: {key} {error.message.removeprefix(f'{option.flag} ')}"
                raise InputError(said, hint=error.hint) from None
    return options


def check_bias(
    buckets: int, options: Mapping[str, Any], table: Mapping[str, Any], source: str, *, causal: bool
) -> None:
    """Refuse a distance that a learned bias of so many buckets cannot end at, told by its key."""
    option = load("model").option("max_distance")
    assert option is not None, "it is an option of every attention"
    try:
        check_buckets(buckets, options.get(option.name, option.default), causal=causal)
    except OptionError as error:
        key = next(key for key, meaning in table["config"].items() if meaning == option.name)
        raise InputError(f"{source}: {error.message.replace(option.flag, key)}", hint=error.hint) from None


def _spelled(value: Any) -> str:
    """A value as the file has it, words in quotes."""
    return quoted(visible(value, 60)) if isinstance(value, str) else visible(str(value), 60)


def _holds(when: str | Mapping[str, Any], config: Mapping[str, Any]) -> bool:
    """Whether a key is true, or all of some keys have the values that are asked for."""
    asked = {when: True} if isinstance(when, str) else when
    return all(config.get(key) == value for key, value in asked.items())


def _rope(config: Mapping[str, Any], options: dict[str, Any], head: int | None, source: str) -> dict[str, Any]:
    """The options of the turns, where the architecture has any; what a scaling asks for must be known."""
    share = options.pop("share_of_head", None)
    if not options.get("rope"):
        return {}
    for key in ("rope_parameters", "rope_scaling"):
        if not isinstance(config.get(key) or {}, Mapping):
            raise InputError(f"{source}: {key} = {visible(str(config[key]), 60)} is not an object")
    held = dict(config.get("rope_parameters") or {})
    if isinstance(held.get(GLOBAL), Mapping) and not isinstance(held.get(LOCAL, held), Mapping):
        raise InputError(f"{source}: {LOCAL} = {visible(str(held[LOCAL]), 60)} is not an object")
    found: dict[str, Any] = {}
    if isinstance(held.get(GLOBAL), Mapping):
        local = held.get(LOCAL) or {}
        if local.get("rope_type", "default") != "default":
            fact = f"{source}: rope_type = {quoted(str(local['rope_type']))} of {LOCAL} is not supported"
            raise InputError(fact, hint="layers with a window are turned without scaling")
        if "rope_theta" in local:
            found |= _allowed(f"rope_theta of {LOCAL}", {"local_rope_base": local["rope_theta"]}, source)
        held = dict(held[GLOBAL])
    if config.get("rope_local_base_freq") is not None:
        found |= _allowed("rope_local_base_freq", {"local_rope_base": config["rope_local_base_freq"]}, source)
    scaled = dict(config.get("rope_scaling") or {})
    for one in (scaled, held):
        if "type" in one:
            one |= {"rope_type": one.get("rope_type") or one["type"]}
    for key in scaled.keys() & held.keys():
        if scaled[key] != held[key]:
            fact = f"{source}: {key} of rope_scaling is {_spelled(scaled[key])}, and of rope_parameters"
            raise InputError(f"{fact} {_spelled(held[key])}", hint="leave one of them out")
    asked = {"rope_theta": config.get("rope_theta")} | scaled | held
    kind = asked.pop("rope_type", None) or asked.pop("type", None) or "default"
    asked.pop("type", None)
    names, kinds = of_every()["rope"], of_every()["rope_type"]
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
        found |= _allowed(key, {names[key]: tuple(value) if isinstance(value, list) else value}, source)
    return _complete(kind, found, source)


def _complete(kind: str, found: dict[str, Any], source: str) -> dict[str, Any]:
    """The options of the turns, where nothing is missing that their scaling needs."""
    needed = NEEDS[of_every()["rope_type"][kind]]
    names = of_every()["rope"].items()
    lacking = [key for key, name in names if name.removeprefix("rope_") in needed and name not in found]
    if lacking:
        raise InputError(f"{source}: rope_type = {quoted(kind)} needs {both(lacking)}")
    return found
