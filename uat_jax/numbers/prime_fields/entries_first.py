"""Entries of what is computed entry by entry, taken from its operands before it is computed.

    (C ⊙ f(x))[k, k] = C[k, k]·f(x[k, k])        Σⱼ C[k, j]·f(x[k, j]) = C[k, k]·f(x[k, k])  where C is 0 at j ≠ k
    Σⱼ where(mask, exp(xⱼ), 0) = Σⱼ exp(xⱼ) over the j of the mask, of which logarithms are known

An array that is multiplied by zeros and ones, such as a Jacobian of a function of each entry, is neither positive nor
an exponential; the entries that the ones keep may be both.  So where an equation takes entries, and a constant of
different entries is one number at those, what is behind it is applied to these entries alone.  docs/soundness.md §8.6
has the proof.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.closed_form import rational
from uat_jax.interpret.operation import LARGE
from uat_jax.interpret.retracing import bound
from uat_jax.interpret.structure import positions
from uat_jax.interpret.tracing import dtype_of, shape_of
from uat_jax.numbers.prime_fields.common_factors import terms_of_product, terms_of_sum
from uat_jax.numbers.prime_fields.expressions import Expression
from uat_jax.numbers.prime_fields.formula import ENTRYWISE, REARRANGING
from uat_jax.numbers.prime_fields.gathering import MOST_PARTS, gathered
from uat_jax.numbers.prime_fields.number import MINUS_INFINITY, Number, Parts
from uat_jax.typing import PyTree

if TYPE_CHECKING:
    from uat_jax.numbers.prime_fields.fields import Fields, Value

LAW = "entries first"

MOST_TAKEN = 1 << 8
"""Results of more entries are left as they are."""

MOST_VISITED = 64
"""So many expressions are followed at most."""

TAKING = frozenset("dynamic_slice gather slice".split())
"""Primitives that take some entries of one array."""

MOVING = REARRANGING | TAKING | {"concatenate", "copy", "pad", "split", "stack"}
"""Primitives that move entries, through which they are followed."""

TOGETHER = frozenset("concatenate pad stack".split())
"""Those that put several arrays together."""

BY_ENTRIES = TAKING | {"reduce_sum", "dot_general"}
"""Primitives of which entries are looked at first: those that take entries, and sums that may have one term only."""


@dataclass(frozen=True)
class _Taken:
    """Entries of an array: of a value at hand, or a primitive applied to others.  operands: of the equation."""

    dtype: np.dtype
    shape: tuple[int, ...]
    leaf: PyTree = None
    equation: JaxprEqn | None = None
    operands: tuple[_Taken, ...] = ()


def entries_first(fields: Fields, equation: JaxprEqn, operands: Sequence[Any]) -> Value | None:
    """The result of an equation that takes entries, computed from those entries; None where that says no more.

    Args:
        fields: what follows the program.
        equation: a structural equation, a sum or a product of matrices.
        operands: its operands.
    """
    plain = all(isinstance(x, Number | np.ndarray | np.generic) for x in operands)
    if not plain or not any(isinstance(x, Number) for x in operands):
        return None
    if math.prod(shape_of(equation.outvars[0])) > MOST_TAKEN or any(0 in shape_of(atom) for atom in equation.invars):
        return None
    name, walk = equation.primitive.name, _Walk(fields)
    try:
        if name in TAKING:
            found = walk.entries(equation, operands)
            return None if found is None or not walk.useful else walk.value(found)
        if name == "reduce_sum" and equation.params["axes"]:
            return walk.kept_terms(equation, operands, terms_of_sum)
        if name == "dot_general":
            return walk.kept_terms(equation, operands, terms_of_product)
    except UnsupportedError:
        return None
    return None


def parts_by_constants(fields: Fields, number: Number, dtype: np.dtype) -> Parts | None:
    """A small sum with a constant of different entries, as the sums with each of its values put together.

    None where a number is no such sum, or the constant has more than `MOST_PARTS` values.
    """
    if number.expression is None or not 1 < math.prod(number.shape) <= MOST_TAKEN:
        return None
    walk = _Walk(fields)
    constants = [np.broadcast_to(c, number.shape) for c in walk.added_constants(number.expression)]
    if not constants:
        return None
    flat = np.stack([np.unique(c.ravel(), return_inverse=True)[1] for c in constants])
    kinds, group = np.unique(flat, axis=1, return_inverse=True)
    if not 1 < kinds.shape[1] <= MOST_PARTS:
        return None
    sources = [np.flatnonzero(group.ravel() == k) for k in range(kinds.shape[1])]
    taken = [walk.visit(number.expression, source, dtype) for source in sources]
    values = [None if part is None else walk.value(part) for part in taken]
    numbers = tuple(value for value in values if isinstance(value, Number) and value.almost is None)
    if len(numbers) < len(values):
        return None
    return Parts(numbers, np.argsort(np.concatenate(sources)).reshape(number.shape))


class _Walk:
    """useful: whether a constant of different entries is one number at those that are taken."""

    def __init__(self, fields: Fields) -> None:
        self.fields, self.expressions, self.visited, self.useful = fields, fields.expressions, 0, False

    def entries(self, equation: JaxprEqn, operands: Sequence[Any]) -> _Taken | None:
        """The entries that a structural equation takes of its first operand."""
        if any(isinstance(x, Number) for x in operands[1:]):
            return None
        supplied = (True, *[False] * (len(operands) - 1))
        return self.taken(operands[0], positions(equation, operands, supplied)[0], equation, 0)

    def kept_terms(
        self, equation: JaxprEqn, operands: Sequence[Any], terms_of: Callable[..., list[np.ndarray]]
    ) -> Number | None:
        """Sums without the terms that are multiplied by 0; these are numbers for all inputs.

        Sums of several terms are looked at for the sake of logarithms only.
        """
        finite = (isinstance(x, Number) and x.special is None and x.infinite is None for x in operands)
        if not all(finite) or not self.fields.certain(*operands):
            return None
        supports = [self.support(self.fields.place(x)).ravel() for x in operands]
        if all(map(np.all, supports)):  # as in most sums: no term is multiplied by 0
            return None
        terms = terms_of(equation, *map(shape_of, equation.invars))
        kept = np.logical_and.reduce([there[grid] for there, grid in zip(supports, terms, strict=True)])
        if not kept.size or kept.shape[-1] < 2 or kept.all():
            return None
        counts = kept.sum(-1)
        numbers = sorted(set(counts.tolist()))
        if numbers != [1] and not self.fields.functions.logarithms or len(numbers) > MOST_PARTS:
            return None
        shape = shape_of(equation.outvars[0])
        if len(numbers) == 1:
            every = np.arange(len(counts))
            return self.sums_of(equation, operands, terms, kept, every.reshape(shape), numbers[0])
        rows = [np.flatnonzero(counts == n) for n in numbers]
        sums = [self.sums_of(equation, operands, terms, kept, *of) for of in zip(rows, numbers, strict=True)]
        found = [x for x in sums if x is not None]
        if len(found) < len(sums):
            return None
        places = np.argsort(np.concatenate(rows)).reshape(shape)
        name = self.expressions.part(f"sums {places.tolist()}", 0, list(map(self.fields.place, found)), shape)
        return gathered(self.fields.functions, found, places).but(expression=name)

    def sums_of(
        self,
        equation: JaxprEqn,
        operands: Sequence[Any],
        terms: Sequence[np.ndarray],
        kept: np.ndarray,
        rows: np.ndarray,
        number: int,
    ) -> Number | None:
        """The values of the sums that have so many terms left, an array of the shape of `rows`; None if one is unknown.

        Args:
            equation, operands, terms: of all sums, as for `kept_terms`.
            kept: for each sum, end to end, which of its terms are left.
            rows: the numbers of the sums that are wanted, in any shape.
            number: how many terms each of them has left.
        """
        if not number:
            return self.fields.number(np.zeros(rows.shape))
        left = np.nonzero(kept[rows.ravel()])[1].reshape(rows.size, number)
        sources = [np.take_along_axis(grid[rows.ravel()], left, axis=-1) for grid in terms]
        along = rows.shape if number == 1 else (*rows.shape, number)
        sources = [source.reshape(along) for source in sources]
        found = [self.taken(x, s, equation, i) for i, (x, s) in enumerate(zip(operands, sources, strict=True))]
        parts = [part for part in found if part is not None]
        if len(parts) < len(found) or len({part.dtype for part in parts}) > 1:
            return None
        product = parts[0] if len(parts) == 1 else _applied(lax.mul, *parts)
        total = product if number == 1 else _applied(functools.partial(jnp.sum, axis=-1), product)
        value = self.value(total)
        return value if isinstance(value, Number) else None

    def added_constants(self, place: int) -> Iterator[np.ndarray]:
        """The constants of different entries among the terms of a sum."""
        expression, constant = self.expressions[place], self.constant(place)
        self.visited += 1
        if constant is not None:
            if (constant != constant.flat[0]).any():
                yield constant
        elif expression.equation is not None and expression.equation.primitive.name in ("add", "sub"):
            for operand in expression.operands if self.visited <= MOST_VISITED else ():
                yield from self.added_constants(operand)

    def support(self, place: int) -> np.ndarray:
        """Where an array may be something else than 0; of one that is not large it is looked up once."""
        known = self.expressions.supports
        if place in known:
            return known[place]
        found = self.looked_up_support(place)
        if self.visited <= MOST_VISITED and found.size < LARGE:
            known[place] = found
        return found

    def looked_up_support(self, place: int) -> np.ndarray:
        """Where an array may be something else than 0, by what it is computed from."""
        expression = self.expressions[place]
        equation, operands = expression.equation, expression.operands
        everywhere = _everywhere(expression.shape)
        if (constant := self.constant(place)) is not None:
            return constant != 0
        self.visited += 1
        if equation is None or self.visited > MOST_VISITED:
            return everywhere
        name = equation.primitive.name
        of = lambda i: np.broadcast_to(self.support(operands[i]), expression.shape)
        if name == "mul":
            return of(0) & of(1)
        if name == "exp" and (codes := self.special(operands[0])) is not None:
            return codes != MINUS_INFINITY
        if name in ("div", "neg", "convert_element_type"):
            return of(0)
        if name == "select_n" and len(operands) == 3 and (chosen := self.constant(operands[0])) is not None:
            return np.where(chosen.astype(bool), of(2), of(1))
        if name in MOVING and (moved := self.moved(equation, expression)) is not None:
            given = operands if name in TOGETHER else operands[:1]
            return np.concatenate([self.support(operand).ravel() for operand in given])[moved]
        return everywhere

    def special(self, place: int) -> np.ndarray | None:
        """Which entries of a value at hand are infinite or NaN for all inputs, if some are."""
        value = self.fields.functions.small.get(place)
        return None if value is None else value.special

    def constant(self, place: int) -> np.ndarray | None:
        """Numbers that are equal where the entries of a constant array are, and 0 there; None if it varies."""
        expression, value = self.expressions[place], self.fields.functions.small.get(place)
        if expression.constant is not None:
            return expression.constant
        if value is None or value.closed is None or value.special is not None:
            return None
        names = np.array([0 if form == rational(0) else 1 + i for i, form in enumerate(value.closed.distinct)])
        return np.broadcast_to(names[value.closed.codes], expression.shape)

    def moved(self, equation: JaxprEqn, expression: Expression) -> np.ndarray | None:
        """Which entries of its operands, laid end to end, those of a result are; None if inputs decide that."""
        if equation.primitive.name == "copy":
            return np.arange(math.prod(expression.shape)).reshape(expression.shape)
        together = equation.primitive.name in TOGETHER
        supplied = [i == 0 or together for i in range(len(expression.operands))]
        indices = [self.expressions[place].constant for place in expression.operands]
        if any(index is None and not entries for index, entries in zip(indices, supplied, strict=True)):
            return None
        given = [None if entries else index for index, entries in zip(indices, supplied, strict=True)]
        return positions(equation, given, supplied)[expression.result].astype(int)

    def taken(self, value: Value, source: np.ndarray, used_by: JaxprEqn, operand: int) -> _Taken | None:
        """Entries `source` of an operand."""
        dtype = dtype_of(used_by.invars[operand])
        if not isinstance(value, Number):
            return _Taken(dtype, source.shape, leaf=np.asarray(value).ravel()[source])
        return self.visit(self.fields.place(value), source, dtype)

    def visit(self, place: int, source: np.ndarray, dtype: np.dtype) -> _Taken | None:
        """Entries of the array at a place, computed from entries where that makes a constant one number."""
        self.visited += 1
        expression = self.expressions[place]
        equation = expression.equation
        useful, self.useful = self.useful, False
        found = None
        if equation is not None and self.constant(place) is None and self.visited <= MOST_VISITED:
            if equation.primitive.name in MOVING:
                found = self.moved_from(equation, expression, source)
            elif equation.primitive.name in ENTRYWISE:
                found = self.applied(equation, expression, source, dtype)
        helped, self.useful = self.useful, useful or self.useful
        return found if helped and found is not None else self.leaf(place, source, dtype)

    def moved_from(self, equation: JaxprEqn, expression: Expression, source: np.ndarray) -> _Taken | None:
        """Entries of a rearrangement that are all taken from one of its operands."""
        moved = self.moved(equation, expression)
        if moved is None or not source.size:
            return None
        here, start = moved.ravel()[source], 0
        for i, place in enumerate(expression.operands):
            size = math.prod(self.expressions[place].shape)
            if start <= here.min() and here.max() < start + size:
                found = self.visit(place, here - start, dtype_of(equation.invars[i]))
                self.useful |= equation.primitive.name in TOGETHER
                return found
            start += size
        return None

    def applied(self, equation: JaxprEqn, expression: Expression, source: np.ndarray, dtype: np.dtype) -> _Taken | None:
        """An entry-by-entry function at entries of its operands."""
        parts: list[_Taken | None] = []
        for i, place in enumerate(expression.operands):
            shape = self.expressions[place].shape
            every = np.arange(math.prod(shape)).reshape(shape)
            here = np.broadcast_to(every, expression.shape).ravel()[source]
            constant = self.constant(place)
            if constant is not None and source.size:
                kept = constant.ravel()[here]
                self.useful |= bool((constant != constant.flat[0]).any() and (kept == kept.flat[0]).all())
            codes = self.special(place)
            self.useful |= codes is not None and not codes.ravel()[here].any()
            parts.append(self.visit(place, here, dtype_of(equation.invars[i])))
        known = tuple(part for part in parts if part is not None)
        return None if len(known) < len(parts) else _Taken(dtype, source.shape, None, equation, known)

    def leaf(self, place: int, source: np.ndarray, dtype: np.dtype) -> _Taken | None:
        """Entries of a value at hand."""
        expression = self.expressions[place]
        value = self.fields.functions.small.get(place, expression.constant)
        if isinstance(value, Number):
            if value.almost is not None or value.infinite is not None:
                return None
            if value.special is not None and value.special.ravel()[source].any():
                return None
            if source.shape != value.shape or (source.ravel() != np.arange(source.size)).any():
                name = self.expressions.part(f"entries {source.tolist()}", 0, [place], source.shape)
                value = gathered(self.fields.functions, [value], source).but(expression=name, special=None)
            return _Taken(dtype, source.shape, leaf=value)
        return None if value is None else _Taken(dtype, source.shape, leaf=value.ravel()[source])

    def value(self, found: _Taken) -> Value:
        """What was taken, evaluated."""
        if found.equation is None:
            return found.leaf
        leaves: list[_Taken] = []
        program = _program(found, leaves)
        return self.fields.inner(program, [leaf.leaf for leaf in leaves])[0]


@functools.lru_cache(maxsize=1 << 10)
def _everywhere(shape: tuple[int, ...]) -> np.ndarray:
    """The marks of all entries: one array for each shape, which takes no memory and cannot be written to."""
    return np.broadcast_to(np.bool_(True), shape)


def _applied(function: Any, *operands: _Taken) -> _Taken:
    """One primitive of JAX applied to what was taken."""
    specs = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in operands]
    with jax.enable_x64(True):  # the types are the equations' own
        equation, *others = jax.make_jaxpr(function)(*specs).eqns
    if others:  # floats of 16 bits are summed in 32
        raise UnsupportedError("a sum is made of several primitives")
    (result,) = equation.outvars
    return _Taken(dtype_of(result), shape_of(result), equation=equation, operands=operands)


def _program(found: _Taken, leaves: list[_Taken]) -> ClosedJaxpr:
    """The operations as a program of the leaves, which are put into the list."""
    _collect(found, leaves)
    specs = [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in leaves]

    def function(*inputs: Any) -> Any:
        at = {id(leaf): x for leaf, x in zip(leaves, inputs, strict=True)}

        def made(node: _Taken) -> jax.Array:
            if node.equation is None:
                return at[id(node)]
            (result,) = bound(node.equation, list(map(made, node.operands)), node.equation.params)
            return result

        return made(found)

    with jax.enable_x64(True):  # the types are the equations' own
        return jax.make_jaxpr(function)(*specs)


def _collect(node: _Taken, leaves: list[_Taken]) -> None:
    if node.equation is None:
        leaves.append(node)
    for operand in node.operands:
        _collect(operand, leaves)
