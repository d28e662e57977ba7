"""Steps of a model by the names of others: of its modules, whose outputs were hooked, and of what it returns.

Which module is which is told by where its weights are stored: `model.layers.3.self_attn.q_proj.weight` is our
`layer 3/attention/wq`, so that what this module gives is the step `layer 3/attention/q`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from os.path import commonpath

from attncalc.declare.mistake import StepKey
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
    "feed-forward/w1": "feed-forward/hidden",
    "feed-forward/w3": "feed-forward/linear",
    "feed-forward/w2": "feed-forward/output",
    "embedding/table": "embedding/embeddings",
    "logits/weights": "logits",
}
"""A weight, and the step that its module gives; a gain's is the output of its norm."""
WHOLE = {
    "attention/output": ("attention/",),
    f"{CROSS}/output": (f"{CROSS}/",),
    "feed-forward/output": ("feed-forward/", "experts/"),
}
"""What a part of a layer gives, and where the weights are that its own module holds."""
NORMS = ("norm", "post-norm")
"""What may stand behind the last sum of a layer."""


def _plain(name: str) -> str:
    """A name without what wrappers put in front of it, and with dots between its parts."""
    return re.sub(r"^(?:(?:module|_orig_mod|model|transformer|gpt_neox|decoder)\.)+", "", re.sub(r"[/\\]", ".", name))


def by_module(inputs: Mapping[str, Given], steps: Collection[StepKey]) -> Callable[[str], StepKey | None]:
    """A name that hooks and outputs have in frameworks → our step, where there is one of it."""
    stored = {path: given.source.rpartition("#")[2] for path, given in inputs.items() if given.is_stored}
    known = {_plain(name): key for name, key in _named(stored, steps) if key in steps}
    return lambda name: known.get(_plain(name))


def _named(stored: Mapping[str, str], steps: Collection[StepKey]) -> Iterator[tuple[str, StepKey]]:
    for path, name in stored.items():
        module, end = re.sub(r"(\[[^\]]*\]|\.T)+\Z", "", name), ""
        module, _, end = module.rpartition(".")
        layer, inner = _parted(path)
        gives = GIVES.get(inner, inner.replace("/gamma", "/output") if inner.endswith("/gamma") else "")
        if gives and end == "weight" and "[" not in name:
            yield module, _key(layer, gives)
    for side in ("", "encoder/", "decoder/"):
        own = {path.removeprefix(side): name for path, name in stored.items() if path.startswith(side)}
        yield from _of_stack(side, own, list(steps))
        yield f"{side}embed_tokens", (f"{side}embedding", "embeddings")
    yield "encoder_last_hidden_state", ("", "memory")
    if not stored.get("logits/bias", HEAD).startswith(HEAD):
        return  # what the head gives is no step: a bias is added to it elsewhere
    yield HEAD, ("", "raw_logits" if ("", "raw_logits") in steps else "logits")


def _of_stack(side: str, stored: Mapping[str, str], steps: Sequence[StepKey]) -> Iterator[tuple[str, StepKey]]:
    """What the layers of a stack give, and what is returned of them; the stack lies in an encoder or a decoder."""
    layers = max((int(found[1]) for path in stored if (found := re.match(r"layer (\d+)/", path))), default=-1) + 1
    if not layers:
        return
    returned = side.replace("/", "_")
    for i in range(layers):
        own = {path.split("/", 1)[1]: name for path, name in stored.items() if path.startswith(f"layer {i}/")}
        parts = []
        for gives, places in WHOLE.items():
            names = [name for path, name in own.items() if path.startswith(places)]
            if names:
                parts.append(_above(names))
                yield parts[-1], _key(f"{side}layer {i}", gives)
        whole, layer = _above(parts), f"{side}layer {i}"
        for number, part in enumerate(parts, start=1):
            if part.startswith(f"{whole}.") and (above := part.rpartition(".")[0]) != whole:
                yield above, (layer, f"residual{number}")  # T5 has a module for each part with its norm and its sum
        ends = ((layer, f"residual{len(parts)}"), *((f"{layer}/{norm}{len(parts)}", "output") for norm in NORMS))
        behind = max((end for end in ends if end in steps), key=steps.index, default=ends[0])
        yield whole, behind
        yield re.sub(r"(\.\d+)\.[a-z]+\Z", r"\1", whole), behind  # its parts may lie in a list
        yield f"{returned}attentions.{i}", (f"{side}layer {i}/attention", "weights")
        yield f"cross_attentions.{i}", (f"{side}layer {i}/{CROSS}", "weights")
        yield f"{returned}hidden_states.{i + 1}", behind
    embedded = "embedding/norm" if "embedding/norm/gamma" in stored else "embedding"
    yield f"{returned}hidden_states.0", (f"{side}{embedded}", "output")
    if "final norm/gamma" in stored:
        yield f"{returned}hidden_states.{layers}", (f"{side}final norm", "output")


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
