"""A checkpoint's tensors as our operands: which is stored where, whole or as a part, and whether its size is due."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from fnmatch import fnmatch
from functools import partial
from itertools import takewhile
from typing import Any

import numpy as np

from attncalc.common.errors import InputError, amount, are, both, listed, quoted, visible
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple
from attncalc.inputs.checkpoint_configs import CONFIG, STACKS, of_every, whole
from attncalc.inputs.given import MAX_CELLS
from attncalc.inputs.indexing import Part, split
from attncalc.inputs.reading import Contents
from attncalc.inputs.resolve import Found
from attncalc.inputs.stored_arrays import ArrayFile, Loader
from attncalc.inputs.weights import Heads

MOST_EXPERTS = 1024

_MATRIX = re.compile(r"/(?:(?:shared_)?w[a-z\d]{1,3}|weights|router)\Z")
_STATE = ("ssm/kernel", "ssm/a")
"""What a layer with a state needs besides matrices."""


AND, GROUPED, EACH_HEAD = " + ", "grouped ", "each head "
"""AND stands between operands that lie one behind the other in a tensor; GROUPED in front of them if they do so in each
group of heads, EACH_HEAD if they do so in each head.
"""


class Told(NamedTuple):
    """How a tensor holds operands, as its table says."""

    paths: tuple[str, ...]
    way: str = ""  # GROUPED, EACH_HEAD
    sizes: tuple[int, ...] = ()  # how many places belong to each, if the configuration says that

    def below(self, place: str) -> Told:
        """The same for the operands of a layer."""
        return self._replace(paths=tuple(f"{place}/{path}" for path in self.paths))


def _told(words: str, config: Mapping[str, Any]) -> Told | None:
    """What words of a table say: `grouped a + b + c`, `each head a (KEY) + b (KEY) if KEY`; None if KEY is false."""
    words, _, key = words.partition(" if ")
    if key and bool(config.get(key.removeprefix("not "))) == key.startswith("not "):
        return None
    way = next((way for way in (GROUPED, EACH_HEAD) if words.startswith(way)), "")
    parts = [re.fullmatch(r"(.*?)(?: \((\w+)\))?", part) for part in words.removeprefix(way).split(AND)]
    found = [(part[1], part[2]) for part in parts if part]
    return Told(tuple(path for path, _ in found), way, tuple(whole(config, key, CONFIG) for _, key in found if key))


def _of_layer(section: Mapping[str, Any], config: Mapping[str, Any], i: int) -> dict[str, Told]:
    """What the tensors of a layer hold; a table may say that the first few have no experts."""
    dense = whole(config, section["dense"], CONFIG, 0) if "dense" in section else None
    absent = () if dense is None else ("experts/",) if i < dense else ("feed-forward/",)
    inner = {name: words for name, words in section.items() if name not in ("prefix", "layers", "dense")}
    told = {name: _told(words, config) for name, words in inner.items()}
    return {name: each for name, each in told.items() if each and not each.paths[0].startswith(absent or "?")}


def stored_operands(
    table: Mapping[str, Any],
    contents: ArrayFile,
    stacks: Mapping[str, int],
    options: Mapping[str, Any],
    config: Mapping[str, Any],
) -> dict[str, Found]:
    """Where each of our operands is stored; raises for a tensor that belongs to none, and for one that is missing."""
    own, needed = _all_told(table, stacks, options, config)
    contents = _stacked(contents, [table["prefix"] + name for name in own] + list(own))
    found: dict[str, Found] = {}
    left = dict.fromkeys(contents.names)
    if not isinstance(config.get(TIED, False), bool):
        raise InputError(f"{CONFIG}: {TIED} = {visible(str(config[TIED]), 60)} is neither true nor false")
    tied = None if TIED in table["config"] else config.get(TIED)  # some tables read it otherwise
    said_of = BIASES.keys() & {*table["passed_over"]}
    for written, told in own.items():
        name, cuts = split(_counted_from(written, config), ())
        held = next((full for full in (table["prefix"] + name, name) if full in contents.names), None)
        if held is None:
            continue
        left.pop(held, None)  # several operands may be parts of one tensor
        unasked = [key for key in said_of if not config.get(key) and told.paths[0].partition("/")[2] in BIASES[key]]
        if unasked:
            fact = f"{contents.source} holds {quoted(held)}, and {CONFIG} has no {unasked[0]}: true"
            raise InputError(fact, hint="a bias that the configuration does not ask for has no place in the model")
        if not (tied and told.paths == HEAD):
            found |= dict(_parts(contents, held, told, cuts, table["stored"], options))
    ignored = [pattern.replace("{i}", "*") for pattern in table["ignored"]]
    surplus = [n for n in left if not any(fnmatch(n.removeprefix(table["prefix"]), pattern) for pattern in ignored)]
    if surplus:
        said = listed([quoted(name) for name in surplus], 6)
        fact = f"{contents.source}: {said} {are(surplus)} in no place of {config['model_type']}"
        raise InputError(fact, hint=OTHERS)
    needed += HEAD if tied is False and any(told.paths == HEAD for told in own.values()) else ()
    absent = [name for name in needed if name not in found]
    if absent:
        names = [next(n for n, told in own.items() if path in told.paths) for path in absent]
        front = table["prefix"] if any(name.startswith(table["prefix"]) for name in contents.names) else ""
        said = listed([quoted(front * (name != "lm_head.weight") + name) for name in dict.fromkeys(names)], 6)
        hint = f"{CONFIG} asks for {amount(sum(stacks.values()), 'layer')}"
        raise InputError(f"{contents.source}: {said} {are(names)} missing", hint=hint)
    return found


def _all_told(
    table: Mapping[str, Any], stacks: Mapping[str, int], options: Mapping[str, Any], config: Mapping[str, Any]
) -> tuple[dict[str, Told], list[str]]:
    """What the tensors of a whole model hold, layer by layer; and the operands that it needs."""
    own = {name: told for name, words in table["tensors"].items() if (told := _told(words, config))}
    needed = [path for told in own.values() if _is_needed(path := told.paths[0])]
    for section, stack in STACKS.items():
        for i in range(stacks.get(stack, 0)):
            prefix = table[section]["prefix"].replace("{i}", str(i))
            inner = _of_layer(table[section], config, i)
            bare = ["norm1/gamma"] if options.get("no_first_norm") and i == 0 else []
            known = {path for told in inner.values() for path in told.paths}
            asked = [paths[0] for key, paths in BIASES.items() if config.get(key) is True and paths[0] in known]
            needed += [f"{stack} {i}/{path}" for path in (*_needed(inner, options), *asked) if path not in bare]
            own |= {prefix + name: told.below(f"{stack} {i}") for name, told in inner.items()}
    return own, needed


BIASES = {
    "attention_bias": ("attention/bq", "attention/bk", "attention/bv", "attention/bo"),
    "qkv_bias": ("attention/bq", "attention/bk", "attention/bv"),
    "mlp_bias": ("feed-forward/b1", "feed-forward/b2", "feed-forward/b3"),
    "bias": ("attention/bq", "attention/bk", "attention/bv", "attention/bo", "feed-forward/b1", "feed-forward/b2"),
    "use_bias": ("ssm/bx", "ssm/bz", "ssm/bo"),
    "use_conv_bias": ("ssm/kernel_bias",),
}
"""The biases that layers have if these keys of the configuration are true, and not if they are false."""
OTHERS = f"is {CONFIG} that of this checkpoint?"
FIRST = ("embedding/table", "embedding/kernel")
"""What every model begins with: words, or patches of an image."""
HEAD = ("logits/weights",)


def _is_needed(path: str) -> bool:
    """Whether a model needs an operand outside its layers: what it begins with, and gains of norms."""
    return path in FIRST or (path.endswith("norm/gamma") and "logits" not in path)


TIED = "tie_word_embeddings"
EACH = "{e}"
"""Stands in a tensor's name for the number of an expert; all of them together are one operand."""


