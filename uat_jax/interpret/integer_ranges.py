"""How large the numbers of a program can become: one interval for every array that depends on the program's inputs.

Integers of a fixed width wrap, and no number system here computes with integers that wrap. So every operation on
integers is bounded in advance, as an operation on whole numbers: where its interval fits the dtype, nothing wraps for
any input, and the integers are whole numbers; where it does not, the program is refused. Floats have intervals too,
because integers come from them by casts. The bounds of floats are computed exactly and then rounded outwards, and the
constants among them are widened by their rounding, so that they also hold for the number that a constant is read as.
"""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.extend.core import JaxprEqn, Var
from jax.lax import GatherScatterMode

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.concrete import is_array, is_keys
from uat_jax.interpret.monotone_ranges import INCREASING, between
from uat_jax.interpret.recognition import meanings
from uat_jax.interpret.scattering import replaces
from uat_jax.interpret.structure import STRUCTURAL, moves
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of, source_line
from uat_jax.typing import Array, Atom


class Range(NamedTuple):
    """All numbers between two bounds, which are integers or floats; floats may be infinite."""

    low: float
    high: float

    def __contains__(self, other: object) -> bool:
        """Whether another range lies within this one."""
        return isinstance(other, Range) and self.low <= other.low and other.high <= self.high

    def __str__(self) -> str:
        return f"{self.low} to {self.high}"


UNBOUNDED = Range(-math.inf, math.inf)
"""The range of a float of which nothing is known."""

TRUTH = Range(0, 1)
"""The range of a boolean: false is 0 and true is 1."""

MOST_BITS = 512
"""A product that may have more bits than this has no bounds."""

MOST_EXACT = 16
"""Powers of fractions with larger exponents are rounded."""


def signs_between(x: Range, y: Range) -> frozenset[int]:
    """The signs that the difference of a number of one range and one of the other can have."""
    possible = {1: x.high > y.low, 0: x.low <= y.high and y.low <= x.high, -1: x.low < y.high}
    return frozenset(sign for sign, may_be in possible.items() if may_be)


def is_integer(atom: Atom) -> bool:
    """Whether a variable of a jaxpr holds integers; booleans are none."""
    return jnp.issubdtype(dtype_of(atom), jnp.integer)


def limits(dtype: np.dtype) -> Range:
    """The range of everything a dtype can hold; all numbers for floats, because they stand for real numbers."""
    if dtype == np.bool_:
        return TRUTH
    if jnp.issubdtype(dtype, jnp.integer):
        bounds = jnp.iinfo(dtype)
        return Range(int(bounds.min), int(bounds.max))
    return UNBOUNDED


def of_array(array: Array) -> Range:
    """The range of the entries of a concrete array; what cannot be looked at has that of its dtype."""
    dtype = array.dtype
    if not is_array(array) or isinstance(array, Tracer) or is_keys(array) or not array.size:
        return limits(dtype)
    array = np.asarray(array)
    if not jnp.issubdtype(dtype, jnp.floating):
        return Range(int(array.min()), int(array.max()))
    values = array.astype(np.float64)
    return _of_floats(values, dtype) if np.isfinite(values).all() else UNBOUNDED


def _of_floats(values: np.ndarray, dtype: np.dtype) -> Range:
    """The range of the numbers that float constants stand for, which are near them; an array of data is as written."""
    found = meanings(values, dtype)
    if found is None:
        return Range(float(values.min()), float(values.max()))
    return Range(min(m.value - m.reach for m in found.distinct), max(m.value + m.radius for m in found.distinct))


def ranges(equation: JaxprEqn, operands: Sequence[Range]) -> list[Range]:
    """The ranges of an equation's results, given those of its operands.

    Raises:
        UnsupportedError: an integer of the result may lie outside its dtype, so that it may wrap.
    """
    rule = RULES.get(equation.primitive.name)
    found = limits(dtype_of(equation.outvars[0])) if rule is None else rule(equation, *operands)
    if rule is None and is_integer(equation.outvars[0]):
        raise UnsupportedError(
            f"'{equation.primitive.name}'{source_line(equation)} makes integers of unknown size; use floats instead"
        )
    several = found if isinstance(found, list) else [found] * len(equation.outvars)
    return [_fitting(equation, v, r) for v, r in zip(equation.outvars, several, strict=True)]


