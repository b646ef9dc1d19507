"""optax: losses, their helpers, schedules and projections."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import nn

from uat_jax import interval, positive

from ..pair import f32
from ..row import row
from .library import library

optax = library("optax")

PAIR = (f32(5), f32(5))
LOGITS = (f32(3, 4), f32(3, 4))
PROBABILITIES = (f32(3, 4), interval(f32(3, 4), 0.0, 1.0))
CLASSES = np.array([2, 0, 3], np.int32)
ONE_HOT = np.eye(4, dtype=np.float32)[CLASSES]
SIGNS = np.array([1.0, -1.0, 1.0, 1.0, -1.0], np.float32)


def norm(x, eps=0.0):
    return jnp.sqrt((x * x).sum(-1) + eps)


def cosine(x, y):
    return (x * y).sum(-1) / (norm(x) * norm(y))


def sparse_plus(x):
    return jnp.where(x <= -1.0, 0.0, jnp.where(x >= 1.0, x, (x + 1.0) ** 2 / 4.0))


def triplet(a, p, n, margin=1.0):
    return jnp.maximum(jnp.sqrt(((a - p) ** 2).sum(-1) + 1e-6) - jnp.sqrt(((a - n) ** 2).sum(-1) + 1e-6) + margin, 0.0)


def focal(x, y, gamma=2.0):
    p = 1.0 / (1.0 + jnp.exp(-x))
    ce = -(y * jnp.log(p) + (1.0 - y) * jnp.log(1.0 - p))
    return ce * (1.0 - (p * y + (1.0 - p) * (1.0 - y))) ** gamma


def softmax(x):
    return jnp.exp(x) / jnp.exp(x).sum(-1, keepdims=True)


REGRESSION = (
    row(
        "squared_error",
        optax.squared_error,
        lambda x, y: x * x - 2.0 * x * y + y * y,
        PAIR,
        {"halved": lambda x, y: (x - y) ** 2 / 2, "sum": lambda x, y: (x + y) ** 2},
        gradient=True,
    ),
    row(
        "l2_loss",
        optax.l2_loss,
        lambda x, y: (x - y) ** 2 / 2.0,
        PAIR,
        {"not halved": lambda x, y: (x - y) ** 2, "absolute": lambda x, y: jnp.abs(x - y) / 2},
        gradient=True,
    ),
    row(
        "huber_loss",
        optax.huber_loss,
        lambda x, y: jnp.where(jnp.abs(x - y) <= 1.0, (x - y) ** 2 / 2.0, jnp.abs(x - y) - 0.5),
        PAIR,
        {
            "not lowered": lambda x, y: jnp.where(jnp.abs(x - y) <= 1.0, (x - y) ** 2 / 2.0, jnp.abs(x - y)),
            "l2_loss": optax.l2_loss,
        },
        gradient=True,
    ),
    row(
        "huber_loss by a clipped difference",
        lambda x, y: optax.huber_loss(x, y, delta=2.0),
        lambda x, y: jnp.clip(x - y, -2.0, 2.0) * (x - y) - jnp.clip(x - y, -2.0, 2.0) ** 2 / 2.0,
        PAIR,
        {
            "delta of 1": lambda x, y: optax.huber_loss(x, y),
            "the square not halved": lambda x, y: (
                jnp.clip(x - y, -2.0, 2.0) * (x - y) - jnp.clip(x - y, -2.0, 2.0) ** 2
            ),
        },
    ),
    row(
        "log_cosh",
        optax.log_cosh,
        lambda x, y: jnp.log(jnp.cosh(x - y)),
        PAIR,
        {
            "sinh": lambda x, y: jnp.log(jnp.abs(jnp.sinh(x - y)) + 1.0),
            "two lost": lambda x, y: jnp.log(2.0 * jnp.cosh(x - y)),
        },
        gradient=True,
    ),
    row(
        "log_cosh by softplus",
        optax.log_cosh,
        lambda x, y: nn.softplus(2.0 * (x - y)) - (x - y) - jnp.log(2.0),
        PAIR,
        {
            "logarithm lost": lambda x, y: nn.softplus(2.0 * (x - y)) - (x - y),
            "sign": lambda x, y: nn.softplus(2.0 * (x - y)) + (x - y) - jnp.log(2.0),
        },
    ),
    row(
        "cosine_similarity",
        optax.cosine_similarity,
        cosine,
        LOGITS,
        {
            "squared norms": lambda x, y: (x * y).sum(-1) / (norm(x) * norm(y)) ** 2,
            "one norm": lambda x, y: (x * y).sum(-1) / norm(x),
        },
        gradient=True,
    ),
    row(
        "cosine_distance",
        optax.cosine_distance,
        lambda x, y: 1.0 - cosine(x, y),
        LOGITS,
        {"similarity": cosine, "halved": lambda x, y: (1.0 - cosine(x, y)) / 2},
    ),
)

CLASSIFICATION = (
    row(
        "sigmoid_binary_cross_entropy",
        optax.sigmoid_binary_cross_entropy,
        lambda x, y: -y * jnp.log(nn.sigmoid(x)) - (1.0 - y) * jnp.log(1.0 - nn.sigmoid(x)),
        (f32(5), interval(f32(5), 0.0, 1.0)),
        {
            "second part lost": lambda x, y: -y * nn.log_sigmoid(x),
            "classes exchanged": lambda x, y: -(1 - y) * nn.log_sigmoid(x) - y * nn.log_sigmoid(-x),
        },
        gradient=True,
    ),
    row(
        "sigmoid_binary_cross_entropy by softplus",
        optax.sigmoid_binary_cross_entropy,
        lambda x, y: nn.softplus(x) - x * y,
        PAIR,
        {"sign": lambda x, y: nn.softplus(x) + x * y, "softplus of -x": lambda x, y: nn.softplus(-x) - x * y},
    ),
    row(
        "sigmoid_binary_cross_entropy, as TensorFlow writes it",
        optax.sigmoid_binary_cross_entropy,
        lambda x, y: jnp.maximum(x, 0.0) - x * y + jnp.log1p(jnp.exp(-jnp.abs(x))),
        PAIR,
        {
            "no absolute value": lambda x, y: jnp.maximum(x, 0.0) - x * y + jnp.log1p(jnp.exp(-x)),
            "minimum": lambda x, y: jnp.minimum(x, 0.0) - x * y + jnp.log1p(jnp.exp(-jnp.abs(x))),
        },
    ),
    row(
        "hinge_loss",
        lambda x: optax.hinge_loss(x, SIGNS),
        lambda x: jnp.maximum(1.0 - x * SIGNS, 0.0),
        (f32(5),),
        {"no margin": lambda x: jnp.maximum(-x * SIGNS, 0.0), "sign": lambda x: jnp.maximum(1.0 + x * SIGNS, 0.0)},
        gradient=True,
        almost_everywhere=True,
    ),
    row(
        "perceptron_loss",
        optax.losses.perceptron_loss,
        lambda x, y: jnp.maximum(0.0, -x * y),
        PAIR,
        {"margin": lambda x, y: jnp.maximum(0.0, 1.0 - x * y), "sign": lambda x, y: jnp.maximum(0.0, x * y)},
    ),
    row(
        "sparsemax_loss",
        lambda x: optax.losses.sparsemax_loss(x, np.array([1, 0, 1, 0, 1], np.int32)),
        lambda x: nn.sparse_plus(jnp.where(np.array([1, 0, 1, 0, 1]) > 0, -x, x)),
        (f32(5),),
        {
            "sign": lambda x: nn.sparse_plus(jnp.where(np.array([1, 0, 1, 0, 1]) > 0, x, -x)),
            "relu": lambda x: nn.relu(jnp.where(np.array([1, 0, 1, 0, 1]) > 0, -x, x)),
        },
    ),
    row(
        "softmax_cross_entropy",
        optax.softmax_cross_entropy,
        lambda x, y: -(y * (x - jnp.log(jnp.exp(x).sum(-1, keepdims=True)))).sum(-1),
        PROBABILITIES,
        {"mean": lambda x, y: -(y * nn.log_softmax(x)).mean(-1), "no normalisation": lambda x, y: -(y * x).sum(-1)},
        gradient=True,
    ),
    row(
        "softmax_cross_entropy of the softmax",
        optax.softmax_cross_entropy,
        lambda x, y: -jnp.sum(y * jnp.log(softmax(x)), -1),
        LOGITS,
        {
            "log of the targets": lambda x, y: -jnp.sum(softmax(x) * jnp.log(softmax(y)), -1),
            "sign": lambda x, y: jnp.sum(y * jnp.log(softmax(x)), -1),
        },
    ),
    row(
        "softmax_cross_entropy_with_integer_labels",
        lambda x: optax.softmax_cross_entropy_with_integer_labels(x, CLASSES),
        lambda x: jnp.log(jnp.exp(x).sum(-1)) - (x * ONE_HOT).sum(-1),
        (f32(3, 4),),
        {
            "another class": lambda x: jnp.log(jnp.exp(x).sum(-1)) - (x * np.roll(ONE_HOT, 1, 1)).sum(-1),
            "sign": lambda x: (x * ONE_HOT).sum(-1) - nn.logsumexp(x, -1),
        },
        gradient=True,
    ),
    row(
        "multiclass_perceptron_loss",
        lambda x: optax.losses.multiclass_perceptron_loss(x, CLASSES),
        lambda x: x.max(-1) - (x * ONE_HOT).sum(-1),
        (f32(3, 4),),
        {
            "minimum": lambda x: x.min(-1) - (x * ONE_HOT).sum(-1),
            "margin": lambda x: (x + 1 - ONE_HOT).max(-1) - (x * ONE_HOT).sum(-1),
        },
    ),
    row(
        "multiclass_hinge_loss",
        lambda x: optax.losses.multiclass_hinge_loss(x, CLASSES),
        lambda x: (x + 1.0 - ONE_HOT).max(-1) - (x * ONE_HOT).sum(-1),
        (f32(3, 4),),
        {
            "no margin": lambda x: x.max(-1) - (x * ONE_HOT).sum(-1),
            "margin everywhere": lambda x: (x + 1.0).max(-1) - (x * ONE_HOT).sum(-1),
        },
    ),
    row(
        "poly_loss_cross_entropy",
        optax.losses.poly_loss_cross_entropy,
        lambda x, y: -(y * nn.log_softmax(x)).sum(-1) + 2.0 * (y * (1.0 - softmax(x))).sum(-1),
        LOGITS,
        {
            "epsilon of 1": lambda x, y: -(y * nn.log_softmax(x)).sum(-1) + (y * (1.0 - softmax(x))).sum(-1),
            "sign": lambda x, y: -(y * nn.log_softmax(x)).sum(-1) - 2.0 * (y * (1.0 - softmax(x))).sum(-1),
        },
    ),
    row(
        "kl_divergence",
        optax.losses.kl_divergence,
        lambda x, y: (y * (jnp.log(y) - x)).sum(-1),
        (f32(3, 4), positive(f32(3, 4))),
        {
            "reversed": lambda x, y: (jnp.exp(x) * (x - jnp.log(y))).sum(-1),
            "cross entropy": lambda x, y: -(y * x).sum(-1),
        },
        gradient=True,
    ),
    row(
        "kl_divergence from 0 on",
        optax.losses.kl_divergence,
        lambda x, y: jnp.sum(jnp.where(y > 0, y * (jnp.log(jnp.where(y > 0, y, 1.0)) - x), 0.0), -1),
        PROBABILITIES,
        {
            "mean": lambda x, y: jnp.mean(jnp.where(y > 0, y * (jnp.log(jnp.where(y > 0, y, 1.0)) - x), 0.0), -1),
            "one for zero": lambda x, y: jnp.sum(jnp.where(y > 0, y * (jnp.log(y) + x), 0.0), -1),
        },
    ),
    row(
        "kl_divergence_with_log_targets",
        optax.losses.kl_divergence_with_log_targets,
        lambda x, y: (jnp.exp(y) * (y - x)).sum(-1),
        LOGITS,
        {"reversed": lambda x, y: (jnp.exp(x) * (x - y)).sum(-1), "sign": lambda x, y: (jnp.exp(y) * (x - y)).sum(-1)},
        gradient=True,
    ),
    row(
        "kl_divergence of two softmaxes",
        lambda x, y: optax.losses.kl_divergence(nn.log_softmax(x), nn.softmax(y)),
        lambda x, y: (softmax(y) * (y - x)).sum(-1) + nn.logsumexp(x, -1) - nn.logsumexp(y, -1),
        LOGITS,
        {
            "normalisers exchanged": lambda x, y: (
                (softmax(y) * (y - x)).sum(-1) - nn.logsumexp(x, -1) + nn.logsumexp(y, -1)
            ),
            "reversed": lambda x, y: optax.losses.kl_divergence(nn.log_softmax(y), nn.softmax(x)),
        },
    ),
    row(
        "convex_kl_divergence",
        optax.losses.convex_kl_divergence,
        lambda x, y: (y * (jnp.log(y) - x) + jnp.exp(x) - y).sum(-1),
        (f32(3, 4), positive(f32(3, 4))),
        {
            "not convex": lambda x, y: (y * (jnp.log(y) - x)).sum(-1),
            "sign": lambda x, y: (y * (jnp.log(y) - x) - jnp.exp(x) + y).sum(-1),
        },
    ),
    row(
        "sigmoid_focal_loss",
        optax.losses.sigmoid_focal_loss,
        focal,
        (f32(5), interval(f32(5), 0.0, 1.0)),
        {"gamma of 1": lambda x, y: focal(x, y, 1.0), "cross entropy": lambda x, y: focal(x, y, 0.0)},
    ),
    row(
        "triplet_margin_loss",
        lambda a, p, n: optax.losses.triplet_margin_loss(a, p, n),
        triplet,
        (f32(2, 3), f32(2, 3), f32(2, 3)),
        {
            "positive and negative exchanged": lambda a, p, n: triplet(a, n, p),
            "no margin": lambda a, p, n: triplet(a, p, n, 0.0),
        },
    ),
    row(
        "smooth_labels",
        lambda y: optax.smooth_labels(y, 0.1),
        lambda y: 0.9 * y + 0.1 / 4.0,
        (f32(3, 4),),
        {"of three classes": lambda y: 0.9 * y + 0.1 / 3.0, "not shrunk": lambda y: y + 0.025},
    ),
    row(
        "ranking_softmax_loss",
        lambda x, y: optax.losses.ranking_softmax_loss(x, y),
        lambda x, y: -(y * nn.log_softmax(x)).sum(-1).mean(),
        LOGITS,
        {
            "sum": lambda x, y: -(y * nn.log_softmax(x)).sum(),
            "no logarithm": lambda x, y: -(y * softmax(x)).sum(-1).mean(),
        },
    ),
)

SCHEDULES = (
    row(
        "linear_schedule half-way",
        lambda a, b: optax.linear_schedule(a, b, 8)(4),
        lambda a, b: (a + b) / 2.0,
        (f32(4), f32(4)),
        {"the end": lambda a, b: b + 0 * a, "geometric": lambda a, b: jnp.sqrt(jnp.abs(a * b))},
    ),
    row(
        "polynomial_schedule",
        lambda a, b: optax.polynomial_schedule(a, b, 2, 4)(1),
        lambda a, b: (a - b) * (3.0 / 4.0) ** 2 + b,
        (f32(), f32()),
        {"linear": lambda a, b: (a - b) * 0.75 + b, "ends exchanged": lambda a, b: (b - a) * 0.5625 + a},
    ),
    row(
        "cosine_decay_schedule",
        lambda a: optax.cosine_decay_schedule(a, 8, 0.25)(2),
        lambda a: a * (0.75 * (1.0 + jnp.sqrt(0.5)) / 2.0 + 0.25),
        (f32(),),
        {
            "no floor": lambda a: a * (1.0 + jnp.sqrt(0.5)) / 2.0,
            "sine": lambda a: a * (0.75 * (1.0 - jnp.sqrt(0.5)) / 2.0 + 0.25),
        },
    ),
    row(
        "exponential_decay",
        lambda a: optax.exponential_decay(a, 4, 0.25)(2),
        lambda a: a / 2.0,
        (f32(),),
        {"stairs": lambda a: a + 0, "a quarter": lambda a: a / 4.0},
    ),
    row(
        "warmup_constant_schedule",
        lambda a, b: optax.warmup_constant_schedule(a, b, 4)(1),
        lambda a, b: 0.75 * a + b / 4.0,
        (f32(4), f32(4)),
        {"ends exchanged": lambda a, b: 0.75 * b + a / 4.0, "the peak": lambda a, b: b + 0 * a},
    ),
    row(
        "cosine_onecycle_schedule at its peak",
        lambda a: optax.cosine_onecycle_schedule(10, a, 0.5)(5),
        lambda a: a + 0.0,
        (f32(),),
        {"start": lambda a: a / 25.0, "end": lambda a: a / 1e4},
    ),
)

PROJECTIONS = (
    row(
        "projection_non_negative",
        optax.projections.projection_non_negative,
        lambda x: (x + jnp.abs(x)) / 2.0,
        (f32(5),),
        {"mirrored": jnp.abs, "non-positive": lambda x: (x - jnp.abs(x)) / 2.0},
    ),
    row(
        "projection_box",
        lambda x: optax.projections.projection_box(x, -1.0, 2.0),
        lambda x: jnp.minimum(jnp.maximum(x, -1.0), 2.0),
        (f32(5),),
        {"one end": lambda x: jnp.maximum(x, -1.0), "exchanged": lambda x: jnp.clip(x, -2.0, 1.0)},
    ),
    row(
        "projection_hypercube",
        optax.projections.projection_hypercube,
        lambda x: jnp.clip(x, 0.0, 1.0),
        (f32(5),),
        {"symmetric": lambda x: jnp.clip(x, -1.0, 1.0), "half": lambda x: jnp.maximum(x, 0.0)},
    ),
    row(
        "projection_l2_sphere",
        optax.projections.projection_l2_sphere,
        lambda x: x / jnp.sqrt((x * x).sum()),
        (f32(5),),
        {"squared": lambda x: x / (x * x).sum(), "sum of absolutes": lambda x: x / jnp.abs(x).sum()},
    ),
    row(
        "projection_l2_ball",
        optax.projections.projection_l2_ball,
        lambda x: x / jnp.maximum(1.0, jnp.sqrt((x * x).sum())),
        (f32(5),),
        {
            "sphere": lambda x: x / jnp.sqrt((x * x).sum()),
            "minimum": lambda x: x / jnp.minimum(1.0, jnp.sqrt((x * x).sum())),
        },
    ),
    row(
        "projection_simplex of two numbers",
        optax.projections.projection_simplex,
        lambda x: jnp.stack(
            [jnp.clip((1.0 + x[0] - x[1]) / 2.0, 0.0, 1.0), jnp.clip((1.0 + x[1] - x[0]) / 2.0, 0.0, 1.0)]
        ),
        (f32(2),),
        {
            "softmax": softmax,
            "not clipped": lambda x: jnp.stack([(1.0 + x[0] - x[1]) / 2.0, (1.0 + x[1] - x[0]) / 2.0]),
        },
    ),
    row(
        "projection_hyperplane",
        lambda x, a, b: optax.projections.projection_hyperplane(x, a, b),
        lambda x, a, b: x - (x @ a - b) / (a @ a) * a,
        (f32(4), f32(4), f32()),
        {
            "offset lost": lambda x, a, b: x - (x @ a) / (a @ a) * a,
            "norm not squared": lambda x, a, b: x - (x @ a - b) / jnp.sqrt(a @ a) * a,
        },
    ),
    row(
        "projection_halfspace",
        lambda x, a, b: optax.projections.projection_halfspace(x, a, b),
        lambda x, a, b: x - jnp.maximum(x @ a - b, 0.0) / (a @ a) * a,
        (f32(4), f32(4), f32()),
        {
            "hyperplane": lambda x, a, b: x - (x @ a - b) / (a @ a) * a,
            "the other side": lambda x, a, b: x - jnp.minimum(x @ a - b, 0.0) / (a @ a) * a,
        },
    ),
)

FURTHER = (
    row(
        "generalized_kl_divergence",
        lambda a, y: optax.losses.generalized_kl_divergence(a, y),
        lambda a, y: (y * (jnp.log(y) - a) - y + jnp.exp(a)).sum(-1),
        (f32(3, 4), positive(f32(3, 4))),
        {"not generalised": lambda a, y: (y * (jnp.log(y) - a)).sum(-1)},
    ),
    row(
        "safe_softmax_cross_entropy",
        lambda x: optax.losses.safe_softmax_cross_entropy(x, ONE_HOT),
        lambda x: -jnp.log((jnp.exp(x) * ONE_HOT).sum(-1) / jnp.exp(x).sum(-1)),
        (f32(3, 4),),
        {"sign": lambda x: jnp.log((jnp.exp(x) * ONE_HOT).sum(-1) / jnp.exp(x).sum(-1))},
        gradient=True,
    ),
    row(
        "multiclass_sparsemax_loss of two classes",
        lambda x: optax.losses.sparsemax_loss(x, np.array([0, 1, 1, 0], np.float32)),
        lambda x: jax.vmap(sparse_plus)(np.array([1, -1, -1, 1], np.float32) * x),
        (f32(4),),
        {"softplus": lambda x: nn.softplus(np.array([1, -1, -1, 1], np.float32) * x)},
    ),
    row(
        "sigmoid_focal_loss with a weight",
        lambda x: optax.losses.sigmoid_focal_loss(x, np.array([0, 1, 1, 0], np.float32), alpha=0.25, gamma=2.0),
        lambda x: jnp.where(
            np.array([False, True, True, False]),
            -0.25 * nn.sigmoid(-x) ** 2 * jnp.log(nn.sigmoid(x)),
            -0.75 * nn.sigmoid(x) ** 2 * jnp.log(nn.sigmoid(-x)),
        ),
        (f32(4),),
        {"no weight": lambda x: focal(x, np.array([0, 1, 1, 0], np.float32))},
    ),
    row(
        "cosine_distance from ones",
        lambda x: optax.losses.cosine_distance(x, jnp.ones((3, 4))),
        lambda x: 1.0 - x.sum(-1) / (jnp.sqrt((x * x).sum(-1)) * 2.0),
        (f32(3, 4),),
        {"not normalised": lambda x: 1 - x.sum(-1) / jnp.sqrt((x * x).sum(-1))},
    ),
    row(
        "piecewise_constant_schedule",
        lambda x: x * optax.piecewise_constant_schedule(1.0, {2: 0.5, 5: 0.5})(3),
        lambda x: 0.5 * x,
        (f32(4),),
        {"later": lambda x: 0.25 * x},
    ),
    row(
        "cosine_decay_schedule at a step that is given",
        lambda t: optax.cosine_decay_schedule(1.0, 8)(t),
        lambda t: (1.0 + jnp.cos(np.pi * jnp.minimum(t, 8.0) / 8.0)) / 2.0,
        (interval(f32(), 0.0, 16.0),),
        {"no end": lambda t: (1 + jnp.cos(np.pi * t / 8)) / 2},
    ),
    row(
        "linear_schedule at a step that is given",
        lambda t: optax.linear_schedule(1.0, 0.0, 8)(t),
        lambda t: 1.0 - jnp.clip(t / 8.0, 0.0, 1.0),
        (f32(),),
        {"no end": lambda t: 1 - t / 8},
    ),
    row(
        "projection_l2_ball as a quotient",
        lambda x: optax.projections.projection_l2_ball(x, 2.0),
        lambda x: x * 2.0 / jnp.maximum(2.0, jnp.sqrt((x * x).sum())),
        (f32(4),),
        {"sphere": lambda x: 2 * x / jnp.sqrt((x * x).sum())},
    ),
)

ROWS = (*REGRESSION, *CLASSIFICATION, *SCHEDULES, *PROJECTIONS, *FURTHER)
