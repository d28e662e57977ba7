"""The order and the signs of what matrices are taken into: neither depends on rounding.

Vectors have unit length and their largest entry by absolute value is positive (of several, the first); values are
sorted by their size, largest first.
"""

from __future__ import annotations

import numpy as np

from attncalc.common.numerals import Array

TIE = 1e-10
"""Sizes that differ by less, relative to the largest, are equal: rounding does not decide an order or a sign."""


def sized(values: Array) -> list[int]:
    """The order from the largest to the smallest; among equal sizes by real part, then by imaginary part."""
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
    """What to multiply each column by, so that its largest entry becomes positive."""
    sizes = np.abs(vectors)
    largest = np.argmax(sizes >= (1 - TIE) * sizes.max(axis=0), axis=0)
    entries = np.take_along_axis(vectors, largest[None], axis=0)[0]
    return np.asarray(np.conj(entries) / np.abs(entries))
