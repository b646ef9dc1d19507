"""Attacks on the word CERTIFIED, one file per kind: pairs that differ, and beside them pairs that are equal.

A row of `DIFFERENT` may never be certified; its twins in `EQUAL` may never be refuted, and those that are decided must
stay so. A defect that is found becomes a row here, with its neighbours.
"""

from . import (
    booleans,
    cases,
    complex_constants,
    constants,
    derivatives,
    divisors,
    entries,
    facts,
    guards,
    hidden,
    increasing,
    integers,
    inverses,
    laws,
    norms,
    orders,
    pivots,
    powers,
    precision,
    roots,
    scatters,
    sizes,
    steps,
    stretched,
    taken,
    ties,
    undefined,
    zeros,
)
from .row import Different, Equal

KINDS = {
    module.__name__.rpartition(".")[2]: module
    for module in (
        steps,
        ties,
        taken,
        scatters,
        complex_constants,
        integers,
        precision,
        booleans,
        constants,
        divisors,
        undefined,
        zeros,
        sizes,
        derivatives,
        hidden,
        facts,
        guards,
        laws,
        cases,
        powers,
        inverses,
        orders,
        norms,
        entries,
        increasing,
        roots,
        stretched,
        pivots,
    )
}

DIFFERENT: dict[str, Different] = {f"{kind}: {row.name}": row for kind, m in KINDS.items() for row in m.DIFFERENT}
EQUAL: dict[str, Equal] = {f"{kind}: {row.name}": row for kind, m in KINDS.items() for row in m.EQUAL}
