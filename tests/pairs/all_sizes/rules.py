"""Rules of tensor compilers (those of TensorRight, and their like), equal at all sizes."""

import jax
import jax.numpy as jnp
from jax import lax

from .row import row

einsum = jnp.einsum


def zero():
    return jnp.float32(0)


TRUE = (
    row("slice of a slice", lambda x: x[2:][3:], lambda x: x[5:], "n+6"),
    row("slice of a concatenation", lambda x, y: jnp.concatenate([x, y])[: x.shape[0]], lambda x, y: x, "n", "m"),
    row("slice of a concatenation: the second", lambda x, y: jnp.concatenate([x, y])[x.shape[0] :], lambda x, y: y, "n", "m"),
    row("slice of a padding", lambda x: jnp.pad(x, (2, 3))[2:-3], lambda x: x, "n"),
    row("padding of a padding", lambda x: jnp.pad(jnp.pad(x, (1, 2)), (3, 4)), lambda x: jnp.pad(x, (4, 6)), "n"),
    row("padding as a concatenation", lambda x: jnp.pad(x, ((1, 0), (0, 0))), lambda x: jnp.concatenate([jnp.zeros((1, x.shape[1]), jnp.float32), x]), "n,d"),
    row("concatenation is a sum of paddings", lambda x, y: jnp.concatenate([x, y]), lambda x, y: jnp.pad(x, (0, y.shape[0])) + jnp.pad(y, (x.shape[0], 0)), "n", "m"),
    row("concatenation is associative", lambda x, y, z: jnp.concatenate([jnp.concatenate([x, y]), z]), lambda x, y, z: jnp.concatenate([x, jnp.concatenate([y, z])]), "n", "m", "p"),
    row("reverse of a reverse", lambda x: x[::-1][::-1], lambda x: x, "n"),
    row("reverse of a concatenation", lambda x, y: jnp.concatenate([x, y])[::-1], lambda x, y: jnp.concatenate([y[::-1], x[::-1]]), "n", "m"),
    row("reverse of a padding", lambda x: jnp.pad(x, (1, 2))[::-1], lambda x: jnp.pad(x[::-1], (2, 1)), "n"),
    row("reverse of a slice", lambda x: x[1:-2][::-1], lambda x: x[::-1][2:-1], "n+4"),
    row("sum of a reverse", lambda x: x[::-1].sum(), lambda x: x.sum(), "n"),
    row("sum of a concatenation", lambda x, y: jnp.concatenate([x, y]).sum(0), lambda x, y: x.sum(0) + y.sum(0), "n,d", "m,d"),
    row("sum of a padding", lambda x, c: lax.pad(x, c, [(2, 1, 0)]).sum(), lambda x, c: x.sum() + 3.0 * c, "n", ""),
    row("sum of a transpose", lambda x: x.T.sum(0), lambda x: x.sum(1), "n,d"),
    row("sum of a broadcast", lambda x: jnp.broadcast_to(x[None], (x.shape[0], *x.shape)).sum(0), lambda x: x * x.shape[0], "n,d"),
    row("sum of sums", lambda x: x.sum(0).sum(0), lambda x: x.sum((0, 1)), "n,d,e"),
    row("sum of a scaled row", lambda x, c: (c * x).sum(), lambda x, c: c * x.sum(), "n", ""),
    row("product of a transpose", lambda x, y: (x @ y).T, lambda x, y: y.T @ x.T, "n,d", "d,m"),
    row("product is associative", lambda x, y, z: (x @ y) @ z, lambda x, y, z: x @ (y @ z), "n,d", "d,e", "e,m"),
    row("product of a reverse", lambda x, y: x[:, ::-1] @ y[::-1], lambda x, y: x @ y, "n,d", "d,m"),
    row("product of paddings", lambda x, y: jnp.pad(x, ((0, 0), (2, 1))) @ jnp.pad(y, ((2, 1), (0, 0))), lambda x, y: x @ y, "n,d", "d,m"),
    row("product of a concatenation", lambda x, y, u, v: jnp.concatenate([x, y], 1) @ jnp.concatenate([u, v]), lambda x, y, u, v: x @ u + y @ v, "n,d", "n,e", "d,m", "e,m"),
    row("product of a slice", lambda x, y: (x @ y)[:, 1:], lambda x, y: x @ y[:, 1:], "n,d", "d,m+1"),
    row("product of a broadcast", lambda x, y: jnp.broadcast_to(x, (y.shape[0], x.shape[0])) @ jnp.ones((x.shape[0], 1), jnp.float32), lambda x, y: jnp.broadcast_to(x.sum(), (y.shape[0], 1)), "n", "m"),
    row("batched product", lambda x, y: einsum("bij,bjk->bik", x, y), lambda x, y: (x[:, :, :, None] * y[:, None]).sum(2), "b,i,j", "b,j,k"),
    row("product as a reshape", lambda x, w: (x.reshape(-1, x.shape[-1]) @ w).reshape(x.shape[0], x.shape[1], w.shape[1]), lambda x, w: x @ w, "b,n,d", "d,e"),
    row("reshape of a reshape", lambda x: x.reshape(-1).reshape(x.shape[0], -1), lambda x: x.reshape(x.shape[0], -1), "n,d,e"),
    row("reshape there and back", lambda x: x.reshape(-1).reshape(x.shape), lambda x: x, "n,d,e"),
    row("reshape of a sum", lambda x, y: (x + y).reshape(-1), lambda x, y: x.reshape(-1) + y.reshape(-1), "n,d", "n,d"),
    row("transpose by a reshape", lambda x: x.reshape(x.shape[1], x.shape[0]), lambda x: x.T.reshape(-1).reshape(x.shape[1], 1), "1,n"),
    row("transpose of a transpose", lambda x: x.transpose(1, 2, 0).transpose(2, 0, 1), lambda x: x, "n,d,e"),
    row("heads merged and split", lambda x: x.reshape(x.shape[0], -1).reshape(x.shape).transpose(1, 0, 2), lambda x: x.transpose(1, 0, 2), "n,h,d"),
    row("select of equal cases", lambda x, y: jnp.where(x > 0, y, y), lambda x, y: y, "n", "n"),
    row("select of a negation", lambda x, y, z: jnp.where(~(x > 0), y, z), lambda x, y, z: jnp.where(x > 0, z, y), "n", "n", "n"),
    row("nested select", lambda x, y, z: jnp.where(x > 0, jnp.where(x > 0, y, z), z), lambda x, y, z: jnp.where(x > 0, y, z), "n", "n", "n"),
    row("select of sums", lambda x, y, z: jnp.where(x > 0, y, z) + y, lambda x, y, z: jnp.where(x > 0, y + y, z + y), "n", "n", "n"),
    row("select by position", lambda x, y: jnp.where(jnp.arange(x.shape[0]) < 3, x, y), lambda x, y: jnp.concatenate([x[:3], y[3:]]), "n", "n", given=("n >= 4",)),
    row("maximum is symmetric", lambda x, y: jnp.maximum(x, y), lambda x, y: jnp.maximum(y, x), "n", "n"),
    row("maximum and minimum", lambda x, y: jnp.maximum(x, y) + jnp.minimum(x, y), lambda x, y: x + y, "n", "n"),
    row("maximum of a sum", lambda x, y, z: jnp.maximum(x + z, y + z), lambda x, y, z: jnp.maximum(x, y) + z, "n", "n", "n"),
    row("maximum over an axis of a sum", lambda x, c: (x + c).max(), lambda x, c: x.max() + c, "n", ""),
    row("maximum of a reverse", lambda x: x[::-1].max(), lambda x: x.max(), "n"),
    row("maximum of a transpose", lambda x: x.T.max(0), lambda x: x.max(1), "n,d"),
    row("dynamic slice", lambda x: lax.dynamic_slice(x, (jnp.int32(1), jnp.int32(0)), (x.shape[0] - 1, x.shape[1])), lambda x: x[1:], "n+1,d"),
    row("update of a slice", lambda x, y: lax.dynamic_update_slice(x, y, (jnp.int32(0),))[: y.shape[0]], lambda x, y: y, "n+m", "n"),
    row("update as a concatenation", lambda x, y: x.at[: y.shape[0]].set(y), lambda x, y: jnp.concatenate([y, x[y.shape[0] :]]), "n+m", "n"),
    row("addition to a slice", lambda x, y: x.at[1:].add(y), lambda x, y: x + jnp.pad(y, (1, 0)), "n+1", "n"),
    row("iota by prefix sums", lambda x: x * (jnp.cumsum(jnp.ones(x.shape[0], jnp.float32)) - 1.0), lambda x: x * jnp.arange(x.shape[0], dtype=jnp.float32), "n"),
    row("iota of a reverse", lambda x: x * jnp.arange(x.shape[0], dtype=jnp.float32)[::-1], lambda x: x * (x.shape[0] - 1 - jnp.arange(x.shape[0], dtype=jnp.float32)), "n"),
    row("identity matrix", lambda x: jnp.eye(x.shape[0], dtype=jnp.float32) @ x, lambda x: x, "n,d"),
    row("upper and lower triangle", lambda x: jnp.triu(x, 1) + jnp.tril(x), lambda x: x, "n,n"),
    row("strides of two", lambda x: jnp.stack([x[::2], x[1::2]], 1).reshape(-1), lambda x: x, "2*n"),
    row("exp of a sum", lambda x, y: jnp.exp(x + y).sum(), lambda x, y: jnp.exp(x) @ jnp.exp(y), "n", "n"),
    row("division by a product", lambda x, y, z: x / (jnp.exp(y) * z), lambda x, y, z: x * jnp.exp(-y) / z, "n", "n", "n"),
    row("roots", lambda x: jnp.sqrt(jnp.exp(2.0 * x)).sum(), lambda x: jnp.exp(x).sum(), "n"),
    row("magnitude as a root", lambda x: jnp.sqrt(x * x), lambda x: jnp.abs(x), "n"),
    row("logarithm of a product", lambda x, y: jnp.log(jnp.exp(x) * (1.0 + jnp.exp(y))), lambda x, y: x + jnp.log1p(jnp.exp(y)), "n", "n"),
    row("sine of a sum", lambda x, y: jnp.sin(x + y), lambda x, y: jnp.sin(x) * jnp.cos(y) + jnp.cos(x) * jnp.sin(y), "n", "n"),
    row("square of a sum", lambda x: x.sum() ** 2, lambda x: jnp.outer(x, x).sum(), "n"),
    row("double sum over a triangle", lambda x: (x.sum() ** 2 - (x * x).sum()) / 2.0, lambda x: jnp.triu(jnp.outer(x, x), 1).sum(), "n"),
    row("groups of axes", lambda x: x.reshape(-1, x.shape[2]).sum(0), lambda x: x.sum((0, 1)), "n,m,d"),
    row("size as a product", lambda x, w: x.reshape(x.shape[0], w.shape[0], w.shape[1]).sum((1, 2)), lambda x, w: x.sum(1), "n,D", "h,d", given=("D == h*d",)),
    row("batch of products", jax.vmap(lambda x, y: x @ y), lambda x, y: (x * y).sum(1), "b,n", "b,n"),
)