def _fitting(equation: JaxprEqn, variable: Var, found: Range) -> Range:
    """The range of one result, unless integers of this range wrap; bounds of floats are rounded outwards."""
    if is_number(variable):
        return _outwards(found)
    allowed = limits(dtype_of(variable))
    if found not in allowed:
        raise UnsupportedError(
            f"'{equation.primitive.name}'{source_line(equation)} may wrap around: its integers lie in {found}, and "
            f"{dtype_of(variable)} holds {allowed}; clip them first, or use a wider type"
        )
    return found


def _outwards(found: Range) -> Range:
    """A range of floats whose bounds were computed exactly, as floats: what these do not hold is rounded outwards."""
    low, high = map(_as_float, found)
    low, high = low if low == found.low else low - _slack(low), high if high == found.high else high + _slack(high)
    return Range(low, high) if low < math.inf and high > -math.inf else UNBOUNDED


def _as_float(bound: float) -> float:
    """A bound as a float; beyond all floats it is infinite."""
    try:
        return float(bound)
    except OverflowError:
        return math.inf if bound > 0 else -math.inf


def _slack(bound: float) -> float:
    """More than the rounding or underflow of a bound in float64."""
    return abs(bound) * 2.0**-48 + 1e-320


# --- sums, products and quotients -------------------------------------------------------------------------------------


def hull(*parts: Range) -> Range:
    """The smallest range that contains all of them."""
    return Range(min(part.low for part in parts), max(part.high for part in parts))


def _exact(bound: Any) -> Any:
    """A bound with which Python computes exactly: a whole number, a fraction, or an infinity."""
    return Fraction(bound) if isinstance(bound, float) and math.isfinite(bound) else bound


def _plus(a: float, b: float) -> Any:
    """A sum of bounds."""
    infinite = [bound for bound in (a, b) if isinstance(bound, float) and math.isinf(bound)]
    return infinite[0] if infinite else _exact(a) + _exact(b)


def _sum(x: Range, y: Range) -> Range:
    return Range(_plus(x.low, y.low), _plus(x.high, y.high))


def _negated(x: Range) -> Range:
    return Range(-x.high, -x.low)


def _times(a: float, b: Any) -> Any:
    """A product of bounds: zero times infinity is zero, because bounds are limits of numbers."""
    return _exact(a) * _exact(b) if a and b else 0


def _product(x: Range, y: Range) -> Range:
    corners = [_times(a, b) for a in x for b in y]
    return Range(min(corners), max(corners))


def _repeated(count: int, x: Range) -> Range:
    """The sum of `count` numbers of a range."""
    return Range(_times(count, x.low), _times(count, x.high))


def _magnitude(x: Range) -> float:
    return max(abs(x.low), abs(x.high))


def _absolute(x: Range) -> Range:
    smallest = 0 if x.low <= 0 <= x.high else min(abs(x.low), abs(x.high))
    return Range(smallest, _magnitude(x))


def _power(x: Range, count: int) -> Range:
    """The product of up to `count` numbers of a range, at least one."""
    largest = max(1, _magnitude(x))
    if count * math.log2(largest) > MOST_BITS if largest < math.inf else True:
        return UNBOUNDED if x.low < 0 else Range(0, math.inf)
    bound = largest if largest == 1 else _exact(largest) ** count if count <= MOST_EXACT else _above(largest**count)
    return Range(-bound if x.low < 0 else 0, bound)


def _above(bound: float) -> float:
    """A number above what float64 rounded to this; a whole number was not rounded."""
    return bound + _slack(bound) if isinstance(bound, float) else bound


def _integer_power(equation: JaxprEqn, x: Range) -> Range:
    exponent = equation.params["y"]
    if exponent < 0:
        return UNBOUNDED
    return _power(_absolute(x) if exponent % 2 == 0 else x, exponent)


def _increasing(name: str) -> Callable[..., Range]:
    """The values of an increasing function."""
    return lambda equation, x: Range(*between(name, *x))


def _real_power(equation: JaxprEqn, x: Range, y: Range) -> Range:
    """x^y = exp(y log x) for x ≥ 0; 0^0 is 1, which exp makes of the products 0."""
    if x.low < 0:
        return UNBOUNDED
    return Range(*between("exp", *_product(y, Range(*between("log", *x)))))


