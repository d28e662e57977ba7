"""Two dumps and no model: arrays paired by name, in the order of layers, and the first of them that diverges."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from attncalc.common.errors import InputError, OptionError, both, near, quoted, visible
from attncalc.common.numerals import LAYOUTS, STORED, Array
from attncalc.common.system import NamedTuple, grouped, is_folder, shown
from attncalc.evaluate.precisions import PRECISIONS
from attncalc.homework.reading.answers import FEWEST_DUMPED, NOISE, ROUND_OFF, as_parts
from attncalc.homework.reading.stored_types import narrowest
from attncalc.inputs.indexing import Part
from attncalc.inputs.json_files import saved_steps
from attncalc.inputs.python_values import stored_numbers
from attncalc.inputs.reading import Contents, Reading
from attncalc.inputs.resolve import TABLE, arrays_in, checkpoint_in, find
from attncalc.inputs.stored_arrays import ArrayFile
from attncalc.record.trace import Trace

VERDICTS = ("equal", "within", "differs", "shape", "missing")
"""The verdicts on an array and on the whole, the worst last."""
SOUND = VERDICTS[:2]
MOST_AT_ONCE = 2**22  # entries of a piece
MOST_LAID_ANEW = 2**24  # entries of an array of which other layouts are tried
MOST_HEADS = 256
MOST_COLUMNS, MOST_ROWS = 4096, 64  # of an array whose last axis may be permuted, and looked at for that
MOST_TOLD = 16  # places in an order
NEARLY_NOTHING = 1e-6  # a row of zeros is judged by this share of the largest entry of all rows
LATEST = 8
ONE_WAY = 0.8
"""A difference is a factor or a term if at least this share of it lies that way."""
GROWN, ASTRAY = 6, 32
"""How many times as far off as the latest arrays one may be in the mean, and an entry of it, since noise grows."""

Tolerance = tuple[float, float]
"""Relative and absolute."""


class Dumped(NamedTuple):
    """An array of a dump, of which parts can be read."""

    name: str
    shape: tuple[int, ...]
    stored: str  # the type in which it was stored, as far as the dump says
    read: Callable[[tuple[slice, ...]], Array]


class Allowed(NamedTuple):
    """How far entries may lie apart: by a tolerance that was said, else relative to the largest entry of their row."""

    said: Tolerance | None
    noise: float  # of the coarser of their types
    usual: float  # how far arrays before them are off in the mean, or at least numbers of that type

    def beyond(self, off: Array, parts: Array, y: Array) -> Array:
        """Which entries lie further apart than was said, or, relative to their rows, than their types' noise."""
        if self.said is not None:
            return np.asarray(off > self.said[1] + self.said[0] * np.where(np.isfinite(y), np.abs(y), 0.0))
        return np.asarray(parts > self.noise)

    def carried(self, mean: float, most: float) -> bool:
        """Whether an array is off no further than by noise that it carries on from those before it."""
        grown = mean <= GROWN * self.usual and most <= ASTRAY * self.usual
        return self.said is None and self.noise > 0 and grown

    def fit(self, x: Array, y: Array) -> bool:
        """Whether an array agrees with the other."""
        off = _off(x, y)
        parts = _parts(off, y)
        return not self.beyond(off, parts, y).any() or self.carried(_mean(np.square(parts).sum(), y.size), parts.max())


class Compared(NamedTuple):
    """What is found of an array of the dumps; the second one is the reference."""

    name: str
    verdict: str
    max_error: float | None = None
    relative: float | None = None  # to the largest entry of the reference
    cosine: float | None = None
    share: float | None = None  # of the entries that are beyond the tolerance
    at: tuple[int, ...] | None = None  # where the error is largest
    finding: str = ""  # what the difference comes from


class Comparison(NamedTuple):
    """What is found of two dumps; it is true where nothing diverges."""

    verdict: str
    first_wrong: str | None
    arrays: tuple[Compared, ...]

    def __bool__(self) -> bool:
        return self.verdict in SOUND


