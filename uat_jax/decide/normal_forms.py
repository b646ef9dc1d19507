"""Symbolic evidence: equations decided in normal form."""

from __future__ import annotations

from collections.abc import Iterable

from uat_jax.decide.assumption import of_hypotheses
from uat_jax.decide.figures import Equation, Proof
from uat_jax.decide.statements import of_steps
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.errors import DisagreementError
from uat_jax.symbolic.difference import Difference, difference
from uat_jax.symbolic.normal_form import Normaliser
from uat_jax.symbolic.step import Step


def prove(steps: Iterable[Step], *, method: Method, what: str) -> Evidence:
    """PROVED if every equation holds; otherwise UNKNOWN, naming the first that does not and the word that differs.

    Every side is compared with itself first: a normal form that does not even accept X = X decides nothing.
    The figures hold every equation with the definitions that were unfolded in it ("where"); the assumptions are the
    slices that have to exist.
    """
    done: list[Equation] = []
    assumed: list[str] = []
    steps = tuple(steps)
    for step in steps:
        found = decide(step)
        if found is not None:
            return Evidence(method, f"{step.name}: {found}", Verdict.UNKNOWN, Proof(tuple(done), fails=step.name))
        where = tuple(map(str, step.definitions)) or None
        done.append(Equation(step.name, str(step), step.latex(), where))
        assumed += step.hypotheses()
    if not done:
        return Evidence(method, "no equation was given", Verdict.UNKNOWN)
    proof, hypotheses = Proof(tuple(done)), of_hypotheses(assumed)
    return Evidence(method, what, Verdict.PROVED, proof, hypotheses, statements=of_steps(steps))


def decide(step: Step) -> Difference | None:
    """The first difference between both sides of one equation, or None if their shapes and normal forms are equal."""
    left = Normaliser(step.where)
    again = Normaliser(step.where, left.letters)
    sides = [(left(side), again(side)) for side in (step.left, step.right)]
    if any(once != twice for once, twice in sides):
        raise DisagreementError(f"{step.name}: the normal form does not accept X = X, please report this")
    return difference(left, sides[0][0], sides[1][0])