def _quotient(equation: JaxprEqn, x: Range, y: Range) -> Range:
    """Of integers without the fraction; a divisor that may be zero, or -1 at the lowest integer, says nothing."""
    allowed = limits(dtype_of(equation.outvars[0]))
    if y.low <= 0 <= y.high or not all(map(math.isfinite, (*x, *y))):
        return allowed
    divide = (lambda a, b: Fraction(a) / Fraction(b)) if is_number(equation.outvars[0]) else _truncated_quotient
    corners: list[Any] = [divide(a, b) for a in x for b in y]
    found = Range(min(corners), max(corners))
    return found if found in allowed else allowed


def _truncated_quotient(a: float, b: float) -> float:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _remainder(equation: JaxprEqn, x: Range, y: Range) -> Range:
    """The range of the remainder of x by y, which has the sign of x and is no larger than x in absolute value.

    It is also smaller than y, unless y can be 0: `rem(x, 0)` is x for integers.
    """
    largest = math.inf if y.low <= 0 <= y.high else _magnitude(y)
    return Range(max(min(x.low, 0), -largest), min(max(x.high, 0), largest))


def _clamped(equation: JaxprEqn, low: Range, x: Range, high: Range) -> Range:
    return Range(*(min(max(a, b), c) for a, b, c in zip(low, x, high, strict=True)))


def _size(atom: Atom) -> int:
    return math.prod(shape_of(atom))


def _terms(equation: JaxprEqn) -> int:
    """How many entries of the operand are reduced to one of the result."""
    return math.prod(shape_of(equation.invars[0])[axis] for axis in equation.params["axes"])


def _dot_general(equation: JaxprEqn, x: Range, y: Range) -> Range:
    if dtype_of(equation.outvars[0]) == np.bool_:
        return TRUTH
    (contracted, _), _ = equation.params["dimension_numbers"]
    return _repeated(math.prod(shape_of(equation.invars[0])[axis] for axis in contracted), _product(x, y))


def _convolution(equation: JaxprEqn, x: Range, kernel: Range) -> Range:
    """Every entry is a sum over the kernel of one output feature; what is padded counts as zero."""
    if dtype_of(equation.outvars[0]) == np.bool_:
        return TRUTH
    outputs = shape_of(equation.invars[1])[equation.params["dimension_numbers"].rhs_spec[0]]
    terms = _size(equation.invars[1]) // max(1, outputs)
    return _repeated(terms, hull(_product(x, kernel), Range(0, 0)))


def _extreme(equation: JaxprEqn, x: Range) -> Range:
    """An entry; of no entries the extreme of the dtype."""
    return x if _terms(equation) else limits(dtype_of(equation.outvars[0]))


def _window_sum(equation: JaxprEqn, x: Range) -> Range:
    return _repeated(math.prod(equation.params["window_dimensions"]), hull(x, Range(0, 0)))


def _prefix_sum(equation: JaxprEqn, x: Range) -> Range:
    return hull(x, _repeated(shape_of(equation.invars[0])[equation.params["axis"]], x))


def _landing_sum(sign: int) -> Callable[..., Range]:
    """An entry meets at most one number of every window of updates."""

    def added(equation: JaxprEqn, x: Range, indices: Range, updates: Range) -> Range:
        windows = math.prod(shape_of(equation.invars[1])[:-1])
        total = _repeated(windows, hull(updates, Range(0, 0)))
        return _sum(x, total if sign > 0 else _negated(total))

    return added


# --- casts, bits and places -------------------------------------------------------------------------------------------


def _cast(equation: JaxprEqn, x: Range) -> Range:
    """A float loses its fraction and saturates, NaN is 0; an integer that does not fit can become any of its dtype."""
    new = np.dtype(equation.params["new_dtype"])
    if new == np.bool_ or jnp.issubdtype(new, jnp.floating):
        return TRUTH if new == np.bool_ else x
    allowed = limits(new)
    if is_number(equation.invars[0]):
        low, high = (int(min(max(bound, allowed.low), allowed.high)) for bound in x)
        return Range(min(low, 0), max(high, 0))
    return x if x in allowed else allowed


def keeps_values(equation: JaxprEqn, x: Range) -> bool:
    """Whether a cast of numbers of this range to an integer dtype neither saturates nor wraps: it drops fractions."""
    allowed = limits(np.dtype(equation.params["new_dtype"]))
    return allowed.low - 1 < x.low and x.high < allowed.high + 1


def _bits(equation: JaxprEqn, x: Range, y: Range) -> Range:
    """Of numbers that are not negative: no more bits than the longer of the two; x | y has all bits of both."""
    if min(x.low, y.low) < 0:
        return limits(dtype_of(equation.outvars[0]))
    least = max(x.low, y.low) if equation.primitive.name == "or" else 0
    return Range(least, (1 << int(max(x.high, y.high)).bit_length()) - 1)


