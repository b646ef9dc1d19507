"""Programs of a size n that are equal for small n only: a verdict for all sizes is about all of them."""

import jax
import jax.numpy as jnp
import numpy as np

from .row import Different, Equal, f32

SCOPE = jax.export.SymbolicScope()
n, m = jax.export.symbolic_shape("n, m", scope=SCOPE)

N, NN, NM, N4 = f32(n), f32(n, n), f32(n, m), f32(n, 4)


def ramp(x):
    """0, 1, 2, … as long as x."""
    return jnp.arange(x.shape[0]).astype(jnp.float32)


def apart(x):
    """|i - j| of the places of x."""
    places = jnp.arange(x.shape[0])
    return jnp.abs(places[:, None] - places[None, :])


def windowed(x, width):
    """A softmax over a window."""
    return jax.nn.softmax(jnp.where(apart(x) < width, x[:, None] * x[None, :], -jnp.inf)) @ x


def newton(p, k):
    """The elementary symmetric polynomial e_k by Newton's identities from power sums."""
    e = [jnp.ones(())]
    for j in range(1, k + 1):
        e.append(sum(((-1.0) ** (i - 1) * e[j - i] * jnp.sum(p**i) for i in range(1, j + 1)), jnp.zeros(())) / j)
    return e[k]


def gram(x):
    return jnp.matmul(x.T, x, precision="highest")


def det4(a):
    """The determinant of a 4×4 matrix by its first row."""
    minor = lambda k: jnp.linalg.det(jnp.delete(jnp.delete(a, 0, 0), k, 1))
    return sum((-1.0) ** k * a[0, k] * minor(k) for k in range(4))


def places(x):
    return jnp.arange(x.shape[0])


def large(x):
    """2^30 at each place, as int32."""
    return 2**30 + 0 * places(x)


def window(x, weights):
    """Sums over windows of three places, one beyond each end, with these weights."""
    return jax.lax.conv_general_dilated(x[None, None], jnp.asarray(weights, x.dtype)[None, None], (1,), [(1, 1)])[0, 0]


def pooled(x, combine, outside, count, beyond):
    """The greatest or least of windows, which begin some places before the first one."""
    return jax.lax.reduce_window(x, np.asarray(outside, x.dtype), combine, (count,), (1,), [(beyond, 0)])


def most(x, count, beyond):
    return pooled(x, jax.lax.max, -np.inf, count, beyond)


def least(x, count, beyond):
    return pooled(x, jax.lax.min, np.inf, count, beyond)


def first(x):
    """x at the first place, -inf elsewhere."""
    return jnp.where(places(x) == 0, x, -jnp.inf)


def told(condition):
    """1 or 2."""
    return jnp.where(condition, 1.0, 2.0)


FIVE = (1.0, 2.0, 4.0, 3.0, 5.0)
EIGHT = (1.0, 2.0, 4.0, 3.0, 5.0, 7.0, 6.0, 9.0)

