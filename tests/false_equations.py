"""Equations that are false, each beside one that is true: sizes, sums, slices, functions, names."""

from dataclasses import dataclass

import sympy

from uat_jax.symbolic import language as m

n, p, q = map(m.dimension, "npq")
h, d = map(m.dimension, "hd")
i, j, k, l = (sympy.Symbol(name, integer=True, positive=True) for name in "ijkl")
I, O, one = m.Identity, m.Zero, m.Ones
S, softmax, vec, K, Sum = m.Activation, m.RowSoftmax, m.Vectorised, m.Kronecker, m.RangeSum
diag, had, unvec, of = m.Diagonal, m.Hadamard, m.Matricised, m.Dependent

A, B, C = (m.Letter(name, n, n) for name in "ABC")
X, Y, Z, W = m.Letter("X", n, p), m.Letter("Y", n, p), m.Letter("Z", p, q), m.Letter("W", p, n)
x, y, u, v = m.Letter("x", n, 1), m.Letter("y", n, 1), m.Letter("u", n, 1), m.Letter("v", p, 1)
long, longer = m.Letter("w", n * p, 1), m.Letter("w", n * p * q, 1)
f, g = m.Letter("f", p, 1), m.Letter("g", n, n)
row = m.Letter("r", 1, n)
Q = m.Letter("Q", q, q)
Ak, Bk, Xk = (m.Family(name, lambda *_: (n, n)) for name in "ABX")
xk = m.Family("x", lambda *_: (n, 1))
E = lambda index: m.Selection(index, h * d, d)
V = m.Letter("V", d, d)
M = m.Letter("M", h * d, h * d)


@dataclass(frozen=True)
class Equation:
    """``left`` = ``right`` is true, ``left`` = each of ``wrong`` is false."""

    left: m.Expression
    right: m.Expression
    wrong: tuple[m.Expression, ...]


def _(left, right, *wrong):
    return Equation(left, right, wrong)


