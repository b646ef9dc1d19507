"""Decompositions of a batch over eight devices, against one device; prints a line for each check that holds.

Started by test_sharded_decomposition.py in a process of its own, because devices are counted only once.
"""

import functools
import os
from collections.abc import Callable

os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec
from random_models import FAMILIES
from random_parameters import generator

import uat_jax as uj

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")

BATCH = np.random.default_rng(0).integers(0, 3, (16, 3), np.int32)
"""Two texts for each device."""


def on_one_device(model):
    """Two texts at a time: what each of the eight devices computes."""
    shares = [uj.decompose(model, jnp.asarray(share)) for share in BATCH.reshape(8, 2, 3)]
    return jax.tree.map(lambda *parts: np.concatenate(parts), *shares)


CHECKS = (
    ("BERT", AxisType.Auto, uj.decompose),
    ("BERT", AxisType.Explicit, uj.decompose),
    ("Llama", AxisType.Explicit, jax.jit(jax.vmap(uj.decompose, in_axes=(None, 0)))),
)


def check(name: str, kind: AxisType, decompose: Callable) -> None:
    """Sharded by texts, and the same bits."""
    model = FAMILIES[name].draw(generator(name), depth=1)
    expected, mesh = on_one_device(model), jax.make_mesh((8,), ("texts",), axis_types=(kind,))
    everywhere, by_text = (NamedSharding(mesh, PartitionSpec(*axes)) for axes in ((), ("texts",)))
    arguments = jax.device_put(model, everywhere), jax.device_put(BATCH, by_text)
    found = decompose(*arguments)
    for field in ("terms", "hidden"):
        array = getattr(found, field)
        assert array.sharding.spec[0] == "texts" and len(array.addressable_shards) == 8, array.sharding
        assert np.array_equal(array, getattr(expected, field)), field
        assert not np.array_equal(array[::-1], getattr(expected, field)), "the order of the texts was not seen"
    assert np.array_equal(found.total, functools.reduce(np.add, np.moveaxis(expected.terms, 1, 0)))
    assert found.residual_ulp.shape == (16,) and float(found.residual_ulp.max()) < 1000
    print(name, kind.name)


if __name__ == "__main__":
    assert len(jax.devices()) == 8
    for row in CHECKS:
        check(*row)
