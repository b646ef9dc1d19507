"""Densities and numbers: counted with symbols for all shapes, then on real arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import sympy

from uat_jax.certify.verdict import Evidence, Verdict
from uat_jax.errors import DisagreementError

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
    PROVED if both are equal as expressions; else REFUTED at the smallest shape at which the counted number is not the
    claimed one, UNKNOWN if there is none among ``shapes``.
    Raises `DisagreementError` if ``found`` is not what is counted: a defect of the derivation, not of the claim.
    """
    claimed, found = sympy.sympify(claimed), sympy.sympify(found)
    numbers = [(shape, _exact(measured(shape))) for shape in sorted(shapes, key=lambda shape: sum(shape.values()))]
    for shape, number in numbers:
        if found.xreplace(dict(shape)) != number:
            raise DisagreementError(f"{what}: derived {found}, but arrays have {number} at {_shown(shape)}")
    if sympy.simplify(claimed - found) == 0:
        figures = {"claimed": str(claimed), "counted_at": [_named(shape) for shape, _ in numbers]}
        yield Evidence("counting", f"{what}: {claimed}, for all shapes", Verdict.PROVED, figures)
        if numbers:
            yield Evidence("arrays", f"{what}: counted so on arrays of {len(numbers)} shapes", Verdict.AGREES)
        return
    yield Evidence("counting", f"{what}: {found}, not {claimed}", Verdict.UNKNOWN, {"found": str(found)})
    yield _smallest(claimed, numbers, what)


def _smallest(claimed: Any, numbers: list[tuple[Shape, Any]], what: str) -> Evidence:
    """The first shape at which the claimed number is wrong."""
    for shape, number in numbers:
        printed = sympy.nsimplify(claimed.xreplace(dict(shape)))
        if printed != number:
            finding = f"{what}: {number} at {_shown(shape)}, printed {printed}"
            sides = {"left": _plain(number), "right": _plain(printed), "exact": (str(number), str(printed))}
            figures = {"dimensions": _named(shape), "inputs": {}, **sides}
            return Evidence("counterexample", finding, Verdict.REFUTED, {"counterexample": figures})
    return Evidence("counterexample", f"{what}: none at {len(numbers)} shapes", Verdict.UNKNOWN)


def _exact(number: Number) -> Any:
    fraction = Fraction(number)
    return sympy.Rational(fraction.numerator, fraction.denominator)


def _plain(number: Any) -> int | str:
    return int(number) if number.is_Integer else str(number)


def _named(shape: Shape) -> dict[str, int]:
    return {str(symbol): size for symbol, size in shape.items()}


def _shown(shape: Shape) -> str:
    return ", ".join(f"{symbol} = {size}" for symbol, size in shape.items()) or "the only shape"
