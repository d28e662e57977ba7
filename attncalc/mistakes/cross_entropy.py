"""Mistakes of cross-entropy that other losses share: in the shares, in a row's loss, in the logarithm."""

from __future__ import annotations

from attncalc.declare.mistake import Mistake, NotThere, Rule, Scope, chosen, like, parts, wrong
from attncalc.language.graph import Node, as_node
from attncalc.language.ops import log, mean, select, softmax, total, weigh

TWICE = "Are those scores, or are they probabilities already?"
SIGN = "Can a loss be below 0 here?"
SCORE = "Is that a score, or a probability?"
ORDER = "Which comes first: the logarithm, or the mean?"
BASE = "Which logarithm was asked for?"
AGAIN = "How many times is the slope of the softmax counted?"


def _target(s: Scope) -> Node:
    """The right classes, or their shares: a network calls them y."""
    return s.target if "target" in s else s.y


def _logits(s: Scope) -> Node:
    return parts(s.probabilities, "softmax")[0]


def _classes(s: Scope) -> bool:
    """Whether the targets are the numbers of classes."""
    return len(_target(s).axes) < len(s.probabilities.axes)


def _of_target(s: Scope, values: Node) -> Node:
    """The values at the right class, or their mean by the target's shares."""
    return select(values, _target(s)) if _classes(s) else total(weigh(like(_target(s), values), values))


def _exchanged(s: Scope) -> Node:
    if _classes(s):
        raise NotThere("shares")
    return -total(weigh(s.probabilities, log(like(_target(s), s.probabilities))))


def _two_sided(s: Scope) -> Node:
    """−Σ (y·ln p + (1 − y)·ln(1 − p)): a yes-or-no loss for every class."""
    p, rest = s.probabilities, log(1 - s.probabilities)
    return -(_of_target(s, log(p)) + total(rest) - _of_target(s, rest))


def _downwards(s: Scope) -> Node:
    """The softmax of each column."""
    (logits,) = parts(s.this, "softmax")
    if len(logits.axes) < 2:
        raise NotThere("rows")
    return softmax(logits, logits.names[-2])


DOWN_THE_COLUMNS = wrong(
    "ce-axis0", "probabilities", _downwards, says="the softmax down the columns", hint="What do the rows sum to?"
)

OF_SHARES = (
    wrong("ce-softmax-twice", "probabilities", lambda s: softmax(s.this), says="softmax of probabilities", hint=TWICE),
    DOWN_THE_COLUMNS,
)
"""Mistakes in the shares, whatever the loss."""

OF_ROWS = (
    *OF_SHARES,
    wrong("ce-no-minus", "losses", lambda s: -s.this, says="+ln p", hint=SIGN),
    wrong(
        "ce-swapped",
        "losses",
        _exchanged,
        says="−Σ p·ln y: the two are swapped",
        hint="Of which of the two is the logarithm taken?",
    ),
    wrong("ce-logit", "losses", lambda s: -_of_target(s, _logits(s)), says="−z of the right class", hint=SCORE),
    wrong(
        "ce-no-log",
        "losses",
        lambda s: 1 - _of_target(s, s.probabilities),
        says="1 − p in place of −ln p",
        hint="How large is the loss of what was thought impossible?",
    ),
    wrong(
        "ce-binary-all",
        "losses",
        _two_sided,
        says="a yes-or-no loss for every class, added up",
        hint="How many probabilities of each row enter the loss?",
    ),
    wrong(
        "ce-log-of-mean",
        "loss",
        lambda s: -log(mean(_of_target(s, s.probabilities))),
        says="−ln of the mean probability",
        hint=ORDER,
    ),
)
"""Mistakes in the shares and in the loss of a row."""


def _says_base(base: int) -> str:
    return f"the logarithm to the base {base}"


LOGARITHMS = tuple(
    wrong(
        f"ce-log{base}",
        options=chosen(base={other: base for other in ("e", 2, 10) if other != base}),
        says=_says_base(base),
        hint=BASE,
        kind="convention",
    )
    for base in (2, 10)
)
"""Another base of the logarithm, where an option sets it."""


def to_base(base: int, at: str, hint: str = BASE) -> Mistake:
    """Another base of the natural logarithms that a step holds."""
    return wrong(
        f"ce-log{base}",
        at,
        lambda s: s.this / log(as_node(base)),
        says=_says_base(base),
        hint=hint,
        kind="convention",
    )


def sloped_again(at: str, slope: Rule) -> tuple[Mistake, ...]:
    """That the slope p − y is taken through the softmax once more."""
    return (
        wrong(
            "ce-grad-again",
            at,
            lambda s: slope(s) * (s.probabilities * (1 - s.probabilities)),
            says="(p − y)·p(1 − p): the slope of the softmax is counted twice",
            hint=AGAIN,
        ),
        wrong(
            "ce-grad-again",
            at,
            lambda s: s.probabilities * (slope(s) - total(slope(s) * s.probabilities)),
            says="J(p − y): the Jacobian of the softmax once more",
            hint=AGAIN,
        ),
    )
