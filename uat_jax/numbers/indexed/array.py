"""An array as a function of its indices, at every size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import jax.numpy as jnp
import numpy as np

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.closed_form import PI, Base, ClosedForm, Cosine, E, LogSum
from uat_jax.interpret.recognition import Meaning, meaning
from uat_jax.numbers.indexed.bounds import sign
from uat_jax.numbers.indexed.dimension import dimension
from uat_jax.numbers.indexed.functions import logarithm, mask
from uat_jax.numbers.indexed.polynomial import (
    ONE,
    ZERO,
    Kind,
    Letter,
    Polynomial,
    constant,
    index,
    made,
    of,
    replaced,
)
from uat_jax.numbers.indexed.predicates import SizeCase, equal_to_zero
from uat_jax.numbers.indexed.products import raised
from uat_jax.numbers.indexed.workspace import workspace

MOST_ENTRIES = 64
"""A constant array with more entries that are not all equal is refused."""

Indices = Sequence[Polynomial]
Rule = Callable[[Indices], Polynomial]


@dataclass(eq=False)
class Array:
    """Its lengths, and the normal form of its entry at the indices `variables`, or why it has none.

    The variables are the same for all arrays of these lengths, so that equal places need no renaming.
    kind: "f", "i", "u" or "b".  sign: 2 if all entries are positive by how they are computed, 1 if ≥ 0, 0 if nothing
    is known.  defined: whether they are proved to be defined for all inputs.  bounded: whether whole numbers in it may
    wrap at sizes that are too large for the proof.  open: whether it may be infinite for inputs of positive measure.
    """

    lengths: tuple[Polynomial, ...]
    kind: str
    variables: tuple[Letter, ...]
    body: Polynomial | UnsupportedError | SizeCase
    sign: int = 0
    defined: bool = True
    bounded: bool = False
    open: bool = False

    def at(self, indices: Indices) -> Polynomial:
        """The entry at indices, which are polynomials.  Raises what stands for the body if there is none."""
        if not isinstance(self.body, Polynomial):
            raise self.body
        workspace().bounded_sizes |= self.bounded
        return replaced(self.body, dict(zip(self.variables, indices, strict=True)))

    def broadcast(self, indices: Indices) -> Polynomial:
        """The entry at `indices`, or the one number of a scalar, which is the same at any indices."""
        return self.at(indices if self.lengths else ())

    def known_sign(self) -> int:
        """2 if all entries are positive, 1 if ≥ 0, 0 if nothing is known."""
        return max(self.sign, sign(self.body)) if isinstance(self.body, Polynomial) else self.sign


def array(lengths: Sequence[Polynomial], kind: str, rule: Rule, sign: int = 0, defined: bool = True) -> Array:
    """The array with the entry rule(indices)."""
    lengths = tuple(lengths)
    variables = tuple(index(f"o{axis}", length) for axis, length in enumerate(lengths))
    tables = workspace()
    before, tables.bounded_sizes = tables.bounded_sizes, False
    try:
        body = rule(tuple(ZERO if v.length == ONE else of(v) for v in variables))
    except (UnsupportedError, SizeCase) as error:  # it counts only if the entries are asked for
        body = error
    except RecursionError:
        body = UnsupportedError("an expression is nested too deeply for the normal form of all sizes")
    bounded, tables.bounded_sizes = tables.bounded_sizes, before
    return Array(lengths, kind, variables, body, sign, defined, bounded)


def entry_of_input(name: str, lengths: Sequence[Polynomial], kind: str, sign: int = 0) -> Array:
    """An input, or another array of which nothing is known but its lengths and sign."""
    lengths = tuple(lengths)
    rule = lambda indices: of(made(Kind.ENTRY, name, lengths, sign, tuple(indices)))
    return array(lengths, kind, rule, sign)


def literal(values: np.ndarray) -> Array:
    """A constant array: all entries equal, or few."""
    lengths, kind = tuple(map(dimension, values.shape)), kind_of(values.dtype)
    if values.size and (values == values.flat[0]).all() and (kind != "f" or not np.isnan(np.float64(values.flat[0]))):
        number = _number(values.flat[0], values.dtype)
        return array(lengths, kind, lambda indices: number, sign(number))
    if values.size > MOST_ENTRIES:
        raise UnsupportedError(f"a constant array of {values.size} different entries is not followed at all sizes")

    def entry(indices: Indices) -> Polynomial:
        total = ZERO
        for place, value in np.ndenumerate(values):
            term = _number(value, values.dtype)
            for at, position in zip(indices, place, strict=True):
                term = term * equal_to_zero(at - position)
            total = total + term
        return total

    return array(lengths, kind, entry)


def kind_of(dtype: np.dtype) -> str:
    """The letter of a dtype that is followed: of integers without sign, "u", comparisons and moves alone are.

    Raises:
        UnsupportedError: another one; integers that have less than 32 bits wrap too soon.
    """
    if dtype == np.bool_:
        return "b"
    if jnp.issubdtype(dtype, jnp.floating):
        return "f"
    if jnp.issubdtype(dtype, jnp.signedinteger) and jnp.iinfo(dtype).bits >= 32:
        return "i"
    if jnp.issubdtype(dtype, jnp.unsignedinteger) and jnp.iinfo(dtype).bits >= 32:
        return "u"
    raise UnsupportedError(f"numbers of {dtype} are not followed at all sizes")


def _number(value: np.generic, dtype: np.dtype) -> Polynomial:
    """A constant: what is written, or what it stands for."""
    if kind_of(dtype) != "f":
        return constant(int(value))
    number = float(value)
    if workspace().meant and number == number and number not in (np.inf, -np.inf):
        return _meant(meaning(number, np.dtype(dtype)))
    if number == -np.inf:
        return mask()
    if not np.isfinite(number):
        raise UnsupportedError(f"the constant {number} is not followed at all sizes")
    return constant(Fraction(number))


def _meant(found: Meaning) -> Polynomial:
    if found.reading is not None:
        workspace().constants.add(found.reading)
    return mask() if found.form is None else _closed(found.form)


def _closed(form: ClosedForm) -> Polynomial:
    """A number in closed form."""
    if isinstance(form, LogSum):
        logs = (logarithm(_base(base)) * factor for base, factor in form.logs)
        return sum(logs, constant(form.constant))
    product = constant(form.coefficient)
    for base, exponent in form.powers:
        product = product * raised(_base(base), exponent)
    return product


def _base(base: Base) -> Polynomial:
    if isinstance(base, int):
        return constant(base)
    if isinstance(base, Cosine):  # equal cosines are one letter; how others depend on each other is not known here
        return of(made(Kind.CONSTANT, repr(base)))
    if base == PI:
        return of(made(Kind.CONSTANT, "π"))
    if base == E:
        return of(made(Kind.EXP, ONE))
    return _closed(base)  # pyright: ignore[reportArgumentType]