EQUATIONS = {
    # a size that stands nowhere but in the shape
    "identity": _(I(n), I(n), I(p), I(1), I(n + 1), 2 * I(n), O(n, n)),
    "zero": _(O(n, 1), O(n, 1), O(p, n), O(1, n), O(n, n), O(p, 1)),
    "a sum of nothing": _(Sum(Ak[k], k, 1, 0), O(n, n), O(p, p), O(n, 1), O(p, n)),
    "ones": _(one(n, p), one(n, p), one(p, n), one(n, q), one(n, 1)),
    "a transpose of zeros": _(O(n, p).T, O(p, n), O(n, p), O(q, n).T, O(n, q)),
    "a product of zeros": _(O(n, p) @ O(p, q), O(n, q), O(q, n), O(n, p), one(n, q)),
    "f(0) + σ(x)": _(of(f, O(n, 1)) + S(v), S(v) + of(f, O(n, 1)), of(f, O(q, 1)) + S(v), of(f, O(n, 1)) + S(v + f)),
    "2 f(0)": _(2 * of(f, O(n, 1)), of(f, O(n, 1)) + of(f, O(n, 1)), 3 * of(f, O(q, 1)), 2 * of(f, O(1, 1))),
    "f(I)": _(of(f, I(n)), of(f, I(n) @ I(n)), of(f, I(q)), of(f, 2 * I(n)), of(f, I(1))),
    "f of a column of zeros": _(of(f, O(n, p)), of(f, A @ O(n, p)), of(f, O(p, n)), of(f, O(n * p, 1))),
    "nested": _(of(f, of(g, O(n, 1))), of(f, of(g, x - x)), of(f, of(g, O(p, 1))), of(f, of(g, O(1, n)))),
    "σ of zeros inside": _(of(f, S(O(n, 1))), of(f, S(x - x)), of(f, S(O(q, 1))), of(f, S(O(n, n)))),
    "softmax of zeros inside": _(of(f, softmax(O(n, n))), of(f, softmax(A - A)), of(f, softmax(O(q, q)))),
    "a letter and its size": _(
        A + I(n), I(n) + A, m.Letter("A", p, p) + I(p), A + m.Letter("A", n, n, (1,)), A + 2 * I(n)
    ),
    "two functions of one name": _(of(f, x), of(f, x), of(m.Letter("f", p, 1, (1,)), x), of(f, m.Letter("x", q, 1))),
    # products
    "products do not commute": _(A @ B, A @ (I(n) @ B), B @ A, A @ B.T, A.T @ B),
    "a transpose": _((A @ B).T, B.T @ A.T, A.T @ B.T, A @ B, (B @ A).T),
    "a square": _((A + B) @ (A + B), A @ A + A @ B + B @ A + B @ B, A @ A + 2 * (A @ B) + B @ B, A @ A + B @ B),
    "a difference of squares": _((A + B) @ (A - B), A @ A - A @ B + B @ A - B @ B, A @ A - B @ B),
    "an outer product": _((x @ y.T).T, y @ x.T, x @ y.T, (x + y) @ y.T),
    "the trace is no product": _(x.T @ A @ y, x.T @ (A @ y), x.T @ A.T @ y, y.T @ A @ x),
    # Kronecker products, vec and unvec
    "⊗ does not commute": _(K(A, Q), K(A, Q @ I(q)), K(Q, A), K(A.T, Q), K(A, Q.T)),
    "⊗ of identities": _(K(I(n), I(p)), I(n * p), K(I(n), I(q)), I(n + p), I(n) @ I(n)),
    "I ⊗ X ⊗ I": _(K(K(I(n), Q), I(p)), K(K(I(n), Q) @ K(I(n), I(q)), I(p)), K(K(I(p), Q), I(n))),
    "X ⊗ I ⊗ I inside": _(of(f, K(Q, I(n))), of(f, K(I(q) @ Q, I(n))), of(f, K(Q, I(p))), of(f, K(I(n), Q))),
    "the mixed product": _(K(A, X) @ K(B, Z), K(A @ B, X @ Z), K(B @ A, X @ Z), K(A @ B.T, X @ Z)),
    "vec of identities": _(
        K(vec(I(n)), vec(I(p))), vec(vec(I(n)) @ vec(I(p)).T), K(vec(I(p)), vec(I(n))), vec(vec(I(p)) @ vec(I(n)).T)
    ),
    "vec is by rows": _(vec(A), K(I(n), I(n)) @ vec(A), vec(A.T), K(A, I(n)) @ vec(A)),
    "(X ⊗ Y) vec(Z)": _(K(A, B) @ vec(C), vec(A @ C @ B.T), vec(B @ C @ A.T), vec(A @ C @ B), vec(A.T @ C @ B.T)),
    "vec of a product": _(
        vec(A @ X), K(A, I(p)) @ vec(X), K(I(p), A) @ vec(W), K(A.T, I(p)) @ vec(X), K(I(p), A) @ vec(X)
    ),
    "unvec keeps its shape": _(unvec(vec(X), n, p), X, W.T, unvec(vec(X), p, n).T, unvec(vec(X.T), n, p)),
    "unvec inside": _(vec(unvec(long, n, p).T), vec(unvec(long, n, p).T), vec(unvec(long, p, n).T), long),
    "unvec of three": _(
        of(f, unvec(longer, n, p * q)),
        of(f, unvec(longer, n, p * q)),
        *(of(f, unvec(longer, *sizes)) for sizes in ((n * p, q), (p, n * q), (p * q, n), (q, n * p), (n * q, p))),
    ),
    "softmax of an unvec": _(
        vec(softmax(unvec(long, n, p))), vec(softmax(unvec(long, n, p))), vec(softmax(unvec(long, p, n))), softmax(long)
    ),
    "another matrix in the same column": _(
        K(A, Z.T) @ vec(X), vec(A @ X @ Z), K(Z.T, A) @ vec(W), vec(unvec(vec(A @ X @ Z), q, n).T), vec(Z.T @ X.T @ A.T)
    ),
    # entry by entry
    "⊙": _(had(A, B) @ x, had(I(n) @ A, B) @ x, A @ B @ x, had(A, B.T) @ x, had(A, B @ A) @ x),
    "⊙ of columns": _(had(x, A @ y), diag(x) @ A @ y, A @ had(x, y), diag(A @ x) @ y),
    "diag": _(diag(x) @ one(n, 1), x, one(n, 1), diag(x) @ x, diag(x) @ diag(x) @ one(n, 1)),
    "diag of ones": _(diag(one(n, 1)), I(n), one(n, n), diag(x)),
    "diag(vec X) vec Y": _(
        diag(vec(X)) @ vec(Y), vec(had(X, Y)), vec(had(X, X)), diag(vec(X)) @ vec(W), vec(had(X, W.T)), vec(Y)
    ),
    # functions
    "σ is not linear": _(S(x) + S(x), 2 * S(x), S(2 * x), S(x + x)),
    "σ of a sum": _(S(x + y), S(y + x), S(x) + S(y), S(x - y)),
    "σ is elementwise": _(S(X).T, S(X.T), S(W), softmax(X).T, of(m.Letter("f", p, n), X)),
    "σ of vec": _(S(vec(X)), vec(S(X)), vec(S(W.T)), S(vec(X.T)), vec(softmax(X))),
    "softmax by rows": _(softmax(A) @ one(n, 1), one(n, 1), softmax(A).T @ one(n, 1), 2 * one(n, 1), one(n, 1) - x),
    "softmax by columns": _(one(1, n) @ softmax(A).T, one(1, n), one(1, n) @ softmax(A), one(1, n) @ S(A).T),
    "a shift of a row": _(
        softmax(A + x @ one(1, n)), softmax(A), softmax(A + one(n, 1) @ x.T), softmax(A + x @ x.T), softmax(2 * A)
    ),
    "softmax is not transposed": _(softmax(A).T @ x, softmax(A).T @ x, softmax(A.T) @ x, softmax(A) @ x),
    "a dynamic parameter": _(of(g, x) @ x, of(g, I(n) @ x) @ x, g @ x, of(g, y) @ x, of(g, x) @ y, of(A, x) @ x),
    "softmax and its index": _(
        Sum(softmax(Ak[k]) @ x, k, 1, j),
        Sum(softmax(Ak[l]) @ x, l, 1, j),
        *(j * (softmax(Ak[1]) @ x), Sum(softmax(Ak[1]) @ x, k, 1, j), Sum(softmax(Ak[k + 1]) @ x, k, 1, j)),
    ),
    "softmax and one of two indices": _(
        Sum(softmax(Ak[k]) @ Bk[k], k, 1, j),
        Sum(softmax(Ak[i]) @ Bk[i], i, 1, j),
        *(Sum(softmax(Ak[1]) @ Bk[k], k, 1, j), softmax(Ak[1]) @ Sum(Bk[k], k, 1, j)),
    ),
    # sums
    "the last term": _(
        Sum(Ak[k], k, 1, j + 1),
        Sum(Ak[k], k, 1, j) + Ak[j + 1],
        *(Sum(Ak[k], k, 1, j), Sum(Ak[k], k, 1, j) + Ak[j], Sum(Ak[k], k, 2, j + 1)),
    ),
    "an empty sum": _(Sum(Ak[k], k, 1, 0), O(n, n), Ak[1], Ak[0], -Ak[0]),
    "a sum that ends before it begins": _(
        Sum(Ak[k], k, 5, 1), O(n, n), *(-Ak[2] - Ak[3] - Ak[4], -3 * Ak[2], Ak[5] + Ak[1], -Ak[1])
    ),
    "so many times one term": _(Sum(A, k, 5, 1) + Sum(A, k, 1, 3), 3 * A, O(n, n), -A, 6 * A),
    "n times": _(Sum(A, k, 1, n), n * A, A, (n - 1) * A, (n + 1) * A, n**2 * A),
    "between two numbers": _(Sum(Ak[k], k, 2, 3), Ak[2] + Ak[3], Ak[1] + Ak[2] + Ak[3], Ak[3], 2 * Ak[2]),
    "a product of sums": _(
        Sum(Ak[k], k, 1, j) @ Sum(Bk[k], k, 1, j),
        Sum(Sum(Ak[k] @ Bk[l], k, 1, j), l, 1, j),
        *(Sum(Ak[k] @ Bk[k], k, 1, j), Sum(Sum(Bk[k] @ Ak[l], k, 1, j), l, 1, j)),
    ),
    "a triangle": _(
        Sum(Sum(Ak[k] @ Bk[l], l, 1, k), k, 1, j),
        Sum(Sum(Ak[i] @ Bk[k], k, 1, i), i, 1, j),
        *(Sum(Sum(Ak[k] @ Bk[l], l, 1, j), k, 1, j), Sum(Sum(Ak[l] @ Bk[k], l, 1, k), k, 1, j)),
    ),
    "σ of a sum, and a sum of σ": _(
        S(Sum(xk[k], k, 1, j)), S(Sum(xk[l], l, 1, j)), Sum(S(xk[k]), k, 1, j), S(m.Scaled(j, xk[1])), S(xk[j])
    ),
    "a bound index is not free": _(
        Sum(Ak[k], k, 1, j) @ Ak[k],
        Sum(Ak[l], l, 1, j) @ Ak[k],
        Sum(Ak[k] @ Ak[k], k, 1, j),
        Sum(Ak[l] @ Ak[l], l, 1, j),
    ),
    # slices
    "E_iᵀ E_i": _(E(2).T @ E(2), I(d), O(d, d), E(1).T @ E(2), 2 * I(d)),
    "E_i E_iᵀ": _(E(1) @ V @ E(1).T @ M, E(1) @ (V @ E(1).T) @ M, M, E(2) @ V @ E(2).T @ M, E(1) @ E(1).T @ M),
    "a sum over slices": _(
        Sum(E(i) @ V @ E(i).T, i, 1, h),
        Sum(E(k) @ V @ E(k).T, k, 1, h),
        *(I(h * d), h * (E(1) @ V @ E(1).T), Sum(E(1) @ V @ E(i).T, i, 1, h)),
    ),
    "coefficients": _(
        sympy.sqrt(n) * (sympy.sqrt(n) * A), n * A, sympy.sqrt(n) * A, n**2 * A, A, (1 / n) * A, sympy.sqrt(2 * n) * A
    ),
    "roots": _((1 / sympy.sqrt(p)) * (sympy.sqrt(p) * A), A, p * A, -A, (1 / p) * A),
    "π is no fraction": _(
        sympy.pi * A + A, A + sympy.pi * A, sympy.Rational(355, 113) * A + A, sympy.Rational(22, 7) * A + A, 4 * A
    ),
    "a name with a space": _(A @ B, A @ B, m.Letter("A B", n, n), m.Letter("A", n, n, (1,)) @ B),
    "a name with an index": _(Ak[1] @ x, Ak[1] @ x, m.Letter("A_1", n, n) @ x, m.Letter("A", n, n, (), (1,)) @ x),
    "letters of other sizes": _(
        S(m.Letter("x", n * p, 1)), S(m.Letter("x", p * n, 1)), S(m.Letter("x", n * q, 1)), S(m.Letter("x", n + p, 1))
    ),
    "rows and columns": _(S(row).T, S(row.T), S(row), S(x), S(x).T),
}
"""All letters are free: an equation is about every value that they, σ, softmax and the functions can have."""
