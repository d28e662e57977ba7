"""Steps of a model by the names of others: of its modules, whose outputs were hooked, and of what it returns.

The names of stored weights tell which module is which: `model.layers.3.self_attn.q_proj.weight` is our
`layer 3/attention/wq`, so the output of this module is the step `layer 3/attention/q`. The output of a fused module,
such as GPT-2's `c_attn`, holds several steps, each at some places of its last axis.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import count, takewhile
from os.path import commonpath
from typing import Any

import numpy as np

from attncalc.common.errors import InputError, amount, quoted, shape_text
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple
from attncalc.declare.mistake import StepKey
from attncalc.inputs.checkpoints import sums_of
from attncalc.inputs.indexing import Part, split
from attncalc.record.trace import Given

CROSS, HEAD = "cross-attention", "lm_head"
GIVES = {
    "attention/wq": "attention/q",
    "attention/wk": "attention/k",
    "attention/wv": "attention/v",
    "attention/wo": "attention/output",
    f"{CROSS}/wq": f"{CROSS}/q",
    f"{CROSS}/wk": f"{CROSS}/k",
    f"{CROSS}/wv": f"{CROSS}/v",
    f"{CROSS}/wo": f"{CROSS}/output",
    "attention/wdq": "attention/q_latent",
    "attention/q_gamma": "attention/q-norm/output",
    "attention/wuq": "attention/q",
    "attention/wdkv": "attention/latent",
    "attention/wkr": "attention/k_rope",
    "attention/wuk": "attention/k_heads",
    "attention/wuv": "attention/v_heads",
    "attention/kv_gamma": "attention/kv-norm/output",
    "ssm/wx": "ssm/inner",
    "ssm/wz": "ssm/gate",
    "ssm/wr": "ssm/narrow",
    "ssm/wb": "ssm/b",
    "ssm/wc": "ssm/c",
    "ssm/wdt": "ssm/delta",
    "ssm/wo": "ssm/output",
    "feed-forward/w1": "feed-forward/hidden",
    "feed-forward/w3": "feed-forward/linear",
    "feed-forward/w2": "feed-forward/output",
    "experts/router": "feed-forward/logits",
    "experts/w2": "feed-forward/mixed",  # or the output, where no shared expert's is added
    "experts/shared_w1": "feed-forward/shared/hidden",
    "experts/shared_w3": "feed-forward/shared/linear",
    "experts/shared_w2": "feed-forward/shared/output",
    "embedding/table": "embedding/embeddings",
    "embedding/types": "embedding/types",
    "embedding/positions": "embedding/positions",
    "pooler/weights": "pooler/hidden",
    "logits/dense/weights": "logits/hidden",
    "logits/weights": "logits",
    "logits/bias": "logits",
}
"""For each weight, the step that its module outputs; for a gain, that is the output of its norm."""
COLUMNS = {"embedding/kernel": "embedding/embedded", "ssm/kernel": "ssm/convolved"}
"""For each kernel, the step that its convolution outputs: a row for each channel, maybe longer than the text."""
ALONE = {
    frozenset({"attention/wq", "attention/wk", "attention/wv"}): "attention/concatenated",
    frozenset({"feed-forward/w1"}): "feed-forward/activated",
    frozenset({"feed-forward/w2"}): "",  # no step, as some of these modules add the residual
    frozenset({"pooler/weights"}): "pooled",
    frozenset({"embedding/kernel"}): "embedding/embedded",
}
"""The step output by a module that holds the modules of just these weights and computes on from their outputs."""
BENDING = {"feed-forward/w1": "feed-forward", "experts/shared_w1": "feed-forward/shared"}
"""For each weight, the part of the layer whose activation is a module beside the weight's."""
ACTIVATIONS = ("act", "act_fn", "activation", "activation_fn", "gelu_impl", "intermediate_act_fn")
"""Names of the modules of activations, which have no weights."""
IN_CODE = (
    (r"\bblock_sparse_moe\b", "mlp"),
    (r"\bencoder\.layer\.(\d+)", r"layers.\1"),
    (r"\battention\.attention\.(q|k|v)(?:uery|ey|alue)\b", r"attention.\1_proj"),
    (r"\battention\.output\.dense\b", "attention.o_proj"),
    (r"\bintermediate\.dense\b", "mlp.fc1"),
    (r"\boutput\.dense\b", "mlp.fc2"),
)
"""Names of modules in files, and in today's code, which renames the modules of Mixtral and ViT."""


