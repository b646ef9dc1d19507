"""Random well-typed expressions of the symbolic language, and an evaluator of the language in NumPy.

The evaluator is written from the meaning of each head alone.  Beside each value it carries a bound on the error of
any evaluation of the same expression in arithmetic of unit roundoff u, whatever the order of sums and products
(N. Higham, Accuracy and Stability of Numerical Algorithms, 2002, §3.1: γ_n = n u / (1 − n u)).  The evaluator is
itself one with u = 2⁻⁵³, so two evaluations of one function may differ by at most both bounds.
"""

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
import sympy

from uat_jax.symbolic import language as m
from uat_jax.symbolic.program import Program

U = 2.0**-53


# --- values with a bound on their error ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Bounded:
    """A float64 matrix and an elementwise bound on how far from it an evaluation can be."""

    value: np.ndarray
    error: np.ndarray

    @property
    def size(self) -> np.ndarray:
        return np.abs(self.value) + self.error

    def moved(self, move: Callable[[np.ndarray], np.ndarray]) -> "Bounded":
        return Bounded(move(self.value), move(self.error))


def exact(value: np.ndarray) -> Bounded:
    return Bounded(value, np.zeros(value.shape))


def agree(a: Bounded, b: Bounded) -> bool:
    """Whether two evaluations can be of the same exact matrix."""
    return a.value.shape == b.value.shape and bool(np.all(np.abs(a.value - b.value) <= a.error + b.error))


@dataclass(frozen=True)
class Arithmetic:
    """Matrix operations of unit roundoff ``u`` on `Bounded` values.

    γ_n has 8 n U to spare, since the bounds are rounded themselves.
    """

    u: float = U

    def gamma(self, n: int) -> float:
        return n * self.u / (1 - n * self.u) + 8 * n * U

    def multiply(self, *factors: Bounded, product: Callable = np.matmul) -> Bounded:
        """|X̂Ŷ − XY| ≤ (|X|+e)(|Y|+e) − |X||Y| + γ (|X|+e)(|Y|+e), and so for more factors in any order."""
        chain = lambda parts: reduce(product, parts)
        size = chain([f.size for f in factors])
        propagated = size - chain([np.abs(f.value) for f in factors])
        length = sum(f.value.shape[0] + 1 for f in factors)
        return Bounded(chain([f.value for f in factors]), propagated + self.gamma(length) * size)

    def add(self, *terms: Bounded) -> Bounded:
        size = sum(t.size for t in terms)
        error = sum(t.error for t in terms) + self.gamma(len(terms)) * size
        return Bounded(sum(t.value for t in terms), error)  # type: ignore[arg-type]

    def elementwise(self, function: Callable[[np.ndarray], np.ndarray], x: Bounded, lipschitz: float = 1.25) -> Bounded:
        """σ with |σ'| ≤ ``lipschitz``, computed to within 16 u (1 + |x|): a few operations and one exp or tanh."""
        return Bounded(function(x.value), lipschitz * x.error + 16 * self.u * (1 + x.size))

    def softmax(self, x: Bounded) -> Bounded:
        """The rows of the Jacobian sum to at most 2 s (1 − s) ≤ 1/2 in absolute value.

        Rounding: x_i − max moves s_i by at most s_i |x_i − max| u ≤ u, exp and the quotient by a few u, the sum by γ_n.
        """
        powers = np.exp(x.value - x.value.max(axis=1, keepdims=True))
        worst = np.broadcast_to(x.error.max(axis=1, keepdims=True), x.value.shape)
        return Bounded(powers / powers.sum(axis=1, keepdims=True), worst / 2 + self.gamma(x.value.shape[1] + 8))


# --- the evaluator -------------------------------------------------------------------------------------------------


