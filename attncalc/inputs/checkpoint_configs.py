"""A checkpoint's configuration as our options, by the table of its architecture.

Each table is a file in the folder architectures/. A key that the table does not know is refused: nothing is guessed.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

from attncalc.calculations import load
from attncalc.calculations.attention_options import check_buckets
from attncalc.calculations.positions import NEEDS
from attncalc.common.errors import InputError, OptionError, both, either, near, quoted, visible
from attncalc.common.system import NamedTuple
from attncalc.declare.calculation import read

FOLDER = Path(__file__).parent / "architectures"
CONFIG = "config.json"
EVERY = "every"
LOCAL, GLOBAL = "sliding_attention", "full_attention"
SHARE = "partial_rotary_factor"
"""The key for the share of each head that is rotated; a table may give another name for it."""
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
    """What the configurations of all architectures have in common."""
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
        if value is None or value is False or key in known:
            continue
        if not any(fnmatch(key, pattern) for pattern in known):
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
            said = {"option": meaning} if isinstance(meaning, str) else meaning
            options |= _allowed(key, _option(_Key(key, flat[key], said, flat, source)), source)
    of_heads = next((key for key, meaning in table["config"].items() if meaning == "heads"), None)
    if of_heads and "heads" not in options:
        raise InputError(f"{source} has no {of_heads}", hint="how many heads there are can't be told from the tensors")
    heads, width = options.get("heads"), config.get("hidden_size")
    head = config.get("head_dim") or (width // heads if heads and type(width) is int else None)
    return options | _rope(table, config, options, head, source)


def _flat(config: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The keys with their values; keys of inner objects as `key.inner`, except those on rotations and labels."""
    for key, value in config.items():
        if isinstance(value, Mapping) and not key.startswith(("rope_", "id2label", "label2id", "task_specific")):
            yield from ((f"{key}.{inner}", held) for inner, held in value.items())
        else:
            yield key, value


class _Key(NamedTuple):
    """A key of a configuration: what it holds, and what the table says of it."""

    name: str
    value: Any
    meaning: Mapping[str, Any]
    config: Mapping[str, Any]
    source: str

    def refused(self, fact: str, hint: str = "") -> InputError:
        return InputError(f"{self.source}: {self.name}{fact}", hint=hint)


def _option(key: _Key) -> dict[str, Any]:
    """The options that a key sets; one without a value usually sets none."""
    meaning = key.meaning
    if "must" in meaning or "same_as" in meaning:
        _check(key)
        return {}
    if key.value is None and "null" in meaning:
        return {meaning["option"]: meaning["null"]}
    if key.value is None or not _holds(meaning.get("when", {}), key.config):
        return {}
    if not isinstance(key.value, int | float) and not {"words", "places_of"} & meaning.keys():
        raise key.refused(f" = {_spelled(key.value)} is not a number")
    reader = next((reader for word, reader in READERS.items() if word in meaning), None)
    if reader is not None:
        return reader(key, meaning["option"])
    counts_heads = meaning.keys() == {"option"} and meaning["option"] in ("heads", "kv_heads")
    return {meaning["option"]: whole(key.config, key.name, key.source) if counts_heads else key.value}


def _check(key: _Key) -> None:
    """Refuse a value that is not allowed, or that is not the same as another key's."""
    other = key.meaning.get("same_as", "")
    wanted = [key.config.get(other)] if other else key.meaning["must"]
    if key.value is not None and key.value not in wanted:
        due = f"{other}, {wanted[0]}" if other else either([str(one).lower() for one in wanted] or ["null"])
        raise key.refused(f" = {visible(str(key.value), 60)} is not supported: it must be {due}")


def _of_places(key: _Key, option: str) -> dict[str, Any]:
    """The layers of one kind, from a list that names each layer's."""
    kinds = {key.meaning["places_of"], key.meaning["others"]}
    if not isinstance(key.value, list) or not all(isinstance(kind, str) and kind in kinds for kind in key.value):
        raise key.refused(f" is not a list of {either(sorted(kinds))}")
    return {option: tuple(i for i, kind in enumerate(key.value) if kind == key.meaning["places_of"])}


