"""Products modulo a prime are exact with every kind of limbs; limbs that are not are refused, and would be noticed."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flint import fmpz, nmod_mat

from uat_jax.devices import default_device
from uat_jax.errors import InexactLimbsError
from uat_jax.numbers.prime_fields import limbs as limbs_module
from uat_jax.numbers.prime_fields import modular_matmul as kernel
from uat_jax.numbers.prime_fields.limbs import (
    LIMBS,
    SPLITS,
    WIDTHS,
    ByteLimbs,
    FloatLimbs,
    float_limbs,
    limbs_of,
    number_on,
)
from uat_jax.numbers.prime_fields.modular_matmul import (
    centred,
    check_device,
    joined,
    limbs_on,
    modular_matmul,
)
from uat_jax.numbers.prime_fields.prime_field import limbs_in_use

SEED = 4711
MULTIPLY = jax.jit(modular_matmul, static_argnums=3)
KINDS = [*(float_limbs(width, 1000) for width in WIDTHS), float_limbs(50, 8), ByteLimbs(31), ByteLimbs(62)]
BROADCASTS = [((3, 1, 2, 4), (2, 4, 1)), ((2, 3, 0), (2, 0, 2)), ((0, 2, 3), (3, 2))]


def largest_prime(bits: int) -> int:
    """The largest prime below 2^bits."""
    return next(n for n in range((1 << bits) - 1, 2, -1) if fmpz(n).is_prime())


def residues(prime: int, shape: tuple[int, ...], seed: int = SEED) -> np.ndarray:
    """Random residues, half of them extreme: whole or centred, or with extreme digits."""
    generator = np.random.default_rng(seed)
    digits = [sum(sign << (bits * i) >> 1 for i in range(1, 62 // bits)) for bits in (8, 15, 21) for sign in (1, -1)]
    extreme = np.array([n % prime for n in (0, 1, -1, prime // 2, prime // 2 + 1, *digits)])
    return np.where(
        generator.random(shape) < 0.5, generator.choice(extreme, shape), generator.integers(0, prime, shape)
    )


def product(a: np.ndarray, b: np.ndarray, prime: int, limbs) -> np.ndarray:
    """By the compiled kernel."""
    with jax.enable_x64(True):
        return np.asarray(MULTIPLY(a, b, prime, limbs))


def agrees(found: np.ndarray, a: np.ndarray, b: np.ndarray, prime: int) -> bool:
    """With Python's integers."""
    expected = np.asarray(np.matmul(a.astype(object), b.astype(object)) % prime, object)
    return found.dtype == np.int64 and found.shape == expected.shape and bool(np.all(found == expected))


def of_kinds(test):
    return pytest.mark.parametrize("limbs", KINDS, ids=str)(test)


# --- right answers --------------------------------------------------------------------------------


@of_kinds
def test_all_primes_of_a_width(limbs):
    """One kernel for all of them; the longest sums of the largest residues, and two pieces where those are short."""
    terms = limbs.terms + 1 if limbs.terms < 600 else min(limbs.terms, 1 << 14)
    for prime in (3, 251, largest_prime(limbs.width)):
        a, b = residues(prime, (4, terms)), residues(prime, (terms, 3), SEED + 1)
        a[0], a[1], a[2], b[:, 0] = prime - 1, prime // 2, prime // 2 + 1, prime // 2 + 1
        assert agrees(product(a, b, prime, limbs), a, b, prime), prime


@pytest.mark.parametrize("limbs", [float_limbs(31, 9), ByteLimbs(31)], ids=str)
@pytest.mark.parametrize("shapes", BROADCASTS, ids=str)
def test_stacks_and_empty_matrices(limbs, shapes):
    prime = largest_prime(31)
    a, b = residues(prime, shapes[0]), residues(prime, shapes[1], SEED + 1)
    assert agrees(product(a, b, prime, limbs), a, b, prime)


@pytest.mark.parametrize("platform", ["cpu", "tpu"])
@pytest.mark.parametrize("bits", [31, 61])
def test_no_terms(platform, bits):
    prime = largest_prime(bits)
    a, b = residues(prime, (2, 0)), residues(prime, (0, 3))
    assert agrees(product(a, b, prime, limbs_of(platform, prime, 0)), a, b, prime)


