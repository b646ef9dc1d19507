"""Densities and numbers: counted with symbols for all shapes, then on real arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from uat_jax.decide.assumption import Assumption, AssumptionKind, of_hypotheses
from uat_jax.decide.counterexample import Counterexample
from uat_jax.decide.exhibits import same_number
from uat_jax.decide.figures import Counted, Found
from uat_jax.decide.statements import Statements, of_count
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.errors import DisagreementError, InputError
from uat_jax.symbolic import language as m
from uat_jax.symbolic.language import exact_scalar
from uat_jax.symbolic.relations import text_of
from uat_jax.symbolic.slices import nonnegative

if TYPE_CHECKING:
    from uat_jax.symbolic.relations import Relation

Shape = Mapping[sympy.Symbol, int]
Number = int | Fraction
Said = Callable[[Any, Shape | None], Statements]


def counted(
    claimed: sympy.Expr | int,
    found: Any,
    *,
    what: str,
    measured: Callable[[Shape], Number],
    shapes: Iterable[Shape],
    given: Iterable[Any] = (),
    said: Said | None = None,
) -> Iterator[Evidence]:
    """Whether ``claimed`` is the number ``found``, both SymPy expressions in dimensions.

    ``measured(shape)`` counts on real arrays of that shape: a whole number or a fraction, never a float.
    ``given``: relations between the dimensions under which it is claimed; they hold at every shape.
    ``said``: the claimed number, and the sizes at which it is wrong if it is → statements for a checker.
    PROVED if both are equal as expressions, the claimed one is defined for all sizes, and the numbers counted at
    ``shapes`` leave no other combination of their terms (such as N²M and NM² in 2N²M + NM²): what the terms are is
    taken from ``found``, how often each occurs is not.  Else REFUTED at the smallest shape at which the counted number
    is not the claimed one, UNKNOWN if there is none among ``shapes``.
    Raises `DisagreementError` if ``found`` is not what is counted: a defect of the derivation, not of the claim;
    `InputError` for floats, for a symbol that has no size at some shape, without shapes, and for a shape that is not
    among the given ones.
    """
    claimed, found, given = exact_scalar(claimed), exact_scalar(found), tuple(given)
    numbers = [(shape, _exact(measured(shape))) for shape in sorted(shapes, key=lambda shape: sum(shape.values()))]
    _check_shapes([shape for shape, _ in numbers], given, what)
    for shape, number in numbers:
        if same_number(_at(found, shape), number) is not True:
            raise DisagreementError(f"{what}: derived {found}, but arrays have {number} at {_shown(shape)}")
    wrong, terms = _smallest(claimed, numbers, what, said), _terms(claimed, found)
    same = wrong is None and sympy.simplify(claimed - found) == 0 and _is_defined(claimed, given)
    if same and _determined(terms, [shape for shape, _ in numbers]):
        of_terms = Assumption(AssumptionKind.COUNTED_TERMS, {"terms": list(map(text_of, terms))})
        assumed = (of_terms, *of_hypotheses(list(map(text_of, given))))
        figures = Counted(str(claimed), tuple(_named(shape) for shape, _ in numbers))
        statements = said(claimed, None) if said else ()
        finding = f"{what}: {claimed}, for all shapes"
        yield Evidence(Method.COUNTING, finding, Verdict.PROVED, figures, assumed, statements=statements)
        yield Evidence(Method.ARRAYS, f"{what}: counted so on arrays of {len(numbers)} shapes", Verdict.AGREES)
        return
    but = "and the shapes leave other numbers" if same else f"not {claimed}"
    yield Evidence(Method.COUNTING, f"{what}: {found}, {but}", Verdict.UNKNOWN, Found(str(found)))
    yield wrong or Evidence(Method.COUNTEREXAMPLE, f"{what}: none at {len(numbers)} shapes", Verdict.UNKNOWN)


def as_counted(count: Any, given: Iterable[Relation] = ()) -> Said:
    """How a count is told to a checker: a number in which `statements.Tally` stand, or several of them."""
    return lambda claimed, at: of_count(claimed, count, given=given, at=at)


def nonzeros_of(expression: m.Expression, matrix: np.ndarray, shape: Shape) -> int:
    """How many entries are not zero of the array that an expression is at a shape.

    Raises `DisagreementError` if the array has another shape than the expression.
    """
    wanted = tuple(int(_at(size, shape)) for size in expression.shape)
    if matrix.shape != wanted:
        raise DisagreementError(f"{expression} is counted in an array of shape {matrix.shape}; its own is {wanted}")
    return int(np.count_nonzero(matrix))


def share_of(expression: m.Expression, matrix: np.ndarray, shape: Shape) -> Fraction:
    """The share of entries that are not zero, in the same way."""
    return Fraction(nonzeros_of(expression, matrix, shape), matrix.size)


def _check_shapes(shapes: list[Shape], given: tuple[Any, ...], what: str) -> None:
    if not shapes:
        raise InputError(f"got no shapes at which to count {what}; wanted at least one")
    for shape in shapes:
        for relation in given:
            if sympy.sympify(relation).xreplace(_sizes(shape)) != sympy.true:
                raise InputError(f"got {_shown(shape)}, where {text_of(relation)} does not hold; leave that shape out")


def _terms(*formulas: Any) -> list[sympy.Expr]:
    """The different products of symbols and powers, without numbers in front, that the formulas are sums of."""
    parts = (part for formula in formulas for part in sympy.Add.make_args(sympy.expand(formula)))
    return sorted({part.as_coeff_Mul()[1] for part in parts if part != 0}, key=sympy.default_sort_key)


def _determined(terms: list[sympy.Expr], shapes: list[Shape]) -> bool:
    """Whether only one combination of the terms has given values at the shapes."""
    rows = [[_at(term, shape) for term in terms] for shape in shapes]
    return sympy.Matrix(rows).rank() == len(terms)


def _is_defined(formula: sympy.Expr, given: tuple[Any, ...]) -> bool:
    """Whether no divisor of the formula can vanish, and every logarithm is of a positive number, for all sizes."""
    parts = list(sympy.preorder_traversal(formula))
    divisors = [p.base for p in parts if isinstance(p, sympy.Pow) and not p.exp.is_nonnegative]
    logarithms = [p.args[0] for p in parts if isinstance(p, sympy.log)]
    at_least_one = lambda size: nonnegative(size - 1, given=given)
    return all(d.is_zero is False or at_least_one(d) for d in divisors) and all(
        u.is_positive or at_least_one(u) for u in logarithms
    )


def _smallest(claimed: Any, numbers: list[tuple[Shape, Any]], what: str, said: Said | None) -> Evidence | None:
    """The first shape at which the claimed number is wrong, or not defined."""
    for shape, number in numbers:
        printed = _at(claimed, shape)
        if not printed.is_finite or same_number(printed, number) is False:
            printed = printed if printed.is_finite else "not defined"
            finding = f"{what}: {number} at {_shown(shape)}, printed {printed}"
            exact = str(number), str(printed)
            example = Counterexample((), _plain(number), _plain(printed), exact, sizes=_named(shape))
            statements = said(claimed, shape) if said else ()
            return Evidence(Method.COUNTEREXAMPLE, finding, Verdict.REFUTED, example=example, statements=statements)
    return None


def _at(expression: sympy.Expr, shape: Shape) -> Any:
    """The number that an expression is at a shape."""
    value = expression.xreplace(_sizes(shape)).doit()
    if value.free_symbols:
        raise InputError(f"got {expression} with no size for {value} at {_shown(shape)}; wanted the same symbols")
    return value


def _sizes(shape: Shape) -> dict[sympy.Symbol, sympy.Expr]:
    return {symbol: sympy.Integer(size) for symbol, size in shape.items()}


def _exact(number: Number) -> sympy.Expr | None:
    if isinstance(number, float):
        raise InputError(f"got the float {number} as a count; wanted a whole number or a Fraction")
    fraction = Fraction(number)
    return sympy.Rational(fraction.numerator, fraction.denominator)


def _plain(number: Any) -> int | str:
    return int(number) if getattr(number, "is_Integer", False) else str(number)


def _named(shape: Shape) -> dict[str, int]:
    return {str(symbol): size for symbol, size in shape.items()}


def _shown(shape: Shape) -> str:
    return ", ".join(f"{symbol} = {size}" for symbol, size in shape.items()) or "the only shape"
