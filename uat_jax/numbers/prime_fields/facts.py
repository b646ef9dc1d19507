"""Where a number of the prime fields is analytic, defined, positive and zero: what must be known before a law is used.

A function of the inputs is *entire* if it is real-analytic for all inputs, and a *quotient* if it is one of entire
functions.  If it is not zero as a function, its zeros have measure zero; of a piecewise function that need not be so:
relu(x) vanishes on a half-line.  Whatever is not shown here by the primitive that computes a number is taken for false.
docs/soundness.md §10 has the proofs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from dataclasses import dataclass, fields, replace
from enum import IntEnum

import numpy as np


class Nature(IntEnum):
    """How smooth a function of the inputs is; of two operands the larger one counts."""

    ENTIRE = 0
    """Real-analytic for all inputs."""
    QUOTIENT = 1
    """A quotient of two entire functions."""
    PIECEWISE = 2
    """Anything else, such as a maximum, or an entire function of a quotient: tanh(1/x) has a domain of two parts."""


class Defined(IntEnum):
    """For which inputs a function has a finite value; of two operands the larger one counts."""

    ALWAYS = 0
    ALMOST = 1
    """For all inputs but those of a set of measure zero."""
    PARTLY = 2
    """Not known: it may be undefined for inputs of positive measure, as log(x) is."""


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """What is known about an array of functions of the inputs.

    nature, defined: of the least regular entry.  hollow: whether an entry contains a quotient by something that may be
    zero for inputs of positive measure.  positive: which entries are larger than 0 wherever they are defined; negative:
    which are smaller.  thin: which entries are zero on a set of measure zero only.  All three are boolean arrays of the
    array's shape.  guarded: whether this holds only where the condition of a selection does, which is being followed.
    letters_only: whether all that is undefined in it is values of functions that no law writes as anything else.
    """

    nature: Nature
    defined: Defined
    hollow: bool
    positive: np.ndarray
    negative: np.ndarray
    thin: np.ndarray
    guarded: bool = False
    letters_only: bool = False

    @property
    def is_number(self) -> bool:
        """Whether every entry is known to be a real number for all inputs, and analytic."""
        return self.nature is Nature.ENTIRE and self.defined is Defined.ALWAYS and not self.hollow

    @property
    def signless(self) -> bool:
        """Whether no sign is known of any entry, seen at once where that is the same array twice: see `nowhere`."""
        return self.positive is self.negative

    @property
    def key(self) -> Hashable:
        """All that these facts say, in a form that can be compared: equal keys say the same."""
        known = (getattr(self, f.name) for f in fields(self))
        return tuple((k.shape, k.tobytes()) if isinstance(k, np.ndarray) else k for k in known)

    def implies(self, other: Facts) -> bool:
        """Whether all that the other facts say of an array of this shape is said by these too.

        Example:
            >>> positive = of_inputs((2,), positive=True)
            >>> positive.implies(of_inputs((2,))), of_inputs((2,)).implies(positive)
            (True, False)
        """
        entries = (self.positive, other.positive), (self.negative, other.negative), (self.thin, other.thin)
        signs = all((mine >= theirs).all() for mine, theirs in entries)
        regular = self.nature <= other.nature and self.defined <= other.defined and self.hollow <= other.hollow
        letters = self.letters_only or not other.letters_only or self.defined is not Defined.PARTLY
        return signs and regular and letters and self.guarded <= other.guarded

    def moved(self, move: Callable[[np.ndarray], np.ndarray]) -> Facts:
        """The facts of rearranged entries: `move` acts on arrays of shape (1, *shape)."""
        thin = move(self.thin[None])[0]
        if self.signless:
            positive = negative = nowhere(thin.shape)
        else:
            positive, negative = (move(known[None])[0] for known in (self.positive, self.negative))
        return replace(self, positive=positive, negative=negative, thin=thin)

    def signed(self, signs: frozenset[int]) -> Facts:
        """The facts of entries whose signs are among these where a condition holds."""
        positive, negative = self.positive | (signs <= {1}), self.negative | (signs <= {-1})
        return replace(self, positive=positive, negative=negative, thin=self.thin | (0 not in signs), guarded=True)

    def unsigned(self) -> Facts:
        """The facts of entries that are defined where these are, and may have any sign and be zero anywhere."""
        nothing = nowhere(self.positive.shape)
        return replace(self, positive=nothing, negative=nothing, thin=nothing)

    def positive_too(self) -> Facts:
        """The facts of entries that are known to be positive wherever they are defined."""
        everywhere = np.ones(self.positive.shape, bool)
        return replace(self, positive=everywhere, negative=~everywhere, thin=everywhere)

    def negative_too(self) -> Facts:
        """The facts of entries that are known to be negative wherever they are defined."""
        everywhere = np.ones(self.positive.shape, bool)
        return replace(self, positive=~everywhere, negative=everywhere, thin=everywhere)


@functools.lru_cache(maxsize=1 << 10)
def nowhere(shape: tuple[int, ...]) -> np.ndarray:
    """The marks of no entry: one array for each shape, which takes no memory and cannot be written to."""
    return np.broadcast_to(np.bool_(False), shape)


def of_constant(values: np.ndarray) -> Facts:
    """Facts of an array of constants, given in float64; infinities and NaN are neither positive nor thin."""
    finite = np.isfinite(values)
    positive, negative = finite & (values > 0), finite & (values < 0)
    return Facts(Nature.ENTIRE, Defined.ALWAYS, False, positive, negative, positive | negative)


def of_balls(balls: np.ndarray) -> Facts | None:
    """Facts of constants that lie in balls, one for each entry; None unless all of them are finite."""
    if not all(x.is_finite() for x in balls.ravel()):
        return None
    where = lambda holds: np.array([holds(x) for x in balls.ravel()], bool).reshape(balls.shape)
    positive, negative = where(lambda x: x > 0), where(lambda x: x < 0)
    return Facts(Nature.ENTIRE, Defined.ALWAYS, False, positive, negative, positive | negative)


def of_inputs(shape: tuple[int, ...], *, positive: bool = False, negative: bool = False) -> Facts:
    """Facts of an input whose entries may be any real numbers, or any of a domain of positive measure.

    `positive`, `negative`: whether the domain has numbers above 0 only, or below 0 only.
    """
    everywhere = np.broadcast_to(np.bool_(True), shape)  # takes no memory
    above, below = (everywhere if known else nowhere(shape) for known in (positive, negative))
    return Facts(Nature.ENTIRE, Defined.ALWAYS, False, above, below, everywhere)