@dataclass
class Evaluator:
    """Expression → matrix, for given numbers in place of the free symbols.

    A letter is looked up in ``values``, or else its entries are drawn from its name, indices and shape; D_j is
    j mod 3 + 1; a dependent parameter A(x) is tanh(R vec(x) + r) with R, r drawn from the letter of A and the shapes.
    """

    numbers: Mapping[Any, Any]
    values: dict[m.Letter, Bounded] = field(default_factory=dict)
    arithmetic: Arithmetic = Arithmetic()
    sigma: Callable[[np.ndarray], np.ndarray] = lambda x: np.tanh(x + 0.375)  # not odd, and not 0 at 0
    _memo: dict[Any, Bounded] = field(default_factory=dict)

    def __call__(self, e: m.Expression, bound: tuple[tuple[Any, int], ...] = ()) -> Bounded:
        """The value; ``bound`` gives the indices of the sums in scope, the innermost last."""
        if (e, bound) not in self._memo:
            self._memo[e, bound] = self._evaluate(e, bound)
        return self._memo[e, bound]

    def program(self, program: Program) -> Bounded:
        """The result of a program, line by line."""
        for letter, expression in program.items():
            self.values[letter] = self(expression)
        return self.values[program.result]

    def scalar(self, scalar: Any, bound: tuple[tuple[Any, int], ...] = ()) -> Any:
        """A size, index or coefficient as a SymPy number."""
        names = {s: sympy.Integer(n) for s, n in {**self.numbers, **dict(bound)}.items()}
        put_in = sympy.sympify(scalar).xreplace(names)
        return put_in.replace(lambda s: isinstance(s, sympy.Indexed), lambda s: s.indices[0] % 3 + 1)

    def _shape(self, e: m.Expression, bound) -> tuple[int, int]:
        rows, columns = (int(self.scalar(size, bound)) for size in e.shape)
        return rows, columns

    def _drawn(self, what: Any, shape: tuple[int, ...]) -> np.ndarray:
        rng = np.random.default_rng(zlib.crc32(repr((what, shape)).encode()))
        return rng.normal(size=shape) / np.sqrt(shape[-1])

    def _letter(self, letter: m.Letter, bound) -> Bounded:
        if letter in self.values:
            return self.values[letter]
        return exact(self._drawn(self._named(letter, bound), self._shape(letter, bound)))

    def _named(self, letter: m.Letter, bound) -> tuple:
        indices = lambda group: tuple(str(self.scalar(i, bound)) for i in group)
        return letter.name, indices(letter.subscripts), indices(letter.superscripts)

    def _evaluate(self, e: m.Expression, bound) -> Bounded:
        run: Any = lambda x: self(x, bound)
        shape, by = self._shape(e, bound), self.arithmetic
        match e:
            case m.Letter():
                return self._letter(e, bound)
            case m.Identity():
                return exact(np.eye(shape[0]))
            case m.Zero():
                return exact(np.zeros(shape))
            case m.Ones():
                return exact(np.ones(shape))
            case m.Selection():
                first = shape[1] * (int(self.scalar(e.args[0], bound)) - 1)
                return exact(np.eye(shape[0])[:, first : first + shape[1]])
            case m.Addition():
                return by.add(*map(run, e.args))
            case m.Scaled():
                c = np.full((1, 1), float(self.scalar(e.coefficient, bound)))
                return by.multiply(Bounded(c, 4 * by.u * np.abs(c)), run(e.arg), product=np.multiply)
            case m.Product():
                return by.multiply(*map(run, e.args))
            case m.Transposed():
                return run(e.arg).moved(np.transpose)
            case m.Kronecker():
                return by.multiply(*map(run, e.args), product=np.kron)
            case m.Vectorised() | m.Matricised():
                return run(e.arg).moved(lambda a: a.reshape(shape))
            case m.Hadamard():
                return by.multiply(*map(run, e.args), product=np.multiply)
            case m.Diagonal():
                return run(e.arg).moved(lambda a: np.diag(a[:, 0]))
            case m.Activation():
                return by.elementwise(self.sigma, run(e.arg))
            case m.RowSoftmax():
                return by.softmax(run(e.arg))
            case m.Dependent():
                return self._dependent(e, bound, shape)
            case m.RangeSum():
                return self._sum(e, bound, shape)
        raise TypeError(f"no meaning for {type(e).__name__}")

    def _sum(self, e: m.RangeSum, bound, shape: tuple[int, int]) -> Bounded:
        lower, upper = (int(self.scalar(b, bound)) for b in e.bounds)
        around = tuple(pair for pair in bound if pair[0] != e.index)
        terms = [self(e.body, (*around, (e.index, k))) for k in range(lower, upper + 1)]
        return self.arithmetic.add(exact(np.zeros(shape)), *terms)

    def function(self, letter: m.Letter, argument: tuple, shape: tuple[int, int], bound=()) -> tuple[np.ndarray, ...]:
        """R and r of the dynamic parameter with that letter, for an argument and a value of those shapes."""
        form = (("function", *self._named(letter, bound)), *argument, *shape)
        entries = shape[0] * shape[1]
        return self._drawn(form, (entries, argument[0] * argument[1])), self._drawn((form, "bias"), (entries, 1))

    def _dependent(self, e: m.Dependent, bound, shape: tuple[int, int]) -> Bounded:
        argument, by = self(e.arg, bound), self.arithmetic
        column = argument.moved(lambda a: a.reshape(-1, 1))
        R, r = self.function(e.letter, argument.value.shape, shape, bound)
        inner = by.add(by.multiply(exact(R), column), exact(r))
        return by.elementwise(np.tanh, inner).moved(lambda a: a.reshape(shape))