def _stacked(contents: ArrayFile, names: Iterable[str]) -> ArrayFile:
    """The arrays of a file, with those of all experts that have the same name stacked along a new first axis.

    Nothing is read until the stack is asked for.
    """
    joined = copy(contents)
    joined.is_checkpoint = True
    joined.loaders = dict(contents.loaders)
    for name in names:
        each = [name.replace(EACH, str(e)) for e in range(MOST_EXPERTS)] if EACH in name else []
        held = list(takewhile(joined.loaders.__contains__, each))
        if held:
            loaders = [joined.loaders.pop(one) for one in held]
            joined.loaders[name] = partial(_all_of, loaders)
            _, kind = contents.described(held[0])
            joined.types[name] = kind
    return joined


def _all_of(loaders: Sequence[Loader], at: Sequence[Any] = (), most: float = MAX_CELLS) -> Array:
    arrays = [load(at, most) for load in loaders]
    for part in at:
        if hasattr(part, "seen"):  # a look at the shape should see that of the stack
            part.seen.insert(0, np.broadcast_to(part.seen[0], (len(loaders), *part.seen[0].shape)))
    return np.stack(arrays)


def check_sizes(found: Mapping[str, Found], options: Mapping[str, Any], config: Mapping[str, Any]) -> None:
    """Refuse tensors whose sizes clash with the configuration, or with one another's."""
    sizes = _asked_sizes(options, config)
    shapes = of_every()["shapes"]
    for path, file in found.items():
        layer, _, name = path.rpartition("/")
        stack, _, part = layer.rpartition("/")
        own = f"{part}/{name}" if "layer " in stack else path  # in a layer, by the place in it
        if own not in shapes:
            continue
        axes = shapes[own].split()
        assert isinstance(file.contents, ArrayFile), "all are of the checkpoint"
        stored = file.contents.described(file.name or "")[0]
        source = quoted(file.name or "")
        said = f"{file.contents.source}: {source} is {' × '.join(map(str, stored)) or 'a single number'}"
        shape = shape_of_part(stored, file)
        if len(shape) != len(axes):
            raise InputError(f"{said}, where {amount(len(axes), 'axis', 'axes')} {are(axes)} asked for", hint=OTHERS)
        for axis, size in zip(axes, shape, strict=True):
            known, who = sizes.setdefault(stack + axis if axis[0] == "." else axis, (size, source))
            if size != known:
                raise InputError(f"{said}, but {who} asks for {known} in place of {size}", hint=OTHERS)


