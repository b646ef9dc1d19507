"""rlax: returns, advantages, temporal differences and policy losses."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import nn

from uat_jax import interval, positive

from ..pair import f32
from ..row import row
from . import densities as plain
from .library import library

rlax = library("rlax")

T = f32(4)
D = interval(f32(4), 0.0, 1.0)
Q, ACTIONS = f32(3), np.array([1, 0, 2, 1], np.int32)
ONE_HOT = np.eye(3, dtype=np.float32)[ACTIONS]


def discounted(r, d, v):
    """From the last step backwards."""
    returns = []
    g = v
    for t in reversed(range(4)):
        g = r[t] + d[t] * g
        returns.append(g)
    return jnp.stack(returns[::-1])


def lambda_returns(r, d, v, lam):
    returns, g = [], v[-1]
    for t in reversed(range(4)):
        g = r[t] + d[t] * ((1.0 - lam) * v[t] + lam * g)
        returns.append(g)
    return jnp.stack(returns[::-1])


def gae(r, d, v, lam):
    advantages, a = [], 0.0
    for t in reversed(range(4)):
        a = r[t] + d[t] * v[t + 1] - v[t] + d[t] * lam * a
        advantages.append(a)
    return jnp.stack(advantages[::-1])


def n_step(r, d, v, n=2):
    padded_r = jnp.concatenate([r, jnp.zeros(n - 1)])
    padded_d = jnp.concatenate([d, jnp.ones(n - 1)])
    padded_v = jnp.concatenate([v, jnp.repeat(v[-1:], n - 1)])
    total = padded_v[n - 1 : n - 1 + 4]
    for i in reversed(range(n)):
        total = padded_r[i : i + 4] + padded_d[i : i + 4] * total
    return total


def vtrace(v, v_next, r, d, rho, lam=1.0):
    """The error of v at each step, with clipped weights for both."""
    errors, a = [], 0.0
    for t in reversed(range(4)):
        c = jnp.minimum(1.0, rho[t])
        a = c * (r[t] + d[t] * v_next[t] - v[t]) + lam * c * d[t] * a
        errors.append(a)
    return jnp.stack(errors[::-1])


def ppo(ratio, advantage, epsilon):
    return -jnp.minimum(ratio * advantage, jnp.clip(ratio, 1.0 - epsilon, 1.0 + epsilon) * advantage).mean()


def policy_gradient(logits, advantages, w):
    picked = (plain.log_softmax(logits) * ONE_HOT).sum(-1)
    return -(w * picked * advantages).mean()


def l2_project(z_p, p, z_q):
    """Of a distribution on atoms onto the given ones: triangular weights."""
    dz = z_q[1] - z_q[0]
    clipped = jnp.clip(z_p, z_q[0], z_q[-1])
    weights = jnp.clip(1.0 - jnp.abs(clipped[None] - z_q[:, None]) / dz, 0.0, 1.0)
    return (weights * p[None]).sum(-1)


ATOMS = np.array([-1.0, 0.0, 1.0, 2.0], np.float32)


RETURNS = (
    row(
        "discounted_returns",
        lambda r, d, v: rlax.discounted_returns(r, d, v),
        discounted,
        (T, D, f32()),
        {
            "no bootstrap": lambda r, d, v: discounted(r, d, 0 * v),
            "forwards": lambda r, d, v: discounted(r[::-1], d[::-1], v)[::-1],
        },
        gradient=True,
    ),
    row(
        "discounted_returns, one discount",
        lambda r, v: rlax.discounted_returns(r, jnp.full(4, 0.5), v),
        lambda r, v: jnp.stack([r[t:] @ (0.5 ** jnp.arange(4 - t)) + 0.5 ** (4 - t) * v for t in range(4)]),
        (T, f32()),
        {
            "undiscounted": lambda r, v: jnp.stack([r[t:].sum() + v for t in range(4)]),
            "one power more": lambda r, v: jnp.stack(
                [r[t:] @ (0.5 ** jnp.arange(4 - t)) + 0.5 ** (5 - t) * v for t in range(4)]
            ),
        },
    ),
    row(
        "lambda_returns",
        lambda r, d, v: rlax.lambda_returns(r, d, v, 0.75),
        lambda r, d, v: lambda_returns(r, d, v, 0.75),
        (T, D, T),
        {
            "exchanged": lambda r, d, v: lambda_returns(r, d, v, 0.25),
            "discounted": lambda r, d, v: discounted(r, d, v[-1]),
        },
        gradient=True,
    ),
    row(
        "lambda_returns, λ = 1, are discounted returns",
        lambda r, d, v: rlax.lambda_returns(r, d, v, 1.0),
        lambda r, d, v: discounted(r, d, v[-1]),
        (T, D, T),
        {"λ = 0": lambda r, d, v: r + d * v, "first value": lambda r, d, v: discounted(r, d, v[0])},
    ),
    row(
        "lambda_returns, λ = 0, are one-step targets",
        lambda r, d, v: rlax.lambda_returns(r, d, v, 0.0),
        lambda r, d, v: r + d * v,
        (T, D, T),
        {"no discount": lambda r, d, v: r + v, "λ = 1": lambda r, d, v: discounted(r, d, v[-1])},
    ),
    row(
        "n_step_bootstrapped_returns",
        lambda r, d, v: rlax.n_step_bootstrapped_returns(r, d, v, 2),
        n_step,
        (T, D, T),
        {"one step": lambda r, d, v: r + d * v, "three steps": lambda r, d, v: n_step(r, d, v, 3)},
    ),
    row(
        "truncated_generalized_advantage_estimation",
        lambda r, d, v: rlax.truncated_generalized_advantage_estimation(r, d, 0.75, v),
        lambda r, d, v: gae(r, d, v, 0.75),
        (T, D, f32(5)),
        {"λ = 1": lambda r, d, v: gae(r, d, v, 1.0), "no discount of λ": lambda r, d, v: gae(r, jnp.sqrt(d), v, 0.75)},
        gradient=True,
    ),
    row(
        "advantages, λ = 1, are returns minus values",
        lambda r, d, v: rlax.truncated_generalized_advantage_estimation(r, d, 1.0, v),
        lambda r, d, v: discounted(r, d, v[-1]) - v[:-1],
        (T, D, f32(5)),
        {
            "values not subtracted": lambda r, d, v: discounted(r, d, v[-1]) + 0 * v[:-1],
            "next values": lambda r, d, v: discounted(r, d, v[-1]) - v[1:],
        },
    ),
    row(
        "vtrace",
        lambda v, w, r, d, rho: rlax.vtrace(v, w, r, d, rho),
        vtrace,
        (T, T, T, D, positive(T)),
        {
            "λ": lambda v, w, r, d, rho: vtrace(v, w, r, d, rho, 0.5),
            "not clipped": lambda v, w, r, d, rho: vtrace(v, w, r, d, jnp.minimum(rho, 0.5)),
        },
    ),
    row(
        "vtrace on policy is the λ-return's error",
        lambda v, r, d: rlax.vtrace(v, jnp.append(v[1:], 0.5), r, d, jnp.ones(4)) + v,
        lambda v, r, d: discounted(r, d, 0.5),
        (T, T, D),
        {
            "another bootstrap": lambda v, r, d: discounted(r, d, 1.0) + 0 * v,
            "error alone": lambda v, r, d: discounted(r, d, 0.5) - v,
        },
    ),
    row(
        "leaky_vtrace with clipped weights",
        lambda v, w, r, d, rho: rlax.leaky_vtrace(v, w, r, d, rho, 1.0),
        vtrace,
        (T, T, T, D, positive(T)),
        {
            "not clipped below": lambda v, w, r, d, rho: vtrace(v, w, r, d, jnp.minimum(rho, 0.5)),
            "on policy": lambda v, w, r, d, rho: vtrace(v, w, r, d, 1 + 0 * rho),
        },
    ),
)

DIFFERENCES = (
    row(
        "td_learning",
        lambda v, r, d, w: rlax.td_learning(v, r, d, w),
        lambda v, r, d, w: r + d * w - v,
        (f32(), f32(), f32(), f32()),
        {"sign": lambda v, r, d, w: v - r - d * w, "no discount": lambda v, r, d, w: r + w - v},
    ),
    row(
        "td_lambda",
        lambda v, r, d, w: rlax.td_lambda(v, r, d, w, jnp.full(4, 0.5)),
        lambda v, r, d, w: lambda_returns(r, d, w, 0.5) - v,
        (T, T, D, T),
        {
            "λ = 1": lambda v, r, d, w: discounted(r, d, w[-1]) - v,
            "sign": lambda v, r, d, w: v - lambda_returns(r, d, w, 0.5),
        },
    ),
    row(
        "q_learning",
        lambda q, r, d, p: rlax.q_learning(q, 1, r, d, p),
        lambda q, r, d, p: r + d * jnp.maximum(jnp.maximum(p[0], p[1]), p[2]) - q[1],
        (Q, f32(), f32(), Q),
        {
            "mean": lambda q, r, d, p: r + d * p.mean() - q[1],
            "another action": lambda q, r, d, p: r + d * p.max() - q[2],
        },
    ),
    row(
        "sarsa",
        lambda q, r, d, p: rlax.sarsa(q, 1, r, d, p, 2),
        lambda q, r, d, p: r + d * p[2] - q[1],
        (Q, f32(), f32(), Q),
        {
            "the same action": lambda q, r, d, p: r + d * p[1] - q[1],
            "maximum": lambda q, r, d, p: r + d * p.max() - q[1],
        },
    ),
    row(
        "expected_sarsa",
        lambda q, r, d, p, z: rlax.expected_sarsa(q, 1, r, d, p, nn.softmax(z)),
        lambda q, r, d, p, z: r + d * (jnp.exp(z) @ p) / jnp.exp(z).sum() - q[1],
        (Q, f32(), f32(), Q, Q),
        {
            "equal": lambda q, r, d, p, z: r + d * p.mean() - q[1] + 0 * z[0],
            "not normalised": lambda q, r, d, p, z: r + d * (jnp.exp(z) @ p) - q[1],
        },
    ),
    row(
        "double_q_learning",
        lambda q, r, d, p: rlax.double_q_learning(q, 1, r, d, p, p),
        lambda q, r, d, p: r + d * p.max() - q[1],
        (Q, f32(), f32(), Q),
        {"minimum": lambda q, r, d, p: r + d * p.min() - q[1], "mean": lambda q, r, d, p: r + d * p.mean() - q[1]},
    ),
    row(
        "double_q_learning with a selector",
        lambda q, r, d, p, s: rlax.double_q_learning(q, 1, r, d, p, s),
        lambda q, r, d, p, s: (
            r + d * jnp.where((s[0] >= s[1]) & (s[0] >= s[2]), p[0], jnp.where(s[1] >= s[2], p[1], p[2])) - q[1]
        ),
        (Q, f32(), f32(), Q, Q),
        {
            "maximum": lambda q, r, d, p, s: r + d * p.max() - q[1],
            "by the values": lambda q, r, d, p, s: (
                r + d * jnp.where((p[0] >= p[1]) & (p[0] >= p[2]), s[0], jnp.where(p[1] >= p[2], s[1], s[2])) - q[1]
            ),
        },
    ),
    row(
        "qv_learning",
        lambda q, r, d, v: rlax.qv_learning(q, 1, r, d, v),
        lambda q, r, d, v: r + d * v - q[1],
        (Q, f32(), f32(), f32()),
        {"another action": lambda q, r, d, v: r + d * v - q[0], "sign": lambda q, r, d, v: q[1] - r - d * v},
    ),
    row(
        "qv_max",
        lambda v, r, d, p: rlax.qv_max(v, r, d, p),
        lambda v, r, d, p: r + d * -jnp.min(-p) - v,
        (f32(), f32(), f32(), Q),
        {"minimum": lambda v, r, d, p: r + d * p.min() - v, "sum": lambda v, r, d, p: r + d * p.sum() - v},
    ),
    row(
        "leaky_vtrace on policy",
        lambda v, w, r, d: rlax.leaky_vtrace(v, w, r, d, jnp.ones(4)),
        lambda v, w, r, d: vtrace(v, w, r, d, jnp.ones(4)),
        (T, T, T, D),
        {
            "λ": lambda v, w, r, d: vtrace(v, w, r, d, jnp.ones(4), 0.5),
            "sign": lambda v, w, r, d: -vtrace(v, w, r, d, jnp.ones(4)),
        },
    ),
    row(
        "categorical_l2_project",
        lambda z, p: rlax.categorical_l2_project(z, nn.softmax(p), ATOMS),
        lambda z, p: l2_project(z, jnp.exp(p) / jnp.exp(p).sum(), ATOMS),
        (f32(4), f32(4)),
        {
            "not clipped": lambda z, p: l2_project(z + 1.0, nn.softmax(p), ATOMS),
            "nearest": lambda z, p: l2_project(jnp.round(z), nn.softmax(p), ATOMS),
        },
    ),
)

POLICIES = (
    row(
        "policy_gradient_loss",
        lambda x, a, w: rlax.policy_gradient_loss(x, ACTIONS, a, w, False),
        policy_gradient,
        (f32(4, 3), T, T),
        {"sign": lambda x, a, w: -policy_gradient(x, a, w), "sum": lambda x, a, w: 4 * policy_gradient(x, a, w)},
        gradient=True,
    ),
    row(
        "entropy_loss",
        lambda x, w: rlax.entropy_loss(x, w),
        lambda x, w: -(w * plain.categorical_entropy(x)).mean(),
        (f32(4, 3), T),
        {
            "sign": lambda x, w: (w * plain.categorical_entropy(x)).mean(),
            "sum": lambda x, w: -(w * plain.categorical_entropy(x)).sum(),
        },
        gradient=True,
    ),
    row(
        "clipped_surrogate_pg_loss",
        lambda r, a: rlax.clipped_surrogate_pg_loss(r, a, 0.25, False),
        lambda r, a: ppo(r, a, 0.25),
        (positive(T), T),
        {
            "not clipped": lambda r, a: -(r * a).mean(),
            "maximum": lambda r, a: -jnp.maximum(r * a, jnp.clip(r, 0.75, 1.25) * a).mean(),
        },
        gradient=True,
        almost_everywhere=True,
    ),
    row(
        "clipped_surrogate_pg_loss by cases",
        lambda r, a: rlax.clipped_surrogate_pg_loss(r, a, 0.25, False),
        lambda r, a: -jnp.where(a >= 0, jnp.minimum(r, 1.25) * a, jnp.maximum(r, 0.75) * a).mean(),
        (positive(T), T),
        {
            "cases exchanged": lambda r, a: (
                -jnp.where(a < 0, jnp.minimum(r, 1.25) * a, jnp.maximum(r, 0.75) * a).mean()
            ),
            "clipped twice": lambda r, a: -(jnp.clip(r, 0.75, 1.25) * a).mean(),
        },
    ),
    row(
        "qpg_loss",
        lambda x, q: rlax.qpg_loss(x, q, False),
        lambda x, q: -(nn.softmax(x) * (q - (nn.softmax(x) * q).sum(-1, keepdims=True))).sum(-1).mean(),
        (f32(4, 3), f32(4, 3)),
        {
            "no baseline": lambda x, q: -(nn.softmax(x) * q).sum(-1).mean(),
            "mean baseline": lambda x, q: -(nn.softmax(x) * (q - q.mean(-1, keepdims=True))).sum(-1).mean(),
        },
    ),
    row(
        "rm_loss",
        lambda x, q: rlax.rm_loss(x, q, False),
        lambda x, q: -(nn.softmax(x) * jnp.maximum(0.0, q - (nn.softmax(x) * q).sum(-1, keepdims=True))).sum(-1).mean(),
        (f32(4, 3), f32(4, 3)),
        {
            "no policy": lambda x, q: -(q - (nn.softmax(x) * q).sum(-1, keepdims=True)).sum(-1).mean(),
            "mean of actions": lambda x, q: -jnp.maximum(0.0, q - (nn.softmax(x) * q).sum(-1, keepdims=True)).mean(),
        },
    ),
    row(
        "rpg_loss",
        lambda x, q: rlax.rpg_loss(x, q, False),
        lambda x, q: jnp.maximum(0.0, q - (nn.softmax(x) * q).sum(-1, keepdims=True)).sum(-1).mean(),
        (f32(4, 3), f32(4, 3)),
        {
            "sign": lambda x, q: -jnp.maximum(0.0, q - (nn.softmax(x) * q).sum(-1, keepdims=True)).sum(-1).mean(),
            "not clipped": lambda x, q: jnp.abs(q - (nn.softmax(x) * q).sum(-1, keepdims=True)).sum(-1).mean(),
        },
    ),
    row(
        "dpg_loss",
        lambda a, g: jax.grad(lambda a: rlax.dpg_loss(a, g).sum())(a),
        lambda a, g: -g + 0.0 * a,
        (T, T),
        {"ascent": lambda a, g: g + 0 * a, "twice": lambda a, g: -2 * g + 0 * a},
    ),
    row(
        "gaussian log-probability",
        lambda x, m, s: rlax.gaussian_diagonal().logprob(x, m, s),
        plain.diagonal_normal,
        (T, T, positive(T)),
        {
            "mean": lambda x, m, s: plain.normal(x, m, s).mean(),
            "variance": lambda x, m, v: plain.diagonal_normal(x, m, jnp.sqrt(v)),
        },
    ),
    row(
        "softmax policy's entropy",
        lambda x: rlax.softmax().entropy(x),
        plain.categorical_entropy,
        (f32(3),),
        {"sign": lambda x: -plain.categorical_entropy(x), "temperature": lambda x: plain.categorical_entropy(x / 2)},
    ),
    row(
        "categorical_cross_entropy",
        lambda p, x: rlax.categorical_cross_entropy(p, x),
        lambda p, x: jnp.log(jnp.exp(x).sum()) - p @ x / p.sum(),
        (positive(f32(3)), f32(3)),
        {
            "not normalised": lambda p, x: jnp.log(jnp.exp(x).sum()) - p @ x,
            "sign": lambda p, x: p @ x / p.sum() - jnp.log(jnp.exp(x).sum()),
        },
    ),
    row(
        "categorical_kl_divergence",
        lambda x, y: rlax.categorical_kl_divergence(x, y),
        plain.categorical_kl,
        (f32(3), f32(3)),
        {
            "reversed": lambda x, y: plain.categorical_kl(y, x),
            "entropy": lambda x, y: -plain.categorical_entropy(x) + 0 * y.sum(),
        },
    ),
)

TRANSFORMS = (
    row(
        "signed_hyperbolic",
        lambda x: rlax.signed_hyperbolic(x),
        lambda x: jnp.where(x >= 0, 1.0, -1.0) * (jnp.sqrt(jnp.abs(x) + 1.0) - 1.0) + 1e-3 * x,
        (T,),
        {
            "no linear part": lambda x: jnp.sign(x) * (jnp.sqrt(jnp.abs(x) + 1) - 1),
            "no sign": lambda x: jnp.sqrt(jnp.abs(x) + 1) - 1 + 1e-3 * x,
        },
    ),
    row(
        "signed_parabolic undoes signed_hyperbolic",
        lambda x: rlax.signed_parabolic(rlax.signed_hyperbolic(x, 0.5), 0.5),
        lambda x: x + 0.0,
        (T,),
        {"sign": lambda x: -x, "absolute": jnp.abs},
    ),
    row(
        "signed_logp1",
        lambda x: rlax.signed_logp1(x),
        lambda x: jnp.where(x >= 0, jnp.log(1.0 + jnp.abs(x)), -jnp.log(1.0 + jnp.abs(x))),
        (T,),
        {"no sign": lambda x: jnp.log1p(jnp.abs(x)), "2": lambda x: jnp.sign(x) * jnp.log(2 + jnp.abs(x))},
    ),
    row(
        "signed_expm1 undoes signed_logp1",
        lambda x: rlax.signed_expm1(rlax.signed_logp1(x)),
        lambda x: x + 0.0,
        (T,),
        {"sign": lambda x: -x, "absolute": jnp.abs},
    ),
    row(
        "power and square root",
        lambda x: rlax.signed_hyperbolic(x * x, 0.0),
        lambda x: jnp.sqrt(x * x + 1.0) - 1.0,
        (T,),
        {"not lowered": lambda x: jnp.sqrt(x * x + 1), "absolute": lambda x: jnp.sqrt(jnp.abs(x) + 1) - 1},
    ),
    row(
        "l2_loss",
        lambda x, y: rlax.l2_loss(x, y),
        lambda x, y: (x - y) ** 2 / 2.0,
        (T, T),
        {"not halved": lambda x, y: (x - y) ** 2, "sum": lambda x, y: (x + y) ** 2 / 2},
    ),
    row(
        "huber_loss",
        lambda x: rlax.huber_loss(x, 1.0),
        lambda x: jnp.where(jnp.abs(x) < 1.0, x**2 / 2.0, jnp.abs(x) - 0.5),
        (T,),
        {"absolute": lambda x: jnp.abs(x) - 0.5, "square": lambda x: x**2 / 2},
    ),
    row(
        "log_loss and sigmoid",
        lambda x: rlax.log_loss(nn.sigmoid(x), np.ones(4, np.float32)),
        lambda x: -jnp.log(nn.sigmoid(x)),
        (T,),
        {"sign": lambda x: jnp.log(nn.sigmoid(x)), "other class": lambda x: -jnp.log(nn.sigmoid(-x))},
    ),
    row(
        "clip_gradient passes values",
        lambda x: rlax.clip_gradient(x, -1.0, 1.0),
        lambda x: x + 0.0,
        (T,),
        {"clipped": lambda x: jnp.clip(x, -1, 1), "sign": lambda x: -x},
    ),
    row(
        "lhs_broadcast",
        lambda x, y: rlax.lhs_broadcast(x, y) * y,
        lambda x, y: x * y,
        (T, T),
        {"sum": lambda x, y: x + y, "square": lambda x, y: x * y * y},
    ),
)

FURTHER = (
    row(
        "quantile_regression_loss",
        lambda x, y: rlax.quantile_regression_loss(x, np.array([0.25, 0.5, 0.75], np.float32), y, huber_param=0.0),
        lambda x, y: (
            (
                jnp.abs(np.array([0.25, 0.5, 0.75], np.float32)[:, None] - (y[None, :] < x[:, None]))
                * jnp.abs(y[None, :] - x[:, None])
            )
            .mean(1)
            .sum()
        ),
        (Q, Q),
        {"median": lambda x, y: (0.5 * jnp.abs(y[None, :] - x[:, None])).mean(1).sum()},
    ),
    row(
        "expectile_loss",
        lambda x, y: rlax.expectile_loss(x, y, 0.75),
        lambda x, y: jnp.where(y >= x, 0.75, 0.25) * (y - x) ** 2,
        (T, T),
        {"exchanged": lambda x, y: jnp.where(x >= y, 0.75, 0.25) * (y - x) ** 2, "squares": lambda x, y: (y - x) ** 2},
    ),
    row(
        "log_loss",
        lambda p: rlax.log_loss(p, np.array([0, 1, 1, 0], np.float32)),
        lambda p: -jnp.where(np.array([False, True, True, False]), jnp.log(p), jnp.log(1.0 - p)),
        (interval(T, 0.125, 0.875),),
        {"sign": lambda p: jnp.where(np.array([False, True, True, False]), jnp.log(p), jnp.log(1 - p))},
    ),
    row(
        "logit of the sigmoid",
        lambda x: rlax.logit(rlax.sigmoid(x)),
        lambda x: x + 0.0,
        (T,),
        {"sign": lambda x: -x},
    ),
    row(
        "HYPERBOLIC_SIN_PAIR undoes itself",
        lambda x: rlax.HYPERBOLIC_SIN_PAIR.apply_inv(rlax.HYPERBOLIC_SIN_PAIR.apply(x)),
        lambda x: x + 0.0,
        (T,),
        {"once": jnp.sinh},
    ),
    row(
        "gaussian_diagonal's entropy",
        lambda m, s: rlax.gaussian_diagonal().entropy(m, s),
        lambda m, s: (jnp.log(s) + jnp.log(plain.TAU * np.e) / 2.0).sum(),
        (T, positive(T)),
        {"mean": lambda m, s: (jnp.log(s) + jnp.log(plain.TAU * np.e) / 2).mean()},
    ),
    row(
        "multivariate_normal_kl_divergence",
        lambda m, s, n, t: rlax.multivariate_normal_kl_divergence(m, s, n, t),
        lambda m, s, n, t: plain.normal_kl(m, s, n, t).sum(),
        (T, positive(T), T, positive(T)),
        {"exchanged": lambda m, s, n, t: plain.normal_kl(n, t, m, s).sum()},
    ),
    row(
        "persistent_q_learning",
        lambda q, r, d, q1: rlax.persistent_q_learning(q, 1, r, d, q1, 0.25),
        lambda q, r, d, q1: r + d * (0.75 * q1.max() + 0.25 * q1[1]) - q[1],
        (Q, f32(), f32(), Q),
        {"greedy": lambda q, r, d, q1: r + d * q1.max() - q[1]},
    ),
    row(
        "q_lambda, λ = 0",
        lambda q, qt, r, d: rlax.q_lambda(q, ACTIONS[:3], r, d, qt, 0.0),
        lambda q, qt, r, d: r + d * qt.max(-1) - (q * ONE_HOT[:3]).sum(-1),
        (f32(3, 3), f32(3, 3), f32(3), f32(3)),
        {"mean": lambda q, qt, r, d: r + d * qt.mean(-1) - (q * ONE_HOT[:3]).sum(-1)},
    ),
)

ROWS = (*RETURNS, *DIFFERENCES, *POLICIES, *TRANSFORMS, *FURTHER)
