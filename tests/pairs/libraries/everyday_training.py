"""Steps of optimisers, schedules, norms, attention and returns as users write them, in two ways."""

import jax
import jax.numpy as jnp
from jax import lax, nn

from uat_jax import interval, positive

from ..pair import f32
from ..row import Row, row
from .library import library

optax = library("optax")
rlax = library("rlax")
fnn = library("flax.linen")

X = f32(4)
Y = f32(4)
M = f32(3, 4)
S = f32()
V = f32(3)
Q = f32(1, 3, 2, 2)
CNT = interval(f32(), 0.0, 100.0)


def pair(name, left, right, specs, mistake, **options) -> Row:
    """A row with one mistake."""
    return row(name, left, right, specs, {"a mistake": mistake}, **options)


def run_opt(tx, n=2):
    def f(p, *gs):
        s = tx.init(p)
        for g in gs:
            u, s = tx.update(g, s, p)
            p = optax.apply_updates(p, u)
        return p

    return f


def hk_bn(x, w, m, s):
    return fnn.BatchNorm(use_running_average=True, use_bias=False, use_scale=False).apply(
        {"batch_stats": {"mean": m, "var": s}}, x @ w
    )


def rope_c(x):
    z = lax.complex(x[:, 0], x[:, 1]) * jnp.exp(1j * jnp.arange(3.0))
    return jnp.stack([z.real, z.imag], -1)


def lam(rr, d, v, l):
    g = v[-1]
    out = []
    for t in range(3, -1, -1):
        g = rr[t] + d[t] * ((1 - l) * v[t] + l * g)
        out.append(g)
    return jnp.stack(out[::-1])


def gae(rr, d, v, l):
    delta = rr + d * v[1:] - v[:-1]
    a = 0.0
    out = []
    for t in range(3, -1, -1):
        a = delta[t] + d[t] * l * a
        out.append(a)
    return jnp.stack(out[::-1])


