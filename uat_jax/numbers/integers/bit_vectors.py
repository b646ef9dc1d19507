"""Programs of integers as formulas over bit vectors, for the solver z3: one walk over a jaxpr.

A value is a NumPy array where the inputs do not count, and JAX computes it; else an array of objects, each entry a bit
vector of the width of its dtype, or a truth value.  Entries that are moved are moved by JAX itself, which moves their
numbers.  tests/test_bit_vectors.py compares every rule with the device at all values of small widths.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal
from jax.lax import GatherScatterMode

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.concrete import bind
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.interpreter import IDENTITY, called
from uat_jax.interpret.scattering import combines, replaces
from uat_jax.interpret.stored_control import scan_parameters
from uat_jax.interpret.tracing import dtype_of, shape_of, source_line

MOST_TERMS = 200_000
"""Formulas with more entries than this, counted at every equation, are not made."""

MOST_WRITTEN = 50_000
"""So many entries are written at places that depend on the inputs, each counted at all places where it may be."""

MOST_PLACES = 4096
"""A place that depends on the inputs is looked for among so many at most, times the entries that are read there."""


@functools.cache
def solver() -> ModuleType:
    """The module z3.

    Raises:
        UnsupportedError: it is not installed.
    """
    try:
        import z3
    except ImportError:
        wanted = "pip install 'uat_jax[solver]' brings z3, which decides it"
        raise UnsupportedError(
            f"integers of many values are decided by a solver that is not installed: {wanted}"
        ) from None
    return z3


def bits(dtype: Any) -> int:
    """The width of a dtype; 0 of booleans."""
    return 0 if jnp.dtype(dtype) == np.bool_ else jnp.iinfo(dtype).bits


def signed(dtype: Any) -> bool:
    """Whether a dtype of integers has negative numbers."""
    return bits(dtype) > 0 and jnp.iinfo(dtype).min < 0


def literal(number: Any, dtype: Any) -> Any:
    """A number or truth value as a formula."""
    z3 = solver()
    return z3.BitVecVal(int(number), bits(dtype)) if bits(dtype) else z3.BoolVal(bool(number))


def letters(name: str, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An unknown for each entry of an input."""
    z3 = solver()
    made = np.empty(shape, object)
    for i in np.ndindex(shape):
        called = f"{name}{list(i)}"
        made[i] = z3.BitVec(called, bits(dtype)) if bits(dtype) else z3.Bool(called)
    return made


def interpreted(
    program: ClosedJaxpr,
    inputs: Sequence[np.ndarray],
    deadline: Deadline | None = None,
    divisions: Divisions | None = None,
) -> list[np.ndarray]:
    """The outputs of a program of integers and booleans as arrays of formulas.

    divisions: makes quotients and remainders by constants unknowns, and has the facts that hold of them.

    Raises:
        UnsupportedError: an equation has no rule, or the formulas are too large.
        BudgetError: the time is up.
    """
    walk = _Walk(deadline or Deadline(), divisions)
    with jax.enable_x64(True):  # the types are the equations' own
        values = walk.program(program.jaxpr, program.consts, inputs)
    return [formulas(v, dtype_of(atom)) for v, atom in zip(values, program.jaxpr.outvars, strict=True)]


def is_fixed(value: np.ndarray) -> bool:
    """Whether a value does not depend on the inputs."""
    return not (isinstance(value, np.ndarray) and value.dtype == object)


def formulas(value: np.ndarray, dtype: Any) -> np.ndarray:
    """A value as an array of formulas."""
    if not is_fixed(value):
        return value
    array = np.asarray(value)
    made = np.empty(array.shape, object)
    for i in np.ndindex(array.shape):
        made[i] = literal(array[i], dtype)
    return made


