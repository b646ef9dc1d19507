"""Evidence from elementary facts: equations that SymPy decides, and counterexamples that rest on a proved bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import sympy

from uat_jax.decide.exhibits import exhibit_numbers
from uat_jax.decide.figures import Equations, RestsOn
from uat_jax.decide.inequalities import proved_inequality
from uat_jax.decide.settings import Settings
from uat_jax.decide.statements import of_numbers
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.errors import InputError


def equations(pairs: Mapping[str, tuple[Any, Any]], *, what: str, subject: str = "") -> Evidence:
    """PROVED if both sides of every named equation are one SymPy expression after simplification, else UNKNOWN.

    An equation that cannot be decided counts as one that does not hold.
    """
    wrong = next((name for name, (left, right) in pairs.items() if not _same(left, right)), None)
    figures = Equations({name: f"{left} = {right}" for name, (left, right) in pairs.items()})
    if wrong is not None or not pairs:
        finding = f"{what}: not shown: {wrong or 'nothing was given'}"
        return Evidence(Method.EQUATIONS, finding, Verdict.UNKNOWN, figures, subject=subject)
    finding, said = f"{what}: {'; '.join(pairs)}", of_numbers(pairs.values())
    return Evidence(Method.EQUATIONS, finding, Verdict.PROVED, figures, subject=subject, statements=said)


@lru_cache(maxsize=1 << 10, typed=True)  # 1.0 == 1
def _same(left: sympy.Expr, right: sympy.Expr) -> bool:
    difference = sympy.sympify(left) - sympy.sympify(right)
    return any(simpler(difference) == 0 for simpler in (lambda e: e, sympy.expand, sympy.simplify))  # cheap ones first


def resting_on(bounds: Iterable[Evidence], example: Evidence) -> Evidence:
    """The counterexample if everything it rests on is proved, else UNKNOWN.

    A bound such as "every continuous G misses this step by 1/2" refutes "some G comes closer" only once it is proved.
    """
    bounds = tuple(bounds)
    missing = next((found for found in bounds if found.verdict is not Verdict.PROVED), None)
    if missing is not None:
        return replace(example, verdict=Verdict.UNKNOWN, finding=f"{example.finding}: not shown: {missing.finding}")
    said = [found.statements for found in bounds]
    statements = (*(s for one in said for s in one), *example.statements) if said and all(said) else ()
    return replace(example, figures=RestsOn(tuple(found.finding for found in bounds)), statements=statements)


ERRORS = tuple(sympy.Rational(n, 4) for n in (12, 8, 6, 4, 3, 2, 1))
"""The errors among which the least one is looked for, the largest first."""


def least_error(bound: Callable[[Any], Iterable[Evidence]]) -> tuple[Any, tuple[Evidence, ...]]:
    """The largest of `ERRORS` for which ``bound(error)`` is proved, and the proof: nothing is typed beside its bound.

    Raises `InputError` if none is.
    """
    for error in ERRORS:
        found = tuple(bound(error))
        if all(evidence.verdict is Verdict.PROVED for evidence in found):
            return error, found
    raise InputError(f"got a bound that holds for none of the errors {', '.join(map(str, ERRORS))}")


@dataclass(frozen=True)
class Promise:
    """The statement "the least error with which some G fits f is …", decided by what is proved of all G, and of one.

    Attributes:
        bound: error → evidence that every G misses f by at least that much.
        reached: error → evidence that a given G stays within it.
        what: of what it is said.
        at: f and whatever else was chosen.
    """

    bound: Callable[[Any], Iterable[Evidence]]
    reached: Callable[[Any], Evidence]
    what: str
    at: Mapping[str, Any]

    def __call__(self, error: sympy.Expr, settings: Settings) -> Iterator[Evidence]:
        """REFUTED for an error below the least one, with both numbers; PROVED for the least, which some G reaches.

        A larger error is promised by a weaker statement, which is not this one: UNKNOWN.
        """
        least, proof = least_error(self.bound)
        if error > least:
            found = self.reached(least)
            yield replace(found, verdict=Verdict.UNKNOWN, finding=f"{error} is more than is needed: {found.finding}")
            return
        if error == least:
            yield self.reached(error)
            return
        at, names = {**self.at, "ε": str(error)}, ("least error", "promised")
        yield resting_on(proof, exhibit_numbers(least, error, at=at, what=self.what, names=names))


def near_two(first: int, second: int, claimed: sympy.Expr, *, what: str) -> Evidence:
    """A number g within e of two targets has e ≥ ``claimed``: PROVED up to half their distance, else REFUTED."""
    number, error = sympy.symbols("g e", real=True)
    near = [abs(number - target) <= error for target in (first, second)]
    return proved_inequality(error >= claimed, near, what=what)


def near_both(number: sympy.Expr, first: Any, second: Any, error: sympy.Expr) -> Evidence:
    """A number is within an error of two targets."""
    targets = sympy.symbols("first second", real=True)
    farthest = sympy.Max(*(abs(number - target) for target in targets))
    given = [sympy.Eq(targets[0], first), sympy.Eq(targets[1], second)]
    what = f"{number} is within {error} of {first} and of {second}"
    return proved_inequality(farthest <= error, given, what=what)
