"""optax: one step and two steps of optimisers, and transformations of gradients."""

import jax.numpy as jnp
from jax import nn

from ..pair import f32
from ..row import row
from .library import library

optax = library("optax")

ONE = (f32(4), f32(4))
"""Parameters and gradient."""
TWO = (f32(4), f32(4), f32(4))
"""Parameters and the gradients of two steps."""
RATE = 0.1


def steps(optimiser, p, *gradients):
    """The parameters after a step for each gradient."""
    state = optimiser.init(p)
    for g in gradients:
        update, state = optimiser.update(g, state, p)
        p = optax.apply_updates(p, update)
    return p


def of(optimiser):
    return lambda p, *gradients: steps(optimiser, p, *gradients)


def momentum(p, g, h, beta=0.9, nesterov=False):
    m = g
    p = p - RATE * (g + beta * m if nesterov else m)
    m = beta * m + h
    return p - RATE * (h + beta * m if nesterov else m)


def adam(p, *gradients, b1=0.9, b2=0.999, eps=1e-8, decay=0.0, bias=True, inside=False, amsgrad=False, l2=0.0):
    m, v, top = 0.0 * p, 0.0 * p, 0.0 * p
    for t, g in enumerate(gradients, 1):
        g = g + l2 * p
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
        m_hat, v_hat = (m / (1 - b1**t), v / (1 - b2**t)) if bias else (m, v)
        top = jnp.maximum(top, v_hat)
        used = top if amsgrad else v_hat
        root = jnp.sqrt(used + eps) if inside else jnp.sqrt(used) + eps
        p = p - RATE * (m_hat / root + decay * p)
    return p


def rmsprop(p, *gradients, decay=0.9, eps=1e-8, outside=False, centred=False):
    v, mean = 0.0 * p, 0.0 * p
    for g in gradients:
        v, mean = decay * v + (1 - decay) * g * g, decay * mean + (1 - decay) * g
        spread = v - mean**2 if centred else v
        p = p - RATE * g / (jnp.sqrt(spread) + eps if outside else jnp.sqrt(spread + eps))
    return p


def adagrad(p, *gradients, start=0.1, eps=1e-7):
    total = start + 0.0 * p
    for g in gradients:
        total = total + g**2
        p = p - RATE * g / jnp.sqrt(total + eps)
    return p


def adadelta(p, g, h, rho=0.9, eps=1e-6, accumulate=True):
    v, d = (1 - rho) * g**2, 0.0 * p
    u = jnp.sqrt(d + eps) / jnp.sqrt(v + eps) * g
    p = p - RATE * u
    d = (1 - rho) * u**2 if accumulate else d
    v = rho * v + (1 - rho) * h**2
    return p - RATE * jnp.sqrt(d + eps) / jnp.sqrt(v + eps) * h


def adamax(p, g, h, b1=0.9, b2=0.999, eps=1e-8):
    m, u = (1 - b1) * g, jnp.maximum(jnp.abs(g) + eps, 0.0)
    p = p - RATE * m / (1 - b1) / u
    m, u = b1 * m + (1 - b1) * h, jnp.maximum(b2 * u, jnp.abs(h) + eps)
    return p - RATE * m / (1 - b1**2) / u


def lion(p, g, h, b1=0.9, b2=0.99, decay=0.0):
    m = (1 - b2) * g
    p = p - RATE * (jnp.sign((1 - b1) * g) + decay * p)
    return p - RATE * (jnp.sign(b1 * m + (1 - b1) * h) + decay * p)


def nadam(p, *gradients, b1=0.9, b2=0.999, eps=1e-8, ahead=1):
    m, v = 0.0 * p, 0.0 * p
    for t, g in enumerate(gradients, 1):
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
        m_hat = b1 * m / (1 - b1 ** (t + ahead)) + (1 - b1) * g / (1 - b1**t)
        p = p - RATE * m_hat / (jnp.sqrt(v / (1 - b2**t)) + eps)
    return p


