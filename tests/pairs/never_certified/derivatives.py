"""Functions with the same values whose derivatives, as JAX takes them, differ; and rules that are applied wrongly."""

import jax
import jax.numpy as jnp
from jax import lax

from .row import Different, Equal, S, V, f64, ind


@jax.custom_jvp
def wrong_sin(x):
    """The sine, with -cos for a derivative."""
    return jnp.sin(x)


wrong_sin.defjvps(lambda t, _, x: -jnp.cos(x) * t)


@jax.custom_jvp
def right_sin(x):
    """The sine, with its derivative written out."""
    return jnp.sin(x)


right_sin.defjvps(lambda t, _, x: jnp.cos(x) * t)


@jax.custom_jvp
def far_sin(x):
    """The sine, with a wrong derivative above 30 only."""
    return jnp.sin(x)


far_sin.defjvps(lambda t, _, x: jnp.where(x > 30, 0.0, jnp.cos(x)) * t)


@jax.custom_vjp
def straight_through(x):
    """Rounded, with the derivative of x."""
    return jnp.round(x)


straight_through.defvjp(lambda x: (jnp.round(x), None), lambda _, t: (t,))


@jax.custom_vjp
def reversed_gradient(x):
    """x, with the derivative of -x."""
    return x


reversed_gradient.defvjp(lambda x: (x, None), lambda _, t: (-t,))


@jax.custom_vjp
def clipped_gradient(x):
    """x, with a cotangent clipped to -5 … 5."""
    return x


clipped_gradient.defvjp(lambda x: (x, None), lambda _, t: (jnp.clip(t, -5, 5),))


@jax.custom_vjp
def right_square(x):
    """x², with its derivative written out."""
    return x * x


right_square.defvjp(lambda x: (x * x, x), lambda x, t: (2 * x * t,))


@jax.custom_vjp
def wrong_square(x):
    """x², with half of its derivative."""
    return x * x


wrong_square.defvjp(lambda x: (x * x, x), lambda x, t: (x * t,))


def stop(x):
    return lax.stop_gradient(x)


def safe(x):
    """The root of x², which has no derivative at 0, chosen away at 0: its derivative there is NaN."""
    return jnp.where(x == 0, 0.0, jnp.sqrt(x * x))


def grad(name, left, right, specs, witness, **settings):
    """A row with equal values; the derivatives are compared too."""
    return Different(name, left, right, specs, witness, wrt="grad", **settings)


