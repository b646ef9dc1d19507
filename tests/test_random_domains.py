"""Random steps on random intervals: none that differs inside is certified, none that is equal inside is refuted.

Ends lie where two steps begin or cease to differ, so that domains are just too small, or just large enough.
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from random import Random

import jax.numpy as jnp
import numpy as np
import pytest
from random_steps import FREE, StepPair, step_pairs

import uat_jax as uj
from uat_jax.decide.domain import Interval, Restricted
from uat_jax.decide.verdict import Verdict

EXCERPT, CAMPAIGN = 6, 600
SEED = 51


@dataclass(frozen=True)
class Confined:
    """Two steps of one number, compared on an interval whose ends are multiples of 1/4."""

    pair: StepPair
    domain: Interval

    def __str__(self) -> str:
        return f"{self.pair} for {self.domain.written()}"

    def differ(self, inputs: np.ndarray) -> bool:
        """Whether the two are different at one of the inputs that lie in the interval."""
        return bool(self.pair.differ(inputs[self.domain.contains(inputs[:, None])]).any())

    @property
    def almost_everywhere(self) -> bool:
        """Whether they are equal except on a null set: as on all numbers, because the ends are no finer than breaks."""
        return not self.differ(FREE - self.pair.left.shift)

    @property
    def everywhere(self) -> bool:
        """Whether they are equal."""
        return self.almost_everywhere and not self.differ(self.pair.special)


def confined(seed: int) -> Iterator[Confined]:
    """Pairs of numbers without end, each with an interval that ends next to an input at which the two differ."""
    random = Random(seed)
    for pair in step_pairs(seed):
        if pair.array:
            continue
        near = np.concatenate([pair.special, FREE - pair.left.shift])
        near = near[np.abs(near + pair.left.shift) <= 16]
        apart = near[pair.differ(near)]
        middle = float(random.choice(apart if len(apart) else near))
        first = (math.floor(4 * middle) + random.choice([-1, 0, 0, 1, 1])) / 4
        length = random.choice([0.25, 0.5, 1, 4, 16, math.inf])
        low, high = (first, first + length) if random.random() < 0.5 else (first - length, first)
        yield Confined(pair, Interval(low, high, open=random.random() < 0.3))


def judged(row: Confined) -> tuple[str, str]:
    """(what is true, what is said); fails if that is a contradiction, in either mode."""
    spec = Restricted((), np.dtype(jnp.float32), row.domain)
    said = uj.certify(row.pair.left, row.pair.right, spec)
    almost = uj.certify(row.pair.left, row.pair.right, spec, almost_everywhere=True)
    for certificate, equal in ((said, row.everywhere), (almost, row.almost_everywhere)):
        assert equal or not certificate.passes, f"{certificate.verdict}, and different: {row}"
        assert not equal or certificate.verdict is not Verdict.REFUTED, f"REFUTED, and equal: {row}"
        if certificate.counterexample:
            point = certificate.counterexample.arrays[0].astype(np.float64).reshape(1)
            assert row.domain.contains(point[:, None]).all() and row.pair.differ(point).all(), str(row)
    truth = "equal" if row.everywhere else "equal almost everywhere" if row.almost_everywhere else "different"
    return truth, f"{said.verdict}, {almost.verdict}"


@pytest.mark.parametrize("row", list(islice(confined(SEED), EXCERPT)), ids=str)
def test_steps_on_intervals(row):
    judged(row)


@pytest.mark.campaign
def test_many_steps_on_intervals():
    counts = Counter(map(judged, islice(confined(SEED + 1), CAMPAIGN)))
    print()
    for (truth, said), count in sorted(counts.items()):
        print(f"{count:5}  {truth:24} {said}")
    assert {truth for truth, _ in counts} == {"equal", "equal almost everywhere", "different"}