@pytest.mark.parametrize("bits", [31, 61])
def test_flint_finds_the_same(bits):
    n, prime = 64, largest_prime(bits)
    a, b = residues(prime, (n, n)), residues(prime, (n, n), SEED + 1)
    as_flint = lambda array: nmod_mat(n, n, array.ravel().tolist(), prime)
    assert as_flint(product(a, b, prime, float_limbs(bits, n))) == as_flint(a) * as_flint(b)


@pytest.mark.parametrize("inverse_of", [np.float64, np.float32])
def test_digits_as_large_as_they_get(inverse_of):
    """Horner's rule with the largest digits and words, in the arithmetic of either quotient."""
    bits, largest = (25, 1 << 62) if inverse_of is np.float64 else (8, 1 << 40)
    generator = np.random.default_rng(SEED)
    for prime in (3, 65537, largest_prime(31), kernel.PROBE):
        digits = generator.integers(-largest + 1, largest, (5, 200))
        digits[:, :2] = [[largest - 1, 1 - largest]] * 5
        expected = sum(digits[s].astype(object) << (bits * s) for s in range(5)) % prime
        assert np.all(joined(list(digits), bits, prime, 1 / inverse_of(prime)) == expected), prime


# --- bounds ---------------------------------------------------------------------------------------


@of_kinds
def test_sums_stay_where_they_are_exact(limbs):
    """The bound from the factors themselves: the largest that extreme residues have, times the number of terms."""
    prime = largest_prime(limbs.width)
    a = centred(residues(prime, (1, 4000)), prime)
    factors = limbs.factors(a.T, a)
    if isinstance(limbs, FloatLimbs):
        assert all(np.abs(x).max() * np.abs(y).max() * limbs.terms <= 2**53 for x, y in factors)
    else:
        assert all(x.dtype == y.dtype == np.int8 for x, y in factors)
        assert limbs.count * limbs.terms * 128 * 128 < 2**31 <= limbs.count * (limbs.terms + 1) * 128 * 128 + 2**14 * 8


@pytest.mark.parametrize("width", WIDTHS)
def test_no_fewer_products_would_do(width):
    """For 256 terms; and the number of products is what the docstring says."""
    found = float_limbs(width, 256)
    assert len(found.points) == {22: 1, 31: 2, 40: 3}.get(width, 5)
    for left, right in SPLITS[: SPLITS.index((found.left, found.right))]:
        assert all(FloatLimbs(width, left, right, bits).terms < 256 for bits in range(1, width))


@pytest.mark.parametrize("limbs", [float_limbs(61, 4), ByteLimbs(31)], ids=str)
def test_products_are_of_the_stated_dtypes(limbs):
    """No products of 64-bit integers; highest precision; int8 added in int32."""
    matrix = np.ones((4, 4), np.int64)
    with jax.enable_x64(True):
        dots = list(_dots(jax.make_jaxpr(modular_matmul, static_argnums=3)(matrix, matrix, 7, limbs).jaxpr))
    assert len(dots) == len(limbs.factors(matrix, matrix))
    for dot in dots:
        assert {v.aval.dtype for v in dot.invars} == {np.dtype(limbs.number)}
        assert dot.params["preferred_element_type"] == np.dtype(limbs.total) == dot.outvars[0].aval.dtype
        assert dot.params["precision"] == (jax.lax.Precision.HIGHEST,) * 2


def _dots(jaxpr):
    """All products of matrices, also inside loops and calls."""
    for equation in jaxpr.eqns:
        if equation.primitive.name == "dot_general":
            yield equation
        for inner in jax.tree.leaves(list(equation.params.values()), is_leaf=lambda p: hasattr(p, "eqns")):
            inner = getattr(inner, "jaxpr", inner)
            if hasattr(inner, "eqns"):
                yield from _dots(inner)


# --- wrong twins, and what is refused ---------------------------------------------------------------


class TooLong(FloatLimbs):
    """The twin that claims that longer sums are exact."""

    terms = functools.cached_property(lambda self: 1 << 14)


