"""Rules on shapes and reductions, of the kinds that TensorRight proves of XLA's simplifier; over the reals."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..pair import einsum, f32, matmul
from ..row import row

A, B, V, W = f32(3, 4), f32(4, 2), f32(4), f32(6)
ORDER = np.array([2, 0, 3, 1], np.int32)


def window_sum(x, size, stride=1, pad=(0, 0), dilation=1):
    return lax.reduce_window(x, 0.0, lax.add, (size,), (stride,), (pad,), None, (dilation,))


def window_max(x, size, stride=1, pad=(0, 0)):
    return lax.reduce_window(x, -jnp.inf, lax.max, (size,), (stride,), (pad,))


def pad(x, low, high, interior=0, value=0.0):
    return lax.pad(x, jnp.asarray(value, x.dtype), [(low, high, interior)])


SHAPES = (
    row(
        "transpose of a transpose",
        lambda x: x.T.T,
        lambda x: x,
        (A,),
        {"doubled": lambda x: 2 * x, "reversed": lambda x: x[::-1]},
    ),
    row(
        "composition of permutations",
        lambda x: x.transpose(1, 2, 0).transpose(2, 0, 1),
        lambda x: x,
        (f32(2, 2, 2),),
        {"the other": lambda x: x.transpose(1, 2, 0), "exchanged": lambda x: x.transpose(0, 2, 1)},
    ),
    row(
        "reshape of a reshape",
        lambda x: x.reshape(2, 6).reshape(4, 3),
        lambda x: x.reshape(4, 3),
        (A,),
        {"transposed": lambda x: x.T, "reversed": lambda x: x.reshape(4, 3)[::-1]},
    ),
    row(
        "transpose of a row is a reshape",
        lambda x: x.reshape(1, 4).T,
        lambda x: x.reshape(4, 1),
        (V,),
        {"reversed": lambda x: x.reshape(4, 1)[::-1], "doubled": lambda x: 2 * x.reshape(4, 1)},
    ),
    row(
        "reverse of a reverse",
        lambda x: x[::-1][::-1],
        lambda x: x,
        (V,),
        {"once": lambda x: x[::-1], "rolled": lambda x: jnp.roll(x, 1)},
    ),
    row(
        "reverse of a transpose",
        lambda x: x.T[::-1],
        lambda x: x[:, ::-1].T,
        (A,),
        {"rows": lambda x: x[::-1].T, "not reversed": lambda x: x.T},
    ),
    row(
        "reverse of a concatenation",
        lambda x, y: jnp.concatenate([x, y])[::-1],
        lambda x, y: jnp.concatenate([y[::-1], x[::-1]]),
        (V, W),
        {"order": lambda x, y: jnp.concatenate([x[::-1], y[::-1]]), "one": lambda x, y: jnp.concatenate([y[::-1], x])},
    ),
    row(
        "broadcast of a broadcast",
        lambda x: jnp.broadcast_to(jnp.broadcast_to(x, (3, 4)), (2, 3, 4)),
        lambda x: jnp.broadcast_to(x, (2, 3, 4)),
        (V,),
        {
            "reversed": lambda x: jnp.broadcast_to(x[::-1], (2, 3, 4)),
            "doubled": lambda x: 2 * jnp.broadcast_to(x, (2, 3, 4)),
        },
    ),
    row(
        "an operation before or after a broadcast",
        lambda x: jnp.exp(jnp.broadcast_to(x, (3, 4))),
        lambda x: jnp.broadcast_to(jnp.exp(x), (3, 4)),
        (V,),
        {"square": lambda x: jnp.broadcast_to(jnp.exp(2 * x), (3, 4)), "no exp": lambda x: jnp.broadcast_to(x, (3, 4))},
    ),
    row(
        "an operation before or after a transpose",
        lambda x, y: x.T * y.T,
        lambda x, y: (x * y).T,
        (A, A),
        {"sum": lambda x, y: (x + y).T, "one": lambda x, y: (x * x).T + 0 * y.T},
    ),
    row(
        "a roll is two slices",
        lambda x: jnp.roll(x, 1),
        lambda x: jnp.concatenate([x[-1:], x[:-1]]),
        (V,),
        {"the other way": lambda x: jnp.roll(x, -1), "twice": lambda x: jnp.roll(x, 2)},
    ),
    row(
        "rolls add",
        lambda x: jnp.roll(jnp.roll(x, 1), 2),
        lambda x: jnp.roll(x, 3),
        (W,),
        {"difference": lambda x: jnp.roll(x, 1), "product": lambda x: jnp.roll(x, 2)},
    ),
    row(
        "repeat is a broadcast and a reshape",
        lambda x: jnp.repeat(x, 2),
        lambda x: jnp.broadcast_to(x[:, None], (4, 2)).reshape(8),
        (V,),
        {"tile": lambda x: jnp.tile(x, 2), "reversed": lambda x: jnp.repeat(x[::-1], 2)},
    ),
)

SLICES = (
    row(
        "slice of a slice",
        lambda x: x[1:5][1:3],
        lambda x: x[2:4],
        (W,),
        {"outer": lambda x: x[1:3], "shifted": lambda x: x[3:5]},
    ),
    row(
        "strided slice of a strided slice",
        lambda x: x[::2][1:3],
        lambda x: x[2:6:2],
        (W,),
        {"not strided": lambda x: x[2:4], "start": lambda x: x[1:5:2]},
    ),
    row(
        "slice of a concatenation",
        lambda x, y: jnp.concatenate([x, y])[:4],
        lambda x, y: x + 0.0 * y[:4],
        (V, W),
        {"the other": lambda x, y: y[:4], "shifted": lambda x, y: jnp.concatenate([x, y])[1:5]},
    ),
    row(
        "slice across a concatenation",
        lambda x, y: jnp.concatenate([x, y])[2:7],
        lambda x, y: jnp.concatenate([x[2:], y[:3]]),
        (V, W),
        {
            "one less": lambda x, y: jnp.concatenate([x[1:], y[:2]]),
            "exchanged": lambda x, y: jnp.concatenate([y[:3], x[2:]]),
        },
    ),
    row(
        "concatenation of two slices",
        lambda x: jnp.concatenate([x[:2], x[2:]]),
        lambda x: x,
        (W,),
        {
            "exchanged": lambda x: jnp.concatenate([x[2:], x[:2]]),
            "one twice": lambda x: jnp.concatenate([x[:2], x[:4]]),
        },
    ),
    row(
        "slice of a broadcast",
        lambda x: jnp.broadcast_to(x, (3, 4))[1:2, 1:],
        lambda x: x[None, 1:],
        (V,),
        {"the first": lambda x: x[None, :3], "doubled": lambda x: 2 * x[None, 1:]},
    ),
    row(
        "slice of a transpose",
        lambda x: x.T[1:3],
        lambda x: x[:, 1:3].T,
        (A,),
        {"rows": lambda x: x[:, 0:2].T, "reversed": lambda x: x[:, 1:3].T[::-1]},
    ),
    row(
        "slice of a reverse",
        lambda x: x[::-1][1:3],
        lambda x: x[3:5][::-1],
        (W,),
        {"not reversed": lambda x: x[3:5], "the other end": lambda x: x[1:3][::-1]},
    ),
    row(
        "slice of a pad inside",
        lambda x: pad(x, 2, 1)[2:6],
        lambda x: x,
        (V,),
        {"shifted": lambda x: pad(x, 2, 1)[1:5], "doubled": lambda x: 2 * x},
    ),
    row(
        "slice of a pad outside",
        lambda x: pad(x, 2, 1, 0, 3.0)[:2],
        lambda x: 3.0 + 0.0 * x[:2],
        (V,),
        {"0": lambda x: 0 * x[:2], "inside": lambda x: x[:2]},
    ),
    row(
        "slice of an elementwise operation",
        lambda x, y: (x * y)[1:3],
        lambda x, y: x[1:3] * y[1:3],
        (V, V),
        {"shifted": lambda x, y: x[1:3] * y[0:2], "sum": lambda x, y: x[1:3] + y[1:3]},
    ),
    row(
        "slice of a matrix product",
        lambda A, B: matmul(A, B)[1:],
        lambda A, B: matmul(A[1:], B),
        (A, B),
        {"other rows": lambda A, B: matmul(A[:-1], B), "reversed": lambda A, B: matmul(A[1:], B)[::-1]},
    ),
    row(
        "dynamic_slice at a constant",
        lambda x: lax.dynamic_slice(x, (2,), (3,)),
        lambda x: x[2:5],
        (W,),
        {"clamped": lambda x: lax.dynamic_slice(x, (5,), (3,)), "earlier": lambda x: x[1:4]},
    ),
    row(
        "dynamic_slice beyond the end",
        lambda x: lax.dynamic_slice(x, (9,), (3,)),
        lambda x: x[3:],
        (W,),
        {"start": lambda x: x[:3], "one less": lambda x: x[2:5]},
    ),
    row(
        "dynamic_update_slice",
        lambda x, y: lax.dynamic_update_slice(x, y, (1,)),
        lambda x, y: jnp.concatenate([x[:1], y, x[5:]]),
        (W, V),
        {"at 2": lambda x, y: jnp.concatenate([x[:2], y]), "added": lambda x, y: x.at[1:5].add(y)},
    ),
    row(
        "slice of a dynamic_update_slice",
        lambda x, y: lax.dynamic_update_slice(x, y, (1,))[1:5],
        lambda x, y: y + 0.0 * x[:4],
        (W, V),
        {"x": lambda x, y: x[1:5], "shifted": lambda x, y: lax.dynamic_update_slice(x, y, (1,))[:4]},
    ),
    row(
        "take of a permutation and back",
        lambda x: x[ORDER][np.argsort(ORDER)],
        lambda x: x,
        (V,),
        {"once": lambda x: x[ORDER], "twice": lambda x: x[ORDER][ORDER]},
    ),
    row(
        "take of all rows is a product with one-hots",
        lambda x: x[ORDER],
        lambda x: matmul(np.eye(4, dtype=np.float32)[ORDER], x),
        (B,),
        {"transposed": lambda x: matmul(np.eye(4, dtype=np.float32)[ORDER].T, x), "sorted": lambda x: x},
    ),
)

PADS = (
    row(
        "pad by nothing",
        lambda x: pad(x, 0, 0),
        lambda x: x,
        (V,),
        {"doubled": lambda x: 2 * x, "rolled": lambda x: jnp.roll(x, 1)},
    ),
    row(
        "pad of a pad, one value",
        lambda x: pad(pad(x, 1, 2), 3, 4),
        lambda x: pad(x, 4, 6),
        (V,),
        {"the other way": lambda x: pad(x, 6, 4), "5": lambda x: pad(x, 5, 5)},
    ),
    row(
        "negative pad is a slice",
        lambda x: pad(x, -1, -2),
        lambda x: x[1:4],
        (W,),
        {"the other way": lambda x: x[2:5], "start": lambda x: x[:3]},
    ),
    row(
        "interior pad and a strided slice",
        lambda x: pad(x, 0, 0, 1)[::2],
        lambda x: x,
        (V,),
        {"zeros": lambda x: 0 * x, "reversed": lambda x: x[::-1]},
    ),
    row(
        "pad as a concatenation",
        lambda x: pad(x, 1, 2, 0, 5.0),
        lambda x: jnp.concatenate([jnp.full(1, 5.0), x, jnp.full(2, 5.0)]),
        (V,),
        {"0": lambda x: pad(x, 1, 2), "exchanged": lambda x: pad(x, 2, 1, 0, 5.0)},
    ),
    row(
        "concatenation as a sum of pads",
        lambda x, y: jnp.concatenate([x, y]),
        lambda x, y: pad(x, 0, 6) + pad(y, 4, 0),
        (V, W),
        {
            "exchanged": lambda x, y: pad(x, 6, 0) + pad(y, 0, 4),
            "doubled": lambda x, y: pad(x, 0, 6) + 2 * pad(y, 4, 0),
        },
    ),
    row(
        "sum of a pad",
        lambda x: pad(x, 2, 1, 1).sum(),
        lambda x: x.sum(),
        (V,),
        {"mean": lambda x: x.mean(), "1": lambda x: pad(x, 2, 1, 1, 1.0).sum()},
    ),
    row(
        "product with a pad",
        lambda x, y: matmul(pad(x, 1, 1), y),
        lambda x, y: matmul(x, y[1:-1]),
        (V, W),
        {"shifted": lambda x, y: matmul(x, y[2:]), "first": lambda x, y: matmul(x, y[:4])},
    ),
    row(
        "transpose of a pad",
        lambda x: jnp.pad(x, ((1, 0), (0, 2))).T,
        lambda x: jnp.pad(x.T, ((0, 2), (1, 0))),
        (A,),
        {"exchanged": lambda x: jnp.pad(x.T, ((2, 0), (1, 0))), "other side": lambda x: jnp.pad(x.T, ((0, 2), (0, 1)))},
    ),
    row(
        "reverse of a pad",
        lambda x: pad(x, 1, 2)[::-1],
        lambda x: pad(x[::-1], 2, 1),
        (V,),
        {"not exchanged": lambda x: pad(x[::-1], 1, 2), "not reversed": lambda x: pad(x, 2, 1)},
    ),
)

REDUCTIONS = (
    row(
        "sum over two axes, one after the other",
        lambda x: x.sum(0).sum(0),
        lambda x: x.sum(),
        (A,),
        {"mean": lambda x: x.mean(), "one": lambda x: x.sum(0)[0]},
    ),
    row(
        "sum of a transpose",
        lambda x: x.T.sum(0),
        lambda x: x.sum(1),
        (A,),
        {"mean": lambda x: x.mean(1), "first": lambda x: x[:, 0]},
    ),
    row(
        "sum of a reshape",
        lambda x: x.reshape(12).sum(),
        lambda x: x.sum(),
        (A,),
        {"absolute": lambda x: jnp.abs(x).sum(), "mean": lambda x: x.mean()},
    ),
    row(
        "sum of a broadcast",
        lambda x: jnp.broadcast_to(x, (3, 4)).sum(0),
        lambda x: 3.0 * x,
        (V,),
        {"4": lambda x: 4 * x, "1": lambda x: x},
    ),
    row(
        "sum of a concatenation",
        lambda x, y: jnp.concatenate([x, y]).sum(),
        lambda x, y: x.sum() + y.sum(),
        (V, W),
        {"difference": lambda x, y: x.sum() - y.sum(), "product": lambda x, y: x.sum() * y.sum()},
    ),
    row(
        "sum of a sum",
        lambda x, y: (x + y).sum(0),
        lambda x, y: x.sum(0) + y.sum(0),
        (A, A),
        {"product": lambda x, y: x.sum(0) * y.sum(0), "one": lambda x, y: x.sum(0) + 2 * y.sum(0)},
    ),
    row(
        "sum of a multiple",
        lambda x: (3.0 * x).sum(),
        lambda x: 3.0 * x.sum(),
        (V,),
        {"9": lambda x: 9 * x.sum(), "+": lambda x: x.sum() + 3},
    ),
    row(
        "max of a reverse",
        lambda x: x[::-1].max(),
        lambda x: x.max(),
        (V,),
        {"min": lambda x: x.min(), "first": lambda x: x[0]},
    ),
    row(
        "max of a concatenation",
        lambda x, y: jnp.concatenate([x, y]).max(),
        lambda x, y: jnp.maximum(x.max(), y.max()),
        (V, W),
        {"min": lambda x, y: jnp.minimum(x.max(), y.max()), "x": lambda x, y: x.max() + 0 * y[0]},
    ),
    row(
        "max over two axes",
        lambda x: x.max(0).max(0),
        lambda x: x.max(1).max(0),
        (A,),
        {"min": lambda x: x.max(1).min(0), "one": lambda x: x.max(1)[0]},
    ),
    row(
        "max of a negation",
        lambda x: (-x).max(),
        lambda x: -x.min(),
        (V,),
        {"max": lambda x: -x.max(), "min": lambda x: x.min()},
    ),
    row(
        "max of exponentials",
        lambda x: jnp.exp(x).max(),
        lambda x: jnp.exp(x.max()),
        (V,),
        {"sum": lambda x: jnp.exp(x.sum()), "min": lambda x: jnp.exp(x.min())},
    ),
    row(
        "max of a sum with a scalar",
        lambda x, c: (x + c).max(),
        lambda x, c: x.max() + c,
        (V, f32()),
        {"4c": lambda x, c: x.max() + 4 * c, "max(c)": lambda x, c: jnp.maximum(x.max(), c)},
    ),
    row(
        "product of exponentials",
        lambda x: jnp.exp(x).prod(),
        lambda x: jnp.exp(x.sum()),
        (V,),
        {"mean": lambda x: jnp.exp(x.mean()), "product": lambda x: jnp.exp(x.prod())},
    ),
    row(
        "sum with a custom monoid",
        lambda x: lax.reduce(x, np.zeros((), x.dtype), lambda a, b: a + b, (0,)),
        lambda x: jnp.sum(x),
        (V,),
        {"max": jnp.max, "+1": lambda x: jnp.sum(x) + 1},
    ),
    row(
        "product with a custom monoid",
        lambda x: lax.reduce(x, np.ones((), x.dtype), lambda a, b: a * b, (0,)),
        lambda x: jnp.prod(x),
        (V,),
        {"sum": jnp.sum, "2": lambda x: 2 * jnp.prod(x)},
    ),
    row(
        "a reduction of a reduction over windows",
        lambda x: window_sum(window_sum(x, 2), 2),
        lambda x: x[:4] + 2.0 * x[1:5] + x[2:],
        (W,),
        {"3": lambda x: window_sum(x, 3), "1": lambda x: x[:4] + x[1:5] + x[2:]},
    ),
    row(
        "windows of one entry",
        lambda x: window_sum(x, 1, 2),
        lambda x: x[::2],
        (W,),
        {"others": lambda x: x[1::2], "sum": lambda x: x[::2] + x[1::2]},
    ),
    row(
        "windows without overlap are a reshape",
        lambda x: window_sum(x, 2, 2),
        lambda x: x.reshape(3, 2).sum(1),
        (W,),
        {"strided": lambda x: x.reshape(2, 3).sum(0), "mean": lambda x: x.reshape(3, 2).mean(1)},
    ),
    row(
        "windows of a padded array",
        lambda x: window_sum(pad(x, 1, 1), 3),
        lambda x: window_sum(x, 3, 1, (1, 1)),
        (W,),
        {"one side": lambda x: window_sum(x, 3, 1, (2, 0)), "doubled": lambda x: 2 * window_sum(x, 3, 1, (1, 1))},
    ),
    row(
        "the largest of all windows",
        lambda x: window_max(x, 2).max(),
        lambda x: x.max(),
        (W,),
        {"min": lambda x: window_max(x, 2).min(), "inner": lambda x: x[1:].max()},
    ),
    row(
        "maxima of windows twice",
        lambda x: window_max(window_max(x, 2), 2),
        lambda x: window_max(x, 3),
        (W,),
        {
            "4": lambda x: jnp.stack([x[:4].max(), x[1:5].max(), x[2:].max(), x[2:].max()]),
            "2": lambda x: window_max(x, 2)[:4],
        },
    ),
    row(
        "cumsum and differences",
        lambda x: jnp.diff(jnp.cumsum(x)),
        lambda x: x[1:],
        (W,),
        {"first": lambda x: x[:-1], "sum": lambda x: x[1:] + x[:-1]},
    ),
    row(
        "cumsum is a triangular product",
        lambda x: jnp.cumsum(x),
        lambda x: matmul(np.tri(6, dtype=np.float32), x),
        (W,),
        {
            "strict": lambda x: matmul(np.tri(6, k=-1, dtype=np.float32), x),
            "transposed": lambda x: matmul(np.tri(6, dtype=np.float32).T, x),
        },
    ),
    row(
        "cumulative maximum of a cumulative maximum",
        lambda x: lax.cummax(lax.cummax(x)),
        lambda x: lax.cummax(x),
        (V,),
        {"reversed": lambda x: lax.cummax(x[::-1]), "min": lambda x: lax.cummin(x)},
    ),
    row(
        "sum of a select with zero",
        lambda x: jnp.where(np.array([True, False, True, False]), x, 0.0).sum(),
        lambda x: x[0] + x[2],
        (V,),
        {"others": lambda x: x[1] + x[3], "all": jnp.sum},
    ),
    row(
        "iota compared with a constant",
        lambda x: jnp.where(lax.iota(jnp.int32, 6) < 2, x, 0.0),
        lambda x: pad(x[:2], 0, 4),
        (W,),
        {"3": lambda x: pad(x[:3], 0, 3), "≥": lambda x: pad(x[2:], 2, 0)},
    ),
)

PRODUCTS = (
    row(
        "product with a transpose",
        lambda A, B: matmul(A, B).T,
        lambda A, B: matmul(B.T, A.T),
        (A, B),
        {"doubled": lambda A, B: 2 * matmul(B.T, A.T), "reversed": lambda A, B: matmul(B.T, A.T)[::-1]},
    ),
    row(
        "product with a zero",
        lambda A, B: matmul(A, 0.0 * B),
        lambda A, B: jnp.zeros((3, 2)),
        (A, B),
        {"product": matmul, "1": lambda A, B: jnp.ones((3, 2))},
    ),
    row(
        "product with the identity",
        lambda A: matmul(A, jnp.eye(4)),
        lambda A: A,
        (A,),
        {"doubled": lambda A: 2 * A, "reversed": lambda A: A[:, ::-1]},
    ),
    row(
        "product with ones is a sum",
        lambda A: matmul(A, jnp.ones(4)),
        lambda A: A.sum(1),
        (A,),
        {"mean": lambda A: A.mean(1), "first": lambda A: A[:, 0]},
    ),
    row(
        "product with a broadcast vector",
        lambda A, v: matmul(A, jnp.broadcast_to(v[:, None], (4, 2))),
        lambda A, v: jnp.broadcast_to(matmul(A, v)[:, None], (3, 2)),
        (A, V),
        {
            "2": lambda A, v: jnp.broadcast_to(2 * matmul(A, v)[:, None], (3, 2)),
            "reversed": lambda A, v: jnp.broadcast_to(matmul(A, v[::-1])[:, None], (3, 2)),
        },
    ),
    row(
        "product with a diagonal is a scaling",
        lambda A, d: matmul(A, jnp.diag(d)),
        lambda A, d: A * d[None],
        (A, V),
        {"rows": lambda A, d: A * d[:3, None], "sum": lambda A, d: A + d[None]},
    ),
    row(
        "product of concatenations",
        lambda A, C, B, D: matmul(jnp.concatenate([A, C], 1), jnp.concatenate([B, D])),
        lambda A, C, B, D: matmul(A, B) + matmul(C, D),
        (A, f32(3, 2), B, f32(2, 2)),
        {
            "one": lambda A, C, B, D: matmul(A, B) + 0 * matmul(C, D),
            "difference": lambda A, C, B, D: matmul(A, B) - matmul(C, D),
        },
    ),
    row(
        "concatenation of products",
        lambda A, C, B: jnp.concatenate([matmul(A, B), matmul(C, B)]),
        lambda A, C, B: matmul(jnp.concatenate([A, C]), B),
        (A, f32(2, 4), B),
        {
            "exchanged": lambda A, C, B: jnp.roll(matmul(jnp.concatenate([A, C]), B), 1, 0),
            "doubled": lambda A, C, B: 2 * matmul(jnp.concatenate([A, C]), B),
        },
    ),
    row(
        "a reshape of a batch of products",
        lambda A, B: einsum("bij,jk->bik", A, B).reshape(6, 2),
        lambda A, B: matmul(A.reshape(6, 4), B),
        (f32(2, 3, 4), B),
        {
            "transposed": lambda A, B: matmul(A.transpose(1, 0, 2).reshape(6, 4), B),
            "reversed": lambda A, B: matmul(A.reshape(6, 4), B)[::-1],
        },
    ),
    row(
        "sum of a product over its rows",
        lambda A, B: matmul(A, B).sum(0),
        lambda A, B: matmul(A.sum(0), B),
        (A, B),
        {"mean": lambda A, B: matmul(A.mean(0), B), "columns": lambda A, B: matmul(A, B).sum(1)[:2]},
    ),
    row(
        "outer product as a broadcast product",
        lambda x, y: jnp.outer(x, y),
        lambda x, y: x[:, None] * y[None],
        (V, W),
        {"sum": lambda x, y: x[:, None] + y[None], "doubled": lambda x, y: 2 * x[:, None] * y[None]},
    ),
    row(
        "a product with one contracted entry",
        lambda x, y: matmul(x[:, None], y[None]),
        lambda x, y: jnp.broadcast_to(x[:, None], (4, 6)) * y[None],
        (V, W),
        {"reversed": lambda x, y: x[:, None] * y[::-1][None], "sum": lambda x, y: x[:, None] + y[None]},
    ),
    row(
        "convolution with a kernel of one",
        lambda x, w: lax.conv_general_dilated(x, w, (1,), "VALID", precision="highest"),
        lambda x, w: einsum("bct,oc->bot", x, w[:, :, 0]),
        (f32(1, 2, 5), f32(3, 2, 1)),
        {
            "doubled": lambda x, w: 2 * einsum("bct,oc->bot", x, w[:, :, 0]),
            "reversed": lambda x, w: einsum("bct,oc->bot", x[:, :, ::-1], w[:, :, 0]),
        },
    ),
    row(
        "convolution of a padded array",
        lambda x, w: lax.conv_general_dilated(
            jnp.pad(x, ((0, 0), (0, 0), (1, 1))), w, (1,), "VALID", precision="highest"
        ),
        lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME", precision="highest"),
        (f32(1, 2, 5), f32(3, 2, 3)),
        {
            "reversed": lambda x, w: lax.conv_general_dilated(x, w[:, :, ::-1], (1,), "SAME", precision="highest"),
            "one side": lambda x, w: lax.conv_general_dilated(x, w, (1,), [(2, 0)], precision="highest"),
        },
    ),
    row(
        "convolution of a reversed array",
        lambda x, w: lax.conv_general_dilated(x[:, :, ::-1], w, (1,), "VALID", precision="highest"),
        lambda x, w: lax.conv_general_dilated(x, w[:, :, ::-1], (1,), "VALID", precision="highest")[:, :, ::-1],
        (f32(1, 2, 5), f32(3, 2, 3)),
        {
            "kernel as it is": lambda x, w: lax.conv_general_dilated(x, w, (1,), "VALID", precision="highest")[
                :, :, ::-1
            ],
            "result as it is": lambda x, w: lax.conv_general_dilated(
                x, w[:, :, ::-1], (1,), "VALID", precision="highest"
            ),
        },
    ),
    row(
        "sorting twice",
        lambda x: jnp.sort(jnp.sort(x)),
        jnp.sort,
        (V,),
        {"descending": lambda x: jnp.sort(x)[::-1], "not": lambda x: x},
    ),
    row(
        "sum of what is sorted",
        lambda x: jnp.sort(x).sum(),
        lambda x: x.sum(),
        (V,),
        {"max": jnp.max, "first": lambda x: jnp.sort(x)[0]},
    ),
    row(
        "scatter-add of a permutation",
        lambda x, y: x.at[ORDER].add(y),
        lambda x, y: x + y[np.argsort(ORDER)],
        (V, V),
        {"not inverted": lambda x, y: x + y[ORDER], "set": lambda x, y: x.at[ORDER].set(y)},
    ),
    row(
        "scatter-add with equal indices",
        lambda x, y: x.at[np.array([1, 1, 2, 1])].add(y),
        lambda x, y: x + jnp.stack([0.0 * y[0], y[0] + y[1] + y[3], y[2], 0.0 * y[0]]),
        (V, V),
        {
            "the last": lambda x, y: x + jnp.stack([0 * y[0], y[3], y[2], 0 * y[0]]),
            "set": lambda x, y: x.at[np.array([1, 2])].set(y[:2]),
        },
    ),
    row(
        "gradient of a take is a scatter-add",
        lambda x, g: jax.vjp(lambda x: x[np.array([1, 1, 2])], x)[1](g)[0],
        lambda x, g: jnp.zeros(4).at[np.array([1, 1, 2])].add(g),
        (V, f32(3)),
        {
            "set": lambda x, g: jnp.zeros(4).at[np.array([1, 2])].set(g[1:]),
            "moved": lambda x, g: jnp.zeros(4).at[np.array([0, 1, 2])].add(g),
        },
    ),
)

ROWS = (*SHAPES, *SLICES, *PADS, *REDUCTIONS, *PRODUCTS)