def _common_bits(equation: JaxprEqn, x: Range, y: Range) -> Range:
    """The range of x & y: from 0 to the smaller of the upper ends of operands that are never negative."""
    bounds = [part.high for part in (x, y) if part.low >= 0]
    return Range(0, min(bounds)) if bounds else limits(dtype_of(equation.outvars[0]))


def _shifted_right(equation: JaxprEqn, x: Range, y: Range) -> Range:
    """Of numbers that are not negative; at least `y.low` bits are lost, where that is a number of bits."""
    if x.low < 0:
        return limits(dtype_of(equation.outvars[0]))
    lost = int(y.low) if 0 <= y.low < jnp.iinfo(dtype_of(equation.outvars[0])).bits else 0
    return Range(0, int(x.high) >> lost)


def bits_as_floats(equation: JaxprEqn, x: Range) -> Range:
    """The floats whose bits are the integers of a range; unbounded unless the sign is + and all are finite.

    Then floats are in the order of their bits.
    """
    given, made = dtype_of(equation.invars[0]), dtype_of(equation.outvars[0])
    largest = int(np.asarray(jnp.finfo(made).max).view(f"u{made.itemsize}"))
    if given.itemsize != made.itemsize or not 0 <= x.low <= x.high <= largest:
        return UNBOUNDED
    low, high = (float(np.array(int(bound), f"u{made.itemsize}").view(made)) for bound in x)
    return Range(low, high)


def _bits_cast(equation: JaxprEqn, x: Range) -> Range:
    """The bits of a number of one type as a number of another one."""
    return bits_as_floats(equation, x) if is_number(equation.outvars[0]) else _any(equation)


def _places(equation: JaxprEqn, x: Range) -> Range:
    (axis,) = equation.params["axes"]
    return Range(0, max(0, shape_of(equation.invars[0])[axis] - 1))


def _top(equation: JaxprEqn, x: Range) -> list[Range]:
    axis = equation.params.get("axis", len(shape_of(equation.invars[0])) - 1)
    return [x, Range(0, max(0, shape_of(equation.invars[0])[axis] - 1))]


def _moved(equation: JaxprEqn, *operands: Range) -> Range:
    """Entries in new places lie where the entries lay."""
    return hull(*(r for r, entries in zip(operands, moves(equation), strict=True) if entries))


def _gathered(equation: JaxprEqn, x: Range, indices: Range) -> Range:
    """Entries, and where the mode is to fill, what stands for those outside."""
    fills = equation.params["mode"] == GatherScatterMode.FILL_OR_DROP
    return hull(x, limits(dtype_of(equation.outvars[0]))) if fills else x


def _selected(equation: JaxprEqn, which: Range, *cases: Range) -> Range:
    """One of the cases; no case has a number beyond the last."""
    if which not in Range(0, len(cases) - 1):
        raise UnsupportedError(
            f"'select_n'{source_line(equation)} chooses case {which} of {len(cases)}; clip the number of the case first"
        )
    return hull(*cases[int(which.low) : int(which.high) + 1])


def _comparison(compare: Callable[[Any, Any], Any], *, rising: bool) -> Callable[..., Range]:
    """Of integers whose ranges decide it; floats may be NaN.  `rising`: whether larger x make it true."""

    def compared(equation: JaxprEqn, x: Range, y: Range) -> Range:
        if not all(map(is_integer, equation.invars)):
            return TRUTH
        most, least = (x.high, y.low), (x.low, y.high)
        low, high = (least, most) if rising else (most, least)
        return Range(int(compare(*low)), int(compare(*high)))

    return compared


# --- the table --------------------------------------------------------------------------------------------------------

Rule = Callable[..., "Range | list[Range]"]


def _always(low: float, high: float) -> Rule:
    return lambda equation, *operands: Range(low, high)


def _of(function: Callable[..., Range]) -> Rule:
    return lambda equation, *operands: function(*operands)


def _whole(below: Callable[[float], int], above: Callable[[float], int]) -> Rule:
    """A number is moved to a whole one, at most as far as these functions move it down and up."""
    at = lambda function, bound: function(bound) if math.isfinite(bound) else bound
    return lambda equation, x: Range(at(below, x.low), at(above, x.high))