class _Walk:
    """The evaluation of a program, which counts the entries that it makes."""

    def __init__(self, deadline: Deadline, divisions: Divisions | None) -> None:
        self.deadline, self.divisions, self.made = deadline, divisions, 0

    def program(self, jaxpr: Jaxpr, constants: Sequence[Any], inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The outputs of a jaxpr at some values."""
        values: dict[Any, Any] = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*constants, *inputs], strict=True))
        read = lambda atom: np.asarray(atom.val, dtype_of(atom)) if isinstance(atom, Literal) else values[atom]
        for equation in jaxpr.eqns:
            self.deadline.check()
            results = self.equation(equation, list(map(read, equation.invars)))
            values.update(zip(equation.outvars, results, strict=True))
        return list(map(read, jaxpr.outvars))

    def closed(self, function: Any, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The outputs of a jaxpr that an equation holds."""
        return self.program(getattr(function, "jaxpr", function), getattr(function, "consts", ()), inputs)

    def equation(self, equation: JaxprEqn, operands: list[Any]) -> list[np.ndarray]:
        """The results of one equation."""
        name, function = equation.primitive.name, called(equation)
        if function is not None:
            return self.closed(function, operands)
        if name in IDENTITY:
            return operands
        if name in _LOOPS:
            return _LOOPS[name](self, equation, operands)
        if self.divisions is not None and _can_be_unknown(equation, operands):
            return [self._divided(equation, operands)]
        if all(map(is_fixed, operands)):
            return [np.asarray(x) for x in bind(equation, operands)]
        self.made += sum(math.prod(shape_of(v)) for v in equation.outvars)
        if self.made > MOST_TERMS:
            raise UnsupportedError(f"'{name}'{source_line(equation)} makes more than {MOST_TERMS} formulas")
        found = _results(equation, operands)
        return [np.asarray(x).reshape(shape_of(v)) for x, v in zip(found, equation.outvars, strict=True)]

    def _divided(self, equation: JaxprEqn, operands: list[Any]) -> np.ndarray:
        """Quotients or remainders by constants, as unknowns."""
        assert self.divisions is not None
        dtype, shape = dtype_of(equation.outvars[0]), shape_of(equation.outvars[0])
        a, b = (np.broadcast_to(x, shape) for x in (formulas(operands[0], dtype), np.asarray(operands[1])))
        which, found = int(equation.primitive.name == "rem"), np.empty(shape, object)
        for i in np.ndindex(shape):
            found[i] = self.divisions.of(a[i], int(b[i]), dtype)[which]
        return found


class Divisions:
    """Quotients and remainders by constants as unknowns d and r, and facts that hold of them.

    a = b d + r, r is of the sign of a or 0, |r| < |b|, and |d| <= 2^(w-1) / |b|; without signs 0 <= r < b and
    d <= (2^w - 1) / b.  What follows from these facts is so; what they do not exclude need not be possible.
    """

    def __init__(self) -> None:
        self.facts: list[Any] = []
        self._made: dict[tuple[int, int, bool], tuple[Any, Any, Any]] = {}

    def of(self, a: Any, b: int, dtype: Any) -> tuple[Any, Any]:
        """The quotient and the remainder of a formula by a number that is neither 0 nor -1."""
        name = (a.get_id(), b, signed(dtype))
        if name not in self._made:
            z3, width = solver(), bits(dtype)
            d, r = (z3.BitVec(f"{what}{len(self._made)}", width) for what in ("quotient", "remainder"))
            self._made[name] = d, r, a  # a is kept, so that its number stays its own
            self.facts.append(a == b * d + r)
            if signed(dtype):
                most = 2 ** (width - 1) // abs(b)
                self.facts += [d >= -most, d <= min(most, 2 ** (width - 1) - 1)]
                self.facts += [z3.Implies(a >= 0, z3.And(r >= 0, r <= abs(b) - 1))]
                self.facts += [z3.Implies(a < 0, z3.And(r <= 0, r >= 1 - abs(b)))]
            else:
                self.facts += [z3.ULE(d, (2**width - 1) // b), z3.ULT(r, b)]
        return self._made[name][:2]


def _can_be_unknown(equation: JaxprEqn, operands: Sequence[Any]) -> bool:
    """Whether an equation divides by constants of which none is 0, -1 or the least number."""
    if equation.primitive.name not in ("div", "rem") or not is_fixed(operands[1]) or is_fixed(operands[0]):
        return False
    special = [0, -1, jnp.iinfo(dtype_of(equation.outvars[0])).min]
    return not np.isin(np.asarray(operands[1]).astype(object), special).any()


def _results(equation: JaxprEqn, operands: list[Any]) -> list[np.ndarray]:
    name = equation.primitive.name
    if name in _ENTRYWISE:
        return [_entrywise(equation, operands)]
    if name in _MOVED:
        return _moved(equation, operands)
    if name in _RULES:
        found = _RULES[name](equation, *operands)
        return found if isinstance(found, list) else [found]
    raise UnsupportedError(f"'{name}'{source_line(equation)} has no rule over bit vectors")


# Entry by entry


def _entrywise(equation: JaxprEqn, operands: list[Any]) -> np.ndarray:
    dtype = dtype_of(equation.invars[-1])
    rule = _ENTRYWISE[equation.primitive.name](dtype, equation)
    shape = shape_of(equation.outvars[0])  # axes of length 1 are repeated
    arrays = [np.broadcast_to(formulas(x, dtype_of(v)), shape) for x, v in zip(operands, equation.invars, strict=True)]
    found = np.empty(shape, object)
    for i in np.ndindex(shape):
        found[i] = rule(*(a[i] for a in arrays))
    return found


def _choose(condition: Any, yes: Any, no: Any) -> Any:
    return solver().If(condition, yes, no)


def _truths(on_bits: Callable, on_truths: Callable) -> Callable:
    return lambda dtype, equation: on_bits if bits(dtype) else on_truths(solver())


def _order(on_signed: Callable, on_unsigned: str, on_truths: Callable) -> Callable:
    """A comparison: of truth values False is less than True."""

    def rule(dtype: Any, equation: JaxprEqn) -> Callable:
        if not bits(dtype):
            return on_truths(solver())
        return on_signed if signed(dtype) else getattr(solver(), on_unsigned)

    return rule


_LESS = _order(operator.lt, "ULT", lambda z3: lambda a, b: z3.And(z3.Not(a), b))


def _extreme(largest: bool) -> Callable:
    def rule(dtype: Any, equation: JaxprEqn) -> Callable:
        less = _LESS(dtype, equation)
        return (lambda a, b: _choose(less(a, b), b, a)) if largest else (lambda a, b: _choose(less(a, b), a, b))

    return rule


def _quotient(dtype: Any, equation: JaxprEqn) -> Callable:
    """What XLA gives for x/0: all bits set; for the least number by -1: that number."""
    z3, width = solver(), bits(dtype)
    rule = (lambda a, b: a / b) if signed(dtype) else z3.UDiv
    return lambda a, b: _choose(b == 0, z3.BitVecVal(-1, width), rule(a, b))


def _remainder(dtype: Any, equation: JaxprEqn) -> Callable:
    """What XLA gives for the remainder by 0: the dividend."""
    rule = solver().SRem if signed(dtype) else solver().URem
    return lambda a, b: _choose(b == 0, a, rule(a, b))


def _absolute(dtype: Any, equation: JaxprEqn) -> Callable:
    return (lambda a: _choose(a < 0, -a, a)) if signed(dtype) else (lambda a: a)


def _sign(dtype: Any, equation: JaxprEqn) -> Callable:
    one, zero, minus = (literal(n, dtype) for n in (1, 0, -1))
    positive = lambda a: _choose(a == 0, zero, one)
    return (lambda a: _choose(a < 0, minus, positive(a))) if signed(dtype) else positive


def _counted(dtype: Any, equation: JaxprEqn) -> Callable:
    """How many bits are set."""
    z3, width = solver(), bits(dtype)
    bit = lambda a, k: z3.ZeroExt(width - 1, z3.Extract(k, k, a)) if width > 1 else a
    return lambda a: functools.reduce(operator.add, (bit(a, k) for k in range(width)))


def _leading(dtype: Any, equation: JaxprEqn) -> Callable:
    """How many bits are zero before the first that is set."""
    z3, width = solver(), bits(dtype)

    def rule(a: np.ndarray) -> Any:
        found = z3.BitVecVal(width, width)
        for k in range(width):  # the highest bit that is set is asked last, so first
            found = _choose(z3.Extract(k, k, a) == 1, z3.BitVecVal(width - 1 - k, width), found)
        return found

    return rule


def _cast(dtype: Any, equation: JaxprEqn) -> Callable:
    """To fewer bits: the lowest ones.  To more: the same number.  To booleans: whether it is not 0."""
    z3, width, to = solver(), bits(dtype), equation.params["new_dtype"]
    wide = bits(to)
    if not width:
        return (lambda a: _choose(a, literal(1, to), literal(0, to))) if wide else (lambda a: a)
    if not wide:
        return lambda a: a != 0
    if wide <= width:
        return lambda a: z3.Extract(wide - 1, 0, a)
    return (lambda a: z3.SignExt(wide - width, a)) if signed(dtype) else (lambda a: z3.ZeroExt(wide - width, a))


def _same_bits(dtype: Any, equation: JaxprEqn) -> Callable:
    to = equation.params["new_dtype"]
    if bits(to) != bits(dtype) or not bits(to):
        raise UnsupportedError(f"'bitcast_convert_type'{source_line(equation)} to another width has no rule over bits")
    return lambda a: a


def _power(dtype: Any, equation: JaxprEqn) -> Callable:
    y = equation.params["y"]
    if y < 0:
        raise UnsupportedError(f"'integer_pow'{source_line(equation)} with a negative exponent has no rule over bits")
    return lambda a: functools.reduce(operator.mul, [a] * y, literal(1, dtype))


def _always(rule: Callable) -> Callable:
    return lambda dtype, equation: rule


_ENTRYWISE: Mapping[str, Callable[..., Callable]] = {
    "abs": _absolute,
    "add": _always(operator.add),
    "add_any": _always(operator.add),
    "and": _truths(operator.and_, lambda z3: z3.And),
    "bitcast_convert_type": _same_bits,
    "clz": _leading,
    "convert_element_type": _cast,
    "div": _quotient,
    "eq": _always(operator.eq),
    "ge": _order(operator.ge, "UGE", lambda z3: lambda a, b: z3.Or(a, z3.Not(b))),
    "gt": _order(operator.gt, "UGT", lambda z3: lambda a, b: z3.And(a, z3.Not(b))),
    "integer_pow": _power,
    "le": _order(operator.le, "ULE", lambda z3: lambda a, b: z3.Or(z3.Not(a), b)),
    "lt": _LESS,
    "max": _extreme(True),
    "min": _extreme(False),
    "mul": _always(operator.mul),
    "ne": _always(operator.ne),
    "neg": _always(operator.neg),
    "not": _truths(operator.invert, lambda z3: z3.Not),
    "or": _truths(operator.or_, lambda z3: z3.Or),
    "population_count": _counted,
    "rem": _remainder,
    "shift_left": _always(operator.lshift),
    "shift_right_arithmetic": _always(operator.rshift),
    "shift_right_logical": lambda dtype, equation: solver().LShR,
    "sign": _sign,
    "square": _always(lambda a: a * a),
    "sub": _always(operator.sub),
    "xor": _truths(operator.xor, lambda z3: z3.Xor),
}
"""Primitive → (dtype of its last operand, equation) → the rule for one entry."""


# Entries that are moved

_MOVED = frozenset(
    "broadcast_in_dim concatenate expand_dims pad reshape rev slice split squeeze stack tile transpose unstack".split()
)
"""Primitives whose results are entries of their operands, at places that no operand decides."""


def _numbered(operands: Sequence[Any], dtypes: Sequence[Any]) -> tuple[list[np.ndarray], np.ndarray]:
    """The operands with numbers for their entries, and the entries by these numbers."""
    pool, places, start = [], [], 0
    for operand, dtype in zip(operands, dtypes, strict=True):
        array = formulas(operand, dtype)
        places.append(np.arange(start, start + array.size, dtype=np.int32).reshape(array.shape))
        pool += list(array.ravel())
        start += array.size
    entries = np.empty(len(pool), object)
    entries[:] = pool
    return places, entries


def _moved(equation: JaxprEqn, operands: list[Any]) -> list[np.ndarray]:
    places, entries = _numbered(operands, list(map(dtype_of, equation.invars)))
    return [entries[np.ravel(found)].reshape(np.shape(found)) for found in bind(equation, places)]


def _selected(equation: JaxprEqn, which: np.ndarray, *cases: np.ndarray) -> np.ndarray:
    """The case that `which` says, as number or truth value."""
    shape, dtype = shape_of(equation.outvars[0]), dtype_of(equation.outvars[0])
    of = dtype_of(equation.invars[0])
    which, arrays = formulas(which, of), [formulas(case, dtype) for case in cases]
    found = np.empty(shape, object)
    for i in np.ndindex(shape):
        decided = which[i] if which.shape else which[()]
        if not bits(of):
            found[i] = _choose(decided, arrays[-1][i], arrays[0][i])
            continue
        found[i] = arrays[-1][i]  # a number beyond the cases is moved to the nearest, as XLA does
        for k in range(len(arrays) - 2, -1, -1):
            at_most = decided <= k if signed(of) else solver().ULE(decided, k)
            found[i] = _choose(at_most, arrays[k][i], found[i])
    return found


def _clamped(equation: JaxprEqn, low: np.ndarray, x: np.ndarray, high: np.ndarray) -> np.ndarray:
    """min(max(low, x), high)."""
    dtype, shape = dtype_of(equation.invars[1]), shape_of(equation.outvars[0])
    larger, smaller = _extreme(True)(dtype, equation), _extreme(False)(dtype, equation)
    low, x, high = (np.broadcast_to(formulas(a, dtype), shape) for a in (low, x, high))
    found = np.empty(shape, object)
    for i in np.ndindex(shape):
        found[i] = smaller(larger(low[i], x[i]), high[i])
    return found


# Places that the inputs decide


def _starts(index: np.ndarray, dtype: Any, last: int) -> list[tuple[int, Any]]:
    """A place between 0 and `last` with the condition that a start is moved to it."""
    z3 = solver()
    if not isinstance(index, z3.ExprRef):
        return [(min(max(int(index), 0), last), z3.BoolVal(True))]
    at_most, least = (operator.le, operator.ge) if signed(dtype) else (z3.ULE, z3.UGE)
    top = (1 << (bits(dtype) - signed(dtype))) - 1
    found = []
    for k in range(min(last, top) + 1):
        low, high = k == 0, k == last
        condition = z3.BoolVal(True) if low and high else at_most(index, 0) if low and signed(dtype) else index == k
        condition = least(index, k) if high and not low else condition
        found.append((k, condition))
    return found


def _blended(cases: Sequence[tuple[np.ndarray, np.ndarray]], shape: tuple[int, ...]) -> np.ndarray:
    """The entries of the case whose condition holds; one of them does."""
    found = cases[-1][1].reshape(shape).copy()
    for condition, entries in cases[-2::-1]:
        entries = entries.reshape(shape)
        for i in np.ndindex(shape):
            found[i] = _choose(condition, entries[i], found[i])
    return found


def _combined(equation: JaxprEqn, starts: Sequence[list[tuple[int, Any]]], entries: int) -> list[tuple[Any, list[int]]]:
    """Every choice of places with its condition."""
    many = math.prod(map(len, starts))
    if many * max(1, entries) > MOST_PLACES:
        named = f"'{equation.primitive.name}'{source_line(equation)}"
        raise UnsupportedError(f"{named} takes a place that depends on the input out of {many}, which are too many")
    z3 = solver()
    return [(z3.And(*(c for _, c in case)), [k for k, _ in case]) for case in itertools.product(*starts)]


def _sliced(equation: JaxprEqn, x: np.ndarray, *index: np.ndarray) -> np.ndarray:
    """A slice that starts where the indices say, moved into the array."""
    sizes, shape = equation.params["slice_sizes"], shape_of(equation.invars[0])
    array = formulas(x, dtype_of(equation.invars[0]))
    entry = lambda i: i if is_fixed(i) else i[()]
    dtypes = [dtype_of(v) for v in equation.invars[1:]]
    starts = [_starts(entry(i), d, n - s) for i, d, n, s in zip(index, dtypes, shape, sizes, strict=True)]
    part = lambda at: array[tuple(slice(k, k + s) for k, s in zip(at, sizes, strict=True))]
    return _blended([(c, part(at)) for c, at in _combined(equation, starts, math.prod(sizes))], tuple(sizes))


def _updated(equation: JaxprEqn, x: np.ndarray, update: Any, *index: np.ndarray) -> np.ndarray:
    """An array with a part replaced, which starts where the indices say, moved into the array."""
    shape, sizes = shape_of(equation.invars[0]), shape_of(equation.invars[1])
    array, new = (formulas(a, dtype_of(equation.invars[0])) for a in (x, update))
    entry = lambda i: i if is_fixed(i) else i[()]
    dtypes = [dtype_of(v) for v in equation.invars[2:]]
    starts = [_starts(entry(i), d, n - s) for i, d, n, s in zip(index, dtypes, shape, sizes, strict=True)]

    def replaced(at: Sequence[int]) -> np.ndarray:
        whole = array.copy()
        whole[tuple(slice(k, k + s) for k, s in zip(at, sizes, strict=True))] = new
        return whole

    return _blended([(c, replaced(at)) for c, at in _combined(equation, starts, array.size)], shape)


def _gathered(equation: JaxprEqn, x: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Slices that start where the rows of `index` say; a row outside is moved inside, or filled, by the mode."""
    z3, parameters = solver(), equation.params
    numbers, sizes, mode = parameters["dimension_numbers"], parameters["slice_sizes"], parameters["mode"]
    dtype, of = dtype_of(equation.invars[0]), dtype_of(equation.invars[1])
    shape, result = shape_of(equation.invars[0]), shape_of(equation.outvars[0])
    places, entries = _numbered([x], [dtype])
    inside = {**parameters, "mode": GatherScatterMode.CLIP, "fill_value": None}
    at_places = lambda at: np.asarray(equation.primitive.bind(places[0], at, **inside))
    lasts = [shape[axis] - sizes[axis] for axis in numbers.start_index_map]
    index = index if not is_fixed(index) else np.asarray(index)
    rows = index.shape[:-1]
    several = [_starts_of(index, k, of, last, rows) for k, last in enumerate(lasts)]
    many = math.prod(last + 1 for last in lasts)
    if many * max(1, math.prod(result)) > MOST_TERMS:
        named = f"'{equation.primitive.name}'{source_line(equation)}"
        raise UnsupportedError(f"{named} takes a place that depends on the input out of {many}, which are too many")
    spread = _row_of(equation, rows, result)
    found: np.ndarray | None = None
    for at in itertools.product(*(range(last, -1, -1) for last in lasts)):
        with jax.ensure_compile_time_eval():
            at_them = at_places(np.broadcast_to(np.asarray(at, np.int32), (*rows, len(at))).copy())
        there = entries[at_them.ravel()].reshape(result)
        if found is None:
            found = there.copy()
            continue
        for i in np.ndindex(result):
            conditions = [several[k][spread(i)].get(place, z3.BoolVal(False)) for k, place in enumerate(at)]
            found[i] = _choose(z3.And(*conditions), there[i], found[i])
    assert found is not None
    if mode == GatherScatterMode.FILL_OR_DROP:
        filled = literal(_fill(equation), dtype)
        for i in np.ndindex(result):
            outside = [_outside(index[(*spread(i), k)], of, last) for k, last in enumerate(lasts)]
            found[i] = _choose(z3.Or(*outside), filled, found[i])
    return found


def _starts_of(index: np.ndarray, k: int, dtype: Any, last: int, rows: tuple[int, ...]) -> dict[tuple[int, ...], dict]:
    """For every row, place → the condition that its k-th start is there."""
    return {row: dict(_starts(index[(*row, k)], dtype, last)) for row in np.ndindex(rows)}


def _outside(start: np.ndarray, dtype: Any, last: int) -> Any:
    """Whether a start lies outside of 0 … `last`."""
    z3 = solver()
    if not isinstance(start, z3.ExprRef):
        return z3.BoolVal(not 0 <= int(start) <= last)
    top = (1 << (bits(dtype) - signed(dtype))) - 1
    above = z3.BoolVal(False) if last >= top else (start > last if signed(dtype) else z3.UGT(start, last))
    return z3.Or(start < 0, above) if signed(dtype) else above


def _row_of(equation: JaxprEqn, rows: tuple[int, ...], result: tuple[int, ...]) -> Callable:
    """From an entry of the result of a gather to the row of its index."""
    offset = equation.params["dimension_numbers"].offset_dims
    return lambda i: tuple(k for axis, k in enumerate(i) if axis not in offset)


def _fill(equation: JaxprEqn) -> Any:
    """What stands for a slice outside, as JAX computes it."""
    parameters, of, shape = equation.params, dtype_of(equation.invars[1]), shape_of(equation.invars[1])
    with jax.ensure_compile_time_eval():
        outside = np.full(shape, -1 if signed(of) else jnp.iinfo(of).max).astype(of)
        nothing = np.zeros(shape_of(equation.invars[0]), dtype_of(equation.invars[0]))
        found = np.asarray(equation.primitive.bind(nothing, outside, **parameters))
    return found.ravel()[0]


# Along axes


def _along(rule: Callable[..., Callable]) -> Callable:
    """Entries combined along axes."""

    def reduced(equation: JaxprEqn, x: np.ndarray) -> np.ndarray:
        dtype, axes, shape = dtype_of(equation.invars[0]), equation.params["axes"], shape_of(equation.outvars[0])
        combine = rule(dtype, equation)
        moved = np.moveaxis(formulas(x, dtype), axes, range(-len(axes), 0)).reshape(*shape, -1)
        found = np.empty(shape, object)
        for i in np.ndindex(shape):
            found[i] = functools.reduce(combine, list(moved[i]))
        return found

    return reduced


def _prefixes(rule: Callable[..., Callable]) -> Callable:
    """All prefixes along an axis, combined."""

    def found(equation: JaxprEqn, x: np.ndarray) -> np.ndarray:
        dtype, axis = dtype_of(equation.invars[0]), equation.params["axis"]
        combine = rule(dtype, equation)
        rows = np.moveaxis(formulas(x, dtype), axis, -1)
        rows = rows[..., ::-1] if equation.params["reverse"] else rows
        made = np.empty(rows.shape, object)
        for i in np.ndindex(rows.shape[:-1]):
            for k, entry in enumerate(itertools.accumulate(list(rows[i]), combine)):
                made[(*i, k)] = entry
        made = made[..., ::-1] if equation.params["reverse"] else made
        return np.moveaxis(made, -1, axis)

    return found


def _product(equation: JaxprEqn, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A matrix product: both operands are cast to the dtype of the result first, and the sum wraps there."""
    (left, right), (batch, other) = equation.params["dimension_numbers"]
    to = dtype_of(equation.outvars[0])
    cast = lambda a, v: np.frompyfunc(_widened(dtype_of(v), to), 1, 1)(formulas(a, dtype_of(v)))
    x, y = (cast(a, v) for a, v in zip((x, y), equation.invars, strict=True))
    if not bits(to):
        raise UnsupportedError(f"'dot_general'{source_line(equation)} of truth values has no rule over bits")
    free = lambda a, *used: [k for k in range(a.ndim) if k not in {*used[0], *used[1]}]
    first, second = free(x, left, batch), free(y, right, other)
    x = np.transpose(x, (*batch, *first, *left))
    y = np.transpose(y, (*other, *second, *right))
    outer = x.shape[: len(batch)]
    rows = x.reshape(math.prod(outer), math.prod(x.shape[len(batch) : len(batch) + len(first)]), -1)
    columns = y.reshape(math.prod(outer), math.prod(y.shape[len(other) : len(other) + len(second)]), -1)
    found = np.empty((len(rows), rows.shape[1], columns.shape[1]), object)
    for b, i, j in np.ndindex(found.shape):
        found[b, i, j] = functools.reduce(operator.add, map(operator.mul, rows[b, i], columns[b, j]))
    return found.reshape(shape_of(equation.outvars[0]))


def _widened(dtype: Any, to: Any) -> Callable:
    """The cast of one entry, between dtypes of integers."""
    z3, width, wide = solver(), bits(dtype), bits(to)
    if not width:
        return lambda a: _choose(a, literal(1, to), literal(0, to))
    if wide <= width:
        return lambda a: z3.Extract(wide - 1, 0, a)
    return lambda a: (z3.SignExt if signed(dtype) else z3.ZeroExt)(wide - width, a)


def _place_of(largest: bool) -> Callable:
    """The first place of the largest or the smallest entry."""

    def found(equation: JaxprEqn, x: np.ndarray) -> np.ndarray:
        dtype, (axis,), to = dtype_of(equation.invars[0]), equation.params["axes"], equation.params["index_dtype"]
        less = _LESS(dtype, equation)
        rows = np.moveaxis(formulas(x, dtype), axis, -1)
        made = np.empty(rows.shape[:-1], object)
        for i in np.ndindex(made.shape):
            entries = list(rows[i])
            best, place = entries[0], literal(0, to)
            for k, entry in enumerate(entries[1:], 1):
                better = less(best, entry) if largest else less(entry, best)
                best, place = _choose(better, entry, best), _choose(better, literal(k, to), place)
            made[i] = place
        return made

    return found


def _sorted(equation: JaxprEqn, *operands: Any) -> list[np.ndarray]:
    """Arrays in the ascending order of the first ones along an axis; equal ones stay in their order."""
    dtypes, axis = [dtype_of(v) for v in equation.invars], equation.params["dimension"]
    rows = [np.moveaxis(formulas(x, d), axis, -1).copy() for x, d in zip(operands, dtypes, strict=True)]
    keys = equation.params["num_keys"]

    def less(x: Sequence[Any], y: Sequence[Any]) -> Any:
        z3, found = solver(), solver().BoolVal(False)
        for a, b, dtype in list(zip(x, y, dtypes, strict=True))[keys - 1 :: -1]:
            found = z3.Or(_LESS(dtype, equation)(a, b), z3.And(a == b, found))
        return found

    _exchange(rows, less)
    return [np.moveaxis(x, -1, axis) for x in rows]


def _exchange(rows: Sequence[np.ndarray], less: Callable[[Sequence[Any], Sequence[Any]], Any]) -> None:
    """Sorts arrays along their last axis, by exchanges of neighbours of which the second is less than the first."""
    for i in np.ndindex(rows[0].shape[:-1]):
        for last in range(rows[0].shape[-1] - 1, 0, -1):
            for k in range(last):
                first, second = [x[(*i, k)] for x in rows], [x[(*i, k + 1)] for x in rows]
                exchanged = less(second, first)
                for x, a, b in zip(rows, first, second, strict=True):
                    x[(*i, k)], x[(*i, k + 1)] = _choose(exchanged, b, a), _choose(exchanged, a, b)


def _largest(equation: JaxprEqn, x: np.ndarray) -> list[np.ndarray]:
    """The largest entries along an axis in descending order, and their places: of equal ones the first comes first."""
    dtype, axis, k = dtype_of(equation.invars[0]), equation.params["axis"], equation.params["k"]
    places, rows = dtype_of(equation.outvars[1]), np.moveaxis(formulas(x, dtype), axis, -1).copy()
    numbers = np.broadcast_to(formulas(np.arange(rows.shape[-1]), places), rows.shape).copy()
    _exchange([rows, numbers], lambda a, b: _LESS(dtype, equation)(b[0], a[0]))
    return [np.moveaxis(found[..., :k], -1, axis) for found in (rows, numbers)]


def _scattered(name: str) -> Callable:
    """An array in which entries are combined with those of windows that start where the rows of an index say.

    A window that starts outside is moved inside, or dropped, by the mode.
    """

    def found(equation: JaxprEqn, x: np.ndarray, index: np.ndarray, updates: Any) -> np.ndarray:
        z3, numbers, mode = solver(), equation.params["dimension_numbers"], equation.params["mode"]
        named = f"'{equation.primitive.name}'{source_line(equation)}"
        if not (replaces if name == "set" else combines)(equation):
            raise UnsupportedError(f"{named} has an update of its own, which has no rule over bits")
        dtype, of = dtype_of(equation.invars[0]), dtype_of(equation.invars[1])
        made, new, index = formulas(x, dtype).copy(), formulas(updates, dtype), np.asarray(index)
        own = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
        windows = dict(zip([d for d in range(made.ndim) if d not in own], numbers.update_window_dims, strict=True))
        rows = [d for d in range(new.ndim) if d not in numbers.update_window_dims]
        sizes = {d: new.shape[windows[d]] if d in windows else 1 for d in range(made.ndim)}
        batches = dict(zip(numbers.operand_batching_dims, numbers.scatter_indices_batching_dims, strict=True))
        lasts = [made.shape[d] - sizes[d] for d in numbers.scatter_dims_to_operand_dims]
        many = math.prod(last + 1 for last in lasts)
        if many * max(1, new.size) > MOST_WRITTEN:
            raise UnsupportedError(f"{named} writes to a place that depends on the input out of {many}, too many")
        combined = (lambda old, value: value) if name == "set" else _ENTRYWISE[name](dtype, equation)
        for u in np.ndindex(new.shape):
            row = tuple(u[d] for d in rows)
            starts = [_starts(index[(*row, k)], of, last) for k, last in enumerate(lasts)]
            beside = [_outside(index[(*row, k)], of, last) for k, last in enumerate(lasts)]
            if mode != GatherScatterMode.CLIP and mode != GatherScatterMode.FILL_OR_DROP:
                if not all(z3.is_false(z3.simplify(x)) for x in beside):
                    raise UnsupportedError(f"{named} is promised places inside, and an integer may lie beside them")
            for chosen in itertools.product(*starts):
                place = [u[windows[d]] if d in windows else row[batches[d]] if d in batches else 0 for d in sizes]
                for d, (start, _) in zip(numbers.scatter_dims_to_operand_dims, chosen, strict=True):
                    place[d] += start
                here = z3.And(*(condition for _, condition in chosen))
                if mode == GatherScatterMode.FILL_OR_DROP:
                    here = z3.And(here, z3.Not(z3.Or(*beside)))
                old = made[tuple(place)]
                made[tuple(place)] = _choose(here, combined(old, new[u]), old)
        return made

    return found


_RULES: Mapping[str, Callable[..., Any]] = {
    "argmax": _place_of(True),
    "argmin": _place_of(False),
    "clamp": _clamped,
    "cummax": _prefixes(_extreme(True)),
    "cummin": _prefixes(_extreme(False)),
    "cumprod": _prefixes(_always(operator.mul)),
    "cumsum": _prefixes(_always(operator.add)),
    "dot_general": _product,
    "dynamic_slice": _sliced,
    "dynamic_update_slice": _updated,
    "gather": _gathered,
    "reduce_and": _along(_ENTRYWISE["and"]),
    "reduce_max": _along(_extreme(True)),
    "reduce_min": _along(_extreme(False)),
    "reduce_or": _along(_ENTRYWISE["or"]),
    "reduce_prod": _along(_always(operator.mul)),
    "reduce_sum": _along(_always(operator.add)),
    "reduce_xor": _along(_ENTRYWISE["xor"]),
    "scatter": _scattered("set"),
    "scatter-add": _scattered("add"),
    "scatter-max": _scattered("max"),
    "scatter-min": _scattered("min"),
    "scatter-mul": _scattered("mul"),
    "select_n": _selected,
    "sort": _sorted,
    "top_k": _largest,
}
"""Primitive → (equation, operands) → its result."""

RULES = frozenset({*_ENTRYWISE, *_MOVED, *_RULES})
"""The primitives that have a rule."""


# Programs that equations hold


def _scan(walk: _Walk, equation: JaxprEqn, operands: list[Any]) -> list[np.ndarray]:
    """A loop of known length, step by step."""
    p = scan_parameters(equation)
    constants, carried = p["num_consts"], p["num_carry"]
    given, carry, rows = (
        operands[:constants],
        operands[constants : constants + carried],
        operands[constants + carried :],
    )
    made: list[list[Any]] = []
    order = range(p["length"])
    for step in reversed(order) if p["reverse"] else order:
        results = walk.closed(p["jaxpr"], [*given, *carry, *(_entry(row, step) for row in rows)])
        carry = results[:carried]
        made.append(results[carried:])
    made = made[::-1] if p["reverse"] else made
    outputs = equation.outvars[carried:]
    stacks = [_stacked([row[k] for row in made], dtype_of(v), shape_of(v)) for k, v in enumerate(outputs)]
    return [*carry, *stacks]


def _entry(row: np.ndarray, step: int) -> Any:
    found = row[step]
    if not is_fixed(row) and not isinstance(found, np.ndarray):
        alone = np.empty((), object)
        alone[()] = found
        return alone
    return found


def _stacked(rows: Sequence[Any], dtype: Any, shape: tuple[int, ...]) -> Any:
    if all(map(is_fixed, rows)):
        return np.stack([np.asarray(row) for row in rows]) if rows else np.zeros(shape, dtype)
    found = np.empty(shape, object)
    for k, row in enumerate(rows):
        found[k] = formulas(row, dtype)[()] if len(shape) == 1 else formulas(row, dtype)
    return found


def _while(walk: _Walk, equation: JaxprEqn, operands: list[Any]) -> list[np.ndarray]:
    """A loop whose end the inputs do not decide."""
    p = equation.params
    first, second = p["cond_nconsts"], p["body_nconsts"]
    of_condition, of_body = operands[:first], operands[first : first + second]
    carry = operands[first + second :]
    for _ in range(MOST_PLACES):
        (goes_on,) = walk.closed(p["cond_jaxpr"], [*of_condition, *carry])
        if not is_fixed(goes_on):
            raise UnsupportedError(f"'while'{source_line(equation)} ends where an input says, which is not followed")
        if not bool(goes_on):
            return carry
        carry = walk.closed(p["body_jaxpr"], [*of_body, *carry])
    raise UnsupportedError(f"'while'{source_line(equation)} runs for more than {MOST_PLACES} steps")


def _cond(walk: _Walk, equation: JaxprEqn, operands: list[Any]) -> list[np.ndarray]:
    """The branch that a number says, moved to the nearest one."""
    which, given = operands[0], operands[1:]
    branches = equation.params["branches"]
    if is_fixed(which):
        return walk.closed(branches[min(max(int(which), 0), len(branches) - 1)], given)
    of = dtype_of(equation.invars[0])
    if not bits(of):
        cases = [(solver().Not(which[()]), 0), (which[()], 1)]
    else:
        cases = [(condition, k) for k, condition in _starts(which[()], of, len(branches) - 1)]
    results = [(condition, walk.closed(branches[k], given)) for condition, k in cases]
    return [
        _blended([(c, formulas(r[k], dtype_of(v))) for c, r in results], shape_of(v))
        for k, v in enumerate(equation.outvars)
    ]


_LOOPS: Mapping[str, Callable[..., list[Any]]] = {"cond": _cond, "scan": _scan, "while": _while}
"""Primitives that hold programs which they do not only call."""