# --- random expressions --------------------------------------------------------------------------------------------

n, p, q = map(m.dimension, "npq")
ONE = sympy.Integer(1)
SIZES = {n: sympy.Integer(2), p: sympy.Integer(3), q: sympy.Integer(2)}
j, k, l = (sympy.Symbol(s, integer=True, positive=True) for s in "jkl")
COEFFICIENTS = (
    *(sympy.Integer(2), sympy.Integer(-1), sympy.Rational(1, 2), sympy.Rational(-3, 4)),
    *(1 / sympy.sqrt(p), sympy.sqrt(n), sympy.Integer(1) / q, sympy.sqrt(p) / n),
)
SHAPES = ((n, p), (p, 1), (n, n), (1, q), (n * p, 1), (n * p, n * q), (q, n * p))


@dataclass
class Generator:
    """Draws expressions; with ``symbolic`` sums also run to j − 1, j, j + 1 and to the index of an outer sum."""

    rng: np.random.Generator
    symbolic: bool = False

    def draw(self, depth: int = 4) -> m.Expression:
        rows, columns = SHAPES[self.rng.integers(len(SHAPES))]
        return self.expression(sympy.sympify(rows), sympy.sympify(columns), depth, ())

    def pick(self, options):
        return options[self.rng.integers(len(options))]

    def expression(self, rows: Any, columns: Any, depth: int, scope: tuple) -> m.Expression:
        """An expression of that shape; ``scope`` lists the indices of the sums around it."""
        if depth == 0 or self.rng.random() < 0.1:
            return self.leaf(rows, columns, scope)
        makers = [self.sum, self.product, self.product, self.opaque, self.tensor, self.range, self.other, self.row_sums]
        return self.pick(makers)(rows, columns, depth - 1, scope)

    def leaf(self, rows: Any, columns: Any, scope: tuple) -> m.Expression:
        constants = [m.Ones(rows, columns), m.Zero(rows, columns)]
        constants += [m.Identity(rows)] * 2 * (rows == columns)
        constants += [m.Selection(i, rows, columns) for i in range(1, _slices(rows, columns) + 1)]
        return self.pick(constants) if self.rng.random() < 0.25 else self.letter(rows, columns, scope)

    def letter(self, rows: Any, columns: Any, scope: tuple) -> m.Letter:
        indices = [(), (1,), (2,), *(((j,), (j + 1,)) if self.symbolic else ())]
        indices += [index for i in scope for index in ((i,), (i,), (i + 1,), (1, i))]
        return m.Letter(self.pick("AB"), rows, columns, self.pick(indices))

    def inner(self, scope: tuple) -> Any:
        widths = [m.indexed_dimension("D", i) for i in (*scope, sympy.Integer(2))]
        return self.pick([ONE, n, n, p, p, q, *widths])

    def sum(self, rows, columns, depth, scope):
        terms = [self.expression(rows, columns, depth, scope) for _ in range(self.pick([2, 2, 3]))]
        return m.Addition(*terms)

    def product(self, rows, columns, depth, scope):
        sizes = [rows, *(self.inner(scope) for _ in range(self.pick([1, 1, 2]))), columns]
        return m.Product(*(self.expression(a, b, depth, scope) for a, b in zip(sizes, sizes[1:], strict=False)))

    def opaque(self, rows, columns, depth, scope):
        kind = self.pick([m.Activation, m.Activation, m.RowSoftmax, m.Dependent])
        if kind is m.Dependent:
            argument = self.expression(self.inner(scope), self.pick([ONE, n]), depth, scope)
            return m.Dependent(self.letter(rows, columns, scope), argument)
        argument = self.expression(rows, columns, depth, scope)
        index = self.pick([None, *scope])
        return kind(argument if index is None else m.Scaled(index, argument))

    def row_sums(self, rows, columns, depth, scope):
        """(Σ X softmax(Σ Y) + Z) 1: the rule loses a function with the sums and the indices in it."""
        a, b = self.inner(scope), self.inner(scope)
        weights = m.RowSoftmax(self.range(a, b, depth, scope))
        terms = self.range(rows, a, depth, scope) @ weights + self.expression(rows, b, depth, scope)
        return terms @ m.Ones(b, columns)

    def tensor(self, rows, columns, depth, scope):
        draw = lambda a, b: self.expression(a, b, depth, scope)
        (a, b), (c, d) = self.pick(_splits(rows)), self.pick(_splits(columns))
        makers = [
            lambda: m.Kronecker(draw(a, c), draw(b, d)),
            lambda: m.Matricised(draw(rows * columns, ONE), rows, columns),
            lambda: m.Hadamard(draw(rows, columns), draw(rows, columns)),
        ]
        if rows == columns:
            makers.append(lambda: m.Diagonal(draw(rows, ONE)))
        if columns == 1:
            makers += [
                lambda: m.Vectorised(draw(a, b)),
                lambda: m.Kronecker(draw(a, c), draw(b, d)) @ m.Vectorised(draw(c, d)),
                lambda: m.Diagonal(m.Vectorised(draw(a, b))) @ m.Vectorised(draw(a, b)),
            ]
        return self.pick(makers)()

    def other(self, rows, columns, depth, scope):
        if self.rng.random() < 0.5:
            return m.Transposed(self.expression(columns, rows, depth, scope))
        coefficients = (*COEFFICIENTS, j) if self.symbolic else COEFFICIENTS
        return m.Scaled(self.pick(coefficients), self.expression(rows, columns, depth, scope))

    def range(self, rows, columns, depth, scope):
        free = [i for i in (k, l) if i not in rows.free_symbols | columns.free_symbols]
        if not free:
            return self.leaf(rows, columns, scope)
        index = self.pick(free)
        inside = (*(i for i in scope if i != index), index)
        lower, upper = self.bounds(scope)
        inner = self.inner(inside)  # every word holds the index: the number of terms must not depend on a bound index
        first = m.Letter("C", rows, inner, (index,))
        body = first @ self.expression(inner, columns, depth, inside)
        if upper.is_Integer and self.rng.random() < 0.5:
            body = self.expression(rows, columns, depth, inside)
        return m.RangeSum(body, index, lower, upper)

    def bounds(self, scope: tuple) -> tuple[Any, Any]:
        numbers = [(0, 1), (1, 2), (2, 3), (2, 1), (1, 1)]
        symbolic = [(1, j - 1), (1, j), (1, j + 1), (2, j), (0, j), (2, j + 1)]
        triangular = [(1, i + c) for i in scope for c in (0, 1)]
        lower, upper = self.pick(symbolic + triangular * 2 if self.symbolic else numbers)
        return sympy.Integer(lower), sympy.sympify(upper)


