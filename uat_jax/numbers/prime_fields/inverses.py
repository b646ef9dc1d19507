"""What primitives make of inverse functions: what they undo, the angles of points, logarithms, and roots of degree 3.

f(g(x)) = x          cos(atan x) = 1/√(1 + x²)          exp(Σ qᵢ·log uᵢ) = ∏ uᵢ^qᵢ          (∛x)³ = x = ∛(x³)

docs/soundness.md §8.7 has the proofs.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from jax.extend.core import JaxprEqn

from uat_jax.interpret.integer_ranges import Range
from uat_jax.interpret.operation import LARGE
from uat_jax.numbers.prime_fields.algebra import REMEMBERED, columns_of
from uat_jax.numbers.prime_fields.facts import Defined, Nature
from uat_jax.numbers.prime_fields.number import Cubic, Logged, Number, Turn, rational
from uat_jax.numbers.prime_fields.powers import factors_of, is_positive, raised, value_of
from uat_jax.numbers.prime_fields.residues import Residues, same, vanishes

if TYPE_CHECKING:
    from uat_jax.numbers.prime_fields.field_functions import FieldFunctions

UNDONE_BY = {
    "acos": "cos",
    "acosh": "cosh",
    "asin": "sin",
    "asinh": "sinh",
    "atan": "tan",
    "atanh": "tanh",
    "cosh": "acosh",
    "erf": "erf_inv",
    "erf_inv": "erf",
    "sinh": "asinh",
    "tanh": "atanh",
}
"""From a function f to g, where f(g(x)) is x, or |x| for an even g, for all x for which g is defined."""

PRINCIPAL = {"cos": Range(0, 3.1415926), "sin": Range(-1.5707963, 1.5707963), "tan": Range(-1.5707963, 1.5707963)}
"""Functions that are undone for numbers of a range only, which lies within the values of their inverses."""

WHOLE_TURN = Range(-3.1415926, 3.1415926)
"""Within this range a number is the angle of the point of its cosine and sine."""

LETTERS = frozenset(["cosh", "tanh"])
"""Those of them whose g is an unknown function only where functions are not written with exponentials."""

ODD = frozenset("asinh asin atan atanh bessel_i1e cbrt erf erf_inv sin sinh tan tanh".split())
"""Odd functions."""

EVEN = frozenset("abs bessel_i0e cos cosh square".split())
"""Even functions."""

LOWEST_POWER, HIGHEST_POWER = -8, 8
"""Factors of logarithms, and points of angles, are taken to whole powers between these."""

MOST_PARTS = 4
"""Sums of more angles or logarithms are not taken apart."""

Rule = Callable[["FieldFunctions", JaxprEqn, Sequence[Number], Number], Number]
"""(functions, equation, operands, the result without these laws) → the result."""


def with_inverses(
    functions: FieldFunctions,
    equation: JaxprEqn,
    operands: Sequence[Number],
    result: Number,
    ranges: Sequence[Range] = (),
) -> Number:
    """The result of an equation by the laws of this file, with what they need to know of it.

    ranges: of the operands, where they are known.
    """
    name = equation.primitive.name
    if not (name in RULES or name in REMEMBERED_NAMES) or math.prod(result.shape) >= LARGE:
        return result
    if any([x.special is not None or x.infinite is not None for x in (*operands, result)]):
        return result
    if name in RULES:
        operands = [functions.spread(x, result.shape) for x in operands]
        for rule in RULES[name]:
            result = rule(functions, equation, operands, result)
    if name == "sin" and len(ranges) == 1 and ranges[0] in WHOLE_TURN:
        _remembered(functions, name, operands, result, "whole turn")
    one_to_one = name not in PRINCIPAL or len(ranges) == 1 and ranges[0] in PRINCIPAL[name]
    return _remembered(functions, name, operands, result) if name in REMEMBERED_NAMES and one_to_one else result


def is_even(equation: JaxprEqn) -> bool:
    """Whether a primitive of one operand has the same value for x and -x."""
    name = equation.primitive.name
    return name in EVEN or name == "integer_pow" and equation.params["y"] % 2 == 0


# --- what is undone ---------------------------------------------------------------------------------------------------

REMEMBERED_NAMES = frozenset(UNDONE_BY.values())
"""Functions of which it is remembered what they were applied to."""


def _remembered(
    functions: FieldFunctions, name: str, operands: Sequence[Number], result: Number, under: str = ""
) -> Number:
    """The result; what it is made of is found by its residues, and of an odd function by their opposites too.

    under: what is asked for then, if it is not the function.
    """
    if "inverse functions" in functions.laws and 0 < math.prod(result.shape) <= REMEMBERED:
        (x,) = operands
        signs = (1, -1) if name in ODD else (1,)
        functions.draw.compared(len(signs) * math.prod(result.shape))
        for sign in signs:
            of, value = (
                (x, result.residues) if sign > 0 else (functions.negate(x), functions.draw.negate(result.residues))
            )
            for i, column in enumerate(columns_of(value)):
                functions.preimages.setdefault((under or name, column), (of, value, i))
    return result


def _is_defined(x: Number, least: Defined) -> bool:
    """Whether a number has a finite value for all inputs, or almost all, and not under a condition only."""
    return x.facts is not None and x.facts.defined <= least and not x.facts.guarded and not x.facts.hollow


def _undone(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """x of f(g(x)), or |x|."""
    found = _preimage(functions, equation, operands, result)
    even = equation.primitive.name == "acosh" and found is not result
    return functions.absolute(found).but(signless=found.alone()) if even else found


def _preimage(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """x of g(x); what else is known of x is kept if x is defined for all inputs, or the operand is that very g(x)."""
    (y,), name = operands, equation.primitive.name
    blocked = name in LETTERS and "exponential form" in functions.laws
    if blocked or "inverse functions" not in functions.laws or not 0 < math.prod(y.shape) <= REMEMBERED:
        return result
    functions.draw.compared(math.prod(y.shape))
    found = [functions.preimages.get((UNDONE_BY[name], column)) for column in columns_of(y.residues)]
    known = [f for f in found if f is not None]
    if len(known) < len(found):
        return result
    first, value, _ = known[0]
    whole = first.shape == y.shape and all(x is first and i == place for place, (x, _, i) in enumerate(known))
    if whole and (value is y.residues or _is_defined(first, Defined.ALWAYS)):
        return first.alone()
    entries = [_entry(x.residues, i) for x, _, i in known]
    return Number(functions.draw.stack(entries).reshaped(y.shape))


def _entry(x: Residues, i: int) -> Residues:
    """The i-th entry."""
    return x.moved(lambda a: a.reshape(len(a), -1)[:, i])


# --- angles -----------------------------------------------------------------------------------------------------------


def _angle(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """The result as the angle of a point of the circle; of atan2 if that is known not to be one of (0, 0)."""
    if "angles" not in functions.laws:
        return result
    name = equation.primitive.name
    if name == "atan2" and (whole := _angle_of_turn(functions, *operands)) is not None:
        return whole
    if name == "atan2" and not _is_off_origin(functions, operands):
        return result
    result = angle_met(functions, operands[0], name, result) if name in ("asin", "atan") else result
    return result.but(turn=Turn(None, ((name, tuple(operands), 1),)))


def _angle_of_turn(functions: FieldFunctions, y: Number, x: Number) -> Number | None:
    """θ, where y is sin θ and x is cos θ of one array within a turn around 0, which is defined for all inputs."""
    if any(z.special is not None for z in (x, y)) or not 0 < math.prod(y.shape) <= REMEMBERED:
        return None
    if not all(_is_defined(z, Defined.ALWAYS) for z in (x, y)):
        return None
    functions.draw.compared(2 * math.prod(y.shape))
    found = [functions.preimages.get(("whole turn", column)) for column in columns_of(y.residues)]
    known = [f for f in found if f is not None]
    if len(known) < len(found):
        return None
    of = known[0][0]
    whole = of.shape == y.shape and all(z is of and i == place for place, (z, _, i) in enumerate(known))
    if not whole or not _is_defined(of, Defined.ALWAYS) or not same(_of_rest(functions, of)[0].residues, x.residues):
        return None
    return of.alone()


def _is_off_origin(functions: FieldFunctions, operands: Sequence[Number]) -> bool:
    """Whether two numbers are defined for all inputs and never both 0: one has a sign, or x² + y² is formally 1."""
    if any(x.special is not None or not _is_defined(x, Defined.ALWAYS) for x in operands):
        return False
    if any(map(_has_sign, operands)):
        return True
    if any(x.almost is not None for x in operands):
        return False
    functions.draw.compared(1)
    total = functions.add(*(functions.multiply(x, x) for x in operands))
    return same(total.residues, functions.draw.fraction(1, total.shape))


def angle_of_quotient(functions: FieldFunctions, y: Number, x: Number) -> Number:
    """arctan(y/x) for an x with a sign."""
    quotient = functions.divide(y, x)
    angle = Number(functions.odd("atan", quotient.residues))
    if x.facts is None or y.facts is None or not is_positive(x):
        return angle
    known = quotient.but(direction=y.direction or y, facts=x.facts if y.facts.is_number else y.facts)
    return angle_met(functions, known, "atan", angle)


def angle_met(functions: FieldFunctions, x: Number, name: str, result: Number) -> Number:
    """Of angles between -π/2 and π/2 with one sign and one square of their sine the one that was met first."""
    draw, size = functions.draw, math.prod(result.shape)
    if "angles" not in functions.laws or x.special is not None or not 0 < size <= REMEMBERED:
        return result
    if vanishes(x.residues).any() or not _is_defined(x, Defined.ALMOST):
        return result
    square = functions.power(x, 2)
    if name == "atan":
        above = functions.add(functions.constant(1, x.shape), square)
        if vanishes(above.residues).any():
            return result
        square = functions.divide(square, above)
    draw.compared(4 * size)
    sines, known = columns_of(square.residues), functions.angles
    for sign, way in ((1, result.residues), (-1, draw.negate(result.residues))):
        along = functions.direction(x if sign > 0 else functions.negate(x))
        key = (result.shape, b"".join([*sines, *columns_of(along)]))
        if sign > 0 and key in known:
            return Number(known[key])
        known[key] = way
    return result


def _has_sign(x: Number) -> bool:
    """Whether no entry is 0 for any input."""
    return x.facts is not None and not x.facts.guarded and bool((x.facts.positive | x.facts.negative).all())


def _point(functions: FieldFunctions, name: str, operands: Sequence[Number]) -> tuple[Number, Number]:
    """The cosine and the sine of an angle."""
    f = functions
    one, x = f.constant(1, operands[0].shape), operands[-1]
    other = lambda: f.root(f.subtract(one, f.power(x, 2)))
    if name == "asin":
        return other(), x
    if name == "acos":
        return x, other()
    if name == "atan":
        cosine = f.inverse(f.root(f.add(one, f.power(x, 2))))
        return cosine, f.multiply(x, cosine)
    over = f.inverse(f.root(f.add(f.power(x, 2), f.power(operands[0], 2))))
    return f.multiply(x, over), f.multiply(operands[0], over)


def _circular(which: str) -> Rule:
    """cos, sin or tan of a sum of angles and a rest."""

    def rule(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
        turn = operands[0].turn
        if turn is None:
            return result
        cosine, sine = functions.constant(1, result.shape), functions.constant(0, result.shape)
        if turn.rest is not None:
            cosine, sine = _of_rest(functions, turn.rest)
        for name, of, n in turn.angles:
            c, s = _point(functions, name, of)
            s = s if n > 0 else functions.negate(s)
            for _ in range(abs(n)):
                cosine, sine = _turned(functions, (cosine, sine), (c, s))
        if which == "tan":
            divides = _is_analytic(operands[0], turn) and not vanishes(cosine.residues).any()
            return functions.divide(sine, cosine) if divides else result
        return cosine if which == "cos" else sine

    return rule


def _is_analytic(x: Number, turn: Turn) -> bool:
    """Whether a sum of angles has a cosine that is 0 on a null set only, if it is not 0 as a function."""
    return _is_entire(x) or turn.rest is None and all(_is_entire(y) for _, of, _ in turn.angles for y in of)


def _is_entire(x: Number) -> bool:
    """Whether a number is analytic for all inputs, and not under a condition only."""
    return x.facts is not None and x.facts.nature is Nature.ENTIRE and not x.facts.guarded


def _of_rest(functions: FieldFunctions, x: Number) -> tuple[Number, Number]:
    """(cos x, sin x)."""
    if "exponential form" in functions.laws:
        return functions.circular(x)
    return Number(functions.even("cos", x.residues)), Number(functions.odd("sin", x.residues))


def _turned(
    functions: FieldFunctions, point: tuple[Number, Number], by: tuple[Number, Number]
) -> tuple[Number, Number]:
    """The product of two complex numbers."""
    f, (a, b), (c, d) = functions, point, by
    return f.subtract(f.multiply(a, c), f.multiply(b, d)), f.add(f.multiply(a, d), f.multiply(b, c))


# --- logarithms -------------------------------------------------------------------------------------------------------


def _log(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """The result as the logarithm of what it is taken of, which is positive where it is defined.

    Powers of it are divisors, so it has to be analytic, or positive for all inputs.
    """
    (x,), more = operands, equation.primitive.name == "log1p"
    at_least_one = more and x.nonnegative and x.facts is not None and x.facts.defined is not Defined.PARTLY
    positive = x.facts is not None and bool(x.facts.positive.all()) or at_least_one
    if "inverse functions" not in functions.laws or x.facts is None or x.facts.guarded:
        return result
    if not positive and x.facts.nature is Nature.PIECEWISE:
        return result
    of = functions.add(functions.constant(1, x.shape), x) if more else x.but(logged=None)
    return result if vanishes(of.residues).any() else result.but(logged=Logged(None, ((of.alone(), Fraction(1)),)))


def _power_of(functions: FieldFunctions, x: Number, q: Fraction) -> Number | None:
    """exp(qx) of a sum of logarithms, where only whole powers are in it; None where they are known to be of factors."""
    known = x.logged
    if known is None or "inverse functions" not in functions.laws:
        return None
    if x.logarithms is not None or "exponential of a logarithm" not in functions.laws:
        return None
    powers = [(u, p * q) for u, p in known.logs]
    if any(p.denominator > 1 or not LOWEST_POWER <= p <= HIGHEST_POWER for _, p in powers):
        return None
    value = functions.constant(1, x.shape)
    if known.rest is not None:
        value = functions.exponential(functions.multiply(known.rest, functions.constant(q, x.shape)))
    for u, p in powers:
        value = functions.multiply(value, functions.power(u, int(p)))
    return value


def _exp(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    found = _power_of(functions, operands[0], Fraction(1))
    return result if found is None else found.but(nonnegative=True)


def _expm1(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    found = _power_of(functions, operands[0], Fraction(1))
    return result if found is None else functions.subtract(found, functions.constant(1, result.shape))


def _may_be_added_to(x: Number) -> bool:
    """Whether exp(x) plus a positive number, if it is not 0 as a function, is 0 on a null set only.

    It is if x is defined for almost all inputs, or exp(x) analytic.  But the logarithms of x - 1 and of 1/(1 + |x|)
    have the sum log(-1) for x < 0.
    """
    if x.facts is not None and x.facts.defined is not Defined.PARTLY:
        return True
    known = x.logged
    if known is None or known.rest is not None and not _is_entire(known.rest):
        return False
    return all(u.facts is not None and u.facts.nature is not Nature.PIECEWISE for u, _ in known.logs)


def _sigmoid(steepness: int) -> Rule:
    """1/(1 + exp(-x)) for steepness 1, and tanh x = 2/(1 + exp(-2x)) - 1 for 2."""

    def rule(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
        power = _power_of(functions, operands[0], Fraction(-steepness))
        if power is None or "exponential form" not in functions.laws:
            return result
        one = functions.constant(1, result.shape)
        total = functions.add(one, power)
        if vanishes(total.residues).any() or not _may_be_added_to(operands[0]):
            return result
        found = functions.inverse(total)
        if steepness == 1:
            return found.but(nonnegative=True)
        return functions.subtract(functions.multiply(functions.constant(2, result.shape), found), one)

    return rule


def _hyperbolic(sign: int) -> Rule:
    """(exp(x) ± exp(-x))/2."""

    def rule(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
        forward, backward = (_power_of(functions, operands[0], Fraction(q)) for q in (1, -1))
        if forward is None or backward is None or "exponential form" not in functions.laws:
            return result
        total = (functions.add if sign > 0 else functions.subtract)(forward, backward)
        return functions.multiply(functions.constant(Fraction(1, 2), result.shape), total)

    return rule


# --- sums and multiples -----------------------------------------------------------------------------------------------


def _added(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """The angles, and the logarithms, of both terms."""
    sign = -1 if equation.primitive.name == "sub" else 1
    x, y = operands
    add = functions.subtract if sign < 0 else functions.add
    if x.turn is not None or y.turn is not None:
        a, b = (Turn(z.but(turn=None).alone(), ()) if z.turn is None else z.turn for z in operands)
        rest = _sum_of_rests(functions, add, a.rest, b.rest)
        angles = (*a.angles, *((name, of, sign * n) for name, of, n in b.angles))
        result = result.but(turn=Turn(rest, angles) if len(angles) <= MOST_PARTS else None)
    if x.logged is not None or y.logged is not None:
        c, d = (Logged(z.but(logged=None).alone(), ()) if z.logged is None else z.logged for z in operands)
        rest = _sum_of_rests(functions, add, c.rest, d.rest)
        functions.draw.compared(len(c.logs) + len(d.logs))
        logs = _merged((*c.logs, *((u, sign * q) for u, q in d.logs)))
        result = result.but(logged=Logged(rest, logs) if len(logs) <= MOST_PARTS else None)
    return result


def _sum_of_rests(
    functions: FieldFunctions, add: Callable[[Number, Number], Number], x: Number | None, y: Number | None
) -> Number | None:
    if y is None:
        return x
    return add(functions.constant(0, y.shape) if x is None else x, y)


def _merged(logs: Sequence[tuple[Number, Fraction]]) -> tuple[tuple[Number, Fraction], ...]:
    """Logarithms of the same numbers together."""
    found: list[tuple[Number, Fraction]] = []
    for u, q in logs:
        place = next((i for i, (v, _) in enumerate(found) if same(u.residues, v.residues)), None)
        if place is None:
            found.append((u, q))
        else:
            found[place] = (found[place][0], found[place][1] + q)
    return tuple(found)


def _is_scaled(x: Number) -> bool:
    """Whether anything is known of a number that is known of its rational multiples too."""
    return x.logged is not None or x.turn is not None or x.cube_of is not None


def _scaled(functions: FieldFunctions, x: Number, q: Fraction, result: Number) -> Number:
    """The angles and logarithms of a rational multiple of x, given as `result`, and its root of degree 3."""
    times = lambda rest: None if rest is None else functions.multiply(rest, functions.constant(q, rest.shape))
    if x.logged is not None and q:
        logs = tuple((u, p * q) for u, p in x.logged.logs)
        result = result.but(logged=Logged(times(x.logged.rest), logs))
    if x.turn is not None and q and q.denominator == 1 and abs(q) <= HIGHEST_POWER:
        angles = tuple((name, of, int(n * q)) for name, of, n in x.turn.angles)
        result = result.but(turn=Turn(times(x.turn.rest), angles))
    root = None if x.cube_of is None or not q else _rational_root(abs(q))
    if root is not None and x.cube_of is not None and root**3 == abs(q):
        result = result.but(
            cube_of=functions.multiply(x.cube_of, functions.constant(root if q > 0 else -root, x.shape))
        )
    return result


def _negated(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    (x,) = operands
    result = _scaled(functions, x, Fraction(-1), result)
    if x.cubic is not None:
        result = result.but(cubic=x.cubic.scaled(functions.draw, functions.draw.fraction(-1, x.shape)))
    return result if x.signless is None else result.but(signless=x.signless)


def _multiplied(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """Rational multiples of angles and logarithms; magnitudes without their signs; products of roots of degree 3."""
    x, y = operands
    for a, b in ((x, y), (y, x)):
        q = rational(functions.draw, b) if _is_scaled(a) else None
        if q is not None:
            result = _scaled(functions, a, q, result)
    if x.square_of is not None and same(x.square_of.residues, y.residues):
        result = result.but(cube_of=y.alone())
    elif y.square_of is not None and same(y.square_of.residues, x.residues):
        result = result.but(cube_of=x.alone())
    if x.cubic is not None or y.cubic is not None:
        return _product_of_cubics(functions, x, y, result)
    return _without_signs(functions.multiply, x, y, result)


def _divided(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    x, y = operands
    q = rational(functions.draw, y) if _is_scaled(x) else None
    if q:
        result = _scaled(functions, x, 1 / q, result)
    if (x.cubic is not None or y.cubic is not None) and not vanishes(y.residues).any():
        return _product_of_cubics(functions, x, _over(functions, y), result)
    return _without_signs(functions.divide, x, y, result)


def _without_signs(combine: Callable[[Number, Number], Number], x: Number, y: Number, result: Number) -> Number:
    """A product or quotient, known up to its sign, of numbers that are."""
    if x.signless is None and y.signless is None:
        return result
    if x.signless is not None and same(x.residues, y.residues):
        return combine(x.signless, x.signless)
    return result.but(signless=combine(x.signless or x, y.signless or y).alone())


def _multiple(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """The sign of a product or quotient of a positive number is that of the other one."""
    x, y = operands
    if result.nonnegative:
        return result
    if is_positive(y):
        return result.but(direction=(x.direction or x).alone())
    return result.but(direction=(y.direction or y).alone()) if is_positive(x) else result


def _increasing(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """The sign of an increasing function that is 0 at 0 is that of its operand."""
    (x,) = operands
    return result if result.nonnegative else result.but(direction=(x.direction or x).alone())


def _odd_function(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """f(±x) = ±f(x) for an odd f: the value for the number without its sign."""
    y = operands[0].signless
    if y is None or "even and odd functions" not in functions.laws:
        return result
    return result.but(signless=_value(functions, equation.primitive.name, y).alone())


def _value(functions: FieldFunctions, name: str, x: Number) -> Number:
    """An odd function of a number, as its rule has it."""
    f, one, two = functions, functions.constant(1, x.shape), functions.constant(2, x.shape)
    if "exponential form" in f.laws and name == "sin":
        return f.circular(x)[1]
    if "exponential form" in f.laws and name == "sinh":
        return f.multiply(f.constant(Fraction(1, 2), x.shape), f.subtract(f.exponential(x), f.exponential(f.negate(x))))
    if "exponential form" in f.laws and name == "tanh":
        power = f.exponential(f.negate(f.multiply(two, x)))
        return f.subtract(f.multiply(two, f.inverse(f.add(one, power))), one)
    return Number(f.odd(name, x.residues))


# --- square roots -----------------------------------------------------------------------------------------------------


def _root_met(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """Of a multiple of roots that is not negative, the one that was met first among those of the same square.

    That is no √x √y, which are not defined for x, y < 0, where √(xy) is.
    """
    size = math.prod(result.shape)
    known = [q for q in (result.quadratic, *(x.quadratic for x in operands)) if q is not None]
    if any(q.constant is not None for q in known) or all(q.letter.square is None for q in known):
        return result
    if "roots met before" not in functions.laws or not result.nonnegative or not 0 < size <= REMEMBERED:
        return result
    if not _is_defined(result, Defined.PARTLY) or vanishes(operands[-1].residues).any():
        return result
    first, *others = [operands[0].residues] if equation.primitive.name == "sqrt" else map(_square(functions), operands)
    for other in others:
        other = functions.draw.inverse(other) if equation.primitive.name == "div" else other
        first = functions.draw.multiply(first, other)
    functions.draw.compared(size)
    square = result.shape, b"".join(columns_of(first))
    if square in functions.roots:
        found = functions.roots[square]
        return found.but(product=result.product or found.product)
    if _is_defined(operands[0] if equation.primitive.name == "sqrt" else result, Defined.ALMOST):
        functions.roots[square] = result
    return result


def _square(functions: FieldFunctions) -> Callable[[Number], Residues]:
    """x², and (bℓ)² = b²ℓ², for a sign b²."""

    def square(x: Number) -> Residues:
        q, draw = x.quadratic, functions.draw
        if q is None:
            return draw.power(x.residues, 2)
        square = draw.power(q.coefficient, 2)
        return square if q.letter.square is None else draw.multiply(square, q.letter.square)

    return square


# --- roots of degree 3 ------------------------------------------------------------------------------------------------


def cube_root(functions: FieldFunctions, x: Number) -> Number:
    """∛x for any real x: y for x = y³, else a∛(x/a³) with a letter, for a rational a > 0."""
    draw, laws = functions.draw, functions.laws
    if "roots of degree 3" not in laws:
        return Number(functions.odd("cbrt", x.residues))
    if x.cube_of is not None:
        return x.cube_of
    if x.square_of is not None and not vanishes(x.residues).any():
        root = cube_root(functions, x.square_of)
        square = functions.multiply(root, root)
        return square if root.cubic is None else _product_of_cubics(functions, root, root, square)
    a = _rational_root(functions.canonical_scale(x.residues, x.scale))
    cube = draw.scale(x.residues, 1 / a**3)
    letter = functions.odd("cbrt", cube)
    number = Number(draw.scale(letter, a), nonnegative=x.nonnegative)
    if vanishes(x.residues).any():
        return number
    return number.but(cubic=Cubic(draw.fraction(a, x.shape), letter, cube, 1))


def _rational_root(s: Fraction) -> Fraction:
    """The root of degree 3 of a rational number, or 1 if it has none."""
    parts = [round(n ** (1 / 3)) for n in s.as_integer_ratio()]
    root = Fraction(*parts) if all(parts) else Fraction(1)
    return root if root**3 == s else Fraction(1)


def _root_of_positive(
    functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number
) -> Number:
    """∛x = x^(1/3) by the factors of a positive x."""
    (x,) = operands
    known = factors_of(functions, x) if "powers of a product" in functions.laws and is_positive(x) else None
    return result if known is None else value_of(functions, raised(functions, known, Fraction(1, 3)), x.shape)


def _over(functions: FieldFunctions, x: Number) -> Number:
    """1/x; 1/(cρ^k) = ρ^(3-k)/(cρ³)."""
    inverse, draw = functions.inverse(x), functions.draw
    if x.cubic is None:
        return inverse
    c = draw.inverse(draw.multiply(x.cubic.coefficient, x.cubic.cube))
    return _from_cubic(functions, c, x.cubic, 3 - x.cubic.power)


def _from_cubic(functions: FieldFunctions, coefficient: Residues, like: Cubic, power: int) -> Number:
    """coefficient·ρ^power for 0 ≤ power < 6, with ρ³ known."""
    draw = functions.draw
    if power >= 3:
        coefficient, power = draw.multiply(coefficient, like.cube), power - 3
    if not power:
        return Number(coefficient)
    value = draw.multiply(coefficient, draw.power(like.letter, power))
    return Number(value, cubic=Cubic(coefficient, like.letter, like.cube, power))


def _product_of_cubics(functions: FieldFunctions, x: Number, y: Number, result: Number) -> Number:
    """cρ^j·dρ^k = cdρ^(j+k), and a product with a number without ρ."""
    if "roots of degree 3" not in functions.laws:
        return result
    draw, (a, b) = functions.draw, (x.cubic, y.cubic)
    if a is not None and b is not None:
        if not same(a.letter, b.letter):
            return result
        coefficient = draw.multiply(a.coefficient, b.coefficient)
        return _from_cubic(functions, coefficient, a, a.power + b.power).but(nonnegative=result.nonnegative)
    known, other = (a, y) if a is not None else (b, x)
    assert known is not None
    coefficient = draw.multiply(known.coefficient, other.residues)
    return _from_cubic(functions, coefficient, known, known.power).but(nonnegative=result.nonnegative)


def _whole_power(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """x^n of a multiple of a root of degree 3; and a third power is known as one."""
    (x,), n = operands, equation.params.get("y", 2)
    if n > 0 and n % 3 == 0:
        result = result.but(cube_of=functions.power(x, n // 3).alone())
    if x.cubic is None or "roots of degree 3" not in functions.laws or not n or vanishes(x.residues).any():
        return result
    factor = x if n > 0 else _over(functions, x)
    product = lambda a, b: _product_of_cubics(functions, a, b, functions.multiply(a, b))
    return functools.reduce(product, [factor] * abs(n)).but(nonnegative=result.nonnegative)


def _magnitude(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """|x| is x up to its sign."""
    (x,) = operands
    if x.nonnegative or "even and odd functions" not in functions.laws:
        return result
    return result.but(signless=x.alone())


def _root(functions: FieldFunctions, equation: JaxprEqn, operands: Sequence[Number], result: Number) -> Number:
    """√(x²) is x up to its sign."""
    y = operands[0].square_of
    if y is None or y.nonnegative or not {"even and odd functions", "root of a square"} <= functions.laws:
        return result
    return result.but(signless=y)


RULES: dict[str, tuple[Rule, ...]] = {
    "abs": (_magnitude,),
    "acos": (_angle, _undone),
    "acosh": (_undone,),
    "add": (_added,),
    "add_any": (_added,),
    "asin": (_odd_function, _angle, _undone),
    "asinh": (_increasing, _odd_function, _undone),
    "atan": (_increasing, _odd_function, _angle, _undone),
    "atan2": (_angle,),
    "atanh": (_odd_function, _undone),
    "bessel_i1e": (_odd_function,),
    "cbrt": (_increasing, _odd_function, _root_of_positive),
    "cos": (_circular("cos"),),
    "cosh": (_hyperbolic(1), _undone),
    "div": (_multiple, _divided, _root_met),
    "erf": (_increasing, _odd_function, _undone),
    "erf_inv": (_odd_function, _undone),
    "exp": (_exp,),
    "expm1": (_increasing, _expm1),
    "integer_pow": (_whole_power,),
    "log": (_log,),
    "log1p": (_log,),
    "logistic": (_sigmoid(1),),
    "mul": (_multiple, _multiplied, _root_met),
    "neg": (_negated,),
    "sin": (_odd_function, _circular("sin")),
    "sinh": (_increasing, _odd_function, _hyperbolic(-1), _undone),
    "sqrt": (_root, _root_met),
    "square": (_whole_power,),
    "sub": (_added,),
    "tan": (_odd_function, _circular("tan")),
    "tanh": (_increasing, _odd_function, _sigmoid(2), _undone),
}
"""From a primitive's name to what it makes of inverse functions."""
