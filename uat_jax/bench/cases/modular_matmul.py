"""Products of matrices modulo primes of 31, 50 and 61 bits, against float64 and against FLINT's `nmod_mat`.

Every answer X is compared with A B at a random vector, in Python's integers: X v = A (B v) modulo p.  A wrong X passes
with a chance of at most 1/p (Freivalds 1977).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flint import nmod_mat

from uat_jax.bench.case import Case, Experiment, Program, WrongAnswerError
from uat_jax.devices import default_device
from uat_jax.errors import InputError
from uat_jax.numbers.prime_fields.modular_matmul import limbs_on, modular_matmul
from uat_jax.typing import Function, JsonObject, PyTree

PRIMES = {31: (1 << 31) - 1, 50: (1 << 50) - 27, 61: (1 << 61) - 1}
"""The largest of so many bits."""
LIMITS, FROM = {31: 5.0, 61: 15.0}, 1024
"""Times a float64 product of so many rows or more."""
BASELINE, SMALL = "float64", 20
"""Factors with entries below 2^SMALL have products that float64 holds, up to 8,192 rows."""


class Factors(NamedTuple):
    """Two matrices of residues, and a random vector."""

    prime: int
    a: np.ndarray
    b: np.ndarray
    v: np.ndarray


def build(n: int, dtype: str) -> Experiment:
    """float64 (the baseline); for every prime the kernel of the package; for two of them FLINT."""
    if dtype != BASELINE:
        raise InputError(
            f"got dtype {dtype}, and the baseline of products modulo primes is {BASELINE}; leave it at that"
        )
    random = np.random.default_rng(n)
    factors = {BASELINE: _drawn(random, n, 1 << SMALL, PRIMES[61])}
    small, large = factors[BASELINE].a.astype(dtype), factors[BASELINE].b.astype(dtype)
    operations = 2.0 * n**3
    programs = {BASELINE: Program(_float_product, (jnp.asarray(small), jnp.asarray(large)), operations=operations)}
    for bits, prime in PRIMES.items():
        name = f"{bits} bits"
        factors[name] = of = _drawn(random, n, prime, prime)
        programs[name] = Program(_kernel(prime, n), (jnp.asarray(of.a), jnp.asarray(of.b)), operations=operations)
        in_flint = tuple(nmod_mat(n, n, m.ravel().tolist(), prime) for m in (of.a, of.b))
        factors[f"FLINT, {name}"] = of
        programs[f"FLINT, {name}"] = Program(lambda a, b: a * b, in_flint, compiled=False, operations=operations)
    limits = {f"{bits} bits": limit for bits, limit in LIMITS.items()} if n >= FROM else {}
    return Experiment(programs, _check(factors), wrong=_with_a_wrong_entry, limits=limits)


def _drawn(random: np.random.Generator, n: int, below: int, prime: int) -> Factors:
    a, b = (random.integers(0, below, (n, n)) for _ in range(2))
    return Factors(prime, a, b, random.integers(0, prime, n))


def _float_product(a: jax.Array, b: jax.Array) -> jax.Array:
    return jnp.matmul(a, b, precision="highest")


def _kernel(prime: int, terms: int) -> Function:
    limbs = limbs_on(default_device(), prime, terms)
    return lambda a, b: modular_matmul(a, b, prime, limbs)


def _check(factors: Mapping[str, Factors]) -> Callable[[str, PyTree], None]:
    def check(name: str, answer: PyTree) -> None:
        prime, a, b, v = factors[name]
        apply = lambda matrix, vector: matrix.astype(object) @ vector.astype(object) % prime
        if np.any(apply(_whole(answer), v) != apply(a, apply(b, v))):
            raise WrongAnswerError(f"{name}: the product is wrong modulo {prime}")

    return check


def _whole(answer: PyTree) -> np.ndarray:
    """Whole numbers in int64."""
    if isinstance(answer, nmod_mat):
        return np.array([int(x) for x in answer.entries()]).reshape(answer.nrows(), answer.ncols())
    return np.asarray(answer).astype(np.int64)


def _with_a_wrong_entry(answer: PyTree) -> np.ndarray:
    wrong = _whole(answer)
    wrong[-1, len(wrong) // 2] += 1
    return wrong


def _sizes(*rows: int) -> tuple[JsonObject, ...]:
    return tuple({"n": n, "dtype": "float64"} for n in rows)


CASES = (
    Case(
        name="modular-matmul",
        question="What does a product of matrices modulo a prime cost over one in float64?",
        build=build,
        quick=_sizes(8),
        standard=_sizes(256, FROM),
        full=_sizes(64, 128, 256, 512, 1024, 2048),
        axes=("n",),
        rounds=7,
    ),
)
