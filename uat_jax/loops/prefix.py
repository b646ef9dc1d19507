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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import JaxprEqn

from uat_jax.arithmetic.formula import ENTRYWISE
from uat_jax.arithmetic.interpreter import scan_counts
from uat_jax.arithmetic.tracing import dtype_of, is_number, shape_of, source_line
from uat_jax.errors import UnsupportedError
from uat_jax.loops.rows import REDUCTIONS, RULES, Rows, _reduced
from uat_jax.loops.walk import Value, Walk, is_concrete, staged

JOINED: dict[str, Callable[[Value, Value], Value]] = {
    "reduce_sum": lax.add,
    "reduce_max": lax.max,
    "reduce_min": lax.min,
    "reduce_prod": lax.mul,
}
"""What one more row does to an accumulator, by the reduction that makes it."""

EMPTY = {"reduce_sum": 0, "reduce_prod": 1}
"""What an accumulator is before the first row; a maximum is nothing then."""

SAME = lambda row: lambda index, read: row
"""The rows of an array that is computed from the row of now."""


@dataclass(frozen=True, eq=False)
class Moving:
    """An array without an axis of t entries that depends on t."""

    value: Value


@dataclass(frozen=True)
class Count:
    """The whole number a·t + b."""

    a: int
    b: int


@dataclass(frozen=True, eq=False)
class Along:
    """An array with an axis of t entries: the sum of products (fixed, row), where None is 1.

    Both have the shape without that axis.  number: (a, b, c) if its entry i is the whole number a·i + b + c·t.
    """

    axis: int
    terms: tuple[tuple[Value | None, Value | None], ...]
    number: tuple[int, int, int] | None = None

    def pure(self) -> Value | None:
        """The row, if nothing in it depends on t."""
        return self.terms[0][1] if len(self.terms) == 1 and self.terms[0][0] is None else None


@dataclass
class Accumulator:
    """Arrays that every row changes: what they are before the first row (None if nothing), and after a row.

    first: what they are after the first row.  reduces: whether it is one array, a sum, product, maximum or minimum.
    """

    types: list[jax.ShapeDtypeStruct]
    before: list[Value] | None
    first: list[Value]
    after: list[Value]
    reduces: bool


