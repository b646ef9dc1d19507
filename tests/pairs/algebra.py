"""Pairs of matrix algebra: products, permutations, expansions, loops and sums in another order."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .pair import Pair, einsum, f32, matmul, nudged

# ---------------------------------------------------------------- matrix products


def _blocks(A):
    """The four quarters of a matrix of even height and width, row by row."""
    m, n = A.shape[0] // 2, A.shape[1] // 2
    return A[:m, :n], A[:m, n:], A[m:, :n], A[m:, n:]


def _block_product(A, B):
    a, b, c, d = _blocks(A)
    e, f, g, h = _blocks(B)
    top = [matmul(a, e) + matmul(b, g), matmul(a, f) + matmul(b, h)]
    bottom = [matmul(c, e) + matmul(d, g), matmul(c, f) + matmul(d, h)]
    return jnp.block([top, bottom])


def _strassen(A, B, sign=1.0):
    """Seven products for eight (Strassen, 1969); `sign` stands before M₅ in the first block."""
    a, b, c, d = _blocks(A)
    e, f, g, h = _blocks(B)
    M1, M2, M3 = matmul(a + d, e + h), matmul(c + d, e), matmul(a, f - h)
    M4, M5 = matmul(d, g - e), matmul(a + b, h)
    M6, M7 = matmul(c - a, e + f), matmul(b - d, g + h)
    return jnp.block([[M1 + M4 - sign * M5 + M7, M3 + M5], [M2 + M4, M1 - M2 + M3 + M6]])


def _fir(d, g):
    """Two outputs of a filter of three taps over four inputs."""
    return jnp.stack([d[0] * g[0] + d[1] * g[1] + d[2] * g[2], d[1] * g[0] + d[2] * g[1] + d[3] * g[2]])


def _winograd(d, g, half=0.5):
    """F(2, 3): four multiplications for six (Winograd, 1980)."""
    m1, m4 = (d[0] - d[2]) * g[0], (d[1] - d[3]) * g[2]
    m2 = (d[1] + d[2]) * (g[0] + g[1] + g[2]) * half
    m3 = (d[2] - d[1]) * (g[0] - g[1] + g[2]) * half
    return jnp.stack([m1 + m2 + m3, m2 - m3 - m4])


def _complex_product(A, B, C, D):
    """(A + iB)(C + iD) as (real, imaginary)."""
    return matmul(A, C) - matmul(B, D), matmul(A, D) + matmul(B, C)


def _karatsuba(A, B, C, D):
    """Three products for four."""
    P, Q = matmul(A, C), matmul(B, D)
    return P - Q, matmul(A + B, C + D) - P - Q


def _low_rank_square(A, u, v):
    """(A + u vᵀ)² = A² + A u vᵀ + u vᵀ A + (vᵀ u) u vᵀ."""
    return (
        matmul(A, A)
        + jnp.outer(matmul(A, u), v)
        + jnp.outer(u, matmul(v, A))
        + jnp.vdot(v, u, precision="highest") * jnp.outer(u, v)
    )


def _rank_one(A, u, v):
    M = A + jnp.outer(u, v)
    return matmul(M, M)


def _householder(x, v, factor=2.0):
    """H x with H = I − 2 v vᵀ / (vᵀ v) as a matrix."""
    H = jnp.eye(5, dtype=x.dtype) - factor * jnp.outer(v, v) / jnp.sum(v * v)
    return matmul(H, x)


def _householder_reflection(x, v):
    return x - v * (2.0 * jnp.sum(v * x) / jnp.sum(v * v))


def _vec(A):
    """The columns of A one after another."""
    return A.T.reshape(-1)


PRODUCTS = (
    Pair(
        "block-split-matmul",
        lambda A, B: matmul(A, B),
        _block_product,
        (f32(4, 6), f32(6, 8)),
        {
            "blocks of the second exchanged": lambda A, B: _block_product(A, jnp.roll(B, (3, 4), (0, 1))),
            "one block dropped": lambda A, B: _block_product(A.at[2:, 3:].set(0.0), B),
            "a weight nudged": lambda A, B: matmul(nudged(A), B),
        },
    ),
    Pair(
        "matmul-split-along-the-sum",
        lambda A, B: matmul(A, B),
        lambda A, B: matmul(A[:, :2], B[:2]) + matmul(A[:, 2:], B[2:]),
        (f32(3, 5), f32(5, 4)),
        {
            "one column twice": lambda A, B: matmul(A[:, :3], B[:3]) + matmul(A[:, 2:], B[2:]),
            "one column lost": lambda A, B: matmul(A[:, :2], B[:2]) + matmul(A[:, 3:], B[3:]),
        },
    ),
    Pair(
        "matmul-as-sum-of-outer-products",
        lambda A, B: matmul(A, B),
        lambda A, B: sum(jnp.outer(A[:, k], B[k]) for k in range(5)),
        (f32(3, 5), f32(5, 4)),
        {
            "off by one": lambda A, B: sum(jnp.outer(A[:, k], B[k - 1]) for k in range(5)),
            "last product dropped": lambda A, B: sum(jnp.outer(A[:, k], B[k]) for k in range(4)),
        },
    ),
    Pair(
        "matmul-chain-associativity",
        lambda A, B, C, x: matmul(matmul(matmul(A, B), C), x),
        lambda A, B, C, x: matmul(A, matmul(B, matmul(C, x))),
        (f32(3, 4), f32(4, 4), f32(4, 4), f32(4, 2)),
        {
            "factors swapped": lambda A, B, C, x: matmul(A, matmul(C, matmul(B, x))),
            "transposed factor": lambda A, B, C, x: matmul(A, matmul(B.T, matmul(C, x))),
            "B + C for B C": lambda A, B, C, x: matmul(A, matmul(B + C, x)),
            "a returned zero": lambda A, B, C, x: 0.0 * matmul(A, x),
        },
    ),
    Pair(
        "strassen",
        lambda A, B: matmul(A, B),
        _strassen,
        (f32(4, 4), f32(4, 4)),
        {
            "a sign": lambda A, B: _strassen(A, B, sign=-1.0),
            "factors swapped": lambda A, B: _strassen(B, A),
            "second factor transposed": lambda A, B: _strassen(A, B.T),
        },
    ),
    Pair(
        "winograd-filter",
        _fir,
        _winograd,
        (f32(4), f32(3)),
        {
            "half missing": lambda d, g: _winograd(d, g, half=1.0),
            "taps reversed": lambda d, g: _winograd(d, g[::-1]),
            "inputs one late": lambda d, g: _fir(jnp.roll(d, 1), g),
        },
    ),
    Pair(
        "karatsuba-complex-product",
        _complex_product,
        _karatsuba,
        (f32(2, 3), f32(2, 3), f32(3, 4), f32(3, 4)),
        {
            "first conjugated": lambda A, B, C, D: _karatsuba(A, -B, C, D),
            "products not subtracted": lambda A, B, C, D: (_karatsuba(A, B, C, D)[0], matmul(A + B, C + D)),
            "minus lost": lambda A, B, C, D: (
                matmul(A, C) + matmul(B, D),
                matmul(A, D) + matmul(B, C),
            ),
        },
    ),
    Pair(
        "complex-product-as-real-block-matrix",
        lambda A, B, x, y: (matmul(A, x) - matmul(B, y), matmul(A, y) + matmul(B, x)),
        lambda A, B, x, y: tuple(jnp.split(matmul(jnp.block([[A, -B], [B, A]]), jnp.concatenate([x, y])), 2)),
        (f32(3, 4), f32(3, 4), f32(4), f32(4)),
        {
            "block transposed": lambda A, B, x, y: tuple(
                jnp.split(matmul(jnp.block([[A, B], [-B, A]]), jnp.concatenate([x, y])), 2)
            ),
            "sign lost": lambda A, B, x, y: tuple(
                jnp.split(matmul(jnp.block([[A, B], [B, A]]), jnp.concatenate([x, y])), 2)
            ),
        },
    ),
    Pair(
        "kron-of-matrices-on-vec",
        lambda A, X, B: _vec(matmul(matmul(A, X), B)),
        lambda A, X, B: matmul(jnp.kron(B.T, A), _vec(X)),
        (f32(2, 3), f32(3, 4), f32(4, 5)),
        {
            "transposition missing": lambda A, X, B: matmul(jnp.kron(B.reshape(5, 4), A), _vec(X)),
            "factors of kron swapped": lambda A, X, B: matmul(jnp.kron(A, B.T), _vec(X)),
            "rows for columns": lambda A, X, B: matmul(jnp.kron(B.T, A), X.reshape(-1)),
        },
    ),
    Pair(
        "kron-mixed-product",
        lambda A, B, C, D: matmul(jnp.kron(A, B), jnp.kron(C, D)),
        lambda A, B, C, D: jnp.kron(matmul(A, C), matmul(B, D)),
        (f32(2, 3), f32(3, 2), f32(3, 2), f32(2, 4)),
        {
            "rows in the other order": lambda A, B, C, D: jnp.kron(matmul(A, C)[::-1], matmul(B, D)),
            "a weight nudged": lambda A, B, C, D: jnp.kron(matmul(A, nudged(C)), matmul(B, D)),
            "D squared entrywise": lambda A, B, C, D: jnp.kron(matmul(A, C), matmul(B, D * D)),
        },
    ),
    Pair(
        "trace-cyclicity",
        lambda A, B, C: jnp.trace(matmul(matmul(A, B), C)),
        lambda A, B, C: einsum("jk,ki,ij->", B, C, A),
        (f32(4, 4), f32(4, 4), f32(4, 4)),
        {
            "not cyclic": lambda A, B, C: jnp.trace(matmul(matmul(A, C), B)),
            "one factor transposed": lambda A, B, C: jnp.trace(matmul(matmul(A, B), C.T)),
            "sum for trace": lambda A, B, C: jnp.sum(matmul(matmul(A, B), C)),
        },
    ),
    Pair(
        "trace-as-inner-product",
        lambda A, B: jnp.trace(matmul(A.T, B)),
        lambda A, B: jnp.sum(A * B),
        (f32(3, 5), f32(3, 5)),
        {
            "diagonal only": lambda A, B: jnp.sum(jnp.diagonal(A) * jnp.diagonal(B)),
            "outer for inner": lambda A, B: jnp.sum(A) * jnp.sum(B),
        },
    ),
    Pair(
        "rank-one-update-squared",
        _rank_one,
        _low_rank_square,
        (f32(4, 4), f32(4), f32(4)),
        {
            "commuted": lambda A, u, v: (
                matmul(A, A) + 2.0 * jnp.outer(matmul(A, u), v) + jnp.sum(u * v) * jnp.outer(u, v)
            ),
            "last term dropped": lambda A, u, v: _low_rank_square(A, u, v) - jnp.sum(u * v) * jnp.outer(u, v),
            "roles swapped": lambda A, u, v: _rank_one(A, v, u),
        },
    ),
    Pair(
        "difference-of-squares-noncommutative",
        lambda A, B: matmul(A + B, A - B),
        lambda A, B: matmul(A, A) - matmul(A, B) + matmul(B, A) - matmul(B, B),
        (f32(4, 4), f32(4, 4)),
        {
            "as if commuting": lambda A, B: matmul(A, A) - matmul(B, B),
            "cross terms exchanged": lambda A, B: matmul(A - B, A + B),
            "A + A B for B B": lambda A, B: matmul(A + B, A - B) + matmul(B, B) - matmul(A, B),
        },
    ),
    Pair(
        "transposed-product",
        lambda A, B: matmul(A, B).T,
        lambda A, B: matmul(B.T, A.T),
        (f32(3, 4), f32(4, 3)),
        {
            "order kept": lambda A, B: matmul(A.reshape(3, 4), B),
            "factors reshaped": lambda A, B: matmul(B.reshape(3, 4), A.reshape(4, 3)),
        },
    ),
    Pair(
        "einsum-reordered",
        lambda x, W, V: einsum("bi,ihd,hde->be", x, W, V),
        lambda x, W, V: matmul(matmul(x, W.reshape(3, -1)), V.reshape(-1, 6)),
        (f32(2, 3), f32(3, 4, 5), f32(4, 5, 6)),
        {
            "heads transposed": lambda x, W, V: matmul(
                matmul(x, jnp.swapaxes(W, 1, 2).reshape(3, -1)), V.reshape(-1, 6)
            ),
            "head dropped": lambda x, W, V: einsum("bi,ihd,hde->be", x, W[:, 1:], V[1:]),
            "heads rolled": lambda x, W, V: einsum("bi,ihd,hde->be", x, jnp.roll(W, 1, 1), V),
        },
    ),
    Pair(
        "bilinear-form-as-kron",
        lambda x, W, y: einsum("i,kij,j->k", x, W, y),
        lambda x, W, y: matmul(W.reshape(4, -1), jnp.kron(x, y)),
        (f32(2), f32(4, 2, 3), f32(3)),
        {
            "kron swapped": lambda x, W, y: matmul(W.reshape(4, -1), jnp.kron(y, x)),
            "a weight nudged": lambda x, W, y: einsum("i,kij,j->k", x, nudged(W), y),
        },
    ),
    Pair(
        "quadratic-form-symmetrised",
        lambda x, A: einsum("i,ij,j->", x, A, x),
        lambda x, A: einsum("i,ij,j->", x, (A + A.T) / 2.0, x),
        (f32(4), f32(4, 4)),
        {
            "half missing": lambda x, A: einsum("i,ij,j->", x, A + A.T, x),
            "antisymmetric part": lambda x, A: einsum("i,ij,j->", x, A - A.T, x),
            "upper triangle only": lambda x, A: einsum("i,ij,j->", x, jnp.triu(A), x),
        },
    ),
    Pair(
        "householder-reflection",
        _householder,
        _householder_reflection,
        (f32(5), f32(5)),
        {
            "projection": lambda x, v: _householder(x, v, factor=1.0),
            "not normalised": lambda x, v: x - 2.0 * v * jnp.sum(v * x),
            "roles swapped": lambda x, v: _householder(v, x),
        },
        "v is not zero",
    ),
    Pair(
        "householder-twice-is-identity",
        lambda x, v: _householder_reflection(_householder_reflection(x, v), v),
        lambda x, v: x,
        (f32(5), f32(5)),
        {
            "once": _householder_reflection,
            "projection twice": lambda x, v: _householder(_householder(x, v, factor=1.0), v, factor=1.0),
        },
        "v is not zero",
    ),
    Pair(
        "dot-of-concatenation",
        lambda x, y, V, W: matmul(jnp.concatenate([x, y]), jnp.concatenate([V, W])),
        lambda x, y, V, W: matmul(x, V) + matmul(y, W),
        (f32(3), f32(4), f32(3, 5), f32(4, 5)),
        {
            "weights in the other order": lambda x, y, V, W: matmul(jnp.concatenate([x, y]), jnp.concatenate([W, V])),
            "second part dropped": lambda x, y, V, W: matmul(x, V),
        },
    ),
)

# ---------------------------------------------------------------- polynomials, rational functions, statistics


def _horner(x, c):
    """c₀ + c₁ x + … by a scan from the highest coefficient."""
    return lax.scan(lambda y, a: (y * x + a, None), jnp.zeros_like(x), c[::-1])[0]


def _powers(x, c):
    return sum(c[k] * x**k for k in range(5))


def _distances(x, y):
    """|x_i − y_j|² from the differences."""
    return jnp.sum((x[:, None, :] - y[None, :, :]) ** 2, -1)


def _distances_expanded(x, y, cross=2.0):
    return jnp.sum(x * x, 1)[:, None] + jnp.sum(y * y, 1)[None, :] - cross * matmul(x, y.T)


def _gram_covariance(x, n=5):
    """Σ x xᵀ / n − mean meanᵀ."""
    mean = jnp.mean(x, 0)
    return matmul(x.T, x) / n - jnp.outer(mean, mean)


def _covariance(x, n=5):
    centred = x - jnp.mean(x, 0)[None, :]
    return matmul(centred.T, centred) / n


EXPANSIONS = (
    Pair(
        "horner-scan",
        _powers,
        _horner,
        (f32(4), f32(5)),
        {
            "coefficients reversed": lambda x, c: _horner(x, c[::-1]),
            "one power too many": lambda x, c: x * _horner(x, c),
            "constant dropped": lambda x, c: _horner(x, c) - c[0],
        },
    ),
    Pair(
        "partial-fractions",
        lambda x: 1.0 / x - 1.0 / (x + 1.0),
        lambda x: 1.0 / (x * (x + 1.0)),
        (f32(5),),
        {
            "sum": lambda x: 1.0 / x + 1.0 / (x + 1.0),
            "other pole": lambda x: 1.0 / (x * (x - 1.0)),
            "numerator lost": lambda x: x / (x + 1.0),
        },
        "x is neither 0 nor -1",
    ),
    Pair(
        "geometric-sum",
        lambda x: 1.0 + x + x**2 + x**3 + x**4,
        lambda x: (x**5 - 1.0) / (x - 1.0),
        (f32(5),),
        {
            "one term more": lambda x: (x**6 - 1.0) / (x - 1.0),
            "first term lost": lambda x: x + x**2 + x**3 + x**4,
        },
        "x is not 1",
    ),
    Pair(
        "continued-fraction",
        lambda x, y: 1.0 / (x + 1.0 / y),
        lambda x, y: y / (x * y + 1.0),
        (f32(4), f32(4)),
        {
            "roles swapped": lambda x, y: x / (x * y + 1.0),
            "sum for product": lambda x, y: y / (x + y + 1.0),
        },
        "y is not 0",
    ),
    Pair(
        "binomial-cube",
        lambda x, y: (x + y) ** 3,
        lambda x, y: x**3 + 3.0 * x**2 * y + 3.0 * x * y**2 + y**3,
        (f32(4), f32(4)),
        {
            "freshman's cube": lambda x, y: x**3 + y**3,
            "two for three": lambda x, y: x**3 + 2.0 * x**2 * y + 2.0 * x * y**2 + y**3,
        },
    ),
    Pair(
        "squared-distances-expanded",
        _distances,
        _distances_expanded,
        (f32(3, 4), f32(5, 4)),
        {
            "cross term once": lambda x, y: _distances_expanded(x, y, cross=1.0),
            "cross term added": lambda x, y: _distances_expanded(x, y, cross=-2.0),
            "absolute differences": lambda x, y: jnp.sum(jnp.abs(x[:, None, :] - y[None, :, :]), -1),
            "a point nudged": lambda x, y: _distances(nudged(x), y),
        },
    ),
    Pair(
        "variance-as-half-mean-squared-difference",
        lambda x: jnp.var(x),
        lambda x: jnp.sum((x[:, None] - x[None, :]) ** 2) / 72.0,
        (f32(6),),
        {
            "each pair once": lambda x: jnp.sum((x[:, None] - x[None, :]) ** 2) / 36.0,
            "n-1 for n": lambda x: jnp.var(x, ddof=1),
        },
    ),
    Pair(
        "covariance-two-ways",
        _covariance,
        _gram_covariance,
        (f32(5, 3),),
        {
            "n-1 for n": lambda x: _covariance(x, n=4),
            "not centred": lambda x: matmul(x.T, x) / 5.0,
            "means added": lambda x: _gram_covariance(x) + 2.0 * jnp.outer(jnp.mean(x, 0), jnp.mean(x, 0)),
        },
    ),
    Pair(
        "running-mean",
        lambda x: lax.fori_loop(0, 6, lambda k, m: m + (x[k] - m) / (k + 1), jnp.zeros_like(x[0])),
        lambda x: jnp.mean(x, 0),
        (f32(6, 2),),
        {
            "weight off by one": lambda x: lax.fori_loop(
                0, 6, lambda k, m: m + (x[k] - m) / (k + 2), jnp.zeros_like(x[0])
            ),
            "one step short": lambda x: jnp.mean(x[:-1], 0),
            "sum": lambda x: jnp.sum(x, 0),
        },
    ),
    Pair(
        "parallelogram-law",
        lambda x, y: jnp.sum((x + y) ** 2) + jnp.sum((x - y) ** 2),
        lambda x, y: 2.0 * jnp.sum(x * x) + 2.0 * jnp.sum(y * y),
        (f32(4), f32(4)),
        {
            "factor two missing": lambda x, y: jnp.sum(x * x) + jnp.sum(y * y),
            "one square only": lambda x, y: 2.0 * jnp.sum((x + y) ** 2),
        },
    ),
)

# ---------------------------------------------------------------- loops


def _recurrence(W, x, b):
    """h ← tanh(W h + b) + x_t, h_0 = 0, for t = 1, …, 4; all h."""

    def step(h, x_t):
        h = jnp.tanh(matmul(W, h) + b) + x_t
        return h, h

    return lax.scan(step, jnp.zeros_like(b), x)[1]


def _recurrence_unrolled(W, x, b, start=0):
    states = [jnp.zeros_like(b)]
    for t in range(4):
        states.append(jnp.tanh(matmul(W, states[-1]) + b) + x[t - start])
    return jnp.stack(states[1:])


def _matrix_power(A, x, steps=4):
    """A⁴ x by a while loop."""
    return lax.while_loop(lambda s: s[0] < steps, lambda s: (s[0] + 1, matmul(A, s[1])), (0, x))[1]


def _linear_recurrence(a, b):
    """h_t = a_t h_{t−1} + b_t, h_0 = 0."""

    def step(h, ab):
        h = ab[0] * h + ab[1]
        return h, h

    return lax.scan(step, jnp.zeros_like(b[0]), (a, b))[1]


def _linear_recurrence_parallel(a, b):
    """The same by associative_scan over the maps h ↦ a h + b."""
    then = lambda first, second: (first[0] * second[0], second[0] * first[1] + second[1])
    return lax.associative_scan(then, (a, b))[1]


def _linear_recurrence_swapped(a, b):
    then = lambda first, second: (first[0] * second[0], first[0] * second[1] + first[1])
    return lax.associative_scan(then, (a, b))[1]


def _each(f):
    """f for each row of its argument, by a Python loop."""
    return lambda x: jnp.stack([f(row) for row in x])


LOOPS = (
    Pair(
        "scan-unrolled",
        _recurrence,
        _recurrence_unrolled,
        (f32(3, 3), f32(4, 3), f32(3)),
        {
            "input one step late": lambda W, x, b: _recurrence_unrolled(W, x, b, start=1),
            "transposed weight": lambda W, x, b: _recurrence_unrolled(W.T, x, b),
            "bias outside": lambda W, x, b: _recurrence_unrolled(W, x + b[None, :], jnp.zeros_like(b)),
            "reversed in time": lambda W, x, b: _recurrence(W, x[::-1], b)[::-1],
        },
    ),
    Pair(
        "fori-loop-unrolled",
        lambda A, x: lax.fori_loop(0, 3, lambda k, y: jnp.tanh(matmul(A, y)) + x, x),
        lambda A, x: jnp.tanh(matmul(A, jnp.tanh(matmul(A, jnp.tanh(matmul(A, x)) + x)) + x)) + x,
        (f32(3, 3), f32(3)),
        {
            "one step more": lambda A, x: lax.fori_loop(0, 4, lambda k, y: jnp.tanh(matmul(A, y)) + x, x),
            "one step less": lambda A, x: lax.fori_loop(1, 3, lambda k, y: jnp.tanh(matmul(A, y)) + x, x),
            "skip from the last state": lambda A, x: lax.fori_loop(0, 3, lambda k, y: jnp.tanh(matmul(A, y)) + y, x),
        },
    ),
    Pair(
        "while-loop-as-matrix-power",
        _matrix_power,
        lambda A, x: matmul(matmul(matmul(A, A), matmul(A, A)), x),
        (f32(3, 3), f32(3)),
        {
            "one step less": lambda A, x: _matrix_power(A, x, steps=3),
            "transposed": lambda A, x: _matrix_power(A.T, x),
            "entries to the fourth": lambda A, x: matmul(A**4, x),
        },
    ),
    Pair(
        "vmap-as-einsum",
        lambda W, x: jax.vmap(lambda w, y: jnp.tanh(matmul(w, y)), in_axes=(2, 1))(W, x),
        lambda W, x: jnp.tanh(einsum("oik,ik->ko", W, x)),
        (f32(3, 4, 2), f32(4, 2)),
        {
            "batch reversed": lambda W, x: jnp.tanh(einsum("oik,ik->ko", W, x[:, ::-1])),
            "shared weight": lambda W, x: jnp.tanh(einsum("oi,ik->ko", W[:, :, 0], x)),
        },
    ),
    Pair(
        "vmap-as-loop",
        jax.vmap(lambda x: jnp.sin(x) / (1.0 + jnp.sum(x * x))),
        _each(lambda x: jnp.sin(x) / (1.0 + jnp.sum(x * x))),
        (f32(3, 4),),
        {
            "norm over the batch": lambda x: jnp.sin(x) / (1.0 + jnp.sum(x * x)),
            "first row for all": lambda x: jnp.sin(x) / (1.0 + jnp.sum(x[0] * x[0])),
        },
    ),
    Pair(
        "linear-recurrence-associative-scan",
        _linear_recurrence,
        _linear_recurrence_parallel,
        (f32(6, 3), f32(6, 3)),
        {
            "maps composed in the other order": _linear_recurrence_swapped,
            "gate one step late": lambda a, b: _linear_recurrence(jnp.roll(a, 1, 0), b),
            "gate dropped": lambda a, b: jnp.cumsum(b, axis=0),
            "reversed in time": lambda a, b: _linear_recurrence(a[::-1], b[::-1])[::-1],
        },
    ),
    Pair(
        "cumsum-by-associative-scan",
        lambda x: lax.associative_scan(jnp.add, x),
        lambda x: jnp.cumsum(x, axis=0),
        (f32(7, 2),),
        {
            "maximum": lambda x: lax.associative_scan(jnp.maximum, x),
            "reversed": lambda x: lax.associative_scan(jnp.add, x, reverse=True),
        },
    ),
    Pair(
        "differences-of-cumsum",
        lambda x: jnp.diff(jnp.cumsum(x)),
        lambda x: x[1:],
        (f32(6),),
        {
            "off by one": lambda x: x[:-1],
            "differences of x": lambda x: jnp.diff(x),
        },
    ),
    Pair(
        "sliding-sum-by-cumsum",
        lambda x: jnp.stack([jnp.sum(x[t : t + 3]) for t in range(5)]),
        lambda x: jnp.cumsum(x)[2:] - jnp.concatenate([jnp.zeros(1, x.dtype), jnp.cumsum(x)[:-3]]),
        (f32(7),),
        {
            "window of two": lambda x: x[1:-1] + x[2:],
            "first not restored": lambda x: jnp.cumsum(x)[2:] - jnp.cumsum(x)[:-2],
        },
    ),
)

# ---------------------------------------------------------------- permutations and scatters

PERMUTATION = np.array([3, 0, 4, 1, 2], np.int32)
INVERSE = np.array([1, 3, 4, 0, 2], np.int32)
SEGMENTS = np.array([0, 2, 1, 2, 0, 2], np.int32)


def _segment_sum(x, segments=SEGMENTS):
    """Rows of x added up by segment: a scatter-add."""
    return jnp.zeros((3, 2), x.dtype).at[segments].add(x)


def _segment_matmul(x):
    return matmul(jax.nn.one_hot(SEGMENTS, 3, dtype=x.dtype).T, x)


PERMUTATIONS = (
    Pair(
        "permuted-sum-of-squares",
        lambda x: jnp.sum(jnp.tanh(x[PERMUTATION]) ** 2),
        lambda x: jnp.sum(jnp.tanh(x) ** 2),
        (f32(5),),
        {
            "an entry lost": lambda x: jnp.sum(jnp.tanh(x[:-1]) ** 2),
            "an entry twice": lambda x: jnp.sum(jnp.tanh(x[np.array([3, 0, 4, 1, 1], np.int32)]) ** 2),
        },
    ),
    Pair(
        "permuted-weights",
        lambda W, x: matmul(W[:, PERMUTATION], x[PERMUTATION]),
        lambda W, x: matmul(W, x),
        (f32(3, 5), f32(5)),
        {
            "inverse permutation": lambda W, x: matmul(W[:, PERMUTATION], x[INVERSE]),
            "only the input": lambda W, x: matmul(W, x[PERMUTATION]),
        },
    ),
    Pair(
        "permuted-hidden-units",
        lambda W, V, x: matmul(V, jnp.tanh(matmul(W, x))),
        lambda W, V, x: matmul(V[:, PERMUTATION], jnp.tanh(matmul(W[PERMUTATION], x))),
        (f32(5, 3), f32(4, 5), f32(3)),
        {
            "only the rows": lambda W, V, x: matmul(V, jnp.tanh(matmul(W[PERMUTATION], x))),
            "inverse on the columns": lambda W, V, x: matmul(V[:, INVERSE], jnp.tanh(matmul(W[PERMUTATION], x))),
        },
    ),
    Pair(
        "permutation-and-its-inverse",
        lambda x: jnp.exp(x[PERMUTATION])[INVERSE],
        lambda x: jnp.exp(x),
        (f32(5),),
        {
            "applied twice": lambda x: jnp.exp(x[PERMUTATION])[PERMUTATION],
            "not undone": lambda x: jnp.exp(x[PERMUTATION]),
        },
    ),
    Pair(
        "sign-flipped-hidden-units",
        lambda W, V, x: matmul(V, jnp.tanh(matmul(W, x))),
        lambda W, V, x: matmul(-V, jnp.tanh(matmul(-W, x))),
        (f32(5, 3), f32(4, 5), f32(3)),
        {
            "one sign": lambda W, V, x: matmul(V, jnp.tanh(matmul(-W, x))),
            "even activation": lambda W, V, x: matmul(-V, jnp.cos(matmul(-W, x))),
        },
    ),
    Pair(
        "segment-sum-as-matmul",
        _segment_sum,
        _segment_matmul,
        (f32(6, 2),),
        {
            "segments reversed": lambda x: _segment_sum(x, SEGMENTS[::-1]),
            "last of each segment": lambda x: jnp.stack([x[4], x[2], x[5]]),
            "segment means": lambda x: _segment_sum(x) / jnp.array([[2.0], [1.0], [3.0]], x.dtype),
        },
    ),
    Pair(
        "diagonal-embedding",
        lambda d, x: matmul(jnp.diag(d), x),
        lambda d, x: d[:, None] * x,
        (f32(4), f32(4, 3)),
        {
            "diagonal reversed": lambda d, x: d[::-1][:, None] * x,
            "outer with the sum": lambda d, x: d[:, None] * jnp.sum(x, 0)[None, :],
        },
    ),
    Pair(
        "toeplitz-convolution",
        lambda x, w: jnp.convolve(x, w, mode="full", precision="highest"),
        lambda x, w: sum(w[k] * jnp.pad(x, (k, 2 - k)) for k in range(3)),
        (f32(5), f32(3)),
        {
            "correlation": lambda x, w: jnp.convolve(x, w[::-1], mode="full", precision="highest"),
            "circular": lambda x, w: sum(w[k] * jnp.roll(jnp.pad(x, (0, 2)), k + 3) for k in range(3)),
        },
    ),
)

PAIRS: tuple[Pair, ...] = (*PRODUCTS, *EXPANSIONS, *LOOPS, *PERMUTATIONS)
