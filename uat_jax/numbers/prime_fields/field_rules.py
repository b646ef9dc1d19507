"""The table of primitives in prime fields: what each one means for a `Number`."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jax.extend.core import JaxprEqn

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.closed_form import PI, Product
from uat_jax.interpret.definitions import defined
from uat_jax.interpret.integer_ranges import Range, keeps_values, signs_between
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of, source_line
from uat_jax.numbers.prime_fields import exchanges, inverses, orthogonal, random_keys, spectra
from uat_jax.numbers.prime_fields.facts import Nature
from uat_jax.numbers.prime_fields.gathering import gathered
from uat_jax.numbers.prime_fields.guards import ALL_SIGNS
from uat_jax.numbers.prime_fields.number import FINITE, UNDEFINED, Number, combined_special, rational
from uat_jax.numbers.prime_fields.places import standing
from uat_jax.numbers.prime_fields.residues import same, vanishes
from uat_jax.numbers.prime_fields.sorting import descending_places, of_row, refuse_special, sort

if TYPE_CHECKING:
    from uat_jax.numbers.prime_fields.field_functions import FieldFunctions
    from uat_jax.numbers.prime_fields.fields import Fields, Value

Rule = Callable[..., Any]

MOST_TERMS = 1 << 10
"""Of a product of matrices with more terms, squares of roots are not looked for."""


NOTHING = Range(0, 0)
"""What a number is compared with by a cast to booleans."""

MOST_EXPONENTS = 32
"""So many different exponents of an array are powers of their own."""


def _lifted(function: Callable[..., Any]) -> Rule:
    """A function of numbers as a rule."""
    return lambda fields, equation, *operands: function(fields.functions, *map(fields.lift, operands))


def _undefined_where_special(*numbers: Number) -> np.ndarray | None:
    """An unknown function of a number that is not finite is not followed."""
    shape = np.broadcast_shapes(*(n.shape for n in numbers))
    anywhere = lambda *codes: np.where(np.any([code != FINITE for code in codes], axis=0), UNDEFINED, FINITE)
    return combined_special([n.special for n in numbers], shape, anywhere)


class Unknown(NamedTuple):
    """The rule of a primitive that is an unknown function of its operands, with this symmetry; "" is none."""

    name: str
    symmetry: str = ""

    def __call__(self, fields: Fields, equation: JaxprEqn, *operands: Any) -> Number:
        """The unknown function at the operands."""
        if not self.symmetry:
            return _unknown(fields, self.name, *map(fields.lift, operands))
        (x,) = operands
        function = fields.functions.odd if self.symmetry == "odd" else fields.functions.even
        return Number(function(self.name, x.residues), _undefined_where_special(x))


def _odd(name: str) -> Unknown:
    """An unknown odd function."""
    return Unknown(name, "odd")


def _even(name: str) -> Unknown:
    """An unknown even function."""
    return Unknown(name, "even")


def _unknown(fields: Fields, name: str, *numbers: Number) -> Number:
    """An unknown function at some numbers."""
    return Number(fields.draw.opaque(name, *(n.residues for n in numbers)), _undefined_where_special(*numbers))


def _opaque(name: str) -> Unknown:
    """An unknown function."""
    return Unknown(name)


def _integers(equation: JaxprEqn) -> bool:
    """Whether the first operand is an integer: bits, quotients and signs are then those of integers."""
    return np.issubdtype(dtype_of(equation.invars[0]), np.integer)


def _unless_integers(rule: Rule) -> Rule:
    """The rule for floats or booleans; of integers the primitive is an unknown function."""
    return lambda fields, equation, *operands: (_of_integers if _integers(equation) else rule)(
        fields, equation, *operands
    )


def _of_integers(fields: Fields, equation: JaxprEqn, *operands: Any) -> Number:
    """An unknown function of the integers of one dtype."""
    return _opaque(f"{dtype_of(equation.invars[0])} {equation.primitive.name}")(fields, equation, *operands)


def _unless_booleans(rule: Rule, logical: Rule) -> Rule:
    """The rule for numbers; booleans have a logical one."""
    return lambda fields, equation, *operands: (logical if dtype_of(equation.invars[0]) == np.bool_ else rule)(
        fields, equation, *operands
    )


def _exponential_form(fields: Fields) -> bool:
    return "exponential form" in fields.functions.laws


def _logistic(fields: Fields, equation: JaxprEqn, x: Number) -> Number:
    """1/(1 + exp(-x)), or (1 + tanh(x/2))/2."""
    f = fields.functions
    one = f.constant(1, x.shape)
    if _exponential_form(fields):
        return f.inverse(f.add(one, f.exponential(f.negate(x)))).but(nonnegative=True)
    tanh = _odd("tanh")(fields, equation, f.multiply(x, f.constant(Fraction(1, 2))))
    return f.multiply(f.constant(Fraction(1, 2), x.shape), f.add(one, tanh)).but(nonnegative=True)


def _tanh(fields: Fields, equation: JaxprEqn, x: Number) -> Number:
    """2/(1 + exp(-2x)) - 1, or an odd function."""
    f = fields.functions
    if not _exponential_form(fields):
        return _odd("tanh")(fields, equation, x)
    two = f.constant(2, x.shape)
    return f.subtract(f.multiply(two, _logistic(fields, equation, f.multiply(two, x))), f.constant(1, x.shape))


def _circular(which: int, rule: Rule) -> Rule:
    """Cos or sin by exp(ix), or an even or odd function."""
    return lambda fields, equation, x: (
        fields.functions.circular(x)[which] if _exponential_form(fields) else rule(fields, equation, x)
    )


def _hyperbolic(sign: int, rule: Rule) -> Rule:
    """(exp(x) ± exp(-x))/2, or an even or odd function."""

    def by_exponentials(fields: Fields, equation: JaxprEqn, x: Number) -> Number:
        if not _exponential_form(fields):
            return rule(fields, equation, x)
        f = fields.functions
        forward, backward = f.exponential(x), f.exponential(f.negate(x))
        total = f.add(forward, backward) if sign > 0 else f.subtract(forward, backward)
        return f.multiply(f.constant(Fraction(1, 2), x.shape), total)

    return by_exponentials


def _tan(fields: Fields, equation: JaxprEqn, x: Number) -> Number:
    """sin x/cos x of an entire x, whose cosine is zero on a null set only; else an odd function."""
    f, entire = fields.functions, x.facts is not None and x.facts.nature is Nature.ENTIRE and not x.facts.guarded
    if entire and _exponential_form(fields) and x.special is None:
        cosine, sine = f.circular(x)
        if not vanishes(cosine.residues).any():
            return f.divide(sine, cosine)
    return _odd("tan")(fields, equation, x)


def _acos(fields: Fields, equation: JaxprEqn, x: Number) -> Number:
    """π/2 - asin x."""
    f = fields.functions
    quarter = f.spread(f.closed(Product(Fraction(1, 2), ((PI, Fraction(1)),))), x.shape)
    return f.subtract(quarter, inverses.angle_met(f, x, "asin", _odd("asin")(fields, equation, x)))


def _atan2(fields: Fields, equation: JaxprEqn, y: Value, x: Value) -> Number:
    """The angle of the point (x, y): atan(y/x) for x > 0, π/2 - atan(x/y) for y > 0, and so on by known signs.

    Both are numbers for all inputs: e^(log u²) is positive wherever it is defined, and 0 on a device for u = 0.
    """
    f, (y, x) = fields.functions, fields.functions.aligned(fields.lift(y), fields.lift(x))
    if y.special is None and x.special is None and fields.certain(y, x) and "angles" in f.laws:
        sign = lambda z, which: z.facts is not None and not z.facts.guarded and getattr(z.facts, which).all()
        atan = functools.partial(inverses.angle_of_quotient, f)
        quarter = f.spread(f.closed(Product(Fraction(1, 2), ((PI, Fraction(1)),))), x.shape)
        if sign(x, "positive"):
            return atan(y, x)
        if sign(y, "positive"):
            return f.subtract(quarter, atan(x, y))
        if sign(y, "negative"):
            return f.negate(f.add(quarter, atan(x, y)))
        if sign(x, "negative"):
            above = _opposite(f, f.step(f.negate(y)))
            return f.add(atan(y, x), f.multiply(quarter, f.subtract(f.multiply(f.constant(4), above), f.constant(2))))
        if not vanishes(x.residues).any():
            scale = 1 / f.canonical_scale(x.residues, x.scale)
            y, x = (Number(f.draw.scale(z.residues, scale)) for z in (y, x))
    return _unknown(fields, "atan2", y, x)


def _by_logarithm(rule: Rule) -> Rule:
    """An inverse of a hyperbolic function by a logarithm, or an odd or unknown function."""

    def by_logarithm(fields: Fields, equation: JaxprEqn, x: Value) -> Number:
        x = fields.lift(x)
        if not _exponential_form(fields) or x.special is not None or x.facts is None:
            return rule(fields, equation, x)
        (found,) = fields.inner_numbers(defined(equation, [None]), [x])
        return found.but(product=None)

    return by_logarithm


def _pow(fields: Fields, equation: JaxprEqn, x: Value, y: Value) -> Number:
    """x^y: products and roots for whole and half-whole y, else an unknown function of both."""
    f, (x, y) = fields.functions, fields.functions.aligned(fields.lift(x), fields.lift(y))
    exponents = _whole_exponents(fields, y)
    if exponents is not None:
        powers = {n: f.power(x, n) for n in sorted(set(exponents.ravel().tolist()))}
        places = np.arange(exponents.size).reshape(exponents.shape)
        found = np.select([exponents == n for n in powers], [places + i * exponents.size for i in range(len(powers))])
        return gathered(f, list(powers.values()), found)
    exponent = rational(fields.draw, y)
    if exponent is not None and exponent.denominator == 1:
        return f.power(x, int(exponent))
    if exponent is not None and exponent.denominator == 2:
        return f.power(f.root(x), int(2 * exponent))
    return _unknown(fields, "pow", x, y).but(nonnegative=x.nonnegative)


def _whole_exponents(fields: Fields, y: Number) -> np.ndarray | None:
    """Exponents that are known whole numbers, of which there are several small ones; else None."""
    if y.known is None or y.special is not None or not y.known.size or np.all(y.known == y.known.flat[0]):
        return None
    different = np.unique(y.known)
    if len(different) > MOST_EXPONENTS or np.any(different != np.rint(different)) or np.abs(different).max() > 1024:
        return None
    return y.known.astype(int) if same(fields.draw.floats(y.known), y.residues) else None


def _dot_general(fields: Fields, equation: JaxprEqn, x: Value, y: Value) -> Number:
    """Σ_k x[b, i, k] y[b, k, j] in every copy."""
    x, y = fields.lift(x), fields.lift(y)
    if x.special is not None or y.special is not None:
        raise UnsupportedError(f"'dot_general'{source_line(equation)} multiplies an infinity; mask before the product")
    (contract_x, contract_y), (batch_x, batch_y) = equation.params["dimension_numbers"]
    left = _as_matrices(x, batch_x, _free(x, contract_x, batch_x), contract_x)
    right = _as_matrices(y, batch_y, contract_y, _free(y, contract_y, batch_y))
    if dtype_of(equation.outvars[0]) == np.bool_:
        return _some_pair(fields, x.moved(left), y.moved(right)).moved(_reshaping(shape_of(equation.outvars[0])))
    if fields.functions.factors_of_matrices and not batch_x:
        matrix = lambda z, move: z.residues.moved(lambda a: move(a)[:, 0])
        known = spectra.product_of(fields, matrix(x, left), matrix(y, right))
        if known is not None:
            return Number(known.reshaped(shape_of(equation.outvars[0])))
    if "roots in matrices" in fields.functions.laws and (x.quadratic is not None or y.quadratic is not None):
        product = _product_of_roots(fields, x.moved(left), y.moved(right))
        if product is not None:
            return product.moved(_reshaping(shape_of(equation.outvars[0])))
    product = fields.draw.matmul(x.residues.moved(left), y.residues.moved(right))
    product = product.reshaped(shape_of(equation.outvars[0]))
    linear = lambda a, b: fields.draw.matmul(a.moved(left), b.moved(right)).reshaped(product.shape)
    found = fields.functions.contracted(linear, x, y, product)
    squares = "squares are nonnegative" in fields.functions.laws and _of_itself(equation, x, y)
    return found.but(nonnegative=squares or x.nonnegative and y.nonnegative, scale=x.scale * y.scale)


def _product_of_roots(fields: Fields, left: Number, right: Number) -> Number | None:
    """Σ_k x[b, i, k] y[b, k, j] term by term, so that squares of roots are seen; None of more than `MOST_TERMS`."""
    batch, rows, terms, columns = (*left.shape, right.shape[2])
    if not 0 < batch * rows * terms * columns <= MOST_TERMS:
        return None
    f, shape = fields.functions, (batch, rows, columns)
    products = (
        f.multiply(
            f.spread(left.moved(lambda a, k=k: a[:, :, :, k : k + 1]), shape),
            f.spread(right.moved(lambda a, k=k: a[:, :, k : k + 1, :]), shape),
        )
        for k in range(terms)
    )
    return functools.reduce(f.add, products)


def _of_itself(equation: JaxprEqn, x: Number, y: Number) -> bool:
    """Whether a product is one of rows with themselves: sums of squares."""
    (contract_x, contract_y), (batch_x, batch_y) = equation.params["dimension_numbers"]
    alone = (*batch_x, *contract_x) == (*batch_y, *contract_y) and not _free(x, contract_x, batch_x)
    return alone and same(x.residues, y.residues)


def _free(x: Number, contract: tuple, batch: tuple) -> list[int]:
    return [axis for axis in range(len(x.shape)) if axis not in (*contract, *batch)]


def _as_matrices(x: Number, batch: Any, rows: Any, columns: Any) -> Callable[[np.ndarray], np.ndarray]:
    """The move that makes a stack of matrices of x in every copy."""
    sizes = [math.prod(x.shape[axis] for axis in axes) for axes in (batch, rows, columns)]
    order = (0, *(axis + 1 for axes in (batch, rows, columns) for axis in axes))
    return lambda a: a.transpose(order).reshape(len(a), *sizes)


def _reshaping(shape: tuple[int, ...]) -> Callable[[np.ndarray], np.ndarray]:
    return lambda a: a.reshape(len(a), *shape)


def _some_pair(fields: Fields, left: Number, right: Number) -> Number:
    """The product of matrices of booleans: 1 - Π_k (1 - x[b, i, k] y[b, k, j]), true where some pair of entries is."""
    f, shape = fields.functions, (*left.shape[:2], right.shape[2])
    none = f.constant(1, shape)
    for k in range(left.shape[2]):
        row = f.spread(left.moved(lambda a, k=k: a[:, :, :, k : k + 1]), shape)
        column = f.spread(right.moved(lambda a, k=k: a[:, :, k : k + 1, :]), shape)
        none = f.multiply(none, _not(fields, None, f.multiply(row, column)))
    return _not(fields, None, none)


def _refuse_masks(equation: JaxprEqn, *numbers: Number) -> None:
    """A large finite constant may stand for an infinity in a sum or a softmax; it is the number itself as a bound.

    The residues of such a constant are not 0, those of an infinity are.
    """
    for number in numbers:
        if number.special is None or not number.special.size:
            continue
        if np.all(number.special != FINITE) and not np.any(vanishes(number.residues)):
            raise UnsupportedError(
                f"'{equation.primitive.name}'{source_line(equation)} takes a constant of 1e30 or more for a bound, "
                "which may stand for an infinity; write the infinity"
            )


def _maximum(fields: Fields, equation: JaxprEqn, x: Value, y: Value) -> Number:
    x, y = fields.lift(x), fields.lift(y)
    _refuse_masks(equation, x, y)
    return _beyond(fields, x, y, 1) or fields.functions.maximum(x, y)


def _minimum(fields: Fields, equation: JaxprEqn, x: Value, y: Value) -> Number:
    """-max(-x, -y)."""
    f, x, y = fields.functions, fields.lift(x), fields.lift(y)
    _refuse_masks(equation, x, y)
    return _beyond(fields, x, y, -1) or f.negate(f.maximum(f.negate(x), f.negate(y)))


def _absolute(fields: Fields, equation: JaxprEqn, x: Number) -> Number:
    """|x|, which is x or -x where its range, or what is known of it, says so."""
    f, facts = fields.functions, x.facts
    if x.special is None and fields.certain(x):
        range_of = fields.operand_ranges[0]
        if range_of.low >= 0:
            return x
        if range_of.high <= 0 or facts is not None and facts.negative.all() and not facts.guarded:
            return f.negate(x).but(nonnegative=True)
    return f.absolute(x)


def _beyond(fields: Fields, x: Number, y: Number, way: int) -> Number | None:
    """Of two numbers the one that is never smaller (way 1), or never larger (way -1), if their ranges show it."""
    if not fields.certain(x, y) or x.special is not None or y.special is not None:
        return None
    first, second = fields.operand_ranges
    x, y = fields.functions.aligned(x, y)
    if first.low >= second.high:
        return x if way > 0 else y
    return (y if way > 0 else x) if second.low >= first.high else None


def _signs(fields: Fields, equation: JaxprEqn, x: Number, y: Number) -> frozenset[int]:
    """The signs that x − y can have, for the operands of an equation: by their ranges, by what is known, by cases."""
    if not fields.certain(x, y):
        return ALL_SIGNS
    f, known = fields.functions, ALL_SIGNS
    for way, difference in ((1, f.subtract(x, y)), (-1, f.subtract(y, x))):
        if _surely_positive(difference):
            known &= {way}
        elif difference.nonnegative:
            known &= {0, way}
    if x.special is None and y.special is None:
        known &= signs_between(*(*fields.operand_ranges, NOTHING)[:2])
    return known if len(known) == 1 else known & fields.signs(equation, x, y)


def _comparison(strict: bool, swapped: bool) -> Rule:
    """x > y by the step of x - y, x ≥ y as the opposite of y > x; entries at an infinity are decided."""

    def rule(fields: Fields, equation: JaxprEqn, x: Value, y: Value) -> Value:
        f = fields.functions
        x, y = f.aligned(fields.lift(x), fields.lift(y))
        x, y = (y, x) if swapped else (x, y)
        _refuse_undefined(equation, x, y)
        _refuse_masks(equation, x, y)
        compare = (lambda a, b: a > b) if strict else (lambda a, b: a >= b)
        way = -1 if swapped else 1
        decided = {compare(way * sign, 0) for sign in _signs(fields, equation, *((y, x) if swapped else (x, y)))}
        if len(decided) == 1:
            return np.full(x.shape, *decided)
        step = (
            (lambda a, b: f.step(f.subtract(a, b))) if strict else (lambda a, b: _opposite(f, f.step(f.subtract(b, a))))
        )
        form = lambda found: _with_infinities(fields, x, y, compare, found)
        almost = lambda: form(functools.partial(_almost_above, f))
        return fields.decision(equation, (x, y), f.subtract(x, y), lambda: form(step), almost)

    return rule


def _surely_positive(x: Number) -> bool:
    """Whether every entry of a number that is defined for all inputs is known to be above 0."""
    return x.facts is not None and bool(x.facts.positive.all())


def _almost_above(f: FieldFunctions, x: Number, y: Number) -> Number:
    """[x > y] where x and y are different numbers: known if one of them is never smaller."""
    for difference, value in ((f.subtract(x, y), 1), (f.subtract(y, x), 0)):
        if difference.nonnegative:
            return f.constant(value, x.shape)
    return f.almost_step(f.subtract(x, y))


def _with_infinities(fields: Fields, x: Number, y: Number, decide: Rule, compare: Rule) -> Value:
    """A comparison whose entries at an infinity are decided by their codes, the others by `compare`."""
    codes = [np.zeros(n.shape, np.int8) if n.special is None else n.special for n in (x, y)]
    special = (codes[0] != FINITE) | (codes[1] != FINITE)
    decided = decide(*codes)
    if special.all():
        return decided
    found = compare(x.but(special=None), y.but(special=None))
    if not special.any():
        return found
    values = fields.draw.floats(decided.astype(np.float64))
    return Number(fields.draw.where(special, values, fields.lift(found).residues))


def _refuse_undefined(equation: JaxprEqn, *numbers: Number) -> None:
    """What is undefined may be NaN or infinite: nothing is decided by it."""
    if any(n.special is not None and np.any(n.special == UNDEFINED) for n in numbers):
        raise UnsupportedError(
            f"'{equation.primitive.name}'{source_line(equation)} looks at NaN, or at a product or quotient that is "
            "not finite; mask by position instead"
        )


def _sign(fields: Fields, equation: JaxprEqn, x: Number) -> Value:
    """The sign, which is 0 at 0.

    Where x may be infinite, or 0 by an infinity, it may not have the sign of what it is a positive multiple of.
    """
    f = fields.functions
    if not fields.certain(x):
        x = x.but(direction=None)
    elif _surely_positive(x):
        return f.constant(1, x.shape)
    signs = fields.signs(equation, x)
    if len(signs) == 1:
        return f.constant(next(iter(signs)), x.shape)
    almost = lambda: f.constant(1, x.shape) if x.nonnegative else f.almost_sign(x)
    return fields.decision(equation, (x,), x, lambda: f.sign(x), almost, strict=True)


def _equality(fields: Fields, equation: JaxprEqn, x: Value, y: Value) -> Value:
    """1 where x = y as functions, else an unknown even function of x - y that is 0 or 1; 0 almost everywhere."""
    f = fields.functions
    x, y = f.aligned(fields.lift(x), fields.lift(y))
    _refuse_undefined(equation, x, y)
    signs = _signs(fields, equation, x, y)
    if 0 not in signs or signs == {0}:
        return np.full(x.shape, 0 in signs)
    form = lambda found: _with_infinities(fields, x, y, lambda a, b: a == b, found)
    surely = lambda: form(lambda a, b: _everywhere_equal(f, a, b))
    return fields.decision(
        equation, (x, y), f.subtract(x, y), surely, lambda: form(lambda a, b: f.constant(0, x.shape))
    )


def _everywhere_equal(f: FieldFunctions, x: Number, y: Number) -> Value:
    difference = f.subtract(x, y)
    return np.ones(x.shape, bool) if vanishes(difference.residues).all() else f.equality(difference)


def _opposite(f: FieldFunctions, x: Number) -> Number:
    """1 - x for a number that is 0 or 1."""
    return f.subtract(f.constant(1, x.shape), x).but(nonnegative=True)


def _inequality(fields: Fields, equation: JaxprEqn, x: Any, y: Any) -> Any:
    found = _equality(fields, equation, x, y)
    return _not(fields, equation, found) if isinstance(found, Number) else ~found  # type: ignore[operator]


def _not(fields: Fields, equation: JaxprEqn | None, x: Value) -> Number:
    return _opposite(fields.functions, fields.lift(x))


def _and(fields: Fields, equation: JaxprEqn, x: Value, y: Value) -> Value:
    for one, other in ((x, y), (y, x)):
        if isinstance(one, np.ndarray) and one.shape == np.shape(other) and (one.all() or not one.any()):
            return other if one.all() else one
    return x if x is y else fields.functions.multiply(fields.lift(x), fields.lift(y))


def _or(fields: Fields, equation: JaxprEqn, x: Value, y: Value) -> Value:
    """x + y - xy."""
    for one, other in ((x, y), (y, x)):
        if isinstance(one, np.ndarray) and one.shape == np.shape(other) and (one.all() or not one.any()):
            return one if one.all() else other
    f, x, y = fields.functions, fields.lift(x), fields.lift(y)
    return x if x is y else f.subtract(f.add(x, y), f.multiply(x, y))


def _convert(fields: Fields, equation: JaxprEqn, x: Number) -> Value:
    """Casts to floating types, and of booleans, keep the number; others truncate, saturate and wrap.

    Where the number fits the new type, an integer keeps it, and a float only drops its fraction, which is odd.
    """
    old, new = dtype_of(equation.invars[0]), equation.params["new_dtype"]
    if is_number(equation.outvars[0]) or old == np.bool_ or old == new:
        return x
    if not fields.certain(x):
        return fields.unknown_cast(equation, x.shape)
    if new == np.bool_:
        return _inequality(fields, equation, x, np.zeros(x.shape))
    fits, real = keeps_values(equation, fields.operand_ranges[0]), is_number(equation.invars[0])
    if fits:
        return _odd("truncate")(fields, equation, x) if real else x
    return _opaque(f"{'number' if real else old} to {new}")(fields, equation, x)


def _rem(fields: Fields, equation: JaxprEqn, x: Value, y: Value) -> Number:
    """x - y trunc(x/y), which is x where its range is nearer to 0 than that of y."""
    f, x, y = fields.functions, fields.lift(x), fields.lift(y)
    plain = x.special is None and y.special is None and x.shape == shape_of(equation.outvars[0])
    if plain and fields.certain(x, y) and len(fields.operand_ranges) == 2:
        first, second = fields.operand_ranges
        least = max(second.low, -second.high)
        if -least < first.low and first.high < least:
            return x
    return f.subtract(x, f.multiply(y, _odd("truncate")(fields, equation, f.divide(x, y))))


def _ceil(fields: Fields, equation: JaxprEqn, x: Number) -> Number:
    """-floor(-x)."""
    return fields.functions.negate(_unknown(fields, "floor", fields.functions.negate(x)))


def _complement(rule: Rule) -> Rule:
    """1 - what a rule says, such as 1 - erf(x)."""

    def complement(fields: Fields, equation: JaxprEqn, *operands: Any) -> Number:
        found = rule(fields, equation, *operands)
        return fields.functions.subtract(fields.functions.constant(1, found.shape), found)

    return complement


def _incomplete_beta(fields: Fields, equation: JaxprEqn, *operands: Any) -> Number:
    """I_x(a, b) = ½ + (h(a, b, x) - h(b, a, 1 - x))/2, so that I_x(a, b) + I_{1 - x}(b, a) = 1."""
    f, (a, b, x) = fields.functions, map(fields.lift, operands)
    rest = f.subtract(f.constant(1, x.shape), x)
    h, mirrored = (_unknown(fields, equation.primitive.name, *of) for of in ((a, b, x), (b, a, rest)))
    half = f.constant(Fraction(1, 2), x.shape)
    return f.add(half, f.multiply(half, f.subtract(h, mirrored)))


def _kind_of_rounding(equation: JaxprEqn) -> str:
    """The name of a rounding to fewer bits: those that it keeps, and the dtype, which bounds what is not infinite."""
    return f"{dtype_of(equation.invars[0])} rounded to {sorted(equation.params.items())}"


def _is_finite(fields: Fields, equation: JaxprEqn, x: Number) -> np.ndarray:
    _refuse_undefined(equation, x)
    finite = np.ones(x.shape, bool) if x.special is None else x.special == FINITE
    return fields.decision(equation, (x,), None, lambda: finite, lambda: fields.number(finite))


def _integer_pow(fields: Fields, equation: JaxprEqn, x: Number) -> Number:
    return fields.functions.power(x, equation.params["y"])


def _reduce_max(fields: Fields, equation: JaxprEqn, x: Number) -> Number:
    """The maximum; of no integers it would be the lowest of their dtype."""
    if _integers(equation) and not all(x.shape[axis] for axis in equation.params["axes"]):
        raise UnsupportedError(f"'{equation.primitive.name}'{source_line(equation)} has no integers to reduce")
    return fields.functions.largest(x, tuple(equation.params["axes"]))


def _reduce_min(fields: Fields, equation: JaxprEqn, x: Number) -> Number:
    """-max(-x)."""
    return fields.functions.negate(_reduce_max(fields, equation, fields.functions.negate(x)))


def _reduce_sum(fields: Fields, equation: JaxprEqn, x: Number) -> Number:
    return fields.functions.sum(x, tuple(equation.params["axes"]))


def _reduce_logical(negated: bool) -> Rule:
    """All as a product, any as the complement of a product of complements."""

    def rule(fields: Fields, equation: JaxprEqn, x: Number) -> Number:
        if _integers(equation):
            raise UnsupportedError(f"'{equation.primitive.name}'{source_line(equation)} combines the bits of integers")
        f = fields.functions
        x = f.subtract(f.constant(1, x.shape), x) if negated else x
        for axis in sorted(equation.params["axes"], reverse=True):
            entries = [x.moved(lambda a, i=i, axis=axis: np.take(a, i, axis + 1)) for i in range(x.shape[axis])]
            x = entries[0]
            for entry in entries[1:]:
                x = f.multiply(x, entry)
        return f.subtract(f.constant(1, x.shape), x) if negated else x

    return rule


def _top_k(fields: Fields, equation: JaxprEqn, x: Number) -> list[Value]:
    """The k largest in descending order, and their places."""
    axis = equation.params.get("axis", len(x.shape) - 1)
    refuse_special(equation, x)
    count = equation.params["k"]
    if not fields.certain(x):
        return [fields.unknown(f"{i}", equation, shape_of(v)) for i, v in enumerate(equation.outvars)]
    pick = lambda a: np.take(np.flip(a, axis + 1), np.arange(count), axis + 1)
    ordered = fields.functions.order_statistics(x, axis)
    places = standing(descending_places(fields, x, axis), x, axis, np.arange(x.shape[axis])[::-1])
    return [ordered.moved(pick), places.moved(lambda a: np.take(a, np.arange(count), axis + 1))]


def _argmax(fields: Fields, equation: JaxprEqn, x: Number) -> Number:
    """The place of the first largest entry; where there are infinities, a function of the row and of their codes."""
    (axis,) = equation.params["axes"]
    _refuse_undefined(equation, x)
    if not fields.certain(x):
        return fields.unknown("place", equation, shape_of(equation.outvars[0]))
    first = lambda a: np.take(a, 0, axis + 1)
    if x.special is not None:
        finite = fields.draw.where(x.special == FINITE, x.residues, fields.draw.fraction(0))
        return of_row(fields, "argmax", axis, Number(finite), fields.number(x.special)).moved(first)
    size = x.shape[axis]
    return standing(descending_places(fields, x, axis), x, axis, np.full(size, size - 1)).moved(first)


def _argmin(fields: Fields, equation: JaxprEqn, x: Number) -> Number:
    """The place of the first largest entry of -x."""
    return _argmax(fields, equation, fields.functions.negate(x).but(facts=x.facts))


RULES: dict[str, Rule] = {
    **random_keys.RULES,
    "abs": _absolute,
    "add": _lifted(lambda f, x, y: f.add(x, y)),
    "add_any": _lifted(lambda f, x, y: f.add(x, y)),
    "and": _unless_integers(_and),
    "argmax": _argmax,
    "argmin": _argmin,
    "asinh": _by_logarithm(_odd("asinh")),
    "atan": _odd("atan"),
    "atan2": _atan2,
    "atanh": _by_logarithm(_odd("atanh")),
    "acos": _acos,
    "acosh": _by_logarithm(_opaque("acosh")),
    "asin": _odd("asin"),
    "cbrt": lambda fields, equation, x: inverses.cube_root(fields.functions, x).but(
        special=_undefined_where_special(x)
    ),
    "bessel_i0e": _even("bessel_i0e"),
    "bessel_i1e": _odd("bessel_i1e"),
    "ceil": _ceil,
    "convert_element_type": _convert,
    "clz": _of_integers,
    "cos": _circular(0, _even("cos")),
    "cosh": _hyperbolic(1, _even("cosh")),
    "digamma": _opaque("digamma"),
    "div": _unless_integers(_lifted(lambda f, x, y: f.divide(x, y))),
    "dot_general": _dot_general,
    "eigh": spectra.eigh,
    "eq": _equality,
    "erf": _odd("erf"),
    "erf_inv": _odd("erf_inv"),
    "erfc": _complement(_odd("erf")),
    "exp": _lifted(lambda f, x: f.exponential(x)),
    "expm1": _lifted(lambda f, x: f.subtract(f.exponential(x), f.constant(1, x.shape))),
    "fewer_bits": lambda fields, equation, x: _odd(_kind_of_rounding(equation))(fields, equation, x),
    "floor": _opaque("floor"),
    "ge": _comparison(strict=False, swapped=False),
    "geqrf": orthogonal.reflections,
    "gt": _comparison(strict=True, swapped=False),
    "householder_product": lambda fields, equation, *x: orthogonal.multiplied(fields, equation, *x)[0],
    "igamma": _opaque("igamma"),
    "igammac": _complement(_opaque("igamma")),
    "integer_pow": _integer_pow,
    "is_finite": _is_finite,
    "le": _comparison(strict=False, swapped=True),
    "lgamma": _opaque("lgamma"),
    "log": _lifted(lambda f, x: f.logarithm(x)),
    "log1p": _lifted(lambda f, x: f.logarithm(f.add(f.constant(1, x.shape), x))),
    "logistic": _logistic,
    "lt": _comparison(strict=True, swapped=True),
    "lu": exchanges.factorised,
    "lu_pivots_to_permutation": exchanges.order,
    "max": _unless_booleans(_maximum, _or),
    "min": _unless_booleans(_minimum, _and),
    "mul": _lifted(lambda f, x, y: f.multiply(x, y)),
    "ne": _inequality,
    "neg": _lifted(lambda f, x: f.negate(x)),
    "not": _unless_integers(_not),
    "or": _unless_integers(_or),
    "ormqr": lambda fields, equation, *x: orthogonal.multiplied(fields, equation, *x)[0],
    "population_count": _of_integers,
    "polygamma": _opaque("polygamma"),
    "pow": _pow,
    "qr": orthogonal.factorised,
    "reduce_and": _reduce_logical(negated=False),
    "reduce_max": _unless_booleans(_reduce_max, _reduce_logical(negated=True)),
    "reduce_min": _unless_booleans(_reduce_min, _reduce_logical(negated=False)),
    "reduce_or": _reduce_logical(negated=True),
    "reduce_precision": lambda fields, equation, x: x,
    "reduce_sum": _reduce_sum,
    "round": lambda fields, equation, x: _odd(f"round {equation.params['rounding_method']}")(fields, equation, x),
    "regularized_incomplete_beta": _incomplete_beta,
    "rem": _unless_integers(_rem),
    "rsqrt": _lifted(lambda f, x: f.inverse(f.root(x))),
    "shift_left": _of_integers,
    "shift_right_arithmetic": _of_integers,
    "shift_right_logical": _of_integers,
    "sign": _sign,
    "sin": _circular(1, _odd("sin")),
    "sinh": _hyperbolic(-1, _odd("sinh")),
    "sort": sort,
    "sqrt": _lifted(lambda f, x: f.root(x)),
    "square": _lifted(lambda f, x: f.power(x, 2)),
    "sub": _lifted(lambda f, x, y: f.subtract(x, y)),
    "svd": spectra.svd,
    "tan": _tan,
    "tanh": _tanh,
    "top_k": _top_k,
    "xor": _unless_integers(
        _lifted(lambda f, x, y: f.subtract(f.add(x, y), f.multiply(f.constant(2, x.shape), f.multiply(x, y))))
    ),
    "zeta": _opaque("zeta"),
}
