"""diffrax: single steps of Runge–Kutta methods against their tableaux, and interpolations."""

import jax.numpy as jnp

from ..pair import f32, matmul
from ..row import row
from .library import library

dfx = library("diffrax")

H = 0.25
Y = (f32(3),)
TABLEAUX = {
    "Euler": ([], [1.0]),
    "Heun": ([[1.0]], [0.5, 0.5]),
    "Midpoint": ([[0.5]], [0.0, 1.0]),
    "Ralston": ([[2 / 3]], [0.25, 0.75]),
    "Bosh3": ([[0.5], [0.0, 0.75]], [2 / 9, 1 / 3, 4 / 9]),
}
"""Method → the rows of its matrix below the first, and its weights."""


def field(t, y, _=None):
    return jnp.tanh(y[::-1]) * y + t


def stepped(name, f=field):
    """One step of size H from t = 0 by diffrax."""

    def step(y):
        solver = getattr(dfx, name)()
        term = dfx.ODETerm(f)
        state = solver.init(term, 0.0, H, y, None)
        return solver.step(term, 0.0, H, y, None, state, made_jump=False)[0]

    return step


def by_tableau(rows, weights, f=field):
    """y + h Σ bᵢ kᵢ with kᵢ = f(cᵢ h, y + h Σ aᵢⱼ kⱼ)."""

    def step(y):
        slopes = [f(0.0, y)]
        for line in rows:
            slopes.append(f(sum(line) * H, y + H * sum(a * k for a, k in zip(line, slopes, strict=True))))
        return y + H * sum(b * k for b, k in zip(weights, slopes, strict=True))

    return step


def integrated(y, steps=3):
    solution = dfx.diffeqsolve(
        dfx.ODETerm(lambda t, y, args: -y),
        dfx.Euler(),
        0.0,
        steps * H,
        H,
        y,
        saveat=dfx.SaveAt(t1=True),
        adjoint=dfx.DirectAdjoint(),
        max_steps=steps,
        throw=False,
    )
    return solution.ys[0]


LINEAR = lambda t, y, _=None: y

STEPS = tuple(
    row(
        f"{name}, one step",
        stepped(name),
        by_tableau(*TABLEAUX[name]),
        Y,
        {
            "Euler" if name != "Euler" else "twice the step": by_tableau([], [1.0 if name != "Euler" else 2.0]),
            "weights reversed and halved": by_tableau(TABLEAUX[name][0], [w / 2 for w in TABLEAUX[name][1][::-1]]),
        },
        gradient=name in ("Euler", "Heun"),
    )
    for name in TABLEAUX
)

ROWS = (
    *STEPS,
    row(
        "Heun on y′ = y is a Taylor polynomial",
        stepped("Heun", LINEAR),
        lambda y: y * (1.0 + H + H**2 / 2.0),
        Y,
        {"first order": lambda y: y * (1 + H), "third order": lambda y: y * (1 + H + H**2 / 2 + H**3 / 6)},
    ),
    row(
        "Bosh3 on y′ = y is a Taylor polynomial",
        stepped("Bosh3", LINEAR),
        lambda y: y * (1.0 + H + H**2 / 2.0 + H**3 / 6.0),
        Y,
        {"second order": lambda y: y * (1 + H + H**2 / 2), "exponential": lambda y: y * jnp.exp(H)},
    ),
    row(
        "Tsit5 on y′ = y has order five",
        stepped("Tsit5", lambda t, y, args: 0.0 * y + t**3),
        lambda y: y + H**4 / 4.0,
        Y,
        {"order": lambda y: y + H**4 / 3, "nothing": lambda y: y + 0},
    ),
    row(
        "Euler steps of a decay",
        integrated,
        lambda y: y * 0.75**3,
        Y,
        {"two": lambda y: y * 0.75**2, "exponential": lambda y: y * jnp.exp(-0.75)},
    ),
    row(
        "LinearInterpolation",
        lambda y: dfx.LinearInterpolation(ts=jnp.array([0.0, 1.0, 3.0]), ys=y).evaluate(2.0),
        lambda y: (y[1] + y[2]) / 2.0,
        Y,
        {"left": lambda y: y[1], "of times": lambda y: y[1] / 3 + 2 * y[2] / 3},
    ),
    row(
        "linear terms multiplied",
        lambda A, y: dfx.ODETerm(lambda t, y, args: matmul(A, y)).vf_prod(0.0, y, None, H),
        lambda A, y: matmul(H * A, y),
        (f32(3, 3), f32(3)),
        {"no step": matmul, "transposed": lambda A, y: H * matmul(A.T, y)},
    ),
)