def _slices(rows: Any, columns: Any) -> int:
    """How many slices of so many columns fit into the rows, at the sizes the symbols have in the tests."""
    if (rows * columns).has(sympy.Indexed):
        return 0
    ratio = (rows / columns).xreplace(SIZES)
    return int(ratio) if ratio.is_Integer else 0


def _splits(size: Any) -> list[tuple[Any, Any]]:
    """All ways to write a product of symbols as a product of two."""
    factors = sympy.Mul.make_args(size)
    both = [factors, factors[::-1]] if len(factors) == 2 else []
    return [(ONE, size), (size, ONE), *both, *both]  # type: ignore[list-item]


# --- places in an expression ---------------------------------------------------------------------------------------

Path = tuple[int, ...]


def places(e: m.Expression, path: Path = ()) -> Iterator[tuple[Path, m.Expression]]:
    """Every subexpression with the way to it; the letter that names a dynamic parameter is none."""
    yield path, e
    skip = 1 if isinstance(e, m.Dependent) else 0
    for i, arg in enumerate(e.args):
        if i >= skip and isinstance(arg, m.Expression):
            yield from places(arg, (*path, i))


def put(e: m.Expression, path: Path, new: m.Expression) -> m.Expression:
    """The expression with the subexpression at ``path`` replaced."""
    if not path:
        return new
    parts = list(e.args)
    parts[path[0]] = put(parts[path[0]], path[1:], new)  # type: ignore[arg-type]
    return e.func(*parts)


