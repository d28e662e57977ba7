"""Every known mistake in every tiny checkpoint: it is in each layer once, and where it changes results it is named."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkpoints import NAMES, computed, rewritten
from homework.test_model_dumps import marker_of, returned

from attncalc.homework.diagnosis.solutions import Solution
from attncalc.homework.reading.sheets import from_python
from attncalc.language.graph import Node, walk

SLICES = 8
"""So many tests share the mistakes of a model."""
APART = 1e-3
"""What changes an array by less, beside the largest entry of its row, may be noise of float32."""


def changes(wrong: Any, right: Any) -> bool:
    """Whether an array is visibly another one; what is infinite, or no number, is."""
    if wrong.shape != right.shape:
        return True
    both = np.isfinite(wrong) & np.isfinite(right)
    if (both != np.isfinite(right)).any():
        return True
    size = np.where(both, np.abs(right), 0).max(-1, keepdims=True, initial=0)
    return bool((np.abs(np.where(both, wrong - right, 0)) > APART * np.where(size > 0, size, 1)).any())


def fault_of(model: str, solution: Solution) -> str:
    """What is not told of a dump with a mistake; "" where it is named, at what it changes first or before that."""
    marker = marker_of(model)
    key, order = marker.key, [*marker.key.nodes]
    steps = {name: key.names.find(name) for name in returned(computed(model))}
    found = {name: key.value(step, solution) for name, step in steps.items()}
    dump = {name: value for name, value in found.items() if value is not None}
    changed = [steps[name] for name, value in dump.items() if changes(value, key.value(steps[name]))]
    if not changed:
        return ""
    with np.errstate(all="ignore"):
        marked = marker.mark(from_python({name: value.astype(np.float32) for name, value in dump.items()}))
    [mistake] = solution.mistakes
    first = min(changed, key=order.index)
    at = next(((one.finding, one.name) for one in marked.steps if one.mistake), None)
    if at is None:
        return f"{mistake.id}: nothing is named, and it is at {'/'.join(filter(None, first))}"
    told = (*at[0].mistakes, *at[0].also)
    if mistake.id not in told:
        return f"{mistake.id}: {', '.join(told)} is named"
    group, _, name = at[1].rpartition("/")
    return "" if order.index((group, name)) <= order.index(first) else f"{mistake.id}: it is named at {at[1]}"


@pytest.mark.release
@pytest.mark.spread(132)
@pytest.mark.parametrize("part", range(SLICES))
@pytest.mark.parametrize("model", NAMES)
def test_every_mistake_that_changes_what_a_model_returns_is_named(model: str, part: int) -> None:
    told = [fault_of(model, solution) for solution in marker_of(model).key.wrong[part::SLICES]]
    assert [fault for fault in told if fault] == []


EXCHANGED = [
    ("bart", "qkv-exchanged", "q_proj", "k_proj"),
    ("llama", "qkv-exchanged", "k_proj", "v_proj"),
    ("bert", "qkv-exchanged", "query", "value"),
    ("llama", "gate-up-swapped", "gate_proj", "up_proj"),
    ("opt", "weights-of-another-layer", "layers.0", "layers.1"),
    ("mamba", "weights-of-another-layer", "layers.0", "layers.1"),
    ("gpt2", "weights-of-another-layer", "h.0", "h.1"),
]


@pytest.mark.spread(4)
@pytest.mark.parametrize(("model", "mistake", "one", "other"), EXCHANGED)
def test_a_mistake_in_every_layer_is_in_what_the_next_layers_are_given(
    tmp_path: Path, model: str, mistake: str, one: str, other: str
) -> None:
    def exchanged(tensors: dict[str, Any]) -> dict[str, Any]:
        names = {name: name.replace(a, b) for name in tensors for a, b in ((one, other), (other, one)) if a in name}
        return {name: tensors[names.get(name, name)] for name in tensors}

    made = computed(model, rewritten(tmp_path, model, exchanged))["logits"]
    key = marker_of(model).key
    known = [solution for solution in key.wrong if solution.rules[0].id == mistake]
    found = [key.value(("", "logits"), solution) for solution in known]
    assert any(value is not None and np.allclose(value, made) for value in found)


@pytest.mark.thorough
@pytest.mark.spread(16)
@pytest.mark.parametrize("model", NAMES)
def test_a_mistake_changes_a_layer_once(model: str) -> None:
    key = marker_of(model).key
    order = {step: number for number, step in enumerate(key.nodes)}
    for solution in key.wrong:
        for step, node in solution.steps.items():
            given = [one for one in given_to(node, solution) if order.get(one.key, -1) < order.get(step, len(order))]
            assert [solution.steps[one.key] for one in given] == given, (solution.mistakes[0].id, step)


def given_to(step: Node, solution: Solution) -> list[Node]:
    """The steps of other layers that a step is made of, but for those behind other steps of its own layer."""
    layer = layer_of(step)

    def ends(node: Node) -> bool:
        is_another = node.op == "step" and node is not step
        return is_another and (layer_of(node) != layer or solution.steps.get(node.key) is node)

    met = walk(step, into=lambda node: () if ends(node) else node.sources)
    return [node for node in met if node.op == "step" and layer_of(node) != layer]


def layer_of(step: Node) -> str:
    """The layer of a step, or the part beside the layers."""
    found = re.match(r".*?layer \d+|[^/]*", step.key[0])
    assert found is not None
    return found[0]


@pytest.mark.thorough
def test_what_becomes_of_the_head_leaves_routers_as_they_are() -> None:
    key = marker_of("mixtral").key
    [untied] = [solution for solution in key.wrong if solution.mistakes[0].id == "untied-head"]
    routed = [step for step in key.nodes if step[0].endswith("feed-forward") and step[1] == "logits"]
    assert [untied.steps[step] for step in routed] == [key.nodes[step] for step in routed]
    assert untied.steps["", "logits"] is not key.nodes["", "logits"]
