"""What can go wrong, by whose fault it is.

    AttncalcError (a ValueError)      one clear line, and a hint where there is a likely mend
    ├── InputError                    your file or your words: what could not be read, and where
    ├── ShapeError                    your numbers: sizes or axes that do not fit together
    ├── DomainError                   your numbers: a value for which the calculation has no answer
    ├── OptionError                   your call: options that clash, or that are not there
    ├── ExpressionError               your formula: what is wrong with it, and at which character
    ├── NoGradient                    a result that jumps, so that it has no gradient
    ├── NotExact                      a limit of ours: no closed form, and the way round it
    ├── TooLarge                      a limit of the machine's: what does not fit in memory, and the way round it
    └── NoPicture                     a result of which there is nothing to draw

The inner layer raises the fact; the outer one adds the file, the operand or the step with `within`.
"""

from __future__ import annotations

from typing import Self


class AttncalcError(ValueError):
    """A fault that the caller can mend: `str(error)` is one line, `error.hint` the likely mend."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def within(self, place: str) -> Self:
        """The same error with the place in front: `q.json: row 2 has 3 entries`."""
        return type(self)(f"{place}: {self.message}", hint=self.hint)


class InputError(AttncalcError):
    """A file, a literal or a name that could not be read as an operand."""


class ShapeError(AttncalcError):
    """Sizes or axis names that do not fit together."""


class DomainError(AttncalcError):
    """Values for which the calculation has no answer: a zero vector, a row that is all −∞."""


class OptionError(AttncalcError):
    """Options that clash with each other, with the operands, or with the calculation."""


class ExpressionError(AttncalcError):
    """A typed formula that is outside the language, with the character where it leaves it."""


class NoGradient(AttncalcError):
    """A result that is chosen rather than computed (a ranking), so that it has no gradient."""


class NotExact(AttncalcError):
    """An exact or symbolic form that does not exist or is too large, with the way round it."""


EXACT_DIGITS = 1000
"""Exact numbers of more digits are refused: beyond that they take long, and nobody reads them."""
WITHOUT_EXACT = "without --exact any size will do"
"""The way round most limits of exact numbers."""


class TooLarge(AttncalcError):
    """A run that would take more memory than there is; refused before it starts."""


class NoPicture(AttncalcError):
    """A result of which there is nothing to draw: a single number, letters, complex numbers."""