@dataclass
class Prefix(Walk):
    """A walk over a closed form with t rows: `given` are the accumulators, in the order in which they are met.

    count: t, as a float.  accumulators: what was met; without `given` they are only counted.  bases: numbers that are
    raised to a power that depends on t: they have to be positive.
    """

    given: Sequence[Value] | None
    count: Value
    accumulators: list[Accumulator] = field(default_factory=list)
    met: dict[Any, list[Value]] = field(default_factory=dict)
    used: int = 0
    bases: list[Value] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(None)

    def equation(self, equation: JaxprEqn, operands: list[Value]) -> list[Value]:
        """The results of one equation."""
        if equation.primitive.name == "scan" and any(isinstance(o, Along) for o in operands):
            return self.scanned(equation, operands)
        return super().equation(equation, operands)

    def primitive(self, equation: JaxprEqn, operands: list[Value]) -> list[Value]:
        """The results of a primitive, whatever its operands are."""
        name = equation.primitive.name
        if name == "dim_as_value":
            return [_dimension(equation.params["dim"], equation)]
        if any(isinstance(o, Count) for o in operands) and not any(isinstance(o, Along) for o in operands):
            return [self.counted(equation, operands)]
        long = [place for place, size in enumerate(_shape(equation)) if jax.export.is_symbolic_dim(size)]
        if not any(isinstance(o, Along) for o in operands) and not long:
            moving = any(isinstance(o, Moving) for o in operands)
            if name == "pow" and isinstance(operands[1], Moving) and not isinstance(operands[0], Moving):
                return [Moving(self.powered(operands[0], operands[1].value))]
            results = self.stage(equation, [_plain(o) for o in operands])
            return [Moving(x) for x in results] if moving else results
        for place in long:
            if str(_shape(equation)[place]) != "t":
                raise self.refused(equation, f"makes an array of {_shape(equation)[place]} rows")
        if len(long) > 1:
            raise self.refused(equation, "makes an array of two axes of steps")
        found = self.along(equation, operands)
        if isinstance(found, Along) and long != [found.axis]:
            raise self.refused(equation, "takes single steps out of all")
        return [found]

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
        parameters = sorted(equation.params.items(), key=lambda item: item[0])
        key = (equation.primitive.name, str(parameters), tuple(map(_identity, operands)))
        if key not in self.met:
            self.met[key] = [*staged(equation, operands), operands]
        return self.met[key][:-1]

    def refused(self, equation: JaxprEqn, why: str) -> UnsupportedError:
        """An error about one equation of the closed form."""
        return UnsupportedError(
            f"the closed form's '{equation.primitive.name}'{source_line(equation)} {why}; write it with sums, maxima, "
            "minima, products and scans over the steps"
        )

    # Whole numbers that depend on t

    def counted(self, equation: JaxprEqn, operands: list[Value]) -> Value:
        """An operation on a·t + b."""
        name = equation.primitive.name
        if name == "convert_element_type":
            (count,) = operands
            dtype = dtype_of(equation.outvars[0])
            return Moving(self.number(count, dtype)) if is_number(equation.outvars[0]) else count
        if name == "pow" and not isinstance(operands[0], Count | Moving):
            power = self.number(operands[1], dtype_of(equation.outvars[0]))
            return Moving(self.powered(operands[0], power))
        parts = [o if isinstance(o, Count) else _whole(o) for o in operands]
        if name in ("add", "sub", "mul") and None not in parts and not shape_of(equation.outvars[0]):
            x, y = (p if isinstance(p, Count) else Count(0, p) for p in parts)
            if name != "mul":
                sign = 1 if name == "add" else -1
                return Count(x.a + sign * y.a, x.b + sign * y.b)
            if not x.a or not y.a:
                return Count(x.a * y.b + y.a * x.b, x.b * y.b)
        raise self.refused(equation, "computes whole numbers from the number of steps in an unknown way")

    def number(self, count: Count, dtype: Any) -> Value:
        """a·t + b as a float."""
        time = lax.convert_element_type(self.count, dtype)
        most = time if count.a == 1 else lax.mul(np.array(count.a, dtype), time)
        return lax.add(most, np.array(count.b, dtype)) if count.b else most

    # Arrays with an axis of t entries

    def along(self, equation: JaxprEqn, operands: list[Value]) -> Value:
        """The result where an operand or the result has an axis of t entries."""
        name = equation.primitive.name
        if name == "iota":
            axis = _axis(equation)
            return self.numbered((1, 0, 0), axis, equation)
        if name == "broadcast_in_dim" and not isinstance(operands[0], Along):
            return self.repeated(equation, operands[0])
        numbers = [o.number for o in operands if isinstance(o, Along)]
        if any(numbers) and not is_number(equation.outvars[0]) and name not in ("rev", "broadcast_in_dim", "reshape"):
            return self.whole(equation, operands)
        if any(numbers) and name == "convert_element_type":
            return self.numbered(numbers[0], operands[0].axis, equation)
        if name == "rev" and operands[0].axis in equation.params["dimensions"]:
            return self.turned(equation, operands[0])
        if name in JOINED and operands[0].axis in equation.params["axes"]:
            return self.accumulated(equation, operands[0])
        if name == "dot_general":
            return self.product(equation, operands)
        if name in LINEAR:
            return LINEAR[name](self, equation, operands)
        return self.structural(equation, operands)

    def whole(self, equation: JaxprEqn, operands: list[Value]) -> Along:
        """An operation on the numbers of the steps."""
        name = equation.primitive.name
        parts = [_numbers(o) for o in operands]
        axis = next(o.axis for o in operands if isinstance(o, Along))
        if name == "convert_element_type" and parts[0] is not None:
            return Along(axis, (), parts[0])
        if len(parts) == 2 and None not in parts:
            (a, b, c), (d, e, f) = parts
            if name in ("add", "sub"):
                sign = 1 if name == "add" else -1
                return Along(axis, (), (a + sign * d, b + sign * e, c + sign * f))
            if name == "mul" and (a, c) == (0, 0):
                return Along(axis, (), (b * d, b * e, b * f))
            if name == "mul" and (d, f) == (0, 0):
                return Along(axis, (), (a * e, b * e, c * e))
        raise self.refused(equation, "computes with the numbers of the steps in an unknown way")

    def numbered(self, number: tuple[int, int, int], axis: int, equation: JaxprEqn) -> Along:
        """a·i + b + c·t as floats, if the result is one: the step i that is made now is the one after t others."""
        a, b, c = number
        if not is_number(equation.outvars[0]):
            return Along(axis, (), number)
        dtype, shape = dtype_of(equation.outvars[0]), _without(_shape(equation), axis)
        terms: list[tuple[Value | None, Value | None]] = [(None, lax.broadcast(self.number(Count(a, b), dtype), shape))]
        if c:
            terms.append((lax.broadcast(self.number(Count(c, 0), dtype), shape), None))
        return Along(axis, tuple(terms), number)

    def turned(self, equation: JaxprEqn, operand: Along) -> Along:
        """The numbers of the steps from the last to the first: i becomes t - 1 - i."""
        if operand.number is None or len(equation.params["dimensions"]) > 1:
            raise self.refused(equation, "reverses the steps")
        a, b, c = operand.number
        return self.numbered((-a, b - a, c + a), operand.axis, equation)

    def repeated(self, equation: JaxprEqn, operand: Value) -> Along:
        """An array repeated t times."""
        axis, shape, places = _axis(equation), _shape(equation), equation.params["broadcast_dimensions"]
        before = shape_of(equation.invars[0])
        kept = [(p - (p > axis), n) for p, n in zip(places, before, strict=True) if p != axis]
        flat = lax.reshape(_plain(operand), tuple(n for _, n in kept))
        value = lax.broadcast_in_dim(flat, _without(shape, axis), tuple(p for p, _ in kept))
        return Along(axis, ((value, None) if isinstance(operand, Moving) else (None, value),))

    def structural(self, equation: JaxprEqn, operands: list[Value]) -> Along:
        """Entries in new places, sums over other axes, and functions of rows alone."""
        name = equation.primitive.name
        arrays = [o for o in operands if isinstance(o, Along)]
        axis = arrays[0].axis
        if any(isinstance(o, Moving) for o in operands) or any(o.axis != axis for o in arrays):
            raise self.refused(equation, "mixes the steps with what depends on their number")
        rule = RULES.get(name)
        linear = rule is not None and len(operands) == 1 and name != "rev"
        if linear or len(operands) == 1 and name in REDUCTIONS and arrays[0].pure() is not None:
            return self.moved(rule or _reduced, equation, arrays[0])
        alone = name in ENTRYWISE
        rows = [o.pure() if isinstance(o, Along) else _row(o, axis) if alone else o for o in operands]
        if any(row is None for row in rows):
            raise self.refused(equation, "is applied to a row together with what depends on all steps")
        if name in ENTRYWISE:
            return Along(axis, ((None, self.stage(equation, rows)[0]),))
        if rule is not None:
            found = rule(equation, rows, [Rows(axis, SAME(r)) if isinstance(o, Along) else None
                                          for o, r in zip(operands, rows, strict=True)], axis)  # fmt: skip
            if found is not None:
                return Along(found.axis, ((None, found.at((0, 0), _unread)),))
        raise self.refused(equation, "is no operation on single steps")

    def moved(self, rule: Any, equation: JaxprEqn, operand: Along) -> Along:
        """A rearrangement of every factor."""
        axis, terms = operand.axis, []
        for pair in operand.terms:
            made = [None if x is None else rule(equation, [x], [Rows(operand.axis, SAME(x))], operand.axis)
                    for x in pair]  # fmt: skip
            if all(m is None for m in made) and any(x is not None for x in pair):
                raise self.refused(equation, "moves the steps")
            axis = next(m.axis for m in made if m is not None)
            terms.append(tuple(None if m is None else m.at((0, 0), _unread) for m in made))
        return Along(axis, tuple(terms))

    def sum(self, equation: JaxprEqn, operands: list[Value]) -> Along:
        """x + y, x − y."""
        x, y = (self.spread(equation, o, operands) for o in operands)
        terms = y.terms
        if equation.primitive.name == "sub":
            terms = tuple((f, lax.neg(r)) if r is not None else (lax.neg(f), None) for f, r in terms)
        return Along(x.axis, (*x.terms, *terms))

    def times(self, equation: JaxprEqn, operands: list[Value]) -> Along:
        """x·y and x²."""
        both = operands * 2 if len(operands) == 1 else operands
        x, y = (self.spread(equation, o, operands) for o in both)
        pairs = [(_both(f, g), _both(r, s)) for f, r in x.terms for g, s in y.terms]
        return Along(x.axis, tuple(pairs))

    def power(self, equation: JaxprEqn, operands: list[Value]) -> Along:
        """xⁿ: of a row alone, or as a product."""
        (x,), n = operands, equation.params["y"]
        if x.pure() is not None:
            return self.structural(equation, operands)
        if not 1 <= n <= MOST_FACTORS:
            raise self.refused(equation, "is a power of what depends on all steps")
        found = x
        for _ in range(n - 1):
            found = self.times(equation, [found, x])
        return found

    def negated(self, equation: JaxprEqn, operands: list[Value]) -> Along:
        """−x and casts: of one factor of every product."""
        (x,) = operands
        if equation.primitive.name == "convert_element_type":
            of = lambda value: None if value is None else lax.convert_element_type(value, dtype_of(equation.outvars[0]))
            return Along(x.axis, tuple((of(f), of(r)) for f, r in x.terms))
        return Along(x.axis, tuple((f, lax.neg(r)) if r is not None else (lax.neg(f), None) for f, r in x.terms))

    def divided(self, equation: JaxprEqn, operands: list[Value]) -> Along:
        """x/y for a y that is a row alone, or does not depend on the row."""
        x, y = (self.spread(equation, o, operands) for o in operands)
        if len(y.terms) != 1:
            raise self.refused(equation, "divides by a sum of a row and what depends on all steps")
        ((fixed, row),) = y.terms
        return Along(x.axis, tuple((_over(f, fixed), _over(r, row)) for f, r in x.terms))

    def exponential(self, equation: JaxprEqn, operands: list[Value]) -> Along:
        """exp(fixed + row) = exp(fixed)·exp(row)."""
        (x,) = operands
        fixed, row = self.parted(equation, x)
        of = lambda value: None if value is None else self.stage(equation, [value])[0]
        return Along(x.axis, ((of(fixed), of(row)),))

    def raised(self, equation: JaxprEqn, operands: list[Value]) -> Along:
        """c^(fixed + row) = c^fixed·c^row for a c > 0 that no step changes; other powers of rows alone."""
        base, exponent = operands
        if isinstance(base, Along | Moving) or not isinstance(exponent, Along):
            return self.structural(equation, operands)
        if exponent.number is not None:
            exponent = self.numbered(exponent.number, exponent.axis, equation)
        fixed, row = self.parted(equation, exponent)
        of = lambda value: None if value is None else self.powered(base, value)
        return Along(exponent.axis, ((of(fixed), of(row)),))

    def powered(self, base: Value, power: Value) -> Value:
        """A power of a number that has to be positive."""
        self.bases.append(base)
        return lax.exp(lax.mul(lax.log(_shaped(base, power)), power))

    def parted(self, equation: JaxprEqn, x: Along) -> tuple[Value | None, Value | None]:
        """A sum as one part that does not depend on the row and one that is the row's alone.

        Raises:
            UnsupportedError: a product of both stands in it.
        """
        if any(f is not None and r is not None for f, r in x.terms):
            raise self.refused(equation, "is applied to a product of a row and what depends on all steps")
        add = lambda values: None if not values else _folded(values)
        return add([f for f, r in x.terms if r is None]), add([r for _, r in x.terms if r is not None])

    def spread(self, equation: JaxprEqn, operand: Value, operands: Sequence[Value]) -> Along:
        """An operand of an entrywise operation as products; a scalar is the same for all entries."""
        if isinstance(operand, Along):
            if operand.number is not None and not operand.terms:
                raise self.refused(equation, "mixes whole numbers and floats")
            return operand
        axis = next(o.axis for o in operands if isinstance(o, Along))
        shape = _without(_shape(equation), axis)
        value = lax.convert_element_type(_row(_plain(operand), axis), dtype_of(equation.outvars[0]))
        wide = lax.broadcast(value, shape) if not np.ndim(value) else jnp.broadcast_to(value, shape)
        return Along(axis, ((wide, None) if isinstance(operand, Moving) else (None, wide),))

    # Accumulators

    def accumulated(self, equation: JaxprEqn, operand: Along) -> Value:
        """A reduction over the steps, and over other axes after it."""
        name, axes = equation.primitive.name, equation.params["axes"]
        inner = tuple(d - (d > operand.axis) for d in axes if d != operand.axis)
        if name == "reduce_sum":
            parts = [_both(f, self.total(r)) for f, r in operand.terms]
            like = jax.ShapeDtypeStruct(
                _without(shape_of(equation.invars[0]), operand.axis), dtype_of(equation.outvars[0])
            )
            value = _shaped(_folded(parts), like)
        elif operand.pure() is not None:
            value = self.accumulator(name, operand.pure())
        elif name in ("reduce_max", "reduce_min"):
            fixed, row = self.parted(equation, operand)
            value = (
                fixed if row is None else _folded([x for x in (fixed, self.accumulator(name, row)) if x is not None])
            )
        else:
            raise self.refused(equation, "multiplies rows with what depends on all steps")
        if inner:
            value = equation.primitive.bind(value, **{**equation.params, "axes": inner})
        return Moving(value)

    def total(self, row: Value | None) -> Value:
        """Σ_i row_i; of ones it is t."""
        return self.count if row is None else self.accumulator("reduce_sum", row)

    def accumulator(self, name: str, row: Value) -> Value:
        """The accumulator of a reduction of rows."""
        key = (name, _identity(row))
        if key not in self.met:
            (letter,) = self.letters([jax.ShapeDtypeStruct(row.shape, row.dtype)])
            empty = EMPTY.get(name)
            before = None if empty is None else [lax.full(row.shape, empty, row.dtype)]
            self.note([letter], before, [row], [JOINED[name](letter, row)], reduces=True)
            self.met[key] = [letter, row]
        return self.met[key][0]

    def letters(self, types: Sequence[jax.ShapeDtypeStruct]) -> list[Value]:
        """The next accumulators that were given; zeros where they are only counted."""
        if self.given is None:
            return [lax.full(t.shape, 0, t.dtype) for t in types]
        found = list(self.given[self.used : self.used + len(types)])
        self.used += len(types)
        return found

    def note(
        self,
        letters: Sequence[Value],
        before: list[Value] | None,
        first: list[Value],
        after: list[Value],
        *,
        reduces: bool,
    ) -> None:
        """Keeps an accumulator."""
        types = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in letters]
        self.accumulators.append(Accumulator(types, before, first, after, reduces))

    def product(self, equation: JaxprEqn, operands: list[Value]) -> Value:
        """A product of matrices: a sum over the steps if they are contracted, else one for every step."""
        contracted, batched = equation.params["dimension_numbers"]
        arrays = [o for o in operands if isinstance(o, Along)]
        over = [isinstance(o, Along) and o.axis in contracted[i] for i, o in enumerate(operands)]
        if not any(over):
            return self.structural(equation, operands)
        x, y = operands
        if len(arrays) < 2 or not all(over) or tuple(contracted[0]).index(x.axis) != tuple(contracted[1]).index(y.axis):
            raise self.refused(equation, "contracts the steps with another axis")
        less = lambda side, dims: tuple(d - (d > side.axis) for d in dims if d != side.axis)
        numbers = tuple(tuple(less(o, dims) for o, dims in zip(operands, pair, strict=True))
                        for pair in (contracted, batched))  # fmt: skip
        own = {**equation.params, "dimension_numbers": numbers}
        multiply = lambda a, b: equation.primitive.bind(a, b, **own)
        fixed = any(f is not None for o in operands for f, _ in o.terms)
        if fixed and numbers[0][0]:
            raise self.refused(equation, "contracts another axis of what depends on all steps")
        ones = lambda o: next(lax.full(v.shape, 1, v.dtype) for pair in o.terms for v in pair if v is not None)
        parts = []
        for f, r in x.terms:
            for g, s in y.terms:
                row = multiply(ones(x) if r is None else r, ones(y) if s is None else s)
                total = self.accumulator("reduce_sum", row)
                if f is not None or g is not None:
                    total = lax.mul(multiply(ones(x) if f is None else f, ones(y) if g is None else g), total)
                parts.append(total)
        return Moving(_folded(parts))

    def scanned(self, equation: JaxprEqn, operands: list[Value]) -> list[Value]:
        """A scan over the rows: its carry is an accumulator."""
        constants, carries = scan_counts(equation)
        first = constants + carries
        if equation.params["reverse"]:
            raise self.refused(equation, "visits the steps in reverse")
        if any(isinstance(o, Moving | Along | Count) for o in operands[:first]):
            raise self.refused(equation, "starts from, or uses, what depends on all steps")
        rows = []
        for operand in operands[first:]:
            row = operand.pure() if isinstance(operand, Along) and operand.axis == 0 else None
            if row is None:
                raise self.refused(equation, "visits more than single steps")
            rows.append(row)
        body = equation.params["jaxpr"]
        run = lambda carry: Walk().closed(body, [*operands[:constants], *carry, *rows])[:carries]
        start = [_plain(o) for o in operands[constants:first]]
        if not all(is_number(v) for v in equation.invars[constants:first]):
            raise self.refused(equation, "carries whole numbers")
        letters = self.letters(
            [jax.ShapeDtypeStruct(shape_of(v), dtype_of(v)) for v in equation.invars[constants:first]]
        )
        self.note(letters, start, run(start), run(letters), reduces=False)
        beside = [None] * (len(equation.outvars) - carries)
        return [*map(Moving, letters), *beside]


