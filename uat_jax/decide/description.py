"""What a certificate of two functions says in a few lines, as a failing test shows it."""

from __future__ import annotations

import math
from collections.abc import Iterator

from flint import arb

from uat_jax.decide.assumption import AssumptionKind
from uat_jax.decide.certificate import Certificate
from uat_jax.decide.counterexample import Counterexample
from uat_jax.decide.figures import Refuted


def describe(certificate: Certificate) -> str:
    """The verdict on two functions in a few lines, for a person whose test has failed.

    In this order: the verdict, the reason or both values; how far apart these are and in how many entries; where the
    programs part, with lines of both; the exact values; a program that shows the difference; what floats do.  Of
    functions that are not refuted the assumptions stand in the place of the counterexample.
    """
    found = certificate.counterexample
    lines = [headline(certificate)]
    lines += [f"  {e.method}{' at ' + e.subject if e.subject else ''}: {e.finding}" for e in certificate.evidence]
    if found:
        lines += difference(found)
        lines += [f"  {line}" for line in partings(certificate)]
        lines += [f"  exactly: {found.exact[0]}", f"  against: {found.exact[1]}", "", found.program]
    else:
        lines += [f"  assuming: {assumption.text}" for assumption in certificate.assumptions]
    if certificate.floats:
        lines += [f"  {word}: {line}" for word, line in certificate.floats.lines()]
    return "\n".join(lines)


def headline(certificate: Certificate) -> str:
    """Verdict and functions."""
    claim = certificate.claim
    where = ", almost everywhere" if claim.get("almost_everywhere") else ""
    hypotheses = (AssumptionKind.DOMAIN, AssumptionKind.INTEGERS, AssumptionKind.FAMILY)
    domains = [a.text for a in certificate.assumptions if a.kind in hypotheses]
    inputs = f", for {' and '.join(domains)}" if domains else ""
    return f"{certificate.verdict}: {claim['left']} and {claim['right']}{inputs}{where}"


def difference(found: Counterexample) -> Iterator[str]:
    """How far both values are apart, absolutely and relative to the larger one, and how many entries differ."""
    try:
        left, right = map(arb, found.exact)
    except ValueError:  # truth values are no balls
        return
    gap, size = float(abs(left - right).mid()), max(float(abs(side).mid()) for side in (left, right))
    if not (math.isfinite(gap) and math.isfinite(size) and size):
        return
    entries = "" if found.differing is None else "; {} of {} entries differ".format(*found.differing)
    yield f"  apart: {gap:.3g}, which is {gap / size:.2g} of the larger{entries}"


def partings(certificate: Certificate) -> list[str]:
    """Where two functions that are refuted part, at each of the sizes at which that is known, and what mends it."""
    from uat_jax.decide.one_change import one_change  # which decides anew, and so imports what imports this

    found = [e.figures.parting for e in certificate.evidence if isinstance(e.figures, Refuted) and e.figures.parting]
    return [text for text in (*(f"they part: {where}" for where in found), one_change(certificate)) if text]
