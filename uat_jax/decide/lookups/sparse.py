"""Arrays with one entry that may be other than zero along an axis, such as a comparison with all places; sums of such.

(i == arange(V)) @ T = T[i]        sum_v where(i == v, T[v], 0) = T[i]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import JaxprEqn, Literal
from jax.typing import DTypeLike

from uat_jax.decide.lookups.integer_part import Axis
from uat_jax.interpret.interpreter import inner_programs
from uat_jax.interpret.retracing import bound
from uat_jax.interpret.structure import STRUCTURAL
from uat_jax.interpret.tracing import dtype_of, shape_of
from uat_jax.numbers.prime_fields.fact_rules import TOTAL
from uat_jax.typing import Array, Atom

if TYPE_CHECKING:
    from uat_jax.decide.lookups.rows import Rows


@dataclass(frozen=True)
class Sparse:
    """An array that is 0 along an axis but at the key.

    key: the place, an array of the rank of this one with one place along the axis.  value: the entry there, of the
    same kind; None is 1, or true.  summed: whether only its sums along the axis are known, for elsewhere it is 0 times
    something that may be infinite.  most: the largest absolute value of a whole number that may stand there, if known.
    """

    axis: int
    key: Any
    value: Any = None
    summed: bool = False
    most: int | None = None

    def at_key(self, dtype: DTypeLike) -> Any:
        """The entries at the keys."""
        return jnp.ones((1,) * np.ndim(self.key), dtype) if self.value is None else jnp.asarray(self.value, dtype)


@dataclass(frozen=True)
class Spread:
    """An array of numbers that is a sum along an axis: of a base, and at the place of each key of an entry.

    entries: this array with one place for each key along the axis.  base: None is 0.  most: of whole numbers, a bound
    of the sum of the absolute values of all that an entry of the array is a sum of; None if none is known.
    """

    axis: int
    entries: Any
    base: Any = None
    most: int | None = None

    def fits(self, dtype: DTypeLike) -> bool:
        """Whether a sum of whole numbers does not wrap, however its parts are added."""
        return jnp.issubdtype(dtype, jnp.integer) and self.most is not None and self.most <= int(jnp.iinfo(dtype).max)


def spread(rows: Rows, equation: JaxprEqn, k: int, sparse: Sparse) -> Spread:
    """A sparse operand as a sum."""
    if sparse.summed:
        raise rows.refused(equation)
    keys, shape, dtype = rows.count, shape_of(equation.invars[k]), dtype_of(equation.invars[k])
    rank = [1] * len(shape)
    rank[sparse.axis] = keys
    there = sparse.key == np.arange(keys, dtype=np.int32).reshape(rank)
    whole = (*shape[: sparse.axis], keys, *shape[sparse.axis + 1 :])
    entries = jnp.broadcast_to(jnp.where(there, sparse.at_key(dtype), jnp.zeros((), dtype)), whole)
    return Spread(sparse.axis, entries, most=sparse.most)


def _both(rows: Rows, equation: JaxprEqn, x: Spread, axis: int, applied: Callable[[Any], Any]) -> Spread:
    """A linear function that leaves the axis alone, of the base and of the entries."""
    return Spread(axis, applied(x.entries), None if x.base is None else applied(x.base))


def _sum(rows: Rows, equation: JaxprEqn, operands: Sequence[Any]) -> Any:
    """A sum or difference of sums, or of one and an array."""
    sums = [x for x in operands if isinstance(x, Spread)]
    shape = shape_of(equation.outvars[0])
    if len({x.axis for x in sums}) > 1 or any(shape_of(v) != shape for v in equation.invars):
        raise rows.refused(equation)
    none = jnp.zeros_like(sums[0].entries)
    entries = [x.entries if isinstance(x, Spread) else none for x in operands]
    bases = [x.base if isinstance(x, Spread) else x for x in operands]
    base = None
    if any(x is not None for x in bases):
        zeros = jnp.zeros(shape, none.dtype)
        base = bound(equation, [zeros if x is None else x for x in bases], equation.params)[0]
    known = [x.most for x in sums if x.most is not None]
    most = sum(known) if len(known) == len(operands) else None
    signed = equation.primitive.name != "sub" or jnp.issubdtype(none.dtype, jnp.signedinteger)
    return Spread(sums[0].axis, bound(equation, entries, equation.params)[0], base, most if signed else None)


def _of_sum(rows: Rows, equation: JaxprEqn, operands: Sequence[Any]) -> Any:
    """A primitive that is linear in the operand that is a sum, and does not look along its axis."""
    name = equation.primitive.name
    if name in ("add", "add_any", "sub"):
        return _sum(rows, equation, operands)
    which = [k for k, x in enumerate(operands) if isinstance(x, Spread)]
    k = which[0]
    x, axis = operands[k], operands[k].axis
    if len(which) > 1 or any(isinstance(y, Sparse) for y in operands):
        raise rows.refused(equation)
    if not all(finite(rows, v) for i, v in enumerate(equation.invars) if i != k):
        raise rows.refused(equation)  # 0 times it is not 0
    one = lambda y: bound(equation, [*operands[:k], y, *operands[k + 1 :]], equation.params)[0]
    if name in ("neg", "convert_element_type", "copy"):
        signed = name != "neg" or not jnp.issubdtype(x.entries.dtype, jnp.unsignedinteger)
        return replace(_both(rows, equation, x, axis, one), most=x.most if signed else None)
    if name == "mul" or name == "div" and k == 0:
        own, shape = shape_of(equation.invars[1 - k]), shape_of(equation.outvars[0])
        if not own or own[axis] == 1 != shape[axis]:
            return _both(rows, equation, x, axis, one)
        at_keys = _at_keys(rows, equation.invars[1 - k], axis)
        there = bound(equation, [x.entries, at_keys] if k == 0 else [at_keys, x.entries], equation.params)[0]
        return Spread(axis, there, None if x.base is None else one(x.base))
    if name == "transpose":
        return replace(_both(rows, equation, x, equation.params["permutation"].index(axis), one), most=x.most)
    if name == "reduce_sum" and axis not in equation.params["axes"]:
        count = math.prod(shape_of(equation.invars[0])[d] for d in equation.params["axes"])
        found = _both(rows, equation, x, axis - sum(d < axis for d in equation.params["axes"]), one)
        return replace(found, most=None if x.most is None else x.most * count)
    if name == "reduce_sum":
        return one(x.entries) if x.base is None else one(x.entries) + one(x.base)
    if name == "dot_general":
        return _product_of_sum(rows, equation, operands, k)
    raise rows.refused(equation)


def _at_keys(rows: Rows, atom: Atom, axis: int) -> Any:
    """An array with the places of the keys along an axis."""
    shape = list(shape_of(atom))
    shape[axis] = rows.count
    key = np.arange(rows.count, dtype=np.int32).reshape([n if d == axis else 1 for d, n in enumerate(shape)])
    return jnp.broadcast_to(rows.look(atom, axis, [Axis(d) for d in range(len(shape))], key), shape)


def _product_of_sum(rows: Rows, equation: JaxprEqn, operands: Sequence[Any], k: int) -> Any:
    """A product of matrices: over the axis of the sum, Σ_v X[v] T[v] is that of the entries by rows at the keys."""
    sums, batches = equation.params["dimension_numbers"]
    x, axis = operands[k], operands[k].axis
    if axis in batches[k]:
        raise rows.refused(equation)
    if axis in sums[k]:
        at_keys = _at_keys(rows, equation.invars[1 - k], sums[1 - k][list(sums[k]).index(axis)])
        found = bound(equation, [x.entries, at_keys] if k == 0 else [at_keys, x.entries], equation.params)[0]
        with_base = [x.base, operands[1]] if k == 0 else [operands[0], x.base]
        return found if x.base is None else found + bound(equation, with_base, equation.params)[0]
    free = [[d for d in range(len(shape_of(v))) if d not in sums[s] and d not in batches[s]]
            for s, v in enumerate(equation.invars)]  # fmt: skip
    place = len(batches[0]) + (len(free[0]) if k == 1 else 0) + free[k].index(axis)
    one = lambda y: bound(equation, [y, operands[1]] if k == 0 else [operands[0], y], equation.params)[0]
    return _both(rows, equation, x, place, one)


def _places(sparse: Sparse) -> list[Any]:
    return [Axis(d) for d in range(np.ndim(sparse.key))]


def _split(operands: Sequence[Any]) -> tuple[int, Sparse]:
    """Which operand is sparse, and it."""
    which = [k for k, x in enumerate(operands) if isinstance(x, Sparse)]
    return which[0], operands[which[0]]


def _cast(rows: Rows, equation: JaxprEqn, operands: Sequence[Any]) -> Any:
    sparse, dtype = operands[0], dtype_of(equation.outvars[0])
    if sparse.summed and not jnp.issubdtype(dtype, jnp.inexact):
        raise rows.refused(equation)
    return sparse if sparse.value is None else replace(sparse, value=jnp.asarray(sparse.value, dtype))


def _product(rows: Rows, equation: JaxprEqn, operands: Sequence[Array]) -> Any:
    k, sparse = _split(operands)
    other = equation.invars[1 - k]
    if isinstance(operands[1 - k], Sparse):
        raise rows.refused(equation)
    shape = shape_of(equation.outvars[0])
    if shape != shape_of(equation.invars[k]):
        raise rows.refused(equation)
    at = lambda key: rows.of_operand(other, sparse.axis, _places(sparse), key, shape)
    by, summed = _beside(rows, other, at, sparse.key)
    value = by if sparse.value is None else sparse.value * by
    return replace(sparse, value=value, summed=sparse.summed or summed, most=None)


def _beside(rows: Rows, other: object, at: Callable[[Any], Any], key: Any) -> tuple[Any, bool]:
    """Entries of an array that a sparse one is multiplied with, and whether an infinity or NaN may be written in it.

    0 times an entry elsewhere is added to them if it may be no number: it is in all sums along the axis.
    """
    if _total(rows, other):
        return at(key), False
    written = not finite(rows, other)
    rows.multiplied_elsewhere, place = True, rows.elsewhere(written)
    if place is None:
        return at(key), written
    return at(key) + 0 * jnp.asarray(at(jnp.full(np.shape(key), place, jnp.int32))), written


def _total(rows: Rows, atom: Any) -> bool:
    """Whether a value is a number for all inputs, because all primitives that compute it are defined everywhere."""
    return finite(rows, atom) and all(e.primitive.name in TOTAL | STRUCTURAL | {"iota"} for e in _behind(rows, atom))


def _behind(rows: Rows, atom: Atom) -> Iterator[JaxprEqn]:
    """The equations that compute a value of inputs, integers and constants."""
    waiting, seen = [atom], set()
    while waiting:
        v = waiting.pop()
        if isinstance(v, Literal) or v in seen or v in rows.integers or v not in rows.made_by:
            continue
        seen.add(v)
        yield rows.made_by[v]
        waiting += rows.made_by[v].invars


def finite(rows: Rows, atom: Any) -> bool:
    """Whether no infinity or NaN is written in the program where a value is computed."""
    waiting, seen = [atom], set()
    while waiting:
        v = waiting.pop()
        if isinstance(v, Literal):
            if not np.isfinite(v.val).all():
                return False
            continue
        if v in seen or v in rows.integers:
            continue
        seen.add(v)
        equation = rows.made_by.get(v)
        if equation is None:
            if v in rows.program.jaxpr.constvars and not np.isfinite(rows.values[v]).all():
                return False
        elif v in rows.filled or inner_programs(equation):
            return False
        elif equation.primitive.name not in TOTAL | STRUCTURAL and not np.isfinite(_constant(rows, v)).all():
            return False
        else:
            waiting += equation.invars
    return True


def _constant(rows: Rows, atom: Atom) -> Any:
    """The value of what is computed of constants alone, such as log 0; 0 of all else."""
    if isinstance(atom, Literal):
        return atom.val
    if atom in rows.program.jaxpr.constvars:
        return rows.values[atom]
    equation = rows.made_by.get(atom)
    if equation is None or _depends(rows, atom):
        return 0
    operands = [np.asarray(_constant(rows, v), dtype_of(v)) for v in equation.invars]
    with jax.ensure_compile_time_eval():
        found = bound(equation, operands, equation.params)
    return np.asarray(found[equation.outvars.index(atom)])


def _depends(rows: Rows, atom: Atom) -> bool:
    """Whether a value is computed of an input or of integers."""
    waiting, seen = [atom], set()
    while waiting:
        v = waiting.pop()
        if isinstance(v, Literal) or v in seen or v in rows.program.jaxpr.constvars:
            continue
        seen.add(v)
        equation = rows.made_by.get(v)
        if equation is None or v in rows.integers:
            return True
        waiting += equation.invars
    return False


def _negated(rows: Rows, equation: JaxprEqn, operands: Sequence[Any]) -> Any:
    signed = jnp.issubdtype(dtype_of(equation.outvars[0]), jnp.signedinteger)
    value = -operands[0].at_key(dtype_of(equation.outvars[0]))
    return replace(operands[0], value=value, most=operands[0].most if signed else None)


def _selected(rows: Rows, equation: JaxprEqn, operands: Sequence[Any]) -> Any:
    """where(i == v, x, 0), and where(p, s, 0) of what is sparse itself."""
    k, sparse = _split(operands)
    if any(isinstance(x, Sparse) for i, x in enumerate(operands) if i != k) or len(operands) != 3:
        raise rows.refused(equation)
    shape, at = shape_of(equation.outvars[0]), _places(sparse)
    if shape != shape_of(equation.invars[k]):
        raise rows.refused(equation)
    if k == 0 and is_zero(rows, equation.invars[1]):
        there = rows.of_operand(equation.invars[2], sparse.axis, at, sparse.key, shape)
        inside = sparse.value
        return replace(sparse, value=there if inside is None else jnp.where(inside, there, 0), most=None)
    raise rows.refused(equation)


def is_zero(rows: Rows, atom: Atom) -> bool:
    """Whether a value of the program is written as zeros, in all cases."""
    if isinstance(atom, Literal):
        return not np.any(atom.val)
    if atom in rows.integers:
        return all(not any(found) for found in rows.fixed(atom))
    equation = rows.made_by.get(atom)
    if equation is None:
        return atom in rows.program.jaxpr.constvars and not np.any(rows.values[atom])
    passes = equation.primitive.name in ("broadcast_in_dim", "convert_element_type", "reshape")
    return passes and is_zero(rows, equation.invars[0])


def _summed(rows: Rows, equation: JaxprEqn, operands: Sequence[Any]) -> Any:
    sparse, axes = operands[0], equation.params["axes"]
    if sparse.axis not in axes:
        return _of_sum(rows, equation, [spread(rows, equation, 0, sparse)])
    shape = list(shape_of(equation.invars[0]))
    shape[sparse.axis] = 1
    there = jnp.broadcast_to(sparse.at_key(dtype_of(equation.outvars[0])), shape)
    return bound(equation, [there], equation.params)[0]


def _broadcast(rows: Rows, equation: JaxprEqn, operands: Sequence[Any]) -> Any:
    sparse, shape = operands[0], equation.params["shape"]
    dimensions = equation.params["broadcast_dimensions"]
    axis = dimensions[sparse.axis]

    def placed(x: Any) -> Any:
        new = [1] * len(shape)
        for d, n in zip(dimensions, np.shape(x), strict=True):
            new[d] = n
        return jnp.reshape(x, new)

    value = None if sparse.value is None else placed(_full_rank(sparse))
    return replace(sparse, axis=axis, key=placed(sparse.key), value=value)


def _full_rank(sparse: Sparse) -> Any:
    return sparse.value if np.ndim(sparse.value) else jnp.reshape(sparse.value, (1,) * np.ndim(sparse.key))


def _transposed(rows: Rows, equation: JaxprEqn, operands: Sequence[Any]) -> Any:
    sparse, permutation = operands[0], equation.params["permutation"]
    turned = lambda x: jnp.transpose(x, permutation)
    value = None if sparse.value is None else turned(_full_rank(sparse))
    return replace(sparse, axis=permutation.index(sparse.axis), key=turned(sparse.key), value=value)


def _reshaped(rows: Rows, equation: JaxprEqn, operands: Sequence[Any]) -> Any:
    """Only axes of one place may come and go."""
    sparse = operands[0]
    own, shape = shape_of(equation.invars[0]), shape_of(equation.outvars[0])
    if [n for n in own if n > 1] != [n for n in shape if n > 1]:
        raise rows.refused(equation)
    long = [d for d, n in enumerate(own) if n > 1]
    axis = [d for d, n in enumerate(shape) if n > 1][long.index(sparse.axis)]

    def moved(x: Array) -> Any:
        sizes = iter([np.shape(x)[d] for d in long])
        return jnp.reshape(x, [next(sizes) if n > 1 else 1 for n in shape])

    value = None if sparse.value is None else moved(_full_rank(sparse))
    return replace(sparse, axis=axis, key=moved(sparse.key), value=value)


def _contracted(rows: Rows, equation: JaxprEqn, operands: Sequence[Array]) -> Any:
    """A product that is summed over the axis of a sparse array."""
    from uat_jax.decide.lookups.rows import summed_product

    k, sparse = _split(operands)
    if isinstance(operands[1 - k], Sparse):
        raise rows.refused(equation)
    sums, batches = equation.params["dimension_numbers"]
    if sparse.axis not in sums[k]:
        dense = spread(rows, equation, k, sparse)
        return _of_sum(rows, equation, [dense if i == k else x for i, x in enumerate(operands)])
    position = list(sums[k]).index(sparse.axis)
    more = [n for n in range(len(sums[0])) if n != position]
    shapes = [shape_of(v) for v in equation.invars]
    free = [[d for d in range(len(shapes[s])) if d not in sums[s] and d not in batches[s]] for s in (0, 1)]
    rank = len(batches[0]) + len(free[0]) + len(free[1])
    first = len(batches[0]) + (len(free[0]) if k == 1 else 0)
    other_first = len(batches[0]) + (len(free[0]) if k == 0 else 0)

    def axis_of(side: int, start: int, d: int) -> int:
        if d in batches[side]:
            return list(batches[side]).index(d)
        if d in free[side]:
            return start + free[side].index(d)
        return rank + more.index(list(sums[side]).index(d))

    def placed(x: Array) -> Any:
        """An array with one place along the axis, as one of the rank of the result and of what is summed besides."""
        order = sorted((axis_of(k, first, d), d) for d in range(len(shapes[k])) if d != sparse.axis)
        kept = [d for d in range(len(shapes[k])) if d != sparse.axis]
        turned = jnp.transpose(jnp.squeeze(x, axis=sparse.axis), [kept.index(d) for _, d in order])
        new = [1] * (rank + len(more))
        for (r, _), n in zip(order, turned.shape, strict=True):
            new[r] = n
        return jnp.reshape(turned, new)

    own = 1 - k
    table_axis = sums[own][position]
    at = [None if d == table_axis else Axis(axis_of(own, other_first, d)) for d in range(len(shapes[own]))]
    other = equation.invars[own]
    there, _ = _beside(rows, other, lambda key: rows.look(other, table_axis, at, key), placed(sparse.key))
    dtype = dtype_of(equation.outvars[0])
    value = jnp.asarray(1, dtype).reshape((1,) * (rank + len(more)))
    if sparse.value is not None:
        value = placed(jnp.asarray(_full_rank(sparse), dtype))
    whole = [1] * (rank + len(more))
    for side, start in ((k, first), (own, other_first)):
        for d, n in enumerate(shapes[side]):
            if d != (sparse.axis if side == k else table_axis):
                whole[axis_of(side, start, d)] = n
    if not more:
        found = there if sparse.value is None else value * there
        return jnp.broadcast_to(jnp.asarray(found, dtype), whole[:rank])
    lost = (*np.shape(there)[:rank], *whole[rank:])
    return jnp.broadcast_to(summed_product(jnp.broadcast_to(there, lost), value, rank, dtype), whole[:rank])


def _sum_of_sparse(rows: Rows, equation: JaxprEqn, operands: Sequence[Array]) -> Any:
    """A sum or difference of which a part is sparse."""
    sums = [spread(rows, equation, k, x) if isinstance(x, Sparse) else x for k, x in enumerate(operands)]
    return _sum(rows, equation, sums)


def applied(rows: Rows, equation: JaxprEqn, operands: Sequence[Array]) -> Any:
    """The result of a primitive of which an operand is sparse or a sum.  Raises `UnsupportedError`."""
    rule = SPARSE.get(equation.primitive.name)
    if any(isinstance(x, Spread) for x in operands):
        rule = _sum_of_sparse if equation.primitive.name in ("add", "add_any", "sub") else _of_sum
    if rule is None:
        raise rows.refused(equation)
    return rule(rows, equation, operands)


SPARSE: dict[str, Callable[..., Any]] = {
    "add": _sum_of_sparse,
    "add_any": _sum_of_sparse,
    "sub": _sum_of_sparse,
    "convert_element_type": _cast,
    "mul": _product,
    "neg": _negated,
    "select_n": _selected,
    "reduce_sum": _summed,
    "broadcast_in_dim": _broadcast,
    "transpose": _transposed,
    "reshape": _reshaped,
    "squeeze": _reshaped,
    "expand_dims": _reshaped,
    "dot_general": _contracted,
}
"""The primitives that take an array with one entry."""
