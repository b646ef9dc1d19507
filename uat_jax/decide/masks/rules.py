"""What becomes of an equation of which an operand may be infinite behind a mask, or undefined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.extend.core import JaxprEqn

from uat_jax.decide.masks.signs import ANY, NOT_NEGATIVE, POSITIVE
from uat_jax.decide.masks.truths import Known, Truth, rows_of
from uat_jax.decide.masks.values import (
    COMPARISONS,
    OF_ZEROS,
    PLACES,
    Rewriting,
    Value,
    is_zero,
    must_be_finite,
    refused,
    unmarked,
)
from uat_jax.interpret.retracing import bound
from uat_jax.interpret.structure import STRUCTURAL
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of
from uat_jax.typing import Array


def applied(r: Rewriting, equation: JaxprEqn, operands: list[Value]) -> list[Value]:
    """The results of an equation."""
    name = equation.primitive.name
    zeros = name in OF_ZEROS and operands[0].positive_elsewhere
    if all(x.is_plain for x in operands) and not zeros:
        return r.plain(equation, operands)
    r.rewritten = True
    if name in STRUCTURAL and name != "select_n":
        return r.moved_values(equation, operands)
    if name in RULES:
        return [RULES[name](r, equation, *operands)]
    whole = name == "integer_pow" and equation.params["y"] > 0
    if any(x.infinite is not None for x in operands) or not whole and name not in KEEPS_NAN:
        raise refused(equation)
    return [r.entrywise(equation, operands)]


def _sum(r: Rewriting, equation: JaxprEqn, x: Value, y: Value) -> Value:
    """∞ + a = ∞, ∞ - ∞ is undefined."""
    if x.infinite is None and y.infinite is None:
        return r.entrywise(equation, (x, y))
    (array,) = bound(equation, [x.array, y.array], equation.params)
    shape = np.shape(array)
    marks = r.marks((x, y), lambda t: r.spread(t, shape))
    p, q = (r.spread(v.infinite, shape) for v in (x, y))
    for of, other in ((p, y), (q, x)):
        if of is not None and not other.finite:
            raise refused(equation)
    above = [x.above, y.above != (equation.primitive.name == "sub")]
    if p is None or q is None:
        return Value(array, p or q, above[q is not None], finite=x.finite and y.finite, **marks)
    if above[0] == above[1]:
        return Value(array, r.either(p, q), above[0], finite=x.finite and y.finite, **marks)
    clash = r.both(p, q)
    inside = _inside(clash, p, q)  # elsewhere one of them alone is infinite
    if inside is None:
        raise refused(equation)
    marks["undefined"] = r.either(marks["undefined"], clash)
    return Value(array, (p, q)[1 - inside], above[1 - inside], finite=x.finite and y.finite, **marks)


def _inside(clash: Truth | None, p: Truth, q: Truth) -> int | None:
    """Which of two truth values holds only where the other one does, 0 or 1; None if that is not seen."""
    for k, one in enumerate((p, q)):
        other = (p, q)[1 - k]
        if clash is one or one.known is not None and other.known is not None and one.known.implies(other.known):
            return k
        if one.constant is not None and other.constant is not None and np.all(~one.constant | other.constant):
            return k
    return None


def _negated(r: Rewriting, equation: JaxprEqn, x: Value) -> Value:
    (array,) = bound(equation, [x.array], equation.params)
    return replace(x, array=array, above=not x.above, sign=ANY, positive_elsewhere=False, cast_of=None)


def _multiple(r: Rewriting, equation: JaxprEqn, x: Value, y: Value) -> Value:
    """A multiple of an infinity by a number of known sign; what is undefined stays so."""
    if x.infinite is None and y.infinite is None:
        return r.entrywise(equation, (x, y))
    (array,) = bound(equation, [x.array, y.array], equation.params)
    marks = r.marks((x, y), lambda t: r.spread(t, np.shape(array)))
    infinite, factor = (x, y) if y.infinite is None else (y, x)
    if equation.primitive.name == "div" and infinite is y:
        raise refused(equation)
    number = Truth(factor.array).constant
    negative = number is not None and bool(np.all(number < 0))
    if factor.infinite is not None or not factor.finite or not (negative or factor.sign == POSITIVE):
        raise refused(equation)
    where = r.spread(infinite.infinite, np.shape(array))
    return Value(array, where, infinite.above != negative, finite=x.finite and y.finite, **marks)


def _exponential(r: Rewriting, equation: JaxprEqn, x: Value) -> Value:
    """e^(-∞) = 0."""
    return _with_limit(r, equation, x, 0.0 if not x.above else None)


def _logistic(r: Rewriting, equation: JaxprEqn, x: Value) -> Value:
    """1/(1 + e^(-x)) is 0 at -∞ and 1 at ∞."""
    return _with_limit(r, equation, x, float(x.above))


def _tanh(r: Rewriting, equation: JaxprEqn, x: Value) -> Value:
    """It is -1 at -∞ and 1 at ∞."""
    return _with_limit(r, equation, x, 1.0 if x.above else -1.0)


def _with_limit(r: Rewriting, equation: JaxprEqn, x: Value, limit: float | None) -> Value:
    """A function that is defined for all numbers, with its limit where its operand is infinite; None: an infinity."""
    (plain,) = r.plain(equation, [unmarked(x)])
    marks = {"undefined": x.undefined, "ignored": x.ignored}
    if x.infinite is None or limit is None:
        return replace(plain, infinite=x.infinite, above=x.above, **marks)
    limits = np.full(np.shape(plain.array), limit, plain.array.dtype)
    sign = min(plain.sign, NOT_NEGATIVE) if limit >= 0 else ANY
    where, zero = x.infinite, x.infinite if limit == 0 else None
    if x.undefined is not None and x.undefined.constant is not None and where.constant is not None:
        where = Truth(where.constant & ~x.undefined.constant)  # no 0/0 in rows of which nothing is said
    array = r.select(where, plain.array, limits)
    positive = zero is not None and plain.sign == POSITIVE
    return replace(plain, array=array, sign=sign, zero=zero, positive_elsewhere=positive, **marks)


def _largest(r: Rewriting, equation: JaxprEqn, x: Value) -> Value:
    """The largest of a row in which -∞ may stand, which is -∞ if nothing else does; or the smallest, and ∞."""
    name = equation.primitive.name
    axes = tuple(equation.params["axes"])
    marks = r.marks((x,), lambda t: r.along(t, equation, False))
    if x.infinite is None:
        return replace(r.plain(equation, [unmarked(x)])[0], **marks)
    if x.above != (name == "reduce_min") or not all(np.shape(x.array)[axis] for axis in axes):
        raise refused(equation)
    must_be_finite(equation, x)
    least = (lax.reduce_max if x.above else lax.reduce_min)(x.array, axes)
    kept = [a for a in range(np.ndim(x.array)) if a not in axes]
    spread = lax.broadcast_in_dim(least, np.shape(x.array), kept)
    (array,) = bound(equation, [r.select(x.infinite, x.array, spread)], equation.params)
    return Value(array, r.along(x.infinite, equation, True), x.above, finite=True, sign=x.sign, **marks)


def _larger(r: Rewriting, equation: JaxprEqn, x: Value, y: Value) -> Value:
    """The larger of two numbers of which one may be -∞; or the smaller, and ∞."""
    upper = equation.primitive.name == "min"
    if x.infinite is None and y.infinite is None:
        return r.entrywise(equation, (x, y))
    if any(v.infinite is not None and v.above != upper for v in (x, y)):
        raise refused(equation)
    (array,) = bound(equation, [x.array, y.array], equation.params)
    shape = np.shape(array)
    marks = r.marks((x, y), lambda t: r.spread(t, shape))
    for one, other in ((x, y), (y, x)):  # max(-∞, a) = a
        if one.infinite is not None and one.infinite.constant is not None and one.infinite.constant.all():
            infinite = r.spread(other.infinite, shape)
            return Value(_in_shape(other.array, shape), infinite, upper, finite=other.finite, sign=other.sign, **marks)
    for one, other in ((x, y), (y, x)):
        where = r.spread(one.infinite, np.shape(array))
        if where is not None:
            array = r.select(where, array, _in_shape(other.array, np.shape(array)))
    both = r.both(*(r.spread(v.infinite, np.shape(array)) for v in (x, y)))
    return Value(array, both, upper, finite=x.finite and y.finite, sign=min(x.sign, y.sign), **marks)


def _in_shape(array: Any, shape: tuple[int, ...]) -> Any:
    """An array that is repeated along the axes of a shape."""
    if np.shape(array) == shape:
        return array
    return lax.broadcast_in_dim(array, shape, range(len(shape) - np.ndim(array), len(shape)))


def _total(r: Rewriting, equation: JaxprEqn, x: Value) -> Value:
    """A sum is 0 where all terms are, and positive elsewhere if they are so."""
    if x.infinite is not None:
        return _sum_with_infinities(r, equation, x)
    marks = r.marks((x,), lambda t: r.along(t, equation, False))
    (plain,) = r.plain(equation, [unmarked(x)])
    if not x.positive_elsewhere or x.zero is None:
        return replace(plain, **marks)
    if _is_covered(x, tuple(equation.params["axes"])):
        return replace(plain, sign=POSITIVE, **marks)
    return replace(plain, zero=r.along(x.zero, equation, True), positive_elsewhere=True, **marks)


def _logarithm(r: Rewriting, equation: JaxprEqn, x: Value) -> Value:
    """log 0 = -∞, where a number is 0 for all inputs that is positive elsewhere."""
    if x.infinite is not None and not x.above:
        raise refused(equation)
    if not x.positive_elsewhere or x.zero is None or x.zero.constant is None or not x.finite or x.infinite is not None:
        return replace(r.entrywise(equation, [x]), infinite=x.infinite, above=x.above)
    ones = np.ones(np.shape(x.array), x.array.dtype)
    (array,) = bound(equation, [r.select(x.zero, x.array, ones)], equation.params)
    return Value(array, x.zero, undefined=x.undefined, ignored=x.ignored, finite=True)


def _sum_with_infinities(r: Rewriting, equation: JaxprEqn, x: Value) -> Value:
    """A sum is infinite where a term is."""
    marks = r.marks((x,), lambda t: r.along(t, equation, False))
    assert x.infinite is not None
    numbers = r.select(x.infinite, x.array, np.zeros(np.shape(x.array), x.array.dtype))
    must_be_finite(equation, x)
    (array,) = bound(equation, [numbers], equation.params)
    return Value(array, r.along(x.infinite, equation, False), x.above, finite=True, **marks)


def _is_covered(x: Value, axes: tuple[int, ...]) -> bool:
    """Whether a number that is positive where it is not known to be 0 is undefined or ignored in all rows of zeros."""
    assert x.zero is not None
    rows = rows_of(x.zero, axes, True)
    for mark in (x.undefined, x.ignored):
        if mark is not None and mark.constant is not None and x.zero.constant is not None:
            return not (x.zero.constant.all(axes) & ~mark.constant.any(axes)).any()
        if rows is None or mark is None or mark.known is None:
            continue
        entries = np.moveaxis(mark.known.entries, axes, range(len(axes)))
        entries = entries.reshape(-1, *entries.shape[len(axes) :])
        if (entries == entries[:1]).all() and rows.implies(replace(mark.known, entries=entries[0])):
            return True
    return False


def _selection(r: Rewriting, equation: JaxprEqn, which: Value, *cases: Value) -> Value:
    """The case that is chosen, and what is known of it."""
    if len(cases) != 2 or dtype_of(equation.invars[0]) != np.bool_:
        raise refused(equation)
    (no, yes), shape = cases, shape_of(equation.outvars[0])
    if len({v.above for v in cases if v.infinite is not None}) > 1:
        raise refused(equation)
    holds = which.truth
    if np.shape(which.array) != shape:
        holds = r.spread(holds, shape) or holds
    fails = r.negation(holds)
    if yes.infinite is None and is_zero(no):
        return r.chosen(holds, no, yes)
    if no.infinite is None and is_zero(yes):
        return r.chosen(fails, yes, no)
    chosen = lambda a, b: r.either(r.both(fails, a), r.both(holds, b))
    places: dict[str, Any] = {name: chosen(getattr(no, name), getattr(yes, name)) for name in PLACES}
    whole = [v.infinite is not None and v.infinite.constant is not None and v.infinite.constant.all() for v in cases]
    sign = min(v.sign for v in cases)
    if any(whole):
        one, chosen_there = (yes, holds) if whole[0] else (no, fails)
        array, finite = one.array, one.finite
        if one.undefined is not None or one.ignored is not None:  # it is no number where the mark is gone
            array = r.select(chosen_there, np.zeros(shape, array.dtype), array)
            sign = min(sign, NOT_NEGATIVE)
    else:
        (array,) = bound(equation, [which.array, no.array, yes.array], equation.params)
        finite = no.finite and yes.finite
    above = any(v.above for v in cases if v.infinite is not None)
    return Value(array, above=above, finite=finite, sign=sign, **places)


def _is_finite_number(r: Rewriting, equation: JaxprEqn, x: Value) -> Value:
    if x.ignored is not None:
        raise refused(equation)
    found: Truth | None = Truth(np.ones(np.shape(x.array), bool))
    for mark in (x.infinite, x.undefined):
        found = found if mark is None else r.both(found, r.negation(mark))
    if not x.finite:
        (numbers,) = bound(equation, [x.array], equation.params)
        found = r.both(found, Truth(numbers))
    if found is None:
        return Value(np.zeros(shape_of(equation.outvars[0]), bool))
    return Value(found.array, known=found.known)


def _comparison(r: Rewriting, equation: JaxprEqn, x: Value, y: Value) -> Value:
    """A comparison in which an infinity is larger, or smaller, than all numbers."""
    if any(mark is not None for v in (x, y) for mark in (v.undefined, v.ignored)):
        raise refused(equation)
    must_be_finite(equation, x, y)
    ordered = COMPARISONS[equation.primitive.name]
    (array,) = bound(equation, [x.array, y.array], equation.params)
    shape = np.shape(array)
    code = lambda v: (1 if v.above else -1) if v.infinite is not None else 0
    full = lambda truth: np.full(shape, truth, bool)
    for one, codes in ((x, (code(x), 0)), (y, (0, code(y)))):
        if one.infinite is not None:
            where = r.spread(one.infinite, shape) or Truth(full(False))
            array = r.select(where, array, full(bool(ordered(*codes))))
    both = r.both(*(r.spread(v.infinite, np.shape(array)) for v in (x, y)))
    if both is not None:
        array = r.select(both, array, full(bool(ordered(code(x), code(y)))))
    return Value(array, known=r.base(array))


def _same(r: Rewriting, equation: JaxprEqn, x: Value) -> Value:
    if not is_number(equation.outvars[0]):
        raise refused(equation)
    (array,) = bound(equation, [x.array], equation.params)
    return replace(x, array=array)


def _product_of_arrays(r: Rewriting, equation: JaxprEqn, x: Value, y: Value) -> Value:
    """A product of arrays has NaN where a factor of one of its terms has."""
    if x.infinite is not None or y.infinite is not None:
        raise refused(equation)
    (plain,) = r.plain(equation, [unmarked(v) for v in (x, y)])
    parameters = {**equation.params, "preferred_element_type": np.dtype(np.float32), "precision": None}

    def spread(mark: Truth | None, place: int) -> Truth | None:
        """Where a term has a marked factor."""
        if mark is None:
            return None
        operands: list[Array] = [np.ones(np.shape(v.array), np.float32) for v in (x, y)]
        if mark.constant is not None:
            operands[place] = mark.constant.astype(np.float32)
            with jax.ensure_compile_time_eval():
                return Truth(np.asarray(lax.dot_general_p.bind(*operands, **parameters)) > 0)
        operands[place] = lax.convert_element_type(mark.array, np.float32)
        (counts,) = bound(equation, operands, parameters)
        known = _alike_inrows_of(mark.known, equation, place)
        return Truth(lax.gt(counts, np.zeros(np.shape(plain.array), np.float32)), known)

    marks = {
        name: r.either(*(spread(getattr(v, name), place) for place, v in enumerate((x, y))))
        for name in ("undefined", "ignored")
    }
    return replace(plain, **marks)


def _alike_inrows_of(known: Known | None, equation: JaxprEqn, place: int) -> Known | None:
    """What truth values are made of that a product of arrays sums, if they are one and the same along what it sums."""
    ((contract, batch), rank) = (
        [axes[place] for axes in equation.params["dimension_numbers"]],
        len(shape_of(equation.outvars[0])),
    )
    if known is None:
        return None
    entries = np.moveaxis(known.entries, [*batch, *contract], range(len(batch) + len(contract)))
    for _ in contract:
        if not entries.shape[len(batch)] or not (entries == np.take(entries, [0], len(batch))).all():
            return None
        entries = np.take(entries, 0, len(batch))
    free = entries.ndim - len(batch)  # batch axes, then the free ones of the left operand, then of the right one
    others = rank - len(batch) - free
    shape = list(entries.shape)
    new = shape[: len(batch)] + ([1] * others if place else []) + shape[len(batch) :] + ([] if place else [1] * others)
    return replace(known, entries=np.broadcast_to(entries.reshape(new), shape_of(equation.outvars[0])))


RULES: dict[str, Callable[..., Value]] = {
    **dict.fromkeys(("add", "add_any", "sub"), _sum),
    **dict.fromkeys(COMPARISONS, _comparison),
    **dict.fromkeys(("convert_element_type", "copy", "stop_gradient"), _same),
    **dict.fromkeys(("reduce_max", "reduce_min"), _largest),
    **dict.fromkeys(("max", "min"), _larger),
    **dict.fromkeys(("mul", "div"), _multiple),
    "dot_general": _product_of_arrays,
    "exp": _exponential,
    "is_finite": _is_finite_number,
    "log": _logarithm,
    "logistic": _logistic,
    "neg": _negated,
    "reduce_sum": _total,
    "select_n": _selection,
    "tanh": _tanh,
}  # fmt: skip
"""What becomes of numbers that are infinite or undefined at marked places; anything else refuses infinities."""

KEEPS_NAN = frozenset(
    "abs acos acosh asin asinh atan atanh cbrt cos cosh erf erf_inv erfc exp2 expm1 log log1p rsqrt sin sinh sqrt "
    "square tan".split()
)
"""Functions of one number, and of that alone, that are NaN where it is."""
