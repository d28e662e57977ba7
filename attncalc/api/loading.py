"""Checkpoints from Python: `m = ac.load("folder")`, and `m([15496, 995])` is a trace."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

from attncalc.api.calling import function
from attncalc.common.numerals import Numbers
from attncalc.inputs.checkpoints import read_checkpoint
from attncalc.inputs.reading import Reading
from attncalc.record.trace import Trace


class Model:
    """A checkpoint whose configuration has been read; its weights are read when a text is computed."""

    path: str
    info: Mapping[str, Any]
    """What `attncalc model FOLDER --info` tells: architecture, layers, options, parameters, costs."""

    def __init__(self, path: str, info: Mapping[str, Any]) -> None:
        self.path, self.info = path, info

    def __call__(
        self, tokens: Numbers, targets: Numbers | None = None, *, decoder_tokens: Numbers | None = None, **options: Any
    ) -> Trace:
        """The trace of a text: `t["logits"]`, `t["layer 3/attention/weights"]`, `t.grad(wrt="layer 0/attention/wq")`.

        The options are those of the command, which overrule what the checkpoint says: `generate=5`, `softcap=30`. Where
        there are an encoder and a decoder, the decoder's tokens are what it has written of those that are read.
        """
        return function("model")(self.path, tokens, targets, decoder_tokens=decoder_tokens, **options)

    def __repr__(self) -> str:
        return f"<{self.info['architecture']}: {self.info['parameters']:,} parameters, from {self.path}>"


def load(path: str | PathLike[str]) -> Model:
    """The model in a folder as Hugging Face's libraries write it: config.json and safetensors.

    Raises an InputError for what no table of an architecture says; nothing of the checkpoint is run.
    """
    folder = fspath(path)
    return Model(folder, read_checkpoint(folder, Reading()).info())
