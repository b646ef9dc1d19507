"""What the device can do: the rate of its matrix products and of its copies, measured in turn with the programs.

A share of these rates says how far a program is from the limit of the machine, on any machine and in any weather.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from uat_jax.bench.case import Program

ROWS = {"cpu": 1024, "gpu": 8192, "tpu": 8192}
"""Rows of the square matrices: large enough for the full rate, small enough for a few milliseconds."""
COPIED = {"cpu": 1 << 26, "gpu": 1 << 30, "tpu": 1 << 30}
"""Bytes that are copied: more than any cache."""
PRODUCTS, COPIES = "matrix product", "copy"
QUICK_ROWS, QUICK_COPIED = 64, 1 << 16


def yardsticks(platform: str, dtype: str, quick: bool) -> dict[str, Program]:
    """The two programs whose rates are the limits: 2n³ operations in n × n matrices; many bytes read and written."""
    n = QUICK_ROWS if quick else ROWS.get(platform, ROWS["cpu"])
    copied = QUICK_COPIED if quick else COPIED.get(platform, COPIED["cpu"])
    a, b = (jax.random.normal(jax.random.key(i), (n, n), dtype) for i in range(2))
    x = jnp.ones((copied // jnp.dtype(dtype).itemsize,), dtype)
    return {
        PRODUCTS: Program(_product, (a, b), operations=2 * n**3),
        COPIES: Program(_copy, (x,)),
    }


def _product(a: jax.Array, b: jax.Array) -> jax.Array:
    return jnp.matmul(a, b, precision="highest")


def _copy(x: jax.Array) -> jax.Array:
    return -x  # a plain copy would be left out by the compiler