def yogi(p, *gradients, b1=0.9, b2=0.999, eps=1e-3, start=1e-6, adam=False):
    m, v = start + 0.0 * p, start + 0.0 * p
    for t, g in enumerate(gradients, 1):
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * g**2 if adam else v - (1 - b2) * jnp.sign(v - g**2) * g**2
        p = p - RATE * (m / (1 - b1**t)) / (jnp.sqrt(v / (1 - b2**t)) + eps)
    return p


def adabelief(p, *gradients, b1=0.9, b2=0.999, eps=1e-16, eps_root=1e-16, around=True):
    m, s = 0.0 * p, 0.0 * p
    for t, g in enumerate(gradients, 1):
        m = b1 * m + (1 - b1) * g
        s = b2 * s + (1 - b2) * (g - m if around else g) ** 2 + eps_root
        p = p - RATE * (m / (1 - b1**t)) / (jnp.sqrt(s / (1 - b2**t)) + eps)
    return p


def norm(x):
    return jnp.sqrt((x * x).sum())


def trust(p, u):
    ratio = jnp.where((norm(p) == 0) | (norm(u) == 0), 1.0, norm(p) / norm(u))
    return p - RATE * ratio * u


def lamb(p, g, decay=0.0, eps=1e-6):
    return trust(p, g / (jnp.sqrt(g * g) + eps) + decay * p)


def clipped(g, limit):
    return g * jnp.minimum(1.0, limit / norm(g))


def update(transformation):
    """The update that a transformation makes of a gradient, with parameters at hand."""
    return lambda p, g: transformation.update(g, transformation.init(p), p)[0]