def read_dump(word: str, reading: Reading) -> dict[str, Dumped]:
    """The arrays of a file, of a checkpoint, or of a folder of npy files."""
    if is_folder(path := word.removeprefix("@")) and not (checkpoint_in(path) or arrays_in(path)):
        raise InputError(f"{shown(path)} is a folder without a dump", hint="a dump is npz, safetensors, or npy files")
    held = find(word, TABLE, reading)
    if held is None or held.at:
        raise InputError(f"there is no dump {quoted(word)}", hint="a dump is npz, safetensors, npy, or a folder of npy")
    found = _of_contents(held.contents, reading)
    if not held.name:
        return found
    below = {name[len(held.name) + 1 :]: each for name, each in found.items() if name.startswith(held.name + ".")}
    chosen = {held.name: found[held.name]} if held.name in found else below
    if not chosen:
        raise InputError(f"{held.contents.source} holds no {quoted(held.name)}", hint=near(held.name, found))
    return chosen


def _of_contents(contents: Contents, reading: Reading) -> dict[str, Dumped]:
    if isinstance(contents, ArrayFile):
        return {name: _of_file(contents, name) for name in contents.loaders}
    names = contents.names or (None,)
    if isinstance(steps := contents.members.get("steps"), list):
        names = tuple(step.path for step in saved_steps(steps))
    arrays = {name: contents.array(name, TABLE, reading).value for name in names}
    return {(n or "").removeprefix("steps/"): of_array((n or "").removeprefix("steps/"), a) for n, a in arrays.items()}


def _of_file(contents: ArrayFile, name: str) -> Dumped:
    def read(place: tuple[slice, ...]) -> Array:
        return contents.loaders[name]((Part("", place),) if place else ())

    return _real(Dumped(name, *contents.described(name), read))


def of_array(name: str, value: Any) -> Dumped:
    """An array from Python: of NumPy, torch or JAX."""
    array, stored = stored_numbers(value, name or "the array")
    return _real(Dumped(name, array.shape, stored, lambda place: np.asarray(array[place])))


def _real(array: Dumped) -> Dumped:
    """An array whose entries are real: complex ones, as turns may be, are compared part by part."""
    if not array.stored.startswith("complex"):
        return array
    own = f"float{int(array.stored.removeprefix('complex')) // 2}"
    return Dumped(array.name, (*array.shape, 2), own, lambda place: as_parts(array.read(place)))


def compared(
    a: Mapping[str, Dumped],
    b: Mapping[str, Dumped],
    names: Mapping[str, str] | None = None,
    *,
    tolerance: Tolerance | None = None,
    layout: str | None = None,
    dtype: str | None = None,
) -> Comparison:
    """What is found of two dumps, the second of which is right; `names` pairs arrays that are called differently."""
    if layout not in (None, *LAYOUTS):
        raise OptionError(f"--heads-layout is {', '.join(LAYOUTS[:-1])} or {LAYOUTS[-1]}, not {quoted(str(layout))}")
    if dtype not in (None, *STORED):
        raise OptionError(f"dtype is one of {', '.join(STORED)}, not {quoted(str(dtype))}")
    pairs = _paired(a, b, names or {})
    if not pairs:
        some = f"the first has {_some(a)}, the second {_some(b)}"
        raise InputError(
            f"no array of one dump is called as one of the other: {some}", hint="--map A=B pairs two names"
        )
    of_a = {mine: theirs for theirs, mine in pairs.items()}
    named = [*b, *(name for name in a if name not in of_a)]
    found: list[Compared] = []
    noise: list[float] = []
    for name in in_order(sorted(named) if list(b) == sorted(b) else named):
        if name in pairs:
            mine = _laid(a[pairs[name]], layout)
            one = _judged(mine, b[name], tolerance, dtype, noise)
            if one.verdict == "differs" and not one.finding and all(other.verdict != "differs" for other in found):
                one = one._replace(finding=_another(mine._replace(name=name), b, tolerance, dtype, noise))
            found.append(one)
        else:
            found.append(Compared(name, "missing", finding=f"only in the {'second' if name in b else 'first'} dump"))
    diverging = [one.name for one in found if one.verdict in ("differs", "shape")]
    lost = [one.name for one in found if one.verdict == "missing"]
    worst = max((one.verdict for one in found), key=VERDICTS.index)
    return Comparison(worst, next(iter([*diverging, *lost]), None), tuple(found))


