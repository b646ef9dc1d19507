"""A random network written twice is one function, and with one mistake it is another."""

import time
from collections import Counter
from collections.abc import Callable

import pytest
from excerpt import one_in
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from mutants import Difference, differs
from random_networks import LAYERS, MISTAKE, SIZES, Layer, Network, pairs, twins

import uat_jax as uj
from uat_jax.interpret.tracing import trace

# The examples are the same in every run. A network is traced and decided in tens of milliseconds, not in the few
# that Hypothesis expects, and a mistake that changes nothing at small sizes is drawn again.
REPEATABLE = settings(
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


def difference(left: Callable, right: Callable, specs: tuple) -> Difference:
    """What evaluation at random inputs says about two functions."""
    return differs(trace(left, *specs), trace(right, *specs), seed=0)


# --- the generator -------------------------------------------------------------------------------------------------


def alone(layer: Layer, shape: tuple[int, int], way: int) -> Network:
    return Network(shape, (layer,), (way,), (0,))


@pytest.mark.parametrize("kind", one_in(3, LAYERS), ids=lambda kind: kind.__name__)
def test_the_ways_of_a_layer_agree_and_its_mistake_does_not(kind):
    found = Counter()

    @settings(REPEATABLE, max_examples=12)
    @given(st.tuples(SIZES, SIZES), st.data())
    def check(shape, data):
        layer = kind(data.draw, shape)
        first, *others = (alone(layer, shape, way) for way in range(len(layer.ways)))
        assert {difference(first, other, first.specs) for other in others} == {Difference.SAME}
        found[difference(first, alone(layer, shape, MISTAKE), first.specs)] += 1

    check()
    assert found[Difference.DIFFERENT] > 0


# --- their verdicts ------------------------------------------------------------------------------------------------


@pytest.mark.campaign
@settings(REPEATABLE, max_examples=60)
@given(pairs())
def test_a_network_written_twice_is_certified(pair):
    left, right, specs = pair
    certificate = uj.certify(left, right, *specs)
    assert certificate.verdict == uj.Verdict.CERTIFIED, certificate


@settings(REPEATABLE, max_examples=15)
@given(twins())
def test_one_weight_or_one_layer_wrong_is_refuted(twin):
    left, wrong, specs = twin
    assume(difference(left, wrong, specs) == Difference.DIFFERENT)
    certificate = uj.certify(left, wrong, *specs)
    assert certificate.verdict == uj.Verdict.REFUTED, certificate
    assert certificate.counterexample is not None


@pytest.mark.campaign
def test_no_network_written_twice_is_refuted_in_10000():
    verdicts, undecided, start = Counter(), Counter(), time.monotonic()

    @settings(REPEATABLE, max_examples=10_000)
    @given(pairs())
    def decide(pair):
        left, right, specs = pair
        verdict = uj.certify(left, right, *specs).verdict
        verdicts[verdict] += 1
        if verdict != uj.Verdict.CERTIFIED:
            undecided.update({layer.name for layer in left.layers})
        assert verdict != uj.Verdict.REFUTED

    decide()
    print(f"{verdicts.total()} networks in {time.monotonic() - start:.0f} s:", dict(verdicts))
    print("layers of those not certified:", dict(undecided.most_common()))
    assert verdicts.total() >= 10_000
