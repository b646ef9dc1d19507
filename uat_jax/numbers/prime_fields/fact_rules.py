"""The table of facts: what each primitive makes of what is known about its operands.

A primitive without a row makes a piecewise function that may be undefined anywhere; so does one whose operands nothing
is known about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jax import lax
from jax.extend.core import JaxprEqn

from uat_jax.interpret.concrete import is_keys
from uat_jax.interpret.interpreter import IDENTITY
from uat_jax.interpret.scattering import SCATTERS
from uat_jax.interpret.structure import STRUCTURAL
from uat_jax.interpret.tracing import is_number, shape_of
from uat_jax.numbers.prime_fields.facts import Defined, Facts, Nature, nowhere, of_constant
from uat_jax.numbers.prime_fields.number import FINITE, Number, rational
from uat_jax.numbers.prime_fields.residues import Draw, nonzero

if TYPE_CHECKING:
    from uat_jax.numbers.prime_fields.fields import Value

ENTIRE = frozenset("asinh atan cos cosh erf erfc exp expm1 logistic sin sinh tanh".split())
"""Real-analytic functions of all real numbers."""

POLYNOMIAL = IDENTITY | frozenset("add add_any dot_general mul neg reduce_sum square sub".split())
"""Sums and products: what they make of quotients are quotients."""

ODD_INCREASING = frozenset("asinh atan cbrt erf expm1 sinh tanh".split())
"""Functions that are zero at zero only."""

OF_POSITIVE = frozenset("digamma lgamma log rsqrt sqrt".split())
"""Functions that are real-analytic for positive numbers."""

TOTAL = (
    ENTIRE
    | POLYNOMIAL
    | frozenset("abs argmax argmin cbrt ceil floor max min reduce_max reduce_min round sign sort top_k".split())
    | frozenset(["bessel_i0e", "bessel_i1e", "convert_element_type", "reduce_precision"])
)
"""Functions that are defined wherever their operands are."""

DECISIONS = frozenset("and argmax argmin eq ge gt is_finite le lt ne not or reduce_and reduce_or xor".split())
"""Primitives that make a boolean or an integer of anything, of NaN as well."""

PASSES_HOLLOW = (
    POLYNOMIAL
    | STRUCTURAL
    | frozenset(
        "abs asinh cbrt ceil conv_general_dilated convert_element_type cosh cumprod cumsum floor log log1p reduce_prod "
        "round sinh sqrt".split()
    )
)
"""Operations whose result, if it is a float, is infinite or NaN where an operand is, whatever the other operands are;
of powers those with a whole exponent n > 0."""


def catches_infinities(equation: JaxprEqn, open_: Sequence[bool]) -> bool:
    """Whether an equation may make a number of an infinity; `open_` says which operands may be infinite.

    Such as tanh(1/u) where u is 0, or 1/(1/u).
    """
    name, operands = equation.primitive.name, open_[1:] if equation.primitive.name == "div" else open_
    return any(operands) and name not in PASSES_HOLLOW and not (name == "integer_pow" and equation.params["y"] > 0)


WRITTEN_OUT = frozenset([*SCATTERS, *"bitcast_convert_type eigh geqrf householder_product lu ormqr qr svd".split()])
"""Primitives whose rules say what is known of their results, because they are programs of others, or look at ranges."""


def _known(operand: Value) -> Facts:
    """The facts of an operand: nothing of a number that has none, all of a concrete array but the signs of keys."""
    if not isinstance(operand, Number):
        return of_constant(np.zeros(operand.shape) if is_keys(operand) else np.asarray(operand, np.float64))
    if operand.facts is not None:
        return operand.facts
    nothing = nowhere(operand.shape)
    return Facts(Nature.PIECEWISE, Defined.PARTLY, False, nothing, nothing, nothing)


def _nature(equation: JaxprEqn, given: Sequence[Value], operands: Sequence[Facts]) -> Nature:
    name, worst = equation.primitive.name, max([f.nature for f in operands])
    if name == "convert_element_type":
        return worst if is_number(equation.invars[0]) and is_number(equation.outvars[0]) else Nature.PIECEWISE
    chosen = name == "select_n" and isinstance(given[0], Number)
    if name in POLYNOMIAL or name in STRUCTURAL and not chosen:
        return worst
    if name == "integer_pow" and equation.params["y"] >= 0:
        return worst
    if name in ENTIRE:
        return Nature.ENTIRE if worst is Nature.ENTIRE else Nature.PIECEWISE
    if name == "tan":
        return Nature.QUOTIENT if worst is Nature.ENTIRE else Nature.PIECEWISE
    if name == "div":
        return _nature_of_quotient(*operands)
    if name == "integer_pow":
        return _nature_of_quotient(operands[0], operands[0])
    if name in OF_POSITIVE and _positive_for_all_inputs(operands[0]):
        return Nature.ENTIRE if worst is Nature.ENTIRE else Nature.PIECEWISE
    if name == "log1p" and worst is Nature.ENTIRE and _positive_for_all_inputs(operands[0]):
        return Nature.ENTIRE
    return Nature.PIECEWISE


def _positive_for_all_inputs(facts: Facts) -> bool:
    """Not under a condition: its inputs may fall apart, and √(x²) is x on one part and -x on the other."""
    return bool(facts.positive.all()) and not facts.guarded


def _nature_of_quotient(x: Facts, y: Facts) -> Nature:
    worst = max(x.nature, y.nature)
    has_signs = bool((y.positive | y.negative).all()) and not y.guarded
    return worst if worst is Nature.ENTIRE and has_signs else max(worst, Nature.QUOTIENT)


def _defined(equation: JaxprEqn, operands: Sequence[Number | Any], facts: Sequence[Facts]) -> Defined:
    name, worst = equation.primitive.name, max([f.defined for f in facts])
    if name in DECISIONS or not is_number(equation.outvars[0]):
        return Defined.ALWAYS
    if name in TOTAL or name in STRUCTURAL or name == "integer_pow" and equation.params["y"] >= 0:
        return worst
    if name in ("div", "rem", "integer_pow"):
        return max(worst, _defined_divisor(operands[-1], facts[-1]))
    if name in OF_POSITIVE and facts[0].positive.all():
        return worst
    if name == "tan" and facts[0].nature is Nature.ENTIRE:
        return max(worst, Defined.ALMOST)
    at_least_zero = isinstance(operands[0], Number) and operands[0].nonnegative
    if name == "sqrt" and at_least_zero:
        return worst
    if name in ("rsqrt", "log") and at_least_zero:
        return max(worst, _defined_divisor(operands[0], facts[0]))
    if name == "log1p" and at_least_zero:
        return worst
    if name == "pow" and at_least_zero:
        return max(worst, _defined_divisor(operands[0], facts[0]))
    return Defined.PARTLY


def _defined_divisor(divisor: Any, facts: Facts) -> Defined:
    if (facts.positive | facts.negative).all():
        return Defined.ALWAYS
    return Defined.ALMOST if facts.thin.all() else Defined.PARTLY


def _divisor(draw: Draw, equation: JaxprEqn, operands: Sequence[Any]) -> Value | None:
    """What an equation divides by, if it does."""
    name = equation.primitive.name
    if name in ("div", "rem"):
        return operands[1]
    if name in ("rsqrt", "log") or name == "integer_pow" and equation.params["y"] < 0:
        return operands[0]
    if name == "pow" and isinstance(operands[1], Number):
        exponent = rational(draw, operands[1])
        return None if exponent is not None and exponent >= 0 else operands[0]
    return None


def _is_hollow(draw: Draw, equation: JaxprEqn, operands: Sequence[Any], facts: Sequence[Facts]) -> bool:
    if any([f.hollow for f in facts]) and equation.primitive.name not in DECISIONS:
        return True
    divisor = _divisor(draw, equation, operands)
    if not isinstance(divisor, Number):
        return False
    counts = nonzero(divisor.residues) & (divisor.special is None or divisor.special == FINITE)
    return bool(np.any(counts & ~_known(divisor).thin))


Signs = Callable[..., Any]
"""(equation, operands, their facts) → which entries of the result are positive, or zero on a null set only."""


def _wherever_finite(equation: JaxprEqn, operands: Sequence[Any], facts: Sequence[Facts]) -> bool | np.ndarray:
    """Everywhere but at the image of -∞, which may be 0."""
    special = operands[0].special if isinstance(operands[0], Number) else None
    return True if special is None else special == FINITE


def _sum(which: str) -> Signs:
    """Of terms that are not negative, one that is positive (or thin) makes the sum so.

    It says nothing under a condition, where a sum could contain the condition itself as a factor.
    """

    def signs(equation: JaxprEqn, operands: Sequence[Any], facts: Sequence[Facts]) -> bool | np.ndarray:
        if not all([_nonnegative(x) for x in operands]) or any([f.guarded for f in facts]):
            return False
        marks = [getattr(f, which) for f in facts]
        if equation.primitive.name == "reduce_sum":
            return marks[0].any(axis=tuple(equation.params["axes"]))
        return marks[0] | marks[1]

    return signs


def _both(which: str) -> Signs:
    """Where both operands are so: a product of thin factors, the smaller of two positive numbers."""
    return lambda equation, operands, facts: getattr(facts[0], which) & getattr(facts[1], which)


def _alike(equation: JaxprEqn, operands: Sequence[Any], facts: Sequence[Facts]) -> bool | np.ndarray:
    """A product or quotient is positive where both operands have the same sign."""
    x, y = facts
    return False if x.signless or y.signless else x.positive & y.positive | x.negative & y.negative


def _unlike(equation: JaxprEqn, operands: Sequence[Any], facts: Sequence[Facts]) -> bool | np.ndarray:
    """It is negative where they have different signs."""
    x, y = facts
    return False if x.signless or y.signless else x.positive & y.negative | x.negative & y.positive


def _sum_of_negative(equation: JaxprEqn, operands: Sequence[Any], facts: Sequence[Facts]) -> Any:
    """A sum of numbers that are all negative, which says nothing under a condition."""
    if any([f.guarded or f.signless for f in facts]):
        return False
    if equation.primitive.name == "reduce_sum":
        axes = tuple(equation.params["axes"])
        return facts[0].negative.all(axis=axes) & facts[0].negative.any(axis=axes)
    return facts[0].negative & facts[1].negative


def _difference(above: int) -> Signs:
    """A difference has a sign where what is subtracted has the other one, and the rest has it or is not below 0."""

    def signs(equation: JaxprEqn, operands: Sequence[Any], facts: Sequence[Facts]) -> bool | np.ndarray:
        larger, smaller = facts[above], facts[1 - above]
        if larger.guarded or smaller.guarded or smaller.signless:
            return False
        return smaller.negative & (larger.positive | _nonnegative(operands[above]))

    return signs


def _even_power(equation: JaxprEqn, operands: Sequence[Any], facts: Sequence[Facts]) -> bool | np.ndarray:
    """x^n is positive where x is, and where x is negative and n even."""
    return facts[0].positive | (facts[0].negative & (equation.params["y"] % 2 == 0))


def _odd_power(equation: JaxprEqn, operands: Sequence[Any], facts: Sequence[Facts]) -> bool | np.ndarray:
    return facts[0].negative & (equation.params["y"] % 2 == 1)


def _size(equation: JaxprEqn, operands: Sequence[Any], facts: Sequence[Facts]) -> bool | np.ndarray:
    """|x| and x² are positive where x has a sign."""
    return facts[0].positive | facts[0].negative


def _dot(which: str) -> Signs:
    """Sums of products of numbers that are all positive (or all not negative, and thin)."""
    return lambda equation, operands, facts: (
        all(_nonnegative(x) for x in operands)
        and all(getattr(f, which).all() and not f.guarded for f in facts)
        and _terms(equation) > 0
    )


def _terms(equation: JaxprEqn) -> int:
    (contract, _), _ = equation.params["dimension_numbers"]
    return int(np.prod([shape_of(equation.invars[0])[axis] for axis in contract]))


def _nonnegative(x: Value) -> bool:
    return x.nonnegative if isinstance(x, Number) else bool(np.all(np.asarray(x) >= 0))


def _extreme(which: str) -> Signs:
    """A maximum is positive, and a minimum negative, where one of its members is; under a condition, where all are."""

    def signs(equation: JaxprEqn, operands: Sequence[Any], facts: Sequence[Facts]) -> bool | np.ndarray:
        guarded = any(f.guarded for f in facts)
        if equation.primitive.name.startswith("reduce"):
            return (np.all if guarded else np.any)(getattr(facts[0], which), axis=tuple(equation.params["axes"]))
        return (np.logical_and if guarded else np.logical_or)(*(getattr(f, which) for f in facts))

    return signs


def _extreme_of_thin(equation: JaxprEqn, operands: Sequence[Any], facts: Sequence[Facts]) -> Any:
    """An extreme of thin numbers is 0 where one of them is; nothing is said under a condition."""
    if any(f.guarded for f in facts):
        return False
    if equation.primitive.name.startswith("reduce"):
        return facts[0].thin.all(axis=tuple(equation.params["axes"])) & bool(facts[0].thin.size)
    return facts[0].thin & facts[1].thin


def _every(which: str) -> Signs:
    """A minimum is positive, and a maximum negative, where all members are."""
    return lambda equation, operands, facts: getattr(facts[0], which).all(axis=tuple(equation.params["axes"]))


def _same(which: str) -> Signs:
    return lambda equation, operands, facts: getattr(facts[0], which)


def _cast(which: str) -> Signs:
    """A cast to floats keeps the number, and one to booleans is 0 at 0 only; a cast to integers can make 0 of 1/2."""
    return lambda equation, operands, facts: (
        getattr(facts[0], which) & (is_number(equation.outvars[0]) or equation.params["new_dtype"] == np.bool_)
    )


def _cases(which: str) -> Signs:
    """A choice among cases that are all positive (thin)."""
    return lambda equation, operands, facts: np.logical_and.reduce([getattr(f, which) for f in facts[1:]])


POSITIVE: dict[str, Signs] = {
    "abs": _size,
    "add": _sum("positive"),
    "add_any": _sum("positive"),
    "bessel_i0e": _wherever_finite,
    "bessel_i1e": _same("positive"),
    "convert_element_type": _cast("positive"),
    "cosh": _wherever_finite,
    "div": _alike,
    "dot_general": _dot("positive"),
    "erfc": _wherever_finite,
    "exp": _wherever_finite,
    "integer_pow": _even_power,
    "log1p": _same("positive"),
    "logistic": _wherever_finite,
    "max": _extreme("positive"),
    "min": _both("positive"),
    "mul": _alike,
    "neg": _same("negative"),
    "pow": _same("positive"),
    "reduce_max": _extreme("positive"),
    "reduce_min": _every("positive"),
    "reduce_sum": _sum("positive"),
    "rsqrt": _same("positive"),
    "select_n": _cases("positive"),
    "sqrt": _same("positive"),
    "square": _size,
    "sub": _difference(0),
    **dict.fromkeys(sorted(ODD_INCREASING | IDENTITY), _same("positive")),
}
"""Where results are larger than 0; of other primitives nothing is known."""

NEGATIVE: dict[str, Signs] = {
    "add": _sum_of_negative,
    "add_any": _sum_of_negative,
    "bessel_i1e": _same("negative"),
    "convert_element_type": _cast("negative"),
    "div": _unlike,
    "integer_pow": _odd_power,
    "log1p": _same("negative"),
    "max": _both("negative"),
    "min": _extreme("negative"),
    "mul": _unlike,
    "neg": _same("positive"),
    "reduce_max": _every("negative"),
    "reduce_min": _extreme("negative"),
    "reduce_sum": _sum_of_negative,
    "select_n": _cases("negative"),
    "sub": _difference(1),
    **dict.fromkeys(sorted(ODD_INCREASING | IDENTITY), _same("negative")),
}
"""Where results are smaller than 0."""

THIN: dict[str, Signs] = {
    "abs": _same("thin"),
    "add": _sum("thin"),
    "add_any": _sum("thin"),
    "convert_element_type": _cast("thin"),
    "div": _same("thin"),
    "integer_pow": lambda equation, operands, facts: equation.params["y"] == 0 or facts[0].thin,
    "max": _extreme_of_thin,
    "min": _extreme_of_thin,
    "mul": _both("thin"),
    "neg": _same("thin"),
    "reduce_max": _extreme_of_thin,
    "reduce_min": _extreme_of_thin,
    "reduce_sum": _sum("thin"),
    "rsqrt": _wherever_finite,
    "select_n": _cases("thin"),
    "sqrt": _same("thin"),
    "square": _same("thin"),
    **dict.fromkeys(sorted(ODD_INCREASING | IDENTITY), _same("thin")),
}
"""Where piecewise results are zero on a null set only; one that is analytic is so if it is not zero as a function."""

BY_TERMS = frozenset("add add_any cosh dot_general log1p max min reduce_max reduce_min reduce_sum sub".split())
"""Functions whose signs say nothing of what laws make of them where they are undefined: 1 + (√y)² is 1 + y."""


LEFT_ALONE = frozenset(["digamma", "lgamma"])
"""Functions that are undefined for some numbers, and that laws write as others only where they are defined."""


def _letters_only(equation: JaxprEqn, operands: Sequence[Any], known: Sequence[Facts]) -> bool:
    """Whether a result is undefined only where functions are that are left alone: letters, with any real values."""
    as_letters = [replace(f, defined=Defined.ALMOST) if f.letters_only else f for f in known]
    if equation.primitive.name in LEFT_ALONE:
        return all(f.defined is not Defined.PARTLY for f in as_letters)
    return any(f.letters_only for f in known) and _defined(equation, operands, as_letters) is not Defined.PARTLY


def facts_of(draw: Draw, equation: JaxprEqn, operands: Sequence[Any], results: Sequence[Value]) -> list[Facts | None]:
    """Facts of an equation's results, None for those that are no numbers of the fields."""
    whole = _whole_exponent(draw, equation, operands)
    if whole is not None:
        return facts_of(draw, _integer_power(equation, whole), operands[:1], results)
    if equation.primitive.name in WRITTEN_OUT:
        return [result.facts if isinstance(result, Number) else None for result in results]
    known = [_known(operand) for operand in operands]
    if any([isinstance(number, Number) and number.infinite is not None for number in (*operands, *results)]):
        return [_of_infinite(result, known) if isinstance(result, Number) else None for result in results]
    nature, defined = _nature(equation, operands, known), _defined(equation, operands, known)
    hollow = _is_hollow(draw, equation, operands, known)
    guarded = any([f.guarded for f in known])
    letters = defined is Defined.PARTLY and _letters_only(equation, operands, known)
    extended = defined is Defined.PARTLY and not letters and equation.primitive.name in BY_TERMS
    zeros = _no_zeros if extended else _zeros
    facts = lambda result: Facts(
        nature, defined, hollow, *zeros(equation, operands, known, result, nature), guarded, letters
    )
    return [facts(result) if isinstance(result, Number) else None for result in results]


