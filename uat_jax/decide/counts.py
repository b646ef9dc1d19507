"""Densities and numbers: counted with symbols for all shapes, then on real arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import sympy

from uat_jax.decide.exhibits import same_number
from uat_jax.decide.verdict import Evidence, Verdict
from uat_jax.errors import DisagreementError, InputError

Shape = Mapping[sympy.Symbol, int]
Number = int | Fraction


def counted(
    claimed: Any,
    found: Any,
    *,
    what: str,
    measured: Callable[[Shape], Number],
    shapes: Iterable[Shape],
) -> Iterator[Evidence]:
    """Whether ``claimed`` is the number ``found``, both SymPy expressions in dimensions.

    ``measured(shape)`` counts on real arrays of that shape: a whole number or a fraction, never a float.
    PROVED if both are equal as expressions, and defined and counted so at all ``shapes``; else REFUTED at the smallest
    shape at which the counted number is not the claimed one, UNKNOWN if there is none among ``shapes``.
    Raises `DisagreementError` if ``found`` is not what is counted: a defect of the derivation, not of the claim;
    `InputError` for floats, for a symbol that has no size at some shape, and without shapes.
    """
    claimed, found = _formula(claimed), _formula(found)
    numbers = [(shape, _exact(measured(shape))) for shape in sorted(shapes, key=lambda shape: sum(shape.values()))]
    if not numbers:
        raise InputError(f"got no shapes at which to count {what}; wanted at least one")
    for shape, number in numbers:
        if same_number(_at(found, shape), number) is not True:
            raise DisagreementError(f"{what}: derived {found}, but arrays have {number} at {_shown(shape)}")
    wrong = _smallest(claimed, numbers, what)
    if wrong is None and sympy.simplify(claimed - found) == 0:
        figures = {"claimed": str(claimed), "counted_at": [_named(shape) for shape, _ in numbers]}
        yield Evidence("counting", f"{what}: {claimed}, for all shapes", Verdict.PROVED, figures)
        yield Evidence("arrays", f"{what}: counted so on arrays of {len(numbers)} shapes", Verdict.AGREES)
        return
    yield Evidence("counting", f"{what}: {found}, not {claimed}", Verdict.UNKNOWN, {"found": str(found)})
    yield wrong or Evidence("counterexample", f"{what}: none at {len(numbers)} shapes", Verdict.UNKNOWN)


def _smallest(claimed: Any, numbers: list[tuple[Shape, Any]], what: str) -> Evidence | None:
    """The first shape at which the claimed number is wrong, or not defined."""
    for shape, number in numbers:
        printed = _at(claimed, shape)
        if not printed.is_finite or same_number(printed, number) is False:
            printed = printed if printed.is_finite else "not defined"
            finding = f"{what}: {number} at {_shown(shape)}, printed {printed}"
            sides = {"left": _plain(number), "right": _plain(printed), "exact": (str(number), str(printed))}
            figures = {"dimensions": _named(shape), "inputs": {}, **sides}
            return Evidence("counterexample", finding, Verdict.REFUTED, {"counterexample": figures})
    return None


def _formula(expression: Any) -> Any:
    expression = sympy.sympify(expression)
    if expression.has(sympy.Float):
        raise InputError(f"got a float in {expression}; wanted exact numbers such as Rational(1, 3)")
    return expression


def _at(expression: Any, shape: Shape) -> Any:
    """The number that an expression is at a shape."""
    value = expression.xreplace({symbol: sympy.Integer(size) for symbol, size in shape.items()}).doit()
    if value.free_symbols:
        raise InputError(f"got {expression} with no size for {value} at {_shown(shape)}; wanted the same symbols")
    return value


def _exact(number: Number) -> Any:
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