LINEAR: dict[str, Any] = {
    "add": Prefix.sum,
    "add_any": Prefix.sum,
    "sub": Prefix.sum,
    "mul": Prefix.times,
    "square": Prefix.times,
    "neg": Prefix.negated,
    "convert_element_type": Prefix.negated,
    "div": Prefix.divided,
    "exp": Prefix.exponential,
    "exp2": Prefix.exponential,
    "integer_pow": Prefix.power,
    "pow": Prefix.raised,
}
"""Operations that keep sums of products."""

MOST_FACTORS = 4
"""Powers up to this are written as products."""


def _both(x: Value | None, y: Value | None) -> Value | None:
    """x·y, where None is 1, and a scalar is the same for all entries."""
    if x is None or y is None:
        return y if x is None else x
    if np.ndim(x) != np.ndim(y):
        x, y = (_shaped(v, max(x, y, key=np.ndim)) for v in (x, y))
    return lax.mul(x, lax.convert_element_type(y, x.dtype))


def _row(value: Value, axis: int) -> Value:
    """The row of an array with one entry along an axis, which stands for t equal ones."""
    return lax.squeeze(value, (axis,)) if np.ndim(value) else value


def _over(x: Value | None, y: Value | None) -> Value | None:
    """x/y, where None is 1."""
    return x if y is None else lax.div(lax.full(y.shape, 1, y.dtype) if x is None else x, y)


