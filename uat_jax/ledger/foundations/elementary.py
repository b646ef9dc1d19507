"""Evidence from elementary facts: equations that SymPy decides, and counterexamples that rest on a proved bound."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import sympy

from uat_jax.decide.figures import Equations, RestsOn
from uat_jax.decide.inequalities import proved_inequality
from uat_jax.decide.verdict import Evidence, Method, Verdict


def equations(pairs: Mapping[str, tuple[Any, Any]], *, what: str, subject: str = "") -> Evidence:
    """PROVED if both sides of every named equation are one SymPy expression after simplification, else UNKNOWN.

    An equation that cannot be decided counts as one that does not hold.
    """
    wrong = next((name for name, (left, right) in pairs.items() if not _same(left, right)), None)
    figures = Equations({name: f"{left} = {right}" for name, (left, right) in pairs.items()})
    if wrong is not None or not pairs:
        finding = f"{what}: not shown: {wrong or 'nothing was given'}"
        return Evidence(Method.EQUATIONS, finding, Verdict.UNKNOWN, figures, subject=subject)
    return Evidence(Method.EQUATIONS, f"{what}: {'; '.join(pairs)}", Verdict.PROVED, figures, subject=subject)


def _same(left: Any, right: Any) -> bool:
    left, right = sympy.sympify(left), sympy.sympify(right)
    return left == right or sympy.simplify(left - right) == 0


def resting_on(bounds: Iterable[Evidence], example: Evidence) -> Evidence:
    """The counterexample if everything it rests on is proved, else UNKNOWN.

    A bound such as "every continuous G misses this step by 1/2" refutes "some G comes closer" only once it is proved.
    """
    bounds = tuple(bounds)
    missing = next((found for found in bounds if found.verdict is not Verdict.PROVED), None)
    if missing is not None:
        return replace(example, verdict=Verdict.UNKNOWN, finding=f"{example.finding}: not shown: {missing.finding}")
    return replace(example, figures=RestsOn(tuple(found.finding for found in bounds)))


def near_two(first: Any, second: Any, claimed: Any, *, what: str) -> Evidence:
    """A number g within e of two targets has e ≥ ``claimed``: PROVED up to half their distance, else REFUTED."""
    number, error = sympy.symbols("g e", real=True)
    near = [abs(number - target) <= error for target in (first, second)]
    return proved_inequality(error >= claimed, near, what=what)
