"""One attack of each kind behind loops, transformations, reshapes and other outputs."""

from collections.abc import Callable, Iterator

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .row import Different, S, V, ind, real

BASES = (
    # (name, left, right, an input at which they differ)
    ("a floor", lambda x: ind(jnp.floor(x) > 5), lambda x: ind(jnp.floor(x) >= 5), 5.5),
    ("a cast", lambda x: ind(real(x.astype(jnp.int32)) > 7), lambda x: ind(real(x.astype(jnp.int32)) >= 7), 7.25),
    ("a relu", lambda x: ind(jax.nn.relu(x + 9) > 0), lambda x: ind(jax.nn.relu(x + 9) >= 0), -12),
    ("a sign", lambda x: jnp.sign(jnp.floor(x) - 5) ** 2, lambda x: 1 + 0 * x, 5.5),
    ("an infinity", lambda x: jnp.where(jnp.isinf(1 / jax.nn.relu(x + 9)), 0.0, x), lambda x: x, -12),
    ("a divisor", lambda x: jnp.where(x + 30 > 0, 1 / jax.nn.relu(x + 30), 0.0), lambda x: 1 / (x + 30), -32),
    ("a logarithm", lambda x: ind(jnp.log(x) > 0), lambda x: 1 - ind(jnp.log(x) <= 0), -2),
    ("a wrap", lambda x: real(x.astype(jnp.int32) * x.astype(jnp.int32)), lambda x: real(x.astype(jnp.int32)) ** 2, 50000.5),
    ("a byte", lambda x: real(jnp.clip(x.astype(jnp.uint8), 0, 200) + jnp.uint8(100)), lambda x: real(jnp.clip(x.astype(jnp.uint8), 0, 200)) + 100, 190.5),
    ("an imaginary part", lambda x: jnp.abs(x * 1j), lambda x: jnp.abs(x * 2j), 3),
    ("an apply", lambda x: jnp.stack([x, x]).at[0].apply(jnp.sin).sum(), lambda x: jnp.stack([x, x]).at[0].apply(jnp.cos).sum(), 3),
    ("a boolean dot", lambda x: real(jnp.dot(jnp.stack([x, x]) > 4, jnp.stack([x, x]) > 4)), lambda x: 2 * ind(x > 4), 5),
)  # fmt: skip


def scanned(f: Callable) -> Callable:
    return lambda x: lax.scan(lambda c, v: (c + f(v), f(v)), f(x[0]) * 0, x)[1]


def looped(f: Callable) -> Callable:
    return lambda x: lax.fori_loop(0, 3, lambda i, c: c + f(x[i]), f(x[0]) * 0)


def while_looped(f: Callable) -> Callable:
    return lambda x: lax.while_loop(lambda s: s[0] < 1, lambda s: (s[0] + 1, f(s[1]).astype(x.dtype)), (0, x + 0))[1]


WAYS = (
    # (name, wrapper, spec, what the input becomes)
    ("under jit", jax.jit, S, lambda w: w),
    ("under vmap", jax.vmap, V, lambda w: (1.5, w, 0.5)),
    ("in a scan", scanned, V, lambda w: (1.5, w, 0.5)),
    ("in a loop", looped, V, lambda w: (1.5, w, 0.5)),
    ("in a while loop", while_looped, S, lambda w: w),
    ("in a branch", lambda f: lambda x: lax.cond(True, f, lambda v: f(v) * 0, x), S, lambda w: w),
    ("under checkpoint", jax.checkpoint, S, lambda w: w),
    ("behind a concatenation", lambda f: lambda x: jnp.concatenate([jnp.sin(x), f(x[1])[None]])[2:], V, lambda w: (1.5, w, 0.5)),
    ("behind a reshape", lambda f: lambda x: jnp.stack([f(x[0]), x[1], x[2], f(x[1])]).reshape(2, 2).T[1], V, lambda w: (1.5, w, 0.5)),
    ("beside a large output", lambda f: lambda x: {"a": x * 1e6, "b": f(x)}, S, lambda w: w),
    ("in a derivative", lambda f: jax.grad(lambda x: f(lax.stop_gradient(x)) * x), S, lambda w: w),
    ("in a softmax", lambda f: lambda x: jax.nn.softmax(jnp.stack([f(x) / 16, 0 * x, 1 + 0 * x])), S, lambda w: w),
    ("under a mask that keeps it", lambda f: lambda x: jnp.where(np.array([True, False, True]), jax.vmap(f)(x), 0.0), V, lambda w: (w, 1.5, 0.5)),
    ("after a sum with its negative", lambda f: lambda x: jnp.sin(x) + f(x) - jnp.sin(x), S, lambda w: w),
    ("gathered", lambda f: lambda x: jnp.stack([f(x[1]), x[0], x[2]])[np.array([2, 0])], V, lambda w: (1.5, w, 0.5)),
)  # fmt: skip


def rows() -> Iterator[Different]:
    """Every base in five of the fifteen ways, shifted by one from base to base."""
    for number, (base, left, right, witness) in enumerate(BASES):
        for turn in range(5):
            way, wrapped, spec, become = WAYS[(number + 3 * turn) % len(WAYS)]
            yield Different(f"{base} {way}", wrapped(left), wrapped(right), (spec,), (become(witness),), gap=2.0**-12)


DIFFERENT = tuple(rows())
EQUAL = ()