def _numbers(value: Value) -> tuple[int, int, int] | None:
    """Whole numbers a·i + b + c·t, where they are known."""
    if isinstance(value, Along):
        return value.number
    if isinstance(value, Count):
        return (0, value.b, value.a)
    whole = _whole(value)
    return None if whole is None else (0, whole, 0)


def _shaped(value: Value, like: Value) -> Value:
    """A scalar as an array of another's shape and dtype."""
    value = lax.convert_element_type(value, like.dtype)
    return value if np.ndim(value) or not like.shape else lax.broadcast(value, like.shape)


def _folded(values: Sequence[Value]) -> Value:
    """The sum of arrays, some of which may be scalars."""
    most = max(values, key=np.ndim)
    total = _shaped(values[0], most)
    for value in values[1:]:
        total = lax.add(total, _shaped(value, most))
    return total


def _unread(letter: Any) -> Value:
    raise AssertionError(letter)


def _identity(value: Value) -> Any:
    return (value.tobytes(), value.shape, str(value.dtype)) if is_concrete(value) else id(value)


def _plain(value: Value) -> Value:
    return value.value if isinstance(value, Moving) else value


def _whole(value: Value) -> int | None:
    return int(value) if is_concrete(value) and not np.ndim(value) else None


def _shape(equation: JaxprEqn) -> tuple[Any, ...]:
    return tuple(shape_of(equation.outvars[0]))


def _axis(equation: JaxprEqn) -> int:
    """The axis of t entries of a result."""
    return next(place for place, size in enumerate(_shape(equation)) if jax.export.is_symbolic_dim(size))


def _without(shape: Sequence[Any], axis: int) -> tuple[Any, ...]:
    return (*shape[:axis], *shape[axis + 1 :])


def _dimension(size: Any, equation: JaxprEqn) -> Count:
    """A dimension such as t, 2*t or t - 1, read off its text."""
    text = str(size).replace(" ", "")
    coefficient, _, constant = text.partition("t")
    coefficient = coefficient.removesuffix("*")
    try:
        a = {"": 1, "-": -1}[coefficient] if coefficient in ("", "-") else int(coefficient)
        return Count(a, int(constant or 0))
    except (KeyError, ValueError):
        raise UnsupportedError(
            f"the closed form{source_line(equation)} needs the number {text} for t steps; use t alone"
        ) from None