ROWS = (
    pair(
        "adamw one step",
        run_opt(optax.adamw(0.1, weight_decay=0.01, eps=1e-8)),
        lambda p, g: p - 0.1 * (g / (jnp.abs(g) + 1e-8) + 0.01 * p),
        (V, V),
        lambda p, g: p - 0.1 * (g / (jnp.abs(g) + 1e-8)) - 0.01 * p,
    ),
    pair(
        "sgd nesterov two",
        run_opt(optax.sgd(0.1, momentum=0.9, nesterov=True)),
        lambda p, g, h: p - 0.1 * (1.9 * g) - 0.1 * (h + 0.9 * (h + 0.9 * g)),
        (V, V, V),
        lambda p, g, h: p - 0.1 * (1.9 * g) - 0.1 * (h + 0.9 * g),
    ),
    pair(
        "rmsprop two",
        run_opt(optax.rmsprop(0.1, decay=0.9, eps=1e-8)),
        lambda p, g, h: (
            p - 0.1 * g / jnp.sqrt(0.1 * g * g + 1e-8) - 0.1 * h / jnp.sqrt(0.09 * g * g + 0.1 * h * h + 1e-8)
        ),
        (V, V, V),
        lambda p, g, h: (
            p - 0.1 * g / jnp.sqrt(0.1 * g * g + 1e-8) - 0.1 * h / jnp.sqrt(0.1 * g * g + 0.1 * h * h + 1e-8)
        ),
    ),
    pair(
        "lion two",
        run_opt(optax.lion(0.1, b1=0.9, b2=0.99, weight_decay=0.0)),
        lambda p, g, h: p - 0.1 * jnp.sign(g) - 0.1 * jnp.sign(0.009 * g + 0.1 * h),
        (V, V, V),
        lambda p, g, h: p - 0.1 * jnp.sign(g) - 0.1 * jnp.sign(0.09 * g + 0.1 * h),
    ),
    pair(
        "adagrad",
        run_opt(optax.adagrad(0.1, initial_accumulator_value=0.1, eps=1e-7)),
        lambda p, g, h: p - 0.1 * g * lax.rsqrt(0.1 + g * g + 1e-7) - 0.1 * h * lax.rsqrt(0.1 + g * g + h * h + 1e-7),
        (V, V, V),
        lambda p, g, h: p - 0.1 * g * lax.rsqrt(0.1 + g * g + 1e-7) - 0.1 * h * lax.rsqrt(0.1 + h * h + 1e-7),
    ),
    pair(
        "clip by global norm sgd",
        run_opt(optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(0.1))),
        lambda p, g: p - 0.1 * g / jnp.maximum(1, jnp.linalg.norm(g)),
        (V, V),
        lambda p, g: p - 0.1 * g / jnp.minimum(1, jnp.linalg.norm(g)),
    ),
    pair(
        "adamax",
        run_opt(optax.adamax(0.1, eps=0.0)),
        lambda p, g, h: (
            p - 0.1 * jnp.sign(g) - 0.1 * (0.09 * g + 0.1 * h) / 0.19 / jnp.maximum(0.999 * jnp.abs(g), jnp.abs(h))
        ),
        (V, V, V),
        lambda p, g, h: (
            p - 0.1 * jnp.sign(g) - 0.1 * (0.09 * g + 0.1 * h) / 0.19 / jnp.maximum(0.99 * jnp.abs(g), jnp.abs(h))
        ),
    ),
    pair(
        "ema",
        run_opt(optax.chain(optax.ema(0.9, debias=True), optax.scale(-1.0))),
        lambda p, g, h: p - g - (0.9 * g + h) / 1.9,
        (V, V, V),
        lambda p, g, h: p - g - (g + 0.9 * h) / 1.9,
    ),
    pair(
        "lamb one",
        run_opt(optax.lamb(0.1, eps=0.0, weight_decay=0.0)),
        lambda p, g: (
            p - 0.1 * jnp.where(jnp.linalg.norm(p) == 0, 1.0, jnp.linalg.norm(p) / jnp.sqrt(3.0)) * jnp.sign(g)
        ),
        (V, V),
        lambda p, g: p - 0.1 * jnp.linalg.norm(p) * jnp.sign(g),
    ),
    pair(
        "muon newton schulz step",
        lambda a: 1.5 * a - 0.5 * a @ a.T @ a,
        lambda a: a @ (1.5 * jnp.eye(3) - 0.5 * a.T @ a),
        (f32(2, 3),),
        lambda a: a @ (1.5 * jnp.eye(3) + 0.5 * a.T @ a),
    ),
    pair(
        "warmup cosine",
        optax.warmup_cosine_decay_schedule(0.0, 1.0, 10, 50, 0.1),
        lambda t: jnp.where(t < 10, t / 10, 0.1 + 0.45 * (1 + jnp.cos(jnp.pi * jnp.minimum((t - 10) / 40, 1.0)))),
        (CNT,),
        lambda t: jnp.where(t < 10, t / 10, 0.45 * (1 + jnp.cos(jnp.pi * jnp.minimum((t - 10) / 40, 1.0)))),
    ),
    pair(
        "piecewise constant",
        optax.piecewise_constant_schedule(1.0, {10: 0.5, 30: 0.1}),
        lambda t: jnp.where(t < 10, 1.0, jnp.where(t < 30, 0.5, 0.05)),
        (CNT,),
        lambda t: jnp.where(t < 10, 1.0, jnp.where(t < 30, 0.5, 0.1)),
    ),
    pair(
        "linear onecycle-like",
        optax.join_schedules([optax.linear_schedule(0.0, 1.0, 10), optax.linear_schedule(1.0, 0.0, 20)], [10]),
        lambda t: jnp.interp(t, jnp.array([0.0, 10.0, 30.0]), jnp.array([0.0, 1.0, 0.0])),
        (CNT,),
        lambda t: jnp.interp(t, jnp.array([0.0, 10.0, 20.0]), jnp.array([0.0, 1.0, 0.0])),
    ),
    pair(
        "inverse sqrt schedule",
        lambda t: 0.5**0.5 * jnp.minimum(1 / jnp.sqrt(t), t * 4.0**-1.5),
        lambda t: jnp.where(t < 4, t / 8, 1 / jnp.sqrt(t)) / jnp.sqrt(2.0),
        (positive(f32()),),
        lambda t: jnp.where(t < 8, t / 8, 1 / jnp.sqrt(t)) / jnp.sqrt(2.0),
    ),
    pair(
        "polynomial",
        optax.polynomial_schedule(1.0, 0.1, 2, 20),
        lambda t: 0.1 + 0.9 * (1 - jnp.clip(t, 0, 20) / 20) ** 2,
        (CNT,),
        lambda t: 0.1 + 0.9 * (1 - jnp.clip(t, 0, 20) / 20) ** 3,
    ),
    pair(
        "exp decay staircase",
        optax.exponential_decay(1.0, 10, 0.5, staircase=True),
        lambda t: 0.5 ** jnp.floor(t / 10),
        (CNT,),
        lambda t: 0.5 ** jnp.round(t / 10),
    ),
    pair(
        "rmsnorm",
        lambda x, w: fnn.RMSNorm(epsilon=1e-6).apply({"params": {"scale": w}}, x),
        lambda x, w: w * x * lax.rsqrt(jnp.mean(jnp.square(x), -1, keepdims=True) + 1e-6),
        (M, X),
        lambda x, w: w * x * lax.rsqrt(jnp.sum(jnp.square(x), -1, keepdims=True) + 1e-6),
        gradient=True,
    ),
    pair(
        "groupnorm",
        lambda x: fnn.GroupNorm(num_groups=2, use_bias=False, use_scale=False, epsilon=1e-5).apply({}, x),
        lambda x: jax.vmap(
            lambda g: jax.vmap(lambda v: (v - v.mean()) / jnp.sqrt(v.var() + 1e-5))(g.reshape(2, 2)).reshape(4)
        )(x),
        (M,),
        lambda x: jax.vmap(
            lambda g: jax.vmap(lambda v: (v - v.mean()) / jnp.sqrt(v.var(ddof=1) + 1e-5))(g.reshape(2, 2)).reshape(4)
        )(x),
    ),
    pair(
        "weight norm",
        lambda v, g, x: (g * v / jnp.linalg.norm(v, axis=0)) @ x if False else x @ (v * (g / jnp.sqrt((v**2).sum(0)))),
        lambda v, g, x: g * (x @ v) / jnp.linalg.norm(v, axis=0),
        (f32(3, 2), f32(2), f32(3)),
        lambda v, g, x: g * (x @ v) / jnp.linalg.norm(v),
    ),
    pair(
        "batch norm folded",
        lambda x, w, m, s: hk_bn(x, w, m, s),
        lambda x, w, m, s: (x @ (w / jnp.sqrt(s + 1e-5))) - m / jnp.sqrt(s + 1e-5),
        (f32(2, 3), f32(3, 2), f32(2), positive(f32(2))),
        lambda x, w, m, s: (x @ (w / jnp.sqrt(s + 1e-5))) - m,
    ),
    pair(
        "instance norm",
        lambda x: (x - x.mean((0, 1))) / x.std((0, 1)),
        lambda x: (x - x.mean((0, 1))) * lax.rsqrt((x * x).mean((0, 1)) - x.mean((0, 1)) ** 2),
        (f32(2, 2, 2),),
        lambda x: (x - x.mean((0, 1))) * lax.rsqrt((x * x).mean((0, 1))),
    ),
    pair(
        "dpa causal",
        lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=True),
        lambda q, k, v: jnp.einsum(
            "bhqk,bkhd->bqhd",
            nn.softmax(
                jnp.where(
                    jnp.tril(jnp.ones((3, 3), bool)), jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(2.0), -jnp.inf
                )
            ),
            v,
        ),
        (Q, Q, Q),
        lambda q, k, v: jnp.einsum(
            "bhqk,bkhd->bqhd",
            nn.softmax(jnp.where(jnp.tril(jnp.ones((3, 3), bool)), jnp.einsum("bqhd,bkhd->bhqk", q, k), -jnp.inf)),
            v,
        ),
    ),
    pair(
        "gqa",
        lambda q, k, v: jax.nn.dot_product_attention(q, k, v),
        lambda q, k, v: jax.nn.dot_product_attention(q, jnp.repeat(k, 2, 2), jnp.repeat(v, 2, 2)),
        (f32(1, 3, 2, 2), f32(1, 3, 1, 2), f32(1, 3, 1, 2)),
        lambda q, k, v: jax.nn.dot_product_attention(q, jnp.repeat(k, 2, 2), jnp.repeat(v, 2, 2)[:, ::-1]),
    ),
    pair(
        "linear attention",
        lambda q, k, v: (
            jnp.einsum("qd,kd,ke->qe", nn.elu(q) + 1, nn.elu(k) + 1, v)
            / jnp.einsum("qd,kd->q", nn.elu(q) + 1, nn.elu(k) + 1)[:, None]
        ),
        lambda q, k, v: (
            ((nn.elu(q) + 1) @ ((nn.elu(k) + 1).T @ v)) / ((nn.elu(q) + 1) @ (nn.elu(k) + 1).sum(0))[:, None]
        ),
        (f32(3, 2),) * 3,
        lambda q, k, v: ((nn.elu(q) + 1) @ ((nn.elu(k) + 1).T @ v)) / ((nn.elu(q) + 1) @ (nn.elu(k)).sum(0))[:, None],
    ),
    pair(
        "softcap attention",
        lambda q, k: 5 * jnp.tanh(q @ k.T / 5),
        lambda q, k: 5 * (1 - 2 / (jnp.exp(2 * q @ k.T / 5) + 1)),
        (f32(2, 2), f32(2, 2)),
        lambda q, k: 5 * (1 - 2 / (jnp.exp(q @ k.T / 5) + 1)),
    ),
    pair(
        "alibi",
        lambda q, k, v: nn.softmax(q @ k.T - 0.5 * jnp.abs(jnp.arange(3)[:, None] - jnp.arange(3))) @ v,
        lambda q, k, v: (lambda w: (w / w.sum(-1, keepdims=True)) @ v)(
            jnp.exp(q @ k.T) * jnp.exp(-0.5) ** jnp.abs(jnp.arange(3)[:, None] - jnp.arange(3))
        ),
        (f32(3, 2),) * 3,
        lambda q, k, v: (lambda w: (w / w.sum(-1, keepdims=True)) @ v)(
            jnp.exp(q @ k.T) * jnp.exp(0.5) ** jnp.abs(jnp.arange(3)[:, None] - jnp.arange(3))
        ),
    ),
    pair(
        "rope complex",
        lambda x: rope_c(x),
        lambda x: jnp.stack(
            [
                x[:, 0] * jnp.cos(jnp.arange(3.0)) - x[:, 1] * jnp.sin(jnp.arange(3.0)),
                x[:, 0] * jnp.sin(jnp.arange(3.0)) + x[:, 1] * jnp.cos(jnp.arange(3.0)),
            ],
            -1,
        ),
        (f32(3, 2),),
        lambda x: jnp.stack(
            [
                x[:, 0] * jnp.cos(jnp.arange(3.0)) + x[:, 1] * jnp.sin(jnp.arange(3.0)),
                x[:, 0] * jnp.sin(jnp.arange(3.0)) + x[:, 1] * jnp.cos(jnp.arange(3.0)),
            ],
            -1,
        ),
    ),
    pair(
        "sinks attention",
        lambda z: nn.softmax(jnp.concatenate([z, jnp.zeros((3, 1))], -1))[:, :-1],
        lambda z: jnp.exp(z) / (1 + jnp.exp(z).sum(-1, keepdims=True)),
        (M,),
        lambda z: jnp.exp(z) / (jnp.exp(z).sum(-1, keepdims=True)),
    ),
    pair(
        "lambda returns",
        lambda rr, d, v: rlax.lambda_returns(rr, d, v, 0.9),
        lambda rr, d, v: lam(rr, d, v, 0.9),
        (X, X, X),
        lambda rr, d, v: lam(rr, d, v, 0.95),
    ),
    pair(
        "gae",
        lambda rr, d, v: rlax.truncated_generalized_advantage_estimation(rr, d, 0.95, v),
        lambda rr, d, v: gae(rr, d, v, 0.95),
        (X, X, f32(5)),
        lambda rr, d, v: gae(rr, d, v, 0.9),
    ),
    pair(
        "ppo clip",
        lambda lr, a: rlax.clipped_surrogate_pg_loss(jnp.exp(lr), a, 0.2),
        lambda lr, a: -jnp.mean(jnp.where(a >= 0, jnp.minimum(jnp.exp(lr), 1.2), jnp.maximum(jnp.exp(lr), 0.8)) * a),
        (X, X),
        lambda lr, a: -jnp.mean(jnp.where(a >= 0, jnp.minimum(jnp.exp(lr), 1.2), jnp.minimum(jnp.exp(lr), 0.8)) * a),
    ),
    pair(
        "double q",
        lambda q, rr, d, qt, s: rlax.double_q_learning(q, jnp.array(1), rr, d, qt, s),
        lambda q, rr, d, qt, s: rr + d * qt[jnp.argmax(s)] - q[1],
        (V, S, S, V, V),
        lambda q, rr, d, qt, s: rr + d * qt[jnp.argmax(qt)] - q[1],
    ),
    pair(
        "vtrace rho",
        lambda a, b: jnp.minimum(1.0, jnp.exp(a - b)),
        lambda a, b: jnp.exp(jnp.minimum(0.0, a - b)),
        (X, Y),
        lambda a, b: jnp.exp(jnp.maximum(0.0, a - b)),
    ),
    pair(
        "symlog symexp",
        lambda x: jnp.sign(x) * jnp.expm1(jnp.abs(jnp.sign(x) * jnp.log1p(jnp.abs(x)))),
        lambda x: x,
        (X,),
        lambda x: jnp.abs(x),
    ),
)
