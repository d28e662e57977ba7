"""The order and the signs of eigenvalues, singular values and their vectors, neither of which depends on rounding.

Vectors have unit length, and their largest entry by absolute value (the first of several) is positive. Values are
sorted by absolute value, largest first.
"""

from __future__ import annotations

import numpy as np

from attncalc.common.numerals import Array

TIE = 1e-10
"""Sizes that differ by less, relative to the largest, count as equal, so that rounding decides no order or sign."""


def sized(values: Array) -> list[int]:
    """The indices from the largest absolute value to the smallest; ties by real part, then by imaginary part."""
    sizes = np.abs(values)
    slack = TIE * np.max(sizes, initial=0.0)
    by_size = np.argsort(-sizes, kind="stable").tolist()
    order: list[int] = []
    while by_size:
        equal = [i for i in by_size if not sizes[by_size[0]] - sizes[i] > slack]
        order += sorted(equal, key=lambda i: (-values[i].real, -values[i].imag))
        by_size = by_size[len(equal) :]
    return order


def turned(vectors: Array) -> Array:
    """The factor for each column that makes its largest entry positive."""
    sizes = np.abs(vectors)
    largest = np.argmax(sizes >= (1 - TIE) * sizes.max(axis=0), axis=0)
    entries = np.take_along_axis(vectors, largest[None], axis=0)[0]
    return np.asarray(np.conj(entries) / np.abs(entries))
