"""Ball arithmetic: the exact value of a JAX function with a rigorous radius.

A number array is a NumPy object array of python-flint's `arb`, a midpoint with a radius that encloses the
exact real value (F. Johansson, "Arb: efficient arbitrary-precision midpoint-radius interval arithmetic",
2017). Floats of every dtype are exact numbers here, -inf and inf included, and casts between floating
dtypes are the identity: what is enclosed is the real function, and rounding is the device's business.
"""

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import numpy as np
from flint import arb, arb_mat
from jax.extend.core import ClosedJaxpr, JaxprEqn, Literal
from jax.lax import RoundingMethod
from jax.typing import ArrayLike

from uat_jax.errors import InputError, UnsupportedError
from uat_jax.interpret.closed_form import precision
from uat_jax.interpret.concrete import is_wide
from uat_jax.interpret.contraction import operands_as_matrices
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.interpreter import BODY, IDENTITY, LOOPS, Arithmetic, interpret, programs_within
from uat_jax.interpret.recognition import Reading, balls
from uat_jax.interpret.structure import STRUCTURAL, positions
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of, single_output, source_line, trace
from uat_jax.numbers.balls import ball_matrices, decisions
from uat_jax.numbers.balls.constants import ClosedForms
from uat_jax.numbers.balls.decisions import UndecidedError, compared
from uat_jax.typing import PyTree

FIRST_PRECISION = 128
LAST_PRECISION = 8192

DECIDING = 512
"""Bits of a decision by constants, and of enclosures that allow for their rounding: far more than floats have."""


NAN = arb.pos_inf() + arb.neg_inf()
"""NaN for certain: of radius 0."""

ZERO_PRECISION, ZERO_BITS = 1024, 512
"""A value that still encloses 0 at 1024 bits is 0 if its radius is below 2^-512 of what it was computed from."""

PIECE = 4096
"""So many entries are computed before it is asked again whether the time is up."""


def _objects(result: Any) -> np.ndarray:
    """NumPy returns a bare object for 0-dimensional results; an array again."""
    return result if isinstance(result, np.ndarray) else np.array(result, dtype=object)


def _followed(function: Callable[..., arb]) -> Callable[..., arb]:
    """A function whose value is NaN for certain where an operand is: arb takes it for anything there."""

    def apply(*operands: arb | int) -> arb:
        result = function(*operands)
        numbers = (x for x in operands if isinstance(x, arb))  # an exponent may be an integer
        return NAN if result.is_nan() and any(map(decisions.is_undefined, numbers)) else result

    return apply


def _elementwise(function: Callable[..., arb], operands: int) -> Callable[..., np.ndarray]:
    ufunc = np.frompyfunc(_followed(function), operands, 1)

    def entrywise(balls: "Balls", equation: JaxprEqn, *values: np.ndarray) -> np.ndarray:
        shape = np.broadcast_shapes(*(value.shape for value in values))
        if math.prod(shape) <= PIECE:
            return _objects(ufunc(*values))
        flat = [np.broadcast_to(value, shape).ravel() for value in values]
        pieces = []
        for start in range(0, math.prod(shape), PIECE):
            balls.check()
            pieces.append(ufunc(*(value[start : start + PIECE] for value in flat)))
        return np.concatenate(pieces).reshape(shape)

    return entrywise


def _log(x: arb) -> arb:
    return arb.neg_inf() if x.is_zero() else x.log()


def _undefined(outside: Callable[..., bool], function: Callable[..., arb]) -> Callable[..., arb]:
    """A function that is NaN for certain wherever its operands lie, for certain, outside of where it is a number."""
    return lambda *operands: NAN if outside(*operands) else function(*operands)


def _below(least: int) -> Callable[[arb], bool]:
    return lambda x: bool(x < least)


def _beyond_one(x: arb) -> bool:
    return bool(abs(x) > 1)


def _difference(x: arb, y: arb) -> arb:
    """x − y; a number is equal to itself, however wide its ball is, and an infinity less itself is NaN."""
    if x is not y or x.is_nan():
        return x - y
    return arb(0) if x.is_finite() else NAN


def _product(x: arb, y: arb) -> arb:
    """x·y; 1·y is y itself and -1·y the one -y, so that they are known to be equal to them."""
    for factor, other in ((x, y), (y, x)):
        if factor == 1:
            return other
        if factor == -1:
            return _negative(other)
    return x * y