def _some(dump: Mapping[str, Dumped]) -> str:
    names = [quoted(visible(name, 40)) for name in dump]
    return both(names[:3]) + (", …" if len(names) > 3 else "") if names else "none"


def _paired(a: Mapping[str, Dumped], b: Mapping[str, Dumped], names: Mapping[str, str]) -> dict[str, str]:
    """Names of the second dump → those of the first: as they were paired, equal, or equal but for what is in front."""
    pairs: dict[str, str] = {}
    for mine, theirs in names.items():
        for name, dump, which in ((mine, a, "first"), (theirs, b, "second")):
            if name not in dump:
                raise OptionError(
                    f"--map {mine}={theirs}: the {which} dump has no {quoted(name)}", hint=near(name, dump)
                )
        pairs[theirs] = mine
    left = {name for name in a if name not in pairs.values()}
    alike = (_path, _path), (_returned(a, b), _path), (_path, _returned(b, a))
    for in_a, in_b in ((str, str), *alike):
        known = grouped(left, in_a)
        for name in b:
            others = known.get(in_b(name), [])
            if name not in pairs and len(others) == 1 and others[0] in left:
                pairs[name] = others[0]
                left.remove(others[0])
    if not pairs and len(a) == len(b) == 1:
        return {next(iter(b)): next(iter(a))}
    return pairs


def _path(name: str) -> str:
    """A name without what wrappers put in front of it, and with dots between its parts."""
    return re.sub(r"^(?:(?:module|_orig_mod|base_model|model|transformer)\.)+", "", re.sub(r"[/\\]", ".", name))


_LAYER = re.compile(r"\D*\b(?:layers?|h|blocks?)\.(\d{1,9})")
_LAST = re.compile(r"(?:(?:gpt_neox|decoder)\.)?(?:norm|ln_f|final_layer_?norm)")
_STATE = re.compile(r"hidden_states?[./_](\d{1,9})")
"""The modules that give hidden states, the last of them a norm, and the names of these states as they are returned."""


def _returned(dump: Mapping[str, Any], other: Mapping[str, Any]) -> Callable[[str], str]:
    """The function that renames modules of one dump to the states that Hugging Face's models return in the other.

    A decoder's last state comes after its last norm, and is not what its last layer gives. Which layer is the last one
    is known if both dumps have all of them. Mamba, whose layers are mixers, counts its states otherwise.
    """
    paths = {name: _path(name) for name in dump}
    layers = [int(found[1]) for path in paths.values() if (found := _LAYER.match(path))]
    states = [int(found[1]) for name in other if (found := _STATE.fullmatch(name))]
    last = max(states, default=0)
    has_all = last == max(layers, default=-2) + 1
    if any("backbone" in name or ".mixer" in name for name in dump):
        return _path
    named = {}
    for path in paths.values():
        layer = _LAYER.fullmatch(path)
        number = int(layer[1]) + 1 if layer else last if _LAST.fullmatch(path) else 0
        ends = has_all and (not layer or "encoder.layer." in path)  # those of BERT and ViT have no norm after them
        if 0 < number < last or (number == last and ends):
            named[path] = f"hidden_states.{number}"
    return lambda name: named.get(path := _path(name), path)


_WITHIN = (  # the order within a layer, if a dump's own does not tell: in its attention, and after that
    (
        r"input_layernorm|ln_1|norm_?1|attn_norm|\d\.(layer_)?norm$", r"q_proj|query|\bq\b|q_lin|in_proj",
        r"k_proj|key\b|\bk\b|k_lin", r"v_proj|value|\bv\b|v_lin", r"c_attn|qkv", r"[qk]_norm|conv1d",
        r"scores|scaled|masked", r"weights|attentions|attention\.self|x_proj", r"dt_proj",
        r"o_proj|out_(proj|lin)|attn\.(c_proj|Wo)|attention\.(output\.)?dense\b|Attention\.o\b",
        r"attn$|[aA]ttention$|attention\.output|attn_layer_norm|sa_layer_norm",
    ),
    (
        r"post_attention_layernorm|pre_feedforward|ln_2|norm_?2|mlp_norm",
        r"gate|router|fc1|c_fc|up_proj|intermediate|lin1|\b[wW]i|h_to_4h", r"act",
        r"down_proj|fc2|mlp\.c_proj|output\.dense|lin2|\b[wW]o\b|4h_to_h", r"mlp$|feed|output",
    ),
)  # fmt: skip


