"""flax.nnx: modules whose parameters are given as arguments, against plain formulas."""

import jax.numpy as jnp
import numpy as np
from jax import nn

from ..pair import EPS, einsum, f32, matmul
from ..row import row
from .library import library

nnx = library("flax.nnx")


def applied(make, values, *inputs):
    """The module make(rngs) with its parameters, named by their paths, replaced by the values."""
    graph, state, rest = nnx.split(nnx.eval_shape(lambda: make(nnx.Rngs(0))), nnx.Param, ...)
    flat = {path: variable.replace(values[".".join(map(str, path))]) for path, variable in nnx.to_flat_state(state)}
    del rest
    return nnx.merge(graph, nnx.from_flat_state(flat))(*inputs)


def linear(W, b, x):
    return applied(lambda rngs: nnx.Linear(3, 2, rngs=rngs), {"kernel": W, "bias": b}, x)


def layer_norm(g, b, x):
    make = lambda rngs: nnx.LayerNorm(4, epsilon=EPS, param_dtype=x.dtype, use_fast_variance=False, rngs=rngs)
    return applied(make, {"scale": g, "bias": b}, x)


def plain_norm(g, b, x, ddof=0):
    d = x - x.mean(-1, keepdims=True)
    return g * d / jnp.sqrt((d * d).sum(-1, keepdims=True) / (x.shape[-1] - ddof) + EPS) + b


def rms_norm(g, x):
    return applied(lambda rngs: nnx.RMSNorm(4, epsilon=EPS, param_dtype=x.dtype, rngs=rngs), {"scale": g}, x)


def conv(W, x, **options):
    return applied(lambda rngs: nnx.Conv(2, 3, (3,), use_bias=False, rngs=rngs, **options), {"kernel": W}, x)


def taps(W, x, before=1, after=1):
    padded = jnp.pad(x, ((before, after), (0, 0)))
    return sum(matmul(padded[k : k + len(x) + before + after - 2], W[k]) for k in range(3))


def lora(W, A, B, x):
    make = lambda rngs: nnx.LoRALinear(3, 2, lora_rank=2, use_bias=False, rngs=rngs)
    graph, state = nnx.split(nnx.eval_shape(lambda: make(nnx.Rngs(0))))
    values = {"kernel": W, "lora.lora_a": A, "lora.lora_b": B}
    flat = {path: v.replace(values[".".join(map(str, path))]) for path, v in nnx.to_flat_state(state)}
    return nnx.merge(graph, nnx.from_flat_state(flat))(x)


def embed(W):
    return applied(lambda rngs: nnx.Embed(4, 3, rngs=rngs), {"embedding": W}, np.array([1, 3, 1], np.int32))


def einsum_layer(W, x):
    return applied(lambda rngs: nnx.Einsum("ab,bcd->acd", (3, 2, 2), rngs=rngs), {"kernel": W}, x)


class Residual(nnx.Module):
    """x + W₂ gelu(W₁ x)."""

    def __init__(self, rngs):
        self.up = nnx.Linear(3, 4, use_bias=False, rngs=rngs)
        self.down = nnx.Linear(4, 3, use_bias=False, rngs=rngs)

    def __call__(self, x):
        return x + self.down(nnx.gelu(self.up(x)))


def residual(U, D, x):
    return applied(Residual, {"up.kernel": U, "down.kernel": D}, x)


def plain_residual(U, D, x, activation=nn.gelu):
    return matmul(activation(matmul(x, U)), D) + x


