"""The hints that have numbers in them, and what these are held against."""

from __future__ import annotations

import numpy as np

from readback.claims import Cited, Claim, Holds, equal, more_alike, turned_a_quarter


def sum_to_zero() -> bool:
    """Whether the slopes of a softmax sum to 0."""
    p, slope = np.array([0.2, 0.3, 0.5]), np.array([1.0, -2.0, 0.5])
    return bool(abs((p * (slope - (p * slope).sum())).sum()) < 1e-12)


HINTS: dict[str, Claim] = {
    "Is the answer for two identical vectors 0, or 1?": equal("(v·v) / (√(v·v)·√(v·v))", "1"),
    "How far apart are (1, 0) and (0, 1)?": Cited("two lengths that are equal, of vectors that are apart"),
    "Are the columns of length 1 and at right angles to one another?": Cited("then no inverse would be needed"),
    "Does a temperature above 1 make the shares more alike, or less?": Holds(more_alike),
    "What is any number to the power 0?": equal("e^0", "1"),
    "Do the rows of dS sum to 0?": Holds(sum_to_zero),
    "Can the logarithm of a share be above 0?": equal("ln(1)", "0"),
    "Can a loss be below 0 here?": equal("−ln(1)", "0"),
    "Can a mean of squares be below 0?": Cited("a square is not negative"),
    "What does the code of 0 stand for?": Cited("the code that is 0, whatever the scale is"),
    "Which code has 0?": Cited("the number 0, which a zero point gives a code of its own"),
    "Which power of 2 is in the largest entry, and which in the largest code?": Cited("the base of the exponents"),
    "Can a share be below 0?": equal("e^(−∞)", "0"),
    "Can an entropy be below 0?": equal("−ln(1)", "0"),
    "Which of the two makes these observations most likely: n, or n − 1?": Cited("both divisors"),
    "Do the weights of a row still sum to 1?": equal("Σ softmax(v)", "1"),
    "Who shares out the 100 %: each query, or each key?": Cited("the whole"),
    "Does each row still sum to 1?": equal("Σ softmax(v)", "1"),
    "For which infinity is e^x 0?": equal("e^(−∞)", "0"),
    "Does a 1 in the mask mean keep, or hide?": Cited("a mask is made of 0 and 1"),
    "Do the rows still sum to 1?": equal("Σ softmax(v)", "1"),
    "By which angle does the first pair turn at position 1?": Cited("the first position that turns: by 1 radian"),
    "Along which axis do the weights sum to 1?": equal("Σ softmax(v)", "1"),
    "Over which keys do the weights of a query sum to 1: those of a block, or all of them?": equal("Σ softmax(v)", "1"),
    "What stands in column 1?": Cited("a column that the two layouts fill differently"),
    "What stands at position 0 in column 1?": equal("cos(0)", "1"),
    "What stands in column 0 at position 0?": Cited("sin 0 stands there, and cos 0 if they are exchanged"),
    "Turn (1, 0) by 90° in your head: where does it point?": Holds(turned_a_quarter),
    "Does position 0 turn anything?": Cited("the position that does not turn"),
    "Is the first slope 1?": Cited("2⁰, the slope of a head that is counted from 0"),
    "Can an entry of a state be below 0?": equal("tanh(−∞)", "−1"),
    "Which of the gates may be below 0?": equal("σ(−∞)", "0", "tanh(−∞)", "−1"),
    "Does z near 1 keep the old state here, or take the new one?": Cited("the largest that a gate can be"),
    "Can a probability be below 0, or above 1?": equal("σ(−∞)", "0", "σ(∞)", "1"),
    "Just after 0, does the sine rise or fall? And the cosine?": equal("sin(0)", "0", "cos(0)", "1"),
    "Is iteration 0 the start, or an update?": Cited("the number of the start, as its step's reason says"),
    "The moments start at 0. Are they fair averages at t = 1?": Cited("the first step's formula has the 0"),
    "What is 0^(−1/2)?": equal("1 / √0", "∞"),
    "Which w2 did the forward pass use?": Cited("a matrix by its name"),
    "Which side of w2 has the size of δ₂?": Cited("a matrix by its name"),
    "What went into layer 2?": Cited("a layer by its number"),
    "Is this matrix stored [in, out], as a Conv1D's, or [out, in], as a Linear's?": Cited("the name of a class"),
}
