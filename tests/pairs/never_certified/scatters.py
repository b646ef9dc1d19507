"""Functions written into an array: what is applied, repeated places, and places outside."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .row import Different, Equal, S, V, f32, f64

TWICE = np.array([1, 1])
FAR = np.array([0, 7])
M = f32(2, 3)
ROWS = ((1, 2, 3), (4, 5, 6))

APPLIED = (
    Different("apply sin and cos", lambda x: x.at[1].apply(jnp.sin), lambda x: x.at[1].apply(jnp.cos), (V,), ((1, 2, 3),)),
    Different("apply 2v and 3v", lambda x: x.at[0].apply(lambda v: 2 * v), lambda x: x.at[0].apply(lambda v: 3 * v), (V,), ((1, 2, 3),)),
    Different("apply 2v and set 0", lambda x: x.at[0].apply(lambda v: 2 * v), lambda x: x.at[0].set(0.0), (V,), ((1, 2, 3),)),
    Different("apply a square and multiply by 2", lambda x: x.at[2].apply(jnp.square), lambda x: x.at[2].multiply(2.0), (V,), ((1, 2, 3),)),
    Different("apply exp and set 1", lambda x: x.at[2].apply(jnp.exp), lambda x: x.at[2].set(1.0), (V,), ((1, 2, 3),)),
    Different("apply relu and abs to a slice", lambda x: x.at[1:].apply(jax.nn.relu), lambda x: x.at[1:].apply(jnp.abs), (V,), ((1, -2, 3),)),
    Different("apply to one of two places", lambda x: x.at[0].apply(jnp.sin), lambda x: x.at[1].apply(jnp.sin), (V,), ((1, 2, 3),)),
    Different("apply to a row of a matrix", lambda x: x.at[1].apply(jnp.tanh), lambda x: x.at[1].apply(jnp.sinh), (M,), (ROWS,)),
    Different("apply to a list of places", lambda x: x.at[np.array([0, 2])].apply(jnp.sin), lambda x: x.at[np.array([0, 2])].apply(jnp.cos), (V,), ((1, 2, 3),)),
    Different("apply a constant", lambda x: x.at[0].apply(lambda v: 3 + 0 * v), lambda x: x.at[0].apply(lambda v: 4 + 0 * v), (V,), ((1, 2, 3),)),
    Different("apply and leave alone", lambda x: x.at[0].apply(lambda v: v + 1), lambda x: x + 0, (V,), ((1, 2, 3),)),
    Different("apply in float64", lambda x: x.at[1].apply(jnp.sin), lambda x: x.at[1].apply(jnp.cos), (f64(3),), ((1, 2, 3),)),
    Different("apply under vmap", lambda x: jax.vmap(lambda r: r.at[0].apply(jnp.sin))(x), lambda x: jax.vmap(lambda r: r.at[0].apply(jnp.cos))(x), (M,), (ROWS,)),
    Different("apply under jit", jax.jit(lambda x: x.at[0].apply(jnp.sin)), jax.jit(lambda x: x.at[0].apply(jnp.cos)), (V,), ((1, 2, 3),)),
    Different("apply in a scan", lambda x: lax.scan(lambda c, _: (c.at[0].apply(jnp.sin), None), x, None, length=2)[0], lambda x: x.at[0].apply(jnp.sin), (V,), ((1, 2, 3),)),
    Different("apply and the sum", lambda x: x.at[0].apply(jnp.sin).sum(), lambda x: x.at[0].apply(jnp.cos).sum(), (V,), ((1, 2, 3),)),
)  # fmt: skip

PLACES = (
    Different("add twice at one place", lambda x: x.at[TWICE].add(1.0), lambda x: x.at[1].add(1.0), (V,), ((1, 2, 3),)),
    Different("multiply twice at one place", lambda x: x.at[TWICE].multiply(2.0), lambda x: x.at[1].multiply(2.0), (V,), ((1, 2, 3),)),
    Different("add two numbers at one place", lambda x, y: x.at[TWICE].add(y), lambda x, y: x.at[1].add(y[1]), (V, f32(2)), ((1, 2, 3), (5, 6))),
    Different("subtract twice at one place", lambda x, y: x.at[TWICE].subtract(y), lambda x, y: x.at[1].subtract(y[0]), (V, f32(2)), ((1, 2, 3), (5, 6))),
    Different("a segment with two entries", lambda x: jax.ops.segment_sum(x, np.array([0, 1, 1]), 3), lambda x: jnp.stack([x[0], x[1], 0 * x[2]]), (V,), ((1, 2, 3),)),
    Different("a segment outside is dropped", lambda x: jax.ops.segment_sum(x, np.array([0, 1, 5]), 3), lambda x: jnp.stack([x[0], x[1], x[2]]), (V,), ((1, 2, 3),)),
    Different("add outside is dropped", lambda x: x.at[FAR].add(1.0), lambda x: x.at[np.array([0, 2])].add(1.0), (V,), ((1, 2, 3),)),
    Different("set outside is dropped", lambda x: x.at[FAR].set(9.0), lambda x: x.at[np.array([0, 2])].set(9.0), (V,), ((1, 2, 3),)),
    Different("set outside, clipped", lambda x: x.at[FAR].set(9.0, mode="clip"), lambda x: x.at[FAR].set(9.0, mode="drop"), (V,), ((1, 2, 3),)),
    Different("get outside, clipped and filled", lambda x: x.at[FAR].get(mode="clip"), lambda x: x.at[FAR].get(mode="fill", fill_value=0.0), (V,), ((1, 2, 3),)),
    Different("get outside, filled by 0 and 1", lambda x: x.at[FAR].get(mode="fill", fill_value=0.0), lambda x: x.at[FAR].get(mode="fill", fill_value=1.0), (V,), ((1, 2, 3),)),
    Different("take outside, wrapped and clipped", lambda x: jnp.take(x, FAR, mode="wrap"), lambda x: jnp.take(x, FAR, mode="clip"), (V,), ((1, 2, 3),)),
    Different("take from the end", lambda x: jnp.take(x, np.array([-1]), mode="wrap"), lambda x: jnp.take(x, np.array([0]), mode="clip"), (V,), ((1, 2, 3),)),
    Different("a slice that is moved back inside", lambda x: lax.dynamic_slice(x, (2,), (2,)), lambda x: jnp.stack([x[2], 0 * x[0]]), (V,), ((1, 2, 3),)),
    Different("a slice moved back to the start", lambda x: lax.dynamic_slice(x, (-9,), (2,)), lambda x: x[1:], (V,), ((1, 2, 3),)),
    Different("an update that is moved back inside", lambda x, y: lax.dynamic_update_slice(x, y, (2,)), lambda x, y: jnp.stack([x[0], x[1], y[0]]), (V, f32(2)), ((1, 2, 3), (5, 6))),
    Different("a place that depends on the data", lambda x: x.at[jnp.argmax(x)].set(0.0), lambda x: x.at[2].set(0.0), (V,), ((9, 2, 3),)),
    Different("a place that depends on the data, added", lambda x: x.at[jnp.argmax(x)].add(1.0), lambda x: x.at[0].add(1.0), (V,), ((1, 2, 9),)),
    Different("a row gathered by the data", lambda x, y: y[(x > 20).astype(jnp.int32)], lambda x, y: y[0] + 0 * x, (S, f32(2)), (25, (5, 6))),
    Different("min and max at a place", lambda x: x.at[0].min(-20.0), lambda x: x.at[0].set(-20.0), (V,), ((-25, 2, 3),)),
    Different("max at a place", lambda x: x.at[0].max(20.0), lambda x: x.at[0].set(20.0), (V,), ((25, 2, 3),)),
    Different("power at a place", lambda x: x.at[0].power(2.0), lambda x: x.at[0].power(3.0), (V,), ((3, 2, 3),)),
    Different("divide at a place", lambda x: x.at[0].divide(2.0), lambda x: x.at[0].multiply(2.0), (V,), ((3, 2, 3),)),
)  # fmt: skip

DIFFERENT = (*APPLIED, *PLACES)

EQUAL = (
    Equal("apply 2v and multiply", lambda x: x.at[0].apply(lambda v: 2 * v), lambda x: x.at[0].multiply(2.0), (V,)),
    Equal("apply sin and set sin", lambda x: x.at[1].apply(jnp.sin), lambda x: x.at[1].set(jnp.sin(x[1])), (V,)),
    Equal("apply twice", lambda x: x.at[1].apply(jnp.sin), lambda x: x.at[1].apply(lambda v: jnp.sin(v)), (V,)),
    Equal("set and concatenate", lambda x: x.at[1].set(5.0), lambda x: jnp.stack([x[0], 5 + 0 * x[1], x[2]]), (V,)),
    Equal("add twice and add 2", lambda x: x.at[TWICE].add(1.0), lambda x: x.at[1].add(2.0), (V,)),
    Equal("add and a one-hot", lambda x: x.at[1].add(5.0), lambda x: x + np.array([0, 5, 0], np.float32), (V,)),
    Equal("multiply twice", lambda x: x.at[TWICE].multiply(2.0), lambda x: x * np.array([1, 4, 1], np.float32), (V,)),
    Equal("segments and a matrix", lambda x: jax.ops.segment_sum(x, np.array([0, 1, 1]), 2), lambda x: jnp.stack([x[0], x[1] + x[2]]), (V,)),
    Equal("dropped outside", lambda x: x.at[FAR].add(1.0), lambda x: x.at[0].add(1.0), (V,)),
    Equal("filled outside", lambda x: x.at[FAR].get(mode="fill", fill_value=0.0), lambda x: jnp.stack([x[0], 0 * x[0]]), (V,)),
    Equal("wrapped", lambda x: jnp.take(x, FAR, mode="wrap"), lambda x: jnp.stack([x[0], x[1]]), (V,)),
    Equal("a slice moved back inside", lambda x: lax.dynamic_slice(x, (2,), (2,)), lambda x: x[1:], (V,)),
    Equal("an update moved back inside", lambda x, y: lax.dynamic_update_slice(x, y, (2,)), lambda x, y: jnp.concatenate([x[:1], y]), (V, f32(2))),
    Equal("max at a place", lambda x: x.at[0].max(2.0), lambda x: x.at[0].set(jnp.maximum(x[0], 2.0)), (V,)),
)  # fmt: skip