ROWS = (
    row(
        "Linear",
        linear,
        lambda W, b, x: einsum("ti,io->to", x, W) + b,
        (f32(3, 2), f32(2), f32(4, 3)),
        {"no bias": lambda W, b, x: matmul(x, W) + 0 * b, "minus": lambda W, b, x: matmul(x, W) - b},
        gradient=True,
    ),
    row(
        "LayerNorm",
        layer_norm,
        plain_norm,
        (f32(4), f32(4), f32(3, 4)),
        {"n − 1": lambda g, b, x: plain_norm(g, b, x, 1), "exchanged": lambda g, b, x: plain_norm(b, g, x)},
        gradient=True,
    ),
    row(
        "RMSNorm",
        rms_norm,
        lambda g, x: x / jnp.sqrt((x * x).mean(-1, keepdims=True) + EPS) * g,
        (f32(4), f32(3, 4)),
        {
            "1 + scale": lambda g, x: x / jnp.sqrt((x * x).mean(-1, keepdims=True) + EPS) * (1 + g),
            "sum": lambda g, x: x / jnp.sqrt((x * x).sum(-1, keepdims=True) + EPS) * g,
        },
    ),
    row(
        "Conv",
        conv,
        taps,
        (f32(3, 2, 3), f32(5, 2)),
        {"mirrored": lambda W, x: taps(W[::-1], x), "causal": lambda W, x: taps(W, x, 2, 0)},
        gradient=True,
    ),
    row(
        "Conv, causal",
        lambda W, x: conv(W, x, padding="CAUSAL"),
        lambda W, x: taps(W, x, 2, 0),
        (f32(3, 2, 3), f32(5, 2)),
        {"SAME": taps, "the future": lambda W, x: taps(W, x, 0, 2)},
    ),
    row(
        "Embed",
        embed,
        lambda W: jnp.stack([W[1], W[3], W[1]]),
        (f32(4, 3),),
        {"other rows": lambda W: jnp.stack([W[3], W[1], W[3]]), "doubled": lambda W: 2 * jnp.stack([W[1], W[3], W[1]])},
    ),
    row(
        "Einsum",
        einsum_layer,
        lambda W, x: matmul(x, W.reshape(3, 4)).reshape(-1, 2, 2),
        (f32(3, 2, 2), f32(4, 3)),
        {
            "transposed": lambda W, x: matmul(x, W.transpose(0, 2, 1).reshape(3, 4)).reshape(-1, 2, 2),
            "minus": lambda W, x: -matmul(x, W.reshape(3, 4)).reshape(-1, 2, 2),
        },
    ),
    row(
        "LoRALinear",
        lora,
        lambda W, A, B, x: matmul(x, W + matmul(A, B)),
        (f32(3, 2), f32(3, 2), f32(2, 2), f32(4, 3)),
        {
            "order": lambda W, A, B, x: matmul(x, W + matmul(A, B.T)),
            "no update": lambda W, A, B, x: matmul(x, W) + 0 * (A.sum() + B.sum()),
        },
        gradient=True,
    ),
    row(
        "a residual block",
        residual,
        plain_residual,
        (f32(3, 4), f32(4, 3), f32(2, 3)),
        {
            "exact gelu": lambda U, D, x: plain_residual(U, D, x, lambda y: nn.gelu(y, approximate=False)),
            "no residual": lambda U, D, x: plain_residual(U, D, x) - x,
        },
    ),
    row(
        "softmax of a scaled array",
        lambda x: nnx.softmax(2.0 * x),
        lambda x: jnp.exp(x) ** 2 / (jnp.exp(x) ** 2).sum(-1, keepdims=True),
        (f32(3, 4),),
        {"not scaled": nn.softmax, "over rows": lambda x: nn.softmax(2 * x, 0)},
    ),
    row(
        "dot_product_attention with a causal mask",
        lambda q, k: nnx.dot_product_attention(q, k, k, mask=np.tri(3, dtype=bool)[None]),
        lambda q, k: (lambda e: einsum("hts,shd->thd", e / e.sum(-1, keepdims=True), k))(
            jnp.exp(einsum("thd,shd->hts", q, k) / jnp.sqrt(2.0)) * np.tri(3, dtype=np.float32)
        ),
        (f32(3, 1, 2), f32(3, 1, 2)),
        {
            "no scale": lambda q, k: (lambda e: einsum("hts,shd->thd", e / e.sum(-1, keepdims=True), k))(
                jnp.exp(einsum("thd,shd->hts", q, k)) * np.tri(3, dtype=np.float32)
            ),
            "no mask": lambda q, k: nnx.dot_product_attention(q, k, k),
        },
    ),
)
