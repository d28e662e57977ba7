"""Who fills sheets up with one number, or leaves a cell blank: the one earns nothing, the other costs that cell."""

from __future__ import annotations

import numpy as np
from homework.problems import PROBLEMS
from rows import rows

import attncalc as ac
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.marking.marker import Marker
from attncalc.homework.reading.answers import Sheet, from_text
from attncalc.homework.reading.sheets import spelled
from attncalc.record.verdicts import MISTAKE, SOUND, UNEXPLAINED

EVERY = [(name, number, entry) for name in PROBLEMS for number in (0,) for entry in ("0", "0.00", "inf", "0.50", "1")]


@rows(
    ("name", "number", "entry"), EVERY, ids=[f"{n} {i} {e}" for n, i, e in EVERY], by=lambda name, number, entry: name
)
def test_one_number_in_every_cell_earns_nothing_but_where_it_is_right(name: str, number: int, entry: str) -> None:
    key = Key(PROBLEMS[name][number])
    shapes = {
        step: value.shape for step in key.steps if (value := key.value(step)) is not None and step not in key.complex
    }
    sheet = Sheet(
        {spelled(step): from_text([entry] * int(np.prod(shape)), shape, str) for step, shape in shapes.items()}
    )
    for step in Marker(key).mark(sheet).steps:
        expected = key.value(key.names.find(step.name))
        if step.verdict not in SOUND and expected is not None and np.unique(expected).size > 1:
            assert (step.score, "+" in (step.mistake or "")) == (0, False), (step.name, step.finding)
            assert step.verdict in (MISTAKE, UNEXPLAINED)


def test_what_follows_from_numbers_that_are_not_all_the_same_may_be_one_number() -> None:
    """Every score 0 gives equal weights."""
    trace = ac.attention([[1, 2], [0, 1]], [[1, 0], [3, 1]], [[1, 5], [2, 0]])
    told = trace.check({"scaled": [[1.5, 1.5], [2.5, 2.5]], "weights": [["0.500", "0.500"], ["0.500", "0.500"]]})
    assert told["weights"].verdict == "follows"
