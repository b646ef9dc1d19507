"""Prime fields agree with Python's integers, for every operation, shape and size of prime; towers are what they say."""

import random
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpz

from uat_jax.numbers.prime_fields import prime_field
from uat_jax.numbers.prime_fields.limbs import FloatLimbs
from uat_jax.numbers.prime_fields.prime_field import BITS, BLOCK, FEW, PrimeField
from uat_jax.numbers.prime_fields.tower import draw_levels, draw_primes, squares

SEED = 20260


def _largest_prime(bits: int) -> int:
    """The largest prime below 2^bits."""
    return next(n for n in range((1 << bits) - 1, 2, -1) if fmpz(n).is_prime())


PRIMES = [3, *(_largest_prime(bits) for bits in (3, 5, 17, 31, 42, 49, 50))]
SHAPES = [((1,), (1,)), ((7,), (1,)), ((0,), (1,)), ((2, 0, 3), (1, 1, 1)), ((2, 3, 4), (2, 1, 4)), ((1, 3), (5, 1))]
PRODUCTS = [((1, 1, 1), (1, 1, 1)), ((2, 3, 4), (2, 4, 5)), ((3, 0, 4), (3, 4, 2)), ((3, 2, 0), (3, 0, 2))]
PRODUCTS += [((4, 5), (5, 3)), ((1, 2, 3, 4), (6, 2, 4, 1)), ((6, 1, 3, 40), (6, 1, 40, 2)), ((0, 2, 3), (0, 3, 2))]


@pytest.fixture(params=PRIMES, ids=lambda p: f"{p.bit_length()} bits, {p}")
def field(request) -> PrimeField:
    return PrimeField(request.param)


@pytest.fixture(params=["host", "limbs", "device"])
def place(request, monkeypatch) -> str:
    """Products of matrices as they come; all of them by NumPy in limbs; all by jitted JAX, blocks of three entries."""
    if request.param != "host":
        monkeypatch.setattr(prime_field, "SMALL", -1)
    if request.param == "device":
        monkeypatch.setattr(prime_field, "LARGE", 0)
        monkeypatch.setattr(prime_field, "BLOCK", 3)
    return request.param


def residues(field: PrimeField, shape: tuple[int, ...], seed: int = SEED) -> np.ndarray:
    """Random residues, a third of them extreme: 0, 1, 2, p - 2 or p - 1."""
    generator = np.random.default_rng(seed)
    extreme = np.array([0, 1, 2, field.prime - 2, field.prime - 1])
    uniform = generator.integers(0, field.prime, shape)
    return np.where(generator.random(shape) < 1 / 3, generator.choice(extreme, shape), uniform)


def exact(array: np.ndarray) -> np.ndarray:
    """The same numbers as Python's integers."""
    return np.array([int(n) for n in array.ravel()], object).reshape(array.shape)


def agrees(found: np.ndarray, expected: np.ndarray, prime: int) -> bool:
    """Whether residues (int64, from 0 to p - 1) are those of whole numbers of any size."""
    expected = np.asarray(expected % prime, object)
    return found.dtype == np.int64 and found.shape == expected.shape and bool(np.all(found == expected))


# --- entry by entry -------------------------------------------------------------------------------


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_ring_operations(field, place, shapes):
    a, b = residues(field, shapes[0]), residues(field, shapes[1], SEED + 1)
    x, y = exact(a), exact(b)
    assert agrees(field.add(a, b), x + y, field.prime)
    assert agrees(field.subtract(a, b), x - y, field.prime)
    assert agrees(field.negate(a), -x, field.prime)
    assert agrees(field.multiply(a, b), x * y, field.prime)


