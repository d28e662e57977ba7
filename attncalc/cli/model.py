"""`model CHECKPOINT --info`: what a checkpoint is, before anything is computed."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attncalc.cli import output
from attncalc.cli.settings import Settings
from attncalc.common.errors import OptionError, either
from attncalc.inputs.checkpoints import read_checkpoint
from attncalc.inputs.reading import Reading
from attncalc.inputs.vocabularies import encoded
from attncalc.render import pages_and
from attncalc.render.page import Heading, Page, Paragraph, Part, Row, Rows, write

FORMATS = pages_and("json")
DRAWN = {
    "pre": ("norm{0}", "{1}", "+ residual"),
    "post": ("{1}", "+ residual", "norm{0}"),
    "sandwich": ("norm{0}", "{1}", "post-norm{0}", "+ residual"),
    "both": ("norm{0}", "{1}", "+ residual", "post-norm{0}"),
    "after": ("{1}", "norm{0}", "+ residual"),
}
"""What a part of a layer goes through, by where its norm stands."""
PARTS, WITH_MEMORY = ("attention", "feed-forward"), ("attention", "cross-attention", "feed-forward")
REMEMBERING = ("ssm",)
"""The parts of a layer, of a decoder's layer that looks at an encoder's result, and of a layer with a state."""


def inform(words: Sequence[str], chosen: Settings) -> int:
    """Tell what a checkpoint is: its options, one of its layers, its parameters by part, and what a token costs."""
    if not words:
        raise OptionError("model --info needs a checkpoint", hint="attncalc model FOLDER --info")
    if chosen.target.format not in FORMATS:
        raise OptionError(f"--info is written as {either(FORMATS)}, not {chosen.target.format}")
    info = read_checkpoint(words[0], Reading()).info()
    if chosen.target.format == "json":
        output.deliver(json.dumps(info, indent=1) + "\n", chosen.target.path)
    else:
        page = Page("model", tuple(_blocks(info)))
        output.write_page(str(write(page, chosen.target.format, chosen.view)), chosen.target.path)
    return 0


def with_text(words: Sequence[str], own: Mapping[str, Any]) -> list[str]:
    """The words of a call with a text's tokens behind the checkpoint."""
    checkpoint = [own["checkpoint"]] if own.get("checkpoint") else list(words[:1])
    if not checkpoint:
        raise OptionError("--text needs a checkpoint, whose tokenizer makes tokens of it")
    if own.get("tokens") is not None or len(words) > 1:
        raise OptionError("--text stands in place of the tokens: give only one of them")
    return [*words, encoded(checkpoint[0], own["text"])]


def _blocks(info: dict[str, Any]) -> Iterator[Any]:
    yield Heading("model")
    yield Paragraph(f"{info['architecture']}: {info['layers']} layers, {info['parameters']:,} parameters")
    two = info["options"].get("kind") == "encoder-decoder"
    said = tuple(Row((name, _word(value))) for name, value in info["options"].items())
    yield Part("section", Heading("Options"), (Rows("the options", ("option", "value"), said),))
    drawn: dict[str, tuple[str, ...]] = {"One layer": REMEMBERING if "state_bytes" in info else PARTS}
    if two:
        drawn = {"One layer of the encoder": PARTS, "One layer of the decoder": WITH_MEMORY}
    for heading, inside in drawn.items():
        yield Part("section", Heading(heading), (Paragraph(" → ".join(_layer(info["options"], inside))),))
    parts = tuple(Row((name, f"{count:,}")) for name, count in info["parts"].items())
    yield Part("section", Heading("Parameters"), (Rows("the parameters", ("part", "parameters"), parts),))
    told = {
        "bytes of keys and values kept": info["kv_cache_bytes_per_token"],
        **({"the same of a token that was read": info["kv_cache_bytes_per_token_read"]} if two else {}),
        "operations, forward: 2·N": info["flops_per_token"],
        "operations, in training: 6·N": info["training_flops_per_token"],
    }
    costs = tuple(Row((name, f"{count:,}")) for name, count in told.items())
    yield Part("section", Heading("What a token costs"), (Rows("the costs", ("what", "each token"), costs),))
    if "state_bytes" in info:
        yield Paragraph(f"bytes of the state, however long the text is: {info['state_bytes']:,}")


def _layer(options: dict[str, Any], inside: Sequence[str]) -> Iterator[str]:
    """The parts of a layer, one after the other."""
    if options.get("parallel"):
        yield from ("x", "norm", "attention beside feed-forward", "+ residual")
        return
    place = options.get("norm_at") or "pre"
    yield "x"
    for number, part in enumerate(inside, start=1):
        yield from (word.format(number, part) for word in DRAWN[place])


def _word(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value).lower()
