"""The prover alone: no pair of functions that differ is the same function in prime fields, whatever samples see.

`certify` also looks at float64 values and searches for a counterexample, so that a wrong law could hide behind them:
nobody would notice until samples miss the difference too.  Here nothing but the law stands between a pair and a proof.
"""

from typing import Any

import jax
import pytest
from excerpt import one_in
from pairs.never_certified import DIFFERENT, EQUAL
from pairs.never_certified.decided import DECIDED
from prover_mutants import DIFFERS, killing
from prover_mutants import TWINS as TWINS_DIFFER

from uat_jax.decide.prime_fields import PrimeFields
from uat_jax.decide.specification import Specification, traced
from uat_jax.decide.strict_decisions import undecided
from uat_jax.errors import UatJaxError

ELSEWHERE = frozenset(["sizes"])
"""Kinds whose pairs are equal at some sizes."""

ALONE = [name for name, row in DIFFERENT.items() if name.partition(":")[0] not in ELSEWHERE and row.wrt is None]

ELSEHOW = frozenset(["steps: floor off the grid"])
"""Twins that another method decides."""

TWINS = [name for name in sorted(DECIDED - ELSEHOW) if not (EQUAL[name].wrt or EQUAL[name].almost_everywhere)]


def claim(row: Any) -> str:
    """What prime fields say of a row: "equal", "almost equal", "different", or "refused"; "read" if constants are."""
    with jax.numpy_dtype_promotion("standard"):
        specification = Specification(row.specs)
        arguments = specification.at(specification.sizes_to_try()[-1])
        try:
            left, right = (traced(function, arguments)[0] for function in (row.left, row.right))
            found = PrimeFields(left, right).compare(-64.0)
            ties = undecided((left, right), found.decisions, 0, None) if found.almost else set()
        except UatJaxError:
            return "refused"
    if found.constants and found.equal:
        return "equal as meant"
    return "equal" if found.equal else "almost equal" if found.almost and not ties else "different"


@pytest.mark.parametrize("name", one_in(40, ALONE, kept=killing(DIFFERS, ALONE)))
def test_what_differs_is_never_equal_in_prime_fields(name):
    """Nor almost equal, if it differs on a set of positive measure."""
    row = DIFFERENT[name]
    assert claim(row) not in ("equal", *([] if row.null_set else ["almost equal"]))


@pytest.mark.parametrize("name", one_in(12, TWINS, kept=killing(TWINS_DIFFER, TWINS)))
def test_twins_are_never_different_in_prime_fields(name):
    """They may be refused, or equal except at ties that other methods decide."""
    assert claim(EQUAL[name]) != "different"
