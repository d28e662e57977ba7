"""What a teacher would say beside a calculation, as records: a lesson, and the mistakes that it warns of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Pitfall(NamedTuple):
    """A way in which a calculation is often done wrong."""

    id: str  # "att-no-scale"
    says: str  # the wrong rule as one would write it down: "softmax(Q·Kᵀ)·V"
    hint: str  # a question that leads back to the right one
    at: tuple[str, ...]  # the steps, or operands, that it spoils; () where it is a wrong option


class Lesson(NamedTuple):
    """What a teacher would say beside a calculation, for those who ask."""

    about: tuple[str, ...]  # the formula, shapes and conventions, a paragraph each
    steps: Mapping[str, tuple[str, ...]]  # a step's key → what is said below it; of each primitive once
    laws: tuple[str, ...]  # what always holds
    mistakes: tuple[Pitfall, ...]  # the commonest first
