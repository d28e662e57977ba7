"""Steps are found by the names that sheets give them, and what is near a wrong name is told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attncalc.common.errors import InputError
from attncalc.common.text import listed, near, quoted
from attncalc.declare.mistake import StepKey

MOST_LISTED = 12


def spelled(step: StepKey) -> str:
    """How a step is asked for: `GROUP/NAME`, or the bare name at the top."""
    return "/".join(part for part in step if part)


class StepNames:
    """The names of the steps of one problem."""

    def __init__(self, problem: str, every: Iterable[StepKey], shown: Sequence[StepKey], result: StepKey) -> None:
        self.problem = problem  # what it is called
        self._by_name = {spelled(step): step for step in every}
        self._shown = [spelled(step) for step in shown]
        self._result = result

    def find(self, name: str) -> StepKey:
        """The step of that name, `GROUP/NAME` or bare; "" and `result` are the result."""
        found = self.meant(name)
        if len(found) == 1:
            return found[0]
        if found:
            raise InputError(f"{quoted(name)} occurs in several groups: {listed(map(spelled, found), MOST_LISTED)}")
        raise InputError(f"{self.problem} has no step {quoted(name)}", hint=self.near(name) or self.has)

    def meant(self, name: str) -> list[StepKey]:
        """The steps that a name may mean: one, none, or those of several groups."""
        if name in self._by_name:
            return [self._by_name[name]]
        if name in ("", "result"):
            return [self._result]
        by_name = self._by_name.items()
        return [step for full, step in by_name if step[1] == name or full.casefold() == name.casefold()]

    def near(self, name: str) -> str:
        """Which steps may have been meant by a name that none has; "" where none is near."""
        return near(name, self._shown)

    @property
    def has(self) -> str:
        """Which steps there are: `it has scores, scaled, weights, output`."""
        return f"it has {listed(self._shown, MOST_LISTED)}"
