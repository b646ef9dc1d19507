"""Prime fields: a jaxpr evaluated at a random point of a tower of prime fields.

Float constants are exact rational numbers, casts between floating types are the identity, and unknown functions are
random functions with the symmetries of the real ones.  Booleans and integers that depend on the inputs are numbers
too.  Two programs that agree here are the same function, up to a probability that the draw can state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.arithmetic.concrete import is_wide
from uat_jax.arithmetic.doubles import Doubles
from uat_jax.arithmetic.field_functions import FieldFunctions
from uat_jax.arithmetic.field_rules import RULES
from uat_jax.arithmetic.interpreter import Arithmetic, Value, interpret, positions
from uat_jax.arithmetic.number import FINITE, INFINITY, MINUS_INFINITY, UNDEFINED, Number
from uat_jax.arithmetic.recognition import recognised
from uat_jax.arithmetic.residues import Residues, vanishes
from uat_jax.arithmetic.tracing import is_number, shape_of, source_line
from uat_jax.errors import UnsupportedError

LOWEST = -1e30
"""Constants at or below this are masks: they are read as -∞."""

SUPPLIERS = {"select_n": slice(1, None), "pad": slice(0, 2), "dynamic_update_slice": slice(0, 2)}
"""Which operands of a structural primitive supply entries: by default all of `concatenate`, else the first."""


@dataclass(frozen=True)
class Step:
    """One evaluated equation, and a digest of its value."""

    equation: JaxprEqn
    value: int

    def __str__(self) -> str:
        return f"'{self.equation.primitive.name}'{source_line(self.equation)}"


class Fields(Arithmetic):
    """Numbers are `Number`s of a draw; `functions` says under which laws.

    trail: the equations evaluated so far.
    """

    name = "prime-field arithmetic"
    rules = RULES

    def __init__(self, functions: FieldFunctions, deadline: float | None = None):
        self.functions = functions
        self.deadline = deadline
        self.draw = functions.draw
        self.doubles = Doubles()
        self.trail: list[Step] = []

    def number(self, array: Any) -> Number:
        """The numbers that floats are; ±∞ and NaN are codes, masks ≤ -10³⁰ are -∞.  Integers of 64 bits stay exact."""
        array = np.asarray(array)
        if is_wide(array):
            return self._wide(array)
        values = np.asarray(array).astype(np.float64)
        special = np.where(np.isposinf(values), INFINITY, np.where(np.isnan(values), UNDEFINED, FINITE))
        special = np.where(values <= LOWEST, MINUS_INFINITY, special).astype(np.int8)
        if np.any(np.isfinite(values) & (values <= LOWEST)):
            self.draw.notes.add("mask constants of -1e30 and below are -infinity")
        finite = np.where(np.isfinite(values), values, 0.0)  # of masks too: outputs -1e30 and -2e30 are not equal
        residues = self.draw.floats(finite)
        return Number(
            residues, special if special.any() else None, values, bool(np.all(finite >= 0) and not special.any())
        )

    def _wide(self, array: np.ndarray) -> Number:
        """Integers that float64 would round: 2³² times the upper half of their bits, and the lower half."""
        upper, lower = (self.draw.floats(part.astype(np.float64)) for part in np.divmod(array, array.dtype.type(2**32)))
        return Number(
            self.draw.add(self.draw.scale(upper, Fraction(2**32)), lower), nonnegative=bool(np.all(array >= 0))
        )

    def constant(self, array: Any, dtype: np.dtype) -> Number:
        """A constant; one number that is a rounded fraction or root is that fraction or root."""
        values = np.asarray(array).astype(np.float64)
        if values.size and "constants as roots" in self.functions.laws and np.all(values == values.flat[0]):
            found = recognised(float(values.flat[0]), dtype)
            if found is not None:
                return self._recognised(values, *found)
        return self.number(values)

    def _recognised(self, values: np.ndarray, factor: Fraction, radicand: int) -> Number:
        text = f"{factor}" if radicand == 1 else f"{factor}·√{radicand}"
        self.draw.notes.add(f"the constant {values.flat[0]:.9g} is {text}")
        number = self.functions.constant(factor, values.shape)
        if radicand != 1:
            root = self.functions.root(self.functions.constant(radicand, values.shape))
            number = self.functions.multiply(number, root)
        return number.but(known=values, nonnegative=factor > 0)

    def involves(self, equation: JaxprEqn, operands: Sequence[Value]) -> bool:
        """Whether any operand is a number of the fields, whatever the type of its variable."""
        return any(isinstance(operand, Number) for operand in operands)

    def stack(self, values: Sequence[Value]) -> Number:
        """Along a new leading axis."""
        numbers = [self.lift(value) for value in values]
        return self._gathered(
            numbers, np.arange(sum(int(np.prod(n.shape)) for n in numbers)).reshape(len(numbers), *numbers[0].shape)
        )

    def entry(self, value: Value, index: int) -> Value:
        """value[index] along the leading axis."""
        return value.moved(lambda a: a[:, index]) if isinstance(value, Number) else value[index]

    def lift(self, value: Value) -> Number:
        """A concrete array as numbers."""
        return value if isinstance(value, Number) else self.number(value)

    def evaluate(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """The results of one equation; what depends on constants only is also followed in float64."""
        known = self._known(equation, operands)
        if known is not None and not is_number(equation.outvars[0]):
            return self._decided(equation, operands, known)
        results = super().evaluate(equation, operands)
        self.trail += [self._step(equation, result) for result in results if isinstance(result, Number)]
        if known is None:
            return results
        return [
            r.but(known=k[0]) if isinstance(r, Number) and is_number(v) else _concrete(k, v)
            for r, k, v in zip(results, known, equation.outvars, strict=True)
        ]

    def _step(self, equation: JaxprEqn, result: Number) -> Step:
        # Sorted, so that a rearrangement of the same entries is not taken for something new.
        value = hash(np.sort(result.residues.levels[0][0], axis=None).tobytes())
        return Step(equation, value)

    def _known(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[np.ndarray] | None:
        """Float64 results of an equation whose numbers are all known."""
        if not self.involves(equation, operands):
            return None
        values = []
        for operand, atom in zip(operands, equation.invars, strict=True):
            if not isinstance(operand, Number):
                values.append(operand)
            elif operand.known is None or not is_number(atom):
                return None
            else:
                values.append(operand.known[None])
        return self.doubles.evaluate(equation, values) if self.doubles.supports(equation, values) else None

    def _decided(self, equation: JaxprEqn, operands: Sequence[Value], known: list[np.ndarray]) -> list[np.ndarray]:
        """Concrete results, such as a comparison of constants, unless two constants are too close to tell apart."""
        if len(operands) == 2:
            x, y = (
                np.asarray(operand.known if isinstance(operand, Number) else operand, float) for operand in operands
            )
            if self._too_close(x, y, *map(self.lift, operands)):
                raise UnsupportedError(f"two constants compared{source_line(equation)} are too close to tell apart")
        return [_concrete(result, v) for result, v in zip(known, equation.outvars, strict=True)]

    def _too_close(self, x: np.ndarray, y: np.ndarray, left: Number, right: Number) -> bool:
        """Whether rounding to float64 may have made equal constants different, or different ones equal."""
        with np.errstate(invalid="ignore"):
            close = (np.abs(x - y) <= 1e-12 * np.maximum(np.abs(x), np.abs(y))) & (x != y)
        zero = vanishes(self.functions.subtract(left, right).residues)
        return bool(np.any(np.isfinite(x) & np.isfinite(y) & (close | (zero != (x == y)))))

    def rearrange(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """Entries in new places; a symbolic predicate blends its cases."""
        name = equation.primitive.name
        if name == "select_n" and isinstance(operands[0], Number):
            return [self._blended(equation, *operands)]
        supplies = SUPPLIERS.get(name, slice(None) if name in ("concatenate", "stack") else slice(1))
        supplied = [False] * len(operands)
        supplied[supplies] = [True] * len(supplied[supplies])
        if any(isinstance(o, Number) and not s for o, s in zip(operands, supplied, strict=True)):
            raise UnsupportedError(f"'{name}'{source_line(equation)} takes an index that depends on the input")
        numbers = [self.lift(operand) for operand, supply in zip(operands, supplied, strict=True) if supply]
        return [self._gathered(numbers, source) for source in positions(equation, operands, supplied)]

    def _gathered(self, numbers: Sequence[Number], source: np.ndarray) -> Number:
        """Entries `source` of the numbers, flattened and laid end to end."""
        if len(numbers) == 1:
            return numbers[0].moved(lambda a: a.reshape(len(a), -1)[:, source])
        sizes = np.cumsum([0, *(int(np.prod(n.shape)) for n in numbers)])
        for number, start, stop in zip(numbers, sizes, sizes[1:], strict=False):
            if source.size and start <= source.min() and source.max() < stop:  # nothing is taken from the others
                return self._gathered([number], source - start)
        take = lambda a: a[:, source]
        scale = numbers[0].scale if all(n.scale == numbers[0].scale for n in numbers) else Fraction(1)
        special = _joined([n.special for n in numbers], numbers, np.int8)
        known = None if any(n.known is None for n in numbers) else _joined([n.known for n in numbers], numbers, float)
        return Number(
            self.draw.concatenate([n.residues for n in numbers]).moved(take),
            None if special is None or not special[source].any() else special[source],
            None if known is None else known[source],
            all(n.nonnegative for n in numbers),
            scale,
            largest_of=self._gathered_members(numbers, source),
        )

    def _gathered_members(self, numbers: Sequence[Number], source: np.ndarray) -> tuple[Residues, np.ndarray] | None:
        """Maxima next to each other: the k-th members of all of them, where they have so many."""
        if all(n.largest_of is None for n in numbers):
            return None
        sets = [self.functions.members(n) for n in numbers]
        count = max(members.shape[0] for members, _ in sets)
        rows, present = [], []
        for k in range(count):
            row = [_member(members, min(k, members.shape[0] - 1)) for members, _ in sets]
            rows.append(self.draw.concatenate(row).moved(lambda a: a[:, source]))
            there = [_presence(*members, k).ravel() for members in sets]
            present.append(np.concatenate(there)[source])
        return self.draw.stack(rows), np.stack(present)

    def _blended(self, equation: JaxprEqn, predicate: Number, *cases: Value) -> Number:
        """p·x₁ + (1 - p)·x₀ = x₀ + p·(x₁ - x₀)."""
        if len(cases) != 2:
            raise UnsupportedError(f"'select_n'{source_line(equation)} has {len(cases)} cases and depends on the input")
        otherwise, then = map(self.lift, cases)
        if otherwise.special is not None or then.special is not None:
            raise UnsupportedError(
                f"'select_n'{source_line(equation)} chooses an infinity or NaN depending on the input; mask by position"
            )
        f = self.functions
        predicate = f.spread(predicate, then.shape)
        complement = f.subtract(f.constant(1, then.shape), predicate)
        blended = f.add(f.multiply(predicate, then), f.multiply(complement, otherwise))
        return blended.but(nonnegative=then.nonnegative and otherwise.nonnegative)


def _concrete(result: np.ndarray, variable: Any) -> np.ndarray:
    """An integer or boolean result in float64 arithmetic that is the same in all copies."""
    return np.asarray(result[0] if result.ndim > len(shape_of(variable)) else result)


def _member(members: Residues, k: int) -> Residues:
    return Residues(tuple(a[:, k] for a in members.levels), members.degree.mixed())


def _presence(members: Residues, present: np.ndarray | None, k: int) -> np.ndarray:
    if k >= members.shape[0]:
        return np.zeros(members.shape[1:], bool)
    return np.ones(members.shape[1:], bool) if present is None else np.broadcast_to(present[k], members.shape[1:])


def _joined(parts: Sequence[np.ndarray | None], numbers: Sequence[Number], dtype: Any) -> np.ndarray | None:
    if all(part is None for part in parts):
        return None
    return np.concatenate(
        [np.zeros(n.shape, dtype).ravel() if p is None else p.ravel() for p, n in zip(parts, numbers, strict=True)]
    )


def evaluate(closed_jaxpr: ClosedJaxpr, fields: Fields, arguments: Sequence[Number]) -> list[Number]:
    """The outputs of a jaxpr at a random point."""
    return [fields.lift(output) for output in interpret(closed_jaxpr, fields, arguments)]


def equal(x: Number, y: Number) -> np.ndarray:
    """Where two outputs agree in every copy of the top level, both finite or infinite; undefined ones never do."""
    codes = [np.zeros(x.shape, np.int8) if n.special is None else n.special for n in (x, y)]
    agree = np.all(x.residues.levels[0] == y.residues.levels[0], axis=0)
    return agree & (codes[0] == codes[1]) & (codes[0] != UNDEFINED)
