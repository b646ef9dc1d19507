"""What primitives make of the factors of positive numbers, and of the logarithms in their operands.

log x = t + Σ qᵢ·log uᵢ  for x = e^t·∏ uᵢ^qᵢ        exp(t + Σ qᵢ·log uᵢ) = x        x^y = exp(y·log x)

docs/soundness.md §8.3 has the proofs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from jax.extend.core import JaxprEqn

from uat_jax.interpret import closed_form
from uat_jax.interpret.closed_form import rational as rational_form
from uat_jax.interpret.operation import LARGE
from uat_jax.interpret.tracing import is_number
from uat_jax.numbers.prime_fields import exponential_sums
from uat_jax.numbers.prime_fields.common_factors import terms_of_product, terms_of_sum
from uat_jax.numbers.prime_fields.exponential_sums import is_positive_sum
from uat_jax.numbers.prime_fields.facts import Defined, Facts
from uat_jax.numbers.prime_fields.number import Exponentials, Number, Powers, rational
from uat_jax.numbers.prime_fields.powers import (
    DEEPEST_ROOT,
    all_positive,
    as_logarithm,
    constant_form,
    exponentials_of,
    factors_of,
    is_fractional,
    is_positive,
    normalised,
    product_of,
    raised,
    scaled,
    times,
    value_of,
)

if TYPE_CHECKING:
    from uat_jax.numbers.prime_fields.field_functions import FieldFunctions

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
        "signs of sums of exponentials",
    ]
)
"""The laws of this file."""

MOST_STEPS = 32
"""So often the recurrence of the gamma function is used for one number."""

ORDERS = range(1, 9)
"""The derivatives of the digamma function whose recurrence is used."""

HALF = Fraction(1, 2)

Rule = Callable[["FieldFunctions", JaxprEqn, Sequence[Number], Number], Number]
"""(functions, equation, operands, the result without these laws) → the result."""


def with_powers(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """The result of an equation with its factors, and by the laws of this file where they say more."""
    name = equation.primitive.name
    known = name in RULES or name in EXTREMES or name in GRIDS
    if not known or not in_force(functions.laws) or math.prod(result.shape) >= LARGE:
        return result
    if any(x.special is not None or x.infinite is not None for x in (*operands, result)):
        return result
    if name in EXTREMES:
        return _extreme(functions, equation, operands[0], result)
    if name in GRIDS:
        return _with_terms(functions, equation, operands, result)
    operands = [functions.spread(x, result.shape) for x in operands]
    result = _with_exponentials(functions, equation, operands, result)
    return RULES[name](functions, equation, operands, result)


def in_force(laws: frozenset[str]) -> bool:
    """Whether any law of this file is in force."""
    return bool(laws & POWERS) and laws >= EXTENDED


# --- sums of exponentials ---------------------------------------------------------------------------------------------


def _with_exponentials(
    functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number
) -> Number:
    """The result as a sum of exponentials over others, and its sign if all terms have one."""
    rule = SUMS.get(equation.primitive.name)
    if rule is None or "signs of sums of exponentials" not in functions.laws:
        return result
    found = rule(functions, equation, operands, result)
    return result if found is None else with_sign(functions, result.but(exponentials=found))


GRIDS: dict[str, Callable[..., list[np.ndarray]]] = {"dot_general": terms_of_product, "reduce_sum": terms_of_sum}
"""Sums over entries, and which entries of their operands are the factors of their terms."""


def _with_terms(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """A short sum of entries, or of products of them, as the sum of exponentials that its terms are.

    Not of quotients: over a common denominator the mean of the exponents is another one, and that of a sum by which
    the same terms are known otherwise is not met again.
    """
    if "signs of sums of exponentials" not in functions.laws or not is_number(equation.outvars[0]):
        return result
    sums = [exponentials_of(functions, x) for x in operands]
    if any(known is None for known in sums) or all(x.known is not None for x in operands):
        return result
    grids = GRIDS[equation.primitive.name](equation, *(x.shape for x in operands))
    found: Exponentials | None = None
    if not 0 < grids[0].shape[1] <= exponential_sums.MOST_TERMS:
        return result
    for k in range(grids[0].shape[1]):
        taken = [
            known.moved(lambda a, g=grid[:, k]: a.reshape(len(a), -1)[:, g].reshape(len(a), *result.shape))
            for known, grid in zip(sums, grids, strict=True)
            if known is not None
        ]
        term = taken[0] if len(taken) == 1 else exponential_sums.multiplied(functions.draw, *taken)
        if term is not None and term.below:
            return result
        found = term if k == 0 or term is None or found is None else exponential_sums.added(functions.draw, found, term)
        if found is None:
            return result
    return result if found is None else with_sign(functions, result.but(exponentials=found))


def with_sign(functions: FieldFunctions, x: Number) -> Number:
    """A number with the sign of the sum of exponentials that it is, if its terms, or their exponents, show one."""
    if x.exponentials is None or x.facts is None or x.facts.guarded:
        return x
    sign = exponential_sums.sign(x.exponentials) or functions.exponents_met.of_sum(x.exponentials)
    if not sign:
        return x
    return x.but(facts=x.facts.positive_too(), nonnegative=True) if sign > 0 else x.but(facts=x.facts.negative_too())


def _quotient_of(functions: FieldFunctions, x: Exponentials, y: Number) -> Exponentials | None:
    """x/y for a positive sum y."""
    draw, known = functions.draw, exponentials_of(functions, y)
    if known is None or not is_positive_sum(known) or y.facts is None:
        return None
    c, t = exponential_sums.content(known.terms), exponential_sums.mean(draw, known.terms)
    above = exponential_sums.multiplied(draw, x, Exponentials(((1 / c, draw.negate(t)),)))
    for u, n in known.below:
        part = None if u.exponentials is None else exponential_sums.power(draw, u.exponentials, n, y.shape)
        above = None if above is None or part is None else exponential_sums.multiplied(draw, above, part)
    if above is None or len(known.terms) == 1:
        return above
    divisor = normalised(functions, y, known)
    one = draw.fraction(0, y.shape)
    return exponential_sums.multiplied(draw, above, Exponentials(((Fraction(1), one),), ((divisor, 1),)))


def _sum_of(sign: int) -> SumRule:
    """x + y or x - y."""

    def rule(
        functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number
    ) -> Exponentials | None:
        if all(x.known is not None for x in operands):
            return None
        parts = [exponentials_of(functions, x) for x in operands]
        if parts[0] is None or parts[1] is None:
            return None
        other = parts[1] if sign > 0 else exponential_sums.negated(parts[1])
        return exponential_sums.added(functions.draw, parts[0], other)

    return rule


def _are_sums(operands: Sequence[Number]) -> bool:
    """Whether a number is known as a sum, which its factors do not say, or a constant that is no factor."""
    return any(x.exponentials is not None or x.known is not None and not x.nonnegative for x in operands)


def _product_of_sums(
    functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number
) -> Exponentials | None:
    parts = [exponentials_of(functions, x) for x in operands] if _are_sums(operands) else [None, None]
    if parts[0] is None or parts[1] is None:
        return None
    return exponential_sums.multiplied(functions.draw, parts[0], parts[1])


def _quotient_of_sums(
    functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number
) -> Exponentials | None:
    x = exponentials_of(functions, operands[0]) if _are_sums(operands) else None
    return None if x is None else _quotient_of(functions, x, operands[1])


def _power_of_sum(
    functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number
) -> Exponentials | None:
    (x,), exponent = operands, equation.params.get("y", 2)
    if x.exponentials is None or exponent < 0:
        return None
    return exponential_sums.power(functions.draw, x.exponentials, exponent, x.shape)


def _opposite_sum(
    functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number
) -> Exponentials | None:
    x = exponentials_of(functions, operands[0])
    return None if x is None else exponential_sums.negated(x)


def _size_of_sum(
    functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number
) -> Exponentials | None:
    """|x| of a sum whose terms have one sign."""
    x = exponentials_of(functions, operands[0]) if _are_sums(operands) else None
    opposite = None if x is None else exponential_sums.negated(x)
    return next((known for known in (x, opposite) if known is not None and is_positive_sum(known)), None)


SumRule = Callable[["FieldFunctions", JaxprEqn, Sequence[Number], Number], Exponentials | None]

SUMS: dict[str, SumRule] = {
    "abs": _size_of_sum,
    "add": _sum_of(1),
    "add_any": _sum_of(1),
    "div": _quotient_of_sums,
    "integer_pow": _power_of_sum,
    "mul": _product_of_sums,
    "neg": _opposite_sum,
    "square": _power_of_sum,
    "sub": _sum_of(-1),
}
"""From a primitive's name to the sum of exponentials that its result is."""


