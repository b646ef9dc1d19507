"""Functions that are exported and read back: each with a factor c of its first input, and the specs of its inputs."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.linalg
import numpy as np
from jax import lax


def spec(*shape: int, dtype: str = "float32") -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.dtype(dtype))


V, W, M, A, IMAGE = spec(5), spec(5), spec(3, 4), spec(3, 3), spec(1, 6, 6, 2)
KEY = jax.random.key(7)


def norm(x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + np.float32(1e-5))


def attention(x, p):
    q, k, v = jnp.split(jnp.dot(x, p["qkv"], precision="highest"), 3, axis=-1)
    heads = lambda a: a.reshape(a.shape[0], 2, -1).transpose(1, 0, 2)
    q, k, v = map(heads, (q, k, v))
    scores = jnp.einsum("hid,hjd->hij", q, k, precision="highest") / np.float32(np.sqrt(q.shape[-1]))
    mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, np.float32(-1e9)), axis=-1)
    mixed = jnp.einsum("hij,hjd->hid", weights, v, precision="highest")
    return jnp.dot(mixed.transpose(1, 0, 2).reshape(x.shape), p["out"], precision="highest")


def gpt2_block(x, p):
    x = x + attention(norm(x) * p["g1"], p)
    hidden = jax.nn.gelu(jnp.dot(norm(x) * p["g2"], p["up"], precision="highest"))
    return x + jnp.dot(hidden, p["down"], precision="highest")


GPT2 = {
    "qkv": spec(4, 12), "out": spec(4, 4), "up": spec(4, 8), "down": spec(8, 4), "g1": spec(1, 4), "g2": spec(1, 4),
}  # fmt: skip


def conv(x, kernel, strides=(1, 1), padding="SAME", groups=1):
    return lax.conv_general_dilated(
        x, kernel, strides, padding, dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=groups,
        precision="highest",
    )  # fmt: skip


def pool(x):
    return lax.reduce_window(x, np.float32(-np.inf), lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def lstm(x, w):
    def step(carry, row):
        h, c = carry
        i, f, g, o = jnp.split(jnp.dot(jnp.concatenate([row, h]), w, precision="highest"), 4)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zero = jnp.zeros(2, x.dtype)
    return lax.scan(step, (zero, zero), x)[1]


def newton(x):
    return lax.fori_loop(0, 3, lambda i, y: y - (y * y - x) / (2 * y), jnp.ones_like(x) * 2)


FUNCTIONS: dict[str, tuple[Callable, tuple[Any, ...]]] = {
    "GPT-2 block": (gpt2_block, (spec(3, 4), GPT2)),
    "gradient of a GPT-2 block": (jax.grad(lambda x, p: (gpt2_block(x, p) ** 2).sum()), (spec(2, 4), GPT2)),
    "MLP": (lambda x, w, v: jnp.dot(jax.nn.relu(jnp.dot(x, w)), v), (M, spec(4, 6), spec(6, 2))),
    "gradient of an MLP": (jax.grad(lambda x, w: jnp.tanh(jnp.dot(x, w)).sum()), (M, spec(4, 2))),
    "exact gelu": (lambda x: jax.nn.gelu(x, approximate=False), (V,)),
    "tanh gelu": (jax.nn.gelu, (V,)),
    "silu": (jax.nn.silu, (V,)),
    "softplus": (jax.nn.softplus, (V,)),
    "elu": (jax.nn.elu, (V,)),
    "softmax": (jax.nn.softmax, (V,)),
    "log softmax": (jax.nn.log_softmax, (V,)),
    "logsumexp": (jax.nn.logsumexp, (V,)),
    "logaddexp": (jnp.logaddexp, (V, W)),
    "layer norm": (norm, (M,)),
    "variance": (lambda x: x.var(-1), (M,)),
    "conv net": (lambda x, k: jax.nn.relu(conv(x, k)).mean((1, 2)), (IMAGE, spec(3, 3, 2, 3))),
    "strided conv": (lambda x, k: conv(x, k, (2, 2), "VALID"), (IMAGE, spec(3, 3, 2, 3))),
    "depthwise conv": (lambda x, k: conv(x, k, groups=2), (IMAGE, spec(3, 3, 1, 2))),
    "max pooling": (pool, (IMAGE,)),
    "gradient of max pooling": (jax.grad(lambda x: (pool(x) ** 2).sum()), (spec(1, 4, 4, 1),)),
    "average pooling": (
        lambda x: lax.reduce_window(x, np.float32(0), lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4,
        (IMAGE,),
    ),
    "gradient of a conv net": (
        jax.grad(lambda x, k: jnp.tanh(conv(x, k)).sum()),
        (spec(1, 4, 4, 1), spec(2, 2, 1, 2)),
    ),
    "cumulative products by scan": (lambda x: lax.scan(lambda c, a: (c * a, c + a), x[0], x), (V,)),
    "LSTM": (lstm, (spec(3, 2), spec(4, 8))),
    "reverse scan": (lambda x: lax.scan(lambda c, a: (c * 0.5 + a, c), x[0], x, reverse=True)[1], (V,)),
    "fori loop": (newton, (spec(3),)),
    "while loop": (lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * c[1]), (0, x))[1], (V,)),
    "gradient of a scan": (jax.grad(lambda x: lax.scan(lambda c, a: (c * a, c), x[0], x)[0]), (V,)),
    "associative scan": (lambda x: lax.associative_scan(jnp.multiply, x), (V,)),
    "sort": (jnp.sort, (V,)),
    "descending sort": (lambda x: jnp.sort(x, descending=True), (V,)),
    "sort with a passenger": (lambda x, y: lax.sort((x, y), num_keys=1)[1] + x.sum(), (V, W)),
    "median": (jnp.median, (V,)),
    "top k": (lambda x: lax.top_k(x, 2)[0], (V,)),
    "value at the argmax": (lambda x: x[jnp.argmax(x)], (V,)),
    "argsorted values": (lambda x: x[jnp.argsort(x)], (V,)),
    "one-hot of the argmax": (lambda x: jax.nn.one_hot(jnp.argmax(x), 5) * x, (V,)),
    "scatter add": (lambda x: jnp.zeros(4).at[np.array([0, 2, 2, 3, 0])].add(x), (V,)),
    "scatter set": (lambda x: x.at[np.array([0, 2])].set(x[3:]), (V,)),
    "scatter max": (lambda x: x.at[np.array([0, 2])].max(x[3:]), (V,)),
    "segment sum": (lambda x: jax.ops.segment_sum(x, np.array([0, 0, 1, 2, 1]), 3), (V,)),
    "embedding": (lambda w: w[np.array([2, 0, 1])], (A,)),
    "gradient of an embedding": (jax.grad(lambda w: (w[np.array([2, 0, 2])] ** 2).sum()), (A,)),
    "slices": (lambda x: x[1:4] - x[::2], (V,)),
    "roll and flip": (lambda x: jnp.roll(x, 2) * x[::-1], (V,)),
    "pad": (lambda x: jnp.pad(x, 1, constant_values=2), (M,)),
    "where": (lambda x: jnp.where(x > 0, x, jnp.expm1(x)), (V,)),
    "clip": (lambda x: jnp.clip(x, -1, 2), (V,)),
    "cumsum": (jnp.cumsum, (V,)),
    "cumulative maximum": (lax.cummax, (V,)),
    "cumulative logsumexp": (lax.cumlogsumexp, (V,)),
    "triangular solve": (
        lambda a, b: jax.scipy.linalg.solve_triangular(a, b, lower=True),
        (A, spec(3)),
    ),
    "cholesky": (lambda a: jnp.linalg.cholesky(jnp.dot(a, a.T) + jnp.eye(3)), (A,)),
    "determinant": (jnp.linalg.det, (A,)),
    "solve": (jnp.linalg.solve, (A, spec(3))),
    "QR": (lambda a: tuple(jnp.linalg.qr(a)), (spec(3, 2),)),
    "singular values": (lambda a: jnp.linalg.svd(a, compute_uv=False), (spec(3, 2),)),
    "inverse": (jnp.linalg.inv, (A,)),
    "cholesky solve": (
        lambda a, b: jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(jnp.dot(a, a.T) + jnp.eye(3)), True), b),
        (A, spec(3)),
    ),
    "fft": (lambda x: jnp.abs(jnp.fft.fft(x)), (V,)),
    "rfft and back": (lambda x: jnp.fft.irfft(jnp.fft.rfft(x) ** 2), (spec(4),)),
    "dropout with a fixed key": (lambda x: jnp.where(jax.random.bernoulli(KEY, 0.5, (5,)), x, 0), (V,)),
    "cond on data": (lambda x: lax.cond(x[0] > 0, lambda: x, lambda: x * 2), (V,)),
    "bfloat16": (lambda x: jax.nn.relu(x * jnp.bfloat16(0.1)), (spec(3, dtype="bfloat16"),)),
    "float64": (lambda x: jnp.tanh(x) * 0.1, (spec(3, dtype="float64"),)),
    "erfc": (lax.erfc, (V,)),
    "log gamma": (lax.lgamma, (V,)),
    "arc tangent": (jnp.arctan, (V,)),
    "tree of outputs": (lambda x: {"a": x * x, "b": [x.sum(), x]}, (V,)),
    "an input that is not used": (lambda x, y: x * x, (V, W)),
}  # fmt: skip


def scaled(name: str, c: float) -> tuple[Callable, tuple[Any, ...]]:
    """The function whose first input is multiplied by c first, and its specs."""
    function, specs = FUNCTIONS[name]
    return (lambda x, *rest: function(x * x.dtype.type(c), *rest)), specs