def _with_a_window(key: _Key, option: str) -> dict[str, Any]:
    """All layers except the first, or the last, in each group of as many as the key says."""
    every = whole(key.config, key.name, key.source)
    layers = count(key.config, key.meaning["of"], key.source)
    other = 0 if key.meaning["global"] == "first" else every - 1
    return {option: tuple(i for i in range(layers) if i % every != other)}


def _from_one_on(key: _Key, option: str) -> dict[str, Any]:
    """All layers from a given one on, counted from 0."""
    layers = count(key.config, key.meaning["of"], key.source)
    return {option: tuple(range(whole(key.config, key.name, key.source, 0), layers))}


def _of_words(key: _Key, option: str) -> dict[str, Any]:
    """The option that a word sets; either of true and false may set none."""
    words, is_switch = key.meaning["words"], isinstance(key.value, bool)
    word = str(key.value).lower() if is_switch else str(key.value)
    if word not in words and not is_switch:
        raise key.refused(f" = {quoted(word)} is not supported", hint=f"known are {', '.join(words)}")
    return {option: words[word]} if word in words else {}


def _of_a_root(key: _Key, option: str) -> dict[str, Any]:
    if not 0 < key.value < math.inf:
        raise key.refused(f" must be greater than 0, not {_spelled(key.value)}")
    return {option: 1 / math.sqrt(key.value)}


