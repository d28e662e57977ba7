"""Dumps of ports of Mamba with a fault in its state: the step is told, and the mistake named."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkpoints import MODELS, computed, rewritten
from conftest import Run
from homework.test_model_dumps import continued, marker_of

import attncalc as ac
from attncalc.evaluate.precisions import held
from attncalc.homework.reading.sheets import from_python


def scan(decay: Any, added: Any, c: Any, *, before: bool = False) -> Any:
    """What each token reads of the states, or of the one before its own."""
    state, rows = np.zeros(decay.shape[1:]), []
    for share, new, asked in zip(decay, added, c, strict=True):
        earlier, state = state, share * state + new
        rows.append((earlier if before else state) @ asked)
    return np.stack(rows)


def in_a_state(fault: str, at: Any) -> tuple[str, Any]:
    """A step of Mamba's layer, and what a port with a fault makes of it, from the right steps before it."""
    x, delta, c, rates = at("x"), at("scan/durations"), at("c"), at("scan/rates")
    decay, added = at("scan/decay"), at("scan/added")
    if fault == "ssm-conv-looks-ahead":
        kernel, ahead = at.weight("kernel"), np.pad(at("inner"), ((0, 2), (0, 0)))
        return "convolved", sum(ahead[i : i + 6] * kernel[:, i] for i in range(3)) + at.weight("kernel_bias")
    if fault in ("ssm-conv-linear", "ssm-gate-linear", "gate-missing"):
        read = at("scan/output")
        return {
            "ssm-conv-linear": ("x", at("convolved")),
            "ssm-gate-linear": ("gated", read * at("gate")),
            "gate-missing": ("gated", read),
        }[fault]
    long = at("delta") if fault == "ssm-no-softplus" else delta
    turned = {"ssm-a-log-as-a": at.weight("a"), "ssm-a-log-positive": -rates}.get(fault, rates)
    if fault in ("ssm-no-softplus", "ssm-a-log-as-a", "ssm-a-log-positive"):
        decay = np.exp(long[..., None] * turned)
        added = long[..., None] * at("b")[:, None] * x[..., None]
    if fault == "ssm-zoh-for-euler":
        added = (decay - 1) / rates * at("b")[:, None] * x[..., None]
    if fault in ("ssm-no-state", "ssm-no-decay"):
        decay = np.full_like(decay, fault == "ssm-no-decay")
    if fault == "ssm-input-late":
        added = np.concatenate([0 * added[:1], added[:-1]])
    if fault == "ssm-added-without-delta":
        added = at("b")[:, None] * x[..., None]
    return "scan/output", scan(decay, added, c, before=fault == "ssm-read-before") + at.weight("skip") * x


FAULTS = """
    ssm-conv-looks-ahead ssm-conv-linear ssm-gate-linear gate-missing ssm-no-softplus ssm-a-log-as-a ssm-a-log-positive
    ssm-zoh-for-euler ssm-no-state ssm-no-decay ssm-input-late ssm-read-before ssm-added-without-delta
"""


class Within:
    """The right steps and the weights of a layer, by their names in its state's group."""

    def __init__(self, t: ac.Trace, layer: int) -> None:
        self.t, self.place = t, f"layer {layer}/ssm"

    def __call__(self, name: str) -> Any:
        return self.t[f"{self.place}/{name}"]

    def weight(self, name: str) -> Any:
        return self.t.inputs[f"{self.place}/{name}"].value


@pytest.mark.spread(3)
@pytest.mark.parametrize("fault", FAULTS.split())
@pytest.mark.parametrize("layer", [0, 1])
def test_a_fault_of_a_state_is_named_and_placed(fault: str, layer: int) -> None:
    t = computed("mamba")
    name, wrong = in_a_state(fault, Within(t, layer))
    group, _, last = f"layer {layer}/ssm/{name}".rpartition("/")
    steps = continued(t, {(group, last): wrong})
    marked = marker_of("mamba").mark(
        from_python({key: steps[key] for key in steps if key.endswith(("residual1", "logits"))})
    )
    at = f"layer {layer}/residual1"
    assert (marked.first_wrong, marked[at].mistake) == (at, fault)


@pytest.mark.thorough
@pytest.mark.parametrize("stored", ["bfloat16", "float16"])
@pytest.mark.parametrize("fault", [None, "ssm-no-skip"])
def test_what_is_kept_in_float32_has_the_noise_of_what_goes_into_it(stored: str, fault: str | None) -> None:
    """Mamba's residual stream is in float32 whatever the rest is in, and so is what its last norm makes of that."""
    t, right = computed("mamba", dtype=stored), computed("mamba")
    parts = {f"layer {i}/ssm/output": t[f"layer {i}/ssm/output"] for i in range(2)}
    if fault:
        at = Within(t, 1)
        lost = at.weight("skip") * at("x") * at("gate_activated")
        parts["layer 1/ssm/output"] = held(parts["layer 1/ssm/output"] - lost @ at.weight("wo"), stored)
    stream = np.cumsum([t["embedding/output"], *parts.values()], axis=0)[1:]
    last = (
        stream[-1] / np.sqrt((stream[-1] ** 2).mean(-1, keepdims=True) + 1e-5) * right.inputs["final norm/gamma"].value
    )
    dump = parts | {"layer 0/residual1": stream[0], "layer 1/residual1": stream[1], "final norm/output": last}
    marked = marker_of("mamba").mark(from_python({key: value.astype(np.float32) for key, value in dump.items()}))
    assert marked.first_wrong == (fault and "layer 1/ssm/output")


def test_modules_of_a_state_are_known_by_their_names() -> None:
    t = computed("mamba")
    hooked = {
        "backbone.embeddings": t["embedding/output"],
        "backbone.layers.1.norm": t["layer 1/norm1/output"],
        "backbone.layers.1.mixer.out_proj": t["layer 1/ssm/output"],
        "backbone.layers.0.mixer": t["layer 0/ssm/output"],
        "backbone.layers.0": t["layer 0/residual1"],
        "hidden_states.1": t["layer 1/residual1"],
        "hidden_states.2": t["final norm/output"],
        "lm_head": t["logits"],
    }
    marked = t.check({name: value[None] for name, value in hooked.items()})
    assert marked
    assert len(marked.steps) == len(hooked)


def test_a_state_is_kept_whatever_the_length_of_a_text(run: Run) -> None:
    info = json.loads(run("model", MODELS / "mamba", "--info", "-f", "json").stdout)
    assert info["kv_cache_bytes_per_token"] == 0
    assert info["state_bytes"] == 2 * 4 * 16 * (3 + 2)  # layers, bytes, channels; a state, and two tokens back
    page = run("model", MODELS / "mamba", "--info").stdout
    assert "x → norm1 → ssm → + residual" in page
    assert "however long the text is: 640" in page


@pytest.mark.parametrize(
    ("left_out", "said"), [("A_log", "A_log"), ("x_proj.weight", "x_proj"), ("norm.weight", "norm")]
)
def test_a_state_needs_what_it_is_kept_by(tmp_path: Path, left_out: str, said: str) -> None:
    def without(tensors: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in tensors.items() if not name.endswith(left_out)}

    with pytest.raises(ac.InputError, match=rf"{re.escape(left_out)}.* missing"):
        ac.load(rewritten(tmp_path, "mamba", without))
