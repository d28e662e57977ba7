"""Weights by the names that frameworks give them: one table of names, fused matrices in parts, each the right way.

A Linear keeps its matrix [out, in], a Conv1D [in, out]. Shapes tell which it is wherever they differ; where they don't,
the other matrices of the file do, and else the names.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from attncalc.common.errors import InputError, amount, are, both, listed, quoted, shape_text, visible
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple
from attncalc.inputs.indexing import Part
from attncalc.inputs.json_files import shape_in
from attncalc.inputs.reading import Contents, Reading, matching, part_of
from attncalc.inputs.resolve import Found
from attncalc.inputs.stored_arrays import ArrayFile
from attncalc.record.trace import Given

NAMES = {
    # what a module is, in our letters → how its name ends; the longest ending wins
    "q": "q_proj q_lin query to_q wq SelfAttention.q EncDecAttention.q",
    "k": "k_proj k_lin key to_k wk SelfAttention.k EncDecAttention.k",
    "v": "v_proj v_lin value to_v wv SelfAttention.v EncDecAttention.v",
    "o": "o_proj out_proj out_lin to_out.0 wo attn.c_proj attn.proj attention.dense self_attention.dense "
    "attention.output.dense crossattention.output.dense SelfAttention.o EncDecAttention.o attn.Wo",
    "qkv": "c_attn qkv qkv_proj Wqkv in_proj",
    "grouped qkv": "query_key_value",
    "1": "fc1 c_fc lin1 linear1 wi wi_0 w1 gate_proj intermediate.dense dense_h_to_4h",
    "2": "fc2 mlp.c_proj lin2 linear2 DenseReluDense.wo w2 mlp.Wo down_proj output.dense dense_4h_to_h",
    "3": "wi_1 w3 up_proj",
    "13": "gate_up_proj mlp.Wi",
    "norm1": "input_layernorm ln_1 norm1 ln1 layernorm_before layer_norm1 self_attn_layer_norm sa_layer_norm "
    "attention.output.LayerNorm attention_norm attn_norm ln_attn norm_1",
    "norm2": "post_attention_layernorm ln_2 norm2 ln2 layernorm_after layer_norm2 output_layer_norm output.LayerNorm "
    "ffn_norm mlp_norm ln_mlp norm_2 pre_feedforward_layernorm encoder_attn_layer_norm crossattention.output.LayerNorm",
    "norm3": "norm3",
    "post norm2": "post_feedforward_layernorm",
    "last norm": "final_layer_norm",
    "q norm": "q_norm",
    "k norm": "k_norm",
}
"""The names of modules in the files of Hugging Face's libraries, PyTorch, timm and Meta."""

FUSED = (".c_attn.", ".qkv.", ".query_key_value.")  # beside one of these, a bare projection is the output's
CONV1D = ("c_attn", "c_proj", "c_fc")  # stored [in, out], unless shapes say otherwise
CROSS = ("encoder_attn", "EncDecAttention", "crossattention", "multihead_attn", "cross_attn")
BEFORE, AFTER = "pre_feedforward_layernorm", ("post_attention_layernorm", "post_feedforward_layernorm")
"""If BEFORE is there, the two of AFTER are norms after each part. Without it, both together are the norms of the parts,
and the first of them alone is the norm between the parts.
"""
_ENDS = (".weight", ".bias", "_weight", "_bias")  # behind a module's name; nn.MultiheadAttention has in_proj_weight
_TAILS = {f".{tail}": what for what, tails in NAMES.items() for tail in tails.split()}
_INTO = ("q", "k", "v", "qkv", "grouped qkv", "1", "3", "13")  # what reads tokens as wide as the model
_LINEAR, _CONV = "[out, in]", "[in, out]"


class Stored(NamedTuple):
    """An array of a file that is a module's matrix or bias."""

    name: str  # in the file
    module: str
    what: str  # a key of NAMES
    bias: bool
    cross: bool  # of attention to another sequence
    shape: tuple[int, ...]