DIFFERENT = (
    Different("the first four", lambda x: x[:4].sum(), lambda x: x.sum(), (N,), (FIVE,)),
    Different("the first seven", lambda x: x[:7].sum(), lambda x: x.sum(), (N,), (EIGHT,)),
    Different("the largest of the first four", lambda x: x[:4].max(), lambda x: x.max(), (N,), (FIVE,)),
    Different("the last four", lambda x: x[-4:].sum(), lambda x: x.sum(), (N,), (FIVE,)),
    Different("the first four of the reversed", lambda x: x[::-1][:4].sum(), lambda x: x.sum(), (N,), (FIVE,)),
    Different("a window of 6", lambda x: windowed(x, 6), lambda x: jax.nn.softmax(x[:, None] * x[None, :]) @ x, (N,), (tuple(v / 4 for v in EIGHT),)),
    Different("a window of 4", lambda x: windowed(x, 4), lambda x: windowed(x, 99), (N,), (tuple(v / 4 for v in FIVE),)),
    Different("two windows", lambda x: windowed(x, 10), lambda x: windowed(x, 11), (N,), (tuple(np.arange(12.0) / 8),)),
    Different("a clipped ramp", lambda x: jnp.minimum(ramp(x), 3.0) * x, lambda x: ramp(x) * x, (N,), (FIVE,)),
    Different("a clipped integer ramp", lambda x: jnp.minimum(jnp.arange(x.shape[0]), 3).astype(jnp.float32) * x, lambda x: ramp(x) * x, (N,), (FIVE,)),
    Different("a ramp modulo 4", lambda x: (jnp.arange(x.shape[0]) % 4).astype(jnp.float32) * x, lambda x: ramp(x) * x, (N,), (FIVE,)),
    Different("a ramp compared", lambda x: jnp.where(jnp.arange(x.shape[0]) < 4, x, 0.0), lambda x: x, (N,), (FIVE,)),
    Different("a ramp in int8", lambda x: jnp.arange(x.shape[0], dtype=jnp.int8).astype(jnp.float32) * x, lambda x: ramp(x) * x, (N,), (np.ones(130),)),
    Different("a branch on the size", lambda x: x * (2.0 if x.shape[0] > 3 else 1.0), lambda x: x, (N,), (FIVE,)),
    Different("a branch on the exact size", lambda x: x * (2.0 if x.shape[0] == 5 else 1.0), lambda x: x, (N,), (FIVE,)),
    Different("a branch on a large size", lambda x: x * (2.0 if x.shape[0] >= 8 else 1.0), lambda x: x, (N,), (EIGHT,)),
    Different("n modulo 5", lambda x: x * (x.shape[0] % 5), lambda x: x * x.shape[0], (N,), (FIVE,)),
    Different("n modulo 4 and a quotient", lambda x: x * (x.shape[0] // 4), lambda x: 0 * x, (N,), (FIVE,)),
    Different("a polynomial in n", lambda x: x * ((x.shape[0] - 1) * (x.shape[0] - 2) * (x.shape[0] - 3)), lambda x: 0 * x, (N,), (FIVE,)),
    Different("a polynomial in n and m", lambda x: x * ((x.shape[0] - 1) * (x.shape[0] - 2) * (x.shape[0] - 3) * (x.shape[1] - 1) * (x.shape[1] - 3) * (x.shape[1] - 2)), lambda x: 0 * x, (NM,), (np.ones((5, 4)),)),
    Different("a fourth symmetric polynomial", lambda x: newton(jax.nn.softmax(x), 4), lambda x: 0 * x[0], (N,), ((0.0,) * 4,)),
    Different("a fourth symmetric polynomial of x", lambda x: newton(x, 4), lambda x: 0 * x[0], (N,), ((1.0, 2.0, 3.0, 4.0),)),
    Different("a fifth symmetric polynomial", lambda x: newton(x, 5), lambda x: 0 * x[0], (N,), (FIVE,)),
    Different("a Gram determinant", lambda x: det4(gram(x)), lambda x: 0 * x[0, 0], (N4,), (np.eye(4) + np.eye(4)[::-1] / 2,)),
    Different("a Gram determinant of 5 rows", lambda x: det4(gram(x)), lambda x: 0 * x[0, 0], (N4,), (np.eye(5, 4) + np.eye(5, 4)[::-1] / 2,)),
    Different("a product over four places", lambda x: jnp.prod(x[:4]), lambda x: jnp.prod(x), (N,), (FIVE,)),
    Different("a difference of the fourth order", lambda x: jnp.sum(jnp.abs(jnp.diff(x, n=4))), lambda x: 0 * x[0], (N,), (FIVE,)),
    Different("an entry above the fourth diagonal", lambda x: jnp.triu(x, 3).sum(), lambda x: 0 * x[0, 0], (NN,), (np.ones((5, 5)),)),
    Different("a band of a matrix", lambda x: jnp.tril(x, 3).sum(), lambda x: x.sum(), (NN,), (np.ones((5, 5)),)),
    Different("a fourth power of a shift", lambda x: jnp.linalg.matrix_power(jnp.tril(x, -1), 4), lambda x: 0 * x, (NN,), (np.ones((5, 5)),)),
    Different("a shift by 4", lambda x: x[4:].sum(), lambda x: 0 * x[0], (N,), (FIVE,)),
    Different("a count of places", lambda x: x * jnp.sum(jnp.where(ramp(x) > 3, 1.0, 0.0)), lambda x: 0 * x, (N,), (FIVE,)),
    Different("a loop of at most 3 rounds", lambda x: jax.lax.fori_loop(0, jnp.minimum(x.shape[0], 3), lambda i, c: c + x[i], 0 * x[0]), lambda x: x.sum(), (N,), (FIVE,)),
    Different("a top of at most 4", lambda x: jnp.sort(x)[::-1][:4].sum(), lambda x: x.sum(), (N,), (FIVE,)),
    Different("integers of 32 bits added at one place", lambda x: x * jnp.zeros_like(places(x)).at[0 * places(x)].add(large(x))[0].astype(jnp.float32), lambda x: x * (x.shape[0] * 2.0**30), (N,), (FIVE,), widths=True),
    Different("integers of 32 bits added at their places", lambda x: x * large(x).at[places(x)].add(large(x)).astype(jnp.float32), lambda x: x * 2.0**31, (N,), (FIVE,), widths=True),
    Different("an integer of 32 bits added at the first place", lambda x: x * large(x).at[0].add(2**30).astype(jnp.float32), lambda x: x.at[0].multiply(2.0) * 2.0**30, (N,), (FIVE,), widths=True),
    Different("integers of 32 bits in a window", lambda x: x * window(large(x), (1, 1, 1)).astype(jnp.float32), lambda x: x * window(jnp.full_like(x, 2.0**30), (1, 1, 1)), (N,), (FIVE,), widths=True),
    Different("places times large weights", lambda x: x * window(places(x), (2**30, 2**30, 2**30)).astype(jnp.float32), lambda x: x * window(ramp(x), (2.0**30, 2.0**30, 2.0**30)), (N,), (FIVE,), widths=True),
    Different("-inf and inf of an empty window", lambda x: told(jnp.isnan(most(x, 1, 1) + least(x, 1, 1))), lambda x: jnp.full(x.shape[0] + 1, 2.0), (N,), (FIVE,)),
    Different("-inf and inf of an empty window of two", lambda x: told(jnp.isnan(most(x, 2, 2) + least(x, 2, 2))), lambda x: jnp.full(x.shape[0] + 1, 2.0), (N,), (FIVE,)),
    Different("-inf and inf of a long empty window", lambda x: told(jnp.isnan(most(x, 6, 6) + least(x, 6, 6))), lambda x: jnp.full(x.shape[0] + 1, 2.0), (N,), (FIVE,)),
    Different("the least of what is masked is finite", lambda x: told(jnp.isfinite(first(x).min())), lambda x: 0 * x[0] + 1, (N,), (FIVE,)),
    Different("the least of what is masked, less itself", lambda x: told(jnp.isnan(first(x).min() - first(x).min())), lambda x: 0 * x[0] + 2, (N,), (FIVE,)),
)  # fmt: skip

EQUAL = (
    Equal("a sum reversed", lambda x: x[::-1].sum(), lambda x: x.sum(), (N,)),
    Equal("a mean", jnp.mean, lambda x: x.sum() / x.shape[0], (N,)),
    Equal("a softmax moved", jax.nn.softmax, lambda x: jax.nn.softmax(x + 1), (N,)),
    Equal("a softmax of its quotient", jax.nn.softmax, lambda x: jnp.exp(x) / jnp.exp(x).sum(), (N,)),
    Equal("a ramp times x", lambda x: ramp(x) * x + x, lambda x: (ramp(x) + 1) * x, (N,)),
    Equal("a square expanded", lambda x: (x + 1) ** 2, lambda x: x * x + 2 * x + 1, (NM,)),
    Equal("products of matrices", lambda x: jnp.matmul(x.T, x, precision="highest"), lambda x: jnp.einsum("ki,kj->ij", x, x, precision="highest"), (NM,)),
    Equal("the size as a sum", lambda x: x * x.shape[0], lambda x: x * jnp.ones_like(x).sum(), (N,)),
    Equal("integers added at one place", lambda x: x * jnp.zeros_like(places(x)).at[0 * places(x)].add(3)[0].astype(jnp.float32), lambda x: x * (3 * x.shape[0]), (N,)),
    Equal("integers added at their places", lambda x: x * places(x).at[places(x)].add(places(x)).astype(jnp.float32), lambda x: x * 2 * ramp(x), (N,)),
    Equal("an integer added at the first place", lambda x: x * places(x).at[0].add(7).astype(jnp.float32), lambda x: (x * ramp(x)).at[0].add(7 * x[0]), (N,)),
    Equal("integers in a window", lambda x: x * window(places(x), (1, 2, 1)).astype(jnp.float32), lambda x: x * window(ramp(x), (1, 2, 1)), (N,)),
    Equal("greatest and least of windows are finite", lambda x: told(jnp.isnan(most(x, 2, 1) + least(x, 2, 1))), lambda x: jnp.full(x.shape[0], 2.0), (N,)),
    Equal("running minima are finite", lambda x: told(jnp.isnan(jax.lax.cummin(x))), lambda x: jnp.full(x.shape[0], 2.0), (N,)),
    Equal("the greatest of what is masked is finite", lambda x: told(jnp.isfinite(first(x).max())), lambda x: 0 * x[0] + 1, (N,)),
    Equal("transposed twice", lambda x: x.T.T, lambda x: x, (NM,)),
)  # fmt: skip
