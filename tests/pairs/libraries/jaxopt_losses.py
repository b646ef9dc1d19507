"""jaxopt: losses, projections, proximal operators and steps of solvers."""

import jax
import jax.numpy as jnp
from jax import nn

from uat_jax import positive

from ..pair import f32, matmul
from ..row import row
from .library import library

jaxopt = library("jaxopt")
loss, prox, projection = library("jaxopt.loss"), library("jaxopt.prox"), library("jaxopt.projection")

X = (f32(4),)


def descent(x, A, b, steps, rate):
    """Gradient descent on ‖A x − b‖² / 2."""
    for _ in range(steps):
        x = x - rate * matmul(A.T, matmul(A, x) - b)
    return x


def solver(x, A, b, steps=2):
    made = jaxopt.GradientDescent(lambda x: ((matmul(A, x) - b) ** 2).sum() / 2.0, stepsize=0.125, acceleration=False)
    state = made.init_state(x)
    for _ in range(steps):
        x, state = made.update(x, state)
    return x


FUNCTIONS = (
    row(
        "binary_logistic_loss",
        lambda x: loss.binary_logistic_loss(1, x),
        lambda x: jnp.log(1.0 + jnp.exp(-x)),
        (f32(),),
        {"the other class": lambda x: jnp.log(1 + jnp.exp(x)), "hinge": lambda x: nn.relu(1 - x)},
        gradient=True,
    ),
    row(
        "binary_sparsemax_loss",
        lambda x: loss.binary_sparsemax_loss(0, x),
        lambda x: jnp.where(x <= -1.0, 0.0, jnp.where(x >= 1.0, x, (x + 1.0) ** 2 / 4.0)),
        (f32(),),
        {
            "the other class": lambda x: loss.binary_sparsemax_loss(1, x),
            "halved": lambda x: loss.binary_sparsemax_loss(0, x) / 2,
        },
    ),
    row(
        "binary_hinge_loss",
        lambda x: loss.binary_hinge_loss(1, x),
        lambda x: jnp.where(x < 1.0, 1.0 - x, 0.0),
        (f32(),),
        {"no margin": lambda x: nn.relu(-x), "the other class": lambda x: nn.relu(1 + x)},
    ),
    row(
        "multiclass_logistic_loss",
        lambda x: loss.multiclass_logistic_loss(2, x),
        lambda x: jnp.log(jnp.exp(x).sum()) - x[2],
        X,
        {"another class": lambda x: jnp.log(jnp.exp(x).sum()) - x[1], "maximum": lambda x: x.max() - x[2]},
        gradient=True,
    ),
    row(
        "multiclass_perceptron_loss",
        lambda x: loss.multiclass_perceptron_loss(2, x),
        lambda x: jnp.maximum(jnp.maximum(x[0], x[1]), jnp.maximum(x[2], x[3])) - x[2],
        X,
        {"minimum": lambda x: x.min() - x[2], "another": lambda x: x.max() - x[1]},
    ),
    row(
        "huber_loss",
        lambda y, x: loss.huber_loss(y, x, 1.0),
        lambda y, x: jnp.where(jnp.abs(y - x) <= 1.0, (y - x) ** 2 / 2.0, jnp.abs(y - x) - 0.5),
        (f32(), f32()),
        {
            "not lowered": lambda y, x: jnp.where(jnp.abs(y - x) <= 1.0, (y - x) ** 2 / 2.0, jnp.abs(y - x)),
            "square": lambda y, x: (y - x) ** 2 / 2,
        },
        gradient=True,
    ),
    row(
        "sparse_plus and sparse_sigmoid",
        lambda x: jax.grad(loss.sparse_plus)(x),
        lambda x: jnp.clip((x + 1.0) / 2.0, 0.0, 1.0),
        (f32(),),
        {"sigmoid": nn.sigmoid, "not halved": lambda x: jnp.clip(x + 1.0, 0.0, 1.0)},
    ),
    row(
        "prox_lasso",
        lambda x: prox.prox_lasso(x, 1.0),
        lambda x: jnp.sign(x) * jnp.maximum(jnp.abs(x) - 1.0, 0.0),
        X,
        {
            "hard": lambda x: jnp.where(jnp.abs(x) > 1, x, 0.0),
            "half": lambda x: jnp.sign(x) * nn.relu(jnp.abs(x) - 0.5),
        },
    ),
    row(
        "prox_lasso as a difference from its clip",
        lambda x: prox.prox_lasso(x, 1.0),
        lambda x: x - jnp.clip(x, -1.0, 1.0),
        X,
        {"clip": lambda x: jnp.clip(x, -1.0, 1.0), "sum": lambda x: x + jnp.clip(x, -1.0, 1.0)},
    ),
    row(
        "prox_ridge",
        lambda x: prox.prox_ridge(x, 0.5),
        lambda x: x / 1.5,
        X,
        {"2": lambda x: x / 2.0, "minus": lambda x: x / 0.5},
    ),
    row(
        "prox_elastic_net",
        lambda x: prox.prox_elastic_net(x, (1.0, 0.5)),
        lambda x: (nn.relu(x - 1.0) - nn.relu(-x - 1.0)) / 1.5,
        X,
        {"no ridge": lambda x: nn.relu(x - 1.0) - nn.relu(-x - 1.0), "no lasso": lambda x: x / 1.5},
    ),
    row(
        "prox_group_lasso",
        lambda x: prox.prox_group_lasso(x, 1.0),
        lambda x: x * jnp.maximum(1.0 - 1.0 / jnp.sqrt((x * x).sum()), 0.0),
        X,
        {
            "entry by entry": lambda x: jnp.sign(x) * nn.relu(jnp.abs(x) - 1),
            "not clipped": lambda x: x * (1 - 0.5 / jnp.sqrt((x * x).sum())),
        },
    ),
    row(
        "prox_non_negative_ridge",
        lambda x: prox.prox_non_negative_ridge(x, 1.0),
        lambda x: nn.relu(x) / 2.0,
        X,
        {"absolute": lambda x: jnp.abs(x) / 2, "not scaled": nn.relu},
    ),
    row(
        "projection_l2_ball",
        lambda x: projection.projection_l2_ball(x, 2.0),
        lambda x: x * jnp.minimum(1.0, 2.0 / jnp.sqrt((x * x).sum())),
        X,
        {
            "sphere": lambda x: 2 * x / jnp.sqrt((x * x).sum()),
            "radius": lambda x: x * jnp.minimum(1.0, 1.0 / jnp.sqrt((x * x).sum())),
        },
    ),
    row(
        "projection_linf_ball",
        lambda x: projection.projection_linf_ball(x, 0.5),
        lambda x: jnp.maximum(jnp.minimum(x, 0.5), -0.5),
        X,
        {"1": lambda x: jnp.clip(x, -1.0, 1.0), "one side": lambda x: jnp.minimum(x, 0.5)},
    ),
    row(
        "projection_hyperplane",
        lambda x, a, b: projection.projection_hyperplane(x, (a, b)),
        lambda x, a, b: x - a * ((a @ x - b) / (a @ a)),
        (f32(4), f32(4), f32()),
        {"sign": lambda x, a, b: x + a * ((a @ x - b) / (a @ a)), "not divided": lambda x, a, b: x - a * (a @ x - b)},
    ),
    row(
        "projection_simplex of two numbers",
        lambda x: projection.projection_simplex(x)[0],
        lambda x: jnp.clip((1.0 + x[0] - x[1]) / 2.0, 0.0, 1.0),
        (f32(2),),
        {"softmax": lambda x: nn.softmax(x)[0], "not clipped": lambda x: (1 + x[0] - x[1]) / 2},
    ),
    row(
        "gradient descent, two steps",
        solver,
        lambda x, A, b: descent(x, A, b, 2, 0.125),
        (f32(2), f32(3, 2), f32(3)),
        {"one step": lambda x, A, b: descent(x, A, b, 1, 0.125), "ascent": lambda x, A, b: descent(x, A, b, 2, -0.125)},
    ),
    row(
        "objective.least_squares",
        lambda w, A, b: library("jaxopt.objective").least_squares(w, (A, b)),
        lambda w, A, b: ((matmul(A, w) - b) ** 2).mean() / 2.0,
        (f32(2), f32(3, 2), f32(3)),
        {
            "sum": lambda w, A, b: ((matmul(A, w) - b) ** 2).sum() / 2,
            "not halved": lambda w, A, b: ((matmul(A, w) - b) ** 2).mean(),
        },
        gradient=True,
    ),
)

