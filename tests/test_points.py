"""Random points of a draw: drawn when they are used, the same whenever they are drawn, uniform, and forgotten."""

import random

import numpy as np
import pytest

from uat_jax.numbers.prime_fields import points
from uat_jax.numbers.prime_fields.degree import ATOM
from uat_jax.numbers.prime_fields.points import Points, PointStore, uniform
from uat_jax.numbers.prime_fields.prime_field import BLOCK
from uat_jax.numbers.prime_fields.random_function import key
from uat_jax.numbers.prime_fields.residues import Draw, Residues
from uat_jax.numbers.prime_fields.tower import draw_levels, draw_primes

PRIMES = draw_primes(1, random.Random(1))

SEED = (20, 26)


def levels(*copies: int):
    return draw_levels(PRIMES[: len(copies)], copies, np.random.default_rng(1))


@pytest.fixture
def forgetful(monkeypatch):
    """Nothing is kept, and rearranged points are made at every use."""
    monkeypatch.setattr(points, "KEPT", 0)
    monkeypatch.setattr(points, "MOVED", 0)


MOVES = {
    "transposed": lambda a: a.transpose(0, 2, 1),
    "flattened": lambda a: a.reshape(len(a), -1),
    "gathered": lambda a: a.reshape(len(a), -1)[:, np.array([[3, 0], [5, 5]])],
}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_points_forgotten_and_drawn_again_are_the_same(move, monkeypatch):
    kept = [PointStore(levels(3, 2), SEED).new((2, 4)) for _ in range(2)]
    there = [np.array(level) for level in kept[0]]
    moved = [np.array(level) for level in kept[1].moved(move)]
    monkeypatch.setattr(points, "KEPT", 0)
    monkeypatch.setattr(points, "MOVED", 0)
    store = PointStore(levels(3, 2), SEED)
    drawn = store.new((2, 4))
    rearranged = drawn.moved(move)
    assert store.size == 0 and isinstance(rearranged, Points)
    assert rearranged.shape == moved[0].shape[1:]
    for _ in range(2):
        assert all(np.array_equal(x, y) for x, y in zip(drawn, there, strict=True))
        assert all(np.array_equal(x, y) for x, y in zip(rearranged, moved, strict=True))
    assert not np.array_equal(store.new((2, 4))[0], there[0])  # the twin: another input is another point


def test_what_was_used_last_is_kept_and_no_more(monkeypatch):
    monkeypatch.setattr(points, "KEPT", 3 * 8 * 10)
    store = PointStore(levels(1), SEED)
    a, b, c = (store.new((10,)) for _ in range(3))
    first = a[0]
    assert a[0] is first
    assert b[0] is b[0] and c[0] is c[0] and a[0] is first and store.size == 240
    d = store.new((10,))
    assert d[0] is d[0] and a[0] is first, "used last"
    assert store.size == 240
    assert np.array_equal(store.new((50,))[0], store._residues(5, 0, (50,))), "larger than what is kept"


@pytest.mark.usefixtures("forgetful")
def test_a_draw_computes_with_levels_that_are_asked_for():
    """A value of one level draws no more than that level of the points that it meets."""
    draw = Draw(levels(2, 2), SEED)
    x, w = draw.variable((3,)), draw.points.new((3,))
    above = draw.exponential(x)
    asked = []
    counted = Points(lambda k: (asked.append(k), w.make(k))[1], 2, (3,), w.size)
    product = draw.multiply(above, Residues(counted, ATOM))
    assert asked == [0] and len(product.levels) == 1


@pytest.mark.parametrize("prime", [3, 5, 1009, PRIMES[0], (1 << 50) - 27])
def test_uniform_residues(prime):
    """In range; the mean of n numbers uniform in [0, p) is within 6 standard deviations, p / √(12 n), of (p - 1)/2."""
    drawn = uniform(key("test", prime)[:4], prime, (3, BLOCK + 7))
    assert drawn.dtype == np.int64 and drawn.min() >= 0 and drawn.max() < prime
    deviation = prime / np.sqrt(12 * drawn.size)
    assert abs(drawn.mean() - (prime - 1) / 2) < 6 * deviation
    assert not np.array_equal(drawn[0], drawn[1])
    if prime < 10:  # every residue has its share, within 6 standard deviations of a binomial count
        share, n = 1 / prime, drawn.size
        counts = np.bincount(drawn.ravel(), minlength=prime)
        assert np.all(np.abs(counts - n * share) < 6 * np.sqrt(n * share * (1 - share)))


@pytest.mark.parametrize("prime", [3, 1009, PRIMES[0], (1 << 50) - 27])
def test_the_largest_number_is_below_the_prime(prime):
    """The largest u is 1 - 2⁻⁵³; 1 - 2⁻⁵⁴, were there such a number, is the twin that reaches p."""
    assert int(np.float64(1 - 2.0**-53) * prime) == prime - 1
    assert int(np.float64(1.0) * prime) == prime