class Heads(NamedTuple):
    """Picks the queries, keys or values of a matrix that holds them side by side for each head, or group of heads."""

    text: str
    axis: int
    groups: int
    each: int  # parts of a group: its query heads, and the key and the value beside them
    which: slice

    def cut(self, array: Array, source: str) -> Array:
        """Those rows, or columns, of the array."""
        size = array.shape[self.axis]
        split = self.groups * self.each
        if size % split:
            fact = f"{source} has {size} places in axis {self.axis}, which are not {split} of one size"
            raise InputError(fact, hint="--heads and --kv-heads say how many there are")
        rows = np.moveaxis(array, self.axis, 0)
        parts = rows.reshape(self.groups, self.each, size // split, *rows.shape[1:])[:, self.which]
        return np.moveaxis(parts.reshape(-1, *rows.shape[1:]), 0, self.axis)

    def of(self, given: Given) -> Given:
        """The same part of an operand, which has no labels."""
        return given._replace(value=self.cut(given.value, given.source), source=given.source + self.text, written=None)


def taken(
    contents: Contents,
    prefix: str,
    operands: Collection[str],
    options: Mapping[str, Any],
    reading: Reading,
    width: int | None,
) -> tuple[dict[str, Found], list[str]]:
    """The operands that a file holds below a prefix, by our names or usual ones; and the names that belong to none.

    `width` is that of the tokens that are given besides, if there are any.
    """
    inside = (name for name in contents.names if not prefix or name.startswith((f"{prefix}.", f"{prefix}/")))
    below = {name[len(prefix) + bool(prefix) :]: name for name in inside}
    arrays = [each for short, name in below.items() if (each := _stored(contents, name, short))]
    if width is None and "x" in below:
        width = ([None, *_shape(contents, below["x"])])[-1]
    found = _by_module(contents, arrays, operands, options, reading, width)
    used = {each.name for each in found.values()}
    rest = [short for short, name in below.items() if name not in used]
    for operand in operands:
        if operand not in found and not (used and operand in ("bias", "mask")):  # buffers of GPT-2 are called so
            key = matching(operand, rest, contents.source)
            if key is not None and below[key] not in used:
                found[operand] = Found(contents, below[key], told=bool(used))
                used.add(below[key])
    return found, [name for name in below.values() if name not in used]


def _stored(contents: Contents, name: str, short: str) -> Stored | None:
    """What an array is, as its name tells with the whole path; None if the name is no usual one."""
    end = next((end for end in _ENDS if name.endswith(end)), None)
    if end is None:
        return None
    module = name.removesuffix(end)
    ends = [tail for tail in _TAILS if f".{module}".endswith(tail)]
    if not ends:
        fused = any(part in f".{held}" for held in contents.names for part in FUSED)
        alone = {"c_proj": "o" if fused else "2", "proj": "o" * fused, "dense": "o" * fused}
        own = short.removesuffix(end)
        what = alone.get(own, own if own in ("q", "k", "v", "o") else "")
    else:
        what = _TAILS[max(ends, key=len)]
        above, output, _ = module.rpartition("output.")
        if output and any(held.startswith(f"{above}self.") for held in contents.names):  # BERT's attention by itself
            what = {"2": "o", "norm2": "norm1"}.get(what, what)
    if what == "3" and module.endswith("up_proj") and f"{module[:-7]}gate_proj{end}" not in contents.names:
        what = "1"
    if module.endswith(AFTER):
        above = module.removesuffix(AFTER[0]).removesuffix(AFTER[1])
        what = f"norm{1 + module.endswith(AFTER[1])}"
        before, single = f"{above}{BEFORE}{end}" in contents.names, f"{above}{AFTER[1]}{end}" not in contents.names
        what = f"post {what}" if before else "norm2" if single else what
    if not what:
        return None
    cross = any(part in CROSS for part in short.split("."))
    return Stored(name, module, what, end.endswith("bias"), cross, _shape(contents, name))


def _shape(contents: Contents, name: str) -> tuple[int, ...]:
    """The shape of an array, whose numbers are not read."""
    if isinstance(contents, ArrayFile):
        return contents.described(name)[0]
    return shape_in(contents.members.get(name))[0]


def _by_module(
    contents: Contents,
    arrays: Sequence[Stored],
    operands: Collection[str],
    options: Mapping[str, Any],
    reading: Reading,
    width: int | None,
) -> dict[str, Found]:
    """The operands that arrays of usual names hold; notes say which way the arrays lie."""
    ways, told = _ways(arrays, width)
    found: dict[str, Found] = {}
    turned: dict[str, list[str]] = {}
    for each in arrays:
        for operand, parts in _parts(each, arrays, operands, options, ways.get(each.name)):
            if operand not in operands:
                continue
            if operand in found:
                first = found[operand].name or ""
                raise InputError(
                    f"{contents.source}: both {quoted(first)} and {quoted(each.name)} may be {operand}",
                    hint=f"name one layer: --weights {part_of(contents.source, _above(first, each.name))}",
                )
            at = parts
            if each.name in ways and not each.bias:
                turned.setdefault(ways[each.name], []).append(operand)
                if ways[each.name] == _LINEAR and operand not in reading.transpose:
                    at = (*parts, Part(".T"))
            found[operand] = Found(contents, each.name, at, told=True)
    for way, names in turned.items():
        done = f"and {are(names)} {'turned' if way == _LINEAR else 'taken so'}"
        reading.tell(f"{contents.source}: {both(names)} {are(names)} stored {way}, {done}, as {told[way]}")
    return found


def _above(a: str, b: str) -> str:
    """The path of a layer: what is above the first difference of two names, and one step below it."""
    parts = a.split(".")
    same = next(i for i, (x, y) in enumerate(zip(parts, b.split("."), strict=False)) if x != y)
    return ".".join(parts[: same + 1])


def _ways(arrays: Sequence[Stored], width: int | None) -> tuple[dict[str, str], dict[str, str]]:
    """Which way each matrix lies, [out, in] or [in, out]; and what tells so, by way."""
    matrices = [each for each in arrays if len(each.shape) == 2 and not each.bias]
    biases = {each.module: each.shape[0] for each in arrays if each.bias and len(each.shape) == 1}
    norms = [each.shape[0] for each in arrays if each.what in ("norm1", "norm2", "norm3") and len(each.shape) == 1]
    common = set.intersection(*[set(each.shape) for each in matrices]) if matrices else set()
    width = norms[0] if norms else next(iter(common)) if len(common) == 1 else width
    ways: dict[str, str] = {}
    for each in matrices:
        rows, columns = each.shape
        out = biases.get(each.module)
        if rows == columns:
            continue
        if out in (rows, columns):
            ways[each.name] = _LINEAR if out == rows else _CONV
        elif width in (rows, columns):
            reads_rows = (width == rows) == (each.what in _INTO)
            ways[each.name] = _CONV if reads_rows else _LINEAR
        elif each.what.endswith("qkv"):
            ways[each.name] = _LINEAR if rows > columns else _CONV
    told = dict.fromkeys(ways.values(), "shapes tell")
    shown = set(ways.values())
    for each in matrices:
        if each.name not in ways:
            by_name = _CONV if each.module.rpartition(".")[2] in CONV1D else _LINEAR
            ways[each.name] = shown.copy().pop() if len(shown) == 1 else by_name
            told.setdefault(ways[each.name], f"{'GPT-2’s Conv1D' if by_name == _CONV else 'a Linear'} of that name is")
    return ways, told


def _parts(
    each: Stored, arrays: Sequence[Stored], operands: Collection[str], options: Mapping[str, Any], way: str | None
) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """The operands that an array holds, each with its part of the array."""
    cross = "cross_" if each.cross and "cross_wq" in operands else ""
    letter = "b" if each.bias else "w"
    axis = 1 if way == _CONV and not each.bias else 0
    what = each.what
    if what == "last norm":
        what = "norm3" if "gamma3" in operands else "norm2"
    if what in ("q norm", "k norm"):
        yield f"{cross}{what[0]}_gamma", ()
    elif what.startswith("post norm"):
        yield f"post_{'beta' if each.bias else 'gamma'}{what[-1]}", ()
    elif what.startswith("norm"):
        yield f"{'beta' if each.bias else 'gamma'}{what[-1]}", ()
    elif what == "grouped qkv":
        heads, groups = _heads(each, options)
        for name, which in (("q", slice(-2)), ("k", slice(-2, -1)), ("v", slice(-1, None))):
            said = f"[{name} of {amount(heads, 'head')}, {amount(groups, 'group')}]"
            yield f"{cross}{letter}{name}", (Heads(said, axis, groups, heads // groups + 2, which),)
    elif what in ("qkv", "13"):
        names = ("q", "k", "v") if what == "qkv" else ("1", "3")
        begin = 0
        for name, size in zip(names, _sizes(each, arrays, options, axis, len(names)), strict=True):
            text = f"[{':, ' * axis}{begin}:{begin + size}]"
            yield f"{cross}{letter}{name}", (Part(text, (*[slice(None)] * axis, slice(begin, begin + size))),)
            begin += size
    else:
        yield f"{cross if what in 'qkvo' else ''}{letter}{what}", ()


def _heads(each: Stored, options: Mapping[str, Any]) -> tuple[int, int]:
    """The number of heads, and of groups of them that share keys and values."""
    heads = options.get("heads")
    if heads is None:
        fact = f"{visible(each.name, 80)} holds queries, keys and values head by head"
        raise InputError(f"{fact}, and nothing says how many heads there are", hint="give --heads")
    groups = int(options.get("kv_heads") or heads)
    if groups < 1 or int(heads) % groups:
        raise InputError(f"--heads {heads} is no multiple of --kv-heads {groups}")
    return int(heads), groups


def _sizes(each: Stored, arrays: Sequence[Stored], options: Mapping[str, Any], axis: int, many: int) -> tuple[int, ...]:
    """How many places of a fused matrix belong to each of its parts: equally many, unless heads share keys."""
    size = each.shape[axis]
    names = ["q", "k", "v"] if many == 3 else ["w1", "w3"]
    fault = InputError(
        f"{visible(each.name, 80)} ({shape_text(each.shape)}) is not {both(names)} one behind the other, by its size",
        hint="--heads and --kv-heads say how wide each is" if many == 3 else "",
    )
    if many == 3 and options.get("kv_heads") is not None and options.get("heads") is not None:
        heads, groups = _heads(each, options)
        if size % (heads + 2 * groups):
            raise fault
        wide = size // (heads + 2 * groups)
        return heads * wide, groups * wide, groups * wide
    if many == 3:
        beside = [one for one in arrays if one.what == "o" and not one.bias and one.cross == each.cross]
        widths = {wide for one in beside for wide in one.shape if math.prod(one.shape) == wide * wide}
        if len(widths) == 1 and size - (wide := widths.pop()) > 0 and (size - wide) % 2 == 0:
            return wide, (size - wide) // 2, (size - wide) // 2
    if size % many:
        raise fault
    return (size // many,) * many


def unread(names: Sequence[str], source: str, calculation: str) -> str:
    """The note on names that were not used."""
    shown = listed([quoted(name) for name in names], 12)
    return f"{source}: {shown} {are(names)} not used: {calculation} has no such operand"
