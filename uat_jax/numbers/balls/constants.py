"""What is known about an array that depends on constants only: closed forms of its entries, and enclosures of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from uat_jax.interpret.closed_form import (
    PI,
    ClosedForm,
    Product,
    added,
    arc_cosine,
    arc_tangent,
    cosine,
    divided,
    exponential,
    logarithm,
    multiplied,
    negated,
    power,
    rational,
    sine,
)
from uat_jax.interpret.recognition import MOST_READ, ConstantReading

Move = Callable[[np.ndarray], np.ndarray]
"""A rearrangement of arrays of shape (copies, *shape)."""

LARGEST_GAMMA = 40
"""Logarithms of the gamma function are followed of whole numbers up to this."""

DEEPEST = 64
"""Enclosures that wait for so many others are computed at once, so that a long loop never recurses deeply."""


@dataclass(frozen=True, eq=False)
class ClosedForms:
    """An array of numbers in closed form: entry i is distinct[codes[i]]."""

    codes: np.ndarray
    distinct: tuple[ClosedForm, ...]

    @property
    def uniform(self) -> ClosedForm | None:
        """The one form of all entries, or None."""
        return self.distinct[0] if len(self.distinct) == 1 else None

    def moved(self, move: Move) -> ClosedForms:
        """The closed forms with the entries rearranged by `move`."""
        return _of_codes(move(self.codes[None])[0], self.distinct)

    @property
    def approximations(self) -> np.ndarray:
        """The entries in float64."""
        return np.array([form.approximation for form in self.distinct])[self.codes]


def _of_codes(codes: np.ndarray, forms: tuple[ClosedForm, ...]) -> ClosedForms:
    """The array whose entry is forms[code]; forms that no entry has are left out."""
    if len(forms) == 1 and np.size(codes):
        return ClosedForms(np.asarray(codes), forms)
    used, renumbered = np.unique(codes, return_inverse=True)
    return ClosedForms(renumbered.reshape(np.shape(codes)), tuple(forms[i] for i in used))


def joined(parts: Iterable[ClosedForms]) -> ClosedForms:
    """The entries of all arrays, flattened and laid end to end."""
    forms: dict[ClosedForm, int] = {}
    codes = []
    for part in parts:
        renumbered = np.array([forms.setdefault(form, len(forms)) for form in part.distinct], int)
        codes.append(renumbered[part.codes].ravel())
    return ClosedForms(np.concatenate(codes), tuple(forms))


def entrywise(function: Callable[..., ClosedForm | None], *operands: ClosedForms) -> ClosedForms | None:
    """A function of every entry, once for different ones; None where it has no closed form somewhere."""
    codes = np.broadcast_arrays(*(operand.codes for operand in operands))
    together = np.ravel_multi_index(codes, [len(operand.distinct) for operand in operands])
    used, renumbered = np.unique(together, return_inverse=True)
    if not 0 < len(used) <= MOST_READ:
        return None
    chosen = np.unravel_index(used, [len(operand.distinct) for operand in operands])
    rows = zip(*([operand.distinct[i] for i in c] for operand, c in zip(operands, chosen, strict=True)), strict=True)
    forms: dict[ClosedForm, int] = {}
    places = []
    for row in rows:
        form = function(*row)
        if form is None:
            return None
        places.append(forms.setdefault(form, len(forms)))
    return ClosedForms(np.array(places)[renumbered.reshape(together.shape)], tuple(forms))


def _power(x: ClosedForm, y: ClosedForm) -> ClosedForm | None:
    return None if y.rational is None else power(x, y.rational)


def _log_gamma(x: ClosedForm) -> ClosedForm | None:
    """Log (n - 1)! of a small whole number n > 0, and log(√π·(1/2)(3/2)⋯(n - 1/2)) of n + 1/2."""
    n = x.rational
    if n is None or n.denominator > 2 or not 0 < n <= LARGEST_GAMMA:
        return None
    if n.denominator == 1:
        return logarithm(rational(math.factorial(int(n) - 1)))
    halves = math.prod(range(1, int(2 * n) - 1, 2))
    return logarithm(Product(Fraction(halves, 2 ** int(n)), ((PI, Fraction(1, 2)),)))


def _remainder(x: ClosedForm, y: ClosedForm) -> ClosedForm | None:
    """x - y trunc(x/y) of rational numbers."""
    a, b = x.rational, y.rational
    return None if a is None or not b else rational(a - b * math.trunc(a / b))


CLOSED: dict[str, Callable[..., ClosedForm | None]] = {
    "acos": lambda parameters, x: arc_cosine(x),
    "add": lambda parameters, x, y: added(x, y),
    "add_any": lambda parameters, x, y: added(x, y),
    "atan": lambda parameters, x: arc_tangent(x),
    "convert_element_type": lambda parameters, x: x,
    "cos": lambda parameters, x: cosine(x),
    "div": lambda parameters, x, y: divided(x, y),
    "exp": lambda parameters, x: exponential(x),
    "exp2": lambda parameters, x: None if x.rational is None else power(rational(2), x.rational),
    "integer_pow": lambda parameters, x: power(x, Fraction(parameters["y"])),
    "lgamma": lambda parameters, x: _log_gamma(x),
    "log": lambda parameters, x: logarithm(x),
    "log1p": lambda parameters, x: (lambda more: None if more is None else logarithm(more))(added(x, rational(1))),
    "mul": lambda parameters, x, y: multiplied(x, y),
    "neg": lambda parameters, x: negated(x),
    "pow": lambda parameters, x, y: _power(x, y),
    "rem": lambda parameters, x, y: _remainder(x, y),
    "rsqrt": lambda parameters, x: power(x, Fraction(-1, 2)),
    "sin": lambda parameters, x: sine(x),
    "sqrt": lambda parameters, x: power(x, Fraction(1, 2)),
    "square": lambda parameters, x: power(x, Fraction(2)),
    "sub": lambda parameters, x, y: (lambda minus: None if minus is None else added(x, minus))(negated(y)),
}
"""From a primitive's name to function(parameters, *forms): its exact value on closed forms, or None."""


class Enclosure:
    """Balls around an array of constants that hold its value whichever way its constants are read; made when asked for.

    constants: those whose rounding the balls allow for.
    """

    def __init__(
        self, make: Callable[[], np.ndarray], of: Iterable[Enclosure] = (), constants: Iterable[ConstantReading] = ()
    ):
        self._make: Callable[[], np.ndarray] | None = make
        self._balls: np.ndarray | None = None
        waiting = list(of)
        self.constants = frozenset(constants).union(*(e.constants for e in waiting))
        self.depth = 1 + max((e.depth for e in waiting if e._balls is None), default=0)
        if self.depth > DEEPEST:
            self.balls()

    def balls(self) -> np.ndarray:
        """The array of balls, of no dimensions where there is a single one."""
        if self._make is not None:
            self._balls, self._make, self.depth = np.asarray(self._make()), None, 0
        assert self._balls is not None
        return self._balls

    def moved(self, move: Move) -> Enclosure:
        """The enclosure with the entries of its array rearranged by `move`, when it is asked for."""
        return Enclosure(lambda: move(self.balls()[None])[0], [self])
