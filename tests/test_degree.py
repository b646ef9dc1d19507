"""The degree that is counted while a program runs bounds the true degree of what it computes."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest
from sympy import QQ
from sympy.polys.fields import field

from uat_jax.numbers.prime_fields.residues import Draw, Residues
from uat_jax.numbers.prime_fields.tower import draw_levels

_, *ATOMS = field("x0:6", QQ)
ZERO, ONE = ATOMS[0] - ATOMS[0], ATOMS[0] / ATOMS[0]
PRIME = 562949953421231
"""The largest prime below 2⁴⁹."""


def drawn(copies: int, *seed: int) -> Draw:
    return Draw(draw_levels((PRIME,), (copies,), np.random.default_rng(seed)), seed)


@dataclass
class Both:
    """An array in a draw, and the same array as rational functions of the inputs."""

    residues: Residues
    formal: np.ndarray


def inputs(draw: Draw, first: int, count: int) -> Both:
    return Both(draw.variable((count,)), np.array(ATOMS[first : first + count], object))


def random_program(seed: int, steps: int = 5) -> tuple[Draw, list[Both]]:
    """Sums, products, inverses, total sums, reversals and reshapes of two arrays of three inputs each."""
    random = np.random.default_rng(seed)
    draw = drawn(1, 10, seed)
    values = [inputs(draw, 0, 3), inputs(draw, 3, 3)]
    for _ in range(steps):
        a, b = (values[i] for i in random.integers(max(0, len(values) - 4), len(values), 2))
        values.append(OPERATIONS[random.integers(len(OPERATIONS))](draw, a, b))
        if max(map(true_degree, values[-1].formal)) > 12:
            break
    return draw, values


def _inverse(draw: Draw, a: Both, b: Both) -> Both:
    if not all(a.formal):
        return a
    return Both(draw.inverse(a.residues), np.array([ONE / x for x in a.formal]))


def _spread_sum(draw: Draw, a: Both, b: Both) -> Both:
    """b times the sum of a."""
    total = draw.sum(a.residues, (0,)).moved(lambda r: np.broadcast_to(r[:, None], (len(r), 3)).copy())
    formal = sum(a.formal, ZERO)
    return Both(draw.multiply(total, b.residues), np.array([formal * y for y in b.formal]))


def _through_a_matrix(draw: Draw, a: Both, b: Both) -> Both:
    """A product taken in another shape."""
    product = draw.multiply(a.residues.reshaped((3, 1)), b.residues.reshaped((3, 1)))
    return Both(product.reshaped((3,)), a.formal * b.formal)


OPERATIONS = [
    lambda draw, a, b: Both(draw.add(a.residues, b.residues), a.formal + b.formal),
    lambda draw, a, b: Both(draw.multiply(a.residues, b.residues), a.formal * b.formal),
    lambda draw, a, b: Both(a.residues.moved(lambda r: r[:, ::-1].copy()), a.formal[::-1]),
    lambda draw, a, b: Both(draw.power(a.residues, 2), a.formal**2),
    _inverse,
    _inverse,
    _spread_sum,
    _through_a_matrix,
]


def true_degree(element) -> int:
    """Of numerator and denominator, in lowest terms."""
    return max(max((sum(monomial) for monomial in part), default=0) for part in (element.numer, element.denom))


@pytest.mark.parametrize("seed", range(60))
def test_degrees_are_upper_bounds(seed):
    """Of every entry by `cleared`, of differences of two entries by twice that, of combinations of all if mixed."""
    draw, values = random_program(seed)
    cleared = draw.inversions.cleared
    for value in values:
        degree = value.residues.degree
        assert max(map(true_degree, value.formal)) <= cleared(degree), f"seed {seed}"
        pairs = [x - y for x, y in combinations(value.formal, 2)]
        assert max(map(true_degree, pairs)) <= 2 * cleared(degree), f"seed {seed}"
        if true_degree(value.formal[0]) <= 6:
            together = sum((k * x for k, x in enumerate(value.formal, 2)), ZERO)
            assert true_degree(together) <= cleared(degree.mixed()), f"seed {seed}"


def test_degrees_without_clearing_are_caught():
    """Neither the total, nor `cleared` for two entries, nor twice that for all of them is an upper bound."""
    draw = drawn(
        1,
        11,
    )
    x, y = inputs(draw, 0, 3), inputs(draw, 3, 3)
    z = _inverse(draw, x, x)
    w = Both(draw.add(y.residues, draw.multiply(z.residues, z.residues)), y.formal + z.formal**2)
    degree, cleared = w.residues.degree, draw.inversions.cleared
    assert true_degree(w.formal[0]) > degree.total
    assert true_degree(w.formal[0] - w.formal[1]) > cleared(degree)
    one = Both(draw.add(y.residues, z.residues), y.formal + z.formal)
    powers = one.residues.degree.inverses
    assert true_degree(one.formal[0] + 2 * one.formal[1] + 3 * one.formal[2]) >= 2 * cleared(one.residues.degree)
    assert [aligned for _, aligned in powers.values()] == [True]


def test_different_divisors_are_counted_once():
    draw = drawn(
        2,
        12,
    )
    x = draw.variable((3,)).moved(lambda r: np.repeat(r, 4, axis=1))
    draw.inverse(x)
    assert draw.inversions.divisors[0][0] == 3