def _asked_sizes(options: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, tuple[int, str]]:
    """The sizes of axes in a configuration, each with the key that says it."""
    found = {}
    for axis, keys in of_every()["sizes"].items():
        key = next((key for key in keys if type(config.get(key)) is int), None)
        if key is not None:
            found[axis] = config[key], f"{CONFIG} ({key})"
    heads = options.get("heads")
    if type(heads) is not int or heads < 1 or not {"d_head", "d_model"} & found.keys():
        return found
    width = found["d_head"][0] if "d_head" in found else found["d_model"][0] // heads
    groups = options.get("kv_heads") or heads
    for axes, count in (("q", heads), ("kv", groups)):
        found |= dict.fromkeys(axes, (count * width, f"{CONFIG} ({amount(count, 'head')} of {width})"))
    return found


def _counted_from(written: str, config: Mapping[str, Any]) -> str:
    """`a[key + 1:]` → `a[2:]`, with the number that a key of the configuration holds."""
    found = re.search(r"\[(\w+) \+ (\d+)", written)
    if found is None:
        return written
    value = config.get(found[1])
    if type(value) is not int:
        raise InputError(f"{CONFIG}: {found[1]} is {visible(str(value), 60)}, and rows of a tensor are counted from it")
    return written.replace(found[0], f"[{value + int(found[2])}")


def _needed(inner: Mapping[str, Told], options: Mapping[str, Any]) -> list[str]:
    """What a layer needs: matrices and gains of norms; not the gains if it is parallel, as it may then share a norm.

    The matrix that only a gated network has is not asked of another.
    """
    paths = [path for told in inner.values() for path in told.paths]
    gains = [] if options.get("parallel") else [p for p in paths if p.endswith("gamma")]
    gated = "glu" in options.get("activation", "")
    matrices = [p for p in paths if _MATRIX.search(p) and (gated or p != "feed-forward/w3")]
    return [*matrices, *(p for p in paths if p in _STATE), *gains]


def _parts(
    contents: Contents, name: str, told: Told, cuts: Sequence[Part], stored: str, options: Mapping[str, Any]
) -> Iterator[tuple[str, Found]]:
    """The operands that a tensor holds, each with its part of the tensor, transposed if tokens in rows need that."""
    names = told.paths
    matrix = _MATRIX.search(names[0]) is not None
    turned = (Part(".T"),) if matrix and stored == "[out, in]" else ()
    axis = 1 if matrix and stored == "[in, out]" else 0
    turned = (*cuts, *turned)
    if len(names) == 1:
        yield names[0], Found(contents, name, turned, told=True)
        return
    heads = options.get("heads", 1)
    groups = options.get("kv_heads") or heads
    if told.way == GROUPED:
        whiches = (slice(-2), slice(-2, -1), slice(-1, None))
        for path, which in zip(names, whiches, strict=True):
            cut = Heads(f"[{path[-1]} of {amount(heads, 'head')}]", axis, groups, heads // groups + 2, which)
            yield path, Found(contents, name, (cut, *turned), told=True)
        return
    shares = told.sizes or ((heads, groups, groups) if len(names) == 3 else (1,) * len(names))
    assert isinstance(contents, ArrayFile)
    size = contents.described(name)[0][axis]
    repeated = heads if told.way == EACH_HEAD else 1
    fact = f"{contents.source}: {quoted(name)} has {size} places in axis {axis}"
    if told.sizes and size != repeated * sum(shares):
        per_head = f"{amount(heads, 'head')} of " if told.way else ""
        raise InputError(f"{fact}, and {CONFIG} says {per_head}{' + '.join(map(str, shares))}")
    if size % sum(shares):
        raise InputError(f"{fact}, which {both(map(str, shares))} parts do not share")
    begin = 0
    for path, share in zip(names, shares, strict=True):
        end = begin + size // repeated // sum(shares) * share
        place: Heads | Part = Part(f"[{':, ' * axis}{begin}:{end}]", (*[slice(None)] * axis, slice(begin, end)))
        if told.way:
            place = Heads(f"[{begin}:{end} of each head]", axis, heads, sum(shares), slice(begin, end))
        yield path, Found(contents, name, (place, *turned), told=True)
        begin = end


def shape_of_part(shape: tuple[int, ...], file: Found) -> tuple[int, ...]:
    """The shape of the part of a tensor that belongs to an operand."""
    look = np.lib.stride_tricks.as_strided(np.zeros(1), shape, (0,) * len(shape))
    for part in file.at:
        look = part.cut(look, file.name or "")
    return look.shape