RETURNED = ("hidden_states", "attentions")
"""How the names of outputs end that models return once for each layer."""


def _plain(name: str) -> str:
    """A name without the prefixes that wrappers add, and with dots between its parts."""
    wrappers = "module|_orig_mod|base_model"
    models = "model|transformer|gpt_neox|backbone|decoder|bert|roberta|distilbert|vit"
    front = rf"^(?:(?:{wrappers}|{models})\.)+"
    name = re.sub(rf"({'|'.join(RETURNED)})_(\d+)\Z", r"\1.\2", name)
    return re.sub(front, "", re.sub(r"[/\\]", ".", name))


Read = Callable[[Array], Array]
"""Takes a step out of an array that holds it."""


class Fused(NamedTuple):
    """The output of a fused module: several steps, each at some places of the last axis, which has this size."""

    size: int | None  # None if the steps are columns, of which there may be more
    steps: Mapping[StepKey, Array]

    def read(self, part: Array, name: str, step: StepKey, shape: tuple[int, ...]) -> Array:
        """The step in such an output: its columns as rows, or the entries at its places, split into heads."""
        if self.size is None:
            return part.reshape(shape[1], -1).T[: shape[0]] if part.size % shape[1] == 0 else part
        if part.shape[-1:] != (self.size,):
            held = " and ".join("/".join(filter(None, key)) for key in self.steps)
            fact = f"{quoted(name)} is {shape_text(part.shape)}, but {held} lie side by side in rows of {self.size}"
            raise InputError(fact)
        part = part.take(self.steps[step], axis=-1)
        if len(shape) == 3 and part.size == math.prod(shape):
            return part.reshape(shape[1], shape[0], shape[2]).swapaxes(0, 1)
        return part


class Modules(NamedTuple):
    """The steps behind the outputs of modules and models, and the gradients of parameters, by plain names."""

    whole: Mapping[str, StepKey]
    fused: Mapping[str, Fused]
    parameters: Mapping[str, Mapping[StepKey, Read]]  # how to take each gradient out of the parameter's

    def step(self, name: str) -> StepKey | None:
        """The step that is meant by a framework's name of a module or an output; None if there is none."""
        return self.whole.get(_plain(name))

    def parts(self, name: str, shapes: Mapping[StepKey, tuple[int, ...]]) -> Mapping[StepKey, Read]:
        """The steps that an array of this name holds together, and how to take each out; `shapes` are the steps'.

        The array is the gradient of a parameter, the output of a fused module, or a stack of what is returned as
        `name.0`, `name.1` …
        """
        plain = _plain(name)
        if plain in self.parameters:
            return self.parameters[plain]
        if fused := self.fused.get(plain):
            return {step: partial(fused.read, name=name, step=step, shape=shapes[step]) for step in fused.steps}
        every = (f"{plain}.{i}" for i in count()) if plain.endswith(RETURNED) else ()
        steps = [self.whole[one] for one in takewhile(self.whole.__contains__, every)]
        several = partial(_one_of_several, name=name, many=len(steps))
        return {step: partial(several, i=i, rank=len(shapes[step])) for i, step in enumerate(steps)}


def _one_of_several(part: Array, name: str, many: int, i: int, rank: int) -> Array:
    """The step number `i` of an array that stacks several steps along its first axis."""
    if part.shape[:1] != (many,) or part.ndim <= rank:
        fact = f"{quoted(name)} is {shape_text(part.shape)}, where {amount(many, 'array')} of {rank} axes"
        hint = f"give them one behind the other, or each by its name: {quoted(f'{name}.0')}"
        raise InputError(f"{fact} are asked for", hint=hint)
    found: Array = part[i]
    return found