STEPS = (
    row(
        "sgd",
        of(optax.sgd(RATE)),
        lambda p, g: p - RATE * g,
        ONE,
        {"ascent": lambda p, g: p + RATE * g, "rate": lambda p, g: p - 0.01 * g},
    ),
    row(
        "sgd, momentum, two steps",
        of(optax.sgd(RATE, momentum=0.9)),
        momentum,
        TWO,
        {
            "no momentum": lambda p, g, h: momentum(p, g, h, 0.0),
            "damped": lambda p, g, h: momentum(p, 0.1 * g, 0.1 * h),
        },
        gradient=True,
    ),
    row(
        "sgd, Nesterov, two steps",
        of(optax.sgd(RATE, momentum=0.9, nesterov=True)),
        lambda p, g, h: momentum(p, g, h, nesterov=True),
        TWO,
        {"plain momentum": momentum, "beta": lambda p, g, h: momentum(p, g, h, 0.5, True)},
    ),
    row(
        "adam",
        of(optax.adam(RATE)),
        adam,
        ONE,
        {
            "no bias correction": lambda p, g: adam(p, g, bias=False),
            "epsilon inside the root": lambda p, g: adam(p, g, eps=1e-4, inside=True),
        },
    ),
    row(
        "adam, the first step is a sign",
        of(optax.adam(RATE, eps=2.0**-7)),
        lambda p, g: p - RATE * g / (jnp.abs(g) + 2.0**-7),
        ONE,
        {"sign": lambda p, g: p - RATE * jnp.sign(g), "ascent": lambda p, g: p + RATE * g / (jnp.abs(g) + 2.0**-7)},
    ),
    row(
        "adam, two steps",
        of(optax.adam(RATE)),
        adam,
        TWO,
        {
            "no bias correction": lambda p, g, h: adam(p, g, h, bias=False),
            "betas exchanged": lambda p, g, h: adam(p, g, h, b1=0.999, b2=0.9),
            "the first gradient alone": lambda p, g, h: adam(p, g, 0 * h),
        },
    ),
    row(
        "adam, epsilon inside the root",
        of(optax.adam(RATE, eps=0.0, eps_root=1e-3)),
        lambda p, g, h: adam(p, g, h, eps=1e-3, inside=True),
        TWO,
        {
            "outside": lambda p, g, h: adam(p, g, h, eps=1e-3),
            "square of epsilon": lambda p, g, h: adam(p, g, h, eps=1e-6, inside=True),
        },
        gradient=True,
    ),
    row(
        "adamw, two steps",
        of(optax.adamw(RATE, weight_decay=0.01)),
        lambda p, g, h: adam(p, g, h, decay=0.01),
        TWO,
        {"L2 in the gradient": lambda p, g, h: adam(p, g, h, l2=0.01), "no decay": adam},
    ),
    row(
        "amsgrad, two steps",
        of(optax.amsgrad(RATE)),
        lambda p, g, h: adam(p, g, h, amsgrad=True),
        TWO,
        {
            "adam": lambda p, g, h: adam(p, g, h, b2=0.9),
            "no bias correction": lambda p, g, h: adam(p, g, h, amsgrad=True, bias=False),
        },
    ),
    row(
        "adamax, two steps",
        of(optax.adamax(RATE)),
        adamax,
        TWO,
        {"adam": adam, "no decay of the norm": lambda p, g, h: adamax(p, g, h, b2=0.5)},
    ),
    row(
        "nadam, two steps",
        of(optax.nadam(RATE)),
        nadam,
        TWO,
        {"no look ahead": lambda p, g, h: nadam(p, g, h, ahead=0), "adam": adam},
    ),
    row(
        "rmsprop, two steps",
        of(optax.rmsprop(RATE)),
        rmsprop,
        TWO,
        {
            "epsilon outside the root": lambda p, g, h: rmsprop(p, g, h, eps=1e-3, outside=True),
            "decay": lambda p, g, h: rmsprop(p, g, h, decay=0.99),
        },
        gradient=True,
    ),
    row(
        "rmsprop, centred",
        of(optax.rmsprop(RATE, centered=True, eps=1e-3)),
        lambda p, g, h: rmsprop(p, g, h, centred=True, eps=1e-3),
        TWO,
        {
            "not centred": lambda p, g, h: rmsprop(p, g, h, eps=1e-3),
            "decay": lambda p, g, h: rmsprop(p, g, h, decay=0.5, centred=True, eps=1e-3),
        },
    ),
    row(
        "rmsprop with momentum",
        of(optax.rmsprop(RATE, momentum=0.5)),
        lambda p, g, h: (
            p - RATE * (1.5 * g / jnp.sqrt(0.1 * g**2 + 1e-8) + h / jnp.sqrt(0.09 * g**2 + 0.1 * h**2 + 1e-8))
        ),
        TWO,
        {
            "no momentum": rmsprop,
            "on the second step": lambda p, g, h: (
                p - RATE * (g / jnp.sqrt(0.1 * g**2 + 1e-8) + 1.5 * h / jnp.sqrt(0.09 * g**2 + 0.1 * h**2 + 1e-8))
            ),
        },
    ),
    row(
        "adagrad, two steps",
        of(optax.adagrad(RATE)),
        adagrad,
        TWO,
        {
            "start": lambda p, g, h: adagrad(p, g, h, start=1.0),
            "the last gradient alone": lambda p, g, h: adagrad(adagrad(p, g), h),
        },
    ),
    row(
        "adadelta, two steps",
        of(optax.adadelta(RATE)),
        adadelta,
        TWO,
        {
            "no accumulated updates": lambda p, g, h: adadelta(p, g, h, accumulate=False),
            "rho": lambda p, g, h: adadelta(p, g, h, rho=0.95),
        },
    ),
    row(
        "adabelief, two steps",
        of(optax.adabelief(RATE)),
        adabelief,
        TWO,
        {
            "around zero": lambda p, g, h: adabelief(p, g, h, around=False),
            "betas exchanged": lambda p, g, h: adabelief(p, g, h, b1=0.999, b2=0.9),
        },
    ),
    row(
        "yogi, two steps",
        of(optax.yogi(RATE)),
        yogi,
        TWO,
        {
            "adam's second moment": lambda p, g, h: yogi(p, g, h, adam=True, b2=0.9),
            "start": lambda p, g, h: yogi(p, g, h, start=0.1),
        },
    ),
    row(
        "lion, two steps",
        of(optax.lion(RATE, weight_decay=0.0)),
        lion,
        TWO,
        {"one beta": lambda p, g, h: lion(p, g, h, b1=0.99), "no sign": lambda p, g, h: p - RATE * (g + h)},
    ),
    row(
        "lion with decay",
        of(optax.lion(RATE, weight_decay=0.1)),
        lambda p, g, h: lion(p, g, h, decay=0.1),
        TWO,
        {"no decay": lion, "decay": lambda p, g, h: lion(p, g, h, decay=0.2)},
    ),
    row(
        "sign_sgd",
        of(optax.sign_sgd(RATE)),
        lambda p, g: p - RATE * (g / jnp.where(g == 0, 1.0, jnp.abs(g))),
        ONE,
        {"sgd": lambda p, g: p - RATE * g, "ascent": lambda p, g: p + RATE * jnp.sign(g)},
    ),
    row(
        "lamb",
        of(optax.lamb(RATE)),
        lamb,
        ONE,
        {"no trust": lambda p, g: p - RATE * g / (jnp.sqrt(g * g) + 1e-6), "decay": lambda p, g: lamb(p, g, 0.1)},
    ),
    row(
        "lars",
        of(optax.lars(RATE, weight_decay=0.0, trust_coefficient=1.0, momentum=0.0)),
        trust,
        ONE,
        {"no trust": lambda p, g: p - RATE * g, "coefficient": lambda p, g: trust(p, 0.5 * g) - 0.01 * g},
    ),
    row(
        "noisy steps without noise are sgd",
        of(optax.noisy_sgd(RATE, eta=0.0)),
        lambda p, g: p - RATE * g,
        ONE,
        {"ascent": lambda p, g: p + RATE * g, "twice": lambda p, g: p - 2 * RATE * g},
    ),
    row(
        "optimistic gradient descent, two steps",
        of(optax.optimistic_gradient_descent(RATE)),
        lambda p, g, h: p - RATE * g - RATE * (2.0 * h - g),
        TWO,
        {
            "a step before the first": lambda p, g, h: p - RATE * (2.0 * g) - RATE * (2.0 * h - g),
            "sign of the last gradient": lambda p, g, h: p - RATE * g - RATE * (2.0 * h + g),
        },
    ),
    row(
        "fromage",
        of(optax.fromage(RATE)),
        lambda p, g: (p - RATE * jnp.maximum(norm(p), 1e-6) / jnp.maximum(norm(g), 1e-6) * g) / jnp.sqrt(1.0 + RATE**2),
        ONE,
        {
            "not shrunk": lambda p, g: p - RATE * norm(p) / norm(g) * g,
            "sgd": lambda p, g: (p - RATE * g) / jnp.sqrt(1.0 + RATE**2),
        },
    ),
    row(
        "lookahead of sgd, synchronised",
        lambda p, g: optax.LookaheadParams.init_synced(p - RATE * g).slow,
        lambda p, g: p - RATE * g,
        ONE,
        {"fast": lambda p, g: p + RATE * g, "nothing": lambda p, g: p + 0 * g},
    ),
)

