"""Symbolic evidence: equations decided in normal form."""

from __future__ import annotations

from collections.abc import Iterable

from uat_jax.certify.verdict import Evidence, Verdict
from uat_jax.errors import DisagreementError
from uat_jax.symbolic.difference import Difference, first_difference
from uat_jax.symbolic.induction import Obligation
from uat_jax.symbolic.normal_form import Normaliser


def prove(obligations: Iterable[Obligation], *, method: str, what: str) -> Evidence:
    """PROVED if every equation holds; otherwise UNKNOWN, naming the first that does not and the word that differs.

    Every side is compared with itself first: a normal form that does not even accept X = X decides nothing.
    """
    names = []
    for obligation in obligations:
        difference = decide(obligation)
        if difference is not None:
            return Evidence(method, f"{obligation.name}: {difference}", Verdict.UNKNOWN, {"fails": obligation.name})
        names.append(obligation.name)
    return Evidence(method, what, Verdict.PROVED, {"equations": names})


def decide(obligation: Obligation) -> Difference | None:
    """The first difference between both sides of one equation, or None."""
    left = Normaliser(obligation.definitions)
    again = Normaliser(obligation.definitions, left.letters)
    sides = [(left(side), again(side)) for side in (obligation.left, obligation.right)]
    if any(once != twice for once, twice in sides):
        raise DisagreementError(f"{obligation.name}: the normal form does not accept X = X, please report this")
    return first_difference(left, sides[0][0], sides[1][0])
