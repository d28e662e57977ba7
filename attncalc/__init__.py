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
for tests and grading scripts. What a type checker reads of all this is in __init__.pyi.
"""

from __future__ import annotations

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

_HOMEWORK = {
    "Policy": "record.verdicts",
    "assert_close": "api.scoring",
    "compare": "homework.two_dumps",
    "grade": "api.classes",
    "load": "api.loading",
    "quiz": "api.quizzes",
    "score": "api.scoring",
}
"""What is loaded only by those who check answers, and where it is."""
_OF_A_TRACE = ("check", "grad")
"""What the command line has as a word before or behind a calculation, and Python as a method of its result."""
_PARTS = ("calculations",)
"""Modules that need no importing."""


def __getattr__(name: str) -> object:
    """A calculation by its name, `log_softmax` for `log-softmax`, or what else is public; only its module is loaded.

    Nothing is before that, so that the program's own start is over at once, and what follows can be interrupted.
    """
    from importlib import import_module

    if name == "__version__":
        from importlib import metadata

        return metadata.version("attncalc")
    if name in _PARTS:
        return import_module(f"attncalc.{name}")
    if name in (*__all__, *_HOMEWORK):
        home = _HOMEWORK.get(name) or ("record.trace" if name in ("Step", "Trace") else "common.errors")
        return getattr(import_module(f"attncalc.{home}"), name)
    from attncalc.calculations import ALIASES, TABLE, WHOLE

    if name.replace("_", "-") not in TABLE | WHOLE:
        if name[:1] == "_":  # a tool asks for those, and nobody who would want a hint
            raise AttributeError(f"attncalc has no {name}")
        from attncalc.cli.command import VERBS
        from attncalc.common.errors import near

        mend = near(name, [each.replace("-", "_") for each in (*__all__, *_HOMEWORK, *TABLE, *WHOLE)])
        if name in _OF_A_TRACE:
            mend = f"a trace has it, ac.softmax([1, 2]).{name}(…)"
        elif meant := ALIASES.get(name.replace("_", "-")):
            call, *option = (word.strip("-") for word in meant)
            chosen = f"(…, {option[0]}={option[1]!r})" if option else ""
            mend = f"did you mean {call.replace('-', '_')}{chosen}?"
        elif name in VERBS:
            mend = f"attncalc {name} is for the shell"
        raise AttributeError(f"attncalc has no calculation called {name!r}{mend and ': '}{mend}")
    return import_module("attncalc.api.calling").function(name.replace("_", "-"))


def __dir__() -> list[str]:
    from attncalc.calculations import TABLE, WHOLE

    return [*__all__, *_HOMEWORK, *(name.replace("-", "_") for name in TABLE | WHOLE)]