# --- rewriting -----------------------------------------------------------------------------------------------------


def true_rewrites(e: m.Expression) -> list[m.Expression]:
    """Expressions that equal ``e``, by one step of the algebra at its top."""
    found: list[m.Expression] = [
        m.Addition(e, m.Zero(*e.shape)),
        m.Identity(e.shape[0]) @ e,
        m.Addition(m.Scaled(sympy.Rational(1, 3), e), m.Scaled(sympy.Rational(2, 3), e)),
        m.Transposed(m.Transposed(e)),
        m.Matricised(m.Vectorised(e), *e.shape),
        m.RangeSum(m.Letter("C", e.shape[0], e.shape[0], (k,)) @ e, k, 1, 0) + e if not e.has(k) else e,
    ]
    match e:
        case m.Addition():
            found += [m.Addition(*reversed(e.operands)), e.operands[0] + m.Addition(*e.operands[1:])]
        case m.Product(args=factors):
            found += _distributed(factors)
        case m.Transposed(args=(m.Product(args=factors),)):
            found.append(m.Product(*(f.T for f in reversed(factors))))  # type: ignore[attr-defined]
        case m.Transposed(args=(m.Addition(args=terms),)):
            found.append(m.Addition(*(t.T for t in terms)))  # type: ignore[attr-defined]
        case m.Transposed(args=(m.Activation() as s,)):
            found.append(m.Activation(s.arg.T))
        case m.Transposed(args=(m.Kronecker(args=(x, y)),)):
            found.append(m.Kronecker(x.T, y.T))  # type: ignore[attr-defined]
        case m.Kronecker(args=(x, y)) if 1 not in (*x.shape, *y.shape):  # type: ignore[attr-defined]
            found.append(m.Kronecker(x, m.Identity(y.shape[0])) @ m.Kronecker(m.Identity(x.shape[1]), y))  # type: ignore
        case m.Hadamard(args=(x, y)):
            found.append(m.Hadamard(x.T, y.T).T)  # type: ignore[attr-defined]
        case m.Diagonal(args=(x,)):
            found += [e.T, m.Diagonal(x + x) - e]  # type: ignore[operator, arg-type]
        case m.RowSoftmax(args=(x,)):
            shift = m.Letter("C", e.shape[0], 1) @ m.Ones(1, e.shape[1])
            found.append(m.RowSoftmax(x + shift))  # type: ignore[operator, arg-type]
        case m.Ones(args=(rows, _)):
            found.append(m.RowSoftmax(m.Letter("C", rows, rows)) @ e)
        case m.Vectorised(args=(m.Hadamard(args=(x, y)),)):
            found.append(m.Diagonal(m.Vectorised(x)) @ m.Vectorised(y))  # type: ignore[arg-type]
        case m.Vectorised(args=(m.Activation() as s,)):
            found.append(m.Activation(m.Vectorised(s.arg)))
        case m.Vectorised(args=(m.Product(args=(x, *rest)),)) if len(rest) == 2:
            found.append(m.Kronecker(x, rest[1].T) @ m.Vectorised(rest[0]))  # type: ignore[attr-defined, arg-type]
        case m.RangeSum():
            found += _split(e)
    return [f for f in found if f != e]