def _within(name: str) -> tuple[int, int]:
    """The rank of an array in its layer, by its name: attention, that to an encoder, what comes after, all else."""
    name = re.sub(r"\.\w*drop(out)?$", "", name)  # a dropout ranks with what it drops
    for part, patterns in enumerate(_WITHIN):
        found = next((n for n, pattern in enumerate(patterns) if re.search(pattern, name)), None)
        if found is not None:
            return 2 * part or bool(re.search(r"cross|encoder_attn|EncDec", name)), found
    return 3, 0


def in_order(names: Sequence[str]) -> list[str]:
    """Names in the order of layers: what comes before them, layer after layer, and what comes after them.

    An encoder comes before its decoder, and, if the order of a dump does not tell, the parts of a module before it.
    """
    told = list(names) != sorted(names)  # else the order is the alphabet's, and tells nothing
    layered = [bool(re.search(r"\d", name)) for name in names]
    sides = [found[0] if (found := re.search(r"encoder|memory|decoder|cross", name)) else "" for name in names]
    of_two = {"encoder", "decoder"} <= set(sides)

    def key(i: int, name: str) -> tuple[Any, ...]:
        last = re.search(r"logits|lm_head|loss", name)  # after all layers, wherever the dump has it
        front = bool(re.search(r"emb|wte|wpe|position|shared|drop$", name)) or (
            told and not last and True not in layered[:i] and any(layered)
        )
        side = of_two and (sides[i] in ("decoder", "cross") or not (sides[i] or front))
        within = (0, 0) if told else _within(name)
        if states := re.search(r"hidden_states?[./_](\d{1,9})$", name):
            return side, (int(states[1]) - 1, math.inf), within, i  # what comes out of the layer before
        if numbers := re.findall(r"\d+" if told else r"^\D*\d+|(?<=\.)\d+(?=\.)", name):
            return side, tuple(int(re.sub(r"\D", "", n)[:9]) for n in numbers[: 1 if told else 2]), within, i
        if not any(layered):
            return side, (0,), (bool(last), within), i
        behind = not told and bool(re.search(r"(?i)norm|act|drop", name))
        return side, (-2 if front else math.inf,), (bool(last), behind), i

    keys = {name: key(i, name) for i, name in enumerate(names)}
    inner: dict[str, tuple[Any, ...]] = {}
    for name in () if told else reversed(names):  # the parts of a module before it
        keys[name] = (*max(keys[name], inner[name]), math.inf) if name in inner else keys[name]
        module = name
        while module := module.rpartition(".")[0]:
            inner[module] = max(inner.get(module, keys[name]), keys[name])
    return sorted(names, key=keys.__getitem__)


def _laid(array: Dumped, layout: str | None) -> Dumped:
    """The array with its heads in front of its tokens, if it was said that tokens come first."""
    if layout not in ("bnhd", "nhd") or len(array.shape) != len(layout):
        return array
    whole = array.read
    shape = (*array.shape[:-3], array.shape[-2], array.shape[-3], array.shape[-1])
    return array._replace(shape=shape, read=lambda place: np.asarray(whole(()).swapaxes(-3, -2)[place]))


