"""A text that is no number: whether it was meant as one, and how it is mended."""

from __future__ import annotations

import re

from attncalc.inputs.entries import BOOLEANS_HINT, GAPS_HINT, is_number

_MENDS = (
    ("", GAPS_HINT),
    (r"[−–—‐‑‒].*", "the minus sign is another character: write an ASCII -"),
    (r".*[√π∞].*", "write sqrt(2), pi, -inf"),
    (r"[$€£¥].*|.*[$€£¥]", "leave out the currency sign"),
    (r"[^\x00-\x7f]+", "digits are written 0 to 9"),
    (r"[+-]?\d*,\d+", "write a decimal point: 1.5; a table with decimal commas is read with --decimal ,"),
    (r"[^,]+(,[^,]+){2,}", "several numbers stand in one place: each row needs a line, or a list, of its own"),
    (r"[+-]?\d[\d.,\s']*", "write a number without blanks or separators: 1000"),
    (r"[+-]?\d[\d._]*", "write a number without underscores: 1000"),
    (r"[+-]?[\d.]+\s*%", "write a percentage as a decimal: 0.5 for 50%"),
    (r"[+-]?0[xXbBoO].*", "write the number in decimal digits"),
    (r"[+-]?[\d.]+[dD][+-]?\d+", "write the exponent with an e: 1e3"),
    (r"[+-]?[\d.]+[+-][\d.]*[ij]", "operands are real"),
    (r"[+-]?([OoIl]|(?=.*\d)[\dOoIl.]+)", "the letters O and l are not the digits 0 and 1"),
    (r"(?i:true|false)", BOOLEANS_HINT),
    (r"(?i:n/?a|none|null|-+|\?)", GAPS_HINT),
    (r"[A-Za-z_]\w*=.*", "leave out the name and its sign; an operand is named as --q 1,2"),
    (r"=.*", "save the values in place of the formulas"),
    (r".*[*^(].*", "an entry is a number, 1/3, sqrt(2) or pi: give the result of a formula"),
)


_MISSPELT = (
    r"(?=.*\d)(?!.*\d\s*[-/:]\s*\d)[\W\d_]+"  # digits and signs, but no date and no range: 1_000, 50%, $1, 1 000
    r"|[+-]?0[xX][0-9a-fA-F]+|[+-]?[\d.]+[dD][+-]?\d+|[+-]?[\d.]+[+-][\d.]*[ij]|=.*"
)


def is_misspelt(text: str) -> bool:
    """Whether a text that is no number was meant as one, so that it is not taken for a label or a name."""
    return len(text) < 200 and re.fullmatch(_MISSPELT, text) is not None and not is_number(text)


def mend(text: str) -> str:
    """The likely mend of a text that is no number, "" where there is none."""
    return next((mend for pattern, mend in _MENDS if re.fullmatch(pattern, text[:200], re.ASCII | re.DOTALL)), "")
