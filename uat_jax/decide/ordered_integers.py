"""Integers that are sorted, and otherwise added, compared and chosen among, as real numbers.

    sort(x), argmax(x), x + y, x < y, T[x]      of integers x that do not wrap      are those of the real numbers x

A program of integers is so one of real numbers at the points that are whole.  What is equal for all real numbers of a
range is equal for its integers (docs/soundness.md §20, *Integers as real numbers*).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, JaxprEqn, Literal
from jax.lax import GatherScatterMode

from uat_jax.decide.certificate import one_line
from uat_jax.decide.domain import Domains, Interval
from uat_jax.decide.integers import Integers, ends
from uat_jax.decide.lookups.integer_part import LONGEST_SORT
from uat_jax.decide.specification import with_numbers
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.inlining import inlined
from uat_jax.interpret.integer_ranges import Range, is_integer, limits, of_array, ranges
from uat_jax.interpret.retracing import bound
from uat_jax.interpret.tracing import dtype_of, shape_of

if TYPE_CHECKING:
    from uat_jax.decide.equivalence import Pair

ORDERING = frozenset("argmax argmin cummax cummin sort top_k".split())
"""Primitives of the order of many numbers."""

REARRANGING = frozenset(
    """broadcast_in_dim concatenate copy dynamic_slice expand_dims pad reshape rev select_n slice split squeeze
    transpose""".split()
)
"""Primitives that put entries into other places, whatever they are."""

EXACT = frozenset(
    """abs add argmax argmin clamp cummax cummin cumsum ge gt integer_pow le lt max min mul neg reduce_max
    reduce_min reduce_sum sign sort sub top_k""".split()
)
"""Primitives that do to integers that do not wrap what they do to real numbers."""

LARGEST = 2**53
"""Whole numbers beyond this are no floats of 64 bits."""


@dataclasses.dataclass
class _Real:
    """A float array that stands for one of integers, of this dtype."""

    array: Any
    dtype: Any


def as_real_numbers(pair: Pair) -> Pair | None:
    """Both programs of real numbers in the place of their integers that are no truth values; None if none are sorted.

    Raises:
        UnsupportedError: JAX does not trace the programs with real numbers.
    """
    if not any(_orders_integers(e) for p in (pair.left, pair.right) for e in p.eqns):
        return None
    avals = pair.left.in_avals
    places = [i for i, a in enumerate(avals) if isinstance(pair.domains[i], Integers) and _may_be_real(pair, i)]
    if not places:
        return None
    left, right = (with_numbers(_program(p, pair.domains, places)) for p in (pair.left, pair.right))
    real = [_interval(pair.domains[i]) if i in places else pair.domains[i] for i in range(len(avals))]
    return dataclasses.replace(pair, left=left, right=right, domains=Domains(tuple(real)), names=())


def orders_few(pair: Pair) -> bool:
    """Whether integers are ordered, and nowhere more than letters can be, which looks at fewer places of a table."""
    ordered = [e for p in (pair.left, pair.right) for e in p.eqns if _orders_integers(e)]
    return bool(ordered) and all(math.prod(shape_of(e.invars[0])) <= LONGEST_SORT for e in ordered)


def _orders_integers(equation: JaxprEqn) -> bool:
    return equation.primitive.name in ORDERING and is_integer(equation.invars[0])


def _may_be_real(pair: Pair, i: int) -> bool:
    of: Any = pair.domains[i]
    return pair.left.in_avals[i].dtype != np.bool_ and of.low < of.high and max(-of.low, of.high) <= LARGEST


def _interval(of: Any) -> Interval:
    return Interval(float(of.low), float(of.high))


def _program(program: ClosedJaxpr, domains: Domains, places: Sequence[int]) -> ClosedJaxpr:
    """A program of floats in the place of some integers; those that it returns are floats as well."""
    avals = program.in_avals
    specs = [jax.ShapeDtypeStruct(a.shape, np.float64 if i in places else a.dtype) for i, a in enumerate(avals)]
    given = [Range(d.low, d.high) if isinstance(d, Integers | Interval) else limits(a.dtype)
             for d, a in zip((domains[i] for i in range(len(avals))), avals, strict=True)]  # fmt: skip

    def function(*inputs: Any) -> list[Any]:
        values = [_Real(x, avals[i].dtype) if i in places else x for i, x in enumerate(inputs)]
        found = _Walk(program, given).results(values)
        return [x.array if isinstance(x, _Real) else x for x in found]

    try:
        with jax.enable_x64(True):  # whole numbers up to 2^53 are exact
            return inlined(jax.make_jaxpr(function)(*specs))
    except (TypeError, ValueError, NotImplementedError) as error:
        raise UnsupportedError(f"JAX does not trace it with real numbers: {one_line(error)}") from error


class _Walk:
    """A program followed with floats for integers, as long as these cannot wrap."""

    def __init__(self, program: ClosedJaxpr, inputs: Sequence[Range]) -> None:
        self.program = program
        self.ranges: dict[Any, Range] = dict(zip(program.jaxpr.invars, inputs, strict=True))
        self.values: dict[Any, Any] = {}

    def results(self, inputs: Sequence[Any]) -> list[Any]:
        """The outputs of the program at some inputs: floats stand for the integers that cannot wrap."""
        jaxpr = self.program.jaxpr
        self.values.update(zip(jaxpr.invars, inputs, strict=True))
        for v, x in zip(jaxpr.constvars, self.program.consts, strict=True):
            self.values[v], self.ranges[v] = x, of_array(x)
        for equation in jaxpr.eqns:
            self.values.update(zip(equation.outvars, self._applied(equation), strict=True))
        return [self._read(v) for v in jaxpr.outvars]

    def _read(self, atom: Any) -> Any:
        return np.asarray(atom.val, dtype_of(atom)) if isinstance(atom, Literal) else self.values[atom]

    def _range(self, atom: Any) -> Range:
        return of_array(self._read(atom)) if isinstance(atom, Literal) else self.ranges[atom]

    def _applied(self, equation: JaxprEqn) -> list[Any]:
        operands = [self._read(v) for v in equation.invars]
        found, wraps = self._bounds(equation)
        self.ranges.update(zip(equation.outvars, found, strict=True))
        if not wraps and any(isinstance(x, _Real) for x in operands):
            rule = RULES.get(equation.primitive.name)
            made = None if rule is None else rule(self, equation, operands)
            if made is not None:
                return made
        return bound(equation, [_whole(x) for x in operands], equation.params)

    def _bounds(self, equation: JaxprEqn) -> tuple[list[Range], bool]:
        """The numbers that the results can be, and whether integers may wrap or be too large for a float."""
        try:
            found = ranges(equation, list(map(self._range, equation.invars)))
        except UnsupportedError:
            return [limits(dtype_of(v)) for v in equation.outvars], True
        whole = [r for v, r in zip(equation.outvars, found, strict=True) if is_integer(v)]
        return found, any(max(-r.low, r.high) > LARGEST for r in whole)

    # Rules: the results, or None if the integers themselves are needed

    def exact(self, equation: JaxprEqn, operands: list[Any]) -> list[Any] | None:
        """The results of the equation's own primitive, applied to the floats that stand for integers."""
        found = bound(equation, list(map(_float, operands)), equation.params)
        kinds = zip(equation.outvars, found, strict=True)
        return [_Real(x, dtype_of(v)) if is_integer(v) and _is_float(x) else x for v, x in kinds]

    def equated(self, equation: JaxprEqn, operands: list[Any]) -> list[Any] | None:
        """With one number, of floats; with several, such as all places of an axis, the integers themselves say it."""
        several = any(not isinstance(x, _Real) and np.size(x) > 1 for x in operands)
        return None if several else self.exact(equation, operands)

    def sorted(self, equation: JaxprEqn, operands: list[Any]) -> list[Any] | None:
        """Integers as floats, and what was none as it is."""
        arrays = [x.array if isinstance(x, _Real) else x for x in operands]
        found = bound(equation, arrays, equation.params)
        return [_Real(y, x.dtype) if isinstance(x, _Real) else y for x, y in zip(operands, found, strict=True)]

    def moved(self, equation: JaxprEqn, operands: list[Any]) -> list[Any] | None:
        """Entries at other places: which these are is said by the integers themselves."""
        name = equation.primitive.name
        places = {"select_n": slice(0, 1), "dynamic_slice": slice(1, None)}.get(name, slice(0, 0))
        which = set(range(len(operands))[places])
        if not any(isinstance(x, _Real) for k, x in enumerate(operands) if k not in which):
            return None
        arrays = [_whole(x) if k in which else _float(x) for k, x in enumerate(operands)]
        found = bound(equation, arrays, equation.params)
        return [_Real(x, dtype_of(v)) for v, x in zip(equation.outvars, found, strict=True)]

    def gathered(self, equation: JaxprEqn, operands: list[Any]) -> list[Any] | None:
        """Integers that are read at places; what stands beside them is the number that JAX puts there."""
        if not isinstance(operands[0], _Real):
            return None
        params, dtype = dict(equation.params), operands[0].dtype
        if (
            GatherScatterMode.from_any(params["mode"]) == GatherScatterMode.FILL_OR_DROP
            and params["fill_value"] is None
        ):
            low, high = ends(dtype)
            params["fill_value"] = float(low if low < 0 else high)
        found = bound(equation, [operands[0].array, _whole(operands[1])], params)
        return [_Real(found[0], dtype)]

    def cast(self, equation: JaxprEqn, operands: list[Any]) -> list[Any] | None:
        """To another dtype that holds all numbers."""
        (x,), new = operands, np.dtype(equation.params["new_dtype"])
        if new == np.bool_:
            return [x.array != 0]
        if jnp.issubdtype(new, jnp.floating):
            return [lax.convert_element_type(x.array, new)]
        if not jnp.issubdtype(new, jnp.integer) or self._range(equation.invars[0]) not in limits(new):
            return None
        return [_Real(x.array, new)]

    def denied(self, equation: JaxprEqn, operands: list[Any]) -> list[Any] | None:
        """All bits turned: -1 - x, and of unsigned integers the largest less x."""
        (x,) = operands
        low, high = ends(x.dtype)
        return [_Real((low + high) - x.array, x.dtype)] if high <= LARGEST else None

    def contracted(self, equation: JaxprEqn, operands: list[Any]) -> list[Any] | None:
        """A product of matrices."""
        left, right = map(_float, operands)
        found = lax.dot_general(left, right, equation.params["dimension_numbers"])
        return [_Real(found, dtype_of(equation.outvars[0]))]


Rule = Callable[[_Walk, JaxprEqn, list[Any]], list[Any] | None]

RULES: Mapping[str, Rule] = {
    **dict.fromkeys(EXACT, _Walk.exact),
    **dict.fromkeys(REARRANGING, _Walk.moved),
    "eq": _Walk.equated,
    "ne": _Walk.equated,
    "sort": _Walk.sorted,
    "gather": _Walk.gathered,
    "not": _Walk.denied,
    "convert_element_type": _Walk.cast,
    "dot_general": _Walk.contracted,
}
"""What is done with floats in the place of integers."""


def _is_float(x: Any) -> bool:
    return bool(jnp.issubdtype(jnp.asarray(x).dtype, jnp.floating))


def _whole(x: Any) -> Any:
    """The integers that a float array stands for."""
    return lax.convert_element_type(x.array, x.dtype) if isinstance(x, _Real) else x


def _float(x: Any) -> Any:
    """Integers as floats; truth values and floats are what they are."""
    if isinstance(x, _Real):
        return x.array
    return jnp.asarray(x, np.float64) if jnp.issubdtype(jnp.asarray(x).dtype, jnp.integer) else x
