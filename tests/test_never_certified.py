"""No pair of functions that differ is certified, whatever the attack, and the table of attacks tells the truth."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import numpy as np
import pytest
from excerpt import one_in
from pairs.never_certified import DIFFERENT, EQUAL, KINDS
from pairs.never_certified.decided import DECIDED
from pairs.never_certified.row import Different, Equal
from pairs.questions import PASSING

import uat_jax as uj
from uat_jax.decide.verdict import Verdict

ALIKE = 2.0**-14
"""Values closer than this, relative to the larger of 1 and both, may be one value with the rounding of float32."""


# ---------------------------------------------------------------- the table tells the truth


def values(function: Callable, row: Any, inputs: tuple[Any, ...], dtype: Any) -> np.ndarray:
    """What JAX computes, primitive by primitive, of inputs of this dtype: all outputs, and derivatives if compared."""
    with jax.enable_x64(dtype == np.float64), jax.numpy_dtype_promotion("standard"):
        arrays = [jax.numpy.asarray(value, dtype) for value in inputs]
        outputs = function(*arrays)
        if row.wrt == "grad":
            ones = jax.tree.map(jax.numpy.ones_like, outputs)
            outputs = outputs, jax.vjp(function, *arrays)[1](ones)
        return np.concatenate([np.asarray(leaf, np.float64).ravel() for leaf in jax.tree.leaves(outputs)])


def distance(left: np.ndarray, right: np.ndarray) -> float:
    """The largest difference relative to the larger of 1 and both; NaN is NaN, and far from every number."""
    both = np.stack([left, right])
    if (np.isnan(left) != np.isnan(right)).any():
        return np.inf
    both = both[:, ~np.isnan(left) & (left != right)]
    if np.isinf(both).any():
        return np.inf
    return float((np.abs(both[0] - both[1]) / np.maximum(1, np.abs(both).max(axis=0))).max(initial=0))


def apart(row: Different, inputs: tuple[Any, ...], dtype: Any) -> float:
    """How far the two functions are apart at an input."""
    return distance(values(row.left, row, inputs, dtype), values(row.right, row, inputs, dtype))


def differ_at_the_witness(row: Different) -> None:
    """As written and, where the widths of integers play no part, in float64: it is not rounding that parts them."""
    for dtype in dict.fromkeys([row.dtype, row.dtype if row.widths else np.dtype(np.float64)]):
        sides = [values(f, row, row.witness, dtype) for f in (row.left, row.right)]
        assert row.infinite or all(np.isfinite(side).all() for side in sides), f"not finite in {dtype}: {sides}"
        assert distance(*sides) >= row.gap, f"alike in {dtype}: {sides}"


def differ_on_a_set_of_the_size_said(row: Different) -> None:
    """Beside the witness: somewhere, if on a set of positive measure; nowhere, if on a null set."""
    beside = max(apart(row, inputs, row.dtype) for inputs in row.nearby())
    if row.null_set:
        assert beside < ALIKE, "they differ beside the witness too"
    else:
        assert beside >= row.gap / 4, "they are alike beside the witness"


def are_equal(row: Equal) -> None:
    """At ties and off them; where one side is undefined, nothing is compared."""
    for inputs in row.inputs():
        sides = [values(f, row, inputs, row.dtype) for f in (row.left, row.right)]
        defined = ~np.isnan(sides[0]) & ~np.isnan(sides[1])
        assert distance(*(side[defined] for side in sides)) < ALIKE, f"different at {inputs}: {sides}"


@pytest.mark.parametrize("name", one_in(95, DIFFERENT))
def test_they_differ_at_the_witness(name):
    differ_at_the_witness(DIFFERENT[name])


@pytest.mark.parametrize("name", one_in(72, [name for name, row in DIFFERENT.items() if not row.identity]))
def test_they_differ_on_a_set_of_the_size_that_the_row_says(name):
    differ_on_a_set_of_the_size_said(DIFFERENT[name])


@pytest.mark.parametrize("name", one_in(24, EQUAL))
def test_twins_are_equal(name):
    are_equal(EQUAL[name])


def test_a_row_that_is_wrong_is_noticed():
    attack, tie = DIFFERENT["steps: a jump scaled by x"], DIFFERENT["ties: heaviside at 0"]
    with pytest.raises(AssertionError, match="alike in float32"):
        differ_at_the_witness(replace(attack, witness=(2,)))
    with pytest.raises(AssertionError, match="not finite in float32"):
        differ_at_the_witness(replace(attack, right=lambda x: x / 0))
    with pytest.raises(AssertionError, match="alike beside"):
        differ_on_a_set_of_the_size_said(replace(tie, null_set=False))
    with pytest.raises(AssertionError, match="differ beside"):
        differ_on_a_set_of_the_size_said(replace(attack, null_set=True))
    with pytest.raises(AssertionError, match="different at"):
        are_equal(Equal(tie.name, tie.left, tie.right, tie.specs))


def test_the_table_is_as_large_as_promised():
    assert len(DIFFERENT) >= 500
    assert len(EQUAL) >= 150
    assert sum(map(len, (kind.DIFFERENT for kind in KINDS.values()))) == len(DIFFERENT), "a name twice"
    assert sum(map(len, (kind.EQUAL for kind in KINDS.values()))) == len(EQUAL), "a name twice"
    assert DECIDED <= set(EQUAL)


# ---------------------------------------------------------------- what the prover says of it


def decide(row: Different | Equal, almost_everywhere: bool = False) -> uj.Certificate:
    """The certificate of a row, as a user gets it who lets JAX promote dtypes."""
    with jax.numpy_dtype_promotion("standard"):
        return uj.certify(
            row.left, row.right, *row.specs, wrt="grad" if row.wrt else None, almost_everywhere=almost_everywhere
        )


POSITIVE = [name for name, row in DIFFERENT.items() if not row.null_set]
NULL = [name for name, row in DIFFERENT.items() if row.null_set]
BOTH = [(name, almost_everywhere) for name in POSITIVE for almost_everywhere in (False, True)]


@pytest.mark.parametrize("name", one_in(23, NULL))
def test_a_difference_on_a_null_set_is_never_certified(name):
    assert not decide(DIFFERENT[name]).passes


# Prime fields decide a tenth of the rows in the ordinary suite (test_prover_alone.py); all rows are a campaign.
@pytest.mark.parametrize("name, almost_everywhere", one_in(137, BOTH))
def test_a_difference_on_a_set_of_positive_measure_is_never_certified(name, almost_everywhere):
    assert not decide(DIFFERENT[name], almost_everywhere).passes


@pytest.mark.parametrize("name", one_in(20, EQUAL))
def test_twins_are_never_refuted_and_those_decided_stay_certified(name):
    row = EQUAL[name]
    certificate = decide(row, row.almost_everywhere)
    assert certificate.verdict is not Verdict.REFUTED
    assert certificate.passes or name not in DECIDED, str(certificate.evidence[-1])


@pytest.mark.campaign
def test_no_different_pair_is_certified_and_every_listed_twin_is(capsys):
    """Prints how many rows of each kind got which verdict, and the twins that are certified and not yet listed."""
    verdicts = {kind: Counter() for kind in KINDS}
    for name, row in DIFFERENT.items():
        verdicts[name.partition(":")[0]][decide(row).verdict] += 1
    found = {name: decide(row, row.almost_everywhere).verdict for name, row in EQUAL.items()}
    certified = {name for name, verdict in found.items() if verdict in PASSING}
    with capsys.disabled():
        print(f"\n{'different pairs of kind':24} {'rows':>5}  verdicts")
        for kind, counts in verdicts.items():
            print(f"{kind:24} {counts.total():5}  {', '.join(f'{v} {n}' for v, n in counts.most_common())}")
        print(f"twins: {len(certified)} of {len(EQUAL)} certified")
        print(*(f"not listed yet: {name}" for name in sorted(certified - DECIDED)), sep="\n")
    assert not any(counts[verdict] for counts in verdicts.values() for verdict in PASSING)
    assert certified >= DECIDED