class Rounded(FloatLimbs):
    """The twin whose factors are rounded as a bfloat16 pass would round them."""

    def factors(self, a, b):
        return [tuple(x.astype(jnp.bfloat16).astype(np.float64) for x in pair) for pair in super().factors(a, b)]


class Wrapping(ByteLimbs):
    """The twin with one byte too few."""

    count = property(lambda self: 3)


class Short(FloatLimbs):
    """The twin whose sums have 52 bits."""

    def digits(self, products):
        return super().digits([jnp.where(abs(c) < 1 << 52, c, c & -2) for c in products])


class ShortBytes(ByteLimbs):
    """The twin whose sums have 30 bits."""

    def digits(self, products):
        return super().digits([jnp.where(abs(c) < 1 << 30, c, c & -2) for c in products])


@pytest.mark.parametrize(
    "twin", [TooLong(61, 3, 3, 21), TooLong(31, 1, 2, 15), Rounded(61, 3, 3, 21), Wrapping(31)], ids=str
)
def test_inexact_limbs_would_be_noticed(twin):
    """Every digit is nearly as large as it may be, and positive, so that sums are long."""
    prime, generator = largest_prime(twin.width), np.random.default_rng(SEED)
    count = (twin.width - 2) // twin.bits + 1
    magnitudes = [1 << min(twin.bits - 1, twin.width - 1 - i * twin.bits) for i in range(count)]
    digit = lambda m, shape: generator.integers(m - m // 8 - 1, m, shape)
    entries = lambda *shape: np.sum([digit(m, shape) << (i * twin.bits) for i, m in enumerate(magnitudes)], axis=0)
    a, b = entries(3, 2000), entries(2000, 2)
    assert not agrees(product(a, b, prime, twin), a, b, prime)


@pytest.mark.parametrize("wrong", [Rounded(62, 3, 3, 21), Wrapping(62), Short(62, 3, 3, 21), ShortBytes(62)], ids=str)
def test_a_device_that_multiplies_wrongly_is_refused(monkeypatch, wrong):
    device = default_device()
    monkeypatch.setattr(limbs_module, "LIMBS", {device.platform: lambda width, terms: wrong})
    with pytest.raises(InexactLimbsError, match="multiplies .* wrongly; wanted exact sums: choose another device"):
        check_device.__wrapped__(device)


def test_platforms_and_their_limbs():
    numbers = {platform: np.dtype(limbs_of(platform, 65537, 8).number).name for platform in LIMBS}
    assert numbers == {"cpu": "float64", "gpu": "float64", "tpu": "int8"}
    assert limbs_on(default_device(), 65537, 8) == float_limbs(17, 8)
    assert number_on("METAL") == "none" and limbs_in_use() == {"host": "float64", "cpu": "float64"}


@pytest.mark.parametrize(
    "platform, prime, terms, message",
    [
        ("METAL", 7, 8, "no limbs are known to be exact on 'METAL'; wanted one of cpu, gpu, tpu: choose another"),
        ("cpu", 1 << 62, 8, "got the prime 4611686018427387904; wanted an odd one below 2"),
        ("tpu", 2, 8, "got the prime 2; wanted an odd one"),
        ("cpu", kernel.PROBE, 1 << 20, "sums of 1048576 terms are not exact in FloatLimbs.*; wanted at most 349525"),
        ("tpu", kernel.PROBE, 1 << 24, "not exact in ByteLimbs.*; wanted at most 8388608"),
    ],
)
def test_what_is_refused(platform, prime, terms, message):
    with pytest.raises(InexactLimbsError, match=message):
        limbs_of(platform, prime, terms)


def test_limbs_without_exact_sums_are_refused_by_the_kernel():
    a = residues(251, (2, 2))
    with pytest.raises(InexactLimbsError, match="sums of 2 terms are not exact in FloatLimbs.*wanted at most 0"):
        product(a, a, 251, FloatLimbs(61, 2, 2, 30))
    limbs = float_limbs(31, 1000)
    with pytest.raises(InexactLimbsError, match="sums of 257 terms are not exact in .*; wanted at most 256"):
        limbs.factors(residues(251, (1, 257)), residues(251, (257, 1)))


def test_the_probe_is_prime():
    assert fmpz(kernel.PROBE).is_prime() and kernel.PROBE == largest_prime(62)
