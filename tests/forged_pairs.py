"""Pairs of functions that differ, aimed at the rules of the checker: what a forger would write CERTIFIED over.

Each is (left, right, the shapes of its inputs).  All differ at some input at which both are defined, many of them at
ties or on null sets only, or where a divisor, a root or a logarithm is none; two are nearly true.
"""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax

Forged = tuple[Callable[..., Any], Callable[..., Any], tuple[tuple[int, ...], ...]]
ONE, TWO, THREE, FOUR = ((),), ((), ()), ((3,),), ((4,),)


def step(condition: Any) -> Any:
    """1 where it holds, else 0."""
    return jnp.where(condition, 1.0, 0.0)


def apart(v: Any) -> Any:
    """A sum of four magnitudes."""
    return jnp.abs(v[0]) + jnp.abs(v[1]) + jnp.abs(v[2]) + jnp.abs(v[0] + v[1])


def masked_sum(v: Any) -> Any:
    """e^a + max(|w|, -2b²e^a - |w|)/b², whose formal value is 0 at the tie w = b = 0."""
    return jnp.exp(v[0]) + jnp.maximum(jnp.abs(v[1]), -2 * v[2] ** 2 * jnp.exp(v[0]) - jnp.abs(v[1])) / v[2] ** 2


CASES: dict[str, Forged] = {
    "the square of a rectifier is not x|x|": (lambda x: jnp.maximum(x, 0) ** 2, lambda x: x * jnp.abs(x), ONE),
    "another value at the tie": (lambda x: step(x > 0), lambda x: 1 - step(x <= 0) + 1e-3 * step(x == 0), ONE),
    "a clip with another end": (
        lambda x: jnp.where(x < 0, 0.0, jnp.where(x > 1, 1.0, x)),
        lambda x: jnp.where(x <= 0, 0.0, jnp.where(x >= 1, 1.25, x)),
        ONE,
    ),
    "1 at the tie, where the difference is no multiple of what is compared": (
        lambda x: jnp.where(x > 0, 2 * x, jnp.where(x < 0, x, 0.0)),
        lambda x: jnp.where(x > 0, 2 * x, jnp.where(x < 0, x, 1.0)),
        ONE,
    ),
    "the tie of a square": (lambda x: jnp.where(x * x > 1, x, 0.0), lambda x: jnp.where(x * x >= 1, x, 0.0), ONE),
    "three conditions that nearly contradict each other": (
        lambda x, y: step((x > y) & (y > 1) & (x < 1.5)),
        lambda x, y: 0 * x,
        TWO,
    ),
    "two conditions that nearly contradict each other": (
        lambda x: step((x > 1) & (x < 1.0000001)),
        lambda x: 0 * x,
        ONE,
    ),
    "conditions that contradict each other but for the tie": (lambda x: step((x >= 1) & (x <= 1)), jnp.zeros_like, ONE),
    "two conditions that meet in a line": (lambda x, y: step((x >= y) & (y >= x)), lambda x, y: 0 * x, TWO),
    "a clip that is off at 1/2": (
        lambda x: jnp.clip(x, 0, 1),
        lambda x: jnp.where(x <= 0, 0.0, jnp.where(x >= 1, 1.0, x)) + 1e-3 * step(x == 0.5),
        ONE,
    ),
    "steps far away": (lambda x: step(x > 1000.0), lambda x: step(x > 1001.0), ONE),
    "the step of a product": (lambda x, y: step(x > 0) * step(y > 0), lambda x, y: step(x * y > 0), TWO),
    "an eighth of all cases": (
        lambda v: step((v[0] > 0) & (v[1] > 0) & (v[2] > 0)),
        lambda v: step((v[0] > 0) & (v[1] > 0) & (v[2] > 0) & (v.sum() > 1e-3)),
        THREE,
    ),
    "one case of many": (
        apart,
        lambda v: apart(v) + jnp.where((v[0] > v[1]) & (v[1] > v[2]) & (v[2] > 0), v[0] - v[1], 0.0),
        THREE,
    ),
    "the square of a maximum": (lambda v: jnp.max(v) ** 2, lambda v: jnp.max(v * v), THREE),
    "the middle of three": (
        lambda v: v.sum() - jnp.max(v) - jnp.min(v),
        lambda v: jnp.maximum(jnp.minimum(v[0], v[1]), v[2]),
        THREE,
    ),
    "the smaller of two": (lambda v: jnp.sort(v[:2])[0], lambda v: jnp.maximum(v[0], v[1]), THREE),
    "the first of two largest": (lambda v: jnp.argmax(v[:2]).astype(v.dtype), lambda v: step(v[1] >= v[0]), THREE),
    "the last of the largest": (
        lambda v: v[jnp.argmax(v)],
        lambda v: v[2 - jnp.argmax(v[::-1])] + step(v[0] == v[1]),
        THREE,
    ),
    "an infinity at the tie": (
        lambda x: jnp.where(x > 0, -jnp.inf, x),
        lambda x: jnp.where(x >= 0, -jnp.inf, x),
        ONE,
    ),
    "exp of an infinity that is chosen": (
        lambda x: jnp.exp(jnp.where(x > 0, -jnp.inf, x)),
        lambda x: jnp.where(x > 0, 0.0, jnp.exp(x)) + 0.5 * step(x == 0),
        ONE,
    ),
    "a branch by the input": (
        lambda v: lax.cond(v[0] > 0, lambda: v[1], lambda: -v[1]),
        lambda v: jnp.abs(v[1]),
        THREE,
    ),
    "a loop that the input ends": (
        lambda v: lax.while_loop(lambda c: (c[0] > 0) & (c[1] < 3), lambda c: (c[0] - 1, c[1] + 1), (v[0], 0))[0],
        lambda v: v[0] - step(v[0] > 0) - step(v[0] > 1) - step(v[0] > 2.5),
        THREE,
    ),
    "a positive number that is 1": (lambda x: jnp.where(jnp.exp(x) >= 1, 1.0, 2.0), jnp.ones_like, ONE),
}
DIVISORS: dict[str, Forged] = {
    "a divisor that is 0 on a half-line, masked": (
        lambda x: jnp.where(x > 0, 1 / (x + jnp.abs(x)), 0.0),
        lambda x: jnp.where(x > 0, 1 / (x + jnp.abs(x)), 1.0),
        ONE,
    ),
    "x/max(x, 0), masked": (lambda x: jnp.where(x > 0, x / jnp.maximum(x, 0), 0.0), jnp.ones_like, ONE),
    "exp of an infinity": (lambda x: jnp.exp(-1 / jnp.maximum(x, 0)), lambda x: jnp.exp(-1 / x), ONE),
    "the inverse of an infinity": (lambda x: 1 / (1 / jnp.maximum(x, 0)), lambda x: x, ONE),
    "the root of an infinity": (lambda x: lax.rsqrt(1 / jnp.maximum(x, 0)), lambda x: lax.rsqrt(1 / x) + 0 * x, ONE),
    "the minimum of an infinity": (
        lambda x: jnp.minimum(1 / jnp.maximum(x, 0) ** 2, 5.0),
        lambda x: jnp.minimum(1 / x**2, 5.0),
        ONE,
    ),
    "the sign of an infinity": (lambda x: jnp.sign(1 / jnp.maximum(x, 0)), jnp.sign, ONE),
    "tanh of an infinity": (
        lambda x: jnp.tanh(1 / jnp.maximum(x, 0)),
        lambda x: jnp.where(x > 0, jnp.tanh(1 / x), 0.5),
        ONE,
    ),
    "a sum that is 0 as a formal value where a mask is": (
        lambda v: jnp.where((v[1] != 0) | (v[2] != 0), 1 / masked_sum(v), 0.0),
        lambda v: jnp.where((v[1] != 0) | (v[2] != 0), 1 / masked_sum(v), 1.0),
        THREE,
    ),
    "1 + (√u)² for a sign u": (
        lambda x: jnp.where(jnp.tanh(x) > 0, 1 / (1 + jnp.sqrt(jnp.sign(x)) ** 2), 0.0),
        lambda x: 0.5 + 0 * x,
        ONE,
    ),
    "1 + √x √x, masked": (
        lambda x: jnp.where(x > 0, 1 / (1 + jnp.sqrt(x) * jnp.sqrt(x)), 0.0),
        lambda x: 1 / (1 + x),
        ONE,
    ),
}
ROOTS: dict[str, Forged] = {
    "the root of the square of a quotient": (lambda x: jnp.sqrt((x * x / x) ** 2), lambda x: x, ONE),
    "two roots of one square": (lambda x: jnp.sqrt(x * x) * jnp.sqrt(x * x), lambda x: x * jnp.abs(x), ONE),
    "√(9x²) is not 3x": (lambda x: jnp.sqrt(9 * x * x), lambda x: 3 * x, ONE),
    "√2 √3 is not -√6": (lambda x: jnp.sqrt(2.0) * jnp.sqrt(3.0) * x, lambda x: -jnp.sqrt(6.0) * x, ONE),
    "√8 is not -2√2": (lambda x: jnp.sqrt(8.0) * x, lambda x: -2 * jnp.sqrt(2.0) * x, ONE),
    "√2 is no decimal": (lambda x: jnp.sqrt(2.0) * x, lambda x: x * 1.41421, ONE),
    "1/√(3x) with another sign": (
        lambda x: lax.rsqrt(3 * x),
        lambda x: -lax.rsqrt(x) * lax.rsqrt(3 + 0 * x),
        ONE,
    ),
    "1/√(4x) is not 1/(4√x)": (lambda x: lax.rsqrt(4 * x), lambda x: lax.rsqrt(x) / 4, ONE),
    "√x √y where both are below 0": (
        lambda x, y: jnp.sqrt(x * y) * jnp.sqrt(x * y) - x * y + jnp.sqrt(x * x * y * y),
        lambda x, y: jnp.where(x * y > 0, x * y, 1.0) + step(x * y == 0),
        TWO,
    ),
    "a power of a root": (lambda x: (x * x) ** 1.5, lambda x: x * x * x, ONE),
}
LOGARITHMS: dict[str, Forged] = {
    "exp(½ log x²) is not x": (lambda x: jnp.exp(jnp.log(x * x) / 2), lambda x: x, ONE),
    "exp(½ log x² + ½ log x²) is not x": (
        lambda x: jnp.exp(0.5 * jnp.log(x * x) + 0.5 * jnp.log(x * x)),
        lambda x: x,
        ONE,
    ),
    "exp log xy is not x + y": (lambda x, y: jnp.exp(jnp.log(x * y)), lambda x, y: x + y, TWO),
    "log(e^x + e^x) is not x": (lambda x: jnp.log(jnp.exp(x) + jnp.exp(x)), lambda x: x, ONE),
    "log 2e^x is not x": (lambda x: jnp.log(2 * jnp.exp(x)), lambda x: x + 1e-4, ONE),
    "log(1 + e^x) is not even": (lambda x: jnp.log1p(jnp.exp(x)), lambda x: jnp.log1p(jnp.exp(-x)), ONE),
    "the softplus of the other magnitude": (
        lambda x: jnp.maximum(x, 0) + jnp.log1p(jnp.exp(jnp.abs(x))),
        lambda x: jnp.log1p(jnp.exp(x)),
        ONE,
    ),
    "sinh 2 arcsinh x is not 2x": (lambda x: jnp.sinh(2 * jnp.arcsinh(x)), lambda x: 2 * x, ONE),
    "tanh 2 arctanh x": (lambda x: jnp.tanh(2 * jnp.arctanh(x)), lambda x: 2 * x / (1 - x * x), ONE),
    "(e^x)^y is not e^(x + y)": (lambda x, y: jnp.exp(x) ** y, lambda x, y: jnp.exp(x + y), TWO),
    "exp(log x - log y) is not y/x": (lambda x, y: jnp.exp(jnp.log(x) - jnp.log(y)), lambda x, y: y / x, TWO),
    "a logarithm that is compared": (lambda x: jnp.where(jnp.log(x) < 5, 1.0, 2.0), jnp.ones_like, ONE),
}
SIGNS: dict[str, Forged] = {
    "the sign of a multiple by y": (lambda x, y: jnp.sign(x * jnp.exp(y)), lambda x, y: jnp.sign(x * y), TWO),
    "the sign of a negative multiple": (lambda x, y: jnp.sign(-x * jnp.exp(y)), lambda x, y: jnp.sign(x), TWO),
    "the sign of a multiple by what may be 0": (lambda x, y: jnp.sign(x * y * y), lambda x, y: jnp.sign(x), TWO),
    "the sign of a sum of multiples": (
        lambda x, y: jnp.sign(x * jnp.exp(y) + 1),
        lambda x, y: jnp.sign(x + jnp.exp(y)),
        TWO,
    ),
    "the sign of a root that is none": (lambda x: jnp.where(jnp.sign(jnp.sqrt(x)) >= 0, 1.0, 2.0), jnp.ones_like, ONE),
    "the magnitude of 0/0": (lambda x: jnp.where(jnp.abs(x * x / x) >= 0, 1.0, 2.0), jnp.ones_like, ONE),
    "a rectifier of a multiple": (
        lambda x, y: jnp.maximum(x * jnp.exp(y), 0),
        lambda x, y: jnp.maximum(x, 0) * jnp.exp(-y),
        TWO,
    ),
}
ROWS: dict[str, Forged] = {
    "two rows with a maximum each": (
        lambda v: v.reshape(2, 2).max(1).sum(),
        lambda v: jnp.where(v[0] > v[1], v[0] + v[2], v[1] + v[3]),
        FOUR,
    ),
    "two rows in order": (
        lambda v: jnp.sort(v.reshape(2, 2), axis=1)[:, 0].sum(),
        lambda v: jnp.where(v[0] < v[1], v[0] + v[2], v[1] + v[3]),
        FOUR,
    ),
    "the places of two maxima": (
        lambda v: jnp.argmax(v.reshape(2, 2), axis=1).sum().astype(v.dtype),
        lambda v: 2 * jnp.argmax(v[:2]).astype(v.dtype),
        FOUR,
    ),
    "two running maxima": (
        lambda v: lax.cummax(v.reshape(2, 2), axis=1)[:, 1].sum(),
        lambda v: jnp.where(v[2] > v[3], v[0] + v[2], v[1] + v[3]),
        FOUR,
    ),
    "two windows": (
        lambda v: lax.reduce_window(v, -jnp.inf, lax.max, (2,), (2,), "VALID").sum(),
        lambda v: jnp.where(v[0] > v[1], v[0] + v[2], v[1] + v[3]),
        FOUR,
    ),
    "maxima written twice into each place": (
        lambda v: jnp.zeros(2, v.dtype).at[jnp.array([0, 1, 0, 1])].max(v).sum(),
        lambda v: jnp.where(v[0] > v[2], jnp.maximum(v[:2], 0).sum(), jnp.maximum(v[2:], 0).sum()),
        FOUR,
    ),
    "a rectifier in a loop": (
        lambda v: lax.scan(lambda c, x: (jnp.maximum(c + x, 0), c), jnp.zeros((), v.dtype), v)[0],
        lambda v: jnp.maximum(v.sum(), 0),
        THREE,
    ),
    "the logarithm of a quotient of sums": (
        lambda v: jnp.log((jnp.exp(v[0]) + jnp.exp(v[1])) / (1 + jnp.exp(v[2]))),
        lambda v: jnp.log(jnp.exp(v[0]) + jnp.exp(v[1])) - jnp.log(1 + jnp.exp(v[2])) + (v[0] - v[1]) * 1e-5,
        THREE,
    ),
}
FORGED = {**ROWS, **CASES, **DIVISORS, **ROOTS, **LOGARITHMS, **SIGNS}
