"""The case of products modulo primes gives no time for a wrong product, whichever program is wrong."""

import numpy as np
import pytest
from flint import nmod_mat

from uat_jax.bench.case import WrongAnswerError
from uat_jax.bench.cases import modular_matmul
from uat_jax.bench.measure import measure
from uat_jax.errors import InputError

(MATMUL,) = modular_matmul.CASES


def test_a_kernel_for_another_prime_gets_no_time(monkeypatch):
    right = modular_matmul.modular_matmul
    monkeypatch.setattr(modular_matmul, "modular_matmul", lambda a, b, p, limbs: right(a, b, p - 2, limbs))
    with pytest.raises(WrongAnswerError, match="31 bits: the product is wrong modulo 2147483647"):
        measure(MATMUL, MATMUL.quick[0], rounds=1, quick=True)


def test_another_baseline_than_float64_is_refused():
    with pytest.raises(InputError, match="got dtype float32, and the baseline of products modulo primes is float64"):
        measure(MATMUL, {**MATMUL.quick[0], "dtype": "float32"}, rounds=1, quick=True)


@pytest.mark.parametrize("name", ["float64", "61 bits", "FLINT, 31 bits"])
@pytest.mark.parametrize("seed", range(3))
def test_any_wrong_entry_of_any_product_is_found(name, seed):
    """The check takes the right product, by Python's integers, and none with one entry off."""
    prime, a, b, _ = factors = modular_matmul._drawn(np.random.default_rng(seed), 5, 1 << 20, (1 << 61) - 1)
    check, generator = modular_matmul._check({name: factors}), np.random.default_rng(seed)
    product = a.astype(object) @ b.astype(object) % prime
    check(name, product.astype(np.float64 if name == "float64" else np.int64))
    product[tuple(generator.integers(0, 5, 2))] += generator.choice([-1, 1])
    wrong = nmod_mat(5, 5, [int(x) for x in product.ravel()], prime) if "FLINT" in name else product.astype(np.int64)
    with pytest.raises(WrongAnswerError, match=f"{name}: the product is wrong"):
        check(name, wrong)
