"""Constants as numbers of the prime fields: as they are written, or as what they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import arb
from jax.typing import ArrayLike

from uat_jax.interpret.closed_form import ClosedForm
from uat_jax.interpret.closed_form import rational as rational_form
from uat_jax.interpret.concrete import is_wide
from uat_jax.interpret.recognition import LOWEST, MOST_READ, Meanings, Reading, distinct_entries, meanings
from uat_jax.interpret.recognition import balls as balls_of
from uat_jax.numbers.balls.balls import balls_of_forms, exact_balls
from uat_jax.numbers.balls.constants import ClosedForms, Enclosure
from uat_jax.numbers.prime_fields.facts import of_constant
from uat_jax.numbers.prime_fields.field_functions import FieldFunctions
from uat_jax.numbers.prime_fields.gathering import gathered
from uat_jax.numbers.prime_fields.number import FINITE, INFINITY, MINUS_INFINITY, UNDEFINED, Number
from uat_jax.typing import Array

ANYTHING = arb("nan")
"""The ball that holds everything: nothing is decided by it."""


class FieldConstants:
    """Makes numbers of the constants of a program; `functions` says of which draw, and under which laws."""

    def __init__(self, functions: FieldFunctions):
        self.functions = functions
        self.draw = functions.draw
        self.expressions = functions.expressions

    def number(self, array: ArrayLike) -> Number:
        """The numbers that floats are, exactly; ±∞ and NaN are codes.  Integers of 64 bits stay exact."""
        array = np.asarray(array)
        if is_wide(array):
            return self._wide(array)
        values = np.asarray(array).astype(np.float64)
        return self._floats(values).but(closed=self._written_forms(values))

    def _floats(self, values: np.ndarray) -> Number:
        special = np.where(np.isposinf(values), INFINITY, np.where(np.isnan(values), UNDEFINED, FINITE))
        special = np.where(np.isneginf(values), MINUS_INFINITY, special).astype(np.int8)
        finite = np.where(np.isfinite(values), values, 0.0)
        return Number(
            self.draw.floats(finite),
            special if special.any() else None,
            known=values,
            nonnegative=bool(np.all(finite >= 0) and not special.any()),
            enclosure=Enclosure(lambda: exact_balls(values)),
            facts=of_constant(np.where(special == FINITE, values, np.nan)),
            expression=self.expressions.constant(values),
        )

    def _wide(self, array: np.ndarray) -> Number:
        """Integers that float64 would round: 2³² times the upper half of their bits, and the lower half."""
        upper, lower = (self.draw.floats(part.astype(np.float64)) for part in np.divmod(array, array.dtype.type(2**32)))
        return Number(
            self.draw.add(self.draw.scale(upper, Fraction(2**32)), lower), nonnegative=bool(np.all(array >= 0))
        )

    def _written_forms(self, values: np.ndarray) -> ClosedForms | None:
        """The closed forms of a small array of finite numbers."""
        if not 0 < values.size <= MOST_READ or not np.isfinite(values).all():
            return None
        distinct, codes = distinct_entries(values)
        return ClosedForms(codes, tuple(map(rational_form, map(Fraction, distinct.tolist()))))

    def constant(self, array: Array, dtype: np.dtype) -> Number:
        """A constant, entry by entry: the numbers that are written, or under the law those that they stand for."""
        values = np.asarray(array).astype(np.float64)
        found = meanings(values, dtype)
        enclosure = Enclosure(lambda: _rounded(values, dtype), constants=found.inexact if found else ())
        if found is None:
            return self._named_constant(self._floats(values), values, dtype).but(enclosure=enclosure)
        meant = "constants as meant" in self.functions.laws and bool(found.readings)
        if not meant and np.isfinite(values).all():
            forms = ClosedForms(found.codes, tuple(form for form in found.written if form is not None))
            return self._named_constant(self._floats(values), values, dtype).but(closed=forms, enclosure=enclosure)
        forms = tuple(m.form for m in found.distinct) if meant else found.written
        finite = tuple(form for form in forms if form is not None)
        if len(finite) == len(forms):
            number = self.of_forms(ClosedForms(found.codes, finite))
        else:
            number = self._with_infinities(values, found, forms)
        zeros = np.array([form is not None and form.rational == 0 for form in forms])[found.codes]
        return self._named_constant(number, values, dtype, zeros).but(enclosure=enclosure)

    def _named_constant(
        self, number: Number, values: np.ndarray, dtype: np.dtype, zeros: np.ndarray | bool = False
    ) -> Number:
        """A constant with its facts and its place among the expressions; `zeros`: which entries are read as 0."""
        finite = np.ones(number.shape, bool) if number.special is None else number.special == FINITE
        facts = of_constant(np.where(finite, np.where(zeros, 0.0, values), np.nan))
        return number.but(facts=facts, expression=self.expressions.constant(values, str(dtype)))

    def _with_infinities(self, values: np.ndarray, found: Meanings, forms: Sequence[ClosedForm | None]) -> Number:
        """Entries without a form are -∞, ∞ or NaN; the residue of a mask remains, so that masks are told apart."""
        written = self._floats(values)
        without = np.array([form is None for form in forms])[found.codes]
        special = np.zeros(values.shape, np.int8) if written.special is None else written.special
        special = np.where(without & np.isfinite(values), MINUS_INFINITY, special).astype(np.int8)
        kept = tuple(rational_form(0) if form is None else form for form in forms)
        residues = self.draw.where(without, written.residues, self.of_forms(ClosedForms(found.codes, kept)).residues)
        return Number(residues, special, known=np.where(special == MINUS_INFINITY, -np.inf, values))

    def of_forms(self, forms: ClosedForms) -> Number:
        """Numbers in closed form."""
        rationals = [form.rational for form in forms.distinct if form.rational is not None]
        if forms.uniform is not None:
            number = self.functions.spread(self.functions.closed(forms.uniform), forms.codes.shape)
        elif len(rationals) == len(forms.distinct):
            number = Number(self.draw.fractions(rationals).moved(lambda a: a[:, forms.codes]))
        else:
            number = gathered(self.functions, [self.functions.closed(form) for form in forms.distinct], forms.codes)
        return number.but(
            known=forms.approximations,
            nonnegative=all(form.positive or form.rational == 0 for form in forms.distinct),
            closed=forms,
            enclosure=Enclosure(lambda: balls_of_forms(forms)),
        )


def _rounded(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Constants as balls of their rounding; a mask, which is a number or -∞, may be anything."""
    rounded = balls_of(values, dtype, Reading.ROUNDED)
    rounded[np.isfinite(values) & (values <= LOWEST)] = ANYTHING
    return rounded