TRANSFORMATIONS = (
    row(
        "clip",
        update(optax.clip(0.5)),
        lambda p, g: jnp.maximum(jnp.minimum(g, 0.5), -0.5),
        ONE,
        {"by the norm": lambda p, g: clipped(g, 0.5), "one": lambda p, g: jnp.clip(g, -1.0, 1.0)},
    ),
    row(
        "clip_by_global_norm",
        update(optax.clip_by_global_norm(2.0)),
        lambda p, g: clipped(g, 2.0),
        ONE,
        {"always": lambda p, g: 2.0 * g / norm(g), "by value": lambda p, g: jnp.clip(g, -1.0, 1.0)},
    ),
    row(
        "clip_by_block_rms",
        update(optax.clip_by_block_rms(1.0)),
        lambda p, g: g / jnp.maximum(1.0, jnp.sqrt((g * g).mean())),
        ONE,
        {"norm": lambda p, g: clipped(g, 1.0), "always": lambda p, g: g / jnp.sqrt((g * g).mean())},
    ),
    row(
        "normalize_by_update_norm",
        update(optax.normalize_by_update_norm(eps=1e-3)),
        lambda p, g: g / (norm(g) + 1e-3),
        ONE,
        {"squared": lambda p, g: g / ((g * g).sum() + 1e-3), "inside": lambda p, g: g / jnp.sqrt((g * g).sum() + 1e-3)},
    ),
    row(
        "adaptive_grad_clip",
        update(optax.adaptive_grad_clip(0.5)),
        lambda p, g: jnp.where(
            norm(g) < 0.5 * jnp.maximum(norm(p), 1e-3),
            g,
            g * (0.5 * jnp.maximum(norm(p), 1e-3)) / jnp.maximum(norm(g), 1e-6),
        ),
        ONE,
        {
            "by the global norm": lambda p, g: clipped(g, 0.5),
            "factor": lambda p, g: jnp.where(norm(g) < norm(p), g, g * norm(p) / norm(g)),
        },
    ),
    row(
        "add_decayed_weights",
        update(optax.add_decayed_weights(0.1)),
        lambda p, g: g + 0.1 * p,
        ONE,
        {"sign": lambda p, g: g - 0.1 * p, "none": lambda p, g: g + 0 * p},
    ),
    row(
        "centralize",
        lambda p, g: update(optax.centralize())(p, g),
        lambda p, g: g - g.mean(1, keepdims=True),
        (f32(3, 4), f32(3, 4)),
        {"over the other axis": lambda p, g: g - g.mean(0, keepdims=True), "over all": lambda p, g: g - g.mean()},
    ),
    row(
        "keep_params_nonnegative",
        update(optax.keep_params_nonnegative()),
        lambda p, g: jnp.maximum(g, -p),
        ONE,
        {"of the update": lambda p, g: jnp.maximum(g, 0.0), "sign": lambda p, g: jnp.maximum(g, p)},
    ),
    row(
        "incremental_update",
        lambda p, q: optax.incremental_update(p, q, 0.25),
        lambda p, q: q + 0.25 * (p - q),
        ONE,
        {"exchanged": lambda p, q: p + 0.25 * (q - p), "new": lambda p, q: p + 0 * q},
    ),
    row(
        "a chain of a scale and a trust ratio",
        update(optax.chain(optax.scale(2.0), optax.scale_by_trust_ratio())),
        lambda p, g: g * jnp.where((norm(p) == 0) | (norm(g) == 0), 2.0, norm(p) / norm(g)),
        ONE,
        {"scaled twice": lambda p, g: 2.0 * g * norm(p) / norm(g), "inverted": lambda p, g: g * norm(g) / norm(p)},
    ),
    row(
        "ema, debiased",
        lambda g, h: (lambda e: e.update(h, e.update(g, e.init(g))[1])[0])(optax.ema(0.9)),
        lambda g, h: (0.9 * g + h) / 1.9,
        ONE,
        {"not debiased": lambda g, h: 0.09 * g + 0.1 * h, "exchanged": lambda g, h: (g + 0.9 * h) / 1.9},
    ),
    row(
        "global_norm",
        lambda p, g: optax.tree.norm({"a": p, "b": g}),
        lambda p, g: jnp.sqrt(jnp.sum(p**2) + jnp.sum(g**2)),
        ONE,
        {"sum of norms": lambda p, g: norm(p) + norm(g), "squared": lambda p, g: jnp.sum(p**2) + jnp.sum(g**2)},
    ),
    row(
        "a gradient of a loss, one step",
        lambda p, g: steps(optax.sgd(RATE), p, nn.softmax(p) - g),
        lambda p, g: p - RATE * (jnp.exp(p) / jnp.exp(p).sum() - g),
        ONE,
        {
            "of the targets": lambda p, g: p - RATE * (nn.softmax(g) - p),
            "sign": lambda p, g: p + RATE * (nn.softmax(p) - g),
        },
    ),
)

ROWS = (*STEPS, *TRANSFORMATIONS)