def _any(equation: JaxprEqn, *operands: Range) -> Range:
    """Whatever the dtype holds: the primitive is an unknown function, which cannot wrap."""
    return limits(dtype_of(equation.outvars[0]))


def _any_each(equation: JaxprEqn, *operands: Range) -> list[Range]:
    """Whatever the dtypes hold."""
    return [limits(dtype_of(v)) for v in equation.outvars]


def _rows_of(size: int) -> Range:
    """The places of so many rows."""
    return Range(0, max(0, size - 1))


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(STRUCTURAL, _moved),
    **dict.fromkeys(
        "copy copy_p cummax cummin name reduce_precision stop_gradient xla_metadata_value".split(), _of(lambda x: x)
    ),
    **dict.fromkeys("eq eq_to is_finite le_to lt_to ne reduce_and reduce_or".split(), _always(0, 1)),
    **dict.fromkeys("exp2 rsqrt".split(), _always(0, math.inf)),
    **dict.fromkeys("cos sign sin".split(), _always(-1, 1)),
    **{name: _increasing(name) for name in INCREASING},
    **dict.fromkeys("not random_bits random_unwrap shift_left threefry2x32".split(), _any),
    **dict.fromkeys("reduce reduce_window".split(), _any),
    **dict.fromkeys(["device_put", "optimization_barrier"], lambda equation, *operands: list(operands)),
    "abs": _of(_absolute),
    "add": _of(_sum),
    "add_any": _of(_sum),
    "and": _common_bits,
    "argmax": _places,
    "argmin": _places,
    "bitcast_convert_type": _bits_cast,
    "ceil": _whole(math.ceil, math.ceil),
    "clamp": _clamped,
    "clz": lambda equation, x: Range(0, jnp.iinfo(dtype_of(equation.invars[0])).bits),
    "conv_general_dilated": _convolution,
    "convert_element_type": _cast,
    "cumprod": lambda equation, x: _power(x, shape_of(equation.invars[0])[equation.params["axis"]]),
    "cumsum": _prefix_sum,
    "div": _quotient,
    "dot_general": _dot_general,
    "erfc": _always(0, 2),
    "floor": _whole(math.floor, math.floor),
    "gather": _gathered,
    "ge": _comparison(operator.ge, rising=True),
    "gt": _comparison(operator.gt, rising=True),
    "integer_pow": _integer_power,
    "le": _comparison(operator.le, rising=False),
    "lt": _comparison(operator.lt, rising=False),
    "lu": lambda equation, x: [UNBOUNDED, *[_rows_of(shape_of(equation.invars[0])[-2])] * 2],
    "lu_pivots_to_permutation": lambda equation, x: _rows_of(equation.params["permutation_size"]),
    "max": _of(lambda x, y: Range(max(x.low, y.low), max(x.high, y.high))),
    "min": _of(lambda x, y: Range(min(x.low, y.low), min(x.high, y.high))),
    "mul": _of(_product),
    "neg": _of(_negated),
    "or": _bits,
    "outside_function": _any_each,
    "pow": _real_power,
    "population_count": lambda equation, x: Range(0, jnp.iinfo(dtype_of(equation.invars[0])).bits),
    "reduce_max": _extreme,
    "reduce_min": _extreme,
    "reduce_prod": lambda equation, x: _power(x, max(1, _terms(equation))),
    "reduce_sum": lambda equation, x: _repeated(_terms(equation), x),
    "reduce_window_sum": _window_sum,
    "rem": _remainder,
    "rng_bit_generator": _any_each,
    "round": _whole(math.floor, math.ceil),
    "scatter": lambda equation, x, indices, updates: hull(x, updates) if replaces(equation) else _any(equation),
    "scatter-add": _landing_sum(1),
    "scatter-max": lambda equation, x, indices, updates: hull(x, updates),
    "scatter-min": lambda equation, x, indices, updates: hull(x, updates),
    "scatter-sub": _landing_sum(-1),
    "select_n": _selected,
    "shift_right_arithmetic": _shifted_right,
    "shift_right_logical": _shifted_right,
    "sort": lambda equation, *operands: list(operands),
    "square": _of(lambda x: _product(_absolute(x), _absolute(x))),
    "sub": _of(lambda x, y: _sum(x, _negated(y))),
    "top_k": _top,
    "xor": _bits,
}
"""From a primitive's name to the ranges of its results: rule(equation, *ranges of the operands).

A primitive without a row has a result of unknown size, which is refused where it is an integer.
"""