FURTHER = (
    row(
        "prox_non_negative_lasso",
        lambda x, r: prox.prox_non_negative_lasso(x, r),
        lambda x, r: nn.relu(x - r),
        (f32(4), positive(f32())),
        {"lasso": lambda x, r: jnp.sign(x) * nn.relu(jnp.abs(x) - r)},
    ),
    row(
        "projection_halfspace",
        lambda x, a: projection.projection_halfspace(x, (a, 1.0)),
        lambda x, a: x - jnp.where(a @ x > 1.0, (a @ x - 1.0) / (a @ a), 0.0) * a,
        (f32(4), f32(4)),
        {"plane": lambda x, a: x - (a @ x - 1) / (a @ a) * a},
    ),
    row(
        "projection_l2_sphere",
        lambda x: projection.projection_l2_sphere(x, 2.0),
        lambda x: 2.0 * x / jnp.sqrt((x * x).sum()),
        (f32(4),),
        {"unit": lambda x: x / jnp.sqrt((x * x).sum())},
    ),
    row(
        "binary_perceptron_loss",
        lambda x: jax.vmap(loss.binary_perceptron_loss)(jnp.array([0, 1, 1, 0]), x),
        lambda x: jnp.maximum(-x * jnp.array([-1.0, 1.0, 1.0, -1.0]), 0.0),
        (f32(4),),
        {"hinge": lambda x: jnp.maximum(1 - x * jnp.array([-1.0, 1.0, 1.0, -1.0]), 0)},
    ),
    row(
        "multiclass_hinge_loss",
        lambda x: loss.multiclass_hinge_loss(2, x),
        lambda x: jnp.maximum(jnp.maximum(x[0], x[1]) + 1.0, jnp.maximum(x[2], x[3] + 1.0)) - x[2],
        (f32(4),),
        {"perceptron": lambda x: x.max() - x[2]},
    ),
)

ROWS = (*FUNCTIONS, *FURTHER)