READERS: dict[str, Callable[[_Key, str], dict[str, Any]]] = {
    "places_of": _of_places,
    "global": _with_a_window,
    "from_one_on": _from_one_on,
    "both_sides": lambda key, option: {option: whole(key.config, key.name, key.source) // 2 + 1},
    "words": _of_words,
    "inverse_root": _of_a_root,
}
"""How a value is read, by the word that the table has for it; without such a word, it is the option's value."""


def _allowed(key: str, options: dict[str, Any], source: str) -> dict[str, Any]:
    """The options that a key sets, if these values are allowed; else an error that names the key, not the option."""
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
    """Refuse a largest distance that does not fit a learned bias with this many buckets, by the name of its key."""
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


def _rope(
    table: Mapping[str, Any], config: Mapping[str, Any], options: dict[str, Any], head: int | None, source: str
) -> dict[str, Any]:
    """The options of the rotation, if the architecture has one; a scaling that is not known is refused."""
    options.pop(SHARE, None)
    if not options.get("rope"):
        return {}
    held, found = _of_kinds(config, source)
    said = _together(config, held, source) or table.get("rope_parameters", {})
    asked = {"rope_theta": config.get("rope_theta")} | said
    kind = asked.pop("rope_type", None) or "default"
    names, kinds = of_every()["rope"], of_every()["rope_type"]
    if not isinstance(kind, str) or kind not in kinds:
        fact = f"{source}: rope_type = {_spelled(kind)} is not supported"
        raise InputError(fact, hint=f"known are {', '.join(kinds)}")
    if kind != "default":
        found["rope_scaling"] = kinds[kind]
    if "truncate" in asked and not asked.pop("truncate"):
        found["rope_no_truncate"] = True
    spellings = [key for key, meaning in table["config"].items() if meaning == SHARE]
    shares = [(key, share) for held in (asked, config) for key in (SHARE, *spellings) if (share := held.get(key))]
    if spellings or asked.get(SHARE) == 1:  # other architectures rotate all, whatever this says
        asked.pop(SHARE, None)
    if spellings and shares and shares[0][1] != 1:
        found["rope_dims"] = _turned(*shares[0], head, source)
    asked |= _lengths(kind, asked, config, source)
    for key, value in asked.items():
        if value is not None and key not in names:
            raise InputError(f"{source}: {key} = {visible(str(value), 60)} of the rotation is not supported")
        if value is not None:
            found |= _allowed(key, {names[key]: tuple(value) if isinstance(value, list) else value}, source)
    return _complete(kind, found, source)


def _lengths(kind: str, asked: Mapping[str, Any], config: Mapping[str, Any], source: str) -> dict[str, Any]:
    """The length that a model was trained for, and by how much it is extended, by the rules of `transformers`."""
    trained, longest = "original_max_position_embeddings", "max_position_embeddings"
    if kind == "dynamic":
        return {trained: config.get(longest)}
    if kind not in ("yarn", "longrope", "su"):
        return {}
    found = {trained: config.get(trained) or asked.get(trained) or config.get(longest)}
    if kind != "yarn" and asked.get("factor") is None and asked.get("attention_factor") is None:
        found["factor"] = whole(config, longest, source) / whole(found, trained, source)
    return found


def _turned(key: str, share: Any, head: int | None, source: str) -> int:
    """How many entries of a head are rotated, by the share of them that a key holds."""
    if not isinstance(share, int | float) or not 0 < share <= 1:
        raise InputError(f"{source}: {key} must be greater than 0 and at most 1, not {_spelled(share)}")
    if head is None:
        raise InputError(f"{source}: {key} is {share}, a share of each head, and nothing says how wide it is")
    dims = int(head * share)
    if not dims or dims % 2:
        raise InputError(f"{source}: {key} = {share} turns {dims} of the {head} entries of a head, which are no pairs")
    return dims


def _of_kinds(config: Mapping[str, Any], source: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings of the rotation in most layers, and the options of the rotation in layers with a window."""
    held = dict(_object(config, "rope_parameters", source))
    found: dict[str, Any] = {}
    if isinstance(held.get(GLOBAL), Mapping):
        local = _object(held, LOCAL, source)
        if local.get("rope_type", "default") != "default":
            fact = f"{source}: rope_type = {quoted(str(local['rope_type']))} of {LOCAL} is not supported"
            raise InputError(fact, hint="layers with a window are turned without scaling")
        if "rope_theta" in local:
            found |= _allowed(f"rope_theta of {LOCAL}", {"local_rope_base": local["rope_theta"]}, source)
        held = dict(held[GLOBAL])
    if config.get("rope_local_base_freq") is not None:
        found |= _allowed("rope_local_base_freq", {"local_rope_base": config["rope_local_base_freq"]}, source)
    return held, found


def _object(config: Mapping[str, Any], key: str, source: str) -> Mapping[str, Any]:
    """The object that a key holds, or an empty one."""
    held = config.get(key) or {}
    if not isinstance(held, Mapping):
        raise InputError(f"{source}: {key} = {visible(str(held), 60)} is not an object")
    return held


def _together(config: Mapping[str, Any], held: dict[str, Any], source: str) -> dict[str, Any]:
    """What the old key and the new one say of the rotation; they must agree. `type` means `rope_type`."""
    scaled = dict(_object(config, "rope_scaling", source))
    for one in (scaled, held):
        if "type" in one:
            kind = one.pop("type")
            one["rope_type"] = one.get("rope_type") or kind
    for key in scaled.keys() & held.keys():
        if scaled[key] != held[key]:
            fact = f"{source}: {key} of rope_scaling is {_spelled(scaled[key])}, and of rope_parameters"
            raise InputError(f"{fact} {_spelled(held[key])}", hint="leave one of them out")
    return scaled | held


def _complete(kind: str, found: dict[str, Any], source: str) -> dict[str, Any]:
    """The options of the rotation; raises if one is missing that its scaling needs."""
    needed = NEEDS[of_every()["rope_type"][kind]]
    names = of_every()["rope"].items()
    lacking = [key for key, name in names if name.removeprefix("rope_") in needed and name not in found]
    if lacking:
        raise InputError(f"{source}: rope_type = {quoted(kind)} needs {both(lacking)}")
    return found
