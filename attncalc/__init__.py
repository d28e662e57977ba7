"""attncalc: the mathematics of transformers, worked out step by step.

Every calculation is a function that takes arrays and returns a Trace:

    >>> import attncalc as ac
    >>> t = ac.softmax([1, 2, 3])
    >>> t.result.round(4)
    array([0.09  , 0.2447, 0.6652])
    >>> t["exponentials"].round(4)
    array([0.1353, 0.3679, 1.    ])

`t.steps` are the intermediate values with their formulas and reasons, `t.grad(upstream=…)` is the backward pass.
`t.check(answer)` names the mistake behind a wrong answer; `ac.assert_close(t, answer)` and `ac.score(t, answer)` are
for tests and grading scripts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attncalc.homework import assert_close as assert_close
    from attncalc.homework import score as score

from attncalc.calculations import TABLE
from attncalc.errors import (
    AttncalcError,
    DomainError,
    ExpressionError,
    InputError,
    NoGradient,
    NotExact,
    OptionError,
    ShapeError,
    TooLarge,
)
from attncalc.trace import Step, Trace

__all__ = [
    "AttncalcError",
    "DomainError",
    "ExpressionError",
    "InputError",
    "NoGradient",
    "NotExact",
    "OptionError",
    "ShapeError",
    "Step",
    "TooLarge",
    "Trace",
]


_HOMEWORK = ("assert_close", "score")
"""What is loaded only by those who check answers."""


def __getattr__(name: str) -> Any:
    """A calculation by its name, `log_softmax` for `log-softmax`; only its own module is imported."""
    if name == "__version__":
        from importlib import metadata

        return metadata.version("attncalc")
    if name in _HOMEWORK:
        from attncalc import homework

        return getattr(homework, name)
    if name.replace("_", "-") not in TABLE:
        raise AttributeError(f"attncalc has no calculation called {name!r}")
    from attncalc.calculations import load as calculation

    return calculation(name.replace("_", "-"))


def __dir__() -> list[str]:
    return [*__all__, *_HOMEWORK, *(name.replace("-", "_") for name in TABLE)]
