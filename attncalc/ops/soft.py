"""The softmax along an axis, and the soft maximum that it is the slope of: logsumexp."""

from __future__ import annotations

import numpy as np

from attncalc.arrays import Array
from attncalc.cells import At, Cell, Form, Literal, Look, along, pick
from attncalc.graph import OPS, Node, Op
from attncalc.ops import kernels
from attncalc.ops.functions import beside, exp, log, softmax, total
from attncalc.ops.kernels import is_exact
from attncalc.ops.sums import axis_of, drop, keep, named, source_axes


def _softmax(node: Node, x: Array) -> Array:
    axis = axis_of(node)
    if is_exact(x):
        exponentials = kernels.exp(x)
    else:
        top = np.max(x, axis=axis, keepdims=True)
        exponentials = x - np.where(np.isfinite(top), top, 0)
        np.exp(exponentials, out=exponentials)
    sums = np.sum(exponentials, axis=axis, keepdims=True)
    # A row that is −∞ throughout mixes nothing: its weights are 0, as in PyTorch's attention and ONNX's.
    return np.asarray(exponentials / np.where(sums == 0, 1, sums))


def _softmax_cell(node: Node, at: At, look: Look) -> Cell:
    row = along(node, node.args["over"], at)
    if all(look(0, entry.at) == -np.inf for entry in row):
        return Literal("all masked")
    return Form("/", (Form("exp", (pick(node, 0, at),)), Form("+", tuple(Form("exp", (x,)) for x in row))))


def _log_sum_exp(node: Node, x: Array) -> Array:
    axis = axis_of(node)
    if is_exact(x):
        return np.asarray(kernels.log(np.asarray(np.sum(kernels.exp(x), axis=axis))))
    top = np.max(x, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    sums = np.sum(np.exp(x - top), axis=axis)
    return np.asarray(np.log(sums) + np.squeeze(top, axis=axis))


def _log_sum_exp_cell(node: Node, at: At, look: Look) -> Cell:
    row = along(node, node.args["over"], at)
    return Form("ln", (Form("+", tuple(Form("exp", (x,)) for x in row)),))


OPS |= {
    "softmax": Op(
        _softmax,
        keep,
        cell=_softmax_cell,
        vjp=lambda g, y, node, x: [y * (g - total(g * y, node.args["over"]))],
        because="the shares of a row sum to 1, so only differences from the row's weighted mean gradient count",
        about="e^x makes every score positive, and dividing by the sum makes shares of them. Only differences count: a "
        "score that is 1 above another gets e ≈ 2.718 times its share. The sum runs along one axis only, the last one "
        "unless a subscript names another: in a table each row sums to 1, a column need not.",
        body=lambda node, x: (e := exp(x)) / total(e, node.args["over"]),
        flops=5,  # a maximum, a difference, an exponential, a sum and a quotient
        twice=True,
        **named("softmax", r"\operatorname{softmax}"),
    ),
    "log_sum_exp": Op(
        _log_sum_exp,
        drop,
        cell=_log_sum_exp_cell,
        vjp=lambda g, y, node, x: [beside(g, x) * softmax(x, node.args["over"])],
        because="the slope of ln Σ exp is the softmax",
        about="logsumexp is a soft maximum: never below the largest entry, and above it by at most ln n, when all n "
        "are equal.",
        body=lambda node, x: log(total(exp(x), node.args["over"])),
        flops=4,  # a maximum, a difference, an exponential and a sum
        places=source_axes,
        twice=True,
        **named("logsumexp", r"\operatorname{logsumexp}"),
    ),
}