# --- products ---------------------------------------------------------------------------------------------------------


def _multiplied(functions: FieldFunctions, parts: Sequence[tuple[Number, int]], result: Number) -> Number:
    """The product of numbers to whole powers; by its factors where these are roots."""
    known = [factors_of(functions, x) for x, _ in parts]
    powers = [raised(functions, p, Fraction(q)) for p, (_, q) in zip(known, parts, strict=True) if p is not None]
    found = product_of(functions, powers) if len(powers) == len(parts) else None
    if found is None:
        return result
    if any(map(is_fractional, powers)) and "powers of a product" in functions.laws:
        return value_of(functions, found, result.shape)
    return result.but(product=found)


def _mul(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """The factors of both; and the logarithms of one that is multiplied by a rational number."""
    x, y = operands
    for a, b in ((x, y), (y, x)):
        q = rational(functions.draw, b)
        if q is not None and a.logarithms is not None:
            result = result.but(logarithms=raised(functions, a.logarithms, q))
        if q is not None and a.magnitude is not None:
            result = result.but(magnitude=(a.magnitude[0], a.magnitude[1] * q))
    return _multiplied(functions, [(x, 1), (y, 1)], result)


def _div(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """The factors of both, those of the divisor to opposite powers."""
    x, y = operands
    q = rational(functions.draw, y)
    if q and x.logarithms is not None:
        result = result.but(logarithms=raised(functions, x.logarithms, 1 / q))
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
    known = factors_of(functions, x)
    if known is None:
        return result
    found = raised(functions, known, exponent)
    if "powers of a product" not in functions.laws or _is_factor(x):
        return result.but(product=found)
    return value_of(functions, found, result.shape)


def _pow(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """x^q factor by factor for a rational q, and e^(y log x) for any y and a positive x.

    Both are defined for all inputs then, or x is a constant: 1^∞, ∞^0 and e^(-∞) to the power 0 are 1 on a device.
    """
    x, y = operands
    q = rational(functions.draw, y)
    if q is not None and q.denominator <= DEEPEST_ROOT:
        if q.denominator <= 2:
            return _fractional_power(functions, x, q, result)
        known = factors_of(functions, x)
        if known is None or "powers of a product" not in functions.laws or not is_positive(x):
            return result
        return value_of(functions, raised(functions, known, q), result.shape)
    if "power as an exponential" not in functions.laws or not is_positive(x):
        return result
    if x.known is None and not (_is_certain(x) and _is_certain(y)):
        return result
    exponent = functions.multiply(y, _logarithm_of(functions, x, _log_of_factor(functions, x)))
    return functions.exponential(exponent).but(product=Powers(exponent, ()))


def _is_certain(x: Number) -> bool:
    """Whether a number is defined for all inputs."""
    return x.facts is not None and x.facts.defined is Defined.ALWAYS and not x.facts.hollow


# --- logarithms -------------------------------------------------------------------------------------------------------


def _logarithm_of(functions: FieldFunctions, x: Number, result: Number) -> Number:
    """log x by its factors, and as a logarithm that exponentials take away; `result` is log x without them."""
    known = factors_of(functions, x)
    if known is None:
        return result
    squares = [x.square_of] if x.square_of is not None and _is_factor(x) else []
    if squares and not squares[0].nonnegative and "logarithm of a product" in functions.laws:
        return scaled(functions, functions.logarithm(functions.absolute(squares[0])), Fraction(2))
    if not all_positive(known):
        return result
    value = result
    if "logarithm of a product" in functions.laws and (x.product is not None or x.exponentials is not None):
        value = functions.constant(0, x.shape) if known.exponent is None else known.exponent
        for u, q in known.powers:
            value = functions.add(value, scaled(functions, _log_of_factor(functions, u), q))
    return value.but(logarithms=known)


def _is_factor(x: Number) -> bool:
    """Whether nothing is known that a number is made of."""
    return x.product is None and x.terms is None and x.exponentials is None


def _log_of_factor(functions: FieldFunctions, u: Number) -> Number:
    """log u, in closed form where u has one."""
    form = constant_form(u)
    log = None if form is None else closed_form.logarithm(form)
    return functions.logarithm(u) if log is None else functions.spread(functions.closed(log), u.shape)


def _log(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    return _logarithm_of(functions, operands[0], result)


def _log1p(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """log(1 + x), where 1 + (y - 1) is y."""
    (x,) = operands
    if x.summand is not None and x.summand[1] == rational_form(-1):
        return _logarithm_of(functions, x.summand[0], result)
    exponent = x.product.exponent if x.product is not None and not x.product.powers else None
    if exponent is None or exponent.magnitude is None or x.facts is None:
        return _log_above_one(functions, x, result)
    if "softplus of a magnitude" not in functions.laws:
        return _log_above_one(functions, x, result)
    return _softplus_of_magnitude(functions, exponent, x.facts)


def _log_above_one(functions: FieldFunctions, x: Number, result: Number | None = None) -> Number:
    """log(1 + x), and log(n + d) - log d for x = n/d; `result` is log(1 + x) without factors."""
    more = _one_more(functions, x, is_positive=result is not None and _is_defined(result))
    whole = x.facts is not None and x.facts.defined is not Defined.PARTLY and more.exponentials is None
    if whole and x.product is not None and all_positive(x.product) and any(map(_below, x.product.powers)):
        found = _log_above_quotient(functions, x, x.product)
        if found is not None:
            return found
    return _logarithm_of(functions, more, functions.logarithm(more) if result is None else result)


def _is_defined(x: Number) -> bool:
    """Whether a number is defined for all inputs, and not under a condition only."""
    return x.facts is not None and x.facts.defined is Defined.ALWAYS and not x.facts.guarded


def _one_more(functions: FieldFunctions, x: Number, *, is_positive: bool = False) -> Number:
    """1 + x, with its sign if that is known; `is_positive`: it is known to be above 0 for all inputs."""
    more = functions.add(functions.constant(1, x.shape), x)
    if x.facts is None:
        return more
    positive = is_positive or x.nonnegative and not x.facts.guarded and x.facts.defined is not Defined.PARTLY
    facts = x.facts.positive_too() if positive else x.facts.unsigned()
    more = more.but(facts=facts, nonnegative=more.nonnegative or positive)
    known = exponentials_of(functions, x) if "signs of sums of exponentials" in functions.laws else None
    if known is None:
        return more
    one = exponential_sums.rational_sum(functions.draw, Fraction(1), x.shape)
    found = exponential_sums.added(functions.draw, one, known)
    return more if found is None else with_sign(functions, more.but(exponentials=found))


def _below(factor: tuple[Number, Fraction]) -> bool:
    """Whether a factor is one of a divisor."""
    return factor[1] < 0 and factor[1].denominator == 1


def _log_above_quotient(functions: FieldFunctions, x: Number, product: Powers) -> Number | None:
    """log(n + d) - log d for x = n/d, or None where the signs of n and d are not known."""
    above = Powers(product.exponent, tuple(factor for factor in product.powers if not _below(factor)))
    below = Powers(None, tuple((u, -q) for u, q in filter(_below, product.powers)))
    numerator, denominator = (value_of(functions, part, x.shape) for part in (above, below))
    total = functions.add(numerator, denominator).but(facts=x.facts)
    first, second = (_logarithm_of(functions, z, functions.logarithm(z)) for z in (total, denominator))
    if first.logarithms is None or second.logarithms is None:
        return None
    known = times(functions, first.logarithms, raised(functions, second.logarithms, Fraction(-1)))
    return functions.subtract(first, second).but(logarithms=known)


def _softplus_of_magnitude(functions: FieldFunctions, x: Number, facts: Facts) -> Number:
    """log(1 + exp(q|y|)) = log(1 + exp(qy)) + (q|y| - qy)/2."""
    assert x.magnitude is not None
    y, q = x.magnitude
    along = scaled(functions, y, q)
    power = functions.exponential(along)
    power = _exponential_of(functions, y, q, power).but(facts=facts, nonnegative=True)
    log = _log_above_one(functions, power)
    rest = scaled(functions, functions.subtract(x, along), HALF)
    value = functions.add(log, rest)
    if log.logarithms is None:
        return value
    parts = [log.logarithms, Powers(scaled(functions, x, HALF), ())]
    return value.but(logarithms=product_of(functions, [*parts, raised(functions, as_logarithm(functions, y), -q / 2)]))


def _expm1(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """exp(x) - 1 with exp(x) as what is left without -1."""
    (x,) = operands
    one = functions.constant(1, x.shape)
    power = _exponential_of(functions, x, Fraction(1), functions.add(result, one).but(nonnegative=True))
    less = functions.subtract(power, one).but(summand=(power, rational_form(-1)))
    known = exponentials_of(functions, power) if "signs of sums of exponentials" in functions.laws else None
    if known is None:
        return less
    other = exponential_sums.rational_sum(functions.draw, Fraction(-1), x.shape)
    found = exponential_sums.added(functions.draw, known, other)
    return less if found is None else less.but(exponentials=found)


def _summed(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """The logarithms of both terms; what is neither is the exponent of a power of e."""
    x, y = operands
    if x.logarithms is None and y.logarithms is None:
        return result
    parts = [as_logarithm(functions, z) for z in operands]
    if equation.primitive.name == "sub":
        parts[1] = raised(functions, parts[1], Fraction(-1))
    return result.but(logarithms=times(functions, parts[0], parts[1]))


def _negated(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    (x,) = operands
    if x.magnitude is not None:
        result = result.but(magnitude=(x.magnitude[0], -x.magnitude[1]))
    return result if x.logarithms is None else result.but(logarithms=raised(functions, x.logarithms, Fraction(-1)))


def _maximum(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """(x + y)/2 + |x - y|/2, of which the first has the logarithms of both."""
    x, y = operands
    if result.logarithms is not None or x.logarithms is None and y.logarithms is None:
        return result
    distance = functions.subtract(result, scaled(functions, functions.add(x, y), HALF))
    means = [raised(functions, as_logarithm(functions, z), HALF) for z in operands]
    return result.but(logarithms=product_of(functions, [*means, Powers(distance, ())]))


EXTREMES = frozenset(["reduce_max", "reduce_min"])
"""Primitives that move along with what all of their numbers have in common."""


def _extreme(functions: FieldFunctions, equation: JaxprEqn, x: Number, result: Number) -> Number:
    """max (t + q·log u) = max t + q·log u, where u is the same along the axes: its logarithm is kept."""
    axes = tuple(equation.params["axes"])
    if x.logarithms is None or not all(x.shape[axis] for axis in axes):
        return result
    first = lambda a: a[tuple(0 if i - 1 in axes else slice(None) for i in range(a.ndim))]
    functions.draw.compared(len(x.logarithms.powers))
    common = [(u.moved(first), q) for u, q in x.logarithms.powers if _is_constant_along(u, axes)]
    rest = result
    for u, q in common:
        rest = functions.subtract(rest, scaled(functions, _log_of_factor(functions, u), q))
    return result.but(logarithms=Powers(rest.alone().but(largest_of=None), tuple(common))) if common else result


def _is_constant_along(x: Number, axes: tuple[int, ...]) -> bool:
    """Whether all entries along some axes are the same."""
    return all(
        bool(np.all(level == level[tuple(slice(0, 1) if i - 1 in axes else slice(None) for i in range(level.ndim))]))
        for level in x.residues.levels
    )


def _magnitude(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """|x| of a number that may be negative."""
    (x,) = operands
    return (
        result if x.nonnegative or result.exponentials is not None else result.but(magnitude=(x.alone(), Fraction(1)))
    )


# --- exponentials -----------------------------------------------------------------------------------------------------


def _exponential_of(functions: FieldFunctions, x: Number, q: Fraction, result: Number) -> Number:
    """exp(qx) by the logarithms in x; `result` is exp(qx) without them."""
    if "signs of sums of exponentials" in functions.laws:
        functions.exponents_met.meet(x)
    if x.logarithms is not None and "exponential of a logarithm" in functions.laws:
        return value_of(functions, raised(functions, x.logarithms, q), x.shape)
    return result.but(product=raised(functions, as_logarithm(functions, x.but(logarithms=None)), q))


def _exp(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    return _exponential_of(functions, operands[0], Fraction(1), result)


def _sigmoid(steepness: int) -> Rule:
    """1/(1 + exp(-x)) for steepness 1, and tanh x = 2/(1 + exp(-2x)) - 1 for 2."""

    def rule(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
        (x,) = operands
        if "exponential form" not in functions.laws or result.facts is None:
            return result
        one, q = functions.constant(1, x.shape), Fraction(-steepness)
        if x.logarithms is not None and "exponential of a logarithm" in functions.laws:
            if result.facts.defined is Defined.PARTLY:
                return result  # the factors are positive where the logarithms are defined: 1 + x/|x| is 0 elsewhere
            power = value_of(functions, raised(functions, x.logarithms, q), x.shape)
            sigmoid = functions.inverse(functions.add(one, power.but(product=None))).but(nonnegative=True)
            result = sigmoid if steepness == 1 else functions.subtract(scaled(functions, sigmoid, Fraction(2)), one)
        elif "signs of sums of exponentials" in functions.laws:
            along = scaled(functions, x, q)
            power = _exponential_of(functions, x.but(logarithms=None), q, functions.exponential(along))
        else:
            return result
        return _of_sigmoid(functions, steepness, power, result)

    return rule


def _of_sigmoid(functions: FieldFunctions, steepness: int, power: Number, result: Number) -> Number:
    """The result with 1/(1 + p), or (1 - p)/(1 + p), as the sum of exponentials that it is."""
    known = exponentials_of(functions, power) if "signs of sums of exponentials" in functions.laws else None
    if known is None or result.facts is None:
        return result
    draw, total = functions.draw, _one_more(functions, power.but(facts=result.facts.positive_too()))
    above: Exponentials | None = exponential_sums.rational_sum(draw, Fraction(1), result.shape)
    if steepness > 1:
        above = exponential_sums.added(draw, above, exponential_sums.negated(known))
    found = None if above is None else _quotient_of(functions, above, total)
    return result if found is None else result.but(exponentials=found)


def _atanh(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """(log(1 + x) - log(1 - x))/2 of a sum of exponentials that lies between -1 and 1."""
    (x,) = operands
    if x.exponentials is None or x.facts is None:
        return result
    opposite = functions.negate(x).but(facts=x.facts.unsigned(), exponentials=exponential_sums.negated(x.exponentials))
    above, below = (_one_more(functions, y) for y in (x, opposite))
    if not is_positive(above) or not is_positive(below):
        return result
    logs = [_logarithm_of(functions, y, functions.logarithm(y)) for y in (above, below)]
    halves = [as_logarithm(functions, log) for log in logs]
    known = product_of(functions, [raised(functions, p, q) for p, q in zip(halves, (HALF, -HALF), strict=True)])
    return scaled(functions, functions.subtract(*logs), HALF).but(logarithms=known)


def _hyperbolic(sign: int) -> Rule:
    """(exp(x) + exp(-x))/2 or (exp(x) - exp(-x))/2."""

    def rule(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
        (x,) = operands
        if x.logarithms is not None or not {"exponential form", "signs of sums of exponentials"} <= functions.laws:
            return result
        opposite = functions.draw.negate(x.residues)
        return result.but(exponentials=Exponentials(((HALF, x.residues), (sign * HALF, opposite))))

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
    least = [] if part else [y] if is_positive(y) else []
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
        known = None if known is None else times(functions, known, as_logarithm(functions, log))
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


def _polygamma(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """The m-th derivative of that: ψₘ(z + n) = ψₘ(z) + (-1)^m m! Σ 1/(z + k)^(m + 1) over k < n."""
    order, x = rational(functions.draw, operands[0]), operands[1]
    steps = _steps(functions, x)
    if len(steps) == 1 or order is None or order not in ORDERS:
        return result
    m = int(order)
    total = Number(functions.draw.opaque("polygamma", operands[0].residues, steps[0].residues))
    for z in steps[:-1]:
        part = scaled(functions, functions.power(z, -m - 1), Fraction((-1) ** m * math.factorial(m)))
        total = functions.add(total, part)
    return total


RULES: dict[str, Rule] = {
    "abs": _magnitude,
    "atanh": _atanh,
    "add": _summed,
    "add_any": _summed,
    "cosh": _hyperbolic(1),
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
    "polygamma": _polygamma,
    "pow": _pow,
    "rsqrt": _root_of(-HALF),
    "sinh": _hyperbolic(-1),
    "sqrt": _root_of(HALF),
    "square": _whole_power,
    "sub": _summed,
    "tanh": _sigmoid(2),
}
"""From a primitive's name to what it makes of factors and logarithms."""