def by_module(inputs: Mapping[str, Given], steps: Collection[StepKey]) -> Modules:
    """The steps that the modules of a checkpoint output; `inputs` are the operands that it gave."""
    given = {path: given for path, given in inputs.items() if given.is_stored}
    stored = {path: each.source.rpartition("#")[2] for path, each in given.items()}
    order = {key: place for place, key in enumerate(steps)}
    folders = [str(each.value) for each in inputs.values() if each.files is not None]
    named = [(name, key) for name, key in _named(stored, order, sums_of(folders[0]) if folders else {}) if key in order]
    known = {_plain(_in_code(name)): key for name, key in named} | {_plain(name): key for name, key in named}
    widths = {path: each.value.shape[-1] for path, each in given.items() if each.value.ndim == 2}
    return Modules(known, dict(_fused(stored, widths, order)), _parameters(stored, widths, order))


_CUT = re.compile(
    r"(.*)\.weight(?=\[:|.*\.T\Z)\[(?:(?::, )?(\d+):(\d+)( of each head)?|([qkv]) of (\d+) heads?)\](?:\.T)?"
)
"""The source of an operand that is cut out of a fused module's matrix."""


def _fused(
    stored: Mapping[str, str], widths: Mapping[str, int], order: Collection[StepKey]
) -> Iterator[tuple[str, Fused]]:
    for module, (size, places) in _side_by_side(stored, widths).items():
        known = {_key(layer, _gives(inner)): at for path, at in places.items() for layer, inner in [_parted(path)]}
        steps = {key: at for key, at in known.items() if key in order}
        if steps:
            yield _plain(module), Fused(size, steps)
    for path, name in stored.items():
        layer, inner = _parted(path)
        if inner in COLUMNS and (key := _key(layer, COLUMNS[inner])) in order:
            yield _plain(name.partition(".weight")[0]), Fused(None, {key: np.arange(0)})


def _side_by_side(stored: Mapping[str, str], widths: Mapping[str, int]) -> dict[str, tuple[int, dict[str, Array]]]:
    """The fused modules: the size of each one's output, and the places in it that each weight produces."""
    modules: dict[str, dict[str, Any]] = {}
    for path, name in stored.items():
        if path in widths and (cut := _CUT.fullmatch(name)):
            modules.setdefault(cut[1], {})[path] = cut
    sizes = {module: [widths[path] for path in cuts] for module, cuts in modules.items()}
    return {
        module: (
            sum(sizes[module]),
            {path: _places(cut, sum(sizes[module]), sizes[module], widths[path]) for path, cut in cuts.items()},
        )
        for module, cuts in modules.items()
    }


_OF_HEADS = re.compile(r"\[[^\]]* heads?\]")


def _parameters(
    stored: Mapping[str, str], widths: Mapping[str, int], order: Collection[StepKey]
) -> dict[str, dict[StepKey, Read]]:
    """The gradients of operands, by the names of the stored arrays, and how to take each out of the whole array."""
    rows = {path: at for _, places in _side_by_side(stored, widths).values() for path, at in places.items()}
    found: dict[str, dict[StepKey, Read]] = {}
    for path, name in stored.items():
        group, _, operand = path.rpartition("/")
        key = group, f"grad_{operand}"
        if key in order:
            array, parts = split(_OF_HEADS.sub("", name), ())
            of_heads = rows[f"{group}/w{operand[1:]}"] if _OF_HEADS.search(name) else None  # a bias, as its weights
            found.setdefault(_plain(array), {})[key] = partial(_read, rows=of_heads, parts=parts, source=array)
    return found


