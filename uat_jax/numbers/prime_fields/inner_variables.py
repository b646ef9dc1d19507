"""Formulas that depend on several variables through one number only, as formulas of that number.

    hypot(x - y, 1) against √((x - y)² + 1)   →   hypot(u, 1) against √(u² + 1)

What is equal for every real u is equal for u = x - y, and cases of one variable are fewer.
"""

from __future__ import annotations

from collections.abc import Container

import numpy as np

from uat_jax.numbers.prime_fields.fact_rules import ENTIRE, POLYNOMIAL
from uat_jax.numbers.prime_fields.formula import Formula, Node, variables_below

LEAST = 2
"""So many variables have to become one."""


def with_inner_variable(formula: Formula, certain: Container[int]) -> Formula | None:
    """The formula with a number in it as a free variable, behind which several variables are that stand nowhere else.

    The number is made of its variables by primitives that are defined for all real numbers, and decide nothing.

    Args:
        formula: both sides.
        certain: the places of the arrays that are defined for all inputs.

    Returns:
        The largest such number replaced, or None if there is none.
    """
    if formula.twins or len(formula.variables) < LEAST:
        return None
    below = variables_below(formula)
    known = {node for node, place in formula.places.items() if place in certain}
    for number in reversed(range(len(formula.nodes))):
        inside = below[number]
        if len(inside) < LEAST or number in formula.results or not inside | {number} <= known:
            continue
        if not _is_total(formula, number):
            continue
        if inside.isdisjoint(_reached(formula, number)):
            return _replaced(formula, number)
    return None


def _is_total(formula: Formula, number: int) -> bool:
    """Whether all that a node is made of is defined for all real numbers, and decides nothing."""
    node = formula.nodes[number]
    if not np.issubdtype(node.dtype, np.floating):
        return False
    if node.equation is None:
        return True
    return node.equation.primitive.name in ENTIRE | POLYNOMIAL and all(
        _is_total(formula, operand) for operand in node.operands
    )


def _reached(formula: Formula, without: int) -> set[int]:
    """The nodes that results are made of, not counting those behind one of them."""
    reached, waiting = set(), list(formula.results)
    while waiting:
        number = waiting.pop()
        if number not in reached and number != without:
            reached.add(number)
            waiting += formula.nodes[number].operands
    return reached


def _replaced(formula: Formula, variable: int) -> Formula:
    """The formula with a node as a variable, and without what is behind it alone."""
    kept = sorted(_reached(formula, variable) | {variable})
    new = {old: k for k, old in enumerate(kept)}
    nodes = []
    for old in kept:
        node = formula.nodes[old]
        if old == variable:
            nodes.append(Node(("variable", new[old]), None, (), node.dtype))
        elif node.key[0] == "variable":
            nodes.append(Node(("variable", new[old]), None, (), node.dtype))
        else:
            nodes.append(Node(node.key, node.equation, tuple(new[o] for o in node.operands), node.dtype, node.literal))
    places = {new[old]: place for old, place in formula.places.items() if old in new}
    squares = frozenset(new[old] for old in formula.squares if old in new)
    return Formula(tuple(nodes), tuple(new[r] for r in formula.results), places, {}, squares)
