"""A closed form of the first t rows of arrays, for a symbolic t: a function of t and of what rows accumulate.

A closed form is traced once, with arrays of t rows.  An array that has an axis of t entries is a sum of products

    Σ_k  fixed_k · row_k[i],   0 ≤ i < t,

in which `row_k[i]` is computed from row i and its number alone, and `fixed_k` may depend on t: exp(s_i − m) with
m = max s is exp(−m)·exp(s_i).  A reduction over that axis then makes accumulators of the rows, each with what one more
row does to it:

    Σ_i r_i: A + r        max_i r_i: max(A, r)        Π_i r_i: A·r        a scan: its body

So the closed form is a program of the accumulators and of t, and for t + 1 rows it is the same program of the
accumulators after one more row.  Every rule here holds for every t ≥ 1 (docs/soundness.md §18).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.extend.core import JaxprEqn

from uat_jax.decide.loops import products, whole_numbers
from uat_jax.decide.loops.accumulator import GIVEN, JOINED, Accumulator, contracted, reduced, scanned
from uat_jax.decide.loops.along import Along, Moving, Number, plain, row_of, shaped, without
from uat_jax.decide.loops.pieces import is_symbolic_inside
from uat_jax.decide.loops.rows import REDUCTIONS, RULES, Rows, rows_of_reduction
from uat_jax.decide.loops.walk import Value, Walk, is_concrete, staged
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.canonical_form import parameters_digest
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of, source_line
from uat_jax.numbers.prime_fields.formula import ENTRYWISE

SAME = lambda row: lambda index, read: row
"""The rows of an array that is computed from the row of now."""


@dataclass
class Prefix(Walk):
    """A walk over a closed form with t rows: `given` are the accumulators, in the order in which they are met.

    count: t, as a float.  accumulators: what was met; without `given` they are only counted.  bases: numbers that are
    raised to a power that depends on t: they have to be positive.  bounded: whether whole numbers may wrap around after
    more than `LARGEST_SIZE` steps.
    """

    given: Sequence[Value] | None
    count: Value
    accumulators: list[Accumulator] = field(default_factory=list)
    met: dict[Any, list[Value]] = field(default_factory=dict)
    used: int = 0
    bases: list[Value] = field(default_factory=list)
    bounded: bool = False

    def __post_init__(self) -> None:
        super().__init__(None)

    def equation(self, equation: JaxprEqn, operands: list[Value]) -> list[Value]:
        """The results of one equation."""
        if any(o is GIVEN for o in operands):
            raise self.refused(equation, "uses the rows that a scan gives")
        if equation.primitive.name == "scan" and any(isinstance(o, Along) for o in operands):
            return scanned(self, equation, operands)
        return super().equation(equation, operands)

    def primitive(self, equation: JaxprEqn, operands: list[Value]) -> list[Value]:
        """The results of a primitive, whatever its operands are."""
        name = equation.primitive.name
        if name == "dim_as_value":
            return [whole_numbers.of_dimension(self, equation)]
        if is_symbolic_inside(equation):
            raise self.refused(equation, "does something as often as there are steps")
        along = any(isinstance(o, Along) for o in operands)
        long = [place for place, size in enumerate(_shape(equation)) if jax.export.is_symbolic_dim(size)]
        if not along and not long:
            if any(isinstance(o, Number) for o in operands):
                return [whole_numbers.scalar(self, equation, operands)]
            return self.alone(equation, operands)
        for place in long:
            if str(_shape(equation)[place]) != "t":
                raise self.refused(equation, f"makes an array of {_shape(equation)[place]} rows")
        if len(long) > 1:
            raise self.refused(equation, "makes an array of two axes of steps")
        found = self.along(equation, operands)
        if isinstance(found, Along) and long != [found.axis]:
            raise self.refused(equation, "takes single steps out of all")
        return [found]

    def alone(self, equation: JaxprEqn, operands: list[Value]) -> list[Value]:
        """The results where nothing has an axis of t entries."""
        moving = any(isinstance(o, Moving) for o in operands)
        if equation.primitive.name == "pow" and moving and not isinstance(operands[0], Moving):
            return [Moving(self.powered(operands[0], operands[1].value))]
        results = self.stage(equation, [plain(o) for o in operands])
        return [Moving(x) for x in results] if moving else results

    def stage(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """The results of an equation of the trace; of equal ones they are the same."""
        if all(map(is_concrete, operands)) and not any(map(is_number, (*equation.invars, *equation.outvars))):
            return super().primitive(equation, list(operands))
        if equation.primitive.name == "convert_element_type" and is_concrete(operands[0]):
            if not is_number(equation.invars[0]):
                return [operands[0].astype(dtype_of(equation.outvars[0]))]
        if equation.primitive.name in ("add", "sub") and is_concrete(operands[1]) and not np.any(operands[1]):
            if np.shape(operands[0]) == _shape(equation):
                return [operands[0]]
        try:
            key = (parameters_digest(equation), tuple(map(self.identity, operands)))
        except UnsupportedError:  # equal to no other one
            return staged(equation, operands)
        if key not in self.met:
            self.met[key] = [*staged(equation, operands), operands]
        return self.met[key][:-1]

    @staticmethod
    def identity(value: Value) -> Any:
        """Equal for values that are the same."""
        return (value.tobytes(), value.shape, str(value.dtype)) if is_concrete(value) else id(value)

    def refused(self, equation: JaxprEqn, why: str) -> UnsupportedError:
        """An error about one equation of the closed form."""
        return UnsupportedError(
            f"the closed form's '{equation.primitive.name}'{source_line(equation)} {why}; write it with sums, maxima, "
            "minima, products and scans over the steps"
        )

    def powered(self, base: Value, power: Value) -> Value:
        """A power of a number that has to be positive."""
        self.bases.append(base)
        return lax.exp(lax.mul(lax.log(shaped(base, power)), power))

    def letters(self, types: Sequence[jax.ShapeDtypeStruct]) -> list[Value]:
        """The next accumulators that were given; zeros where they are only counted."""
        if self.given is None:
            return [lax.full(t.shape, 0, t.dtype) for t in types]
        found = list(self.given[self.used : self.used + len(types)])
        self.used += len(types)
        return found

    # Arrays with an axis of t entries

    def along(self, equation: JaxprEqn, operands: list[Value]) -> Value:
        """The result where an operand or the result has an axis of t entries."""
        name, floats = equation.primitive.name, all(map(is_number, (*equation.invars, *equation.outvars)))
        numbers = [o.number for o in operands if isinstance(o, Along) and o.number is not None]
        if name == "iota":
            return whole_numbers.written(self, equation, Number(1, 0, 0), _axis(equation))
        if name == "broadcast_in_dim" and not isinstance(operands[0], Along):
            return self.repeated(equation, operands[0])
        if numbers and not is_number(equation.outvars[0]) and name not in MOVES:
            return whole_numbers.of_steps(self, equation, operands)
        if numbers and name == "convert_element_type":
            return whole_numbers.written(self, equation, numbers[0], operands[0].axis)
        if name == "rev" and operands[0].axis in equation.params["dimensions"]:
            return whole_numbers.turned(self, equation, operands[0])
        if name in JOINED and operands[0].axis in equation.params["axes"]:
            return reduced(self, equation, operands[0])
        if name == "dot_general" and _adds_over_steps(equation, operands):
            return contracted(self, equation, operands)
        if name in products.RULES and (floats or name == "pow"):
            return products.RULES[name](self, equation, operands)
        return self.structural(equation, operands)

    def repeated(self, equation: JaxprEqn, operand: Value) -> Along:
        """An array repeated t times."""
        axis, shape, places = _axis(equation), _shape(equation), equation.params["broadcast_dimensions"]
        before = shape_of(equation.invars[0])
        if isinstance(operand, Number):
            return whole_numbers.written(self, equation, operand, axis)
        kept = [(p - (p > axis), n) for p, n in zip(places, before, strict=True) if p != axis]
        flat = lax.reshape(plain(operand), tuple(n for _, n in kept))
        value = lax.broadcast_in_dim(flat, without(shape, axis), tuple(p for p, _ in kept))
        return Along(axis, ((value, None) if isinstance(operand, Moving) else (None, value),))

    def structural(self, equation: JaxprEqn, operands: list[Value]) -> Along:
        """Entries in new places, sums over other axes, and functions of rows alone."""
        name = equation.primitive.name
        arrays = [o for o in operands if isinstance(o, Along)]
        if not arrays:
            raise self.refused(equation, "makes an array of all steps of nothing")
        axis = arrays[0].axis
        if any(isinstance(o, Moving | Number) for o in operands) or any(o.axis != axis for o in arrays):
            raise self.refused(equation, "mixes the steps with what depends on their number")
        rule = RULES.get(name)
        linear = rule is not None and len(operands) == 1 and name != "rev"
        if linear or len(operands) == 1 and name in REDUCTIONS and arrays[0].pure() is not None:
            return self.moved(rule or rows_of_reduction, equation, arrays[0])
        alone = name in ENTRYWISE
        rows = [o.pure() if isinstance(o, Along) else row_of(o, axis) if alone else o for o in operands]
        if any(row is None for row in rows):
            raise self.refused(equation, "is applied to a row together with what depends on all steps")
        if alone:
            return Along(axis, ((None, self.stage(equation, rows)[0]),))
        if rule is not None:
            known = [Rows(axis, SAME(r)) if isinstance(o, Along) else None for o, r in zip(operands, rows, strict=True)]
            found = rule(equation, rows, known, axis)
            if found is not None:
                return Along(found.axis, ((None, found.at((0, 0), _unread)),))
        raise self.refused(equation, "is no operation on single steps")

    def moved(self, rule: Any, equation: JaxprEqn, operand: Along) -> Along:
        """A rearrangement of every factor, or of whole numbers."""
        found = rule(equation, [None], [Rows(operand.axis, SAME(None))], operand.axis)
        if found is None:
            raise self.refused(equation, "moves the steps")
        if not operand.terms:
            return Along(found.axis, (), operand.number)
        of = lambda x: rule(equation, [x], [Rows(operand.axis, SAME(x))], operand.axis).at((0, 0), _unread)
        terms = tuple((None if f is None else of(f), None if r is None else of(r)) for f, r in operand.terms)
        return Along(found.axis, terms)


MOVES = ("rev", "broadcast_in_dim", "reshape")
"""Rearrangements of whole numbers, which are followed or refused on their own."""


def _adds_over_steps(equation: JaxprEqn, operands: Sequence[Value]) -> bool:
    """Whether a product of matrices contracts an axis of t entries."""
    over = equation.params["dimension_numbers"][0]
    return any(isinstance(o, Along) and o.axis in over[i] for i, o in enumerate(operands))


def _unread(letter: Any) -> Value:
    raise AssertionError(letter)


def _shape(equation: JaxprEqn) -> tuple[Any, ...]:
    return tuple(shape_of(equation.outvars[0]))


def _axis(equation: JaxprEqn) -> int:
    """The axis of t entries of a result."""
    return next(place for place, size in enumerate(_shape(equation)) if jax.export.is_symbolic_dim(size))