DIFFERENT = (
    grad("a stopped factor", lambda x: stop(x) * x, lambda x: x * x, (S,), (3,)),
    grad("a stopped identity", stop, lambda x: x, (S,), (3,)),
    grad("a stopped term", lambda x: x + stop(jnp.sin(x)), lambda x: x + jnp.sin(x), (S,), (3,)),
    grad("a stopped maximum", lambda x: jnp.exp(x - stop(x.max())), lambda x: jnp.exp(x - x.max()), (V,), ((1, 2, 3),)),
    grad("a stopped variance", lambda x: x / jnp.sqrt(1 + stop(jnp.var(x))), lambda x: x / jnp.sqrt(1 + jnp.var(x)), (V,), ((1, 2, 3),)),
    grad("a stopped divisor", lambda x, y: x / stop(y), lambda x, y: x / y, (S, S), (3, 2)),
    grad("a stopped branch", lambda x: jnp.where(x > 30, stop(x), x), lambda x: x, (S,), (32,)),
    grad("a stopped carry", lambda x: lax.scan(lambda c, v: (stop(c) + v, None), x[0] * 0, x)[0], lambda x: x.sum(), (V,), ((1, 2, 3),)),
    grad("a stopped condition's product", lambda x: x * stop(ind(x > 0) * x), lambda x: x * ind(x > 0) * x, (S,), (3,)),
    grad("x - stop(x) + stop(x)", lambda x: stop(x) - x + x * 1, lambda x: x, (S,), (3,)),
    grad("straight through and round", straight_through, jnp.round, (S,), (3.25,)),
    grad("straight through by hand", lambda x: x + stop(jnp.round(x) - x), jnp.round, (S,), (3.25,)),
    grad("a reversed gradient", reversed_gradient, lambda x: x, (S,), (3,)),
    grad("a reversed gradient inside", lambda x: jnp.sin(reversed_gradient(x)), jnp.sin, (S,), (3,)),
    grad("a clipped gradient of a large factor", lambda x: 9 * clipped_gradient(x), lambda x: 9 * x, (S,), (3,)),
    grad("a wrong sine", wrong_sin, jnp.sin, (S,), (3,)),
    grad("a wrong sine composed", lambda x: wrong_sin(x * x), lambda x: jnp.sin(x * x), (S,), (2,)),
    grad("a wrong sine under vmap", jax.vmap(wrong_sin), jnp.sin, (V,), ((1, 2, 3),)),
    grad("a wrong sine under jit", jax.jit(wrong_sin), jnp.sin, (V,), ((1, 2, 3),)),
    grad("a wrong sine and a right one", wrong_sin, right_sin, (S,), (3,)),
    grad("a sine that is wrong far out", far_sin, jnp.sin, (S,), (32,)),
    grad("a wrong square", wrong_square, lambda x: x * x, (S,), (3,)),
    grad("a wrong square in a scan", lambda x: lax.scan(lambda c, v: (c + wrong_square(v), None), x[0] * 0, x)[0], lambda x: jnp.sum(x * x), (V,), ((1, 2, 3),)),
    grad("a wrong square in float64", wrong_square, lambda x: x * x, (f64(),), (3,)),
    grad("a wrong square beside a constant", lambda x: jnp.concatenate([x, wrong_square(x)]), lambda x: jnp.concatenate([x, x * x]), (V,), ((1, 2, 3),)),
    grad("a root of a square that is another far out", safe, lambda x: jnp.where(x > -30, safe(x), -2 * x), (S,), (-32,)),
    grad("a maximum of a value with itself", lambda x: jnp.maximum(jnp.floor(x), x - x + jnp.floor(x)) + x, lambda x: jnp.floor(x) + 2 * x - stop(x), (S,), (3.25,)),
    Different("a derivative as a value: wrong sine", jax.grad(wrong_sin), jnp.cos, (S,), (3,)),
    Different("a derivative as a value: stopped factor", jax.grad(lambda x: stop(x) * x), lambda x: 2 * x, (S,), (3,)),
    Different("a derivative as a value: straight through", jax.grad(straight_through), lambda x: 0 * x, (S,), (3.25,)),
    Different("a derivative as a value: round", jax.grad(jnp.round), lambda x: 1 + 0 * x, (S,), (3.25,)),
    Different("a derivative as a value: a step inside", jax.grad(lambda x: x * jnp.floor(x)), lambda x: jnp.floor(x) + x, (S,), (3.25,)),
    Different("a derivative as a value: a maximum with itself", jax.grad(lambda x: jnp.maximum(jax.nn.relu(x), jnp.maximum(x, 0))), lambda x: 2 * ind(x > 0), (S,), (3,)),
    Different("a second derivative of a kink", jax.grad(jax.grad(jax.nn.relu)), lambda x: 1 + 0 * x, (S,), (3,)),
    Different("a second derivative of a wrong square", jax.grad(jax.grad(wrong_square)), lambda x: 2 + 0 * x, (S,), (3,)),
    Different("the sign of a wrong derivative far out", lambda x: jnp.sign(jax.grad(far_sin)(x)) ** 2, lambda x: 1 + 0 * x, (S,), (32,)),
)  # fmt: skip

EQUAL = (
    Equal("a right sine", right_sin, jnp.sin, (S,), wrt="grad"),
    Equal("a right square", right_square, lambda x: x * x, (S,), wrt="grad"),
    Equal("values of a wrong sine", wrong_sin, jnp.sin, (S,)),
    Equal("values of a stopped factor", lambda x: stop(x) * x, lambda x: x * x, (S,)),
    Equal("values of a reversed gradient", reversed_gradient, lambda x: x, (S,)),
    Equal("a stopped maximum of a softmax", lambda x: jax.nn.softmax(x - stop(x.max())), jax.nn.softmax, (V,), wrt="grad"),
    Equal("straight through twice", straight_through, lambda x: straight_through(x) * 1, (S,), wrt="grad"),
    Equal("a derivative as a value: a product", jax.grad(lambda x: x * jnp.sin(x)), lambda x: jnp.sin(x) + x * jnp.cos(x), (S,)),
    Equal("a derivative as a value: a stopped factor", jax.grad(lambda x: stop(x) * x), lambda x: x, (S,)),
    Equal("a derivative as a value: a step inside", jax.grad(lambda x: x * jnp.floor(x)), jnp.floor, (S,)),
    Equal("a second derivative", jax.grad(jax.grad(lambda x: x**3)), lambda x: 6 * x, (S,)),
    Equal("tanh and its formula", jnp.tanh, lambda x: 1 - 2 / (jnp.exp(2 * x) + 1), (S,), wrt="grad"),
)  # fmt: skip
