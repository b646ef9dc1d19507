"""Random steps and integer programs: none that differs is certified, none that is equal is refuted.

Truth is exact evaluation at special inputs: ties, halves, thresholds, the ends of every dtype. JAX agrees with it.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

import jax
import numpy as np
import pytest
from random_integers import IntegerPair, integer_pairs, saturated, wrapped
from random_steps import StepPair, step_pairs

import uat_jax as uj
from uat_jax.decide.verdict import Verdict

EXCERPT, CAMPAIGN = 5, 1_200
SEED = 15


# ---------------------------------------------------------------- steps against thresholds


def jax_agrees(pair: StepPair) -> None:
    """JAX computes of the special inputs what exact evaluation says."""
    inputs = pair.special
    for side in (pair.left, pair.right):
        computed = jax.vmap(side)(jax.numpy.asarray(inputs, np.float32))
        assert np.array_equal(np.asarray(computed), side.exact(inputs)), str(side)


def judged(pair: StepPair) -> tuple[str, str]:
    """(what is true, what is said) of two steps; fails if that is a contradiction, in either mode."""
    said = uj.certify(pair.left, pair.right, pair.spec)
    almost = uj.certify(pair.left, pair.right, pair.spec, almost_everywhere=True)
    for certificate, equal in ((said, pair.everywhere), (almost, pair.almost_everywhere)):
        assert equal or not certificate.passes, f"{certificate.verdict}, and different: {pair}"
        assert not equal or certificate.verdict is not Verdict.REFUTED, f"REFUTED, and equal: {pair}"
    truth = "equal" if pair.everywhere else "equal almost everywhere" if pair.almost_everywhere else "different"
    return truth, f"{said.verdict}, {almost.verdict}"


@pytest.mark.parametrize("pair", list(islice(step_pairs(SEED), EXCERPT)), ids=str)
def test_steps(pair):
    jax_agrees(pair)
    judged(pair)


def test_the_grid_sees_every_difference():
    """A difference at a finer point is one at a special point: the grid is as fine as the breaks."""
    random = np.random.default_rng(SEED)
    for pair in islice(step_pairs(SEED + 1), 200):
        finer = random.integers(-(2**12), 2**12, (500, 3) if pair.array else 500) / 2**8
        assert not (pair.everywhere and pair.differ(finer).any()), str(pair)


# ---------------------------------------------------------------- integer programs


def integers_agree(pair: IntegerPair) -> None:
    """JAX computes of special inputs what whole numbers say."""
    inputs = pair.special()[:: 1 + len(pair.special()) // 400]
    columns = [np.array([float(x[i]) for x in inputs], np.float32) for i in range(pair.inputs)]
    for side in (pair.left, pair.right):
        computed = np.broadcast_to(jax.vmap(lambda *x, n=side: n.in_jax(x))(*columns), len(inputs))
        wrong = [x for x, v in zip(inputs, computed, strict=True) if side.exact_in_floats(x) and v != side.exact(x)]
        assert not wrong, f"{side} at {wrong[0]}"


def integers_judged(pair: IntegerPair) -> tuple[str, str]:
    """(what is true, what is said) of two programs; a difference is one on a unit cell, so both modes say the same."""
    difference = pair.difference()
    equal = difference is None and (pair.lawful or pair.complete)
    assert not (pair.lawful and difference), f"a law that does not hold at {difference}: {pair}"
    certificates = [uj.certify(*pair.functions(), *pair.specs, almost_everywhere=a) for a in (False, True)]
    for certificate in certificates:
        assert difference is None or not certificate.passes, f"{certificate.verdict}, and different: {pair}"
        assert not equal or certificate.verdict is not Verdict.REFUTED, f"REFUTED, and equal: {pair}"
    truth = "equal" if equal else "different" if difference else "alike at special inputs"
    return truth, ", ".join(str(certificate.verdict) for certificate in certificates)


@pytest.mark.parametrize("pair", list(islice(integer_pairs(SEED), EXCERPT)), ids=str)
def test_integers(pair):
    integers_agree(pair)
    integers_judged(pair)


@pytest.mark.parametrize(
    "value, dtype, wanted",
    [
        (128, "int8", -128),
        (-129, "int8", 127),
        (256, "uint8", 0),
        (-1, "uint32", 2**32 - 1),
        (2**31, "int32", -(2**31)),
    ],
)
def test_whole_numbers_wrap(value, dtype, wanted):
    assert wrapped(value, dtype) == wanted


@pytest.mark.parametrize("value, dtype, wanted", [(-0.75, "int8", 0), (200.5, "int8", 127), (-1.5, "uint8", 0)])
def test_casts_saturate_toward_zero(value, dtype, wanted):
    assert saturated(value, dtype) == wanted


# ---------------------------------------------------------------- the campaign


def table(title: str, outcomes: Iterator[tuple[str, str]], capsys: Any) -> Counter:
    """Counts what is true against what is said, and prints it."""
    counts = Counter(outcomes)
    with capsys.disabled():
        print(f"\n{title}, {counts.total()} pairs\n{'true':26} {'said, and almost everywhere':34} pairs")
        for (truth, said), number in sorted(counts.items()):
            print(f"{truth:26} {said:34} {number:5}")
    return counts


def collected(pairs: Iterator[Any], agree: Any, judge: Any) -> tuple[list[tuple[str, str]], list[str]]:
    """The outcomes, and the contradictions instead of stopping at the first."""
    outcomes, contradictions = [], []
    for pair in islice(pairs, CAMPAIGN):
        agree(pair)
        try:
            outcomes.append(judge(pair))
        except AssertionError as error:
            contradictions.append(str(error).splitlines()[0])
    return outcomes, contradictions


@pytest.mark.campaign
@pytest.mark.parametrize(
    "title, pairs, agree, judge",
    [
        ("steps against thresholds", step_pairs, jax_agrees, judged),
        ("integer programs", integer_pairs, integers_agree, integers_judged),
    ],
)
def test_campaign(title, pairs, agree, judge, capsys):
    outcomes, contradictions = collected(pairs(SEED), agree, judge)
    counts = table(title, iter(outcomes), capsys)
    assert not contradictions, f"{len(contradictions)} of {CAMPAIGN}: " + "\n".join(contradictions[:20])
    assert {truth for truth, _ in counts} >= {"equal", "different"}