def _read(array: Array, rows: Array | None, parts: Sequence[Part], source: str) -> Array:
    """An operand's part of the array that it is stored in."""
    if rows is not None:
        if len(array) <= rows.max():
            raise InputError(f"{source} is {shape_text(array.shape)}, and has no row {rows.max()}")
        array = array[rows]
    for part in parts:
        array = part.cut(array, source)
    return array


def _places(cut: Any, size: int, widths: list[int], width: int) -> Array:
    """The places on a fused module's last axis that one part of its matrix produces."""
    begin, end, of_each, which, heads = cut.groups()[1:]
    if which:  # the queries of a group of heads lie together, followed by the group's key and value
        wide = max(widths) // int(heads)
        groups = min(widths) // wide
        parts = np.arange(size).reshape(groups, int(heads) // groups + 2, wide)
        return parts[:, {"q": slice(-2), "k": slice(-2, -1), "v": slice(-1, None)}[which]].reshape(-1)
    if of_each:
        rows = np.arange(size).reshape(width // (int(end) - int(begin)), -1)
        return rows[:, int(begin) : int(end)].reshape(-1)
    return np.arange(int(begin), int(end))


def _in_code(name: str) -> str:
    """The name that today's code gives to a module of a file."""
    for in_files, in_code in IN_CODE:
        name = re.sub(in_files, in_code, name)
    return name


def _named(
    stored: Mapping[str, str], order: Mapping[StepKey, int], sums: Mapping[str, str]
) -> Iterator[tuple[str, StepKey]]:
    modules = {}
    for path, name in stored.items():
        array = re.sub(r"(\[[^\]]*\]|\.T)+\Z", "", name)
        module, _, end = array.rpartition(".")
        modules[path] = module if end in ("weight", "bias", "gamma", "beta") else array
        layer, inner = _parted(path)
        whole = "[" not in name or inner == "embedding/positions"
        if whole and (end in ("weight", "gamma") or path == "logits/bias"):
            yield modules[path], _key(layer, _gives(inner))
    for side in ("", "encoder/", "decoder/"):
        own = {path.removeprefix(side): name for path, name in modules.items() if path.startswith(side)}
        yield from _of_stack(side, own, order, sums)
        yield f"{side}embed_tokens", (f"{side}embedding", "embeddings")
    yield "encoder_last_hidden_state", ("", "memory")
    yield "pooler_output", ("", "pooled")
    if not stored.get("logits/bias", HEAD).startswith(HEAD):
        return  # the head's output is no step: a bias is added to it elsewhere
    yield HEAD, ("", "raw_logits" if ("", "raw_logits") in order else "logits")


def _of_stack(
    side: str, modules: Mapping[str, str], order: Mapping[StepKey, int], sums: Mapping[str, str]
) -> Iterator[tuple[str, StepKey]]:
    """The names and steps of what a stack of layers outputs and returns; `side` is its encoder or decoder, if any."""
    layers = max((int(found[1]) for path in modules if (found := re.match(r"layer (\d+)/", path))), default=-1) + 1
    if not layers:
        return
    returned, around, last, whole = side.replace("/", "_"), set[str](), ("", ""), ""
    first = 0 if any("/ssm/" in path for path in modules) else 1  # Mamba returns no embeddings
    for i in range(layers):
        layer = f"{side}layer {i}"
        own = {path.partition("/")[2]: name for path, name in modules.items() if path.startswith(f"layer {i}/")}
        last = max((key for key in order if f"{key[0]}/".startswith(f"{layer}/")), key=order.__getitem__)
        whole = _above(list(own.values()))
        around.update(_fronts(whole))
        yield f"{whole}.mlp", (f"{layer}/feed-forward", "output")
        yield from _bent(own, layer)
        yield from _holding(own, layer, order, around)
        yield from ((f"{whole}.{module}", (layer, step)) for module, step in sums.items())
        yield whole, last
        yield re.sub(r"(\.\d+)\.[a-z]+\Z", r"\1", whole), last  # its parts may lie in a list
        yield f"{returned}attentions.{i}", (f"{layer}/attention", "weights")
        yield f"cross_attentions.{i}", (f"{layer}/{CROSS}", "weights")
        yield f"{returned}hidden_states.{i + first}", last
    norm = modules.get("final norm/gamma", "")
    normed = (f"{side}final norm", "output") if norm else last
    for module in _fronts(re.sub(r"\.\w+\.\d+(\.\w+)?\Z", "", whole)):  # of all layers, which lie in a list
        yield module, normed if norm.startswith(f"{module}.") else last
    for part in ("embedding", "pooler", "logits"):
        own = {path: name for path, name in modules.items() if path.startswith(f"{part}/")}
        yield from _holding(own, side.rstrip("/"), order, around)
        whole = _above(list(own.values())) if own else ""
        if part == "embedding" and whole not in (*around, *own.values()):
            inside = (key for key in order if f"{key[0]}/".startswith(f"{side}embedding/"))
            yield whole, max(inside, key=order.__getitem__)
    embedded = "embedding/norm" if "embedding/norm/gamma" in modules else "embedding"
    if first:
        yield f"{returned}hidden_states.0", (f"{side}{embedded}", "output")
    yield f"{returned}hidden_states.{layers}", last if "embedding/kernel" in modules else normed
    yield "last_hidden_state", normed


def _bent(own: Mapping[str, str], layer: str) -> Iterator[tuple[str, StepKey]]:
    """The names and steps of the activations of a layer."""
    for path, part in BENDING.items():
        if path in own:
            beside = {name.rpartition(".")[0] for name in (own[path], _in_code(own[path]))}
            yield from ((f"{b}.{called}", (f"{layer}/{part}", "activated")) for b in beside for called in ACTIVATIONS)


def _gives(path: str) -> str:
    """The step that the module of a weight outputs; "" if that is not known."""
    return GIVES.get(path, path.replace("/gamma", "/output") if path.endswith("/gamma") else "")


def _holding(
    own: Mapping[str, str], layer: str, order: Mapping[StepKey, int], around: Collection[str]
) -> Iterator[tuple[str, StepKey]]:
    """The names and steps of modules that hold several others, but no whole layer: they output the last step inside."""
    for module in dict.fromkeys(front for name in own.values() for front in _fronts(name.rpartition(".")[0])):
        below = [path for path, name in own.items() if name.startswith(f"{module}.")]
        held = frozenset(path for path in below if _gives(path) or frozenset({path}) in ALONE)
        given = [key for path in held if (key := _key(layer, ALONE.get(held, _gives(path)))) in order]
        if "experts/w2" in held and ("experts/router" in held or not given):  # else a shared expert is added later
            given = [_key(layer, "feed-forward/output")]
        if not given or "{e}" in module or module in around or module in own.values():
            continue
        last = max(given, key=order.__getitem__)
        norms = [path for path in held if re.fullmatch(r"norm\d/gamma", path)]
        # each part of a T5 layer is a module that includes the norm before it and the residual sum after it
        before = norms and last != _key(layer, _gives(norms[0]))
        yield module, (layer, f"residual{norms[0][4]}") if before else last


def _fronts(name: str) -> Iterator[str]:
    """`a.b.c` → `a.b.c`, `a.b`, `a`."""
    while name:
        yield name
        name = name.rpartition(".")[0]


def _above(names: list[str]) -> str:
    """The module that holds all of these."""
    return commonpath([name.replace(".", "/") for name in names]).replace("/", ".")


def _parted(path: str) -> tuple[str, str]:
    """`layer 3/attention/wq` → ("layer 3", "attention/wq"), `encoder/final norm/gamma` → ("encoder", …)."""
    found = re.match(r"((?:(?:en|de)coder/)?layer \d+|(?:en|de)coder)/(.*)", path)
    return (found[1], found[2]) if found else ("", path)


def _key(layer: str, step: str) -> StepKey:
    group, _, name = step.rpartition("/")
    return "/".join(filter(None, (layer, group))), name