def pieces(shape: Sequence[int]) -> Iterator[tuple[slice, ...]]:
    """The places of the pieces that make up an array, each with no more entries than are looked at at once."""
    if len(shape) < 2 or math.prod(shape) <= MOST_AT_ONCE:
        yield ()
        return
    rest = math.prod(shape[1:])
    step = max(1, MOST_AT_ONCE // max(rest, 1))
    for i in range(0, shape[0], step):
        here = slice(i, min(i + step, shape[0]))
        yield from ((here, *inner) for inner in pieces(shape[1:])) if rest > MOST_AT_ONCE else ((here,),)


def _judged(a: Dumped, b: Dumped, tolerance: Tolerance | None, dtype: str | None, before: list[float]) -> Compared:
    """What is found of a pair, if those `before` are so far off; a leading axis of 1 is a batch's and no difference."""
    a, b = _without_batch(a, b)
    allowed: Allowed | None = None
    if a.shape != b.shape:
        said = f"{list(a.shape)} and {list(b.shape)}"
        found = _explained(a, b, tolerance, dtype, before)
        return Compared(b.name, "shape", finding=f"{said}: {found}" if found else said)
    worst, largest, beyond, most, squares = 0.0, 0.0, 0, 0.0, 0.0
    at = (0,) * len(a.shape) if math.prod(a.shape) else None
    sums, ways = np.zeros(3), np.zeros(3)
    for place in pieces(b.shape):
        held = a.read(place), b.read(place)
        allowed = allowed or _allowed(a, b, *held, tolerance, dtype, before)
        with np.errstate(all="ignore"):
            x, y = (part.astype(np.float64) for part in held)
            off = _off(x, y)
            if all(part.dtype.kind in "iu" for part in held):  # beyond 2^53 these may differ where floats do not
                lost = (off == 0) & (held[0] != held[1])
                off[lost] = np.abs(np.subtract(*(part[lost].astype(object) for part in held)))
            parts = _parts(off, y)
            beyond += int(allowed.beyond(off, parts, y).sum())
            most, squares = max(most, float(parts.max(initial=0.0))), squares + float(np.square(parts).sum())
            here = float(off.max(initial=0.0))
            if here > worst:
                worst = here
                inside = np.unravel_index(int(off.argmax()), off.shape)
                begins = (*(part.start for part in place), *[0] * (off.ndim - len(place)))
                at = tuple(int(i + j) for i, j in zip(begins, inside, strict=True))
            largest = max(largest, float(np.abs(y[np.isfinite(y)]).max(initial=0.0)))
            sums += [np.vdot(x, y), np.vdot(x, x), np.vdot(y, y)]
            ways += [np.vdot(x - y, x - y), np.vdot(x - y, y), (x - y).sum()]
    mean = _mean(squares, math.prod(b.shape))
    if allowed and allowed.carried(mean, most) and not _is_one_way(ways, sums[2], math.prod(b.shape)):
        beyond = 0
        before += [mean] * bool(mean)
    verdict = "differs" if beyond else "within" if worst else "equal"
    with np.errstate(all="ignore"):
        cosine = _cosine(*sums) if sums[1] and sums[2] else float(verdict != "differs")
    relative = worst / largest if largest else (0.0 if not worst else math.inf)
    finding = _explained(a, b, tolerance, dtype, before) if beyond else ""
    return Compared(b.name, verdict, worst, relative, cosine, beyond / max(math.prod(b.shape), 1), at, finding)


def _is_one_way(ways: Array, size: float, many: int) -> bool:
    """Whether a difference is mostly a factor or a term, which noise never is.

    `ways` are its square, its product with the right array, and its sum; `size` is the square of the right array.
    """
    square, along, whole = ways
    return bool(max(along**2 / size if size else 0.0, whole**2 / max(many, 1)) > ONE_WAY * square)


def _cosine(product: float, square: float, other: float) -> float:
    """The cosine, from sums of products, without what rounding does: 1 for equal arrays, and never beyond."""
    if product == square == other:
        return 1.0 if math.isfinite(product) else math.nan
    return float(np.clip(product / np.sqrt(square) / np.sqrt(other), -1, 1))


def _without_batch(a: Dumped, b: Dumped) -> tuple[Dumped, Dumped]:
    while a.shape != b.shape and len(a.shape) != len(b.shape):
        if len(a.shape) > len(b.shape) and a.shape[0] == 1:
            a = _first(a)
        elif len(b.shape) > len(a.shape) and b.shape[0] == 1:
            b = _first(b)
        else:
            break
    return a, b


def _first(array: Dumped) -> Dumped:
    read = array.read
    return array._replace(shape=array.shape[1:], read=lambda place: np.asarray(read((slice(0, 1), *place))[0]))


def _off(x: Array, y: Array) -> Array:
    """How far entries lie apart: 0 for equal infinities and for two NaN, ∞ if only one of the two is finite."""
    off = np.abs(x - y)
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    return np.where(same, 0.0, np.where(np.isfinite(off), off, np.inf))


def _rows(y: Array) -> Array:
    """The largest entry of each entry's row."""
    size = np.where(np.isfinite(y), np.abs(y), 0.0)
    rows = size.max(axis=-1, keepdims=True, initial=0.0) if size.ndim else size
    return np.broadcast_to(np.maximum(rows, NEARLY_NOTHING * size.max(initial=0.0)), y.shape)


def _parts(off: Array, y: Array) -> Array:
    """How far entries lie apart, relative to the largest of their row."""
    return np.where(off > 0, off / _rows(y), 0.0)


def _mean(squares: float, many: int) -> float:
    return math.sqrt(squares / max(many, 1))


def _allowed(
    a: Dumped, b: Dumped, x: Array, y: Array, tolerance: Tolerance | None, dtype: str | None, before: Sequence[float]
) -> Allowed:
    """What is allowed by the coarser of two types: as stored, or as they seem to have been before they were widened."""
    types = [dtype or _type(each.stored, value) for each, value in ((a, x), (b, y)) if value.dtype.kind not in "biu"]
    noise = max((NOISE.get(name, ROUND_OFF) for name in types), default=0.0)
    unit = max((2.0 ** -(1 + PRECISIONS[name].bits) for name in types if name in PRECISIONS), default=0.0)
    return Allowed(tolerance, noise, max(float(np.median(before[-LATEST:])) if before else 0.0, unit))


def _type(stored: str, value: Array) -> str:
    """The type of an array, by its values where they tell: many of them, and not all of them whole."""
    finite = value[np.isfinite(value)]
    if finite.size < FEWEST_DUMPED or np.array_equal(finite, np.rint(finite)):
        return stored
    own = narrowest(value)
    return min((stored, own), key=list(PRECISIONS).index) if stored in PRECISIONS and own in PRECISIONS else stored


def _explained(a: Dumped, b: Dumped, tolerance: Tolerance | None, dtype: str | None, before: Sequence[float]) -> str:
    """What makes the first array the second: a layout, an order of heads, a factor, a term; "" where nothing does."""
    if math.prod(a.shape) != math.prod(b.shape) or math.prod(b.shape) > MOST_LAID_ANEW:
        return ""
    x, y = a.read(()).astype(np.float64), b.read(()).astype(np.float64)
    allowed = _allowed(a, b, x, y, tolerance, dtype, before)
    if (y == y.flat[0]).all():
        return ""  # any layout fits

    def fits(one: Array, other: Array) -> bool:
        with np.errstate(all="ignore"):
            return one.shape == other.shape and allowed.fit(one, other)

    if x.ndim > 1 and fits(x.swapaxes(-1, -2), y):
        return "the last two axes are swapped (one is transposed)"
    if x.ndim > 2:
        ours, theirs = ("bnhd", "bhnd") if x.ndim == 4 else ("nhd", "hnd")
        swapped, told = x.swapaxes(-3, -2), f"heads and tokens are swapped (one is {ours}, the other {theirs})"
        if fits(swapped, y):
            return told
        for laid, also in ((x, ""), (swapped, f"{told}, and ")):
            if laid.shape == y.shape and 1 < y.shape[-3] <= MOST_HEADS:
                order = _order(np.moveaxis(laid, -3, 0), np.moveaxis(y, -3, 0), fits)
                if order:
                    permuted = f"the heads are permuted: {' '.join(map(str, order))} in the order of the second dump"
                    return also + permuted
    if x.shape == y.shape and x.size >= FEW and np.isfinite(x).all() and np.isfinite(y).all():
        factor, term = float(np.vdot(x, y) / np.vdot(y, y)), float((x - y).mean())
        if factor and fits(x / factor, y):
            return "its signs are the other way round" if factor == -1 else f"it is {_times(factor)} the second"
        if fits(x - term, y):
            return f"it is the second {'plus' if term > 0 else 'less'} {abs(term):.4g}"
        return _columns(x, y, fits)
    return ""


def _columns(x: Array, y: Array, fits: Callable[[Array, Array], bool]) -> str:
    """The order in which the first array has the last axis of the second, in the longest blocks that stay whole."""
    size = y.shape[-1] if y.ndim > 1 else 0
    mine, theirs = (each.reshape(-1, max(size, 1))[:MOST_ROWS] for each in (x, y))
    if len(mine) < FEW or not 1 < size <= MOST_COLUMNS:
        return ""
    order = (np.square(mine).sum(axis=0)[:, None] - 2 * mine.T @ theirs).argmin(axis=0)  # the nearest column of each
    if not (np.diff(np.sort(order)) == 1).all() or not fits(x[..., order], y):
        return ""
    block = math.gcd(size, *(int(i) + 1 for i in np.flatnonzero(np.diff(order) != 1)))
    told = " ".join(str(int(i) // block) for i in order[: MOST_TOLD * block : block])
    more = " …" if size > MOST_TOLD * block else ""
    blocks = f" in blocks of {block}" if block > 1 else ""
    return f"its last axis is permuted{blocks}: {told}{more} in the order of the second dump"


def _another(
    a: Dumped, b: Mapping[str, Dumped], tolerance: Tolerance | None, dtype: str | None, before: Sequence[float]
) -> str:
    """Which other array of the second dump it is, as when layers are counted from 1, or two are confused."""
    for name, other in b.items():
        mine, theirs = _without_batch(a, other)
        if name != a.name and mine.shape == theirs.shape and FEW <= math.prod(mine.shape) <= MOST_LAID_ANEW:
            held = mine.read(()), theirs.read(())
            x, y = (part.astype(np.float64) for part in held)
            if np.ptp(y) and _allowed(mine, theirs, *held, tolerance, dtype, before).fit(x, y):
                return f"it is {visible(name, 60)} of the second dump"
    return ""


def _times(factor: float) -> str:
    """A factor in four digits; if it is nearly 1 or −1, by how much it differs from that."""
    told = f"{factor:.4g}"
    if abs(float(told)) != 1:
        return f"{told} times"
    beyond = abs(factor) - 1
    return f"{'−' * (factor < 0)}(1 {'+' if beyond > 0 else '−'} {abs(beyond):.2g}) times"


FEW = 4
"""With fewer entries, a factor or a term that makes one array the other says nothing."""


def _order(x: Array, y: Array, fits: Callable[[Array, Array], bool]) -> list[int] | None:
    """For each head of the second array, which one of the first it is; None if this is no permutation."""
    left = list(range(len(x)))
    order = []
    for head in y:
        which = next((i for i in left if fits(x[i], head)), None)
        if which is None:
            return None
        left.remove(which)
        order.append(which)
    return order


def compare(
    a: object,
    b: object,
    *,
    map: Mapping[str, str] | None = None,
    heads_layout: str | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    dtype: str | None = None,
) -> Comparison:
    """Two dumps beside one another: paths of files, traces, mappings of names to arrays, or arrays; `b` is right.

    `map` pairs names of `a` with those of `b`; `heads_layout` says how heads and tokens lie in `a`. With neither `rtol`
    nor `atol` an array is judged in the noise of the coarser of its two types, row by row, and of the arrays before it.
    """
    tolerance = None if rtol is None and atol is None else (rtol or 0.0, atol or 0.0)
    reading = Reading()
    return compared(_dump(a, reading), _dump(b, reading), map, tolerance=tolerance, layout=heads_layout, dtype=dtype)


def _dump(value: object, reading: Reading) -> dict[str, Dumped]:
    if isinstance(value, str | os.PathLike):
        return read_dump(os.fspath(value), reading)
    if isinstance(value, Trace):
        value = {step.key: step.value for step in value.steps if step.value is not None}
    if isinstance(value, Mapping):
        return {str(name): of_array(str(name), each) for name, each in value.items()}
    return {"": of_array("", value)}
