"""Makes training.json: what torch.optim and torch.nn give for small problems, as witnesses for the tests.

    python -m venv /tmp/torch && /tmp/torch/bin/pip install torch==2.13.0
    /tmp/torch/bin/python tests/data/make_training.py

PyTorch is not needed to run the tests. Everything is computed in float64.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from torch import nn

torch.set_default_dtype(torch.float64)

GRADIENTS = [[0.5, -2.0], [-0.6, 1.5], [0.7, 0.25], [-0.9, -1.0]]
START = [1.0, -3.0]
KINDS: dict[str, tuple[str, dict[str, Any], Any, dict[str, Any]]] = {
    # row → attncalc's kind and options, torch's class and arguments
    "gd": ("gd", {}, torch.optim.SGD, {}),
    "gd, decayed": ("gd", {"weight_decay": 0.2}, torch.optim.SGD, {"weight_decay": 0.2}),
    "momentum": ("momentum", {"momentum": 0.8}, torch.optim.SGD, {"momentum": 0.8}),
    "nesterov": ("nesterov", {"momentum": 0.8}, torch.optim.SGD, {"momentum": 0.8, "nesterov": True}),
    "adagrad": ("adagrad", {"eps": 0.2}, torch.optim.Adagrad, {"eps": 0.2}),
    "rmsprop": ("rmsprop", {"beta2": 0.95, "eps": 0.2}, torch.optim.RMSprop, {"alpha": 0.95, "eps": 0.2}),
    "adam": ("adam", {}, torch.optim.Adam, {}),
    "adam, tuned": (
        "adam",
        {"beta1": 0.8, "beta2": 0.95, "eps": 0.2, "weight_decay": 0.2},
        torch.optim.Adam,
        {"betas": (0.8, 0.95), "eps": 0.2, "weight_decay": 0.2},
    ),
    "adamw": (
        "adamw",
        {"beta1": 0.8, "beta2": 0.95, "eps": 0.2, "weight_decay": 0.2},
        torch.optim.AdamW,
        {"betas": (0.8, 0.95), "eps": 0.2, "weight_decay": 0.2},
    ),
}


def optimisers() -> dict[str, Any]:
    """The points after each step."""
    found = {}
    for row, (kind, options, make, arguments) in KINDS.items():
        point = torch.tensor(START, requires_grad=True)
        optimiser = make([point], lr=0.5, **arguments)
        points = []
        for gradient in GRADIENTS:
            point.grad = torch.tensor(gradient)
            optimiser.step()
            points.append(point.detach().tolist())
        found[row] = {"options": {"kind": kind, "lr": 0.5, **options}, "points": points}
    return found


def networks() -> dict[str, Any]:
    """Loss, gradients and new weights of a network after one step and after three."""
    x = torch.tensor([[1.0, 2], [-1, 0.5], [0.5, -1.5]])
    first, second = torch.tensor([[0.5, -0.3], [0.2, 0.8]]), torch.tensor([[1, -0.5], [0.3, -0.7]])
    b1, b2 = torch.tensor([0.1, -0.2]), torch.tensor([0.0, 0.1])
    bends = {"relu": torch.relu, "sigmoid": torch.sigmoid, "tanh": torch.tanh, "gelu": nn.functional.gelu}
    found: dict[str, Any] = {"x": x.tolist(), "w1": first.tolist(), "b1": b1.tolist()}
    found |= {"w2": second.tolist(), "b2": b2.tolist(), "cases": []}
    for loss, target in (("mse", [[1.0, 0], [0, 1], [1, 1]]), ("cross-entropy", [1, 0, 1])):
        for activation, bend in bends.items():
            for steps in (1, 3):
                weights = [part.clone().requires_grad_() for part in (first, b1, second, b2)]
                optimiser = torch.optim.SGD(weights, lr=0.5)
                for _ in range(steps):
                    optimiser.zero_grad()
                    out = bend(x @ weights[0] + weights[1]) @ weights[2] + weights[3]
                    # torch's own mse divides by the entries, and ours by the samples
                    value = (
                        ((out - torch.tensor(target)) ** 2).sum() / len(x)
                        if loss == "mse"
                        else nn.functional.cross_entropy(out, torch.tensor(target))
                    )
                    value.backward()
                    gradients = [part.grad.tolist() for part in weights]
                    optimiser.step()
                names = ("w1", "b1", "w2", "b2")
                known = {"loss": value.item()}
                known |= {f"grad_{n}": g for n, g in zip(names, gradients, strict=True)}
                known |= {f"new_{n}": part.detach().tolist() for n, part in zip(names, weights, strict=True)}
                options = {"loss": loss, "activation": activation, "steps": steps, "lr": 0.5}
                found["cases"].append({"y": target, "options": options, "known": known})
    return found


def schedules() -> dict[str, Any]:
    """Half a cosine without a warm-up: torch's first row is our step 0, which we do not show."""
    point = torch.zeros(1, requires_grad=True)
    optimiser = torch.optim.SGD([point], lr=0.1)
    plan = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, T_max=8)
    rates = []
    for _ in range(8):
        optimiser.step()
        plan.step()
        rates.append(plan.get_last_lr()[0])
    return {"options": {"kind": "cosine", "lr": 0.1, "steps": 8}, "lr": rates}


def main() -> None:
    """Write the file, a part a line."""
    parts = {
        "made_with": {"torch": torch.__version__},
        "gradients": GRADIENTS,
        "start": START,
        "optimisers": optimisers(),
        "networks": networks(),
        "schedule": schedules(),
    }
    lines = [f"{json.dumps(name)}: {json.dumps(part)}" for name, part in parts.items()]
    Path(__file__).with_name("training.json").write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
