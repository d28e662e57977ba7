"""Steps of a model by the names of others: of its modules, whose outputs were hooked, and of what it returns.

Which module is which is told by where its weights are stored: `model.layers.3.self_attn.q_proj.weight` is our
`layer 3/attention/wq`, so that what this module gives is the step `layer 3/attention/q`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from os.path import commonpath

from attncalc.declare.mistake import StepKey
from attncalc.record.trace import Given

GIVES = {
    "attention/wq": "attention/q",
    "attention/wk": "attention/k",
    "attention/wv": "attention/v",
    "attention/wo": "attention/output",
    "feed-forward/w1": "feed-forward/hidden",
    "feed-forward/w3": "feed-forward/linear",
    "feed-forward/w2": "feed-forward/output",
    "embedding/table": "embedding/embeddings",
    "logits/weights": "logits",
}
"""A weight, and the step that its module gives; a gain's is the output of its norm."""
WHOLE = {"attention/output": ("attention/",), "feed-forward/output": ("feed-forward/", "experts/")}
"""What a part of a layer gives, and where the weights are that its own module holds."""


def _plain(name: str) -> str:
    """A name without what wrappers put in front of it, and with dots between its parts."""
    return re.sub(r"^(?:(?:module|_orig_mod|model|transformer|gpt_neox|decoder)\.)+", "", re.sub(r"[/\\]", ".", name))


def by_module(inputs: Mapping[str, Given], steps: Collection[StepKey]) -> Callable[[str], StepKey | None]:
    """A name that hooks and outputs have in frameworks → our step, where there is one of it."""
    stored = {path: given.source.rpartition("#")[2] for path, given in inputs.items() if given.is_stored}
    known = {_plain(name): key for name, key in _named(stored) if key in steps}
    return lambda name: known.get(_plain(name))


def _named(stored: Mapping[str, str]) -> Iterator[tuple[str, StepKey]]:
    layers = max((int(found[1]) for path in stored if (found := re.match(r"layer (\d+)/", path))), default=-1) + 1
    if not layers:
        return
    for path, name in stored.items():
        module, end = re.sub(r"(\[[^\]]*\]|\.T)+\Z", "", name), ""
        module, _, end = module.rpartition(".")
        layer, inner = _parted(path)
        gives = GIVES.get(inner, inner.replace("/gamma", "/output") if inner.endswith("/gamma") else "")
        if gives and end == "weight" and "[" not in name:
            yield module, _key(layer, gives)
    for i in range(layers):
        own = {path.split("/", 1)[1]: name for path, name in stored.items() if path.startswith(f"layer {i}/")}
        parts = []
        for gives, places in WHOLE.items():
            names = [name for path, name in own.items() if path.startswith(places)]
            parts.append(_above(names))
            yield parts[-1], _key(f"layer {i}", gives)
        yield _above(parts), (f"layer {i}", "residual2")
        yield f"attentions.{i}", (f"layer {i}/attention", "weights")
        yield f"hidden_states.{i + 1}", (f"layer {i}", "residual2")
    yield "hidden_states.0", ("embedding/norm" if "embedding/norm/gamma" in stored else "embedding", "output")
    if "final norm/gamma" in stored:
        yield f"hidden_states.{layers}", ("final norm", "output")


def _above(names: list[str]) -> str:
    """The module that holds all of these."""
    return commonpath([name.replace(".", "/") for name in names]).replace("/", ".")


def _parted(path: str) -> tuple[str, str]:
    """`layer 3/attention/wq` → ("layer 3", "attention/wq")."""
    layer, _, inner = path.partition("/")
    return (layer, inner) if layer.startswith("layer ") else ("", path)


def _key(layer: str, step: str) -> StepKey:
    group, _, name = step.rpartition("/")
    return "/".join(filter(None, (layer, group))), name
