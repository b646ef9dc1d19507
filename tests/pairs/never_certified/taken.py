"""Attacks on entries that are taken before they are computed, and on cases that leave out what has measure zero."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn
from jax.scipy.special import betainc, betaln, gammaln

import uat_jax as uj

from .row import Different, Equal, S, V, f32, ind

A = f32(3, 3)
P = uj.positive(V)
INSIDE, SHAPE = uj.interval(V, 0.125, 0.875), uj.interval(V, 0.25, 3.5)
COUNTS = np.array([0, 1, 5], np.float32)
EYE = np.eye(3, dtype=np.float32)
TWICE, AGAIN = np.array([0, 0, 1]), np.array([0, 1, 1])
TWO = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], np.float32)
TURNED = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], np.float32)
COUNTED = np.array([[1, 1, 0], [0, 1, 0]], np.float32)
SQUARE = ((1, 2, 3), (4, 5, 6), (7, 8, 9))


def diagonal(f):
    """The derivatives of a function of each entry, read off its Jacobian."""
    return lambda x: jnp.diag(jax.jacfwd(f)(x))


def beside(f):
    """The entries beside the diagonal."""
    return lambda x: jnp.diag(jnp.roll(jax.jacfwd(f)(x), 1, 0))


DIFFERENT = (
    Different("rows of a mask with other counts", lambda x: jnp.log(COUNTED @ jnp.exp(x)), lambda x: jnp.stack([x[1], jax.nn.logsumexp(x[:2])]), (V,), ((1, 2, 3),)),
    Different("a term of a mask too many", lambda x: jax.nn.logsumexp(x + jnp.array([0, 0, -jnp.inf])), jax.nn.logsumexp, (V,), ((1, 2, 3),)),
    Different("a mask of weights", lambda x: jnp.log((2 * COUNTED[0] * jnp.exp(x)).sum()), lambda x: jax.nn.logsumexp(x[:2]), (V,), ((1, 2, 3),)),
    Different("the diagonal of a Jacobian and its inverse", lambda x: jnp.log(diagonal(jnp.exp)(x)), lambda x: -x, (V,), ((1, 2, 3),)),
    Different("beside the diagonal", lambda x: beside(jnp.exp)(x) + 1, lambda x: jnp.exp(x) + 1, (V,), ((1, 2, 3),)),
    Different("two ones in a row", lambda x: jnp.log((TWO * jnp.exp(x)[None]).sum(1)), lambda x: x, (V,), ((1, 2, 3),)),
    Different("ones at other places", lambda x: jnp.log(TURNED @ jnp.exp(x)), lambda x: x, (V,), ((1, 2, 3),)),
    Different("a mask with a weight", lambda x: jnp.log((2 * TURNED * jnp.exp(x)[None]).sum(1)), lambda x: x[np.array([1, 2, 0])], (V,), ((1, 2, 3),)),
    Different("counts in another order", lambda x: gammaln(x + COUNTS), lambda x: gammaln(x + COUNTS[::-1]), (P,), ((1, 2, 3),)),
    Different("a step of the recurrence too many", lambda x: gammaln(x + (COUNTS + 1)), lambda x: gammaln(x + COUNTS) + jnp.log(x + COUNTS + 1), (P,), ((1, 2, 3),)),
    Different("log gamma below 0, where it is defined too", lambda x: gammaln(jnp.minimum(x, 1)) + nn.relu(x), lambda x: gammaln(jnp.minimum(x, 1)) + jnp.where(x > 0, x, 5), (S,), (-0.5,)),
    Different("digamma below 0, where it is defined too", lambda x: lax.digamma(jnp.minimum(x, 1)) + nn.relu(x), lambda x: lax.digamma(jnp.minimum(x, 1)) + jnp.where(x > 0, x, 5), (S,), (-0.5,)),
    Different("a beta function of other counts", lambda x: betaln(x, COUNTS + 1), lambda x: gammaln(x) + gammaln(COUNTS + 2) - gammaln(x + COUNTS + 1), (SHAPE,), ((1, 2, 3),)),
    Different("Bessel functions of another order", lambda x: lax.bessel_i0e(jnp.abs(x)) + nn.relu(x), lambda x: lax.bessel_i1e(x) + nn.relu(x), (V,), ((1, 2, 3),)),
    Different("shapes that are not exchanged", lambda a, b, x: betainc(a, b, x), lambda a, b, x: 1 - betainc(a, b, 1 - x), (SHAPE, SHAPE, INSIDE), ((1, 1, 1), (3, 3, 3), (0.5, 0.5, 0.5))),
    Different("a triangle without its diagonal", lambda a: jnp.log(jnp.exp(jnp.diag(jnp.tril(a)))), lambda a: jnp.diag(jnp.tril(a, -1)), (A,), (SQUARE,)),
    Different("an array and its transpose", lambda a: ind(a == a.T) + jnp.abs(a), lambda a: jnp.abs(a) + 0 * a, (A,), (SQUARE,)),
    Different("the middle of a row turned round", lambda x: ind(x >= x[::-1]) * jnp.abs(x), lambda x: ind(x > x[::-1]) * jnp.abs(x), (V,), ((1, 2, 3),)),
    Different("clipped numbers that are equal", lambda x, y: ind(nn.relu(x) >= nn.relu(y)) * jnp.abs(x), lambda x, y: ind(nn.relu(x) > nn.relu(y)) * jnp.abs(x), (S, S), (-1, -2)),
    Different("a whole part at a threshold", lambda x: ind(jnp.floor(x) >= 5) * jnp.abs(x), lambda x: ind(jnp.floor(x) > 5) * jnp.abs(x), (S,), (5.5,)),
    Different("an extreme among its members", lambda x: ind(x >= x.max()) * jnp.abs(x), lambda x: ind(x > x.max()) * jnp.abs(x), (V,), ((1, 2, 3),)),
    Different("a masked sum with NaN beside", lambda x: ind((EYE * jnp.log(x)[None]).sum(1) > 0), lambda x: ind(jnp.log(x) > 0), (V,), ((-1, 2, 3),)),
    Different("a product with a permutation and NaN", lambda x: ind(jnp.asarray(TURNED) @ jnp.log(x) > 0), lambda x: ind(jnp.log(x[np.array([1, 2, 0])]) > 0), (V,), ((-1, 2, 3),)),
    Different("a guard of one entry for a sum of all", lambda x: ind(jnp.where(x > 0, (EYE * jnp.log(x)[None]).sum(1), 0) >= 0), lambda x: ind(jnp.where(x > 0, jnp.log(x), 0) >= 0), (V,), ((-1, 2, 3),)),
    Different("an entry that a mask leaves 0, or NaN", lambda x: ind((EYE * jnp.log(x)[None])[1, 0] >= 0) + x, lambda x: 1 + x, (V,), ((-1, 2, 3),)),
    Different("a logarithm of counts, caught", lambda x: ind(jnp.log(x - COUNTS) > -9), lambda x: 0 * x + 1, (P,), ((1, 0.5, 9),)),
    Different("the sign of what stands at other places", lambda x: jnp.where(x >= 0, jnp.abs((TURNED * x[None]).sum(1)), 0), lambda x: jnp.where(x >= 0, (TURNED * x[None]).sum(1), 0), (V,), ((1, -2, 3),)),
    Different("exchanged shapes where both are undefined", lambda a, b, x: ind(betainc(a, b, x) + betainc(b, a, 1 - x) > 0.5), lambda a, b, x: 1 + 0 * x, (V, V, V), ((1, 1, 1), (2, 2, 2), (1.5, 1.5, 1.5))),
    Different("one entry at two places", lambda x: ind(x[TWICE] >= x[AGAIN]) * jnp.abs(x), lambda x: ind(x[TWICE] > x[AGAIN]) * jnp.abs(x), (V,), ((1, 2, 3),)),
    Different("a half that two arrays share", lambda x, y: ind(jnp.append(x, y) >= jnp.append(x, y[::-1])) * jnp.abs(jnp.append(x, y)), lambda x, y: ind(jnp.append(x, y) > jnp.append(x, y[::-1])) * jnp.abs(jnp.append(x, y)), (V, V), ((1, 2, 3), (4, 5, 6))),
    Different("a rank that counts itself", lambda x: (x[:, None] >= x[None]).sum(1) * x, lambda x: (x[:, None] > x[None]).sum(1) * x, (V,), ((1, 2, 3),)),
    Different("a tie of one number", lambda x: ind(x > 2) * nn.softplus(x), lambda x: ind(x >= 2) * jnp.log(1 + jnp.exp(x)), (S,), (2,), null_set=True),
)  # fmt: skip

EQUAL = (
    Equal("the diagonal of a Jacobian", lambda x: jnp.log(diagonal(nn.sigmoid)(x)), lambda x: nn.log_sigmoid(x) + nn.log_sigmoid(-x), (V,)),
    Equal("a row of one-hot products", lambda x: jnp.log((TURNED * jnp.exp(x)[None]).sum(1)), lambda x: x[np.array([1, 2, 0])], (V,)),
    Equal("sums over nothing", lambda a: a[:, :0].sum(1) + (a[:, :0] @ a[:0]).sum(1) + jnp.exp(jnp.diag(a)), lambda a: jnp.exp(jnp.diag(a)), (A,)),
    Equal("a product with a permutation", lambda x: jnp.log(TURNED @ jnp.exp(x)), lambda x: x[np.array([1, 2, 0])], (V,)),
    Equal("the diagonal of a triangle", lambda a: jnp.log(jnp.diag(jnp.tril(a, -1) + jnp.diag(jnp.exp(jnp.diag(a))))), jnp.diag, (A,)),
    Equal("counts and the recurrence", lambda x: gammaln(x + (COUNTS + 1)), lambda x: gammaln(x + COUNTS) + jnp.log(x + COUNTS), (P,)),
    Equal("digamma of counts", lambda x: lax.digamma(x + (COUNTS + 1)), lambda x: lax.digamma(x + COUNTS) + 1 / (x + COUNTS), (P,)),
    Equal("a beta function of counts", lambda x: betaln(x, COUNTS + 1), lambda x: gammaln(x) + gammaln(COUNTS + 1) - gammaln(x + COUNTS + 1), (SHAPE,)),
    Equal("the logarithm of a Bessel function", lambda x: jnp.log(lax.bessel_i0e(x) ** 2), lambda x: 2 * jnp.log(lax.bessel_i0e(-x)), (V,)),
    Equal("exchanged shapes", betainc, lambda a, b, x: 1 - betainc(b, a, 1 - x), (SHAPE, SHAPE, INSIDE)),
    Equal("a tie that has measure zero", lambda x: ind(x > 2) * nn.softplus(x), lambda x: ind(x >= 2) * jnp.log(1 + jnp.exp(x)), (S,), almost_everywhere=True),
    Equal("the gradient of a stable logarithm", lambda x: jax.grad(lambda x: (jnp.maximum(x, 0) + jnp.log1p(jnp.exp(-jnp.abs(x)))).sum())(x), nn.sigmoid, (V,), almost_everywhere=True),
)  # fmt: skip
