"""v2 §3.3 and DUAT §3.1, Eq. 6 (row feed-forward.not-elementwise): σ(Y)′ = σ(Y′), read for σ = softmax.

On tokens softmax makes the features of each token a distribution.  On the column Y′ it is of each row, which has one
element, or of the whole column: either is wrong for some Y of zeros.
"""

from fractions import Fraction

import numpy as np


def softmax_of_zeros(rows: int, columns: int) -> np.ndarray:
    """Each row of zeros becomes 1 / columns, exactly."""
    return np.full((rows, columns), Fraction(1, columns))


def show(reading: str, true: np.ndarray, printed: np.ndarray) -> None:
    """Both columns; stops if they are equal."""
    print(f"{reading}: true {[str(v) for v in true.ravel()]}, printed {[str(v) for v in printed.ravel()]}")
    if np.array_equal(true.ravel(), printed.ravel()):
        raise SystemExit(f"no counterexample {reading}: both are equal")


show("of each row of the column, N = 1, M = 2", softmax_of_zeros(1, 2), softmax_of_zeros(2, 1))
show("of the whole column, N = 2, M = 1", softmax_of_zeros(2, 1), softmax_of_zeros(1, 2))