def test_every_pair_of_extreme_residues(field):
    p = field.prime
    extreme = np.array(sorted({n % p for n in (0, 1, 2, p // 2, p // 2 + 1, p - 2, p - 1)}))
    assert agrees(field.multiply(extreme[:, None], extreme[None]), exact(extreme)[:, None] * exact(extreme)[None], p)
    assert agrees(field.add(extreme[:, None], extreme[None]), exact(extreme)[:, None] + exact(extreme)[None], p)


def test_operands_are_left_alone(field, place):
    a, b = residues(field, (5, 3)), residues(field, (5, 3), 1)
    before = a.copy(), b.copy()
    for operation in (field.add, field.subtract, field.multiply):
        operation(a, b)
    field.reduce(a)
    field.sum(a, (0,))
    field.matmul(a, b.T)
    field.power(a, 5)
    assert np.array_equal(a, before[0]) and np.array_equal(b, before[1])


@pytest.mark.parametrize("size", [BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5])
def test_blocks_meet_without_gaps(size):
    field = PrimeField(PRIMES[-1])
    a, b = residues(field, (2, size)), residues(field, (2, 1), 1)
    assert agrees(field.multiply(a, b), exact(a) * exact(b), field.prime)
    assert agrees(field.multiply(b, a[:, ::-1]), exact(b) * exact(a[:, ::-1]), field.prime)  # not contiguous


def test_a_wrong_residue_is_noticed(field):
    a = residues(field, (2, 3))
    wrong = field.multiply(a, a)
    wrong[1, 2] = (wrong[1, 2] + 1) % field.prime
    assert not agrees(wrong, exact(a) ** 2, field.prime)
    assert not agrees(field.multiply(a, a) + field.prime, exact(a) ** 2, field.prime)  # not reduced


def test_reduction_up_to_its_bound(field):
    p, bound = field.prime, (1 << 62) - 1
    numbers = [n + shift for n in (0, p, p * p, bound // p * p) for shift in (-1, 0, 1)] + [bound, bound - 1]
    a = np.array([sign * n for n in numbers if abs(n) <= bound for sign in (1, -1)])
    assert agrees(field.reduce(a), exact(a), p)
    generator = np.random.default_rng(SEED)
    a = generator.integers(-bound, bound + 1, (40, 5))
    assert agrees(field.reduce(a), exact(a), p)


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 17, 1 << 40])
def test_power(field, place, exponent):
    a = residues(field, (3, 4))
    expected = np.array([pow(int(n), exponent, field.prime) for n in a.ravel()], object).reshape(a.shape)
    assert agrees(field.power(a, exponent), expected, field.prime)


@pytest.mark.parametrize("shape", [(1,), (0,), (7,), (3, 1, 5), (2, 0), (FEW,), (FEW + 1,), (3, FEW + 2)])
def test_inverse(field, place, shape):
    a = residues(field, shape)
    a[a == 0] = field.prime - 1
    found = field.inverse(a)
    assert agrees(found * 0 + found, found.astype(object), field.prime)
    assert agrees(field.multiply(a, found), np.ones(shape, object), field.prime)


def test_zero_has_no_inverse(field):
    with pytest.raises(ZeroDivisionError, match="an entry is 0"):
        field.inverse(np.array([[1, 0], [1, 1]]))


@pytest.mark.parametrize("largest", [1, 2, 256, 257, 1 << 20, 1 << 50])
def test_exponential(field, place, largest):
    base = 2 % field.prime
    generator = np.random.default_rng(SEED)
    exponents = np.concatenate([generator.integers(0, largest, 11), [0, largest - 1]]).reshape(1, 13)
    expected = np.array([pow(base, int(e), field.prime) for e in exponents.ravel()], object).reshape(1, 13)
    for _ in range(2):  # tables are kept
        assert agrees(field.exponential(base, exponents, largest), expected, field.prime)
    if field.prime > 3 and largest > 2:
        other = field.exponential(3, exponents, largest)
        assert not agrees(other, expected, field.prime)


@pytest.mark.parametrize("length", [0, 1, 4096, 4097, 20000])
def test_sum(field, length):
    for a in (residues(field, (2, length, 1)), np.full((2, length, 1), field.prime - 1)):
        assert agrees(field.sum(a, (1,)), np.array(exact(a).sum(axis=1), object), field.prime)
        assert agrees(field.sum(a, (1, 2)), np.array(exact(a).sum(axis=(1, 2)), object), field.prime)


def test_fractions(field):
    p = field.prime
    for value in (Fraction(1, 2), Fraction(-7, 4), Fraction(10**30, 1)):
        assert field.fraction(value.numerator, value.denominator) * value.denominator % p == value.numerator % p
    with pytest.raises(ZeroDivisionError, match="divides"):
        field.fraction(1, p)


def test_floats_are_exact(field):
    extremes = [0.0, -0.0, 1.0, -1.0, 0.1, 2.0**-1074, 2.0**1023, 1 - 2.0**-53, -(2.0**-1022), np.pi]
    array = np.concatenate([extremes, np.random.default_rng(SEED).normal(size=14)]).reshape(4, 6)
    fractions = [Fraction(float(x)) for x in array.ravel()]
    expected = [f.numerator * pow(f.denominator, -1, field.prime) for f in fractions]
    assert agrees(field.floats(array), np.array(expected, object).reshape(4, 6), field.prime)
    assert field.floats(np.zeros((1, 0))).shape == (1, 0)


@pytest.mark.parametrize("prime", [2, 1, 0, -3, 1 << BITS, (1 << 61) - 1])
def test_primes_out_of_range(prime):
    with pytest.raises(ValueError, match="out of range"):
        PrimeField(prime)


# --- products of matrices -------------------------------------------------------------------------


@pytest.mark.parametrize("shapes", PRODUCTS, ids=str)
def test_matmul(field, place, shapes):
    a, b = residues(field, shapes[0]), residues(field, shapes[1], SEED + 1)
    assert agrees(field.matmul(a, b), np.asarray(np.matmul(exact(a), exact(b)), object), field.prime)


@pytest.mark.parametrize("terms", [1, 127, 128, 1 << 12, 1 << 17])
def test_longest_sums_of_the_largest_entries(field, place, terms):
    """Every entry is p - 1, ½(p - 1) or ½(p + 1): the limbs and their sums are as large as they get."""
    for number in (field.prime - 1, field.prime // 2, field.prime // 2 + 1):
        a = np.full((1, terms), number)
        assert field.matmul(a, a.T).item() == terms * number**2 % field.prime
        a[0, 0] = 0
        assert field.matmul(a, a.T).item() == (terms - 1) * number**2 % field.prime


def test_sums_too_long_for_the_limbs_are_noticed(place, monkeypatch):
    """The twin: with two limbs of 25 bits, sums of odd products exceed 2⁵³ and are rounded."""
    monkeypatch.setattr(prime_field, "SMALL", -1)  # without limbs there is nothing to be noticed
    field = PrimeField(PRIMES[-1])
    generator, half = np.random.default_rng(SEED), field.prime // 2
    a, b = (generator.integers(half - 1000, half, shape) for shape in ((4, 201), (201, 4)))
    expected = np.matmul(exact(a), exact(b))
    assert agrees(field.matmul(a, b), expected, field.prime)
    twin = type("TooLong", (FloatLimbs,), {"terms": 201})(50, 2, 2, 25)
    monkeypatch.setattr(prime_field, "float_limbs", lambda *size, **more: twin)
    monkeypatch.setattr(prime_field, "limbs_on", lambda device, prime, terms: twin)
    assert not agrees(field.matmul(a, b), expected, field.prime)


@pytest.mark.parametrize("copies", [1, 2, 3])
def test_products_about_as_small_as_need_no_limbs(copies, monkeypatch):
    """SMALL terms are multiplied as they are, one more in limbs; the batch shapes broadcast."""
    field, seen = PrimeField(PRIMES[-1]), []
    on_host = field._matmul_on_host
    monkeypatch.setattr(field, "_matmul_on_host", lambda a, b: (seen.append(a.shape), on_host(a, b))[1])
    monkeypatch.setattr(prime_field, "SMALL", copies * 30)
    for columns, ways in ((5, []), (6, [(copies, 2, 3)])):
        a, b = residues(field, (copies, 2, 3)), residues(field, (1, 3, columns), SEED + 1)
        assert agrees(field.matmul(a, b), np.asarray(np.matmul(exact(a), exact(b)), object), field.prime)
        assert seen == ways


PIECES = [((2, 9, 4), (2, 4, 5)), ((1, 3, 11), (1, 11, 2)), ((3, 2, 3), (3, 3, 17)), ((1, 8, 2, 3), (1, 8, 3, 2))]
"""Products whose longest axis is that of the rows, of the sum, of the columns, of the stack of matrices."""


@pytest.mark.parametrize("shapes", PIECES, ids=str)
def test_products_in_pieces_are_the_same_bit_for_bit(shapes, monkeypatch):
    monkeypatch.setattr(prime_field, "SMALL", -1)
    monkeypatch.setattr(prime_field, "BLOCK", 3)
    field, seen = PrimeField(PRIMES[-1]), []
    a, b = residues(field, shapes[0]), residues(field, shapes[1], SEED + 1)
    whole = field.matmul(a, b)
    on_host = field._matmul_on_host
    monkeypatch.setattr(field, "_matmul_on_host", lambda x, y: (seen.append((x.shape, y.shape)), on_host(x, y))[1])
    for piece in (1, 12, 25, 40):
        monkeypatch.setattr(prime_field, "PIECE", piece)
        seen.clear()
        assert np.array_equal(field.matmul(a, b), whole)
        assert len(seen) > shapes[0][0], "nothing was cut"
        assert not np.array_equal(field.matmul(a, field.add(b, np.ones_like(b))), whole)  # the twin


def test_small_and_large_products_take_different_ways(monkeypatch):
    """Only matrices with many terms are compiled, whatever the number of copies."""
    monkeypatch.setattr(prime_field, "SMALL", 0)
    field, seen = PrimeField(PRIMES[-1]), []
    compiled = prime_field._compiled
    monkeypatch.setattr(prime_field, "_compiled", lambda a, *more: (seen.append(a.shape), compiled(a, *more))[1])
    monkeypatch.setattr(prime_field, "BLOCK", 3)
    monkeypatch.setattr(prime_field, "LARGE", 24)
    field.matmul(residues(field, (9, 2, 3)), residues(field, (9, 3, 3)))
    assert seen == []
    field.matmul(residues(field, (9, 2, 3)), residues(field, (9, 3, 4)))
    assert seen == [(2, 3)] * 9


# --- towers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [0, 1, 2, 3, 5, pytest.param(12, marks=pytest.mark.campaign)])
@pytest.mark.parametrize("step", [2, 4])
def test_towers_of_primes(depth, step):
    primes = draw_primes(depth, random.Random(SEED + depth), step=step)
    assert len(primes) == depth + 1 and primes[0] < 1 << BITS
    assert all(fmpz(p).is_prime() for p in primes)
    assert all((p - 1) % (step * q) == 0 for p, q in zip(primes, primes[1:], strict=False))
    assert all(pow(q, (p - 1) // 2, p) == 1 for p in primes for q in squares(depth))


def test_towers_differ_from_draw_to_draw():
    assert draw_primes(1, random.Random(1)) != draw_primes(1, random.Random(2))
    assert draw_primes(1, random.Random(1)) == draw_primes(1, random.Random(1))


def test_small_towers_and_impossible_ones():
    primes = draw_primes(1, random.Random(SEED), bits=17)
    assert primes[0] < 1 << 17 and (primes[0] - 1) % primes[1] == 0
    with pytest.raises(ValueError, match="wanted fewer levels"):
        draw_primes(9, random.Random(SEED), bits=12)


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_levels(depth):
    primes, copies = draw_primes(depth, random.Random(SEED), step=4), tuple(range(3, 4 + depth))
    levels = draw_levels(primes, copies, np.random.default_rng(SEED))
    assert [level.field.prime for level in levels] == list(primes) and [level.copies for level in levels] == [*copies]
    assert levels[-1].generator is None and levels[-1].mixing is None
    for k, (level, below) in enumerate(zip(levels, levels[1:], strict=False)):
        p, q = primes[k], below.field.prime
        assert level.generator is not None and level.mixing is not None
        assert level.generator != 1 and pow(level.generator, q, p) == 1  # q is prime: the order is q
        assert level.mixing.shape == (copies[k], copies[k + 1])
        assert level.mixing.min() >= 0 and level.mixing.max() < q
        assert level.imaginary**2 % p == p - 1


@pytest.mark.parametrize("number", [1, 2, 3, 4, 6, 8, 12, 35, 210])
def test_roots(number):
    (level,) = draw_levels(draw_primes(0, random.Random(SEED)), (3,), np.random.default_rng(SEED))
    p = level.field.prime
    assert level.has_root(number)
    positive, negative = level.root(number, np.array([False, True]))
    assert int(positive) ** 2 % p == number and int(negative) == p - int(positive)
    assert not level.has_root(11 * number)  # only 2, 3, 5 and 7 are asked for
