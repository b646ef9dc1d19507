"""Padding: the tokens that short texts of a batch are filled up with, and whether a batch is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Padding:
    """What a config says of tokens that are no words.

    ``token`` stands for padding and nothing else.  ``ends`` end a text; tokenizers without a padding token are given
    one of these.
    """

    token: int | None = None
    ends: tuple[int, ...] = ()

    def fills(self, rows: np.ndarray) -> int | None:
        """The token that some of the rows (B, N) are filled up with, or None.

        The padding token anywhere; the end of a text twice at either end of a row, or at that end of some rows only.
        """
        if self.token is not None and (rows == self.token).any():
            return self.token
        return next((end for end in self.ends if any(_fills(end, side) for side in (rows, rows[:, ::-1]))), None)


def _fills(end: int, rows: np.ndarray) -> bool:
    """Whether some of the rows begin with the end of a text where others do not, or with two of them."""
    first = rows[:, 0] == end
    twice = rows.shape[1] > 1 and bool((first & (rows[:, 1] == end)).any())
    return twice or bool(first.any() and not first.all())
