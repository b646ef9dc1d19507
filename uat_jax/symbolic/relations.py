"""Inequalities and equations between real SymPy expressions: checked, taken apart, and written."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import sympy
from sympy.core.relational import Relational
from sympy.logic.boolalg import BooleanAtom
from sympy.printing.str import StrPrinter

from uat_jax.errors import InputError

Relation = sympy.Basic | bool
"""A SymPy relation <, ≤, >, ≥ or Eq, or the truth value that SymPy makes of one it decides itself."""
Point = Mapping[sympy.Symbol, sympy.Expr]
"""Symbol → exact SymPy number."""


def holds(relation: Relation, point: Point) -> bool:
    """Whether a relation holds at an exact point."""
    return sympy.sympify(relation).xreplace(point) == sympy.true


def checked(relation: Relation) -> Relational | BooleanAtom:
    """The relation; `InputError` if it is none, has a float or an infinity, or has symbols that may not be real."""
    relation = sympy.sympify(relation)  # type: ignore[assignment]
    if isinstance(relation, BooleanAtom):
        return relation
    if not isinstance(relation, Relational) or isinstance(relation, sympy.Ne):
        raise InputError(f"got {relation}; wanted an inequality or an equation, such as abs(x) < 1")
    if relation.has(sympy.Float):
        raise InputError(f"got a float in {relation}; wanted exact numbers such as Rational(1, 10)")
    if relation.has(sympy.oo, -sympy.oo, sympy.zoo, sympy.nan):
        raise InputError(f"got an infinity in {relation}; wanted real numbers")
    if any(not symbol.is_real for symbol in relation.free_symbols):
        raise InputError(f"got {relation}, whose symbols may be complex or infinite; make them with real=True")
    return relation


class _Printer(StrPrinter):
    def _print_Abs(self, expression: sympy.Abs) -> str:
        return f"|{self._print(expression.args[0])}|"

    def _print_Dummy(self, symbol: sympy.Dummy) -> str:
        return symbol.name

    def _print_Relational(self, relation: Relational) -> str:
        mark = {"<=": "≤", ">=": "≥", "==": "="}.get(relation.rel_op, relation.rel_op)  # type: ignore[attr-defined]
        return f"{self._print(relation.lhs)} {mark} {self._print(relation.rhs)}"


@lru_cache(maxsize=1 << 14)
def text_of(expression: sympy.Basic) -> str:
    """An expression or a relation as it is read: |u|, ≤, and the corners by what they stand for."""
    return _Printer().doprint(expression).replace("**", "^").replace("*", "·")


def gaps(relation: Relation) -> list[tuple[sympy.Expr, bool]]:
    """Pairs (g, strict): the relation says that g > 0 or g ≥ 0, for each of them."""
    if not isinstance(relation, Relational):
        return [(sympy.Integer(1 if relation == sympy.true else -1), True)]
    gap = relation.lhs - relation.rhs  # type: ignore[operator]
    match relation:
        case sympy.Eq():
            return [(gap, False), (-gap, False)]
        case sympy.Gt() | sympy.Ge():
            return [(gap, isinstance(relation, sympy.Gt))]
        case _:
            return [(-gap, isinstance(relation, sympy.Lt))]
