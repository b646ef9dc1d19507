"""What a node of a formula is in one cell of the inputs: an expression without decisions, or what is no number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from uat_jax.numbers.prime_fields.inequalities import Polynomial


@dataclass(frozen=True, eq=False)
class Term:
    """An expression without decisions.

    node: which node it is, with these operands in place of the node's own; None for -operand, or a number.
    """

    polynomial: Polynomial
    node: int | None = None
    operands: tuple[Term, ...] = ()


UNDEFINED = Term(Polynomial.constant(0))
"""What is not a finite number at any point of a cell: infinite or NaN."""


CHOSEN = {code: Term(Polynomial.constant(0)) for code in (-1, 0, 1)}
"""What a program writes on purpose where a formula may be undefined: −∞, NaN and ∞; values like others."""


OF_ZERO = {Term(Polynomial.constant(0)): CHOSEN[-1], Term(Polynomial.constant(0)): CHOSEN[1]}
"""What is undefined because it is log 0 or −log 0, and the infinity that it is on a device."""


NOT_A_NUMBER = Term(Polynomial.constant(0))
"""What is undefined and surely NaN on a device: a root or logarithm of what is below 0, and what is made of it."""


def is_undefined(term: Term | bool) -> bool:
    """Whether a value is no finite number anywhere in a cell."""
    return term is UNDEFINED or term is NOT_A_NUMBER or term in OF_ZERO


def is_chosen(term: Term | bool) -> bool:
    """Whether a value is an infinity or NaN that is written on purpose."""
    return any(term is value for value in CHOSEN.values())


def opposite(chosen: Term | bool) -> Term:
    """−∞ for ∞, ∞ for −∞, and NaN for itself; likewise of log 0."""
    if chosen in OF_ZERO:
        return next(term for term in OF_ZERO if term is not chosen)
    return next(CHOSEN[-code] for code, value in CHOSEN.items() if value is chosen)


def of_chosen(decided: Callable[[int], Any] | None, name: str, operands: Sequence[Any]) -> Any:
    """What a comparison, maximum, minimum or magnitude makes of numbers of which one is an infinity or NaN of choice.

    decided: what a comparison makes of the sign of a difference; None for what is no comparison.
    """
    sizes = [next((code for code, value in CHOSEN.items() if x is value), None) for x in operands]
    nan = any(x is CHOSEN[0] for x in operands)
    if decided is not None:
        first, second = (size or 0 for size in sizes)
        return name == "ne" if nan else bool(decided((first > second) - (first < second)))
    if nan or name == "abs":
        return CHOSEN[0] if nan else CHOSEN[1]
    first, second = (size or 0 for size in sizes)
    return operands[int((first < second) == (name == "max"))]


def constant(value: int) -> Term:
    """A whole number."""
    return Term(Polynomial.constant(value))


def negated(x: Term) -> Term:
    """-x."""
    return Term(-x.polynomial, None, (x,))