_NEGATIVES: dict[int, tuple[arb, arb]] = {}
"""The id of a ball → the ball, and the one ball that is its negative."""

MOST_NEGATIVES = 1 << 12


def _negative(x: arb) -> arb:
    """-x, the same ball whenever it is asked for, and -(-x) is x itself: both are known to be equal to themselves."""
    if id(x) not in _NEGATIVES:
        if len(_NEGATIVES) >= MOST_NEGATIVES:
            _NEGATIVES.clear()
        negative = -x
        _NEGATIVES[id(x)], _NEGATIVES[id(negative)] = (x, negative), (negative, x)
    return _NEGATIVES[id(x)][1]


def _magnitude(x: arb) -> arb:
    """|x|, which is x or -x where its sign is known."""
    return x if x >= 0 else _negative(x) if x < 0 else abs(x)


def _no_quotient(x: arb, y: arb) -> bool:
    """0/0, which is NaN whatever the signs of the zeros are, as those of a real 0 are not known."""
    return bool(x.is_zero() and y.is_zero())


def _no_remainder(x: arb, y: arb) -> bool:
    return bool(y.is_zero())


def _no_power(x: arb, y: arb | int) -> bool:
    """A negative number to a power that is not whole."""
    return isinstance(y, arb) and bool(x < 0) and y.is_finite() and not y.contains_integer()


def _integer_power(balls: "Balls", equation: JaxprEqn, x: np.ndarray) -> np.ndarray:
    y = equation.params["y"]
    return _objects(np.frompyfunc(_followed(lambda v: v**y), 1, 1)(x))


def _odd_limit(function: Callable[[arb], arb]) -> Callable[[arb], arb]:
    """A function with the limits -1 and 1 at -inf and inf."""
    return lambda x: x.sgn() if x.is_exact() and not x.is_finite() else function(x)


def _circular(function: Callable[[arb], arb]) -> Callable[[arb], arb]:
    """A cosine or sine, which is NaN at -inf and inf: not just any number between -1 and 1."""
    return lambda x: function(x) if x.is_finite() else arb.nan()


def _logistic(x: arb) -> arb:
    return 1 / (1 + (-x).exp())


def _clamp(low: arb, x: arb, high: arb) -> arb:
    return decisions.smaller(decisions.larger(x, low), high)


def _reduce(function: Callable[[arb, arb], arb], empty: Callable[[], arb]) -> Callable[..., np.ndarray]:
    """A reduction over the equation's axes, one axis after the other, from the last to the first."""
    ufunc = np.frompyfunc(_followed(function), 2, 1)

    def reduce(balls: "Balls", equation: JaxprEqn, x: np.ndarray) -> np.ndarray:
        for axis in sorted(equation.params["axes"], reverse=True):
            x = _objects(ufunc.reduce(x, axis=axis, initial=empty()))
        return x

    return reduce


