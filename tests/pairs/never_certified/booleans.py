"""Booleans are logic: a dot of them is an OR of ANDs, and they are not counted."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .row import Different, Equal, V, W, f32, ind, real

M = f32(2, 3)
ROWS = ((5, 5, 1), (1, 5, 5))
TRUE = np.ones(3, bool)

DIFFERENT = (
    Different("dot and a count", lambda a, b: real(jnp.dot(a > 4, b > 4)), lambda a, b: real(((a > 4) & (b > 4)).sum(dtype=jnp.int32)), (V, V), ((5, 5, 5), (5, 5, 1))),
    Different("dot and a sum of products", lambda a, b: real(jnp.dot(a > 4, b > 4)), lambda a, b: jnp.dot(ind(a > 4), ind(b > 4)), (V, V), ((5, 5, 5), (5, 5, 1))),
    Different("a wide dot", lambda a, b: real(jnp.dot(a > 0, b > 0)), lambda a, b: jnp.dot(ind(a > 0), ind(b > 0)), (W, W), ((1.5,) * 8, (1.5,) * 8)),
    Different("matmul and counts", lambda a: real(jnp.matmul(a > 4, (a > 4).T)), lambda a: ind(a > 4) @ ind(a > 4).T, (M,), (ROWS,)),
    Different("matrix times constant", lambda a: real(jnp.matmul(a > 4, TRUE)), lambda a: ind(a > 4).sum(1), (M,), (ROWS,)),
    Different("einsum and counts", lambda a: real(jnp.einsum("ij,kj->ik", a > 4, a > 4)), lambda a: jnp.einsum("ij,kj->ik", ind(a > 4), ind(a > 4)), (M,), (ROWS,)),
    Different("vdot and a count", lambda a: real(jnp.vdot(a > 4, TRUE)), lambda a: ind(a > 4).sum(), (V,), ((5, 5, 5),)),
    Different("a dot decided", lambda a: ind(real(jnp.dot(a > 4, TRUE)) > 1), lambda a: ind(ind(a > 4).sum() > 1), (V,), ((5, 5, 1),)),
    Different("a dot under vmap", lambda a: real(jax.vmap(lambda r: jnp.dot(r > 4, TRUE))(a)), lambda a: ind(a > 4).sum(1), (M,), (ROWS,)),
    Different("a dot counted in int32", lambda a: real(jnp.dot(a > 4, TRUE).astype(jnp.int32)), lambda a: real(jnp.dot((a > 4).astype(jnp.int32), TRUE.astype(np.int32))), (V,), ((5, 5, 1),)),
    Different("a dot with an int32 result", lambda a: real(lax.dot_general(a > 4, a > 4, (((0,), (0,)), ((), ())))), lambda a: real(lax.dot_general((a > 4).astype(jnp.int32), (a > 4).astype(jnp.int32), (((0,), (0,)), ((), ())))), (V,), ((5, 5, 1),)),
    Different("any and a count", lambda a: real(jnp.any(a > 4)), lambda a: ind(a > 4).sum(), (V,), ((5, 5, 1),)),
    Different("a sum of two truths", lambda a: real((a[0] > 4) + (a[1] > 4)), lambda a: ind(a[0] > 4) + ind(a[1] > 4), (V,), ((5, 5, 1),)),
    Different("or and a sum", lambda a: real((a[0] > 4) | (a[1] > 4)), lambda a: ind(a[0] > 4) + ind(a[1] > 4), (V,), ((5, 5, 1),)),
    Different("xor and or", lambda a: real((a[0] > 4) ^ (a[1] > 4)), lambda a: real((a[0] > 4) | (a[1] > 4)), (V,), ((5, 5, 1),)),
    Different("xor and a difference", lambda a: real((a[0] > 4) ^ (a[1] > 4)), lambda a: ind(a[0] > 4) - ind(a[1] > 4), (V,), ((1, 5, 1),)),
    Different("maximum and a sum of truths", lambda a: real(jnp.maximum(a[0] > 4, a[1] > 4)), lambda a: ind(a[0] > 4) + ind(a[1] > 4), (V,), ((5, 5, 1),)),
    Different("not twice", lambda a: real(~(a > 4)), lambda a: real(~~(a > 4)), (V,), ((5, 5, 1),)),
    Different("a truth times 3 as a truth", lambda a: real(((a > 4).astype(jnp.int32) * 3).astype(jnp.bool_)), lambda a: 3 * ind(a > 4), (V,), ((5, 5, 1),)),
    Different("a sum as a truth", lambda a: real(ind(a > 4).sum().astype(jnp.bool_)), lambda a: ind(a > 4).sum(), (V,), ((5, 5, 1),)),
    Different("a cumulated or", lambda a: real(lax.associative_scan(jnp.logical_or, a > 4)), lambda a: jnp.cumsum(ind(a > 4)), (V,), ((5, 5, 1),)),
    Different("a truth in a carry", lambda a: real(lax.scan(lambda c, v: (c | (v > 4), None), a[0] > 4, a)[0]), lambda a: ind(a > 4).sum(), (V,), ((5, 5, 1),)),
    Different("truths compared", lambda a: ind((a[0] > 4) > (a[1] > 4)), lambda a: ind((a[0] > 4) >= (a[1] > 4)), (V,), ((5, 5, 1),)),
    Different("truths scattered with add", lambda a: real(jnp.zeros(2, bool).at[np.array([0, 0])].max(a[:2] > 4)), lambda a: jnp.zeros(2).at[np.array([0, 0])].add(ind(a[:2] > 4)), (V,), ((5, 5, 1),)),
    Different("product and smallest", lambda a: real(jnp.all(a > 4)), lambda a: ind(a > 4).max(), (V,), ((5, 5, 1),)),
)  # fmt: skip

EQUAL = (
    Equal("any as a largest", lambda a: real(jnp.any(a > 4)), lambda a: ind(a > 4).max(), (V,)),
    Equal("all as a product", lambda a: real(jnp.all(a > 4)), lambda a: jnp.prod(ind(a > 4)), (V,)),
    Equal("dot as any of ands", lambda a, b: real(jnp.dot(a > 4, b > 4)), lambda a, b: real(jnp.any((a > 4) & (b > 4))), (V, V)),
    Equal("and as a product", lambda a: real((a[0] > 4) & (a[1] > 4)), lambda a: ind(a[0] > 4) * ind(a[1] > 4), (V,)),
    Equal("or by De Morgan", lambda a: real((a[0] > 4) | (a[1] > 4)), lambda a: real(~(~(a[0] > 4) & ~(a[1] > 4))), (V,)),
    Equal("or as a polynomial", lambda a: real((a[0] > 4) | (a[1] > 4)), lambda a: 1 - (1 - ind(a[0] > 4)) * (1 - ind(a[1] > 4)), (V,)),
    Equal("xor as inequality", lambda a: real((a[0] > 4) ^ (a[1] > 4)), lambda a: real((a[0] > 4) != (a[1] > 4)), (V,)),
    Equal("not not", lambda a: real(~~(a > 4)), lambda a: ind(a > 4), (V,)),
    Equal("counted after a cast", lambda a, b: jnp.dot(ind(a > 4), ind(b > 4)), lambda a, b: real(((a > 4) & (b > 4)).sum(dtype=jnp.int32)), (V, V)),
    Equal("where as arithmetic", lambda a: jnp.where(a > 4, a, 1.0), lambda a: ind(a > 4) * a + (1 - ind(a > 4)), (V,)),
)  # fmt: skip
