"""optax: schedules, projections, averages, and optimisers that are chained, masked or accumulated."""

import jax.numpy as jnp
import numpy as np

from uat_jax import interval

from ..pair import f32
from ..row import row
from .library import library
from .optax_updates import ONE, RATE, TWO, norm, of, update

optax = library("optax")

COUNT = interval(f32(), 0.0, 200.0)
BATCH = np.array([True, False, True, True])


def masked_sgd(p, g):
    optimiser = optax.masked(optax.sgd(RATE), {"a": True, "b": False})
    u, _ = optimiser.update({"a": g, "b": g}, optimiser.init({"a": p, "b": p}), {"a": p, "b": p})
    return u["a"], u["b"]


def accumulated(p, g, h):
    optimiser = optax.MultiSteps(optax.sgd(RATE), 2)
    state = optimiser.init(p)
    for gradient in (g, h):
        u, state = optimiser.update(gradient, state, p)
        p = p + u
    return p


def polyak(p, g, value):
    optimiser = optax.polyak_sgd(max_learning_rate=1.0)
    return optimiser.update(g, optimiser.init(p), p, value=value)[0]


def polyak_formula(p, g, value):
    square = (g * g).sum()
    return -jnp.where(square > np.finfo(np.float32).eps, jnp.minimum(value / square, 1.0), 0.0) * g


def novograd(p, g, h, b1=0.9, b2=0.25, eps=1e-6, first=True):
    v = (g * g).sum()
    m = (1.0 if first else 1 - b1) * g / (jnp.sqrt(v) + eps)
    p = p - RATE * m
    v = b2 * v + (1 - b2) * (h * h).sum()
    return p - RATE * (b1 * m + (1 if first else 1 - b1) * h / (jnp.sqrt(v) + eps))


def averaged(g, h, debias=True):
    average = optax.ema(0.9, debias=debias)
    state = average.init(g)
    _, state = average.update(g, state)
    return average.update(h, state)[0]


def warmup(t, peak=0.1, steps=50, total=150, end=0.0):
    rising = peak * jnp.clip(t, 0.0, steps) / steps
    share = jnp.clip((t - steps) / (total - steps), 0.0, 1.0)
    return jnp.where(t < steps, rising, end + (peak - end) * (1.0 + jnp.cos(np.pi * share)) / 2.0)


def rprop(p, g, h):
    """This version of optax applies a step one update late, and not where the sign has changed."""
    return p - jnp.where(g * h < 0.0, 0.0, 0.1) * jnp.sign(g)


def simplex2(x):
    """The nearest point of the simplex of two numbers."""
    a = jnp.clip((1.0 + x[0] - x[1]) / 2.0, 0.0, 1.0)
    return jnp.stack([a, 1.0 - a])


