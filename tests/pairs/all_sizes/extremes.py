"""Programs that look at 1/0, at −∞, or at the end of a long axis: each pair differs at its witness, few beside it do.

A twin is the same program with a number in that place that is not 0, not −∞, or proved to be there.
"""

from collections.abc import Callable, Mapping

import jax.numpy as jnp
import numpy as np
from jax import lax

from .row import Row, row

FAR = 1000
"""Behind this place a program is another one."""


def identity(x):
    return x


def places(x):
    return jnp.arange(x.shape[0])


def beyond(x):
    """How far a place is beyond `FAR`, below 0 before it."""
    return places(x).astype(jnp.float32) - FAR


def unless(condition, x):
    """x, and 2·x where a condition fails."""
    return jnp.where(condition, x, 2.0 * x)


def of_places(function: Callable) -> Callable:
    """x where a function of whole numbers, which are places and 1000, is finite."""
    return lambda x: unless(jnp.isfinite(function(places(x), jnp.full(x.shape, FAR, jnp.int32))), x)


def inverse(whole):
    return 1.0 / whole.astype(jnp.float32)


def largest(x):
    """The greatest entry above a million, −∞ if there is none."""
    return jnp.max(jnp.where(x > 1e6, x, -jnp.inf))


def compared(compare: Callable, base: Callable) -> Callable:
    """x where a comparison holds of base and base + (i − 1000)."""
    return lambda x: unless(compare(base(x) + beyond(x), base(x)), x)


def counted(start: Callable, step: Callable, look: Callable, by: float = 1.0) -> Callable:
    """A scan of one carry, and of the number of its steps, of which those count twice at which a look at it fails."""

    def function(x):
        def both(carries, r):
            carry, count = carries
            return (step(carry, r), by * count + jnp.where(look(carry), 1.0, 2.0)), None

        return lax.scan(both, (start(x), x[0]), x)[0][1]

    return function


def count(x):
    return x[0] + x.shape[0]


def plus(carry, r):
    return carry + r


def grows(carry):
    return carry + 1.0 > carry


def always(carry):
    return True


def longer(factor: int, more: int = 0) -> Callable:
    """x, times 1 + what factor·(the second size) is longer than the first size, FAR and more."""
    return lambda x, y: x * (1.0 + jnp.maximum(factor * y.shape[0] - x.shape[0] - FAR - more, 0))


def first(x, y):
    return x


def minus_infinity(x):
    return jnp.full((), -jnp.inf)


FALSE: tuple[Row, ...] = (
    row("a remainder that is 0", of_places(lambda i, k: inverse(lax.rem(i + 1, k))), identity, "n"),
    row(
        "the logarithm of a remainder",
        of_places(lambda i, k: jnp.log(lax.rem(i + 1, k).astype(jnp.float32))),
        identity,
        "n",
    ),
    row(
        "the root of a remainder",
        of_places(lambda i, k: lax.rsqrt(lax.rem(i + 1, k).astype(jnp.float32))),
        identity,
        "n",
    ),
    row(
        "a whole quotient that is 0",
        of_places(lambda i, k: inverse(lax.div(jnp.maximum(2 * k - i, 0), k))),
        identity,
        "n",
    ),
    row("a clamp that ends at 0", lambda x: unless(jnp.isfinite(1.0 / lax.clamp(1.0, x, 0.0)), x), identity, "n"),
    row("-inf + a > -inf", compared(jnp.greater, minus_infinity), lambda x: unless(beyond(x) > 0, x), "n"),
    row("a masked maximum + a > itself", compared(jnp.greater, largest), lambda x: unless(beyond(x) > 0, x), "n"),
    row(
        "a masked maximum + a >= itself", compared(jnp.greater_equal, largest), lambda x: unless(beyond(x) >= 0, x), "n"
    ),
    row("a masked maximum + a < itself", compared(jnp.less, largest), lambda x: unless(beyond(x) < 0, x), "n"),
    row("a masked maximum + a = itself", compared(jnp.equal, largest), lambda x: unless(beyond(x) == 0, x), "n"),
    row("scan: a carry that begins at 1/0", counted(lambda x: 1.0 / x[0], plus, jnp.isfinite), count, "n"),
    row("scan: a carry that begins at log(0)", counted(lambda x: jnp.log(x[0] * x[0]), plus, jnp.isfinite), count, "n"),
    row(
        "scan: a carry that becomes 1/0", counted(lambda x: x[0], lambda c, r: 1.0 / (c - r), jnp.isfinite), count, "n"
    ),
    row("scan: a carry that begins at -inf", counted(minus_infinity, plus, grows), count, "n"),
    row(
        "scan: no sum, beside one that begins at -inf",
        counted(minus_infinity, plus, grows, 0.5),
        counted(minus_infinity, plus, always, 0.5),
        "n",
    ),
    row("a size with the name of a part", longer(4), first, "n", "n_rest", given=("mod(n, 4) == 0",)),
    row("a size with the name of a difference", longer(1, 1), first, "n", "n_rest", given=("n >= m",)),
)

WITNESSES: Mapping[str, tuple[np.ndarray, ...]] = {
    **{row.name: (np.ones(FAR + 3, np.float32),) for row in FALSE if row.shapes == ("n",)},
    **{row.name: (np.zeros(3, np.float32),) for row in FALSE if "1/0" in row.name or "log(0)" in row.name},
    "a size with the name of a part": (np.ones(4, np.float32), np.ones(FAR, np.float32)),
    "a size with the name of a difference": (np.ones(4, np.float32), np.ones(2 * FAR, np.float32)),
}
"""Row → an input at which its functions differ."""

TRUE: tuple[Row, ...] = (
    row("a remainder and 1", of_places(lambda i, k: inverse(lax.rem(i + 1, k) + 1)), identity, "n"),
    row("a whole quotient and 1", of_places(lambda i, k: inverse(lax.div(i, k) + 1)), identity, "n"),
    row("a clamp that ends at 1", lambda x: unless(jnp.isfinite(1.0 / lax.clamp(1.0, x, 2.0)), x), identity, "n"),
    row("a clamp", lambda x: lax.clamp(-1.0, x, 1.0), lambda x: jnp.minimum(jnp.maximum(x, -1.0), 1.0), "n"),
    row("a maximum + a > itself", compared(jnp.greater, jnp.max), lambda x: unless(beyond(x) > 0, x), "n"),
    row(
        "a masked maximum of a row with its own place + a > itself",
        lambda x: unless((m := jnp.where(jnp.tri(x.shape[0]) > 0, x, -jnp.inf).max(1)) + beyond(x) > m, x[0]),
        lambda x: unless(beyond(x) > 0, x[0]),
        "n,n",
    ),
    row("a masked maximum is itself", lambda x: unless(largest(x) >= largest(x), x), identity, "n"),
    row("scan: a carry that begins at x", counted(lambda x: x[0], plus, jnp.isfinite), count, "n"),
    row(
        "scan: a carry that stays above 0",
        counted(lambda x: x[0], lambda c, r: 1.0 / (1.0 + c * c), jnp.isfinite),
        count,
        "n",
    ),
    row("scan: a carry that grows", counted(lambda x: x[0], plus, grows), count, "n"),
    row(
        "scan: no sum, beside a carry that grows",
        counted(lambda x: x[0], plus, grows, 0.5),
        counted(lambda x: x[0], plus, always, 0.5),
        "n",
    ),
    row(
        "a size with a name of its own",
        lambda x, y: x * (x.shape[0] % 4 + 1.0),
        first,
        "n",
        "m",
        given=("mod(n, 4) == 0",),
    ),
)
