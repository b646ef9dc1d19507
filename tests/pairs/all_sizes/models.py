"""Layers, losses and their parts as people write them: with einsum, vmap, jax.nn and by hand."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn

from .row import Row, row

F = jnp.float32


def mha(x, wq, wk, wv, wo):
    b, tt, d = x.shape
    h = 4
    sp = lambda y: y.reshape(b, tt, h, -1).transpose(0, 2, 1, 3)
    q, k, v = (sp(x @ wq), sp(x @ wk), sp(x @ wv))
    a = nn.softmax(q @ k.swapaxes(-1, -2) / jnp.sqrt(F(q.shape[-1])), -1)
    return (a @ v).transpose(0, 2, 1, 3).reshape(b, tt, -1) @ wo


def mha2(x, wq, wk, wv, wo):
    b, tt, d = x.shape
    h = 4
    dh = d // 4
    out = 0.0
    for i in range(h):
        sl = slice(i * dh, (i + 1) * dh)
        q, k, v = (x @ wq[:, sl], x @ wk[:, sl], x @ wv[:, sl])
        s = jnp.einsum("btd,bsd->bts", q, k) * lax.rsqrt(jnp.asarray(dh, F))
        e = jnp.exp(s - lax.stop_gradient(s.max(-1, keepdims=True)))
        out = out + e / e.sum(-1, keepdims=True) @ v @ wo[sl]
    return out


def mha3(x, wq, wk, wv, wo):
    d = x.shape[-1]
    dh = d // 4
    r = lambda w: w.reshape(d, 4, dh)
    q, k, v = (jnp.einsum("btd,dhe->bhte", x, r(w)) for w in (wq, wk, wv))
    return jnp.einsum(
        "bhts,bhse,hed->btd", nn.softmax(jnp.einsum("bhte,bhse->bhts", q, k) / jnp.sqrt(F(dh))), v, wo.reshape(4, dh, d)
    )


def rope_half(x, th):
    x1, x2 = jnp.split(x, 2, -1)
    a = jnp.arange(x.shape[0], dtype=F)[:, None] * th[None]
    c, s = (jnp.cos(a), jnp.sin(a))
    return jnp.concatenate([x1 * c - x2 * s, x2 * c + x1 * s], -1)


def rope_rot(x, th):
    a = jnp.arange(x.shape[0], dtype=F)[:, None] * th[None]
    a = jnp.concatenate([a, a], -1)
    rot = jnp.concatenate([-x[:, x.shape[1] // 2 :], x[:, : x.shape[1] // 2]], -1)
    return x * jnp.cos(a) + rot * jnp.sin(a)


def rope_inter(x, th):
    a = jnp.arange(x.shape[0], dtype=F)[:, None] * th[None]
    y = x.reshape(x.shape[0], -1, 2)
    return jnp.stack(
        [y[..., 0] * jnp.cos(a) - y[..., 1] * jnp.sin(a), y[..., 0] * jnp.sin(a) + y[..., 1] * jnp.cos(a)], -1
    ).reshape(x.shape)


def rope_inter2(x, th):
    a = jnp.arange(x.shape[0], dtype=F)[:, None] * th[None]
    e, o = (x[:, ::2], x[:, 1::2])
    return jnp.concatenate(
        [(e * jnp.cos(a) - o * jnp.sin(a))[..., None], (o * jnp.cos(a) + e * jnp.sin(a))[..., None]], -1
    ).reshape(x.shape)


def block(x, p, a, b):
    h = x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-06)
    x = x + nn.softmax(h @ p @ h.T) @ h
    return x + nn.relu(x @ a) @ b


def block2(x, p, a, b):
    h = x / jnp.sqrt(jnp.mean(x**2, -1, keepdims=True) + 1e-06)
    e = jnp.exp(h @ p @ h.T)
    x = x + e @ h / e.sum(-1)[:, None]
    return x + jnp.maximum(jnp.einsum("nd,de->ne", x, a), 0) @ b


def four(f):

    def g(x, p, a, b):
        for _ in range(4):
            x = f(x, p, a, b)
        return x

    return g


def fused(x, w):
    q, k, v = jnp.split(x @ w, 3, axis=-1)
    return nn.softmax(q @ k.T) @ v


def gated(x, w, v, o):
    a, b = jnp.split(x @ jnp.concatenate([w, v], 1), 2, -1)
    return a * nn.sigmoid(a) * b @ o


TRUE: tuple[Row, ...] = (
    row("mha heads unrolled", mha, mha2, "b,t,4*d", "4*d,4*d", "4*d,4*d", "4*d,4*d", "4*d,4*d"),
    row("mha einsum", mha, mha3, "b,t,4*d", "4*d,4*d", "4*d,4*d", "4*d,4*d", "4*d,4*d"),
    row(
        "fused qkv",
        fused,
        lambda x, w: (lambda d: nn.softmax(x @ w[:, :d] @ (x @ w[:, d : 2 * d]).T) @ (x @ w[:, 2 * d :]))(
            w.shape[1] // 3
        ),
        "n,d",
        "d,3*e",
    ),
    row(
        "gqa repeat",
        lambda q, k, v: jnp.einsum(
            "hqk,khd->qhd",
            nn.softmax(jnp.einsum("qhd,khd->hqk", q, jnp.repeat(k, 2, axis=1)), -1),
            jnp.repeat(v, 2, axis=1),
        ),
        lambda q, k, v: (
            lambda qq: jnp.einsum("grqk,kgd->qgrd", nn.softmax(jnp.einsum("qgrd,kgd->grqk", qq, k), -1), v).reshape(
                q.shape
            )
        )(q.reshape(q.shape[0], k.shape[1], 2, -1)),
        "n,2*g,d",
        "m,g,d",
        "m,g,d",
    ),
    row(
        "mqa",
        lambda q, k, v: jnp.einsum("hqk,kd->qhd", nn.softmax(jnp.einsum("qhd,kd->hqk", q, k)), v),
        lambda q, k, v: jax.vmap(lambda qh: nn.softmax(qh @ k.T) @ v, 1, 1)(q),
        "n,h,d",
        "m,d",
        "m,d",
    ),
    row(
        "mask mult -inf bias",
        lambda q, k, v: (lambda m: nn.softmax(q @ k.T + jnp.where(m, 0.0, -jnp.inf)) @ v)(
            jnp.tril(jnp.ones((q.shape[0], q.shape[0]), bool))
        ),
        lambda q, k, v: nn.softmax(q @ k.T, axis=-1, where=jnp.tril(jnp.ones((q.shape[0], q.shape[0]), bool))) @ v,
        "n,d",
        "n,d",
        "n,d",
    ),
    row(
        "key padding mask",
        lambda q, k, v, m: nn.softmax(jnp.where(m[None] > 0, q @ k.T, -jnp.inf)) @ v,
        lambda q, k, v, m: (lambda e: e @ v / e.sum(-1, keepdims=True))(jnp.exp(q @ k.T) * (m > 0)[None].astype(F)),
        "n,d",
        "m,d",
        "m,d",
        "m",
    ),
    row(
        "flash 2 blocks of a split",
        lambda q, k, v: nn.softmax(q @ k.T) @ v,
        lambda q, k, v: (
            lambda m: (lambda e1, e2: (e1 @ v[:m] + e2 @ v[m:]) / (e1.sum(1) + e2.sum(1))[:, None])(
                jnp.exp(q @ k[:m].T), jnp.exp(q @ k[m:].T)
            )
        )(k.shape[0] // 2),
        "n,d",
        "2*m,d",
        "2*m,e",
    ),
    row(
        "attention w/ sink",
        lambda q, k, v, s: nn.softmax(jnp.concatenate([q @ k.T, jnp.broadcast_to(s, (q.shape[0], 1))], 1))[:, :-1] @ v,
        lambda q, k, v, s: (lambda e: e @ v / (e.sum(1, keepdims=True) + jnp.exp(s)))(jnp.exp(q @ k.T)),
        "n,d",
        "m,d",
        "m,e",
        "",
    ),
    row(
        "logit soft cap",
        lambda q, k, v: nn.softmax(30.0 * jnp.tanh(q @ k.T / 30.0)) @ v,
        lambda q, k, v: nn.softmax(60.0 * nn.sigmoid(q @ k.T / 15.0) - 30.0) @ v,
        "n,d",
        "m,d",
        "m,e",
    ),
    row(
        "qk norm",
        lambda q, k: (
            q / jnp.linalg.norm(q, axis=-1, keepdims=True) @ (k / jnp.linalg.norm(k, axis=-1, keepdims=True)).T
        ),
        lambda q, k: q @ k.T * lax.rsqrt((q**2).sum(-1))[:, None] * lax.rsqrt((k * k).sum(-1))[None],
        "n,d",
        "m,d",
    ),
    row(
        "nn.standardize",
        lambda x: nn.standardize(x, epsilon=1e-05),
        lambda x: (lambda c: c * lax.rsqrt((c * c).mean(-1, keepdims=True) + 1e-05))(x - x.mean(-1, keepdims=True)),
        "n,d",
    ),
    row(
        "ln fold into linear",
        lambda x, g, b, w, c: (
            (
                (lambda m, v: (x - m) * lax.rsqrt(v + 1e-05))(x.mean(-1, keepdims=True), x.var(-1, keepdims=True))
                * g[None]
                + b[None]
            )
            @ w
            + c[None]
        ),
        lambda x, g, b, w, c: (
            (lambda m, v: (x - m) * lax.rsqrt(v + 1e-05))(x.mean(-1, keepdims=True), x.var(-1, keepdims=True))
            @ (g[:, None] * w)
            + (b @ w + c)[None]
        ),
        "n,d",
        "d",
        "d",
        "d,e",
        "e",
    ),
    row(
        "rms scale invariance in matmul",
        lambda x, w: x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-06) @ w,
        lambda x, w: x @ w / jnp.sqrt(jnp.mean(jnp.square(x), axis=-1) + 1e-06)[:, None],
        "n,d",
        "d,e",
    ),
    row(
        "group norm",
        lambda x: (
            lambda y: ((y - y.mean((1,), keepdims=True)) / jnp.sqrt(y.var((1,), keepdims=True) + 1e-05)).reshape(
                x.shape
            )
        )(x.reshape(-1, 4)),
        lambda x: jax.vmap(lambda y: (y - y.mean()) / jnp.sqrt(((y - y.mean()) ** 2).mean() + 1e-05))(
            x.reshape(-1, 4)
        ).reshape(x.shape),
        "n,4*d",
    ),
    row(
        "batchnorm fold",
        lambda x, w, m, s, g, b: (x @ w - m[None]) * lax.rsqrt(s * s + 0.001)[None] * g[None] + b[None],
        lambda x, w, m, s, g, b: (lambda a: x @ (w * a[None]) + (b - m * a)[None])(g / jnp.sqrt(s * s + 0.001)),
        "n,d",
        "d,e",
        "e",
        "e",
        "e",
        "e",
    ),
    row(
        "l2 normalize cosine",
        lambda x, y: x / jnp.sqrt((x * x).sum()) @ (y / jnp.sqrt((y * y).sum())),
        lambda x, y: x @ y / jnp.sqrt(x @ x * (y @ y)),
        "n",
        "n",
    ),
    row("silu", nn.silu, lambda x: x / (1 + jnp.exp(-x)), "n,d"),
    row(
        "gelu tanh",
        partial(nn.gelu, approximate=True),
        lambda x: x * nn.sigmoid(2 * np.float32(np.sqrt(2 / np.pi)) * (x + 0.044715 * x * x * x)),
        "n",
    ),
    row("softplus", nn.softplus, lambda x: jnp.log(1 + jnp.exp(x)), "n"),
    row("log_sigmoid", nn.log_sigmoid, lambda x: jnp.log(nn.sigmoid(x)), "n"),
    row(
        "swiglu",
        lambda x, w, v, o: nn.silu(x @ w) * (x @ v) @ o,
        gated,
        "n,d",
        "d,e",
        "d,e",
        "e,d",
    ),
    row(
        "glu",
        partial(nn.glu, axis=-1),
        lambda x: x[:, : x.shape[1] // 2] * nn.sigmoid(x[:, x.shape[1] // 2 :]),
        "n,2*d",
    ),
    row("elu", nn.elu, lambda x: jnp.where(x > 0, x, jnp.exp(x) - 1), "n"),
    row("relu6", nn.relu6, lambda x: jnp.clip(x, 0.0, 6.0), "n"),
    row("hard tanh", nn.hard_tanh, lambda x: jnp.minimum(jnp.maximum(x, -1.0), 1.0), "n"),
    row("abs by relu", jnp.abs, lambda x: nn.relu(x) + nn.relu(-x), "n"),
    row("maxout", lambda x, y: jnp.where(x > y, x, y), lambda x, y: nn.relu(x - y) + y, "n", "n"),
    row(
        "xent logsoftmax",
        lambda z, y: -(y * nn.log_softmax(z)).sum(-1).mean(),
        lambda z, y: (nn.logsumexp(z, axis=-1) * y.sum(-1) - (y * z).sum(-1)).mean(),
        "n,c",
        "n,c",
    ),
    row(
        "kl",
        lambda p, q: (nn.softmax(p) * (nn.log_softmax(p) - nn.log_softmax(q))).sum(-1),
        lambda p, q: (
            lambda e: (e * (p - q)).sum(-1) / e.sum(-1) - nn.logsumexp(p, axis=-1) + nn.logsumexp(q, axis=-1)
        )(jnp.exp(p)),
        "n,c",
        "n,c",
    ),
    row(
        "bce",
        lambda z, y: (nn.softplus(z) - y * z).mean(),
        lambda z, y: -(y * jnp.log(nn.sigmoid(z)) + (1 - y) * jnp.log(1 - nn.sigmoid(z))).mean(),
        "n",
        "n",
    ),
    row(
        "bce2",
        lambda z, y: (jnp.maximum(z, 0) - z * y + jnp.log1p(jnp.exp(-jnp.abs(z)))).mean(),
        lambda z, y: (nn.softplus(z) - y * z).mean(),
        "n",
        "n",
    ),
    row("mse expand", lambda x, y: ((x - y) ** 2).sum(), lambda x, y: x @ x - 2 * (x @ y) + y @ y, "n", "n"),
    row(
        "pairwise dist",
        lambda x, y: ((x[:, None] - y[None]) ** 2).sum(-1),
        lambda x, y: (x * x).sum(1)[:, None] - 2 * x @ y.T + (y * y).sum(1)[None],
        "n,d",
        "m,d",
    ),
    row(
        "xent gradient",
        jax.grad(lambda z, y: -(y * nn.log_softmax(z)).sum()),
        lambda z, y: nn.softmax(z) * y.sum(-1, keepdims=True) - y,
        "n,c",
        "n,c",
    ),
    row(
        "label smoothing",
        lambda z, y: -((0.9 * y + 0.1 / z.shape[-1]) * nn.log_softmax(z)).sum(-1),
        lambda z, y: 0.9 * -(y * nn.log_softmax(z)).sum(-1) - 0.1 * nn.log_softmax(z).mean(-1),
        "n,c",
        "n,c",
    ),
    row(
        "focal temp",
        lambda z: nn.softmax(z / 2.0),
        lambda z: (lambda p: jnp.sqrt(p) / jnp.sqrt(p).sum(-1, keepdims=True))(nn.softmax(z)),
        "n,c",
    ),
    row(
        "entropy",
        lambda z: -(nn.softmax(z) * nn.log_softmax(z)).sum(-1),
        lambda z: nn.logsumexp(z, axis=-1) - (nn.softmax(z) * z).sum(-1),
        "n,c",
    ),
    row(
        "woodbury trace",
        lambda a, b: jnp.trace(a @ b @ a.T),
        lambda a, b: jnp.einsum("ij,jk,ik", a, b, a),
        "n,d",
        "d,d",
    ),
    row(
        "kron vec",
        lambda a, b, x: jnp.kron(a, b) @ x.reshape(-1),
        lambda a, b, x: (a @ x @ b.T).reshape(-1),
        "n,m",
        "p,q",
        "m,q",
    ),
    row(
        "lora merged",
        lambda x, w, a, b: x @ w + x @ a @ b * (16.0 / 8),
        lambda x, w, a, b: x @ (w + 2.0 * (a @ b)),
        "n,d",
        "d,e",
        "d,r",
        "r,e",
    ),
    row(
        "block matmul",
        lambda x, y: x @ y,
        lambda x, y: x[:, : x.shape[1] // 2] @ y[: y.shape[0] // 2] + x[:, x.shape[1] // 2 :] @ y[y.shape[0] // 2 :],
        "n,2*d",
        "2*d,m",
    ),
    row(
        "block matmul rows",
        lambda x, y: x @ y,
        lambda x, y: jnp.concatenate([x[: x.shape[0] // 2] @ y, x[x.shape[0] // 2 :] @ y]),
        "2*n,d",
        "d,m",
    ),
    row(
        "strassen",
        lambda x, y: x @ y,
        lambda x, y: jnp.block([[x[:1] @ y[:, :1], x[:1] @ y[:, 1:]], [x[1:] @ y[:, :1], x[1:] @ y[:, 1:]]]),
        "n+1,d",
        "d,m+1",
    ),
    row("vecdot", jnp.vdot, lambda x, y: jnp.sum(x * y), "n,d", "n,d"),
    row(
        "tensordot",
        lambda x, y: jnp.tensordot(x, y, axes=([1, 2], [0, 1])),
        lambda x, y: x.reshape(x.shape[0], -1) @ y.reshape(-1, y.shape[-1]),
        "n,d,e",
        "d,e,m",
    ),
    row(
        "outer sum",
        lambda x, y: (x[:, None] + y[None, :]).sum(),
        lambda x, y: y.shape[0] * x.sum() + x.shape[0] * y.sum(),
        "n",
        "m",
    ),
    row(
        "cov",
        lambda x: (lambda c: c.T @ c / x.shape[0])(x - x.mean(0, keepdims=True)),
        lambda x: x.T @ x / x.shape[0] - jnp.outer(x.mean(0), x.mean(0)),
        "n,d",
    ),
    row(
        "centering matrix",
        lambda x: x - x.mean(0, keepdims=True),
        lambda x: (jnp.eye(x.shape[0], dtype=F) - 1.0 / x.shape[0]) @ x,
        "n,d",
    ),
    row(
        "double centre",
        lambda x: (lambda h: h @ x @ h)(jnp.eye(x.shape[0], dtype=F) - 1.0 / x.shape[0]),
        lambda x: x - x.mean(0, keepdims=True) - x.mean(1, keepdims=True) + x.mean(),
        "n,n",
    ),
    row(
        "householder",
        lambda x, v: (lambda h: h @ h @ x)(jnp.eye(v.shape[0], dtype=F) - 2 * jnp.outer(v, v) / (v @ v)),
        lambda x, v: x,
        "n,d",
        "n",
    ),
    row(
        "sherman",
        lambda x, u, v: x + u * (v @ x) - u * (v @ (x + u * (v @ x))) / (1 + v @ u),
        lambda x, u, v: x,
        "n",
        "n",
        "n",
    ),
    row("rope rotate_half", rope_half, rope_rot, "n,2*d", "d"),
    row("rope interleaved", rope_inter, rope_inter2, "n,2*d", "d"),
    row("rope norm", lambda x, th: (rope_half(x, th) ** 2).sum(-1), lambda x, th: (x**2).sum(-1), "n,2*d", "d"),
    row(
        "rope inter scores",
        lambda q, k, th: rope_inter(q, th) @ rope_inter(k, th).T,
        lambda q, k, th: (
            jnp.einsum(
                "id,jd,ijd->ij",
                q[:, ::2],
                k[:, ::2],
                (lambda i: jnp.cos((i[:, None] - i[None])[..., None] * th[None, None]))(
                    jnp.arange(q.shape[0], dtype=F)
                ),
            )
            + jnp.einsum(
                "id,jd,ijd->ij",
                q[:, 1::2],
                k[:, 1::2],
                (lambda i: jnp.cos((i[:, None] - i[None])[..., None] * th[None, None]))(
                    jnp.arange(q.shape[0], dtype=F)
                ),
            )
            + jnp.einsum(
                "id,jd,ijd->ij",
                q[:, ::2],
                k[:, 1::2],
                (lambda i: jnp.sin((i[:, None] - i[None])[..., None] * th[None, None]))(
                    jnp.arange(q.shape[0], dtype=F)
                ),
            )
            - jnp.einsum(
                "id,jd,ijd->ij",
                q[:, 1::2],
                k[:, ::2],
                (lambda i: jnp.sin((i[:, None] - i[None])[..., None] * th[None, None]))(
                    jnp.arange(q.shape[0], dtype=F)
                ),
            )
        ),
        "n,2*d",
        "n,2*d",
        "d",
    ),
    row(
        "conv1d as shifts valid",
        lambda x, w: lax.conv(x[None, None], w[None, None], (1,), "VALID")[0, 0],
        lambda x, w: sum(w[i] * x[i : x.shape[0] - 2 + i] for i in range(3)),
        "n+2",
        "3",
    ),
    row(
        "im2col",
        lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")),
        lambda x, w: jnp.einsum(
            "nhwkc,kcd->nhwd",
            jnp.stack([x[:, i : x.shape[1] - 1 + i, j : x.shape[2] - 1 + j] for i in range(2) for j in range(2)], 3),
            w.reshape(4, x.shape[-1], -1),
        ),
        "n,h+1,w+1,c",
        "2,2,c,d",
    ),
    row(
        "1x1 conv",
        lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
        lambda x, w: jnp.einsum("nhwc,cd->nhwd", x, w[0, 0]),
        "n,h,w,c",
        "1,1,c,d",
    ),
    row(
        "depthwise shift",
        lambda x: jnp.concatenate([jnp.zeros_like(x[:1]), x[:-1]]),
        lambda x: jnp.pad(x, ((1, 0), (0, 0)))[:-1],
        "n,d",
    ),
    row(
        "patchify",
        lambda x, w: lax.conv_general_dilated(x, w, (4, 4), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")),
        lambda x, w: (lambda y: jnp.einsum("nhiwjc,ijcd->nhwd", y, w))(
            x.reshape(x.shape[0], x.shape[1] // 4, 4, x.shape[2] // 4, 4, x.shape[3])
        ),
        "n,4*h,4*w,c",
        "4,4,c,d",
    ),
    row("avg pool", lambda x: x.reshape(-1, 2).mean(1), lambda x: (x[::2] + x[1::2]) / 2, "2*n"),
    row("max pool", lambda x: x.reshape(-1, 2).max(1), lambda x: jnp.maximum(x[::2], x[1::2]), "2*n"),
    row(
        "reduce_window sum",
        lambda x: lax.reduce_window(x, 0.0, lax.add, (2,), (2,), "VALID"),
        lambda x: x.reshape(-1, 2).sum(1),
        "2*n",
    ),
    row(
        "causal mean",
        lambda x: jnp.cumsum(x, 0) / (jnp.arange(x.shape[0], dtype=F) + 1)[:, None],
        lambda x: (lambda m: m / m.sum(1, keepdims=True) @ x)(jnp.tril(jnp.ones((x.shape[0], x.shape[0]), F))),
        "n,d",
    ),
    row("cumsum as tril", lambda x: jnp.cumsum(x, 0), lambda x: jnp.tril(jnp.ones((x.shape[0],) * 2, F)) @ x, "n,d"),
    row(
        "cumsum as where",
        lambda x: jnp.cumsum(x),
        lambda x: jnp.where(
            jnp.arange(x.shape[0], dtype=F)[:, None] >= jnp.arange(x.shape[0], dtype=F)[None], x[None], 0.0
        ).sum(1),
        "n",
    ),
    row("diff", lambda x: jnp.diff(x), lambda x: x[1:] - x[:-1], "n+1"),
    row("roll", lambda x: jnp.roll(x, 1), lambda x: jnp.concatenate([x[-1:], x[:-1]]), "n"),
    row("flip", jnp.flip, lambda x: x[::-1], "n"),
    row("take", lambda x: jnp.take(x, jnp.array([0, 2]), axis=0), lambda x: jnp.stack([x[0], x[2]]), "n+2,d"),
    row("onehot", lambda x: nn.one_hot(jnp.arange(x.shape[0]), x.shape[0]) @ x, lambda x: x, "n,d"),
    row(
        "decay attention",
        lambda x, a: (
            jnp.where(
                jnp.tril(jnp.ones((x.shape[0],) * 2, bool)),
                jnp.exp(-a * (jnp.arange(x.shape[0], dtype=F)[:, None] - jnp.arange(x.shape[0], dtype=F)[None])),
                0.0,
            )
            @ x
        ),
        lambda x, a: (lambda i: jnp.exp(-a * i)[:, None] * jnp.cumsum(jnp.exp(a * i)[:, None] * x, 0))(
            jnp.arange(x.shape[0], dtype=F).astype(F)
        ),
        "n,d",
        "",
    ),
    row(
        "two blocks",
        lambda x, p, a, b: block(block(x, p, a, b), p, a, b),
        lambda x, p, a, b: block2(block2(x, p, a, b), p, a, b),
        "n,d",
        "d,d",
        "d,e",
        "e,d",
    ),
    row("four blocks", four(block), four(block2), "n,d", "d,d", "d,e", "e,d"),
    row(
        "moe dense",
        lambda x, g, w: jnp.einsum("ne,nef->nf", nn.softmax(x @ g), jnp.einsum("nd,edf->nef", x, w)),
        lambda x, g, w: jnp.einsum("ne,nd,edf->nf", nn.softmax(x @ g), x, w),
        "n,d",
        "d,e",
        "e,d,f",
    ),
    row(
        "vmap mlp",
        jax.vmap(lambda x, w, b: jnp.tanh(w.T @ x + b), (0, None, None)),
        lambda x, w, b: jnp.tanh(x @ w + b[None]),
        "n,d",
        "d,e",
        "e",
    ),
    row(
        "residual scale",
        lambda x, w: x + 0.5 * (x @ w),
        lambda x, w: x @ (jnp.eye(x.shape[1], dtype=F) + w / 2),
        "n,d",
        "d,d",
    ),
    row("embedding tied", lambda h, e: h @ e.T, lambda h, e: jnp.einsum("td,vd->tv", h, e), "t,d", "v,d"),
    row(
        "scan sum",
        lambda x: lax.scan(lambda c, r: (c + r, c + r), jnp.zeros(x.shape[1], F), x)[1],
        lambda x: jnp.cumsum(x, 0),
        "n,d",
    ),
    row(
        "grad mlp",
        jax.grad(lambda w, x: nn.silu(x @ w).sum()),
        lambda w, x: x.T @ (lambda z: nn.sigmoid(z) * (1 + z * (1 - nn.sigmoid(z))))(x @ w),
        "d,e",
        "n,d",
    ),
    row(
        "grad ln",
        jax.grad(lambda x, c: (c * nn.standardize(x)).sum()),
        jax.grad(lambda x, c: (c * (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-05)).sum()),
        "n,d",
        "n,d",
    ),
    row(
        "jvp softmax",
        lambda x, v: jax.jvp(nn.softmax, (x,), (v,))[1],
        lambda x, v: (lambda p: p * v - p * (p * v).sum(-1, keepdims=True))(nn.softmax(x)),
        "n,d",
        "n,d",
    ),
    row("grad lse2", jax.grad(lambda x: x @ x / 2), lambda x: x, "n"),
    row(
        "hvp",
        lambda x, v, a: jax.jvp(jax.grad(lambda y: y @ a @ y), (x,), (v,))[1],
        lambda x, v, a: (a + a.T) @ v,
        "n",
        "n",
        "n,n",
    ),
    row(
        "grad attn v",
        jax.grad(lambda v, q, k, c: (c * (nn.softmax(q @ k.T) @ v)).sum()),
        lambda v, q, k, c: nn.softmax(q @ k.T).T @ c,
        "m,e",
        "n,d",
        "m,d",
        "n,e",
    ),
    row("max concat", lambda x, y: jnp.concatenate([x, y]).max(), lambda x, y: jnp.maximum(x.max(), y.max()), "n", "m"),
    row(
        "lse concat",
        lambda x, y: nn.logsumexp(jnp.concatenate([x, y])),
        lambda x, y: jnp.logaddexp(nn.logsumexp(x), nn.logsumexp(y)),
        "n",
        "m",
    ),
    row("prod", lambda x, y: jnp.prod(x * y), lambda x, y: jnp.prod(x) * jnp.prod(y), "n", "n"),
    row("argmax", lambda x: jnp.argmax(x + 1.0).astype(F) * x, lambda x: jnp.argmax(x).astype(F) * x, "n"),
    row("sort", lambda x: jnp.sort(x).sum(), lambda x: x.sum(), "n"),
)