ROWS = (
    row(
        "polynomial_schedule",
        optax.polynomial_schedule(0.5, 0.1, 2, 100, 20),
        lambda t: 0.1 + 0.4 * (1.0 - jnp.clip((t - 20.0) / 100.0, 0.0, 1.0)) ** 2,
        (COUNT,),
        {
            "cubed": lambda t: 0.1 + 0.4 * (1.0 - jnp.clip((t - 20.0) / 100.0, 0.0, 1.0)) ** 3,
            "begins at once": lambda t: 0.1 + 0.4 * (1.0 - jnp.clip(t / 100.0, 0.0, 1.0)) ** 2,
        },
    ),
    row(
        "linear_schedule",
        optax.linear_schedule(0.5, 0.1, 100),
        lambda t: jnp.where(t < 100.0, 0.5 - 0.4 * t / 100.0, 0.1),
        (COUNT,),
        {"not ended": lambda t: 0.5 - 0.4 * t / 100.0, "ends at 0": lambda t: 0.5 * jnp.clip(1 - t / 100.0, 0, 1)},
    ),
    row(
        "exponential_decay",
        optax.exponential_decay(0.5, 10, 0.25),
        lambda t: 0.5 * jnp.exp(t / 10.0 * jnp.log(0.25)),
        (COUNT,),
        {"a step": lambda t: 0.5 * 0.25**t, "rate 1/2": lambda t: 0.5 * 0.5 ** (t / 10.0)},
    ),
    row(
        "exponential_decay in a staircase",
        optax.exponential_decay(0.5, 10, 0.25, staircase=True),
        lambda t: 0.5 * 2.0 ** (-2.0 * jnp.floor(t / 10.0)),
        (COUNT,),
        {"smooth": lambda t: 0.5 * 2.0 ** (-t / 5), "rounded": lambda t: 0.5 * 2.0 ** (-2.0 * jnp.round(t / 10.0))},
    ),
    row(
        "cosine_decay_schedule",
        optax.cosine_decay_schedule(0.5, 100, alpha=0.1),
        lambda t: 0.5 * (0.1 + 0.9 * jnp.cos(np.pi * jnp.minimum(t, 100.0) / 200.0) ** 2),
        (COUNT,),
        {
            "sine": lambda t: 0.5 * (0.1 + 0.9 * jnp.sin(np.pi * jnp.minimum(t, 100.0) / 200.0) ** 2),
            "no alpha": lambda t: 0.5 * jnp.cos(np.pi * jnp.minimum(t, 100.0) / 200.0) ** 2,
        },
    ),
    row(
        "warmup_cosine_decay_schedule",
        optax.warmup_cosine_decay_schedule(0.0, 0.1, 50, 150),
        warmup,
        (COUNT,),
        {"ends higher": lambda t: warmup(t, end=0.01), "shorter": lambda t: warmup(t, steps=40)},
    ),
    row(
        "piecewise_constant_schedule",
        optax.piecewise_constant_schedule(0.5, {10: 0.5, 100: 0.1}),
        lambda t: jnp.where(t < 10.0, 0.5, jnp.where(t < 100.0, 0.25, 0.025)),
        (COUNT,),
        {
            "not multiplied": lambda t: jnp.where(t < 10.0, 0.5, jnp.where(t < 100.0, 0.25, 0.05)),
            "much later": lambda t: jnp.where(t < 50.0, 0.5, jnp.where(t < 100.0, 0.25, 0.025)),
        },
    ),
    row(
        "projection_box",
        lambda x, l: optax.projections.projection_box(x, l, l + 1.0),
        lambda x, l: l + jnp.clip(x - l, 0.0, 1.0),
        (f32(4), f32(4)),
        {"from 0": lambda x, l: jnp.clip(x, 0, 1) + 0 * l, "wider": lambda x, l: jnp.clip(x, l, l + 2.0)},
        gradient=True,
        almost_everywhere=True,
    ),
    row(
        "projection_l2_ball",
        lambda x: optax.projections.projection_l2_ball(x, 2.0),
        lambda x: jnp.where(norm(x) > 2.0, 2.0 * x / norm(x), x),
        (f32(4),),
        {"sphere": lambda x: 2 * x / norm(x), "of radius 1": lambda x: x / jnp.maximum(1.0, norm(x))},
    ),
    row(
        "projection_simplex of two numbers",
        optax.projections.projection_simplex,
        simplex2,
        (f32(2),),
        {"softmax": lambda x: jnp.exp(x) / jnp.exp(x).sum(), "clipped": lambda x: jnp.clip(x, 0, 1)},
    ),
    row(
        "incremental_update",
        lambda new, old: optax.incremental_update(new, old, 0.1),
        lambda new, old: old + 0.1 * (new - old),
        ONE,
        {"exchanged": lambda new, old: new + 0.1 * (old - new), "sum": lambda new, old: old + 0.1 * new},
        gradient=True,
    ),
    row(
        "ema, two steps, debiased",
        averaged,
        lambda g, h: (0.9 * g + h) / 1.9,
        ONE,
        {"biased": lambda g, h: 0.09 * g + 0.1 * h, "exchanged": lambda g, h: (g + 0.9 * h) / 1.9},
        gradient=True,
    ),
    row(
        "MultiSteps of sgd",
        accumulated,
        lambda p, g, h: p - RATE * (g + h) / 2.0,
        TWO,
        {"sum": lambda p, g, h: p - RATE * (g + h), "last": lambda p, g, h: p - RATE * h},
    ),
    row(
        "masked sgd",
        masked_sgd,
        lambda p, g: (-RATE * g, g),
        ONE,
        {"both": lambda p, g: (-RATE * g, -RATE * g), "other": lambda p, g: (g, -RATE * g)},
    ),
    row(
        "polyak_sgd",
        polyak,
        polyak_formula,
        (*ONE, f32()),
        {
            "norm": lambda p, g, value: -jnp.minimum(value / norm(g), 1.0) * g,
            "no bound below 2": lambda p, g, value: -jnp.minimum(value / (g * g).sum(), 0.125) * g,
        },
    ),
    row(
        "novograd, two steps",
        of(optax.novograd(RATE)),
        novograd,
        TWO,
        {
            "b2 = 1/2": lambda p, g, h: novograd(p, g, h, b2=0.5),
            "averaged": lambda p, g, h: novograd(p, g, h, first=False),
        },
    ),
    row(
        "a chain of clip, momentum and decay",
        of(optax.chain(optax.clip(1.0), optax.trace(0.9), optax.add_decayed_weights(0.01), optax.scale(-RATE))),
        lambda p, g: p - RATE * (jnp.maximum(jnp.minimum(g, 1.0), -1.0) + p / 100.0),
        ONE,
        {
            "decay clipped": lambda p, g: p - RATE * jnp.clip(g + 0.01 * p, -1.0, 1.0),
            "not clipped": lambda p, g: p - RATE * (g + 0.01 * p),
        },
        gradient=True,
        almost_everywhere=True,
    ),
    row(
        "scale_by_rss",
        update(optax.scale_by_rss(0.0, 1e-7)),
        lambda p, g: jnp.where(g != 0.0, g / jnp.sqrt(g * g + 1e-7), 0.0) + 0.0 * p,
        ONE,
        {"sign": lambda p, g: jnp.sign(g) + 0 * p, "outside": lambda p, g: g / (jnp.abs(g) + 1e-7) + 0 * p},
    ),
    row(
        "rprop, two steps",
        of(optax.rprop(0.1)),
        rprop,
        TWO,
        {
            "ascent": lambda p, g, h: p + (p - rprop(p, g, h)),
            "whatever the signs": lambda p, g, h: p - 0.1 * jnp.sign(g) + 0.0 * h,
        },
    ),
)
