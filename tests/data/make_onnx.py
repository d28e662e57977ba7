"""Makes onnx.json: what the reference implementation of ONNX's operators gives for small inputs, as witnesses.

    python -m venv /tmp/onnx && /tmp/onnx/bin/pip install onnx==1.23.2
    /tmp/onnx/bin/python tests/data/make_onnx.py

It is not needed to run the tests. Each entry holds a call of attncalc's, the operator, and its result in float64.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper
from onnx.reference import ReferenceEvaluator

OPSET = 24
Array = NDArray[Any]
rng = np.random.default_rng(0)


def numbers(*shape: int) -> Array:
    """Random numbers with two decimals."""
    return rng.normal(size=shape).round(2)


def worked(operator: str, *inputs: Array, **attributes: Any) -> Array:
    """The operator's first output."""
    names = [f"input{i}" for i in range(len(inputs))]
    node = helper.make_node(operator, names, ["output"], **attributes)
    kinds = [helper.np_dtype_to_tensor_dtype(value.dtype) for value in inputs]
    graph = helper.make_graph(
        [node],
        operator,
        [helper.make_tensor_value_info(n, kind, v.shape) for n, kind, v in zip(names, kinds, inputs, strict=True)],
        [helper.make_tensor_value_info("output", kinds[0], None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
    found: Array = ReferenceEvaluator(model).run(None, dict(zip(names, inputs, strict=True)))[0]
    return found


def attentions() -> list[dict[str, Any]]:
    q, k, v = numbers(1, 4, 3, 6), numbers(1, 2, 5, 6), numbers(1, 2, 5, 4)
    keep = np.array([[False] * 5, [True, False, True, True, False], [True] * 5])
    added = numbers(3, 5)
    ways: list[tuple[str, dict[str, Any], list[Array], dict[str, Any]]] = [
        ("shared key heads", {}, [], {}),
        ("causal, more keys than queries", {"causal": True}, [], {"is_causal": 1}),
        ("its own scale", {"scale": 0.25}, [], {"scale": 0.25}),
        ("a cap", {"softcap": 1.5}, [], {"softcap": 1.5}),
        ("a row that is masked throughout", {"mask": keep.astype(int).tolist()}, [keep], {}),
        ("a mask to add", {"mask": added.tolist()}, [added], {}),
        ("a cap, then a mask to add", {"mask": added.tolist(), "softcap": 1.5}, [added], {"softcap": 1.5}),
    ]
    operands = {"q": q.tolist(), "k": k.tolist(), "v": v.tolist()}
    return [
        entry("attention", name, "Attention", operands | ours, worked("Attention", q, k, v, *masks, **theirs))
        for name, ours, masks, theirs in ways
    ]


def rotations() -> list[dict[str, Any]]:
    x, places = numbers(1, 2, 3, 8), np.arange(3)[None]
    found = []
    for name, dims, ours in (
        ("half", 8, {"layout": "half"}),
        ("interleaved", 8, {"layout": "interleaved"}),
        ("the first four dimensions", 4, {"layout": "half", "dims": 4}),
    ):
        angles = np.arange(3)[:, None] * 10000.0 ** (-2 * np.arange(dims // 2) / dims)
        theirs = {
            "interleaved": int(ours["layout"] == "interleaved"),
            "rotary_embedding_dim": dims % 8,
        }  # 0 there: all of them
        result = worked("RotaryEmbedding", x, np.cos(angles), np.sin(angles), places, **theirs)
        found.append(entry("rope", name, "RotaryEmbedding", {"x": x.tolist(), **ours}, result))
    return found


def losses() -> list[dict[str, Any]]:
    logits, classes, weights = numbers(4, 5), np.array([0, 3, 1, 4]), np.array([0.5, 1, 2, 1.5, 0.25])
    ours = {"logits": logits.tolist(), "target": classes.tolist(), "class_weights": weights.tolist()}
    operator = "SoftmaxCrossEntropyLoss"
    return [
        entry(
            "cross-entropy",
            f"weighted, {reduction}",
            operator,
            ours | {"reduction": reduction},
            worked(operator, logits, classes, weights, reduction=reduction),
        )
        for reduction in ("mean", "sum", "none")
    ]


def layers() -> list[dict[str, Any]]:
    x, gain, shift = numbers(3, 6), numbers(6), numbers(6)
    image, kernel = numbers(2, 6, 7), numbers(3, 2, 3, 2)
    convolved = worked("Conv", image[None], kernel, strides=[2, 1], pads=[1, 0, 1, 0], dilations=[1, 2])[0]
    ours = {"x": image.tolist(), "kernel": kernel.tolist(), "stride": [2, 1], "padding": [1, 0], "dilation": [1, 2]}
    return [
        entry("softmax", "along rows", "Softmax", {"x": x.tolist()}, worked("Softmax", x)),
        entry("log-softmax", "along rows", "LogSoftmax", {"x": x.tolist()}, worked("LogSoftmax", x)),
        entry(
            "layernorm",
            "with gain and shift",
            "LayerNormalization",
            {"x": x.tolist(), "gamma": gain.tolist(), "beta": shift.tolist()},
            worked("LayerNormalization", x, gain, shift),
        ),
        entry(
            "rmsnorm",
            "ε = 1e-5",
            "RMSNormalization",
            {"x": x.tolist(), "gamma": gain.tolist(), "eps": 1e-5},
            worked("RMSNormalization", x, gain),
        ),
        entry("conv", "channels, strides, padding, dilation", "Conv", ours, convolved),
    ]


def entry(calculation: str, name: str, operator: str, call: dict[str, Any], result: Array) -> dict[str, Any]:
    return {"calculation": calculation, "name": name, "operator": operator, "call": call, "result": result.tolist()}


def main() -> None:
    """Write everything beside this file."""
    entries = [*attentions(), *rotations(), *losses(), *layers()]
    lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in entries)
    head = json.dumps({"onnx": onnx.__version__, "opset": OPSET})
    path = Path(__file__).with_name("onnx.json")
    path.write_text(f'{{"made_with": {head},\n"entries": [\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