def _dot_general(balls: "Balls", equation: JaxprEqn, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """result[b, i, j] = sum_k x[b, i, k] y[b, k, j] over any batch, contracting and free axes."""
    left, right = operands_as_matrices(x, y, equation.params["dimension_numbers"])
    result = np.empty((len(left), left.shape[1], right.shape[2]), dtype=object)
    rows = max(1, PIECE * 16 // max(1, right.shape[1] * right.shape[2]))
    for batch, matrix in enumerate(right):
        factor = _arb_mat(matrix)
        for start in range(0, left.shape[1], rows):
            balls.check()
            piece = left[batch, start : start + rows]
            entries = (_arb_mat(piece) * factor).entries()
            result[batch, start : start + rows].ravel()[:] = entries
    return result.reshape(shape_of(equation.outvars[0]))


def _arb_mat(matrix: np.ndarray) -> arb_mat:
    rows, columns = matrix.shape
    return arb_mat(rows, columns, matrix.ravel().tolist())


def _convert(balls: "Balls", equation: JaxprEqn, x: np.ndarray) -> np.ndarray:
    """Between floating dtypes the identity; to integers without the fraction; to booleans whether it is not zero."""
    dtype = np.dtype(equation.params["new_dtype"])
    if dtype == np.bool_:
        return np.asarray(np.frompyfunc(lambda v: decisions.sign(v) != 0, 1, 1)(x), dtype)
    if not np.issubdtype(dtype, np.integer):
        return x
    limits = np.iinfo(dtype)
    return np.asarray(np.frompyfunc(lambda v: min(max(_integer(v), limits.min), limits.max), 1, 1)(x), dtype)


def _integer(x: arb) -> int:
    """x without its fraction: an exact integer m 2^e, e ≥ 0."""
    if not x.is_finite() and not x.is_exact():
        raise UndecidedError(f"the integer next to {x} is not decided")
    if not x.is_finite():
        raise InputError(f"got {x} to cast to an integer; pass finite numbers")
    mantissa, exponent = decisions.truncated(x).man_exp()
    return int(mantissa) << int(exponent)


def _round(balls: "Balls", equation: JaxprEqn, x: np.ndarray) -> np.ndarray:
    rounded = decisions.to_even if equation.params["rounding_method"] == RoundingMethod.TO_NEAREST_EVEN else None
    return _objects(np.frompyfunc(rounded or decisions.away_from_zero, 1, 1)(x))


def _is_finite(balls: "Balls", equation: JaxprEqn, x: np.ndarray) -> np.ndarray:
    return np.asarray(np.frompyfunc(decisions.is_finite, 1, 1)(x), dtype=bool)


def _cube_root(x: arb) -> arb:
    return x if x.is_zero() else decisions.sign(x) * abs(x).root(3)


# Where a function has other conventions at the border of its domain, or beyond it, a ball may be anything.


def _scaled_bessel(x: arb) -> arb:
    """exp(-|x|) I₁(x), which is odd."""
    return x if x.is_zero() else decisions.sign(x) * abs(x).bessel_i(1, scaled=True)


def _zeta(s: arb, q: arb) -> arb:
    """Σ 1/(q + k)^s for s > 1 and q > 0."""
    return s.zeta(q) if s > 1 and q > 0 else arb.nan()


def _polygamma(m: arb, x: arb) -> arb:
    """The m-th derivative of digamma for a whole m: (-1)^(m + 1) m! ζ(m + 1, x) for x > 0 and m > 0."""
    if m.is_zero():
        return x.digamma()
    order = m.unique_fmpz()
    if order is None or not m.is_exact() or order < 0:
        return arb.nan()
    return (1 if order % 2 else -1) * (m + 1).gamma() * _zeta(m + 1, x)


def _incomplete_gamma(function: Callable[..., arb]) -> Callable[[arb, arb], arb]:
    """The integral of e^-t t^(a - 1) / Γ(a) up to x, or from x on, for a > 0 and x > 0."""
    return lambda a, x: function(x, a, regularized=1) if a > 0 and x > 0 else arb.nan()


def _incomplete_beta(a: arb, b: arb, x: arb) -> arb:
    """The integral of t^(a - 1) (1 - t)^(b - 1) / B(a, b) up to x, for a > 0, b > 0 and 0 < x < 1."""
    return x.beta_lower(a, b, regularized=True) if a > 0 and b > 0 and 0 < x < 1 else arb.nan()


SMALL = 64
"""In arrays of at most so many entries a product with 1 is looked for, which takes longer than the product."""


def _small_or_large(small: Callable[..., np.ndarray], large: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """A rule for arrays of few entries, and one for others."""

    def entrywise(balls: "Balls", equation: JaxprEqn, *values: np.ndarray) -> np.ndarray:
        few = math.prod(np.broadcast_shapes(*(value.shape for value in values))) <= SMALL
        return (small if few else large)(balls, equation, *values)

    return entrywise


_RULES: dict[str, Callable[..., Any]] = {
    "abs": _small_or_large(_elementwise(_magnitude, 1), _elementwise(lambda x: x if x >= 0 else abs(x), 1)),
    "acos": _elementwise(_undefined(_beyond_one, arb.acos), 1),
    "acosh": _elementwise(_undefined(_below(1), arb.acosh), 1),
    "add": _elementwise(lambda x, y: x + y, 2),
    "add_any": _elementwise(lambda x, y: x + y, 2),
    "argmax": decisions.argmax,
    "asin": _elementwise(_undefined(_beyond_one, arb.asin), 1),
    "asinh": _elementwise(arb.asinh, 1),
    "atan": _elementwise(arb.atan, 1),
    "atan2": _elementwise(arb.atan2, 2),
    "atanh": _elementwise(_undefined(_beyond_one, arb.atanh), 1),
    "cbrt": _elementwise(_cube_root, 1),
    "bessel_i0e": _elementwise(lambda x: abs(x).bessel_i(0, scaled=True), 1),
    "bessel_i1e": _elementwise(_scaled_bessel, 1),
    "ceil": _elementwise(decisions.ceil, 1),
    "clamp": _elementwise(_clamp, 3),
    "convert_element_type": _convert,
    "cos": _elementwise(_circular(arb.cos), 1),
    "cosh": _elementwise(arb.cosh, 1),
    "digamma": _elementwise(arb.digamma, 1),
    "div": _elementwise(_undefined(_no_quotient, lambda x, y: x / y), 2),
    "dot_general": _dot_general,
    "eq": compared(lambda x, y: x == y, lambda x, y: x != y, "=="),
    "erf": _elementwise(_odd_limit(arb.erf), 1),
    "erf_inv": _elementwise(_undefined(_beyond_one, arb.erfinv), 1),
    "erfc": _elementwise(arb.erfc, 1),
    "exp": _elementwise(arb.exp, 1),
    "exp2": _elementwise(lambda x: arb(2) ** x, 1),
    "expm1": _elementwise(arb.expm1, 1),
    "floor": _elementwise(decisions.floor, 1),
    "ge": compared(lambda x, y: x >= y, lambda x, y: x < y, ">="),
    "gt": compared(lambda x, y: x > y, lambda x, y: x <= y, ">"),
    "igamma": _elementwise(_incomplete_gamma(arb.gamma_lower), 2),
    "igammac": _elementwise(_incomplete_gamma(arb.gamma_upper), 2),
    "integer_pow": _integer_power,
    "is_finite": _is_finite,
    "le": compared(lambda x, y: x <= y, lambda x, y: x > y, "<="),
    "lgamma": _elementwise(arb.lgamma, 1),
    "log": _elementwise(_undefined(_below(0), _log), 1),
    "log1p": _elementwise(_undefined(_below(-1), arb.log1p), 1),
    "logistic": _elementwise(_logistic, 1),
    "lt": compared(lambda x, y: x < y, lambda x, y: x >= y, "<"),
    "max": _elementwise(decisions.larger, 2),
    "min": _elementwise(decisions.smaller, 2),
    "mul": _small_or_large(_elementwise(_product, 2), _elementwise(lambda x, y: x * y, 2)),
    "ne": compared(lambda x, y: x != y, lambda x, y: x == y, "!="),
    "neg": _small_or_large(_elementwise(_negative, 1), _elementwise(lambda x: -x, 1)),
    "polygamma": _elementwise(_polygamma, 2),
    "pow": _elementwise(_undefined(_no_power, lambda x, y: x ** (y if isinstance(y, arb) else int(y))), 2),
    "reduce_max": _reduce(decisions.larger, arb.neg_inf),
    "reduce_min": _reduce(decisions.smaller, arb.pos_inf),
    "reduce_precision": lambda balls, equation, x: x,
    "reduce_sum": _reduce(lambda x, y: x + y, arb),
    "regularized_incomplete_beta": _elementwise(_incomplete_beta, 3),
    "rem": _elementwise(_undefined(_no_remainder, lambda x, y: x - y * decisions.truncated(x / y)), 2),
    "round": _round,
    "rsqrt": _elementwise(_undefined(_below(0), arb.rsqrt), 1),
    "sign": _elementwise(decisions.sign, 1),
    "sin": _elementwise(_circular(arb.sin), 1),
    "sinh": _elementwise(arb.sinh, 1),
    "sort": decisions.sort,
    "sqrt": _elementwise(_undefined(_below(0), arb.sqrt), 1),
    "square": _elementwise(lambda x: x * x, 1),
    "sub": _elementwise(_difference, 2),
    "tan": _elementwise(arb.tan, 1),
    "tanh": _elementwise(_odd_limit(arb.tanh), 1),
    "zeta": _elementwise(_zeta, 2),
    **ball_matrices.RULES,
}


class Balls(Arithmetic[np.ndarray]):
    """Numbers are object arrays of `arb`, at the precision of `flint.ctx`."""

    name = "ball arithmetic"
    rules = _RULES

    def __init__(self, reading: Reading = Reading.WRITTEN, deadline: Deadline | None = None, *, watched: bool = False):
        self.reading = reading
        self.deadline = deadline
        self.largest = arb(0) if watched else None

    def check(self) -> None:
        """Raises `BudgetError` if the time is up."""
        if self.deadline is not None:
            self.deadline.check()

    def evaluate(self, equation: JaxprEqn, operands: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The results of one equation; ``largest`` is the largest number computed so far, if that is watched."""
        results = super().evaluate(equation, operands)
        if self.largest is not None:
            numbers = (x for result in results if is_balls(result) for x in result.ravel())
            self.largest = _largest(numbers, self.largest)
        return results

    @property
    def zero(self) -> arb:
        """The largest radius of a ball around 0 that is taken for 0: none where the largest number is not watched."""
        return arb(0) if self.largest is None else arb.min(self.largest, arb(1)) * arb(2) ** -ZERO_BITS

    def number(self, array: ArrayLike) -> np.ndarray:
        """The exact values of an array, as balls of radius 0; shape kept."""
        if is_wide(array := np.asarray(array)):
            return _objects(np.frompyfunc(arb, 1, 1)(array.astype(object)))
        return balls(array, np.dtype(np.float64), Reading.WRITTEN)

    def constant(self, array: Any, dtype: np.dtype) -> np.ndarray:
        """A literal or captured array, read as `reading` says."""
        return balls(array, dtype, self.reading)

    def rearrange(self, equation: JaxprEqn, operands: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Entries taken from where `positions` says they come from."""
        entries = np.concatenate([x.ravel() for x in operands if x.dtype == object])
        return [_objects(entries[source]) for source in positions(equation, operands)]

    def entry(self, value: np.ndarray, index: int) -> np.ndarray:
        """value[index] along the leading axis, an array also where that is a single ball."""
        return np.asarray(value[index])

    def stack(self, values: Sequence[np.ndarray]) -> np.ndarray:
        """NumPy's stack."""
        return np.stack(values)


def exact_balls(array: np.ndarray) -> np.ndarray:
    """Floats as balls of radius 0."""
    return Balls().number(array)


def balls_of_forms(forms: ClosedForms) -> np.ndarray:
    """Numbers in closed form as balls."""
    with precision(DECIDING):
        each = np.empty(len(forms.distinct), object)
        each[:] = [form.ball() for form in forms.distinct]
    return _objects(each[forms.codes])


def balls_evaluated(equation: JaxprEqn, operands: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The results of one equation on balls and concrete arrays.

    Raises:
        UndecidedError: a decision depends on where in the balls the numbers are.
        UnsupportedError: ball arithmetic has no rule for it.
    """
    arithmetic = Balls()
    if not arithmetic.supports(equation, operands):
        raise UnsupportedError(f"{arithmetic.name} has no rule for '{equation.primitive.name}'{source_line(equation)}")
    with precision(DECIDING):
        return arithmetic.evaluate(equation, operands)


def enclose_readings(
    closed_jaxpr: ClosedJaxpr,
    arguments: Sequence[np.ndarray],
    *,
    reading: Reading = Reading.ROUNDED,
    deadline: Deadline | None = None,
) -> list[np.ndarray]:
    """Enclosures of a jaxpr's outputs for every reading of its constants: each is a ball of its own rounding.

    A statement about one function that is proved by this should hold with constants `Reading.NARROWED`.

    Raises:
        UndecidedError: a decision depends on how a constant is read.
        BudgetError: the deadline is over.
    """
    with precision(DECIDING), jax.enable_x64(True):
        return interpret(closed_jaxpr, Balls(reading, deadline), arguments)


@functools.lru_cache(maxsize=256)
def reads_one_way(program: ClosedJaxpr) -> bool:
    """Whether every constant of a program is the float that is written in each reading within its rounding.

    Then `enclose_readings` encloses the numbers that `enclose` does, once more.  False also where a primitive is
    evaluated by its definition, which may bring constants of its own.
    """
    for part in programs_within(program):
        jaxpr, values = (part.jaxpr, part.consts) if isinstance(part, ClosedJaxpr) else (part, ())
        captured = zip(jaxpr.constvars, values, strict=True) if values else ()
        literals = ((x, x.val) for e in jaxpr.eqns for x in (*e.invars, *jaxpr.outvars) if isinstance(x, Literal))
        if not all(map(_is_evaluated_itself, jaxpr.eqns)):
            return False
        if not all(
            _is_read_one_way(value, dtype_of(atom)) for atom, value in (*captured, *literals) if is_number(atom)
        ):
            return False
    return True


def _is_evaluated_itself(equation: JaxprEqn) -> bool:
    name = equation.primitive.name
    return name in _RULES or name in STRUCTURAL or name in IDENTITY or name in BODY or name in LOOPS


def _is_read_one_way(array: Any, dtype: np.dtype) -> bool:
    written, rounded = (balls(array, dtype, reading).ravel() for reading in (Reading.WRITTEN, Reading.ROUNDED))
    return all(y.is_exact() and x == y for x, y in zip(written, rounded, strict=True))


def enclose(
    closed_jaxpr: ClosedJaxpr,
    arguments: Sequence[np.ndarray],
    *,
    bits: int = 64,
    reading: Reading = Reading.WRITTEN,
    deadline: Deadline | None = None,
    undefined: bool = False,
) -> list[np.ndarray]:
    """Enclosures of a jaxpr's outputs: every radius at most 2^-bits times the largest entry of its array.

    `arguments` are values of `Balls`; `reading` says what constants are (for ROUNDED see `enclose_readings`). The
    precision starts at 128 bits and doubles until the radii are small enough and every comparison is decided;
    `flint.ctx.prec` is left as it was.

    An array of zeros has no largest entry to compare with, and (a/b)·b − a is a ball around 0 at every precision.
    From 1024 bits on such a ball is accepted if its radius is at most 2^-512 of the largest number that was computed
    on the way, and of 1: a value that is not 0 has been told from 0 long before, unless it is as small as that.

    With `undefined`, entries that are still NaN at 1024 bits are left as they are, and the others need be narrow.

    Raises:
        UndecidedError: not settled at 8192 bits, e.g. a comparison of two equal irrational values.
        BudgetError: the deadline is over.
    """
    digits, reason = FIRST_PRECISION, ""
    while digits <= LAST_PRECISION:
        try:
            with precision(digits), jax.enable_x64(True):
                balls = Balls(reading, deadline, watched=digits >= ZERO_PRECISION)
                outputs = interpret(closed_jaxpr, balls, arguments)
                if all(_narrow(output, bits, balls.zero) for output in outputs):
                    return outputs
                if (
                    undefined
                    and digits >= ZERO_PRECISION
                    and all(_narrow(_without_nan(output), bits, balls.zero) for output in outputs)
                ):
                    return outputs
                reason = f"a radius exceeds 2^-{bits} of the value's scale"
        except UndecidedError as error:
            reason = str(error)
        digits *= 2
    raise UndecidedError(f"no exact value at {LAST_PRECISION} bits: {reason}; choose inputs away from ties")


def _without_nan(output: np.ndarray) -> np.ndarray:
    """The entries that are not NaN."""
    return _objects(np.array([x for x in output.ravel() if not x.is_nan()], object))


KEEP_INFINITIES = STRUCTURAL | frozenset(
    "abs add add_any clamp convert_element_type exp max min mul neg reduce_max reduce_min reduce_sum sort sub".split()
)
"""Primitives that make an infinity only of one that they are given."""

CARRY_NAN = STRUCTURAL | {"convert_element_type", "neg"}
"""Primitives that make NaN only of NaN."""


class DefinedBalls(Balls):
    """Balls in which a pole is NaN, so that every infinity is one that the program writes on purpose."""

    def evaluate(self, equation: JaxprEqn, operands: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The results; those that are infinite are NaN, unless the primitive only keeps infinities."""
        results = super().evaluate(equation, operands)
        if equation.primitive.name in KEEP_INFINITIES or not is_number(equation.outvars[0]):
            return results
        finite = np.frompyfunc(lambda x: x if x.is_finite() else NAN, 1, 1)
        return [_objects(finite(result)) if is_balls(result) else result for result in results]


def enclose_defined(
    closed_jaxpr: ClosedJaxpr, arguments: Sequence[np.ndarray], *, deadline: Deadline | None = None
) -> list[np.ndarray]:
    """Enclosures of a jaxpr's outputs, NaN where they come from a logarithm of 0.

    Raises:
        UndecidedError: a decision depends on how a constant is read, or on NaN.
        BudgetError: the deadline is over.
    """
    with precision(DECIDING), jax.enable_x64(True):
        return interpret(closed_jaxpr, DefinedBalls(Reading.ROUNDED, deadline), arguments)


class WrittenNan(Balls):
    """Balls for programs in which every NaN is a constant that is written; any other stops the evaluation."""

    def evaluate(self, equation: JaxprEqn, operands: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The results.

        Raises:
            UndecidedError: a NaN is computed.
        """
        results = super().evaluate(equation, operands)
        if equation.primitive.name not in CARRY_NAN and any(map(_has_nan, results)):
            raise UndecidedError(f"'{equation.primitive.name}' gives NaN")
        return results


def _has_nan(value: np.ndarray) -> bool:
    return is_balls(value) and any(x.is_nan() for x in value.ravel())


def enclose_written_nan(
    closed_jaxpr: ClosedJaxpr, arguments: Sequence[np.ndarray], *, deadline: Deadline | None = None
) -> list[np.ndarray]:
    """Enclosures of a jaxpr's outputs that are NaN only where the program chooses a NaN that is written in it.

    Raises:
        UndecidedError: a NaN is computed, or a decision depends on how a constant is read, or on NaN.
        BudgetError: the deadline is over.
    """
    with precision(DECIDING), jax.enable_x64(True):
        return interpret(closed_jaxpr, WrittenNan(Reading.ROUNDED, deadline), arguments)


def enclose_around(
    programs: Sequence[ClosedJaxpr], arguments: Sequence[np.ndarray], *, deadline: Deadline | None = None
) -> list[list[np.ndarray]]:
    """Enclosures of the outputs of programs for all inputs within the given balls, and all readings of constants.

    Raises:
        UndecidedError: a decision is not the same for all of these inputs.
        BudgetError: the deadline is over.
    """
    with precision(2 * FIRST_PRECISION), jax.enable_x64(True):
        return [interpret(program, Balls(Reading.ROUNDED, deadline), arguments) for program in programs]


def _narrow(values: np.ndarray, bits: int, zero: arb) -> bool:
    """Whether every radius is at most 2^-bits of the largest midpoint, or at most `zero` around 0.

    Exact infinities have radius 0.
    """
    flat = [x for x in values.ravel() if not (x.is_exact() and not x.is_nan())]
    least = _largest(values.ravel(), arb(0)) * arb(2) ** -bits
    return all(x.is_finite() and (x.rad() <= least or x.contains(0) and x.rad() <= zero) for x in flat)


def _largest(values: Iterable[arb], start: arb) -> arb:
    """The largest absolute value of the midpoints of finite balls, and of `start`."""
    return functools.reduce(arb.max, (abs(x.mid()) for x in values if x.is_finite()), start)


def is_balls(value: np.ndarray) -> bool:
    """Whether a value is an array of balls, and no plain array."""
    return isinstance(value, np.ndarray) and value.dtype == object


def exact(function: Callable, arguments: Sequence[PyTree], *, bits: int = 64) -> np.ndarray:
    """The exact value of function(*arguments) as an object array of balls of the function's output shape.

    `arguments` are pytrees of arrays; floats of any dtype are exact inputs. Radii are at most 2^-bits of the
    largest entry.

    Raises:
        InputError: an argument holds NaN or infinity, or the function does not return one floating array.
        UndecidedError: the value is not settled at 8192 bits.
    """
    leaves = jax.tree.leaves(tuple(arguments))
    if any(
        jax.numpy.issubdtype(x.dtype, np.floating) and not np.isfinite(np.asarray(x, np.float64)).all() for x in leaves
    ):
        raise InputError("got NaN or infinity among the arguments; pass finite numbers")
    closed_jaxpr = trace(function, *arguments)
    single_output(closed_jaxpr)
    balls = Balls()
    values = [balls.number(x) if jax.numpy.issubdtype(x.dtype, np.floating) else np.asarray(x) for x in leaves]
    return enclose(closed_jaxpr, values, bits=bits)[0]


def enclosure(function: Callable, *arguments: PyTree) -> np.ndarray:
    """The value of function(*arguments) as balls, whichever numbers its constants are the floats of.

    `arguments` are pytrees of float64 arrays, taken as they are.

    Raises:
        InputError: the function does not return one floating array.
        UndecidedError: a comparison depends on how a constant is read.
    """
    with jax.enable_x64(True):
        closed_jaxpr = trace(function, *arguments)
    single_output(closed_jaxpr)
    values = list(map(exact_balls, jax.tree.leaves(arguments)))
    return enclose_readings(closed_jaxpr, values, reading=Reading.NARROWED)[0]
