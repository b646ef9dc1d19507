"""Positive numbers as products, of which logarithms, powers and roots are taken factor by factor.

x = e^t·∏ uᵢ^qᵢ        log x = t + Σ qᵢ·log uᵢ        x^q = e^(qt)·∏ uᵢ^(q·qᵢ)        exp(t + Σ qᵢ·log uᵢ) = x

docs/soundness.md §8.2 has the proofs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from jax.extend.core import JaxprEqn

from uat_jax.arithmetic import closed_form
from uat_jax.arithmetic.closed_form import ClosedForm
from uat_jax.arithmetic.closed_form import rational as rational_form
from uat_jax.arithmetic.facts import Facts
from uat_jax.arithmetic.number import Letter, Number, Powers, Terms, from_quadratic, rational
from uat_jax.arithmetic.operation import LARGE
from uat_jax.arithmetic.residues import same, vanishes

if TYPE_CHECKING:
    from uat_jax.arithmetic.field_functions import FieldFunctions

EXTENDED = frozenset(
    [
        "homogeneity",
        "logarithm of exponentials",
        "logarithm of a positive input",
        "root of a square",
        "square of a root",
    ]
)
"""The laws that those of this file extend: without one of them none of these is in force."""

POWERS = frozenset(
    [
        "powers of a product",
        "logarithm of a product",
        "exponential of a logarithm",
        "power as an exponential",
        "softplus of a magnitude",
        "recurrence of the gamma function",
    ]
)
"""The laws of this file."""

MOST_FACTORS = 8
"""A product of more factors is one factor."""

DEEPEST_ROOT = 64
"""Roots of higher degrees are not made of others."""

MOST_STEPS = 32
"""So often the recurrence of the gamma function is used for one number."""

HALF = Fraction(1, 2)


def with_powers(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """The result of an equation with its factors, and by the laws of this file where they say more."""
    name = equation.primitive.name
    if name not in RULES or not in_force(functions.laws) or math.prod(result.shape) >= LARGE:
        return result
    if any(x.special is not None or x.infinite is not None for x in (*operands, result)):
        return result
    operands = [functions.spread(x, result.shape) for x in operands]
    return RULES[name](functions, equation, operands, result)


def in_force(laws: frozenset[str]) -> bool:
    """Whether any law of this file is in force."""
    return bool(laws & POWERS) and laws >= EXTENDED


# --- products ---------------------------------------------------------------------------------------------------------


def _known(functions: FieldFunctions, x: Number) -> Powers | None:
    """A number as a product of powers of numbers that are not negative; None where its sign is not known."""
    if x.product is not None:
        return x.product
    if x.closed is not None and x.closed.uniform is not None:
        return None if _constant(x) is None else _factor(x)
    unknown = x.facts is None or x.facts.guarded or not x.nonnegative
    return None if unknown or vanishes(x.residues).any() else _of_terms(functions, x)


def _of_terms(functions: FieldFunctions, x: Number) -> Powers:
    """A sum of exponentials of mean exponent t is e^t times the rest."""
    if x.terms is None:
        return _factor(x)
    draw = functions.draw
    mean = draw.scale(x.terms.exponents, Fraction(1, x.terms.count))
    rest = draw.multiply(x.residues, draw.exponential(draw.negate(mean)))
    terms = Terms(draw.fraction(0, x.shape), x.terms.count)
    powers = _factor(x.but(residues=rest, terms=terms, quadratic=None, square_of=None)).powers
    return Powers(Number(mean), () if x.terms.count == 1 and _is_one(functions, rest) else powers)


def _is_one(functions: FieldFunctions, residues) -> bool:
    return bool(vanishes(functions.draw.subtract(residues, functions.draw.fraction(1, residues.shape))).all())


def _factor(x: Number) -> Powers:
    """A number as its only factor."""
    bare = x.but(product=None, logarithms=None, factors=None, sum_of_squares=None, largest_of=None, almost=None)
    return Powers(None, ((bare, Fraction(1)),))


def _times(functions: FieldFunctions, x: Powers, y: Powers) -> Powers | None:
    """The product; None if it has too many factors."""
    exponent = x.exponent if y.exponent is None else y.exponent
    if x.exponent is not None and y.exponent is not None:
        exponent = functions.add(x.exponent, y.exponent)
    factors = list(x.powers)
    for u, q in y.powers:
        place = next((i for i, (v, _) in enumerate(factors) if same(u.residues, v.residues)), None)
        if place is None:
            factors.append((u, q))
        else:
            factors[place] = (factors[place][0], factors[place][1] + q)
    kept = tuple((u, q) for u, q in factors if q)
    return Powers(exponent, kept) if len(kept) <= MOST_FACTORS else None


def _product(functions: FieldFunctions, parts: Sequence[Powers]) -> Powers | None:
    """The product of some; None if it has too many factors."""
    found: Powers | None = Powers(None, ())
    for part in parts:
        found = None if found is None else _times(functions, found, part)
    return found


def _raised(functions: FieldFunctions, x: Powers, q: Fraction) -> Powers:
    """x^q."""
    if q == 1:
        return x
    if q == 0:
        return Powers(None, ())
    exponent = None if x.exponent is None else _scaled(functions, x.exponent, q)
    return Powers(exponent, tuple((u, p * q) for u, p in x.powers))


def _scaled(functions: FieldFunctions, x: Number, q: Fraction) -> Number:
    return functions.multiply(x, functions.constant(q, x.shape))


def _value(functions: FieldFunctions, powers: Powers, shape: tuple[int, ...]) -> Number:
    """The number that a product of powers is: whole powers times one letter, the product of those of all roots."""
    number = functions.constant(1, shape)
    roots = []
    for u, q in powers.powers:
        form = _constant(u)
        constant = None if form is None else closed_form.power(form, q)
        if constant is not None:
            number = functions.multiply(number, functions.spread(functions.closed(constant), shape))
            continue
        whole = math.floor(q)
        if whole:
            number = functions.multiply(number, functions.power(u, whole))
        if q != whole:
            roots.append(_root_power(functions, u, q - whole))
    if roots:
        number = functions.multiply(number, _together(functions, roots))
    if powers.exponent is not None:
        number = functions.multiply(number, functions.exponential(powers.exponent))
    return number.but(product=powers, nonnegative=True)


def _root_power(functions: FieldFunctions, u: Number, q: Fraction) -> Number:
    """u^q for 0 < q < 1, by the root of the degree that q has for a denominator."""
    if q.denominator > DEEPEST_ROOT:
        exponent = functions.draw.fraction(q, u.shape)
        return Number(functions.draw.opaque("power", u.residues, exponent), nonnegative=True)
    return functions.power(_root(functions, u, q.denominator), q.numerator)


def _root(functions: FieldFunctions, u: Number, degree: int) -> Number:
    """The root of a degree: a square root of others, or a letter of its own."""
    if degree == 1:
        return u
    if degree % 2 == 0:
        return functions.root(_root(functions, u, degree // 2))
    return Number(functions.draw.opaque(f"root of degree {degree}", u.residues), nonnegative=True)


def _together(functions: FieldFunctions, roots: Sequence[Number]) -> Number:
    """The product of roots; those that are multiples of letters ℓ, ℓ′ … make one letter ℓℓ′… whose square is known."""
    draw = functions.draw
    pure = lambda x: x.quadratic is not None and x.quadratic.constant is None and x.quadratic.letter.square is not None
    letters = [x.quadratic for x in roots if pure(x)]
    product = functions.constant(1, roots[0].shape)
    for x in roots:
        if not pure(x):
            product = functions.multiply(product, x)
    if not letters:
        return product
    coefficient, letter = letters[0].coefficient, letters[0].letter
    for q in letters[1:]:
        coefficient = draw.multiply(coefficient, q.coefficient)
        letter = Letter(
            draw.multiply(letter.value, q.letter.value),
            draw.multiply(letter.inverse, q.letter.inverse),
            draw.multiply(letter.square, q.letter.square),
            letter.nonnegative and q.letter.nonnegative,
        )
    return functions.multiply(product, from_quadratic(draw, None, coefficient, letter).but(nonnegative=True))


def _is_fractional(powers: Powers) -> bool:
    return any(q.denominator != 1 for _, q in powers.powers)


def _multiplied(functions: FieldFunctions, parts: Sequence[tuple[Number, int]], result: Number) -> Number:
    """The product of numbers to whole powers; by its factors where these are roots."""
    known = [_known(functions, x) for x, _ in parts]
    powers = [_raised(functions, p, Fraction(q)) for p, (_, q) in zip(known, parts, strict=True) if p is not None]
    found = _product(functions, powers) if len(powers) == len(parts) else None
    if found is None:
        return result
    if any(map(_is_fractional, powers)) and "powers of a product" in functions.laws:
        return _value(functions, found, result.shape)
    return result.but(product=found)


def _mul(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """The factors of both; and the logarithms of one that is multiplied by a rational number."""
    x, y = operands
    for a, b in ((x, y), (y, x)):
        q = rational(functions.draw, b)
        if q is not None and a.logarithms is not None:
            result = result.but(logarithms=_raised(functions, a.logarithms, q))
        if q is not None and a.magnitude is not None:
            result = result.but(magnitude=(a.magnitude[0], a.magnitude[1] * q))
    return _multiplied(functions, [(x, 1), (y, 1)], result)


def _div(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """The factors of both, those of the divisor to opposite powers."""
    x, y = operands
    q = rational(functions.draw, y)
    if q and x.logarithms is not None:
        result = result.but(logarithms=_raised(functions, x.logarithms, 1 / q))
    return _multiplied(functions, [(x, 1), (y, -1)], result)


def _whole_power(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """x^n of a product."""
    return _multiplied(functions, [(operands[0], equation.params.get("y", 2))], result)


def _root_of(exponent: Fraction) -> Rule:
    """√x or 1/√x of a product."""

    def rule(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
        return _fractional_power(functions, operands[0], exponent, result)

    return rule


def _fractional_power(functions: FieldFunctions, x: Number, exponent: Fraction, result: Number) -> Number:
    known = _known(functions, x)
    if known is None:
        return result
    found = _raised(functions, known, exponent)
    if "powers of a product" not in functions.laws or x.product is None and x.terms is None:
        return result.but(product=found)
    return _value(functions, found, result.shape)


def _pow(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """x^q factor by factor for a rational q, and e^(y log x) for any y and a positive x."""
    x, y = operands
    q = rational(functions.draw, y)
    if q is not None and q.denominator <= DEEPEST_ROOT:
        if q.denominator <= 2:
            return _fractional_power(functions, x, q, result)
        known = _known(functions, x)
        if known is None or "powers of a product" not in functions.laws or not _is_positive(x):
            return result
        return _value(functions, _raised(functions, known, q), result.shape)
    if "power as an exponential" not in functions.laws or not _is_positive(x):
        return result
    exponent = functions.multiply(y, _logarithm_of(functions, x, _log_of_factor(functions, x)))
    return functions.exponential(exponent).but(product=Powers(exponent, ()))


# --- logarithms -------------------------------------------------------------------------------------------------------


def _is_positive(x: Number) -> bool:
    """Whether a number is above 0 for all inputs, and not under a condition only."""
    return x.facts is not None and bool(x.facts.positive.all()) and not x.facts.guarded


def _positive_factors(powers: Powers) -> bool:
    """Whether all factors are above 0 for all inputs; those of constants are."""
    return all(_is_positive(u) or _constant(u) is not None for u, _ in powers.powers)


def _constant(x: Number) -> ClosedForm | None:
    """The closed form of all entries of a positive constant, or None."""
    form = None if x.closed is None else x.closed.uniform
    return form if form is not None and form.positive else None


def _logarithm_of(functions: FieldFunctions, x: Number, result: Number) -> Number:
    """log x by its factors, and as a logarithm that exponentials take away; `result` is log x without them."""
    known = _known(functions, x)
    if known is None:
        return result
    squares = [x.square_of] if x.square_of is not None and x.product is None and x.terms is None else []
    if squares and not squares[0].nonnegative and "logarithm of a product" in functions.laws:
        return _scaled(functions, functions.logarithm(functions.absolute(squares[0])), Fraction(2))
    if not _positive_factors(known):
        return result
    value = result
    if "logarithm of a product" in functions.laws and x.product is not None:
        value = functions.constant(0, x.shape) if known.exponent is None else known.exponent
        for u, q in known.powers:
            value = functions.add(value, _scaled(functions, _log_of_factor(functions, u), q))
    return value.but(logarithms=known)


def _log_of_factor(functions: FieldFunctions, u: Number) -> Number:
    """log u, in closed form where u has one."""
    form = _constant(u)
    log = None if form is None else closed_form.logarithm(form)
    return functions.logarithm(u) if log is None else functions.spread(functions.closed(log), u.shape)


def _log(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    return _logarithm_of(functions, operands[0], result)


def _log1p(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """log(1 + x), where 1 + (y - 1) is y."""
    (x,) = operands
    if x.summand is not None and x.summand[1] == rational_form(-1):
        y = x.summand[0]
        return _logarithm_of(functions, y, result)
    known = x.product
    if known is not None and not known.powers and known.exponent is not None and known.exponent.magnitude is not None:
        if "softplus of a magnitude" in functions.laws and x.facts is not None:
            return _softplus_of_magnitude(functions, known.exponent, x.facts)
    return _log_above_one(functions, x, result)


def _log_above_one(functions: FieldFunctions, x: Number, result: Number | None = None) -> Number:
    """log(1 + x), and log(n + d) - log d for x = n/d."""
    product = x.product
    if (
        product is not None
        and _positive_factors(product)
        and any(q < 0 and q.denominator == 1 for _, q in product.powers)
    ):
        above = Powers(product.exponent, tuple((u, q) for u, q in product.powers if q > 0 or q.denominator > 1))
        below = Powers(None, tuple((u, -q) for u, q in product.powers if q < 0 and q.denominator == 1))
        numerator, denominator = (_value(functions, part, x.shape) for part in (above, below))
        total = functions.add(numerator, denominator).but(facts=x.facts)
        logs = [_logarithm_of(functions, z, functions.logarithm(z)) for z in (total, denominator)]
        if all(log.logarithms is not None for log in logs):
            known = _times(functions, logs[0].logarithms, _raised(functions, logs[1].logarithms, Fraction(-1)))
            return functions.subtract(*logs).but(logarithms=known)
    more = functions.add(functions.constant(1, x.shape), x)
    if x.facts is not None and x.nonnegative and not x.facts.guarded:
        more = more.but(facts=x.facts.positive_too())
    return _logarithm_of(functions, more, functions.logarithm(more) if result is None else result)


def _softplus_of_magnitude(functions: FieldFunctions, x: Number, facts: Facts) -> Number:
    """log(1 + exp(q|y|)) = log(1 + exp(qy)) + (q|y| - qy)/2."""
    assert x.magnitude is not None
    y, q = x.magnitude
    along = _scaled(functions, y, q)
    power = functions.exponential(along)
    power = _exponential_of(functions, y, q, power).but(facts=facts, nonnegative=True)
    log = _log_above_one(functions, power)
    rest = _scaled(functions, functions.subtract(x, along), HALF)
    value = functions.add(log, rest)
    if log.logarithms is None:
        return value
    parts = [log.logarithms, Powers(_scaled(functions, x, HALF), ())]
    return value.but(logarithms=_product(functions, [*parts, _raised(functions, _as_logarithm(functions, y), -q / 2)]))


def _expm1(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """exp(x) - 1 with exp(x) as what is left without -1."""
    (x,) = operands
    one = functions.constant(1, x.shape)
    power = _exponential_of(functions, x, Fraction(1), functions.add(result, one).but(nonnegative=True))
    return functions.subtract(power, one).but(summand=(power, rational_form(-1)))


def _summed(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """The logarithms of both terms; what is neither is the exponent of a power of e."""
    x, y = operands
    if x.logarithms is None and y.logarithms is None:
        return result
    parts = [_as_logarithm(functions, z) for z in operands]
    if equation.primitive.name == "sub":
        parts[1] = _raised(functions, parts[1], Fraction(-1))
    return result.but(logarithms=_times(functions, parts[0], parts[1]))


def _as_logarithm(functions: FieldFunctions, x: Number) -> Powers:
    """The product whose logarithm x is: e^x, or what is kept of it; of a constant log k it is k."""
    if x.logarithms is not None:
        return x.logarithms
    form = x.closed.uniform if x.closed is not None else None
    power = closed_form.exponential(form) if isinstance(form, closed_form.LogSum) else None
    if power is None:
        return Powers(x.but(product=None, square_of=None, factors=None, almost=None), ())
    constant = functions.spread(functions.closed(power), x.shape)
    return _factor(constant) if constant.closed is not None else Powers(x, ())


def _negated(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    (x,) = operands
    if x.magnitude is not None:
        result = result.but(magnitude=(x.magnitude[0], -x.magnitude[1]))
    return result if x.logarithms is None else result.but(logarithms=_raised(functions, x.logarithms, Fraction(-1)))


def _maximum(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """(x + y)/2 + |x - y|/2, of which the first has the logarithms of both."""
    x, y = operands
    if x.logarithms is None and y.logarithms is None:
        return result
    distance = functions.subtract(result, _scaled(functions, functions.add(x, y), HALF))
    means = [_raised(functions, _as_logarithm(functions, z), HALF) for z in operands]
    return result.but(logarithms=_product(functions, [*means, Powers(distance, ())]))


def _magnitude(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """|x| of a number that may be negative."""
    (x,) = operands
    return result if x.nonnegative else result.but(magnitude=(x.alone(), Fraction(1)))


# --- exponentials -----------------------------------------------------------------------------------------------------


def _exponential_of(functions: FieldFunctions, x: Number, q: Fraction, result: Number) -> Number:
    """exp(qx) by the logarithms in x; `result` is exp(qx) without them."""
    if x.logarithms is not None and "exponential of a logarithm" in functions.laws:
        return _value(functions, _raised(functions, x.logarithms, q), x.shape)
    return result.but(product=_raised(functions, _as_logarithm(functions, x.but(logarithms=None)), q))


def _exp(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    return _exponential_of(functions, operands[0], Fraction(1), result)


def _sigmoid(steepness: int) -> Rule:
    """1/(1 + exp(-x)) for steepness 1, and tanh x = 2/(1 + exp(-2x)) - 1 for 2."""

    def rule(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
        (x,) = operands
        laws = {"exponential form", "exponential of a logarithm"}
        if x.logarithms is None or not laws <= functions.laws:
            return result
        one = functions.constant(1, x.shape)
        power = _value(functions, _raised(functions, x.logarithms, Fraction(-steepness)), x.shape)
        sigmoid = functions.inverse(functions.add(one, power.but(product=None))).but(nonnegative=True)
        return sigmoid if steepness == 1 else functions.subtract(_scaled(functions, sigmoid, Fraction(2)), one)

    return rule


# --- the gamma function -----------------------------------------------------------------------------------------------


def _steps(functions: FieldFunctions, x: Number) -> list[Number]:
    """z, z + 1, … x for x = z + n with z > 0 and a whole n, as far down as z is known to be positive."""
    if x.summand is None or "recurrence of the gamma function" not in functions.laws:
        return [x]
    y, form = x.summand
    shift, facts = form.rational, y.facts
    if shift is None or not 0 < shift <= MOST_STEPS or facts is None or facts.guarded or not y.nonnegative:
        return [x]
    part = shift - math.floor(shift)
    step = lambda k: functions.add(y, functions.constant(k, x.shape)).but(facts=facts.positive_too())
    least = [] if part else [y] if _is_positive(y) else []
    return [*least, *(step(part + k) for k in range(0 if part else 1, math.floor(shift) + 1))]


def _lgamma(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """log Γ(z + n) = log Γ(z) + Σ log(z + k) over k < n."""
    steps = _steps(functions, operands[0])
    if len(steps) == 1:
        return result
    total = Number(functions.draw.opaque("lgamma", steps[0].residues))
    known: Powers | None = Powers(total, ())
    for z in steps[:-1]:
        log = _logarithm_of(functions, z, functions.logarithm(z))
        total = functions.add(total, log)
        known = None if known is None else _times(functions, known, _as_logarithm(functions, log))
    return total.but(logarithms=known)


def _digamma(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """ψ(z + n) = ψ(z) + Σ 1/(z + k) over k < n."""
    steps = _steps(functions, operands[0])
    if len(steps) == 1:
        return result
    total = Number(functions.draw.opaque("digamma", steps[0].residues))
    for z in steps[:-1]:
        total = functions.add(total, functions.inverse(z))
    return total


Rule = Callable[["FieldFunctions", JaxprEqn, Sequence[Number], Number], Number]

RULES: dict[str, Rule] = {
    "abs": _magnitude,
    "add": _summed,
    "add_any": _summed,
    "digamma": _digamma,
    "div": _div,
    "exp": _exp,
    "expm1": _expm1,
    "integer_pow": _whole_power,
    "lgamma": _lgamma,
    "log": _log,
    "log1p": _log1p,
    "logistic": _sigmoid(1),
    "max": _maximum,
    "mul": _mul,
    "neg": _negated,
    "pow": _pow,
    "rsqrt": _root_of(-HALF),
    "sqrt": _root_of(HALF),
    "square": _whole_power,
    "sub": _summed,
    "tanh": _sigmoid(2),
}
"""From a primitive's name to what it makes of factors and logarithms."""
