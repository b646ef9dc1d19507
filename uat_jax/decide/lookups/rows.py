"""A program in which the rows that letters choose are read from arrays of rows, one for each letter: the rest of it.

A row of what is computed of a table is computed of the rows of the table, until it is one of an input or a constant:

    exp(T)[i] = exp(T[i])        (T W)[i] = T[i] W        (h W)[t, i_t] = h[t] W[:, i_t]        T'[i] = T[:, i]

What is refused raises `UnsupportedError`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn, Literal
from jax.typing import DTypeLike

from uat_jax.decide.lookups.integer_part import LONGEST, Axis, Comparison, Landing, Lookup
from uat_jax.decide.lookups.letters import Letters
from uat_jax.decide.lookups.sparse import Sparse, Spread, applied, is_zero
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.retracing import bound
from uat_jax.interpret.tracing import dtype_of, shape_of, source_line
from uat_jax.typing import Array, Atom

ELEMENTWISE = frozenset(
    """abs acos acosh add add_any and asin asinh atan atan2 atanh cbrt ceil clamp convert_element_type copy cos
    cosh div eq erf erf_inv erfc exp exp2 expm1 floor ge gt integer_pow is_finite le log log1p logistic lt max
    min mul ne neg not or pow rem round rsqrt select_n sign sin sinh sqrt square sub tan tanh xor""".split()
)
"""Primitives of which an entry of the result is computed of the entries at the same place."""

REDUCING = frozenset("reduce_sum reduce_max reduce_min reduce_prod".split())
"""Primitives that take an axis away."""


@dataclass
class Rows:
    """One program, replayed by JAX.

    given: the arrays of one case by (kind, number).  row_of: the array of rows of an input or a constant along one of
    its axes, one for each key; `numbers`, the letters as real numbers, and `places`, the keys.
    count: how many keys there are.  elsewhere: the number of a key that no integer is;
    None, or an error if an infinity may be written there, if all integers are known.
    fixed: the different values that an array of integers has in the cases.  filled: what holds NaN where a place is
    outside of its table, or may.  multiplied_elsewhere: whether what is computed of a table is multiplied with 0 at
    places that are not chosen.
    """

    program: ClosedJaxpr
    integers: Mapping[Any, Any]
    roles: Mapping[int, Any]
    given: Any
    row_of: Callable[[Any, int], Any]
    numbers: Callable[[], Any]
    places: Callable[[], Any]
    count: int
    elsewhere: Callable[[bool], int | None]
    fixed: Callable[[Any], set[bytes]]
    values: dict[Any, Any] = field(default_factory=dict)
    made_by: dict[Any, JaxprEqn] = field(default_factory=dict)
    filled: set[Any] = field(default_factory=set)
    multiplied_elsewhere: bool = False

    def results(self, inputs: Sequence[Any]) -> list[Any]:
        """The outputs of the program, of inputs of which those of integers are not looked at."""
        jaxpr = self.program.jaxpr
        self.values.update(zip(jaxpr.invars, inputs, strict=True))
        self.values.update(zip(jaxpr.constvars, map(np.asarray, self.program.consts), strict=True))
        for number, equation in enumerate(jaxpr.eqns):
            if all(v in self.integers for v in equation.outvars):
                continue
            found = self._applied(number, equation)
            dtype = dtype_of(equation.outvars[0])
            if isinstance(found[0], Spread) and not (jnp.issubdtype(dtype, jnp.inexact) or found[0].fits(dtype)):
                raise self.refused(equation)  # sums of integers wrap, and parts of sums are rounded apart
            self.values.update(zip(equation.outvars, found, strict=True))
            self.made_by.update((v, equation) for v in equation.outvars)
        found = [self.read(v) for v in jaxpr.outvars]
        if any(isinstance(x, Sparse) for x in found):
            raise UnsupportedError("a function returns a comparison of integers with all places")
        cast = lambda x, v: x if isinstance(x, Spread) else jnp.asarray(x, dtype_of(v))
        return [cast(x, v) for x, v in zip(found, jaxpr.outvars, strict=True)]

    def read(self, atom: Atom) -> Any:
        """The value of a variable of the program, or of a literal."""
        if isinstance(atom, Literal):
            return np.asarray(atom.val, dtype_of(atom))
        if atom in self.integers:
            return self.given["integer", atom]
        return self.values[atom]

    def _applied(self, number: int, equation: JaxprEqn) -> Sequence[Any]:
        role = self.roles.get(number)
        if isinstance(role, Lookup):
            return [self._looked_up(number, equation, role)]
        if isinstance(role, Comparison):
            if not role.equal:
                raise self.refused(equation)
            return [Sparse(role.axis, self.given["key", number], self.given.get(("inside", number)), most=1)]
        if isinstance(role, Letters):
            return [self._as_number(number, equation)]
        if isinstance(role, Landing):
            return [self._landed(number, equation, role)]
        operands = [self.read(v) for v in equation.invars]
        if any(isinstance(x, Sparse | Spread) for x in operands):
            return [applied(self, equation, operands)]
        if equation.primitive.name == "gather":
            self.filled.update(equation.outvars)
        return bound(equation, operands, equation.params)

    def _looked_up(self, number: int, equation: JaxprEqn, role: Lookup) -> Any:
        shape = role.shape
        at = [self.given.get(("place", number, d), c) for d, c in enumerate(role.coordinates)]
        found = self.look(equation.invars[0], role.axis, at, self.given["key", number])
        found = jnp.broadcast_to(found, shape)
        inside = self.given.get(("inside", number))
        if inside is None:
            return found
        if not np.isfinite(role.fill):
            self.filled.update(equation.outvars)
        return jnp.where(inside, found, jnp.asarray(role.fill, found.dtype))

    def _landed(self, number: int, equation: JaxprEqn, role: Landing) -> Spread:
        """A sum of rows at the places of keys, written as one of rows for each key."""
        table, _, updates = (None if k == 1 else self.read(v) for k, v in enumerate(equation.invars))
        if isinstance(table, Sparse) or isinstance(updates, Sparse | Spread):
            raise self.refused(equation)
        shape = list(shape_of(equation.invars[0]))
        shape[role.axis] = self.count
        entries = jnp.zeros(shape, dtype_of(equation.outvars[0]))
        base = None if is_zero(self, equation.invars[0]) else table
        if isinstance(table, Spread):
            entries, base = table.entries, table.base
            if table.axis != role.axis:
                raise self.refused(equation)
        key, inside = self.given["key", number], self.given.get(("inside", number))
        key = key if inside is None else jnp.where(inside, key, self.count)  # left out
        indices = jnp.asarray(self.given["indices", number], jnp.int32).at[..., role.column].set(key)
        mode = jax.lax.GatherScatterMode.FILL_OR_DROP
        promises = {"indices_are_sorted": False, "unique_indices": False}  # of places, not of the numbers of keys
        found = bound(equation, [entries, indices, updates], {**equation.params, **promises, "mode": mode})
        return Spread(role.axis, found[0], base, role.most)

    def _as_number(self, number: int, equation: JaxprEqn) -> Any:
        letters = self.numbers()
        plus, minus, offset = (self.given[part, number] for part in ("plus", "minus", "offset"))
        found = jnp.take(letters, plus, axis=0) - jnp.take(letters, minus, axis=0) + offset
        return jnp.asarray(found, dtype_of(equation.outvars[0]))

    def refused(self, equation: JaxprEqn) -> UnsupportedError:
        """That a primitive is not followed where integers choose."""
        return UnsupportedError(
            f"'{equation.primitive.name}'{source_line(equation)} is not followed between a table and the integers that "
            "choose from it"
        )

    # Rows of what is computed

    def look(self, atom: Atom, axis: int, at: Sequence[Any], key: Any) -> Any:
        """The entries of a value at a key along an axis and at places along the others.

        at: for every axis an `Axis` of the result or an array of places that can be broadcast to it; the one of `axis`
        does not count.  Returns an array of the rank of `key`; along what it does not depend on it has one place.
        """
        rank = np.ndim(key)
        if atom in self.integers or isinstance(atom, Literal) or isinstance(self.values.get(atom), Sparse | Spread):
            raise UnsupportedError("entries of integers are chosen by integers that are letters")
        equation = self.made_by.get(atom)
        if equation is None:
            return _entries(self.row_of(atom, axis), [key, *(c for d, c in enumerate(at) if d != axis)], rank)
        rule = PUSHED.get(equation.primitive.name)
        if rule is None:
            raise self.refused(equation)
        return rule(self, equation, axis, at, key)

    def plain(self, atom: Atom, at: Sequence[Any], rank: int) -> Any:
        """The entries of a value at places."""
        value = self.read(atom)
        if isinstance(value, Sparse | Spread):
            raise UnsupportedError("a comparison of integers with all places is chosen from")
        return _entries(value, at, rank)

    def of_operand(self, atom: Any, axis: int, at: Sequence[Any], key: Any, shape: tuple[int, ...]) -> Any:
        """The entries of an operand that is broadcast to a shape."""
        own = shape_of(atom)
        if not own:
            return self.read(atom)
        at = [0 if n == 1 and whole != 1 else c for n, whole, c in zip(own, shape, at, strict=True)]
        if own[axis] == shape[axis]:
            return self.look(atom, axis, at, key)
        return self.plain(atom, at, np.ndim(key))


def _entries(value: Any, at: Sequence[Any], rank: int) -> Any:
    """The entries of an array at places, of which each is an `Axis` or an array that can be broadcast to the result."""
    places = {d: c for d, c in enumerate(at) if not isinstance(c, Axis)}
    axes = {d: c.number for d, c in enumerate(at) if isinstance(c, Axis)}
    zero = [d for d, c in places.items() if value.shape[d] == 1]
    value = jnp.squeeze(value, axis=tuple(zero)) if zero else jnp.asarray(value)
    kept = [d for d in range(len(at)) if d not in zero]
    varying = [d for d in kept if d in places]
    moving = {r for d in varying for r in range(rank) if np.ndim(places[d]) and np.shape(places[d])[r] > 1}
    distinct = len(set(axes.values())) == len(axes) and moving.isdisjoint(axes.values())
    if len(varying) > 1 or not distinct:
        return _one_by_one(value, [at[d] for d in kept], rank)
    order = [axes[d] for d in kept if d in axes]
    if varying:
        d = kept.index(varying[0])
        index = jnp.asarray(places[varying[0]])
        sizes = [(r, index.shape[r]) for r in sorted(moving)]
        value = jnp.take(value, index.reshape([n for _, n in sizes]), axis=d, mode="clip")
        before = sum(1 for e in kept[:d] if e in axes)
        order = [*order[:before], *(r for r, _ in sizes), *order[before:]]
    value = jnp.transpose(value, np.argsort(order).tolist()) if order != sorted(order) else value
    shape = [1] * rank
    for r, n in zip(sorted(order), value.shape, strict=True):
        shape[r] = n
    return value.reshape(shape)


def _one_by_one(value: Any, at: Sequence[Array], rank: int) -> Any:
    """The entries of an array at places along every axis."""

    def place(d: int, c: Any) -> Any:
        if not isinstance(c, Axis):
            return jnp.asarray(c)
        shape = [1] * rank
        shape[c.number] = value.shape[d]
        return np.arange(value.shape[d]).reshape(shape)

    index = tuple(jnp.broadcast_arrays(*(place(d, c) for d, c in enumerate(at))))
    return value.at[index].get(mode="clip") if index else value.reshape((1,) * rank)


# How a row of a result is computed


def _elementwise(rows: Rows, equation: JaxprEqn, axis: int, at: Sequence[Array], key: Any) -> Any:
    shape = shape_of(equation.outvars[0])
    known = rows.integers.get(equation.invars[0]) if not isinstance(equation.invars[0], Literal) else None
    if equation.primitive.name == "convert_element_type" and isinstance(known, np.ndarray):
        table = known.astype(dtype_of(equation.outvars[0]))
        if (table.astype(known.dtype) != known).any() or len(rows.fixed(equation.invars[0])) != 1:
            raise rows.refused(equation)
        return _of_constant(rows, table, axis, at, key)
    operands = [rows.of_operand(v, axis, at, key, shape) for v in equation.invars]
    whole = jnp.broadcast_shapes(*(np.shape(x) for x in operands))
    operands = [jnp.broadcast_to(x, whole) if np.ndim(x) else x for x in operands]
    return bound(equation, operands, equation.params)[0]


def _broadcast(rows: Rows, equation: JaxprEqn, axis: int, at: Sequence[Array], key: Any) -> Any:
    operand, own = equation.invars[0], shape_of(equation.invars[0])
    dimensions, shape = equation.params["broadcast_dimensions"], equation.params["shape"]
    inner = [0 if n == 1 and shape[d] != 1 else at[d] for n, d in zip(own, dimensions, strict=True)]
    if axis in dimensions and own[dimensions.index(axis)] == shape[axis]:
        return rows.look(operand, dimensions.index(axis), inner, key)
    return rows.plain(operand, inner, np.ndim(key))


def _transposed(rows: Rows, equation: JaxprEqn, axis: int, at: Sequence[Array], key: Any) -> Any:
    permutation = equation.params["permutation"]
    inner: list[Any] = [None] * len(at)
    for d, source in enumerate(permutation):
        inner[source] = at[d]
    return rows.look(equation.invars[0], permutation[axis], inner, key)


def _reshaped(rows: Rows, equation: JaxprEqn, axis: int, at: Sequence[Array], key: Any) -> Any:
    """Only axes of one place may come and go."""
    own, shape = shape_of(equation.invars[0]), shape_of(equation.outvars[0])
    if [n for n in own if n > 1] != [n for n in shape if n > 1] or shape[axis] == 1:
        raise rows.refused(equation)
    long = iter([d for d, n in enumerate(shape) if n > 1])
    source = [next(long) if n > 1 else None for n in own]
    return rows.look(equation.invars[0], source.index(axis), [0 if d is None else at[d] for d in source], key)


def _sliced(rows: Rows, equation: JaxprEqn, axis: int, at: Sequence[Any], key: Any) -> Any:
    own, starts = shape_of(equation.invars[0]), equation.params["start_indices"]
    if starts[axis] != 0 or equation.params["strides"] is not None:
        raise rows.refused(equation)
    rank = np.ndim(key)

    def place(d: int) -> Any:
        if shape_of(equation.outvars[0])[d] == own[d] or d == axis:
            return at[d]
        if not isinstance(at[d], Axis):
            return at[d] + starts[d]
        shape = [1] * rank
        shape[at[d].number] = shape_of(equation.outvars[0])[d]
        return starts[d] + np.arange(shape[at[d].number]).reshape(shape)

    return rows.look(equation.invars[0], axis, [place(d) for d in range(len(own))], key)


def _counted(rows: Rows, equation: JaxprEqn, axis: int, at: Sequence[Array], key: Any) -> Any:
    """An array of places is a constant."""
    if equation.primitive.name != "iota" or np.prod(shape_of(equation.outvars[0])) > LONGEST:
        raise rows.refused(equation)
    shape, d = shape_of(equation.outvars[0]), equation.params["dimension"]
    places = np.arange(shape[d]).reshape([n if k == d else 1 for k, n in enumerate(shape)])
    return _of_constant(rows, np.broadcast_to(places, shape).astype(dtype_of(equation.outvars[0])), axis, at, key)


def _of_constant(rows: Rows, table: np.ndarray, axis: int, at: Sequence[Any], key: Any) -> Any:
    """Entries of an array of known numbers; of one that holds its own places along the axis they are the keys."""
    own = np.arange(table.shape[axis]).reshape([n if k == axis else 1 for k, n in enumerate(table.shape)])
    if (table == own).all():
        return _entries(rows.places().astype(table.dtype), [key], np.ndim(key))
    return _entries(rows.row_of(table, axis), [key, *(c for k, c in enumerate(at) if k != axis)], np.ndim(key))


def _with_axes(x: Any, more: int) -> Any:
    return x if isinstance(x, Axis) or not np.ndim(x) else x.reshape((*np.shape(x), *(1,) * more))


def _reduced(rows: Rows, equation: JaxprEqn, axis: int, at: Sequence[Array], key: Any) -> Any:
    own, axes = shape_of(equation.invars[0]), equation.params["axes"]
    rank, more = np.ndim(key), len(axes)
    kept = [d for d in range(len(own)) if d not in axes]
    inner: list[Any] = [None] * len(own)
    for d, c in zip(kept, at, strict=True):
        inner[d] = _with_axes(c, more)
    for k, d in enumerate(axes):
        inner[d] = Axis(rank + k)
    found = rows.look(equation.invars[0], kept[axis], inner, _with_axes(key, more))
    whole = (*found.shape[:rank], *(own[d] for d in axes))
    last = tuple(range(rank, rank + more))
    return bound(equation, [jnp.broadcast_to(found, whole)], {**equation.params, "axes": last})[0]


def _product(rows: Rows, equation: JaxprEqn, axis: int, at: Sequence[Array], key: Any) -> Any:
    (left_sum, right_sum), (left_batch, right_batch) = equation.params["dimension_numbers"]
    rank, more = np.ndim(key), len(left_sum)
    at, key = [_with_axes(c, more) for c in at], _with_axes(key, more)
    sides, place = [], len(left_batch)
    for atom, summed, batch in zip(equation.invars, (left_sum, right_sum), (left_batch, right_batch), strict=True):
        own = shape_of(atom)
        free = [d for d in range(len(own)) if d not in summed and d not in batch]
        source = {d: k for k, d in enumerate(batch)} | {d: place + k for k, d in enumerate(free)}
        place += len(free)
        inner = [Axis(rank + summed.index(d)) if d in summed else at[source[d]] for d in range(len(own))]
        there = [d for d, s in source.items() if s == axis]
        found = rows.look(atom, there[0], inner, key) if there else rows.plain(atom, inner, rank + more)
        sides.append(jnp.broadcast_to(found, (*found.shape[:rank], *(own[d] for d in summed))))
    return summed_product(sides[0], sides[1], rank, dtype_of(equation.outvars[0]))


def summed_product(left: Any, right: Any, rank: int, dtype: DTypeLike) -> Any:
    """The products of two arrays, of which one may have one place where the other has several, summed over some axes.

    These are the axes behind the first `rank`.
    """
    names = "abcdefghijklmnopqrstuvwxyz"
    own = ["".join(c for c, n in zip(names, np.shape(x), strict=False) if n > 1) for x in (left, right)]
    squeezed = [jnp.asarray(x).reshape([n for n in np.shape(x) if n > 1]) for x in (left, right)]
    kept = "".join(sorted({c for text in own for c in text if names.index(c) < rank}))
    shape = jnp.broadcast_shapes(np.shape(left), np.shape(right))[:rank]
    found = jnp.einsum(f"{own[0]},{own[1]}->{kept}", *squeezed, preferred_element_type=dtype)
    return found.reshape(shape)


def _concatenated(rows: Rows, equation: JaxprEqn, axis: int, at: Sequence[Array], key: Any) -> Any:
    along = equation.params["dimension"]
    if along == axis or not isinstance(at[along], Axis):
        raise rows.refused(equation)
    parts = [rows.look(v, axis, at, key) for v in equation.invars]
    r = at[along].number
    shape = list(jnp.broadcast_shapes(*((*p.shape[:r], 1, *p.shape[r + 1 :]) for p in parts)))
    sizes = [shape_of(v)[along] for v in equation.invars]
    whole = [jnp.broadcast_to(p, (*shape[:r], n, *shape[r + 1 :])) for p, n in zip(parts, sizes, strict=True)]
    return jnp.concatenate(whole, axis=r)


PUSHED: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(ELEMENTWISE, _elementwise),
    **dict.fromkeys(REDUCING, _reduced),
    **dict.fromkeys(("reshape", "squeeze", "expand_dims"), _reshaped),
    "broadcast_in_dim": _broadcast,
    "iota": _counted,
    "transpose": _transposed,
    "slice": _sliced,
    "dot_general": _product,
    "concatenate": _concatenated,
}
"""The primitives of which a row is computed of rows of the operands."""
