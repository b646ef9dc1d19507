"""Random parameters for tests: the shapes of an initialiser, the numbers of NumPy, so that nothing is compiled."""

import zlib
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def generator(name: str) -> np.random.Generator:
    """Random numbers of its own for each test, by name; the seed is printed."""
    seed = zlib.crc32(name.encode())
    print(f"seed {seed}")
    return np.random.default_rng(seed)


def normal(random: np.random.Generator, *shape: int, dtype: Any = jnp.float32) -> jax.Array:
    """Independent normal numbers."""
    return jax.device_put(random.standard_normal(shape).astype(dtype))


def drawn(random: np.random.Generator, initialise: Callable, *sizes: Any, **options: Any) -> Any:
    """Parameters of the shapes and dtypes that initialise(key, *sizes, **options) gives them."""
    shapes = jax.eval_shape(lambda key: initialise(key, *sizes, **options), jax.random.key(0))
    return jax.tree.map(lambda array: normal(random, *array.shape, dtype=array.dtype), shapes)