def _distributed(factors: tuple) -> list[m.Expression]:
    found: list[m.Expression] = []
    for i, factor in enumerate(factors):
        around = lambda x, i=i: m.Product(*factors[:i], x, *factors[i + 1 :])
        if isinstance(factor, m.Addition):
            found.append(m.Addition(*map(around, factor.args)))
        if isinstance(factor, m.Scaled):
            found.append(m.Scaled(factor.coefficient, around(factor.arg)))
        if isinstance(factor, m.RangeSum):
            renamed = sympy.Symbol("r", integer=True, positive=True)
            found.append(m.RangeSum(around(factor.at(renamed)), renamed, *factor.bounds))
    return found


def _split(e: m.RangeSum) -> list[m.Expression]:
    (lower, upper), fresh = e.bounds, sympy.Symbol("t", integer=True, positive=True)
    return [
        m.RangeSum(e.at(fresh), fresh, lower, upper),
        m.RangeSum(e.body, e.index, lower, upper + 1) - e.at(upper + 1),
        m.RangeSum(e.body, e.index, lower - 1, upper) - e.at(lower - 1),
        m.RangeSum(e.at(fresh - 1), fresh, lower + 1, upper + 1) if (upper - lower).is_Integer else e,
    ]


def false_rewrites(e: m.Expression) -> list[m.Expression]:
    """Expressions of the same shape that hardly ever equal ``e``."""
    found: list[m.Expression] = [m.Scaled(-1, e), m.Addition(e, e)]
    square = e.shape[0] == e.shape[1]
    found += [e.T] * square
    match e:
        case m.Letter():
            found += [m.Letter("A" if e.name == "B" else "B", *e.shape, e.subscripts)] * 3
            found += [m.Letter(e.name, *e.shape, tuple(i + 1 for i in e.subscripts))] * 3
        case m.Addition():
            found += [m.Addition(*e.operands[1:])] * 3
        case m.Product(args=(x, *_)) if square and x.shape == e.shape:  # type: ignore[attr-defined]
            found += [m.Product(*e.args[1:], e.args[0])] * 3  # type: ignore[arg-type]
        case m.Kronecker(args=(x, y)) if x.shape[0] * x.shape[1] != 1:  # type: ignore[attr-defined]
            found += [m.Kronecker(y, x)] * 3  # type: ignore[arg-type]
        case m.Hadamard(args=(x, y)):
            found += [m.Hadamard(x, x), m.Hadamard(y, y)] * 2  # type: ignore[arg-type]
        case m.Vectorised():
            found += [m.Vectorised(e.arg.T)] * 3
        case m.Activation() | m.RowSoftmax():
            found += [m.RowSoftmax(e.arg) if isinstance(e, m.Activation) else m.Activation(e.arg), e.arg]
            if square:
                found += [e.func(e.arg.T)] * 3
        case m.RangeSum():
            lower, upper = e.bounds
            found += [m.RangeSum(e.body, e.index, lower, upper + 1)] * 3
    return [f for f in found if f != e]


def rewritten(rng: np.random.Generator, e: m.Expression, rules, steps: int = 1) -> m.Expression:
    """``e`` after so many random steps of ``rules`` at random places."""
    for _ in range(steps):
        options = list(places(e))
        path, part = options[rng.integers(len(options))]
        choices = rules(part)
        e = put(e, path, choices[rng.integers(len(choices))])
    return e
