"""Numbers that are ±∞ or NaN on purpose for some inputs: a log-density outside its support, a score behind a mask.

    x = f where q = 0,   ±∞ or NaN where q = 1,   with f = 0 where q = 1

q is a number that is 0 or 1 for every input.  Two such numbers are equal if their q and their f are, and they are
infinite in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jax.extend.core import JaxprEqn

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.structure import STRUCTURAL
from uat_jax.interpret.tracing import is_number, source_line
from uat_jax.numbers.prime_fields.formula import DECIDED
from uat_jax.numbers.prime_fields.number import FINITE, INFINITY, MINUS_INFINITY, UNDEFINED, Infinite, Number, rational

if TYPE_CHECKING:
    from uat_jax.numbers.prime_fields.fields import Fields, Value

INSTEAD = "select a large finite number instead, or give the inputs a domain (uj.interval) on which it is not chosen"
"""What to do where an infinity that is chosen by the input cannot be followed."""

Rule = Callable[..., Any]
"""rule(fields, equation, *operands) for operands of which at least one is infinite for some inputs."""

OF_ROWS = frozenset(["reduce_max", "reduce_min"])
"""Extremes of rows, which are taken to be subtracted where rows are masked."""

OPPOSITE = {MINUS_INFINITY: INFINITY, INFINITY: MINUS_INFINITY, UNDEFINED: UNDEFINED}


def is_chosen(operand: Value) -> bool:
    """Whether an operand is infinite, or NaN, for some inputs and not for others."""
    return isinstance(operand, Number) and operand.infinite is not None


def followed(fields: Fields, equation: JaxprEqn, operands: Sequence[Any]) -> list[Value]:
    """The results of an equation of which an operand is infinite at places that the input chooses.

    Raises:
        UnsupportedError: the primitive has no rule for such operands.
    """
    name = equation.primitive.name
    if name in STRUCTURAL:
        return fields.rearrange(equation, operands)
    if name not in RULES:
        named = f"'{name}'{source_line(equation)}"
        what = "compare without the maximum that is subtracted, or mask by position" if name in OF_ROWS else INSTEAD
        raise UnsupportedError(f"{named} takes an infinity or NaN that depends on the input; {what}")
    return [RULES[name](fields, equation, *operands)]


def separated(fields: Fields, x: Number) -> tuple[Number, Infinite | None]:
    """The finite part of a number (0 where it is infinite), and where it is infinite.

    Raises:
        UnsupportedError: it is undefined, or infinite in several ways.
    """
    if x.infinite is not None:
        return x.but(infinite=None), x.infinite
    if x.special is None:
        return x, None
    codes = set(np.unique(x.special).tolist()) - {FINITE}
    written = x.known is not None and bool(np.all(np.isnan(x.known[x.special == UNDEFINED])))
    if len(codes) != 1 or codes == {UNDEFINED} and not written:
        raise UnsupportedError(
            f"a number that is undefined, or infinite in several ways, is chosen by the input; {INSTEAD}"
        )
    here = x.special != FINITE
    finite = Number(fields.draw.where(here, fields.draw.fraction(0), x.residues), nonnegative=x.nonnegative)
    return finite, Infinite(fields.number(here.astype(np.float64)), codes.pop())


def joined(fields: Fields, finite: Number, *parts: tuple[Number, Infinite | None]) -> Number:
    """The number `finite`, made infinite where the input chooses: where factor·q = 1 for one of `parts`.

    Each part is a factor and the infinity of a number, whose q is 1 where that number is infinite; None if it never is.
    The products factor·q must be 0 or 1, and at most one of them 1.
    """
    f, present = fields.functions, [(factor, infinite) for factor, infinite in parts if infinite is not None]
    if not present:
        return finite
    if len({infinite.code for _, infinite in present}) > 1:
        raise UnsupportedError(f"infinities of different signs are chosen by the input; {INSTEAD}")
    if len(present) == 1 and _is_everywhere(present[0][1]) and present[0][0].shape == finite.shape:
        return finite.but(infinite=Infinite(present[0][0].but(nonnegative=True), present[0][1].code), nonnegative=False)
    where = f.constant(0, finite.shape)
    for factor, infinite in present:
        where = f.add(where, f.multiply(factor, f.spread(infinite.where, finite.shape)))
    code = present[0][1].code
    return finite.but(infinite=Infinite(where.but(nonnegative=True), code), nonnegative=False)


def _is_everywhere(infinite: Infinite) -> bool:
    """Whether a number is infinite at every place, for all inputs."""
    return infinite.where.known is not None and bool(np.all(infinite.where.known == 1))


def finite_part(fields: Fields, x: Number, infinite: Infinite | None) -> Number:
    """(1 - q)·f: the number where it is finite, and 0 where it is not."""
    if infinite is None:
        return x
    f = fields.functions
    return f.multiply(f.subtract(f.constant(1, x.shape), f.spread(infinite.where, x.shape)), x)


def _sum(fields: Fields, equation: JaxprEqn, x: Value, y: Value) -> Number:
    """Infinite where either is; both in the same way."""
    f = fields.functions
    x, y = f.aligned(fields.lift(x), fields.lift(y))
    (a, p), (b, q) = separated(fields, x), separated(fields, y)
    total = f.add(a, b)
    for infinite in (p, q):
        total = finite_part(fields, total, infinite)
    one = f.constant(1, total.shape)
    rest = one if p is None else f.subtract(one, p.where)
    return joined(fields, total, (one, p), (rest, q))


def _negated(fields: Fields, equation: JaxprEqn, x: Number) -> Number:
    finite, infinite = separated(fields, x)
    assert infinite is not None
    return fields.functions.negate(finite).but(infinite=Infinite(infinite.where, OPPOSITE[infinite.code]))


def _difference(fields: Fields, equation: JaxprEqn, x: Value, y: Any) -> Number:
    negative = _negated(fields, equation, y) if is_chosen(y) else fields.functions.negate(fields.lift(y))
    return _sum(fields, equation, x, negative)


def _multiple(fields: Fields, equation: JaxprEqn, x: Any, y: Any) -> Number:
    """A product with a constant that is not 0."""
    constant, other = (x, y) if is_chosen(y) else (y, x)
    factor = None if is_chosen(constant) else rational(fields.draw, fields.lift(constant))
    if not factor:
        raise UnsupportedError(
            f"'mul'{source_line(equation)} multiplies an infinity that depends on the input; {INSTEAD}"
        )
    finite, infinite = separated(fields, other)
    assert infinite is not None
    code = infinite.code if factor > 0 else OPPOSITE[infinite.code]
    product = fields.functions.multiply(fields.lift(constant), finite)
    return product.but(infinite=Infinite(fields.functions.spread(infinite.where, product.shape), code))


def _quotient(fields: Fields, equation: JaxprEqn, x: Any, y: Value) -> Number:
    """A quotient by a constant that is not 0."""
    factor = None if is_chosen(y) else rational(fields.draw, fields.lift(y))
    if not factor:
        raise UnsupportedError(
            f"'div'{source_line(equation)} takes an infinity or NaN that depends on the input; {INSTEAD}"
        )
    finite, infinite = separated(fields, x)
    assert infinite is not None
    code = infinite.code if factor > 0 else OPPOSITE[infinite.code]
    quotient = fields.functions.divide(finite, fields.lift(y))
    return quotient.but(infinite=Infinite(fields.functions.spread(infinite.where, quotient.shape), code))


def _exponential(fields: Fields, equation: JaxprEqn, x: Number) -> Number:
    """Exp(-∞) = 0."""
    finite, infinite = separated(fields, x)
    assert infinite is not None
    value = finite_part(fields, fields.functions.exponential(finite), infinite)
    if infinite.code == MINUS_INFINITY:
        return value.but(nonnegative=True)
    return value.but(infinite=infinite)


def _total(fields: Fields, equation: JaxprEqn, x: Number) -> Number:
    """Infinite where any term is."""
    f, axes = fields.functions, tuple(equation.params["axes"])
    finite, infinite = separated(fields, x)
    assert infinite is not None
    if 0 in (x.shape[axis] for axis in axes):  # no term, so none is infinite
        return f.sum(finite, axes)
    rest = f.subtract(f.constant(1, x.shape), infinite.where)
    for axis in sorted(axes, reverse=True):
        entries = [rest.moved(lambda a, i=i, axis=axis: np.take(a, i, axis + 1)) for i in range(rest.shape[axis])]
        rest = entries[0]
        for entry in entries[1:]:
            rest = f.multiply(rest, entry)
    where = f.subtract(f.constant(1, rest.shape), rest)
    total = f.multiply(rest, f.sum(finite, axes))
    return total.but(infinite=Infinite(where.but(nonnegative=True), infinite.code), nonnegative=False)


def _cast(fields: Fields, equation: JaxprEqn, x: Number) -> Number:
    if not is_number(equation.outvars[0]):
        raise UnsupportedError(
            f"a cast{source_line(equation)} takes an infinity or NaN that depends on the input; {INSTEAD}"
        )
    return x


def _is_finite(fields: Fields, equation: JaxprEqn, x: Number) -> Number:
    """1 − q, where q is 1 at the infinite entries of x; all other entries must be defined for all inputs."""
    finite, infinite = separated(fields, x)
    assert infinite is not None
    if not fields.certain(finite):
        raise UnsupportedError(f"'is_finite'{source_line(equation)} looks at a number that may be NaN; {INSTEAD}")
    f = fields.functions
    return f.subtract(f.constant(1, x.shape), infinite.where).but(nonnegative=True)


def _magnitude(fields: Fields, equation: JaxprEqn, x: Number) -> Number:
    """|±∞| = ∞, |NaN| = NaN."""
    finite, infinite = separated(fields, x)
    assert infinite is not None
    code = UNDEFINED if infinite.code == UNDEFINED else INFINITY
    return fields.functions.absolute(finite).but(infinite=Infinite(infinite.where, code))


def told_apart(fields: Fields, equation: JaxprEqn, operands: Sequence[Any]) -> Value | None:
    """What a comparison says of a number that is infinite or NaN by choice, if it says one thing of all real numbers.

    Such as isnan(where(p, NaN, x)) or isinf(where(p, x, ∞)): the choice itself with what is known of it, or a constant.
    """
    if equation.primitive.name not in DECIDED or len(operands) != 2 or not any(map(is_chosen, operands)):
        return None
    x, (where, numbers, chosen) = operands[0], _compared(fields, equation, *operands)
    if not isinstance(numbers, bool):
        return None
    if numbers == chosen:
        return np.full(x.shape, chosen)
    return where if chosen and where.expression is not None and where.shape == x.shape else None


def _compared(fields: Fields, equation: JaxprEqn, x: Value, y: Value) -> tuple[Number, bool | None, bool]:
    """Where one of two numbers is infinite by choice, and what a comparison says where it is not, and where it is.

    Of real numbers that may be in any order it says nothing (None).
    """
    name = equation.primitive.name
    itself = equation.invars[0] is equation.invars[1] or _is_same_place(x, y)
    (a, p), (b, q) = separated(fields, fields.lift(x)), separated(fields, fields.lift(y))
    if not fields.certain(*(z for z, i in ((a, p), (b, q)) if i is None or not _is_everywhere(i))):
        raise UnsupportedError(f"'{name}'{source_line(equation)} looks at a number that may be NaN; {INSTEAD}")
    decided = lambda one, other: (
        name == "ne" if UNDEFINED in (one, other) else bool(DECIDED[name](int(np.sign(SIZES[one] - SIZES[other]))))
    )
    if itself:
        assert p is not None
        return p.where, bool(DECIDED[name](0)), decided(p.code, p.code)
    if p is not None and q is not None:
        if is_chosen(x) and is_chosen(y):
            raise UnsupportedError(f"'{name}'{source_line(equation)} compares two infinities of choice; {INSTEAD}")
        return (
            (p if is_chosen(x) else q).where,
            decided(*((FINITE, q.code) if is_chosen(x) else (p.code, FINITE))),
            decided(p.code, q.code),
        )
    if p is not None:
        return p.where, None, decided(p.code, FINITE)
    assert q is not None
    return q.where, None, decided(FINITE, q.code)


def _comparison(fields: Fields, equation: JaxprEqn, x: Value, y: Value) -> Number:
    """What is compared where neither is infinite, else what the codes of both say; no condition follows from it."""
    f = fields.functions
    where, numbers, chosen = _compared(fields, equation, x, y)
    fields.expressions.doubtful.add(fields.own_place(equation))
    x, y = f.aligned(fields.lift(x), fields.lift(y))
    found = (
        _of_numbers(f, equation.primitive.name, separated(fields, x)[0], separated(fields, y)[0])
        if numbers is None
        else f.constant(int(numbers), x.shape)
    )
    where = f.spread(where, x.shape)
    rest = f.multiply(f.subtract(f.constant(1, x.shape), where), found)
    return f.add(rest, f.multiply(f.constant(int(chosen)), where)).but(nonnegative=True)


def _is_same_place(x: Value, y: Value) -> bool:
    """Whether two numbers are one expression."""
    return isinstance(x, Number) and isinstance(y, Number) and x.expression is not None and x.expression == y.expression


def _of_numbers(f: Any, name: str, a: Number, b: Number) -> Number:
    """A comparison of real numbers, ties included, as 1 or 0."""
    above, below = (lambda: f.step(f.subtract(a, b))), (lambda: f.step(f.subtract(b, a)))
    opposite = lambda x: f.subtract(f.constant(1, x.shape), x)
    match name:
        case "gt":
            return above()
        case "lt":
            return below()
        case "ge":
            return opposite(below())
        case "le":
            return opposite(above())
        case "eq":
            return f.equality(f.subtract(a, b))
    return opposite(f.equality(f.subtract(a, b)))


def _extreme(way: int) -> Rule:
    """A maximum (way 1) or minimum (way -1): NaN where either is, else by the size of infinities."""

    def rule(fields: Fields, equation: JaxprEqn, x: Value, y: Value) -> Number:
        f = fields.functions
        x, y = f.aligned(fields.lift(x), fields.lift(y))
        x, y = (x, y) if is_chosen(x) else (y, x)
        (a, p), (b, q) = separated(fields, x), separated(fields, y)
        if q is not None or not fields.certain(a, b):
            named = f"'{equation.primitive.name}'{source_line(equation)}"
            raise UnsupportedError(f"{named} takes two infinities, or what may be NaN; {INSTEAD}")
        assert p is not None
        found = f.maximum(a, b) if way > 0 else f.negate(f.maximum(f.negate(a), f.negate(b)))
        found = finite_part(fields, found, p)
        if p.code == UNDEFINED or (p.code == INFINITY) == (way > 0):
            return found.but(infinite=p, nonnegative=False)
        return f.add(found, f.multiply(f.spread(p.where, found.shape), b))

    return rule


SIZES = {MINUS_INFINITY: -1.0, FINITE: 0.0, INFINITY: 1.0}
"""The order of infinities and all real numbers."""

RULES: dict[str, Rule] = {
    **dict.fromkeys(DECIDED.keys() - {"sign"}, _comparison),
    "abs": _magnitude,
    "add": _sum,
    "add_any": _sum,
    "convert_element_type": _cast,
    "div": _quotient,
    "exp": _exponential,
    "is_finite": _is_finite,
    "max": _extreme(1),
    "min": _extreme(-1),
    "mul": _multiple,
    "neg": _negated,
    "reduce_sum": _total,
    "sub": _difference,
}
"""What is followed; anything else that takes such a number is refused."""
