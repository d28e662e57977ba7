"""attncalc/__init__.pyi, written from the declarations: what a type checker and an editor know of each calculation."""

from __future__ import annotations

import subprocess
import sys
from inspect import Parameter
from pathlib import Path

import attncalc
from attncalc.api.calling import signature
from attncalc.calculations import TABLE, WHOLE, load

STUB = Path(__file__).parents[1] / "attncalc/__init__.pyi"
HEAD = """\
# Written by docs/generate.py from the declarations of the calculations.
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Literal

from numpy.typing import DTypeLike

from attncalc import calculations as calculations
from attncalc.api.classes import grade as grade
from attncalc.api.loading import Model as Model
from attncalc.api.loading import load as load
from attncalc.api.quizzes import quiz as quiz
from attncalc.api.scoring import assert_close as assert_close
from attncalc.api.scoring import score as score
"""


def stub() -> str:
    """The file as it should be."""
    errors = "".join(
        f"from attncalc.common.errors import {name} as {name}\n"
        for name in vars(attncalc)["__all__"]
        if name not in RECORDS
    )
    records = "".join(f"from attncalc.record.trace import {name} as {name}\n" for name in RECORDS)
    types = "from attncalc.common.numerals import Number, Numbers\n"
    types += "from attncalc.homework.two_dumps import compare as compare\n"
    records += "from attncalc.record.verdicts import Policy as Policy\n"
    text = f"{HEAD}{errors}{types}{records}\n__version__: str\n\n" + "\n".join(map(_function, TABLE | WHOLE))
    ruff = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(STUB), "-"]
    return subprocess.run(ruff, input=text, stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout


RECORDS = ("Step", "Trace")


def _function(name: str) -> str:
    calculation = load(name)
    lines, starred = [], False
    for parameter in signature(calculation).parameters.values():
        if parameter.kind is Parameter.KEYWORD_ONLY and not starred:
            lines.append("*")
            starred = True
        default = "" if parameter.default is Parameter.empty else " = ..."
        lines.append(f"{parameter.name}: {parameter.annotation}{default}")
        opposite = parameter.name.removeprefix("no_")
        if opposite != parameter.name and parameter.annotation == "bool" and not calculation.option(opposite):
            lines.append(f"{opposite}: bool = ...")
    return f'def {name.replace("-", "_")}({", ".join(lines)},) -> Trace:\n    """{calculation.summary}"""\n'