def _whole_exponent(draw: Draw, equation: JaxprEqn, operands: Sequence[Any]) -> int | None:
    """The exponent of x^n for a number x, if it is one whole number."""
    if equation.primitive.name != "pow" or not all(isinstance(x, Number) for x in operands):
        return None
    exponent = rational(draw, operands[1])
    return int(exponent) if exponent is not None and exponent.denominator == 1 else None


def _integer_power(equation: JaxprEqn, exponent: int) -> JaxprEqn:
    """The equation of a power with a whole exponent."""
    return equation.replace(primitive=lax.integer_pow_p, invars=equation.invars[:1], params={"y": exponent})


def _of_infinite(result: Number, known: Sequence[Facts]) -> Facts:
    """Facts of a number that is infinite on purpose for some inputs, or comes from one."""
    nothing = nowhere(result.shape)
    defined, hollow = max(f.defined for f in known), any(f.hollow for f in known)
    return Facts(Nature.PIECEWISE, defined, hollow, nothing, nothing, nothing, any(f.guarded for f in known))


def _no_zeros(
    equation: JaxprEqn, operands: Sequence[Any], known: Sequence[Facts], result: Number, nature: Nature
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(positive, negative, thin) of a result that may be undefined for inputs of positive measure.

    Its formal value may be 0 there, and then a selection that leaves these inputs out does not keep its quotients.
    """
    nothing, finite = nowhere(result.shape), True if result.special is None else result.special == FINITE
    return nothing, nothing, nothing if nature is Nature.PIECEWISE else nonzero(result.residues) & finite


def _zeros(
    equation: JaxprEqn, operands: Sequence[Any], known: Sequence[Facts], result: Number, nature: Nature
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(positive, negative, thin) of one result."""
    name, finite = equation.primitive.name, True if result.special is None else result.special == FINITE
    moved = name in STRUCTURAL and (name != "select_n" or not isinstance(operands[0], Number))
    if moved and (found := result.facts) is not None:
        if finite is True:
            return found.positive, found.negative, found.thin
        return found.positive & finite, found.negative & finite, found.thin & finite
    marked = lambda table: table[name](equation, operands, known) if name in table else False
    positive, negative = marked(POSITIVE), marked(NEGATIVE)
    thin: Any = False if nature is Nature.PIECEWISE else nonzero(result.residues)
    if thin is False or not thin.all():
        thin = positive | negative | marked(THIN) | thin
    if finite is not True:
        positive, negative, thin = positive & finite, negative & finite, thin & finite
    return _in_shape(positive, result.shape), _in_shape(negative, result.shape), _in_shape(thin, result.shape)


def _in_shape(marks: bool | np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Which entries of an array of this shape are marked, given for all of them or for some axes."""
    if marks is False:
        return nowhere(shape)
    if isinstance(marks, np.ndarray) and marks.shape == shape:
        return marks
    return np.array(np.broadcast_to(marks, shape))
